"""An evaluation as plain text: the table, and what its numbers mean in plain words."""

import math
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal, TypeAlias

from undercount.count.arrays import amount, row_words
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
# Metrics that are told for another prevalence.
DEPLOYED = ("precision", "f1", "accuracy", "average_precision")
CHANCE_BREAKS = ", but the chance of the labels alone may break it"


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
    if evaluation.chances is not None:
        return f"{percent(shares.unlabeled_prevalence)} of the unlabeled rows{ends} · {how}"
    if evaluation.estimates:
        how = f"estimated from {len(evaluation.estimates)} methods"
    if evaluation.estimates or evaluation.interval not in ("", "own", "calibrated"):
        how += f", interval {INTERVALS[evaluation.interval]}"
    if evaluation.share_model not in ("", evaluation.name):
        how += f", on the scores of {evaluation.share_model}"
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
    if evaluation.chances is None:
        return _share_words(evaluation)
    precision = find(evaluation, "precision")
    metric, threshold = ("roc_auc", None)
    if precision is not None and precision.estimate.value > 0:
        metric, threshold = "precision", precision.threshold
    goal = _round_goal(evaluation.estimate(metric, threshold).value)
    found = evaluation.break_even(metric, goal, threshold).odds_ratio
    name = f"{metric_title(metric)} ≥ {percent(goal)}"
    if math.isnan(found):
        return f"{name} may not hold: the chance of the labels alone may break it"
    if math.isinf(found):
        return f"{name} holds however wrong the odds of a label are"
    return f"{name} holds while the odds of a label are wrong by less than Γ = {found:.3g}"


def _share_words(evaluation: Evaluation) -> str:
    """Say at which share of hidden positives or bias of random labels the conclusion changes."""
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
        parts.append(f"labelling bias below Γ = {float(f'{found.odds_ratio:.3g}'):g}")
    followed = metric == "precision" or evaluation.shares.label_purity == 1
    doubt = CHANCE_BREAKS if followed and math.isnan(found.odds_ratio) else ""
    if parts:
        return f"{name} holds while {' · '.join(parts)}{doubt}"
    values = evaluation.sweep(metric)[metric]
    if (values < goal - ROUNDING).any():
        return f"{name} holds without hidden positives, but not with as many as the scores allow"
    return f"{name} holds whatever the prevalence{doubt}"


def deployed_words(evaluation: Evaluation) -> list[str]:
    """Say what the main metrics are where another share of rows is positive."""
    if evaluation.deploy_prevalence is None:
        return []
    rows = [row for row in evaluation.deployed() if row.metric in DEPLOYED]
    parts = " · ".join(f"{title(row)} {value_words(row.estimate)}" for row in rows)
    words = (
        f"Where {percent(evaluation.deploy_prevalence)} are positive, if positives and negatives "
        f"score there as here: {parts}"
    )
    return [words]


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
    if evaluation.chances is not None:
        return "Are the chances of a label right?"
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


WIDTH = 100
Style: TypeAlias = Literal["plain", "main", "warning"]
COLOURS = {"plain": "", "main": "bold", "warning": "yellow"}


def as_text(evaluation: Evaluation) -> str:
    """Write what was read and inferred, the table, and what it means."""
    return "\n".join(text for text, _ in styled_lines(evaluation))


def print_evaluation(evaluation: Evaluation, *, heading: bool = False) -> None:
    """Print an evaluation; colours follow NO_COLOR and whether stdout is a terminal."""
    from rich.console import Console  # noqa: PLC0415 - only for the terminal
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    with console.capture() as captured:  # rich would end the program if the reader has gone
        console.print()
        if heading:
            console.print(Text(f" {evaluation.name}", style="bold underline"))
        for text, style in styled_lines(evaluation):
            console.print(Text(text, style=COLOURS[style]))
    sys.stdout.write(captured.get())


def styled_lines(evaluation: Evaluation) -> list[tuple[str, Style]]:
    """Write the same line by line, with what each is."""
    blocks = [_facts(evaluation), _table(evaluation), _meaning(evaluation), _checks(evaluation)]
    lines: list[tuple[str, Style]] = []
    for block in blocks:
        lines += [("", "plain")] if lines and block else []
        lines += block
    return lines


def line(name: str, text: str, indent: int = 19) -> str:
    """Write a name and a text, wrapped beside it."""
    first = f" {name:<{indent - 2}} "
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * indent, break_long_words=False
    )


def _style(text: str, style: Style = "plain") -> list[tuple[str, Style]]:
    """Give a style to the first line of a text; what it is wrapped into is plain."""
    first, *more = text.split("\n")
    return [(first, style), *((text, "plain") for text in more)]


def _facts(evaluation: Evaluation) -> list[tuple[str, Style]]:
    counts = evaluation.counts
    read = (
        f"{row_words(counts.n_rows, weighted=counts.weighted)} · labelled positive "
        f"{amount(counts.n_positive)} · unlabeled {amount(counts.n_unlabeled)}"
    )
    if counts.n_negative:
        read += f" · labelled negative {amount(counts.n_negative)}"
    taken = f"{evaluation.shares.sampling} · higher score = more positive · intervals for the "
    taken += "data set" if evaluation.target == "dataset" else "population"
    if evaluation.shares.label_purity < 1:
        taken += f" · label purity {percent(evaluation.shares.label_purity)}"
    return [
        *_style(line("Read", read)),
        *_style(line("Taken", taken)),
        *_style(line("Hidden positives", hidden_words(evaluation))),
    ]


def _table(evaluation: Evaluation) -> list[tuple[str, Style]]:
    level = f"{100 * evaluation.confidence_level:g} %"
    width = max(18, *(len(title(row)) for row in evaluation.rows))
    # Negative values are longer; two spaces keep the columns apart.
    span = max(24, *(len(value_words(row.estimate)) + 2 for row in evaluation.rows))
    bounded = any(row.lower_bound is not None for row in evaluation.rows)
    least = f"{'at least':<10}" if bounded else ""
    lines = _style(
        f" {'':<{width}}{'unlabeled = negative':>22}  {f'true value ({level})':<{span}}{least}needs"
    )
    for row in evaluation.rows:
        value, needs = value_words(row.estimate), needs_words(row)
        least = f"{bound_words(row):<10}" if bounded else ""
        naive = number(row.naive)
        lines += _style(
            f" {title(row):<{width}}{naive:>22}  {value:<{span}}{least}{needs}",
            "main" if row.metric in ("precision", "roc_auc") else "plain",
        )
    for text in (*_flagged_lines(evaluation, width), *_bound_note(evaluation)):
        lines += _style(text)
    return lines


def _bound_note(evaluation: Evaluation) -> list[str]:
    """Explain the column of bounds."""
    if all(row.lower_bound is None for row in evaluation.rows):
        return []
    text = "at least: the value if no positive were hidden; more hidden ones only raise it"
    if any(row.lower_bound is not None and not row.certain for row in evaluation.rows):
        text += " (~ apart from the chance of the labels)"
    return [textwrap.fill(text, WIDTH, initial_indent=" ", subsequent_indent=" ")]


def _flagged_lines(evaluation: Evaluation, width: int) -> list[str]:
    precision = find(evaluation, "precision")
    if precision is None or precision.threshold is None:
        return []
    counts = evaluation.counts
    head = counts.score >= precision.threshold
    known = counts.positive[head].sum()
    flagged = known + counts.negative[head].sum() + counts.unlabeled[head].sum()
    if flagged == 0:
        return [f" {'flagged':<{width}}  no rows: nothing scores that high"]
    found = precision.estimate
    real, low, high = (
        amount(part) if counts.weighted else f"{part:,.0f}"
        for part in (flagged * found.value, flagged * found.low, flagged * found.high)
    )
    text = (
        f"{row_words(flagged, weighted=counts.weighted)} "
        f"({percent(flagged / counts.n_rows)}) · about {real} real ({low} – {high}), "
        f"{amount(known)} of them already known"
    )
    return (
        [f" {'flagged':<{width}}  {text}"] if evaluation.shares.sampling == "single-sample" else []
    )


def _meaning(evaluation: Evaluation) -> list[tuple[str, Style]]:
    return [
        *_style(line("In plain words", plain_words(evaluation)), "main"),
        *(
            each
            for words in deployed_words(evaluation)
            for each in _style(line("Elsewhere", words))
        ),
        *_style(line("What would change", change_words(evaluation))),
        *_style(line("Weakest link", weakest_link(evaluation))),
    ]


def _checks(evaluation: Evaluation) -> list[tuple[str, Style]]:
    """List what was found, but for the first, which is the weakest link."""
    lines = []
    for check in findings(evaluation)[1:]:
        lines += _style(line(f"{check.code} {check.level}", check_words(check)), "warning")
    return lines


def truth_text(
    evaluations: Sequence[Evaluation], truths: Sequence[Sequence[float]], hidden: float
) -> str:
    """Compare each row of the tables with its true value, for data whose truth is known."""
    lines = ["", f" {'The hidden truth':<34}{'naive':>8}{'estimate':>10}{'truth':>8}   inside?"]
    for evaluation, values in zip(evaluations, truths, strict=True):
        for row, value in zip(evaluation.rows, values, strict=True):
            inside = "yes" if value in row.estimate.interval else "no"
            name = f"{evaluation.name} {title(row)}"
            numbers = f"{row.naive:>8.3f}{row.estimate.value:>10.3f}{value:>8.3f}"
            lines.append(f" {name:<34}{numbers}   {inside}")
    lines.append(f" hidden positives among the unlabeled: {percent(hidden)} in truth")
    return "\n".join(lines)
