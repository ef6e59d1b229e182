"""The relations between the numbers of a line and those of the line on changed tables."""

import csv
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from campaign import tree
from campaign.tables import Table

from metamorphic.lines import Asked, Change

Compare = Callable[[Asked, Sequence[Asked]], list[str]]
Changes = Callable[[random.Random, Asked], list[Change]]


@dataclass(frozen=True)
class Relation:
    """Changes of a line, none where they cannot be made, and what follows for the answers.

    ``never`` says for which commands or options the relation does not hold, and why.
    """

    changes: Changes
    compare: Compare
    never: Mapping[str, str] = field(default_factory=dict)
    only: Callable[[Sequence[str]], bool] = lambda argv: True

    def holds_for(self, argv: Sequence[str]) -> bool:
        """Return whether it holds for a line."""
        words = {argv[0], *(word for word in argv if word.startswith("-"))}
        return self.only(argv) and not words & set(self.never)


def each(compare: Callable[[Asked, Asked], list[str]]) -> Compare:
    """Compare the answer with that of every changed line."""
    return lambda before, afters: [d for after in afters for d in compare(before, after)]


def same(before: Asked, after: Asked) -> list[str]:
    """Return how an answer differs from an equal one."""
    return differences(before.answer, after.answer)


def same_rows(before: Asked, after: Asked) -> list[str]:
    """Return how an answer differs, if the order of rows is of no account."""
    return differences(_sorted(before.answer), _sorted(after.answer))


def same_numbers(before: Asked, after: Asked) -> list[str]:
    """Return how the numbers of an answer differ, whatever the values of cells are."""
    one, two = (_sorted(_numbers(side.answer, side.data)) for side in (before, after))
    return differences(one, two)


def differences(one: Any, two: Any, where: str = "") -> list[str]:
    """Return the paths at which two answers differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        keys = {**one, **two}
        missing = [f"{where}.{k} is on one side" for k in keys if (k in one) != (k in two)]
        both = [k for k in keys if k in one and k in two]
        return missing + [d for k in both for d in differences(one[k], two[k], f"{where}.{k}")]
    if isinstance(one, list) and isinstance(two, list):
        if len(one) != len(two):
            return [f"{where} has {len(two)} rows, not {len(one)}"]
        pairs = enumerate(zip(one, two, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{where}[{i}]")]
    return [] if _equal(one, two) else [f"{where} is {two!r}, not {one!r}"]


def _equal(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, int | float):
        return math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == two)


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _sorted(v) for k, v in value.items()}
    if isinstance(value, list):
        return sorted(map(_sorted, value), key=lambda v: json.dumps(_rounded(v), sort_keys=True))
    return value


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list) else value


CELLS = frozenset(("value", "best_guess", "worst_counts", "target", "guess", "component", "group"))


def _numbers(value: Any, data: Table) -> Any:
    """Return an answer without columns that hold values of cells."""
    if isinstance(value, dict):
        cells = {
            k for k, v in value.items() if k in data.columns or (k in CELLS and not _number(v))
        }
        return {k: _numbers(v, data) for k, v in value.items() if k not in cells}
    return [_numbers(part, data) for part in value] if isinstance(value, list) else value


def _is_cell(name: str) -> bool:
    return name in CELLS or name.startswith("best_guess_")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def permuted(table: Table, rng: random.Random) -> Table:
    """Return the rows in another order."""
    rows = list(table.rows)
    rng.shuffle(rows)
    return replace(table, rows=rows)


def renamed(table: Table) -> Table:
    """Return the table with other names of the columns, in the same order."""
    names = {name: f"zq{i}zq" for i, name in enumerate(table.columns)}
    return replace(
        table,
        kinds={names[k]: v for k, v in table.kinds.items()},
        rows=[{names[k]: v for k, v in row.items()} for row in table.rows],
        key=names[table.key],
        qids=[names[q] for q in table.qids],
        secrets=[names[s] for s in table.secrets],
        weight=names[table.weight],
    )


def same_renamed(before: Asked, after: Asked) -> list[str]:
    """Return how an answer differs but for the names of columns."""
    text = json.dumps(after.answer)
    for i, name in enumerate(before.data.columns):
        text = text.replace(f"zq{i}zq", json.dumps(name)[1:-1])
    return differences(_sorted(before.answer), _sorted(json.loads(text)))


def recoded(table: Table) -> Table:
    """Return the table with another value for each value, in the same order."""
    names = {*table.qids, *table.secrets}
    rows = [{k: _recoded(v) if k in names else v for k, v in row.items()} for row in table.rows]
    return replace(table, rows=rows)


def _recoded(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return f"new {value}"
    if isinstance(value, date):
        return value + timedelta(days=400)
    return value * 2 if isinstance(value, Decimal | float) else value * 2 + 1


def widened(table: Table) -> Table:
    """Return the table with one more column, whose value everybody has."""
    rows = [{**row, "constant_": "all"} for row in table.rows]
    return replace(table, rows=rows, kinds={**table.kinds, "constant_": "text"})


def without_sets(before: Asked, after: Asked) -> list[str]:
    """Return how rows differ but for the names and number of the quasi-identifiers."""
    one, two = (
        _without(side.answer, ("qids", "n_qids", "attack_id", "constant_"))
        for side in (before, after)
    )
    return differences(one, two)


def _without(value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {k: _without(v, names) for k, v in value.items() if k not in names}
    return [_without(v, names) for v in value] if isinstance(value, list) else value


def doubled(table: Table) -> Table:
    """Return the table with everybody in it twice, under two keys."""
    more = [{**row, table.key: _second(row[table.key])} for row in table.rows]
    return replace(table, rows=[*table.rows, *more])


def _second(key: Any) -> Any:
    return f"{key}0000" if isinstance(key, str) else key + 10_000_000


TWICE = ("records", "people", "individuals", "size", "missing")
SHARES = ("deterministic", "probabilistic")


def twice(before: Asked, after: Asked) -> list[str]:
    """Return what is wrong if everybody is there twice: counts double, nobody is alone."""
    looks = {
        **dict.fromkeys(("attack", "sweep"), _twice_attacked),
        **{"levels": _twice_levels, "suda": _twice_unique, "inspect": _twice_blocks},
        "describe": _twice_described,
    }
    return looks[before.argv[0]](*(_without_key(s, before.data.key) for s in (before, after)))


def _without_key(side: Asked, key: str) -> Any:
    """Return an answer without the row of the column that names people."""
    rows = [row for row in side.answer["results"] if row.get("column") != key]
    return {**side.answer, "results": rows}


def _twice_attacked(before: Any, after: Any) -> list[str]:
    right = []
    for row in before["results"]:
        new = {**row, "records": 2 * row["records"], "singled_out": 0}
        if row["secret"] is None:
            prior, posterior = row["prior_probabilistic"] / 2, row["posterior_probabilistic"] / 2
            new |= dict.fromkeys(("prior_deterministic", "posterior_deterministic"), 0.0)
            new |= {"degradation_deterministic": 0.0, "individuals_certain": 0}
            new |= {"prior_probabilistic": prior, "posterior_probabilistic": posterior}
            new |= {"leakage_additive": posterior - prior, "worst_case": row["worst_case"] / 2}
        else:
            new["individuals_certain"] = 2 * row["individuals_certain"]
        if "k" in row:  # of a sweep
            new["k"] = 2 * row["k"]
        right.append(new)
    return differences(right, after["results"])


def _twice_levels(before: Any, after: Any) -> list[str]:
    found = {(row["measure"], row["secret"]): row for row in after["results"]}
    wrong = []
    for row in before["results"]:
        factor = 2 if row["measure"] in ("k", "average_class_size") else 1
        right = None if row["value"] is None else row["value"] * factor
        other = found[row["measure"], row["secret"]]
        wrong += differences(right, other["value"], row["measure"])
        wrong += differences(2 * row["people"], other["people"], f"{row['measure']} people")
        wrong += differences(row["blocks"], other["blocks"], f"{row['measure']} blocks")
    return wrong


def _twice_unique(before: Any, after: Any) -> list[str]:
    values = {row["measure"]: row["value"] for row in after["results"]}
    people = next(row["value"] for row in before["results"] if row["measure"] == "records")
    right = {"records": 2 * people, "uniques": 0, "msus": 0, "records_with_msu": 0}
    return differences(right, {name: values[name] for name in right})


def _twice_blocks(before: Any, after: Any) -> list[str]:
    sizes = [sorted(row["size"] for row in side["results"]) for side in (before, after)]
    return differences([2 * size for size in sizes[0]], sizes[1], "size")


def _twice_described(before: Any, after: Any) -> list[str]:
    wrong = []
    for one, two in zip(before["results"], after["results"], strict=True):
        right = {"records": 2 * one["records"], "missing": 2 * one["missing"], "singled_out": 0}
        right["entropy"] = one["entropy"]
        right["distinct"] = one["distinct"]
        wrong += differences(right, {name: two[name] for name in right}, one["column"])
    return wrong


GROWS = ("blocks", "singled_out", "individuals_certain")
GROWS += ("posterior_deterministic", "posterior_probabilistic", "worst_case")


def not_less(before: Asked, after: Asked) -> list[str]:
    """Return what is less, though the adversary knows one more attribute."""
    if before.argv[0] == "levels":
        return _levels_fall(before.answer["results"], after.answer["results"])
    if before.argv[0] == "suda":
        pairs = [({r["measure"]: r["value"] for r in s.answer["results"]}) for s in (before, after)]
        names: Sequence[str] = ("uniques", "records_with_msu")
        return _falls(*pairs, names)
    rows = zip(before.answer["results"], after.answer["results"], strict=True)
    return [d for one, two in rows for d in _falls(one, two, GROWS)]


def _falls(before: Mapping[str, Any], after: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [
        f"{name} falls from {before[name]} to {after[name]}"
        for name in names
        if after[name] < before[name] - 1e-12
    ]


def _levels_fall(before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    found = {row["measure"]: row["value"] for row in after}
    falling = ("k", "l_distinct", "l_entropy", "average_class_size")
    return [
        f"{row['measure']} rises from {row['value']} to {found[row['measure']]}"
        for row in before
        if row["measure"] in falling and found[row["measure"]] > row["value"] + 1e-9
    ]


def sums(before: Asked, afters: Sequence[Asked]) -> list[str]:
    """Return which counts of groups do not add up to those of everybody."""
    wrong = []
    for i, whole in enumerate(before.answer["results"]):
        rows = [after.answer["results"][i] for after in afters]
        for name in ("records", "blocks", "singled_out", "individuals_certain"):
            total = sum(row[name] for row in rows)
            wrong += [] if total == whole[name] else [f"{name} is {whole[name]}, groups {total}"]
        likely = sum(row["posterior_probabilistic"] * row["records"] for row in rows)
        wrong += differences(
            whole["posterior_probabilistic"] * whole["records"], likely, "people guessed"
        )
    return wrong


def knows_nothing(before: Asked, afters: Sequence[Asked]) -> list[str]:
    """Return what an attribute that is the same for everybody tells beyond the prior."""
    wrong = []
    for one, two in zip(before.answer["results"], afters[0].answer["results"], strict=True):
        for name in ("deterministic", "probabilistic"):
            prior = one[f"prior_{name}"]
            wrong += differences(prior, two[f"prior_{name}"], f"prior_{name}")
            wrong += differences(prior, two[f"posterior_{name}"], f"posterior_{name}")
        wrong += differences(1, two["blocks"], "blocks")
    return wrong


def known(argv: Sequence[str]) -> list[str]:
    """Return the quasi-identifiers that a line names, without tags."""
    rows = tree.given(list(argv), "--qids", "-q")
    return [name for row in csv.reader(rows) for name in row]


def shows_blocks(argv: Sequence[str]) -> bool:
    """Return whether a line inspects blocks."""
    return argv[0] == "inspect" and "--show" not in argv


def collective(argv: Sequence[str]) -> bool:
    """Return whether a line is an attack on everybody in one release by what is known exactly."""
    more = {w for w in argv if w.startswith("-")} - set(PLAIN)
    return argv[0] == "attack" and argv[1].casefold() in ("crs", "cas", "crs,cas") and not more


PLAIN = ("-q", "--qids", "-s", "--secret", "--format")
