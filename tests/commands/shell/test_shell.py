"""A DuckDB prompt in which the views of the partition are ready."""

import subprocess
import sys

from places import SAMPLES
from terminal import run

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


COMMAND = (sys.executable, "-m", "qifsql")
