"""Compare models on the same rows."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import Command, print_notes, prints, progress, tell_page
from undercount.cli.gate import report_verdict
from undercount.cli.options import (
    CHANCE_OPTION,
    CLUSTER,
    DATA,
    DEPLOY,
    ThresholdType,
    TopType,
    check_named_once,
    database_options,
    model_gate_options,
    output_options,
    reading_options,
    review_options,
    share_options,
    thresholds_of,
)
from undercount.cli.segments import (
    check_share_options,
    name_shares_of_rows,
    segment_values,
    write_comparisons,
)
from undercount.cli.streams import print_text

if TYPE_CHECKING:
    from undercount.cli.inputs import ModelColumns
    from undercount.read.compare.compare import Comparison


@click.command(cls=Command, short_help="Compare models on the same rows.")
@DATA
@reading_options
@CLUSTER
@CHANCE_OPTION
@DEPLOY
@database_options
@share_options
@review_options
@click.option(
    "--threshold",
    "thresholds",
    type=ThresholdType(),
    multiple=True,
    help="Rows with score >= threshold are flagged; one for all models, or one a --score.",
)
@click.option(
    "--question",
    type=click.Choice(["population", "rows"]),
    default="population",
    show_default=True,
    help="Which model is better where these rows come from, or on these rows alone.",
)
@click.option(
    "--top",
    type=TopType(),
    help="Rows that each model may flag, 500 or 1%, to compare at the same work (as many as are "
    "labelled).",
)
@click.option(
    "--rank-by",
    help="Metric that decides which model is better (f1 with a threshold, else roc_auc).",
)
@click.option(
    "--by",
    multiple=True,
    callback=check_named_once,
    help="Column of segments (country, month): a comparison for each; repeat.",
)
@model_gate_options
@output_options
@with_options
def compare(options: Options) -> int:
    """Compare the scores of two or more columns on the same rows."""
    from undercount.assume.options import assumption_by_options  # noqa: PLC0415 - when needed
    from undercount.cli.inputs import names_database, read_models  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.cli.reviews import read_verdicts  # noqa: PLC0415
    from undercount.read.compare.compare import compare as compare_rows  # noqa: PLC0415
    from undercount.read.compare.comparisons import Comparisons  # noqa: PLC0415
    from undercount.read.require.model_requirement import parse_conditions  # noqa: PLC0415

    if not options["by"]:
        check_share_options(options)
    thresholds = thresholds_of(options["thresholds"], options["scores"])
    verdicts = read_verdicts(options["reviews"])
    if verdicts is not None:
        in_table, cluster = names_database(options["data"], options), options["cluster"]
        verdicts.check_models(options["scores"], in_table=in_table, cluster=cluster)
    rows = read_models(options["data"], options)
    places = thresholds if isinstance(thresholds, dict) else dict.fromkeys(rows.scores, thresholds)
    conditions = parse_conditions(options["requirements"], places)
    if verdicts is not None:
        options["verdicts"] = verdicts.in_memory(rows)
    by = segment_values(rows.by) if options["by"] else None
    options = name_shares_of_rows(options, by, len(rows.labels))
    with progress("comparing", options):
        comparison = compare_rows(
            rows.labels,
            rows.scores,
            assume=assumption_by_options(options, rows.sampling, rows.chance),
            threshold=thresholds,
            top=options["top"],
            by=by,
            rank_by=options["rank_by"],
            sample_weight=rows.weights,
            question=options["question"],
            cluster=rows.cluster,
            deploy_prevalence=options["deploy_prevalence"],
            target=options["target"],
            confidence_level=options["confidence_level"],
            random_state=options["seed"],
        )
    if isinstance(comparison, Comparisons):
        comparison = replace(comparison, column=", ".join(options["by"]))
        return write_comparisons(comparison, rows, options)
    verdict = comparison.judge(conditions)
    _write(comparison, rows, options)
    return report_verdict(verdict, options)


def _write(comparison: "Comparison", rows: "ModelColumns", options: Options) -> None:
    """Write the files that the options name, and print; files first, as `evaluate` does."""
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.comparison import as_text  # noqa: PLC0415
    from undercount.show.layout import terminal_width  # noqa: PLC0415

    if options["json_file"]:
        write_text(options["json_file"], comparison.to_json())
    if options["csv_file"]:
        write_text(options["csv_file"], comparison.to_csv())
    if options["markdown"]:
        write_text(options["markdown"], comparison.to_markdown())
    if options["html"]:
        comparison.to_html(options["html"])
        tell_page(options)
    if prints(options):
        print_notes(rows.notes)
        print_text(f"\n{as_text(comparison, terminal_width())}")
