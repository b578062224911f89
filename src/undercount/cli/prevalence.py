"""Ask every estimator how many positives are hidden."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import ALL_FINE, Command, print_notes, prints, progress
from undercount.cli.options import (
    CONFIDENCE_LEVEL,
    DATA,
    JSON,
    QUIET,
    SAMPLING_OPTION,
    SEED_OPTION,
    TITLE,
    data_name,
    database_options,
    file_option,
    reading_options,
)
from undercount.cli.streams import print_text, tell
from undercount.cli.wording import say

if TYPE_CHECKING:
    from undercount.read.estimator_table import EstimatorRow


@click.command(cls=Command, short_help="Estimate the share of hidden positives, all methods.")
@DATA
@reading_options
@database_options
@SAMPLING_OPTION
@CONFIDENCE_LEVEL
@SEED_OPTION
@file_option("--html", words="Write a page.")
@TITLE
@JSON
@QUIET
@with_options
def prevalence(options: Options) -> int:
    """Estimate the share of positives among the unlabeled rows with every method."""
    from undercount.cli.inputs import read  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.read.estimator_table import check_any_answer, estimator_table  # noqa: PLC0415
    from undercount.show.estimators import estimators_document, estimators_text  # noqa: PLC0415
    from undercount.show.layout import terminal_width  # noqa: PLC0415
    from undercount.show.text import SAMPLING_WORDS as SAMPLINGS  # noqa: PLC0415

    reading = read(options["data"], options, [])
    sampling = options["sampling"] or reading.sampling
    tables = {}
    with progress("estimating", options):
        for name, counts in reading.counts.items():
            rows = estimator_table(counts, options["confidence_level"], options["seed"], sampling)
            check_any_answer(rows, name if len(reading.counts) > 1 else "")
            tables[name] = [replace(row, note=say(row.note, prevalence)) for row in rows]
    if options["json_file"]:
        write_text(options["json_file"], json.dumps(estimators_document(tables), indent=1) + "\n")
    if options["html"]:
        _write_page(tables, [*reading.notes, SAMPLINGS[sampling]], options["html"], options)
    if prints(options):
        print_notes([*reading.notes, SAMPLINGS[sampling]])
        for name, rows in tables.items():
            print_text(f"\n{estimators_text(name, rows, terminal_width())}")
    return ALL_FINE


def _write_page(
    tables: "dict[str, list[EstimatorRow]]", notes: list[str], path: str, options: Options
) -> None:
    from undercount.count.atomic_file import write_text  # noqa: PLC0415 - only when needed
    from undercount.show.estimators import estimators_page  # noqa: PLC0415
    from undercount.show.page.identity import Identity, report_date  # noqa: PLC0415

    files = options["data"] or (options["positives"], options["unlabeled"])
    identity = Identity(options["title"] or "", data_name(files), report_date())
    level, seed = options["confidence_level"], options["seed"]
    page = estimators_page(tables, notes, identity, confidence_level=level, seed=seed)
    write_text(path, page)
    if path != "-":
        tell(f"wrote {path}")
