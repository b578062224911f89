"""Probabilities and predicted shares against the truth, by simulation."""

import numpy as np
import pytest

from undercount.learn import PUAUCClassifier, PUAULClassifier

REPEATS = 40


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_probabilities_are_calibrated_on_new_rows(share, draw):
    rng = np.random.default_rng(2021)
    predicted, probability, bins = [], [], []
    for _ in range(REPEATS):
        data, fresh = (draw(rng, 2000, share, (1.5, 0.0)) for _ in range(2))
        hidden = np.mean(data.truth[data.y == -1])
        for learner in (
            PUAULClassifier(n_centres=50, prevalence=share, random_state=rng),
            PUAUCClassifier(n_centres=50, unlabeled_prevalence=hidden, random_state=rng),
        ):
            learner.fit(data.X, data.y)
            found = learner.predict_proba(fresh.X)[:, 1]
            predicted.append(np.mean(learner.predict(fresh.X) == 1))
            probability.append(found.mean())
            bins.append(np.column_stack([found, fresh.truth]))
    assert np.mean(predicted) == pytest.approx(share, abs=0.01)
    assert np.mean(probability) == pytest.approx(share, abs=0.015)
    found, truth = np.concatenate(bins).T
    for low in np.arange(0, 1, 0.2):
        inside = (found >= low) & (found < low + 0.2)
        assert found[inside].mean() == pytest.approx(truth[inside].mean(), abs=0.06)
