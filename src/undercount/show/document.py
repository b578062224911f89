"""An evaluation as JSON of a versioned schema (`schema.json` beside this file)."""

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from undercount import __version__
from undercount.counts import CLASSES, ScoreCounts
from undercount.estimate import Estimate, Interval
from undercount.infer.metric_row import MetricRow
from undercount.read.cost_curve import cost_curve
from undercount.read.evaluation import Evaluation
from undercount.read.require.requirement import Requirement
from undercount.show.bias import bias_facts
from undercount.show.text import check_facts, plain_words, weakest_link
from undercount.show.verdict_words import change_words, judged_words, light_of, light_words

if TYPE_CHECKING:
    from undercount.assume.base import ReviewFacts

EVALUATION_SCHEMA = "undercount/evaluation/1"
# Points of a curve that a document carries at most; never rows.
DOCUMENT_POINTS = 512


def as_json(evaluations: Sequence[Evaluation]) -> str:
    """Write evaluations of one or several models; the same input gives the same bytes."""
    return write_document(as_document(evaluations))


def write_document(document: dict[str, Any]) -> str:
    """Write facts so that the same ones give the same bytes."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def as_document(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return the facts as plain values; NaN and infinity become null."""
    models = [_model(evaluation) for evaluation in evaluations]
    return {"schema": EVALUATION_SCHEMA, "version": __version__, "models": models}


def _model(evaluation: Evaluation) -> dict[str, Any]:
    counts, shares = evaluation.counts, evaluation.shares
    return {
        **_deployed(evaluation),
        **({"bias": bias_facts(evaluation)} if evaluation.odds_ratio is not None else {}),
        **({"costs": _costs(evaluation)} if evaluation.costs is not None else {}),
        "name": evaluation.name,
        "counts": {
            "rows": counts.n_rows,
            "labelled_positive": counts.n_positive,
            "labelled_negative": counts.n_negative,
            "unlabeled": counts.n_unlabeled,
            "cells": len(counts.score),
            "weighted": counts.weighted,
            "auc_error": counts.auc_error,
        },
        "sampling": shares.sampling,
        "target": evaluation.target,
        "confidence_level": evaluation.confidence_level,
        "threshold": evaluation.threshold,
        "prevalence": plain(evaluation.prevalence),
        "hidden_share": {
            **_share(shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval),
            **({"value": None} if evaluation.unknowns.range_only else {}),
            "standard_error": _error(shares.unlabeled_prevalence_error),
            "source": evaluation.source,
            "interval": evaluation.unknowns.interval,
            "largest": evaluation.unknowns.largest_share,
            "upper_bound": evaluation.unknowns.upper_bound,
            "limit": evaluation.unknowns.limit,
            "estimates": {name: plain(e.value) for name, e in evaluation.share_estimates.items()},
        },
        "label_purity": _share(shares.label_purity, shares.label_purity_interval),
        "metrics": [_metric(row) for row in evaluation.rows],
        "top": [{"top": row.top, **_metric(row)} for row in evaluation.top_rows],
        "curve": curve_points(counts),
        "checks": [check_facts(check) for check in evaluation.checks],
        "verdict": _verdict(evaluation),
        "words": {
            "light": light_words(evaluation),
            "plain": plain_words(evaluation),
            "claim": judged_words(evaluation),
            "change": change_words(evaluation),
            "weakest": weakest_link(evaluation),
        },
        **({"fitted": dict(evaluation.basis.fitted)} if evaluation.basis.fitted else {}),
        **({"reviews": _reviews(evaluation)} if evaluation.basis.review is not None else {}),
        **({"requirements": _requirements(evaluation)} if evaluation.judgements else {}),
    }


def _requirements(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return what was found of each requirement, the worst first."""
    return [
        {
            "requirement": judgement.requirement.words,
            "outcome": judgement.outcome,
            **_spread(judgement.estimate),
            "why": judgement.why,
        }
        for judgement in evaluation.judgements
    ]


def _reviews(evaluation: Evaluation) -> dict[str, Any]:
    """Return how many rows were reviewed, the test of random labels, and both answers."""
    review = cast("ReviewFacts", evaluation.basis.review)
    found = review.found
    return {
        "planned": review.n_planned,
        "answered": review.n_answered,
        "positive": review.n_positive,
        "labels": review.labels,
        "needs": list(review.needs),
        "sequential": review.sequential,
        "random_labels": {
            "p_value": None if found is None else plain(found.p_value),
            "rejected": found is not None and found.rejected,
            "undecided": found is not None and found.undecided,
        },
        "goal": list(review.goal),
        "strata": [
            {"edge": plain(edge), "unlabeled": rows, "answered": size}
            for edge, rows, size in review.strata
        ],
        "answers": {
            kind: [
                {
                    "metric": row.metric,
                    "threshold": row.threshold,
                    "estimate": plain(found[kind].value),
                    "low": plain(found[kind].low),
                    "high": plain(found[kind].high),
                }
                for row, found in evaluation.both_answers
                if kind in found
            ]
            for kind in ("any", "random")
        },
    }


def _claim(claim: Requirement) -> dict[str, Any]:
    return {
        "metric": claim.metric,
        "threshold": claim.threshold,
        "at_least": claim.at_least,
        "value": claim.value,
        **({"deploy_prevalence": claim.deploy_prevalence} if claim.deploy_prevalence else {}),
    }


def _verdict(evaluation: Evaluation) -> dict[str, Any]:
    verdict, claim = evaluation.verdict, evaluation.verdict.claim
    return {
        "light": light_of(evaluation),
        "words": light_words(evaluation),
        "rests_on": list(verdict.rests_on),
        "claim": claim and _claim(claim),
        "required": verdict.required,
        "holds": verdict.holds and [verdict.holds.low, verdict.holds.high],
        "everywhere": verdict.everywhere,
        "odds_ratio": plain(verdict.odds_ratio),
        "reason": verdict.reason and verdict.reason.code,
        "doubt": verdict.doubt and verdict.doubt.code,
    }


def _deployed(evaluation: Evaluation) -> dict[str, Any]:
    """Return the metrics at another prevalence, if one was asked for."""
    if evaluation.deploy_prevalence is None:
        return {}
    rows = [_metric(row) for row in evaluation.deployed()]
    return {"deployed": {"prevalence": evaluation.deploy_prevalence, "metrics": rows}}


def _costs(evaluation: Evaluation) -> dict[str, Any]:
    """Return what errors cost a row along the thresholds, and where they cost least."""
    assert evaluation.costs is not None  # noqa: S101 - asked only then
    curve = cost_curve(evaluation, evaluation.costs)
    best = curve.best
    return {
        **curve.costs,
        "none": plain(curve.none),
        "everything": plain(curve.everything),
        "here": curve.here and _spread(curve.here),
        "least": best
        and {
            "threshold": plain(best.threshold),
            "over": None if best.over is None else plain(best.over),
            "gain": best.gain and _spread(best.gain),
        },
        "points": [
            {
                "threshold": threshold,
                "flagged": flagged,
                "cost": _spread(cost),
                "net_benefit": _spread(curve.benefits[place]) if curve.benefits else None,
            }
            for place, (threshold, flagged, cost) in enumerate(
                zip(curve.threshold.tolist(), curve.flagged.tolist(), curve.points, strict=True)
            )
        ],
    }


def _spread(found: Estimate) -> dict[str, float | None]:
    ends = {"estimate": found.value, "low": found.low, "high": found.high}
    return {name: plain(value) for name, value in ends.items()}


def _metric(row: MetricRow) -> dict[str, Any]:
    estimate = row.estimate
    return {
        "metric": row.metric,
        "threshold": row.threshold,
        "naive": plain(row.naive),
        "estimate": plain(estimate.value),
        "low": plain(estimate.low),
        "high": plain(estimate.high),
        "standard_error": _error(estimate.standard_error),
        "needs": list(estimate.needs),
        "range_only": estimate.range_only,
        "method": estimate.method,
        "lower_bound": None if row.lower_bound is None else plain(row.lower_bound),
        "lower_bound_certain": row.certain,
    }


def curve_points(counts: ScoreCounts) -> dict[str, list[float | None]]:
    """Return cumulative counts at no more than `DOCUMENT_POINTS` thresholds."""
    coarse = counts.coarsened(DOCUMENT_POINTS)
    columns = {"threshold": coarse.score}
    columns |= {name: c[1:] for name, c in zip(CLASSES, coarse.cumulative(), strict=True)}
    return {name: [plain(value) for value in column] for name, column in columns.items()}


def _share(value: float, interval: Interval | None) -> dict[str, float]:
    low, high = (interval.low, interval.high) if interval else (value, value)
    return {"value": value, "low": low, "high": high}


def _error(standard_error: float) -> float | None:
    """Return a standard error; null where there is none, of a share that was given say."""
    return plain(standard_error) if standard_error > 0 else None


def plain(value: float | np.floating[Any]) -> float | None:
    """Return a number that JSON can hold; null stands for the others."""
    number = float(value)
    return number if math.isfinite(number) else None
