"""Labels given with chances that differ from row to row: known, or estimated from covariates.

A labelled row of chance e stands for 1/e positives. The positives' scores are those of the
labelled rows so weighted, and all rows are themselves, so that every metric is read as from labels
that were drawn apart. Its variance is that of the labels (each drawn by itself with its chance)
and, for the population, of the rows.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from undercount.count.arrays import read_floats, read_labels, read_scores, refuse_other_order
from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import CODES, Check, InputError, named, real_number
from undercount.estimate import Estimate, Interval, delta_interval
from undercount.infer.area_gradients import (
    area_influence,
    cell_rows,
    losses_of,
    row_precision,
    weights_there,
)
from undercount.infer.area_intervals import area_estimate
from undercount.infer.difference import Contributions
from undercount.infer.heads import (
    HeadCounts,
    RatePoint,
    TopRows,
    head_spread,
    student_level,
    top_heads,
    top_parts,
)
from undercount.infer.mixture import (
    LABELLED,
    TOLERANCE,
    UNLABELED,
    Misfit,
    MixtureDesign,
    Target,
    mixture_curve,
)
from undercount.infer.sensitivity import BreakEven
from undercount.infer.threshold_intervals import (
    certain_limits,
    threshold_estimate,
    threshold_interval,
)
from undercount.infer.variance import Found, Spread
from undercount.metric_facts import FACTS
from undercount.prevalence.fair_scores import ScoreTest
from undercount.prevalence.late_labels import NEEDS as LATE_NEEDS
from undercount.prevalence.late_labels import LateLabels
from undercount.shares import Shares

FOLDS = 5
FEW_EFFECTIVE = 30
# Share of all positives for which a single label may stand.
HEAVY = 0.1
_TINY = 1e-12
# Scores at which bounds turn the odds round, at most.
N_BORDERS = 65
# Step of a numerical derivative, as a part of the smallest share in it.
STEP = 1e-5
LARGEST_GAMMA, HALVINGS = 1000.0, 12
NEEDS = ("labelling chances",)
Limits: TypeAlias = tuple[FloatArray, FloatArray]
# Values of cells, or of flagged rows, turned into values of rows with these scores.
RowValues: TypeAlias = Callable[[Any, NDArray[Any]], FloatArray]


def read_chances(propensity: Any, labels: NDArray[Any]) -> FloatArray:
    """Return the chance of each row that was looked at, NaN elsewhere; unlabeled rows need none.

    Rows found negative may have none either (NaN): they need not have been found by these chances.
    """
    chance = read_floats(propensity, "propensity")
    if chance.shape != labels.shape:
        raise InputError(
            f"{named('propensity')} must hold a chance for each of {len(labels):,} rows; "
            f"got shape {chance.shape}",
            argument="propensity",
        )
    labelled = labels == 1
    wrong = np.flatnonzero(labelled & ~((chance > 0) & (chance <= 1)))
    if wrong.size:
        raise InputError(
            f"{named('propensity')} of a labelled row must be in (0, 1]; "
            f"got {chance[wrong[0]]:g} at row {wrong[0]}; {_chance_hint(chance[labelled])}",
            argument="propensity",
        )
    told = (labels != -1) & (chance > 0) & (chance <= 1)
    return np.where(told, chance, np.nan)


def _chance_hint(chances: FloatArray) -> str:
    """Say what chances beyond 1 may be: percentages, or what a model scaled."""
    most = float(np.nanmax(chances))
    if most <= 1:
        return "a positive that cannot be labelled stands for any number: leave such rows out"
    if 5 < most <= 100:  # noqa: PLR2004 - percentages, and no chances that a model overdid
        return f"percentages are divided by 100: {most:g} % is {most / 100:g}"
    return "ratios are scaled by a known prevalence first, and then stay at most 1"


def fit_chances(
    classifier: Any, covariates: Any, labels: NDArray[Any], random_state: int | None
) -> FloatArray:
    """Return the chance that somebody looked at each row, by a classifier on other folds.

    Rows labelled positive or negative were looked at. Positives that were not looked at carry no
    label, so that the chance of having been looked at is that of a label.

    Notes
    -----
    Assumes: whether somebody looked depends on the covariates alone, not on the class beyond
    them; everybody who is looked at gets a label.
    Wrong when: rows were looked at because they looked positive in ways the covariates miss.
    """
    from sklearn.base import clone  # noqa: PLC0415 - only for classifiers
    from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: PLC0415

    if covariates is None:
        raise InputError(
            f"{named('propensity')} as a classifier needs {named('covariates')}, one row of "
            "numbers for each row",
            argument="covariates",
        )
    if not np.any(labels == 0):
        raise InputError(
            f"{named('propensity')} as a classifier needs rows that were looked at and found "
            "negative (0): among positives and unlabeled rows alone, a rare label may mean few "
            "positives or few looks. Pass the chances themselves as an array",
            argument="propensity",
        )
    looked = labels != -1
    columns = np.asarray(covariates, dtype=float).reshape(len(labels), -1)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    found = cross_val_predict(clone(classifier), columns, looked, cv=folds, method="predict_proba")
    chance = np.asarray(found[:, 1], dtype=float)
    _refuse_zeros(chance, labels)
    return chance


def _refuse_zeros(chance: FloatArray, labels: NDArray[Any]) -> None:
    """Refuse a classifier that calls impossible what happened; the rows are not at fault."""
    impossible = np.flatnonzero((labels == 1) & (chance <= 0))
    if impossible.size:
        raise InputError(
            f"the classifier of {named('propensity')} gives a chance of 0 to "
            f"{impossible.size:,} rows that were labelled, the first at row {impossible[0]}; "
            "smooth it (min_samples_leaf=50 of a forest, say), calibrate it "
            "(CalibratedClassifierCV), or limit its chances from below. Keep the rows: without "
            "them every number would be too good",
            argument="propensity",
        )


def _row_values(counts: ScoreCounts, of_cells: Callable[[Any], FloatArray]) -> RowValues:
    """Return what turns values of cells into values of rows."""

    def of_rows(value: Any, score: NDArray[Any]) -> FloatArray:
        return np.asarray(of_cells(value)[cell_places(counts.score, score)])

    return of_rows


@dataclass(frozen=True, eq=False)
class Chances:
    """Read every metric from labels that were given with chances of their own.

    Parameters
    ----------
    labels, score : array
        Labels (1, 0, -1 for unlabeled) and scores of all rows.
    chance : array
        Chance of a label, had the row been positive; used at labelled rows. That of a row found
        negative, if it is known, is the chance that somebody looked, and tests the chances.
    target : {"dataset", "population"}
        What intervals speak of.
    confidence_level : float
        Of all intervals.
    estimated : bool
        Whether a classifier found the chances.
    late : LateLabels, optional
        Where dates of labels told the chances: their error is inside every interval.
    place : array of int, optional
        Which rows these are among those old enough, if they are a part of them.
    weight : array, optional
        Importance of each row.
    cluster : array of int, optional
        The number of each row's cluster, if rows and labels come in clusters.

    Notes
    -----
    Assumes: each positive was labelled by itself with its chance, and none of them is 0; with
    clusters all positives of one together.
    Wrong when: chances were estimated from few rows, or miss what decided who was looked at;
    `bounds` says how far metrics go if their odds are wrong by a factor.
    """

    labels: NDArray[Any]
    score: NDArray[Any]
    chance: FloatArray
    target: Target = "dataset"
    confidence_level: float = 0.95
    estimated: bool = False
    late: LateLabels | None = None
    place: NDArray[Any] | None = None
    weight: FloatArray | None = None
    cluster: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        # Beside single precision NumPy would round a threshold, which counts do not.
        object.__setattr__(self, "score", np.asarray(self.score, np.float64))
        total = self.total - float(self.weights[self.labels == 0].sum())
        if not 0 < self.positives < total:
            raise InputError(
                "the labelled rows must stand for more than none and fewer than all rows; "
                f"got {self.positives:,.0f} of {total:,}",
                argument="propensity",
            )

    @classmethod
    def of(cls, y: Any, score: Any, propensity: Any, **options: Any) -> "Chances":
        """Read rows and chances; a classifier is fitted on `covariates`."""
        unlabeled, covariates = options.pop("unlabeled", None), options.pop("covariates", None)
        random_state = options.pop("random_state", 0)
        refuse_other_order(y=y, score=score, propensity=propensity, covariates=covariates)
        labels, scores = np.asarray(read_labels(y, unlabeled)), np.asarray(read_scores(score))
        if isinstance(propensity, LateLabels):
            chance = propensity.chance_[propensity.usable_]
            return cls(labels, scores, read_chances(chance, labels), **options, late=propensity)
        if isinstance(y, ScoreCounts) or labels.shape != scores.shape:
            raise InputError(
                f"{named('propensity')} needs rows: labels and scores of the same length"
            )
        fitted = hasattr(propensity, "fit")
        if fitted:
            propensity = fit_chances(propensity, covariates, labels, random_state)
        return cls(labels, scores, read_chances(propensity, labels), **options, estimated=fitted)

    def take(self, place: NDArray[Any], target: Target | None = None) -> "Chances":
        """Return the same of some of the rows, perhaps for another target."""
        some = {name: getattr(self, name)[place] for name in ("labels", "score", "chance")}
        whole = place if self.place is None else self.place[place]
        for name in ("weight", "cluster"):
            each = getattr(self, name)
            some[name] = None if each is None else each[place]
        return replace(self, **some, target=target or self.target, place=whole)

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each row."""
        return np.ones(len(self.labels)) if self.weight is None else self.weight

    @cached_property
    def total(self) -> float:
        """Number of all rows, or the sum of their weights."""
        return float(self.weights.sum())

    def by_unit(self, rows: FloatArray) -> FloatArray:
        """Return what each independent unit adds: a row, or all rows of a cluster together."""
        return rows if self.cluster is None else np.bincount(self.cluster, rows).astype(float)

    def by_label(self, labels: FloatArray) -> FloatArray:
        """Return what each unit with a label adds, from what its labels do."""
        if self.cluster is None:
            return labels
        _, codes = np.unique(self.cluster[self.labelled], return_inverse=True)
        return np.asarray(np.bincount(codes, labels), float)

    @cached_property
    def n_units(self) -> int:
        """Number of labels, or of clusters with one."""
        return len(self.by_label(np.ones(np.count_nonzero(self.labelled))))

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows are labelled positive."""
        return np.asarray(self.labels == 1)

    @cached_property
    def looked(self) -> NDArray[np.bool_]:
        """Which rows were looked at with a known chance; none unless some were found negative."""
        known = np.isfinite(self.chance) & (self.late is None)
        return np.asarray(known & bool(np.any(known & (self.labels == 0))))

    @cached_property
    def stands_for(self) -> FloatArray:
        """For how many positives each labelled row stands."""
        return self.weights[self.labelled] / self.chance[self.labelled]

    @cached_property
    def kept_back(self) -> FloatArray:
        """The part of each label's weight that chance decides on, as a standard error: √(1 - e)."""
        return np.sqrt(1 - self.chance[self.labelled])

    @cached_property
    def positives(self) -> float:
        """Estimated number of positives."""
        return float(self.stands_for.sum())

    @cached_property
    def effective_size(self) -> float:
        """How many labels of equal chance tell as much (Kish): (Σw)²/Σw²."""
        units = self.by_label(self.stands_for)
        return self.positives**2 / float(units @ units)

    @property
    def share(self) -> Estimate:
        """What follows for the unlabeled rows, with the chance of the labels as its error."""
        sizes = [float(self.weights[self.labels == label].sum()) for label in (1, -1)]
        n_labelled, hidden = sizes
        units = self.by_label(self.stands_for * self.kept_back)
        drawn = float(units @ units)
        error = math.sqrt(drawn + self.delay_variance(self.stands_for)) / hidden
        value = (self.positives - n_labelled) / hidden
        z = float(ndtri((1 + self.confidence_level) / 2))
        span = max(value - z * error, 0.0), min(value + z * error, 1.0 - _TINY)
        return Estimate(value, *span, error, self.confidence_level, method="chances")

    def delay_variance(self, adds: FloatArray) -> float:
        """Return the variance of what labels add that the error of estimated delays makes."""
        if self.late is None:
            return 0.0
        return self.late.chance_variance(adds, self.dated_rows[self.labelled])

    @property
    def dated_rows(self) -> NDArray[np.intp]:
        """Which of the rows with a date these are; all that are old enough, or a part of them."""
        usable = np.flatnonzero(cast("LateLabels", self.late).usable_)
        return usable if self.place is None else usable[self.place]

    def compare_late_scores(self) -> ScoreTest:
        """Test whether labels of high scores come sooner or later than others of these rows."""
        return cast("LateLabels", self.late).compare_scores(self.score, self.dated_rows)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the chances rest on."""
        return NEEDS if self.late is None else LATE_NEEDS

    def counts_at(self, threshold: float | None = None) -> ScoreCounts:
        """Count what labelled rows stand for as positives, and all rows as unlabeled ones."""
        return self._counts(self.stands_for, () if threshold is None else (threshold,))

    def search_counts(self, threshold: float | None = None) -> ScoreCounts:
        """Return counts that tell as much as there are clusters, were labels of one all alike."""
        counts, units = self.counts_at(threshold), self.by_label(self.stands_for)
        if self.cluster is None:
            return counts
        effect = float(units @ units / (self.stands_for @ self.stands_for))
        labelled, negative, unlabeled = counts.squared_weight
        return replace(counts, squared_weight=(labelled * effect, negative, unlabeled))

    def clustered_design(self) -> MixtureDesign:
        """Return what was drawn at random, with the effect of clusters alone on the ROC AUC."""
        _, moves, _ = self._moves("roc_auc")
        together, alone = (
            each.influence("roc_auc") for each in (self, replace(self, cluster=None))
        )
        effect = float(together @ together / (alone @ alone))
        return replace(moves.design, cluster_effect=effect, clusters=self.effective_size)

    def _counts(
        self, stands_for: FloatArray, knots: tuple[float, ...] = (), *, compact: bool = True
    ) -> ScoreCounts:
        rows = np.append(self.score[self.labelled], self.score)
        labels = np.append(np.ones(len(stands_for)), np.full(len(self.score), -1.0))
        weight = np.append(stands_for, self.weights)
        return ScoreCounts.from_rows(
            labels, rows, unlabeled=-1, sample_weight=weight, compact=compact, knots=knots
        )

    def possible_counts(self) -> ScoreCounts:
        """Count what labelled rows stand for beside the rows that may be positive."""
        possible = self.labels != 0
        score = np.append(self.score[self.labelled], self.score[possible])
        labels = np.append(np.ones(len(self.stands_for)), np.full(possible.sum(), -1.0))
        weight = np.append(self.stands_for, self.weights[possible])
        return ScoreCounts.from_rows(
            labels, score, unlabeled=-1, sample_weight=weight, compact=True
        )

    def curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the recovered curve, which answers at a threshold."""
        counts = self.counts_at(threshold)
        return mixture_curve(counts, Shares(self.prevalence, 1.0, "case-control"), clean=False)

    @property
    def prevalence(self) -> float:
        """Estimated share of positives among all rows."""
        return self.positives / self.total

    def design(self, counts: ScoreCounts) -> MixtureDesign:
        """Return labelled rows drawn apart from all rows, whose share of positives is known."""
        squares = counts.squared_weight
        return MixtureDesign(
            np.array([counts.n_positive, counts.n_unlabeled, 0.0]),
            np.array([squares[0] / counts.n_positive, squares[2] / counts.n_unlabeled, 1.0]),
            "unlabeled_prevalence",
            counts.n_positive / counts.n_unlabeled,
            1.0,
            "case-control",
            "population",
        )

    def estimate(
        self,
        metric: str,
        threshold: float | None = None,
        *,
        top: float | None = None,
        beta: float = 1.0,
    ) -> Estimate:
        """Estimate a metric with its interval."""
        family = FACTS[metric].family
        if top is not None:
            found = self._at_top(metric, top, beta)
        elif family == "loss":
            found = self._loss(metric)
        elif family == "threshold":
            if threshold is None:
                raise InputError(f"{metric} needs a threshold; rows with at least this score count")
            found = self._at_threshold(metric, threshold, beta)
        else:
            found = self._area(metric)
        self._report(found, metric)
        low, high = min(found.low, found.value), max(found.high, found.value)
        return Estimate(
            found.value,
            low,
            high,
            found.standard_error,
            self.confidence_level,
            self.needs,
            "chances",
        )

    def _report(self, found: Found, metric: str) -> None:
        """Warn of a value that was pulled into what is possible."""
        misfit = found.misfit
        if misfit is None:
            return
        quantity = "{metric}" if misfit.quantity == metric else misfit.quantity
        firm = misfit.contradicts(self.confidence_level)
        what = f"{quantity} would be {misfit.value:.4g} by these chances"
        misfit.warn_of(what, metric, "propensity", firm=firm, stacklevel=4)

    def certain_limits(
        self, metric: str, threshold: float | FloatArray, beta: float = 1.0
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return what a metric of these rows is at least and at most, whatever the chances.

        In place of a threshold there may be the part of each row that is flagged.

        Rows labelled positive are positive, those found negative are not. Of a population that
        says nothing.
        """
        if self.target != "dataset":
            return None
        kinds = [self.labels == label for label in (1, -1, 0)]
        flagged = threshold if isinstance(threshold, np.ndarray) else self.score >= threshold
        sizes, heads = (
            np.array([float((self.weights * some)[kind].sum()) for kind in kinds])
            for some in (np.ones(len(self.score)), flagged)
        )
        design = MixtureDesign(
            sizes, np.ones(3), "unlabeled_prevalence", 0.0, 1.0, "single-sample", "dataset"
        )
        return certain_limits(HeadCounts(heads, design), metric, beta)

    def _at_threshold(self, metric: str, threshold: float, beta: float) -> Found:
        counts, moves, of_rows = self._moves(metric, threshold, beta)
        design = self._with_variance(moves, of_rows)
        return threshold_estimate(
            counts,
            design,
            metric,
            threshold=threshold,
            beta=beta,
            confidence_level=student_level(
                self.confidence_level, min(design.freedom, self.freedom)
            ),
            kind="wilson",
            errors=(0.0, 0.0),
            known=self.certain_limits(metric, threshold, beta),
        )

    def _at_top(self, metric: str, top: float, beta: float) -> Found:
        """Return a metric of so many rows of the highest scores; tied rows by chance."""
        heads, taken = self._top(top)
        moves, of_rows = self._top_moves(metric, top, beta)
        variance = self._variance(moves, of_rows)
        if self.target == "population":
            rows = self.top_influence(metric, top, beta)
            variance = float(rows @ rows) + self.delay_variance(self.top_adds(metric, top, beta))
        design = self._scaled(moves, variance)
        level = student_level(self.confidence_level, min(design.freedom, self.freedom))
        value, low, high = threshold_interval(
            HeadCounts(heads.heads, design),
            metric,
            confidence_level=level,
            beta=beta,
            known=self.certain_limits(metric, taken, beta),
        )
        return Found(float(value), float(low), float(high), math.sqrt(variance), "chances")

    def _top_moves(self, metric: str, top: float, beta: float) -> tuple[Spread, RowValues]:
        """Return how a metric of the highest rows moves, and what turns that into values of rows.

        Values are those of labelled rows, or of all.
        """
        heads, taken = self._top(top)

        def of_rows(value: Any, score: NDArray[Any]) -> FloatArray:
            every = len(score) == len(self.score)
            return np.asarray(value * (taken if every else taken[self.labelled]))

        return head_spread(heads, metric, beta), of_rows

    def top_adds(self, metric: str, top: float, beta: float = 1.0) -> FloatArray:
        """Return what each label adds to a metric of the highest rows."""
        return self._label_moves(*self._top_moves(metric, top, beta))[0]

    def _top(self, top: float) -> tuple[HeadCounts, FloatArray]:
        """Return the rows of each kind among the highest, and the part of each row among them."""
        everyone = ScoreCounts.from_rows(
            np.full(len(self.score), -1.0), self.score, unlabeled=-1, sample_weight=self.weight
        )
        parts = top_parts(everyone, top, apart=True)
        taken = parts[cell_places(everyone.score, self.score)]
        design = self.design(self.counts_at())
        flagged = float(self.weights @ taken)
        heads = np.array([float(self.stands_for @ taken[self.labelled]), flagged, 0.0])
        return HeadCounts(heads, design), taken

    def top_influence(self, metric: str, top: float, beta: float = 1.0) -> FloatArray:
        """Return by what each unit moves a metric of so many rows of the highest scores.

        How many rows are flagged is given. In another sample of a population the same share of
        rows would end at another score, so that each row moves that too.
        """
        if self.target == "dataset":
            moved = self._row_moves(*self._top_moves(metric, top, beta))
            return self.by_unit(moved) * self._of_few
        _, taken = self._top(top)
        mass = np.zeros(len(self.score))
        mass[self.labelled] = self.stands_for / self.total
        hits, share = float(mass @ taken), self.prevalence
        weight, part = self.weights / self.total, float(self.weights @ taken) / self.total
        slopes = _table_slopes(metric, hits, share, part, beta)
        ranked, rows = self._recall_slope(taken), 1 / len(self.score)
        beyond = rows * (taken - taken.mean())
        by_hits = mass * taken - weight * hits - share * ranked * beyond
        by_flagged = weight * (taken - part) - beyond
        moved = slopes[0] * by_hits + slopes[1] * (mass - weight * share) + slopes[2] * by_flagged
        return self.by_unit(moved) * self._of_few

    def _recall_slope(self, taken: FloatArray) -> float:
        """Return how fast recall grows with the share of rows that are flagged, at the last row."""
        top = float(np.count_nonzero(taken > 0) - np.count_nonzero((taken > 0) & (taken < 1)) / 2)
        counts = self._counts(self.stands_for, compact=False)
        found = top_heads(counts, self.design(counts), max(top, 1.0)).top
        return float(cast("TopRows", found).slope)

    def _area(self, metric: str) -> Found:
        counts, moves, of_rows = self._moves(metric)
        level, design = self.confidence_level, self._with_variance(moves, of_rows)
        found = area_estimate(
            counts, design, metric, max_fpr=None, confidence_level=level, errors=(0.0, 0.0)
        )
        if metric != "average_precision":
            return found
        raw, t = self.average_precision(), float(stdtrit(design.freedom, (1 + level) / 2))
        value, error = min(raw, 1.0), found.standard_error
        ends = delta_interval(value, error, "log", t)
        misfit = None
        if raw > value + TOLERANCE:
            misfit = Misfit(metric, raw, (raw - value) / max(error, _TINY), lambda: math.nan)
        return replace(
            found, value=value, low=float(ends[0]), high=min(float(ends[1]), 1.0), misfit=misfit
        )

    def _loss(self, metric: str) -> Found:
        """Return the mean loss: of all rows as if negative, and what labels stand for beside it."""
        value, moves = self._mean_loss(metric, self.stands_for), self.influence(metric)
        error, (least, most) = math.sqrt(float(moves @ moves)), FACTS[metric].range
        t = float(stdtrit(self.freedom, (1 + self.confidence_level) / 2))
        low, high = least, value + t * error
        if value > least:  # but for a few heavy labels of high scores
            low, high = (float(end) for end in delta_interval(value, error, "log", t))
        return Found(value, low, min(high, most), error, "chances")

    def _mean_loss(self, metric: str, stands_for: FloatArray) -> float:
        if_positive, if_negative = losses_of(self.score, metric)
        more = (if_positive - if_negative)[self.labelled]
        return float(self.weights @ if_negative + stands_for @ more) / self.total

    def _loss_moves(self, metric: str) -> FloatArray:
        """Return the error that each row brings to the mean loss."""
        if_positive, if_negative = losses_of(self.score, metric)
        total, rows = self.total, np.zeros(len(self.score))
        adds = self.stands_for * (if_positive - if_negative)[self.labelled] / total
        if self.target == "dataset":
            rows[self.labelled] = self.kept_back * adds
            return rows
        rows[self.labelled] = adds
        mean = self._mean_loss(metric, self.stands_for)
        return rows + self.weights * (if_negative - mean) / total

    def _moves(
        self, metric: str, threshold: float | None = None, beta: float = 1.0
    ) -> tuple[ScoreCounts, Spread, RowValues]:
        """Return weighted counts, how a metric moves with them, and what turns that into rows'."""
        counts = self.counts_at(threshold)
        design = self.design(counts)
        if threshold is not None:
            heads = HeadCounts.at(counts, design, threshold)
            return counts, head_spread(heads, metric, beta), lambda v, s: v * (s >= threshold)
        rows = cell_rows(counts)

        def of_rows(value: Any, score: NDArray[Any]) -> FloatArray:
            cells = np.broadcast_to(value, counts.score.shape)
            return np.asarray(cells[cell_places(counts.score, score)])

        return counts, Spread(design, rows, area_influence(rows, design.mixing, metric)), of_rows

    def average_precision(self, prevalence: float | None = None) -> float:
        """Return Σ w (1 + Σ of the other w at least as high)/M1 over Σ w; w = 1/e.

        Labels are independent, so that the mean of each product of two is that of two positives;
        a row is surely as high as itself, and counts once.
        """
        order = np.argsort(-self.score[self.labelled], kind="stable")
        scores, stands_for = self.score[self.labelled][order], self.stands_for[order]
        flagged, others = self._ranks_above(scores, stands_for)
        own = self.weights[self.labelled][order]
        there = weights_there(self.prevalence, prevalence)
        precision = row_precision(own, others, flagged, flagged, there)
        return float(stands_for @ precision / self.positives)

    def _with_variance(self, moves: Spread, of_rows: RowValues) -> MixtureDesign:
        """Return the design whose errors are scaled to those of labels of these chances."""
        return self._scaled(moves, self._variance(moves, of_rows))

    def _scaled(self, moves: Spread, variance: float) -> MixtureDesign:
        """Return the design whose errors are scaled to this variance of what moves an estimate."""
        independent = float(moves.variance)
        kept, every = self.by_label(self.stands_for * self.kept_back), self.stands_for
        alike = float(kept @ kept / (every @ every))  # if all labels add the same
        ratio = variance / independent if independent > _TINY**2 else alike
        ratio = max(ratio, _TINY)
        return replace(moves.design, cluster_effect=ratio, clusters=self.effective_size)

    def with_effect(
        self, counts: ScoreCounts, moves: Spread, of_cells: Callable[[Any], FloatArray]
    ) -> MixtureDesign:
        """Return the design with the effect of the chances, of what moves weighted counts."""
        found = self._with_variance(moves, _row_values(counts, of_cells))
        return replace(found, clusters=min(found.clusters, self.freedom + 1))

    @property
    def freedom(self) -> float:
        """How many labels of equal weight tell a variance (Satterthwaite 1946), less one."""
        units = self.stands_for
        adds = self.by_label(units * self.kept_back if self.target == "dataset" else units) ** 2
        total = float(adds.sum())
        return max(total**2 / float(adds @ adds) - 1, 1.0) if total > 0 else math.inf

    def influence(self, metric: str, threshold: float | None = None) -> FloatArray:
        """Return by what each row, or cluster, moves a metric; its variance is their squares' sum.

        Two models of the same rows have that of their difference from the difference of these.
        """
        if metric == "average_precision":
            rows = self._precision_moves()
        elif FACTS[metric].family == "loss":
            rows = self._loss_moves(metric)
        else:
            _, moves, of_rows = self._moves(metric, threshold)
            rows = self._row_moves(moves, of_rows)
        return self.by_unit(rows) * self._of_few

    def influence_of(
        self, counts: ScoreCounts, moves: Spread, of_cells: Callable[[Any], FloatArray]
    ) -> FloatArray:
        """Return the same of anything that moves with weighted counts."""
        return self.by_unit(self._row_moves(moves, _row_values(counts, of_cells))) * self._of_few

    def contributions(self, units: FloatArray, labels: FloatArray) -> Contributions:
        """Return what units and labels add to an estimate, with the error of estimated delays."""
        return Contributions(units, self.freedom, labels, self.delay_variance)

    def label_adds(self, metric: str, threshold: float | None = None) -> FloatArray:
        """Return what each label adds to a metric, through which the error of delays reaches it."""
        if metric == "average_precision":
            return self._precision_adds[0]
        _, moves, of_rows = self._moves(metric, threshold)
        return self._label_moves(moves, of_rows)[0]

    def label_adds_of(
        self, counts: ScoreCounts, moves: Spread, of_cells: Callable[[Any], FloatArray]
    ) -> FloatArray:
        """Return the same of anything that moves with weighted counts."""
        return self._label_moves(moves, _row_values(counts, of_cells))[0]

    @property
    def _of_few(self) -> float:
        """What errors are multiplied by because they are taken around the labels' own mean."""
        n_labels = self.n_units
        return math.sqrt(n_labels / max(n_labels - 1, 1))

    @cached_property
    def _precision_adds(self) -> tuple[FloatArray, FloatArray]:
        """What each label adds to average precision, in which it counts once, and each row takes.

        The derivative of Σ w (1 + T)/M over Σ w, where T is the sum of the other w at least as
        high and M the rows so high, by each w and by each row.
        """
        order = np.argsort(-self.score[self.labelled], kind="stable")
        scores, weight = self.score[self.labelled][order], self.stands_for[order]
        flagged, others = self._ranks_above(scores, weight)
        precision = (self.weights[self.labelled][order] + others) / flagged
        value = float(weight @ precision) / self.positives
        # What a label adds to the precision of the labels at most as high, itself left out.
        share = weight / flagged
        above = np.searchsorted(-scores, -scores, side="left")
        lower = share.sum() - np.append(0.0, np.cumsum(share))[above] - share
        adds = np.empty(len(weight))
        adds[order] = weight * (precision + lower - value) / self.positives
        tail = np.append(np.cumsum((share * precision / self.positives)[::-1])[::-1], 0.0)
        takes = self.weights * tail[np.searchsorted(-scores, -self.score, side="left")]
        return adds, np.asarray(takes)

    def _precision_moves(self) -> FloatArray:
        """Return the error that each row brings to average precision."""
        (adds, takes), rows = self._precision_adds, np.zeros(len(self.score))
        if self.target == "dataset":
            rows[self.labelled] = self.kept_back * adds
            return rows
        rows -= takes
        rows[self.labelled] += adds
        return rows

    def _ranks_above(self, scores: NDArray[Any], weight: FloatArray) -> tuple[FloatArray, Any]:
        """Return how many rows score at least as high, and the weight of the other labels there.

        Scores are those of labelled rows, the highest first; tied rows are as high.
        """
        last = np.searchsorted(-scores, -scores, side="right") - 1
        place = np.argsort(-self.score, kind="stable")
        every, rows = -self.score[place], np.append(0.0, np.cumsum(self.weights[place]))
        flagged = rows[np.searchsorted(every, -scores, side="right")]
        return np.asarray(flagged, float), np.cumsum(weight)[last] - weight

    def _label_moves(self, moves: Spread, of_rows: RowValues) -> tuple[FloatArray, float]:
        """Return what each label adds to an estimate, and the mean of φ over the positives.

        A label at row i adds δ = [(φ - its mean)/P + slope/n]/e.
        """
        value = of_rows(moves.phi[LABELLED], self.score[self.labelled])
        mean, slope = float(self.stands_for @ value) / self.positives, float(moves.share_slope)
        each = (value - mean) / self.positives + slope / self.total
        return self.stands_for * each, mean

    def _row_moves(self, moves: Spread, of_rows: RowValues) -> FloatArray:
        """Return the error that each row brings: by its label and, for the population, by itself.

        A label of chance e has a variance of (1 - e) δ².
        """
        adds, _ = self._label_moves(moves, of_rows)
        if self.target == "dataset":
            rows = np.zeros(len(self.score))
            rows[self.labelled] = self.kept_back * adds
            return rows
        every = of_rows(moves.phi[UNLABELED], self.score)
        slope, mean = float(moves.share_slope) * self.prevalence, self.weights @ every / self.total
        rows = np.asarray(self.weights * (every - mean - slope) / self.total)
        rows[self.labelled] += adds
        return rows

    def _variance(self, moves: Spread, of_rows: RowValues) -> float:
        """Return the variance of an estimate over labels and, for the population, rows.

        Half a label of either kind is added where rows are flagged or not, as to other rates.
        """
        rows, n_labels = self.by_unit(self._row_moves(moves, of_rows)), self.n_units
        adds, mean = self._label_moves(moves, of_rows)
        found, delays = float(rows @ rows), self.delay_variance(adds)
        if moves.rows.centred:
            return found * n_labels / max(n_labels - 1, 1) + delays
        slope, own = float(moves.share_slope), self.positives / n_labels
        labelled = float(self.weights[self.labelled].sum())
        factor = 1 - labelled / self.positives if self.target == "dataset" else 1.0
        for flagged in (0.0, 1.0):
            one = (
                float(moves.phi[LABELLED]) * flagged - mean
            ) / self.positives + slope / self.total
            found += factor * (one * own) ** 2 / 2
        return found * n_labels / (n_labels + 1) + delays

    def bounds(self, metric: str, gamma: float, threshold: float | None = None) -> Interval:
        """Bound a metric if the odds of each chance are wrong by a factor of at most gamma.

        Extremes have the odds wrong one way above some score and the other way below; every such
        score is tried. Chance of the labels is not in the bounds.
        """
        if not 1 <= real_number(gamma) < math.inf:
            raise InputError(f"gamma must be at least 1; got {gamma!r}")
        own = self.weights[self.labelled]
        extra = self.stands_for - own
        ends = own + extra / gamma, own + extra * gamma
        scores = self.score[self.labelled]
        borders = np.append(np.unique(scores), np.inf)
        if len(borders) > N_BORDERS:
            borders = np.quantile(scores, np.linspace(0, 1, N_BORDERS))
        found = []
        for border in borders:
            for above, below in (ends, ends[::-1]):
                stands_for = np.where(scores >= border, above, below)
                if stands_for.sum() >= self.total:
                    continue
                found.append(self._value(stands_for, metric, threshold))
        return Interval(min(found), max(found))

    def break_even(self, metric: str, value: float, threshold: float | None) -> BreakEven:
        """Find the largest factor of wrong odds at which metric >= value, chance included.

        The chances determine the share of hidden positives, so that there is no least one.
        """
        estimate = self.estimate(metric, threshold)
        chance = estimate.value - estimate.low

        def holds(gamma: float) -> bool:
            return self.bounds(metric, gamma, threshold).low - chance >= value

        if not holds(1.0):
            return BreakEven(metric, value, math.nan, math.nan)
        low, high = 0.0, math.log(LARGEST_GAMMA)
        if holds(LARGEST_GAMMA):
            return BreakEven(metric, value, math.nan, math.inf)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(math.exp(middle)) else (low, middle)
        return BreakEven(metric, value, math.nan, math.exp(low))

    def _value(self, stands_for: FloatArray, metric: str, threshold: float | None) -> float:
        """Return a metric if labelled rows stood for so many positives each."""
        total, positives = self.total, float(stands_for.sum())
        share = positives / total
        if FACTS[metric].family == "threshold":
            flagged, limits = self._told_at(metric, cast("float", threshold))
            hits = float(stands_for[self._label_scores >= threshold].sum())
            fpr = (flagged - hits) / (total - positives)
            point = RatePoint(np.asarray(hits / positives), np.asarray(fpr), share)
            found = float(point.metric(metric))
            found = found if limits is None else float(np.clip(found, *limits))
        elif metric in ("roc_auc", "lift_auc"):
            found = float(stands_for @ self._places / positives)
            if metric == "roc_auc":  # AUL = π/2 + (1 - π) AUC
                found = (found - share / 2) / (1 - share)
        elif FACTS[metric].family == "loss":
            found = self._mean_loss(metric, stands_for)
        else:
            curve = mixture_curve(
                self._counts(stands_for), Shares(share, 1.0, "case-control"), clean=False
            )
            found = float(getattr(curve, metric))
        return float(np.clip(found, *FACTS[metric].range))

    @cached_property
    def _label_scores(self) -> NDArray[Any]:
        """Score of each labelled row, which a search for bounds asks for a thousand times."""
        return np.asarray(self.score[self.labelled])

    @cached_property
    def _told(self) -> dict[tuple[str, float], tuple[float, Limits | None]]:
        """What all rows say at a threshold, kept for that search."""
        return {}

    def _told_at(self, metric: str, threshold: float) -> tuple[float, Limits | None]:
        """Return the flagged rows, and the limits of a metric whatever the chances."""
        key = metric, threshold
        if key not in self._told:
            flagged = float(self.weights[self.score >= threshold].sum())
            self._told[key] = flagged, self.certain_limits(metric, threshold)
        return self._told[key]

    @cached_property
    def _places(self) -> FloatArray:
        """Share of all rows below each labelled one, tied ones counted half."""
        order, scores = np.argsort(self.score, kind="stable"), self.score[self.labelled]
        every, rows = self.score[order], np.append(0.0, np.cumsum(self.weights[order]))
        below, up_to = (
            rows[np.searchsorted(every, scores, side=side)] for side in ("left", "right")
        )
        return np.asarray((below + up_to) / (2 * self.total))

    def label_frequencies(self, group: Any) -> Mapping[Any, Estimate]:
        """Estimate the share of the positives of each group that carry a label."""
        groups = np.asarray(group)
        if groups.shape != self.labels.shape:
            raise InputError(
                f"group must name one for each of {len(self.labels):,} rows; got {groups.shape}"
            )
        z = float(ndtri((1 + self.confidence_level) / 2))
        found = {}
        for each in np.unique(groups[self.labelled]):
            chance = self.chance[self.labelled & (groups == each)]
            stands_for = float((1 / chance).sum())
            value = len(chance) / stands_for
            error = value * math.sqrt(float(((1 - chance) / chance**2).sum())) / stands_for
            ends = max(value - z * error, 0.0), min(value + z * error, 1.0)
            found[each.item()] = Estimate(
                value, *ends, error, self.confidence_level, NEEDS, "harmonic mean"
            )
        return found

    def check(self) -> Check:
        """UC021: labels should not stand for too many positives each."""
        heaviest = float(self.stands_for.max()) / self.positives
        source = "estimated by a classifier" if self.estimated else "given"
        source = source if self.late is None else "told by the dates of labels"
        message = (
            f"labelling chances {source}, from {1 / self.stands_for.max():.2g} to "
            f"{1 / self.stands_for.min():.2g}: {len(self.stands_for):,} labels stand for "
            f"{self.positives:,.0f} positives and are worth {self.effective_size:,.0f} of equal "
            "chance"
        )
        young = 0 if self.late is None else int(np.count_nonzero(~self.late.usable_))
        message += f"; {young:,} rows too young for a label are left out" if young else ""
        if self.effective_size >= FEW_EFFECTIVE and heaviest <= HEAVY:
            return Check(CODES["chances"], "info" if self.estimated else "ok", message)
        return Check(
            CODES["chances"],
            "warn",
            message + f"; one of them stands for {100 * heaviest:.0f} % of all positives",
            "label more rows where chances are small",
        )


def _table_slopes(
    metric: str, hits: float, share: float, flagged: float, beta: float
) -> tuple[float, float, float]:
    """Return how a metric moves with true positives, positives and flagged rows, as shares."""
    step = STEP * max(min(hits, share - hits, flagged - hits), STEP)

    def at(place: tuple[float, float, float]) -> float:
        true, positive, predicted = place
        point = RatePoint(
            np.asarray(true / positive),
            np.asarray((predicted - true) / (1 - positive)),
            np.asarray(positive),
            np.asarray(predicted),
        )
        return float(point.metric(metric, beta))

    here, slopes = (hits, share, flagged), []
    for k in range(len(here)):
        more, less = list(here), list(here)
        more[k] += step
        less[k] -= step
        slopes.append((at(tuple(more)) - at(tuple(less))) / (2 * step))  # type: ignore[arg-type]
    return slopes[0], slopes[1], slopes[2]
