"""Records as numbers: their codes by position, packed, and subsets as bits."""

from collections.abc import Sequence
from dataclasses import dataclass

from qifsql.counting.scales import Spread

NARROW, WIDE = 64, 128  # bits of the types that hold the packed codes
NUMBERS = 34  # bits for the numbers of the blocks of a chunk


@dataclass(frozen=True)
class Packing:
    """The quasi-identifiers by position, most distinguishing first, and the bits of their codes.

    ``order`` has the number of the quasi-identifier at each position, ``values`` its number of
    values. The code of the first is the column ``entry``; ``rest`` packs the others, the first of
    them in the highest bits.
    """

    order: tuple[int, ...]
    values: tuple[int, ...]

    @classmethod
    def of(cls, spreads: Sequence[Spread]) -> "Packing":
        """Return the packing of quasi-identifiers with these spreads."""
        order = sorted(range(len(spreads)), key=lambda i: (spreads[i].together, i))
        return cls(tuple(order), tuple(spreads[i].values for i in order))

    @property
    def n(self) -> int:
        """Return the number of quasi-identifiers."""
        return len(self.order)

    @property
    def every(self) -> int:
        """Return the set of all quasi-identifiers."""
        return (1 << self.n) - 1

    def shift(self, position: int) -> int:
        """Return the number of bits of ``rest`` below the code at that position."""
        return sum(map(_bits, self.values[position + 1 :]))

    def field(self, position: int) -> int:
        """Return the bits of ``rest`` that hold the code at that position."""
        return ((1 << _bits(self.values[position])) - 1) << self.shift(position)

    def later(self, position: int) -> int:
        """Return the bits of ``rest`` below the code at that position."""
        return (1 << self.shift(position)) - 1

    @property
    def fits(self) -> bool:
        """Return whether the codes of a record fit in a number."""
        return self.shift(0) <= WIDE

    @property
    def rest_bits(self) -> int:
        """Return the number of bits of the type of ``rest``; a shift by it leaves nothing."""
        return NARROW if self.shift(0) < NARROW else WIDE

    @property
    def rest_type(self) -> str:
        """Return the type of ``rest``."""
        return "UBIGINT" if self.rest_bits == NARROW else "UHUGEINT"

    @property
    def block_type(self) -> str:
        """Return the type of a block's number, which holds two sets of quasi-identifiers."""
        return "BIGINT" if 2 * self.n + NUMBERS < NARROW else "HUGEINT"

    def numbers(self, taken: int) -> list[int]:
        """Return the numbers of the quasi-identifiers of a set, in the user's order."""
        return sorted(self.order[p] for p in range(self.n) if taken >> p & 1)


def _bits(values: int) -> int:
    return max(1, values - 1).bit_length()
