"""Follow a classifier over time while labels are still arriving."""

from typing import TYPE_CHECKING

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import FINE, INCONCLUSIVE, REQUIREMENT_FAILS, Command, prints, progress
from undercount.cli.dates import EVENTUALLY, FOUND, OBSERVED, UNTIL, read_day
from undercount.cli.gate import read_requirements, report_verdict
from undercount.cli.options import (
    CONFIDENCE_LEVEL,
    DATA,
    DEBUG,
    JSON,
    QUIET,
    ThresholdType,
    gate_options,
)
from undercount.cli.streams import print_text, tell
from undercount.errors import InputError, collect_warnings

if TYPE_CHECKING:
    from undercount.read.monitoring import Monitoring


@click.command(cls=Command, short_help="Follow a score over time while labels are late.")
@DATA
@click.option("--score", required=True, help="Column of scores.")
@click.option("--observed", required=True, help=OBSERVED)
@click.option("--found", required=True, help=FOUND)
@click.option("--label", help="Column of labels, 1 positive; dates of others do not count.")
@click.option("--until", help=f"{UNTIL[:-1]}; later rows are left out.")
@click.option(
    "--threshold", type=ThresholdType(), required=True, help="Rows with score >= it are flagged."
)
@click.option(
    "--period", type=click.Choice(["month", "week"]), default="month", show_default=True,
    help="What a line of the table is.",
)  # fmt: skip
@click.option("--baseline", help="Last period of the baseline of the alarm: 2024-03.")
@EVENTUALLY
@click.option(
    "--risk", type=float, default=0.05, show_default=True,
    help="Risk of any false alarm over all weekly looks together.",
)  # fmt: skip
@gate_options
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page with the table.")
@CONFIDENCE_LEVEL
@JSON
@QUIET
@DEBUG
@with_options
def monitor(options: Options) -> int:
    """Show metrics by month while labels of recent rows are missing.

    Exit 1 if the alarm is on or a requirement fails, else 3 if no number may be reported, because
    the oldest cohort is not mature or a check fails, or if a requirement is open.
    """
    from undercount.cli.inputs import refuse_no_data  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.read.require.requirement import Verdict  # noqa: PLC0415

    data = options["data"]
    refuse_no_data(data)
    requirements = read_requirements(options, options["threshold"])
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
    if prints(options):
        print_text(f"\n{found}")
    verdict = Verdict(tuple(found.judge(requirement) for requirement in requirements))
    codes = {report_verdict(verdict, options), FINE if found.reportable else INCONCLUSIVE}
    if found.alarm and (found.alarm.fell or found.alarm.rose):
        codes.add(REQUIREMENT_FAILS)
    return next(code for code in (REQUIREMENT_FAILS, INCONCLUSIVE, FINE) if code in codes)


def _monitor(data: tuple[str, ...], options: Options) -> "Monitoring":
    import numpy as np  # noqa: PLC0415 - only when needed

    from undercount.cli.inputs import refuse_no_score  # noqa: PLC0415 - DuckDB
    from undercount.count.files import read_dated  # noqa: PLC0415
    from undercount.prevalence.late_labels import read_until  # noqa: PLC0415
    from undercount.read.monitor import monitor as follow  # noqa: PLC0415

    threshold = options["threshold"]
    assert threshold is not None  # noqa: S101 - it is required
    columns = [str(options["observed"]), str(options["found"])]
    if options["observed"] == options["found"]:
        raise InputError("--observed and --found must be two columns")
    label = options["label"]
    numbers = [name for name in (options["score"], label) if name]
    with progress("reading", options):
        rows = read_dated(list(data), numbers, columns)
    kept = ~np.isnan(rows[options["score"]])
    if not kept.any():
        refuse_no_score([options["score"]], ", ".join(data))
    if not kept.all():
        tell(f"undercount: {np.count_nonzero(~kept):,} rows without a score left out")
    until = read_day(options["until"])
    taken = {name: values[kept] for name, values in rows.items()}
    if until is not None:
        last = read_until(until, *(taken[name] for name in columns))
        later = int(np.count_nonzero(taken[columns[0]] > last))
        if later:
            tell(f"undercount: {later:,} rows after --until {options['until']} left out")
    return follow(
        taken[options["score"]],
        observed=taken[columns[0]],
        found=taken[columns[1]],
        label=taken[label] if label else None,
        until=until,
        threshold=threshold,
        period=options["period"],
        baseline=options["baseline"],
        found_eventually=options["found_eventually"],
        risk=options["risk"],
        confidence_level=options["confidence_level"],
    )
