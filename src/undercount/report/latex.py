"""An evaluation as a LaTeX table."""

from undercount.evaluation import Evaluation
from undercount.report import words

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def as_latex(evaluation: Evaluation) -> str:
    """Write a tabular of metric, naive value, estimate and what it needs."""
    level = rf"{100 * evaluation.confidence_level:g}\,\%"
    lines = [
        r"\begin{tabular}{lrrl}",
        r"\hline",
        rf"metric & unlabeled = negative & true value ({level}) & needs \\",
        r"\hline",
    ]
    for row in evaluation.rows:
        estimate = row.estimate
        ends = f"{words.number(estimate.low)}--{words.number(estimate.high)}"
        value = f"{words.number(estimate.value)} ({ends})"
        needs = escaped(", ".join(estimate.needs) or "nothing")
        lines.append(
            rf"{escaped(words.title(row))} & {words.number(row.naive)} & {value} & {needs} \\"
        )
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def escaped(text: str) -> str:
    """Write text so that LaTeX prints it."""
    return "".join(SPECIAL.get(character, character) for character in text)
