"""Linkability by nearest records: of drawn people, whose halves have a nearest record in common.

Source: M136; Giomi, Boenisch, Wehmeyer and Tasnádi 2023; Gower 1971.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.synthetic.nearest_people import drop_scales, make_scales, with_place
from qifsql.commands.synthetic.some_predicates import numbering_step, view_step
from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import rows_of
from qifsql.data.expressions import filled
from qifsql.engine.tables import Tables
from qifsql.measures import release_measures as measures
from qifsql.measures.release_measures import LinkKind, Measure
from qifsql.query.columns import number, union
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

SAMPLE_SHARE = 64  # one of so many halves is looked at first
LEAST_SAMPLE = 1000  # halves: a smaller sample is not worth while
FIRST_KEY, SECOND_KEY = "first_key", "second_key"


@dataclass(frozen=True, kw_only=True)
class Draws:
    """People who are drawn: how many, the nearest records of each half, the seed."""

    number: int
    neighbours: int
    seed: int


@dataclass(kw_only=True)
class NearestLinks:
    """The drawn people and their halves: the quasi-identifiers of either of two sources.

    A link is right if both halves of a person have a nearest record in common. A half is named by
    the column of its key, a number that has the codes of its values. ``columns_of_halves`` are by
    this name; the table ``halves`` has the cells of all columns, with both keys.
    """

    tables: Tables
    coded: Coded
    files: Files
    draws: Draws
    columns_of_halves: Mapping[str, Sequence[int]]

    def make_people(self, keys: Sequence[exp.Expr]) -> None:
        """Draw people of the original and of the control, by lots that depend on the seed.

        ``people_drawn`` counts them by the keys of both halves of their quasi-identifiers; ``keys``
        are the expressions of these. ``targets_KEY`` has, for each half, the places of its values
        on their scales. Sets ``_unit``, the length of a scale.
        """
        queries = []
        for file, people in ((self.files.original, "original"), (self.files.control, "control")):
            if file is None:
                continue
            numbers = {"seed": self.draws.seed, "people_count": file.records}
            lots = splice("synthetic/people_lots", numbers=numbers).limit(self.draws.number)
            steps = (view_step("people_lots", lots), numbering_step(self.coded, people))
            query = splice("synthetic/drawn_people", words=self.coded.words)
            self.tables.make(f"drawn_{people}", Plan(steps, query))
            # A drawn person counts 1 in the column of the file that they are in, 0 in the other.
            counts = [number(people == name).as_(name) for name in ("original", "control")]
            queries.append(exp.select(*keys, *counts).from_(exp.table_(f"drawn_{people}")))
        query = exp.select("sum(original)::BIGINT AS original", "sum(control)::BIGINT AS control")
        query = query.select(FIRST_KEY, SECOND_KEY).from_(union(queries).subquery("everybody"))
        self.tables.make("people_drawn", query.group_by(FIRST_KEY, SECOND_KEY))
        self.tables.drop("drawn_original")
        if self.files.control is not None:
            self.tables.drop("drawn_control")
        self._unit = make_scales(self.tables, self.files.original.microdata.qids)
        for key in self.columns_of_halves:
            self._make_places(f"targets_{key}", "people_drawn", key)

    def measures(self, release: int, records: int) -> Iterator[Measure]:
        """Yield the measures of linkability of a release, by its number, with ``records`` records.

        The quasi-identifiers are divided into two halves. For each drawn person, the records of the
        release nearest to her by one half and by the other are found: she is linked if some are in
        both. ``link_kinds`` has a row per kind of drawn people: how many records are nearest by
        each half, how many by both, and how many such people there are.
        """
        neighbours = min(self.draws.neighbours, records)
        for key in self.columns_of_halves:
            self._find_nearest(release, key, neighbours)
        synthetic = {"synthetic": f"synthetic_{release}"}
        common = splice("synthetic/common_records", columns=synthetic)
        plan = Plan((view_step("common_records", common),), splice("synthetic/link_kinds"))
        kinds = [LinkKind(**row) for row in rows_of(plan, self.tables)]
        self.tables.drop("nearest_first", "nearest_second", "first_sizes", "second_sizes")
        yield from measures.nearest_linkability(kinds, records=records, neighbours=neighbours)

    def drop(self) -> None:
        """Drop the tables of drawn people."""
        self.tables.drop("people_drawn", *(f"targets_{key}" for key in self.columns_of_halves))
        drop_scales(self.tables, self.files.original.microdata.qids)

    def _find_nearest(self, release: int, key: str, neighbours: int) -> None:
        """Create ``nearest_NAME`` and ``NAME_sizes``: the records nearest to each person by a half.

        ``key`` names the half; ``neighbours`` records are to be found. A person with whom so many
        agree in the half (``alike``) needs no distances. For others (``targets``), a sample bounds
        the distance of the farthest neighbour (``reaches``), to leave most pairs out.
        """
        tables, name = self.tables, key.removesuffix("_key")
        self._make_places("halves_of_records", "halves", key, f"synthetic_{release}")
        numbers, targets = {"neighbours": neighbours}, {"all_targets": f"targets_{key}"}
        tables.make("alike", splice("synthetic/alike", numbers=numbers, tables=targets))
        tables.make("targets", splice("synthetic/distant", tables=targets))
        sample = "halves_of_records"
        if tables.count(sample) >= LEAST_SAMPLE * SAMPLE_SHARE:
            is_drawn = filled("hash(key) % share = 0", {"share": number(SAMPLE_SHARE)})
            tables.make("some_halves", exp.select("*").from_(sample).where(is_drawn))
            sample = "some_halves"

        def make_from_pairs(table: str, view: str, halves: str) -> None:
            """Make ``table`` from a template that compares all targets with all ``halves``.

            Targets are halves of drawn people, ``halves`` are those of records of the release; both
            have a place on its scale for each quasi-identifier of the half.
            """
            pairs = splice(
                "synthetic/half_pairs",
                places=[i + 1 for i in self.columns_of_halves[key]],
                tables={"halves_of_records": halves},
                numbers={"scale_unit": self._unit},
            )
            query = splice(f"synthetic/{view}", numbers=numbers)
            tables.make(table, Plan((view_step("half_pairs", pairs),), query))

        make_from_pairs("reaches", "reaches", sample)
        make_from_pairs(f"nearest_{name}", "nearest_halves", "halves_of_records")
        sizes = splice("synthetic/half_sizes", tables={"nearest_halves": f"nearest_{name}"})
        tables.make(f"{name}_sizes", sizes)
        tables.drop("halves_of_records", "alike", "targets", "reaches")
        if sample != "halves_of_records":
            tables.drop(sample)

    def _make_places(self, name: str, table: str, key: str, count: str = "") -> None:
        """Create the table ``name``: a row per different half in ``table``, with its places.

        A half are the quasi-identifiers of a person or record that one source knows; its ``key`` is
        the column of their values as one number. ``place_i`` is where the value of column i is on
        its scale. ``count`` is a column to add up as ``records``; a half without any is left out.
        """
        keyed = exp.select(exp.column(key).as_("key")).from_(table).group_by(key)
        query = exp.select("key")
        if count:
            counts = {"n": exp.column(count)}
            total = filled("sum(n)::BIGINT", counts).as_("records")
            keyed = keyed.select(total).where(filled("n > 0", counts))
            query = query.select("records")
        query = query.from_(keyed.subquery("keyed"))
        for i in self.columns_of_halves[key]:
            attribute = self.files.original.microdata.qids[i]
            code = self.coded.code_of_key(i, exp.column("key"))
            query = with_place(query, i + 1, attribute, code, self._unit)
        self.tables.make(name, query)
