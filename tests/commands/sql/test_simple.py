"""The few lines that a statistician would write give exactly the numbers of an attack."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.reference import microdata

PEOPLE = str(SAMPLES / "thesis_table_3_2.csv")
CENSUS = tuple(str(SAMPLES / f"school_census_{year}.parquet") for year in (2019, 2018))
COLLECTIVE = {
    *("records", "blocks", "singled_out"),
    *("posterior_deterministic", "posterior_probabilistic"),
}
INDIVIDUAL = {"matches", "posterior_deterministic", "posterior_probabilistic"}


def pasted(script: str) -> list[dict[str, Any]]:
    """The one row of each statement, in a DuckDB that knows nothing of qifsql."""
    rows = []
    with duckdb.connect() as connection:
        for statement in connection.extract_statements(script):
            cursor = connection.execute(statement)
            names = [d[0] for d in cursor.description or ()]
            rows += [dict(zip(names, row, strict=True)) for row in cursor.fetchall() if names]
    return [row for row in rows if "posterior_probabilistic" in row]


def check(model: str, source: Any, **options: Any) -> None:
    """Each statement gives what the attack says, and all columns that are promised."""
    rows = pasted(qifsql.sql(model, source, simple=True, **options))
    attacked = qifsql.attack(model, source, **options).rows()
    assert len(rows) == len(attacked)
    for row, same in zip(rows, attacked, strict=True):
        assert set(row) == (INDIVIDUAL if model.startswith("i") else COLLECTIVE)
        assert row == {name: same[name] for name in row}


@contextmanager
def stored(drawn: Table) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.parquet")
        pq.write_table(to_arrow(drawn), path)
        yield path


def missing(value: object) -> bool:
    return microdata.value(value) == microdata.value(None)


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
@settings(max_examples=examples(150), deadline=None)
@given(tables(), st.sampled_from(("distinct", "drop")))
def test_simple_sql_gives_the_numbers_of_the_attack(drawn: Table, null: Any) -> None:
    with stored(drawn) as path:
        options: Mapping[str, Any] = {"qids": drawn.qids, "secret": drawn.secrets, "null": null}
        if null == "drop" and not any(
            all(not missing(row[name]) for name in (*drawn.qids, *drawn.secrets))
            for row in drawn.rows
        ):
            return  # nobody is left
        check("crs,cas", path, **options)


@settings(max_examples=examples(100), deadline=None)
@given(tables(), st.data())
def test_simple_sql_about_one_person(drawn: Table, data: st.DataObject) -> None:
    person = data.draw(st.sampled_from(drawn.rows))
    target = {name: person[name] for name in drawn.qids}
    with stored(drawn) as path:
        check("irs,ias", path, qids=drawn.qids, secret=drawn.secrets, target=target)


def test_filters_expressions_and_names_of_the_statement_itself(tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text('size,people,"values",mode\n1,2,a,x\n1,2,a,y\n2,2,,y\n2,3,b,\n,,,\n')
    check("crs,cas", table, qids=["size", "people"], secret=["values", "mode"], where="people > 1")
    check("cas", table, qids=["half=size//2", "mode"], secret=["people"])
    check(
        "irs", table, qids=["size", "mode"], target={"size": 2, "mode": None}, where="mode IS NULL"
    )


def test_simple_sql_of_a_table_in_a_duckdb_file(tmp_path: Path) -> None:
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE qid_1 AS SELECT range AS qid_1, range % 3 AS b FROM range(9)"
        )
    check("crs,cas", f"qid_1@{file}", qids=["b"], secret=["qid_1"])


def test_the_numbers_to_expect_come_from_a_stored_result(tmp_path: Path) -> None:
    options = (PEOPLE, "-q", "age", "-s", "illness")
    file = str(tmp_path / "risk.json")
    run("attack", "crs,cas", *options, "-o", file)
    text = run("sql", "cas", *options, "--simple", "--result", file).out
    assert "posterior_deterministic = 0.1, posterior_probabilistic = 0.6." in text
    (row,) = pasted(text)
    assert (row["posterior_deterministic"], row["posterior_probabilistic"]) == (0.1, 0.6)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("more", "difference"),
    [
        (("--where", "age > 30"), "where"),
        (("-q", "gender"), "qids"),
        (("--null", "drop"), "null"),
    ],
)
def test_a_result_of_another_attack_is_refused(
    tmp_path: Path, more: tuple[str, ...], difference: str
) -> None:
    file = str(tmp_path / "risk.parquet")
    run("attack", "cas", PEOPLE, "-q", "age", "-s", "illness", "-o", file)
    options = ("cas", PEOPLE, "-q", "age", "-s", "illness", "--simple", "--result", file)
    refused = run("sql", *options, *more)
    assert refused.code == 2
    assert difference in refused.err
    assert run("sql", "crs", *options[1:]).code == 2  # it has no row of that model


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("cms", PEOPLE, "-q", "age", "--member", "ill=illness"), "cms"),
        (("cas", PEOPLE, "-q", "age", "-s", "illness", "--weight", "age"), "weight"),
        (("cas", PEOPLE, "-q", "age", "-s", "illness", "--gain", "tries:2"), "gain"),
        (("crs", PEOPLE, "-q", "age", "--step", "blocks"), "step"),
        (("crl", *CENSUS, "-q", "NU_DIA", "--key", "ID_ALUNO"), "crl"),
    ],
)
def test_what_has_no_simple_form_is_refused(options: tuple[str, ...], reason: str) -> None:
    refused = run("sql", *options, "--simple")
    assert refused.code == 2
    assert reason in refused.err


def test_simple_sql_is_short() -> None:
    """Ten lines that read the file, where no name gets in the way."""
    text = run("sql", "crs", PEOPLE, "-q", "age,gender", "--simple").out
    lines = [line for line in text.splitlines() if line and not line.startswith("--")]
    assert len(lines) <= 12
    assert '"age", "gender", COUNT(*) AS size' in text


def test_a_converted_file_is_named_with_its_copy(tmp_path: Path) -> None:
    source = tmp_path / "people.jsonl"
    source.write_text('{"a": 1}\n{"a": 2}\n{"a": 2}\n')
    done = run("sql", "crs", source, "-q", "a", "--simple")
    assert done.code == 0, done.err
    first, *_ = done.out.splitlines()
    name = first.removeprefix("-- ").split(":")[0]
    assert first == f'-- {name}: the records of "people.jsonl"; create it before you run this'
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_json('{source}')")
        row = connection.execute(done.out).fetchone()
    assert row is not None
    assert row[:3] == (3, 2, 1)
