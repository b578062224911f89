"""What a selection model says, as text for the terminal and as plain facts."""

import textwrap
from typing import Any

from undercount.assume.selection import SelectionModel
from undercount.check import Check
from undercount.errors import InputError
from undercount.files import read_columns
from undercount.report.text import WIDTH
from undercount.report.words import TITLES, check_words, percent

AREAS = ("roc_auc", "prevalence")
POINTS = ("recall", "precision", "f1", "specificity")


def fitted_selection(data: list[str], options: dict[str, Any]) -> tuple[SelectionModel, list[str]]:
    """Read the columns and fit the model that the options name."""
    features = list(options["features"])
    names = [options["label"], options["score"], *features]
    chooser = options["selection_score"]
    columns = read_columns(data, [*names, *([chooser] if chooser else [])])
    score, labels = columns[options["score"]], columns[options["label"]]
    for name in [options["score"], options["label"], *features]:
        if columns[name].dtype == object:
            raise InputError(f"column {name!r} must hold numbers, not text")
    x = None
    if features:
        import numpy as np  # noqa: PLC0415 - only with features

        x = np.column_stack([columns[name] for name in features])
    method = options["method"] or ("observed-score" if chooser else "own-score")
    model = SelectionModel(
        method,
        options["distribution"],
        confidence_level=options["confidence_level"],
        random_state=options["seed"],
    )
    model.fit(score, labels, X=x, selection_score=columns[chooser] if chooser else None)
    looked = int((labels == labels).sum())  # noqa: PLR0124 - NaN means not looked at
    notes = [f"{len(score):,} rows read, {looked:,} of them looked at · method {method}"]
    return model, notes


def selection_facts(model: SelectionModel, threshold: float | None) -> dict[str, Any]:
    """Return the estimates beside the biased values of the rows looked at."""
    rows = []
    for metric in (*AREAS, *(POINTS if threshold is not None else ())):
        at = None if metric in AREAS else threshold
        estimate = model.interval(metric, threshold=at)
        naive: Any = model.naive_curve_ if at is None else model.naive_curve_.at(at)
        rows.append(
            {
                "metric": metric if at is None else f"{metric}@{at:g}",
                "naive": float(getattr(naive, metric)),
                "estimate": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
            }
        )
    # Advice that names several methods need not name the one in use.
    checks = [
        {
            "code": c.code,
            "level": c.level,
            "message": c.message,
            "advice": c.advice.replace(f"{model.method!r}, ", ""),
        }
        for c in model.checks()
    ]
    return {"metrics": rows, "checks": checks}


def selection_text(facts: dict[str, Any], confidence_level: float) -> str:
    """Write the table and the checks."""
    level = f"all rows ({100 * confidence_level:g} %)"
    lines = ["", f" {'':<20}{'rows looked at':>16}   {level}"]
    for row in facts["metrics"]:
        span = f"{row['estimate']:.3f} ({row['low']:.3f} – {row['high']:.3f})"
        metric, at, cut = row["metric"].partition("@")
        title = TITLES.get(metric, metric) + at + cut
        lines.append(f" {title:<20}{row['naive']:>16.3f}   {span}")
    share = next(row["estimate"] for row in facts["metrics"] if row["metric"] == "prevalence")
    lines += ["", f" About {percent(share)} of all rows are positive, looked at or not."]
    for check in facts["checks"]:
        if check["level"] != "ok":
            found = Check(check["code"], check["level"], check["message"], check["advice"])
            told = f"{check['code']} {check['level']}: {check_words(found)}"
            lines.append(textwrap.fill(told, WIDTH, initial_indent=" ", subsequent_indent=" " * 3))
    return "\n".join(lines)
