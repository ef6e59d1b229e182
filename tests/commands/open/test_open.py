"""``qifsql open`` as a process: its address, its port, its end."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from places import SAMPLES
from terminal import run

pytest.importorskip("uvicorn", reason="needs qifsql[explorer]")

CENSUS = SAMPLES / "school_census_2018.parquet"
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/\n")


def started(*more: object, temp: Path) -> "subprocess.Popen[str]":
    words = ["open", CENSUS, "--no-browser", "--temp", temp, *more]
    return subprocess.Popen(
        [sys.executable, "-m", "qifsql", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=temp,
        env=os.environ | {"LANG": "C", "LC_ALL": "C"},
    )  # fmt: skip


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_it_is_served_until_ctrl_c_and_leaves_nothing(tmp_path: Path, signal_: int) -> None:
    process = started(temp=tmp_path)
    assert process.stdout is not None
    first = process.stdout.readline()
    found = ADDRESS.fullmatch(first)
    assert found, first
    with urllib.request.urlopen(first.strip(), timeout=60) as answer:
        text = answer.read().decode()
    assert "NU_DIA" in text
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/", timeout=10)
    process.send_signal(signal_)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


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
    process.communicate(timeout=30)


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
    assert "qifsql[explorer]" in done.err
