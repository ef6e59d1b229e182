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
    assert sorted((r["qid_1"], r["size"], r["mode"], r["values"]) for r in rows) == [
        (25, 5, 3, 2), (49, 4, 2, 2), (60, 1, 1, 1),
    ]  # fmt: skip


def engine(script: str) -> list[dict[str, object]]:
    import duckdb

    with duckdb.connect() as connection:
        cursor = connection.execute(script)
        names = [d[0] for d in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
