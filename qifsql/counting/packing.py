"""Records as numbers: the codes of their quasi-identifiers by position, packed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qifsql.counting.scales import Spread

NARROW_BITS, WIDE_BITS = 64, 128  # bits of the types that hold ``rest``


@dataclass(frozen=True)
class Packing:
    """The quasi-identifiers by position, most distinguishing first, and the bits of their codes.

    ``order`` has the number of the quasi-identifier at each position, ``values`` its number of
    values. The code of the first is the column ``entry``; the number ``rest`` packs the others, the
    first of them in the highest bits. A set of quasi-identifiers is a number with a bit by position
    for each.
    """

    order: tuple[int, ...]
    values: tuple[int, ...]

    @staticmethod
    def order_of(spreads: Mapping[int, Spread] | Sequence[Spread]) -> tuple[int, ...]:
        """Return the numbers of quasi-identifiers with these spreads, by position."""
        return tuple(sorted(range(len(spreads)), key=lambda i: (spreads[i].together, i)))

    @property
    def n(self) -> int:
        """Return the number of quasi-identifiers."""
        return len(self.order)

    @property
    def all_attributes(self) -> int:
        """Return the set of all quasi-identifiers."""
        return (1 << self.n) - 1

    @property
    def bits_below(self) -> int:
        """Return the number of bits of ``rest`` below the codes of all quasi-identifiers."""
        return 0

    def shift(self, position: int) -> int:
        """Return the number of bits of ``rest`` below the code at that position."""
        return sum(map(code_bits, self.values[position + 1 :])) + self.bits_below

    def field(self, position: int) -> int:
        """Return the bits of ``rest`` that hold the code at that position."""
        return ((1 << code_bits(self.values[position])) - 1) << self.shift(position)

    def later(self, position: int) -> int:
        """Return the bits of ``rest`` below the code at that position."""
        return (1 << self.shift(position)) - 1

    @property
    def width(self) -> int:
        """Return the number of used bits of ``rest``."""
        return self.shift(0)

    @property
    def rest_bits(self) -> int:
        """Return the number of bits of the type of ``rest``; a shift by it leaves nothing."""
        return NARROW_BITS if self.width <= NARROW_BITS else WIDE_BITS

    @property
    def rest_type(self) -> str:
        """Return the type of ``rest``."""
        return "UBIGINT" if self.rest_bits == NARROW_BITS else "UHUGEINT"

    def block_type(self, number_bits: int) -> str:
        """Return the type of a block's key: two sets of quasi-identifiers, and a number above."""
        return "BIGINT" if 2 * self.n + number_bits < NARROW_BITS else "HUGEINT"

    def members(self, taken: int) -> list[int]:
        """Return the numbers of the quasi-identifiers of a set, in the user's order."""
        return sorted(i for position, i in enumerate(self.order) if taken >> position & 1)


def code_bits(values: int) -> int:
    """Return the number of bits that the codes of so many values need."""
    return max(0, values - 1).bit_length()
