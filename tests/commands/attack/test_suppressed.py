"""Suppressed records, each of which is one of anything, in all commands that read records."""

import itertools
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.reference import people_with_records, sample_uniques, success
from qifsql.reference.microdata import blocks

QIDS = ("a", "b")
STARS = ("*",) * len(QIDS)
CELLS = st.sampled_from((None, "*", "x", "y"))
ROWS = st.lists(
    st.fixed_dictionaries({"a": CELLS, "b": CELLS, "s": st.sampled_from((None, 1, 2))}),
    min_size=1,
    max_size=9,
)
TYPES = pa.schema([("a", pa.string()), ("b", pa.string()), ("s", pa.int64()), ("w", pa.int64())])
SAFE = ("posterior_probabilistic", "blocks", "records")


def frame(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, TYPES)


def as_values(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with another word for ``*``."""
    return [{n: "!" if v == "*" else v for n, v in row.items()} for row in rows]


@settings(max_examples=examples(30), deadline=None)
@given(ROWS)
def test_suppressed_records_are_in_no_block_of_others(rows: list[dict[str, Any]]) -> None:
    """Attacks equal the definition, and no success is smaller than with ``*`` as a value."""
    hidden = sum((row["a"], row["b"]) == STARS for row in rows)
    results, plain = (
        qifsql.attack("crs,cas", frame(some), qids=QIDS, secret="s", histogram=True)
        for some in (rows, as_values(rows))
    )
    for row, before, secret in zip(results.rows(), plain.rows(), (None, "s"), strict=True):
        expected = success.attack(rows, QIDS, secret, suppressed=[STARS])
        for name, value in expected.items():
            if isinstance(value, Fraction | int):
                assert row[name] == pytest.approx(float(value), rel=1e-12), name
        assert {n: row[n] for n in SAFE} == {n: before[n] for n in SAFE}
        assert row["posterior_probabilistic"] >= row["prior_probabilistic"]
    assert results.details["histogram"]["individuals"].sum() == 2 * len(rows)
    assert results.spec.get("suppressed_records", 0) == hidden
    assert any("suppressed record" in note for note in results.notes) == bool(hidden)


@settings(max_examples=examples(30), deadline=None)
@given(ROWS, st.data())
def test_weights_gains_and_groups_count_suppressed_people(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    weighed = [row | {"w": w} for row, w in zip(rows, weights, strict=True)]
    result = qifsql.attack("crs,cas", frame(weighed), qids=QIDS, secret="s", weight="w", by="s")
    for row, secret in zip(result.rows(), (None, "s"), strict=True):
        expected = success.attack(rows, QIDS, secret, weights, suppressed=[STARS])
        for name in ("singled_out", "posterior_deterministic", "posterior_probabilistic"):
            assert row[name] == pytest.approx(float(expected[name]), rel=1e-12)
        assert row["worst_case"] == pytest.approx(float(expected["worst_case"]), rel=1e-12)
    groups = result.details["groups"]
    assert groups["individuals"].sum() == 2 * len(rows)
    tried = qifsql.attack("cas", frame(rows), qids=QIDS, secret="s", gain="tries:1").rows()[0]
    plain = qifsql.attack("cas", frame(rows), qids=QIDS, secret="s").rows()[0]
    assert tried["posterior_probabilistic"] == plain["posterior_probabilistic"]
    assert tried["individuals_certain"] == plain["individuals_certain"]


@settings(max_examples=examples(20), deadline=None)
@example([{"a": "*", "b": "x", "s": 1}, {"a": "x", "b": "x", "s": 2}, {"a": "x", "b": "*", "s": 2}])
@given(ROWS)
def test_each_subset_of_a_sweep_has_its_own_suppressed_records(rows: list[dict[str, Any]]) -> None:
    """All subsets are counted in one pass, and a search finds the borders of the whole sweep."""
    asked: dict[str, Any] = {"qids": QIDS, "secret": "s", "threshold": 0.5}
    swept = qifsql.sweep(frame(rows), **asked, histogram=True)
    searched = qifsql.sweep(frame(rows), **asked, search=True)
    columns = ["model", "measure", "border", "subset", "posterior"]
    borders = (r.details["borders"].select(columns).sort(columns) for r in (swept, searched))
    assert next(borders).equals(next(borders))
    assert swept.frame.height == 6
    for row in swept.rows():
        stars = ("*",) * len(row["qids"])
        expected = success.attack(rows, row["qids"], row["secret"], suppressed=[stars])
        for name in ("singled_out", "blocks", "records", "individuals_certain"):
            assert row[name] == expected[name]
        assert row["worst_case"] == pytest.approx(float(expected["worst_case"]), rel=1e-12)
        before, after = (blocks(rows, names, row["secret"]) for names in ((), row["qids"]))
        sizes = [kind.size for kind in success.kinds_of(before, after, [stars])]
        assert row["k"] == min(sizes)
        hidden = sum(all(record[q] == "*" for q in row["qids"]) for record in rows)
        assert row.get("suppressed", 0) == hidden
    assert swept.details["histogram"]["individuals"].sum() == 6 * len(rows)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 41 records in eight blocks of five, and one that is unlike all others."""
    file = tmp_path_factory.mktemp("original") / "original.csv"
    blocks = itertools.product((20, 30), "fm", "AB")
    lines = [f"{age},{sex},{town}" for age, sex, town in blocks for _ in range(5)]
    file.write_text("\n".join(["age,sex,town", *lines, "97,f,C"]) + "\n")
    return file


@pytest.fixture(scope="module")
def release(original: Path) -> Path:
    """Return a release with k = 3 and one suppressed record of 41."""
    out = original.with_name("release.csv")
    wanted = {"method": "lattice", "k": 3, "suppress": 0.1}
    qifsql.anonymise(original, out, qids="age,sex,town", **wanted)
    return out


def test_all_commands_read_the_suppressed_record_alike(original: Path, release: Path) -> None:
    known: dict[str, Any] = {"qids": "age,sex,town"}
    results = {
        "attack": qifsql.attack("crs", release, **known),
        "levels": qifsql.levels(release, **known),
        "check": qifsql.check(release, preset="k5", **known),
        "suda": qifsql.suda(release, **known),
        "sweep": qifsql.sweep(release, **known),
        "inspect": qifsql.inspect(release, **known),
        "compare": qifsql.compare(original, release, **known),
    }
    for name, result in results.items():
        assert any("may be anybody's" in note for note in result.notes), name
    assert results["attack"].rows()[0]["singled_out"] == 0
    assert results["levels"].rows()[0]["value"] == 5
    assert results["check"].met
    measures = dict(results["suda"].frame.select("measure", "value").rows())
    assert (measures["records"], measures["msus"], measures["uniques"]) == (41, 0, 0)
    assert results["sweep"].frame["singled_out"].sum() == 0
    assert results["inspect"].frame["size"].to_list() == [5] * 8
    *_, compared, compatible = results["compare"].rows()
    assert (compared["k"], compared["singled_out"], compared["suppressed"]) == (5, 0, 1)
    # Who knows raw values finds that the suppressed record alone may be of one person.
    assert (compatible["view"], compatible["k"], compatible["singled_out"]) == ("compatible", 1, 1)


@pytest.mark.parametrize("option", [{"null": "match-any"}, {"knows": "town:missing=0.5"}])
def test_what_takes_a_star_for_a_value_says_so(release: Path, option: dict[str, str]) -> None:
    result = qifsql.attack("crs", release, qids="age,sex,town", **option)
    assert any("* is a value here" in note for note in result.notes)


def test_every_record_is_told_what_its_block_reveals(release: Path, tmp_path: Path) -> None:
    out = tmp_path / "records.csv"
    qifsql.inspect(release, show="records", out=out, qids="age,sex,town", secret=())
    lines = out.read_text().splitlines()
    assert sum(",41,false," in line for line in lines) == 1
    assert sum(",5,false," in line for line in lines) == 40


def test_a_target_that_no_record_fits_has_the_suppressed_one(release: Path) -> None:
    alone = {"age": "97", "sex": "f", "town": "C"}
    row = qifsql.attack("irs", release, qids="age,sex,town", target=alone).rows()[0]
    assert (row["matches"], row["singled_out"]) == (1, 1)
    common = {"age": "20", "sex": "f", "town": "A"}
    row = qifsql.attack("irs", release, qids="age,sex,town", target=common).rows()[0]
    assert row["matches"] == 5


def test_missing_cells_are_suppressed_where_the_manifest_says_so(tmp_path: Path) -> None:
    """A number that qifsql suppresses in Parquet is missing."""
    rows = [{"n": n, "t": "x"} for n in (1, 1, 2, 2, 3)]
    qifsql.anonymise(
        pa.Table.from_pylist(rows),
        tmp_path / "release.parquet",
        qids="n,t",
        method="lattice",
        k=2,
        suppress=0.2,
        change=["n:100", "drop=t"],
        minimise="penalty",
        cells="interval",
    )
    read = qifsql.attack("crs", tmp_path / "release.parquet", qids="n,t")
    moved = tmp_path / "moved.parquet"
    shutil.copy(tmp_path / "release.parquet", moved)
    if read.spec.get("suppressed_records"):
        assert read.rows()[0]["singled_out"] == 0
        assert "suppressed_records" not in qifsql.attack("crs", moved, qids="n").spec


def test_verify_counts_suppressed_records_by_the_definition(release: Path) -> None:
    known = {"qids": "age,sex", "secret": "town", "histogram": True}
    checked = qifsql.verify(qifsql.attack("crs,cas", release, **known, measures="all"))
    assert checked.met
    assert set(checked.frame["way"].drop_nulls()) >= {"SQLite"}
    assert qifsql.verify(qifsql.sweep(release, qids="age,sex", secret="town")).met


SUPPRESSED_ROWS = st.lists(
    st.tuples(st.sampled_from("xy*"), st.sampled_from(["p", "q", None])), min_size=1, max_size=7
)


@pytest.mark.slow(because="12 s; drawn people of other tests have one record, too")
@settings(max_examples=examples(25))
@example(rows=[("x", None), ("*", None)])
@example(rows=[("x", "p"), ("x", None), ("*", "q"), ("y", None)])
@given(rows=SUPPRESSED_ROWS)
def test_people_with_one_record_each_are_records(rows: list[tuple[str, str | None]]) -> None:
    """Also those with suppressed records, and those who miss the secret."""
    people = pa.table(
        {"person": [f"n{i}" for i in range(len(rows))], "a": [a for a, _ in rows]}
        | {"s": pa.array([s for _, s in rows], pa.string())}
    )
    asked: dict[str, Any] = {"qids": "a", "secret": "s", "measures": "anonymity"}
    records = {r["secret"]: r for r in qifsql.attack("crs,cas", people, **asked).rows()}
    of_people = qifsql.attack("crs,cas", people, person="person", **asked).rows()
    assert [r["known_records"] for r in of_people] == ["all", "one"] * 2
    for row in of_people:
        for name, value in row.items():
            unknown = row["known_records"] == "one" and value is None
            if name not in ("seconds", "people", "known_records") and not unknown:
                assert value == pytest.approx(records[row["secret"]][name]), name
    level, level_of_people = (
        next(
            row["value"]
            for row in qifsql.levels(people, qids="a", secret="s", **known).rows()
            if row["measure"] == "l_distinct"
        )
        for known in ({}, {"person": "person"})
    )
    assert level == level_of_people


@settings(max_examples=examples(25), deadline=None)
@example(rows=[(0, "*", "p"), (0, "*", "p"), (1, "*", "p"), (2, "x", None)])
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("xy*"), st.sampled_from(["p", "q", None])),
        min_size=1,
        max_size=8,
    )
)
def test_people_with_suppressed_records_are_those_of_the_definition(
    rows: list[tuple[int, str, str | None]],
) -> None:
    """Of all records known and of one; people differ in how many suppressed records they have."""
    table = pa.table(
        {"person": [i for i, _, _ in rows], "a": [a for _, a, _ in rows]}
        | {"s": pa.array([s for _, _, s in rows], pa.string())}
    )
    records = table.to_pylist()
    asked: dict[str, Any] = {"qids": "a", "secret": "s", "person": "person"}
    result = qifsql.attack("crs,cas", table, **asked, measures="anonymity")
    for row in result.rows():
        known: dict[str, Any] = {"known_records": row["known_records"], "suppressed": [("*",)]}
        of = (records, "person", ["a"], row["secret"])
        expected = people_with_records.attack(*of, **known)
        if row["secret"] is not None and "reported" in row:
            expected |= people_with_records.beside_reported(*of, **known) | {"l": row["l"]}
        for name, value in expected.items():
            if name in row and row[name] is not None:
                assert row[name] == pytest.approx(float(value), rel=1e-12), name
        if row["known_records"] == "all":  # of one record, those with many records weigh more
            assert row["posterior_probabilistic"] >= row["prior_probabilistic"] - 1e-12


@settings(max_examples=examples(20), deadline=None)
@example(rows=[{"a": "*", "b": "*", "s": 1}, {"a": "x", "b": "y", "s": 2}], person=False)
@given(rows=ROWS, person=st.booleans())
def test_changed_releases_are_attacked_as_if_they_were_written(
    rows: list[dict[str, Any]], person: bool
) -> None:
    """``*`` stays ``*`` in a change, and a dropped column may leave a record nothing else."""
    if person:
        rows = [row | {"w": i // 2} for i, row in enumerate(rows)]
    asked = {"person": "w"} if person else {}
    changes = {"a=left(a, 1)": QIDS, "drop=b": ("a",)}
    compared = qifsql.compare(frame(rows), qids=QIDS, secret="s", change=list(changes), **asked)
    most = 0
    for alone, qids in changes.items():
        attacked = qifsql.attack("crs,cas", frame(rows), qids=qids, secret="s", **asked)
        most = max(most, attacked.spec.get("suppressed_records", 0))
        chosen = [r for r in compared.rows() if r["changes"] == [alone]]
        for row in attacked.rows():
            (same,) = (r for r in chosen if r.get("known_records") == row.get("known_records"))
            model = row["model"].lower()
            for name in ("posterior_deterministic", "posterior_probabilistic"):
                assert same[f"{model}_{name}"] == row[name]
            assert same["blocks"] == row["blocks"]
            assert model == "cas" or same["singled_out"] == row["singled_out"]
    assert any("may be anybody's" in note for note in compared.notes) == bool(most)


@settings(max_examples=examples(25), deadline=None)
@example(rows=[(0, "*", "*"), (0, "*", "*"), (1, "*", "*"), (2, "x", "y")])
@example(rows=[(0, "*", "y"), (0, "x", "y"), (1, "x", "y")])
@example(rows=[(0, "*", "y")])
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("xy*"), st.sampled_from("xy*")),
        min_size=1,
        max_size=8,
    )
)
def test_minimal_uniques_of_people_are_those_of_their_other_records(
    rows: list[tuple[int, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """People with suppressed records alone are counted, and no set that is * singles them out."""
    names = ("who", *QIDS)
    records = [dict(zip(names, row, strict=True)) for row in rows]
    shown = [r for r in records if (r["a"], r["b"]) != STARS]
    out = tmp_path_factory.mktemp("suda") / "records.csv"
    table = pa.Table.from_pylist(records)
    result = qifsql.suda(table, qids=QIDS, person="who", records=out)
    values = dict(result.frame.select("measure", "value").rows())
    assert values["people"] == len({r["who"] for r in records})
    assert values["records"] == len(records) == len(out.read_text().splitlines()) - 1
    msus = sample_uniques.minimal_uniques_of_people(records, "who", QIDS, 2, suppressed="*")
    assert values["msus"] == sum(map(len, msus))
    assert values["people_with_msu"] == sum(map(bool, msus))
    told = sum("may be anybody's" in note for note in result.notes)
    in_some = len({r["who"] for r in records}) > 1 and any("*" in (r["a"], r["b"]) for r in records)
    assert told == (in_some or len(shown) < len(records))
    whole = qifsql.suda(table, qids=QIDS, values=True)
    of_records = sample_uniques.minimal_uniques(records, QIDS, 2, suppressed="*")
    assert dict(whole.frame.select("measure", "value").rows())["msus"] == sum(map(len, of_records))
