"""Attacks through the product equal the oracle exactly, whatever the table and its file."""

import gzip
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import NAMES, VALUES, Table, tables, to_arrow, weights
from terminal import run

import qifsql
from qifsql.counting import counts
from qifsql.errors import ColumnError, DatasetError, TargetError, WeightError
from qifsql.reference import microdata
from qifsql.reference import success as oracle
from qifsql.results.assessment import INDIVIDUAL, REPORTED, SCHEMA

Rows = Sequence[Mapping[str, Any]]

MASS = "mass"  # the column of weights: no name that is drawn
NUMBER = "number"  # a column of small whole numbers
WHOLE = ("records", "blocks", "singled_out", "individuals_certain")
KINDS: dict[type, list[pa.DataType]] = {
    int: [pa.int64(), pa.int8()],
    float: [pa.float64(), pa.float32()],
    Decimal: [pa.decimal128(10, 2), pa.decimal128(38, 4)],
}


@contextmanager
def parquet(table: pa.Table) -> Iterator[Path]:
    """The table in a Parquet file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.parquet")
        write(table, path)
        yield path


def write(table: pa.Table, path: Path) -> None:
    """A Parquet file with statistics that leave NaN out, as most writers do."""
    pq.write_table(table, path)


def found(result: qifsql.Result) -> list[dict[str, Any]]:
    """Every row of a result but for the time it took, its columns and types checked."""
    individual = result.rows()[0]["model"].startswith("I")
    further = {name: REPORTED[name] for name in result.frame.columns if name in REPORTED}
    assert dict(result.frame.schema) == SCHEMA | (INDIVIDUAL if individual else {}) | further
    assert all(row["seconds"] >= 0 for row in result.rows())
    return result.frame.drop("seconds").to_dicts()


def expected(
    rows: Rows,
    qids: Sequence[str],
    secrets: Sequence[str],
    masses: Sequence[Any] | None = None,
    *,
    target: Mapping[str, object] | None = None,
) -> list[dict[str, Any]]:
    """Return what ``crs,cas`` (with a target ``irs,ias``) must say, from the oracle."""
    result = []
    for secret in (None, *secrets):
        numbers = oracle.attack(rows, qids, secret, masses, target)
        guess = numbers.pop("best_guess", None)
        row = {
            "model": f"{'I' if target else 'C'}{'A' if secret else 'R'}S",
            "datasets": 1,
            "n_qids": len(qids),
            "qids": list(qids),
            "secret": secret,
            **{k: v if k in (*WHOLE, "matches") else float(v) for k, v in numbers.items()},
        }
        if target:
            row |= {"target": shown(target), "best_guess": text(guess)}
        row["min_entropy_leakage"] = pytest.approx(row["min_entropy_leakage"], rel=1e-12, abs=0)
        if masses is not None:
            row["worst_case"] = pytest.approx(row["worst_case"], rel=1e-15, abs=0)
        result.append(row)
    return beside_reported(result, rows, masses, target)


def beside_reported(
    result: list[dict[str, Any]],
    rows: Rows,
    masses: Sequence[Any] | None,
    target: Mapping[str, object] | None,
) -> list[dict[str, Any]]:
    """The rows with the numbers of the people with a reported secret, if any secret is missing."""
    there = [row for row, w in zip(rows, masses or [1] * len(rows), strict=True) if w]
    if not any(missing(row, [r["secret"]]) for row in there for r in result if r["secret"]):
        return result
    return [row | of_reported(row, rows, masses, target) for row in result]


def of_reported(
    row: Mapping[str, Any],
    rows: Rows,
    masses: Sequence[Any] | None,
    target: Mapping[str, object] | None,
) -> dict[str, Any]:
    if not row["secret"]:
        return dict.fromkeys(REPORTED)
    numbers = oracle.beside_reported(rows, row["qids"], row["secret"], masses, target)
    close = partial(pytest.approx, rel=1e-15, abs=0)
    return {name: None if n is None else close(float(n)) for name, n in numbers.items()}


def shown(target: Mapping[str, object]) -> str:
    return ", ".join(f"{k}={'(missing)' if v is None else v}" for k, v in target.items())


def text(value: object) -> str | None:
    """A value as the engine writes it."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def missing(row: Mapping[str, Any], names: Sequence[str]) -> bool:
    return any(microdata.value(row[name]) is None for name in names)


@dataclass(frozen=True)
class Release:
    """A table with a column of weights and a column of whole numbers, as it stands in a file."""

    table: pa.Table
    rows: list[dict[str, Any]]
    masses: list[Any]
    qids: list[str]
    secrets: list[str]


@st.composite
def releases(draw: st.DrawFn) -> Release:
    drawn = draw(tables())
    n = len(drawn.rows)
    masses = draw(weights(n))
    fitting = KINDS[type(masses[0])]
    kind = draw(st.sampled_from(fitting))
    numbers = draw(st.lists(st.integers(0, 30) | st.none(), min_size=n, max_size=n))
    table = (
        to_arrow(drawn)
        .append_column(MASS, pa.array(masses, kind))
        .append_column(NUMBER, pa.array(numbers, pa.int64()))
    )
    rows = table.to_pylist()
    return Release(table, rows, [row[MASS] for row in rows], drawn.qids, drawn.secrets)


# The same numbers as the oracle.


@given(tables())
def test_every_number_of_a_collective_attack_is_that_of_the_oracle(drawn: Table) -> None:
    with parquet(to_arrow(drawn)) as path:
        result = qifsql.attack("crs,cas", path, qids=drawn.qids, secret=drawn.secrets)
    assert found(result) == expected(drawn.rows, drawn.qids, drawn.secrets)
    remarks = ("is a value here", "without case and blanks")  # on words for missing, on spellings
    assert not [note for note in result.notes if not any(remark in note for remark in remarks)]


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
@given(tables())
def test_models_asked_one_by_one_say_what_they_say_together(drawn: Table) -> None:
    with parquet(to_arrow(drawn)) as path:
        both = qifsql.attack("CRS,cas", path, qids=drawn.qids, secret=drawn.secrets)
        apart = [
            qifsql.attack("crs", path, qids=drawn.qids),
            *(qifsql.attack("cas", path, qids=drawn.qids, secret=[s]) for s in drawn.secrets),
        ]
    alone = [{**dict.fromkeys(REPORTED), **row} for one in apart for row in found(one)]
    for row, same in zip(found(both), alone, strict=True):
        told = row.get("reported") is not None and same["reported"] is not None
        further = {} if told or row["secret"] is None else REPORTED  # nobody misses this secret
        assert {n: v for n, v in row.items() if n not in further} == {
            n: same[n] for n in row if n not in further
        }


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
@given(releases())
def test_every_number_of_a_weighted_attack_is_that_of_the_oracle(drawn: Release) -> None:
    with parquet(drawn.table) as path:
        result = qifsql.attack("crs,cas", path, qids=drawn.qids, secret=drawn.secrets, weight=MASS)
    assert found(result) == expected(drawn.rows, drawn.qids, drawn.secrets, drawn.masses)


@settings(max_examples=examples(15))
@given(tables())
def test_equal_weights_are_no_weights(drawn: Table) -> None:
    with parquet(to_arrow(drawn)) as path:
        for weight in ("1", "0.25", "0.1::DOUBLE"):
            result = qifsql.attack(
                "crs,cas", path, qids=drawn.qids, secret=drawn.secrets, weight=weight
            )
            masses = [1] * len(drawn.rows)
            assert found(result) == expected(drawn.rows, drawn.qids, drawn.secrets, masses)


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@given(releases(), st.booleans(), st.data())
def test_every_number_about_one_person_is_that_of_the_oracle(
    drawn: Release, weighted: bool, data: st.DataObject
) -> None:
    target = {qid: data.draw(st.sampled_from(drawn.rows))[qid] for qid in drawn.qids}
    masses = drawn.masses if weighted else None
    with parquet(drawn.table) as path:

        def attacked() -> qifsql.Result:
            return qifsql.attack(
                "irs,ias",
                path,
                qids=data.draw(st.sampled_from([drawn.qids, []])),
                secret=drawn.secrets,
                weight=MASS if weighted else None,
                target=target,
            )

        try:
            wanted = expected(drawn.rows, drawn.qids, drawn.secrets, masses, target=target)
        except LookupError:
            with pytest.raises(TargetError, match="matches none of"):
                attacked()
        else:
            assert found(attacked()) == wanted


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@given(tables(), st.data())
def test_a_target_whose_values_do_not_occur_is_refused(drawn: Table, data: st.DataObject) -> None:
    target = dict(data.draw(st.sampled_from(drawn.rows)))
    name = data.draw(st.sampled_from(drawn.qids))
    there = {repr(microdata.value(row[name])) for row in drawn.rows}
    others = [v for v in VALUES[drawn.types[name]] if repr(microdata.value(v)) not in there]
    assume(others)
    target[name] = data.draw(st.sampled_from(others))
    with parquet(to_arrow(drawn)) as path, pytest.raises(TargetError, match="matches none of"):
        qifsql.attack(
            "irs,ias",
            path,
            qids=drawn.qids,
            secret=drawn.secrets,
            target={qid: target[qid] for qid in drawn.qids},
        )


@given(releases(), st.booleans(), st.data())
def test_the_guessed_owner_is_the_heaviest_and_then_the_first_by_key(
    drawn: Release, weighted: bool, data: st.DataObject
) -> None:
    keys = data.draw(st.permutations(range(len(drawn.rows))))
    target = {qid: data.draw(st.sampled_from(drawn.rows))[qid] for qid in drawn.qids}
    alike = [
        (-row[MASS] if weighted else 0, key)
        for row, key in zip(drawn.rows, keys, strict=True)
        if all(microdata.value(row[q]) == microdata.value(v) for q, v in target.items())
        and (row[MASS] or not weighted)
    ]
    assume(alike)
    with parquet(drawn.table.append_column("key", pa.array(keys, pa.int64()))) as path:
        weight = MASS if weighted else None
        result = qifsql.attack("irs", path, target=target, key="key", weight=weight)
    assert result.frame["best_guess"].to_list() == [str(min(alike)[1])]


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@given(releases(), st.booleans())
def test_records_with_missing_values_can_be_dropped(drawn: Release, weighted: bool) -> None:
    used = [*drawn.qids, *drawn.secrets]
    kept = [row for row in drawn.rows if not missing(row, used)]
    masses = [row[MASS] for row in kept] if weighted else None
    assume(any(masses if masses is not None else kept))
    with parquet(drawn.table) as path:
        result = qifsql.attack(
            "crs,cas",
            path,
            qids=drawn.qids,
            secret=drawn.secrets,
            weight=MASS if weighted else None,
            null="drop",
        )
    n = len(drawn.rows)
    assert found(result) == expected(kept, drawn.qids, drawn.secrets, masses)
    note = f"{n - len(kept)} of {n} records with missing values are left out"
    notes = [note for note in result.notes if "if it means missing" not in note]  # empty texts
    assert notes == ([] if weighted or len(kept) == n else [note])


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@given(releases(), st.booleans(), st.integers(0, 30))
def test_a_filter_is_a_smaller_table(drawn: Release, weighted: bool, least: int) -> None:
    name = drawn.secrets[0]
    kept = [
        row
        for row in drawn.rows
        if row[NUMBER] is not None and (row[NUMBER] >= least or missing(row, [name]))
    ]
    masses = [row[MASS] for row in kept] if weighted else None
    where = f"{NUMBER} >= {least} OR ({quoted(name)} IS NULL AND {NUMBER} IS NOT NULL)"
    with parquet(drawn.table) as path:

        def attacked() -> qifsql.Result:
            return qifsql.attack(
                "crs,cas",
                path,
                qids=drawn.qids,
                secret=drawn.secrets,
                weight=MASS if weighted else None,
                where=where,
            )

        if not kept:
            with pytest.raises(DatasetError, match="no records after the filter"):
                attacked()
        elif masses is not None and not any(masses):
            with pytest.raises(WeightError, match="0 in every record"):
                attacked()
        else:
            wanted = expected(kept, drawn.qids, drawn.secrets, masses)
            assert found(attacked()) == wanted


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
@given(releases())
def test_named_expressions_are_columns_that_are_not_in_the_file(drawn: Release) -> None:
    qids = {f"known {i}": name for i, name in enumerate(drawn.qids)}
    secrets = {f"given {i}": name for i, name in enumerate(drawn.secrets)}
    rows = [
        {
            **{new: microdata.value(row[old]) is None for new, old in (qids | secrets).items()},
            "decade": None if row[NUMBER] is None else row[NUMBER] // 10,
            "parity": "none" if row[NUMBER] is None else "even" if row[NUMBER] % 2 == 0 else "odd",
        }
        for row in drawn.rows
    ]
    parity = "CASE WHEN number % 2 = 0 THEN 'even' WHEN number % 2 = 1 THEN 'odd' ELSE 'none' END"
    with parquet(drawn.table) as path:
        result = qifsql.attack(
            "crs,cas",
            path,
            qids=[
                *(f"{new}={quoted(old)} IS NULL" for new, old in qids.items()),
                "decade=number//10",
            ],
            secret=[
                *(f"{new} = {quoted(old)} IS NULL" for new, old in secrets.items()),
                f"parity={parity}",
            ],
            weight="mass * 2",
        )
    names, wanted = [*qids, "decade"], [*secrets, "parity"]
    assert found(result) == expected(rows, names, wanted, drawn.masses)


# Two ways of counting: a tally per value, or a cell per block and value.


@st.composite
def many_values(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[str]]:
    """One to five secrets of 1 to 30 values, a missing one among them or not."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    few = st.sampled_from(
        (
            1,
            2,
            counts.MOST_TALLIED_VALUES - 1,
            counts.MOST_TALLIED_VALUES,
            counts.MOST_TALLIED_VALUES + 1,
        )
    )
    sizes = draw(st.lists(few | st.integers(1, 30), min_size=1, max_size=5))
    n = draw(st.integers(30, 90))
    columns: dict[str, list[object]] = {"qid": [rng.choice((*range(9), None)) for _ in range(n)]}
    for i, size in enumerate(sizes):
        values = rng.sample([None, *range(40)], size)
        column = [*values, *(rng.choice(values) for _ in range(n - size))]
        columns[f"s{i}"] = rng.sample(column, n)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows, list(columns)[1:]


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
@given(many_values())
def test_secrets_of_any_number_of_values_are_counted_as_by_the_oracle(
    drawn: tuple[list[dict[str, Any]], list[str]],
) -> None:
    rows, secrets = drawn
    schema = pa.schema({name: pa.int64() for name in rows[0]})
    with parquet(pa.Table.from_pylist(rows, schema)) as path:
        result = qifsql.attack("crs,cas", path, qids="qid", secret=secrets)
    assert found(result) == expected(rows, ["qid"], secrets)
    few = [len({row[s] for row in rows}) <= counts.MOST_TALLIED_VALUES for s in secrets]
    assert ("tallies" in result.origin.sql) == any(few)


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@given(tables())
def test_tallies_and_cells_give_the_same_profile(drawn: Table) -> None:
    with parquet(to_arrow(drawn)) as path, pytest.MonkeyPatch.context() as patch:
        tallies = qifsql.attack("crs,cas", path, qids=drawn.qids, secret=drawn.secrets)
        patch.setattr(counts, "MOST_TALLIED_VALUES", 0)
        cells = qifsql.attack("crs,cas", path, qids=drawn.qids, secret=drawn.secrets)
    same(tallies, cells)
    assert "tallies" in tallies.origin.sql
    assert "tallies" not in cells.origin.sql


@settings(max_examples=examples(20))
@given(releases(), st.booleans())
def test_what_else_is_asked_for_changes_none_of_the_numbers(drawn: Release, weighted: bool) -> None:
    options: dict[str, Any] = {"qids": drawn.qids, "secret": drawn.secrets}
    options["weight"] = MASS if weighted else None
    with parquet(drawn.table) as path:
        alone = qifsql.attack("crs,cas", path, **options)
        beside = qifsql.attack(
            "crs,cas",
            path,
            measures="all",
            histogram=True,
            by=NUMBER,
            thresholds=[0.5],
            quantiles=[0.5],
            gain=["tries:1", "identity"],
            **options,
        )
    frame = beside.frame.filter(pl.col("gain") == "identity")
    assert frame.select(alone.frame.columns).drop("seconds").equals(alone.frame.drop("seconds"))
    once = beside.frame.filter(pl.col("gain") == "tries:1")
    names = ("gain", "attack_id")
    assert_frame_equal(once.drop(names), frame.drop(names), check_exact=True)


# The same numbers from every kind of file.


@st.composite
def texts(draw: st.DrawFn) -> Table:
    """A table of texts, for files that know nothing else."""
    names = st.sampled_from([name for name in NAMES if name.strip() and "\n" not in name])
    columns = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    pools = st.lists(st.sampled_from(VALUES[pa.string()]), min_size=1, max_size=4, unique=True)
    cells = st.tuples(*(st.sampled_from(draw(pools)) for _ in columns))
    drawn = draw(st.lists(cells, min_size=1, max_size=12))
    rows = [dict(zip(columns, row, strict=True)) for row in drawn]
    roles = draw(st.permutations(columns))
    return Table(columns, dict.fromkeys(columns, pa.string()), rows, roles[1:], roles[:1])


def as_csv(table: Table, delimiter: str) -> bytes:
    """The table as text: nothing for what is missing, quotes around everything else."""
    lines = [table.columns, *([row[name] for name in table.columns] for row in table.rows)]
    return "".join(delimiter.join(map(field, line)) + "\n" for line in lines).encode()


def field(value: str | None) -> str:
    return "" if value is None else quoted(value)


@settings(max_examples=examples(30))
@given(texts(), st.sampled_from([".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst"]))
def test_text_files_keep_texts_apart_from_what_is_missing(drawn: Table, ending: str) -> None:
    data = as_csv(drawn, "\t" if "tsv" in ending else ",")
    if ending.endswith(".gz"):
        data = gzip.compress(data)
    elif ending.endswith(".zst"):
        data = pa.compress(data, "zstd", asbytes=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release" + ending)
        path.write_bytes(data)
        source = qifsql.Dataset.open(path, all_varchar=True)
        result = qifsql.attack("crs,cas", source, qids=drawn.qids, secret=drawn.secrets)
    assert found(result) == expected(drawn.rows, drawn.qids, drawn.secrets)


def test_an_empty_field_is_missing_and_an_empty_text_is_not(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text('q,s\n"",x\n,x\n"",y\n,z\n"two\nlines",x\n"a ""b""",x\n')
    shown = qifsql.inspect(path, qids="q", order="largest").frame
    assert shown.select("q", "size").rows() == [("", 2), (None, 2), ('a "b"', 1), ("two\nlines", 1)]


def test_the_name_of_a_column_of_a_text_file_may_have_two_lines(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text('q,"two\nlines"\n1,2\n')
    assert qifsql.attack("crs", path, qids=["q", "two\nlines"]).rows()[0]["records"] == 1


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@given(tables(), st.integers(1, 4))
def test_a_folder_a_pattern_and_one_file_are_the_same_release(drawn: Table, parts: int) -> None:
    table = to_arrow(drawn)
    size = -(-len(drawn.rows) // parts)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(0, len(drawn.rows), size):
            write(table.slice(i, size), Path(folder, f"part-{i}.parquet"))
        wanted = expected(drawn.rows, drawn.qids, drawn.secrets)
        for source in (folder, f"{folder}/part-*.parquet"):
            result = qifsql.attack("crs,cas", source, qids=drawn.qids, secret=drawn.secrets)
            assert found(result) == wanted


@settings(max_examples=examples(25))
@given(tables())
def test_a_table_of_a_database_is_the_same_release(drawn: Table) -> None:
    assume(len({name.casefold() for name in drawn.columns}) == len(drawn.columns))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.duckdb")
        with duckdb.connect(path) as connection:
            connection.register("drawn", to_arrow(drawn))
            connection.execute("CREATE TABLE people AS SELECT * FROM drawn")
        result = qifsql.attack("crs,cas", f"people@{path}", qids=drawn.qids, secret=drawn.secrets)
    assert found(result) == expected(drawn.rows, drawn.qids, drawn.secrets)


# What must not matter, and what must only grow.


def same(a: qifsql.Result, b: qifsql.Result) -> None:
    """Whole frames, to the last bit, but for the time they took."""
    assert_frame_equal(a.frame.drop("seconds"), b.frame.drop("seconds"), check_exact=True)


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
@given(releases(), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_the_records_is_irrelevant(
    drawn: Release, rng: random.Random, weighted: bool
) -> None:
    order = rng.sample(range(len(drawn.rows)), len(drawn.rows))
    results = []
    for table in (drawn.table, drawn.table.take(order)):
        with parquet(table) as path:
            results.append(
                qifsql.attack(
                    "crs,cas",
                    path,
                    qids=drawn.qids,
                    secret=drawn.secrets,
                    weight=MASS if weighted else None,
                )
            )
    same(*results)


@pytest.mark.slow(because="1.6 s; every recorded mutant dies without it")
@pytest.mark.parametrize("weight", [None, "1 / (1 + NU_ANO % 7)"])
def test_threads_order_and_split_are_irrelevant(
    samples: Path, tmp_path: Path, weight: str | None
) -> None:
    whole = pl.read_parquet(samples / "school_census_2019.parquet")
    mixed = whole.sample(fraction=1.0, shuffle=True, seed=3)
    split = tmp_path / "split"
    split.mkdir()
    for i, part in enumerate(mixed.iter_slices(3_000)):
        part.write_parquet(split / f"{i}.parquet")
    mixed.write_parquet(tmp_path / "mixed.parquet", row_group_size=1_000)
    mixed.write_csv(tmp_path / "mixed.csv")
    sources = [samples / "school_census_2019.parquet", tmp_path / "mixed.parquet", split]
    runs = [
        qifsql.attack(
            "crs,cas",
            source,
            qids=["NU_*", "CO_MUNICIPIO_END"],
            secret=["IN_TRANSPORTE_PUBLICO", "CO_ENTIDADE"],
            weight=weight,
            settings=qifsql.Settings(threads=threads, memory="1GB"),
        )
        for source in (*sources, tmp_path / "mixed.csv")
        for threads in (1, 2)
    ]
    for again in runs[1:]:
        same(runs[0], again)


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
@given(releases(), st.booleans())
def test_more_quasi_identifiers_never_lower_a_posterior(drawn: Release, weighted: bool) -> None:
    with parquet(drawn.table) as path:
        chain = [
            qifsql.attack(
                "crs,cas",
                path,
                qids=[*drawn.qids, NUMBER][:n],
                secret=drawn.secrets,
                weight=MASS if weighted else None,
            ).rows()
            for n in range(1, len(drawn.qids) + 2)
        ]
    for coarse, fine in pairwise(chain):
        for a, b in zip(coarse, fine, strict=True):
            for name in ("blocks", "posterior_deterministic", "posterior_probabilistic"):
                assert a[name] <= b[name]
            assert a["worst_case"] <= b["worst_case"] * (1 + 1e-15)
            assert a["prior_probabilistic"] == b["prior_probabilistic"]
            assert b["prior_probabilistic"] <= b["posterior_probabilistic"] <= 1


# Missing is NULL or NaN, whoever wrote the file.


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Numbers of which one is NaN and none is NULL; the file says they are from 1 to 2."""
    path = tmp_path / "three.parquet"
    table = pa.table({"q": [float("nan"), 1.0, 2.0], "s": ["a", "b", "c"], "w": [1.0, 1.0, 2.0]})
    pq.write_table(table, path)
    statistics = pq.read_metadata(path).row_group(0).column(0).statistics
    assert (statistics.min, statistics.max, statistics.null_count) == (1.0, 2.0, 0)
    return path


@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_target_may_be_missing_whatever_the_statistics_say(
    three: Path, value: float | None
) -> None:
    (row,) = qifsql.attack("ias", three, target={"q": value}, secret="s").rows()
    assert (row["matches"], row["best_guess"]) == (1, "a")


def test_a_guess_may_be_missing_whatever_the_statistics_say(three: Path) -> None:
    (row,) = qifsql.attack("ias", three, target={"s": "a"}, secret="q").rows()
    assert row["best_guess"] is None


@pytest.mark.parametrize("weight", [None, "w"])
def test_nan_is_dropped_whatever_the_statistics_say(three: Path, weight: str | None) -> None:
    row = qifsql.attack("crs", three, qids="q", weight=weight, null="drop").rows()[0]
    assert row["blocks"] == 2


@pytest.mark.parametrize(("where", "kept"), [("q is null", 1), ("q > 1", 1), ("q <= 2", 2)])
def test_nan_is_missing_in_a_filter_whatever_the_statistics_say(
    three: Path, where: str, kept: int
) -> None:
    assert qifsql.attack("crs", three, qids="s", where=where).rows()[0]["records"] == kept


def test_nan_is_no_weight_whatever_the_statistics_say(three: Path) -> None:
    with pytest.raises(WeightError, match="in 1 of 3 records"):
        qifsql.attack("crs", three, qids="s", weight="q")


@pytest.mark.cases(1)
@pytest.mark.parametrize("parts", [1, 2, 4])
def test_nan_and_null_are_one_value_wherever_they_stand(tmp_path: Path, parts: int) -> None:
    values = [float("nan"), 1.0, 2.0, 0.0, None, -0.0, 1.0, 2.0]
    table = pa.table({"q": pa.array(values, from_pandas=False), "s": list("xxyyxxyy")})
    for i in range(0, 8, 8 // parts):
        pq.write_table(table.slice(i, 8 // parts), tmp_path / f"{i}.parquet", row_group_size=2)
    rows = table.to_pylist()
    result = qifsql.attack("crs,cas", tmp_path, qids="q", secret="s")
    assert found(result) == expected(rows, ["q"], ["s"])
    result = qifsql.attack("cas", tmp_path, qids="s", secret="q")
    assert found(result) == expected(rows, ["s"], ["q"])[1:]


# What cannot be attacked is refused.


@pytest.mark.parametrize("bad", [None, -1.0, float("nan"), float("inf"), float("-inf")])
def test_a_weight_that_is_no_weight_is_refused(tmp_path: Path, bad: float | None) -> None:
    path = tmp_path / "release.parquet"
    pl.DataFrame({"q": [1, 2], "w": [1.0, bad]}).write_parquet(path)
    with pytest.raises(WeightError, match="in 1 of 2 records"):
        qifsql.attack("crs", path, qids="q", weight="w")


def test_a_table_without_weight_or_without_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    pl.DataFrame({"q": [1, 2], "w": [0, 0]}).write_parquet(path)
    with pytest.raises(WeightError, match="0 in every record"):
        qifsql.attack("crs", path, qids="q", weight="w")
    with pytest.raises(DatasetError, match="no records after the filter"):
        qifsql.attack("crs", path, qids="q", where="q > 2")


def test_the_secret_is_never_a_quasi_identifier(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    pl.DataFrame({"q": [1, 2], "ID": [1, 2], "id": [1, 1]}).write_parquet(path)
    with pytest.raises(ColumnError, match="is among the quasi-identifiers"):
        qifsql.attack("cas", path, qids=["q", "ID"], secret="ID")
    assert qifsql.attack("cas", path, qids=["q", "ID"], secret="id").rows()[0]["blocks"] == 2


@pytest.mark.parametrize(
    ("model", "weight"),
    [
        ("crs", None),
        ("cas", None),
        ("crs,cas", None),
        ("crs", "w"),
        ("crs,cas", "w"),
    ],
)
def test_a_table_whose_records_are_all_dropped_is_refused(
    tmp_path: Path, model: str, weight: str | None
) -> None:
    path = tmp_path / "release.parquet"
    schema = {"q": pl.Int64, "s": pl.Int64, "w": pl.Float64}
    pl.DataFrame({"q": [None, None], "s": [1, 1], "w": [1.0, 0.5]}, schema).write_parquet(path)
    with pytest.raises(DatasetError, match="no records left when those with missing values go"):
        qifsql.attack(model, path, qids="q", secret="s", weight=weight, null="drop")


def test_a_key_that_repeats_is_told(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("pid,ward\n1,a\n1,b\n2,a\n,b\n")
    result = qifsql.attack("crs", file, qids="ward", key="pid")
    (note,) = result.notes
    assert note.startswith('records are counted, not people: "pid" has 2 values in 3 records')
    file.write_text("pid,ward\n1,a\n2,b\n3,a\n")
    assert qifsql.attack("crs", file, qids="ward", key="pid").notes == ()


def test_a_column_of_names_is_told_where_no_number_is_about_it(tmp_path: Path) -> None:
    """From the first records: not where it has a role, nor of organisations or few values."""
    surnames = ("Silva", "Costa", "Dias", "Ramos", "Pinto", "Mota")
    names = [f"{first} da {last}" for first in ("Ana", "Rui") for last in surnames]
    columns = {"who": names, "dept": ["a", "b"] * 6, "firm": [f"{n} Ltda" for n in surnames] * 2}
    frame = pl.DataFrame(columns)
    (note,) = qifsql.attack("crs", frame, qids="dept").notes
    told = '"who" has 12 values in 12 records, whose texts look like names of people'
    assert note.startswith(told)
    assert "look like" not in "".join(qifsql.attack("crs", frame, qids="who").notes)
    assert not qifsql.attack("crs", pl.concat([frame] * 3), qids="dept").notes
    frame.write_csv(tmp_path / "names.csv")
    done = run("check", tmp_path / "names.csv", "-q", "dept", "--preset", "k5")
    assert done.err.count("look like names of people") == 1
