"""A comparison in words: the first sentence, the tables, and lines that fit."""

import csv
import io
import json
import math

import numpy as np
import pytest

import undercount as uc
from undercount.show.comparison import as_text, leaderboard_table, p_words, verdict_words
from undercount.show.page.comparison import as_comparison_page
from undercount.show.text import value_words

LONG = (
    "gradient boosting with monotone constraints, March",
    "logistic_regression_on_all_features_2",
)


def compared(shifts, threshold=None, n_rows=600, **options):
    rng = np.random.default_rng(4)
    truth = rng.random(n_rows) < 0.3
    y = np.where(truth & (rng.random(n_rows) < 0.5), 1.0, np.nan)
    scores = {name: rng.normal(shift * truth) for name, shift in shifts.items()}
    return uc.compare(y, scores, prevalence=0.3, threshold=threshold, **options)


SIX = dict(zip([*LONG, "c", "d", "e", "f"], (2.0, 1.9, 1.5, 1.0, 0.5, 0.0), strict=True))


@pytest.fixture(scope="module")
def six():
    return compared(SIX, threshold=0.8)


@pytest.fixture(scope="module")
def pair():
    return compared({"a": 2.0, "b": 1.4}, threshold=0.8)


def test_the_first_sentence_says_which_is_better_and_by_how_much():
    found = compared({"good": 2.0, "poor": 0.5})
    gap = found.difference("roc_auc")
    words = verdict_words(found)
    assert words.startswith("good is better than poor in ROC AUC: by ")
    assert f"{gap.difference.value:+.3f} ({gap.difference.low:+.3f} – " in words
    assert "in the population that these rows come from" in words
    assert words.endswith("whatever the prevalence, if labels are a fair sample.")
    assert " ".join(str(found).split()).startswith(words[:60])
    rows = verdict_words(compared({"good": 2.0, "poor": 0.5}, question="rows"))
    assert "on these very rows" in rows
    alike = verdict_words(compared({"a": 1.0, "b": 1.02}))
    assert " cannot be told apart in ROC AUC: " in alike


def test_metrics_that_tell_models_apart_where_the_deciding_one_does_not_are_named():
    rng = np.random.default_rng(3)
    truth = rng.random(3000) < 0.2
    y = np.where(truth & (rng.random(3000) < 0.3), 1, 0)
    good = rng.normal(2 * truth)
    # Above the threshold both order rows alike.
    poor = np.where(good >= 1.5, good, rng.normal(size=3000).clip(max=1.49))
    models = {"good": good, "poor": poor}
    found = uc.compare(y, models, unlabeled=0, prevalence=0.2, threshold=1.5)
    words = verdict_words(found)
    assert "cannot be told apart in F1: " in words
    assert "They differ in ROC AUC" in words
    by_area = uc.compare(y, models, unlabeled=0, prevalence=0.2, threshold=1.5, rank_by="roc_auc")
    assert verdict_words(by_area).startswith("good is better than poor in ROC AUC: by ")


def test_a_crossover_is_in_the_first_sentence():
    rng = np.random.default_rng(5)
    y = np.repeat([1, -1], [500, 4500])
    score = np.append(rng.normal(1, 1, 500), rng.normal(0, 1, 4500))
    cuts = {"high": 1.2, "low": 0.2}
    models = dict.fromkeys(cuts, score)
    found = uc.compare(y, models, unlabeled=-1, unlabeled_prevalence=0.1, threshold=cuts)
    share = found.difference("f1").crossover
    assert f"it turns at {100 * share:.0f} % hidden" in verdict_words(found)


@pytest.mark.parametrize("width", [100, 80, 40])
def test_lines_fit_whatever_the_names(six, width):
    printed = as_text(six, width)
    lines = printed.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 6200 / width
    assert "minus" not in printed  # no blocks of fifteen pairs
    flat = " ".join(printed.split())
    for standing in six.leaderboard():
        estimate = six[standing.name].estimate("f1", 0.8)
        assert f"{estimate.value:.3f} ({estimate.low:.3f}" in flat


def test_names_of_columns_take_two_lines_where_there_is_room(pair):
    text = as_text(pair, 100)
    head = text.partition("p two-sided")[2].splitlines()
    start = next(i for i, words in enumerate(head) if words.startswith(" ROC AUC"))
    assert start == 3  # the rest of the title's line, and two of names
    assert "chance of" in head[1]
    assert "being better" in head[2]


@pytest.mark.parametrize("width", range(40, 101, 4))
def test_no_line_begins_with_a_percent_sign(pair, width):
    lines = as_text(pair, width).splitlines()
    assert not [text for text in lines if text.lstrip().startswith("%")]
    assert "\N{NO-BREAK SPACE}" not in "".join(lines)


def test_two_models_have_every_metric_with_its_p_value():
    found = compared({"a": 1.5, "b": 1.4}, threshold=0.8)
    part = str(found).partition("a minus b, by metric; p two-sided\n")[2].splitlines()
    for line, gap in zip(part[-8:], found.differences, strict=True):
        assert f"{gap.difference.value:+.3f}" in line
        assert f" {gap.p_value:.2g} " in line


@pytest.mark.parametrize(
    ("p", "said"), [(1.0, "1"), (0.046, "0.046"), (9e-42, "< 0.0001"), (math.nan, "–")]
)
def test_small_p_values_have_no_more_digits_than_they_deserve(p, said):
    gap = uc.Estimate(0.1, 0.0, 0.2, 0.05)
    found = uc.Difference("f1", "a", "b", gap, 0.9, p / 3, p, False, math.nan)
    assert p_words(found) == said


def test_markup_escapes_names_and_has_every_model(six):
    odd = compared({"<b>|&_": 1.5, "b": 1.0}, threshold=0.8)
    assert "\\<b\\>\\|&\\_" in odd.to_markdown()
    assert r"\&\_" in odd.to_latex()
    assert "&lt;b&gt;|&amp;_" in odd._repr_html_()
    assert "<b>|" not in odd._repr_html_()
    for text in (six.to_markdown(), six.to_latex(), six._repr_html_()):
        assert all(text.count(name.replace("_", r"\_")) + text.count(name) >= 3 for name in "cdef")


def test_csv_has_every_pair(six):
    rows = list(csv.DictReader(io.StringIO(six.to_csv())))
    assert len(rows) == 15 * (8 + 2)
    gap = six.difference("roc_auc", "c", "d")
    found = next(r for r in rows if (r["metric"], r["one"], r["other"]) == ("roc_auc", "c", "d"))
    assert float(found["difference"]) == gap.difference.value
    assert float(found["adjusted_p_value"]) == gap.adjusted_p_value
    assert {row["flagged"] for row in rows} == {"", str(six.workload.size)}


def test_the_page_is_small_escapes_names_and_has_no_script(six):
    page = as_comparison_page(six)
    assert len(page.encode()) < 160_000
    assert "<script" not in page
    assert page.count("<svg") >= 5
    hostile = "</style><img src=x onerror=alert(1)>"
    page = as_comparison_page(compared({hostile: 1.0, "b": 0.5}))
    assert "<img" not in page
    assert hostile.replace("<", "&lt;").replace(">", "&gt;") in page


def test_a_pair_is_asked_for_in_either_order(six):
    there, back = six["c", "f"]["roc_auc"], six["f", "c"]["roc_auc"]
    assert there.difference.value == -back.difference.value
    assert there.difference.low == -back.difference.high
    assert six["c"].name == "c"
    with pytest.raises(uc.InputError, match=r"models are .*; got 'x'"):
        six["c", "x"]


def test_values_along_the_share_are_those_at_the_share(six):
    found = six.across_shares("precision")
    shares = found.pop("unlabeled_prevalence")
    here = six["c"].shares.unlabeled_prevalence
    assert list(found) == list(six.evaluations)
    assert np.interp(here, shares, found["c"]) == pytest.approx(
        six["c"].estimate("precision", 0.8).value, abs=1e-3
    )


def test_what_the_share_leaves_open_has_no_value_in_a_comparison():
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.12
    y = np.where(truth & (rng.random(3000) < 0.5), 1.0, np.nan)
    scores = {"one": rng.normal(1.8 * truth), "other": rng.normal(1.5 * truth)}
    found = uc.compare(y, scores, threshold=1.4)
    work = found.workload
    wide = work.estimates["one"]["precision"]
    assert wide.range_only
    whole = f"{wide.low:.3f} – {wide.high:.3f}"
    low, high = (f"{work.size * v:.0f}" for v in (wide.low, wide.high))
    own = found.estimates_of("one")["precision"]
    own_range = f"{own.low:.3f} – {own.high:.3f}"
    gap = found.difference("precision").difference
    assert gap.range_only
    assert (
        gap.low
        < truth[scores["one"] >= 1.4].mean() - truth[scores["other"] >= 1.4].mean()
        < gap.high
    )
    assert [standing.name for standing in found.leaderboard("precision")] == ["one", "other"]
    for text in (as_text(found), as_text(found, 70), as_comparison_page(found)):
        plain = " ".join(text.split())
        assert whole in plain
        assert f"{low} – {high}" in plain
        assert own_range in plain
        assert "nan" not in plain


def test_every_form_says_the_same_of_audited_highest_rows():
    rng = np.random.default_rng(2)
    truth = rng.random(5000) < 0.1
    y = np.where(rng.random(5000) < 0.12, truth, np.nan)
    first = rng.normal(1.6 * truth)
    scores = {"one": first, "other": 0.5 * first + rng.normal(1.3 * truth)}
    found = uc.compare(y, scores, assume=uc.RandomAudit(), top=100)
    said = json.loads(found.to_json())["workload"]
    assert said["differences"] == []
    forms = [as_text(found), as_text(found, 60), as_comparison_page(found)]
    forms += [found.to_markdown().replace("\\", ""), found._repr_html_()]
    for name, score in scores.items():
        alone = uc.evaluate(y, score, assume=uc.RandomAudit(), top=100)
        for metric in ("precision", "recall"):
            estimate = alone.estimate(metric, top=100)
            assert said["estimates"][name][metric]["low"] == pytest.approx(estimate.low)
            words = value_words(estimate)
            for form in forms:
                assert words in " ".join(form.split())
    assert all(
        "whether two models differ there is not tested" in " ".join(f.split()) for f in forms
    )


def test_every_form_names_what_differences_rest_on(tmp_path):
    comparison = compared({"good": 2.0, "poor": 0.5})
    said = (
        "Needs: random labels (chosen by no model), prevalence, right labels, out-of-fold scores."
    )
    assert said in " ".join(str(comparison).split())
    assert said in comparison.to_markdown().replace("\\", "")
    assert said in comparison._repr_html_()
    comparison.to_html(tmp_path / "page.html")
    assert said in (tmp_path / "page.html").read_text()
    assert comparison.table()["needs"][0] == "random labels, prevalence"


def test_of_several_pairs_p_is_named_as_adjusted_beside_intervals_of_each_pair():
    # Three models of which the first leads by a little: alone its gap to the next would count.
    y = np.where(np.arange(400) % 4 == 0, 1.0, np.nan)
    rng = np.random.default_rng(11)
    scores = {name: rng.normal(shift * (y == 1)) for name, shift in (("a", 1.3), ("b", 1.0))}
    scores["c"] = rng.normal(0.95 * (y == 1))
    found = uc.compare(y, scores, prevalence=0.3)
    gaps = [found.difference("roc_auc", one, other) for one, other in ("ab", "ac", "bc")]
    # Holm by hand: the smallest of three p-values counts three times, the next twice.
    places = sorted(range(3), key=lambda k: gaps[k].p_value)
    raised, most = {}, 0.0
    for times, k in zip((3, 2, 1), places, strict=True):
        most = max(most, times * gaps[k].p_value)
        raised[k] = min(most, 1.0)
    assert [gap.adjusted_p_value for gap in gaps] == pytest.approx([raised[k] for k in range(3)])
    text = " ".join(str(found).split())
    assert "95 % for this pair, adjusted p " in text
    assert "p, not intervals, for all pairs (Holm)" in text
    assert leaderboard_table(found)[0][-1] == "adjusted p"
    pair = str(uc.compare(y, {name: scores[name] for name in "ab"}, prevalence=0.3))
    assert "adjusted" not in pair
