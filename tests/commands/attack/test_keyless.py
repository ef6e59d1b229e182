"""Longitudinal attacks without a person key: held against the oracle, and against CRL and CAL."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_keyless import Found, Law, attack, vulnerability

import qifsql
from qifsql.adversary.transitions import rules as link_rules
from qifsql.commands.attack.attack import attack as with_key
from qifsql.errors import QifError

COLUMNS = {"id": pa.int64(), "e": pa.int32(), "age": pa.int32(), "c": pa.string(), "d": pa.int8()}
COLUMNS |= {"q": pa.string(), "s": pa.string()}
TABLE = {("a", "a"): Fraction(1, 2), ("a", "b"): Fraction(1, 2), ("b", "b"): Fraction(3, 4)}
TABLE |= {("b", "a"): Fraction(1, 4), (None, None): Fraction(1)}
LAWS = {
    "e": Law("e"),
    "age:+1": Law("age", shift=1),
    "c:stay=0.75": Law("c", stay=Fraction(3, 4)),
    "c:table=moves.csv": Law("c", table=TABLE),
    "d:stay=0.9": Law("d", stay=Fraction(9, 10)),
    "d:stay=1": Law("d", stay=Fraction(1)),
}
NEAR = pytest.approx

rows = st.fixed_dictionaries(
    {
        "e": st.sampled_from([1, 2, None]),
        "age": st.sampled_from([7, 8, 9]),
        "c": st.sampled_from(["a", "b", None]),
        "d": st.sampled_from([0, 1]),
        "q": st.sampled_from(["x", "y", None]),
        "s": st.sampled_from(["u", "v", None]),
    }
)
rules = st.lists(st.sampled_from(list(LAWS)), min_size=1, max_size=4, unique_by=lambda r: r[0])
presences = st.sampled_from(["1", "0.92", "0.5", "0"])


def written(folder: Path, releases: Sequence[Sequence[dict[str, Any]]]) -> list[str]:
    paths = []
    for i, release in enumerate(releases):
        columns = {
            name: pa.array([row.get(name, n) for n, row in enumerate(release)], kind)
            for name, kind in COLUMNS.items()
        }
        paths.append(str(folder / f"r{i}.parquet"))
        pq.write_table(pa.table(columns), paths[-1])
    lines = ["from,to,probability"]
    lines += [f"{a or ''},{b or ''},{float(p)}" for (a, b), p in TABLE.items()]
    (folder / "moves.csv").write_text("\n".join(lines) + "\n")
    return paths


def by_knowledge(result: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["model"], row["knowledge"]): row for row in result.rows()}


def linked(folder: Path, paths: list[str], link: Sequence[str], **asked: Any) -> Any:
    text = "; ".join(link).replace("moves.csv", str(folder / "moves.csv"))
    return qifsql.attack(asked.pop("model", "crl,cal"), paths, link=text, secret="s", **asked)


@settings(max_examples=examples(25), deadline=None)
@given(
    releases=st.lists(st.lists(rows, min_size=1, max_size=5), min_size=2, max_size=3),
    link=rules,
    presence=presences,
    distinct=st.booleans(),
    qids=st.sampled_from([["e", "q"], ["c", "q"], ["1:q", "2:c"], ["2:q"], ["1:d"]]),
)
def test_the_numbers_are_those_of_the_definitions(  # noqa: PLR0917 - what hypothesis draws
    tmp_path_factory: pytest.TempPathFactory,
    releases: list[list[dict[str, Any]]],
    link: list[str],
    presence: str,
    distinct: bool,
    qids: list[str],
) -> None:
    folder = tmp_path_factory.mktemp("keyless")
    paths = written(folder, releases)
    laws = [LAWS[rule] for rule in link]
    chance = vulnerability(laws, releases, Fraction(1))
    absent = "distinct" if distinct else "null"
    asked = {"qids": qids, "presence": presence, "absent": absent}
    result = linked(folder, paths, link, **asked)
    rho = Fraction(presence)
    chance = vulnerability(laws, releases, rho)
    known = [
        [q.partition(":")[2] or q for q in qids if ":" not in q or q.startswith(f"{n}:")]
        for n in range(1, len(releases) + 1)
    ]
    found = by_knowledge(result)
    secrets = {"CRL": lambda i: i, "CAL": lambda i: releases[0][i]["s"]}
    whose = attack(laws, releases, rho, known, secrets["CRL"], distinct=distinct)
    alone = math.floor(whose.deterministic * len(releases[0]))
    for model, secret in secrets.items():
        row = found[model, "linked"]
        true = attack(laws, releases, rho, known, secret, distinct=distinct)
        assert row["posterior_probabilistic"] == NEAR(float(true.probabilistic), rel=1e-13)
        assert row["posterior_deterministic"] == NEAR(float(true.deterministic), rel=1e-13)
        assert row["worst_case"] == NEAR(float(true.worst), rel=1e-13)
        assert (row["blocks"], row["singled_out"]) == (true.observations, alone)
        assert row["link_vulnerability"] == NEAR(float(chance), rel=1e-13)
        if known[0]:
            true = attack([], releases[:1], rho, known[:1], secret)
            row = found[model, "focal alone"]
            assert row["posterior_probabilistic"] == NEAR(float(true.probabilistic), rel=1e-15)
            assert row["posterior_deterministic"] == NEAR(float(true.deterministic), rel=1e-15)
    cal = partial(attack, laws, releases, rho, known, secrets["CAL"], distinct=distinct)
    check_reported(found["CAL", "linked"], [row["s"] for row in releases[0]], cal)


def check_reported(row: dict[str, Any], values: list[Any], cal: Callable[..., Found]) -> None:
    """The numbers of those who report the secret, and of those who are known to miss it."""
    reported = sum(value is not None for value in values)
    if reported == len(values):
        assert "reported" not in row
        return
    if not reported:  # all are known to miss it
        assert (row["reported"], row["certain_missing"]) == (0, len(values))
        return
    true = cal(reported=True)
    assert row["reported"] == reported
    assert row["posterior_probabilistic_reported"] == NEAR(float(true.probabilistic), rel=1e-13)
    assert row["posterior_deterministic_reported"] == NEAR(float(true.deterministic), abs=1e-13)
    assert row["worst_case_reported"] == NEAR(float(true.worst), rel=1e-13)
    assert row["certain_reported"] == math.floor(true.deterministic * reported)
    assert row["certain_missing"] == math.floor(cal().missing * len(values))


@settings(max_examples=examples(15), deadline=None)
@given(
    releases=st.lists(st.lists(rows, min_size=1, max_size=8), min_size=2, max_size=3),
    absent=st.sampled_from(["null", "distinct"]),
    qids=st.sampled_from([["e", "q"], ["1:q", "2:c"], ["1:d", "2:d", "2:q"]]),
)
def test_with_the_key_and_presence_1_the_results_are_those_with_the_key(
    tmp_path_factory: pytest.TempPathFactory,
    releases: list[list[dict[str, Any]]],
    absent: Any,
    qids: list[str],
) -> None:
    """Spec section 8: with E = the key and rho = 1 this is exactly CRL and CAL."""
    folder = tmp_path_factory.mktemp("keyless")
    shifted = [[row | {"id": n + i} for n, row in enumerate(r)] for i, r in enumerate(releases)]
    for i in range(1, len(shifted)):  # somebody of the focal release is in each
        shifted[i] = [*shifted[i], releases[i][0] | {"id": 0}]
    paths = written(folder, shifted)
    true = with_key("crl,cal", paths, key="id", qids=qids, secret="s", absent=absent)
    result = linked(folder, paths, ["id"], qids=qids, absent=absent, truth="id")
    numbers = set(true.frame.columns) - {"seconds"}
    found = by_knowledge(result)
    for row in true.rows():
        mine = found[row["model"], "linked"]
        assert {c: mine[c] for c in numbers} == {c: row[c] for c in numbers}
        keyed = found[row["model"], "with the key"]
        assert {c: keyed[c] for c in numbers} == {c: row[c] for c in numbers}
    first = result.details["links"].row(0, named=True)
    assert first["link_vulnerability"] == first["link_accuracy"]


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    one = {"e": 1, "age": 7, "c": "a", "d": 0, "q": "x", "s": "u"}
    other = {"e": 2, "age": 8, "c": "b", "d": 1, "q": "y", "s": "v"}
    later = [row | {"age": row["age"] + 1} for row in (one, other)]
    return written(tmp_path, [[one, other, one | {"s": "v"}], later])


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("", "no link rules"),
        ("e; agee:+1", 'agee.*did you mean "age"'),
        ("e; c:stay=1.2", "outside 0 to 1"),
        ("e; c:stay=-0.1", "outside 0 to 1"),
        ("e; c:stay=nan", "0 to 1"),
        ("e; c:stay=often", "0 to 1"),
        ("e; c:+1", "not a number"),
        ("e; age:+0.5", "whole numbers"),
        ("e; c:moves", "not understood"),
        ("e; e:stay=0.5", "twice"),
        ('e; "c:stay=0.5', "not closed"),
        ("e; :stay=0.5", "names no column"),
        ("e; c:table=missing.csv", "missing.csv"),
        ("c:stay=?; d:stay=?", "two releases"),
        ("e,age; c:stay=?", "two releases"),
    ],
)
def test_link_rules_that_cannot_be_are_refused(pair: list[str], link: str, words: str) -> None:
    with pytest.raises(QifError, match=words):
        qifsql.attack("crl", pair, link=link, qids="q")


def test_what_no_rule_links_is_said_to_be_independent_and_to_promise_too_much(
    tmp_path: Path,
) -> None:
    """People keep q, which no rule says: by the model it tells the first from the second."""
    same = {"age": 7, "c": "a", "d": 0, "s": "u"}
    people = [same | {"e": e, "q": q} for e, q in ((1, "x"), (2, "x"), (1, "y"))]
    paths = written(tmp_path, [people, people])
    asked = {"link": "e", "presence": 1, "truth": "id", "qids": "q"}
    result = qifsql.attack("crl", paths, **asked)
    found = by_knowledge(result)
    assert found["CRL", "with the key"]["posterior_probabilistic"] == NEAR(2 / 3)
    assert found["CRL", "linked"]["posterior_probabilistic"] == NEAR(5 / 6)
    assert any("no rule of the links says how" in note for note in result.notes)
    assert any("more is guessed right without the key" in note for note in result.notes)
    fitting = qifsql.attack("crl", paths, **(asked | {"link": "e; q"}))
    assert not any("no rule of the links" in note for note in fitting.notes)
    assert not any("without the key" in note for note in fitting.notes)


@pytest.mark.parametrize("one_to_one", [False, True])
def test_where_nobody_has_a_candidate_the_numbers_are_those_of_the_focal_release_alone(
    pair: list[str], one_to_one: bool
) -> None:
    asked = {"link": "e; age", "qids": "q", "one_to_one": one_to_one, "presence": 0.5}
    result = qifsql.attack("crl", pair, **asked)
    found = by_knowledge(result)
    alone, linked = found["CRL", "focal alone"], found["CRL", "linked"]
    numbers = [c for c in alone if c.startswith(("prior", "posterior", "worst"))]
    assert {c: linked[c] for c in numbers} == {c: alone[c] for c in numbers}
    assert linked["link_vulnerability"] == 0
    assert any("has a candidate" in note for note in result.notes)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("a,a,0.5\na,b,0.4\n", "add up to 1"),
        ("a,a,1.5\n", "from 0 to 1"),
        ("a,a,\n", "from 0 to 1"),
        ("a,a,0.5\na,a,0.5\n", "each pair has one"),
        ("", "no transitions"),
    ],
)
def test_tables_that_are_no_law_are_refused(
    pair: list[str], tmp_path: Path, lines: str, words: str
) -> None:
    path = tmp_path / "law.csv"
    path.write_text("from,to,probability\n" + lines)
    with pytest.raises(QifError, match=words):
        qifsql.attack("crl", pair, link=f"e; c:table={path}", qids="q")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"presence": 1.5}, "outside 0 to 1"),
        ({"presence": "x"}, "presence"),
        ({"gain": "tries:2"}, "gain"),
        ({"weight": "d"}, "weight"),
        ({"by": "d"}, "by"),
        ({"measures": "all"}, "measures"),
        ({"histogram": True}, "histogram"),
        ({"value_chances": True}, "value_chances"),
        ({"progressive": True}, "progressive"),
        ({"null": "drop"}, "missing"),
        ({"model": "crs"}, "crl, cal, irl, ial"),
        ({"model": "cml"}, "crl, cal, irl, ial"),
        ({"model": "cal"}, "secret=..."),
        ({"model": "cal", "secret": "q"}, "among the quasi-identifiers"),
        ({"truth": "c"}, "unique|no person in common"),
        ({"qids": []}, "no quasi-identifiers"),
        ({"where": "e > 5"}, "no records"),
        ({"link": None, "presence": 0.5}, "name link=..."),
    ],
)
def test_what_has_no_meaning_without_a_key_is_refused(
    pair: list[str], asked: dict[str, Any], words: str
) -> None:
    given_ = {"model": "crl", "link": "e; age:+1", "qids": "q"} | asked
    with pytest.raises(QifError, match=words):
        qifsql.attack(given_.pop("model"), pair, **given_)


def test_one_release_is_not_linked(pair: list[str]) -> None:
    with pytest.raises(QifError, match="two releases"):
        qifsql.attack("crl", pair[:1], link="e", qids="q")


def test_one_person_is_her_observation(pair: list[str]) -> None:
    target = {"1:q": "x", "2:q": "x"}
    result = qifsql.attack("irl,ial", pair, link="e; age:+1", secret="s", target=target)
    found = by_knowledge(result)
    assert found["IRL", "linked"]["posterior_probabilistic"] == 0.5
    assert found["IAL", "linked"]["posterior_probabilistic"] == 0.5
    assert found["IAL", "linked"]["best_guess"] == "u"
    assert found["IRL", "linked"]["matches"] == 2
    with pytest.raises(QifError, match="nobody"):
        qifsql.attack("irl", pair, link="e; age:+1", target={"1:q": "x", "2:q": "y"})


def test_a_stay_probability_is_learned_by_moments_from_a_key(tmp_path: Path) -> None:
    """Three of four stay; half of the later release has each value: (3/4 - 1/2) / (1 - 1/2)."""
    rows_ = [{"id": i, "c": "ab"[i % 2], "q": "x"} for i in range(4)]
    full = [dict.fromkeys(COLUMNS) | row for row in rows_]
    later = [row | {"c": c} for row, c in zip(full, "abbb", strict=True)]
    later[3]["c"], later[2]["c"], later[0]["c"] = "b", "a", "b"
    paths = written(tmp_path, [full, later])
    result = qifsql.attack("crl", paths, link="e; c:stay=?", qids="q", key="id")
    same, alike = 3, sum(sum(o["c"] == row["c"] for o in later) for row in full)
    expected = (same - alike / 4) / (4 - alike / 4)
    assert any(f"probability {round(expected, 6):.6g}" in note for note in result.notes)


def test_names_with_marks_stand_in_quotes(tmp_path: Path) -> None:
    path = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    name = 'city; "home": x'
    for one in path:
        pq.write_table(pa.table({name: ["a", "b"], "q": [1, 2]}), one)
    rule = '"city; ""home"": x":stay=0.5'
    result = qifsql.attack("crl", path, link=rule, qids="q")
    row = by_knowledge(result)["CRL", "linked"]
    chance = 0.5 + 0.5 * 0.5
    assert row["link_vulnerability"] == NEAR(chance, rel=1e-14)
    assert row["posterior_probabilistic"] == 1


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("one_to_one", [False, True])
def test_on_real_school_years_as_many_links_are_right_as_the_model_says(
    shared: Path, one_to_one: bool
) -> None:
    """STAR, grades 1 and 2: 5,049 of 6,829 pupils are in both, and their true key is known."""
    paths = [shared / "data" / f"star_grade_{n}.parquet" for n in (1, 2)]
    result = qifsql.attack(
        "crl",
        paths,
        link="sex,ethnicity,birth_year,birth_quarter; school:stay=?",
        presence=str(round(5049 / 6829, 4)),
        one_to_one=one_to_one,
        truth="pupil_id",
        qids=["school", "sex", "ethnicity"],
    )
    rows_ = by_knowledge(result)
    linked_, keyed = rows_["CRL", "linked"], rows_["CRL", "with the key"]
    alone = rows_["CRL", "focal alone"]
    assert linked_["link_accuracy"] == NEAR(linked_["link_vulnerability"], abs=0.01)
    best = [row["posterior_probabilistic"] for row in (alone, linked_, keyed)]
    assert best == sorted(best)
    bins = result.details["calibration"].filter(result.details["calibration"]["links"] >= 200)
    assert bins.height >= 10
    for row in bins.iter_rows(named=True):
        spread = (row["predicted"] * (1 - row["predicted"]) / row["links"]) ** 0.5
        assert abs(row["predicted"] - row["right"]) < 4 * spread + 0.01


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
@pytest.mark.parametrize("one_to_one", [False, True])
def test_numbers_do_not_depend_on_threads_or_the_order_of_rows(
    shared: Path, tmp_path: Path, one_to_one: bool
) -> None:
    tables_ = [pq.read_table(shared / "data" / f"star_grade_{n}.parquet") for n in (1, 2)]
    found = []
    for threads, step in ((1, 1), (2, -1)):
        paths = [tmp_path / f"{threads}_{i}.parquet" for i in range(2)]
        for path, table in zip(paths, tables_, strict=True):
            pq.write_table(table.take(list(range(table.num_rows))[::step]), path)
        rules_ = "sex,birth_year; school:stay=0.97; ethnicity:stay=0.99"
        asked = {"qids": ["school", "sex"], "secret": "free_lunch", "presence": "0.74"}
        limits = qifsql.Settings(threads=threads)
        asked["one_to_one"] = one_to_one
        result = qifsql.attack("crl,cal", paths, link=rules_, settings=limits, **asked)
        found.append(result.frame.drop("seconds"))
    assert found[0].equals(found[1])


@pytest.mark.parametrize("text", ['"a;b":' + '{"a":' * 100_000, ";".join(map(str, range(50_000)))])
def test_long_link_rules_are_read_in_one_pass(text: str) -> None:
    """The text of a minute where each character copied what was before it."""
    began = time.process_time()
    with suppress(QifError):
        link_rules(text)
    assert time.process_time() - began < 5
