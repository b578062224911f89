"""Models compared segment by segment."""

import json

import numpy as np
import pandas as pd
import pytest

import undercount as uc

N = 6000
RNG = np.random.default_rng(4)
TRUTH = RNG.random(N) < 0.25
LABELS = np.where(TRUTH & (RNG.random(N) < 0.5), 1.0, np.nan)
COUNTRY = np.array(["DE", "FR", "US"])[RNG.integers(3, size=N)]
ONE, OTHER = RNG.normal(2.0 * TRUTH), RNG.normal(1.6 * TRUTH)
# In one country the second model is the better one.
TURNED = np.where(COUNTRY == "US", RNG.normal(4.0 * TRUTH), OTHER)
MODELS = {"one": ONE, "other": OTHER}
KNOWN = {"prevalence": 0.25, "threshold": 1.0}


@pytest.fixture(scope="module")
def found():
    return uc.compare(LABELS, MODELS, by=COUNTRY, **KNOWN)


def test_where_requirements_are_judged_is_said_in_every_form(found, tmp_path):
    deployed = uc.compare(LABELS, MODELS, by=COUNTRY, deploy_prevalence=0.02, **KNOWN)
    for comparisons, prevalence in ((deployed, 0.02), (found, None)):
        page = tmp_path / "page.html"
        comparisons.to_html(page)
        for form in (str(comparisons), comparisons.to_markdown(), page.read_text()):
            words = " ".join(form.split())
            said = "Requirements are judged where 2 % of the rows are positive" in words
            assert said is (prevalence is not None)
            assert "one minus other" in words
            assert "one less other" not in words
        assert json.loads(comparisons.to_json())["deploy_prevalence"] == prevalence


def test_chances_of_a_segment_are_those_of_its_rows_alone():
    chance = np.where(RNG.random(N) < 0.5, 0.7, 0.3)
    labels = np.where(TRUTH & (RNG.random(N) < chance), 1.0, np.nan)
    segments = uc.compare(
        labels, MODELS, by=COUNTRY, threshold=1.0, assume=uc.LabelPropensity(chance)
    )
    here = COUNTRY == "FR"
    alone = uc.compare(
        labels[here],
        {name: score[here] for name, score in MODELS.items()},
        threshold=1.0,
        assume=uc.LabelPropensity(chance[here]),
    )
    for metric in ("roc_auc", "recall", "precision"):
        gap, expected = segments["FR"].difference(metric), alone.difference(metric)
        assert gap.difference == expected.difference
        assert gap.p_value == expected.p_value


def test_a_share_of_its_own_makes_a_segment_a_comparison_of_its_own():
    here = COUNTRY == "DE"
    shares = {name: TRUTH[name == COUNTRY].mean() for name in ("DE", "FR", "US")}
    segments = uc.compare(LABELS, MODELS, by=COUNTRY, threshold=1.0, prevalence=shares)
    alone = uc.compare(
        LABELS[here],
        {name: score[here] for name, score in MODELS.items()},
        threshold=1.0,
        prevalence=shares["DE"],
    )
    for metric in segments.metrics:
        gap, expected = segments.difference("DE", metric), alone.difference(metric)
        assert gap.difference.value == pytest.approx(expected.difference.value, abs=1e-12)
        assert gap.difference.low == pytest.approx(expected.difference.low, abs=1e-9)


def test_one_segment_is_all_rows():
    segments = uc.compare(LABELS, MODELS, by=np.full(N, "all"), threshold=1.0)
    plain = uc.compare(LABELS, MODELS, threshold=1.0)
    assert segments["all"].differences == plain.differences


def test_whether_the_difference_varies(found):
    assert found.heterogeneity("roc_auc").p_value > 0.05
    turned = uc.compare(LABELS, {"one": ONE, "other": TURNED}, by=COUNTRY, **KNOWN)
    assert turned.heterogeneity("roc_auc").p_value < 1e-4
    (odd,) = (
        each
        for each in turned.deviations("roc_auc")
        if each.adjusted_p_value < 0.05 and each.difference.high < 0
    )
    assert odd.segment == "US"


def test_more_models_have_a_difference_for_each_pair(found):
    three = uc.compare(LABELS, {**MODELS, "turned": TURNED}, by=COUNTRY, prevalence=0.25)
    assert three.pairs == (("one", "other"), ("one", "turned"), ("other", "turned"))
    assert "one minus turned" in str(three)
    assert len(three.table()["metric"]) == 3 * 3 * 3
    assert three.difference("US", "roc_auc", "turned", "one").difference.low > 0
    assert found.pairs == (("one", "other"),)


def test_a_segment_without_labels_says_so(found):
    by = COUNTRY.astype(object)
    by[np.flatnonzero(~TRUTH)[:9]] = None
    segments = uc.compare(LABELS, MODELS, by=by, **KNOWN)
    assert list(segments) == ["DE", "FR", "US"]
    assert "no row is labelled positive" in segments.row(None).note
    with pytest.raises(uc.InputError, match="cannot be compared"):
        segments[None]
    with pytest.raises(KeyError, match="no segment 'IT'"):
        segments["IT"]
    outcomes = [each.outcome for each in segments.require("one.recall > other.recall").judgements]
    assert outcomes[-1] == "inconclusive"
    assert "see below" in str(segments)
    assert found.rows[0].note == ""


def test_requirements_are_judged_in_each_segment(found):
    verdict = found.require("one.roc_auc > other.roc_auc", "one.roc_auc >= 0.5")
    subjects = [each.subject for each in verdict.judgements]
    assert subjects[:2] == ["segment DE, one against other", "segment DE, one"]
    assert verdict.judgements[1].outcome == "met"
    assert "segments labelled alike" in verdict.judgements[1].estimate.needs


def test_segments_labelled_unlike_are_not_compared_in_what_rests_on_shares():
    frequency = np.where(COUNTRY == "DE", 0.1, 0.9)
    labels = np.where(TRUTH & (RNG.random(N) < frequency), 1.0, np.nan)
    segments = uc.compare(labels, MODELS, by=COUNTRY, **KNOWN)
    assert segments.unlike_labels
    assert np.isnan(segments.difference("DE", "precision").difference.value)
    assert np.isfinite(segments.difference("DE", "recall").difference.value)
    assert np.isnan(segments.heterogeneity("precision").p_value)
    (judgement, *_) = segments.require("one.precision > other.precision").judgements
    assert (judgement.outcome, "UC022" in judgement.why) == ("inconclusive", True)
    assert "not known (UC022)" in str(segments)


def test_forms_hold_the_same_numbers(found, tmp_path):
    facts = json.loads(found.to_json())
    frame = found.to_frame("pandas")
    assert facts["segments"][0]["difference"] == pytest.approx(frame["difference"][0])
    assert len(facts["segments"]) == len(frame) == 3 * len(found.metrics)
    gap = found.difference("DE", "f1").difference
    assert f"{gap.value:+.3f} ({gap.low:+.3f} – {gap.high:+.3f})" in str(found)
    assert f"{gap.value:+.3f}" in found.to_markdown()
    found.to_html(tmp_path / "c.html")
    assert f"{gap.value:+.3f}" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_columns_of_a_frame(found):
    frame = pd.DataFrame({"y": LABELS, "one": ONE, "other": OTHER, "country": COUNTRY})
    same = uc.compare(frame, ["one", "other"], label="y", by="country", **KNOWN)
    assert same.column == "country"
    assert same["FR"].differences == found["FR"].differences


def test_counts_of_segments_say_what_is_missing():
    counts = uc.ScoreCounts.from_rows(LABELS, ONE)
    with pytest.raises(uc.InputError, match="do not say which rows") as error:
        uc.compare({"DE": counts}, MODELS)
    assert error.value.code == "missing-data"


def test_who_was_looked_at_is_fitted_in_each_segment():
    column = RNG.random(N) < 0.5
    looked = RNG.random(N) < np.where(column, 0.8, 0.3)
    labels = np.where(looked, TRUTH.astype(float), np.nan)
    features = column[:, np.newaxis].astype(float)
    here = COUNTRY == "FR"

    def compare(rows, **more):
        assume = uc.SelectedLabels(method="doubly-robust", features=features[rows])
        models = {name: score[rows] for name, score in MODELS.items()}
        return uc.compare(labels[rows], models, assume=assume, threshold=1.0, **more)

    segments, alone = compare(slice(None), by=COUNTRY), compare(here)
    for metric in ("recall", "precision", "roc_auc"):
        gap, expected = (found.difference(metric).difference for found in (segments["FR"], alone))
        assert [gap.value, gap.low, gap.high] == pytest.approx(
            [expected.value, expected.low, expected.high], abs=1e-9
        )


def test_verdicts_on_rows_of_a_segment_tell_its_difference():
    plan = uc.plan_reviews(LABELS, ONE, budget=900, threshold=1.0, random_state=0)
    reviews = plan.answered(TRUTH[plan.rows])
    segments = uc.compare(
        LABELS, MODELS, by=COUNTRY, assume=uc.Reviewed(reviews), threshold=1.0, question="rows"
    )
    for country in ("DE", "FR", "US"):
        here = country == COUNTRY
        truth = TRUTH[here]
        recall = [(score[here][truth] >= 1).mean() for score in (ONE, OTHER)]
        gap = segments.difference(country, "recall").difference
        assert gap.low < recall[0] - recall[1] < gap.high
