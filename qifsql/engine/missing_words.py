"""Find the values that words for missing values are, and type columns of CSV without them.

Dates in the order that the user names are typed here, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.dates import YEAR_FIRST
from qifsql.data.expressions import filled, identifier
from qifsql.data.missing import MissingValues, words
from qifsql.data.readers import castable, relation
from qifsql.data.types import NOTHING, nested
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, quoted

TYPES = {  # of columns of CSV, and the condition that a field is of the type
    "BIGINT": "regexp_full_match(field, '[+-]?[0-9]{1,18}')",
    "HUGEINT": "regexp_full_match(field, '[+-]?[0-9]{1,38}')",
    "DOUBLE": "TRY_CAST(field AS DOUBLE) IS NOT NULL",
    "TIME": "TRY_CAST(field AS TIME) IS NOT NULL",
    "DATE": "TRY_CAST(field AS DATE) IS NOT NULL",
    "TIMESTAMP": "TRY_CAST(field AS TIMESTAMP) IS NOT NULL",
}

TOGETHER = 200  # columns that one statement checks
ARE_DATES = "coalesce(bool_and(instant IS NOT NULL) FILTER (field IS NOT NULL), FALSE)"
HAVE_TIMES = "coalesce(bool_or(length(field) > 10), FALSE)"
ARE_YEAR_FIRST = f"coalesce(bool_and(regexp_full_match(field, '{YEAR_FIRST}')), TRUE)"


def resolve(
    engine: Engine, dataset: Dataset, names: Sequence[str], columns: Sequence[tuple[str, str]]
) -> Dataset:
    """Return the dataset with ``missing``: per column, its type and the values to read as NULL.

    These are the user's words (``dataset.na``), for one column or for all. ``names`` are the names
    in the file of its ``columns``, each of which is the engine's name and type. Texts of CSV get
    the type that their other fields have. ColumnError if a word is for a column that is not there.
    """
    listed = [Column(n, source, type_) for n, (source, type_) in zip(names, columns, strict=True)]
    schema = Schema(dataset.name, tuple(listed))
    by_name = words(dataset.na)
    shared = by_name.pop("", ())  # words without the name of a column are for all columns
    by_source = {schema[name].source_name: texts for name, texts in by_name.items()}
    words_of = {s: tuple(dict.fromkeys((*shared, *by_source.get(s, ())))) for s, _ in columns}
    dates = _dates(engine, dataset, schema, words_of) if dataset.date_order else {}
    missing = [MissingValues(s, dates[s], words_of[s], converted=True) for s in dates]
    words_of_texts: dict[str, tuple[str, ...]] = {}  # of columns that may get another type
    for source, type_ in columns:
        if source in dates or not words_of[source]:
            continue
        if type_ == "VARCHAR":
            words_of_texts[source] = words_of[source]
        elif not nested(type_):
            values = readable(engine, dataset.name, type_, words_of[source])
            missing += [MissingValues(source, type_, values)] if values else []
    types = _types(engine, dataset, words_of_texts) if dataset.format == "csv" else {}
    for source, texts in words_of_texts.items():
        type_ = types.get(source, "VARCHAR")
        missing.append(MissingValues(source, type_, texts, converted=source in types))
    return replace(dataset, missing=tuple(missing), names=tuple(source for source, _ in columns))


def readable(engine: Engine, where: str, type_: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the words that can be read as values of a type; none for a column without values."""
    if type_ == NOTHING:
        return ()
    kind = exp.DataType.build(type_, dialect="duckdb")
    values = (exp.TryCast(this=exp.Literal.string(word), to=kind.copy()) for word in candidates)
    # one row: for each word whether it is no value of the type
    (is_null,) = engine.query(exp.select(*(value.is_(exp.null()) for value in values)), where)
    return tuple(word for word, no_value in zip(candidates, is_null, strict=True) if not no_value)


def _types(
    engine: Engine, dataset: Dataset, texts: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Return the types of text columns of CSV that are typed without their words for missing.

    ``texts`` are the words by column. A column without such words, or a common type, is left out.
    """
    if dataset.all_varchar or not texts:
        return {}
    is_word = {
        name: exp.column(identifier(name)).isin(*map(exp.Literal.string, column_words))
        for name, column_words in texts.items()
    }
    tests = [exp.func("bool_or", condition) for condition in is_word.values()]
    # one row: for each column whether one of its words is in it
    (have_words,) = engine.query(exp.select(*tests).from_(relation(dataset)), dataset.name)
    types: dict[str, str] = {}
    left_out = ("DATE", "TIMESTAMP") if dataset.date_order else ()  # these are typed already
    for name, has_word in zip(is_word, have_words, strict=True):
        if not has_word:
            continue
        field = exp.column(identifier(name))
        tests = [
            exp.func("bool_and", filled(is_of_type, {"field": castable(field, type_, dataset)}))
            for type_, is_of_type in TYPES.items()
        ]
        is_other = exp.not_(is_word[name].copy())
        query = exp.select(*tests).from_(relation(dataset)).where(is_other)
        # one row: for each type whether all other fields are of it
        (answers,) = engine.query(query, dataset.name)
        by_type = zip(TYPES, answers, strict=True)
        if fitting := [type_ for type_, fits in by_type if fits and type_ not in left_out]:
            types[name] = fitting[0]
    return types


def _dates(
    engine: Engine, dataset: Dataset, schema: Schema, words_of: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Return the types of columns whose fields are all dates in the order of the dataset.

    ``words_of`` are the words for missing values by column. DatasetError if DuckDB reads dates in a
    column whose fields are not dates of that order.
    """
    if dataset.all_varchar or dataset.format != "csv":
        return {}
    text = relation(replace(dataset, all_varchar=True, missing=(), wave=None))
    columns = [c for c in schema.columns if c.type in ("DATE", "TIMESTAMP", "VARCHAR")]
    types: dict[str, str] = {}
    for start in range(0, len(columns), TOGETHER):
        batch = columns[start : start + TOGETHER]
        tests: list[exp.Expr] = []
        for column in batch:
            field: exp.Expr = exp.column(identifier(column.source_name))
            if words := words_of[column.source_name]:
                is_word = field.isin(*map(exp.Literal.string, words))
                field = exp.Case(default=field.copy()).when(is_word, exp.null())
            fields = {"field": field, "instant": castable(field, "TIMESTAMP", dataset)}
            tests += [filled(test, fields) for test in (ARE_DATES, HAVE_TIMES, ARE_YEAR_FIRST)]
        # one row: for each column of the batch the answers of the three tests
        (answers,) = engine.query(exp.select(*tests).from_(text), dataset.name)
        outcomes = zip(batch, answers[::3], answers[1::3], answers[2::3], strict=True)
        for column, are_dates, have_times, are_year_first in outcomes:
            if are_dates:
                types[column.source_name] = "TIMESTAMP" if have_times else "DATE"
            elif column.type != "VARCHAR" and not are_year_first:
                raise DatasetError(
                    f"{dataset.name}: the dates of {quoted(column.name)} are not all of the order "
                    f"{dataset.date_order}; name another --date-order"
                )
    return types
