"""k for combinations of quasi-identifiers: every M of them, or named ones."""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_lattice
import polars as pl
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle_lattice import Release
from test_anonymise import anonymised
from test_anonymise_people import LADDER, Row, table, visits

import qifsql
from qifsql.commands.anonymise.release_request import Request, required_combinations
from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.data import option
from qifsql.errors import ColumnError, InputError
from qifsql.reference.class_limits import kept_records, owners

Combinations = Mapping[tuple[str, ...], int]
NAMES = ("a", "b", "s")  # the quasi-identifiers of the tests

every_combination = st.dictionaries(
    st.sampled_from([("a",), ("b",), ("a", "b"), ("a", "s"), ("b", "s"), NAMES]),
    st.integers(1, 4),
    min_size=1,
    max_size=3,
)


def texts(combinations: Combinations) -> list[str]:
    """The options that name combinations."""
    return [f"{','.join(names)}={k}" for names, k in combinations.items()]


def keeps(rows: Sequence[Row], these: Sequence[int], combinations: Combinations) -> bool:
    """Return whether every class of these records by a combination has k people."""
    whose = owners(rows, "p")
    for names, k in combinations.items():
        people: dict[Any, set[Any]] = {}
        for i in these:
            people.setdefault(tuple(rows[i][n] for n in names), set()).add(whose[i])
        if any(len(group) < k for group in people.values()):
            return False
    return True


@settings(max_examples=examples(30))
@given(visits().filter(lambda rows: len(rows) < 10), every_combination)
def test_what_stays_is_the_largest_of_all_sets_of_records(
    rows: list[Row], combinations: Combinations
) -> None:
    numbers = range(len(rows))
    sets = (these for n in numbers for these in itertools.combinations(numbers, n + 1))
    kept = {i for these in sets if keeps(rows, these, combinations) for i in these}
    assert kept_records(rows, combinations, "p") == kept
    assert keeps(rows, sorted(kept), combinations)


@pytest.mark.slow(because="5 s; an exact search beside the release")
@settings(max_examples=examples(12))
@given(visits(), every_combination, st.booleans())
@example(  # without the one of b=1, there is one of a=2
    [{"p": None, "a": a, "b": b, "s": "x"} for a, b in ((0, 0), (0, 0), (2, 0), (2, 1))],
    {("a",): 2, ("b",): 2},
    True,
)
def test_recode_suppresses_the_fewest_records(
    rows: list[Row], combinations: Combinations, of_people: bool
) -> None:
    recoded = [row | {"a": row["a"] // 2} for row in rows]
    if not of_people:
        recoded = [row | {"p": None} for row in recoded]
    kept = kept_records(recoded, combinations, "p")
    how: dict[str, Any] = {"method": "recode", "change": "a:2", "suppress": True}
    how |= {"qids": [*NAMES], "k_for": texts(combinations), "person": "p" if of_people else None}
    if max(combinations.values()) > len(set(owners(recoded, "p"))):
        return  # it is refused
    result, made = anonymised(table(rows), "csv", **how)
    shown = made.select(NAMES).rows()
    assert {i for i, cells in enumerate(shown) if cells != ("*",) * 3} == kept
    assert result.frame["suppressed"][0] == len(rows) - len(kept)
    for row in result.details.get("combinations", pl.DataFrame()).iter_rows(named=True):
        people: dict[Any, set[Any]] = {}
        for i in kept:
            cells = tuple(recoded[i][n] for n in row["quasi_identifiers"])
            people.setdefault(cells, set()).add(owners(recoded, "p")[i])
        smallest = min(map(len, people.values()), default=None)
        assert (row["classes"], row["smallest_class"]) == (len(people), smallest)
        assert (
            smallest is None or smallest >= row["k"] == combinations[(*row["quasi_identifiers"],)]
        )


@pytest.mark.slow(because="45 s; the lattice against all nodes")
@settings(max_examples=examples(10))
@given(visits(), st.integers(2, 4), st.integers(1, 2), st.integers(0, 15), every_combination)
def test_the_lattice_finds_the_least_loss_of_all_nodes(
    rows: list[Row], k: int, size: int, share: int, named: Combinations
) -> None:
    """Of people with several records; k for every ``size`` of three columns, and for named ones."""
    rows = [{**row, "s": "xyz".find(row["s"] or "x")} for row in rows]
    combinations = dict.fromkeys(itertools.combinations(NAMES, size), k)
    combinations |= {n: max(its_k, combinations.get(n, 1)) for n, its_k in named.items()}
    ladders, columns = [LADDER] * 3, [[row[n] for row in rows] for n in NAMES]
    most, made = share * len(rows) // 20, {}
    for node in itertools.product(range(3), repeat=3):
        cells = [
            {n: ladder[s][row[n]] for n, ladder, s in zip(NAMES, ladders, node, strict=True)}
            for row in rows
        ]
        with_person = [row | {"p": old["p"]} for row, old in zip(cells, rows, strict=True)]
        kept = kept_records(with_person, combinations, "p")
        made[node] = Release([sorted(kept)], [sorted({*range(len(rows))} - kept)])
    losses = {
        node: oracle_lattice.loss("penalty", node, m, ladders, columns, by_distance=True)
        for node, m in made.items()
        if m.suppressed <= min(most, len(rows) - 1)
    }
    steps = [f"{q}:2" for q in NAMES] + [f"drop={q}" for q in NAMES]
    how: dict[str, Any] = {"method": "lattice", "change": steps, "suppress": Fraction(share, 20)}
    how |= {"k": k, "subsets": size, "k_for": texts(named), "qids": [*NAMES], "person": "p"}
    frame = pl.DataFrame(rows, schema={"p": pl.String, **dict.fromkeys(NAMES, pl.Int64)})
    if not losses:
        with pytest.raises(InputError):
            anonymised(frame.to_arrow(), "csv", **how)
        return
    result, _ = anonymised(frame.to_arrow(), "csv", **how)
    row = result.frame.row(0, named=True)
    node = tuple(row["steps"])
    assert row["optimal"]
    assert row["suppressed"] == made[node].suppressed
    assert losses[node] == min(losses.values())
    assert row["penalty"] == pytest.approx(float(losses[node]), abs=1e-12)


ANSWERS = pl.DataFrame(
    {"a": [1, 1, 1, 2, 2, 3], "b": list("xxyyyz"), "c": [7, 7, 8, 8, 8, 8], "s": list("uvuvuv")}
)


def test_cells_are_suppressed_before_records(tmp_path: Path) -> None:
    """The third and the last record have a and c, and a or c and *, with nobody else."""
    how: dict[str, Any] = {"method": "recode", "suppress_cells": "b", "suppress": True}
    how |= {"qids": "a,b,c", "k": 2, "subsets": 2}
    result = qifsql.anonymise(ANSWERS, tmp_path / "out.csv", **how)
    shown = pl.read_csv(tmp_path / "out.csv", infer_schema=False).select("a", "b", "c").rows()
    kept, gone = [("1", "x", "7")] * 2, ("*", "*", "*")
    assert shown == [*kept, gone, *[("2", "y", "8")] * 2, gone]
    assert result.frame["suppressed"][0] == 2


def test_the_release_says_what_holds_for_which_columns(tmp_path: Path) -> None:
    how: dict[str, Any] = {"qids": "a,b,c", "k": 2, "subsets": 1, "suppress": True}
    result = qifsql.anonymise(ANSWERS, tmp_path / "out.csv", **how)
    assert result.frame["method"][0] == "lattice"
    notes = "\n".join(result.notes)
    assert (
        "k=2 for every 1 quasi-identifier: by all quasi-identifiers together, the smallest" in notes
    )
    assert "smallest class by one of them has 2 records" in str(result)
    levels = qifsql.levels(tmp_path / "out.csv", qids="a", k=2).frame
    assert levels["met"].all()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": None, "subsets": 2}, "name it with k"),
        ({"subsets": 0}, "subsets is a number of quasi-identifiers from 1"),
        ({"method": "mondrian", "subsets": 2}, "and so for every combination of them"),
        ({"method": "mdav", "k_for": "a=3"}, "and so for every combination of them"),
        ({"k_for": "a,b"}, "write quasi-identifiers and a whole number"),
        ({"k_for": "=5"}, "write quasi-identifiers and a whole number"),
        ({"k_for": "a,bb=2"}, '"bb" is not a quasi-identifier; did you mean "b"'),
        ({"k_for": "a=7"}, "k is 7, and .* has 6 records"),
        ({"k": 6, "subsets": 2, "change": "a:2"}, "no node of the lattice keeps k=6 for every 2"),
    ],
)
def test_combinations_that_cannot_be(options: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises((InputError, ColumnError), match=says):
        qifsql.anonymise(ANSWERS, tmp_path / "o.csv", **({"qids": "a,b,c", "k": 2} | options))


def asked(**options: Any) -> Request:
    how: Any = {"method": "lattice", **options}
    return Request.of(option.complete(how, AnonymiseOptions))


def test_combinations_that_others_imply_are_left_out() -> None:
    """Also that all quasi-identifiers together have k is the usual limit, and no combination."""
    request = asked(k=3, subsets=2, k_for=["a,b,c=3", "d=2", "d=4"])
    names = ["a", "b", "c", "d"]
    of = [(c.qids, c.k) for c in required_combinations(request, names)]
    assert of == [((1, 4), 3), ((2, 4), 3), ((3, 4), 3), ((1, 2, 3), 3), ((4,), 4)]
    for options in ({"k": 3, "subsets": 9}, {"k": 3}, {"k": 3, "k_for": ["a=2"]}):
        assert required_combinations(asked(**options), names) == []
