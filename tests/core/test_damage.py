"""Stored state that was damaged gives the same numbers or is refused; never another number."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pytest
from terminal import Done, run

import qifsql
from qifsql.commands.sweep.sweep_run import SweepRun
from qifsql.errors import DatasetError, InternalError
from qifsql.results import stored

CELL = "CELLVALUE"  # stands in cells and must never stand in a message
HEADER, BLOCK = 3 * 4096, 2**18  # bytes of a DuckDB file before its blocks, and of each block
ASKED = ("people.parquet", "-q", "a,b,c", "-s", "s", "-s", "t", "-f", "json", "--quiet")
STORE = ("attack", "crs,cas", *ASKED, "--gain", "identity", "--store", "state")
TEST = ("dit", "people.parquet", "-q", "b,c", "-s", "t", "--method", "mondrian", "--k", "20")
INFER = (*TEST, "--sample", "20", "-f", "json", "--quiet", "--store", "state")
SWEEP = ("sweep", *ASKED, "--workspace", "state")


def people() -> pl.DataFrame:
    """Some people: quasi-identifiers a, b, c, a secret of few values and one of many."""
    random = Random(2022)
    rows = range(200)
    return pl.DataFrame(
        {
            "a": [f"{CELL}-{random.randrange(5)}" for _ in rows],
            "b": [random.randrange(12) for _ in rows],
            "c": [random.randrange(7) for _ in rows],
            "s": [f"{CELL}-{random.randrange(4)}" for _ in rows],
            "t": [random.randrange(30) for _ in rows],
        }
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    people().write_parquet("people.parquet")
    return tmp_path


def numbers(out: str) -> Any:
    """The results of a command without the seconds that it took."""
    document = json.loads(out)
    return [{k: v for k, v in row.items() if k != "seconds"} for row in document["results"]]


def check(done: Done, expected: Any, damage: str) -> bool:
    """Check that the command gave the same numbers, or one line that refuses; whether it did."""
    assert done.code in {0, 2, 3}, (damage, done)
    if done.code == 0:
        assert numbers(done.out) == expected, damage
        return False
    assert done.out == "", damage
    assert done.err.startswith("error: "), (damage, done.err)
    assert done.err.count("\n") == 1, (damage, done.err)
    assert CELL not in done.err, damage
    return True


def damages(file: Path) -> Iterator[tuple[str, str, Callable[[duckdb.DuckDBPyConnection], object]]]:
    """Yield ways to damage each table of a DuckDB file: what, which table, how."""
    with duckdb.connect(file, read_only=True) as connection:
        names = [name for (name,) in connection.sql("SHOW TABLES").fetchall()]
        columns = {name: connection.table(name).columns for name in names}
        kinds = {name: list(map(str, connection.table(name).types)) for name in names}
        rows = {name: len(connection.table(name).fetchall()) for name in names}
    for name in names:
        if not rows[name]:
            continue
        table = f'"{name}"'
        statements = {
            "emptied": f"DELETE FROM {table}",
            "a row less": f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})",
            "dropped": f"DROP TABLE {table}",
            "a row twice": f"CREATE TABLE twice AS FROM {table} UNION ALL "
            f"(FROM {table} LIMIT 1); DROP TABLE {table}; ALTER TABLE twice RENAME TO {table}",
        }
        for column, kind in zip(columns[name], kinds[name], strict=True):
            text = kind == "VARCHAR"
            changed = f"""replace("{column}", '1', '2')""" if text else f'"{column}" + 1'
            if not text and "INT" not in kind:
                changed = "NULL"
            where = f"rowid = (SELECT max(rowid) FROM {table})"
            statements[f"{column} changed"] = f'UPDATE {table} SET "{column}" = {changed}' + (
                "" if text else f" WHERE {where}"
            )
        for damage, statement in statements.items():
            yield damage, name, lambda connection, sql=statement: connection.execute(sql)


def damage_tables(state: Path, command: tuple[str, ...], expected: Any) -> int:
    """Damage every table of a file, one after the other, and run; how many were refused."""
    whole = state.with_name("whole")
    shutil.copy(state, whole)
    refused = 0
    for damage, name, make in list(damages(whole)):
        shutil.copy(whole, state)
        Path(f"{state}.wal").unlink(missing_ok=True)
        try:
            with duckdb.connect(state) as connection:
                make(connection)
        except duckdb.Error:  # a key that is there already
            continue
        refused += check(run(*command), expected, f"{name}: {damage}")
    return refused


def damaged(whole: bytes, random: Random, how: str) -> bytes:
    """Return a damaged copy of a DuckDB file."""
    file = bytearray(whole)
    if how == "swapped":
        a, b = (HEADER + BLOCK * n for n in random.sample(range((len(file) - HEADER) // BLOCK), 2))
        file[a : a + BLOCK], file[b : b + BLOCK] = file[b : b + BLOCK], file[a : a + BLOCK]
    elif how == "flipped":
        file[random.randrange(len(file))] ^= 1 << random.randrange(8)
    else:
        del file[random.randrange(len(file)) :]
    return bytes(file)


def damage_files(state: Path, command: tuple[str, ...], expected: Any, times: int) -> None:
    """Damage a file, each time anew, and run in a process of its own."""
    whole, random = state.read_bytes(), Random(13)
    for how in ("swapped", "flipped", "truncated") * times:
        state.write_bytes(damaged(whole, random, how))
        Path(f"{state}.wal").unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", "qifsql", *command], capture_output=True, text=True, check=False
        )
        check(Done(done.returncode, done.stdout, done.stderr), expected, how)


# Workspaces of sweeps


def begun(monkeypatch: pytest.MonkeyPatch, tasks: int) -> None:
    """Make the workspace of a sweep that stopped after so many tasks."""
    tables, asked = import_module("qifsql.commands.sweep.tables"), count()
    with monkeypatch.context() as patch:
        patch.setattr(tables, "CHUNK_ROWS", 60)
        patch.setattr(tables, "LEAST_ROWS", 20)
        patch.setattr(SweepRun, "_out_of_time", lambda _self: next(asked) > tasks)
        assert run(*SWEEP, "--time-budget", "99s").code in {0, 2}


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [6, 1000])
def test_a_sweep_with_a_damaged_table_gives_the_same_numbers_or_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch, tasks: int
):
    expected = numbers(run("sweep", *ASKED).out)
    begun(monkeypatch, tasks)
    assert damage_tables(here / "state", SWEEP, expected) > 20


@pytest.mark.slow(because="4.3 s; every recorded mutant dies without it")
def test_a_sweep_whose_findings_were_emptied_is_refused(here: Path):
    assert run(*SWEEP).code == 0
    with duckdb.connect("state") as connection:
        connection.execute("DELETE FROM found WHERE part = 0 AND question = 1")
    done = run(*SWEEP)
    assert check(done, None, "emptied")
    assert "state is damaged" in done.err
    assert "--restart" in done.err
    assert run(*SWEEP, "--restart").code == 0


@pytest.mark.slow
def test_a_sweep_with_a_damaged_file_gives_the_same_numbers_or_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch
):
    expected = numbers(run("sweep", *ASKED).out)
    begun(monkeypatch, 6)
    damage_files(here / "state", SWEEP, expected, times=3)


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_a_task_that_is_lost_is_missed_in_the_result(here: Path, monkeypatch: pytest.MonkeyPatch):
    workspace = import_module("qifsql.commands.sweep.workspace").Workspace
    add = workspace.add_tasks

    def lose(self: Any, stream: Any, tasks: Any) -> Any:
        return add(self, stream, [task for task in tasks if task.position != 1])

    monkeypatch.setattr(workspace, "add_tasks", lose)
    done = run(*SWEEP)
    assert check(done, None, "lost")
    assert "damaged" in done.err
    with pytest.raises(InternalError):
        qifsql.sweep("people.parquet", qids=["a", "b", "c"])


# Stores of attacks and of inference tests


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_store_whose_counts_were_changed_is_refused(here: Path):
    assert run(*STORE).code == 0
    with duckdb.connect("state") as connection:
        connection.execute("UPDATE cells_1 SET weight = weight + 1")
    done = run(*STORE)
    assert check(done, None, "changed")
    assert "state is damaged" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("command", [STORE, INFER], ids=["attack", "dit"])
def test_a_store_with_a_damaged_table_gives_the_same_numbers_or_is_refused(
    here: Path, command: tuple[str, ...]
):
    done = run(*command)
    assert done.code == 0, done.err
    expected = numbers(done.out)
    assert numbers(run(*command).out) == expected
    assert damage_tables(here / "state", command, expected) > 5


@pytest.mark.slow
@pytest.mark.parametrize("command", [STORE, INFER], ids=["attack", "dit"])
def test_a_store_with_a_damaged_file_gives_the_same_numbers_or_is_refused(
    here: Path, command: tuple[str, ...]
):
    expected = numbers(run(*command).out)
    damage_files(here / "state", command, expected, times=3)


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_a_table_that_was_not_entered_in_the_ledger_is_counted_again(here: Path):
    expected = numbers(run(*STORE).out)
    with duckdb.connect("state") as connection:
        connection.execute("DELETE FROM ledger WHERE name LIKE 'cells%'")
    assert numbers(run(*STORE).out) == expected
    assert numbers(run(*STORE).out) == expected


# Stored results


@pytest.mark.slow(because="2.6 s; every recorded mutant dies without it")
def test_a_stored_result_with_a_flipped_bit_in_a_page_is_refused_or_is_the_same(here: Path):
    command = ("attack", "crs,cas", *ASKED[:-3], "--histogram", "-o", "risk.parquet", "--quiet")
    assert run(*command).code == 0
    for file in (here / "risk.parquet", here / "risk.histogram.parquet"):
        whole, expected, random = file.read_bytes(), stored.read(["."]), Random(7)
        messages = []
        footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
        for _ in range(200):
            changed = bytearray(whole)
            changed[random.randrange(4, footer)] ^= 1 << random.randrange(8)
            file.write_bytes(changed)
            try:
                (found,) = stored.read(["risk.parquet"])
            except DatasetError as e:
                messages.append(str(e))
            else:
                assert found.frame.equals(expected[0].frame)
                assert found.details["histogram"].equals(expected[0].details["histogram"])
        file.write_bytes(whole)
        assert len(messages) > 100
        assert all(m.startswith("risk.parquet is not a result of qifsql") for m in messages)


# Who may read what stays


@pytest.mark.slow(because="2.5 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    "command",
    [
        ("attack", "crs,cas", "people.parquet", "-q", "a,b", "-s", "s", "--store", "state"),
        (*TEST, "--sample", "20", "--records", "records.csv", "--store", "state"),
    ],
    ids=["attack", "dit"],
)
def test_a_store_is_readable_by_the_user_alone_from_its_first_byte_and_says_what_it_holds(
    here: Path, command: tuple[str, ...]
):
    watched = (
        "import os, sys; os.umask(0o022); sys.addaudithook(lambda event, _: event == 'open' and "
        "print(*(f'{n}={os.stat(n).st_mode & 0o777:o}' for n in ('state', 'state.wal') "
        "if os.path.exists(n)), file=sys.stderr)); from qifsql.app import entry; entry()"
    )
    done = subprocess.run(
        [sys.executable, "-c", watched, *command], capture_output=True, text=True, check=False
    )
    modes = {word for word in done.stderr.split() if word.startswith("state") and "=" in word}
    assert done.returncode == 0, done.stderr
    assert modes <= {"state=600", "state.wal=600"}
    assert "note: state holds values of cells" in done.stderr
    assert oct((here / "state").stat().st_mode & 0o777) == "0o600"
    records = here / "records.csv"
    assert not records.exists() or oct(records.stat().st_mode & 0o777) == "0o644"
    assert "holds values" not in run(*command).err  # it was made before
