"""The area under the cleaned curve carries what is not known of the shares."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import undercount as uc
from undercount.read.metrics.indirect import cleaned_area


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = rng.random(1500) < 0.3
    return np.where(truth & (rng.random(1500) < 0.5), 1, 0), rng.normal(1.5 * truth)


def indirect(rows, **options):
    return uc.metrics.roc_auc(*rows, unlabeled=0, method="indirect", **options)


def by_formula(rows, share, purity=1.0):
    """Jain et al. 2017, eq. 4, with scikit-learn's area of labelled against unlabeled rows."""
    return 0.5 + (roc_auc_score(*rows) - 0.5) / (purity - share)


def test_a_range_is_covered_from_end_to_end(rows):
    exact = indirect(rows, unlabeled_prevalence=0.17)
    found = indirect(rows, unlabeled_prevalence=(0.07, 0.27))
    assert found.value == exact.value
    labelled, unlabeled = rows[0].sum(), (rows[0] == 0).sum()

    def reach(share):
        """Half the width for these very rows: proportional to √(1 - c) / (1 - a)."""
        return np.sqrt(1 - labelled / (labelled + share * unlabeled)) / (1 - share)

    half = exact.interval.width / 2 / reach(0.17)
    low, high = by_formula(rows, 0.07), by_formula(rows, 0.27)
    assert found.low == pytest.approx(low - half * reach(0.07), abs=0.15 * half * reach(0.07))
    # The cleaned curve loses points, and with them area, where the share hardly fits.
    assert high < found.high < high + 1.15 * half * reach(0.27)


def test_a_standard_error_is_carried_by_the_slope(rows):
    exact = indirect(rows, unlabeled_prevalence=0.17)
    found = indirect(rows, unlabeled_prevalence=uc.Estimate(0.17, 0.07, 0.27, 0.05))
    slope = (roc_auc_score(*rows) - 0.5) / (1 - 0.17) ** 2
    expected = np.hypot(exact.standard_error, 0.05 * slope)
    assert found.standard_error == pytest.approx(expected, rel=0.05)
    assert found.interval.width == pytest.approx(2 * 1.96 * expected, rel=0.1)
    guaranteed = indirect(
        rows, unlabeled_prevalence=uc.Estimate(0.17, 0.07, 0.27, 0.05), share_error="guaranteed"
    )
    # Bonferroni at 97.5 %: the share between .17 ± 2.24 · .05.
    assert guaranteed.low < min(by_formula(rows, 0.17 - 0.112), found.low)
    assert guaranteed.high > max(by_formula(rows, 0.17 + 0.1), found.high)


def test_an_uncertain_purity_is_carried_too(rows):
    exact = indirect(rows, assume=uc.RandomLabels(unlabeled_prevalence=0.1, purity=0.9))
    ranged = indirect(rows, assume=uc.RandomLabels(unlabeled_prevalence=0.1, purity=(0.85, 0.95)))
    assert ranged.low < by_formula(rows, 0.1, 0.95) < by_formula(rows, 0.1, 0.85) < ranged.high
    guess = indirect(
        rows,
        assume=uc.RandomLabels(unlabeled_prevalence=0.1, purity=uc.Estimate(0.9, 0.86, 0.94, 0.02)),
    )
    slope = (roc_auc_score(*rows) - 0.5) / (0.9 - 0.1) ** 2
    expected = np.hypot(exact.standard_error, 0.02 * slope)
    assert guess.standard_error == pytest.approx(expected, rel=0.1)


def test_what_was_given_stays_when_the_purity_moves(rows):
    y, _ = rows
    labelled, unlabeled = (y == 1).sum(), (y == 0).sum()
    ranged = indirect(rows, assume=uc.RandomLabels(0.3, purity=(0.9, 1.0)))
    for purity in (0.9, 1.0):
        share = (0.3 * len(y) - purity * labelled) / unlabeled
        assert by_formula(rows, share, purity) in ranged.interval
    frequency = indirect(rows, assume=uc.RandomLabels(label_frequency=0.5, purity=(0.9, 1.0)))
    for purity in (0.9, 1.0):
        assert by_formula(rows, purity * labelled / unlabeled, purity) in frequency.interval


def test_a_share_error_is_one_of_two(rows):
    with pytest.raises(uc.InputError, match="share_error must be"):
        indirect(rows, unlabeled_prevalence=0.17, share_error="none")


def test_what_does_not_fit_is_the_nearer_end():
    above = uc.ScoreCounts.from_counts([2, 1], [500, 0], [0, 0], [0, 500])
    below = uc.ScoreCounts.from_counts([2, 1], [0, 500], [0, 0], [500, 0])
    assert cleaned_area(above, uc.Shares(0.3)) == 1.0
    assert cleaned_area(below, uc.Shares(0.3)) == 0.0


def test_in_case_control_the_population_is_meant(rows):
    options = {"assume": uc.RandomLabels(unlabeled_prevalence=0.17, sampling="case-control")}
    asked = uc.evaluate(*rows, unlabeled=0, threshold=1.0, **options)
    known = {row.metric: row.estimate for row in asked.rows}
    assert asked.target == "population"
    point = uc.metrics.precision(*rows, unlabeled=0, threshold=1.0, **options)
    area = uc.metrics.roc_auc(*rows, unlabeled=0, **options)
    for one, other in ((point, known["precision"]), (area, known["roc_auc"])):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)
    assert area == uc.metrics.roc_auc(*rows, unlabeled=0, target="population", **options)
    assert area != uc.metrics.roc_auc(*rows, unlabeled=0, target="dataset", **options)
    population = indirect(rows, target="population", **options)
    assert indirect(rows, **options) == population
