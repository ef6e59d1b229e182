"""Singling out, linkability and inference (WP 216): shares of people, beyond those of a control.

Source: M120 to M122; Giomi, Boenisch, Wehmeyer and Tasnádi 2023 (anonymeter).
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sqlglot import exp

from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import rows_of
from qifsql.data.types import NUMBERS, family
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.measures import release_measures as measures
from qifsql.measures.release_measures import Links, Measure, Predicates
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

ORDERED = (*NUMBERS, "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME")
PARTS = 2**60  # of a person whose halves are linked


def is_ordered(type_: str) -> bool:
    """Return whether values of a type lie on a scale: numbers, dates and times."""
    return family(type_) in ORDERED


class Questions:
    """The questions about all releases; tables of cells are made once for all of them."""

    def __init__(self, tables: Tables, coded: Coded, files: Files) -> None:
        self._tables = tables
        self._coded = coded
        self._files = files
        self._people = files.original.records
        self._control = 0 if files.control is None else files.control.records

    def singling_out(self) -> Iterator[tuple[int, Measure]]:
        """Yield the measures of predicates about one column and about all, for each release."""
        predicates: dict[int, list[Predicates]] = {r: [] for r in self._coded.releases}
        for i, attribute in enumerate(self._files.original.microdata.qids):
            self._tables.make("predicate_cells", self._coded.cells(0, [i]))
            for release in self._coded.releases:
                predicates[release] += self._equalities(release)
                if is_ordered(attribute.type):
                    predicates[release] += self._extremes(release, i)
            self._tables.drop("predicate_cells")
        self._tables.make("predicate_cells", self._coded.cells(0))
        for release in self._coded.releases:
            sizes = self._people, self._control
            for measure in (
                *measures.singling_out("singling_out_one", predicates[release], *sizes),
                *measures.singling_out("singling_out_all", self._equalities(release), *sizes),
            ):
                yield release, measure
        self._tables.drop("predicate_cells")

    def linkability(self, names: Sequence[str]) -> Iterator[tuple[int, Measure]]:
        """Yield how many people are linked who are known by ``names`` and by the other columns."""
        qids = list(self._files.qids)
        first = [qids.index(name) for name in names]
        second = [i for i in range(len(qids)) if i not in first]
        keys = [
            exp.alias_(self._key(subset), name)
            for subset, name in ((first, "first_key"), (second, "second_key"))
        ]
        columns = [exp.column(name) for name in self._coded.counts]
        self._tables.make("predicate_cells", self._coded.cells(0))
        self._tables.make("halves", exp.select(*keys, *columns).from_("predicate_cells"))
        self._tables.drop("predicate_cells")
        for release in self._coded.releases:
            column = f"synthetic_{release}"
            plan = Plan((), splice("synthetic/links", columns={"synthetic": column}))
            row = rows_of(plan, self._tables)[0]
            total = exp.cast(exp.Sum(this=exp.column(column)), "BIGINT")
            records = self._tables.rows(exp.select(total).from_("halves"))[0][0]
            links = Links(
                people=self._people,
                right=Fraction(row["original"], PARTS),
                control=self._control,
                control_right=Fraction(row["control"], PARTS),
                records=records,
            )
            for measure in measures.linkability(links):
                yield release, measure
        self._tables.drop("halves")

    def _key(self, subset: Sequence[int]) -> exp.Expr:
        """Return one value for the codes of a subset: its word, or a list of its words."""
        words = [word.this for word in self._coded.masked(subset)]
        return words[0] if len(words) == 1 else exp.Array(expressions=words)

    def _equalities(self, release: int) -> list[Predicates]:
        """Return the predicates that name the values of one record of a release."""
        query = splice("synthetic/predicates", columns=_columns(release), tables=_CELLS)
        return [
            Predicates(original=row["original"], control=row["control"], number=row["predicates"])
            for row in rows_of(Plan((), query), self._tables)
        ]

    def _extremes(self, release: int, place: int) -> list[Predicates]:
        """Return the predicates of the ends of a column: at most its least value, and so on."""
        word = f"word_{self._coded.fields[place].word}"
        query = splice(
            "synthetic/extremes",
            columns={**_columns(release), "code": word},
            numbers={"missing_code": self._missing(place)},
            tables=_CELLS,
        )
        row = rows_of(Plan((), query), self._tables)[0]
        ends = (("least_records", "below"), ("greatest_records", "above"))
        return [
            Predicates(original=row[side], control=row[f"{side}_control"], number=1)
            for records, side in ends
            if row[records] == 1
        ]

    def _missing(self, place: int) -> int:
        """Return the code of a missing value in the word of a column; -1 if it has none."""
        query = exp.select("code").from_(exp.table_(f"dictionary_{place + 1}"))
        rows = self._tables.rows(query.where(exp.column("value").is_(exp.null())))
        return rows[0][0] << self._coded.fields[place].shift if rows else -1


_CELLS = {"cells": "predicate_cells"}


def _columns(release: int) -> dict[str, str]:
    return {"synthetic": f"synthetic_{release}"}


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
