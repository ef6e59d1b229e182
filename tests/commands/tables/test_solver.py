"""Integer programming: against all arrays one by one, and what interrupted work leaves."""

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from test_against_oracle import Case, Table, cases, check_truth, frame, sharp

import qifsql
from qifsql.commands.tables import fit, small_components, solver
from qifsql.counting import integer_programs
from qifsql.counting.integer_programs import InfeasibleError, OpenError, Program, Row
from qifsql.errors import InputError
from qifsql.reference import published_arrays as oracle

LATER = 10.0**9
TRIANGLE = ["a", "a,b:suppress<4", "b,c:suppress<4", "a,c:suppress<4"]
MEASURES = ("reconstructed", "reconstructed_ones", "singled_out", "certain_inference")


@pytest.fixture(autouse=True)
def _no_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all components be solved by integer programming; the fit is tested elsewhere."""
    monkeypatch.setattr(small_components, "MOST_CELLS", 0)
    monkeypatch.setattr(fit, "MOST_ROUNDS", 2)


def solutions(bounds: list[tuple[int, int]], rows: list[Row]) -> list[tuple[int, ...]]:
    each = itertools.product(*(range(low, high + 1) for low, high in bounds))
    return [x for x in each if all(holds(row, x) for row in rows)]


def holds(row: Row, x: tuple[int, ...]) -> bool:
    total = sum(a * x[j] for j, a in zip(row.columns, row.factors, strict=True))
    return row.lower <= total <= row.upper


@pytest.mark.cases(139)
@pytest.mark.parametrize("seed", range(150))
def test_a_program_gives_the_least_value_of_all_solutions(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(1, 6)
    lows = [rng.randint(0, 1) for _ in range(size)]
    bounds = [(low, low + rng.randint(0, 3)) for low in lows]
    rows = []
    for _ in range(rng.randint(0, 5)):
        columns = rng.sample(range(size), rng.randint(1, size))
        lower = rng.randint(0, 5)
        factors = [rng.choice([1, 1, 1, -1, 2]) for _ in columns]
        rows.append(Row(columns, factors, lower, lower + rng.randint(0, 2)))
    goal = {j: rng.randint(-3, 3) for j in range(size)}
    every = solutions(bounds, rows)
    if not every:
        with pytest.raises(InfeasibleError):
            Program(bounds, rows, LATER).minimise(goal)
        return
    answer = Program(bounds, rows, LATER).minimise(goal)
    least = min(sum(goal[j] * x[j] for j in goal) for x in every)
    assert (answer.bound, answer.attained) == (least, least)


def test_any_multipliers_give_a_bound() -> None:
    bounds = [(0, 3), (0, 2), (1, 4)]
    rows = [Row([0, 1, 2], [1, 1, 1], 4, 5), Row([0, 2], [1, -1], -1, 1)]
    program, costs, rng = Program(bounds, rows, LATER), [2, -1, 1], random.Random(0)
    values = [sum(c * n for c, n in zip(costs, x, strict=True)) for x in solutions(bounds, rows)]
    for _ in range(200):
        assert program._proved_bound(costs, {}, [rng.uniform(-5, 5) for _ in rows]) <= min(values)


def test_a_gap_is_closed_by_branches() -> None:
    # Three columns of which each two add up to at most 1: half of each is best without the
    # condition that they are whole, 3/2; whole numbers give 1.
    rows = [Row(pair, [1, 1], 0, 1) for pair in ([0, 1], [1, 2], [0, 2])]
    program = Program([(0, 1)] * 3, rows, LATER)
    goal = {0: -2, 1: -2, 2: -2}
    answer = program.minimise(goal)
    assert (answer.bound, answer.attained) == (-2, -2)
    assert not program.minimise(goal, nodes=1).sharp


def test_no_time_is_an_error_of_its_own() -> None:
    with pytest.raises(OpenError):
        Program([(0, 3), (0, 3)], [Row([0, 1], [1, 1], 2, 3)], 0.0).minimise({0: 1})


def check(case: Case) -> None:
    """Compare a case with all arrays: bounds of what was solved are equal."""
    result = qifsql.tables(case.frame, table=case.texts, progressive=True, **case.options)
    for row in result.rows():
        check_truth(row, case.people)
    solved = [r for r in result.rows() if r["bounds"] in {"integer programming", "mixed"}]
    for row in solved:
        used = case.tables[: len(row["tables"])]
        if any(t.drawn for t in used):
            continue
        cells = [oracle.publish(case.people, t) for t in used]
        check_row(row, case, list(zip(used, cells, strict=True)))


def check_row(row: dict[str, Any], case: Case, tables: list[Any]) -> None:
    problem = oracle.Problem(oracle.domains(case.people), len(case.people), tuple(tables))
    every = sharp(problem)
    if every is None:
        return
    known = tuple("abcd".index(name) for name in row["known"])
    best = oracle.row(problem, every, known, case.secret, case.people)
    for name in (*MEASURES, "cells_proved"):
        if best[name] is not None:
            assert row[name] == best[name] if row["sharp"] else row[name] <= best[name], name
    assert row["lowest"] <= float(best["lowest"]) + 1e-9
    assert row["highest"] >= float(best["highest"]) - 1e-9
    if row["bracket_sharp"]:
        ends = (float(best["lowest"]), float(best["highest"]))
        assert (row["lowest"], row["highest"]) == pytest.approx(ends)


HIDING = ("exact", "suppress", "suppress zeros", "round")


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
@settings(max_examples=examples(10))
@given(cases(kinds=HIDING, most=10))
def test_cells_of_all_attributes(case: Case) -> None:
    check(case)


@settings(max_examples=examples(10))
@given(cases(kinds=HIDING, most=10))
def test_cells_of_cliques(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "MOST_CELLS_OF_PROGRAM", 0)
        check(case)


def triangle(size: int = 3, people: int = 9, seed: int = 2) -> list[tuple[int, ...]]:
    rng = random.Random(seed)
    return [tuple(rng.randrange(size) for _ in range(3)) for _ in range(people)]


@pytest.mark.slow(because="5.5 s; every recorded mutant dies without it")
@pytest.mark.parametrize("seed", range(3))
def test_three_pairs_of_three_dimensions(seed: int) -> None:
    people = triangle(people=8, seed=seed)
    texts = [t.split(":") for t in TRIANGLE]
    tables = tuple(
        Table(tuple("abc".index(i) for i in dims.split(",")), *(["suppress", 4] if rest else []))
        for dims, *rest in texts
    )
    check(Case(tuple(people), tables, None, 2))


@pytest.mark.slow(because="4.8 s; every recorded mutant dies without it")
def test_a_chain_is_solved_by_its_cliques(monkeypatch: pytest.MonkeyPatch) -> None:
    people = [(s, *x) for s in range(2) for x in triangle(people=12, seed=s)]
    tables = ["a", "a,b:suppress<4", "a,b,c:suppress<4", "a,c,d:suppress<4"]
    wide = qifsql.tables(frame(people), table=tables, secret="d").rows()[0]
    monkeypatch.setattr(solver, "MOST_CELLS_OF_PROGRAM", 0)
    narrow = qifsql.tables(frame(people), table=tables, secret="d").rows()[0]
    for row in (wide, narrow):
        assert (row["sharp"], row["components_open"]) == (True, 0)
    for name in (*MEASURES, "cells_proved"):
        assert wide[name] == narrow[name], name


def schools(n: int = 6) -> list[tuple[int, ...]]:
    rng = random.Random(3)
    return [
        (s, *(int(5 * rng.random() ** 2) for _ in range(3))) for s in range(n) for _ in range(25)
    ]


OF_SCHOOLS = ["a", "a,b,c:suppress<4", "a,c,d:suppress<4", "a,b,d:suppress<4"]


def attack(**options: Any) -> qifsql.Result:
    return qifsql.tables(frame(schools()), table=OF_SCHOOLS, secret="d", **options)


@pytest.mark.slow(because="5.4 s; every recorded mutant dies without it")
def test_without_time_everything_stays_open() -> None:
    (row,) = attack(time_budget=0).rows()
    (best,) = attack().rows()
    assert (row["bounds"], row["sharp"], row["components_open"]) == ("propagation", False, 6)
    assert (best["bounds"], best["sharp"], best["components_open"]) == (
        *("integer programming", True),
        0,
    )
    assert all(row[name] <= best[name] for name in (*MEASURES, "lowest", "cells_proved"))
    assert row["highest"] >= best["highest"]


@pytest.mark.slow(because="11.0 s; every recorded mutant dies without it")
def test_interrupted_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kept.duckdb"
    outcome, solved = solver._Batch.outcome, []

    def some(self: Any, component: int, deadline: float) -> solver.Outcome:
        if len(solved) == 3:
            raise KeyboardInterrupt
        solved.append(component)
        return outcome(self, component, deadline)

    monkeypatch.setattr(solver._Batch, "outcome", some)
    with pytest.raises(KeyboardInterrupt):
        attack(resume=file)
    assert file.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(solver._Batch, "outcome", outcome)
    again: list[int] = []

    def rest(self: Any, component: int, deadline: float) -> solver.Outcome:
        again.append(component)
        return outcome(self, component, deadline)

    monkeypatch.setattr(solver._Batch, "outcome", rest)
    second = attack(resume=file)
    assert len(again) == 3  # of six; each run numbers them, and keeps them by their contents
    assert second.frame.equals(attack().frame)
    again.clear()
    assert attack(resume=file).frame.equals(second.frame)
    assert not again


@pytest.mark.slow(because="5.0 s; every recorded mutant dies without it")
def test_a_file_of_other_tables_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "kept.duckdb"
    attack(resume=file)
    with pytest.raises(InputError, match="belongs to other tables"):
        qifsql.tables(frame(schools()[1:]), table=OF_SCHOOLS, secret="d", resume=file)
    with pytest.raises(InputError, match="belongs to other tables"):
        qifsql.tables(frame(schools()), table=OF_SCHOOLS, secret="c", resume=file)
    with pytest.raises(InputError, match="resume="):
        attack(resume=tmp_path / "nowhere" / "kept.duckdb")
    (tmp_path / "text").write_text("a,b\n")
    with pytest.raises(InputError, match="resume="):
        attack(resume=tmp_path / "text")


@pytest.mark.slow(because="4.4 s; every recorded mutant dies without it")
def test_a_missing_library_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integer_programs, "LIBRARY", "no_such_library")
    result = attack()
    (row,) = result.rows()
    assert (row["sharp"], row["components_open"]) == (False, 6)
    assert any("the extra tables" in note for note in result.notes)
    closed = qifsql.tables(frame(schools()), table=["a,b", "a,c"], secret="c")
    assert not any("the extra" in note for note in closed.notes)


def test_contradictions_are_proved() -> None:
    # Each pair of three coins differs: no single coin does, but not all three can.
    rows = [Row(pair, [1, 1], 1, 1) for pair in ([0, 1], [1, 2], [0, 2])]
    with pytest.raises(InfeasibleError):
        Program([(0, 1)] * 3, rows, LATER).minimise({})
