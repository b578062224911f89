"""Names and numbers as people say them."""

import math

from undercount.checks.percentages import ROUNDING
from undercount.count.arrays import amount
from undercount.infer.metric_name import place_words
from undercount.infer.metric_row import MetricRow
from undercount.metric_facts import FACTS


def metric_title(metric: str) -> str:
    """Name a metric, or a share that stands among them, as people say it."""
    return FACTS[metric].title if metric in FACTS else metric.replace("_", " ")


def title(row: MetricRow) -> str:
    """Name a row as people say it."""
    threshold = row.threshold if row.shown is None else row.shown
    return f"{metric_title(row.metric)}{place_words(threshold, row.top)}"


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
    exist = not any(map(math.isnan, values))
    if len(set(plain)) > 1 or not exist or max(values) - min(values) < ROUNDING:
        return plain
    digits = next(d for d in range(4, 11) if len({f"{value:.{d}f}" for value in values}) > 1)
    return [f"{value:.{digits}f}" for value in values]


def rows_words(number: float, *, weighted: bool) -> str:
    """Write an estimated number of rows; weights add up to no whole ones.

    Ends that verdicts set often lie on a half, and round the same way whatever their last bit is.

    Examples
    --------
    >>> from undercount.show.spoken import rows_words
    >>> rows_words(1263.4, weighted=False), rows_words(193.49999999999997, weighted=False)
    ('1,263', '194')
    """
    return amount(number) if weighted else f"{round(number, 6):,.0f}"


# A half-width that would be written as 0.000.
LEAST_SPOKEN_HALF_WIDTH = 0.0005


def half_width_words(value: float) -> str:
    """Write half the width of an interval with two digits; never as nothing, which it is not.

    Examples
    --------
    >>> from undercount.show.spoken import half_width_words
    >>> half_width_words(0.2834), half_width_words(0.0071), half_width_words(0.0002)
    ('± 0.28', '± 0.007', '< 0.001')
    """
    if value < LEAST_SPOKEN_HALF_WIDTH:
        return "< 0.001"
    if not math.isfinite(value):
        return "–"
    return f"± {value:.2f}" if value >= 0.095 else f"± {value:.3f}"  # noqa: PLR2004 - readability
