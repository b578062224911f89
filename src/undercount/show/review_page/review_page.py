"""Write the page in which people answer: self-contained, offline, with the library's arithmetic."""

import csv
import hashlib
import io
import re
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup
from scipy.special import ndtri

from undercount import __version__
from undercount.count.atomic_file import write_text
from undercount.count.kernel.table import insert_knots, merge_bare
from undercount.count.review_file import as_review_csv
from undercount.counts import ScoreCounts
from undercount.infer.reviews.ends import MOST_COUNTED, PATH, TIMES_LEFT, part_more
from undercount.infer.reviews.intervals import BEYOND, OPEN_AT
from undercount.infer.reviews.stratum_shares import LEAST_WEIGHT, MOST_WEIGHT, PRIOR_POSITIVES
from undercount.infer.reviews.verdicts import EVEN, MOST_SURE, SHIFT, SLOPE, working_posterior
from undercount.metric_facts import FACTS, SCALE_RANGES
from undercount.read.plan.goals import metric_of
from undercount.read.plan.review_plan import ReviewPlan
from undercount.show.page.page import embed_json, policy_hash
from undercount.show.plan import goal_title
from undercount.show.spoken import half_width_words

ANSWERING_SCRIPTS = ("estimates.js", "answering.js")
# Metrics that are shown beside the goals.
BESIDE_GOALS = ("precision", "recall", "f1")
# What the script's arithmetic shares with the library's.
PRIOR = {
    "positives": PRIOR_POSITIVES, "weights": [LEAST_WEIGHT, MOST_WEIGHT],
    "shift": SHIFT, "slope": SLOPE, "even": EVEN, "most": MOST_SURE, "path": PATH, "open": OPEN_AT,
    "beyond": BEYOND, "times": TIMES_LEFT, "counted": MOST_COUNTED,
}  # fmt: skip
# Cells that the page carries at most; more are merged, and the page says so.
MOST_PAGE_CELLS = 4096


def write_review_page(plan: ReviewPlan, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, as_review_page(plan))


def as_review_page(plan: ReviewPlan) -> str:
    """Return the page; whatever a user's columns hold stays text."""
    style, script = _read("style.css"), _script()
    facts = review_facts(plan)
    rough = "Many cells were merged to keep the page small: numbers are near the library's. "
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    return environment.from_string(_read("page.html.jinja")).render(
        cases=len(plan.sheet.case),
        goals=[goal["title"] for goal in facts["goals"]],
        level=f"{100 * plan.widths.confidence_level:g}",
        plan=plan.sheet.plan,
        version=__version__,
        prices=_prices(plan),
        approximate=rough if facts["merged"] else "",
        # Ours, not a user's: style and script are constants of the package.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        hashes={"style": policy_hash(style), "script": policy_hash(script)},
        embedded=embed_json(facts),
    )


def review_facts(plan: ReviewPlan) -> dict[str, Any]:
    """Return what the script needs: the cases, the cells of all rows, and the goals."""
    sheet, design = plan.sheet, plan.design
    counts, merged = page_counts(plan)
    posterior = working_posterior(counts, design.unlabeled_prevalence)
    place = np.searchsorted(-counts.score, -np.asarray(next(iter(sheet.scores.values()))))
    threshold = design.threshold
    columns = sheet.kept or {}
    text = as_review_csv(sheet).removeprefix("\ufeff")
    return {
        # A further round may have the plan's name, and gives numbers of cases to other rows.
        "store": f"{sheet.plan}-{hashlib.sha256(text.encode()).hexdigest()[:12]}",
        "level": plan.widths.confidence_level,
        "normal": float(ndtri((1 + plan.widths.confidence_level) / 2)),
        "goals": [_goal(plan, name) for name in page_goals(plan)],
        "row": sheet.row.tolist(),
        "stratum": sheet.stratum.tolist(),
        "verdict": [None if np.isnan(v) else int(v) for v in sheet.verdict],
        "columns": [{"name": n, "values": list(values)} for n, values in columns.items()],
        "table": list(csv.reader(io.StringIO(text, newline=""))),
        "place": np.minimum(place, len(counts.score) - 1).tolist(),
        "n_unlabeled": design.n_unlabeled.tolist(),
        "head": 0 if threshold is None else counts.head_cells(threshold).stop,
        "prior": PRIOR | {"extra": part_more((1 - plan.widths.confidence_level) / 2)},
        "merged": merged,
        "cells": {
            "positive": counts.positive.tolist(),
            "negative": counts.negative.tolist(),
            "unlabeled": counts.unlabeled.tolist(),
            "posterior": posterior.tolist(),
            "stratum": design.stratum_of(counts.score).tolist(),
        },
    }


def _prices(plan: ReviewPlan) -> list[dict[str, Any]]:
    """Return what each number of reviews buys, as words and as points of a line, by goal."""
    budgets = sorted(plan.expected)
    prices = []
    for goal in plan.design.goal:
        widths = [plan.expected[budget][goal] for budget in budgets]
        if not np.isfinite(widths).all():
            continue
        x = np.interp(np.log(budgets), np.log([budgets[0], budgets[-1] + 1]), [30, 310])
        y = 92 - 84 * np.array(widths) / max(*widths, 1e-12)
        spots = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        words = [(f"{b:,}", half_width_words(w)) for b, w in zip(budgets, widths, strict=True)]
        prices.append({"goal": goal_title(plan, goal), "points": spots, "words": words})
    return prices


def page_counts(plan: ReviewPlan) -> tuple[ScoreCounts, bool]:
    """Return the cells by which `evaluate` will read the verdicts, or fewer if they are many."""
    design = plan.design
    knots = [*design.edges, *([] if design.threshold is None else [design.threshold])]
    table = insert_knots(merge_bare(plan.counts.table, knots), knots)
    counts = ScoreCounts.from_table(table, plan.counts.squared_weight)
    if len(counts.score) <= MOST_PAGE_CELLS:
        return counts, False
    from undercount.count.counts_file import align_counts  # noqa: PLC0415 - DuckDB, rarely needed

    fine = counts.coarsened(MOST_PAGE_CELLS // 2).score
    return align_counts(plan.counts, [*fine, *knots]), True


def page_goals(plan: ReviewPlan) -> list[str]:
    """Return the metrics that the page follows: those at the threshold, and the prevalence."""
    metrics = dict.fromkeys(map(metric_of, plan.design.goal))  # of a difference the first model's
    names = [name for name in metrics if _followed(name)]
    if plan.design.threshold is not None:
        names += [name for name in BESIDE_GOALS if name not in names]
    return [*names, *(["prevalence"] if "prevalence" not in names else [])]


def _followed(name: str) -> bool:
    return name == "prevalence" or FACTS[name].family == "threshold"


def _goal(plan: ReviewPlan, name: str) -> dict[str, Any]:
    scale = "logit" if name == "prevalence" else FACTS[name].scale
    least, most = SCALE_RANGES[scale]
    ends = [least, most if np.isfinite(most) else max(2 * plan.widths.value.get(name, 1.0), 1.0)]
    bounds = (0.0, 1.0) if name == "prevalence" else FACTS[name].range
    return {
        "name": name,
        "title": goal_title(plan, name),
        "scale": scale,
        "range": ends,
        "least": bounds[0],
        "most": bounds[1] if np.isfinite(bounds[1]) else None,
    }


def _read(name: str) -> str:
    return (resources.files("undercount.show.review_page") / name).read_text(encoding="utf-8")


def _script() -> str:
    """Return the script's parts as one, whose names stay inside, without comments and indents."""
    parts = "".join(map(_read, ANSWERING_SCRIPTS))
    parts = re.sub(r"(?m)(^|\s)//.*$|^ +", "", parts)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'
