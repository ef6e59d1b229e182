"""The cells of a subset in one row per block, for secrets of few values.

A row has a counter for each file and value of the secret, packed into words of 62 bits. One GROUP
BY makes the rows of a smaller subset, and what is said of a block is arithmetic within its row.
Cells in rows of their own are grouped twice, which takes twice as long.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from qifsql.counting.coded import Coded
from qifsql.engine.tables import Tables
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

MOST_COUNTERS = 48  # of a row
WORD_BITS = 62  # of a word of counters


class Counter(NamedTuple):
    """The place of a counter: its word, from 1, its lowest bit there, and its largest count."""

    word: int
    bit: int
    largest: int


@dataclass(frozen=True)
class WideCells:
    """Rows with a counter for each file and value of one secret, and its usual values.

    ``sizes`` are the numbers of people or records that each column of counts adds up to. ``modal``
    are the codes of the most frequent values of each release, ``typical`` those of the control.
    """

    coded: Coded
    secret: int
    values: int
    modal: Mapping[int, Sequence[int]]
    typical: Sequence[int]
    sizes: Mapping[str, int]

    @staticmethod
    def fit(values: int, releases: int, *, has_control: bool) -> bool:
        """Return whether the counters of a secret of so many values fit into a row."""
        return values * (1 + has_control + releases) <= MOST_COUNTERS

    def make(self, tables: Tables, name: str, subset: Iterable[int], table: str | None) -> None:
        """Create the table ``name``: the rows of a subset of the quasi-identifiers (from 0).

        They are made from ``table``, that of a larger subset; None: from the coded records.
        """
        words: dict[int, list[tuple[int, int, int]]] = {}  # column of counts, value, lowest bit
        for column, counters in enumerate(self._counters().values()):
            for value, counter in enumerate(counters):
                words.setdefault(counter.word, []).append((column, value, counter.bit))
        if table is None:
            query = splice(
                "synthetic/packed",
                secret=self.secret or None,
                columns={f"count_{i}": column for i, column in enumerate(self.sizes)},
                shape={"words": list(words.values()), "has_secret": bool(self.secret)},
            )
        else:
            tables_read = {"packed": table}
            query = splice("synthetic/repacked", tables=tables_read, shape={"words": len(words)})
        query = query.select(*self.coded.masked(subset)).group_by(exp.var("ALL"))
        tables.make(name, query)

    def totals(self, table: str, release: int) -> Plan:
        """Return the plan of the counts of blocks: a row per number of guessed values."""
        counters, modal = self._counters(), self.modal[release]
        query = splice(
            "synthetic/packed_blocks",
            tables={"packed": table},
            shape={
                "original": counters["original"],
                "control": counters.get("control", []),
                "records": counters[f"synthetic_{release}"],
                "modal": sorted(modal),
                "typical": sorted(self.typical),
                "usual": sorted({*modal} & {*self.typical}),
            },
        )
        doc = "One row per tuple of quasi-identifiers: what the release says about it."
        return Plan((Step("blocks", doc, query),), splice("synthetic/totals"))

    def _counters(self) -> dict[str, list[Counter]]:
        """Return the counters by column of counts and code; each has the bits of the total."""
        counters: dict[str, list[Counter]] = {}
        word, used_bits = 1, 0
        for column, size in self.sizes.items():
            width = size.bit_length()  # no count exceeds the total
            counters[column] = []
            for _ in range(self.values):
                if used_bits + width > WORD_BITS:
                    word, used_bits = word + 1, 0
                counters[column].append(Counter(word, used_bits, (1 << width) - 1))
                used_bits += width
        return counters
