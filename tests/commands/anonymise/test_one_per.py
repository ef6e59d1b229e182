"""Treatment: one record of each person, chosen by lots that Python can draw again.

``kept`` draws the lots as the documentation of ``one_per`` says, slowly and without SQL;
what must hold of any choice is checked apart from it.
"""

import csv
import gzip
import hashlib
import io
import json
import math
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import PATIENCE
from hypothesis import given
from hypothesis import strategies as st
from places import SAMPLES
from strategies import VALUES, Table, tables, to_arrow
from terminal import run, wait_for_work

import qifsql
from qifsql.commands.anonymise.one_per.draw import SUMMARY
from qifsql.commands.anonymise.one_per.effect import CHANGES, COMPARISON
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import InternalError, Interrupted, QifError
from qifsql.query.templates import _load_shape, folder, views

ENROLMENTS = SAMPLES / "school_census_2019_enrolments.parquet"
QIDS = ["NU_DIA", "NU_MES", "CO_ENTIDADE"]
Row = dict[str, Any]


# The oracle.


def text(cell: object) -> str:
    """A value as DuckDB writes it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return repr(cell)
    return str(cell)


def lot(copy: int, seed: int, cells: Sequence[object]) -> str:
    told = ["-" if c is None else f"{len(text(c).encode())}:{text(c)}" for c in cells]
    return hashlib.md5(f"{copy}/{seed}|{''.join(told)}".encode()).hexdigest()


def person(cell: object) -> object:
    """The key as an identity; None where there is none."""
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    return cell


def kept(rows: Sequence[Row], key: str, seed: int) -> list[Row]:
    """The records that stay, in their order."""
    best: dict[object, tuple[str, int]] = {}
    copies: Counter[tuple[object, str]] = Counter()
    stay = []
    for i, row in enumerate(rows):
        who = person(row[key])
        if who is None:
            stay.append(i)
            continue
        copies[who, repr(row)] += 1
        drawn = (lot(copies[who, repr(row)], seed, list(row.values())), i)
        best[who] = min(best.get(who, drawn), drawn)
    return [rows[i] for i in sorted([*stay, *(i for _, i in best.values())])]


def check(before: Sequence[Row], after: Sequence[Row], key: str) -> None:
    """Check every choice: records of the input, one per key, all without a key."""
    assert not Counter(map(repr, after)) - Counter(map(repr, before))
    people = [person(row[key]) for row in after]
    named = [who for who in people if who is not None]
    assert len(named) == len(set(named))
    assert set(named) == {person(row[key]) for row in before} - {None}
    nobody = [repr(row) for row in before if person(row[key]) is None]
    assert Counter(nobody) == Counter(repr(r) for r in after if person(r[key]) is None)


def read(file: Path) -> list[Row]:
    with pq.ParquetFile(file) as opened:
        return opened.read().to_pylist()


def written(file: Path, columns: dict[str, Sequence[Any]]) -> Path:
    pq.write_table(pa.table(columns), file)
    return file


def unpacked(file: Path) -> str:
    """The text of a CSV file."""
    raw = file.read_bytes()
    return (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode()


def sample(n: int, seed: int = 1) -> pl.DataFrame:
    """Records of about half as many people; many of a person are identical."""
    draw = random.Random(seed)
    keys = [draw.choice([None, draw.randrange(n // 2)]) for _ in range(n)]
    cells = [draw.choice("aaab") for _ in range(n)]
    numbers = [draw.choice([None, 0.0, -0.0, math.nan, 1.5]) for _ in range(n)]
    return pl.DataFrame({"key": keys, "cell": cells, "x": numbers})


def multiset(file: Path) -> Counter[str]:
    return Counter(map(repr, read(file)))


# The choice.


@st.composite
def repeated(draw: st.DrawFn) -> Table:
    """A hostile table, some of whose records stand in it several times, in any order."""
    table = draw(tables())
    rows = table.rows + draw(st.lists(st.sampled_from(table.rows), max_size=8))
    return Table(table.columns, table.types, draw(st.permutations(rows)), table.qids, table.secrets)


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@given(repeated(), st.integers(0, 2**63 - 1))
def test_one_record_of_each_person_stays_the_one_with_the_least_lot(
    table: Table, seed: int
) -> None:
    key = table.qids[0]
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place) / "in.parquet", Path(place) / "out.parquet"
        pq.write_table(to_arrow(table), source)
        result = qifsql.anonymise(source, out, one_per=key, seed=seed)
        after = read(out)
        assert pq.read_schema(out).names == table.columns
        assert pq.read_schema(out).types == [table.types[c] for c in table.columns]
    check(table.rows, after, key)
    assert repr(after) == repr(kept(table.rows, key, seed))
    assert result.frame.schema == SUMMARY
    people = Counter(person(row[key]) for row in table.rows)
    nameless = people.pop(None, 0)
    assert result.frame.row(0) == (
        len(table.rows),
        len(people) + nameless,
        len(table.rows) - len(people) - nameless,
        sum(n > 1 for n in people.values()),
        nameless,
    )


@pytest.mark.slow(because="3.9 s; every recorded mutant dies without it")
def test_every_value_of_the_tests_is_written_in_lots_as_the_documentation_says(
    tmp_path: Path,
) -> None:
    for kind, values in VALUES.items():
        cells = [value for value in values for _ in range(3)]
        source = written(tmp_path / "in.parquet", {"key": [1] * len(cells), "n": range(len(cells))})
        table = pq.read_table(source).append_column("cell", pa.array(cells, kind))
        pq.write_table(table, source)
        for seed in range(5):
            qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key", seed=seed)
            assert repr(read(tmp_path / "out.parquet")) == repr(kept(read(source), "key", seed))


@pytest.mark.slow(because="2.6 s; every recorded mutant dies without it")
def test_nothing_but_seed_and_records_decides(tmp_path: Path) -> None:
    data = sample(20_000)
    whole, out = tmp_path / "whole.parquet", tmp_path / "out.parquet"
    data.write_parquet(whole)
    qifsql.anonymise(whole, out, one_per="key", seed=5)
    expected = multiset(out)
    shuffled = tmp_path / "shuffled.parquet"
    data.sample(fraction=1, shuffle=True, seed=3).write_parquet(shuffled)
    parts = tmp_path / "parts"
    parts.mkdir()
    for i, part in enumerate(data.iter_slices(7_001)):
        part.write_parquet(parts / f"{9 - i}.parquet")
    small = tmp_path / "small.parquet"
    data.write_parquet(small, row_group_size=500)
    for source in (whole, shuffled, parts, f"{parts}/*.parquet", small):
        for threads in (1, 2):
            settings = Settings(threads=threads)
            qifsql.anonymise(source, out, one_per="key", seed=5, settings=settings)
            assert multiset(out) == expected, (source, threads)
    qifsql.anonymise(whole, out, one_per="key", seed=6)
    assert multiset(out) != expected


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("threads", [1, 2])
def test_the_order_of_the_input_is_kept(tmp_path: Path, threads: int) -> None:
    n = 400_000  # several row groups for each thread
    keys = pl.int_range(n, eager=True).shuffle(1) // 2
    data = pl.DataFrame({"position": pl.int_range(n, eager=True), "key": keys})
    data.write_parquet(tmp_path / "in.parquet", row_group_size=20_000)
    settings = Settings(threads=threads)
    qifsql.anonymise(
        tmp_path / "in.parquet", tmp_path / "out.parquet", one_per="key", settings=settings
    )
    after = pl.read_parquet(tmp_path / "out.parquet")
    assert after.height == n // 2
    assert after["position"].is_sorted()


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
def test_the_same_table_in_another_format_draws_the_same_lots(tmp_path: Path) -> None:
    data = sample(3_000).select("key", "cell", word=pl.col("cell") + pl.col("key").cast(pl.String))
    data.write_parquet(tmp_path / "in.parquet")
    data.write_csv(tmp_path / "in.csv")
    with duckdb.connect(tmp_path / "in.duckdb") as con:
        con.execute(f"CREATE TABLE t AS FROM '{tmp_path}/in.parquet'")
        con.execute("CREATE TABLE v AS SELECT * FROM t ORDER BY hash(key, cell)")
    found = []
    sources = ("in.parquet", "in.csv", "t@{}/in.duckdb", "v@{}/in.duckdb")
    for source in sources:
        path = source.format(tmp_path) if "@" in source else tmp_path / source
        for ending in ("parquet", "csv", "csv.gz"):
            out = tmp_path / f"out.{ending}"
            result = qifsql.anonymise(path, out, one_per="key", seed=9)
            assert result.notes == ()
            reader = pl.read_parquet if ending == "parquet" else pl.read_csv
            found.append(sorted(map(repr, reader(out).rows())))
    assert all(rows == found[0] for rows in found)


# Chances.


def far(counts: Sequence[int], chances: Sequence[float]) -> float:
    """Return how many standard deviations chi-square is above what is expected."""
    total, freedom = sum(counts), len(counts) - 1
    expected = [total * p for p in chances]
    square = sum((n - e) ** 2 / e for n, e in zip(counts, expected, strict=True))
    return (square - freedom) / math.sqrt(2 * freedom)


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
def test_every_record_of_a_person_has_the_same_chance_over_people_and_seeds(
    tmp_path: Path,
) -> None:
    people, each, seeds = 4_000, 3, 20
    keys = [i for i in range(people) for _ in range(each)]
    source = written(tmp_path / "in.parquet", {"key": keys, "record": [0, 1, 2] * people})
    by_seed = []
    for seed in range(seeds):
        qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key", seed=seed)
        by_seed.append(pl.read_parquet(tmp_path / "out.parquet").sort("key")["record"].to_list())
        assert far([by_seed[-1].count(r) for r in range(each)], [1 / 3] * 3) < 5
    drawn = Counter(r for chosen in by_seed for r in chosen)
    assert far([drawn[r] for r in range(each)], [1 / 3] * 3) < 5
    # One seed tells nothing of the next one, one person nothing of the next one.
    seeds_together = Counter(pair for a, b in pairwise(by_seed) for pair in zip(a, b, strict=True))
    people_together = Counter(pair for a in by_seed for pair in pairwise(a))
    for together in (seeds_together, people_together):
        assert len(together) == each**2
        assert far(list(together.values()), [1 / 9] * 9) < 5


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
def test_every_record_of_one_person_has_the_same_chance_over_many_seeds() -> None:
    # By the oracle, which the tests above hold equal to what SQL draws.
    for each in (2, 3, 7):
        rows = [{"key": 1, "n": i} for i in range(each)]
        drawn = Counter(kept(rows, "key", seed)[0]["n"] for seed in range(12_000))
        assert far([drawn[i] for i in range(each)], [1 / each] * each) < 5


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_identical_records_are_as_many_records(tmp_path: Path) -> None:
    people, seeds = 3_000, 5
    keys = [i for i in range(people) for _ in range(3)]
    source = written(tmp_path / "in.parquet", {"key": keys, "cell": ["A", "B", "A"] * people})
    drawn: Counter[str] = Counter()
    for seed in range(seeds):
        qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key", seed=seed)
        drawn += Counter(pl.read_parquet(tmp_path / "out.parquet")["cell"].to_list())
    assert far([drawn["A"], drawn["B"]], [2 / 3, 1 / 3]) < 5


def test_equal_lots_of_different_records_are_told_apart_by_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = (folder() / "anonymise" / "lots.sql").read_text()
    same = told.replace("md5(concat(row_number()", "left(concat(row_number()")
    same = same.replace("'/', record)) AS lot", "'/', record), 0) AS lot")
    assert same != told
    (tmp_path / "anonymise").mkdir()
    (tmp_path / "anonymise" / "lots.sql").write_text(same)
    monkeypatch.setattr("qifsql.query.templates.folder", lambda: tmp_path)
    _load_shape.cache_clear()
    views.cache_clear()
    try:
        for cells in (["b", "a", "c"], ["c", "b", "a"]):
            source = written(tmp_path / "in.parquet", {"key": [1] * 3, "cell": cells})
            qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key")
            assert read(tmp_path / "out.parquet") == [{"key": 1, "cell": "a"}]
    finally:
        _load_shape.cache_clear()
        views.cache_clear()


# Names, types, texts.


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "names",
    [
        ("ID", "id", "Id"),
        ("key", "position", "column_1"),
        ("record", "numbered", "meant"),
        ("", "id", "dropped"),
        ('"; DROP TABLE repeats', "'); --", "row_number() OVER ()"),
        ("\U0001f642", "a\nb", " "),
        ("file_row_number", "filename", "rowid"),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_any_names_of_columns_stay(tmp_path: Path, names: Sequence[str], ending: str) -> None:
    cells = (["x", "y", "z", None], [1, 1, 2, None], [b"q", None, b"", b"r"])
    arrays = [pa.array(c) for c in cells]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), tmp_path / "in.parquet")
    out = tmp_path / f"out.{ending}"
    result = qifsql.anonymise(tmp_path / "in.parquet", out, one_per=names[1], qids=names[2])
    assert result.frame["people"][0] == 3
    assert "changes" in result.details
    if ending == "parquet":
        assert pq.read_schema(out).names == list(names)
        assert pq.read_schema(out).types == [a.type for a in arrays]
        assert b"qifsql" not in (pq.read_schema(out).metadata or {})
    else:
        assert next(csv.reader(io.StringIO(unpacked(out), newline=""))) == list(names)
    with tempfile.TemporaryDirectory() as place:  # what was written can be treated again
        if len(set(names)) == len(names) and "" not in names:
            again = qifsql.anonymise(out, Path(place) / "again.parquet", one_per=names[1])
            assert again.frame["dropped"][0] == 0


def test_all_columns_keep_their_types(tmp_path: Path) -> None:
    columns = {
        "key": pa.array([1, 1, 2], pa.uint16()),
        "small": pa.array([1, None, -3], pa.int8()),
        "single": pa.array([0.1, math.nan, None], pa.float32()),
        "money": pa.array([Decimal("1.10"), None, Decimal("-2.00")], pa.decimal128(20, 2)),
        "day": pa.array([date(2020, 1, 1), None, date(1, 1, 1)]),
        "moment": pa.array([0, 1, None], pa.timestamp("us", tz="UTC")),
        "exact": pa.array([0, 1, None], pa.timestamp("ns")),
        "clock": pa.array([0, 1, None], pa.time64("us")),
        "raw": pa.array([b"\xff", b"", None]),
        "several": pa.array([[1.5, None], [], None], pa.list_(pa.float64())),
        "both": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": ""}, None]),
    }
    source = written(tmp_path / "in.parquet", columns)
    result = qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key")
    before, after = (duckdb.sql(f"FROM '{tmp_path}/{f}.parquet'") for f in ("in", "out"))
    assert before.columns == after.columns
    assert before.types == after.types
    assert result.notes == ()
    told = [relation.project("COLUMNS(*)::VARCHAR").fetchall() for relation in (before, after)]
    assert set(told[1]) < set(told[0])


def test_values_that_parquet_would_change_are_written_as_text_and_that_is_said(
    tmp_path: Path,
) -> None:
    long = 2**126 + 1
    with duckdb.connect(tmp_path / "t.duckdb") as con:
        con.execute("CREATE TABLE t (key INTEGER, long HUGEINT, lasting INTERVAL, many HUGEINT[])")
        con.execute(f"INSERT INTO t VALUES (1, {long}, INTERVAL 1 MICROSECOND, [{long}])")
    result = qifsql.anonymise(f"t@{tmp_path}/t.duckdb", tmp_path / "out.parquet", one_per="key")
    assert read(tmp_path / "out.parquet") == [
        {"key": 1, "long": str(long), "lasting": "00:00:00.000001", "many": f"[{long}]"}
    ]
    assert [note.split('"')[1] for note in result.notes] == ["long", "lasting", "many"]


TEXTS = (
    "key,a,b,a,\n"
    '1,1.50,"",x,"q ""w"""\n'
    '1,1.50,,x,"q ""w"""\n'
    '2,1e3,"a\nb","c,d",\n'
    "1.0,-0,NULL,nan,\u00e9\n"
    ",,,,\n"
)


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_cells_of_csv_are_the_texts_that_stand_in_the_file(tmp_path: Path, ending: str) -> None:
    (tmp_path / "in.csv").write_text(TEXTS)
    out = tmp_path / f"out.{ending}"
    result = qifsql.anonymise(
        tmp_path / "in.csv", out, one_per="key", where="b IS DISTINCT FROM 'zz'"
    )
    after = unpacked(out)
    # 1, 1 and 1.0 are one person, for the column is of numbers; the last line has no key.
    assert result.frame.row(0) == (5, 3, 2, 1, 1)
    assert after.startswith("key,a,b,a,\n")
    assert after.endswith("\n,,,,\n")
    lines = set(TEXTS.split("\n"))
    assert {line for line in after.split("\n") if '"' not in line} <= lines
    chosen = [line for line in after.split("\n")[1:] if line.startswith(("1,", "1.0,"))]
    assert len(chosen) == 1


def test_with_text_alone_other_spellings_are_other_people(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("key\n1\n1.0\n1\n")
    out = tmp_path / "out.csv"
    assert run("anonymise", tmp_path / "in.csv", "-o", out, "--one-per", "key").code == 0
    assert len(out.read_text().splitlines()) == 2
    run("anonymise", tmp_path / "in.csv", "-o", out, "--one-per", "key", "--all-varchar")
    assert out.read_text() == "key\n1\n1.0\n" or out.read_text() == "key\n1.0\n1\n"


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_dates_of_any_form_can_be_filtered(tmp_path: Path) -> None:
    lines = ("key,d,x", "1,31/12/2019,1.50", "1,30/12/2019,1.50", "2,01/02/2018,2", "")
    (tmp_path / "in.csv").write_text("\n".join(lines))
    out = tmp_path / "out.csv"
    result = qifsql.anonymise(tmp_path / "in.csv", out, one_per="key", where="d > '2019-01-01'")
    assert result.frame.row(0) == (2, 1, 1, 1, 0)
    assert out.read_text().splitlines()[1] in ("1,2019-12-31,1.5", "1,2019-12-30,1.5")
    assert "all_varchar=True" in result.notes[0]
    other = qifsql.anonymise(tmp_path / "in.csv", out, one_per="key", where="x < 2")
    assert out.read_text().splitlines()[1] in ("1,31/12/2019,1.50", "1,30/12/2019,1.50")
    assert other.notes == ()


def test_a_filter_comes_first(tmp_path: Path) -> None:
    source = written(
        tmp_path / "in.parquet", {"key": [1, 1, 2, 2, None], "x": [1.0, 2.0, math.nan, 3.0, 4.0]}
    )
    result = qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key", where="x > 1")
    assert read(tmp_path / "out.parquet") == [
        {"key": 1, "x": 2.0},
        {"key": 2, "x": 3.0},
        {"key": None, "x": 4.0},
    ]
    assert result.frame.row(0) == (3, 3, 0, 0, 1)


# What it changes.


def blocks(rows: Sequence[Row], qids: Sequence[str]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(person(row[q]) for q in qids) for row in rows)


@pytest.mark.slow(because="the draws are compared with slow Python")
@given(repeated(), st.integers(0, 9))
def test_changes_are_those_that_counting_by_hand_finds(table: Table, seed: int) -> None:
    key, qids = table.secrets[0], table.qids
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place) / "in.parquet", Path(place) / "out.parquet"
        pq.write_table(to_arrow(table), source)
        options: dict[str, Any] = {"qids": qids}
        if len(table.secrets) > 1:
            options["secret"] = table.secrets[1:2]
        result = qifsql.anonymise(source, out, one_per=key, seed=seed, **options)
        models = "crs,cas" if "secret" in options else "crs"
        for when, file in (("before", source), ("after", out)):
            found = qifsql.attack(models, file, **options).frame
            shared = [name for name in COMPARISON if name != "when"]
            mine = result.details["comparison"].filter(pl.col("when") == when)
            assert mine.select(shared).equals(found.select(shared))
        after = read(out)
    before, then = blocks(table.rows, qids), blocks(after, qids)
    alone = {block for block, n in before.items() if n == 1}
    alone_after = {block for block, n in then.items() if n == 1}
    assert result.details["changes"].row(0, named=True) == {
        "singled_out_before": len(alone),
        "still_singled_out": len(alone & then.keys()),
        "lost": len(alone - then.keys()),
        "singled_out_only_after": len(alone_after - alone),
        "singled_out_after": len(alone_after),
    }
    assert result.details["changes"].schema == CHANGES
    assert result.details["comparison"].schema == COMPARISON


@pytest.mark.slow(because="2.3 s; every recorded mutant dies without it")
def test_treatment_may_raise_the_risk(tmp_path: Path) -> None:
    # Each of two people is at school 1 and at a school of the other, so nobody is alone; whoever
    # is kept at another school than 1 is.
    source = written(tmp_path / "in.parquet", {"key": [1, 2] * 2, "school": [1, 1, 2, 2]})
    seen = set()
    for seed in range(12):
        result = qifsql.anonymise(
            source, tmp_path / "out.parquet", one_per="key", seed=seed, qids="school"
        )
        seen.add(result.details["changes"].row(0))
    assert seen == {(0, 0, 0, 0, 0), (0, 0, 0, 2, 2)}


@pytest.mark.slow(because="4 s; drawn tables have the same properties")
def test_the_sample_of_enrolments(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    result = qifsql.anonymise(
        ENROLMENTS, out, one_per="ID_ALUNO", seed=3, qids=QIDS, secret="TP_SEXO"
    )
    before, after = read(ENROLMENTS), read(out)
    check(before, after, "ID_ALUNO")
    assert repr(after) == repr(kept(before, "ID_ALUNO", 3))
    people = defaultdict(int)
    for row in before:
        people[row["ID_ALUNO"]] += 1
    without = people.pop(None)
    assert result.frame.row(0) == (
        21_669,
        len(people) + without,
        21_669 - len(people) - without,
        sum(n > 1 for n in people.values()),
        without,
    )
    assert result.details["comparison"]["model"].to_list() == ["CRS", "CAS"] * 2


def test_a_treated_release_can_be_part_of_a_collection(tmp_path: Path) -> None:
    release, earlier = tmp_path / "release.parquet", SAMPLES / "school_census_2018.parquet"
    with pytest.raises(QifError, match="qifsql anonymise"):
        qifsql.attack("crl", [earlier, ENROLMENTS], key="ID_ALUNO", qids="CO_ENTIDADE")
    qifsql.anonymise(ENROLMENTS, release, one_per="ID_ALUNO")
    result = qifsql.attack("crl", [earlier, release], key="ID_ALUNO", qids="CO_ENTIDADE")
    assert result.frame["records"][0] == pl.read_parquet(earlier).height


def test_a_folder_with_values_in_its_names_is_one_release(tmp_path: Path) -> None:
    for year, keys in ((2018, [1, 2]), (2019, [1, 3])):
        part = tmp_path / "release" / f"year={year}"
        part.mkdir(parents=True)
        written(part / "a.parquet", {"key": keys})
    result = qifsql.anonymise(tmp_path / "release", tmp_path / "out.csv", one_per="key", seed=1)
    assert result.frame.row(0) == (4, 3, 1, 1, 0)
    assert sorted((tmp_path / "out.csv").read_text().split()) in (
        ["1,2018", "2,2018", "3,2019", "key,year"],
        ["1,2019", "2,2018", "3,2019", "key,year"],
    )


def test_what_the_key_does_among_quasi_identifiers_is_said(tmp_path: Path) -> None:
    source = written(tmp_path / "in.parquet", {"key": [1, 1, 2]})
    result = qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key", qids="key")
    assert "is among the quasi-identifiers" in result.notes[0]


# Files.


def test_the_sql_of_the_manifest_gives_the_same_records(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    qifsql.anonymise(ENROLMENTS, out, one_per="ID_ALUNO", seed=8, where="TP_SEXO = 1")
    note = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    with duckdb.connect() as con:
        cursor = con.execute(note["sql"])
        assert cursor.fetchall() == pl.read_parquet(out).rows()
    assert note["seed"] == 8
    assert note["spec"] == {
        "dataset": ENROLMENTS.name,
        "key": "ID_ALUNO",
        "seed": 8,
        "where": "TP_SEXO = 1",
    }
    assert note["inputs"][0]["bytes"] == ENROLMENTS.stat().st_size
    assert set(note) >= {"versions", "started", "inputs", "qifsql"}


@pytest.mark.parametrize("name", ["out.csv.gz", "out.csv", "out.parquet"])
def test_a_release_has_its_manifest_beside_it_and_not_in_it(tmp_path: Path, name: str) -> None:
    source = written(tmp_path / "in.parquet", {"key": [1, 1]})
    qifsql.anonymise(source, tmp_path / name, one_per="key", seed=4, qids="key")
    note = json.loads((tmp_path / f"{name}.manifest.json").read_text())
    assert (note["seed"], note["spec"]["qids"]) == (4, ["key"])
    assert note["seconds"] > 0
    assert b"in.parquet" not in (tmp_path / name).read_bytes()
    names = {"in.parquet", name, f"{name}.manifest.json"}
    assert {p.name for p in tmp_path.iterdir()} == names


def test_an_older_file_is_replaced_whole_or_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(tmp_path / "in.parquet", {"key": [1, 1]})
    out = tmp_path / "out.csv"
    out.write_text("old")

    def interrupted(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pl.LazyFrame, "sink_csv", interrupted)
        with pytest.raises(KeyboardInterrupt):
            qifsql.anonymise(source, out, one_per="key")
    assert out.read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"in.parquet", "out.csv"}
    qifsql.anonymise(source, out, one_per="key")
    assert out.read_text() == "key\n1\n"


def test_a_file_with_more_or_fewer_records_than_people_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(tmp_path / "in.parquet", {"key": [1, 1, 2]})
    copy = DuckDB.copy
    monkeypatch.setattr(DuckDB, "copy", lambda *a, **k: copy(*a, **k) + 1)
    with pytest.raises(InternalError, match=r"3 records of in\.parquet would be written, not 2"):
        qifsql.anonymise(source, tmp_path / "out.parquet", one_per="key")
    assert {p.name for p in tmp_path.iterdir()} == {"in.parquet"}


COMMAND = (sys.executable, "-m", "qifsql")


@pytest.mark.slow(because="8.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_an_interrupted_treatment_leaves_nothing_behind(tmp_path: Path, ending: str) -> None:
    source, temp = tmp_path / "in.parquet", tmp_path / "temp"
    pl.DataFrame({"key": pl.int_range(3_000_000, eager=True) // 2}).write_parquet(source)
    temp.mkdir()
    slow = "md5(" * 20 + "key::varchar" + ")" * 20 + " <> ''"
    running = subprocess.Popen(
        [*COMMAND, "anonymise", source, "-o", tmp_path / f"out.{ending}", "--one-per", "key",
         "--where", slow, "--temp", temp],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_work(running, 1, temp)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=PATIENCE)
    assert (running.returncode, output) == (130, "")
    assert errors == "error: interrupted; nothing was left behind\n"
    assert list(temp.iterdir()) == []
    assert {p.name for p in tmp_path.iterdir()} == {"in.parquet", "temp"}


def test_an_interruption_while_records_are_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(tmp_path / "in.parquet", {"key": list(range(200_000))})

    def stopped(what: str, _share: float, _detail: str = "", /) -> None:
        if what == "writing records":
            raise KeyboardInterrupt

    monkeypatch.setattr("qifsql.engine.threads.POLL", 1e-6)
    with pytest.raises(Interrupted):
        qifsql.anonymise(
            source, tmp_path / "out.parquet", one_per="key", settings=Settings(progress=stopped)
        )
    assert {p.name for p in tmp_path.iterdir()} == {"in.parquet"}


# Bad input: one line, exit code 2, no value of a cell.


def people(folder_: Path) -> Path:
    return written(
        folder_ / "people.parquet",
        {"person": ["SECRET", "SECRET"], "list": [[1], [2]], "both": [{"a": 1}, {"a": 2}]},
    )


def no_records(folder_: Path) -> Path:
    pq.write_table(pa.table({"person": pa.array([], pa.int64())}), folder_ / "none.parquet")
    return folder_ / "none.parquet"


def header_alone(folder_: Path) -> Path:
    (folder_ / "head.csv").write_text("person,age\n")
    return folder_ / "head.csv"


def no_bytes(folder_: Path) -> Path:
    (folder_ / "empty.csv").write_text("")
    return folder_ / "empty.csv"


OUT = "out.parquet"
BAD: dict[str, tuple[Callable[[Path], Path], Sequence[str], str]] = {
    "key": (people, ["-o", OUT, "--one-per", "persn"], 'did you mean "person"?'),
    "list": (
        people,
        ["-o", OUT, "--one-per", "list"],
        'key "list" of people.parquet is nested (LIST)',
    ),
    "struct": (people, ["-o", OUT, "--one-per", "both"], "is nested (STRUCT)"),
    "ending": (people, ["-o", "out.doc", "--one-per", "person"], ".parquet, .pq, .csv, .tsv"),
    "no ending": (people, ["-o", "out", "--one-per", "person"], "must end in one of"),
    "gz alone": (people, ["-o", "out.gz", "--one-per", "person"], "must end in one of"),
    "sheet": (people, ["-o", "out.ods", "--one-per", "person"], "must end in one of"),
    "input": (people, ["-o", "people.parquet", "--one-per", "person"], "is the input"),
    "link": (people, ["-o", "link.parquet", "--one-per", "person"], "is the input"),
    "folder": (people, ["-o", "no/out.csv", "--one-per", "person"], "there is no folder"),
    "a folder": (people, ["-o", "made.csv", "--one-per", "person"], "is a folder"),
    "negative": (people, ["-o", OUT, "--one-per", "person", "--seed", "-1"], "from 0 to 92233"),
    "large": (people, ["-o", OUT, "--one-per", "person", "--seed", str(2**63)], "from 0 to 92233"),
    "no number": (people, ["-o", OUT, "--one-per", "person", "--seed", "x"], "--seed"),
    "no key": (people, ["-o", OUT], "name it with --k"),
    "no out": (people, ["--one-per", "person"], "--out"),
    "format": (people, ["-o", OUT, "--one-per", "person", "-f", "xml"], "there is no format"),
    "no records": (no_records, ["-o", OUT, "--one-per", "person"], "none.parquet has no records"),
    "no lines": (header_alone, ["-o", "o.csv", "--one-per", "person"], "head.csv has no records"),
    "no bytes": (no_bytes, ["-o", OUT, "--one-per", "person"], "is empty"),
    "nobody": (
        people,
        ["-o", OUT, "--one-per", "person", "--where", "person = 'x'"],
        "no records under the filter",
    ),
    "condition": (
        people,
        ["-o", OUT, "--one-per", "person", "--where", "person"],
        "not a condition",
    ),
    "filter": (
        people,
        ["-o", OUT, "--one-per", "person", "--where", "prson = 1"],
        '"prson" is not in',
    ),
    "qids": (people, ["-o", OUT, "--one-per", "person", "-q", "age"], '"age" is not in'),
    "secret alone": (people, ["-o", OUT, "--one-per", "person", "-s", "person"], "--qids"),
    "secret key": (
        people,
        ["-o", OUT, "--one-per", "person", "-q", "x=1", "-s", "person"],
        "the key",
    ),
    "nested qid": (people, ["-o", OUT, "--one-per", "person", "-q", "both"], "is nested"),
}


@pytest.mark.cases(6)
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    make, arguments, words = BAD[case]
    source = make(tmp_path)
    (tmp_path / "link.parquet").symlink_to(source)
    (tmp_path / "made.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    before = {p: p.stat().st_size for p in tmp_path.rglob("*")}
    done = run("anonymise", source, *arguments)
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("error: ")
    assert words in done.err
    assert "SECRET" not in done.err
    assert {p: p.stat().st_size for p in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "7", True])
def test_a_seed_is_a_whole_number(tmp_path: Path, seed: Any) -> None:
    with pytest.raises(QifError, match="invalid seed"):
        qifsql.anonymise(people(tmp_path), tmp_path / OUT, one_per="person", seed=seed)


def test_the_largest_seed_is_used_as_it_is(tmp_path: Path) -> None:
    source = written(tmp_path / "in.parquet", {"key": [1] * 50, "n": list(range(50))})
    for seed in (0, 2**63 - 1):
        qifsql.anonymise(source, tmp_path / OUT, one_per="key", seed=seed)
        assert read(tmp_path / OUT) == kept(read(source), "key", seed)


def test_two_seeds_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(QifError, match="another seed"):
        qifsql.anonymise(
            people(tmp_path), tmp_path / OUT, one_per="person", seed=1, settings=Settings(seed=2)
        )


def test_a_file_that_a_pattern_finds_is_the_input(tmp_path: Path) -> None:
    people(tmp_path)
    with pytest.raises(QifError, match="is the input"):
        qifsql.anonymise(f"{tmp_path}/*.parquet", tmp_path / "people.parquet", one_per="person")


# The command.


def test_the_command_gives_what_python_gives(tmp_path: Path) -> None:
    by_command, by_python = tmp_path / "command.parquet", tmp_path / "python.parquet"
    arguments = ["--one-per", "ID_ALUNO", "--seed", "5", "-q", ",".join(QIDS), "-s", "TP_SEXO"]
    done = run("anonymise", ENROLMENTS, "-o", by_command, *arguments, "-f", "json")
    result = qifsql.anonymise(
        ENROLMENTS, by_python, one_per="ID_ALUNO", seed=5, qids=QIDS, secret="TP_SEXO"
    )
    assert read(by_command) == read(by_python)
    found = json.loads(done.out)
    assert found["results"] == result.frame.to_dicts()
    assert found["comparison"] == result.details["comparison"].to_dicts()
    assert found["changes"] == result.details["changes"].to_dicts()
    assert found["spec"]["seed"] == 5
    assert (done.code, done.err) == (0, f"note: 20,141 records written to {by_command}\n")


def test_the_summary_is_csv_where_nobody_looks_and_remarks_can_be_silenced(tmp_path: Path) -> None:
    done = run(
        "anonymise", ENROLMENTS, "-o", tmp_path / "o.csv", "--one-per", "ID_ALUNO", "--quiet"
    )
    (row,) = csv.DictReader(io.StringIO(done.out))
    assert list(row) == list(SUMMARY)
    assert (row["records"], row["people"], row["without_key"]) == ("21669", "20141", "46")
    assert done.err == ""


@pytest.mark.parametrize("form", ["table", "markdown", "csv"])
def test_before_and_after_are_shown(tmp_path: Path, form: str) -> None:
    done = run(
        "anonymise", ENROLMENTS, "-o", tmp_path / "o.csv", "--one-per", "ID_ALUNO",
        "-q", "CO_ENTIDADE", "-q", "TP_ETAPA_ENSINO", "-f", form,
    )  # fmt: skip
    assert done.code == 0
    if form == "table":
        told = " ".join(done.out.split())
        assert "1,528 of 21,669 records are dropped. 1,381 people had several records;" in told
        assert "46 records without a key are kept, each as one person." in told
        assert "are singled out only now." in told
    else:
        assert "before" in done.out
        assert "singled_out_only_after" in done.out.replace("\\", "")


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_without_a_seed_the_choice_is_that_of_seed_0(tmp_path: Path) -> None:
    for name, seed in (("a.csv", []), ("b.csv", ["--seed", "0"]), ("c.csv", ["--seed", "1"])):
        run("anonymise", ENROLMENTS, "-o", tmp_path / name, "--one-per", "ID_ALUNO", *seed)
    texts = [(tmp_path / f"{name}.csv").read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


# Columns that are left out.


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_columns_are_left_out_with_and_without_a_key(tmp_path: Path, ending: str) -> None:
    source, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    frame = sample(40)
    frame.write_parquet(source) if ending == "parquet" else frame.write_csv(source)
    reader = pl.read_parquet if ending == "parquet" else pl.read_csv
    result = qifsql.anonymise(source, out, drop="cell")
    assert result.frame.row(0) == (40, None, 0, None, None)
    assert reader(out).equals(reader(source).drop("cell"))
    qifsql.anonymise(source, out, one_per="key")
    whole = reader(out)
    qifsql.anonymise(source, out, one_per="key", drop="key,cell")
    assert reader(out).equals(whole.drop("key", "cell"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"one_per": "key", "k": 3}, "one_per does not take k"),
        ({"one_per": "key", "method": "mdav"}, "one_per does not take method"),
        ({"drop": "cell", "k": 3}, "looks like a quasi-identifier; name some"),
        ({"drop": "cel"}, '"cel" is not in .* did you mean "cell"'),
        ({"one_per": "key", "drop": "cel"}, '"cel" is not in .* did you mean "cell"'),
        ({"k": 3}, "looks like a quasi-identifier; name some"),
        ({}, "mondrian needs the size of classes"),
    ],
)
def test_options_of_a_generalisation_are_refused(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(QifError, match=says):
        qifsql.anonymise(sample(9), tmp_path / "out.csv", **options)
    assert not (tmp_path / "out.csv").exists()


def test_the_method_follows_from_the_steps(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [31, 32, 33, 34, 45, 46]})
    asked: dict[str, Any] = {"qids": "age", "k": 2}
    by_default = qifsql.anonymise(frame, tmp_path / "out.csv", **asked)
    searched = qifsql.anonymise(frame, tmp_path / "out.csv", **asked, change="age:10")
    methods = [result.frame["method"].item() for result in (by_default, searched)]
    assert methods == ["mondrian", "lattice"]


# The files of sql/treatment.


def test_the_files_run_as_they_are_in_a_prompt(tmp_path: Path) -> None:
    data = sample(500)
    data.write_parquet(tmp_path / "in.parquet")
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE people AS FROM '{tmp_path}/in.parquet'")
        con.execute("CREATE VIEW keyed AS SELECT key FROM people")
        con.execute(
            "CREATE TABLE contenders AS SELECT row_number() OVER () AS position, key, "
            "concat('2|', key, cell) AS record FROM people WHERE key IS NOT NULL"
        )
        for name in ("repeats", "surplus", "lots", "winners", "dropped"):
            con.execute(views("anonymise")[name])
        (row,) = con.execute("FROM surplus").fetchall()
        ((dropped,),) = con.execute("SELECT count(*) FROM dropped").fetchall()
    result = qifsql.anonymise(tmp_path / "in.parquet", tmp_path / "out.parquet", one_per="key")
    assert row == result.frame.select("people_with_several", "dropped", "without_key").row(0)
    assert dropped == row[1]


def test_the_summary_goes_to_a_file_for_reports(tmp_path: Path):
    data, out = tmp_path / "people.csv", tmp_path / "one.csv"
    data.write_text("id,age\n1,20\n1,21\n2,30\n")
    told = tmp_path / "summary.parquet"
    done = run("anonymise", data, "-o", out, "--one-per", "id", "--summary", told)
    assert done.code == 0, done.err
    assert pl.read_parquet(told)["dropped"].to_list() == [1]
    for other in (data, out):
        before = other.read_bytes()
        refused = run("anonymise", data, "-o", out, "--one-per", "id", "--summary", other)
        assert refused.code == 2
        assert other.read_bytes() == before


def test_the_summary_and_the_release_are_two_files(tmp_path: Path) -> None:
    file, out = tmp_path / "a.csv", tmp_path / "x.csv"
    file.write_text("a\n1\n2\n", "utf-8")
    done = run("anonymise", file, "--one-per", "a", "-o", out, "--summary", out)
    assert (done.code, out.exists()) == (2, False)
    assert "--summary and -o both name" in done.err


def test_a_filter_reads_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id;n\n7;1,50\n7;2,5\n")
    source = qifsql.Dataset.open(tmp_path / "in.csv", decimal=",", delimiter=";")
    qifsql.anonymise(source, tmp_path / "out.csv", one_per="id", where="n > 2")
    assert (tmp_path / "out.csv").read_text() == "id;n\n7;2,5\n"
