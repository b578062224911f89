"""Whether a prevalence that was given fits what verdicts say of it."""

from undercount.checks.outcomes import fails, passes, warns
from undercount.checks.percentages import percent
from undercount.errors import Check
from undercount.estimate import Interval

# Levels of the intervals of the verdicts: a prevalence outside of the narrower one is doubted, one
# outside of the wider one contradicted.
DOUBTED_AT, CONTRADICTED_AT = 0.95, 0.99
ADVICE = (
    "ask whether the prevalence is that of these rows; without it the verdicts alone tell every "
    "metric"
)


def given_words(given: tuple[float, float]) -> str:
    """Write a prevalence, or a range of it, as it was given.

    Examples
    --------
    >>> from undercount.checks.given_prevalence import given_words
    >>> given_words((0.3, 0.3)), given_words((0.02, 0.04))
    ('30 %', '2 % – 4 %')
    """
    low, high = (f"{100 * share:.6g} %" for share in given)
    return low if low == high else f"{low} – {high}"


def given_prevalence_check(
    given: tuple[float, float], doubted: Interval, contradicted: Interval
) -> Check:
    """UC002: the prevalence that was given should be one that the verdicts alone leave possible.

    Parameters
    ----------
    given : (low, high)
        The prevalence, or a range of it, whose nearest end counts.
    doubted, contradicted : Interval
        What the verdicts alone say of it, at 95 and at 99 %.

    Examples
    --------
    >>> from undercount import Interval
    >>> from undercount.checks.given_prevalence import given_prevalence_check
    >>> verdicts = Interval(0.08, 0.14), Interval(0.07, 0.16)
    >>> shares = (0.1, 0.1), (0.15, 0.15), (0.3, 0.3), (0.13, 0.3)
    >>> [given_prevalence_check(share, *verdicts).level for share in shares]
    ['ok', 'warn', 'fail', 'ok']
    """
    about = f"the prevalence that was given, {given_words(given)}"
    if _apart(given, contradicted):
        return fails("agreement", _against(about, "contradicts", contradicted, "99 %"), ADVICE)
    if _apart(given, doubted):
        return warns("agreement", _against(about, "hardly fits", doubted, "95 %"), ADVICE)
    return passes("agreement", _against(about, "fits", doubted, "95 %"))


def _apart(given: tuple[float, float], possible: Interval) -> bool:
    return given[1] < possible.low or given[0] > possible.high


def _against(about: str, fits: str, possible: Interval, level: str) -> str:
    span = f"{percent(possible.low)} – {percent(possible.high)}"
    return f"{about}, {fits} the verdicts, by which alone it is {span} ({level})"
