"""A monitoring table as plain text, as JSON, and as a page."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup

from undercount import __version__
from undercount.checks.percentages import percent
from undercount.count.atomic_file import write_text
from undercount.errors import Check
from undercount.infer.metric_name import short_number
from undercount.read.monitor.alarm import Alarm
from undercount.read.monitor.delays import DelayedMonitoring
from undercount.read.monitor.monitoring import PeriodRow
from undercount.show.document import plain, write_document
from undercount.show.layout import LETTERS_BESIDE, line, stack, terminal_width, too_wide, wrap
from undercount.show.page.page import load_template, policy_hash, read_asset
from undercount.show.segments import interval_cell
from undercount.show.spoken import metric_title, number
from undercount.show.text import value_words

# What an alarm cannot rule out: labels that became rarer, or slower, look like fewer positives.
OR_LABELLING = ", unless labelling changed, which looks the same"
DO_NOT_REPORT = "DO NOT REPORT these numbers"
COLUMN_HEADS = ("period", "rows", "flagged", "found", "arrived", "naive")
LEAST_WIDTHS = (12, 9, 9, 7, 9, 8)
# From here on a share rounds to 100.0 %, which is said of all labels alone.
ROUNDS_TO_ALL = 0.9995


def rests_on(found: DelayedMonitoring) -> list[str]:
    """Say what every number assumes; dates of labels cannot tell the last."""
    share = found.late.found_eventually
    ever = "every positive is" if share == 1 else f"just {percent(share)} of the positives are"
    option = "--found-eventually (found_eventually)"
    return [
        "the oldest cohort is mature: nearly all of its labels have arrived",
        "delays are alike, whatever the score and the month",
        f"{ever} found in the end; dates cannot tell, so if it is another share say {option}",
    ]


def value_heading(found: DelayedMonitoring) -> str:
    """Name the values: where what they assume does not hold they are not the true ones."""
    level = f"{100 * found.late.confidence_level:g} %"
    if found.reportable:
        return f"true value ({level}) of the rows that are old enough"
    if found.late.mature_:
        return f"value ({level}) if delays were alike, which they are not: not the true value"
    days = found.late.diagnostics_["longest_window"]
    return f"positives found within {days:.0f} days alone ({level}), not the true value"


def delay_words(found: DelayedMonitoring) -> str:
    """Say how late labels are, and whether the oldest rows had time enough."""
    facts = found.late.diagnostics_
    young = f" · {facts['young']:,} rows are too young to tell anything" if facts["young"] else ""
    return (
        f"labels are complete to {found.late.rows_.last_day} · half of them arrive within "
        f"{facts['median_delay']:.0f} days · the oldest row had "
        f"{facts['longest_window']:.0f} days, its last 30 brought {percent(facts['last_part'])} "
        f"of the labels{young}"
    )


def check_words(check: Check) -> str:
    """Say whether scores or dates of labels speak against delays alike."""
    sign = "" if check.level == "ok" else "! "
    advice = f"; {check.advice}" if check.advice else ""
    return f"{sign}{check.message}{advice}"


def as_text(found: DelayedMonitoring) -> str:
    """Write the delays, the metrics, a line a period, and what the alarm says."""
    room = terminal_width()
    lines = []
    if not found.reportable:
        lines += [wrap(f"{DO_NOT_REPORT}: {found.unreportable_because}.", room), ""]
    lines += [
        line("Delays", delay_words(found), width=room),
        line("Assumes", "; ".join(rests_on(found)), width=room),
        line("Fair labels", check_words(found.fair), width=room),
        line("Steady delays", check_words(found.steady), width=room),
        *(line("Threshold", check_words(check), width=room) for check in found.rounding),
        "",
    ]
    level = f"{100 * found.late.confidence_level:g} %"
    heading = value_heading(found)
    lines.append(wrap(heading, room, " " * 23) if room >= LETTERS_BESIDE else wrap(heading, room))
    at = short_number(found.threshold)
    labels = {f"{metric_title(name)}@{at}": estimate for name, estimate in found.metrics.items()}
    wide = max([22 if room >= LETTERS_BESIDE else 17, *(len(label) + 2 for label in labels)])
    lines += [f" {label:<{wide}}{value_words(estimate)}" for label, estimate in labels.items()]
    lines += [
        "",
        *period_table(COLUMN_HEADS, list(map(_cells, found.rows)), found.rows, level, room),
        "",
        *_alarm(found, room),
    ]
    return "\n".join(lines)


def period_table(
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    rows: Sequence[PeriodRow],
    level: str,
    room: int,
) -> list[str]:
    """Write a row for each period, or where there is no room each below its name."""
    table = [heads, *cells]
    # Two spaces at least stand between any two columns.
    wide = [
        max(least, 2 + max(map(len, cells)))
        for least, cells in zip(LEAST_WIDTHS, zip(*table, strict=True), strict=False)
    ]
    last = [f"precision ({level})", *map(_precision, rows)]
    lines = [
        f" {name:<{wide[0]}}{''.join(f'{c:>{w}}' for c, w in zip(cells, wide[1:], strict=True))}"
        f"   {precision}"
        for (name, *cells), precision in zip(table, last, strict=True)
    ]
    if not too_wide(lines, room):
        return lines
    return [
        text
        for (name, *rest), precision in zip(cells, last[1:], strict=True)
        for text in stack(name, [*zip(heads[1:], rest, strict=True), (last[0], precision)], room)
    ]


def _cells(row: PeriodRow) -> tuple[str, ...]:
    """Write what stands below each of the heads."""
    counts = (f"{each:,}" for each in (row.n_rows, row.n_flagged, row.n_found))
    return (row.period, *counts, arrived_words(row.chance), number(row.naive))


def _precision(row: PeriodRow) -> str:
    return value_words(row.precision) if row.precision else f"– {row.note}"


def arrived_words(share: float) -> str:
    """Write the share of labels that are here by now; digits near 100 % would tell nothing.

    Examples
    --------
    >>> from undercount.show.monitoring import arrived_words
    >>> arrived_words(0.87), arrived_words(0.9972), arrived_words(0.999998), arrived_words(1.0)
    ('87 %', '99.7 %', '> 99.9 %', '100 %')
    """
    return "> 99.9 %" if ROUNDS_TO_ALL <= share < 1 else percent(share)


def alarm_words(found: DelayedMonitoring) -> tuple[str, str]:
    """Say whether the precision changed, and what that rests on."""
    alarm = found.alarm
    if alarm is None or not alarm.looks:
        return "no alarm is possible", "no period is mature, or none comes after a mature one"
    words, evidence = change_words(alarm, found.rows)
    if (alarm.fell or alarm.rose) and found.steady.level != "ok":
        words += OR_LABELLING
    return words, evidence


def change_words(alarm: Alarm, rows: Sequence[PeriodRow]) -> tuple[str, str]:
    """Say whether the precision changed, and how much evidence there is."""
    words = [
        f"precision {verb} (first alarm on {date})"
        for verb, date in (("fell", alarm.fell), ("rose", alarm.rose))
        if date
    ]
    n_looks = len(alarm.looks)
    base = f" ({value_words(alarm.baseline)})" if alarm.baseline.exists else ""
    evidence = (
        f"{n_looks} weekly look{'s compare' if n_looks > 1 else ' compares'} later flagged rows "
        f"with those of the baseline{base}; at the last one the evidence of a fall was "
        f"{_part(alarm, 1)} the level that raises the alarm, that of a rise {_part(alarm, 2)} it"
    )
    return " and ".join(words) or _no_alarm(rows, alarm), evidence


def _no_alarm(rows: Sequence[PeriodRow], alarm: Alarm) -> str:
    """Name the periods that look otherwise than the baseline, though no alarm went off."""
    base = alarm.baseline
    periods = [(row.period, row.precision) for row in rows if row.precision is not None]
    names = {
        "below": [name for name, precision in periods if precision.high < base.low],
        "above": [name for name, precision in periods if precision.low > base.high],
    }
    odd = [
        f"{', '.join(some)} {'lies' if len(some) == 1 else 'lie'} {side} the baseline"
        for side, some in names.items()
        if some
    ]
    if not odd:
        return "no change seen"
    return (
        f"no alarm yet, though {' and '.join(odd)} by a whole interval: that happens by chance "
        "among many periods, and the alarm allows for every look"
    )


def _part(alarm: Alarm, side: int) -> str:
    """Write the last look's evidence as a share of what raises the alarm."""
    part = float(alarm.looks[-1][side]) / alarm.limit
    if part < 0.01:  # noqa: PLR2004 - as good as none
        return "under 1 % of"
    return "more than 10 times" if part > 10 else f"{100 * part:.0f} % of"  # noqa: PLR2004 - enough


def _alarm(found: DelayedMonitoring, room: int) -> list[str]:
    return [line("Alarm", alarm_sentences(*alarm_words(found)), width=room)]


def alarm_sentences(words: str, evidence: str) -> str:
    """Write what the alarm says, and its evidence as a sentence after it."""
    return f"{words}. {sentence(evidence)}"


def write_page(found: DelayedMonitoring, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, as_page(found))


def as_page(found: DelayedMonitoring) -> str:
    """Return one self-contained page without scripts."""
    style = read_asset("style.css")
    said, alarm = alarm_words(found)
    checks = (found.fair, found.steady, *found.rounding)
    return load_template("monitoring.html.jinja").render(
        threshold=short_number(found.threshold),
        level=f"{100 * found.late.confidence_level:g}",
        doubt="" if found.reportable else sentence(found.unreportable_because),
        heading=value_heading(found),
        delays=sentence(delay_words(found)),
        said=sentence(said),
        alarm=sentence(alarm),
        metrics=[(metric_title(name), value_words(each)) for name, each in found.metrics.items()],
        table=[_page_row(row) for row in found.rows],
        rests=[sentence(words) for words in rests_on(found)],
        checks=[sentence(check_words(each)) for each in checks],
        version=__version__,
        style=Markup(style),  # noqa: S704 - ours, not a user's
        hash=policy_hash(style),
    )


def sentence(words: str) -> str:
    """Write words as a sentence."""
    return f"{words[0].upper()}{words[1:]}."


def _page_row(row: PeriodRow) -> dict[str, Any]:
    return {
        "period": row.period,
        "rows": f"{row.n_rows:,}",
        "flagged": f"{row.n_flagged:,}",
        "found": f"{row.n_found:,}",
        "arrived": arrived_words(row.chance),
        "naive": number(row.naive),
        "cell": interval_cell(row.precision, value_words(row.precision)) if row.precision else None,
        "note": row.note,
    }


def as_json(found: DelayedMonitoring) -> str:
    """Write metrics, periods and the alarm; the same input gives the same bytes."""
    columns = found.table()
    document: dict[str, Any] = {
        "schema": "undercount/monitoring/1",
        "version": __version__,
        "reportable": found.reportable,
        "unreportable_because": found.unreportable_because,
        "rests_on": rests_on(found),
        "found_eventually": found.late.found_eventually,
        "threshold": found.threshold,
        "until": found.late.rows_.last_day,
        "delays": dict(found.late.diagnostics_),
        "metrics": {
            name: period_facts(asdict(estimate)) for name, estimate in found.metrics.items()
        },
        "periods": [
            period_facts(dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ],
        "fair_labels": asdict(found.fair),
        "steady_delays": asdict(found.steady),
        "rounded_scores": [asdict(check) for check in found.rounding],
        "alarm": None if found.alarm is None else period_facts(asdict(found.alarm)),
    }
    return write_document(document)


def period_facts(held: dict[str, Any]) -> dict[str, Any]:
    """Return values that JSON can hold."""
    return {name: plain(each) if isinstance(each, float) else each for name, each in held.items()}
