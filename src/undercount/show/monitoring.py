"""A monitoring table as plain text, and as JSON."""

from dataclasses import asdict
from typing import Any

from undercount import __version__
from undercount.read.monitoring import Monitoring, PeriodRow
from undercount.show.document import plain, write_document
from undercount.show.layout import BESIDE, line, stack, terminal_width, too_wide, wrap
from undercount.show.spoken import metric_title, number, percent
from undercount.show.text import value_words


def as_text(found: Monitoring) -> str:
    """Write the delays, the metrics, a line a period, and what the alarm says."""
    late, facts, room = found.late, found.late.diagnostics_, terminal_width()
    young = f" · {facts['young']:,} rows are too young to tell anything" if facts["young"] else ""
    lines = [
        line(
            "Delays",
            f"half of the labels arrive within {facts['median_delay']:.0f} days · the oldest row "
            f"had {facts['longest_window']:.0f} days, its last 30 brought "
            f"{percent(facts['last_part'])} of the labels{young}",
            width=room,
        ),
        line(
            "Rests on",
            "the oldest cohort is mature: nearly all of its labels have arrived; and delays are "
            "alike, whatever the score and the month",
            width=room,
        ),
        "",
    ]
    level = f"{100 * late.confidence_level:g} %"
    told = f"true value ({level}) of the rows that are old enough"
    lines.append(f" {'':<22}{told}" if room >= BESIDE else wrap(told, room))
    for name, estimate in found.metrics.items():
        label = f"{metric_title(name)}@{found.threshold:g}"
        lines.append(f" {label:<{22 if room >= BESIDE else 17}}{value_words(estimate)}")
    lines += ["", *_table(found, level, room), "", *_alarm(found, room)]
    return "\n".join(lines)


def _table(found: Monitoring, level: str, room: int) -> list[str]:
    """Write a row a period, or where there is no room each below its name."""
    head = f"{'period':<12}{'rows':>9}{'flagged':>9}{'found':>7}{'arrived':>9}{'naive':>8}"
    lines = [f" {head}   precision ({level})", *(f" {_period(row)}" for row in found.rows)]
    if not too_wide(lines, room):
        return lines
    return [text for row in found.rows for text in _stacked(row, level, room)]


def _stacked(row: PeriodRow, level: str, room: int) -> list[str]:
    precision = value_words(row.precision) if row.precision else f"– {row.note}"
    cells = [("rows", f"{row.n_rows:,}"), ("flagged", f"{row.n_flagged:,}")]
    cells += [("found", f"{row.n_found:,}"), ("arrived", percent(row.chance))]
    cells += [("naive", number(row.naive)), (f"precision ({level})", precision)]
    return stack(row.period, cells, room)


def _period(row: PeriodRow) -> str:
    precision = value_words(row.precision) if row.precision else f"– {row.note}"
    return (
        f"{row.period:<12}{row.n_rows:>9,}{row.n_flagged:>9,}{row.n_found:>7,}"
        f"{percent(row.chance):>9}{number(row.naive):>8}   {precision}"
    )


def _alarm(found: Monitoring, room: int) -> list[str]:
    alarm = found.alarm
    if alarm is None or not alarm.looks:
        none = "none is possible: no mature period, or none after it"
        return [line("Alarm", none, width=room)]
    words = [
        f"precision {verb} (first seen {date})"
        for verb, date in (("fell", alarm.fell), ("rose", alarm.rose))
        if date
    ]
    said = " and ".join(words) if words else "no change seen"
    text = (
        f"{said} in {len(alarm.looks)} weekly looks, against {value_words(alarm.baseline)} in the "
        f"baseline; evidence of a fall {alarm.looks[-1][1]:.2g}, of a rise "
        f"{alarm.looks[-1][2]:.2g} to 1, alarm at {alarm.limit:.0f}"
    )
    return [line("Alarm", text, width=room)]


def as_json(found: Monitoring) -> str:
    """Write metrics, periods and the alarm; the same input gives the same bytes."""
    columns = found.table()
    document: dict[str, Any] = {
        "schema": "undercount/monitoring/1",
        "version": __version__,
        "threshold": found.threshold,
        "delays": dict(found.late.diagnostics_),
        "metrics": {name: _facts(asdict(each)) for name, each in found.metrics.items()},
        "periods": [
            _facts(dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ],
        "alarm": None if found.alarm is None else _facts(asdict(found.alarm)),
    }
    return write_document(document)


def _facts(held: dict[str, Any]) -> dict[str, Any]:
    """Return values that JSON can hold."""
    return {name: plain(each) if isinstance(each, float) else each for name, each in held.items()}
