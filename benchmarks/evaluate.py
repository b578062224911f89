"""Time `evaluate` with all metrics, intervals and bands against scikit-learn's two curves.

CPU time in one run; only the ratio is meant. Bar: at most 2 at 1,000,000 rows.
"""

import argparse
import time

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

import undercount as uc


def best(function, repeats):
    times = []
    for _ in range(repeats):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    for prevalence, frequency in ((0.05, 0.2), (0.3, 0.5)):
        truth = rng.random(options.rows) < prevalence
        score = rng.normal(1.5 * truth).astype(np.float32)
        y = (truth & (rng.random(options.rows) < frequency)).astype(np.int8)

        def ours(y=y, score=score, prevalence=prevalence):
            evaluation = uc.evaluate(
                y, score, unlabeled=0, prevalence=prevalence, threshold=1.0, target="dataset"
            )
            return evaluation.bounds, evaluation.curve, evaluation.naive_curve

        def theirs(y=y, score=score):
            return roc_curve(y, score), precision_recall_curve(y, score)

        mine, other = best(ours, options.repeats), best(theirs, options.repeats)
        share = prevalence * frequency
        print(
            f"{options.rows:,} rows, {100 * share:g} % labelled: evaluate {mine:.3f} s, "
            f"roc_curve + precision_recall_curve {other:.3f} s, ratio {mine / other:.2f} (bar 2)"
        )


if __name__ == "__main__":
    main()
