"""Strata: no class mixes the values of a column, and limits hold within each of its groups."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_anonymise as oracle
import oracle_lattice
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_anonymise import Limits
from oracle_lattice import Release
from test_anonymise import anonymised, expected, spots
from test_anonymise_people import LADDER, QIDS, Row

import qifsql
from qifsql.errors import InputError
from qifsql.reference import class_limits

record = st.fixed_dictionaries(
    {
        "p": st.sampled_from([None, None, "x", "y"]),
        "a": st.integers(0, 3),
        "b": st.integers(0, 2),
        "g": st.sampled_from(["north", "south", None]),
        "s": st.sampled_from("xyz"),
    }
)
records = st.lists(record, min_size=4, max_size=30)
limits = st.builds(Limits, st.integers(1, 3), st.none() | st.integers(1, 2))
SCHEMA = {"p": pl.String, "a": pl.Int64, "b": pl.Int64, "g": pl.String, "s": pl.String}


def asked(limit: Limits, **more: Any) -> dict[str, Any]:
    secret = {"secret": "s"} if limit.l is not None else {}
    return (
        {"k": limit.k, "l": limit.l, "qids": [*QIDS], "strata": "g", "person": "p"} | secret | more
    )


def groups(rows: Sequence[Row]) -> list[list[int]]:
    """The numbers of the records of each stratum."""
    names = dict.fromkeys(row["g"] for row in rows)
    return [[i for i, row in enumerate(rows) if row["g"] == name] for name in names]


@settings(max_examples=examples(3))
@given(records, limits, st.booleans())
def test_classes_are_those_of_each_stratum(rows: list[Row], limit: Limits, cut: bool) -> None:
    fits = class_limits.judge(rows, ["s"], vars(limit), "p")
    table = pl.DataFrame(rows, schema=SCHEMA).to_arrow()
    where, k_alone = spots(rows, [*QIDS]), class_limits.judge(rows, [], {"k": limit.k}, "p")
    method = "mondrian" if cut else "mdav"
    how = asked(limit, method=method, suppress=not cut and limit.l is not None)
    if not all(map(fits if cut else k_alone, groups(rows))) or not any(map(fits, groups(rows))):
        with pytest.raises(InputError, match=r'of the \d groups of "g" break|no class can'):
            anonymised(table, **how)
        return
    whose = class_limits.owners(rows, "p")
    classes = [
        c
        for group in groups(rows)
        for c in (
            oracle.mondrian(group, where, fits)
            if cut
            else oracle.mdav(group, where, limit.k, whose)
        )
    ]
    _, made = anonymised(table, **how)
    right = expected(rows, QIDS, list(filter(fits, classes)))
    for i in (i for c in classes if not fits(c) for i in c):
        right[i] |= dict.fromkeys(QIDS)
    assert made == right


@pytest.mark.slow(because="45 s; the lattice against all nodes")
@settings(max_examples=examples(12))
@given(records, limits, st.integers(0, 20), st.booleans())
def test_a_node_has_the_classes_of_each_stratum(
    rows: list[Row], limit: Limits, share: int, alone: bool
) -> None:
    """With ``alone``, k is for each of the two quasi-identifiers by itself."""
    columns = [[row[q] for row in rows] for q in QIDS]
    combinations = [(q, "g") for q in QIDS] if alone else [(*QIDS, "g")]
    made = {}
    for node in itertools.product(range(3), repeat=2):
        steps = {q: ladder[s] for q, ladder, s in zip(QIDS, [LADDER] * 2, node, strict=True)}
        shown = [row | {q: step[row[q]] for q, step in steps.items()} for row in rows]
        classes: dict[Any, list[int]] = {}
        for i, row in enumerate(shown):
            classes.setdefault((row["a"], row["b"], row["g"]), []).append(i)
        fits = class_limits.judge(rows, ["s"], vars(limit) | {"k": 1}, "p")
        fine = [i for c in classes.values() if fits(c) for i in c]
        kept = class_limits.kept_records(
            [shown[i] for i in fine], dict.fromkeys(combinations, limit.k), "p"
        )
        gone = {*range(len(rows))} - {fine[i] for i in kept}
        made[node] = Release([], [sorted(gone)])
    losses = {
        node: oracle_lattice.loss("penalty", node, m, [LADDER] * 2, columns, by_distance=True)
        for node, m in made.items()
        if m.suppressed <= min(share * len(rows) // 20, len(rows) - 1)
    }
    changes = [f"{q}:2" for q in QIDS] + [f"drop={q}" for q in QIDS]
    how = asked(limit, method="lattice", change=changes, suppress=Fraction(share, 20))
    how |= {"subsets": 1} if alone else {}
    table = pl.DataFrame(rows, schema=SCHEMA).to_arrow()
    if not losses:
        with pytest.raises(InputError):
            anonymised(table, "csv", **how)
        return
    result, _ = anonymised(table, "csv", **how)
    row = result.frame.row(0, named=True)
    assert row["penalty"] == pytest.approx(float(min(losses.values())), abs=1e-12)
    assert row["suppressed"] == made[tuple(row["steps"])].suppressed


STAYS = pl.DataFrame(
    {"a": [1, 1, 2, 2, 3], "zip": ["10", "11", "10", "20", "20"], "s": list("uvuvu")}
)


def test_the_column_stays_as_it_is(tmp_path: Path) -> None:
    how: dict[str, Any] = {
        "qids": "a",
        "k": 2,
        "suppress": True,
        "method": "recode",
        "change": "a:2",
    }
    result = qifsql.anonymise(STAYS, tmp_path / "out.csv", strata="region=left(zip,1)", **how)
    release = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert release["zip"].equals(STAYS["zip"])
    assert release["a"].to_list() == ["0-1", "0-1", "*", "2-3", "2-3"]
    assert result.origin.spec["strata"] == "region"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strata": "a"}, '"a" is a quasi-identifier; name it once'),
        ({"strata": "s", "secret": "s"}, '"s" is the secret; name it once'),
        ({"strata": "zp"}, 'did you mean "zip"'),
        ({"strata": "zip", "method": "lattice", "until": "crs<=0.5"}, "strata are known, too"),
    ],
)
def test_strata_that_cannot_be(options: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        qifsql.anonymise(STAYS, tmp_path / "out.csv", **({"qids": "a", "k": 2} | options))
