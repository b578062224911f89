"""A comparison as plain text."""

import math

from undercount.comparison import Comparison
from undercount.differences import Difference
from undercount.report.words import TITLES, percent


def as_text(comparison: Comparison) -> str:
    """Write each model's numbers, then the paired differences."""
    lines = [f" {'':<20}" + "".join(f"{name:>26}" for name in comparison.evaluations)]
    first = next(iter(comparison.evaluations.values()))
    for i, row in enumerate(first.rows):
        cells = []
        for evaluation in comparison.evaluations.values():
            estimate = evaluation.rows[i].estimate
            cells.append(f"{estimate.value:.3f} ({estimate.low:.3f} – {estimate.high:.3f})")
        lines.append(f" {_title(row.metric):<20}" + "".join(f"{cell:>26}" for cell in cells))
    lines.append("")
    lines += [f" {difference_words(found)}" for found in comparison.differences]
    return "\n".join(lines)


def difference_words(found: Difference) -> str:
    """Say how two models differ in one metric and whether the prevalence matters."""
    gap = found.difference
    span = f"{gap.value:+.3f} ({gap.low:+.3f} – {gap.high:+.3f})"
    words = f"{_title(found.metric)}: {found.one} minus {found.other} {span}, "
    words += f"better with probability {found.better_probability:.2f}"
    if not found.depends_on_prevalence:
        return words + ", whatever the prevalence"
    if math.isnan(found.crossover):
        return words + "; the order holds at every prevalence the data allow"
    return words + f"; the order flips at {percent(found.crossover)} hidden positives"


def _title(metric: str) -> str:
    return TITLES.get(metric, metric.replace("_", " "))
