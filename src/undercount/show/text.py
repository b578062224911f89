"""An evaluation as plain text: the table, and what its numbers mean in plain words."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal, TypeAlias

import numpy as np

from undercount.checks.percentages import ROUNDING, percent
from undercount.count.arrays import amount, row_words
from undercount.errors import CODES, Check
from undercount.estimate import WIDE_INTERVAL, Estimate
from undercount.infer.heads import ranked_rows, top_rows
from undercount.infer.labelled import naive_area
from undercount.infer.metric_name import short_number, top_words
from undercount.infer.metric_row import MetricRow
from undercount.metric_facts import RIGHT_LABELS
from undercount.read.cost_curve import cost_curve
from undercount.read.evaluation import Evaluation
from undercount.read.plan.review_gain import WORTH
from undercount.show.bias import bias_lines
from undercount.show.costs import SHOWN_THRESHOLDS as SHOWN_COSTS
from undercount.show.costs import cost_table, cost_words
from undercount.show.layout import TEXT_WIDTH, line, stack, terminal_width, too_wide, wrap
from undercount.show.spoken import (
    half_width_words,
    metric_title,
    number,
    numbers,
    rows_words,
    title,
)
from undercount.show.verdict_words import (
    change_words,
    claim_words,
    hidden_texts,
    judged_words,
    light_words,
)

SAMPLING_WORDS = {
    "single-sample": "single-sample (labelled rows are part of the sample)",
    "case-control": "case-control (labelled rows were drawn apart)",
}
INTERVAL_WORDS = {
    "calibrated": "calibrated on simulated problems",
    # Coverage: the table in docs/evidence/estimated-share.md.
    "bootstrap": "by resampling the whole calculation, which holds chance only and not the "
    "estimator's bias: in simulations such 95 % intervals held the true share in 80 to 95 % of the "
    "cases, the true metrics in 56 to 92 %",
    "combined": "calibrated and resampled",
}
# What a share of the flagged cases is said of: ten, unless that would round to none or all.
CASES = tuple(10**power for power in range(1, 7))
# Metrics that are told for another prevalence.
DEPLOYED = ("precision", "f1", "accuracy", "average_precision")
ASIDE = (CODES["ties"], CODES["saturation"], CODES["warned"], CODES["rounding"])
# What a share of two sources rests on.
SOURCES = (
    "Do the sources find positives independently of each other? If both prefer the same ones, more "
    "are hidden than they tell (--dependence 1-3 tries it)."
)
# Checks that doubt a share which was estimated.
SHARE_DOUBTS = tuple(CODES[name] for name in ("agreement", "identified", "many-hidden"))
# What settles a share that labels and scores leave open.
SETTLED = "a known prevalence or reviews settle it"
# Checks of doubts that verdicts on some rows would settle.
REVIEWABLE = ("UC001", "UC002", "UC003", "UC007", "UC008", "UC011", "UC017")


def value_words(estimate: Estimate) -> str:
    """Write an estimate with its interval."""
    if estimate.range_only:
        return " – ".join(numbers(estimate.low, estimate.high))
    if estimate.open:
        return "– (cannot be said yet)"
    if math.isnan(estimate.value):
        return "– (does not exist here)"
    value, low, high = numbers(estimate.value, estimate.low, estimate.high)
    return f"{value} ({low} – {high})"


def bound_words(row: MetricRow) -> str:
    """Write the value without hidden positives, "~" before it if it has the labels' chance."""
    if row.lower_bound is None:
        return ""
    return number(row.lower_bound) if row.certain else f"~{number(row.lower_bound)}"


def needs_words(row: MetricRow) -> str:
    """Say what a row rests on, but for right labels, of which a note below tells once."""
    return ", ".join(need for need in row.estimate.needs if need != RIGHT_LABELS) or "nothing"


def supposed_words(evaluation: Evaluation) -> str:
    """Say what all numbers rest on."""
    scores = "scores of rows that the model was not trained on"
    if not evaluation.recovery.supposes_right_labels:
        return f"All of it needs {scores}."
    return f"All of it needs right labels (no negative is labelled positive) and {scores}."


def hidden_words(evaluation: Evaluation, *, claiming: bool = True) -> str:
    """Say how many positives are hidden, how that is known, and what is ruled out.

    Beside a verdict the share has the digits that tell it from where the claim starts to hold.
    """
    shares, how = evaluation.shares, _source_words(evaluation)
    span = shares.unlabeled_prevalence_interval
    taken, ruled = hidden_texts(evaluation, claiming=claiming)
    if span is not None and evaluation.unknowns.range_only:
        return (
            f"0 – {percent(span.high)} of the unlabeled rows · labels and scores cannot tell how "
            f"many: {SETTLED} · {how} · {_limit_words(evaluation, ruled)}"
        )
    within = f" ({percent(span.low)} – {percent(span.high)})" if span else ""
    words = f"{taken} of the unlabeled rows{within} · {how}"
    words += f" · {evaluation.basis.whole}" if evaluation.basis.whole else ""
    # What scores rule out supposes random labels, which reviews alone do not.
    return f"{words} · {_limit_words(evaluation, ruled)}" if evaluation.basis.limited else words


def _source_words(evaluation: Evaluation) -> str:
    """Say how the share is known."""
    if evaluation.basis.source:
        return evaluation.basis.source
    how = evaluation.source.replace("_", " ")
    if evaluation.share_estimates:
        how = f"estimated from {len(evaluation.share_estimates)} methods"
    if evaluation.share_estimates or evaluation.unknowns.interval not in ("", "own", "calibrated"):
        how += f", interval {INTERVAL_WORDS[evaluation.unknowns.interval]}"
    if evaluation.unknowns.model not in ("", evaluation.name):
        how += f", on the scores of {evaluation.unknowns.model}"
    return how


def _limit_words(evaluation: Evaluation, limit: str) -> str:
    """Say the one limit of the share, and what sets it."""
    if naive_area(evaluation.counts, "roc_auc") < 0.5:  # noqa: PLR2004 - chance
        return f"above {limit} ruled out: the ROC AUC would fall below 0 beyond chance"
    return f"above {limit} ruled out if labels are random ({100 * evaluation.confidence_level:g} %)"


def find(evaluation: Evaluation, metric: str) -> MetricRow | None:
    """Return the row of a metric, if the table has it."""
    return next((row for row in evaluation.rows if row.metric == metric), None)


def main_row(evaluation: Evaluation) -> MetricRow | None:
    """Return the row that leads: precision where rows are flagged, or else the ROC AUC."""
    top = (row for row in evaluation.top_rows if row.metric == "precision")
    return find(evaluation, "precision") or next(top, None) or find(evaluation, "roc_auc")


def plain_words(evaluation: Evaluation) -> str:
    """Say in a sentence or two what the main number means, and that no claim rests on it if so."""
    if any(
        check.code == "UC001" and check.level in ("warn", "fail") for check in evaluation.checks
    ):
        return (
            "These numbers cannot all be right: at some scores there would be more positives than "
            f"rows. {_ceiling_words(evaluation)}Do not report them."
        )
    main = _said_row(evaluation)
    if main is None:
        return ""
    flagged = main.metric == "precision"
    if main.estimate.open:
        what = "how many of the flagged cases are real" if flagged else "how well the scores rank"
        return f"Verdicts are too few to say {what}."
    say = _flagged_words if flagged else _ranking_words
    words = say(evaluation, main.estimate)
    if main.estimate.range_only:
        words = f"If the known positives are a fair sample, {words[0].lower()}{words[1:]}"
    return f"{words}{_naive_words(evaluation, main)}{support_words(evaluation)}"


def _said_row(evaluation: Evaluation) -> MetricRow | None:
    """Return the row that is said in words: the leading one, or the ROC AUC where that is 0/0."""
    main = main_row(evaluation)
    if main is None or not main.estimate.exists:
        return find(evaluation, "roc_auc")
    return main


def _naive_words(evaluation: Evaluation, main: MetricRow) -> str:
    """Say why the naive value is too low, if it is."""
    # In case-control data the naive precision is that of another mix of rows.
    comparable = main.metric != "precision" or evaluation.shares.sampling == "single-sample"
    forbidden = evaluation.verdict.reason is not None or _is_reversed(evaluation)
    if not comparable or forbidden or not main.naive < main.estimate.low:
        return ""
    given = evaluation.basis.premise
    if main.metric == "precision":
        return (
            f' {given}"precision {percent(main.naive)}" is too low: '
            f"{evaluation.basis.naive.precision}."
        )
    return f' {given}"AUC {main.naive:.3f}" is too low: {evaluation.basis.naive.area}.'


def support_words(evaluation: Evaluation) -> str:
    """Say that the main number supports no claim, or not the one that was set on it, if so."""
    verdict, main = evaluation.verdict, _said_row(evaluation)
    claim = verdict.claim
    if verdict.light != "unsupported" or main is None:
        return ""
    if verdict.reason is not None:
        return f" Nothing can be claimed while {verdict.reason.code} stands."
    if claim is None:
        return " The number supports no claim."
    claimed, place = claim.name, (main.metric, main.threshold, main.top)
    if (
        claimed.metric,
        claimed.threshold,
        claimed.top,
    ) != place or claim.deploy_prevalence is not None:
        return ""
    return f" The number does not support {claim_words(claim, evaluation.threshold)}."


def _ranking_words(evaluation: Evaluation, area: Estimate) -> str:
    """Say how often a positive scores above a negative."""
    value, low, high = map(percent, (area.value, area.low, area.high))
    said = f"{value} of the cases ({low} – {high})"
    if area.wide or (evaluation.recovery.share_estimated and low != high):
        said = f"{low} to {high} of the cases"
    doubt = share_doubt_words(evaluation) if "prevalence" in area.needs else ""
    return f"A random positive scores above a random negative in {said}{doubt}."


def share_doubt_words(evaluation: Evaluation) -> str:
    """Say that what follows from an estimated share is no better known than it; nothing if sure."""
    codes = [
        check.code
        for check in evaluation.checks
        if check.code in SHARE_DOUBTS and check.level == "warn"
    ]
    if not codes or not evaluation.recovery.share_estimated or evaluation.unknowns.range_only:
        return ""
    return f", if the estimated share is right, which {codes[0]} doubts"


def _ceiling_words(evaluation: Evaluation) -> str:
    """Say what a value at the end of its range shows where the share does not fit, if one is."""
    full = any(number(row.estimate.value) == "1.000" for row in evaluation.rows)
    return "Values of 1.000 show only that. " if full else ""


def _flagged_words(evaluation: Evaluation, precision: Estimate) -> str:
    """Say how many of the flagged cases are real, and what that supposes of the scores."""
    hangs = evaluation.recovery.share_estimated and "prevalence" in precision.needs
    words = case_words(precision, estimated=hangs)
    words += share_doubt_words(evaluation) if hangs else ""
    if any(check.code == "UC010" and check.level == "warn" for check in evaluation.checks):
        return words + ", if the scores are those of rows the model was not trained on."
    return words + "."


def case_words(share: Estimate, *, estimated: bool = False) -> str:
    """Say how many flagged cases are real, of so many that nothing rounds to all or none.

    The range alone where it is wide, or where the number hangs on a share that is only `estimated`:
    a single number would be taken for known.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.show.text import case_words
    >>> case_words(Estimate(0.78, 0.71, 0.86))
    'About 8 of every 10 flagged cases are real (7 to 9)'
    >>> case_words(Estimate(0.957, 0.918, 0.979))
    'About 96 of every 100 flagged cases are real (92 to 98)'
    """
    if share.range_only:
        return _range_words(share)
    values = (share.low, share.value, share.high)
    of = next((of for of in CASES if all(_speaks(of, value) for value in values)), CASES[-1])
    few, middle, most = (_nearest(of * value) for value in values)
    if middle in (0, of):  # no estimate is sure of all, or of none
        return _end_words(share, sure=few == most)
    if most - few >= WIDE_INTERVAL * of or (estimated and few != most):
        return f"Between {few} and {most} of every {of} flagged cases are real"
    span = f" ({few} to {most})" if few != most else ""
    return f"About {middle} of every {of} flagged cases {'is' if middle == 1 else 'are'} real{span}"


def _range_words(share: Estimate) -> str:
    """Say how many flagged cases are real where a range is all that is known."""
    ends = (share.low, share.high)
    of = next((of for of in CASES if all(_speaks(of, value) for value in ends)), CASES[-1])
    few, most = (_nearest(of * value) for value in ends)
    if few == most:
        return f"About {few} of every {of} flagged cases are real"
    return f"Between {few} and {most} of every {of} flagged cases are real"


def _end_words(share: Estimate, *, sure: bool) -> str:
    """Say the other end of an interval whose value is all or none of the cases."""
    most = share.value > 0.5  # noqa: PLR2004 - all rather than none
    if sure:
        return "All flagged cases are real" if most else "No flagged case is real"
    cut, end = (math.floor, share.low) if most else (math.ceil, share.high)
    of = next((of for of in CASES if 0 < cut(of * end) < of), CASES[-1])
    return f"At {'least' if most else 'most'} {cut(of * end)} of every {of} flagged cases are real"


def _speaks(of: int, value: float) -> bool:
    """Whether a share of so many cases is not all or none by rounding alone."""
    return 0 < _nearest(of * value) < of or value <= ROUNDING or value >= 1 - ROUNDING


def _nearest(value: float) -> int:
    """Round as the page's script does: halves go up."""
    return math.floor(value + 0.5)


def _is_reversed(evaluation: Evaluation) -> bool:
    return any(check.code == "UC006" and check.level == "fail" for check in evaluation.checks)


def findings(evaluation: Evaluation) -> list[Check]:
    """Return the checks that failed or warn, the worst first."""
    bad = [check for check in evaluation.checks if check.level in ("fail", "warn")]
    return sorted(bad, key=lambda check: check.level != "fail")


def weakest_check(evaluation: Evaluation) -> Check | None:
    """Return the worst check but for ties, tops and what estimators warned of, listed apart.

    Such a warning speaks of some scores or one number, and must not hide the question how rows
    were labelled, nor the reviews that would settle it.
    """
    return next((check for check in findings(evaluation) if check.code not in ASIDE), None)


def weakest_link(evaluation: Evaluation) -> str:
    """Name the assumption to worry about first, and what would settle it at which gain."""
    bad = weakest_check(evaluation)
    if bad is not None:
        words = f"{check_words(bad)} ({bad.code} {bad.level})"
        return words + (review_words(evaluation) if bad.code in REVIEWABLE else "")
    fair = "Are the labelled positives a fair sample of all positives?"
    if evaluation.basis.question:
        return evaluation.basis.question
    return _share_question(evaluation, fair) + review_words(evaluation)


def _share_question(evaluation: Evaluation, fair: str) -> str:
    """Ask whether the labels are fair, and before that of a share that is only estimated."""
    if evaluation.source == "estimated" and evaluation.verdict.light == "robust":
        fair += " The value, though not the claim, rests on an estimated prevalence too."
    elif evaluation.unknowns.needs:
        fair = f"{SOURCES} And {fair[0].lower()}{fair[1:]}"
    elif evaluation.unknowns.range_only:
        open_share = "Labels and scores cannot tell how many positives are hidden."
        fair = f"{open_share} And {fair[0].lower()}{fair[1:]}"
    elif evaluation.source == "estimated":
        # Known negatives tell the share without this; methods that read shapes need it.
        high = ", too high if negatives reach the best scores" if evaluation.share_estimates else ""
        fair = f"The prevalence is an estimate{high}. And {fair[0].lower()}{fair[1:]}"
    return fair


def review_words(evaluation: Evaluation) -> str:
    """Write the command that chooses rows to look at, and what their verdicts would buy."""
    gain = evaluation.review_gain
    if gain is None or gain.before < SHARP:
        return ""
    at = "" if evaluation.threshold is None else short_number(evaluation.threshold)
    # The plan is for the metric whose gain is promised.
    top = evaluation.top
    if evaluation.origin:
        cut = f" --threshold {at}" if at else ""
        cut = cut if top is None else f" --top {top_words(top).replace(',', '')}"
        command = (
            f"undercount plan {evaluation.origin}{cut} --goal {gain.metric} "
            f"--budget {gain.budget} --out review.csv"
        )
    else:
        if top is not None:
            at = f"np.sort(score)[-{math.ceil(top_rows(evaluation.counts, top))}]"
        cut = f", threshold={at}" if at else ""
        coded = (
            "" if evaluation.unlabeled is None else f", unlabeled={float(evaluation.unlabeled):g}"
        )
        goal = f', goal="{gain.metric}"'
        share = _given_words(evaluation)
        command = f"uc.plan_reviews(y, score{coded}, budget={gain.budget}{cut}{goal}{share})"
    name = metric_title(gain.metric)
    if gain.helps:
        bought = f"{name} {half_width_words(gain.before)} → {half_width_words(gain.after)}"
    else:  # no narrower, and nothing is supposed of labels and share
        bought = f"{name} {half_width_words(gain.after)} whatever the labels"
    return f" → {command}   {bought}"


def _given_words(evaluation: Evaluation) -> str:
    """Write the share that was given as one number, for the plan to suppose."""
    name, value = evaluation.shares.stated(evaluation.counts)
    one = evaluation.shares.unlabeled_prevalence_interval is None
    was_given = evaluation.unknowns.given and one and name != "label_frequency"
    return f", {name}={value:.6g}" if was_given else ""  # the plan supposes it, and rounds nothing


# Half the width of an interval that nobody needs to make narrower.
SHARP = 0.005


def lacking_words(evaluation: Evaluation) -> str:
    """Say which metrics have too few verdicts, and how many would do; nothing if none has."""
    lacking = evaluation.lacking_reviews
    if lacking is None:
        return ""
    said = (("too few to say", lacking.silent), ("leave a wide range of", lacking.wide))
    parts = (f"{what} {', '.join(title(row) for row in rows)}" for what, rows in said if rows)
    words, row, number = ", and ".join(parts), lacking.row, lacking.needed
    if not number:
        return words
    goal = f"--goal {row.metric}" if evaluation.origin else f"goal={row.metric!r}"
    many = f"{number[0]:,} to {number[1]:,}" if number[1] > number[0] else f"{number[0]:,}"
    does = f"would do for {title(row)} (± {WORTH:g})"
    if lacking.same_plan:
        return f"{words}: about {many} more, planned with {goal} and these reviews, {does}"
    return (
        f"{words}: about {many} planned with {goal} {does}, by the share that verdicts show; a "
        "plan without them goes by its own"
    )


ANSWERS = {"any": "reviews alone", "random": "with random labels"}


def labels_words(evaluation: Evaluation) -> str:
    """Say whether labels look like a random sample of the positives, and which answer leads."""
    review = evaluation.basis.review
    if review is None or review.found is None:
        return "not used: the answer rests on the reviews alone"
    hits, leads = review.found, review.labels
    test = f"(p = {hits.p_value:.2g})"
    random = "--labels random" if evaluation.origin else 'Reviewed(…, labels="random")'
    if hits.rejected:
        alone = "the table rests on the reviews alone"
        agreement = f"the table uses it all the same, as {random} says"
        return (
            f"do not look like a random sample: they score unlike the positives found {test}; the "
            f"sharper answer is not to be used; {alone if leads == 'any' else agreement}"
        )
    if hits.undecided:
        words = (
            "the reviews cannot tell yet whether labels are a random sample of the positives "
            f"({hits.words}; {hits.further_words})"
        )
    else:
        words = f"show no difference from a random sample of the positives {test}"
    if leads == "random":
        return f"{words}; the table takes them for one"
    few = ", but the test sees little with so few" if hits.weak and not hits.undecided else ""
    return f"{words}{few}; the table does not rest on it. If you know that they are one: {random}"


def before_words(before: Evaluation, after: Evaluation) -> str:
    """Say what reviews have changed."""
    row, old = main_row(after), main_row(before)
    if row is None or old is None or row.metric != old.metric:
        return ""
    return f"{title(row)} {value_words(old.estimate)} → {value_words(row.estimate)}"


def check_facts(check: Check) -> dict[str, str]:
    """Return a check as plain values."""
    return {name: str(value) for name, value in asdict(check).items()}


def check_words(check: Check) -> str:
    """Write a check as sentences."""
    parts = [part[:1].upper() + part[1:] for part in (check.message, check.advice) if part]
    return "".join(part.rstrip(".") + ". " for part in parts).rstrip()


Style: TypeAlias = Literal["plain", "main", "warning"]


def as_text(evaluation: Evaluation) -> str:
    """Write what was read and inferred, the table, and what it means."""
    return "\n".join(text for text, _ in styled_lines(evaluation))


def styled_lines(evaluation: Evaluation, width: int = TEXT_WIDTH) -> list[tuple[str, Style]]:
    """Write the same line by line, with what each is."""
    blocks = [
        part(evaluation, width)
        for part in (_facts, _table, _bias, _costs, _reviews, _meaning, _checks)
    ]
    lines: list[tuple[str, Style]] = []
    for block in blocks:
        lines += [("", "plain")] if lines and block else []
        lines += block
    return lines


def _style(text: str, style: Style = "plain") -> list[tuple[str, Style]]:
    """Give a style to the first line of a text; what it is wrapped into is plain."""
    first, *more = text.split("\n")
    return [(first, style), *((text, "plain") for text in more)]


def _facts(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
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
    if evaluation.recovery.clusters is not None:
        taken += f" · {evaluation.recovery.clusters.n_clusters:,} clusters"
    lines = [
        *_style(line("Read", read, width=width)),
        *_style(line("Taken", taken, width=width)),
        *_style(line("Hidden positives", hidden_words(evaluation), width=width)),
    ]
    for check in evaluation.checks:  # one that warns stands below, with the others
        if check.code == "UC020" and check.level == "ok":
            lines += _style(line("Clusters", check.message, width=width))
    missing = missing_words(evaluation)
    return lines + _style(line("Threshold", missing, width=width)) if missing else lines


def missing_words(evaluation: Evaluation) -> str:
    """Say what a run without a threshold lacks, and suggest one; nothing if there is one."""
    if evaluation.threshold is not None:
        return ""
    counts = evaluation.counts
    rows = (counts.positive + counts.negative + counts.unlabeled).cumsum()
    place = int(np.argmin(np.abs(rows - counts.n_positive)))
    if evaluation.top_rows:
        top = evaluation.top or 0.0
        apart = evaluation.shares.sampling == "case-control"
        counts = evaluation.recovery.counts_for_top
        number = top_rows(counts, top, apart=apart)
        total = float(ranked_rows(counts, apart=apart).sum())
        return (
            f"none given: precision and recall are those of the {amount(number)} highest rows "
            f"({percent(number / total)})"
        )
    return (
        "none given, so precision, recall and F1 are missing · "
        f"{counts.score[place]:.6g} would flag {row_words(rows[place], weighted=counts.weighted)}, "
        f"about as many as are known to be positive ({amount(counts.n_positive)})"
    )


def _bias(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
    """Show where metrics may lie if labels prefer some positives, if a bias was given."""
    if evaluation.odds_ratio is None:
        return []
    return [(text, "plain") for text in bias_lines(evaluation, width)]


def _costs(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
    """Say what errors cost, and show it along a few thresholds, if costs were given."""
    if evaluation.costs is None:
        return []
    curve = cost_curve(evaluation, evaluation.costs, SHOWN_COSTS)
    head, rows = cost_table(curve)
    sizes = [max(len(row[place]) for row in [head, *rows]) + 2 for place in range(len(head))]
    lines = [
        "".join(f"{cell:<{size}}" for cell, size in zip(row, sizes, strict=True)).rstrip()
        for row in [head, *rows]
    ]
    lines = [f" {text}" for text in lines]
    if too_wide(lines, width):
        lines = [f" {name}: {cell}" for row in rows for name, cell in zip(head, row, strict=True)]
    words = _style(line("Costs", cost_words(curve), width=width))
    return [*words, *((text, "plain") for text in lines)]


def _table(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
    """Write the table; without room for what each row needs that is said below, or rows stack."""
    rows = (*evaluation.rows, *evaluation.top_rows)
    names = [title(row) for row in rows]
    room = max(18, *map(len, names))
    lines, more = _table_lines(evaluation, rows, names, room), []
    if too_wide(lines, width):
        lines = _table_lines(evaluation, rows, names, room, needs=False)
        more = _needs_lines(rows, width)
    styles: list[Style] = [
        "main" if row.metric in ("precision", "roc_auc") else "plain" for row in rows
    ]
    if too_wide(lines, width):
        stacked = [_stacked_row(evaluation, row, width) for row in rows]
        styled = [
            styled_line
            for text, style in zip(stacked, styles, strict=True)
            for styled_line in _style(text, style)
        ]
        more = []
    else:
        styled = list(zip(lines, ["plain", *styles], strict=True))
    for text in (*more, *_flagged_lines(evaluation, room, width), *_bound_note(evaluation, width)):
        styled += _style(text)
    return styled


def _table_lines(
    evaluation: Evaluation,
    rows: Sequence[MetricRow],
    names: Sequence[str],
    room: int,
    *,
    needs: bool = True,
) -> list[str]:
    """Write head and rows side by side; `room` is that of the names."""
    level = f"{100 * evaluation.confidence_level:g} %"
    naive = [number(row.naive) for row in rows]
    answers = [value_words(row.estimate) for row in rows]
    # Negative values are longer; two spaces keep the columns apart.
    span = max([24, *(len(answer) + 2 for answer in answers)])
    bounded = any(row.lower_bound is not None for row in rows)
    head = evaluation.basis.naive.title
    cells = [("", head, f"true value ({level})", "at least", "needs")]
    cells += zip(names, naive, answers, map(bound_words, rows), map(needs_words, rows), strict=True)
    return [
        f" {name:<{room}}{naive:>22}  {value:<{span}}"
        + (f"{least:<10}" if bounded else "")
        + (need if needs else "")
        for name, naive, value, least, need in cells
    ]


def _stacked_row(evaluation: Evaluation, row: MetricRow, width: int) -> str:
    cells = [
        (evaluation.basis.naive.title, number(row.naive)),
        (f"true ({100 * evaluation.confidence_level:g} %)", value_words(row.estimate)),
        ("at least", bound_words(row)),
        ("needs", needs_words(row)),
    ]
    return "\n".join(stack(title(row), cells, width))


def _needs_lines(rows: Sequence[MetricRow], width: int) -> list[str]:
    """Say once for all rows that need the same what they need."""
    needing: dict[str, list[str]] = {}
    for row in rows:
        needing.setdefault(needs_words(row), []).append(title(row))
    return [
        line("needs", f"{needs}: {', '.join(names)}", width=width)
        for needs, names in needing.items()
    ]


def _reviews(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
    """List both answers, and the test that chooses between them."""
    answers = evaluation.both_answers
    if not answers:
        return []
    room = max([18, *(len(title(row)) + 1 for row, _ in answers)])
    kinds = list(answers[0][1])
    lines = [f" {'':<{room}}" + "".join(f"{ANSWERS[kind]:<30}" for kind in kinds).rstrip()]
    for row, answer in answers:
        cells = "".join(f"{value_words(answer[kind]):<30}" for kind in kinds)
        lines.append(f" {title(row):<{room}}{cells}".rstrip())
    if too_wide(lines, width):
        lines = []
        for row, answer in answers:
            said = [(ANSWERS[kind], value_words(answer[kind])) for kind in kinds]
            lines += stack(title(row), said, width)
    lines.append(line("Labels", labels_words(evaluation), width=width))
    lacking = lacking_words(evaluation)
    lines += [line("Reviews", lacking, width=width)] if lacking else []
    return [styled for text in lines for styled in _style(text)]


def _bound_note(evaluation: Evaluation, width: int) -> list[str]:
    """Explain the column of bounds, and say what all numbers rest on."""
    supposed = wrap(supposed_words(evaluation), width)
    if all(row.lower_bound is None for row in evaluation.rows):
        return [supposed]
    text = (
        "at least: the value if no positive were hidden and every label is right; more hidden ones "
        "only raise it"
    )
    if any(row.lower_bound is not None and not row.certain for row in evaluation.rows):
        text += " (~ before chance, so that a range may begin below it)"
    return [wrap(text, width), supposed]


def _flagged_lines(evaluation: Evaluation, room: int, width: int) -> list[str]:
    precision = find(evaluation, "precision")
    if precision is None or precision.threshold is None:
        return []
    counts = evaluation.counts
    head = counts.score >= precision.threshold
    known_positive, alarms = counts.positive[head].sum(), counts.negative[head].sum()
    flagged = known_positive + alarms + counts.unlabeled[head].sum()
    if flagged == 0:
        return [line("flagged", "no rows: nothing scores that high", room + 3, width)]
    estimate = precision.estimate
    shares = np.array([estimate.value, estimate.low, estimate.high])
    # Of these rows some are known to be real, and others not to be.
    least = known_positive if evaluation.recovery.supposes_right_labels else 0.0
    ends = np.clip(flagged * shares, least, flagged - alarms).tolist()
    real, low, high = (rows_words(part, weighted=counts.weighted) for part in ends)
    said = f"about {real} real ({low} – {high})"
    if least == flagged - alarms:
        said = f"{real} real"
    if estimate.range_only:
        said = f"{low} – {high} real"
    text = (
        f"{row_words(flagged, weighted=counts.weighted)} "
        f"({percent(flagged / counts.n_rows)}) · "
        + ("" if estimate.open else f"{said}, ")
        + f"{amount(known_positive)} of them already known"
        + (" to be real" if estimate.open else "")
        + (f", {amount(alarms)} known to be negative" if alarms > 0 else "")
    )
    if evaluation.shares.sampling != "single-sample":
        return []
    return [line("flagged", text, room + 3, width)]


def _deployed(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
    """Say what the main metrics are where another share of rows is positive."""
    if evaluation.deploy_prevalence is None:
        return []
    rows = [row for row in evaluation.deployed() if row.metric in DEPLOYED]
    parts = " · ".join(f"{title(row)} {value_words(row.estimate)}" for row in rows)
    words = (
        f"Where {percent(evaluation.deploy_prevalence)} are positive, if positives and negatives "
        f"score there as here: {parts}"
    )
    return _style(line("Elsewhere", words, width=width))


def _meaning(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
    judged = f"{light_words(evaluation)} · {judged_words(evaluation)}"
    plain, change = plain_words(evaluation), change_words(evaluation)
    return [
        *_style(line("Verdict", judged, width=width), "main"),
        *(_style(line("In plain words", plain, width=width), "main") if plain else []),
        *_deployed(evaluation, width),
        *(_style(line("What would change", change, width=width)) if change else []),
        *_style(line("Weakest link", weakest_link(evaluation), width=width)),
    ]


def _checks(evaluation: Evaluation, width: int) -> list[tuple[str, Style]]:
    """List what was found, but for the one that is the weakest link."""
    lines, weakest = [], weakest_check(evaluation)
    for check in findings(evaluation):
        if check is weakest:
            continue
        name = f"{check.code} {check.level}"
        lines += _style(line(name, check_words(check), width=width), "warning")
    return lines


def truth_text(
    evaluations: Sequence[Evaluation], truths: Sequence[Sequence[float]], hidden: float
) -> str:
    """Compare each row of the tables with its true value, for data whose truth is known."""
    head = ("naive", "estimate", "truth", "inside?")
    rows = [
        (f"{evaluation.name} {title(row)}", row, value)
        for evaluation, values in zip(evaluations, truths, strict=True)
        for row, value in zip(evaluation.rows, values, strict=True)
    ]
    answers = [_answer_alone(row.estimate) for _, row, _ in rows]
    room = max(10, *(len(answer) + 2 for answer in answers))
    table = [f" {'The hidden truth':<34}{head[0]:>8}{head[1]:>{room}}{head[2]:>8}   {head[3]}"]
    stacked = [" The hidden truth"]
    width = terminal_width()
    for (name, row, value), answer in zip(rows, answers, strict=True):
        cells = [f"{row.naive:.3f}", answer, f"{value:.3f}"]
        cells.append("yes" if value in row.estimate.interval else "no")
        table.append(f" {name:<34}{cells[0]:>8}{cells[1]:>{room}}{cells[2]:>8}   {cells[3]}")
        stacked += stack(name, list(zip(head, cells, strict=True)), width)
    last = wrap(f"hidden positives among the unlabeled: {percent(hidden)} in truth", width)
    return "\n".join(["", *(stacked if too_wide(table, width) else table), last])


def _answer_alone(estimate: Estimate) -> str:
    """Write the value without its interval, or the range where there is no value."""
    return value_words(estimate) if estimate.range_only else f"{estimate.value:.3f}"


def tell_story(
    before: Evaluation, after: Evaluation, truth: Sequence[float]
) -> list[tuple[str, str]]:
    """Tell how the main number came nearer to the truth: what was done → the number."""
    row = find(after, "precision") or after.rows[0]
    place = [old_row.metric for old_row in before.rows].index(row.metric)
    old, review = before.rows[place], after.basis.review
    n_answered = 0 if review is None else review.n_answered
    return [
        (f"{title(row)}, unlabeled rows called negative", number(old.naive)),
        ("from labels and scores alone", value_words(old.estimate)),
        (f"after {n_answered} reviews chosen by a plan", value_words(row.estimate)),
        ("the hidden truth", number(truth[place])),
    ]


def story_text(story: Sequence[tuple[str, str]]) -> str:
    """Write the story line by line."""
    width = terminal_width()
    lines = [f" {what:<46}{value}" for what, value in story]
    if too_wide(lines, width):
        lines = [f"{wrap(what, width)}\n{wrap(value, width, ' ' * 3)}" for what, value in story]
    return "\n".join(["", *lines])
