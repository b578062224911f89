"""What is asked of an interval method, and what it answers."""

from dataclasses import dataclass

from undercount.errors import InputError, MisfitWarning, warn
from undercount.read.intervals.exact import IntervalKind
from undercount.read.intervals.scales import MetricKind

# A value this many standard errors outside its range is a misfit, not the chance of the sample.
CHANCE = 5.0


@dataclass(frozen=True)
class Question:
    """Hold a metric with its settings, and the confidence level."""

    kind: MetricKind
    threshold: float | None
    beta: float
    max_fpr: float | None
    confidence_level: float
    interval: IntervalKind


@dataclass(frozen=True)
class Found:
    """Hold value, interval and error of a metric, and how badly the shares misfit.

    `misfit` is in standard errors, 0 if nothing had to be pulled into its range; `outside` names
    the quantity that was, with its value; `largest_share` is the largest share of positives among
    the unlabeled rows at which it would fit.
    """

    value: float
    low: float
    high: float
    standard_error: float
    method: str
    misfit: float = 0.0
    outside: tuple[str, float] = ("", 0.0)
    largest_share: float = 1.0


def report_misfit(found: Found, name: str, shares: tuple[float, float], stacklevel: int) -> None:
    """Warn of a value that was pulled into its range; refuse one that chance does not explain.

    `shares` are the share of positives among the unlabeled rows and the purity of the labels.
    """
    if not found.misfit > 0:
        return
    quantity = "{metric}" if found.outside[0] == name else found.outside[0]
    what = (
        f"{quantity} would be {found.outside[1]:.4g} at unlabeled_prevalence "
        f"{shares[0]:.6g} and label_purity {shares[1]:.6g}"
    )
    hint = f"the largest unlabeled_prevalence that fits is {max(found.largest_share, 0.0):.4g}"
    if found.misfit > CHANCE:
        raise InputError(
            f"{what}, {found.misfit:.1f} standard errors outside its range, so the shares do not "
            f"fit these scores; {hint}",
            argument="unlabeled_prevalence",
            metric=name,
            hint=hint,
        )
    message = (
        f"{what}, within the chance of the sample; {{metrics}} reported for the nearest possible "
        f"value; {hint}"
    )
    warn(
        MisfitWarning(
            message, code="outside", argument="unlabeled_prevalence", metric=name, hint=hint
        ),
        stacklevel=stacklevel + 1,
    )
