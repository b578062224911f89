"""One error and four warnings that carry data, who hears the warnings, and checks.

Messages are written for Python. Where a command line must say it otherwise they hold marks:
`named` marks the name of an argument, `wording` advice that a terminal cannot follow. The marks
are never shown: errors, warnings and checks turn their text into a `Message`, which takes them off
and remembers them.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal, Self, TypeAlias, get_args

# Start, middle and end of a mark: control characters, which nobody writes into a message.
_START, _NEXT, _END = "\x02", "\x1f", "\x03"
_MARK = re.compile(f"{_START}([^{_NEXT}]*){_NEXT}([^{_NEXT}]*){_NEXT}([^{_END}]*){_END}")
# Says an argument and its value in other words, or None where there are none for it.
Speaker: TypeAlias = Callable[[str, str], str | None]


def named(argument: str, value: str | None = None) -> str:
    """Name an argument in a message, perhaps with a value as Python writes it.

    Examples
    --------
    >>> from undercount.errors import InputError, named
    >>> error = InputError(f"pass {named('unlabeled', '0')}")
    >>> print(error)
    pass unlabeled=0
    >>> error.message.said(lambda argument, value: f"--{argument} {value}")
    'pass --unlabeled 0'
    """
    python = argument if value is None else f"{argument}={value}"
    return f"{_START}{python}{_NEXT}{argument}{_NEXT}{value or ''}{_END}"


def wording(python: str, terminal: str) -> str:
    """Write advice for Python, and what to say instead where there is only a terminal.

    Examples
    --------
    >>> from undercount.errors import InputError, wording
    >>> error = InputError(f"few rows; {wording('use more_rows()', 'name more files')}")
    >>> print(error)
    few rows; use more_rows()
    >>> error.message.said(lambda argument, value: None)
    'few rows; name more files'
    """
    return f"{_START}{python}{_NEXT}{_NEXT}{terminal}{_END}"


def keep_scores(python: str, terminal: str = "", *, what: str = "the rows") -> str:
    """Write how to count so that scores are kept, which a terminal does by options of a command."""
    options = f"{terminal}--exact, which keeps every score"
    return wording(python, f"count {what} again with undercount count … {options}")


def keep_threshold(threshold: float) -> str:
    """Write how to count so that a threshold can be asked for."""
    python = f"pass knots=[{threshold}] when counting, or compact=False"
    return keep_scores(python, f"--threshold {threshold}, or ")


def real_number(value: object) -> float:
    """Return one real number as a float; NaN, which every rule refuses, for anything else.

    Examples
    --------
    >>> from undercount.errors import real_number
    >>> real_number(1), real_number("1"), real_number(None), real_number(10**400)
    (1.0, nan, nan, nan)
    """
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return math.nan


def suggest(word: object, known: Iterable[str], *, quoted: bool = True) -> str:
    """Return the known words nearest to one, as a question; nothing if none is near.

    Examples
    --------
    >>> from undercount.errors import suggest
    >>> suggest("Precison", ["precision", "recall"]), suggest("xyz", ["precision"])
    ("did you mean 'precision'?", '')
    """
    import difflib  # noqa: PLC0415 - only mistakes need it

    folded = {str(name).casefold(): name for name in known}
    near = difflib.get_close_matches(str(word).casefold(), folded, n=3)
    shown = [repr(folded[name]) if quoted else folded[name] for name in near]
    return f"did you mean {' or '.join(shown)}?" if near else ""


def check_name(argument: str, value: object) -> None:
    """Raise unless the value of an argument that names something is text."""
    if not isinstance(value, str):
        raise InputError(f"{named(argument)} must be a name; got {value!r}", argument=argument)


def check_flag(argument: str, value: object) -> None:
    """Raise unless the value of an argument is True or False."""
    if value is not True and value is not False and type(value).__name__ != "bool":
        raise InputError(
            f"{named(argument)} must be True or False; got {value!r}", argument=argument
        )


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise unless the value of an argument is one of the words allowed."""
    if not isinstance(value, str) or value not in allowed:
        hint = suggest(value, allowed)
        raise InputError(
            f"{named(name)} must be one of {', '.join(allowed)}; got {value!r}"
            + (f"; {hint}" if hint else "")
        )


class Message(str):
    """Hold a text as Python says it, and with the marks of what a command line says otherwise."""

    __slots__ = ("marked",)
    marked: str

    def __new__(cls, text: str = "") -> Self:
        """Take the marks off; of a message they are kept."""
        marked = text.marked if isinstance(text, Message) else str(text)
        message = super().__new__(cls, _MARK.sub(r"\1", marked))
        message.marked = marked
        return message

    def said(self, speak: Speaker) -> str:
        """Say the text to a terminal: arguments as `speak` says them, advice that it can follow."""

        def replace(mark: re.Match[str]) -> str:
            python, argument, other = mark.groups()
            if not argument:
                return other
            spoken = speak(argument, other)
            return python if spoken is None else spoken

        return _MARK.sub(replace, self.marked)


class _Spoken(Exception):  # noqa: N818 - what errors and warnings share
    """Carry, beside the words, what a program may want to know.

    Parameters
    ----------
    text : str
        The words, with marks. With a metric, ``{metric}`` stands for its name and ``{metrics}``
        for "name is", or "one, other are" where the same is said of several at once.
    code : str
        What kind of message it is.
    argument : str
        The argument that is to blame.
    metric : str
        The metric it is about.
    hint : str
        What would be right instead.
    """

    def __init__(
        self,
        text: str = "",
        *,
        code: str = "",
        argument: str = "",
        metric: str = "",
        hint: str = "",
    ) -> None:
        self.template, self.code, self.argument = text, code, argument
        self.metric, self.hint = metric, hint
        super().__init__(Message(self.about([metric]) if metric else text))

    @property
    def message(self) -> Message:
        """The text, which knows how a command line says it."""
        message: Message = self.args[0]
        return message

    def about(self, metrics: Sequence[str]) -> str:
        """Say the same of these metrics, by these names."""
        verb = "is" if len(metrics) == 1 else "are"
        words = self.template.replace("{metrics}", f"{', '.join(metrics)} {verb}")
        return words.replace("{metric}", metrics[0])


class InputError(_Spoken, ValueError):
    """Report that an input breaks a rule: the rule, the value got, and a hint.

    Examples
    --------
    >>> import undercount as uc
    >>> try:
    ...     uc.ScoreCounts.from_rows([1, 0], [0.9])
    ... except uc.InputError as error:
    ...     print(error)
    y and score must have the same length; got 2 and 1 rows
    """


def read_threshold(threshold: object) -> float:
    """Return a threshold as a float.

    Examples
    --------
    >>> from undercount.errors import read_threshold
    >>> read_threshold(1)
    1.0
    """
    number = real_number(threshold)
    if not math.isfinite(number):
        raise InputError(f"{named('threshold')} must be one finite number; got {threshold!r}")
    return number


class UndefinedMetricWarning(_Spoken, UserWarning):
    """Warn that a metric is 0/0 and therefore NaN.

    Examples
    --------
    >>> import warnings
    >>> import undercount as uc
    >>> curve = uc.labelled_curve(uc.ScoreCounts.from_rows([1, 0], [2, 1]))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", uc.UndefinedMetricWarning)
    ...     curve.at(3).precision  # nothing is flagged
    nan
    """


class MisfitWarning(_Spoken, UserWarning):
    """Warn that data and assumptions do not fit each other; the message says by how much.

    Examples
    --------
    >>> import warnings
    >>> import undercount as uc
    >>> y, score = [1] * 30 + [None] * 30, [2, 1] * 30
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always", uc.MisfitWarning)
    ...     _ = uc.prevalence.BestBin(n_resamples=0).fit(y, score)
    >>> print(found[0].message)
    the scores do not tell labelled from unlabeled rows (AUC 0.500): either nearly all unlabeled
    rows are positive, or the scores are useless
    """


# The code of a warning that a value lies outside its range by more than chance explains.
CONTRADICTED = "contradicted"
# Rows score just what the threshold is in lower precision.
ROUNDED_SCORES = "rounded"
# A question that has no answer under what is assumed: moving a share that reviews determine, say.
NOT_IDENTIFIED = "not-identified"
# Known negatives score too high for random labels, so that nothing can be built on labels.
LOOKED_AT_HIGH = "looked-at-high"
# What a question needs is not there: counts that join scores have no mean loss, say.
MISSING_DATA = "missing-data"


class SmallSampleWarning(_Spoken, UserWarning):
    """Warn that there are too few labels for an interval to keep its promise.

    Examples
    --------
    >>> import warnings
    >>> import undercount as uc
    >>> y, score = [1] * 12 + [None] * 30, [3] * 10 + [1] * 32
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always", uc.SmallSampleWarning)
    ...     _ = uc.prevalence.BestBin(n_resamples=20, random_state=0).fit(y, score)
    >>> print(found[0].message)
    only 12 labelled positives: intervals may be too narrow
    """


class CompactCountsWarning(_Spoken, UserWarning):
    """Warn that scores were merged because there are so many; the message says what that costs.

    Examples
    --------
    >>> import undercount as uc
    >>> issubclass(uc.CompactCountsWarning, UserWarning)  # more than 2,097,152 distinct scores
    True
    """


LibraryWarning: TypeAlias = (
    UndefinedMetricWarning | MisfitWarning | SmallSampleWarning | CompactCountsWarning
)


@dataclass(frozen=True)
class _Collector:
    kinds: tuple[type[LibraryWarning], ...]
    outer: "_Collector | None"
    found: list[LibraryWarning] = field(default_factory=list)


_COLLECTOR: ContextVar[_Collector | None] = ContextVar("undercount_warnings", default=None)


def warn(warning: LibraryWarning, stacklevel: int = 1) -> None:
    """Hand a warning to the innermost `collect_warnings` that wants it, or else to the user."""
    collector = _COLLECTOR.get()
    while collector is not None:
        if isinstance(warning, collector.kinds):
            collector.found.append(warning)
            return
        collector = collector.outer
    warnings.warn(warning, stacklevel=stacklevel + 1)


@contextmanager
def collect_warnings(*kinds: type[LibraryWarning]) -> Iterator[list[LibraryWarning]]:
    """Collect the library's own warnings (of these kinds) instead of showing them.

    Unlike `warnings.catch_warnings` it changes nothing that other threads see, and foreign
    warnings pass.

    Examples
    --------
    >>> from undercount.errors import MisfitWarning, collect_warnings, warn
    >>> with collect_warnings() as found:
    ...     warn(MisfitWarning("{metric} would be 1.02", metric="roc_auc"))
    >>> str(found[0]), found[0].metric
    ('roc_auc would be 1.02', 'roc_auc')
    """
    categories = kinds or get_args(LibraryWarning)
    collector = _Collector(categories, _COLLECTOR.get())
    token = _COLLECTOR.set(collector)
    try:
        yield collector.found
    finally:
        _COLLECTOR.reset(token)


Level: TypeAlias = Literal["ok", "info", "warn", "fail"]
# The code of each check of an evaluation, and what it asks.
CHECKS = {
    "fit": ("UC001", "does the prevalence fit the scores at every threshold?"),
    "agreement": ("UC002", "do the estimators of the prevalence agree?"),
    "few-labels": ("UC003", "are there at least 30 labelled rows?"),
    "ties": ("UC004", "do many rows share one score?"),
    "constant": ("UC005", "is there more than one score?"),
    "direction": (
        "UC006",
        "do labelled rows score higher than the others? Nothing is ever turned round",
    ),
    "naive-above": ("UC007", "is a naive value above its estimate?"),
    "selection": (
        "UC008",
        "the labelled rows may be selected: it cannot be tested, and this says so",
    ),
    "saturation": ("UC009", "do many rows stand at the highest score?"),
    "leak": ("UC010", "does the score give the label away?"),
    "identified": ("UC011", "do the scores identify the prevalence at all?"),
    "warned": ("UC012", "what the estimators warned of while the table was made"),
    "flagged": ("UC013", "does the threshold flag some rows, and not all?"),
    "scale": ("UC014", "is a threshold of 0.5 meant for a chance of being labelled?"),
    "labels-and-reviews": (
        "UC015",
        "do the labelled positives score like the positives that reviews found?",
    ),
    "in-sample": ("UC016", "could the model have been trained on the very rows it is judged on?"),
    "many-hidden": (
        "UC017",
        "does the estimated share suppose far more hidden positives than the labels can tell?",
    ),
    "clusters": ("UC020", "if rows come in clusters, do enough of them carry a label?"),
    "chances": ("UC021", "if chances of a label are known, how much are the labels worth?"),
    "fair-sample": ("UC022", "does anything in the rows contradict that labels are fair?"),
    "mature": ("UC023", "if labels come late, have nearly all of the oldest rows' labels arrived?"),
    "rounding": ("UC024", "do rows score just what the threshold is in single precision?"),
    "repeated": ("UC025", "is every row there several times?"),
}
CODES = {name: code for name, (code, _) in CHECKS.items()}


@dataclass(frozen=True)
class Check:
    """Hold a numbered finding: how bad it is, what was seen, and what to do about it.

    Examples
    --------
    >>> from undercount import Check
    >>> print(Check("UC003", "warn", "only 12 labelled rows", "label more"))
    UC003 warn: only 12 labelled rows. What to do: label more
    """

    code: str
    level: Level
    message: str
    advice: str = ""

    def __post_init__(self) -> None:
        for part in ("message", "advice"):
            object.__setattr__(self, part, Message(getattr(self, part)))

    def __str__(self) -> str:
        advice = f". What to do: {self.advice}" if self.advice else ""
        return f"{self.code} {self.level}: {self.message}{advice}"
