import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import undercount as uc
from undercount.prevalence import TwoLabels


def drawn(rng, share, sizes=(100, 1000, 100)):
    labelled, unlabeled, negative = sizes
    hidden = rng.binomial(unlabeled, share)
    score = np.concatenate(
        [rng.normal(1, 1, labelled + hidden), rng.normal(0, 1, unlabeled - hidden + negative)]
    )
    return np.repeat([1, -1, 0], sizes), score


def test_exact_mixture_gives_the_exact_share():
    # Unlabeled cells are .25 · positive + .75 · negative cells, so the identity holds exactly.
    positive, negative = np.array([40.0, 30, 20, 10]), np.array([10.0, 20, 30, 40])
    counts = uc.ScoreCounts.from_counts(
        [4, 3, 2, 1], positive, negative, 0.25 * positive + 0.75 * negative
    )
    found = TwoLabels().fit(counts)
    assert found.unlabeled_prevalence_ == pytest.approx(0.25, abs=1e-12)
    assert found.estimate().needs == ("random labels of both classes",)


def test_interval_covers():
    rng = np.random.default_rng(0)
    runs = [TwoLabels().fit(*drawn(rng, 0.3), unlabeled=-1) for _ in range(200)]
    inside = np.mean([0.3 in run.interval_ for run in runs])
    assert 0.9 <= inside <= 0.99
    spread = np.std([run.diagnostics_["raw"] for run in runs])
    assert np.mean([run.standard_error_ for run in runs]) == pytest.approx(spread, rel=0.15)


def mann_whitney(upper, lower):
    found = mannwhitneyu(upper, lower).statistic
    return found / (len(upper) * len(lower))


@pytest.mark.parametrize(("share", "gain"), [(0.1, 0.5), (0.5, 0.95), (0.9, 1.02)])
def test_error_is_less_than_that_of_the_better_quotient(share, gain):
    # Both quotients come from scipy's statistic, not from the code under test. With few positives
    # well apart their average is far better than the first; at no share is it worse than either.
    rng, errors = np.random.default_rng(5), []
    sizes = np.array([150, 1500, 150])
    for _ in range(120):
        hidden = round(share * sizes[1])
        positive, negative = rng.normal(3, 1, 150 + hidden), rng.normal(0, 1, 1650 - hidden)
        labelled, known = positive[:150], negative[-150:]
        unlabeled = np.concatenate([positive[150:], negative[:-150]])
        span = mann_whitney(labelled, known) - 0.5
        quotients = (
            (mann_whitney(unlabeled, known) - 0.5) / span,
            1 - (mann_whitney(labelled, unlabeled) - 0.5) / span,
        )
        score = np.concatenate([labelled, unlabeled, known])
        raw = TwoLabels().fit(np.repeat([1, -1, 0], sizes), score, unlabeled=-1).diagnostics_["raw"]
        errors.append(np.array([*quotients, raw]) - share)
    first, second, average = np.sqrt(np.mean(np.square(errors), axis=0))
    assert average < gain * first
    assert average < 1.05 * min(first, second)


def test_negatives_are_needed(normals):
    with pytest.raises(uc.InputError, match="at least 10 labelled negatives; got 0"):
        TwoLabels().fit(normals)


def test_reversed_scores_are_refused():
    y, score = drawn(np.random.default_rng(0), 0.3)
    with pytest.raises(uc.InputError, match="their AUC is"):
        TwoLabels().fit(y, -score, unlabeled=-1)


def test_impossible_quotient_warns():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(1, 1, 200), rng.normal(2, 1, 500), rng.normal(0, 1, 200)])
    with pytest.warns(uc.MisfitWarning, match="outside"):
        found = TwoLabels().fit(np.repeat([1, -1, 0], [200, 500, 200]), score, unlabeled=-1)
    assert found.unlabeled_prevalence_ == 1.0
    assert found.diagnostics_["raw"] > 1
