"""Minimal sample uniques of so many quasi-identifiers that a number has no bit for each.

Sizes come one after the other. A record that is alone by an attribute has no other minimal sample
unique with it, and leaves the codes of that attribute; one that is alone by what a family of
subsets shares has none in the family. What is left is compared with the smaller ones (M140).
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from math import comb

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.suda.spec import MOST_QIDS
from qifsql.counting.scales import own_name
from qifsql.counting.stream_session import Statements, StreamSession, opened_streams
from qifsql.counting.subset_families import (
    SECONDS_PER_CODING,
    Family,
    PartedPeople,
    coding,
    expected_seconds,
    families,
)
from qifsql.engine.connections import Stream
from qifsql.engine.progress import Meter
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.tables import Tables
from qifsql.errors import Interrupted, plural
from qifsql.query import microdata_steps
from qifsql.query.columns import without_rows
from qifsql.query.render import creating, render
from qifsql.query.splice import splice

MOST_FAMILIES_TOGETHER = 64  # families whose records are counted together
MOST_SUBSETS = 2**24  # most subsets
PEOPLE, CODES, SHARED_CODES = "people", "codes", "codes_shared"
COUNTED = {"record": "BIGINT", "msus": "BIGINT"}
EMPTY = {
    "singles": {"record": "BIGINT", "attribute": "USMALLINT"},
    "smaller": {
        **{"record": "BIGINT", "attribute": "USMALLINT"},
        **{"others": "BIGINT[]", "last": "BIGINT"},
    },
    "record_sizes": {"record": "BIGINT", "size": "BIGINT", "msus": "BIGINT"},
}


def expected(n: int, size_limit: int, people: int, streams: int) -> tuple[int, float]:
    """Return the number of subsets up to a size, and the seconds that the search may take."""
    sizes = range(1, size_limit + 1)
    subsets = sum(comb(n, size) for size in sizes)
    shared = sum(comb(n, size - 1) for size in sizes)  # sets that families share
    seconds = expected_seconds(subsets, shared, people, 1) / streams
    return subsets, 2 * n * SECONDS_PER_CODING + seconds


def too_many(n: int, subsets: int, size_limit: int) -> str:
    """Return the message that so many subsets are not searched."""
    return (
        f"{plural(n, 'quasi-identifier')} have {subsets:,} subsets up to a size of {size_limit}, "
        f"too many; limit them with --max-size 2, or name at most {MOST_QIDS} of few values"
    )


@dataclass
class UniqueFamilies:
    """The search for minimal sample uniques in families of subsets, size after size.

    It fills the tables ``scores`` and ``set_counts``, whose ``taken`` is the number of a subset
    (``subset_families``).
    """

    engine: LocalEngine
    microdata: Microdata
    tables: Tables
    size_limit: int
    scores: Sequence[int]
    streams: int
    meter: Meter

    def __post_init__(self) -> None:
        self.n = len(self.microdata.qids)
        self.history: dict[str, None] = {}
        self._searched = 0  # subsets
        self._lock = threading.Lock()

    def code(self) -> tuple[int, ...]:
        """Write the codes of all records; return the numbers of ``Totals``, as integers."""
        columns = [f"qid_{i}" for i in range(1, self.n + 1)]
        person = exp.column(microdata_steps.RECORD).as_("person")
        people = exp.select(person, *map(exp.column, columns)).from_("everybody")
        steps = [microdata_steps.everybody(self.microdata)]
        self.tables.make(PEOPLE, microdata_steps.plan(self.microdata, steps, people))
        query = splice("suda/wide_totals", width=self.n, tables={"people": own_name(PEOPLE)})
        (row,) = self.tables.answer(query)
        places = {name: i for i, name in enumerate(columns)}
        with closing(self.engine.stream(self.tables.where)) as stream:
            for statement in coding(own_name(CODES), own_name(PEOPLE), places):
                self.history[statement] = None
                stream.rows(statement)
        return tuple(map(int, row))

    def find(self, people: int) -> None:
        """Fill ``scores`` and ``set_counts`` with the minimal sample uniques of so many records.

        Sizes come in order: subsets of a size are compared with the uniques of smaller ones, which
        are in ``singles`` (one attribute) and ``smaller``. A record that an attribute singles out
        is left out of the codes of this attribute, as no larger subset with it is minimal.
        """
        for name, columns in EMPTY.items():
            self.tables.make(name, without_rows(columns))
        for size in range(1, self.size_limit + 1):
            if size == 2:  # the codes without those records
                names = {name: own_name(name) for name in (CODES, "singles")}
                self.tables.make(SHARED_CODES, splice("suda/codes_shared", tables=names))
            elif size > 2:  # sort the smaller uniques, so that those of a family stand together
                query = splice("suda/by_last", tables={"smaller": own_name("smaller")})
                self.tables.repeatable("smaller", query)()
            waiting = families(self.n, range(size, size + 1), people, self._searched + 1)
            self._search_size(size, waiting)
        scores = splice("suda/scores_by_size", tables={"record_sizes": own_name("record_sizes")})
        with closing(self.engine.stream(self.tables.where)) as stream:
            session = StreamSession(stream, STATEMENTS)
            session.set_lists(scores=self.scores)
            stream.rows(session.record(render(exp.insert(scores, own_name("scores")))))
            self.history |= dict.fromkeys(session.history)
        self.tables.drop(PEOPLE, CODES, *EMPTY, *([SHARED_CODES] if self.size_limit > 1 else []))
        self.tables.statements += list(self.history)

    def _search_size(self, size: int, waiting: Iterator[Family]) -> None:
        """Let every stream search family after family of one size, until none is ``waiting``.

        A family is the subsets that share all quasi-identifiers but one.
        """
        codes = own_name(CODES if size == 1 else SHARED_CODES)
        subsets = sum(comb(self.n, k) for k in range(1, self.size_limit + 1))

        def search(stream: Stream) -> None:
            """Search waiting families on one stream, until none is left."""
            session = UniqueSession(stream, size, keeps=size < self.size_limit, codes=codes)
            while batch := self._take(waiting):
                for family in batch:
                    if stream.interrupted.is_set():
                        raise Interrupted("interrupted")
                    session.search(family)
                    with self._lock:
                        self._searched += family.subsets
                session.count_records()
            with self._lock:
                self.history |= dict.fromkeys(session.history)

        def show_progress() -> None:
            text = f"{self._searched:,} of {subsets:,} subsets"
            self.meter.inside(self._searched / subsets, text)
            self.meter.show()

        self.meter.begin(0, 1, "walking")
        with opened_streams(self.engine, self.streams, self.tables.where) as streams:
            self.engine.together(streams, search, show_progress)

    def _take(self, waiting: Iterator[Family]) -> list[Family]:
        """Return the next families of those that wait; none at the end."""
        with self._lock:
            return list(islice(waiting, MOST_FAMILIES_TOGETHER))


class UniqueSession(PartedPeople):
    """One stream: its families of one size; ``keeps``: their uniques are compared with larger."""

    def __init__(self, stream: Stream, size: int, *, keeps: bool, codes: str) -> None:
        super().__init__(stream, STATEMENTS, people=own_name(PEOPLE), codes=codes)
        self.size, self.keeps = size, keeps
        self.set(size=(size, "BIGINT"))
        self.stream.rows(creating("counted", without_rows(COUNTED)))

    def search(self, family: Family) -> None:
        """Add the minimal sample uniques of a family to the tables that all streams fill.

        ``alone`` has the records that a subset of the family singles out, and not what it shares;
        ``minimal`` those of them without a smaller minimal sample unique in the subset.
        """
        self.part(family)
        sharing = {"sharing": f"sharing_{self.size - 1}", "codes": self.codes}
        # Of one or two quasi-identifiers all are minimal, as codes of singles are left out.
        compared = self.size > 2
        alone = self.make_table("alone" if compared else "minimal", "alone_by_family", **sharing)
        self.set_lists(members=family.shared)
        if compared:
            self.make_table("minimal", "minimal_in_family", smaller=own_name("smaller"))
        if not alone:
            return
        self.add_rows(own_name("set_counts"), "family_sets")
        self.add_rows("counted", "minimal_records")
        if self.keeps and self.size == 1:
            self.add_rows(own_name("singles"), "single_records")
        elif self.keeps:
            self.add_rows(own_name("smaller"), "with_members")

    def count_records(self) -> None:
        """Add the records of the families so far to those of all streams."""
        self.add_rows(own_name("record_sizes"), "family_records")
        self.stream.rows(render(exp.delete("counted")))


def _query(file: str, **tables: str) -> exp.Query:
    home = "sweep" if file in ("in_one_block", "sharing_more") else "suda"
    return splice(f"{home}/{file}", tables=tables)


STATEMENTS = Statements(_query)
