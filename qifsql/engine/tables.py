"""Tables of the engine's own, made one from another by the files of ``sql/``."""

from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from qifsql.data.relation import LOADED
from qifsql.engine.protocol import Engine
from qifsql.query import render
from qifsql.query.plan import Plan


@dataclass
class Tables:
    """What makes and drops tables of one engine; ``statements`` are the statements that made them.

    ``what`` and ``where`` say what is being done, for progress and errors.
    """

    engine: Engine
    what: str
    where: str
    statements: list[str] = field(default_factory=list)

    def make(self, name: str, query: exp.Query) -> None:
        """Make a table of the rows of a query."""
        plan = Plan((), query)
        self.engine.keep(name, plan, self.what, self.where, catalog=LOADED)
        self.statements.append(render.keeping(plan, name, LOADED))

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """The rows of a query, which are few."""
        return self.engine.rows(Plan((), query), self.what, self.where)

    def count(self, name: str) -> int:
        """How many rows a table has."""
        return int(self.rows(exp.select("count(*)").from_(name))[0][0])

    def drop(self, *names: str) -> None:
        """Drop tables that are not needed any longer."""
        for name in names:
            self.engine.drop(name, LOADED)

    def doing(self, what: str, where: str | None = None) -> "Tables":
        """The same where something else is being done."""
        return Tables(self.engine, what, where or self.where, self.statements)
