"""Judge scores when labels of both classes exist only where somebody looked."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import Command, progress
from undercount.cli.evaluate import judge_models, take_verdict, write_evaluations
from undercount.cli.gate import read_requirements, report_verdict
from undercount.cli.options import (
    CONFIDENCE_LEVEL,
    DATA,
    DEBUG,
    HTML,
    JSON,
    QUIET,
    SEED_OPTION,
    ThresholdType,
    check_named_once,
    data_name,
    gate_options,
)
from undercount.cli.wording import say

if TYPE_CHECKING:
    from undercount.assume.selection.assumption import SelectedLabels
    from undercount.cli.inputs import LookedRows
    from undercount.errors import Check
    from undercount.read.evaluation import Evaluation

METHOD_CHOICES = (
    "own-score",
    "observed-score",
    "unobserved",
    "begg-greenes",
    "ipw",
    "doubly-robust",
)


@click.command(cls=Command, short_help="Judge scores if labels exist only where someone looked.")
@DATA
@click.option("--label", required=True, help="Column of labels; missing where nobody looked.")
@click.option("--score", required=True, help="Column of the score under test.")
@click.option("--selection-score", help="Column of the score that chose the rows.")
@click.option(
    "--features",
    multiple=True,
    callback=check_named_once,
    help="Column that the choice of rows rested on; repeat.",
)
@click.option(
    "--method",
    type=click.Choice(METHOD_CHOICES),
    metavar="METHOD",
    help="Who chose the rows; by default the score itself, or the selection score if named: "
    f"{', '.join(METHOD_CHOICES[:-1])} or {METHOD_CHOICES[-1]}.",
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
@SEED_OPTION
@HTML
@JSON
@QUIET
@DEBUG
@with_options
def select(options: Options) -> int:
    """Evaluate when labels of both classes exist only where somebody looked."""
    from undercount.cli.inputs import read_looked, require_data  # noqa: PLC0415 - DuckDB, only when needed

    data = options["data"]
    require_data(data)
    requirements = read_requirements(options, options["threshold"])
    with progress("fitting", options):
        rows = read_looked(data, options)
        evaluation = _evaluate(rows, options)
    verdict = judge_models([evaluation], requirements)
    evaluation = take_verdict(verdict, evaluation)
    options["data_name"] = data_name(data)
    write_evaluations([evaluation], rows.notes, options)
    return report_verdict(verdict, options)


def _evaluate(rows: "LookedRows", options: Options) -> "Evaluation":
    """Evaluate the rows under the assumption that the options say."""
    from undercount.assume.base import ReportOptions  # noqa: PLC0415 - only when needed
    from undercount.infer.scored_rows import count_model  # noqa: PLC0415
    from undercount.read.evaluate_models import evaluate_models  # noqa: PLC0415

    name, threshold = options["score"], options["threshold"]
    model = count_model(rows.labels, rows.score, None, None, threshold, compact=False)
    wanted = ReportOptions(
        confidence_level=options["confidence_level"], random_state=options["seed"]
    )
    evaluation = evaluate_models({name: model}, wanted, _assumption(rows, options))[name]
    return replace(evaluation, checks=tuple(map(_say, evaluation.checks)))


def _assumption(rows: "LookedRows", options: Options) -> "SelectedLabels":
    """Return who chose the rows, as the options name it."""
    from undercount.assume.selection.assumption import SelectedLabels  # noqa: PLC0415 - only when needed

    usual: Any = "own-score" if rows.chooser is None else "observed-score"
    return SelectedLabels(
        options["method"] or usual,
        selection_score=rows.chooser,
        features=rows.features,
        distribution=options["distribution"],
        scale=options["scale"],
        link=options["link"],
    )


def _say(check: "Check") -> "Check":
    """Name options in the words of a check."""
    return replace(check, message=say(check.message, select), advice=say(check.advice, select))
