"""What a selection model says, as text for the terminal and as plain facts."""

import textwrap
from collections.abc import Sequence
from typing import Any

from undercount.errors import Check
from undercount.read.evaluation import MetricRow
from undercount.show.text import WIDTH, check_facts, check_words, percent, title


def selection_document(rows: Sequence[MetricRow], checks: Sequence[Check]) -> dict[str, Any]:
    """Return the estimates beside the biased values, and the checks, as plain values."""
    metrics = [
        {
            "metric": row.label,
            "naive": row.naive,
            "estimate": row.estimate.value,
            "low": row.estimate.low,
            "high": row.estimate.high,
        }
        for row in rows
    ]
    return {"metrics": metrics, "checks": [check_facts(check) for check in checks]}


def selection_text(
    rows: Sequence[MetricRow], checks: Sequence[Check], confidence_level: float
) -> str:
    """Write the table and the checks."""
    level = f"all rows ({100 * confidence_level:g} %)"
    lines = ["", f" {'':<20}{'rows looked at':>16}   {level}"]
    for row in rows:
        estimate = row.estimate
        span = f"{estimate.value:.3f} ({estimate.low:.3f} – {estimate.high:.3f})"
        lines.append(f" {title(row):<20}{row.naive:>16.3f}   {span}")
    share = next(row.estimate.value for row in rows if row.metric == "prevalence")
    lines += ["", f" About {percent(share)} of all rows are positive, looked at or not."]
    for check in checks:
        if check.level != "ok":
            found = f"{check.code} {check.level}: {check_words(check)}"
            lines.append(textwrap.fill(found, WIDTH, initial_indent=" ", subsequent_indent=" " * 3))
    return "\n".join(lines)
