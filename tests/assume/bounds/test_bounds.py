"""Bounds of tables and curves, against the published code's values and plain enumeration."""

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from undercount.assume.bounds.attainable import bound_roc_auc
from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.bounds.hidden_limits import hidden_limits
from undercount.assume.bounds.tables import ContingencyTables, add_hidden, bound_tables
from undercount.counts import ScoreCounts
from undercount.errors import MisfitWarning
from undercount.shares import Shares

DATA = Path(__file__).parents[2] / "data" / "claesen"
CASES = {case["name"]: case for case in json.loads((DATA / "tables_small.json").read_text())}
SOLVED = [name for name, case in CASES.items() if case.get("order")]
WITH_CURVE = [name for name in SOLVED if "roc_lower" in CASES[name]]


def published(case):
    """Counts and tables as the published code sees a case: ties broken by input order."""
    labels = [case["labels"][i] for i in case["order"]]
    counts = ScoreCounts.from_rows(labels, -np.arange(len(labels)))
    # The share may be 1 in these cases, which Shares refuses, so the parts are called.
    wanted = hidden_limits(
        counts,
        case["beta"],
        np.asarray(case["T_lb_by_rank0"], float),
        np.asarray(case["T_ub_by_rank0"], float),
        "paper",
    )
    anyhow = Shares(0.5)
    return (
        add_hidden(counts, anyhow, wanted.clip(wanted.low), wanted.n_hidden),
        add_hidden(counts, anyhow, wanted.clip(wanted.high), wanted.n_hidden),
    )


@pytest.mark.parametrize("name", SOLVED)
def test_tables_match_the_published_code(name):
    case = CASES[name]
    for found, expected in zip(
        published(case), (case["tables_lower"], case["tables_upper"]), strict=True
    ):
        rows = np.column_stack([found.tp, found.fp, found.tn, found.fn])
        np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("name", WITH_CURVE)
def test_curves_match_the_published_code(name):
    case = CASES[name]
    for found, end in zip(published(case), ("lower", "upper"), strict=True):
        curve = found.curve
        points = np.column_stack([curve.fpr, curve.tpr])[1:]  # the published one has no (0, 0)
        np.testing.assert_allclose(points, case[f"roc_{end}"], atol=1e-12)
        area = np.sum(np.diff(points[:, 0]) * (points[1:, 1] + points[:-1, 1])) / 2
        assert area == pytest.approx(case[f"auroc_{end}"], abs=1e-12)
        pairs = sorted(zip(found.recall, found.precision, strict=True))
        np.testing.assert_allclose(pairs, case[f"pr_{end}"], atol=1e-12)


@pytest.mark.parametrize("name", ["pu_n20", "pnu_n30", "beta_0.99"])
def test_the_public_function_gives_the_same_tables(name):
    case = CASES[name]
    labels = [case["labels"][i] for i in case["order"]]
    counts = ScoreCounts.from_rows(labels, -np.arange(len(labels)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)  # these bands are made up
        bounds = bound_tables(
            counts,
            Shares(case["beta"]),
            lower_cdf=case["T_lb_by_rank0"],
            upper_cdf=case["T_ub_by_rank0"],
            rounding="paper",
        )
    np.testing.assert_array_equal(bounds.pessimistic.tp, np.array(case["tables_lower"])[:, 0])
    np.testing.assert_array_equal(bounds.optimistic.tp, np.array(case["tables_upper"])[:, 0])


def random_case(seed, *, ties):
    """A small data set with a band around the truth, in steps that no rounding hides."""
    rng = np.random.default_rng(seed)
    n = 11
    score = rng.integers(0, 6, n) if ties else rng.permutation(n)
    y = rng.choice([1.0, 0.0, np.nan], n, p=[0.25, 0.15, 0.6])
    y[:4] = [1, np.nan, np.nan, np.nan]
    counts = ScoreCounts.from_rows(y, score)
    n_unlabeled = int(counts.n_unlabeled)
    n_hidden = int(rng.integers(1, n_unlabeled))
    cells = len(counts.score)
    center = np.sort(rng.random(cells))
    lower = np.maximum.accumulate(np.clip(center - rng.random(cells) * 0.6, 0, 1))
    upper = np.maximum.accumulate(np.clip(center + rng.random(cells) * 0.6, 0, 1))
    upper[-1] = 1
    return counts, n_hidden, lower, upper


def labellings(counts, n_hidden):
    """Hidden positives above each score, one row a labelling of the unlabeled rows."""
    cell = np.repeat(np.arange(len(counts.score)), counts.unlabeled.astype(int))
    found = {
        tuple(np.cumsum(np.bincount(cell[list(chosen)], minlength=len(counts.score))))
        for chosen in itertools.combinations(range(len(cell)), n_hidden)
    }
    return np.array(sorted(found))


def area(counts, hidden):
    tp = np.append(0, np.cumsum(counts.positive) + hidden)
    fp = np.append(0, np.cumsum(counts.negative + counts.unlabeled) - hidden)
    return np.sum(np.diff(fp) * (tp[1:] + tp[:-1])) / (2 * tp[-1] * fp[-1])


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_sharp_tables_equal_enumeration(seed, ties):
    counts, n_hidden, lower, upper = random_case(seed, ties=ties)
    shares = Shares(n_hidden / counts.n_unlabeled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)
        bounds = bound_tables(counts, shares, lower_cdf=lower, upper_cdf=upper)
    every = labellings(counts, n_hidden)
    checked = 0
    for cell, column in enumerate(every.T):
        share = column / n_hidden
        possible = column[(share >= lower[cell] - 1e-12) & (share <= upper[cell] + 1e-12)]
        if len(possible):
            known = counts.positive[: cell + 1].sum()
            assert bounds.pessimistic.tp[cell] == possible.min() + known
            assert bounds.optimistic.tp[cell] == possible.max() + known
            checked += 1
    assert checked > 0


@pytest.mark.parametrize("ties", [False, True])
def test_tight_auc_equals_enumeration(ties):
    checked = 0
    for seed in range(60):
        counts, n_hidden, lower, upper = random_case(seed, ties=ties)
        every = labellings(counts, n_hidden)
        share = every / n_hidden
        kept = every[((share >= lower - 1e-12) & (share <= upper + 1e-12)).all(axis=1)]
        arguments = (counts, Shares(n_hidden / counts.n_unlabeled))
        whole = np.ceil(lower * n_hidden - 1e-9) <= np.floor(upper * n_hidden + 1e-9)
        if not whole.all():
            continue  # a band narrower than a row is widened to its neighbours: tested below
        if len(kept) == 0:
            with pytest.warns(MisfitWarning, match="hidden positives"):
                bound_roc_auc(*arguments, lower_cdf=lower, upper_cdf=upper)
            continue
        found = bound_roc_auc(*arguments, lower_cdf=lower, upper_cdf=upper)
        areas = [area(counts, hidden) for hidden in kept]
        assert found.low == pytest.approx(min(areas), abs=1e-12)
        assert found.high == pytest.approx(max(areas), abs=1e-12)
        checked += 1
    assert checked > 20


def test_a_band_narrower_than_a_row_keeps_both_neighbours():
    counts = ScoreCounts.from_rows([1, None, None, None, None], [5, 4, 3, 2, 1])
    third = [0.0, 0.3, 0.3, 0.8, 1.0]
    bounds = bound_tables(counts, Shares(0.5), lower_cdf=third, upper_cdf=third)
    np.testing.assert_array_equal(bounds.pessimistic.tp - 1, [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(bounds.optimistic.tp - 1, [0, 1, 1, 2, 2])
    assert bounds.misfit == 0


def test_sharp_is_tighter_than_paper_and_paper_than_nothing():
    counts = ScoreCounts.from_rows([1, None, None, None, None], [5, 4, 3, 2, 1])
    limits = {"lower_cdf": [0, 0.2, 0.4, 0.6, 1], "upper_cdf": [0, 0.8, 0.9, 1, 1]}
    sharp, paper, none = (
        bound_tables(counts, Shares(0.5), rounding=rounding, **limits)
        for rounding in ("sharp", "paper", "none")
    )
    np.testing.assert_array_equal(sharp.pessimistic.tp, [1, 2, 2, 3, 3])
    np.testing.assert_array_equal(paper.pessimistic.tp, [1, 1, 1, 2, 3])
    np.testing.assert_allclose(none.pessimistic.tp, [1, 1.4, 1.8, 2.2, 3])
    assert (sharp.optimistic.tp <= paper.optimistic.tp).all()


def test_misfit_is_reported_with_its_size():
    # Both labels on top; half of the four unlabeled rows cannot be positive above the first.
    counts = ScoreCounts.from_rows([1, 1, None, None, None, None], [6, 5, 4, 3, 2, 1])
    ones = np.ones(6)
    with pytest.warns(MisfitWarning, match="2 hidden positives"):
        bounds = bound_tables(counts, Shares(0.5), lower_cdf=ones, upper_cdf=ones)
    assert bounds.misfit == 2
    assert bounds.clipped == 2


def test_an_end_beyond_the_possible_is_clipped_without_misfit():
    counts = ScoreCounts.from_rows([1, 1, None, None, None, None], [6, 5, 4, 3, 2, 1])
    bounds = bound_tables(counts, Shares(0.5), lower_cdf=np.zeros(6), upper_cdf=np.ones(6))
    assert (bounds.misfit, bounds.clipped) == (0, 2)


def test_too_many_positives_warn_in_the_curve_as_well():
    # Labelled rows all above the unlabeled ones: most of those cannot be positive.
    y = np.r_[np.ones(60), np.full(60, np.nan)]
    counts = ScoreCounts.from_rows(y, -np.arange(120))
    with pytest.warns(MisfitWarning, match="random sample"):
        bound_curve(counts, Shares(0.9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound_curve(counts, Shares(0.0))


def test_metrics_of_tables_are_those_of_the_confusion_matrix():
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    columns = ([3, 2, 1], [5, 6, 9], [2, 4, 8], [4, 3, 0], [6, 4, 0])
    cells = ContingencyTables(*(np.array(column, float) for column in columns))
    for index in range(2):
        tp, fp, fn, tn = (int(getattr(cells, name)[index]) for name in ("tp", "fp", "fn", "tn"))
        true = [1] * tp + [0] * fp + [1] * fn + [0] * tn
        flagged = [1] * (tp + fp) + [0] * (fn + tn)
        for name, function in (
            ("f1", sklearn_metrics.f1_score),
            ("mcc", sklearn_metrics.matthews_corrcoef),
            ("kappa", sklearn_metrics.cohen_kappa_score),
            ("accuracy", sklearn_metrics.accuracy_score),
            ("precision", sklearn_metrics.precision_score),
            ("balanced_accuracy", sklearn_metrics.balanced_accuracy_score),
        ):
            assert getattr(cells, name)[index] == pytest.approx(function(true, flagged))
