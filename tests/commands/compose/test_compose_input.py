"""Bad input of compose: clear errors, exit code 2, no value of a cell, no half file."""

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from terminal import run

import qifsql
from qifsql.errors import ColumnError, InputError

PEOPLE = {"age": [28, 35, None], "zip": ["13012", "13053", "02139"], "id": [1, 2, 3]}
RELEASE = {"age": ["[20,30]", "30-39", "*"], "zip": ["130**", "130**", "*"], "s": ["a", "b", "c"]}


def made(folder: Path, name: str, columns: dict[str, Any]) -> Path:
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def compose(folder: Path, release: dict[str, Any] | None = None, **asked: Any) -> Any:
    people = made(folder, "people", asked.pop("of", PEOPLE))
    releases = [made(folder, "r1", RELEASE), made(folder, "r2", RELEASE | (release or {}))]
    return qifsql.compose(
        releases, **({"people": people, "qids": ["age", "zip"], "secret": "s"} | asked)
    )


def test_what_would_take_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = {"of": PEOPLE | {"age": [50, 60, 70], "id": [1, 2, 3]}, "nearest": True}
    assert compose(tmp_path, **people).details["releases"]["by_nearest"].to_list() == [3, 3]
    monkeypatch.setattr("qifsql.counting.locate.MOST_COMPARED", 5)
    with pytest.raises(InputError, match=r"3 different values.*2 classes.*leave nearest=... out"):
        compose(tmp_path, **people)
    monkeypatch.setattr("qifsql.counting.spans.MOST_DISTANCES", 5)
    with pytest.raises(ColumnError, match=r'"age" of r1.parquet has 9 pairs of cells'):
        compose(tmp_path, **people)


def test_it_works_before_anything_is_broken(tmp_path: Path) -> None:
    result = compose(tmp_path)
    assert result.frame["located"].to_list() == [3]
    assert result.details["releases"]["only_suppressed"].to_list() == [1, 1]
    assert result.details["releases"]["suppressed"].to_list() == [1, 1]
    assert "1 suppressed record: may be anybody's" in result.notes[0]
    ignored = compose(tmp_path, suppressed="out")
    assert ignored.frame["located"].to_list() == [2]
    assert ignored.details["releases"]["in_no_class"].to_list() == [1, 1]


CASES: list[tuple[dict[str, Any] | None, dict[str, Any], str]] = [
    ({"age": ["[20,30", "3x-39", "*"]}, {}, "2 of 3 different cells that cannot be read, by form"),
    ({"age": ["young", "30-39", "*"]}, {}, "1 plain value.*hierarchies={COLUMN: FILE}"),
    ({"zip": ["[1,2]", "130**", "*"]}, {}, "interval.*values of the people are text.*plain=..."),
    (
        {"age": ["28", "35", "36"]},
        {},
        '"age" of r2.parquet holds text, but that of people.parquet is BIGINT',
    ),
    ({"zip": [13012, 13053, 2139]}, {}, '"zip" of r2.parquet holds numbers.*is VARCHAR'),
    ({"age": [[1.5], ["x"], None]}, {}, "lists of text|Could not"),
    ({"age": [{"a": 1}] * 3}, {}, "nested"),
    (None, {"of": PEOPLE | {"age": ["28", "35", None]}}, "interval.*people are text"),
    (None, {"of": PEOPLE | {"zip": [13012, 13053, 2139], "age": [[1]] * 3}}, "is nested"),
    (None, {"strict": True, "nearest": True}, "whom strict refuses"),
    (None, {"qids": ["ages"]}, '"ages" is not in people.parquet; did you mean "age"'),
    (None, {"qids": ["id"]}, "none of the quasi-identifiers"),
    (None, {"qids": ["age", "id"]}, 'no release has a column "id"'),
    (None, {"qids": ["age", "2:agee=zip"]}, 'no quasi-identifier of the people is called "agee"'),
    (None, {"qids": ["age", "3:age=zip"]}, "tag 3 is beyond"),
    (None, {"qids": []}, "no quasi-identifiers"),
    (None, {"secret": "t"}, '"t" is not in r1.parquet'),
    (None, {"secret": []}, "no secret is named"),
    (None, {"secret": ["s", "age"]}, "one secret at a time"),
    (None, {"secret": "zip"}, "it is not a secret"),
    (
        {"s": [1, 2, 3]},
        {},
        'secret "s" of r2.parquet is BIGINT, but that of the first release is VARCHAR',
    ),
    ({"s": [[1], [2], [3]]}, {}, "secret .* is nested"),
    (None, {"where": "age > 100"}, "the overlap is empty"),
    (None, {"key": "id"}, '"id" is not in r1.parquet'),
    (None, {"key": ["id", "s", "s"]}, "key .* is VARCHAR in r1.parquet but BIGINT in people"),
    (None, {"key": ["id", "s"]}, "2 keys for people and 2 releases"),
    (
        None,
        {"strict": True, "qids": ["age"]},
        "people.parquet has 1 person in no class of r1.parquet and 0 people in several",
    ),
    (None, {"suppressed": "drop"}, "everyone, out"),
    (None, {"confidence": 0}, "not above 0"),
    (None, {"confidence": ["x"]}, "is not a number"),
    (None, {"truth": "id"}, "truth .* is BIGINT"),
    (None, {"plain": ["nope"]}, '"nope" is not a quasi-identifier'),
    (
        None,
        {"hierarchies": {"zap": "x.csv"}},
        '"zap" is not a quasi-identifier; did you mean "zip"',
    ),
    (None, {"records": "out.json"}, "must end in one of"),
]


@pytest.mark.cases(1)
@pytest.mark.parametrize(("release", "asked", "says"), CASES)
def test_bad_input_is_told(
    tmp_path: Path, release: dict[str, Any] | None, asked: dict[str, Any], says: str
) -> None:
    if asked.get("records"):
        asked = asked | {"records": tmp_path / asked["records"]}
    try:
        before = {p.name for p in tmp_path.iterdir()}
        with pytest.raises(InputError, match=says) as caught:
            compose(tmp_path, release, **asked)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pytest.skip("Arrow cannot hold this")
    for row in (*PEOPLE["zip"], "young", "[20,30", "3x-39"):
        assert row not in str(caught.value)
    assert {p.name for p in tmp_path.iterdir()} <= before | {
        "people.parquet",
        "r1.parquet",
        "r2.parquet",
    }


def test_leaves_that_a_hierarchy_lacks_are_counted(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("13012;130;*\n13053;130;*\n")
    with pytest.raises(InputError, match="lacks 1 of its values, which 1 people of people"):
        compose(tmp_path, hierarchies={"zip": tmp_path / "h.csv"})


def test_gaps_and_overlaps_are_remarked_with_their_people(tmp_path: Path) -> None:
    gapped = {"age": ["[20,30]", "[25,32]", "[40,50]"], "zip": ["130**", "130**", "*"]}
    result = compose(tmp_path, gapped, qids=["age"])
    assert "2 people in no class: cells have gaps" in result.notes[1]
    assert "1 person in several classes, which overlap" in result.notes[1]
    assert result.details["releases"].row(1, named=True)["in_several"] == 1
    everything = {"age": ["*"] * 3, "zip": ["*"] * 3}  # no class is left, and so no nearest one
    result = compose(tmp_path, everything, nearest=True, suppressed="out")
    assert "1 person in no class is located in the nearest one" in result.notes[0]
    assert "3 people in no class: it has none" in result.notes[1]


def test_equally_near_centroids_are_both_taken(tmp_path: Path) -> None:
    """3 is 1.5 from both, which are a third of steps of 2^-20 of the range, 5.5, apart."""
    people = made(tmp_path, "people", {"age": [3, 7]})
    release = made(tmp_path, "r1", {"age": [1.5, 4.5], "s": ["a", "b"]})
    found = qifsql.compose([release], people=people, qids="age", secret="s", nearest=True)
    assert found.details["releases"].row(0, named=True)["in_several"] == 1


def test_contradictions_are_apart(tmp_path: Path) -> None:
    result = compose(tmp_path, {"s": ["x", "y", "z"]}, suppressed="out")
    row = result.frame.row(0, named=True)
    assert (row["located"], row["contradictions"], row["perfect_breach"]) == (2, 2, 0)
    assert row["effective_posterior"] is row["posterior_success"] is None
    assert result.details["curve"]["people"].sum() == 0


def test_a_key_keeps_those_who_are_in_every_release(tmp_path: Path) -> None:
    people = made(tmp_path, "people", PEOPLE)
    keyed = [
        made(tmp_path, f"k{i}", RELEASE | {"id": ids})
        for i, ids in enumerate(([1, 2, 9], [2, 3, None]))
    ]
    out = tmp_path / "out.csv"
    result = qifsql.compose(
        keyed, people=people, qids=["age", "zip"], secret="s", key="id", records=out
    )
    assert result.frame["people"].to_list() == [1]
    assert pl.read_csv(out)["id"].to_list() == [2]
    with pytest.raises(InputError, match="the overlap is empty: nobody"):
        qifsql.compose(keyed, people=people, qids=["age"], secret="s", key="id", where="id = 1")


def test_the_same_release_twice_is_refused(tmp_path: Path) -> None:
    people, release = made(tmp_path, "people", PEOPLE), made(tmp_path, "r1", RELEASE)
    with pytest.raises(InputError, match="given twice"):
        qifsql.compose([release, release], people=people, qids="age", secret="s")
    with pytest.raises(InputError, match="no release"):
        qifsql.compose([], people=people, qids="age", secret="s")


def test_hostile_names_and_values_stay_what_they_are(tmp_path: Path) -> None:
    name, secret = 'a"; drop table x --', "<script>\n=cmd()"
    people = made(tmp_path, "people", {name: ["x'y", '{"', "\U0001f642"]})
    cells = {name: ["x'y", '{"{"""}', "\U0001f642"], secret: ["=1", "<b>", "'"]}
    release = made(tmp_path, "r", cells)
    done = run(
        "compose",
        release,
        "--people",
        people,
        "-q",
        f'"{name.replace(chr(34), chr(34) * 2)}"',
        "-s",
        secret,
        "-f",
        "table",
    )
    assert done.code == 0, done.err
    assert "For 3 of 3 people (100.00 %) a single value is left" in " ".join(done.out.split())


def test_the_command_ends_with_2_and_one_line(tmp_path: Path) -> None:
    people, release = made(tmp_path, "people", PEOPLE), made(tmp_path, "r", RELEASE)
    asked = ["compose", release, "--people", people, "-q", "age,zip", "-s", "s"]
    for more in (["--hierarchy", "age"], ["--hierarchy", "age=none.csv"], ["--key", "x"]):
        done = run(*asked, *more)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1


def test_the_people_and_the_result_are_two_files(tmp_path: Path) -> None:
    out = tmp_path / "x.csv"
    asked = ("--people", "p.csv", "-q", "a", "-s", "b", "--records", out, "-o", out)
    done = run("compose", "r.csv", *asked)
    assert (done.code, out.exists()) == (2, False)
    assert "-o and --records both name" in done.err
