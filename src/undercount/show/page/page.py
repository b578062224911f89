"""Evaluations as one self-contained HTML page with live sliders."""

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from undercount import __version__
from undercount.checks.percentages import percent
from undercount.count.arrays import amount, row_words
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.infer.metric_name import place_words
from undercount.infer.metric_row import MetricRow
from undercount.read.cost_curve import cost_curve
from undercount.read.evaluation import Evaluation
from undercount.read.require.requirement import WORST_FIRST, Outcome
from undercount.show.costs import cost_table, cost_words
from undercount.show.document import as_document
from undercount.show.page.costs import draw_costs
from undercount.show.page.identity import Identity
from undercount.show.page.live import (
    fixed_words,
    live_facts,
    page_cells,
    page_cuts,
    page_rows,
    script_facts,
    start_threshold,
)
from undercount.show.page.packing import pack, tighten_script, tighten_style
from undercount.show.spoken import metric_title, number, title
from undercount.show.text import (
    ANSWERS,
    SAMPLING_WORDS,
    bound_words,
    hidden_words,
    labels_words,
    lacking_words,
    main_row,
    missing_words,
    needs_words,
    plain_words,
    supposed_words,
    value_words,
    weakest_link,
)
from undercount.show.verdict_words import change_words, judged_words, light_words, outcome_words

# The palette has five colours that people with colour blindness tell apart.
MOST_MODELS = 5
# Metrics that stand on top as bars from 0 to 1.
BARS = ("precision", "recall", "f1", "roc_auc", "average_precision")
TOPS = "The highest scores"
PAGE_SCRIPTS = (
    "arithmetic.js", "intervals.js", "areas.js", "bias.js", "charts.js", "state.js", "verdict.js",
    "figures.js", "downloads.js", "script.js",
)  # fmt: skip


def as_page(
    evaluations: Sequence[Evaluation],
    identity: Identity | None = None,
    story: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the report; everything a user named is escaped.

    A story, if there is one, tells step by step how the main number was found.
    """
    identity = identity or Identity()
    if not 1 <= len(evaluations) <= MOST_MODELS:
        raise InputError(f"a report holds 1 to {MOST_MODELS} models; got {len(evaluations)}")
    style, loader = tighten_style(read_asset("style.css")), tighten_script(read_asset("loader.js"))
    script = _script()
    evaluations = [evaluation.standard() for evaluation in evaluations]
    first = evaluations[0]
    thresholds = [start_threshold(evaluation) for evaluation in evaluations]
    tables = [page_rows(*pair) for pair in zip(evaluations, thresholds, strict=True)]
    # The answer that does not lead, beside the one that does.
    review = first.basis.review
    other = None if review is None else review.other_answer
    beside = {} if other is None else {r.metric: a[other] for r, a in first.both_answers}
    return load_template("page.html.jinja").render(
        names=[evaluation.name for evaluation in evaluations],
        identity=identity,
        facts=_facts(first),
        lead=_lead(first),
        requirements=_requirements(evaluations),
        rows=[_row(row) for row in tables[0]],
        bars=[
            _bar(row, beside.get(row.metric))
            for name in BARS
            for row in tables[0]
            if row.metric == name
        ],
        fixed=(fixed := fixed_words(evaluations)),
        off=Markup(" disabled") if fixed else "",
        other=ANSWERS[other] if other else "",
        compared=_compare(evaluations, tables),
        elsewhere="Other thresholds" if any(map(_elsewhere, evaluations)) else TOPS,
        tops=[
            (evaluation.name, _row(row))
            for evaluation in evaluations
            for row in (*_elsewhere(evaluation), *evaluation.top_rows)
        ],
        costs=[
            (evaluation.name, cost_words(curve), draw_costs(curve), *cost_table(curve))
            for evaluation in evaluations
            if evaluation.costs is not None
            for curve in [cost_curve(evaluation, evaluation.costs)]
        ],
        titles={row.metric: metric_title(row.metric) for row in tables[0]},
        checks=[(evaluation.name, evaluation.checks) for evaluation in evaluations],
        estimates=[(name, percent(e.value)) for name, e in first.share_estimates.items()],
        story=story,
        reviewed=_reviewed(first),
        version=__version__,
        # Style and scripts are ours, not a user's; what is packed has no letter that HTML knows.
        style=Markup(style),  # noqa: S704
        loader=Markup(loader),  # noqa: S704
        packed=Markup(pack(script)),  # noqa: S704
        hashes={
            "style": policy_hash(style),
            "loader": policy_hash(loader),
            "script": policy_hash(script),
        },
        embedded=Markup(pack(write_json(_page_document(evaluations, thresholds)))),  # noqa: S704
    )


def read_asset(name: str) -> str:
    """Return a file of this folder."""
    return (resources.files("undercount.show.page") / name).read_text(encoding="utf-8")


@cache
def load_template(name: str) -> jinja2.Template:
    """Return a template of this folder; whatever it is given is escaped."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    return environment.from_string(read_asset(name))


def _script() -> str:
    """Return the script's parts as one, whose names stay inside."""
    parts = "".join(tighten_script(read_asset(name)) for name in PAGE_SCRIPTS)
    facts = json.dumps(script_facts(), separators=(",", ":"))
    return f'"use strict";\n(() => {{\nconst FACTS = {facts};\n{parts}}})();\n'


def policy_hash(text: str) -> str:
    """Return what a Content-Security-Policy calls the hash of an inline style or script."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _page_document(evaluations: Sequence[Evaluation], thresholds: list[float]) -> dict[str, Any]:
    """Return the facts with cells in place of curves, and what the script needs besides."""
    document = as_document(evaluations)
    live = []
    for model, evaluation, cut in zip(document["models"], evaluations, thresholds, strict=True):
        model["curve"] = page_cells(evaluation.counts, *page_cuts(evaluation, cut))
        live.append(live_facts(evaluation, cut))
    return {"document": document, "live": live}


def write_json(document: dict[str, Any]) -> str:
    """Write JSON without spaces; the same facts give the same text."""
    return json.dumps(document, separators=(",", ":"), sort_keys=True, allow_nan=False)


def embed_json(document: dict[str, Any]) -> Markup:
    """Write JSON that cannot end its script element or start another."""
    text = write_json(document)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped in the lines above


def _facts(evaluation: Evaluation) -> dict[str, Any]:
    counts = evaluation.counts
    read = f"{row_words(counts.n_rows, weighted=counts.weighted)}, "
    read += f"{amount(counts.n_positive)} labelled positive, "
    read += f"{amount(counts.n_unlabeled)} unlabeled"
    if counts.n_negative:
        read += f", {amount(counts.n_negative)} labelled negative"
    exact = "Counts are exact." if not counts.auc_error else f"AUC within {counts.auc_error:.1e}."
    return {
        "read": read,
        "sampling": SAMPLING_WORDS[evaluation.shares.sampling],
        "level": f"{100 * evaluation.confidence_level:g}",
        "supposed": supposed_words(evaluation),
        "target": "this data set" if evaluation.target == "dataset" else "the population",
        "hidden": hidden_words(evaluation),
        "error": exact,
        "random": evaluation.basis.random_labels,
        "given": evaluation.unknowns.given and evaluation.basis.review is None,
        "seed": "" if evaluation.random_state is None else f", seed {evaluation.random_state}",
    }


def _lead(evaluation: Evaluation) -> dict[str, str]:
    row = main_row(evaluation)
    assert row is not None  # noqa: S101 - every evaluation has areas
    leads, follows = _answer(row)
    return {
        "light": light_words(evaluation),
        "text": f"{metric_title(row.metric)}{place_words(None, row.top)} {leads}",
        "range": follows,
        "claim": judged_words(evaluation),
        "missing": missing_words(evaluation),
        "start": "The page starts with the best F1"
        if evaluation.top is None
        else "Below stands the nearest threshold at which rows were counted",
        "plain": plain_words(evaluation),
        "change": change_words(evaluation),
        "weakest": weakest_link(evaluation),
    }


def _requirements(evaluations: Sequence[Evaluation]) -> list[tuple[str, Outcome, str]]:
    """Return what was found of the requirements of all models, the worst first."""
    outcomes = [(each.name, *words) for each in evaluations for words in outcome_words(each)]
    return sorted(outcomes, key=lambda each: WORST_FIRST.index(each[1]))


def _reviewed(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return both answers of reviews, and what the labels look like."""
    answers = evaluation.both_answers
    if not answers:
        return None
    return {
        "kinds": [ANSWERS[kind] for kind in answers[0][1]],
        "rows": [
            (title(row), [value_words(e) for e in answer.values()]) for row, answer in answers
        ],
        "labels": labels_words(evaluation),
        "lacking": lacking_words(evaluation),
    }


def _answer(row: MetricRow) -> tuple[str, str]:
    """Return what leads, the value or a range without one; and what follows."""
    if row.estimate.range_only:
        return _range(row), ""
    return number(row.estimate.value), _range(row)


def _elsewhere(evaluation: Evaluation) -> list[MetricRow]:
    """Return the rows at other thresholds than the main one, which no slider moves."""
    main = (None, evaluation.threshold)
    return [row for row in evaluation.rows if row.top is None and row.threshold not in main]


def _row(row: MetricRow) -> dict[str, str]:
    estimate = row.estimate
    return {
        "title": title(row),
        "naive": number(row.naive),
        "value": "" if estimate.range_only else number(estimate.value),
        "range": _range(row),
        "least": bound_words(row),
        "needs": needs_words(row),
    }


def _bar(row: MetricRow, beside: Estimate | None) -> dict[str, Any]:
    """Return the places of the marks of a bar from 0 to 1, in percent; and what stands beside it.

    `beside` is the other answer of reviews, if there are two.
    """
    estimate = row.estimate
    exists, bounded = not math.isnan(estimate.value), row.lower_bound is not None
    ranged = exists or estimate.range_only
    leads, follows = _answer(row)
    return {
        "metric": row.metric,
        "title": metric_title(row.metric),
        "naive": _place(row.naive),
        "value": _place(estimate.value),
        "low": _place(estimate.low),
        "high": _place(estimate.high),
        "least": _place(row.lower_bound),
        "beside": None
        if beside is None or math.isnan(beside.value)
        else {end: _place(getattr(beside, end)) for end in ("value", "low", "high")},
        "no_value": "" if exists else Markup(" hidden"),
        "no_range": "" if ranged else Markup(" hidden"),
        "no_least": "" if bounded else Markup(" hidden"),
        "text": leads,
        "range": follows,
    }


def _place(value: float | None) -> str:
    """Return where a share stands between 0 and 100."""
    return "0" if value is None or math.isnan(value) else f"{100 * min(max(value, 0.0), 1.0):.4g}"


def _compare(
    evaluations: Sequence[Evaluation], tables: list[list[MetricRow]]
) -> list[dict[str, Any]]:
    return [
        {
            "name": evaluation.name,
            "cells": [(metric_title(row.metric), *_answer(row)) for row in table],
            "light": light_words(evaluation),
        }
        for evaluation, table in zip(evaluations, tables, strict=True)
    ]


def _range(row: MetricRow) -> str:
    if row.estimate.open:
        return "cannot be said yet"
    return f"{number(row.estimate.low)} – {number(row.estimate.high)}"
