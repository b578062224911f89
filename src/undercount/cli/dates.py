"""Dates of rows and of their labels on the command line: which chance a label had to arrive."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.arguments import Options
from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.cli.inputs import ModelColumns

OBSERVED = "Column with the date of the row."
FOUND = "Column with the date of its label; empty if none."
UNTIL = "Date to which labels are complete (the last date there is)."
EVENTUALLY = click.option(
    "--found-eventually",
    type=float,
    default=1.0,
    show_default=True,
    help="Share of the positives that are ever labelled.",
)


def date_options(command: Any) -> Any:
    """Add the options of dates, none of which must be given."""
    for option in (
        EVENTUALLY,
        click.option("--until", help=f"With --found: {UNTIL[0].lower()}{UNTIL[1:]}"),
        click.option("--found", help=f"{FOUND} With --observed it tells which labels are late."),
        click.option("--observed", help=OBSERVED),
    ):
        command = option(command)
    return command


def read_day(text: str | None) -> str | float | None:
    """Read a date, or the number of a day as columns of numbers have it."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def date_columns(options: Options) -> list[str]:
    """Return the columns of both dates; none if they were not named."""
    names = [options.get("observed"), options.get("found")]
    if not any(names):
        return []
    if not all(names) or names[0] == names[1]:
        raise InputError("--observed and --found go together, and name two columns")
    if options["chance"]:
        raise InputError("--found tells the chance of each label; leave --chance out")
    return [str(name) for name in names]


def take_dates(rows: "ModelColumns", options: Options) -> "ModelColumns":
    """Return the rows with the chance that their labels have arrived, if dates were named."""
    if not rows.dates:
        return rows
    import numpy as np  # noqa: PLC0415 - only when needed

    from undercount.prevalence.late_labels import LateLabels, dates_of_positives  # noqa: PLC0415

    late = LateLabels(
        found_eventually=options["found_eventually"], confidence_level=options["confidence_level"]
    )
    observed, labelled_on = rows.dates
    labelled_on = dates_of_positives(labelled_on, rows.labels == 1)
    late.fit(observed, labelled_on, until=read_day(options["until"]))
    young = int(np.count_nonzero(~late.usable_))
    note = [f"labels are complete to {late.rows_.last_day}"]
    note += [f"{young:,} rows too young for a label left out"] if young else []
    # What was found after --until has not arrived.
    labels = np.where((rows.labels == 1) & ~late.rows_.labelled, np.nan, rows.labels)
    return replace(rows, labels=labels, chance=late, notes=[*rows.notes, *note])
