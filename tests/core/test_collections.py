"""Attacks on collections: every number is that of the oracle, and what must not matter does not."""

import gzip
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import oracle_collections as oracle
import polars as pl
import pyarrow as pa
import pytest
from effort import examples
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
from qifsql.data import collection
from qifsql.errors import ColumnError, DatasetError, InputError, TargetError
from qifsql.reference.microdata import order_key, value
from qifsql.results.assessment import INDIVIDUAL, REPORTED, SCHEMA

FLAG = "whether somebody is there"  # no name that is drawn
WHOLE = ("records", "blocks", "singled_out", "individuals_certain", "matches")
RULES = st.sampled_from(["null", "distinct"])


@contextmanager
def files(drawn: Drawn) -> Iterator[list[Path]]:
    """The datasets in Parquet files."""
    with tempfile.TemporaryDirectory() as folder:
        yield drawn.write(folder)


def source(paths: Sequence[Path], drawn: Drawn, absent: Any) -> qifsql.Collection | list[Path]:
    """The datasets as a person gives them; a collection of one must be called that."""
    if len(paths) > 1:
        return list(paths)
    return qifsql.Collection.of(paths, key=drawn.keys[:1], absent=absent)


def options(drawn: Drawn, absent: str, *, weighted: bool = False) -> dict[str, Any]:
    """Return what the adversary knows and wants."""
    secrets = [tagged((1, s)) if TAGGED.match(s) else s for s in drawn.secrets]
    return {
        "qids": drawn.written,
        "secret": secrets,
        "key": drawn.keys,
        "absent": absent,
        "weight": MASS if weighted else None,
    }


def found(result: qifsql.Result) -> list[dict[str, Any]]:
    """Every row of a result but for the time it took, its columns and types checked.

    Numbers of people with a reported secret are in ``test_attack``.
    """
    individual = result.rows()[0]["model"].startswith("I")
    further = {name: REPORTED[name] for name in result.frame.columns if name in REPORTED}
    schema = SCHEMA | (INDIVIDUAL if individual else {})
    frame = result.frame.drop("attack_id", strict=False)
    assert dict(frame.schema) == schema | further
    return frame.drop("seconds", *further).to_dicts()


def expected(
    drawn: Drawn,
    absent: str,
    *,
    weighted: bool = False,
    target: Mapping[Tag, object] | None = None,
    first: int | None = None,
) -> list[dict[str, Any]]:
    """Return what ``crl,cal`` (with a target ``irl,ial``) must say of the first datasets."""
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
        rows.append(row(secret, qids, len(releases), numbers, target=target))
    return rows


def row(
    secret: str | None,
    qids: Sequence[Tag],
    datasets: int,
    numbers: Mapping[str, Any],
    *,
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


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
@settings(max_examples=examples(50))
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
    """Return knowledge about one person: somebody in the table, or several people mixed up."""
    table = oracle.aggregated(drawn.releases, distinct=absent == "distinct")
    one = draw(st.sampled_from(table))
    mixed = draw(st.booleans())
    return {q: (draw(st.sampled_from(table)) if mixed else one)[q] for q in drawn.qids}


def given_as(target: Mapping[Tag, object]) -> dict[str, object]:
    """The target as it is asked for."""
    return {tagged(q): collection.ABSENT if v is ABSENT else v for q, v in target.items()}


@settings(max_examples=examples(40))
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


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@settings(max_examples=examples(15))
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


@settings(max_examples=examples(20))
@given(long_tables(), RULES, st.booleans())
def test_the_waves_of_a_long_table_are_the_collection_of_its_parts(
    drawn: tuple[Drawn, pa.Table, list[Any]], absent: str, listed: bool
) -> None:
    parts, table, waves = drawn
    order = sorted(range(len(waves)), key=lambda i: order_key(waves[i]))
    chosen = parts if listed else parts.of(order)
    wave = WAVE
    if listed:
        wave += "=" + ", ".join(str(w).lower() if isinstance(w, bool) else str(w) for w in waves)
    with tempfile.TemporaryDirectory() as folder:
        (path,) = written(folder, [table])
        asked = options(chosen, absent) | {"key": chosen.keys[:1]}
        long = qifsql.attack("crl,cal", path, wave=wave, **asked)
    with files(chosen) as paths:
        apart = qifsql.attack("crl,cal", source(paths, chosen, absent), **asked)
    assert found(long) == found(apart) == expected(chosen, absent)
    assert long.frame.drop("seconds").equals(apart.frame.drop("seconds"))


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@settings(max_examples=examples(20))
@given(collections(most=3), RULES, st.data())
def test_who_is_in_a_release_is_told_by_a_flag_or_by_its_file(
    drawn: Drawn, absent: str, data: st.DataObject
) -> None:
    focal, key = drawn.tables[0], drawn.keys[0]
    named = [i for i, k in enumerate(focal[key].to_pylist()) if value(k) is not None]
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

    def by_flag() -> qifsql.Result:
        with files(flagged) as paths:
            return qifsql.attack(model, source(paths, drawn, absent), member=FLAG, **asked)

    def by_file() -> qifsql.Result:
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
        wanted = row(name, drawn.qids, len(drawn.tables), numbers, target=target, goal="M")
        assert found(attacked()) == [wanted | {"model": model.upper()}]


# The same as one table.


@pytest.mark.slow(because="4 s; every recorded mutant dies without it")
@settings(max_examples=examples(6))
@given(collections(most=3))
def test_a_collection_is_the_table_that_is_joined_by_hand(drawn: Drawn) -> None:
    """For all questions: measures, gains, histogram, thresholds, quantiles and groups."""
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
        "gain": ["identity", "penalty:0.5"],
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
    assert own.frame["secret"].to_list() == [None] * 2 + [s for s in drawn.secrets for _ in "12"]
    assert own.details.keys() == one.details.keys() == {
        "histogram", "thresholds", "quantiles", "groups", "group_capacity",
    }  # fmt: skip
    for name, table in own.details.items():
        numbers = [n for n in table.columns if n not in ("attack_id", "by")]
        assert_frame_equal(table[numbers], one.details[name][numbers], check_exact=True)


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@settings(max_examples=examples(20))
@given(collections(), RULES)
def test_every_record_has_the_numbers_of_its_block_in_the_order_of_the_focal_dataset(
    drawn: Drawn, absent: str
) -> None:
    table = oracle.aggregated(drawn.releases, distinct=absent == "distinct")
    with files(drawn) as paths, tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "records.parquet")
        qifsql.inspect(
            source(paths, drawn, absent), show="records", out=out, **options(drawn, absent)
        )
        rows = pl.read_parquet(out).to_dicts()
    wanted = []
    for number, person in enumerate(table, 1):
        about = {q: person[q] for q in drawn.qids}
        owner = oracle.individual(table, about, None)
        line = {
            "record": number,
            drawn.keys[0]: person[1, drawn.keys[0]],
            "block_size": owner["matches"],
            "singled_out": owner["matches"] == 1,
            "success": float(owner["posterior_probabilistic"]),
        }
        for secret in drawn.secrets:
            values = [other[1, secret] for other in table]
            inferred = oracle.individual(table, about, values)
            line[f"success_{secret}"] = float(inferred["posterior_probabilistic"])
            line[f"best_guess_{secret}"] = inferred["best_guess"]
        wanted.append(line)
    assert rows == wanted


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
@settings(max_examples=examples(20))
@given(collections())
def test_people_with_missing_values_can_be_dropped(drawn: Drawn) -> None:
    table = oracle.aggregated(drawn.releases)
    used = [*drawn.qids, *((1, s) for s in drawn.secrets)]
    kept = [person for person in table if all(person[tag] is not None for tag in used)]
    with files(drawn) as paths:

        def attacked() -> qifsql.Result:
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


@pytest.mark.slow(because="1.8 s; every recorded mutant dies without it")
@settings(max_examples=examples(12))
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


@pytest.fixture(scope="module")
def census(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Any]]:
    """A census of three years, and the same in other orders and other files."""
    folder = tmp_path_factory.mktemp("census")
    years = [samples / f"school_census_{year}.parquet" for year in (2017, 2018, 2019)]
    mixed: list[Any] = []
    for number, year in enumerate(years):
        frame = pl.read_parquet(year).sample(fraction=1.0, shuffle=True, seed=number)
        parts = folder / str(number)
        parts.mkdir()
        for i, part in enumerate(frame.iter_slices(6_000)):
            part.write_parquet(parts / f"{i}.parquet", row_group_size=2_048)
        mixed.append([parts, f"{parts}/*.parquet"][number % 2])
    return years, mixed


@pytest.mark.slow(because="1.8 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("absent", ["null", "distinct"])
def test_threads_order_and_split_are_irrelevant(
    census: tuple[list[Path], list[Any]], absent: Any
) -> None:
    def attacked(sources: Sequence[Any], threads: int) -> pl.DataFrame:
        result = qifsql.attack(
            "crl,cal",
            sources,
            qids=["CO_ENTIDADE", "2:TP_ETAPA_ENSINO", "1:NU_MES"],
            secret=["IN_TRANSPORTE_PUBLICO", "TP_COR_RACA"],
            key="ID_ALUNO",
            absent=absent,
            progressive=True,
            settings=qifsql.Settings(threads=threads, memory="1GB"),
        )
        return result.frame.drop("seconds")

    years, mixed = census
    first = attacked(years, 2)
    for other in (attacked(years, 1), attacked(mixed, 2)):
        assert_frame_equal(first, other, check_exact=True)
    assert first["records"].unique().to_list() == [pl.read_parquet(years[0]).height]


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_the_join_never_multiplies_records(census: tuple[list[Path], list[Any]]) -> None:
    """Every record of the focal census stands in one block, whoever of it comes again."""
    years, _ = census
    result = qifsql.attack(
        "crl,cal",
        years,
        qids=["TP_ETAPA_ENSINO", "1:CO_MUNICIPIO_END"],
        secret="TP_SEXO",
        key="ID_ALUNO",
        histogram=True,
        progressive=True,
    )
    n = pl.read_parquet(years[0]).height
    assert result.frame["records"].to_list() == [n] * 6
    for _, table in result.details["histogram"].group_by("attack_id"):
        assert table["individuals"].sum() == n
    for column in ("blocks", "posterior_deterministic", "posterior_probabilistic"):
        for model in ("CRL", "CAL"):
            chain = result.frame.filter(pl.col("model") == model)[column].to_list()
            assert chain == sorted(chain)


@pytest.fixture(scope="module")
def kinds(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """PoPETs Tables 3a and 3b in files of every kind."""
    folder = tmp_path_factory.mktemp("kinds")
    given = [samples / "popets_table_3a.csv", samples / "popets_table_3b.csv"]
    frames = [pl.read_csv(file) for file in given]
    found: dict[str, list[Any]] = {"csv": given, "parquet": [], "gz": [], "mixed": []}
    for number, frame in enumerate(frames):
        frame.write_parquet(folder / f"{number}.parquet")
        found["parquet"].append(folder / f"{number}.parquet")
        (folder / f"{number}.csv.gz").write_bytes(gzip.compress(given[number].read_bytes()))
        found["gz"].append(folder / f"{number}.csv.gz")
    with duckdb.connect(folder / "both.duckdb") as connection:
        for name, frame in zip(("focal", "auxiliary"), frames, strict=True):
            connection.register("drawn", frame.to_arrow())
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM drawn")
    found["duckdb"] = [f"{name}@{folder}/both.duckdb" for name in ("focal", "auxiliary")]
    found["mixed"] = [found["duckdb"][0], found["gz"][1]]
    return found


@pytest.mark.parametrize("kind", ["parquet", "gz", "duckdb", "mixed"])
def test_files_of_every_kind_are_the_same_collection(
    kinds: dict[str, list[Any]], kind: str
) -> None:
    asked: dict[str, Any] = {"qids": ["gender", "grade"], "secret": "disability", "key": "id"}
    first = qifsql.attack("crl,cal", kinds["csv"], **asked)
    assert found(qifsql.attack("crl,cal", kinds[kind], **asked)) == found(first)


# How names are meant.


@pytest.fixture
def named(tmp_path: Path) -> list[Path]:
    """Two datasets whose columns have names that could be taken for something else."""
    first = {
        "id": [1, 2, 3],
        "x": [1, 1, 1],
        "2:x": [1, 1, 2],
        " x": [1, 2, 3],
        "a=b": [1, 2, 2],
        "b": [5, 5, 6],
        "AGE": [1, 2, 2],
        "s": ["u", "v", "v"],
    }
    second = {"id": [1, 2, 3], "x": [1, 2, 3], "b": [7, 7, 7], "age": [3, 3, 4], " x": [0, 0, 0]}
    tables = [pa.table(first), pa.table(second)]
    return written(tmp_path, tables)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("written_as", "meant", "blocks"),
    [
        ("x", ["1:x", "2:x"], 3),
        ("2:x", ["2:x"], 3),
        (" 2 :x", ["2:x"], 3),
        ("1:2:x", ["1:2:x"], 2),  # the column whose name looks like a tag
        ("1: x", ["1: x"], 3),  # blanks belong to a name that has them
        ("2: b", ["2:b"], 1),  # and else to nobody
        ("a=b", ["1:a=b"], 2),  # a column of one dataset, and no expression in the other
        ("c=b", ["1:c", "2:c"], 2),
        ("2:c=b+1", ["2:c"], 1),
        ("age", ["1:AGE", "2:age"], 3),
        ("c=Age // 4", ["1:c", "2:c"], 2),
        ("a?e", ["1:AGE", "2:age"], 3),
        ("2:[AB]*", ["2:b", "2:age"], 2),
        ("1:*x", ["1:x", "1:2:x", "1: x"], 3),
    ],
)
def test_a_name_means_a_column_of_one_dataset_or_of_all(
    named: list[Path], written_as: str, meant: list[str], blocks: int
) -> None:
    (line,) = qifsql.attack("crl", named, qids=[written_as], key="id").rows()
    assert (line["qids"], line["blocks"]) == (meant, blocks)


@pytest.mark.parametrize("written_as", ["Id", "c=Id + 1", "[I]D"])
def test_a_name_that_is_not_clear_in_a_dataset_is_not_left_out_of_it(
    tmp_path: Path, written_as: str
) -> None:
    tables = [pa.table({"key": [1], "id": [1]}), pa.table([[1], [1], [2]], ["key", "ID", "id"])]
    paths = written(tmp_path, tables)
    if written_as == "[I]D":  # a pattern may mean several
        (line,) = qifsql.attack("crl", paths, qids=written_as, key="key").rows()
        assert line["qids"] == ["1:id", "2:ID"]
    else:
        with pytest.raises(ColumnError, match=r"ambiguous in 2\.parquet"):
            qifsql.attack("crl", paths, qids=written_as, key="key")


def test_the_key_the_weight_and_the_filter_are_of_the_focal_dataset(tmp_path: Path) -> None:
    tables = [
        pa.table({"2:id": [1, 2, 3], "w": [1, 1, 2], "q": [1, 1, 2]}),
        pa.table({"id": [2, 1, 3], "w": [9, 9, 9], "q": [5, 6, 6]}),
    ]
    paths = written(tmp_path, tables)
    asked: dict[str, Any] = {"qids": "2:q", "key": ["2:id", "id"]}
    (line,) = qifsql.attack("crl", paths, weight="w", **asked).rows()
    assert line["prior_probabilistic"] == 2 / 4
    assert line["posterior_probabilistic"] == (1 + 2) / 4
    (same,) = qifsql.attack("crl", paths, weight="1:w", **asked).rows()
    assert same["posterior_probabilistic"] == line["posterior_probabilistic"]
    (kept,) = qifsql.attack("crl", paths, where='"1:w" = 1 AND "2:q" >= 5', **asked).rows()
    assert (kept["records"], kept["blocks"]) == (2, 2)
    with pytest.raises(ColumnError, match="is of an auxiliary dataset"):
        qifsql.attack("crl", paths, weight="2:w", **asked)


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_a_target_of_all_datasets_may_be_said_otherwise_of_one(named: list[Path]) -> None:
    def matches(target: Mapping[str, object], **asked: Any) -> int:
        (line,) = qifsql.attack("irl", named, target=target, key="id", **asked).rows()
        return int(line["matches"])

    assert matches({"x": 1}) == 1
    assert matches({"x": 1, "2:x": 3}) == matches({"2:X": 3, "X": 1}, qids="x") == 1
    assert matches({"age": 2, "2:AGE": 3}) == 1
    assert matches({"1:2:x": 1}) == 2
    with pytest.raises(TargetError, match='"X" is given twice'):
        matches({"x": 1, "X": 2}, qids="x")
    with pytest.raises(TargetError, match='no value for "2:x"'):
        matches({"1:x": 1}, qids="x")


def test_a_target_is_never_two_columns_that_differ_in_case(tmp_path: Path) -> None:
    (path,) = written(tmp_path, [pa.table([[1, 1], [1, 2], [2, 1]], ["key", "ID", "id"])])
    made = qifsql.Collection.of([path], key="key")
    sources: tuple[Any, ...] = (path, made)
    for source_, tag in zip(sources, ("", "1:"), strict=True):
        with pytest.raises(TargetError, match=f'could be "{tag}ID", "{tag}id"'):
            qifsql.attack("irl", source_, qids=[f"{tag}ID", f"{tag}id"], target={f"{tag}Id": 1})


def test_a_collection_that_was_made_keeps_its_rule_of_absent(tmp_path: Path) -> None:
    tables = [pa.table({"id": [1, 2, 3]}), pa.table({"id": [1, 2], "q": [7, None]})]
    paths = written(tmp_path, tables)
    rules: tuple[tuple[Any, int], ...] = (("null", 2), ("distinct", 3))
    for absent, blocks in rules:
        made = qifsql.Collection.of(paths, key="id", absent=absent)
        (line,) = qifsql.attack("crl", made, qids="q").rows()
        assert line["blocks"] == blocks


def test_only_missing_values_are_dropped_where_absence_is_none(tmp_path: Path) -> None:
    """Of three, one has a missing value and one is not there; the first of these goes."""
    tables = [pa.table({"id": [1, 2, 3]}), pa.table({"id": [1, 2], "q": [7, None]})]
    asked: dict[str, Any] = {"key": "id", "absent": "distinct", "null": "drop"}
    (line,) = qifsql.attack("crl", written(tmp_path, tables), qids="q", **asked).rows()
    assert line["records"] == 2


def test_the_manifest_says_the_rule_and_the_keys_of_a_collection_that_was_made(
    tmp_path: Path,
) -> None:
    tables = [pa.table({"id": [1, 2, 3]}), pa.table({"person": [1, 2], "q": [7, None]})]
    made = qifsql.Collection.of(written(tmp_path, tables), key=["id", "person"], absent="distinct")
    said = qifsql.attack("crl", made, qids="q").origin.spec["collection"]
    assert (said["absent"], said["keys"]) == ("distinct", ["id", "person"])


def test_a_population_of_a_longitudinal_attack_is_refused_or_understood(tmp_path: Path) -> None:
    """The journalist's risk is about one release; of several it must not end in our own mistake."""
    tables = [pa.table({"id": [1, 2], "q": [1, 1]}), pa.table({"id": [1, 2], "q": [7, 8]})]
    paths = written(tmp_path, tables)
    with pytest.raises(InputError):
        qifsql.attack("crl", paths, qids="q", key="id", population=paths[0])
