"""Tables of transitions: a file with the columns from, to, probability, read and checked once."""

from sqlglot import exp

from qifsql.adversary import value_files
from qifsql.adversary.spec import Attribute
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import column
from qifsql.data.formats import find_named
from qifsql.data.types import family
from qifsql.engine.catalog import open_beside
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.templates import load

MOST_COLUMNS = 1_000  # that a file of transitions is about
MOST_VALUES = 500  # of a column whose release by a matrix of all pairs can be attacked
MOST_PAIRS = (MOST_VALUES + 1) ** 2  # of a true and a released value, missing ones, too


def read_lines(engine: Engine, path: str, drifting: Attribute) -> tuple[Dataset, Step]:
    """Return a file of transitions and its lines; values get the type of the drifting column.

    If the file has a column named ``column``, the lines are those that name the drifting one,
    exactly or else in any case. The column ``share`` is that of the value before, NULL without one,
    and -1 where it is no number.
    """
    dataset, schema = open_beside(engine, path)
    before, after, chance = (schema.find(name) for name in ("from", "to", "probability"))
    if before is None or after is None or chance is None:
        raise InputError(
            f"{dataset.name} is not a table of transitions; it needs the columns from, to, "
            "probability"
        )
    columns_by_name = {
        "before": _in_type_of(before, drifting),
        "after": _in_type_of(after, drifting),
        "unfit_before": _does_not_fit(before, drifting),
        "unfit_after": _does_not_fit(after, drifting),
        "probability": value_files.number(chance),
        "share": _share(schema.find("share")),
    }
    query = value_files.lines(dataset, columns_by_name)
    if (about := schema.find("column")) is not None:
        # Without any line about the column, none is left, which ``check`` refuses.
        spellings = find_named(drifting.name, columns(engine, path), lambda name: [name])
        written = [exp.Literal.string(name) for name in spellings or [drifting.name]]
        query = query.where(exp.In(this=column(about), expressions=written))
    return dataset, Step("transitions", "One row per line of a table of transitions.", query)


def columns(engine: Engine, path: str) -> list[str]:
    """Return the columns that a file of transitions is about; refuse a file that names none."""
    dataset, schema = open_beside(engine, path)
    if (about := schema.find("column")) is None:
        raise InputError(
            f"{dataset.name} does not say whose values it changes; write COLUMN=FILE, or give it a "
            "column named column"
        )
    names = value_files.lines(dataset, {"name": column(about)}).distinct().order_by("name")
    rows = engine.rows(Plan((), names.limit(MOST_COLUMNS + 1)), "reading a matrix", dataset.name)
    if len(rows) > MOST_COLUMNS or any(not name for (name,) in rows):
        raise InputError(
            f"the field column of {dataset.name} names the columns whose values change, at most "
            f"{MOST_COLUMNS:,}, in each line"
        )
    return [str(name) for (name,) in rows]


def check(engine: Engine, step: Step, dataset: Dataset, drifting: Attribute) -> None:
    """Refuse a table that is not a transition matrix; the InputError counts its wrong lines."""
    plan = Plan((step,), load("keyless/lawless").query)
    # Lines: all, with a value of another type, without a probability, with a pair of another line.
    # Values before: all, and those whose probabilities do not add up to 1.
    ((lines, unfit, wrong, twice, values, unsound),) = engine.rows(
        plan, "checking transitions", dataset.name
    )
    name = dataset.name
    if not lines:
        raise InputError(
            f"{name} has no transitions of {quoted(drifting.name)}; each line is from, to, "
            "probability, and column where it is about several"
        )
    refuse_lines(name, drifting, "a from and to", (unfit, wrong, twice))
    if unsound:
        raise InputError(
            f"the probabilities of {unsound:,} of {plural(values, 'value')} that {name} leads "
            "from do not add up to 1; mend them (what stays is a transition, too)"
        )


def refuse_lines(name: str, attribute: Attribute, pair: str, counts: tuple[int, int, int]) -> None:
    """Refuse a table of probabilities with lines that cannot be used.

    ``counts`` are those of lines with a value that does not fit the type of the ``attribute``, with
    no probability, and with a ``pair`` of values that another line has.
    """
    unfit, wrong, twice = counts
    if unfit:
        raise InputError(
            f"{plural(unfit, 'line')} of {name} have a value that is no "
            f"{family(attribute.type)}, as column {quoted(attribute.name)} is; a column of CSV in "
            "which only numbers are left stays text with --all-varchar"
        )
    if wrong:
        raise InputError(
            f"{plural(wrong, 'line')} of {name} have no probability from 0 to 1; mend them"
        )
    if twice:
        raise InputError(
            f"{name} has {plural(twice, 'line')} for {pair} that another line has; each pair has "
            "one probability"
        )


def _in_type_of(field: Column, drifting: Attribute) -> exp.Expr:
    """Return a value in the column's type; an empty field of CSV is the missing value."""
    if family(drifting.type) == "ENUM":
        return exp.cast(column(field), "VARCHAR")
    return value_files.typed(column(field), drifting)


def _share(field: Column | None) -> exp.Expr:
    """Return the share in a field, NULL where it is empty; a text that is no number becomes -1."""
    if field is None:
        return exp.cast(exp.null(), "DOUBLE")
    empty = column(field).is_(exp.null())
    wrong = exp.Literal.number(-1)
    return (
        exp.case()
        .when(empty, exp.null())
        .else_(exp.func("coalesce", value_files.number(field), wrong))
    )


def _does_not_fit(field: Column, drifting: Attribute) -> exp.Expr:
    """Return the condition that a value is present, but does not fit the column's type."""
    if family(drifting.type) == "ENUM":
        return exp.false()
    present = exp.not_(column(field).is_(exp.null()))
    fitting = value_files.cast_exactly(column(field), drifting.type)
    return exp.and_(present, fitting.is_(exp.null()))
