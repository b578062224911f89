"""Follow a classifier over time while labels are still arriving."""

from typing import TYPE_CHECKING, Any

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import (
    ALL_FINE,
    INCONCLUSIVE,
    REQUIREMENT_FAILS,
    Command,
    prints,
    progress,
)
from undercount.cli.dates import EVENTUALLY, FOUND, OBSERVED, UNTIL, read_day
from undercount.cli.gate import read_requirements, report_verdict
from undercount.cli.options import (
    CONFIDENCE_LEVEL,
    DATA,
    DEBUG,
    JSON,
    QUIET,
    ShareType,
    ThresholdType,
    gate_options,
)
from undercount.cli.streams import print_text, tell
from undercount.errors import InputError, collect_warnings

if TYPE_CHECKING:
    from undercount.assume.base import Assumption
    from undercount.read.monitor.monitoring import Monitoring


@click.command(cls=Command, short_help="Follow a score over time while labels are late.")
@DATA
@click.option("--score", required=True, help="Column of scores.")
@click.option("--observed", required=True, help=OBSERVED)
@click.option("--found", help=f"{FOUND} Without it labels are all here.")
@click.option("--label", help="Column of labels, 1 positive; dates of others do not count.")
@click.option("--unlabeled", help="Without --found: label value that means unlabeled.")
@click.option(
    "--prevalence", type=ShareType(), help="Without --found: share of positives among all rows."
)
@click.option("--chance", help="Without --found: column of the chance of a label.")
@click.option(
    "--audited",
    is_flag=True,
    help="Without --found: rows labelled 1 or 0 are a random sample of all.",
)
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
    """Show metrics by month, perhaps while labels of recent rows are missing.

    Exit 1 if the alarm is on or a requirement fails, else 3 if no number may be reported, because
    the oldest cohort is not mature or a check fails, or if a requirement is open.
    """
    from undercount.cli.inputs import require_data  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.read.require.requirement import Verdict  # noqa: PLC0415

    data = options["data"]
    require_data(data)
    requirements = read_requirements(options, options["threshold"])
    with collect_warnings() as warned:
        monitoring = (_monitor if options["found"] else _monitor_labels)(data, options)
    for warning in warned:
        tell(f"undercount: {warning}")
    if options["json_file"]:
        from undercount.count.atomic_file import write_text  # noqa: PLC0415

        write_text(options["json_file"], monitoring.to_json())
    if options["html"]:
        monitoring.to_html(options["html"])
        if options["html"] != "-" and not options["quiet"]:
            tell(f"wrote {options['html']}")
    if prints(options):
        print_text(f"\n{monitoring}")
    verdict = Verdict(tuple(monitoring.judge(requirement) for requirement in requirements))
    codes = {report_verdict(verdict, options), ALL_FINE if monitoring.reportable else INCONCLUSIVE}
    if monitoring.alarm and (monitoring.alarm.fell or monitoring.alarm.rose):
        codes.add(REQUIREMENT_FAILS)
    return next(code for code in (REQUIREMENT_FAILS, INCONCLUSIVE, ALL_FINE) if code in codes)


def _monitor(data: tuple[str, ...], options: Options) -> "Monitoring":
    import numpy as np  # noqa: PLC0415 - only when needed

    from undercount.cli.inputs import raise_no_score  # noqa: PLC0415 - DuckDB
    from undercount.count.files import read_dated  # noqa: PLC0415
    from undercount.prevalence.late_labels import read_until  # noqa: PLC0415
    from undercount.read.monitor.monitor import monitor as follow  # noqa: PLC0415

    beside = _stated(options)
    if beside:
        raise InputError(
            f"--found says how labels came about; leave --{beside[0]} out, or leave out --found "
            "where labels are all here",
            argument=beside[0],
        )
    threshold = options["threshold"]
    assert threshold is not None  # noqa: S101 - it is required
    columns = [str(options["observed"]), str(options["found"])]
    if options["observed"] == options["found"]:
        raise InputError("--observed and --found must be two columns")
    label = options["label"]
    numbers = [name for name in (options["score"], label) if name]
    with progress("reading", options):
        rows = read_dated(list(data), numbers, columns, _note_plain_days)
    kept = ~np.isnan(rows[options["score"]])
    if not kept.any():
        raise_no_score([options["score"]], ", ".join(data))
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


def _monitor_labels(data: tuple[str, ...], options: Options) -> "Monitoring":
    """Follow rows whose labels are all here."""
    import numpy as np  # noqa: PLC0415 - only when needed

    from undercount.cli.inputs import infer_coding, raise_no_score, unlabeled_value  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.files import read_dated  # noqa: PLC0415
    from undercount.read.monitor.monitor import monitor as follow  # noqa: PLC0415

    label, score, chance = options["label"], options["score"], options["chance"]
    observed, threshold = str(options["observed"]), options["threshold"]
    assert threshold is not None  # noqa: S101 - it is required
    if label is None:
        raise InputError("name the date of each label (--found), or the labels (--label)")
    numbers = [name for name in (score, label, chance) if name]
    with progress("reading", options):
        rows = read_dated(list(data), numbers, [observed], _note_plain_days)
    kept = ~np.isnan(rows[score])
    if not kept.any():
        raise_no_score([score], ", ".join(data))
    taken = {name: values[kept] for name, values in rows.items()}
    values, times = np.unique(taken[label], return_counts=True)
    counted = dict(zip(values.tolist(), times.tolist(), strict=True))
    coding, note = infer_coding(counted, unlabeled_value(options), None)
    tell(f"undercount: {note}")
    return follow(
        taken[score],
        observed=taken[observed],
        label=taken[label],
        unlabeled=coding,
        assume=_assumption(options, taken[chance] if chance else None),
        threshold=threshold,
        period=options["period"],
        baseline=options["baseline"],
        risk=options["risk"],
        confidence_level=options["confidence_level"],
    )


def _note_plain_days(column: str) -> None:
    """Say how numbers are read where dates were expected."""
    tell(
        f"undercount: {column} holds numbers, read as days since 1970-01-01; if it is no number of "
        "days, name a column of dates, 2024-03-09 say"
    )


def _stated(options: Options) -> list[str]:
    """Return the options that say how labels came about where they are all here."""
    stated = {
        "prevalence": options["prevalence"] is not None,
        "chance": bool(options["chance"]),
        "audited": options["audited"],
    }
    return [name for name, is_stated in stated.items() if is_stated]


def _assumption(options: Options, chance: Any) -> "Assumption":
    """Return how the labels came about, as the options state it."""
    from undercount.assume.builder import assumption_of  # noqa: PLC0415 - only when needed
    from undercount.assume.propensity.assumption import LabelPropensity  # noqa: PLC0415
    from undercount.assume.reviewed.assumption import RandomAudit  # noqa: PLC0415

    stated = _stated(options)
    if len(stated) > 1:
        raise InputError(
            f"--{stated[0]} and --{stated[1]} both say how labels came about; give one of them",
            argument=stated[1],
        )
    if chance is not None:
        return LabelPropensity(chance)
    return RandomAudit() if options["audited"] else assumption_of(prevalence=options["prevalence"])
