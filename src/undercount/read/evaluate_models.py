"""Evaluate models on the same rows: one hidden share, then table and checks of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from undercount.assume.mixture import TARGETS, Target
from undercount.assume.reviews import CrossedCells, Reviews, audit_reviews
from undercount.counts import ScoreCounts
from undercount.errors import (
    CODES,
    InputError,
    LibraryWarning,
    check_choice,
    check_flag,
    collect_warnings,
    named,
)
from undercount.estimate import check_confidence_level
from undercount.read.audit_check import audit_check
from undercount.read.chances import Chances
from undercount.read.checks import (
    checklist,
    clusters_check,
    fit_check,
    looks_leaked,
    naive_check,
    negatives_check,
    spoken,
    with_warnings,
    without_random_labels,
)
from undercount.read.counted_model import UNLABELED, CountedModel, RecountableRows
from undercount.read.evaluation import Evaluation, MetricRow
from undercount.read.fair_sample import (
    balance_check,
    chances_check,
    found_check,
    mature_checks,
    negatives_fair_check,
)
from undercount.read.flagged_check import flagged_check, rounding_check
from undercount.read.hidden_share import HiddenShare, refuse_shares, reviewed_share, shared_share
from undercount.read.intervals.area_gradients import forget_cells
from undercount.read.labelled_chance import EVEN, scale_check
from undercount.read.repeated_check import repeated_check
from undercount.read.review_differences import plan_model
from undercount.read.reviewed import Labels, Reviewed
from undercount.shares import SAMPLINGS, Sampling, Shares

# Intervals of an estimated share that resample rows, as if they were independent.
RESAMPLED = ("bootstrap", "combined")
# Labels that stand for every row that may be positive, or more.
ALL_BUT_NONE = 1 - 1e-6


def _check_metrics(metrics: Sequence[str]) -> None:
    if not isinstance(metrics, Sequence) or isinstance(metrics, str) or not metrics:
        raise InputError(
            f"{named('metrics')} must be a list of names; got {metrics!r}", argument="metrics"
        )


def _refuse_beside_clusters(options: Mapping[str, Any], *, audited: bool) -> None:
    """Refuse what supposes that rows are independent."""
    kind = options.get("prevalence_interval")
    if kind in RESAMPLED:
        raise InputError(
            f"{named('cluster')} does not go with {named('prevalence_interval')} {kind!r}, which "
            "resamples rows; leave it out",
            argument="prevalence_interval",
        )
    if audited:
        raise InputError(
            f"{named('cluster')} does not go with {named('audited')} rows: whether rows or whole "
            "clusters were drawn is not known",
            argument="cluster",
        )


def _share_of_chances(
    model: CountedModel, sampling: Sampling, options: Mapping[str, Any], *, reviewed: bool
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
    others += ["reviews"] if reviewed else []
    if others:
        tells = f"{named('propensity')} tells" if model.chances.late is None else "dates tell"
        raise InputError(
            f"{tells} how many positives there are, from rows that are one sample and labels that "
            f"are right; leave out {named(others[0])}",
            argument=others[0],
        )
    return {"unlabeled_prevalence": model.chances.share}


def evaluate_models(
    models: Mapping[str, CountedModel],
    *,
    sampling: Sampling = "single-sample",
    target: Target | None = None,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    top: float | None = None,
    metrics: Sequence[str] | None = None,
    reviews: Reviews | None = None,
    labels: Labels | None = None,
    sequential: bool = False,
    audited: bool = False,
    **options: Any,
) -> dict[str, Evaluation]:
    """Evaluate models on the same rows, which have one share of hidden positives.

    Parameters
    ----------
    models : mapping
        Name of each model → its counts.
    sampling, target, confidence_level, random_state, top, metrics, reviews, labels, **options
        As in `evaluate`. Reviews have the scores of the first model.
    """
    confidence_level = check_confidence_level(confidence_level)
    check_choice("sampling", sampling, SAMPLINGS)
    check_flag("audited", audited)
    check_flag("sequential", sequential)
    if metrics is not None:
        _check_metrics(metrics)
    if target is not None:
        check_choice("target", target, TARGETS)
    for model in models.values():
        model.counts.require("positive", "unlabeled")
    first, by_review = next(iter(models.values())), audited or reviews is not None
    if first.clusters is not None:
        _refuse_beside_clusters(options, audited=audited)
    options |= _share_of_chances(first, sampling, options, reviewed=by_review)
    target = target or ("dataset" if sampling == "single-sample" else "population")
    counts = {name: model.counts for name, model in models.items()}
    about: dict[str, Any] = {"sampling": sampling, "target": target}
    about["confidence_level"] = confidence_level
    wanted = Wanted(target, confidence_level, top, metrics, random_state)
    if audited:
        if reviews is not None or sampling == "case-control":
            raise InputError(
                f"{named('audited')} rows are a random sample of all rows: pass neither "
                f"{named('reviews')} nor {named('sampling', repr('case-control'))}",
                argument="audited",
            )
        found_rows = {
            name: Reviewed(each, audit_reviews(each), "any", **about, audited=True)
            for name, each in counts.items()
        }
    elif reviews is None:
        if labels is not None or sequential:
            raise InputError(
                f"{named('labels')} and {named('sequential')} go with {named('reviews')}"
            )
        counts = {name: model.counts_for_share(sampling) for name, model in models.items()}
        hidden = shared_share(counts, **about, random_state=random_state, **options)
        return {
            name: make_whole(name, model, hidden[name], wanted) for name, model in models.items()
        }
    else:
        found_rows = _reviewed(models, reviews, labels, **about)
    refuse_shares(options)
    found = {}
    for name, each in found_rows.items():
        reviewed = replace(each, sequential=sequential)
        share = reviewed_share(counts, reviewed)
        found[name] = make_whole(name, models[name], share, wanted, reviewed)
    return found


def _reviewed(
    models: Mapping[str, CountedModel], reviews: Reviews, labels: Labels | None, **about: Any
) -> dict[str, Reviewed]:
    """Read the reviews by each model; those of several models rest on reviews alone."""
    if len(models) == 1:
        ((name, model),) = models.items()
        checked = model.reviews_of(reviews)
        about["clusters"] = model.review_clusters(checked)
        return {name: Reviewed(model.counts, checked, labels, **about)}
    if labels == "random":
        raise InputError(
            f"models are compared by {named('reviews')} alone: labels tell how positives are "
            "spread over the scores of each model, not which of them both models find; pass "
            f"{named('labels', repr('any'))}",
            argument="labels",
        )
    rows = {name: cast("RecountableRows", model.recount) for name, model in models.items()}
    planned = plan_model(reviews, {name: each.scores for name, each in rows.items()})
    whose = {name: model.review_clusters(reviews) for name, model in models.items()}
    plan = Reviewed(models[planned].counts, reviews, "any", **about, clusters=whose[planned])
    pool = np.flatnonzero(rows[planned].labels == UNLABELED)

    def crossed(name: str) -> Callable[[ScoreCounts], CrossedCells]:
        cells, plan_scores = plan.cells(plan.counts), rows[planned].scores
        return lambda counts: CrossedCells.of(counts, rows[name].scores, cells, plan_scores, pool)

    return {
        name: plan
        if name == planned
        else Reviewed(
            model.counts, reviews, "any", **about, crossed=crossed(name), clusters=whose[name]
        )
        for name, model in models.items()
    }


class Wanted(NamedTuple):
    """What is asked of every model alike."""

    target: Target
    confidence_level: float
    top: float | None
    metrics: Sequence[str] | None
    random_state: int | None


def make_bare(
    name: str,
    model: CountedModel,
    hidden: HiddenShare,
    wanted: Wanted,
    reviewed: Reviewed | None = None,
) -> Evaluation:
    """Put together what is known, without table and checks."""
    return Evaluation(
        model.counts,
        hidden.shares,
        wanted.target,
        wanted.confidence_level,
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
        random_state=wanted.random_state,
        reviewed=reviewed,
        backend=model.backend,
        clusters=model.clusters,
        chances=model.chances,
        label_part=hidden.label_part,
        area_bound=hidden.area_bound,
        share_needs=hidden.needs,
        from_scores=hidden.from_scores,
    )


def make_whole(
    name: str,
    model: CountedModel,
    hidden: HiddenShare,
    wanted: Wanted,
    reviewed: Reviewed | None = None,
) -> Evaluation:
    """Make the table of one model, then its checks."""
    made = make_bare(name, model, hidden, wanted, reviewed)
    with collect_warnings() as warned:  # they become checks
        made = replace(made, rows=_rows(made, wanted))
        if wanted.top is not None:
            made = replace(made, top_rows=made.at(top=wanted.top))
    forget_cells()
    if model.chances is not None:
        return _checked_chances(made, model.chances, warned)
    checks = [
        *checklist(
            model.counts_for_share(hidden.shares.sampling),
            hidden.shares,
            estimates=hidden.estimates,
            doubt=hidden.doubt,
            estimated=hidden.estimated,
        ),
        naive_check(made.rows, hidden.shares),
        *hidden.checks,
    ]
    repeated = repeated_check(model.counts) if model.clusters is None else None
    checks += [] if repeated is None else [repeated]
    if reviewed is not None:
        checks = checks if made.random_labels else without_random_labels(checks)
        checks.append(reviewed.check())
        if reviewed.audited:
            checks.append(audit_check(model.counts))
    if model.clusters is not None:
        checks.append(clusters_check(made.clustered_design("roc_auc"), model.clusters))
    if hidden.by_negatives:
        checks.append(negatives_check(model.counts))
    elif made.share_given and reviewed is None and model.clusters is None:
        unfair = negatives_fair_check(model.counts_for_share(hidden.shares.sampling), hidden.shares)
        checks += [unfair] if unfair else []
    if model.threshold is not None:
        checks.append(flagged_check(model.counts, model.threshold))
        checks += rounding_check(model.counts, model.threshold)
    if model.threshold == EVEN:
        checks += scale_check(model.counts, hidden.shares)
    told = with_warnings(checks, [*hidden.warned, *warned], given=made.share_given)
    return replace(made, checks=told)


def _checked_chances(
    made: Evaluation, chances: Chances, warned: list[LibraryWarning]
) -> Evaluation:
    """Check the rows as chances weigh them."""
    counts = chances.counts_at()
    shares = Shares(chances.prevalence, 1.0, "case-control")
    checks = [
        check
        for check in checklist(counts, shares)
        if check.code != CODES["selection"]  # chances may differ
    ]
    if made.counts.n_negative > 0:  # which no label may stand for
        possible = chances.possible_counts()
        share = min(chances.positives / possible.n_unlabeled, ALL_BUT_NONE)
        fit = fit_check(possible, Shares(share, 1.0, "case-control"))
        checks = [fit if check.code == fit.code else check for check in checks]
    checks.append(chances.check())
    if chances.late is None:
        unbalanced = balance_check(chances.score, chances.looked, chances.chance)
        fair = chances_check(chances.score[chances.labelled], chances.stands_for)
        checks.append(unbalanced or fair)
    else:
        checks += [
            found_check(chances.compare_late_scores()),
            *mature_checks(chances.late),
        ]
    if made.threshold is not None:
        checks.append(flagged_check(made.counts, made.threshold))
        checks += rounding_check(made.counts, made.threshold)
    source = f"labelling chances {'estimated' if chances.estimated else 'given'}"
    source = source if chances.late is None else "dates of labels"
    return replace(made, source=source, checks=with_warnings(checks, warned, given=True))


def _rows(made: Evaluation, wanted: Wanted) -> tuple[MetricRow, ...]:
    """Make the table; what is wrong with the shares is said as people say it."""
    try:
        if wanted.metrics is None:
            return made.standard_rows()
        return made.chosen_rows(wanted.metrics, wanted.top)
    except InputError as error:
        message = error.about([spoken(error.metric)])
        if looks_leaked(made.counts):
            message += (
                ". The scores separate labelled from unlabeled rows almost "
                "perfectly: if the model was trained on these rows or saw their labels, score "
                "other rows, or use out-of-fold scores"
            )
        raise InputError(message, argument=error.argument, hint=error.hint) from None
