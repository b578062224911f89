"""Models in order, with the ranks that chance leaves open."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from undercount.infer.difference import Difference


@dataclass(frozen=True)
class Standing:
    """Hold the place of one model among others in one metric.

    Attributes
    ----------
    name : str
        The model.
    rank : int
        1 for the largest value; models with the same value share a rank.
    best_rank, worst_rank : int
        The ranks that are possible: behind every model that is better beyond doubt, before every
        model that is worse beyond doubt. With the confidence of the comparison the true ranks of
        all models lie between (p-values are Holm's over all pairs).
    value : float
        Of the metric.
    behind : Difference, optional
        The best model less this one; None for the best itself.

    Notes
    -----
    Assumes: what the differences assume: labels random among the positives, and for metrics that
    need one the prevalence.
    Wrong when: models were chosen among more than are compared here, or trained on these labels.

    Examples
    --------
    >>> from undercount.read.compare.leaderboard import Standing
    >>> Standing("new", 1, 1, 2, 0.9).rank_words
    '1 (1 to 2)'
    """

    name: str
    rank: int
    best_rank: int
    worst_rank: int
    value: float
    behind: Difference | None = None

    @property
    def rank_words(self) -> str:
        """The rank, and those that are possible if there are several."""
        if self.best_rank == self.worst_rank:
            return str(self.rank)
        return f"{self.rank} ({self.best_rank} to {self.worst_rank})"


def turn(difference: Difference) -> Difference:
    """Return the difference of the other model from the one."""
    gap = difference.difference
    return replace(
        difference,
        one=difference.other,
        other=difference.one,
        difference=replace(gap, value=-gap.value, low=-gap.high, high=-gap.low),
        better_probability=1 - difference.better_probability,
    )


def standings(
    values: Mapping[str, float], differences: Sequence[Difference], level: float
) -> tuple[Standing, ...]:
    """Put models in order, the largest value first.

    Simultaneous confidence sets of ranks: a model's rank is at least 1 plus the models that are
    above it beyond doubt, and at most their number less those below it (Mogstad, Romano, Shaikh
    and Wilhelm 2024), each decision by Holm's adjusted p-value.

    Parameters
    ----------
    values : mapping
        Name of each model → its value; NaN comes last.
    differences : sequence of Difference
        Of every pair, in the same metric, p-values adjusted.
    level : float
        Confidence level.

    Notes
    -----
    Assumes: p-values that hold for each pair; Holm's adjustment needs nothing of how pairs depend.
    Wrong when: the p-values are: few labelled rows, or labels that some models' scores drew.
    """
    order = sorted(values, key=lambda name: (math.isnan(values[name]), -values[name]))
    above, below = dict.fromkeys(order, 0), dict.fromkeys(order, 0)
    pairs = {}
    for found in differences:
        pairs[found.one, found.other] = found
        pairs[found.other, found.one] = turn(found)
        if found.adjusted_p_value < 1 - level:
            gap = found.difference
            ahead = found.better_probability > 0.5 if gap.range_only else gap.value > 0  # noqa: PLR2004
            better, worse = (found.one, found.other) if ahead else (found.other, found.one)
            above[worse] += 1
            below[better] += 1
    return tuple(
        Standing(
            name,
            1 + sum(values[other] > values[name] for other in order),
            1 + above[name],
            len(order) - below[name],
            values[name],
            pairs.get((order[0], name)),
        )
        for name in order
    )


def tied_at_the_top(found: Sequence[Standing]) -> list[str]:
    """Return the models that may be the best."""
    return [standing.name for standing in found if standing.best_rank == 1]
