"""The place of each step of a plan: Spark, or DuckDB on this machine.

A step runs on Spark if it has a translation with surely the same numbers (``dialect``) and reads
only such steps. DuckDB finds the types of all expressions, from tables without rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.data.expressions import identifier
from qifsql.data.types import NOTHING
from qifsql.engine import dialect, rewrites
from qifsql.engine.dialect import SESSION
from qifsql.engine.protocol import Engine
from qifsql.engine.rewrites import Unlike
from qifsql.errors import ExpressionError, InputError
from qifsql.query import render
from qifsql.query.plan import Plan, Step

FILE, INDEX = "qifsql_file", "qifsql_index"  # the place of a record: its file, and where in it
PLACED = "_placed"  # the ending of views with the places of records
SOURCE_VIEW = "qifsql_source"  # how the names of views of files begin


@dataclass(frozen=True)
class Placed:
    """The steps of a plan that Spark runs, translated, and those that are left for DuckDB.

    ``spark`` has the translated steps by their names, ``reasons`` why each other step is left.
    ``result`` is translated, too (None: DuckDB computes it); ``columns`` are the names and DuckDB's
    types of it.
    """

    plan: Plan
    spark: Mapping[str, exp.Query]
    result: exp.Query | None
    columns: Sequence[tuple[str, str]]
    reasons: Mapping[str, str]

    @property
    def local(self) -> Plan:
        """Return the plan of what DuckDB computes: the result, and the left steps that it needs."""
        names = needed_steps(self.plan) & self.reasons.keys()
        return Plan(tuple(s for s in self.plan.steps if s.name in names), self.plan.result)

    def text(self, where: str, *, pretty: bool = False) -> str:
        """Return the plan as the text of one statement of Spark.

        ExpressionError if the result, or a step that it reads, has no exact translation; ``where``
        names the data.
        """
        if self.result is None:
            reason = next(iter(self.reasons.values()))
            raise ExpressionError(
                f"{reason} has no exact form in Spark; use --engine duckdb for {where}"
            )
        needed = needed_steps(self.plan)
        query = self.result
        for step in self.plan.steps:
            if step.name in needed:
                query = query.with_(step.name, as_=self.spark[step.name], copy=False)
        return dialect.text(query, pretty=pretty)


@dataclass(frozen=True)
class Placing:
    """The placing of plans: DuckDB here for types, and the views of Spark for tables.

    ``view`` returns the view of a table, and raises Unlike if it has none; ``is_source`` returns
    whether a table is one of records.
    """

    local: Engine
    view: Callable[[exp.Table, str], str]
    is_source: Callable[[exp.Table], bool]

    def placed(self, plan: Plan, where: str, *, lasting: bool = False) -> Placed:
        """Return which steps of a plan Spark runs, and which are left for DuckDB, with reasons.

        The result of the plan counts as its last step, without a name; ``lasting``: it is computed
        once and kept. DuckDB gets a view without rows of each step, to find the types of the steps
        that read it; the views are dropped at the end.
        """
        translated: dict[str, exp.Query] = {}
        reasons: dict[str, str] = {}  # why a step is left for DuckDB
        names = {step.name for step in plan.steps}
        try:
            for step in (*plan.steps, Step("", "", plan.result)):
                columns = self.local.describe(step.query, where)
                is_kept = lasting and not step.name
                reads = {t.name for t in step.query.find_all(exp.Table) if not t.db}
                try:
                    if read_here := sorted(reads & reasons.keys()):
                        raise Unlike(f"it reads {read_here[0]}")
                    tree = self._translated(step.query, names, where, lasting=is_kept)
                    translated[step.name] = tree
                except Unlike as e:
                    reasons[step.name] = str(e)
                if step.name:
                    stub = render.viewing(step.name, no_rows(columns))
                    self.local.run(stub, "counting", where)
        finally:
            for name in names:
                view = exp.table_(identifier(name), db="main", catalog="temp")
                drop = exp.Drop(kind="VIEW", tables=[view], exists=True)
                self.local.run(render.render(drop), "counting", where)
        return Placed(plan, translated, translated.pop("", None), columns, reasons)

    def _translated(
        self, query: exp.Query, names: set[str], where: str, *, lasting: bool
    ) -> exp.Query:
        """Return a query of a plan in Spark's SQL, which reads views in place of files and tables.

        ``names`` are those of the steps. ``lasting``: its rows are computed once and kept. Raises
        Unlike if a part of it has no translation with the same numbers.
        """
        has_users_expressions = any(self.is_source(t) for t in query.find_all(exp.Table))
        copy = query.copy()
        replaced: dict[str, exp.Table] = {}
        for table in list(copy.find_all(exp.Table)):
            if table.db or table.name not in names:
                view = self.view(table, where)
                alias = table.args.get("alias") or exp.TableAlias(this=identifier(table.name))
                replaced[view] = bare_table(table)
                table.replace(_in_place_of(table, exp.table_(identifier(view)), alias))

        def describe(query_of_views: exp.Query) -> list[tuple[str, str]]:
            """Ask DuckDB, which has the files and tables, not the views of Spark."""
            query_of_files = query_of_views.copy()
            for table in list(query_of_files.find_all(exp.Table)):
                if not table.db and table.name in replaced:
                    original = replaced[table.name].copy()
                    table.replace(_in_place_of(table, original, table.args.get("alias")))
            return self.local.describe(query_of_files, where)

        for select in list(copy.find_all(exp.Select)):
            self._number_rows(select, replaced, lasting=lasting)
        return dialect.translated(copy, describe, free=has_users_expressions)

    def _number_rows(
        self, select: exp.Select, replaced: dict[str, exp.Table], *, lasting: bool
    ) -> None:
        """Add an order to windows that number rows without one: Spark would number them at random.

        A SELECT that reads one file and groups or joins nothing gets the order of the file. Others
        get an arbitrary one if the rows are computed once (``lasting``), else none: such a step
        stays in DuckDB. ``replaced`` are the files by their views; to it is added the view of a
        file with the places of its records.
        """
        windows = [w for w in select.find_all(exp.Window) if w.parent_select is select]
        unordered = [w for w in windows if rewrites.is_unordered(w)]
        source = select.args["from_"].this if unordered and select.args.get("from_") else None
        keeps_rows = not any(select.args.get(c) for c in ("joins", "group", "distinct"))
        keys: list[exp.Expr] = [exp.null()] if lasting else []
        if isinstance(source, exp.Table) and source.name in replaced and keeps_rows:
            if not source.name.startswith(SOURCE_VIEW):  # a table has no order
                return
            view = source.name + PLACED
            replaced[view] = replaced[source.name]
            source.set("this", identifier(view))
            keys = [exp.column(FILE), exp.column(INDEX)]
        for window in unordered if keys else []:
            ordered = [exp.Ordered(this=key.copy(), nulls_first=True) for key in keys]
            window.set("order", exp.Order(expressions=ordered))


def bare_table(table: exp.Table) -> exp.Table:
    """Return a table without its alias and joins."""
    bare = table.copy()
    bare.set("alias", None)
    bare.set("joins", None)
    return bare


def _in_place_of(table: exp.Table, new: exp.Table, alias: exp.Expr | None) -> exp.Table:
    """Give ``new`` an alias and the joins of ``table``; return it."""
    new.set("alias", alias)
    new.set("joins", table.args.get("joins"))
    return new


def is_function(table: exp.Table, name: str) -> bool:
    """Return whether a table is a call of a function, such as READ_PARQUET."""
    called = table.this
    if isinstance(called, exp.ReadParquet):
        return name == "READ_PARQUET"
    if isinstance(called, exp.ReadCSV):
        return name == "READ_CSV"
    return isinstance(called, exp.Anonymous) and called.name.upper() == name


def plain_path(pattern: str) -> str:
    """Return a path whose glob characters were escaped."""
    for character in "*?[":
        pattern = pattern.replace(f"[{character}]", character)
    return pattern


def needed_steps(plan: Plan) -> set[str]:
    """Return the steps that the result of a plan reads, directly or through others."""
    queries = {step.name: step.query for step in plan.steps}
    needed: set[str] = set()
    waiting: list[exp.Query] = [plan.result]
    while waiting:
        for table in waiting.pop().find_all(exp.Table):
            if not table.db and table.name in queries and table.name not in needed:
                needed.add(table.name)
                waiting.append(queries[table.name])
    return needed


def no_rows(columns: Sequence[tuple[str, str]]) -> exp.Select:
    """Return a query with these columns and no rows."""
    values = [exp.alias_(typed(exp.null(), type_), identifier(column)) for column, type_ in columns]
    return exp.select(*values).where(exp.false())


def typed(value: exp.Expr, type_: str) -> exp.Expr:
    """Return a value with a type of DuckDB, which may be that of NULL alone."""
    if type_ == NOTHING:
        return exp.null()
    if type_ == f"{NOTHING}[]" and isinstance(value, exp.Null):
        return exp.Array(expressions=[exp.null()])
    return exp.cast(value, type_.replace(NOTHING, "INTEGER"), dialect="duckdb")


def script(plan: Plan, local: Engine, where: str) -> str:
    """Return a plan as statements for Spark, which open its files and give its result.

    Raises InputError if a file is not Parquet, or if a part has no exact translation.
    """
    files: dict[str, exp.Table] = {}  # calls that read a file, by their SQL, in order

    def source_view(table: exp.Table, _where: str) -> str:
        """Return the view of a file, which the statements will make."""
        bare = bare_table(table)
        if not is_function(bare, "READ_PARQUET"):
            raise InputError(f"{where} is not Parquet; convert it to Parquet for SQL of Spark")
        files.setdefault(render.render(bare), bare)
        return f"source_{list(files).index(render.render(bare)) + 1}"

    placing = Placing(
        local, source_view, lambda table: is_function(bare_table(table), "READ_PARQUET")
    )
    text = placing.placed(plan, where).text(where, pretty=True)
    trees: list[exp.Expr] = []
    for key, value in SESSION.items():
        equal = exp.EQ(this=exp.Var(this=key), expression=exp.Var(this=value))
        trees.append(exp.Set(expressions=[exp.SetItem(this=equal)]))
    trees += [_view_of(file, f"source_{n}", where) for n, file in enumerate(files.values(), 1)]
    lines = [f"{dialect.text(tree)};" for tree in trees]
    docs = [f"-- {step.name}: {step.doc}" for step in plan.steps]
    return "\n".join([*docs, *lines, f"{text};", ""])


def _view_of(file: exp.Table, name: str, where: str) -> exp.Create:
    """Return the statement of Spark that makes a view of a call that reads one Parquet file."""
    array, *options = file.this.expressions
    if any(option.expression.this is True for option in options) or len(array.expressions) > 1:
        raise InputError(f"{where} is several files; write them into one file")
    path = identifier(plain_path(array.expressions[0].name))
    rows = exp.select("*").from_(exp.Table(this=path, db=exp.to_identifier("parquet")))
    create = exp.Create(this=exp.to_table(name), kind="VIEW", replace=True, expression=rows)
    create.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
    return create
