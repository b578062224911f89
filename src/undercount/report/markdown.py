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
        value, naive = words.value_words(row.estimate), words.number(row.naive)
        needs = ", ".join(row.estimate.needs) or "nothing"
        lines.append(f"| {words.title(row)} | {naive} | {value} | {needs} |")
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
