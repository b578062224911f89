import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from undercount.learn import PUAUCClassifier, PUAULClassifier
from undercount.learn.calibration import fit_calibration, matching_threshold


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(8)
    score = rng.normal(size=60_000)
    return rng, score, rng.random(score.size) < expit(2 * score - 1)


def test_labels_taken_as_they_are_give_logistic_regression(sample):
    _, score, positive = sample
    found = fit_calibration(positive, score, np.ones(score.size), factor=1.0, saturation=0.0)
    expected = LogisticRegression(C=np.inf).fit(score[:, None], positive)
    assert found.slope == pytest.approx(expected.coef_[0, 0], abs=0.01)
    assert found.offset == pytest.approx(expected.intercept_[0], abs=0.01)


def test_single_sample_recovers_the_hidden_curve(sample):
    rng, score, positive = sample
    labelled = positive & (rng.random(score.size) < 0.4)
    found = fit_calibration(labelled, score, np.ones(score.size), factor=0.4, saturation=0.0)
    assert found.slope == pytest.approx(2, abs=0.15)
    assert found.offset == pytest.approx(-1, abs=0.15)
    assert found.probability(np.array([found.middle])) == pytest.approx(0.5)


def test_case_control_recovers_the_hidden_curve(sample):
    _, score, positive = sample
    apart = np.flatnonzero(positive)[:8000]  # labelled rows, drawn apart from the unlabeled ones
    unlabeled = score[30_000:]
    share = positive[30_000:].mean()
    every = np.concatenate([score[apart], unlabeled])
    labelled = np.arange(every.size) < apart.size
    factor = apart.size / (share * unlabeled.size)
    found = fit_calibration(labelled, every, np.ones(every.size), factor=factor, saturation=factor)
    assert found.slope == pytest.approx(2, abs=0.15)
    assert found.offset == pytest.approx(-1, abs=0.15)


def test_separable_scores_keep_a_finite_slope():
    labelled, score = np.arange(40) < 20, np.arange(40.0, 0, -1)
    found = fit_calibration(labelled, score, np.ones(40), factor=1.0, saturation=0.0)
    assert np.isfinite(found.slope)
    assert (found.probability(score) > 0.5).tolist() == labelled.tolist()


def test_threshold_counts_weights():
    score, weight = np.array([4.0, 3.0, 2.0, 1.0]), np.array([1.0, 1.0, 6.0, 2.0])
    assert matching_threshold(score, weight, 0.2) == 2.5
    assert matching_threshold(score, weight, 0.8) == 1.5


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_probabilities_are_calibrated_on_new_rows(share, draw):
    rng = np.random.default_rng(2021)
    predicted, probability, bins = [], [], []
    for _ in range(40):
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
