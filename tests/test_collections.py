"""Attacks on collections: every number is that of the oracle, and what must not matter does not."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import oracle_collections as oracle
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle_collections import ABSENT, Tag
from polars.testing import assert_frame_equal
from strategies_collections import (
    MASS,
    TAGGED,
    WAVE,
    Drawn,
    collections,
    long_tables,
    tagged,
    written,
)

import qifsql
from qifsql import collection
from qifsql.assessment import INDIVIDUAL, SCHEMA
from qifsql.errors import DatasetError, TargetError

FLAG = "whether somebody is there"  # no name that is drawn
WHOLE = ("records", "blocks", "singled_out", "individuals_certain", "matches")
RULES = st.sampled_from(["null", "distinct"])


@contextmanager
def files(drawn: Drawn) -> Iterator[list[Path]]:
    """The datasets in Parquet files."""
    with tempfile.TemporaryDirectory() as folder:
        yield drawn.write(folder)


def source(paths: Sequence[Path], drawn: Drawn, absent: str) -> qifsql.Collection | list[Path]:
    """The datasets as a person gives them; a collection of one must be called that."""
    if len(paths) > 1:
        return list(paths)
    return qifsql.Collection.of(paths, key=drawn.keys[:1], absent=absent)


def options(drawn: Drawn, absent: str, *, weighted: bool = False) -> dict[str, Any]:
    """What the adversary knows and wants."""
    secrets = [tagged((1, s)) if TAGGED.match(s) else s for s in drawn.secrets]
    return {
        "qids": drawn.written,
        "secret": secrets,
        "key": drawn.keys,
        "absent": absent,
        "weight": MASS if weighted else None,
    }


def found(result: qifsql.Assessment) -> list[dict[str, Any]]:
    """Every row of a result but for the time it took, its columns and types checked."""
    individual = result.rows()[0]["model"].startswith("I")
    schema = SCHEMA | (INDIVIDUAL if individual else {})
    frame = result.frame.drop("attack_id", strict=False)
    assert dict(frame.schema) == schema
    return frame.drop("seconds").to_dicts()


def expected(
    drawn: Drawn,
    absent: str,
    *,
    weighted: bool = False,
    target: Mapping[Tag, object] | None = None,
    first: int | None = None,
) -> list[dict[str, Any]]:
    """What ``crl,cal`` (with a target ``irl,ial``) must say of the first datasets."""
    releases = drawn.releases[:first]
    table = oracle.aggregated(releases, distinct=absent == "distinct")
    qids = [tag for tag in drawn.qids if tag[0] <= len(releases)]
    masses = drawn.masses if weighted else None
    rows = []
    for secret in (None, *drawn.secrets):
        values = None if secret is None else [person[1, secret] for person in table]
        if target is None:
            numbers = oracle.collective(table, qids, values, masses)
        else:
            keys = [person[1, drawn.keys[0]] for person in table]
            about = {tag: v for tag, v in target.items() if tag in qids}
            numbers = oracle.individual(table, about, values, masses, keys)
        rows.append(row(secret, qids, len(releases), numbers, target))
    return rows


def row(
    secret: str | None,
    qids: Sequence[Tag],
    datasets: int,
    numbers: Mapping[str, Any],
    target: Mapping[Tag, object] | None = None,
    goal: str = "",
) -> dict[str, Any]:
    """The oracle's numbers as a row of results."""
    plain = dict(numbers)
    guess = plain.pop("best_guess", None)
    goal = goal or ("R" if secret is None else "A")
    shown = {
        "model": f"{'C' if target is None else 'I'}{goal}L",
        "datasets": datasets,
        "n_qids": len(qids),
        "qids": [tagged(tag) for tag in qids],
        "secret": secret,
        **{name: v if name in WHOLE else float(v) for name, v in plain.items()},
    }
    if target is not None:
        shown["target"] = ", ".join(f"{tagged(q)}={said(target[q])}" for q in qids)
        shown["best_guess"] = text(guess)
    for name in ("min_entropy_leakage", "worst_case"):
        shown[name] = pytest.approx(shown[name], rel=1e-12, abs=0)
    return shown


def said(v: object) -> str:
    return "(missing)" if v is None else "(absent)" if v is ABSENT else str(v)


def text(v: object) -> str | None:
    """A value as the engine writes it."""
    if v is None:
        return None
    return str(v).lower() if isinstance(v, bool) else str(v)


# The same numbers as the oracle.


@settings(max_examples=50)
@given(collections(), RULES, st.booleans())
def test_every_number_of_a_collective_attack_is_that_of_the_oracle(
    drawn: Drawn, absent: str, weighted: bool
) -> None:
    with files(drawn) as paths:
        result = qifsql.attack(
            "crl,cal", source(paths, drawn, absent), **options(drawn, absent, weighted=weighted)
        )
    assert found(result) == expected(drawn, absent, weighted=weighted)


@st.composite
def targets(draw: st.DrawFn, drawn: Drawn, absent: str) -> dict[Tag, object]:
    """What is known of one person: of somebody in the table, or of several people mixed up."""
    table = oracle.aggregated(drawn.releases, distinct=absent == "distinct")
    one = draw(st.sampled_from(table))
    mixed = draw(st.booleans())
    return {q: (draw(st.sampled_from(table)) if mixed else one)[q] for q in drawn.qids}


def given_as(target: Mapping[Tag, object]) -> dict[str, object]:
    """The target as it is asked for."""
    return {tagged(q): collection.ABSENT if v is ABSENT else v for q, v in target.items()}


@settings(max_examples=40)
@given(collections(), RULES, st.booleans(), st.data())
def test_every_number_about_one_person_is_that_of_the_oracle(
    drawn: Drawn, absent: str, weighted: bool, data: st.DataObject
) -> None:
    target = data.draw(targets(drawn, absent))
    asked = options(drawn, absent, weighted=weighted) | {"target": given_as(target)}
    asked["qids"] = data.draw(st.sampled_from([asked["qids"], []]))
    with files(drawn) as paths:
        try:
            wanted = expected(drawn, absent, weighted=weighted, target=target)
        except LookupError:
            with pytest.raises(TargetError, match="matches none of"):
                qifsql.attack("irl,ial", source(paths, drawn, absent), **asked)
        else:
            result = qifsql.attack("irl,ial", source(paths, drawn, absent), **asked)
            assert found(result) == wanted


@settings(max_examples=20)
@given(collections(), RULES, st.booleans(), st.data())
def test_a_progressive_attack_is_an_attack_on_each_prefix(
    drawn: Drawn, absent: str, individual: bool, data: st.DataObject
) -> None:
    assume(drawn.qids[0][0] == 1)
    model, target = "crl,cal", None
    asked = options(drawn, absent) | {"qids": [tagged(q) for q in drawn.qids]}
    if individual:
        table = oracle.aggregated(drawn.releases, distinct=absent == "distinct")
        person = data.draw(st.sampled_from(table))
        model, target = "irl,ial", {q: person[q] for q in drawn.qids}
    with files(drawn) as paths:
        known = asked | {"target": given_as(target) if target else None}
        whole = qifsql.attack(model, source(paths, drawn, absent), progressive=True, **known)
        parts = []
        for n in range(1, len(paths) + 1):
            own = {q: v for q, v in (target or {}).items() if q[0] <= n}
            part = asked | {
                "qids": [tagged(q) for q in drawn.qids if q[0] <= n],
                "key": drawn.keys[:n],
                "target": given_as(own) if target else None,
            }
            parts += found(qifsql.attack(model, source(paths[:n], drawn, absent), **part))
    wanted = [
        line
        for n in range(1, len(paths) + 1)
        for line in expected(drawn, absent, target=target, first=n)
    ]
    assert found(whole) == parts == wanted


# A long table, and who is in a release.


@settings(max_examples=20)
@given(long_tables(), RULES, st.booleans())
def test_the_waves_of_a_long_table_are_the_collection_of_its_parts(
    drawn: tuple[Drawn, pa.Table, list[Any]], absent: str, listed: bool
) -> None:
    parts, table, waves = drawn
    order = sorted(range(len(waves)), key=lambda i: oracle.order_key(waves[i]))
    chosen = parts if listed else parts.of(order)
    wave = WAVE
    if listed:
        wave += "=" + ", ".join(str(w).lower() if isinstance(w, bool) else str(w) for w in waves)
    with tempfile.TemporaryDirectory() as folder:
        (path,) = written(folder, [table])
        asked = options(chosen, absent) | {"key": chosen.keys[0]}
        long = qifsql.attack("crl,cal", path, wave=wave, **asked)
    with files(chosen) as paths:
        apart = qifsql.attack("crl,cal", source(paths, chosen, absent), **asked)
    assert found(long) == found(apart) == expected(chosen, absent)


@settings(max_examples=20)
@given(collections(most=3), RULES, st.data())
def test_who_is_in_a_release_is_told_by_a_flag_or_by_its_file(
    drawn: Drawn, absent: str, data: st.DataObject
) -> None:
    focal, key = drawn.tables[0], drawn.keys[0]
    named = [i for i, k in enumerate(focal[key].to_pylist()) if oracle.value(k) is not None]
    chosen = data.draw(st.lists(st.sampled_from(named), unique=True, min_size=1))
    release = focal.take(pa.array(chosen)).select([key]).rename_columns(["person"])
    population = oracle.Release(focal.to_pylist(), key)
    there = oracle.members(population, oracle.Release(release.to_pylist(), "person"))
    assert [i for i, known in enumerate(there) if known] == sorted(chosen)
    flag = data.draw(st.sampled_from([(False, True), (0, 1), ("in", "not in"), ("y", "n")]))
    flags = [flag[known] for known in there]
    flagged = replace(drawn, tables=[focal.append_column(FLAG, [flags]), *drawn.tables[1:]])
    target = data.draw(st.none() | targets(drawn, absent))
    model, asked = "cml", options(drawn, absent) | {"secret": ()}
    if target is not None:
        model, asked = "iml", asked | {"target": given_as(target)}
    single = len(drawn.tables) == 1 and data.draw(st.booleans())
    model = model.replace("l", "s") if single else model

    def by_flag() -> qifsql.Assessment:
        with files(flagged) as paths:
            return qifsql.attack(model, source(paths, drawn, absent), member=FLAG, **asked)

    def by_file() -> qifsql.Assessment:
        with files(drawn) as paths, tempfile.TemporaryDirectory() as folder:
            sources = [*written(folder, [release]), *paths[1:]]
            keys = ["person", *drawn.keys[1:], drawn.keys[0]]
            known = asked | {"key": keys}
            return qifsql.attack(model, sources, population=paths[0], **known)

    table = oracle.aggregated(drawn.releases, distinct=absent == "distinct")
    for attacked, name, values in ((by_flag, FLAG, flags), (by_file, "member", there)):
        try:
            if target is None:
                numbers = oracle.collective(table, drawn.qids, values)
            else:
                numbers = oracle.individual(table, target, values)
        except LookupError:
            with pytest.raises(TargetError, match="matches none of"):
                attacked()
            continue
        wanted = row(name, drawn.qids, len(drawn.tables), numbers, target, goal="M")
        assert found(attacked()) == [wanted | {"model": model.upper()}]


# The same as one table.


@settings(max_examples=20)
@given(collections())
def test_a_collection_is_the_table_that_is_joined_by_hand(drawn: Drawn) -> None:
    """Whatever is asked: measures, gains, histogram, thresholds, quantiles and groups."""
    types = {
        tagged((number, field.name)): field.type
        for number, table in enumerate(drawn.tables, 1)
        for field in table.schema
    }
    rows = [
        {tagged(tag): v for tag, v in person.items()}
        for person in oracle.aggregated(drawn.releases)
    ]
    joined = pa.Table.from_pylist(rows, pa.schema(list(types.items())))
    wanted: dict[str, Any] = {
        "measures": "all",
        "histogram": True,
        "gain": ["identity", "tries:1", "penalty:0.5"],
        "thresholds": [0.5, 1],
        "quantiles": [0.5, 0.9],
    }
    qids, secrets = [tagged(q) for q in drawn.qids], [tagged((1, s)) for s in drawn.secrets]
    asked = {"qids": qids, "secret": secrets, "by": secrets[0]} | wanted
    with files(drawn) as paths, tempfile.TemporaryDirectory() as folder:
        own = qifsql.attack("crl,cal", source(paths, drawn, "null"), key=drawn.keys, **asked)
        (path,) = written(folder, [joined])
        one = qifsql.attack("crs,cas", path, **asked)
    names = ["model", "datasets", "secret", "seconds", "attack_id"]
    assert_frame_equal(own.frame.drop(names), one.frame.drop(names), check_exact=True)
    assert own.frame["secret"].to_list() == [None] * 3 + [s for s in drawn.secrets for _ in "123"]
    assert own.details.keys() == one.details.keys() == {
        "histogram", "thresholds", "quantiles", "groups",
    }  # fmt: skip
    for name, table in own.details.items():
        numbers = [n for n in table.columns if n not in ("attack_id", "by")]
        assert_frame_equal(table[numbers], one.details[name][numbers], check_exact=True)


@settings(max_examples=20)
@given(collections())
def test_people_with_missing_values_can_be_dropped(drawn: Drawn) -> None:
    table = oracle.aggregated(drawn.releases)
    used = [*drawn.qids, *((1, s) for s in drawn.secrets)]
    kept = [person for person in table if all(person[tag] is not None for tag in used)]
    with files(drawn) as paths:

        def attacked() -> qifsql.Assessment:
            return qifsql.attack(
                "crl,cal", source(paths, drawn, "null"), null="drop", **options(drawn, "null")
            )

        if not kept:
            with pytest.raises(DatasetError, match="no records left"):
                attacked()
            return
        result = attacked()
    wanted = [
        row(s, drawn.qids, len(paths), oracle.collective(kept, drawn.qids, values))
        for s in (None, *drawn.secrets)
        for values in [None if s is None else [person[1, s] for person in kept]]
    ]
    assert found(result) == wanted


# What must only grow, and what must not matter.


@settings(max_examples=20)
@given(collections(), RULES, st.booleans())
def test_more_datasets_or_quasi_identifiers_never_lower_a_posterior(
    drawn: Drawn, absent: str, weighted: bool
) -> None:
    asked = options(drawn, absent, weighted=weighted)
    with files(drawn) as paths:
        chain = [
            qifsql.attack(
                "crl,cal",
                source(paths, drawn, absent),
                **asked | {"qids": [tagged(q) for q in [(1, MASS), *drawn.qids][:n]]},
            ).rows()
            for n in range(1, len(drawn.qids) + 2)
        ]
        alone = qifsql.attack(
            "crs,cas",
            paths[0],
            qids=MASS,
            secret=drawn.secrets,
            weight=asked["weight"],
        ).rows()
    for coarse, fine in pairwise([alone, *chain]):
        for a, b in zip(coarse, fine, strict=True):
            for name in ("blocks", "posterior_deterministic", "posterior_probabilistic"):
                assert a[name] <= b[name]
            assert a["worst_case"] <= b["worst_case"] * (1 + 1e-15)
            for name in ("records", "prior_deterministic", "prior_probabilistic"):
                assert a[name] == b[name]  # those of the focal dataset alone
            assert b["prior_probabilistic"] <= b["posterior_probabilistic"] <= 1
