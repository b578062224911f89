"""An evaluation's table in markup: Markdown and LaTeX.

Everything a user named is escaped.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from undercount.errors import Check
from undercount.infer.metric_row import MetricRow
from undercount.read.evaluation import Evaluation
from undercount.show.spoken import number, title
from undercount.show.text import (
    ANSWERS,
    bound_words,
    hidden_words,
    labels_words,
    lacking_words,
    missing_words,
    needs_words,
    plain_words,
    supposed_words,
    value_words,
)
from undercount.show.verdict_words import change_words, judged_words, light_words, outcome_words

MARKDOWN_SPECIAL = {character: "\\" + character for character in "\\`*_{}[]<>()#|!"}
LATEX_SPECIAL = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def as_markdown(evaluation: Evaluation) -> str:
    """Write the table and what it means."""
    name = "".join(letter if letter.isprintable() else " " for letter in evaluation.name)
    level = f"true value ({_level(evaluation)} %)"
    lines = [
        f"**{escape(name, MARKDOWN_SPECIAL)}**: hidden positives {hidden_words(evaluation)}",
        "",
        f"| metric | {evaluation.basis.naive.title} | {level} | at least | needs |",
        "|---|---:|---:|---:|---|",
    ]
    for row in (*evaluation.rows, *evaluation.top_rows):
        title, naive, *_, least, needs = _cells(row)
        lines.append(f"| {title} | {naive} | {value_words(row.estimate)} | {least} | {needs} |")
    lines += _reviews(evaluation)
    lines += ["", supposed_words(evaluation)]
    lines += ["", f"**{light_words(evaluation)}**: {judged_words(evaluation)}", ""]
    lines += [
        f"- **{outcome}**: {escape(words, MARKDOWN_SPECIAL)}"
        for outcome, words in outcome_words(evaluation)
    ]
    lines += [""] if evaluation.judgements else []
    change = change_words(evaluation)
    lines += [plain_words(evaluation), ""]
    lines += [f"What would change it: {change}.", ""] if change else []
    missing = missing_words(evaluation)
    lines += [f"Threshold: {missing}.", ""] if missing else []
    lines += [f"- **{check.code}** ({check.level}): {check.message}" for check in _bad(evaluation)]
    return "\n".join(lines).rstrip() + "\n"


def _reviews(evaluation: Evaluation) -> list[str]:
    """Write the answers of reviews alone and with random labels, and the test between them."""
    answers = evaluation.both_answers
    if not answers:
        return []
    kinds = list(answers[0][1])
    lines = ["", f"| metric | {' | '.join(ANSWERS[kind] for kind in kinds)} |"]
    lines.append("|---|" + "---:|" * len(kinds))
    for row, answer in answers:
        values = " | ".join(value_words(answer[kind]) for kind in kinds)
        lines.append(f"| {_cells(row)[0]} | {values} |")
    lacking = lacking_words(evaluation)
    more = [f"Reviews: {lacking}."] if lacking else []
    return [*lines, "", f"Labels {labels_words(evaluation)}.", *more]


def as_csv(evaluations: Sequence[Evaluation]) -> str:
    """Write the tables of models below each other, one row a metric."""
    columns: dict[str, list[Any]] = {"model": []}
    for evaluation in evaluations:
        table = evaluation.table()
        columns["model"] += [evaluation.name] * len(table["metric"])
        for name, cells in table.items():
            columns.setdefault(name, []).extend(cells)
    return write_csv(columns)


def write_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Write columns; None is an empty cell."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(columns)
    for cells in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None else cell for cell in cells])
    return lines.getvalue()


def as_latex(evaluation: Evaluation) -> str:
    """Write a tabular of metric, naive value, estimate and what it needs."""
    level = rf"true value ({_level(evaluation)}\,\%)"
    lines = [
        r"\begin{tabular}{lrrrl}",
        r"\hline",
        rf"metric & {evaluation.basis.naive.title} & {level} & at least & needs \\",
        r"\hline",
    ]
    for row in (*evaluation.rows, *evaluation.top_rows):
        cells = (escape(cell, LATEX_SPECIAL) for cell in _cells(row))
        title, naive, value, low, high, least, needs = cells
        ends = f"{low}--{high}"
        answer = ends if row.estimate.range_only else f"{value} ({ends})"
        lines.append(rf"{title} & {naive} & {answer} & {least} & {needs} \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _cells(row: MetricRow) -> tuple[str, ...]:
    """Return title, naive value, estimate, its ends, its bound, and what it needs."""
    estimate = row.estimate
    values = (row.naive, estimate.value, estimate.low, estimate.high)
    return title(row), *map(number, values), bound_words(row), needs_words(row)


def _level(evaluation: Evaluation) -> str:
    return f"{100 * evaluation.confidence_level:g}"


def _bad(evaluation: Evaluation) -> list[Check]:
    return [check for check in evaluation.checks if check.level in ("warn", "fail")]


def escape(text: str, special: dict[str, str]) -> str:
    """Write a text so that no character of it is markup."""
    return "".join(special.get(character, character) for character in text)
