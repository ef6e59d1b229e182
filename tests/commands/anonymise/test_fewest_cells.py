"""Local suppression: the fewest cells, compared with all maskings, and bounds that hold."""

import time
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.commands.anonymise.fewest_cells import cell_groups, fewest_cells, mask_programs
from qifsql.commands.anonymise.fewest_cells.mask_programs import PARTS, UNIT, Group, Problem
from qifsql.counting import integer_programs
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.reference.class_limits import fewest_suppressed_cells
from qifsql.results.result import Result

Row = tuple[int, ...]
FAR = time.monotonic() + 10_000

cells = st.integers(0, 2)
rows_of_two = st.lists(st.tuples(cells, cells), min_size=2, max_size=6)
rows_of_three = st.lists(st.tuples(cells, cells, st.integers(0, 1)), min_size=2, max_size=4)
small_tables = st.one_of(rows_of_two, rows_of_three)


def enough(rows: list[Row], k: int) -> list[Row]:
    """Return records that are at least k."""
    return rows if len(rows) >= k else (rows * k)[:k]


def suppressed(rows: Sequence[Row], out: Path, **options: Any) -> tuple[Result, list[Any]]:
    """Return the result of a release of the columns a, b, ..., and its records as texts."""
    names = list("abc"[: len(rows[0])])
    people = pl.DataFrame(rows, schema=names, orient="row")
    options = {"method": "suppress", "k": 2, "qids": names} | options
    result = qifsql.anonymise(people, out, **options)
    return result, pl.read_csv(out, infer_schema=False).rows()


def problem_of(rows: Sequence[Row], k: int, *, everybody: bool) -> Problem:
    """Return the classes and groups of a table: those of ``sql/anonymise/suppression.sql``."""
    classes = Counter(rows)
    numbers = {row: number for number, row in enumerate(sorted(classes))}
    placed = {row for row in classes if everybody or classes[row] < k}
    groups: dict[int, Group] = {}
    width = len(rows[0])
    sets = [hidden for n in range(width + 1) for hidden in combinations(range(width), n)]
    for hidden in sets if everybody else sets[1:]:
        guises: dict[Row, list[Row]] = {}
        for row in classes:
            guise = tuple(-1 if i in hidden else cell for i, cell in enumerate(row))
            guises.setdefault(guise, []).append(row)
        for fitting in guises.values():
            people = sum(classes[row] for row in fitting if row in placed)
            spare = max((classes[row] - k for row in fitting if row not in placed), default=-1)
            if people and (people >= k or spare >= 0):
                kinds = [numbers[row] for row in fitting if row in placed]
                groups[len(groups)] = Group(len(hidden), people, spare, kinds)
    return Problem({numbers[row]: classes[row] for row in placed}, groups, k)


@settings(max_examples=examples(150), deadline=None)
@given(small_tables, st.integers(2, 4))
def test_one_program_of_all_classes_finds_the_fewest_cells(rows: list[Row], k: int) -> None:
    rows = enough(rows, k)
    problem = problem_of(rows, k, everybody=True)
    every_cell = len(rows) * len(rows[0])
    least, placements = mask_programs.solve_together(problem, every_cell + 1, FAR)
    fewest = fewest_suppressed_cells(rows, k)
    assert least.bound == least.attained == fewest * PARTS
    assert problem.count_cells(placements) == fewest


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(small_tables, st.integers(2, 3), st.integers(1, 3))
def test_bounds_of_blocks_hold_of_every_masking(
    monkeypatch: pytest.MonkeyPatch, rows: list[Row], k: int, size: int
) -> None:
    monkeypatch.setattr(mask_programs, "CLASSES", size)  # many blocks
    rows = enough(rows, k)
    problem = problem_of(rows, k, everybody=False)
    if not problem.groups:
        assert not problem.sizes  # all classes are large enough
        return
    nothing = max(problem.groups)  # all cells are suppressed
    placements = {(kind, nothing): people for kind, people in problem.sizes.items()}
    blocks = mask_programs.improve(problem, placements, [], FAR)
    fewest = fewest_suppressed_cells(rows, k)
    assert sum(block.bound for block in blocks) <= fewest * UNIT
    assert sorted(kind for block in blocks for kind in block.classes) == sorted(problem.sizes)
    found = mask_programs.merge(blocks)
    assert problem.count_cells(found) <= problem.count_cells(placements)
    placed: Counter[int] = Counter()
    for (kind, _), people in found.items():
        placed[kind] += people
    assert placed == problem.sizes  # every record has a place


NOBODY_SPARES = [(0, 0), (0, 0), (1, 1)]  # k = 2: whoever is alone needs both others
SPLIT = [(0, 0), (0, 0), (0, 1), (0, 1), (1, 0), (1, 1), (2, 2)]


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows_of_two, st.integers(2, 3))
@example(NOBODY_SPARES, 2)
@example(SPLIT, 3)
def test_a_release_suppresses_the_fewest_cells(tmp_path: Path, rows: list[Row], k: int) -> None:
    rows = enough(rows, k)
    result, released = suppressed(rows, tmp_path / "r.csv", k=k)
    row = result.details["suppression"].row(0, named=True)
    stars = sum(cell == "*" for record in released for cell in record)
    assert stars == row["suppressed_cells"] == row["at_least"] == fewest_suppressed_cells(rows, k)
    assert result.frame["optimal"].item()
    assert min(Counter(released).values()) >= k
    pairs = zip(released, rows, strict=True)
    assert all(
        r in ("*", str(v)) for record, raw in pairs for r, v in zip(record, raw, strict=True)
    )


def test_the_release_does_not_depend_on_the_order_of_the_records(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {"a": [0] * 6 + [1], "b": [0] * 6 + [5], "s": [f"{n} of 7" for n in range(7)]}
    )
    released = []
    for n, table in enumerate((people, people.reverse())):
        options = {"method": "suppress", "k": 3, "qids": "a,b"}
        threads = Settings(threads=1 + 3 * n)
        qifsql.anonymise(table, tmp_path / f"{n}.csv", settings=threads, **options)
        released.append(sorted(pl.read_csv(tmp_path / f"{n}.csv", infer_schema=False).rows()))
    assert released[0] == released[1]
    assert sum(row[:2] == ("*", "*") for row in released[0]) == 3


def test_changes_come_before_suppression(tmp_path: Path) -> None:
    rows = [(20, 0, 1), (21, 0, 2), (22, 0, 3), (23, 1, 4), (24, 0, 5), (39, 0, 6)]
    out = tmp_path / "r.csv"
    result, released = suppressed(rows, out, change=["a:10", "drop=c"])
    assert pl.read_csv(out, n_rows=0).columns == ["a", "b"]
    assert Counter(released)["20-29", "0"] in (2, 4)
    assert min(Counter(released).values()) >= 2
    assert result.details["suppression"]["suppressed_cells"].item() == 4
    assert result.details["quasi_identifiers"]["changes"].to_list() == [["a:10"], [], ["drop=c"]]


def test_what_is_not_proved_is_said_with_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integer_programs, "LIBRARY", "no_such_library")
    rows = [(0, 0), (0, 0), (1, 1)]
    result, _ = suppressed(rows, tmp_path / "r.csv")
    row = result.details["suppression"].row(0, named=True)
    assert (row["suppressed_cells"], row["at_least"]) == (6, 4)
    assert not result.frame["optimal"].item()
    assert any("2 cells fewer" in note for note in result.notes)
    assert any("extra tables" in note for note in result.notes)


@pytest.mark.parametrize(
    ("budget", "words"), [(60.0, "1 combination lack"), (1e-6, "time budget ended")]
)
def test_a_search_that_was_not_made_has_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: float, words: str
) -> None:
    monkeypatch.setattr(fewest_cells, "MOST_PAIRS_TOGETHER", 0)
    result, _ = suppressed(NOBODY_SPARES, tmp_path / "r.csv", time_budget=budget)
    assert not result.frame["optimal"].item()
    assert any(words in note for note in result.notes)
    assert words in (tmp_path / "r.csv.manifest.json").read_text()
    row = result.details["suppression"].row(0, named=True)
    blocks = (1, 1) if budget > 1 else (None, None)
    assert (row["blocks"], row["open_blocks"]) == blocks
    assert row["at_least"] <= fewest_suppressed_cells(NOBODY_SPARES, 2) <= row["suppressed_cells"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": None}, "needs the size of classes"),
        ({"person": "a"}, "does not take person"),
        ({"strata": "b", "qids": "a"}, "does not take strata"),
        ({"subsets": 1}, "does not take subsets"),
        ({"k_for": "a=2"}, "does not take k_for"),
        ({"l": 2, "secret": "b", "qids": "a"}, "no limit on a secret"),
        ({"suppress": 0.1}, "leave it out"),
        ({"suppress_cells": "a"}, "for recode alone"),
        ({"change": ["drop=a", "drop=b"]}, "leave one as it is"),
        ({"k": 9}, "no class can have so many"),
    ],
)
def test_what_local_suppression_cannot_do_is_refused(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        suppressed([(0, 0), (0, 1), (1, 1)], tmp_path / "r.csv", **options)


def test_too_many_sets_of_cells_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_groups, "MOST_PAIRS", 7)
    with pytest.raises(InputError, match="coarsen some"):
        suppressed([(0, 0), (0, 1), (1, 1)], tmp_path / "r.csv")
