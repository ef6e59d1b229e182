"""The steps of ``sql/levels`` about one secret, built when they are needed, and kept as tables.

The FROM clauses of a file name the tables that it reads: a kept table, a row of inputs (``bounds``,
``sought``), whose values replace its columns, or another file. Names end in the secret's number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlglot import exp

from qifsql.counting.counts import Counts
from qifsql.query.microdata_steps import plan
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import Parameters, splice
from qifsql.query.templates import load

Inputs = Mapping[str, Parameters | exp.Query]


@dataclass(frozen=True)
class Tables:
    """The counts of an attack, and the tables of levels.

    ``known_rows``: by the number of a secret, the rows of inputs that all steps about it may read:
    ``whole`` is about everybody (the view ``levels/whole``), ``hierarchy_height`` of its hierarchy.
    """

    counts: Counts
    known_rows: dict[int, dict[str, Parameters]] = field(default_factory=dict)

    def is_by_kind(self, j: int) -> bool:
        """Return whether blocks with the same counts of secret ``j`` are one kind of blocks.

        So it is with secrets of few values. A block is then known by the number of its kind alone,
        and otherwise by its quasi-identifiers.
        """
        return j in self.counts.values

    def keep(self, name: str, j: int, inputs: Inputs | None = None) -> None:
        """Keep a step of ``sql/levels`` about secret ``j`` as a table, for later steps."""
        steps = Steps(self)
        table = steps.need(name, j, inputs=inputs)
        last = steps.steps.pop()  # the step itself: the others are what it reads
        self.counts.keep_rows(table, steps.plan(last.query))

    def rows(self, step_plan: Plan, what: str = "measuring") -> list[tuple[Any, ...]]:
        """Return the rows of a plan as plain values."""
        self.counts.plans.append(step_plan)
        return self.counts.engine.rows(step_plan, what, self.counts.where)

    def dicts(self, name: str, j: int, inputs: Inputs | None = None) -> list[Any]:
        """Return the rows of a step by column."""
        steps = Steps(self)
        step_plan = steps.plan(exp.select("*").from_(steps.need(name, j, inputs=inputs)))
        self.counts.plans.append(step_plan)
        return self.counts.engine.frame(step_plan, "measuring", self.counts.where).to_dicts()


class Steps:
    """The steps of one plan; ``need`` adds a step and all steps that it reads."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.steps: list[Step] = []

    def need(
        self,
        name: str,
        secret: int,
        *,
        inputs: Inputs | None = None,
        instead: Mapping[str, str] | None = None,
        suffix: str = "",
        about_population: bool = False,
    ) -> str:
        """Add the step ``sql/levels/NAME`` about a secret (0: none) and all steps that it reads.

        Return its name; of a step that is kept, that of its table. ``inputs`` are the rows and
        queries that no file defines; ``instead`` maps a name to the file that replaces it. If one
        differs within a plan, so must ``suffix``. Without a secret a block is known by its size,
        unless the step is ``about_population``: then by its quasi-identifiers.
        """
        inputs, instead = inputs or {}, instead or {}
        file = instead.get(name, name)
        if table := self._read_kept(file, secret):
            return table
        step_name = f"{file}_{secret}" + (f"_{suffix}" if suffix else "")
        query = inputs.get(name)
        if isinstance(query, exp.Query):
            return self._push(Step(step_name, "What is asked.", query))
        input_rows = {n: row for n, row in inputs.items() if not isinstance(row, exp.Query)}
        rows = self.tables.known_rows.get(secret, {}) | input_rows
        template = load(f"levels/{file}")
        # The tables that the view reads become steps before it; values stand for tables of one row.
        need = partial(
            self.need,
            secret=secret,
            inputs=inputs,
            instead=instead,
            suffix=suffix,
            about_population=about_population,
        )
        names = {table: need(table) for table in template.tables if table not in rows}
        by_qids = not self.tables.is_by_kind(secret) if secret else about_population
        width = self.tables.counts.bound.microdata.width if by_qids else 1  # columns of a block
        spliced = splice(template, width=width, secret=secret, tables=names, rows=rows)
        return self._push(Step(step_name, template.doc, spliced))

    def _read_kept(self, file: str, secret: int) -> str | None:
        """Add a step that reads a table kept for a secret, or for all; return its name, if any."""
        catalogs = self.tables.counts.catalogs  # of the tables that are kept, by name
        for table in (f"{file}_{secret}", file):
            if table in catalogs:
                rows = exp.select("*").from_(exp.table_(table, db="main", catalog=catalogs[table]))
                return self._push(Step(table, "Counted before.", rows))
        return None

    def plan(self, result: exp.Query) -> Plan:
        """Return the plan of the steps so far and of a query that reads them."""
        return plan(self.tables.counts.bound.microdata, self.steps, result)

    def _push(self, step: Step) -> str:
        """Add a step unless there is one of its name; return the name."""
        if all(s.name != step.name for s in self.steps):
            self.steps.append(step)
        return step.name
