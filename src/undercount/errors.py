"""One error and three warnings, so that users can catch what is ours."""

from dataclasses import dataclass
from typing import Literal, TypeAlias


class InputError(ValueError):
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


class UndefinedMetricWarning(UserWarning):
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


class MisfitWarning(UserWarning):
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


class SmallSampleWarning(UserWarning):
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


Level: TypeAlias = Literal["ok", "info", "warn", "fail"]


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
