"""Rows one by one, with what an audit says of the cells of each of several models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from undercount.count.kernel.rows import cell_places
from undercount.curve import FloatArray
from undercount.infer.reviews.verdicts import SHIFT, SLOPE, AuditedCells, IntArray

UNLABELED = -1
# Log odds of a model are taken no farther out than this chance.
_SMALLEST = 1e-6


@dataclass(frozen=True, eq=False)
class AuditedRows(AuditedCells):
    """Hold what the known rows of an audit say of one model's cells, row by row.

    Units are all rows, those that were audited without weight. What is found in each cell is what
    the cells themselves say; how likely each row is positive, for variances, may rest on the scores
    of several models.

    Attributes
    ----------
    whole : AuditedCells
        What the audit says of this model's cells.
    labels : array
        1 positive, 0 negative, -1 not audited, of every row.
    own_cell : array of int
        Cell of every row.
    chance : array
        How likely each row is positive by the scores of every model compared.
    row_weight : array, optional
        Weight of every row.
    """

    whole: AuditedCells = field(kw_only=True)
    labels: NDArray[Any] = field(kw_only=True)
    own_cell: IntArray = field(kw_only=True)
    chance: FloatArray = field(kw_only=True)
    row_weight: FloatArray | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", self.whole.group)

    @classmethod
    def of(
        cls,
        cells: AuditedCells,
        labels: NDArray[Any],
        scores: NDArray[Any],
        chance: FloatArray,
        row_weight: FloatArray | None = None,
    ) -> "AuditedRows":
        """Place every row in the cells of a model by its scores."""
        own = cell_places(cells.counts.score, scores.astype(np.float64))
        prior = cells.posterior[own]
        return cls(
            cells.counts,
            cells.reviews,
            prior,
            whole=cells,
            labels=labels,
            own_cell=own,
            chance=chance,
            row_weight=row_weight,
        )

    @cached_property
    def unlabeled(self) -> FloatArray:
        """Weight of each row that was not audited."""
        return np.asarray((self.labels == UNLABELED) * self._weights)

    @property
    def _weights(self) -> FloatArray:
        return np.ones(len(self.labels)) if self.row_weight is None else self.row_weight

    def moves(self, by_cell: FloatArray) -> FloatArray:
        """Return for each row what is known of its cell."""
        return by_cell[self.own_cell]

    @cached_property
    def stratum(self) -> IntArray:
        """Stratum of each row by this model's scores."""
        return np.asarray(self.whole.stratum[self.own_cell])

    @cached_property
    def place(self) -> IntArray:
        """The rows that were audited."""
        return np.flatnonzero(self.labels != UNLABELED)

    @cached_property
    def verdict(self) -> FloatArray:
        """What was found there."""
        return self.labels[self.place].astype(float)

    @cached_property
    def weight(self) -> FloatArray:
        """Weight of each of them."""
        return self._weights[self.place]

    @property
    def recalibrated(self) -> FloatArray:
        """How likely each row is positive by the scores of every model."""
        return self.chance

    @cached_property
    def hidden(self) -> FloatArray:
        """Positives among the rows of each cell that were not audited."""
        return self.whole.hidden

    @cached_property
    def spread_hidden(self) -> FloatArray:
        """The same where rows can have them."""
        return self.whole.spread_hidden

    @cached_property
    def spread_unseen(self) -> FloatArray:
        """The same row by row."""
        rows, whole = self.whole.unlabeled, self.whole.spread_unseen
        share = np.divide(whole, rows, out=np.zeros(len(rows)), where=rows > 0)
        return np.asarray(self.unlabeled * share[self.own_cell])

    @property
    def finer(self) -> "AuditedRows":
        """These cells, which are as fine as they were asked to be."""
        return self

    def by_cell(self, by_unit: FloatArray) -> FloatArray:
        """Sum up over the rows of each cell."""
        return np.asarray(np.bincount(self.own_cell, by_unit, len(self.counts.score)), float)

    def stratum_means(self, moves: FloatArray) -> FloatArray:
        """Return for each row the mean over the places where its stratum's positives may lie."""
        chance = self.whole.ordered[self.own_cell]
        weight, strata = self.unlabeled * chance * (1 - chance), len(self.unlabeled_rows)
        sums, total = (
            np.bincount(self.stratum, column, strata) for column in (weight * moves, weight)
        )
        return np.asarray((sums / np.maximum(total, 1e-300))[self.stratum])


def chance_by_models(
    models: Mapping[str, AuditedCells],
    scores: Mapping[str, NDArray[Any]],
    labels: NDArray[Any],
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return how likely each row is positive by the scores of all models.

    Logistic regression of the audited rows on each model's own log odds, drawn towards their mean:
    among rows that one model scores alike, those that another scores high are positive more often.
    """
    odds = []
    for name, cells in models.items():
        chance = np.clip(cells.ordered, _SMALLEST, 1 - _SMALLEST)
        odds.append(logit(chance)[cell_places(cells.counts.score, scores[name].astype(float))])
    columns = np.stack([np.ones(len(labels)), *odds], axis=1)
    expected = np.append(0.0, np.full(len(odds), 1 / len(odds)))
    spread = np.append(SHIFT, np.full(len(odds), SLOPE))
    first = next(iter(models))
    rows = AuditedRows.of(models[first], labels, scores[first], np.empty(0), weights)
    return rows.fit_verdicts(columns, expected, spread)
