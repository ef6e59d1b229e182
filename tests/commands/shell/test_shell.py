"""A DuckDB prompt in which the views of the partition are ready."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from places import SAMPLES
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql

PEOPLE = str(SAMPLES / "thesis_table_3_2.csv")


def engine(script: str) -> list[dict[str, object]]:
    import duckdb

    with duckdb.connect() as connection:
        cursor = connection.execute(script)
        names = [d[0] for d in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_the_statements_of_the_shell_run_in_a_plain_prompt():
    text = run("shell", PEOPLE, "-q", "age", "-s", "illness", "--init-only").out
    (row,) = engine(text + "FROM answer")
    assert (row["prior_probabilistic"], row["posterior_probabilistic"]) == (0.5, 0.6)


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_the_shell_runs_what_is_typed_and_goes_on_after_a_mistake():
    typed = "select count(*) as n\nfrom blocks;\nselect nonsense;\nfrom occupation.answer;\n"
    done = subprocess.run(
        [*COMMAND, "shell", PEOPLE, "-q", "age", "-s", "illness", "-s", "occupation"],
        input=typed, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout.startswith("n\n3\nrecords,")
    assert "nonsense" in done.stderr
    assert "Traceback" not in done.stderr


def typed(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "shell", PEOPLE, "-q", "age", *options],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_columns_have_the_names_of_the_file():
    done = typed(
        "select age, count(*) as n from microdata group by age order by age;\n"
        "select gender, illness from microdata limit 0;\n"
        "select age, size from blocks order by age;\n"
        "select age, illness, people from cells where age = 60;\n"
        "select age, best_guess from guesses where age = 25;\n",
        "-s", "illness",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        *("age,n", "25,5", "49,4", "60,1", "gender,illness"),
        *("age,size", "25,5", "49,4", "60,1"),
        *("age,illness,people", "60,no,1", "age,best_guess", "25,yes"),
    ]


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
def test_tables_and_help():
    done = typed(".tables\n.help\n", "-s", "illness", "-s", "occupation")
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line for line in done.stdout.splitlines() if line.startswith(("illness,", "occu"))]
    assert "illness,microdata,One row per individual" in listed
    assert {line.split(",")[1] for line in listed} == {
        *("microdata", "cells", "blocks", "guesses", "revealed", "profile"),
        *("prior", "prior_cells", "prior_blocks", "asked", "answer"),
    }
    assert all(len(line) < 160 for line in listed)
    unknown = typed(".tabels\n")
    assert unknown.returncode == 2
    assert ".tables" in unknown.stderr


@pytest.mark.slow(because="test_help.py runs the examples of all commands")
def test_the_examples_of_the_help_run():
    for options in ((), ("-s", "illness"), ("--weight", "age")):
        lines = typed(".help\n", *options).stdout.splitlines()
        examples = [line.strip() for line in lines if line.startswith("  ")]
        assert len(examples) >= 3
        done = typed("\n".join(examples) + "\n", *options)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
@settings(max_examples=examples(60), deadline=None)
@given(tables())
def test_views_with_hostile_names_give_the_numbers_of_the_attack(drawn: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.parquet")
        pq.write_table(to_arrow(drawn), path)
        options = {"qids": drawn.qids, "secret": drawn.secrets[:1]}
        statements = qifsql.shell(path, init_only=True, **options)
        (row,) = engine(f"{statements} FROM answer")
        (same,) = qifsql.attack("cas", path, **options).rows()
        assert {name: row[name] for name in row if name in same} == {
            name: same[name] for name in row if name in same
        }
        names = list(engine(f"{statements} FROM microdata")[0])
        shown = [n for n in names if n in drawn.qids]
        twins = {name.casefold() for name in drawn.columns}
        taken = {"size", "mode", "values", "weight", "blocks", "cells", "microdata"}
        if len(twins) == len(drawn.columns) and not twins & taken:
            assert shown == drawn.qids
        (people,) = engine(f"{statements} SELECT count(*) AS n FROM blocks")
        assert people["n"] == same["blocks"]


COMMAND = (sys.executable, "-m", "qifsql")
