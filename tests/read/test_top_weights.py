"""The highest rows of weighted rows: one row is one row, and weights weigh what is counted."""

import itertools
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.read.evaluation import TOP_METRICS

# Of the three highest rows, of weights 1, 3 and 2, the first and the third are labelled: 3 of the
# weight 4 that is labelled, 3 of the weight 6 that is flagged, which is .6 of all.
HAND = {
    "y": [1, None, 1, None, 1, None],
    "s": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
    "w": [1.0, 3.0, 2.0, 2.0, 1.0, 1.0],
}
HAND_VALUES = {"recall": 0.75, "precision": 0.5, "lift": 1.25}


def draw(seed, n=3000, digits=1):
    """Rows with ties, a fifth of them positive, half of these labelled, and unequal weights."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    y = np.where(truth & (rng.random(n) < 0.5), 1.0, np.nan)
    score = np.round(rng.normal(1.5 * truth), digits)
    return y, score, rng.gamma(2.0, 1.0, n), truth


def expected_values(y, score, weight, k):
    """Recall and naive precision of the k highest rows, the mean over every order of ties."""
    last = np.sort(score)[::-1][k - 1]
    above, tied = score > last, score == last
    part = above + tied * (k - above.sum()) / tied.sum()
    labelled = y == 1
    hits = (part * weight)[labelled].sum()
    return hits / weight[labelled].sum(), hits / (part * weight).sum()


def test_a_row_is_a_row_and_weights_weigh_it():
    found = uc.evaluate(
        HAND["y"], HAND["s"], sample_weight=HAND["w"], unlabeled_prevalence=0.0, top=3
    )
    for row in found.top_rows:
        assert row.naive == pytest.approx(HAND_VALUES[row.metric])
        assert row.estimate.value == pytest.approx(HAND_VALUES[row.metric])
    half = uc.evaluate(
        HAND["y"], HAND["s"], sample_weight=HAND["w"], unlabeled_prevalence=0.0, top=0.5
    )
    assert [row.estimate for row in half.top_rows] == [row.estimate for row in found.top_rows]


def test_tied_rows_are_flagged_as_likely_as_one_another_whatever_they_weigh():
    y, score = np.array([1, np.nan, 1, np.nan, np.nan]), np.array([3.0, 2, 2, 2, 1])
    weight = np.array([2.0, 5, 1, 3, 4])
    heads = [[0, *pair] for pair in itertools.combinations([1, 2, 3], 2)]  # three rows of four
    hits = np.mean([np.sum(weight[some] * (y[some] == 1)) for some in heads])
    flagged = np.mean([np.sum(weight[some]) for some in heads])
    found = uc.evaluate(y, score, sample_weight=weight, unlabeled_prevalence=0.0, top=3)
    rows = {row.metric: row.estimate.value for row in found.top_rows}
    assert rows["recall"] == pytest.approx(hits / 3)
    assert rows["precision"] == pytest.approx(hits / flagged)


@pytest.mark.parametrize("k", [1, 40, 500, 1200])
def test_values_are_those_of_plain_numpy(k):
    y, score, weight, _ = draw(1)
    found = uc.evaluate(y, score, sample_weight=weight, prevalence=0.2, top=k)
    recall, naive = expected_values(y, score, weight, k)
    assert found["recall"].value == pytest.approx(recall)
    assert found.top_rows[0].naive == pytest.approx(naive)


@pytest.mark.parametrize("size", [10.0, 0.5, 1e-3])
@pytest.mark.parametrize("top", [500, 0.05])
@pytest.mark.parametrize(
    "options",
    [
        {"prevalence": 0.2},
        {"prevalence": (0.15, 0.25)},
        {},
        {"prevalence": 0.2, "target": "population"},
        {"assume": uc.RandomLabels(unlabeled_prevalence=0.12, sampling="case-control")},
        {"label_frequency": 0.5, "cluster": np.arange(3000) // 3},
    ],
    ids=str,
)
def test_weights_of_one_size_change_nothing(size, top, options):
    y, score, _, _ = draw(2)
    plain = uc.evaluate(y, score, **options, top=top)
    same = uc.evaluate(y, score, sample_weight=np.full(len(y), size), **options, top=top)
    for one, other in zip(plain.top_rows, same.top_rows, strict=True):
        expected = pytest.approx(one.estimate.value, rel=1e-9, nan_ok=True)
        assert other.estimate.value == expected
        assert other.naive == pytest.approx(one.naive, rel=1e-9, nan_ok=True)
        width = one.estimate.high - one.estimate.low
        for end in ("low", "high"):
            gap = getattr(other.estimate, end) - getattr(one.estimate, end)

            assert abs(gap) <= 1e-3 * width


def test_a_row_of_weight_0_is_left_out():
    y, score, weight, _ = draw(3)
    weight[::3] = 0.0
    kept = weight > 0
    options = {"prevalence": 0.2, "top": 100}
    found = uc.evaluate(y, score, sample_weight=weight, **options)
    expected = uc.evaluate(y[kept], score[kept], sample_weight=weight[kept], **options)
    for one, other in zip(found.top_rows, expected.top_rows, strict=True):
        assert one.estimate.value == pytest.approx(other.estimate.value)


def sources(frame):
    """The same rows, counted in every way that counts weights."""
    y, s, w = (frame[name].to_numpy() for name in ("y", "s", "w"))
    names = {"label": "y", "score": "s", "weight": "w"}
    half = len(frame) // 2
    parts = [
        uc.ScoreCounts.from_rows(y[some], s[some], sample_weight=w[some])
        for some in (slice(half), slice(half, None))
    ]
    yield "rows", uc.ScoreCounts.from_rows(y, s, sample_weight=w)
    yield "sum", parts[0] + parts[1]
    yield "pandas", uc.count_scores(frame, **names)
    yield "polars", uc.count_scores(pl.from_pandas(frame).lazy(), **names)
    yield "duckdb", uc.count_scores(duckdb.from_df(frame), **names)
    two = uc.count_scores(
        duckdb.from_df(frame.assign(other=s)), label="y", score=["other", "s"], weight="w"
    )
    yield "two scores", two["s"]


def test_counts_carry_the_rows_from_every_engine(tmp_path):
    y, score, weight, _ = draw(4)
    weight[::7] = 0.0
    frame = pd.DataFrame({"y": y, "s": score, "w": weight})
    expected = uc.evaluate(y, score, sample_weight=weight, prevalence=0.2, top=300)
    for name, counts in sources(frame):
        found = uc.evaluate(counts, prevalence=0.2, top=300)
        for one, other in zip(found.top_rows, expected.top_rows, strict=True):
            assert one.estimate.value == pytest.approx(other.estimate.value), name
            assert one.estimate.low == pytest.approx(other.estimate.low), name
        uc.write_counts(counts, tmp_path / "counts.parquet")
        again = uc.load_counts(tmp_path / "counts.parquet")
        np.testing.assert_array_equal(again.rows, counts.rows, name)
    frame.to_parquet(tmp_path / "rows.parquet")
    read = uc.read_counts(tmp_path / "rows.parquet", label="y", score="s", weight="w")
    np.testing.assert_array_equal(read.rows, counts.rows)


def test_frames_that_are_evaluated_where_they_lie_are_counted_once_more():
    y, score, weight, _ = draw(5, digits=6)
    frame = pl.DataFrame({"y": y, "s": score, "w": weight}).lazy()
    found = uc.evaluate(
        frame, label="y", score="s", sample_weight="w", unlabeled=None, prevalence=0.2, top=300
    )
    assert found.counts.compact
    recall, naive = expected_values(y, score, weight, 300)
    assert found["recall"].value == pytest.approx(recall)
    assert found.top_rows[0].naive == pytest.approx(naive)


@pytest.mark.parametrize("made", ["binned", "sums alone"])
def test_counts_that_know_only_weights_are_refused(made):
    y, score, weight, _ = draw(6, digits=6)
    if made == "sums alone":
        known = uc.ScoreCounts.from_rows(y, score, sample_weight=weight)
        counts = uc.ScoreCounts.from_counts(
            known.score,
            known.positive,
            known.negative,
            known.unlabeled,
            squared_weight=known.squared_weight,
        )
    else:
        frame = pl.DataFrame({"y": y, "s": score, "w": weight}).lazy()
        counts = uc.count_scores(frame, label="y", score="s", weight="w", bins=50)
    evaluation = uc.evaluate(counts, prevalence=0.2)
    with pytest.raises(uc.InputError, match="do not say how many rows they are of") as refused:
        evaluation.at(top=300)
    assert "compact=False" in refused.value.hint
    compact = uc.ScoreCounts.from_rows(y, score, sample_weight=weight, compact=True)
    with pytest.raises(uc.InputError, match="inside a merged cell"):
        uc.evaluate(compact, prevalence=0.2).at(top=1500)


def test_numbers_of_rows_are_checked():
    table = {"score": [2, 1], "positive": [3.0, 0], "negative": [0, 0], "unlabeled": [1.0, 4]}
    squares = {"squared_weight": (9.0, 0.0, 17.0)}
    for rows in ([[1, 0], [0, 0]], [[0, 0], [0, 0], [1, 1]], [[-1, 0], [0, 0], [1, 1]]):
        with pytest.raises(uc.InputError, match="rows must hold numbers of positive"):
            uc.ScoreCounts.from_counts(**table, **squares, rows=rows)
    with pytest.raises(uc.InputError, match="pass squared_weight too"):
        uc.ScoreCounts.from_counts(**table, rows=[[1, 0], [0, 0], [1, 1]])
    counts = uc.ScoreCounts.from_counts(**table, **squares, rows=[[1, 0], [0, 0], [1, 1]])
    assert counts.rows.tolist() == [[1, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize("more", [[], ["--cluster", "c"]])
def test_the_command_flags_rows(more, tmp_path, capsys):
    y, score, weight, _ = draw(8, digits=4)
    path = tmp_path / "rows.parquet"
    frame = pd.DataFrame({"y": y, "s": score, "w": weight, "c": np.arange(len(y))})
    frame.to_parquet(path)
    columns = ["--label", "y", "--score", "s", "--weight", "w", "--prevalence", "20%"]
    asked = [str(path), *columns, "--top", "300", *more, "--json", str(tmp_path / "found.json")]
    assert main(["evaluate", *asked, "--html", str(tmp_path / "page.html")]) == 0
    assert "the 300 highest rows (10 %)" in " ".join(capsys.readouterr().out.split())
    (model,) = json.loads((tmp_path / "found.json").read_text())["models"]
    recall, naive = expected_values(y, score, weight, 300)
    top = {row["metric"]: row for row in model["top"]}
    assert top["recall"]["estimate"] == pytest.approx(recall)
    assert top["precision"]["naive"] == pytest.approx(naive)


@pytest.mark.parametrize("target", ["dataset", "population"])
def test_intervals_of_unequal_weights_hold_the_truth(target):
    """100 draws of labels and weights, and of rows for a population: 95 % within four errors."""
    held = dict.fromkeys(TOP_METRICS, 0)
    large = draw(99, n=400_000, digits=6)
    k, part = 200, 0.1
    for seed in range(100):
        y, score, weight, truth = draw([17, seed], n=2000, digits=6)
        found = uc.evaluate(
            y, score, sample_weight=weight, label_frequency=0.5, target=target, top=k
        )
        if target == "population":
            y, score, weight, truth = large
        cut = np.quantile(score, 1 - part)
        flagged = score >= cut if target == "population" else score >= np.sort(score)[-k]
        recall = weight[flagged & truth].sum() / weight[truth].sum()
        precision = weight[flagged & truth].sum() / weight[flagged].sum()
        lift = recall / (weight[flagged].sum() / weight.sum())
        for row in found.top_rows:
            true = {"recall": recall, "precision": precision, "lift": lift}[row.metric]
            held[row.metric] += true in row.estimate.interval
    assert min(held.values()) >= 95 - 4 * np.sqrt(100 * 0.95 * 0.05)
