"""A comparison as plain text, and as JSON."""

import math

from undercount.read.compare import Comparison
from undercount.read.differences import Difference
from undercount.show.document import as_document, plain, write_document
from undercount.show.text import hidden_words, line, metric_title, percent, value_words

WIDTH = 26
SMALLEST_P = 0.0001


def as_text(comparison: Comparison) -> str:
    """Write each model's numbers, then the paired differences."""
    evaluations = list(comparison.evaluations.values())
    first = evaluations[0]
    hidden = hidden_words(first)
    if first.share_model:
        hidden += f" · by the scores of {first.share_model}, for all models"
    head = "".join(f"{name:>{_width(name)}}" for name in comparison.evaluations)
    lines = [line("Hidden positives", hidden), "", f" {'':<20}{head}"]
    for i, row in enumerate(first.rows):
        cells = [(e.name, value_words(e.rows[i].estimate)) for e in evaluations]
        lines.append(
            f" {metric_title(row.metric):<20}"
            + "".join(f"{cell:>{_width(n)}}" for n, cell in cells)
        )
    lines += _thresholds(comparison)
    pairs = list(dict.fromkeys((d.one, d.other) for d in comparison.differences))
    for one, other in pairs:
        level = f"{100 * first.confidence_level:g} %"
        lines += ["", f" {one} minus {other}"]
        lines.append(
            f" {'':<20}{f'difference ({level})':<28}{'chance of being better':<24}"
            "does the order depend on the prevalence?"
        )
        lines += [
            f" {difference_words(found)}"
            for found in comparison.differences
            if (found.one, found.other) == (one, other)
        ]
    adjusted = ", adjusted for the number of pairs (Holm)" if len(pairs) > 1 else ""
    lines += ["", f" p: two-sided{adjusted}"]
    return "\n".join(lines)


def as_json(comparison: Comparison) -> str:
    """Write each model as `evaluate` does, and the differences beside them."""
    columns = comparison.table()
    document = as_document(list(comparison.evaluations.values()))
    document["differences"] = [
        {
            name: plain(value) if isinstance(value, float) else value
            for name, value in zip(columns, row, strict=True)
        }
        for row in zip(*columns.values(), strict=True)
    ]
    return write_document(document)


def difference_words(found: Difference) -> str:
    """Say how two models differ in one metric and whether the prevalence matters.

    Of a single pair the adjusted p-value is the plain one.
    """
    gap = found.difference
    if math.isnan(gap.value):
        return f"{metric_title(found.metric):<20}{value_words(gap)}"
    span, better = f"{gap.value:+.3f} (no interval)", "–"
    if not math.isnan(gap.standard_error):  # with few rows flagged some resamples have none
        span = f"{gap.value:+.3f} ({gap.low:+.3f} – {gap.high:+.3f})"
        better = f"{_chance(found.better_probability)}, p {_p_value(found.adjusted_p_value)}"
    return f"{metric_title(found.metric):<20}{span:<28}{better:<24}{_order(found)}"


def _order(found: Difference) -> str:
    if not found.depends_on_prevalence:
        return "no, whatever the prevalence"
    if math.isnan(found.crossover):
        return "not within what the data allow"
    return f"yes, it flips at {percent(found.crossover)} hidden positives"


def _chance(probability: float) -> str:
    if probability > 0.99:  # noqa: PLR2004 - no more digits than the normal tail deserves
        return "> 99 %"
    if probability < 0.01:  # noqa: PLR2004
        return "< 1 %"
    return f"{100 * probability:.0f} %"


def _p_value(value: float) -> str:
    # No more digits than the normal tail deserves.
    return f"< {SMALLEST_P:g}" if value < SMALLEST_P else f"{value:.2g}"


def _thresholds(comparison: Comparison) -> list[str]:
    cuts = {name: e.threshold for name, e in comparison.evaluations.items()}
    if all(cut is None for cut in cuts.values()):
        return []
    return [" at the thresholds " + ", ".join(f"{n} {cut:g}" for n, cut in cuts.items())]


def _width(name: str) -> int:
    return max(WIDTH, len(name) + 2)
