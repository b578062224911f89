"""The same work for every model: as many rows flagged by each, those with the highest scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.rows import round_up_knots
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named
from undercount.estimate import Estimate
from undercount.infer.clusters import KIND_LABELS
from undercount.infer.difference import Difference
from undercount.infer.flagged_rows import Cut, KindScores
from undercount.infer.heads import check_top_size, ranked_rows
from undercount.infer.mixture import LABELLED, NEGATIVE, UNLABELED, MixtureDesign
from undercount.infer.paired import ModelRows
from undercount.infer.scored_rows import ScoredRows

# What is compared if each model flags as many rows: of so many, how many are real.
WORKLOAD_METRICS = ("precision", "recall")
# Labelled rows that a density is taken from: this power of their number, and no fewer than these.
NEIGHBOURS_EXPONENT, FEWEST_NEIGHBOURS = 0.7, 5


@dataclass(frozen=True)
class Workload:
    """Hold what models find if each of them flags the same number of rows.

    Attributes
    ----------
    size : float
        Rows that each model flags, whatever they weigh: those with the highest scores.
    chosen : bool
        Whether the number was asked for; else it is that of the labelled positives.
    values : mapping
        Name of each model → metric → its value.
    cuts : mapping
        Name of each model → the score of the last row that is flagged. Of several rows with this
        score a share is flagged, any as likely as another: values are means over these choices.
    tied : mapping
        Name of each model → the rows that have this score.
    differences : tuple of Difference
        Of the values, for every pair; none where verdicts tell the values.
    estimates : mapping
        Name of each model → metric → its value with an interval, at the share of hidden positives
        that the comparison supposes; empty where a share was resampled, which top rows are not.
    by_verdicts : bool
        Whether verdicts of reviewed or audited rows tell the values, which are then those of
        `Evaluation.estimate`: NaN with an interval where verdicts are too few.

    Notes
    -----
    Assumes: labelled positives are a random sample of the positives, and the prevalence.
    Wrong when: models were trained on the labels that they are compared by.
    """

    size: float
    chosen: bool
    values: Mapping[str, Mapping[str, float]]
    cuts: Mapping[str, Cut]
    tied: Mapping[str, float]
    differences: tuple[Difference, ...]
    estimates: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    by_verdicts: bool = False


class CutModels(NamedTuple):
    """Models whose rows are cut at their thresholds and, last, where as many are flagged.

    Attributes
    ----------
    rows : dict
        Name of each model → its rows by kind, with the cuts.
    tied : dict
        Name of each model → the rows that have the score of the last one flagged.
    size : float
        Rows that each model flags at the last cut.
    chosen : bool
        Whether that number was asked for.
    """

    rows: dict[str, ModelRows]
    tied: dict[str, float]
    size: float
    chosen: bool

    @property
    def last(self) -> dict[str, Cut]:
        """Where each model's last flagged row lies."""
        return {name: rows.cuts[-1] for name, rows in self.rows.items()}


def cut_models(
    models: Mapping[str, ScoredRows],
    design: MixtureDesign,
    thresholds: Mapping[str, float],
    top: Any,
) -> CutModels:
    """Cut the rows of models at their thresholds, and where each flags as many as asked for."""
    first = next(iter(models.values()))
    size, rows = workload_size(top, first.counts, design), first.rows("score")
    kinds = [np.flatnonzero(rows.labels == label) for label in KIND_LABELS]
    weights = None if rows.weights is None else [rows.weights[kind] for kind in kinds]
    found, tied = {}, {}
    for name, model in models.items():
        scores = KindScores(model.rows("score").scores, kinds)
        cuts = [Cut(thresholds[name])] if thresholds else []
        last, tied[name] = cut_at(size, model.counts, scores, weights, design)
        found[name] = ModelRows(model.counts, scores, design, [*cuts, last], weights)
    # A share of the rows may be whole rows but for rounding.
    whole = math.isclose(size, round(size), rel_tol=1e-12)
    return CutModels(found, tied, float(round(size)) if whole else size, top is not None)


def workload_size(top: Any, counts: ScoreCounts, design: MixtureDesign) -> float:
    """Return how many rows each model flags: as many as asked for, or as are labelled positive.

    Below 1 it is a share of the rows.
    """
    rows = counts.cell_rows if counts.weighted else None
    if rows is None:
        total, labelled = _of_target(design.sizes, design), counts.n_positive
    else:
        positive, negative, unlabeled = rows.sum(axis=1).tolist()
        total, labelled = _of_target([positive, unlabeled, negative], design), positive
    if top is None:
        return float(min(labelled, max(total // 2, 1)))
    if isinstance(top, bool) or not isinstance(top, int | float | np.number):
        raise InputError(f"{named('top')} must be one number of rows; got {top!r}")
    check_top_size(top)
    if 0 < top < 1:
        return max(float(top) * total, 1.0)
    if not 0 < top <= total:
        raise InputError(
            f"{named('top')} must be above 0 and at most the {total:,.0f} rows there are; got {top}"
        )
    return float(top)


def _of_target(values: Any, design: MixtureDesign) -> float:
    """Add up what belongs to the target: rows drawn apart do not."""
    if design.sampling == "case-control":
        return float(values[UNLABELED])
    return float(sum(values))


def cut_at(
    size: float,
    counts: ScoreCounts,
    scores: KindScores,
    weights: Sequence[FloatArray] | None,
    design: MixtureDesign,
) -> tuple[Cut, float]:
    """Return the cut that flags a number of rows of the target, and the rows tied at it."""
    kinds = [UNLABELED] if design.sampling == "case-control" else [LABELLED, UNLABELED, NEGATIVE]
    if weights is None:
        pooled = scores.score if len(kinds) > 1 else scores.part(UNLABELED)
        last, above, tied = _last_of(size, counts, pooled, design)
    else:
        # One row is one row, whatever it weighs; one of weight 0 is none.
        pooled = np.concatenate([scores.part(kind)[weights[kind] > 0] for kind in kinds])
        rank = min(int(np.ceil(size * (1 - 1e-12))), len(pooled))
        last = float(np.partition(pooled, len(pooled) - rank)[len(pooled) - rank])
        above, tied = float((pooled > last).sum()), float((pooled == last).sum())
    share = min(max((size - above) / tied, 0.0), 1.0)
    return Cut(last, share, _densities(counts, design, size)), tied


def _last_of(
    size: float, counts: ScoreCounts, score: NDArray[Any], design: MixtureDesign
) -> tuple[float, float, float]:
    """Return the score of the last of so many highest rows, the rows above it and those tied.

    The table tells in which cell it lies, so that only the rows of that cell are put in order.
    """
    apart = design.sampling == "case-control"
    flagged, rank = np.cumsum(ranked_rows(counts, apart=apart)), int(np.ceil(size))
    cell = int(np.searchsorted(flagged, rank))
    above = float(flagged[cell - 1]) if cell else 0.0
    begins = round_up_knots(counts.score[max(cell - 1, 0) : cell + 1], score.dtype)
    inside = score >= begins[-1]
    if cell:
        inside &= score < begins[0]
    here = np.sort(score[inside])
    last = here[len(here) - (rank - int(above))]
    higher = len(here) - int(np.searchsorted(here, last, "right"))
    tied = len(here) - higher - int(np.searchsorted(here, last))
    return float(last), above + higher, float(tied)


def _densities(counts: ScoreCounts, design: MixtureDesign, size: float) -> FloatArray:
    """Return each kind's density at a rank over that of all rows of the target.

    Of labelled rows by the nearest of them in rank; what all rows leave is the unlabeled rows'.
    Rows are ranked one for one; what rows weigh is taken to be no other there than elsewhere.
    """
    everyone = np.asarray(design.mixing.everyone, dtype=float)
    cells = [counts.positive, counts.unlabeled, counts.negative]
    of_target = ranked_rows(counts, apart=design.sampling == "case-control")
    rank = np.cumsum(of_target) - of_target / 2
    total, densities = float(of_target.sum()), np.zeros(3)
    for kind in (LABELLED, NEGATIVE):
        rows = float(cells[kind].sum())
        if rows == 0:
            continue
        distance = np.maximum(np.abs(rank - size), of_target / 2)
        effective = float(design.effective[kind])
        near = max(effective**NEIGHBOURS_EXPONENT, min(FEWEST_NEIGHBOURS, effective)) / effective
        order = _nearest(distance, cells[kind], near * rows)
        inside = np.cumsum(cells[kind][order]) / rows
        place = min(int(np.searchsorted(inside, near)), len(order) - 1)
        reach = distance[order[place]]
        window = min(size + reach, total) - max(size - reach, 0.0)
        densities[kind] = inside[place] * total / window if window > 0 else 0.0
    density = everyone[LABELLED] * densities[LABELLED] + everyone[NEGATIVE] * densities[NEGATIVE]
    densities[UNLABELED] = max(1 - density, 0.0) / everyone[UNLABELED]
    return densities


def _nearest(distance: FloatArray, rows: FloatArray, enough: float) -> NDArray[np.intp]:
    """Return the nearest cells, nearest first, that hold enough rows, and perhaps some more."""
    reach = 2 * enough
    near = np.flatnonzero(distance <= reach)
    # One row more than enough, since sums of weights round.
    while near.size < distance.size and rows[near].sum() < enough + 1:
        reach *= 2
        near = np.flatnonzero(distance <= reach)
    return near[np.argsort(distance[near], kind="stable")]
