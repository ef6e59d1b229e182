"""A file that is damaged by its own checksum is refused; one that changes while it is read, too."""

import gzip
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from terminal import run

import qifsql
from qifsql.engine.duckdb import DuckDB
from qifsql.errors import DatasetError, InputError

ROWS = [(i % 97, f"name {i % 53}", i / 7) for i in range(3000)]
LINES = b"a,b,c\n" + b"".join(b"%d,%s,%r\n" % (a, b.encode(), c) for a, b, c in ROWS)
NUMBERS = ("records", "blocks", "singled_out", "posterior_probabilistic")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parquet(**options: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        table = pa.Table.from_pylist([dict(zip("abc", row, strict=True)) for row in ROWS])
        sizes = {"data_page_size": 800, "row_group_size": 1000}
        pq.write_table(table, path, write_page_checksum=True, **sizes, **options)

    return write


def zstd(path: Path) -> None:
    path.with_suffix("").write_bytes(LINES)
    subprocess.run(["zstd", "-q", "--check", str(path.with_suffix(""))], check=True)


WRITERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "pages, version 1": ("f.parquet", parquet(compression="snappy")),
    "pages, version 2": ("f.parquet", parquet(data_page_version="2.0", compression="zstd")),
    "pages, plain": ("f.parquet", parquet(compression="none", use_dictionary=False)),
    "gzip": ("f.csv.gz", lambda path: path.write_bytes(gzip.compress(LINES))),
    "gzip, two members": (
        "f.csv.gz",
        lambda path: path.write_bytes(gzip.compress(LINES[:9000]) + gzip.compress(LINES[9000:])),
    ),
    "zstd": ("f.csv.zst", zstd),
}


def numbers(file: str) -> list[Any]:
    row = qifsql.attack("crs", file, qids=["a", "b", "c"]).rows()[0]
    return [row[name] for name in NUMBERS]


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("kind", WRITERS)
def test_a_flipped_bit_is_refused_or_changes_nothing(kind: str) -> None:
    name, write = WRITERS[kind]
    if kind == "zstd" and shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    write(Path(name))
    whole = Path(name).read_bytes()
    right = numbers(name)
    draw = random.Random(7)
    end = len(whole)
    if name.endswith("parquet"):  # the footer has no checksum
        end -= int.from_bytes(whole[-8:-4], "little") + 8
    refused = 0
    places = [draw.randrange(4, end) for _ in range(15)]
    for place in [*places, *((end - i for i in range(1, 9)) if "parquet" not in name else ())]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << draw.randrange(8)
        Path(name).write_bytes(damaged)
        try:
            assert numbers(name) == right, place
        except InputError:
            refused += 1
    assert refused >= 12


def test_every_command_refuses_a_damaged_file() -> None:
    for name, write in (WRITERS["pages, version 1"], WRITERS["gzip"]):
        write(Path(name))
        damaged = bytearray(Path(name).read_bytes())
        damaged[-3 if name.endswith("gz") else 300] ^= 1
        Path(name).write_bytes(damaged)
        good = "good.csv"
        Path(good).write_bytes(LINES)
        for arguments in (
            ("attack", "crs", name, "-q", "a"),
            ("attack", "crs", good, "-q", "a", "--population", name),
            ("sweep", name, "-q", "a,b"),
            ("levels", name, "-q", "a", "-s", "b"),
            ("describe", name),
            ("inspect", "--show", "records", name, "-q", "a", "-o", "records.csv"),
            ("anonymise", name, "-q", "a", "--k", "2", "--method", "mondrian", "-o", "out.csv"),
            ("anonymise", name, "--one-per", "a", "-o", "out.csv"),
            ("link", good, name, "-q", "a"),
            ("compare", good, name, "-q", "a", "-s", "b"),
        ):
            done = run(*arguments)
            assert (done.code, done.out) == (2, ""), (arguments, done)
            assert "is damaged" in done.err
            assert name in done.err
        assert not list(Path().glob("out*")) + list(Path().glob("records*"))


def test_pages_without_checksums_are_read() -> None:
    pl.DataFrame(ROWS, schema=["a", "b", "c"], orient="row").write_parquet("f.parquet")
    assert numbers("f.parquet")[0] == len(ROWS)


def test_gzip_that_ends_too_early_is_refused() -> None:
    Path("f.csv.gz").write_bytes(gzip.compress(LINES))
    assert numbers("f.csv.gz")[0] == len(ROWS)
    Path("f.csv.gz").write_bytes(gzip.compress(LINES)[:-5])
    with pytest.raises(DatasetError, match="is damaged"):
        numbers("f.csv.gz")


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def changed(path: Path) -> None:
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # only ctime tells


CHANGES: dict[str, Callable[[Path], Any]] = {
    "replaced": replaced,
    "changed": changed,
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"1,x,2\n"),
    "removed": Path.unlink,
}


@pytest.mark.cases(4)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "arguments",
    [
        ("attack", "crs", "f.csv", "-q", "a"),
        ("sweep", "f.csv", "-q", "a,b"),
        ("inspect", "--show", "records", "f.csv", "-q", "a", "-o", "out.csv"),
        ("anonymise", "f.csv", "--one-per", "a", "-o", "out.csv"),
        ("describe", "f.csv"),
        ("link", "good.csv", "f.csv", "-q", "a"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_input_that_changes_while_it_is_read_gives_no_result(
    arguments: tuple[str, ...], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("f.csv", "good.csv"):
        Path(name).write_bytes(LINES)
    describe = DuckDB.describe
    open_again = [change]

    def described(self: DuckDB, *more: Any) -> list[tuple[str, str]]:
        found = describe(self, *more)
        if open_again:
            CHANGES[open_again.pop()](Path("f.csv"))
        return found

    monkeypatch.setattr(DuckDB, "describe", described)
    done = run(*arguments)
    assert (done.code, done.out) == (2, ""), done
    assert "f.csv was replaced or changed while it was read" in done.err
    assert not list(Path().glob("out*"))
