"""Classes as cells: the released values of the quasi-identifiers of a class.

Parquet: ``STRUCT(lower, upper, missing)`` for numbers, dates and times, a list of values for all
else. Text: ``[20,30]``, ``{a,b}``, with ``?`` behind an interval that stands for the missing value
too; one value is written plainly; ``*`` is suppressed (a NULL in Parquet, but for columns of text).
Other shapes are for other tools: ``bounds`` (two columns of plain values), ``midpoint``, ``text``
(in Parquet, too) and ``centroid``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from qifsql.commands.anonymise.nominal import Nominal
from qifsql.commands.anonymise.spec import Shape
from qifsql.counting.passes import Passes
from qifsql.counting.scales import NOWHERE, Scale, own_name, own_table, scale_table
from qifsql.data.types import NUMBERS, family
from qifsql.errors import InputError, quoted
from qifsql.measures import utility
from qifsql.query.columns import equal, number
from qifsql.query.splice import splice
from qifsql.results import release

MOST = 500_000_000  # values in the sets of one quasi-identifier, over all records
TEXTS = ("VARCHAR", "ENUM")
Content = Literal["interval", "set", "value", "node", "label", "prefix", "everything"]


@dataclass(frozen=True)
class Loss:
    """The information loss of one quasi-identifier in a release.

    Both are in [0, 1], over all records, and a suppressed one loses all. ``generalised``: the share
    of records whose cell stands for several values. ``penalty``: the normalised certainty penalty.
    It is the mean share of the scale that an interval spans, or of the values that a set of several
    contains (Xu et al. 2006, section 3).
    """

    generalised: float
    penalty: float

    @staticmethod
    def of(generalised: int, covered: int, length: int, *, suppressed: int, records: int) -> "Loss":
        """Return the loss of the cells of ``records``, of which some are ``suppressed``.

        Of all others: those that are ``generalised``, and what their cells cover in all, of the
        ``length`` of the scale or the number of its values (``utility.penalty``).
        """
        penalty = utility.penalty(covered, length, suppressed=suppressed, records=records)
        return Loss((generalised + suppressed) / records, float(penalty))


@dataclass(frozen=True)
class Cells:
    """The cells of one quasi-identifier: its number, what they are, and in which shape.

    ``content``: an interval or a set that covers the values; one value as it is; the node of a
    hierarchy or another label; a prefix; everything. ``by_step``: a cell covers the values of all
    records at the same step, in all classes; else those of one class. ``type`` is that of labels,
    ``interval`` the definition of intervals of a recoding.
    """

    number: int
    scale: Scale
    content: Content
    shape: Shape
    ending: str
    by_step: bool = False
    type: str = "VARCHAR"
    interval: Nominal | None = None

    @property
    def nominal(self) -> Nominal | None:
        """Return the definition of its intervals, which are then independent of the values."""
        return self.interval if self.kind == "ranged" else None

    @property
    def key(self) -> str:
        """Return the column of the classes by which what a cell holds is looked up."""
        return f"step_{self.number}" if self.by_step else "part"

    @property
    def kind(self) -> Literal["ranged", "listed", "centred", "labelled", "plain", "everything"]:
        """Return how a cell is made."""
        if self.content == "everything":
            return "everything"
        if self.content == "value":
            return "listed" if family(self.scale.attribute.type) in TEXTS else "plain"
        if self.content in ("label", "prefix"):
            return "labelled"
        if self.shape == "centroid":
            return "centred"
        if self.content == "node" and not (self.scale.interval and self.parted):
            return "labelled"
        return "ranged" if self.scale.interval else "listed"

    @property
    def parted(self) -> bool:
        """Return whether intervals become plain values, for which everything is missing."""
        return self.shape in ("bounds", "midpoint")

    @property
    def text(self) -> bool:
        """Return whether cells are texts, and ``*`` is one of them."""
        if self.kind in ("everything", "labelled"):
            return self.shape == "text" or self._as_text(self.type) or self.type == "VARCHAR"
        if self.kind in ("ranged", "plain") and self.parted:
            return False
        if self.content == "value" and self.kind == "listed":
            return True
        return self.shape == "text" or self._as_text(self.scale.attribute.type)

    @property
    def ambiguous(self) -> bool:
        """Return whether a suppressed cell looks like that of a missing value."""
        return not self.text and (self.kind in ("plain", "centred") or self.parted)

    def _as_text(self, type_: str) -> bool:
        return self.ending != ".parquet" or release.as_text(type_, self.ending)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return what is added to the name of the column: once for each column of the release."""
        if self.kind != "ranged" or self.shape != "bounds":
            return ("",)
        missing = self.scale.missing != NOWHERE
        return ("_lower", "_upper", *(("_missing",) if missing else ()))

    @property
    def words(self) -> str:
        """Return what the cells are, in a word (``COLUMNS``)."""
        kinds = {"ranged": "intervals", "listed": "sets", "centred": "centroids"}
        if self.content in ("value", "everything"):
            return {"value": "values", "everything": "suppressed"}[self.content]
        if self.kind == "ranged" and self.parted:
            return {"bounds": "bounds", "midpoint": "midpoints"}[self.shape]
        return kinds.get(self.kind, "labels")


def make_cells(passes: Passes, columns: Sequence[Cells]) -> None:
    """Make the table ``cells`` (part, cell_1 ..) of the classes.

    ``values_1 ..`` must be there where a cell is made of the values of a class.
    """
    parts: list[exp.Expr] = [exp.column("part", table="classes")]
    tree = exp.select().from_(exp.alias_(own_table("classes"), "classes", table=True))
    for column in columns:
        i = column.number
        suppressed: exp.Expr = exp.Literal.string("*") if column.text else exp.null()
        hidden: exp.Expr = exp.column("suppressed", table="classes")
        if column.by_step:
            hidden = exp.or_(hidden, exp.column(column.key, table="classes") < 0)
        for suffix, content in zip(column.suffixes, _cell_contents(column), strict=True):
            case = exp.Case().when(hidden.copy(), suppressed.copy())
            parts.append(exp.alias_(case.else_(content), f"cell_{i}{suffix}"))
        for side, place in _cell_sources(column):
            key = "part" if side == f"values_{i}" else "place"
            same = equal(exp.column(key, table=side), exp.column(place, table="classes"))
            name = side if key == "part" else scale_table(i)
            rows = exp.alias_(own_table(name), side, table=True)
            tree = tree.join(rows, on=same, join_type="left")
    passes.keep("cells", tree.select(*parts))
    passes.drop(*(f"values_{column.number}" for column in columns))


def make_values(passes: Passes, column: Cells, done: str = "done") -> None:
    """Make the table ``values_i`` of sets, means or medians: part, values, cell.

    ``done`` has the people of each part and place.
    """
    i, scale = column.number, column.scale
    if column.kind == "centred":
        file = "means" if family(scale.attribute.type) in NUMBERS else "medians"
    elif column.kind == "listed":
        file = "texts" if column.text else "sets"
    else:
        return
    tables = {"done": own_name(done), "scale": own_name(scale_table(i))}
    tree = splice(f"anonymise/{file}", columns={"own_place": f"place_{i}"}, tables=tables)
    if column.kind == "centred" and column.text:
        tree = exp.select("part", '"values"', "cell::VARCHAR AS cell").from_(tree.subquery("found"))
    passes.keep(f"values_{i}", tree)


def _cell_contents(column: Cells) -> list[exp.Expr]:
    """Return what the cells of a class hold, for each column of the release."""
    if column.kind == "everything":
        return [exp.Literal.string("*")]
    if column.kind == "plain":
        value: exp.Expr = exp.column("value", table=f"lower_{column.number}")
        written = column.text or release.as_text(column.scale.attribute.type, column.ending)
        return [exp.cast(value, "VARCHAR") if written else value]
    if column.kind == "ranged":
        return _interval_of_class(column)
    return [exp.column("cell", table=f"values_{column.number}")]


def _cell_sources(column: Cells) -> list[tuple[str, str]]:
    """Return the tables that a cell is read from, each with the column of ``classes`` to join on.

    ``lower_i`` and ``upper_i`` are the scale at both ends of a class, ``values_i`` has ready cells.
    """
    i = column.number
    if column.kind == "everything":
        return []
    if column.kind == "plain":
        return [(f"lower_{i}", f"low_{i}")]
    if column.kind == "ranged" and column.nominal is None:
        return [(f"lower_{i}", f"low_{i}"), (f"upper_{i}", f"top_{i}")]
    return [(f"values_{i}", column.key)]


def _interval_of_class(column: Cells) -> list[exp.Expr]:
    """Return the interval of a class, and whether the missing value is in it, too."""
    i, defined, type_ = column.number, column.nominal, column.scale.attribute.type
    if defined is not None:
        lower, upper = (exp.column(end, table=f"values_{i}") for end in ("lower", "upper"))
        alone, type_ = equal(lower, upper), defined.type
    else:
        lower, upper = (exp.column("value", table=f"{end}_{i}") for end in ("lower", "upper"))
        alone = equal(exp.column(f"low_{i}", "classes"), exp.column(f"high_{i}", "classes"))
    missing = equal(exp.column(f"high_{i}", "classes"), number(column.scale.missing))
    bounds = {"lower": lower, "upper": upper, "alone": alone, "missing": missing}
    if column.parted:
        ends: list[exp.Expr] = [lower, upper]
        if column.shape == "midpoint":
            form = "numbers" if family(type_) in NUMBERS else "times"
            form = "dates" if family(type_) == "DATE" else form
            middle = _cell_of_view(f"middle_of_{form}", bounds)
            ends = [exp.cast(middle, type_, dialect="duckdb") if form == "times" else middle]
            type_ = "DOUBLE" if form == "numbers" else type_
        if release.as_text(type_, column.ending):
            ends = [exp.cast(end, "VARCHAR") for end in ends]
        return [*ends, missing][: len(column.suffixes)]
    if not column.text:
        return [_cell_of_view("interval_structs", bounds)]
    half_open = defined is not None and defined.half_open
    return [
        _cell_of_view("interval_texts", bounds, defined=defined is not None, half_open=half_open)
    ]


def _cell_of_view(view: str, bounds: Mapping[str, exp.Expr], **shape: bool) -> exp.Expr:
    """Return the cell that a view writes of the ``bounds`` of an interval."""
    query = splice(f"anonymise/{view}", rows={"bounds": bounds}, shape=shape)
    return query.selects[0].unalias()


def measure_loss(passes: Passes, column: Cells, *, suppressed: int) -> Loss:
    """Return what the cells of one quasi-identifier cost, over all records.

    InputError where there are too many values.
    """
    by_set = column.kind == "listed"
    written, generalised, covered = _sum_losses(passes, column, by_set=by_set)
    check_sets(column, written)
    length = column.scale.values if by_set else column.scale.span
    records = passes.coded.records
    return Loss.of(generalised, covered, length, suppressed=suppressed, records=records)


def check_sets(column: Cells, values: int) -> None:
    """Refuse sets that have too many values in all."""
    if values > MOST:
        raise InputError(
            f"the cells of {quoted(column.scale.attribute.name)} would list {values:,} values in "
            "all; make it coarser with NAME=EXPRESSION, or ask for less with --l or --t"
        )


def _sum_losses(passes: Passes, column: Cells, *, by_set: bool) -> tuple[int, int, int]:
    i = column.number
    columns = {"low": f"low_{i}", "high": f"high_{i}"}
    tables = {"classes": own_name("classes"), "sets": own_name(f"values_{i}")}
    tree = splice(f"anonymise/{'counted' if by_set else 'spans'}", columns=columns, tables=tables)
    generalised, spanned, written = passes.row(tree)
    return int(written), generalised, int(spanned)
