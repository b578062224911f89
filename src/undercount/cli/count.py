"""Count files into small files, and add those up."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import (
    ALL_FINE,
    Command,
    check_output_paths,
    files_of,
    print_notes,
    progress,
)
from undercount.cli.options import (
    CLUSTER,
    DATA,
    DEBUG,
    QUIET,
    ThresholdType,
    database_options,
    reading_options,
)
from undercount.cli.streams import fit, print_text, tell
from undercount.cli.wording import say
from undercount.count.databases import FILE_DATABASES, redact
from undercount.count.paths import STANDARD_INPUT, find_files
from undercount.errors import CompactCountsWarning, InputError, collect_warnings

# A float has no more decimals.
MOST_DIGITS = 15
OUTPUT = click.option(
    "-o",
    "--output",
    "--out",
    required=True,
    type=click.Path(dir_okay=False),
    help="File to write; its name ends in .parquet.",
)


@click.command(cls=Command, short_help="Count DATA into a small file to use as DATA.")
@DATA
@reading_options
@CLUSTER
@database_options
@click.option(
    "--threshold",
    "thresholds",
    type=ThresholdType(),
    multiple=True,
    help="Threshold that will be asked of the file; repeat. Kept apart where there are so many "
    "scores (over two million) that those without a label are merged.",
)
@click.option("--exact", is_flag=True, help="Keep every score, however many there are.")
@click.option(
    "--round",
    "digits",
    type=click.IntRange(0, MOST_DIGITS),
    metavar="DIGITS",
    help="Round scores to so many decimals: few are left then, all are kept, and files add up.",
)
@OUTPUT
@QUIET
@with_options
def count(options: Options) -> int:
    """Count DATA into a small file that every other command takes as DATA."""
    from undercount.cli.inputs import read  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.counts_file import (  # noqa: PLC0415
        check_name,
        fingerprint,
        table_fingerprints,
        write_counts,
    )
    from undercount.count.knots import knots_at  # noqa: PLC0415

    data, output = options["data"], options["output"]
    check_name(output)
    if len(options["scores"]) != 1:
        raise InputError(f"count takes one --score column; got {len(options['scores'])}")
    knots = [knot for threshold in options["thresholds"] for knot in knots_at(threshold)]
    # Every score is kept while it can be afforded: parts then add up, and any threshold is told.
    exact, digits = False if options["exact"] else None, options["digits"]
    with collect_warnings(CompactCountsWarning) as warned:
        reading = read(data, options, knots, compact=exact, digits=digits)
    for warning in warned:
        tell(f"undercount: {say(warning.message, count)}")
    counts = reading.counts[options["scores"][0]]
    two_samples = (options["positives"], options["unlabeled"]) if options["positives"] else ()
    given = data or tuple(map(str, two_samples))
    source: tuple[str, ...] = ()
    if not given:
        source = table_fingerprints(_name_table(options), counts)
    elif STANDARD_INPUT not in given:  # which cannot be known again
        source = tuple(fingerprint(file) for path in given for file in files_of(path))
    apart = reading.sampling if reading.sampling == "case-control" else None
    write_counts(counts, output, source=source, sampling=apart, score=options["scores"][0])
    if not options["quiet"]:
        print_notes(reading.notes)
        print_text(fit(f" {counts!r}\n wrote {output}"))
    return ALL_FINE


def _name_table(options: Options) -> str:
    """Write which table of which database was counted, without a password."""
    database = str(options["database"])
    url, place = urlsplit(database), redact(database, database)
    if url.scheme in FILE_DATABASES:
        place = str(Path(unquote(url.netloc + url.path)).resolve())
    return "\n".join([place, options["table"] or "", " ".join((options["query"] or "").split())])


@click.command(cls=Command, short_help="Add up counts files.")
@click.argument("parts", nargs=-1, required=True)
@OUTPUT
@DEBUG
def merge(parts: tuple[str, ...], output: str) -> int:
    """Add up counts files; an interrupted merge goes on where it stopped."""
    from undercount.count.counts_file import check_name, merge_counts  # noqa: PLC0415 - DuckDB, only when needed

    check_name(output)
    files = [file for part in parts for file in find_files(part) or [part]]
    # What is done stands there until the sum is complete; then it is removed.
    check_output_paths(files, {"--output": f"{output}.unfinished"})
    with progress("merging", {}) as bar, collect_warnings() as warned:
        counts = merge_counts(files, output, progress=bar)
    for warning in warned:
        tell(f"undercount: {warning}")
    print_text(fit(f" {counts!r}\n wrote {output}"))
    return ALL_FINE
