"""Draw unlabeled rows at random within strata of the score, where the rows live, in one pass.

Each row gets a random key; a row may travel only if its key is below a limit that lets a little
more than the wanted rows of its stratum through. Of those that came, the smallest keys win. So
nothing is sorted or loaded, and what travels is as small as the plan.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.count.arrays import is_missing
from undercount.count.frames import check_columns, open_frame
from undercount.count.groups import UNLABELED, ColumnRoles, check_types, code_labels, is_nan
from undercount.count.queries import CODE, SCORE, Arrays, Frame, collect, transform_rows
from undercount.count.stored_columns import check_names
from undercount.curve import FloatArray
from undercount.errors import InputError

IntArray = NDArray[np.int64]
KEY, ROW = "undercount_key", "undercount_row"
# How many more rows than wanted are let through: standard deviations of their number, and some.
SPARE, MORE = 6.0, 16.0
# Keys are fractions of the whole numbers that engines make of a row.
SPAN = 2.0**64
# Where there is no hash: a prime, how often its powers mix, and a column for them.
PRIME, ROUNDS, POWER = 2**31 - 1, 3, "undercount_power"
# Scores from which the borders of strata are chosen.
SAMPLE_ROWS = 16_384


@dataclass(frozen=True)
class DrawnRows:
    """Hold rows of each stratum in random order: those of stratum 0, of stratum 1, and so on.

    Attributes
    ----------
    stratum : array of int
        Stratum of each row.
    scores : dict
        Name of each score column → scores of the rows.
    row : array of int
        Position in the data from 1; 0 where rows have no order.
    kept : dict
        Columns that were asked for, as text; empty where a value is missing.
    """

    stratum: IntArray
    scores: dict[str, FloatArray]
    row: IntArray
    kept: dict[str, list[str]]

    def ordered(self, order: NDArray[Any]) -> "DrawnRows":
        """Put the rows into an order of strata, the first of each stratum first."""
        place = np.empty(len(order), np.int64)
        place[np.argsort(order, kind="stable")] = np.arange(len(order))
        return DrawnRows(
            self.stratum[place],
            {name: score[place] for name, score in self.scores.items()},
            self.row[place],
            {name: [column[at] for at in place] for name, column in self.kept.items()},
        )


def draw_rows(
    frame: Any,
    *,
    label: str,
    score: Sequence[str],
    edges: FloatArray,
    n_unlabeled: NDArray[Any],
    sizes: NDArray[Any],
    unlabeled: float | None = None,
    keep: Sequence[str] = (),
    seed: int = 0,
    skip: Mapping[int, float] | None = None,
) -> DrawnRows:
    """Draw unlabeled rows at random, without replacement, within strata of the first score.

    Parameters
    ----------
    frame : any frame that `count_scores` takes
        Rows without a score of every model are left out. A DuckDB relation may have its own
        columns of keys and positions (`with_position`).
    label, unlabeled
        As for `count_scores`.
    score : sequence of str
        Columns of scores; strata are of the first.
    edges : array
        Lowest score of each stratum, descending; what is below the last belongs to the last.
    n_unlabeled, sizes : array of int
        Rows in each stratum, and how many of them to draw.
    keep : sequence of str
        More columns to bring along.
    seed : int
        The same rows in the same engine give the same draw.
    skip : mapping of int to float, optional
        Positions of rows that must not be drawn, and their scores; refused if these are others.
    """
    table = open_frame(frame)
    roles = ColumnRoles(label, tuple(score), None, unlabeled, ())
    check_columns([label, *score, *keep], table.collect_schema().names(), "the frame")
    check_names(table, [label, *score, *keep])
    check_types(table, roles)
    keyed = _with_keys(table, [label, *score, *keep], seed)
    n_wanted = np.asarray(sizes, np.float64)
    rows, factor = np.maximum(np.asarray(n_unlabeled, np.float64), 1.0), 1.0
    seen = np.array(sorted(skip or ()), np.int64)
    while True:
        limit = factor * (n_wanted + SPARE * np.sqrt(n_wanted) + MORE + len(seen)) / rows
        limit[n_wanted == 0] = 0.0
        gates = KeyGates.of(edges, np.minimum(limit, 2.0), rows, seen)
        drawn = _let_through(keyed, roles, keep, gates)
        _check_rows_in_place(drawn, skip or {})
        chosen = _smallest_keys(drawn, edges, n_wanted.astype(np.int64), seen)
        if len(chosen) == n_wanted.sum() or np.all(limit[n_wanted > 0] >= 1):
            break
        factor *= 4.0  # one draw in millions
    return _make_rows(drawn, chosen, roles, keep, edges)


def sample_scores(
    frame: Any, *, label: str, score: str, unlabeled: float | None = None, most: int = SAMPLE_ROWS
) -> FloatArray:
    """Return scores of about so many unlabeled rows, drawn at random in one pass."""
    return np.sort(sample_models(frame, label, [score], unlabeled, most)[0])


def sample_models(
    frame: Any,
    label: str,
    scores: Sequence[str],
    unlabeled: float | None = None,
    most: int = SAMPLE_ROWS,
) -> list[FloatArray]:
    """Return the scores of about so many unlabeled rows, the same rows by every model."""
    table = open_frame(frame)
    roles = ColumnRoles(label, tuple(scores), None, unlabeled, ())
    check_columns([label, *scores], table.collect_schema().names(), "the frame")
    check_names(table, [label, *scores])
    check_types(table, roles)
    rows = table.select(nw.len().alias(ROW))
    total = int(collect(rows.lazy() if isinstance(rows, nw.DataFrame) else rows)[ROW][0])
    keyed = _with_keys(table, [label, *scores], 0)
    drawn = _let_through(keyed, roles, (), KeyGates((0.0,), (min(most / max(total, 1), 2.0),)))
    return [drawn[f"{SCORE}{place}"].astype(np.float64) for place in range(len(scores))]


def with_position(relation: Any, seed: int) -> Any:
    """Give the rows of a DuckDB relation their position from 1 and a random key."""
    # Projections: a query has a name, and another query by that name would change these rows.
    numbered = relation.project(f'*, row_number() OVER () AS "{ROW}"')
    key = f'hash(xor("{ROW}", {_mask(seed)}))::DOUBLE / {SPAN!r}'
    return numbered.project(f'*, {key} AS "{KEY}"')


def _mask(seed: int) -> int:
    """Return bits by which the hashes of one seed have nothing to do with those of another."""
    return int(np.random.default_rng(seed).integers(2**62))


def _with_keys(table: nw.DataFrame[Any] | Frame, names: Sequence[str], seed: int) -> Frame:
    """Give each row a random key, and its position where the engine knows one."""
    if KEY in table.collect_schema().names():
        return table.lazy() if isinstance(table, nw.DataFrame) else table
    table = table.select(*dict.fromkeys(names))
    if isinstance(table, nw.DataFrame):
        keys = np.random.default_rng(seed).random(len(table))
        columns = {KEY: keys, ROW: np.arange(1, len(table) + 1)}
        space = table.implementation
        series = [nw.new_series(n, values, backend=space) for n, values in columns.items()]
        index = table.to_native().index if space.is_pandas_like() else None
        if index is not None:
            series = [
                nw.from_native(s.to_native().set_axis(index), series_only=True) for s in series
            ]
        return table.with_columns(*series).lazy()
    engine = table.implementation
    for is_engine, add in _ENGINES.items():
        if getattr(engine, is_engine)():
            keyed: Frame = nw.from_native(add(table.to_native(), seed))
            return keyed
    raise AssertionError(engine)  # `open_frame` lets no other in


def _key_polars(native: Any, seed: int) -> Any:
    import polars as pl  # noqa: PLC0415 - only where it is there already

    key = pl.col(ROW).hash(seed).cast(pl.Float64) / SPAN
    return native.with_row_index(ROW, offset=1).with_columns(key.alias(KEY))


def _key_spark(native: Any, seed: int) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415 - likewise

    return native.withColumn(KEY, functions.rand(seed)).withColumn(ROW, functions.lit(0))


def _key_dask(native: Any, seed: int) -> Any:
    def add(part: Any, partition_info: Any = None) -> Any:
        number = 0 if partition_info is None else partition_info["number"]
        keys = np.random.default_rng([seed, number]).random(len(part))
        return part.assign(**{KEY: keys, ROW: np.zeros(len(part), np.int64)})

    return native.map_partitions(add, meta=add(native._meta))  # noqa: SLF001 - how Dask calls it


def _key_ibis(native: Any, seed: int) -> Any:
    import ibis  # noqa: PLC0415 - likewise

    numbered = native.mutate(**{ROW: ibis.row_number() + 1})
    if not native.get_backend().has_operation(ibis.expr.operations.Hash):
        return _key_arithmetic(numbered, seed)
    key = (numbered[ROW] ^ _mask(seed)).hash().cast("float64") / SPAN + 0.5
    return numbered.mutate(**{KEY: key})


def _key_arithmetic(numbered: Any, seed: int) -> Any:
    """Mix the positions of rows by powers modulo a prime, for databases without a hash (SQLite).

    x → x⁵ + c permutes the numbers below 2³¹ - 1, as 5 does not divide what is one less; squares
    of them fit into 64 bits.
    """
    rng = np.random.default_rng(seed)
    table = numbered.mutate(**{KEY: (numbered[ROW] + int(rng.integers(PRIME))) % PRIME})
    for _ in range(ROUNDS):
        shift = int(rng.integers(PRIME))
        table = table.mutate(**{POWER: table[KEY] * table[KEY] % PRIME})
        table = table.mutate(**{POWER: table[POWER] * table[POWER] % PRIME})
        table = table.mutate(**{KEY: (table[POWER] * table[KEY] % PRIME + shift) % PRIME})
    return table.mutate(**{KEY: table[KEY].cast("float64") / PRIME}).drop(POWER)


_ENGINES: dict[str, Callable[[Any, int], Any]] = {
    "is_duckdb": with_position,
    "is_polars": _key_polars,
    "is_pyspark": _key_spark,
    "is_dask": _key_dask,
    "is_ibis": _key_ibis,
}


def _check_rows_in_place(found: Arrays, seen: Mapping[int, float]) -> None:
    """Refuse rows that were seen at other scores: those of the plan stand elsewhere now."""
    place, score = found[ROW].astype(np.int64).tolist(), found[f"{SCORE}0"].astype(np.float64)
    score_at = dict(zip(place, score.tolist(), strict=True)) if seen else {}
    for row, before in seen.items():
        if score_at.get(row) != before:
            now = f"has {score_at[row]:.6g} now" if row in score_at else "is no unlabeled row now"
            raise InputError(
                f"row {row:,} was reviewed at score {before:.6g} and {now}: further rows are drawn "
                "by their place, and rows must stand in the order of the plan; restore it, or plan "
                "anew",
                argument="reviews",
            )


class KeyGates(NamedTuple):
    """Say which keys are let through at which score: below the limit of the row's stratum.

    Attributes
    ----------
    edges, limits : tuple of float
        Lowest score of each stratum, and its limit.
    first : int
        Strata from here on share the largest of their limits as a first gate, so that the limit of
        its own stratum is asked of few rows.
    seen : tuple of int
        Positions of rows that are let through whatever their key is.
    """

    edges: tuple[float, ...]
    limits: tuple[float, ...]
    first: int = 0
    seen: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, edges: FloatArray, limits: FloatArray, rows: FloatArray, seen: IntArray
    ) -> "KeyGates":
        """Choose the first gate that the fewest rows pass."""
        above = np.append(0.0, np.cumsum(rows)[:-1])
        highest = np.maximum.accumulate(limits[::-1])[::-1]
        passed = above + np.minimum(highest, 1.0) * (rows.sum() - above)
        numbers = tuple(map(float, edges)), tuple(map(float, limits))
        return cls(*numbers, int(np.argmin(passed)), tuple(seen.tolist()))

    def rules(self, score: nw.Expr) -> list[nw.Expr]:
        """Write the gates one after the other."""
        key, row, first = nw.col(KEY), nw.col(ROW), self.first
        rules = [key < _limit_at(score, self.edges, self.limits)]
        if len(self.limits) > 1:
            early = key < max(self.limits[first:])
            rules.insert(0, early if first == 0 else early | (score >= self.edges[first - 1]))
        return [rule | row.is_in(self.seen) for rule in rules] if self.seen else rules


def _let_through(keyed: Frame, roles: ColumnRoles, keep: Sequence[str], gates: KeyGates) -> Arrays:
    """Collect the unlabeled rows whose keys the gates let through."""
    names = [f"{KEY}{place}" for place in range(len(keep))]
    copies = [nw.col(name).alias(copy) for name, copy in zip(keep, names, strict=True)]
    frame = keyed.with_columns(*copies) if copies else keyed
    brought = roles._replace(by=(KEY, ROW, *names))
    return _collect_words(transform_rows(frame, _pick, brought, gates), names)


def _collect_words(table: Frame, columns: Sequence[str]) -> Arrays:
    """Collect rows, some columns as words.

    Engines write their own numbers and dates best; pandas would write None as a word.
    """
    engine, schema = table.implementation, table.collect_schema()
    whole = engine.is_duckdb() or engine.is_polars()
    words = [name for name in columns if whole or schema[name].is_float()]
    return collect(table.with_columns(nw.col(name).cast(nw.String) for name in words))


def kept_words(frame: Any, names: Sequence[str], places: NDArray[Any]) -> dict[str, list[str]]:
    """Return columns of some rows of a frame in memory as text; empty where a value is missing."""
    table = open_frame(frame)
    check_columns(names, table.collect_schema().names(), "the frame")
    check_names(table, names)
    copies = {f"{KEY}{place}": name for place, name in enumerate(names)}
    some = table.select(nw.col(name).alias(copy) for copy, name in copies.items())
    words = _collect_words(cast("nw.DataFrame[Any]", some)[places.tolist()].lazy(), list(copies))
    return {
        name: [_as_text(value) for value in words[copy].tolist()] for copy, name in copies.items()
    }


def _pick(frame: Frame, roles: ColumnRoles, gates: KeyGates) -> Frame:
    """Keep what `_let_through` collects; works row by row."""
    table = code_labels(frame, roles)
    scores = [nw.col(f"{SCORE}{place}") for place in range(len(roles.scores))]
    rules = gates.rules(scores[0])
    for score in scores:
        rules[0] = rules[0] & ~score.is_null() & ~is_nan(score)
    for rule in [rules[0] & (nw.col(CODE) == UNLABELED), *rules[1:]]:
        table = table.filter(rule)
    return table


def _limit_at(score: nw.Expr, edges: Sequence[float], limit: Sequence[float]) -> nw.Expr:
    """Write the limit of a row's stratum, by halving the strata."""
    if len(limit) == 1:
        return nw.lit(limit[0])
    middle = len(limit) // 2
    upper = _limit_at(score, edges[:middle], limit[:middle])
    lower = _limit_at(score, edges[middle:], limit[middle:])
    return nw.when(score >= edges[middle - 1]).then(upper).otherwise(lower)


def stratum_of(score: FloatArray, edges: FloatArray) -> IntArray:
    """Return the stratum of each score."""
    place = np.searchsorted(-np.asarray(edges), -np.asarray(score, np.float64))
    return np.minimum(place, len(edges) - 1).astype(np.int64)


def _smallest_keys(found: Arrays, edges: FloatArray, sizes: IntArray, skip: IntArray) -> IntArray:
    """Choose the rows of the smallest keys in each stratum."""
    stratum = stratum_of(found[f"{SCORE}0"], edges)
    order = np.lexsort((found[ROW].astype(np.int64), found[KEY].astype(np.float64), stratum))
    if len(skip):
        order = order[~np.isin(found[ROW][order].astype(np.int64), skip)]
    own = stratum[order]
    turn = np.arange(len(own)) - np.searchsorted(own, own)
    return order[turn < sizes[own]]


def _make_rows(
    found: Arrays, chosen: IntArray, roles: ColumnRoles, keep: Sequence[str], edges: FloatArray
) -> DrawnRows:
    scores = {
        name: found[f"{SCORE}{place}"][chosen].astype(np.float64)
        for place, name in enumerate(roles.scores)
    }
    kept = {
        name: [_as_text(value) for value in found[f"{KEY}{place}"][chosen].tolist()]
        for place, name in enumerate(keep)
    }
    stratum = stratum_of(scores[roles.scores[0]], edges)
    return DrawnRows(stratum, scores, found[ROW][chosen].astype(np.int64), kept)


def _as_text(value: Any) -> str:
    return "" if is_missing(value) or value in ("nan", "NaN") else str(value)
