"""What a plan supposes of the hidden positives, against the truth."""

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.infer.reviews.verdicts import supposed_posterior
from undercount.infer.scored_rows import UNLABELED, count_model
from undercount.read.plan.hidden_positives import HiddenPositives, suppose_hidden


def rows(seed=0, n_rows=60_000):
    """Positives of two kinds, of which the one that scores high is labelled far more often."""
    rng = np.random.default_rng(seed)
    truth, known = rng.random(n_rows) < 0.15, rng.random(n_rows) < 0.5
    score = rng.normal(1.5 * truth + 1.5 * (known & truth))
    chance = np.where(known, 0.8, 0.1)
    labels = np.where(truth & (rng.random(n_rows) < chance), 1, UNLABELED)
    return truth, score, chance, labels


def test_hidden_positives_lie_where_chances_say():
    truth, score, chance, labels = rows()
    model = count_model(labels, score, UNLABELED, None, None, compact=True)
    by_chance = suppose_hidden(uc.LabelPropensity(chance), model)
    hidden = truth & (labels == UNLABELED)
    share = hidden.sum() / np.sum(labels == UNLABELED)
    assert by_chance.share == pytest.approx(share, rel=0.05)
    counts = model.counts
    cell = np.minimum(np.searchsorted(-counts.score, -score[hidden]), len(counts.score) - 1)
    found = np.bincount(cell, minlength=len(counts.score))
    high = counts.score >= 2.0
    said, at_random = (
        supposed_posterior(guess.lie_like(counts), share) * counts.unlabeled
        for guess in (by_chance, HiddenPositives(share))
    )
    assert said[high].sum() == pytest.approx(found[high].sum(), rel=0.1)
    # As if labels were a random sample, far more would be expected among the highest scores.
    assert at_random[high].sum() > 1.4 * found[high].sum()


def test_the_posterior_of_a_recovery_adds_up_to_its_share():
    _, score, chance, labels = rows()
    evaluation = uc.evaluate(
        labels, score, unlabeled=UNLABELED, assume=uc.LabelPropensity(chance), threshold=1.0
    )
    recovery, counts = evaluation.recovery, evaluation.counts
    expected = recovery.shares.unlabeled_prevalence * counts.n_unlabeled
    assert recovery.posterior @ counts.unlabeled == pytest.approx(expected, rel=0.02)


def test_chances_of_one_are_labels_that_hide_nothing():
    truth, score, _, _ = rows(n_rows=500)
    labels = np.where(truth, 1, UNLABELED)
    model = count_model(labels, score, UNLABELED, None, None, compact=True)
    supposed = suppose_hidden(uc.LabelPropensity(np.ones(500)), model)
    assert supposed.lie_like(model.counts) is model.counts
    assert 0 < supposed.share < 0.01


def test_a_second_model_is_told_by_its_own_scores():
    truth, score, chance, labels = rows()
    other = np.random.default_rng(1).normal(2.0 * truth)
    models = {"first": score, "second": other}
    plan = uc.plan_reviews(
        labels, models, unlabeled=UNLABELED, assume=uc.LabelPropensity(chance), budget=60,
        goal="difference", threshold=1.5,
    )  # fmt: skip
    second = plan.widths.cases[0].second
    counts, hidden = second.model.counts, truth & (labels == UNLABELED)
    said = second.own_chance * counts.unlabeled
    high = counts.score >= 2.0
    assert said[high].sum() == pytest.approx(np.sum(hidden & (other >= 2.0)), rel=0.1)


@pytest.mark.parametrize(
    ("assume", "words"),
    [
        (uc.RandomLabels(0.15), "labels are a random sample of the positives"),
        (uc.LabelPropensity(np.full(3000, 0.4)), "labels are as likely as their chances say"),
        (uc.RandomAudit(), "as the audited rows show"),
        (uc.SelectedLabels(), "and nothing else chose the rows looked at"),
    ],
)
def test_a_plan_says_what_its_assumption_supposes(assume, words):
    truth, score, _, _ = rows(n_rows=3000)
    rng = np.random.default_rng(2)
    looked = rng.random(3000) < 0.4
    audit = isinstance(assume, uc.RandomAudit | uc.SelectedLabels)
    labels = np.where(looked & (truth | audit), truth.astype(float), np.nan)
    plan = uc.plan_reviews(labels, score, assume=assume, budget=40, threshold=1.5)
    printed = " ".join(str(plan).split())
    assert words in printed
    assert ("random sample" in printed) == isinstance(assume, uc.RandomLabels)


def test_chances_in_another_order_than_the_rows_are_refused():
    _, score, chance, labels = rows(n_rows=500)
    named = pd.Series(chance, index=np.arange(500)[::-1])
    with pytest.raises(uc.InputError, match="order"):
        uc.plan_reviews(
            pd.Series(labels), pd.Series(score), unlabeled=UNLABELED, budget=9, threshold=1.5,
            assume=uc.LabelPropensity(named),
        )  # fmt: skip
