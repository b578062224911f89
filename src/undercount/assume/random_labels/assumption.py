"""Labels that are a random sample of the positives, as the user says it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from undercount.assume.base import Assumption, ReportOptions, ShareSource, Unknowns
from undercount.assume.random_labels.hidden_share import ShareLimits, shared_share
from undercount.assume.random_labels.recovery import RandomLabelsRecovery
from undercount.assume.random_labels.segments.given import labels_of_all
from undercount.assume.random_labels.segments.recoveries import RandomLabelsSegments
from undercount.assume.segments import SegmentRecoveries
from undercount.counts import ScoreCounts
from undercount.errors import InputError, check_choice
from undercount.infer.clusters import ClusterRows
from undercount.infer.resampled import PrevalenceInterval
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.segmented_rows import Segmentation
from undercount.shares import SAMPLINGS, Sampling, reads_scores

# Intervals of an estimated share that resample rows, or clusters of them.
RESAMPLED = ("bootstrap", "combined")


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
        Share of the rows labelled positive that really are. Below 1, counts that merge scores
        give average precision and the areas' intervals approximately.
    sampling : {"single-sample", "case-control"}
        Whether labelled rows were part of the sample before they were labelled.
    estimator : estimator, optional
        Of `undercount.prevalence`, fitted or not: what estimates the share. The default is
        `Consensus`; `TwoLabels` if at least 30 rows of each class are known, and if they do not
        contradict the scores; `NoisyConsensus` if `purity` is below 1.
    interval : {"calibrated", "bootstrap", "combined"}, optional
        How the uncertainty of a share that is estimated here reaches the intervals. "calibrated"
        (the default): by the estimator's own interval, which holds sampling noise and the
        estimator's bias. "bootstrap": rows are resampled, or clusters where they come in some;
        sampling noise alone. "combined": the resamples, their shares spread as widely as the
        estimator's interval.
    n_resamples : int
        Resamples for the last two; each estimates the share anew, some 25 ms.
    covariates : array-like or str, optional
        What may have decided who was labelled: a test whether labels can be a fair sample (UC022).

    Notes
    -----
    Assumes: labels prefer no positive to another; the share, if one is given.
    Wrong when: some positives are more likely to be labelled than others.

    Examples
    --------
    >>> import undercount as uc
    >>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> fair = uc.RandomLabels(prevalence=0.5)
    >>> round(uc.evaluate(y, score, assume=fair, unlabeled=0, threshold=6)["precision"].value, 3)
    0.889
    """

    prevalence: Any = None
    _: KW_ONLY
    unlabeled_prevalence: Any = None
    label_frequency: Any = None
    purity: Any = 1.0
    sampling: Sampling = "single-sample"
    estimator: Any = None
    interval: PrevalenceInterval | None = None
    n_resamples: int = 200
    covariates: Any = None

    def __post_init__(self) -> None:
        if self.estimator is not None and self.unlabeled_prevalence is not None:
            raise InputError("give an estimator or unlabeled_prevalence, not both")

    @property
    def hidden(self) -> Any:
        """The share of positives among the unlabeled rows, or what estimates it."""
        return self.unlabeled_prevalence if self.estimator is None else self.estimator

    @property
    def given(self) -> dict[str, Any]:
        """What is said of the share, by argument."""
        return {
            "prevalence": self.prevalence,
            "unlabeled_prevalence": self.hidden,
            "label_frequency": self.label_frequency,
        }

    def with_shares(
        self,
        *,
        prevalence: Any = None,
        unlabeled_prevalence: Any = None,
        label_frequency: Any = None,
    ) -> "RandomLabels":
        """Return the same of rows with another share."""
        return replace(
            self,
            prevalence=prevalence,
            unlabeled_prevalence=unlabeled_prevalence,
            label_frequency=label_frequency,
            estimator=None,
        )

    @property
    def columns(self) -> dict[str, Any]:
        """What may have decided who was labelled."""
        return {} if self.covariates is None else {"covariates": self.covariates}

    def with_columns(self, columns: Mapping[str, Any]) -> "RandomLabels":
        """Return the same with columns that were taken out of a frame."""
        return replace(self, **columns)

    @property
    def every_score(self) -> bool:
        """With impure labels average precision and the areas' intervals need every score."""
        pure = isinstance(self.purity, int | float) and self.purity == 1
        return not pure or reads_scores(self.hidden)

    @property
    def apart(self) -> bool:
        """Whether labelled and unlabeled rows were sampled separately (case-control)."""
        return self.sampling == "case-control"

    @property
    def share_source(self) -> ShareSource:
        """What tells the share of hidden positives."""
        stated = [self.prevalence, self.hidden, self.label_frequency]
        stated = [share for share in stated if share is not None]
        if not stated:
            return "labels"
        return "estimator" if hasattr(stated[0], "fit") else "assumption"

    def check_rows(self, rows: ScoredRows) -> None:
        """Raise where rows that are resampled by cluster are not here."""
        if rows.clusters is not None and self.interval in RESAMPLED:
            rows.rows("interval")

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> dict[str, RandomLabelsRecovery]:
        """Take the share that was given, or estimate one for all models."""
        check_choice("sampling", self.sampling, SAMPLINGS)
        for model in models.values():
            model.counts.require("positive", "unlabeled")
        target = wanted.target or ("dataset" if self.sampling == "single-sample" else "population")
        counts = {name: model.counts_for_share(self.sampling) for name, model in models.items()}
        labels = self._with_rows(next(iter(models.values())))
        clusters = {name: model.row_clusters for name, model in models.items()}
        about = wanted._replace(target=target)
        shares = labels.find_shares(counts, about, clusters=clusters)
        level = wanted.confidence_level
        return {
            name: RandomLabelsRecovery(
                model, shares[name], target, level, self.covariates, self.hidden
            )
            for name, model in models.items()
        }

    def _with_rows(self, rows: ScoredRows) -> "RandomLabels":
        """Return the same with the share of two sources, if they tell it, as these rows weigh."""
        weighted = rows.counts.weighted
        if not hasattr(self.hidden, "with_rows") or not (weighted or rows.clusters is not None):
            return self
        own = rows.rows("sample_weight" if weighted else "cluster")
        check_found(self.hidden, own.labels)
        estimator = self.hidden.with_rows(own.weights, rows.cluster_codes)
        return self.with_shares(unlabeled_prevalence=estimator)

    def find_shares(
        self,
        models: Mapping[str, ScoreCounts],
        wanted: ReportOptions,
        limits: ShareLimits | None = None,
        clusters: Mapping[str, ClusterRows | None] | None = None,
    ) -> dict[str, Unknowns]:
        """Take the share that was given, or estimate one for all models; see `shared_share`."""
        return shared_share(
            models,
            **self.given,
            label_purity=self.purity,
            sampling=self.sampling,
            target=wanted.target or "dataset",
            confidence_level=wanted.confidence_level,
            random_state=wanted.random_state,
            prevalence_interval=self.interval,
            n_resamples=self.n_resamples,
            progress=wanted.progress,
            limits=limits,
            clusters=clusters,
        )

    def recover_segments(
        self, models: Mapping[str, ScoredRows], segmentation: Segmentation, wanted: ReportOptions
    ) -> SegmentRecoveries:
        """Share out what is known of all rows, or pool what segments say of their shares."""
        parts = {name: segmentation.split(name, model) for name, model in models.items()}
        first = {key: part.rows.counts for key, part in next(iter(parts.values())).items()}
        whole = labels_of_all(self, first).recover(models, wanted)
        return RandomLabelsSegments.of(self, whole, parts, wanted)


def check_found(estimator: Any, labels: Any) -> None:
    """Raise unless the rows labelled positive are those that either of two sources found."""
    if estimator.labels_ is not None and not np.array_equal(labels == 1, estimator.labels_ == 1):
        raise InputError(
            "the rows labelled positive must be those that either source found: pass "
            "first | second as y",
            argument="first",
        )


@dataclass(frozen=True, eq=False)
class TwoSources(Assumption):
    """Two ways of finding positives, each blind to what the other found.

    Parameters
    ----------
    first, second : array-like or str
        Whether each way found a row, 1 or 0. `y` holds what either found.
    dependence : number or (low, high)
        Odds ratio of being found by both ways: 1 if they are independent, above 1 if what is easy
        for one is easy for the other.
    purity : number, (low, high) or Estimate
        Share of the rows found positive that really are.

    Notes
    -----
    Assumes: what one way finds is no likelier to be found by the other, but for `dependence`.
    Wrong when: some positives are hard for both, so that more are hidden than either shows.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(4000) < 0.2
    >>> first, second = (truth & (rng.random(4000) < share) for share in (0.5, 0.4))
    >>> score = rng.normal(2 * truth)
    >>> sources = uc.TwoSources(first, second)
    >>> evaluation = uc.evaluate(first | second, score, assume=sources, unlabeled=0, threshold=1)
    >>> bool(evaluation["precision"].low < truth[score >= 1].mean() < evaluation["precision"].high)
    True
    """

    first: Any
    second: Any
    dependence: float | tuple[float, float] = (1.0, 3.0)
    _: KW_ONLY
    purity: Any = 1.0

    @property
    def columns(self) -> dict[str, Any]:
        """What each way found."""
        return {"first": self.first, "second": self.second}

    def with_columns(self, columns: Mapping[str, Any]) -> "TwoSources":
        """Return the same with columns that were taken out of a frame."""
        return replace(self, **columns)

    @cached_property
    def labels(self) -> RandomLabels:
        """What the two together say of labels that either gave."""
        from undercount.prevalence import TwoSources as Estimator  # noqa: PLC0415 - scikit-learn

        estimator = Estimator(odds_ratio=self.dependence).fit(self.first, self.second)
        return RandomLabels(estimator=estimator, purity=self.purity)

    @property
    def every_score(self) -> bool:
        """As of random labels."""
        return self.labels.every_score

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> dict[str, RandomLabelsRecovery]:
        """Take the share that the two sources tell."""
        self._check_labels(models)
        return self.labels.recover(models, wanted)

    def recover_segments(
        self, models: Mapping[str, ScoredRows], segmentation: Segmentation, wanted: ReportOptions
    ) -> SegmentRecoveries:
        """Share out what the two sources tell."""
        self._check_labels(models)
        return self.labels.recover_segments(models, segmentation, wanted)

    def _check_labels(self, models: Mapping[str, ScoredRows]) -> None:
        """Raise unless the labelled rows are those that either source found."""
        for model in models.values():
            own = getattr(model.recount, "labels", None)
            if own is not None:
                check_found(self.labels.estimator, own)
