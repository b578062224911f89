"""Labels that were given with chances of their own, as the user says it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from undercount.assume.base import Assumption, Wanted
from undercount.assume.propensity.chances import Chances
from undercount.assume.propensity.recovery import ChancesRecovery
from undercount.assume.random_labels.hidden_share import shared_share
from undercount.errors import InputError, named
from undercount.infer.scored_rows import UNLABELED, RecountableRows, ScoredRows
from undercount.prevalence.late_labels import LateLabels


@dataclass(frozen=True, eq=False)
class LabelPropensity(Assumption):
    """Some positives are labelled more often than others, by chances that are known or estimated.

    Parameters
    ----------
    chance : array-like or classifier
        The chance that each row would carry a label if it were positive; or a scikit-learn
        classifier, which is cross-fitted on `covariates` to tell rows that were looked at.
    covariates : array-like, optional
        What may have decided who was looked at, a row of values for each row.

    Notes
    -----
    Assumes: each positive was labelled by itself with its chance, and none of them is 0.
    Wrong when: chances were estimated from few rows, or miss what decided who was looked at.
    """

    chance: Any
    covariates: Any = None

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: Wanted
    ) -> dict[str, ChancesRecovery]:
        """Find the chances, which belong to the rows, once for all models."""
        (first, model), *others = models.items()
        rows = model.rows("propensity")
        about: dict[str, Any] = {"target": wanted.target or "dataset"}
        about["confidence_level"] = wanted.confidence_level
        chances = Chances.of(
            rows.labels,
            rows.scores,
            self.chance,
            unlabeled=UNLABELED,
            covariates=self.covariates,
            random_state=wanted.random_state,
            **about,
        )
        found = {first: chances}
        for name, other in others:
            found[name] = replace(chances, score=other.rows("propensity").scores)
        return recover_chances(models, found, wanted)


@dataclass(frozen=True, eq=False)
class DelayedLabels(Assumption):
    """Labels arrive late, after delays that dates tell.

    Parameters
    ----------
    late : LateLabels
        Fitted to the dates of rows and labels.

    Notes
    -----
    Assumes: labels of old rows and of new ones are equally late.
    Wrong when: labels have become slower, or arrive in batches that dates do not show.
    """

    late: LateLabels

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: Wanted
    ) -> dict[str, ChancesRecovery]:
        """Take the rows old enough, with the chance that their labels have arrived."""
        about: dict[str, Any] = {"target": wanted.target or "dataset"}
        about["confidence_level"] = wanted.confidence_level
        used, chances = {}, {}
        for name, model in models.items():
            used[name], old = self._old_enough(model)
            rows = old.labels, old.scores
            chances[name] = Chances.of(*rows, self.late, unlabeled=UNLABELED, **about)
        return recover_chances(used, chances, wanted)

    def _old_enough(self, model: ScoredRows) -> tuple[ScoredRows, RecountableRows]:
        """Return the rows old enough, as counts and in memory."""
        late, rows = self.late, model.rows("propensity")
        if not np.array_equal(rows.labels == 1, late.rows_.labelled):
            raise InputError(
                f"the rows labelled positive must be those of which {named('propensity')} has a "
                "date until its last day; pass its labels_ as y",
                argument="propensity",
            )
        if late.prevalence_ >= 1:
            raise InputError(
                f"dates tell no number here: {late.unripe_words()}", argument="propensity"
            )
        old = replace(
            rows,
            labels=rows.labels[late.usable_],
            scores=rows.scores[late.usable_],
            weights=None if rows.weights is None else rows.weights[late.usable_],
        )
        return replace(model, counts=old([]), recount=old), old


def recover_chances(
    models: Mapping[str, ScoredRows], chances: Mapping[str, Chances], wanted: Wanted
) -> dict[str, ChancesRecovery]:
    """Put rows beside their chances, which tell the share of hidden positives."""
    for model in models.values():
        model.counts.require("positive", "unlabeled")
    target, level = wanted.target or "dataset", wanted.confidence_level
    known = shared_share(
        {name: model.counts for name, model in models.items()},
        unlabeled_prevalence=next(iter(chances.values())).share,
        target=target,
        confidence_level=level,
        random_state=wanted.random_state,
    )
    return {
        name: ChancesRecovery(model, known[name], target, level, chances[name])
        for name, model in models.items()
    }
