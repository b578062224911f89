"""A comparison in markup: Markdown, LaTeX, an HTML snippet; and its differences as CSV.

Everything a user named is escaped.
"""

import csv
import io

from markupsafe import Markup, escape

from undercount.read.compare.compare import Comparison
from undercount.show.comparison import (
    PAIR,
    Table,
    deployed_table,
    deployed_title,
    difference_table,
    leaderboard_table,
    leaderboard_title,
    needs_words,
    threshold_table,
    threshold_title,
    verdict_words,
    workload_notes,
    workload_table,
    workload_title,
)
from undercount.show.tables import LATEX_SPECIAL, MARKDOWN_SPECIAL


def named_tables(comparison: Comparison) -> list[tuple[str, Table]]:
    """Return all tables with what they are called."""
    tables = [(leaderboard_title(comparison), leaderboard_table(comparison))]
    at_thresholds = threshold_table(comparison)
    if at_thresholds[1]:
        tables.append((threshold_title(comparison), at_thresholds))
    if comparison.workload is not None:
        tables.append((workload_title(comparison), workload_table(comparison)))
    if len(comparison.evaluations) == PAIR:
        one, other = comparison.evaluations
        tables.append((f"{one} minus {other}", difference_table(comparison)))
    if comparison.deploy_prevalence is not None:
        tables.append((deployed_title(comparison), deployed_table(comparison)))
    return tables


def as_markdown(comparison: Comparison) -> str:
    """Write what is better, and the tables."""
    needs = f"Needs: {needs_words(comparison)}"
    lines = [_escape(words, MARKDOWN_SPECIAL) for words in (verdict_words(comparison), "", needs)]
    lines.append("")
    for title, table in named_tables(comparison):
        lines += [f"**{_escape(title, MARKDOWN_SPECIAL)}**", "", *markdown_lines(table), ""]
    lines += [_escape(note, MARKDOWN_SPECIAL) for note in workload_notes(comparison)]
    return "\n".join(lines).rstrip() + "\n"


def markdown_lines(table: Table) -> list[str]:
    """Write one table as lines of Markdown."""
    head, rows = table
    return [_markdown_row(head), "|" + "---|" * len(head), *map(_markdown_row, rows)]


def _markdown_row(cells: list[str]) -> str:
    return "| " + " | ".join(_escape(cell, MARKDOWN_SPECIAL) for cell in cells) + " |"


def as_latex(comparison: Comparison) -> str:
    """Write a tabular of each table, under each other."""
    lines = []
    for title, (head, rows) in named_tables(comparison):
        lines += [f"% {_escape(title, LATEX_SPECIAL)}", rf"\begin{{tabular}}{{{'l' * len(head)}}}"]
        lines += [r"\hline", _latex_row(head), r"\hline", *map(_latex_row, rows)]
        lines += [r"\hline", r"\end{tabular}", ""]
    return "\n".join(lines)


def _latex_row(cells: list[str]) -> str:
    escaped = (_escape(cell, LATEX_SPECIAL).replace("–", "--") for cell in cells)
    return " & ".join(escaped).replace("<", "$<$").replace(">", "$>$") + r" \\"


def as_csv(comparison: Comparison) -> str:
    """Write the differences of every pair; what does not exist is empty."""
    columns, text = comparison.table(), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None or cell != cell else cell for cell in row])  # noqa: PLR0124 - NaN
    return text.getvalue()


def as_snippet(comparison: Comparison) -> str:
    """Write what is better, and the tables, as HTML for a notebook."""
    parts = [Markup("<p><b>{}</b></p>").format(verdict_words(comparison))]
    parts.append(Markup("<p>Needs: {}</p>").format(needs_words(comparison)))
    parts += [html_table(title, table) for title, table in named_tables(comparison)]
    parts += [Markup("<p>{}</p>").format(note) for note in workload_notes(comparison)]
    return str(Markup("<div>{}</div>").format(Markup("").join(parts)))


def html_table(title: str, table: Table) -> Markup:
    """Write one table as HTML."""
    head, rows = table
    titles = Markup("").join(Markup('<th scope="col">{}</th>').format(cell) for cell in head)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                Markup('<td data-title="{}">{}</td>').format(name, cell)
                for name, cell in zip(head, row, strict=True)
            )
        )
        for row in rows
    )
    return Markup(
        "<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
    ).format(escape(title), titles, body)


def _escape(text: str, special: dict[str, str]) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return "".join(special.get(character, character) for character in shown)
