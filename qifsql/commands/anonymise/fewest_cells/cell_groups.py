"""Groups of equal cells for the classes that are too small, formed in the engine.

In each round every class without a place picks the group that costs the fewest cells for each of
its records, if all classes that fit it join. A group is formed once all of these have picked it, or
enough of them. Then it lacks no record, or one class lends what it lacks: one that is large enough
to keep k records. A group that is formed takes more classes, and these lend it nothing.

No table of Python grows with the records: all is done on classes, in ``sql/``.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from qifsql.commands.anonymise.fewest_cells.mask_programs import Group, Placements, Problem
from qifsql.commands.anonymise.one_per.draw import Records, number_records
from qifsql.commands.anonymise.recode import Recoding
from qifsql.counting.scales import own_name, own_table
from qifsql.data.readers import LOADED
from qifsql.errors import InputError, InternalError
from qifsql.query import render
from qifsql.query.plan import Plan, Select, Step
from qifsql.query.splice import Numbers, make_step, splice

MOST = 2**27  # pairs of a class and a mask
TABLES = (
    *("coded", "done", "kinds", "cell_groups", "choices", "lenders"),
    *("placements", "loans", "unplaced", "offers", "picks", "grants", "shares", "lines"),
    "drawn_records",
)
GROUP = "number_of_group"
COLUMNS = ("part", GROUP, "people")
EVERYBODY = 2**62  # more records than any class has


@dataclass(frozen=True)
class Placing:
    """The placing of classes in groups, as tables of the engine.

    ``columns`` are the numbers of the quasi-identifiers whose cells may be suppressed. A mask is a
    set of these whose cells are suppressed together.
    """

    recoding: Recoding
    columns: Collection[int]

    @property
    def k(self) -> int:
        """Return the least size of a group."""
        return self.recoding.limits.k

    def make_groups(self, *, everybody: bool = False) -> int:
        """Make the tables of classes, of the groups that they fit, and of who can lend.

        Without ``everybody``, classes of fewer than k records are to be placed, and others lend.
        Else all classes are placed, as they are if they are large enough. Return how many pairs of
        a class and a group there are.
        """
        numbers = {
            "wanted_least": EVERYBODY if everybody else self.k,
            "wanted_first": 0 if everybody else 1,
        }
        kinds = self._replace("kinds", "kinds", numbers=numbers)
        width = len(self.recoding.qids)
        if kinds << len(self.columns) > MOST:
            raise InputError(
                f"{kinds:,} combinations with {width} quasi-identifiers have too many sets of "
                f"cells to suppress (2^{len(self.columns)} each, {MOST:,} in all): coarsen some "
                "(--change), or name fewer"
            )
        steps = [self._step("masks", numbers), self._step("guises", numbers)]
        self._replace("cell_groups", "cell_groups", steps)
        self._replace("lenders", "lenders", steps)
        return self._replace("choices", "choices", steps)

    def place(self) -> int:
        """Place the classes that have to be; return how many have found no group."""
        passes = self.recoding.passes
        passes.keep_empty("placements", COLUMNS)
        passes.keep_empty("loans", COLUMNS)
        remaining, before = self._replace("unplaced", "all_unplaced"), -1
        while remaining and remaining != before:
            self._replace("offers", "offers", [self._step("best_lenders")])
            self._replace("picks", "picks")
            steps = [self._step("needs"), self._step("best_lenders")]
            self._replace("grants", "grants", steps)
            passes.append("placements", self._query("new_placements"))
            passes.append("loans", self._query("new_loans"))
            before, remaining = remaining, self._replace("unplaced", "still_unplaced")
            passes.look(passes.people("unplaced"))  # report progress
        self._replace("loans", "necessary_loans")
        return remaining

    def replace_placements(self, placements: Placements) -> set[int]:
        """Place classes as given, and lend groups the records that they lack.

        Return the groups that nobody can lend what they lack; if there are any, all is as before.
        """
        passes = self.recoding.passes
        self._copy("placements", "placements_before")
        self._copy("loans", "loans_before")
        self._write_placements(placements)
        self._forget_loans()
        needs = self._step("needs_of_placements", name="needs")
        granted = 1
        while granted:
            granted = self._replace("grants", "grants", [needs, self._step("best_lenders")])
            passes.append("loans", self._query("new_loans"))
        query = render.statement(Plan((needs,), exp.select(GROUP).from_("needs")))
        lacking = {number for (number,) in passes.stream.rows(query)}
        if lacking:
            self._copy("placements_before", "placements")
            self._copy("loans_before", "loans")
        passes.drop("placements_before", "loans_before")
        return lacking

    def place_everybody(self, placements: Placements) -> None:
        """Place all classes as given; nobody lends."""
        self._write_placements(placements)
        self._forget_loans()
        self._replace("unplaced", "still_unplaced")

    def share(self) -> int:
        """Make the table ``shares``: the cells that the records of a class show; return their cost.

        Classes without a group show nothing; where these are too few, one more group does.
        """
        passes = self.recoding.passes
        self._replace("shares", "shares")
        cells, smallest = passes.row(self._query("cost_of_shares"))
        if smallest < self.k:
            self._replace("shares", "shares_with_one_hidden")
            cells, smallest = passes.row(self._query("cost_of_shares"))
        if smallest < self.k:
            raise InternalError("a group of equal cells is too small; please report this")
        return cells

    def bound(self) -> int:
        """Return a lower bound on the suppressed cells of any release, in ``UNIT``."""
        return int(self.recoding.passes.row(self._query("least_cells"))[0])

    def read_problem(self) -> Problem:
        """Return the classes that are placed, and their groups."""
        sizes = dict(self._rows("kinds", "part", "people", where="placed"))
        members: dict[int, list[int]] = {}
        for number, part in self._rows("choices", GROUP, "part"):
            members.setdefault(number, []).append(part)
        rows = self._rows("cell_groups", GROUP, "cells", "people", "spare")
        groups = {
            number: Group(cells, people, spare, members[number])
            for number, cells, people, spare in rows
        }
        return Problem(sizes, groups, self.k)

    def read_placements(self) -> Placements:
        """Return how many records of a class are placed in a group."""
        return {(part, number): n for part, number, n in self._rows("placements", *COLUMNS)}

    def count_pairs(self) -> int:
        """Return how many pairs of a class, of any size, and a set of its cells there are."""
        (kinds,) = self.recoding.passes.row(exp.select("count(*)").from_(own_table("kinds")))
        return int(kinds) << len(self.columns)

    def release(self, records: Records, seed: int) -> None:
        """Make ``done``, ``refused`` and ``membership`` of the release from ``shares``.

        Where not all ``records`` of a class show the same cells, lots by ``seed`` decide.
        """
        passes = self.recoding.passes
        self._replace("lines", "lines")
        numbered = Step("numbered", "One row per record, by its position.", number_records(records))
        texts = make_step(
            "anonymise/told",
            numbers={"wanted_seed": seed},
            shape={"columns": len(records.columns)},
        )
        passes.replace("drawn_records", Plan((numbered, texts), self._query("drawn_records")))
        self._replace("done", "done_of_shares")
        passes.drop("refused")
        passes.keep("refused", self._query("shows_nothing"))
        passes.keep("membership", self._query("membership_of_shares"))
        passes.drop(*(name for name in TABLES if name not in ("coded", "done")))

    def _write_placements(self, placements: Placements) -> None:
        """Make the table of placements from those in memory, which are few."""
        rows = [(part, number, people) for (part, number), people in sorted(placements.items())]
        columns = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)]
        stream = self.recoding.passes.stream
        with stream.reading("given_placements", pa.table(columns, names=list(COLUMNS))):
            query = exp.select("*").from_("given_placements")
            stream.rows(render.keeping(Plan((), query), "placements", LOADED, again=True))

    def _forget_loans(self) -> None:
        self.recoding.passes.drop("loans")
        self.recoding.passes.keep_empty("loans", COLUMNS)

    def _copy(self, source: str, name: str) -> None:
        """Make a table, or replace it, by another one."""
        self.recoding.passes.replace(name, exp.select("*").from_(own_table(source)))

    def _rows(self, table: str, *columns: str, where: str | None = None) -> list[tuple[Any, ...]]:
        """Return columns of a table, in their order."""
        query = exp.select(*columns).from_(own_table(table)).order_by(*columns)
        query = query if where is None else query.where(where)
        return self.recoding.passes.stream.rows(render.statement(Plan((), query)))

    def _replace(
        self, name: str, view: str, steps: Sequence[Step] = (), numbers: Numbers | None = None
    ) -> int:
        """Make a table, or replace it, by a view that reads tables and ``steps``."""
        plan = Plan(tuple(steps), self._query(view, numbers))
        return self.recoding.passes.replace(name, plan)

    def _step(self, view: str, numbers: Numbers | None = None, name: str = "") -> Step:
        """Return a view as a step of a plan."""
        return make_step(f"anonymise/{view}", name, **self._filling(numbers))

    def _query(self, view: str, numbers: Numbers | None = None) -> Select:
        return splice(f"anonymise/{view}", **self._filling(numbers))

    def _filling(self, numbers: Numbers | None) -> dict[str, Any]:
        """Return what replaces the placeholders of a view."""
        width = len(self.recoding.qids)
        fixed = sum(1 << (i - 1) for i in self.recoding.qids if i not in self.columns)
        usual = {"wanted_k": self.k, "fixed_bits": fixed, "wanted_masks": 1 << width}
        return {
            "places": self.recoding.qids,
            "numbers": usual | dict(numbers or {}),
            "tables": {name: own_name(name) for name in TABLES},
        }
