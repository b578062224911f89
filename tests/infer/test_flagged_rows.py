"""Rows that models flag: counts of bits against products of flags, and the last of so many."""

import numpy as np
import pytest

import undercount as uc
from undercount.infer import flagged_rows
from undercount.infer.flagged_rows import Cut, KindScores, count_flags, weigh_flags
from undercount.infer.mixture import ROW_KINDS, design_of
from undercount.infer.workload import cut_at

SIZE = 500


@pytest.fixture
def rng():
    return np.random.default_rng(4)


@pytest.fixture
def models(rng):
    """Three models with many ties, on rows of all kinds."""
    labels = rng.integers(-1, 2, SIZE)
    places = [np.flatnonzero(labels == label) for label in (1, -1, 0)]
    return [KindScores(rng.integers(0, 8, SIZE) / 8, places) for _ in range(3)]


CUTS = [Cut(0.5), Cut(0.375, 0.3), Cut(0.625, 0.75)]


@pytest.mark.parametrize("kind", ROW_KINDS)
def test_counts_of_bits_are_sums_of_products(models, kind, monkeypatch):
    monkeypatch.setattr(flagged_rows, "FLAGGED_ROWS_PER_BLOCK", 64)
    flags = np.stack(
        [
            np.where(score > cut.threshold, 1.0, np.where(score == cut.threshold, cut.share, 0.0))
            for cut, score in zip(CUTS, (model.part(kind) for model in models), strict=True)
        ]
    )
    found = count_flags(CUTS, models, kind)
    assert found.flagged == pytest.approx(flags.sum(axis=1), rel=1e-13)
    assert found.both == pytest.approx(flags @ flags.T, rel=1e-13)
    weights = np.linspace(0.5, 2, flags.shape[1])
    heavy = weigh_flags(CUTS, models, kind, weights)
    assert heavy.flagged == pytest.approx(flags @ weights, rel=1e-13)
    assert heavy.both == pytest.approx((flags * weights) @ flags.T, rel=1e-13)


@pytest.mark.parametrize("decimals", [1, 2, 9])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("size", [1, 37, 250.5])
def test_the_cut_of_a_workload_is_the_score_of_its_last_row(rng, decimals, sampling, size):
    labels = np.where(rng.random(SIZE) < 0.2, 1, -1)
    score = np.round(rng.normal(labels), decimals).astype(np.float32)
    counts = uc.ScoreCounts.from_rows(labels, score, unlabeled=-1, compact=True, knots=[0.7])
    design = design_of(counts, uc.Shares(0.2, 1.0, sampling), sampling, "population")
    places = [np.flatnonzero(labels == label) for label in (1, -1, 0)]
    found, tied = cut_at(size, counts, KindScores(score, places), None, design)
    pooled = score if sampling == "single-sample" else score[labels == -1]
    last = np.sort(pooled)[::-1][int(np.ceil(size)) - 1]
    assert (found.threshold, tied) == (last, np.count_nonzero(pooled == last))
    assert found.flag(pooled).sum() == pytest.approx(size, rel=1e-12)


def test_scores_of_single_precision_are_flagged_as_their_table_says(rng):
    # 0.7 lies between two numbers of single precision, of which the lower is its nearest.
    truth = rng.random(2000) < 0.3
    y = (truth & (rng.random(2000) < 0.5)).astype(int)
    scores = {
        name: np.round(0.5 + 0.15 * rng.normal(gain * truth), 1).astype(np.float32)
        for name, gain in (("a", 1.0), ("b", 0.6))
    }
    told = {"unlabeled": 0, "prevalence": 0.3, "threshold": 0.7}
    found = uc.compare(y, scores, **told)
    for name, score in scores.items():
        flagged = score.astype(np.float64) >= 0.7
        heads = [np.count_nonzero(flagged & (y == label)) for label in (1, 0)]
        assert found.pairing.paired.models[name].rows.heads[0][:2].tolist() == heads
    # The same rows in double precision at a threshold that flags the same.
    wide = {name: score.astype(np.float64) for name, score in scores.items()}
    other = uc.compare(y, wide, **told)
    for one, two in zip(found.differences, other.differences, strict=True):
        mine, theirs = one.difference, two.difference
        assert mine.value == pytest.approx(theirs.value, rel=1e-12)
        assert mine.standard_error == pytest.approx(theirs.standard_error, rel=1e-9)
