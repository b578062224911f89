"""Compare models, methods of estimating the prevalence, and models of who chose the rows."""

from dataclasses import replace
from typing import Any

import click

from undercount.cli.command import FINE, Command, working
from undercount.cli.options import (
    DATA,
    DEBUG,
    SAMPLING,
    known,
    reading_options,
    share_options,
    unweighted_options,
)
from undercount.cli.reading import read, read_models
from undercount.cli.wording import in_options
from undercount.errors import InputError


@click.command(cls=Command, short_help="Estimate the share of hidden positives, all methods.")
@DATA
@reading_options
@SAMPLING
@click.option("--confidence-level", type=float, default=0.95, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def prevalence(data: tuple[str, ...], **options: Any) -> int:
    """Estimate the share of positives among the unlabeled rows with every method."""
    from undercount.show.estimators import (  # noqa: PLC0415 - only when needed
        estimator_table,
        print_estimators,
        refuse_unanswered,
    )
    from undercount.show.words import SAMPLING as SAMPLINGS  # noqa: PLC0415

    reading = read(data, options, [])
    sampling = options["sampling"] or reading.sampling
    told = (options["confidence_level"], options["seed"], sampling)
    tables = {}
    with working("estimating", options):
        for name, counts in reading.counts.items():
            rows = estimator_table(counts, *told)
            refuse_unanswered(rows, name if len(reading.counts) > 1 else "")
            tables[name] = [replace(row, note=in_options(row.note, prevalence)) for row in rows]
    print_estimators(tables, [*reading.notes, SAMPLINGS[sampling]], options)
    return FINE


@click.command(cls=Command, short_help="Compare models on the same rows.")
@DATA
@unweighted_options
@share_options
@click.option(
    "--threshold",
    "thresholds",
    type=float,
    multiple=True,
    help="Rows with score >= threshold are flagged; one for all models, or one a --score.",
)
@click.option("--html", "html_file", type=click.Path(dir_okay=False), help="Write the live report.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write models and differences as JSON; - for stdout.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def compare(data: tuple[str, ...], **options: Any) -> int:
    """Compare the scores of two or more columns on the same rows."""
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.read.compare import compare as compare_rows  # noqa: PLC0415 - only when needed

    if options["weight"]:
        raise InputError(
            "compare counts every row once: intervals of differences are not worked out for "
            "weights; leave --weight out, or judge each model by itself with undercount evaluate"
        )
    thresholds = _thresholds(options["thresholds"], options["scores"])
    rows, sampling = read_models(data, options)
    with working("comparing", options):
        comparison = compare_rows(
            rows.labels, rows.scores, threshold=thresholds, **known(options, sampling)
        )
    if options["html_file"]:
        comparison.to_html(options["html_file"])
    if options["json_file"]:
        write_text(options["json_file"], comparison.to_json())
    if not options["quiet"] and "-" not in (options["json_file"], options["html_file"]):
        for note in rows.notes:
            click.echo(f" {note}")
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
)
@click.option("--threshold", type=float, help="Rows with score >= threshold are flagged.")
@click.option("--confidence-level", type=float, default=0.95, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@DEBUG
def select(data: tuple[str, ...], **options: Any) -> int:
    """Evaluate when labels of both classes exist only where somebody looked."""
    import json  # noqa: PLC0415 - only when needed

    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.selection import (  # noqa: PLC0415
        fitted_selection,
        selection_facts,
        selection_text,
    )

    if not data:
        raise InputError("name a file of scores and labels, or - for standard input")
    with working("fitting", options):
        model, notes = fitted_selection(list(data), options)
        facts = selection_facts(model, options["threshold"])
    for check in facts["checks"]:
        check |= {part: in_options(check[part], select) for part in ("message", "advice")}
    if options["json_file"]:
        write_text(options["json_file"], json.dumps(facts, indent=1) + "\n")
    if not options["quiet"] and options["json_file"] != "-":
        for note in notes:
            click.echo(f" {note}")
        click.echo(selection_text(facts, options["confidence_level"]))
    return FINE
