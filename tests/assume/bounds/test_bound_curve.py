"""Pessimistic and optimistic curves: compact counts, ranges, bases, sampling, bad input."""

import warnings

import numpy as np
import pytest

from undercount.assume.bounds.attainable import bound_roc_auc
from undercount.assume.bounds.bound_curve import Setting, _BoundOptions, bound_curve
from undercount.assume.bounds.hidden_limits import hidden_limits
from undercount.assume.bounds.tables import add_hidden, bound_tables
from undercount.counts import ScoreCounts
from undercount.errors import InputError, MisfitWarning
from undercount.estimate import Estimate
from undercount.shares import Shares
from undercount.theory.bands import ENDLESS, cdf_band


def data(seed=0, n=400, *, c=0.4, known_negative=0.1, prevalence=0.4):
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) < prevalence * n).astype(float)
    score = rng.normal(1.2 * truth, 1)
    labelled = rng.random(n) < np.where(truth == 1, c, known_negative)
    return np.where(labelled, truth, np.nan), score, truth


def counted(*arguments, **options):
    y, score, truth = data(*arguments, **options)
    counts = ScoreCounts.from_rows(y, score)
    return counts, Shares.from_positives(counts, truth.sum())


def true_table(counts, y, score, truth):
    del y
    above = score[:, np.newaxis] >= counts.score
    return (above & (truth == 1)[:, np.newaxis]).sum(axis=0)


@pytest.mark.parametrize("basis", ["positive", "negative", "tightest"])
@pytest.mark.parametrize("band", ["hypergeometric", "dkw"])
def test_bounds_hold_the_true_curve(basis, band):
    y, score, truth = data(seed=3)
    counts, shares = counted(seed=3)
    bounds = bound_curve(counts, shares, basis=basis, band=band)
    tp = true_table(counts, y, score, truth)
    tpr = tp / truth.sum()
    assert (bounds.pessimistic.tpr[1:] <= tpr + 1e-12).all()
    assert (bounds.optimistic.tpr[1:] >= tpr - 1e-12).all()
    flagged = np.arange(1, len(tp) + 1)
    fpr = (flagged - tp) / (len(truth) - truth.sum())
    assert (bounds.pessimistic.fpr[1:] >= fpr - 1e-12).all()
    assert (bounds.optimistic.fpr[1:] <= fpr + 1e-12).all()
    point = bounds.pessimistic.at(counts.score[50])
    assert point.precision <= tp[50] / 51


@pytest.mark.parametrize("basis", ["positive", "negative"])
@pytest.mark.parametrize("simultaneous", [True, False])
@pytest.mark.parametrize("rounding", ["sharp", "paper", "none"])
def test_compact_counts_give_the_same_areas(basis, simultaneous, rounding):
    y, score, truth = data(seed=1, n=120)
    full, compact = (ScoreCounts.from_rows(y, score, compact=value) for value in (False, True))
    assert len(compact.score) < len(full.score)
    options = {"basis": basis, "simultaneous": simultaneous, "rounding": rounding}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)
        one, other = (
            bound_curve(counts, Shares.from_positives(counts, truth.sum()), **options)
            for counts in (full, compact)
        )
    assert other.roc_auc.low == pytest.approx(one.roc_auc.low, abs=1e-9)
    assert other.roc_auc.high == pytest.approx(one.roc_auc.high, abs=1e-9)
    if simultaneous and rounding == "sharp":
        # Every row of so small a table is a stop, so that areas over recall agree as well.
        expected = one.average_precision
        assert other.average_precision.low == pytest.approx(expected.low, abs=1e-9)
        assert other.average_precision.high == pytest.approx(expected.high, abs=1e-9)
    labelled = compact.score[(compact.positive + compact.negative > 0)][3]
    mine, theirs = other.optimistic.at(labelled), one.optimistic.at(labelled)
    assert (mine.tpr, mine.fpr) == pytest.approx((theirs.tpr, theirs.fpr))
    merged = np.flatnonzero(compact.merged)[2]
    with pytest.raises(InputError, match="inside a merged cell"):
        other.pessimistic.at(compact.score[merged] + 1e-9)


def test_pointwise_curves_go_through_the_tables_of_theorem_1():
    counts, shares = counted(seed=2, n=100)
    band = cdf_band(counts.positive, band="binomial", simultaneous=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)  # the paper's band covers too little
        expected = bound_tables(
            counts, shares, lower_cdf=band.lower, upper_cdf=band.upper, rounding="paper"
        ).curves
        found = bound_curve(counts, shares, band="binomial", simultaneous=False, rounding="paper")
    assert found.roc_auc == expected.roc_auc
    np.testing.assert_array_equal(found.optimistic.fpr, expected.optimistic.fpr)
    np.testing.assert_array_equal(found.optimistic.tpr, expected.optimistic.tpr)


def test_simultaneous_areas_are_the_tight_ones():
    counts, shares = counted(seed=2, n=100)
    hidden = round(shares.unlabeled_prevalence * counts.n_unlabeled)
    band = cdf_band(counts.positive, n_hidden=hidden)
    found = bound_curve(counts, shares).roc_auc
    limits = {"lower_cdf": band.lower, "upper_cdf": band.upper}
    tight = bound_roc_auc(counts, shares, **limits)
    assert (found.low, found.high) == pytest.approx((tight.low, tight.high), abs=1e-12)
    loose = bound_tables(counts, shares, **limits).curves.roc_auc
    assert loose.low <= tight.low
    assert tight.high <= loose.high


def test_a_range_holds_every_prevalence_inside_it():
    counts, _ = counted(seed=4, n=600)
    low, high = 0.2, 0.35
    bounds = bound_curve(counts, Shares((low, high)), rounding="none")
    ends = [bound_curve(counts, Shares(share), rounding="none") for share in (low, high)]
    assert bounds.pessimistic.prevalence == pytest.approx(ends[0].pessimistic.prevalence)
    assert bounds.optimistic.prevalence == pytest.approx(ends[1].optimistic.prevalence)
    # Above the diagonal the ends of the range are the bounds themselves.
    middle = slice(150, 300)
    for name in ("tpr", "fpr"):
        np.testing.assert_allclose(
            getattr(bounds.pessimistic, name)[middle], getattr(ends[0].pessimistic, name)[middle]
        )
        np.testing.assert_allclose(
            getattr(bounds.optimistic, name)[middle], getattr(ends[1].optimistic, name)[middle]
        )
    row = (
        2 / counts.n_unlabeled
    )  # limits of different numbers of hidden rows differ by parts of one
    for share in (0.2, 0.25, 0.3, 0.35):
        inner = bound_curve(counts, Shares(share), rounding="none")
        assert (bounds.pessimistic.fpr >= inner.pessimistic.fpr - row).all()
        assert (bounds.optimistic.fpr <= inner.optimistic.fpr + row).all()
        assert bounds.roc_auc.low <= inner.roc_auc.low + 1e-9
        assert bounds.roc_auc.high >= inner.roc_auc.high - 1e-9


@pytest.mark.parametrize("basis", ["positive", "negative"])
def test_a_range_works_on_compact_counts(basis):
    y, score, _ = data(seed=4, n=300)
    full, compact = (
        bound_curve(ScoreCounts.from_rows(y, score, compact=value), Shares((0.2, 0.3)), basis=basis)
        for value in (False, True)
    )
    assert compact.roc_auc.low == pytest.approx(full.roc_auc.low, abs=2e-3)
    assert compact.roc_auc.high == pytest.approx(full.roc_auc.high, abs=2e-3)


def test_a_range_misfits_only_if_both_ends_do():
    y = np.r_[np.ones(60), np.full(60, np.nan)]
    counts = ScoreCounts.from_rows(y, -np.arange(120))  # no unlabeled row among the labelled ones
    bound_curve(counts, Shares((0.0, 0.9)))
    with pytest.warns(MisfitWarning, match="random sample"):
        bound_curve(counts, Shares((0.5, 0.9)))


def test_a_range_up_to_one_leaves_a_negative_row():
    counts = ScoreCounts.from_rows([1, None, None, None], [4, 3, 2, 1])
    bounds = bound_curve(counts, Shares(Estimate(0.5, 0.1, 1.0)))
    assert bounds.optimistic.prevalence == 3 / 4
    assert bounds.roc_auc.high == 1


def test_many_merged_rows_are_read_in_few_stops():
    rng = np.random.default_rng(0)
    y = np.full(300_000, np.nan)
    y[:20] = 1
    score = rng.normal(np.arange(300_000) < 60_000, 1)
    counts = ScoreCounts.from_rows(y, score, compact=True)
    bounds = bound_curve(counts, Shares.from_positives(counts, 60_000))
    assert len(bounds.pessimistic.tpr) < 150_000
    assert 0.5 < bounds.average_precision.high < 1
    assert bounds.roc_auc.low < 0.76 < bounds.roc_auc.high


def test_below_the_diagonal_a_range_works_the_other_way():
    # Labels at the bottom: worse than random, so more positives mean a higher FPR (Lemma 4).
    y = np.r_[np.full(300, np.nan), np.ones(60)]
    score = np.r_[np.linspace(1, -1, 300), np.linspace(0, -1, 60)]
    counts = ScoreCounts.from_rows(y, score)
    bounds = bound_curve(counts, Shares((0.1, 0.2)), rounding="none")
    low, high = (bound_curve(counts, Shares(share), rounding="none") for share in (0.1, 0.2))
    below = np.flatnonzero(low.pessimistic.fpr > low.pessimistic.tpr + 0.2)
    assert len(below) > 50
    worst = high.pessimistic.fpr[below]
    assert (worst > low.pessimistic.fpr[below]).all()
    np.testing.assert_allclose(bounds.pessimistic.fpr[below], worst)
    assert (np.diff(bounds.pessimistic.tpr) >= 0).all()


def test_the_tightest_basis_is_the_narrower_one():
    counts, shares = counted(seed=5, n=600, c=0.1, known_negative=0.7)
    widths = {
        basis: bound_curve(counts, shares, basis=basis).roc_auc.width
        for basis in ("positive", "negative", "tightest")
    }
    assert widths["negative"] < widths["positive"]
    assert widths["tightest"] == widths["negative"]


def test_without_known_positives_the_flip_still_works():
    y, score, truth = data(seed=6, known_negative=0.5)
    y[y == 1] = np.nan
    counts = ScoreCounts.from_rows(y, score)
    share = truth.sum() / counts.n_unlabeled
    bounds = bound_curve(counts, Shares(share), basis="negative")
    area = np.mean(score[truth == 1][:, None] > score[truth == 0])
    assert area in bounds.roc_auc
    with pytest.raises(InputError, match="labelled positive"):
        bound_curve(counts, Shares(share))


def test_no_hidden_positive_is_the_naive_curve():
    counts, _ = counted(seed=7)
    bounds = bound_curve(counts, Shares(0.0))
    naive = np.cumsum(counts.negative + counts.unlabeled)
    for curve in (bounds.pessimistic, bounds.optimistic):
        np.testing.assert_allclose(curve.fpr[1:], naive / naive[-1])
        np.testing.assert_allclose(curve.tpr[1:], np.cumsum(counts.positive) / counts.n_positive)


def test_case_control_tables_count_the_unlabeled_rows_alone():
    counts, shares = counted(seed=8)
    share = shares.unlabeled_prevalence
    bounds = bound_curve(counts, Shares(share, sampling="case-control"))
    hidden = round(share * counts.n_unlabeled)
    assert bounds.optimistic.prevalence == pytest.approx(hidden / counts.n_unlabeled)
    assert bounds.roc_auc.low < bounds.roc_auc.high


def test_equal_weights_change_nothing_but_rounding():
    y, score, truth = data(seed=9, n=200)
    plain = ScoreCounts.from_rows(y, score)
    weighted = ScoreCounts.from_rows(y, score, sample_weight=np.full(200, 3.0))
    share = Shares.from_positives(plain, truth.sum()).unlabeled_prevalence
    one = bound_curve(plain, Shares(share), rounding="none").roc_auc
    other = bound_curve(weighted, Shares(share)).roc_auc
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-9)


def test_the_bootstrap_band_repeats_for_a_seed():
    counts, shares = counted(seed=10, n=100)
    options = {"band": "bootstrap", "simultaneous": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)
        one, other = (
            bound_curve(counts, shares, random_state=1, **options).roc_auc for _ in range(2)
        )
        closed = bound_curve(counts, shares, band="binomial", simultaneous=False).roc_auc
    assert one == other
    assert (one.low, one.high) == pytest.approx((closed.low, closed.high), abs=0.02)


def test_two_models_keep_their_order_at_every_feasible_prevalence():
    y, score, _ = data(seed=11)
    rng = np.random.default_rng(0)
    areas = []
    for model in (score, score + rng.normal(0, 0.5, len(score))):
        counts = ScoreCounts.from_rows(y, model)
        cdf = np.cumsum(counts.positive) / counts.n_positive
        areas.append(
            [
                add_hidden(counts, Shares(share), wanted.low, wanted.n_hidden).curve.roc_auc
                for share in (0.0, 0.1, 0.2, 0.3)
                for wanted in [hidden_limits(counts, share, cdf, cdf, "none")]
            ]
        )
    assert (np.array(areas[0]) > np.array(areas[1])).all()


def test_too_many_positives_warn_in_the_curve_as_well():
    # Labelled rows all above the unlabeled ones: most of those cannot be positive.
    y = np.r_[np.ones(60), np.full(60, np.nan)]
    counts = ScoreCounts.from_rows(y, -np.arange(120))
    with pytest.warns(MisfitWarning, match="random sample"):
        bound_curve(counts, Shares(0.9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound_curve(counts, Shares(0.0))


Y, SCORE = [1, None, 1, None, None, 0], [6, 5, 4, 3, 2, 1]
COUNTS = ScoreCounts.from_rows(Y, SCORE)
HALF = Shares(0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bound_curve(COUNTS, Shares(0.5, (0.8, 0.9))), "one number for the purity"),
        (
            lambda: bound_tables(COUNTS, Shares(0.5, 0.9), lower_cdf=[0] * 2, upper_cdf=[1] * 2),
            "bound_curve takes impure ones",
        ),
        (lambda: bound_curve(COUNTS, HALF, band="normal"), "band must be one of"),
        (lambda: bound_curve(COUNTS, HALF, basis="both"), "basis must be one of"),
        (lambda: bound_curve(COUNTS, HALF, rounding="up"), "rounding must be one of"),
        (lambda: bound_curve(COUNTS, HALF, confidence_level=95), "confidence_level"),
        (lambda: bound_curve(ScoreCounts.from_rows([None, 0], [1, 2]), HALF), "labelled positive"),
        (lambda: bound_curve(ScoreCounts.from_rows([1, 0], [1, 2]), HALF), "unlabeled row"),
        (
            lambda: bound_curve(ScoreCounts.from_rows([1, None], [1, 2]), HALF, basis="negative"),
            "labelled negative",
        ),
        (
            lambda: bound_curve(ScoreCounts.from_rows([1, None, None], [3, 2, 1]), Shares(0.9)),
            "no negative row is left",
        ),
        (
            lambda: bound_tables(COUNTS, HALF, lower_cdf=[0, 1], upper_cdf=np.ones(6)),
            "one value a distinct score, 6; got shape",
        ),
        (
            lambda: bound_tables(COUNTS, HALF, lower_cdf=np.zeros((6, 1)), upper_cdf=np.ones(6)),
            "got shape",
        ),
        (
            lambda: bound_tables(COUNTS, HALF, lower_cdf=np.zeros(6), upper_cdf=np.full(6, 1.5)),
            r"in \[0, 1\]",
        ),
        (
            lambda: bound_tables(COUNTS, HALF, lower_cdf=np.full(6, np.nan), upper_cdf=np.ones(6)),
            r"in \[0, 1\]",
        ),
        (
            lambda: bound_tables(COUNTS, HALF, lower_cdf=np.ones(6), upper_cdf=np.zeros(6)),
            "must not exceed",
        ),
        (
            lambda: bound_tables(
                COUNTS, HALF, lower_cdf=np.linspace(1, 0, 6), upper_cdf=np.ones(6)
            ),
            "must not fall",
        ),
        (
            lambda: bound_tables(COUNTS, HALF, lower_cdf=["a"] * 6, upper_cdf=np.ones(6)),
            "lower_cdf must hold numbers",
        ),
    ],
)
def test_bad_input_is_one_clear_error(call, message):
    with pytest.raises(InputError, match=message):
        call()


# Rows, share of positives, part of them labelled, wrong labels among a thousand negatives.
IMPURE = {"few": (600, 0.3, 0.3, 30), "many": (1500, 0.4, 0.6, 60), "rare": (3000, 0.1, 0.5, 10)}


def impure(design, seed):
    """Return counts of labels of which some are wrong, what is known of them, and the truth."""
    n, share, chance, wrong = IMPURE[design]
    rng = np.random.default_rng([17, sorted(IMPURE).index(design), seed])
    truth = np.arange(n) < share * n
    score = np.round(rng.normal(1.5 * truth, 1), 2)
    labelled = rng.random(n) < np.where(truth, chance, wrong / 1000)
    counts = ScoreCounts.from_rows(np.where(labelled, 1.0, np.nan), score)
    return counts, Shares(truth[~labelled].mean(), truth[labelled].mean()), truth, score


def test_limits_of_impure_labels_solve_both_mixtures():
    """Rates of positives and negatives follow from those of labelled and of all rows."""
    counts, shares, truth, _ = impure("few", 0)
    setting = Setting.of(counts, shares, shares.unlabeled_prevalence)
    options = _BoundOptions(0.95, "hypergeometric", True, "sharp", None)
    found = setting.band_of_positives(options)
    own = cdf_band(counts.positive, n_hidden=round(ENDLESS * counts.n_positive))
    assert setting.share == pytest.approx(truth.mean())
    everyone = np.cumsum(counts.positive + counts.unlabeled) / counts.n_rows
    purity, share = shares.label_purity, truth.mean()
    mixed = np.array([[purity, 1 - purity], [share, 1 - share]])
    for limit, labelled in ((found.lower, own.lower), (found.upper, own.upper)):
        assert limit == pytest.approx(np.linalg.solve(mixed, np.array([labelled, everyone]))[0])


def holds_truth(design, seed):
    """Whether the true curve lies between the bounds at every score, and its area."""
    counts, shares, truth, score = impure(design, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)
        bounds = bound_curve(counts, shares)
    flagged = [score >= cut for cut in counts.score]
    tpr = np.array([truth[rows].sum() for rows in flagged]) / truth.sum()
    order = [np.argsort(-curve.threshold)[1:] for curve in (bounds.pessimistic, bounds.optimistic)]
    low, high = bounds.pessimistic.tpr[order[0]], bounds.optimistic.tpr[order[1]]
    return bool((low <= tpr + 1e-9).all() and (tpr <= high + 1e-9).all()), bounds.roc_auc


@pytest.mark.parametrize("design", IMPURE)
def test_bounds_of_impure_labels_hold_along_the_whole_curve(design):
    held = [holds_truth(design, seed)[0] for seed in range(40)]
    assert np.mean(held) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("design", IMPURE)
def test_bounds_of_impure_labels_cover(design):
    held = [holds_truth(design, seed)[0] for seed in range(150)]
    assert np.mean(held) >= 0.93
