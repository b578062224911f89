"""Scores of labels that came early or late, or by one source or both."""

import numpy as np
import pytest
from scipy.stats import kstest, mannwhitneyu

import undercount as uc
from undercount.prevalence import LateLabels, TwoSources
from undercount.prevalence.fair_scores import compare_delays, compare_sources


def test_by_hand():
    # Delays 1, 2, 3 of windows 9: in reverse time all three, two, one are at risk. Ranks 1, 3, 2
    # over 3: at delay 3 mean 2/3 and rank 2/3; at 2 of (1, 3) mean 2/3 and rank 1; then nothing.
    found = compare_delays(np.array([5.0, 7.0, 6.0]), np.array([1.0, 2.0, 3.0]), np.full(3, 9.0))
    variance = (1 + 4 + 9) / 27 - 4 / 9 + 1 / 9
    assert found.statistic == pytest.approx((1 - 2 / 3) / variance**0.5)


def draw(rng, lean, n=900):
    """Labels of a year, drifting scores; `lean` makes high scores come sooner."""
    seen = rng.uniform(0, 360, n)
    score = rng.normal(seen / 360)
    delay = rng.exponential(60 * np.exp(-lean * (score - seen / 360)))
    kept = seen + delay <= 360
    return score[kept], delay[kept], (360 - seen)[kept]


def test_fair_delays_give_uniform_p_values_and_others_do_not():
    rng = np.random.default_rng(0)
    fair = [compare_delays(*draw(rng, 0.0)).p_value for _ in range(300)]
    assert kstest(fair, "uniform").pvalue > 0.01
    found = [compare_delays(*draw(rng, 0.25)) for _ in range(60)]
    assert np.mean([each.p_value < 0.05 for each in found]) > 0.8
    assert all("sooner" in each.words for each in found if each.p_value < 0.05)


def test_sources_are_compared_by_the_rank_sum():
    rng = np.random.default_rng(1)
    score = rng.normal(size=400).round(1)  # with ties
    first, second = rng.random(400) < 0.4, rng.random(400) < 1 / (1 + np.exp(-score))
    expected = min(
        mannwhitneyu(score[a & b], score[b & ~a], method="asymptotic", use_continuity=False).pvalue
        for a, b in ((first, second), (second, first))
    )
    assert compare_sources(score, first, second).p_value == pytest.approx(2 * expected)


def test_evaluations_carry_the_check():
    rng = np.random.default_rng(2)
    truth = rng.random(8000) < 0.15
    score = rng.normal(2 * truth)
    first = truth & (rng.random(8000) < 0.4)
    second = truth & (rng.random(8000) < 1 / (1 + np.exp(1 - score / 2)))
    two = TwoSources().fit(first, second)
    found = uc.evaluate(two.labels_, score, unlabeled_prevalence=two, threshold=1.0)
    (check,) = [each for each in found.checks if each.code == "UC022"]
    assert check.level == "fail"
    for bound in (0.1, 0.99):  # which the interval alone would meet, and fail
        (asked,) = found.require(f"recall >= {bound}").judgements
        assert (asked.outcome, "UC022" in asked.why) == ("inconclusive", True)
    assert found.verdict.light == "unsupported"
    assert "second source finds positives of high scores" in check.message
    with pytest.raises(uc.InputError, match="fitted with"):
        two.compare_scores(score[1:])
    with pytest.raises(uc.InputError, match="fitted with"):
        TwoSources().fit_counts(20, 20, 9, 1000).compare_scores(score)
    seen = rng.integers(0, 360, 8000)
    label = seen + rng.exponential(40 * np.exp(-score + 1))
    label[~truth | (label > 360)] = np.nan
    late = LateLabels().fit(seen, label, until=360)
    found = uc.monitor(score, observed=seen, found=label, until=360, threshold=1.0)
    assert found.fair.level == "fail"
    for bound in (0.01, 0.99):
        (asked,) = found.require(f"precision >= {bound}").judgements
        assert (asked.outcome, "UC022" in asked.why) == ("inconclusive", True)
    assert "high scores come sooner" in " ".join(str(found).split())
    with pytest.raises(uc.InputError, match="same rows"):
        late.compare_scores(score[1:])
