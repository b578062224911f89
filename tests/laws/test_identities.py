"""Identities between the papers, with and without ties, weights and known negatives.

Every left side comes from the library, every right side from the rows by brute force. The number
in a test's name is the identity's:

====== ===================================== ======================================
number what it says                          where it is tested
====== ===================================== ======================================
1-4    areas and shares, each from another   here
5      Claesen's ROC is Jain's               tests/assume/test_bounds_laws.py
6      signed area of the uncleaned curve    here
7      Tabatabaei's precision is Claesen's   tests/assume/test_bounds_laws.py
8-17   precision, F, mixing, order of scores here
18     no hidden positives: scikit-learn     test_identities_counts.py
19-22  flip, nesting, cells of bounds        tests/assume/test_bounds_laws.py
23-24  means over all labellings             test_identities_enumeration.py
25-28  selection, the resampled band         test_identities_selection.py
29     counts add                            test_identities_counts.py
====== ===================================== ======================================

Samples have ties or not, weights or not, known negatives or not wherever the identity allows
them: 1, 15, 25, 26 and 28 are about complete labels, 4, 13 and the closed forms of 3 about
positive and unlabeled rows alone, and 23-24 count rows, which have no weights.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc
from undercount.errors import InputError
from undercount.theory.lift import auc_from_lift, lift_curve
from undercount.theory.recovery import direct_auc, precision_from_naive, unlabeled_precision

EXACT = {"rel": 1e-12, "abs": 1e-12}
AREA = {"rel": 1e-9, "abs": 1e-9}
law = settings(deadline=None, max_examples=40)
shares_among_unlabeled = st.floats(0, 0.7)
purities = st.floats(0.8, 1)


@dataclass
class Sample:
    """Rows, and the plain sums over them that the papers' letters stand for."""

    y: np.ndarray
    score: np.ndarray
    weight: np.ndarray | None

    @property
    def counts(self):
        return uc.ScoreCounts.from_rows(self.y, self.score, sample_weight=self.weight)

    @property
    def w(self):
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def rows(self, kind):
        unlabeled = np.isnan(self.y)
        return {"L": self.y == 1, "N": self.y == 0, "U": unlabeled, "all": unlabeled | True}[kind]

    def total(self, kind):
        return self.w[self.rows(kind)].sum()

    def heads(self, kind):
        """Rows of a kind at or above each distinct score, descending."""
        kept = self.rows(kind)
        return np.array(
            [self.w[kept & (self.score >= t)].sum() for t in np.unique(self.score)[::-1]]
        )

    def rate(self, kind):
        return self.heads(kind) / self.total(kind)

    def area(self, one, other):
        """Share of pairs whose first row is higher, ties (and a row with itself) one half."""
        one, other = self.rows(one), self.rows(other)
        first, second = self.score[one][:, None], self.score[other]
        pairs = (first > second) + 0.5 * (first == second)
        return self.w[one] @ pairs @ self.w[other] / (self.w[one].sum() * self.w[other].sum())


@st.composite
def samples(draw, labels=(1.0, 0.0, np.nan), needed=(1.0, np.nan)):
    n_rows = draw(st.integers(4, 25))
    y = [*needed, *draw(st.lists(st.sampled_from(labels), min_size=n_rows, max_size=n_rows))]
    if draw(st.booleans()):
        score = draw(st.lists(st.integers(-2, 4), min_size=len(y), max_size=len(y)))
    else:
        score = draw(st.permutations(range(len(y))))
    weight = None
    if draw(st.booleans()):
        weight = draw(st.lists(st.floats(0.1, 3), min_size=len(y), max_size=len(y)))
        weight = np.array(weight)
    return Sample(np.array(y), np.array(score, dtype=float), weight)


positive_unlabeled = samples(labels=(1.0, np.nan))
complete = samples(labels=(1.0, 0.0), needed=(1.0, 0.0))


def raw(sample, shares):
    return uc.mixture_curve(sample.counts, shares, clean=False)


@law
@given(complete)
def test_1_lift_and_roc_areas(sample):
    curve, share = uc.labelled_curve(sample.counts), sample.total("L") / sample.total("all")
    assert curve.roc_auc == pytest.approx(sample.area("L", "N"), **AREA)
    assert curve.lift_auc == pytest.approx(sample.area("L", "all"), **AREA)
    assert curve.lift_auc == pytest.approx(share / 2 + (1 - share) * curve.roc_auc, **AREA)


@law
@given(samples())
def test_2_labelled_lift_and_naive_areas(sample):
    labelled = sample.total("L") / sample.total("all")
    expected = labelled / 2 + (1 - labelled) * uc.naive_curve(sample.counts).roc_auc
    assert lift_curve(sample.counts).area == pytest.approx(expected, **AREA)
    assert lift_curve(sample.counts).area == pytest.approx(sample.area("L", "all"), **AREA)


@law
@given(samples(), shares_among_unlabeled, purities)
def test_3_each_share_from_another(sample, share, purity):
    counts, n = sample.counts, sample.total("all")
    shares = uc.Shares(share, purity)
    positives = purity * sample.total("L") + share * sample.total("U")
    assert shares.positives(counts) == pytest.approx(positives, **EXACT)
    assert shares.prevalence(counts) == pytest.approx(positives / n, **EXACT)
    assert shares.label_frequency(counts) == pytest.approx(
        purity * sample.total("L") / positives, **EXACT
    )
    for back in (
        uc.Shares.from_prevalence(counts, shares.prevalence(counts), purity),
        uc.Shares.from_label_frequency(counts, shares.label_frequency(counts), purity),
        uc.Shares.from_positives(counts, positives, purity),
    ):
        assert back.unlabeled_prevalence == pytest.approx(share, **EXACT)


@law
@given(positive_unlabeled, shares_among_unlabeled)
def test_3_closed_forms(sample, share):
    counts, shares = sample.counts, uc.Shares(share)
    labelled = sample.total("L") / sample.total("all")
    prevalence, frequency = shares.prevalence(counts), shares.label_frequency(counts)
    assert prevalence == pytest.approx(labelled + (1 - labelled) * share, **EXACT)
    assert frequency == pytest.approx(labelled / prevalence, **EXACT)
    hidden = prevalence * (1 - frequency) / (1 - prevalence * frequency)
    assert hidden == pytest.approx(share, **EXACT)
    assert 1 - share == pytest.approx((1 - prevalence) / (1 - labelled), **EXACT)


@law
@given(positive_unlabeled, shares_among_unlabeled)
def test_4_lift_and_direct_recovery_are_one_statistic(sample, share):
    counts, shares = sample.counts, uc.Shares(share)
    prevalence = shares.prevalence(counts)
    from_lift = (lift_curve(counts).area - prevalence / 2) / (1 - prevalence)
    assert raw(sample, shares).roc_auc == pytest.approx(from_lift, **AREA)
    try:
        direct = direct_auc(counts, shares)
    except InputError:
        with pytest.raises(InputError):
            auc_from_lift(lift_curve(counts).area, prevalence)
    else:
        assert direct == pytest.approx(auc_from_lift(lift_curve(counts).area, prevalence), **AREA)


@law
@given(samples(), shares_among_unlabeled, purities)
def test_6_area_of_the_uncleaned_curve_is_equation_4(sample, share, purity):
    gap = purity - share
    expected = (sample.area("L", "U") - (1 - gap) / 2) / gap
    found = raw(sample, uc.Shares(share, purity, "case-control")).roc_auc
    assert found == pytest.approx(expected, **AREA)


@law
@given(samples(), shares_among_unlabeled)
def test_8_tabatabaeis_precision_is_jains_with_all_rows_unlabeled(sample, share):
    counts, shares = sample.counts, uc.Shares(share)
    frequency = shares.label_frequency(counts)
    tabatabaei = sample.heads("L") / (frequency * sample.heads("all"))
    assert raw(sample, shares).precision[1:] == pytest.approx(tabatabaei, **EXACT)
    together = counts.positive + counts.negative + counts.unlabeled
    nothing = np.zeros(len(together))
    apart = uc.ScoreCounts.from_counts(counts.score, counts.positive, nothing, together)
    jain = unlabeled_precision(apart, uc.Shares(shares.prevalence(counts), sampling="case-control"))
    assert jain == pytest.approx(tabatabaei, **EXACT)


@law
@given(samples(), shares_among_unlabeled)
def test_9_precision_of_all_rows_from_that_among_the_unlabeled(sample, share):
    shares, unlabeled = uc.Shares(share), sample.heads("U")
    found = unlabeled_precision(sample.counts, shares)
    seen = unlabeled > 0
    real = sample.heads("all") * raw(sample, shares).precision[1:]
    assert real[seen] == pytest.approx((sample.heads("L") + unlabeled * found)[seen], **EXACT)


@law
@given(samples(), shares_among_unlabeled)
def test_10_naive_precision_is_precision_times_label_frequency(sample, share):
    shares = uc.Shares(share)
    expected = shares.label_frequency(sample.counts) * raw(sample, shares).precision[1:]
    assert sample.heads("L") / sample.heads("all") == pytest.approx(expected, **EXACT)
    assert uc.naive_curve(sample.counts).precision[1:] == pytest.approx(expected, **EXACT)


@law
@given(samples(), shares_among_unlabeled)
def test_11_lee_liu_is_precision_times_recall_over_prevalence(sample, share):
    curve = raw(sample, uc.Shares(share))
    lee_liu = sample.rate("L") ** 2 / sample.rate("all")
    assert curve.lee_liu[1:] == pytest.approx(lee_liu, **EXACT)
    product = (curve.precision * curve.recall)[1:] / curve.prevalence
    assert product == pytest.approx(lee_liu, **EXACT)


@law
@given(samples(), shares_among_unlabeled, st.floats(0, 4))
def test_12_f_scores(sample, share, beta):
    counts, shares = sample.counts, uc.Shares(share)
    curve, prevalence = raw(sample, shares), shares.prevalence(counts)
    hits, flagged, g = sample.heads("L"), sample.heads("all"), sample.rate("L")
    frequency = shares.label_frequency(counts)
    tabatabaei = 2 * hits / (frequency * flagged + sample.total("L"))
    assert curve.f1[1:] == pytest.approx(tabatabaei, **EXACT)
    assert 2 * prevalence * g / (prevalence + sample.rate("all")) == pytest.approx(
        tabatabaei, **EXACT
    )
    some = hits > 0  # the harmonic mean of two zeros is 0/0
    precision, recall = curve.precision[1:][some], curve.recall[1:][some]
    assert 2 / (1 / precision + 1 / recall) == pytest.approx(tabatabaei[some], **EXACT)
    weighted = (1 + beta**2) * hits / (beta**2 * sample.total("L") + frequency * flagged)
    assert curve.f_beta(beta)[1:] == pytest.approx(weighted, **EXACT)


@law
@given(positive_unlabeled, shares_among_unlabeled, purities)
def test_13_both_routes_to_precision(sample, share, purity):
    shares = uc.Shares(share, purity)
    labelled = sample.total("L") / sample.total("all")
    naive, seen = sample.heads("L") / sample.heads("all"), sample.heads("U") > 0
    found = precision_from_naive(naive[seen], shares, labelled_share=labelled)
    tpr = ((1 - share) * sample.rate("L") - (1 - purity) * sample.rate("U")) / (purity - share)
    expected = share * tpr[seen] / sample.rate("U")[seen]
    assert found == pytest.approx(expected, **EXACT)
    assert unlabeled_precision(sample.counts, shares)[seen] == pytest.approx(expected, **EXACT)


@law
@given(samples(), shares_among_unlabeled, purities)
def test_14_informedness_and_mixing_back(sample, share, purity):
    curve = raw(sample, uc.Shares(share, purity, "case-control"))
    tpr, fpr = curve.tpr[1:], curve.fpr[1:]
    labelled, unlabeled = sample.rate("L"), sample.rate("U")
    expected = (labelled - unlabeled) / (purity - share)
    assert curve.informedness[1:] == pytest.approx(expected, **EXACT)
    assert purity * tpr + (1 - purity) * fpr == pytest.approx(labelled, **EXACT)
    assert share * tpr + (1 - share) * fpr == pytest.approx(unlabeled, **EXACT)


@law
@given(complete, shares_among_unlabeled, purities)
def test_15_mixing_a_known_curve_follows_equation_4(sample, share, purity):
    curve = uc.labelled_curve(sample.counts)
    labelled = purity * curve.tpr + (1 - purity) * curve.fpr
    unlabeled = share * curve.tpr + (1 - share) * curve.fpr
    mixed = np.sum(np.diff(unlabeled) * (labelled[1:] + labelled[:-1])) / 2
    gap = purity - share
    assert (mixed - (1 - gap) / 2) / gap == pytest.approx(curve.roc_auc, **AREA)


@law
@given(samples(), shares_among_unlabeled, purities)
def test_16_reversed_scores(sample, share, purity):
    shares, back = uc.Shares(share, purity), Sample(sample.y, -sample.score, sample.weight)
    for read in (
        lambda s: raw(s, shares).roc_auc,
        lambda s: uc.naive_curve(s.counts).roc_auc,
        lambda s: lift_curve(s.counts).area,
    ):
        assert read(back) == pytest.approx(1 - read(sample), **AREA)


@law
@given(samples(), shares_among_unlabeled, purities)
def test_17_increasing_transform_of_the_scores(sample, share, purity):
    shares, moved = uc.Shares(share, purity), Sample(sample.y, sample.score**3 - 5, sample.weight)
    one, other = raw(sample, shares), raw(moved, shares)
    assert np.array_equal(one.tpr, other.tpr)
    assert np.array_equal(one.fpr, other.fpr)
    assert one.average_precision == other.average_precision
    assert lift_curve(sample.counts).area == lift_curve(moved.counts).area
