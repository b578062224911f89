"""What the numbers mean, in plain words."""

import math

from undercount.evaluation import Evaluation
from undercount.scorecard import MetricRow

TITLES = {
    "roc_auc": "ROC AUC",
    "average_precision": "average precision",
    "lift_auc": "lift AUC",
    "f1": "F1",
    "mcc": "MCC",
}
SAMPLING = {
    "single-sample": "single-sample (labelled rows are part of the sample)",
    "case-control": "case-control (labelled rows were drawn apart)",
}
# Below this the interval's width, relative to its value, does not undermine a conclusion.
ROBUST_WIDTH = 0.1


def title(row: MetricRow) -> str:
    """Name a row as people say it."""
    name = TITLES.get(row.metric, row.metric.replace("_", " "))
    return name if row.threshold is None else f"{name}@{row.threshold:g}"


def whole(value: float) -> str:
    """Write a number of rows."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def percent(share: float) -> str:
    """Write a share as a percentage with two significant digits."""
    digits = 0 if share >= 0.1 else 1 if share >= 0.01 else 2  # noqa: PLR2004 - readability
    return f"{100 * share:.{digits}f} %"


def hidden_words(evaluation: Evaluation) -> str:
    """Say how many positives are hidden and how that is known."""
    shares = evaluation.shares
    span = shares.unlabeled_prevalence_interval
    ends = f" ({percent(span.low)} – {percent(span.high)})" if span else ""
    how = evaluation.source.replace("_", " ")
    if evaluation.estimates:
        how = f"estimated from {len(evaluation.estimates)} methods"
    top = f" · ruled out: above {percent(evaluation.largest_share)}"
    return f"{percent(shares.unlabeled_prevalence)}{ends} · {how}{top}"


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
        check.code in ("UC002", "UC011") for check in evaluation.checks if check.level == "warn"
    )
    return "robust" if relative <= ROBUST_WIDTH and not warned else "depends on the prevalence"


def plain_words(evaluation: Evaluation) -> str:
    """Say in a sentence or two what the main number means."""
    precision = find(evaluation, "precision")
    if precision is not None and not math.isnan(precision.estimate.value):
        estimate = precision.estimate
        words = f"About {10 * estimate.value:.0f} of every 10 flagged cases are real."
        if precision.naive < estimate.value and not _reversed(evaluation):
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
    if area.naive < estimate.value and not _reversed(evaluation):
        words += f' "AUC {area.naive:.3f}" is too low because unlabeled positives count as errors.'
    return words


def _reversed(evaluation: Evaluation) -> bool:
    return any(check.code == "UC006" and check.level == "fail" for check in evaluation.checks)


def change_words(evaluation: Evaluation) -> str:
    """Say what would change the conclusion."""
    precision = find(evaluation, "precision")
    if precision is not None and not math.isnan(precision.estimate.value):
        goal = _round_goal(precision.estimate.value)
        found = evaluation.break_even("precision", goal, precision.threshold)
        name = f"precision ≥ {percent(goal)}"
    else:
        area = find(evaluation, "roc_auc")
        if area is None:
            return ""
        goal = math.floor(20 * area.estimate.value) / 20
        found = evaluation.break_even("roc_auc", goal)
        name = f"ROC AUC ≥ {goal:g}"
    parts = []
    if found.unlabeled_prevalence > 0:
        parts.append(f"hidden positives ≥ {percent(found.unlabeled_prevalence)}")
    if math.isfinite(found.odds_ratio):
        parts.append(f"labelling bias below Γ = {found.odds_ratio:.2g}")
    return (
        f"{name} holds while {' · '.join(parts)}"
        if parts
        else f"{name} holds whatever the prevalence"
    )


def weakest_link(evaluation: Evaluation) -> str:
    """Name the assumption to worry about first."""
    bad = [check for check in evaluation.checks if check.level in ("fail", "warn")]
    bad.sort(key=lambda check: check.level != "fail")
    if bad:
        return f"{bad[0].message}. {bad[0].advice}"
    if evaluation.source == "estimated":
        return (
            "The prevalence is an estimate: verify a random sample of unlabeled rows. And are the "
            "labelled positives a fair sample of all positives?"
        )
    return "Are the labelled positives a fair sample of all positives?"


def _round_goal(value: float) -> float:
    """Return a round number somewhat below a value, as people set requirements."""
    return max(0.05, math.floor(20 * value * 0.9) / 20)
