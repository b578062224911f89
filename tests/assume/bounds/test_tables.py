"""Tables at each score against the published code's values and hand-made ones."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

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


def area(counts, hidden):
    tp = np.append(0, np.cumsum(counts.positive) + hidden)
    fp = np.append(0, np.cumsum(counts.negative + counts.unlabeled) - hidden)
    return np.sum(np.diff(fp) * (tp[1:] + tp[:-1])) / (2 * tp[-1] * fp[-1])


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


def test_metrics_of_tables_by_hand():
    columns = ([3, 2, 1], [5, 6, 9], [2, 4, 8], [4, 3, 0], [6, 4, 0])
    cells = ContingencyTables(*(np.array(column, float) for column in columns))
    np.testing.assert_allclose(cells.f1[:2], [2 * 5 / (2 * 5 + 2 + 4), 2 * 6 / (2 * 6 + 4 + 3)])
    np.testing.assert_allclose(cells.accuracy[:2], [11 / 17, 10 / 17])
    np.testing.assert_allclose(cells.precision[:2], [5 / 7, 6 / 10])
    np.testing.assert_allclose(
        cells.balanced_accuracy[:2], [(5 / 9 + 6 / 8) / 2, (6 / 9 + 4 / 8) / 2]
    )
