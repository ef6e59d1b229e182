"""DuckDB's catalog of one dataset: the types of expressions over its columns, and their values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.column_questions import Spelling, UsualWords
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import SOURCE, filled, identifier, parse, source_columns
from qifsql.data.expressions import column as _column
from qifsql.data.files import equal_files
from qifsql.data.missing import NINES, USUAL
from qifsql.data.readers import relation, select_records
from qifsql.data.topics import unanswered
from qifsql.data.types import INTEGERS, NUMBERS, family, nested
from qifsql.engine import growth, missing_words, remembered
from qifsql.engine.columns_of_files import read_collection, read_columns
from qifsql.engine.csv_types import remarks
from qifsql.engine.functions import ALLOWED, functions_of, parsed
from qifsql.engine.people_columns import FIRST_ROWS, PeopleColumns
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, EngineError, ExpressionError, InputError, plural, quoted

TEXTS = ("VARCHAR", "ENUM", "JSON", "BLOB")  # types whose values may have any length
WORDED_TYPES = (*INTEGERS, *TEXTS)  # types of columns that may have words for missing values
WORDED_TOGETHER = 16  # columns of one query, which takes more time for each of many
LONGEST = "coalesce(max(strlen(CAST(field AS VARCHAR))), 0)"  # in bytes
CUMULATED = """(
    SELECT
        field,
        sum(count(*)) OVER (ORDER BY field) AS upto,
        sum(count(*)) OVER () AS size
    FROM rows WHERE field IS NOT NULL
    GROUP BY field
)"""  # a row per value: the records that have at most this value, and all that have one
EXTREMES = (
    "min(field) FILTER (WHERE field >= 0)",
    f"max(field) FILTER (WHERE field NOT IN {NINES})",
    "max(field)",
)
SPELLINGS = ("count(DISTINCT field)", "count(DISTINCT lower(trim(field, ' \u00a0')))")
CATEGORIES = ("VARCHAR", "ENUM")  # types of columns of categories
NUMBER = "[+-]?([0-9]+,[0-9]+|[0-9]{1,3}([.][0-9]{3})+(,[0-9]+)?)"
DECIMALS = f"""
    coalesce(
        2 * count(*) FILTER (regexp_full_match(trim(field), '{NUMBER}')) > count(field), FALSE
    )
"""  # most are numbers with a decimal comma, or with points between thousands
COUNT_WORDS = ("list_sort(list(DISTINCT word) FILTER (WHERE word IS NOT NULL))", "count(word)")


class Catalog:
    """The catalog that binding reads for one dataset (``qifsql.data.column_questions``)."""

    def __init__(
        self,
        engine: Engine,
        dataset: Dataset | Collection,
        mentions: Callable[[str], bool] | None = None,
    ) -> None:
        """Read the columns; of CSV, check only the fields of those that ``mentions`` accepts."""
        engine.attach(dataset)
        self.engine = engine
        self.dataset: Dataset | Collection
        if isinstance(dataset, Collection):
            self.dataset, self.schema = read_collection(engine, dataset, mentions)
        else:
            self.dataset, self.schema = read_columns(engine, dataset, mentions)
        self.people = PeopleColumns(engine, self.dataset, self.schema)

    def types(self, expressions: Sequence[exp.Expr], whats: Sequence[str]) -> list[str]:
        """Return DuckDB's types of expressions, which ``whats`` name in errors."""
        types: list[str] = []
        by_name = {c.source_name: c.type for c in self.schema.columns}
        self._note_irregularities(source_columns(*expressions))
        for tree, what in zip(expressions, whats, strict=True):
            if isinstance(tree, exp.Column):
                types.append(by_name[tree.name])
                continue
            self._check_functions(tree, what)
            source = exp.alias_(relation(self.dataset, source_columns(tree)), SOURCE, table=True)
            types.append(self._type(tree, source, what))
        return types

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return notes on copies, on empty lines, and on the spelling of fields in use so far."""
        return (
            *self._note_equal_files(),
            *self._note_records_and_headers(),
            *remarks(self.engine),
        )

    def _note_records_and_headers(self) -> list[str]:
        """Return notes on blank records, on how names were read, and on columns left out."""
        notes: list[str] = []
        for part in self.schema.parts or (self.schema,):
            if part.blank:
                notes.append(
                    f"{part.dataset} has {plural(part.blank, 'record')} without a value in any "
                    "column, and each counts as a person: if they are empty lines, delete them"
                )
            if part.second_header:
                notes.append(
                    f"{part.dataset}: the line below the names looks like a part of the header, "
                    "and counts as a record; --header-rows 2 leaves it out"
                )
            if part.row_names:
                notes.append(
                    f"{part.dataset}: its first line has one name less than the others have "
                    "fields; the first column, 1, 2, ..., is read as the names of rows that R "
                    f"writes, {quoted(part.columns[0].name)}"
                )
            if part.left_out:
                notes.append(
                    f"{part.dataset} is read without {', '.join(map(quoted, part.left_out))}, "
                    "because its values have several types; give each column one"
                )
        return notes

    def _note_equal_files(self) -> list[str]:
        """Return notes on files of one dataset that have the same bytes, at most three."""
        if not isinstance(self.dataset, Dataset) or len(self.dataset.paths) < 2:
            return []
        return [
            f"{quoted(path)} has the same bytes as {quoted(earlier)}, and both are read: their "
            "people count twice, so nobody of them is singled out; name one of the two"
            for path, earlier in equal_files(self.dataset.paths)
        ][:3]

    def _note_irregularities(self, columns: frozenset[str]) -> None:
        """Record which of the columns are irregular (``Column.irregularity``) in the engine.

        Unusual fields matter only where values of several files are compared.
        """
        compared = [source for source in self.engine.sources if not isinstance(source, Path)]
        across_files = len(compared) > 1 and not isinstance(self.dataset, Collection)
        harmless = ("",) if across_files else ("", "unusual")
        for part in self.schema.parts or (self.schema,):
            for column in part.columns:
                if column.irregularity not in harmless and column.source_name in columns:
                    self.engine.irregular_columns[part.dataset, column.name] = column.irregularity

    def check_number(self, tree: exp.Expr, columns: Mapping[str, str], what: str) -> None:
        """Refuse an expression, called ``what``, that is no number; ``columns``: types by name."""
        self._check_functions(tree, what)
        empty = [
            exp.alias_(exp.cast(exp.null(), type_, dialect="duckdb"), identifier(name))
            for name, type_ in columns.items()
        ]
        kind = family(self._type(tree, exp.select(*empty).subquery(SOURCE), what))
        if kind not in NUMBERS:
            raise ExpressionError(
                f"{what} is of type {kind}, not a number; cast it, as in (guess = secret)::INTEGER"
            )

    def beside(self, path: str) -> tuple[Dataset, Schema]:
        """Return a small file named by the user, and its columns; CSV is read as text."""
        return open_beside(self.engine, path)

    def _check_functions(self, tree: exp.Expr, what: str) -> None:
        """Refuse functions that are not allowed, and values that may be too long."""
        nodes = parsed(self.engine, tree, what)
        names = functions_of(nodes)
        for name in sorted(names):
            if name not in ALLOWED:
                raise ExpressionError(
                    f"{what} uses the function {name}, which is unknown, is not allowed in "
                    "expressions or does not give one lasting value for each row; use another"
                )

        growth.check(nodes, what, self._lengths(tree) if growth.GROWING & names else None)

    def _lengths(self, tree: exp.Expr) -> dict[str, int]:
        """Return the length of the longest value of each column read; of numbers ``SMALL``."""
        columns = source_columns(tree)
        used = [c for c in self.schema.columns if c.source_name in columns and not nested(c.type)]
        lengths = {c.source_name: growth.SMALL for c in used}
        texts = [c for c in used if family(c.type) in TEXTS]
        if not texts:
            return lengths
        longest = [filled(LONGEST, {"field": _column(c)}) for c in texts]
        # one row: for each column of texts the bytes of its longest one
        (answers,) = self.engine.query(
            select_records(self.dataset, longest, None, columns), self.dataset.name
        )
        return lengths | {c.source_name: int(n) for c, n in zip(texts, answers, strict=True)}

    def condition(self, tree: exp.Expr, what: str = "the filter (where)") -> None:
        """Refuse an expression that does not return true or false."""
        type_ = self.types([tree], [what])[0]
        if type_ != "BOOLEAN":
            raise ExpressionError(
                f"{what} is of type {family(type_)}, not a condition; compare it with something"
            )

    def usual_words(
        self, names: Sequence[str], where: exp.Expr | None, *, of_first: bool = False
    ) -> dict[str, UsualWords]:
        """Return the usual words for missing values (``NA``, ``-9``) in the columns ``names``.

        So are texts such as "Prefer not to say" in five languages, and the greatest code of a
        column if it has nines alone and stands apart (1 to 4 and 9, 18 to 70 and 99). Columns
        without any are left out. ``where`` is the filter of records; ``of_first``: only the first
        records of a large file are read.
        """
        columns = [c for c in map(self.schema.find, names) if c and family(c.type) in WORDED_TYPES]
        is_csv = isinstance(self.dataset, Dataset) and self.dataset.format == "csv"
        many_queries = len(columns) > 4 * WORDED_TOGETHER
        source = self.engine.load(self.dataset) if is_csv and many_queries else self.dataset
        words: dict[str, UsualWords] = {}
        for start in range(0, len(columns), WORDED_TOGETHER):
            batch = columns[start : start + WORDED_TOGETHER]
            words |= self._usual_words(batch, source, where, of_first=of_first)
        return words

    def _usual_words(
        self,
        columns: Sequence[Column],
        source: Dataset | Collection,
        where: exp.Expr | None,
        *,
        of_first: bool,
    ) -> dict[str, UsualWords]:
        """Return the usual words in the ``columns`` of a ``source``, read by one query."""
        rows = select_records(source, [exp.Star()], where)
        rows = rows.limit(FIRST_ROWS) if of_first else rows
        codes = self._codes_of_nines(columns, rows, source)
        words = [
            exp.alias_(_usual_word(column, codes.get(column.name, ())), f"word_{i}", copy=False)
            for i, column in enumerate(columns)
        ]
        # a row per record: for each column its usual word for a missing value, NULL for all else
        cells = exp.select(*words, copy=False).from_(rows.subquery(SOURCE, copy=False), copy=False)
        counts = [
            filled(template, {"word": exp.column(f"word_{i}")})
            for i in range(len(columns))
            for template in COUNT_WORDS
        ]
        # one row: how many records were read; for each column its words, and records with one
        query = exp.select("count(*)", *counts).from_(cells.subquery("cells"), copy=False)
        ((n_read, *answers),) = remembered.query(self.engine, query, source)
        is_part = of_first and n_read == FIRST_ROWS
        by_column = zip(columns, answers[::2], answers[1::2], strict=True)
        return {
            column.name: UsualWords(words_found, int(records), is_part)
            for column, words_found, records in by_column
            if records
        }

    def _codes_of_nines(
        self, columns: Sequence[Column], rows: exp.Select, source: Dataset | Collection
    ) -> dict[str, tuple[str, ...]]:
        """Return the columns of whole numbers whose greatest one is a code of nines, with it.

        Such a code is above all others by more than 3 and a quarter of their range.
        """
        numbers = [c for c in columns if family(c.type) in INTEGERS]
        if not numbers:
            return {}
        # one row: for each column its least number from 0 on, the greatest but codes of nines,
        # and the greatest
        tests = [filled(test, {"field": _column(c)}) for c in numbers for test in EXTREMES]
        query = exp.select(*tests).from_(rows.subquery(SOURCE))
        (answers,) = remembered.query(self.engine, query, source)
        by_column = zip(numbers, answers[::3], answers[1::3], answers[2::3], strict=True)
        return {
            column.name: (str(code),)
            for column, least, greatest_other, code in by_column
            if greatest_other is not None
            and code in NINES
            and 4 * (code - greatest_other - 3) >= greatest_other - least
        }

    def spellings(self, names: Sequence[str], where: exp.Expr | None) -> dict[str, Spelling]:
        """Return the columns ``names`` with categories that are equal but for case or blanks.

        Columns of more than 1,000 texts have no categories. Those of CSV are in the result, too,
        whose texts are decimal numbers. Of a large file the first records are read. ``where`` is
        the filter of records.
        """
        columns = [c for c in map(self.schema.find, names) if c and family(c.type) in CATEGORIES]
        if not columns:
            return {}
        texts = [
            exp.alias_(exp.cast(_column(c), "VARCHAR"), f"text_{i}") for i, c in enumerate(columns)
        ]
        rows = select_records(self.dataset, texts, where).limit(FIRST_ROWS)
        is_csv = isinstance(self.dataset, Dataset) and self.dataset.format == "csv"
        reads_numbers = is_csv and not getattr(self.dataset, "all_varchar", False)
        reads_numbers &= self.engine.settings.engine_name != "spark"  # whose patterns differ
        templates = (*SPELLINGS, DECIMALS if reads_numbers else "FALSE")
        counts = [
            filled(template, {"field": exp.column(f"text_{i}")})
            for i in range(len(columns))
            for template in templates
        ]
        # one row: for each column its texts, these without case and blanks, whether most are
        # decimal numbers
        query = exp.select(*counts).from_(rows.subquery("rows"))
        (answers,) = self.engine.query(query, self.schema.dataset)
        by_column = zip(columns, answers[::3], answers[1::3], answers[2::3], strict=True)
        spellings = {c.name: Spelling(*counts) for c, *counts in by_column}
        return {n: s for n, s in spellings.items() if s.decimals or s.folded < s.values}

    def quantiles(self, value: exp.Expr, groups: int, where: exp.Expr | None) -> list[str]:
        """Return the limits between so many groups of about equal size, as texts, in their order.

        Each is a value above the least; there are fewer limits where a value is in many records.
        """
        rows = select_records(
            self.dataset, [exp.alias_(value.copy(), "field")], where, source_columns(value)
        )
        limits = (f"min(field) FILTER (WHERE {groups} * upto > {i} * size)" for i in range(groups))
        columns = (filled(f"CAST({limit} AS VARCHAR)", {}) for limit in limits)
        # one row: for each i the first value up to which more than i / groups of the records are
        query = exp.select(*columns).from_(filled(CUMULATED, {"rows": rows.subquery("rows")}))
        ((least, *others),) = self.engine.query(query, self.schema.dataset)
        return [limit for limit in dict.fromkeys(others) if limit not in (None, least)]

    def filter(self, where: str | None, what: str = "the filter (where)") -> exp.Expr | None:
        """Return the condition of a filter, None without one; ExpressionError if it is invalid."""
        if where is None:
            return None
        condition = parse(where, self.schema, what)
        self.condition(condition, what)
        return condition

    def _type(self, tree: exp.Expr, source: exp.Expr, what: str) -> str:
        """Return the type of an expression over ``source``; ExpressionError if it has none."""
        query = exp.select(exp.alias_(tree.copy(), "value")).from_(source)
        try:
            return self.engine.describe(query, self.dataset.name)[0][1]
        except (InputError, EngineError) as e:
            raise ExpressionError(
                f"{what} cannot be evaluated on {self.dataset.name}: a function does not exist "
                f"or the types do not fit{self._types_hint(tree)}; --debug shows "
                "DuckDB's message",
                detail=e.detail,
            ) from e

    def _types_hint(self, tree: exp.Expr) -> str:
        """Return the types of up to five columns of an expression, and which stayed text."""
        used = [c for c in self.schema.columns if c.source_name in source_columns(tree)]
        types = ", ".join(f"{quoted(c.name)} is {family(c.type)}" for c in used[:5])
        hint = f" ({types})" if used else ""
        stayed_text = self.dataset.texts if isinstance(self.dataset, Dataset) else ()
        if texts := [quoted(c.name) for c in used if c.source_name in stayed_text]:
            hint += (
                f" (column {', '.join(texts)} is read as text, because its fields have more digits "
                "than a number or time holds; cast it if rounding does no harm)"
            )
        return hint

    def fits(self, value: str, type_: str) -> bool:
        """Return whether a text can be read as a value of a type."""
        return bool(missing_words.readable(self.engine, self.dataset.name, type_, [value]))


def open_beside(engine: Engine, path: str) -> tuple[Dataset, Schema]:
    """Return a small file named by the user, and its columns; CSV is read as text."""
    opened = Dataset.open(path)
    if opened.format == "duckdb":
        raise DatasetError(f"{path} is a table of a database; give a CSV or Parquet file")
    return read_columns(engine, replace(opened, all_varchar=opened.format == "csv"), None)


def _usual_word(column: Column, codes: Sequence[str]) -> exp.Expr:
    """Return the text of a cell that is a usual word for a missing value or one of the codes."""
    text = exp.cast(_column(column), "VARCHAR")
    words = [exp.Literal.string(word) for word in (*USUAL, *codes)]
    is_usual: exp.Expr = exp.In(this=text.copy(), expressions=words)
    if family(column.type) in CATEGORIES:
        phrases = [exp.Literal.string(phrase) for phrase in sorted(unanswered())]
        is_phrase = exp.In(this=exp.Lower(this=text.copy()), expressions=phrases)
        is_usual = exp.or_(is_usual, is_phrase, copy=False)
    return exp.Case(ifs=[exp.If(this=is_usual, true=text)])
