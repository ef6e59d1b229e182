"""The engine: its limits, its private folder, its interruption, and errors without cells."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import SOON
from sqlglot import exp, parse_one

import qifsql
from qifsql.data.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.duckdb_errors import translated
from qifsql.engine.settings import Settings
from qifsql.errors import (
    DatasetError,
    EngineError,
    ExpressionError,
    InputError,
    InternalError,
    Interrupted,
    OutputError,
    QifError,
)
from qifsql.query.plan import Plan, Step
from qifsql.results.storage import Origin, atomic_file, stream

MARKER = "SECRETCELL42"


def plan(sql: str, *steps: str) -> Plan:
    """A plan from texts: steps ``step_1``, ``step_2``, ... and the query that reads them."""
    named = (Step(f"step_{i}", "One row.", query(s)) for i, s in enumerate(steps, 1))
    return Plan(tuple(named), query(sql))


def query(sql: str) -> exp.Query:
    tree = parse_one(sql, read="duckdb")
    assert isinstance(tree, exp.Query)
    return tree


ENDLESS = plan(
    "SELECT count(*) AS n FROM step_1 WHERE hash(x, y, z) % 7 = 3",
    "SELECT a.i AS x, b.i AS y, c.i AS z FROM range(100000) AS a(i), range(100000) AS b(i), "
    "range(100000) AS c(i)",
)
# It fails in its first rows: DuckDB 2.0.0 may never return from a COPY to CSV that fails later.
FAILING = plan("SELECT i, 1 // (5 - i) AS x FROM range(10) AS t(i)")


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    """An empty folder for the engine's temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings(memory="many"), "memory"),
        (Settings(memory="8"), "memory"),
        (Settings(memory="0.0GB"), "memory"),
        (Settings(memory="8 XB"), "memory"),
        (Settings(memory="'; SELECT 1; --"), "memory"),
        (Settings(threads=0), "threads"),
        (Settings(threads=-1), "threads"),
    ],
)
def test_limits_that_make_no_sense_are_refused_and_leave_nothing(
    settings: Settings, says: str, temp: Path
) -> None:
    given = Settings(settings.memory, settings.threads, temp)
    with pytest.raises(InputError, match=says) as caught:
        DuckDB(given)
    assert "\n" not in str(caught.value)
    assert not list(temp.iterdir())


def test_a_folder_for_temporary_files_that_is_missing_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(InputError, match="--temp") as caught:
        DuckDB(Settings(temp=missing))
    assert str(missing) in str(caught.value)
    assert not missing.exists()


def test_a_folder_for_temporary_files_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="--temp"):
        DuckDB(Settings(temp=file))


def setting(engine: DuckDB, name: str) -> Any:
    ((value,),) = engine.query(query(f"SELECT current_setting('{name}')"), "settings")
    return value


def test_the_limits_are_those_that_were_asked_for(temp: Path) -> None:
    with DuckDB(Settings(memory="300MiB", threads=2, temp=temp)) as engine:
        assert setting(engine, "memory_limit") == "300.0 MiB"
        assert setting(engine, "threads") == 2
        assert Path(setting(engine, "temp_directory")).parent == temp


@pytest.mark.parametrize("ordered", [False, True])
def test_the_engine_fetches_no_extension_and_keeps_order_only_on_request(ordered: bool) -> None:
    with DuckDB(ordered=ordered) as engine:
        assert setting(engine, "autoinstall_known_extensions") is False
        assert setting(engine, "autoload_known_extensions") is False
        assert setting(engine, "allow_community_extensions") is False
        assert setting(engine, "preserve_insertion_order") is ordered


def test_without_a_limit_an_engine_takes_at_most_half_of_the_memory() -> None:
    limit = Settings().memory_limit
    assert limit is not None
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    assert 0 < int(limit.removesuffix("MiB")) * 2**20 <= pages * size // 2


def test_the_temporary_folder_is_private_and_goes_when_the_engine_closes(temp: Path) -> None:
    engine = DuckDB(Settings(temp=temp))
    (folder,) = temp.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "spilled").write_text("anything")
    engine.close()
    assert not list(temp.iterdir())
    engine.close()  # twice does no harm


def test_the_temporary_folder_goes_after_any_exception(temp: Path) -> None:
    def stumble() -> None:
        assert list(temp.iterdir())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), DuckDB(Settings(temp=temp)):
        stumble()
    with (
        pytest.raises(QifError),
        DuckDB(Settings(temp=temp)) as engine,
    ):
        engine.frame(FAILING, "failing", "made up")
    assert not list(temp.iterdir())


def test_each_engine_has_a_folder_of_its_own(temp: Path) -> None:
    with DuckDB(Settings(temp=temp)), DuckDB(Settings(temp=temp)):
        assert len(list(temp.iterdir())) == 2
    assert not list(temp.iterdir())


def test_memory_is_never_more_than_the_machine_has() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with DuckDB(Settings(memory="9999999TB")) as engine:
        assert 0.99 * machine < engine.memory <= machine
    with DuckDB(Settings(memory="0.2GB")) as engine:
        assert 0.99 * 200e6 < engine.memory < 1.01 * 200e6


@pytest.mark.slow(because="2.4 s; every recorded mutant dies without it")
def test_what_does_not_fit_in_memory_is_spilled_to_the_private_folder_alone(temp: Path) -> None:
    seen: list[Path] = []

    def progress(_what: str, _share: float) -> None:
        seen.extend(p for folder in temp.iterdir() for p in folder.iterdir())

    big = plan(
        "SELECT count(*) AS n FROM step_1",
        "SELECT hash(i)::VARCHAR || repeat('x', 50) AS h, count(*) AS n "
        "FROM range(3000000) AS t(i) GROUP BY h",
    )
    settings = Settings(memory="150MB", threads=2, temp=temp, progress=progress)
    with DuckDB(settings) as engine:
        ((n,),) = engine.rows(big, "spilling", "made up")
    assert n == 3_000_000
    assert seen
    assert not list(temp.iterdir())


@contextmanager
def ctrl_c(seconds: float) -> Iterator[None]:
    """Ctrl-C after so many seconds, unless it is over before."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@pytest.mark.parametrize(
    "run",
    [
        lambda engine: engine.frame(ENDLESS, "counting", "made up"),
        lambda engine: engine.rows(ENDLESS, "counting", "made up"),
        lambda engine: list(engine.batches(ENDLESS, "counting", "made up", 10)),
    ],
)
def test_ctrl_c_ends_a_long_query_soon_and_leaves_nothing(
    run: Callable[[DuckDB], object], temp: Path
) -> None:
    started = time.monotonic()
    with (
        pytest.raises(Interrupted) as caught,
        DuckDB(Settings(temp=temp)) as engine,
        ctrl_c(0.5),
    ):
        run(engine)
    assert time.monotonic() - started < SOON
    assert caught.value.exit_code == 130
    assert not list(temp.iterdir())


EARLY = """
import signal, threading, time
from qifsql.engine.duckdb import DuckDB
from qifsql.errors import Interrupted

def late():
    time.sleep(0.5)  # a busy machine: Ctrl-C comes before the query has begun
    return engine._fetch(
        "SELECT count(*) FROM range(100000) a(i), range(100000) b(i), range(100000) c(i) "
        "WHERE hash(a.i, b.i, c.i) % 7 = 3"
    )

with DuckDB() as engine:
    threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,)).start()
    try:
        engine._run("counting", "made up", late)
    except Interrupted:
        print("interrupted")
"""


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
def test_ctrl_c_is_heard_though_the_query_has_not_begun(temp: Path) -> None:
    command, env = [sys.executable, "-c", EARLY], os.environ | {"TMPDIR": str(temp)}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SOON, check=True, env=env
        )
    except subprocess.TimeoutExpired:
        pytest.fail("the query goes on")
    assert done.stdout.split() == ["interrupted"]


def test_after_an_interruption_the_engine_still_works() -> None:
    with DuckDB() as engine:
        with pytest.raises(Interrupted), ctrl_c(0.3):
            engine.rows(ENDLESS, "counting", "made up")
        assert engine.rows(plan("SELECT 1 AS x"), "counting", "made up") == [(1,)]


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_ctrl_c_while_a_file_is_written_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Interrupted), DuckDB() as engine, ctrl_c(0.5):
        stream(engine, ENDLESS, tmp_path / "out.parquet", origin(), what="writing")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow(because="4.4 s; every recorded mutant dies without it")
def test_progress_says_what_is_done_and_its_share_never_leaves_0_to_1() -> None:
    told: list[tuple[str, float]] = []
    slow = plan(
        "SELECT count(*) AS n FROM range(60000) AS a(i), range(9000) AS b(j) "
        "WHERE hash(i, j) % 7 = 3"
    )
    with DuckDB(Settings(progress=lambda what, share: told.append((what, share)))) as engine:
        engine.rows(slow, "counting", "made up")
    assert told
    assert {what for what, _ in told} == {"counting"}
    assert all(0 <= share <= 1 for _, share in told)


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_an_error_of_the_caller_s_progress_is_not_hidden_and_stops_the_query(temp: Path) -> None:
    started = time.monotonic()

    def broken(_what: str, _share: float) -> None:
        if time.monotonic() - started > 0.5:
            raise LookupError("of the caller")

    with (
        pytest.raises(LookupError, match="of the caller"),
        DuckDB(Settings(temp=temp, progress=broken)) as engine,
    ):
        engine.rows(ENDLESS, "counting", "made up")
    assert time.monotonic() - started < SOON
    assert not list(temp.iterdir())


@pytest.mark.parametrize("rows", [0, 1, 9, 10, 11, 20, 25])
def test_batches_hold_every_row_once_and_there_is_always_one(rows: int) -> None:
    with DuckDB(ordered=True) as engine:
        some = plan(f"SELECT i AS x, i::VARCHAR AS y FROM range({rows}) AS t(i)")
        frames = list(engine.batches(some, "reading", "made up", rows=10))
    assert frames
    assert all(len(frame) <= 10 for frame in frames)
    assert all(frame.columns == ["x", "y"] for frame in frames)
    assert [x for frame in frames for x in frame["x"]] == list(range(rows))


def test_whole_numbers_of_any_size_come_out_exact() -> None:
    big = 2**126 + 1
    with DuckDB() as engine:
        found = plan(f"SELECT {big}::HUGEINT AS x, 0.1 AS d")
        assert engine.rows(found, "reading", "made up")[0][0] == big
        assert engine.frame(found, "reading", "made up")["x"].item() == big


def origin() -> Origin:
    return Origin("2020-01-01T00:00:00+00:00", 0.0, {"dataset": "made up"})


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_result_that_fails_leaves_no_file_and_the_old_one_as_it_was(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"out{ending}"
    with DuckDB(outputs=[path]) as engine, pytest.raises(QifError):
        stream(engine, FAILING, path, origin(), what="writing")
    assert not list(tmp_path.iterdir())
    path.write_text("as it was")
    with DuckDB(outputs=[path]) as engine, pytest.raises(QifError):
        stream(engine, FAILING, path, origin(), what="writing")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "as it was"


@pytest.mark.parametrize(
    "name", ["out.parquet", "out.csv", 'it\'s {odd} "name"; --.parquet', "é.csv"]
)
def test_a_result_is_written_whole_with_where_it_comes_from(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with DuckDB(outputs=[path], ordered=True) as engine:
        n = stream(engine, plan("SELECT i FROM range(5) AS t(i)"), path, origin(), what="writing")
    assert n == 5
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        note = json.loads(pq.read_schema(path).metadata[b"qifsql"])
        assert [p.name for p in tmp_path.iterdir()] == [name]
    else:
        table = pa.table({"i": [int(line) for line in path.read_text().splitlines()[1:]]})
        note = json.loads((tmp_path / f"{name}.manifest.json").read_text())
    assert table.column("i").to_pylist() == list(range(5))
    assert note["spec"] == {"dataset": "made up"}
    assert note["qifsql"] == qifsql.__version__


def test_an_ending_in_capitals_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "out.PARQUET"
    with DuckDB(outputs=[path]) as engine:
        stream(engine, plan("SELECT 1 AS x"), path, origin(), what="writing")
    assert path.read_bytes()[:4] == b"PAR1"


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"

    def half(temporary: Path) -> None:
        temporary.write_text("half")
        assert not path.exists()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), atomic_file(path, Origin.now()) as temporary:
        half(temporary)
    assert not list(tmp_path.iterdir())
    with atomic_file(path, Origin.now()) as temporary:
        temporary.write_text("all of it")
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "all of it"


def test_a_file_cannot_stand_where_a_folder_is_or_where_none_is(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "out.csv"):
        with pytest.raises(OutputError), atomic_file(path, Origin.now()):
            pytest.fail("there is no place for the file")


# Every way to make the engine stumble over a cell. Each writes a file below a folder and names
# what is asked of it; MARKER stands in cells only, never in names.
Trouble = Callable[[Path], object]


def csv(folder: Path, text: str | bytes, name: str = "people.csv") -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def parquet(folder: Path, **columns: list[Any]) -> Path:
    file = folder / "people.parquet"
    pq.write_table(pa.table(columns), file)
    return file


def of_texts(folder: Path, **options: Any) -> object:
    file = parquet(folder, age=["1", MARKER, "3"], sex=["a", "b", MARKER], n=[1, 2, 3])
    return qifsql.attack("crs", file, **({"qids": "sex"} | options))


def in_csv(folder: Path, text: str | bytes, **options: Any) -> object:
    source = Dataset.open(csv(folder, text), **options)
    return qifsql.attack("crs", source, qids="age")


def database(folder: Path) -> object:
    with duckdb.connect(str(folder / "people.duckdb")) as con:
        con.execute(f"CREATE TABLE people AS SELECT '{MARKER}' AS age, 1 AS n")
    return qifsql.attack("crs", f"people@{folder / 'people.duckdb'}", qids="z=age::INTEGER")


def lines(*odd: str) -> str:
    """A CSV of 3,000 people with odd lines in the middle."""
    many = [f"{i % 90},x,y" for i in range(1500)]
    return "\n".join(["age,sex,city", *many, *odd, *many, ""])


LATIN = f"age,name\n1,\xe9{MARKER}\n2,{MARKER}\n".encode("latin-1")
TROUBLES: dict[str, Trouble] = {
    "a cast of a text": lambda f: of_texts(f, qids="z=age::INTEGER"),
    "a cast to a date": lambda f: of_texts(f, qids="z=age::DATE"),
    "a cast to a boolean": lambda f: of_texts(f, qids="z=age::BOOLEAN"),
    "a cast to a uuid": lambda f: of_texts(f, qids="z=age::UUID"),
    "a cast to an enum": lambda f: of_texts(f, qids="z=age::ENUM('a', 'b')"),
    "a cast to json": lambda f: of_texts(f, qids="z=age::JSON"),
    "a cast in the filter": lambda f: of_texts(f, where="age::INTEGER > 1"),
    "a comparison that casts": lambda f: of_texts(f, where="age > 1"),
    "a cast of a secret": lambda f: qifsql.attack(
        *("cas", parquet(f, a=[1, 2], s=["1", MARKER])), qids="a", secret="z=s::DOUBLE"
    ),
    "a cast of a weight": lambda f: of_texts(f, weight="age::DOUBLE"),
    "a cast to a time": lambda f: of_texts(f, qids="z=strptime(age, '%Y')"),
    "an index of a text": lambda f: of_texts(f, qids="z=chr(length(age) - 99)"),
    "a pattern from a cell": lambda f: of_texts(f, qids="z=regexp_matches('a', age || '(')"),
    "a part of json": lambda f: of_texts(f, qids="z=json_extract(age, '$.a')"),
    "a date of a cell": lambda f: of_texts(f, qids="z=date_part(age, DATE '2020-01-01')"),
    "blobs of a cell": lambda f: of_texts(f, qids="z=('\\x' || age)::BLOB"),
    "unhex of a cell": lambda f: of_texts(f, qids="z=unhex(age)"),
    "base64 of a cell": lambda f: of_texts(f, qids="z=from_base64(age || '~')"),
    "format of a cell": lambda f: of_texts(f, qids="z=format('{}' || age || '{', 1)"),
    "printf of a cell": lambda f: of_texts(f, qids="z=printf(age || '%d%', 1)"),
    "an interval of a cell": lambda f: of_texts(f, qids="z=age::INTERVAL"),
    "a number too large": lambda f: qifsql.attack(
        "crs", parquet(f, n=[424242424242, 1]), qids="z=n::TINYINT"
    ),
    "a sum too large": lambda f: qifsql.attack(
        "crs", parquet(f, n=[2**63 - 42, 1]), qids="z=n + 424242"
    ),
    "blocks of a cast": lambda f: qifsql.inspect(
        parquet(f, age=["1", MARKER]), qids="z=age::INTEGER"
    ),
    "records of a cast": lambda f: (
        qifsql.inspect(
            parquet(f, age=["1", MARKER]), show="records", out=f / "out.csv", qids="z=age::INTEGER"
        ).written
    ),
    "a short line of CSV": lambda f: in_csv(f, lines(MARKER)),
    "a long line of CSV": lambda f: in_csv(f, lines(f"1,{MARKER},{MARKER},{MARKER},x")),
    "an open quote in CSV": lambda f: in_csv(f, lines(f'1,"{MARKER},x')),
    "a quote too many in CSV": lambda f: in_csv(f, lines(f'1,"{MARKER}"{MARKER},x')),
    "another encoding in CSV": lambda f: in_csv(f, LATIN),
    "another encoding late in CSV": lambda f: in_csv(
        f, lines().encode() + LATIN + lines().encode()
    ),
    "UTF-16 read as UTF-8": lambda f: in_csv(f, f"age,name\n1,{MARKER}\n".encode("utf-16")),
    "zeros in CSV": lambda f: in_csv(f, lines(f"1,{MARKER}\0,x")),
    "a very long line of CSV": lambda f: in_csv(f, lines(f"1,{MARKER * 400000},x")),
    "an encoding nobody knows": lambda f: in_csv(f, LATIN, encoding="no-such-encoding"),
    "another delimiter": lambda f: in_csv(f, lines(f"1;{MARKER}"), delimiter=";"),
    "a Parquet file cut short": lambda f: cut(parquet(f, age=[MARKER] * 9), 40),
    "a Parquet file that is text": lambda f: qifsql.attack(
        "crs", csv(f, f"PAR1{MARKER}PAR1", "people.parquet"), qids="age"
    ),
    "a cast in a database": database,
    "a target of another type": lambda f: qifsql.attack(
        "irs", parquet(f, age=[1, 2]), target={"age": MARKER}
    ),
    "a target that is not there": lambda f: qifsql.attack(
        "irs", parquet(f, age=["1", "2"]), target={"age": MARKER}
    ),
}


def cut(file: Path, bytes_: int) -> object:
    file.write_bytes(file.read_bytes()[:-bytes_])
    return qifsql.attack("crs", file, qids="age")


def message(trouble: Trouble, folder: Path) -> str:
    """Return the error message, if any; it must never be an internal error."""
    try:
        trouble(folder)
    except InternalError as e:
        pytest.fail(str(e))
    except QifError as e:
        return str(e)
    return ""


@pytest.mark.cases(4)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_message_is_one_line_and_shows_no_cell(trouble: str, tmp_path: Path) -> None:
    said = message(TROUBLES[trouble], tmp_path)
    assert "\n" not in said
    assert MARKER not in said
    assert "4242" not in said


STUMBLES = ("a cast of a text", "a short line of CSV", "another encoding in CSV", "a sum too large")


@pytest.mark.parametrize("trouble", STUMBLES)
def test_the_engine_s_words_are_kept_for_those_who_ask(trouble: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        TROUBLES[trouble](tmp_path)
    assert caught.value.detail
    assert isinstance(caught.value.__cause__, duckdb.Error | QifError)


@pytest.mark.parametrize(
    "expression",
    ["7 // (n - 1)", "7 % (n - 1)", "strptime(age, '%Y')", "regexp_matches('a', age || '(')"],
)
def test_an_expression_that_fails_on_a_cell_is_not_called_a_corrupt_file(
    expression: str, tmp_path: Path
) -> None:
    with pytest.raises(ExpressionError):
        of_texts(tmp_path, qids=f"z={expression}")


def engine_errors() -> Iterator[type[duckdb.Error]]:
    yield from (
        kind
        for kind in vars(duckdb).values()
        if isinstance(kind, type) and issubclass(kind, duckdb.Error)
    )


@pytest.mark.parametrize("kind", sorted(set(engine_errors()), key=lambda kind: kind.__name__))
def test_of_any_error_of_the_engine_only_the_detail_has_its_words(kind: type[duckdb.Error]) -> None:
    words = f'Some Error: Could not convert string "{MARKER}" on Line: 7 \n {MARKER}'
    said = translated(kind(words), "census.csv")
    assert isinstance(said, QifError)
    assert "\n" not in str(said)
    assert MARKER not in str(said)
    assert said.detail is None or MARKER in said.detail


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (duckdb.OutOfMemoryException("failed to allocate"), EngineError, "--memory"),
        (duckdb.OutOfMemoryException("failed to offload data block"), EngineError, "--temp"),
        (
            duckdb.IOException("Could not write file: No space left on device"),
            EngineError,
            "--temp",
        ),
        (duckdb.InterruptException("INTERRUPT"), Interrupted, "nothing was left"),
        (duckdb.ConversionException("no"), ExpressionError, "try_cast"),
        (duckdb.InvalidInputException("CSV Error on Line: 12"), DatasetError, "line 12"),
        (duckdb.InvalidInputException("Invalid unicode (not utf-8)"), DatasetError, "--encoding"),
        (duckdb.CatalogException("no such table"), DatasetError, "name of the table"),
        (duckdb.InternalException("oops"), InternalError, "--debug"),
    ],
)
def test_an_error_of_the_engine_says_what_to_try(
    error: duckdb.Error, kind: type[QifError], says: str
) -> None:
    said = translated(error, "census.csv", Settings(memory="1GB"))
    assert type(said) is kind
    assert says in str(said)


def test_running_out_of_memory_names_the_limit_and_leaves_nothing(temp: Path) -> None:
    greedy = plan("SELECT list(i::VARCHAR || repeat('x', 100)) AS l FROM range(3000000) AS t(i)")
    with (
        pytest.raises(EngineError, match="50MB") as caught,
        DuckDB(Settings(memory="50MB", threads=1, temp=temp)) as engine,
    ):
        engine.rows(greedy, "gathering", "made up")
    assert caught.value.exit_code == 3
    assert not list(temp.iterdir())


def test_a_database_is_opened_read_only_and_once(tmp_path: Path) -> None:
    file = tmp_path / "it's.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute("CREATE TABLE people AS SELECT 1 AS age")
    before = file.read_bytes()
    dataset = Dataset.open(f"people@{file}")
    with DuckDB(sources=[dataset]) as engine:
        assert [c.name for c in Catalog(engine, dataset).schema.columns] == ["age"]
        assert [c.name for c in Catalog(engine, dataset).schema.columns] == ["age"]
        with pytest.raises(QifError):
            list(engine.script("CREATE TABLE attached.more AS SELECT 1"))
    assert file.read_bytes() == before


def test_engines_do_not_see_one_another() -> None:
    with DuckDB() as one, DuckDB() as other:
        list(one.script("CREATE TABLE mine AS SELECT 1"))
        with pytest.raises(QifError):
            list(other.script("FROM mine"))


def test_the_default_folder_for_temporary_files_is_the_system_s() -> None:
    with DuckDB() as engine:
        folder = Path(setting(engine, "temp_directory"))
        assert folder.parent == Path(tempfile.gettempdir())
    assert not folder.exists()


def test_an_engine_that_was_interrupted_while_it_closed_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    class Interrupted:
        def close(self) -> None:
            raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

        def interrupt(self) -> None:
            raise duckdb.ConnectionException("Connection Error: Connection already closed!")

    engine = DuckDB(Settings(temp=str(tmp_path)))
    assert list(tmp_path.iterdir())
    own = engine._connection
    monkeypatch.setattr(engine, "_connection", Interrupted())
    engine.close()
    own.close()
    assert not list(tmp_path.iterdir())


def test_an_interruption_while_the_engine_opens_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("qifsql.engine.duckdb.duckdb.connect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        DuckDB(Settings(temp=tmp_path))
    assert list(tmp_path.iterdir()) == []
