"""Tables in the engine, computed one from another by the files of ``sql/``."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from qifsql.data.readers import LOADED
from qifsql.engine.protocol import Engine
from qifsql.query import render
from qifsql.query.plan import Plan, as_plan


@dataclass
class Tables:
    """The tables of one engine; ``statements`` are those that created and dropped them.

    For progress and errors, ``what`` names the current work and ``where`` names its data. Three
    classes have other tables: ``Counts``, whose tables are computed once and may stay in a file,
    and ``Passes`` and the sweep's ``Worker``, each of which uses one connection.
    """

    engine: Engine
    what: str
    where: str
    statements: list[str] = field(default_factory=list)

    def make(self, name: str, query: exp.Query | Plan, what: str = "") -> None:
        """Create a table of the rows of a query or plan."""
        plan = as_plan(query)
        statement = self.engine.keep(name, plan, what or self.what, self.where, catalog=LOADED)
        self.statements += [*plan.setup, statement]

    def repeatable(self, name: str, query: exp.Query | Plan, what: str = "") -> Callable[[], None]:
        """Return a function that replaces a table by the rows of a query, which may read it."""
        statement = render.keeping(as_plan(query), name, LOADED, again=True)
        self.statements.append(statement)
        return lambda: self.engine.run(statement, what or self.what, self.where)

    def rows(self, query: exp.Query | Plan, what: str = "") -> list[tuple[Any, ...]]:
        """Return the rows of a query or plan, which are few and not part of the answer."""
        return self.engine.rows(as_plan(query), what or self.what, self.where)

    def answer(self, query: exp.Query | Plan, what: str = "") -> list[tuple[Any, ...]]:
        """Return the rows of a query or plan that are part of the answer; record its statement."""
        self.statements.append(render.statement(as_plan(query), pretty=True))
        return self.rows(query, what)

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""
        return int(self.rows(exp.select("count(*)").from_(name))[0][0])

    def drop(self, *names: str) -> None:
        """Drop tables that are no longer needed."""
        for name in names:
            self.engine.drop(name, LOADED)
            self.statements.append(render.dropping(f"{LOADED}.main.{name}"))

    def doing(self, what: str, where: str | None = None) -> "Tables":
        """Return the same tables under another ``what`` and ``where``."""
        return Tables(self.engine, what, where or self.where, self.statements)
