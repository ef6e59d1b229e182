"""A small table as counts, and sums over it as text, for worked examples."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from qifsql.measures import entropy as measures

Values = Mapping[str, int]  # people who have each value of the secret
Lines = tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """People of a small table, counted by block, group and value of the secret.

    ``qid`` names the quasi-identifier that makes the blocks, ``by`` the column that makes groups
    of people. The order of ``cells`` is that in which blocks and groups are shown.
    """

    qid: str
    by: str
    secret: str
    cells: Mapping[tuple[str, str], Values]

    @property
    def blocks(self) -> dict[str, dict[str, int]]:
        """Return the values in each block, by its title: ``age 25``."""
        names = dict.fromkeys(block for block, _ in self.cells)
        return {
            f"{self.qid} {name}": _together(n for (b, _), n in self.cells.items() if b == name)
            for name in names
        }

    @property
    def columns(self) -> tuple[str, str, str]:
        """Return the names of the quasi-identifier, the column of groups, and the secret."""
        return self.qid, self.by, self.secret

    @property
    def rows(self) -> list[dict[str, str]]:
        """Return the people one by one."""
        return [
            {self.qid: block, self.by: group, self.secret: value}
            for (block, group), values in self.cells.items()
            for value, n in values.items()
            for _ in range(n)
        ]

    @property
    def values(self) -> dict[str, int]:
        """Return how many people have each value."""
        return _together(self.cells.values())

    @property
    def people(self) -> int:
        """Return the number of people."""
        return sum(self.values.values())

    @property
    def sizes(self) -> dict[str, int]:
        """Return how many people are in each block."""
        return {block: sum(values.values()) for block, values in self.blocks.items()}

    @property
    def modes(self) -> list[int]:
        """Return how many people have the likeliest value of each block."""
        return [max(values.values()) for values in self.blocks.values()]

    @property
    def chances(self) -> dict[str, Fraction]:
        """Return the chance of the best guess of the secret in each block."""
        return {
            block: Fraction(mode, size)
            for (block, size), mode in zip(self.sizes.items(), self.modes, strict=True)
        }

    @property
    def by_chance(self) -> dict[Fraction, int]:
        """Return the number of people at each chance of the best guess, in ascending order."""
        counts: Counter[Fraction] = Counter()
        for block, chance in self.chances.items():
            counts[chance] += self.sizes[block]
        return dict(sorted(counts.items()))

    @property
    def groups(self) -> dict[str, "Sample"]:
        """Return the people of each group alone, by its title: ``gender F``."""
        return {
            f"{self.by} {name}": replace(
                self, cells={key: n for key, n in self.cells.items() if key[1] == name}
            )
            for name in dict.fromkeys(group for _, group in self.cells)
        }

    @property
    def part(self) -> tuple[str, "Sample"]:
        """Return the first group: the release, in examples with a population."""
        return next(iter(self.groups.items()))


def entropy(values: Values) -> float:
    """Return Shannon entropy of the values, in bits."""
    return measures.entropy((n, 1) for n in values.values())


def tries(values: Values) -> int:
    """Return the sum of the guesses needed for all these people, the most frequent value first."""
    return sum(i * n for i, n in enumerate(sorted(values.values(), reverse=True), 1))


def over(parts: Iterable[int], whole: int) -> str:
    """Return a sum over a whole, with its value: ``(3 + 2 + 1)/10 = 6/10 = 0.6``."""
    listed = list(parts)
    total = sum(listed)
    terms = f"({plus(listed)})/{whole} = " if len(listed) > 1 else ""
    return equal(f"{terms}{total}/{whole}", Fraction(total, whole))


def equal(terms: str, value: Fraction | float) -> str:
    """Return terms and their value: ``1/8 = 0.125``."""
    return f"{terms} = {number(value)}"


def number(value: Fraction | float) -> str:
    """Return a number as a short decimal."""
    return f"{round(float(value), 12) + 0.0:.6g}"


def plus(parts: Iterable[object]) -> str:
    """Return the terms of a sum: ``3 + 2 + 1``."""
    return " + ".join(map(str, parts))


def counted(values: Values) -> str:
    """Return how many people have each value: ``3 yes, 2 no``."""
    return ", ".join(f"{n} {value}" for value, n in values.items())


def shown(blocks: Mapping[str, Values]) -> Lines:
    """Return a line for each block: ``age 25: 3 yes, 2 no``."""
    return tuple(f"{block}: {counted(values)}" for block, values in blocks.items())


def persons(n: int) -> str:
    """Return a number of people: ``1 person``, ``4 people``."""
    return "1 person" if n == 1 else f"{n} people"


def _together(counts: Iterable[Values]) -> dict[str, int]:
    """Add the counts of equal values; return the most frequent value first."""
    total: Counter[str] = Counter()
    for values in counts:
        total.update(values)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
