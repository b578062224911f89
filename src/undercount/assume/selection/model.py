"""The selection model: labels of both classes, but only where somebody looked (Cook 2016)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from undercount.assume.selection import checks
from undercount.assume.selection.binary_regression import LINKS
from undercount.assume.selection.fit import LATENT, SelectionFit, fit_scales
from undercount.assume.selection.gaussian_curve import GaussianReader
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.assume.selection.intervals import bootstrap_estimate, rival_estimate
from undercount.assume.selection.profile import Profile, scan_profile
from undercount.assume.selection.roc_band import roc_band
from undercount.assume.selection.sample import read_sample, refuse_collinear, standardise
from undercount.assume.selection.score_scale import MAPS
from undercount.curve import CurveBounds, OperatingCurve, metric_names
from undercount.errors import Check, InputError, check_choice, named
from undercount.estimate import Estimate, Interval, check_confidence_level
from undercount.infer.labelled import labelled_curve

METHODS = (*LATENT, "begg-greenes", "ipw", "doubly-robust")
DISTRIBUTIONS = ("empirical", "normal", "copula")
INTERVALS = ("auto", "delta", "profile", "bootstrap")
CURVE_METRICS = ("roc_auc", "prevalence", "lift_auc", "average_precision", "correlation")
NEEDS = {
    "own-score": ("chosen by the score alone", "probit shape"),
    "observed-score": ("chosen by the two scores alone", "probit shape"),
    "unobserved": ("jointly normal unseen parts",),
    "begg-greenes": ("chosen by the columns alone", "probit shape of the class"),
    "ipw": ("chosen by the columns alone", "every row had a chance", "probit shape of the choice"),
    "doubly-robust": (
        "chosen by the columns alone",
        "every row had a chance",
        "one of two probit shapes",
    ),
}


def refuse_parameters(method: str, distribution: str, scale: str, link: str) -> None:
    """Raise if parameters are unknown or do not belong together."""
    choices = (
        ("method", method, METHODS),
        ("distribution", distribution, DISTRIBUTIONS),
        ("scale", scale, ("auto", *MAPS)),
        ("link", link, tuple(LINKS)),
    )
    for name, given, every in choices:
        check_choice(name, given, every)
    if distribution != "empirical" and method not in LATENT:
        raise InputError(
            f"{method!r} averages over the rows; got {named('distribution', repr(distribution))}. "
            "Leave it at 'empirical'"
        )
    if link != "probit" and method == "ipw":
        raise InputError(
            f"'ipw' does not model the class; got {named('link', repr(link))}. Leave it at 'probit'"
        )
    if link != "probit" and (method == "unobserved" or distribution != "empirical"):
        raise InputError(
            f"{named('link', repr(link))} has no jointly normal parts, which 'unobserved' and the "
            "distributions 'normal' and 'copula' are made of. Leave it at 'probit'"
        )
    if distribution == "copula" and scale not in ("auto", "score"):
        raise InputError(
            f"{named('distribution', repr('copula'))} uses ranks, which are the same on every "
            f"scale; got {named('scale', repr(scale))}. Leave it at 'auto'"
        )


def refuse_columns(method: str, *, covariates: bool, selection_score: bool) -> None:
    """Raise if a method lacks a column, or gets one that it would ignore."""
    if method == "observed-score" and not selection_score:
        raise InputError(
            f"'observed-score' needs {named('selection_score')}, the score that chose the rows"
        )
    if selection_score and method in ("own-score", "unobserved"):
        raise InputError(
            f"{method!r} does not use {named('selection_score')}; "
            f"{named('method', repr('observed-score'))} does"
        )
    if covariates and method in ("own-score", "observed-score"):
        raise InputError(
            f"{method!r} does not use {named('X')}; 'begg-greenes' ({named('X')} explains the "
            f"choice) and 'unobserved' ({named('X')} moves the choice, not the class) do"
        )


def refuse_metric(metric: str, threshold: float | None) -> None:
    """Raise if a metric does not exist, or a threshold is missing or too much."""
    every = [*CURVE_METRICS, "tpr", "fpr", *metric_names()]
    if metric not in every:
        raise InputError(
            f"metric must be one of {', '.join(every)}; got {metric!r}", argument="metric"
        )
    if (threshold is None) != (metric in CURVE_METRICS):
        rule = "takes no threshold" if metric in CURVE_METRICS else "needs a threshold"
        raise InputError(f"{metric} {rule}; got threshold={threshold}")
    if threshold is not None and not np.isfinite(threshold):
        raise InputError(f"threshold must be a finite number; got {threshold}")


def refuse_interval(method: str, interval: str, metric: str, link: str) -> None:
    """Raise if a kind of interval does not exist for a method or metric."""
    if interval not in INTERVALS or (interval == "profile" and method != "unobserved"):
        raise InputError(
            "method must be auto, delta or bootstrap (or profile for 'unobserved'); got "
            f"{interval!r} for {method!r}"
        )
    if metric == "correlation" and link != "probit":
        raise InputError("a logit link has no correlation; use 'probit'")
    if metric == "correlation" and method not in LATENT:
        raise InputError(f"{method!r} has no correlation; use one of {', '.join(LATENT)}")
    if metric == "average_precision" and interval != "bootstrap":
        raise InputError("average_precision has no delta method here; pass method='bootstrap'")


class SelectionModel(BaseEstimator):  # type: ignore[misc] # scikit-learn is untyped
    """Estimate the curve on all rows from labels of both classes on selected rows.

    Parameters
    ----------
    method : str
        Who chose the rows: "own-score" the classifier under test (eq. 14); "observed-score"
        another classifier whose score is known (appendix B); "unobserved" something unseen
        (eq. 15). Or, for rows chosen by known columns: "begg-greenes" (imputation), "ipw" (inverse
        weights), "doubly-robust" (both).
    scale : str
        On which the score enters: the "score" itself, its "logit" or its "probit"; "auto" takes
        the likeliest of those that the scores allow: for scores between 0 and 1 (at most 5 % at
        the ends) all three, else the score itself. Intervals and band ("delta") hold those of
        every scale that the likelihood does not reject.
    link : str
        Shape of the class in the columns: "probit", or "logit" for all methods but "unobserved",
        with the "empirical" distribution. The choice is always a probit.
    distribution : str
        Third step of the first three methods: over the "empirical" distribution of the score; the
        "normal" one of the paper; or a Gaussian "copula" (rank-normalised scores).
    confidence_level : float
        Of every interval and band.
    random_state : int, generator or None
        For the bootstrap and the band.

    Attributes
    ----------
    curve_ : OperatingCurve
        On all rows. For "doubly-robust" it may leave [0, 1] a little; it is not clipped.
    naive_curve_ : OperatingCurve
        On the rows looked at alone, which is biased.
    prevalence_ : float
        Share of positives among all rows: Φ(-p*) for "normal" and "copula".
    correlation_ : float
        ρ_ap of score and latent propensity; NaN for the last three methods.
    latent_threshold_ : float
        p*; NaN for the last three methods.
    error_correlation_ : float
        Correlation r of eq. 15; NaN for the other methods.
    coefficients_ : dict of Estimate
        Coefficients of the probits, for standardised columns.
    model_ : object
        The fitted model behind them.
    scale_, selection_scale_ : str
        Scale on which the score entered, and the selection score.

    Notes
    -----
    Assumes: what `method` names was all that chose the rows, and the class follows a probit.
    Wrong when: whoever chose knew more; only "unobserved" allows that, at the price of wide
    intervals and of resting on normal shapes: alone, unless X moved the choice and not the class.

    References
    ----------
    Cook (2016), ROC curves and nonrandom data. Begg and Greenes (1983), Biometrics 39. Alonzo and
    Pepe (2005), Applied Statistics 54.

    Examples
    --------
    >>> from undercount.assume.selection.model import SelectionModel
    >>> from undercount.theory.simulation import simulate_own_score
    >>> data = simulate_own_score(5000, 0.7, random_state=1)
    >>> model = SelectionModel("own-score").fit(data.score, data.y)
    >>> round(model.naive_curve_.roc_auc, 2), round(model.curve_.roc_auc, 2)
    (0.72, 0.83)
    >>> 0.8296 in model.interval("roc_auc").interval
    True
    """

    def __init__(
        self,
        method: str = "own-score",
        distribution: str = "empirical",
        confidence_level: float = 0.95,
        random_state: int | np.random.Generator | None = None,
        scale: str = "auto",
        link: str = "probit",
    ) -> None:
        self.method = method
        self.distribution = distribution
        self.confidence_level = confidence_level
        self.random_state = random_state
        self.scale = scale
        self.link = link

    def fit(
        self,
        score: ArrayLike,
        y: ArrayLike,
        X: ArrayLike | Mapping[str, ArrayLike] | None = None,
        selection_score: ArrayLike | None = None,
    ) -> "SelectionModel":
        """Fit the model; the score comes first, unlike in the metric functions.

        Exchanging the two is always noticed: labels are missing where nobody looked, scores never.

        Parameters
        ----------
        score : array-like
            Of the classifier under test, for all rows.
        y : array-like
            1 positive, 0 negative, missing where nobody looked.
        X : array-like of shape (n, d), or mapping of names to columns, optional
            Columns that moved the choice.
        selection_score : array-like, optional
            Score of the classifier that chose.
        """
        refuse_parameters(self.method, self.distribution, self.scale, self.link)
        check_confidence_level(self.confidence_level)
        refuse_columns(
            self.method, covariates=X is not None, selection_score=selection_score is not None
        )
        sample = read_sample(score, y, X, selection_score)
        columns = standardise(sample, sample.weight, ranks=False)
        refuse_collinear(sample, columns, among_looked=False)
        if self.method not in ("ipw", "unobserved"):
            refuse_collinear(sample, columns, among_looked=True)
        self._fits = fit_scales(
            self.method, self.distribution, sample, scale=self.scale, link=self.link
        )
        self._fit = self._fits[0]
        self.scale_, self.selection_scale_ = (scale.name for scale in self._fit.columns.scales)
        self._reader = self._fit.reader()
        self._profile: Profile | None = None
        self.model_ = self._fit.model
        self.curve_: OperatingCurve = self._reader.curve
        self.prevalence_: float = self.curve_.prevalence
        self.naive_curve_ = labelled_curve(sample.counts)
        self.correlation_ = self.latent_threshold_ = self.error_correlation_ = float("nan")
        if isinstance(latent := self._fit.reader("correlation"), GaussianReader):
            self.correlation_, self.latent_threshold_ = latent.latent()
        if isinstance(self.model_, HiddenModel):
            self.error_correlation_ = self.model_.fit.error_correlation
        self.coefficients_ = self._coefficients()
        return self

    def interval(
        self,
        metric: str,
        threshold: float | None = None,
        method: Literal["auto", "delta", "profile", "bootstrap"] = "auto",
        *,
        n_resamples: int = 400,
    ) -> Estimate:
        """Return a metric of all rows with its interval.

        Parameters
        ----------
        metric : str
            "roc_auc", "prevalence", "lift_auc", "correlation", "average_precision" (bootstrap
            only), or any metric of an `OperatingPoint`.
        threshold : float, optional
            For the latter: rows with ``score >= threshold`` are predicted positive.
        method : str
            "delta" from the likelihood; "bootstrap" refits on resampled rows; "profile" (only for
            "unobserved") follows the likelihood along the error correlation, far from a parabola,
            with simulated critical values; "auto" takes that where it exists and else "delta".
        n_resamples : int
            Of the bootstrap.

        Notes
        -----
        Assumes: as the model does; the target is the population behind all rows.
        Wrong when: an assumption fails, which no interval knows.
        """
        self._refuse_unfitted()
        refuse_metric(metric, threshold)
        if method == "auto":
            method = "profile" if self.method == "unobserved" else "delta"
        refuse_interval(self.method, method, metric, self.link)
        question = (metric, threshold, self.confidence_level)
        if method == "delta":
            found = rival_estimate([fit for _, fit in self._rivals()], *question)
        elif method == "profile":
            found = self._scan().estimate(*question)
        else:
            found = bootstrap_estimate(self._fit, *question, n_resamples, self.random_state)
        return replace(found, needs=self._needs, method=method)

    def band(self, *, simultaneous: bool = True) -> CurveBounds:
        """Return a confidence band of the ROC curve, at each false-positive rate.

        Parameters
        ----------
        simultaneous : bool
            Whether the whole curve (default) or only each point is covered with the confidence.
        """
        self._refuse_unfitted()
        points = [(loss, fit.reader()) for loss, fit in self._rivals()]
        if isinstance(self.model_, HiddenModel):
            pairs = zip(self._scan().loss, self._scan().readers("roc_auc"), strict=True)
            points = [(float(loss), reader) for loss, reader in pairs if loss <= self._limit]
        rest = (self._reader, self.confidence_level, self.random_state)
        return roc_band(points, *rest, simultaneous=simultaneous)

    def error_correlation_interval(self) -> Interval:
        """Return the profile interval of the error correlation of eq. 15."""
        self._refuse_unfitted()
        return self._scan().interval(self.confidence_level)

    def checks(self) -> list[Check]:
        """Check what can be checked, in plain words; what cannot be, no check can promise."""
        self._refuse_unfitted()
        model, sample = self.model_, self._fit.sample
        found = list(checks.check_sample(sample, self.curve_, model))
        if self.method in ("own-score", "observed-score"):
            found.append(checks.check_rule(sample, self.method))
        if self.method in LATENT:
            found.append(checks.check_normality(self._fit))
        found.extend(checks.check_shape(model, self.distribution))
        if isinstance(model, HiddenModel):
            found.append(checks.check_normal_shape(model))
            interval = self.error_correlation_interval()
            found.append(checks.check_identification(model, interval, self.confidence_level))
        elif model.selection is not None:
            found.append(checks.check_positivity(model))
        return found

    def extrapolates(self, metric: str, threshold: float | None = None) -> str:
        """Say what makes a metric the model's word rather than the labels'; empty if nothing.

        That most rows it speaks of lie where nobody looked: for precision the flagged rows alone,
        for the other metrics all rows. With "unobserved" also that a normal shape alone tells how
        the choice and the class hang together.
        """
        self._refuse_unfitted()
        at = threshold if metric in checks.OF_FLAGGED_ROWS else None
        return checks.model_alone_words(self._fit.sample, self.model_, at)

    def checks_of(self, metric: str, threshold: float | None = None) -> list[Check]:
        """Run the checks that a metric rests on.

        Precision of rows whose scores were looked at does not rest on what lies beyond them.
        """
        found = self.checks()
        if metric in checks.OF_FLAGGED_ROWS:
            share = checks.share_by_model(self._fit.sample, self.model_, threshold)
            if share < checks.SMALL_PART:
                return [check for check in found if check.code != checks.EXTRAPOLATION]
        return found

    @property
    def _limit(self) -> float:
        """Twice the log-likelihood that a fit may lose to the best and not be rejected."""
        return float(ndtri(0.5 + self.confidence_level / 2)) ** 2

    def _rivals(self) -> list[tuple[float, SelectionFit]]:
        """Fits on all scales of the score that the labels do not reject, with what they lose."""
        best = self._fit.model.log_likelihood
        losses = [2 * (best - fit.model.log_likelihood) for fit in self._fits]
        pairs = zip(losses, self._fits, strict=True)
        return [(loss, fit) for loss, fit in pairs if loss <= self._limit]

    def _scan(self) -> Profile:
        if self._profile is None:
            self._profile = scan_profile(self._fit)
        return self._profile

    def _coefficients(self) -> dict[str, Estimate]:
        values, errors = self.model_.coefficients, np.sqrt(np.diag(self.model_.covariance))
        reach = ndtri(0.5 + self.confidence_level / 2) * errors
        found = np.column_stack([values, values - reach, values + reach, errors]).tolist()
        level, needs = self.confidence_level, self._needs
        pairs = zip(self.model_.names, found, strict=True)
        return {
            name: Estimate(value, low, high, error, level, needs, "likelihood")
            for name, (value, low, high, error) in pairs
        }

    @property
    def _needs(self) -> tuple[str, ...]:
        if self.method == "unobserved" and self._fit.sample.names:
            return (*NEEDS[self.method], "columns that moved the choice alone")
        if self.link == "probit":
            return NEEDS[self.method]
        if self.method == "doubly-robust":
            return (*NEEDS[self.method][:2], "logit of the class or probit of the choice")
        return tuple(need.replace("probit", self.link) for need in NEEDS[self.method])

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError("the model is not fitted yet; call fit(score, y) first")
