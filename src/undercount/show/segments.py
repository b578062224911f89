"""Segments as text, Markdown, JSON and a page: a row a segment, and what cannot be said."""

import math
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from scipy.special import expit, logit

from undercount import __version__
from undercount.checks.percentages import percent
from undercount.count.arrays import amount, row_words
from undercount.count.atomic_file import write_text
from undercount.errors import CODES, Check
from undercount.estimate import Estimate
from undercount.infer.metric_row import MetricRow
from undercount.metric_facts import FACTS
from undercount.read.segments.evaluations import Evaluations
from undercount.read.segments.lines import SegmentRow, hidden_share, small_words, unsure_words
from undercount.read.segments.spread_tests import Deviation
from undercount.show.document import as_document, plain, write_document
from undercount.show.layout import line, neutralise, stack, terminal_width, too_wide, wrap
from undercount.show.page.page import load_template, policy_hash, read_asset
from undercount.show.spoken import metric_title, title
from undercount.show.tables import MARKDOWN_SPECIAL, escape
from undercount.show.text import value_words

SEGMENTS_SCHEMA = "undercount/segments/1"
SIGNIFICANT, SMALLEST_P = 0.05, 0.0001
NAME_WIDTH, NUMBER_WIDTH, CELL_WIDTH = 14, 9, 29
NAME_LETTERS_BESIDE_NOTE = 17  # letters of a name that a note stands beside
ALL = "all rows"
# Segments of few labels from which on they are named together.
SEVERAL = 3
# Segments that a terminal shows; files hold all of them.
MOST_SHOWN = 100
# Rows a segment below which, of many segments, their column looks like a number that is measured.
FEW_ROWS = 10
# Where the middle two thirds of segments lie: one standard deviation to either side.
MIDDLE_SPREAD = 1.0


# What a segment is called, and how each can have a share of its own.
SEGMENT, PERIOD = "segment", "period"
OWN_SHARES = {
    SEGMENT: "give each its own, by a mapping or --prevalence DE=3%,FR=5%",
    PERIOD: "evaluate by period instead, with a share of each",
}


def segment_name(segment: Hashable) -> str:
    """Write the value of a segment."""
    if segment is None:
        return "(missing)"
    if isinstance(segment, tuple):
        return " / ".join(map(segment_name, segment))
    text = str(segment)
    return "".join(letter if letter.isprintable() else " " for letter in text)


def heading(found: Evaluations, label: str) -> str:
    """Write a metric's label as people say it."""
    rows = (*found.overall.rows, *found.overall.top_rows)
    row = next((row for row in rows if row.label == label), None)
    if row is not None:
        return title(row)
    metric, *at = label.split("@")
    return "@".join([metric_title(metric), *at])


def share_words(row: SegmentRow) -> str:
    """Write a segment's own share, where it has one, and the one that is used."""
    if row.share is None:
        return "–"
    ends = f"{percent(row.share.low)} – {percent(row.share.high)}"
    if row.share.range_only:
        return ends
    used = percent(row.share.value)
    if row.share.high > row.share.low:
        used += f" ({ends})"
    return f"{percent(row.own_share.value)} → {used}" if row.own_share else used


def size_heads(found: Evaluations) -> tuple[str, str]:
    """Name the columns that say how large a segment is; total weights are no numbers of rows."""
    return ("weight", "labelled") if found.overall.counts.weighted else ("rows", "labels")


def cell_words(found: Evaluations, row: MetricRow) -> str:
    """Write a metric of a segment, or that it rests on a share that is contradicted."""
    facts = FACTS[row.metric]
    if found.unlike_labels and facts.needs_prevalence and not row.estimate.exists:
        return f"not known ({CODES['fair-sample']})"
    return value_words(row.estimate)


def pooled_words(found: Evaluations, part: str = SEGMENT) -> str:
    """Say which share the segments have in common, and how they spread around it.

    `part` is what a segment is called: a period, where rows are followed over time.
    """
    if found.shared_out:
        return shared_out_words(found, part)
    if found.shares is None:
        return f"{found.overall.source.replace('_', ' ')}, taken for each {part} as it is"
    centre, spread = found.shares.centre, found.shares.spread
    if centre.low <= 0:
        share = "a prevalence of each segment" if part == SEGMENT else "a prevalence"
        return f"labels and scores cannot tell how many; {share}, or reviews, can"
    words = (
        f"{percent(centre.value)} of the unlabeled rows in the middle {part} "
        f"({percent(centre.low)} – {percent(centre.high)}), estimated from "
        f"{len(found.shares.own)} {part}s"
    )
    if spread == 0:
        return f"{words}; no sign that they differ"
    low, high = (
        expit(logit(centre.value) + side * spread) for side in (-MIDDLE_SPREAD, MIDDLE_SPREAD)
    )
    return f"{words}; two thirds of {part}s between {percent(low)} and {percent(high)}"


def shared_out_words(found: Evaluations, part: str = SEGMENT) -> str:
    """Say what is known of all rows, and how segments got their part of it."""
    shares, counts = found.overall.shares, found.overall.counts
    whole = "all unlabeled rows" if shares.given == "unlabeled_prevalence" else "all rows"
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    ends = [value] if span is None else [span.low, span.high]
    # With the digits that a user gives.
    frequency = " – ".join(f"{100 * shares.stated(counts, end)[1]:.3g} %" for end in ends)
    return (
        f"{frequency} of {whole}, shared out by one label frequency: assumes that a positive is as "
        f"likely to be labelled in each {part}; if not, {OWN_SHARES[part]}"
    )


def difference_lines(found: Evaluations, part: str = SEGMENT) -> list[tuple[str, str]]:
    """Say whether segments differ, which stand out, and whether there is a trend."""
    lines: list[tuple[str, str]] = []
    untested = found.untested_labels
    for label in found.metrics:
        name = heading(found, label)
        needs_prevalence = FACTS[label.partition("@")[0]].needs_prevalence
        if found.unlike_labels and needs_prevalence:
            lines.append((name, f"{part}s {UNLIKE_NOTE}"))
            continue
        whole = found.heterogeneity(label)
        if math.isnan(whole.p_value):
            lines.append((name, _incomparable_words(found, label, part)))
            continue
        tested = f"p {p_words(whole.p_value)}, {whole.n_segments} {part}s"
        if found.shared_out and needs_prevalence:
            tested += "; if they are labelled alike"  # their shares suppose it
            tested += ", which nothing here tells" if untested else ""
        words = f"{_differ(whole.p_value, part)} ({tested})"
        out = _stand_out(found, label)
        if out:
            shown = [f"{segment_name(d.segment)} {_signed(d.difference)}" for d in out[:5]]
            more = f" and {len(out) - 5} more" if len(out) > 5 else ""  # noqa: PLR2004 - a line
            words += f" · stand out: {'; '.join(shown)}{more}"
        elif whole.p_value < SIGNIFICANT:
            words += " · none of them stands out by itself"
        trend = found.trend(label)
        if trend is not None:
            words += (
                f" · trend {trend.first:.3f} → {trend.last:.3f}, change {_signed(trend.change)}, "
                f"p {p_words(trend.p_value)}"
            )
        lines.append((name, words))
    return lines


def _incomparable_words(found: Evaluations, label: str, part: str) -> str:
    """Say why segments cannot be compared in a metric."""
    if any(estimate.range_only for estimate in found.estimates(label).values()):
        return "not compared: a range has no value to compare"
    return f"too few {part}s with an interval to compare"


def _stand_out(found: Evaluations, label: str) -> list[Deviation]:
    """Return the differences whose interval, which holds for all segments at once, says so."""
    return [d for d in found.differences(label) if not d.difference.low <= 0 <= d.difference.high]


def _differ(p_value: float, part: str) -> str:
    return f"{part}s differ" if p_value < SIGNIFICANT else f"no sign that {part}s differ"


def p_words(value: float) -> str:
    """Write a p-value, with no more digits than the tail deserves."""
    return "< 0.0001" if value < SMALLEST_P else f"{value:.2g}"


def _signed(found: Estimate) -> str:
    return f"{found.value:+.3f} ({found.low:+.3f} – {found.high:+.3f})"


SHARE_WORDS = (
    "Hidden positives: the segment's own estimate → pooled with the others, which is used."
)
TOGETHER = (
    "All rows are estimated once more, together: no mean of the segments, and perhaps outside them."
)
DIFFERENCES = (
    "Differences: each segment minus the mean of the others; intervals allow for the number of "
    "segments (Šidák)."
)
POPULATION = (
    "That segments differ at all is asked of their spread (Cochran's Q) and of the largest "
    "difference at once. Tests speak of the population behind these rows."
)
UNLIKE_NOTE = (
    "are not compared: their labelling alone may set them apart (UC022); give each its "
    "own prevalence, or review some rows of each"
)


def tests_note(found: Evaluations) -> str:
    """Say what the tests speak of, and what a difference is; nothing of what is not there."""
    if found.unlike_labels:
        return ""
    tested = [m for m in found.metrics if not math.isnan(found.heterogeneity(m).p_value)]
    shown = any(_stand_out(found, label) for label in tested)
    return " ".join([DIFFERENCES] * shown + [POPULATION] * bool(tested))


def notes(found: Evaluations) -> list[tuple[str, str]]:
    """Return what was warned of all rows, and what cannot be said of segments, alike ones once."""
    few = [row for row in found.rows if row.rows and small_words(row.counts, pooled=False)]
    together = few if len(few) > SEVERAL else []
    held: dict[str, list[str]] = {}
    for row in found.rows:
        note = unsure_words(row.rows) if row in together else row.note
        if note:
            held.setdefault(note, []).append(segment_name(row.segment))
    if together:
        names = [segment_name(row.segment) for row in together]
        held[_few_words(together, pooled=found.shares is not None)] = names
    of_all = [
        (ALL, str(check.message))
        for check in found.overall.checks
        if _is_warning(check) or (found.shared_out and _is_untested(check))
    ]
    of_all += [(ALL, note) for note in _top_notes(found)]
    return [*of_all, *((_listed(names), note) for note, names in held.items())]


def _top_notes(found: Evaluations) -> list[str]:
    """Say whose highest rows are meant, those of a segment or of all rows."""
    places = dict.fromkeys(label.partition("@")[2] for label in found.metrics if "@top " in label)
    return [
        f"{place} means the highest rows of each segment, and in this line those of all rows "
        "together"
        for place in places
    ]


def _few_words(rows: Sequence[SegmentRow], *, pooled: bool) -> str:
    """Say once of many segments that they have few labels."""
    labels = [row.counts.effective_size("positive") for row in rows]
    share = "their hidden share is that of the other segments, " if pooled else ""
    return (
        f"only {min(labels):.0f} to {max(labels):.0f} labelled rows each: {share}their intervals "
        f"{'' if pooled else 'are '}rough ones"
    )


def _is_warning(check: Check) -> bool:
    """Whether a check failed for all rows, or is what was warned of while they were counted."""
    return check.level == "fail" or check.code in (CODES["warned"], CODES["rounding"])


def _is_untested(check: Check) -> bool:
    """Whether nothing could tell if the segments are labelled alike."""
    return check.level == "info" and check.code == CODES["fair-sample"]


def _listed(names: list[str]) -> str:
    most = 12
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def deployed_title(found: Evaluations) -> str:
    """Say where the metrics of the second table hold."""
    return (
        f"Where {percent(found.overall.deploy_prevalence or 0.0)} of the rows are positive, if "
        "positives and negatives of a segment score there as they do here"
    )


def deployed_lines(found: Evaluations) -> list[tuple[str, str]]:
    """Write the metrics of each segment where the classifier will work; nothing if that is here."""
    if found.overall.deploy_prevalence is None:
        return []
    return [
        (
            segment_name(segment),
            " · ".join(f"{heading(found, row.label)} {value_words(row.estimate)}" for row in rows),
        )
        for segment, rows in found.deployed().items()
    ]


def as_text(found: Evaluations) -> str:
    """Write a row a segment, what was pooled, whether they differ, and what cannot be said."""
    level = f"{100 * found.overall.confidence_level:g} %"
    room = terminal_width()
    title_words = f"{len(found.rows)} of {found.column} · true values ({level})"
    lines = [
        line("Segments", title_words, width=room),
        line("Hidden positives", pooled_words(found), width=room),
        "",
        *_table(found, room),
        *_left_out(found, room),
        *_deployed(found, room),
        "",
        *(line(name, words, width=room) for name, words in difference_lines(found)),
    ]
    note = f"{_share_note(found)} {tests_note(found)}".strip()
    lines += ["", wrap(note, room)] if note else []
    said = notes(found)
    lines += [""] if said else []
    return "\n".join([*lines, *(_said(name, note, room) for name, note in said)])


def _deployed(found: Evaluations, room: int) -> list[str]:
    lines = deployed_lines(found)
    if not lines:
        return []
    return ["", wrap(f"{deployed_title(found)}:", room), *(_said(*each, room) for each in lines)]


def _said(name: str, note: str, room: int) -> str:
    """Write a note beside its segment, or after it where there are several."""
    if len(name) <= NAME_LETTERS_BESIDE_NOTE:
        return line(name, note, width=room)
    return wrap(f"{name}: {note}", room, " " * 19, " ")


def _table(found: Evaluations, room: int) -> list[str]:
    """Write a row a segment, or where there is no room each below its name."""
    width = max([NAME_WIDTH, *(len(segment_name(row.segment)) + 2 for row in found.rows[:1000])])
    width = min(width, 2 * NAME_WIDTH)
    rows = [*_shown(found), (ALL, _overall(found))]
    words = [share_words(row) for _, row in rows]
    shares = max(map(len, ["hidden positives", *words])) + 2
    sizes = "".join(f"{name:>{NUMBER_WIDTH}}" for name in size_heads(found))
    head = f" {found.column:<{width}}{sizes}  "
    head += f"{'hidden positives':<{shares}}"
    heads = [heading(found, label) for label in found.metrics]
    wide = max([CELL_WIDTH, *(len(text) + 2 for text in heads)])
    head += "".join(f"{text:<{wide}}" for text in heads)
    lines = [head.rstrip()]
    for (name, row), share in zip(rows, words, strict=True):
        cells = "".join(f"{cell_words(found, cell):<{wide}}" for cell in row.rows)
        lines.append(
            f" {_cut(name, width - 1):<{width}}{amount(row.counts.n_rows):>{NUMBER_WIDTH}}"
            f"{amount(row.counts.n_positive):>{NUMBER_WIDTH}}  {share:<{shares}}"
            f"{cells or _unsaid(row)}".rstrip()
        )
    if not too_wide(lines, room):
        return lines
    return [text for name, row in rows for text in _stacked(found, name, row, room)]


def _unsaid(row: SegmentRow) -> str:
    """Say in place of metrics that a note follows."""
    if row.counts.n_unlabeled == 0 and row.counts.n_positive > 0:
        return "nothing is hidden, see below"
    return "cannot be said, see below"


def _stacked(found: Evaluations, name: str, row: SegmentRow, room: int) -> list[str]:
    sizes = (amount(row.counts.n_rows), amount(row.counts.n_positive))
    cells = list(zip(size_heads(found), sizes, strict=True))
    cells.append(("hidden positives", share_words(row)))
    pairs = zip(found.metrics, row.rows, strict=False)
    cells += [(heading(found, label), cell_words(found, cell)) for label, cell in pairs]
    if not row.rows:
        cells.append(("", _unsaid(row)))
    return stack(_cut(name, room - 1), cells, room)


def _share_note(found: Evaluations) -> str:
    if found.shares is None:
        return ""
    named = (row.share is not None and not row.share.range_only for row in found.rows)
    arrow = any(row.own_share and name for row, name in zip(found.rows, named, strict=True))
    return f"{SHARE_WORDS} {TOGETHER}" if arrow else TOGETHER


def _named(found: Evaluations) -> list[tuple[str, SegmentRow]]:
    return [(segment_name(row.segment), row) for row in found.rows]


def _shown(found: Evaluations) -> list[tuple[str, SegmentRow]]:
    """Return the segments of a terminal, in their order: those with the most labels if many."""
    every = _named(found)
    if len(every) <= MOST_SHOWN:
        return every
    counts = [row.counts for _, row in every]
    largest = sorted(range(len(every)), key=lambda i: (-counts[i].n_positive, -counts[i].n_rows, i))
    return [every[i] for i in sorted(largest[:MOST_SHOWN])]


def _left_out(found: Evaluations, room: int) -> list[str]:
    """Say how many segments a terminal does not show, and where they are."""
    number = len(found.rows)
    if number <= MOST_SHOWN:
        return []
    words = (
        f"… and {number - MOST_SHOWN:,} more segments, of no more labels than these: --csv, --json "
        "and --html have them all (to_json, to_html)."
    )
    rows = found.overall.counts.n_rows
    if rows < FEW_ROWS * number:
        words += (
            f" {found.column} has {number:,} values in "
            f"{row_words(rows, weighted=found.overall.counts.weighted)}: cut it into a few "
            "ranges first, and name their column."
        )
    return [wrap(words, room)]


def _overall(found: Evaluations) -> SegmentRow:
    """Return all rows together as a row of the table."""
    overall = found.overall
    rows = {row.label: row for row in (*overall.rows, *overall.top_rows)}
    kept = tuple(rows[label] for label in found.metrics if label in rows)
    return SegmentRow(ALL, overall.counts, None, hidden_share(overall), kept)


def _cut(text: str, width: int) -> str:
    text = neutralise(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def as_markdown(found: Evaluations) -> str:
    """Write the table and the notes."""
    heads = [
        found.column,
        *size_heads(found),
        "hidden positives",
        *(heading(found, label) for label in found.metrics),
    ]
    lines = [
        "| " + " | ".join(_mark(head) for head in heads) + " |",
        "|---|" + "---:|" * (len(heads) - 1),
    ]
    for name, row in [*_named(found), (ALL, _overall(found))]:
        cells = [cell_words(found, cell) for cell in row.rows]
        cells = cells or [_unsaid(row)] * len(found.metrics)
        numbers = [amount(row.counts.n_rows), amount(row.counts.n_positive), share_words(row)]
        lines.append("| " + " | ".join([_mark(name), *numbers, *cells]) + " |")
    lines += ["", f"Hidden positives: {pooled_words(found)}.", ""]
    there = [f"- {_mark(name)}: {words}" for name, words in deployed_lines(found)]
    lines += [f"{deployed_title(found)}:", "", *there, ""] if there else []
    lines += [f"- {name}: {words}" for name, words in difference_lines(found)]
    lines += [f"- {_mark(name)}: {_mark(note)}" for name, note in notes(found)]
    return "\n".join(lines) + "\n"


def _mark(text: str) -> str:
    return escape(text, MARKDOWN_SPECIAL)


def as_json(found: Evaluations) -> str:
    """Write the table, the shares and the tests; the same input gives the same bytes."""
    columns = found.table()
    lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    document: dict[str, Any] = {
        "schema": SEGMENTS_SCHEMA,
        "version": __version__,
        "column": found.column,
        "overall": as_document([found.overall])["models"][0],
        "segments": [{name: _value(value) for name, value in row.items()} for row in lines],
        "tests": {label: _tests(found, label) for label in found.metrics},
    }
    if found.overall.deploy_prevalence is not None:
        document["deployed"] = _deployed_facts(found)
    if found.shared_out:
        document["shared_out"] = shared_out_words(found)
    if found.shares is not None:
        centre = found.shares.centre
        document["pooled_share"] = {
            "centre": centre.value if centre.low > 0 else None,
            "low": centre.low,
            "high": centre.high,
            "spread_log_odds": found.shares.spread,
        }
    return write_document(document)


def _deployed_facts(found: Evaluations) -> dict[str, Any]:
    lines = [
        {
            "segment": _value(segment),
            "metric": row.label,
            "estimate": plain(row.estimate.value),
            "low": plain(row.estimate.low),
            "high": plain(row.estimate.high),
        }
        for segment, rows in found.deployed().items()
        for row in rows
    ]
    return {"prevalence": found.overall.deploy_prevalence, "segments": lines}


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return plain(value)
    return value if value is None or isinstance(value, int | str) else segment_name(value)


def _tests(found: Evaluations, label: str) -> dict[str, Any]:
    whole, trend = found.heterogeneity(label), found.trend(label)
    facts: dict[str, Any] = {
        "heterogeneity": {"p_value": plain(whole.p_value), "spread": plain(whole.spread)},
        "differences": [
            {
                "segment": _value(gap.segment),
                "difference": plain(gap.difference.value),
                "low": plain(gap.difference.low),
                "high": plain(gap.difference.high),
                "adjusted_p_value": plain(gap.adjusted_p_value),
            }
            for gap in found.differences(label)
        ],
    }
    if trend is not None:
        facts["trend"] = {
            "first": trend.first,
            "last": trend.last,
            "low": trend.change.low,
            "high": trend.change.high,
            "p_value": trend.p_value,
        }
    return facts


def write_page(found: Evaluations, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, as_page(found))


def as_page(found: Evaluations) -> str:
    """Return one self-contained page without scripts; everything a user named is escaped."""
    style = read_asset("style.css")
    table = [
        {
            "name": name,
            "rows": amount(row.counts.n_rows),
            "labels": amount(row.counts.n_positive),
            "share": share_words(row),
            "cells": [interval_cell(cell.estimate, cell_words(found, cell)) for cell in row.rows],
            "note": row.note,
        }
        for name, row in [(ALL, _overall(found)), *_named(found)]
    ]
    return load_template("segments.html.jinja").render(
        name=found.overall.name,
        column=found.column,
        count=len(found.rows),
        sizes=size_heads(found),
        heads=[heading(found, label) for label in found.metrics],
        table=table,
        pooled=pooled_words(found),
        tests=difference_lines(found),
        there=deployed_lines(found),
        where=deployed_title(found),
        shares=_share_note(found),
        how=tests_note(found),
        notes=notes(found),
        level=f"{100 * found.overall.confidence_level:g}",
        version=__version__,
        style=Markup(style),  # noqa: S704 - ours, not a user's
        hash=policy_hash(style),
    )


def interval_cell(found: Estimate, words: str) -> dict[str, str]:
    """Return a metric in words, and its interval as a bar of 100 units."""
    if not found.exists or math.isnan(found.low):
        return {"words": words, "low": "", "width": "", "value": ""}
    low, value, high = (
        100 * min(max(number, 0.0), 1.0) for number in (found.low, found.value, found.high)
    )
    return {
        "words": words,
        "low": f"{low:.1f}",
        "width": f"{max(high - low, 0.5):.1f}",
        "value": "" if found.range_only else f"{value:.1f}",
    }
