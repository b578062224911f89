import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import NoisyComposition, NoisyConsensus
from undercount.prevalence.consensus.noisy import NOISY_FILE, gather_noisy
from undercount.prevalence.networks import load_quantile_net
from undercount.prevalence.noisy_composition import swap_roles


def noisy_counts(rng, share, purity, distance=4.0, sizes=(600, 3000)):
    """Return counts of normal scores; the shares are exact."""
    parts = []
    for size, chance in zip(sizes, (purity, share), strict=True):
        positives = round(chance * size)
        parts += [rng.normal(distance, 1, positives), rng.normal(0, 1, size - positives)]
    y = np.repeat([1.0, np.nan], sizes)
    return uc.ScoreCounts.from_rows(y, np.concatenate(parts))


@pytest.mark.parametrize("purity", [1.0, 0.95, 0.75])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_share_and_purity_where_classes_are_apart(share, purity):
    found = NoisyConsensus().fit(noisy_counts(np.random.default_rng(0), share, purity))
    assert found.unlabeled_prevalence_ == pytest.approx(share, abs=0.04)
    assert found.label_purity_ == pytest.approx(purity, abs=0.05)
    assert share in found.interval_
    assert purity in found.diagnostics_["label_purity_interval"]


def test_any_increasing_transform_gives_the_same_answer():
    counts = noisy_counts(np.random.default_rng(1), 0.3, 0.8, distance=2)
    moved = uc.ScoreCounts.from_counts(
        np.exp(counts.score), counts.positive, counts.negative, counts.unlabeled
    )
    one, other = NoisyConsensus().fit(counts), NoisyConsensus().fit(moved)
    assert other.unlabeled_prevalence_ == pytest.approx(one.unlabeled_prevalence_, abs=1e-12)
    assert other.label_purity_ == pytest.approx(one.label_purity_, abs=1e-12)


def test_overlapping_classes_are_not_identified():
    rng = np.random.default_rng(2)
    near = NoisyConsensus().fit(noisy_counts(rng, 0.3, 0.8, distance=0.7))
    far = NoisyConsensus().fit(noisy_counts(rng, 0.3, 0.8, distance=5))
    assert not near.diagnostics_["identified"]
    assert far.diagnostics_["identified"]
    assert near.interval_.width > 2 * far.interval_.width


def test_a_lower_confidence_level_narrows_both_intervals():
    counts = noisy_counts(np.random.default_rng(3), 0.3, 0.8, distance=2)
    wide, narrow = (NoisyConsensus(confidence_level=level).fit(counts) for level in (0.95, 0.5))
    assert narrow.interval_.width < wide.interval_.width
    purity = [run.diagnostics_["label_purity_interval"].width for run in (narrow, wide)]
    assert purity[0] < purity[1]


def test_evidence_holds_both_directions():
    counts = noisy_counts(np.random.default_rng(4), 0.3, 0.8)
    forth, back = gather_noisy(counts), gather_noisy(swap_roles(counts))
    half = len(forth.inputs) // 2
    # Reversing twice gives the scores back, so the halves change places.
    assert np.allclose(forth.inputs[:half], back.inputs[half:])
    assert np.allclose(forth.inputs[half:], back.inputs[:half])
    assert forth.estimates["a1 Dedpul"] == pytest.approx(0.3 / 0.8, abs=0.05)
    assert forth.estimates["a2 Dedpul"] == pytest.approx(0.2 / 0.7, abs=0.06)


def test_each_answer_has_outputs_of_its_own():
    nets = [load_quantile_net(NOISY_FILE, place) for place in (0, 1)]
    inputs = nets[0].centre
    medians = [net.quantiles(inputs)[len(net.levels) // 2] for net in nets]
    assert all(len(net.quantiles(inputs)) == len(net.levels) for net in nets)
    assert medians[0] < medians[1]  # of an average problem: the share is below the purity


@pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning")
@pytest.mark.parametrize("share", [0.0, 0.005, 0.02])
def test_few_hidden_positives(share):
    counts = noisy_counts(np.random.default_rng(5), share, 1.0, sizes=(2000, 20_000))
    found = NoisyConsensus().fit(counts)
    assert share in found.interval_
    assert found.unlabeled_prevalence_ <= found.interval_.high <= found.upper_bound_


def test_mostly_wrong_labels_are_not_called_identified():
    # Purities below .55 were not simulated.
    found = NoisyConsensus().fit(noisy_counts(np.random.default_rng(6), 0.1, 0.4))
    assert not found.diagnostics_["identified"]


@pytest.mark.parametrize("method", [NoisyConsensus(), NoisyComposition(n_resamples=0)])
def test_second_run_needs_rows(method):
    y = np.repeat([1.0, np.nan], [50, 5])
    with pytest.raises(uc.InputError, match="at least 10 unlabeled rows"):
        method.fit(y, np.random.default_rng(7).normal(2 * (y == 1)))


def test_evaluate_does_not_drop_the_purity():
    rng = np.random.default_rng(8)
    counts = noisy_counts(rng, 0.3, 0.8)
    fitted = NoisyConsensus().fit(counts)
    for given in (fitted, NoisyConsensus()):
        with pytest.raises(uc.InputError, match="finds share and purity together"):
            uc.evaluate(counts, unlabeled_prevalence=given)
    assume = uc.RandomLabels(
        unlabeled_prevalence=fitted.unlabeled_prevalence_, purity=fitted.label_purity_
    )
    told = uc.evaluate(counts, assume=assume)
    # Normals 4 sd apart: the AUC is Φ(4/√2) = .9977.
    assert told.estimate("roc_auc").value == pytest.approx(0.9977, abs=0.03)
