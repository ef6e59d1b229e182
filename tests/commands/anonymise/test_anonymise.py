"""Anonymised releases are what slow Python makes of the documentation, and keep what was asked."""

import json
import math
import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import oracle_anonymise as oracle
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_anonymise import Limits
from strategies import Table, tables, to_arrow

import qifsql
from qifsql.commands.anonymise.sanitise import COLUMNS, SUMMARY
from qifsql.engine.settings import Settings
from qifsql.errors import InputError

ACS = ["PUMA", "AGEP", "SEX", "MSP", "HISP"]
SETS = (pa.string(), pa.bool_())


def anonymised(
    table: pa.Table, ending: str = "parquet", **options: Any
) -> tuple[qifsql.Result, pl.DataFrame | list[dict[str, Any]]]:
    """The result, and the rows of the file: of CSV as texts."""
    options = ({"cells": "interval"} if ending == "parquet" else {}) | options
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place) / "in.parquet", Path(place) / f"out.{ending}"
        pq.write_table(table, source)
        result = qifsql.anonymise(source, out, **options)
        if ending == "parquet":
            return result, pq.read_table(out).to_pylist()
        return result, pl.read_csv(out, infer_schema=False)


def kind(type_: pa.DataType) -> str:
    return "set" if type_ in SETS else "interval"


def expected(
    rows: Sequence[dict[str, Any]], qids: dict[str, str], groups: Sequence[Sequence[int]]
) -> list[dict[str, Any]]:
    """The rows with the cells of their groups."""
    found = [dict(row) for row in rows]
    for group in groups:
        for name, how in qids.items():
            made = oracle.cell([rows[i][name] for i in group], how)
            for i in group:
                found[i][name] = made
    return found


def spots(rows: Sequence[dict[str, Any]], qids: Sequence[str]) -> list[list[int]]:
    scales = [oracle.places([row[q] for row in rows]) for q in qids]
    return [
        [scale[oracle.value(row[q])] for row in rows] for q, scale in zip(qids, scales, strict=True)
    ]


def possible(rows: int, secrets: Sequence[Sequence[Any]], limits: Limits) -> bool:
    return oracle.allowed(secrets, limits)(range(rows))


def options(limits: Limits) -> dict[str, Any]:
    return dict(vars(limits))


parts = st.fractions(Fraction(1, 20), 1, max_denominator=20)
limits_on_secrets = st.builds(
    Limits,
    st.integers(1, 4),
    st.none() | st.integers(1, 3),
    st.none() | st.fractions(1, 3, max_denominator=10),
    st.none() | st.tuples(st.fractions(Fraction(1, 2), 4, max_denominator=4), st.integers(1, 3)),
    st.none() | parts,
)


@st.composite
def doubled(draw: st.DrawFn) -> Table:
    """A hostile table with more rows, in any order."""
    table = draw(tables())
    rows = table.rows + draw(st.lists(st.sampled_from(table.rows), max_size=20))
    mixed = [dict(row) for row in draw(st.permutations(rows))]
    for row in mixed[: draw(st.integers(0, 8))]:
        other = draw(st.sampled_from(table.rows))
        name = draw(st.sampled_from(table.columns))
        row[name] = other[name]
    return Table(table.columns, table.types, mixed, table.qids, table.secrets)


# Against the oracle.


@settings(max_examples=examples(30))
@given(doubled(), limits_on_secrets)
def test_mondrian_makes_the_classes_of_slow_python(table: Table, limits: Limits) -> None:
    secrets = [[row[s] for row in table.rows] for s in table.secrets]
    how = options(limits) | {"method": "mondrian", "qids": table.qids}
    if limits != Limits(limits.k):
        how["secret"] = table.secrets
    if not possible(len(table.rows), secrets, limits):
        with pytest.raises(InputError):
            anonymised(to_arrow(table), **how)
        return
    result, rows = anonymised(to_arrow(table), **how)
    where = spots(table.rows, table.qids)
    fits = oracle.allowed(secrets, limits)
    groups = oracle.mondrian(range(len(table.rows)), where, fits)
    kinds = {q: kind(table.types[q]) for q in table.qids}
    assert repr(rows) == repr(expected(normal(table), kinds, groups))
    row = result.frame.row(0, named=True)
    assert (row["records"], row["classes"]) == (len(rows), len(groups))
    assert row["smallest_class"] == min(map(len, groups)) >= limits.k
    assert row["largest_class"] == max(map(len, groups))
    check_losses(result, table, groups)


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@settings(max_examples=examples(15))
@given(doubled(), st.integers(1, 5))
def test_mdav_makes_the_groups_of_slow_python(table: Table, k: int) -> None:
    k = min(k, len(table.rows))
    result, rows = anonymised(to_arrow(table), method="mdav", k=k, qids=table.qids)
    groups = oracle.mdav(range(len(table.rows)), spots(table.rows, table.qids), k)
    kinds = {q: kind(table.types[q]) for q in table.qids}
    assert repr(rows) == repr(expected(normal(table), kinds, groups))
    assert result.frame["classes"][0] == len(groups)
    assert min(map(len, groups)) >= k
    check_losses(result, table, groups)


def normal(table: Table) -> list[dict[str, Any]]:
    """The rows as Parquet gives them back."""
    return to_arrow(table).to_pylist()


def check_losses(result: qifsql.Result, table: Table, groups: Sequence[Sequence[int]]) -> None:
    """The shares of generalised cells and the certainty penalty, by their definitions."""
    assert result.frame.schema == SUMMARY
    columns = result.details["quasi_identifiers"]
    assert columns.schema == COLUMNS
    shares = []
    for q, told in zip(table.qids, columns.iter_rows(named=True), strict=True):
        cells = [oracle.value(row[q]) for row in table.rows]
        scale = oracle.places(cells)
        general, penalty = 0, Fraction(0)
        for group in groups:
            values = {cells[i] for i in group}
            if len(values) > 1:
                general += len(group)
                spanned = [scale[v] for v in values]
                share = Fraction(max(spanned) - min(spanned), max(scale.values()))
                if kind(table.types[q]) == "set":
                    share = Fraction(len(values), len(scale))
                penalty += share * len(group)
        n = len(cells)
        assert told["quasi_identifier"] == q
        assert told["values"] == len(scale)
        assert told["generalised"] == general / n
        assert told["certainty_penalty"] == pytest.approx(float(penalty / n), abs=1e-12)
        shares.append((told["generalised"], told["certainty_penalty"]))
    row = result.frame.row(0, named=True)
    means = [math.fsum(s) / len(shares) for s in zip(*shares, strict=True)]
    assert [row["generalised"], row["certainty_penalty"]] == means


numbers = st.lists(
    st.tuples(st.integers(0, 5), st.none() | st.integers(-3, 3), st.integers(0, 6)),
    min_size=1,
    max_size=40,
)


@settings(max_examples=examples(15))
@given(numbers, st.integers(1, 4), st.none() | parts, parts)
def test_closeness_in_the_order_of_the_secret(
    drawn: list[tuple[Any, ...]], k: int, t: Fraction | None, ordered: Fraction
) -> None:
    rows = [dict(zip("abs", row, strict=True)) for row in drawn]
    limits = Limits(k, t=t, t_ordered=ordered)
    secrets = [[row["s"] for row in rows]]
    if k > len(rows):
        return
    table = pa.Table.from_pylist(rows, pa.schema([(c, pa.int64()) for c in "abs"]))
    how = options(limits) | {"method": "mondrian", "qids": ["a", "b"], "secret": "s"}
    _, found = anonymised(table, **how)
    fits = oracle.allowed(secrets, limits)
    groups = oracle.mondrian(range(len(rows)), spots(rows, "ab"), fits)
    kinds = dict.fromkeys("ab", "interval")
    assert found == expected(rows, kinds, groups)


@settings(max_examples=examples(15))
@given(doubled(), st.integers(1, 4), st.integers(1, 3))
def test_mdav_suppresses_the_classes_that_break_a_limit(table: Table, k: int, least: int) -> None:
    k = min(k, len(table.rows))
    secrets = [[row[s] for row in table.rows] for s in table.secrets]
    limits = Limits(k, least)
    if not possible(len(table.rows), secrets, limits):
        return
    how = {"method": "mdav", "k": k, "l": least, "qids": table.qids, "secret": table.secrets}
    result, rows = anonymised(to_arrow(table), suppress=True, **how)
    groups = oracle.mdav(range(len(table.rows)), spots(table.rows, table.qids), k)
    fits = oracle.allowed(secrets, limits)
    kept = [group for group in groups if fits(group)]
    kinds = {q: kind(table.types[q]) for q in table.qids}
    right = expected(normal(table), kinds, kept)
    for i in {i for group in groups if not fits(group) for i in group}:
        right[i] |= dict.fromkeys(table.qids)
    assert repr(rows) == repr(right)
    assert result.frame["suppressed"][0] == len(rows) - sum(map(len, kept))
    assert result.frame["classes"][0] == len(kept)


# What was asked is kept: real tables, all classes, by their cells alone.


@pytest.mark.slow(because="4.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    "limits",
    [
        Limits(5),
        Limits(5, l=3),
        Limits(5, l_entropy=Fraction(5, 2)),
        Limits(5, l_recursive=(Fraction(2), 3)),
        Limits(5, t=Fraction(3, 10)),
        Limits(5, t_ordered=Fraction(15, 100)),
        Limits(3, 2, Fraction(2), (Fraction(3), 2), Fraction(1, 2), Fraction(1, 5)),
    ],
    ids=str,
)
def test_classes_keep_the_limits_and_no_class_could_be_cut(
    limits: Limits, shared: Path, tmp_path: Path
) -> None:
    source, out = shared / "data" / "acs_ma2018.parquet", tmp_path / "out.parquet"
    how = {"secret": "PINCP_DECILE"} if limits != Limits(limits.k) else {}
    how |= {"method": "mondrian", "cells": "interval"}
    qifsql.anonymise(source, out, qids=ACS, **options(limits), **how)
    raw, made = pq.read_table(source).to_pylist(), pq.read_table(out).to_pylist()
    assert len(raw) == len(made)
    classes: defaultdict[str, list[int]] = defaultdict(list)
    for i, (before, after) in enumerate(zip(raw, made, strict=True)):
        assert all(inside(before[q], after[q]) for q in ACS)
        assert all(before[c] == after[c] for c in before if c not in ACS)
        classes[repr([after[q] for q in ACS])].append(i)
    fits = oracle.allowed([[row["PINCP_DECILE"] for row in raw]], limits)
    assert all(map(fits, classes.values()))
    where = spots(raw, ACS)
    for group in classes.values():
        for attribute in where:
            sides = oracle.cut(group, attribute)
            assert sides is None or not all(map(fits, sides))
    if limits == Limits(5):  # for k alone no cut at all is left, wherever it is
        for group in classes.values():
            for attribute in where:
                for spot in {attribute[i] for i in group}:
                    below = sum(attribute[i] <= spot for i in group)
                    assert min(below, len(group) - below) < 5


def inside(raw: Any, cell: Any) -> bool:
    if isinstance(cell, list):
        return raw in cell
    if raw is None:
        return cell["missing"] is True
    return cell["lower"] <= raw <= cell["upper"]


# Nothing else matters.


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    draw = random.Random(3)
    n = 5_000
    ages = [draw.choice([None, *range(18, 60)]) for _ in range(n)]
    towns = [f"t{int(draw.expovariate(0.1))}" for _ in range(n)]
    pay = [draw.choice([0.1, 0.2, 0.7, math.nan, -0.0, 0.0]) * draw.randrange(50) for _ in range(n)]
    ill = [draw.choice("abcdefg") for _ in range(n)]
    return pl.DataFrame({"id": range(n), "age": ages, "town": towns, "pay": pay, "ill": ill})


@pytest.mark.slow(because="11 s; relations of whole lines change the order of rows, too")
@pytest.mark.cases(1)
@pytest.mark.parametrize("how", [{"method": "mondrian", "l": 3, "t": 0.5}, {"method": "mdav"}])
@pytest.mark.parametrize("cells", ["interval", "centroid"])
def test_order_files_threads_and_memory_do_not_matter(
    how: dict[str, Any], cells: str, people: pl.DataFrame, tmp_path: Path
) -> None:
    people = people if how["method"] == "mondrian" else people.head(100)
    how = how | {"k": 4, "qids": ["age", "town", "pay"], "cells": cells, "within": 0}
    how |= {"keep": "id"}
    how |= {"secret": "ill"} if "l" in how else {}
    sources = [tmp_path / "whole.parquet", tmp_path / "mixed.parquet", tmp_path / "parts"]
    people.write_parquet(sources[0])
    people.sample(fraction=1, shuffle=True, seed=5).write_parquet(sources[1], row_group_size=700)
    sources[2].mkdir()
    for i, part in enumerate(people.iter_slices(1 + people.height // 4)):
        part.write_parquet(sources[2] / f"{9 - i}.parquet")
    found = []
    for source in sources:
        for threads in (1, 2):
            out = tmp_path / "out.parquet"
            limits = Settings(threads=threads, memory="200MB")
            qifsql.anonymise(source, out, settings=limits, **how)
            made = pl.read_parquet(out)
            if source != sources[2]:
                assert made["id"].to_list() == pl.read_parquet(source)["id"].to_list()
            found.append(repr(made.sort("id").rows()))
    assert len(set(found)) == 1


def test_parts_of_a_large_release_are_grouped_each_for_itself(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    people = people.head(500)
    people.write_parquet(tmp_path / "in.parquet")
    rows, qids = people.to_dicts(), ["age", "town", "pay"]
    out = tmp_path / "out.parquet"
    result = qifsql.anonymise(
        tmp_path / "in.parquet", out, method="mdav", k=4, qids=qids, within=100, cells="interval"
    )
    assert any("more than 100 different people" in note for note in result.notes)
    where = spots(rows, qids)

    def cut(group: list[int]) -> list[list[int]]:
        different = {tuple(s[i] for s in where) for i in group}
        if len(different) <= 100 or len(group) < 8:
            return [group]
        for attribute in oracle.widest_first(group, where):
            sides = oracle.cut(group, where[attribute])
            if sides is not None and min(map(len, sides)) >= 4:
                return [part for side in sides for part in cut(side)]
        return [group]

    groups = [g for part in cut(list(range(len(rows)))) for g in oracle.mdav(part, where, 4)]
    kinds = {"age": "interval", "town": "set", "pay": "interval"}
    made = pq.read_table(out).to_pylist()
    for row, right in zip(made, expected(rows, kinds, groups), strict=True):
        assert [row[q] for q in qids] == [right[q] for q in qids]


# Cells.


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@settings(max_examples=examples(15))
@given(doubled(), st.integers(1, 4))
def test_written_cells_stand_for_the_values_of_all_members(table: Table, k: int) -> None:
    k = min(k, len(table.rows))
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place) / "in.parquet", Path(place) / "out.csv"
        pq.write_table(to_arrow(table), source)
        qifsql.anonymise(source, out, method="mondrian", k=k, qids=table.qids)
        made = duckdb.sql(
            f"FROM read_csv('{out}', all_varchar = true, header = true, allow_quoted_nulls = false,"
            " quote = '\"', escape = '\"', delim = ',', skip = 0, auto_detect = false, "
            f"columns = { ({f'c{i}': 'VARCHAR' for i, _ in enumerate(table.columns)}) })"
        ).fetchall()
    readers = {
        pa.int64(): int,
        pa.float64(): float,
        pa.bool_(): {"true": True, "false": False}.__getitem__,
        pa.date32(): date.fromisoformat,
        pa.decimal128(10, 2): Decimal,
    }
    where = spots(table.rows, table.qids)
    fits = oracle.allowed([], Limits(k))
    groups = oracle.mondrian(range(len(table.rows)), where, fits)
    for q in table.qids:
        column = table.columns.index(q)
        cells = [oracle.value(row[q]) for row in table.rows]
        read = readers.get(table.types[q], str)
        for group in groups:
            (text,) = {made[i][column] for i in group}
            has = oracle.stands_for(text or "", read)
            values = {cells[i] for i in group}
            assert all(map(has, values))
            if kind(table.types[q]) == "set":
                assert {v for v in cells if has(v)} == values
            elif None not in values:
                assert not has(None)
            if kind(table.types[q]) == "set" and (len(values) > 1 or values & {"", "*", "{a}"}):
                assert text[0] == "{"


FORMS = ["*", "1**", "{a}", "", " a", "a "]
VALUES = ["20-29", "<30", ">=40", "[1,2]", "(1,2]", "a?", "plain", "-5", "20-"]


def test_a_text_that_reads_like_a_cell_is_a_set_of_one() -> None:
    table = pa.table({"q": [*FORMS, *VALUES, "a,b", 'say "hi"', None]})
    _, made = anonymised(table, "csv", method="mondrian", k=1, qids="q")
    assert isinstance(made, pl.DataFrame)
    assert made["q"].to_list() == [
        *[f'{{"{form}"}}' for form in FORMS],
        *[*VALUES, "a,b", 'say "hi"', None],
    ]
    compared = qifsql.compare(table, made.to_arrow(), qids="q")  # and is read as that value
    assert set(compared.details["columns"]["outside"]) == {0}


def test_cells_as_they_are_written() -> None:
    table = pa.table(
        {
            "age": [20, 30, 20, None, 41, 41, None, None],
            "town": ["a,b", None, "c", 'd"', "x", "x", "y", "y"],
            "day": [date(2020, 1, 2)] * 6 + [date(2021, 3, 4)] * 2,
        }
    )
    _, made = anonymised(table, "csv", method="mondrian", k=8, qids=["age", "town", "day"])
    assert isinstance(made, pl.DataFrame)
    assert set(made.rows()) == {("20-41?", '{"a,b",c,"d""",x,y,}', "2020-01-02 to 2021-03-04")}
    alone = pa.table({"age": [20, 20, None, None], "town": ["x", "x", "", ""]})
    _, made = anonymised(alone, "csv", method="mondrian", k=2, qids=["age", "town"])
    assert isinstance(made, pl.DataFrame)
    assert made.rows() == [("20", "x")] * 2 + [(None, '{""}')] * 2


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_centroids_are_means_of_numbers_and_medians_of_all_else() -> None:
    table = pa.table(
        {
            "age": [20, 30, 40, None],
            "town": ["d", "a", "b", None],
            "day": [date(2020, 1, d) for d in (1, 2, 5, 9)],
            "pay": [math.nan, None, None, math.nan],
        }
    )
    qids = ["age", "town", "day", "pay"]
    _, made = anonymised(table, method="mondrian", k=4, qids=qids, cells="centroid")
    assert made == [{"age": 30.0, "town": "b", "day": date(2020, 1, 2), "pay": None}] * 4
    _, made = anonymised(table, "csv", method="mdav", k=4, qids=qids, cells="centroid")
    assert isinstance(made, pl.DataFrame)
    assert set(made.rows()) == {("30.0", "b", "2020-01-02", None)}


# Columns.


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_an_expression_takes_the_place_of_what_it_reads() -> None:
    table = pa.table({"id": [1, 2], "born": [1971, 1979], "ill": ["x", "y"], "sex": ["f", "f"]})
    result, made = anonymised(
        table, method="mondrian", k=2, qids=["decade=born//10", "sex"], drop="id"
    )
    decade = {"lower": 197, "upper": 197, "missing": False}
    assert made == [{"ill": s, "sex": ["f"], "decade": decade} for s in "xy"]
    assert any('column "born" is left out' in note for note in result.notes)
    result, made = anonymised(table, method="mondrian", k=2, qids=["born=born//10"], keep="id")
    assert list(made[0]) == ["id", "born", "ill", "sex"]
    assert made[0]["born"] == decade
    assert not any("is left out" in note for note in result.notes)


def test_a_column_without_a_name_has_none_in_csv(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(",a,b\n" + "".join(f"{i},{i},2\n" for i in range(4)))
    for ending, names in (("csv", ["", "a", "b"]), ("parquet", ["row_names", "a", "b"])):
        out = tmp_path / f"out.{ending}"
        options = {"method": "mondrian", "k": 2, "qids": "a", "keep": "row_names"}
        qifsql.anonymise(tmp_path / "in.csv", out, **options)
        written = pl.read_csv(out, has_header=False) if ending == "csv" else pl.read_parquet(out)
        header = written.row(0) if ending == "csv" else written.columns
        assert [name or "" for name in header] == names


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_records_under_a_filter_keep_their_order(tmp_path: Path, ending: str) -> None:
    source = tmp_path / "in.csv"
    source.write_text("id,a,when\n" + "".join(f"0{i},{i % 7},1.50\n" for i in range(300)))
    out = tmp_path / f"out.{ending}"
    result = qifsql.anonymise(
        source, out, method="mondrian", k=5, qids="a", where="a <> 3", keep="id"
    )
    made = pl.read_parquet(out) if ending == "parquet" else pl.read_csv(out, infer_schema=False)
    ids = [f"0{i}" for i in range(300) if i % 7 != 3]
    assert result.frame["records"][0] == len(ids) == made.height
    assert made["id"].to_list() == ids
    if ending != "parquet":  # the texts of the input
        assert set(made["when"]) == {"1.50"}
        manifest = json.loads((tmp_path / f"out.{ending}.manifest.json").read_text())
        assert manifest["spec"]["wishes"] == {"k": 5}
        assert "cut" in manifest["sql"]


def test_a_manifest_has_the_digest_of_a_hierarchy(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree.csv", tmp_path / "out.csv"
    tree.write_text("x;any\ny;any\n")
    people = pl.DataFrame({"a": ["x", "y"] * 5})
    people.write_csv(tmp_path / "people.csv")
    qifsql.anonymise(tmp_path / "people.csv", out, qids="a", hierarchies={"a": tree}, k=10)
    inputs = json.loads((tmp_path / "out.csv.manifest.json").read_text())["inputs"]
    assert [Path(file["path"]).name for file in inputs] == ["people.csv", "tree.csv"]


@pytest.mark.slow(because="2.9 s; every recorded mutant dies without it")
def test_a_release_is_a_dataset_to_attack(samples: Path, tmp_path: Path) -> None:
    source = samples / "school_census_2019.parquet"
    qids = ["NU_DIA", "NU_MES", "NU_ANO", "CO_ENTIDADE"]
    out = tmp_path / "out.csv"
    qifsql.anonymise(source, out, method="mondrian", k=10, qids=qids)
    result = qifsql.attack("crs", out, qids=qids)
    assert result.frame["posterior_deterministic"][0] == 0
    assert result.frame["posterior_probabilistic"][0] <= 0.1
