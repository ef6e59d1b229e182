"""The SQL of an attack gives its numbers when it is pasted."""

from places import SAMPLES
from terminal import run

import qifsql

PEOPLE = str(SAMPLES / "thesis_table_3_2.csv")


CENSUS = str(SAMPLES / "school_census_2019.parquet")


def test_sql_gives_the_numbers_of_attack_when_pasted():
    text = run("sql", "crs,cas", CENSUS, "-q", "NU_DIA,CO_ENTIDADE", "-s", "TP_SEXO").out
    pasted = engine(text)
    expected = qifsql.attack("crs,cas", CENSUS, qids=["NU_DIA", "CO_ENTIDADE"], secret="TP_SEXO")
    for row, same in zip(pasted, expected.rows(), strict=True):
        assert {k: v for k, v in row.items() if k != "matches"} == {
            k: same[k] for k in row if k != "matches"
        }


def test_sql_stops_after_a_step():
    rows = engine(run("sql", "cas", PEOPLE, "-q", "age", "-s", "illness", "--step", "blocks_1").out)
    assert sorted((r["age"], r["size"], r["mode"], r["values"]) for r in rows) == [
        (25, 5, 3, 2), (49, 4, 2, 2), (60, 1, 1, 1),
    ]  # fmt: skip


def test_a_step_is_found_by_its_name_without_a_number():
    options = ("cas", PEOPLE, "-q", "age", "-s", "illness")
    numbered = run("sql", *options, "--step", "cells_1").out
    assert run("sql", *options, "--step", "cells").out == numbered
    assert list(engine(numbered)[0])[:2] == ["age", "illness"]


def test_several_steps_of_a_name_are_listed_with_what_they_are_about():
    options = ("crs,cas", PEOPLE, "-q", "age", "-s", "illness", "-s", "occupation")
    refused = run("sql", *options, "--step", "blocks")
    assert refused.code == 2
    for about in ("blocks_0 (re-identification)", 'blocks_2 (secret "occupation")'):
        assert about in refused.err


def test_a_step_shows_names_that_the_step_itself_uses(tmp_path):
    table = tmp_path / "sizes.csv"
    table.write_text("size,qid_1,illness\n1,2,x\n1,2,y\n3,2,y\n")
    text = run("sql", "cas", str(table), "-q", "size,qid_1", "-s", "illness", "--step", "blocks")
    rows = engine(text.out)
    assert list(rows[0])[:3] == ["size", "qid_1", "size_2"]
    assert sorted((row["size"], row["size_2"]) for row in rows) == [(1, 2), (3, 1)]


def engine(script: str) -> list[dict[str, object]]:
    import duckdb

    with duckdb.connect() as connection:
        cursor = connection.execute(script)
        names = [d[0] for d in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
