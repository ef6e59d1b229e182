"""``qifsql open`` as a process: its address, its port, its end."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import duckdb
import pytest
from effort import PATIENCE
from places import SAMPLES
from terminal import run

from qifsql.data import installation

pytest.importorskip("uvicorn", reason="needs qifsql[explorer]")

CENSUS = SAMPLES / "school_census_2018.parquet"
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/\n")


def started(
    *more: object, temp: Path, data: Path = CENSUS, browser: str = ""
) -> "subprocess.Popen[str]":
    words = ["open", data, *(() if browser else ("--no-browser",)), "--temp", temp, *more]
    return subprocess.Popen(
        [sys.executable, "-m", "qifsql", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=temp,
        env=os.environ | {"LANG": "C", "LC_ALL": "C", "BROWSER": browser},
    )  # fmt: skip


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_is_served_until_ctrl_c_and_leaves_nothing(tmp_path: Path, signal_: int) -> None:
    process = started(temp=tmp_path)
    assert process.stdout is not None
    first = process.stdout.readline()
    found = ADDRESS.fullmatch(first)
    assert found, first
    with urllib.request.urlopen(first.strip(), timeout=PATIENCE) as answer:
        text = answer.read().decode()
    assert "NU_DIA" in text
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/", timeout=PATIENCE)
    process.send_signal(signal_)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_no_command_line_has_the_token(tmp_path: Path) -> None:
    """Any user of the machine can read them; a file of the user's own leads to the page."""
    words, browser, temp = tmp_path / "words", tmp_path / "browser", tmp_path / "temp"
    temp.mkdir()
    browser.write_text(f'#!/bin/sh\necho "$@" > "{words}.new"; mv "{words}.new" "{words}"\n')
    browser.chmod(0o700)
    process = started(temp=temp, browser=f"{browser} %s")
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    deadline = time.monotonic() + PATIENCE
    while not words.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (target,) = words.read_text().split()
    token = address.split("/")[-2]
    assert token not in target
    assert token.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    file = Path(urllib.request.url2pathname(urllib.parse.urlsplit(target).path))
    assert address in file.read_text()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    with urllib.request.urlopen(
        urllib.request.Request(
            address, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
        ),
        timeout=PATIENCE,
    ) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert list(temp.iterdir()) == []


def test_what_the_page_writes_is_for_its_owner_and_odd_forms_are_answered(tmp_path: Path) -> None:
    temp, out = tmp_path / "temp", tmp_path / "release.csv"
    temp.mkdir()
    process = started(temp=temp)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    roles = {"role-4": "quasi-identifier"}
    digits = "9" * 5000
    for form in ({"state": digits}, {"trail": digits}, {"job": digits}, {"seen": digits}):
        assert "internal error" not in post(address, "try", **roles, **form)
        assert "internal error" not in post(address, "job", **form)
    assert "internal error" not in post(address, "do", what="report", out="a\0b.html", **roles)
    text = post(address, "do", what="report", out=str(out.with_suffix(".html")), **roles)
    deadline = time.monotonic() + PATIENCE
    for job in ("0", "1"):
        while "Running" in (text := post(address, "job", job=job)):
            assert time.monotonic() < deadline, text
            time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    written = [path for path in tmp_path.iterdir() if path.is_file()]
    assert written
    assert {path.stat().st_mode & 0o777 for path in written} == {0o600}


def post(address: str, name: str, **form: str) -> str:
    """Return the answer to a form."""
    origin = "/".join(address.split("/")[:3])
    request = urllib.request.Request(
        f"{address}{name}", urllib.parse.urlencode(form).encode(), {"Origin": origin}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return str(answer.read().decode())


def made(folder: Path, records: int) -> Path:
    """Write a file whose people are nearly all different."""
    path = folder / "people.parquet"
    columns = ", ".join(f"(hash(i * 10 + {j}) % 1000)::SMALLINT AS q{j}" for j in range(6))
    duckdb.sql(f"COPY (SELECT {columns} FROM range({records}) AS r(i)) TO '{path}'")
    return path


ROLES = {f"role-{i}": "quasi-identifier" for i in range(6)}


@pytest.mark.slow(because="Ctrl-C while the page is idle stays")
def test_ctrl_c_during_a_sweep_leaves_nothing(tmp_path: Path) -> None:
    data, temp, out = made(tmp_path, 300_000), tmp_path / "temp", tmp_path / "sweep.parquet"
    temp.mkdir()
    process = started("--threads", "1", temp=temp, data=data)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    post(address, "do", what="sweep", out=str(out), **ROLES)
    while not list(temp.rglob("workspace*")):
        assert "Running" in post(address, "job", job="0")
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert list(temp.iterdir()) == []
    assert not out.exists()


@pytest.mark.slow(because="limits of memory are measured in the slow set")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_it_obeys_its_memory_limit(tmp_path: Path) -> None:
    data, temp = made(tmp_path, 8_000_000), tmp_path / "temp"
    temp.mkdir()
    process = started("--memory", "200MB", temp=temp, data=data)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert "line-attack" in post(address, "try", **ROLES)
    status = Path(f"/proc/{process.pid}/status").read_text()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])  # type: ignore[index]
    assert peak < (200 + 250) * 1024  # DuckDB, and Python with its libraries


def test_it_listens_on_the_loopback_address_alone(tmp_path: Path) -> None:
    process = started("--idle", "30", temp=tmp_path)
    assert process.stdout is not None
    found = ADDRESS.fullmatch(process.stdout.readline())
    assert found
    listening = Path("/proc/net/tcp")
    if listening.exists():
        port = f":{int(found[1]):04X} "
        places = [line.split()[1] for line in listening.read_text().splitlines() if port in line]
        assert {place.partition(":")[0] for place in places} == {"0100007F"}
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run("open", CENSUS, "--no-browser", "--port", port)
    assert done.code == 2
    assert f"port {port} is taken" in done.err
    assert done.out == ""


def test_it_ends_without_requests() -> None:
    done = run("open", CENSUS, "--no-browser", "--idle", "0.1s")
    assert done.code == 0, done.err
    assert ADDRESS.fullmatch(done.out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nosuch.parquet",), "nosuch.parquet"),
        (("-",), "name a file"),
        ((CENSUS, "--lang", "xx"), "no language"),
        ((CENSUS, "--idle", "soon"), "--idle"),
        ((CENSUS, "--port", "70000"), "--port"),
    ],
)
def test_bad_input_is_an_error(words: tuple[object, ...], message: str) -> None:
    done = run("open", *words, "--no-browser")
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_a_file_that_cannot_be_read_is_an_error_before_the_page(tmp_path: Path) -> None:
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(CENSUS.read_bytes()[:50_000])
    with duckdb.connect(str(tmp_path / "people.duckdb")) as database:
        database.execute("CREATE VIEW people AS FROM read_csv('/etc/passwd')")
    for words in (
        (cut,),
        (f"people@{tmp_path / 'people.duckdb'}",),
        (CENSUS, "--where", "nosuch=1"),
    ):
        done = run("open", *words, "--no-browser", "--idle", "1s")
        assert (done.code, done.out) == (2, ""), words
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1


def test_a_result_of_another_command_is_named(tmp_path: Path) -> None:
    out = tmp_path / "risk.parquet"
    assert run("attack", "crs", CENSUS, "-q", "NU_DIA", "-o", out, "--quiet").code == 0
    done = run("open", out, "--no-browser")
    assert done.code == 2
    assert "qifsql report" in done.err


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run("open", CENSUS, "--no-browser")
    assert done.code == 2
    assert f"the page needs the extra: {installation.command('explorer')}" in done.err
