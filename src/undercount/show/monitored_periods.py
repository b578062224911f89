"""Periods evaluated under an assumption, and what the alarm says, as text, JSON and a page."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup

from undercount import __version__
from undercount.count.atomic_file import write_text
from undercount.infer.metric_name import short_number
from undercount.read.monitor.periods import PeriodMonitoring
from undercount.show.document import plain, write_document
from undercount.show.layout import line, terminal_width, wrap
from undercount.show.monitoring import (
    DO_NOT_REPORT,
    OR_LABELLING,
    alarm_sentences,
    change_words,
    period_facts,
    period_table,
    sentence,
)
from undercount.show.page.page import load_template, policy_hash, read_asset
from undercount.show.segments import PERIOD, difference_lines, interval_cell, pooled_words
from undercount.show.spoken import metric_title, number
from undercount.show.text import value_words

HEADS = ("period", "rows", "flagged", "labelled", "naive")


def rests_on(found: PeriodMonitoring) -> list[str]:
    """Say what every number assumes."""
    overall = found.periods.overall
    needs = dict.fromkeys(need for row in overall.rows for need in row.estimate.needs)
    shares = f"hidden positives: {pooled_words(found.periods, PERIOD)}"
    alike = ["for the alarm: positives are labelled as often in each period"] if found.alarm else []
    return [", ".join(needs), shares, *alike]


def alarm_words(found: PeriodMonitoring) -> tuple[str, str]:
    """Say whether the precision changed, and what that rests on."""
    if found.alarm is None or not found.alarm.looks:
        return "no alarm is possible", found.no_alarm or "no week has passed"
    said, evidence = change_words(found.alarm, found.rows)
    if found.alarm.fell or found.alarm.rose:
        said += OR_LABELLING
    return said, evidence


def as_text(found: PeriodMonitoring) -> str:
    """Write the metrics, a line for each period, whether they differ, and what the alarm says."""
    room, level = terminal_width(), f"{100 * found.confidence_level:g} %"
    lines = []
    if not found.reportable:
        lines += [wrap(f"{DO_NOT_REPORT}: {found.unreportable_because}.", room), ""]
    lines += [line("Assumes", "; ".join(rests_on(found)), width=room), ""]
    at = short_number(found.threshold)
    labels = {f"{metric_title(name)}@{at}": each for name, each in found.metrics.items()}
    wide = max([22, *(len(label) + 2 for label in labels)])
    lines += [f" {label:<{wide}}{value_words(each)}" for label, each in labels.items()]
    lines += ["", *period_table(HEADS, list(map(_cells, found.rows)), found.rows, level, room), ""]
    lines += [
        line(name, words, width=room) for name, words in difference_lines(found.periods, PERIOD)
    ]
    return "\n".join([*lines, line("Alarm", alarm_sentences(*alarm_words(found)), width=room)])


def _cells(row: Any) -> tuple[str, ...]:
    counts = (f"{each:,}" for each in (row.n_rows, row.n_flagged, row.n_found))
    return (row.period, *counts, number(row.naive))


def as_json(found: PeriodMonitoring) -> str:
    """Write metrics, periods, tests and the alarm; the same input gives the same bytes."""
    tests = {
        label: plain(found.periods.heterogeneity(label).p_value) for label in found.periods.metrics
    }
    columns = {name: values for name, values in found.table().items() if name != "chance"}
    return write_document(
        {
            "schema": "undercount/periods/1",
            "version": __version__,
            "reportable": found.reportable,
            "unreportable_because": found.unreportable_because,
            "rests_on": rests_on(found),
            "threshold": found.threshold,
            "metrics": {name: period_facts(asdict(each)) for name, each in found.metrics.items()},
            "periods": [
                period_facts(dict(zip(columns, row, strict=True)))
                for row in zip(*columns.values(), strict=True)
            ],
            "heterogeneity_p_values": tests,
            "alarm": None if found.alarm is None else period_facts(asdict(found.alarm)),
            "no_alarm": found.no_alarm,
        }
    )


def write_page(found: PeriodMonitoring, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    style = read_asset("style.css")
    said, evidence = alarm_words(found)
    page = load_template("periods.html.jinja").render(
        threshold=short_number(found.threshold),
        level=f"{100 * found.confidence_level:g}",
        doubt=found.unreportable_because,
        said=sentence(said),
        alarm=sentence(evidence),
        metrics=[(metric_title(name), value_words(each)) for name, each in found.metrics.items()],
        heads=HEADS,
        table=[(_cells(row), _cell(row), row.note) for row in found.rows],
        tests=difference_lines(found.periods, PERIOD),
        rests=rests_on(found),
        version=__version__,
        style=Markup(style),  # noqa: S704 - ours, not a user's
        hash=policy_hash(style),
    )
    write_text(path, page)


def _cell(row: Any) -> dict[str, str] | None:
    return interval_cell(row.precision, value_words(row.precision)) if row.precision else None
