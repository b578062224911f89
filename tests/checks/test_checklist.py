"""One test a check: it is silent on good data and speaks up on the data it is for."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

import undercount as uc
from undercount.checks.checklist import checklist, warning_checks
from undercount.checks.flagged import flagged_check
from undercount.read.require.requirement import judge_requirement, parse_requirement


def rows(seed=0, n_rows=4000, separation=1.5, prevalence=0.3, frequency=0.5):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < prevalence
    y = np.where(truth & (rng.random(n_rows) < frequency), 1.0, np.nan)
    return y, rng.normal(separation * truth), truth


def level(code, y, score, shares=None, **options):
    counts = uc.ScoreCounts.from_rows(y, score, compact=True)
    found = checklist(counts, shares or uc.Shares(0.1), **options)
    return {check.code: check for check in found}[code].level


def test_good_data_pass_every_check():
    y, score, _ = rows()
    counts = uc.ScoreCounts.from_rows(y, score)
    found = checklist(counts, uc.Shares.from_prevalence(counts, 0.3))
    assert {check.level for check in found} == {"ok", "info"}
    assert all(check.message for check in found)
    assert len({check.code for check in found}) == len(found)


def test_uc001_prevalence_that_does_not_fit():
    y, score, _ = rows(separation=4)
    # 4 apart and 18 % hidden: half of the unlabeled cannot be positive.
    assert level("UC001", y, score, uc.Shares(0.17)) == "ok"
    assert level("UC001", y, score, uc.Shares(0.3)) == "fail"


def test_uc002_estimators_disagree():
    y, score, _ = rows()
    close = {"a": uc.Estimate(0.10, 0.1, 0.1), "b": uc.Estimate(0.12, 0.1, 0.1)}
    apart = {"a": uc.Estimate(0.10, 0.1, 0.1), "b": uc.Estimate(0.40, 0.4, 0.4)}
    assert level("UC002", y, score, estimates=close) == "ok"
    assert level("UC002", y, score, estimates=apart) == "warn"


def test_uc002_says_why_the_estimate_lies_outside_the_methods():
    y, score, _ = rows()
    counts = uc.ScoreCounts.from_rows(y, score)
    methods = {"a": uc.Estimate(0.063, 0.06, 0.07), "b": uc.Estimate(0.15, 0.1, 0.2)}
    found = {c.code: c for c in checklist(counts, uc.Shares(0.026), estimates=methods)}["UC002"]
    assert found.level == "warn"
    assert "the estimate, 2.6 %, lies below these" in found.message
    assert "from 6.3 % (a) to 15 % (b)" in found.message
    inside = {c.code: c for c in checklist(counts, uc.Shares(0.1), estimates=methods)}["UC002"]
    assert "the estimate" not in inside.message.split(". They")[0]


def test_uc003_few_labels():
    y, score, _ = rows(n_rows=200, prevalence=0.1)
    assert level("UC003", y, score) == "warn"


def test_uc004_heavy_ties_and_uc009_saturation():
    y, score, _ = rows()
    assert level("UC004", y, np.maximum(score, 0.5)) == "warn"
    assert level("UC009", y, np.minimum(score, 0.5)) == "warn"
    assert level("UC009", y, np.maximum(score, 0.5)) == "ok"


def test_uc005_constant_and_hard_scores():
    y, score, _ = rows()
    assert level("UC005", y, np.zeros(len(y))) == "fail"
    assert level("UC005", y, (score > 1).astype(float)) == "info"


def test_uc006_reversed_score_is_said_and_not_turned_round():
    y, score, _ = rows()
    assert level("UC006", y, -score) == "fail"
    counts = uc.ScoreCounts.from_rows(y, -score)
    assert uc.naive_curve(counts).roc_auc < 0.5


def test_uc007_naive_above_estimate():
    y, score, _ = rows()
    good = uc.evaluate(y, score, prevalence=0.3)
    # Impure labels lower the estimate below the naive value.
    noisy = uc.evaluate(y, -score, unlabeled_prevalence=0.1)
    assert {c.code: c.level for c in good.checks}["UC007"] == "ok"
    assert {c.code: c.level for c in noisy.checks}["UC007"] == "warn"


def test_uc010_the_label_in_the_score():
    y, score, _ = rows()
    assert level("UC010", y, np.where(np.isnan(y), score, 50 + score)) == "warn"


def test_uc010_names_rows_chosen_by_their_score_where_negatives_lie_above_the_unlabeled():
    score, noise = np.random.default_rng(0).standard_normal((2, 4000))
    truth = (1.2 * score + noise > 0.8).astype(float)
    chosen = np.where(score > 0.5, truth, np.nan)
    random = np.where(np.random.default_rng(1).random(4000) < 0.1, 0.0, np.nan)
    leaked, y = 50 * (truth == 1) + score, np.where(truth == 1, 1.0, random)
    for labels, scores, named in ((chosen, score, True), (y, leaked, False)):
        evaluation = uc.evaluate(labels, scores)
        check = next(check for check in evaluation.checks if check.code == "UC010")
        assert check.level == "warn"
        assert ("SelectedLabels" in str(check)) == named
        assert "trained on these rows" in str(check)
    with pytest.raises(uc.InputError, match=r"looked at because of their scores, .*SelectedLabels"):
        uc.evaluate(chosen, score, prevalence=0.3)


def forest_scores(frequency):
    """Labels, and a forest's scores of the rows it was trained on and of rows it was not."""
    rng = np.random.default_rng(8)
    columns = rng.normal(size=(1500, 6))
    truth = columns[:, 0] + columns[:, 1] + rng.normal(0, 0.7, 1500) > 1
    y = (truth & (rng.random(1500) < frequency)).astype(int)
    forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=0)
    fair = cross_val_predict(forest, columns, y, cv=3, method="predict_proba")[:, 1]
    return y, forest.fit(columns, y).predict_proba(columns)[:, 1], fair, truth


@pytest.mark.parametrize("frequency", [0.3, 0.6])
def test_uc016_scores_of_rows_the_model_was_trained_on(frequency):
    y, own, fair, truth = forest_scores(frequency)
    for score, level in ((own, "warn"), (fair, "ok")):
        evaluation = uc.evaluate(y, score, unlabeled=0)
        assert {c.code: c.level for c in evaluation.checks}["UC016"] == level
    # What the scores of known rows claim is false, and no light may be green.
    evaluation = uc.evaluate(y, own, unlabeled=0)
    assert roc_auc_score(truth, own) < evaluation["roc_auc"].low
    assert evaluation.verdict.light != "robust"
    assert (
        judge_requirement(
            parse_requirement("roc_auc >= 0.9"), evaluation["roc_auc"], evaluation.checks
        )[0]
        == "inconclusive"
    )


def test_uc016_asks_nothing_of_a_share_that_was_given():
    y, own, _, _ = forest_scores(0.6)
    found = uc.evaluate(y, own, unlabeled=0, unlabeled_prevalence=0.002)
    assert "UC016" not in {check.code for check in found.checks}


def test_scores_that_give_the_label_away_are_one_check_and_no_warning():
    y, _, _ = rows()
    rng = np.random.default_rng(3)
    leaked = np.where(np.isnan(y), rng.normal(0, 1, len(y)), rng.normal(5, 1, len(y)))
    evaluation = uc.evaluate(y, leaked, threshold=2.5)  # warnings are errors in these tests
    bad = [check for check in evaluation.checks if check.level in ("warn", "fail")]
    assert [check.code for check in bad if check.code != "UC002"] == ["UC010"]
    assert "trained on these rows" in next(c for c in bad if c.code == "UC010").message
    with pytest.raises(uc.InputError, match="score other rows"):
        uc.evaluate(y, leaked, prevalence=0.4)


@pytest.mark.parametrize(
    ("threshold", "words"), [(50.0, "nothing is flagged"), (-50.0, "all are flagged")]
)
def test_uc013_nothing_or_everything_flagged(threshold, words):
    y, score, _ = rows()
    evaluation = uc.evaluate(y, score, prevalence=0.3, threshold=threshold)
    bad = [check for check in evaluation.checks if check.level in ("warn", "fail")]
    assert [check.code for check in bad] == ["UC013"]
    assert words in bad[0].message
    assert " nan" not in str(evaluation).lower()
    fine = uc.evaluate(y, score, prevalence=0.3, threshold=1.0)
    assert {c.code: c.level for c in fine.checks}["UC013"] == "ok"


@pytest.mark.parametrize(
    ("doubt", "words"),
    [
        ("overlap", "separate the classes too little"),
        ("ties", "share one score"),
        ("overtaken", "unlabeled rows stand above"),
    ],
)
def test_uc011_prevalence_not_identified(doubt, words):
    y, score, _ = rows()
    counts = uc.ScoreCounts.from_rows(y, score)
    found = {c.code: c for c in checklist(counts, uc.Shares(0.1), doubt=doubt)}["UC011"]
    assert words in found.message
    assert "UC011" not in {check.code for check in checklist(counts, uc.Shares(0.1))}


def test_uc012_warnings_become_checks():
    y, score, _ = rows(n_rows=150, prevalence=0.2, separation=5)
    evaluation = uc.evaluate(y, score, prevalence=0.2)
    messages = [check.message for check in evaluation.checks if check.code == "UC012"]
    assert any("label" in message or "would be" in message for message in messages)


def test_a_warning_that_several_metrics_repeat_is_one_check():
    message = "the fpr would be -0.01; {metrics} reported for the nearest value"
    warned = [uc.MisfitWarning(message, metric=metric) for metric in ("f1", "mcc", "f1")]
    assert str(warned[1]) == "the fpr would be -0.01; mcc is reported for the nearest value"
    (check,) = warning_checks(warned)
    assert check.message == "the fpr would be -0.01; f1, mcc are reported for the nearest value"


@pytest.mark.parametrize("word", ["UC003", "warn", "What to do"])
def test_a_check_prints_in_one_line(word):
    assert word in str(uc.Check("UC003", "warn", "few", "label more"))


def rare(seed=0):
    """20,000 rows, 4 % of them positive, 260 labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(20_000) < 0.04
    y = np.full(20_000, np.nan)
    y[rng.choice(np.flatnonzero(truth), 260, replace=False)] = 1.0
    return y, rng.normal(2.2 * truth)


def test_a_misfit_is_either_chance_or_more_and_not_both():
    y, score = rare()
    found = {
        share: uc.evaluate(y, score, prevalence=share, threshold=2.5).checks
        for share in (0.06, 0.08)
    }
    told = {share: str(checks) for share, checks in found.items()}
    assert "within the chance" in told[0.06]
    assert "more than chance" not in told[0.06]
    assert "more than chance" in told[0.08]
    assert "within the chance" not in told[0.08]


def test_uc001_asks_for_another_share_if_it_was_estimated():
    y, score, _ = rows(separation=4)
    counts = uc.ScoreCounts.from_rows(y, score)
    given, made = (
        {c.code: c for c in checklist(counts, uc.Shares(0.3), estimated=estimated)}["UC001"]
        for estimated in (False, True)
    )
    assert given.level == made.level == "fail"
    assert "lower the prevalence" in given.advice
    assert "lower" not in made.advice
    assert "from elsewhere" in made.advice


def test_checks_name_metrics_and_percentages_as_people_do():
    y, score = rare()
    told = str(uc.evaluate(y, score, prevalence=0.07).checks)
    assert "average precision would be" in told
    methods = {"a": uc.Estimate(0.05, 0.0, 0.1), "b": uc.Estimate(0.999, 0.9, 1.0)}
    counts = uc.ScoreCounts.from_rows(y, score)
    found = {c.code: c for c in checklist(counts, uc.Shares(0.1), estimates=methods)}["UC002"]
    assert "from 5 % (a) to 100 % (b)" in found.message


def test_a_reversed_score_takes_the_area_below_0():
    y, score = rare()
    assert "the ROC AUC would fall below 0" in " ".join(str(uc.evaluate(y, -score)).split())


@pytest.mark.parametrize(("doubt", "expected"), [("many", "warn"), ("", "ok"), ("ties", "ok")])
def test_uc017_few_labels_and_thousands_hidden(doubt, expected):
    y = np.where(np.arange(40_000) < 34, 1.0, np.nan)
    score = np.random.default_rng(0).normal(np.where(y == 1, 1.0, 0.0))
    found = level("UC017", y, score, uc.Shares(0.2), estimated=True, doubt=doubt)
    assert found == expected


def test_uc013_says_no_score_that_compact_counts_do_not_know():
    y, score, _ = rows()
    score[np.argmax(score)] += 1
    for compact in (False, True):
        counts = uc.ScoreCounts.from_rows(y, np.where(y == 1, score, score + 3), compact=compact)
        advice = flagged_check(counts, 50.0).advice
        said = float(advice.partition("score is ")[2].split()[0])
        truth = np.where(y == 1, score, score + 3).max()
        assert ("or more" in advice) == compact
        assert said <= truth if compact else said == pytest.approx(truth, abs=1e-4)


@pytest.mark.parametrize(("kind", "threshold"), [(np.float32, 0.7), (np.float16, 0.1)])
def test_uc024_rows_at_the_threshold_in_single_precision(kind, threshold):
    y, score, _ = rows()
    rounded = np.round(score, 1).astype(kind)
    near = float(kind(threshold))
    at = int(np.count_nonzero(rounded == kind(threshold)))
    assert near < threshold
    assert at > 10  # so many rows NumPy flags, and an exact comparison does not
    frame = pd.DataFrame({"y": y, "s": rounded.astype(np.float32)})
    for evaluation in (
        uc.evaluate(y, rounded, prevalence=0.3, threshold=threshold),
        uc.evaluate(frame, "s", label="y", prevalence=0.3, threshold=threshold),
        uc.evaluate(
            pl.from_pandas(frame).lazy(), "s", label="y", prevalence=0.3, threshold=threshold
        ),
        uc.evaluate(uc.ScoreCounts.from_rows(y, rounded), prevalence=0.3, threshold=threshold),
    ):
        (found,) = [check for check in evaluation.checks if check.code == "UC024"]
        assert found.message.startswith(f"{at} rows at {near!r}, which is {threshold} in the prec")
        assert found.advice == f"pass threshold={near!r} to flag them too"
        assert "UC024 warn" in str(evaluation)
    advised = uc.evaluate(y, rounded, prevalence=0.3, threshold=near)
    double = uc.evaluate(y, np.round(score, 1), prevalence=0.3, threshold=threshold)
    assert "UC024" not in {check.code for check in (*advised.checks, *double.checks)}
    assert advised["recall"].value == double["recall"].value


def test_scores_in_single_precision_are_compared_as_exactly_by_every_route():
    y, score, _ = rows()
    single = np.round(score, 1).astype(np.float32)
    chance, days = np.linspace(0.3, 0.8, len(y)), np.arange(len(y)) % 300.0
    found = np.where(y == 1, days + 20, np.nan)
    models = {"assume": uc.LabelPropensity(chance), "threshold": 0.7}
    for call in (
        lambda s: uc.evaluate(y, s, **models),
        lambda s: uc.compare(y, {"a": s, "b": -s}, **models),
        lambda s: uc.monitor(s, observed=days, found=found, threshold=0.7, until=400),
    ):
        assert str(call(single)) == str(call(single.astype(np.float64)))


def coarse():
    """Return labels, scores of single precision of which many are 0.7, and what was meant."""
    y, score, _ = rows()
    meant = np.select([score < 0, score < 0.7, score < 1.4], [np.round(score, 2), 0.3, 0.7], score)
    return y, meant.astype(np.float32), meant


def codes(checks):
    return [check.code for check in checks if check.code == "UC024"]


def test_uc024_of_a_metric_with_a_threshold_of_its_own():
    y, single, meant = coarse()
    asked = {"prevalence": 0.3, "metrics": ["recall@0.7", "precision@0.7", "roc_auc"]}
    found = uc.evaluate(y, single, **asked)
    (check,) = [check for check in found.checks if check.code == "UC024"]
    at = int(np.count_nonzero(meant == 0.7))
    assert check.message.startswith(f"{at} rows at 0.699999988079071, which is 0.7 in the prec")
    assert check.advice == "write @0.699999988079071 to flag them too"
    assert not codes(uc.evaluate(y, meant, **asked).checks)
    frame = pl.DataFrame({"y": y, "s": single}).lazy()
    assert codes(uc.evaluate(frame, "s", label="y", **asked).checks)


def test_uc024_warns_where_a_number_is_asked_for_later():
    y, single, meant = coarse()
    for ask in (
        lambda e: e["recall@0.7"],
        lambda e: e.at(0.7),
        lambda e: e.cost(0.7, false_positive=1, false_negative=1),
    ):
        with pytest.warns(uc.MisfitWarning, match="which is 0.7 in the precision"):
            ask(uc.evaluate(y, single, prevalence=0.3))
        ask(uc.evaluate(y, meant, prevalence=0.3))
    with pytest.warns(uc.MisfitWarning, match="which is 0.7 in the precision"):
        uc.metrics.recall(y, single, threshold=0.7)
    uc.metrics.recall(y, meant, threshold=0.7)


@pytest.mark.filterwarnings("ignore:.*in the precision that")
@pytest.mark.parametrize("threshold", [None, 0.7])
def test_uc024_leaves_a_requirement_open_that_hangs_on_the_rows(threshold):
    y, single, meant = coarse()
    found, double = (
        uc.evaluate(y, score, prevalence=0.3, threshold=threshold) for score in (single, meant)
    )
    for wanted, truth in (("recall@0.7 >= 0.6", "met"), ("specificity@0.7 >= 0.9", "failed")):
        exact = found.estimate(wanted.partition("@")[0], 0.71)  # without the rows that were meant
        assert {"met", "failed"} - {truth} == {parse_requirement(wanted).verdict(exact)}
        assert double.require(wanted).outcome == truth
        (judgement,) = found.require(wanted).judgements
        assert judgement.outcome == "inconclusive"
        assert judgement.why.endswith("lie below 0.7 and are not flagged (UC024)")
        claiming = found.claiming(wanted)
        assert codes(claiming.checks) == ["UC024"]
        assert claiming.verdict.light == "unsupported"
    assert found.require("recall@0.7 >= 0.1").outcome == "met"  # either way
    assert found.require("recall@0.7 >= 0.99").outcome == "failed"
    assert found.require("roc_auc >= 0.6").outcome == "met"


def test_uc024_in_comparisons():
    y, single, meant = coarse()
    other = np.random.default_rng(1).normal(size=len(y))
    found, double = (
        uc.compare(y, {"a": score, "b": other}, prevalence=0.3, threshold=0.7)
        for score in (single, meant)
    )
    assert "a: UC024 warn" in str(found)
    assert "UC024" not in str(double)
    wanted = "a.recall > b.recall + 0.25"
    assert double.require(wanted).outcome == "met"
    (judgement,) = found.require(wanted).judgements
    assert (judgement.outcome, judgement.why[-7:]) == ("inconclusive", "(UC024)")
    assert found.require("a.roc_auc > b.roc_auc").outcome == "met"


def test_uc024_of_segments():
    y, single, meant = coarse()
    asked = {"by": np.arange(len(y)) % 2, "prevalence": {0: 0.3, 1: 0.3}}
    for more in ({"threshold": 0.7}, {"metrics": ["recall@0.7"]}):
        found, double = (uc.evaluate(y, score, **asked, **more) for score in (single, meant))
        assert "which is 0.7 in the precision" in " ".join(str(found).split())
        assert "in the precision" not in str(double)
        assert double.require("recall@0.7 >= 0.5").outcome == "met"
        assert found.require("recall@0.7 >= 0.5").outcome == "inconclusive"


@pytest.mark.parametrize("known", [None, 0.2])
def test_uc024_of_a_plan(known):
    y, single, meant = coarse()
    asked = {"budget": 20, "threshold": 0.7, "unlabeled_prevalence": known}
    found, double = (uc.plan_reviews(y, score, **asked) for score in (single, meant))
    assert codes(found.checks) == ["UC024"]
    assert "UC024 warn" in str(found)
    assert not double.checks
    frame = pl.DataFrame({"y": y, "s": single})
    assert codes(uc.plan_reviews(frame, "s", label="y", **asked).checks) == ["UC024"]
    both = {"meant": meant, "single": single}
    second = uc.plan_reviews(y, both, goal="f1_difference", **asked)
    assert codes(second.checks) == ["UC024"]


def test_uc024_of_monitoring():
    y, single, meant = coarse()
    days = np.arange(len(y)) % 300.0
    dates = {"observed": days, "found": np.where(y == 1, days + 20, np.nan)}
    found, double = (
        uc.monitor(score, **dates, threshold=0.7, until=400) for score in (single, meant)
    )
    assert codes(found.rounding) == ["UC024"]
    assert "which is 0.7 in the precision" in " ".join(str(found).split())
    assert '"UC024"' in found.to_json()
    assert found.rounded_metrics == double.metrics
    assert not double.rounding
    assert double.require("recall >= 0.6").outcome == "met"
    (judgement,) = found.require("recall >= 0.6").judgements
    assert (judgement.outcome, judgement.why[-7:]) == ("inconclusive", "(UC024)")
    assert found.require("recall >= 0.1").outcome == "met"
