"""Read rows for a selection model, and standardise their columns (Cook's step 1)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.assume.selection.score_scale import ScoreScale
from undercount.count.arrays import read_scores
from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named, wording
from undercount.infer.scored_rows import UNLABELED, RecountableRows

MATRIX = 2
# Of standardised columns: variance left of one when the others are known, and share of a column.
COLLINEAR, INVOLVED = 1e-9, 1e-3
_LEAST_SPREAD = 1e-12  # of values whose largest is near 1; less is rounding


@dataclass(frozen=True, eq=False)
class SelectionSample:
    """Hold validated rows; equal rows without covariates are one row with a weight.

    Attributes
    ----------
    counts : ScoreCounts
        The rows' table, which validated and sorted them.
    cell : array of int
        Where each row's score stands in ``counts.score``.
    label, looked : array
        1 or 0; the label is 0 where nobody looked.
    weight : array
        How many rows each row stands for.
    selection_score : array or None
        Score of the classifier that chose the rows, if known.
    covariates : array of shape (n, d)
        Columns of X.
    names : tuple of str
        Names of those columns.
    unit : array of int, optional
        Which independent unit each row belongs to: itself where a weight says how much a row
        matters, or its cluster. None: a weight says how many independent rows there are.
    """

    counts: ScoreCounts
    cell: NDArray[np.intp]
    label: FloatArray
    looked: FloatArray
    weight: FloatArray
    selection_score: FloatArray | None
    covariates: FloatArray
    names: tuple[str, ...]
    unit: NDArray[np.intp] | None = None

    @property
    def score(self) -> FloatArray:
        """Score of each row."""
        return self.counts.score[self.cell]

    def heads(self, mass: FloatArray) -> FloatArray:
        """Sum a number of each row above each border between distinct scores, from 0 to all."""
        return np.append(0.0, np.cumsum(np.bincount(self.cell, mass, len(self.counts.score))))

    def variance(self, weight: FloatArray, influence: FloatArray, noise: FloatArray) -> float:
        """Return the variance of a weighted mean of what rows add, and what they leave open."""
        total = float(weight.sum())
        if self.unit is None:
            return float(weight @ (influence**2 + noise)) / total**2
        sums = np.bincount(self.unit, weight * influence)
        left = float(weight**2 @ noise) * max(self.cluster_effect(weight, influence), 1.0)
        return (float(sums @ sums) + left) / total**2

    def row_variance(self, weight: FloatArray, influence: FloatArray) -> float:
        """Return the same as if each row were independent of the others."""
        square = weight if self.unit is None else weight**2
        return float(square @ influence**2) / float(weight.sum()) ** 2

    def cluster_effect(self, weight: FloatArray, influence: FloatArray) -> float:
        """Return how much larger the variance is than that of independent rows."""
        alone = self.row_variance(weight, influence)
        if self.unit is None or not alone > 0:
            return 1.0
        sums = np.bincount(self.unit, weight * influence) / weight.sum()
        return float(sums @ sums) / alone

    def covariance(self, weight: FloatArray, influence: FloatArray) -> FloatArray:
        """Return the covariance of several means, a column of what rows add for each."""
        sums = UnitSquares(self.unit, influence.shape[1])
        sums.add(slice(None), weight, influence)
        return sums.total() / float(weight.sum()) ** 2

    def degrees(self) -> tuple[float, float]:
        """Return how many rows looked at there are, and how many units with any."""
        looked = self.looked == 1
        rows = float(self.weight[looked].sum())
        return rows, rows if self.unit is None else float(len(np.unique(self.unit[looked])))


class UnitSquares:
    """Add up products of what independent units add to several sums, some rows at a time."""

    def __init__(self, unit: NDArray[np.intp] | None, width: int) -> None:
        self._unit = unit
        size = width if unit is None else int(unit.max()) + 1
        self._sums = np.zeros((size, width))

    def add(self, part: slice, weight: FloatArray, influence: FloatArray) -> None:
        """Add some rows, each with its weight."""
        if self._unit is None:
            self._sums += (influence.T * weight) @ influence
        else:
            np.add.at(self._sums, self._unit[part], weight[:, None] * influence)

    def total(self) -> FloatArray:
        """Return the sums of products over all units."""
        return self._sums if self._unit is None else np.asarray(self._sums.T @ self._sums)


@dataclass(frozen=True, eq=False)
class StandardColumns:
    """Hold standardised columns (step 1 of Cook's procedure: over all rows).

    Attributes
    ----------
    score : array
        Standardised, or rank-normalised, score a.
    other : array or None
        The same of the selecting score b.
    extra : array of shape (n, d)
        Standardised covariates.
    moments : array
        Mean and standard deviation of the score, then of the selecting score, on their scales.
    scales : pair of ScoreScale
        Scale of the score, and of the selecting score.
    """

    score: FloatArray
    other: FloatArray | None
    extra: FloatArray
    moments: FloatArray
    scales: tuple[ScoreScale, ScoreScale] = (ScoreScale(), ScoreScale())

    @property
    def design(self) -> FloatArray:
        """Design matrix: ones, the score, and whatever else there is."""
        others = [] if self.other is None else [self.other]
        return np.column_stack([np.ones(len(self.score)), self.score, *others, self.extra])


def sample_counts(counts: ScoreCounts) -> SelectionSample:
    """Take rows whose score and label say everything, equal ones as one row with a weight."""
    _check_usable(counts)
    columns = (counts.positive, counts.negative, counts.unlabeled)
    cells = [np.flatnonzero(column) for column in columns]
    sizes = [len(cell) for cell in cells]
    return SelectionSample(
        counts,
        cell=np.concatenate(cells),
        label=np.repeat([1.0, 0.0, 0.0], sizes),
        looked=np.repeat([1.0, 1.0, 0.0], sizes),
        weight=np.concatenate([column[cell] for column, cell in zip(columns, cells, strict=True)]),
        selection_score=None,
        covariates=np.empty((sum(sizes), 0)),
        names=(),
    )


def sample_rows(
    rows: RecountableRows,
    features: Any,
    beside: Mapping[str, FloatArray],
    selection_score: Any,
    unit: NDArray[np.intp] | None,
) -> SelectionSample:
    """Take rows one by one, with what else is known of each.

    Parameters
    ----------
    rows : RecountableRows
        Labels, scores and, perhaps, weights, whose mean becomes 1: only ratios of them count.
    features, selection_score : array-like, optional
        Columns beside the score.
    beside : mapping
        Scores of other models on the same rows, by their names.
    unit : array of int, optional
        The cluster of each row.
    """
    size = len(rows.labels)
    covariates, names = _read_features(features, size)
    covariates = np.column_stack([covariates, *beside.values()])
    names = (*names, *beside)
    other = None if selection_score is None else _read_selection_score(selection_score, size)
    weight = np.ones(size)
    if rows.weights is not None:  # rows of weight 0 are none
        used = rows.weights > 0
        weight = rows.weights[used] / rows.weights[used].mean()
        rows = replace(rows, labels=rows.labels[used], scores=rows.scores[used], weights=weight)
        covariates, other = covariates[used], None if other is None else other[used]
        unit = np.arange(len(weight)) if unit is None else unit[used]
    counts = replace(rows, compact=False)([])
    _check_usable(counts)
    return SelectionSample(
        counts,
        cell_places(counts.score, rows.scores),
        label=(rows.labels == 1).astype(float),
        looked=(rows.labels != UNLABELED).astype(float),
        weight=weight,
        selection_score=other,
        covariates=covariates,
        names=names,
        unit=None if unit is None else np.unique(unit, return_inverse=True)[1],
    )


def _read_selection_score(values: Any, size: int) -> FloatArray:
    other = read_scores(values).astype(np.float64)
    if len(other) != size or not np.isfinite(other).all():
        raise InputError(
            f"{named('selection_score')} must hold one finite number a row; got {len(other)} "
            f"numbers for {size} rows",
            argument="selection_score",
        )
    return other


def standardise(
    sample: SelectionSample,
    weight: FloatArray,
    *,
    ranks: bool,
    scales: tuple[ScoreScale, ScoreScale] = (ScoreScale(), ScoreScale()),
) -> StandardColumns:
    """Standardise score, selecting score and covariates over all rows, looked at or not."""
    score, moments = _standardise_column(scales[0].map(sample.score), weight, "score")
    other = None
    if sample.selection_score is not None:
        values = scales[1].map(sample.selection_score)
        other, more = _standardise_column(values, weight, "selection_score")
        moments = np.concatenate([moments, more])
    if ranks:
        score = normal_scores(sample.score, weight)
        other = None if other is None else normal_scores(sample.selection_score, weight)
    extra = np.empty_like(sample.covariates)
    for i, name in enumerate(sample.names):
        what = f"column {name!r} of {named('features')}"
        extra[:, i] = _standardise_column(sample.covariates[:, i], weight, what)[0]
    return StandardColumns(score, other, extra, moments, scales)


def check_collinear(
    sample: SelectionSample, columns: StandardColumns, *, among_looked: bool
) -> None:
    """Raise, naming the columns, if one of them follows from the others.

    Parameters
    ----------
    sample, columns : SelectionSample, StandardColumns
        Rows, and their standardised columns.
    among_looked : bool
        Whether to judge the rows looked at alone, from which the labels' model is fitted.
    """
    if not sample.names:
        return
    kept = sample.looked == 1 if among_looked else np.full(len(sample.looked), fill_value=True)
    design = columns.design[kept, 1:] - columns.design[kept, 1:].mean(axis=0)
    values, vectors = np.linalg.eigh(design.T @ design / len(design))
    if values[0] > COLLINEAR:
        return
    scores = ["the score", *(["the selection score"] if columns.other is not None else [])]
    names = [*scores, *(f"column {name!r} of {named('features')}" for name in sample.names)]
    involved = np.abs(vectors[:, 0]) > INVOLVED
    columns_involved = [name for name, bad in zip(names, involved, strict=True) if bad]
    found = " and ".join(columns_involved)
    where = " among the rows looked at" if among_looked else ""
    if involved.sum() == 1:
        raise InputError(f"{found} does not vary{where}, so it explains nothing; drop it")
    first, second, *further = columns_involved
    if first in scores and second not in scores and not further:
        raise InputError(
            f"{second} repeats {first}{where} (it is the same but for its unit), so it explains "
            "nothing more; drop it"
        )
    raise InputError(
        f"{found} follow from each other{where}, so no model can tell what each of them does; "
        "drop one of these columns"
    )


def normal_scores(values: FloatArray | None, weight: FloatArray) -> FloatArray:
    """Replace values by normal quantiles of their mid-ranks, ties sharing one."""
    place, middle = mid_ranks(np.asarray(values), weight)
    # A value that a resample left out may stand at the very edge.
    tiny = 0.25 / weight.sum()
    return np.asarray(ndtri(np.clip(middle, tiny, 1 - tiny))[place])


def mid_ranks(values: FloatArray, weight: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return where each row stands among the distinct values, and the share of rows below those."""
    distinct, place = np.unique(values, return_inverse=True)
    mass = np.bincount(place, weight, len(distinct))
    return place, (np.cumsum(mass) - 0.5 * mass) / mass.sum()


def _standardise_column(
    values: FloatArray, weight: FloatArray, name: str
) -> tuple[FloatArray, FloatArray]:
    total = weight.sum()
    # In a unit near the largest value, a power of two: squares of 1e160 are no numbers.
    unit = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    small = np.ldexp(values, -unit)
    mean = float(weight @ small / total)
    centred = small - mean
    spread = float(np.sqrt(weight @ centred**2 / total))
    if not spread > _LEAST_SPREAD:
        raise InputError(f"{name} must vary; got {np.ldexp(mean, unit):.6g} in every row")
    return centred / spread, np.ldexp([mean, spread], unit)


def _check_usable(counts: ScoreCounts) -> None:
    if not np.isfinite(counts.score[[0, -1]]).all():
        raise InputError(
            "a selection model needs finite scores; got an infinite one. Cap the scores, or pass "
            "their ranks"
        )
    if counts.n_positive == 0 or counts.n_negative == 0:
        raise InputError(
            "a selection model needs labels of both classes among the rows looked at; got "
            f"{counts.n_positive:g} positive and {counts.n_negative:g} negative. If 0 means "
            "unlabeled in your data, "
            f"{wording('this is another problem: see RandomLabels', 'use undercount evaluate')}"
        )
    if counts.n_unlabeled == 0:
        raise InputError(
            "every row is labelled, so nothing was selected; "
            f"{wording('use labelled_curve, or add', 'add')} the rows that nobody looked at with a "
            "missing label"
        )


def _read_features(features: Any, n_rows: int) -> tuple[FloatArray, tuple[str, ...]]:
    if features is None:
        return np.empty((n_rows, 0)), ()
    columns = (
        list(features) if isinstance(features, Mapping) else getattr(features, "columns", None)
    )
    try:
        if isinstance(features, Mapping):
            array = np.stack([np.asarray(column, float) for column in features.values()], axis=-1)
        else:
            array = np.asarray(features, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{named('features')} must hold numbers, as many in each column; encode text and "
            "categories first"
        ) from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != MATRIX or len(array) != n_rows or not np.isfinite(array).all():
        raise InputError(
            f"{named('features')} must be a matrix of finite numbers with {n_rows} rows; got shape "
            f"{array.shape}"
        )
    names = [f"x{i}" for i in range(array.shape[1])] if columns is None else columns
    return array, tuple(str(name) for name in names)
