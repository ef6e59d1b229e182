"""The numbers of a line, held against the oracles: what is wrong with them, in words."""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from campaign.tables import Table
from qifsql.reference import microdata
from qifsql.reference import success as oracle
from qifsql.reference import syntactic_levels as oracle_levels

Check = Callable[[str], list[str]]
EXACT = ("records", "blocks", "singled_out", "individuals_certain")
SHARES = (
    *("prior_deterministic", "posterior_deterministic", "degradation_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic", "degradation_probabilistic"),
    *("leakage_additive", "min_entropy_leakage", "worst_case"),
)


def comparable(data: Table, file: str) -> bool:
    """Return whether the rows in Python are those that the file says: CSV has no types."""
    if not data.plain and not file.endswith((".parquet", ".pq")) and "@" not in file:
        return False
    return not any(re.search(r"[*?\[\]:=]|^\d", name) for name in data.columns)


def attack(
    data: Table, qids: Sequence[str], secrets: Sequence[str], *, weight: str | None, drop: bool
) -> Check:
    """CRS and CAS."""

    def check(out: str) -> list[str]:
        rows = [r for r in data.rows if not drop or not _missing(r, (*qids, *secrets))]
        weights = [r[weight] for r in rows] if weight else None
        if not rows or (weights and not any(weights)):
            return ["there are numbers where nobody is left"]
        return _same_attacks(
            _results(out), rows, weights, [(list(qids), s) for s in (None, *secrets)]
        )

    return check


def sweep(data: Table, qids: Sequence[str], secrets: Sequence[str]) -> Check:
    """Every subset."""
    subsets = [list(c) for n in range(1, len(qids) + 1) for c in combinations(qids, n)]

    def check(out: str) -> list[str]:
        asked = [(subset, s) for s in (None, *secrets) for subset in subsets]
        return _same_attacks(_results(out), list(data.rows), None, asked)

    return check


def _results(out: str) -> list[dict[str, Any]]:
    return list(json.loads(out)["results"])


def _missing(row: Mapping[str, Any], qids: Sequence[str]) -> bool:
    return any(microdata.value(row[q]) is None for q in qids)


def _same_attacks(
    rows: Sequence[Mapping[str, Any]],
    people: Sequence[Mapping[str, Any]],
    weights: Sequence[int] | None,
    asked: Sequence[tuple[list[str], str | None]],
) -> list[str]:
    found = {(frozenset(r["qids"]), r["secret"]): r for r in rows}
    wrong = []
    if len(found) != len(asked) or len(rows) != len(asked):
        wrong.append(f"{len(rows)} rows instead of {len(asked)}")
    for qids, secret in asked:
        row = found.get((frozenset(qids), secret))
        if row is None:
            wrong.append("a subset is not there")
            continue
        right = oracle.attack(people, qids, secret, weights)
        names = [n for n in (*EXACT, *SHARES) if n in right and n in row and row[n] is not None]
        wrong += [
            f"{name} is {row[name]!r}, not {float(right[name])!r}"
            for name in names
            if not _same(row[name], right[name])
        ]
        if len(names) < len(EXACT) + 4:
            wrong.append(f"only {len(names)} numbers")
    return wrong


def _same(found: Any, right: Any) -> bool:
    if found is None:
        return False
    if isinstance(right, int) and not isinstance(right, bool) and isinstance(found, int):
        return bool(found == right)
    return math.isclose(float(found), float(right), rel_tol=1e-9, abs_tol=1e-12)


def tables(data: Table, qids: Sequence[str], secret: str) -> Check:
    """One exact table of all columns, which tells what the records tell."""

    def check(out: str) -> list[str]:
        (row,) = _results(out)
        person, value = (oracle.attack(data.rows, qids, s) for s in (None, secret))
        everybody = len(data.rows)
        success = value["posterior_probabilistic"]
        right = {
            **dict.fromkeys(("people", "reconstructed"), everybody),
            "singled_out": person["singled_out"],
            "certain_inference": value["individuals_certain"],
            "prior": value["prior_probabilistic"],
            **dict.fromkeys(("lowest", "highest", "believed", "actual", "records"), success),
        }
        return [
            f"{name} is {row[name]!r}, not {float(number)!r}"
            for name, number in right.items()
            if not _same(row[name], number)
        ]

    return check


def describe(data: Table) -> Check:
    """Missing, distinct and singled out of every column."""

    def check(out: str) -> list[str]:
        wrong = []
        rows = {r["column"]: r for r in _results(out)}
        if list(rows) != data.columns:
            return ["the columns are others"]
        for name in data.columns:
            counts = Counter(microdata.value(r[name]) for r in data.rows)
            missing = counts.get(None, 0)
            right = {
                "records": len(data.rows),
                "missing": missing,
                "distinct": len(counts) - bool(missing),
                "singled_out": sum(n == 1 for n in counts.values()),
            }
            wrong += [
                f"{measure} is {rows[name][measure]}, not {number}"
                for measure, number in right.items()
                if rows[name][measure] != number
            ]
        return wrong

    return check


def blocks(data: Table, qids: Sequence[str]) -> Check:
    """Return how many blocks of each size there are."""
    taken = {name.casefold() for name in qids}
    names = chain(["size"], (f"size_{i}" for i in count(2)))
    size = next(name for name in names if name not in taken)

    def check(out: str) -> list[str]:
        right = sorted(len(members) for members in microdata.partition(data.rows, qids).values())
        found = sorted(row[size] for row in _results(out))
        return [] if found == right else [f"sizes are {found}, not {right}"]

    return check


def levels(data: Table, qids: Sequence[str], secret: str) -> Check:
    """k, l, t and their relatives, without thresholds."""
    unordered = data.kinds[secret] == "text"

    def check(out: str) -> list[str]:
        right = oracle_levels.levels(data.rows, qids, secret, required={})
        wrong = []
        for row in _results(out):
            measure, value = row["measure"], row["value"]
            if measure not in right or measure == "l_recursive_c":
                continue
            if measure == "t_ordered" and unordered:
                continue  # the order of letters is another subject
            expected = right[measure]["value"]
            if expected is None or value is None:
                wrong += [f"{measure} is {value}, not {expected}"] if expected != value else []
            elif not math.isclose(float(value), float(expected), rel_tol=1e-9, abs_tol=1e-9):
                wrong.append(f"{measure} is {value}, not {float(expected)}")
        return wrong

    return check


def records(data: Table, qids: Sequence[str], secret: str, out: str) -> Check:
    """Block size and success of every record, in the order of the file."""

    def check(_: str) -> list[str]:
        right = oracle.records(data.rows, qids, secret)
        if out.endswith(".parquet"):
            rows = pq.read_table(out).to_pylist()
        else:
            with Path(out).open(encoding="utf-8", newline="") as f:
                rows = list(csv.DictReader(f))
        if len(rows) != len(right):
            return [f"{len(rows)} records instead of {len(right)}"]
        wrong = []
        name = f"success_{secret}"
        for row, expected in zip(rows, right, strict=True):
            if int(row["block_size"]) != expected["block_size"]:
                wrong.append(f"block_size is {row['block_size']}, not {expected['block_size']}")
            if not _same(float(row[name]), Fraction(expected["success"])):
                wrong.append(f"success is not {float(expected['success'])}")
        return wrong[:3]

    return check
