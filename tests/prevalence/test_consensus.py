import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import Consensus
from undercount.prevalence.evidence import HEADS, gather
from undercount.prevalence.quantile_net import QuantileNet, trained_net


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
        "KernelMean",
        "PatraSen",
        "RocSlope",
    }
    assert all(0.2 < value < 0.4 for value in estimates.values())


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
    slope = inputs[-4 - HEADS.size : -4]
    labelled, unlabeled = np.cumsum(normals.positive) / 400, np.cumsum(normals.unlabeled) / 1000
    half = np.interp(0.5, labelled, unlabeled) / 0.5
    assert slope[HEADS == 0.5] == pytest.approx(half)
    assert inputs.size == trained_net().centre.size


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
