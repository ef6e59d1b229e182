"""Distances of records of a release to people: Gower's, of records that are drawn at random.

Source: M123; Gower 1971. Distances do not show safety (arXiv 2505.01524).
"""

from collections.abc import Iterator

from sqlglot import exp

from qifsql.commands.synthetic.gower_scales import drop_scales, make_scales, with_place
from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import rows_of
from qifsql.data.expressions import filled
from qifsql.engine.tables import Tables
from qifsql.measures import release_measures as measures
from qifsql.measures.release_measures import Measure
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

NOTE_ON_DISTANCES = (
    "distances do not show that a release is safe: one that keeps its distance can give away who "
    "was in the original, and one that is near may say nothing about individuals (arXiv "
    "2505.01524); compare with a control"
)


class Neighbourhood:
    """The people and records of all files as places on the scales of their columns."""

    def __init__(self, tables: Tables, coded: Coded, files: Files) -> None:
        self._tables = tables.doing("measuring distances")
        self._coded = coded
        self._files = files
        self._width = len(files.qids) + len(files.secrets)
        self._unit = self._make_points()

    def measures(self, draws: int, seed: int) -> Iterator[tuple[int, Measure]]:
        """Yield a release, by its number, and a measure of the distances of ``draws`` records."""
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

        ``nearest`` has a row per pair of numbers: the people of the original and of the control at
        the least distance of a record.
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

    def _make_points(self) -> int:
        """Create ``points``: the different records of all files, a place per column, and counts.

        Return how many parts the largest distance in one column has.
        """
        coded, query = self._coded, exp.select()
        attributes = self._files.original.attributes[: self._width]
        unit = make_scales(self._tables, attributes)
        qids = len(coded.fields)
        for i, attribute in enumerate(attributes, 1):  # the quasi-identifiers, then the secrets
            secret = exp.column(f"secret_{i - qids}", "coded")
            code = coded.code_of(i - 1, "coded") if i <= qids else secret
            query = with_place(query, i, attribute, code, unit)
        counts = [exp.column(name, "coded") for name in coded.counts]
        sums = [filled("sum(n)::BIGINT", {"n": count}).as_(count.name) for count in counts]
        places = [exp.Literal.number(i) for i in range(1, self._width + 1)]
        self._tables.make("points", query.select(*sums).from_("coded").group_by(*places))
        drop_scales(self._tables, attributes)
        return unit
