"""Identities over all labellings of small data: unbiasedness and variances, exactly (23 and 24)."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

import undercount as uc
from undercount.infer.area_gradients import unbiased_average_precision
from undercount.infer.mixture import design_of
from undercount.theory.f_scores import labelled_moments
from undercount.theory.lift import expected_labelled_auc, lift_curve
from undercount.theory.lift_error import lift_variance

EXACT = {"rel": 1e-11, "abs": 1e-12}
law = settings(deadline=None, max_examples=15)


@dataclass
class Problem:
    """A small completely labelled data set, and how many of its positives will carry a label.

    The first `known` negatives carry a label as well, whichever positives do.
    """

    truth: np.ndarray
    score: np.ndarray
    labelled: int
    known: int

    @property
    def complete(self):
        return uc.ScoreCounts.from_rows(self.truth, self.score)

    @property
    def prevalence(self):
        return self.truth.mean()

    @property
    def label_frequency(self):
        return self.labelled / self.truth.sum()

    def labellings(self):
        """Labels of every choice, the rest unlabeled."""
        for chosen in itertools.combinations(np.flatnonzero(self.truth), self.labelled):
            y = np.full(len(self.truth), np.nan)
            y[list(chosen)] = 1.0
            y[np.flatnonzero(self.truth == 0)[: self.known]] = 0.0
            yield y

    def over_labellings(self, read):
        """Collect what `read(counts, shares)` says for each labelling, one row each."""
        rows = []
        for y in self.labellings():
            counts = uc.ScoreCounts.from_rows(y, self.score)
            shares = uc.Shares.from_positives(counts, self.truth.sum())
            rows.append(read(counts, shares))
        return np.array(rows)


@st.composite
def problems(draw, fewest_labels=1):
    n_positive = draw(st.integers(max(2, fewest_labels), 5))
    truth = draw(st.permutations([1] * n_positive + [0] * draw(st.integers(1, 5))))
    tied = st.lists(st.integers(0, 3), min_size=len(truth), max_size=len(truth))
    score = draw(tied | st.permutations(range(len(truth))))
    labelled = draw(st.integers(fewest_labels, n_positive))
    known = draw(st.integers(0, len(truth) - n_positive - 1))  # one negative stays hidden
    return Problem(np.array(truth), np.array(score, dtype=float), labelled, known)


@law
@given(problems())
def test_23_lift_area_mean_and_variance(problem):
    areas = problem.over_labellings(lambda counts, _: lift_curve(counts).area)
    assert areas.mean() == pytest.approx(uc.labelled_curve(problem.complete).lift_auc, **EXACT)
    found = lift_variance(problem.complete, labelled=problem.labelled)
    assert found == pytest.approx(areas.var(), **EXACT)


@law
@given(problems())
def test_23_naive_and_recovered_auc(problem):
    areas = problem.over_labellings(
        lambda counts, shares: (
            uc.naive_curve(counts).roc_auc,
            uc.mixture_curve(counts, shares, clean=False).roc_auc,
        )
    ).mean(axis=0)
    true_area = uc.labelled_curve(problem.complete).roc_auc
    expected = expected_labelled_auc(
        true_area, prevalence=problem.prevalence, label_frequency=problem.label_frequency
    )
    assert areas[0] == pytest.approx(expected, **EXACT)
    assert areas[1] == pytest.approx(true_area, **EXACT)


@law
@given(problems())
def test_23_threshold_metrics_are_unbiased(problem):
    names = ("recall", "precision", "f1", "specificity", "accuracy")

    def read(counts, shares):
        curve = uc.mixture_curve(counts, shares, clean=False)
        return [getattr(curve, name)[1:] for name in names]

    means = problem.over_labellings(read).mean(axis=0)
    complete = uc.labelled_curve(problem.complete)
    for name, mean in zip(names, means, strict=True):
        assert mean == pytest.approx(getattr(complete, name)[1:], **EXACT), name


@law
@given(problems(), st.integers(0, 3))
def test_23_moments_of_the_labelled_rows_flagged(problem, threshold):
    flagged = problem.score >= threshold
    if not flagged.any():
        return
    hits = [np.sum((y == 1) & flagged) for y in problem.labellings()]
    positives = int(problem.truth.sum())
    moments = labelled_moments(
        positives=positives,
        true_positives=int(problem.truth[flagged].sum()),
        predicted_positive=int(flagged.sum()),
        n_rows=len(flagged),
        labelled=problem.labelled,
    )
    assert moments.labelled_flagged.mean == pytest.approx(np.mean(hits), **EXACT)
    assert moments.labelled_flagged.variance == pytest.approx(np.var(hits), **EXACT)
    f1 = 2 * np.array(hits) / (problem.label_frequency * flagged.sum() + problem.labelled)
    assert moments.f_beta.mean == pytest.approx(f1.mean(), **EXACT)
    assert moments.f_beta.variance == pytest.approx(f1.var(), **EXACT)


@law
@given(problems())
def test_24_naive_average_precision_is_the_plug_in_times_label_frequency(problem):
    naive, plug_in = problem.over_labellings(
        lambda counts, shares: (
            uc.naive_curve(counts).average_precision,
            uc.mixture_curve(counts, shares, clean=False).average_precision,
        )
    ).T
    assert naive == pytest.approx(problem.label_frequency * plug_in, **EXACT)


@law
@given(problems(fewest_labels=2))
def test_24_average_precision_is_unbiased(problem):
    # Before the metric function pulls a value above 1 back to 1, which the mean would feel.
    def read(counts, shares):
        return unbiased_average_precision(
            counts, design_of(counts, shares, "single-sample", "dataset")
        )

    expected = average_precision_score(problem.truth, problem.score)
    assert problem.over_labellings(read).mean() == pytest.approx(expected, **EXACT)
