"""One call for "how good is my model really?", for one model or for several on the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from undercount.assume.labelled import naive_curve
from undercount.assume.mixture import TARGETS, Target, design_of
from undercount.count.arrays import read_labels, read_scores, read_weights
from undercount.count.kernel.array_library import is_tensor
from undercount.count.tensors import device_rows
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import (
    CODES,
    InputError,
    LibraryWarning,
    check_choice,
    collect_warnings,
    named,
)
from undercount.estimate import check_confidence_level
from undercount.read.chances import Chances
from undercount.read.checks import (
    checklist,
    clusters_check,
    flagged_check,
    looks_leaked,
    naive_check,
    negatives_check,
    spoken,
    with_warnings,
)
from undercount.read.deployed import read_deploy_prevalence
from undercount.read.evaluation import POINT_METRICS, Evaluation, MetricRow, read_threshold
from undercount.read.fair_sample import chances_check, groups_check
from undercount.read.hidden_share import HiddenShare, shared_share
from undercount.read.intervals.clusters import ClusterRows, read_clusters
from undercount.read.intervals.resampled import PrevalenceInterval, Progress
from undercount.read.sensitivity import AREAS
from undercount.shares import SAMPLINGS, Sampling, Shares

# Intervals of an estimated share that resample rows, as if they were independent.
RESAMPLED = ("bootstrap", "combined")
UNLABELED = -1  # as `read_labels` codes it


def evaluate(
    y: Any,
    score: Any = None,
    *,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    label_purity: Any = 1.0,
    sampling: Sampling = "single-sample",
    unlabeled: float | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
    propensity: Any = None,
    covariates: Any = None,
    deploy_prevalence: float | None = None,
    threshold: float | None = None,
    target: Target | None = None,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    name: str = "score",
    prevalence_interval: PrevalenceInterval | None = None,
    n_resamples: int = 200,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a classifier from its scores and incomplete labels.

    Parameters
    ----------
    y : array-like or ScoreCounts
        1 positive, 0 negative, missing unlabeled; or counts, and then no `score`.
    score : array-like
        Higher means more positive.
    prevalence, unlabeled_prevalence, label_frequency : number, (low, high) or Estimate
        At most one: the share of positives among all rows, among the unlabeled rows, or the share
        of all positives that carry a label. `unlabeled_prevalence` may also be an estimator of
        `undercount.prevalence`, fitted or not. None: estimated, with its interval, by `Consensus`;
        by `TwoLabels` if at least 30 rows of each class are known, and if they do not contradict
        the scores; by `NoisyConsensus` if `label_purity` is below 1.
    label_purity : number, (low, high) or Estimate
        Share of the rows labelled positive that really are. Below 1, counts that merge scores
        give average precision and the areas' intervals approximately.
    sampling : {"single-sample", "case-control"}
        Whether labelled rows were part of the sample before they were labelled.
    unlabeled : number, optional
        Value in `y` that means unlabeled.
    sample_weight : array-like, optional
        Importance of each row.
    cluster : array-like, optional
        Whose each row is (a customer, a patient, a document), if rows are alike within and labels
        were given to all positives of one at once. Intervals then rest on clusters, not on rows.
    propensity : array-like or classifier, optional
        The chance that each row would carry a label if it were positive; only those of labelled
        rows are used, and no prevalence is needed. Or a scikit-learn classifier, which is
        cross-fitted on `covariates` to tell rows that were looked at (labelled 1 or 0) from the
        others.
    covariates : array-like, optional
        What may have decided who was looked at, a row of values for each row. Without
        `propensity` they test whether labels can be a fair sample (UC022).
    deploy_prevalence : float, optional
        Share of positives where the classifier will work, if it is not that of these rows. The
        table is that of these rows; `Evaluation.deployed` has the metrics there.
    threshold : float, optional
        Rows with score >= threshold are predicted positive.
    target : {"dataset", "population"}, optional
        What the intervals speak of; by default this data set in a single sample, the population
        behind the unlabeled rows in case-control.
    confidence_level : float
        Of all intervals. An estimator is fitted at this level; the interval of one that is fitted,
        or of an Estimate with a standard error, is moved to it by normal quantiles.
    random_state : int
        Seed of estimators and resampling.
    name : str
        What the score is called in tables and reports.
    prevalence_interval : {"calibrated", "bootstrap", "combined"}, optional
        How the uncertainty of a share that is estimated here reaches the intervals.
        "calibrated" (the default): by the estimator's own interval, which holds sampling noise
        and the estimator's bias, added in squares. "bootstrap": the counts are resampled, the
        share estimated and every metric computed on each resample; sampling noise alone.
        "combined": the resamples, their shares spread as widely as the estimator's interval.
    n_resamples : int
        Resamples for the last two; each estimates the share anew, some 25 ms.
    progress : callable, optional
        Told the share of the resamples that is done.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives; rows are independent, or
    with `cluster` come in independent clusters that were labelled as a whole. With `propensity`
    labels may prefer some positives, as long as the chances are right.
    Wrong when: some positives are more likely to be labelled than others; `break_even` says how
    large such a bias a conclusion survives.

    Examples
    --------
    >>> import undercount as uc
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.2
    >>> y = truth & (rng.random(5000) < 0.5)
    >>> evaluation = uc.evaluate(
    ...     y, rng.normal(2.0 * truth), unlabeled=0, prevalence=0.2, threshold=1.0
    ... )
    >>> [row.label for row in evaluation.rows][:3]
    ['recall@1', 'precision@1', 'f1@1']
    """
    # With impure labels average precision and the areas' intervals need every score.
    check_name(name)
    pure = isinstance(label_purity, int | float) and label_purity == 1
    model = count_model(
        y, score, unlabeled, sample_weight, threshold, cluster=cluster, compact=pure
    )
    if propensity is not None:
        chances = Chances.of(
            y,
            score,
            propensity,
            covariates=covariates,
            unlabeled=unlabeled,
            random_state=random_state,
            target=target or "dataset",
            confidence_level=confidence_level,
        )
        model = replace(model, chances=chances)
    if deploy_prevalence is not None:
        deploy_prevalence = read_deploy_prevalence(deploy_prevalence)
    made = evaluate_models(
        {name: model},
        prevalence=prevalence,
        unlabeled_prevalence=unlabeled_prevalence,
        label_frequency=label_frequency,
        label_purity=label_purity,
        sampling=sampling,
        target=target,
        confidence_level=confidence_level,
        random_state=random_state,
        prevalence_interval=prevalence_interval,
        n_resamples=n_resamples,
        progress=progress,
    )[name]
    if covariates is not None and propensity is None:
        if model.recount is None:
            raise InputError(f"{named('covariates')} need rows; counts do not say whose they are")
        rows = model.recount
        check = groups_check(rows.labels, rows.scores, covariates, made.shares)
        made = replace(made, checks=(*made.checks, check))
    return replace(made, deploy_prevalence=deploy_prevalence)


def check_name(name: object) -> None:
    """Raise unless a model's name is text."""
    if not isinstance(name, str):
        raise InputError(f"{named('name')} must be text; got {name!r}")


@dataclass(frozen=True)
class CountedModel:
    """Hold the counts of one model's scores, its threshold, and how to count once more."""

    counts: ScoreCounts
    threshold: float | None = None
    recount: "RecountableRows | None" = None
    clusters: ClusterRows | None = None
    chances: Chances | None = None

    def counts_for_share(self, sampling: Sampling) -> ScoreCounts:
        """Return counts with effective sizes of independent rows, by their ROC AUC."""
        if self.clusters is None:
            return self.counts
        design = design_of(self.counts, None, sampling, "population")
        return self.clusters.discounted(self.counts, design, "roc_auc")


def _share_of_chances(
    model: CountedModel, sampling: Sampling, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the share that labelling chances tell; what does not go with them is refused."""
    if model.chances is None:
        return {}
    told = ("prevalence", "unlabeled_prevalence", "label_frequency", "prevalence_interval")
    others = [name for name in told if options.get(name) is not None]
    others += [] if options.get("label_purity", 1.0) == 1 else ["label_purity"]
    others += ["sampling"] if sampling != "single-sample" else []
    others += ["cluster"] if model.clusters is not None else []
    others += ["sample_weight"] if model.counts.weighted else []
    if others:
        raise InputError(
            f"{named('propensity')} tells how many positives there are, from rows that are one "
            f"sample and labels that are right; leave out {named(others[0])}",
            argument=others[0],
        )
    return {"unlabeled_prevalence": model.chances.share}


def evaluate_models(
    models: Mapping[str, CountedModel],
    *,
    sampling: Sampling = "single-sample",
    target: Target | None = None,
    confidence_level: float = 0.95,
    **options: Any,
) -> dict[str, Evaluation]:
    """Evaluate models on the same rows, which have one share of hidden positives.

    Parameters
    ----------
    models : mapping
        Name of each model → its counts.
    sampling, target, confidence_level, **options
        As in `evaluate`.
    """
    check_confidence_level(confidence_level)
    check_choice("sampling", sampling, SAMPLINGS)
    if target is not None:
        check_choice("target", target, TARGETS)
    for model in models.values():
        model.counts.require("positive", "unlabeled")
        if model.clusters is not None and options.get("prevalence_interval") in RESAMPLED:
            raise InputError(
                f"{named('cluster')} does not go with {named('prevalence_interval')} "
                f"{options['prevalence_interval']!r}, which resamples rows; leave it out",
                argument="prevalence_interval",
            )
    options |= _share_of_chances(next(iter(models.values())), sampling, options)
    target = target or ("dataset" if sampling == "single-sample" else "population")
    hidden = shared_share(
        {name: model.counts_for_share(sampling) for name, model in models.items()},
        sampling=sampling,
        target=target,
        confidence_level=confidence_level,
        **options,
    )
    return {
        name: _evaluate(name, model, hidden[name], target, confidence_level)
        for name, model in models.items()
    }


def _evaluate(
    name: str, model: CountedModel, hidden: HiddenShare, target: Target, confidence_level: float
) -> Evaluation:
    """Make the table of one model, then its checks."""
    made = Evaluation(
        model.counts,
        hidden.shares,
        target,
        confidence_level,
        model.threshold,
        hidden.source,
        (),
        (),
        hidden.largest_share,
        hidden.upper_bound,
        hidden.interval,
        hidden.estimates,
        name,
        model.recount,
        hidden.resamples,
        hidden.model,
        naive_curve=naive_curve(model.counts),
        clusters=model.clusters,
        chances=model.chances,
    )
    with collect_warnings() as warned:  # they become checks
        made = replace(made, rows=_rows(made))
    if model.chances is not None:
        return _checked_chances(made, model.chances, warned)
    checks = [
        *checklist(
            model.counts_for_share(hidden.shares.sampling),
            hidden.shares,
            naive=made.naive_curve,
            estimates=hidden.estimates,
            identified=hidden.identified,
            estimated=hidden.estimated,
        ),
        naive_check(made.rows, hidden.shares),
    ]
    if model.clusters is not None:
        checks.append(clusters_check(made.clustered_design("roc_auc"), model.clusters))
    if hidden.by_negatives:
        checks.append(negatives_check(model.counts))
    if model.threshold is not None:
        checks.append(flagged_check(model.counts, model.threshold))
    return replace(made, checks=with_warnings(checks, [*hidden.warned, *warned]))


def _checked_chances(
    made: Evaluation, chances: Chances, warned: list[LibraryWarning]
) -> Evaluation:
    """Check the rows as chances weigh them."""
    counts = chances.counts_at()
    shares = Shares(chances.prevalence, 1.0, "case-control")
    checks = [
        check
        for check in checklist(counts, shares, naive=naive_curve(counts))
        if check.code != CODES["selection"]  # chances may differ
    ]
    checks.append(chances.check())
    checks.append(chances_check(chances.score[chances.labelled], chances.stands_for))
    if made.threshold is not None:
        checks.append(flagged_check(made.counts, made.threshold))
    return replace(made, source="labelling chances given", checks=with_warnings(checks, warned))


def _rows(made: Evaluation) -> tuple[MetricRow, ...]:
    """Make the table; what is wrong with the shares is said as people say it."""
    try:
        rows = made.metric_rows(AREAS, None, made.counts)
        if made.threshold is None:
            return rows
        return made.metric_rows(POINT_METRICS, made.threshold, made.counts) + rows
    except InputError as error:
        message = error.about([spoken(error.metric)])
        if looks_leaked(made.counts):
            message += (
                ". The scores separate labelled from unlabeled rows almost "
                "perfectly: if the model was trained on these rows or saw their labels, score "
                "other rows, or use out-of-fold scores"
            )
        raise InputError(message, argument=error.argument, hint=error.hint) from None


@dataclass(frozen=True)
class RecountableRows:
    """Hold copies of the rows, so that they can be counted again with other thresholds.

    Rows of a device stay there, with the labels as they were given.
    """

    labels: Any
    scores: Any
    weights: FloatArray | None
    knots: tuple[float, ...]
    compact: bool
    unlabeled: float | None = UNLABELED

    def __call__(self, more: list[float]) -> ScoreCounts:
        """Count the rows, keeping apart the scores on either side of some more thresholds."""
        return ScoreCounts.from_rows(
            self.labels,
            self.scores,
            unlabeled=self.unlabeled,
            sample_weight=self.weights,
            compact=self.compact,
            knots=[*self.knots, *more],
        )


def count_model(
    y: Any,
    score: Any,
    unlabeled: float | None,
    sample_weight: Any,
    threshold: float | None,
    *,
    cluster: Any = None,
    compact: bool,
) -> CountedModel:
    """Count rows, and keep a way to count once more with other thresholds; or take counts."""
    if threshold is not None:
        threshold = read_threshold(threshold)
    if isinstance(y, ScoreCounts):
        if cluster is not None:
            raise InputError(
                f"counts do not say which rows belong together; pass rows with {named('cluster')}",
                argument="cluster",
            )
        return CountedModel(y, threshold)
    knots = () if threshold is None else (float(threshold),)
    away = device_rows(y, score, sample_weight) if is_tensor(score) or is_tensor(y) else None
    if away is not None:
        if cluster is not None:
            raise InputError(
                f"{named('cluster')} needs rows in memory; move the tensors there first",
                argument="cluster",
            )
        held = away.copy()
        rows = RecountableRows(held.y, held.score, None, knots, compact, unlabeled)
        return CountedModel(rows([]), threshold, rows)
    scores, labels = np.array(read_scores(score)), read_labels(y, unlabeled)
    weights = None if sample_weight is None else np.array(read_weights(sample_weight, len(scores)))
    rows = RecountableRows(labels, scores, weights, knots, compact)
    counts = rows([])
    clusters = None
    if cluster is not None:
        clusters = ClusterRows.of(labels, scores, read_clusters(cluster, len(labels)), weights)
    return CountedModel(counts, threshold, rows, clusters)
