"""Classes as cells: the released values of the quasi-identifiers of a class.

Text: ``20-29``, ``1980s``, ``{a,b}``, with ``?`` behind an interval that stands for the missing
value too; one value is written plainly; ``*`` is suppressed (a NULL in columns of no texts). The
shape ``interval`` is for Parquet: ``STRUCT(lower, upper, missing)`` for numbers, dates and times, a
list of values for all else. Other shapes are ``bounds`` (two columns of plain values), ``midpoint``
and ``centroid``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from qifsql.commands.anonymise.nominal import Nominal
from qifsql.commands.anonymise.spec import Shape
from qifsql.commands.anonymise.writing import PLAIN, Writing
from qifsql.counting.passes import Passes
from qifsql.counting.scales import NOWHERE, Scale, own_name, own_table, scale_table
from qifsql.counting.trees import WHOLE
from qifsql.data.expressions import filled
from qifsql.data.types import NUMBERS, family
from qifsql.errors import InputError, quoted
from qifsql.measures import utility
from qifsql.query.columns import equal, number
from qifsql.query.splice import splice
from qifsql.results import release

MOST_VALUES = 500_000_000  # in the sets of one quasi-identifier, over all records
TEXTS = ("VARCHAR", "ENUM")
DAYS: dict[str, dict[str, str]] = {
    "DATE": {"first_day": "lower", "last_day": "upper"},
    "TIMESTAMP": {
        "first_day": "CASE WHEN lower = date_trunc('day', lower) THEN CAST(lower AS DATE) END",
        "last_day": "CASE WHEN upper + to_microseconds(1) = date_trunc('day', upper) + to_days(1) "
        "THEN CAST(upper AS DATE) END",
    },
}
"""The first and the last day of an interval, by the type of its ends: NULL where it has none."""
MARK_OF_MISSING = "CASE WHEN missing THEN '?' ELSE '' END"
Content = Literal["interval", "set", "value", "node", "label", "prefix", "everything"]


@dataclass(frozen=True)
class Loss:
    """The information loss of one quasi-identifier in a release.

    Both are in [0, 1], over all records, and a suppressed one loses all. ``generalised``: the share
    of records whose cell stands for several values. ``penalty``: the normalised certainty penalty.
    It is the mean share of the scale that an interval spans, or of the values that a set of several
    contains (Xu et al. 2006).
    """

    generalised: float
    penalty: float

    @staticmethod
    def of(generalised: int, covered: int, length: int, *, suppressed: int, records: int) -> "Loss":
        """Return the loss of one quasi-identifier over ``records`` records.

        ``generalised`` records show a cell of several values. ``covered`` is the sum of what cells
        cover; a suppressed cell is not in it, and counts ``length``, the largest that is possible.
        """
        penalty = utility.penalty(covered, length, suppressed=suppressed, records=records)
        return Loss((generalised + suppressed) / records, float(penalty))


@dataclass(frozen=True)
class Cells:
    """The cells of one quasi-identifier: its number, what they are, and in which shape.

    A cell stands for the values of a class; its form depends on the column alone, not on the class.

    ``content``: an interval or a set that covers the values; one value as it is; the node of a
    hierarchy or another label; a prefix; everything. ``by_step``: a cell covers the values of all
    records at the same step, in all classes; else those of one class. ``type`` is that of labels,
    ``interval`` defines intervals of a recoding, ``writing`` how values are written; ``starred``:
    some cells are suppressed.
    """

    number: int
    scale: Scale
    content: Content
    shape: Shape
    ending: str
    by_step: bool = False
    type: str = "VARCHAR"
    interval: Nominal | None = None
    writing: Writing = PLAIN
    starred: bool = True

    @property
    def nominal(self) -> Nominal | None:
        """Return the intervals as the request defines them; None if they follow from the values."""
        return self.interval if self.kind == "ranged" else None

    @property
    def key(self) -> str:
        """Return the column of the classes by which what a cell holds is looked up."""
        return f"step_{self.number}" if self.by_step else "part"

    @property
    def kind(self) -> Literal["ranged", "listed", "centred", "labelled", "plain", "everything"]:
        """Return how a cell is made of the values of its class.

        ``everything``: suppressed; ``plain``: the value itself; ``listed``: the set of values;
        ``ranged``: an interval; ``centred``: mean or median; ``labelled``: the text of a change.
        """
        if self.content == "everything":
            return "everything"
        if self.scale.tree is not None and not self.by_step:  # a node of a hierarchy has a name
            return "labelled"
        if self.content == "value":  # texts are listed: those that look like a set are quoted
            return "listed" if family(self.scale.attribute.type) in TEXTS else "plain"
        if self.content in ("label", "prefix"):
            return "labelled"
        if self.shape == "centroid":
            return "centred"
        if self.content == "node" and not (self.scale.interval and self.shows_plain_values):
            return "labelled"  # bounds and midpoints need the numbers below the node, not its name
        return "ranged" if self.scale.interval else "listed"

    @property
    def of_single_values(self) -> "Cells":
        """Return the column if all classes have one value in it: its type stays, but for texts."""
        is_text = family(self.scale.attribute.type) in TEXTS
        if self.kind != "ranged" or self.nominal is not None or self.shape != "text" or is_text:
            return self
        return replace(self, content="value", starred=False)

    @property
    def has_values(self) -> bool:
        """Return whether a cell that reads as one value of a column of the input is that value.

        Means, midpoints, labels of changes and what an expression computes may be other values.
        """
        is_middle = self.kind == "ranged" and self.shape == "midpoint"
        is_column = isinstance(self.scale.attribute.expression, exp.Column)
        return is_column and self.kind not in ("centred", "labelled") and not is_middle

    @property
    def shows_plain_values(self) -> bool:
        """Return whether intervals become plain values (ends or middles), and * is then NULL."""
        return self.shape in ("bounds", "midpoint")

    @property
    def is_text(self) -> bool:
        """Return whether the released column is of texts, where ``*`` marks a suppressed cell.

        In columns of other types NULL does. ``starred``: some cell of the column is suppressed.
        """
        has_stars = self.shape == "text" and self.starred  # then single values become texts, too
        if self.kind in ("everything", "labelled"):
            return has_stars or self.type == "VARCHAR" or self._is_written_as_text(self.type)
        if self.kind in ("ranged", "plain") and self.shows_plain_values:
            return False  # bounds and midpoints keep the type of the values
        if self.content == "value" and self.kind == "listed":
            return True  # the values are texts
        is_single = self.kind in ("plain", "centred")
        becomes_text = has_stars if is_single else self.shape == "text"
        return becomes_text or self._is_written_as_text(self.scale.attribute.type)

    @property
    def has_plain_numbers(self) -> bool:
        """Return whether all cells are plain numbers in CSV, unless some are suppressed."""
        is_label = self.kind == "labelled"
        is_plain = is_label or self.kind in ("plain", "centred") or self.shows_plain_values
        is_number = family(self.type if is_label else self.scale.attribute.type) in NUMBERS
        return is_plain and is_number and release.is_csv(self.ending)

    @property
    def ambiguous(self) -> bool:
        """Return whether a suppressed cell looks like that of a missing value."""
        return not self.is_text and (self.kind in ("plain", "centred") or self.shows_plain_values)

    def _is_written_as_text(self, type_: str) -> bool:
        is_nested = self.kind in ("ranged", "listed") and self.ending != ".parquet"
        return is_nested or release.is_csv(self.ending) or release.as_text(type_, self.ending)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the endings of column names: one for each column of the quasi-identifier."""
        if self.kind != "ranged" or self.shape != "bounds":
            return ("",)
        return ("_lower", "_upper", *(("_missing",) if self.scale.missing != NOWHERE else ()))

    @property
    def words(self) -> str:
        """Return the word for its cells in the column ``cells`` of a result (``COLUMNS``)."""
        if self.content in ("value", "everything"):
            return {"value": "values", "everything": "suppressed"}[self.content]
        if self.kind == "ranged" and self.shows_plain_values:
            return {"bounds": "bounds", "midpoint": "midpoints"}[self.shape]
        kinds = {"ranged": "intervals", "listed": "sets", "centred": "centroids"}
        return kinds.get(self.kind, "labels")


def make_cells(passes: Passes, columns: Sequence[Cells]) -> None:
    """Make the table ``cells``: a row per class, its number ``part`` and its ``cell_1``, ...

    The tables ``values_1``, ... of cells that need all values of a class are read and dropped.
    """
    cells: list[exp.Expr] = [exp.column("part", table="classes")]
    query = exp.select().from_(exp.alias_(own_table("classes"), "classes", table=True))
    for column in columns:
        cells += _columns_of_cells(column)
        values = f"values_{column.number}"  # a row per class; other sources have one per place
        for alias, class_column in _cell_sources(column):
            table = own_table(values if alias == values else scale_table(column.number))
            key = exp.column("part" if alias == values else "place", table=alias)
            same = equal(key, exp.column(class_column, table="classes"))
            query = query.join(exp.alias_(table, alias, table=True), on=same, join_type="left")
    passes.keep("cells", query.select(*cells))
    passes.drop(*(f"values_{column.number}" for column in columns))


def _columns_of_cells(column: Cells) -> list[exp.Expr]:
    """Return the columns of a release in which the cells of a quasi-identifier are written.

    There is one (``cell_3``), or several for a cell of parts (``cell_3_low``, ``cell_3_high``, and
    ``cell_3_missing``, which is no number). Suppressed ones are ``*``, or NULL if not text.
    """
    is_suppressed: exp.Expr = exp.column("suppressed", table="classes")
    if column.by_step:  # the step of a class is -1 where this cell alone is suppressed
        is_suppressed = exp.or_(is_suppressed, exp.column(column.key, table="classes") < 0)
    star: exp.Expr = exp.Literal.string("*") if column.is_text else exp.null()
    cells = []
    for suffix, cell in zip(column.suffixes, _cell_expressions(column), strict=True):
        has_comma = column.has_plain_numbers and column.writing.comma and suffix != "_missing"
        written = column.writing.number(cell) if has_comma else cell
        case = exp.Case().when(is_suppressed.copy(), star.copy()).else_(written)
        cells.append(exp.alias_(case, f"cell_{column.number}{suffix}"))
    return cells


def make_values(passes: Passes, column: Cells, done: str = "done") -> None:
    """Make the table ``values_i`` of cells that are computed from all values in a class.

    A row per class: its number (``part``), how many values it has, and the cell: their mean,
    median, set, or lowest common node of the hierarchy. Other cells need no table. ``done`` names
    the table of people by class and by the place of their value on its scale.
    """
    i, scale = column.number, column.scale
    if column.kind == "centred":
        file = "means" if family(scale.attribute.type) in NUMBERS else "medians"
    elif column.kind == "listed":
        file = "texts" if column.is_text else "sets"
    elif scale.tree is not None:
        file = "lowest_nodes"
    else:
        return
    tables = {"done": done, "scale": scale_table(i), "branches": "branches"}
    tree = splice(
        f"anonymise/{file}",
        columns={"own_place": f"place_{i}"},
        tables={name: own_name(table) for name, table in tables.items()},
        numbers={"wanted_attribute": i},
    )
    if column.kind == "centred" and column.is_text:
        cell = column.writing.value(exp.column("cell"), scale.attribute.type, i)
        tree = exp.select("part", '"values"', cell.as_("cell")).from_(tree.subquery("found"))
    passes.keep(f"values_{i}", tree)


def _cell_expressions(column: Cells) -> list[exp.Expr]:
    """Return the SQL of a cell: one expression for each of the ``suffixes`` of the column."""
    if column.kind == "everything":
        return [exp.Literal.string("*")]
    type_ = column.scale.attribute.type
    if column.kind == "plain":
        value: exp.Expr = exp.column("value", table=f"lower_{column.number}")
        return [column.writing.value(value, type_, column.number) if column.is_text else value]
    if column.kind == "ranged":
        return _interval_expressions(column)
    return [exp.column("cell", table=f"values_{column.number}")]


def _cell_sources(column: Cells) -> list[tuple[str, str]]:
    """Return the tables that a cell is read from: alias, and column of ``classes`` to join on.

    ``lower_i`` and ``upper_i`` both alias the scale, joined at the first and at the last place of
    the class; ``values_i`` has a finished cell per class.
    """
    i = column.number
    if column.kind == "everything":
        return []
    if column.kind == "plain":
        return [(f"lower_{i}", f"low_{i}")]
    if column.kind == "ranged" and column.nominal is None:
        return [(f"lower_{i}", f"low_{i}"), (f"upper_{i}", f"top_{i}")]
    return [(f"values_{i}", column.key)]


def _interval_expressions(column: Cells) -> list[exp.Expr]:
    """Return the SQL of an interval: its ends, its midpoint, a struct or a text.

    A flag follows ends and midpoint if the column has missing values: whether some are in the cell.
    """
    # In ``classes``, low_i and high_i are the places on the scale of the first and the last value
    # of a class; the missing value is last. ``alone``: both ends are one value.
    i, nominal, type_ = column.number, column.nominal, column.scale.attribute.type
    if nominal is not None:  # the changes define the ends, not the data
        lower, upper = (exp.column(end, table=f"values_{i}") for end in ("lower", "upper"))
        alone, type_ = equal(lower, upper), nominal.type
    else:
        lower, upper = (exp.column("value", table=f"{end}_{i}") for end in ("lower", "upper"))
        alone = equal(exp.column(f"low_{i}", "classes"), exp.column(f"high_{i}", "classes"))
    missing = equal(exp.column(f"high_{i}", "classes"), number(column.scale.missing))
    bounds = {"lower": lower, "upper": upper, "alone": alone, "missing": missing}
    if column.shows_plain_values:
        ends: list[exp.Expr] = [lower, upper]
        if column.shape == "midpoint":
            middle, type_ = _midpoint(type_, bounds)
            ends = [middle]
        if release.as_text(type_, column.ending):
            ends = [column.writing.value(end, type_, column.number) for end in ends]
        return [*ends, missing][: len(column.suffixes)]  # no suffix for a flag: nothing is missing
    if not column.is_text:
        return [_cell_of_view("interval_structs", bounds)]
    return [_interval_text(column, bounds, type_)]


def _interval_text(column: Cells, bounds: Mapping[str, exp.Expr], type_: str) -> exp.Expr:
    """Return the SQL of an interval's text, such as ``20-29``; ``type_`` is that of its ends.

    An interval of whole months or years of days gets the name of the period, such as ``1980s``.
    """
    ends = {"lower_text": bounds["lower"], "upper_text": bounds["upper"]}
    written = {name: column.writing.value(end.copy(), type_) for name, end in ends.items()}
    comma = exp.Literal.string(";" if column.writing.comma else ",")
    text = _cell_of_view(
        "interval_texts",
        {**bounds, **written, "comma": comma},
        defined=column.nominal is not None,
        half_open=column.nominal is not None and column.nominal.half_open,
        numbers=family(type_) in NUMBERS,
    )
    if type_ not in DAYS:
        return text
    words = {"lower": bounds["lower"], "upper": bounds["upper"], "missing": bounds["missing"]}
    days = {name: filled(day, words) for name, day in DAYS[type_].items()}
    period = _cell_of_view("period_texts", days, table="days")
    marked = exp.DPipe(this=exp.paren(period), expression=filled(MARK_OF_MISSING, words))
    return exp.func("coalesce", marked, text)


def _midpoint(type_: str, bounds: Mapping[str, exp.Expr]) -> tuple[exp.Expr, str]:
    """Return the SQL of the middle between ends of a type, and the type of the middle."""
    if family(type_) in NUMBERS:
        return _cell_of_view("middle_of_numbers", bounds), "DOUBLE"
    if family(type_) == "DATE":
        return _cell_of_view("middle_of_dates", bounds), type_
    return exp.cast(_cell_of_view("middle_of_times", bounds), type_, dialect="duckdb"), type_


def _cell_of_view(
    view: str, bounds: Mapping[str, exp.Expr], *, table: str = "bounds", **shape: bool
) -> exp.Expr:
    """Return the SQL of a cell from a view over one row, the ``table``."""
    query = splice(f"anonymise/{view}", rows={table: bounds}, shape=shape)
    return query.selects[0].unalias()


def measure_loss(passes: Passes, column: Cells, *, suppressed: int) -> Loss:
    """Return the information loss of one quasi-identifier, with ``suppressed`` records.

    The view ``counted`` (of sets and nodes) or ``spans`` (of intervals) has one row: the records in
    cells of several values, the sum of what these cover, and the (not too many) values they list.
    """
    by_tree, i = column.scale.tree is not None, column.number
    by_set = by_tree or column.kind == "listed"
    tree = splice(
        f"anonymise/{'counted' if by_set else 'spans'}",
        columns={"low": f"low_{i}", "high": f"high_{i}"},
        tables={"classes": own_name("classes"), "sets": own_name(f"values_{i}")},
    )
    generalised, covered, listed = map(int, passes.row(tree))
    length = column.scale.values if by_set else column.scale.span
    if by_tree:  # a node covers a share of the hierarchy, in parts of WHOLE
        length = WHOLE
    else:
        check_sets(column, listed)
    records = passes.coded.records
    return Loss.of(generalised, covered, length, suppressed=suppressed, records=records)


def check_sets(column: Cells, values: int) -> None:
    """Refuse sets that have too many values in all."""
    if values > MOST_VALUES:
        raise InputError(
            f"the cells of {quoted(column.scale.attribute.name)} would list {values:,} values in "
            "all; make it coarser with NAME=EXPRESSION, or ask for less with --l or --t"
        )
