"""Population uniqueness from a sample: the papers' definitions, published numbers, the truth."""

import html
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import oracle_estimate as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.commands.estimate.estimate import (
    ESTIMATES,
    HISTOGRAM,
    HOUSEHOLDS,
    INDIVIDUAL,
    estimate_by_method,
)
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, DatasetError, InputError, OutputError, WeightError
from qifsql.measures import uniqueness as sp
from qifsql.measures.numerical_methods import harmonic, log_rising, root
from qifsql.measures.uniqueness import Sizes
from qifsql.reference import people_with_records
from qifsql.reference import sample_estimates as se

BLOCKS = st.dictionaries(st.integers(1, 40), st.integers(1, 30), min_size=1, max_size=8)
MIXED = st.builds(  # some are unique, some are not
    lambda ones, twos, more: more | {1: ones, 2: twos},
    st.integers(1, 60),
    st.integers(1, 40),
    BLOCKS,
)
FRACTIONS = st.fractions(Fraction(1, 200), Fraction(199, 200), max_denominator=400)


# People with several records


@settings(max_examples=examples(12), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, *"ijklmn"]), st.sampled_from([None, 1, 2]), st.sampled_from("xy")
        ),
        min_size=1,
        max_size=20,
    ),
    st.integers(0, 50),
)
def test_people_with_several_records_are_individuals(rows: list[Any], others: int):
    """The estimates are those of the blocks of people with equal records."""
    table = pl.DataFrame(
        rows, schema={"who": pl.String(), "a": pl.Int64(), "b": pl.String()}, orient="row"
    )
    records = table.to_dicts()
    people = [
        block
        for block, _ in people_with_records.individuals(records, "who", ["a", "b"], None, "all")
    ]
    blocks = Counter(Counter(people).values())
    population = len(people) + others
    result = qifsql.estimate(table, qids="a,b", person="who", population_size=population)
    first = result.frame.row(0, named=True)
    assert (first["records"], first["people"], first["known_records"]) == (
        len(rows),
        len(people),
        "all",
    )
    assert (first["blocks"], first["singled_out"]) == (len(set(people)), blocks[1])
    by_code = {person: code for code, person in enumerate(dict.fromkeys(people))}
    plain = pl.DataFrame({"q": [by_code[person] for person in people]})
    same = qifsql.estimate(plain, qids="q", population_size=population)
    names = ["method", "population_uniques", "population_share", "of_sample_uniques", "fraction"]
    assert result.frame.select(names).equals(same.frame.select(names))
    risk = result.details["individual"].rename({"people": "records"})
    assert risk.equals(same.details["individual"])


def test_what_is_about_records_is_refused_with_a_person(tmp_path: Path):
    table = pl.DataFrame({"who": ["i", "i", "j"], "a": [1, 2, 1], "w": [2, 2, 2]})
    with pytest.raises(InputError, match="leave records or person out"):
        qifsql.estimate(table, qids="a", person="who", fraction=0.5, records=tmp_path / "r.csv")
    with pytest.raises(InputError, match="person and weight"):
        qifsql.estimate(table, qids="a", person="who", sampling_weight="w")
    with pytest.raises(InputError, match="the sample of 2 people"):
        qifsql.estimate(table, qids="a", person="who", population_size=1)


# Sums and roots


@given(st.floats(1e-6, 1e6), st.integers(0, 400))
def test_harmonic_sums_are_those_of_their_terms(x: float, terms: int):
    assert harmonic(x, terms) == pytest.approx(math.fsum(1 / (x + i) for i in range(terms)), 1e-13)


@given(st.fractions(Fraction(1, 1000), 10**6), st.integers(0, 60))
def test_rising_products_are_those_of_their_factors(x: Fraction, steps: int):
    wanted = math.fsum(math.log(x + i) for i in range(steps))
    assert log_rising(float(x), steps) == pytest.approx(wanted, rel=1e-12, abs=1e-11)


@given(st.floats(-5, 5), st.floats(0.01, 9), st.floats(0.01, 9))
def test_a_root_is_where_the_function_is_0(zero: float, below: float, above: float):
    found = root(lambda x: math.expm1(x - zero), zero - below, zero + above)
    assert found == pytest.approx(zero, abs=1e-13)


# Methods


@settings(max_examples=examples(60))
@given(BLOCKS, FRACTIONS)
@example({1: 3, 2: 1, 90: 1}, Fraction(9, 10))
def test_zayatz_is_bayes_with_the_hypergeometric(blocks: dict[int, int], fraction: Fraction):
    sample = Sizes(blocks, fraction)
    wanted = se.zayatz(blocks, sample.population) * blocks.get(1, 0) / fraction
    wanted = min(wanted, Fraction(sample.population))
    assert sp.zayatz(sample).number == pytest.approx(float(wanted), rel=1e-11)


def test_zayatz_with_large_blocks_is_the_same():
    blocks = {1: 500, 2: 80, 70: 3, 900: 2, 2000: 1}
    fraction = Fraction(1, 50)
    wanted = se.zayatz(blocks, Sizes(blocks, fraction).population) * 500 / fraction
    assert sp.zayatz(Sizes(blocks, fraction)).number == pytest.approx(float(wanted), rel=1e-9)


@settings(max_examples=examples(40))
@given(MIXED, st.randoms(use_true_random=False))
def test_pitmans_parameters_are_the_likeliest(blocks: dict[int, int], random: Any):
    fitted = sp.pitman(Sizes(blocks, Fraction(1, 20))).parameters
    alpha, theta = fitted["alpha"], fitted["theta"]
    best = oracle.pitman_likelihood(blocks, alpha, theta)
    for _ in range(60):
        other = random.choice([0.0, random.random(), min(0.999, alpha * random.uniform(0.9, 1.1))])
        spread = random.choice([8.0, 1.0, 0.01])
        beyond = (theta + alpha) * math.exp(random.uniform(-spread, spread))
        assert oracle.pitman_likelihood(blocks, other, beyond - other) <= best + 1e-6


@settings(max_examples=examples(40))
@given(MIXED, st.fractions(Fraction(1, 30), 1))
def test_pitmans_uniques_are_those_of_people_who_come_one_by_one(
    blocks: dict[int, int], fraction: Fraction
):
    sample = Sizes(blocks, fraction)
    found = sp.pitman(sample)
    assert found.number is not None
    alpha, theta = found.parameters["alpha"], found.parameters["theta"]
    wanted = oracle.pitman_uniques(alpha, theta, sample.population)
    assert found.number == pytest.approx(wanted, rel=1e-7)


@settings(max_examples=examples(40), deadline=None)
@given(MIXED, FRACTIONS)
@example({1: 4, 2: 11}, Fraction(1, 200))
def test_snb_gives_the_sample_its_blocks_of_one_and_two(blocks: dict[int, int], q: Fraction):
    sample = Sizes(blocks, q)
    found = sp.snb(sample)
    if found.number is None:
        assert found.problem
        return
    fitted = found.parameters
    alpha, beta, classes = fitted["alpha"], fitted["beta"], fitted["classes"]
    assert alpha > 0
    assert 0 < beta < 1
    assert classes == pytest.approx(float(oracle.shlosser(blocks, q)), rel=1e-9)
    assert found.number == pytest.approx(classes * beta**alpha, rel=1e-6)
    if beta > 0.01 and beta**alpha > 1e-200:  # where the oracle can add up the law
        for drawn in (1, 2):
            there = oracle.snb_expected(alpha, beta, classes, float(q), drawn)
            assert there == pytest.approx(blocks[drawn], rel=1e-6)


def test_snb_finds_the_law_that_made_the_sample(monkeypatch: pytest.MonkeyPatch):
    alpha, beta, classes, q = 0.7, 0.3, 10**7, 0.2
    ones, twos = (oracle.snb_expected(alpha, beta, classes, q, d) for d in (1, 2))
    monkeypatch.setattr(sp, "blocks_there", lambda _: float(classes))
    found = sp.snb(Sizes({1: round(ones), 2: round(twos), 1000: 10_000}, Fraction(1, 5)))
    assert found.parameters["alpha"] == pytest.approx(alpha, rel=1e-3)
    assert found.parameters["beta"] == pytest.approx(beta, rel=1e-3)
    assert found.number == pytest.approx(classes * beta**alpha, rel=1e-3)


def test_dankars_rule_is_the_published_one():
    """Dankar et al. 2012: Pitman up to 0.1, above it the smaller of SNB and Zayatz."""

    def rule(fraction: str, **numbers: float | None) -> str | None:
        found = {m: sp.Uniques(m, n) for m, n in numbers.items()}
        return sp.dankar(found, Fraction(fraction)).takes

    assert rule("0.05", pitman=9.0, snb=1.0, zayatz=2.0) == "pitman"
    assert rule("0.1", pitman=9.0, snb=1.0, zayatz=2.0) == "pitman"
    assert rule("0.11", pitman=9.0, snb=1.0, zayatz=2.0) == "snb"
    assert rule("0.5", pitman=9.0, snb=3.0, zayatz=2.0) == "zayatz"
    assert rule("0.5", pitman=9.0, snb=None, zayatz=2.0) == "zayatz"
    assert rule("0.01", pitman=None, snb=1.0, zayatz=2.0) == "zayatz"


@settings(max_examples=examples(60))
@given(BLOCKS, FRACTIONS)
def test_estimates_are_numbers_of_people(blocks: dict[int, int], fraction: Fraction):
    sample = Sizes(blocks, fraction)
    for one in estimate_by_method(sample, Fraction(blocks.get(1, 0)) * fraction):
        if one.number is None:
            assert one.problem
        else:
            assert 0 <= one.number <= sample.population * (1 + 1e-9)


def test_a_unique_match_is_right_as_skinner_and_elliot_say():
    """DIS: q s1 / (q s1 + 2 (1 - q) s2); by hand 10/100 * 30 = 3, 2 * 9/10 * 5 = 9: 3/12."""
    assert sp.unique_match(Sizes({1: 30, 2: 5, 9: 1}, Fraction(1, 10))) == 0.25
    assert sp.unique_match(Sizes({3: 5}, Fraction(1, 10))) is None


# The risk of records


def write(path: Path, rows: list[tuple[Any, ...]], schema: dict[str, Any]) -> Path:
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path)
    return path


def test_individual_risks_are_those_of_sdcmicro(tmp_path: Path):
    """sdcMicro, tests of indivRisk: "data frame with weight, method = exact"."""
    a, b, c = (2, 3, 2, 2, 3, 3, 1, 2), (3, 3, 3, 3, 3, 3, 4, 3), (1, 3, 1, 2, 1, 1, 1, 1)
    weights = (18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0)
    schema = {"A": pl.Int64, "B": pl.Int64, "C": pl.Int64, "weight": pl.Float64}
    rows = list(zip(a, b, c, weights, strict=True))
    file, out = write(tmp_path / "a.parquet", rows, schema), tmp_path / "risk.parquet"
    done = qifsql.estimate(file, qids=["A", "B", "C"], sampling_weight="weight", records=out)
    published = (
        *(0.01355297, 0.08579129, 0.01355297, 0.17707583),
        *(0.01877883, 0.01877883, 0.03931625, 0.01355297),
    )
    found = pl.read_parquet(out)
    assert found["risk"].to_list() == pytest.approx(published, rel=5e-7)
    assert found["block_size"].to_list() == [3, 1, 3, 1, 2, 2, 1, 3]
    assert found["population_block"].to_list() == pytest.approx(
        [108, 45.5, 108, 17, 100, 100, 123.5, 108]
    )
    row = done.details["individual"].row(0, named=True)
    assert row["expected_reidentified"] == pytest.approx(sum(published), rel=1e-6)
    assert row["highest_risk"] == pytest.approx(0.17707583)


@pytest.mark.cases(5)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 19, 20, 300])
@pytest.mark.parametrize("share", ["1/100000", "1/100", "1/3", "1/2", "51/100", "999/1000", "1"])
def test_risks_are_exact_for_small_and_large_blocks(tmp_path: Path, size: int, share: str):
    rows = [(1,)] * size + [(2,)]
    file, out = write(tmp_path / "a.parquet", rows, {"a": pl.Int64}), tmp_path / "r.parquet"
    qifsql.estimate(file, qids="a", fraction=share, records=out)
    wanted = se.risk(size, Fraction(share))
    assert pl.read_parquet(out)["risk"][0] == pytest.approx(wanted, rel=1e-12)
    if Fraction(share) > Fraction(1, 4) and size < 100:
        assert wanted == pytest.approx(oracle.risk_summed(size, float(Fraction(share))), rel=1e-9)


WEIGHTS = {
    pl.Int64: st.integers(1, 50),
    pl.Float64: st.floats(1, 90).map(lambda w: round(w, 3)),
    pl.Decimal(9, 2): st.integers(100, 5000).map(lambda n: Decimal(n) / 100),
}
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "'", None]), st.sampled_from([0.0, -0.0, 1.5, math.nan, None])
    ),
    min_size=2,
    max_size=25,
)


def block(person: tuple[str | None, float | None]) -> tuple[str | None, float | None]:
    """A missing value is one value, and so is 0."""
    a, b = person
    return a, None if b is None or math.isnan(b) else b + 0.0


@settings(max_examples=examples(25), deadline=None)
@given(PEOPLE, st.sampled_from(list(WEIGHTS)), st.data())
def test_weighted_samples_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, people: list[Any], kind: Any, data: st.DataObject
):
    weights = data.draw(st.lists(WEIGHTS[kind], min_size=len(people), max_size=len(people)))
    folder = tmp_path_factory.mktemp("e")
    rows = [(a, b, w) for (a, b), w in zip(people, weights, strict=True)]
    file = write(folder / "a.parquet", rows, {'a"b': pl.String, "select": pl.Float64, "w": kind})
    done = qifsql.estimate(
        file, qids=['a"b', "select"], sampling_weight="w", records=folder / "r.parquet"
    )
    size: Counter[Any] = Counter(map(block, people))
    total: dict[Any, Fraction] = defaultdict(Fraction)
    for person, weight in zip(people, weights, strict=True):
        total[block(person)] += Fraction(weight)
    wanted = [se.risk(size[b], min(size[b] / total[b], 1)) for b in map(block, people)]
    found = pl.read_parquet(folder / "r.parquet")
    assert found["risk"].to_list() == pytest.approx(wanted, rel=1e-12)
    assert found["block_size"].to_list() == [size[block(p)] for p in people]
    row = done.details["individual"].row(0, named=True)
    assert row["expected_reidentified"] == pytest.approx(math.fsum(wanted), rel=1e-12)
    assert row["highest_risk"] == pytest.approx(max(wanted))
    assert done.details["histogram"]["individuals"].sum() == len(people)
    first = done.frame.row(0, named=True)
    assert first["population"] == max(round(sum(total.values())), len(people))
    assert first["singled_out"] == sum(n == 1 for n in size.values())
    schemas = (
        done.frame.schema,
        done.details["individual"].schema,
        done.details["histogram"].schema,
    )
    assert schemas == (ESTIMATES, INDIVIDUAL, HISTOGRAM)


# The risk of households

HOMES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, math.nan, None])


@settings(max_examples=examples(25), deadline=None)
@given(PEOPLE, st.booleans(), st.data())
def test_a_household_is_found_through_any_member(
    tmp_path_factory: pytest.TempPathFactory,
    people: list[Any],
    weighted: bool,
    data: st.DataObject,
):
    """Each record has 1 - the product of what its household misses, with or without weights."""
    n = len(people)
    homes = data.draw(st.lists(HOMES, min_size=n, max_size=n))
    weights = data.draw(st.lists(WEIGHTS[pl.Int64], min_size=n, max_size=n))
    folder = tmp_path_factory.mktemp("h")
    rows = [(a, b, h, w) for (a, b), h, w in zip(people, homes, weights, strict=True)]
    schema = {"a": pl.String, "b": pl.Float64, 'h"; drop': pl.Float64, "w": pl.Int64}
    file = write(folder / "a.parquet", rows, schema)
    way: dict[str, Any] = {"sampling_weight": "w"} if weighted else {"fraction": "1/3"}
    done = qifsql.estimate(
        file, qids=["a", "b"], household='h"; drop', records=folder / "r.parquet", **way
    )
    found = pl.read_parquet(folder / "r.parquet")
    named = [None if h is None or math.isnan(h) else h + 0.0 for h in homes]
    wanted = se.household_risks(found["risk"].to_list(), named)
    assert found["household_risk"].to_list() == pytest.approx([*map(float, wanted)], rel=1e-12)
    row = done.details["households"].row(0, named=True)
    assert done.details["households"].schema == HOUSEHOLDS
    assert (row["people"], row["people_without"]) == (n, named.count(None))
    assert row["households"] == len({*named} - {None}) + named.count(None)
    assert row["expected_people"] == pytest.approx(float(sum(wanted)), rel=1e-12)
    assert row["mean_risk"] == pytest.approx(float(sum(wanted)) / n, rel=1e-12)
    assert row["worst_risk"] == pytest.approx(float(max(wanted)), rel=1e-12)
    assert row["risk_low"] <= row["risk"] * (1 + 1e-12)
    assert row["risk"] <= row["risk_high"] * (1 + 1e-12)


def test_household_risks_are_those_of_sdcmicro(shared: Path):
    """The household survey of sdcMicro: 1 - prod(1 - risk), added up over the records."""
    file = shared / "data" / "sdc_testdata.parquet"
    qids = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    done = qifsql.estimate(file, qids=qids, sampling_weight="sampling_weight", household="ori_hid")
    blocks = pl.len().over(qids).alias("f"), pl.col("sampling_weight").sum().over(qids).alias("F")
    sample = pl.read_parquet(file).with_columns(*blocks)
    risk = [se.risk(f, Fraction(f, n)) for f, n in sample.select("f", "F").iter_rows()]
    wanted = float(sum(se.household_risks(risk, sample["ori_hid"].to_list())))
    row = done.details["households"].row(0, named=True)
    assert row["expected_people"] == pytest.approx(wanted, rel=1e-12)
    assert (row["households"], row["people"]) == (1000, 4580)
    assert any("as independent" in note for note in done.notes)


def test_households_of_everybody_have_the_risks_of_an_attack(tmp_path: Path):
    """In a whole population a household is found as an attack finds it; a file of risks says so."""
    rows = [(i % 5, i % 7, i // 3) for i in range(40)]
    file = write(tmp_path / "a.parquet", rows, {"a": pl.Int64, "b": pl.Int64, "h": pl.Int64})
    estimated = qifsql.estimate(file, qids="a,b", fraction=1, household="h")
    exact = qifsql.attack("crs", file, qids="a,b", household="h").details["households"]
    same = [name for name in HOUSEHOLDS if name in exact.columns]
    assert estimated.details["households"].select(same).equals(exact.select(same))


@pytest.mark.parametrize("column", ["nothing", "max(h)", "h", "x="])
def test_a_household_that_is_no_column_is_bad_input(column: str, tmp_path: Path):
    file = write(
        tmp_path / "a.parquet", [(1, {"x": 1})], {"a": pl.Int64, "h": pl.Struct({"x": pl.Int64})}
    )
    done = run("estimate", file, "-q", "a", "--fraction", "0.5", "--household", column)
    assert (done.code, "Traceback" in done.err) == (2, False)


# The whole


def test_results_do_not_depend_on_threads_or_order(tmp_path: Path):
    rows = [(i * i % 97, i % 7, 1 + i % 13 / 7) for i in range(5000)]
    schema = {"a": pl.Int64, "b": pl.Int64, "w": pl.Float64}
    results = []
    for i, own in enumerate((rows, rows[::-1])):
        file = write(tmp_path / f"{i}.parquet", own, schema)
        for threads in (1, 3):
            done = qifsql.estimate(
                file, qids=["a", "b"], sampling_weight="w", settings=Settings(threads=threads)
            )
            frames = (
                done.frame.drop("seconds"),
                done.details["individual"],
                done.details["histogram"],
            )
            results.append([frame.rows() for frame in frames])
    assert all(result == results[0] for result in results)


def test_estimates_come_near_the_truth(shared: Path):
    """Samples of 200,000 synthetic pupils: birth date, sex and city, drawn by a hash."""
    file = shared / "data" / "inep_like_200k.parquet"
    qids = ["NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "CO_MUNICIPIO_END"]
    truth = qifsql.estimate(file, qids=qids, fraction=1).frame["population_uniques"][0]
    columns = pl.read_parquet(file)
    for share, off in ((0.05, 0.15), (0.1, 0.15), (0.3, 0.1), (0.5, 0.05)):
        drawn = columns.sample(fraction=share, seed=1)
        blocks = Counter(drawn.group_by(qids).len()["len"])
        q = Fraction(str(share))
        rule = estimate_by_method(Sizes(blocks, q), q * blocks[1])[0]
        assert rule.number == pytest.approx(truth, rel=off), share


def test_a_sample_of_everybody_is_exact(tmp_path: Path):
    file = write(tmp_path / "a.parquet", [(1,), (2,), (2,), (3,)], {"a": pl.Int64})
    done = qifsql.estimate(file, qids="a", fraction=1)
    row = done.frame.row(0, named=True)
    assert (done.frame.height, row["method"], row["population_uniques"]) == (1, "exact", 2)
    assert (row["population_share"], row["of_sample_uniques"]) == (0.5, 1)
    assert done.details["individual"]["expected_reidentified"][0] == 3
    assert done.notes == ()
    for way in ({"population_size": 4}, {"sampling_weight": "1"}):
        assert qifsql.estimate(file, qids="a", **way).frame["method"].to_list() == ["exact"]


def test_a_fraction_and_the_number_of_people_say_the_same(tmp_path: Path):
    rows = [(i * i % 31, i % 3) for i in range(60)]
    file = write(tmp_path / "a.parquet", rows, {"a": pl.Int64, "b": pl.Int64})
    ways = (
        {"fraction": "0.05"},
        {"fraction": "1/20"},
        {"population_size": 1200},
        {"sampling_weight": "20"},
    )
    found = [qifsql.estimate(file, qids=["a", "b"], **way) for way in ways]
    frames = [one.frame.drop("seconds") for one in found]
    assert all(frame.equals(frames[0]) for frame in frames)
    assert all(one.details["individual"].equals(found[0].details["individual"]) for one in found)


def test_samples_that_tell_nothing_say_so(tmp_path: Path):
    alike = write(tmp_path / "alike.parquet", [(1,)] * 9, {"a": pl.Int64})
    done = qifsql.estimate(alike, qids="a", fraction="0.1")
    assert set(done.frame["population_uniques"]) == {0.0}
    assert any("nobody is unique" in note for note in done.notes)
    other = write(tmp_path / "other.parquet", [(i,) for i in range(9)], {"a": pl.Int64})
    done = qifsql.estimate(other, qids="a", fraction="0.1")
    found = {row["method"]: row for row in done.frame.iter_rows(named=True)}
    assert found["dankar"]["takes"] == "zayatz"
    assert found["zayatz"]["population_uniques"] == 90
    for method in ("pitman", "snb"):
        assert not found[method]["converged"]
        assert found[method]["population_uniques"] is None
        assert any(note.startswith(f"{method} has no answer") for note in done.notes)


def test_a_risk_that_is_too_low_is_said(tmp_path: Path):
    """Nearly all blocks are small: a unique match is right more often than the risks say."""
    rows = [(i,) for i in range(1000)] + [(i,) for i in range(5)]
    file = write(tmp_path / "a.parquet", rows, {"a": pl.Int64})
    done = qifsql.estimate(file, qids="a", fraction="0.02")
    match, risk = (
        0.02 * 995 / (0.02 * 995 + 2 * 0.98 * 5),
        se.risk(1, Fraction(1, 50)),
    )
    assert done.details["individual"]["unique_match"][0] == pytest.approx(match)
    assert match > 2 * risk
    (said,) = [note for note in done.notes if "too low" in note]
    assert f"{risk:.2g}" in said
    assert f"{match:.2g}" in said


def test_filters_and_missing_values(tmp_path: Path):
    rows = [(1, "k1"), (None, "k2"), (2, "k3"), (2, "k4"), (7, "k5")]
    file = write(tmp_path / "a.parquet", rows, {"a": pl.Int64, "key": pl.String})
    out = tmp_path / "r.csv"
    done = qifsql.estimate(
        file, qids="a", fraction="0.5", where="a IS NULL OR a < 7", null="drop", key="key",
        records=out,
    )  # fmt: skip
    assert done.frame["records"][0] == 3
    found = pl.read_csv(out)
    assert found.columns == ["record", "key", "block_size", "population_block", "risk"]
    assert found["key"].to_list() == ["k1", "k3", "k4"]
    assert (tmp_path / "r.csv.manifest.json").is_file()


# Bad input


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [(1, 2.0, 0, None, -1.0, 0.1), (2, 3.0, 1, 4.0, 2.0, 0.1), (2, 3.0, 2, 1.0, 2.0, 0.1)]
    names = {"a": pl.Int64, "w": pl.Float64, "zero": pl.Int64}
    names |= {"gap": pl.Float64, "less": pl.Float64, "small": pl.Float64}
    return write(tmp_path / "t.parquet", rows, names)


@pytest.mark.parametrize("fraction", ["0", "-0.1", "1.01", "nan", "inf", "1/0", "much", "", "10%"])
def test_fractions_that_are_none_are_refused(table: Path, fraction: str):
    with pytest.raises(InputError, match="above 0 up to 1"):
        qifsql.estimate(table, qids="a", fraction=fraction)


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({}, InputError, "in one way"),
        ({"fraction": 0.1, "sampling_weight": "w"}, InputError, "in one way"),
        ({"population_size": 2}, InputError, "smaller than the sample"),
        ({"population_size": 0}, InputError, "at least 1"),
        ({"population_size": 10**20}, InputError, "at most 1,000,000,000,000,000"),
        ({"sampling_weight": "zero"}, WeightError, "is 0 in 1 record"),
        ({"sampling_weight": "gap"}, WeightError, "missing, negative or infinite"),
        ({"sampling_weight": "less"}, WeightError, "missing, negative or infinite"),
        ({"sampling_weight": "small"}, WeightError, "less than its 3 records"),
        ({"sampling_weight": "wait"}, ColumnError, "wait"),
        ({"fraction": 0.1, "qids": "b"}, ColumnError, '"b"'),
        ({"fraction": 0.1, "where": "a > 9"}, DatasetError, "no records"),
        ({"fraction": 0.1, "null": "match-any"}, InputError, "match-any"),
        ({"fraction": 0.1, "records": "r.xlsx"}, OutputError, ".parquet"),
        ({"fraction": 0.1, "records": "nowhere/r.csv"}, OutputError, "nowhere"),
    ],
)
def test_bad_input_is_refused(
    table: Path, asked: dict[str, Any], error: type[Exception], says: str
):
    before = sorted(table.parent.iterdir())
    with pytest.raises(error, match=says):
        qifsql.estimate(table, **({"qids": "a"} | asked))
    assert sorted(table.parent.iterdir()) == before


def test_the_input_is_not_written_over(table: Path):
    with pytest.raises(OutputError, match="is the input"):
        qifsql.estimate(table, qids="a", fraction=0.1, records=table)


def test_the_command_gives_what_the_function_gives(tmp_path: Path):
    rows = [(i * i % 41, i % 3, 30.0) for i in range(90)]
    file = write(tmp_path / "a.parquet", rows, {"a": pl.Int64, "<b>": pl.Int64, "w": pl.Float64})
    done = run("estimate", file, "--qids", "a,<b>", "--sampling-weight", "w", "--format", "json")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["spec"]["weight"] == "w"
    mine = qifsql.estimate(file, qids=["a", "<b>"], sampling_weight="w")
    for row, one in zip(document["results"], mine.frame.drop("seconds").to_dicts(), strict=True):
        assert {name: row[name] for name in one} == one
    assert document["individual"] == mine.details["individual"].to_dicts()
    assert document["histogram"] == mine.details["histogram"].to_dicts()
    assert [f"note: {note}" for note in mine.notes] == done.err.splitlines()
    shown = run("estimate", file, "--qids", "a,<b>", "--fraction", "1/30", "--format", "table")
    assert "Franconi-Polettini" in shown.out
    assert "<b>" in shown.out
    out = tmp_path / "r.parquet"
    quiet = run("estimate", file, "-q", "a", "--fraction", "0.3", "--records", out, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert pl.read_parquet(out).height == 90


def test_the_command_refuses_in_one_line(tmp_path: Path):
    file = write(tmp_path / "a.parquet", [(1,), (2,)], {"a": pl.Int64})
    done = run("estimate", file, "--qids", "a", "--fraction", "2")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: a fraction is a number above 0 up to 1")
    assert done.err.count("\n") == 1


def test_where_methods_disagree_the_range_is_said_and_few_records_are_too_few(tmp_path: Path):
    file = write(tmp_path / "a.parquet", [(1,), (2,), (2,)], {"a": pl.Int64})
    done = run("estimate", file, "-q", "a", "--fraction", "0.1", "--format", "table")
    assert "The methods disagree: from 0.015 to 3.5 people" in " ".join(done.out.split())
    assert "This range is not a confidence interval" in " ".join(done.out.split())
    assert "note: 3 records are too few" in done.err


def test_options_that_do_nothing_and_files_named_twice_are_refused(tmp_path: Path):
    file = write(tmp_path / "a.parquet", [(1,), (2,), (2,)], {"a": pl.Int64})
    out = tmp_path / "er.csv"
    for more, says in (
        (["--key", "a"], "name one with --records"),
        (["--records", out, "-o", out], "-o and --records both name"),
        (["-o", tmp_path / "nowhere" / "x.csv"], "there is no folder"),
        (["-o", tmp_path / "a.parquet"], "is the input"),
    ):
        done = run("estimate", file, "-q", "a", "--fraction", "0.1", *more)
        assert done.code == 2
        assert says in done.err
    assert not out.exists()


@pytest.mark.cases(1)
@pytest.mark.parametrize("shape", ["even", "mostly unique", "long tail"])
def test_every_line_says_when_it_is_out_of_its_range(tmp_path: Path, shape: str) -> None:
    """An estimate of twice the truth or half of it has a caution in its row, and is marked."""
    draw = random.Random(5)
    drawn = {
        "even": lambda: draw.randrange(4000),
        "mostly unique": lambda: draw.randrange(120_000),
        "long tail": lambda: int(math.exp(draw.gauss(5, 2))),
    }[shape]
    people = [drawn() for _ in range(20_000)]
    truth = sum(n == 1 for n in Counter(people).values())
    for fraction in ("0.01", "0.1", "0.2", "0.5"):
        sample = draw.sample(people, round(len(people) * float(fraction)))
        path = tmp_path / "sample.parquet"
        pl.DataFrame({"a": sample}).write_parquet(path)
        asked = ["estimate", path, "--qids", "a", "--fraction", fraction]
        rows = json.loads(run(*asked, "--format", "json").out)["results"]
        for row in rows:
            number = row["population_uniques"]
            if number is not None and not truth / 2 <= number <= 2 * truth:
                assert row["caution"], (shape, fraction, row["method"], number, truth)
        assert run(*asked, "-o", tmp_path / "page.html").code == 0
        page = html.unescape((tmp_path / "page.html").read_text())
        cautious = [row for row in rows if row["caution"]]
        assert page.count("(out of range)") == len(cautious)
        assert all(row["caution"] in " ".join(page.split()) for row in cautious)
    assert all(row["caution"] is None for row in rows if row["takes"])


# Populations of ten shapes


PEOPLE, PLACES = 100_000, 20_000


def skewed(exponent: float) -> Callable[[np.random.Generator], Any]:
    """People who are in places as frequent as Zipf's law says."""

    def drawn(rng: np.random.Generator) -> Any:
        shares = 1 / np.arange(1, PLACES + 1) ** exponent
        return rng.choice(PLACES, PEOPLE, p=shares / shares.sum())

    return drawn


def lognormal(spread: float) -> Callable[[np.random.Generator], Any]:
    """People in places whose sizes are log-normal."""

    def drawn(rng: np.random.Generator) -> Any:
        shares = rng.lognormal(0, spread, PLACES)
        return rng.choice(PLACES, PEOPLE, p=shares / shares.sum())

    return drawn


def crowded(rng: np.random.Generator) -> Any:
    """Nine in ten people in one place, all others nearly alone."""
    return np.where(rng.random(PEOPLE) < 0.9, 0, rng.integers(1, 40_000, PEOPLE))


SHAPES: dict[str, Callable[[np.random.Generator], Any]] = {
    "one of the worst": skewed(1.1),
    "few alone": skewed(2.0),
    "most in one place": crowded,
    "flat": skewed(0.8),
    "steep": skewed(1.5),
    "log-normal 1": lognormal(1),
    "log-normal 2": lognormal(2),
    "log-normal 3": lognormal(3),
    "even": lambda rng: rng.integers(0, 50_000, PEOPLE),
    "geometric": lambda rng: rng.geometric(0.001, PEOPLE),
}


@pytest.mark.cases(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_risk_of_records_far_below_the_truth_carries_a_caution(shape: str) -> None:
    rng = np.random.default_rng(7)
    people = SHAPES[shape](rng)
    sizes = np.bincount(people)
    for fraction in (0.01, 0.1):
        sample = people[rng.random(PEOPLE) < fraction]
        right = float((1 / sizes[sample]).sum())  # links, if every record is linked
        result = qifsql.estimate(
            pl.DataFrame({"place": sample}), qids="place", population_size=PEOPLE
        )
        expected = result.details["individual"]["expected_reidentified"][0]
        warned = any("contradict the uniques" in n or "is too low" in n for n in result.notes)
        assert warned or right <= 2 * expected, (fraction, right, expected)


def test_no_estimate_is_an_upper_bound(tmp_path: Path) -> None:
    path = tmp_path / "sample.parquet"
    pl.DataFrame({"place": [*range(400), *[1000] * 600]}).write_parquet(path)
    done = run("estimate", path, "-q", "place", "--fraction", "0.01", "--format", "table")
    text = " ".join(done.out.split())
    assert "at most" not in text
    assert "This contradicts the uniques above" in text
