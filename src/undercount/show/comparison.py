"""A comparison as plain text, and as JSON."""

import math
import textwrap

from undercount.read.compare import Comparison
from undercount.read.differences import Difference
from undercount.read.evaluation import Evaluation
from undercount.show.document import as_document, plain, write_document
from undercount.show.text import hidden_words, line, metric_title, percent, value_words

WIDTH = 100
# Of a metric's name, of one model's numbers, of a difference, of chance and p-value.
TITLE, CELL, SPAN, CHANCE = 20, 26, 28, 22
# No name takes more of a line than this; longer ones stand in a list of their own.
LONGEST_NAME = CELL - 2
SMALLEST_P = 0.0001
QUESTIONS = {
    "population": "which model is better where these rows come from, so on other rows too "
    "(question: population; rows asks about these rows alone)",
    "rows": "which model is better on these very rows, where only the choice of labelled "
    "positives is chance; other rows may differ (question: rows; population asks about them too)",
}


def as_text(comparison: Comparison) -> str:
    """Write each model's numbers, then the paired differences."""
    lines = [*_models(comparison), *_thresholds(comparison), "", *_question(comparison)]
    pairs = list(dict.fromkeys((d.one, d.other) for d in comparison.differences))
    for one, other in pairs:
        lines += ["", *_wrapped(f"{one} minus {other}")]
        level = f"{100 * _first(comparison).confidence_level:g} %"
        lines.append(
            f" {'':<{TITLE}}{f'difference ({level})':<{SPAN}}{'chance of being better':<{CHANCE}} "
            "the order holds"
        )
        lines += [
            f" {difference_words(found)}"
            for found in comparison.differences
            if (found.one, found.other) == (one, other)
        ]
    adjusted = ", adjusted for the number of pairs (Holm)" if len(pairs) > 1 else ""
    lines += ["", f" p: two-sided{adjusted}"]
    return "\n".join(lines)


def _first(comparison: Comparison) -> Evaluation:
    return next(iter(comparison.evaluations.values()))


def _models(comparison: Comparison) -> list[str]:
    """Write the models' own numbers, as many beside each other as a line takes."""
    first, evaluations = _first(comparison), list(comparison.evaluations.values())
    hidden = hidden_words(first)
    if first.share_model:
        hidden += f" · by the scores of {first.share_model}, for all models"
    lines = [line("Hidden positives", hidden)]
    columns = (WIDTH - TITLE - 1) // CELL
    for start in range(0, len(evaluations), columns):
        some = evaluations[start : start + columns]
        lines += ["", *_heads([e.name for e in some])]
        for i, row in enumerate(first.rows):
            cells = "".join(f"{value_words(e.rows[i].estimate):>{CELL}}" for e in some)
            lines.append(f" {metric_title(row.metric):<{TITLE}}{cells}")
    return lines


def _heads(names: list[str]) -> list[str]:
    """Write names over their columns, long ones on several lines."""
    parts = [textwrap.wrap(name, LONGEST_NAME) for name in names]
    depth = max(map(len, parts))
    rows = zip(*([""] * (depth - len(part)) + part for part in parts), strict=True)
    return [f" {'':<{TITLE}}" + "".join(f"{word:>{CELL}}" for word in row) for row in rows]


def _question(comparison: Comparison) -> list[str]:
    """Say what the differences are about; the models' own numbers may be about something else."""
    return [line("Differences", QUESTIONS[comparison.question])]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" ", subsequent_indent="   ")


def as_json(comparison: Comparison) -> str:
    """Write each model as `evaluate` does, and the differences beside them."""
    columns = comparison.table()
    document = as_document(list(comparison.evaluations.values()))
    document["question"] = comparison.question
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
        return f"{metric_title(found.metric):<{TITLE}}{value_words(gap)}"
    span, better = f"{gap.value:+.3f} (no interval)", "–"
    if not math.isnan(gap.standard_error):  # with few rows flagged some resamples have none
        span = f"{gap.value:+.3f} ({gap.low:+.3f} – {gap.high:+.3f})"
        better = f"{_chance(found.better_probability)}, p {p_words(found.adjusted_p_value)}"
    return f"{metric_title(found.metric):<{TITLE}}{span:<{SPAN}}{better:<{CHANCE}} {_order(found)}"


def _order(found: Difference) -> str:
    if not found.depends_on_prevalence:
        return "whatever the prevalence"
    if math.isnan(found.crossover):
        return "within what data allow"
    return f"flips at {percent(found.crossover)} hidden"


def _chance(probability: float) -> str:
    if probability > 0.99:  # noqa: PLR2004 - no more digits than the tail deserves
        return "> 99 %"
    if probability < 0.01:  # noqa: PLR2004
        return "< 1 %"
    return f"{100 * probability:.0f} %"


def p_words(value: float) -> str:
    """Write a p-value."""
    # No more digits than the tail deserves.
    return f"< {SMALLEST_P:g}" if value < SMALLEST_P else f"{value:.2g}"


def _thresholds(comparison: Comparison) -> list[str]:
    cuts = {name: e.threshold for name, e in comparison.evaluations.items()}
    if all(cut is None for cut in cuts.values()):
        return []
    return _wrapped("at the thresholds " + ", ".join(f"{n} {cut:g}" for n, cut in cuts.items()))
