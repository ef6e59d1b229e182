"""Find the values that the user's words for missing values are, and type columns without them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import filled, identifier
from qifsql.data.missing import MissingValues, words
from qifsql.data.readers import relation
from qifsql.data.types import NOTHING, nested
from qifsql.engine.protocol import Engine

TYPES = {  # of columns of CSV, and the condition that a field is of the type
    "BIGINT": "regexp_full_match(field, '[+-]?[0-9]{1,18}')",
    "HUGEINT": "regexp_full_match(field, '[+-]?[0-9]{1,38}')",
    "DOUBLE": "TRY_CAST(field AS DOUBLE) IS NOT NULL",
    "TIME": "TRY_CAST(field AS TIME) IS NOT NULL",
    "DATE": "TRY_CAST(field AS DATE) IS NOT NULL",
    "TIMESTAMP": "TRY_CAST(field AS TIMESTAMP) IS NOT NULL",
}


def resolve(
    engine: Engine, dataset: Dataset, names: Sequence[str], columns: Sequence[tuple[str, str]]
) -> Dataset:
    """Return a dataset in which the user's words for missing values are NULL.

    ``names`` are the names in the file of its ``columns``, each with the engine's name and type.
    ColumnError if a word is of a column that is not there.
    """
    listed = [Column(n, source, type_) for n, (source, type_) in zip(names, columns, strict=True)]
    schema = Schema(dataset.name, tuple(listed))
    by_column = words(dataset.na)
    of_column = {schema[name].source_name: texts for name, texts in by_column.items() if name}
    of_all = by_column.get("", ())
    missing: list[MissingValues] = []
    texts: dict[str, tuple[str, ...]] = {}
    for name, type_ in columns:
        column_words = tuple(dict.fromkeys((*of_all, *of_column.get(name, ()))))
        if column_words and type_ == "VARCHAR":
            texts[name] = column_words
        elif column_words and not nested(type_):
            values = readable(engine, dataset.name, type_, column_words)
            missing += [MissingValues(name, type_, values)] if values else []
    types = _types(engine, dataset, texts) if dataset.format == "csv" else {}
    missing += [
        MissingValues(name, types.get(name, "VARCHAR"), column_words, converted=name in types)
        for name, column_words in texts.items()
    ]
    return replace(dataset, missing=tuple(missing), names=tuple(name for name, _ in columns))


def readable(engine: Engine, where: str, type_: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the words that are values of a type; of none if a column has no values."""
    if type_ == NOTHING:
        return ()
    kind = exp.DataType.build(type_, dialect="duckdb")
    values = (exp.TryCast(this=exp.Literal.string(word), to=kind.copy()) for word in candidates)
    (flags,) = engine.query(exp.select(*(value.is_(exp.null()) for value in values)), where)
    return tuple(word for word, unreadable in zip(candidates, flags, strict=True) if not unreadable)


def _types(
    engine: Engine, dataset: Dataset, texts: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Return the types of text columns of CSV that have words for missing values and one type."""
    if dataset.all_varchar or not texts:
        return {}
    fields = {
        name: exp.column(identifier(name)).isin(*map(exp.Literal.string, column_words))
        for name, column_words in texts.items()
    }
    has_word = [exp.func("bool_or", condition) for condition in fields.values()]
    (flags,) = engine.query(exp.select(*has_word).from_(relation(dataset)), dataset.name)
    with_words = [name for name, flag in zip(fields, flags, strict=True) if flag]
    types: dict[str, str] = {}
    for name in with_words:
        field = exp.column(identifier(name))
        tests = [
            exp.func("bool_and", filled(condition, {"field": field}))
            for condition in TYPES.values()
        ]
        others = exp.not_(fields[name].copy())
        query = exp.select(*tests).from_(relation(dataset)).where(others)
        (fits,) = engine.query(query, dataset.name)
        type_ = next((t for t, fit in zip(TYPES, fits, strict=True) if fit), None)
        types |= {name: type_} if type_ else {}
    return types
