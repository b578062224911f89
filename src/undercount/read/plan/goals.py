"""What a plan of reviews is to make sharp: metrics, the prevalence, differences of two models."""

from collections.abc import Sequence

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named, read_threshold
from undercount.infer.mass_gradients import MassGradient, mass_gradient
from undercount.metric_facts import FACTS

SUFFIX = "_difference"


def metric_of(goal: str) -> str:
    """Return the metric that a goal is, or is the difference of."""
    return goal.removesuffix(SUFFIX)


def half_range(goal: str) -> float:
    """Return half of what lies between the least and the largest value that a goal can have.

    No interval need be wider, however little a few verdicts say.

    Examples
    --------
    >>> from undercount.read.plan.goals import half_range
    >>> half_range("precision"), half_range("roc_auc_difference"), half_range("lift")
    (0.5, 1.0, inf)
    """
    metric = metric_of(goal)
    least, most = (0.0, 1.0) if metric == "prevalence" else FACTS[metric].range
    return most - least if goal.endswith(SUFFIX) else (most - least) / 2


def read_goals(goal: str | Sequence[str], threshold: float | None) -> tuple[str, ...]:
    """Return the goals by name; "difference" is that of F1, without a threshold of the area."""
    given = (goal,) if isinstance(goal, str) else goal
    if not isinstance(given, Sequence) or not given or not all(isinstance(g, str) for g in given):
        raise InputError(f"{named('goal')} must name one metric or more; got {goal!r}")
    usual = ("roc_auc" if threshold is None else "f1") + SUFFIX
    return tuple(usual if name == SUFFIX[1:] else name for name in given)


def threshold_of(metric: str, threshold: float | None) -> float | None:
    """Return the threshold at which a metric is meant, None if it has none."""
    if metric == "prevalence" or FACTS[metric].family != "threshold":
        return None
    if threshold is None:
        raise InputError(f"the goal {metric} needs a {named('threshold')}", argument="threshold")
    return read_threshold(threshold)


def gradient_at(
    counts: ScoreCounts, chance: FloatArray, metric: str, threshold: float | None
) -> MassGradient:
    """Read a metric, with its gradient, where unlabeled rows of the cells have these chances."""
    positive = counts.positive + chance * counts.unlabeled
    everyone = counts.positive + counts.negative + counts.unlabeled
    return mass_gradient(counts, positive, everyone, metric, threshold=threshold)
