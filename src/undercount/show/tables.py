"""An evaluation's table in markup: Markdown, LaTeX and an HTML snippet.

Everything a user named is escaped.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from undercount.errors import Check
from undercount.read.evaluation import Evaluation, MetricRow
from undercount.show.text import (
    change_words,
    hidden_words,
    needs_words,
    number,
    plain_words,
    title,
    value_words,
)

MARKDOWN_SPECIAL = {character: "\\" + character for character in "\\`*_{}[]<>()#|!"}
LATEX_SPECIAL = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
HTML_ROW = Markup("<tr><td>{}</td><td>{}</td><td><b>{}</b> {} – {}</td><td>{}</td></tr>")
HTML_TABLE = Markup(
    "<div><p><b>{}</b> · hidden positives {}</p><table><thead><tr><th>metric</th>"
    "<th>unlabeled = negative</th><th>true value ({} %)</th><th>needs</th></tr></thead>"
    "<tbody>{}</tbody></table><p>{}</p>{}</div>"
)


def as_markdown(evaluation: Evaluation) -> str:
    """Write the table and what it means."""
    name = "".join(letter if letter.isprintable() else " " for letter in evaluation.name)
    lines = [
        f"**{escape(name, MARKDOWN_SPECIAL)}**: hidden positives {hidden_words(evaluation)}",
        "",
        f"| metric | unlabeled = negative | true value ({_level(evaluation)} %) | needs |",
        "|---|---:|---:|---|",
    ]
    for row in (*evaluation.rows, *evaluation.top_rows):
        title, naive, *_, needs = _cells(row)
        lines.append(f"| {title} | {naive} | {value_words(row.estimate)} | {needs} |")
    lines += ["", plain_words(evaluation), "", change_words(evaluation) + ".", ""]
    lines += [f"- **{found.code}** ({found.level}): {found.message}" for found in _bad(evaluation)]
    return "\n".join(lines).rstrip() + "\n"


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
    lines = [
        r"\begin{tabular}{lrrl}",
        r"\hline",
        rf"metric & unlabeled = negative & true value ({_level(evaluation)}\,\%) & needs \\",
        r"\hline",
    ]
    for row in (*evaluation.rows, *evaluation.top_rows):
        title, naive, value, low, high, needs = (escape(c, LATEX_SPECIAL) for c in _cells(row))
        lines.append(rf"{title} & {naive} & {value} ({low}--{high}) & {needs} \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def as_snippet(evaluation: Evaluation) -> str:
    """Write the table and the findings as HTML for a notebook."""
    rows = Markup("").join(
        HTML_ROW.format(*_cells(row)) for row in (*evaluation.rows, *evaluation.top_rows)
    )
    bad = Markup("").join(Markup("<p>{}</p>").format(str(found)) for found in _bad(evaluation))
    return str(
        HTML_TABLE.format(
            evaluation.name,
            hidden_words(evaluation),
            _level(evaluation),
            rows,
            plain_words(evaluation),
            bad,
        )
    )


def _cells(row: MetricRow) -> tuple[str, ...]:
    """Return title, naive value, estimate, its ends, and what it needs."""
    estimate = row.estimate
    values = (row.naive, estimate.value, estimate.low, estimate.high)
    return title(row), *map(number, values), needs_words(row)


def _level(evaluation: Evaluation) -> str:
    return f"{100 * evaluation.confidence_level:g}"


def _bad(evaluation: Evaluation) -> list[Check]:
    return [check for check in evaluation.checks if check.level in ("warn", "fail")]


def escape(text: str, special: dict[str, str]) -> str:
    """Write a text so that no character of it is markup."""
    return "".join(special.get(character, character) for character in text)
