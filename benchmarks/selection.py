"""Time the selection models: ``python benchmarks/selection.py [--quick]``.

CPU seconds, so that other work on the machine does not count. Bars: eq. 15 on 100,000 rows under
5 s, own-score on 1,000,000 rows under 2 s, on one core.
"""

import sys
import time

from undercount import SelectedLabels
from undercount.infer.metric_at import MetricAt
from undercount.theory.simulation import (
    simulate_observed_score,
    simulate_own_score,
    simulate_unobserved,
)


def timed(name, limit, action):
    start = time.process_time()
    result = action()
    seconds = time.process_time() - start
    verdict = "" if limit is None else ("  ok" if seconds < limit else "  TOO SLOW")
    bar = "" if limit is None else f"  (bar {limit} s)"
    print(f"{name:<58}{seconds:8.2f} s{bar}{verdict}")
    return result


def main(scale=1.0):
    own = simulate_own_score(int(1_000_000 * scale), 0.7, random_state=0)
    model = timed(
        "own-score, 1,000,000 rows: fit",
        2.0,
        lambda: SelectedLabels("own-score").fit(own.y, own.score),
    )
    timed(
        "own-score, 1,000,000 rows: interval of the AUC",
        None,
        lambda: model.estimate(MetricAt("roc_auc")),
    )
    timed("own-score, 1,000,000 rows: band", None, model.band)
    hidden = simulate_unobserved(
        int(100_000 * scale), 0.5, hidden_correlation=0.7, score_weight=0.5, random_state=0
    )
    model = timed(
        "unobserved (eq. 15), 100,000 rows: fit",
        5.0,
        lambda: SelectedLabels("unobserved").fit(hidden.y, hidden.score),
    )
    timed(
        "unobserved, 100,000 rows: profile interval",
        None,
        lambda: model.estimate(MetricAt("roc_auc")),
    )
    seen = simulate_observed_score(int(100_000 * scale), 0.5, random_state=0)
    timed(
        "observed-score, 100,000 rows: fit",
        None,
        lambda: SelectedLabels("observed-score", selection_score=seen.selection_score).fit(
            seen.y, seen.score
        ),
    )
    random = simulate_unobserved(
        int(100_000 * scale), 0.5, hidden_correlation=0.0, score_weight=0.5, random_state=0
    )
    for method in ("begg-greenes", "ipw", "doubly-robust"):
        timed(
            f"{method}, 100,000 rows: fit",
            None,
            lambda method=method: SelectedLabels(method).fit(random.y, random.score),
        )


if __name__ == "__main__":
    main(0.1 if "--quick" in sys.argv[1:] else 1.0)
