"""Intervals of segments hold their level, in designs that help pooling and designs that hurt it."""

import sys

import numpy as np
import pytest
from scipy.special import expit, logit

import undercount as uc
from undercount.estimate import Interval

LEVELS = (0.8, 0.9, 0.95)
DESIGNS = (
    "alike",
    "shares differ",
    "shares and scores differ",
    "shares and labelling differ",
    "many small",
)


def draw(design, rng):
    """Twelve segments of 1,000 to 5,000 rows; truth, label, score and segment of each row.

    "many small": thirty of 300 to 1,500 rows, in half of which negatives spread wider.
    """
    small = design == "many small"
    base, apart, chance = rng.uniform(0.05, 0.35), rng.uniform(2.0, 3.5), rng.uniform(0.2, 0.5)
    spread = 0.0 if design == "alike" else 0.5
    truths, labels, scores, segments = [], [], [], []
    for segment in range(30 if small else 12):
        n = int(rng.choice([300, 600, 1500] if small else [1000, 2000, 5000]))
        share = expit(logit(base) + spread * rng.normal())
        gap = apart + (0.4 * rng.normal() if design == "shares and scores differ" else 0.0)
        odds = logit(chance) + (0.6 * rng.normal() if "labelling" in design else 0.0)
        truth = rng.random(n) < share
        truths.append(truth)
        labels.append(truth & (rng.random(n) < expit(odds)))
        wide = 1.3 if small and segment % 2 else 1.0
        scores.append(rng.normal(size=n) * np.where(truth, 1.0, wide) + gap * truth)
        segments.append(np.full(n, segment))
    return [np.concatenate(each) for each in (truths, labels, scores, segments)]


def tally(design, repeats, levels, seed, **given):
    """Share of segments with at least 20 labels whose interval holds the truth, by metric."""
    rng = np.random.default_rng(seed)
    held = {"share": [], "recall": [], "precision": []}
    for _ in range(repeats):
        truth, label, score, segment = draw(design, rng)
        y, cut = np.where(label, 1.0, np.nan), float(np.quantile(score, 0.85))
        ask = {"by": segment, "threshold": cut, **given}
        found = [uc.evaluate(y, score, confidence_level=level, **ask).rows for level in levels]
        for rows in zip(*found, strict=True):
            here = segment == rows[0].segment
            if label[here].sum() < 20:
                continue
            flagged = here & (score >= cut)
            values = {
                "share": (truth & ~label)[here].sum() / (~label)[here].sum(),
                "recall": (truth & flagged).sum() / truth[here].sum(),
                "precision": truth[flagged].mean(),
            }
            for name, value in values.items():
                held[name].append([value in span(row, name) for row in rows])
    return {name: np.mean(each, axis=0).round(3).tolist() for name, each in held.items()}


def span(row, name):
    """The interval of a metric of one segment, or of its share."""
    found = {metric.metric: metric.estimate for metric in row.rows} | {"share": row.share}
    return Interval(found[name].low - 1e-12, found[name].high + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_segments_are_covered(design):
    found = {name: each[0] for name, each in tally(design, 16, (0.95,), 1).items()}
    assert 0.93 <= found["recall"] <= 0.985
    # The share has the error of the estimator, which is cautious on scores as smooth as these.
    assert found["precision"] >= 0.93
    assert found["share"] >= 0.93


if __name__ == "__main__":
    for each in sys.argv[3:] or DESIGNS:
        print(each, tally(each, int(sys.argv[1]), LEVELS, int(sys.argv[2])), flush=True)  # noqa: T201
