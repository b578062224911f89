"""Evaluations as one self-contained HTML page with live sliders."""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from undercount import __version__
from undercount.errors import InputError
from undercount.evaluation import Evaluation
from undercount.report import words
from undercount.report.document import as_document
from undercount.report.files import write_text
from undercount.scorecard import POINT_METRICS, MetricRow

# The palette has five colours that people with colour blindness tell apart.
MOST_MODELS = 5


def write_page(evaluations: Sequence[Evaluation], path: str | Path) -> None:
    """Write the report, whole or not at all."""
    write_text(path, as_page(evaluations))


def as_page(evaluations: Sequence[Evaluation]) -> str:
    """Return the report; everything a user named is escaped."""
    if not 1 <= len(evaluations) <= MOST_MODELS:
        raise InputError(f"a report holds 1 to {MOST_MODELS} models; got {len(evaluations)}")
    style, script = _asset("style.css"), _asset("script.js")
    first = evaluations[0]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(_asset("page.html.jinja"))
    return template.render(
        names=[evaluation.name for evaluation in evaluations],
        models=[{"name": evaluation.name} for evaluation in evaluations],
        facts=_facts(first),
        lead=_lead(first),
        rows=_rows(first),
        compared=_compared(evaluations),
        checks=[check for evaluation in evaluations for check in evaluation.checks],
        version=__version__,
        # Ours, not a user's: style and script are constants of the package.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        style_hash=_hash(style),
        script_hash=_hash(script),
        document=_embedded(as_document(evaluations)),
    )


def _asset(name: str) -> str:
    return (resources.files("undercount.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return what a Content-Security-Policy calls the hash of an inline style or script."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _embedded(document: dict[str, Any]) -> Markup:
    """Write JSON that cannot end its script element or start another."""
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped in the lines above


def _facts(evaluation: Evaluation) -> dict[str, str]:
    counts = evaluation.counts
    read = (
        f"{words.whole(counts.n_rows)} rows, {words.whole(counts.n_positive)} labelled positive, "
    )
    read += f"{words.whole(counts.n_unlabeled)} unlabeled"
    if counts.n_negative:
        read += f", {words.whole(counts.n_negative)} labelled negative"
    exact = "Counts are exact." if not counts.auc_error else f"AUC within {counts.auc_error:.1e}."
    return {
        "read": read,
        "sampling": words.SAMPLING[evaluation.shares.sampling],
        "level": f"{100 * evaluation.confidence_level:g}",
        "target": "this data set" if evaluation.target == "dataset" else "the population",
        "hidden": words.hidden_words(evaluation),
        "error": exact,
    }


def _lead(evaluation: Evaluation) -> dict[str, str]:
    row = words.find(evaluation, "precision") or words.find(evaluation, "roc_auc")
    assert row is not None  # noqa: S101 - every evaluation has areas
    return {
        "light": words.light(evaluation),
        "text": f"{words.TITLES.get(row.metric, row.metric)} {row.estimate.value:.3f}",
        "range": f"{row.estimate.low:.3f} – {row.estimate.high:.3f}",
        "plain": words.plain_words(evaluation),
        "change": words.change_words(evaluation),
        "weakest": words.weakest_link(evaluation),
    }


def _rows(evaluation: Evaluation) -> list[dict[str, str]]:
    """Return the table in the script's order: metrics at a threshold, then areas."""
    rows = list(evaluation.rows)
    if evaluation.threshold is None:
        threshold = evaluation.best_threshold("f1").threshold
        rows = [*evaluation.at(threshold), *rows]
    order = [*POINT_METRICS, "roc_auc", "average_precision", "lift_auc"]
    rows.sort(key=lambda row: order.index(row.metric))
    return [_row(row) for row in rows]


def _row(row: MetricRow) -> dict[str, str]:
    return {
        "title": words.title(row),
        "naive": f"{row.naive:.3f}",
        "value": f"{row.estimate.value:.3f}",
        "range": f"{row.estimate.low:.3f} – {row.estimate.high:.3f}",
        "needs": ", ".join(row.estimate.needs) or "nothing",
    }


def _compared(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    titles = [words.title(row) for row in evaluations[0].rows]
    rows = [
        {
            "name": evaluation.name,
            "cells": [
                f"{row.estimate.value:.3f} ({row.estimate.low:.3f} – {row.estimate.high:.3f})"
                for row in evaluation.rows
            ],
            "light": words.light(evaluation),
        }
        for evaluation in evaluations
    ]
    return {"titles": titles, "rows": rows}
