"""Ends of intervals do not hang on rounding, which differs by machine and by the order of rows."""

from dataclasses import replace

import numpy as np
import pytest
from tests.matrix import rows

import undercount as uc
from undercount.assume.reviewed.answers import ReviewAnswers
from undercount.infer import mass_gradients
from undercount.infer.mass_gradients import mass_gradient, without_rounding
from undercount.infer.reviews.ends import Side

KINDS, CHANCES = ("reviews", "audited"), np.unique(rows.SCORE)[20:-20:12]


def ask(kind, order=None, factor=None):
    """Return the ends of every difference, and of the net benefit at many thresholds."""
    order = np.arange(rows.N_ROWS) if order is None else order
    if kind == "reviews":
        seen = rows.make_reviews(0.25)
        at = np.argsort(order)[seen.rows]
        weight = None if factor is None else np.full(len(at), factor)
        y, options = rows.FAIR[order], {"reviews": replace(seen, rows=at, weight=weight)}
    else:
        y, options = rows.AUDITED[order], {"assume": uc.RandomAudit()}
    scores = {"one": rows.SCORE[order], "other": rows.OTHER[order]}
    found = []
    if factor is None:
        compared = uc.compare(y, scores, threshold=rows.THRESHOLD, **options)
        found += [each.difference for each in compared.differences]
    else:
        options["sample_weight"] = np.full(len(y), factor)
    evaluation = uc.evaluate(y, scores["one"], threshold=rows.THRESHOLD, **options)
    found += [evaluation.net_benefit(chance, chance) for chance in CHANCES.tolist()]
    return [(each.low, each.high) for each in found]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_tables_off_by_rounding_have_the_same_ends(kind, seed, monkeypatch):
    """Two of these ends were another by .0014, as the machine rounded."""
    expected = ask(kind)
    rng, table = np.random.default_rng(seed), mass_gradients._table

    def rounded(*given):
        found = table(*given)
        return found * (1 + 1e-15 * rng.uniform(-1, 1, found.shape))

    monkeypatch.setattr(mass_gradients, "_table", rounded)
    np.testing.assert_allclose(ask(kind), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_another_order_have_the_same_ends(kind):
    order = np.random.default_rng(3).permutation(rows.N_ROWS)
    np.testing.assert_allclose(ask(kind, order), ask(kind), rtol=0, atol=1e-9)


@pytest.mark.parametrize("factor", [1 / 3, 1.1, 7.0])
def test_equal_weights_have_the_same_ends_whatever_they_are(factor):
    np.testing.assert_allclose(
        ask("reviews", factor=factor), ask("reviews", factor=1.0), rtol=0, atol=1e-9
    )


COUNTS = uc.ScoreCounts.from_counts([3, 2, 1], [20, 10, 5], [0, 0, 0], [30, 300, 3000])
POSITIVE = np.array([31.7, 40.3, 9.1])


def gradient(metric, threshold, beta=1.0):
    return mass_gradient(
        COUNTS, POSITIVE, COUNTS.positive + COUNTS.unlabeled, metric, threshold=threshold, beta=beta
    )


def test_rows_that_leave_a_metric_where_it_is_move_it_by_nothing():
    """An unflagged row has no part in the net benefit, whichever class it is of."""
    for beta in (0.01, 0.37, 3.0):
        turned = gradient("net_benefit", 2, beta).turned
        assert turned[2] == 0
        assert turned[:2] == pytest.approx((1 + beta) / 3365)
        assert np.all(gradient("predicted_positive_rate", 2).turned == 0)


def test_models_that_agree_on_a_row_differ_in_accuracy_by_nothing_there():
    one, other = (gradient("accuracy", threshold) for threshold in (3, 2))
    moves = without_rounding(one.turned - other.turned, one.rounding + other.rounding)
    assert moves[[0, 2]].tolist() == [0, 0]
    assert moves[1] == pytest.approx(-2 / 3365)


@pytest.mark.parametrize("metric", ["recall", "f1", "mcc", "roc_auc", "average_precision"])
def test_what_counts_as_rounding_is_far_below_any_move(metric):
    threshold = None if metric in ("roc_auc", "average_precision") else 2
    found = gradient(metric, threshold)
    assert np.all(np.abs(found.turned) > 1e4 * found.rounding)


@pytest.mark.parametrize("off", [-1e-8, -1e-12, 1e-12, 1e-8])
def test_a_whole_number_of_rows_is_whole_whatever_its_last_digits(off):
    """18 rows, of which verdicts leave open how many are positive; not 19 for 18.00000001."""

    def ends(off):
        moves, adds = np.array([0.005 * (1 + off), 0.005]), np.array([3e-5, 3e-5])
        side = Side(moves, adds, adds, *(np.array(part * 0.09) for part in (0.6, 0.5, 1.0)))
        return [step.sum() for step in side.steps(0.025, 1.0)]

    assert ends(off) == pytest.approx(ends(0.0), rel=1e-7)


def test_a_stratum_without_a_positive_hides_no_fewer_however_its_moves_are_rounded():
    """A tie is one cell: whether its posterior varies inside is no matter of rounding."""
    counts = uc.ScoreCounts.from_counts([2, 1], [300, 10], [0, 0], [0, 20_000])
    design = uc.ReviewDesign([1], [20_000], np.zeros(30, int), unlabeled_prevalence=0.02)
    reviews = uc.Reviews(None, np.zeros(30), np.ones(30), np.zeros(30, int), design)
    shares = ReviewAnswers(counts, reviews).metrics().shares
    for move in 1 / np.arange(3, 60):
        assert np.all(shares.flat_mismatch(np.array([0.0, move]), 1) == 0)
