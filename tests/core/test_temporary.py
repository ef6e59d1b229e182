"""Killed runs: the next run of the same user removes what belongs to no living process."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import PATIENCE
from terminal import run

from qifsql.engine import masks
from qifsql.engine.temporary import LOCK, PREFIX, PrivateFolder, unfinished

HOLD = """
import sys, time
from pathlib import Path
from qifsql.engine.temporary import PrivateFolder, unfinished
folder = PrivateFolder.make(Path("temp"))
(folder.path / "values").write_text("a value")
with unfinished(Path("out"), ".csv") as file:
    file.write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people, and folders for temporary files and outputs."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"a": [1, 2, 3] * 4, "s": [1, 2] * 6}).write_parquet("people.parquet")
    for name in ("temp", "out"):
        (tmp_path / name).mkdir()
    return tmp_path


def attack() -> None:
    """Run a small attack that uses both folders."""
    done = run("attack", "crs", "people.parquet", "-q", "a", "--temp", "temp", "-o", "out/r.csv")
    assert done.code == 0, done.err


def hold() -> Any:
    """Begin a process that has a folder and an unfinished output."""
    running = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"  # type: ignore[union-attr]
    return running


def there() -> tuple[int, int]:
    """Return how many folders and unfinished outputs there are."""
    return len(list(Path("temp").iterdir())), len(list(Path("out").glob(".*")))


def test_what_a_killed_run_left_is_removed_by_the_next_and_not_before_it_is_dead(here: Path):
    running = hold()
    attack()
    assert there() == (1, 1)
    running.kill()
    running.communicate()
    assert there() == (1, 1)
    attack()
    assert there() == (0, 0)
    assert sorted(p.name for p in Path("out").iterdir()) == ["r.csv", "r.csv.manifest.json"]


def test_what_others_have_is_left_alone(here: Path):
    (here / "mine").mkdir()
    (here / "mine" / "letter").write_text("dear")
    Path("temp", f"{PREFIX}link").symlink_to(here / "mine")
    Path("temp", f"{PREFIX}open").mkdir()
    Path("temp", f"{PREFIX}open").chmod(0o755)  # whatever the umask is
    Path("temp", f"{PREFIX}full").mkdir(mode=0o700)
    Path("temp", f"{PREFIX}full", "values").write_text("of a process that has no lock")
    Path("temp", "qifsql-of-an-earlier-version").mkdir(mode=0o700)
    Path("out", f".{PREFIX}link.csv").symlink_to(here / "mine" / "letter")
    for name in ("link", "open"):
        Path("temp", f"{PREFIX}{name}", LOCK).touch()
    before = there()
    attack()
    assert there() == before
    assert (here / "mine" / "letter").read_text() == "dear"


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_runs_that_begin_at_the_same_time_do_not_take_one_another_for_dead(here: Path):
    code = HOLD.replace("time.sleep(60)", "pass").replace('print("ready", flush=True)', "pass")
    code = f"{code}\nfor _ in range(60):\n    f = PrivateFolder.make(Path('temp'))\n"
    code += "    assert (f.path / '.lock').exists()\n"
    code += "    with unfinished(Path('out'), '.csv') as file:\n        assert file.exists()\n"
    code += "    f.remove()\n"
    runs = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [each.wait(PATIENCE) for each in runs] == [0] * 4


def test_an_empty_folder_without_a_lock_goes_when_it_is_old(here: Path):
    young, old = (Path("temp", f"{PREFIX}{name}") for name in ("young", "old"))
    for path in (young, old):
        path.mkdir(mode=0o700)
    os.utime(old, (0, 0))
    PrivateFolder.make(Path("temp")).remove()
    assert young.exists()
    assert not old.exists()


def test_an_output_is_private_until_it_is_finished(here: Path):
    with unfinished(Path("out"), ".csv") as file:
        assert file.stat().st_mode & 0o777 == 0o600
    assert there() == (0, 0)


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are found on Linux")
def test_the_command_of_a_killed_test_is_ended_by_the_next_run(here: Path):
    Path("slow.sh").write_text("#!/bin/sh\necho $$ > pid\nsleep 900 &\nwait\n")
    Path("slow.sh").chmod(0o755)
    arguments = ("dit", "people.parquet", "-q", "a", "-s", "s", "--temp", "temp")
    command = (*arguments, "--command", "./slow.sh {input} {output}")
    running = subprocess.Popen(
        [sys.executable, "-m", "qifsql", *command], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + PATIENCE
    while not (Path("pid").exists() and Path("pid").read_text().strip()):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.kill()
    running.communicate()
    group = int(Path("pid").read_text())
    os.killpg(group, 0)  # it lives
    attack()
    deadline = time.monotonic() + PATIENCE
    while _lives(group):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert there() == (0, 0)


def _lives(group: int) -> bool:
    states = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            states.append(fields[0])
    return any(state != "Z" for state in states)


# Places that cannot be written, and limits of the shell


LONG = "n" * 252 + ".csv"
TEST = ("dit", "people.parquet", "-q", "a", "-s", "s", "--method", "mdav", "--k", "2")


@pytest.mark.parametrize(
    "command",
    [
        ("attack", "crs", "people.parquet", "-q", "a", "-o", LONG),
        ("attack", "crs", "people.parquet", "-q", "a", "-o", LONG[10:]),  # and its manifest
        ("attack", "crs", "people.parquet", "-q", "a", "--store", LONG),
        ("attack", "crs", "people.parquet", "-q", "a", "--charts", LONG),
        ("sweep", "people.parquet", "-q", "a", "--workspace", LONG),
        ("inspect", "--show", "records", "people.parquet", "-q", "a", "-o", LONG),
        (*TEST, "--store", LONG),
        (*TEST, "--records", LONG),
        ("anonymise", "people.parquet", "--one-per", "a", "-o", LONG),
        ("init", LONG),
    ],
    ids=lambda command: " ".join(w for w in command if "n" * 9 not in w),
)
def test_a_name_that_is_too_long_is_said_to_be_so(here: Path, command: tuple[str, ...]):
    done = run(*command)
    assert "disk" not in done.err
    assert "too long" in done.err, done.err
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_a_study_is_written_whole_or_not_at_all(here: Path):
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    command = [sys.executable, "-m", "qifsql", "init", "s.toml", "--data", "people.parquet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert done.returncode == 3, done.stderr
    assert "disk" in done.stderr
    assert not [p for p in here.iterdir() if p.name.endswith(".toml")]
    assert run("init", "s.toml", "--data", "people.parquet").code == 0


@pytest.mark.cases(1)
@pytest.mark.parametrize("megabytes", [200, 700, 1000])
def test_too_little_address_space_is_an_error_of_the_machine(here: Path, megabytes: int):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20,) * 2)

    command = [sys.executable, "-m", "qifsql", "attack", "crs", "people.parquet", "-q", "a"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert done.returncode == 3, done.stderr
    assert "ulimit -v" in done.stderr
    assert done.stderr.count("\n") == 1


def test_files_are_private_as_long_as_any_thread_needs_it(tmp_path: Path):
    def mode(name: str) -> str:
        (tmp_path / name).touch()
        return oct((tmp_path / name).stat().st_mode & 0o777)

    entered, ended = threading.Event(), threading.Event()

    def first() -> None:
        with masks.private():
            entered.set()
            assert ended.wait(PATIENCE)

    before = os.umask(0o022)
    try:
        thread = threading.Thread(target=first)
        thread.start()
        assert entered.wait(PATIENCE)
        with masks.private():
            ended.set()
            thread.join()
            assert mode("inside") == "0o600"
            assert masks.usual() == 0o022
        assert mode("outside") == "0o644"
        with masks.private(when=False):
            assert mode("unmasked") == "0o644"
    finally:
        os.umask(before)
