"""Data from standard input, results to standard output, and words that are no files."""

import gzip
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from terminal import Done, run

from qifsql import app

QIDS = ("-q", "age,sex")
TABLE = pl.DataFrame({"id": range(40), "age": [i % 7 for i in range(40)], "sex": ["m", "f"] * 20})


class Input(io.TextIOWrapper):
    """Standard input with these bytes."""

    def __init__(self, data: bytes, *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data))
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, *words: object) -> Done:
    monkeypatch.setattr(sys, "stdin", Input(data))
    return run(*words)


def parquet() -> bytes:
    buffer = io.BytesIO()
    TABLE.write_parquet(buffer)
    return buffer.getvalue()


CSV = TABLE.write_csv().encode()
DATA = {"csv": CSV, "gzip": gzip.compress(CSV), "parquet": parquet()}


def rows(done: Done) -> list[dict[str, object]]:
    assert done.code == 0, done.err
    results = json.loads(done.out)["results"]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in results]


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", DATA)
def test_standard_input_is_a_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.csv").write_bytes(CSV)
    expected = rows(run("attack", "crs", tmp_path / "p.csv", *QIDS, "-f", "json"))
    out = tmp_path / "r.json"
    words = ("attack", "crs", "-", *QIDS, "--temp", tmp_path, "-f", "json", "-o", out)
    done = piped(monkeypatch, DATA[kind], *words)
    assert rows(done) == expected
    manifest = json.loads((tmp_path / "r.json.manifest.json").read_text())
    assert manifest["spec"]["dataset"] == "standard input"
    digest = hashlib.sha256(DATA[kind]).hexdigest()
    assert manifest["inputs"] == [
        {"path": "standard input", "bytes": len(DATA[kind]), "sha256": digest}
    ]
    assert not list(tmp_path.glob("qifsql-run-*")), "the private file stayed"


@pytest.mark.cases(7)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "standard input is empty"),
        (b"PK\x03\x04xx", "write it to a file"),
        (b"SQLite format 3\0", "write it to a file"),
        (b"PAR1" + b"x" * 50, "corrupt"),
        (b"a,b\n1,2,3\n", "not a regular CSV table"),
        (b"\xff\xfe\xfa\n\xff", "UTF-8"),
        (b"a,b\n" + b"1" * 100_000 + b",2\n", ""),
        (b"k" * 100_000 + b",b\n1,2\n", ""),
    ],
)
def test_what_standard_input_is_not(
    data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = piped(monkeypatch, data, "describe", "-", "--temp", tmp_path)
    assert message in done.err
    assert done.code == (2 if message else 0)
    assert not list(tmp_path.iterdir())


def test_a_terminal_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Input(CSV, terminal=True))
    done = run("describe", "-")
    assert done.code == 2
    assert "is a terminal" in done.err


def test_standard_input_is_one_dataset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(CSV)
    words = ("attack", "crl", "-", tmp_path / "p.csv", "--key", "id", "-q", "1:age,2:sex")
    assert piped(monkeypatch, CSV, *words, "-f", "json").code == 0
    done = piped(monkeypatch, CSV, "attack", "crl", "-", "-", "--key", "id", *QIDS)
    assert done.code == 2
    assert "standard input is given twice" in done.err


@pytest.mark.parametrize("form", [(), ("-f", "json")])
def test_a_dash_is_standard_output(
    form: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.csv").write_bytes(CSV)
    monkeypatch.chdir(tmp_path)
    words = ("describe", "p.csv", *form)
    assert run(*words, "-o", "-") == run(*words)
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("inspect", "--show", "records", *QIDS), "records are written to a file"),
        (("anonymise", "--one-per", "id"), "cannot go to standard output"),
        (
            ("anonymise", "--method", "mondrian", "--k", "2", *QIDS),
            "cannot go to standard output",
        ),
    ],
)
def test_records_are_not_written_to_a_stream(
    words: tuple[str, ...], refusal: str, tmp_path: Path
) -> None:
    (tmp_path / "p.csv").write_bytes(CSV)
    command, *options = words
    done = run(command, tmp_path / "p.csv", *options, "-o", "-")
    assert done.code == 2
    assert refusal in done.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("attack", "crs", "p.csv", "--qids", "age", "sex"), "--qids age,sex?"),
        (("attack", "crs", "p.csv", "-q", "age", "sex", "id"), "-q age,sex,id?"),
        (("attack", "crs", "-q", "age", "sex", "p.csv"), "-q age,sex?"),
        (("levels", "p.csv", "-q", "age", "my sex", "-s", "id"), "-q 'age,my sex'?"),
    ],
)
def test_a_second_quasi_identifier_is_told(
    words: tuple[str, ...], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.csv").write_bytes(CSV)
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.code == 2
    assert f"did you mean {hint}" in done.err


def test_a_file_that_is_missing_is_no_quasi_identifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.csv").write_bytes(CSV)
    monkeypatch.chdir(tmp_path)
    for words in (("crs", "-q", "age", "q.csv"), ("crs", "q.csv", "-q", "age")):
        assert "--qids" not in run("attack", *words).err
        assert 'did you mean "p.csv"?' in run("attack", *words).err


class Sparing(io.RawIOBase):
    """A file that writes a part of what it is given, as a pipe does whose writer was stopped."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # type: ignore[override]
        part = bytes(data)[:100]
        self.data += part
        return len(part)


def test_a_result_is_whole_where_streams_have_no_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.csv").write_bytes(CSV)
    words = ("attack", "crs", str(tmp_path / "p.csv"), *QIDS, "-f", "json", "--quiet")
    file = Sparing()
    stream = io.TextIOWrapper(file, write_through=True)  # type: ignore[type-var]
    monkeypatch.setattr(sys, "argv", ["qifsql", *words])
    monkeypatch.setattr(sys, "stdout", stream)
    app._open_streams()
    assert app.main() == 0
    assert len(file.data) > 100
    assert json.loads(file.data)["results"]
