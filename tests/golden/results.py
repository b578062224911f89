"""Results that must be the same on every machine: `python -m tests.golden.results` prints them.

The rows are made without random numbers, so that they are the same under every version of NumPy;
scores are multiples of 1/1024, which 32 bits hold exactly.
"""

import json
import sys
import warnings
from typing import Any

import numpy as np

import undercount as uc
from undercount.metric_facts import AREAS, LOSSES

N = 600
POINTS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc", "kappa", "lift", "npv")
OPTIONS: dict[str, dict[str, Any]] = {
    "a share": {"prevalence": 0.45},
    "a range": {"prevalence": (0.4, 0.5)},
    "an error": {"unlabeled_prevalence": uc.Estimate(0.3, 0.2, 0.4, 0.05)},
    "impure": {"assume": uc.RandomLabels(0.45, purity=0.9)},
    "case-control": {"assume": uc.RandomLabels(0.3, sampling="case-control")},
    "population": {"label_frequency": 0.4, "target": "population"},
}


def make_rows() -> dict[str, Any]:
    """Make labels and two scores by the golden ratio instead of chance."""
    place = np.arange(1, N + 1)
    even = [(place * step) % 1.0 for step in (0.6180339887498949, 0.4142135623730951, 0.7320508)]
    truth = even[0] < 0.45
    y = np.where(truth & (even[1] < 0.4), 1, 0)
    scores = [np.round(1024 * (0.35 * truth + 0.65 * u)) / 1024 for u in (even[2], even[1])]
    return {"y": y, "score": scores[0], "other": np.roll(scores[1], 7)}


def compute(kind: type = np.float64) -> dict[str, float]:
    """Return all results, by name; scores are handed over as numbers of a kind."""
    rows = make_rows()
    y, score, other = rows["y"], rows["score"].astype(kind), rows["other"].astype(kind)
    found: dict[str, float] = {}
    for words, options in OPTIONS.items():
        for name in (*AREAS, *LOSSES, *POINTS):
            more = {"threshold": 0.5} if name in POINTS else {}
            more |= {"max_fpr": 0.2} if name == "partial_roc_auc" else {}
            metric = getattr(uc.metrics, name)
            estimate = metric(y, score, unlabeled=0, **options, **more)
            found |= _ends(f"{name}, {words}", estimate)
    comparison = uc.compare(
        y, {"a": score, "b": other}, unlabeled=0, prevalence=0.45, threshold=0.5
    )
    for difference in comparison.differences:
        found |= _ends(f"difference of {difference.metric}", difference.difference)
    counts, shares = uc.ScoreCounts.from_rows(y, score, unlabeled=0), uc.Shares(0.3)
    bounds = uc.bound_curve(counts, shares)
    found |= {"bounds: low": bounds.roc_auc.low, "bounds: high": bounds.roc_auc.high}
    biased = uc.biased_auc(counts, shares, 1.5)
    found |= {"biased: low": biased.low, "biased: high": biased.high}
    for name in ("BestBin", "RocSlope", "ElkanNoto", "PatraSen"):
        made = getattr(uc.prevalence, name)(n_resamples=0, random_state=0).fit(
            y, score, unlabeled=0
        )
        found[f"{name}"] = float(made.unlabeled_prevalence_)
    return found


def _ends(name: str, estimate: Any) -> dict[str, float]:
    values = {"": estimate.value, ": low": estimate.low, ": high": estimate.high}
    return {f"{name}{end}": float(value) for end, value in values.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(compute(), indent=0) + "\n")
