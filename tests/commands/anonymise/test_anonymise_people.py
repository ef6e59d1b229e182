"""Limits on different people and on missing secrets are those of the definition."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_anonymise as oracle
import oracle_lattice
import polars as pl
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracle_anonymise import Limits
from terminal import run
from test_anonymise import anonymised, expected, spots

import qifsql
from qifsql.errors import InputError
from qifsql.reference import class_limits

QIDS = {"a": "interval", "b": "interval"}
SCHEMA = pa.schema([("p", pa.string()), *((c, pa.int64()) for c in "ab"), ("s", pa.string())])
Row = dict[str, Any]

parts = st.fractions(Fraction(1, 5), 1, max_denominator=10)
limits_on_people = st.builds(
    Limits,
    st.integers(1, 3),
    st.none() | st.integers(1, 3),
    st.none() | st.fractions(1, 2, max_denominator=5),
    st.none() | st.tuples(st.fractions(1, 4, max_denominator=2), st.integers(1, 3)),
    st.none() | parts,
    st.none(),
)


@st.composite
def visits(draw: st.DrawFn) -> list[Row]:
    """The records of people who have one to six of them, in any order; some name no person."""
    record = st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(["x", "y", "z", None]))
    people = draw(st.lists(st.lists(record, min_size=1, max_size=6), min_size=1, max_size=7))
    names = [None, *(f"p{n}" for n in range(1, len(people)))]
    rows = [
        dict(zip("pabs", (name, *values), strict=True))
        for name, records in zip(names, people, strict=True)
        for values in records
    ]
    return draw(st.permutations(rows))


def whose(rows: Sequence[Row]) -> list[Any]:
    return class_limits.owners(rows, "p")


def asked(limits: Limits, **more: Any) -> dict[str, Any]:
    secret = {"secret": "s"} if limits != Limits(limits.k) else {}
    return vars(limits) | {"qids": [*QIDS], "person": "p"} | secret | more


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(row) for row in rows], SCHEMA)


@settings(max_examples=examples(25))
@given(visits(), limits_on_people)
@example(  # two values of one person, and one secret of two people
    [{"p": "p", "a": 0, "b": 0, "s": s} for s in "xy"]
    + [{"p": p, "a": 1, "b": 0, "s": "x"} for p in "qr"],
    Limits(1, l=2),
)
def test_mondrian_makes_the_classes_of_slow_python(rows: list[Row], limits: Limits) -> None:
    fits = class_limits.judge(rows, ["s"], vars(limits), "p")
    if not fits(range(len(rows))):
        with pytest.raises(InputError):
            anonymised(table(rows), **asked(limits, method="mondrian"))
        return
    result, made = anonymised(table(rows), **asked(limits, method="mondrian"))
    groups = oracle.mondrian(range(len(rows)), spots(rows, [*QIDS]), fits)
    assert made == expected(rows, QIDS, groups)
    row = result.frame.row(0, named=True)
    people = [len({whose(rows)[i] for i in group}) for group in groups]
    assert (row["records"], row["people"]) == (len(rows), len(set(whose(rows))))
    assert (row["smallest_class"], row["largest_class"]) == (min(people), max(people))
    assert row["average_class"] == sum(people) / len(people)
    assert row["smallest_class"] >= limits.k


@settings(max_examples=examples(15))
@given(visits(), st.integers(1, 3), st.none() | st.integers(1, 2))
def test_mdav_makes_the_groups_of_slow_python(rows: list[Row], k: int, least: int | None) -> None:
    limits = Limits(k, least)
    fits = class_limits.judge(rows, ["s"], vars(limits), "p")
    if not fits(range(len(rows))):
        return
    how = asked(limits, method="mdav", suppress=least is not None)
    result, made = anonymised(table(rows), **how)
    groups = oracle.mdav(range(len(rows)), spots(rows, [*QIDS]), k, whose(rows))
    kept = [group for group in groups if fits(group)]
    right = expected(rows, QIDS, kept)
    for i in {i for group in groups if not fits(group) for i in group}:
        right[i] |= dict.fromkeys(QIDS)
    assert made == right
    assert result.frame["suppressed"][0] == len(rows) - sum(map(len, kept))
    assert least is not None or kept == groups  # MDAV itself makes groups of k people


LADDER = [{v: v for v in range(4)}, {v: v // 2 for v in range(4)}, dict.fromkeys(range(4), 9)]


@settings(max_examples=examples(15))
@given(visits(), limits_on_people, st.integers(0, 20))
def test_the_lattice_keeps_limits_on_people_with_the_least_loss(
    rows: list[Row], limits: Limits, share: int
) -> None:
    columns = [[row[q] for row in rows] for q in QIDS]
    ladders = [LADDER] * 2
    secrets = [[row["s"] for row in rows]] if limits != Limits(limits.k) else []
    made = {
        node: oracle_lattice.release(node, ladders, columns, secrets, limits, whose=whose(rows))
        for node in itertools.product(range(3), repeat=2)
    }
    most = min(share * len(rows) // 20, len(rows) - 1)
    losses = {
        node: oracle_lattice.loss("penalty", node, m, ladders, columns, by_distance=True)
        for node, m in made.items()
        if m.suppressed <= most
    }
    steps = [f"{q}:2" for q in QIDS] + [f"drop={q}" for q in QIDS]
    how = asked(limits, method="lattice", change=steps, suppress=Fraction(share, 20))
    if not losses:
        with pytest.raises(InputError):
            anonymised(table(rows), **how)
        return
    result, _ = anonymised(table(rows), "csv", **how)
    row = result.frame.row(0, named=True)
    release = made[tuple(row["steps"])]
    assert row["optimal"]
    assert row["penalty"] == pytest.approx(float(min(losses.values())), abs=1e-12)
    assert (row["suppressed"], row["classes"]) == (release.suppressed, len(release.classes))
    people = [len({whose(rows)[i] for i in group}) for group in release.classes]
    assert row["smallest_class"] == min(people)
    shown = sum(map(len, release.classes))
    guessed = sum(Fraction(len(c), n) for c, n in zip(release.classes, people, strict=True))
    (released,) = result.details["frontier"].filter(pl.col("released"))["risk"]
    assert released == pytest.approx(float(guessed / shown), abs=1e-15)


@settings(max_examples=examples(10))
@given(visits(), limits_on_people)
def test_recoded_classes_that_are_shown_keep_the_limits(rows: list[Row], limits: Limits) -> None:
    """Those that do not are suppressed: first the cells of b, then whole records."""
    people = {i if row["p"] is None else row["p"] for i, row in enumerate(rows, 1000)}
    assume(limits.k is None or limits.k <= len(people))  # else it is refused
    values = {row["s"] for row in rows} - {None}
    assume(limits.l is None or limits.l <= len(values))  # else it is refused
    secret = {"secret": "s"} if limits != Limits(limits.k) else {}
    how = {"method": "recode", "change": "a:2", "suppress": True, "suppress_cells": "b"}
    result, made = anonymised(table(rows), "csv", **(asked(limits, **how) | secret))
    assert isinstance(made, pl.DataFrame)
    fits = class_limits.judge(rows, ["s"], vars(limits), "p")
    classes: dict[Any, list[int]] = {}
    for i, cells in enumerate(made.select("a", "b").rows()):
        classes.setdefault(cells, []).append(i)
    gone = classes.pop(("*", "*"), [])
    assert all(fits(group) for group in classes.values())
    assert result.frame["suppressed"][0] == len(gone)
    assert result.frame["classes"][0] == len(classes)


STAYS = pl.DataFrame(
    [(f"p{n % 23}", n * 7 % 31, n * n % 11, "uvwxyz"[n * n % 6]) for n in range(90)],
    schema=["p", "a", "b", "s"],
    orient="row",
)
METHODS: list[dict[str, Any]] = [
    {"method": "mondrian"},
    {"method": "mdav", "suppress": True},
    {"method": "lattice", "suppress": 0.5},
    {"method": "recode", "change": ["a:10", "b:4"], "suppress": True},
]


@pytest.mark.cases(1)
@pytest.mark.parametrize("how", METHODS, ids=lambda how: how["method"])
def test_levels_and_a_check_of_the_release_agree(how: dict[str, Any], tmp_path: Path) -> None:
    """Of people of whom one record is known; one who knows all finds smaller classes."""
    aims: dict[str, Any] = {"k": 3, "l": 2, "l_entropy": 1.5, "t": 0.8}
    about: dict[str, Any] = {"qids": "a,b", "secret": "s", "person": "p"}
    out = tmp_path / "out.parquet"
    qifsql.anonymise(STAYS, out, **how, **aims, **about)
    kept = pl.read_parquet(out).filter(pl.col("a").is_not_null() | pl.col("b").is_not_null())
    kept.write_parquet(out)
    rows = qifsql.levels(out, **aims, **about).frame.filter(pl.col("met").is_not_null())
    assert rows.filter(known_records="one")["met"].all()
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[adversary]\nqids = ["a", "b"]\nperson = "p"\nknown_records = "one"\n'
        '[[rule]]\nmodel = "crs"\nmeasure = "k"\nat_least = 3\n'
    )
    assert run("check", out, "--policy", policy).code == 0


def test_both_sides_of_a_cut_may_have_too_few_people(tmp_path: Path) -> None:
    """Eight people of different ages, two equal records each: parts of two stay together."""
    people = pl.DataFrame(
        {"id": [*range(8), *range(8)], "age": [30, 31, 32, 33, 34, 35, 36, 37] * 2}
    )
    asked: dict[str, Any] = {"qids": "age", "k": 2, "method": "mondrian", "person": "id"}
    (row,) = qifsql.anonymise(people, tmp_path / "out.csv", **asked).rows()
    assert (row["classes"], row["largest_class"], row["people"]) == (4, 2, 8)


@pytest.mark.slow(because="8 s; levels and a check of the release agree")
def test_one_record_each_is_as_without_a_person(tmp_path: Path) -> None:
    frame = STAYS.with_columns(p=pl.int_range(pl.len()))
    for how in METHODS:
        about = {"qids": "a,b", "secret": "s", "k": 3, "l": 2, **how}
        files = [tmp_path / "records.csv", tmp_path / "people.csv"]
        records = qifsql.anonymise(frame, files[0], **about)
        people = qifsql.anonymise(frame, files[1], **about, person="p")
        assert files[0].read_bytes() == files[1].read_bytes()
        shared = records.frame.drop("seconds")
        assert people.frame.select(shared.columns).equals(shared)


# What is said, and what is refused.


def test_the_numbers_and_words_are_of_people(tmp_path: Path) -> None:
    STAYS.write_csv(tmp_path / "in.csv")
    words = ("anonymise", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-q", "a,b", "--k", "3")
    done = run(*words, "--person", "p", "--format", "table")
    assert "different people" in done.out
    assert "the 90 records are those of 23 people" in done.err
    assert 'column "p" is released, and puts the records of a person together' in done.err
    assert "records are counted, not people" not in done.err
    done = run(*words, "--person", "p", "--drop", "p", "--format", "json")
    assert "puts the records of a person together" not in done.err
    assert "p" not in pl.read_csv(tmp_path / "out.csv").columns
    for text in ('"unit": "people"', '"people": 23', '"records": 90', '"known_records": "one"'):
        assert text in done.out


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"k": 24}, "k is 24, and .* has 90 records of 23 people"),
        ({"person": "q"}, '"q" is not in'),
        ({"one_per": "p"}, "one_per does not take"),
        ({"method": "lattice", "until": "k>=3"}, "until measures an attack on records"),
        ({"l": 5, "secret": "s"}, 'l is 5, and "s" has 4 values'),
    ],
)
def test_what_is_refused_of_people(option: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        qifsql.anonymise(
            STAYS, tmp_path / "out.csv", **({"k": 3, "qids": "a,b", "person": "p"} | option)
        )
    assert not [*tmp_path.iterdir()]


# Secrets that some records miss.


def test_a_missing_secret_does_not_protect(tmp_path: Path) -> None:
    """In the class of q = 1 two records have one value, and two miss it."""
    hiv, flu = "HIV", "flu"
    frame = pl.DataFrame({"q": [1] * 4 + [2] * 4, "s": [hiv, None, hiv, None, flu, hiv, flu, hiv]})
    out, how = tmp_path / "out.csv", {"qids": "q", "secret": "s", "l": 2}
    result = qifsql.anonymise(frame, out, method="mondrian", k=2, **how)
    assert result.frame["classes"][0] == 1
    result = qifsql.anonymise(
        frame, out, method="recode", suppress_cells="q", suppress=True, k=2, **how
    )
    assert (result.frame["classes"][0], result.frame["suppressed"][0]) == (1, 4)
    assert pl.read_csv(out)["q"].to_list() == [*["*"] * 4, *["2"] * 4]
    with pytest.raises(InputError, match='l is 3, and "s" has 2 values beside the missing one'):
        qifsql.anonymise(frame, out, method="mondrian", k=2, **(how | {"l": 3}))
    level = qifsql.levels(frame, qids="q", secret="s", l=2).frame.filter(measure="l_distinct")
    assert (level["value"][0], level["met"][0]) == (1, False)


def test_a_class_of_missing_secrets_alone_has_one_value(tmp_path: Path) -> None:
    frame = pl.DataFrame({"q": [1, 1, 2, 2], "s": [None, None, "x", "y"]})
    how: dict[str, Any] = {"method": "mondrian", "k": 2, "qids": "q", "secret": "s"}
    assert qifsql.anonymise(frame, tmp_path / "a.csv", **how).frame["classes"][0] == 2
    assert qifsql.anonymise(frame, tmp_path / "b.csv", **how, l=2).frame["classes"][0] == 1
