"""How many rows of each label stand at each distinct score: the one table everything reads."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from undercount.count.arrays import amount, read_pair, read_scores, read_weights, row_words
from undercount.count.kernel.array_library import is_tensor
from undercount.count.kernel.cluster_pairs import ClusterPairs
from undercount.count.kernel.rows import compact_table, full_table, sum_squares
from undercount.count.kernel.table import (
    Table,
    add_tables,
    add_up,
    bound_auc_error,
    coarsen,
    find_cells,
    insert_knots,
    merge_bare,
    merge_every_bare,
    regroup_rows,
    sum_equal_scores,
)
from undercount.count.kernel.walk import THIN_FROM, Walk, walk_table
from undercount.curve import FloatArray, blocks
from undercount.errors import (
    InputError,
    check_flag,
    keep_scores,
    keep_threshold,
    named,
    real_number,
    wording,
)

BoolArray = NDArray[np.bool_]
CLASSES = ("positive", "negative", "unlabeled")


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCounts:
    """Count labelled positive, labelled negative and unlabeled rows at each distinct score.

    Made by `from_rows` or `from_counts`, which alone validate; everything after them may assume
    valid data. Scores descend; a row is predicted positive at a threshold if its score is at least
    as high. Counts are sums, so the tables of parts add up to the table of the whole.

    Attributes
    ----------
    score : array
        Distinct scores, descending. The score of a merged cell is the lowest in it.
    positive, negative, unlabeled : array
        Rows (or sums of weights) at each score.
    merged : array of bool
        Whether a cell stands for several scores, inside which no threshold can be answered.
    squared_weight : tuple
        Sums of squared weights of the three classes, for effective sample sizes.
    clusters : ClusterPairs, optional
        How many pairs of rows share a cluster, if rows were counted by cluster.
    rows : array of shape (3, cells), optional
        How many positive, negative and unlabeled rows of a weight above 0 each cell holds, if
        they carry weights and were counted: the highest rows are a number of rows, not of weights.

    Examples
    --------
    >>> import undercount as uc
    >>> uc.ScoreCounts.from_rows([1, None, 1, None], [0.9, 0.9, 0.4, 0.1])
    ScoreCounts: 4 rows: 2 labelled positive, 0 labelled negative, 2 unlabeled; \
3 distinct scores from 0.1 to 0.9
    """

    score: FloatArray
    positive: FloatArray
    negative: FloatArray
    unlabeled: FloatArray
    merged: BoolArray
    squared_weight: tuple[float, float, float]
    clusters: ClusterPairs | None = None
    rows: FloatArray | None = None

    @classmethod
    def from_rows(
        cls,
        y: Any,
        score: Any,
        *,
        unlabeled: float | None = None,
        sample_weight: Any = None,
        compact: bool = False,
        knots: Sequence[float] = (),
    ) -> "ScoreCounts":
        """Count rows.

        Parameters
        ----------
        y : array-like
            1 positive, 0 negative, missing (None, NaN, NA) unlabeled.
        score : array-like
            Higher means more positive; any real numbers, ±inf allowed. Tensors on a device are
            counted there, labels and scores on the same one.
        unlabeled : number, optional
            The value in `y` that means unlabeled, usually 0 or -1.
        sample_weight : array-like, optional
            Importance of each row, not negative; only ratios count. Intervals at thresholds rest
            on Kish's effective sizes, those of areas also on the labelled rows' own weights. For
            counted repetitions use `from_counts`. A row of weight 0 is left out.
        compact : bool
            Merge neighbouring scores that carry no labelled row: much smaller and faster, and
            exact for every curve and, if labels are pure, for every area and interval. Losses
            need every score; bounds (`bound_curve`) stay valid and may be wider.
        knots : sequence of float
            Thresholds that will be asked for, kept apart in a compact table.
        """
        if is_tensor(score) or is_tensor(y):
            from undercount.count.tensors import device_rows  # noqa: PLC0415 - few need it

            counted_on_device = device_rows(y, score, sample_weight)
            if counted_on_device is not None:
                return cls.from_table(
                    *counted_on_device.count(unlabeled, compact=compact, knots=knots)
                )
        labels, scores = read_pair(y, score, unlabeled, sample_weight=sample_weight)
        if len(scores) == 0:
            raise InputError("y and score must hold at least one row; got none")
        weights = None if sample_weight is None else read_weights(sample_weight, len(scores))
        check_flag("compact", compact)
        if compact:
            table = insert_knots(compact_table(scores, labels, weights, knots), knots)
        else:
            table = full_table(scores, labels, weights)
        rows = None if weights is None else _count_rows(table, scores, labels, weights)
        return cls.from_table(table, sum_squares(labels, weights), rows)

    @classmethod
    def from_counts(
        cls,
        score: ArrayLike,
        positive: ArrayLike,
        negative: ArrayLike,
        unlabeled: ArrayLike,
        *,
        merged: ArrayLike | None = None,
        squared_weight: tuple[float, float, float] | None = None,
        rows: ArrayLike | None = None,
    ) -> "ScoreCounts":
        """Make a table from counts in any order; equal scores are added up.

        Parameters
        ----------
        score, positive, negative, unlabeled : array-like
            Scores and the rows of each class there.
        merged : array-like of bool, optional
            Cells that stand for several scores, of which `score` is the lowest.
        squared_weight : tuple, optional
            Sums of squared weights of the three classes, if the counts are sums of weights.
        rows : array-like of shape (3, cells), optional
            Positive, negative and unlabeled rows at each score, if the counts are sums of weights.
            Without them nothing can be said of a number of highest rows.

        Examples
        --------
        >>> import undercount as uc
        >>> counts = uc.ScoreCounts.from_counts([0.1, 0.9, 0.1], [0, 2, 1], [0, 0, 0], [5, 1, 2])
        >>> counts.score, counts.unlabeled
        (array([0.9, 0.1]), array([1., 7.]))
        """
        scores: FloatArray = np.asarray(read_scores(score), dtype=np.float64)
        columns = [
            read_weights(column, len(scores), name=name, allow_zero_sum=True)
            for name, column in zip(CLASSES, (positive, negative, unlabeled), strict=True)
        ]
        several = np.zeros(len(scores), bool) if merged is None else np.asarray(merged, bool)
        table = sum_equal_scores(scores, columns, several)
        sums = [float(column.sum()) for column in table.classes]
        squares = squared_weight or (sums[0], sums[1], sums[2])
        if rows is None:
            return cls.from_table(table, squares)
        row_counts = _read_rows(rows, columns)
        if squared_weight is None:
            if not np.array_equal(row_counts, columns):
                raise InputError(
                    "counts that are not the numbers of their rows are sums of weights; pass "
                    "squared_weight too"
                )
            return cls.from_table(table, squares)
        kept = row_counts.any(axis=0)
        return cls.from_table(
            table, squares, regroup_rows(table.score, scores[kept], row_counts[:, kept])
        )

    @classmethod
    def from_table(
        cls,
        table: Table,
        squared_weight: tuple[float, float, float],
        rows: FloatArray | None = None,
    ) -> "ScoreCounts":
        """Take over a table that the kernel has made of validated rows."""
        columns = (table.score, *table.classes)
        # A class without rows may be one zero that stands for all cells.
        arrays = [
            column if column.strides == (0,) else np.ascontiguousarray(column, dtype=np.float64)
            for column in columns
        ]
        merged = np.ascontiguousarray(table.merged)
        for array in (*arrays, merged, *(() if rows is None else (rows,))):
            array.setflags(write=False)
        return cls(arrays[0], arrays[1], arrays[2], arrays[3], merged, squared_weight, rows=rows)

    def in_cells(self, table: Table) -> "ScoreCounts":
        """Return the same rows in a table whose cells unite some of these, or are empty."""
        rows = None if self.rows is None else regroup_rows(table.score, self.score, self.rows)
        return ScoreCounts.from_table(table, self.squared_weight, rows)

    @property
    def table(self) -> Table:
        """The columns alone, as the kernel takes them."""
        return Table(self.score, self.positive, self.negative, self.unlabeled, self.merged)

    @cached_property
    def n_positive(self) -> float:
        """Labelled positive rows (sum of their weights)."""
        return float(self.positive.sum())

    @cached_property
    def n_negative(self) -> float:
        """Labelled negative rows (sum of their weights)."""
        return float(self.negative.sum())

    @cached_property
    def n_unlabeled(self) -> float:
        """Unlabeled rows (sum of their weights)."""
        return float(self.unlabeled.sum())

    @cached_property
    def n_rows(self) -> float:
        """All rows (sum of their weights)."""
        return self.n_positive + self.n_negative + self.n_unlabeled

    @property
    def weighted(self) -> bool:
        """Whether rows carried weights other than 1."""
        sizes = self.n_positive, self.n_negative, self.n_unlabeled
        return self.rows is not None or self.squared_weight != sizes

    @property
    def cell_rows(self) -> FloatArray:
        """Positive, negative and unlabeled rows in each cell, whatever they weigh."""
        if not self.weighted:
            return np.stack(self.table.classes)
        if self.rows is None:
            raise InputError(
                "the highest rows are a number of rows, and these counts are sums of weights that "
                "do not say how many rows they are of",
                code="rows",
                argument="top",
                hint="count the rows again and keep every score ("
                f"{keep_scores('compact=False')}), pass the rows themselves, or leave out "
                f"{named('top')} and name a {named('threshold')}",
            )
        return self.rows

    @property
    def compact(self) -> bool:
        """Whether some cells stand for several scores."""
        return bool(self.merged.any())

    @cached_property
    def canonical(self) -> "ScoreCounts":
        """The same rows in the one form that every way of counting them leads to.

        Neighbouring scores without a labelled row are one cell, whether they were kept apart or
        not, and no cell is empty. Estimates of the share and areas are read from it, so that rows,
        frames, files, databases and sums of parts give the same numbers to the last bit (sums of
        weights that a float cannot hold exactly round in the order in which they were added).
        """
        table = merge_every_bare(self.table)
        if len(table.score) == len(self.score):
            return self
        merged = ScoreCounts.from_table(table, self.squared_weight)
        return merged if self.clusters is None else replace(merged, clusters=self.clusters)

    def canonical_between(self, knots: ArrayLike) -> "ScoreCounts":
        """Return the same form with cells on either side of some scores kept apart."""
        merged = self.in_cells(merge_bare(self.table, np.asarray(knots, np.float64)))
        return merged if self.clusters is None else replace(merged, clusters=self.clusters)

    def effective_size(self, label: str) -> float:
        """Kish's effective number of rows of a class: (sum of weights)² / sum of squares."""
        total = float(getattr(self, f"n_{label}"))
        squares = self.squared_weight[CLASSES.index(label)]
        return total * total / squares if squares > 0 else 0.0

    def cumulative(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rows above each border between cells, from 0 to all: positive, negative, unlabeled.

        Those of a short table are kept and cannot be written to: a dozen readers ask for them.
        """
        return self._above if len(self.score) < THIN_FROM else self._add_up()

    @cached_property
    def _above(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        above = self._add_up()
        for heads in above:
            heads.setflags(write=False)
        return above

    def _add_up(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        size = len(self.score) + 1
        above = [np.zeros(size) if total else np.broadcast_to(0.0, size) for total in self.totals]
        for part, heads in self.head_blocks():
            for column, rows, total in zip(above, heads, self.totals, strict=True):
                if total:
                    column[part.start + 1 : part.stop + 1] = rows
        return above[0], above[1], above[2]

    @property
    def totals(self) -> tuple[float, float, float]:
        """Positive, negative and unlabeled rows (sums of their weights)."""
        return self.n_positive, self.n_negative, self.n_unlabeled

    def head_blocks(self) -> Iterator[tuple[slice, list[FloatArray]]]:
        """Yield parts of the cells, and the rows of each class down to the end of each cell."""
        above = [0.0, 0.0, 0.0]
        columns, totals = self.table.classes, self.totals
        for part in blocks(len(self.score)):
            heads = [
                # A class without rows costs no pass.
                add_up(column[part], rows, total) if total else column[part]
                for column, rows, total in zip(columns, above, totals, strict=True)
            ]
            above = [float(rows[-1]) for rows in heads]
            yield part, heads

    def head_cells(self, threshold: float) -> slice:
        """Return the cells of the rows with at least a score; refuse to split a merged cell."""
        size = len(self.score)
        stop = size - int(np.searchsorted(self.score[::-1], threshold))
        exact = stop > 0 and self.score[stop - 1] == threshold
        # No row lies above an infinite one, whatever was merged.
        if stop < size and self.merged[stop] and not exact and not math.isinf(threshold):
            raise InputError(
                f"threshold {threshold} lies inside a merged cell of compact counts, where only "
                "sums were kept; "
                f"{keep_threshold(threshold)}"
            )
        return slice(stop)

    def heads_at(self, threshold: float) -> tuple[float, float, float]:
        """Return the positive, negative and unlabeled rows with at least a score."""
        if threshold not in self._heads:
            head = self.head_cells(threshold)
            # Part of the weights may sum up in another order than all of them, to another number.
            whole = [not column[head.stop :].any() for column in self.table.classes]
            heads = [
                float(column[slice(None) if every else head].sum())
                for column, every in zip(self.table.classes, whole, strict=True)
            ]
            self._heads[threshold] = heads[0], heads[1], heads[2]
        return self._heads[threshold]

    @cached_property
    def _heads(self) -> dict[float, tuple[float, float, float]]:
        """Heads that were asked for: every metric at a threshold asks for the same ones."""
        return {}

    def auc(self, upper: str, lower: str) -> float:
        """Return the share of pairs in which a row of `upper` outscores one of `lower`, ties ½.

        Examples
        --------
        >>> import undercount as uc
        >>> uc.ScoreCounts.from_rows([1, 0, 1, None], [4, 3, 3, 1]).auc("positive", "negative")
        0.75
        """
        if (upper, lower) not in self._areas:
            # Sums of the same rows round alike only if they are added up in the same cells.
            self._areas[upper, lower] = self.canonical._auc(upper, lower)  # noqa: SLF001 - of this class
        return self._areas[upper, lower]

    @cached_property
    def _areas(self) -> dict[tuple[str, str], float]:
        """Areas that were asked for: checks and limits ask for the same one."""
        return {}

    @cached_property
    def walked(self) -> Walk:
        """Sums along all cells from which areas follow, found in one walk."""
        return walk_table(self.table, (self.n_positive, self.n_negative, self.n_unlabeled))

    @cached_property
    def thinned(self) -> "ScoreCounts":
        """The same rows in some ten thousand cells, if there are many more; for spreads and limits.

        Heads are exact where cells end, each class has its quantiles and tails there, and a score
        that many rows share stays alone. Values of areas and thresholds are read from all cells.
        Rows with weights stay as they are, since cells tell the weights of single rows.
        """
        if len(self.score) < THIN_FROM or self.weighted:
            return self
        return ScoreCounts.from_table(self.walked.thin(self.table), self.squared_weight)

    def _auc(self, upper: str, lower: str) -> float:
        if (upper, lower) == ("positive", "unlabeled") and self.thinned is not self:
            return 1 - self.walked.pairs / (self.n_positive * self.n_unlabeled)
        above, below = getattr(self, upper), getattr(self, lower)
        n_below = float(getattr(self, f"n_{lower}"))
        pairs, left = 0.0, n_below
        for part in blocks(len(above)):
            # Counted from the rows that are left, so that sums of whole rows stay exact.
            beaten = left - add_up(below[part], 0.0, n_below)
            left = float(beaten[-1])
            beaten += below[part] / 2
            pairs += float(above[part] @ beaten)
        return pairs / (float(getattr(self, f"n_{upper}")) * n_below)

    def require(self, *labels: str) -> None:
        """Raise unless there are rows of each named class ("positive", "negative", "unlabeled")."""
        for label in labels:
            if getattr(self, f"n_{label}") == 0:
                raise InputError(
                    f"at least one {_WORDS[label]} row is needed; got {self._words()}. "
                    f"{_HINT_BY_LABEL[label]}"
                )

    @cached_property
    def auc_error(self) -> float:
        """Guaranteed bound on the error of an AUC that merging may have caused; 0 if exact.

        Rows of two classes in one merged cell count one half where they may really count 0 or 1.
        """
        return bound_auc_error(self.table)

    def __add__(self, other: "ScoreCounts") -> "ScoreCounts":
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        if self.clusters is not None or other.clusters is not None:
            raise InputError(
                "counts by cluster cannot be added: a cluster may have rows in both, and no count "
                "says so",
                hint="count all parts at once, or count them without clusters",
            )
        squares = np.add(self.squared_weight, other.squared_weight).tolist()
        table = add_tables(self.table, other.table)
        return ScoreCounts.from_table(
            table, (squares[0], squares[1], squares[2]), _add_rows(table, self, other)
        )

    def __radd__(self, other: object) -> "ScoreCounts":
        """Return the counts added to nothing, as `sum` begins."""
        return self if other == 0 else NotImplemented

    def coarsened(self, n_bins: int) -> "ScoreCounts":
        """Merge neighbouring scores into at most `n_bins` cells of about equal weight.

        A labelled and an unlabeled row of one cell count one half where they may really count
        0 or 1, so ``auc_error`` of the result bounds the error of any AUC read from it.

        Examples
        --------
        >>> import undercount as uc
        >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None], [0.9, 0.8, 0.4, 0.1])
        >>> counts.coarsened(2).auc_error
        0.25
        """
        if not 1 <= real_number(n_bins) < math.inf:
            raise InputError(f"n_bins must be at least 1; got {n_bins!r}")
        return self.in_cells(coarsen(self.table, n_bins))

    def _words(self) -> str:
        parts = (f"{amount(getattr(self, f'n_{name}'))} {kind}" for name, kind in _WORDS.items())
        return ", ".join(parts)

    def __repr__(self) -> str:
        if len(self.score) == 0:
            return "ScoreCounts: no rows"
        kind = "cells" if self.compact else "distinct scores"
        error = f", AUC within {self.auc_error:.1e}" if self.auc_error else ""
        rows = row_words(self.n_rows, weighted=self.weighted)
        return (
            f"ScoreCounts: {rows}: {self._words()}; {len(self.score):,} {kind} "
            f"from {self.score[-1]:.6g} to {self.score[0]:.6g}{error}"
        )


def _count_rows(
    table: Table, score: NDArray[Any], labels: NDArray[np.int8], weights: FloatArray
) -> FloatArray | None:
    """Return how many rows of each class are in each cell; None if each that counts weighs 1."""
    heavy = weights > 0
    if (weights[heavy] == 1).all():
        return None
    cell, label = find_cells(table.score, score[heavy]), labels[heavy]
    size = len(table.score)
    kinds = [np.bincount(cell[label == kind], minlength=size) for kind in LABEL_OF.values()]
    return np.array(kinds, np.float64)


def _read_rows(rows: ArrayLike, columns: Sequence[FloatArray]) -> FloatArray:
    """Return numbers of rows that may be those of counts; where nothing weighs there is no row."""
    row_counts = np.asarray(rows, np.float64)
    weights = np.stack(columns)
    possible = row_counts.shape == weights.shape and bool(
        (np.isfinite(row_counts) & (row_counts >= 0) & ((row_counts > 0) | (weights == 0))).all()
    )
    if not possible:
        raise InputError(
            "rows must hold numbers of positive, negative and unlabeled rows, as many columns as "
            "there are scores, above 0 wherever the counts are"
        )
    return np.where(weights > 0, row_counts, 0.0)


def _add_rows(table: Table, one: "ScoreCounts", other: "ScoreCounts") -> FloatArray | None:
    """Return the rows of a sum; None if each weighs 1, or where a part does not know its own."""
    weighted = [part for part in (one, other) if part.weighted]
    if not weighted or any(part.rows is None for part in weighted):
        return None
    return np.asarray(
        sum(regroup_rows(table.score, part.score, part.cell_rows) for part in (one, other))
    )


# How `read_pair` codes the classes, in their order.
LABEL_OF = {"positive": 1, "negative": 0, "unlabeled": -1}
_WORDS = {
    "positive": "labelled positive",
    "negative": "labelled negative",
    "unlabeled": "unlabeled",
}
# Said where no row is unlabeled.
ALL_LABELLED = (
    "If somebody verified every row, nothing is hidden and the plain metrics of the labels, those "
    "of scikit-learn say, are right. If the verified rows are a random sample of more, add the "
    "others without a label and pass "
    f"{wording('assume=RandomAudit() to evaluate', '--audited to undercount evaluate')}"
)
_HINT_BY_LABEL = {
    "positive": "Positives are coded 1",
    "negative": "Negatives are coded 0 while `unlabeled` names another value",
    "unlabeled": (
        f"If 0 or -1 {wording('in y means', 'among the labels means')} unlabeled rather "
        f"than verified negative, pass {named('unlabeled', '0')} or "
        f"{named('unlabeled', '-1')}. {ALL_LABELLED}"
    ),
}
