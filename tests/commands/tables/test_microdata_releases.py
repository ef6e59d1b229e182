"""Recoded releases as statements: against all arrays that agree with their records, one by one."""

import csv
import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_against_oracle import (
    KINDS,
    MOST_ARRAYS,
    NAMES,
    check_monotone,
    check_sharp,
    check_truth,
    frame,
    written,
)

import qifsql
from qifsql.errors import InputError
from qifsql.reference import published_arrays as oracle
from qifsql.reference.published_arrays import Array, Cell, Problem, Table

POOLS: tuple[tuple[Any, ...], ...] = ((20, 25, 31), ("130", "139", "14"), ("x", "y", None))
Box = tuple[frozenset[Any] | None, ...]  # the values in each cell of a record; None: anything


@dataclass(frozen=True)
class Released:
    """The columns of a release, and the cells of each of its records."""

    dims: tuple[int, ...]
    records: tuple[Box, ...]


@dataclass(frozen=True)
class Drawn:
    """People, the tables of them, releases, what the adversary wants; None: nothing."""

    people: tuple[Cell, ...]
    tables: tuple[Table, ...]
    releases: tuple[Released, ...]
    secret: int | None


@st.composite
def partitions(draw: st.DrawFn, values: Sequence[Any]) -> dict[Any, frozenset[Any]]:
    """Draw a recoding of values: the group of each."""
    numbers = [draw(st.integers(0, len(values) - 1)) for _ in values]
    groups = [frozenset(v for v, m in zip(values, numbers, strict=True) if m == n) for n in numbers]
    return dict(zip(values, groups, strict=True))


@st.composite
def boxes(draw: st.DrawFn, space: Sequence[Cell]) -> dict[Cell, Box]:
    """Draw a cut of a space of values, again and again, as Mondrian does: the box of each point."""
    j = draw(st.integers(0, len(space[0]) - 1))
    values = sorted({point[j] for point in space}, key=repr)
    if len(values) == 1 or not draw(st.booleans()):
        box = tuple(frozenset(column) for column in zip(*space, strict=True))
        return dict.fromkeys(space, box)
    cut = draw(st.integers(1, len(values) - 1))
    halves = [[p for p in space if (p[j] in values[:cut]) == side] for side in (True, False)]
    return {p: box for half in halves for p, box in draw(boxes(half)).items()}


@st.composite
def releases(draw: st.DrawFn, people: Sequence[Cell]) -> Released:
    values = oracle.domains(people)
    width = len(values)
    dims = tuple(sorted(draw(st.sets(st.integers(0, width - 1), min_size=1))))
    space = list(product(*(values[i] for i in dims)))
    if draw(st.booleans()):
        groups = [draw(partitions(values[i])) for i in dims]
        cells = {p: tuple(g[v] for g, v in zip(groups, p, strict=True)) for p in space}
    else:
        cells = draw(boxes(space))
    records = [cells[oracle.of(person, dims)] for person in people]
    hidden = draw(st.sets(st.sampled_from(range(len(dims))), min_size=1))
    for k in draw(st.sets(st.integers(0, len(people) - 1), max_size=2)):  # are suppressed
        records[k] = tuple(None if j in hidden else c for j, c in enumerate(records[k]))
    return Released(dims, tuple(records))


@st.composite
def drawn(draw: st.DrawFn, kinds: Sequence[str] = KINDS, most_tables: int = 2) -> Drawn:
    width = draw(st.integers(1, 3))
    pools = [draw(st.sampled_from(POOLS))[: 3 if k < 2 else 2] for k in range(width)]
    person = st.tuples(*map(st.sampled_from, pools))
    people = tuple(draw(st.lists(person, min_size=1, max_size=8)))
    tables = []
    for dims in draw(
        st.lists(st.sets(st.integers(0, width - 1), min_size=1), max_size=most_tables)
    ):
        kind = draw(st.sampled_from(kinds))
        n = 0
        if kind != "exact" and "+" not in kind:
            n = draw(st.integers(1 if kind == "noise" else 2, 4))
        tables.append(Table(tuple(sorted(dims)), kind, n))
    found = [draw(releases(people)) for _ in range(draw(st.integers(1, 2)))]
    used = sorted({i for t in (*tables, *found) for i in t.dims})
    secret = draw(st.sampled_from([None, *used]))
    return Drawn(people, tuple(tables), tuple(found), secret)


def cell_text(values: frozenset[Any] | None, domain: Sequence[Any]) -> str:
    """Return a cell as offices write it; several ways, by what the values are."""
    if values is None:
        return "*"
    if len(values) == 1:
        (value,) = values
        return "" if value is None else str(value)
    present = sorted(v for v in values if v is not None)
    if values == frozenset(("130", "139")):
        return "13*"
    if all(isinstance(v, int) for v in present) and present == sorted(
        v for v in domain if v is not None and present[0] <= v <= present[-1]
    ):
        return f"[{present[0]},{present[-1]}]" + "?" * (None in values)
    return "{" + ",".join([*map(str, present), *[""] * (None in values)]) + "}"


def write(folder: Path, name: str, released: Released, values: Sequence[Cell]) -> str:
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        lines.writerow([NAMES[i] for i in released.dims])
        for box in released.records:
            texts = [cell_text(c, values[i]) for c, i in zip(box, released.dims, strict=True)]
            lines.writerow(texts)
    return str(path)


def fits(problem: Problem, array: Array, released: Released) -> bool:
    """Return whether each record can be a person of the array, each person one record at most."""
    people = [
        oracle.of(cell, released.dims)
        for cell, n in zip(problem.cells, array, strict=True)
        for _ in range(n)
    ]
    order = sorted(released.records, key=lambda box: sum(c is None for c in box))

    def place(k: int, left: Counter[Cell]) -> bool:
        if k == len(order):
            return True
        for point in list(left):
            if all(c is None or v in c for c, v in zip(order[k], point, strict=True)):
                rest = left - Counter([point])
                if place_kept(k + 1, frozenset(rest.items())):
                    return True
        return False

    @cache
    def place_kept(k: int, left: frozenset[tuple[Cell, int]]) -> bool:
        return place(k, Counter(dict(left)))

    return place(0, Counter(people))


@dataclass(frozen=True)
class Universe:
    """The values that count, people with these, releases of these."""

    values: tuple[Cell, ...]
    people: tuple[Cell, ...]
    releases: tuple[Released, ...]


OTHER = "(other)"


def told(released: Released) -> dict[int, list[frozenset[Any]]]:
    """Return the different cells of each column, without those that are * in all records."""
    columns = zip(released.dims, zip(*released.records, strict=True), strict=True)
    cells = {i: list(dict.fromkeys(c for c in column if c is not None)) for i, column in columns}
    return {i: column for i, column in cells.items() if column}


def overlap(cells: Sequence[frozenset[Any]]) -> bool:
    return any(a & b for k, a in enumerate(cells) for b in cells[:k])


def universe(case: Drawn, *, with_records: bool) -> Universe | None:
    """Return the values of each attribute: those of tables, cells, or parts of cells; None: none.

    Cells are values where one release alone tells of an attribute: of records only if no cells of
    the release overlap. Parts are what is in the same cells of several releases.
    """
    tabled = {i for t in case.tables for i in t.dims}
    columns = [told(released) for released in case.releases]
    used = sorted(tabled.union(*columns))
    raw_values = oracle.domains(case.people)
    new_value: dict[int, dict[Any, Any]] = {}  # by attribute and raw value
    new_cell: dict[tuple[int, int], dict[Any, Any]] = {}  # by release, attribute, cell
    values = []
    for i in used:
        telling = [k for k, cells in enumerate(columns) if i in cells]
        hides = [any(case.releases[k].records[n][case.releases[k].dims.index(i)] is None
                     for n in range(len(case.people))) for k in telling]  # fmt: skip
        overlaps = any(overlap(c) for k in telling for c in columns[k].values()
                       if any(len(cell) > 1 for cell in c))  # fmt: skip
        told_cells = [cell for k in telling for cell in columns[k][i]]
        if i in tabled or (with_records and (len(telling) > 1 or overlaps)):
            new_value[i] = {v: v for v in raw_values[i]}
        elif len(telling) == 1:
            if not with_records and overlaps:
                return None  # which cell a person is in follows from no value
            around = {v: [c for c in told_cells if v in c] for v in raw_values[i]}
            new_value[i] = {v: c[0] if c else OTHER for v, c in around.items()}
        else:
            if not all(isinstance(v, str) and v.isalpha() for v in raw_values[i]):
                return None  # numbers have further parts between those that occur
            new_value[i] = {
                v: tuple(k for k, c in enumerate(told_cells) if v in c) or OTHER
                for v in raw_values[i]
            }
        found = list(dict.fromkeys(new_value[i].values()))
        if not with_records and i not in tabled:
            found = [v for v in found if v != OTHER] + [OTHER] * (bool(hides) and all(hides))
        values.append(tuple(found))
        for k in telling:
            new_cell |= {
                (k, i, c): frozenset(new_value[i][v] for v in raw_values[i] if v in c)
                for c in columns[k][i]
            }
    people = tuple(tuple(new_value[i][p[i]] for i in used) for p in case.people)
    releases_ = tuple(
        Released(
            tuple(used.index(i) for i in cells),
            tuple(
                tuple(
                    None if (c := box[released.dims.index(i)]) is None else new_cell[k, i, c]
                    for i in cells
                )
                for box in released.records
            ),
        )
        for k, (released, cells) in enumerate(zip(case.releases, columns, strict=True))
    )
    return Universe(tuple(values), people, releases_)


def write_table(folder: Path, name: str, table: Table, cells: oracle.Marks) -> str:
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*(NAMES[i] for i in table.dims), "count"])
        lines.writerows([*cell, "*" if n is None else n] for cell, n in cells.items())
    return f"{path}:{table.protection}"


def check(case: Drawn, *, with_records: bool, changed: int | None = None) -> None:
    """Check each row against all arrays with which the tables and releases of it agree.

    ``changed``: the first count of the first table becomes this; then only all of them together are
    attacked, and they are refused if no array is left.
    """
    case = case if with_records else named(case)
    model = universe(case, with_records=with_records)
    columns = [told(released) for released in case.releases]
    used = sorted({i for t in case.tables for i in t.dims}.union(*columns))
    raw_values = oracle.domains(case.people)
    assume(model is not None and all(columns) and case.secret in (None, *used))
    assert model is not None
    narrow = [r for r in case.releases if len(r.dims) == 1]
    assume(not any(None in raw_values[r.dims[0]] for r in narrow))  # an empty line is no record
    published = [
        {c: oracle.choices(t, n)[0] for c, n in every(raw_values, case.people, t.dims).items()}
        for t in case.tables
    ]
    if changed is not None:
        first = next(iter(published[0]))
        published[0] = published[0] | {first: oracle.choices(case.tables[0], changed)[0]}
    assume(with_records or all(any(n is not None for n in t.values()) for t in published))
    names = [NAMES[i] for i in used]
    try:
        rows = attacked(case, None if with_records else published, progressive=changed is None)
    except InputError as e:
        if changed is None or "overlap" in str(e):
            assert "overlap" in str(e)  # noqa: PT017 - which is allowed for one reason
            assert any(None in box for r in case.releases for box in r.records)
            return
        rows = []
        arrays = consistent(case, model, used, published, len(case.tables) + len(case.releases))
        assert not arrays, e  # noqa: PT017 - refused, as nothing agrees with them
    for row in rows:
        row["known"] = [NAMES[names.index(name)] for name in row["known"]]
        row["secret"] = row["secret"] and NAMES[names.index(row["secret"])]
        if with_records:
            check_truth(row, model.people)
        n = len(row["tables"])
        if with_records and any(t.drawn for t in case.tables[:n]):
            continue
        arrays = consistent(case, model, used, published, n)
        if arrays is not None:
            assert arrays
            people = model.people if with_records else None
            check_sharp(row, problem_of(case, model, used, published, n), arrays, people)
    check_monotone(rows)


def problem_of(
    case: Drawn, model: Universe, used: Sequence[int], published: Sequence[oracle.Marks], n: int
) -> Problem:
    """Return the problem of the first n tables."""
    chosen = [replace(t, dims=tuple(used.index(i) for i in t.dims)) for t in case.tables[:n]]
    return Problem(model.values, len(model.people), tuple(zip(chosen, published, strict=False)))


def consistent(
    case: Drawn, model: Universe, used: Sequence[int], published: Sequence[oracle.Marks], n: int
) -> list[Array] | None:
    """Return the arrays that agree with the first n statements; None: too many to list."""
    problem = problem_of(case, model, used, published, n)
    try:
        arrays = oracle.consistent(problem, MOST_ARRAYS)
    except oracle.TooManyError:
        return None
    for released in model.releases[: max(0, n - len(case.tables))]:
        arrays = [array for array in arrays if fits(problem, array, released)]
    return arrays


def named(case: Drawn) -> Drawn:
    """Return a case with texts for missing values."""

    def name(values: Any) -> Any:
        return "none" if values is None else values

    def cell(values: frozenset[Any] | None) -> frozenset[Any] | None:
        return None if values is None else frozenset(map(name, values))

    return replace(
        case,
        people=tuple(tuple(map(name, person)) for person in case.people),
        releases=tuple(
            replace(r, records=tuple(tuple(map(cell, box)) for box in r.records))
            for r in case.releases
        ),
    )


def attacked(
    case: Drawn, published: Sequence[oracle.Marks] | None, *, progressive: bool
) -> list[dict[str, Any]]:
    """Return the rows of a case; ``published``: of files without the records."""
    values = oracle.domains(case.people)
    options: dict[str, Any] = {"progressive": progressive}
    if case.secret is not None:
        options["secret"] = NAMES[case.secret]
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        releases_ = enumerate(case.releases)
        options["release"] = [write(folder, f"r{k}", r, values) for k, r in releases_]
        if published is None:
            texts = [f"{written(t.dims)}:{t.protection}" for t in case.tables]
            return qifsql.tables(frame(case.people), table=texts, **options).rows()
        pairs = enumerate(zip(case.tables, published, strict=True))
        files = [write_table(folder, f"t{k}", t, cells) for k, (t, cells) in pairs]
        options |= {"counts": "count" if files else None, "count": len(case.people)}
        return qifsql.tables(published=files, **options).rows()


def every(values: Sequence[Cell], people: Sequence[Cell], dims: Sequence[int]) -> dict[Cell, int]:
    """Return the people of all combinations of values."""
    counts = oracle.count(people, tuple(dims))
    return {cell: counts[cell] for cell in product(*(values[i] for i in dims))}


@settings(max_examples=examples(30))
@given(drawn())
def test_releases_with_tables_of_records(case: Drawn) -> None:
    check(case, with_records=True)


@settings(max_examples=examples(30))
@given(drawn())
def test_releases_with_published_tables(case: Drawn) -> None:
    check(case, with_records=False)


@settings(max_examples=examples(40))
@given(drawn(kinds=("exact", "suppress", "round", "noise")), st.integers(0, 8))
def test_statements_without_any_counts_are_refused_and_no_others(case: Drawn, changed: int) -> None:
    assume(case.tables)
    check(case, with_records=False, changed=changed)


# Laws and examples.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


CELLS = "age,sex,job\n20-29,F,a\n20-29,F,a\n30-39,F,b\n30-39,M,b\n30-39,M,a\n"


def test_a_release_alone_gives_the_attack_on_its_cells(folder: Path) -> None:
    (folder / "r.csv").write_text(CELLS)
    (row,) = qifsql.tables(release="r.csv", secret="job").rows()
    (same,) = qifsql.attack("cas", "r.csv", qids=["age", "sex"], secret="job").rows()
    assert (row["reconstructed"], row["sharp"]) == (row["people"], True) == (5, True)
    assert row["singled_out"] == same["singled_out"] == 1
    assert row["certain_inference"] == 3 == 5 * same["posterior_deterministic"]
    assert row["believed"] == pytest.approx(same["posterior_probabilistic"])


def test_no_order_of_statements_matters(folder: Path) -> None:
    (folder / "r.csv").write_text(CELLS)
    (folder / "s.csv").write_text("age,job\n<35,a\n<35,a\n<35,b\n>=35,b\n>=35,a\n")
    people = pl.DataFrame({"age": [21, 25, 31, 38, 36], "sex": list("FFFMM"), "job": list("aabba")})
    orders = [
        qifsql.tables(people, table=tables, release=releases, known="age", secret="job").rows()[0]
        for tables in (["age", "sex,job"], ["sex,job", "age"])
        for releases in (["r.csv", "s.csv"], ["s.csv", "r.csv"])
    ]
    # 20-29 is a, twice; of a, a, b below 35 the third, who is 31, is b.
    assert orders[0]["certain_inference"] == 3
    proved = [{k: v for k, v in r.items() if k != "tables"} for r in orders]
    assert proved[1:] == proved[:1] * 3


def test_the_parts_of_cells_that_two_releases_tell(folder: Path) -> None:
    # Of 20-29 and <25 the parts are 20-24, 25-29 and 30-39: 2, 1 and 1 people.
    (folder / "r.csv").write_text("age\n20-29\n20-29\n20-29\n30-39\n")
    (folder / "s.csv").write_text("age\n<25\n<25\n>=25\n>=25\n")
    (row,) = qifsql.tables(release=["r.csv", "s.csv"]).rows()
    assert (row["people"], row["reconstructed"], row["singled_out"]) == (4, 4, 2)


def test_contradictions_of_a_release_and_tables_are_named(folder: Path) -> None:
    (folder / "r.csv").write_text("age,sex\n20-29,F\n20-29,F\n30-39,M\n")
    (folder / "t.csv").write_text("age,sex,count\n21,F,1\n35,M,2\n")
    with pytest.raises(InputError, match=r"t\.csv and r\.csv contradict each other"):
        qifsql.tables(published="t.csv", release="r.csv")
    (folder / "u.csv").write_text("age,sex,count\n21,F,2\n35,M,2\n")
    partial = qifsql.tables(published="u.csv", release="r.csv")  # one person is not released
    assert "r.csv has 3 records of 4 people" in partial.notes[0]
    people = pl.DataFrame({"age": [21, 35, 35], "sex": ["F", "M", "M"]})
    with pytest.raises(InputError, match=r"do not give r\.csv"):
        qifsql.tables(people, release="r.csv")


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("age\n23.5\n30-39\n", "without any value"),  # a centroid
        ("age,sex\n20-29,F\n20-39,F\n", "overlap"),
        ("age,sex\n20-29,F\n30-39,F\n30-39,F\n", "has 3 records of 2 people"),
    ],
)
def test_what_is_no_recoding_is_refused(folder: Path, cells: str, why: str) -> None:
    (folder / "r.csv").write_text(cells)
    people = pl.DataFrame({"age": [21, 35], "sex": ["F", "F"]})
    with pytest.raises(InputError, match=why):
        qifsql.tables(people, table="age", release="r.csv")


def test_a_hierarchy_and_a_nesting(folder: Path) -> None:
    (folder / "h.csv").write_text("Recife;NE\nNatal;NE\nSantos;SE\n")
    (folder / "r.csv").write_text("city,job\nNE,a\nNE,a\nSE,b\n")
    (folder / "t.csv").write_text("city,state,count\nRecife,PE,1\nNatal,RN,1\nSantos,SP,1\n")
    options: dict[str, Any] = {"published": "t.csv", "release": "r.csv", "nested": "city,state"}
    (row,) = qifsql.tables(**options, hierarchies={"city": "h.csv"}, secret="job").rows()
    assert (row["reconstructed"], row["certain_inference"]) == (3, 3)


def test_the_fewest_statements_that_prove_it_all(folder: Path) -> None:
    (folder / "r.csv").write_text(CELLS)
    people = pl.DataFrame({"age": [21, 25, 31, 38, 36], "sex": list("FFFMM"), "job": list("aabba")})
    options: dict[str, Any] = {"table": ["age,sex,job", "sex"], "release": "r.csv"}
    result = qifsql.tables(people, **options, leave_one_out=True)
    assert "what all of them prove follows from age,sex,job alone" in result.notes
    assert result.details["alone"]["alone"].to_list() == ["age,sex,job", "sex", "r.csv"]
    assert result.details["without"]["without"].to_list() == ["age,sex,job", "sex", "r.csv"]


def test_a_change_does_not_say_how_a_release_was_made(folder: Path) -> None:
    (folder / "r.csv").write_text("age,job\n20,a\n25,b\n")
    with pytest.raises(InputError, match="cells of a release"):
        qifsql.tables(release="r.csv", change="age:5")


def test_coarse_columns_are_no_values_that_rows_tell(folder: Path) -> None:
    (folder / "r.csv").write_text('sex,job\n"{F,M}",a\n"{F,M}",b\n"{F,M}",b\n')
    people = pl.DataFrame({"sex": ["F", "M", "M"], "job": ["a", "b", "b"]})
    rows = qifsql.tables(people, table="sex,job", release="r.csv").details["disclosure"]
    assert set(rows["dimension"]) == {"sex", "job"}
    (told,) = rows.filter(table="r.csv").rows()
    assert told == ("r.csv", "job", 0, 0)


# The ledger.


def test_rocrate_opens_a_ledger(folder: Path) -> None:
    rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")
    people = pl.DataFrame({"age": [21, 25], "sex": ["F", "F"]})
    ledger = folder / "ro-crate-metadata.json"
    qifsql.tables(people, table=["age,sex:suppress<2", "sex"], ledger=ledger, add=True)
    crate = rocrate.ROCrate(folder)
    assert [part["name"] for part in crate.root_dataset["hasPart"]] == ["age,sex:suppress<2", "sex"]
    assert crate.root_dataset["additionalProperty"][0]["value"] == 2
    assert all((folder / part.id).is_file() for part in crate.root_dataset["hasPart"])


def test_a_ledger_is_attacked_with_what_is_new(folder: Path) -> None:
    (folder / "r.csv").write_text(CELLS + "*,*,b\n")
    people = pl.DataFrame(
        {"age": [21, 25, 31, 38, 36, 22], "sex": list("FFFMMM"), "job": list("aabbab")}
    )
    tables = ["age:suppress<2", "sex,job:round:3"]
    at_once = qifsql.tables(people, table=tables, release="r.csv", secret="job").rows()[0]
    options: dict[str, Any] = {"ledger": "l.json", "add": True, "secret": "job"}
    first = qifsql.tables(people, table=[tables[0], "job"], **options)
    assert first.notes[-1] == "2 statements added to l.json, which has 2 now"
    qifsql.tables(release="r.csv", **options)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(before) == 5  # the release, three statements, the ledger
    last = qifsql.tables(people, table=tables[1], ledger="l.json", secret="job").rows()[0]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert set(last["tables"]) == {*tables, "job", "r.csv"}
    again = qifsql.tables(people, table=[*tables, "job"], release="r.csv", secret="job").rows()[0]
    same = [{k: v for k, v in row.items() if k not in {"tables", "known"}} for row in (last, again)]
    assert same[0] == same[1]
    assert last["certain_inference"] >= at_once["certain_inference"]


def test_a_ledger_is_the_metadata_of_a_crate(folder: Path) -> None:
    people = pl.DataFrame({"age": [21, 25], "sex": ["F", "F"]})
    path = folder / "ro-crate-metadata.json"
    qifsql.tables(people, table="age,sex:suppress<2", ledger=path, add=True)
    document = json.loads(path.read_text())
    about, root, statement, *others = document["@graph"]
    assert about["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.2"}
    assert about["@id"] == path.name
    assert root["hasPart"] == [{"@id": statement["@id"]}]
    # What RO-Crate 1.2 requires of the root, and that entities are one flat list.
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    assert datetime.fromisoformat(root["datePublished"])
    ids = [node["@id"] for node in (about, root, statement, *others)]
    assert len(ids) == len(set(ids))
    for node in document["@graph"]:
        assert {"@id", "@type"} <= node.keys()
        for value in node.values():
            for item in value if isinstance(value, list) else [value]:
                assert not isinstance(item, dict) or item.keys() == {"@id"}
                local = isinstance(item, dict) and not item["@id"].startswith("https:")
                assert not local or item["@id"] in ids
    file = folder / statement["@id"]
    assert statement["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    cells = pl.read_parquet(file)
    assert cells.columns == ["value_1", "value_2", "published", "lower", "upper", "hidden"]
    assert cells["published"].to_list() == [None, None]  # the counts are hidden, and stay so


def test_a_ledger_refuses_what_does_not_fit(folder: Path) -> None:
    people = pl.DataFrame({"age": [21, 25], "sex": ["F", "F"]})
    qifsql.tables(people, table="age", ledger="l.json", add=True)
    result = qifsql.tables(
        people, table="sex", ledger="l.json", add=True, require="reconstructed<=0"
    )
    assert result.notes[-1] == "nothing is added to l.json: not all bounds hold"
    # One person of 21 and one of 25, all F: both are small differences of age and sex.
    result = qifsql.tables(people, table="sex", ledger="l.json", require="small_differences<=1")
    assert (result.met, result.details["overlaps"]["cells"].to_list()) == (False, [2])
    remedies = qifsql.tables(people, table="sex", remedies=True).details["remedies"]
    assert "small_differences" not in remedies.columns  # no remedies are tried for them
    with pytest.raises(InputError, match="is no measure"):
        qifsql.tables(people, table="sex", until="small_differences<=1")
    (folder / "t.csv").write_text("age,n\n21,2\n25,0\n")
    with pytest.raises(InputError, match="contradict"):
        qifsql.tables(published="t.csv", ledger="l.json")
    with pytest.raises(InputError, match="name the ledger"):
        qifsql.tables(people, table="age", add=True)
    with pytest.raises(InputError, match="does not exist"):
        qifsql.tables(people, table="age", ledger="m.json")
    crate = json.loads((folder / "l.json").read_text())
    crate["@graph"][2]["variableMeasured"] = ["age", "sex"]
    (folder / "n.json").write_text(json.dumps(crate))
    with pytest.raises(InputError, match="other columns"):
        qifsql.tables(people, table="age", ledger="n.json")
    (statement,) = folder.glob("statement-*.parquet")
    statement.write_bytes(statement.read_bytes() + b" ")
    with pytest.raises(InputError, match="has changed since"):
        qifsql.tables(people, table="age", ledger="l.json")
    (folder / "l.json").write_text("{}")
    with pytest.raises(InputError, match="no ledger"):
        qifsql.tables(people, table="age", ledger="l.json")
