"""What the estimators say of the share of hidden positives, as text and as plain facts."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from undercount.read.estimator_table import EstimatorRow, judge_agreement
from undercount.show.text import WIDTH, percent

VERDICTS = {
    "agree": ": the methods agree.",
    "close": ": close on the whole scale, but precision and F1 move about as much as the share "
    "itself. Review some rows (undercount plan) if they matter.",
    "apart": ": the scores do not settle the question. Review some rows (undercount plan).",
}


def estimators_document(tables: Mapping[str, Sequence[EstimatorRow]]) -> dict[str, Any]:
    """Return the answers for each score as plain values."""
    return {name: [asdict(row) for row in rows] for name, rows in tables.items()}


def estimators_text(name: str, rows: Sequence[EstimatorRow]) -> str:
    """Write the table of one score, whether its methods agree, and their warnings."""
    lines = [
        f" {name}: share of positives among the unlabeled rows",
        f" {'method':<12}{'estimate':>9}   {'interval':<19}{'at most':>9}{'seconds':>9}",
        *map(_line, rows),
        " Consensus, which evaluate uses, weighs the others. At most: an upper bound.",
        _wrap(agreement_words(rows)),
    ]
    warnings = dict.fromkeys(row.note for row in rows if row.value is not None and row.note)
    return "\n".join([*lines, *(_wrap(f"Warning: {warning}.") for warning in warnings)])


def agreement_words(rows: Sequence[EstimatorRow]) -> str:
    """Say whether the methods agree and what to do."""
    found = judge_agreement(rows)
    ends = " to ".join(
        f"{percent(row.value or 0.0)} ({row.method})" for row in (found.lowest, found.highest)
    )
    return (
        f"Answers run from {ends}{VERDICTS[found.verdict]} None of them sees labels that are not "
        "random, or negatives that look just like positives."
    )


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=" ", subsequent_indent=" ")


def _line(row: EstimatorRow) -> str:
    if row.value is None:
        return f" {row.method:<12}{'–':>9}   {row.note}"
    span = (
        f"{percent(row.low)} – {percent(row.high)}"
        if row.low is not None and row.high is not None
        else ""
    )
    bound = percent(row.upper_bound) if row.upper_bound is not None else ""
    return f" {row.method:<12}{percent(row.value):>9}   {span:<19}{bound:>9}{row.seconds:>9.2f}"
