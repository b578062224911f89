"""The share of positives whose labels have not arrived yet, from the dates of rows and labels."""

import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from undercount.count.arrays import check_row_order
from undercount.curve import FloatArray
from undercount.errors import InputError, SmallSampleWarning, named, real_number, warn
from undercount.estimate import Interval
from undercount.prevalence.base import Fitted, PrevalenceEstimator
from undercount.prevalence.delay_tail import DelayTail
from undercount.prevalence.delays import DelayDistribution, read_days
from undercount.prevalence.fair_scores import ScoreTest, compare_delays
from undercount.prevalence.lone_date import check_lone_date

# Rows whose label would have arrived with less chance than this say nothing of their positives.
LEAST_CHANCE = 0.2
# Labels at risk below which a long delay tells nothing but chance.
FEWEST_AT_RISK = 30
LONGEST_WAIT = 3653.0  # days without any row or label, beyond which a date is a slip
FEWEST_FOUND = 1e-9  # of the positives: less is none
# A last month of the oldest window that still brings more labels than this part is not mature.
RIPE = 0.02
LAST_DAYS = 30.0
# Nor is a cohort of which, by the rate of late labels, more than this may come later still.
UNSEEN = 0.2
SURELY_MANY = 1.0
# Part of the labels whose delays tell nothing, above which no delay is known: about 0 if dates were
# written down as labels came, 1 where all labels bear the date of one import.
UNTOLD = 0.1
UNBOUNDED_FREEDOM = 1e9  # degrees of freedom with which Student's quantile is the normal one
# What every number made from dates of labels rests on.
DELAYS_ASSUME = ("delays alike", "a mature oldest cohort", "the share ever found")


class LateLabels(PrevalenceEstimator):
    """Estimate how many positives are hidden only because their labels come late.

    The delays of the labels that arrived tell, by the reverse-time product limit, with which
    chance a label has arrived after so many days. Each labelled row stands for one over its chance.

    Parameters
    ----------
    found_eventually : float
        Share of the positives that are ever labelled: 1 if a mature month has all of its labels.
    confidence_level : float

    Attributes
    ----------
    unlabeled_prevalence_, interval_
        Share of positives among the unlabeled rows; the error of the chances is inside.
    chance_ : array
        Of each row: the chance that its label, were it positive, has arrived. A propensity.
    usable_ : array of bool
        Rows old enough: a chance of at least 20 %. Younger ones are taken to hold positives as
        often as the others.
    labels_ : array
        1 where a label was found, NaN elsewhere: the `y` for `evaluate`.
    delays_ : DelayDistribution
        Of the labels that take no longer than the oldest row had.
    tail_ : DelayTail
        How many take longer; part of every chance and of every error.
    diagnostics_ : dict
        ``median_delay``; ``longest_window``: days since the oldest row; ``last_part``: part of
        the labels that came in the last 30 days of it, which should be nearly none;
        ``unseen_part``, ``unseen_high``: labels to come after it for each that came, and their
        upper limit; ``young``: rows too young.
    mature_ : bool
        Whether so few labels came in those last 30 days (2 % at most), and so few can come later
        (20 for each 100 at most), that nearly all have arrived. False also where labels of rows of
        all ages bear the date of one import, which tells no delay.

    Notes
    -----
    Assumes: nearly all labels of the oldest rows have arrived (the oldest cohort is mature), and
    later ones go on in the form of the long delays; the delay has one distribution, whatever the
    score and whenever the row was; of the positives just
    `found_eventually` are ever labelled.
    Wrong when: labelling became faster or slower; sure cases are labelled sooner than others; some
    positives are never found and `found_eventually` does not say so: dates cannot tell it. Where
    many labels take longer than the oldest row had (7 %, log-normal), the few samples that still
    look mature are those whose tail looks too short: 93 % of their 95 % intervals hold the truth.

    References
    ----------
    Lagakos, Barraj and De Gruttola 1988, Biometrika 75; Kalbfleisch and Lawless 1989, JASA 84.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence import LateLabels
    >>> rng = np.random.default_rng(0)
    >>> observed = rng.integers(0, 365, 20_000)
    >>> found = observed + rng.exponential(60, 20_000)
    >>> found[(rng.random(20_000) > 0.1) | (found > 365)] = np.nan
    >>> late = LateLabels().fit(observed, found, until=365)
    >>> abs(late.prevalence_ - 0.1) < 0.01
    True
    """

    _needs = DELAYS_ASSUME

    def __init__(self, *, found_eventually: float = 1.0, confidence_level: float = 0.95) -> None:
        super().__init__(confidence_level=confidence_level, n_resamples=0)
        self.found_eventually = found_eventually

    def fit(self, observed: Any, found: Any, *, until: Any = None) -> Self:
        """Read when rows were seen and when their labels were found.

        Parameters
        ----------
        observed : array-like
            Date of each row; or a number of days.
        found : array-like
            Date of its label; missing where none has arrived.
        until : date, optional
            The day to which labels are complete; by default the last date there is, which is
            refused if it stands alone, long after all others.
        """
        self._check_parameters()
        if not FEWEST_FOUND < real_number(self.found_eventually) <= 1:
            raise InputError(f"found_eventually must be in (0, 1]; got {self.found_eventually!r}")
        rows = DatedRows.of(observed, found, until)
        labelled = rows.labelled
        if not 1 < np.count_nonzero(labelled) < len(labelled):
            raise InputError("some rows must have a date of their label, and some must not")
        fewest = min(FEWEST_AT_RISK, np.count_nonzero(labelled) / FEWEST_AT_RISK)
        self.delays_ = DelayDistribution.of(rows.delay[labelled], rows.window[labelled], fewest)
        self.tail_ = DelayTail.of(rows.delay[labelled], rows.window[labelled], self.delays_)
        arrived = self.delays_.chance(rows.window)
        self.chance_ = self.arrives_ * arrived
        self.usable_ = arrived >= LEAST_CHANCE
        self.labels_ = np.where(labelled, 1.0, np.nan)
        self.rows_ = rows
        total = self.sum_positives(self.usable_)
        n, used, n_labelled = len(labelled), int(self.usable_.sum()), int(labelled.sum())
        share, error = (number / used for number in (total.value, total.standard_error))
        seen = int(np.count_nonzero(labelled & self.usable_))
        ends = total.interval(seen, self.confidence_level)
        shares = (share, *(end / used for end in ends))
        hidden = [
            min(max((number * n - n_labelled) / (n - n_labelled), 0.0), 1.0) for number in shares
        ]
        self._warn()
        fitted = Fitted(
            hidden[0],
            interval=Interval(hidden[1], hidden[2]),
            standard_error=error * n / (n - n_labelled),
            diagnostics=self._facts(),
        )
        return self._store(fitted, np.empty(0), n_labelled, n - n_labelled)

    def sum_positives(self, amounts: Any) -> "Total":
        """Return the sum of an amount over all positives, labelled or not, with its error.

        Rows that are too young count nothing. Three errors add up: which labels have arrived, how
        well the chances are known, and how many labels take longer than the oldest row had.
        """
        use = self.rows_.labelled & self.usable_
        amount = np.asarray(amounts, np.float64)[use]
        chance = self.chance_[use]
        value = float(np.sum(amount / chance))
        drawn = amount**2 * (1 - chance) / chance**2
        variance = float(np.sum(drawn)) + self.chance_variance(amount / chance, use)
        # Few labels of a small chance make most of the variance, so that it is not known well
        # itself: Satterthwaite's degrees of freedom, each label's part being its own error.
        parts = float(np.sum(drawn**2))
        freedom = 2 * variance**2 / parts if parts > 0 else UNBOUNDED_FREEDOM
        return Total(value, math.sqrt(variance), freedom)

    def chance_variance(self, adds: FloatArray, use: NDArray[Any]) -> float:
        """Return the variance of a sum that the error of the chances makes.

        Parameters
        ----------
        adds : array
            What each label adds to the sum, over its chance.
        use : array of bool or int
            Which rows these labels are of.
        """
        window = self.rows_.window[use]
        variance = self.delays_.total_variance(adds * self.delays_.chance(window), window)
        return variance + float((adds.sum() * self.tail_.error) ** 2)

    def compare_scores(self, score: Any, place: NDArray[np.intp] | None = None) -> ScoreTest:
        """Test whether labels of high scores come sooner or later than others.

        If they do, the labels that have arrived are no fair sample of the positives, and a row's
        chance is not the one that its age says.

        Parameters
        ----------
        score : array-like
            Of all rows, or of those that are old enough.
        place : array of int, optional
            Which rows these scores are of, if they are others.
        """
        scores, every = np.asarray(score, np.float64), len(self.usable_)
        if place is None:
            old = np.flatnonzero(self.usable_)
            place = old if len(scores) == len(old) else np.arange(every)
        if len(scores) != len(place):
            raise InputError(
                f"score and observed must be of the same rows; got {len(scores)} and {every}"
            )
        labelled = self.rows_.labelled[place]
        labelled_places = place[labelled]
        return compare_delays(
            scores[labelled], self.rows_.delay[labelled_places], self.rows_.window[labelled_places]
        )

    def compare_dates(self) -> ScoreTest:
        """Test whether labels of recent rows come sooner or later than those of older ones.

        If they do, delays are not alike, and labels that became slower look like a precision that
        fell.
        """
        labelled = self.rows_.labelled
        rows = (
            self.rows_.observed[labelled],
            self.rows_.delay[labelled],
            self.rows_.window[labelled],
        )
        test = compare_delays(*rows)
        words = f"labels of recent rows come {'later' if test.statistic > 0 else 'sooner'}"
        return replace(test, words=words)

    def _facts(self) -> dict[str, float]:
        longest = float(self.rows_.window.max())
        before = self.delays_.chance(np.array([longest - LAST_DAYS]))
        return {
            "median_delay": self.delays_.quantile(0.5),
            "longest_window": longest,
            "last_part": float(1 - before[0]),
            "unseen_part": self.tail_.unseen,
            "unseen_high": self.tail_.high,
            "young": int(np.count_nonzero(~self.usable_)),
        }

    @property
    def arrives_(self) -> float:
        """The share of positives whose label arrives within the longest window."""
        return self.found_eventually * self.tail_.arrives

    @property
    def mature_(self) -> bool:
        """Whether nearly all labels of the oldest rows have arrived."""
        ripe = self._facts()["last_part"] <= RIPE and self.tail_.high <= UNSEEN
        return ripe and self.delays_.untold <= UNTOLD

    def unripe_words(self) -> str:
        """Say why the oldest cohort is not mature."""
        facts = self._facts()
        if self.delays_.untold > UNTOLD:
            return (
                "labels of rows of all ages came within a few days, as by one import, so that "
                "nobody can say how long labels take: give the day on which each was found"
            )
        before = max(facts["longest_window"] - LAST_DAYS, 0.0)
        later = (
            f"as many as {100 * facts['unseen_high']:.0f} for each 100 may come later still"
            if facts["unseen_high"] < SURELY_MANY
            else "nobody can say how many come later still"
        )
        part = float(f"{100 * facts['last_part']:.2g}")  # 100 has three digits
        return (
            f"the oldest rows are {facts['longest_window']:.0f} days old, "
            f"{part:g} % of their labels took longer than {before:.0f}, and "
            f"{later}: the oldest cohort is not mature"
        )

    def _warn(self) -> None:
        if not self.mature_:
            warn(SmallSampleWarning(self.unripe_words()))


class Total:
    """Hold a sum over positives, its standard error, and how well that is known."""

    def __init__(self, value: float, standard_error: float, freedom: float) -> None:
        self.value, self.standard_error, self.freedom = value, standard_error, freedom

    def quantile(self, level: float) -> float:
        """Return Student's quantile of a two-sided interval."""
        return float(stdtrit(self.freedom, (1 + level) / 2))

    def interval(self, seen: float, level: float) -> tuple[float, float]:
        """Return the interval of a number of positives of which so many were seen.

        Log-normal in those that were not: their error grows with their number.
        """
        hidden, reach = self.value - seen, self.quantile(level) * self.standard_error
        if hidden <= 0:
            return float(seen), self.value + reach
        factor = math.exp(min(reach / hidden, 700.0))  # no more than a number holds
        return seen + hidden / factor, seen + hidden * factor


class DatedRows:
    """Hold delay and window of each row, in days."""

    def __init__(self, observed: FloatArray, found: FloatArray, until: float) -> None:
        self.observed, self.until = observed, until
        self.labelled = ~np.isnan(found) & (found <= until)
        self.delay = np.where(self.labelled, found - observed, np.nan)
        self.window = until - observed
        # The day to which labels are complete; among times of day midnight ends the day before.
        timed = (observed % 1 > 0).any() or (found % 1 > 0).any()
        day = math.ceil(until) - 1 if timed else math.floor(until)
        self.last_day = str(np.datetime64(day, "D"))

    @classmethod
    def of(cls, observed: Any, found: Any, until: Any = None) -> "DatedRows":
        """Read dates; labels after the last day have not arrived."""
        check_row_order(observed=observed, found=found)
        rows, labels = read_days(observed, "observed"), read_days(found, "found")
        if len(rows) != len(labels):
            raise InputError(
                f"{named('observed')} and {named('found')} must be of the same rows; got "
                f"{len(rows)} and {len(labels)}"
            )
        if not len(rows):
            raise InputError("observed must have at least one row; got none")
        missing = np.isnan(rows)
        if missing.any():
            raise InputError(
                f"{named('observed')} must not be missing; got {missing.sum():,} rows without, "
                f"the first is row {int(np.argmax(missing))}. Give their dates or leave them out; "
                f"only {named('found')} is empty where no label has arrived",
                argument="observed",
            )
        end = read_until(until, rows, labels)
        if (rows > end).any():
            raise InputError(
                f"{named('until')} must not be before a row; {(rows > end).sum():,} rows are later",
                argument="until",
            )
        before = labels < rows
        if before.any():
            raise InputError(
                f"a label cannot be found before its row; {before.sum():,} are, the first at row "
                f"{int(np.argmax(before))}. Swap {named('observed')} and {named('found')}, or "
                "correct these dates",
                argument="found",
            )
        if until is None:
            check_lone_date(rows, labels)
        return cls(rows, labels, end)


def dates_of_positives(found: Any, positive: NDArray[np.bool_]) -> FloatArray:
    """Return the dates of positive labels alone; refuse those whose date nobody wrote down."""
    dates = read_days(found, "found")
    if positive.shape != dates.shape:
        raise InputError(
            f"{named('label')} and {named('found')} must be of the same rows; got "
            f"{len(positive)} and {len(dates)}",
            argument="label",
        )
    undated = positive & np.isnan(dates)
    if undated.any():
        share = 1 - undated.sum() / positive.sum()
        raise InputError(
            f"{undated.sum():,} of {positive.sum():,} positive labels have no date, the first at "
            f"row {int(np.argmax(undated))}: they would count as not found yet. Give their dates; "
            "or, if dates are missing whatever the age of the row, count those rows as unlabeled "
            f"and pass {named('found_eventually', f'{share:.3f}')}",
            argument="found",
        )
    return np.where(positive, dates, np.nan)


def read_until(until: Any, rows: FloatArray, labels: FloatArray) -> float:
    """Return the last moment of labels; a date is the whole day where rows have a time of day.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.late_labels import read_until
    >>> read_until("1970-01-03", np.array([0.5]), np.array([2.25]))
    3.0
    >>> read_until("1970-01-03", np.array([0.0]), np.array([2.0]))
    2.0
    """
    last = float(np.nanmax([rows.max(), np.nanmax(labels, initial=-np.inf)]))
    if until is None:
        return last
    end = float(read_days([until], "until")[0]) if np.ndim(until) == 0 else math.nan
    if not math.isfinite(end):
        raise InputError(f"{named('until')} must be a date; got {until!r}", argument="until")
    if end - last > LONGEST_WAIT:
        raise InputError(
            f"{named('until')} must be within ten years of the last date of a row or label; got "
            f"{until!r}, {(end - last) / 365.25:.0f} years later",
            argument="until",
        )
    timed = (rows % 1 > 0).any() or (labels % 1 > 0).any()
    number = isinstance(until, int | float | np.number)
    return end + 1 if timed and end % 1 == 0 and not number else end
