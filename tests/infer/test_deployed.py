"""Metrics at another prevalence: closed forms, the same prevalence, refusals."""

import numpy as np
import pytest

import undercount as uc
from undercount.infer.deployed import Deployment


def rows(seed=0, n=4000, prevalence=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    y = (truth & (rng.random(n) < 0.5)).astype(int)
    return truth, y, rng.normal(1.8 * truth)


def test_rates_are_carried_over():
    _, y, score = rows()
    found = uc.evaluate(
        y, score, unlabeled=0, prevalence=0.2, threshold=1.0, deploy_prevalence=0.01
    )
    here = {row.metric: row.estimate.value for row in found.rows}
    there = {row.metric: row.estimate for row in found.deployed()}
    tpr, fpr = here["recall"], 1 - here["specificity"]
    flagged = 0.01 * tpr + 0.99 * fpr
    assert there["recall"].value == pytest.approx(tpr)
    assert there["specificity"].value == pytest.approx(1 - fpr)
    assert there["precision"].value == pytest.approx(0.01 * tpr / flagged)
    assert there["f1"].value == pytest.approx(0.02 * tpr / (0.01 + flagged))
    assert there["roc_auc"].value == pytest.approx(here["roc_auc"])
    assert there["lift_auc"].value == pytest.approx(0.005 + 0.99 * here["roc_auc"])
    for estimate in there.values():
        assert estimate.low < estimate.value < estimate.high
        assert "same rates there" in estimate.needs


def test_the_same_prevalence_is_the_population():
    truth, y, score = rows(1)
    options = {"unlabeled": 0, "prevalence": 0.2, "threshold": 1.0, "target": "population"}
    found = uc.evaluate(y, score, **options)
    for row, moved in zip(found.rows, found.deployed(0.2), strict=True):
        if row.metric == "average_precision":
            assert moved.estimate.value == pytest.approx(row.estimate.value, rel=0.02)
            continue
        assert moved.estimate.value == pytest.approx(row.estimate.value, rel=1e-6)
        # Here the prevalence of the sample varies around the given one, there it is fixed.
        width, other = (e.high - e.low for e in (moved.estimate, row.estimate))
        assert width == pytest.approx(other, rel=0.25)
    assert truth.mean() == pytest.approx(0.2, abs=0.03)


def labels_on_top(seed=0, n=8000):
    """Rows of which the five highest all carry a label, as chance sometimes has it."""
    truth, y, score = rows(seed, n, 0.1)
    top = np.argsort(-score)[:5]
    truth[top], y[top] = True, 1
    return truth, y, score


def test_the_doubt_about_average_precision_does_not_jump_along_the_prevalence():
    # Above these five hardly a row is unlabeled, so that recovered false positives are below 0.
    _, y, score = labels_on_top()
    found = uc.evaluate(y, score, unlabeled=0, prevalence=0.1)
    there = [
        next(row.estimate for row in found.deployed(at) if row.metric == "average_precision")
        for at in np.geomspace(0.002, 0.5, 40)
    ]
    doubt = np.array([each.standard_error / each.value for each in there])
    assert np.all(np.diff([each.value for each in there]) > 0)
    assert np.all(np.diff(doubt) < 0)  # the rarer, the less is known


def test_the_error_of_average_precision_is_that_of_new_rows():
    found = []
    for seed in range(60):
        _, y, score = rows(seed, 2000)
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
        shares = uc.Shares.from_prevalence(counts, 0.2)
        found.append(Deployment(counts, shares, 0.02).estimate("average_precision"))
    spread = np.std([each.value for each in found])
    assert 0.8 < np.median([each.standard_error for each in found]) / spread < 2
    assert max(each.standard_error for each in found) < 1


def test_an_uncertain_share_widens():
    _, y, score = rows(2)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    known = Deployment(counts, uc.Shares.from_prevalence(counts, 0.2), 0.02)
    for share in ((0.18, 0.22), uc.Estimate(0.2, 0.18, 0.22, 0.01)):
        shares = uc.Shares.from_prevalence(counts, share)
        wide = Deployment(counts, shares, 0.02).estimate("precision", 1.0)
        narrow = known.estimate("precision", 1.0)
        assert wide.value == pytest.approx(narrow.value, rel=1e-6)
        assert wide.low < narrow.low < narrow.high < wide.high


def test_clusters_widen():
    _, y, score = rows(3)
    cluster = np.arange(len(y)) // 5
    shared = np.random.default_rng(0).normal(size=cluster.max() + 1)[cluster]
    options = {"unlabeled": 0, "prevalence": 0.2, "threshold": 1.0, "deploy_prevalence": 0.05}
    plain = uc.evaluate(y, score + shared, **options).deployed()
    wide = uc.evaluate(y, score + shared, cluster=cluster, **options).deployed()
    errors = [[row.estimate.standard_error for row in each] for each in (plain, wide)]
    assert np.mean(errors[1]) > np.mean(errors[0])


def test_it_is_printed_and_written():
    _, y, score = rows(4)
    options = {"unlabeled": 0, "prevalence": 0.2, "threshold": 1.0}
    found = uc.evaluate(y, score, deploy_prevalence=0.01, **options)
    assert "Where 1.0 % are positive" in str(found)
    assert '"deployed"' in found.to_json()
    assert '"deployed"' not in uc.evaluate(y, score, **options).to_json()


def test_refusals():
    _, y, score = rows(5)
    for wrong in (0, 1, 2.0, "a"):
        with pytest.raises(uc.InputError, match="deploy_prevalence must be a share"):
            uc.evaluate(y, score, unlabeled=0, prevalence=0.2, deploy_prevalence=wrong)
    found = uc.evaluate(y, score, unlabeled=0, prevalence=0.2)
    with pytest.raises(uc.InputError, match="needs a prevalence"):
        found.deployed()
    with pytest.raises(uc.InputError, match="not carried over"):
        Deployment(found.counts, found.shares, 0.1).estimate("log_loss")


def deployed(seed=0, **options):
    _, y, score = rows(seed)
    asked = {"threshold": 1.0, "deploy_prevalence": 0.01, **options}
    if "assume" not in options:
        asked.setdefault("prevalence", 0.2)
    return uc.evaluate(y, score, unlabeled=0, **asked)


def test_a_requirement_is_judged_where_the_model_will_work():
    found = deployed()
    there = next(row.estimate for row in found.deployed() if row.metric == "precision")
    assert there.high < 0.3 < found["precision"].low  # met here, failed there
    verdict = found.require("precision >= 0.3", "precision >= 0.01", "recall@1.5 >= 0.2")
    assert [each.outcome for each in verdict.judgements] == ["failed", "met", "met"]
    assert verdict.judgements[0].estimate == there
    assert all("where 1 % are positive" in line for line in str(verdict).splitlines())
    assert "same rates there" in verdict.judgements[1].estimate.needs
    # Recall feels no share of these rows, so that it needs none.
    assert "prevalence" not in verdict.judgements[2].estimate.needs
    assert found.deploy_prevalence is not None
    here = uc.evaluate(*rows()[1:], unlabeled=0, prevalence=0.2, threshold=1.0)
    assert here.require("precision >= 0.3").outcome == "met"
    assert "where" not in str(here.require("precision >= 0.3"))


@pytest.mark.parametrize("options", [{}, {"assume": uc.LabelPropensity(np.full(4000, 0.5))}])
def test_every_form_says_where_a_claim_is_judged(options, tmp_path):
    claiming = deployed(**options).claiming("precision >= 0.3")
    assert claiming.verdict.light == "unsupported"
    said = "precision ≥ 30 % where 1 % are positive (as required)"
    assert said in " ".join(str(claiming).split())
    assert said in claiming.to_markdown()
    document = claiming.to_dict()["models"][0]
    assert document["verdict"]["claim"]["deploy_prevalence"] == 0.01
    assert document["words"]["claim"] == said
    claiming.to_html(tmp_path / "page.html")
    assert said in (tmp_path / "page.html").read_text()
    light = (
        deployed(**options).claiming("precision >= 0.01").to_dict()["models"][0]["words"]["light"]
    )
    assert light.endswith(", and rates are the same there")


def test_what_hangs_on_an_estimated_share_is_open_there_too():
    found = deployed(prevalence=None)
    there = next(row.estimate for row in found.deployed() if row.metric == "precision")
    assert there.range_only
    goal = (there.low + there.high) / 2
    assert found.require(f"precision >= {goal:.4f}").outcome == "inconclusive"
    assert found.require("precision >= 0.9").outcome == "failed"  # at every share
    assert found.require("precision >= 0.005").outcome == "met"


def test_the_highest_rows_cannot_be_carried_over():
    with pytest.raises(uc.InputError, match="the highest rows do not"):
        deployed().require("precision@top 100 >= 0.2")


@pytest.mark.parametrize("seed", [0, 5])
def test_a_share_that_does_not_fit_says_nothing_against_a_claim_there(seed):
    # Precision there only grows with the share of these rows, up to shares that do not fit.
    none_hidden = deployed(seed, prevalence=None, unlabeled_prevalence=0.0, threshold=1.5)
    low = next(row.estimate.low for row in none_hidden.deployed() if row.metric == "precision")
    verdict = deployed(seed, prevalence=None, threshold=1.5).require(f"precision >= {0.9 * low}")
    assert verdict.outcome == "met", str(verdict)
