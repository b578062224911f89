"""The axes of a drawing: where numbers stand, and the grid with their names."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

# Of a drawing 480 wide.
LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 56, 464, 12, 292, 336
AXIS_TICKS = 5  # of an axis, about


@dataclass(frozen=True)
class Scale:
    """Map numbers to places of a drawing, and name round ones."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: Any) -> Any:
        """Return the place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and names of round numbers."""
        rough = (self.high - self.low) / AXIS_TICKS
        ten = 10.0 ** np.floor(np.log10(rough))
        step = ten * next(k for k in (1, 2, 2.5, 5, 10) if k * ten >= rough * 0.999)
        first = np.ceil(self.low / step - 1e-9)
        last = np.floor(self.high / step + 1e-9)
        places = [float(k * step) + 0.0 for k in np.arange(first, last + 1)]  # no -0
        return [(float(self(v)), f"{v:.6g}") for v in places]


def write_place(values: Any) -> str:
    """Write a place of a drawing."""
    return f"{float(values):.1f}"


def draw_axes(across: Scale, up: Scale, x_name: str, y_name: str, height: int) -> list[Markup]:
    """Draw grid, numbers and names of the axes."""
    line = Markup('<line x1="{}" x2="{}" y1="{}" y2="{}" class="grid"/>')
    text = Markup('<text x="{}" y="{}" class="{}">{}</text>')
    parts = []
    for place, name in across.ticks:
        parts.append(
            line.format(write_place(place), write_place(place), TOP, write_place(up.start))
        )
        parts.append(text.format(write_place(place), write_place(up.start + 16), "middle", name))
    if y_name:
        for place, name in up.ticks:
            parts.append(line.format(LEFT, RIGHT, write_place(place), write_place(place)))
            parts.append(text.format(LEFT - 6, write_place(place + 4), "end", name))
        middle = (TOP + BOTTOM) // 2
        parts.append(
            Markup(
                '<text x="{}" y="13" transform="rotate(-90)" class="middle axis">{}</text>'
            ).format(-middle, y_name)
        )
    parts.append(text.format((LEFT + RIGHT) // 2, height - 6, "middle axis", x_name))
    return parts
