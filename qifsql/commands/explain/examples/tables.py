"""Worked examples of published tables, made of the counts of a small table.

Two tables are published in most of them, one of the quasi-identifier and the group, one of the
quasi-identifier and the secret; both are exact.
"""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from qifsql.commands.explain.examples.sample import (
    Lines,
    Sample,
    counted,
    equal,
    number,
    over,
    persons,
    plus,
)

SMALL = 3  # people of a cell that is not small
HIDDEN = 4  # people of a cell that is shown
DOMINANCE = (2, 85)  # contributors, and their percentage of a sum
P_PERCENT = 10


def reconstructed(sample: Sample) -> Lines:
    """Return the people in combinations with one possible count."""
    parts = [low for low, high in _ranges(sample) if low == high]
    return (*_bounded(sample), f"people where L = U > 0: {_total(parts)}")


def reconstructed_ones(sample: Sample) -> Lines:
    """Return the combinations that hold one person for sure."""
    alone = sum(low == high == 1 for low, high in _ranges(sample))
    return (*_bounded(sample), f"combinations where L = U = 1: {alone}")


def cells_proved(sample: Sample) -> Lines:
    """Return the combinations with one possible count, empty ones among them."""
    sizes = [len(sample.blocks), len(sample.groups), len(sample.values)]
    every, ranges = math.prod(sizes), list(_ranges(sample))
    settled = sum(low == high for low, high in ranges)
    return (
        *_bounded(sample),
        f"all combinations: {'·'.join(map(str, sizes))} = {every}",
        f"with a published 0, so U = 0: {every} - {len(ranges)} = {every - len(ranges)}",
        f"of the others, with L = U: {settled}",
        f"proved: {every - len(ranges)} + {settled} = {every - len(ranges) + settled}",
    )


def components_proved(sample: Sample) -> Lines:
    """Return the share of blocks all of whose combinations have one possible count."""
    cells = {block: list(ranges.values()) for block, ranges in _bounds(sample).items()}
    settled = {block: sum(low == high for low, high in each) for block, each in cells.items()}
    each = (f"{block}: {n} of {len(cells[block])} proved" for block, n in settled.items())
    all_proved = [1 for block, n in settled.items() if n == len(cells[block])]
    return (
        *_bounded(sample),
        f"both tables have {sample.qid}: each is a component",
        *each,
        over(all_proved, len(cells)),
    )


def certain_inference(sample: Sample) -> Lines:
    """Return the people whose secret follows from the tables."""
    sure = {b: values for b, values in sample.blocks.items() if len(values) == 1}
    each = [f"{block}: all have {next(iter(values))}" for block, values in sure.items()]
    people = [n for values in sure.values() for n in values.values()]
    return (
        *_bounded(sample),
        f"{sample.qid} and {sample.by} are known; one value of {sample.secret} is possible:",
        *(each or ["nowhere"]),
        f"people: {_total(people)}",
    )


def bracket(sample: Sample) -> Lines:
    """Return the least and the greatest success over all records that agree with the tables."""
    lines, ends = [], []
    for block, groups in _groups(sample).items():
        values = sample.blocks[block]
        rights = [
            sum(map(max, array)) for array in _arrays(list(groups.values()), tuple(values.values()))
        ]
        ends.append((min(rights), max(rights)))
        agree = "1 array agrees" if len(rights) == 1 else f"{len(rights)} arrays agree"
        lines.append(
            f"{block}: {counted(groups)}; {counted(values)}: {agree}, "
            f"{min(rights)} to {max(rights)} right"
        )
    lowest, highest = zip(*ends, strict=True)
    return (
        f"{_tables(sample)}; {sample.qid} and {sample.by} are known",
        *lines,
        f"least: {over(lowest, sample.people)}",
        f"greatest: {over(highest, sample.people)}",
    )


def believed(sample: Sample) -> Lines:
    """Return what the Bayesian adversary expects, with the secret in both tables."""
    lines, best = [], []
    for cell, products in _products(sample).items():
        means = _means(products)
        best.append(max(means.values()))
        each = (
            equal(f"{v} {a}·{b}/{n}", means[v]) if means[v] else f"{v} 0"
            for v, (a, b, n) in products.items()
        )
        lines.append(f"{_person(sample, cell)}: {', '.join(each)}")
    terms = plus(map(number, best))
    total = sum(best, Fraction()) / sample.people
    return (
        *_secret_in_both(sample),
        "expected counts:",
        *lines,
        equal(f"({terms})/{sample.people}", total),
    )


def actual(sample: Sample) -> Lines:
    """Return how often the guess of the Bayesian adversary is right."""
    lines, parts = [], []
    products = _products(sample)
    for cell, values in sample.cells.items():
        means = _means(products[cell])
        tied = [v for v, mean in means.items() if mean == max(means.values())]
        parts.append(Fraction(sum(values.get(v, 0) for v in tied), len(tied)))
        lines.append(
            f"{_person(sample, cell)}: {counted(values)}; the guess {' or '.join(tied)} is right "
            f"for {number(parts[-1])}"
        )
    terms = plus(map(number, parts))
    return (
        *_secret_in_both(sample),
        "guesses as in believed, people as they are:",
        *lines,
        equal(f"({terms})/{sample.people}", sum(parts, Fraction()) / sample.people),
    )


def small_cells(sample: Sample) -> Lines:
    """Return the cells of a table that show few people."""
    small = [
        f"{block} {value} {n}"
        for block, values in sample.blocks.items()
        for value, n in values.items()
        if n < SMALL
    ]
    return (
        f"table: {sample.qid},{sample.secret}; fewer than {SMALL} people are few",
        f"cells with 1 to {SMALL - 1}: {', '.join(small) or 'none'}",
        f"small cells: {len(small)}",
    )


def group_disclosure(sample: Sample) -> Lines:
    """Return the people in rows of a table with a single value."""
    single = {b: values for b, values in sample.blocks.items() if len(values) == 1}
    each = [f"{block}: {counted(values)}, and no other" for block, values in single.items()]
    people = [n for values in single.values() for n in values.values()]
    return (
        f"table: {sample.qid},{sample.secret}; rows with a single {sample.secret}:",
        *(each or ["none"]),
        f"rows: {len(single)}; people in them: {_total(people)}",
    )


def undone(sample: Sample) -> Lines:
    """Return the hidden cells whose count follows from the total of their row."""
    lines, n_undone = [], 0
    most = HIDDEN - 1
    for block, values in sample.blocks.items():
        total, seen = sum(values.values()), {v: n for v, n in values.items() if n >= HIDDEN}
        hidden, left = len(values) - len(seen), total - sum(seen.values())
        if not hidden:
            lines.append(f"{block}: {persons(total)}, {counted(seen)}; nothing is hidden")
            continue
        low = max(1, left - (hidden - 1) * most)
        high = min(most, left - (hidden - 1))
        n_undone += hidden if low == high else 0
        shown = f", {counted(seen)}" if seen else ""
        names = " and ".join(v for v in values if v not in seen)
        lines.append(f"{block}: {persons(total)}{shown}; {names} hidden: L = {low}, U = {high}")
    return (
        f"tables: {sample.qid}, and {sample.qid},{sample.secret} with 1 to {most} hidden",
        *lines,
        f"hidden cells where L = U: {n_undone}",
    )


def differencing(sample: Sample) -> Lines:
    """Return the people in combinations of two tables that are proved to hold few."""
    few = [low for low, high in _ranges(sample) if low > 0 and high < SMALL]
    return (
        *_bounded(sample),
        f"combinations where L > 0 and U < {SMALL}: {len(few)}",
        f"people in them, at least: {_total(few)}",
    )


def dominance(sample: Sample) -> Lines:
    """Return the sums of which the largest contributors give nearly all."""
    n, k = DOMINANCE
    lines, failing = [], 0
    for cell, parts in _contributions(sample).items():
        largest, whole = sum(parts[:n]), Fraction(k * sum(parts), 100)
        fails = largest > whole
        failing += fails
        verdict = "more than" if fails else "not more than"
        lines.append(
            f"{cell}: {_total(parts)}; the {n} largest {largest}, {verdict} {k} % of it, "
            f"{number(whole)}"
        )
    return (*_sums(sample), f"n = {n}, k = {k}", *lines, f"cells that fail: {failing}")


def p_percent(sample: Sample) -> Lines:
    """Return the sums in which the second contributor can estimate the largest."""
    lines, failing = [], 0
    for cell, parts in _contributions(sample).items():
        total, (first, second, *_) = sum(parts), (*parts, 0)
        error, near = total - first - second, Fraction(P_PERCENT * first, 100)
        failing += error < near
        verdict = "less than" if error < near else "not less than"
        lines.append(
            f"{cell}: {_total(parts)}; {total} - {first} - {second} = {error}, {verdict} "
            f"{P_PERCENT} % of {first}, {number(near)}"
        )
    return (*_sums(sample), f"p = {P_PERCENT}", *lines, f"cells that fail: {failing}")


def _tables(sample: Sample) -> str:
    return f"tables: {sample.qid},{sample.by} and {sample.qid},{sample.secret}"


def _groups(sample: Sample) -> dict[str, dict[str, int]]:
    """Return the people of each group in each block, by its title."""
    groups: dict[str, dict[str, int]] = {}
    for (block, group), values in sample.cells.items():
        groups.setdefault(f"{sample.qid} {block}", {})[group] = sum(values.values())
    return groups


def _bounds(sample: Sample) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the least and the largest count of each group and value, by block."""
    sizes = sample.sizes
    return {
        block: {
            f"{group} {value}": (max(0, n + k - sizes[block]), min(n, k))
            for group, n in groups.items()
            for value, k in sample.blocks[block].items()
        }
        for block, groups in _groups(sample).items()
    }


def _ranges(sample: Sample) -> Iterator[tuple[int, int]]:
    for ranges in _bounds(sample).values():
        yield from ranges.values()


def _bounded(sample: Sample) -> Lines:
    """Return the tables, and the bounds of each combination."""
    groups = _groups(sample)
    each = (
        f"{block}: {counted(groups[block])}; "
        + ", ".join(f"{cell} {low} to {high}" for cell, (low, high) in ranges.items())
        for block, ranges in _bounds(sample).items()
    )
    return (
        f"{_tables(sample)}; of each {sample.by} and {sample.secret} L to U people:",
        *each,
    )


def _arrays(rows: list[int], columns: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield all arrays of counts with these sums of rows and columns."""
    if not rows:
        yield ()
        return
    for first in _parts(rows[0], columns):
        rest = tuple(n - used for n, used in zip(columns, first, strict=True))
        for others in _arrays(rows[1:], rest):
            yield (first, *others)


def _parts(total: int, most: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield all counts with a sum, each up to a limit."""
    if not most:
        if not total:
            yield ()
        return
    for n in range(min(total, most[0]) + 1):
        for rest in _parts(total - n, most[1:]):
            yield (n, *rest)


def _secret_in_both(sample: Sample) -> Lines:
    return (
        f"tables: {sample.qid},{sample.secret} and {sample.by},{sample.secret}; "
        f"{sample.qid} and {sample.by} are known",
    )


def _person(sample: Sample, cell: tuple[str, str]) -> str:
    block, group = cell
    return f"{sample.qid} {block}, {group}"


def _products(sample: Sample) -> dict[tuple[str, str], dict[str, tuple[int, int, int]]]:
    """Return the counts of each value in a block, in a group, and of all, by block and group."""
    blocks: dict[str, Counter[str]] = {}
    groups: dict[str, Counter[str]] = {}
    for (block, group), values in sample.cells.items():
        blocks.setdefault(block, Counter()).update(values)
        groups.setdefault(group, Counter()).update(values)
    return {
        (block, group): {v: (first[v], second[v], n) for v, n in sample.values.items()}
        for block, first in blocks.items()
        for group, second in groups.items()
    }


def _means(products: dict[str, tuple[int, int, int]]) -> dict[str, Fraction]:
    """Return expected counts: ``3·4/5``."""
    return {v: Fraction(a * b, n) for v, (a, b, n) in products.items()}


def _contributions(sample: Sample) -> dict[str, list[int]]:
    """Return what each contributor gives to a sum, the largest first."""
    sums: dict[str, list[int]] = {}
    for (_, group), values in sample.cells.items():
        sums.setdefault(f"{sample.by} {group}", []).append(sum(values.values()))
    return {cell: sorted(parts, reverse=True) for cell, parts in sums.items()}


def _sums(sample: Sample) -> Lines:
    return (
        f"table of sums: {sample.by}; each {sample.qid} is a contributor, who gives as many as "
        "it has people",
    )


def _total(parts: list[int]) -> str:
    """Return a sum: ``3 + 1 = 4``, ``3``, or ``0``."""
    return f"{plus(parts)} = {sum(parts)}" if len(parts) > 1 else str(sum(parts))
