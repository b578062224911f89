"""Judge scores when labels of both classes exist only where somebody looked."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.command import (
    INCONCLUSIVE,
    Command,
    print_notes,
    prints,
    progress,
    tell_page,
)
from undercount.cli.gate import read_requirements, report_verdict
from undercount.cli.options import (
    CONFIDENCE_LEVEL,
    DATA,
    DEBUG,
    JSON,
    QUIET,
    SEED,
    ThresholdType,
    gate_options,
    refuse_repeated,
)
from undercount.cli.streams import print_text
from undercount.cli.wording import say

if TYPE_CHECKING:
    from undercount.assume.selection.model import SelectionModel
    from undercount.cli.inputs import LookedRows
    from undercount.errors import Check
    from undercount.infer.metric_row import MetricRow
    from undercount.read.require.requirement import Requirement, Verdict
    from undercount.show.selection import SelectionReport

LEVELS = ("fail", "warn", "ok")
AREAS = ("roc_auc", "prevalence")
POINTS = ("recall", "precision", "f1", "specificity")
METHODS = ("own-score", "observed-score", "unobserved", "begg-greenes", "ipw", "doubly-robust")


@click.command(cls=Command, short_help="Judge scores if labels exist only where someone looked.")
@DATA
@click.option("--label", required=True, help="Column of labels; missing where nobody looked.")
@click.option("--score", required=True, help="Column of the score under test.")
@click.option("--selection-score", help="Column of the score that chose the rows.")
@click.option(
    "--features",
    multiple=True,
    callback=refuse_repeated,
    help="Column that the choice of rows rested on; repeat.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    metavar="METHOD",
    help="Who chose the rows; by default the score itself, or the selection score if named: "
    f"{', '.join(METHODS[:-1])} or {METHODS[-1]}.",
)
@click.option(
    "--distribution",
    type=click.Choice(["empirical", "normal", "copula"]),
    default="empirical",
    show_default=True,
    help="How the scores are distributed, for the methods that model it.",
)
@click.option(
    "--scale",
    type=click.Choice(["auto", "score", "logit", "probit"]),
    default="auto",
    show_default=True,
    help="Scale of a score between 0 and 1; auto takes the likeliest.",
)
@click.option(
    "--link",
    type=click.Choice(["probit", "logit"]),
    default="probit",
    show_default=True,
    help="Shape of the class in score and features.",
)
@click.option("--threshold", type=ThresholdType(), help="Rows with score >= threshold are flagged.")
@gate_options
@CONFIDENCE_LEVEL
@SEED
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page.")
@JSON
@QUIET
@DEBUG
def select(data: tuple[str, ...], **options: Any) -> int:
    """Evaluate when labels of both classes exist only where somebody looked."""
    from undercount.cli.inputs import read_looked, refuse_no_data  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.document import write_document  # noqa: PLC0415
    from undercount.show.layout import terminal_width  # noqa: PLC0415
    from undercount.show.selection import (  # noqa: PLC0415
        selection_document,
        selection_page,
        selection_text,
    )

    refuse_no_data(data)
    requirements = read_requirements(options, options["threshold"])
    with progress("fitting", options):
        rows = read_looked(data, options)
        model = _fit(rows, options)
        report = _report(model, rows, options)
    if options["json_file"]:
        write_text(options["json_file"], write_document(selection_document(report)))
    if options["html"]:
        write_text(options["html"], selection_page(report))
        tell_page(options)
    if prints(options):
        used = f"{rows.notes[0]} · method {model.method} · {report.scale_words}"
        print_notes([used, *rows.notes[1:]])
        print_text(selection_text(report, terminal_width()))
    code = report_verdict(_judge(model, report, requirements), options)
    if requirements:  # a check that fails has left open what rests on it
        return code
    return INCONCLUSIVE if report.failed else code


def _fit(rows: "LookedRows", options: dict[str, Any]) -> "SelectionModel":
    """Fit the model that the options name."""
    from undercount.assume.selection.model import SelectionModel  # noqa: PLC0415 - only when needed

    observed = options["selection_score"] is not None
    model = SelectionModel(
        options["method"] or ("observed-score" if observed else "own-score"),
        options["distribution"],
        confidence_level=options["confidence_level"],
        random_state=options["seed"],
        scale=options["scale"],
        link=options["link"],
    )
    return model.fit(rows.score, rows.labels, X=rows.features, selection_score=rows.chooser)


def _table(model: "SelectionModel", threshold: float | None) -> "list[MetricRow]":
    """Estimate each metric beside its biased value among the rows looked at."""
    from undercount.infer.metric_row import MetricRow  # noqa: PLC0415 - only when needed

    asked: list[tuple[str, float | None]] = [(metric, None) for metric in AREAS]
    asked += [(metric, threshold) for metric in POINTS if threshold is not None]
    rows = []
    for metric, at in asked:
        naive: Any = model.naive_curve_ if at is None else model.naive_curve_.at(at)
        estimate = model.interval(metric, threshold=at)
        rows.append(MetricRow(metric, at, float(getattr(naive, metric)), estimate))
    return rows


def _report(
    model: "SelectionModel", rows: "LookedRows", options: dict[str, Any]
) -> "SelectionReport":
    """Gather what is shown; a check that failed comes first."""
    from undercount.show.selection import SelectionReport  # noqa: PLC0415 - only when needed

    return SelectionReport(
        options["score"],
        rows.notes,
        model.method,
        model.distribution,
        model.link,
        model.scale_,
        model.selection_scale_,
        model.confidence_level,
        _table(model, options["threshold"]),
        _say(model.checks()),
        model.curve_,
        model.naive_curve_,
        model.band() if options["html"] else None,
    )


def _say(checks: "list[Check]") -> "list[Check]":
    """Name options in the checks' words, and put what failed first."""
    told = [
        replace(check, message=say(check.message, select), advice=say(check.advice, select))
        for check in checks
    ]
    return sorted(told, key=lambda check: LEVELS.index(check.level))


def _judge(
    model: "SelectionModel", report: "SelectionReport", requirements: "list[Requirement]"
) -> "Verdict":
    """Judge each requirement; a failed check leaves open what rests on it.

    Where the model alone speaks of most rows that a metric is about, it neither meets nor fails.
    """
    from undercount.read.require.requirement import Judgement, Verdict, judge_requirement  # noqa: PLC0415 - only when needed

    judgements = []
    for requirement in requirements:
        # The one metric without a closed form.
        kind: Any = "bootstrap" if requirement.metric == "average_precision" else "auto"
        estimate = model.interval(requirement.metric, requirement.threshold, kind)
        asked = requirement.metric, requirement.threshold
        outcome, why = judge_requirement(requirement, estimate, _say(model.checks_of(*asked)))
        if beyond := model.extrapolates(*asked):
            outcome, why = "inconclusive", beyond
        judgements.append(Judgement(report.name, requirement, outcome, estimate, why))
    return Verdict(tuple(judgements))
