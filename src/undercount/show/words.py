"""What the numbers mean, in plain words."""

import math
from dataclasses import asdict

from undercount.errors import Check
from undercount.estimate import Estimate
from undercount.metric_facts import FACTS
from undercount.read.evaluation import Evaluation, MetricRow

SAMPLING = {
    "single-sample": "single-sample (labelled rows are part of the sample)",
    "case-control": "case-control (labelled rows were drawn apart)",
}
INTERVALS = {
    "calibrated": "calibrated on simulated problems",
    # Coverage: the table in docs/evaluate.md.
    "bootstrap": "by resampling the whole calculation, which holds chance only and not the "
    "estimator's bias: in simulations such 95 % intervals held the true share in 82 to 94 % of the "
    "cases, the true metrics in 53 to 86 %",
    "combined": "calibrated and resampled",
}
# Below this the interval's width, relative to its value, does not undermine a conclusion.
ROBUST_WIDTH = 0.1
ROUNDING = 1e-9


def metric_title(metric: str) -> str:
    """Name a metric, or a share that stands among them, as people say it."""
    return FACTS[metric].title if metric in FACTS else metric.replace("_", " ")


def title(row: MetricRow) -> str:
    """Name a row as people say it."""
    name = metric_title(row.metric)
    return name if row.threshold is None else f"{name}@{row.threshold:g}"


def percent(share: float) -> str:
    """Write a share as a percentage with two significant digits."""
    digits = 0 if share >= 0.1 else 1 if share >= 0.01 else 2  # noqa: PLR2004 - readability
    return f"{100 * share:.{digits}f} %"


def number(value: float) -> str:
    """Write a metric; a dash where it does not exist."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def value_words(estimate: Estimate) -> str:
    """Write an estimate with its interval."""
    if math.isnan(estimate.value):
        return "– (does not exist here)"
    return f"{number(estimate.value)} ({number(estimate.low)} – {number(estimate.high)})"


def bound_words(row: MetricRow) -> str:
    """Write the value without hidden positives, "~" before it if it has the labels' chance."""
    if row.lower_bound is None:
        return ""
    return number(row.lower_bound) if row.certain else f"~{number(row.lower_bound)}"


def needs_words(row: MetricRow) -> str:
    """Say what a row rests on."""
    return ", ".join(row.estimate.needs) or "nothing"


def hidden_words(evaluation: Evaluation) -> str:
    """Say how many positives are hidden, how that is known, and what is ruled out."""
    shares = evaluation.shares
    span = shares.unlabeled_prevalence_interval
    ends = f" ({percent(span.low)} – {percent(span.high)})" if span else ""
    how = evaluation.source.replace("_", " ")
    if evaluation.estimates:
        how = f"estimated from {len(evaluation.estimates)} methods"
    if evaluation.estimates or evaluation.interval not in ("", "own", "calibrated"):
        how += f", interval {INTERVALS[evaluation.interval]}"
    level = f"{100 * evaluation.confidence_level:g} %"
    if evaluation.upper_bound < evaluation.largest_share:
        top = f"above {percent(evaluation.upper_bound)} ruled out ({level} confidence)"
    else:
        reverse = evaluation.naive_curve.roc_auc < 0.5  # noqa: PLR2004 - chance
        end = "fall below 0" if reverse else "pass 1"
        top = f"above {percent(evaluation.largest_share)} the ROC AUC would {end}"
    return f"{percent(shares.unlabeled_prevalence)} of the unlabeled rows{ends} · {how} · {top}"


def find(evaluation: Evaluation, metric: str) -> MetricRow | None:
    """Return the row of a metric, if the table has it."""
    return next((row for row in evaluation.rows if row.metric == metric), None)


def light(evaluation: Evaluation) -> str:
    """Judge the evaluation: "robust", "depends on the prevalence" or "not supported"."""
    if any(check.level == "fail" for check in evaluation.checks):
        return "not supported"
    lead = find(evaluation, "precision") or find(evaluation, "roc_auc")
    if lead is None or math.isnan(lead.estimate.value):
        return "not supported"
    relative = (lead.estimate.high - lead.estimate.low) / max(lead.estimate.value, 1e-12)
    warned = any(
        check.code in ("UC002", "UC010", "UC011")
        for check in evaluation.checks
        if check.level == "warn"
    )
    return "robust" if relative <= ROBUST_WIDTH and not warned else "depends on the prevalence"


def plain_words(evaluation: Evaluation) -> str:
    """Say in a sentence or two what the main number means."""
    if any(check.code == "UC001" and check.level == "fail" for check in evaluation.checks):
        return (
            "These numbers cannot all be right: the scores rule out so many positives among the "
            "unlabeled rows. Values of 1.000 show only that; do not report them."
        )
    precision = find(evaluation, "precision")
    if precision is not None and not math.isnan(precision.estimate.value):
        estimate = precision.estimate
        words = _flagged_words(evaluation, estimate)
        # In case-control data the naive precision is that of another mix of rows.
        single = evaluation.shares.sampling == "single-sample"
        if single and precision.naive < estimate.value and not _is_reversed(evaluation):
            words += (
                f' "Precision {percent(precision.naive)}" is too low because many "false alarms" '
                "are positives nobody has labelled yet."
            )
        return words
    area = find(evaluation, "roc_auc")
    if area is None:
        return ""
    estimate = area.estimate
    words = (
        f"A random positive scores above a random negative in {percent(estimate.value)} of the "
        f"cases ({percent(estimate.low)} – {percent(estimate.high)})."
    )
    if area.naive < estimate.value and not _is_reversed(evaluation):
        words += f' "AUC {area.naive:.3f}" is too low because unlabeled positives count as errors.'
    return words


def _flagged_words(evaluation: Evaluation, precision: Estimate) -> str:
    """Say how many of the flagged cases are real, in numbers that do not round to all or none."""
    of = 10 if 0.05 <= precision.value < 0.95 else 100  # noqa: PLR2004 - rounds to none or all of ten
    few, most = f"{of * precision.low:.0f}", f"{of * precision.high:.0f}"
    words = f"About {of * precision.value:.0f} of every {of} flagged cases are real"
    words += f" ({few} to {most})" if few != most else ""
    if any(check.code == "UC010" and check.level == "warn" for check in evaluation.checks):
        return words + ", if the scores are those of rows the model was not trained on."
    return words + "."


def _is_reversed(evaluation: Evaluation) -> bool:
    return any(check.code == "UC006" and check.level == "fail" for check in evaluation.checks)


def change_words(evaluation: Evaluation) -> str:
    """Say what would change the conclusion."""
    precision = find(evaluation, "precision")
    if precision is not None and not math.isnan(precision.estimate.value):
        if precision.estimate.value <= 0:
            return "another threshold: no row flagged at this one is estimated to be real"
        metric, goal = "precision", _round_goal(precision.estimate.value)
        found = evaluation.break_even("precision", goal, precision.threshold)
        name = f"precision ≥ {percent(goal)}"
    else:
        area = find(evaluation, "roc_auc")
        if area is None:
            return ""
        metric, goal = "roc_auc", math.floor(20 * area.estimate.value) / 20
        found = evaluation.break_even("roc_auc", goal)
        name = f"ROC AUC ≥ {goal:g}"
    if math.isnan(found.unlabeled_prevalence):
        return f"{name} holds at no share of hidden positives that the scores allow"
    parts = []
    if found.unlabeled_prevalence > 0:
        parts.append(f"hidden positives ≥ {percent(found.unlabeled_prevalence)}")
    if math.isfinite(found.odds_ratio):
        parts.append(f"labelling bias below Γ = {float(f'{found.odds_ratio:.2g}'):g}")
    if parts:
        return f"{name} holds while {' · '.join(parts)}"
    values = evaluation.sweep(metric)[metric]
    if (values < goal - ROUNDING).any():
        return f"{name} holds without hidden positives, but not with as many as the scores allow"
    return f"{name} holds whatever the prevalence"


def findings(evaluation: Evaluation) -> list[Check]:
    """Return the checks that failed or warn, the worst first."""
    bad = [check for check in evaluation.checks if check.level in ("fail", "warn")]
    return sorted(bad, key=lambda check: check.level != "fail")


def weakest_link(evaluation: Evaluation) -> str:
    """Name the assumption to worry about first."""
    bad = findings(evaluation)
    if bad:
        return f"{check_words(bad[0])} ({bad[0].code} {bad[0].level})"
    if evaluation.source == "estimated":
        return (
            "The prevalence is an estimate: verify a random sample of unlabeled rows. And are the "
            "labelled positives a fair sample of all positives?"
        )
    return "Are the labelled positives a fair sample of all positives?"


def check_facts(check: Check) -> dict[str, str]:
    """Return a check as plain values."""
    return {name: str(value) for name, value in asdict(check).items()}


def check_words(check: Check) -> str:
    """Write a check as sentences."""
    parts = [part[:1].upper() + part[1:] for part in (check.message, check.advice) if part]
    return "".join(part.rstrip(".") + ". " for part in parts).rstrip()


def _round_goal(value: float) -> float:
    """Return a round number somewhat below a value, as people set requirements."""
    below = 0.9 * value
    if below < 0.05:  # noqa: PLR2004 - else in steps of 5 %; here one digit
        step = 10.0 ** math.floor(math.log10(below))
        return math.floor(below / step) * step
    return math.floor(20 * below) / 20
