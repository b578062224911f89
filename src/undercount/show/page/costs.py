"""Curves of cost and net benefit with their bands, drawn without a script."""

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from undercount.curve import FloatArray
from undercount.estimate import Estimate
from undercount.read.cost_curve import CostCurve
from undercount.show.page.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, Scale, draw_axes

FIGURE = Markup('<svg viewBox="0 0 480 {}" role="img" aria-label="{}">{}</svg>')
BAND = Markup('<polygon points="{}" fill="currentColor" fill-opacity=".15"/>')
LINE = Markup('<polyline points="{}" fill="none" stroke="currentColor" stroke-width="2"/>')
LEVEL_LINE = Markup(
    '<line x1="{}" x2="{}" y1="{}" y2="{}" stroke="currentColor" stroke-dasharray="5 4"/>'
    '<text x="{}" y="{}" font-size="12" text-anchor="end" fill="currentColor">{}</text>'
)


def draw_costs(curve: CostCurve) -> list[tuple[str, Markup]]:
    """Draw cost and net benefit against the rows flagged, with bands, beside none and all."""
    levels = {"flag none": curve.none, "flag all": curve.everything}
    levels = {words: level for words, level in levels.items() if math.isfinite(level)}
    figures = [("Cost a row", _figure(curve.flagged, curve.points, levels, "cost a row"))]
    if curve.benefits:
        drawn = _figure(curve.flagged, curve.benefits, {"flag none": 0.0}, "net benefit")
        figures.append(("Net benefit", drawn))
    return figures


def _figure(
    flagged: FloatArray, points: Sequence[Estimate], levels: dict[str, float], name: str
) -> Markup:
    value, low, high = (
        np.array([getattr(point, part) for point in points]) for part in ("value", "low", "high")
    )
    ends = [*low[np.isfinite(low)], *high[np.isfinite(high)], *levels.values()]
    room = 0.05 * (max(ends) - min(ends)) or 0.05
    across = Scale(0.0, float(flagged[-1]), LEFT, RIGHT)
    up = Scale(min(ends) - room, max(ends) + room, BOTTOM, TOP)
    parts = draw_axes(across, up, "rows flagged", name, HEIGHT)
    finite, valued = np.isfinite(low) & np.isfinite(high), np.isfinite(value)
    x = across(flagged[finite])
    around = [_places(x, up(high[finite])), _places(x[::-1], up(low[finite])[::-1])]
    parts.append(BAND.format(" ".join(around)))
    if valued.any():  # else a range alone is known
        parts.append(LINE.format(_places(across(flagged[valued]), up(value[valued]))))
    for words, level in levels.items():
        y = f"{up(level):.1f}"
        parts.append(LEVEL_LINE.format(LEFT, RIGHT, y, y, RIGHT, f"{up(level) - 4:.1f}", words))
    title = f"{name} against the rows flagged, with its band"
    return FIGURE.format(HEIGHT, title, Markup("").join(parts))


def _places(x: FloatArray, y: FloatArray) -> str:
    return " ".join(f"{u:.1f},{v:.1f}" for u, v in zip(x, y, strict=True))
