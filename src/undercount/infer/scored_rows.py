"""Hold one model's scores as counts, with a way to count its rows once more."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from undercount.count.arrays import read_pair, read_weights
from undercount.count.columns import backend_of, is_eager, is_frame, take_columns
from undercount.count.frames import count_scores, unknown_frame
from undercount.count.kernel.array_library import is_tensor
from undercount.count.knots import knots_at, rounded_knots
from undercount.count.tensors import device_rows
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import MISSING_DATA, InputError, named, read_threshold
from undercount.infer.clusters import ClusterRows, Clusters, Codes, read_clusters
from undercount.infer.counted_clusters import CountedClusters
from undercount.infer.mixture import design_of
from undercount.infer.reviews.clusters import ReviewClusters
from undercount.infer.reviews.verdicts import Reviews, audit_reviews, check_scores
from undercount.shares import Sampling

UNLABELED = -1  # as `read_labels` codes it
# What brings rows into memory that a lazy frame or a relation leaves where they are.
COLLECT = "collect the frame first (frame.collect(), relation.df()) and pass that"
MESSAGE_PROBE_ROWS = 1000  # of a frame elsewhere, to tell what is wrong with it
EQUAL = 1e-12  # relative difference of weights that only rounding tells apart


def take_column(frame: Any, argument: str, column: Any) -> Any:
    """Take a column out of a frame, or covariates side by side, if they were named."""
    several = isinstance(column, list | tuple) and bool(column)
    named_columns = several and all(isinstance(name, str) for name in column)
    if argument == "features" and named_columns:
        return {name: take_column(frame, argument, name) for name in column}
    if argument == "covariates" and named_columns:
        return np.column_stack([take_column(frame, argument, each) for each in column])
    if not isinstance(column, str):
        return column
    if not is_frame(frame):
        raise InputError(
            f"{named(argument)} names a column, and the rows are no frame; pass its values",
            argument=argument,
        )
    if not is_eager(frame):
        raise InputError(
            f"{named(argument)} names a column whose values are needed in memory: {COLLECT}",
            code=MISSING_DATA,
            argument=argument,
        )
    return take_columns(frame, [column])[column]


def check_name(name: object) -> None:
    """Raise unless a model's name is text."""
    if not isinstance(name, str):
        raise InputError(f"{named('name')} must be text; got {name!r}")


@dataclass(frozen=True)
class ScoredRows:
    """Hold the counts of one model's scores, its threshold, and how to count once more."""

    counts: ScoreCounts
    threshold: float | None = None
    recount: "RecountableRows | RecountableFrame | None" = None
    backend: str = ""
    clusters: Clusters | None = None

    @classmethod
    def of_counts(
        cls,
        counts: ScoreCounts,
        threshold: float | None,
        recount: "RecountableFrame | None" = None,
        backend: str = "",
    ) -> "ScoredRows":
        """Take counts, with the clusters that they know of."""
        counts, clusters = without_equal_weights(counts), None
        if counts.clusters is not None and counts.clusters.n_clusters < counts.n_rows:
            clusters = CountedClusters(counts.clusters)
        return cls(counts, threshold, recount, backend, clusters)

    def rows(self, argument: str) -> "RecountableRows":
        """Return the rows in memory; refuse counts, frames elsewhere and devices."""
        if isinstance(self.recount, RecountableRows) and not is_tensor(self.recount.scores):
            return self.recount
        if isinstance(self.recount, RecountableFrame):
            why = f"these are counted where they lie; {COLLECT}"
        else:
            why = (
                "counts do not say which rows they are of, and rows of a device stay there. "
                "Pass arrays, or a frame in memory"
            )
        raise InputError(
            f"{named(argument)} needs rows in memory: {why}", code=MISSING_DATA, argument=argument
        )

    @property
    def row_clusters(self) -> ClusterRows | None:
        """The rows by cluster, where rows are here and come in clusters."""
        return self.clusters if isinstance(self.clusters, ClusterRows) else None

    @property
    def cluster_codes(self) -> Codes | None:
        """The number of each row's cluster; None where rows are independent."""
        return None if self.clusters is None else cast("ClusterRows", self.clusters).by_row

    def keeping_apart(self, knots: Iterable[float]) -> "ScoredRows":
        """Return the model with rows in memory counted so that some scores are kept apart."""
        rows = self.recount
        if not isinstance(rows, RecountableRows) or set(knots) <= set(rows.knots):
            return self
        rows = replace(rows, knots=(*rows.knots, *knots))
        return replace(self, counts=rows([]), recount=rows)

    def with_clusters(self, cluster: Any) -> "ScoredRows":
        """Return the model with its rows by cluster, if some of them share one.

        Rows that are a cluster each are independent rows.
        """
        if cluster is None:
            return self
        rows = self.rows("cluster")
        codes = read_clusters(cluster, len(rows.labels))
        if len(np.unique(codes)) == len(codes):
            return self
        return replace(self, clusters=ClusterRows.of(rows.labels, rows.scores, codes, rows.weights))

    def counts_for_share(self, sampling: Sampling) -> ScoreCounts:
        """Return counts with effective sizes of independent rows, by their ROC AUC."""
        if self.clusters is None:
            return self.counts
        design = design_of(self.counts, None, sampling, "population")
        return self.clusters.discounted(self.counts, design, "roc_auc")

    def review_clusters(self, reviews: Reviews) -> ReviewClusters | None:
        """Return whose each row is, and which rows have a verdict; None without clusters."""
        if self.clusters is None:
            return None
        rows = self.rows("cluster")
        codes = cast("Codes", self.cluster_codes)
        return ReviewClusters.of(rows.labels, rows.scores, codes, reviews)

    def audit(self, *, by_cluster: bool) -> tuple[Reviews, ReviewClusters | None]:
        """Return the known rows as an audit, and whose each row is, if rows come in clusters.

        `by_cluster` says that whole clusters were drawn.
        """
        if self.clusters is None and by_cluster:
            raise InputError(
                f"an audit of whole clusters needs {named('cluster')}", argument="cluster"
            )
        if self.clusters is None and not self.counts.weighted:
            return audit_reviews(self.counts), None
        if self.clusters is None and not isinstance(self.recount, RecountableRows):
            return audit_reviews(self.counts), None  # says what it lacks
        rows = self.rows("cluster" if self.clusters is not None else "sample_weight")
        reviews = audit_reviews(self.counts, (rows.labels, rows.scores, rows.weights))
        if self.clusters is None:
            return reviews, None
        codes = cast("Codes", cast("ClusterRows", self.clusters).by_row)
        about = rows.labels, rows.scores, codes
        return reviews, ReviewClusters.of_audit(*about, drawn_whole=by_cluster)

    def reviews_of(self, reviews: Reviews) -> Reviews:
        """Return the reviews, whose scores must be those of these rows."""
        reviews = self.weigh_reviews(reviews)
        if not isinstance(self.recount, RecountableRows):
            return reviews
        return check_scores(reviews, self.recount.scores)

    def weigh_reviews(self, reviews: Reviews) -> Reviews:
        """Return the reviews without weights that are all equal, if the rows have none either."""
        weight = reviews.weight
        if weight is None or self.counts.weighted or np.ptp(weight) > EQUAL * weight.max():
            return reviews
        return replace(reviews, weight=None)


@dataclass(frozen=True)
class RecountableRows:
    """Hold copies of the rows, so that they can be counted again with other thresholds.

    Rows of a device stay there, with the labels as they were given.
    """

    labels: Any
    scores: Any
    weights: FloatArray | None
    knots: tuple[float, ...]
    compact: bool
    unlabeled: float | None = UNLABELED

    def __call__(self, more: list[float]) -> ScoreCounts:
        """Count the rows, keeping apart the scores on either side of some more thresholds."""
        return ScoreCounts.from_rows(
            self.labels,
            self.scores,
            unlabeled=self.unlabeled,
            sample_weight=self.weights,
            compact=self.compact,
            knots=[*self.knots, *more, *rounded_knots(self.scores, *more)],
        )

    def count_every_score(self) -> ScoreCounts:
        """Count the rows, merging no scores."""
        return replace(self, compact=False)([])


def read_row_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return the weight of each row; None where all are equal, which says no more than none."""
    if sample_weight is None:
        return None
    weights = np.array(read_weights(sample_weight, n_rows))
    return None if np.ptp(weights) <= EQUAL * weights.max() else weights


def without_equal_weights(counts: ScoreCounts) -> ScoreCounts:
    """Return counts of rows that all weigh the same as numbers of rows.

    Squares of weights add up to no less than the square of their mean for each row, and to that
    only if all are equal.
    """
    if not counts.weighted or counts.rows is None:
        return counts
    number, total, squares = counts.rows.sum(), counts.n_rows, sum(counts.squared_weight)
    if not squares * number <= total * total * (1 + EQUAL):
        return counts
    positive, negative, unlabeled = counts.rows
    sizes = float(positive.sum()), float(negative.sum()), float(unlabeled.sum())
    return replace(
        counts,
        positive=positive,
        negative=negative,
        unlabeled=unlabeled,
        squared_weight=sizes,
        rows=None,
    )


def count_model(
    y: Any,
    score: Any,
    unlabeled: float | None,
    sample_weight: Any,
    threshold: float | None,
    knots_of: Callable[[Any], Sequence[float]] | None = None,
    *,
    compact: bool,
) -> ScoredRows:
    """Count rows, and keep a way to count once more with other thresholds; or take counts.

    `knots_of` says which scores are kept apart, of the scores of the rows, or of None where they
    are elsewhere.
    """
    if threshold is not None:
        threshold = read_threshold(threshold)
    if isinstance(y, ScoreCounts):
        return ScoredRows.of_counts(y, threshold)
    own = () if threshold is None else (float(threshold),)
    on_device = device_rows(y, score, sample_weight) if is_tensor(score) or is_tensor(y) else None
    if on_device is not None:
        copied = on_device.copy()
        knots = (*_knots(knots_of), *own, *rounded_knots(score, threshold))
        rows = RecountableRows(copied.y, copied.score, None, knots, compact, unlabeled)
        return ScoredRows(rows([]), threshold, rows)
    labels, scores = read_pair(y, score, unlabeled, sample_weight=sample_weight)
    scores = np.array(scores)
    weights = read_row_weights(sample_weight, len(scores))
    # A check asks for rows just below the threshold.
    knots = (*_knots(knots_of, scores), *own, *rounded_knots(scores, threshold))
    rows = RecountableRows(labels, scores, weights, knots, compact)
    return ScoredRows(rows([]), threshold, rows)


def _knots(knots_of: Callable[[Any], Sequence[float]] | None, scores: Any = None) -> list[float]:
    return [] if knots_of is None else [float(knot) for knot in knots_of(scores)]


def keep_apart(
    knots_of: Callable[[Any], Sequence[float]], thresholds: Sequence[float]
) -> Callable[[Any], Sequence[float]]:
    """Return which scores counts keep apart if rows are split at further thresholds too."""
    further = [knot for threshold in thresholds for knot in knots_at(threshold)]
    return lambda scores: [*knots_of(scores), *further]


def reviewed_knots(scores: NDArray[Any], reviews: Reviews) -> FloatArray:
    """Return what keeps reviewed rows apart from their neighbours by another model's scores."""
    rows = np.asarray(reviews.rows)[reviews.answered]
    rows = rows[rows < len(scores)]  # rows that are not there are refused where verdicts are read
    own = scores[rows].astype(np.float64)
    return np.concatenate([reviews.design.edges, own, np.nextafter(own, np.inf)])


@dataclass(frozen=True)
class RecountableFrame:
    """Hold a frame whose rows stay where they are, so that they can be counted again."""

    frame: Any
    columns: Mapping[str, Any]
    knots: tuple[float, ...]

    def __call__(self, more: list[float]) -> ScoreCounts:
        """Count the rows, keeping apart the scores on either side of some more thresholds."""
        knots = [*self.knots, *(knot for threshold in more for knot in knots_at(threshold))]
        counted = count_scores(self.frame, knots=knots, **self.columns)
        return cast("ScoreCounts", counted)

    def count_every_score(self) -> ScoreCounts:
        """Count the rows, merging no scores unless there are too many for the engine."""
        return replace(self, columns={**self.columns, "compact": None})([])


def count_column(
    frame: Any,
    label: str | None,
    score: Any,
    unlabeled: float | None,
    weight: Any,
    threshold: float | None,
    knots_of: Callable[[Any], Sequence[float]] | None = None,
    *,
    compact: bool,
    cluster: str | None = None,
) -> ScoredRows:
    """Count a column of scores: rows in memory as arrays are, others where they lie."""
    names = name_columns(frame, label, [score], weight)
    if is_eager(frame):
        found = take_columns(frame, names)
        weights = None if weight is None else found[weight]
        model = count_model(
            found[names[0]], found[score], unlabeled, weights, threshold, knots_of, compact=compact
        )
        return replace(model, backend=backend_of(frame))
    columns = {"label": label, "score": score, "weight": weight, "unlabeled": unlabeled}
    columns["cluster"] = cluster
    knots = (*_knots(knots_of), *knots_at(threshold))
    # Every score is kept only where it must be: None lets the engine decide.
    rows = RecountableFrame(frame, {**columns, "compact": True if compact else None}, knots)
    try:
        counts = rows([])
    except InputError:
        head = take_columns(frame, names, most=MESSAGE_PROBE_ROWS)
        read_pair(head[names[0]], head[score], unlabeled)  # says so if they changed places
        raise
    if weight is not None and without_equal_weights(counts) is not counts:
        rows = replace(rows, columns={**rows.columns, "weight": None})
    return ScoredRows.of_counts(counts, threshold, rows, backend_of(frame))


def name_columns(frame: Any, label: Any, scores: Sequence[Any], weight: Any = None) -> list[str]:
    """Return the names of the columns to read, label first; refuse what is no frame or no name."""
    if not is_frame(frame):
        if hasattr(frame, "columns"):  # of a library that is not known
            raise unknown_frame(frame, "Take its columns as arrays and pass (y, score)")
        raise InputError(
            f"{named('label')} names a column of a frame, which comes first; got "
            f"{type(frame).__name__}. For arrays pass (y, score) without it"
        )
    names = [label, *scores, *([] if weight is None else [weight])]
    for argument, name in zip(
        ("label", *["score"] * len(scores), "sample_weight"), names, strict=False
    ):
        if not isinstance(name, str):
            several = "; compare takes several scores" if isinstance(name, list | tuple) else ""
            raise InputError(
                f"of a frame {named(argument)} must name a column, label='is_fraud', score='p' "
                f"say; got {name!r}{several}",
                argument=argument,
            )
    return names
