"""Ends of intervals from a handful of verdicts, by enumerating what a stratum can show."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, hypergeom
from sklearn.metrics import average_precision_score, roc_auc_score

import undercount as uc
from undercount.assume.reviewed.answers import ReviewAnswers
from undercount.infer.mass_gradients import mass_gradient
from undercount.infer.reviews import ends as review_ends
from undercount.infer.reviews.ends import Side, moved_interval
from undercount.read.plan.unlabeled_rows import UnlabeledRows

KNOWN, BELOW = 300, 20_000


def interval(n, k, metric="recall", level=0.95):
    """Read a metric where all flagged rows are labelled and k of n rows below were positive."""
    counts = uc.ScoreCounts.from_counts([2, 1], [KNOWN, 10], [0, 0], [0, BELOW])
    design = uc.ReviewDesign([1], [BELOW], np.zeros(n, int), unlabeled_prevalence=0.02, threshold=2)
    reviews = uc.Reviews(None, np.arange(n) < k, np.ones(n), np.zeros(n, int), design)
    reviewed = ReviewAnswers(counts, reviews, confidence_level=level)
    return reviewed.metrics().estimate(metric, 2 if metric != "roc_auc" else None)


@pytest.mark.parametrize("n", [4, 6, 20, 60])
@pytest.mark.parametrize("share", [0.002, 0.014, 0.05, 0.1, 0.3])
def test_recall_is_covered_whatever_the_stratum_hides(n, share):
    """Exactly: the chance of each number of positives found times whether its interval holds."""
    truth = KNOWN / (KNOWN + 10 + share * BELOW)
    ends = [interval(n, k) for k in range(n + 1)]
    held = np.array([e.low <= truth <= e.high for e in ends])
    assert binom.pmf(np.arange(n + 1), n, share) @ held >= 0.93


@pytest.mark.parametrize(("level", "most"), [(0.8, 0.87), (0.9, 0.94)])
@pytest.mark.parametrize("n", [20, 60])
def test_lower_levels_hold_on_average_over_what_a_stratum_may_hide(n, level, most):
    """Exactly, over shares from .2 % to 30 %: as often as they say, and not much more often."""
    ends = [interval(n, k, level=level) for k in range(n + 1)]
    low, high = (np.array([getattr(end, side) for end in ends]) for side in ("low", "high"))
    share = np.geomspace(0.002, 0.3, 60)
    truth = KNOWN / (KNOWN + 10 + share * BELOW)
    held = (low[:, None] <= truth) & (truth <= high[:, None])
    chance = binom.pmf(np.arange(n + 1)[:, None], n, share)
    assert level <= np.mean((chance * held).sum(axis=0)) <= most


def test_intervals_of_higher_levels_hold_those_of_lower_ones():
    for n, k in ((6, 0), (6, 1), (60, 3)):
        ends = [interval(n, k, level=level) for level in (0.8, 0.9, 0.93, 0.95, 0.99)]
        assert np.all(np.diff([end.low for end in ends]) <= 0)
        assert np.all(np.diff([end.high for end in ends]) >= 0)


def tied_area(positive, rows):
    """ROC AUC of tied scores, highest first: half of the pairs in a tie."""
    negative = rows - positive
    below = negative.sum() - np.cumsum(negative) + negative / 2
    return float(positive @ below / (positive.sum() * negative.sum()))


@pytest.mark.parametrize(("known", "rows", "drawn", "share"), [
    ([40, 15, 1], [300, 900, 2700], [50, 150, 100], 0.027),
    ([40, 5, 0], [300, 500, 5000], [50, 100, 150], 0.01),
])  # fmt: skip
def test_a_tie_that_showed_no_positive_leaves_open_what_verdicts_do(known, rows, drawn, share):
    """Exactly, over what the two lower ties may show: before, .42 where the lowest hides .5 %."""
    scores = np.array([2, 1, 0])
    counts = uc.ScoreCounts.from_counts(scores, known, [0, 0, 0], rows)
    stratum = np.repeat([0, 1, 2], drawn)
    design = uc.ReviewDesign(scores, rows, stratum, unlabeled_prevalence=0.04)

    def ends(*found):
        verdict = np.concatenate([np.arange(n) < k for n, k in zip(drawn, found, strict=True)])
        reviews = uc.Reviews(None, verdict, scores[stratum], stratum, design)
        found = ReviewAnswers(counts, reviews).metrics().estimate("roc_auc")
        return found.low, found.high

    middle, lowest = np.arange(int(binom(drawn[1], share).ppf(0.999)) + 1), np.arange(10)
    low, high = np.moveaxis([[ends(20, k, few) for few in lowest] for k in middle], -1, 0)
    for hidden in (0.001, 0.005, 0.01, 0.015, 0.02):
        positive = np.array(known) + np.array(rows) * [20 / drawn[0], share, hidden]
        truth = tied_area(positive, np.add(known, rows))
        chance = binom(drawn[1], share).pmf(middle)[:, None] * binom(drawn[2], hidden).pmf(lowest)
        assert np.sum(chance * ((low <= truth) & (truth <= high))) >= 0.93


def test_one_positive_among_few_low_rows_is_no_finding():
    """1 of 6 may be 3,333 of 20,000 rows, or fewer than a hundredth of them."""
    found = interval(6, 1)
    assert found.value == pytest.approx(KNOWN / (KNOWN + 10 + BELOW / 6))
    assert found.high > KNOWN / (KNOWN + 10 + 0.03 * BELOW)
    none = interval(6, 0)
    assert none.low < KNOWN / (KNOWN + 10 + 0.2 * BELOW)


def test_more_verdicts_make_the_interval_narrower():
    widths = []
    for n in (6, 12, 25, 50, 100, 200, 400):
        ends = [interval(n, k) for k in range(n + 1)]
        chance = binom.pmf(np.arange(n + 1), n, 0.03)
        widths.append(float(chance @ [e.high - e.low for e in ends]))
    assert np.all(np.diff(widths) < 0)


@pytest.mark.parametrize(("k", "n"), [(0, 6), (1, 6), (3, 30), (30, 30)])
def test_a_side_of_equal_rows_has_the_ends_of_a_share(k, n):
    share, rows = k / n, 1000.0
    smooth = (k + 0.5) / (n + 1)
    variance = np.array([rows**2 * smooth * (1 - smooth) / n])
    side = Side(np.ones(1), variance, variance, share * rows, smooth * rows, rows)
    steps = [float(step[0]) for step in side.steps(0.025, 1.0)]
    ends = [beta(k + 0.75, n - k + 0.25).ppf(0.975), beta(k + 0.25, n - k + 0.75).ppf(0.025)]
    gaps = [(end - share) * rows for end in ends]
    if k in (0, n):
        assert steps == pytest.approx([gaps[k // n]])
    else:  # inside, the variance is taken at the share itself on one end
        assert steps == pytest.approx(gaps, rel=0.35)


@pytest.mark.parametrize(("k", "n", "m"), [(0, 20, 10), (3, 20, 10), (10, 40, 20), (219, 226, 3)])
def test_ends_of_a_few_rows_that_are_left_are_the_exact_ones(monkeypatch, k, n, m):
    """A whole verdict more, and no half row: Clopper and Pearson for a population of n + m rows."""
    monkeypatch.setattr(review_ends, "VERDICT_PARTS", (1.0, 1.0))
    share, totals = k / n, np.arange(k, k + m + 1)
    variance = np.array([(n + m) * m / n * max(share * (1 - share), 0.01)])
    smooth = 0.5 - math.sqrt(0.25 - max(share * (1 - share), 0.01))
    side = Side(np.ones(1), variance, variance, share * m, smooth * m, float(m))
    steps = (float(step[0]) for step in side.steps(0.025, 1.0))
    most = totals[hypergeom(n + m, totals, n).cdf(k) >= 0.025].max()
    assert next(steps) == pytest.approx(most - k + 0.5 - share * m)
    least = totals[hypergeom(n + m, totals, n).sf(k - 1) >= 0.025].min()
    if k:
        assert next(steps) == pytest.approx(least - k - 0.5 - share * m)


def test_a_few_rows_without_a_verdict_are_none_or_one():
    """All but seven of 226 rows were looked at: recall held the truth in .82 of such draws."""
    rng, held = np.random.default_rng(11), []
    for seed in range(60):
        truth = rng.random(300) < 0.3
        score = rng.normal(2 * truth)
        y = np.where(truth & (rng.random(300) < 0.6), 1, -1)
        pool = np.flatnonzero(y == -1)
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
        design = uc.design_reviews(
            counts,
            budget=len(pool) - 7,
            threshold=1.0,
            unlabeled_prevalence=0.15,
            random_state=seed,
        )
        rows = UnlabeledRows(y, score).draw(design)
        reviews = uc.Reviews(rows, truth[rows], score[rows], design.order, design)
        metrics = ReviewAnswers(counts, reviews).metrics("any")
        expected = {
            "recall": truth[score >= 1].sum() / truth.sum(),
            "roc_auc": roc_auc_score(truth, score),
            "average_precision": average_precision_score(truth, score),
        }
        found = {m: metrics.estimate(m, 1.0 if m == "recall" else None) for m in expected}
        # Where none is left open the value is the truth, but for the last bit.
        ends = {m: (e.low - 1e-12, e.high + 1e-12) for m, e in found.items()}
        held.append([low <= expected[m] <= high for m, (low, high) in ends.items()])
    assert np.mean(held, axis=0).min() > 0.9


def test_precision_moves_also_where_the_draw_left_fewer_than_no_positives():
    """One row more of four flagged ones moves precision by a quarter, whatever lies below."""
    counts = uc.ScoreCounts.from_rows([1, None, None, None, None, None], [6, 5, 4, 3, 2, 1])
    positive = np.array([1.0, 0.5, 0.0, 0.5, -3.0, -1.0])
    found = mass_gradient(counts, positive, np.ones(6), "precision", threshold=3.0)
    assert found.value == pytest.approx(0.5)
    np.testing.assert_allclose(found.turned, [0.25, 0.25, 0.25, 0.25, 0, 0], atol=1e-6)


def test_what_cannot_be_read_anywhere_is_open():
    """A metric that is undefined all along the way may be anything."""
    side = Side(np.ones(2), np.ones(2), np.ones(2), 1.0, 1.0, 4.0)
    found = moved_interval(iter([side]), lambda _: np.full(5, math.nan), 0.025, 1.0)
    assert (found.low, found.high) == (-math.inf, math.inf)


def test_rows_that_hardly_move_a_metric_are_not_counted_one_by_one():
    """All of the variance lies where a positive moves next to nothing: billions of such rows."""
    moves, where = np.array([1.0, 1e-12]), np.array([0.0, 1.0])
    side = Side(moves, where, where, np.array(1.0), np.array(1.0), np.array(4.0))
    assert all(np.isfinite(step).all() for step in side.steps(0.025, 1.0))
