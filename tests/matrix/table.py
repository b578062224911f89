"""The matrix as a page of the documentation: `python -m tests.matrix.table`."""

import pathlib

from tests.matrix.assumptions import assumptions
from tests.matrix.cells import read_golden
from tests.matrix.features import FEATURES

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "together.md"
HEAD = """# What goes with what

Each question (a line) under each assumption (a column), as the tests ask it: ✓ is answered, (✓) in
parts, a number is refused for the reason below. A question that is *not identified* has no answer
under that assumption, whatever the program; for *missing data* rows or columns are not where the
question is asked.
"""
WORDS = {
    "not-identified": "not identified: the assumption determines what is asked to move",
    "missing-data": "missing data: rows, scores or what is known of rows are not here",
}


def as_markdown():
    """Return a row for each feature, a column for each assumption, and what the marks mean."""
    kept, notes = read_golden(), {}
    lines = [f"| | {' | '.join(assumptions())} |", "|---" * (len(assumptions()) + 1) + "|"]
    for feature in FEATURES:
        marks = [_mark(kept[f"{name} | {feature}"], notes) for name in assumptions()]
        lines.append(f"| {feature} | {' | '.join(marks)} |")
    legend = [f"{place}. {_words(code)}" for code, place in notes.items()]
    return "\n".join([HEAD, *lines, "", *legend]) + "\n"


def _mark(answers, notes):
    codes = [code for code in answers.values() if isinstance(code, str)]
    if "refused" not in answers:
        return "(✓)" if codes else "✓"
    return str(notes.setdefault(answers["refused"], len(notes) + 1))


def _words(code):
    """Write a code as a reason."""
    if code in WORDS:
        return WORDS[code]
    if code.startswith("absent: "):
        return f"there is no {code.removeprefix('absent: ')} for this assumption"
    one, *others = code.split(" + ")
    if not others:
        return f"`{one}` cannot be combined with this assumption"
    return f"`{one}` cannot be combined with {' and '.join(f'`{other}`' for other in others)}"


if __name__ == "__main__":
    PAGE.write_text(as_markdown(), encoding="utf-8")
