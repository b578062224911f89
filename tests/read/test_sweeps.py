"""Sweeps, bounds and best thresholds give the table's numbers, or say why there are none."""

import numpy as np
import pytest
from sklearn.metrics import f1_score
from tests.read.assumption_cases import CUT, DETERMINED, FREE, NAMES, evaluate, rows

import undercount as uc
from undercount.errors import collect_warnings
from undercount.read.cost_curve import cost_curve

COST = {"false_positive": 1.0, "false_negative": 6.0}


@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_over_the_threshold_is_evaluate_at_each(name, monkeypatch):
    monkeypatch.setattr("undercount.read.evaluation.SWEEP_STEPS", 25)  # each takes its time
    found = evaluate(name)
    swept = found.sweep("precision", over="threshold")
    assert CUT in swept["threshold"]
    for part in (0.1, 0.3, 0.9):
        place = int(part * len(swept["threshold"]))
        there = evaluate(name, float(swept["threshold"][place]))["precision"]
        ends = [swept[f"precision{end}"][place] for end in ("", "_low", "_high")]
        assert ends == pytest.approx([there.value, there.low, there.high], abs=1e-9)


@pytest.mark.parametrize("name", FREE)
def test_a_sweep_over_the_prevalence_has_the_value_at_its_own_share(name):
    found = evaluate(name)
    for metric in ("roc_auc", "precision"):
        share, values = found.sweep(metric).values()
        at = found.shares.unlabeled_prevalence
        assert np.interp(at, share, values) == pytest.approx(found[metric].value, abs=2e-3)


@pytest.mark.parametrize(("name", "source"), DETERMINED.items())
@pytest.mark.parametrize("over", ["prevalence", "purity"])
def test_what_is_determined_is_not_swept(name, source, over):
    words = f"determined by the {source}" if over != "purity" else f"the {source} determine"
    with pytest.raises(uc.InputError, match=words) as error:
        evaluate(name).sweep("precision", over=over)
    assert "not free to move; sweep over the threshold instead" in str(error.value)
    assert error.value.code == "not-identified"
    assert error.value.argument == "over"


@pytest.mark.parametrize("name", DETERMINED)
def test_a_bias_is_swept_among_random_labels_alone_and_the_reason_is_true(name):
    found = evaluate(name)
    with pytest.raises(uc.InputError) as error:
        found.sweep("precision", over="gamma")
    assert (error.value.code, error.value.argument) == ("not-identified", "over")
    if name == "selected":  # whoever chose the rows, their labels have no odds
        with pytest.raises(uc.InputError) as bounds:
            found.bias_bounds(2)
        assert str(bounds.value).split(": ")[1] == str(error.value).split(": ")[1]
        return
    assert "bias_bounds() has" in str(error.value)
    bound, interval = found.bias_bounds(2)["precision"], found["precision"]
    if found.basis.review is None:
        assert bound.low < interval.low
    elif found.recovery.reviewed.labels == "any":  # no bias of labels reaches the verdicts
        assert (bound.low, bound.high) == (interval.low, interval.high)


def test_labels_and_reviews_together_are_not_answered_by_labels_alone():
    found = evaluate("reviews and random labels")
    for ask in (lambda: found.break_even("precision", 0.4), lambda: found.bounds):
        with pytest.raises(uc.InputError, match="would rest on the labels alone") as error:
            ask()
        assert error.value.code == "not-identified"
    assert 0 < found.calibrated_threshold() < 1  # labels that are vouched for


def test_bounds_of_independent_rows_are_no_bounds_of_clusters():
    with pytest.raises(uc.InputError, match="these come in clusters") as error:
        _ = evaluate("clusters").bounds
    assert error.value.argument == "cluster"


@pytest.mark.parametrize("name", ["reviews", "audited"])
def test_models_are_not_followed_along_a_share_that_is_determined(name):
    drawn = rows()
    other = np.where(drawn["truth"], 0.9, 1.0) * drawn["score"] ** 2
    models = {"one": drawn["score"], "other": other}
    if name == "audited":
        known = np.where(drawn["seen"], drawn["truth"], np.nan)
        found = uc.compare(known, models, assume=uc.RandomAudit(), threshold=CUT)
    else:
        plan = uc.plan_reviews(
            drawn["chosen"], drawn["score"], unlabeled=0, threshold=CUT, budget=250
        )
        reviews = plan.answered(drawn["truth"][plan.rows])
        found = uc.compare(drawn["chosen"], models, unlabeled=0, threshold=CUT, reviews=reviews)
    with pytest.raises(uc.InputError, match=f"determined by the {DETERMINED[name]}") as error:
        found.across_shares("f1")
    assert error.value.code == "not-identified"
    assert "not free to move" in str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_the_best_threshold_is_the_best_of_what_the_evaluation_says(name, monkeypatch):
    monkeypatch.setattr("undercount.read.evaluation.SWEEP_STEPS", 25)  # each takes its time
    found = evaluate(name)
    best = found.best_threshold("f1")
    with collect_warnings():
        there = found.estimate("f1", best.threshold)
        swept = found.sweep("f1", over="threshold")["f1"]
    assert best.f1 == pytest.approx(there.value, abs=1e-9)
    # A rate that chance pushed out of its range is put to its end by a table, and searched by none.
    assert best.f1 >= np.nanmax(swept[2:]) - 1e-9
    cheapest = found.best_threshold(cost=COST)
    weight = COST["false_positive"] / sum(COST.values())
    cost = sum(COST.values()) * cheapest.expected_cost(weight)
    assert cost == pytest.approx(found.cost(cheapest.threshold, **COST).value, abs=1e-9)
    assert cost_curve(found, COST, 5).best == cheapest


def test_after_labels_and_reviews_the_best_threshold_is_of_both():
    drawn, found = rows(), evaluate("reviews and random labels")
    best = found.best_threshold("f1", over=0.8)
    assert found.best_threshold("f1").threshold == best.threshold
    curve = found.recovery.reviewed.curve("random", found.counts_at(0.8))
    assert best.f1 == pytest.approx(np.nanmax(curve.f1[1:]), abs=1e-12)
    alone, labels = (
        found.recovery.reviewed.curve("any"),
        uc.mixture_curve(found.counts, found.shares),
    )
    for other in (alone, labels):  # neither of which it is
        assert abs(np.nanmax(other.f1[1:]) - best.f1) > 1e-3
    truth, score = drawn["truth"], drawn["score"]
    gain = f1_score(truth, score >= best.threshold) - f1_score(truth, score >= 0.8)
    assert gain in best.gain.interval
    assert best.gain.needs == ("reviews", "random labels")


def test_the_gain_of_a_best_threshold_rests_on_clusters():
    # Each row five times, as one cluster: as many independent rows as there were before.
    drawn = rows()
    options = {"unlabeled": 0, "prevalence": float(drawn["truth"].mean())}
    once = uc.evaluate(drawn["random"], drawn["score"], **options)
    label, score = (np.repeat(drawn[part], 5) for part in ("random", "score"))
    cluster = np.repeat(np.arange(len(drawn["score"])), 5)
    apart = uc.evaluate(label, score, **options)
    together = uc.evaluate(label, score, cluster=cluster, **options)
    widths = [
        found.best_threshold(cost=COST, over=0.8).gain.interval.width
        for found in (once, apart, together)
    ]
    assert widths[1] < 0.6 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.05)
    alone = together.best_threshold(cost=COST, over=0.8)
    assert alone.threshold == apart.best_threshold(cost=COST, over=0.8).threshold


def test_the_gain_for_a_population_has_the_chance_of_the_rows():
    here, there = (
        evaluate("reviews", target=target).best_threshold(cost=COST, over=0.8)
        for target in ("dataset", "population")
    )
    assert here.threshold == there.threshold
    assert there.gain.value == here.gain.value
    # What a row more that is flagged costs: 1 if it is negative, 6 less if positive. Its variance,
    # by hand, over all rows.
    points = [evaluate("reviews").point(each) for each in (here.threshold, 0.8)]
    hits, flagged = (
        np.subtract(*(each(point) for point in points))
        for each in (lambda p: p.prevalence * p.tpr, lambda p: p.predicted_positive_rate)
    )
    mean = (flagged - hits) - 6 * hits
    variance = ((flagged - hits) + 36 * hits - mean**2) / len(rows()["score"])
    added = there.gain.standard_error**2 - here.gain.standard_error**2
    assert added == pytest.approx(variance, rel=0.01)
    assert there.gain.interval.width > here.gain.interval.width
