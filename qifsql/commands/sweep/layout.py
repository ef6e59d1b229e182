"""How one pass packs people: the order of the attributes, the bits of their codes and counters.

The first attribute of a table is a column of its own, ``entry``; the codes of those after it are
packed in one number, ``rest``, the first of them highest. ``word_1``, ``word_2`` ... are numbers of
126 bits that hold the counts of one block: its people, and how many of them have each value of each
secret of few values but the last. In a *valued* pass, for one secret of many values, the code of
the secret stands in the lowest bits of ``rest`` instead; they are all ones where nobody else in the
block has the same value, because then it does not matter which one it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qifsql.counting.value_codes import Spread

FEW = 8  # a secret with at most so many values is counted by one counter per value
COUNTERS = 24  # and so many counters at most in one pass
WORD = 126  # bits of a word that counters may fill
NARROW, WIDE = 64, 128  # bits of the types that hold ``rest``


@dataclass(frozen=True)
class Layout:
    """One pass: attributes by position, most distinguishing first, and the secrets it counts.

    ``order`` are the numbers of the quasi-identifiers by position, ``values`` how many values each
    has; ``secrets`` are the numbers of values of the secrets by their number. ``owners``: whose
    record it is is answered by this pass, too.
    """

    order: tuple[int, ...]
    values: tuple[int, ...]
    people: int
    secrets: Mapping[int, int]
    valued: bool = False
    owners: bool = True

    @property
    def n(self) -> int:
        """How many attributes there are."""
        return len(self.order)

    @property
    def every(self) -> int:
        """The state's bits of all attributes."""
        return (1 << self.n) - 1

    @property
    def secret_bits(self) -> int:
        """Bits of ``rest`` that hold the code of the secret; all of them: nobody else has it."""
        return _bits(next(iter(self.secrets.values())) + 1) if self.valued else 0

    def shift(self, position: int) -> int:
        """Bits of ``rest`` below the code of the attribute at that position."""
        return sum(_bits(v) for v in self.values[position + 1 :]) + self.secret_bits

    def field(self, position: int) -> int:
        """The bits of ``rest`` that hold the code of the attribute at that position."""
        return ((1 << _bits(self.values[position])) - 1) << self.shift(position)

    def fields(self, subset: int, *, entry: bool) -> int:
        """The bits of a packed key that hold the codes of some attributes, and the secret.

        A packed key is ``rest`` under ``entry``; whether to keep that is said apart, because it is
        another attribute in each table.
        """
        code_bits = sum(self.field(p) for p in range(1, self.n) if subset >> p & 1)
        first = -1 << self.width if entry else 0
        bits = self.rest_bits if self.key_type == self.rest_type else WIDE
        return (first | code_bits | (1 << self.secret_bits) - 1) & ((1 << bits) - 1)

    def lowest(self, position: int) -> int:
        """The lowest bit of a packed key that holds the code of an attribute."""
        return 1 << (self.width if position == 0 else self.shift(position))

    @property
    def key_type(self) -> str:
        """The type that holds ``entry`` and ``rest`` together."""
        entry = _bits(max(self.values))
        return "UBIGINT" if self.width + entry <= NARROW else "UHUGEINT"

    def later(self, position: int) -> int:
        """The bits of ``rest`` after the attribute at that position."""
        return (1 << self.shift(position)) - 1

    @property
    def width(self) -> int:
        """Bits of ``rest``."""
        return self.shift(0)

    @property
    def rest_type(self) -> str:
        """The type of ``rest``."""
        return "UBIGINT" if self.rest_bits == NARROW else "UHUGEINT"

    @property
    def rest_bits(self) -> int:
        """Bits of the type of ``rest``: a shift by so many leaves nothing."""
        return NARROW if self.width <= NARROW else WIDE

    @property
    def block_type(self) -> str:
        """The type of a block's key: its state, and room for the numbers of 2^28 blocks."""
        return "BIGINT" if 2 * self.n + 28 < NARROW else "HUGEINT"

    @property
    def word_type(self) -> str:
        """The type of a word: of many counters, or of one."""
        return "BIGINT" if self.valued else "HUGEINT"

    @property
    def counter_bits(self) -> int:
        """Bits of one counter."""
        return self.people.bit_length()

    @property
    def counters(self) -> tuple[tuple[int, int], ...]:
        """The counted values, as numbers of secret and code, after the count of people."""
        if self.valued:
            return ()
        return tuple((j, code) for j, values in self.secrets.items() for code in range(values - 1))

    @property
    def words(self) -> int:
        """How many words hold the counters."""
        return self.place(len(self.counters))[0]

    def place(self, counter: int) -> tuple[int, int]:
        """The word that holds a counter (0: people), and the bits below it there."""
        in_one = WORD // self.counter_bits
        return counter // in_one + 1, counter % in_one * self.counter_bits

    def state(self, *, subset: int = 0, undecided: int = 0) -> int:
        """A state from its two sets of attributes."""
        return subset << self.n | undecided


def passes(
    qids: Mapping[int, Spread], secrets: Mapping[int, Spread], people: int
) -> tuple[Layout, ...]:
    """The passes over the data that answer everything.

    One counts whose record it is and all secrets of few values; each other secret has its own.
    """
    order = tuple(sorted(qids, key=lambda i: (qids[i].together, i)))
    values = tuple(qids[i].values for i in order)
    few: dict[int, int] = {}
    for j, spread in secrets.items():
        if spread.values <= FEW and sum(few.values()) - len(few) + spread.values <= COUNTERS:
            few[j] = spread.values
    many = {j: spread.values for j, spread in secrets.items() if j not in few}
    layouts: list[Layout] = []
    if few or not many:
        layouts.append(Layout(order, values, people, few))
    for j, v in many.items():
        layouts.append(Layout(order, values, people, {j: v}, valued=True, owners=not layouts))
    return tuple(layouts)


def fits(layouts: Sequence[Layout]) -> bool:
    """Whether the codes of each person fit in a key."""
    return all(x.width + _bits(max(x.values)) <= WIDE for x in layouts)


def _bits(values: int) -> int:
    """Bits that tell so many values apart."""
    return max(0, values - 1).bit_length()
