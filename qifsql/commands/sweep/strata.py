"""Which blocks of an attribute a sample draws: strata of blocks by size, and how many of each.

Blocks are of very different sizes: half of the people may be in one (those of whom the value is
missing). So blocks are drawn by size. The share s that was asked for is drawn of the blocks with at
most s N / ``STANDS_FOR`` of the N people, ``FACTOR`` times that share of those up to ``FACTOR``
times as large, and so on; larger ones are counted exactly. No block that is drawn stands for more
than one in ``STANDS_FOR`` of the people, so no block that is left out changes an estimate by more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

STANDS_FOR = 100  # a drawn block stands for at most this part of the people
FACTOR = (
    4  # the blocks of a stratum are up to so many times as large as those before, as is the share
)
FEWEST = 30  # blocks that are drawn of each stratum, at least
PARTS = 10  # random parts of the drawn blocks of a stratum, from whose differences errors follow


@dataclass(frozen=True)
class Stratum:
    """The blocks of one range of sizes: how many, their people, the people of the largest."""

    number: int
    blocks: int
    people: int
    largest: int

    def drawn(self, share: float) -> int:
        """How many of the blocks a sample draws; 0 where it counts all of them."""
        draws = max(FEWEST, ceil(share * FACTOR**self.number * self.blocks))
        return draws if draws < self.blocks else 0


def limits(share: float, people: int) -> list[int]:
    """The sizes of blocks up to which each stratum goes; what is larger is counted exactly."""
    sizes: list[int] = []
    while (chance := share * FACTOR ** len(sizes)) < 1:
        sizes.append(int(chance * people / STANDS_FOR))
    return sizes


def parts(drawn: int) -> list[tuple[int, int]]:
    """The random parts of so many drawn blocks: the first of each, and the first after it."""
    bounds = [i * drawn // PARTS for i in range(PARTS + 1)]
    return list(pairwise(bounds))


def sampled(strata: Sequence[Stratum], share: float, counted: int) -> list[int]:
    """How many blocks are drawn of each of ``counted`` strata by number, 0 for all of them.

    The last stratum, of the largest blocks, is always counted exactly.
    """
    draws = [0] * counted
    for stratum in strata:
        if stratum.number < counted - 1:
            draws[stratum.number] = stratum.drawn(share)
    return draws
