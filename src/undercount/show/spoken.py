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
    return f"{metric_title(row.metric)}{place_words(row.threshold, row.top)}"


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


def goal_percent(share: float) -> str:
    """Write a share that somebody asks for as a percentage, with all of its digits.

    Examples
    --------
    >>> from undercount.show.spoken import goal_percent, percent
    >>> goal_percent(0.955), percent(0.955)
    ('95.5 %', '96 %')
    """
    return f"{100 * share:.12g} %"


def number(value: float) -> str:
    """Write a metric; a dash where it does not exist."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def numbers(*values: float) -> list[str]:
    """Write several metrics, or one with the ends of its interval.

    Ends that differ are written with so many digits that it shows.

    Examples
    --------
    >>> from undercount.show.spoken import numbers
    >>> numbers(0.5, 0.25), numbers(0.9981, 0.9978, 0.9983)
    (['0.500', '0.250'], ['0.9981', '0.9978', '0.9983'])
    """
    plain = [number(value) for value in values]
    known = not any(map(math.isnan, values))
    if len(set(plain)) > 1 or not known or max(values) - min(values) < ROUNDING:
        return plain
    digits = next(d for d in range(4, 11) if len({f"{value:.{d}f}" for value in values}) > 1)
    return [f"{value:.{digits}f}" for value in values]
