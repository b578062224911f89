"""Rows and counts out of the files that options name, the coding of labels, what was dropped.

This imports DuckDB, so that commands import it only when they run.
"""

import math
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast

import duckdb
import numpy as np
from numpy.typing import NDArray

from undercount.cli.arguments import Options
from undercount.cli.command import progress
from undercount.cli.dates import date_columns, take_dates
from undercount.cli.options import DATABASE_VARIABLE
from undercount.count.arrays import LARGEST_WEIGHT, WEIGHT_RULE, LabelWords, read_labels, row_words
from undercount.count.counts_file import is_counts_file, open_counts
from undercount.count.databases import open_table
from undercount.count.files import raise_bad_weight, raise_text_column, read_numbers, relation_of
from undercount.count.frames import CountOptions, check_columns, count_scores, open_frame
from undercount.count.groups import ColumnRoles, check_score_digits
from undercount.count.label_totals import keep_scored, total_labels
from undercount.count.paths import expand_paths, find_files, name_files
from undercount.count.queries import collect
from undercount.count.rounding import round_array
from undercount.count.sources import Source, open_source
from undercount.count.sql import quote_name
from undercount.count.stored_columns import as_numbers, numbers_of
from undercount.counts import ALL_LABELLED, ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.shares import Sampling

if TYPE_CHECKING:
    from undercount.infer.scored_rows import ScoredRows
    from undercount.prevalence.fair_scores import ScoreTest
    from undercount.prevalence.late_labels import LateLabels

RECODE = (
    "Say which label means positive with --positive-label VALUE, recode positives as 1 and "
    "unlabeled rows as 0 or empty, or name another column of labels with --label"
)
RECODE_LOOKED = (
    "Recode positives as 1 and negatives as 0 and leave the label empty where nobody looked, or "
    "name another column of labels with --label"
)
LOOKED_LABELS = LabelWords(
    missing="not looked at",
    recode="recode yes as 1, no as 0, and leave it empty where nobody looked",
    other="If {0} means that nobody looked leave it empty",
)
CASE = "write it into --query, CASE WHEN … THEN 1 ELSE 0 END"
JOIN = "make one column of both, 1 where either found a positive, and give a --prevalence"
ROW_BY_ROW = (
    ", and models are compared row by row: counts of two scores do not say which rows they share. "
    "Pass the file of rows with --label and a --score for each model; or judge each counts file by "
    "itself with undercount evaluate"
)
COLUMNS_OF_ROWS = (
    ": --cluster, --chance, --found and --observed name columns of rows, and counts keep none. "
    "Pass the file of rows with --label and --score; undercount count --cluster COLUMN keeps of "
    "clusters what intervals need"
)
# Column of rows that any source of labels found positive.
EITHER = "found by either"
ONE_MEANS = "1 means found by that source, and every row counts once"
# Label values that a message lists at most.
LISTED_LABELS = 5
# More values than these between 0 and 1 are scores.
MOST_LABELS = 20


@dataclass(frozen=True)
class Reading:
    """Hold the counts of each score column and what was inferred on the way.

    `models` are there if rows had to be kept, for their clusters or chances.
    """

    counts: dict[str, ScoreCounts]
    sampling: Sampling
    notes: list[str] = field(default_factory=list)
    segments: dict[str, dict[Hashable, ScoreCounts]] = field(default_factory=dict)
    sources: tuple[int, int, int, int] | None = None  # found by first, second, both, of rows
    source_tests: "dict[str, ScoreTest]" = field(default_factory=dict)  # of each score column
    propensity: Any = None  # chances of a label, if they were read
    models: "dict[str, ScoredRows]" = field(default_factory=dict)
    place: NDArray[np.intp] | None = None  # of each row that was kept, in its file
    by: list[NDArray[Any]] = field(default_factory=list)  # the segment of each, column by column
    cluster: NDArray[Any] | None = None


@dataclass(frozen=True)
class ModelColumns:
    """Hold rows: labels (1, 0, NaN), the scores of each column, and how they were sampled.

    `place` is where each row stood in its file before rows without a score were dropped.
    """

    labels: FloatArray
    scores: dict[str, FloatArray]
    sampling: Sampling
    notes: list[str]
    weights: FloatArray | None = None
    place: NDArray[np.intp] | None = None
    cluster: NDArray[Any] | None = None
    chance: "FloatArray | LateLabels | None" = None
    by: list[NDArray[Any]] = field(default_factory=list)
    dates: list[FloatArray] = field(default_factory=list)  # of the row, and of its label


@dataclass(frozen=True)
class LookedRows:
    """Hold rows of which some were looked at: the score, and what may have chosen them."""

    labels: FloatArray
    score: FloatArray
    chooser: FloatArray | None
    features: dict[str, FloatArray] | None
    notes: list[str]


def read(
    data: tuple[str, ...],
    options: Options,
    knots: Sequence[float],
    *,
    compact: bool | None = True,
    digits: int | None = None,
) -> Reading:
    """Count what the options name, with a bar if it takes long."""
    label, scores, by = options["label"], options["scores"], list(options.get("by") or ())
    how: CountOptions = {"knots": knots, "compact": compact, "digits": digits}
    how |= {"weight": options["weight"], "cluster": options.get("cluster")}
    with progress("reading", options) as tell:
        if by and (options["positives"] or not label or not scores):
            raise InputError("--by COLUMN goes with --label COLUMN and --score COLUMN of rows")
        check_sources_alone(options, in_database=names_database(data, options))
        if options["positives"] and options.get("cluster"):
            raise InputError("--cluster does not go with --positives; put all rows into one file")
        if options["positives"]:
            two = _read_two_samples(data, options)
            return _count_two_samples(two, knots, bool(compact), digits)
        if names_database(data, options):
            return _count_database(options, by, how)
        require_data(data)
        if label is None and not scores:
            files = expand_paths(data)
            if all(map(is_counts_file, files)):
                return _read_counts_files(files, options)
        if label is None or not scores:
            with open_source(data, []) as source:
                names = ", ".join(map(repr, source.types))
            raise InputError(
                "name the columns: --label COLUMN --score COLUMN. "
                f"{data[0]} has the columns {names}"
            )
        return count_rows(
            data,
            label,
            scores,
            unlabeled=unlabeled_value(options),
            negative=options["negative"],
            positive=options.get("positive_label"),
            by=by,
            second_label=options.get("second_label"),
            how={**how, "progress": tell},
        )


def check_sources_alone(options: Options, *, in_database: bool = False) -> None:
    """Refuse what two sources of labels do not go with, so that none is left out in silence."""
    if not options.get("second_label"):
        return
    beside = ("negative", "unlabeled", "positives", "weight", "positive_label")
    rows = ("cluster", "chance", "observed", "found")
    _refuse(options, beside, "two --label", ONE_MEANS)
    _refuse(options, rows, "two --label", JOIN)
    if in_database:
        raise InputError(f"a database takes one --label; {JOIN}", argument="label")


def read_kept(
    data: tuple[str, ...], options: Options, knots: Sequence[float], *, compact: bool
) -> Reading:
    """Read the rows that have every score, with cluster or chance of each, and keep them."""
    check_sources_alone(options)
    if names_database(data, options):
        if options.get("by"):
            raise InputError(
                "--by with --cluster needs rows, and a database hands over counts; write the rows "
                "to a file and name that"
            )
        if not (options["chance"] or options["found"]):  # it counts pairs of rows of a cluster
            return read(data, options, knots, compact=compact)
        raise InputError(
            f"{'--chance' if options['chance'] else '--found'} needs rows, and a database hands "
            "over counts; write the rows to a file and name that"
        )
    from undercount.infer.scored_rows import count_model  # noqa: PLC0415 - only when needed

    require_data(data)
    require_rows_not_counts(data, COLUMNS_OF_ROWS)
    rows = take_dates(read_models(data, options), options)
    models = {}
    for name, score in rows.scores.items():
        threshold = options["threshold"]
        model = count_model(
            rows.labels, score, None, rows.weights, threshold, lambda _: knots, compact=compact
        ).with_clusters(rows.cluster)
        models[name] = model
    counts = {name: model.counts for name, model in models.items()}
    return Reading(
        counts,
        rows.sampling,
        rows.notes,
        models=models,
        place=rows.place,
        by=rows.by,
        cluster=rows.cluster,
        propensity=rows.chance,
    )


def count_rows(
    paths: Sequence[str],
    label: str,
    scores: Sequence[str],
    *,
    unlabeled: float | None = None,
    negative: float | None = None,
    positive: str | None = None,
    by: Sequence[str] = (),
    second_label: str | None = None,
    how: CountOptions | None = None,
) -> Reading:
    """Count the rows of files where they lie; rows without a score are dropped and said."""
    options: CountOptions = {"compact": True, **(how or {})}
    weight, cluster = options.get("weight"), options.get("cluster")
    named = [label, *scores, *([weight] if weight else [])]
    numbers = list(dict.fromkeys([*named, *([second_label] if second_label else [])]))
    others = [*by, *([cluster] if cluster else [])]
    texts = [name for name in by if name not in numbers]
    with open_source(paths, [*numbers, *others], word_of(label, positive), texts) as source:
        try:
            relation = relation_of(source, numbers, others)
            sources, pair = None, (label, second_label)
            if second_label:
                relation, sources = join_sources(relation, scores, label, second_label)
                label = EITHER
            rows = find_rows(source, relation, label, scores)
            tests = _compare_sources(rows.scored, scores, *pair)
            coding, note = infer_coding(rows.labels, unlabeled, negative, positive)
            note = note if sources is None else source_words(sources)
            options["unlabeled"] = coding
            counted = count_scores(rows.scored, label=label, score=list(scores), **options)
            segments = _count_segments(rows.scored, label, counted, by, options)
        except duckdb.ConversionException as error:
            raise_text_column(source, numbers, error, {label: RECODE})
        except InputError:
            if weight is not None:
                raise_bad_weight(source, weight, scores)
            raise
    return Reading(dict(counted), "single-sample", [rows.words, note], segments, sources, tests)


def join_sources(
    rows: Any, scores: Sequence[str], first: str, second: str
) -> tuple[Any, tuple[int, int, int, int]]:
    """Label the rows that either source found positive; count what each found, of scored rows."""
    hits = _hits(first, second)
    both, either = " AND ".join(hits), " OR ".join(hits)
    counts = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in (*hits, both))
    scored = " AND ".join(f"NOT coalesce(isnan({quote_name(s)}::DOUBLE), TRUE)" for s in scores)
    totals = rows.filter(scored).aggregate(f"{counts}, count(*)").fetchall()[0]
    joined = rows.project(f"*, CASE WHEN {either} THEN 1 END AS {quote_name(EITHER)}")
    return joined, (totals[0], totals[1], totals[2], totals[3])


def _hits(first: str, second: str) -> list[str]:
    """Return the condition that each source found a row, in SQL."""
    return [f"coalesce({quote_name(name)} = 1, FALSE)" for name in (first, second)]


def _compare_sources(
    scored: Any, scores: Sequence[str], first: str, second: str | None
) -> "dict[str, ScoreTest]":
    """Test by each score whether a source prefers some of what the other found; none if one is."""
    if second is None:
        return {}
    from undercount.prevalence.fair_scores import compare_sources  # noqa: PLC0415 - when needed

    hits = _hits(first, second)
    values = [f"{quote_name(name)}::DOUBLE" for name in scores]
    selection = ", ".join(
        f"{column_sql} AS c{place}" for place, column_sql in enumerate((*hits, *values))
    )
    arrays = scored.filter(" OR ".join(hits)).project(selection).fetchnumpy()
    one, other, *columns = (np.asarray(arrays[f"c{place}"]) for place in range(len(scores) + 2))
    return {
        name: compare_sources(column, one, other)
        for name, column in zip(scores, columns, strict=True)
    }


def source_words(sources: tuple[int, int, int, int]) -> str:
    """Say what a label of two sources means, and how many rows each found."""
    first, second, both, _ = sources
    return (
        f"1 = found by a source, anything else = not found; {first:,} by the first, {second:,} by "
        f"the second, {both:,} by both"
    )


def _count_segments(
    rows: Any,
    label: str,
    counted: Mapping[str, ScoreCounts],
    by: Sequence[str],
    options: CountOptions,
) -> dict[str, dict[Hashable, ScoreCounts]]:
    """Count the rows of each segment, if there are any, once more.

    Scores at which segments are compared are kept apart, as thresholds are.
    """
    if not by:
        return {}
    from undercount.infer.segment_tables import frequency_edges  # noqa: PLC0415 - when needed

    columns = by[0] if len(by) == 1 else list(by)
    edges = [edge for counts in counted.values() for edge in frequency_edges(counts).tolist()]
    knots = [*options.get("knots", ()), *edges]
    apart: CountOptions = {**options, "knots": knots}
    return count_scores(rows, label=label, score=list(counted), by=columns, **apart)


@dataclass(frozen=True)
class RowsRead:
    """Hold the rows that have a score, what labels they carry, and what was read."""

    scored: Any  # DuckDB's relation, or a table of Ibis
    labels: dict[Any, int]
    words: str


def find_rows(
    source: Source, relation: duckdb.DuckDBPyRelation, label: str, scores: Sequence[str]
) -> RowsRead:
    """Leave out the rows without a score, and look which labels the others have."""
    total = relation.count("*").fetchall()[0][0]
    if total == 0:
        raise InputError(f"{source.place} has no rows")
    missing = " OR ".join(
        f"{quote_name(s)} IS NULL OR isnan({quote_name(s)}::DOUBLE)" for s in scores
    )
    kept = relation.filter(f"NOT ({missing})")
    rows_by_label = kept.aggregate(f"{quote_name(label)} AS value, count(*) AS number").fetchall()
    if not rows_by_label:
        raise_no_score(scores, source.place)
    dropped = total - sum(number for _, number in rows_by_label)
    return RowsRead(kept, dict(rows_by_label), read_words(total, dropped))


def names_database(data: tuple[str, ...], options: Options) -> bool:
    """Tell whether rows are in a database; files come before that of the environment."""
    database, table, query = (options.get(name) for name in ("database", "table", "query"))
    if (table or query) and not database:
        raise InputError("--table and --query go with --from URL, or UNDERCOUNT_FROM")
    if data and (table or query):
        raise InputError(f"DATA do not go with --table and --query; got {' '.join(data)}")
    if data and database and database != os.environ.get(DATABASE_VARIABLE):
        raise InputError(f"DATA do not go with --from, a database; got {' '.join(data)}")
    return bool(database) and not data


def _count_database(options: Options, by: Sequence[str], how: CountOptions) -> Reading:
    """Count the rows of a database where they are; rows without a score are dropped and said."""
    label, scores = options["label"], list(options["scores"])
    if label is None or not scores:
        raise InputError("name the columns: --label COLUMN --score COLUMN")
    others = [*(name for name in (how["weight"], how["cluster"]) if name), *by]
    with open_rows(options, label, scores, others) as rows:
        coding, note = infer_coding(rows.labels, unlabeled_value(options), options["negative"])
        how["unlabeled"] = coding
        counted = count_scores(rows.scored, label=label, score=scores, **how)
        segments = _count_segments(rows.scored, label, counted, by, how)
    return Reading(dict(counted), "single-sample", [rows.words, note], segments)


@contextmanager
def open_rows(
    options: Options, label: str, scores: Sequence[str], others: Sequence[str] = ()
) -> Iterator[RowsRead]:
    """Leave out a table's rows without a score, and look which labels the others have."""
    _refuse(options, ("positive_label",), "a database", CASE)
    with open_table(str(options["database"]), options["table"], options["query"]) as table:
        frame: Any = open_frame(table)
        place = options["table"] or "the query"
        check_columns([label, *scores, *others], frame.collect_schema().names(), place)
        weight = [name for name in (options.get("weight"),) if name]
        frame = numbers_of(frame, label, scores, weight, place)
        first = total_labels(frame, label, scores)
        first.check_any_rows(scores, place)
        words = read_words(first.rows, first.rows - sum(first.scored.values()))
        try:
            yield RowsRead(keep_scored(frame, scores).to_native(), first.scored, words)
        except InputError:  # perhaps for no other reason
            first.check_unchanged(total_labels(frame, label, scores), place)
            raise
        first.check_unchanged(total_labels(frame, label, scores), place)


def _fetch_columns(
    options: Options, numbers: Sequence[str], groups: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Bring columns of a table here, for what is done row by row."""
    _refuse(options, ("positive_label",), "a database", CASE)
    with open_table(str(options["database"]), options["table"], options["query"]) as table:
        frame: Any = open_frame(table)
        names, place = list(dict.fromkeys([*numbers, *groups])), options["table"] or "the query"
        check_columns(names, frame.collect_schema().names(), place)
        label, scores = str(options["label"]), tuple(options["scores"])
        rest = [name for name in numbers if name not in (label, *scores)]
        frame = numbers_of(frame, label, scores, rest, place)
        check_score_digits(frame, ColumnRoles(label, scores, None, None, ()))
        columns = collect(as_numbers(frame, scores, scores).select(*names))
    if not len(columns[names[0]]):
        raise InputError(f"{place} has no rows")
    return {
        name: columns[name] if name in groups else _as_numbers(name, columns[name])
        for name in names
    }


def _as_numbers(name: str, values: NDArray[Any]) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} must hold numbers; cast it in --query") from None


def read_models(data: tuple[str, ...], options: Options) -> ModelColumns:
    """Read the rows that have a score of every model."""
    label, scores, cluster = options["label"], options["scores"], options.get("cluster")
    if options["positives"]:
        if cluster or options.get("chance") or options.get("found"):
            raise InputError(
                "--cluster, --chance and --found do not go with --positives; put all rows into one "
                "file"
            )
        rows = _read_two_samples(data, options)
        kept = _complete(rows.scores, scores)
        dropped = int(np.count_nonzero(~kept))
        notes = rows.notes + ([f"{dropped:,} dropped (missing score)"] if dropped else [])
        columns = {name: score[kept] for name, score in rows.scores.items()}
        return ModelColumns(rows.labels[kept], columns, rows.sampling, notes)
    require_rows_not_counts(data, ROW_BY_ROW)
    if label is None or not scores:
        raise InputError("name the columns: --label COLUMN, and --score COLUMN for each model")
    weight, chance = options["weight"], options.get("chance")
    numbers = list(dict.fromkeys(name for name in (label, *scores, weight, chance) if name))
    positive = options.get("positive_label")
    segments = list(options.get("by") or ())
    groups = [*([cluster] if cluster else []), *segments]
    in_database, dates = names_database(data, options), date_columns(options)
    if in_database:
        found = _fetch_columns(options, numbers, groups)
    else:
        words = word_of(label, positive)
        found = read_numbers(data, numbers, {label: RECODE}, groups, words, dates, segments)
    kept = _complete(found, scores)
    if not kept.any():
        place = options["table"] or "the query" if in_database else ", ".join(data)
        raise_no_score(scores, place)
    labels = found[label][kept]
    values, times = np.unique(labels, return_counts=True)
    coding, note = infer_coding(
        dict(zip(values.tolist(), times.tolist(), strict=True)),
        unlabeled_value(options),
        options["negative"],
        positive,
    )
    if coding is not None:
        labels = np.where(labels == coding, np.nan, labels)
    notes = [read_words(len(kept), len(kept) - len(labels)), note]
    chosen = {name: found[name][kept] for name in scores}
    weights = found[weight][kept] if weight else None
    if weight and weights is not None and not in_database:
        _check_weights(weights, np.flatnonzero(kept), weight)
    return ModelColumns(
        labels,
        chosen,
        "single-sample",
        notes,
        weights,
        None if in_database else np.flatnonzero(kept),  # a table's rows are in no order
        found[cluster][kept] if cluster else None,
        found[chance][kept] if chance else None,
        [found[name][kept] for name in segments],
        [found[name][kept] for name in dates],
    )


def _check_weights(weights: FloatArray, place: NDArray[np.intp], column: str) -> None:
    """Refuse a weight that cannot be used, by its row in the files."""
    usable = (weights == 0) | ((weights >= 1 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT))
    if not usable.all():
        first = int(np.argmin(usable))
        raise InputError(
            f"--weight must be {WEIGHT_RULE}; got {weights[first]} in column {column!r}, row "
            f"{place[first] + 1}"
        )


def _complete(columns: dict[str, FloatArray], names: Sequence[str]) -> NDArray[np.bool_]:
    """Tell the rows that have a number in each of some columns."""
    return np.asarray(np.all([~np.isnan(columns[name]) for name in names], axis=0))


def raise_no_score(scores: Sequence[str], place: str) -> NoReturn:
    """Say that no row has a score, or none every score."""
    columns = " and ".join(f"column {name!r}" for name in scores)
    raise InputError(f"no row of {place} has a score in {columns}; name another --score")


def read_words(total: int, dropped: int) -> str:
    """Say how many rows were read, and how many of them were dropped."""
    words = f"{row_words(total)} read"
    return words + (f", {dropped:,} dropped (missing score)" if dropped else "")


def _read_two_samples(data: tuple[str, ...], options: Options) -> ModelColumns:
    """Put rows known to be positive above rows that were drawn apart without labels."""
    scores, unlabeled = options["scores"], options["unlabeled"]
    if not unlabeled or not scores:
        raise InputError("--positives FILE goes with --unlabeled FILE and --score COLUMN")
    if data:
        raise InputError(
            f"DATA do not go with --positives and --unlabeled, which name all the rows; got "
            f"{' '.join(data)}"
        )
    why = "each file holds rows of one kind, all of weight 1"
    refused = ("label", "negative", "weight", "positive_label")
    _refuse(options, refused, "--positives and --unlabeled", why)
    files = str(options["positives"]), unlabeled
    expand_paths(files)  # refuses one that is named twice
    parts = [read_numbers(file, scores) for file in files]
    for file, part in zip(files, parts, strict=True):
        for name in scores:
            if np.isnan(part[name]).all():
                raise_no_score([name], file)
    sizes = [len(part[scores[0]]) for part in parts]
    notes = [
        f"{size:,} {kind} row{'' if size == 1 else 's'} read"
        for size, kind in zip(sizes, ("positive", "unlabeled"), strict=True)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in scores}
    return ModelColumns(np.repeat([1.0, np.nan], sizes), columns, "case-control", notes)


def _count_two_samples(
    rows: ModelColumns,
    knots: Sequence[float],
    compact: bool,  # noqa: FBT001 - handed on
    digits: int | None,
) -> Reading:
    """Count each score by itself: rows that lack another one stay."""
    counted, notes = {}, list(rows.notes)
    for name, score in rows.scores.items():
        kept = ~np.isnan(score)
        if not kept.all():
            notes.append(f"{int((~kept).sum()):,} dropped (missing {name})")
        own = score[kept] if digits is None else round_array(score[kept], digits)
        counted[name] = ScoreCounts.from_rows(rows.labels[kept], own, compact=compact, knots=knots)
    return Reading(counted, rows.sampling, notes)


def read_looked(data: tuple[str, ...], options: Options) -> LookedRows:
    """Read rows of which some were looked at; those without a score are dropped and said."""
    label, score, chooser = str(options["label"]), options["score"], options["selection_score"]
    features, scores = options["features"], [score, *([chooser] if chooser else [])]
    numbers = read_numbers(data, [label, *scores, *features], {label: RECODE_LOOKED})
    complete = _complete(numbers, scores)
    if not complete.any():
        if np.isnan(numbers[score]).all():
            raise InputError(f"no row has a score in column {score!r}")
        raise InputError(f"no row has a score in both columns, {score!r} and {chooser!r}")
    columns = {name: values[complete] for name, values in numbers.items()}
    labels, coding = _uncode_looked(columns[label])
    read_labels(labels, words=LOOKED_LABELS)  # refuses other values
    for name in features:
        if not np.isfinite(columns[name]).all():
            raise InputError(
                f"column {name!r} of --features must hold a finite number in every row; fill in "
                "what is missing, or leave these rows out"
            )
    dropped = int(np.count_nonzero(~complete))
    looked = f"{np.count_nonzero(~np.isnan(labels)):,} of {'the others' if dropped else 'them'}"
    return LookedRows(
        labels,
        columns[score],
        columns[chooser] if chooser else None,
        {name: columns[name] for name in features} or None,
        [f"{read_words(len(complete), dropped)}, {looked} looked at", *coding],
    )


def _uncode_looked(labels: FloatArray) -> tuple[FloatArray, list[str]]:
    """Read -1 as not looked at where it stands beside 1 and 0, as evaluate does."""
    if set(np.unique(labels[~np.isnan(labels)])) != {-1.0, 0.0, 1.0}:
        return labels, []
    note = "1 = positive, 0 = negative, -1 = not looked at"
    return np.where(labels == -1, np.nan, labels), [note]


def word_of(label: str, positive: str | None) -> dict[str, str]:
    """Return the value of the label column that means positive, if one was named."""
    return {} if positive is None else {label: positive}


def infer_coding(
    found: dict[Any, int],
    unlabeled: float | None,
    negative: float | None,
    positive: str | None = None,
) -> tuple[float | None, str]:
    """Return the value that means unlabeled, and what was inferred, in words."""
    coding, note = _infer_coding(found, unlabeled, negative)
    return coding, note if positive is None else f"{positive} is read as 1, others as 0 · {note}"


def _infer_coding(
    found: dict[Any, int], unlabeled: float | None, negative: float | None
) -> tuple[float | None, str]:
    values = {float(v): n for v, n in found.items() if v is not None and not math.isnan(v)}
    missing = sum(found.values()) - sum(values.values())
    labels = _list_labels(values, missing)
    if not values.get(1.0) and len(values) > MOST_LABELS and min(values) >= 0 and max(values) <= 1:
        raise InputError(
            f"the label column looks like scores: it holds {len(values):,} values between 0 and 1. "
            "Labels are 1, 0 or missing: did --label and --score change places?"
        )
    # A part to be counted and merged may hold none, if what its labels mean is told.
    if not values.get(1.0) and (unlabeled is None or values.keys() - {unlabeled, 0.0}):
        raise InputError(
            f"no row is labelled positive (1); {labels}. Name the column of labels with --label, "
            "or recode positives as 1 and unlabeled rows as 0 or empty; a part of a larger whole "
            "is counted if --unlabeled 0 says what its labels mean"
        )
    if unlabeled is not None:
        return unlabeled, f"1 = positive, {unlabeled:g} = unlabeled (as told)"
    if negative:
        raise InputError(f"verified negatives must be coded 0; got --negative {negative:g}")
    others = set(values) - {1.0} - ({0.0} if negative is not None else set())
    if missing and others <= {0.0}:
        verified = ", 0 = verified negative" if others or negative is not None else ""
        return None, f"1 = positive{verified}, missing = unlabeled"
    if others == {0.0}:
        return 0.0, "1 = positive, 0 = unlabeled (no label is missing; --negative 0 says otherwise)"
    if others == {-1.0}:
        return -1.0, "1 = positive, -1 = unlabeled"
    if others == {-1.0, 0.0}:
        return -1.0, "1 = positive, 0 = verified negative, -1 = unlabeled"
    if not others:
        advice = "; if 0 means unlabeled leave --negative away" if 0.0 in values else ""
        raise InputError(f"no row is unlabeled; {labels}{advice}. {ALL_LABELLED}")
    raise InputError(
        f"{labels}; which value means unlabeled? 1 means positive: if it "
        "does here, pass --unlabeled VALUE; if not, recode positives as 1 and unlabeled rows as 0 "
        "or empty"
    )


def _list_labels(values: dict[float, int], missing: int) -> str:
    """Say which values the labels have, the most frequent ones."""
    most = sorted(values.items(), key=lambda item: -item[1])[:LISTED_LABELS]
    shown = [f"{value:g}: {number:,}" for value, number in sorted(most)]
    shown += ["…"] if len(values) > LISTED_LABELS else []
    shown += [f"missing: {missing:,}"] if missing else []
    return f"the label column holds {{{', '.join(shown)}}}"


def unlabeled_value(options: Options) -> float | None:
    """Read the label value that means unlabeled."""
    text = options["unlabeled"]
    try:
        return None if text is None else float(text)
    except ValueError:
        raise InputError(
            f"--unlabeled must be a number (or a file, with --positives); got {text!r}"
        ) from None


def _read_counts_files(paths: Sequence[str], options: Options) -> Reading:
    """Read counts files, each as a model named by its file."""
    why = "what a label means and weighs was settled when they were counted"
    _refuse(options, ("weight", "unlabeled", "negative", "positive_label"), "counts files", why)
    files = {name: open_counts(path) for name, path in name_files(paths).items()}
    samplings = {file.sampling or "single-sample" for file in files.values()}
    if len(samplings) > 1:
        raise InputError(
            "some of the counts files are of rows drawn apart (case-control) and some are not; "
            "judge them one by one"
        )
    counts = {name: file.counts for name, file in files.items()}
    return Reading(counts, cast("Sampling", samplings.pop()), [f"{path}: counts" for path in paths])


def _refuse(options: Options, names: Sequence[str], beside: str, why: str) -> None:
    """Refuse options that would be left out without a word."""
    for name in names:
        if options.get(name) is not None:
            option = name.replace("_", "-")
            raise InputError(
                f"--{option} does not go with {beside}: {why}; got {options.get(name)}"
            )


def require_data(data: tuple[str, ...]) -> None:
    """Refuse a command that names no file."""
    if not data:
        raise InputError("name a file of scores and labels, or - for standard input")


def require_rows_not_counts(paths: Sequence[str], why: str) -> None:
    """Refuse counts files where rows are needed; the first of a folder speaks for all."""
    for path in paths:
        for file in find_files(path)[:1]:
            if is_counts_file(file):
                raise InputError(f"{file} is a counts file{why}")
