"""Words for missing values (``na``): what is read equals the same data with empty fields."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.data.dataset import Dataset
from qifsql.errors import ColumnError

WORDS = ("NA", ".", "-9", "")
NUMBERS = st.sampled_from(["1", "2", "30"])
TEXTS = st.sampled_from(["a", "b", "x y"])


def fields(values: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, bool]]]:
    """Return fields of a column, each with whether it stands in quotes; some are words."""
    field = st.tuples(values, st.booleans()) | st.tuples(st.sampled_from(WORDS), st.booleans())
    return st.lists(field, min_size=6, max_size=6)


def csv(path: Path, columns: dict[str, Sequence[tuple[str, bool]]]) -> Path:
    lines = [",".join(columns)]
    lines += [
        ",".join(f'"{text}"' if is_quoted else text for text, is_quoted in row)
        for row in zip(*columns.values(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def numbers(result: qifsql.Result) -> dict[str, object]:
    return {name: value for name, value in result.rows()[0].items() if name != "seconds"}


@given(fields(NUMBERS), fields(TEXTS))
def test_words_of_all_columns_are_missing(
    tmp_path: Path, ages: list[tuple[str, bool]], jobs: list[tuple[str, bool]]
) -> None:
    columns = {"n": [("1", False)] * 6, "age": ages, "job": jobs}
    empty = {
        name: [("", False) if text in WORDS else (text, False) for text, _ in column]
        for name, column in columns.items()
    }
    na = [*WORDS[:-1], ""]
    marked = Dataset.open(csv(tmp_path / "marked.csv", columns), na=na)
    plain = Dataset.open(csv(tmp_path / "plain.csv", empty))
    as_frame = pl.DataFrame(
        {name: [text for text, _ in column] for name, column in columns.items()}
    )
    for null in ("distinct", "drop"):
        options = {"qids": ["n", "age", "job"], "null": null}
        try:
            expected = numbers(qifsql.attack("crs", plain, **options))
        except qifsql.QifError:  # nobody is left
            continue
        assert numbers(qifsql.attack("crs", marked, **options)) == expected
        in_memory = Dataset.open(as_frame, na=na)
        assert numbers(qifsql.attack("crs", in_memory, **options)) == expected


@given(fields(NUMBERS))
def test_columns_are_typed_without_the_words(tmp_path: Path, ages: list[tuple[str, bool]]) -> None:
    """A column of numbers and words is one of numbers, whether the words stand in quotes or not."""
    columns = {"n": [("1", False)] * 6, "age": [("7", False), *ages[1:]]}
    dataset = Dataset.open(csv(tmp_path / "typed.csv", columns), na=["NA,.,-9", ""])
    types = {row["column"]: row["type"] for row in qifsql.describe(dataset).rows()}
    assert types == {"n": "BIGINT", "age": "BIGINT"}


def test_a_word_of_one_column_is_a_value_of_others(tmp_path: Path) -> None:
    file = csv(tmp_path / "one.csv", {"a": [("-9", False), ("1", False)], "b": [("-9", False)] * 2})
    for source in (Dataset.open(file, na="a=-9"), Dataset.open(pl.read_csv(file), na="a=-9")):
        rows = {row["column"]: row["missing"] for row in qifsql.describe(source).rows()}
        assert rows == {"a": 1, "b": 0}


def test_a_word_of_no_column_is_an_error(tmp_path: Path) -> None:
    file = csv(tmp_path / "one.csv", {"a": [("1", False)]})
    with pytest.raises(ColumnError, match="is not in one"):
        qifsql.attack("crs", Dataset.open(file, na="ag=-9"), qids="a")
    done = run("attack", file, "-q", "a", "--na", "ag=-9")
    assert (done.code, done.out) == (2, "")


def test_a_column_without_values_has_no_words(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"nothing": pa.nulls(2), "sex": ["f", "NA"]}), file)
    done = run("attack", "crs", file, "-q", "nothing,sex", "--na", "NA", "-f", "csv")
    assert done.code == 0, done.err


def test_a_study_has_the_words_of_a_dataset(tmp_path: Path) -> None:
    csv(tmp_path / "data.csv", {"a": [("NA", False), ("1", False)], "b": [("x", False)] * 2})
    study = tmp_path / "study.toml"
    study.write_text(
        '[output]\nfolder = "out"\n[datasets.d]\npath = "data.csv"\nna = ["NA", ""]\n'
        '[[attack]]\nname = "all"\ndataset = "d"\nmodel = "crs"\nqids = ["a"]\nnull = "drop"\n'
    )
    assert qifsql.run(study).rows()[0]["records"] == 1


def test_the_shared_cases(shared: Path) -> None:
    cases = shared / "cases"
    file = cases / "na_drop.csv"
    options = {"qids": "sex,edu", "null": "drop"}
    assert qifsql.attack("crs", Dataset.open(file, na="NA"), **options).rows()[0]["records"] == 20
    assert qifsql.attack("crs", file, **options).rows()[0]["records"] == 30
    rows = qifsql.describe(Dataset.open(cases / "quoted_empty.csv", na="")).rows()
    assert {row["column"]: row["missing"] for row in rows} == {"sex": 0, "occup": 10, "income": 10}


@pytest.mark.cases(3)
@pytest.mark.parametrize("command", ["attack", "levels", "suda"])
@pytest.mark.parametrize("rule", ["distinct", "match-any"])
def test_a_usual_word_is_told_once_per_column(command: str, rule: str, tmp_path: Path) -> None:
    """With its records, and how --na says that it means missing; not where --na is given."""
    file = tmp_path / "people.csv"
    file.write_text('sex,edu,age\nf,NA,1\nm,.,-9\nf,"",2\nm,low,3\nm,"NA ",4\n')
    words = (command, file, "-q", "sex,edu,age")
    done = run(*words, "--null", rule)
    assert done.code == 0
    told = [line for line in done.err.splitlines() if "is a value here" in line]
    assert len(told) == 2
    assert '"edu" has the empty text, ".", "NA" in 3 records' in told[0]
    assert told[1].startswith('note: "age" has "-9" in 1 record')
    assert "is a value here" not in run(*words, "--null", rule, "--na", ",.,NA,-9").err


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1, 2, 3, 9], "9"),
        ([0, 1, 2, 3, 4, 5, 9], None),  # a count may reach nine
        ([18, 40, 70, -9, 99], "-9,99"),
        ([0, 50, 90, 99], None),
        ([99], None),
        ([2001, 2020, 9999], "9999"),
        (["A", "Prefer not to say", "DON\u2019T KNOW"], "DON\u2019T KNOW,Prefer not to say"),
        (["ja", "Weiß nicht", "Möchte ich nicht sagen"], "Möchte ich nicht sagen,Weiß nicht"),
        (["sim", "Nao sabe", "Prefiro não responder"], "Nao sabe,Prefiro não responder"),
        (["no contesta", "Sans réponse", "Unknown words"], "Sans réponse,no contesta"),
    ],
)
def test_codes_that_stand_apart_and_refusals_are_told(values: list[Any], told: str | None) -> None:
    """The words of the note make the column miss them, and the note is gone."""
    frame = pl.DataFrame({"a,b": values})
    notes = "".join(qifsql.attack("crs", frame, qids='"a,b"').notes)
    assert ("is a value here" in notes) == (told is not None)
    if told is not None:
        words = f'"a,b"={told}' if "9" in told else told
        assert notes.partition("say so with")[2].endswith(f"na='{words}')")
        again = qifsql.attack("crs", Dataset.open(frame, na=[words]), qids='"a,b"')
        assert not any("is a value here" in note for note in again.notes)


def test_a_usual_word_in_a_secret_is_told_as_it_protects_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is, whatever missing values are, where a secret is inferred; of large files in a part."""
    frame = pl.DataFrame({"sex": ["f", "m"] * 3, "job": ["NA", "a", "NA", "b", "c", "-9"]})
    frame.write_csv(tmp_path / "jobs.csv")
    for command in ("attack", "levels"):
        words = (command, tmp_path / "jobs.csv", "-q", "sex", "-s", "job")
        assert '"job" has "-9", "NA" in 3 records, which is a value here' in run(*words).err
        assert "is a value here" not in run(*words, "--na", "NA,-9").err
    monkeypatch.setattr("qifsql.engine.catalog.FIRST_ROWS", 4)
    notes = qifsql.attack("cas", frame, qids="sex", secret="job").notes
    assert '"job" has "NA" in at least 2 records' in "".join(notes)


def test_a_stored_sweep_says_which_words_were_missing(tmp_path: Path) -> None:
    """Its numbers are found again: verify reads the file as the sweep did, after it was loaded."""
    rows = [("f", "NA"), ("f", "1"), ("m", "NA"), ("m", "."), ("m", "2")]
    frame = pl.DataFrame(rows, schema=["sex", "age"], orient="row")
    frame.write_csv(tmp_path / "ages.csv", separator=";")
    words = ("-q", "sex,age", "--na", "NA,.", "--delimiter", ";", "-o", tmp_path / "swept.parquet")
    assert run("sweep", tmp_path / "ages.csv", *words).code == 0
    done = run("verify", tmp_path / "swept.parquet")
    assert (done.code, "differs" in done.out) == (0, False)
    assert "agrees" in done.out


def test_words_of_more_columns_than_one_query_reads_are_noted() -> None:
    frame = pl.DataFrame({f"q{i}": ["a", "NA", "b"] for i in range(130)})
    notes = qifsql.attack("crs", frame, qids=frame.columns).notes
    assert sum('has "NA" in 1 record' in note for note in notes) == 130
