"""The placeholders of sql/ become columns, and stand nowhere else."""

import re

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from qifsql.errors import InternalError
from qifsql.query.render import render
from qifsql.query.splice import Tally, splice
from qifsql.query.templates import Template, load, views

OF_RESULTS = {"people_unreported", "people_unreported_in_values"}  # its secrets are lists
NAMES = tuple(sorted(views("").keys() - OF_RESULTS))
FILES = (*NAMES, *sorted(f"weighted/{view}" for view in views("weighted")))
TALLIES = (Tally(1, 1), Tally(1, 2), Tally(2, 1))


def template(sql: str) -> Template:
    query = sqlglot.parse_one(sql, read="duckdb")
    assert isinstance(query, exp.Select)
    return Template("made_up", "", query, sql)


def spliced(sql: str, width: int = 2, **more: object) -> str:
    return render(splice(template(sql), width=width, **more))  # type: ignore[arg-type]


def equal(one: str, other: str) -> bool:
    return render(sqlglot.parse_one(one, read="duckdb")) == render(
        sqlglot.parse_one(other, read="duckdb")
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(qid) FROM a",
        "SELECT min(a.qid) FROM a",
        "SELECT qid AS known FROM a",
        "SELECT (qid) FROM a",
        "SELECT [qid] FROM a",
        "SELECT {'q': qid} FROM a",
        "SELECT qid IS NULL FROM a",
        "SELECT * EXCLUDE (qid) FROM a",
        "SELECT DISTINCT ON (qid) x FROM a",
        "SELECT list(qid ORDER BY x) FROM a",
        "SELECT lag(qid) OVER (ORDER BY x) FROM a",
        "SELECT row_number() OVER (PARTITION BY (qid)) FROM a",
        "SELECT row_number() OVER (PARTITION BY hash(qid)) FROM a",
        "SELECT row_number() OVER (ORDER BY (qid)) FROM a",
        "SELECT row_number() OVER (ORDER BY hash(qid)) FROM a",
        "SELECT sum(x) OVER (ORDER BY x RANGE BETWEEN CURRENT ROW AND qid FOLLOWING) FROM a",
        "SELECT x FROM a WHERE qid IS NULL",
        "SELECT x FROM a WHERE a.qid IS NOT DISTINCT FROM a.qid",
        "SELECT x FROM a GROUP BY ROLLUP (qid)",
        "SELECT x FROM a GROUP BY GROUPING SETS ((qid))",
        "SELECT x FROM a GROUP BY (qid)",
        "SELECT x FROM a GROUP BY x HAVING qid > 1",
        "SELECT x FROM a QUALIFY qid",
        "SELECT x FROM a ORDER BY (qid)",
        "SELECT x FROM a ORDER BY hash(qid)",
        "SELECT x FROM a ORDER BY qid IS NULL",
        "SELECT x FROM a JOIN b ON a.qid = b.qid",
        "SELECT x FROM a JOIN b ON a.qid IS DISTINCT FROM b.qid",
        "SELECT x FROM a JOIN b ON a.qid IS NOT DISTINCT FROM b.other",
        "SELECT x FROM a JOIN b ON b.other IS NOT DISTINCT FROM a.qid",
        "SELECT x FROM a JOIN b ON a.qid IS NOT DISTINCT FROM 1",
        "SELECT x FROM a JOIN b ON hash(a.qid) IS NOT DISTINCT FROM hash(b.qid)",
        "SELECT CASE WHEN a.qid IS NOT DISTINCT FROM b.qid THEN 1 END FROM a JOIN b ON TRUE",
    ],
)
@pytest.mark.parametrize("width", [0, 1, 3])
def test_a_tuple_is_refused_where_only_a_column_can_stand(sql: str, width: int) -> None:
    with pytest.raises(InternalError, match="made_up") as caught:
        spliced(sql, width)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM a JOIN b USING (qid)",
        "SELECT QID, x FROM a",
        "SELECT qid.age FROM a",
    ],
)
def test_qid_never_stays_in_a_query_unseen(sql: str) -> None:
    with pytest.raises(InternalError):
        spliced(sql)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, "SELECT count(*) AS n FROM a"),
        (1, "SELECT qid_1, count(*) AS n FROM a GROUP BY qid_1"),
        (3, "SELECT qid_1, qid_2, qid_3, count(*) AS n FROM a GROUP BY qid_1, qid_2, qid_3"),
    ],
)
def test_qid_is_spread_where_it_is_selected_and_grouped_and_no_empty_group_by_stays(
    width: int, expected: str
) -> None:
    assert equal(spliced("SELECT qid, count(*) AS n FROM a GROUP BY qid", width), expected)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, "SELECT x, count(*) AS n FROM a GROUP BY x"),
        (1, "SELECT qid_1, x, count(*) AS n FROM a GROUP BY qid_1, x"),
        (3, "SELECT qid_1, qid_2, qid_3, x, count(*) AS n FROM a GROUP BY qid_1, qid_2, qid_3, x"),
    ],
)
def test_what_stands_beside_qid_keeps_its_place(width: int, expected: str) -> None:
    assert equal(spliced("SELECT qid, x, count(*) AS n FROM a GROUP BY qid, x", width), expected)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, "SELECT x, row_number() OVER () AS n FROM a"),
        (1, "SELECT x, row_number() OVER (PARTITION BY qid_1) AS n FROM a"),
        (3, "SELECT x, row_number() OVER (PARTITION BY qid_1, qid_2, qid_3) AS n FROM a"),
    ],
)
def test_a_window_is_partitioned_by_every_column_and_by_nothing_where_there_is_none(
    width: int, expected: str
) -> None:
    sql = "SELECT x, row_number() OVER (PARTITION BY qid) AS n FROM a"
    assert equal(spliced(sql, width), expected)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, "PARTITION BY x, y ORDER BY y DESC"),
        (1, "PARTITION BY x, a.qid_1, y ORDER BY y DESC, a.qid_1 DESC NULLS FIRST"),
        (
            2,
            "PARTITION BY x, a.qid_1, a.qid_2, y "
            "ORDER BY y DESC, a.qid_1 DESC NULLS FIRST, a.qid_2 DESC NULLS FIRST",
        ),
    ],
)
def test_what_stands_beside_qid_in_a_window_keeps_its_place_and_every_column_its_direction(
    width: int, expected: str
) -> None:
    window = "PARTITION BY x, a.qid, y ORDER BY y DESC, a.qid DESC NULLS FIRST"
    sql = "SELECT sum(x) OVER ({}) FROM a"
    assert equal(spliced(sql.format(window), width), sql.format(expected))


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, "SELECT x FROM a LIMIT 3"),
        (1, "SELECT x FROM a ORDER BY qid_1 ASC NULLS LAST LIMIT 3"),
        (2, "SELECT x FROM a ORDER BY qid_1 ASC NULLS LAST, qid_2 ASC NULLS LAST LIMIT 3"),
    ],
)
def test_rows_are_ordered_by_every_column_and_not_at_all_where_there_is_none(
    width: int, expected: str
) -> None:
    assert equal(spliced("SELECT x FROM a ORDER BY qid ASC NULLS LAST LIMIT 3", width), expected)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, "SELECT list(x) AS xs FROM a"),
        (1, "SELECT list(x ORDER BY qid_1) AS xs FROM a"),
        (2, "SELECT list(x ORDER BY qid_1, qid_2) AS xs FROM a"),
    ],
)
def test_an_aggregate_is_ordered_by_every_column_and_keeps_what_it_gathers(
    width: int, expected: str
) -> None:
    assert equal(spliced("SELECT list(x ORDER BY qid) AS xs FROM a", width), expected)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, "SELECT a.x FROM a JOIN b ON TRUE AND a.x = b.x"),
        (
            1,
            "SELECT a.qid_1, a.x FROM a JOIN b "
            "ON a.qid_1 IS NOT DISTINCT FROM b.qid_1 AND a.x = b.x",
        ),
        (
            3,
            "SELECT a.qid_1, a.qid_2, a.qid_3, a.x FROM a JOIN b "
            "ON a.qid_1 IS NOT DISTINCT FROM b.qid_1 AND a.qid_2 IS NOT DISTINCT FROM b.qid_2 "
            "AND a.qid_3 IS NOT DISTINCT FROM b.qid_3 AND a.x = b.x",
        ),
    ],
)
def test_a_join_key_is_compared_column_by_column_and_keeps_its_tables(
    width: int, expected: str
) -> None:
    sql = "SELECT a.qid, a.x FROM a JOIN b ON a.qid IS NOT DISTINCT FROM b.qid AND a.x = b.x"
    assert equal(spliced(sql, width), expected)


def test_a_join_on_one_or_the_other_keeps_the_comparisons_of_a_key_together() -> None:
    sql = "SELECT a.x FROM a JOIN b ON a.x = b.x OR a.qid IS NOT DISTINCT FROM b.qid"
    (on,) = [j.args["on"] for j in splice(template(sql), width=3).args["joins"]]
    assert isinstance(on, exp.Or)
    assert isinstance(on.expression, exp.And)
    assert equal(
        spliced(sql, 2),
        "SELECT a.x FROM a JOIN b ON a.x = b.x OR "
        "a.qid_1 IS NOT DISTINCT FROM b.qid_1 AND a.qid_2 IS NOT DISTINCT FROM b.qid_2",
    )


def test_a_key_that_must_differ_stays_one_condition() -> None:
    sql = "SELECT a.x FROM a JOIN b ON NOT a.qid IS NOT DISTINCT FROM b.qid"
    rendered = sqlglot.parse_one(spliced(sql, 2), read="duckdb")
    (on,) = [j.args["on"] for j in rendered.args["joins"]]
    assert isinstance(on, exp.Not)


@pytest.mark.parametrize("secret", [1, 2, 12])
def test_a_secret_gets_its_number_wherever_it_stands_and_keeps_its_table(secret: int) -> None:
    sql = (
        "SELECT a.secret, min(secret) AS best FROM (SELECT secret FROM a) AS a "
        "WHERE secret IS NULL GROUP BY secret ORDER BY secret"
    )
    assert equal(spliced(sql, secret=secret), sql.replace("secret", f"secret_{secret}"))


def test_only_a_column_is_a_secret_not_an_alias_a_text_or_a_longer_name() -> None:
    sql = "SELECT x AS secret, 'secret' AS y, secret_values.value FROM secret_values"
    assert equal(spliced(sql, secret=2), sql)


def test_without_a_number_secrets_stay_as_they_are() -> None:
    assert equal(spliced("SELECT secret FROM a"), "SELECT secret FROM a")


def test_a_tally_is_defined_once_for_each_counted_value_of_each_secret() -> None:
    query = splice(load("tallies"), width=1, tallies=TALLIES)
    assert query.named_selects == ["qid_1", "size", "tally_1_1", "tally_1_2", "tally_2_1"]
    for (j, code), item in zip(TALLIES, query.expressions[2:], strict=True):
        expected = (
            f"count(*) FILTER (WHERE secret_{j} IS NOT DISTINCT FROM "
            f"(SELECT value FROM secret_values_{j} WHERE code = {code}))"
        )
        assert equal(render(item.this), expected)


def test_a_tally_is_repeated_where_it_is_selected_grouped_and_listed() -> None:
    columns = "tally_1_1, tally_1_2, tally_2_1"
    assert equal(
        render(splice(load("signatures"), width=1, tallies=TALLIES)),
        f"SELECT size, {columns}, count(*) AS blocks FROM tallies GROUP BY size, {columns}",
    )
    listed = "SELECT list_max([tally]) AS mode, sum(blocks) FROM (SELECT [1, least(tally, 1)] AS x)"
    assert equal(
        spliced(listed, tallies=TALLIES[:2]),
        "SELECT list_max([tally_1_1, tally_1_2]) AS mode, sum(blocks) "
        "FROM (SELECT [1, least(tally_1_1, 1), least(tally_1_2, 1)] AS x)",
    )


def test_a_renamed_table_answers_to_its_old_name() -> None:
    sql = "SELECT a.x, b.y, t.z FROM a JOIN b ON a.x = b.x JOIN c AS t ON t.x = a.x"
    assert equal(
        spliced(sql, tables={"a": "a_1", "b": "b", "c": "c_1"}),
        "SELECT a.x, b.y, t.z FROM a_1 AS a JOIN b ON a.x = b.x JOIN c_1 AS t ON t.x = a.x",
    )


def test_a_table_is_renamed_in_subqueries_too() -> None:
    sql = "SELECT x FROM (SELECT a.x FROM a WHERE a.x IN (SELECT x FROM a)) AS q"
    assert equal(
        spliced(sql, tables={"a": "a_1"}),
        "SELECT x FROM (SELECT a.x FROM a_1 AS a WHERE a.x IN (SELECT x FROM a_1 AS a)) AS q",
    )


@pytest.mark.parametrize("name", FILES)
def test_splicing_leaves_the_template_as_it_was(name: str) -> None:
    before = load(name).query.sql("duckdb")
    splice(load(name), width=3, secret=2, tables={"cells": "cells_2"}, tallies=TALLIES)
    assert load(name).query.sql("duckdb") == before


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "width", [3, pytest.param(1, marks=pytest.mark.slow(because="the same for one column"))]
)
def test_a_spliced_file_holds_no_placeholder_and_binds_to_what_other_files_give(
    name: str, width: int
) -> None:
    query = splice(load(name), width=width, secret=1, tallies=TALLIES)
    assert not {c.name for c in query.find_all(exp.Column)} & {"qid", "secret", "tally"}
    with duckdb.connect() as con:
        for table in tables(query):
            have(con, table, width=width, weighted=name.startswith("weighted/"))
        if name == "housed_people":  # a person may have several
            con.execute("ALTER TABLE microdata ALTER household TYPE BIGINT[] USING [household]")
        con.execute(render(query))


# The tables that no file makes, with the columns that the compiler gives them.
PERSON = (
    "secret_1 BIGINT, secret_2 BIGINT, weight HUGEINT, key BIGINT, member_of VARCHAR, "
    "household BIGINT, person BIGINT, alone BIGINT, alike BIGINT, lone BOOLEAN"
)
GIVEN = {
    "hidden": PERSON,
    "microdata": PERSON,
    "agreement": f"{PERSON}, mask INTEGER",
    "asked": (
        "scale DOUBLE, tries INTEGER, penalty INTEGER, tolerance DECIMAL(20, 9), "
        "thresholds DOUBLE[], quantiles DECIMAL(18, 9)[]"
    ),
    "beliefs": "value BIGINT, raw VARCHAR, belief DOUBLE",
    "listed": "guess VARCHAR, value BIGINT, raw VARCHAR, gain DOUBLE",
    "numbers": "code BIGINT, value BIGINT, number HUGEINT",
    "pairs": "guess BIGINT, code BIGINT, gain DOUBLE",
    "population": "size BIGINT",
    "positions": "first_tally BIGINT, last_tally BIGINT",
}
OF_BLOCKS = ("hidden", "microdata", "agreement", "population")  # and the quasi-identifiers


def tables(query: exp.Expr) -> set[str]:
    return {table.name for table in query.find_all(exp.Table)}


def have(con: duckdb.DuckDBPyConnection, table: str, *, width: int, weighted: bool) -> None:
    """Create a table by the file that makes it, after all that this file reads."""
    if con.execute("FROM duckdb_tables() WHERE table_name = $1", [table]).fetchall():
        return
    if table in GIVEN:
        qids = [f"qid_{i} BIGINT" for i in range(1, width + 1)] if table in OF_BLOCKS else []
        con.execute(f"CREATE TABLE {table} ({', '.join([*qids, GIVEN[table]])})")
        return
    whole = "prior_profile" if table == "prior" else table
    found = re.fullmatch(r"(prior_)?(.+?)(_[12])?", whole)
    assert found
    prior, file, number = found[1] or "", found[2], found[3] or ""
    if weighted and f"weighted/{file}" in FILES:
        file = f"weighted/{file}"
    query = splice(
        load(file),
        width=0 if prior else width,
        secret=int(number[1:] or 1),
        tables={read: f"{prior}{read}{number}" for read in tables(load(file).query) - set(GIVEN)},
        tallies=TALLIES,
    )
    for read in tables(query):
        have(con, read, width=width, weighted=weighted)
    con.execute(f"CREATE TABLE {table} AS {render(query)}")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT part, min(place) AS low, x FROM a GROUP BY part, place ORDER BY place DESC",
            "SELECT part, min(place_1) AS low_1, min(place_4) AS low_4, x FROM a "
            "GROUP BY part, place_1, place_4 ORDER BY place_1 DESC, place_4 DESC",
        ),
        (
            "SELECT [place + 1][2] AS x, row_number() OVER (PARTITION BY place) AS n FROM a",
            "SELECT [place_1 + 1, place_4 + 1][2] AS x, "
            "row_number() OVER (PARTITION BY place_1, place_4) AS n FROM a",
        ),
        (
            "SELECT x FROM a JOIN b USING (place) WHERE each(low <= place OR place = 0)",
            "SELECT x FROM a JOIN b USING (place_1, place_4) WHERE "
            "((low_1 <= place_1 OR place_1 = 0) AND (low_4 <= place_4 OR place_4 = 0))",
        ),
        (
            "SELECT added([list_extract(xs, number) * place]) AS x FROM a",
            "SELECT (list_extract(xs, 1) * place_1 + list_extract(xs, 4) * place_4) AS x FROM a",
        ),
        (
            "SELECT place - wanted_each AS place FROM a WHERE x > wanted_k",
            "SELECT place_1 - 7 AS place_1, place_4 - 8 AS place_4 FROM a WHERE x > -3",
        ),
    ],
)
def test_an_item_of_a_place_is_repeated_for_each_quasi_identifier(sql: str, expected: str) -> None:
    numbers = {"wanted_each": (7, 8), "wanted_k": -3}
    assert equal(spliced(sql, places=(1, 4), numbers=numbers), expected)


def test_a_place_in_a_view_about_one_stands_for_itself() -> None:
    sql = "SELECT place, min(low) AS low FROM a GROUP BY place"
    assert equal(spliced(sql), sql)


def test_a_word_is_repeated_as_an_item_and_the_first_one_in_an_expression() -> None:
    assert equal(
        spliced("SELECT sum(word) AS word, people(word) AS size FROM a", words=2),
        "SELECT sum(word_1) AS word_1, sum(word_2) AS word_2, people(word_1) AS size FROM a",
    )


def test_a_table_of_one_row_gives_its_values_and_leaves_the_join() -> None:
    rows = {"bounds": {"k": exp.Literal.number(5)}}
    assert equal(
        spliced("SELECT x FROM a CROSS JOIN bounds WHERE x < bounds.k", rows=rows),
        "SELECT x FROM a WHERE x < 5",
    )


def test_columns_and_full_names_of_tables_stand_in_for_names() -> None:
    assert equal(
        spliced("SELECT x, b.y FROM b", columns={"x": "z"}, tables={"b": "memory.main.b_1"}),
        "SELECT z, b.y FROM memory.main.b_1 AS b",
    )
