"""The light never lies: what it says of a claim is what the metric does at each share."""

import json
import math

import numpy as np
import pytest

import undercount as uc
from undercount.errors import InputError
from undercount.read.require.verdict import round_goal
from undercount.show.verdict_words import change_words, judged_words, light_words

SHARE = 0.3


@pytest.fixture(scope="module")
def rows():
    """Half of the positives are labelled at random; precision at the threshold is known."""
    rng = np.random.default_rng(5)
    truth = rng.random(6000) < SHARE
    y = np.where(truth & (rng.random(6000) < 0.5), 1.0, np.nan)
    return y, rng.normal(1.6 * truth), truth


@pytest.mark.parametrize("prevalence", [0.17, 0.2, 0.3, 0.35])
def test_a_given_prevalence_is_never_robust_where_precision_follows_it(rows, prevalence):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=prevalence, threshold=1.0)
    assert evaluation.verdict.light == "given"
    assert light_words(evaluation) == f"if {100 * prevalence:.0f} % are positive"
    low = evaluation.rows[1].estimate.low
    assert evaluation.verdict.claim.value == round_goal(low) <= low


@pytest.mark.parametrize("goal", [0.3, 0.5, 0.7])
def test_robust_is_said_only_where_the_claim_holds_at_every_allowed_share(rows, goal):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE, threshold=1.0)
    claimed = evaluation.claiming(f"precision >= {goal}")
    least = np.mean(y[score >= 1.0] == 1)  # the labelled ones among those flagged are certain
    assert (claimed.verdict.light == "robust") == (least >= goal)
    if claimed.verdict.light == "robust":
        assert "whatever the prevalence" in change_words(claimed)


def test_the_share_may_move_as_far_as_said(rows):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE, threshold=1.0).claiming("precision>=0.7")
    holds = evaluation.verdict.holds
    counts = evaluation.counts
    for share, met in ((holds.low * 1.002, True), (holds.low * 0.998, False)):
        prevalence = (share * counts.n_unlabeled + counts.n_positive) / counts.n_rows
        moved = uc.evaluate(y, score, prevalence=prevalence, threshold=1.0)
        assert (moved.rows[1].estimate.low >= 0.7) == met
    # The least share is rounded up, so that the claim holds at what is said.
    assert f"at least {math.ceil(100 * prevalence)} %" in change_words(evaluation)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prevalence": 0.3}, "if 30 % are positive"),
        ({"prevalence": (0.29, 0.31)}, "if 29 – 31 % are positive"),
        ({"unlabeled_prevalence": 0.17}, "if 17 % are hidden"),
        ({"label_frequency": 0.5}, "if 50 % of the positives are labelled"),
        (
            {"assume": uc.RandomLabels(unlabeled_prevalence=0.17, purity=0.98)},
            "if 17 % are hidden and 98 % of the labels are right",
        ),
    ],
)
def test_the_light_names_what_was_passed(rows, given, words):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, threshold=1.0, **given).claiming("precision >= 0.6")
    assert light_words(evaluation) == words


def test_a_range_in_part_of_which_the_claim_fails_depends_on_the_prevalence(rows):
    y, score, _ = rows
    wide = uc.evaluate(y, score, prevalence=(0.18, 0.3), threshold=1.0)
    assert wide.claiming("precision >= 0.6").verdict.light == "depends"
    assert wide.claiming("precision >= 0.95").verdict.light == "unsupported"
    assert "would hold only" in change_words(wide.claiming("precision >= 0.75"))


def test_an_estimated_share_is_judged_over_its_interval(rows):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, threshold=1.0)
    assert (evaluation.verdict.light, evaluation.verdict.claim) == ("none", None)
    span = evaluation.shares.unlabeled_prevalence_interval
    low = uc.evaluate(y, score, unlabeled_prevalence=span.low, threshold=1.0).rows[1].estimate
    high = uc.evaluate(y, score, unlabeled_prevalence=span.high, threshold=1.0).rows[1].estimate
    certain = np.mean(y[score >= 1.0] == 1)
    for goal in (certain - 0.01, (low.low + high.low) / 2, 0.999):
        light = evaluation.claiming(f"precision >= {goal}").verdict.light
        expected = "robust" if goal <= certain else "depends" if goal <= high.low else "unsupported"
        assert light == expected
    assert not evaluation.claiming(f"precision >= {(low.low + high.low) / 2}").verdict.everywhere


def test_bias_is_said_only_of_a_claim_that_holds(rows):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE, threshold=1.0)
    for goal in np.linspace(0.1, 0.95, 18):
        claimed = evaluation.claiming(f"precision >= {goal}")
        said = "Γ" in change_words(claimed)
        assert not (claimed.verdict.light == "unsupported" and said)


def test_a_bias_survived_at_one_share_is_not_said_of_a_range(rows):
    y, score, _ = rows
    words = "at the share taken, not all of its range"
    for share, ranged in ((SHARE, False), ((SHARE - 0.03, SHARE + 0.03), True)):
        evaluation = uc.evaluate(y, score, prevalence=share, threshold=1.0)
        claimed = evaluation.claiming(f"precision >= {evaluation['precision'].low - 0.02}")
        said = change_words(claimed)
        assert "Γ" in said
        assert (words in said) == ranged


def test_failed_checks_and_scores_that_know_the_label_support_nothing(rows):
    y, score, _ = rows
    known = np.where(y == 1, 10.0 + score, score)
    leaked = uc.evaluate(y, known, unlabeled_prevalence=0.0, threshold=9.0)
    assert leaked.verdict.light == "unsupported"
    assert leaked.verdict.reason.code == "UC010"
    assert "UC010" in change_words(leaked)
    turned = uc.evaluate(y, -score, prevalence=0.2, threshold=-1.0)
    assert turned.verdict.light == "unsupported"


def test_a_claim_at_every_share_is_not_robust_if_hardly_a_positive_is_hidden():
    rng = np.random.default_rng(6)
    truth = rng.random(3000) < SHARE
    y = np.where(truth & (rng.random(3000) < 0.95), 1.0, np.nan)
    score = rng.normal(3 * truth)
    estimated = uc.evaluate(y, score).claiming("roc_auc >= 0.9")
    assert estimated.verdict.everywhere
    assert estimated.verdict.light == "depends"
    assert estimated.verdict.doubt.code == "UC016"
    assert light_words(estimated) == "depends on out-of-fold scores"
    assert change_words(estimated).endswith("if the model was not trained on these rows")
    document = json.loads(estimated.to_json())["models"][0]["verdict"]
    assert (document["light"], document["doubt"]) == ("depends", "UC016")
    # Who knows how many are labelled need not ask the scores.
    given = uc.evaluate(y, score, label_frequency=0.95).claiming("roc_auc >= 0.9")
    assert given.verdict.light == "robust"
    assert given.verdict.doubt is None


def test_every_output_says_the_same(rows):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE, threshold=1.0)
    light, judged = light_words(evaluation), judged_words(evaluation)
    facts = json.loads(evaluation.to_json())["models"][0]
    assert (facts["words"]["light"], facts["words"]["claim"]) == (light, judged)
    assert facts["verdict"]["light"] == "given"
    assert facts["hidden_share"]["limit"] == evaluation.unknowns.limit
    for text in (" ".join(str(evaluation).split()), evaluation.to_markdown()):
        assert light in text
        assert judged in text
    assert "round number" in judged
    assert "as required" in judged_words(evaluation.claiming("recall >= 0.5"))


def test_a_claim_needs_a_threshold_that_is_there(rows):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE)
    with pytest.raises(InputError, match="needs a threshold"):
        evaluation.claiming("precision >= 0.5")
    assert evaluation.claiming("precision@1.0 >= 0.5").verdict.light == "given"


@pytest.mark.parametrize(
    ("value", "goal"), [(0.678, 0.65), (0.65, 0.65), (0.0347, 0.03), (1.0, 0.95), (0.0, 0.0)]
)
def test_goals_are_round(value, goal):
    assert round_goal(value) == goal


def test_a_naive_value_inside_the_interval_is_not_called_too_low():
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.2
    y = np.where(truth & (rng.random(400) < 0.97), 1.0, np.nan)
    score = rng.normal(2.0 * truth)
    near = uc.evaluate(y, score, unlabeled_prevalence=(0.0, 0.02), threshold=1.0)
    assert near.rows[1].naive >= near.rows[1].estimate.low
    assert "too low" not in str(near)
    far = uc.evaluate(y, score, unlabeled_prevalence=0.03, threshold=1.0)
    assert ("too low" in str(far)) == (far.rows[1].naive < far.rows[1].estimate.low)


def test_a_run_without_a_threshold_says_what_is_missing_and_suggests_one(rows):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE)
    text = " ".join(str(evaluation).split())
    assert "precision, recall and F1 are missing" in text
    known = int(np.nansum(y))
    kth = np.sort(score)[-known]
    assert (
        f"{known:,} rows" in text
        or f"about as many as are known to be positive ({known:,})" in text
    )
    suggested = float(text.split("are missing · ")[1].split(" would flag")[0])
    assert np.sum(score >= suggested - 1e-6) == pytest.approx(known, rel=0.02)
    assert abs(suggested - kth) < 0.05
    assert "precision, recall" in evaluation.to_markdown()


def test_a_requirement_is_met_only_where_the_verdict_grants_it():
    rng = np.random.default_rng(5)
    truth = rng.random(6000) < SHARE
    y = np.where(truth & (rng.random(6000) < 0.5), 1.0, np.nan)
    score = rng.normal(4.0 * truth)  # so well apart that a share of 0 is ruled out
    estimated = uc.evaluate(y, score, threshold=1.0)
    low = estimated["precision"].low
    for goal in (np.mean(y[score >= 1.0] == 1) - 0.01, low - 0.01):
        claim = f"precision >= {goal:.3f}"
        robust = estimated.claiming(claim).verdict.light == "robust"
        assert estimated.require(claim).outcome == ("met" if robust else "inconclusive")
    assert not robust
    assert estimated.claiming(claim).verdict.everywhere  # the interval alone would meet it
    assert "the share of hidden positives, which is only estimated" in str(estimated.require(claim))
    given = uc.evaluate(y, score, threshold=1.0, prevalence=SHARE)
    assert given.require(claim).outcome == "met"
    recall = estimated["recall"].low - 0.01  # needs no prevalence
    assert estimated.require(f"recall >= {recall:.3f}", "lift auc > 0.6").outcome == "met"
    assert estimated.require("precision > 0.99").outcome == "failed"


def test_few_labels_that_would_stand_for_thousands_let_no_gate_pass():
    rng = np.random.default_rng(3)
    # 60 positives somewhere among the highest fifth of 40,000 rows; 34 of them are known.
    score = np.r_[rng.uniform(0.8, 1.0, 60), rng.uniform(size=40_000)]
    y = np.r_[np.ones(34), np.zeros(40_026)]
    evaluation = uc.evaluate(y, score, unlabeled=0)
    assert 60 / 8060 in evaluation["average_precision"].interval  # about the truth
    assert 26 / 40_026 in evaluation.shares.unlabeled_prevalence_interval
    found = evaluation.require("average precision >= 0.1", "ROC AUC >= 0.9")
    assert found.outcome == "inconclusive"
    said = " ".join(str(evaluation).split())
    assert "34 labels, and scores leave up to" in said
    assert "estimate supposes" not in said  # none is shown
    assert "(UC017 warn)" in str(evaluation)
    assert evaluation.require("lift auc >= 0.8")


@pytest.mark.parametrize(
    ("metrics", "claim"),
    [
        (["recall"], "recall@1 >= "),
        (["fpr"], "fpr@1 <= "),
        (["recall", "precision"], "precision@1 >= "),
        (["lift_auc", "recall"], "lift_auc >= "),
    ],
)
def test_the_claim_is_about_a_metric_that_was_chosen(rows, metrics, claim):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE, threshold=1.0, metrics=metrics)
    assert evaluation.verdict.claim.words.startswith(claim)
    estimate = evaluation[evaluation.verdict.claim.metric]
    assert evaluation.verdict.claim.verdict(estimate) == "met"


@pytest.fixture(scope="module")
def sharp():
    """Scores that part the classes, labels that happen to rank high: an area passes 1 by chance."""
    rng = np.random.default_rng(8)
    truth = np.repeat([True, False], [200, 400])
    score = np.concatenate([rng.normal(5, 1, 200), rng.normal(0, 1, 400)])
    for seed in range(100):
        y = truth & (np.random.default_rng(seed).random(600) < 0.4)
        evaluation = uc.evaluate(y, score, unlabeled=0, prevalence=1 / 3, threshold=2.5)
        share = evaluation.shares.unlabeled_prevalence
        fits = all(check.level == "ok" for check in evaluation.checks if check.code == "UC001")
        if share > evaluation.unknowns.largest_share + 0.01 and fits:
            return evaluation
    raise AssertionError


@pytest.mark.parametrize("claim", ["precision >= 0.9", "roc_auc >= 0.95"])
def test_a_true_share_within_chance_is_judged_by_the_interval(sharp, claim):
    assert sharp.shares.unlabeled_prevalence < sharp.unknowns.limit
    claimed = sharp.claiming(claim)
    assert claimed.verdict.light == "given"
    assert claimed.require(claim).outcome == "met"
    facts = json.loads(claimed.to_json())["models"][0]
    assert facts["verdict"]["light"] == "given"
    assert facts["hidden_share"]["limit"] == sharp.unknowns.limit > sharp.unknowns.largest_share
    assert "ruled out" in str(claimed)


def test_a_share_beyond_chance_is_still_ruled_out(sharp):
    counts, share = sharp.counts, sharp.unknowns.limit + 0.01
    found = uc.evaluate(counts, unlabeled_prevalence=share, metrics=["roc_auc"])
    claimed = found.claiming("roc_auc >= 0.95")
    assert claimed.verdict.light == "unsupported"
    assert claimed.require("roc_auc >= 0.95").outcome == "inconclusive"


def test_a_requirement_fails_only_where_it_does_at_every_share():
    rng = np.random.default_rng(1)
    truth = rng.random(4000) < 0.4
    score = rng.normal(1.5 * truth)
    rank = score.argsort().argsort() / len(score)
    y = truth & (rng.random(4000) < rank**3)  # labels prefer high scores
    evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.0)
    precision = truth[score >= 1.0].mean()
    assert evaluation["precision"].high < precision - 0.02
    found = evaluation.require(f"precision >= {precision - 0.02}")
    assert found.outcome == "inconclusive"
    assert "it fails from" in str(found) or "(UC" in str(found)
    assert evaluation.require("recall <= 0.2").outcome == "failed"
    fair = truth & (rng.random(4000) < 0.5)
    given = uc.evaluate(fair, score, unlabeled=0, threshold=1.0, prevalence=truth.mean())
    assert given.require("precision >= 0.95").outcome == "failed"


def test_scores_worse_than_chance_fail_though_a_check_does():
    rng = np.random.default_rng(3)
    truth = rng.random(2000) < 0.3
    y = truth & (rng.random(2000) < 0.5)
    found = uc.evaluate(y, -rng.normal(2.0 * truth), unlabeled=0)
    assert any(check.level == "fail" for check in found.checks)
    assert found.require("roc_auc >= 0.9").outcome == "failed"


def test_what_is_safe_at_every_share_names_that_labels_must_be_right(rows):
    y, score, _ = rows
    evaluation = uc.evaluate(y, score, prevalence=SHARE, threshold=1.0).claiming("precision >= 0.3")
    assert evaluation.verdict.light == "robust"
    assert light_words(evaluation) == "robust if labels are fair and right"
    text = " ".join(str(evaluation).split())
    assert "if no positive were hidden and every label is right" in text
    assert "needs right labels (no negative is labelled positive) and scores of rows" in text
    assert "right labels" in evaluation["precision"].needs
    met = str(evaluation.require("precision >= 0.3"))
    assert "assumes: random labels, prevalence, right labels" in met
    facts = json.loads(evaluation.to_json())["models"][0]
    assert all("right labels" in row["needs"] for row in facts["metrics"])
    told = uc.evaluate(y, score, assume=uc.RandomLabels(SHARE, purity=0.95), threshold=1.0)
    assert "right labels" not in told["precision"].needs
    assert "right labels" not in str(told)


def test_a_claim_that_rows_flagged_at_random_meet_is_not_made():
    rng = np.random.default_rng(12)
    truth = rng.random(3000) < 0.35
    y = truth & (rng.random(3000) < 0.4)
    noise = uc.evaluate(y, rng.random(3000), unlabeled=0, threshold=0.5)
    assert noise.verdict.claim is None
    assert "robust" not in str(noise)
    assert "no target set" in str(noise)
    assert noise.claiming("precision >= 0.05").verdict.light == "robust"  # asked for


def test_ends_that_differ_are_written_so():
    rng = np.random.default_rng(2)
    truth = rng.random(60_000) < 0.001
    y = truth & (rng.random(60_000) < 0.5)
    options = {"unlabeled": 0, "prevalence": 0.001, "threshold": 3.0}
    found = uc.evaluate(y, rng.normal(3.0 * truth), metrics=["specificity"], **options)
    low, high = (f"{end:.3f}" for end in (found["specificity"].low, found["specificity"].high))
    assert low == high
    assert f"({low} – {high})" not in str(found)
