"""Recoded releases: the changes of what-if, written; and cells that other tools read."""

import tempfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.errors import ColumnError, InputError

CENSUS = ["TP_SEXO", "NU_MES", "NU_ANO", "CO_ENTIDADE"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "age": [17, 18, 23, 24, 61, 85, 90, None],
            "zip": ["13010", "13012", "13099", "20001", "20002", "20002", "99999", None],
            "day": [date(2020, 1, 3)] * 2
            + [date(2020, 2, 9)] * 3
            + [None]
            + [date(2021, 5, 5)] * 2,
            "pay": [1.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, -0.5],
            "at": [datetime(2020, 1, 1, i) for i in range(8)],
            "hour": [time(i, 30) for i in range(8)],
            "s": list("abababab"),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def cells(source: Path, name: str, *changes: str, **options: Any) -> list[Any]:
    """The cells of one quasi-identifier in CSV, in the order of the records."""
    out = source.parent / "out.csv"
    qifsql.anonymise(source, out, method="recode", qids=name, change=list(changes), **options)
    return pl.read_csv(out, infer_schema=False)[name].to_list()


@pytest.mark.slow(because="0.5 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("age", ["age:10"], "10-19 10-19 20-29 20-29 60-69 80-89 90-99 -"),
        ("age", ["top(age)=80"], "17 18 23 24 61 >=80 >=80 -"),
        ("age", ["bottom(age)=18"], "<=18 <=18 23 24 61 85 90 -"),
        ("age", ["age:10", "top(age)=80"], "10-19 10-19 20-29 20-29 60-69 >=80 >=80 -"),
        (
            "age",
            ["top(age)=24", "bottom(age)=24"],
            "17-90 17-90 17-90 17-90 17-90 17-90 17-90 -",
        ),
        ("age", ["age=least(age, 24)"], "17 18 23 24 24 24 24 24"),
        ("zip", ["zip:2"], "13*** 13*** 13*** 20*** 20*** 20*** 99*** -"),
        (
            "pay",
            ["pay:2"],
            "[0.0,2.0) [2.0,4.0) [2.0,4.0) [4.0,6.0) [4.0,6.0) [6.0,8.0) [6.0,8.0) [-2.0,0.0)",
        ),
        (
            "day",
            ["day:month"],
            "Jan_2020 Jan_2020 Feb_2020 Feb_2020 Feb_2020 - May_2021 May_2021",
        ),
        (
            "hour",
            ["hour:hour"],
            " ".join(f"0{i}:00:00_to_0{i}:59:59.999999" for i in range(8)),
        ),
    ],
)
def test_cells_are_what_changes_define(
    name: str, changes: list[str], expected: str, source: Path
) -> None:
    """Not what values there are: nothing is said of the greatest one beyond a limit."""
    found = cells(source, name, *changes)
    expected_cells = [text.replace("_", " ") for text in expected.split()]
    assert found == [None if text == "-" else text for text in expected_cells]


LETTERS = st.text(alphabet='ab1.-_ {["?é', max_size=6)


def covered(cell: str, values: Sequence[str]) -> set[str]:
    """The values of a prefix, as the table of cells in the documentation says."""
    beginning = cell.rstrip("*")
    begun = {value for value in values if value.startswith(beginning)}
    return {value for value in begun if len(value) == len(cell)} or begun


@settings(max_examples=examples(80))
@given(
    st.lists(LETTERS | st.sampled_from(["NA", "J45", "J45.0", "J45.901", "07001"]), min_size=1),
    st.integers(1, 5),
)
def test_a_prefix_shows_so_many_characters_whatever_is_in_the_column(
    texts: list[str], kept: int
) -> None:
    """The same cell for the same prefix, and one that stands for all values that begin so."""
    people = pl.DataFrame({"code": texts})
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.parquet"
        change = f"code:{kept}"
        qifsql.anonymise(people, out, method="recode", change=change, qids="code")
        cells = pl.read_parquet(out)["code"].to_list()
    for text, cell in zip(texts, cells, strict=True):
        if len(text) < kept or max(map(len, texts)) <= kept:
            continue  # a value that is shorter is itself
        assert cell.rstrip("*") == text[:kept]
        assert covered(cell, texts) == {t for t in texts if t[:kept] == text[:kept]}


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("texts", "change", "expected"),
    [
        (["ab", "abc", "abd", "x", "x", "y-", None], "code:2", "ab** ab** ab** x x y-* -"),
        (
            ["J45", "J45.0", "J45.901", "C50.911", "E11", "G35"],
            "code:3",
            "J45* J45* J45* C50* E11* G35*",
        ),
        (["07001", "07002", "NA", "09001"], "code:2", "07*** 07*** NA*** 09***"),
        (["J45.0", "J450", "J45.01"], "code:3", "J45**** J45**** J45****"),
        (["{", "ab"], "code:1", "{* a*"),
    ],
)
def test_cells_of_prefixes(
    texts: list[str | None], change: str, expected: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    result = qifsql.anonymise(
        pl.DataFrame({"code": texts}), out, method="recode", qids="code", change=change
    )
    found = pl.read_csv(out, infer_schema=False)["code"].to_list()
    assert found == [None if cell == "-" else cell for cell in expected.split()]
    compared = qifsql.compare(pl.DataFrame({"code": texts}), out, qids="code")
    assert set(compared.details["columns"]["outside"]) == {0}
    assert compared.frame.filter(view="cells")["blocks"].to_list()[-1] == result.frame["blocks"][0]


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_a_prefix_of_a_number_or_with_a_star_is_refused_with_the_way_out(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    for values, change, says in (
        ([12345, 12399, 22345], "code:3", r'3 digits.*left\("code"::VARCHAR, 3\) \|\| .\*\*.'),
        ([1205, 8001], "code:2", r'first 2 digits.*"code"="code"//2\*2 for intervals'),
        (["a*b", "abc"], "code:2", r"replace\(NAME, '\*'"),
    ):
        for method in ("recode", "lattice"):
            asked: dict[str, Any] = {"method": method, "qids": "code", "change": change, "k": 2}
            with pytest.raises(InputError, match=says):
                qifsql.anonymise(pl.DataFrame({"code": values}), out, **asked)
    for values, change in (
        ([1960, 1971], "code:2"),
        ([12345, 99], "code:3"),
        (["*", "abc"], "code:3"),
    ):
        qifsql.anonymise(
            pl.DataFrame({"code": values}), out, method="recode", qids="code", change=change
        )


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_level_of_a_hierarchy_is_its_label_and_needs_every_value(source: Path) -> None:
    tree = source.parent / "age.csv"
    lines = [f"{a};{a // 20 * 20}-{a // 20 * 20 + 19};*\n" for a in range(91)]
    tree.write_text("".join(lines))
    found = cells(source, "age", "age:@1", hierarchies={"age": tree})
    assert found == [*["0-19"] * 2, *["20-39"] * 2, "60-79", "80-99", "80-99", None]
    tree.write_text("".join(lines[:90]))
    with pytest.raises(ColumnError, match="lacks 1 of its values, which 1 record"):
        cells(source, "age", "age:@1", hierarchies={"age": tree})


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_dropped_columns_are_left_out_and_untouched_ones_stay_as_they_are(source: Path) -> None:
    out = source.parent / "out.parquet"
    result = qifsql.anonymise(
        source, out, method="recode", qids="age,zip,hour", change=["drop=hour", "zip:2"]
    )
    made, raw = pq.read_table(out), pq.read_table(source)
    assert made.column_names == ["age", "zip", "day", "pay", "at", "s"]
    assert made["age"] == raw["age"]
    columns = result.details["quasi_identifiers"]
    assert columns["cells"].to_list() == ["values", "labels", "left out"]
    assert columns["certainty_penalty"].to_list()[::2] == [0, 1]
    assert any("released as they are" in note and '"day"' in note for note in result.notes)


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_records_of_small_classes_are_suppressed_within_the_limit(source: Path) -> None:
    with pytest.raises(InputError, match=r"4 records of 8 \(50.00 %\).*suppress=0.5"):
        cells(source, "age", "age:10", k=2)
    found = cells(source, "age", "age:10", k=2, suppress=0.5)
    assert found == ["10-19"] * 2 + ["20-29"] * 2 + ["*"] * 4


TWO = {"qids": "age,zip", "method": "recode", "change": ["age:10", "top(age)=80", "zip:2"]}
SHAPES: dict[str, dict[str, list[Any]]] = {
    "text": {
        "age": [*["10-19"] * 2, *["20-29"] * 2, "60-69", ">=80", ">=80", None],
        "zip": [*["13***"] * 3, *["20***"] * 3, "99***", None],
    },
    "bounds": {
        "age_lower": [10, 10, 20, 20, 60, 80, 80, None],
        "age_upper": [19, 19, 29, 29, 69, None, None, None],
        "age_missing": [False] * 7 + [True],
        "zip": [*["13***"] * 3, *["20***"] * 3, "99***", None],
    },
    "midpoint": {"age": [14.5, 14.5, 24.5, 24.5, 64.5, 80, 80, None]},
    "centroid": {"age": [17.5, 17.5, 23.5, 23.5, 61, 87.5, 87.5, None]},
    "interval": {
        "age": [
            {"lower": low, "upper": high, "missing": low is None}
            for low, high in zip(
                (10, 10, 20, 20, 60, 80, 80, None),
                (19, 19, 29, 29, 69, None, None, None),
                strict=True,
            )
        ]
    },
}


@pytest.mark.cases(2)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_recoded_cells(shape: str, source: Path) -> None:
    out = source.parent / "out.parquet"
    qifsql.anonymise(source, out, cells=shape, **TWO)
    made = pq.read_table(out).to_pydict()
    assert {name: made[name] for name in SHAPES[shape]} == SHAPES[shape]
    if shape in ("bounds", "midpoint"):  # other tools read numbers in CSV, too
        qifsql.anonymise(source, source.parent / "out.csv", cells=shape, k=2, suppress=1, **TWO)
        read = pl.read_csv(source.parent / "out.csv")
        assert all(
            read[name].dtype.is_numeric()
            for name in read.columns
            if name.startswith("age_") and name != "age_missing"
        )


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
def test_shapes_of_classes(source: Path) -> None:
    """Mondrian: ends and middles of the intervals of a class, and its sets as text."""
    out = source.parent / "out.parquet"
    how = {"method": "mondrian", "k": 4, "qids": "age,zip"}
    qifsql.anonymise(source, out, cells="bounds", **how)
    made = pq.read_table(out).to_pydict()
    assert list(made) == [
        "age_lower",
        "age_upper",
        "age_missing",
        "zip",
        "day",
        "pay",
        "at",
        "hour",
        "s",
    ]
    assert set(zip(made["age_lower"], made["age_upper"], made["age_missing"], strict=True)) == {
        (17, 24, False),
        (61, 90, True),
    }
    qifsql.anonymise(source, out, cells="midpoint", **how)
    assert set(pq.read_table(out)["age"].to_pylist()) == {20.5, 75.5}
    qifsql.anonymise(source, out, cells="text", **how)
    texts = pq.read_table(out).select(["age", "zip"]).to_pydict()
    qifsql.anonymise(source, source.parent / "out.csv", **how)
    written = pl.read_csv(source.parent / "out.csv", infer_schema=False)
    assert texts == written.select("age", "zip").to_dict(as_series=False)


def test_bounds_do_not_take_the_name_of_another_column(source: Path) -> None:
    table = pq.read_table(source)
    pq.write_table(table.append_column("AGE_lower", table["pay"]), source)
    with pytest.raises(ColumnError, match='"age_lower" would be in the release twice'):
        qifsql.anonymise(source, source.parent / "out.csv", cells="bounds", **TWO)
    assert not (source.parent / "out.csv").exists()


TEXTS = (
    *("NU_ANO:5", "NU_ANO:10", "top(NU_ANO)=2010", "bottom(NU_ANO)=1990", "NU_MES:4"),
    *("drop=TP_SEXO", "NU_MES=NU_MES%2", "CO_ENTIDADE:100000"),
)


@pytest.mark.slow(because="what-if and recode are each held by their own oracles")
@settings(max_examples=examples(20))
@given(changes=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4, unique=True))
def test_what_if_measures_the_release_that_recode_writes(
    changes: list[str], samples: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same blocks and the same penalty, and the written cells make these blocks."""
    path, out = samples / "school_census_2018.parquet", tmp_path_factory.mktemp("r") / "out.csv"
    row = qifsql.anonymise(path, out, method="recode", qids=CENSUS, change=changes).frame.row(
        0, named=True
    )
    expected = qifsql.compare(path, qids=CENSUS, change=changes).frame.row(-1, named=True)
    assert (row["blocks"], row["smallest_class"]) == (expected["blocks"], expected["k"])
    assert row["penalty"] == pytest.approx(expected["certainty_penalty"], abs=1e-7)
    made = pl.read_csv(out, infer_schema=False)
    assert made.n_unique([name for name in CENSUS if name in made.columns]) == row["blocks"]


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "options",
    [
        {"method": "recode", "change": "NU_ANO:5", "suppress": True},
        {"method": "recode", "suppress_cells": "CO_MUNICIPIO_END,NU_ANO", "suppress": True},
        {"method": "lattice", "minimise": "classes", "suppress": 0.05},
    ],
)
def test_a_release_loses_what_compare_finds_that_it_loses(
    options: dict[str, Any], samples: Path, tmp_path: Path
) -> None:
    """Suppressed records and cells lose all, in both."""
    path, out = samples / "school_census_2019.parquet", tmp_path / "out.csv"
    qids = "NU_ANO,TP_SEXO,CO_MUNICIPIO_END"
    made = qifsql.anonymise(path, out, qids=qids, k=5, drop="ID_ALUNO", **options)
    row = made.frame.row(0, named=True)
    compared = qifsql.compare(path, out, qids=qids).frame.row(1, named=True)
    assert row["suppressed"] == compared["suppressed"]
    assert row["generalised"] == pytest.approx(compared["generalised"], abs=1e-12)
    # compare takes the ends of an interval as they are written; years are up to a year apart
    assert row["penalty"] == pytest.approx(compared["certainty_penalty"], rel=5e-3)


@pytest.mark.slow(because="test_compare.py reads generalised cells")
def test_a_recoded_release_is_read_as_what_it_stands_for(samples: Path, tmp_path: Path) -> None:
    path, qids = samples / "school_census_2018.parquet", "TP_SEXO,NU_ANO"
    for ending in ("csv", "parquet"):
        out = tmp_path / f"out.{ending}"
        result = qifsql.anonymise(
            path, out, method="recode", qids=qids, change=["NU_ANO:5", "bottom(NU_ANO)=1980"]
        )
        compared = qifsql.compare(path, out, qids=qids)
        releases = compared.frame.filter(pl.col("release") != path.name, view="cells")
        blocks = releases["blocks"].to_list()
        assert blocks == result.frame["blocks"].to_list()
        columns = compared.details["columns"]
        assert columns["outside"].to_list() == [0] * columns.height


# Cells that are suppressed, the least important first.


def hidden(
    rows: Sequence[tuple[str, ...]], order: Sequence[int], fits: Callable[[list[int]], bool]
) -> list[tuple[str, ...]]:
    """The rows with ``*`` for cells that are suppressed, and in all cells of suppressed records."""
    shown = [list(row) for row in rows]

    def broken() -> list[int]:
        groups: dict[tuple[str, ...], list[int]] = {}
        for n, row in enumerate(shown):
            groups.setdefault(tuple(row), []).append(n)
        return [n for group in groups.values() if not fits(group) for n in group]

    for i in order:
        for n in broken():
            shown[n][i] = "*"
    for n in broken():
        shown[n] = ["*"] * len(shown[n])
    return [tuple(row) for row in shown]


@settings(max_examples=examples(30))
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 2)),
        min_size=1,
        max_size=30,
    ),
    st.permutations(["n", "t", "m"]).flatmap(
        lambda names: st.integers(1, 3).map(lambda width: names[:width])
    ),
    st.integers(1, 4),
    st.none() | st.integers(1, 3),
    st.booleans(),
)
def test_cells_are_suppressed_as_slow_python_says(
    people: list[tuple[int, str, int, int]],
    order: list[str],
    k: int,
    l: int | None,  # noqa: E741 - it is called l
    coarse: bool,
) -> None:
    secrets = [person[3] for person in people]
    if k > len(people) or (l is not None and l > len(set(secrets))):
        return
    names = ["n", "t", "m"]
    rows = [
        (f"{n // 5 * 5}-{n // 5 * 5 + 4}" if coarse else str(n), t, str(m)) for n, t, m, _ in people
    ]

    def fits(group: list[int]) -> bool:
        return len(group) >= k and (l is None or len({secrets[n] for n in group}) >= l)

    expected = hidden(rows, [names.index(name) for name in order], fits)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        columns = list(zip(*people, strict=True))
        table = pa.table(dict(zip((*names, "s"), map(list, columns), strict=True)))
        pq.write_table(table, place / "in.parquet")
        result = qifsql.anonymise(
            place / "in.parquet",
            place / "out.csv",
            method="recode",
            qids=names,
            secret="s",
            k=k,
            l=l,
            suppress=True,
            suppress_cells=order,
            change=["n:5"] if coarse else [],
        )
        written = pl.read_csv(place / "out.csv", infer_schema=False).select(names).rows()
        attacked = qifsql.attack(
            "crs", qifsql.Dataset.open(place / "out.csv", all_varchar=True), qids=names
        )
    assert written == expected
    gone = sum(row == ("*",) * 3 for row in expected)
    row = result.frame.row(0, named=True)
    assert row["suppressed"] == gone
    assert row["classes"] + (gone > 0) == attacked.frame["blocks"][0] == len(set(expected))
    counts = [sum(row[i] == "*" for row in expected) - gone for i in range(3)]
    assert result.details["quasi_identifiers"]["suppressed_cells"].to_list() == counts
    assert row["smallest_class"] is None or row["smallest_class"] >= k


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
def test_cells_of_other_shapes_are_suppressed_too(source: Path) -> None:
    asked: dict[str, Any] = {"method": "recode", "qids": ["age", "zip"], "k": 2, "suppress": True}
    asked |= {"change": ["age:10", "zip:2"], "suppress_cells": "age"}
    out = source.parent / "out.parquet"
    qifsql.anonymise(source, out, **asked)
    frame = pl.read_parquet(out)
    assert frame["zip"].to_list() == ["13***", "13***", "*", "20***", "20***", "20***", "*", "*"]
    assert frame["age"].to_list() == ["10-19", "10-19", *["*"] * 6]
    qifsql.anonymise(source, out.with_name("bounds.csv"), **asked, cells="bounds")
    frame = pl.read_csv(out.with_name("bounds.csv"), infer_schema=False)
    assert frame["age_lower"].to_list() == ["10", "10", *[None] * 6]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"suppress_cells": "agee", "k": 2}, 'did you mean "age"'),
        ({"suppress_cells": "age"}, "no limit says which cells to suppress"),
        ({"suppress_cells": "age", "k": 2, "change": "drop=age"}, '"age" is dropped'),
        ({"suppress_cells": "age", "k": 2, "method": "mondrian"}, "is for recode alone"),
        ({"suppress_cells": "age", "k": 2}, r"4 records of 8 \(50.00 %\)|records of 8"),
    ],
)
def test_cells_that_cannot_be_suppressed(options: dict[str, Any], says: str, source: Path) -> None:
    asked = {"method": "recode", "qids": "age,zip"} | options
    with pytest.raises(InputError, match=says):
        qifsql.anonymise(source, source.parent / "out.csv", **asked)
    assert not (source.parent / "out.csv").exists()


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_a_change_without_effect_is_told(tmp_path: Path) -> None:
    people = pl.DataFrame({"age": ["58", "59", "NS", "60"], "sex": ["f", "m", "f", "m"]})
    for change, told in (("age:10", True), ("age:1", False)):
        result = qifsql.anonymise(
            people, tmp_path / "out.csv", qids="age,sex", method="recode", change=change
        )
        assert any(f'"{change}" merges no values' in note for note in result.notes) == told
        compared = qifsql.compare(people, qids="age,sex", change=change)
        assert any(f'"{change}" merges no values' in note for note in compared.notes) == told


@pytest.mark.parametrize(
    ("out", "shape", "named"),
    [
        ("r.parquet", "interval", ['"sex"']),
        ("r.parquet", "bounds", ['"age"', '"sex"']),
        ("r.parquet", "text", []),
        ("r.csv", "interval", []),
    ],
)
def test_a_note_names_columns_where_a_suppressed_cell_looks_missing(
    out: str, shape: str, named: list[str], tmp_path: Path
) -> None:
    people = pl.DataFrame({"age": [1, 1, 2, 2, 9], "sex": [1, 1, 1, 1, 2], "t": list("aaaab")})
    asked: dict[str, Any] = {"qids": "age,sex,t", "change": "age:5", "k": 2, "suppress": 0.5}
    result = qifsql.anonymise(people, tmp_path / out, method="recode", cells=shape, **asked)
    notes = [note for note in result.notes if "a suppressed cell of" in note]
    assert [name for note in notes for name in ('"age"', '"sex"', '"t"') if name in note] == named


def test_csv_is_written_as_it_was_read(tmp_path: Path) -> None:
    """The delimiter, the decimal mark and the encoding are those of the input."""
    source, out = tmp_path / "t.csv", tmp_path / "r.csv"
    source.write_bytes("Estudo\nnome;w\nSão;1,5\nZé;2,5\nSão;3,5\nZé;2,5\n".encode("cp1252"))
    reading = ("--encoding", "cp1252", "--skip", "1", "--decimal", ",")
    options = ("-q", "nome,w", "--method", "mdav", "--k", "2", "--cells", "centroid")
    assert run("anonymise", source, *options, *reading, "-o", out).code == 0
    header, *rows = out.read_text("cp1252").splitlines()
    assert header == "nome;w"
    assert sorted(rows) == ["São;2,5", "São;2,5", "Zé;2,5", "Zé;2,5"]
    compared = run("compare", source, out, "-q", "nome,w", *reading, "-o", tmp_path / "c.parquet")
    assert compared.code == 0, compared.err
    shares = pl.read_parquet(tmp_path / "c.columns.parquet")["outside"].to_list()
    assert shares == [0.0] * 4


def test_a_change_alone_is_made(tmp_path: Path) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "r.csv"
    source.write_text("zip,age\n07088,31\n07089,33\n08011,47\n")
    result = qifsql.anonymise(source, out, change=["zip:2", "age:10"])
    assert result.frame["method"].item() == "recode"
    assert out.read_text().splitlines()[1:] == [
        "07***,30-39",
        "07***,30-39",
        "08***,40-49",
    ]


@pytest.mark.parametrize("values", ["34.0 45.0 66.5", "34 45 66.5", "34.00 45.00 66.5"])
def test_whole_numbers_of_a_hierarchy_fit_decimals(tmp_path: Path, values: str) -> None:
    source, out, tree = (tmp_path / name for name in ("t.csv", "r.csv", "h.csv"))
    source.write_text("\n".join(["age", *values.split()]))
    tree.write_text("34;<50;*\n45;<50;*\n66.5;>=50;*\n")
    qifsql.anonymise(source, out, change="age:@1", hierarchies={"age": tree})
    assert out.read_text().splitlines()[1:] == ["<50", "<50", ">=50"]


def test_numbers_of_a_hierarchy_have_the_decimal_mark_of_the_file(tmp_path: Path) -> None:
    source, out, tree = (tmp_path / name for name in ("t.csv", "r.csv", "h.csv"))
    source.write_text("age;pay\n34,5;1\n45;2\n1,000;3\n")
    tree.write_text("34,5;<50;*\n45;<50;*\n1,000;<2;*\n")
    data = qifsql.Dataset.open(source, delimiter=";", decimal=",")
    qifsql.anonymise(data, out, change="age:@1", hierarchies={"age": tree})
    assert out.read_text().splitlines()[1:] == ["<50;1", "<50;2", "<2;3"]


def test_a_delimiter_of_several_bytes_becomes_a_comma(tmp_path: Path) -> None:
    file, out = tmp_path / "t.csv", tmp_path / "out.csv"
    file.write_text("a\u00a7b\n1\u00a7x\n1\u00a7y\n", "utf-8")
    source = qifsql.Dataset.open(file, delimiter="\u00a7")
    qifsql.anonymise(source, out, qids="a", method="mondrian", k=2)
    assert out.read_text().splitlines()[0] == "a,b"


def test_labels_of_numbers_have_the_decimal_mark_of_numbers_and_texts_have_not(
    tmp_path: Path,
) -> None:
    file, out = tmp_path / "t.csv", tmp_path / "out.csv"
    file.write_text('"a b";c\n30,5;x\n30,25;y\n31,5;z\n')
    source = qifsql.Dataset.open(file, decimal=",")
    qifsql.anonymise(source, out, change='"a b"=floor("a b")')
    assert out.read_text().splitlines()[1:] == ["30,0;x", "30,0;y", "31,0;z"]
    text = """"a b"='v1.' || left("a b"::VARCHAR, 1)"""
    qifsql.anonymise(source, out, change=text, cells="midpoint")
    assert out.read_text().splitlines()[1] == "v1.3;x"
