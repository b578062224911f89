"""A comparison in words: which model is better, the leaderboards, the differences; and as JSON."""

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from undercount.assume.base import Basis
from undercount.checks.percentages import percent, percents_beside
from undercount.count.arrays import amount
from undercount.curve import NO_ROWS_ROUNDING
from undercount.errors import CODES
from undercount.estimate import Estimate
from undercount.infer.difference import Difference
from undercount.infer.metric_name import short_number
from undercount.infer.workload import Workload
from undercount.read.compare.compare import Comparison
from undercount.read.compare.leaderboard import Standing, tied_at_the_top
from undercount.read.evaluation import Evaluation
from undercount.show.document import as_document, plain, write_document
from undercount.show.layout import join_percents, neutralise, part_percents
from undercount.show.spoken import metric_title, number, rows_words
from undercount.show.text import hidden_words, value_words

TEXT_WIDTH = 100
# Columns of words are no wider than this; names are wrapped down to this.
LONGEST_MODEL_NAME, SHORTEST_NAME = 30, 12
# Lines that the names of columns may take: the fewest for which there is room, a word each at last.
FEW_LINES, MANY_LINES = (2, 3), 9
SMALLEST_P = 0.0001
PAIR = 2
CHANCES = "labelling chances"
TOLD = {
    "verdicts": "Verdicts tell the order; no prevalence was supposed.",
    "chances": "The chances of a label tell the order, if they are right; no prevalence was "
    "supposed.",
}
IF_FAIR_LABELS = "if labels are a fair sample"
# What differences need, where more must be said of it than of one model.
DIFFERENCE_NEED_WORDS = {"random labels": "random labels (chosen by no model)"}
TARGET_WORDS = {
    "population": "in the population that these rows come from "
    "(the question 'rows' is about these alone)",
    "rows": "on these very rows, where only the choice of labelled positives is chance "
    "(the question 'population' is about others too)",
}


def as_text(comparison: Comparison, width: int = TEXT_WIDTH) -> str:
    """Write what is better, then the tables, in lines of at most a width."""
    blocks = [
        _filled("", verdict_words(comparison), width),
        _facts(comparison, width) + _filled("Needs: ", needs_words(comparison), width),
        table_lines(leaderboard_table(comparison), leaderboard_title(comparison), width),
        _flagged(comparison, width),
        _same_work(comparison, width),
        *_filled_notes(threshold_notes(comparison), width),
        *_filled_notes(workload_notes(comparison), width),
    ]
    if len(comparison.evaluations) == PAIR:
        blocks.append(_pair(comparison, width))
    else:
        blocks.append(
            _filled(
                "", "--csv and --json have the differences of every pair (to_csv, to_json)", width
            )
        )
    blocks.append(_there(comparison, width))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _first(comparison: Comparison) -> Evaluation:
    return next(iter(comparison.evaluations.values()))


def level_words(comparison: Comparison) -> str:
    """Write the confidence level."""
    return f"{100 * comparison.confidence_level:g} %"


def verdict_words(comparison: Comparison) -> str:
    """Say which model is better, in what, by how much, for which question, at which prevalence."""
    standings = comparison.leaderboard()
    top, title = tied_at_the_top(standings), metric_title(comparison.rank_by)
    best, question = standings[0], TARGET_WORDS[comparison.question]
    behind = [s.behind for s in standings[1:] if s.behind is not None]
    if not behind or any(not d.difference.exists for d in behind[:1]):
        return (
            f"Which model is better in {title} cannot be said: it does not exist for some of them."
        )
    gap = behind[0]
    share = comparison.evaluations[best.name].shares.unlabeled_prevalence
    order = order_words(gap, share, comparison.first.basis)
    by = f"{gap_words(gap)}, {_chance_words(comparison, gap)}"
    if len(top) == 1:
        rest = "" if len(standings) == PAIR else ", the next"
        words = f"{best.name} is better than {gap.other}{rest} in {title}: by {by}, {question}."
        return f"{words} {order}"
    if len(standings) == PAIR:
        return (
            f"{best.name} and {gap.other} cannot be told apart in {title}: {best.name} is ahead "
            f"by {by}, {question}. {order}"
            f"{_elsewhere_words(comparison)}"
        )
    names = f"{', '.join(top[:-1])} and {top[-1]}"
    worse = [standing.name for standing in standings if standing.name not in top]
    tail = (
        f" {_listed(worse)} {'is' if len(worse) == 1 else 'are'} worse than some of them."
        if worse
        else ""
    )
    return (
        f"{names} cannot be told apart at the top in {title}: {best.name} is ahead of {gap.other} "
        f"by {by}, {question}.{tail} {order}"
    )


def _chance_words(comparison: Comparison, gap: Difference) -> str:
    """Write level and p-value of a difference; of several pairs, what each of them speaks of."""
    level = level_words(comparison)
    if len(comparison.evaluations) == PAIR:
        return f"{level}, p {p_words(gap)}"
    return f"{level} for this pair, adjusted p {p_words(gap)}"


def p_heading(comparison: Comparison) -> str:
    """Name the column of p-values."""
    return "p" if len(comparison.evaluations) == PAIR else "adjusted p"


def needs_words(comparison: Comparison) -> str:
    """Say what the differences rest on: labels that one of the models chose turn the order."""
    return f"{', '.join(DIFFERENCE_NEED_WORDS.get(need, need) for need in comparison.needs)}."


def _elsewhere_words(comparison: Comparison) -> str:
    """Name the metrics that do tell two models apart where the one that decides does not."""
    doubt = 1 - comparison.confidence_level
    names = [metric_title(d.metric) for d in comparison.differences if d.p_value < doubt]
    if not names:
        return ""
    return f" They differ in {_listed(names)}: choose the metric that decides before you look."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def told_by(found: Difference, basis: Basis) -> str:
    """Say what tells a difference where no prevalence is supposed; nothing where one is.

    At another prevalence the difference may be another.
    """
    needs = found.difference.needs
    if basis.order:
        return basis.determined_by
    return "verdicts" if "reviews" in needs else "chances" if CHANCES in needs else ""


def told_words(found: Difference, basis: Basis) -> str:
    """Write the same as a sentence, with what it supposes."""
    return basis.order or TOLD.get(told_by(found, basis), "")


def order_words(found: Difference, share: float, basis: Basis) -> str:
    """Say whether the order of two models depends on the prevalence, whose share is in use."""
    if told := told_words(found, basis):
        return told
    if not found.depends_on_prevalence:
        return f"The order is the same whatever the prevalence, {IF_FAIR_LABELS}."
    if math.isnan(found.crossover):
        return f"The order is the same at every prevalence that the scores allow, {IF_FAIR_LABELS}."
    (taken,), (turns,) = percents_beside([share], [(found.crossover, "")])
    words = (
        f"The order depends on the prevalence: it turns at {turns} hidden positives among the "
        "unlabeled rows"
    )
    if found.difference.range_only:
        return f"{words}."
    return f"{words}, of which {taken} are taken to be so here."


def gap_words(found: Difference) -> str:
    """Write a difference with its interval."""
    gap = found.difference
    if gap.range_only:
        return f"{gap.low:+.3f} – {gap.high:+.3f}"
    if math.isnan(gap.value):
        return "– (does not exist here)"
    if math.isnan(gap.standard_error):
        return f"{gap.value:+.3f} (no interval)"
    return f"{gap.value:+.3f} ({gap.low:+.3f} – {gap.high:+.3f})"


def p_words(found: Difference) -> str:
    """Write the adjusted p-value, with no more digits than the tail deserves."""
    value = found.adjusted_p_value
    if math.isnan(value):
        return "–"
    return f"< {SMALLEST_P:g}" if value < SMALLEST_P else f"{value:.2g}"


# ---- tables: a list of columns' names, then rows of words ----
Table = tuple[list[str], list[list[str]]]


def leaderboard_title(comparison: Comparison) -> str:
    """Name the first table."""
    places = f"ranks in brackets are possible at {level_words(comparison)}"
    # Holm's steps have no intervals of their own that are worth showing: those of each pair are
    # what they are, and what decides of all pairs together is named beside them.
    adjusted = (
        "" if len(comparison.evaluations) == PAIR else "; p, not intervals, for all pairs (Holm)"
    )
    title = metric_title(comparison.rank_by)
    return f"By {title} (rank_by names another); {places}{adjusted}"


def leaderboard_table(comparison: Comparison) -> Table:
    """Return the models in order with their value, what they lack to the best, and its p-value."""
    head = ["rank", "model", metric_title(comparison.rank_by), "less than the best"]
    head.append(p_heading(comparison))
    rows = []
    for standing in comparison.leaderboard():
        estimate = comparison.estimates_of(standing.name)[comparison.rank_by]
        words = value_words(estimate)
        rows.append([standing.rank_words, standing.name, words, *_behind(standing)])
    return head, rows


def _behind(standing: Standing, scale: float | None = None) -> list[str]:
    """Write what a model lacks to the best; in rows, if so many are flagged."""
    if standing.behind is None:
        return ["best", ""]
    gap = standing.behind.difference
    if scale is None or not gap.exists:
        return [gap_words(standing.behind).replace("+", ""), p_words(standing.behind)]
    low, high = scale * gap.low, scale * gap.high
    if gap.range_only:
        return [f"{low:,.0f} – {high:,.0f}", p_words(standing.behind)]
    return [f"{scale * gap.value:,.0f} ({low:,.0f} – {high:,.0f})", p_words(standing.behind)]


def threshold_table(comparison: Comparison, *, intervals: bool = True) -> Table:
    """Return what each model flags at its own threshold, and how good that is.

    A number without a value keeps its range where there is no room for others.
    """
    head = ["model", "threshold", "flagged", "precision", "recall", "F1"]
    rows = []
    for name, evaluation in comparison.evaluations.items():
        if evaluation.threshold is None:
            return head, []
        counts, estimates = evaluation.counts, comparison.estimates_of(name)
        at = counts.score >= evaluation.threshold
        of_target = [counts.unlabeled]
        if evaluation.shares.sampling == "single-sample":
            of_target += [counts.positive, counts.negative]
        flagged = amount(sum(float(cells[at].sum()) for cells in of_target))
        values = [
            value_words(estimate) if intervals or estimate.range_only else number(estimate.value)
            for estimate in (estimates[metric] for metric in ("precision", "recall", "f1"))
        ]
        rows.append([name, short_number(evaluation.threshold), flagged, *values])
    return head, rows


def _supposed(comparison: Comparison) -> str:
    """Say which share precision, F1 and the number of real ones suppose."""
    first = _first(comparison)
    if first.unknowns.range_only:
        return ", at every prevalence that the scores allow"
    return f", if {percent(first.prevalence)} are positive"


def threshold_title(comparison: Comparison) -> str:
    """Name the table of the models' own thresholds."""
    return f"At own thresholds{_supposed(comparison)}"


def threshold_notes(comparison: Comparison) -> list[str]:
    """Say of which models rows score just what their threshold is in single precision."""
    return [
        f"{name}: {check}"
        for name, evaluation in comparison.evaluations.items()
        for check in evaluation.checks
        if check.code == CODES["rounding"]
    ]


def workload_title(comparison: Comparison) -> str:
    """Name the table of equal work."""
    work = comparison.workload
    if work is None:
        return ""
    why = "" if work.chosen else ", as many as are labelled positive"
    size = amount(work.size)
    supposed = ", by verdicts" if work.by_verdicts else _supposed(comparison)
    return f"If each model flags its {size} highest rows{why}{supposed}"


def workload_table(comparison: Comparison, *, intervals: bool = True) -> Table:
    """Return what each model finds among as many flagged rows; ranges alone always."""
    work = comparison.workload
    head = ["rank", "model", "real", "precision", "recall", "real ones less than the best"]
    head.append(p_heading(comparison))
    rows: list[list[str]] = []
    if work is None:
        return head, rows
    if work.by_verdicts:
        return _verdict_table(comparison, work)
    for standing in comparison.leaderboard(same_workload=True):
        values = {name: min(v, 1.0) for name, v in work.values[standing.name].items()}
        estimates, evaluation = (
            work.estimates.get(standing.name),
            comparison.evaluations[standing.name],
        )
        weighted = evaluation.counts.weighted
        real = rows_words(work.size * values["precision"], weighted=weighted)
        recall = number(values["recall"])
        precision = number(values["precision"])
        if estimates is not None and estimates["precision"].range_only:
            real = _real_ends(evaluation, estimates["precision"], work.size)
            precision = value_words(estimates["precision"])
        elif estimates is None and evaluation.unknowns.range_only:  # no range is made there
            real, precision = "–", "–"
        elif estimates is not None and intervals:
            real = f"{real} ({_real_ends(evaluation, estimates['precision'], work.size)})"
        if estimates is not None and intervals:
            recall = value_words(estimates["recall"])
        rest = [real, precision, recall, *_behind(standing, work.size)]
        rows.append([standing.rank_words, standing.name, *rest])
    return head, rows


def _verdict_table(comparison: Comparison, work: Workload) -> Table:
    """Return what verdicts tell of each model's highest rows, the numbers of `evaluate`."""
    rows = []
    for standing in comparison.leaderboard(same_workload=True):
        estimates, evaluation = work.estimates[standing.name], comparison.evaluations[standing.name]
        precision, recall = (value_words(estimates[m]) for m in ("precision", "recall"))
        real = _real_words(evaluation, estimates["precision"], work.size)
        rows.append([standing.name, real, precision, recall])
    return ["model", "real", "precision", "recall"], rows


def _real_words(evaluation: Evaluation, precision: Estimate, size: float) -> str:
    """Write how many of so many flagged rows are real, as the precision is written."""
    if math.isnan(precision.value):
        return value_words(precision)
    real = rows_words(size * precision.value, weighted=evaluation.counts.weighted)
    return f"{real} ({_real_ends(evaluation, precision, size)})"


def _real_ends(evaluation: Evaluation, precision: Estimate, size: float) -> str:
    """Write how many of so many flagged rows are real, at the ends of the precision."""
    weighted = evaluation.counts.weighted
    ends = (rows_words(size * end, weighted=weighted) for end in (precision.low, precision.high))
    return " – ".join(ends)


def workload_notes(comparison: Comparison) -> list[str]:
    """Say where ties were cut, and what had to be pulled into its range."""
    work = comparison.workload
    if work is None:
        return []
    beyond = [
        f"the precision of {name} would be {values['precision']:.3f}"
        for name, values in work.values.items()
        if values["precision"] > 1 + NO_ROWS_ROUNDING
    ]
    notes = [
        f"{name} takes {percent(cut.share)} of its {amount(work.tied[name])} rows tied at "
        f"{short_number(cut.threshold)}, any as likely as another"
        for name, cut in work.cuts.items()
        if cut.share < 1
    ]
    texts = [f"Ties at the last row: {'; '.join(notes)}."] if notes else []
    if work.by_verdicts:
        texts.append(
            "Of these rows verdicts tell each model's own numbers, as evaluate gives them; whether "
            "two models differ there is not tested."
        )
    if beyond:
        texts.append(
            f"At this prevalence {_listed(beyond)}, by the chance of the labels or because the "
            "share is too large; shown as 1, and p is that of the numbers before."
        )
    return texts


def difference_table(comparison: Comparison) -> Table:
    """Return the differences of two models, metric by metric."""
    basis = comparison.first.basis
    head = ["metric", "difference", "chance of being better", "p", "the order holds"]
    rows = [
        [metric_title(d.metric), gap_words(d), chance_words(d), p_words(d), _order(d, basis)]
        for d in comparison.differences
    ]
    return head, rows


def _pair(comparison: Comparison, width: int) -> list[str]:
    one, other = comparison.evaluations
    return table_lines(
        difference_table(comparison), f"{one} minus {other}, by metric; p two-sided", width
    )


def deployed_title(comparison: Comparison) -> str:
    """Name the table of another prevalence, with what it supposes."""
    prevalence = comparison.deploy_prevalence
    if prevalence is None:
        return ""
    pair = len(comparison.evaluations) == PAIR
    alone = "" if pair else "intervals for each pair, adjusted "
    return (
        f"Where {percent(prevalence)} are positive, if positives and negatives score there as "
        f"here; {alone}p two-sided"
    )


def deployed_table(comparison: Comparison) -> Table:
    """Return two models and their differences there; of more, each pair by what decides."""
    pair = len(comparison.evaluations) == PAIR
    ends = list(comparison.evaluations) if pair else ["one", "other"]
    head = ["metric", *([] if pair else ["models"]), *ends, f"{ends[0]} minus {ends[1]}"]
    head.append(p_heading(comparison))
    if comparison.deploy_prevalence is None:
        return head, []
    estimates = {
        name: {row.metric: row.estimate for row in evaluation.deployed()}
        for name, evaluation in comparison.evaluations.items()
    }
    rows = [
        [
            metric_title(d.metric),
            *([] if pair else [f"{d.one}, {d.other}"]),
            *(number(estimates[name][d.metric].value) for name in (d.one, d.other)),
            gap_words(d),
            p_words(d),
        ]
        for d in comparison.deployed()
        if pair or d.metric == comparison.rank_by
    ]
    return head, rows


def _there(comparison: Comparison, width: int) -> list[str]:
    table = deployed_table(comparison)
    return table_lines(table, deployed_title(comparison), width) if table[1] else []


def _facts(comparison: Comparison, width: int) -> list[str]:
    first = _first(comparison)
    hidden = hidden_words(first, claiming=False)
    if first.unknowns.model == first.name:
        hidden += f" · by the scores of {first.unknowns.model}, for all models"
    return _filled("Hidden positives: ", hidden, width)


def _flagged(comparison: Comparison, width: int) -> list[str]:
    table = fitting_table(threshold_table, comparison, width)
    return table_lines(table, threshold_title(comparison), width) if table[1] else []


def _same_work(comparison: Comparison, width: int) -> list[str]:
    table = fitting_table(workload_table, comparison, width)
    return table_lines(table, workload_title(comparison), width) if table[1] else []


def fitting_table(make: Callable[..., Table], comparison: Any, width: int) -> Table:
    """Make a table with intervals, or where they leave no room, as values alone."""
    table = make(comparison)
    return table if _sizes(table, width) else make(comparison, intervals=False)


def _filled(name: str, text: str, width: int) -> list[str]:
    return _wrapped(neutralise(name + text), width, " ", "   " if name else " ")


def _wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Wrap a text or a cell, each number beside its percent sign."""
    lines = textwrap.wrap(join_percents(text), width, initial_indent=first, subsequent_indent=rest)
    return [part_percents(line) for line in lines]


def _filled_notes(notes: list[str], width: int) -> list[list[str]]:
    return [_filled("", note, width) for note in notes]


def _sizes(table: Table, width: int) -> list[int]:
    """Return how wide each column is; none if they do not fit side by side."""
    head, rows = table
    for depth in (*FEW_LINES, MANY_LINES):
        sizes = [
            min(max([_head_size(name, depth), *(len(row[i]) for row in rows)]), LONGEST_MODEL_NAME)
            for i, name in enumerate(head)
        ]
        over = sum(sizes) + 2 * len(sizes) - width
        if over > 0 and "model" in head and depth == MANY_LINES:  # names are wrapped first
            model = head.index("model")
            sizes[model] -= min(over, max(sizes[model] - SHORTEST_NAME, 0))
            over = sum(sizes) + 2 * len(sizes) - width
        if over <= 0:
            return sizes
    return []


def _head_size(name: str, depth: int) -> int:
    """Return the least width at which the name of a column takes so many lines at most."""
    least = max(map(len, name.split()))
    sizes = range(least, len(name))
    return next((size for size in sizes if len(_wrapped(name, size)) <= depth), len(name))


def table_lines(table: Table, title: str, width: int) -> list[str]:
    """Write a table: columns side by side, long names wrapped; under each other if narrow."""
    head, *rows = ([neutralise(cell) for cell in row] for row in [table[0], *table[1]])
    lines, sizes = _filled("", title, width), _sizes((head, rows), width)
    if not sizes:
        return lines + _stacked(head, rows, width)
    for row in [head, *rows]:
        cells = [_wrapped(cell, size) or [""] for cell, size in zip(row, sizes, strict=True)]
        for depth in range(max(map(len, cells))):
            words = [
                f"{cell[depth] if depth < len(cell) else '':<{size}}"
                for cell, size in zip(cells, sizes, strict=True)
            ]
            lines.append((" " + "  ".join(words)).rstrip())
    return lines


def _stacked(head: list[str], rows: list[list[str]], width: int) -> list[str]:
    """Write each row as a paragraph: what it is called, then what it holds."""
    lines = []
    for row in rows:
        name = row[head.index("model")] if "model" in head else row[0]
        lines += _wrapped(name, width, " ", " ")
        for title, cell in zip(head, row, strict=True):
            if cell and cell is not name:
                lines += _wrapped(f"{title}: {cell}", width, "   ", "     ")
    return lines


def chance_words(found: Difference) -> str:
    """Write the chance of being better, with no more digits than the tail deserves."""
    probability = found.better_probability
    if math.isnan(probability):
        return "–"
    if probability > 0.99:  # noqa: PLR2004
        return "> 99 %"
    return "< 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"  # noqa: PLR2004


def _order(found: Difference, basis: Basis) -> str:
    if not found.difference.exists:
        return "–"
    if teller := told_by(found, basis):
        return f"told by {teller}"
    if not found.depends_on_prevalence:
        return "whatever the prevalence"
    if math.isnan(found.crossover):
        return "within what data allow"
    return f"flips at {percent(found.crossover)} hidden"


def as_json(comparison: Comparison) -> str:
    """Write each model as `evaluate` does, and the comparison beside them."""
    columns = comparison.table()
    columns["needs"] = [needs.split(", ") if needs else [] for needs in columns["needs"]]
    rows = [
        {
            name: plain(v) if isinstance(v, float) else v
            for name, v in zip(columns, row, strict=True)
        }
        for row in zip(*columns.values(), strict=True)
    ]
    for row in rows:
        row.pop("flagged")
    apart = len(comparison.differences)
    document = as_document(list(comparison.evaluations.values()))
    return write_document(
        {
            **document,
            "question": comparison.question,
            "verdict": verdict_words(comparison),
            "by": comparison.rank_by,
            "needs": list(comparison.needs),
            "leaderboard": [_standing(s) for s in comparison.leaderboard()],
            "differences": rows[:apart],
            **_same_work_facts(comparison, rows[apart:]),
            **_deployed_facts(comparison),
        }
    )


def _deployed_facts(comparison: Comparison) -> dict[str, Any]:
    """Return the differences at another prevalence; each model has its metrics there itself."""
    if comparison.deploy_prevalence is None:
        return {}
    rows = [
        {
            "metric": d.metric,
            "one": d.one,
            "other": d.other,
            "difference": plain(d.difference.value),
            "low": plain(d.difference.low),
            "high": plain(d.difference.high),
            "better_probability": plain(d.better_probability),
            "p_value": plain(d.p_value),
            "adjusted_p_value": plain(d.adjusted_p_value),
            "crossover": plain(d.crossover),
            "needs": list(d.difference.needs),
        }
        for d in comparison.deployed()
    ]
    return {"deployed": {"prevalence": comparison.deploy_prevalence, "differences": rows}}


def _same_work_facts(comparison: Comparison, rows: list[dict[str, Any]]) -> dict[str, Any]:
    work = comparison.workload
    if work is None:
        return {}
    board = [_standing(s) for s in comparison.leaderboard(same_workload=True)]
    facts: dict[str, Any] = {"flagged": work.size, "chosen": work.chosen, "by": "precision"}
    if work.by_verdicts:
        facts["estimates"] = {
            name: {metric: _estimate_facts(estimate) for metric, estimate in estimates.items()}
            for name, estimates in work.estimates.items()
        }
    return {"workload": {**facts, "leaderboard": board, "differences": rows}}


def _estimate_facts(found: Estimate) -> dict[str, Any]:
    ends = {name: plain(getattr(found, name)) for name in ("value", "low", "high")}
    return {**ends, "range_only": found.range_only, "needs": list(found.needs)}


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "model": standing.name,
        "rank": standing.rank,
        "best_rank": standing.best_rank,
        "worst_rank": standing.worst_rank,
        "value": plain(standing.value),
    }
