"""Requests that cannot be met: a clear error before a file is written; and the command line."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from terminal import run

import qifsql
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, Interrupted

SECRET_CELL = "Jane Doe's cell"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "age": [20, 30, 40, 50, 60, 70],
            "town": ["a", "b", SECRET_CELL, "a", "b", None],
            "ill": ["x", "x", "x", "x", "y", "z"],
            "pay": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "list": [[1]] * 6,
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"method": "lattice", "time_budget": "1m"}, "a number of seconds above 0"),
    ({"k": 0}, "k must be a whole number from 1"),
    ({"k": 7}, "k is 7, and in.parquet has 6 records"),
    ({"k": True}, "k must be a whole number"),
    ({"l": 4, "secret": "ill"}, 'l is 4, and "ill" has 3 values'),
    ({"l": 0, "secret": "ill"}, "l must be a whole number from 1"),
    ({"l": 2}, "l and t are about a secret; name one"),
    ({"l_entropy": "2.9", "secret": "ill"}, "not even one class .* keeps entropy l=2.9"),
    ({"l_entropy": "0.5", "secret": "ill"}, "entropy l must be at least 1"),
    ({"l_recursive": "1,2", "secret": "ill"}, r"not even one class .* recursive \(1, 2\)"),
    ({"l_recursive": "3", "secret": "ill"}, "needs two numbers, c and l"),
    ({"l_recursive": "0,2", "secret": "ill"}, "c of recursive l must be above 0"),
    ({"l_recursive": "2,1.5", "secret": "ill"}, "l of recursive l must be a whole number"),
    ({"t": 0, "secret": "ill"}, "t of 0 allows only classes"),
    ({"t_ordered": "0.0", "secret": "pay"}, "ordered t of 0 allows only classes"),
    ({"t": 1.1, "secret": "ill"}, "t is a distance from 0 to 1"),
    ({"t": "-0.1", "secret": "ill"}, "t is a distance from 0 to 1"),
    ({"t": "nan", "secret": "ill"}, "t is not a number"),
    ({"t": "0.12345678901", "secret": "ill"}, "too many digits"),
    ({"t_ordered": 0.2, "secret": "ill"}, 'secret "ill" has no distances'),
    ({"method": "mondrain"}, 'no method "mondrain"; did you mean "mondrian"'),
    (
        {"cells": "intervals"},
        'cells cannot be "intervals"; use text, interval, bounds, midpoint or centroid',
    ),
    ({"method": "mdav", "l": 2, "secret": "ill"}, "add suppress=..., or use mondrian"),
    ({"within": 5}, "within is for mdav alone"),
    ({"method": "mdav", "within": -1}, "within must be from 1"),
    ({"suppress": True}, "mondrian makes no classes to suppress"),
    ({"method": "mdav", "suppress": True}, "mdav makes no classes below k"),
    ({"suppress": 2}, "suppress is a share of the records from 0 to 1"),
    ({"method": "mdav", "l": 2, "secret": "ill", "suppress": "0.01"}, r"\(suppress=0.\d+\)"),
    ({"k": None}, "mondrian needs the size of classes"),
    ({"change": "age:5"}, "mondrian makes its own cells"),
    ({"minimise": "entropy"}, "minimise is for lattice alone"),
    ({"minimise": "entropi"}, 'there is no loss "entropi" to minimise; did you mean "entropy"'),
    ({"time_budget": 5.0}, "time_budget is for lattice and suppress alone"),
    ({"method": "recode"}, "recode makes the changes that are named"),
    ({"method": "recode", "change": "age:5", "k": None, "suppress": 0.5}, "no limit says which"),
    ({"method": "recode", "change": "sample=0.5"}, "would leave records out"),
    ({"method": "recode", "change": "pay:5"}, 'of "pay", which is not a quasi-identifier'),
    ({"method": "recode", "change": "age:@1"}, "needs the hierarchy"),
    ({"method": "recode", "change": "age:20"}, r"6 records of 6 \(100.00 %\)|suppress="),
    ({"method": "lattice", "k": None}, "keeps a limit; name k=..."),
    ({"method": "lattice", "change": ["age:20", "age:30"]}, "is not coarser than the step before"),
    ({"method": "lattice", "change": ["drop=age", "age:30"]}, "after its quasi-identifier is drop"),
    ({"method": "lattice", "k": 6, "change": ["age:20", "town:1"]}, "no node of the lattice"),
    ({"qids": ["age", "agee"]}, 'column "agee" is not in in.parquet; did you mean "age"'),
    ({"qids": ["age", "list"]}, 'column "list" is nested'),
    ({"secret": "age"}, 'secret "age" is among the quasi-identifiers'),
    ({"drop": "agee"}, 'column "agee" is not in in.parquet; did you mean "age"'),
    ({"drop": "age"}, 'column "age" is a quasi-identifier; it cannot be left out'),
    ({"where": "age > 100"}, "has no records under the filter"),
    ({"out": "out.doc"}, "must end in one of .parquet, .pq, .csv, .tsv"),
    ({"out": "nowhere/out.csv"}, "there is no folder"),
    ({"out": "in.parquet"}, "is the input; name another file"),
]


@pytest.mark.parametrize(("asked", "told"), BAD, ids=[told[:40] for _, told in BAD])
def test_what_cannot_be_is_said_before_a_file_is_made(
    asked: dict[str, Any], told: str, source: Path
) -> None:
    how = {"method": "mondrian", "k": 2, "qids": ["age", "town"], "out": "out.csv"} | asked
    before = {p: p.stat().st_mtime_ns for p in source.parent.iterdir()}
    with pytest.raises(InputError, match=told) as error:
        qifsql.anonymise(source, source.parent / how.pop("out"), **how)
    assert SECRET_CELL not in str(error.value)
    assert error.value.exit_code == 2
    assert {p: p.stat().st_mtime_ns for p in source.parent.iterdir()} == before


def test_an_interrupted_anonymisation_leaves_nothing(source: Path) -> None:
    def stop(_what: str, _share: float, _detail: str = "", /) -> None:
        raise KeyboardInterrupt

    out = source.parent / "out.csv"
    with pytest.raises(Interrupted):
        qifsql.anonymise(
            source, out, method="mondrian", k=2, qids="age", settings=Settings(progress=stop)
        )
    assert [p.name for p in source.parent.iterdir()] == ["in.parquet"]


def test_the_command_prints_what_python_gives(source: Path) -> None:
    out = source.parent / "out.parquet"
    arguments = ["anonymise", str(source), "-o", str(out), "--method", "mondrian", "--k", "2"]
    arguments += ["--qids", "age,town", "--secret", "ill", "--t", "0.5", "--drop", "list,pay"]
    code, told, talk = run(*arguments, "--format", "json")
    assert code == 0
    found = json.loads(told)
    assert found["spec"]["wishes"] == {"k": 2, "t": 0.5}
    assert found["spec"]["drop"] == ["list", "pay"]
    again = qifsql.anonymise(
        source,
        source.parent / "again.parquet",
        method="mondrian",
        k=2,
        qids=["age", "town"],
        secret="ill",
        t=0.5,
        drop=["list", "pay"],
    )
    (row,), (right,) = found["results"], again.frame.to_dicts()
    assert {**row, "seconds": 0} == {"unit": "records", **right, "seconds": 0}
    assert found["quasi_identifiers"] == again.details["quasi_identifiers"].to_dicts()
    assert f"6 records written to {out}" in talk
    made = pq.read_table(out)
    assert made.equals(pq.read_table(source.parent / "again.parquet"))
    assert made.column_names == ["age", "town", "ill"]
    code, told, _ = run(*arguments, "--format", "table", "--quiet")
    assert code == 0
    assert "Mondrian: 6 records in" in told
    code, told, talk = run(*arguments[:-4], "--k", "70")
    assert (code, told) == (2, "")
    assert talk.startswith("error: k is 70")


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "names",
    [
        ("ID", "id", "Id"),
        ("part", "place_1", "people"),
        ("record", "cell_1", "numbered"),
        ('"; DROP TABLE coded', "'); --", "row_number() OVER ()"),
        ("\U0001f642", "a\nb", " "),
        ("=cmd()", "<script>", "tried"),
    ],
)
@pytest.mark.parametrize("method", ["mondrian", "mdav"])
def test_any_names_of_columns_stay(tmp_path: Path, names: tuple[str, ...], method: str) -> None:
    arrays = [pa.array(c) for c in ([1, 2, 3, None], ["=cmd()", "<b>", "\n", None], [1, 1, 2, 2])]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    how = {"method": method, "k": 4, "qids": list(names[:2]), "keep": [names[2]]}
    qifsql.anonymise(tmp_path / "in.parquet", out, **how, cells="interval")
    made = pq.read_table(out)
    assert made.column_names == list(names)
    assert made.column(0).to_pylist() == [{"lower": 1, "upper": 3, "missing": True}] * 4
    assert made.column(1).to_pylist() == [["\n", "<b>", "=cmd()", None]] * 4
    assert made.column(2).to_pylist() == [1, 1, 2, 2]


@pytest.mark.cases(1)
@pytest.mark.parametrize("method", ["mondrian", "mdav"])
@pytest.mark.parametrize(("most", "refused"), [(18, False), (17, True)])
def test_sets_that_would_list_too_many_values_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, most: int, *, refused: bool
) -> None:
    """Two classes of three people, each of whose cells lists three values."""
    monkeypatch.setattr("qifsql.commands.anonymise.generalise.MOST_VALUES", most)
    table, out = pa.table({"town": list("abcdef")}), tmp_path / "out.parquet"
    says = pytest.raises(InputError, match="would list 18 values in all")
    with says if refused else nullcontext():
        qifsql.anonymise(table, out, method=method, k=3, qids="town")
    assert out.exists() != refused
