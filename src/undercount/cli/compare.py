"""Compare models on the same rows."""

from typing import Any

import click

from undercount.cli.command import FINE, Command, print_notes, prints, progress
from undercount.cli.options import (
    CLUSTER,
    DATA,
    HTML,
    JSON,
    QUIET,
    share_arguments,
    share_options,
    unweighted_options,
)
from undercount.errors import InputError


@click.command(cls=Command, short_help="Compare models on the same rows.")
@DATA
@unweighted_options
@CLUSTER
@share_options
@click.option(
    "--threshold",
    "thresholds",
    type=float,
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
@HTML
@JSON
@QUIET
def compare(data: tuple[str, ...], **options: Any) -> int:
    """Compare the scores of two or more columns on the same rows."""
    from undercount.cli.inputs import read_models  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.read.compare import compare as compare_rows  # noqa: PLC0415

    if options["weight"]:
        raise InputError(
            "compare counts every row once: intervals of differences are not worked out for "
            "weights; leave --weight out, or judge each model by itself with undercount evaluate"
        )
    thresholds = _thresholds(options["thresholds"], options["scores"])
    rows = read_models(data, options)
    with progress("comparing", options):
        comparison = compare_rows(
            rows.labels,
            rows.scores,
            threshold=thresholds,
            question=options["question"],
            cluster=rows.cluster,
            **share_arguments(options, rows.sampling),
        )
    if options["html"]:
        comparison.to_html(options["html"])
    if options["json_file"]:
        write_text(options["json_file"], comparison.to_json())
    if prints(options):
        print_notes(rows.notes)
        click.echo(f"\n{comparison}")
    return FINE


def _thresholds(given: tuple[float, ...], scores: tuple[str, ...]) -> Any:
    """Return nothing, one threshold for all, or one a model in the order of --score."""
    if len(given) <= 1:
        return given[0] if given else None
    if len(given) != len(scores):
        raise InputError(
            f"give one --threshold for all models or one a --score; got {len(given)} for "
            f"{len(scores)} scores"
        )
    return dict(zip(scores, given, strict=True))
