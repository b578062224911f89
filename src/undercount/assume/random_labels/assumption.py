"""Labels that are a random sample of the positives, as the user says it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from undercount.assume.base import Assumption, Wanted
from undercount.assume.random_labels.hidden_share import shared_share
from undercount.assume.random_labels.recovery import RandomLabelsRecovery
from undercount.errors import check_choice
from undercount.infer.resampled import PrevalenceInterval
from undercount.infer.scored_rows import ScoredRows
from undercount.shares import SAMPLINGS, Sampling


@dataclass(frozen=True, eq=False)
class RandomLabels(Assumption):
    """Labelled positives are a random sample of all positives.

    Parameters
    ----------
    prevalence, unlabeled_prevalence, label_frequency : number, (low, high) or Estimate
        At most one: the share of positives among all rows, among the unlabeled rows, or the share
        of all positives that carry a label. `unlabeled_prevalence` may also be an estimator of
        `undercount.prevalence`. None: estimated from the scores.
    purity : number, (low, high) or Estimate
        Share of the rows labelled positive that really are.
    sampling : {"single-sample", "case-control"}
        Whether labelled rows were part of the sample before they were labelled.
    interval : {"calibrated", "bootstrap", "combined"}, optional
        How the uncertainty of a share that is estimated here reaches the intervals.
    n_resamples : int
        Resamples for the last two.

    Notes
    -----
    Assumes: labels prefer no positive to another; the share, if one is given.
    Wrong when: some positives are more likely to be labelled than others.
    """

    prevalence: Any = None
    unlabeled_prevalence: Any = None
    label_frequency: Any = None
    purity: Any = 1.0
    sampling: Sampling = "single-sample"
    interval: PrevalenceInterval | None = None
    n_resamples: int = 200

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: Wanted
    ) -> dict[str, RandomLabelsRecovery]:
        """Take the share that was given, or estimate one for all models."""
        check_choice("sampling", self.sampling, SAMPLINGS)
        for model in models.values():
            model.counts.require("positive", "unlabeled")
        target = wanted.target or ("dataset" if self.sampling == "single-sample" else "population")
        known = shared_share(
            {name: model.counts_for_share(self.sampling) for name, model in models.items()},
            prevalence=self.prevalence,
            unlabeled_prevalence=self.unlabeled_prevalence,
            label_frequency=self.label_frequency,
            label_purity=self.purity,
            sampling=self.sampling,
            target=target,
            confidence_level=wanted.confidence_level,
            random_state=wanted.random_state,
            prevalence_interval=self.interval,
            n_resamples=self.n_resamples,
            progress=wanted.progress,
        )
        level = wanted.confidence_level
        return {
            name: RandomLabelsRecovery(model, known[name], target, level)
            for name, model in models.items()
        }
