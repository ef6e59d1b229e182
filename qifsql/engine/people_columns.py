"""Columns of one dataset that are about people: their numbers, those of households, their names."""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.column_questions import Repeated
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import column as reference
from qifsql.data.expressions import filled
from qifsql.data.readers import select_records
from qifsql.data.topics import look_like_names, numbers_households, telling_members_apart
from qifsql.data.types import nested
from qifsql.engine.protocol import Engine

LARGE = 200_000  # rows of a file that is read in parts
FIRST_ROWS = 50_000  # of such a file, which are read first
SEARCHED_ROWS = 2_000_000  # of it, in which the first values are sought again: 0.05 seconds
ROWS_OF_NAMES = 1_000  # in which names of people are looked for
# In these templates ``rows`` has a row per record, ``field`` is its cell in one column.
COUNT_ROWS = "SELECT count(*) FROM rows"
COUNT_VALUES = "SELECT count(DISTINCT field), count(field) FROM rows"
VALUES_OF_FIRST = "SELECT field FROM rows WHERE field IN (SELECT field FROM rows LIMIT 1000)"
COUNT_DIFFERING = """
SELECT count(*)
FROM (
    SELECT field FROM rows WHERE field IS NOT NULL
    GROUP BY field HAVING count(DISTINCT member) > 1
) AS homes
"""  # numbers of households with members that differ


@dataclass(frozen=True)
class PeopleColumns:
    """The columns of a dataset that are about people, by their names and by their cells.

    ``where`` is the filter of the records that are looked at (None: all).
    """

    engine: Engine
    dataset: Dataset | Collection
    schema: Schema

    def names_of_people(
        self, names: Container[str], where: exp.Expr | None
    ) -> tuple[Repeated, ...]:
        """Return the columns, but ``names``, that look like names of people in the first records.

        On Spark none are read. The counts of a large file stay 0.
        """
        texts = [c for c in self.schema.columns if c.type == "VARCHAR" and c.name not in names]
        if not texts or self.engine.settings.engine_name == "spark":
            return ()
        rows = select_records(self.dataset, map(reference, texts), where).limit(ROWS_OF_NAMES)
        # the cells of each column; without records there are none of any
        cells_of_columns = zip(*self.engine.query(rows, self.dataset.name), strict=True)
        by_column = zip(texts, cells_of_columns, strict=False)
        columns_of_names: list[Repeated] = []
        for column in [column for column, cells in by_column if look_like_names(cells)]:
            counted = self._count_values(column, self._fields(column, where).limit(LARGE))
            columns_of_names.append(counted if counted.records < LARGE else Repeated(column.name))
        return tuple(columns_of_names)

    def repeats(
        self, names: Sequence[str], where: exp.Expr | None, keys: Container[str]
    ) -> tuple[Repeated, ...]:
        """Return those of the columns that number people, if some person has several records.

        A column that is none of the ``keys`` must also have many different values. A large file is
        not read whole: only its first records are, then more to find the first 1,000 values again.
        """
        columns = [self.schema.find(name) for name in names]
        plain = [column for column in columns if column is not None and not nested(column.type)]
        repeated = (self._repeated(c, where, is_key=c.name in keys) for c in plain)
        return tuple(column for column in repeated if column is not None)

    def households(self, names: Sequence[str], where: exp.Expr | None) -> tuple[Repeated, ...]:
        """Return those of the columns that number households, in which some members differ.

        If the records of a number are all alike, they may be of one person. Of a large file the
        first records are compared.
        """
        once = [name for name, times in Counter(names).items() if times == 1]  # else ambiguous
        member_columns = [self.schema[name] for name in telling_members_apart(once)]
        member_columns = [column for column in member_columns if not nested(column.type)]
        if not member_columns:
            return ()
        numbers = self.repeats([name for name in once if numbers_households(name)], where, ())
        return tuple(n for n in numbers if self._members_differ(n.column, member_columns, where))

    def _members_differ(
        self, household: str, member_columns: Sequence[Column], where: exp.Expr | None
    ) -> bool:
        """Return whether records with the same ``household`` differ in these columns."""
        # a row per record: the number of its household, and what tells its member from others
        texts = [exp.cast(reference(column), "VARCHAR") for column in member_columns]
        member = exp.alias_(exp.Array(expressions=texts), "member")
        rows = self._fields(self.schema[household], where).select(member).limit(LARGE)
        (n_differing,) = self._row(COUNT_DIFFERING, rows)
        return bool(n_differing)

    def _repeated(self, column: Column, where: exp.Expr | None, *, is_key: bool) -> Repeated | None:
        """Return a column with its counts if it numbers people who repeat, else None.

        ``is_key``: the user says that it numbers people. The counts of a large file stay 0.
        """
        fields = self._fields(column, where)
        is_large = self._row(COUNT_ROWS, fields.limit(LARGE)) == (LARGE,)
        counted = self._count_values(column, fields.limit(FIRST_ROWS) if is_large else fields)
        repeats = counted.values < counted.records if is_key else counted.numbers_people
        if not is_large:
            return counted if repeats else None
        if not repeats and self.engine.settings.engine_name != "spark":
            # the records of a person may be far apart: look for the first values further below
            searched = fields.limit(SEARCHED_ROWS).subquery("rows")
            again = cast("exp.Query", filled(VALUES_OF_FIRST, {"rows": searched}))
            repeats = self._count_values(column, again).numbers_people
        return Repeated(column.name) if repeats else None

    def _fields(self, column: Column, where: exp.Expr | None) -> exp.Select:
        """Return the query of the cells of a column (``field``), a row per record."""
        return select_records(self.dataset, [exp.alias_(reference(column), "field")], where)

    def _count_values(self, column: Column, fields: exp.Query) -> Repeated:
        """Return the number of values of a column, and of the records that have one."""
        return Repeated(column.name, *self._row(COUNT_VALUES, fields))

    def _row(self, template: str, rows: exp.Query) -> tuple[int, ...]:
        """Return the one row of a template of counts over these ``rows``."""
        query = filled(template, {"rows": rows.subquery("rows")})
        (row,) = self.engine.query(cast("exp.Query", query), self.schema.dataset)
        return row
