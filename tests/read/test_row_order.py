"""Series with one index in two orders are refused, whatever argument they are."""

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.errors import InputError

RNG = np.random.default_rng(0)
TRUTH = RNG.random(200) < 0.3
Y = pd.Series((TRUTH & (RNG.random(200) < 0.5)).astype(int))
SCORE = pd.Series(RNG.normal(1.5 * TRUTH))
VALUES = pd.Series(RNG.integers(1, 50, 200) / 50)
OTHER = VALUES.sample(frac=1, random_state=1)
SHARE = {"unlabeled": 0, "prevalence": 0.3}
MODELS = {"a": SCORE, "b": -SCORE}
DAYS = pd.Series(RNG.integers(0, 300, 200).astype(float))
FOUND = (DAYS + 20).where(TRUTH)
CALLS = {
    "from_rows sample_weight": lambda v: uc.ScoreCounts.from_rows(Y, SCORE, sample_weight=v),
    "evaluate sample_weight": lambda v: uc.evaluate(Y, SCORE, **SHARE, sample_weight=v),
    "evaluate by": lambda v: uc.evaluate(Y, SCORE, **SHARE, by=v),
    "evaluate cluster": lambda v: uc.evaluate(Y, SCORE, **SHARE, cluster=v),
    "evaluate chance": lambda v: uc.evaluate(Y, SCORE, unlabeled=0, assume=uc.LabelPropensity(v)),
    "evaluate covariates": lambda v: uc.evaluate(
        Y, SCORE, unlabeled=0, assume=uc.RandomLabels(covariates=v.to_frame())
    ),
    "frame cluster": lambda v: uc.evaluate(
        pd.DataFrame({"y": Y, "s": SCORE}), "s", label="y", **SHARE, cluster=v
    ),
    "compare sample_weight": lambda v: uc.compare(Y, MODELS, **SHARE, sample_weight=v),
    "compare cluster": lambda v: uc.compare(Y, MODELS, **SHARE, cluster=v),
    "compare chance": lambda v: uc.compare(Y, MODELS, unlabeled=0, assume=uc.LabelPropensity(v)),
    "metric sample_weight": lambda v: uc.metrics.roc_auc(Y, SCORE, **SHARE, sample_weight=v),
    "metric cluster": lambda v: uc.metrics.roc_auc(Y, SCORE, **SHARE, cluster=v),
    "plan sample_weight": lambda v: uc.plan_reviews(Y, SCORE, **SHARE, budget=5, sample_weight=v),
    "plan cluster": lambda v: uc.plan_reviews(Y, SCORE, **SHARE, budget=5, cluster=v),
    "curve propensity": lambda v: uc.propensity_curve(Y, SCORE, v, unlabeled=0),
    "monitor observed": lambda v: uc.monitor(
        SCORE, observed=DAYS.loc[v.index], found=FOUND, threshold=1.0, until=400
    ),
    "late found": lambda v: uc.prevalence.LateLabels().fit(DAYS, FOUND.loc[v.index], until=400),
    "sources second": lambda v: uc.prevalence.TwoSources().fit(Y, Y.loc[v.index]),
    "prevalence sample_weight": lambda v: uc.prevalence.BestBin(n_resamples=0).fit(
        Y, SCORE, unlabeled=0, sample_weight=v
    ),
    "features X": lambda v: uc.prevalence.TIcE().fit(Y, v.to_frame(), unlabeled=0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_series_in_another_order_is_refused(name):
    argument = name.rpartition(" ")[2]
    with pytest.raises(InputError, match=f" and {argument} have the same index in different"):
        CALLS[name](OTHER)


def test_rows_of_arrays_and_of_other_indices_belong_together_by_place():
    expected = uc.evaluate(Y, SCORE, **SHARE, sample_weight=VALUES.to_numpy())["roc_auc"]
    for weights in (VALUES, VALUES.tolist(), VALUES.set_axis(range(1000, 1200))):
        assert uc.evaluate(Y, SCORE, **SHARE, sample_weight=weights)["roc_auc"] == expected


def test_a_foreign_row_does_not_hide_that_the_others_are_in_another_order():
    names = pd.Index([f"id{place}" for place in range(200)])
    y, weights = Y.set_axis(names), VALUES.set_axis(names[::-1])
    changed = weights.rename({"id7": "another"})
    with pytest.raises(InputError, match="y and sample_weight have mostly the same index in diff"):
        uc.evaluate(y, SCORE.to_numpy(), **SHARE, sample_weight=changed)


def test_rows_of_a_split_and_numbered_rows_belong_together_by_place():
    """Scores of a test split are mostly a new series, whose numbers are its own."""
    split = pd.RangeIndex(0, 400).to_series().sample(200, random_state=3).index
    expected = uc.evaluate(Y.to_numpy(), SCORE.to_numpy(), **SHARE)["roc_auc"]
    assert uc.evaluate(Y.set_axis(split), SCORE, **SHARE)["roc_auc"] == expected


def test_scores_and_weights_are_compared_where_labels_have_no_index():
    with pytest.raises(InputError, match=r"pass sample_weight.loc\[score.index\]"):
        uc.ScoreCounts.from_rows(Y.to_numpy(), SCORE, sample_weight=OTHER)
