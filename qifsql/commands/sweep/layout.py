"""The passes of a sweep over the data, and how each packs people into numbers.

The column ``entry`` has the code of the first attribute of a table. The number ``rest`` packs the
codes of the later attributes, the first of them in the highest bits. ``word_1``, ``word_2`` ... are
numbers of 126 bits with the counts of one block: its people, and the people with each value, except
the last, of each secret of few values. A *valued* pass counts one secret of many values: the code
of the secret is in the lowest bits of ``rest`` instead. These bits are all ones if nobody else in
the block has the same value, because then the value does not matter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qifsql.counting.packing import NARROW_BITS, WIDE_BITS, Packing, code_bits
from qifsql.counting.scales import Spread
from qifsql.counting.subset_families import MOST_BITS

MOST_QIDS = MOST_BITS  # most quasi-identifiers: states and turns must fit in their numbers
MOST_COUNTED = 8  # most values of a secret with one counter per value
MOST_COUNTERS = 24  # most counters in one pass
WORD_BITS = 126  # bits of a word available to counters


@dataclass(frozen=True)
class Layout(Packing):
    """One pass: attributes by position, most distinguishing first, and the secrets it counts.

    ``missing`` says of each attribute whether its last value is the missing value. ``secrets`` maps
    the number of each secret to its number of values. ``owners``: the pass also answers
    re-identification.
    """

    missing: tuple[bool, ...]
    people: int
    secrets: Mapping[int, int]
    valued: bool = False
    owners: bool = True

    @property
    def bits_below(self) -> int:
        """Return the number of bits of ``rest`` with the code of the secret."""
        # One code more: all ones, if nobody else in the block has the same value.
        return code_bits(next(iter(self.secrets.values())) + 1) if self.valued else 0

    def fields(self, subset: int, *, entry: bool) -> int:
        """Return the bits of a packed key that hold the codes of a subset, and the secret.

        A packed key has ``entry`` above ``rest``. The caller says whether to keep ``entry``,
        because it is a different attribute in each table.
        """
        bits_of_codes = sum(self.field(p) for p in range(1, self.n) if subset >> p & 1)
        bits_of_secret = (1 << self.bits_below) - 1  # the lowest ones
        entry_bits = -1 << self.width if entry else 0  # all bits above ``rest``
        key_bits = self.rest_bits if self.key_type == self.rest_type else WIDE_BITS
        return (entry_bits | bits_of_codes | bits_of_secret) & ((1 << key_bits) - 1)

    def in_key(self, position: int, code: int) -> int:
        """Return a code of the attribute at that position as it stands in a packed key."""
        return code << (self.width if position == 0 else self.shift(position))

    @property
    def key_type(self) -> str:
        """Return the type that holds ``entry`` and ``rest`` together."""
        return "UBIGINT" if self.width + code_bits(max(self.values)) <= NARROW_BITS else "UHUGEINT"

    @property
    def counter_bits(self) -> int:
        """Return the number of bits of one counter."""
        return self.people.bit_length()

    @property
    def counter_mask(self) -> int:
        """Return the bits of one counter, if it is the lowest of its word."""
        return (1 << self.counter_bits) - 1

    @property
    def counters(self) -> tuple[tuple[int, int], ...]:
        """Return the counted values as pairs of secret and code, without the people."""
        if self.valued:
            return ()
        return tuple((j, code) for j, values in self.secrets.items() for code in range(values - 1))

    @property
    def words(self) -> int:
        """Return the number of words that hold the counters."""
        return self.place(len(self.counters))[0]

    def place(self, counter: int) -> tuple[int, int]:
        """Return the word of a counter (0: people), and the number of bits below it there."""
        in_one = WORD_BITS // self.counter_bits
        return counter // in_one + 1, counter % in_one * self.counter_bits

    def state(self, *, subset: int = 0, undecided: int = 0) -> int:
        """Return a state: the known attributes in the high bits, the undecided ones in the low.

        An attribute that is known and decided is taken, one that is neither is dropped; one that is
        known and undecided is free: it does not vary in the block.
        """
        return subset << self.n | undecided


def plan_passes(
    qids: Mapping[int, Spread], secrets: Mapping[int, Spread], people: int
) -> tuple[Layout, ...]:
    """Return the passes over the data that answer all questions.

    The first pass answers re-identification. One pass counts the secrets of few values together,
    as long as its counters suffice; each other secret has a separate pass. Both mappings have the
    spread of people over the values, by the number of the attribute; ``people`` is how many.
    """
    order = Packing.order_of(qids)  # most distinguishing first
    values = tuple(qids[i].values for i in order)
    missing = tuple(qids[i].missing for i in order)
    counted: dict[int, int] = {}  # the secrets of the first pass
    for j, spread in secrets.items():
        counters = sum(counted.values()) - len(counted)  # none for the last value of a secret
        if spread.values <= MOST_COUNTED and counters + spread.values <= MOST_COUNTERS:
            counted[j] = spread.values
    layouts: list[Layout] = []
    if counted or not secrets:
        layouts.append(Layout(order, values, missing, people, counted))
    for j, spread in secrets.items():
        if j not in counted:
            only, is_first = {j: spread.values}, not layouts
            layout = Layout(order, values, missing, people, only, valued=True, owners=is_first)
            layouts.append(layout)
    return tuple(layouts)


def codes_fit(layouts: Sequence[Layout]) -> bool:
    """Return whether the codes of each person fit in a key: ``rest``, and an ``entry`` above it."""
    return all(x.width + code_bits(max(x.values)) <= WIDE_BITS for x in layouts)
