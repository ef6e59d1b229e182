"""Singling out, linkability and inference (WP 216): shares of people, beyond those of a control.

Source: M120 to M122, M135, M136; Giomi, Boenisch, Wehmeyer and Tasnádi 2023 (anonymeter).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from qifsql.commands.synthetic.nearest_links import FIRST_KEY, SECOND_KEY, Draws, NearestLinks
from qifsql.commands.synthetic.nearest_people import is_ordered
from qifsql.commands.synthetic.some_predicates import USUAL_COLUMNS, Attempts, SomePredicates
from qifsql.commands.synthetic.spec import SyntheticOptions
from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import rows_of
from qifsql.data.expressions import filled
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.measures import release_measures as measures
from qifsql.measures.release_measures import Links, Measure, Predicates
from qifsql.query.splice import splice

PARTS_OF_PERSON = 2**60  # of a person whose halves are linked
MOST_NEIGHBOURS = 100
CELLS = {"cells": "predicate_cells"}  # the table of cells that SQL reads


@dataclass(frozen=True, kw_only=True)
class Questions:
    """The questions about all releases; tables of cells are made once for all of them."""

    tables: Tables
    coded: Coded
    files: Files
    attempts: Attempts | None
    draws: Draws | None

    @property
    def _control_people(self) -> int:
        return 0 if self.files.control is None else self.files.control.records

    def singling_out(self) -> Iterator[tuple[int, Measure]]:
        """Yield a release, by number, and a measure of predicates on one column, some, or all.

        A predicate singles out if it is true for one record of the release and for one person.
        """
        some = None  # the drawn predicates over some columns, if they are asked for
        if self.attempts is not None:
            some = SomePredicates(self.tables, self.coded, self.files, self.attempts)
        predicates = self._single_column_predicates(some)
        self.tables.make("predicate_cells", self.coded.cells(0))
        people = self.files.original.records, self._control_people
        for release in self.coded.releases:
            all_columns = self._count_equalities(release)
            predicates_by_columns = {"one": predicates[release], "all": all_columns}
            if some is not None:
                predicates_by_columns["some"] = some.predicates(release)
            for columns, tried_predicates in predicates_by_columns.items():
                name = f"singling_out_{columns}"
                for measure in measures.singling_out(name, tried_predicates, *people):
                    yield release, measure
        self.tables.drop("predicate_cells")

    def _single_column_predicates(self, some: SomePredicates | None) -> dict[int, list[Predicates]]:
        """Return the predicates on one column, by release.

        Also tells ``some`` the medians of ordered columns, while their cells are there.
        """
        predicates: dict[int, list[Predicates]] = {r: [] for r in self.coded.releases}
        for i, attribute in enumerate(self.files.original.microdata.qids):
            self.tables.make("predicate_cells", self.coded.cells(0, [i]))
            for release in self.coded.releases:
                predicates[release] += self._count_equalities(release)
                if is_ordered(attribute.type):
                    predicates[release] += self._count_extremes(release, i)
                    if some is not None:
                        some.look_up_middle(release, i)
            self.tables.drop("predicate_cells")
        return predicates

    def linkability(self, names: Sequence[str]) -> Iterator[tuple[int, Measure]]:
        """Yield each measure of linkability, with the number of the release that it is about.

        Could somebody who has the quasi-identifiers ``names`` of a person in one source, and the
        others in another source, find both in the same record? The table ``halves`` has a row per
        combination of values: a key for each half, and how many people and records have it.
        """
        qids = list(self.files.qids)
        first = [qids.index(name) for name in names]
        second = [i for i in range(len(qids)) if i not in first]
        halves = {FIRST_KEY: first, SECOND_KEY: second}
        keys = [exp.alias_(self.coded.key(places), name) for name, places in halves.items()]
        columns = [exp.column(name) for name in self.coded.counts]
        self.tables.make("predicate_cells", self.coded.cells(0))
        self.tables.make("halves", exp.select(*keys, *columns).from_("predicate_cells"))
        nearest = None
        if self.draws is not None:
            nearest = NearestLinks(
                tables=self.tables.doing("linking nearest records"),
                coded=self.coded,
                files=self.files,
                draws=self.draws,
                columns_of_halves=halves,
            )
            nearest.make_people(keys)
        self.tables.drop("predicate_cells")
        for release in self.coded.releases:
            links = self._count_links(release)
            further = [] if nearest is None else nearest.measures(release, links.records)
            for measure in (*measures.linkability(links), *further):
                yield release, measure
        self.tables.drop("halves")
        if nearest is not None:
            nearest.drop()

    def _count_links(self, release: int) -> Links:
        """Return the people whose halves are linked by equal values of records of a release.

        The view ``links`` adds, over people, the chance that a record drawn by one half is that
        drawn by the other; sums are in parts of a person, so that they are exact.
        """
        column = f"synthetic_{release}"
        right = rows_of(splice("synthetic/links", columns={"synthetic": column}), self.tables)[0]
        total = filled("sum(n)::BIGINT", {"n": exp.column(column)})
        ((records,),) = self.tables.rows(exp.select(total).from_("halves"))
        return Links(
            people=self.files.original.records,
            right=Fraction(right["original"], PARTS_OF_PERSON),
            control=self._control_people,
            control_right=Fraction(right["control"], PARTS_OF_PERSON),
            records=records,
        )

    def _count_equalities(self, release: int) -> list[Predicates]:
        """Return the predicates "has these values" true for one record, by people who fit."""
        columns = {"synthetic": f"synthetic_{release}"}
        query = splice("synthetic/predicates", columns=columns, tables=CELLS)
        return [
            Predicates(original=row["original"], control=row["control"], number=row["predicates"])
            for row in rows_of(query, self.tables)
        ]

    def _count_extremes(self, release: int, place: int) -> list[Predicates]:
        """Return the predicates "at most the least value" and "at least the greatest value".

        ``place`` is the index of an ordered column; its ends are those of the release's records. A
        predicate that is true for several of these does not single out, and is left out.
        """
        field = self.coded.fields[place]
        query = splice(
            "synthetic/extremes",
            columns={"synthetic": f"synthetic_{release}", "code": f"word_{field.word}"},
            numbers={"missing_code": self.coded.missing_code(place) << field.shift},
            tables=CELLS,
        )
        row = rows_of(query, self.tables)[0]
        ends = (("least_records", "below"), ("greatest_records", "above"))
        return [
            Predicates(original=row[side], control=row[f"{side}_control"], number=1)
            for records, side in ends
            if row[records] == 1
        ]


def parse_attempts(options: SyntheticOptions, columns: int, seed: int) -> Attempts | None:
    """Return the drawing of predicates over ``columns`` columns; None if it is not asked for."""
    attempts, terms = options["attempts"], options["terms"]  # terms: the columns of a predicate
    if attempts is None:
        if terms is not None:
            raise InputError("--terms is about predicates that are drawn; add --attempts")
        return None
    if not options["questions"]:
        raise InputError("--attempts is about one of the three questions; add --questions")
    if attempts < 1:
        raise InputError(f"{attempts} attempts; name 1 or more")
    if terms is not None and not 1 <= terms <= columns:
        raise InputError(f"predicates of {terms} terms; name 1 to {columns}")
    return Attempts(number=attempts, columns=terms or min(USUAL_COLUMNS, columns), seed=seed)


def parse_draws(options: SyntheticOptions, seed: int) -> Draws | None:
    """Return the drawing of ``--links`` people to link by nearest records; None if not asked."""
    links, neighbours = options["links"], options["neighbours"]
    if links is None:
        if neighbours is not None:
            raise InputError("--neighbours is about people who are drawn; add --links")
        return None
    if not options["split"]:
        raise InputError("--links is about two sources; add --split")
    if links < 1:
        raise InputError(f"links of {links} people; name 1 or more")
    if neighbours is not None and not 1 <= neighbours <= MOST_NEIGHBOURS:
        raise InputError(f"{neighbours} neighbours; name 1 to {MOST_NEIGHBOURS}")
    return Draws(number=links, neighbours=neighbours or 1, seed=seed)


def check_split(names: Sequence[str], qids: Sequence[str]) -> None:
    """Refuse a split that names no quasi-identifier, or leaves none to the second source."""
    for name in names:
        if name not in qids:
            hint = did_you_mean(name, qids)
            raise InputError(f"--split: {quoted(name)} is no quasi-identifier{hint}")
    if names and len(set(names)) == len(qids):
        raise InputError(
            "--split names all quasi-identifiers; leave one or more to the second source"
        )
