"""Follow a classifier over time while labels are still arriving."""

from typing import TYPE_CHECKING, Any

import click

from undercount.cli.command import FINE, INCONCLUSIVE, REQUIREMENT_FAILS, Command, prints, progress
from undercount.cli.options import CONFIDENCE_LEVEL, DATA, DEBUG, JSON, QUIET, ThresholdType
from undercount.cli.streams import tell
from undercount.errors import InputError, collect_warnings

if TYPE_CHECKING:
    from undercount.read.monitoring import Monitoring


@click.command(cls=Command, short_help="Follow a score over time while labels are late.")
@DATA
@click.option("--score", required=True, help="Column of scores.")
@click.option("--observed", required=True, help="Column with the date of the row.")
@click.option("--found", required=True, help="Column with the date of its label; empty if none.")
@click.option("--until", help="Date to which labels are complete (the last date there is).")
@click.option(
    "--threshold", type=ThresholdType(), required=True, help="Rows with score >= it are flagged."
)
@click.option(
    "--period", type=click.Choice(["month", "week"]), default="month", show_default=True,
    help="What a line of the table is.",
)  # fmt: skip
@click.option("--baseline", help="Last period of the baseline of the alarm: 2024-03.")
@click.option(
    "--found-eventually", type=float, default=1.0, show_default=True,
    help="Share of the positives that are ever labelled.",
)  # fmt: skip
@click.option(
    "--risk", type=float, default=0.05, show_default=True,
    help="Risk of any false alarm over all weekly looks together.",
)  # fmt: skip
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page with the table.")
@CONFIDENCE_LEVEL
@JSON
@QUIET
@DEBUG
def monitor(data: tuple[str, ...], **options: Any) -> int:
    """Show metrics by month while labels of recent rows are missing.

    Exit 1 if the alarm is on, else 3 if the oldest cohort is not mature, so that no number may be
    reported.
    """
    from undercount.cli.inputs import refuse_no_data  # noqa: PLC0415 - DuckDB, only when needed

    refuse_no_data(data)
    with collect_warnings() as warned:
        found = _monitor(data, options)
    for warning in warned:
        tell(f"undercount: {warning}")
    if options["json_file"]:
        from undercount.count.atomic_file import write_text  # noqa: PLC0415

        write_text(options["json_file"], found.to_json())
    if options["html"]:
        found.to_html(options["html"])
        if options["html"] != "-" and not options["quiet"]:
            tell(f"wrote {options['html']}")
    if prints({**options, "markdown": None}):
        click.echo(f"\n{found}")
    if found.alarm and (found.alarm.fell or found.alarm.rose):
        return REQUIREMENT_FAILS
    return FINE if found.reportable else INCONCLUSIVE


def _monitor(data: tuple[str, ...], options: dict[str, Any]) -> "Monitoring":
    import numpy as np  # noqa: PLC0415 - only when needed

    from undercount.count.files import read_dated  # noqa: PLC0415 - DuckDB
    from undercount.read.monitoring import monitor as follow  # noqa: PLC0415

    columns = [options["observed"], options["found"]]
    with progress("reading", options):
        rows = read_dated(list(data), [options["score"]], columns)
    kept = ~np.isnan(rows[options["score"]])
    if not kept.all():
        tell(f"undercount: {np.count_nonzero(~kept):,} rows without a score left out")
    if options["observed"] == options["found"]:
        raise InputError("--observed and --found must be two columns")
    named = ("until", "threshold", "period", "baseline", "found_eventually", "risk")
    asked: dict[str, Any] = {name: options[name] for name in (*named, "confidence_level")}
    return follow(
        rows[options["score"]][kept],
        observed=rows[columns[0]][kept],
        found=rows[columns[1]][kept],
        **asked,
    )
