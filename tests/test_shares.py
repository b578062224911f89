import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercount as uc
from undercount.errors import collect_warnings
from undercount.shares import read_shares


def counted(n_positive, n_negative, n_unlabeled):
    return uc.ScoreCounts.from_counts(
        [3, 2, 1], [n_positive, 0, 0], [0, 0, n_negative], [0, n_unlabeled, 0]
    )


def test_worked_example():
    # 1,000 rows, prevalence .3 and label frequency .5: 150 labelled, 150 hidden among 850.
    counts = counted(150, 0, 850)
    shares = uc.Shares.from_prevalence(counts, 0.3)
    assert math.isclose(shares.unlabeled_prevalence, 150 / 850)
    assert math.isclose(shares.label_frequency(counts), 0.5)
    assert math.isclose(shares.positives(counts), 300)


def test_known_negatives_and_impure_labels():
    # 100 labelled of which 80 are positive, 200 known negatives, 700 unlabeled with 70 positives.
    counts = counted(100, 200, 700)
    shares = uc.Shares(0.1, label_purity=0.8)
    assert math.isclose(shares.positives(counts), 150)
    assert math.isclose(shares.prevalence(counts), 0.15)
    assert math.isclose(shares.label_frequency(counts), 80 / 150)
    for other in (
        uc.Shares.from_prevalence(counts, 0.15, 0.8),
        uc.Shares.from_positives(counts, 150, 0.8),
        uc.Shares.from_label_frequency(counts, 80 / 150, 0.8),
    ):
        assert math.isclose(other.unlabeled_prevalence, 0.1)


def test_case_control_prevalence_is_that_of_the_unlabeled():
    counts = counted(100, 0, 900)
    shares = uc.Shares.from_prevalence(counts, 0.2, sampling="case-control")
    assert shares.unlabeled_prevalence == shares.prevalence(counts) == 0.2


@settings(deadline=None, max_examples=50)
@given(
    st.integers(1, 500),
    st.integers(0, 500),
    st.integers(1, 5000),
    st.floats(0.001, 0.9),
    st.floats(0.91, 1),
)
def test_each_share_from_another(n_positive, n_negative, n_unlabeled, share, purity):
    counts = counted(n_positive, n_negative, n_unlabeled)
    shares = uc.Shares(share, purity)
    for again in (
        uc.Shares.from_prevalence(counts, shares.prevalence(counts), purity),
        uc.Shares.from_positives(counts, shares.positives(counts), purity),
        uc.Shares.from_label_frequency(counts, shares.label_frequency(counts), purity),
    ):
        assert math.isclose(again.unlabeled_prevalence, share, rel_tol=1e-6)


def test_ranges_and_estimates_are_carried():
    counts = counted(150, 0, 850)
    ranged = uc.Shares.from_prevalence(counts, (0.2, 0.3))
    assert math.isclose(ranged.unlabeled_prevalence_interval.low, 50 / 850)
    assert math.isclose(ranged.unlabeled_prevalence_interval.high, 150 / 850)
    estimate = uc.Estimate(0.3, 0.28, 0.32, 0.01)
    shares = uc.Shares.from_prevalence(counts, estimate)
    assert math.isclose(shares.unlabeled_prevalence_error, 0.01 * 1000 / 850, rel_tol=1e-6)
    # A label frequency falls as the prevalence rises: the ends swap.
    swapped = uc.Shares.from_label_frequency(counts, (0.5, 0.75))
    assert math.isclose(swapped.unlabeled_prevalence_interval.high, 150 / 850)
    assert math.isclose(swapped.unlabeled_prevalence_interval.low, 50 / 850)


def test_an_estimate_may_lack_an_error_or_an_interval():
    counts = counted(150, 0, 850)
    nan = float("nan")
    shares = uc.Shares.from_prevalence(counts, uc.Estimate(0.3, 0.2, 0.4))
    assert math.isclose(shares.unlabeled_prevalence, 150 / 850)
    assert math.isclose(shares.unlabeled_prevalence_interval.high, 250 / 850)
    assert shares.unlabeled_prevalence_error == 0
    shares = uc.Shares.from_label_frequency(counts, uc.Estimate(0.5, 0.4, 0.6))
    assert math.isclose(shares.unlabeled_prevalence_interval.low, 100 / 850)
    for make in (uc.Shares.from_prevalence, lambda _, share: uc.Shares(share)):
        shares = make(counts, uc.Estimate(0.3, nan, nan, 0.01))
        assert shares.unlabeled_prevalence_interval is None
        assert 0.0099 < shares.unlabeled_prevalence_error < 0.012
        shares = make(counts, uc.Estimate(0.3, nan, nan))
        assert (shares.unlabeled_prevalence_interval, shares.unlabeled_prevalence_error) == (
            None,
            0,
        )
    with pytest.raises(uc.InputError, match="got nan"):
        uc.Shares.from_prevalence(counts, uc.Estimate(nan, 0.2, 0.4))


def test_without_positives_no_share_of_them_is_labelled():
    with pytest.warns(uc.UndefinedMetricWarning, match="label_frequency"):
        assert math.isnan(uc.Shares(0.0).label_frequency(counted(0, 100, 900)))


BAD = {
    "above one": (lambda _: uc.Shares(1.2), r"\[0, 1\]; got 1.2"),
    "negative": (lambda _: uc.Shares(-0.1), r"\[0, 1\]; got -0.1"),
    "not a number": (lambda _: uc.Shares(float("nan")), r"\[0, 1\]; got nan"),
    "text": (lambda _: uc.Shares("high"), "number, a range"),
    "reversed range": (lambda _: uc.Shares((0.4, 0.2)), "swap the ends"),
    "three ends": (lambda _: uc.Shares((0.1, 0.2, 0.3)), "range for"),
    "purity below": (lambda _: uc.Shares(0.5, 0.4), r"must be in \[0, 0.4\)"),
    "purity zero": (lambda _: uc.Shares(0.0, 0.0), "purity must be"),
    "sampling": (lambda _: uc.Shares(0.1, sampling="random"), "single-sample"),
    "below known": (lambda c: uc.Shares.from_prevalence(c, 0.05), r"\[0.1, 1\).*got 0.05"),
    "all": (lambda c: uc.Shares.from_prevalence(c, 1.0), r"\[0.1, 1\)"),
    "positives": (lambda c: uc.Shares.from_positives(c, 99), r"\[100, 1000\).*got 99"),
    "frequency": (lambda c: uc.Shares.from_label_frequency(c, 0.05), r"\(0.1, 1\]"),
    "frequency case-control": (
        lambda c: uc.Shares.from_label_frequency(c, 0.5, sampling="case-control"),
        "undefined in case-control",
    ),
    "positives case-control": (
        lambda c: uc.Shares.from_positives(c, 500, sampling="case-control"),
        "case-control",
    ),
    "frequency of case-control": (
        lambda c: uc.Shares(0.1, sampling="case-control").label_frequency(c),
        "undefined",
    ),
    "positives of case-control": (
        lambda c: uc.Shares(0.1, sampling="case-control").positives(c),
        "undefined",
    ),
}


@pytest.mark.parametrize(
    "form", ["prevalence", "unlabeled_prevalence", "label_frequency", "label_purity"]
)
def test_a_range_is_never_turned_round(form):
    given = {form: (0.5, 0.2)} | ({"prevalence": 0.15} if form == "label_purity" else {})
    with pytest.raises(uc.InputError, match=r"lower end; got \(0.5, 0.2\); swap"):
        read_shares(counted(100, 0, 900), **given)


@pytest.mark.parametrize("case", BAD)
def test_infeasible_shares_name_the_feasible_range(case):
    make, message = BAD[case]
    with pytest.raises(uc.InputError, match=message):
        make(counted(100, 0, 900))


@settings(deadline=None, max_examples=50)
@given(
    st.integers(1, 500),
    st.integers(0, 500),
    st.integers(1, 5000),
    st.floats(0.05, 0.4),
    st.floats(0.6, 1),
    st.floats(0.5, 1),
)
def test_the_share_that_was_given_stays_when_the_purity_moves(
    n_positive, n_negative, n_unlabeled, share, purity, other
):
    counts = counted(n_positive, n_negative, n_unlabeled)
    known = uc.Shares(share, purity)
    given = {
        "prevalence": uc.Shares.from_prevalence(counts, known.prevalence(counts), purity),
        "positives": uc.Shares.from_positives(counts, known.positives(counts), purity),
        "label_frequency": uc.Shares.from_label_frequency(
            counts, known.label_frequency(counts), purity
        ),
    }
    for name, shares in given.items():
        try:
            moved = shares.with_purity(counts, other)
        except uc.InputError:
            assert not 0 <= shares.unlabeled_prevalence_at(counts, other) < other
            continue
        assert moved.label_purity == other
        assert moved.given == name
        assert getattr(moved, name)(counts) == pytest.approx(getattr(shares, name)(counts))
    assert known.with_purity(counts, other).unlabeled_prevalence == share


def test_other_shares_keep_the_rest():
    purity = uc.Estimate(0.9, 0.8, 0.95, 0.03)
    shares = uc.Shares(uc.Estimate(0.3, 0.2, 0.5, 0.06), purity, "case-control")
    moved = shares.with_unlabeled_prevalence(0.4)
    assert (moved.unlabeled_prevalence, moved.unlabeled_prevalence_error) == (0.4, 0)
    assert moved.unlabeled_prevalence_interval is None
    assert moved.label_purity_interval == uc.Interval(0.8, 0.95)
    wider = shares.with_interval(0.1, 0.6)
    assert wider.unlabeled_prevalence_interval == uc.Interval(0.1, 0.6)
    assert (wider.unlabeled_prevalence, wider.unlabeled_prevalence_error) == (0.3, 0.06)
    assert shares.exact() == uc.Shares(0.3, 0.9, "case-control")
    assert shares.exact(0.1, 0.7) == uc.Shares(0.1, 0.7, "case-control")
    ranges = shares.as_ranges(2.0)
    assert ranges.unlabeled_prevalence_interval == uc.Interval(0.18, 0.42)
    assert ranges.label_purity_interval.low == pytest.approx(0.84)
    assert (ranges.unlabeled_prevalence_error, ranges.label_purity_error) == (0, 0)
    with pytest.raises(uc.InputError, match="purer than unlabeled ones"):
        shares.with_unlabeled_prevalence(0.9)


def test_shares_end_just_below_the_purity():
    shares = uc.Shares(0.3, 0.8)
    assert shares.clip([-0.1, 0.5, 0.9]).tolist() == pytest.approx([0.0, 0.5, 0.8], abs=2e-6)
    assert shares.clip(0.9) < 0.8
    assert shares.below(0.5) == pytest.approx(0.5, abs=2e-6)
    assert shares.below(0.5) < 0.5
    assert shares.below(0.0) == 0.0


def labelled_above(n_labelled, n_rows=2000):
    """Count rows of which more may be labelled than a rare prevalence would give."""
    return uc.ScoreCounts.from_counts([1.0, 0.0], [n_labelled, 0], [0, 0], [5, n_rows - 5])


def test_a_sample_of_a_population_may_hold_more_labels_than_its_prevalence():
    counts = labelled_above(55)
    with collect_warnings() as warned:
        shares = read_shares(counts, prevalence=0.025, target="population")
    assert shares.unlabeled_prevalence == 0
    assert shares.prevalence(counts) == 0.025
    assert [warning.argument for warning in warned] == ["prevalence"]
    # Binomial (2000, .025): 50 expected, standard deviation 7.
    with pytest.raises(uc.InputError, match=r"prevalence must be in \[0.026764.*got 0.025"):
        read_shares(counts, prevalence=0.025)
    with pytest.raises(uc.InputError, match=r"got 0.025"):
        read_shares(labelled_above(95), prevalence=0.025, target="population")


def test_a_population_keeps_the_error_of_a_prevalence_below_its_labels():
    counts = labelled_above(55)
    with collect_warnings():
        told = uc.Estimate(0.025, 0.021, 0.029, 0.002)
        shares = read_shares(counts, prevalence=told, target="population")
    assert shares.unlabeled_prevalence_error == pytest.approx(0.002 * 2055 / 2000)
    assert shares.unlabeled_prevalence_interval.low == 0
    assert shares.unlabeled_prevalence_interval.high > 0


def test_impure_labels_end_a_prevalence_in_its_own_words():
    with pytest.raises(uc.InputError, match=r"prevalence must be in \[0.06, 0.6\)") as caught:
        read_shares(counted(100, 0, 900), prevalence=0.7, label_purity=0.6)
    assert caught.value.argument == "prevalence"


@pytest.mark.parametrize(
    ("given", "value", "moved"),
    [("prevalence", 0.28, 0.19), ("label_frequency", 0.3571428571428571, 0.5263157894736842)],
)
def test_the_argument_given_is_told_at_any_share(given, value, moved):
    counts = counted(100, 0, 900)
    shares = read_shares(counts, **{given: value})
    assert shares.unlabeled_prevalence == pytest.approx(0.2)
    assert shares.stated(counts) == (given, pytest.approx(value))
    assert shares.stated(counts, 0.1) == (given, pytest.approx(moved))
