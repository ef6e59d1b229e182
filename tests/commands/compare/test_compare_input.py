"""Bad input of compare and what-if: clear errors, exit code 2, no value of a cell, no half file."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from terminal import run

import qifsql
from qifsql.errors import InputError

ORIGINAL = {
    "age": [28, 35, None],
    "zip": ["13012", "13053", "02139"],
    "tags": [[1], [2], [3]],
    "s": ["a", "b", "c"],
    "t": [1, 2, 3],
}
RELEASE = {
    "age": ["[20,30]", "30-39", "*"],
    "zip": ["130**", "130**", "*"],
    "s": ["a", "b", "c"],
    "t": [1, 2, 3],
}
CELLS = ("13012", "13053", "02139", "[20,30", "3x-39", "young")


def made(folder: Path, name: str, columns: dict[str, Any]) -> Path:
    path = folder / f"{name}.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


COMPARED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"age": ["[20,30", "3x-39", "*"]}, {}, "2 of 3 different cells that cannot be read, by form"),
    ({"age": ["28", "35", "36"]}, {}, '"age" of r.parquet holds text'),
    ({"zip": [13012, 13053, 2139]}, {}, '"zip" of r.parquet holds numbers'),
    ({}, {"qids": ["ages"]}, '"ages" is not in o.parquet; did you mean "age"'),
    ({}, {"qids": []}, "no quasi-identifiers"),
    ({}, {"qids": ["tags"]}, "nested"),
    ({}, {"qids": ["age", "3:age=zip"]}, "tag 3 is beyond"),
    ({}, {"qids": ["age", "2:agee=zip"]}, 'no quasi-identifier of the original is called "agee"'),
    ({}, {"qids": ["age", "1:age=zip"]}, "file 1 is the original"),
    ({}, {"qids": ["age", "2:age=agee"]}, '"agee" is not in r.parquet'),
    ({}, {"qids": ["t"], "secret": "t"}, "among the quasi-identifiers"),
    ({}, {"secret": "u"}, '"u" is not in o.parquet'),
    ({}, {"secret": ["s", "2:u=t"]}, 'no secret of the original is called "u"'),
    ({}, {"where": "t > 9"}, "o.parquet has no records under the filter"),
    ({}, {"where": "u > 9"}, '"u" is not in o.parquet'),
    ({}, {"where": "age > 20"}, "r.parquet|age"),
    ({}, {"hierarchies": {"zap": "x.csv"}}, '"zap" is not a quasi-identifier'),
    ({}, {"hierarchies": {"zip": "x.csv"}}, "cannot be read"),
    ({}, {"plain": ["zap"]}, '"zap" is not a quasi-identifier'),
]


@pytest.mark.cases(2)
@pytest.mark.parametrize(("release", "asked", "says"), COMPARED)
def test_what_compare_refuses(
    tmp_path: Path, release: dict[str, Any], asked: dict[str, Any], says: str
) -> None:
    original, sanitised = made(tmp_path, "o", ORIGINAL), made(tmp_path, "r", RELEASE | release)
    with pytest.raises(InputError, match=says) as caught:
        qifsql.compare(original, sanitised, **({"qids": ["age", "zip"], "secret": "s"} | asked))
    assert not any(cell in str(caught.value) for cell in CELLS)
    assert "\n" not in str(caught.value)


def test_compare_needs_different_releases_with_a_column_in_common(tmp_path: Path) -> None:
    original = made(tmp_path, "o", ORIGINAL)
    other = made(tmp_path, "r", {"x": [1], "s": ["a"]})
    empty = made(tmp_path, "e", {"age": pl.Series([], dtype=pl.Int64)})
    for sanitised, says in (
        ([], "name releases of the file"),
        ([original], "given twice"),
        ([other], "no release has any of the quasi-identifiers"),
        ([empty], "e.parquet has no records"),
        ([tmp_path / "nope.parquet"], "does not exist"),
    ):
        with pytest.raises(InputError, match=says):
            qifsql.compare(original, sanitised, qids="age")


CHANGED: list[tuple[dict[str, Any], str]] = [
    ({}, "nothing is asked for"),
    ({"change": "age"}, "is not a change; write drop=NAME"),
    ({"change": "agee:5"}, '"agee", which is not a quasi-identifier; did you mean "age"'),
    ({"change": "drop=s"}, '"s", which is not a quasi-identifier'),
    ({"change": "age:0"}, "write a width"),
    ({"change": "age:month"}, "write a width"),
    ({"change": "zip:@1"}, "needs the hierarchy"),
    ({"change": "top(zip)=5"}, "needs a column of numbers, dates or times"),
    ({"change": "top(age)=old"}, "does not fit the type BIGINT"),
    ({"change": "top(age)=1.5"}, "does not fit the type BIGINT"),
    ({"change": "age=age + t"}, '"t" is not in what a change of "age" may read'),
    ({"change": "age=random()"}, "random|same value"),
    ({"change": "age=[age]"}, "nested"),
    ({"change": "age=age +"}, "is not a SQL expression"),
    ({"change": "sample=0"}, "above 0 and at most 1"),
    ({"change": "sample=2"}, "above 0 and at most 1"),
    ({"change": "sample=some"}, "is not a share"),
    ({"change": "sample=0.000001"}, "keeps no record"),
    ({"until": "crs"}, "is not a bound"),
    ({"until": "crs<=5"}, "above 1, but 5 % is 0.05"),
    ({"until": "crs<=x"}, "is not a number"),
    ({"until": "crs<=nan"}, "must be a number from 0"),
    ({"until": "crs.worst<=0.5"}, 'no measure "worst" for crs; did you mean "worst_case"'),
    ({"until": "cas(u)<=0.5"}, '"u" is not a secret here'),
    ({"until": "crs(s)<=0.5"}, "about no secret"),
    ({"until": "k.size>=5"}, "k has no measures"),
    ({"until": "l>=2", "secret": ()}, "is about a secret"),
    ({"until": "k>=2", "change": "sample=0.5"}, "a search is over coarser forms"),
    ({"until": "k>=2", "change": ["drop=age", "age:5"]}, "name the finest first"),
    ({"hierarchies": {"zap": "x.csv"}, "change": "age:5"}, '"zap" is not a quasi-identifier'),
    ({"policy": "nope.toml"}, "nope.toml"),
    ({"qids": (), "until": "k>=2"}, "no quasi-identifiers"),
    ({"where": "t > 9", "until": "k>=2"}, "no records"),
    ({"change": "zip=zip::INTEGER // (t - 1)"}, '"t" is not in'),
    ({"change": "zip=(zip || 'x')::INTEGER"}, "does not fit an expression"),
]


@pytest.mark.parametrize(("asked", "says"), CHANGED)
def test_what_what_if_refuses(tmp_path: Path, asked: dict[str, Any], says: str) -> None:
    original = made(tmp_path, "o", ORIGINAL)
    with pytest.raises(InputError, match=says) as caught:
        qifsql.compare(original, **({"qids": ["age", "zip"], "secret": "s"} | asked))
    assert not any(cell in str(caught.value) for cell in CELLS)
    assert "\n" not in str(caught.value)


def test_a_hierarchy_must_have_every_value_and_its_level(tmp_path: Path) -> None:
    original = made(tmp_path, "o", ORIGINAL)
    tree = tmp_path / "h.csv"
    asked: dict[str, Any] = {"qids": "zip", "hierarchies": {"zip": tree}}
    tree.write_text("13012;1;*\n13053;1;*\n")
    with pytest.raises(InputError, match="lacks 1 of its values"):
        qifsql.compare(original, change="zip:@1", **asked)
    tree.write_text("13012;1;*\n13053;1;*\n02139;2;*\n")
    with pytest.raises(InputError, match="is of no level"):
        qifsql.compare(original, change="zip:@3", **asked)
    with pytest.raises(InputError, match="must be its first"):
        qifsql.compare(original, change=["zip:2", "zip:@1"], **asked)
    assert qifsql.compare(original, change="zip:@1", **asked).frame["blocks"].to_list() == [3, 2]


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_names_with_signs_of_changes_are_names(tmp_path: Path) -> None:
    names = ["a=b", "a", "drop", "x:5", "top(a)", "sample"]
    made(tmp_path, "o", {name: [n, n + 9, n + 11] for n, name in enumerate(names)})
    changes = ["a=b:100", "a:100", "drop:100", "x:5:100", "top(a):100", "sample:100", "drop=drop"]
    result = qifsql.compare(tmp_path / "o.parquet", qids=names, change=changes)
    assert result.frame["blocks"].to_list() == [3] * 8 + [1]
    both = qifsql.compare(tmp_path / "o.parquet", qids=["a=b"], change=["a=b:10", "drop=a=b"])
    assert both.frame["blocks"].to_list() == [3, 2, 1, 1]


def test_a_file_is_not_compared_with_itself(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a\n1\n2\n", "utf-8")
    done = run("compare", file, file, "-q", "a")
    assert done.code == 2
    assert "a.csv is given twice; compare it with another file" in done.err
