"""Evaluations and comparisons with reviewed rows, and a plain audit."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

import undercount as uc
from undercount.errors import CODES
from undercount.infer.mass_gradients import mass_gradient
from undercount.infer.reviews.verdicts import keep_apart
from undercount.show.text import value_words

CUT = 1.5
WHOLE = ("roc_auc", "lift_auc", "average_precision", "prevalence")


def draw(slope=0.0, seed=2, size=6000):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.1
    score = rng.normal(2.2 * truth)
    chance = 1 / (1 + np.exp(0.85 - slope * (score - 2.2)))
    return truth, score, np.where(truth & (rng.random(size) < chance), 1, 0), rng


def reviewed(slope=0.0, budget=300, seed=2, labels=None, sequential=False, **options):
    truth, score, y, _ = draw(slope, seed)
    plan = uc.plan_reviews(
        y, score, unlabeled=0, budget=budget, threshold=CUT, unlabeled_prevalence=0.07
    )
    assume = uc.Reviewed(plan.answered(truth[plan.rows]), labels=labels, sequential=sequential)
    return truth, score, uc.evaluate(y, score, unlabeled=0, threshold=CUT, assume=assume, **options)


def value(evaluation, metric):
    return next(row.estimate for row in evaluation.rows if row.metric == metric)


def check(evaluation):
    return next(c for c in evaluation.checks if c.code == CODES["labels-and-reviews"])


def test_random_labels_are_never_wider_than_reviews_alone():
    """Nearly all high scores are positive: no cell may hold more positives than rows."""
    rng = np.random.default_rng(5)
    for seed in range(6):
        truth = rng.random(4000) < 0.5
        score = rng.normal(3.5 * truth)
        y = np.where(truth & (rng.random(4000) < 0.3), 1, 0)
        plan = uc.plan_reviews(
            y, score, unlabeled=0, budget=40, threshold=CUT, unlabeled_prevalence=0.4,
            random_state=seed,
        )  # fmt: skip
        reviews = plan.answered(truth[plan.rows])
        found = uc.evaluate(y, score, unlabeled=0, threshold=CUT, reviews=reviews).recovery.reviewed
        for metric in ("precision", "recall", "f1", "roc_auc", "average_precision"):
            at = CUT if metric in ("precision", "recall", "f1") else None
            alone, both = (found.estimate(metric, at, labels=kind) for kind in ("any", "random"))
            assert both.high - both.low <= (alone.high - alone.low) * (1 + 1e-12), metric
            assert both.low <= both.value <= both.high
        strata = found.metrics("random").strata
        assert (strata.positive <= strata.cells.everyone + 1e-9).all()


def test_reviews_alone_lead_unless_the_user_vouches_for_the_labels():
    truth, score, found = reviewed()
    assert not found.recovery.reviewed.rejected
    assert found.recovery.reviewed.labels == "any"
    assert check(found).level == "ok"
    assert "random labels" not in value(found, "recall").needs
    assert 'If you know that they are one: Reviewed(…, labels="random")' in " ".join(
        str(found).split()
    )
    _, _, vouched = reviewed(labels="random")
    assert "random labels" in value(vouched, "recall").needs
    assert f1_score(truth, score >= CUT) in value(vouched, "f1").interval
    alone = found.recovery.reviewed.estimate("recall", CUT, labels="any")
    together = found.recovery.reviewed.estimate("recall", CUT, labels="random")
    assert together.standard_error < 0.7 * alone.standard_error


def test_labels_that_prefer_high_scores_are_found_out():
    truth, score, found = reviewed(slope=1.5, budget=500)
    assert found.recovery.reviewed.p_value < 0.01
    assert found.recovery.reviewed.labels == "any"
    assert check(found).level == "warn"
    assert recall_score(truth, score >= CUT) in value(found, "recall").interval
    assert "the sharper answer is not to be used" in " ".join(str(found).split())
    _, _, insisted = reviewed(slope=1.5, budget=500, labels="random")
    assert check(insisted).level == "fail"
    assert 'Reviewed(…, labels="any")' in check(insisted).advice


def test_too_few_verdicts_say_nothing_and_how_many_would():
    truth, score, y, _ = draw()
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=60, goal="precision", threshold=CUT)
    some = np.where(np.arange(60) < 4, truth[plan.rows], -1)
    found = uc.evaluate(y, score, unlabeled=0, threshold=CUT, reviews=plan.answered(some))
    words = " ".join(str(found).split())
    assert value(found, "recall").open
    assert (value(found, "recall").low, value(found, "recall").high) == (0, 1)
    assert words.count("– (cannot be said yet)") > 3
    assert "reviews leave it open" in words
    assert "nan" not in words
    said = re.search(r"about ([\d,]+) to ([\d,]+) more.* would do for \S+ \(± 0.1\)", words)
    usual, most = (int(number.replace(",", "")) for number in said.groups())
    assert 50 < usual < 1000
    assert usual < most


def test_verdicts_that_leave_a_number_wide_open_say_how_many_more_would_do():
    """Planned for precision, six or so verdicts on the low scores say little of recall."""
    truth, score, y, _ = draw()
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=60, goal="precision", threshold=CUT)
    given = {"unlabeled": 0, "threshold": CUT, "reviews": plan.answered(truth[plan.rows])}
    found = uc.evaluate(y, score, metrics=["precision", "recall"], **given)
    words = " ".join(str(found).split())
    recall, precision = value(found, "recall"), value(found, "precision")
    assert recall.high - recall.low > 0.3
    span = f"{recall.value:.3f} ({recall.low:.3f} – {recall.high:.3f})"
    assert words.count(span) == 2  # in the table, and beside random labels
    assert f"{precision.value:.3f} ({precision.low:.3f} – " in words
    wanted = r"leave a wide range of recall@\S+: about \d+ to [\d,]+ more, planned with goal="
    assert re.search(wanted, words)
    lift = uc.Estimate(5.0, 4.8, 5.4, 0.1, 0.95, ("reviews",), "")  # narrow for its size
    assert value_words(lift) == "5.000 (4.800 – 5.400)"


def test_every_question_is_answered_from_the_reviews():
    truth, score, found = reviewed(labels="any")
    assert found.shares.unlabeled_prevalence == pytest.approx(
        found.recovery.reviewed.estimate("prevalence").value * len(truth) / found.counts.n_unlabeled
        - found.counts.n_positive / found.counts.n_unlabeled
    )
    assert found.curve.at(CUT).f1 == pytest.approx(value(found, "f1").value, abs=1e-12)
    assert found.curve.roc_auc == pytest.approx(value(found, "roc_auc").value, abs=1e-12)
    at = found.at(2.0)[0]
    assert at.metric == "recall"
    assert recall_score(truth, score >= 2.0) in at.estimate.interval
    assert found.point(2.0).recall == pytest.approx(at.estimate.value, abs=1e-12)
    swept = found.sweep("precision", over="threshold")
    assert len(swept["threshold"]) == len(swept["precision"])


def test_the_best_threshold_is_searched_by_reviews_alone():
    truth, score, found = reviewed(labels="any")
    best = found.best_threshold("f1", over=3.0)
    curve = found.curve
    assert best.f1 == pytest.approx(np.nanmax(curve.f1[1:][curve.fpr[1:] >= 0]), abs=1e-12)
    gain = f1_score(truth, score >= best.threshold) - f1_score(truth, score >= 3.0)
    assert gain in best.gain.interval
    # Searching flatters: the gain that is told is less than the one seen.
    assert best.gain.value < best.f1 - found.point(3.0).f1


def planned_for_precision(seed, budget=100, labels=None, **options):
    """Rows of which a plan for precision looks at those above 3, where few positives lie."""
    rng = np.random.default_rng(seed)
    truth = rng.random(8000) < 0.09
    far = truth & (rng.random(8000) < 0.6)
    score = rng.normal(3.5 * far + 0.7 * (truth & ~far))
    y = (truth & (rng.random(8000) < 0.35)).astype(int)
    asked = {"unlabeled": 0, "threshold": 3.0}
    plan = uc.plan_reviews(y, score, budget=budget, goal="precision", random_state=seed, **asked)
    assume = uc.Reviewed(plan.answered(truth[plan.rows]), labels=labels)
    return truth, score, uc.evaluate(y, score, assume=assume, **asked, **options)


@pytest.mark.parametrize("labels", ["any", "random"])
def test_a_plan_that_did_not_look_there_leaves_the_gain_of_a_threshold_open(labels):
    held, no_value = [], []
    for seed in range(12):
        truth, score, found = planned_for_precision(seed, labels=labels)
        best = found.best_threshold("f1")
        gain = f1_score(truth, score >= best.threshold) - f1_score(truth, score >= 3.0)
        held.append(gain in best.gain.interval)
        no_value.append(best.gain.open)
        assert -1 <= best.gain.low <= best.gain.high <= 1
        assert best.gain.open == np.isnan(best.gain.value)
    assert sum(held) >= 11
    # Labels, if they are random, tell of rows that no verdict looked at.
    assert sum(no_value) >= 6 if labels == "any" else sum(no_value) <= 2


@pytest.mark.parametrize("labels", ["any", "random"])
def test_what_the_least_cost_gains_over_flagging_no_row_is_told_by_reviews(labels):
    truth, score, y, _ = draw()
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=300, threshold=CUT)
    reviews = plan.answered(truth[plan.rows])
    nowhere = uc.evaluate(y, score, unlabeled=0, assume=uc.Reviewed(reviews, labels=labels))
    best = nowhere.best_threshold(cost={"false_positive": 1, "false_negative": 10})
    assert np.isinf(best.over)
    flagged = score >= best.threshold
    cost = np.mean(flagged & ~truth) + 10 * np.mean(~flagged & truth)
    by_none = 10 * truth.mean() if best.over > 0 else np.mean(~truth)
    assert by_none - cost in best.gain.interval


def test_the_highest_rows_are_read_as_their_threshold_is():
    _, score, found = reviewed(labels="any")
    order = np.sort(score)[::-1]
    by_rows, by_threshold = found.estimate("recall", top=400), found.estimate("recall", order[399])
    # A compact cell is cut by chance, so that its verdicts count in part.
    assert by_rows.value == pytest.approx(by_threshold.value, abs=0.01)
    assert by_rows.standard_error == pytest.approx(by_threshold.standard_error, rel=0.05)
    assert found.estimate("precision", top=400).value == pytest.approx(
        by_rows.value * found.prevalence * len(score) / 400, rel=1e-9
    )
    _, _, population = reviewed(labels="any", target="population")
    with pytest.raises(uc.InputError, match="speaks of the rows at hand"):
        population.estimate("recall", top=400)


def test_what_random_labels_alone_would_answer_is_refused():
    _, _, found = reviewed(labels="any")
    with pytest.raises(uc.InputError, match=r"ask by require\(\)"):
        found.break_even("f1", 0.5)
    with pytest.raises(uc.InputError, match="would suppose that labels are random"):
        _ = found.bounds


def test_intervals_that_hold_at_every_look_are_wider():
    _, _, fixed = reviewed(labels="any")
    _, _, anytime = reviewed(labels="any", sequential=True)
    ratio = value(anytime, "f1").standard_error / value(fixed, "f1").standard_error
    assert 1.3 < ratio < 1.7


def test_the_population_is_less_certain_than_these_rows():
    _, _, rows = reviewed(labels="any")
    _, _, population = reviewed(labels="any", target="population")
    assert value(population, "f1").value == value(rows, "f1").value
    assert value(population, "f1").standard_error > value(rows, "f1").standard_error


@pytest.mark.parametrize("share", ["unlabeled_prevalence", "label_frequency"])
def test_shares_beside_reviews_are_refused(share):
    truth, score, y, _ = draw()
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=30, threshold=CUT)
    reviews = plan.answered(truth[plan.rows])
    with pytest.raises(uc.InputError, match=f"hidden; leave {share} out"):
        uc.evaluate(y, score, unlabeled=0, reviews=reviews, **{share: 0.3})


def test_other_words_for_labels_are_refused():
    with pytest.raises(uc.InputError, match="labels must be one of any, random"):
        reviewed(labels="some")


@pytest.mark.parametrize(
    "name", ["precision", "recall", "f1", "mcc", "kappa", *WHOLE]
)  # fmt: skip
def test_gradients_are_slopes(name):
    rng = np.random.default_rng(0)
    counts = uc.ScoreCounts.from_counts(np.arange(12.0), np.ones(12), np.ones(12), np.ones(12))
    everyone = rng.uniform(20, 40, 12)
    positive = everyone * np.linspace(0.8, 0.05, 12)
    at = {} if name in WHOLE else {"threshold": 6.0}

    def read(positive, everyone):
        return mass_gradient(counts, positive, everyone, name, **at)

    found = read(positive, everyone)
    for cell in (0, 3, 6, 11):
        step = np.zeros(12)
        step[cell] = 1e-4
        ends = [read(positive + s * step, everyone + s * step).value for s in (1, -1)]
        assert found.positive[cell] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-4, abs=1e-9)
        ends = [read(positive + s * step, everyone).value for s in (1, -1)]
        assert found.turned[cell] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-4, abs=1e-9)


def test_models_are_compared_on_the_same_reviews():
    truth, score, y, rng = draw()
    other = 0.8 * score + 0.6 * rng.normal(size=len(score))
    plan = uc.plan_reviews(
        y, score, unlabeled=0, budget=400, threshold=CUT, unlabeled_prevalence=0.07
    )
    reviews = plan.answered(truth[plan.rows])
    options = {"unlabeled": 0, "threshold": CUT, "reviews": reviews}
    found = uc.compare(y, {"new": other, "old": score}, **options)
    for metric, read in (("f1", f1_score), ("precision", precision_score)):
        expected = read(truth, other >= CUT) - read(truth, score >= CUT)
        assert expected in found.difference(metric).difference.interval
    expected = roc_auc_score(truth, other) - roc_auc_score(truth, score)
    assert expected in found.difference("roc_auc").difference.interval
    apart = [value(found.evaluations[name], "f1") for name in ("new", "old")]
    gap = found.difference("f1").difference
    assert gap.value == pytest.approx(apart[0].value - apart[1].value, abs=1e-12)
    assert gap.standard_error < np.hypot(*(e.standard_error for e in apart))
    same = uc.compare(y, {"a": score, "b": score}, **options, question="rows")
    assert same.difference("f1").difference.standard_error == pytest.approx(0, abs=1e-9)
    with pytest.raises(uc.InputError, match="planned by the scores of none of"):
        uc.compare(y, {"a": other, "b": other}, **options)


def test_models_are_compared_by_the_reviews_alone_whatever_the_labels():
    """Values came from random labels and intervals from reviews, at the edge of which they lay."""
    truth, score, y, rng = draw()
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=200, threshold=CUT, random_state=1)
    other = score + rng.normal(size=len(y))
    asked = {"unlabeled": 0, "threshold": CUT}
    reviews, models = plan.answered(truth[plan.rows]), {"old": score, "new": other}
    alone, vouched = (
        uc.compare(y, models, assume=uc.Reviewed(reviews, labels=labels), **asked)
        for labels in ("any", "random")
    )
    for one, same in zip(alone.differences, vouched.differences, strict=True):
        assert one == same
    said = "models are compared by the reviews alone"
    for name, evaluation in vouched.evaluations.items():
        assert evaluation.rows == alone[name].rows
        assert sum(said in check.message for check in evaluation.checks) == 1
        assert not any(said in check.message for check in alone[name].checks)
        assert "nan" not in evaluation.basis.question
    with pytest.raises(uc.InputError, match="scored as the plan scored them"):
        vouched["new"].recovery.reviewed.estimate("recall", CUT, labels="random")


def test_a_segment_of_few_labels_says_that_it_rests_on_the_reviews_alone():
    """About 180 rows have a label: some 162 in the large segment, 18 in the small one."""
    truth, score, y, rng = draw()
    place = np.where(rng.random(len(y)) < 0.1, "small", "large")
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=300, threshold=CUT, random_state=1)
    reviews = plan.answered(truth[plan.rows])
    vouched, alone = (
        uc.evaluate(
            y,
            score,
            unlabeled=0,
            threshold=CUT,
            by=place,
            assume=uc.Reviewed(reviews, labels=labels),
        )
        for labels in ("random", "any")
    )
    assert y[place == "large"].sum() >= 150 > y[place == "small"].sum()
    for segment, labels in (("large", "random"), ("small", "any")):
        recovery = vouched[segment].recovery
        assert recovery.reviewed.labels == recovery.basis.review.labels == labels
        assert ("random labels" in vouched[segment]["recall"].needs) == (labels == "random")
    assert vouched["small"].rows == alone["small"].rows
    assert vouched["small"].recovery.basis == alone["small"].recovery.basis
    assert vouched["small"].recovery.basis.review.answers == ("any",)


def test_the_p_value_is_the_level_at_which_the_interval_ends_at_0():
    """Of lopsided differences it was .05 exactly, however far the interval reached beyond 0."""
    rng = np.random.default_rng(6)
    truth, shared = rng.random(4000) < 0.1, 0.3 * rng.normal(size=4000)
    models = {"a": rng.normal(2 * truth) + shared, "b": rng.normal(1.6 * truth) + shared}
    y = np.where(truth & (rng.random(4000) < 0.3), 1, 0)
    plan = uc.plan_reviews(y, models["a"], unlabeled=0, budget=100, threshold=CUT, random_state=1)
    assume = uc.Reviewed(plan.answered(truth[plan.rows]))

    def compare(level):
        asked = {"unlabeled": 0, "threshold": CUT, "confidence_level": level}
        return uc.compare(y, models, assume=assume, **asked)

    found = compare(0.95).difference("accuracy")
    gap = found.difference
    assert gap.low < 0 < gap.high
    assert abs(gap.value) > 2.2 * gap.standard_error
    assert found.p_value > 0.06
    levels = (1 - found.p_value + step for step in (0.003, -0.003))
    wider, narrower = (compare(level).difference("accuracy").difference for level in levels)
    assert wider.low < 0 < wider.high
    assert narrower.low > 0 or narrower.high < 0


def test_no_end_of_a_difference_rests_on_cells_of_less_than_no_positive():
    """An average precision of more than 3 was read there, and an end was -1."""
    rng = np.random.default_rng(5)
    truth, shared = rng.random(6000) < 0.03, 0.3 * rng.normal(size=6000)
    models = {"a": rng.normal(2.5 * truth) + shared, "b": rng.normal(1.2 * truth) + shared}
    y = np.where(truth & (rng.random(6000) < 0.3), 1, 0)
    plan = uc.plan_reviews(y, models["a"], unlabeled=0, budget=100, threshold=2.0, random_state=1)
    reviews = plan.answered(truth[plan.rows])
    found = uc.compare(y, models, reviews=reviews, unlabeled=0, threshold=2.0)
    gap = found.difference("average_precision").difference
    one, other = (value(found[name], "average_precision") for name in ("a", "b"))
    assert gap.low >= one.low - other.high
    true = [average_precision_score(truth, score) for score in models.values()]
    assert true[0] - true[1] in gap.interval


def test_all_rows_reviewed_compare_exactly():
    truth, score, y, rng = draw(size=300)
    other = score + rng.normal(size=300)
    plan = uc.plan_reviews(
        y, score, unlabeled=0, budget=300, threshold=CUT, unlabeled_prevalence=0.07
    )
    found = uc.compare(
        y,
        {"a": score, "b": other},
        unlabeled=0,
        threshold=CUT,
        reviews=plan.answered(truth[plan.rows]),
        question="rows",
    )
    for name, each in (("a", score), ("b", other)):
        expected = f1_score(truth, each >= CUT)
        assert value(found.evaluations[name], "f1").value == pytest.approx(expected, abs=1e-12)
        # Rows between two labelled ones share a cell, within which a pair counts one half.
        expected = roc_auc_score(truth, each)
        assert value(found.evaluations[name], "roc_auc").value == pytest.approx(expected, abs=2e-3)
    assert found.difference("f1").difference.standard_error == pytest.approx(0, abs=1e-12)


def test_an_audit_tells_every_metric():
    truth, score, _, rng = draw()
    y = np.where(rng.random(len(truth)) < 0.15, truth, np.nan)
    found = uc.evaluate(y, score, threshold=CUT, assume=uc.RandomAudit())
    assert f1_score(truth, score >= CUT) in value(found, "f1").interval
    assert found.source.endswith("audited rows")
    everything = uc.evaluate(
        np.append(truth, np.nan), np.append(score, -9.0), threshold=CUT, assume=uc.RandomAudit()
    )
    assert value(everything, "recall").value == pytest.approx(
        recall_score(truth, score >= CUT), abs=1e-3
    )
    with pytest.raises(uc.InputError, match="at least one labelled negative row"):
        uc.evaluate(np.where(truth, 1, np.nan), score, assume=uc.RandomAudit())


def test_the_answered_file_of_a_plan_may_be_named(tmp_path):
    truth, score, y, _ = draw()
    rows = pd.DataFrame({"y": y, "score": score})
    plan = uc.plan_reviews(rows, "score", label="y", unlabeled=0, budget=60, threshold=CUT)
    plan.to_csv(tmp_path / "review.csv")
    sheet = pd.read_csv(tmp_path / "review.csv")
    # Rows of the file are numbered from one.
    sheet["verdict"] = truth[sheet["row"] - 1].astype(int)
    sheet.to_csv(tmp_path / "answered.csv", index=False)
    ask = {"unlabeled": 0, "threshold": CUT}
    named, read = (
        uc.evaluate(y, score, reviews=reviews, **ask)
        for reviews in (
            str(tmp_path / "answered.csv"),
            uc.read_reviews(tmp_path / "answered.csv"),
        )
    )
    assert value(named, "precision") == value(read, "precision")
    two = {"new": score, "old": score + 1.0}
    compared = uc.compare(y, two, reviews=tmp_path / "answered.csv", unlabeled=0)
    assert compared.evaluations["new"].recovery.reviewed.n_answered == 60
    with pytest.raises(uc.InputError, match="Reviews or the path"):
        uc.evaluate(y, score, reviews=7, **ask)


@pytest.mark.parametrize("seed", range(4))
def test_a_handful_of_verdicts_takes_nothing_from_random_labels(seed):
    truth, score, y, _ = draw(seed=seed)
    ask = {"unlabeled": 0, "threshold": CUT}
    plan = uc.plan_reviews(y, score, budget=60, goal="precision", unlabeled_prevalence=0.07, **ask)
    joined = uc.evaluate(
        y, score, assume=uc.Reviewed(plan.answered(truth[plan.rows]), labels="random"), **ask
    )
    alone = uc.evaluate(y, score, unlabeled_prevalence=0.07, **ask)
    errors = [value(found, "recall").standard_error for found in (joined, alone)]
    # The label frequency, given there, is estimated here; verdicts once made it 2.4 times.
    assert errors[0] < 1.15 * errors[1]


def test_with_every_row_reviewed_metrics_are_those_of_the_truth():
    truth, score, y, _ = draw(size=800)
    ask = {"unlabeled": 0, "threshold": CUT}
    plan = uc.plan_reviews(y, score, budget=int((y == 0).sum()), unlabeled_prevalence=0.07, **ask)
    found = uc.evaluate(y, score, reviews=plan.answered(truth[plan.rows]), **ask)
    assert value(found, "roc_auc").value == pytest.approx(roc_auc_score(truth, score))
    expected = average_precision_score(truth, score)
    assert value(found, "average_precision").value == pytest.approx(expected)
    assert value(found, "recall").value == pytest.approx(recall_score(truth, score >= CUT))


def rare(seed, size=10_000):
    """Forty positives among ten thousand rows, all where every row was reviewed."""
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.004
    score = np.where(truth, 2.6 + rng.exponential(0.4, size), rng.normal(size=size))
    y = np.where(truth & (rng.random(size) < 0.4), 1, 0)
    high, low = (np.flatnonzero((y == 0) & side) for side in (score >= 2.5, score < 2.5))
    rows = np.concatenate([high, rng.choice(low, 500, replace=False)])
    stratum = np.repeat([0, 1], [len(high), 500])
    design = uc.ReviewDesign(
        [2.5, score.min()], [len(high), len(low)], order=stratum, unlabeled_prevalence=0.0024
    )
    return truth, score, y, uc.Reviews(rows, truth[rows], score[rows], stratum, design)


@pytest.mark.parametrize("seed", [7, 8, 11])
def test_rare_positives_keep_the_order_in_which_they_were_found(seed):
    """Verdicts in one merged cell would be tied: average precision lost up to a third."""
    truth, score, y, reviews = rare(seed)
    rival = score + np.random.default_rng(seed).normal(0, 0.01, len(score))
    merged = uc.ScoreCounts.from_rows(
        y, score, unlabeled=0, compact=True, knots=[2.5, *reviews.design.edges]
    )
    assert len(merged.score) < len(score) / 20
    asked = {"threshold": 2.5, "reviews": reviews}
    models = uc.compare(y, {"own": score, "rival": rival}, unlabeled=0, **asked).evaluations
    found = {
        "rows": uc.evaluate(y, score, unlabeled=0, **asked),
        "counts": uc.evaluate(merged, **asked),
        "random": uc.evaluate(
            y, score, unlabeled=0, threshold=2.5, assume=uc.Reviewed(reviews, labels="random")
        ),
        "own": models["own"],
    }
    true = average_precision_score(truth, score)
    for name, evaluation in found.items():
        assert value(evaluation, "average_precision").value == pytest.approx(true, abs=0.02), name
    there = value(models["rival"], "average_precision")
    assert there.value == pytest.approx(average_precision_score(truth, rival), abs=0.02)


def test_merged_rows_lie_evenly_between_those_reviewed():
    """Eight rows between two labels, two of them reviewed: two rows in each gap."""
    counts = uc.ScoreCounts.from_counts(
        [9, 1, 0], [1, 0, 1], [0, 0, 0], [0, 8, 3], merged=[False, True, False]
    )
    design = uc.ReviewDesign([0.0], [11], order=[0, 0], unlabeled_prevalence=0.1)
    split = keep_apart(counts, uc.Reviews(None, [1, 0], [6.0, 3.0], [0, 0], design))
    assert split.score.tolist() == [9, 6, 3, 1, 0]
    assert split.unlabeled.tolist() == [0, 3, 3, 2, 3]
    assert split.positive.tolist() == [1, 0, 0, 0, 1]
    assert not split.weighted
    assert keep_apart(split, uc.Reviews(None, [1], [6.0], [0], design)) is split


@pytest.mark.filterwarnings("ignore::undercount.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("target", ["dataset", "population"])
def test_where_an_audit_flags_every_row_a_metric_of_the_others_does_not_exist(target):
    rng = np.random.default_rng(12)
    truth = rng.random(900) < 0.2
    y = np.where(rng.random(900) < 0.3, truth, np.nan)
    found = uc.evaluate(
        y,
        rng.random(900),
        threshold=0,
        assume=uc.RandomAudit(),
        target=target,
        metrics=["mcc", "recall"],
    )
    mcc, recall = found["mcc"], found["recall"]
    assert not mcc.exists  # 0/0: no row is predicted negative, which is not "too few verdicts"
    assert np.isnan([mcc.value, mcc.low, mcc.high]).all()
    assert recall.value == 1


def test_average_precision_of_an_audit_knows_the_order_of_rows_that_nobody_saw():
    """Of 80 positives six are known: spread evenly around these, half of it was lost."""
    errors = []
    for seed in range(20):
        rng = np.random.default_rng([61, seed])
        truth = rng.random(4000) < 0.02
        score = rng.normal(2.5 * truth)
        y = np.where(np.arange(4000) % 13 == 0, truth, np.nan)  # rows are in no order
        found = uc.evaluate(y, score, assume=uc.RandomAudit(), metrics=["average_precision"])
        truly = average_precision_score(truth, score)
        errors.append(found["average_precision"].value - truly)
    assert abs(np.nanmean(errors)) < 0.12


@pytest.mark.parametrize("seed", [2, 4, 8, 11])
def test_average_precision_of_a_perfect_model_may_be_one(seed):
    """Positives and negatives are eight deviations apart: all verdicts fit the perfect order."""
    rng = np.random.default_rng(seed)
    truth = rng.random(3000) < 0.05
    score = rng.normal(8 * truth)
    y = np.where(truth & (rng.random(3000) < 0.3), 1, 0)
    plan = uc.plan_reviews(y, score, unlabeled=0, budget=60, goal="f1", threshold=4)
    reviews = plan.answered(truth[plan.rows])
    found = uc.evaluate(y, score, unlabeled=0, reviews=reviews, metrics=["average_precision"])
    assert average_precision_score(truth, score) == 1
    assert found["average_precision"].high == pytest.approx(1, abs=1e-9)
