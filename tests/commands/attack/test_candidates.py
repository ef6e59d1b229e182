"""Somebody with raw knowledge of people looks for their records in a release."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.counting import compatibility
from qifsql.errors import InputError
from qifsql.reference import compatible_records as reference
from qifsql.results.result import Result

CELLS: dict[str, Callable[[Any], bool]] = {
    "*": lambda _: True,
    "1": lambda v: v == 1,
    "2": lambda v: v == 2,
    "{1,3}": lambda v: v in (1, 3),
    "[2,3]": lambda v: v in (2, 3),
    ">=3": lambda v: v >= 3,
}
"""Cells of a release, with the numbers that each contains."""
SUCCESS = (
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic", "worst_case"),
)
COUNTS = ("records", "k", "singled_out", "candidates", "misled")

cells = st.sampled_from(sorted(CELLS))
names = st.sampled_from([None, *"abcdefghijklmnopq"])
numbers = st.integers(1, 4)


@dataclass(frozen=True)
class Files:
    """The raw records of people, and those of a release, each with a name."""

    people: list[tuple[str | None, int, int]]
    release: list[tuple[str | None, str, str, str]]

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        people = pl.DataFrame(
            self.people, {"n": pl.String, "a": pl.Int64, "b": pl.Int64}, orient="row"
        )
        schema = dict.fromkeys("nabs", pl.String)
        return people, pl.DataFrame(self.release, schema, orient="row")

    def reference(self) -> tuple[list[Any], list[Any], list[str]]:
        people = [raw for _, *raw in self.people]
        records = [[CELLS[cell] for cell in (a, b)] for _, a, b, _ in self.release]
        return people, records, [secret for *_, secret in self.release]


@st.composite
def files(draw: st.DrawFn, *, unique: bool) -> Files:
    """Return few people and records; ``unique``: a name is that of at most one in each file."""
    person = st.tuples(names, numbers, numbers)
    record = st.tuples(names, cells, cells, st.sampled_from("xy"))
    by_name = (lambda row: row[0] or object()) if unique else None
    people, release = (
        draw(st.lists(of, min_size=1, max_size=25, unique_by=by_name)) for of in (person, record)
    )
    return Files(people, release)


def attacked(case: Files, **asked: Any) -> Result:
    """Return the attack on the release of a case, written to files."""
    with tempfile.TemporaryDirectory() as folder:
        people, release = Path(folder) / "people.parquet", Path(folder) / "release.csv"
        raw, written = case.frames()
        raw.write_parquet(people)
        written.write_csv(release)
        asked = {"people": people, "qids": "a,b", "secret": "s"} | asked
        return qifsql.attack("crs,cas", release, **asked)


def check(result: Result, expected: dict[str, Any]) -> None:
    """Check the rows of the view ``compatible`` against the numbers of the definition."""
    rows = {row["model"]: row for row in result.frame.filter(view="compatible").to_dicts()}
    for model, prefix in (("CRS", ""), ("CAS", "cas_")):
        of_model = {n: expected[n] for n in COUNTS} | {n: expected[prefix + n] for n in SUCCESS}
        certain = expected["individuals_certain" if prefix else "singled_out"]
        of_model |= {"individuals_certain": certain, "view": "compatible"}
        assert {name: rows[model][name] for name in of_model} == {
            name: float(n) if isinstance(n, Fraction) else n for name, n in of_model.items()
        }


@settings(max_examples=examples(20), deadline=None)
@given(files(unique=True), st.booleans())
def test_candidates_are_the_records_that_contain_the_values(case: Files, keyed: bool) -> None:
    """The key says whose record it is, else the order of files with as many records."""
    own: Sequence[int | None] | None = None
    if keyed:
        places = {name: i for i, (name, *_) in enumerate(case.release) if name is not None}
        own = [places.get(name) for name, *_ in case.people]  # type: ignore[arg-type]
    elif len(case.people) == len(case.release):
        own = range(len(case.people))
    result = attacked(case, **({"key": "n"} if keyed else {}))
    check(result, reference.find(*case.reference(), own))


@settings(max_examples=examples(20), deadline=None)
@given(files(unique=False))
def test_candidates_of_a_person_are_people_with_a_record_that_contains_hers(case: Files) -> None:
    people, records, secrets = case.reference()
    whose, owners = [name for name, *_ in case.people], [name for name, *_ in case.release]
    expected = reference.find_people(people, whose, records, owners, secrets)
    result = attacked(case, person="n")
    check(result, expected)
    row = result.frame.filter(view="compatible").row(0, named=True)
    assert (row["people"], row["known_records"]) == (expected["people"], "one")


PEOPLE = pl.DataFrame({"id": [1, 2, 3, 4], "a": [1, 2, 2, 3], "s": list("xxyy")})
RELEASE = pl.DataFrame({"id": [4, 1, 2, 3], "a": ["3", "*", "[1,2]", "2"], "s": list("yxxy")})


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return a folder with a file of people and a release of their records in another order."""
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    RELEASE.write_csv(tmp_path / "release.csv")
    return tmp_path


@pytest.mark.slow(because="2.5 s; both commands count with one function")
def test_both_views_are_those_of_compare(written: Path) -> None:
    people, release = written / "people.parquet", written / "release.csv"
    asked: dict[str, Any] = {"qids": "a", "secret": "s", "key": "id"}
    rows = qifsql.attack("crs,cas", release, people=people, **asked).rows()
    compared = qifsql.compare(people, release, **asked).frame.filter(file=2)
    for view in ("cells", "compatible"):
        crs, cas = (row for row in rows if row["view"] == view)
        (row,) = compared.filter(view=view).to_dicts()
        same = ("records", "k", "singled_out", "candidates", "misled")
        assert [crs[name] for name in same] == [row[name] for name in same]
        assert crs["posterior_probabilistic"] == row["crs_posterior_probabilistic"]
        assert cas["posterior_probabilistic"] == row["cas_posterior_probabilistic"]


def test_a_key_that_repeats_or_lacks_and_other_misfits_are_refused(written: Path) -> None:
    people, release = written / "people.parquet", written / "release.csv"
    PEOPLE.clear().write_parquet(written / "empty.parquet")
    PEOPLE.with_columns(id=pl.lit(1)).write_parquet(written / "same.parquet")
    PEOPLE.with_columns(id=pl.lit("x")).write_parquet(written / "text.parquet")
    PEOPLE.with_columns(a=pl.lit(True)).write_parquet(written / "other.parquet")
    PEOPLE.drop("a").write_parquet(written / "lacking.parquet")
    for model, asked, says in (
        ("crs", {"people": written / "empty.parquet"}, "empty.parquet has no records"),
        ("crs", {"people": written / "lacking.parquet"}, '"a" is not in lacking.parquet'),
        ("crs", {"people": written / "other.parquet"}, '"a" of release.csv'),
        ("crs", {"people": written / "none.parquet"}, "does not exist"),
        ("crs", {"people": written / "same.parquet", "key": "id"}, "names 3 records again"),
        ("crs", {"people": written / "text.parquet", "key": "id"}, "are not converted"),
        ("crs", {"key": "id", "person": "id"}, "leave key out"),
        ("crs", {"key": "id,s"}, "one column of both files"),
        ("crs", {"key": "name"}, '"name" is not in people.parquet'),
        ("cas", {}, "name one with secret="),
        ("ias", {"secret": "s"}, "models crs and cas"),
        ("crs", {"weight": "a"}, "does not take weight"),
        ("crs", {"learn": people}, "does not take learn"),
        ("crs", {"people": None, "hierarchies": {"a": "h.csv"}}, r"name their file \(people\)"),
    ):
        with pytest.raises(InputError, match=says) as caught:
            qifsql.attack(model, release, **({"people": people, "qids": "a"} | asked))
        assert "\n" not in str(caught.value)


def test_stars_in_too_many_sets_of_columns_are_refused(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compatibility, "MOST_SETS", 1)
    people, release = written / "people.parquet", written / "release.csv"
    with pytest.raises(InputError, match="in more than 1 sets of columns"):
        qifsql.attack("crs", release, people=people, qids="a")


def test_releases_of_values_that_may_be_false_are_told(written: Path) -> None:
    """By their manifest they are refused; by misled people they are noted."""
    noise = written / "noise.csv"
    PEOPLE.with_columns(a=pl.col("a") + 7).write_csv(noise)
    asked: dict[str, Any] = {"people": written / "people.parquet", "qids": "a"}
    note, of_nearest = qifsql.attack("crs", noise, **asked).notes
    assert "does not measure who looks for the nearest one" in of_nearest
    assert "says something false of 100.0% of the people" in note
    manifest = {"result": "anonymise", "spec": {"method": "pram"}}
    Path(f"{noise}.manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="by the method pram: its cells are values that"):
        qifsql.attack("crs", noise, **asked)


@pytest.mark.parametrize(
    ("cells", "people", "is_noted"),
    [
        (["1.5", "1.5", "2.5", "2.5"], PEOPLE, True),
        (["1", "NA", "*", "[2,3]"], PEOPLE, False),
        (["1", "2", "2", "3"], PEOPLE[:2], False),  # the cell 3 is that of somebody else
    ],
)
def test_cells_beside_all_values_of_people_who_are_misled_are_noted(
    cells: list[str], people: pl.DataFrame, is_noted: bool, tmp_path: Path
) -> None:
    pl.DataFrame({"id": PEOPLE["id"], "a": cells}).write_csv(tmp_path / "release.csv")
    people.with_columns(pl.col("a").cast(pl.Float64)).write_parquet(tmp_path / "people.parquet")
    asked: dict[str, Any] = {"people": tmp_path / "people.parquet", "qids": "a", "key": "id"}
    notes = qifsql.attack("crs", tmp_path / "release.csv", **asked).notes
    assert any("no raw value, such as centroids" in note for note in notes) is is_noted


def test_the_command_says_what_raw_knowledge_finds_and_verify_agrees(written: Path) -> None:
    """Of four people, 1 and 4 find two records each, 2 and 3 three: their own and the free one."""
    people, release = str(written / "people.parquet"), str(written / "release.csv")
    stored = written / "result.json"
    asked = [release, "--people", people, "-q", "a", "-s", "s", "--key", "id", "-f", "table"]
    shown = " ".join(run("attack", *asked, "-o", str(stored)).out.split())
    assert "raw values known 25.00 % 41.67 % 0 2 2.50 0" in shown
    assert "Raw values known. Before: 1 in 4; after: 1 in 2.4" in shown
    again = qifsql.verify(stored)
    assert again
    assert set(again.frame.filter(verdict="agrees")["way"]) == {"definition"}
    stored.write_text(stored.read_text().replace('"candidates": 2.5', '"candidates": 2.25'))
    differing = qifsql.verify(stored).frame.filter(verdict="differs")["column"]
    assert set(differing) == {"candidates"}


def test_numbers_may_be_nodes_of_the_hierarchy(tmp_path: Path) -> None:
    """The cells 130 and 140 of a CSV, which are read as numbers, contain the leaves below them."""
    codes = [13001, 13002, 14000]
    people = tmp_path / "people.csv"
    pl.DataFrame({"zip": codes}).write_csv(people)
    tree = tmp_path / "zip.csv"
    tree.write_text("13001;130;*\n13002;130;*\n14000;140;*\n")
    for name, cells, found in (
        ("whole", [130, 130, 140], 5 / 3),
        ("decimal", [130.0, 130.0, 140.0], 5 / 3),
        ("leaves", codes, 1),
    ):
        release = tmp_path / f"{name}.parquet"
        pl.DataFrame({"zip": cells}).write_parquet(release)
        asked: dict[str, Any] = {"people": people, "qids": "zip", "hierarchies": {"zip": tree}}
        row = qifsql.attack("crs", release, **asked).frame.row(1, named=True)
        assert (row["misled"], row["candidates"]) == (0, pytest.approx(found)), name


def test_records_of_one_person_are_noted_in_either_file_and_verify_tells_the_files(
    tmp_path: Path,
) -> None:
    """Both files have one name, and the release alone has people of several records."""
    people, release = tmp_path / "raw" / "x.csv", tmp_path / "written" / "x.csv"
    for path, columns in (
        (people, {"a": [1, 2, 3, 4] * 10}),
        (release, {"patient_id": [i // 2 for i in range(40)], "a": ["[1,2]", "*"] * 20}),
    ):
        path.parent.mkdir()
        pl.DataFrame(columns).write_csv(path)
    result = qifsql.attack("crs", release, people=people, qids="a")
    assert any(note.startswith("records are counted, not people") for note in result.notes)
    assert "patient_id" in result.origin.spec["repeated"]
    assert qifsql.verify(result.save(tmp_path / "result.json"))


def test_words_for_missing_and_spellings_of_the_release_are_noted(written: Path) -> None:
    cells = ["NA", "[1,2]", "2", "3"]
    release = RELEASE.with_columns(a=pl.Series(cells), s=pl.Series(["x", "X", "y", "y"]))
    release.write_csv(written / "words.csv")
    asked: dict[str, Any] = {"people": written / "people.parquet", "qids": "a", "secret": "s"}
    notes = " ".join(qifsql.attack("crs,cas", written / "words.csv", key="id", **asked).notes)
    assert "a has NA: a value in the view cells" in notes.replace('"', "")
    assert "s has 3 values, which are 2 without case" in notes.replace('"', "")


@pytest.mark.slow(because="2 s; the key is looked up in the same way")
def test_verify_counts_people_record_by_record(written: Path) -> None:
    asked: dict[str, Any] = {"people": written / "people.parquet", "person": "id"}
    result = qifsql.attack("crs,cas", written / "release.csv", qids="a", secret="s", **asked)
    assert qifsql.verify(result.save(written / "result.json"))
    RELEASE.vstack(RELEASE).write_csv(written / "release.csv")  # each person has two equal records
    result = qifsql.attack("crs", written / "release.csv", qids="a", **asked)
    stored = result.save(written / "twice.json")
    assert qifsql.verify(stored)
    stored.write_text(stored.read_text().replace('"k": 1', '"k": 3'))
    differing = qifsql.verify(stored).frame.filter(verdict="differs")
    assert "k" in set(differing["column"])
