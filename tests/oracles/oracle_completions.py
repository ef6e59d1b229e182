"""All completions of the missing quasi-identifiers of a tiny table, one by one."""

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction as F

from qifsql.reference import microdata, success
from qifsql.reference import syntactic_levels as levels
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
    rows = [
        {"known": known, "secret": s} for known, s in zip(people, secrets or people, strict=True)
    ]
    numbers = success.attack(rows, ["known"], "secret" if secrets else None)
    names = ["blocks", "singled_out", "posterior_deterministic", "posterior_probabilistic"]
    names += ["degradation_deterministic", "degradation_probabilistic"]
    names += ["prior_deterministic", "prior_probabilistic"] if secrets else []
    values = {name: F(numbers[name]) for name in names}
    if secrets:
        blocks = microdata.counts(rows, ["known"], "secret").values()
        values |= {"individuals_certain": F(numbers["individuals_certain"])}
        values |= {
            "l": F(min(map(levels.l_distinct, blocks))),
            "alpha": max(map(levels.alpha, blocks)),
        }
    return values | {"k": F(min(microdata.sizes(rows, ["known"]).values()))}


def bounds(
    rows: Sequence[Row],
    qids: Sequence[str],
    secret: str | None,
    *,
    complete_secrets: bool = False,
) -> dict[str, tuple[F, F]]:
    """Return the least and the greatest value of each measure over all completions.

    ``complete_secrets``: a missing secret is completed, too; else it is a value.
    """
    least: dict[str, F] = {}
    most: dict[str, F] = {}
    for whole in completions(rows, [*qids, *([secret] if secret and complete_secrets else [])]):
        people, secrets = whole, [row[secret] for row in rows] if secret else None
        if secret and complete_secrets:
            people, secrets = [known[:-1] for known in whole], [known[-1] for known in whole]
        for name, value in measures(people, secrets).items():
            least[name] = min(value, least.get(name, value))
            most[name] = max(value, most.get(name, value))
    return {name: (least[name], most[name]) for name in least}
