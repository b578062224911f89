"""Count pairs of rows of one cluster where the rows live, by one join of a group-by with itself."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from undercount.count.groups import NEGATIVE, POSITIVE, UNLABELED, ColumnRoles, code_labels, is_nan
from undercount.count.kernel.cluster_pairs import N_KINDS, ClusterPairs, choose_edges
from undercount.count.queries import CODE, ROWS, SCORE, Frame, collect, group, transform_rows
from undercount.counts import ScoreCounts
from undercount.errors import InputError, named

CELL_COLUMN, OTHER, MATES = "undercount_cell", "undercount_other", "undercount_mates"
N_LABELS, PAIRS, LABELLED_PAIRS = (
    "undercount_labels",
    "undercount_pairs",
    "undercount_labelled_pairs",
)
# In the order of the kinds of a `ClusterPairs`.
LABEL_CODES = (POSITIVE, UNLABELED, NEGATIVE)


def pair_clusters(
    frame: Frame,
    columns: ColumnRoles,
    name: str,
    cluster: str,
    counts: ScoreCounts,
    knots: Sequence[float],
) -> ClusterPairs:
    """Count the pairs of rows that share a cluster, in bins of one score column.

    Only as many numbers as there are pairs of bins leave the engine, and how many rows and labels
    each cluster has.
    """
    edges = choose_edges(counts.score, counts.positive, knots)
    mine = columns._replace(scores=(name,), by=(cluster,), weight=None)
    _check_cluster_values(frame, cluster)
    coded = transform_rows(frame, code_labels, mine)
    table = transform_rows(coded, _with_cells, cluster, edges[1:].tolist())
    sizes = collect(
        group(table, [cluster], weighted=False, extra={N_LABELS: (N_LABELS, "sum")}).select(
            ROWS, N_LABELS
        )
    )
    pairs = collect(_pair_cells(table, cluster))
    shape = N_KINDS * len(edges), N_KINDS * len(edges)
    tables = [np.zeros(shape), np.zeros(shape)]
    place = pairs[CELL_COLUMN].astype(np.intp), pairs[OTHER].astype(np.intp)
    for table_of, column in zip(tables, (PAIRS, LABELLED_PAIRS), strict=True):
        np.add.at(table_of, place, pairs[column].astype(np.float64))
    labels, rows = (sizes[each].astype(np.float64) for each in (N_LABELS, ROWS))
    return ClusterPairs.from_sums(edges, tables[0], tables[1], labels, rows)


def _check_cluster_values(frame: Frame, cluster: str) -> None:
    missing = nw.col(cluster).is_null()
    if frame.collect_schema()[cluster].is_float():
        missing = missing | is_nan(nw.col(cluster))
    number = int(collect(frame.filter(missing).select(nw.len().alias(ROWS)))[ROWS][0])
    if number:
        raise InputError(
            f"{named('cluster')} must be known for every row; it is missing in {number:,}. Give "
            "rows that belong to nobody a cluster each",
            argument="cluster",
        )


def _with_cells(frame: Frame, cluster: str, edges: list[float]) -> Frame:
    """Say of each row in which bin it is, kinds one after the other, and whether it is labelled."""
    cell = nw.lit(0)
    for edge in edges:
        cell = cell + nw.when(nw.col(f"{SCORE}0") >= edge).then(nw.lit(1)).otherwise(nw.lit(0))
    for place, code in enumerate(LABEL_CODES):
        shift = place * (len(edges) + 1)
        cell = cell + nw.when(nw.col(CODE) == code).then(nw.lit(shift)).otherwise(nw.lit(0))
    labelled = nw.when(nw.col(CODE) == POSITIVE).then(nw.lit(1)).otherwise(nw.lit(0))
    return frame.select(cluster, cell.alias(CELL_COLUMN), labelled.alias(N_LABELS))


def _pair_cells(table: Frame, cluster: str) -> Frame:
    """Write the query: groups of a cluster and a cell, joined with those of the same cluster."""
    sums = {N_LABELS: (N_LABELS, "sum")}
    cells = group(table, [cluster, CELL_COLUMN], weighted=False).select(cluster, CELL_COLUMN, ROWS)
    labels = group(table, [cluster], weighted=False, extra=sums).select(cluster, N_LABELS)
    others = cells.select(cluster, nw.col(CELL_COLUMN).alias(OTHER), nw.col(ROWS).alias(MATES))
    joined = cells.join(others, on=cluster, how="inner").join(labels, on=cluster, how="inner")
    pairs = nw.col(ROWS).cast(nw.Float64) * nw.col(MATES).cast(nw.Float64)
    joined = joined.select(
        CELL_COLUMN,
        OTHER,
        pairs.alias(PAIRS),
        (pairs * nw.col(N_LABELS).cast(nw.Float64)).alias(LABELLED_PAIRS),
    )
    sums = {name: (name, "sum") for name in (PAIRS, LABELLED_PAIRS)}
    return group(joined, [CELL_COLUMN, OTHER], weighted=False, extra=sums)
