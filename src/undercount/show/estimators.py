"""What the estimators say of the share of hidden positives, as text and as plain facts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from markupsafe import Markup

from undercount import __version__
from undercount.checks.percentages import percent
from undercount.read.estimator_table import EstimatorRow, judge_agreement
from undercount.show.layout import TEXT_WIDTH, stack, too_wide, wrap
from undercount.show.page.identity import Identity
from undercount.show.page.packing import tighten_style
from undercount.show.page.page import load_template, policy_hash, read_asset

VERDICTS = {
    "agree": ": the methods agree.",
    "close": ": not far apart, but precision and F1 move about as much as the share "
    "itself. Review some rows (undercount plan) if they matter.",
    "apart": ": the scores do not settle the question. Review some rows (undercount plan).",
}
# The same where the classes overlap so far that the consensus leaves 0 possible.
AGREEMENT_WORDS = {
    "agree": ": these methods agree with each other.",
    "close": ": these methods are not far apart.",
    "apart": ": these methods do not agree.",
}
SHARED_DOUBT = (
    "But all of them take it that hardly a negative scores like the surest positives; where many "
    "do, fewer rows are positive than any of them says, or none (undercount plan settles it)."
)


def estimators_document(tables: Mapping[str, Sequence[EstimatorRow]]) -> dict[str, Any]:
    """Return the answers for each score as plain values."""
    return {
        name: [asdict(row) | ({"value": None} if row.range_only else {}) for row in rows]
        for name, rows in tables.items()
    }


def estimators_text(name: str, rows: Sequence[EstimatorRow], width: int = TEXT_WIDTH) -> str:
    """Write the table of one score, whether its methods agree, and their warnings."""
    table = [
        f" {'method':<12}{'estimate':>9}   {'interval':<19}{'at most':>9}{'seconds':>9}",
        *map(_line, rows),
    ]
    if too_wide(table, width):
        table = [text for row in rows for text in stack(row.method, _stacked_cells(row), width)]
    lines = [
        wrap(f"{name}: share of positives among the unlabeled rows", width),
        *table,
        wrap("Consensus, which evaluate uses, weighs the others. At most: an upper bound.", width),
        wrap(agreement_words(rows), width),
    ]
    warnings = dict.fromkeys(row.note for row in rows if row.value is not None and row.note)
    return "\n".join([*lines, *(wrap(f"Warning: {warning}.", width) for warning in warnings)])


def _stacked_cells(row: EstimatorRow) -> list[tuple[str, str]]:
    cells = _cells(row)
    named = {"value": "estimate", "range": "interval", "bound": "at most"}
    note = cells["note"] if row.value is None else ""
    return [*((words, cells[key]) for key, words in named.items()), ("note", note)]


def estimators_page(
    tables: Mapping[str, Sequence[EstimatorRow]],
    notes: Sequence[str],
    identity: Identity,
    *,
    confidence_level: float,
    seed: int,
) -> str:
    """Return the answers as a page: one bar a method, whether they agree, and the table."""
    style = tighten_style(read_asset("style.css"))
    return load_template("prevalence.html.jinja").render(
        heading=identity.title or ", ".join(tables),
        identity=identity,
        notes=notes,
        parts=[_part(name, rows) for name, rows in tables.items()],
        level=f"{100 * confidence_level:g}",
        seed=seed,
        version=__version__,
        style=Markup(style),  # noqa: S704 - a constant of the package
        hash=policy_hash(style),
    )


def _part(name: str, rows: Sequence[EstimatorRow]) -> dict[str, Any]:
    """Return what the page shows of one score."""
    answered = [row for row in rows if row.value is not None]
    ends = [v for row in answered for v in (row.value, row.high, row.upper_bound) if v is not None]
    # The scale ends at a round share above all answers.
    end = min(1.0, math.ceil(20 * 1.05 * max(ends, default=1.0)) / 20)
    first = next((_cells(row) for row in answered if row.method == "Consensus"), None)
    return {
        "name": name,
        "answer": first,
        "agreement": agreement_words(rows),
        "bars": [_bar(row, end) for row in answered],
        "end": percent(end),
        "rows": [_cells(row) for row in rows],
    }


def _cells(row: EstimatorRow) -> dict[str, str]:
    has_range = row.low is not None and row.high is not None
    value = _value_words(row)
    span = f"{percent(row.low or 0.0)} – {percent(row.high or 0.0)}" if has_range else ""
    # Where no value is named the range leads, and nothing follows it.
    leads, follows = (f"0 – {percent(row.high or 0.0)}", "") if row.range_only else (value, span)
    return {
        "method": row.method,
        "value": value,
        "range": span,
        "leads": leads,
        "follows": follows,
        "bound": "" if row.upper_bound is None else percent(row.upper_bound, "above"),
        "note": row.note,
    }


def _value_words(row: EstimatorRow) -> str:
    """Write the answer of a method; the consensus names none where it leaves 0 possible."""
    return "–" if row.value is None or row.range_only else percent(row.value)


def _bar(row: EstimatorRow, end: float) -> dict[str, Any]:
    """Return the places of a bar's marks, in percent of the scale."""
    value = row.value or 0.0
    places = {"at": value, "low": row.low, "high": row.high, "most": row.upper_bound}
    shown = {
        name: f"{100 * (value if place is None else place) / end:.4g}"
        for name, place in places.items()
    }
    no_most = Markup(" hidden") if row.upper_bound is None else ""
    no_value = Markup(" hidden") if row.range_only else ""
    return {**_cells(row), **shown, "no_most": no_most, "no_value": no_value}


def agreement_words(rows: Sequence[EstimatorRow]) -> str:
    """Say whether the methods agree and what to do."""
    agreement = judge_agreement(rows)
    if agreement is None:
        return SHARED_DOUBT
    ends = " to ".join(
        f"{percent(row.value or 0.0)} ({row.method})"
        for row in (agreement.lowest, agreement.highest)
    )
    verdict = VERDICTS[agreement.verdict]
    if any(row.range_only for row in rows):
        verdict = f"{AGREEMENT_WORDS[agreement.verdict]} {SHARED_DOUBT}"
    return (
        f"Answers run from {ends}{verdict} None of them sees labels that are not "
        "random, or negatives that look just like positives."
    )


def _line(row: EstimatorRow) -> str:
    if row.value is None:
        return f" {row.method:<12}{'–':>9}   {row.note}"
    span = (
        f"{percent(row.low)} – {percent(row.high)}"
        if row.low is not None and row.high is not None
        else ""
    )
    bound = percent(row.upper_bound, "above") if row.upper_bound is not None else ""
    return f" {row.method:<12}{_value_words(row):>9}   {span:<19}{bound:>9}{row.seconds:>9.2f}"
