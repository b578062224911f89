"""Checks of a selection model: quiet where all is well, said where it is not."""

import numpy as np
from tests.assume.selection.fitting import Selected, interval_of

from undercount.infer.metric_at import MetricAt
from undercount.theory.simulation import (
    simulate_own_score,
    simulate_unobserved,
)

METHODS = ["own-score", "observed-score", "begg-greenes", "ipw", "doubly-robust"]


def levels(model):
    return {check.code: check.level for check in model.checks()}


def test_checks_are_quiet_on_the_papers_design(fitted):
    found = levels(fitted("own-score", 2000, "normal"))
    assert found["extrapolation"] == "warn"  # half of the rows were never looked at
    del found["extrapolation"]
    assert set(found.values()) == {"ok"}
    assert set(found) == {"selection-rule", "normality", "outcome-shape"}


def test_normality_fails_only_where_it_matters():
    data = simulate_own_score(2000, 0.6, random_state=0)
    skewed = np.exp(data.score)
    assert levels(Selected(distribution="normal").fit(skewed, data.y))["normality"] == "fail"
    assert levels(Selected().fit(skewed, data.y))["normality"] == "ok"


def test_reset_sees_a_bent_class():
    generator = np.random.default_rng(0)
    score = generator.standard_normal(3000)
    truth = (score + 0.8 * score**2 - 1 + generator.standard_normal(3000) > 0).astype(float)
    model = Selected("own-score").fit(score, np.where(score > -0.8, truth, np.nan))
    assert levels(model)["outcome-shape"] == "fail"


def test_ranks_are_not_advised_to_a_model_of_ranks():
    generator = np.random.default_rng(0)
    score = generator.standard_normal(3000)
    truth = (score + 0.8 * score**2 - 1 + generator.standard_normal(3000) > 0).astype(float)
    hints = {}
    for distribution in ("empirical", "copula"):
        model = Selected("own-score", distribution=distribution).fit(
            score, np.where(score > -0.8, truth, np.nan)
        )
        found = {check.code: check for check in model.checks()}
        assert found["outcome-shape"].level == "fail"
        hints[distribution] = found["outcome-shape"].advice
    assert "copula" in hints["empirical"]
    assert "copula" not in hints["copula"]
    assert "Transform" not in hints["copula"]


def test_a_slight_bend_is_grave_where_half_of_the_rows_rest_on_the_line():
    generator = np.random.default_rng(0)
    score = generator.standard_normal(4000)
    truth = (score + 0.25 * score**2 + generator.standard_normal(4000) > 0.3).astype(float)
    beyond = Selected("own-score").fit(score, np.where(score > 0, truth, np.nan))
    assert levels(beyond)["extrapolation"] == "warn"
    assert levels(beyond)["outcome-shape"] in ("fail", "ok")  # never a mere warning
    within = np.where(generator.random(4000) < 0.4, truth, np.nan)
    found = {c.code: c for c in Selected("own-score").fit(score, within).checks()}
    assert "rest on it alone" not in found["outcome-shape"].message


def test_weak_identification_is_said(fitted):
    model = fitted("unobserved", 1000)
    found = {check.code: check for check in model.checks()}["weak-identification"]
    assert found.level in ("warn", "fail")
    assert "known loosely" in found.message
    assert "Give features that" in found.advice


def test_few_labels_direction_and_rule_are_said():
    generator = np.random.default_rng(1)
    score = generator.standard_normal(300)
    truth = (-1.5 * score + generator.standard_normal(300) > 0).astype(float)
    y = np.where(generator.random(300) < 0.12, truth, np.nan)
    model = Selected("own-score").fit(score, y)
    found = levels(model)
    assert model.curve.roc_auc < 0.5  # said, never flipped
    assert found["direction"] == found["few-labels"] == found["selection-rule"] == "warn"
    assert found["extrapolation"] == "ok"


def test_positivity_warns_when_a_few_labels_carry_the_weight():
    found = []
    for weight in (0.3, 1.3):
        data = simulate_unobserved(
            3000, 0.6, hidden_correlation=0.0, score_weight=weight, random_state=0
        )
        found.append(levels(Selected("ipw").fit(data.score, data.y))["positivity"])
    assert found == ["ok", "warn"]


def test_never_looked_at_fails_when_nearly_all_is_extrapolated():
    data = simulate_own_score(3000, 0.6, looked_share=0.1, random_state=0)
    found = levels(Selected("own-score").fit(data.score, data.y))
    assert found["extrapolation"] == "fail"


def test_every_check_prints_one_line_of_words(fitted):
    for method in [*METHODS, "unobserved"]:
        for check in fitted(method, 300).checks():
            assert str(check).startswith(f"{check.code} {check.level}: ")
            assert ".." not in str(check)
            assert check.level == "ok" or check.advice


def hidden_choice(n, moved, looked_share=0.6):
    """Rows whose chooser knew more than the score; `moved` says how much a column moved them."""
    generator = np.random.default_rng(0)
    score, column, unseen, noise, other = generator.standard_normal((5, n))
    truth = 0.8 * score + 0.6 * unseen + 0.5 * noise > 0.4
    push = moved * column + 0.7 * unseen + 0.5 * other
    looked = push > np.quantile(push, 1 - looked_share)
    return score, truth, np.where(looked, truth, np.nan), column


def test_a_hidden_choice_that_nothing_moved_rests_on_its_shape():
    score, _, y, column = hidden_choice(2000, 0.0)
    for model in (
        Selected("unobserved").fit(score, y),
        Selected("unobserved").fit(score, y, X=column),  # it moved nothing
    ):
        found = {check.code: check for check in model.checks()}["normal-shape"]
        assert found.level == "warn"
        assert "jointly normal" in found.message
        assert "normal-shape" in model.extrapolates(MetricAt("roc_auc"))
        assert "normal-shape" in model.extrapolates(MetricAt("precision", 1.0))
        assert "jointly normal unseen parts" in interval_of(model, "roc_auc").needs


def test_a_column_that_moved_the_choice_tells_more_than_a_shape():
    score, truth, y, column = hidden_choice(4000, 1.0)
    model = Selected("unobserved").fit(score, y, X=column)
    assert levels(model)["normal-shape"] == "ok"
    assert levels(model)["extrapolation"] == "warn"  # 40 % were never looked at
    assert not model.extrapolates(MetricAt("roc_auc"))
    found = interval_of(model, "prevalence")
    assert truth.mean() in found.interval
    assert found.needs == ("jointly normal unseen parts", "columns that moved the choice alone")


def test_rows_of_a_hidden_choice_rest_on_the_model_wherever_they_score():
    """Rows of every score were looked at, but those that were are no sample of the others."""
    for moved, level in ((0.0, "fail"), (1.0, "warn")):
        score, _, y, column = hidden_choice(3000, moved, looked_share=0.2)
        model = Selected("unobserved").fit(score, y, X=column)
        found = {check.code: check for check in model.checks()}["extrapolation"]
        assert found.level == level
        assert "80% of the rows were never looked at" in found.message
        assert "80% of the rows were never looked at" in model.extrapolates(MetricAt("recall", 0.5))
        assert "flagged rows were never looked at" in model.extrapolates(MetricAt("precision", 0.5))
        assert Selected("ipw").fit(score, y).extrapolates(MetricAt("recall", 0.5)) == ""
