"""Rows are drawn alike by every engine: as many as asked, unlabeled, each with the same chance."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from undercount.count.draw import draw_rows, sample_scores, stratum_of, with_position
from undercount.errors import InputError

EDGES = np.array([0.5, 0.0, -0.25, -np.inf])


def pools(columns):
    """Places of the unlabeled rows of each stratum."""
    free = np.isnan(columns["y"])
    stratum = stratum_of(columns["s"], EDGES)
    return [np.flatnonzero(free & (stratum == place)) for place in range(len(EDGES))]


def draw(frame, columns, sizes, **options):
    numbers = [len(pool) for pool in pools(columns)]
    return draw_rows(
        frame,
        label="y",
        score=["s", "t"],
        edges=EDGES,
        n_unlabeled=np.array(numbers),
        sizes=np.array(sizes),
        **options,
    )


def test_each_engine_draws_what_was_asked(constructor, columns):
    sizes = [12, 7, 0, 5]
    made = draw(constructor(columns), columns, sizes, keep=["g", "h", "y"], seed=5)
    np.testing.assert_array_equal(np.bincount(made.stratum, minlength=4), sizes)
    place = made.row - 1
    assert len(set(place)) == sum(sizes)
    assert np.isnan(columns["y"][place]).all()
    np.testing.assert_array_equal(made.scores["s"], columns["s"][place] + 0.0)
    np.testing.assert_array_equal(made.scores["t"], columns["t"][place])
    assert made.kept["g"] == columns["g"][place].tolist()
    assert [float(value) for value in made.kept["h"]] == columns["h"][place].tolist()
    assert set(made.kept["y"]) == {""}


def test_all_rows_of_a_stratum_can_be_drawn_and_some_left_out(constructor, columns):
    sizes = [len(pool) for pool in pools(columns)]
    made = draw(constructor(columns), columns, sizes)
    assert sorted(made.row - 1) == sorted(np.concatenate(pools(columns)))
    sizes[0] -= 3
    left_out = pools(columns)[0][:3] + 1
    known = dict(zip(left_out.tolist(), columns["s"][left_out - 1].tolist(), strict=True))
    made = draw(constructor(columns), columns, sizes, skip=known)
    assert not set(left_out) & set(made.row)
    assert len(made.row) == sum(sizes)
    moved = {row + 1: score for row, score in known.items()}
    with pytest.raises(InputError, match="rows must stand in the order of the plan"):
        draw(constructor(columns), columns, sizes, skip=moved)


def test_the_order_of_a_design_takes_the_first_of_each_stratum_first(columns):
    made = draw(pd.DataFrame(columns), columns, [3, 2, 1, 0])
    mixed = made.ordered(np.array([1, 0, 0, 2, 1, 0]))
    np.testing.assert_array_equal(mixed.stratum, [1, 0, 0, 2, 1, 0])
    np.testing.assert_array_equal(mixed.row, made.row[[3, 0, 1, 5, 4, 2]])


@pytest.mark.parametrize("name", ["pandas", "duckdb"])
def test_rows_of_a_stratum_have_the_same_chance_alone_and_in_pairs(name, engines, columns):
    """Numbers of times each row and each pair comes are spread as those of fair draws are."""
    n_draws, sizes = 30, [25, 10, 10, 10]
    frame = engines[name](columns)
    pool = pools(columns)[0]
    taken = np.zeros((n_draws, len(pool)))
    for seed in range(n_draws):
        made = draw(frame, columns, sizes, seed=seed)
        taken[seed] = np.isin(pool, made.row - 1)
    chance = sizes[0] / len(pool)
    # A row comes by a binomial number of times; the mean of squared deviations is chi-square.
    spread = ((taken.sum(axis=0) - n_draws * chance) ** 2).mean()
    ratio = spread / (n_draws * chance * (1 - chance))
    assert abs(ratio - 1) < 4.5 * np.sqrt(2 / len(pool))
    pairs = (taken.T @ taken)[np.triu_indices(len(pool), 1)]
    both = chance * (sizes[0] - 1) / (len(pool) - 1)
    ratio = ((pairs - n_draws * both) ** 2).mean() / (n_draws * both * (1 - both))
    assert abs(ratio - 1) < 6 * np.sqrt(2 / len(pairs))


def test_a_partition_of_dask_draws_its_own_rows(columns):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame(columns), npartitions=4)
    sizes = [12, 7, 0, 5]
    made = draw(frame, columns, sizes, keep=["t"])
    np.testing.assert_array_equal(np.bincount(made.stratum, minlength=4), sizes)
    place = [int(np.flatnonzero(columns["t"] == value)[0]) for value in made.scores["t"]]
    assert len(set(place)) == sum(sizes)
    assert np.isnan(columns["y"][place]).all()
    assert (made.row == 0).all()
    again = draw(frame, columns, sizes, keep=["t"])
    assert again.kept == made.kept


def test_rows_without_a_score_are_never_drawn():
    y, score = np.full(200, np.nan), np.arange(200.0)
    score[::2] = np.nan
    table = duckdb.from_df(pd.DataFrame({"y": y, "s": score}))
    made = draw_rows(
        table,
        label="y",
        score=["s"],
        edges=np.array([0.0]),
        n_unlabeled=np.array([100]),
        sizes=np.array([100]),
    )
    assert len(made.row) == 100
    assert not np.isnan(made.scores["s"]).any()


def test_a_sample_of_scores_is_of_unlabeled_rows(constructor, columns):
    found = sample_scores(constructor(columns), label="y", score="t", most=10**6)
    expected = np.sort(columns["t"][np.isnan(columns["y"])])
    np.testing.assert_array_equal(found, expected)


def test_positions_of_one_relation_do_not_change_those_of_another():
    connection = duckdb.connect()
    every = connection.sql("SELECT range AS a, range * 2 AS b FROM range(5)")
    first, second = with_position(every, 0), with_position(every.filter("a > 2").select("a"), 1)
    assert [row[:3] for row in first.fetchall()] == [(a, 2 * a, a + 1) for a in range(5)]
    assert [row[:2] for row in second.fetchall()] == [(3, 1), (4, 2)]


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="there is no column 'id'"):
        draw_rows(
            pd.DataFrame({"y": [1.0, np.nan], "s": [1.0, 2.0]}),
            label="y",
            score=["s"],
            edges=np.array([0.0]),
            n_unlabeled=np.array([1]),
            sizes=np.array([1]),
            keep=["id"],
        )
