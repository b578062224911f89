"""Two models at another prevalence: values, errors by simulation, clusters, chances, refusals."""

import json

import numpy as np
import pytest
from scipy.stats import norm

import undercount as uc

CUTS = {"new": 1.0, "old": 1.5}
POINTS = ("recall", "precision", "f1", "mcc", "accuracy")


def models(seed=0, n=4000, prevalence=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    y = (truth & (rng.random(n) < 0.5)).astype(int)
    new = rng.normal(1.8 * truth)
    return y, {"new": new, "old": new + rng.normal(size=n)}


def compared(y, scores, **options):
    ask = {"unlabeled": 0, "threshold": CUTS, **options}
    if "assume" not in options:
        ask.setdefault("prevalence", 0.2)
    return uc.compare(y, scores, **ask)


def by_metric(found):
    return {each.metric: each for each in found}


def test_a_difference_there_is_that_of_the_models_there():
    y, scores = models()
    found = compared(y, scores, deploy_prevalence=0.01)
    there = by_metric(found.deployed())
    assert set(there) == {"roc_auc", "lift_auc", "average_precision", *POINTS}
    values = {
        name: {row.metric: row.estimate.value for row in found[name].deployed()} for name in scores
    }
    for metric, each in there.items():
        gap = each.difference
        assert gap.value == pytest.approx(values["new"][metric] - values["old"][metric])
        assert gap.low < gap.value < gap.high
        assert "same rates there" in gap.needs
        assert each.question == "population"
    # Nothing but positives and negatives decides there: these are the same as here.
    here = by_metric(found.differences)
    for metric in ("roc_auc", "recall"):
        assert there[metric].difference.low == pytest.approx(here[metric].difference.low)
    assert found.deployed(0.5) != found.deployed(0.01)


def test_the_same_prevalence_gives_the_same_differences():
    y, scores = models(1)
    found = compared(y, scores)
    for metric, each in by_metric(found.deployed(0.2)).items():
        here = by_metric(found.differences)[metric].difference
        near = 0.1 if metric == "average_precision" else 1e-6  # one is unbiased, one a mean
        assert each.difference.value == pytest.approx(here.value, rel=near)
        assert each.difference.standard_error == pytest.approx(here.standard_error, rel=near)


@pytest.mark.parametrize("metric", ["precision", "f1", "mcc", "accuracy"])
def test_errors_are_those_of_new_rows(metric):
    """Flags of two models are drawn anew from what normal scores say, without the library."""
    n, share, chance, there, draws = 4000, 0.2, 0.5, 0.03, 4000
    y, scores = models(2, n)
    found = by_metric(compared(y, scores).deployed(there))[metric].difference
    both = {}
    for positive in (True, False):
        mean = 1.8 * positive
        grid = np.linspace(-9, 11, 4001)
        density = norm.pdf(grid - mean) * (grid[1] - grid[0])
        old = norm.sf(CUTS["old"] - grid)
        new = grid >= CUTS["new"]
        parts = [density @ (a * b) for a in (new, ~new) for b in (old, 1 - old)]
        both[positive] = np.array(parts) / np.sum(parts)
    cells = np.concatenate(
        [share * chance * both[True], share * (1 - chance) * both[True] + (1 - share) * both[False]]
    )
    drawn = np.random.default_rng(5).multinomial(n, cells / cells.sum(), size=draws)
    labelled, rest = drawn[:, :4], drawn[:, 4:]
    values = []
    for flags in ([0, 1], [0, 2]):  # new: the first two ways; old: the first and the third
        tpr = labelled[:, flags].sum(1) / labelled.sum(1)
        hidden = (share * n - labelled.sum(1)) / rest.sum(1)
        fpr = (rest[:, flags].sum(1) / rest.sum(1) - hidden * tpr) / (1 - hidden)
        hits, alarms = there * tpr, (1 - there) * fpr
        missed, quiet = there - hits, 1 - there - alarms
        values.append(
            {
                "precision": hits / (hits + alarms),
                "f1": 2 * hits / (2 * hits + alarms + missed),
                "accuracy": hits + quiet,
                "mcc": (hits * quiet - alarms * missed)
                / np.sqrt((hits + alarms) * there * (1 - there) * (missed + quiet)),
            }[metric]
        )
    spread = np.std(values[0] - values[1])
    assert found.standard_error == pytest.approx(spread, rel=0.12)


def test_copies_in_a_cluster_tell_nothing_new():
    y, scores = models(3, 2000)
    alone = by_metric(compared(y, scores).deployed(0.02))
    twice = {name: np.repeat(each, 3) for name, each in scores.items()}
    found = compared(np.repeat(y, 3), twice, cluster=np.arange(6000) // 3)
    for metric, each in by_metric(found.deployed(0.02)).items():
        if metric == "average_precision":  # ties move it
            continue
        error = alone[metric].difference.standard_error
        assert each.difference.standard_error == pytest.approx(error, rel=0.05)


def test_equal_chances_are_random_labels():
    y, scores = models(4)
    known = by_metric(
        compared(y, scores, assume=uc.LabelPropensity(np.full(len(y), 0.5))).deployed(0.05)
    )
    for metric, each in by_metric(compared(y, scores).deployed(0.05)).items():
        if metric == "average_precision":
            continue
        gap = known[metric].difference
        assert gap.value == pytest.approx(each.difference.value, abs=each.difference.standard_error)
        assert gap.standard_error == pytest.approx(each.difference.standard_error, rel=0.3)
        assert gap.needs == ("labelling chances", "same rates there")


def test_an_uncertain_share_widens_and_may_turn_the_order():
    y, scores = models(5)
    known = by_metric(compared(y, scores).deployed(0.02))
    wide = by_metric(compared(y, scores, prevalence=(0.15, 0.25)).deployed(0.02))
    for metric in ("precision", "f1", "accuracy"):
        assert wide[metric].difference.low < known[metric].difference.low
        assert wide[metric].difference.high > known[metric].difference.high
    assert not known["precision"].depends_on_prevalence
    assert known["accuracy"].depends_on_prevalence


def test_areas_alone_without_a_threshold_and_three_models():
    y, scores = models(6, 2000)
    found = uc.compare(y, {**scores, "third": -scores["new"]}, unlabeled=0, prevalence=0.2)
    there = found.deployed(0.02)
    assert len(there) == 9
    assert "Where" not in str(found)
    three = {**scores, "third": -scores["new"]}
    shown = uc.compare(y, three, unlabeled=0, prevalence=0.2, deploy_prevalence=0.02)
    assert "Where 2.0 % are positive" in str(shown)
    assert "old, third" in str(shown)
    assert {each.metric for each in there} == {"roc_auc", "lift_auc", "average_precision"}


def test_what_goes_not_with_it_is_refused():
    y, scores = models(7, 1000)
    with pytest.raises(uc.InputError, match="needs a prevalence"):
        compared(y, scores).deployed()
    for wrong in (0, 1.5, "much"):
        with pytest.raises(uc.InputError, match="deploy_prevalence"):
            compared(y, scores, deploy_prevalence=wrong)


def test_it_is_in_every_form(tmp_path):
    y, scores = models(8, 2000)
    found = compared(y, scores, deploy_prevalence=0.02)
    title = "Where 2.0 % are positive"
    assert title in str(found)
    assert title in found.to_markdown()
    found.to_html(tmp_path / "page.html")
    assert title in (tmp_path / "page.html").read_text()
    document = json.loads(found.to_json())
    assert document["deployed"]["prevalence"] == 0.02
    rows = {row["metric"]: row for row in document["deployed"]["differences"]}
    assert rows["f1"]["low"] == pytest.approx(by_metric(found.deployed())["f1"].difference.low)
    assert "deployed" not in json.loads(compared(y, scores).to_json())


def test_a_requirement_on_two_models_is_judged_where_they_will_work():
    rng = np.random.default_rng(3)
    truth = rng.random(6000) < 0.5
    y, score = (truth & (rng.random(6000) < 0.6)).astype(int), rng.normal(2.5 * truth)
    asked = {"unlabeled": 0, "prevalence": 0.5, "threshold": {"wide": 0.5, "strict": 2.5}}
    condition = "wide.f1 > strict.f1"
    here = uc.compare(y, {"wide": score, "strict": score}, **asked)
    assert here.require(condition).outcome == "met"
    found = uc.compare(y, {"wide": score, "strict": score}, deploy_prevalence=0.02, **asked)
    verdict = found.require(condition, "wide.precision < 0.5", "f1 > 0.01")
    assert [each.outcome for each in verdict.judgements] == ["failed", "met", "met", "met"]
    assert str(verdict).count("where 2 % are positive") == 4
    gap = next(each.difference for each in found.deployed() if each.metric == "f1")
    assert verdict.judgements[0].estimate == gap


def test_an_estimated_share_may_turn_a_difference_there():
    y, scores = models(5)
    found = compared(y, scores, prevalence=None, deploy_prevalence=0.01)
    assert by_metric(found.deployed())["accuracy"].difference.high < 0
    verdict = found.require("new.roc_auc > old.roc_auc", "old.accuracy > new.accuracy")
    assert [each.outcome for each in verdict.judgements] == ["met", "inconclusive"]
    assert "only estimated" in verdict.judgements[1].why
