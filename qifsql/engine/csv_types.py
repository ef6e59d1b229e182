"""Check the types of CSV fields: a type must distinguish different fields.

A field is text. Read as numbers, dates or times, different fields may be one value: ``1.5`` and
``1.50`` are one number, and so are ``9007199254740992`` and ``9007199254740993`` if they are
rounded to a float. A note reports the first case. In the second case the column stays text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.data.dataset import Dataset, Irregularity
from qifsql.data.dates import instant
from qifsql.data.expressions import FLOATING, filled, identifier, with_one_missing
from qifsql.data.readers import castable, relation
from qifsql.data.types import NUMBERS
from qifsql.engine import remembered
from qifsql.engine.protocol import Engine
from qifsql.errors import quoted

TOGETHER = 500  # columns that one statement checks
LISTED_COLUMNS = 20  # with declared missing values, in a note
DIGITS = 15  # decimal digits of any number that a float keeps
FALSE = exp.false()

# In these templates ``field`` is the text of a cell, ``value`` is the text converted to the type,
# and ``canonical`` is this value as DuckDB writes it. Two different canonical fields are always
# two values.
UNUSUAL = "bool_or(coalesce(field <> canonical, field IS NOT NULL))"
UNUSUAL_DOUBLE = """
    bool_or(
        coalesce(field NOT IN (canonical, rtrim(rtrim(canonical, '0'), '.')), field IS NOT NULL)
    )
    OR (bool_or(field = canonical AND ends_with(canonical, '.0')) AND bool_or(field <> canonical))
"""  # 7 is accepted as 7.0, unless both occur
# A row per value of a column: the first and last of its fields in alphabetic order, which are one
# unless the value is written in several ways; the length of the longest field; and whether a field
# is one that CAST does not read as DuckDB's reader of CSV did.
GROUPS = """
    SELECT min(coalesce(field, '')) AS first, max(coalesce(field, '')) AS last,
        max(length(field)) AS longest,
        bool_or(field IS NOT NULL AND cast_value IS NULL) AS foreign_format
    FROM rows
    GROUP BY value
"""
# Over the rows of GROUPS: whether two fields are one value, the length of the longest field, and
# whether CAST does not read a field.
MERGED = (
    "coalesce(bool_or(first <> last), FALSE)",
    "coalesce(max(longest), 0)",
    "coalesce(bool_or(foreign_format), FALSE)",
)
# A row per value of a column: its first and last field, and whether a field may be rounded to the
# value, or is a whole number that the type does not hold.
GROUPS_OF_LONG = """
    SELECT min(coalesce(field, '')) AS first, max(coalesce(field, '')) AS last,
        bool_or(rounded) AS rounded, bool_or(long) AS long
    FROM rows
    GROUP BY value
"""
AMBIGUOUS = """
    coalesce(
        bool_and(dmy IS NOT NULL AND mdy IS NOT NULL) FILTER (field IS NOT NULL)
        AND bool_or(dmy <> mdy),
        FALSE
    )
"""
# over the rows of GROUPS_OF_LONG: whether digits of a field are lost
LOST = "coalesce(bool_or(rounded AND first <> last) OR bool_or(long), FALSE)"
ROUNDED_DOUBLE = r"""
    length(ltrim(regexp_replace(split_part(lower(field), 'e', 1), '[^0-9]', '', 'g'), '0')) > 15
    OR (regexp_matches(split_part(lower(field), 'e', 1), '[1-9]')
        AND NOT abs(cast_value) BETWEEN 1e-290 AND 1e290)
"""
ROUNDED = {  # conditions: a field may have more digits than its type keeps
    "DOUBLE": ROUNDED_DOUBLE,
    "TIME": r"regexp_matches(field, '\.[0-9]{7}')",
    "TIMESTAMP": r"regexp_matches(field, '\.[0-9]{7}')",
}
LONG = """
    regexp_full_match(trim(field), '[+-]?0*[1-9][0-9]{15,}')
    AND rtrim(rtrim(canonical, '0'), '.') <> field
"""  # a whole number that a float does not hold


def find_irregular(
    engine: Engine, dataset: Dataset, types: Sequence[tuple[str, str]], names: Sequence[str]
) -> tuple[Dataset, Mapping[str, Irregularity], int]:
    """Find the columns of ``types`` whose fields are not written as DuckDB writes their values.

    Returns the dataset, in which columns stay text if their type would round different fields to
    one value; the irregularity of the other typed columns; and the number of records that have no
    value in any of the columns ``names``, 0 if these are very many.
    """
    typed = {name: type_ for name, type_ in types if type_ != "VARCHAR"}
    texts: list[str] = []
    irregular: dict[str, Irregularity] = {}
    unusual, blank = _find_unusual(engine, dataset, typed, names)
    for name in unusual:
        merged, lost = _find_merged(engine, dataset, name, typed[name])
        if lost:  # as a number, the column would lose digits
            texts.append(name)
        else:
            irregular[name] = "several" if merged else "unusual"
            if _is_ambiguous(engine, dataset, name, typed[name]):
                irregular[name] = "several, ambiguous" if merged else "ambiguous"
    missing = tuple(
        replace(values, type="VARCHAR", converted=False) if values.column in texts else values
        for values in dataset.missing
    )
    return replace(dataset, texts=tuple(texts), missing=missing), irregular, blank


def _find_unusual(
    engine: Engine, dataset: Dataset, typed: Mapping[str, str], names: Sequence[str]
) -> tuple[list[str], int]:
    """Return the columns of ``typed`` with irregular fields, and the number of blank records.

    A blank record has no value in any of the columns ``names``. They are not counted (0) if there
    is one such column, which may just have missing values, or very many.
    """
    tests = [
        _filled(UNUSUAL_DOUBLE if type_ == "DOUBLE" else UNUSUAL, name, type_, dataset)
        for name, type_ in typed.items()
    ]
    if 1 < len(names) <= TOGETHER:
        first, *further = (exp.column(identifier(name)) for name in names)
        is_blank = exp.Coalesce(this=first, expressions=further).is_(exp.null())
        count = exp.Count(this=exp.Star())
        tests.append(exp.Filter(this=count, expression=exp.Where(this=is_blank)))
    text = relation(replace(dataset, all_varchar=True, wave=None))
    # one row in all: for each typed column whether it is unusual, then the number of blank records
    answers: list[int] = []
    for start in range(0, len(tests), TOGETHER):
        query = exp.select(*tests[start : start + TOGETHER]).from_(text.copy(), copy=False)
        answers += remembered.query(engine, query, dataset)[0]
    unusual = [name for name, is_unusual in zip(typed, answers, strict=False) if is_unusual]
    return unusual, sum(answers[len(typed) :])  # the last answer, if blank records were counted


def _find_merged(engine: Engine, dataset: Dataset, name: str, type_: str) -> tuple[bool, bool]:
    """Return whether different fields of a column are one value, and whether digits are lost.

    Digits are lost if fields of one value may have more digits than the type keeps, or if a whole
    number is too long for a float.
    """
    text = replace(dataset, all_varchar=True, wave=None)
    groups = _filled(GROUPS, name, type_, dataset, {"rows": relation(text)})
    query = exp.select(*MERGED).from_(exp.Subquery(this=groups))
    ((merged, longest, foreign_format),) = engine.query(query, dataset.name)
    if foreign_format and type_ in NUMBERS:  # DuckDB detects 0x7 as DOUBLE, but cannot read it
        return False, True
    if foreign_format:  # dates in a format that CAST does not read
        merged = _count_distinct(engine, dataset, name) < _count_distinct(engine, text, name)
    if not merged and (type_ != "DOUBLE" or longest <= DIGITS):  # the type keeps all digits
        return merged, False
    return merged, _loses_digits(engine, dataset, name, type_)


def _loses_digits(engine: Engine, dataset: Dataset, name: str, type_: str) -> bool:
    """Return whether a column would lose digits in its type (see ``_find_merged``)."""
    may_be_rounded = _filled(ROUNDED.get(type_, "FALSE"), name, type_, dataset)
    is_long = _filled(LONG if type_ == "DOUBLE" else "FALSE", name, type_, dataset)
    placeholders = {
        "rows": relation(replace(dataset, all_varchar=True, wave=None)),
        "rounded": exp.func("coalesce", may_be_rounded, FALSE),
        "long": exp.func("coalesce", is_long, FALSE),
    }
    groups = _filled(GROUPS_OF_LONG, name, type_, dataset, placeholders)
    query = exp.select(LOST).from_(exp.Subquery(this=groups))
    ((is_lost,),) = engine.query(query, dataset.name)
    return bool(is_lost)


def _is_ambiguous(engine: Engine, dataset: Dataset, name: str, type_: str) -> bool:
    """Return whether all dates of a column can have the day first, or else the month first."""
    if dataset.date_order or type_ not in ("DATE", "TIMESTAMP"):
        return False
    field = exp.column(identifier(name))
    words = {order: filled(instant(order), {"field": field}) for order in ("dmy", "mdy")}
    text = relation(replace(dataset, all_varchar=True, wave=None))
    query = exp.select(filled(AMBIGUOUS, {"field": field, **words})).from_(text)
    return bool(engine.query(query, dataset.name)[0][0])


def _count_distinct(engine: Engine, dataset: Dataset, name: str) -> int:
    """Return the number of values of a column, a missing one included."""
    column = exp.column(identifier(name))
    values = exp.select(column).distinct().from_(relation(dataset)).subquery()
    return int(engine.query(exp.select("count(*)").from_(values), dataset.name)[0][0])


def _filled(
    template: str,
    name: str,
    type_: str,
    dataset: Dataset,
    extras: Mapping[str, exp.Expr] | None = None,
) -> exp.Expr:
    """Return a template of SQL about column ``name``, with its words replaced.

    ``field`` is the text of a cell, ``cast_value`` and ``value`` are that cast to the type,
    ``canonical`` is the value as DuckDB writes it; ``extras`` are further words.
    """
    field: exp.Expr = exp.column(identifier(name))
    text = castable(field, type_, dataset)
    if type_ == "DOUBLE":  # with a point, as DuckDB writes it
        field = text
    cast = exp.TryCast(this=text, to=exp.DataType.build(type_, dialect="duckdb"))
    value = with_one_missing(cast) if type_ in FLOATING else cast
    words = {"field": field, "cast_value": cast, "value": value}
    words |= {"canonical": exp.cast(value.copy(), "VARCHAR"), **(extras or {})}
    return filled(template, words)


def remarks(engine: Engine) -> tuple[str, ...]:
    """Return notes on columns of CSV with irregular fields, and on declared missing values."""
    return (*_notes_on_irregular(engine), *_notes_on_declared_missing(engine))


def _notes_on_irregular(engine: Engine) -> list[str]:
    """Return notes on columns with each kind of irregularity (``Column.irregularity``)."""

    def columns(dataset: str, kind: Irregularity) -> str:
        """List the columns of a dataset with a kind; columns may have two kinds."""
        irregular = engine.irregular_columns.items()
        return ", ".join(quoted(c) for (d, c), kinds in irregular if d == dataset and kind in kinds)

    notes = []
    for dataset in dict.fromkeys(dataset for dataset, _ in engine.irregular_columns):
        if merged := columns(dataset, "several"):
            notes.append(
                f"{dataset}: different fields of {merged} are one value where they are equal as "
                "numbers, dates or times (1.5 and 1.50); --all-varchar keeps them apart"
            )
        if ambiguous := columns(dataset, "ambiguous"):
            notes.append(
                f"{dataset}: dates of {ambiguous} fit with the day first and with the month first, "
                "and are read with the day first; --date-order mdy reads the month first, "
                "--date-order dmy confirms the day"
            )
        if unusual := columns(dataset, "unusual"):
            notes.append(
                f"{dataset}: fields of {unusual} are compared with other files as numbers, dates "
                "or times (1.50 equals 1.5); --all-varchar compares them as they are written"
            )
    return notes


def _notes_on_declared_missing(engine: Engine) -> list[str]:
    """Return a note for each file of SPSS or Stata with values that it declares to be missing."""
    notes = []
    for dataset in dict.fromkeys(dataset for dataset, _ in engine.declared_missing):
        counts = [
            f"{quoted(column)} ({count:,})"
            for (file, column), count in engine.declared_missing.items()
            if file == dataset
        ]
        listed, unlisted = counts[:LISTED_COLUMNS], len(counts[LISTED_COLUMNS:])
        notes.append(
            f"{dataset}: values that the file declares to be missing are read as missing: "
            f"{', '.join(listed)}{f' and {unlisted:,} more columns' if unlisted else ''}"
        )
    return notes
