"""Releases and changes of records of people: the numbers count people, in both readings."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.counting.risks import SUCCESS
from qifsql.errors import InputError
from qifsql.reference import people_with_records as reference

Row = dict[str, Any]
SCHEMA = {"p": pl.String, "a": pl.Int64, "b": pl.Int64, "s": pl.String}


@st.composite
def visits(draw: st.DrawFn) -> list[Row]:
    """The records of people who have one to six of them; the first record names no person."""
    record = st.tuples(st.integers(0, 3), st.integers(0, 1), st.sampled_from(["x", "y", None]))
    people = draw(st.lists(st.lists(record, min_size=1, max_size=6), min_size=1, max_size=5))
    return [
        dict(zip("pabs", (None if n == 0 else f"p{n}", *values), strict=True))
        for n, records in enumerate(people)
        for values in (records[:1] if n == 0 else records)
    ]


def risk(rows: Sequence[Row], known: str) -> Row:
    """The numbers of a release by the definition of an attack on people."""
    found: Row = {}
    for model, secret in (("crs", None), ("cas", "s")):
        attacked = reference.attack(rows, "p", ["a", "b"], secret, known_records=known)
        found |= {f"{model}_{name}": float(attacked[name]) for name in SUCCESS}
        found |= {n: attacked[n] for n in ("people", "records", "blocks", "singled_out")}
    asked = (rows, "p", ["a", "b"], "s", known)
    blocks, _ = reference.blocks_of_people(*asked)
    of_reported, _ = reference.blocks_of_people(*asked, reported=True)
    found |= {"k": min(sum(b.values()) for b in blocks)}
    found |= {"l": min(map(len, [*blocks, *of_reported]))}
    return found | {"average_class_size": sum(sum(b.values()) for b in blocks) / len(blocks)}


@settings(max_examples=examples(12))
@given(visits())
def test_a_release_and_a_change_are_worth_what_an_attack_on_people_finds(rows: list[Row]) -> None:
    frame = pl.DataFrame(rows, schema=SCHEMA)
    coarser = [row | {"a": row["a"] // 2 * 2} for row in rows]
    about: dict[str, Any] = {"qids": "a,b", "secret": "s", "person": "p"}
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "r.parquet"
        pl.DataFrame(coarser, schema=SCHEMA).write_parquet(release)
        compared = qifsql.compare(frame, release, **about, plain="a,b")
        released = compared.frame.filter(view="cells").to_dicts()
    changed = qifsql.compare(frame, **about, change="a:2").rows()
    for found in (released, changed):
        assert [row["known_records"] for row in found] == ["all", "one"] * 2
        for row, records in zip(found, [rows, rows, coarser, coarser], strict=True):
            expected = risk(records, row["known_records"])
            assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-12)


VISITS = pl.DataFrame(
    {
        "p": ["1", "1", "2", "2", "3", "3"],
        "a": [10, 20, 10, 20, 20, 10],
        "s": ["x", "y", "x", "x", "y", "y"],
    }
)


def test_a_bound_holds_in_both_readings_unless_a_policy_names_one(tmp_path: Path) -> None:
    """Of p2's two records each is like one of p1, and both together are like nobody's."""
    frame = VISITS.with_columns(a=pl.Series([10, 20, 20, 20, 20, 10]))
    about: dict[str, Any] = {"qids": "a", "person": "p"}
    for bound, met in (("k>=1", True), ("k>=2", False)):
        result = qifsql.compare(frame, **about, until=bound, change="a:7")
        assert bool(result) == met
    policy = tmp_path / "policy.toml"
    text = '[adversary]\nqids = "a"\nperson = "p"\n{}'
    text += '[[rule]]\nmodel = "crs"\nmeasure = "k"\nat_least = 2\n'
    for reading, met in (("", False), ('known_records = "one"\n', True)):
        policy.write_text(text.format(reading))
        result = qifsql.compare(frame, policy=policy, change="a:7")
        assert bool(result) == met


@pytest.mark.slow(because="6 s; a release is worth what an attack on people finds")
def test_both_readings_are_told_apart(tmp_path: Path) -> None:
    VISITS.write_csv(tmp_path / "v.csv")
    VISITS.with_columns(a=pl.lit(10)).write_csv(tmp_path / "r.csv")
    for words in ([tmp_path / "r.csv"], ["-c", "a:100"]):
        done = run("compare", tmp_path / "v.csv", *words, "-q", "a", "-s", "s", "--person", "p")
        assert done.code == 0
        table = run(
            *("compare", tmp_path / "v.csv", *words, "-q", "a", "-s", "s", "--person", "p"),
            *("--format", "table"),
        )
        assert "Re-identification (CRS); all records of a person are known" in table.out
        assert "Inference of s (CAS); one record of a person is known" in table.out
        assert "people" in table.out
        told = run(
            *("compare", tmp_path / "v.csv", *words, "-q", "a", "--person", "p", "-f", "json")
        )
        for text in ('"unit": "people"', '"people": 3', '"records": 6', '"known_records": "one"'):
            assert text in told.out


@pytest.mark.parametrize(
    ("release", "asked", "says"),
    [
        (VISITS.drop("p"), {}, '"p" is not in .*; with person each file says whose record it is'),
        (VISITS, {"person": "q"}, '"q" is not in'),
        (None, {"change": "sample=0.5"}, "a sample draws records"),
        (None, {"refines": "a"}, "a test of refinement does not take person"),
    ],
)
def test_what_is_refused_of_people(
    release: pl.DataFrame | None, asked: dict[str, Any], says: str, tmp_path: Path
) -> None:
    releases = []
    if release is not None:
        releases = [tmp_path / "r.parquet"]
        release.write_parquet(releases[0])
    with pytest.raises(InputError, match=says):
        qifsql.compare(VISITS, releases, **({"qids": "a", "person": "p"} | asked))
