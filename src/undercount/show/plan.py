"""A plan of reviews as text and JSON: what each budget buys."""

from typing import Any

from undercount import __version__
from undercount.checks.percentages import percent
from undercount.count.arrays import row_words
from undercount.estimate import Interval
from undercount.infer.metric_name import place_words
from undercount.metric_facts import FACTS
from undercount.read.plan.expected_width import ExpectedWidths
from undercount.read.plan.goals import SUFFIX, metric_of
from undercount.read.plan.review_plan import ReviewPlan
from undercount.show.document import plain, write_document
from undercount.show.layout import TEXT_WIDTH, line, stack, too_wide, wrap
from undercount.show.spoken import LEAST_SPOKEN_HALF_WIDTH, half_width_words, metric_title
from undercount.show.text import check_facts

PLAN_SCHEMA = "undercount/plan/1"
# Strata round: a plan for 259 rows may need 257 of them.
STRATA_ROUNDING = 0.05


def goal_title(plan: ReviewPlan, goal: str) -> str:
    """Name a goal as people say it."""
    threshold, metric = plan.design.threshold, metric_of(goal)
    first = _title_at(metric, threshold)
    if not goal.endswith(SUFFIX):
        return first
    second = _title_at(metric, plan.widths.other_threshold)
    return f"difference of {first}" + ("" if second == first else f" and {second}")


def _title_at(metric: str, threshold: float | None) -> str:
    """Name a metric with its threshold, if it has one."""
    at_threshold = metric in FACTS and FACTS[metric].family == "threshold"
    return f"{metric_title(metric)}{place_words(threshold if at_threshold else None, None)}"


def as_text(plan: ReviewPlan, wanted: float | None = None, width: int = TEXT_WIDTH) -> str:
    """Write what was chosen, what it supposes, and what each budget buys."""
    ranges = plan.expected_range  # reads what is expected along with it
    design, budgets = plan.design, _worth_buying(plan)
    chosen = (
        f"{len(design.order):,} of {row_words(int(design.n_unlabeled.sum()))} without a label, in "
        f"{design.n_strata} strata of the score · seed {design.seed}"
    )
    lines = [line("Reviews", chosen, width=width)]
    lines.append(line("Supposed", _supposed_words(plan.widths), width=width))
    lines += [line("Check", str(check), width=width) for check in plan.checks]
    lines.append("")
    room = max([18, *(len(goal_title(plan, goal)) + 1 for goal in design.goal)])
    head = "".join(f"{budget:>9,}" for budget in budgets)
    table = [f" {'reviews buy':<{room}}{head}"]
    for goal in design.goal:
        for title, widths in _widths(plan, goal, budgets, ranges):
            cells = "".join(f"{half_width_words(width):>9}" for width in widths)
            table.append(f" {title:<{room}}{cells}")
    if too_wide(table, width):
        table = []
        for goal in design.goal:
            bought = [(f"{b:,} reviews buy", _bought_words(plan, goal, b)) for b in budgets]
            table += stack(goal_title(plan, goal), bought, width)
    lines += table
    if wanted is not None:
        for goal in design.goal:
            need = _round_need(plan.widths.budget_for(goal, wanted), len(design.order))
            least, most = plan.widths.budget_span(goal, wanted)
            goal_words = f"{goal_title(plan, goal)} {half_width_words(wanted)}"
            may = f" ({least:,} to {most:,})" if most > least else ""
            lines.append(wrap(f"{goal_words} needs about {need:,} reviews{may}", width))
    return "\n".join(lines)


def _supposed_words(widths: ExpectedWidths) -> str:
    """Say which share the widths suppose, and why they may be others."""
    supposed, words = f"{percent(widths.supposed)} of them are positive", widths.words
    if widths.further is not None:
        return f"{supposed}, by the verdicts so far"
    if widths.guessed:
        supposed += " (supposed for planning, not an estimate: labels and scores leave it open)"
    return (
        f"{supposed}, {words.supposes}. From … to …: what may come by the draw, if {words.may_be}, "
        "or if the share is off. Labels of the highest scores alone may double it, which verdicts "
        "then show; intervals hold whatever is supposed"
    )


def _widths(
    plan: ReviewPlan, goal: str, budgets: list[int], ranges: dict[int, dict[str, Interval]]
) -> list[tuple[str, list[float]]]:
    """Return the expected half-widths of a goal, and what they may well be where that is open."""
    widths = [(goal_title(plan, goal), [plan.expected[b][goal] for b in budgets])]
    spans = [ranges[b][goal] for b in budgets]
    if any(span.high > span.low for span in spans):
        widths.append(("  from", [span.low for span in spans]))
        widths.append(("  to", [span.high for span in spans]))
    return widths


def _bought_words(plan: ReviewPlan, goal: str, budget: int) -> str:
    """Write what a budget buys in one line."""
    words, spans = half_width_words(plan.expected[budget][goal]), plan.expected_range.get(budget)
    span = None if spans is None else spans[goal]
    if span is None or not span.high > span.low:
        return words
    return f"{words} ({half_width_words(span.low)} to {half_width_words(span.high)})"


def _round_need(need: int, chosen: int) -> int:
    """Return the rows chosen where the need is as many, but for what strata round."""
    return chosen if abs(need - chosen) <= STRATA_ROUNDING * chosen else need


def _worth_buying(plan: ReviewPlan) -> list[int]:
    """Return the budget asked for, and others up to where no interval is left to make narrower."""
    budget, budgets = len(plan.design.order), sorted(plan.expected)
    open_yet = [b for b in budgets if max(plan.expected[b].values()) >= LEAST_SPOKEN_HALF_WIDTH]
    return [b for b in budgets if b == budget or b in open_yet] or budgets[:1]


def as_json(plan: ReviewPlan, wanted: float | None = None) -> str:
    """Write the plan, without its rows, as JSON."""
    design = plan.design
    goals = []
    for goal in design.goal:
        facts: dict[str, Any] = {
            "goal": goal,
            "threshold": design.threshold,
            "expected_value": plain(plan.widths.value[goal]),
            "half_width": {str(b): plain(plan.expected[b][goal]) for b in sorted(plan.expected)},
            "half_width_range": {
                str(b): [plain(span[goal].low), plain(span[goal].high)]
                for b, span in sorted(plan.expected_range.items())
            },
        }
        if wanted is not None:
            need = plan.widths.budget_for(goal, wanted)
            ends = plan.widths.budget_span(goal, wanted)
            facts["needed"] = {"half_width": wanted, "budget": need, "budget_range": [*ends]}
        goals.append(facts)
    document = {
        "schema": PLAN_SCHEMA,
        "version": __version__,
        "plan": plan.sheet.plan,
        "budget": len(design.order),
        "seed": design.seed,
        "unlabeled_prevalence": plan.widths.supposed,
        "goals": goals,
        "checks": [check_facts(check) for check in plan.checks],
        "strata": [
            {"edge": plain(edge), "unlabeled": int(rows), "reviews": int(size)}
            for edge, rows, size in zip(
                design.edges, design.n_unlabeled, design.sizes(), strict=True
            )
        ],
    }
    return write_document(document)
