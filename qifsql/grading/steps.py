"""The steps of ``sql/levels`` about one secret, made when they are needed, and kept as tables.

A file says by its FROM clauses what it reads: a table that is kept, a step that is made for the
question (bounds, what is sought), or another file. Steps are numbered like those of attacks.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qifsql.counts import Counts
from qifsql.microdata import plan
from qifsql.plan import Plan, Step
from qifsql.splice import splice
from qifsql.templates import load


class Steps:
    """The steps of one plan; ``need`` has one of them and all that it reads."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.steps: list[Step] = []

    def need(
        self,
        name: str,
        secret: int,
        width: int,
        *,
        given: Mapping[str, exp.Query] | None = None,
        instead: Mapping[str, str] | None = None,
        suffix: str = "",
    ) -> str:
        """The name of a step about a secret whose blocks are told apart by ``width`` columns.

        ``given`` are the queries of steps that no file makes, ``instead`` the files that stand for
        a name. Where these differ, so must ``suffix``.
        """
        given, instead = given or {}, instead or {}
        own = name in given or name in instead or _reads(name, {*given, *instead}, instead)
        file = instead.get(name, name)
        actual = f"{file}_{secret}" + (f"_{suffix}" if own and suffix else "")
        if any(step.name == actual for step in self.steps):
            return actual
        if f"{file}_{secret}" in self.counts.kept:
            query = _table(f"{file}_{secret}", self.counts.kept[f"{file}_{secret}"])
            return self._push(Step(f"{file}_{secret}", "Counted before.", query))
        if name in self.counts.kept:
            return self._push(Step(name, "Counted before.", _table(name, self.counts.kept[name])))
        if name in given:
            return self._push(Step(actual, "One row: what is asked.", given[name]))
        template = load(f"levels/{file}")
        names = {
            table.name: self.need(
                table.name, secret, width, given=given, instead=instead, suffix=suffix
            )
            for table in template.query.find_all(exp.Table)
        }
        query = splice(template, width=width, secret=secret, names=names)
        return self._push(Step(actual, template.doc, query))

    def plan(self, result: exp.Query) -> Plan:
        """The steps so far and the query that reads them."""
        return plan(self.counts.bound, self.steps, result)

    def _push(self, step: Step) -> str:
        if all(s.name != step.name for s in self.steps):
            self.steps.append(step)
        return step.name


def _reads(name: str, wanted: set[str], instead: Mapping[str, str]) -> bool:
    """Whether a file reads any of these, itself or by way of others of ``PER_MEASURE``."""
    if name not in PER_MEASURE:
        return False
    tables = {t.name for t in load(f"levels/{instead.get(name, name)}").query.find_all(exp.Table)}
    return bool(tables & wanted) or any(_reads(t, wanted, instead) for t in tables)


PER_MEASURE = (
    "near", "worst", "worst_block", "worst_counts", "worst_entropy", "near_entropy",
    "close_entropy", "clearly",
)  # fmt: skip
"""Steps of which each measure has its own."""


def row(**values: exp.Expr) -> exp.Select:
    """A query of one row."""
    return exp.select(*(exp.alias_(value, name) for name, value in values.items()))


def number(value: int, kind: str) -> exp.Expr:
    """A whole number of a type."""
    return exp.cast(exp.Literal.string(str(value)), kind)


def double(value: float) -> exp.Expr:
    """A floating number, infinite or not, with all its digits."""
    return exp.cast(exp.Literal.string(repr(value)), "DOUBLE")


def rows(columns: Sequence[str], values: Sequence[Sequence[exp.Expr]]) -> exp.Select:
    """A query of rows that are listed."""
    listed = exp.values([tuple(v) for v in values], alias="listed", columns=list(columns))
    return exp.select(*(exp.column(c, "listed") for c in columns)).from_(listed)


def _table(name: str, catalog: str) -> exp.Select:
    return exp.select("*").from_(exp.table_(name, db="main", catalog=catalog))
