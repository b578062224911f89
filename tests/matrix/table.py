"""Print the matrix as Markdown: `python -m tests.matrix.table`."""

import sys

from tests.matrix.assumptions import assumptions
from tests.matrix.cells import read_golden
from tests.matrix.features import FEATURES


def as_markdown():
    """Return a row for each feature, a column for each assumption, and what the marks mean."""
    kept, notes = read_golden(), {}
    lines = [f"| | {' | '.join(assumptions())} |", "|---" * (len(assumptions()) + 1) + "|"]
    for feature in FEATURES:
        marks = [_mark(kept[f"{name} | {feature}"], notes) for name in assumptions()]
        lines.append(f"| {feature} | {' | '.join(marks)} |")
    legend = [f"{place}. {code}" for code, place in notes.items()]
    words = "✓ works, (✓) in parts, a number: refused, by the code below"
    return "\n".join([*lines, "", words, "", *legend]) + "\n"


def _mark(answers, notes):
    codes = [code for code in answers.values() if isinstance(code, str)]
    if "refused" not in answers:
        return "(✓)" if codes else "✓"
    return str(notes.setdefault(answers["refused"], len(notes) + 1))


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
