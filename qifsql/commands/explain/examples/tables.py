"""Numbers of the worked examples of published tables.

Two tables are published in most of them, one of the quasi-identifier and the group, one of the
quasi-identifier and the secret; both are exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from qifsql.commands.explain.examples.sample import Sample
from qifsql.reference import published_tables as published

SMALL = 3  # people of a cell that is not small
HIDDEN = 4  # people of a cell that is shown
DOMINANCE = (2, 85)  # contributors, and their percentage of a sum
P_PERCENT = 10
BLOCK_IN_BOTH = (((0, 1), ()), ((0, 2), (0,)))  # attributes of the tables, and their common ones
SECRET_IN_BOTH = (((0, 2), ()), ((1, 2), (2,)))

Range = tuple[str, int, int]


def _people(sample: Sample) -> list[published.Cell]:
    return [tuple(row.values()) for row in sample.rows]


def bounds(sample: Sample) -> dict[str, list[Range]]:
    """Return the least and the largest possible count of each group and value, by block's title.

    A range is ``GROUP VALUE``, least, largest. Combinations with a published 0 are left out.
    """
    ends = published.closed_form(_people(sample), BLOCK_IN_BOTH).bounds
    ranges: dict[str, list[Range]] = {}
    for block, group in sample.cells:
        title = f"{sample.qid} {block}"
        ranges.setdefault(title, []).extend(
            (f"{group} {value}", *ends[block, group, value]) for value in sample.blocks[title]
        )
    return ranges


def ranges(sample: Sample) -> list[tuple[int, int]]:
    """Return the least and the largest count of each combination."""
    return [(low, high) for cells in bounds(sample).values() for _, low, high in cells]


def proved(sample: Sample) -> list[int]:
    """Return the counts that are the only possible ones."""
    return [low for low, high in ranges(sample) if low == high]


def disclosed(sample: Sample) -> list[int]:
    """Return the least counts of the combinations that are proved to hold few people."""
    return [low for low, high in ranges(sample) if low > 0 and high < SMALL]


def components(sample: Sample) -> list[tuple[str, int, int]]:
    """Return each block, how many of its combinations have one possible count, and how many all."""
    return [
        (block, sum(low == high for _, low, high in cells), len(cells))
        for block, cells in bounds(sample).items()
    ]


def settled(components: list[tuple[str, int, int]]) -> int:
    """Return how many blocks have only combinations with one possible count."""
    return sum(n_settled == n for _, n_settled, n in components)


def success_of_arrays(sample: Sample) -> dict[str, list[int]]:
    """Return, by block, the people guessed right in each array that agrees with its margins."""
    rights: dict[str, list[int]] = {}
    for block, groups in sample.groups_of.items():
        arrays = _arrays(list(groups.values()), list(sample.blocks[block].values()))
        rights[block] = [sum(map(max, array)) for array in arrays]
    return rights


def _arrays(rows: Sequence[int], columns: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all arrays of counts with these sums of rows and columns."""
    if not rows:
        yield []
        return
    for first in product(*(range(n + 1) for n in columns)):
        if sum(first) == rows[0]:
            remaining = [n - count for n, count in zip(columns, first, strict=True)]
            yield from ([first, *array] for array in _arrays(rows[1:], remaining))


def means(sample: Sample) -> dict[tuple[str, str], dict[str, Fraction]]:
    """Return the expected count of each value by block and group, with the secret in both."""
    expected = published.closed_form(_people(sample), SECRET_IN_BOTH).means
    blocks, groups = (dict.fromkeys(names) for names in zip(*sample.cells, strict=True))
    return {
        (block, group): {v: expected[block, group, v] for v in sample.values}
        for block, group in product(blocks, groups)
    }


def guesses(sample: Sample) -> dict[tuple[str, str], tuple[list[str], Fraction]]:
    """Return, by cell (block, group), the Bayesian best guesses and how many they guess right."""
    expected = published.closed_form(_people(sample), SECRET_IN_BOTH).means
    # the values of greatest expectation in each cell; the real counts of block, group and value
    tied, truth = published.guesses(expected), published.count(_people(sample), (0, 1, 2))
    return {
        cell: (
            [value for value in sample.values if (*cell, value) in tied[cell]],
            published.success({cell: tied[cell]}, truth),
        )
        for cell in sample.cells
    }


def small_cells(sample: Sample) -> list[str]:
    """Return the cells (``BLOCK VALUE COUNT``) of a table of counts that show few people."""
    return [
        f"{block} {value} {n}"
        for block, values in sample.blocks.items()
        for value, n in values.items()
        if n < SMALL
    ]


def suppressed(sample: Sample) -> dict[str, tuple[dict[str, int], list[str], int, int]]:
    """Return the visible counts of each block, the hidden values, and the bounds of their counts.

    Counts below ``HIDDEN`` are hidden, but the total of a block is known.
    """
    rows = {}
    for block, values in sample.blocks.items():
        visible = {v: n for v, n in values.items() if n >= HIDDEN}
        hidden = [v for v in values if v not in visible]
        remaining, others = sum(values[v] for v in hidden), len(hidden) - 1
        # a hidden count is greatest if the others are 1, and least if they are HIDDEN - 1
        least = max(1, remaining - others * (HIDDEN - 1))
        rows[block] = visible, hidden, least, min(HIDDEN - 1, remaining - others)
    return rows


def undone(rows: Mapping[str, tuple[Any, list[str], int, int]]) -> int:
    """Return the hidden counts that follow from the total of their row."""
    return sum(len(hidden) for _, hidden, least, greatest in rows.values() if least == greatest)


def contributions(sample: Sample) -> dict[str, list[int]]:
    """Return what each contributor gives to a sum, the largest first."""
    return {
        group: sorted(part.sizes.values(), reverse=True) for group, part in sample.groups.items()
    }


def dominance(sample: Sample) -> list[tuple[str, list[int], int, Fraction, bool]]:
    """Return (cell, its parts, sum of the n largest, limit: k % of all, is the sum above it)."""
    n, k = DOMINANCE
    rows = []
    for cell, parts in contributions(sample).items():
        largest, limit = sum(parts[:n]), Fraction(k * sum(parts), 100)
        rows.append((cell, parts, largest, limit, largest > limit))
    return rows


def p_percent(sample: Sample) -> list[tuple[str, list[int], int, int, int, Fraction, bool]]:
    """Return (cell, its parts, the two largest, an error, its lower limit, is the error below).

    The second contributor, who subtracts the own part, errs about the largest by all other parts.
    """
    rows = []
    for cell, parts in contributions(sample).items():
        first, second, *rest = (*parts, 0)
        error, limit = sum(rest), Fraction(P_PERCENT * first, 100)
        rows.append((cell, parts, first, second, error, limit, error < limit))
    return rows
