"""Register linking against pairs of records counted one by one, in fractions (M58)."""

import json
import math
from collections import Counter
from fractions import Fraction
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
from qifsql.commands.link.link import CONFIDENCE, LINKED
from qifsql.errors import ColumnError, DatasetError, InputError

Person = tuple[Any, ...]


def usable(person: Person) -> bool:
    return not any(v is None or (isinstance(v, float) and math.isnan(v)) for v in person)


def expected(release: list[Person], register: list[Person], *, truth: bool) -> dict[str, Any]:
    """Every number by looking at all pairs; a person is (key, value, value ...)."""
    mine = [p for p in release if usable(p[1:])]
    theirs = [p for p in register if usable(p[1:])]
    f = Counter(p[1:] for p in mine)
    big = Counter(p[1:] for p in theirs)
    shared = [block for block in f if block in big]
    same = Counter(p[1:] for p in mine for q in theirs if p[0] is not None and p == q)
    total = sum((Fraction(min(f[b], big[b]), max(f[b], big[b])) for b in shared), Fraction())
    presence = [min(Fraction(1), Fraction(f[b], big[b])) for b in big]
    both = [b for b in shared if f[b] == big[b] == 1]
    keys = {p[0] for p in register} - {None}
    found: dict[str, Any] = {
        "release_records": len(release),
        "register_records": len(register),
        "release_missing": len(release) - len(mine),
        "register_missing": len(register) - len(theirs),
        "release_blocks": len(f),
        "register_blocks": len(big),
        "shared_blocks": len(shared),
        "unique_in_release": sum(n == 1 for n in f.values()),
        "unique_in_register": sum(n == 1 for n in big.values()),
        "unique_in_both": len(both),
        "matched": sum(p[1:] in big for p in mine),
        "k_map": min((big[b] for b in shared), default=None),
        "prosecutor_risk": max((Fraction(1, n) for n in f.values()), default=None),
        "journalist_risk": max((Fraction(1, big[b]) for b in shared), default=None),
        "marketer_risk": total / len(release),
        "expected_correct": total,
        "delta_min": min(presence, default=None),
        "delta_max": max(presence, default=None),
        "people_in_both": sum(p[0] in keys for p in release) if truth else None,
        "agreeing": sum(same.values()) if truth else None,
        "correct_unique": sum(same[b] for b in both) if truth else None,
        "correct_expected": sum(
            (Fraction(same[b], max(f[b], big[b])) for b in shared), Fraction()
        ) if truth else None,
    }  # fmt: skip
    return found


def write(
    path: Path, people: list[Person], names: list[str], key: pa.DataType | None = None
) -> Path:
    columns = list(zip(*people, strict=True)) if people else [[] for _ in names]
    types = [key or pa.int64(), pa.string(), pa.float64()]
    arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
    pq.write_table(pa.table(arrays, names=names), path)
    return path


TEXTS = st.sampled_from([None, "", "a", "A", "a ", "'", "é"])
NUMBERS = st.sampled_from([None, float("nan"), 0.0, -0.0, 1.0])


@st.composite
def people(draw: st.DrawFn) -> list[Person]:
    n = draw(st.integers(1, 8))
    keys = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n, unique=True))
    nameless = draw(st.sets(st.integers(0, n - 1), max_size=1))
    return [(None if i in nameless else k, draw(TEXTS), draw(NUMBERS)) for i, k in enumerate(keys)]


@settings(max_examples=examples(20))
@given(people(), people(), st.booleans())
def test_every_number_is_that_of_all_pairs(
    tmp_path_factory: pytest.TempPathFactory,
    release: list[Person],
    register: list[Person],
    truth: bool,
):
    folder = tmp_path_factory.mktemp("l")
    one = write(folder / "a.parquet", release, ["id", "t", "x"])
    two = write(folder / "b.parquet", register, ["ID", "T", "number"])
    common = {p[0] for p in release} & {p[0] for p in register} - {None}
    truth = truth and bool(common)
    done = qifsql.link(one, two, qids=["t", "1:x", "2:number"], truth=["id", "ID"] if truth else ())
    assert done.frame.schema == LINKED
    assert done.details["confidence"].schema == CONFIDENCE
    row = done.frame.row(0, named=True)
    assert row["qids"] == ["t", "x"]
    for name, value in expected(release, register, truth=truth).items():
        if value is None or isinstance(value, int):
            assert row[name] == value, name
        else:
            assert row[name] == pytest.approx(float(value), rel=1e-14), name
    check_curve(done.details["confidence"], row, truth=truth)


def check_curve(confidence: pl.DataFrame, row: dict[str, Any], *, truth: bool) -> None:
    """The curve falls in confidence, begins with links unique in both and ends with all links."""
    if not confidence.height:
        assert row["shared_blocks"] == 0
        return
    assert confidence["confidence"].is_sorted(descending=True)
    assert confidence["links"].cum_sum().equals(confidence["links_at_least"].rename("links"))
    last, first = confidence.row(-1, named=True), confidence.row(0, named=True)
    assert last["expected_at_least"] == pytest.approx(row["expected_correct"])
    if first["confidence"] == 1:
        assert first["links"] == row["unique_in_both"]
    if truth:
        assert last["correct_at_least"] == pytest.approx(row["correct_expected"])
        assert row["correct_expected"] <= row["expected_correct"] + 1e-12


def test_unique_in_the_register_in_both_and_correct_are_three_numbers(tmp_path: Path):
    """Trap 22. Ann is unique in both and found; Bob's neighbour is taken for Bob; Cy has a twin."""
    release = [(1, "ann", 1.0), (2, "bob", 1.0), (3, "cy", 1.0), (4, None, 1.0)]
    register = [(1, "ann", 1.0), (9, "bob", 1.0), (3, "cy", 1.0), (8, "cy", 1.0), (7, "di", 1.0)]
    one = write(tmp_path / "a.parquet", release, ["id", "t", "x"])
    two = write(tmp_path / "b.parquet", register, ["id", "t", "x"])
    row = qifsql.link(one, two, qids=["t", "x"], truth="id").frame.row(0, named=True)
    assert row["unique_in_release"] == 3
    assert row["unique_in_register"] == 3
    assert row["unique_in_both"] == 2
    assert row["correct_unique"] == 1
    assert (row["expected_correct"], row["correct_expected"]) == (2.5, 1.5)
    assert (row["people_in_both"], row["agreeing"], row["matched"]) == (2, 2, 3)
    assert (row["delta_min"], row["delta_max"]) == (0.0, 1.0)


def test_all_are_found_where_the_register_is_the_release(tmp_path: Path):
    """Ann and Bob are alone, Cy and Di are twins: blocks of a kind, and people of a block, add."""
    release = [(1, "ann", 1.0), (2, "bob", 1.0), (3, "twin", 1.0), (4, "twin", 1.0)]
    one = write(tmp_path / "a.parquet", release, ["id", "t", "x"])
    row = qifsql.link(one, one, qids=["t", "x"], truth="id").frame.row(0, named=True)
    assert (row["unique_in_both"], row["correct_unique"]) == (2, 2)
    assert (row["people_in_both"], row["agreeing"], row["matched"]) == (4, 4, 4)
    assert (row["expected_correct"], row["correct_expected"]) == (3.0, 3.0)


def test_with_the_register_as_population_the_risks_are_those_of_an_attack(samples: Path):
    """If the register has everybody, journalist and marketer are as in ``attack``."""
    file = samples / "thesis_table_3_2.csv"
    row = qifsql.link(file, file, qids="age", where="gender = 'F'").frame.row(0, named=True)
    attacked = qifsql.attack("crs", file, qids="age", where="gender = 'F'", population=file).rows()[
        0
    ]
    for name in ("prosecutor_risk", "journalist_risk", "marketer_risk"):
        assert row[name] == pytest.approx(attacked[name])
    assert row["delta_min"] == 0 or row["register_records"] > row["release_records"]


def test_named_and_coarser_columns_are_compared(tmp_path: Path):
    (tmp_path / "a.csv").write_text("zip,born\n12345,1980\n12399,1981\n")
    (tmp_path / "b.csv").write_text("plz,birth\n123,1980-05-06\n124,1981-01-01\n")
    asked = ["1:zip=left(zip::VARCHAR, 3)", "2:zip=plz::VARCHAR", "1:born", "2:year=year(birth)"]
    row = qifsql.link(tmp_path / "a.csv", tmp_path / "b.csv", qids=asked).frame.row(0, named=True)
    assert row["matched"] == 1
    row = qifsql.link(tmp_path / "a.csv", tmp_path / "a.csv", qids=["zip:100", "born"]).frame
    assert row["matched"][0] == 2


def test_a_pattern_pairs_columns_of_one_name_only(tmp_path: Path):
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    pl.DataFrame({"age": [1, 2], "AREA": [1, 1]}).write_parquet(one)
    pl.DataFrame({"AGEP": [1, 2], "area": [1, 1]}).write_parquet(other)
    assert qifsql.link(one, other, qids="ar*").frame["release_blocks"].item() == 1
    for pattern in ("ag*", "a*"):
        with pytest.raises(ColumnError, match="is not in o"):
            qifsql.link(one, other, qids=pattern)


def test_hostile_names_are_names(tmp_path: Path):
    names = ['"; drop table', "a,b", "=cmd()"]
    people = [(1, "x", 0.0), (2, "<script>", 1.0)]
    file = write(tmp_path / "o'dd \N{SLIGHTLY SMILING FACE}.parquet", people, names)
    done = run("link", file, file, "-q", '"a,b"', "-q", "=cmd()", "--format", "table")
    assert done.code == 0
    assert "a,b and =cmd()" in done.out
    for form in ("json", "csv", "markdown"):
        assert run("link", file, file, "-q", '"a,b"', "--format", form).code == 0


def test_the_order_of_rows_and_threads_change_nothing(tmp_path: Path):
    n = 50_000
    table = pl.DataFrame({"k": range(n), "a": [i * i % 997 for i in range(n)]})
    table.write_parquet(tmp_path / "a.parquet")
    table.reverse().head(30_000).write_parquet(tmp_path / "b.parquet")
    table.head(30_000).reverse().write_parquet(tmp_path / "a2.parquet")
    found = []
    for order, threads in ((False, 1), (True, 2)):
        register = pl.read_parquet(tmp_path / "a.parquet")
        (register.reverse() if order else register).write_parquet(tmp_path / "r.parquet")
        done = qifsql.link(
            tmp_path / "b.parquet",
            tmp_path / "r.parquet",
            qids="a",
            truth="k",
            settings=qifsql.Settings(threads=threads, memory="300MB"),
        )
        found.append((done.frame.drop("seconds").rows(), done.details["confidence"].rows()))
    assert found[0] == found[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pl.DataFrame({"id": [1, 2], "zip": ["007", "8"], "n": [1, 2]}).write_parquet(
        tmp_path / "a.parquet"
    )
    pl.DataFrame({"id": [1, 1], "zip": [7, 8], "plz": ["007", "8"]}).write_parquet(
        tmp_path / "b.parquet"
    )
    pl.DataFrame({"id": [5, 6], "zip": ["x", "y"], "l": [[1], [2]]}).write_parquet(
        tmp_path / "c.parquet"
    )
    pl.DataFrame({"zip": ["x"]}).clear().write_parquet(tmp_path / "none.parquet")
    return tmp_path


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("files", "options", "kind", "says"),
    [
        ("ab", {"qids": "zip"}, ColumnError, "as the text 007 is not the number 7"),
        ("ab", {"qids": "n"}, ColumnError, '"n" of a.parquet is not in b.parquet'),
        ("ab", {"qids": "n"}, ColumnError, "as in 1:n,2:..."),
        ("ab", {"qids": "plz"}, ColumnError, "as in 1:...,2:plz"),
        ("ab", {"qids": ["1:zip"]}, ColumnError, "each of the release needs its partner"),
        ("ab", {"qids": ["3:zip"]}, InputError, "tag 3 is beyond"),
        ("ab", {"qids": ["1:zip", "2:pls"]}, ColumnError, 'did you mean "plz"?'),
        ("ab", {"qids": []}, ColumnError, "no quasi-identifiers to compare"),
        ("ac", {"qids": ["zip", "zip"]}, ColumnError, "given twice"),
        ("ac", {"qids": ["1:n", "2:l"]}, ColumnError, "is nested"),
        ("ac", {"qids": "zip", "truth": "id"}, DatasetError, "have no person in common"),
        ("ac", {"qids": "zip", "truth": "ID_"}, ColumnError, 'did you mean "id"?'),
        ("ac", {"qids": "zip", "truth": ["id"] * 3}, InputError, "3 truths for two files"),
        ("ac", {"qids": "zip", "where": "n > 7"}, DatasetError, "a.parquet has no records under"),
        ("ac", {"qids": "zip", "register_where": "zip"}, InputError, "of c.parquet is of type"),
        (
            "ab",
            {"qids": ["1:zip", "2:plz"], "truth": "id"},
            DatasetError,
            "b.parquet has 2 records of 1 person with several",
        ),
        (["a", "none"], {"qids": "zip"}, DatasetError, "none.parquet has no records"),
        (["a", "nothing"], {"qids": "zip"}, DatasetError, "does not exist"),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_do(
    folder: Path, files: Any, options: dict[str, Any], kind: type[Exception], says: str
):
    one, two = (folder / f"{name}.parquet" for name in files)
    with pytest.raises(kind) as e:
        qifsql.link(one, two, **options)
    assert says in str(e.value)


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_the_command_prints_what_the_function_gives(samples: Path):
    file = samples / "thesis_table_3_2.csv"
    done = run("link", file, file, "-q", "age", "--where", "gender = 'M'", "--format", "json")
    document = json.loads(done.out)
    found = qifsql.link(file, file, qids="age", where="gender = 'M'").frame.row(0, named=True)
    (row,) = document["results"]
    untimed = {k: v for k, v in found.items() if k != "seconds"}
    assert {k: v for k, v in row.items() if k != "seconds"} == {"unit": "records", **untimed}
    assert math.isclose(document["confidence"][-1]["expected_at_least"], row["expected_correct"])
    table = run("link", file, file, "-q", "age", "--format", "table")
    assert "prosecutor" in table.out
    words = " ".join(table.out.split())
    assert (
        "k-map: 1, the fewest people of the register whom a record of the release matches." in words
    )
    assert "the register is in the release with a chance of 100.00 %." in words
    assert "certain 1 1" in words
    assert run("link", file, "-q", "age").code == 2
    assert run("link", file, file).code == 2


def test_a_register_that_lacks_people_is_remarked_on(tmp_path: Path):
    one = write(tmp_path / "a.parquet", [(1, "a", 1.0), (2, "a", 1.0)], ["id", "t", "x"])
    two = write(tmp_path / "b.parquet", [(1, "a", 1.0), (2, None, 1.0)], ["id", "t", "x"])
    done = run("link", one, two, "-q", "t", "--format", "json")
    assert "in 1 block the register has fewer people than the release" in done.err
    assert "1 record of b.parquet" in done.err


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@settings(max_examples=examples(5))
@given(
    register=st.lists(st.sampled_from("abc"), min_size=1, max_size=9), released=st.integers(1, 9)
)
def test_marketer_risk_is_one_number_against_a_population_and_a_register(
    tmp_path_factory: pytest.TempPathFactory, register: list[str], released: int
) -> None:
    """In a population that holds everybody min(f, F)/max(f, F) is f/F."""
    folder = tmp_path_factory.mktemp("marketer")
    for name, own in (("release", register[:released]), ("register", register)):
        pl.DataFrame({"q": own}).write_parquet(folder / f"{name}.parquet")
    release, population = (str(folder / f"{n}.parquet") for n in ("release", "register"))
    asked = ["--qids", "q", "--format", "json", "--quiet"]
    linked = json.loads(run("link", release, population, *asked).out)["results"][0]
    whole = ["--population", population, "--measures", "risks"]
    attacked = json.loads(run("attack", "crs", release, *whole, *asked).out)["results"][0]
    assert attacked["marketer_risk"] == pytest.approx(linked["marketer_risk"])
    explained = run("explain", "marketer_risk").out
    assert "min(f(b), F(b))/max(f(b), F(b))" in explained


@pytest.mark.parametrize("other", ["M", "Male"])
def test_a_column_that_is_written_in_another_way_is_told(tmp_path: Path, other: str) -> None:
    release, register = tmp_path / "release.csv", tmp_path / "register.csv"
    release.write_text("zip,sex\n1,Male\n2,\n")
    register.write_text(f"zip,sex\n1,{other}\n2,\n")
    result = qifsql.link(release, register, qids="zip,sex")
    told = [note for note in result.notes if note.startswith('no value of "sex" is in both files')]
    assert len(told) == (other == "M")
    assert result.frame["matched"].item() == (other != "M")
