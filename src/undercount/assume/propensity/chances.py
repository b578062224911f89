"""Labels given with chances that differ from row to row: known, or estimated from covariates.

A labelled row of chance e stands for 1/e positives. The positives' scores are those of the
labelled rows so weighted, and all rows are themselves, so that every metric is read as from labels
that were drawn apart. Its variance is that of the labels (each drawn by itself with its chance)
and, for the population, of the rows.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.assume.standing.labels import StandingLabels
from undercount.count.arrays import check_row_order, read_floats, read_labels, read_scores
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import CODES, Check, InputError, named
from undercount.estimate import Estimate
from undercount.prevalence.fair_scores import ScoreTest
from undercount.prevalence.late_labels import DELAYS_ASSUME as LATE_NEEDS
from undercount.prevalence.late_labels import LateLabels

FOLDS = 5
FEW_EFFECTIVE = 30
# Share of all positives for which a single label may stand.
HEAVY = 0.1
PROPENSITY_ASSUMES = ("labelling chances",)


def read_chances(propensity: Any, labels: NDArray[Any]) -> FloatArray:
    """Return the chance of each row that was looked at, NaN elsewhere; unlabeled rows need none.

    Rows found negative may have none either (NaN): they need not have been found by these chances.
    """
    chance = read_floats(propensity, "chance")
    if chance.shape != labels.shape:
        raise InputError(
            f"{named('chance')} must hold a chance for each of {len(labels):,} rows; "
            f"got shape {chance.shape}",
            argument="chance",
        )
    labelled = labels == 1
    wrong = np.flatnonzero(labelled & ~((chance > 0) & (chance <= 1)))
    if wrong.size:
        raise InputError(
            f"{named('chance')} of a labelled row must be in (0, 1]; "
            f"got {chance[wrong[0]]:g} at row {wrong[0]}; {_chance_hint(chance[labelled])}",
            argument="chance",
        )
    usable = (labels != -1) & (chance > 0) & (chance <= 1)
    return np.where(usable, chance, np.nan)


def _chance_hint(chances: FloatArray) -> str:
    """Say what chances beyond 1 may be: percentages, or what a model scaled."""
    most = float(np.nanmax(chances))
    if most <= 1:
        return "a positive that cannot be labelled stands for any number: leave such rows out"
    if 5 < most <= 100:  # noqa: PLR2004 - percentages, and no chances that a model overdid
        return f"percentages are divided by 100: {most:g} % is {most / 100:g}"
    return "ratios are scaled by a known prevalence first, and then stay at most 1"


def fit_chances(
    classifier: Any, covariates: Any, labels: NDArray[Any], random_state: int | None
) -> FloatArray:
    """Return the chance that somebody looked at each row, by a classifier on other folds.

    Rows labelled positive or negative were looked at. Positives that were not looked at carry no
    label, so that the chance of having been looked at is that of a label.

    Notes
    -----
    Assumes: whether somebody looked depends on the covariates alone, not on the class beyond
    them; everybody who is looked at gets a label.
    Wrong when: rows were looked at because they looked positive in ways the covariates miss.
    """
    from sklearn.base import clone  # noqa: PLC0415 - only for classifiers
    from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: PLC0415

    if covariates is None:
        raise InputError(
            f"{named('chance')} as a classifier needs {named('covariates')}, one row of "
            "numbers for each row",
            argument="covariates",
        )
    if not np.any(labels == 0):
        raise InputError(
            f"{named('chance')} as a classifier needs rows that were looked at and found "
            "negative (0): among positives and unlabeled rows alone, a rare label may mean few "
            "positives or few looks. Pass the chances themselves as an array",
            argument="chance",
        )
    looked = labels != -1
    columns = np.asarray(covariates, dtype=float).reshape(len(labels), -1)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    chances = cross_val_predict(
        clone(classifier), columns, looked, cv=folds, method="predict_proba"
    )
    chance = np.asarray(chances[:, 1], dtype=float)
    _check_possible_labels(chance, labels)
    return chance


def _check_possible_labels(chance: FloatArray, labels: NDArray[Any]) -> None:
    """Refuse a classifier that calls impossible what happened; the rows are not at fault."""
    impossible = np.flatnonzero((labels == 1) & (chance <= 0))
    if impossible.size:
        raise InputError(
            f"the classifier of {named('chance')} gives a chance of 0 to "
            f"{impossible.size:,} rows that were labelled, the first at row {impossible[0]}; "
            "smooth it (min_samples_leaf=50 of a forest, say), calibrate it "
            "(CalibratedClassifierCV), or limit its chances from below. Keep the rows: without "
            "them every number would be too good",
            argument="chance",
        )


@dataclass(frozen=True, eq=False)
class Chances(StandingLabels):
    """Read every metric from labels that were given with chances of their own.

    Parameters
    ----------
    chance : array
        Chance of a label, had the row been positive; used at labelled rows. That of a row found
        negative, if it is known, is the chance that somebody looked, and tests the chances.
    estimated : bool
        Whether a classifier found the chances.
    late : LateLabels, optional
        Where dates of labels told the chances: their error is inside every interval.

    Notes
    -----
    Assumes: each positive was labelled by itself with its chance, and none of them is 0; with
    clusters all positives of one together.
    Wrong when: chances were estimated from few rows, or miss what decided who was looked at;
    `bounds` says how far metrics go if their odds are wrong by a factor.
    """

    chance: FloatArray
    estimated: bool = field(default=False, kw_only=True)
    late: LateLabels | None = field(default=None, kw_only=True)

    by_row: ClassVar[tuple[str, ...]] = (*StandingLabels.by_row, "chance")
    argument: ClassVar[str] = "chance"
    method: ClassVar[str] = "chances"

    @classmethod
    def of(cls, y: Any, score: Any, propensity: Any, **options: Any) -> "Chances":
        """Read rows and chances; a classifier is fitted on `covariates`."""
        unlabeled, covariates = options.pop("unlabeled", None), options.pop("covariates", None)
        random_state = options.pop("random_state", 0)
        check_row_order(y=y, score=score, chance=propensity, covariates=covariates)
        labels, scores = np.asarray(read_labels(y, unlabeled)), np.asarray(read_scores(score))
        if isinstance(propensity, LateLabels):
            chance = propensity.chance_[propensity.usable_]
            return cls(labels, scores, read_chances(chance, labels), **options, late=propensity)
        if isinstance(y, ScoreCounts) or labels.shape != scores.shape:
            raise InputError(f"{named('chance')} needs rows: labels and scores of the same length")
        fitted = hasattr(propensity, "fit")
        if fitted:
            propensity = fit_chances(propensity, covariates, labels, random_state)
        return cls(labels, scores, read_chances(propensity, labels), **options, estimated=fitted)

    @cached_property
    def looked(self) -> NDArray[np.bool_]:
        """Which rows were looked at with a known chance; none unless some were found negative."""
        exact = np.isfinite(self.chance) & (self.late is None)
        return np.asarray(exact & bool(np.any(exact & (self.labels == 0))))

    @cached_property
    def stands_for(self) -> FloatArray:
        """For how many positives each labelled row stands."""
        return self.weights[self.labelled] / self.chance[self.labelled]

    @cached_property
    def kept_back(self) -> FloatArray:
        """The part of each label's weight that chance decides on, as a standard error: √(1 - e)."""
        return np.sqrt(1 - self.chance[self.labelled])

    def weight_variance(self, adds: FloatArray) -> float:
        """Return the variance of what labels add that the error of estimated delays makes."""
        if self.late is None:
            return 0.0
        return self.late.chance_variance(adds, self.dated_rows[self.labelled])

    @property
    def dated_rows(self) -> NDArray[np.intp]:
        """Which of the rows with a date these are; all that are old enough, or a part of them."""
        usable = np.flatnonzero(cast("LateLabels", self.late).usable_)
        return usable if self.place is None else usable[self.place]

    def compare_late_scores(self) -> ScoreTest:
        """Test whether labels of high scores come sooner or later than others of these rows."""
        return cast("LateLabels", self.late).compare_scores(self.score, self.dated_rows)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the chances rest on."""
        return PROPENSITY_ASSUMES if self.late is None else LATE_NEEDS

    def label_frequencies(self, group: Any) -> Mapping[Any, Estimate]:
        """Estimate the share of the positives of each group that carry a label."""
        groups = np.asarray(group)
        if groups.shape != self.labels.shape:
            raise InputError(
                f"group must name one for each of {len(self.labels):,} rows; got {groups.shape}"
            )
        z = float(ndtri((1 + self.confidence_level) / 2))
        frequencies = {}
        for each in np.unique(groups[self.labelled]):
            chance = self.chance[self.labelled & (groups == each)]
            stands_for = float((1 / chance).sum())
            value = len(chance) / stands_for
            error = value * math.sqrt(float(((1 - chance) / chance**2).sum())) / stands_for
            ends = max(value - z * error, 0.0), min(value + z * error, 1.0)
            frequencies[each.item()] = Estimate(
                value, *ends, error, self.confidence_level, PROPENSITY_ASSUMES, "harmonic mean"
            )
        return frequencies

    def check(self) -> Check:
        """UC021: labels should not stand for too many positives each."""
        heaviest = float(self.stands_for.max()) / self.positives
        source = "estimated by a classifier" if self.estimated else "given"
        source = source if self.late is None else "told by the dates of labels"
        message = (
            f"labelling chances {source}, from {1 / self.stands_for.max():.2g} to "
            f"{1 / self.stands_for.min():.2g}: {len(self.stands_for):,} labels stand for "
            f"{self.positives:,.0f} positives and are worth {self.effective_size:,.0f} of equal "
            "chance"
        )
        young = 0 if self.late is None else int(np.count_nonzero(~self.late.usable_))
        message += f"; {young:,} rows too young for a label are left out" if young else ""
        if self.effective_size >= FEW_EFFECTIVE and heaviest <= HEAVY:
            return Check(CODES["chances"], "info" if self.estimated else "ok", message)
        return Check(
            CODES["chances"],
            "warn",
            message + f"; one of them stands for {100 * heaviest:.0f} % of all positives",
            "label more rows where chances are small",
        )
