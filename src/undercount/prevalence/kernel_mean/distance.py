"""Distance of extrapolated kernel means from the hull: the curve that KM1 and KM2 read."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercount.curve import FloatArray
from undercount.prevalence.kernel_mean.hull import (
    ActiveSet,
    HullTarget,
    NearestPoint,
    double_product,
    nearest_by_pairs,
)

# Constants of Ramaswamy, Scott, Tewari 2016 and of their experiments.
LARGEST_EXTRAPOLATION = 8.0
RESOLUTION = 0.04
EXTRAPOLATION_STEP = RESOLUTION / 2
FIRST_EXTRAPOLATION = 1.05
# An error of the initial slope by this share of the final one moves KM2's threshold by 1 %.
FIRST_EXTRAPOLATION_ERROR = 0.0025
# Support points up to which the active set is the faster solver (measured): of a smooth kernel
# this many divided by the rows, of a rough one, whose support is large anyway, a hundred.
SUPPORT_WORK = 600_000
ROUGH_SUPPORT = 100
# A kernel is smooth when the lower half of a sample's eigenvalues adds up to less than this
# share: 2e-5 with 5 features, .001 with 10, .01 with 20, .04 with 115.
SMOOTH_TAIL = 0.005
PROBE = 200
# Two problems this close in the extrapolation start from one another's solution.
NEAR_EXTRAPOLATION = 0.1


@dataclass(frozen=True)
class KernelMeans:
    """Shares of positives among the unlabeled by the two rules of the paper.

    Attributes
    ----------
    km1, km2 : float
        KM1 stops where the distance's slope passes 1/√(smaller sample), KM2 where it passes
        0.8 initial + 0.2 final slope.
    width : float
        Standard deviation of the Gaussian kernel.
    n_programmes : int
        Quadratic programmes solved.
    separation : float
        Distance of the two means over what it would be by noise if both samples were alike.
    """

    km1: float
    km2: float
    width: float
    n_programmes: int
    separation: float


class HullDistance:
    """d(λ): distance of λ·mean(unlabeled) + (1-λ)·mean(labelled) from the hull of all points.

    It is convex and 0 at λ = 1 (the unlabeled mean lies in the hull). Far from 1 and with smooth
    kernels the nearest point has few support points and the active set finds it in milliseconds;
    else weight is shifted between pairs.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        Gaussian, so with a unit diagonal.
    labelled, unlabeled : ndarray of shape (n,)
        Each sample's share at each point.
    """

    def __init__(
        self, kernel: NDArray[np.floating], labelled: FloatArray, unlabeled: FloatArray
    ) -> None:
        self.kernel, self._start = kernel, unlabeled
        self._to_labelled = double_product(kernel, labelled)
        self._to_unlabeled = double_product(kernel, unlabeled)
        self._squares = (
            float(unlabeled @ self._to_unlabeled),
            float(unlabeled @ self._to_labelled),
            float(labelled @ self._to_labelled),
        )
        uu, ul, ll = self._squares
        self.final_slope = float(np.sqrt(max(uu - 2 * ul + ll, 0.0)))  # distance of the means (MMD)
        self.similarity = ul  # mean kernel between a labelled and an unlabeled row
        self._distances: dict[float, float] = {}
        self._last: tuple[float, FloatArray] = (np.inf, unlabeled)
        self._crowded, self._largest = 0.0, _largest_support(kernel)
        self.n_programmes = 0

    def __call__(self, extrapolation: float, *, enough: float = 0.0) -> float:
        """Return the distance, or some upper bound of it that is at most ``enough``."""
        if extrapolation not in self._distances:
            self.n_programmes += 1
            nearest = self._nearest(extrapolation, enough**2)
            distance = float(np.sqrt(max(nearest.squared_distance, 0.0)))
            if distance <= enough:
                return distance
            self._distances[extrapolation] = distance
        return self._distances[extrapolation]

    def _nearest(self, extrapolation: float, enough: float) -> NearestPoint:
        rest, (uu, ul, ll) = 1 - extrapolation, self._squares
        target = HullTarget(
            extrapolation * self._to_unlabeled + rest * self._to_labelled,
            extrapolation**2 * uu + 2 * extrapolation * rest * ul + rest**2 * ll,
        )
        if extrapolation > self._crowded:
            nearest = ActiveSet(self.kernel, target).solve(enough=enough, largest=self._largest)
            if nearest is not None:
                return nearest
            # The support only grows towards λ = 1.
            self._crowded = extrapolation
        near = abs(self._last[0] - extrapolation) < NEAR_EXTRAPOLATION
        start = self._last[1] if near else self._start
        nearest = nearest_by_pairs(self.kernel, target, start, enough=enough)
        self._last = extrapolation, nearest.weight
        return nearest

    def initial_slope(self) -> float:
        """Return the mean slope of d from 1 to 1.05."""
        run = FIRST_EXTRAPOLATION - 1
        return (
            self(FIRST_EXTRAPOLATION, enough=run * FIRST_EXTRAPOLATION_ERROR * self.final_slope)
            / run
        )

    def slope_exceeds(self, extrapolation: float, threshold: float) -> bool:
        """Tell whether d rises faster than the threshold just above an extrapolation.

        Convexity and d(1) = 0 decide most cases from one distance: the slope is at most
        d(ahead)/step and at least d(ahead)/(ahead-1).
        """
        ahead = extrapolation + EXTRAPOLATION_STEP
        distance = self(ahead, enough=EXTRAPOLATION_STEP * threshold)
        if distance <= EXTRAPOLATION_STEP * threshold:
            return False
        if distance > threshold * (ahead - 1):
            return True
        return (distance - self(extrapolation)) / EXTRAPOLATION_STEP > threshold

    def find_crossing(self, threshold: float) -> float:
        """Return the share a = 1 - 1/λ where the slope of d passes the threshold."""
        low, high = 1.0, LARGEST_EXTRAPOLATION
        while high - low > RESOLUTION:
            middle = (low + high) / 2
            if self.slope_exceeds(middle, threshold):
                high = middle
            else:
                low = middle
        return 1 - 2 / (low + high)


def kernel_means(
    distance: HullDistance, width: float, n_labelled: float, n_unlabeled: float
) -> KernelMeans:
    """Read both rules off the distance curve (Ramaswamy et al. 2016)."""
    final = distance.final_slope
    second = 0.8 * distance.initial_slope() + 0.2 * final
    first = 1 / np.sqrt(min(n_labelled, n_unlabeled))
    if first > 0.9 * final:  # the slope never gets there: use the other rule
        first = second
    km1 = distance.find_crossing(first)
    km2 = km1 if first == second else distance.find_crossing(second)
    noise = np.sqrt((1 / n_labelled + 1 / n_unlabeled) * (1 - distance.similarity))
    separation = float(final / noise) if noise > 0 else np.inf
    return KernelMeans(km1, km2, width, distance.n_programmes, separation)


def _largest_support(kernel: NDArray[np.floating]) -> int:
    if len(kernel) <= PROBE:
        return len(kernel)
    probe = np.linspace(0, len(kernel) - 1, PROBE).astype(int)
    eigenvalues = np.linalg.eigvalsh(kernel[np.ix_(probe, probe)])
    smooth = eigenvalues[: PROBE // 2].sum() < SMOOTH_TAIL * PROBE
    return max(ROUGH_SUPPORT, SUPPORT_WORK // len(kernel)) if smooth else ROUGH_SUPPORT
