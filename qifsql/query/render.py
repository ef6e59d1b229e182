"""Plans and trees as SQL text of DuckDB."""

from collections.abc import Collection, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel
from sqlglot.generators.duckdb import DuckDBGenerator

from qifsql.adversary.spec import Attribute
from qifsql.data.expressions import copy_tree
from qifsql.errors import NOT_UTF8, InputError
from qifsql.query.plan import Plan, Step

DUCKDB = "duckdb"
LINE = 80  # characters of a list in one line
WIDE = 10_000  # characters of a function with its arguments in one line
_texts: WeakKeyDictionary[Step, str] = WeakKeyDictionary()
_pretty_texts: WeakKeyDictionary[Step, str] = WeakKeyDictionary()


def render(tree: exp.Expr, *, pretty: bool = False, copy: bool = True) -> str:
    """Return one tree as SQL text; raise an error if the dialect has no words for a part of it.

    ``copy``: the tree is used again, so that it must stay as it is. InputError if a name or a text
    in the tree has bytes that are not characters.
    """
    used = copy_tree(tree) if copy else tree  # which the generator changes
    text = used.sql(DUCKDB, pretty=pretty, copy=False, unsupported_level=ErrorLevel.RAISE)
    try:
        text.encode()
    except UnicodeEncodeError as e:
        raise InputError(NOT_UTF8) from e
    return text


def parsed(statement: str) -> exp.Expr:
    """Return the tree of a statement that was rendered before."""
    tree: exp.Expr = sqlglot.parse_one(statement, read=DUCKDB)
    return tree


class Compact(DuckDBGenerator):
    """A generator of pretty SQL that keeps short lists in one line."""

    def expressions(  # the arguments are those of the generator
        self,
        expression: exp.Expr | None = None,
        key: str | None = None,
        sqls: Collection[str | exp.Expr] | None = None,
        flat: bool = False,
        *arguments: Any,
        **options: Any,
    ) -> str:
        """Return the items of a list: in one line if they fit, else one in each line."""
        line = str(super().expressions(expression, key, sqls, True, *arguments, **options))
        if flat or options.get("dynamic") or len(line) > LINE or "\n" in line:
            return str(super().expressions(expression, key, sqls, flat, *arguments, **options))
        return self.indent(line) if options.get("indent", True) else line

    def paren_sql(self, expression: exp.Paren) -> str:
        """Return what stands in brackets, without line breaks of their own."""
        return f"({self.sql(expression, 'this')})"


def compact(tree: exp.Expr) -> str:
    """Return one tree as SQL text in few lines."""
    wide = Compact(pretty=True, unsupported_level=ErrorLevel.RAISE, max_text_width=WIDE)
    return str(wide.generate(tree))


def expressions(attributes: Iterable[Attribute]) -> dict[str, str]:
    """Return the expressions of attributes that are not plain columns, by name."""
    return {a.name: render(a.expression) for a in attributes if a.name != a.expression.name}


def statement(plan: Plan, *, pretty: bool = False) -> str:
    """Return a plan as one ``WITH`` statement, from texts of steps that are made once."""
    if plan.result.args.get("with_"):  # the result has steps of its own
        return render(_with_statement(plan), pretty=pretty, copy=False)
    steps = ", ".join(_step_text_once(step, pretty=pretty) for step in plan.steps)
    result = render(plan.result, pretty=pretty)
    between = "\n" if pretty else " "
    return f"WITH {steps}{between}{result}" if steps else result


def step_text(step: Step) -> str:
    """Return a step as text, ``name AS (SELECT ...)``."""
    how = "MATERIALIZED " if step.materialized else ""
    return f"{render(exp.to_identifier(step.name))} AS {how}({render(step.query)})"


def _step_text_once(step: Step, *, pretty: bool) -> str:
    """Return the text of a step, which is made once for all its plans."""
    texts = _pretty_texts if pretty else _texts
    if (text := texts.get(step)) is None:
        if pretty:  # only whole statements are laid out: take one of this step alone
            text = render(_with_statement(Plan((step,), exp.select("1"))), pretty=True, copy=False)
            text = text.removeprefix("WITH ").removesuffix("\nSELECT\n  1")
        else:
            text = step_text(step)
        texts[step] = text
    return text


def copying(plan: Plan, path: str, note: str = "", group: int | None = None) -> str:
    """Return the statement that writes the rows of a plan to a Parquet file.

    A ``note`` becomes its metadata ``qifsql``; ``group`` is the number of rows in a row group.
    """
    options: dict[str, exp.Expr] = {
        "FORMAT": exp.Var(this="PARQUET"),
        "COMPRESSION": exp.Var(this="ZSTD"),
        "USE_TMP_FILE": exp.false(),  # the file already is a temporary one
    }
    if group is not None:
        options["ROW_GROUP_SIZE"] = exp.Literal.number(group)
    if note:
        name, value = exp.to_identifier("qifsql"), exp.Literal.string(note)
        entry = exp.PropertyEQ(this=name, expression=value)
        options["KV_METADATA"] = exp.Struct(expressions=[entry])
    copy = exp.Copy(
        this=exp.Subquery(this=_with_statement(plan)),
        kind=False,
        files=[exp.Literal.string(path)],
        params=[exp.CopyParameter(this=exp.Var(this=k), expression=v) for k, v in options.items()],
    )
    return render(copy)


def keeping(plan: Plan, name: str, catalog: str, *, again: bool = False) -> str:
    """Return the statement that keeps the rows of a plan as a table, ``again``: in place of one."""
    table = exp.table_(name, db="main", catalog=catalog)
    if not again:
        return f"CREATE TABLE {render(table)} AS {statement(plan)}"
    return f"CREATE OR REPLACE TABLE {render(table)} AS\n{statement(plan, pretty=True)}"


def adding(plan: Plan, name: str, catalog: str) -> str:
    """Return the statement that adds the rows of a plan to a table."""
    return render(exp.insert(_with_statement(plan), exp.table_(name, db="main", catalog=catalog)))


def creating(name: str, query: exp.Query, *, temporary: bool = True) -> str:
    """Return the statement that stores the rows of a query as a table, and replaces an old one."""
    return _replacing("TABLE", exp.to_table(name), query, temporary=temporary)


def viewing(name: str, query: exp.Query) -> str:
    """Return the statement that creates a temporary view of a query."""
    return _replacing("VIEW", exp.to_table(name), query)


def _replacing(kind: str, this: exp.Expr, expression: exp.Expr, *, temporary: bool = True) -> str:
    """Return the statement that creates something in place of an old one."""
    create = exp.Create(this=this, kind=kind, replace=True, expression=expression)
    if temporary:
        create.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
    return render(create)


def dropping(table: str) -> str:
    """Return the statement that drops a table if it exists."""
    return render(exp.Drop(kind="TABLE", tables=[exp.to_table(table)], exists=True))


def setting(name: str, value: exp.Expr, *, variable: bool = False) -> str:
    """Return the statement that changes a setting of the engine, or a variable of the session."""
    equal = exp.EQ(this=exp.column(name), expression=value)
    item = exp.SetItem(this=equal, kind="VARIABLE" if variable else None)
    return render(exp.Set(expressions=[item]))


def detaching(catalog: str) -> str:
    """Return the statement that closes a catalog."""
    return render(exp.Detach(this=exp.Var(this=catalog)))


def _with_statement(plan: Plan) -> exp.Query:
    query = plan.result.copy()
    for step in plan.steps:
        query = query.with_(
            step.name, as_=step.query.copy(), materialized=step.materialized, copy=False
        )
    return query


def script(plan: Plan) -> str:
    """Return a plan as text to paste into a DuckDB prompt, below comments on rows of steps."""
    lines = [f"-- {s.name}: {s.doc}" for s in plan.steps]
    lines += [f"{s};" for s in plan.setup]
    if plan.keeps:
        catalog, name = plan.keeps
        lines.append(keeping(plan, name, catalog, again=True) + ";")
    else:
        lines.append(statement(plan, pretty=True) + ";")
    return "\n".join(lines) + "\n"


def macro(name: str, arguments: Iterable[str], body: exp.Expr) -> str:
    """Return the statement that defines one macro of the session."""
    head = exp.UserDefinedFunction(
        this=exp.to_table(name), expressions=list(map(exp.to_identifier, arguments)), wrapped=True
    )
    return _replacing("MACRO", head, exp.paren(body))
