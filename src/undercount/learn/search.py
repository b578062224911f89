"""Choose width and penalty by the AUL of held-out rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from undercount.counts import BoolArray, ScoreCounts
from undercount.curve import FloatArray
from undercount.learn.basis import GaussianBasis, LinearBasis
from undercount.learn.pairs import PairLoss, PairMoments, RidgePath
from undercount.learn.rows import TrainingRows

Loss = Callable[[PairMoments, PairMoments], PairLoss]
Basis = GaussianBasis | LinearBasis


@dataclass(frozen=True)
class BestScore:
    """The basis and penalty with the highest held-out AUL, and what was learnt with them."""

    basis: Basis
    penalty: float
    coefficients: FloatArray
    intercept: float
    held_out: FloatArray
    area: float


def lift_area(
    labelled: BoolArray, score: FloatArray, weight: FloatArray, *, with_self: bool
) -> float:
    """Return AUL^PU (AUL paper, eq. 4), or the area against the other rows only.

    AUL^PU = λ/2 + (1 - λ) A, with λ the labelled share and A the area of labelled against others.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.learn.search import lift_area
    >>> labelled = np.array([True, False, True, False])
    >>> lift_area(labelled, np.array([4.0, 3.0, 2.0, 1.0]), np.ones(4), with_self=True)
    0.625
    """
    y = np.where(labelled, 1, -1)
    counts = ScoreCounts.from_rows(y, score, unlabeled=-1, sample_weight=weight, compact=True)
    share = counts.n_positive / counts.n_rows if with_self else 0.0
    return share / 2 + (1 - share) * counts.auc("positive", "unlabeled")


def search(
    rows: TrainingRows,
    bases: Sequence[Basis],
    penalties: FloatArray,
    loss: Loss,
    *,
    with_self: bool,
) -> tuple[BestScore, FloatArray]:
    """Return the best choice and the table of areas (one row a basis, one column a penalty).

    For each basis: one pass for the moments of every fold, one factorisation a fold that serves
    all penalties, one pass for the held-out scores. Ties go to the first basis and penalty.
    """
    best: BestScore | None = None
    table = np.empty((len(bases), penalties.size))
    for place, basis in enumerate(bases):
        blocks = rows.blocks(basis)
        moments = rows.moments(blocks, basis.n_functions)
        root = basis.root()
        solved = [
            _solve(_sum_folds(moments, fold), root, penalties, loss) for fold in range(rows.n_folds)
        ]
        scores = rows.held_out_scores(blocks, solved)
        table[place] = [_area(rows, column, with_self=with_self) for column in scores.T]
        first = int(np.argmax(table[place]))
        if best is None or table[place, first] > best.area:
            penalty, area = float(penalties[first]), float(table[place, first])
            fitted, shift = _solve(_sum_folds(moments, None), root, penalties[[first]], loss)
            held_out = scores[:, first].copy()
            best = BestScore(basis, penalty, fitted[:, 0], float(shift[0]), held_out, area)
    assert best is not None  # noqa: S101 - there is always a basis
    return best, table


def _solve(
    moments: tuple[PairMoments, PairMoments],
    root: FloatArray | None,
    penalties: FloatArray,
    loss: Loss,
) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and intercepts, a column for each penalty.

    The loss leaves the intercept open; a mean score of zero makes the folds comparable.
    """
    solutions = RidgePath.of(loss(*moments), root).solve(penalties)
    return solutions, -(moments[0] + moments[1]).mean @ solutions


def _area(rows: TrainingRows, score: FloatArray, *, with_self: bool) -> float:
    """Average the areas within the folds, each ranked by one model."""
    areas, weights = [], []
    for fold in range(rows.n_folds):
        held_out = rows.fold == fold
        labelled, weight = rows.labelled[held_out], rows.weight[held_out]
        areas.append(lift_area(labelled, score[held_out], weight, with_self=with_self))
        weights.append(float(weight[labelled].sum()))
    return float(np.average(areas, weights=weights))


def _sum_folds(
    moments: list[tuple[PairMoments, PairMoments]], left_out: int | None
) -> tuple[PairMoments, PairMoments]:
    kept = [pair for fold, pair in enumerate(moments) if fold != left_out]
    none = PairMoments.none(moments[0][0].total.size)
    labelled, others = (sum(part, start=none) for part in zip(*kept, strict=True))
    return labelled, others
