"""`Consensus` on real sets in which some negatives are like positives: irreducibility fails.

    python benchmarks/consensus_overlap.py DATA_FOLDER [--draws D] [--sets SET ...]

Landsat, mushroom and shuttle (`landsat_jain.parquet`, `mushroom_jain.parquet`,
`shuttle.parquet`), 200 labels and 2,000 unlabeled rows. A share of the negatives is drawn from the
class of the positives, as in studies of mixture proportions without irreducibility. Such rows
cannot be told from positives by any score: what the data identify is the share of rows of that
class, a + (1 - a) · overlap, and the true share is only known to be no larger. Beside Consensus
stand `Dedpul` and the smallest of the six methods' answers. Scores are out-of-fold scores of our
default boosting. Everything is seeded.
"""

import argparse
import itertools
import pathlib
import warnings

import numpy as np
from prevalence_real import SCORERS, load
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from undercount.prevalence import Consensus

SETS = ("landsat_jain", "mushroom_jain", "shuttle")
OVERLAPS = (0.0, 0.1, 0.2)
SHARES = (0.1, 0.3)
N_LABELLED, N_UNLABELED = 200, 2000
SEED = 171


def draw(data, share, overlap, rng):
    """Return features, labels, the true share and the share of rows like positives."""
    features, y = data
    hidden = round(share * N_UNLABELED)
    alike = round(overlap * (N_UNLABELED - hidden))
    positive, negative = (rng.permutation(np.flatnonzero(y == kind)) for kind in (1, 0))
    taken = positive[: N_LABELLED + hidden + alike]
    rows = np.concatenate([taken, negative[: N_UNLABELED - hidden - alike]])
    order = rng.permutation(len(rows))
    labels = np.repeat([1, 0], [N_LABELLED, N_UNLABELED])
    seen = (len(taken) - N_LABELLED) / N_UNLABELED
    return features[rows][order], labels[order], hidden / N_UNLABELED, seen


def measure(data, share, overlap, seed):
    """Return the true share, the share that the data identify, and what was found."""
    features, y, truth, seen = draw(data, share, overlap, np.random.default_rng(seed))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    score = cross_val_predict(
        SCORERS["small boosting"], features, y, cv=folds, method="predict_proba"
    )[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Consensus().fit(y, score, unlabeled=0)
    six = found.diagnostics_["estimates"]
    span = found.interval_
    return (
        truth,
        seen,
        found.unlabeled_prevalence_,
        six["Dedpul"],
        min(six.values()),
        truth in span,
        seen in span,
        span.width,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    args = parser.parse_args()
    print(
        f"{'set':14} overlap  true identified | Consensus  Dedpul smallest"
        " | true inside, identified inside, width"
    )
    data = {name: load(name, args.folder) for name in args.sets}
    for name, overlap, share in itertools.product(args.sets, OVERLAPS, SHARES):
        place = [SEED, SETS.index(name), round(10 * overlap), round(10 * share)]
        rows = [measure(data[name], share, overlap, [*place, k]) for k in range(args.draws)]
        means = np.mean(np.array(rows, float), axis=0)
        print(
            f"{name:14} {overlap:7.1f} {means[0]:5.2f} {means[1]:10.3f} | {means[2]:9.3f}"
            f" {means[3]:7.3f} {means[4]:8.3f} | {means[5]:.2f}, {means[6]:.2f}, {means[7]:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
