"""Count how people with missing values fit together, for bounds over all completions.

A quasi-identifier that is missing may have any value, also one that occurs nowhere. The people are
reduced to patterns, the combinations of their values that are present, and each incomplete pattern
is compared with all others: once for each set of columns that are present together, never pair by
pair. ``qifsql.measures.completions`` has the bounds. The tables do not depend on what asks for
them, so other commands can bound their numbers with the same counts.
"""

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.counting.counts import Counts as AttackCounts
from qifsql.data.types import generalised
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, quoted
from qifsql.measures.completions import Counts, SecretEnds
from qifsql.query.columns import number
from qifsql.query.plan import Plan, Step
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice
from qifsql.query.steps import Steps

MOST_QIDS = 62  # one bit each
MOST_PAIRS = 50_000_000  # of an incomplete pattern and a set of columns
STEPS_OF_VIEW = {  # views that are steps of one that reads them, as they are needed nowhere else
    "mates": ("shadows",),
    "fits": ("complete_cuts",),
    "key_counts": ("extensions", "key_modes", "fitting"),
    "broken": ("breakable",),
}
READ_TWICE = ("shadows", "breakable")  # views that another one reads twice
TABLES = ("patterns", "pattern_secrets", "masks", "mates", "cuts", "keys", "fits", "key_counts")


def check(bound: BoundAttack) -> None:
    """Refuse attacks whose bounds over all completions are not defined."""
    microdata = bound.microdata
    if microdata.datasets > 1:
        raise InputError(
            "null match-any is about one release; of a collection, attack one dataset alone"
        )
    if len(microdata.qids) > MOST_QIDS:
        raise InputError(f"null match-any takes at most {MOST_QIDS} quasi-identifiers; name fewer")
    if cells := [quoted(q.name) for q in microdata.qids if generalised(q.type)]:
        raise InputError(
            f"null match-any is about plain values, and cells of {', '.join(cells)} are "
            "generalised; leave these columns out"
        )


def count(
    counts: AttackCounts, secret: int, tables: Tables, *, complete_secrets: bool = False
) -> Counts:
    """Return the counts for the bounds of one secret; 0 is the owner of the record.

    ``complete_secrets``: a missing secret may be anything, too; else it is a value.
    """
    return _SecretTables(counts, secret, tables, complete_secrets and secret > 0).numbers()


@dataclass(frozen=True)
class _SecretTables:
    """The tables of one secret, by its number (0: the owner of the record).

    ``complete_secrets``: a missing secret may be any value.
    """

    counts: AttackCounts
    secret: int
    tables: Tables
    complete_secrets: bool

    @property
    def width(self) -> int:
        """Return the number of quasi-identifiers."""
        return len(self.counts.bound.microdata.qids)

    def numbers(self) -> Counts:
        """Return the counts, read from tables of ``sql/match_any.sql``, which are dropped again.

        A pattern is a combination of present values; its mask has a bit for each present column. A
        key is a pattern without the columns that an incomplete pattern misses: patterns with the
        same key may be in one block. Mates are incomplete patterns that may share a block with
        another incomplete one.
        """
        ends = None  # what bounds need of missing secrets; None: a missing secret is a value
        if self.complete_secrets:
            self.tables.make("secret_cells", self._people_by_pattern())
            ends = SecretEnds(**self._row("secret_ends"), **self._row("secret_totals"))
            # Each person who misses the secret gets one of her own, of which no guess is right.
            self.tables.make("pattern_cells", self._view("own_secrets"))
            self.tables.drop("secret_cells")
        else:
            self.tables.make("pattern_cells", self._people_by_pattern())
        for name in ("patterns", "pattern_secrets", "masks"):
            self.tables.make(name, self._view(name))
        self.tables.drop("pattern_cells")
        self.tables.make("mates", self._patterns_with_mates())
        # Incomplete patterns by key, how many have it, the complete patterns with it, and what is
        # counted of these.
        for name in ("cuts", "keys", "fits", "key_counts"):
            self.tables.make(name, self._view(name))
        counts: dict[str, Any] = {}
        for name in ("totals", "joined", "level", "broken", "secrets"):  # views of one row
            counts |= self._row(name)
        rows = self.tables.answer(self._view("mask_counts"))
        self.tables.drop(*TABLES)
        masks = {mask: tuple(map(int, numbers)) for mask, *numbers in rows}
        return Counts(**counts, masks=masks, ends=ends)

    def _people_by_pattern(self) -> Plan:
        """Return the plan that counts people by present values (a pattern) and secret.

        It reads the table of cells or blocks that the attack has counted, if that was kept.
        """
        bound = self.counts.bound
        steps = Steps(bound, catalogs=self.counts.catalogs, values=self.counts.values)
        table = steps.need("cells", self.secret) if self.secret else steps.need("blocks", 0)
        shape: dict[str, Shape] = {
            "qids": range(1, self.width + 1),
            "secret": self.secret,
            "open": self.complete_secrets,
        }
        people = splice("match_any/people_by_pattern", shape=shape, tables={"cells": table})
        return steps.plan(people)

    def _patterns_with_mates(self) -> Plan:
        """Return the plan of the incomplete patterns that may share a block with another such one.

        A pattern is a combination of present values; in an incomplete one, some are missing. Its
        number is the column ``pattern``. If there are too many pairs to compare, all incomplete
        patterns are returned: bounds stay valid and are less tight.
        """
        is_incomplete = exp.LT(this=exp.column("mask"), expression=number(self._full_mask))
        patterns = exp.select("pattern").from_("patterns").where(is_incomplete)
        counted = exp.select("count(*)").from_(patterns.subquery("incomplete"))
        incomplete = int(self.tables.rows(counted)[0][0])
        if incomplete * self.tables.count("masks") > MOST_PAIRS:
            return Plan((), patterns)
        return self._view("mates")

    @property
    def _full_mask(self) -> int:
        """Return the mask of a complete pattern: a bit for every quasi-identifier."""
        return (1 << self.width) - 1

    def _view(self, name: str) -> Plan:
        """Return the plan of a view; the views that it reads and that are no tables are steps."""
        steps = [Step(n, n, self._query(n), n in READ_TWICE) for n in STEPS_OF_VIEW.get(name, ())]
        return Plan(tuple(steps), self._query(name))

    def _query(self, name: str) -> exp.Select:
        """Return a query of ``sql/match_any``, for the width of these counts."""
        places = range(1, self.width + 1)
        return splice(f"match_any/{name}", places=places, numbers={"full_mask": self._full_mask})

    def _row(self, name: str) -> dict[str, Any]:
        """Return the one row of a view, by the names of its columns."""
        view = self._view(name)
        row = self.tables.answer(view)[0]
        return dict(zip(view.result.named_selects, row, strict=True))
