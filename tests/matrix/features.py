"""The columns of the matrix: what may be asked, as functions of any assumption.

Each returns answers by name: estimates, numbers or arrays. Nothing here knows of an assumption.
`ask_each` lets some parts of a feature be refused and others not.
"""

import json
import re
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from tests.matrix.assumptions import AREAS, METRICS, POINT_METRICS, AbsentError
from tests.matrix.refusals import REFUSALS, refusal_code
from tests.matrix.rows import CLUSTER, ELSEWHERE, SCORE, SEGMENT, THRESHOLD, TOP, WEIGHT

import undercount as uc
from undercount.show.page.live import PAGE_METRICS
from undercount.show.page.packing import unpack

FEATURES = {}
COSTS = {"false_positive": 1, "false_negative": 5}
TARGETS = ("precision >= 0.6", "recall >= 0.95", "roc_auc >= 0.5")
PLACES = 7  # of a curve that are kept


def feature(name):
    """Add a column of this name."""

    def add(ask):
        FEATURES[name] = ask
        return ask

    return add


def ask_each(questions):
    """Ask each question; those that are refused say why, unless all are."""
    answers, errors = {}, []
    for name, ask in questions.items():
        try:
            answers[name] = ask()
        except REFUSALS as error:
            if refusal_code(error) is None:
                raise
            answers[name] = refusal_code(error)
            errors.append(error)
    if len(errors) == len(questions):
        raise errors[0]
    return answers


def table(evaluation):
    return {row.label: row.estimate for row in evaluation.rows}


def segment_table(segments):
    return {f"{key}: {row.label}": row.estimate for key, row in _segment_rows(segments)}


def _segment_rows(segments):
    for segment in segments.rows:
        yield from ((segment.segment, row) for row in segment.rows)


def difference_table(differences):
    return {
        f"{each.metric}: {name}": value
        for each in differences
        for name, value in (("difference", each.difference), ("p", each.p_value))
    }


def workload_table(comparison):
    work = comparison.workload
    found = {} if work is None else difference_table(work.differences)
    estimates = {} if work is None else work.estimates
    return found | {f"{m}: {k}": e for m, each in estimates.items() for k, e in each.items()}


def sample(columns):
    """Return each column at a few places."""
    size = len(next(iter(columns.values())))
    places = np.linspace(0, size - 1, PLACES).astype(int)
    return {name: np.asarray(column)[places] for name, column in columns.items()}


def write_page(result):
    """Return the text of the page that a result writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        result.to_html(path)
        return path.read_text()


def page_of(assumed):
    evaluation = assumed.evaluate(threshold=THRESHOLD)
    return assumed.once("page", lambda: write_page(evaluation))


@cache
def page_facts(text):
    """Return what the script of a page is given; None where a page has no script."""
    embedded = re.search(r'id="facts">(.*?)</script>', text, re.DOTALL)
    return json.loads(unpack(embedded[1])) if embedded else None


@cache
def page_numbers(text):
    """Return the numbers in the tables of a page, row by row, in order."""
    rows = re.findall(r"<tr><td.*?</tr>", text, re.DOTALL)
    cells = [re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL) for row in rows]
    return {
        f"{place}: {row[0]}": [float(n) for n in re.findall(r"-?\d+\.\d+", " ".join(row[1:]))]
        for place, row in enumerate(cells)
    }


@feature("table")
def ask_table(assumed):
    return table(assumed.evaluate(threshold=THRESHOLD))


@feature("by")
def ask_by(assumed):
    return segment_table(assumed.evaluate(threshold=THRESHOLD, by=SEGMENT))


@feature("cluster")
def ask_cluster(assumed):
    return table(assumed.evaluate(threshold=THRESHOLD, cluster=CLUSTER))


@feature("weights")
def ask_weights(assumed):
    return table(assumed.evaluate(threshold=THRESHOLD, sample_weight=WEIGHT))


@feature("compare")
def ask_compare(assumed):
    return difference_table(assumed.compare(threshold=THRESHOLD).differences)


@feature("compare by cluster")
def ask_compare_by_cluster(assumed):
    return difference_table(assumed.compare(threshold=THRESHOLD, cluster=CLUSTER).differences)


@feature("compare top")
def ask_compare_top(assumed):
    return workload_table(assumed.compare(top=TOP))


@feature("top")
def ask_top(assumed):
    return {row.label: row.estimate for row in assumed.evaluate(top=TOP).top_rows}


@feature("top by cluster")
def ask_top_by_cluster(assumed):
    return {row.label: row.estimate for row in assumed.evaluate(top=TOP, cluster=CLUSTER).top_rows}


@feature("cost")
def ask_cost(assumed):
    return {"cost": assumed.evaluate(threshold=THRESHOLD).cost(**COSTS)}


@feature("best_threshold")
def ask_best_threshold(assumed):
    evaluation = assumed.evaluate(threshold=THRESHOLD)

    def ask(**goal):
        best = evaluation.best_threshold(**goal)
        return [best.threshold, best.gain.value, best.gain.low, best.gain.high]

    return ask_each({"f1": lambda: ask(metric="f1"), "cost": lambda: ask(cost=COSTS)})


@feature("deploy")
def ask_deploy(assumed):
    evaluation = assumed.evaluate(threshold=THRESHOLD, deploy_prevalence=ELSEWHERE)
    return {row.label: row.estimate for row in evaluation.deployed()}


@feature("compare deploy")
def ask_compare_deploy(assumed):
    comparison = assumed.compare(threshold=THRESHOLD, deploy_prevalence=ELSEWHERE)
    return difference_table(comparison.deployed())


@feature("population target")
def ask_population_target(assumed):
    return table(assumed.evaluate(threshold=THRESHOLD, target="population"))


def curve_displays():
    return {"roc": uc.displays.RocDisplay, "precision-recall": uc.displays.PrecisionRecallDisplay,
            "lift": uc.displays.LiftDisplay}  # fmt: skip


def other_displays():
    names = ("Sensitivity", "Cost", "NetBenefit", "Histogram", "Calibration")
    return {name: getattr(uc.displays, f"{name}Display") for name in names}


@feature("bands")
def ask_bands(assumed):
    def ask(display):
        band = assumed.display(display).band()
        if not band:
            raise AbsentError("band")
        return sample(band)

    return ask_each({name: lambda d=d: ask(d) for name, d in curve_displays().items()})


@feature("displays")
def ask_displays(assumed):
    every = curve_displays() | other_displays()
    return ask_each({n: lambda d=d: sample(assumed.display(d).frame()) for n, d in every.items()})


@feature("bounds")
def ask_bounds(assumed):
    bounds = assumed.evaluate(threshold=THRESHOLD).bounds
    return {"roc_auc": bounds.roc_auc, "average_precision": bounds.average_precision}


def ask_sweep(assumed, over, metrics):
    evaluation = assumed.evaluate(threshold=THRESHOLD)
    return ask_each({m: lambda m=m: sample(evaluation.sweep(m, over=over)) for m in metrics})


@feature("sweep over prevalence")
def ask_sweep_over_prevalence(assumed):
    return ask_sweep(assumed, "prevalence", ("precision", "roc_auc"))


@feature("sweep over threshold")
def ask_sweep_over_threshold(assumed):
    return ask_sweep(assumed, "threshold", ("precision", "recall"))


@feature("break_even")
def ask_break_even(assumed):
    evaluation = assumed.evaluate(threshold=THRESHOLD)

    def ask(metric, value):
        found = evaluation.break_even(metric, value)
        return [found.unlabeled_prevalence, found.odds_ratio]

    goals = {"precision": 0.6, "roc_auc": 0.8}
    return ask_each({m: lambda m=m, v=value: ask(m, v) for m, value in goals.items()})


@feature("bias bounds")
def ask_bias_bounds(assumed):
    return assumed.evaluate(threshold=THRESHOLD).bias_bounds(1.5)


@feature("require")
def ask_require(assumed):
    evaluation = assumed.evaluate(threshold=THRESHOLD)

    def ask(target):
        (judgement,) = evaluation.require(target).judgements
        return {judgement.outcome: judgement.estimate}

    return ask_each({target: lambda t=target: ask(t) for target in TARGETS})


@feature("page")
def ask_page(assumed):
    text = page_of(assumed)
    facts = page_facts(text)
    if facts is None:
        return page_numbers(text)
    return dict(zip(PAGE_METRICS, facts["live"][0]["rows"], strict=True))


@feature("comparison page")
def ask_comparison_page(assumed):
    return page_numbers(write_page(assumed.compare(threshold=THRESHOLD)))


@feature("log loss")
def ask_log_loss(assumed):
    return ask_each(
        {
            "estimate": lambda: assumed.evaluate(threshold=THRESHOLD).estimate("log_loss"),
            "uc.metrics": lambda: assumed.measure("log_loss"),
        }
    )


@feature("counts alone")
def ask_counts_alone(assumed):
    counts = uc.ScoreCounts.from_rows(assumed.labels, SCORE)
    return table(assumed.evaluate(counts, threshold=THRESHOLD))


@feature("uc.metrics")
def ask_metrics(assumed):
    def ask(metric):
        return assumed.measure(metric, **({"threshold": 0.5} if metric in POINT_METRICS else {}))

    return ask_each({metric: lambda m=metric: ask(m) for metric in METRICS})


@feature("scorers")
def ask_scorers(assumed):
    def ask(metric):
        return assumed.score(metric, **({"threshold": 0.5} if metric in POINT_METRICS else {}))

    return ask_each({metric: lambda m=metric: ask(m) for metric in ("recall", "precision", *AREAS)})


@feature("plan")
def ask_plan(assumed):
    plan = assumed.plan(budget=40, goal=["precision", "recall"], threshold=THRESHOLD)
    return {"expected": list(plan.expected[40].values()), "sizes": plan.design.sizes()}


@feature("compare by")
def ask_compare_by(assumed):
    segments = assumed.compare(threshold=THRESHOLD, by=SEGMENT)
    return {
        f"{key}: {name}": value
        for key in segments
        for name, value in difference_table(segments[key].differences).items()
    }


@feature("monitor")
def ask_monitor(assumed):
    monitoring = assumed.monitor(threshold=THRESHOLD)
    rows = {row.period: row.precision for row in monitoring.rows if row.precision is not None}
    looks = [] if monitoring.alarm is None else list(monitoring.alarm.looks[-1][1:])
    return {**monitoring.metrics, **rows, "alarm": looks}


@feature("thresholds")
def ask_thresholds(assumed):
    evaluation = assumed.evaluate(threshold=[THRESHOLD, 0.7], top=[TOP, 2 * TOP])
    return {row.label: row.estimate for row in (*evaluation.rows, *evaluation.top_rows)}


@feature("by + cluster")
def ask_by_cluster(assumed):
    return segment_table(assumed.evaluate(threshold=THRESHOLD, by=SEGMENT, cluster=CLUSTER))


@feature("by + deploy")
def ask_by_deploy(assumed):
    segments = assumed.evaluate(threshold=THRESHOLD, by=SEGMENT, deploy_prevalence=ELSEWHERE)
    return {
        f"{key}: {row.label}": row.estimate
        for key in segments
        for row in segments[key].deployed(ELSEWHERE)
    }


@feature("by + top")
def ask_by_top(assumed):
    segments = assumed.evaluate(by=SEGMENT, top=TOP // 2)
    return {
        f"{key}: {row.label}": row.estimate for key in segments for row in segments[key].top_rows
    }
