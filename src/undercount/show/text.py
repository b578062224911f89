"""An evaluation as plain text for the terminal."""

import textwrap
from collections.abc import Sequence
from typing import Literal, TypeAlias

from undercount.count.arrays import amount, row_words
from undercount.read.evaluation import Evaluation
from undercount.show import words

WIDTH = 100
Style: TypeAlias = Literal["plain", "main", "warning"]


def as_text(evaluation: Evaluation) -> str:
    """Write what was read and inferred, the table, and what it means."""
    return "\n".join(text for text, _ in styled_lines(evaluation))


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
        taken += f" · label purity {words.percent(evaluation.shares.label_purity)}"
    return [
        *_style(line("Read", read)),
        *_style(line("Taken", taken)),
        *_style(line("Hidden positives", words.hidden_words(evaluation))),
    ]


def _table(evaluation: Evaluation) -> list[tuple[str, Style]]:
    level = f"{100 * evaluation.confidence_level:g} %"
    width = max(18, *(len(words.title(row)) for row in evaluation.rows))
    # Negative values are longer; two spaces keep the columns apart.
    span = max(24, *(len(words.value_words(row.estimate)) + 2 for row in evaluation.rows))
    bounded = any(row.lower_bound is not None for row in evaluation.rows)
    least = f"{'at least':<10}" if bounded else ""
    lines = _style(
        f" {'':<{width}}{'unlabeled = negative':>22}  {f'true value ({level})':<{span}}{least}needs"
    )
    for row in evaluation.rows:
        value, needs = words.value_words(row.estimate), words.needs_words(row)
        least = f"{words.bound_words(row):<10}" if bounded else ""
        naive = words.number(row.naive)
        lines += _style(
            f" {words.title(row):<{width}}{naive:>22}  {value:<{span}}{least}{needs}",
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
    precision = words.find(evaluation, "precision")
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
        f"({words.percent(flagged / counts.n_rows)}) · about {real} real ({low} – {high}), "
        f"{amount(known)} of them already known"
    )
    return (
        [f" {'flagged':<{width}}  {text}"] if evaluation.shares.sampling == "single-sample" else []
    )


def _meaning(evaluation: Evaluation) -> list[tuple[str, Style]]:
    return [
        *_style(line("In plain words", words.plain_words(evaluation)), "main"),
        *_style(line("What would change", words.change_words(evaluation))),
        *_style(line("Weakest link", words.weakest_link(evaluation))),
    ]


def _checks(evaluation: Evaluation) -> list[tuple[str, Style]]:
    """List what was found, but for the first, which is the weakest link."""
    lines = []
    for check in words.findings(evaluation)[1:]:
        lines += _style(line(f"{check.code} {check.level}", words.check_words(check)), "warning")
    return lines


def truth_text(
    evaluations: Sequence[Evaluation], truths: Sequence[Sequence[float]], hidden: float
) -> str:
    """Compare each row of the tables with its true value, for data whose truth is known."""
    lines = ["", f" {'The hidden truth':<34}{'naive':>8}{'estimate':>10}{'truth':>8}   inside?"]
    for evaluation, values in zip(evaluations, truths, strict=True):
        for row, value in zip(evaluation.rows, values, strict=True):
            inside = "yes" if value in row.estimate.interval else "no"
            name = f"{evaluation.name} {words.title(row)}"
            numbers = f"{row.naive:>8.3f}{row.estimate.value:>10.3f}{value:>8.3f}"
            lines.append(f" {name:<34}{numbers}   {inside}")
    lines.append(f" hidden positives among the unlabeled: {words.percent(hidden)} in truth")
    return "\n".join(lines)
