"""Predicates about some columns, drawn from the records of a release, with ranges of numbers.

Source: M135; Giomi, Boenisch, Wehmeyer and Tasnádi 2023 (multivariate singling out).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.synthetic.nearest_people import is_ordered
from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import rows_of
from qifsql.data.expressions import filled
from qifsql.data.types import Row
from qifsql.engine.tables import Tables
from qifsql.measures.release_measures import Predicates
from qifsql.query.columns import equal, number
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice
from qifsql.query.templates import load

USUAL_COLUMNS = 3  # of a predicate, unless another number is asked for
SAMPLE_SHARES = (256, 16)  # one of so many tuples is looked at first
LEAST_SAMPLE = 100  # tuples: a smaller sample is not worth while
CELLS = "predicate_cells"


@dataclass(frozen=True, kw_only=True)
class Attempts:
    """Predicates that are drawn: how many, the columns of each, the seed."""

    number: int
    columns: int
    seed: int


@dataclass(frozen=True)
class Scale:
    """The codes of a quasi-identifier of numbers: of a missing value (-1 if none), the largest."""

    missing: int
    greatest: int


class SomePredicates:
    """The predicates of all releases, counted on the table of the cells of all columns.

    A predicate is made from a drawn record of the release: in some columns it names the value, in
    ordered columns a range from it away from the median. It singles out if it is true for one.
    """

    def __init__(self, tables: Tables, coded: Coded, files: Files, attempts: Attempts) -> None:
        """Look up the codes of ordered columns; ``look_up_middle`` must tell their medians."""
        self._tables = tables.doing("trying predicates")
        self._coded = coded
        self._attempts = attempts
        self._scales: dict[int, Scale] = {}
        for i, attribute in enumerate(files.original.microdata.qids):
            if is_ordered(attribute.type):
                missing = coded.missing_code(i)
                # Codes are 0, 1, ... in the order of the values; that of missing ones is the last.
                self._scales[i] = Scale(missing, coded.values[i] - 1 - (missing >= 0))
        self._middles: dict[tuple[int, int], int] = {}  # codes of medians, by release and column

    def look_up_middle(self, release: int, place: int) -> None:
        """Remember the code of the median of a column, by its index, in a release; -1: no value.

        The table ``CELLS`` must have the cells of this column alone.
        """
        field = self._coded.fields[place]
        query = splice(
            "synthetic/middles",
            columns={"synthetic": f"synthetic_{release}", "code": f"word_{field.word}"},
            numbers={"missing_code": self._scales[place].missing << field.shift},
            tables={"cells": CELLS},
        )
        ((middle,),) = self._tables.rows(query)
        self._middles[release, place] = -1 if middle is None else middle >> field.shift

    def predicates(self, release: int) -> list[Predicates]:
        """Return the drawn predicates that are true for one record, by the people who satisfy them.

        ``CELLS`` must have the cells of all columns; a statement tries all predicates over some.
        """
        self._draw(release)
        samples = self._make_samples(release)
        column_sets = exp.select("fields").distinct().from_("drawn_records").order_by("fields")
        rows: list[Row] = []
        for n, (fields,) in enumerate(self._tables.rows(column_sets)):
            plan = self._plan(release, fields, samples)
            if n:  # the first statement is recorded; all others are like it
                names = [column.alias_or_name for column in plan.result.expressions]
                rows += [dict(zip(names, row, strict=True)) for row in self._tables.rows(plan)]
            else:
                rows += rows_of(plan, self._tables)
        self._tables.drop("drawn_records", *samples)
        return [
            Predicates(original=row["original"], control=row["control"], number=row["predicates"])
            for row in rows
        ]

    def _draw(self, release: int) -> None:
        """Create ``drawn_records``: for each attempt at a predicate a drawn record and columns."""
        total = filled("sum(n)::BIGINT", {"n": exp.column(f"synthetic_{release}")})
        ((records,),) = self._tables.rows(exp.select(total).from_(CELLS))
        numbers = {
            "seed": self._attempts.seed,
            "records": records,
            "attempt_count": self._attempts.number,
            "field_count": len(self._coded.fields),
            "fields_of_one": self._attempts.columns,
        }
        steps = (
            view_step("attempts", splice("synthetic/attempts", numbers=numbers)),
            numbering_step(self._coded, f"synthetic_{release}"),
        )
        query = splice("synthetic/drawn_records", words=self._coded.words)
        self._tables.make("drawn_records", Plan(steps, query))

    def _make_samples(self, release: int) -> list[str]:
        """Create samples of the tuples of a release, if it has many; return their tables.

        The smallest sample comes first: it rules out most predicates that are true for two records.
        """
        is_present = filled("n > 0", {"n": exp.column(f"synthetic_{release}")})
        tuples = exp.select().from_(CELLS).where(is_present)
        ((count,),) = self._tables.rows(tuples.select("count(*)"))
        words = [exp.column(f"word_{i}") for i in range(1, self._coded.words + 1)]
        lot = exp.Anonymous(this="hash", expressions=words)
        names = []
        for share in SAMPLE_SHARES:
            if count >= LEAST_SAMPLE * share:
                names.append(f"sample_{share}")
                is_drawn = filled("lot % share = 0", {"lot": lot, "share": number(share)})
                self._tables.make(names[-1], tuples.select("*").where(is_drawn))
        return names

    def _plan(self, release: int, fields: Sequence[int], samples: Sequence[str]) -> Plan:
        """Return the plan of the predicates over the columns ``fields`` that single out.

        A predicate (``conditions``) is made from a drawn record. Tuples are the different records
        with their numbers. Predicates are matched with each sample of tuples in turn, which leaves
        out those that are true for several (``rare_conditions`` are the others), then with all.
        """
        ranges = [i for i in fields if i in self._scales]
        numbers: Mapping[str, Sequence[int]] = {
            "missing_code": [self._scales[i].missing for i in ranges],
            "greatest_code": [self._scales[i].greatest for i in ranges],
            "middle": [self._middles[release, i] for i in ranges],
        }
        words, places = self._coded.words, [i + 1 for i in ranges]
        conditions = splice("synthetic/conditions", words=words, places=places, numbers=numbers)
        of_fields = equal(exp.column("fields"), exp.Array(expressions=[number(i) for i in fields]))
        drawn = self._select_values("drawn_records", fields).select("attempt").where(of_fields)
        steps = [
            Step("drawn_values", "The drawn records, coded.", drawn),
            view_step("conditions", conditions),
        ]
        synthetic = exp.column(f"synthetic_{release}").as_("synthetic")
        tried = "conditions"  # the step of the predicates that may still single out
        for n, table in enumerate([*samples, CELLS], 1):  # the smallest sample comes first
            candidates = self._select_values(table, fields).select("original", "control", synthetic)
            names = {"candidates": f"candidates_{n}", "conditions": tried}
            matches = splice("synthetic/matches", words=words, places=places, tables=names)
            steps.append(Step(names["candidates"], "Tuples, coded.", candidates))
            steps.append(view_step("matches", matches, f"matches_{n}"))
            if table != CELLS:
                names = {"conditions": tried, "matches": f"matches_{n}"}
                tried = f"conditions_{n}"
                rare = splice("synthetic/rare_conditions", tables=names)
                steps.append(view_step("rare_conditions", rare, tried))
        cells = {"cells": steps[-1].name}  # the matches with all tuples
        result = splice("synthetic/predicates", columns={"synthetic": "records"}, tables=cells)
        return Plan(tuple(steps), result)

    def _select_values(self, table: str, fields: Sequence[int]) -> exp.Select:
        """Return the query of the columns ``fields`` of a table of cells.

        Ordered ones are codes, each a column; the others are packed into words.
        """
        ordered = [i for i in fields if i in self._scales]
        codes = [exp.alias_(self._coded.code_of(i, table), f"place_{i + 1}") for i in ordered]
        words = self._coded.masked(i for i in fields if i not in self._scales)
        return exp.select(*words, *codes).from_(table)


def numbering_step(coded: Coded, people: str) -> Step:
    """Return the step ``numbered``, in which the n-th person of a file or record can be found.

    A row has the values of some people, and up to which number they are; the column ``people`` of
    the counts says which file or release is numbered.
    """
    columns, tables = {"people": people}, {"cells": CELLS}
    query = splice("synthetic/numbered", words=coded.words, columns=columns, tables=tables)
    return view_step("numbered", query)


def view_step(view: str, query: exp.Select, name: str = "") -> Step:
    """Return the step of a view of ``sql/synthetic.sql``."""
    return Step(name or view, load(f"synthetic/{view}").doc, query)
