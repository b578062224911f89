import numpy as np
import pytest
from scipy.stats import gaussian_kde

import undercount as uc
from undercount.prevalence import Dedpul
from undercount.prevalence.dedpul import (
    kernel_density,
    monotone_trend,
    posterior_share,
    running_median,
)


@pytest.mark.parametrize(
    ("monotone", "name"), [(False, "DEDPUL_acmi_bal"), (True, "DEDPUL_orig_bal")]
)
def test_published_value(published, monotone, name):
    found = Dedpul(scale="score", monotone=monotone, n_resamples=0).fit(published.balanced)
    # Densities come from a fine grid here and from direct sums there; with the trend one value
    # more or less above a level moves the answer.
    tolerance = 5e-4 if monotone else 1e-5
    assert found.unlabeled_prevalence_ == pytest.approx(published.values[name], abs=tolerance)


def test_kernel_density_is_scipys():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=500))
    expected = gaussian_kde(x, 0.05)(x)
    found = kernel_density(x, np.full(500, 1 / 500), 0.05, 500)
    assert found == pytest.approx(expected, rel=2e-4)


def test_running_median_shrinks_evenly_at_the_ends():
    values = np.array([5.0, 1, 4, 2, 9, 3, 7])
    expected = [
        np.median(values[max(0, i - r) : i + r + 1]) for i, r in enumerate([0, 1, 2, 2, 2, 1, 0])
    ]
    assert running_median(values, 2).tolist() == expected
    assert running_median(values[:2], 5).tolist() == [5.0, 1.0]


def trend_by_dictionary(values, decay):
    """The published rule word for word: votes for each level, lost and won one value at a time."""
    votes, raised = {}, []
    for value in values:
        raised.append(max([value, *votes]))
        for level in list(votes):
            votes[level] += 1 if level <= value else -decay
            if votes[level] <= 1e-12:
                del votes[level]
        votes.setdefault(value, 1.0)
    return raised


@pytest.mark.parametrize("seed", range(6))
def test_monotone_trend_is_the_published_rule(seed):
    rng = np.random.default_rng(seed)
    values = np.round(np.cumsum(rng.normal(0.02, 0.3, 200)), 2)
    assert monotone_trend(values, 0.2).tolist() == trend_by_dictionary(values.tolist(), 0.2)


def test_fixed_point_of_a_two_step_ratio():
    # 30 % of the unlabeled rows have f_L / f_U = 1 / .3, the rest none: the share is .3 exactly.
    ratio = np.concatenate([np.full(300, 1 / 0.3), np.zeros(700)])
    share, converged = posterior_share(ratio)
    assert share == pytest.approx(0.3, abs=1e-3)
    assert converged


def test_rounding_does_not_leave_the_scale():
    # Half of the unlabeled rows are among the 57 scores of the labelled. In floating point 57 times
    # 1/57 is 1 + 1.6e-15, and the highest cell is too light to weigh: its rank would pass 1.
    labelled = np.concatenate([np.zeros(57), np.full(57, 5.0), [1e-20]])
    unlabeled = np.append(np.full(114, 5.0), 1e-20)
    counts = uc.ScoreCounts.from_counts(np.arange(115.0), labelled, np.zeros(115), unlabeled)
    found = Dedpul(n_resamples=0).fit(counts).unlabeled_prevalence_
    assert found == pytest.approx(0.5, abs=0.01)


def test_no_hidden_positives():
    score = np.concatenate([1 + np.arange(200) / 200, np.arange(1000) / 1000])
    with pytest.warns(uc.MisfitWarning, match="trained on these rows"):
        found = Dedpul(n_resamples=0).fit(np.repeat([1, -1], [200, 1000]), score, unlabeled=-1)
    assert found.unlabeled_prevalence_ <= 0.06


def test_scores_must_be_probabilities_on_their_own_scale(normals):
    with pytest.raises(uc.InputError, match="scores must be probabilities"):
        Dedpul(scale="score").fit(normals)
    with pytest.raises(uc.InputError, match="scale must be"):
        Dedpul(scale="logit").fit(normals)
