"""All completions of the missing quasi-identifiers of a tiny table, one by one."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction as F

from qifsql.reference import microdata
from qifsql.reference.microdata import Row

Tuples = list[tuple[Hashable, ...]]


def completions(rows: Sequence[Row], qids: Sequence[str]) -> Iterator[Tuples]:
    """Yield the quasi-identifiers of all people, once for each completion.

    A missing value becomes one that occurs in its column, or a new one. New values differ only by
    which cells share them, so the first cell with a new one takes number 0, and so on.
    """
    columns = [[microdata.value(row[q]) for row in rows] for q in qids]
    filled = [list(_filled(column)) for column in columns]

    def extend(number: int, before: list[tuple[Hashable, ...]]) -> Iterator[Tuples]:
        if number == len(filled):
            yield [tuple(column[i] for column in before) for i in range(len(rows))]
            return
        for column in filled[number]:
            yield from extend(number + 1, [*before, column])

    yield from extend(0, [])


def _filled(column: Sequence[object]) -> Iterator[tuple[Hashable, ...]]:
    """Yield one column with its missing values replaced, in all ways."""
    there = list(dict.fromkeys(v for v in column if v is not None))

    def extend(number: int, before: list[Hashable], new: int) -> Iterator[tuple[Hashable, ...]]:
        if number == len(column):
            yield tuple(before)
            return
        if column[number] is not None:
            yield from extend(number + 1, [*before, ("old", column[number])], new)
            return
        for value in there:
            yield from extend(number + 1, [*before, ("old", value)], new)
        for value in range(new + 1):
            yield from extend(number + 1, [*before, ("new", value)], max(new, value + 1))

    yield from extend(0, [], 0)


def measures(people: Tuples, secrets: Sequence[object] | None) -> dict[str, F]:
    """Return the measures of one completion; without secrets those of re-identification."""
    blocks: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for number, known in enumerate(people):
        blocks[known][microdata.value(secrets[number]) if secrets else number] += 1
    n = len(people)
    sizes = [b.total() for b in blocks.values()]
    certain = sum(b.total() for b in blocks.values() if len(b) == 1)
    values: dict[str, F] = {
        "blocks": F(len(blocks)),
        "singled_out": F(sum(1 for size in sizes if size == 1)),
        "posterior_deterministic": F(certain, n),
        "posterior_probabilistic": F(sum(max(b.values()) for b in blocks.values()), n),
        "k": F(min(sizes)),
    }
    if secrets:
        values |= {"individuals_certain": F(certain), "l": F(min(map(len, blocks.values())))}
        values |= {"alpha": max(F(max(b.values()), b.total()) for b in blocks.values())}
    return values


def bounds(rows: Sequence[Row], qids: Sequence[str], secret: str | None) -> dict[str, tuple[F, F]]:
    """Return the least and the greatest value of each measure over all completions."""
    secrets = [row[secret] for row in rows] if secret else None
    least: dict[str, F] = {}
    most: dict[str, F] = {}
    for people in completions(rows, qids):
        for name, value in measures(people, secrets).items():
            least[name] = min(value, least.get(name, value))
            most[name] = max(value, most.get(name, value))
    return {name: (least[name], most[name]) for name in least}
