"""A plan of reviews as text and JSON: what each budget buys."""

import math
from typing import Any

from undercount import __version__
from undercount.count.arrays import row_words
from undercount.metric_facts import FACTS
from undercount.read.plan_rows import RowPlan
from undercount.show.document import plain, write_document
from undercount.show.spoken import metric_title, percent
from undercount.show.text import half_width, line

SCHEMA = "undercount/plan/1"


def goal_title(plan: RowPlan, goal: str) -> str:
    """Name a goal as people say it."""
    threshold = plan.design.threshold
    at_threshold = goal in FACTS and FACTS[goal].family == "threshold" and threshold is not None
    return f"{metric_title(goal)}@{threshold:g}" if at_threshold else metric_title(goal)


def half_width_words(value: float) -> str:
    """Write a half-width."""
    return f"± {half_width(value)}" if math.isfinite(value) else "–"


def as_text(plan: RowPlan, wanted: float | None = None) -> str:
    """Write what was chosen, what it supposes, and what each budget buys."""
    design, budgets = plan.design, sorted(plan.expected)
    chosen = (
        f"{len(design.order):,} of {row_words(plan.counts.n_unlabeled)} without a label, in "
        f"{design.n_strata} strata of the score · seed {design.seed}"
    )
    supposed = (
        f"{percent(design.unlabeled_prevalence)} of them are positive; a wrong guess makes the "
        "plan less sharp, and nothing wrong"
    )
    lines = [line("Reviews", chosen), line("Supposed", supposed), ""]
    width = max(18, *(len(goal_title(plan, goal)) + 1 for goal in design.goal))
    head = "".join(f"{budget:>9,}" for budget in budgets)
    lines.append(f" {'reviews buy':<{width}}{head}")
    for goal in design.goal:
        cells = "".join(f"{half_width_words(plan.expected[b][goal]):>9}" for b in budgets)
        lines.append(f" {goal_title(plan, goal):<{width}}{cells}")
    if wanted is not None:
        for goal in design.goal:
            need = plan.prices.budget_for(goal, wanted)
            lines.append(
                f" {goal_title(plan, goal)} {half_width_words(wanted)} needs about {need:,} reviews"
            )
    return "\n".join(lines)


def as_json(plan: RowPlan, wanted: float | None = None) -> str:
    """Write the plan, without its rows, as JSON."""
    design = plan.design
    goals = []
    for goal in design.goal:
        facts: dict[str, Any] = {
            "goal": goal,
            "threshold": design.threshold,
            "expected_value": plain(plan.prices.value[goal]),
            "half_width": {str(b): plain(plan.expected[b][goal]) for b in sorted(plan.expected)},
        }
        if wanted is not None:
            need = plan.prices.budget_for(goal, wanted)
            facts["needed"] = {"half_width": wanted, "budget": need}
        goals.append(facts)
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "plan": plan.sheet.plan,
        "budget": len(design.order),
        "seed": design.seed,
        "unlabeled_prevalence": design.unlabeled_prevalence,
        "goals": goals,
        "strata": [
            {"edge": plain(edge), "unlabeled": int(rows), "reviews": int(size)}
            for edge, rows, size in zip(
                design.edges, design.n_unlabeled, design.sizes(), strict=True
            )
        ],
    }
    return write_document(document)
