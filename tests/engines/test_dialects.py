"""The SQL that Ibis writes for databases nobody starts in a test is parsed, not executed."""

import narwhals as nw
import pyarrow as pa
import pytest

from undercount.count.binned import count_binned
from undercount.count.groups import ColumnRoles, code_labels
from undercount.count.progress import Progress
from undercount.count.windows import write_query

ibis = pytest.importorskip("ibis")
sqlglot = pytest.importorskip("sqlglot")

TABLE = ibis.table({"label": "boolean", "score": "float64", "weight": "float64"}, name="scored")
COLUMNS = [
    ColumnRoles("label", ("score",), None, 0, ()),
    ColumnRoles("label", ("score",), "weight", None, ()),
]


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "postgres", "duckdb", "trino"])
@pytest.mark.parametrize("columns", COLUMNS)
def test_compact_counts_are_a_query_of_the_dialect(dialect, columns):
    frame = nw.from_native(TABLE)
    query = write_query(code_labels(frame, columns), columns, [0.25, 0.5]).to_native()
    sql = ibis.to_sql(query, dialect=dialect)
    (parsed,) = sqlglot.parse(sql, dialect=dialect)
    windows = list(parsed.find_all(sqlglot.exp.Window))
    assert len(windows) == 1
    assert len(list(parsed.find_all(sqlglot.exp.Group))) == 2
    assert {table.name for table in parsed.find_all(sqlglot.exp.Table)} >= {"scored"}


def test_every_query_of_binned_counts_is_of_the_dialect(monkeypatch):
    written = []

    def keep(frame):
        written.append(frame.to_native())
        return original(frame)

    from undercount.count import binned, queries  # noqa: PLC0415 - to watch them

    original = queries.collect
    monkeypatch.setattr(binned, "collect", keep)
    monkeypatch.setattr(queries, "collect", keep)
    held = {"label": [1.0, None] * 200, "score": [i / 400 for i in range(400)]}
    table = ibis.memtable(pa.table(held))
    columns = ColumnRoles("label", ("score",), None, None, ())
    count_binned(nw.from_native(table), columns, 16, Progress())
    assert len(written) >= 3
    for dialect in ("bigquery", "snowflake"):
        for query in written:
            assert sqlglot.parse(ibis.to_sql(query, dialect=dialect), dialect=dialect)
