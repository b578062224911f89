"""Moments over the random labels: published exact values and enumeration of every labelling."""

import itertools
import json
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercount.errors import InputError
from undercount.theory.f_scores import labelled_moments

DATA = pathlib.Path(__file__).parents[1] / "data" / "f1"
EXACT = json.loads((DATA / "exact_moments.json").read_text())
FIGURE_3 = json.loads((DATA / "fig3_iris_exact_moments.json").read_text())["rows"]
SCORES = ("labelled_flagged", "recall", "precision", "f_beta", "lee_liu")
TRUTH = {"positives": 10, "true_positives": 5, "predicted_positive": 7, "n_rows": 40}


def truth_of(row):
    names = {
        "positives": "P",
        "true_positives": "P1",
        "predicted_positive": "M1",
        "n_rows": "M",
        "labelled": "S",
    }
    return {name: row[letter] for name, letter in names.items()}


@pytest.mark.parametrize("row", EXACT + FIGURE_3, ids=lambda r: f"P={r['P']},S={r['S']}")
def test_published_moments(row):
    moments = labelled_moments(**truth_of(row))
    found = {
        "var_S1": moments.labelled_flagged.variance,
        "var_rec": moments.recall.variance,
        "var_prec": moments.precision.variance,
        "var_F1": moments.f_beta.variance,
        "sd_F1": moments.f_beta.standard_deviation,
        "F1": moments.f_beta.mean,
        "E_LL": moments.lee_liu.mean,
        "LL_population": moments.lee_liu.target,
        "LL_bias": moments.lee_liu.bias,
    }
    for name, value in found.items():
        assert value == pytest.approx(row[name], rel=1e-11, abs=1e-14), name
    assert moments.probability_above_one == pytest.approx(row["prob_F1hat_gt_1"], rel=1e-9)


def estimates(labelled, flagged, truth, frequency, beta):
    """Tabatabaei's estimators from S, S1, M1, M and ρ."""
    flagged_rows, weight = truth["predicted_positive"], beta**2
    recall = flagged / labelled if labelled else np.nan
    return {
        "labelled_flagged": flagged,
        "recall": recall,
        "precision": flagged / (frequency * flagged_rows),
        "f_beta": (1 + weight) * flagged / (weight * labelled + frequency * flagged_rows),
        "lee_liu": recall**2 * truth["n_rows"] / flagged_rows,
    }


def enumerated(truth, design, beta, assumed):
    """Mean and variance of each estimator over every labelling of the positives, one by one."""
    positives = truth["positives"]
    hit = [row < truth["true_positives"] for row in range(positives)]
    rows, chances = [], []
    for labels in itertools.product([0, 1], repeat=positives):
        number = sum(labels)
        if "labelled" in design:
            chance, frequency = float(number == design["labelled"]), design["labelled"] / positives
        else:
            frequency = design["label_frequency"]
            chance = frequency**number * (1 - frequency) ** (positives - number)
        flagged = sum(h for h, label in zip(hit, labels, strict=True) if label)
        for value in assumed or [frequency]:
            rows.append(list(estimates(number, flagged, truth, value, beta).values()))
            chances.append(chance)
    rows, chances = np.array(rows), np.array(chances)
    found = {}
    for column, name in enumerate(SCORES):
        kept = ~np.isnan(rows[:, column]) & (chances > 0)
        mean = np.average(rows[kept, column], weights=chances[kept])
        spread = np.average((rows[kept, column] - mean) ** 2, weights=chances[kept])
        found[name] = mean, spread
    above = rows[:, SCORES.index("f_beta")] > 1 + 1e-12
    return found, float(chances[above].sum() / chances.sum())


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_moments_equal_enumeration(data):
    positives = data.draw(st.integers(1, 7))
    hits = data.draw(st.integers(0, positives))
    false = data.draw(st.integers(0 if hits else 1, 4))
    truth = {
        "positives": positives,
        "true_positives": hits,
        "predicted_positive": hits + false,
        "n_rows": positives + false + data.draw(st.integers(0, 5)),
    }
    design = data.draw(
        st.one_of(
            st.builds(lambda s: {"labelled": s}, st.integers(1, positives)),
            st.builds(lambda c: {"label_frequency": c}, st.floats(0.05, 1)),
        )
    )
    assumed = data.draw(st.none() | st.lists(st.floats(0.05, 1), min_size=1, max_size=3))
    beta = data.draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    expected, above = enumerated(truth, design, beta, assumed)
    moments = labelled_moments(**truth, **design, assumed_label_frequency=assumed, beta=beta)
    for name, (mean, variance) in expected.items():
        assert getattr(moments, name).mean == pytest.approx(mean, rel=1e-11, abs=1e-13), name
        assert getattr(moments, name).variance == pytest.approx(variance, rel=1e-9, abs=1e-12), name
    assert moments.probability_above_one == pytest.approx(above, rel=1e-9, abs=1e-12)


def test_targets_are_the_metrics_of_a_complete_labelling():
    moments = labelled_moments(**TRUTH, labelled=3, beta=2.0)
    assert moments.recall.target == pytest.approx(5 / 10)
    assert moments.precision.target == pytest.approx(5 / 7)
    assert moments.f_beta.target == pytest.approx(5 * 5 / (4 * 10 + 7))  # (1+β²)TP/(β²P+M1)
    assert moments.lee_liu.target == pytest.approx(0.5**2 / (7 / 40))


def test_lee_liu_is_biased_up_by_the_variance_of_the_hits():
    moments = labelled_moments(**TRUTH, labelled=3)
    expected = moments.labelled_flagged.variance * 40 / (3**2 * 7)
    assert moments.lee_liu.bias == pytest.approx(expected, rel=1e-12)


def test_known_number_of_positives_varies_less_than_known_frequency():
    fixed = labelled_moments(**TRUTH, labelled=3)
    random = labelled_moments(**TRUTH, label_frequency=0.3)
    assert fixed.precision.mean == pytest.approx(random.precision.mean)
    assert random.precision.variance == pytest.approx(5 * 0.7 / (0.3 * 49))  # P1 (1-c)/(c M1²)
    assert fixed.precision.variance < random.precision.variance


def test_noise_around_the_right_frequency_overestimates_and_too_large_underestimates():
    noisy = labelled_moments(**TRUTH, labelled=3, assumed_label_frequency=[0.2, 0.4])
    assert noisy.precision.bias > 0
    assert noisy.f_beta.bias > 0
    # Section 4.3: E(prec) = ρ P1 E(1/ρ̄)/M1.
    assert noisy.precision.mean == pytest.approx(0.3 * 5 * (5 + 2.5) / 2 / 7)
    doubled = labelled_moments(**TRUTH, labelled=3, assumed_label_frequency=0.6)
    assert doubled.precision.mean == pytest.approx(0.5 * 5 / 7)
    assert doubled.f_beta.bias < 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positives": 0}, "positives must be a whole number of at least 1; got 0"),
        ({"positives": 2.5}, "positives must be a whole number"),
        ({"true_positives": -1}, "true_positives must be a whole number of at least 0"),
        ({"true_positives": True}, "true_positives must be a whole number"),
        ({"predicted_positive": 0}, "predicted_positive must be a whole number of at least 1"),
        ({"true_positives": 8}, "give -1 false positives"),
        ({"positives": 4}, "give -1 false negatives"),
        ({"n_rows": 11}, "give -1 true negatives"),
        ({"labelled": 11}, "labelled must be at most the 10 positives; got 11"),
        ({"labelled": 0}, "labelled must be a whole number of at least 1"),
        ({"labelled": None}, "exactly one of labelled"),
        ({"label_frequency": 0.3}, "exactly one of labelled"),
        ({"labelled": None, "label_frequency": 0.0}, "label_frequency must be above 0"),
        ({"labelled": None, "label_frequency": [0.1, 0.2]}, "label_frequency must be one number"),
        ({"assumed_label_frequency": [0.2, 1.2]}, "assumed_label_frequency must be above 0"),
        ({"assumed_label_frequency": "much"}, "assumed_label_frequency must be above 0"),
        ({"assumed_label_frequency": []}, "assumed_label_frequency must be above 0"),
        ({"beta": -1.0}, "beta must be a finite number"),
        ({"beta": "one"}, "beta must be a finite number"),
    ],
)
def test_bad_input(changes, message):
    with pytest.raises(InputError, match=message):
        labelled_moments(**{**TRUTH, "labelled": 3, **changes})
