"""A long table is walked along once: sums are exact, and a thinned table tells the same errors."""

import math
from fractions import Fraction

import numpy as np
import pytest

import undercount as uc
from undercount import counts as counts_module
from undercount.count.kernel import walk
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.labelled import naive_area, naive_point
from undercount.prevalence.upper_bound import upper_bound

AREAS = ("roc_auc", "average_precision", "lift_auc")


def draw(n, share, frequency, shift, *, ties=0.0, compact=True, negatives=0.0, seed=0):
    """Return counts of normal scores, some of them rounded, and the share of positives."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    score = rng.normal(shift * truth)
    score = np.where(rng.random(n) < ties, np.round(3 * score) / 3, score)
    y = np.where(truth & (rng.random(n) < frequency), 1, -1)
    y = np.where(~truth & (rng.random(n) < negatives), 0, y)
    return uc.ScoreCounts.from_rows(y, score, unlabeled=-1, compact=compact), share


# Overlapping and almost perfect scores, few labels among every score, ties, known negatives: none
# of them was used to choose how finely a table is cut, except the first.
DESIGNS = {
    "common": (200_000, 0.5, 0.6, 1.5, {}),
    "sharp": (200_000, 0.3, 0.5, 6.0, {}),
    "useless": (200_000, 0.3, 0.4, 0.05, {}),
    "rare, every score": (100_000, 0.02, 0.05, 2.0, {"compact": False}),
    "tied": (300_000, 0.3, 0.5, 1.0, {"ties": 0.4}),
    "negatives": (150_000, 0.3, 0.5, 1.0, {"negatives": 0.3}),
}


@pytest.fixture(scope="module", params=DESIGNS)
def table(request):
    *numbers, more = DESIGNS[request.param]
    return draw(*numbers, **more)


def without_thinning(monkeypatch, counts):
    """Return the same counts, read cell by cell."""
    monkeypatch.setattr(counts_module, "THIN_FROM", math.inf)
    same = uc.ScoreCounts.from_table(counts.table, counts.squared_weight)
    assert same.thinned is same
    return same


@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
def test_values_are_exact_and_errors_the_same(table, target, sampling, monkeypatch):
    counts, share = table
    counts = uc.ScoreCounts.from_table(counts.table, counts.squared_weight)
    assert len(counts.thinned.score) < len(counts.score) / 2
    hidden = 0.9 * (share * counts.n_rows - counts.n_positive) / counts.n_unlabeled
    shares = uc.Shares(hidden, 1.0, sampling)
    found = {name: estimate_metric(counts, shares, name, target=target) for name in AREAS}
    cells = without_thinning(monkeypatch, counts)
    for name, estimate in found.items():
        expected = estimate_metric(cells, shares, name, target=target)
        assert estimate.value == pytest.approx(expected.value, rel=1e-12)
        assert estimate.standard_error == pytest.approx(expected.standard_error, rel=1e-4)
        ends = expected.low, expected.high
        near = 1e-3 * expected.standard_error
        assert (estimate.low, estimate.high) == pytest.approx(ends, abs=near)


def test_impure_labels_tell_the_same_errors(monkeypatch):
    counts, share = draw(200_000, 0.4, 0.5, 1.5)
    shares = uc.Shares.from_prevalence(counts, share, label_purity=0.95)
    found = {name: estimate_metric(counts, shares, name) for name in AREAS}
    cells = without_thinning(monkeypatch, counts)
    for name, estimate in found.items():
        expected = estimate_metric(cells, shares, name)
        assert estimate.value == pytest.approx(expected.value, rel=1e-10)
        assert estimate.standard_error == pytest.approx(expected.standard_error, rel=1e-4)


def test_the_limit_of_the_share_looks_at_the_same_places(table, monkeypatch):
    counts, _ = table
    found = upper_bound(counts, 0.95)
    assert found == upper_bound(without_thinning(monkeypatch, counts), 0.95)


def test_naive_values_are_those_of_the_naive_curve(table):
    counts, _ = table
    curve, at = uc.naive_curve(counts), float(counts.score[np.flatnonzero(counts.positive)[50]])
    for name in AREAS:
        assert naive_area(counts, name) == pytest.approx(getattr(curve, name), rel=1e-12)
    for name in ("precision", "recall", "mcc"):
        expected = getattr(curve.at(at), name)
        assert getattr(naive_point(counts, at), name) == pytest.approx(expected, rel=1e-12)


def test_checks_see_the_same(table, monkeypatch):
    counts, share = table
    found = uc.evaluate(counts, prevalence=share)
    expected = uc.evaluate(without_thinning(monkeypatch, counts), prevalence=share)
    assert [(c.code, c.level) for c in found.checks] == [(c.code, c.level) for c in expected.checks]


@pytest.mark.parametrize("threads", [False, True])
def test_sums_equal_ratios_of_integers(threads, monkeypatch):
    """Every sum by Python's fractions, with parts and threads that cut the table anywhere."""
    monkeypatch.setattr(walk, "_PART", 7)
    monkeypatch.setattr(walk, "_SHARE_OF_THREAD", 50 if threads else 10**9)
    rng = np.random.default_rng(3)
    positive, negative, unlabeled = rng.integers(0, 4, (3, 211)) * (rng.random((3, 211)) < 0.6)
    table = uc.ScoreCounts.from_counts(range(211), positive, negative, unlabeled)
    sums = table.walked
    heads = [0, 0, 0]
    pairs = precision = inverse = Fraction(0)
    for cell in range(len(table.score)):
        rows = [int(column[cell]) for column in table.table.classes]
        heads = [head + row for head, row in zip(heads, rows, strict=True)]
        pairs += Fraction(rows[0] * (2 * heads[2] - rows[2]), 2)
        precision += Fraction(rows[0] * heads[0], sum(heads))
        inverse += Fraction(rows[0], sum(heads))
    assert sums.pairs == pairs
    assert sums.precision == pytest.approx(float(precision), rel=1e-14)
    assert sums.inverse == pytest.approx(float(inverse), rel=1e-14)
    assert sums.cuts[-1] == len(table.score) - 1
    cumulated = np.array([heads[1:] for heads in table.cumulative()])
    np.testing.assert_array_equal(sums.heads, cumulated[:, sums.cuts])


@pytest.mark.parametrize("noise", [3.0, 0.3, 0.001])
def test_differences_have_the_same_errors(noise, monkeypatch):
    """Models that agree little, much, and more closely than the cells of a thinned table are."""
    rng = np.random.default_rng(6)
    n = 120_000
    truth = rng.random(n) < 0.4
    y, one = truth & (rng.random(n) < 0.6), rng.normal(1.5 * truth)
    scores = {"one": one, "other": one + noise * rng.normal(size=n)}
    about = {"unlabeled": 0, "prevalence": 0.4, "threshold": 1.0}
    found = uc.compare(y, scores, **about)
    monkeypatch.setattr(counts_module, "THIN_FROM", math.inf)
    expected = uc.compare(y, scores, **about)
    for mine, theirs in zip(found.differences, expected.differences, strict=True):
        assert mine.difference.value == pytest.approx(theirs.difference.value, rel=1e-9, abs=1e-15)
        error = theirs.difference.standard_error
        assert mine.difference.standard_error == pytest.approx(error, rel=2e-4)


def test_heavy_scores_stay_alone_and_fractions_are_kept():
    rng = np.random.default_rng(4)
    size = 2 * walk.THIN_FROM
    unlabeled = np.where(np.arange(size) == 777, 0.4 * size, rng.random(size))
    counts = uc.ScoreCounts.from_counts(
        -np.arange(size), rng.random(size) < 0.3, [0] * size, unlabeled
    )
    thin = counts.thinned
    place = np.flatnonzero(thin.score == -777)
    assert thin.unlabeled[place] == pytest.approx(0.4 * size)
    assert not thin.merged[place]
    assert thin.n_unlabeled == pytest.approx(counts.n_unlabeled, rel=1e-12)


def test_rows_with_weights_are_read_cell_by_cell():
    rng = np.random.default_rng(5)
    n = 2 * walk.THIN_FROM
    y, score = rng.random(n) < 0.5, rng.random(n)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, sample_weight=rng.random(n))
    assert counts.thinned is counts
