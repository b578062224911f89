"""Curves, sensitivity, scores and calibration as displays: columns, and a drawing of them.

A display is made from an evaluation, from counts and shares, from labels and scores, or from a
fitted classifier.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaincinv, ndtr

from undercount.assume.base import NAIVE, Assumption
from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.builder import assumption_of
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve
from undercount.errors import NOT_IDENTIFIED, InputError, collect_warnings
from undercount.estimate import Estimate
from undercount.infer.decisions import cost_weight
from undercount.infer.heads import FlaggedCounts, two_sided_z, wilson_share
from undercount.infer.labelled import labelled_curve, naive_curve
from undercount.infer.mixture import design_of, mixture_curve, recovered_rates
from undercount.infer.scored_rows import RecountableRows
from undercount.infer.sensitivity import largest_share, spaced_thresholds, sweep
from undercount.infer.threshold_intervals import threshold_interval
from undercount.read.evaluate import evaluate
from undercount.read.evaluation import Evaluation
from undercount.shares import Shares, Target, read_shares

BAND_PLACES = 201  # places at which a band is drawn
USUAL_LEVEL = 0.95
HISTOGRAM_BINS = 40
# Thresholds of an evaluation at which its costs, and the intervals of a band, are read.
N_THRESHOLDS, N_INTERVALS = 120, 60
_ROUNDING = 1e-9
N_GROUPS = 10
_VERY_FEW = 3  # labels of a group for which Wilson's lower limit is too high


class Display:
    """Base of the displays: four ways to make one, and where it is drawn."""

    @classmethod
    def from_counts(
        cls, counts: ScoreCounts, shares: Shares, *, name: str = "score", truth: Any = None
    ) -> Self:
        """Make the display from counts and shares."""
        raise NotImplementedError

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, truth: Any = None) -> Self:
        """Make the display of an evaluation: its numbers, whatever they rest on."""
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        score: Any,
        *,
        assume: Assumption | None = None,
        prevalence: Any = None,
        unlabeled_prevalence: Any = None,
        label_frequency: Any = None,
        unlabeled: float | None = None,
        name: str = "score",
        truth: Any = None,
    ) -> Self:
        """Make the display from labels and scores; an assumption as in `evaluate`, truth if known.

        Without a share it is estimated, as `evaluate` does, and its interval is drawn.
        """
        shares = {
            "prevalence": prevalence,
            "unlabeled_prevalence": unlabeled_prevalence,
            "label_frequency": label_frequency,
        }
        return cls._of_rows(y, score, assume, shares, unlabeled, name, truth, {})

    @classmethod
    def _of_rows(
        cls,
        y: Any,
        score: Any,
        assume: Assumption | None,
        shares: Mapping[str, Any],
        unlabeled: float | None,
        name: str,
        truth: Any,
        costs: Mapping[str, float],
    ) -> Self:
        """Make the display from labels and scores; `costs` are those of a display that needs them.

        Shares that are stated need no evaluation.
        """
        if truth is not None and len(truth) != len(score):
            raise InputError(
                f"truth must have one value for each score; got {len(truth)} for {len(score)}"
            )
        if truth is not None:
            truth = labelled_curve(ScoreCounts.from_rows(truth, score))
        if assume is None:
            counts = ScoreCounts.from_rows(y, score, unlabeled=unlabeled)
            stated = read_shares(counts, **shares)
            if stated is not None:
                return cls.from_counts(counts, stated, name=name, truth=truth, **costs)
            y, score, unlabeled = counts, None, None
        assumption = assumption_of(assume, **shares)
        evaluation = evaluate(y, score, assume=assumption, unlabeled=unlabeled, name=name)
        return cls.from_evaluation(evaluation, truth=truth, **costs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        assume: Assumption | None = None,
        prevalence: Any = None,
        unlabeled_prevalence: Any = None,
        label_frequency: Any = None,
        unlabeled: float | None = -1,
        name: str | None = None,
        truth: Any = None,
    ) -> Self:
        """Make the display from a fitted classifier; -1 in y means unlabeled."""
        return cls.from_predictions(
            y,
            cls._scores(estimator, X),
            assume=assume,
            prevalence=prevalence,
            unlabeled_prevalence=unlabeled_prevalence,
            label_frequency=label_frequency,
            unlabeled=unlabeled,
            name=type(estimator).__name__ if name is None else name,
            truth=truth,
        )

    @classmethod
    def _scores(cls, estimator: Any, X: Any) -> Any:
        if hasattr(estimator, "decision_function"):
            return estimator.decision_function(X)
        return _positive_chance(estimator, X)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw on the axes given, or on new ones; matplotlib is imported only now.

        `style` is matplotlib's for the main line: color, linewidth, label, linestyle …
        """
        if ax is None:
            try:
                import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
            except ImportError:
                raise InputError(
                    "plots need matplotlib, which is not installed; pip install 'undercount[plot]'"
                ) from None
            ax = plt.subplots()[1]
        self._draw(ax, style)
        ax.legend()
        return ax

    def _draw(self, axes: Any, style: dict[str, Any]) -> None:
        raise NotImplementedError


def _every_score(evaluation: Evaluation) -> ScoreCounts:
    """Return counts that keep every score, if the rows are at hand."""
    counts, again = evaluation.counts, evaluation.recovery.used.recount
    if counts.compact and isinstance(again, RecountableRows):
        return replace(again, compact=False)([])
    return counts


def _thresholds(evaluation: Evaluation, number: int, *others: float) -> FloatArray:
    """Return thresholds of an evaluation in even steps, its own and others among them."""
    return spaced_thresholds(evaluation.counts, number, evaluation.threshold, *others)


def _own_curve(evaluation: Evaluation) -> OperatingCurve:
    """Return the curve from which an evaluation reads its metrics.

    A cleaned curve has another area than the table says.
    """
    return evaluation.recovery.plain_curve(evaluation.threshold)


def _positive_chance(estimator: Any, X: Any) -> Any:
    """Return the probabilities of class 1, whichever other classes there are."""
    classes = list(getattr(estimator, "classes_", (0, 1)))
    return estimator.predict_proba(X)[:, classes.index(1) if 1 in classes else -1]


@dataclass(frozen=True)
class CurveDisplay(Display):
    """Base of the displays of two rates against each other.

    Drawn are the recovered curve solid, the naive one dashed, a band around it, truth dotted; where
    labels and scores leave the share of hidden positives open the band alone. Where
    labels are a random sample of these very rows, `bounds` hold the curves that they leave possible
    at the share taken, `ends` the recovered curves and `end_bounds` the bounds at the ends of its
    interval. In other evaluations (reviews, labelling chances, clusters, impure labels, a
    population) `reach` holds the intervals at single thresholds: the least and the largest value of
    both axes.
    """

    curve: OperatingCurve
    naive: OperatingCurve
    bounds: CurveBounds | None = None
    truth: OperatingCurve | None = None
    name: str = "score"
    ends: tuple[OperatingCurve, ...] = ()
    end_bounds: tuple[CurveBounds | None, ...] = ()
    confidence_level: float = USUAL_LEVEL
    reach: tuple[FloatArray, ...] = ()
    naive_title: str = NAIVE.title

    x: ClassVar[str] = ""
    y: ClassVar[str] = ""
    labels: ClassVar[tuple[str, str]] = ("", "")
    falls: ClassVar[bool] = False  # whether y falls along x

    @classmethod
    def from_counts(
        cls,
        counts: ScoreCounts,
        shares: Shares,
        *,
        name: str = "score",
        truth: Any = None,
        confidence_level: float = USUAL_LEVEL,
    ) -> Self:
        """Make the display from counts and shares."""
        level, exact = confidence_level, shares.exact()
        moved = [exact.with_unlabeled_prevalence(end) for end in _share_ends(shares, level)]
        with collect_warnings():  # at the end of an interval a misfit is none of the share taken
            end_bounds = tuple(_label_bounds(counts, end, level) for end in moved)
        return cls(
            mixture_curve(counts, shares, clean=False),
            naive_curve(counts),
            _label_bounds(counts, exact, level),
            truth,
            name,
            tuple(mixture_curve(counts, end, clean=False) for end in moved),
            end_bounds,
            level,
        )

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, truth: Any = None) -> Self:
        """Make the display of an evaluation: the curve of its table, and a band at its level.

        Where labels and scores leave a range of the share and point to none, what depends on it is
        NaN in the curve, and the band has the intervals.
        """
        level, name = evaluation.confidence_level, evaluation.name
        if evaluation.unknowns.range_only:
            counts, reach = _every_score(evaluation), tuple(cls._reach(evaluation))
            curve, naive = evaluation.recovery.with_counts(counts).curve, naive_curve(counts)
            return cls(curve, naive, None, truth, name, confidence_level=level, reach=reach)
        if _leaves_bounds(evaluation):
            return cls.from_counts(
                _every_score(evaluation),
                evaluation.shares,
                name=name,
                truth=truth,
                confidence_level=level,
            )
        curve, naive = _own_curve(evaluation), evaluation.naive_curve
        band = evaluation.recovery.roc_band if cls.x == "fpr" else None
        reach = () if band is not None else tuple(cls._reach(evaluation))
        title = evaluation.basis.naive.title
        return cls(
            curve, naive, band, truth, name, confidence_level=level, reach=reach, naive_title=title
        )

    @classmethod
    def _reach(cls, evaluation: Evaluation) -> FloatArray:
        """Return the least and largest place along either axis at some of the thresholds."""
        metrics, ends = (cls.x, cls.y), []
        with collect_warnings():  # along a curve single rates leave their range by chance
            for threshold in _thresholds(evaluation, N_INTERVALS).tolist():
                counts = evaluation.counts_at(threshold)
                rows = evaluation.metric_rows(metrics, threshold, counts)
                ends.append([e for row in rows for e in (row.estimate.low, row.estimate.high)])
        return np.array(ends).T

    def frame(self) -> dict[str, FloatArray]:
        """Return the columns that are drawn; NaN where they depend on a share that is left open."""
        x, y = getattr(self.curve, self.x), getattr(self.curve, self.y)
        return {self.x: x, self.y: np.where(np.isnan(x), np.nan, y)}

    def band(self) -> dict[str, FloatArray]:
        """Return the ends of the band along the axis; none if nothing is uncertain.

        With `bounds` it holds what the labels leave possible (at the confidence level, along the
        whole curve) at the share taken and at both ends of its interval, so that the truth is
        outside only if the labels or the share are farther off than their intervals say. (Adding
        the two distances in squares is narrower, and held the truth along the whole ROC curve in
        .88 of samples.) With `reach` it goes through the corners of the intervals of both axes,
        each of which holds the truth at its own threshold.

        Notes
        -----
        Assumes: what the evaluation does; from counts, that labelled rows are a random sample of
        the positives.
        Wrong when: labels prefer some positives, or the share's interval leaves it out.
        """
        grid = np.linspace(0, 1, BAND_PLACES)
        if self.reach:
            return {self.x: grid, **self._corners(grid)}
        curves = [*self.ends]
        for bounds in (self.bounds, *self.end_bounds):
            curves += [] if bounds is None else [bounds.pessimistic, bounds.optimistic]
        if not curves:
            return {}
        heights = [self._height(grid, curve) for curve in curves]
        heights.append(_along(grid, *self.frame().values()))
        return {self.x: grid, "low": np.min(heights, axis=0), "high": np.max(heights, axis=0)}

    def _corners(self, grid: FloatArray) -> dict[str, FloatArray]:
        """Return the lines through the worst and through the best corners of the intervals."""
        left, right, low, high = self.reach
        # Along a curve that rises the worst corner is low and far right, along one that falls left.
        worst, best, end = (left, right, 0.0) if self.falls else (right, left, 1.0)
        return {
            "low": _along(grid, np.append(worst, 0.0), np.append(low, 0.0)),
            "high": _along(grid, np.append(best, end), np.append(high, 1.0)),
        }

    def _height(self, grid: FloatArray, curve: OperatingCurve) -> FloatArray:
        return _along(grid, getattr(curve, self.x), getattr(curve, self.y))

    def _draw(self, axes: Any, style: dict[str, Any]) -> None:
        columns = self.frame().values()
        # A range of the share without a value has a band, and no curve in it.
        has_values = not any(np.isnan(column).all() for column in columns)
        if band := self.band():
            colour = {"color": style["color"]} if "color" in style else {}
            label = f"{100 * self.confidence_level:g} % {'intervals' if self.reach else 'bounds'}"
            if not has_values:
                label = f"{style.get('label', self.name)}: {label}"
            axes.fill_between(*band.values(), alpha=0.2, label=label, **colour)
        if has_values:
            axes.plot(*columns, **{"linestyle": "-", "label": self.name, **style})
        for other, kind, label in (
            (self.naive, "--", self.naive_title),
            (self.truth, ":", "truth"),
        ):
            if other is not None:
                axes.plot(getattr(other, self.x), getattr(other, self.y), kind, label=label)
        axes.set(xlabel=self.labels[0], ylabel=self.labels[1], xlim=(0, 1), ylim=(0, 1.02))


def _leaves_bounds(evaluation: Evaluation) -> bool:
    """Whether labels are a random sample of these very rows, so that they bound the whole curve."""
    alone = evaluation.recovery.clusters is None and not evaluation.basis.determined_by
    pure = evaluation.recovery.supposes_right_labels
    return alone and pure and evaluation.target == "dataset"


def _label_bounds(counts: ScoreCounts, shares: Shares, level: float) -> CurveBounds | None:
    """Return the curves that the labels leave possible at a known share; none if impure."""
    pure = shares.label_purity == 1
    return bound_curve(counts, shares, confidence_level=level) if pure else None


def _share_ends(shares: Shares, level: float = USUAL_LEVEL) -> list[float]:
    """Return the ends of the interval of the share among the unlabeled; none if it is known."""
    span = shares.unlabeled_prevalence_interval
    if span is None:
        if shares.unlabeled_prevalence_error == 0:
            return []
        span = shares.as_ranges(two_sided_z(level)).unlabeled_prevalence_interval
    if span is None:
        return []
    return [float(shares.clip(end)) for end in (span.low, span.high)]


def _along(grid: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the height of a curve at each place of a grid, within [0, 1]."""
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = np.clip(x[present], 0, 1), np.clip(y[present], 0, 1)
    order = np.lexsort((y, x))
    return np.asarray(np.interp(grid, x[order], y[order]))


@dataclass(frozen=True)
class ColumnsDisplay(Display):
    """Base of the displays that hold columns."""

    columns: dict[str, FloatArray]
    marks: dict[str, float] = field(default_factory=dict)
    name: str = "score"

    @classmethod
    def from_counts(
        cls, counts: ScoreCounts, shares: Shares, *, name: str = "score", truth: Any = None
    ) -> Self:
        """Make the display from counts and shares."""
        return cls(*cls._columns(counts, shares), name)

    @classmethod
    def _columns(
        cls, counts: ScoreCounts, shares: Shares
    ) -> tuple[dict[str, FloatArray], dict[str, float]]:
        """Return the columns to draw, and single numbers to mark."""
        raise NotImplementedError

    def frame(self) -> dict[str, FloatArray]:
        """Return the columns that are drawn."""
        return self.columns

    @classmethod
    def _without_values(cls, display: Self, column: str) -> Self:
        """Return a display with NaN in a column whose values depend on a share nobody knows."""
        unknown = np.full(len(display.columns[column]), np.nan)
        return replace(display, columns={**display.columns, column: unknown})


class RocDisplay(CurveDisplay):
    """Draw the recovered ROC curve within its bounds, beside the naive one.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], unlabeled=0)
    >>> display = uc.displays.RocDisplay.from_counts(counts, uc.Shares(0.1))
    >>> sorted(display.frame())
    ['fpr', 'tpr']
    """

    x, y, labels = "fpr", "tpr", ("false-positive rate", "recall")


class PrecisionRecallDisplay(CurveDisplay):
    """Draw recovered precision against recall, beside the naive curve.

    What is shown is pulled into [0, 1]: with few labels the recovered rates leave it by chance, and
    more positives than rows flagged would make precision larger than 1. It is NaN only where
    nothing is flagged. `curve` holds the rates as they were recovered.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], unlabeled=0)
    >>> display = uc.displays.PrecisionRecallDisplay.from_counts(counts, uc.Shares(0.1))
    >>> sorted(display.frame())
    ['precision', 'recall']
    """

    x, y, labels, falls = "recall", "precision", ("recall", "precision"), True

    def frame(self) -> dict[str, FloatArray]:
        """Return the columns that are drawn, within [0, 1]."""
        # Both rates are pulled to the nearest that exist; a false-positive rate above 1 stays, so
        # that precision remains the positives among the rows flagged.
        tpr, fpr = np.clip(self.curve.tpr, 0, 1), np.maximum(self.curve.fpr, 0)
        shown = replace(self.curve, tpr=tpr, fpr=fpr)
        return {self.x: shown.recall, self.y: shown.precision}


class LiftDisplay(CurveDisplay):
    """Draw recall against the share of rows flagged, which needs no prevalence.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], unlabeled=0)
    >>> display = uc.displays.LiftDisplay.from_counts(counts, uc.Shares(0.1))
    >>> sorted(display.frame())
    ['predicted_positive_rate', 'recall']
    """

    x, y, labels = "predicted_positive_rate", "recall", ("share of rows flagged", "recall")


class SensitivityDisplay(ColumnsDisplay):
    """Draw the ROC AUC against the share of hidden positives, up to what the data allow.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], unlabeled=0)
    >>> display = uc.displays.SensitivityDisplay.from_counts(counts, uc.Shares(0.1))
    >>> sorted(display.frame())
    ['roc_auc', 'unlabeled_prevalence']
    """

    @classmethod
    def from_counts(
        cls,
        counts: ScoreCounts,
        shares: Shares,
        *,
        name: str = "score",
        truth: Any = None,
        metric: str = "roc_auc",
        threshold: float | None = None,
    ) -> Self:
        """Make the display from counts and shares, for any metric."""
        largest = largest_share(counts, shares.label_purity)
        marks = {"taken": shares.unlabeled_prevalence, "largest": largest}
        return cls(sweep(counts, shares, metric, threshold=threshold), marks, name)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        truth: Any = None,
        metric: str = "roc_auc",
        threshold: float | None = None,
    ) -> Self:
        """Make the display of an evaluation whose prevalence is not determined."""
        largest = largest_share(evaluation.counts, evaluation.shares.label_purity)
        marks = {"largest": largest}
        if not evaluation.unknowns.range_only:  # else nothing is taken
            marks["taken"] = evaluation.shares.unlabeled_prevalence
        return cls(evaluation.sweep(metric, threshold=threshold), marks, evaluation.name)

    def _draw(self, axes: Any, style: dict[str, Any]) -> None:
        """Draw the metric, the share taken, and the largest share that the data allow."""
        share, metric = self.columns
        axes.plot(self.columns[share], self.columns[metric], **{"label": self.name, **style})
        if "taken" in self.marks:
            axes.axvline(self.marks["taken"], linestyle="--", label="taken")
        axes.axvspan(self.marks["largest"], 1, alpha=0.15, label="the ROC AUC would pass 1")
        axes.set(xlabel="share of positives among the unlabeled", ylabel=metric, ylim=(0, 1.02))
        axes.set_xlim(0, min(1.0, 1.1 * self.marks["largest"]) or 1.0)


class DecisionDisplay(ColumnsDisplay):
    """Base of the displays of what flagging is worth, with a band; made from an evaluation too."""

    metric: ClassVar[str]

    @classmethod
    def _band(
        cls,
        counts: ScoreCounts,
        shares: Shares,
        places: Any,
        beta: Any,
        target: Target,
        level: float,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return value and ends of a metric at some places along the cells.

        The distances to the metric at the ends of the share's interval add in squares, as in
        tables (`estimate_end_by_end`).
        """
        positive, negative, unlabeled = counts.cumulative()
        heads = np.stack([kind[places] for kind in (positive, unlabeled, negative)])

        def rates(share: float) -> FlaggedCounts:
            moved = shares.exact(float(shares.clip(share)))
            return FlaggedCounts(heads, design_of(counts, moved, shares.sampling, target))

        heads_here = rates(shares.unlabeled_prevalence)
        value, low, high = threshold_interval(
            heads_here, cls.metric, confidence_level=level, beta=beta
        )
        middle = heads_here.point.metric(cls.metric, beta)
        share_ends = _share_ends(shares, level)
        moved = [rates(end).point.metric(cls.metric, beta) - middle for end in share_ends]
        down = np.maximum(0.0, -np.min(moved, axis=0)) if moved else 0.0
        up = np.maximum(0.0, np.max(moved, axis=0)) if moved else 0.0
        return value, value - np.hypot(value - low, down), value + np.hypot(high - value, up)

    def _draw_band(self, axes: Any, x: str, y: str, style: dict[str, Any]) -> None:
        band = self.columns[x], self.columns["low"], self.columns["high"]
        if np.isnan(self.columns[y]).all():  # a range without a value
            colour = {"color": style["color"]} if "color" in style else {}
            label = style.get("label", self.name)
            axes.fill_between(*band, **{"alpha": 0.2, "label": label, **colour})
            return
        axes.plot(self.columns[x], self.columns[y], **{"label": self.name, **style})
        axes.fill_between(*band, alpha=0.2)


class CostDisplay(DecisionDisplay):
    """Draw what errors cost a row against the threshold, beside flagging no row and all.

    Notes
    -----
    Assumes: the prevalence; random labels.
    Wrong when: the least of a curve is read as if its threshold had been fixed before; see
    `Evaluation.best_threshold`, whose gain is corrected for that.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], unlabeled=0)
    >>> display = uc.displays.CostDisplay.from_counts(counts, uc.Shares(0.1), false_negative=5)
    >>> sorted(display.frame())
    ['cost', 'high', 'low', 'threshold']
    """

    metric = "expected_cost"

    @classmethod
    def from_counts(
        cls,
        counts: ScoreCounts,
        shares: Shares,
        *,
        name: str = "score",
        truth: Any = None,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
        target: Target = "dataset",
        confidence_level: float = USUAL_LEVEL,
    ) -> Self:
        """Make the display from counts and shares, and the two costs."""
        errors = {"false_positive": false_positive, "false_negative": false_negative}
        weight, scale = cost_weight(errors)
        places = np.unique(np.linspace(1, len(counts.score), BAND_PLACES).astype(int))
        band = cls._band(counts, shares, places, weight, target, confidence_level)
        value, low, high = (scale * part for part in band)
        prevalence = shares.prevalence(counts)
        marks = {"none": false_negative * prevalence, "all": false_positive * (1 - prevalence)}
        columns = {"threshold": counts.score[places - 1], "cost": value, "low": low, "high": high}
        return cls(columns, marks, name)

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        truth: Any = None,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> Self:
        """Make the display of an evaluation: its costs, and the best threshold if it is known."""
        errors = {"false_positive": false_positive, "false_negative": false_negative}
        search = evaluation.best_threshold
        cost_weight(errors)  # refuses what is no cost
        # Without a share nothing tells which threshold is the best one.
        best = [] if evaluation.unknowns.range_only else [search(cost=errors).threshold]
        thresholds = _thresholds(evaluation, N_THRESHOLDS, *best)
        with collect_warnings():  # along a curve single rates leave their range by chance
            costs = [evaluation.cost(each, **errors) for each in thresholds.tolist()]
        prevalence = evaluation.prevalence
        marks = {"none": false_negative * prevalence, "all": false_positive * (1 - prevalence)}
        return cls({"threshold": thresholds, **_spread("cost", costs)}, marks, evaluation.name)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        score: Any,
        *,
        assume: Assumption | None = None,
        prevalence: Any = None,
        unlabeled_prevalence: Any = None,
        label_frequency: Any = None,
        unlabeled: float | None = None,
        name: str = "score",
        truth: Any = None,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> Self:
        """Make the display from labels and scores, and the two costs."""
        shares = {
            "prevalence": prevalence,
            "unlabeled_prevalence": unlabeled_prevalence,
            "label_frequency": label_frequency,
        }
        errors = {"false_positive": false_positive, "false_negative": false_negative}
        return cls._of_rows(y, score, assume, shares, unlabeled, name, truth, errors)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        assume: Assumption | None = None,
        prevalence: Any = None,
        unlabeled_prevalence: Any = None,
        label_frequency: Any = None,
        unlabeled: float | None = -1,
        name: str | None = None,
        truth: Any = None,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> Self:
        """Make the display from a fitted classifier, and the two costs."""
        return cls.from_predictions(
            y,
            cls._scores(estimator, X),
            assume=assume,
            prevalence=prevalence,
            unlabeled_prevalence=unlabeled_prevalence,
            label_frequency=label_frequency,
            unlabeled=unlabeled,
            name=type(estimator).__name__ if name is None else name,
            truth=truth,
            false_positive=false_positive,
            false_negative=false_negative,
        )

    def _draw(self, axes: Any, style: dict[str, Any]) -> None:
        """Draw the cost with its band, and those of flagging none and all."""
        self._draw_band(axes, "threshold", "cost", style)
        for flagged, cost in self.marks.items():
            if np.isfinite(cost):
                axes.axhline(cost, linestyle="--", linewidth=1, label=f"flag {flagged}")
        axes.set(xlabel="threshold", ylabel="cost of errors a row")


class NetBenefitDisplay(DecisionDisplay):
    """Draw the decision curve: net benefit against the chance at which flagging just pays.

    A row is flagged where its score, a chance of being positive, is at least as high (Vickers and
    Elkin 2006). Beside it stand flagging all rows and none, which has net benefit 0.

    Notes
    -----
    Assumes: scores are chances of being positive; the prevalence; random labels.
    Wrong when: scores are chances of being labelled, as a model trained on found labels predicts:
    divide them by the label frequency first.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], unlabeled=0)
    >>> display = uc.displays.NetBenefitDisplay.from_counts(counts, uc.Shares(0.1))
    >>> sorted(display.frame())
    ['all', 'chance', 'high', 'low', 'net_benefit']
    """

    metric = "net_benefit"

    @classmethod
    def from_counts(
        cls,
        counts: ScoreCounts,
        shares: Shares,
        *,
        name: str = "score",
        truth: Any = None,
        target: Target = "dataset",
        confidence_level: float = USUAL_LEVEL,
    ) -> Self:
        """Make the display from counts and shares."""
        _check_chances(counts)
        inside = np.flatnonzero((counts.score > 0) & (counts.score < 1))
        places = np.unique(inside[np.linspace(0, len(inside) - 1, BAND_PLACES).astype(int)]) + 1
        chance = counts.score[places - 1]
        exchange = chance / (1 - chance)
        value, low, high = cls._band(counts, shares, places, exchange, target, confidence_level)
        prevalence = shares.prevalence(counts)
        columns = {"chance": chance, "net_benefit": value, "low": low, "high": high}
        columns["all"] = prevalence - (1 - prevalence) * exchange
        return cls(columns, {}, name)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, truth: Any = None) -> Self:
        """Make the display of an evaluation: its net benefits."""
        _check_chances(evaluation.counts)
        chance = _thresholds(evaluation, N_THRESHOLDS)
        chance = chance[(chance > 0) & (chance < 1)]
        with collect_warnings():  # along a curve single rates leave their range by chance
            benefits = [evaluation.net_benefit(each, each) for each in chance.tolist()]
        columns = {"chance": chance, **_spread("net_benefit", benefits)}
        prevalence = evaluation.prevalence
        columns["all"] = prevalence - (1 - prevalence) * chance / (1 - chance)
        return cls(columns, {}, evaluation.name)

    def _draw(self, axes: Any, style: dict[str, Any]) -> None:
        """Draw the curve with its band, flagging all, and none."""
        self._draw_band(axes, "chance", "net_benefit", style)
        if not np.isnan(self.columns["all"]).all():
            axes.plot(self.columns["chance"], self.columns["all"], linestyle="--", label="flag all")
        axes.axhline(0.0, color="black", linewidth=1, label="flag none")
        top = float(np.nanmax(self.columns["high"]))
        axes.set(xlabel="chance at which flagging pays", ylabel="net benefit a row")
        axes.set_ylim(-0.25 * top, 1.05 * top)


def _check_chances(counts: ScoreCounts) -> None:
    """Raise unless scores can be chances of being positive."""
    if counts.score[0] > 1 or counts.score[-1] < 0:
        raise InputError(
            "a decision curve needs scores that are chances of being positive, in [0, 1]; got "
            f"{counts.score[-1]:.4g} to {counts.score[0]:.4g}"
        )


def _spread(name: str, estimates: list[Estimate]) -> dict[str, FloatArray]:
    """Return values and ends of estimates as columns."""
    ends = {name: "value", "low": "low", "high": "high"}
    return {
        column: np.array([getattr(estimate, end) for estimate in estimates])
        for column, end in ends.items()
    }


class HistogramDisplay(ColumnsDisplay):
    """Draw the scores of labelled and unlabeled rows and of the negatives that follow from them.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], unlabeled=0)
    >>> display = uc.displays.HistogramDisplay.from_counts(counts, uc.Shares(0.1))
    >>> sorted(display.frame())
    ['labelled', 'left', 'negative', 'unlabeled']
    """

    @classmethod
    def _columns(
        cls, counts: ScoreCounts, shares: Shares
    ) -> tuple[dict[str, FloatArray], dict[str, float]]:
        """Count in equal-width bins of the finite scores."""
        _check_cells_apart(counts, "a histogram")
        kinds = {"labelled": counts.positive, "unlabeled": counts.unlabeled}
        columns, edges = _binned(counts, kinds)
        _, columns["negative"] = recovered_rates(columns["labelled"], columns["unlabeled"], shares)
        return columns, {"width": float(edges[1] - edges[0])}

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, truth: Any = None) -> Self:
        """Make the display of an evaluation: its own negatives.

        They are NaN where labels and scores leave a range of the share and point to none.
        """
        counts = _every_score(evaluation)
        if not evaluation.basis.determined_by:
            made = cls.from_counts(counts, evaluation.shares, name=evaluation.name)
            return cls._without_values(made, "negative") if evaluation.unknowns.range_only else made
        _check_cells_apart(counts, "a histogram")
        kinds = {"labelled": counts.positive, "unlabeled": counts.unlabeled}
        kinds["negative"] = evaluation.recovery.negatives(counts)
        columns, edges = _binned(counts, kinds)
        return cls(columns, {"width": float(edges[1] - edges[0])}, evaluation.name)

    def _draw(self, axes: Any, style: dict[str, Any]) -> None:
        """Draw the three shares of rows in each bin; negative bars show misfit."""
        left, width = self.columns["left"], self.marks["width"]
        axes.bar(
            left, self.columns["unlabeled"], width, align="edge", alpha=0.35, label="unlabeled"
        )
        lines = {"labelled": {"linestyle": "-", **style}, "negative": {"linestyle": "--"}}
        for column, look in lines.items():
            if np.isnan(self.columns[column]).all():
                continue
            label = "implied negatives" if column == "negative" else column
            axes.step(left, self.columns[column], **{"where": "post", "label": label, **look})
        axes.set(xlabel=self.name, ylabel="share of rows")


def _binned(
    counts: ScoreCounts, kinds: dict[str, FloatArray]
) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the share of each kind of rows in equal-width bins of the finite scores."""
    finite = np.isfinite(counts.score)
    edges = np.histogram_bin_edges(counts.score[finite], HISTOGRAM_BINS)
    columns = {
        name: np.histogram(counts.score[finite], edges, weights=rows[finite])[0] / rows.sum()
        for name, rows in kinds.items()
    }
    return {"left": edges[:-1], **columns}, edges


class CalibrationDisplay(ColumnsDisplay):
    """Draw the share of positives among rows of about the same score, with its interval.

    In each group the positives follow from the labelled and the unlabeled rows (Jain et al. 2017,
    eq. 1); their share is among all rows of the group in a single sample, and among the unlabeled
    ones in case-control. Nothing is clipped: a share outside [0, 1] shows misfit or few rows.

    The interval is Wilson's of the labelled share of a group, divided by the label frequency (in
    case-control Wilson's of both rates), with a Poisson number's lower end where a group has three
    labels or fewer; it speaks of the population that the rows were drawn from. Limits of the share
    among the unlabeled rows, if it is not known, add in squares.

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives).
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], unlabeled=0)
    >>> display = uc.displays.CalibrationDisplay.from_counts(counts, uc.Shares(0.1))
    >>> sorted(display.frame())
    ['high', 'low', 'positive_share', 'score']
    """

    @classmethod
    def from_counts(
        cls,
        counts: ScoreCounts,
        shares: Shares,
        *,
        name: str = "score",
        truth: Any = None,
        confidence_level: float = USUAL_LEVEL,
    ) -> Self:
        """Make the display from counts and shares."""
        return cls(cls._groups(counts, shares, confidence_level), {}, name)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, truth: Any = None) -> Self:
        """Make the display of an evaluation of random labels whose rows are independent.

        Where labels and scores leave a range of the share and point to none, intervals are left.
        """
        source = evaluation.basis.determined_by
        if source:
            raise InputError(
                f"calibration needs random labels and a prevalence; here the {source} determine "
                "it; sweep the precision over the threshold instead",
                code=NOT_IDENTIFIED,
            )
        if evaluation.recovery.clusters is not None:
            raise InputError(
                "calibration has no interval of a group of scores whose rows come in clusters; "
                "evaluate without cluster to draw it as if rows were independent, or sweep the "
                "precision over the threshold instead",
                argument="cluster",
            )
        made = cls.from_counts(
            _every_score(evaluation),
            evaluation.shares,
            name=evaluation.name,
            confidence_level=evaluation.confidence_level,
        )
        return (
            cls._without_values(made, "positive_share") if evaluation.unknowns.range_only else made
        )

    @classmethod
    def _groups(cls, counts: ScoreCounts, shares: Shares, level: float) -> dict[str, FloatArray]:
        """Count in groups of about equal numbers of rows."""
        _check_cells_apart(counts, "calibration")
        counts.require("positive", "unlabeled")
        rows = counts.positive + counts.negative + counts.unlabeled
        middle = (np.cumsum(rows) - rows / 2) / rows.sum()
        group = np.minimum((middle * N_GROUPS).astype(int), N_GROUPS - 1)
        filled = np.bincount(group, rows, N_GROUPS) > 0

        def total(column: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(group, column, N_GROUPS), dtype=np.float64)[filled]

        kinds = total(counts.positive), total(counts.unlabeled), total(counts.negative)
        every = total(rows)
        share = _positive_share(counts, shares.exact(), kinds[0], kinds[1], every)
        ends = _share_limits(counts, shares, kinds, level)
        low, high = share.copy(), share.copy()
        for pair in ends:  # distances add in squares, each side by itself
            least, most = np.minimum(*pair), np.maximum(*pair)
            low = share - np.hypot(share - low, np.maximum(share - least, 0.0))
            high = share + np.hypot(high - share, np.maximum(most - share, 0.0))
        mean = total(rows * counts.score) / every
        low, high = np.minimum(np.clip(low, 0, 1), share), np.maximum(np.clip(high, 0, 1), share)
        return {"score": mean, "positive_share": share, "low": low, "high": high}

    @classmethod
    def _scores(cls, estimator: Any, X: Any) -> Any:
        if not hasattr(estimator, "predict_proba"):
            raise InputError(
                "calibration needs probabilities, and so an estimator with predict_proba; got "
                f"{type(estimator).__name__}. Wrap it in scikit-learn's CalibratedClassifierCV"
            )
        return _positive_chance(estimator, X)

    def _draw(self, axes: Any, style: dict[str, Any]) -> None:
        """Draw the groups beside the diagonal of perfect calibration."""
        axes.plot([0, 1], [0, 1], ":", color="gray", label="perfect")
        score, share = self.columns["score"], self.columns["positive_share"]
        low, high = self.columns["low"], self.columns["high"]
        look = {"fmt": "o-", "capsize": 3, "label": self.name, **style}
        if np.isnan(share).all():  # ranges without a value: whiskers around nothing
            share, look["fmt"] = (low + high) / 2, "none"
        axes.errorbar(score, share, (share - low, high - share), **look)
        axes.set(xlabel="score", ylabel="share of positives")


def _positive_share(
    counts: ScoreCounts, shares: Shares, labelled: Any, unlabeled: Any, every: Any
) -> FloatArray:
    """Return the share of positives in groups with so many labelled, unlabeled and all rows."""
    rate = unlabeled / counts.n_unlabeled
    recovered, _ = recovered_rates(labelled / counts.n_positive, rate, shares)
    with np.errstate(divide="ignore", invalid="ignore"):
        if shares.sampling == "single-sample":
            return np.asarray(shares.positives(counts) * recovered / every)
        return np.asarray(shares.unlabeled_prevalence * recovered / rate)


def _share_limits(
    counts: ScoreCounts,
    shares: Shares,
    kinds: tuple[FloatArray, FloatArray, FloatArray],
    level: float,
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the share of positives in groups with one source of chance at its two limits."""
    labelled, unlabeled, negative = kinds
    every, exact, z = labelled + unlabeled + negative, shares.exact(), two_sided_z(level)
    pairs = []
    if shares.sampling == "single-sample":
        rows = every - negative  # a label more is an unlabeled row less
        unit = counts.n_positive / counts.effective_size("positive")
        some = np.maximum(rows, _ROUNDING * unit)  # a group may hold known negatives alone
        ends = [rows * end for end in _rate_limits(labelled / some, some / unit, z)]
        pairs.append([_positive_share(counts, exact, n, rows - n, every) for n in ends])
    else:
        sizes = counts.n_positive, counts.n_unlabeled
        effective = counts.effective_size("positive"), counts.effective_size("unlabeled")
        ends = [sizes[0] * end for end in _rate_limits(labelled / sizes[0], effective[0], z)]
        pairs.append([_positive_share(counts, exact, n, unlabeled, every) for n in ends])
        ends = [sizes[1] * end for end in wilson_share(unlabeled / sizes[1], effective[1], z)]
        pairs.append([_positive_share(counts, exact, labelled, n, every) for n in ends])
    moved = [
        _positive_share(counts, exact.with_unlabeled_prevalence(end), labelled, unlabeled, every)
        for end in _share_ends(shares, level)
    ]
    return [(pair[0], pair[1]) for pair in [*pairs, moved] if pair]


def _rate_limits(rate: FloatArray, trials: Any, z: float) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's limits of a rate, the lower one of very few labels that of a Poisson number.

    Brown, Cai and DasGupta 2001: one label where a tenth of one was to be expected is far above
    Wilson's limit, so that 17 of 100 intervals missed in the group of the lowest scores.
    """
    low, high = wilson_share(rate, trials, z)
    expected = rate * trials
    few = (expected > 0) & (expected <= _VERY_FEW)
    poisson = gammaincinv(np.where(few, expected, 1.0), 2 * ndtr(-z)) / trials
    return np.where(few, np.minimum(low, poisson), low), high


def _check_cells_apart(counts: ScoreCounts, what: str) -> None:
    """Raise if cells stand for several scores, whose places are lost."""
    if counts.compact:
        raise InputError(
            f"{what} needs every score; use from_predictions, or count with compact=False"
        )
