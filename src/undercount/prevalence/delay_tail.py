"""The labels that take longer than the oldest row had: a tail that nobody has seen."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from undercount.curve import FloatArray
from undercount.prevalence.delays import DelayDistribution

# The tail is told by the delays beyond this part of those seen; sooner ones may be of another kind.
TAIL_FROM_QUANTILE = 0.25
# Forms of the tail: shapes, and medians as parts of the longest window.
WEIBULL_SHAPES, MEDIANS = np.geomspace(0.35, 5.0, 60), np.geomspace(0.01, 5.0, 80)
# Distinct windows that a likelihood looks at.
WINDOWS = 90
# Standard errors of a two-sided 95 % interval, at whose end the error of a tail is taken.
ERRORS_TO_END = float(ndtri(0.975))
# Log likelihoods that far below the best are still near: half of the 95 % point of chi-square with
# three degrees of freedom, since form, shape and median are all unknown.
NEAR_LOG_LIKELIHOOD = float(chdtri(3, 0.05)) / 2
LOWEST = 1e-300


@dataclass(frozen=True)
class DelayTail:
    """Hold how many labels take longer than the longest window, for each that does not.

    Delays beyond the first quarter are taken for Weibull's or log-normal ones, cut off at each
    row's window, whichever fit better: the form of most likelihood tells the part that comes after
    the longest window, and those within 3.9 of it in log likelihood (95 % of chi-square with three
    degrees of freedom: form, shape, median) how large that can be.

    Attributes
    ----------
    unseen, high : float
        Labels to come for each label seen, and their upper limit (likelihood region of 95 %).

    Notes
    -----
    Assumes: long delays go on as they were, in one of both forms.
    Wrong when: a second kind of label, far slower, comes after the oldest row's time.

    References
    ----------
    Kalbfleisch and Lawless 1989, JASA 84.
    """

    unseen: float
    high: float

    @classmethod
    def of(cls, delay: FloatArray, window: FloatArray, delays: DelayDistribution) -> "DelayTail":
        """Estimate from the labels that took long.

        Examples
        --------
        >>> import numpy as np
        >>> from undercount.prevalence.delay_tail import DelayTail
        >>> from undercount.prevalence.delays import DelayDistribution
        >>> rng = np.random.default_rng(0)
        >>> delay, window = rng.exponential(100, 20_000), rng.uniform(0, 360, 20_000)
        >>> seen = delay <= window
        >>> rows = delay[seen], window[seen]
        >>> tail = DelayTail.of(*rows, DelayDistribution.of(*rows, 30))
        >>> bool(tail.unseen < np.exp(-3.6) / (1 - np.exp(-3.6)) < tail.high)  # of each seen
        True
        """
        longest = float(window.max())
        begin = delays.quantile(TAIL_FROM_QUANTILE)
        some = (delay > begin) & (window > begin)
        part = 1 - float(delays.chance(np.array([begin]))[0])
        if part <= 0 or not some.any() or not 0 < begin < longest:
            return cls(0.0, 0.0)
        rows = delay[some] / longest, window[some] / longest, begin / longest
        fits, laters = zip(*(_fit(*rows, form) for form in (_Weibull, _LogNormal)), strict=True)
        fit, later = np.concatenate(fits), part * np.concatenate(laters)
        near = fit >= fit.max() - NEAR_LOG_LIKELIHOOD
        return cls(float(later[int(np.argmax(fit))]), float(later[near].max()))

    @property
    def arrives(self) -> float:
        """The part of all labels that come within the longest window."""
        return 1 / (1 + self.unseen)

    @property
    def error(self) -> float:
        """Standard error of the logarithm of that part, by the longer side of its interval."""
        return math.log((1 + self.high) / (1 + self.unseen)) / ERRORS_TO_END


def _fit(
    delay: FloatArray, window: FloatArray, begin: float, form: "type[_Weibull | _LogNormal]"
) -> tuple[FloatArray, FloatArray]:
    """Return the log likelihood of each shape and median, and what comes after the window 1."""
    ends = np.quantile(window, np.linspace(0, 1, WINDOWS + 1))
    place = np.clip(np.searchsorted(ends, window, side="right") - 1, 0, WINDOWS - 1)
    rows = np.bincount(place, minlength=WINDOWS)
    middle = np.bincount(place, window, WINDOWS)[rows > 0] / rows[rows > 0]
    shapes, medians = np.meshgrid(WEIBULL_SHAPES, MEDIANS, indexing="ij")
    tails = form(shapes.ravel(), medians.ravel())
    inside = tails.mass(begin, middle)
    possible = inside.min(axis=0) > LOWEST
    fit = tails.log_density(delay) - rows[rows > 0] @ np.log(np.maximum(inside, LOWEST))
    seen, after = tails.mass(begin, np.array([1.0]))[0], tails.survival(1.0)
    return np.where(possible, fit, -np.inf), after / np.maximum(seen, LOWEST)


class _Weibull:
    """Delays with survival 2^-(x/median)^shape."""

    def __init__(self, shape: FloatArray, median: FloatArray) -> None:
        self.shape, self.median = shape, median

    def survival(self, at: float) -> FloatArray:
        """Return the chance of a longer delay."""
        return np.asarray(np.exp(-math.log(2) * (at / self.median) ** self.shape))

    def mass(self, begin: float, end: FloatArray) -> FloatArray:
        """Return the chance of a delay between both, with all of its digits."""
        hazard = math.log(2) * (np.array([begin, *end])[:, None] / self.median) ** self.shape
        return np.asarray(-np.exp(-hazard[0]) * np.expm1(hazard[0] - hazard[1:]))

    def log_density(self, delay: FloatArray) -> FloatArray:
        """Return the log density of all delays together, but for what no parameter changes."""
        powers = np.exp(np.outer(WEIBULL_SHAPES, np.log(delay))).sum(axis=1)
        total = np.repeat(powers, len(MEDIANS)) / self.median**self.shape
        constant = np.log(self.shape) - self.shape * np.log(self.median) + math.log(math.log(2))
        return np.asarray(
            len(delay) * constant + (self.shape - 1) * np.log(delay).sum() - math.log(2) * total
        )


class _LogNormal:
    """Delays whose logarithm is normal with a standard deviation of one over the shape."""

    def __init__(self, shape: FloatArray, median: FloatArray) -> None:
        self.shape, self.median = shape, median

    def survival(self, at: float) -> FloatArray:
        """Return the chance of a longer delay."""
        return np.asarray(ndtr(-self.shape * np.log(at / self.median)))

    def mass(self, begin: float, end: FloatArray) -> FloatArray:
        """Return the chance of a delay between both, by the tail in which it loses no digits."""
        place = self.shape * np.log(np.array([begin, *end])[:, None] / self.median)
        chance = ndtr(np.where(place[0] > 0, -place, place))
        return np.asarray(np.abs(chance[1:] - chance[0]))

    def log_density(self, delay: FloatArray) -> FloatArray:
        """Return the log density of all delays together, as Weibull's leaves out nothing more."""
        logs, number = np.log(delay), len(delay)
        centre = np.log(self.median)
        squares = np.sum(logs**2) - 2 * centre * logs.sum() + number * centre**2
        constant = np.log(self.shape) - math.log(2 * math.pi) / 2
        return np.asarray(number * constant - logs.sum() - self.shape**2 * squares / 2)
