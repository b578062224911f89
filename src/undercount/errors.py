"""One error and three warnings that carry data, who hears the warnings, and checks."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, TypeAlias


class _Message(Exception):  # noqa: N818 - no error of its own: what errors and warnings have in common
    """Carry, beside the words, what a program may want to know.

    Parameters
    ----------
    message : str
        The words. With a metric, ``{metric}`` stands for its name and ``{metrics}`` for "name is",
        or "one, other are" where the same is said of several at once.
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
        message: str = "",
        *,
        code: str = "",
        argument: str = "",
        metric: str = "",
        hint: str = "",
    ) -> None:
        self.template, self.code, self.argument = message, code, argument
        self.metric, self.hint = metric, hint
        super().__init__(self.about([metric]) if metric else message)

    def about(self, metrics: Sequence[str]) -> str:
        """Say the same of these metrics, by these names."""
        verb = "is" if len(metrics) == 1 else "are"
        words = self.template.replace("{metrics}", f"{', '.join(metrics)} {verb}")
        return words.replace("{metric}", metrics[0])


class InputError(_Message, ValueError):
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


class UndefinedMetricWarning(_Message, UserWarning):
    """Warn that a metric is 0/0 and therefore NaN.

    Examples
    --------
    >>> import undercount as uc
    >>> issubclass(uc.UndefinedMetricWarning, UserWarning)
    True
    """


class MisfitWarning(_Message, UserWarning):
    """Warn that data and assumptions do not fit each other; the message says by how much.

    Examples
    --------
    >>> import undercount as uc
    >>> issubclass(uc.MisfitWarning, UserWarning)
    True
    """


class SmallSampleWarning(_Message, UserWarning):
    """Warn that there are too few labels for an interval to keep its promise.

    Examples
    --------
    >>> import undercount as uc
    >>> issubclass(uc.SmallSampleWarning, UserWarning)
    True
    """


LibraryWarning: TypeAlias = UndefinedMetricWarning | MisfitWarning | SmallSampleWarning


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
def collect_warnings(
    *kinds: type[LibraryWarning],
) -> Iterator[list[LibraryWarning]]:
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
    wanted = kinds or (UndefinedMetricWarning, MisfitWarning, SmallSampleWarning)
    collector = _Collector(wanted, _COLLECTOR.get())
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

    def __str__(self) -> str:
        advice = f". What to do: {self.advice}" if self.advice else ""
        return f"{self.code} {self.level}: {self.message}{advice}"
