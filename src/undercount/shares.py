"""How many positives are hidden, how pure the labels are, and what moves with what."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from scipy.special import betainc

from undercount.counts import ScoreCounts
from undercount.curve import ratio
from undercount.errors import InputError, MisfitWarning, check_choice, named, warn
from undercount.estimate import Estimate, Interval

# Shares are kept this far below the purity, where every metric ends.
_MARGIN = 1e-6
_ROUNDING = 1e-9  # of shares that are worked out from others; nearer than this is the same
_LEAST_SHARE = 1e-100  # below this a share is 0: what is worked out from it would be lost
# A sample rarer than this is not chance: as rare as five standard errors.
_RAREST = 2.9e-7
Sampling: TypeAlias = Literal["single-sample", "case-control"]
Share: TypeAlias = "float | tuple[float, float] | Estimate"
Given: TypeAlias = Literal["unlabeled_prevalence", "prevalence", "label_frequency", "positives"]
Target: TypeAlias = Literal["dataset", "population"]
SAMPLINGS = ("single-sample", "case-control")


@dataclass(frozen=True, init=False)
class Shares:
    """Hold the share of positives among the unlabeled rows and the purity of the labels.

    Parameters
    ----------
    unlabeled_prevalence : number, (low, high) or Estimate
        Share of positives **among the unlabeled rows** (Claesen's β, Jain's α).
    label_purity : number, (low, high) or Estimate
        Share of the rows labelled positive that really are (Jain's β).
    sampling : {"single-sample", "case-control"}
        Whether the labelled rows were part of the sample before they were labelled, or were drawn
        apart from the unlabeled ones.

    Notes
    -----
    Assumes: the labelled rows are a random sample of the positives (of positives and, at
    1 - purity, negatives).
    Wrong when: some positives were more likely to be labelled than others; or `prevalence`, the
    share among all rows, is passed where the share among the unlabeled rows is meant.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 1, None, None, None, None], [6, 5, 4, 3, 2, 1])
    >>> shares = uc.Shares.from_prevalence(counts, 0.5)
    >>> shares.unlabeled_prevalence, shares.positives(counts)
    (0.25, 3.0)
    >>> round(shares.label_frequency(counts), 3)
    0.667
    """

    unlabeled_prevalence: float
    label_purity: float
    sampling: Sampling
    unlabeled_prevalence_interval: Interval | None
    label_purity_interval: Interval | None
    unlabeled_prevalence_error: float
    label_purity_error: float
    given: Given
    population_prevalence: float | None

    def __init__(
        self,
        unlabeled_prevalence: Share,
        label_purity: Share = 1.0,
        sampling: Sampling = "single-sample",
        *,
        given: Given = "unlabeled_prevalence",
    ) -> None:
        _check_sampling(sampling)
        share, share_interval, share_error = _read(unlabeled_prevalence, "unlabeled_prevalence")
        purity, purity_interval, purity_error = _read(label_purity, "purity")
        highest_share = share_interval.high if share_interval else share
        lowest_purity = purity_interval.low if purity_interval else purity
        if lowest_purity <= 0:
            raise InputError(f"{named('purity')} must be in (0, 1]; got {label_purity}")
        # An estimate's interval may touch; only values and ranges that were stated must be apart.
        stated = not isinstance(unlabeled_prevalence, Estimate)
        if share_interval and abs(highest_share - lowest_purity) <= _ROUNDING:
            # A range that ends where nothing is recovered, as that of a consensus may, ends there.
            highest_share = float(clip_share(highest_share, lowest_purity))
            share_interval = Interval(min(share_interval.low, highest_share), highest_share)
            stated = False
        if (stated and highest_share >= lowest_purity - _ROUNDING) or share >= purity - _ROUNDING:
            _check_purity_above(highest_share, lowest_purity)
        spans, errors = (share_interval, purity_interval), (share_error, purity_error)
        # In the order of the fields.
        values = (share, purity, sampling, *spans, *errors, given, None)
        self._set(**dict(zip(self.__dataclass_fields__, values, strict=True)))

    def __repr__(self) -> str:
        parts = [
            f"{name.replace('_', ' ')} {value:.4g}"
            + (f" ({span.low:.4g} to {span.high:.4g})" if span else "")
            for name, value, span in (
                (
                    "unlabeled_prevalence",
                    self.unlabeled_prevalence,
                    self.unlabeled_prevalence_interval,
                ),
                ("label_purity", self.label_purity, self.label_purity_interval),
            )
        ]
        return f"Shares: {', '.join(parts)}, {self.sampling}"

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _with(self, **values: Any) -> "Shares":
        """Return a copy with other values, which must fit each other like those of any shares."""
        moved = copy.copy(self)
        if "unlabeled_prevalence" in values and values["unlabeled_prevalence"] > 0:
            values["population_prevalence"] = None
        moved._set(**values)  # noqa: SLF001 - a new one of its own class
        if not 0 <= moved.unlabeled_prevalence < moved.label_purity:
            _check_purity_above(moved.unlabeled_prevalence, moved.label_purity)
        return moved

    @classmethod
    def from_prevalence(
        cls,
        counts: ScoreCounts,
        prevalence: Share,
        label_purity: Share = 1.0,
        sampling: Sampling = "single-sample",
        *,
        target: Target = "dataset",
    ) -> "Shares":
        """Make shares from the share of positives in the population or data set (π).

        In case-control sampling the population is the one behind the unlabeled rows. With the
        population as `target` a sample may by chance hold more labelled rows than π would give:
        no unlabeled row is then taken for positive, with a MisfitWarning, and `prevalence` stays
        what was given. A range for these very rows begins where the labels do, with such a warning
        if it began below: labelled positives are positives.

        Examples
        --------
        >>> import undercount as uc
        >>> counts = uc.ScoreCounts.from_counts([1, 0], [26, 0], [0, 0], [4, 970])
        >>> with uc.errors.collect_warnings() as found:
        ...     shares = uc.Shares.from_prevalence(counts, 0.025, target="population")
        >>> shares.unlabeled_prevalence, shares.prevalence(counts), len(found)
        (0.0, 0.025, 1)
        """
        _check_sampling(sampling)
        if sampling == "case-control":
            return cls(prevalence, label_purity, sampling, given="prevalence")
        least = None
        if target == "population":
            least = _least_prevalence(counts, label_purity, prevalence)
        else:
            prevalence = _cut_range(counts, label_purity, prevalence)
        total = counts.n_rows
        return cls._from_total(counts, prevalence, total, label_purity, "prevalence", least)

    @classmethod
    def from_positives(
        cls,
        counts: ScoreCounts,
        positives: Share,
        label_purity: Share = 1.0,
        sampling: Sampling = "single-sample",
    ) -> "Shares":
        """Make shares from the number of positives in the data set, labelled or not."""
        _check_sampling(sampling)
        if sampling == "case-control":
            raise InputError(
                "the number of positives in the data set says nothing in case-control sampling, "
                "where the number of labelled rows is a choice; give "
                f"{named('unlabeled_prevalence')}"
            )
        return cls._from_total(counts, positives, 1.0, label_purity, "positives")

    @classmethod
    def from_label_frequency(
        cls,
        counts: ScoreCounts,
        label_frequency: Share,
        label_purity: Share = 1.0,
        sampling: Sampling = "single-sample",
    ) -> "Shares":
        """Make shares from the share of all positives that carry a label (c)."""
        _check_sampling(sampling)
        if sampling == "case-control":
            raise InputError(
                f"{named('label_frequency')} is undefined in case-control sampling, where the "
                f"number of labelled rows is a choice; give {named('unlabeled_prevalence')} or "
                f"{named('prevalence')}"
            )
        counts.require("positive", "unlabeled")
        n_positive = _read(label_purity, "purity")[0] * counts.n_positive
        lowest = n_positive / (n_positive + counts.n_unlabeled)

        def share(frequency: float) -> float:
            if not lowest < frequency <= 1:
                raise InputError(
                    f"{named('label_frequency')} must be in ({lowest:.6g}, 1] for these counts; "
                    f"got {frequency:.6g}"
                )
            return (n_positive / frequency - n_positive) / counts.n_unlabeled

        share_of_unlabeled = _mapped(label_frequency, share, share)
        return cls(share_of_unlabeled, label_purity, given="label_frequency")

    @classmethod
    def _from_total(
        cls,
        counts: ScoreCounts,
        total: Share,
        scale: float,
        label_purity: Share,
        given: Given,
        least: float | None = None,
    ) -> "Shares":
        """Make shares from positives / scale in a single sample; `least` may be below the labels.

        Positives cannot be fewer than those labelled, nor the unlabeled rows purer than the labels.
        """
        counts.require("positive", "unlabeled")
        purity, span, _ = _read(label_purity, "purity")
        n_positive = purity * counts.n_positive
        low = n_positive / scale
        high = (n_positive + (span.low if span else purity) * counts.n_unlabeled) / scale

        def line(value: float) -> float:
            return (value * scale - n_positive) / counts.n_unlabeled

        def share(value: float) -> float:
            # Rounding must not refuse the lower end itself.
            if not (low * (1 - 1e-12) if least is None else least) <= value < high:
                raise InputError(
                    f"{named(given)} must be in [{low:.6g}, {high:.6g}) for these counts "
                    f"({counts.n_positive:,.6g} rows are labelled positive, "
                    f"{counts.n_unlabeled:,.6g} unlabeled); got {value:.6g}",
                    argument=given,
                )
            return max(0.0, line(value))

        shares = cls(_mapped(total, share, line), label_purity, given=given)
        value = _read(total, given)[0] if given == "prevalence" else low
        if least is not None and value < low * (1 - 1e-12):
            shares._set(population_prevalence=value)
        return shares

    def with_unlabeled_prevalence(self, value: float) -> "Shares":
        """Return another share among the unlabeled rows, known exactly; the purity stays.

        Examples
        --------
        >>> import undercount as uc
        >>> uc.Shares((0.1, 0.3)).with_unlabeled_prevalence(0.25).unlabeled_prevalence_interval
        """
        return self._with(
            unlabeled_prevalence=float(value),
            unlabeled_prevalence_interval=None,
            unlabeled_prevalence_error=0.0,
        )

    def with_purity(self, counts: ScoreCounts, value: float) -> "Shares":
        """Return another purity and the share that follows; whichever share was given stays.

        Examples
        --------
        >>> import undercount as uc
        >>> counts = uc.ScoreCounts.from_rows([1, 1, None, None, None, None], [6, 5, 4, 3, 2, 1])
        >>> moved = uc.Shares.from_positives(counts, 3).with_purity(counts, 0.75)
        >>> moved.unlabeled_prevalence, moved.positives(counts)
        (0.375, 3.0)
        """
        return self.exact(float(self.unlabeled_prevalence_at(counts, value)), value)

    def unlabeled_prevalence_at(
        self, counts: ScoreCounts, purity: Any, share: float | None = None
    ) -> Any:
        """Return the share among the unlabeled rows when the purity moves and the given one stays.

        It moves on a straight line (n_P = κ n_L + a n_U); below 0, apart from rounding, no share
        fits that purity. Another `share` may stand for that of the shares themselves.
        """
        share = self.unlabeled_prevalence if share is None else share
        slope = 0.0
        if self.sampling == "single-sample" and self.given == "label_frequency":
            slope = share / self.label_purity
        elif self.sampling == "single-sample" and self.given != "unlabeled_prevalence":
            slope = -counts.n_positive / counts.n_unlabeled
        moved = share + slope * (purity - self.label_purity)
        return np.where((moved < 0) & (moved > -_ROUNDING), 0.0, moved)

    def with_interval(self, low: float, high: float, error: float | None = None) -> "Shares":
        """Return the same share with other ends of its interval, and perhaps another error."""
        if error is None:
            error = self.unlabeled_prevalence_error
        return self._with(
            unlabeled_prevalence_interval=Interval(low, high), unlabeled_prevalence_error=error
        )

    def exact(self, share: float | None = None, purity: float | None = None) -> "Shares":
        """Return the same values, or others, as if they were known exactly."""
        return self._with(
            unlabeled_prevalence=self.unlabeled_prevalence if share is None else float(share),
            label_purity=self.label_purity if purity is None else float(purity),
            unlabeled_prevalence_interval=None,
            label_purity_interval=None,
            unlabeled_prevalence_error=0.0,
            label_purity_error=0.0,
        )

    def as_ranges(self, reach: float) -> "Shares":
        """Turn standard errors into ranges that reach this many of them to either side."""
        values: dict[str, Any] = {}
        tops = {"unlabeled_prevalence": self.label_purity - _MARGIN, "label_purity": 1.0}
        for name, most in tops.items():
            value, half = getattr(self, name), reach * getattr(self, f"{name}_error")
            if half > 0:
                high = min(value + half, most)
                ends = Interval(min(max(value - half, _MARGIN), high), high)
                values |= {f"{name}_interval": ends, f"{name}_error": 0.0}
        return self._with(**values)

    def below(self, limit: float) -> float:
        """Return a share just below a limit and the purity, where every metric ends."""
        return max(min(limit, self.label_purity) - _MARGIN, 0.0)

    def clip(self, share: Any) -> Any:
        """Pull shares among the unlabeled rows to where metrics exist."""
        return clip_share(share, self.label_purity)

    def unlabeled_prevalence_for(self, counts: ScoreCounts, prevalence: float) -> float:
        """Return the share among the unlabeled rows that makes this prevalence, possible or not."""
        if self.sampling == "case-control":
            return prevalence
        labelled = self.label_purity * counts.n_positive
        return (prevalence * counts.n_rows - labelled) / counts.n_unlabeled

    def positives(self, counts: ScoreCounts) -> float:
        """Return the number of positives in the data set: purity × labelled + share × unlabeled."""
        if self.sampling == "case-control":
            raise InputError("the number of positives is undefined in case-control sampling")
        labelled = self.label_purity * counts.n_positive
        return labelled + self.unlabeled_prevalence * counts.n_unlabeled

    def prevalence(self, counts: ScoreCounts) -> float:
        """Return the share of positives in the data set, or behind the unlabeled rows."""
        if self.sampling == "case-control":
            return self.unlabeled_prevalence
        if self.population_prevalence is not None:
            return self.population_prevalence
        return self.positives(counts) / counts.n_rows

    def stated(self, counts: ScoreCounts, share: float | None = None) -> tuple[Given, float]:
        """Return the name and the value of the argument that was given, perhaps at another share.

        Examples
        --------
        >>> import undercount as uc
        >>> counts = uc.ScoreCounts.from_rows([1, 1, None, None, None, None], [6, 5, 4, 3, 2, 1])
        >>> uc.Shares.from_prevalence(counts, 0.5).stated(counts, 0.0)
        ('prevalence', 0.3333333333333333)
        """
        moved = self if share is None else self.exact(float(clip_share(share, self.label_purity)))
        if self.given == "unlabeled_prevalence":
            return self.given, moved.unlabeled_prevalence
        return self.given, float(getattr(moved, self.given)(counts))

    def label_frequency(self, counts: ScoreCounts) -> float:
        """Return the share of all positives that carry a label; NaN if there are none."""
        if self.sampling == "case-control":
            raise InputError(f"{named('label_frequency')} is undefined in case-control sampling")
        labelled = self.label_purity * counts.n_positive
        return ratio(labelled, self.positives(counts), "label_frequency")


def clip_share(share: Any, purity: float) -> Any:
    """Pull shares among the unlabeled rows to between 0 and just below the purity."""
    return np.clip(share, 0.0, max(purity - _MARGIN, 0.0))


def clip_purity(purity: Any, share: float) -> Any:
    """Pull purities to between just above the share among the unlabeled rows and 1."""
    return np.clip(purity, share + _MARGIN, 1.0)


def _check_purity_above(share: float, purity: float) -> None:
    raise InputError(
        f"labelled rows must be purer than unlabeled ones: {named('unlabeled_prevalence')} < "
        f"{named('purity')}; got {share:.6g} and {purity:.6g}, so "
        f"{named('unlabeled_prevalence')} must be in [0, {purity:.6g})"
    )


def _least_prevalence(counts: ScoreCounts, label_purity: Share, prevalence: Share) -> float | None:
    """Return the least prevalence of a population that makes so many labelled rows by chance.

    None where the prevalence does not fall below their share at all. Labelled positives are at
    most the positives of the sample, whose number is binomial.
    """
    counts.require("positive", "unlabeled")
    value, span, _ = _read(prevalence, "prevalence")
    lowest = span.low if span else value
    total = counts.n_rows
    labelled = _read(label_purity, "purity")[0] * counts.n_positive / total
    if not 0 < lowest < labelled * (1 - 1e-12):
        return None
    size = total**2 / sum(counts.squared_weight)  # Kish's effective number of rows
    chance = float(betainc(labelled * size, size - labelled * size + 1, lowest))
    if chance < _RAREST:
        return None
    warn(
        MisfitWarning(
            f"{labelled:.4g} of the rows are labelled positive, more than the "
            f"{named('prevalence')} {lowest:.4g}, which chance explains (probability "
            f"{chance:.2g}): no unlabeled row is taken for positive",
            code="labels-above-prevalence",
            argument="prevalence",
        ),
        stacklevel=4,
    )
    return lowest


def _cut_range(counts: ScoreCounts, label_purity: Share, prevalence: Share) -> Share:
    """Let a range of the prevalence begin where the labels do, with a warning."""
    if not isinstance(prevalence, tuple | list):
        return prevalence
    counts.require("positive", "unlabeled")
    low, high = _ends(prevalence, "prevalence")
    least = _read(label_purity, "purity")[0] * counts.n_positive / counts.n_rows
    if not low < least * (1 - 1e-12) < high:
        return prevalence
    warn(
        MisfitWarning(
            f"{named('prevalence')} {100 * low:.3g} % – {100 * high:.3g} % begins at "
            f"{100 * least:.3g} % here: so many rows are labelled positive",
            code="range-cut",
            argument="prevalence",
        ),
        stacklevel=4,
    )
    return least, high


def _check_sampling(sampling: str) -> None:
    check_choice("sampling", sampling, SAMPLINGS)


def _read(share: Share, name: str) -> tuple[float, Interval | None, float]:
    """Return value, interval and standard error of a share in [0, 1]; NaN means none is known."""
    interval, error = None, 0.0
    if isinstance(share, Estimate):
        value, error = share.value, share.standard_error
        interval = None if math.isnan(share.low + share.high) else share.interval
    elif isinstance(share, tuple | list):
        interval = Interval(*_ends(share, name))
        value = (interval.low + interval.high) / 2
    else:
        value = _number(share, name)
    for part in (value, *((interval.low, interval.high) if interval else ())):
        if not 0 <= part <= 1:
            raise InputError(f"{named(name)} must be in [0, 1]; got {part}")
    return value, interval, 0.0 if math.isnan(error) else error


def _ends(share: Any, name: str) -> tuple[float, float]:
    """Return the ends of a range, which is (low, high)."""
    if len(share) != 2:  # noqa: PLR2004 - a range has two ends
        raise InputError(f"a range for {named(name)} is (low, high); got {share}")
    low, high = (_number(end, name) for end in share)
    if low > high:
        raise InputError(
            f"a range for {named(name)} starts with its lower end; got {share}; swap the ends"
        )
    return low, high


def _number(value: object, name: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{named(name)} must be a number, a range (low, high) or an Estimate; got {value!r}"
        ) from None
    return 0.0 if 0 < number < _LEAST_SHARE else number


def _mapped(
    share: Share, function: Callable[[float], float], slope: Callable[[float], float]
) -> Share:
    """Map value and ends of a share through a monotone function, its error by a slope; NaN stays.

    The slope is that of a function which need not stop where the first one does.
    """
    if isinstance(share, Estimate):
        ends, error = [share.low, share.high], share.standard_error
        if not math.isnan(sum(ends)):
            ends = sorted(function(end) for end in ends)
        if not math.isnan(error):
            step = max(error, 1e-9) / 100
            error *= abs(slope(share.value + step) - slope(share.value - step)) / (2 * step)
        value = function(share.value)
        return replace(share, value=value, low=ends[0], high=ends[1], standard_error=error)
    if isinstance(share, tuple | list):
        ends = sorted(function(end) for end in _ends(share, "a share"))
        return ends[0], ends[-1]
    return function(_number(share, "share"))


def read_shares(
    counts: ScoreCounts,
    *,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    label_purity: Any = 1.0,
    sampling: Sampling = "single-sample",
    target: Target = "dataset",
) -> Shares | None:
    """Make shares from the one prevalence argument that was given; None if none was.

    `target` says whether a prevalence is that of these rows or of the population they are from.
    `unlabeled_prevalence` may also be an estimator of `undercount.prevalence`, fitted or not.
    """
    choices = {
        "prevalence": prevalence,
        "unlabeled_prevalence": unlabeled_prevalence,
        "label_frequency": label_frequency,
    }
    given = {name: value for name, value in choices.items() if value is not None}
    if len(given) > 1:
        raise InputError(
            f"give one of {named('prevalence')}, {named('unlabeled_prevalence')} and "
            f"{named('label_frequency')}; the others follow from it; got "
            f"{' and '.join(map(named, given))}"
        )
    if hasattr(prevalence, "fit") or hasattr(label_frequency, "fit"):
        raise InputError(
            f"pass an estimator as {named('unlabeled_prevalence')}, which is what it finds"
        )
    if prevalence is not None:
        return Shares.from_prevalence(counts, prevalence, label_purity, sampling, target=target)
    if label_frequency is not None:
        return Shares.from_label_frequency(counts, label_frequency, label_purity, sampling)
    if unlabeled_prevalence is not None:
        share = _estimated(counts, unlabeled_prevalence, label_purity)
        return Shares(share, label_purity, sampling)
    return None


def _estimated(counts: ScoreCounts, share: Any, label_purity: Share) -> Share:
    """Ask an estimator, fitting a copy if it is not fitted yet; pass anything else through."""
    if not hasattr(share, "fit"):
        return cast("Share", share)
    if not hasattr(share, "unlabeled_prevalence_"):
        share = copy.deepcopy(share).fit(counts)
    check_purity_of(share, _read(label_purity, "purity")[0])
    return cast("Share", share.estimate())


def reads_scores(share: Any) -> bool:
    """Whether a share is an estimator that reads the scores themselves, not their order alone.

    Examples
    --------
    >>> from undercount.prevalence import Dedpul
    >>> from undercount.shares import reads_scores
    >>> reads_scores(Dedpul(scale="score")), reads_scores(Dedpul()), reads_scores(0.1)
    (True, False, False)
    """
    is_reader = hasattr(share, "reads_scores") and not isinstance(share, type)
    return is_reader and bool(share.reads_scores())


def check_purity_of(estimator: Any, purity: float) -> None:
    """Raise if a fitted estimator supposes another purity of the labels than the one given.

    With labels of purity κ the methods for pure labels find a/κ, not a (Jain, White, Radivojac
    2016), and `Consensus`, whose networks never saw a wrong label, something between the two.
    """
    name, found = type(estimator).__name__, getattr(estimator, "label_purity_", None)
    if found is not None and purity == 1:
        raise InputError(
            f"{name} finds share and purity together, here a purity of {found:.3g}; fit it and "
            "pass both: unlabeled_prevalence=fitted.unlabeled_prevalence_, "
            "purity=fitted.label_purity_"
        )
    if found is None and purity < 1 and getattr(estimator, "_pure_labels", False):
        raise InputError(
            f"{name} takes every label for right, so at purity {purity:.3g} it answers with "
            "another share; pass NoisyConsensus(), which allows for wrong labels, or a number"
        )
