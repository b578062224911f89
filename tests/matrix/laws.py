"""What must hold under every assumption: each law compares two answers that must be the same.

A law is a function of an assumption and a metric that returns two results. They are to agree

EXACT   in value and both ends to 1e-9;
NEAR    in value to 1e-9, in ends to 1e-3 of the interval's width;
ROUGH   in value to 1e-9, in ends to 2e-2 of the interval's width;
VALUE   in value to 1e-9, where two roads rightly give other intervals, or one gives none.

A range without a value agrees with such a range alone, both ends as close as values are to be; a
range against a value is a break, and so is no number against no number.
"""

import json
import math
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from sklearn import metrics as sklearn_metrics
from tests.matrix import features, rows
from tests.matrix.assumptions import METRICS, POINT_METRICS, AbsentError, assumptions
from tests.matrix.refusals import REFUSALS, refusal_code
from tests.matrix.rows import SCORE, THRESHOLD, TOP

import undercount as uc

EXACT, NEAR, ROUGH, VALUE = "exact", "near", "rough", "value"
ROUNDING, PART_OF_WIDTH = 1e-9, {EXACT: 0.0, NEAR: 1e-3, ROUGH: 2e-2}
RATES = ("recall", "specificity", "roc_auc")
TOP_METRICS = ("precision", "recall", "lift")
# Where the share is one known number, so that nothing is uncertain of it elsewhere either.
KNOWN_SHARE = ("prevalence given", "impure", "case-control")
ESTIMATED = ("estimated", "estimated by bootstrap")
LOOKED_AT = ("reviews, labels any", "reviews, labels random", "audited")
# Those that comparisons are about.
COMPARED = tuple(metric for metric in METRICS if metric != "specificity")
LAWS = {}


@dataclass(frozen=True)
class Law:
    """Two answers that agree, for each of some metrics, under some assumptions (all, if none)."""

    ask: Callable[[Any, str], tuple[Any, Any]]
    closeness: str
    metrics: tuple[str, ...]
    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def applies(self, assumption):
        return assumption not in self.never and (not self.only or assumption in self.only)


def law(name, closeness=EXACT, metrics=METRICS, **about):
    def add(ask):
        LAWS[name] = Law(ask, closeness, tuple(metrics), **about)
        return ask

    return add


@cache
def outcome(name, assumption, metric):
    """Say how a law stands: "holds", "broken: …", or the code by which it cannot be asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            one, other = LAWS[name].ask(assumptions()[assumption], metric)
        except REFUSALS as error:
            return refusal_code(error) or f"broken: {error!r}"
        except Exception as error:  # noqa: BLE001 - a crash breaks a law
            return f"broken: {error!r}"
    if agree(one, other, LAWS[name].closeness):
        return "holds"
    return f"broken: {_words(one)} is not {_words(other)}"


def _words(result):
    return "{:.6g} ({:.6g} to {:.6g})".format(*_triple(result))


def refused_laws():
    """Return what cannot be asked: assumption and law → metric → code, to be kept as cells are."""
    refused = {}
    for name, about in LAWS.items():
        for assumption in filter(about.applies, assumptions()):
            outcomes = {metric: outcome(name, assumption, metric) for metric in about.metrics}
            codes = {m: o for m, o in outcomes.items() if not o.startswith(("holds", "broken"))}
            if codes:
                refused[f"law: {name} | {assumption}"] = codes
    return refused


def agree(one, other, closeness):
    """Whether two results are the same, as close as a law says."""
    ranges = _is_range(one), _is_range(other)
    one, other = _triple(one), _triple(other)
    if any(ranges):
        if not all(ranges):
            return False
    elif not abs(one[0] - other[0]) <= ROUNDING:
        return False
    elif closeness == VALUE:
        return True
    width = other[2] - other[1]
    room = PART_OF_WIDTH.get(closeness, 0.0) * width if math.isfinite(width) else ROUNDING
    return all(_close(a, b, max(room, ROUNDING)) for a, b in zip(one[1:], other[1:], strict=True))


def _is_range(result):
    """Whether a result is a range that points to no value in it."""
    if isinstance(result, uc.Estimate):
        return result.range_only
    value, *ends = _triple(result)
    return math.isnan(value) and not any(map(math.isnan, ends))


def _by_value(one, other):
    """Return two answers of which only values can agree: two ranges without one say nothing."""
    if _is_range(one) and _is_range(other):
        raise AbsentError("value")
    return one, other


def _triple(result):
    if isinstance(result, uc.Estimate):
        return result.value, result.low, result.high
    if np.ndim(result) == 0:
        return float(result), math.nan, math.nan
    return tuple(math.nan if part is None else float(part) for part in result)


def _close(one, other, room):
    return one == other or abs(one - other) <= room or (math.isnan(one) and math.isnan(other))


def _place(metric):
    return THRESHOLD if metric in POINT_METRICS else None


def _row(evaluation, metric):
    """Return a line of the table, by what it is about."""
    every = [row.estimate for row in evaluation.rows if row.metric == metric]
    if not every:
        raise AbsentError(metric)
    return every[0]


def _table(assumed, metric, *given, **more):
    return _row(assumed.evaluate(*given, threshold=THRESHOLD, **more), metric)


# One number, whichever door one asks.


@law("table = estimate")
def ask_estimate(assumed, metric):
    evaluation = assumed.evaluate(threshold=THRESHOLD)
    return evaluation.estimate(metric, _place(metric)), _table(assumed, metric)


@law("table = by name")
def ask_by_name(assumed, metric):
    return assumed.evaluate(threshold=THRESHOLD)[metric], _table(assumed, metric)


@law("table = logged metrics")
def ask_logged(assumed, metric):
    logged = assumed.evaluate(threshold=THRESHOLD).metrics()
    # Of a range without a value the ends alone are logged.
    return [logged.get(metric + end) for end in ("", "_low", "_high")], _table(assumed, metric)


@law("table = frame")
def ask_frame(assumed, metric):
    frame = assumed.evaluate(threshold=THRESHOLD).to_frame("polars")
    place = f"{metric}@0.5" if metric in POINT_METRICS else metric
    (line,) = frame.filter(pl.col("metric") == place).iter_rows(named=True)
    return [line[name] for name in ("estimate", "low", "high")], _table(assumed, metric)


@law("table = JSON")
def ask_json(assumed, metric):
    evaluation = assumed.evaluate(threshold=THRESHOLD)
    (model,) = assumed.once("JSON", lambda: json.loads(evaluation.to_json()))["models"]
    found = _table(assumed, metric)
    (line,) = [each for each in model["metrics"] if each["metric"].split("@")[0] == metric]
    return [line[name] for name in ("estimate", "low", "high")], found


@law("table = page")
def ask_page(assumed, metric):
    found, text = _table(assumed, metric), features.page_of(assumed)
    facts, shown = features.page_facts(text), features.page_numbers(text)
    if facts is not None:
        line = facts["live"][0]["rows"][features.PAGE_METRICS.index(metric)]
        return line[1:], found
    title = uc.metric_facts.FACTS[metric].title
    (numbers,) = [each for name, each in shown.items() if title in name][:1]
    return numbers[-3:], [round(part, 3) for part in _triple(found)]


# These functions estimate no share: without one they say what holds at any.
@law("table = uc.metrics", never=ESTIMATED)
def ask_metrics(assumed, metric):
    place = {"threshold": THRESHOLD} if metric in POINT_METRICS else {}
    return assumed.measure(metric, **place), _table(assumed, metric)


@law("table = scorer", VALUE, never=ESTIMATED)
def ask_scorer(assumed, metric):
    place = {"threshold": THRESHOLD} if metric in POINT_METRICS else {}
    return assumed.score(metric, **place), _table(assumed, metric)


@law("table = curve display", VALUE, ("recall", "precision", "roc_auc"))
def ask_curve_display(assumed, metric):
    found = _table(assumed, metric)
    if metric == "roc_auc":
        value = assumed.display(uc.displays.RocDisplay).curve.roc_auc
    else:
        display = assumed.display(uc.displays.PrecisionRecallDisplay)
        place = np.flatnonzero(display.curve.threshold >= THRESHOLD)[-1]
        value = display.frame()[metric][place]
    # Of a range no value is drawn; its ends are those of a band.
    return ([value, found.low, found.high] if found.range_only else value), found


@law("table in the band of its curve", VALUE, ("recall", "precision"))
def ask_band(assumed, metric):
    display = {"recall": uc.displays.LiftDisplay, "precision": uc.displays.PrecisionRecallDisplay}
    band, found = assumed.display(display[metric]).band(), _table(assumed, metric)
    if not band:
        raise AbsentError("band")
    across = _table(assumed, "recall").value
    if metric == "recall":
        across = float(np.mean(SCORE[_used(assumed)] >= THRESHOLD))
    low, high = (np.interp(across, next(iter(band.values())), band[end]) for end in ("low", "high"))
    if found.range_only:  # all of it is in the band
        return [math.nan, *np.clip([found.low, found.high], low, high)], found
    return np.clip(found.value, low, high), found.value


def _used(assumed):
    """Return the rows that metrics speak of.

    Of late labels those that are old enough; of labelled rows drawn apart the others.
    """
    if isinstance(assumed.assume, uc.DelayedLabels):
        return assumed.assume.late.usable_
    apart = getattr(assumed.assume, "apart", False)  # a selection model is of one sample
    return np.isnan(assumed.labels) if apart else np.ones(len(SCORE), bool)


@law("estimate = decision display", metrics=("expected_cost", "net_benefit"))
def ask_decision_display(assumed, metric):
    evaluation = assumed.evaluate(threshold=THRESHOLD)
    if metric == "net_benefit":
        columns, name = assumed.display(uc.displays.NetBenefitDisplay).frame(), "chance"
        place = np.argmin(np.abs(columns[name] - THRESHOLD))
        there = float(columns[name][place])
        found = evaluation.net_benefit(there, there)
    else:
        columns = assumed.display(uc.displays.CostDisplay, **features.COSTS).frame()
        place = np.argmin(np.abs(columns["threshold"] - THRESHOLD))
        found = evaluation.cost(float(columns["threshold"][place]), **features.COSTS)
    value = columns["cost" if metric == "expected_cost" else metric]
    return [value[place], columns["low"][place], columns["high"][place]], found


@law("sweep over prevalence at its own share = table", VALUE, METRICS)
def ask_sweep_over_prevalence(assumed, metric):
    evaluation, found = assumed.evaluate(threshold=THRESHOLD), _table(assumed, metric)
    swept = evaluation.sweep(metric, over="prevalence")
    own = evaluation.shares.unlabeled_prevalence
    if found.range_only:  # no share is its own: at both ends of the shares one is in the range
        span = evaluation.shares.unlabeled_prevalence_interval
        known = ~np.isnan(swept[metric])
        shares, values = swept["unlabeled_prevalence"][known], swept[metric][known]
        ends = np.interp([span.low, span.high], shares, values)
        within = np.clip(np.sort(ends), found.low, found.high)
        return [math.nan, *np.sort(ends)], [math.nan, *within]
    here = np.interp(own, swept["unlabeled_prevalence"], swept[metric])
    bend = 1e-4  # of a curve between two of a hundred shares
    return (found.value if abs(here - found.value) < bend else here), found


@law("sweep over threshold at its own threshold = table", EXACT, POINT_METRICS)
def ask_sweep_over_threshold(assumed, metric):
    swept = assumed.evaluate(threshold=THRESHOLD).sweep(metric, over="threshold")
    place = np.flatnonzero(swept["threshold"] >= THRESHOLD)[-1]
    answer = [swept[metric + end][place] for end in ("", "_low", "_high")]
    return answer, _table(assumed, metric)


@law("best threshold = best estimate", VALUE, ("f1", "expected_cost"))
def ask_best_threshold(assumed, metric):
    evaluation = assumed.evaluate(threshold=THRESHOLD)
    places = np.unique(SCORE)[::-25]
    if metric == "f1":
        best = evaluation.best_threshold("f1").threshold
        found = [evaluation.estimate("f1", float(t)) for t in (best, *places)]
    else:
        best = evaluation.best_threshold(cost=features.COSTS).threshold
        found = [evaluation.cost(float(t), **features.COSTS) for t in (best, *places)]
    if all(each.range_only for each in found):
        raise AbsentError("value")
    values = [each.value for each in found]
    return values[0], np.nanmax(values) if metric == "f1" else np.nanmin(values)


# In a resample the highest rows end at another score.
@law(
    "top rows = threshold of the last of them",
    EXACT,
    TOP_METRICS,
    never=("case-control", "estimated by bootstrap"),
)
def ask_top(assumed, metric):
    return _top_and_threshold(assumed, metric)


# Of the population behind the rows: in another sample the highest rows end at another score.
@law("top rows of a population = threshold", VALUE, TOP_METRICS, only=("case-control",))
def ask_top_of_population(assumed, metric):
    return _top_and_threshold(assumed, metric)


def _top_and_threshold(assumed, metric):
    ranked = np.sort(SCORE[_used(assumed)])[::-1]
    top = next(k for k in range(TOP, len(ranked)) if ranked[k - 1] > ranked[k])
    (found,) = [r.estimate for r in assumed.evaluate(top=top).top_rows if r.metric == metric]
    evaluation = assumed.evaluate(threshold=float(ranked[top - 1]))
    return found, evaluation.estimate(metric, float(ranked[top - 1]))


# Comparisons.


@law("a model less itself = 0", metrics=COMPARED)
def ask_itself(assumed, metric):
    comparison = assumed.compare({"one": SCORE, "same": SCORE.copy()}, threshold=THRESHOLD)
    found = _difference(comparison, metric)
    return found, [math.nan if found.range_only else 0.0, 0.0, 0.0]


@law("two models swapped turn the sign", metrics=COMPARED)
def ask_swapped(assumed, metric):
    models = {"other": rows.OTHER, "one": SCORE}
    there = _difference(assumed.compare(models, threshold=THRESHOLD), metric)
    return _difference(assumed.compare(threshold=THRESHOLD), metric), [
        -there.value,
        -there.high,
        -there.low,
    ]


def _difference(comparison, metric):
    return comparison.difference(metric).difference


@law("difference = table less table", VALUE, COMPARED)
def ask_difference(assumed, metric):
    comparison = assumed.compare(threshold=THRESHOLD)
    one, other = (_row(comparison[name], metric) for name in ("one", "other"))
    found = _difference(comparison, metric)
    if one.range_only and other.range_only:  # no further apart than the two ranges are
        span = one.low - other.high, one.high - other.low
        return found, [math.nan, *np.clip([found.low, found.high], *span)]
    return found, one.value - other.value


# Models on the same rows have one share, by estimation that of the sharpest. They are compared by
# the reviews alone: how random labels lie along the scores of each says not what both find.
OTHER_IN_COMPARISON = (*ESTIMATED, "reviews, labels random")


@law("table in a comparison = table", never=OTHER_IN_COMPARISON)
def ask_table_in_comparison(assumed, metric):
    return _row(assumed.compare(threshold=THRESHOLD)["one"], metric), _table(assumed, metric)


@law(
    "top in a comparison = top",
    metrics=("precision", "recall"),
    never=OTHER_IN_COMPARISON,
)
def ask_top_in_comparison(assumed, metric):
    work = assumed.compare(top=TOP).workload
    (found,) = [r.estimate for r in assumed.evaluate(top=TOP).top_rows if r.metric == metric]
    return work.estimates["one"][metric], found


# Other roads to the same rows.


@cache
def count_by(road, assumed):
    """Count rows as arrays, from a file, or in a database."""
    frame = pl.DataFrame({"y": assumed.labels, "score": SCORE}).with_columns(
        pl.col("y").fill_nan(None)
    )
    if road == "arrays":
        return uc.ScoreCounts.from_rows(assumed.labels, SCORE)
    if road == "database":
        table = duckdb.connect().from_arrow(frame.to_arrow())
        return uc.count_scores(table, label="y", score="score")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        frame.write_parquet(path)
        return uc.read_counts(path, label="y", score="score")


@law("rows = counts")
def ask_counts(assumed, metric):
    return _table(assumed, metric, count_by("arrays", assumed)), _table(assumed, metric)


@law("rows = file")
def ask_file(assumed, metric):
    return _table(assumed, metric, count_by("file", assumed)), _table(assumed, metric)


@law("rows = database")
def ask_database(assumed, metric):
    return _table(assumed, metric, count_by("database", assumed)), _table(assumed, metric)


# What says nothing changes nothing.


@law("one segment = no segments", NEAR)
def ask_one_segment(assumed, metric):
    segments = assumed.evaluate(threshold=THRESHOLD, by=np.full(len(SCORE), "all"))
    return _row(segments["all"], metric), _table(assumed, metric)


@law("one segment's line = no segments", NEAR, ("recall", "precision"))
def ask_one_line(assumed, metric):
    segments = assumed.evaluate(threshold=THRESHOLD, by=np.full(len(SCORE), "all"))
    return segments.estimates(metric)["all"], _table(assumed, metric)


@law("clusters of one row = no clusters", NEAR)
def ask_lone_clusters(assumed, metric):
    return _table(assumed, metric, cluster=np.arange(len(SCORE))), _table(assumed, metric)


@law("difference by clusters of one row = by rows", NEAR, COMPARED)
def ask_lone_clusters_in_comparison(assumed, metric):
    found = assumed.compare(threshold=THRESHOLD, cluster=np.arange(len(SCORE)))
    return _difference(found, metric), _difference(assumed.compare(threshold=THRESHOLD), metric)


@law("equal weights = no weights", NEAR)
def ask_equal_weights(assumed, metric):
    found = _table(assumed, metric, sample_weight=np.full(len(SCORE), 7.0))
    return found, _table(assumed, metric)


@law("equal weights below 1 = no weights", NEAR)
def ask_light_weights(assumed, metric):
    found = _table(assumed, metric, sample_weight=np.full(len(SCORE), 0.1))
    return found, _table(assumed, metric)


@law("difference by equal weights = by rows", NEAR, COMPARED)
def ask_difference_by_equal_weights(assumed, metric):
    found = assumed.compare(threshold=THRESHOLD, sample_weight=np.full(len(SCORE), 7.0))
    return _difference(found, metric), _difference(assumed.compare(threshold=THRESHOLD), metric)


@law("top rows of equal weights = top rows", NEAR, TOP_METRICS)
def ask_weighted_top(assumed, metric):
    weighted = assumed.evaluate(top=TOP, sample_weight=np.full(len(SCORE), 7.0))
    plain = assumed.evaluate(top=TOP)
    found = [[r.estimate for r in e.top_rows if r.metric == metric] for e in (weighted, plain)]
    return found[0][0], found[1][0]


def _at_home(assumed, metric):
    evaluation = assumed.evaluate(threshold=THRESHOLD, target="population")
    home = evaluation.prevalence
    if math.isnan(home):  # a range without a value, of which each share is as good
        home = evaluation.shares.prevalence(evaluation.counts)
    there = assumed.once("at home", lambda: evaluation.deployed(home))
    found = [row for row in there if row.metric == metric]
    return found[0].estimate, _row(evaluation, metric)


@law("deployed at its own known prevalence = here", NEAR, only=KNOWN_SHARE)
def ask_at_home(assumed, metric):
    return _at_home(assumed, metric)


# That prevalence is then a number, which here it is not, so that intervals differ.
@law("deployed at its own prevalence = here", VALUE, never=KNOWN_SHARE)
def ask_value_at_home(assumed, metric):
    found, here = _at_home(assumed, metric)
    # Of ranges the ends are others too, but where the prevalence does not matter.
    return (found, here) if metric in RATES else _by_value(found, here)


def _twice(assumed, metric, **more):
    again = assumptions(times=2)[assumed.name]
    weight = np.full(2 * len(SCORE), 0.5)
    return _table(again, metric, again.labels, np.repeat(SCORE, 2), sample_weight=weight, **more)


# Average precision leaves each label out of those beside it, and of two copies one stays. Two
# sources count positives, estimators and verdicts count rows: twice as many are more evidence. A
# classifier is fitted on other folds where rows are twice as many.
WITHOUT_PAIRS = tuple(metric for metric in METRICS if metric != "average_precision")
COUNTED = ("two sources", "reviews, labels random", "audited", "propensity by classifier")
COUNTED += ("estimated by bootstrap",)
COUNTED_BY_ROW = (*COUNTED, "reviews, labels any")


@law("every row twice at half weight = once", VALUE, WITHOUT_PAIRS, never=COUNTED)
def ask_twice(assumed, metric):
    # Of ranges the ends are rightly others.
    return _by_value(_twice(assumed, metric), _table(assumed, metric))


# How much copies tell is found from the rows themselves: Student's quantile counts clusters, and
# rates are smoothed by the rows there are. A plan and an audit draw rows one by one, so that
# verdicts on both copies of a row are two.
@law("every row twice at half weight, by row = once", ROUGH, WITHOUT_PAIRS, never=COUNTED_BY_ROW)
def ask_twice_by_row(assumed, metric):
    found = _twice(assumed, metric, cluster=np.repeat(np.arange(len(SCORE)), 2))
    return found, _table(assumed, metric)


@law(
    "all rows known = scikit-learn",
    VALUE,
    only=LOOKED_AT,
)
def ask_complete(assumed, metric):
    found = _table(assumptions(complete=True)[assumed.name], metric)
    flagged = SCORE >= THRESHOLD
    roc_auc = sklearn_metrics.roc_auc_score(rows.TRUTH, SCORE)
    expected = {
        "recall": lambda: sklearn_metrics.recall_score(rows.TRUTH, flagged),
        "precision": lambda: sklearn_metrics.precision_score(rows.TRUTH, flagged),
        "f1": lambda: sklearn_metrics.f1_score(rows.TRUTH, flagged),
        "specificity": lambda: sklearn_metrics.recall_score(~rows.TRUTH, ~flagged),
        "accuracy": lambda: sklearn_metrics.accuracy_score(rows.TRUTH, flagged),
        "mcc": lambda: sklearn_metrics.matthews_corrcoef(rows.TRUTH, flagged),
        "roc_auc": lambda: roc_auc,
        "average_precision": lambda: sklearn_metrics.average_precision_score(rows.TRUTH, SCORE),
        "lift_auc": lambda: rows.PREVALENCE / 2 + (1 - rows.PREVALENCE) * roc_auc,
    }
    return found, expected[metric]()
