"""Gower distances of drawn records to people, and the scales on which values have places.

Source: M123; Gower 1971. Distances do not show safety (arXiv 2505.01524).
"""

import math
from collections.abc import Iterator, Sequence

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import rows_of
from qifsql.data.expressions import filled
from qifsql.data.types import NUMBERS, family
from qifsql.engine.tables import Tables
from qifsql.measures import release_measures as measures
from qifsql.measures.release_measures import Measure
from qifsql.query.columns import equal, number
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

MOST_PARTS = 2**34  # of the distance in one column: sums, and codes times it, are whole numbers
ORDERED_TYPES = (*NUMBERS, "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME")
NOTE_ON_DISTANCES = (
    "distances do not show that a release is safe: one that keeps its distance can give away who "
    "was in the original, and one that is near may say nothing about individuals (arXiv "
    "2505.01524); compare with a control"
)


def is_ordered(type_: str) -> bool:
    """Return whether values of a type lie on a scale: numbers, dates and times."""
    return family(type_) in ORDERED_TYPES


def make_scales(tables: Tables, attributes: Sequence[Attribute]) -> int:
    """Create ``scale_i`` for each column of numbers, dates or times: a row per code, its place.

    Places are whole numbers from 0, for the least value, to the unit, which is returned: so many
    parts has the distance from the least to the greatest value of every column. Values that are
    multiples of a step have a length in steps. If all lengths have a common multiple up to
    ``MOST_PARTS``, each step is a whole number of parts (``part_length``); else places are rounded.
    """
    lengths: dict[int, int] = {}  # in steps, by column; 0: of one value, or without a step
    for i, attribute in enumerate(attributes, 1):
        if is_ordered(attribute.type):
            value: exp.Expr = exp.column("value")
            if family(attribute.type) not in NUMBERS:  # of dates and times, the seconds
                value = exp.Anonymous(this="epoch", expressions=[value])
            value = exp.alias_(exp.cast(value, "DOUBLE"), "value")
            query = exp.select("code", value).from_(exp.table_(f"dictionary_{i}"))
            values = f"values_of_numbers_{i}"
            tables.make(values, query)
            names = {"values_of_numbers": values}
            tables.make(f"ends_{i}", splice("synthetic/ends_of_numbers", tables=names))
            # The length of the scale, and how many steps make 1 (NULL: the values have no step).
            ends = exp.select("span", "factor").from_(exp.table_(f"ends_{i}"))
            ((span, steps_per_unit),) = tables.rows(ends)
            has_steps = span and steps_per_unit is not None  # else one value, or no common step
            lengths[i] = round(span * steps_per_unit) if has_steps else 0
    multiple = math.lcm(*(length for length in lengths.values() if length))
    is_exact = multiple <= MOST_PARTS
    unit = MOST_PARTS - MOST_PARTS % multiple if is_exact else MOST_PARTS
    for i, length in lengths.items():
        numbers = {"scale_unit": unit, "part_length": unit // length if length and is_exact else 0}
        names = {"values_of_numbers": f"values_of_numbers_{i}", "ends_of_numbers": f"ends_{i}"}
        tables.make(f"scale_{i}", splice("synthetic/scaled", tables=names, numbers=numbers))
        tables.drop(*names.values())
    return unit


def drop_scales(tables: Tables, attributes: Sequence[Attribute]) -> None:
    """Drop the tables of places."""
    tables.drop(*(f"scale_{i}" for i, a in enumerate(attributes, 1) if is_ordered(a.type)))


def with_place(
    query: exp.Select, i: int, attribute: Attribute, code: exp.Expr, unit: int
) -> exp.Select:
    """Return the query with one more column, ``place_i``: where column ``i`` is on its scale.

    ``code`` is the code of its value. Different values without an order are as far apart as
    possible: two units or more, and only the first unit of a distance counts.
    """
    name = f"place_{i}"
    if not is_ordered(attribute.type):
        return query.select(exp.alias_(exp.Mul(this=code, expression=number(2 * unit)), name))
    scale = f"scale_{i}"
    query = query.select(exp.alias_(exp.column("place", scale), name))
    return query.join(exp.table_(scale), on=equal(exp.column("code", scale), code))


class Neighbourhood:
    """The people and records of all files as places on the scales of their columns."""

    def __init__(self, tables: Tables, coded: Coded, files: Files) -> None:
        """Create ``points``: the different records of all files, a place per column, and counts.

        A place is where a value is on the scale of its column, in ``_unit`` parts; a count is how
        many records of one file a point stands for.
        """
        self._tables = tables.doing("measuring distances")
        self._coded = coded
        self._files = files
        self._width = len(files.qids) + len(files.secrets)
        attributes = files.original.attributes[: self._width]
        self._unit = unit = make_scales(self._tables, attributes)
        query, qids = exp.select(), len(files.qids)
        for i, attribute in enumerate(attributes, 1):  # the quasi-identifiers, then the secrets
            secret = exp.column(f"secret_{i - qids}", "coded")
            code = coded.code_of(i - 1, "coded") if i <= qids else secret
            query = with_place(query, i, attribute, code, unit)
        counts = [exp.column(name, "coded") for name in coded.counts]
        sums = [filled("sum(n)::BIGINT", {"n": count}).as_(count.name) for count in counts]
        places = [exp.Literal.number(i) for i in range(1, self._width + 1)]
        self._tables.make("points", query.select(*sums).from_("coded").group_by(*places))
        drop_scales(self._tables, attributes)

    def measures(self, draws: int, seed: int) -> Iterator[tuple[int, Measure]]:
        """Yield a release, by its number, and a measure of the distances of ``draws`` records.

        ``drawn`` has the records, ``nearest`` and ``neighbours`` the people nearest to each.
        """
        places = range(1, self._width + 1)
        doc = "One row per drawn record and people who are alike: their distance."
        numbers = {"scale_unit": self._unit, "seed": seed}
        compared = splice("synthetic/drawn_pairs", places=places, numbers=numbers)
        pairs = Step("drawn_pairs", doc, compared)
        for release in self._coded.releases:
            columns = {"synthetic": f"synthetic_{release}"}
            query = splice("synthetic/draws", places=places, columns=columns, numbers=numbers)
            self._tables.make("drawn", query.limit(draws))
            for table in ("nearest", "neighbours"):
                self._tables.make(table, Plan((pairs,), splice(f"synthetic/{table}")))
            for measure in self._measures():
                yield release, measure
            self._tables.drop("drawn", "nearest", "neighbours")
        self._tables.drop("points")

    def _measures(self) -> Iterator[Measure]:
        """Yield the measures of the drawn records; a distance of 1 is as far as possible.

        ``nearest`` counts records by the people of original and control at their least distance.
        """
        files = self._files
        medians = rows_of(splice("synthetic/distances"), self._tables)[0]
        nearest = rows_of(splice("synthetic/sides"), self._tables)
        people = files.original.records
        control = 0 if files.control is None else files.control.records
        largest = self._unit * self._width
        nearest.sort(key=lambda row: (row["original"], row["control"]))  # one order of the sum
        nearer = sum(  # records nearer to the original, or their share of people at one distance
            row["records"] * row["original"] / (row["original"] + row["control"]) for row in nearest
        )
        counts = measures.Distances(
            records=medians["records"],
            equal=medians["equal_records"],
            original=medians["original"] / largest,
            control=None if medians["control"] is None else medians["control"] / largest,
            ratio=medians["ratio"],
            nearer=nearer,
            chance=people / (people + control),
        )
        yield from measures.distances(counts, has_control=control > 0)
