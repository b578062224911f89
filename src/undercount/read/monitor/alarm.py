"""Has the precision changed? Weekly looks at labels that are still arriving, at one risk for all.

Of the flagged rows a share r carries a label in the end, and F(w) of these after w days: a row is
found by a look with chance r F. If nothing changed, all rows have one r, which nobody knows: it is
integrated out of the chance of everything seen, once with one r for all and once with another for
the rows since some day. The ratio of both chances is a test martingale: it has a mean of 1
at every look if nothing changed, and reaches 1/risk at any of them with chance risk at most
(Ville 1939).
"""

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from undercount.curve import FloatArray
from undercount.estimate import Estimate
from undercount.prevalence.late_labels import LateLabels

LOOK_DAYS = 7.0
# Changes that the alarm looks for: a rate falls to such a part, or its odds rise to one over it.
ALARM_CHANGES = np.array([0.3, 0.5, 0.7, 0.85])
# A change may begin at every fourth look.
LOOKS_A_START, STARTS_A_YEAR = 4, 13
# Rates that are tried: so many, and so many standard errors of the baseline to either side.
RATE_POINTS, ALARM_REACH = 33, 6.0
# A weight that is as good as none, and a logarithm of odds that a number holds.
LEAST_EVIDENCE, MOST_LOG_EVIDENCE = 1e-300, 600.0
# Parts of the rows by their chance of a label that are told apart.
STEPS_OF_CHANCE = np.linspace(0, 1, 17)[1:-1]


@dataclass(frozen=True)
class Alarm:
    """Hold what weekly looks at the flagged rows found since the baseline.

    Attributes
    ----------
    baseline : Estimate
        Precision of the first periods, in which no change is looked for.
    looks : tuple
        Date of each look, and the evidence that the precision fell and rose, as odds against
        "unchanged" (test martingales).
    limit : float
        Evidence at which the alarm goes off: over any number of looks it is reached without a
        change at most as often as the risk says (Ville 1939).
    fell, rose : str
        Date of the first look at which the alarm went off; empty if it did not.
    """

    baseline: Estimate
    looks: tuple[tuple[str, float, float], ...] = field(repr=False)
    limit: float
    fell: str
    rose: str


class FlaggedRows(Protocol):
    """Flagged rows in the order of their days, and what any day knew of their labels."""

    until: float

    def count_until(self, start: float) -> tuple[float, float]:
        """Return labels of the rows before a day, and how many of the rows could have one."""

    def look(self, end: float, starts: FloatArray) -> "Look":
        """Return what was known at a day."""


def find_alarm(rows: FlaggedRows, start: float, baseline: Estimate, risk: float) -> Alarm:
    """Look each week whether rows since some day, not before `start`, are found as those before.

    Notes
    -----
    Assumes: delays are alike whenever the row was, and known as well as Greenwood's variance says;
    the baseline has some labels (a rate's likelihood is nearly normal on the logit).
    Wrong when: labelling became slower or faster, which looks like a fall or a rise.
    """
    looks = np.arange(start + LOOK_DAYS, rows.until + 1e-9, LOOK_DAYS)
    evidence = find_evidence(rows, start, looks)
    limit = 2 / risk
    dates = np.floor(looks).astype("datetime64[D]").astype(str).tolist()
    looks_found = tuple((date, *pair) for date, pair in zip(dates, evidence.tolist(), strict=True))
    fell, rose = (
        next((look[0] for look in looks_found if look[side] >= limit), "") for side in (1, 2)
    )
    return Alarm(baseline, looks_found, limit, fell, rose)


def find_evidence(rows: FlaggedRows, start: float, looks: FloatArray) -> FloatArray:
    """Return the evidence of each look, one column for a fall and one for a rise.

    Nobody knows when a change began: each start has a martingale of its own, which compares the
    rows seen since with all before. Their average, by weights that were fixed before, is one again.
    """
    rates = RateGrid.of(*rows.count_until(start))
    starts = np.asarray(start + LOOK_DAYS * np.arange(0.0, len(looks), LOOKS_A_START), np.float64)
    weight = start_weights(len(starts))
    evidence = np.ones((len(looks), 2))
    for at, end in enumerate(looks):
        begun = int(np.count_nonzero(starts < end))
        odds = rates.compare(rows.look(end, starts[:begun]))
        # Starts to come have had no look and count 1.
        evidence[at] += weight[:begun] @ (odds.reshape(begun, 2, -1).mean(axis=2) - 1)
    return evidence


@dataclass(frozen=True)
class Look:
    """Hold what a look saw of flagged rows, by day, and the error of the delays for each start.

    Attributes
    ----------
    found, waiting : array
        Rows of each day with and without a label.
    chance : array
        Chance that those without one would have it by now, had they any.
    place : array
        First day of each start.
    error : array
        Standard error, for each start, of the logarithm of the mean chance of the rows since,
        over that of the rows before.
    """

    found: FloatArray
    waiting: FloatArray
    chance: FloatArray
    place: NDArray[np.int64]
    error: FloatArray


class FlaggedDays:
    """Hold flagged rows whose labels arrive after delays."""

    def __init__(self, late: LateLabels, flagged: NDArray[np.bool_]) -> None:
        order = np.argsort(late.rows_.observed[flagged], kind="stable")
        self.seen, delay = (
            column[flagged][order] for column in (late.rows_.observed, late.rows_.delay)
        )
        self.arrives = np.where(np.isnan(delay), np.inf, self.seen + delay)
        self.first = math.floor(self.seen[0])
        self.day = np.floor(self.seen - self.first).astype(np.int64)
        self.delays, self.until = late.delays_, late.rows_.until

    def count_until(self, start: float) -> tuple[float, float]:
        """Return labels of the rows before a day, and how many of the rows could have one."""
        some = self.seen < start
        could = self.delays.chance(self.until - self.seen[some])
        return float(np.count_nonzero(np.isfinite(self.arrives[some]))), float(could.sum())

    def look(self, end: float, starts: FloatArray) -> Look:
        """Return what was known at a day."""
        n_seen = int(np.searchsorted(self.seen, end, side="right"))
        seen, day = self.seen[:n_seen], self.day[:n_seen]
        number = int(day[-1]) + 1
        chance = self.delays.chance(end - seen)
        came = self.arrives[:n_seen] <= end
        arrivals = np.bincount(day[came], minlength=number).astype(np.float64)
        waiting = np.bincount(day[~came], minlength=number).astype(np.float64)
        mean = np.bincount(day[~came], chance[~came], number) / np.maximum(waiting, 1)
        place = np.clip(np.ceil(starts - self.first), 0, number).astype(np.int64)
        could = np.asarray(np.bincount(day, chance, number), np.float64)
        windows = np.maximum(end - self.first - np.arange(number) - 0.5, 0.0)
        error = _relative_errors(could, self.delays.log_variance(windows), place)
        return Look(arrivals, waiting, mean, place, error)


class LabelledDays:
    """Hold flagged rows whose labels are all here, each given with a chance of its own.

    Rows of a day whose chances are nearly alike are one cell.

    Parameters
    ----------
    seen : array
        Day of each flagged row.
    labelled : array
        Whether it carries a label.
    chance : array
        Chance, up to a common factor, that it would carry one if it were positive.
    until : float
        The last day.
    """

    def __init__(
        self, seen: FloatArray, labelled: NDArray[np.bool_], chance: FloatArray, until: float
    ) -> None:
        day, steps = np.floor(seen).astype(np.int64), np.quantile(chance, STEPS_OF_CHANCE)
        step = np.searchsorted(np.unique(steps), chance, side="right")
        pairs, cell = np.unique(np.stack([day, step]), axis=1, return_inverse=True)
        cell = cell.reshape(-1)
        self.day, self.until = pairs[0], until
        self.found, self.could = (np.bincount(cell, column) for column in (labelled, chance))
        self.waiting = np.bincount(cell, ~labelled)
        kept = np.bincount(cell, np.where(labelled, 0.0, chance))
        self.chance = kept / np.maximum(self.waiting, 1)

    def count_until(self, start: float) -> tuple[float, float]:
        """Return labels of the rows before a day, and how many of the rows could have one."""
        before = self.day < start
        return float(self.found[before].sum()), float(self.could[before].sum())

    def look(self, end: float, starts: FloatArray) -> Look:
        """Return what was known at a day; the chances have no error of their own."""
        n_seen = slice(int(np.searchsorted(self.day, end, side="right")))
        place = np.searchsorted(self.day[n_seen], starts)
        arrivals, waiting = (each[n_seen].astype(np.float64) for each in (self.found, self.waiting))
        return Look(arrivals, waiting, self.chance[n_seen], place, np.zeros(len(starts)))


def _relative_errors(
    could: FloatArray, log_variance: FloatArray, place: NDArray[np.int64]
) -> FloatArray:
    """Return the error of the log of the mean chance of the days since, over that before.

    Of two windows the covariance is the variance at the longer one, that of the earlier day.
    """
    since = np.arange(len(could)) >= place[:, None]
    after, before = (np.where(some, could, 0.0) for some in (since, ~since))
    shares = [
        masses / np.maximum(masses.sum(axis=1, keepdims=True), 1e-300) for masses in (after, before)
    ]
    change = shares[0] - shares[1]
    younger = np.cumsum(change[:, ::-1], axis=1)[:, ::-1] - change
    variance = (change * (2 * younger + change)) @ log_variance
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


class RateGrid:
    """Hold rates r at which rows may carry a label in the end, and those after a change."""

    def __init__(self, centre: float, error: float) -> None:
        place = centre + error * np.linspace(-ALARM_REACH, ALARM_REACH, RATE_POINTS)
        self.place, self.rate = place, expit(place)
        # Jeffreys' prior r^-½ (1-r)^-½ in dr, on the logit.
        self.prior = (np.log(self.rate) + np.log1p(-self.rate)) / 2
        falls, rises = (
            ALARM_CHANGES[:, None] * self.rate,
            expit(place - np.log(ALARM_CHANGES[:, None])),
        )
        self.changed = np.concatenate([self.rate[None], falls, rises])
        self.gap = (place[:, None] - place) * (1 - self.rate)

    @classmethod
    def of(cls, labels: float, could: float) -> "RateGrid":
        """Lay rates around that of the baseline."""
        rate = min((labels + 0.5) / (could + 1), labels / (labels + 0.5))
        return cls(float(logit(rate)), 1 / math.sqrt(labels * (1 - rate)))

    def compare(self, look: Look) -> FloatArray:
        """Return for each start and change the chance of what was seen, over that without it."""
        waiting = look.waiting[:, None, None] * np.log1p(-look.chance[:, None, None] * self.changed)
        days = waiting + look.found[:, None, None] * np.log(self.changed)
        later = np.arange(len(days)) >= look.place[:, None]
        since = np.tensordot(later.astype(np.float64), days, axes=1)
        before = self.prior + days[:, 0].sum(axis=0) - since[:, 0]
        weight = np.exp(before - before.max(axis=1, keepdims=True))
        weight = np.stack([self._blur(*pair) for pair in zip(weight, look.error, strict=True)])
        joint = logsumexp(np.log(np.maximum(weight, LEAST_EVIDENCE))[:, None] + since, axis=2)
        return np.asarray(np.exp(np.minimum(joint[:, 1:] - joint[:, :1], MOST_LOG_EVIDENCE)))

    def _blur(self, weight: FloatArray, error: float) -> FloatArray:
        """Spread the rates before by the error of the delays, r to r exp(u)."""
        if error <= 0:
            return weight
        kernel = np.exp(-((self.gap / error) ** 2) / 2)
        return np.asarray(kernel @ (weight / kernel.sum(axis=0)))


def start_weights(count: int) -> FloatArray:
    """Return the weight of each start of a change: half for the first year, half of the rest next.

    Together they never exceed 1, however long one looks.

    Examples
    --------
    >>> from undercount.read.monitor.alarm import start_weights
    >>> (26 * start_weights(15)).round(2)[[0, 12, 13]]
    array([1. , 1. , 0.5])
    """
    return 0.5 ** (np.arange(count) // STARTS_A_YEAR + 1) / STARTS_A_YEAR
