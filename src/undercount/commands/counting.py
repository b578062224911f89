"""Count files into small files, and add those up."""

from pathlib import Path
from typing import Any

import click

from undercount.commands.evaluating import read
from undercount.commands.talk import FINE, progress
from undercount.errors import InputError
from undercount.options import DATA, reading_options

SUFFIXES = (".parquet", ".pq")


@click.command(short_help="Count DATA into a small file to use as DATA.")
@DATA
@reading_options
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False), help="Ends in .parquet."
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def count(data: tuple[str, ...], output: str, **options: Any) -> int:
    """Count DATA into a small file that every other command takes as DATA."""
    from undercount.count_files import fingerprint, write_counts  # noqa: PLC0415 - DuckDB

    check_name(output)
    if len(options["scores"]) != 1:
        raise InputError(f"count takes one --score column; got {len(options['scores'])}")
    # Every score is kept, so that parts add up and any threshold can be asked of the file.
    reading = read(data, options, [], compact=None)
    counts = reading.counts[options["scores"][0]]
    asked = (options["label"], options["scores"][0], options["unlabeled"])
    source = () if "-" in data else (fingerprint(data, *asked),)
    write_counts(counts, output, source=source)
    if not options["quiet"]:
        for note in reading.notes:
            click.echo(f" {note}")
        click.echo(f" {counts!r}\n wrote {output}")
    return FINE


@click.command(short_help="Add up counts files.")
@click.argument("parts", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False))
def merge(parts: tuple[str, ...], output: str) -> int:
    """Add up counts files; an interrupted merge goes on where it stopped."""
    from undercount.merging import merge_counts  # noqa: PLC0415 - DuckDB, only when needed

    check_name(output)
    with progress("merging", {}) as tell:
        counts = merge_counts(parts, output, progress=tell)
    click.echo(f" {counts!r}\n wrote {output}")
    return FINE


def check_name(output: str) -> None:
    """Refuse a name by which no command would know a counts file again."""
    if Path(output).suffix.casefold() not in SUFFIXES:
        raise InputError(
            f"a counts file is Parquet, and commands know it by its name: write to "
            f"{Path(output).with_suffix('.parquet')}; got {output}"
        )
