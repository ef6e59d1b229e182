"""Expressions on Spark give DuckDB's values; without the rewrites they would not."""

import math
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from spark_session import GENERATED, MARKS, SPARK
from sqlglot import exp

from qifsql.engine import dialect
from qifsql.engine.dialect import translated
from qifsql.engine.rewrites import Unlike

pytestmark = list(MARKS)
INFINITE = float("inf")
ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5], pa.int32()),
        "d": pa.array([0.5, 2.5, -1.5, 3.75, None], pa.float64()),
        "h": pa.array([1e18, 2.0**62 + 1024, -(2.0**80), 0.0, None], pa.float64()),
        "x": pa.array([0.0, -0.0, float("nan"), INFINITE, 1.0], pa.float64()),
        "f": pa.array([0.5, -0.0, float("nan"), INFINITE, None], pa.float32()),
        "m": pa.array(map(Decimal, ["0.5", "1.5", "-2.5", "7.4", "0.0"]), pa.decimal128(5, 1)),
        "i": pa.array([7, -7, 3, None, 0], pa.int32()),
        "l": pa.array([2**62, 2**62, 2**62, 5, None], pa.int64()),
        "t": pa.array(["a", "B", None, "\u00e9", ""]),
        "b": pa.array([True, False, None, True, False]),
        "day": pa.array([date(2020, 1, 31), date(2019, 2, 28), None, date(1, 1, 1), date.max]),
    }
)
SAME = [  # equal with the rewrite, unequal or refused by Spark without it
    "SELECT id, d::INTEGER AS v FROM t",
    "SELECT id, m::INTEGER AS v FROM t",
    "SELECT id, h::HUGEINT AS v, (-h - 5000)::HUGEINT AS w FROM t",
    "SELECT id, round_even(d, 0) AS v FROM t",
    "SELECT id, 1.0 / 3 AS v FROM t",
    "SELECT id, m / 3 AS v FROM t",
    "SELECT id, 1 / i AS v FROM t",
    "SELECT sum(l) AS v FROM t",
    "SELECT sum(l::HUGEINT * 4) AS v FROM t",
    "SELECT id, day + INTERVAL 1 MONTH AS v FROM t WHERE id < 3",
    "SELECT id, isfinite(x) AS v FROM t",
    "SELECT floor(log2(8.0::DOUBLE)) + floor(log2(536870912.0::DOUBLE)) AS v",
    "SELECT id, f + 0 AS v, isfinite(f) AS w FROM t",
    "SELECT arg_max(i, d) AS v FROM t",
    "SELECT arg_max(t, l) AS v FROM t WHERE id > 2",
    "SELECT list_sort(list(DISTINCT t) FILTER (WHERE t IN ('z'))) AS v FROM t",
]
NAIVELY_EQUAL = [  # equal, and these would be equal as they are
    "SELECT id, id / nullif(i, 0) AS v FROM t",
    "SELECT sum(b::INTEGER) // 1 AS v FROM t",
    "SELECT id, floor(d) / 2 AS v FROM t",
    "SELECT any_value(t) AS v FROM t WHERE id IN (3, 1)",
    "SELECT l::HUGEINT * 3 // 7 AS v FROM t WHERE id = 1",
    "SELECT x, count(*) AS v FROM t GROUP BY x",
    "SELECT id, f = x AS v, f < d AS w FROM t WHERE id < 5",
    "SELECT id, x = x AS v, x > 1 AS w FROM t",
    "SELECT id, i // 2 AS v, i % 3 AS w FROM t",
    "SELECT t AS v, row_number() OVER (ORDER BY t) AS n FROM t",
    "SELECT t AS v, row_number() OVER (ORDER BY t DESC) AS n FROM t",
    "SELECT min(t) AS v, max(t) AS w FROM t",
    "SELECT count(DISTINCT t) AS v, count(DISTINCT (t, i)) AS w FROM t",
    "SELECT a.id, c.id AS v FROM t AS a JOIN t AS c ON a.t IS NOT DISTINCT FROM c.t",
    "SELECT id, greatest(i, 0) AS v, least(i, NULL) AS w FROM t",
    "SELECT id, CASE WHEN i > 0 THEN 'p' ELSE t END AS v FROM t",
    "SELECT b, count(*) FILTER (WHERE i > 0) AS v FROM t GROUP BY ALL",
    "SELECT t, sum(i)::BIGINT AS v FROM t GROUP BY t HAVING count(*) > 0",
    "SELECT id, day::VARCHAR AS v, id::VARCHAR AS w FROM t WHERE id < 4",
    "SELECT list_sort(list(DISTINCT t) FILTER (WHERE t IN ('a', 'B', ''))) AS v FROM t",
    "SELECT list_sort(list(DISTINCT t) FILTER (WHERE t IS NOT NULL)) AS v FROM t WHERE id <> 3",
    "SELECT id, unnest(CASE WHEN t IS NULL THEN [NULL] ELSE [0, 1] END) AS v FROM t",
    "SELECT id, trim('\u00a0 x y  ', ' \u00a0') AS v FROM t",
    "SELECT id FROM t QUALIFY row_number() OVER (ORDER BY id DESC) = 1",
    "SELECT id, m::DECIMAL(4, 0) AS v, i::DECIMAL(6, 2) AS w FROM t",
]
REFUSED = {  # what is not known to be the same
    "SELECT hash(i) AS v FROM t": "hash",
    "SELECT gcd(i, 2) AS v FROM t": "gcd",
    "SELECT quantile_disc(i, 0.5) AS v FROM t": "Percentile",
    "SELECT histogram(i) AS v FROM t": "histogram",
    "SELECT grouping(t, b) AS v FROM t GROUP BY GROUPING SETS ((t), (b))": "rouping",
    "SELECT any_value(t ORDER BY id) AS v FROM t": "order",
    "SELECT list(t ORDER BY id) AS v FROM t": "ArrayAgg",
    "SELECT list_sort(list(t)) AS v FROM t": "Array",
    "SELECT list_sort(list(DISTINCT t) FILTER (WHERE id < 4)) AS v FROM t": "Array",
    "SELECT list_sort([i, 1]) AS v FROM t": "ArraySort",
    "SELECT trim(t) AS v FROM t": "blanks",
    "SELECT d::VARCHAR AS v FROM t": "a cast of DOUBLE to VARCHAR",
    "SELECT t::INTEGER AS v FROM t WHERE FALSE": "a cast of VARCHAR to INTEGER",
    "SELECT try_cast(t AS INTEGER) AS v FROM t": "a cast of VARCHAR to INTEGER",
    "SELECT sum(d) AS v FROM t": "order",
    "SELECT d // 2 AS v FROM t": "//",
    "SELECT d::FLOAT / 3 AS v FROM t": "FLOAT",
    "SELECT max(i, 2) AS v FROM t": "count of Max",
    "SELECT row_number() OVER () AS v FROM t": "no order",
    "SELECT length([1, 2]) AS v": "Length",
    "SELECT unnest([1, 2]) + 1 AS v": "unnest",
    "SELECT ln(d) AS v FROM t": "Ln",
    "SELECT 3 ** i AS v FROM t": "power",
    "SELECT t = i AS v FROM t WHERE FALSE": "comparison",
    "SELECT day - day AS v FROM t": "arithmetic",
    "SELECT regexp_matches(t, 'a') AS v FROM t": "Regexp",
}


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """DuckDB and Spark with one table ``t``."""
    from qifsql.engine.spark import session

    file = tmp_path_factory.mktemp("spark") / "t.parquet"
    pq.write_table(ROWS, file)
    spark = session(SPARK)
    spark.read.parquet(file.as_uri()).createOrReplaceTempView("t")
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS FROM '{file}'")
        yield con, spark


def describe(con: Any) -> dialect.Describe:
    def described(query: exp.Query) -> list[tuple[str, str]]:
        from qifsql.errors import InternalError

        try:
            rows = con.execute(f"DESCRIBE {query.sql('duckdb')}").fetchall()
        except duckdb.Error as e:
            raise InternalError("no type") from e
        return [(name, type_) for name, type_, *_ in rows]

    return described


def plain(value: Any) -> Any:
    """A value that compares as values do: NaN equals itself, and a whole decimal is a number."""
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    return value


def sorted_rows(rows: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(map(plain, row)) for row in rows), key=repr)


def here(con: Any, sql: str) -> list[tuple[Any, ...]]:
    return sorted_rows(con.execute(sql).fetchall())


def there(con: Any, spark: Any, sql: str) -> list[tuple[Any, ...]]:
    tree = translated(sqlglot.parse_one(sql, read="duckdb"), describe(con), free=True)
    return sorted_rows(spark.sql(dialect.text(tree)).collect())


@pytest.mark.cases(6)
@pytest.mark.parametrize("sql", SAME)
def test_an_expression_is_equal_on_spark_and_only_because_it_is_rewritten(
    sql: str, engines: tuple[Any, Any]
) -> None:
    con, spark = engines
    log2 = sqlglot.parse_one(sql, read="duckdb")
    expected = here(con, sql)
    found = there(con, spark, sql) if "log2" not in sql else logs(con, spark, sql)
    assert found == expected
    naive = log2.sql("spark").replace("INT128", "DECIMAL(38, 0)")
    try:
        rows = spark.sql(naive).collect()
    except Exception:
        return  # loudly different
    types = [type(value) for row in rows for value in row]
    expected_types = [type(value) for row in con.execute(sql).fetchall() for value in row]
    assert sorted_rows(rows) != expected or types != expected_types


def logs(con: Any, spark: Any, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query with log2, which the templates keep as it is written."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    for log in list(tree.find_all(exp.Log)):
        log.replace(exp.Anonymous(this="log2", expressions=[log.expression]))
    return sorted_rows(spark.sql(dialect.text(translated(tree, describe(con)))).collect())


@pytest.mark.parametrize("sql", NAIVELY_EQUAL)
def test_an_expression_is_equal_on_spark(sql: str, engines: tuple[Any, Any]) -> None:
    con, spark = engines
    assert there(con, spark, sql) == here(con, sql)


@pytest.mark.parametrize("sql", REFUSED)
def test_what_may_differ_is_refused(sql: str, engines: tuple[Any, Any]) -> None:
    con, _ = engines
    here(con, sql)  # DuckDB understands it, and an unread result would refuse the next test
    with pytest.raises(Unlike, match=REFUSED[sql].replace("(", r"\(")):
        translated(sqlglot.parse_one(sql, read="duckdb"), describe(con))


def test_an_overflow_is_an_error(engines: tuple[Any, Any]) -> None:
    con, spark = engines
    for sql in ("SELECT sum(l)::BIGINT AS v FROM t", "SELECT l * 4 AS v FROM t WHERE id = 1"):
        with pytest.raises(duckdb.Error):
            here(con, sql)
        with pytest.raises(Exception, match="OVERFLOW"):
            there(con, spark, sql)


FLOATS = st.floats(-1e9, 1e9) | st.integers(-(2**40), 2**40).map(lambda n: n + 0.5)
WHOLE = st.integers(-(2**62), 2**62)


@settings(max_examples=examples(8), phases=GENERATED)
@given(rows=st.lists(st.tuples(FLOATS, WHOLE, WHOLE), min_size=20, max_size=60))
def test_numbers_are_rounded_divided_and_summed_as_in_duckdb(
    engines: tuple[Any, Any], rows: list[tuple[float, int, int]]
) -> None:
    con, spark = engines
    names = ("d", "a", "b")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    table = pa.table(columns)
    con.register("drawn", table)
    spark.createDataFrame(rows, "d double, a bigint, b bigint").createOrReplaceTempView("drawn")
    for sql in (
        "SELECT d::BIGINT AS v, (d * 1e9)::HUGEINT AS w, a / b AS x, d / a AS y FROM drawn",
        "SELECT sum(a) AS v, sum(a::HUGEINT * 1000003) AS w, sum(b)::HUGEINT // 7 AS x FROM drawn",
        "SELECT a % 7 AS v, count(*) AS n, max(d) AS w FROM drawn GROUP BY a % 7",
    ):
        assert there(con, spark, sql) == here(con, sql), sql
    con.unregister("drawn")
