"""Evaluations as one self-contained HTML page with live sliders."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from undercount import __version__
from undercount.count.arrays import amount, row_words
from undercount.count.atomic_file import write_text
from undercount.errors import InputError
from undercount.read.evaluation import Evaluation, MetricRow
from undercount.show.document import as_document
from undercount.show.page.live import (
    live_facts,
    page_cells,
    page_rows,
    script_facts,
    start_threshold,
)
from undercount.show.text import (
    ANSWERS,
    SAMPLING,
    both_answers,
    bound_words,
    change_words,
    find,
    hidden_words,
    labels_words,
    light,
    metric_title,
    needs_words,
    number,
    percent,
    plain_words,
    title,
    value_words,
    weakest_link,
)

# The palette has five colours that people with colour blindness tell apart.
MOST_MODELS = 5
SCRIPTS = (
    "arithmetic.js", "intervals.js", "areas.js", "bias.js", "charts.js", "state.js", "figures.js",
    "script.js",
)  # fmt: skip


def write_page(
    evaluations: Sequence[Evaluation], path: str | Path, story: Sequence[tuple[str, str]] = ()
) -> None:
    """Write the report, whole or not at all."""
    write_text(path, as_page(evaluations, story))


def as_page(evaluations: Sequence[Evaluation], story: Sequence[tuple[str, str]] = ()) -> str:
    """Return the report; everything a user named is escaped.

    A story, if there is one, tells step by step how the main number was found.
    """
    if not 1 <= len(evaluations) <= MOST_MODELS:
        raise InputError(f"a report holds 1 to {MOST_MODELS} models; got {len(evaluations)}")
    style, loader, script = read_asset("style.css"), read_asset("loader.js"), _script()
    evaluations = [evaluation.standard() for evaluation in evaluations]
    first = evaluations[0]
    thresholds = [start_threshold(evaluation) for evaluation in evaluations]
    tables = [page_rows(*pair) for pair in zip(evaluations, thresholds, strict=True)]
    return load_template("page.html.jinja").render(
        names=[evaluation.name for evaluation in evaluations],
        facts=_facts(first),
        lead=_lead(first),
        rows=[_row(row) for row in tables[0]],
        compared=_compare(evaluations, tables),
        titles={row.metric: metric_title(row.metric) for row in tables[0]},
        checks=[(evaluation.name, evaluation.checks) for evaluation in evaluations],
        estimates=[(name, percent(e.value)) for name, e in first.share_estimates.items()],
        story=story,
        reviewed=_reviewed(first),
        version=__version__,
        # Ours, not a user's: style and scripts are constants of the package.
        style=Markup(style),  # noqa: S704
        loader=Markup(loader),  # noqa: S704
        packed=base64.b64encode(zlib.compress(script.encode(), 9)).decode(),
        hashes={
            "style": policy_hash(style),
            "loader": policy_hash(loader),
            "script": policy_hash(script),
        },
        embedded=embed_json(_page_document(evaluations, thresholds)),
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
    """Return the script's parts as one, whose names stay inside, without comments and indents."""
    parts = "".join(read_asset(name) for name in SCRIPTS)
    parts = re.sub(r"(?m)(^|\s)//.*$|^ +", "", parts)  # an address has no space before its //
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
        model["curve"] = page_cells(evaluation.counts, cut)
        live.append(live_facts(evaluation, cut))
    return {"document": document, "live": live}


def embed_json(document: dict[str, Any]) -> Markup:
    """Write JSON that cannot end its script element or start another."""
    text = json.dumps(document, separators=(",", ":"), sort_keys=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped in the lines above


def _facts(evaluation: Evaluation) -> dict[str, str]:
    counts = evaluation.counts
    read = f"{row_words(counts.n_rows, weighted=counts.weighted)}, "
    read += f"{amount(counts.n_positive)} labelled positive, "
    read += f"{amount(counts.n_unlabeled)} unlabeled"
    if counts.n_negative:
        read += f", {amount(counts.n_negative)} labelled negative"
    exact = "Counts are exact." if not counts.auc_error else f"AUC within {counts.auc_error:.1e}."
    return {
        "read": read,
        "sampling": SAMPLING[evaluation.shares.sampling],
        "level": f"{100 * evaluation.confidence_level:g}",
        "target": "this data set" if evaluation.target == "dataset" else "the population",
        "hidden": hidden_words(evaluation),
        "error": exact,
    }


def _lead(evaluation: Evaluation) -> dict[str, str]:
    row = find(evaluation, "precision") or find(evaluation, "roc_auc")
    assert row is not None  # noqa: S101 - every evaluation has areas
    return {
        "light": light(evaluation),
        "text": f"{metric_title(row.metric)} {number(row.estimate.value)}",
        "range": _range(row),
        "plain": plain_words(evaluation),
        "change": change_words(evaluation),
        "weakest": weakest_link(evaluation),
    }


def _reviewed(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return both answers of reviews, and what the labels look like."""
    answers = both_answers(evaluation)
    if not answers:
        return None
    return {
        "kinds": [ANSWERS[kind] for kind in answers[0][1]],
        "rows": [(title(row), [value_words(e) for e in found.values()]) for row, found in answers],
        "labels": labels_words(evaluation),
    }


def _row(row: MetricRow) -> dict[str, str]:
    needs = needs_words(row)
    if row.lower_bound is not None:
        needs += f"; at least {bound_words(row)} whatever it is"
    return {
        "title": title(row),
        "naive": number(row.naive),
        "value": number(row.estimate.value),
        "range": _range(row),
        "needs": needs,
    }


def _compare(
    evaluations: Sequence[Evaluation], tables: list[list[MetricRow]]
) -> list[dict[str, Any]]:
    return [
        {
            "name": evaluation.name,
            "cells": [(number(row.estimate.value), _range(row)) for row in table],
            "light": light(evaluation),
        }
        for evaluation, table in zip(evaluations, tables, strict=True)
    ]


def _range(row: MetricRow) -> str:
    return f"{number(row.estimate.low)} – {number(row.estimate.high)}"
