"""The scale on which a score enters: chosen by the likelihood, undone in every threshold."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri
from tests.assume.selection.fitting import Selected, interval_of

from undercount.assume.selection.score_scale import ScoreScale, possible_scales
from undercount.errors import InputError


def probabilities(n, seed=0):
    """Probabilities that are too sure of themselves; the upper part was looked at."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.5, 2.5, n)
    truth = rng.random(n) < expit(z)
    return expit(2 * z), truth, np.where(z > -0.8, truth, np.nan)


def names(values, asked="auto"):
    return [scale.name for scale in possible_scales(values, np.ones(len(values)), asked)]


def test_only_probabilities_have_other_scales():
    inside = np.linspace(0.01, 0.99, 50)
    assert names(inside) == ["score", "logit", "probit"]
    assert names(inside, "logit") == ["logit"]
    assert names(inside + 0.5) == names(-inside) == ["score"]
    assert names(np.repeat([0.0, 0.4, 1.0], 10)) == ["score"]  # two in three at the ends
    assert names(inside + 0.5, "logit") == []


def test_exact_ends_move_by_half_a_row_and_stay_outermost():
    values = np.concatenate([[0.0], np.linspace(0.1, 0.9, 98), [1.0]])
    scale = possible_scales(values, np.ones(100), "logit")[0]
    mapped = scale.map(values)
    assert mapped[[0, -1]] == pytest.approx([logit(0.005), logit(0.995)])
    assert (np.diff(mapped) > 0).all()
    near = possible_scales(np.append(values, 1e-9), np.ones(101), "logit")[0]
    assert near.map(np.array([0.0])) == pytest.approx(logit(1e-9))


@pytest.mark.parametrize("name", ["score", "logit", "probit"])
def test_scales_are_undone(name):
    values = np.array([0.001, 0.3, 0.97])
    assert ScoreScale(name).unmap(ScoreScale(name).map(values)) == pytest.approx(values)


def test_probability_scores_are_not_taken_at_face_value():
    errors = {"auto": [], "score": []}
    for seed in range(4):
        score, truth, y = probabilities(6000, seed)
        area = float((score[truth][:, None] > score[~truth][None, :]).mean())
        for scale, found in errors.items():
            # The class is a logit in the score's own logit.
            model = Selected("own-score", scale=scale, link="logit").fit(score, y)
            found.append(model.curve.roc_auc - area)
            failed = [check.code for check in model.checks() if check.level == "fail"]
            assert failed == ([] if scale == "auto" else ["outcome-shape"])
            assert (model.scales[0] == "score") == (scale == "score")
    # An area's standard error is .007 here, and that of four .0035.
    assert abs(np.mean(errors["auto"])) < 0.01
    assert np.mean(errors["score"]) < -0.05


@pytest.mark.parametrize("distribution", ["empirical", "normal"])
def test_a_scale_is_the_transform_done_by_hand(distribution):
    chance, _, y = probabilities(1500, 1)
    ours = Selected("own-score", distribution, scale="probit").fit(chance, y)
    hand = Selected("own-score", distribution).fit(ndtri(chance), y)
    for metric in ("roc_auc", "prevalence", "correlation"):
        found, wanted = interval_of(ours, metric), interval_of(hand, metric)
        # The normal curve is drawn through its own cutoffs; the last digits depend on rounding.
        assert (found.value, found.low, found.high) == pytest.approx(
            (wanted.value, wanted.low, wanted.high), abs=1e-7
        )
    for at in (0.2, 0.9):
        found, wanted = (
            interval_of(ours, "recall", at),
            interval_of(hand, "recall", float(ndtri(at))),
        )
        assert (found.value, found.low) == pytest.approx((wanted.value, wanted.low), abs=1e-7)
    assert [interval_of(ours, "recall", at).value for at in (-1.0, 0.0, 2.0)] == [1.0, 1.0, 0.0]


def test_a_scale_that_the_scores_do_not_have_is_refused():
    rng = np.random.default_rng(0)
    score = rng.normal(size=200)
    y = np.where(score > 0, (score + rng.normal(size=200) > 0.5).astype(float), np.nan)
    with pytest.raises(InputError, match="needs scores between 0 and 1"):
        Selected(scale="logit").fit(score, y)
    with pytest.raises(InputError, match="ranks, which are the same on every scale"):
        Selected(distribution="copula", scale="logit").fit(score, y)
    with pytest.raises(InputError, match="scale must be one of auto, score, logit, probit"):
        Selected(scale="log").fit(score, y)
