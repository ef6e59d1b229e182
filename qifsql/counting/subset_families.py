"""Families of subsets of quasi-identifiers, which are counted together, in SQL.

The subsets of a family share all quasi-identifiers but the first one. People are parted once by
what the subsets share, and then these blocks by each first quasi-identifier. Whoever is alone by
what is shared stays alone, and is left out. The blocks by the last quasi-identifiers are kept for
the families that follow.

Families may have any number of quasi-identifiers. The walks of ``sweep`` and ``suda`` are faster,
but need a bit of a number for each quasi-identifier (``MOST_BITS``). Subsets are numbered from 1:
the smaller first, those of one size in the order of their bits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import polars as pl
from sqlglot import exp

from qifsql.counting.scales import own_name
from qifsql.counting.stream_session import Statements, StreamSession
from qifsql.engine.connections import Stream
from qifsql.query.columns import without_rows
from qifsql.query.render import creating, render
from qifsql.query.splice import splice

MOST_ROWS = 2_000_000  # people times subsets in one statement, whose groups fit in memory
SECONDS_PER_ROW = 90e-9  # of one thread per person, subset and question
SECONDS_PER_FAMILY = 6e-3  # of one thread per family, however few the people
SECONDS_PER_CODING = 15e-3  # per quasi-identifier whose values are numbered
MOST_BITS = 28  # quasi-identifiers, up to which the number of a subset has a bit for each
COLUMNS_OF_CODES = {"person": "BIGINT", "attribute": "USMALLINT", "code": "INTEGER"}


@dataclass(frozen=True)
class Family:
    """Subsets of the ``shared`` quasi-identifiers and one more, from ``least`` to ``greatest``.

    All are positions. The number of a subset is ``before`` plus the position of the one more.
    """

    shared: tuple[int, ...]
    least: int
    greatest: int
    before: int

    @property
    def number(self) -> int:
        """Return the number of its first subset."""
        return self.before + self.least

    @property
    def subsets(self) -> int:
        """Return how many there are."""
        return self.greatest - self.least + 1


def families(n: int, sizes: range, people: int, number: int = 1) -> Iterator[Family]:
    """Yield the families of all subsets of ``n`` quasi-identifiers that have these sizes, in order.

    The subsets of a family share all quasi-identifiers but the first one, which is one of those
    from ``least`` to ``greatest``. Subsets are numbered from ``number``. A family has so few that
    a statement counts ``people`` by all of them.
    """
    width = max(1, MOST_ROWS // max(1, people))  # subsets of a family at most
    for size in sizes:
        for shared in _combinations(size - 1, 1, n):  # from 1 on: one is before them
            # The one more is before all shared ones, so that each subset is in one family.
            ends_before = shared[0] if shared else n
            for least in range(0, ends_before, width):
                greatest = min(least + width, ends_before) - 1
                yield Family(shared, least, greatest, before=number)
            number += ends_before


def _combinations(size: int, least: int, end: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of so many positions from ``least`` to before ``end``, last ones slowest."""
    if not size:
        yield ()
        return
    for last in range(least + size - 1, end):
        for others in _combinations(size - 1, least, last):
            yield (*others, last)


def numbered_names(qids: Sequence[str], sizes: range) -> pl.DataFrame:
    """Return the names in each subset of these sizes, ``qids``, by its number ``subset``.

    Subsets of each size are made from those of the size before: a later name is put at the end.
    """
    singles = pl.DataFrame({"place": range(len(qids)), "qid": qids}).cast({"place": pl.Int32})
    of_size = singles.select(last="place", qids=pl.concat_list("qid"))
    tables = [of_size] if 1 in sizes else []
    for size in range(2, sizes.stop):
        extended = [  # one table for each last position, so that few rows are made in vain
            of_size.filter(pl.col("last") < place).select(
                last=pl.lit(place, pl.Int32), qids=pl.concat_list("qids", pl.lit(qid))
            )
            for place, qid in singles.rows()
        ]
        of_size = pl.concat(extended)  # in the order of bits, as those of the last size are
        if size in sizes:
            tables.append(of_size)
    number = pl.int_range(1, pl.len() + 1, dtype=pl.UInt32).alias("subset")
    return pl.concat(tables).select(number, "qids")


def members(number: int, n: int, sizes: range) -> list[int]:
    """Return the places, from 0 and below ``n``, of a subset by its ``number`` (numbered_names)."""
    rank = number - 1
    for size in sizes:
        if rank < comb(n, size):
            break
        rank -= comb(n, size)  # afterwards the rank is that among the subsets of its size
    places = []
    for k in range(size, 0, -1):  # the last one first: comb(place, k) subsets come before it
        place = next(p for p in reversed(range(n)) if comb(p, k) <= rank)
        rank -= comb(place, k)
        places.append(place)
    return places[::-1]


def expected_seconds(subsets: int, families: int, people: int, questions: int) -> float:
    """Return the seconds of one thread that the count of all subsets is expected to take."""
    rows = subsets * people
    return questions * (
        rows * SECONDS_PER_ROW + max(families, rows // MOST_ROWS) * SECONDS_PER_FAMILY
    )


def coding(codes: str, people: str, dictionaries: Mapping[str, int]) -> Iterator[str]:
    """Yield the statements that make the table ``codes`` of the people in a table.

    It has a row per person and attribute: the code of the value. ``dictionaries`` has the number of
    each attribute by its column, whose dictionary is made.
    """
    yield creating(codes, without_rows(COLUMNS_OF_CODES), temporary=False)
    for column, attribute in dictionaries.items():
        of_one = splice(
            "sweep/codes_of_attribute",
            columns={"attribute_value": column},
            numbers={"wanted_attribute": attribute},
            tables={"people": people, "dictionary": own_name(f"dictionary_{column}")},
        )
        yield render(exp.insert(of_one, codes))


class PartedPeople(StreamSession):
    """One stream: its tables of people, parted by what families share.

    ``sharing_0`` has everybody in one block, ``sharing_1`` those who are not alone by one
    attribute, and so on; ``codes`` is the table of their codes.
    """

    def __init__(self, stream: Stream, statements: Statements, *, people: str, codes: str) -> None:
        super().__init__(stream, statements)
        self.codes = codes
        self._shared: list[int] = []  # the attributes by which people are parted, last ones first
        self.rows_by_depth = [self.make_table("sharing_0", "in_one_block", people=people)]

    def part(self, family: Family) -> int:
        """Make the table of the people whom the attributes that a family shares leave in one block.

        Return their number: people who are alone in a block are left out, as every subset of the
        family singles them out. Tables of the last family with the same first attributes are used
        again. Also sets the session's variables of the family: ``number``, ``least``, ``greatest``.
        """
        attributes = family.shared[::-1]
        in_common = 0  # leading attributes that the last family has shared, too
        for before, now in zip(self._shared, attributes, strict=False):
            if before != now:
                break
            in_common += 1
        del self._shared[in_common:], self.rows_by_depth[in_common + 1 :]
        for depth, attribute in enumerate(attributes[in_common:], in_common):
            self.set(shared=(attribute, "USMALLINT"))
            tables = {"sharing": f"sharing_{depth}", "codes": self.codes}
            rows = self.make_table(f"sharing_{depth + 1}", "sharing_more", **tables)
            self.rows_by_depth.append(rows)
            self._shared.append(attribute)
        self.set(
            number=(family.before, "BIGINT"),
            least=(family.least, "BIGINT"),
            greatest=(family.greatest, "BIGINT"),
        )
        return self.rows_by_depth[-1]
