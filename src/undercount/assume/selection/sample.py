"""Read rows for a selection model, and standardise their columns (Cook's step 1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.assume.selection.score_scale import ScoreScale
from undercount.count.arrays import LabelWords, read_labels, read_scores, refuse_other_order
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, named, wording

MATRIX = 2
# Of standardised columns: variance left of one when the others are known, and share of a column.
COLLINEAR, INVOLVED = 1e-9, 1e-3
_LEAST_SPREAD = 1e-12  # of values whose largest is near 1; less is rounding
# A missing label means something else here, and no argument tells other codings.
LABELS = LabelWords(
    missing="not looked at",
    recode="numpy.where(y == 'yes', 1.0, 0.0), with NaN where nobody looked",
    other=(
        "If {0} means that nobody looked "
        f"{wording('make it missing: numpy.where(y == {0}, numpy.nan, y)', 'leave it empty')}"
    ),
)


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
    """

    counts: ScoreCounts
    cell: NDArray[np.intp]
    label: FloatArray
    looked: FloatArray
    weight: FloatArray
    selection_score: FloatArray | None
    covariates: FloatArray
    names: tuple[str, ...]

    @property
    def score(self) -> FloatArray:
        """Score of each row."""
        return self.counts.score[self.cell]

    def heads(self, mass: FloatArray) -> FloatArray:
        """Sum a number of each row above each border between distinct scores, from 0 to all."""
        return np.append(0.0, np.cumsum(np.bincount(self.cell, mass, len(self.counts.score))))


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


def read_sample(score: Any, y: Any, X: Any, selection_score: Any) -> SelectionSample:
    """Validate rows by counting them, and keep what the counts cannot hold."""
    refuse_other_order(score=score, y=y, X=X, selection_score=selection_score)
    try:
        scores, labels = read_scores(score), read_labels(y, words=LABELS)
        counts = ScoreCounts.from_rows(labels, scores, unlabeled=-1)
    except InputError as error:
        if _holes(score) and not _holes(y):
            raise InputError(
                "fit takes the score first and then y: fit(score, y). Here the first has missing "
                "values, as labels have, and the second has none"
            ) from error
        raise
    if not np.isfinite(counts.score[[0, -1]]).all():
        raise InputError(
            "a selection model needs finite scores; got an infinite one. Cap the scores, or pass "
            "their ranks"
        )
    _refuse_unusable(counts)
    if X is None and selection_score is None:
        return _from_counts(counts)
    covariates, names = _read_covariates(X, len(labels))
    other = None
    if selection_score is not None:
        other = read_scores(selection_score).astype(np.float64)
        if len(other) != len(labels) or not np.isfinite(other).all():
            raise InputError(
                f"{named('selection_score')} must hold one finite number a row; got {len(other)} "
                f"numbers for {len(labels)} rows"
            )
    cell = np.searchsorted(-counts.score, -scores.astype(np.float64))
    label, looked = (labels == 1).astype(float), (labels >= 0).astype(float)
    weight = np.ones(len(labels))
    return SelectionSample(counts, cell, label, looked, weight, other, covariates, names)


def _holes(values: Any) -> bool:
    """Whether something has missing values; what is not numbers has none that matter here."""
    try:
        return bool(np.isnan(np.asarray(values, dtype=float)).any())
    except (TypeError, ValueError):
        return False


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
        what = f"column {name!r} of {named('X')}"
        extra[:, i] = _standardise_column(sample.covariates[:, i], weight, what)[0]
    return StandardColumns(score, other, extra, moments, scales)


def refuse_collinear(
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
    names = [*scores, *(f"column {name!r} of {named('X')}" for name in sample.names)]
    involved = np.abs(vectors[:, 0]) > INVOLVED
    found = " and ".join(name for name, bad in zip(names, involved, strict=True) if bad)
    where = " among the rows looked at" if among_looked else ""
    if involved.sum() == 1:
        raise InputError(f"{found} does not vary{where}, so it explains nothing; drop it")
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


def _from_counts(counts: ScoreCounts) -> SelectionSample:
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


def _refuse_unusable(counts: ScoreCounts) -> None:
    if counts.n_positive == 0 or counts.n_negative == 0:
        raise InputError(
            "a selection model needs labels of both classes among the rows looked at; got "
            f"{counts.n_positive:g} positive and {counts.n_negative:g} negative. If 0 means "
            "unlabeled in your data, "
            f"{wording('this is another problem: see mixture_curve', 'use undercount evaluate')}"
        )
    if counts.n_unlabeled == 0:
        raise InputError(
            "every row is labelled, so nothing was selected; "
            f"{wording('use labelled_curve, or add', 'add')} the rows that nobody looked at with a "
            "missing label"
        )


def _read_covariates(X: Any, n_rows: int) -> tuple[FloatArray, tuple[str, ...]]:
    if X is None:
        return np.empty((n_rows, 0)), ()
    columns = list(X) if isinstance(X, Mapping) else getattr(X, "columns", None)
    try:
        if isinstance(X, Mapping):
            array = np.stack([np.asarray(column, float) for column in X.values()], axis=-1)
        else:
            array = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{named('X')} must hold numbers, as many in each column; encode text and categories "
            "first"
        ) from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != MATRIX or len(array) != n_rows or not np.isfinite(array).all():
        raise InputError(
            f"{named('X')} must be a matrix of finite numbers with {n_rows} rows; got shape "
            f"{array.shape}"
        )
    names = [f"x{i}" for i in range(array.shape[1])] if columns is None else columns
    return array, tuple(str(name) for name in names)
