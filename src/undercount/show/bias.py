"""Where metrics may lie if labels prefer some positives: as a short table, and as plain values."""

from typing import Any

from undercount.estimate import Interval
from undercount.infer.metric_row import MetricRow
from undercount.read.evaluation import Evaluation
from undercount.show.layout import line, stack, too_wide
from undercount.show.spoken import number, title


def bounded_rows(evaluation: Evaluation) -> list[tuple[MetricRow, Interval]]:
    """Return the rows in which a labelling bias is followed, each with its bounds."""
    bounds = evaluation.bias_bounds()
    named = zip(evaluation.estimates(), (*evaluation.rows, *evaluation.top_rows), strict=True)
    return [(row, bounds[name]) for name, row in named if name in bounds]


def bias_words(evaluation: Evaluation) -> str:
    """Say what bias is supposed, and what the bounds take for granted."""
    if evaluation.basis.bias_premise:
        return evaluation.basis.bias_premise.format(gamma=evaluation.odds_ratio)
    words = (
        f"if labelling favours some positives, with odds of a label up to Γ = "
        f"{evaluation.odds_ratio:g} times those of others"
    )
    if evaluation.top_rows:
        place = "--threshold" if evaluation.origin else "threshold="
        words += f". Of the highest rows no bounds are known: give {place}, the score of the last"
    if evaluation.unknowns.given:
        return words
    given = "--prevalence" if evaluation.origin else "prevalence="
    return (
        f"{words}. The bounds rest on the estimated share of hidden positives, which supposes "
        f"labels that favour none: give {given}, a range say"
    )


def bias_lines(evaluation: Evaluation, width: int) -> list[str]:
    """Write the interval of each metric beside its bounds, if a bias is to be supposed."""
    if evaluation.odds_ratio is None:
        return []
    head = ("fair labels", f"Γ up to {evaluation.odds_ratio:g}")
    cells = [
        (title(row), _span(row.estimate.interval), _span(bounds))
        for row, bounds in bounded_rows(evaluation)
    ]
    room = max([18, *(len(name) + 1 for name, *_ in cells)])
    lines = [f" {name:<{room}}{fair:<18}{biased}" for name, fair, biased in [("", *head), *cells]]
    if too_wide(lines, width):
        lines = []
        for name, *spans in cells:
            lines += stack(name, list(zip(head, spans, strict=True)), width)
    said = line("Biased labels", bias_words(evaluation), width=width)
    return [*said.split("\n"), *lines]


def _span(ends: Interval) -> str:
    return f"{number(ends.low)} – {number(ends.high)}"


def bias_facts(evaluation: Evaluation) -> dict[str, Any]:
    """Return the bias that is supposed and the bounds, as plain values."""
    return {
        "odds_ratio": evaluation.odds_ratio,
        "metrics": [
            {"metric": row.metric, "threshold": row.threshold, "low": ends.low, "high": ends.high}
            for row, ends in bounded_rows(evaluation)
        ],
    }
