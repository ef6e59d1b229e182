"""Noisy knowledge: held against the oracle, the plain attack, and all subsets of knowledge."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from places import SAMPLES

import qifsql
from qifsql.adversary.laws import laws
from qifsql.adversary.spec import Attack
from qifsql.commands.attack.noisy import draws as drawing
from qifsql.commands.attack.noisy import elimination, law_tables
from qifsql.commands.attack.noisy import noisy as noisy_attack
from qifsql.commands.attack.noisy.bind import bind
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.commands.attack.noisy.elimination import measure
from qifsql.commands.attack.noisy.noisy import UNREPORTED
from qifsql.counting.session import opened
from qifsql.engine.settings import Settings
from qifsql.errors import QifError
from qifsql.reference import microdata
from qifsql.reference import noisy_knowledge as oracle
from qifsql.reference.success import Success, attack

NEAR = pytest.approx
TABLE = {("a", "a"): Fraction(3, 4), ("a", "x"): Fraction(1, 4), ("b", "x"): Fraction(1)}
TABLE |= {(None, None): Fraction(1, 2), (None, "a"): Fraction(1, 2)}
LAWS = {
    "age:+-1": oracle.within(1),
    "age:+-3": oracle.within(3),
    "age:sd=0.7": oracle.normal(0.7),
    "age:right=0.25": oracle.right(Fraction(1, 4)),
    "age:missing=1": oracle.missing(Fraction(1)),
    "city:right=0.9": oracle.right(Fraction(9, 10)),
    "city:right=0.1": oracle.right(Fraction(1, 10)),
    "city:missing=0.3": oracle.missing(Fraction(3, 10)),
    "city:table=table.csv": oracle.table(TABLE),
    "job:right=0.6": oracle.right(Fraction(6, 10)),
    "job:missing=0.05": oracle.missing(Fraction(1, 20)),
    "job:exact": oracle.exact,
}
QIDS = ("age", "city", "job")
COLUMNS = {"age": pl.Int32(), "city": pl.String(), "job": pl.Int8(), "s": pl.String()}
rows = st.fixed_dictionaries(
    {
        "age": st.sampled_from([17, 18, 20, 25, None]),
        "city": st.sampled_from(["a", "b", "c", None]),
        "job": st.sampled_from([1, 2, 3]),
        "s": st.sampled_from(["u", "v", "w", None]),
        "w": st.sampled_from([1, 2, 3]),
    }
)
law_lists = st.lists(
    st.sampled_from(list(LAWS)), min_size=1, max_size=3, unique_by=lambda law: law.split(":")[0]
)


def frame(people: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(people, schema=COLUMNS | {"w": pl.Int32()})


def table_file(folder: Path) -> Path:
    lines = ["value,known as,probability"]
    lines += [f"{a or ''},{b or ''},{float(p)}" for (a, b), p in TABLE.items()]
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def noisy(result: Any, model: str) -> dict[str, Any]:
    (row,) = (r for r in result.rows() if r["model"] == model and r["knows"] != "exact")
    return dict(row)


def exact(result: Any, model: str) -> dict[str, Any]:
    (row,) = (r for r in result.rows() if r["model"] == model and r["knows"] == "exact")
    return dict(row)


def known(
    people: Sequence[Mapping[str, Any]],
    qids: Sequence[str],
    laws: Sequence[oracle.Law],
    secret: str | None,
    weight: str | None = None,
) -> tuple[Success, int, list[float]]:
    """Return the success by the reference, what may be known, and the expected success of each."""
    weights = [row[weight] for row in people] if weight else None
    knowledge = oracle.Knowledge.of(microdata.blocks(people, qids, secret, weights), laws)
    crowds = knowledge.crowds(owner=secret is None)
    alike = {k: float(knowledge.expected(crowds, k)) for k in knowledge.people}
    of_people = [alike[microdata.key(row, qids)] for row in people]
    return knowledge.success(crowds.values()), len(crowds), of_people


ALIKE: list[dict[str, object]] = [
    dict(zip(("age", "city", "job", "s", "w"), cells, strict=True))
    for cells in (
        *((17, "a", 1, "u", 1), (17, "a", 1, "u", 2), (17, "a", 1, "v", 3), (18, "a", 2, "v", 1)),
        *(
            (18, "b", 2, "u", 1),
            (25, "b", 3, None, 2),
            (None, "c", 3, "w", 1),
            (25, "c", 1, "v", 2),
        ),
    )
]
"""People of whom some agree in all quasi-identifiers, and not in the secret."""


@settings(max_examples=examples(30), deadline=None)
@given(people=st.lists(rows, min_size=1, max_size=8), knows=law_lists, weighted=st.booleans())
@example(people=ALIKE, knows=["age:+-1"], weighted=False)
@example(people=ALIKE, knows=["age:+-1", "city:right=0.9", "job:right=0.6"], weighted=True)
@example(people=ALIKE, knows=["age:right=0.25", "job:right=0.6"], weighted=False)
@example(people=ALIKE, knows=["city:missing=0.3", "age:right=0.25"], weighted=False)
def test_it_is_the_sum_over_all_that_may_be_known(
    tmp_path_factory: pytest.TempPathFactory,
    people: list[dict[str, object]],
    knows: list[str],
    weighted: bool,
) -> None:
    folder = tmp_path_factory.mktemp("noisy")
    text = "; ".join(knows).replace("table.csv", str(table_file(folder)))
    weight = "w" if weighted else None
    out = folder / "people.parquet"
    result = qifsql.attack(
        "crs,cas", frame(people), qids="age,city,job", secret="s", knows=text, weight=weight,
        records=out,
    )  # fmt: skip
    by_column = {law.split(":")[0]: LAWS[law] for law in knows}
    laws = [by_column.get(name, oracle.exact) for name in QIDS]
    written = pl.read_parquet(out)
    for model, secret, column in (("CRS", None, "success"), ("CAS", "s", "success_s")):
        wanted, observations, expected = known(people, QIDS, laws, secret, weight)
        row = noisy(result, model)
        assert row["posterior_probabilistic"] == NEAR(float(wanted.probabilistic), rel=1e-9)
        assert row["posterior_deterministic"] == NEAR(float(wanted.deterministic), abs=1e-9)
        assert row["worst_case"] == NEAR(float(wanted.worst_case), rel=1e-9)
        if not any("sd" in law for law in knows):  # the oracle's tails may be 0
            assert row["blocks"] == observations
        assert (row["low"], row["high"]) == (None, None)
        assert written[column].to_list() == NEAR(expected, rel=1e-9)
        _, _, chances = known(people, QIDS, [oracle.exact] * len(QIDS), secret, weight)
        assert written[f"exact_{column}"].to_list() == NEAR(chances, rel=1e-9)


def test_a_chance_that_is_the_threshold_is_sure_whatever_the_digits_of_the_weights() -> None:
    """Each of both is named with 9 of 10; the weights have more digits than a quotient keeps."""
    people = pl.DataFrame({"age": [1, 1], "city": ["a", "b"]})
    text = "age:missing=0.123456789012345678; city:right=0.9"
    result = qifsql.attack("crs", people, qids="age,city", knows=text, thresholds=[0.9])
    rows = result.details["sure"].filter(attack_id=noisy(result, "CRS")["attack_id"])
    assert rows.select("coverage", "precision").rows() == [(1.0, NEAR(0.9))]


THRESHOLDS = (0.311, 0.517, 0.903)


@settings(max_examples=examples(15), deadline=None)
@given(people=st.lists(rows, min_size=1, max_size=8), knows=law_lists, weighted=st.booleans())
@example(people=ALIKE, knows=["age:+-1", "city:right=0.9"], weighted=False)
@example(people=ALIKE, knows=["age:right=0.25", "job:right=0.6"], weighted=True)
def test_who_speaks_only_when_sure_names_whom_the_sums_say(
    tmp_path_factory: pytest.TempPathFactory,
    people: list[dict[str, object]],
    knows: list[str],
    weighted: bool,
) -> None:
    """Named are the shares of what may be known with a likely enough best guess, and no others."""
    text = "; ".join(knows).replace("table.csv", str(table_file(tmp_path_factory.mktemp("sure"))))
    weights = [row["w"] for row in people] if weighted else None
    result = qifsql.attack(
        "crs,cas", frame(people), qids="age,city,job", secret="s", knows=text,
        weight="w" if weighted else None, thresholds=THRESHOLDS,
    )  # fmt: skip
    by_column = {law.split(":")[0]: LAWS[law] for law in knows}
    laws = [by_column.get(name, oracle.exact) for name in QIDS]
    for model, secret in (("CRS", None), ("CAS", "s")):
        blocks: Any = microdata.blocks(people, QIDS, secret, weights)
        knowledge = oracle.Knowledge.of(blocks, laws)
        crowds = knowledge.crowds(owner=secret is None).values()
        everybody = sum(crowd.total for crowd in crowds)
        rows = result.details["sure"].filter(attack_id=noisy(result, model)["attack_id"])
        assert rows["threshold"].to_list() == list(THRESHOLDS)
        for row in rows.iter_rows(named=True):
            sure = [c for c in crowds if Fraction(c.best, c.total) >= Fraction(row["threshold"])]
            named, right = (sum(n) for n in ([c.total for c in sure], [c.best for c in sure]))
            assert row["coverage"] == NEAR(named / everybody, abs=1e-12)
            assert row["precision"] == (NEAR(right / named) if named else None)
            expected = None if weighted else NEAR(right / everybody * len(people), abs=1e-9)
            assert row["right"] == expected
            claims = named / everybody * len(people)
            assert row["claims"] in {int(claims + e) for e in (-1e-9, 1e-9)}
            assert row["greatest"] is False
        assert result.details["sure"].filter(attack_id=exact(result, model)["attack_id"]).height > 3


@settings(max_examples=examples(30), deadline=None)
@given(people=st.lists(rows, min_size=1, max_size=8), knows=law_lists, weighted=st.booleans())
@example(people=ALIKE, knows=["age:+-1"], weighted=False)
@example(people=ALIKE, knows=["age:+-1", "city:right=0.9", "job:right=0.6"], weighted=True)
@example(people=[ALIKE[0], ALIKE[5]], knows=["age:right=0.25"], weighted=True)
@example(people=[*[ALIKE[5] | {"age": 9}] * 2, ALIKE[0]], knows=["age:+-1"], weighted=True)
def test_who_reports_a_secret_is_a_part_of_all_that_may_be_known(
    tmp_path_factory: pytest.TempPathFactory,
    people: list[dict[str, object]],
    knows: list[str],
    weighted: bool,
) -> None:
    """Laws are of everybody; a secret is known to be missing if nobody who may be meant has one."""
    folder = tmp_path_factory.mktemp("noisy")
    text = "; ".join(knows).replace("table.csv", str(table_file(folder)))
    weight = "w" if weighted else None
    asked = {"qids": "age,city,job", "secret": "s", "knows": text, "weight": weight}
    result = qifsql.attack("cas", frame(people), **asked)  # type: ignore[arg-type]
    row = noisy(result, "CAS")
    if not 0 < sum(person["s"] is not None for person in people) < len(people):
        assert row.get("reported") in (None, 0)
        return
    by_column = {law.split(":")[0]: LAWS[law] for law in knows}
    laws = [by_column.get(name, oracle.exact) for name in QIDS]
    weights: Any = [person["w"] for person in people] if weighted else None
    everybody = oracle.Knowledge.of(microdata.blocks(people, QIDS, "s", weights), laws)
    blocks = {
        known: {v: cell for v, cell in values.items() if v is not None}
        for known, values in everybody.people.items()
    }
    of_reported = replace(everybody, people={k: values for k, values in blocks.items() if values})
    success = of_reported.success(of_reported.crowds(owner=False).values())
    expected = {
        "reported": sum(person["s"] is not None for person in people),
        "posterior_deterministic_reported": success.deterministic,
        "posterior_probabilistic_reported": success.probabilistic,
        "worst_case_reported": success.worst_case,
    }
    assert {n: row[n] for n in expected} == NEAR(
        {n: float(v) for n, v in expected.items()}, rel=1e-9
    )
    assert row["certain_reported"] == success.certain
    crowds = everybody.crowds(owner=False).values()
    missing = sum(crowd.total for crowd in crowds if set(crowd.guesses) == {None})
    share = Fraction(missing, sum(crowd.total for crowd in crowds))
    assert row["certain_missing"] == int(share * len(people))


def test_a_note_says_where_nobody_who_reports_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who report it may have too many pairs where everybody does not."""
    asked = {"qids": "age,city,job", "secret": "s", "knows": "age:+-1"}
    people = [*ALIKE, ALIKE[0] | {"s": None}]
    counted = qifsql.attack("cas", frame(people), **asked)  # type: ignore[arg-type]
    assert UNREPORTED not in counted.notes
    monkeypatch.setattr(
        noisy_attack,
        "_count_reported",
        lambda _, row, __: noisy_attack._uncounted_reported(row),
    )
    left_out = qifsql.attack("cas", frame(people), **asked)  # type: ignore[arg-type]
    assert UNREPORTED in left_out.notes
    assert left_out.frame["certain_missing"].null_count() == 1


def test_with_exact_laws_it_is_the_plain_attack() -> None:
    people = pl.read_parquet(SAMPLES / "school_census_2018.parquet")
    asked = {"qids": "NU_ANO,TP_SEXO,CO_ENTIDADE", "secret": "IN_TRANSPORTE_PUBLICO"}
    certain = "NU_ANO:+-0; TP_SEXO:missing=0; CO_ENTIDADE:right=1"
    result = qifsql.attack("crs,cas", people, knows=certain, **asked)  # type: ignore[arg-type]
    plain = qifsql.attack("crs,cas", people, **asked)  # type: ignore[arg-type]
    for row in plain.rows():
        for one in (exact(result, row["model"]), noisy(result, row["model"])):
            assert {n: v for n, v in one.items() if n in row and n != "seconds"} == {
                n: v for n, v in row.items() if n != "seconds"
            }
    assert "the same" in " ".join(result.notes)


@settings(max_examples=examples(15), deadline=None)
@given(
    people=st.lists(rows, min_size=1, max_size=12),
    chances=st.tuples(*[st.sampled_from(["0", "0.25", "0.9", "1"])] * 3),
)
def test_gaps_alone_are_independent_knowledge(
    people: list[dict[str, object]], chances: tuple[str, ...]
) -> None:
    names = ("age", "city", "job")
    knows = "; ".join(f"{n}:missing={p}" for n, p in zip(names, chances, strict=True))
    row = noisy(qifsql.attack("cas", frame(people), qids=names, secret="s", knows=knows), "CAS")
    expected = Fraction(0)
    gaps = dict(zip(names, map(Fraction, chances), strict=True))
    for subset in chain.from_iterable(combinations(names, r) for r in range(4)):
        share = math.prod((1 - p if n in subset else p) for n, p in gaps.items())
        expected += share * attack(people, subset, "s")["posterior_probabilistic"]
    assert row["posterior_probabilistic"] == float(expected)


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_gaps_alone_are_the_weighted_sweep() -> None:
    path = str(SAMPLES / "school_census_2018.parquet")
    names = ["NU_ANO", "TP_SEXO", "CO_ENTIDADE"]
    secret = "IN_TRANSPORTE_PUBLICO"
    row = noisy(
        qifsql.attack(
            "cas", path, qids=names, secret=secret,
            knows="NU_ANO,TP_SEXO,CO_ENTIDADE:missing=0.25",
        ),
        "CAS",
    )  # fmt: skip
    swept = qifsql.sweep(path, qids=names, secret=secret).frame.filter(secret=secret)
    expected = row["prior_probabilistic"] * 0.25**3
    for one in swept.iter_rows(named=True):
        n = one["n_qids"]
        expected += 0.75**n * 0.25 ** (3 - n) * one["posterior_probabilistic"]
    assert row["posterior_probabilistic"] == NEAR(expected, rel=1e-12)


def test_a_worked_example() -> None:
    """Ages 20, 21, 23, known at most 1 off: each has three possible values, each with 1/9.

    19, 20, 21, 22, 22, 23, 24 are possible: 20 and 21 mean the first or the second person, 22 the
    second or the third, so that 6 of 9 pairs are guessed right, and 19, 23, 24 leave no doubt.
    """
    people = pl.DataFrame({"age": [20, 21, 23], "s": ["a", "a", "b"]})
    result = qifsql.attack("crs,cas", people, qids="age", secret="s", knows="age:+-1")
    row = noisy(result, "CRS")
    assert row["blocks"] == 6
    assert row["posterior_probabilistic"] == 6 / 9
    assert row["posterior_deterministic"] == 3 / 9
    assert (row["singled_out"], row["worst_case"]) == (1, 1.0)
    row = noisy(result, "CAS")
    assert row["posterior_probabilistic"] == 8 / 9
    assert row["posterior_deterministic"] == 7 / 9


def test_pairs_give_what_the_closed_form_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(SAMPLES / "school_census_2018.parquet")
    asked: dict[str, Any] = {
        "qids": "NU_ANO,TP_SEXO,CO_ENTIDADE",
        "secret": "IN_TRANSPORTE_PUBLICO",
        "knows": "NU_ANO:+-1; CO_ENTIDADE:right=0.9",
    }
    closed = qifsql.attack("crs,cas", path, **asked)
    monkeypatch.setattr(elimination, "_is_truth_likeliest", lambda *_: False)
    pairs = qifsql.attack("crs,cas", path, **asked)
    assert closed.frame.drop("seconds").equals(pairs.frame.drop("seconds"))


def drawn(path: Any, draws: int, seed: int, knows: str, threads: int = 2) -> Any:
    return qifsql.attack(
        "crs,cas", path, qids="NU_ANO,TP_SEXO,CO_ENTIDADE", secret="IN_TRANSPORTE_PUBLICO",
        knows=knows, draws=draws, settings=Settings(seed=seed, threads=threads),
    )  # fmt: skip


NOISY = "NU_ANO:+-2; CO_ENTIDADE:right=0.8; TP_SEXO:missing=0.2"


def test_draws_depend_on_the_seed_alone() -> None:
    people = pl.read_parquet(SAMPLES / "school_census_2018.parquet")
    first = drawn(people, 500, 3, NOISY)
    again = drawn(people.sample(fraction=1, shuffle=True, seed=1), 500, 3, NOISY, threads=1)
    other = drawn(people, 500, 4, NOISY)
    columns = ["posterior_probabilistic", "posterior_deterministic", "low", "high"]
    assert first.frame.select(columns).equals(again.frame.select(columns))
    assert not first.frame.select(columns).equals(other.frame.select(columns))


def covered(seeds: range, draws: int) -> list[bool]:
    """Return for each seed and question whether the interval has the exact success in it."""
    path = str(SAMPLES / "school_census_2018.parquet")
    qids, secret = "NU_ANO,TP_SEXO,CO_ENTIDADE", "IN_TRANSPORTE_PUBLICO"
    inside = []
    with opened(Attack.of("crs,cas", path, qids=qids, secret=secret)) as (engine, bound):
        coded = Coded(engine, bound, bind(laws(NOISY), bound.microdata.qids))
        law_tables.make(coded, {})
        truth = [measure(coded, j) for j in (0, 1)]
        for seed in seeds:
            drawing.draw(coded, seed=seed, draws=draws)
            for j, sure in enumerate(truth):
                outcome = drawing.measure(coded, j)
                assert sure is not None
                assert outcome.low is not None
                assert outcome.high is not None
                inside.append(outcome.low <= sure.success.probabilistic <= outcome.high)
            coded.tables.drop("drawn_people")
    return inside


def test_intervals_have_the_exact_success_in_them() -> None:
    assert sum(covered(range(10), 300)) >= 18


@pytest.mark.slow
def test_intervals_cover_in_1000_draws() -> None:
    inside = covered(range(500), 200)
    assert len(inside) == 1000
    assert sum(inside) >= 950


@settings(max_examples=examples(8), deadline=None)
@given(people=st.lists(rows, min_size=1, max_size=8), knows=law_lists)
def test_draws_have_the_chances_of_the_laws(
    tmp_path_factory: pytest.TempPathFactory, people: list[dict[str, object]], knows: list[str]
) -> None:
    text = "; ".join(knows).replace("table.csv", str(table_file(tmp_path_factory.mktemp("d"))))
    asked: dict[str, Any] = {"qids": "age,city,job", "secret": "s", "knows": text}
    result = qifsql.attack("cas", frame(people), draws=4000, **asked)
    wanted = noisy(qifsql.attack("cas", frame(people), **asked), "CAS")
    row = noisy(result, "CAS")
    if any(not law.startswith("job:exact") for law in knows):
        assert row["posterior_probabilistic"] == NEAR(wanted["posterior_probabilistic"], abs=0.05)
        assert row["posterior_deterministic"] == NEAR(wanted["posterior_deterministic"], abs=0.05)


def test_the_exact_sum_gives_way_to_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "MOST_PAIRS", 10)
    monkeypatch.setattr(elimination.measure, "__kwdefaults__", {"limit": 10})
    people = pl.DataFrame({"age": range(20), "s": ["a", "b"] * 10})
    result = qifsql.attack("cas", people, qids="age", secret="s", knows="age:+-2")
    row = noisy(result, "CAS")
    assert row["low"] <= row["posterior_probabilistic"] <= row["high"]
    assert row["worst_case"] is None
    assert row["blocks"] is None
    assert any("more than 10 pairs" in note for note in result.notes)


WRONG = {
    "": "knows names no quasi-identifier",
    "age": '"age" of knows has no law',
    "age:": "has no law",
    ":+-2": "names no quasi-identifier",
    "age:+-2.5": "whole number from 0",
    "age:+--1": "whole number from 0",
    "age:sd=0": "standard deviation above 0",
    "age:sd=x": "standard deviation above 0",
    "age:right=1.5": "outside 0 to 1",
    "age:missing=-0.1": "outside 0 to 1",
    "age:right=0": "never right",
    "age:missing=some": "probability from 0 to 1",
    "age:missing=1e-999999999": "probability from 0 to 1",
    "age:sometimes=0.4": "is not known; use",
    "age:off by two": "is not known; use",
    "age:+-1; age:+-2": "twice",
    "city:+-1": "VARCHAR, not a whole number",
    "city:sd=2": "VARCHAR, not a whole number",
    "height:+-1": "not whole numbers",
    "agee:+-1": 'did you mean "age"',
    "s:right=0.5": "not a quasi-identifier",
    '"age:+-1': "double quote",
    "age:table=nowhere.csv": "nowhere.csv",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_laws_are_refused(text: str) -> None:
    people = pl.DataFrame(
        {"age": [1, 2], "city": ["a", "b"], "height": [1.5, 2.0], "s": ["u", "v"]}
    )
    with pytest.raises(QifError) as error:
        qifsql.attack("cas", people, qids="age,city,height", secret="s", knows=text or " ")
    assert WRONG[text] in str(error.value)
    assert "\n" not in str(error.value)


TABLES = {
    "value,known,chance\na,b,1\n": "needs the columns value, known as, probability",
    "value,known as,probability\n": "has no lines",
    "value,known as,probability\na,b,0.5\n": "do not add up to 1",
    "value,known as,probability\na,b,2\na,a,-1\n": "probability from 0 to 1",
    "value,known as,probability\na,b,0.5\na,b,0.5\n": "that another line has",
}


@pytest.mark.parametrize("lines", TABLES)
def test_wrong_tables_are_refused(tmp_path: Path, lines: str) -> None:
    (tmp_path / "t.csv").write_text(lines)
    people = pl.DataFrame({"city": ["a", "b"]})
    with pytest.raises(QifError, match=TABLES[lines]):
        qifsql.attack("crs", people, qids="city", knows=f"city:table={tmp_path / 't.csv'}")


def test_a_table_whose_values_do_not_fit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("value,known as,probability\nold,1,1\n")
    with pytest.raises(QifError, match="no BIGINT"):
        qifsql.attack(
            "crs", pl.DataFrame({"age": [1, 2]}), qids="age",
            knows=f"age:table={tmp_path / 't.csv'}",
        )  # fmt: skip


REFUSALS: list[dict[str, Any]] = [
    {"gain": "tries:2"},
    {"by": "city"},
    {"histogram": True},
    {"value_chances": True},
    {"measures": "shannon"},
    {"prior": "prior.csv"},
    {"store": "counts.duckdb"},
    {"progressive": True},
    {"link": "city"},
    {"draws": 1},
    {"draws": 10, "records": "out.csv"},
    {"model": "ias", "target": {"age": 1}},
    {"model": "ias"},
    {"settings": Settings(engine="spark")},
]


@pytest.mark.parametrize("asked", REFUSALS, ids=",".join)
def test_what_has_no_meaning_is_refused_by_name(asked: dict[str, Any]) -> None:
    people = pl.DataFrame({"age": [1, 2], "city": ["a", "b"], "s": ["u", "v"]})
    options = {"model": "cas", "qids": "age", "secret": "s", "knows": "age:+-1", **asked}
    with pytest.raises(QifError, match=r"knows|draws|records|target"):
        qifsql.attack(options.pop("model"), people, **options)


@pytest.mark.parametrize("asked", [{"draws": 10}, {"records": "out.csv"}])
def test_its_options_need_laws(asked: dict[str, Any]) -> None:
    with pytest.raises(QifError, match="knows="):
        qifsql.attack("crs", pl.DataFrame({"age": [1]}), qids="age", **asked)


def test_names_may_hold_marks() -> None:
    name = 'a:b"; --,=<script>'
    people = pl.DataFrame({name: [1, 2, 3]})
    knows = '"' + name.replace('"', '""') + '":+-1'
    result = qifsql.attack("crs", people, qids=[name], knows=knows)
    assert noisy(result, "CRS")["knows"] == knows
    assert noisy(result, "CRS")["posterior_probabilistic"] == 5 / 9


def test_laws_hold_in_every_dataset_of_a_collection() -> None:
    first = pl.DataFrame({"id": [1, 2, 3], "age": [1, 2, 9], "s": ["a", "b", "b"]})
    second = pl.DataFrame({"id": [1, 2, 3], "age": [2, 3, 10]})
    asked: dict[str, Any] = {"qids": "age", "key": "id", "secret": "s"}
    both = qifsql.attack("cal", [first, second], knows="age:missing=0.5", **asked)
    one = qifsql.attack("cal", [first, second], knows='"1:age":missing=0.5', **asked)
    assert noisy(both, "CAL")["posterior_probabilistic"] == 0.75 + 0.25 * 2 / 3
    assert noisy(one, "CAL")["posterior_probabilistic"] == 1


def test_membership_has_laws_too() -> None:
    people = pl.DataFrame({"age": [1, 2, 3, 4], "m": [True, True, False, False]})
    row = noisy(qifsql.attack("cms", people, qids="age", member="m", knows="age:+-1"), "CMS")
    assert row["posterior_probabilistic"] == 10 / 12


WAYS = {"SQL of the manifest", "every pair"}


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
@pytest.mark.parametrize("draws", [None, 200])
def test_with_weights_people_are_counted_and_not_what_they_weigh(
    draws: int | None, tmp_path: Path
) -> None:
    people = pl.DataFrame({"age": [1, 2, 2, 3], "sex": ["f", "f", "m", "m"]})
    rows = []
    for weight in (None, 1.0, 1.5, 250.0):
        file = tmp_path / f"{weight}.parquet"
        people.with_columns(w=pl.lit(weight, pl.Float64())).write_parquet(file)
        result = qifsql.attack(
            "crs", file, qids="age,sex", knows="age:missing=0.5", draws=draws,
            weight=None if weight is None else "w",
        )  # fmt: skip
        if draws is None:
            checked = qifsql.verify(result)
            assert checked.met
            assert set(checked.frame.filter(column="singled_out", row=1)["way"]) == WAYS
        rows.append(noisy(result, "CRS"))
    for row in rows:
        assert row["singled_out"] == int(row["posterior_deterministic"] * people.height + 1e-9)
        assert row["individuals_certain"] == row["singled_out"]
    if draws is None:
        assert [row["singled_out"] for row in rows] == [2, 2, 2, 2]
