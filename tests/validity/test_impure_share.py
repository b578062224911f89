"""Share of hidden positives estimated from labels of which some are wrong: error and coverage."""

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import Consensus

N_UNLABELED = 5000
DRAWS = 25


def draw(rng, separation, purity, n_labelled, share):
    """Return labels, scores and the share of these very rows."""
    right, hidden = rng.binomial(n_labelled, purity), rng.binomial(N_UNLABELED, share)
    truth = np.repeat([1, 0, 1, 0], [right, n_labelled - right, hidden, N_UNLABELED - hidden])
    y = np.repeat([1, -1], [n_labelled, N_UNLABELED])
    return y, rng.normal(separation * truth), hidden / N_UNLABELED


@pytest.mark.slow
def test_the_share_covers_with_wrong_labels():
    rng = np.random.default_rng(5)
    missed, scaled = [], []
    for separation in (2.0, 4.0):
        for purity in (0.8, 0.95):
            for n_labelled in (150, 1000):
                for share in (0.1, 0.3):
                    for _ in range(DRAWS):
                        y, score, truth = draw(rng, separation, purity, n_labelled, share)
                        found = uc.evaluate(
                            y,
                            score,
                            unlabeled=-1,
                            assume=uc.RandomLabels(purity=purity, sampling="case-control"),
                        ).shares
                        span = found.unlabeled_prevalence_interval
                        missed.append((found.unlabeled_prevalence - truth, truth in span))
                        pure = Consensus(random_state=0).fit(y, score, unlabeled=-1)
                        low, high = (purity * e for e in (pure.interval_.low, pure.interval_.high))
                        error = purity * pure.unlabeled_prevalence_ - truth
                        scaled.append((error, low <= truth <= high))
    table = np.array([missed, scaled], float)
    error, cover = np.sqrt((table[:, :, 0] ** 2).mean(1)), table[:, :, 1].mean(1)
    by_setting = table[:, :, 1].reshape(2, 4, -1).mean(2)
    print("rmse", error.round(4), "coverage", cover.round(3), by_setting.round(2))  # noqa: T201 - the measurement
    assert cover[0] >= 0.95
    assert by_setting[0].min() >= 0.9
    assert error[0] < error[1]  # than purity times the answer for pure labels
