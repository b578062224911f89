"""What a selection model says, as text for the terminal and as plain facts."""

import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.assume.selection.model import SelectionModel
from undercount.cli.inputs import read_words, refuse_repeats
from undercount.count.files import read_numbers
from undercount.errors import Check, InputError
from undercount.show.text import WIDTH
from undercount.show.words import TITLES, check_words, percent

AREAS = ("roc_auc", "prevalence")
POINTS = ("recall", "precision", "f1", "specificity")
RECODE = (
    "Recode positives as 1 and negatives as 0 and leave the label empty where nobody looked, or "
    "name another column of labels with --label"
)


def fitted_selection(data: list[str], options: dict[str, Any]) -> tuple[SelectionModel, list[str]]:
    """Read the columns and fit the model that the options name."""
    refuse_repeats(data)
    features = list(options["features"])
    names = [options["label"], options["score"], *features]
    chooser = options["selection_score"]
    names += [chooser] if chooser else []
    read = read_numbers(data, names, {options["label"]: RECODE})
    columns, n_read = _complete(read, options["score"], chooser)
    score, (labels, coding) = columns[options["score"]], _looked(columns[options["label"]])
    for name in features:
        if not np.isfinite(columns[name]).all():
            raise InputError(
                f"column {name!r} of --features must hold a finite number in every row; fill in "
                "what is missing, or leave these rows out"
            )
    x = np.column_stack([columns[name] for name in features]) if features else None
    method = options["method"] or ("observed-score" if chooser else "own-score")
    model = SelectionModel(
        method,
        options["distribution"],
        confidence_level=options["confidence_level"],
        random_state=options["seed"],
    )
    model.fit(score, labels, X=x, selection_score=columns[chooser] if chooser else None)
    dropped = n_read - len(score)
    looked = f"{np.count_nonzero(~np.isnan(labels)):,} of {'the others' if dropped else 'them'}"
    return model, [f"{read_words(n_read, dropped)}, {looked} looked at · method {method}", *coding]


def _looked(labels: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    """Read -1 as not looked at where it stands beside 1 and 0, as evaluate does."""
    if set(np.unique(labels[~np.isnan(labels)])) != {-1.0, 0.0, 1.0}:
        return labels, []
    note = "1 = positive, 0 = negative, -1 = not looked at"
    return np.where(labels == -1, np.nan, labels), [note]


def _complete(
    columns: dict[str, NDArray[np.float64]], score: str, chooser: str | None
) -> tuple[dict[str, NDArray[np.float64]], int]:
    """Drop rows without a score, as evaluate does; return also how many there were."""
    known = ~np.isnan(columns[score])
    if not known.any():
        raise InputError(f"no row has a score in column {score!r}")
    if chooser:
        known &= ~np.isnan(columns[chooser])
        if not known.any():
            raise InputError(f"no row has a score in both columns, {score!r} and {chooser!r}")
    return {name: values[known] for name, values in columns.items()}, len(known)


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
