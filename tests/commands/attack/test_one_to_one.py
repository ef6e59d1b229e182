"""Links one to one: held against an oracle, against every matching, and against the truth."""

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle_keyless import Law, Linker, Row, attack, links, vulnerability
from oracle_matching import chances, counted
from test_calibration import PEOPLE, STAY, census
from test_keyless import LAWS, by_knowledge, linked, rows, rules, written

import qifsql
from qifsql.commands.attack.attack import attack as with_key
from qifsql.commands.attack.keyless import match
from qifsql.errors import QifError
from qifsql.results.assessment import REPORTED

NEAR = pytest.approx
SHARES = [Fraction(92, 100), Fraction(1, 2), Fraction(1)]


def linker(laws: Sequence[Law], releases: Sequence[Sequence[Row]], rho: Fraction) -> Linker:
    """Links by the oracle of belief propagation; the records that are alike have one chance."""
    found: dict[tuple[int, int], dict[tuple[object, ...], list[Fraction]]] = {}

    def link(at: int, row: Row, number: int) -> list[Fraction]:
        if (at, number) not in found:
            every = chances(laws, releases[at], releases[number], number - at, rho)
            found[at, number] = {
                tuple(x.values()): [Fraction(c) for c in own]
                for x, own in zip(releases[at], every, strict=True)
            }
        return found[at, number][tuple(row.values())]

    return link


@settings(max_examples=examples(40), deadline=None)
@given(
    releases=st.lists(st.lists(rows, min_size=1, max_size=5), min_size=2, max_size=3),
    link=rules,
    rho=st.sampled_from(SHARES),
    qids=st.sampled_from([["e", "q"], ["c", "q"], ["1:q", "2:c"], ["1:d"]]),
)
def test_the_numbers_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory,
    releases: list[list[dict[str, Any]]],
    link: list[str],
    rho: Fraction,
    qids: list[str],
) -> None:
    laws = [LAWS[rule] for rule in link]
    folder = tmp_path_factory.mktemp("matching")
    paths = written(folder, releases)
    asked = {"qids": qids, "presence": str(float(rho)), "one_to_one": True}
    crowded = any(
        rho * len(earlier) > len(later)
        for j, later in enumerate(releases)
        for earlier in releases[:j]
    )
    if crowded:
        with pytest.raises(QifError, match="are expected in"):
            linked(folder, paths, link, **asked)
        return
    found = by_knowledge(linked(folder, paths, link, **asked))
    by = linker(laws, releases, rho)
    known = [
        [q.partition(":")[2] or q for q in qids if ":" not in q or q.startswith(f"{n}:")]
        for n in range(1, len(releases) + 1)
    ]
    secrets = {"CRL": lambda i: i, "CAL": lambda i: releases[0][i]["s"]}
    for model, secret in secrets.items():
        row = found[model, "linked"]
        true = attack(laws, releases, rho, known, secret, linker=by)
        assert row["posterior_probabilistic"] == NEAR(float(true.probabilistic), abs=1e-9)
        assert row["posterior_deterministic"] == NEAR(float(true.deterministic), abs=1e-9)
        assert row["worst_case"] == NEAR(float(true.worst), abs=1e-9)
        assert row["blocks"] == true.observations
        chance = float(vulnerability(laws, releases, rho, by))
        assert row["link_vulnerability"] == NEAR(chance, abs=1e-9)


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_where_candidates_form_no_cycle_every_matching_is_weighed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Records that compete for one, and records with several candidates: chances are exact."""
    earlier, later = [], []
    for e in (1, 2, None):
        several, one = data.draw(st.lists(rows, min_size=1, max_size=3)), data.draw(rows)
        before, after = ([one], several) if data.draw(st.booleans()) else (several, [one])
        earlier += [row | {"e": e} for row in before]
        later += [row | {"e": e} for row in after]
    rho = data.draw(st.sampled_from(SHARES[:2]))
    assume(rho * len(earlier) <= len(later))
    link = ["e", "c:stay=0.75", "d:stay=0.9"]
    laws = [LAWS[rule] for rule in link]
    folder = tmp_path_factory.mktemp("matching")
    asked = {"qids": "q", "presence": str(float(rho)), "one_to_one": True}
    result = linked(folder, written(folder, [earlier, later]), link, **asked)
    every = counted(laws, earlier, later, 1, rho)
    best = sum(max(own[:-1]) for own in every) / len(earlier)
    row = by_knowledge(result)["CRL", "linked"]
    assert row["link_vulnerability"] == NEAR(float(best), abs=1e-9)


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
def test_belief_propagation_is_close_to_all_matchings_where_there_are_cycles() -> None:
    """A hundred times closer, on average, than looking at one record at a time."""
    laws = [LAWS[rule] for rule in ("e", "c:stay=0.75", "d:stay=0.9")]
    draw = random.Random(1)
    off: list[tuple[float, float]] = []
    for _ in range(150):
        some = [
            {"e": draw.choice([1, 2]), "c": draw.choice("abc"), "d": draw.choice([0, 1])}
            for _ in range(11)
        ]
        n = draw.randint(2, 5)
        rho = draw.choice(SHARES[:2])
        earlier, later = some[:n], some[5 : 5 + max(n, draw.randint(2, 6))]
        true = counted(laws, earlier, later, 1, rho)
        alone = [links(laws, x, 1, later, rho) for x in earlier]
        for mine, own, exact in zip(
            chances(laws, earlier, later, 1, rho), alone, true, strict=True
        ):
            off += [
                (abs(a - float(c)), abs(float(b - c)))
                for a, b, c in zip(mine, own, exact, strict=True)
            ]
    mean = [sum(column) / len(off) for column in zip(*off, strict=True)]
    assert max(one for one, _ in off) < 0.13
    assert mean[0] < 0.003
    assert mean[1] > 30 * mean[0]


PRESENCES = [Fraction(p) for p in ("0.1", "0.5", "0.9", "0.99", "0.999999", "1")]
MOVES = [Fraction(p) for p in ("0.5", "0.25", "0.1", "0.001")]


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], list[int], dict[tuple[int, int], Fraction]]:
    """Kinds of two releases by how many records each has, and moves by which no cycle forms."""
    most = draw(st.integers(1, 5))
    earlier, later = (
        draw(st.lists(st.sampled_from([1, 1, 1, 2, 3]), min_size=1, max_size=most))
        for _ in range(2)
    )
    assume(sum(earlier) <= 7 and sum(later) <= 8)
    every = [(i, j) for i in range(len(earlier)) for j in range(len(later))]
    moves: dict[tuple[int, int], Fraction] = {}
    for i, j in draw(st.permutations(every)):
        if _is_forest(earlier, later, {*moves, (i, j)}) and draw(st.booleans()):
            left = 1 - sum(p for (k, _), p in moves.items() if k == i)
            moves[i, j] = left * draw(st.sampled_from(MOVES))
    return earlier, later, moves


def _is_forest(
    earlier: Sequence[int], later: Sequence[int], moves: Iterable[tuple[int, int]]
) -> bool:
    """Return whether the pairs of records that are possible form no cycle."""
    above: dict[tuple[str, int, int], tuple[str, int, int]] = {}

    def root(node: tuple[str, int, int]) -> tuple[str, int, int]:
        while node in above:
            node = above[node]
        return node

    for i, j in moves:
        for x in range(earlier[i]):
            for y in range(later[j]):
                one, other = root(("x", i, x)), root(("y", j, y))
                if one == other:
                    return False
                above[one] = other
    return True


@settings(max_examples=examples(25), deadline=None)
@given(forest=forests(), rho=st.sampled_from(PRESENCES))
def test_on_forests_every_matching_is_weighed_at_every_presence(
    tmp_path_factory: pytest.TempPathFactory,
    forest: tuple[list[int], list[int], dict[tuple[int, int], Fraction]],
    rho: Fraction,
) -> None:
    """At presence 1 the perfect matchings; several people and several records may be alike."""
    folder = tmp_path_factory.mktemp("forest")
    earlier, later, moves = forest
    assume(rho * sum(earlier) <= sum(later))
    table = {(f"p{i}", f"r{j}"): p for (i, j), p in moves.items()}
    for i in range(len(earlier)):
        own = f"p{i}"
        table[own, "nowhere"] = 1 - sum(p for (before, _), p in table.items() if before == own)
    releases = [
        [{"c": f"{name}{k}"} for k, n in enumerate(kinds) for _ in range(n)]
        for name, kinds in (("p", earlier), ("r", later))
    ]
    paths = []
    for number, release in enumerate(releases):
        paths.append(str(folder / f"r{number}.parquet"))
        pq.write_table(pa.Table.from_pylist(release), paths[-1])
    lines = [f"{a},{b},{float(p)!r}" for (a, b), p in table.items()]
    (folder / "moves.csv").write_text("\n".join(["from,to,probability", *lines]) + "\n")
    asked = {"presence": str(float(rho)), "one_to_one": True}
    rule = f"c:table={folder / 'moves.csv'}"
    result = qifsql.attack("crl", paths, link=rule, qids="c", **asked)
    laws = [Law("c", table=table)]
    every = counted(laws, *releases, 1, rho)
    best = sum(max(own[:-1]) for own in every) / len(every)
    row = by_knowledge(result)["CRL", "linked"]
    assert row["link_vulnerability"] == NEAR(float(best), abs=1e-9)

    def link(at: int, x: Row, number: int) -> list[Fraction]:
        return every[releases[0].index(x)]

    true = attack(laws, releases, rho, [["c"], ["c"]], lambda i: i, linker=link)
    assert row["posterior_probabilistic"] == NEAR(float(true.probabilistic), abs=1e-9)
    assert row["posterior_deterministic"] == NEAR(float(true.deterministic), abs=1e-9)
    assert row["blocks"] == true.observations


@pytest.mark.cases(1)
@pytest.mark.parametrize("move", ["0.5", "0.01"])
def test_a_chain_of_people_at_presence_1_is_linked_for_sure(tmp_path: Path, move: str) -> None:
    """Only one matching is perfect, and each of its links hangs on the one before."""
    values = [chr(97 + i) for i in range(26)]
    for name in ("r0", "r1"):
        pq.write_table(pa.table({"c": values}), tmp_path / f"{name}.parquet")
    lines = ["from,to,probability", "a,a,1"]
    for before, value in pairwise(values):
        lines += [f"{value},{value},{move}", f"{value},{before},{1 - float(move)}"]
    (tmp_path / "moves.csv").write_text("\n".join(lines) + "\n")
    paths = [str(tmp_path / f"r{i}.parquet") for i in (0, 1)]
    rule = f"c:table={tmp_path / 'moves.csv'}"
    result = qifsql.attack("crl", paths, link=rule, qids="2:c", presence=1, one_to_one=True)
    row = by_knowledge(result)["CRL", "linked"]
    assert row["link_vulnerability"] == 1
    assert row["posterior_deterministic"] == 1
    assert not any("settled" in note for note in result.notes)
    assert any("0.036 too low" in note for note in result.notes)


@settings(max_examples=examples(10), deadline=None)
@given(
    releases=st.lists(st.lists(rows, min_size=4, max_size=6), min_size=2, max_size=2),
    qids=st.sampled_from([["e", "q"], ["1:q", "2:c"]]),
)
def test_with_the_key_and_presence_1_the_results_are_those_with_the_key(
    tmp_path_factory: pytest.TempPathFactory,
    releases: list[list[dict[str, Any]]],
    qids: list[str],
) -> None:
    folder = tmp_path_factory.mktemp("matching")
    first, second = ([r | {"id": n} for n, r in enumerate(own)] for own in releases)
    paths = written(folder, [first[: len(second)], second])
    true = with_key("crl,cal", paths, key="id", qids=qids, secret="s")
    found = by_knowledge(linked(folder, paths, ["id"], qids=qids, one_to_one=True))
    numbers = set(true.frame.columns) - {"seconds", *REPORTED}
    for row in true.rows():
        mine = found[row["model"], "linked"]
        assert {c: mine[c] for c in numbers} == {c: row[c] for c in numbers}
        assert mine["link_vulnerability"] == 1


@pytest.mark.slow(because="test_calibration.py has it for links of many kinds")
@pytest.mark.parametrize("presence", [1.0, 0.9])
@pytest.mark.parametrize("exact", ["sex", "sex,month"])
def test_as_many_links_are_right_as_the_model_says(
    tmp_path: Path, presence: float, exact: str
) -> None:
    """On a generated census: together, and for every chance that many links have."""
    paths = census(tmp_path, presence, seed=3)[:2]
    rule = f"{exact}; age:+1; school:stay={STAY}"
    asked = {"presence": presence, "truth": "id", "qids": ["sex"], "one_to_one": True}
    result = qifsql.attack("crl", paths, link=rule, **asked)
    (step,) = result.details["links"].to_dicts()
    assert step["link_accuracy"] == NEAR(step["link_vulnerability"], abs=0.02)
    tenths: dict[int, list[tuple[int, float, float]]] = {}
    for _, chance, n, predicted, right in result.details["calibration"].iter_rows():
        tenths.setdefault(min(chance // 10, 9), []).append((n, predicted, right))
    seen = 0
    for own in tenths.values():
        n = sum(one[0] for one in own)
        said, right = (sum(one[0] * one[i] for one in own) / n for i in (1, 2))
        if n >= 100:
            spread_ = (said * (1 - said) / n) ** 0.5
            assert abs(said - right) < 4 * spread_ + 0.015
            seen += n
    assert seen > 0.9 * PEOPLE


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    one = dict.fromkeys(("e", "age", "c", "d", "q", "s"))
    return written(tmp_path, [[one | {"e": i} for i in range(4)], [one | {"e": i} for i in (0, 1)]])


def test_more_people_than_records_are_refused(pair: list[str]) -> None:
    asked = {"link": "e", "qids": "q", "one_to_one": True}
    with pytest.raises(QifError, match=r"at most 0\.5000"):
        qifsql.attack("crl", pair, **asked)
    qifsql.attack("crl", pair, presence=0.5, **asked)
    with pytest.raises(QifError, match="name link="):
        qifsql.attack("crl", pair, qids="q", one_to_one=True)


def test_nobody_is_linked_where_nobody_stays(pair: list[str]) -> None:
    result = qifsql.attack("crl", pair, link="e", qids="q", presence=0, one_to_one=True)
    assert by_knowledge(result)["CRL", "linked"]["link_vulnerability"] == 0


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_too_many_pairs_are_refused_and_restless_chances_are_told(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [shared / "data" / f"star_grade_{n}.parquet" for n in (1, 2)]
    asked = {"link": "sex; school:stay=0.9", "qids": "sex", "presence": 0.7, "one_to_one": True}
    monkeypatch.setattr(match, "MOST_ROUNDS", 2)
    notes = qifsql.attack("crl", paths, **asked).notes
    assert any(
        "star_grade_1.parquet to star_grade_2.parquet had not quite settled" in n for n in notes
    )
    monkeypatch.setattr(match, "MOST_PAIRS", 100)
    with pytest.raises(QifError, match="more than 100"):
        qifsql.attack("crl", paths, **asked)


def test_values_of_a_table_of_moves_and_missing_ones_compete_too(tmp_path: Path) -> None:
    """Two pupils, one place: either may have it; hand-made, by the weights of the matchings."""
    columns = {"e": [1, 1], "c": ["a", None]}
    for name in ("r0", "r1"):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    (tmp_path / "moves.csv").write_text("from,to,probability\na,a,0.5\na,,0.5\n,,1\n")
    law = Law(
        "c",
        table={("a", "a"): Fraction(1, 2), ("a", None): Fraction(1, 2), (None, None): Fraction(1)},
    )
    releases = [[{"e": e, "c": c} for e, c in zip(*columns.values(), strict=True)]] * 2
    paths = [str(tmp_path / f"r{i}.parquet") for i in (0, 1)]
    rule = f"e; c:table={tmp_path / 'moves.csv'}"
    result = qifsql.attack("crl", paths, link=rule, qids="c", presence=0.5, one_to_one=True)
    every = counted([Law("e"), law], *releases, 1, Fraction(1, 2))
    best = sum(max(own[:-1]) for own in every) / 2
    assert by_knowledge(result)["CRL", "linked"]["link_vulnerability"] == NEAR(float(best))
