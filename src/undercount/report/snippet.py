"""An evaluation as a small piece of HTML for notebooks."""

from markupsafe import Markup, escape

from undercount.evaluation import Evaluation
from undercount.report import words

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
