"""An evaluation as a Markdown table."""

from markupsafe import Markup, escape

from undercount.read.evaluation import Evaluation
from undercount.show import words


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


ROW = Markup("<tr><td>{}</td><td>{}</td><td><b>{}</b> {} – {}</td><td>{}</td></tr>")
PAGE = Markup(
    "<div><p><b>{}</b> · hidden positives {}</p><table><thead><tr><th>metric</th>"
    "<th>unlabeled = negative</th><th>true value ({} %)</th><th>needs</th></tr></thead>"
    "<tbody>{}</tbody></table><p>{}</p>{}</div>"
)


def as_snippet(evaluation: Evaluation) -> str:
    """Write the table and the findings; everything a user named is escaped."""
    rows = Markup("").join(
        ROW.format(
            words.title(row),
            words.number(row.naive),
            *(words.number(v) for v in (row.estimate.value, row.estimate.low, row.estimate.high)),
            ", ".join(row.estimate.needs) or "nothing",
        )
        for row in evaluation.rows
    )
    bad = Markup("").join(
        Markup("<p>{}</p>").format(str(check))
        for check in evaluation.checks
        if check.level in ("warn", "fail")
    )
    level = f"{100 * evaluation.confidence_level:g}"
    return str(
        PAGE.format(
            escape(evaluation.name),
            words.hidden_words(evaluation),
            level,
            rows,
            words.plain_words(evaluation),
            bad,
        )
    )
