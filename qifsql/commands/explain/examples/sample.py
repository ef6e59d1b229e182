"""A small table as counts, for worked examples."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from qifsql.reference import channel
from qifsql.reference.channel import Joint

Values = Mapping[str, int]  # people who have each value of the secret
Blocks = Mapping[str, Values]


@dataclass(frozen=True)
class Sample:
    """People of a small table, counted by block, group and value of the secret.

    ``qid`` names the quasi-identifier that makes the blocks, ``by`` the column that makes groups
    of people. ``cells`` has the values by block and group, in the order in which these are shown.
    A group alone has a ``title``.
    """

    qid: str
    by: str
    secret: str
    cells: Mapping[tuple[str, str], Values]
    title: str = ""

    @property
    def blocks(self) -> dict[str, dict[str, int]]:
        """Return how many people have each value, by title of the block: ``age 25``."""
        names = dict.fromkeys(block for block, _ in self.cells)
        return {
            f"{self.qid} {name}": added_counts(n for (b, _), n in self.cells.items() if b == name)
            for name in names
        }

    @property
    def columns(self) -> tuple[str, str, str]:
        """Return the names of the quasi-identifier, the column of groups, and the secret."""
        return self.qid, self.by, self.secret

    @property
    def rows(self) -> list[dict[str, str]]:
        """Return a row for each person: the values by column."""
        return [
            {self.qid: block, self.by: group, self.secret: value}
            for (block, group), values in self.cells.items()
            for value, n in values.items()
            for _ in range(n)
        ]

    @property
    def joint(self) -> Joint:
        """Return the joint distribution of blocks and values."""
        return channel.joint(self.rows, [self.qid], self.secret)

    @property
    def values(self) -> dict[str, int]:
        """Return how many people have each value, the most frequent first."""
        return added_counts(self.cells.values())

    @property
    def people(self) -> int:
        """Return the number of people."""
        return sum(self.values.values())

    @property
    def sizes(self) -> dict[str, int]:
        """Return how many people are in each block."""
        return {block: sum(values.values()) for block, values in self.blocks.items()}

    @property
    def alone(self) -> dict[str, int]:
        """Return the blocks of one person."""
        return {block: size for block, size in self.sizes.items() if size == 1}

    @property
    def certain(self) -> dict[str, int]:
        """Return the people of the blocks that have one value."""
        return {block: self.sizes[block] for block, v in self.blocks.items() if len(v) == 1}

    @property
    def chances(self) -> dict[str, Fraction]:
        """Return the chance of the best guess of the secret in each block."""
        sizes = self.sizes
        return {b: Fraction(max(v.values()), sizes[b]) for b, v in self.blocks.items()}

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
        groups = {}
        for name in dict.fromkeys(group for _, group in self.cells):
            title = f"{self.by} {name}"
            cells = {(b, group): n for (b, group), n in self.cells.items() if group == name}
            groups[title] = replace(self, cells=cells, title=title)
        return groups

    @property
    def groups_of(self) -> dict[str, dict[str, int]]:
        """Return how many people of each group are in each block."""
        groups: dict[str, dict[str, int]] = {}
        for (block, group), values in self.cells.items():
            groups.setdefault(f"{self.qid} {block}", {})[group] = sum(values.values())
        return groups

    @property
    def part(self) -> "Sample":
        """Return the first group: the release, in examples with a population or an original."""
        return next(iter(self.groups.values()))

    @property
    def release(self) -> list[tuple[str, int, int]]:
        """Return each block of the first group: its people there, and among everybody."""
        return [(block, n, self.sizes[block]) for block, n in self.part.sizes.items()]

    @property
    def control(self) -> "Sample":
        """Return the last group: the control, in examples of synthetic releases."""
        *_, last = self.groups.values()
        return last


def added_counts(counts: Iterable[Values]) -> dict[str, int]:
    """Add the counts of equal values; return the most frequent value first."""
    total: Counter[str] = Counter()
    for values in counts:
        total.update(values)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
