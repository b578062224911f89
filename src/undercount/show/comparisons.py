"""Models compared segment by segment, as text, Markdown, JSON and a page."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from markupsafe import Markup

from undercount import __version__
from undercount.checks.percentages import goal_percent
from undercount.count.arrays import amount
from undercount.count.atomic_file import write_text
from undercount.estimate import Estimate
from undercount.read.compare.comparisons import ComparedSegment, Comparisons
from undercount.show.comparison import (
    TARGET_WORDS,
    Table,
    fitting_table,
    gap_words,
    p_words,
    table_lines,
    verdict_words,
)
from undercount.show.comparison_tables import html_table, markdown_lines
from undercount.show.document import as_document, plain, write_document
from undercount.show.layout import line, terminal_width, wrap
from undercount.show.page.page import load_template, policy_hash, read_asset
from undercount.show.segments import ALL, SIGNIFICANT, segment_name
from undercount.show.segments import p_words as plain_p_words
from undercount.show.spoken import metric_title, number
from undercount.show.text import value_words

SCHEMA = "undercount/comparisons/1"
NOT_KNOWN = "not known (UC022)"


def heading(found: Comparisons) -> str:
    """Say what the table holds."""
    level = f"{100 * found.overall.confidence_level:g} %"
    return (
        f"{metric_title(found.overall.rank_by)} of each segment ({level}); differences "
        f"{TARGET_WORDS[found.overall.question]}"
    )


def deployment_words(found: Comparisons) -> str:
    """Say where requirements are judged, if that is not where these rows are; else nothing."""
    prevalence = found.overall.deploy_prevalence
    if prevalence is None:
        return ""
    return (
        f"Requirements are judged where {goal_percent(prevalence)} of the rows are positive; the "
        "differences above are those of these rows."
    )


def segment_table(found: Comparisons, *, intervals: bool = True) -> Table:
    """Return a row for each segment, and of more than two models for each pair of them."""
    head = [found.column, "rows", "labels"]
    if len(found.pairs) == 1:
        ((one, other),) = found.pairs
        head += [one, other, f"{one} minus {other}", "p"]
    else:
        head += ["models", "difference", "p"]
    write = value_words if intervals else _short_words
    rows = [cells for row in found.rows for cells in _lines(found, row, write)]
    every = ComparedSegment(None, found.overall.first.counts, found.overall)
    return head, rows + _lines(found, every, write, of_all=True)


def _short_words(estimate: Estimate) -> str:
    """Write a value alone, or the range where there is none."""
    return value_words(estimate) if estimate.range_only else number(estimate.value)


def _lines(
    found: Comparisons,
    row: ComparedSegment,
    write: Callable[[Estimate], str],
    *,
    of_all: bool = False,
) -> list[list[str]]:
    name = ALL if of_all else segment_name(row.segment)
    sizes = [name, amount(row.counts.n_rows), amount(row.counts.n_positive)]
    lines = []
    for one, other in found.pairs:
        cells = _cells(found, row, (one, other), write, of_all=of_all)
        lines.append([*sizes, *(cells if len(found.pairs) == 1 else cells[1:])])
        if len(found.pairs) > 1:
            lines[-1][3] = f"{one} minus {other}"
    return lines


def _cells(
    found: Comparisons,
    row: ComparedSegment,
    pair: tuple[str, str],
    write: Callable[[Estimate], str],
    *,
    of_all: bool,
) -> list[str]:
    """Write the values of two models, their difference and its p-value."""
    metric = found.overall.rank_by
    if row.comparison is None:
        return ["–", "–", "see below", "–"]
    if of_all:
        gap = row.comparison.difference(metric, *pair)
    else:
        gap = found.difference(row.segment, metric, *pair)
    if not of_all and found.unlike_labels and math.isnan(gap.difference.low):
        return [NOT_KNOWN] * 3 + ["–"]
    values = [write(row.comparison.estimates_of(name)[metric]) for name in pair]
    return [*values, gap_words(gap), p_words(gap)]


def test_lines(found: Comparisons) -> list[tuple[str, str]]:
    """Say of each metric and pair whether the difference varies between segments."""
    lines = []
    for metric in found.metrics:
        for one, other in found.pairs:
            whole = found.heterogeneity(metric, one, other)
            name = metric_title(metric)
            name = name if len(found.pairs) == 1 else f"{name}, {one} minus {other}"
            lines.append((name, _variation_words(whole.p_value, whole.n_segments)))
    return lines


def _variation_words(p_value: float, n_segments: int) -> str:
    if math.isnan(p_value):
        return "too few segments with an interval to compare"
    differ = "varies between segments" if p_value < SIGNIFICANT else "no sign that it varies"
    return f"{differ} (p {plain_p_words(p_value)}, {n_segments} segments)"


def notes(found: Comparisons) -> list[tuple[str, str]]:
    """Return what cannot be said, and what was found of all rows."""
    said = [(segment_name(row.segment), row.note) for row in found.rows if row.note]
    failed = [check for check in found.overall.first.checks if check.level == "fail"]
    return [*((ALL, str(check.message)) for check in failed), *said]


TESTS = (
    "The difference of two models is compared between segments by its spread (Cochran's Q) and by "
    "the largest deviation at once."
)


def as_text(found: Comparisons) -> str:
    """Write which model is better, a row for each segment, and whether segments agree."""
    room, deployment = terminal_width(), deployment_words(found)
    lines = [
        wrap(verdict_words(found.overall), room),
        "",
        *table_lines(fitting_table(segment_table, found, room), heading(found), room),
        *([wrap(deployment, room)] if deployment else []),
        "",
        *(line(name, words, width=room) for name, words in test_lines(found)),
        "",
        wrap(TESTS, room),
    ]
    said = notes(found)
    return "\n".join([*lines, *([""] if said else []), *(line(*each, width=room) for each in said)])


def as_markdown(found: Comparisons) -> str:
    """Write the table, the tests and the notes."""
    lines = [f"**{verdict_words(found.overall)}**", "", heading(found), ""]
    lines += [*markdown_lines(segment_table(found)), ""]
    if deployment := deployment_words(found):
        lines += [deployment, ""]
    lines += [f"- {name}: {words}" for name, words in [*test_lines(found), *notes(found)]]
    return "\n".join(lines) + "\n"


def as_json(found: Comparisons) -> str:
    """Write the overall models, the differences of each segment, and the tests."""
    columns = found.table()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": __version__,
        "column": found.column,
        "question": found.overall.question,
        "rank_by": found.overall.rank_by,
        "deploy_prevalence": found.overall.deploy_prevalence,
        "verdict": verdict_words(found.overall),
        "overall": as_document(list(found.overall.evaluations.values()))["models"],
        "segments": [{name: _value(value) for name, value in row.items()} for row in rows],
        "tests": [
            _test_facts(found, metric, *pair) for metric in found.metrics for pair in found.pairs
        ],
    }
    return write_document(document)


def _test_facts(found: Comparisons, metric: str, one: str, other: str) -> dict[str, Any]:
    whole = found.heterogeneity(metric, one, other)
    return {
        "metric": metric,
        "one": one,
        "other": other,
        "p_value": plain(whole.p_value),
        "spread": plain(whole.spread),
        "segments": whole.n_segments,
    }


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return plain(value)
    return value if value is None or isinstance(value, int | str) else segment_name(value)


def write_page(found: Comparisons, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, as_page(found))


def as_page(found: Comparisons) -> str:
    """Return one self-contained page without scripts; everything a user named is escaped."""
    style = read_asset("style.css")
    return load_template("comparisons.html.jinja").render(
        column=found.column,
        names=" · ".join(found.overall.evaluations),
        verdict=verdict_words(found.overall),
        table=html_table(heading(found), segment_table(found)),
        deployment=deployment_words(found),
        tests=test_lines(found),
        how=TESTS,
        notes=notes(found),
        version=__version__,
        style=Markup(style),  # noqa: S704 - ours, not a user's
        hash=policy_hash(style),
    )
