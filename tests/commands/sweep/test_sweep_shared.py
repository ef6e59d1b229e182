"""A sweep that several processes share through a folder: its result is that of one process."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from effort import PATIENCE, SOON, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Table, tables, to_arrow
from terminal import Done, run
from test_sweep import expected, parquet, same
from test_sweep import found as rows_of
from test_sweep_workspace import CELL, QUESTION, found, people, refused

import qifsql
from qifsql.commands.sweep import shared
from qifsql.commands.sweep.shared import SharedFolder
from qifsql.errors import EngineError

DRIVER = """
import sys
from importlib import import_module
tables = import_module("qifsql.commands.sweep.tables")
tables.CHUNK = tables.LEAST = int(sys.argv.pop(1))
shared = import_module("qifsql.commands.sweep.shared")
shared.BEAT, shared.EXPIRY = 0.1, float(sys.argv.pop(1))
from qifsql.app import entry
entry()
"""  # the command line with small chunks, so that there are many tasks, and with a short lease
N, DOMAINS = 9_000, (40, 200, 31, 12, 60, 5)
KILLS = 4
INEP = (
    "NU_DIA,NU_MES,NU_ANO,TP_SEXO,TP_COR_RACA,TP_NACIONALIDADE,CO_PAIS_ORIGEM,CO_MUNICIPIO_NASC,"
    "CO_MUNICIPIO_END,CO_ENTIDADE,TP_DEPENDENCIA"
)
REQUEST = {"qifsql": "1", "form": 1, "engine": "duckdb 1", "contents": ["c"]}


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A release that takes some seconds to sweep."""
    file = tmp_path_factory.mktemp("shared") / "big.parquet"
    people(N, *DOMAINS).write_parquet(file)
    return str(file)


@pytest.fixture(scope="module")
def undisturbed(big: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the result of a sweep that nobody shares."""
    return found(run("sweep", big, *QUESTION, "--workspace", tmp_path_factory.mktemp("w") / "w"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small release, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    people(300, 5, 12, 7).write_parquet("people.parquet")
    return tmp_path


SMALL = ("sweep", "people.parquet", "-q", "a,b,c", "-s", "s", "-f", "json")


def start(
    file: str, folder: Path, *more: object, expiry: float = 1.5, **popen: Any
) -> subprocess.Popen[str]:
    """Begin to take part in a sweep in a process of its own."""
    words = (3_000, expiry, "sweep", file, *QUESTION, "--threads", 1, "--join", folder, *more)
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, *map(str, words)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | popen,
    )


def document(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the document of a participant that came to the end."""
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    printed: dict[str, Any] = json.loads(output)
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in printed["results"]]
    return printed | {"results": rows, "plan": None}


def results(folder: Path) -> list[Path]:
    return sorted((folder / "results").glob("*"))


def notes(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(pl.read_parquet_metadata(file)["qifsql"]) for file in results(folder)]


def wait_for(folder: Path, number: int) -> None:
    """Wait until that many results are in the folder."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and len(results(folder)) < number:
        time.sleep(0.02)
    assert len(results(folder)) >= number


# Several participants


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_two_processes_share_the_work_and_both_print_the_result_of_one(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    folder = tmp_path / "shared"
    both = [start(big, folder, expiry=60) for _ in range(2)]
    assert [document(process) for process in both] == [undisturbed] * 2
    workers = [note["participant"] for note in notes(folder)]
    assert len(set(workers)) == 2
    assert min(map(workers.count, set(workers))) > len(workers) / 10
    tasks = [note["task"] for note in notes(folder)]
    assert len(tasks) == len(set(tasks)) > 20
    assert list((folder / "leases").iterdir()) == list((folder / "participants").iterdir()) == []


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_participants_that_are_killed_lose_nothing(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    folder, random, killed = tmp_path / "shared", Random(11), 0
    steady = start(big, folder)
    before: dict[str, bytes] = {}
    for _ in range(KILLS):
        victim = start(big, folder)
        assert victim.stderr is not None
        victim.stderr.readline()  # it says what it is going to do, then it works
        try:
            victim.wait(random.uniform(0, 0.6))
        except subprocess.TimeoutExpired:
            victim.kill()
        _, errors = victim.communicate()
        killed += victim.returncode == -signal.SIGKILL
        assert victim.returncode in {-signal.SIGKILL, 0}, errors
        after = {file.name: file.read_bytes() for file in results(folder)}
        assert set(before) <= set(after)  # nothing is lost
        before = after
    assert killed
    assert document(steady) == undisturbed
    assert found(run("sweep", big, *QUESTION, "--workspace", tmp_path / "w")) == undisturbed


@pytest.mark.slow
def test_many_kills_and_pauses_of_three_participants_change_nothing(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    random = Random(12)
    for number in range(4):
        folder = tmp_path / str(number)
        running = [start(big, folder, expiry=0.5) for _ in range(3)]
        for _ in range(25):
            time.sleep(random.uniform(0, 0.5))
            i = random.randrange(3)
            if running[i].poll() is not None:
                continue
            if random.random() < 0.5:
                running[i].kill()
                running[i].communicate()
                running[i] = start(big, folder, expiry=0.5)
            else:
                running[i].send_signal(signal.SIGSTOP)
                time.sleep(random.uniform(0, 1))
                running[i].send_signal(signal.SIGCONT)
        assert [document(process) for process in running] == [undisturbed] * 3


@pytest.mark.slow
def test_two_processes_sweep_a_larger_release_as_one_does(shared: Path, tmp_path: Path):
    """200,000 people, eleven quasi-identifiers, two secrets: all 2,047 subsets are equal."""
    file = shared / "data" / "inep_like_200k.parquet"
    command = ("sweep", file, "-q", INEP, "--format", "json", "--quiet", "--threads", 1)
    command += ("-s", "IN_NECESSIDADE_ESPECIAL,IN_TRANSPORTE_PUBLICO")
    alone = found(run(*command, "--workspace", tmp_path / "w"))
    words = [sys.executable, "-m", "qifsql", *map(str, command), "--join", str(tmp_path / "shared")]
    processes = [start_quietly(words, tmp_path / f"{i}.json") for i in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    for i in range(2):
        assert found(Done(0, (tmp_path / f"{i}.json").read_text(), "")) == alone


def start_quietly(words: list[str], file: Path) -> subprocess.Popen[bytes]:
    """Begin a command whose output goes to a file."""
    with file.open("wb") as output:
        return subprocess.Popen(words, stdout=output)


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_the_work_of_a_killed_process_is_taken_over(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    folder = tmp_path / "shared"
    victim = start(big, folder)
    wait_for(folder, 3)
    while not (leases := list((folder / "leases").iterdir())):
        time.sleep(0.001)
    victim.kill()
    victim.communicate()
    for lease in leases:  # it may just have ended that task
        (folder / "results" / lease.name).unlink(missing_ok=True)
        lease.write_text(next((folder / "participants").glob("*[!.]")).name.split(".")[0])
    before = {file.name: file.read_bytes() for file in results(folder)}
    assert document(start(big, folder)) == undisturbed
    after = {file.name: file.read_bytes() for file in results(folder)}
    assert before.items() <= after.items()
    assert {lease.name for lease in leases} <= set(after) - set(before)


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_a_process_that_is_stopped_for_long_goes_on_without_harm(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    folder = tmp_path / "shared"
    slow = start(big, folder, expiry=0.5)
    wait_for(folder, 2)
    slow.send_signal(signal.SIGSTOP)
    assert document(start(big, folder, expiry=0.5)) == undisturbed
    slow.send_signal(signal.SIGCONT)
    assert document(slow) == undisturbed


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_an_interrupted_participant_says_where_the_work_is_and_frees_its_tasks(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    folder = tmp_path / "shared"
    running = start(big, folder, "--quiet", expiry=600)
    wait_for(folder, 3)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=PATIENCE)
    assert (running.returncode, output) == (130, "")
    assert errors.startswith("error: interrupted; what is done is kept in ")
    assert str(folder) in errors
    assert list((folder / "participants").iterdir()) == []
    before = {file.name: file.read_bytes() for file in results(folder)}
    assert document(start(big, folder, expiry=600)) == undisturbed  # it need not wait
    assert before.items() <= {file.name: file.read_bytes() for file in results(folder)}.items()


@pytest.mark.slow(because="1.5 s each; every recorded mutant dies without it")
def test_an_interruption_is_heard_while_another_participant_is_waited_for(here: Path):
    assert run(*SMALL, "--join", "shared").code == 0
    folder = here / "shared"
    file = results(folder)[0]
    file.unlink()
    (folder / "leases" / file.name).write_text("alive")
    ending = threading.Event()

    def live() -> None:
        beat = 0
        while not ending.wait(0.05):
            (folder / "participants" / "alive").write_text(str(beat := beat + 1))

    other = threading.Thread(target=live)
    other.start()
    timer = threading.Timer(2.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        began = time.monotonic()
        done = run(*SMALL, "--join", "shared", "--quiet")
    finally:
        ending.set()
        other.join()
    refused(done, "interrupted; what is done is kept in shared", code=130)
    assert time.monotonic() - began < SOON
    assert not file.exists()


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_threads_of_one_program_may_share_a_sweep(here: Path):
    alone = qifsql.sweep("people.parquet", qids="a,b,c", secret="s,t")
    for frame in take_part(3):
        same(frame, rows_of(alone))


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_split_blocks_and_tables_that_all_threads_write_are_shared(
    here: Path, monkeypatch: pytest.MonkeyPatch
):
    """Each participant writes the tables itself, also while the others are at work."""
    alone = qifsql.sweep("people.parquet", qids="a,b,c", secret="s,t")
    tables_of = sys.modules["qifsql.commands.sweep.tables"]
    for name, value in (("CHUNK", 60), ("LEAST", 1), ("GIANT", 1), ("HEAVY", 40)):
        monkeypatch.setattr(tables_of, name, value)
    for frame in take_part(2):
        same(frame, rows_of(alone))
    assert [file for file in results(here / "shared") if re.match(r"coded_\d(_d)*_\d", file.name)]


def take_part(number: int) -> list[pl.DataFrame]:
    """Sweep with so many participants in threads; return the rows of each."""
    frames: list[pl.DataFrame] = []

    def sweep() -> None:
        result = qifsql.sweep("people.parquet", qids="a,b,c", secret="s,t", join="shared")
        frames.append(rows_of(result))

    threads = [threading.Thread(target=sweep) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(frames) == number
    return frames


# Any results that are there already


@pytest.mark.slow(because="2.2 s each; every recorded mutant dies without it")
@settings(max_examples=examples(15), deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_rows_are_those_of_the_oracle_whatever_results_are_there(table: Table, random: Random):
    rows, qids, secrets = table.rows, table.qids, table.secrets
    with parquet(to_arrow(table)) as file, tempfile.TemporaryDirectory() as place:
        folder = Path(place, "shared")
        options: dict[str, Any] = {"qids": qids, "secret": secrets, "join": folder}
        wanted = expected(rows, qids, secrets)
        same(rows_of(qifsql.sweep(file, **options)), wanted)
        for result in results(folder):
            if random.random() < 0.5:
                result.unlink()
        same(rows_of(qifsql.sweep(file, **options)), wanted)


QUESTIONS = {
    "sizes": ("--sizes", "2-3"),
    "secrets of many values": ("-s", "t"),
    "a list": ("--subset", "a+b", "--subset", "c"),
    "a search": ("--search", "--threshold", "0.4"),
    "histograms": ("-s", "t", "--histogram"),
    "a threshold": ("--threshold", "0.3"),
    "missing values left out": ("--null", "drop", "-s", "t"),
    "weights": ("--weight", "c + 0.1"),
    "weights and histograms": ("--weight", "c + 1", "--sizes", "1-2", "--histogram"),
}


@pytest.mark.slow(because="3.4 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_kind_of_sweep_can_be_shared(here: Path, name: str):
    more, random = QUESTIONS[name], Random(5)
    frame = pl.read_parquet("people.parquet").with_row_index("i")
    frame.select(
        pl.when(pl.col("i") % 7 > 0).then("a"),
        "b",
        "c",
        pl.when(pl.col("i") % 5 > 0).then("s"),
        "t",
    ).write_parquet("people.parquet")
    alone = found(run(*SMALL, *more, "--workspace", "w"))
    assert found(run(*SMALL, *more, "--join", "shared")) == alone
    for _ in range(2):
        for file in results(here / "shared"):
            if random.random() < 0.5:
                file.unlink()
        assert found(run(*SMALL, *more, "--join", "shared")) == alone


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_a_sample_is_the_same_for_all_participants(here: Path, monkeypatch: pytest.MonkeyPatch):
    tables_of = sys.modules["qifsql.commands.sweep.tables"]
    monkeypatch.setattr(tables_of, "CHUNK", 500)
    people(6_000, 400, 900, 7).write_parquet("people.parquet")
    more = ("--sample", "0.1", "--seed", "3")
    alone = found(run(*SMALL, *more, "--workspace", "w"))
    assert any(row["sampled"] < 1 for row in alone["results"])
    assert found(run(*SMALL, *more, "--join", "shared")) == alone
    for file in results(here / "shared")[::2]:
        file.unlink()
    assert found(run(*SMALL, *more, "--join", "shared")) == alone
    refused(run(*SMALL, "--sample", "0.1", "--seed", "4", "--join", "shared"), "sample differ")


# Leases


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[SharedFolder, ...]]:
    """Two participants of one sweep; the second sees the folder as it is now."""
    monkeypatch.setattr(shared, "GLANCE", -1.0)
    first, second = (SharedFolder(tmp_path / "shared", REQUEST) for _ in range(2))
    with first.participating(), second.participating():
        yield first, second


def test_a_task_is_given_to_one_participant(pair: tuple[SharedFolder, SharedFolder]):
    first, second = pair
    assert first.available("task")
    assert not second.available("task")
    first.release("task")
    assert second.available("task")
    assert not first.available("task")


def test_the_lease_of_a_silent_participant_expires(
    pair: tuple[SharedFolder, SharedFolder], monkeypatch: pytest.MonkeyPatch
):
    first, second = pair
    now = [1_000.0]
    monkeypatch.setattr("qifsql.commands.sweep.shared.time.monotonic", lambda: now[0])
    assert first.available("task")
    for _ in range(3):  # seen first, then silent until the lease expires
        assert not second.available("task")
        now[0] += shared.EXPIRY / 2
    first._beat()  # just in time
    assert not second.available("task")
    now[0] += shared.EXPIRY
    assert not second.available("task")
    now[0] += 1
    assert second.available("task")
    first._beat()  # it was only slow: it keeps away from the task now
    assert not first.available("task")


def test_the_lease_of_a_participant_that_ended_is_void(tmp_path: Path):
    first, second = (SharedFolder(tmp_path / "shared", REQUEST) for _ in range(2))
    with first.participating():
        assert first.available("task")
    assert second.available("task")


def test_a_lease_without_a_name_expires(
    pair: tuple[SharedFolder, SharedFolder], monkeypatch: pytest.MonkeyPatch
):
    _, second = pair
    (second.path / "leases" / "task").touch()  # its participant died in this moment
    now = [1_000.0]
    monkeypatch.setattr("qifsql.commands.sweep.shared.time.monotonic", lambda: now[0])
    assert not second.available("task")
    now[0] += shared.EXPIRY + 1
    assert second.available("task")


def test_only_one_of_many_gets_a_task(tmp_path: Path):
    folders = [SharedFolder(tmp_path / "shared", REQUEST) for _ in range(8)]
    start_line, won = threading.Barrier(8), []

    def race(folder: SharedFolder) -> None:
        with folder.participating():
            start_line.wait()
            won.extend(i for i in range(50) if folder.available(f"task-{i}"))
            start_line.wait()

    threads = [threading.Thread(target=race, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == list(range(50))


def test_a_folder_that_vanishes_ends_the_sweep_with_an_error(
    pair: tuple[SharedFolder, SharedFolder],
):
    first, _ = pair
    shutil.rmtree(first.path)
    with pytest.raises(EngineError, match="cannot be written"):
        first.available("task")


# Other folders, other questions, damage


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
def test_the_folder_of_another_sweep_is_refused(here: Path):
    assert run(*SMALL, "--join", "shared").code == 0
    before = sorted(here.rglob("*"))
    refused(run(*SMALL, "--sizes", "1-2", "--join", "shared"), "another sweep: sizes differ")
    refused(run(*SMALL, "--where", "c > 1", "--join", "shared"), "where differ", "--join")
    refused(run(*SMALL, "-s", "t", "--join", "shared"), "secrets differ")
    shutil.copy("people.parquet", "others.parquet")
    people(299, 5, 12, 7).write_parquet("people.parquet")
    refused(run(*SMALL, "--join", "shared"), "contents differ", "same file and options")
    (here / "others.parquet").unlink()
    assert sorted(here.rglob("*")) == before


@pytest.mark.cases(1)
def test_the_folder_of_another_version_is_refused(here: Path):
    assert run(*SMALL, "--join", "shared").code == 0
    file = here / "shared" / "sweep.json"
    text = json.loads(file.read_text())
    file.write_text(json.dumps(text | {"items": text["items"] | {"engine": "duckdb 9.9"}}))
    refused(run(*SMALL, "--join", "shared"), "duckdb 9.9", "these versions")


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@pytest.mark.parametrize("text", ["", "{", "[]", '{"items": 3, "sweep": ""}'])
def test_a_damaged_question_is_refused(here: Path, text: str):
    assert run(*SMALL, "--join", "shared").code == 0
    (here / "shared" / "sweep.json").write_text(text)
    refused(run(*SMALL, "--join", "shared"), "is damaged", "remove the folder")


@pytest.mark.slow(because="1.2 s each; every recorded mutant dies without it")
def test_other_places_are_refused(here: Path):
    refused(run(*SMALL, "--join", "people.parquet"), "is not a folder")
    refused(run(*SMALL, "--join", "."), "holds other files")
    refused(run(*SMALL, "--join", "no/shared"), "there is no folder no")
    assert sorted(path.name for path in here.iterdir()) == ["people.parquet"]
    (here / "empty").mkdir()
    assert run(*SMALL, "--join", "empty").code == 0


def test_options_that_do_not_go_with_a_shared_folder_are_refused(here: Path):
    shared_with = (*SMALL, "--join", "shared")
    refused(run(*shared_with, "--workspace", "w"), "--workspace")
    refused(run(*shared_with, "--restart"), "--restart")
    assert sorted(path.name for path in here.iterdir()) == ["people.parquet"]


@pytest.mark.slow(because="1.8 s each; every recorded mutant dies without it")
def test_subsets_that_are_attacked_one_by_one_are_shared(here: Path):
    """Codes that are too wide to pack are attacked like weights, each subset once."""
    names = [f"q{i}" for i in range(12)]
    wide = {name: [f"{name}-{(i * 7919 * (k + 1)) % 2500}" for i in range(2500)]
            for k, name in enumerate(names)}  # fmt: skip
    pl.DataFrame(wide).write_parquet("wide.parquet")
    command = ("sweep", "wide.parquet", "-q", ",".join(names), "--sizes", 1, "-f", "json")
    alone = found(run(*command))
    assert found(run(*command, "--join", "shared")) == alone
    files = results(here / "shared")
    assert [file.suffix for file in files] == [".json"] * 12
    before = {file: file.read_bytes() for file in files[::2]}
    for file in files[1::2]:
        file.unlink()
    assert found(run(*command, "--join", "shared")) == alone
    assert before.items() <= {file: file.read_bytes() for file in files}.items()


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_a_subset_that_another_participant_attacks_is_waited_for(here: Path):
    command = (*SMALL, "--weight", "c + 1")
    alone = found(run(*command, "--join", "shared"))
    file = results(here / "shared")[0]
    content = file.read_bytes()
    file.unlink()
    (here / "shared" / "leases" / file.name).write_text("alive")
    (here / "shared" / "participants" / "alive").write_text("1")
    timer = threading.Timer(3, file.write_bytes, (content,))
    timer.start()
    assert found(run(*command, "--join", "shared")) == alone
    timer.join()
    file.write_bytes(content.replace(b'"CRS"', b'"CRT"'))
    refused(run(*command, "--join", "shared", "--quiet"), file.name, "is damaged")


def _truncated(file: Path, _other: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _empty(file: Path, _other: Path) -> None:
    os.truncate(file, 0)


def _exchanged(file: Path, other: Path) -> None:
    shutil.copy(other, file)


def _changed(file: Path, _other: Path) -> None:
    """One more person in one row, under the old note."""
    note = pl.read_parquet_metadata(file)["qifsql"]
    frame = pl.read_parquet(file)
    more = (pl.int_range(pl.len()) == 0).cast(pl.Int64)
    changed = frame.with_columns(people=pl.col("people") + more)
    changed.write_parquet(file, metadata={"qifsql": note})


def _shorter(file: Path, _other: Path) -> None:
    note = pl.read_parquet_metadata(file)["qifsql"]
    pl.read_parquet(file)[1:].write_parquet(file, metadata={"qifsql": note})


@pytest.mark.slow(because="2.0 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("damage", [_truncated, _empty, _exchanged, _changed, _shorter])
def test_a_damaged_result_is_named_and_never_counted(here: Path, damage: Any):
    alone = found(run(*SMALL, "--join", "shared"))
    files = [file for file in results(here / "shared") if "-walk-" in file.name]
    damage(files[0], files[1])
    refused(run(*SMALL, "--join", "shared", "--quiet"), files[0].name, "is damaged", "remove")
    files[0].unlink()
    assert found(run(*SMALL, "--join", "shared")) == alone


# Who may read it, and what it says


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_the_folder_is_private_and_holds_no_values(big: str, tmp_path: Path):
    folder = tmp_path / "shared"
    mask = {"preexec_fn": lambda: os.umask(0), "stdout": subprocess.DEVNULL}
    both = [start(big, folder, "--where", f"s <> '{CELL}-0-of-s'", **mask) for _ in range(2)]
    while any(process.poll() is None for process in both):
        for path in (folder, *folder.rglob("*")) if folder.exists() else ():
            try:
                mode, text = path.stat().st_mode, b"" if path.is_dir() else path.read_bytes()
            except FileNotFoundError:
                continue
            assert mode & 0o077 == 0, path
            assert CELL.encode() not in text
        time.sleep(0.1)
    for process in both:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert results(folder)


@pytest.mark.slow(because="every kind of sweep is shared in other tests")
def test_what_one_participant_has_no_time_for_another_one_does(
    big: str, undisturbed: dict[str, Any], tmp_path: Path
):
    folder = tmp_path / "shared"
    hasty = start(big, folder, "--quiet", "--time-budget", "0.0001s")
    output, errors = hasty.communicate(timeout=PATIENCE)
    assert (hasty.returncode, output) == (2, "")
    assert "no subset is complete" in errors
    assert str(folder) in errors
    assert document(start(big, folder)) == undisturbed


@pytest.mark.slow(because="0.9 s each; every recorded mutant dies without it")
def test_local_tables_are_removed(here: Path):
    (here / "temp").mkdir()
    assert run(*SMALL, "--join", "shared", "--temp", "temp").code == 0
    assert list((here / "temp").iterdir()) == []
