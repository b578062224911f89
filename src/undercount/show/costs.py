"""What errors cost, in words and as a short table."""

import math

import numpy as np

from undercount.count.arrays import amount
from undercount.estimate import Estimate
from undercount.infer.metric_name import short_number
from undercount.read.cost_curve import CostCurve
from undercount.show.spoken import number

OPEN_ADVICE = "give a prevalence or a range of it, or review some rows"
# Thresholds that a terminal shows.
SHOWN_THRESHOLDS = 6


def cost_words(curve: CostCurve) -> str:
    """Say what errors cost, where they cost least, and what that gains."""
    wrong, missed = curve.costs["false_positive"], curve.costs["false_negative"]
    words = [f"a false positive {wrong:g}, a false negative {missed:g}"]
    if not math.isnan(curve.none):
        either = f"flagging no row costs {number(curve.none)} a row"
        words.append(f"{either}, flagging all {number(curve.everything)}")
    if curve.here is not None:
        words.append(f"at the threshold {spread_words(curve.here)}")
    best = curve.best
    if best is None:
        words.append(f"where they are least depends on the hidden positives: {OPEN_ADVICE}")
        return " · ".join(words)
    place = (
        "flag no row" if math.isinf(best.threshold) else f"threshold {short_number(best.threshold)}"
    )
    gain = ""
    if best.gain is not None and best.over is not None and best.over != best.threshold:
        gain = f", {spread_words(best.gain)} less than {over_words(best.over)}"
    return " · ".join([*words, f"least: {place}{gain}"])


def over_words(over: float) -> str:
    """Name what the best threshold is compared with."""
    if math.isinf(over):
        return "flagging no row" if over > 0 else "flagging all"
    return f"at {short_number(over)}"


def spread_words(found: Estimate) -> str:
    """Write an estimate with its interval."""
    ends = f"{number(found.low)} – {number(found.high)}"
    return ends if found.range_only else f"{number(found.value)} ({ends})"


def cost_table(curve: CostCurve) -> tuple[list[str], list[list[str]]]:
    """Return cost and net benefit at a few thresholds, the best and the user's own among them."""
    marks = {} if curve.best is None else {curve.best.threshold: "least"}
    if curve.own is not None:
        marks[curve.own] = "yours, least" if curve.own in marks else "yours"
    marked = np.flatnonzero(np.isin(curve.threshold, list(marks)))
    spread = np.linspace(0, len(curve.points) - 1, SHOWN_THRESHOLDS).astype(int)
    head, rows = ["threshold", "flagged", "cost a row"], []
    for place in np.union1d(spread, marked).tolist():
        threshold = float(curve.threshold[place])
        # Those that somebody may take over in full, others as marks along the way.
        at = f"{threshold:.6g}"
        if threshold in marks:
            at = f"{short_number(threshold)} ({marks[threshold]})"
        cells = [at, amount(curve.flagged[place])]
        rows.append([*cells, spread_words(curve.points[place])])
        if curve.benefits:
            rows[-1].append(spread_words(curve.benefits[place]))
    return [*head, *(["net benefit"] if curve.benefits else [])], rows
