"""Judge scores when labels of both classes exist only where somebody looked."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.command import FINE, Command, print_notes, prints, progress
from undercount.cli.options import CONFIDENCE_LEVEL, DATA, DEBUG, JSON, QUIET, SEED
from undercount.cli.wording import say

if TYPE_CHECKING:
    from undercount.assume.selection.model import SelectionModel
    from undercount.cli.inputs import LookedRows
    from undercount.read.evaluation import MetricRow

AREAS = ("roc_auc", "prevalence")
POINTS = ("recall", "precision", "f1", "specificity")


@click.command(cls=Command, short_help="Judge scores if labels exist only where someone looked.")
@DATA
@click.option("--label", required=True, help="Column of labels; missing where nobody looked.")
@click.option("--score", required=True, help="Column of the score under test.")
@click.option("--selection-score", help="Column of the score that chose the rows.")
@click.option("--features", multiple=True, help="Column that the choice of rows rested on; repeat.")
@click.option(
    "--method",
    type=click.Choice(
        ["own-score", "observed-score", "unobserved", "begg-greenes", "ipw", "doubly-robust"]
    ),
    help="Who chose the rows; by default the score itself, or the selection score if named.",
)
@click.option(
    "--distribution",
    type=click.Choice(["empirical", "normal", "copula"]),
    default="empirical",
    show_default=True,
    help="How the scores are distributed, for the methods that model it.",
)
@click.option("--threshold", type=float, help="Rows with score >= threshold are flagged.")
@CONFIDENCE_LEVEL
@SEED
@JSON
@QUIET
@DEBUG
def select(data: tuple[str, ...], **options: Any) -> int:
    """Evaluate when labels of both classes exist only where somebody looked."""
    from undercount.cli.inputs import read_looked, refuse_no_data  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.selection import selection_document, selection_text  # noqa: PLC0415

    refuse_no_data(data)
    with progress("fitting", options):
        rows = read_looked(data, options)
        model = _fit(rows, options)
        table = _table(model, options["threshold"])
        checks = [
            replace(check, message=say(check.message, select), advice=say(check.advice, select))
            for check in model.checks()
        ]
    if options["json_file"]:
        document = selection_document(table, checks)
        write_text(options["json_file"], json.dumps(document, indent=1) + "\n")
    if prints(options):
        print_notes([f"{rows.notes[0]} · method {model.method}", *rows.notes[1:]])
        click.echo(selection_text(table, checks, options["confidence_level"]))
    return FINE


def _fit(rows: "LookedRows", options: dict[str, Any]) -> "SelectionModel":
    """Fit the model that the options name."""
    from undercount.assume.selection.model import SelectionModel  # noqa: PLC0415 - only when needed

    observed = options["selection_score"] is not None
    model = SelectionModel(
        options["method"] or ("observed-score" if observed else "own-score"),
        options["distribution"],
        confidence_level=options["confidence_level"],
        random_state=options["seed"],
    )
    return model.fit(rows.score, rows.labels, X=rows.features, selection_score=rows.chooser)


def _table(model: "SelectionModel", threshold: float | None) -> "list[MetricRow]":
    """Estimate each metric beside its biased value among the rows looked at."""
    from undercount.read.evaluation import MetricRow  # noqa: PLC0415 - only when needed

    asked: list[tuple[str, float | None]] = [(metric, None) for metric in AREAS]
    asked += [(metric, threshold) for metric in POINTS if threshold is not None]
    rows = []
    for metric, at in asked:
        naive: Any = model.naive_curve_ if at is None else model.naive_curve_.at(at)
        estimate = model.interval(metric, threshold=at)
        rows.append(MetricRow(metric, at, float(getattr(naive, metric)), estimate))
    return rows
