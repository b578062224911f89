"""Panels of lines, points, boxes and surfaces, drawn when matplotlib is there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from undercount.count.atomic_file import replace_when_complete

MOST_POINTS = 300  # of a line in a picture: more cannot be seen
IN_ROW = 3


@dataclass(frozen=True)
class Line:
    """Hold one line of a panel.

    Attributes
    ----------
    label : str
        Name in the legend; "" leaves it out.
    x, y : list of float
        Its points.
    style : str
        Format of matplotlib, such as "-", "--" or ".".
    """

    label: str
    x: list[float]
    y: list[float]
    style: str = "-"

    @classmethod
    def of(cls, label: str, x: ArrayLike, y: ArrayLike, style: str = "-") -> "Line":
        """Make a line of at most 300 points, evenly spread along it, its ends kept."""
        across, up = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        chosen = np.arange(len(across))
        if len(across) > MOST_POINTS:
            way = np.cumsum(sum(np.abs(np.diff(v, prepend=v[0])) / _range(v) for v in (across, up)))
            stops = np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS - 1))
            chosen = np.unique(np.append(np.minimum(stops, len(way) - 1), len(way) - 1))
        return cls(label, across[chosen].round(5).tolist(), up[chosen].round(5).tolist(), style)


def _range(values: Any) -> float:
    return float(np.ptp(values)) or 1.0


@dataclass(frozen=True)
class Box:
    """Hold one box of a panel: least, quartiles, most, and the mean.

    Attributes
    ----------
    label : str
        Its name under the axis.
    five : list of float
        Least value, first quartile, median, third quartile, largest value.
    mean : float
        Drawn as a diamond.
    """

    label: str
    five: list[float]
    mean: float

    @classmethod
    def of(cls, label: str, values: ArrayLike) -> "Box":
        """Make a box of numbers."""
        found = np.asarray(values, dtype=float)
        five = np.quantile(found, [0, 0.25, 0.5, 0.75, 1]).round(5).tolist()
        return cls(label, five, round(float(found.mean()), 5))


@dataclass(frozen=True)
class Panel:
    """Hold one panel: lines, boxes side by side, or a surface over the unit square.

    `ticks` are names under the axis, at 0, 1, 2, … .
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...] = ()
    surface: list[list[float]] = field(default_factory=list)
    log_x: bool = False
    log_y: bool = False
    boxes: tuple[Box, ...] = ()
    ticks: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> "Panel":
        """Make a panel from its JSON."""
        lines = tuple(Line(**line) for line in found["lines"])
        boxes = tuple(Box(**box) for box in found.get("boxes", ()))
        ticks = tuple(found.get("ticks", ()))
        return cls(**{**found, "lines": lines, "boxes": boxes, "ticks": ticks})


def roc_line(label: str, curve: Any, style: str = "-") -> Line:
    """Return the ROC curve of an operating curve."""
    order = np.lexsort((curve.tpr, curve.fpr))
    return Line.of(label, curve.fpr[order], curve.tpr[order], style)


def thinned(panels: Sequence[Panel]) -> Iterator[tuple[str, str, float, float]]:
    """Return the points of all lines and the five numbers of all boxes, one row a point."""
    for panel in panels:
        for place, box in enumerate(panel.boxes):
            for value in box.five:
                yield panel.title, box.label, float(place), value
        for line in panel.lines:
            for x, y in zip(line.x, line.y, strict=True):
                yield panel.title, line.label, x, y


def draw(panels: Sequence[Panel], stem: Path) -> list[Path]:
    """Draw panels side by side into SVG and PNG; return nothing without matplotlib."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an optional package
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        return []
    columns = min(len(panels), IN_ROW)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        _draw_panel(axes, panel)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    kinds: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}}, "png": {"dpi": 100}}
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in kinds]
    with mpl.rc_context({"svg.hashsalt": stem.name}):  # the same picture gives the same file
        for path, (kind, options) in zip(paths, kinds.items(), strict=True):
            with replace_when_complete(path) as unfinished:
                figure.savefig(unfinished, format=kind, **options)
    return paths


def _draw_panel(axes: Any, panel: Panel) -> None:
    if panel.surface:
        axes.set_facecolor("lightgrey")  # seen where the surface is undefined
        surface = np.ma.masked_invalid(np.array(panel.surface, dtype=float))
        axes.imshow(surface, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=0.5)
    colour = None
    for line in panel.lines:
        # A line without a name belongs to the one before it.
        options = {"label": line.label} if line.label else {"color": colour}
        colour = axes.plot(line.x, line.y, line.style, markersize=3, **options)[0].get_color()
    _draw_boxes(axes, panel)
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    if any(line.label for line in panel.lines):
        axes.legend(fontsize="small")


def _draw_boxes(axes: Any, panel: Panel) -> None:
    names = ("whislo", "q1", "med", "q3", "whishi")
    if panel.boxes:
        boxes = [
            {**dict(zip(names, box.five, strict=True)), "mean": box.mean, "label": box.label}
            for box in panel.boxes
        ]
        diamond = {"marker": "D", "markerfacecolor": "black", "markersize": 3}
        axes.bxp(
            boxes,
            positions=range(len(boxes)),
            showfliers=False,
            showmeans=True,
            meanprops={**diamond, "markeredgecolor": "black"},
        )
        axes.axhline(0, color="grey", linewidth=0.5)
    ticks = panel.ticks or tuple(box.label for box in panel.boxes)
    if ticks:
        axes.set_xticks(range(len(ticks)), ticks, rotation=45, ha="right")
