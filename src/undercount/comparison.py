"""Several models on the same rows: which is better, and does that depend on the prevalence."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from undercount.assume.mixture import mixture_curve
from undercount.curve import Estimate
from undercount.errors import InputError
from undercount.evaluation import Evaluation, evaluate
from undercount.rates import FloatArray
from undercount.rows import read_labels, read_scores
from undercount.sensitivity import largest_share, with_share
from undercount.shares import Shares
from undercount.uncertainty.paired import (
    Placements,
    auc_difference,
    lift_difference,
    placements,
)
from undercount.uncertainty.resampled import resampled_differences

# Orders that are the same at every prevalence; F1, accuracy and average precision can flip.
FIXED_ORDER = frozenset(
    {
        "roc_auc",
        "lift_auc",
        "recall",
        "informedness",
        "balanced_accuracy",
        "precision",
        "lift",
        "lee_liu",
        "mcc",
        "specificity",
    }
)
AREAS = ("roc_auc", "lift_auc", "average_precision")
POINTS = ("recall", "precision", "f1", "mcc", "accuracy")
GRID = 201


@dataclass(frozen=True)
class Difference:
    """Hold how much better one model is than another in one metric.

    Attributes
    ----------
    better_probability : float
        Probability that `one` is better, over sampling and the prevalence's uncertainty.
    p_value, adjusted_p_value : float
        Two-sided, and Holm-adjusted over all pairs of models for the metric.
    depends_on_prevalence : bool
        Whether the order of the two could flip with the prevalence.
    crossover : float
        Share of hidden positives at which it does; NaN if it does not within what data allow.

    Examples
    --------
    >>> import undercount as uc
    >>> gap = uc.Estimate(0.02, 0.01, 0.03, 0.005)
    >>> uc.Difference("roc_auc", "a", "b", gap, 0.99, 0.001, 0.001, False, float("nan")).one
    'a'
    """

    metric: str
    one: str
    other: str
    difference: Estimate
    better_probability: float
    p_value: float
    adjusted_p_value: float
    depends_on_prevalence: bool
    crossover: float


@dataclass(frozen=True)
class Comparison:
    """Hold the evaluations of several models on the same rows and their paired differences.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.3
    >>> y = np.where(truth & (rng.random(2000) < 0.5), 1, 0)
    >>> good, poor = rng.normal(2 * truth), rng.normal(truth)
    >>> comparison = uc.compare(y, {"good": good, "poor": poor}, unlabeled=0, prevalence=0.3)
    >>> comparison.difference("roc_auc").better_probability > 0.99
    True
    """

    evaluations: Mapping[str, Evaluation]
    differences: tuple[Difference, ...]

    def difference(
        self, metric: str, one: str | None = None, other: str | None = None
    ) -> Difference:
        """Return the difference of two models (the first pair if none is named)."""
        for found in self.differences:
            if found.metric == metric and one in (None, found.one) and other in (None, found.other):
                return found
        known = sorted({found.metric for found in self.differences})
        raise InputError(
            f"no difference of {one} and {other} in {metric!r}; metrics: {', '.join(known)}"
        )

    def table(self) -> dict[str, list[Any]]:
        """Return the differences as columns, ready for any data frame's constructor."""
        names = ("metric", "one", "other")
        columns: dict[str, list[Any]] = {
            n: [getattr(d, n) for d in self.differences] for n in names
        }
        columns["difference"] = [d.difference.value for d in self.differences]
        columns["low"] = [d.difference.low for d in self.differences]
        columns["high"] = [d.difference.high for d in self.differences]
        for name in ("better_probability", "p_value", "adjusted_p_value", "crossover"):
            columns[name] = [getattr(d, name) for d in self.differences]
        return columns

    def __str__(self) -> str:
        from undercount.report.compared import as_text  # noqa: PLC0415 - the layer above

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)


def compare(
    y: Any,
    scores: Mapping[str, Any],
    *,
    threshold: float | Mapping[str, float] | None = None,
    unlabeled: float | None = None,
    random_state: int | None = 0,
    n_resamples: int = 500,
    **options: Any,
) -> Comparison:
    """Compare models on the same rows.

    Areas under ROC and lift curves by paired placements (DeLong et al. 1988, on labelled and
    unlabeled rows); the rest by resampling rows with all models' scores together. If no
    prevalence is given, the estimate from the first model's scores is used for all.

    Parameters
    ----------
    y : array-like
        Labels as in `evaluate`.
    scores : mapping
        Name of each model → its scores.
    threshold : float or mapping, optional
        One for all models or one a model; adds metrics at a threshold.
    unlabeled, random_state : optional
        As in `evaluate`.
    n_resamples : int
        Resamples for metrics without a closed form.
    **options
        The other arguments of `evaluate`.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives, for every model alike.
    Wrong when: one of the models was used to decide which rows to label.

    Examples
    --------
    >>> import undercount as uc
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.random(2000) < 0.3
    >>> y = truth & (rng.random(2000) < 0.5)
    >>> models = {"a": rng.normal(1.5 * truth), "b": rng.normal(truth)}
    >>> comparison = uc.compare(y, models, unlabeled=0, prevalence=0.3)
    >>> comparison.difference("roc_auc").depends_on_prevalence
    False
    """
    if len(scores) < 2:  # noqa: PLR2004 - a comparison needs two
        raise InputError(f"compare needs at least two models; got {list(scores)}")
    thresholds = _thresholds(threshold, scores)
    evaluations: dict[str, Evaluation] = {}
    for name, score in scores.items():
        if evaluations and not {"prevalence", "unlabeled_prevalence", "label_frequency"} & set(
            options
        ):
            options["unlabeled_prevalence"] = _as_share(next(iter(evaluations.values())).shares)
        evaluations[name] = evaluate(
            y,
            score,
            unlabeled=unlabeled,
            threshold=thresholds.get(name),
            name=name,
            random_state=random_state,
            **options,
        )
    labels = read_labels(y, unlabeled)
    rows = {
        name: np.asarray(read_scores(score), dtype=np.float64) for name, score in scores.items()
    }
    paired = _Paired(labels == 1, rows, evaluations, thresholds, n_resamples, random_state)
    metrics = (*AREAS, *POINTS) if thresholds else AREAS
    found = [d for metric in metrics for d in _holm(paired.differences(metric))]
    return Comparison(evaluations, tuple(found))


def _as_share(shares: Shares) -> Any:
    span, value = shares.unlabeled_prevalence_interval, shares.unlabeled_prevalence
    if span is None:
        return value
    return Estimate(value, span.low, span.high, shares.unlabeled_prevalence_error)


def _thresholds(
    threshold: float | Mapping[str, float] | None, scores: Mapping[str, Any]
) -> dict[str, float]:
    if threshold is None:
        return {}
    if isinstance(threshold, Mapping):
        missing = [name for name in scores if name not in threshold]
        if missing:
            raise InputError(f"threshold must name every model; {', '.join(missing)} is missing")
        return {name: float(threshold[name]) for name in scores}
    return dict.fromkeys(scores, float(threshold))


class _Paired:
    """Differences of every pair of models on the same rows."""

    def __init__(
        self,
        labelled: Any,
        rows: Mapping[str, FloatArray],
        evaluations: Mapping[str, Evaluation],
        thresholds: Mapping[str, float],
        n_resamples: int,
        random_state: int | None,
    ) -> None:
        self.evaluations, self.thresholds = evaluations, thresholds
        self.places: dict[str, Placements] = {n: placements(s, labelled) for n, s in rows.items()}
        first = next(iter(evaluations.values()))
        self.shares, self.counts = first.shares, first.counts
        self.target, self.level = first.target, first.confidence_level
        self.resampled = resampled_differences(
            labelled,
            rows,
            thresholds,
            self.shares,
            n_resamples=n_resamples,
            random_state=random_state,
            labels_only=self.target == "dataset",
        )

    def differences(self, metric: str) -> list[Difference]:
        """Return the difference of each pair in one metric."""
        return [
            self._pair(metric, one, other)
            for one, other in itertools.combinations(self.evaluations, 2)
        ]

    def _pair(self, metric: str, one: str, other: str) -> Difference:
        value, error = self._gap(metric, one, other)
        z = float(ndtri(0.5 + self.level / 2))
        estimate = Estimate(
            value,
            value - z * error,
            value + z * error,
            error,
            self.level,
            self._row(one, metric).estimate.needs,
            "paired",
        )
        p_value = float(2 * ndtr(-abs(value) / error)) if error > 0 else float(value == 0)
        depends = metric not in FIXED_ORDER
        return Difference(
            metric,
            one,
            other,
            estimate,
            self._better(metric, one, other, value, error),
            p_value,
            p_value,
            depends,
            self._crossover(metric, one, other) if depends else math.nan,
        )

    def _row(self, name: str, metric: str) -> Any:
        return next(row for row in self.evaluations[name].rows if row.metric == metric)

    def _gap(self, metric: str, one: str, other: str) -> tuple[float, float]:
        """Return difference and standard error."""
        gap = self.shares.label_purity - self.shares.unlabeled_prevalence
        if metric in ("roc_auc", "lift_auc"):
            prevalence = self.shares.prevalence(self.counts)
            if self.target == "dataset" and self.shares.label_purity == 1:
                frequency = self.shares.label_frequency(self.counts)
                value, error = lift_difference(self.places[one], self.places[other], frequency)
                scale = 1 - prevalence if metric == "roc_auc" else 1.0
            else:
                value, error = auc_difference(self.places[one], self.places[other])
                scale = gap if metric == "roc_auc" else gap / (1 - prevalence)
            return value / scale, error / scale
        value = self._row(one, metric).estimate.value - self._row(other, metric).estimate.value
        return value, float(np.std(self.resampled(metric, one, other), ddof=1))

    def _value(self, name: str, metric: str, share: float) -> float:
        curve = mixture_curve(
            self.evaluations[name].counts, with_share(self.shares, share), clean=False
        )
        reading: Any = curve if metric in AREAS else curve.at(self.thresholds[name])
        return float(getattr(reading, metric))

    def _crossover(self, metric: str, one: str, other: str) -> float:
        """Find the hidden share at which the order flips, by the sign of the difference."""
        top = min(
            largest_share(e.counts, self.shares.label_purity) for e in self.evaluations.values()
        )
        grid = np.linspace(0, max(top - 1e-6, 0.0), GRID)
        gaps = np.array([self._value(one, metric, s) - self._value(other, metric, s) for s in grid])
        flips = np.flatnonzero(gaps[1:] * gaps[:-1] < 0)
        if not flips.size:
            return math.nan
        i = int(flips[0])
        return float(grid[i] + (grid[i + 1] - grid[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))

    def _better(self, metric: str, one: str, other: str, value: float, error: float) -> float:
        """Average the probability that `one` is better over the prevalence's uncertainty."""
        spread = self.shares.unlabeled_prevalence_error
        if error == 0:
            return 0.5 if value == 0 else float(value > 0)
        if metric in FIXED_ORDER or spread == 0:
            return float(ndtr(value / error))
        nodes, weights = np.polynomial.hermite_e.hermegauss(9)
        shares = self.shares.unlabeled_prevalence + spread * nodes
        shares = np.clip(shares, 0, self.shares.label_purity - 1e-6)
        gaps = [
            self._value(one, metric, float(s)) - self._value(other, metric, float(s))
            for s in shares
        ]
        return float(np.average(ndtr(np.array(gaps) / error), weights=weights))


def _holm(differences: Sequence[Difference]) -> list[Difference]:
    """Adjust p-values for several pairs (Holm 1979)."""
    order = sorted(range(len(differences)), key=lambda i: differences[i].p_value)
    adjusted, largest = [0.0] * len(differences), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(differences) - rank) * differences[i].p_value))
        adjusted[i] = largest
    return [
        Difference(**{**vars(d), "adjusted_p_value": p})
        for d, p in zip(differences, adjusted, strict=True)
    ]
