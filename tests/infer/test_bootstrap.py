"""The bootstrap of cells: its moments are those of the closed forms."""

import numpy as np
import pytest

import undercount as uc
from undercount.infer.bootstrap import bootstrap_interval, resampled
from undercount.infer.estimate_metric import estimate_metric


def sample(n=2_000, sample_weight=None, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = np.round(rng.normal(size=n) + 1.2 * positive, 1)
    y = np.where(positive & (rng.random(n) < 0.5), 1.0, np.nan)
    return uc.ScoreCounts.from_rows(y, score, sample_weight=sample_weight)


def area(counts, shares):
    return uc.mixture_curve(counts, shares, clean=False).roc_auc


def precision(counts, shares):
    return uc.mixture_curve(counts, shares, clean=False).at(0.5).precision


SHARES = {
    "prevalence": lambda counts: uc.Shares.from_prevalence(counts, 0.3),
    "label frequency": lambda counts: uc.Shares.from_label_frequency(counts, 0.5),
    "case-control": lambda _: uc.Shares(0.2, sampling="case-control"),
    "impure": lambda counts: uc.Shares.from_prevalence(counts, 0.3, label_purity=0.95),
}


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("given", SHARES)
@pytest.mark.parametrize(("metric", "statistic"), [("roc_auc", area), ("precision", precision)])
def test_bootstrap_agrees_with_the_closed_form(metric, statistic, given, target):
    counts = sample()
    shares = SHARES[given](counts)
    exact = estimate_metric(counts, shares, metric, threshold=0.5, target=target)
    interval, error = bootstrap_interval(counts, shares, statistic, target=target, n_resamples=400)
    # 400 resamples know a standard error to 3.5 %; impure labels are approximated.
    assert error == pytest.approx(exact.standard_error, rel=0.15)
    assert interval.low == pytest.approx(exact.low, abs=0.5 * error)
    assert interval.high == pytest.approx(exact.high, abs=0.5 * error)


def test_weights_count_by_their_effective_size():
    rng = np.random.default_rng(1)
    counts = sample(sample_weight=rng.exponential(size=2_000))
    shares = uc.Shares(0.2, sampling="case-control")
    exact = estimate_metric(counts, shares, "roc_auc", target="population")
    _, error = bootstrap_interval(counts, shares, area, target="population", n_resamples=400)
    assert error == pytest.approx(exact.standard_error, rel=0.15)


def test_rows_of_a_data_set_stay():
    counts = sample()
    shares = uc.Shares.from_prevalence(counts, 0.3)
    for other, moved in resampled(counts, shares, n_resamples=3):
        np.testing.assert_allclose(
            other.positive + other.unlabeled, counts.positive + counts.unlabeled
        )
        assert other.n_positive == pytest.approx(counts.n_positive)
        assert moved == shares


def test_a_population_moves_the_shares_that_were_not_given():
    counts = sample()
    shares = uc.Shares.from_prevalence(counts, 0.3)
    found = list(resampled(counts, shares, target="population", n_resamples=5))
    assert len({other.n_positive for other, _ in found}) > 1
    for other, moved in found:
        assert other.n_rows == pytest.approx(counts.n_rows)
        assert moved.prevalence(other) == pytest.approx(0.3)


def test_known_negatives_are_drawn_for_a_population_and_kept_for_a_data_set():
    counts = uc.ScoreCounts.from_rows([1, 0, None, 1, 0, None, None, 0], range(8))
    shares = uc.Shares(0.2)
    kept = next(resampled(counts, shares, n_resamples=1))[0]
    np.testing.assert_array_equal(kept.negative, counts.negative)
    drawn = [c.n_negative for c, _ in resampled(counts, shares, target="population")]
    assert np.mean(drawn) == pytest.approx(3, abs=0.25)
    assert np.var(drawn) == pytest.approx(8 * 3 / 8 * 5 / 8, rel=0.25)


def test_the_seed_decides():
    counts = sample(n=200)
    shares = uc.Shares(0.1)
    one = bootstrap_interval(counts, shares, area, n_resamples=20, random_state=3)
    assert one == bootstrap_interval(counts, shares, area, n_resamples=20, random_state=3)
    assert one != bootstrap_interval(counts, shares, area, n_resamples=20, random_state=4)


def test_one_resample_has_no_spread():
    with pytest.raises(uc.InputError, match="n_resamples"):
        bootstrap_interval(sample(n=50), uc.Shares(0.1), area, n_resamples=1)
