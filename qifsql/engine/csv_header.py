"""The header of a CSV file: its delimiter, the names of columns, and what is wrong with them."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TypeAlias

from sqlglot import exp

from qifsql.data.dataset import Dataset
from qifsql.data.readers import header_line
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, plural

DELIMITERS = (",", ";", "\t", "|")
ENOUGH_RECORDS = 3  # with fewer, a row of a header does not differ from them
HEADER_LINES = 100  # that the names of columns may take, if they contain line breaks
ROW_NAMES = "row_names"  # the column of the names of rows that R writes

Rows: TypeAlias = Sequence[Sequence[str]]
"""The fields of the first lines of a file, by line."""


@dataclass(frozen=True)
class Header:
    """The dataset with its delimiter, and the names in the header of its CSV.

    ``doubtful``: these may be the values of a record. ``has_second``: the first record may be a row
    of the header. ``has_row_names``: the first column has no name, and numbers the rows, as in
    files that R writes. ``n_titles`` is the number of lines above the first one in which each
    column has a name; 0 if there are none, or no such line.
    """

    dataset: Dataset
    names: list[str]
    doubtful: bool
    has_second: bool
    has_row_names: bool
    n_titles: int


def read_header(engine: Engine, dataset: Dataset) -> Header:
    """Return the header of the first file; DatasetError if others differ, or if it is a title.

    If the user names no delimiter, it is the one that splits the first line into most names.
    """
    candidates = [dataset.delimiter] if dataset.delimiter else list(DELIMITERS)
    lines = _read_lines(engine, dataset)
    split = {delimiter: _split(lines, delimiter, dataset) for delimiter in candidates}
    n_names = {candidate: len(first_line) for candidate, (first_line, *_) in split.items()}
    delimiter = max(candidates, key=n_names.__getitem__)
    rows: Rows = split[delimiter]
    has_row_names = dataset.header_rows == 1 and _has_row_names(rows)
    if has_row_names:
        rows = [[ROW_NAMES, *rows[0]], *rows[1:]]
    else:
        _check_titles(dataset, rows if len(rows[0]) > 1 else max(split.values(), key=_width))
    names, records = _names_and_records(dataset, rows)
    _check_further_files(engine, dataset, delimiter, names, has_row_names=has_row_names)
    if dataset.header_rows > 1 or has_row_names:
        dataset = replace(dataset, header=_distinct(names))
    n_titles = next((i for i, row in enumerate(rows) if len(row) == len(names) and all(row)), 0)
    return Header(
        replace(dataset, delimiter=delimiter),
        names,
        doubtful=_may_be_record(names, records),
        has_second=may_be_header(records),
        has_row_names=has_row_names,
        n_titles=n_titles,
    )


def _check_further_files(
    engine: Engine, dataset: Dataset, delimiter: str, names: list[str], *, has_row_names: bool
) -> None:
    """Refuse a dataset whose further files have other ``names`` than its first.

    ``has_row_names``: the names of the first one begin with that of the column of names of rows.
    """
    copy_of = {p: (copy,) for p, copy in zip(dataset.paths, dataset.copies, strict=False)}
    for path in dataset.paths[1:]:
        part = replace(dataset, paths=(path,), copies=copy_of.get(path, ()))
        rows: Rows = _split(_read_lines(engine, part), delimiter, part)
        if has_row_names and _is_wider(rows):
            rows = [[ROW_NAMES, *rows[0]], *rows[1:]]
        file_names, _ = _names_and_records(part, rows)
        if file_names != names:
            counts = f"{plural(len(file_names), 'column')}, {dataset.paths[0]} {len(names):,}"
            difference = "other names" if len(file_names) == len(names) else counts
            raise DatasetError(
                f"the files of {dataset.name} differ in their first lines: {path} has {difference}"
            )


def _width(rows: Rows) -> int:
    """Return the number of fields that most lines of the second half have, but empty ones."""
    widths = Counter(len(row) for row in rows[len(rows) // 2 :] if row)
    return widths.most_common(1)[0][0] if widths else 0


def _has_row_names(rows: Rows) -> bool:
    """Return whether the first line lacks one name, and the records below begin with 1, 2, ...

    A record that ends in a delimiter has one more field, too, and this is empty.
    """
    records = rows[1:]
    numbered = [[str(i)] for i in range(1, len(records) + 1)]
    is_numbered = [list(row[:1]) for row in records] == numbered
    is_filled = any(row[-1] for row in records if row)
    return len(records) >= ENOUGH_RECORDS - 1 and _is_wider(rows) and is_numbered and is_filled


def _is_wider(rows: Rows) -> bool:
    """Return whether each record has one field more than the first line has names."""
    names, *records = rows
    return all(len(row) == len(names) + 1 for row in records)


def _check_titles(dataset: Dataset, rows: Rows) -> None:
    """Refuse a file whose first lines have fewer fields than all lines below, as titles have."""
    width = _width(rows)
    n_titles = next((i for i, row in enumerate(rows) if len(row) == width), 0)
    below = [row for row in rows[n_titles:-1] if row]  # the last line may be cut off
    if not n_titles or len(below) < ENOUGH_RECORDS - 1 or any(len(row) != width for row in below):
        return
    if not any(row[-1] for row in below):  # records that end in a delimiter
        return
    has_breaks = any("\n" in field for field in chain(*rows[:n_titles]))
    skip = dataset.skip + n_titles
    option = "delete them" if has_breaks else f"add --skip {skip}"
    above = "line has" if n_titles == 1 else f"{n_titles} lines have"
    of_rows = n_titles == 1 and len(rows[0]) == width - 1
    raise DatasetError(
        f"{dataset.name} is not a regular CSV table: its first {above} fewer fields than the lines "
        f"below, as titles have; {option}"
        f"{', write a name for the names of rows' if of_rows else ''} or name the --delimiter",
        reading={} if has_breaks or of_rows else {"skip": skip},
    )


def _names_and_records(dataset: Dataset, rows: Rows) -> tuple[list[str], list[Sequence[str]]]:
    """Return the names of columns (see ``first_names``), and the records among the first rows."""
    header, records = rows[: dataset.header_rows], list(rows[dataset.header_rows :])
    if len(header) < dataset.header_rows:
        raise DatasetError(
            f"{dataset.name} has fewer rows than its header: {dataset.header_rows} were asked for; "
            "name fewer --header-rows"
        )
    has_breaks = len(header) > 1 and any("\n" in name for name in chain(*header))
    if has_breaks or len({len(row) for row in header}) > 1:
        raise DatasetError(
            f"{dataset.name}: the {dataset.header_rows} rows of the header differ in their number "
            "of fields, or have line breaks in fields; correct the file, or name other "
            "--header-rows or --skip"
        )
    return first_names(header), records


def first_names(header: Rows) -> list[str]:
    """Return the first name of each column that is not empty in the rows of a header."""
    return [next((n for n in column if n.strip()), "") for column in zip(*header, strict=True)]


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that SQL can tell apart, as DuckDB would make them."""
    distinct: list[str] = []
    seen: set[str] = set()
    for i, name in enumerate(names):
        candidate, number = name or f"column{i}", 0
        while candidate.casefold() in seen:
            number += 1
            candidate = f"{name}_{number}"
        seen.add(candidate.casefold())
        distinct.append(candidate)
    return tuple(distinct)


def may_be_header(records: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of several records may be a second row of the header.

    It is if it has no number and either a text above numbers, or one text that is nowhere below in
    all its fields.
    """
    if len(records) < ENOUGH_RECORDS or any(map(is_number, records[0])):
        return False
    first, *others = records
    for i, name in enumerate(first):
        below = [row[i] for row in others if i < len(row) and row[i]]
        if name and len(below) > 1 and all(map(is_number, below)):
            return True
    texts = set(first)
    return len(first) > 1 and len(texts) == 1 and texts.isdisjoint([*chain(*others), ""])


def is_number(field: str) -> bool:
    """Return whether a field is a number, with a decimal point or comma."""
    return re.fullmatch(r"[+-]?\d[\d.,]*", field.strip()) is not None


def _read_lines(engine: Engine, dataset: Dataset) -> list[str]:
    """Return the first lines of the first file, each with its end; DatasetError without one."""
    n_lines = HEADER_LINES + dataset.header_rows
    query = exp.select("line").from_(header_line(dataset)).limit(n_lines)
    lines = [f"{row[0] or ''}\n" for row in engine.query(query, dataset.name)]
    if not lines or not lines[0].strip():
        raise DatasetError(f"{dataset.name} is empty: its first line must name the columns")
    return [lines[0].removeprefix("\ufeff"), *lines[1:]]


def _split(lines: Sequence[str], delimiter: str, dataset: Dataset) -> list[list[str]]:
    """Return the fields of lines, split by a delimiter."""
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        rows = [next(reader)]
    except csv.Error as e:
        raise DatasetError(f"{dataset.name} has no readable first line of names") from e
    with suppress(csv.Error):  # of a later line: the engine says what is wrong there
        rows += reader
    return rows


def _may_be_record(names: Sequence[str], records: Sequence[Sequence[str]]) -> bool:
    """Return whether a field of the first line is a number or date, or a value of its column."""
    columns = dict(enumerate(map(set, zip_longest(*records))))
    return any(
        re.fullmatch(r"[+-]?\d[\d.,:/T-]*", name.strip()) or (name and name in columns.get(i, ()))
        for i, name in enumerate(names)
    )
