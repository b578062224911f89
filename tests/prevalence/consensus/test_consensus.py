import numpy as np
import pytest
from scipy.special import logit, ndtr, ndtri

import undercount as uc
from undercount.prevalence import Consensus
from undercount.prevalence.consensus.consensus import LEAST_CORRECTION, _correct, _sharpen
from undercount.prevalence.consensus.correction import (
    BASE_PLACE,
    FARTHEST_CORRECTION_INPUT,
    FIRST_FILE,
    LARGEST_SIZES,
    Correction,
    base_place,
    gather_relative,
    load_correction,
)
from undercount.prevalence.consensus.evidence import (
    AUC_PLACE,
    CUTS,
    DISTANCES,
    EVIDENCE_HEADS,
    SPREADS,
    binormal_share,
    gather,
)
from undercount.prevalence.networks import QuantileNet, load_quantile_net


def drawn(rng, distance, share=0.3, sizes=(500, 5000)):
    hidden = round(share * sizes[1])
    positive = rng.normal(distance, 1, sizes[0] + hidden)
    score = np.concatenate([positive, rng.normal(0, 1, sizes[1] - hidden)])
    return np.repeat([1, -1], sizes), score


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_truth_where_classes_are_apart(share):
    found = Consensus().fit(*drawn(np.random.default_rng(0), 4, share), unlabeled=-1)
    assert found.unlabeled_prevalence_ == pytest.approx(share, abs=0.04)
    assert share in found.interval_
    assert found.upper_bound_ > share
    assert found.diagnostics_["identified"]


def test_overlapping_classes_are_flagged_and_wide():
    apart = Consensus().fit(*drawn(np.random.default_rng(0), 4), unlabeled=-1)
    close = Consensus().fit(*drawn(np.random.default_rng(0), 1), unlabeled=-1)
    assert not close.diagnostics_["identified"]
    assert close.interval_.width > 2 * apart.interval_.width
    assert 0.3 in close.interval_
    assert close.diagnostics_["spread"] > apart.diagnostics_["spread"]


def test_diagnostics_name_the_methods(normals):
    estimates = Consensus().fit(normals).diagnostics_["estimates"]
    assert set(estimates) == {
        "AlphaMax",
        "BestBin",
        "Dedpul",
        "Dedpul, monotone",
        "PatraSen",
        "RocSlope",
    }
    assert all(0.2 < value < 0.4 for value in estimates.values())


def test_diagnostics_say_when_the_estimate_leaves_the_methods_range():
    rng = np.random.default_rng(1)
    for distance in (0.8, 1, 2, 4):
        found = Consensus().fit(*drawn(rng, distance), unlabeled=-1)
        least, most = found.diagnostics_["range"]
        answers = found.diagnostics_["estimates"].values()
        assert (least, most) == (min(answers), max(answers))
        assert found.diagnostics_["spread"] == most - least
        inside = least <= found.unlabeled_prevalence_ <= most
        assert found.diagnostics_["outside"] is not inside


def test_levels_nest(normals):
    wide, narrow = (Consensus(confidence_level=c).fit(normals).interval_ for c in (0.99, 0.5))
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@pytest.mark.parametrize("size", [0, 1])
def test_no_hidden_and_only_hidden_positives(size):
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(3, 1, 300), rng.normal(3 * size, 1, 2000)])
    y = np.repeat([1, -1], [300, 2000])
    if size:
        with pytest.warns(uc.MisfitWarning, match="nearly all unlabeled rows are positive"):
            found = Consensus().fit(y, score, unlabeled=-1)
        assert found.unlabeled_prevalence_ > 0.85
    else:
        found = Consensus().fit(y, score, unlabeled=-1)
        assert found.unlabeled_prevalence_ < 0.05


def test_evidence_reads_the_roc(normals):
    inputs = gather(normals).inputs
    slope = inputs[AUC_PLACE + 5 :][: EVIDENCE_HEADS.size]
    labelled, unlabeled = (
        np.cumsum(normals.positive) / 400,
        np.cumsum(normals.unlabeled) / 1000,
    )
    half = np.interp(0.5, labelled, unlabeled) / 0.5
    assert slope[EVIDENCE_HEADS == 0.5] == pytest.approx(half)
    area = np.trapezoid(np.append(0, labelled), np.append(0, unlabeled))
    assert 1 / (1 + np.exp(-inputs[AUC_PLACE])) == pytest.approx(area)
    assert inputs.size == load_quantile_net(FIRST_FILE).centre.size


def test_least_ratios_by_hand():
    counts = uc.ScoreCounts.from_counts(
        np.arange(20.0, 0, -1),
        np.full(20, 5.0),
        np.zeros(20),
        np.r_[1.0, 0, np.full(18, 11.0)],
    )
    # Labelled rows 5, 10, 15, ...; unlabeled 1, 1, 12, 23, ... of 199: ratios fall, then rise.
    unlabeled = np.cumsum(counts.unlabeled) / 199
    ratio = unlabeled / (np.arange(1, 21) / 20)
    found = gather(counts).inputs[-5:]
    first = np.array([0, 1, 2, 4, 9])  # the first head of at least 3, 6, 12, 25, 50 labels
    assert found == pytest.approx([ratio[k:].min() for k in first])


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_binormal_share_of_a_binormal_roc(share):
    # A distance and a spread of its grid, so that the truth is one of the answers.
    above = share * CUTS + (1 - share) * ndtr((ndtri(CUTS) - DISTANCES[10]) / SPREADS[6])
    mean, error = binormal_share(above, 1e5)
    assert mean == pytest.approx(share, abs=0.02)
    assert binormal_share(above, 100)[1] > 2 * error


def test_network_by_hand():
    net = QuantileNet.from_dict(
        {
            "levels": [0.25, 0.5, 0.75],
            "centre": [1.0],
            "spread": [2.0],
            "networks": [[[[[1.0]], [0.0]], [[[1.0, 0.0, -1.0]], [0.0, 0.0, 0.0]]]],
        }
    )
    hidden = np.tanh((2.0 - 1) / 2)
    expected = 1 / (1 + np.exp(-np.array([-hidden, 0, hidden])))
    found = net.quantiles(np.array([2.0]))
    assert found == pytest.approx(expected)
    assert net.at(found, 0.5) == pytest.approx(0.5)
    assert net.at(found, 0.999) <= 1.0
    assert net.at(found, 0.9) > net.at(found, 0.75)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("distance", [2.0, 4.0])
def test_many_rows_sharpen_the_answer(share, distance):
    rng = np.random.default_rng([round(10 * share), round(distance)])
    m, n = 80_000, 400_000
    hidden = round(share * n)
    score = np.concatenate([rng.normal(distance, 1, m + hidden), rng.normal(0, 1, n - hidden)])
    found = Consensus().fit(np.repeat([1, -1], [m, n]), score, unlabeled=-1)
    assert found.unlabeled_prevalence_ == pytest.approx(share, abs=0.02)
    assert found.unlabeled_prevalence_ <= found.upper_bound_
    assert found.interval_.high <= found.upper_bound_
    assert share in found.interval_


def test_answers_move_only_beyond_the_simulated_sizes():
    ends = np.array([0.2, 0.3, 0.4])
    assert _sharpen(ends, 0.5, LARGEST_SIZES).tolist() == [0.2, 0.3, 0.4]
    # Four times the rows: half the way to logit(.5) = 0.
    low, value, high = _sharpen(ends, 0.5, (4 * LARGEST_SIZES[0], 4 * LARGEST_SIZES[1]))
    half = logit(0.3) / 2
    assert logit(value) == pytest.approx(half)
    assert logit(low) == pytest.approx(logit(0.2) - half)
    assert logit(high) == pytest.approx(logit(0.4) - half)
    assert _sharpen(ends, 0.5, (1e12, 1e12))[1] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("distance", [2.0, 8.0])
@pytest.mark.parametrize("sizes", [(5000, 20_000), (9000, 45_000)])
def test_sharp_intervals_hold_and_stop_at_the_bound(sizes, distance, share):
    inside = []
    for seed in range(4):
        y, score = drawn(np.random.default_rng(seed), distance, share, sizes)
        found = Consensus().fit(y, score, unlabeled=-1)
        assert found.interval_.high <= found.upper_bound_
        assert found.unlabeled_prevalence_ in found.interval_
        assert found.interval_.width > 0
        inside.append(share in found.interval_)
    assert sum(inside) >= 3


def test_robust_answer_is_dedpul_unless_two_others_lie_below():
    six = {"Dedpul": 0.2, "RocSlope": 0.1, "PatraSen": 0.3}
    assert base_place(six) == pytest.approx(logit(0.2))
    assert base_place(six | {"PatraSen": 0.05}) == pytest.approx(logit(0.1))
    assert base_place(six | {"Dedpul": 0.0}) == pytest.approx(logit(1e-4))


def correction(offsets, scale=(1.0, 1.0)):
    """Return networks that answer the same quantiles of the correction whatever they read."""
    layer = [[[0.0] * 5] * (BASE_PLACE + 1), list(offsets)]
    return Correction.from_dict(
        {
            "levels": [0.025, 0.25, 0.5, 0.75, 0.975],
            "scale": list(scale),
            "centre": [0.0] * (BASE_PLACE + 1),
            "spread": [1.0] * (BASE_PLACE + 1),
            "networks": [[layer]],
        }
    )


def test_correction_widens_its_quantiles_by_side():
    net = correction([-2, -1, 0.5, 1, 2], scale=(2.0, 1.5))
    found = net.quantiles(np.zeros(BASE_PLACE + 1))
    assert found == pytest.approx([-4.5, -2.5, 0.5, 1.25, 2.75])
    assert net.at(found, 0.5) == 0.5
    # The normal quantiles of .995 and .975 are 2.5758 and 1.9600.
    assert net.at(found, 0.995) == pytest.approx(0.5 + 2.25 * 2.5758 / 1.96, rel=1e-4)


@pytest.mark.parametrize(
    ("middle", "moved"),
    [
        (0.1, 0.0),
        (-0.1, 0.0),
        (0.8, 0.8 - LEAST_CORRECTION / 2),
        (-0.8, LEAST_CORRECTION / 2 - 0.8),
    ],
)
def test_only_sure_corrections_are_made(middle, moved):
    # The quartiles lie 1 apart, so LEAST_CORRECTION / 2 of the correction is in doubt.
    net = correction([middle - 2, middle - 0.5, middle, middle + 0.5, middle + 2])
    inputs = np.zeros(BASE_PLACE + 1)
    inputs[BASE_PLACE] = -1.0
    found = logit(_correct(inputs, net, net.quantiles(inputs), (0.025, 0.975)))
    assert found == pytest.approx([middle - 3, moved - 1, middle + 1])


def test_scores_unlike_the_simulated_ones_are_corrected_in_part():
    net, inputs = correction([1, 2, 2, 2, 3]), np.zeros(BASE_PLACE + 1)
    inputs[0] = 2 * FARTHEST_CORRECTION_INPUT
    found = logit(_correct(inputs, net, net.quantiles(inputs), (0.025, 0.975)))
    assert found == pytest.approx([0.0, 1.0, 3.0])  # half of 2, and the interval holds the base


def test_inputs_are_relative_to_the_robust_answer(normals):
    evidence = gather_relative(normals)
    base = base_place(evidence.estimates)
    assert evidence.inputs[BASE_PLACE] == base
    assert evidence.inputs[0] == pytest.approx(logit(evidence.estimates["Dedpul"]) - base)
    assert evidence.inputs.size == load_correction().centre.size


def partly_visible(rng, visible, distance=3.5, n_labelled=300, n_unlabeled=3700, hidden=700):
    """Positives N(distance), but some like the negatives N(0)."""
    seen = rng.random(n_labelled + hidden) < visible
    positive = rng.normal(np.where(seen, distance, 0.0), 1)
    score = np.concatenate([positive, rng.normal(0, 1, n_unlabeled - hidden)])
    return np.repeat([1, -1], [n_labelled, n_unlabeled]), score


@pytest.mark.parametrize("visible", [0.5, 0.6, 0.8])
def test_positives_that_score_like_negatives_are_counted(visible):
    truth = 700 / 3700
    rng = np.random.default_rng(round(10 * visible))
    found = [Consensus().fit(*partly_visible(rng, visible), unlabeled=-1) for _ in range(5)]
    values = [run.unlabeled_prevalence_ for run in found]
    assert np.mean(values) == pytest.approx(truth, rel=0.15)
    assert sum(truth in run.interval_ for run in found) >= 4


@pytest.mark.filterwarnings("ignore:the scores separate:undercount.errors.MisfitWarning")
@pytest.mark.parametrize(("share", "n_labelled"), [(0.005, 40), (0.018, 40), (0.03, 60)])
def test_rare_positives_are_counted(share, n_labelled):
    rng = np.random.default_rng(n_labelled)
    found = [
        Consensus().fit(*drawn(rng, 3.5, share, (n_labelled, 8000)), unlabeled=-1) for _ in range(6)
    ]
    errors = [abs(run.unlabeled_prevalence_ / share - 1) for run in found]
    assert np.mean(errors) <= 0.25
    assert sum(share in run.interval_ for run in found) >= len(found) - 1
    # 3.5 standard deviations apart, the overlap holds more rows than so few positives.
    assert all(run.interval_.low == 0 for run in found)
