"""An evaluation as a Markdown table."""

from undercount.evaluation import Evaluation
from undercount.report import words


def as_markdown(evaluation: Evaluation) -> str:
    """Write the table and what it means."""
    level = f"{100 * evaluation.confidence_level:g} %"
    lines = [
        f"**{_escaped(evaluation.name)}**: hidden positives {words.hidden_words(evaluation)}",
        "",
        f"| metric | unlabeled = negative | true value ({level}) | needs |",
        "|---|---:|---:|---|",
    ]
    for row in evaluation.rows:
        estimate = row.estimate
        value = f"{estimate.value:.3f} ({estimate.low:.3f} – {estimate.high:.3f})"
        needs = ", ".join(estimate.needs) or "nothing"
        lines.append(f"| {words.title(row)} | {row.naive:.3f} | {value} | {needs} |")
    lines += ["", words.plain_words(evaluation), "", words.change_words(evaluation) + ".", ""]
    lines += [
        f"- **{check.code}** ({check.level}): {check.message}"
        for check in evaluation.checks
        if check.level in ("warn", "fail")
    ]
    return "\n".join(lines).rstrip() + "\n"


def _escaped(name: str) -> str:
    """Keep a name from breaking the page."""
    kept = "".join(character if character.isprintable() else " " for character in name)
    for character in "\\`*_{}[]<>()#|!":
        kept = kept.replace(character, "\\" + character)
    return kept
