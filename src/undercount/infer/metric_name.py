"""A metric as people write it: "ROC AUC", "f1@0.7", "recall@top 500", "new.fpr@0.5"."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import metric_names
from undercount.errors import InputError, check_choice, named
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.metric_facts import FACTS

# Every metric that an evaluation can estimate from its counts, at a threshold or on the curve.
KNOWN = (*SWEPT_AREAS, *metric_names(), "fpr")
METRIC_BY_ALIAS = {
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "ap": "average_precision",
    "aul": "lift_auc",
    "f1_score": "f1",
    "sensitivity": "recall",
    "false_positive_rate": "fpr",
    "tpr": "recall",
    "true_positive_rate": "recall",
    "false_negative_rate": "fnr",
    "negative_predictive_value": "npv",
    "flagged_share": "predicted_positive_rate",
    "youden": "informedness",
}
# Digits of a threshold at least, and those that tell any two numbers apart.
SHORT_NAME_DIGITS, ALL_DIGITS = 4, 17
# A number of rows with commas between its thousands; any other comma may be a decimal point.
GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(,\d{3})+(?![\d.,%])")
METRIC_PATTERN = re.compile(
    r"\s*(?:(?P<model>.+)\.)?(?P<metric>[A-Za-z][A-Za-z0-9_ -]*?)\s*"
    r"(?:@\s*(?:top\s*(?P<top>[^\s]+)|(?P<threshold>[^\s]+)))?\s*"
)


@dataclass(frozen=True)
class MetricName:
    """Hold a metric, where it is read, and of which model, if that was said.

    Attributes
    ----------
    threshold : float, optional
        Rows with at least this score are flagged.
    top : float, optional
        So many rows of the highest scores are flagged; below 1 such a share of them.
    model : str, optional
        One of several models.

    Examples
    --------
    >>> from undercount.infer.metric_name import parse_metric
    >>> parse_metric("ROC AUC").metric, parse_metric("new.precision@0.7").model
    ('roc_auc', 'new')
    >>> print(parse_metric("Recall @ top 1%"))
    recall@top 1%
    """

    metric: str
    threshold: float | None = None
    top: float | None = None
    model: str | None = None

    @property
    def placed(self) -> bool:
        """Whether it was said where the metric is read, or the whole curve is enough."""
        return self.metric in SWEPT_AREAS or self.threshold is not None or self.top is not None

    def check_top_metric(self, known: Sequence[str]) -> None:
        """Refuse a metric that is not read of the highest rows without a threshold."""
        if self.metric not in known:
            raise InputError(
                f"{self.metric} needs a {named('threshold')}; of the highest rows there are "
                f"{', '.join(known)}",
                argument="metrics",
            )

    def __str__(self) -> str:
        before = "" if self.model is None else f"{self.model}."
        return f"{before}{self.metric}{place_words(self.threshold, self.top)}"


def short_number(value: float) -> str:
    """Write a number so that it is read as the same, and short if that will do.

    A threshold that is rounded may flag other rows, and a goal that is rounded is another goal.

    Examples
    --------
    >>> from undercount.infer.metric_name import short_number
    >>> short_number(0.5), short_number(0.9999999999996)
    ('0.5', '0.9999999999996')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value)).removesuffix(".0")


def short_threshold(threshold: float, counts: ScoreCounts) -> float:
    """Return a threshold with as few digits, but four, as flag the same rows.

    Examples
    --------
    >>> from undercount import ScoreCounts
    >>> from undercount.infer.metric_name import short_threshold
    >>> counts = ScoreCounts.from_counts([0.7, 0.53669, 0.5], [2, 1, 1], [0, 0, 0], [1, 3, 9])
    >>> short_threshold(0.5366881090479443, counts)
    0.53669
    """
    if float(f"{threshold:g}") == threshold:
        return threshold
    filled = counts.positive + counts.negative + counts.unlabeled > 0  # some cells are mere knots
    flagged = filled & (counts.score >= threshold)
    below = filled & (counts.score < threshold)
    most = counts.score[flagged].min(initial=math.inf)
    least = counts.score[below].max(initial=-math.inf)
    if counts.merged[below & (counts.score == least)].any():
        least = np.nextafter(threshold, -math.inf)  # rows of that cell may score more than it says
    for digits in range(SHORT_NAME_DIGITS, ALL_DIGITS):
        short = float(f"{threshold:.{digits}g}")
        if least < short <= most:
            return short
    return threshold


def place_words(threshold: float | None, top: float | None) -> str:
    """Write where a metric is read, after its name."""
    if top is not None:
        return f"@top {top_words(top)}"
    return "" if threshold is None else f"@{short_number(threshold)}"


def top_words(top: float) -> str:
    """Write how many rows of the highest scores are meant.

    Examples
    --------
    >>> from undercount.infer.metric_name import top_words
    >>> top_words(5000), top_words(0.004)
    ('5,000', '0.4%')
    """
    rows = float(top)  # a fraction knows no formats before Python 3.12
    return f"{100 * rows:.4g}%" if rows < 1 else f"{rows:,.10g}"


def asks_top(top: float | None, metrics: Iterable[str] | None) -> bool:
    """Whether metrics of the highest rows are asked for.

    Examples
    --------
    >>> from undercount.infer.metric_name import asks_top
    >>> asks_top(None, ["roc_auc"]), asks_top(None, ["recall@top 1%"]), asks_top(500, None)
    (False, True, True)
    """
    return top is not None or any(parse_metric(name).top is not None for name in metrics or ())


def read_top(text: str) -> float:
    """Read a number of rows (500), a share (1%, 0.01) or rows of rows (200/50000).

    Examples
    --------
    >>> from undercount.infer.metric_name import read_top
    >>> read_top("5,000"), read_top("1%"), read_top("200/50000")
    (5000, 0.01, 0.004)
    """
    part, _, whole = GROUPED.sub(lambda found: found[0].replace(",", ""), text).partition("/")
    try:
        found = _number(part) / (_number(whole) if whole else 1.0)
    except (ValueError, ZeroDivisionError):
        found = -1.0
    share = bool(whole) or part.strip().endswith("%") or (found == 1 and not part.strip().isdigit())
    if share and found >= 1:
        raise InputError(
            f"top {text!r} must be a share of fewer than all rows, or a number of rows like 500; "
            "of all rows no score chooses any",
            argument="top",
        )
    if not 0 < found < float("inf") or (found >= 1 and not found.is_integer()):
        raise InputError(
            f"top must be a number of rows like 500, a share like 1% or 0.01, or 200/50000 for "
            f"200 of every 50,000 rows; got {text!r}",
            argument="top",
        )
    return int(found) if found >= 1 else found


def read_number(part: str, text: str) -> float:
    """Read a number or a percentage out of a text, which the message repeats."""
    try:
        value = _number(part)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{part!r} is not a number in {text!r}")
    return value


def _number(part: str) -> float:
    bare = part.strip()
    if not bare.endswith("%"):
        return float(bare)
    number = float(bare[:-1])
    # By its digits, so that .45% is the 0.0045 that people would write.
    return float(f"{number!r}e-2") if "e" not in repr(number) else number / 100


def name_metric(text: str, known: Sequence[str] = KNOWN) -> str:
    """Return the library's name of a metric, whichever of its names was written.

    Examples
    --------
    >>> from undercount.infer.metric_name import name_metric
    >>> name_metric("ROC AUC"), name_metric("Sensitivity")
    ('roc_auc', 'recall')
    """
    key = re.sub(r"[ _-]+", "_", text.strip().lower()) if isinstance(text, str) else ""
    metric = METRIC_BY_ALIAS.get(key, key)
    if metric not in known:
        check_choice("metric", text.strip() if isinstance(text, str) else text, known)
    return metric


def parse_metric(text: str) -> MetricName:
    """Read a metric by any of its names, in any case, with where it is read if that is said."""
    match = METRIC_PATTERN.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"a metric reads like 'precision@0.7' or 'roc_auc'; got {text!r}")
    metric = name_metric(match["metric"])
    top = None if match["top"] is None else read_top(match["top"])
    threshold = None if match["threshold"] is None else read_number(match["threshold"], text)
    if threshold is not None and match["threshold"].endswith("%"):
        raise InputError(
            f"{match['threshold']} in {text!r} could mean two things: write @{threshold:g} for the "
            f"rows with a score of at least {threshold:g}, @top {match['threshold']} for the "
            f"highest {match['threshold']} of the rows"
        )
    if metric in SWEPT_AREAS and (threshold is not None or top is not None):
        raise InputError(f"{FACTS[metric].title} takes no threshold; got {text!r}")
    return MetricName(metric, threshold, top, match["model"])
