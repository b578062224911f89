"""Segments under any assumption: each is a part of all rows, unless segments share something."""

import numpy as np
import pytest

import undercount as uc
from undercount.assume.base import Recovery, ReportOptions
from undercount.assume.propensity.recovery import ChancesRecovery
from undercount.infer.scored_rows import count_model
from undercount.infer.segmented_rows import CountedSegmentation, RowSegmentation

RNG = np.random.default_rng(8)
N = 5000
TRUTH = RNG.random(N) < 0.2
LABELS = np.where(TRUTH & (RNG.random(N) < 0.5), 1.0, np.nan)
SCORE = RNG.normal(2.0 * TRUTH)
BY = np.arange(N) % 3
CHANCE = np.full(N, 0.5)


def recover(assume, segmentation=None):
    model = count_model(LABELS, SCORE, None, None, 1.0, compact=True)
    return assume.recover_segments(
        {"score": model}, segmentation or RowSegmentation(BY), ReportOptions()
    )


def test_a_part_has_its_own_rows_and_share():
    segments = recover(uc.LabelPropensity(CHANCE))
    part = segments.recover(1, "population")["score"]
    here = BY == 1
    alone = uc.evaluate(LABELS[here], SCORE[here], assume=uc.LabelPropensity(CHANCE[here]))
    assert part.target == "population"
    assert part.counts.n_rows == here.sum()
    assert part.shares.unlabeled_prevalence == alone.shares.unlabeled_prevalence
    assert part.unknowns.largest_share == alone.unknowns.largest_share
    assert (segments.checks, segments.pooled, segments.shared_out) == ((), None, False)


def test_an_assumption_without_parts_has_no_segments(monkeypatch):
    monkeypatch.setattr(ChancesRecovery, "take", Recovery.take)
    with pytest.raises(uc.InputError) as error:
        uc.evaluate(LABELS, SCORE, by=BY, assume=uc.LabelPropensity(CHANCE), threshold=1.0)
    assert error.value.code == "not-identified"
    with pytest.raises(uc.InputError) as error:
        uc.compare(
            LABELS, {"one": SCORE, "other": SCORE + BY}, by=BY, assume=uc.LabelPropensity(CHANCE)
        )
    assert error.value.code == "not-identified"


def test_counts_of_segments_do_not_say_which_rows_they_are():
    counts = {k: uc.ScoreCounts.from_rows(LABELS[k == BY], SCORE[k == BY]) for k in range(3)}
    segments = recover(uc.LabelPropensity(CHANCE), CountedSegmentation({"score": counts}))
    with pytest.raises(uc.InputError, match="do not say which rows") as error:
        segments.recover(0, "dataset")
    assert error.value.code == "missing-data"


@pytest.mark.parametrize(
    "assume",
    [
        uc.RandomLabels(),
        uc.RandomLabels(0.2),
        uc.RandomLabels((0.15, 0.25)),
        uc.RandomLabels(label_frequency=0.5),
        uc.RandomLabels(interval="bootstrap", n_resamples=20),
        uc.RandomLabels(0.2, sampling="case-control"),
        uc.LabelPropensity(CHANCE),
    ],
)
def test_one_segment_is_all_rows(assume):
    plain = uc.evaluate(LABELS, SCORE, assume=assume, threshold=1.0)
    segments = uc.evaluate(LABELS, SCORE, assume=assume, threshold=1.0, by=np.zeros(N))
    assert segments[0.0].rows == plain.rows
    for metric in ("recall", "precision"):
        line = segments.estimates(metric)[0.0]
        assert [line.low, line.high] == pytest.approx([plain[metric].low, plain[metric].high])


@pytest.mark.parametrize("fair", [True, False])
def test_covariates_test_all_rows_together(fair):
    group = RNG.random(N) < 0.5
    chance = 0.5 if fair else np.where(group, 0.8, 0.1)
    labels = np.where(TRUTH & (RNG.random(N) < chance), 1.0, np.nan)
    asked = {"threshold": 1.0, "by": BY}
    plain = uc.evaluate(labels, SCORE, assume=uc.RandomLabels(0.2), **asked)
    tested = uc.evaluate(
        labels, SCORE, assume=uc.RandomLabels(0.2, covariates=group[:, None] * 1.0), **asked
    )
    whole = uc.evaluate(
        labels, SCORE, assume=uc.RandomLabels(0.2, covariates=group[:, None] * 1.0), threshold=1.0
    )
    assert [row.rows for row in tested.rows] == [row.rows for row in plain.rows]
    expected = [check for check in whole.checks if check.code == "UC022"]
    assert set(expected) <= set(tested.overall.checks)
    assert ("ok" in [check.level for check in expected]) is fair
