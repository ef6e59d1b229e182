"""Groups and distributions over people; stored counts; refusals."""

import os
import shutil
import zipfile
from fractions import Fraction as F
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from test_gains import (
    PLACE,
    Numbers,
    Release,
    Row,
    check,
    domain,
    light,
    long,
    matrices,
    releases,
    write,
)

import qifsql
from qifsql import Result
from qifsql.errors import InputError
from qifsql.reference import channel as ch
from qifsql.reference import microdata
from qifsql.reference import success as oracle

THRESHOLDS = ("0", "0.1", "0.2", "0.25", "0.333333333", "0.5", "0.6", "0.75", "1", "1.5", "2")
QUANTILES = ("0", "0.1", "0.25", "0.5", "0.666666667", "0.9", "1")


def gains(drawn: Release, secret: str | None) -> dict[str, ch.Gains]:
    """Gain functions that suit owners and secrets."""
    known = domain(drawn.joint(secret))
    return {
        "identity": ch.identity(known),
        "penalty:0.5": ch.penalty(known, F(1, 2)),
        "tries:1": ch.tries(known, 1),
    }


def gained(drawn: Release, secret: str | None, gain: str) -> list[F | None]:
    """Return the gain of the best guess for each row of positive weight, on its block."""
    best = {
        block: ch.vulnerability(inner, *gains(drawn, secret)[gain])
        for block, inner in ch.inners(drawn.joint(secret)).items()
    }
    masses = drawn.masses or [1] * len(drawn.table.rows)
    return [
        best[tuple(microdata.value(row[q]) for q in drawn.table.qids)] if mass else None
        for row, mass in zip(drawn.table.rows, masses, strict=True)
    ]


def lines(result: Result, name: str, row: Row) -> list[Row]:
    """The lines of a table of details that belong to a row of results."""
    found = result.details[name].to_dicts()
    return [line for line in found if line["attack_id"] == row["attack_id"]]


def same(a: Result, b: Result) -> None:
    """Whole results, to the last bit, but for the time they took and the names of files."""
    one, other = plain(a), plain(b)
    assert one.keys() == other.keys()
    for name, frame in one.items():
        assert_frame_equal(frame, other[name], check_exact=True)


def plain(result: Result) -> dict[str, pl.DataFrame]:
    """All tables of a result; lines of details say the place of their row."""
    places = {row.get("attack_id"): i for i, row in enumerate(result.rows())}
    return {
        "results": result.frame.drop("seconds", "attack_id", strict=False),
        **{
            name: table.with_columns(pl.col("attack_id").replace_strict(places))
            for name, table in result.details.items()
        },
    }


# Distributions


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
@light
@given(releases(), st.data())
def test_distributions_over_people_are_those_of_the_oracle(
    drawn: Release, data: st.DataObject
) -> None:
    thresholds = data.draw(st.lists(st.sampled_from(THRESHOLDS), min_size=1, unique=True))
    quantiles = data.draw(st.lists(st.sampled_from(QUANTILES), min_size=1, unique=True))
    asked: dict[str, Any] = {"thresholds": thresholds, "quantiles": map(float, quantiles)}
    with drawn.file() as path:
        result = drawn.ask(path, "crs,cas", gain=list(gains(drawn, None)), histogram=True, **asked)
    assert set(result.details) == {"histogram", "thresholds", "quantiles", "sure", "sure_curve"}
    for row in result.rows():
        people = oracle.of_individuals(gained(drawn, row["secret"], row["gain"]), drawn.masses)
        reached = lines(result, "thresholds", row)
        for line, t in zip(reached, sorted(map(F, thresholds)), strict=True):
            n = oracle.at_or_above(people, t)
            assert [line[c] for c in ("threshold", "individuals")] == [float(t), n]
            assert line["share"] == n / len(people)
        for line, q in zip(lines(result, "quantiles", row), sorted(map(F, quantiles)), strict=True):
            check(line, {"quantile": q, "success": oracle.quantile(people, q)})
        bins = [(line["bin"], line["individuals"]) for line in lines(result, "histogram", row)]
        chance = row["gain"] != "penalty:0.5"
        assert bins == (list(enumerate(oracle.histogram(people))) if chance else [])


@pytest.mark.cases(1)
@pytest.mark.parametrize("weight", [None, "1", "0.1::DOUBLE", "0.3::FLOAT", "0.7::DECIMAL(3,1)"])
def test_halves_of_a_percent_are_rounded_to_even_and_thresholds_are_reached(
    tmp_path: Path, weight: str | None
) -> None:
    """In each block some of n people share a value: weights, all the same, change nothing."""
    parts = [(k, n) for n in (3, 5, 6, 7, 8, 10, 12, 24, 40) for k in range(n // 2 + 1, n + 1)]
    rows = [{"q": q, "s": i < k} for q, (k, n) in enumerate(parts) for i in range(n)]
    path = write(tmp_path / "r.parquet", {c: [row[c] for row in rows] for c in ("q", "s")})
    people = oracle.of_individuals(oracle.individual_success(rows, ["q"], "s"))
    wanted = {"thresholds": [0.6, 0.7, 0.875, 0.95, 0.975, 1], "quantiles": [0.5]}
    options: dict[str, Any] = {"weight": weight, "histogram": True, **wanted}
    found = qifsql.attack("cas", path, qids="q", secret="s", **options).details
    reached = found["thresholds"].select("threshold", "individuals").rows()
    assert reached == [(t, oracle.at_or_above(people, F(str(t)))) for t, _ in reached]
    assert found["quantiles"]["success"].to_list() == [float(oracle.quantile(people, F(1, 2)))]
    assert found["histogram"]["individuals"].to_list() == oracle.histogram(people)


# Groups


def text(value: object) -> str | None:
    """A value as the engine writes it."""
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return None if value is None else shown


@light
@given(releases(), st.booleans(), st.data())
def test_groups_are_those_of_the_oracle(
    drawn: Release, computed: bool, data: st.DataObject
) -> None:
    table = drawn.table
    by = "half" if computed else data.draw(st.sampled_from(table.columns))
    rows = [{**row, "half": i // 2 % 2 == 0} for i, row in enumerate(table.rows)]
    with drawn.file() as path:
        options = {"by": f"half={PLACE} // 2 % 2 = 0" if computed else by}
        result = drawn.ask(path, "crs,cas", gain=list(gains(drawn, None)), **options)
    masses = [F(m) for m in drawn.masses or [1] * len(rows)]
    for row in result.rows():
        secret, gain = row["secret"], row["gain"]
        prior = ch.prior_gain(drawn.joint(secret), *gains(drawn, secret)[gain])
        wanted = oracle.groups(rows, table.qids, secret, by=by, weights=drawn.masses)
        people: dict[object, list[tuple[F, F]]] = {}
        for one, mass, p in zip(rows, masses, gained(drawn, secret, gain), strict=True):
            if p is not None:
                people.setdefault(microdata.value(one[by]), []).append((mass, p))
        means = {
            k: sum((w * p for w, p in own), F()) / wanted[k].weight for k, own in people.items()
        }
        found = {line["group"]: line for line in lines(result, "groups", row)}
        assert list(found) == sorted(found, key=lambda g: -found[g]["posterior_probabilistic"])
        assert found.keys() == {text(key) for key in wanted}
        for key, group in wanted.items():
            exact: Numbers = {
                "individuals": group.individuals,
                "singled_out": group.singled_out,
                "individuals_certain": group.certain,
                "posterior_deterministic": group.deterministic,
                "prior_probabilistic": prior,
                "posterior_probabilistic": means[key],
                "degradation_probabilistic": means[key] / prior if prior else None,
                "worst_case": max(p for _, p in people[key]),
                "guessed_right": group.guessed_right if gain == "identity" else None,
                "gap": means[key] - min(means.values()),
            }
            check(found[text(key)], exact)
            assert found[text(key)]["by"] == by


# Counts that are kept


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Forty people with a secret of many values, one of few, a group and weights."""
    n = range(40)
    columns = {
        "q": [i % 7 for i in n],
        "s": [i * i % 23 for i in n],
        "t": ["abc"[i % 3] if i % 5 else None for i in n],
        "g": [None if i % 4 == 3 else i % 4 for i in n],
        "w": [0.1 * (i % 6) for i in n],
    }
    return write(tmp_path / "people.parquet", columns)


@pytest.mark.slow(because="4.9 s; every recorded mutant dies without it")
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("by", [None, "g"])
def test_kept_counts_answer_without_the_data(
    people: Path, tmp_path: Path, weight: str | None, by: str | None
) -> None:
    belief = [0.5, 0.5, 0.0, 0.0]
    prior = write(tmp_path / "prior.csv", {"t": ["a", "b", "c", None], "belief": belief})
    store = tmp_path / "counts.duckdb"
    question: dict[str, Any] = {"qids": "q", "secret": ["s", "t"], "weight": weight, "by": by}
    asked: list[dict[str, Any]] = [
        {"gain": ["worth:4", "tries:2"], "thresholds": [0.5]},
        {"gain": ["penalty:0.3", "tries:3"], "measures": "all", "histogram": True},
        {"gain": "sql:CASE WHEN guess = secret THEN 3 ELSE -1 / 2 END"},
        {"prior": prior, "measures": "all", "quantiles": [0.5, 1]},
    ]
    fresh = [qifsql.attack("cas", people, **question, **more) for more in asked]
    qifsql.attack("cas", people, store=store, **question)
    for more, wanted in zip(asked, fresh, strict=True):
        found = qifsql.attack("cas", people, store=store, **question, **more)
        same(found, wanted)
        assert "read_parquet" not in found.origin.sql.casefold()
        assert people.name not in found.origin.sql


def test_kept_counts_of_owners_and_secrets_and_two_populations(
    people: Path, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"qids": "q", "secret": "t", "measures": "all"}
    store = tmp_path / "counts.duckdb"
    for copies in (1, 2, 3):
        frame = pl.concat([pl.read_parquet(people)] * copies)
        frame.write_parquet(tmp_path / f"everybody{copies}.parquet")
    for name in ("everybody2", "everybody3", "everybody1"):
        population = tmp_path / f"{name}.parquet"
        found = qifsql.attack("crs,cas", people, store=store, population=population, **options)
        same(found, qifsql.attack("crs,cas", people, population=population, **options))
        assert found.rows()[0]["journalist_risk"] == 1 / (5 * int(name[-1]))


CHANGES = """qids=q,g secret=s secret=t,s weight=w where=q>0 null=drop by=g model=crs,cas
source=others.parquet time=1"""


@pytest.mark.cases(1)
@pytest.mark.parametrize("change", CHANGES.split())
def test_kept_counts_answer_no_other_question(people: Path, tmp_path: Path, change: str) -> None:
    store = tmp_path / "counts.duckdb"
    shutil.copy2(people, tmp_path / "others.parquet")
    options: dict[str, Any] = {"qids": "q", "secret": ["s", "t"], "store": store}
    qifsql.attack("cas", people, **options)
    kept = store.read_bytes()
    name, _, other = change.partition("=")
    options[name] = other.split(",") if name in ("qids", "secret") else other
    if options.pop("time", None):
        os.utime(people, (1, 1))
    source = tmp_path / options.pop("source", people.name)
    with pytest.raises(InputError, match=r"counts of another question: .* differ"):
        qifsql.attack(options.pop("model", "cas"), source, **options)
    assert store.read_bytes() == kept


def test_kept_counts_answer_no_other_reading(tmp_path: Path) -> None:
    file, store = tmp_path / "t.csv", tmp_path / "counts.duckdb"
    file.write_text("x;y\n1,5;a\n1.5;b\n")
    options: dict[str, Any] = {"qids": "x,y", "store": store}
    answers = [qifsql.attack("crs", file, **options).frame["singled_out"].item() for _ in (1, 2)]
    assert answers == [2, 2]
    with pytest.raises(InputError, match="another question: reading differ"):
        qifsql.attack("crs", qifsql.Dataset.open(file, decimal=","), **options)


def test_kept_counts_of_tables_in_a_zip_answer_again(tmp_path: Path) -> None:
    box, store = tmp_path / "t.zip", tmp_path / "counts.duckdb"
    with zipfile.ZipFile(box, "w") as packed:
        packed.writestr("a.csv", "id,sex\n1,m\n2,f\n3,f\n")
        packed.writestr("b.csv", "id,sex\n1,m\n2,m\n3,f\n")
    sources = [f"a.csv@{box}", f"b.csv@{box}"]
    options: dict[str, Any] = {"key": "id", "qids": "sex", "store": store}
    answers = [qifsql.attack("crl", sources, **options).frame.drop("seconds") for _ in (1, 2)]
    assert_frame_equal(*answers)


def test_counts_that_were_not_finished_are_refused(people: Path, tmp_path: Path) -> None:
    store = tmp_path / "counts.duckdb"
    with duckdb.connect(store) as connection:
        connection.execute("CREATE TABLE cells_1 AS SELECT 1 AS qid_1")
    with pytest.raises(InputError, match="holds no counts, or was not finished"):
        qifsql.attack("cas", people, qids="q", secret="s", store=store)
    store.write_text("no database")
    with pytest.raises(InputError, match=store.name):
        qifsql.attack("cas", people, qids="q", secret="s", store=store)


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_after_a_refusal_the_same_file_may_hold_counts(people: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"qids": "q", "secret": "s"}
    store = tmp_path / "counts.duckdb"
    refused: list[dict[str, Any]] = [
        {"gain": "sql:nobody = guess"},
        {"weight": "-1 - q"},
        {"where": "q > 99"},
    ]
    for bad in refused:
        with pytest.raises(InputError):
            qifsql.attack("cas", people, store=store, **options, **bad)
    found = qifsql.attack("cas", people, store=store, **options)
    same(found, qifsql.attack("cas", people, **options))


# What must not matter


@pytest.mark.slow(because="test_attack.py has the same property of the plain attack")
@pytest.mark.parametrize("weight", [None, "1 / (1 + NU_ANO % 7)"])
def test_threads_order_and_split_are_irrelevant(
    samples: Path, tmp_path: Path, weight: str | None
) -> None:
    whole = pl.read_parquet(samples / "school_census_2019.parquet")
    mixed = whole.sample(fraction=1.0, shuffle=True, seed=5)
    mixed.write_parquet(tmp_path / "mixed.parquet", row_group_size=1_000)
    (tmp_path / "split").mkdir()
    for i, part in enumerate((mixed[:9_000], mixed[9_000:])):
        part.write_parquet(tmp_path / "split" / f"{i}.parquet")
    gain = "sql:CASE WHEN guess = secret THEN 3 ELSE -0.3 END"
    runs = [
        qifsql.attack(
            "crs,cas" if model else "cas",
            source,
            qids=["NU_MES", "TP_SEXO", "CO_MUNICIPIO_END"],
            secret=["IN_TRANSPORTE_PUBLICO", "CO_ENTIDADE"],
            weight=weight,
            gain=["identity", "tries:2", "penalty:0.3"] if model else ["tolerance:99", gain],
            measures="all",
            histogram=True,
            quantiles=[0.1, 0.5, 0.9],
            thresholds=[0.3],
            by="TP_COR_RACA",
            settings=qifsql.Settings(threads=threads, memory="1GB"),
        )
        for model in (True, False)
        for source, threads in (
            (samples / "school_census_2019.parquet", 1),
            (tmp_path / "mixed.parquet", 2),
            (tmp_path / "split", 2),
        )
    ]
    for first, *others in (runs[:3], runs[3:]):
        for other in others:
            same(first, other)


# Laws: specification, section 4


@pytest.mark.slow(because="3 s; every recorded mutant dies without it")
@settings(max_examples=examples(10))
@given(releases(), st.data())
def test_who_knows_more_never_gains_less(drawn: Release, data: st.DataObject) -> None:
    secret = drawn.table.secrets[0]
    joint = drawn.joint(secret)
    gains = data.draw(matrices(domain(joint)))
    gains = {pair: abs(gain) for pair, gain in gains.items()}
    qids = [*drawn.table.qids, "place=place // 2"]
    asked = ["identity", f"tries:{data.draw(st.integers(1, len(domain(joint))))}", "worth:2.5"]
    with drawn.file() as path:
        file = write(path.with_name("m.parquet"), long(gains, drawn.table.types[secret]))
        options: dict[str, Any] = {"secret": [secret], "gain": [*asked, f"matrix:{file}"]}
        chain = [
            drawn.ask(path, "cas", qids=qids[:n], measures="all", **options).rows()
            for n in range(1, len(qids) + 1)
        ]
    for row in (row for rows in chain for row in rows):
        assert (
            row["prior_probabilistic"]
            <= row["posterior_probabilistic"]
            <= row["worst_case"] * (1 + 1e-12)
        )
        leaked = row["degradation_probabilistic"]
        assert leaked is None or leaked <= row["capacity"] * (1 + 1e-12)
    for coarse, fine in pairwise(chain):
        for a, b in zip(coarse, fine, strict=True):
            assert a["prior_probabilistic"] == b["prior_probabilistic"]
            for name in ("posterior_probabilistic", "worst_case", "capacity", "mutual_information"):
                assert a[name] <= b[name] + 1e-12 * abs(b[name]) + 1e-12, name
            for name in ("posterior_entropy", "posterior_guessing"):
                assert b[name] <= a[name] * (1 + 1e-12) + 1e-12, name


# What is refused


@pytest.mark.parametrize(
    "options",
    [
        {"by": "g"},
        {"histogram": True},
        {"thresholds": [0.5]},
        {"quantiles": [0.5]},
        {"store": "counts.duckdb"},
        {"population": "people.parquet"},
    ],
    ids=str,
)
def test_one_person_has_no_groups(
    people: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.chdir(people.parent)
    with pytest.raises(InputError, match="ask for them with a collective model"):
        qifsql.attack("ias", people, target={"q": 1}, secret="s", **options)
    assert [path.name for path in people.parent.iterdir()] == [people.name]
