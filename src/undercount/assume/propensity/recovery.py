"""Rows whose labels were given with chances of their own, with every question they answer."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from undercount.assume.base import Basis, OddsWords, PlanWords
from undercount.assume.propensity.chances import Chances
from undercount.assume.standing.recovery import StandingRecovery
from undercount.checks.fair_sample import balance_check, chances_check, found_check, mature_checks
from undercount.curve import FloatArray
from undercount.errors import Check
from undercount.infer.mixture import Target
from undercount.infer.scored_rows import ScoredRows

PROPENSITY_LIGHT_WORDS = {
    "given": "if the chances of a label are right",
    "open": "the chance of the labels leaves it open",
}
ODDS = OddsWords(
    "more labels, or other chances of a label",
    "{name} holds however wrong the odds of a label are",
    "{name} holds while the odds of a label are wrong by less than Γ = {gamma}",
)

PLAN_WORDS = {
    False: PlanWords("and labels are as likely as their chances say", "these are off a little"),
    True: PlanWords("and labels arrive as late as the dates say", "high scores are found sooner"),
}


@dataclass(frozen=True, eq=False)
class ChancesRecovery(StandingRecovery):
    """Labelled rows that stand for as many positives as their chance of a label says.

    Attributes
    ----------
    of_every_row : array, optional
        The chances that were given, of unlabeled rows too.

    Notes
    -----
    Assumes: each positive was labelled by itself with its chance, and none of them is 0.
    Wrong when: chances were estimated from few rows, or miss what decided who was looked at.
    """

    of_every_row: FloatArray | None = None

    @property
    def chances(self) -> Chances:
        """The rows with their chances, and what is read from them."""
        return cast("Chances", self.standing)

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        late = self.chances.late is not None
        how = "estimated" if self.chances.estimated else "given"
        return Basis(
            determined_by="dates of labels" if late else "labelling chances",
            source="dates of labels" if late else f"labelling chances {how}",
            limited=False,
            premise="If the chances of a label are right, ",
            question=f"Are the chances of a label right?{self._certain_words}",
            lights=PROPENSITY_LIGHT_WORDS,
            odds_words=ODDS,
            bias_premise="if the odds of each chance of a label are wrong by a factor of up to Γ = "
            "{gamma:g}",
            reviewable=False,
            sliders=False,
            plan_words=PLAN_WORDS[late],
            rows=", each with a chance of its own",
        )

    @property
    def usable(self) -> NDArray[np.bool_] | None:
        """Which of the rows that were given are old enough; None: all."""
        return None if self.chances.late is None else self.chances.late.usable_

    def take(self, used: ScoredRows, place: NDArray[np.intp], target: Target) -> Self:
        """Return the recovery of some of the rows, which are a part of these."""
        every = None if self.of_every_row is None else self.of_every_row[place]
        return replace(super().take(used, place, target), of_every_row=every)

    @property
    def label_chances(self) -> FloatArray | None:
        """The chances of independent rows without weights, if all of them have one."""
        alone = self.used.clusters is None and not self.counts.weighted
        known = self.of_every_row is not None and bool(np.isfinite(self.of_every_row).all())
        return self.of_every_row if alone and known else None

    @property
    def no_gamma_words(self) -> str:
        """Why nothing is followed along a labelling bias."""
        return (
            f"a sweep over gamma supposes random labels, and the {self.basis.determined_by} say "
            "that some are likelier; bias_bounds() has the ends if the odds of each chance are "
            "wrong by Γ"
        )

    @property
    def _certain_words(self) -> str:
        """Say what a chance of 1 claims where others are less: it may be the top of a ratio."""
        given = self.chances.chance[self.chances.labelled]
        if given.max() < 1 or given.min() == 1:
            return ""
        return (
            " Where they are 1, no positive is hidden; if only ratios are known, scale them until "
            "the labels give a known prevalence (undercount explain 'labelling chances')."
        )

    @property
    def not_by_labels(self) -> str:
        """Why labels alone do not answer a question under this assumption."""
        return "would suppose that labels are random, and theirs is a chance of its own here"

    @property
    def _own_checks(self) -> list[Check]:
        """What speaks against the chances."""
        chances = self.chances
        if chances.late is not None:
            late = found_check(chances.compare_late_scores())
            return [chances.check(), late, *mature_checks(chances.late)]
        unbalanced = balance_check(chances.score, chances.looked, chances.chance)
        fair = chances_check(chances.score[chances.labelled], chances.stands_for)
        return [chances.check(), unbalanced or fair]
