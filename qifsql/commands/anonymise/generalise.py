"""Classes as cells: the released values of the quasi-identifiers of a class.

Parquet: ``STRUCT(lower, upper, missing)`` for numbers, dates and times, a list of values for other
types. Text: ``[20,30]`` or ``{a,b}``, with ``?`` after an interval that also stands for the missing
value. A single value is written plainly. ``*`` is a suppressed cell (NULL in Parquet).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.anonymise.spec import Shape
from qifsql.counting.passes import Passes
from qifsql.counting.scales import Scale, own_name, own_table, scale_table
from qifsql.data.types import NUMBERS, family
from qifsql.errors import InputError, quoted
from qifsql.query.columns import number
from qifsql.query.splice import splice
from qifsql.results import release

MOST = 500_000_000  # most values in the sets of one quasi-identifier, over all records


@dataclass(frozen=True)
class Loss:
    """The information loss of generalising one quasi-identifier.

    Both are in [0, 1], over the records that are not suppressed. ``generalised``: the share of
    records whose cell stands for several values. ``penalty``: the normalised certainty penalty. It
    is the mean share of the scale that an interval spans, or of the values that a set of several
    contains (Xu et al. 2006, section 3).
    """

    generalised: float
    penalty: float


def make_cells(
    passes: Passes, scales: Sequence[Scale], ending: str, shape: Shape, *, records: int
) -> list[Loss]:
    """Create the table ``cells`` (part, cell_1 ..) of the classes; return the losses.

    ``records`` is the number of records in classes that are not suppressed.
    """
    columns: list[exp.Expr] = [exp.column("part", table="classes")]
    tree = exp.select().from_(exp.alias_(own_table("classes"), "classes", table=True))
    losses = []
    for i, scale in enumerate(scales, 1):
        text = is_text(scale, ending)
        content = _interval(i, scale, text=text)
        if shape == "centroid" or not scale.interval:
            _make_values(passes, i, scale, shape=shape, text=text)
            content = exp.column("cell", table=f"values_{i}")
        losses.append(_loss(passes, i, scale, sets=shape == "interval", records=records))
        suppressed: exp.Expr = exp.Literal.string("*") if text else exp.null()
        cell = exp.Case().when(exp.column("suppressed", table="classes"), suppressed).else_(content)
        columns.append(exp.alias_(cell, f"cell_{i}"))
        for side, place in _joined(i, scale, shape):
            same = exp.EQ(
                this=exp.column("part" if place == "part" else "place", table=side),
                expression=exp.column(place, table="classes"),
            )
            name = f"values_{i}" if place == "part" else scale_table(i)
            rows = exp.alias_(own_table(name), side, table=True)
            tree = tree.join(rows, on=same, join_type="left")
    passes.keep("cells", tree.select(*columns))
    passes.drop(*(f"values_{i}" for i, _ in enumerate(scales, 1)))
    return losses


def is_text(scale: Scale, ending: str) -> bool:
    """Return whether cells of a quasi-identifier are texts in a file with this ending."""
    return ending != ".parquet" or release.as_text(scale.attribute.type, ending)


def _joined(i: int, scale: Scale, shape: Shape) -> list[tuple[str, str]]:
    """Return the tables that a cell is built from: aliases, and columns of classes to join on."""
    if shape == "centroid" or not scale.interval:
        return [(f"values_{i}", "part")]
    return [(f"lower_{i}", f"low_{i}"), (f"upper_{i}", f"top_{i}")]


def _interval(i: int, scale: Scale, *, text: bool) -> exp.Expr:
    """Return the closed interval of a class, with a mark if it includes the missing value."""
    lower, upper = exp.column("value", table=f"lower_{i}"), exp.column("value", table=f"upper_{i}")
    low, high = exp.column(f"low_{i}", table="classes"), exp.column(f"high_{i}", table="classes")
    missing = exp.EQ(this=high, expression=number(scale.missing))
    if not text:
        fields = {"lower": lower, "upper": upper, "missing": missing}
        return exp.Struct(
            expressions=[
                exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
                for name, value in fields.items()
            ]
        )
    parts: list[exp.Expr] = [exp.Literal.string("["), exp.cast(lower, "VARCHAR")]
    parts += [exp.Literal.string(","), exp.cast(upper, "VARCHAR"), exp.Literal.string("]")]
    parts.append(exp.Case().when(missing, exp.Literal.string("?")).else_(exp.Literal.string("")))
    several = exp.Anonymous(this="concat", expressions=parts)
    alone = exp.EQ(this=low.copy(), expression=high.copy())
    return exp.Case().when(alone, exp.cast(lower.copy(), "VARCHAR")).else_(several)


def _make_values(passes: Passes, i: int, scale: Scale, *, shape: Shape, text: bool) -> None:
    """Create the table ``values_i`` of sets, means or medians: part, values, cell."""
    if shape == "interval":
        file = "texts" if text else "sets"
    else:
        file = "means" if family(scale.attribute.type) in NUMBERS else "medians"
    tables = {"done": own_name("done"), "scale": own_name(scale_table(i))}
    tree = splice(f"anonymise/{file}", columns={"own_place": f"place_{i}"}, tables=tables)
    if shape == "centroid" and text:
        tree = exp.select("part", '"values"', "cell::VARCHAR AS cell").from_(tree.subquery("found"))
    passes.keep(f"values_{i}", tree)


def _loss(passes: Passes, i: int, scale: Scale, *, sets: bool, records: int) -> Loss:
    """Return the loss of one quasi-identifier; refuse to write more than ``MOST`` values."""
    by_set = sets and not scale.interval
    columns = {"low": f"low_{i}", "high": f"high_{i}"}
    tables = {"classes": own_name("classes"), "sets": own_name(f"values_{i}")}
    tree = splice(f"anonymise/{'counted' if by_set else 'spans'}", columns=columns, tables=tables)
    generalised, spanned, written = passes.row(tree)
    if written > MOST:
        raise InputError(
            f"the cells of {quoted(scale.attribute.name)} would list {int(written):,} values in "
            "all; make it coarser with NAME=EXPRESSION, or ask for less with --l or --t"
        )
    whole = scale.values if by_set else scale.span
    if not records or not whole:
        return Loss(0.0, 0.0)
    return Loss(generalised / records, int(spanned) / (records * whole))
