"""Train the network of `undercount.prevalence.Consensus` on simulated problems.

    python benchmarks/train_consensus.py worlds 21 worlds21.npz --number 2000
    python benchmarks/train_consensus.py worlds 22 worlds22.npz --number 2000
    python benchmarks/train_consensus.py scores 1 scores.npz --number 6000
    python benchmarks/train_consensus.py train worlds21.npz worlds22.npz scores.npz

`worlds` scores simulated features (`train_worlds.py`) by classifiers out of fold
(`train_scorers.py`); `scores` draws scores from known distributions (`train_shapes.py`); both
gather the evidence of each problem beside its true share. `train` fits the networks and writes
src/undercount/prevalence/consensus/consensus.json; these commands made the file there. No real
data set is used. Everything is seeded: the same commands give the same file up to rounding of the
linear algebra library.
"""

import pathlib

import numpy as np
from scipy.special import expit
from train_network import fit, held_out, read, run, short, write
from train_scorers import N_OUT_OF_FOLD, scored_world
from train_shapes import scored_shape

from undercount.prevalence.consensus.evidence import AUC_PLACE, gather
from undercount.prevalence.networks import QuantileNet

HOME = (
    pathlib.Path(__file__).parents[1]
    / "src"
    / "undercount"
    / "prevalence"
    / "consensus"
    / "consensus.json"
)
LEVELS = np.array([0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975])
MEDIAN_WEIGHT = 3.0  # the median is the answer; the other quantiles only make the interval
N_NETWORKS = 4
# Weight of a problem by the AUC of positives against negatives: all methods assume scores that
# only positives reach, which simulated classes that overlap much do not have.
NO_AUC, FULL_AUC, LEAST_WEIGHT = 0.6, 0.9, 0.3
# The outer quantiles, which make the interval, heed overlapping classes more.
TAIL, LEAST_TAIL_WEIGHT = 0.44, 0.4
# Out-of-fold scores are what users have most, and a quarter of a world's problems.
OUT_OF_FOLD_WEIGHT = 4.0
DECAY = 3e-4


def out_of_fold(draws):
    """Say which problems are out-of-fold scores: the first of every world's several."""
    file, _, place = draws.T
    return np.isin(file, file[place > 0]) & (place < N_OUT_OF_FOLD)


def weights(auc_labelled, truth, own):
    """Return the weight of each problem at each level; they average 1, or the median's weight."""
    auc = 0.5 + (auc_labelled - 0.5) / np.maximum(1 - truth, 0.02)
    weight = np.clip((auc - NO_AUC) / (FULL_AUC - NO_AUC), LEAST_WEIGHT, 1)[:, None]
    weight = np.where(np.abs(LEVELS - 0.5) < TAIL, weight, np.maximum(weight, LEAST_TAIL_WEIGHT))
    weight = weight * np.where(own, OUT_OF_FOLD_WEIGHT, 1)[:, None]
    return weight / weight.mean(axis=0) * np.where(LEVELS == 0.5, MEDIAN_WEIGHT, 1.0)


def train(paths, home):
    inputs, truth, draws = read(paths)
    centre, spread = inputs.mean(axis=0), inputs.std(axis=0)
    centre, spread = np.array(short(centre)), np.array(short(spread))
    x = np.clip((inputs - centre) / spread, -5, 5)
    weight = weights(expit(inputs[:, AUC_PLACE]), truth, out_of_fold(draws))
    held = held_out(draws)  # of the first file, so of classifiers' scores when worlds come first
    networks = [
        fit(x[held:], truth[held:, None], weight[held:], LEVELS, seed, decay=DECAY)
        for seed in range(N_NETWORKS)
    ]
    values = write(home, LEVELS, centre, spread, networks)
    found = QuantileNet.from_dict(values).quantiles(inputs[:held])
    error = np.abs(found[:, LEVELS.tolist().index(0.5)] - truth[:held]).mean()
    inside = np.mean((found[:, 0] <= truth[:held]) & (truth[:held] <= found[:, -1]))
    print(f"{len(x)} problems; held-out error {error:.4f}, coverage of 95 % {inside:.3f}")


if __name__ == "__main__":
    makers = {"worlds": scored_world, "scores": scored_shape}
    run(__doc__.splitlines()[0], makers, gather, train, HOME)
