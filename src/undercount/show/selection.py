"""What a selection model says, as text for the terminal, as JSON and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from undercount import __version__
from undercount.checks.percentages import percent
from undercount.curve import CurveBounds, FloatArray, OperatingCurve
from undercount.errors import Check
from undercount.infer.metric_row import MetricRow
from undercount.show.document import N_POINTS
from undercount.show.layout import WIDTH, stack, too_wide, wrap
from undercount.show.page.page import load_template, policy_hash, read_asset
from undercount.show.spoken import number, title
from undercount.show.text import check_facts, check_words, needs_words, value_words

SCHEMA = "undercount/selection/1"
# Corners of the page's drawing of the unit square.
LEFT, RIGHT, BOTTOM, TOP = 40, 340, 300, 20


@dataclass(frozen=True, eq=False)
class SelectionReport:
    """Hold all that is shown of a selection model.

    Attributes
    ----------
    name : str
        Of the score.
    notes : sequence of str
        What was read.
    method, distribution, link, scale, selection_scale : str
        Of the model, as fitted.
    confidence_level : float
        Of intervals and band.
    rows : sequence of MetricRow
        Estimates beside the biased values.
    checks : sequence of Check
        Failed ones first.
    curve, naive_curve : OperatingCurve
        Of all rows, and of those looked at.
    band : CurveBounds or None
        Of the whole curve; only the page needs it.
    """

    name: str
    notes: Sequence[str]
    method: str
    distribution: str
    link: str
    scale: str
    selection_scale: str
    confidence_level: float
    rows: Sequence[MetricRow]
    checks: Sequence[Check]
    curve: OperatingCurve
    naive_curve: OperatingCurve
    band: CurveBounds | None = None

    @property
    def failed(self) -> list[Check]:
        """Checks that forbid to report the numbers."""
        return [check for check in self.checks if check.level == "fail"]

    @property
    def share_words(self) -> str:
        """Say how many rows are positive; nothing where a check forbids it."""
        if self.failed:
            return ""
        found = next(row.estimate for row in self.rows if row.metric == "prevalence")
        ends = f"{percent(found.low)} – {percent(found.high)}"
        return f"About {percent(found.value)} ({ends}) of all rows are positive, looked at or not."

    @property
    def needs_words(self) -> str:
        """Say what every number rests on."""
        needs = dict.fromkeys(need for row in self.rows for need in row.estimate.needs)
        return f"All of it needs: {', '.join(needs)}."

    @property
    def scale_words(self) -> str:
        """Say on which scale the score entered."""
        return "the score itself" if self.scale == "score" else f"{self.scale} of the score"


def selection_document(report: SelectionReport) -> dict[str, Any]:
    """Return the estimates beside the biased values, and the checks, as plain values."""
    metrics = [
        {
            "metric": row.label,
            "naive": row.naive,
            "estimate": row.estimate.value,
            "low": row.estimate.low,
            "high": row.estimate.high,
            "needs": list(row.estimate.needs),
        }
        for row in report.rows
    ]
    facts = ("method", "distribution", "link", "scale", "selection_scale", "confidence_level")
    return {
        "schema": SCHEMA,
        "version": __version__,
        "name": report.name,
        **{fact: getattr(report, fact) for fact in facts},
        "reportable": not report.failed,
        "metrics": metrics,
        "checks": [check_facts(check) for check in report.checks],
    }


def selection_text(report: SelectionReport, width: int = WIDTH) -> str:
    """Write what failed, the table, and what else the checks found."""
    level = f"all rows ({100 * report.confidence_level:g} %)"
    lines = [""]
    if report.failed:
        lines += [wrap("DO NOT REPORT these numbers: a check failed.", width)]
        lines += [*_check_lines(report.failed, width), ""]
    cells = [(title(row), f"{row.naive:.3f}", value_words(row.estimate)) for row in report.rows]
    head = ("", "rows looked at", level)
    wide = max([20, *(len(name) + 1 for name, _, _ in cells)])
    table = [f" {name:<{wide}}{naive:>16}   {value}" for name, naive, value in (head, *cells)]
    if too_wide(table, width):
        table = []
        for name, naive, value in cells:
            table += stack(name, [(head[1], naive), (level, value)], width)
    warned = _check_lines([check for check in report.checks if check.level == "warn"], width)
    # What the last sentence rests on stands before it.
    lines += [*table, "", wrap(report.needs_words, width), *warned]
    lines += [wrap(report.share_words, width)] if report.share_words else []
    return "\n".join(lines)


def _check_lines(checks: Sequence[Check], width: int) -> list[str]:
    return [
        wrap(f"{check.code} {check.level}: {check_words(check)}", width, " " * 3, " ")
        for check in checks
    ]


def selection_page(report: SelectionReport) -> str:
    """Return one self-contained page without scripts; everything a user named is escaped."""
    style = read_asset("style.css")
    paths = {"curve": _path(report.curve), "naive": _path(report.naive_curve), "band": ""}
    if report.band is not None:
        low, high = report.band.pessimistic, report.band.optimistic
        there = f"{_path(high)}{_path(low, back=True).replace('M', 'L', 1)}Z"
        paths["band"] = there
    return load_template("selection.html.jinja").render(
        report=report,
        rows=report.rows,
        failed=report.failed,
        level=f"{100 * report.confidence_level:g}",
        paths=paths,
        title=title,
        number=number,
        value=value_words,
        needs=needs_words,
        words=check_words,
        version=__version__,
        style=Markup(style),  # noqa: S704 - ours, not a user's
        hash=policy_hash(style),
    )


def _path(curve: OperatingCurve, *, back: bool = False) -> str:
    """Draw a curve in the page's unit square, by as many points as a document holds."""
    kept = np.unique(np.linspace(0, len(curve.fpr) - 1, N_POINTS).astype(int))
    kept = kept[::-1] if back else kept
    across, up = LEFT + (RIGHT - LEFT) * curve.fpr[kept], _height(curve.tpr[kept])
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(across, up, strict=True))


def _height(tpr: FloatArray) -> FloatArray:
    return BOTTOM + (TOP - BOTTOM) * np.clip(tpr, 0.0, 1.0)
