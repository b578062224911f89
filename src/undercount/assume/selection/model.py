"""A fitted selection model with everything that it tells: metrics, band, checks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from undercount.assume.selection import checks
from undercount.assume.selection.fit import LATENT, SelectionFit
from undercount.assume.selection.gaussian_curve import GaussianReader
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.assume.selection.intervals import bootstrap_estimate, draw_fits, rival_estimate
from undercount.assume.selection.profile import Profile, scan_profile
from undercount.assume.selection.roc_band import roc_band
from undercount.assume.selection.sample import SelectionSample
from undercount.curve import CurveBounds, OperatingCurve
from undercount.errors import Check, InputError
from undercount.estimate import Estimate, Interval
from undercount.infer.heads import threshold_of_top
from undercount.infer.labelled import labelled_curve
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import Target

IntervalKind: TypeAlias = Literal["auto", "delta", "profile", "bootstrap"]
ASSUMED = {
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


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """Hold a selection model as fitted on each scale of the score, and read it.

    Attributes
    ----------
    fits : sequence of SelectionFit
        On all scales that the scores allow, the likeliest first.
    confidence_level : float
        Of every interval and band.
    random_state : int, optional
        For resamples and the band.
    n_resamples : int
        Resamples of rows, or clusters, where nothing else tells an interval.
    choosers : str
        What chose the rows where models are compared, any of which may have; empty for one model.

    Notes
    -----
    Assumes: what the method names was all that chose the rows, and the class follows a probit.
    Wrong when: whoever chose knew more; only "unobserved" allows that, at the price of wide
    intervals and of resting on normal shapes: alone, unless columns moved the choice and not the
    class.

    References
    ----------
    Cook (2016), ROC curves and nonrandom data. Begg and Greenes (1983), Biometrics 39. Alonzo and
    Pepe (2005), Applied Statistics 54.
    """

    fits: Sequence[SelectionFit]
    confidence_level: float = 0.95
    random_state: int | None = 0
    n_resamples: int = 200
    choosers: str = ""

    @property
    def fit(self) -> SelectionFit:
        """The fit on the likeliest scale."""
        return self.fits[0]

    @property
    def method(self) -> str:
        """Who chose the rows."""
        return self.fit.method

    @property
    def sample(self) -> SelectionSample:
        """The rows."""
        return self.fit.sample

    @property
    def scales(self) -> tuple[str, str]:
        """Scale on which the score entered, and the selection score."""
        one, other = self.fit.columns.scales
        return one.name, other.name

    @property
    def fitted(self) -> dict[str, str]:
        """What was fitted, by name."""
        scale, other = self.scales
        names = {"method": self.method, "distribution": self.fit.distribution}
        return {**names, "link": self.fit.link, "scale": scale, "selection_scale": other}

    @cached_property
    def curve(self) -> OperatingCurve:
        """The curve of all rows; of "doubly-robust" it may leave [0, 1] a little, unclipped."""
        return self.fit.reader().curve

    @property
    def prevalence(self) -> float:
        """Share of positives among all rows: Φ(-p*) for "normal" and "copula"."""
        return self.curve.prevalence

    @cached_property
    def naive_curve(self) -> OperatingCurve:
        """The curve of the rows looked at alone, which is biased."""
        return labelled_curve(self.sample.counts)

    @cached_property
    def _latent(self) -> tuple[float, float]:
        latent = self.fit.reader("correlation")
        return latent.latent() if isinstance(latent, GaussianReader) else (np.nan, np.nan)

    @property
    def correlation(self) -> float:
        """ρ_ap of score and latent propensity; NaN for the last three methods."""
        return self._latent[0]

    @property
    def latent_threshold(self) -> float:
        """p*; NaN for the last three methods."""
        return self._latent[1]

    @property
    def error_correlation(self) -> float:
        """Correlation r of eq. 15; NaN for the other methods."""
        model = self.fit.model
        return model.fit.error_correlation if isinstance(model, HiddenModel) else float("nan")

    @cached_property
    def coefficients(self) -> dict[str, Estimate]:
        """Coefficients of the probits, for standardised columns."""
        model = self.fit.model
        values, errors = model.coefficients, np.sqrt(np.diag(model.covariance))
        reach = ndtri(0.5 + self.confidence_level / 2) * errors
        columns = np.column_stack([values, values - reach, values + reach, errors]).tolist()
        level, needs = self.confidence_level, self.needs
        return {
            name: Estimate(value, low, high, error, level, needs, "likelihood")
            for name, (value, low, high, error) in zip(model.names, columns, strict=True)
        }

    def estimate(
        self, at: MetricAt, kind: IntervalKind = "auto", target: Target = "population"
    ) -> Estimate:
        """Return a metric of all rows with its interval.

        Parameters
        ----------
        at : MetricAt
            A metric at its place, "prevalence" or "correlation".
        kind : str
            "delta" from the likelihood; "bootstrap" refits on resampled rows; "profile" (only for
            "unobserved") follows the likelihood along the error correlation, far from a parabola,
            with simulated critical values; "auto" takes that where it exists, the bootstrap where
            rows of "unobserved" weigh differently or come in clusters, and else "delta".
        target : {"dataset", "population"}
            What a "delta" interval speaks of.

        Notes
        -----
        Assumes: as the model does.
        Wrong when: an assumption fails, which no interval knows.
        """
        if at.metric == "correlation" and (self.method not in LATENT or self.fit.link != "probit"):
            raise InputError(f"{self.method!r} has no correlation with link {self.fit.link!r}")
        level, usual = self.confidence_level, self._usual_kind if kind == "auto" else kind
        if usual == "delta":
            fits = [fit for _, fit in self._rivals]
            estimate = rival_estimate(fits, at, level, target)
        elif usual == "profile":
            estimate = self.profile.estimate(at, level)
        else:
            estimate = bootstrap_estimate(self.fit, at, level, self.drawn)
        return replace(estimate, needs=self.needs, method=usual)

    @property
    def resampled(self) -> bool:
        """Whether differences take resamples: the likelihood of "unobserved" is no parabola."""
        return self.method == "unobserved"

    @property
    def _usual_kind(self) -> IntervalKind:
        if not self.resampled:
            return "delta"
        return "profile" if self.sample.unit is None else "bootstrap"

    @cached_property
    def drawn(self) -> list[SelectionFit | None]:
        """The model fitted again to resampled rows, or clusters."""
        return draw_fits(self.fit, self.n_resamples, self.random_state)

    def band(self) -> CurveBounds:
        """Return a confidence band of the whole ROC curve, at each false-positive rate."""
        points = [(loss, fit.reader()) for loss, fit in self._rivals]
        if isinstance(self.fit.model, HiddenModel):
            pairs = zip(self.profile.loss, self.profile.readers("roc_auc"), strict=True)
            points = [(float(loss), reader) for loss, reader in pairs if loss <= self._limit]
        rest = (self.fit.reader(), self.confidence_level, self.random_state)
        return roc_band(points, *rest)

    def error_correlation_interval(self) -> Interval:
        """Return the profile interval of the error correlation of eq. 15."""
        return self.profile.interval(self.confidence_level)

    def checks(self) -> list[Check]:
        """Check what can be checked, in plain words; what cannot be, no check can promise."""
        model, sample = self.fit.model, self.sample
        findings = list(checks.check_sample(sample, self.curve, model))
        # Where models are compared, no score alone is supposed to have chosen.
        if self.method in ("own-score", "observed-score") and not self.choosers:
            findings.append(checks.check_rule(sample, self.method))
        if self.method in LATENT:
            findings.append(checks.check_normality(self.fit))
        findings.extend(checks.check_shape(model, self.fit.distribution))
        if isinstance(model, HiddenModel):
            findings.append(checks.check_normal_shape(model))
            interval = self.error_correlation_interval()
            findings.append(checks.check_identification(model, interval, self.confidence_level))
        elif model.selection is not None:
            findings.append(checks.check_positivity(model))
        return findings

    def extrapolates(self, at: MetricAt) -> str:
        """Say what makes a metric the model's word rather than the labels'; empty if nothing.

        That most rows it speaks of lie where nobody looked: for precision the flagged rows alone,
        for the other metrics all rows. With "unobserved" also that a normal shape alone tells how
        the choice and the class hang together.
        """
        return checks.model_alone_words(self.sample, self.fit.model, self._flagging(at))

    @property
    def beyond_looked(self) -> tuple[str, ...]:
        """The codes of checks that speak of rows beyond those looked at."""
        return (checks.EXTRAPOLATION,)

    def rests_on_looked(self, at: MetricAt) -> bool:
        """Whether a metric speaks of rows whose scores were looked at, whatever others there are.

        Precision of rows whose scores were looked at does not rest on what lies beyond them.
        """
        flagging = self._flagging(at)
        if flagging is None:
            return False
        return checks.share_by_model(self.sample, self.fit.model, flagging) < checks.SMALL_PART

    def _flagging(self, at: MetricAt) -> float | None:
        """Return the threshold of a metric that speaks of the flagged rows alone."""
        if at.metric not in checks.OF_FLAGGED_ROWS:
            return None
        if at.top is not None:
            return threshold_of_top(self.sample.counts, at.top)[0]
        return at.threshold

    @property
    def _limit(self) -> float:
        """Twice the log-likelihood that a fit may lose to the best and not be rejected."""
        return float(ndtri(0.5 + self.confidence_level / 2)) ** 2

    @cached_property
    def _rivals(self) -> list[tuple[float, SelectionFit]]:
        """Fits on all scales of the score that the labels do not reject, with what they lose."""
        best = self.fit.model.log_likelihood
        losses = [2 * (best - fit.model.log_likelihood) for fit in self.fits]
        pairs = zip(losses, self.fits, strict=True)
        return [(loss, fit) for loss, fit in pairs if loss <= self._limit]

    @cached_property
    def profile(self) -> Profile:
        """The likelihood along the error correlation of eq. 15."""
        return scan_profile(self.fit)

    @property
    def needs(self) -> tuple[str, ...]:
        """What every number rests on."""
        needs, link = ASSUMED[self.method], self.fit.link
        if self.choosers:
            needs = (f"chosen by {self.choosers} alone", *needs[1:])
        if self.method == "unobserved" and self.sample.names:
            return (*needs, "columns that moved the choice alone")
        if link == "probit":
            return needs
        if self.method == "doubly-robust":
            return (*needs[:2], "logit of the class or probit of the choice")
        return tuple(need.replace("probit", link) for need in needs)
