"""Rows to plan reviews of: in memory, or in an engine where they are counted and drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from undercount.count.arrays import read_pair, read_scores, read_weights
from undercount.count.columns import is_eager, is_frame, take_columns
from undercount.count.draw import DrawnRows, draw_rows, kept_words, sample_models, sample_scores
from undercount.count.knots import knots_at, rounded_knots
from undercount.curve import FloatArray
from undercount.errors import InputError, named, read_threshold
from undercount.infer.clusters import read_clusters
from undercount.infer.reviews.verdicts import ReviewDesign, Reviews, check_scores
from undercount.infer.scored_rows import (
    RecountableFrame,
    RecountableRows,
    ScoredRows,
    name_columns,
    take_column,
)
from undercount.read.plan.unlabeled_rows import UnlabeledRows, knots_of


class RowSource(Protocol):
    """Rows with labels and the scores of one model, or of two.

    Attributes
    ----------
    by_key : bool
        Whether rows are drawn by keys that the seed gives them, so that a further round keeps it.
    """

    by_key: ClassVar[bool]

    @property
    def names(self) -> Sequence[str]:
        """Names of the models."""

    @property
    def thresholds(self) -> Sequence[float | None]:
        """Threshold of each model."""

    def count(self, model: int, earlier: Reviews | None, *, coarse: bool) -> ScoredRows:
        """Count the scores of a model, where strata may be cut."""

    def sample(self) -> list[FloatArray]:
        """Return the scores of some unlabeled rows, the same rows by every model."""

    def draw(self, design: ReviewDesign, earlier: Reviews | None) -> DrawnRows:
        """Draw the rows of a design, in its order; none that has a verdict."""

    def beside(self, name: Literal["weight", "cluster"], drawn: DrawnRows) -> NDArray[Any] | None:
        """Return what stands beside drawn rows, if anything does."""


def _borders(model: int, earlier: Reviews | None) -> list[float]:
    """Return the borders of strata that are there already, which counts must keep apart."""
    if earlier is None or model > 0:
        return []
    return [float(edge) for edge in earlier.design.edges]


def _place(threshold: float | None, earlier: Reviews | None) -> float | None:
    """Return the threshold of a model: in a further round that of the plan, unless told."""
    return earlier.design.threshold if threshold is None and earlier is not None else threshold


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Hold rows as arrays.

    Attributes
    ----------
    labels : array
        1, 0, or -1 for unlabeled.
    scores : mapping
        Name of each model → its scores.
    thresholds : sequence
        Of each model.
    weight, cluster : array, optional
        Weight of each row, and whose it is.
    frame : optional
        The frame they were taken from, with the columns `keep`.
    """

    by_key: ClassVar[bool] = False

    labels: NDArray[np.int8]
    scores: Mapping[str, NDArray[Any]]
    thresholds: Sequence[float | None]
    weight: FloatArray | None = None
    cluster: NDArray[Any] | None = None
    frame: Any = None
    keep: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        y: Any,
        scores: Mapping[str, Any],
        thresholds: Sequence[float | None],
        unlabeled: float | None,
        sample_weight: Any,
        cluster: Any,
    ) -> "RowsInMemory":
        """Read arrays, which must be of the same rows."""
        (name, first), *others = scores.items()
        columns = {f"score of {other}": values for other, values in others}
        labels, own = read_pair(y, first, unlabeled, sample_weight, cluster, columns)
        weight = None if sample_weight is None else read_weights(sample_weight, len(own))
        if cluster is not None:
            read_clusters(cluster, len(own))  # refuses what names no cluster for each row
            cluster = np.asarray(cluster)
        every = {name: own, **_read_others(others, len(own))}
        return cls(labels, every, thresholds, weight, cluster)

    @property
    def names(self) -> Sequence[str]:
        """Names of the models."""
        return tuple(self.scores)

    @cached_property
    def _rows(self) -> list[UnlabeledRows]:
        """The rows by each model."""
        return [UnlabeledRows(self.labels, score) for score in self.scores.values()]

    def count(self, model: int, earlier: Reviews | None, *, coarse: bool) -> ScoredRows:
        """Count rows, around labelled ones if a share is to be found."""
        rows, threshold = self._rows[model], _place(self.thresholds[model], earlier)
        knots = rows.knots + ([] if threshold is None else [threshold])
        knots += rounded_knots(rows.score, threshold)
        recount = RecountableRows(rows.label, rows.score, None, tuple(knots), compact=True)
        if coarse and rows.many and earlier is None:
            return ScoredRows(rows.count_between(knots), threshold, recount)
        recount = replace(recount, knots=(*knots, *_borders(model, earlier)))
        return ScoredRows(recount([]), threshold, recount)

    def sample(self) -> list[FloatArray]:
        """Return scores at equal distances."""
        some = self._rows[0].some
        return [rows.score[some].astype(float) for rows in self._rows]

    def draw(self, design: ReviewDesign, earlier: Reviews | None) -> DrawnRows:
        """Draw rows at random within strata."""
        rows = self._rows[0]
        if earlier is not None:  # rows that stand elsewhere now are refused
            places = _answered_places(check_scores(earlier, rows.score))
            rows = replace(rows, seen=np.array(list(places), dtype=np.intp) - 1)
        place = rows.draw(design)
        scores = {name: score[place].astype(np.float64) for name, score in self.scores.items()}
        kept = kept_words(self.frame, self.keep, place) if self.keep else {}
        return DrawnRows(design.order, scores, place + 1, kept)

    def beside(self, name: Literal["weight", "cluster"], drawn: DrawnRows) -> NDArray[Any] | None:
        """Return weights or clusters of drawn rows."""
        values: NDArray[Any] | None = getattr(self, name)
        return None if values is None else values[drawn.row - 1]


@dataclass(frozen=True, eq=False)
class RowsInEngine:
    """Hold a frame whose rows stay where they are: counted once, drawn in one more pass.

    Attributes
    ----------
    frame : any frame that `count_scores` takes
    label, names : str
        Columns of labels and of scores.
    unlabeled : number, optional
        Value of a label that means unlabeled.
    whole : optional
        The same rows with the columns that are kept, if `frame` lacks them.
    weight, cluster : str, optional
        Columns of weights and clusters.
    """

    by_key: ClassVar[bool] = True

    frame: Any
    label: str
    names: Sequence[str]
    thresholds: Sequence[float | None]
    unlabeled: float | None = None
    keep: Sequence[str] = ()
    whole: Any = None
    weight: str | None = None
    cluster: str | None = None
    _counted: dict[int, ScoredRows] = field(default_factory=dict, repr=False)

    @cached_property
    def _sampled(self) -> list[FloatArray]:
        return sample_models(self.frame, self.label, self.names[:2], self.unlabeled)

    def count(self, model: int, earlier: Reviews | None, *, coarse: bool) -> ScoredRows:  # noqa: ARG002 - either is one pass
        """Count rows in the engine, once."""
        if model not in self._counted:
            self._counted[model] = self._count(model, earlier)
        return self._counted[model]

    def _count(self, model: int, earlier: Reviews | None) -> ScoredRows:
        columns: dict[str, Any] = {"label": self.label, "unlabeled": self.unlabeled}
        columns["score"] = self.names[model]
        some = np.sort(self._sampled[model]) if model > 0 else sample_scores(self.frame, **columns)
        threshold = _place(self.thresholds[model], earlier)
        knots = knots_of(some) + knots_at(threshold) + _borders(model, earlier)
        recount = RecountableFrame(self.frame, {**columns, "compact": True}, tuple(knots))
        return ScoredRows(recount([]), threshold, recount)

    def sample(self) -> list[FloatArray]:
        """Return scores of rows drawn at random."""
        return self._sampled

    def draw(self, design: ReviewDesign, earlier: Reviews | None) -> DrawnRows:
        """Draw rows by random keys in one pass."""
        return draw_rows(
            self.frame if self.whole is None else self.whole,
            label=self.label,
            score=self.names,
            edges=design.edges,
            n_unlabeled=design.n_unlabeled,
            sizes=design.sizes(),
            unlabeled=self.unlabeled,
            keep=tuple(dict.fromkeys(filter(None, (*self.keep, self.weight, self.cluster)))),
            seed=design.seed,
            skip=None if earlier is None else _answered_places(earlier),
        ).ordered(design.order)

    def beside(self, name: Literal["weight", "cluster"], drawn: DrawnRows) -> NDArray[Any] | None:
        """Return weights or clusters of drawn rows."""
        column: str | None = getattr(self, name)
        if column is None:
            return None
        return np.array(drawn.kept[column], dtype=float if name == "weight" else None)


@dataclass(frozen=True, eq=False)
class RowColumns:
    """Say what stands beside scores: columns of a frame by name, or arrays.

    Attributes
    ----------
    label : str, optional
        Column of labels; None: rows are arrays.
    unlabeled : number, optional
        Value of a label that means unlabeled.
    keep : sequence of str
        Columns that the people who answer shall see.
    sample_weight, cluster : array-like or str, optional
        Weights of the rows, and whose they are.
    """

    label: str | None = None
    unlabeled: float | None = None
    keep: Sequence[str] = ()
    sample_weight: Any = None
    cluster: Any = None


def open_rows(
    y: Any, score: Any, threshold: float | Mapping[str, float] | None, columns: RowColumns
) -> RowSource:
    """Take rows as arrays, out of a frame in memory, or where they are."""
    _check_named(score, columns.keep)
    label, weight, cluster = columns.label, columns.sample_weight, columns.cluster
    if label is None and not is_frame(y):
        if columns.keep:
            raise InputError(f"{named('keep')} names columns of a frame", argument="keep")
        models = score if isinstance(score, Mapping) else {"score": score}
        places = _thresholds(threshold, tuple(models))
        return RowsInMemory.of(y, models, places, columns.unlabeled, weight, cluster)
    named_so = score if isinstance(score, list | tuple) else [score]
    models = score if isinstance(score, Mapping) else {str(name): name for name in named_so}
    names = name_columns(y, label, list(models.values()), weight)
    places = _thresholds(threshold, tuple(models))
    if not is_eager(y):
        about = columns.unlabeled, columns.keep, None, weight, cluster
        return RowsInEngine(y, names[0], tuple(models.values()), places, *about)
    taken = take_columns(y, names)
    scores = {column: taken[column] for column in models.values()}
    weight = take_column(y, "sample_weight", weight)
    whose = take_column(y, "cluster", cluster)
    rows = RowsInMemory.of(taken[names[0]], scores, places, columns.unlabeled, weight, whose)
    return replace(rows, frame=y, keep=columns.keep)


def _check_named(score: Any, keep: Any) -> None:
    """Raise unless there is a model, and columns to keep are named."""
    if isinstance(score, Mapping | list | tuple) and not score:
        raise InputError(f"{named('score')} must hold the scores of a model", argument="score")
    if not isinstance(keep, list | tuple) or not all(isinstance(name, str) for name in keep):
        raise InputError(
            f"{named('keep')} must be a list of columns; got {keep!r}", argument="keep"
        )


def _thresholds(
    threshold: float | Mapping[str, float] | None, names: Sequence[str]
) -> list[float | None]:
    """Return the threshold of each model: one for all, or each by the model's name."""
    if isinstance(threshold, Mapping):
        unknown = [name for name in threshold if name not in names]
        if unknown:
            raise InputError(
                f"{named('threshold')} names models {', '.join(map(repr, names))}; got "
                f"{unknown[0]!r}",
                argument="threshold",
            )
        given = [threshold.get(name) for name in names]
    else:
        given = [threshold] * len(names)
    return [None if place is None else read_threshold(place) for place in given]


def _read_others(models: Sequence[tuple[str, Any]], n_rows: int) -> dict[str, NDArray[Any]]:
    scores = {name: read_scores(values) for name, values in models}
    for own in scores.values():
        if len(own) != n_rows:
            raise InputError(
                f"{named('score')} must have a score for each of {n_rows:,} rows; got {len(own):,}",
                argument="score",
            )
    return scores


def _answered_places(reviews: Reviews) -> dict[int, float]:
    """Return the place of each row that has a verdict, from 1, and its score."""
    if reviews.rows is None:
        raise InputError(
            f"{named('reviews')} must know which rows were reviewed", argument="reviews"
        )
    places, score = reviews.rows[reviews.answered] + 1, reviews.score[reviews.answered]
    return dict(zip(places.tolist(), score.tolist(), strict=True))
