"""Labels that were given with chances of their own, as the user says it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from undercount.assume.base import Assumption, LabelDates, ReportOptions
from undercount.assume.propensity.chances import Chances
from undercount.assume.propensity.recovery import ChancesRecovery
from undercount.assume.standing.recovery import shares_told
from undercount.count.arrays import read_floats
from undercount.errors import InputError
from undercount.infer.scored_rows import UNLABELED, RecountableRows, ScoredRows
from undercount.prevalence.late_labels import LateLabels


@dataclass(frozen=True, eq=False)
class LabelPropensity(Assumption):
    """Some positives are labelled more often than others, by chances that are known or estimated.

    Parameters
    ----------
    chance : array-like, str or classifier
        The chance that each row would carry a label if it were positive; only those of labelled
        rows are used. At rows found negative it is the chance that somebody looked, which is
        tested (UC022); NaN if they were found otherwise. Or a scikit-learn classifier, which is
        cross-fitted on `covariates` to tell rows that were looked at (labelled 1 or 0) from the
        others.
    covariates : array-like or str, optional
        What may have decided who was looked at, a row of values for each row.

    Notes
    -----
    Assumes: each positive was labelled by itself with its chance, and none of them is 0.
    Wrong when: chances were estimated from few rows, or miss what decided who was looked at.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth, large = rng.random(4000) < 0.2, rng.random(4000) < 0.5
    >>> chance = np.where(large, 0.8, 0.2)
    >>> y, score = truth & (rng.random(4000) < chance), rng.normal(2 * truth)
    >>> known = uc.LabelPropensity(chance)
    >>> evaluation = uc.evaluate(y, score, assume=known, unlabeled=0, threshold=1)
    >>> bool(evaluation["recall"].low < (score[truth] >= 1).mean() < evaluation["recall"].high)
    True
    """

    chance: Any
    covariates: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.chance, LateLabels):
            raise InputError("dates of labels are DelayedLabels.of(…)", argument="chance")

    @property
    def columns(self) -> dict[str, Any]:
        """The chances, if they are not to be fitted, and what they are fitted on."""
        columns = {} if hasattr(self.chance, "fit") else {"chance": self.chance}
        return columns if self.covariates is None else columns | {"covariates": self.covariates}

    def with_columns(self, columns: Mapping[str, Any]) -> "LabelPropensity":
        """Return the same with columns that were taken out of a frame."""
        return replace(self, **columns)

    @property
    def fits_columns(self) -> bool:
        """Whether a classifier is fitted on the covariates."""
        return hasattr(self.chance, "fit")

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> dict[str, ChancesRecovery]:
        """Find the chances, which belong to the rows, once for all models."""
        (first, model), *others = models.items()
        rows = model.rows("chance")
        about: dict[str, Any] = {"target": wanted.target or "dataset"}
        about["confidence_level"] = wanted.confidence_level
        chances = Chances.of(
            rows.labels,
            rows.scores,
            self.chance,
            unlabeled=UNLABELED,
            covariates=self.covariates,
            random_state=wanted.random_state,
            weight=rows.weights,
            cluster=model.cluster_codes,
            **about,
        )
        found = {first: chances}
        for name, other in others:
            found[name] = replace(chances, score=other.rows("chance").scores)
        recoveries = recover_chances(models, found, wanted)
        if self.fits_columns:
            return recoveries
        every = read_floats(self.chance, "chance")
        return {name: replace(each, of_every_row=every) for name, each in recoveries.items()}


@dataclass(frozen=True, eq=False)
class DelayedLabels(Assumption):
    """Labels arrive late, after delays that dates tell.

    Parameters
    ----------
    observed, found : array-like or str
        Date of each row, and of its label (missing where none has arrived).
    until : date, optional
        The day to which labels are complete; by default the last date there is.
    found_eventually : float
        Share of the positives that are ever found.

    Notes
    -----
    Assumes: labels of old rows and of new ones are equally late.
    Wrong when: labels have become slower, or arrive in batches that dates do not show.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth, day = rng.random(6000) < 0.2, rng.integers(0, 200, 6000)
    >>> found = np.where(truth, day + rng.exponential(20, 6000).astype(int), np.nan)
    >>> found[found > 200] = np.nan
    >>> score = rng.normal(2 * truth)
    >>> late = uc.DelayedLabels(day, found, until=200)
    >>> y = np.isfinite(found)
    >>> precision = uc.evaluate(y, score, assume=late, unlabeled=0, threshold=1)["precision"]
    >>> bool(precision.low < truth[score >= 1].mean() < precision.high)
    True
    """

    observed: Any
    found: Any
    _: KW_ONLY
    until: Any = None
    found_eventually: float = 1.0

    @classmethod
    def of(cls, fitted: LateLabels) -> "DelayedLabels":
        """Take dates that were read before."""
        assumption = cls(None, None)
        vars(assumption)["late"] = fitted
        return assumption

    @property
    def columns(self) -> dict[str, Any]:
        """The dates."""
        if self.observed is None:
            return {}
        return {"observed": self.observed, "found": self.found}

    def with_columns(self, columns: Mapping[str, Any]) -> "DelayedLabels":
        """Return the same with columns that were taken out of a frame."""
        return replace(self, **columns) if columns else self

    @property
    def dates(self) -> LabelDates:
        """Dates of rows and labels: those given, or those that delays were fitted to before."""
        if self.observed is not None:
            return LabelDates(self.observed, self.found, self.until, self.found_eventually)
        rows = self.late.rows_
        found = rows.observed + rows.delay
        return LabelDates(rows.observed, found, rows.until, self.late.found_eventually)

    @cached_property
    def late(self) -> LateLabels:
        """The delays that the dates tell."""
        estimator = LateLabels(found_eventually=self.found_eventually)
        return estimator.fit(self.observed, self.found, until=self.until)

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> dict[str, ChancesRecovery]:
        """Take the rows old enough, with the chance that their labels have arrived."""
        about: dict[str, Any] = {"target": wanted.target or "dataset"}
        about["confidence_level"] = wanted.confidence_level
        used, chances = {}, {}
        for name, model in models.items():
            used[name], old = self._old_enough(model)
            rows, whose = (old.labels, old.scores), used[name].cluster_codes
            more = {**about, "weight": old.weights, "cluster": whose}
            chances[name] = Chances.of(*rows, self.late, unlabeled=UNLABELED, **more)
        return recover_chances(used, chances, wanted)

    def _old_enough(self, model: ScoredRows) -> tuple[ScoredRows, RecountableRows]:
        """Return the rows old enough, as counts and in memory."""
        late, rows = self.late, model.rows("found")
        if not np.array_equal(rows.labels == 1, late.rows_.labelled):
            where = "found" if self.observed is not None else "LateLabels"
            hint = "" if self.observed is not None else "; pass its labels_ as y"
            raise InputError(
                f"the rows labelled positive must be those of which {where} has a date until its "
                f"last day{hint}",
                argument="found",
            )
        if late.prevalence_ >= 1:
            raise InputError(f"dates tell no number here: {late.unripe_words()}", argument="found")
        old = replace(
            rows,
            labels=rows.labels[late.usable_],
            scores=rows.scores[late.usable_],
            weights=None if rows.weights is None else rows.weights[late.usable_],
        )
        used, codes = replace(model, counts=old([]), recount=old), model.cluster_codes
        return used if codes is None else used.with_clusters(codes[late.usable_]), old


def recover_chances(
    models: Mapping[str, ScoredRows], chances: Mapping[str, Chances], wanted: ReportOptions
) -> dict[str, ChancesRecovery]:
    """Put rows beside their chances, which tell the share of hidden positives."""
    target, level = wanted.target or "dataset", wanted.confidence_level
    share = shares_told(models, chances, wanted)
    return {
        name: ChancesRecovery(model, share[name], target, level, chances[name])
        for name, model in models.items()
    }
