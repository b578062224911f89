"""Names and numbers as people say them."""

import math
from typing import Literal

from undercount.metric_facts import FACTS
from undercount.read.evaluation import MetricRow
from undercount.read.metric_name import place_words

ROUNDING = 1e-9


def metric_title(metric: str) -> str:
    """Name a metric, or a share that stands among them, as people say it."""
    return FACTS[metric].title if metric in FACTS else metric.replace("_", " ")


def title(row: MetricRow) -> str:
    """Name a row as people say it."""
    name = metric_title(row.metric)
    if row.top is not None:
        return f"{name}{place_words(None, row.top)}"
    return name if row.threshold is None else f"{name}@{row.threshold:g}"


def percent(share: float, bound: Literal["", "least", "most"] = "") -> str:
    """Write a share as a percentage with two significant digits.

    The least share at which something holds is rounded up, the largest one down.
    """
    digits = 0 if share >= 0.1 else 1 if share >= 0.01 else 2  # noqa: PLR2004 - readability
    shown = 100 * share
    if bound:
        away = math.ceil if bound == "least" else math.floor
        nudge = -ROUNDING if bound == "least" else ROUNDING
        shown = away(shown * 10**digits + nudge) / 10**digits
    return f"{shown:.{digits}f} %"


def number(value: float) -> str:
    """Write a metric; a dash where it does not exist."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def numbers(*values: float) -> list[str]:
    """Write several metrics, or one with the ends of its interval."""
    return [number(value) for value in values]
