import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import PatraSen
from undercount.prevalence.base import ScoreEstimator
from undercount.prevalence.patra_sen import distances


def test_published_value(published):
    # The published values were found on a grid of 1,000.
    found = PatraSen(n_steps=1000, n_resamples=0).fit(published.counts).unlabeled_prevalence_
    assert found == pytest.approx(published.values["C_PatraSen_port"], abs=1e-9)


def test_distance_by_hand():
    # Unlabeled at 1 and 2, half each; labelled all at 1. With all rows negative the curve is the
    # empirical CDF itself; with half of them it is (.5 - .5, 1 - .5) / .5 = (0, 1): both are CDFs.
    # With a quarter: (.5 - .75, 1 - .75) / .25 = (-1, 1), off by 1 at half of the rows.
    found = distances(np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.array([0.25, 0.5, 1.0]))
    assert found == pytest.approx([0.25 * np.sqrt(0.5), 0, 0])


def test_upper_bound_lies_above_the_estimate(normals):
    found = PatraSen(n_resamples=0).fit(normals)
    assert 0.3 < found.upper_bound_ < 0.6


@pytest.mark.parametrize(("n_unlabeled", "steps"), [(100, 100), (400, 200), (40_000, 1000)])
def test_grid_follows_the_number_of_unlabeled_rows(n_unlabeled, steps):
    counts = uc.ScoreCounts.from_counts([2.0, 1.0], [20, 20], [0, 0], [0, n_unlabeled])
    found = PatraSen(n_resamples=0).fit(counts)
    assert found.diagnostics_["negative_share"] == pytest.approx(np.arange(1, steps + 1) / steps)


def test_kinks_of_single_rows_do_not_pass_for_the_elbow():
    # Half of the unlabeled rows are positive, well apart: an answer below .2 is a kink.
    rng = np.random.default_rng(3)
    lost = {None: 0, 1000: 0}
    for _ in range(60):
        positive, negative = rng.normal(2.5, 1, 150), rng.normal(0, 1, 100)
        y = np.repeat([1, -1], [50, 200])
        for n_steps in lost:
            method = PatraSen(n_steps=n_steps, n_resamples=0)
            found = method.fit(y, np.concatenate([positive, negative]), unlabeled=-1)
            lost[n_steps] += found.unlabeled_prevalence_ < 0.2
    assert lost[1000] >= 5
    assert lost[None] <= 1


def test_constant_rule_by_hand():
    # Labelled rows at the upper of two scores, half of the unlabeled at each: the curve is
    # (.5, γ), the nearest distribution function (γ, γ) for γ < .5, so the distance is
    # √.5 (.5 - γ). It meets .1 log log 100 · √(1/100 + 1/20) = .03741 at γ = .44710.
    counts = uc.ScoreCounts.from_counts([2.0, 1.0], [20, 0], [0, 0], [50, 50])
    found = PatraSen(rule="constant", n_steps=1000, n_resamples=0).fit(counts)
    assert found.unlabeled_prevalence_ == pytest.approx(1 - 0.448)


def test_unknown_rule_is_refused(normals):
    with pytest.raises(uc.InputError, match=r"rule must be one of .*; got 'best'"):
        PatraSen(rule="best").fit(normals)


@pytest.mark.parametrize("n_steps", [2, 0, -1, 3.5, 10.0, "a", True])
def test_grid_that_is_none_is_refused(n_steps, normals):
    with pytest.raises(uc.InputError, match=f"n_steps must be .* at least 3.*; got {n_steps!r}"):
        PatraSen(n_steps=n_steps).fit(normals)


@pytest.mark.parametrize("n_steps", [3, np.int64(50)])
def test_grid_of_any_integer_type(n_steps, normals):
    found = PatraSen(n_steps=n_steps, n_resamples=2, random_state=0).fit(normals)
    assert found.diagnostics_["negative_share"] == pytest.approx(
        np.arange(1, n_steps + 1) / n_steps
    )


@pytest.mark.parametrize("n_cells", [1, 2, 40, 9000])
def test_many_shares_at_once_give_the_same_distances(n_cells):
    rng = np.random.default_rng(n_cells)
    labelled, unlabeled = rng.dirichlet(np.full(n_cells, 0.3), size=2)
    unlabeled[rng.random(n_cells) < 0.2] *= 0  # cells without unlabeled rows
    unlabeled[0] += 1 - unlabeled.sum()
    negative = np.arange(1, 31) / 30
    found = distances(labelled, unlabeled, negative, at_once=True)
    assert found == pytest.approx(distances(labelled, unlabeled, negative), abs=1e-13)


@pytest.fixture
def rare():
    """Twenty thousand rows; 2.0 % of the unlabeled ones are positive."""
    rng = np.random.default_rng(2)
    truth = rng.random(20_000) < 0.039
    y = np.where(truth & (rng.random(20_000) < 0.5), 1.0, np.nan)
    score = rng.normal(2.5 * truth)
    return uc.ScoreCounts.from_rows(y, score, compact=True), truth[np.isnan(y)].mean()


def test_resamples_use_the_grid_of_the_estimate(rare):
    # On a grid of 200 steps the elbow of these rows is at 5 % rather than at 2.1 %, and the
    # interval of such resamples missed both the estimate and the truth.
    counts, truth = rare
    found = PatraSen(random_state=0).fit(counts)
    assert found.interval_.low < truth < found.interval_.high
    assert found.interval_.low < found.unlabeled_prevalence_ < found.interval_.high
    values = 1000 * PatraSen(n_resamples=10, random_state=0)._resample(counts)
    assert values == pytest.approx(np.round(values))
    assert (np.round(values) % 5).any()


def test_the_interval_holds_the_estimate(normals, monkeypatch):
    for resampled, (low, high) in (
        (np.full(20, 0.9), (None, 0.9)),
        (np.full(20, 0.01), (0.01, None)),
    ):
        monkeypatch.setattr(ScoreEstimator, "_resample", lambda *_, x=resampled: x)
        found = PatraSen(n_resamples=20).fit(normals)
        value = found.unlabeled_prevalence_
        assert found.interval_.low == pytest.approx(value if low is None else low)
        assert found.interval_.high == pytest.approx(value if high is None else high)
    assert PatraSen(n_resamples=0).fit(normals).interval_ is None
