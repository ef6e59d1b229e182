"""The walk that finds the subsets that single out records, chunk by chunk.

The records of a chunk have whole blocks of its first quasi-identifier, which each subset takes. The
others are taken or dropped one by one. A record that is alone in its block is noted with the subset
that the block took, and leaves the walk: larger subsets single it out, too, so that they are not
minimal. A quasi-identifier that does not vary in a block is dropped: with or without it the block
is the same. Every minimal sample unique is noted, and some subsets that single out a record but are
not minimal, because the order of taking decides which are seen (M141).

``sql/suda.sql`` explains the tables. Related work: SUDA2 (Manning, Haglin and Keane 2008),
bottom-up cubes (Beyer and Ramakrishnan 1999).
"""

from dataclasses import dataclass

from sqlglot import exp

from qifsql.counting.packing import Packing
from qifsql.counting.scales import own_name
from qifsql.counting.stream_session import Statements, StreamSession, varying_macro
from qifsql.engine.connections import Stream
from qifsql.query.splice import splice

ENDING = 1 << 30  # added to the turn of a block that ends
BLOCK_BITS = 34  # bits for the numbers of the blocks of a chunk
SHARED = ("numbered", "candidates", "scores", "set_counts", "value_counts")
"""Tables of the engine that all streams read or fill; others belong to one stream."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Rows of a coded table whose first quasi-identifier has a code from ``least`` to ``greatest``.

    ``position`` is that of the first quasi-identifier.
    """

    position: int
    least: int
    greatest: int


def coded_name(position: int) -> str:
    """Return the name of the table of the quasi-identifiers from a position on."""
    return f"coded_{position}"


class Walker(StreamSession):
    """One stream and its session: the variables and temporary tables of the walk.

    Subsets of at most ``size_limit`` quasi-identifiers are looked for.
    """

    def __init__(self, stream: Stream, packing: Packing, size_limit: int) -> None:
        """Set the variables and the macro that views of the walk read, for all chunks."""
        super().__init__(stream, STATEMENTS)
        self.packing = packing
        fields = tuple((1 << p, packing.field(p)) for p in range(1, packing.n))
        stream.rows(self.record(varying_macro(fields, packing.rest_type)))
        self.set(
            n=(packing.n, "INTEGER"),
            every=(packing.all_attributes, "BIGINT"),
            states=(
                1 << 2 * packing.n,
                packing.block_type(BLOCK_BITS),
            ),  # a set taken and a set open
            most=(size_limit, "INTEGER"),
            ending=(ENDING, "BIGINT"),
        )
        self.set_lists(bits=[1 << p for p in range(packing.n)])

    def add(self, name: str, file: str, **tables: str) -> None:
        """Add the rows of a view to a table that all streams fill."""
        self.add_rows(own_name(name), file, **tables)

    def walk(self, chunk: Chunk) -> None:
        """Add to ``candidates``: pairs of a record of the chunk and a subset that singles it out.

        Each subset takes the chunk's first quasi-identifier. The others have their turn in order. A
        quasi-identifier is open in a block if it is still to be taken or left out, and its values
        differ; on its turn it splits the blocks in which it is the first open one.
        """
        n_blocks = self._enter(chunk)
        if not n_blocks:  # every record is alone
            return
        packing = self.packing
        for position in range(chunk.position + 1, packing.n):
            later = packing.later(position)
            self.set(
                bit=(1 << position, "BIGINT"),
                after=(packing.all_attributes & ~((2 << position) - 1), "BIGINT"),  # those after it
                field=(packing.field(position), packing.rest_type),
                later=(later, packing.rest_type),  # bits of their codes in ``rest``
                blocks=(n_blocks, "BIGINT"),  # that are numbered already
            )
            # How many records are in blocks that split now; and in blocks that split now or later.
            ((rows_to_split, rows_going_on),) = self.rows("turns")
            if not rows_going_on:
                break
            if rows_to_split:
                n_blocks += self._split()

    def _enter(self, chunk: Chunk) -> int:
        """Make blocks by the chunk's first quasi-identifier; return how many go on.

        The table ``live`` has the records of blocks that go on. A record that is alone in its block
        (view ``alone``) is a candidate. A block of two records, or with one open quasi-identifier,
        ends (view ``ended``): any open one singles out its records, which are candidates, too.
        """
        table = {"coded": own_name(coded_name(chunk.position))}
        self.set(least=(chunk.least, "INTEGER"), greatest=(chunk.greatest, "INTEGER"))
        self.set(bit=(1 << chunk.position, "BIGINT"), blocks=(0, "BIGINT"))
        self.make_table("blocks", "entered_blocks", **table)
        self.add("candidates", "alone")
        n_blocks = self.make_table("children", "children")  # new numbers of blocks that go on
        if n_blocks:
            self.make_table("live", "entered", **table)
            self.add("candidates", "ended")
        return n_blocks

    def _split(self) -> int:
        """Split the blocks whose turn it is; return how many new blocks go on.

        Candidates and the table ``live`` are updated as in ``_enter``. Blocks whose turn comes
        later stay in ``live``.
        """
        self.make_table("blocks", "parts")
        self.add("candidates", "alone")
        n_blocks = self.make_table("children", "children")
        self.make_table("live", "onward")
        self.add("candidates", "ended")
        return n_blocks


def _query(file: str, **tables: str) -> exp.Query:
    """Return the query of a view; ``tables`` replace names, shared tables get their full names."""
    return splice(f"suda/{file}", tables={name: own_name(name) for name in SHARED} | tables)


STATEMENTS = Statements(_query)
