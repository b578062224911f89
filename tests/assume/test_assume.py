"""An assumption as an object says what the arguments say, and stands alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.matrix import rows
from tests.matrix.assumptions import assumptions
from tests.matrix.cells import moved_answers

import undercount as uc

TREE = DecisionTreeClassifier(max_depth=1, random_state=0)
ERROR = uc.Estimate(rows.HIDDEN, rows.HIDDEN - 0.06, rows.HIDDEN + 0.06, 0.03)
# What the arguments of each column of the matrix say, written as objects.
OBJECTS = {
    "prevalence given": uc.RandomLabels(rows.PREVALENCE),
    "range": uc.RandomLabels((0.34, 0.41)),
    "Estimate": uc.RandomLabels(unlabeled_prevalence=ERROR),
    "estimated": uc.RandomLabels(),
    "estimated by bootstrap": uc.RandomLabels(interval="bootstrap", n_resamples=20),
    "impure": uc.RandomLabels(rows.PREVALENCE, purity=rows.PURITY),
    "case-control": uc.RandomLabels(rows.HIDDEN, sampling="case-control"),
    "propensity known": uc.LabelPropensity(rows.CHANCE),
    "propensity by classifier": uc.LabelPropensity(TREE, covariates=rows.COVARIATE[:, None]),
    "late labels": uc.DelayedLabels(rows.OBSERVED, rows.FOUND, until=rows.LAST_DAY),
    "reviews, labels any": uc.Reviewed(rows.make_reviews(0.25, 1), labels="any"),
    "reviews, labels random": uc.Reviewed(rows.make_reviews(0.25, 1), labels="random"),
    "audited": uc.RandomAudit(),
    "two sources": uc.TwoSources(rows.FIRST, rows.SECOND, dependence=1.0),
}


def test_every_assumption_of_the_matrix_has_an_object():
    assert set(OBJECTS) == {name for name in assumptions() if not name.startswith("selection")}


def table(evaluation):
    return {
        row.label: [row.estimate.value, row.estimate.low, row.estimate.high]
        for row in evaluation.rows
    }


# What may be said without an object, by the name of the assumption.
SHORTHANDS = {
    "prevalence given": {"prevalence": rows.PREVALENCE},
    "range": {"prevalence": (0.34, 0.41)},
    "Estimate": {"unlabeled_prevalence": ERROR},
    "estimated": {},
    "two sources": {
        "unlabeled_prevalence": uc.prevalence.TwoSources().fit(rows.FIRST, rows.SECOND)
    },
    "reviews, labels any": {"reviews": rows.make_reviews(0.25, 1)},
}


@pytest.mark.parametrize("name", SHORTHANDS)
def test_a_shorthand_says_what_the_object_says(name):
    told = assumptions()[name]
    asked = {"threshold": rows.THRESHOLD, **SHORTHANDS[name]}
    as_object = uc.evaluate(told.labels, rows.SCORE, assume=OBJECTS[name], threshold=rows.THRESHOLD)
    shorthand = uc.evaluate(told.labels, rows.SCORE, **asked)
    assert moved_answers(table(as_object), table(shorthand)) == {}
    assert as_object.checks == shorthand.checks
    assert str(as_object) == str(shorthand)


def test_a_label_frequency_is_a_shorthand_too():
    asked = {"threshold": rows.THRESHOLD}
    frequency = uc.RandomLabels(label_frequency=0.5)
    as_object = uc.evaluate(rows.FAIR, rows.SCORE, assume=frequency, **asked)
    shorthand = uc.evaluate(rows.FAIR, rows.SCORE, label_frequency=0.5, **asked)
    assert str(as_object) == str(shorthand)


@pytest.mark.parametrize("name", ["range", "reviews, labels any"])
def test_models_are_compared_alike(name):
    told, models = assumptions()[name], {"one": rows.SCORE, "other": rows.OTHER}
    asked = {"threshold": rows.THRESHOLD, **SHORTHANDS[name]}
    shorthand = uc.compare(told.labels, models, **asked)
    assert shorthand.differences == told.compare(threshold=rows.THRESHOLD).differences


def test_segments_take_an_assumption():
    told = assumptions()["range"]
    about = {"threshold": rows.THRESHOLD, "by": rows.SEGMENT}
    as_object = uc.evaluate(told.labels, rows.SCORE, assume=OBJECTS["range"], **about)
    shorthand = uc.evaluate(told.labels, rows.SCORE, **SHORTHANDS["range"], **about)
    assert str(as_object) == str(shorthand)


def test_counts_of_segments_do_not_say_which_rows_were_reviewed():
    told = assumptions()["reviews, labels any"]
    halves = np.arange(len(rows.SCORE)) % 2
    counts = {
        half: uc.ScoreCounts.from_rows(told.labels[halves == half], rows.SCORE[halves == half])
        for half in (0, 1)
    }
    segments = uc.evaluate(counts, assume=OBJECTS["reviews, labels any"])
    for half in counts:
        assert "counts of segments do not say which rows they are" in segments.row(half).note


def test_a_segment_without_a_verdict_has_a_note_and_no_numbers():
    told, reviews = assumptions()["reviews, labels any"], OBJECTS["reviews, labels any"]
    seen = np.zeros(rows.N_ROWS, dtype=bool)
    seen[reviews.reviews.rows] = True
    lonely = np.where(~seen & (np.arange(rows.N_ROWS) % 2 == 0), "lonely", "others")
    found = uc.evaluate(told.labels, rows.SCORE, assume=reviews, by=lonely, threshold=0.5)
    assert "none of its rows has a verdict" in found.row("lonely").note
    assert found.row("lonely").rows == ()
    assert list(found) == ["others"]


@pytest.mark.parametrize(
    ("argument", "value"),
    [("prevalence", 0.3), ("label_frequency", 0.5), ("reviews", rows.make_reviews(0.25, 1))],
)
def test_what_an_assumption_says_is_not_said_twice(argument, value):
    with pytest.raises(uc.InputError, match=f"leave {argument} out") as refused:
        uc.evaluate(rows.FAIR, rows.SCORE, assume=uc.RandomLabels(0.3), **{argument: value})
    assert refused.value.argument == argument


@pytest.mark.parametrize(
    ("given", "words"), [(0.3, "got 0.3"), (uc.RandomLabels, r"write RandomLabels\(…\)")]
)
def test_an_assumption_is_one(given, words):
    with pytest.raises(uc.InputError, match=words):
        uc.evaluate(rows.FAIR, rows.SCORE, assume=given)


def test_row_aligned_data_may_be_columns():
    frame = pd.DataFrame(
        {"y": rows.BY_CHANCE, "s": rows.SCORE, "chance": rows.CHANCE, "where": rows.SEGMENT}
    )
    asked = {"label": "y", "threshold": rows.THRESHOLD}
    known = uc.evaluate(frame, "s", assume=uc.LabelPropensity("chance"), **asked)
    told = assumptions()["propensity known"].evaluate(threshold=rows.THRESHOLD)
    assert table(known) == table(told)
    by = uc.evaluate(frame, "s", assume=uc.LabelPropensity("chance"), by="where", **asked)
    assert by.overall.recovery.basis.determined_by == "labelling chances"
    frame["t"] = rows.OTHER
    pair = uc.compare(frame, ["s", "t"], assume=uc.LabelPropensity("chance"), **asked)
    assert table(pair["s"]) == table(told)


def test_a_classifier_of_chances_is_fitted_on_columns_given_with_it():
    told = assumptions()["propensity by classifier"]
    chances = uc.LabelPropensity(
        DecisionTreeClassifier(max_depth=1, random_state=0),
        covariates=rows.COVARIATE[:, np.newaxis],
    )
    found = uc.evaluate(told.labels, rows.SCORE, assume=chances, threshold=rows.THRESHOLD)
    assert table(found) == table(told.evaluate(threshold=rows.THRESHOLD))


def test_dates_and_sources_are_read_by_their_objects():
    late = uc.DelayedLabels(rows.OBSERVED, rows.FOUND, until=rows.LAST_DAY)
    labels = assumptions()["late labels"].labels
    found = uc.evaluate(labels, rows.SCORE, assume=late, threshold=rows.THRESHOLD)
    assert table(found) == table(assumptions()["late labels"].evaluate(threshold=rows.THRESHOLD))
    alone = uc.TwoSources(rows.FIRST, rows.SECOND, dependence=1.0)
    told = assumptions()["two sources"]
    found = uc.evaluate(told.labels, rows.SCORE, assume=alone, threshold=rows.THRESHOLD)
    assert table(found) == table(told.evaluate(threshold=rows.THRESHOLD))
    # Unasked, what is easy for one source may be easy for the other: more may be hidden.
    wide = uc.evaluate(told.labels, rows.SCORE, assume=uc.TwoSources(rows.FIRST, rows.SECOND))
    assert wide.shares.unlabeled_prevalence_interval.high > (
        found.shares.unlabeled_prevalence_interval.high
    )


@pytest.mark.parametrize("name", OBJECTS)
def test_one_metric_takes_an_assumption(name):
    told = assumptions()[name]
    expected = told.evaluate(threshold=rows.THRESHOLD)
    asked = {"assume": OBJECTS[name], "threshold": rows.THRESHOLD}
    precision = uc.metrics.precision(told.labels, rows.SCORE, **asked)
    ends = expected["precision"].low, expected["precision"].high
    assert (precision.low, precision.high) == pytest.approx(ends, abs=1e-9)
    area = uc.metrics.roc_auc(told.labels, rows.SCORE, assume=OBJECTS[name])
    ends = expected["roc_auc"].low, expected["roc_auc"].high
    # Verdicts are spread over cells, which depend on the thresholds that are kept apart.
    assert (area.low, area.high) == pytest.approx(ends, rel=1e-3)


def test_a_part_of_an_area_is_one_of_verdicts_too():
    told = assumptions()["reviews, labels any"]
    part = uc.metrics.partial_roc_auc(
        told.labels, rows.SCORE, max_fpr=0.3, assume=OBJECTS["reviews, labels any"]
    )
    assert part.low < part.value < part.high


def test_plans_and_scorers_and_displays_take_one():
    labels = assumptions()["prevalence given"].labels
    fair = uc.RandomLabels(rows.PREVALENCE)
    asked = {"budget": 40, "threshold": rows.THRESHOLD}
    plan = uc.plan_reviews(labels, rows.SCORE, assume=fair, **asked)
    same = uc.plan_reviews(labels, rows.SCORE, prevalence=rows.PREVALENCE, **asked)
    assert plan.rows.tolist() == same.rows.tolist()
    further = uc.plan_reviews(
        labels, rows.SCORE, assume=uc.Reviewed(plan.answered(rows.TRUTH[plan.rows])), budget=20
    )
    assert not set(further.rows) & set(plan.rows)
    chances = uc.LabelPropensity(rows.CHANCE)
    assert len(uc.plan_reviews(rows.BY_CHANCE, rows.SCORE, assume=chances, **asked).rows) == 40
    assert repr(uc.make_scorer("precision", threshold=0.5, assume=fair)) == repr(
        uc.make_scorer("precision", threshold=0.5, prevalence=rows.PREVALENCE)
    )
    with pytest.raises(uc.InputError, match="sees labels and scores of each fold alone") as refused:
        uc.make_scorer("roc_auc", assume=chances)
    assert refused.value.code == "missing-data"
    drawn = uc.displays.RocDisplay.from_predictions(rows.BY_CHANCE, rows.SCORE, assume=chances)
    told = assumptions()["propensity known"].evaluate()
    expected = uc.displays.RocDisplay.from_evaluation(told)
    assert np.allclose(drawn.frame()["tpr"], expected.frame()["tpr"], equal_nan=True)


def test_two_sources_found_the_rows_that_are_labelled():
    sources = uc.TwoSources(rows.FIRST, rows.SECOND)
    labels = assumptions()["two sources"].labels
    with pytest.raises(uc.InputError, match="must be those that either source found"):
        uc.evaluate(np.roll(labels, 7), rows.SCORE, assume=sources)


def test_a_plan_supposes_what_a_label_frequency_says():
    asked = {"budget": 40, "threshold": rows.THRESHOLD}
    labels = assumptions()["prevalence given"].labels
    few, many = (
        uc.plan_reviews(labels, rows.SCORE, assume=uc.RandomLabels(label_frequency=c), **asked)
        for c in (0.45, 0.9)
    )
    assert few.design.unlabeled_prevalence > many.design.unlabeled_prevalence


def test_covariates_may_be_several_columns():
    frame = pd.DataFrame(
        {"y": rows.LOOKED_BY_CHANCE, "s": rows.SCORE, "one": rows.COVARIATE, "two": rows.OTHER}
    )
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    named = uc.LabelPropensity(tree, covariates=["one", "two"])
    found = uc.evaluate(frame, "s", label="y", assume=named)
    both = np.column_stack([rows.COVARIATE, rows.OTHER])
    expected = uc.evaluate(
        rows.LOOKED_BY_CHANCE, rows.SCORE, assume=uc.LabelPropensity(tree, covariates=both)
    )
    assert table(found) == table(expected)


def test_reviews_are_there_and_a_weight_may_be_a_column_of_a_comparison():
    with pytest.raises(uc.InputError, match="reviews must be Reviews"):
        uc.Reviewed(None)
    frame = pd.DataFrame({"y": rows.BY_CHANCE, "s": rows.SCORE, "t": rows.OTHER, "w": rows.WEIGHT})
    chances = uc.LabelPropensity(rows.CHANCE)
    asked = {"label": "y", "threshold": rows.THRESHOLD, "assume": chances}
    pair = uc.compare(frame, ["s", "t"], sample_weight="w", **asked)
    alone = uc.evaluate(frame, "t", sample_weight="w", **asked)
    assert table(pair["t"]) == table(alone)
