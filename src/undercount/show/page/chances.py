"""The report of an evaluation in which nothing is free to move: one page without scripts.

Sliders move the prevalence of random labels, which chances of a label, or a model of who was looked
at, fix. Where odds of a label may be wrong a table says how far each number goes at a factor (Γ).
"""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from undercount import __version__
from undercount.count.arrays import amount, row_words
from undercount.errors import InputError
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow
from undercount.read.evaluation import Evaluation
from undercount.show.page.comparison import COLOURS, draw_both_curves
from undercount.show.page.identity import Identity
from undercount.show.page.page import load_template, policy_hash, read_asset
from undercount.show.spoken import number, title
from undercount.show.text import (
    check_facts,
    hidden_words,
    needs_words,
    plain_words,
    value_words,
    weakest_link,
)
from undercount.show.verdict_words import change_words, judged_words, light_words

# Factors by which the odds of a label are supposed to be wrong.
FACTORS = (1.2, 1.5, 2.0)
SHAKEN = ("recall", "precision", "f1", "roc_auc")


def as_chances_page(evaluations: Sequence[Evaluation], identity: Identity) -> str:
    """Return the page; everything a user named is escaped."""
    style = read_asset("style.css") + read_asset("comparison.css")
    first = evaluations[0]
    names = [evaluation.name for evaluation in evaluations]
    return load_template("chances.html.jinja").render(
        names=names,
        identity=identity,
        read=f"{row_words(first.counts.n_rows)}, {amount(first.counts.n_positive)} labelled "
        f"positive{first.basis.rows}",
        naive=first.basis.naive.title,
        level=f"{100 * first.confidence_level:g}",
        models=[_model_facts(evaluation) for evaluation in evaluations],
        factors=[f"{factor:g}" for factor in FACTORS],
        **draw_both_curves({evaluation.name: evaluation for evaluation in evaluations}),
        colours=COLOURS,
        version=__version__,
        style=Markup(style),  # noqa: S704 - ours, not a user's
        hash=policy_hash(style),
    )


def _model_facts(evaluation: Evaluation) -> dict[str, Any]:
    """Return what the page says of one model."""
    if evaluation.basis.sliders:
        raise InputError("a report rests on one assumption for all of its models")
    return {
        "name": evaluation.name,
        "light": light_words(evaluation),
        "claim": judged_words(evaluation),
        "plain": plain_words(evaluation),
        "change": change_words(evaluation),
        "weakest": weakest_link(evaluation),
        "hidden": hidden_words(evaluation),
        "rows": [_cells(row) for row in evaluation.rows],
        "shaken": [
            (title(row), value_words(row.estimate), _bounds(evaluation, row))
            for row in evaluation.rows
            if row.metric in SHAKEN and evaluation.basis.odds_words is not None
        ],
        "checks": [check_facts(check) for check in evaluation.checks],
    }


def _cells(row: MetricRow) -> tuple[str, str, str, str]:
    return title(row), number(row.naive), value_words(row.estimate), needs_words(row)


def _bounds(evaluation: Evaluation, row: MetricRow) -> list[str]:
    """Write how far a metric goes at each factor; the chance of the labels is not in it."""
    at, recovery = MetricAt(row.metric, row.threshold), evaluation.recovery
    bounds = [recovery.odds_bound(at, factor) for factor in FACTORS]
    return [f"{number(interval.low)} – {number(interval.high)}" for interval in bounds]
