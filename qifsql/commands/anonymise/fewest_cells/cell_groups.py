"""Groups of equal cells for the classes that are too small, formed in the engine.

In each round every class without a place picks the group that costs the fewest cells for each of
its records, if all classes that fit it join. A group is formed once all of these have picked it, or
enough of them. Then it lacks no record, or one class lends what it lacks: one that is large enough
to keep k records. A group that is formed takes more classes, and these lend it nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from qifsql.commands.anonymise.fewest_cells.mask_programs import Group, Placements, Problem
from qifsql.commands.anonymise.one_per.draw import Records, lot_steps
from qifsql.commands.anonymise.recode import Recoding
from qifsql.counting.scales import own_name, own_table
from qifsql.data.readers import LOADED
from qifsql.errors import InputError, InternalError
from qifsql.query import render
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice

MOST_PAIRS = 2**27  # of a class and a mask
TABLES = (
    *("coded", "done", "kinds", "cell_groups", "choices", "lenders"),
    *("placements", "loans", "unplaced", "offers", "picks", "grants", "shares", "lines"),
    "drawn_records",
)
BACKUPS = {"placements": "placements_before", "loans": "loans_before"}
COLUMNS = ("part", "number_of_group", "people")
"""Of ``placements`` and ``loans``: a class, a group, and the records that are placed or lent."""
EVERYBODY = 2**62  # more records than any class has


@dataclass(frozen=True)
class Placing:
    """The placing of classes in groups, as tables of the engine.

    ``columns`` are the numbers of the quasi-identifiers whose cells may be suppressed. A mask is a
    set of these whose cells are suppressed together. With ``everybody``, all classes are placed, as
    they are if they are large enough; else those of fewer than k records, and others lend.
    """

    recoding: Recoding
    columns: Collection[int]
    everybody: bool = False

    def make_groups(self) -> int:
        """Make the tables of classes and of the groups of equal cells that they may be placed in.

        A class (``kinds``) has the records with the same values; it fits a group of ``cell_groups``
        that has these, with some cells suppressed. ``lenders`` are classes that can lend a group
        records, ``choices`` pairs of a class to place and a group that it fits, whose number is
        returned.
        """
        kinds = self._replace("kinds", "kinds")
        if kinds << len(self.columns) > MOST_PAIRS:
            raise InputError(
                f"{kinds:,} combinations with {len(self.recoding.qids)} quasi-identifiers have too "
                f"many sets of cells to suppress (2^{len(self.columns)} each, {MOST_PAIRS:,} in "
                "all): coarsen some (--change), or name fewer"
            )
        # The sets of cells to suppress together, and what a class shows if those of a set are.
        steps = (self._step("masks"), self._step("guises"))
        self._replace("cell_groups", "cell_groups", *steps)
        self._replace("lenders", "lenders", *steps)
        return self._replace("choices", "choices", *steps)

    def place(self) -> int:
        """Place the classes; return how many have found no group, and so show nothing.

        These are placed in the group whose cells are all suppressed, which may lack records. The
        tables ``placements`` and ``loans`` are made. In a round, ``offers`` has what a record would
        pay in each group, ``picks`` the cheapest group of each class, ``grants`` the groups that
        are formed now, with the records that they borrow from the class with the most to spare.
        """
        passes = self.recoding.passes
        passes.keep_empty("placements", COLUMNS)
        passes.keep_empty("loans", COLUMNS)
        remaining, before = self._replace("unplaced", "all_unplaced"), -1
        while remaining and remaining != before:
            self._replace("offers", "offers", self._step("best_lenders"))
            self._replace("picks", "picks")
            self._replace("grants", "grants", self._step("needs"), self._step("best_lenders"))
            passes.append("placements", self._query("new_placements"))
            passes.append("loans", self._query("new_loans"))
            before, remaining = remaining, self._replace("unplaced", "still_unplaced")
            passes.look(passes.people("unplaced"))  # report progress
        self._replace("loans", "necessary_loans")
        passes.append("placements", self._query("hidden_placements"))
        return remaining

    def replace_placements(self, placements: Placements) -> set[int]:
        """Place classes as given, and lend groups the records that they lack.

        Return the numbers of groups that then still lack records. ``restore_placements`` undoes it.
        """
        passes = self.recoding.passes
        for name, backup in BACKUPS.items():
            passes.replace(backup, exp.select("*").from_(own_table(name)))
        rows = [(c, g, people) for (c, g), people in sorted(placements.items())]  # class, group
        columns = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)]
        with passes.stream.reading("given", pa.table(columns, names=list(COLUMNS))):
            plan = Plan((), exp.select("*").from_("given"))
            passes.stream.rows(render.keeping(plan, "placements", LOADED, again=True))
        passes.drop("loans")
        passes.keep_empty("loans", COLUMNS)
        # ``needs``: groups that still lack records; each statement grants what lenders can spare.
        needs = self._step("needs_of_placements", "needs")
        while self._replace("grants", "grants", needs, self._step("best_lenders")):
            passes.append("loans", self._query("new_loans"))
        lacking = Plan((needs,), exp.select("number_of_group").from_("needs"))
        return {number for (number,) in passes.stream.rows(render.statement(lacking))}

    def restore_placements(self) -> None:
        """Make placements and loans what they were before the last ``replace_placements``."""
        for name, backup in BACKUPS.items():
            self.recoding.passes.replace(name, exp.select("*").from_(own_table(backup)))

    def share(self) -> int:
        """Make the table ``shares`` of the placements; return how many cells are suppressed.

        It has a row per class and set of cells that some of its records show, with their number.
        Records whose cells are all suppressed are one group, too: if they are fewer than k, those
        of one more group are suppressed whole.
        """
        k = self.recoding.limits.k
        for view in ("shares", "shares_with_one_hidden"):
            self._replace("shares", view)
            cells, smallest = self.recoding.passes.row(self._query("cost_of_shares"))
            if smallest >= k:
                return cells
        raise InternalError("a group of equal cells is too small; please report this")

    def bound(self) -> int:
        """Return a lower bound on the suppressed cells of any release, in ``UNIT``."""
        return int(self.recoding.passes.row(self._query("least_cells"))[0])

    def read_problem(self) -> Problem:
        """Return the classes ``c`` that are placed (table ``kinds``), and their groups ``g``."""
        members: dict[int, list[int]] = {}  # the classes that fit a group
        for g, c in self._rows("choices", "number_of_group", "part"):
            members.setdefault(g, []).append(c)
        rows = self._rows("cell_groups", "number_of_group", "cells", "people", "spare")
        groups = {
            g: Group(cells=cells, people=people, spare=spare, classes=members[g])
            for g, cells, people, spare in rows
        }
        kinds = self._rows("kinds", "part", "people", "placed")
        sizes = {c: people for c, people, placed in kinds if placed}
        return Problem(sizes, groups, self.recoding.limits.k)

    def read_placements(self) -> Placements:
        """Return how many records of a class are placed in a group."""
        return {(part, number): n for part, number, n in self._rows("placements", *COLUMNS)}

    def count_pairs(self) -> int:
        """Return how many pairs of a class, of any size, and a set of its cells there are."""
        (kinds,) = self.recoding.passes.row(exp.select("count(*)").from_(own_table("kinds")))
        return int(kinds) << len(self.columns)

    def release(self, records: Records, seed: int) -> None:
        """Make the tables that a release is written from, and drop those of the placing.

        ``done`` has the classes of the release, ``refused`` those whose cells are all suppressed,
        ``membership`` the class of each record. ``shares`` says how many records of a class show
        which cells. If not all show the same, lots by ``seed`` decide which of the ``records`` do.
        """
        passes = self.recoding.passes
        self._replace("lines", "lines")
        self._replace("drawn_records", "drawn_records", *lot_steps(records, seed))
        self._replace("done", "done_of_shares")
        self._replace("refused", "shows_nothing")
        self._replace("membership", "membership_of_shares")
        passes.drop(*(name for name in TABLES if name not in ("coded", "done")), *BACKUPS.values())

    def _rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Return columns of a table, in their order."""
        query = exp.select(*columns).from_(own_table(table)).order_by(*columns)
        return self.recoding.passes.stream.rows(render.statement(Plan((), query)))

    def _replace(self, name: str, view: str, *steps: Step) -> int:
        """Make a table, or replace it, by a view of tables and ``steps``; return how many rows."""
        return self.recoding.passes.replace(name, Plan(steps, self._query(view)))

    def _step(self, view: str, name: str = "") -> Step:
        return make_step(f"anonymise/{view}", name, **self._filling())

    def _query(self, view: str) -> exp.Select:
        return splice(f"anonymise/{view}", **self._filling())

    def _filling(self) -> dict[str, Any]:
        """Return what replaces the placeholders of every view of the placing.

        A mask is a number with a bit for each quasi-identifier, which is 1 if it is suppressed.
        Classes of less than ``wanted_least`` records are placed; masks begin at ``wanted_first``:
        0, no cell, only if large classes are placed, too.
        """
        qids = self.recoding.qids
        numbers = {
            "wanted_k": self.recoding.limits.k,
            "wanted_least": EVERYBODY if self.everybody else self.recoding.limits.k,
            "wanted_first": 0 if self.everybody else 1,
            "wanted_masks": 1 << len(qids),
            "fixed_bits": sum(1 << (i - 1) for i in qids if i not in self.columns),
        }
        return {"places": qids, "numbers": numbers, "tables": {t: own_name(t) for t in TABLES}}
