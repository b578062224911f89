"""How long labels take to arrive: the distribution of delays that were cut off by today."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from undercount.count.arrays import read_floats
from undercount.curve import FloatArray
from undercount.errors import InputError, named

SECONDS_A_DAY = 86_400.0
COARSE_TEXT = re.compile(r"\d+(-\d\d)?")  # a year or month, which NumPy would read as its first day
COARSE_UNITS = ("Y", "M", "W")
_LAST_DAY = 2_932_896  # 9999-12-31, in days since 1970


def read_days(values: Any, name: str) -> FloatArray:
    """Return dates as days since 1970, NaN where missing; numbers are days already.

    Times with a zone are read in UTC, so that every machine gives the same months.

    Examples
    --------
    >>> from undercount.prevalence.delays import read_days
    >>> read_days(["1970-01-02", None], "found")
    array([ 1., nan])
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(
            f"{named(name)} must be 1-D, a date or number of days a row; got shape {array.shape}",
            argument=name,
        )
    if array.dtype.kind == "O" and all(isinstance(moment, int | float | None) for moment in array):
        array = read_floats(array, name)  # None among numbers
    if array.dtype.kind in "iuf":
        numbers = np.asarray(array, np.float64)
        strange = np.abs(numbers) > _LAST_DAY
        if strange.any():
            raise InputError(
                f"{named(name)} must hold dates, or numbers of days; got "
                f"{numbers[strange][0]:.9g}, which is no day before the year 10000. Write dates as "
                "2024-01-31; divide seconds since 1970 by 86400",
                argument=name,
            )
        return numbers
    moments = list(array[:1]) if array.dtype.kind == "M" else array.tolist()
    coarse = [moment for moment in moments if _is_coarse(moment)]
    if coarse:
        raise InputError(
            f"{named(name)} must be to the day, as 2024-03-09 is, because delays are counted in "
            f"days; got {str(coarse[0])!r}. Give the day itself",
            argument=name,
        )
    try:
        if array.dtype.kind != "M":
            array = np.array([_moment(moment) for moment in moments], "datetime64[s]")
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InputError(f"{name} must hold dates or numbers of days; {error}") from None
    days = array.astype("datetime64[s]").astype(np.float64) / SECONDS_A_DAY
    return np.where(np.isnat(array), np.nan, days)


def _is_coarse(value: Any) -> bool:
    """Whether it is a month, say: a year or month as text, a longer unit of NumPy or pandas."""
    if isinstance(value, str):
        return COARSE_TEXT.fullmatch(value.strip()) is not None
    if isinstance(value, np.datetime64):
        return np.datetime_data(value)[0] in COARSE_UNITS
    return hasattr(value, "to_timestamp") and value.end_time - value.start_time > timedelta(days=1)


def _moment(value: Any) -> np.datetime64:
    if value is None or value != value or str(value).strip() in ("", "NaT"):  # noqa: PLR0124 - NaN
        return np.datetime64("NaT")
    if isinstance(value, str) and len(value) > len("2024-03-09"):
        value = datetime.fromisoformat(value.strip())
    if hasattr(value, "to_timestamp"):
        value = value.to_timestamp()  # NumPy would read a period's day alone
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    moment: np.datetime64 = np.datetime64(value).astype("datetime64[s]")
    return moment


@dataclass(frozen=True)
class DelayDistribution:
    """Hold the chance that a label has arrived within so many days.

    A delay is seen only if it is no longer than the time since its row: short ones are seen more
    often (right truncation). Looked at backwards, from the longest delay down, rows enter the risk
    set at their window and leave it at their delay, and the product of what stays is the
    distribution (Lagakos, Barraj and De Gruttola 1988), relative to the longest window.

    Attributes
    ----------
    delay : array
        Distinct delays, ascending.
    stays : array
        1 - n/R at each: the part of the labels at risk that came sooner.
    hazard_variance : array
        n/(R (R - n)), Greenwood's term of each.

    Notes
    -----
    Assumes: delays have one distribution whenever the row was; nearly all labels of the oldest
    rows have arrived.
    Wrong when: labelling became faster or slower, or positives of high score are found sooner.
    """

    delay: FloatArray
    stays: FloatArray
    hazard_variance: FloatArray
    untold: float = 0.0  # part of the labels whose delays are not used, or cannot be

    @classmethod
    def of(cls, delay: FloatArray, window: FloatArray, fewest: float = 1) -> "DelayDistribution":
        """Estimate from the delays of labelled rows and the time that each row had.

        Long delays of which fewer than `fewest` labels are at risk tell nothing but chance, and
        one of them would move every chance: they count as arrived.

        Examples
        --------
        >>> import numpy as np
        >>> from undercount.prevalence.delays import DelayDistribution
        >>> found = DelayDistribution.of(np.array([1.0, 1.0, 3.0]), np.array([2.0, 4.0, 4.0]))
        >>> found.chance(np.array([0.5, 1.0, 3.0])).round(3)  # of two rows seen to 4, one by day 1
        array([0. , 0.5, 1. ])
        """
        if not len(delay) or (delay < 0).any() or (delay > window).any():
            raise InputError("a label is found after its row was seen, and until the last date")
        at, number = np.unique(delay, return_counts=True)
        came = np.cumsum(number)
        gone = np.searchsorted(np.sort(window), at, side="left")  # windows that ended before
        at_risk = (came - gone).astype(np.float64)
        alone = (at_risk < fewest) & (np.arange(len(at)) > np.argmax(at_risk))
        stays = np.where(alone, 1.0, 1 - number / at_risk)
        # A delay that all at risk had says that none is shorter, whatever other rows had.
        first = int(np.flatnonzero(stays == 0).max(initial=0))
        untold = float((number[alone].sum() + number[:first][~alone[:first]].sum()) / len(delay))
        number = np.where(alone, 0, number)
        rest = np.maximum(at_risk - number, 0.5)  # the soonest delay leaves nobody
        return cls(at, stays, number / (at_risk * rest), untold)

    def chance(self, window: FloatArray) -> FloatArray:
        """Return the chance that a positive's label has arrived within a window."""
        later = np.append(np.cumprod(self.stays[::-1])[::-1], 1.0)
        return np.asarray(later[np.searchsorted(self.delay, window, side="right")])

    def log_variance(self, window: FloatArray) -> FloatArray:
        """Return the variance of the logarithm of that chance (Greenwood).

        Of two windows the covariance is the variance at the longer one.
        """
        later = np.append(np.cumsum(self.hazard_variance[::-1])[::-1], 0.0)
        return np.asarray(later[np.searchsorted(self.delay, window, side="right")])

    def quantile(self, share: float) -> float:
        """Return the delay within which such a share of the labels arrives."""
        reached = self.chance(self.delay) >= share - 1e-12
        return float(self.delay[int(np.argmax(reached))])

    def total_variance(self, amounts: FloatArray, window: FloatArray) -> float:
        """Return the variance of Σ amount / chance that the error of the chances makes.

        Examples
        --------
        >>> import numpy as np
        >>> from undercount.prevalence.delays import DelayDistribution
        >>> found = DelayDistribution.of(np.array([1.0, 1.0, 3.0]), np.array([2.0, 4.0, 4.0]))
        >>> w = np.array([2.0, 4.0])
        >>> found.total_variance(np.ones(2), w)  # (1/.5)² × Greenwood's 1/(2 × 1)
        2.0
        """
        order = np.argsort(window, kind="stable")
        share = amounts[order] / self.chance(window[order])
        before = np.cumsum(share) - share
        return float(self.log_variance(window[order]) @ (share * (2 * before + share)))
