"""The workspace of a sweep: after any interruption it resumes; nothing runs twice or is lost."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import duckdb
import polars as pl
import pytest
from effort import PATIENCE, SOON, examples
from polars.testing import assert_frame_equal
from terminal import Done, run

import qifsql
from qifsql.commands.sweep.sweep_run import SweepRun
from qifsql.engine.connections import Stream
from qifsql.engine.duckdb import DuckDB
from qifsql.errors import InputError

CELL = "CELLVALUE"  # stands in cells and must never stand in a workspace
DRIVER = """
import sys
from importlib import import_module
tables = import_module("qifsql.commands.sweep.tables")
tables.CHUNK_ROWS = min(tables.CHUNK_ROWS, int(sys.argv.pop(1)))
from qifsql.app import entry
entry()
"""  # the command line with small chunks, so that there are many tasks
KILLS = examples(50)


def people(n: int, *domains: int) -> pl.DataFrame:
    """Random people: quasi-identifiers a, b, ... with so many values, secrets s and t."""
    random = Random(2022)
    columns: dict[str, list[Any]] = {}
    for name, domain in zip("abcdefghij", domains, strict=False):
        weights = [1 if domain % 2 else 1 / (value + 1) for value in range(domain)]
        columns[name] = random.choices(range(domain), weights, k=n)
    columns["a"] = [f"{CELL}-{value}-of-a" for value in columns["a"]]
    columns["s"] = random.choices([f"{CELL}-{value}-of-s" for value in range(5)], k=n)
    columns["t"] = random.choices(range(40), k=n)  # many values: a pass of its own
    return pl.DataFrame(columns)


QUESTION = ("--qids", "a,b,c,d,e,f", "--secret", "s", "--secret", "t", "--format", "json")
N, DOMAINS = 60_000, (40, 200, 31, 12, 60, 5)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A release that takes some seconds to sweep."""
    file = tmp_path_factory.mktemp("big") / "big.parquet"
    people(N, *DOMAINS).write_parquet(file)
    return str(file)


@pytest.fixture(scope="module")
def undisturbed(big: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a sweep of it finds that nobody disturbs."""
    workspace = tmp_path_factory.mktemp("undisturbed") / "w"
    return found(run("sweep", big, *QUESTION, "--workspace", workspace))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small release, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    people(300, 5, 12, 7).write_parquet("people.parquet")
    return tmp_path


SMALL = ("sweep", "people.parquet", "-q", "a,b,c", "-s", "s", "-f", "json")


def found(done: Done) -> dict[str, Any]:
    """The results and details of a command that went well, without what took how long."""
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in document["results"]]
    return document | {"results": rows, "plan": None}


def start(file: str, workspace: Path, *more: object, chunk: int = 3_000, **popen: Any) -> Any:
    """Begin a sweep in a process of its own."""
    arguments = ("sweep", file, *QUESTION, "--workspace", workspace, *more)
    popen = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | popen
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(chunk), *map(str, arguments)], **popen
    )


def run_apart(file: str, workspace: Path, *more: object) -> Done:
    """Run a sweep in a process of its own."""
    running = start(file, workspace, "--quiet", *more)
    output, errors = running.communicate(timeout=PATIENCE)
    return Done(running.returncode, output, errors)


def refused(done: Done, *says: str, code: int = 2) -> None:
    """The command failed with one line that says this, and printed no result."""
    assert "Traceback" not in done.err
    assert done.err.startswith("error: "), done
    assert done.err.count("\n") == 1
    assert not [word for word in says if word not in done.err], done.err
    assert CELL not in done.err
    assert (done.code, done.out) == (code, "")


class Kept(NamedTuple):
    """The content of a workspace."""

    done: dict[int, tuple[Any, ...]]
    tasks: int
    settled: dict[tuple[int, int], int]
    text: str


def kept(workspace: Path, n: int = len(DOMAINS)) -> Kept:
    """Look at a copy of a workspace.

    ``settled`` are people times subsets by pass and question: a state stands for every subset of
    its free attributes, its last n bits.
    """
    if not workspace.exists():
        return Kept({}, 0, {}, "")
    copy = workspace.with_name("copy")
    copy.unlink(missing_ok=True)
    copy.with_name("copy.wal").unlink(missing_ok=True)
    shutil.copy(workspace, copy)
    if (wal := workspace.with_name(workspace.name + ".wal")).exists():
        shutil.copy(wal, copy.with_name("copy.wal"))
    with duckdb.connect(copy) as connection:
        names = [name for (name,) in connection.sql("SHOW TABLES").fetchall()]
        text = "".join(str(connection.table(name).limit(100_000).fetchall()) for name in names)
        if "done" not in names:
            return Kept({}, 0, {}, text)
        done = connection.sql("SELECT task, method, seconds FROM done").fetchall()
        ((tasks,),) = connection.sql("SELECT count(*) FROM tasks").fetchall()
        sums = connection.sql(
            f"SELECT pass, question, sum(people * (1 << bit_count(state & {2**n - 1}))) "
            "FROM found GROUP BY ALL"
        ).fetchall()
    copy.unlink()
    return Kept(
        {task: rest for task, *rest in done}, tasks, {(p, q): int(s) for p, q, s in sums}, text
    )


# Kills


@pytest.mark.slow(because="an interrupted sweep, and one in pieces of time, go on")
def test_a_sweep_that_is_killed_again_and_again_goes_on_where_it_was(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    workspace, temp = tmp_path / "w", tmp_path / "temp"
    temp.mkdir()
    random, before, killed = Random(25), Kept({}, 0, {}, ""), 0
    whole = N * (2 ** len(DOMAINS) - 1)
    for _ in range(KILLS):
        running = start(big, workspace, "--temp", temp, chunk=2_000)
        if random.random() < 0.2:
            wait = random.uniform(0, 1)  # while it begins, or goes on
        else:
            running.stderr.readline()  # it says what it is going to do, then it works
            wait = random.uniform(0, 0.3)
        try:
            running.wait(wait)
        except subprocess.TimeoutExpired:
            running.kill()
        _, errors = running.communicate()
        killed += running.returncode == -signal.SIGKILL
        assert running.returncode in {-signal.SIGKILL, 0}, errors
        after = kept(workspace)
        assert before.done.items() <= after.done.items()  # nothing is lost or done again
        assert len(after.done) <= after.tasks
        for key, settled in after.settled.items():
            assert before.settled.get(key, 0) <= settled <= whole
        assert CELL not in after.text
        before = after
    assert killed >= KILLS // 3  # a faster machine has done all by then
    assert found(run("sweep", big, *QUESTION, "--workspace", workspace)) == undisturbed
    after = kept(workspace)
    assert before.done.items() <= after.done.items()
    assert len(after.done) == after.tasks
    assert after.settled == {(0, 0): whole, (0, 1): whole, (1, 2): whole}


SOME_DONE = 3_600_000  # bytes of the log: tables take 3.2 MB, and each task that is done 95 kB


def under_way(running: subprocess.Popen[str], workspace: Path, least: int = 60_000) -> Path:
    """Wait until the log of a workspace has so many bytes; the log."""
    log = workspace.with_name(f"{workspace.name}.wal")
    assert running.stderr is not None
    running.stderr.readline()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and not (log.exists() and log.stat().st_size > least):
        time.sleep(0.02)
    return log


@pytest.mark.slow(because="14.9 s; every recorded mutant dies without it")
def test_a_log_that_was_not_written_to_its_end_costs_only_what_stood_there(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    workspace = tmp_path / "w"
    running = start(big, workspace, "--temp", tmp_path)
    log = under_way(running, workspace)
    running.kill()
    running.communicate()
    if log.exists():  # it may just have been written into the workspace
        os.truncate(log, log.stat().st_size * 2 // 3)
    assert found(run("sweep", big, *QUESTION, "--workspace", workspace)) == undisturbed


# Interruption


@pytest.mark.slow(because="22 s; every recorded mutant dies without it")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_names_its_workspace_and_goes_on(
    big: str, undisturbed: dict[str, Any], tmp_path: Path, sent: int
):
    workspace, temp = tmp_path / "w", tmp_path / "temp"
    temp.mkdir()
    running = start(big, workspace, "--temp", temp)
    under_way(running, workspace, SOME_DONE)
    running.send_signal(sent)
    output, errors = running.communicate(timeout=PATIENCE)
    assert (running.returncode, output) == (130, "")
    assert errors.startswith("error: interrupted; ")
    assert errors.count("\n") == 1
    assert str(workspace) in errors
    assert list(temp.iterdir()) == []
    before = kept(workspace)
    assert before.done
    assert found(run("sweep", big, *QUESTION, "--workspace", workspace)) == undisturbed
    assert before.done.items() <= kept(workspace).done.items()


SLOW = "SELECT sum(random()) FROM range(100_000_000_000)"  # takes minutes


@pytest.mark.slow(because="2.5 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("share", "statement"),
    [*((share, None) for share in (0.01, 0.1, 0.5, 0.7, 0.95)), (0.05, SLOW), (0.7, SLOW)],
    ids=lambda value: str(value)[:6],
)
def test_an_interruption_is_heard_at_any_statement(
    here: Path, monkeypatch: pytest.MonkeyPatch, share: float, statement: str | None
):
    rows, number, sent = Stream.rows, count(), []
    (here / "temp").mkdir()
    command = (*SMALL, "--quiet", "--temp", "temp", "--workspace")

    def counted(stream: Stream, *given: Any) -> list[tuple[Any, ...]]:
        next(number)
        return rows(stream, *given)

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def disturbed(stream: Stream, *given: Any) -> list[tuple[Any, ...]]:
        if next(number) != at:
            return rows(stream, *given)
        if statement is None:
            interrupt()
            return rows(stream, *given)
        threading.Timer(0.2, interrupt).start()
        return rows(stream, statement)

    monkeypatch.setattr(Stream, "rows", counted)
    expected = found(run(*command, "whole"))
    at, number = int(next(number) * share), count()
    monkeypatch.setattr(Stream, "rows", disturbed)
    done = run(*command, "w")
    assert time.monotonic() - sent[0] < SOON
    refused(done, "interrupted; ", code=130)
    assert "nothing was left behind" not in done.err or not (here / "w").exists()
    assert list((here / "temp").iterdir()) == []
    monkeypatch.setattr(Stream, "rows", rows)
    assert found(run(*command, "w")) == expected


# Other questions


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small release and its workspace ``w``, completed."""
    folder = tmp_path_factory.mktemp("answered")
    frame = people(300, 5, 12, 7)
    frame.with_columns(n=pl.col("b") + 1).write_parquet(folder / "people.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found(run(*SMALL, "--workspace", "w"))
    return folder


OTHER: list[tuple[str, tuple[str, ...]]] = [
    ("quasi-identifiers", ("-q", "a,b")),
    ("quasi-identifiers", ("-q", "a,b,c,t")),
    ("quasi-identifiers", ("-q", "a,b,c=c//2")),
    ("secrets", ("-q", "a,b,c", "-s", "t")),
    ("secrets", ("-q", "a,b,c", "-s", "s", "-s", "t")),
    ("secrets", ("-q", "a,b,c", "-s", "s=upper(s)")),
    ("where", ("-q", "a,b,c", "-s", "s", "--where", "b > 0")),
    ("null", ("-q", "a,b,c", "-s", "s", "--null", "drop")),
    ("sizes", ("-q", "a,b,c", "-s", "s", "--sizes", "1-2")),
    ("subsets", ("-q", "a,b,c", "-s", "s", "--subset", "a+b")),
    ("weight", ("-q", "a,b,c", "-s", "s", "--weight", "n")),
    ("search", ("-q", "a,b,c", "-s", "s", "--search", "--threshold", "0.5")),
]


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
@pytest.mark.parametrize(("differs", "asked"), OTHER)
def test_the_workspace_of_another_question_is_refused(
    answered: Path, monkeypatch: pytest.MonkeyPatch, differs: str, asked: tuple[str, ...]
):
    monkeypatch.chdir(answered)
    before = Path("w").read_bytes()
    done = run("sweep", "people.parquet", *asked, "--workspace", "w")
    refused(done, f"{differs}", "differ", "--restart", "--workspace")
    assert Path("w").read_bytes() == before


@pytest.mark.slow(because="3.6 s; every recorded mutant dies without it")
@pytest.mark.parametrize(("_differs", "asked"), OTHER[2:10:3])
def test_restart_starts_anew(here: Path, _differs: str, asked: tuple[str, ...]):
    arguments = ("sweep", "people.parquet", *asked, "-f", "json", "--workspace", "w")
    found(run(*SMALL, "--workspace", "w"))
    assert run(*arguments).code == 2
    fresh = found(run(*arguments[:-1], "fresh"))
    assert found(run(*arguments, "--restart")) == fresh
    assert found(run(*arguments)) == fresh


@pytest.mark.slow(because="3.8 s; every recorded mutant dies without it")
def test_a_search_without_time_keeps_what_it_asked(here: Path, monkeypatch: pytest.MonkeyPatch):
    arguments = ("sweep", "people.parquet", "-q", "a,b,c", "-s", "s", "--search", "-f", "json")
    arguments += ("--threshold", "0.5", "--workspace")
    expected = found(run(*arguments, "other"))
    with monkeypatch.context() as patch:
        asked = count()
        patch.setattr(SweepRun, "_out_of_time", lambda _self: next(asked) > 3)
        refused(run(*arguments, "w", "--time-budget", "99s", "--quiet"), "search is not complete")
    assert found(run(*arguments, "w")) == expected


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_a_search_that_is_done_goes_on_to_another_threshold(here: Path):
    arguments = ("sweep", "people.parquet", "-q", "a,b,c", "-s", "s", "--search", "-f", "json")
    found(run(*arguments, "--threshold", "0.9", "--workspace", "w"))
    again = found(run(*arguments, "--threshold", "0.3", "--workspace", "w"))
    fresh = found(run(*arguments, "--threshold", "0.3"))
    assert set(map(str, fresh)) <= set(map(str, again))


@pytest.mark.slow(because="3.1 s each; every recorded mutant dies without it")
def test_the_workspace_of_other_contents_is_refused(here: Path):
    found(run(*SMALL, "--workspace", "w"))
    frame = pl.read_parquet("people.parquet")
    changed = frame.with_columns(b=pl.when(pl.int_range(pl.len()) == 9).then(99).otherwise("b"))
    changed.write_parquet("people.parquet")
    refused(run(*SMALL, "--workspace", "w"), "contents differ", "--restart")
    expected = found(run(*SMALL))
    assert found(run(*SMALL, "--workspace", "w", "--restart")) == expected


@pytest.mark.slow(because="1.6 s each; every recorded mutant dies without it")
def test_the_workspace_of_another_dataset_or_reading_is_refused(here: Path):
    pl.read_parquet("people.parquet").write_csv("people.csv")
    shutil.copy("people.csv", "others.csv")
    arguments = ("-q", "a,b,c", "-s", "s", "--workspace", "w")
    assert run("sweep", "people.csv", *arguments).code == 0
    refused(run("sweep", "others.csv", *arguments), "dataset differ")
    refused(run("sweep", "people.csv", *arguments, "--all-varchar"), "csv differ")


@pytest.mark.slow(because="2.1 s each; every recorded mutant dies without it")
def test_limits_and_details_are_no_part_of_the_question(here: Path):
    expected = found(run(*SMALL, "--workspace", "w"))
    os.utime("people.parquet", (0, 0))
    limits = ("--threads", "1", "--memory", "700MB", "--temp", here, "--no-progress", "--quiet")
    assert found(run(*SMALL, "--workspace", "w", *limits)) == expected
    (here / "folder").mkdir()
    moved = shutil.move("people.parquet", "folder/people.parquet")
    assert run("sweep", moved, *SMALL[2:], "--workspace", "w").code == 0


@pytest.mark.slow(because="2.3 s each; every recorded mutant dies without it")
def test_the_workspace_of_another_version_is_refused(here: Path):
    expected = found(run(*SMALL, "--workspace", "w"))
    with duckdb.connect("w") as connection:
        connection.execute(
            "UPDATE facts SET told = replace(told, ?, '0.0.1')", [qifsql.__version__]
        )
    refused(run(*SMALL, "--workspace", "w"), "0.0.1", "--restart")
    assert found(run(*SMALL, "--workspace", "w", "--restart")) == expected


# Files that are no workspace


def _text(path: Path) -> None:
    path.write_text(f"{CELL}: a diary, or anything else\n" * 9)


def _parquet(path: Path) -> None:
    pl.DataFrame({"x": range(9)}).write_parquet(path)


def _sqlite(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + bytes(4080))


def _database(path: Path, statement: str = "CREATE TABLE mine AS SELECT 1 AS x") -> None:
    with duckdb.connect(path) as connection:
        connection.execute(statement)


def _facts(path: Path) -> None:
    _database(path, "CREATE TABLE facts AS SELECT 1 AS number, 'whales are no fish' AS fact")


def _told(path: Path) -> None:
    _database(path, "CREATE TABLE facts AS SELECT 'asked' AS name, 'whales are no fish' AS told")


def _view(path: Path) -> None:
    _database(path, "CREATE VIEW mine AS SELECT 1 AS x")


@pytest.mark.cases(3)
@pytest.mark.parametrize("restart", [(), ("--restart",)])
@pytest.mark.parametrize("make", [_text, _parquet, _sqlite, _database, _facts, _told, _view])
def test_a_file_that_is_no_workspace_stays_as_it_is(
    here: Path, make: Callable[[Path], None], restart: tuple[str, ...]
):
    make(here / "mine")
    before = (here / "mine").read_bytes()
    done = run(*SMALL, "--workspace", "mine", *restart)
    assert (here / "mine").read_bytes() == before
    refused(done, "not a workspace", "--workspace")


def test_the_database_that_is_swept_is_never_its_own_workspace(here: Path):
    _database(here / "d.duckdb", "CREATE TABLE people AS FROM 'people.parquet'")
    before = (here / "d.duckdb").read_bytes()
    for more in ((), ("--restart",)):
        arguments = ("people@d.duckdb", "-q", "a,b", "--workspace", "d.duckdb", *more)
        refused(run("sweep", *arguments), "--workspace")
        assert (here / "d.duckdb").read_bytes() == before


@pytest.mark.slow(because="1.9 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
def test_a_truncated_workspace_is_refused_with_what_to_do(here: Path, share: float):
    expected = found(run(*SMALL, "--workspace", "w"))
    whole = (here / "w").read_bytes()
    (here / "w").write_bytes(whole[: int(share * len(whole))])
    done = run(*SMALL, "--workspace", "w")
    if done.code == 0:  # nothing that counts stood there
        assert share > 0.9
        assert found(done) == expected
        return
    refused(done, "--workspace")  # DuckDB or the ledger notices it
    assert "truncated" in done.err or "damaged" in done.err
    if "--restart" not in done.err:
        (here / "w").unlink()
    assert found(run(*SMALL, "--workspace", "w", "--restart")) == expected


def _empty(path: Path) -> None:
    path.touch()  # of mktemp, or of a process that was killed when it had just begun


def _bare(path: Path) -> None:
    duckdb.connect(path).close()  # the same a moment later


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@pytest.mark.parametrize("make", [_empty, _bare])
def test_an_empty_file_becomes_a_workspace(here: Path, make: Callable[[Path], None]):
    make(here / "w")
    assert found(run(*SMALL, "--workspace", "w"))["results"]


@pytest.mark.cases(2)
@pytest.mark.parametrize("restart", [(), ("--restart",)])
def test_a_folder_and_a_missing_folder_are_named(here: Path, restart: tuple[str, ...]):
    (here / "folder").mkdir()
    refused(run(*SMALL, "--workspace", "folder", *restart), "folder is a folder")
    refused(run(*SMALL, "--workspace", "no/w", *restart), "there is no no", "--workspace")
    assert not (here / "no").exists()


def test_a_folder_that_cannot_be_written_is_named(here: Path):
    folder = Path("/sys/kernel")  # read-only even for root
    if os.access(folder, os.W_OK) and os.geteuid() != 0:
        pytest.skip("this system lets everybody write there")
    refused(run(*SMALL, "--workspace", folder / "w"), str(folder), "--workspace")


# Two at once


@pytest.mark.slow(because="28.0 s each; every recorded mutant dies without it")
def test_a_workspace_in_use_is_refused_and_its_sweep_is_not_harmed(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    workspace = tmp_path / "w"
    running = start(big, workspace)
    running.stderr.readline()
    for more in ((), ("--restart",), ("--restart", "--sizes", "1")):
        done = run("sweep", big, *QUESTION, "--workspace", workspace, *more)
        refused(done, "of a running sweep")
    assert running.poll() is None
    output, errors = running.communicate(timeout=PATIENCE)
    assert found(Done(running.returncode, output, errors)) == undisturbed
    assert found(run("sweep", big, *QUESTION, "--workspace", workspace)) == undisturbed


@pytest.mark.slow(because="a workspace that another process uses is refused")
def test_two_threads_of_one_program_do_not_share_a_workspace(
    big: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    workspace, outcome = tmp_path / "w", []
    monkeypatch.setattr(import_module("qifsql.commands.sweep.tables"), "CHUNK_ROWS", 3_000)
    question: Any = {"qids": list("abcdef"), "secret": ["s", "t"], "workspace": workspace}
    begun = threading.Event()

    def sweep() -> None:
        outcome.append(qifsql.sweep(big, **question, told=lambda _line: begun.set()))

    thread = threading.Thread(target=sweep)
    thread.start()
    assert begun.wait(30)
    for restart in (False, True):
        with pytest.raises(InputError, match=r"running sweep|in use"):
            qifsql.sweep(big, **question, restart=restart)
    assert workspace.exists()
    refused(run_apart(big, workspace), "of a running sweep")  # the lock is held all the time
    thread.join(60)
    again = qifsql.sweep(big, **question)
    assert_frame_equal(outcome[0].frame.drop("seconds"), again.frame.drop("seconds"))


# Who may read it, and what it says


@pytest.mark.slow(because="15.8 s each; every recorded mutant dies without it")
def test_the_files_are_readable_by_their_owner_alone_and_hold_no_values(big: str, tmp_path: Path):
    workspace, log, modes = tmp_path / "w", tmp_path / "w.wal", set()
    running = start(
        big, workspace, chunk=9_000, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.umask(0)
    )
    while running.poll() is None:
        for file in (workspace, log):
            if file.exists():
                modes.add((file.name, oct(file.stat().st_mode & 0o777)))
                if CELL.encode() in file.read_bytes():
                    running.kill()
                    pytest.fail(f"{file} has a value of a cell")
        time.sleep(0.1)
    running.communicate()
    assert modes == {("w", "0o600"), ("w.wal", "0o600")}
    assert CELL.encode() not in workspace.read_bytes()
    assert CELL not in kept(workspace).text


def test_results_are_as_readable_as_any_other_file(here: Path):
    before = os.umask(0o022)
    try:
        assert run(*SMALL, "-o", "r.csv", "--workspace", "w").code == 0
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert oct((here / "r.csv").stat().st_mode & 0o777) == "0o644"


@pytest.mark.slow(because="0.9 s each; every recorded mutant dies without it")
def test_without_a_name_the_workspace_goes_when_all_is_done(here: Path):
    found(run(*SMALL))
    assert [p.name for p in here.iterdir()] == ["people.parquet"]


def test_without_a_name_the_workspace_stays_when_the_result_cannot_be_written(here: Path):
    done = run(*SMALL, "--quiet", "-o", "no/r.csv")
    refused(done, "there is no folder no")
    worked = [p for p in here.iterdir() if p.name != "people.parquet"]
    assert worked or "records" not in done.err
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDB, "keep", _never)
        if worked:
            assert run(*SMALL).code == 0


# A sweep that is done


def _never(*_given: object, **_named: object) -> None:
    pytest.fail("the people are coded again")


@pytest.mark.slow(because="2.1 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--histogram",),
        ("--threshold", "0.3"),
        ("--explain",),
        ("-f", "table"),
        ("-o", "r.csv"),
    ],
)
def test_a_completed_workspace_answers_without_coding_the_people_again(
    answered: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
):
    monkeypatch.chdir(answered)
    fresh = run(*SMALL, "--quiet", *more)
    before = kept(Path("w"), 3)
    monkeypatch.setattr(DuckDB, "keep", _never)
    again = run(*SMALL, "--quiet", *more, "--workspace", "w")
    assert (again.code, again.err) == (0, "")
    if not {"-f", "-o"} & set(more):
        assert found(again) == found(fresh)
    assert kept(Path("w"), 3).done == before.done


# Time


@pytest.fixture(scope="module")
def middle(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A release that takes a second to sweep."""
    file = tmp_path_factory.mktemp("middle") / "middle.parquet"
    people(4_000, 40, 31, 12, 60, 5).write_parquet(file)
    return str(file)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many tasks, some of them splits."""
    tables = import_module("qifsql.commands.sweep.tables")
    monkeypatch.setattr(tables, "CHUNK_ROWS", min(tables.CHUNK_ROWS, 600))


WAYS: list[dict[str, Any]] = [
    {"secret": ["s", "t"]},
    {"secret": "t", "sizes": "2-3"},
    {"secret": ["s", "t"], "subsets": ["a", "a+b", "c+e", "a+b+c+d+e"]},
    {"secret": "s", "weight": "e + 1", "sizes": "1-2"},
]


def hurried(file: str, *, workspace: Path, **question: Any) -> qifsql.Sweep | None:
    """Return what a sweep gives that has little time; None where that is an error which says so."""
    try:
        return qifsql.sweep(file, workspace=workspace, **question)
    except InputError as e:
        message = str(e)
    assert "no subset is complete" in message
    assert str(workspace) in message
    return None


@pytest.mark.slow(because="27.4 s; every recorded mutant dies without it")
@pytest.mark.parametrize("way", WAYS)
def test_a_sweep_in_small_pieces_of_time_gives_complete_subsets_only_and_all_at_last(
    middle: str, tmp_path: Path, small_chunks: None, way: dict[str, Any]
):
    question: Any = {"qids": list("abcde"), **way}
    whole = qifsql.sweep(middle, **question).frame.drop("seconds")
    total = whole["subset"].n_unique()
    question["workspace"] = tmp_path / "w"
    random, before = Random(7), 0
    for _ in range(25):
        part = hurried(middle, time_budget=random.choice([0.0001, 0.2, 0.6]), **question)
        if part is None:
            assert not before
            continue
        rows = part.frame.drop("seconds")
        same = whole.join(rows, on=["model", "secret", "subset"], how="semi", nulls_equal=True)
        assert_frame_equal(rows, same)
        assert rows.height >= before
        before = rows.height
        late = [note for note in part.notes if "the time is over" in note]
        assert bool(late) == (rows.height < whole.height)
        if not late:
            break
        assert f"{total:,} of {total:,} subsets are complete" not in late[0]
        assert not part.whole
    whole_at_last = qifsql.sweep(middle, **question)
    assert_frame_equal(whole_at_last.frame.drop("seconds"), whole)
    assert not [note for note in whole_at_last.notes if "the time is over" in note]


@pytest.mark.slow(because="2.4 s; every recorded mutant dies without it")
@pytest.mark.parametrize("more", [(), ("-s", "t"), ("--subset", "a+b")])
def test_no_time_at_all_is_an_error_and_the_same_command_goes_on(here: Path, more: tuple[str, ...]):
    expected = found(run(*SMALL, *more))
    hasty = run(*SMALL, *more, "--quiet", "--time-budget", "0.0001s")
    refused(hasty, "no subset is complete", "people.parquet.sweep", "--time-budget")
    assert (here / "people.parquet.sweep").exists()
    assert found(run(*SMALL, *more)) == expected
    assert not (here / "people.parquet.sweep").exists()


@pytest.mark.parametrize("budget", ["0", "-1", "soon", "5x", "1:30", "", "nan"])
def test_a_time_budget_is_a_duration(here: Path, budget: str):
    refused(run(*SMALL, "--time-budget", budget), "--time-budget", "10m")


# Memory and disk


def test_too_little_memory_is_refused_with_what_is_needed(here: Path):
    done = run(*SMALL, "--memory", "50MB")
    refused(done, "needs 200 MB of memory", "--memory", code=3)
    assert [p.name for p in here.iterdir()] == ["people.parquet"]


@pytest.mark.slow(because="2.6 s each; every recorded mutant dies without it")
def test_too_little_disk_is_refused_with_what_is_needed(
    here: Path, monkeypatch: pytest.MonkeyPatch
):
    expected = found(run(*SMALL))
    usage, small = shutil.disk_usage, SimpleNamespace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: small)
    refused(run(*SMALL, "--workspace", "w"), "1 MB of disk", "--workspace", code=3)
    (here / "temp").mkdir()
    monkeypatch.setattr(
        shutil, "disk_usage", lambda p: small if str(p).startswith("temp") else usage(p)
    )
    done = run(*SMALL, "--workspace", "w", "--temp", "temp")
    refused(done, "1 MB of disk", "--temp", code=3)
    assert list((here / "temp").iterdir()) == []
    monkeypatch.setattr(shutil, "disk_usage", usage)
    assert found(run(*SMALL, "--workspace", "w")) == expected


@pytest.mark.slow(because="6.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("size", [20_000, 700_000, 2_000_000])
def test_files_that_cannot_grow_stop_a_sweep_that_then_goes_on(
    big: str, undisturbed: dict[str, Any], tmp_path: Path, size: int
):
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    workspace, temp = tmp_path / "w", tmp_path / "temp"
    temp.mkdir()
    running = start(big, workspace, "--quiet", "--temp", temp, preexec_fn=limit)
    output, errors = running.communicate(timeout=PATIENCE)
    refused(Done(running.returncode, output, errors), "disk", code=3)
    assert list(temp.iterdir()) == []
    before = kept(workspace)
    assert found(run("sweep", big, *QUESTION, "--workspace", workspace)) == undisturbed
    assert before.done.items() <= kept(workspace).done.items()


MOUNTED = """
cd "$0"
mkdir disk
mount -t tmpfs -o size=64m none disk || exit 0
"$@" >out1 2>err1 &
while ! grep -q records err1 && kill -0 $!; do sleep 0.05; done
sleep 0.5
cat /dev/zero >disk/filler 2>/dev/null
wait $!
echo $? >code1
rm disk/filler
"$@" --quiet >out2 2>err2
echo $? >code2
"""


@pytest.mark.slow(because="files that cannot grow are such a disk")
def test_a_disk_that_is_full_midway_stops_a_sweep_that_then_goes_on(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    if shutil.which("unshare") is None:
        pytest.skip("no disk can be mounted here")
    arguments = (sys.executable, "-c", DRIVER, "3000", "sweep", big, *QUESTION)
    alone = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED, tmp_path)
    command = (*alone, *arguments, "--workspace", "disk/w")
    subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE)
    if not (tmp_path / "code1").exists():
        pytest.skip("no disk can be mounted here")
    said = {file.name: file.read_text() for file in tmp_path.iterdir() if file.is_file()}
    note, _, error = said["err1"].partition("\n")
    assert "records" in note
    refused(Done(int(said["code1"]), said["out1"], error), "disk", "disk/w", code=3)
    assert found(Done(int(said["code2"]), said["out2"], said["err2"])) == undisturbed


def test_a_link_to_a_workspace_is_followed_and_a_broken_one_is_refused(here: Path):
    expected = found(run(*SMALL, "--workspace", "w"))
    (here / "link").symlink_to("w")
    assert found(run(*SMALL, "--workspace", "link")) == expected
    (here / "broken").symlink_to("nowhere")
    done = run(*SMALL, "--workspace", "broken")
    assert (done.code, done.out) == (2, "")
    assert "is a broken link" in done.err
    assert (here / "broken").is_symlink()
