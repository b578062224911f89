"""The Beta posterior from a few verified unlabeled rows (Claesen et al. 2015)."""

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaincinv

from undercount.errors import InputError, check_choice
from undercount.estimate import Interval
from undercount.prevalence.base import Fitted, PrevalenceEstimator

CREDIBLE_INTERVALS = ("equal-tailed", "highest-density")


class VerifiedSample(PrevalenceEstimator):
    """Estimate the share of positives from unlabeled rows that somebody has looked at.

    With k positives among v verified rows and a Beta(b, d) prior the share has a
    Beta(b + k, d + v - k) posterior.

    Parameters
    ----------
    prior : (float, float)
        Parameters of the Beta prior; (1, 1) is uniform.
    kind : {"equal-tailed", "highest-density"}
        Of the credible interval.
    confidence_level : float

    Attributes
    ----------
    unlabeled_prevalence_ : float
        Posterior mean.
    interval_ : Interval
    diagnostics_ : dict
        ``posterior``: the two parameters; ``n_positive``, ``n_verified``.

    Notes
    -----
    Assumes: the verified rows are a random sample of the unlabeled ones, and verification is
    right.
    Wrong when: the rows to look at were picked by score or convenience.

    Examples
    --------
    >>> from undercount.prevalence import VerifiedSample
    >>> sample = VerifiedSample().fit([1, 0, 0, 1, 0, 0, 0, 0, 1, 0])
    >>> round(sample.unlabeled_prevalence_, 3), round(sample.interval_.low, 3)
    (0.333, 0.109)
    """

    _needs = ("verified rows drawn at random",)

    def __init__(
        self,
        *,
        prior: tuple[float, float] = (1.0, 1.0),
        kind: str = "equal-tailed",
        confidence_level: float = 0.95,
    ) -> None:
        super().__init__(confidence_level=confidence_level, n_resamples=0)
        self.prior = prior
        self.kind = kind

    def fit(self, y: Any) -> Self:
        """Read the verified labels: 1 positive, 0 negative, nothing missing."""
        labels = np.asarray(y, float).ravel()
        if labels.size == 0 or not np.all((labels == 0) | (labels == 1)):
            raise InputError(
                "verified labels must be 0 or 1, at least one row; none may be missing"
            )
        return self.fit_counts(int(labels.sum()), labels.size)

    def fit_counts(self, n_positive: float, n_verified: float) -> Self:
        """Read the number of positives among the number of verified rows."""
        self._check_parameters()
        check_choice("kind", self.kind, CREDIBLE_INTERVALS)
        if min(self.prior) <= 0:
            raise InputError(f"both parameters of the prior must be positive; got {self.prior}")
        if not 0 <= n_positive <= n_verified or n_verified <= 0:
            raise InputError(
                f"0 <= n_positive <= n_verified must hold; got {n_positive} of {n_verified}"
            )
        b, d = self.prior[0] + n_positive, self.prior[1] + n_verified - n_positive
        tail = _low_tail(b, d, self.confidence_level, self.kind)
        low, high = betaincinv(b, d, [tail, tail + self.confidence_level])
        error = np.sqrt(b * d / (b + d + 1)) / (b + d)
        fitted = Fitted(
            b / (b + d),
            interval=Interval(float(low), float(high)),
            standard_error=float(error),
            diagnostics={"posterior": (b, d), "n_positive": n_positive, "n_verified": n_verified},
        )
        # Verified rows count as labelled ones; the size of the rest plays no part.
        return self._store(fitted, np.empty(0), n_positive, n_verified)

    def _store_prevalence(self, purity: float) -> None:
        """Do nothing: a verified sample says nothing of the labelled rows."""


def _low_tail(b: float, d: float, level: float, kind: str) -> float:
    """Return the probability below the interval; the shortest interval has the highest density."""
    if kind == "equal-tailed":
        return (1 - level) / 2
    if b <= 1 or d <= 1:  # the density has its mode at an end
        return 0.0 if b <= d else 1 - level

    def width(tail: float) -> float:
        low, high = betaincinv(b, d, [tail, tail + level])
        return float(high - low)

    optimum = minimize_scalar(
        width, bounds=(0.0, 1 - level), method="bounded", options={"xatol": 1e-10}
    )
    return float(optimum.x)
