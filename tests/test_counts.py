import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undercount as uc

Y = [1, 0, None, 1, None, 0, 1]
SCORE = [0.9, 0.9, 0.5, 0.5, 0.5, 0.1, 0.7]


def as_tuple(counts):
    columns = (counts.score, counts.positive, counts.negative, counts.unlabeled)
    return tuple(tuple(column.tolist()) for column in columns)


EXPECTED = (
    (0.9, 0.7, 0.5, 0.1),
    (1.0, 1.0, 1.0, 0.0),
    (1.0, 0.0, 0.0, 1.0),
    (0.0, 0.0, 2.0, 0.0),
)


def nan_labels():
    return np.array([np.nan if label is None else label for label in Y])


LABELS = {
    "list": Y,
    "numpy float": nan_labels(),
    "numpy object": np.array(Y, dtype=object),
    "pandas float": pd.Series(nan_labels()),
    "pandas nullable": pd.Series(Y, dtype="Int64"),
    "pandas boolean": pd.Series([None if v is None else bool(v) for v in Y], dtype="boolean"),
    "pandas arrow": pd.Series(pa.array(Y), dtype=pd.ArrowDtype(pa.int8())),
    "pandas object": pd.Series([*Y[:-1], 1], dtype=object),
    "polars": pl.Series(Y),
    "polars boolean": pl.Series([None if v is None else bool(v) for v in Y]),
    "pyarrow": pa.array(Y),
    "pyarrow chunked": pa.chunked_array([Y[:3], Y[3:]]),
    "masked": np.ma.array([1, 0, 9, 1, 9, 0, 1], mask=[0, 0, 1, 0, 1, 0, 0]),
}
SCORES = {
    "list": SCORE,
    "float64": np.array(SCORE),
    "strided": np.repeat(SCORE, 2)[::2],
    "pandas": pd.Series(SCORE, index=list("gfedcba")),
    "polars": pl.Series(SCORE),
    "pyarrow": pa.array(SCORE),
    "pyarrow chunked": pa.chunked_array([SCORE[:2], SCORE[2:]]),
    "object": np.array(SCORE, dtype=object),
}


@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_every_container_are_read_alike(labels):
    assert as_tuple(uc.ScoreCounts.from_rows(LABELS[labels], SCORE)) == EXPECTED


@pytest.mark.parametrize("scores", SCORES)
def test_scores_of_every_container_are_read_alike(scores):
    assert as_tuple(uc.ScoreCounts.from_rows(Y, SCORES[scores])) == EXPECTED


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64, bool])
def test_score_types(dtype):
    counts = uc.ScoreCounts.from_rows([1, None, 1], np.array([1, 0, 1], dtype=dtype))
    assert as_tuple(counts) == ((1.0, 0.0), (2.0, 0.0), (0.0, 0.0), (0.0, 1.0))


@pytest.mark.parametrize("value", [0, -1, 2, -9.5])
def test_unlabeled_names_the_value(value):
    counts = uc.ScoreCounts.from_rows([1, value, 1, value], [4, 3, 2, 1], unlabeled=value)
    assert (counts.n_positive, counts.n_negative, counts.n_unlabeled) == (2, 0, 2)


def test_missing_is_unlabeled_beside_a_named_value():
    counts = uc.ScoreCounts.from_rows([1, -1, None, 0], [4, 3, 2, 1], unlabeled=-1)
    assert (counts.n_positive, counts.n_negative, counts.n_unlabeled) == (1, 1, 2)


def test_negative_zero_is_zero_and_infinities_are_ordered():
    counts = uc.ScoreCounts.from_rows([1, None, 1, None], [-0.0, 0.0, np.inf, -np.inf])
    assert as_tuple(counts)[0] == (np.inf, 0.0, -np.inf)
    assert not np.signbit(counts.score[1])
    assert counts.positive.tolist() == [1, 1, 0]


def test_from_counts_in_any_order_with_repeats_equals_from_rows():
    counts = uc.ScoreCounts.from_counts(
        [0.1, 0.5, 0.9, 0.7, 0.5], [0, 1, 1, 1, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 1]
    )
    assert as_tuple(counts) == EXPECTED


def test_weights_are_summed_and_zero_means_no_row():
    counts = uc.ScoreCounts.from_rows([1, 1, None], [2, 2, 1], sample_weight=[0.5, 1.5, 0])
    assert as_tuple(counts) == ((2.0,), (2.0,), (0.0,), (0.0,))
    assert counts.weighted
    assert counts.effective_size("positive") == pytest.approx(4 / 2.5)


def test_parts_add_up_to_the_whole():
    whole = uc.ScoreCounts.from_rows(Y, SCORE)
    parts = uc.ScoreCounts.from_rows(Y[:3], SCORE[:3]) + uc.ScoreCounts.from_rows(Y[3:], SCORE[3:])
    assert as_tuple(parts) == as_tuple(whole)
    nothing = uc.ScoreCounts.from_counts([], [], [], [])
    assert as_tuple(whole + nothing) == as_tuple(nothing + whole) == as_tuple(whole)


def test_compact_merges_only_unlabeled_neighbours():
    y = [None, None, 1, None, None, None, 0, None, None]
    score = [9, 8, 7, 7, 6, 5, 4, 3, 2]
    counts = uc.ScoreCounts.from_rows(y, score, compact=True)
    assert counts.unlabeled.tolist() == [2, 1, 2, 0, 2]
    assert counts.positive.tolist() == [0, 1, 0, 0, 0]
    assert counts.negative.tolist() == [0, 0, 0, 1, 0]
    assert counts.compact
    assert counts.auc_error == 0


def test_compact_threshold_inside_a_merged_cell_is_refused_and_a_knot_helps():
    y, score = [None, 1, None, None, None, 1], [9, 8, 6, 5, 4, 2]
    shares = uc.Shares(0.2)
    counts = uc.ScoreCounts.from_rows(y, score, compact=True)
    with pytest.raises(uc.InputError, match="knots="):
        uc.mixture_curve(counts, shares, clean=False).at(5.0)
    knotted = uc.ScoreCounts.from_rows(y, score, compact=True, knots=[5.0])
    full = uc.ScoreCounts.from_rows(y, score)
    at_knot = uc.mixture_curve(knotted, shares, clean=False).at(5.0)
    assert at_knot == uc.mixture_curve(full, shares, clean=False).at(5.0)


def test_compact_counts_add_only_where_no_label_falls_into_a_gap():
    left = uc.ScoreCounts.from_rows([1, None, None, 1], [9, 6, 5, 1], compact=True)
    inside = uc.ScoreCounts.from_rows([1, None], [5.5, 0.5])
    with pytest.raises(uc.InputError, match="merged"):
        _ = left + inside
    with pytest.raises(uc.InputError, match="merged"):
        _ = inside + left
    outside = uc.ScoreCounts.from_rows([1, None, None, 1], [9, 7, 5.5, 1], compact=True)
    total = left + outside
    full = uc.ScoreCounts.from_rows(
        [1, 1, None, None, None, None, 1, 1], [9, 9, 7, 6, 5.5, 5, 1, 1]
    )
    assert total.unlabeled.tolist() == [0, 4, 0]
    assert uc.naive_curve(total).roc_auc == pytest.approx(uc.naive_curve(full).roc_auc, abs=1e-12)


def test_bounds_of_compact_counts_are_valid_but_may_be_wider():
    # One of the three unlabeled rows is positive. At worst it scores 0: of the four pairs the
    # labelled row wins two and the hidden one ties with one, so the AUC is 2.5/4.
    rows = [1, None, None, None], [2, 1, 0, 0]
    full = uc.bound_curve(uc.ScoreCounts.from_rows(*rows), uc.Shares(0.2)).roc_auc
    compact = uc.bound_curve(uc.ScoreCounts.from_rows(*rows, compact=True), uc.Shares(0.2)).roc_auc
    assert full.low == pytest.approx(2.5 / 4)
    assert compact.low < full.low
    assert compact.high >= full.high


def test_coarsened_bound_holds_and_heads_stay_exact():
    rng = np.random.default_rng(0)
    for n_bins in (1, 3, 17, 200):
        y = np.where(rng.random(500) < 0.2, 1.0, np.nan)
        score = np.where(np.isnan(y), rng.normal(size=500), rng.normal(1, 1, 500))
        full = uc.ScoreCounts.from_rows(y, score)
        coarse = full.coarsened(n_bins)
        assert len(coarse.score) <= n_bins
        error = abs(uc.naive_curve(coarse).roc_auc - uc.naive_curve(full).roc_auc)
        assert error <= coarse.auc_error + 1e-12
        for cell, head in zip(coarse.score, coarse.cumulative()[2][1:], strict=True):
            assert head == np.sum(np.isnan(y) & (score >= cell))


def test_coarsened_counts_of_one_grid_add_with_the_bound():
    rng = np.random.default_rng(1)
    score = rng.integers(0, 50, 400).astype(float)
    y = np.where(rng.random(400) < 0.3, 1.0, np.nan)
    full = uc.ScoreCounts.from_rows(y, score)
    parts = []
    for rows in (slice(0, 200), slice(200, 400)):
        cells = (score[rows] // 5) * 5
        known = ~np.isnan(y[rows])
        parts.append(
            uc.ScoreCounts.from_counts(
                np.arange(10) * 5.0,
                np.bincount((cells[known] / 5).astype(int), minlength=10),
                np.zeros(10),
                np.bincount((cells[~known] / 5).astype(int), minlength=10),
                merged=np.ones(10, dtype=bool),
            )
        )
    total = parts[0] + parts[1]
    error = abs(uc.naive_curve(total).roc_auc - uc.naive_curve(full).roc_auc)
    assert 0 < error <= total.auc_error


def test_immutable():
    counts = uc.ScoreCounts.from_rows(Y, SCORE)
    with pytest.raises(ValueError, match="read-only"):
        counts.score[0] = 3
    with pytest.raises(AttributeError):
        counts.positive = counts.negative


def test_repr_says_what_the_data_is():
    counts = uc.ScoreCounts.from_rows(Y, SCORE)
    assert repr(counts) == (
        "ScoreCounts: 7 rows: 3 labelled positive, 2 labelled negative, 2 unlabeled; "
        "4 distinct scores from 0.1 to 0.9"
    )
    assert "AUC within" in repr(counts.coarsened(2))
    assert repr(uc.ScoreCounts.from_counts([], [], [], [])) == "ScoreCounts: no rows"


BAD_ROWS = {
    "lengths differ": (([1, 0], [1.0]), {}, "same length; got 2 and 1"),
    "empty": (([], []), {}, "at least one row"),
    "text labels": ((["a", "b"], [1, 2]), {}, "got text, for example 'a'; recode"),
    "text scores": (([1, 0], ["x", "y"]), {}, "score must hold real numbers; got text"),
    "text among numbers": (([1, "0", None], [1, 2, 3]), {}, "not text; got '0'"),
    "two-dimensional": (([1, 0], np.ones((2, 2))), {}, r"score\[:, 1\]"),
    "ragged": (([1, 0], [[1], [1, 2]]), {}, "1-D"),
    "complex": (([1, 0], [1j, 2]), {}, "complex"),
    "nan scores": (([1, 0, 1], [np.nan, 1, np.nan]), {}, "2 NaN, first at row 0, 2"),
    "unknown label": (([1, -1, 0], [1, 2, 3]), {}, "pass unlabeled=-1"),
    "unlabeled=1": (([1, 0], [1, 2]), {"unlabeled": 1}, "must not be 1"),
    "huge integers": (([1, 0], [2**60, 1]), {}, "2\\*\\*53"),
    "negative weight": (([1, 0], [1, 2]), {"sample_weight": [1, -2]}, "got -2.0 at row 1"),
    "infinite weight": (([1, 0], [1, 2]), {"sample_weight": [np.inf, 1]}, "got inf at row 0"),
    "zero weights": (([1, 0], [1, 2]), {"sample_weight": [0, 0]}, "must not be 0 for every"),
    "weights too short": (([1, 0], [1, 2]), {"sample_weight": [1]}, "one value a row"),
    "dates": (([1, 0], np.array(["2020", "2021"], "datetime64[Y]")), {}, "dates"),
    "dictionary": (([1, 0], {"a": 1}), {}, "1-D"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_get_one_clear_message(case):
    arguments, keywords, message = BAD_ROWS[case]
    with pytest.raises(uc.InputError, match=message):
        uc.ScoreCounts.from_rows(*arguments, **keywords)


def test_no_positives_no_unlabeled_all_missing_one_row():
    shares = uc.Shares(0.1)
    for y, message in (
        ([None, None], "labelled positive row is needed"),
        ([1, 0], "pass unlabeled=0"),
        ([1], "at least one unlabeled"),
        (
            [1, 0],
            r"nothing is hidden and the plain .* pass assume=RandomAudit\(\) to evaluate",
        ),
    ):
        counts = uc.ScoreCounts.from_rows(y, list(range(len(y))))
        with pytest.raises(uc.InputError, match=message):
            uc.mixture_curve(counts, shares)


def test_bad_counts():
    with pytest.raises(uc.InputError, match="negative must be finite"):
        uc.ScoreCounts.from_counts([1], [1], [-1], [0])
    with pytest.raises(uc.InputError, match="one value a row"):
        uc.ScoreCounts.from_counts([1, 2], [1], [1], [0])
    with pytest.raises(uc.InputError, match="n_bins"):
        uc.ScoreCounts.from_counts([1, 2], [1, 0], [1, 0], [0, 0]).coarsened(0)


def test_light_rows_of_several_scores_are_merged_like_heavy_ones():
    # Rows of weight 1/1024: many of them in one cell still weigh less than one row.
    rng = np.random.default_rng(2)
    y = np.where(rng.random(40_000) < 0.01, 1.0, np.nan)
    weight = np.full(y.size, 1 / 1024)
    options = {"sample_weight": weight, "compact": True}
    counts = uc.ScoreCounts.from_rows(y, rng.permutation(y.size), **options)
    several = (counts.positive == 0) & (counts.unlabeled > 1 / 1024)
    assert several.sum() > 100
    assert counts.merged[several].all()
