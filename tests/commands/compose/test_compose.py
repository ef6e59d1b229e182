"""The intersection attack against an oracle of sets and fractions, and the examples of sources."""

import dataclasses
import datetime
import json
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import oracle_composition as oracle
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_composition import Begun, Cell, Everything, Interval, Members, Release
from places import HOSPITALS
from terminal import run

import qifsql
from qifsql.commands.compose import compose
from qifsql.counting import locate
from qifsql.reference import microdata

A, B, PEOPLE = (HOSPITALS / f"{name}.csv" for name in ("hospital_a", "hospital_b", "people"))
QIDS = ["zip", "age", "nationality"]

DATES = [datetime.date(2019, 12, 31), datetime.date(2020, 1, 1), datetime.date(2020, 1, 31)]
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int32(), [None, -3, 0, 1, 2, 3, 10, 12, 20, 29]),
    "decimal": (
        pa.decimal128(6, 2),
        [None, *map(Decimal, ("-0.50", "0.00", "0.25", "1.00", "2.50"))],
    ),
    "floating": (pa.float64(), [None, float("nan"), -1.5, -0.0, 0.0, 0.5, 2.0]),
    "date": (pa.date32(), [None, *DATES, datetime.date(2021, 6, 1)]),
    "text": (
        pa.string(),
        [None, "", "a", "b", "ab", "ac", "a,b", '{"', "*", "20-29", "<b", "[a", "é", "b ", "o\nn"],
    ),
}
BOUNDS: dict[str, list[Any]] = {
    "whole": [-5, 0, 1, 2, Decimal("2.5"), 3, 12, 30],
    "decimal": [Decimal("-1"), Decimal("0.25"), Decimal("0.255"), 1, 3],
    "floating": [-2, -0.5, 0, 0.5, 2, 3],
    "date": [*DATES, datetime.date(2020, 1, 15)],
}
SECRETS: list[Any] = ["flu", "AIDS", "cancer", None, ""]


@dataclass(frozen=True)
class Case:
    """Releases over columns of some kinds, how each writes its cells, and people."""

    kinds: tuple[str, ...]
    releases: tuple[Release, ...]
    forms: tuple[tuple[str, ...], ...]
    people: tuple[tuple[Any, ...], ...]
    truths: tuple[Any, ...]
    ignored: bool
    nearest: bool = False


@st.composite
def intervals(draw: st.DrawFn, kind: str) -> Interval:
    ends = draw(st.lists(st.sampled_from(BOUNDS[kind]), min_size=2, max_size=2, unique=True))
    lower, upper = sorted(ends)
    which = draw(st.sampled_from(["both", "lower", "upper"]))
    missing, below, above = (draw(st.booleans()) for _ in range(3))
    if kind == "whole":  # (2,2.5] has no whole number in it, and that is fine
        pass
    return Interval(
        lower if which != "upper" else None,
        upper if which != "lower" else None,
        below and which != "upper",
        above and which != "lower",
        missing,
    )


def values(kind: str) -> st.SearchStrategy[Any]:
    return st.sampled_from(POOLS[kind][1])


def sets(kind: str) -> st.SearchStrategy[Members]:
    def told(found: list[Any]) -> Members:
        return Members(tuple(dict.fromkeys(map(microdata.value, found))))

    return st.lists(values(kind), min_size=1, max_size=3).map(told)


def cells(kind: str, form: str) -> st.SearchStrategy[Cell]:
    """The cells that a column of a kind can have where they are written in one form."""
    single = values(kind).map(lambda v: Members((microdata.value(v),)))
    if form == "plain":
        return single
    if form == "list":
        return st.one_of(st.just(Everything()), sets(kind))
    if form == "struct":
        closed = st.tuples(
            *[st.sampled_from([v for v in POOLS[kind][1] if microdata.value(v) is not None])] * 2
        )
        made = st.builds(
            lambda ends, missing: Interval(min(ends), max(ends), missing=missing),
            closed,
            st.booleans(),
        )
        return st.one_of(st.just(Everything()), st.just(Members((None,))), made)
    found: list[st.SearchStrategy[Any]] = [st.just(Everything()), sets(kind), single]
    if kind != "text":
        found.append(intervals(kind))
    if kind == "text":
        found += [st.sampled_from([Begun("a", 2), Begun("", 2), Begun("b", 2), Begun("a", 1 + 2)])]
    if kind == "whole":
        found += [st.sampled_from([Begun("1", 2), Begun("2", 2), Begun("-", 2), Begun("", 2)])]
    if kind == "date":
        found += [st.just(Begun("2020-01-", 10))]
    return st.one_of(found)


FORMS = {
    "text": ["text", "list", "plain_text"],
    **{kind: ["text", "list", "struct", "plain"] for kind in BOUNDS},
}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kinds = tuple(draw(st.lists(st.sampled_from(list(POOLS)), min_size=1, max_size=3)))
    releases, forms = [], []
    for _ in range(draw(st.integers(1, 3))):
        columns = draw(
            st.lists(st.sampled_from(range(len(kinds))), min_size=1, max_size=3, unique=True)
        )
        form = [draw(st.sampled_from(FORMS[kinds[i]])) for i in columns]
        row = st.tuples(
            st.tuples(
                *(
                    cells(kinds[i], f.removesuffix("_text"))
                    for i, f in zip(columns, form, strict=True)
                )
            ),
            st.sampled_from(SECRETS),
        )
        rows = draw(st.lists(row, min_size=1, max_size=8))
        releases.append(Release(tuple(columns), tuple(rows)))
        forms.append(tuple(form))
    used = {i for r in releases for i in r.columns}
    kinds_used = tuple(k if i in used else "" for i, k in enumerate(kinds))
    person = st.tuples(*(values(k) for k in kinds))
    people = draw(st.lists(person, min_size=1, max_size=8))
    truths = [draw(st.sampled_from([*SECRETS, "gout"])) for _ in people]
    ignored, nearest = draw(st.booleans()), draw(st.booleans())
    return Case(
        kinds_used,
        tuple(releases),
        tuple(forms),
        tuple(people),
        tuple(truths),
        ignored,
        nearest,
    )


def written(cell: Cell, kind: str, form: str) -> Any:
    """A cell as it stands in Parquet."""
    if form == "text":
        return oracle.written(cell)
    if isinstance(cell, Everything):
        return None
    if form == "struct":
        if isinstance(cell, Members):
            return {"lower": None, "upper": None, "missing": True}
        assert isinstance(cell, Interval)
        return {"lower": cell.lower, "upper": cell.upper, "missing": cell.missing}
    assert isinstance(cell, Members)
    return list(cell.values) if form == "list" else cell.values[0]


def arrow(kind: str, form: str) -> pa.DataType:
    type_ = POOLS[kind][0]
    if form == "text":
        return pa.string()
    if form == "struct":
        return pa.struct([("lower", type_), ("upper", type_), ("missing", pa.bool_())])
    return pa.list_(type_) if form == "list" else type_


def files(case: Case, folder: Path) -> tuple[list[Path], Path]:
    """The releases and the people as Parquet."""
    paths = []
    for n, (release, forms) in enumerate(zip(case.releases, case.forms, strict=True)):
        columns = {}
        for at, (i, form) in enumerate(zip(release.columns, forms, strict=True)):
            kind, own = case.kinds[i], form.removesuffix("_text")
            found = [written(row[0][at], kind, own) for row in release.rows]
            columns[f"q{i}"] = pa.array(found, arrow(kind, own))
        columns["s"] = pa.array([row[1] for row in release.rows], pa.string())
        pq.write_table(pa.table(columns), folder / f"r{n}.parquet")
        paths.append(folder / f"r{n}.parquet")
    people = {
        f"q{i}": pa.array([p[i] for p in case.people], POOLS[kind][0])
        for i, kind in enumerate(case.kinds)
        if kind
    }
    people["truth"] = pa.array(case.truths, pa.string())
    pq.write_table(pa.table(people), folder / "people.parquet")
    return paths, folder / "people.parquet"


def plain_text(case: Case) -> list[str]:
    """Text columns that some release writes as values as they stand."""
    return sorted(
        {
            f"q{i}"
            for release, forms in zip(case.releases, case.forms, strict=True)
            for i, form in zip(release.columns, forms, strict=True)
            if form == "plain_text"
        }
    )


def meaning(case: Case) -> Case:
    """The case where ``plain`` columns mean their text in every release.

    A prefix of text that nobody's text of its length begins with is one of texts of any length.
    """

    def beginning(cell: Cell, column: int) -> Cell:
        if not isinstance(cell, Begun) or case.kinds[column] != "text":
            return cell
        fits = any(oracle.holds(cell, person[column]) for person in case.people)
        return cell if fits else dataclasses.replace(cell, any_length=True)

    plain = plain_text(case)
    releases = []
    for release, forms in zip(case.releases, case.forms, strict=True):
        changed = {
            at
            for at, (i, f) in enumerate(zip(release.columns, forms, strict=True))
            if f"q{i}" in plain and f == "text"
        }
        rows = tuple(
            (
                tuple(
                    Members((oracle.written(c),))
                    if at in changed
                    else beginning(c, release.columns[at])
                    for at, c in enumerate(row)
                ),
                s,
            )
            for row, s in release.rows
        )
        releases.append(Release(release.columns, rows))
    return dataclasses.replace(case, releases=tuple(releases))


def is_clash(case: Case) -> bool:
    """Return whether a text column of single values meets numbers or dates, which is refused."""
    for release, forms in zip(case.releases, case.forms, strict=True):
        for at, (i, form) in enumerate(zip(release.columns, forms, strict=True)):
            told = [oracle.written(row[0][at]) for row in release.rows]
            if form == "text" and case.kinds[i] != "text":
                plain = [t is None or not (set(t) & set("*[](){}<>?") or t == "") for t in told]
                if all(plain):
                    return True
    return False


@given(cases())
@settings(max_examples=examples(12))
def test_every_number_is_that_of_the_oracle(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths, people = files(case, Path(folder))
        out = Path(folder) / "out.parquet"
        asked: dict[str, Any] = {
            "people": people,
            "qids": [f"q{i}" for i, kind in enumerate(case.kinds) if kind],
            "secret": "s",
            "truth": "truth",
            "plain": plain_text(case),
            "suppressed": "out" if case.ignored else "everyone",
            "nearest": case.nearest,
            "progressive": True,
            "records": out,
        }
        if is_clash(case):
            with pytest.raises(qifsql.QifError, match="holds text"):
                qifsql.compose(paths, **asked)
            return
        result = qifsql.compose(paths, **asked)
        rows = pl.read_parquet(out).to_dicts()
    check(meaning(case), result, rows)


def check(case: Case, result: Any, rows: list[dict[str, Any]]) -> None:
    distances = oracle.Distances(case.people, case.kinds) if case.nearest else None
    told = [
        oracle.told(p, case.releases, ignored=case.ignored, distances=distances)
        for p in case.people
    ]
    n = len(case.releases)
    assert result.frame.to_dicts() == [oracle.summary(told, i) for i in range(1, n + 1)]
    for i, row in enumerate(result.details["releases"].to_dicts()):
        expected = oracle.by_release(told, case.releases[i], i, nearest=case.nearest)
        assert row == {"release": f"r{i}.parquet"} | expected
    last = result.details["curve"].filter(pl.col("releases") == n)
    for level, row in enumerate(last.to_dicts(), 1):
        counts = oracle.curve(told, Fraction(level, 20))
        assert (row["people_before"], row["people"], row["people_guessed"]) == counts
    clear = [(t, v) for t, v in zip(told, case.truths, strict=True) if t.located and t.left()]
    truth = result.details["truth"].row(0, named=True)
    assert truth["true_value_left"] == sum(v in t.left() for t, v in clear)
    assert truth["perfect_breach_right"] == sum(t.left() == {v} for t, v in clear)
    assert truth["best_guess_right"] == sum(oracle.guess(t) == v for t, v in clear)
    assert [r["person"] for r in rows] == list(range(1, len(case.people) + 1))
    for found, row in zip(told, rows, strict=True):
        person(found, row)


def person(found: oracle.Told, row: dict[str, Any]) -> None:
    for i, (classes, counts) in enumerate(zip(found.classes, found.counts, strict=True), 1):
        assert row[f"classes_{i}"] == classes
        assert row[f"size_{i}"] == (None if counts is None else sum(counts.values()))
        assert row[f"effective_{i}"] == (None if counts is None else len(counts))
    prior = min(len(c or ()) for c in found.counts) if found.located else None
    left = len(found.left()) if found.located else None
    assert (row["prior"], row["posterior"]) == (prior, left)
    if not left:
        assert [row[name] for name in ("drop", "confidence", "best_guess", "success")] == [None] * 4
        return
    weights = found.weights()
    assert row["drop"] == prior - left
    assert row["confidence"] == 1 / left
    assert row["success"] == max(weights.values()) / sum(weights.values())
    assert row["best_guess"] == oracle.guess(found)


def test_people_of_microaggregation_are_located_by_the_nearest_centroid(tmp_path: Path) -> None:
    """Ganta et al., Definition 6: where it is right is known by a key."""
    rows = [((i * 7919) % 83, "abc"[i % 3], (i * 31) % 5, i) for i in range(70)]
    table = pl.DataFrame(rows, ["age", "job", "s", "id"], orient="row")
    source, release = tmp_path / "source.parquet", tmp_path / "release.parquet"
    table.write_parquet(source)
    mdav = {"method": "mdav", "k": 3, "cells": "centroid", "keep": ["id"]}
    qifsql.anonymise(source, release, qids=["age", "job"], secret="s", **mdav)
    written = pl.read_parquet(release).rows_by_key("id", named=True, unique=True)
    classes = [(written[i]["age"], written[i]["job"]) for *_, i in rows]
    cells = [(Members((age,)), Members((job,))) for age, job in classes]
    told = Release((0, 1), tuple((c, row[2]) for c, row in zip(cells, rows, strict=True)))
    distances = oracle.Distances(rows, ("floating", "text"))
    of_cells = {tuple(map(oracle.written, c)): own for c, own in zip(cells, classes, strict=True)}
    exact = [row[:2] in classes for row in rows]
    found = [{of_cells[c] for c in distances.nearest(row, told)} for row in rows]
    right = [own in near for own, near in zip(classes, found, strict=True)]
    result = qifsql.compose(
        [release], people=source, qids=["age", "job"], secret="s", key="id", nearest=True
    )
    row = result.details["releases"].row(0, named=True)
    assert row["in_no_class"] == 0
    assert 0 < row["by_nearest"] == exact.count(False) < 70
    assert row["in_several"] == sum(len(near) > 1 for near in found)
    assert row["rightly_located"] == sum(right) < 70
    assert row["rightly_nearest"] == sum(r and not e for r, e in zip(right, exact, strict=True))
    assert any("no class are located in the nearest one" in note for note in result.notes)


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
@given(cases())
@settings(max_examples=examples(3))
def test_more_releases_never_enlarge_what_is_left(case: Case) -> None:
    if is_clash(case):
        return
    with tempfile.TemporaryDirectory() as folder:
        paths, people = files(case, Path(folder))
        qids = [f"q{i}" for i, kind in enumerate(case.kinds) if kind]
        left: list[Any] = []
        for n in range(1, len(paths) + 1):
            out = Path(folder) / "out.parquet"
            used = {i for r in case.releases[:n] for i in r.columns}
            qifsql.compose(
                paths[:n],
                people=people,
                qids=[q for q in qids if int(q[1:]) in used],
                secret="s",
                plain=[q for q in plain_text(case) if int(q[1:]) in used],
                records=out,
            )
            left.append(pl.read_parquet(out)["posterior"].to_list())
        for before, after in pairwise(left):
            for a, b in zip(before, after, strict=True):
                assert b is None or (a is not None and b <= a)


# The examples of the sources: Ganta et al., section 1.1; lecture, slides 55 and 56.


def hospitals(*releases: Path, **asked: Any) -> Any:
    given_ = {"people": PEOPLE, "qids": QIDS, "secret": "condition"} | asked
    return qifsql.compose(releases, **given_)


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
def test_alice_matches_four_records_of_one_hospital_and_six_of_the_other(tmp_path: Path) -> None:
    """Ganta et al.: of the values in both lists only AIDS is left."""
    out = tmp_path / "people.parquet"
    result = hospitals(A, B, where="name = 'Alice'", records=out)
    (alice,) = pl.read_parquet(out).to_dicts()
    assert (alice["size_1"], alice["size_2"]) == (4, 6)
    assert (alice["effective_1"], alice["effective_2"]) == (3, 4)
    assert (alice["prior"], alice["posterior"], alice["drop"]) == (3, 1, 2)
    assert (alice["confidence"], alice["best_guess"], alice["success"]) == (1.0, "AIDS", 1.0)
    assert result.frame["perfect_breach"].to_list() == [1]
    assert result.details["releases"]["smallest_class"].to_list() == [4, 6]
    assert result.details["releases"]["drop"].to_list() == [2.0, 3.0]


def test_dave_of_35_has_cancer_by_one_hospital_alone(tmp_path: Path) -> None:
    """Lecture, slides 55 and 56: his class has one value."""
    out = tmp_path / "people.csv"
    result = hospitals(A, where="name = 'Dave'", records=out)
    (dave,) = pl.read_csv(out).to_dicts()
    assert (dave["size_1"], dave["posterior"], dave["best_guess"]) == (4, 1, "Cancer")
    assert result.frame["perfect_breach_before"].to_list() == [1]


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_the_zip_code_may_be_text_or_a_number(tmp_path: Path) -> None:
    text = qifsql.Dataset.open(PEOPLE, all_varchar=True)
    as_text = hospitals(A, B, people=text, qids=["zip", "nationality"])
    as_numbers = hospitals(A, B, qids=["zip", "nationality"])
    assert as_text.frame.equals(as_numbers.frame)


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
def test_other_names_in_a_release_follow_its_tag(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(
        B.read_text().replace("zip,age,nationality,condition", "ZIP5,years,nat,illness")
    )
    qids = [*QIDS, "2:zip=ZIP5", "2:age=years", "2:nationality=nat"]
    renamed = hospitals(A, other, qids=qids, secret=["condition", "2:condition=illness"])
    assert renamed.frame.equals(hospitals(A, B).frame)


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_results_do_not_depend_on_threads_or_the_order_of_rows(tmp_path: Path) -> None:
    head, *lines = B.read_text().splitlines()
    turned = tmp_path / "hospital_b.csv"
    turned.write_text("\n".join([head, *reversed(lines)]) + "\n")
    first = hospitals(A, B, settings=qifsql.Settings(threads=1))
    second = hospitals(A, turned, settings=qifsql.Settings(threads=3))
    assert first.frame.equals(second.frame)
    for name in ("releases", "curve"):
        assert first.details[name].equals(second.details[name])


def test_cutting_finds_what_comparing_all_finds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Many overlapping boxes in two dimensions: cut often, or not at all."""
    n = 1500
    x = pl.Series([i * 7919 % 997 for i in range(n)])
    y = pl.Series([i * 104729 % 499 for i in range(n)])
    frame = pl.DataFrame({"x": x, "y": y, "s": x % 7})
    frame.select("x", "y").write_parquet(tmp_path / "people.parquet")
    for r, (width, height) in enumerate(((40, 25), (13, 70)), 1):
        boxes = frame.select(
            pl.format(
                "[{},{}]", pl.col("x") // width * width, pl.col("x") // width * width + width
            ).alias("x"),
            pl.format(
                "[{},{}]", pl.col("y") // height * height, pl.col("y") // height * height + height
            ).alias("y"),
            "s",
        )
        boxes.write_parquet(tmp_path / f"r{r}.parquet")
    releases = [tmp_path / "r1.parquet", tmp_path / "r2.parquet"]

    def found() -> Any:
        return qifsql.compose(
            releases, people=tmp_path / "people.parquet", qids=["x", "y"], secret="s"
        )

    cut = found()
    monkeypatch.setattr(locate, "MOST_ROUNDS", 0)
    whole = found()
    assert cut.frame.equals(whole.frame)
    assert cut.details["releases"].equals(whole.details["releases"])
    assert cut.details["releases"]["in_several"].sum() > 0


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_hierarchies_of_arx_are_read_and_followed(shared: Path) -> None:
    """ARX's Adult: ages and jobs one level up, countries two; everybody is in exactly one class."""
    folder = shared / "data" / "arx_adult_hierarchies"
    levels = {"age": 1, "education": 1, "native-country": 1, "sex": 0}
    data = pl.read_parquet(shared / "data" / "arx_adult.parquet")
    made = data
    for name, level in levels.items():
        lines = [line.split(";") for line in (folder / f"{name}.csv").read_text().splitlines()]
        told = {line[0]: line[level] for line in lines}
        made = made.with_columns(pl.col(name).cast(pl.String).replace_strict(told))
    with tempfile.TemporaryDirectory() as there:
        release = Path(there) / "release.parquet"
        made.select(*levels, "occupation").write_parquet(release)
        result = qifsql.compose(
            [release],
            people=shared / "data" / "arx_adult.parquet",
            qids=list(levels),
            secret="occupation",
            truth="occupation",
            hierarchies={name: folder / f"{name}.csv" for name in levels},
            strict=True,
        )
    row = result.details["releases"].row(0, named=True)
    groups = made.group_by(list(levels)).agg(pl.len(), pl.col("occupation").n_unique())
    assert row["classes"] == groups.height
    assert row["in_one_class"] == data.height
    assert row["effective_anonymity"] == float(
        Fraction(int((groups["len"] * groups["occupation"]).sum()), data.height)
    )
    assert result.details["truth"]["true_value_left_share"].to_list() == [1.0]


def test_many_fractions_are_added_exactly_or_rounded_once() -> None:
    chances = [{"release": 0, "numerator": 1, "denominator": d} for d in range(1, 700)]
    exact = float(sum(Fraction(1, d) for d in range(1, 700)) / 700)
    assert compose.success(chances, 0, 700) == pytest.approx(exact, rel=1e-15)
    assert compose.success(chances, 1, 700) is None


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_without_a_bayesian_posterior_the_sets_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = hospitals(A, B, truth=None)
    monkeypatch.setattr("qifsql.commands.compose.intersect.EXACT_LIMIT", 1)
    bare = hospitals(A, B)
    assert bare.frame["posterior_success"].to_list() == [None]
    assert any("too large" in note for note in bare.notes)
    sets = ["effective_prior", "effective_posterior", "vulnerable", "perfect_breach"]
    assert bare.frame.select(sets).equals(whole.frame.select(sets))


# The command.


@pytest.mark.slow(because="3.5 s; every recorded mutant dies without it")
def test_the_command_gives_what_python_gives_and_writes_files(tmp_path: Path) -> None:
    asked = ["compose", A, B, "--people", PEOPLE, "-q", ",".join(QIDS), "-s", "condition"]
    done = run(*asked, "--format", "json", "--confidence", "1/3,1", "--progressive")
    told = json.loads(done.out)
    assert done.code == 0
    assert told["spec"]["releases"] == ["hospital_a.csv", "hospital_b.csv"]
    python = hospitals(A, B, confidence=["1", "1/3"], progressive=True)
    assert told["results"] == python.frame.to_dicts()
    assert told["releases"] == python.details["releases"].to_dicts()
    assert told["curve"] == python.details["curve"].to_dicts()
    out, people = tmp_path / "out.parquet", tmp_path / "people.csv"
    done = run(*asked, "-o", out, "--records", people)
    assert (done.code, done.out) == (0, "")
    assert "2 people written" in done.err
    note = json.loads(pl.read_parquet_metadata(out)["qifsql"])
    assert len(note["inputs"]) == 3
    names = {p.name for p in tmp_path.iterdir()}
    more = {"out.releases.parquet", "out.curve.parquet", "people.csv.manifest.json"}
    assert names == {"out.parquet", "people.csv"} | more


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@pytest.mark.parametrize("kind", ["table", "csv", "markdown"])
def test_every_format_is_written(kind: str) -> None:
    done = run("compose", A, B, "--people", PEOPLE, "-q", "zip,age", "-s", "condition", "-f", kind)
    assert done.code == 0
    assert "hospital_a.csv" in done.out.replace("\\", "")
    if kind == "table":
        words = " ".join(done.out.split())
        assert "For 2 of 2 people (100.00 %) a single value is left" in words
        assert "That removes the anonymity of" in words
        assert "A class is a block of a release" in words
        assert "How sure the adversary is" in words


def test_the_sql_of_the_manifest_is_what_ran() -> None:
    statements = hospitals(A, B).origin.statements
    assert sum(s.startswith("CREATE TABLE") for s in statements) > 30
    assert any("hospital_a.csv" in s for s in statements)
