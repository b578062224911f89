"""Identities that bounds keep for all data: the numbers are those of the list of identities."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.bounds.hidden_limits import hidden_limits
from undercount.assume.bounds.tables import add_hidden, bound_tables
from undercount.counts import ScoreCounts
from undercount.errors import MisfitWarning, UndefinedMetricWarning
from undercount.infer.mixture import mixture_curve
from undercount.shares import Shares
from undercount.theory.wrong_prevalence import prevalence_slopes

law = settings(deadline=None, max_examples=40)
EXACT = {"rtol": 0, "atol": 1e-12}


@st.composite
def samples(draw, *, negatives=True, weights=True):
    """Counts with ties, at least one row of each kind, sometimes weighted."""
    size = draw(st.integers(6, 30))
    labels = draw(
        st.lists(st.sampled_from([1.0, 0.0, np.nan, np.nan]), min_size=size, max_size=size)
    )
    if not negatives:
        labels = [np.nan if label == 0 else label for label in labels]
    labels[:5] = [1.0, np.nan, np.nan, np.nan, 0.0 if negatives else 1.0]
    score = draw(st.lists(st.integers(-8, 8), min_size=size, max_size=size))
    weight = None
    if weights and draw(st.booleans()):
        weight = draw(st.lists(st.floats(0.5, 3), min_size=size, max_size=size))
    return ScoreCounts.from_rows(labels, score, sample_weight=weight)


@st.composite
def bands(draw, cells):
    """Two nondecreasing limits, one below the other, ending at 1."""
    values = st.lists(st.floats(0, 1), min_size=cells, max_size=cells)
    one, other = np.sort(draw(values)), np.sort(draw(values))
    lower, upper = np.minimum(one, other), np.maximum(one, other)
    upper[-1] = 1
    return lower, upper


def quiet_tables(*arguments, **options):
    """Made-up bands seldom fit; that they warn is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)
        return bound_tables(*arguments, **options)


def unclipped(counts, share):
    """Claesen's tables with the empirical distribution, neither rounded nor clipped."""
    cdf = np.cumsum(counts.positive) / counts.n_positive
    wanted = hidden_limits(counts, share, cdf, cdf, "none")
    return add_hidden(counts, Shares(share), wanted.low, wanted.n_hidden)


@law
@given(counts=samples(), share=st.floats(0.01, 0.9))
def test_identity_5_tables_with_the_empirical_distribution_are_jains(counts, share):
    found = unclipped(counts, share)
    expected = mixture_curve(counts, Shares(share), clean=False)
    np.testing.assert_allclose(found.tpr, expected.tpr[1:], **EXACT)
    np.testing.assert_allclose(found.fpr, expected.fpr[1:], **EXACT)
    assert found.prevalence == pytest.approx(expected.prevalence, abs=1e-12)


@law
@given(counts=samples(), share=st.floats(0.01, 0.9))
def test_identity_7_precision_is_tabatabaeis(counts, share):
    found = unclipped(counts, share)
    labelled = np.cumsum(counts.positive)
    flagged = np.cumsum(counts.positive + counts.negative + counts.unlabeled)
    frequency = counts.n_positive / (counts.n_positive + share * counts.n_unlabeled)
    np.testing.assert_allclose(found.precision, labelled / flagged / frequency, rtol=1e-12)


@law
@given(data=st.data(), counts=samples())
def test_identity_19_and_20_the_flip_is_the_reversed_ranking_of_the_other_class(data, counts):
    hidden = data.draw(st.integers(1, max(1, int(counts.n_unlabeled) - 1)))
    if hidden >= counts.n_unlabeled - 0.5:
        return
    share = hidden / counts.n_unlabeled
    reversed_counts = ScoreCounts.from_counts(
        -counts.score,
        counts.negative,
        counts.positive,
        counts.unlabeled,
        squared_weight=tuple(counts.squared_weight[i] for i in (1, 0, 2)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)
        flipped = bound_curve(counts, Shares(share), basis="negative")
        other = bound_curve(reversed_counts, Shares(1 - share), basis="positive")
    for mine, theirs in (
        (flipped.pessimistic, other.pessimistic),
        (flipped.optimistic, other.optimistic),
    ):
        np.testing.assert_allclose(mine.tpr, 1 - theirs.fpr[::-1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(mine.fpr, 1 - theirs.tpr[::-1], rtol=0, atol=1e-9)
        # 19: the flip keeps how many rows of each class there are.
        assert mine.prevalence == pytest.approx(1 - theirs.prevalence, abs=1e-12)


@law
@given(data=st.data(), counts=samples(), share=st.floats(0, 0.9))
def test_identity_21_bounds_nest_in_the_band(data, counts, share):
    lower, upper = data.draw(bands(len(counts.score)))
    margin = data.draw(st.floats(0, 0.3))
    for rounding in ("sharp", "paper", "none"):
        inner = quiet_tables(
            counts, Shares(share), lower_cdf=lower, upper_cdf=upper, rounding=rounding
        )
        outer = quiet_tables(
            counts,
            Shares(share),
            lower_cdf=np.maximum(lower - margin, 0),
            upper_cdf=np.minimum(upper + margin, 1),
            rounding=rounding,
        )
        # A sharp band without a whole number is widened by less than one row.
        slack = 1 if rounding == "sharp" else 1e-9
        assert (outer.pessimistic.tp <= inner.pessimistic.tp + slack).all()
        assert (outer.optimistic.tp >= inner.optimistic.tp - slack).all()
        assert (inner.pessimistic.tp <= inner.optimistic.tp + 1e-9).all()
        assert (inner.pessimistic.fpr >= inner.optimistic.fpr - 1e-9).all()


@law
@given(data=st.data(), counts=samples(), share=st.floats(0, 0.9))
def test_identity_22_cells_are_not_negative_and_sum_to_all_rows(data, counts, share):
    lower, upper = data.draw(bands(len(counts.score)))
    for sampling, size in (("single-sample", counts.n_rows), ("case-control", counts.n_unlabeled)):
        for rounding in ("sharp", "paper", "none"):
            bounds = quiet_tables(
                counts,
                Shares(share, sampling=sampling),
                lower_cdf=lower,
                upper_cdf=upper,
                rounding=rounding,
            )
            for cells in (bounds.pessimistic, bounds.optimistic):
                columns = np.array([cells.tp, cells.fp, cells.fn, cells.tn])
                assert columns.min() >= -1e-9
                np.testing.assert_allclose(columns.sum(axis=0), size, rtol=1e-12)
                assert (np.diff(cells.tp) >= -1e-9).all()


@law
@given(counts=samples(weights=False), share=st.floats(0.05, 0.9))
def test_the_tight_curves_are_monotone_and_ordered(counts, share):
    hidden = round(share * counts.n_unlabeled)
    if not 0 < hidden < counts.n_unlabeled:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", MisfitWarning)
        try:
            tight = bound_curve(counts, Shares(hidden / counts.n_unlabeled))
        except MisfitWarning:
            return
    assert tight.roc_auc.low <= tight.roc_auc.high
    for curve in (tight.pessimistic, tight.optimistic):
        assert (np.diff(curve.fpr) >= 0).all()
        assert (np.diff(curve.tpr) >= 0).all()
        assert (np.diff(curve.threshold[1:]) <= 0).all()
        assert (curve.tpr[-1], curve.fpr[-1]) == (1, 1)


@law
@given(counts=samples(), share=st.floats(0.05, 0.9))
def test_slopes_are_differences_of_the_tables(counts, share):
    step = 1e-5
    before, after = unclipped(counts, share - step), unclipped(counts, share + step)
    cdf = np.cumsum(counts.positive) / counts.n_positive
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # above the first unlabeled row
        slopes = prevalence_slopes(counts, Shares(share), cdf)
    for name in ("tp", "fp", "fn", "tn"):
        change = (getattr(after, name) - getattr(before, name)) / (2 * step)
        np.testing.assert_allclose(getattr(slopes, name), change, atol=1e-5)
    # The rates of the appendix are those of the unlabeled rows alone: drawn apart.
    apart = [
        add_hidden(
            counts,
            Shares(value, sampling="case-control"),
            value * cdf * counts.n_unlabeled,
            value * counts.n_unlabeled,
        )
        for value in (share - step, share + step)
    ]
    change = (apart[1].fpr - apart[0].fpr) / (2 * step)
    np.testing.assert_allclose(slopes.fpr, change, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(apart[1].tpr, apart[0].tpr, atol=1e-9)
    seen = np.cumsum(counts.unlabeled) > 0
    flagged = [cells.tp[seen] / (cells.tp + cells.fp)[seen] for cells in apart]
    change = (flagged[1] - flagged[0]) / (2 * step)
    np.testing.assert_allclose(slopes.precision[seen], change, rtol=1e-3, atol=1e-4)
