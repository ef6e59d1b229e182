"""Published tables of counts, read from files: each cell with the counts that it may stand for.

Hidden cells are ``*``, ``..``, ``...``, ``:``, ``[c]`` and the like, the letters c, d, s and x, or
tell a limit: ``<5``. A dash is refused, because it means 0 in some tables and a hidden count in
others. A line or column with a label of ``total`` is a cell of the table without that dimension.
In messages the header of a file is line 1.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from sqlglot import exp

from qifsql.commands.tables.layouts import (
    TOTAL_LABELS,
    File,
    Layout,
    bare_text,
    find_layouts,
    load_texts,
)
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import filled
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError, InputError, quoted
from qifsql.query.columns import equal, number, union
from qifsql.query.plan import Plan, Step
from qifsql.query.protections import Protection, parse, split
from qifsql.query.splice import splice

WHAT = "reading published tables"
FAULTS = {
    "empty": "has no count; write 0, or * for a hidden count",
    "sign": "has a sign that is 0 in some tables and a hidden count in others; write 0 or *",
    "negative": "has a negative count; correct the file",
    "fraction": "has a count that is not whole; give a table of counts, not of shares or sums",
    "large": "has a count of more than 15 digits; correct the file",
    "other": "has neither a count nor a mark of a hidden one; write numbers, *, <5 or 5+",
}
CONTRADICTIONS = {  # counts that a protection would not have left as they are
    "suppress": "amount BETWEEN 1 AND n - 1",
    "round": "amount % n <> 0",
    "atleast": "amount > n",
}
AMOUNTS = ("published", "lower", "upper", "hidden")
"""The columns of what the text of a cell may stand for."""


@dataclass(frozen=True)
class PublishedTable:
    """A published table, as it is read.

    ``cells`` is an engine table with a row per cell: ``value_1``, ``value_2``, ... of the
    dimensions (NULL is missing), the ``line`` of the file, ``published`` (NULL if hidden; 5 of "5
    or more"), ``lower`` and ``upper`` (NULL: unbounded) of the counts it may stand for, ``hidden``.
    """

    title: str
    dims: tuple[str, ...]
    protection: Protection
    cells: str
    in_ledger: bool = False  # a ledger has it


def parse_sources(texts: Sequence[str | Path]) -> tuple[list[Dataset], list[Protection]]:
    """Return the files of texts ``FILE[:PROTECTION]`` as datasets, and the protection of each.

    Cells of CSV stay text. A file whose own name has a colon may be named as it is. Raises
    InputError for a text that is neither.
    """
    datasets, protections = [], []
    for i, text in enumerate(map(str, texts), 1):
        file, protection = text, None  # None: the whole text is not the name of a file
        with suppress(OSError, ValueError):  # too long for the name of a file
            protection = Protection() if Path(text).exists() else None
        if protection is None:
            file, protection = split(text)
            for colon in (m.start() for m in re.finditer(":", file)):
                if Path(file[:colon]).is_file():
                    parse(file[colon + 1 :])  # refuses what follows: it is no protection
        dataset = Dataset.open(file)
        csv = dataset.format == "csv"
        datasets.append(replace(dataset, all_varchar=csv, catalog=f"attached_{i}"))
        protections.append(protection)
    return datasets, protections


def read_files(
    tables: Tables,
    datasets: Sequence[Dataset],
    protections: Sequence[Protection],
    *,
    across: str | None,
    counts: str | None,
    total: Sequence[str],
    people: int | None,
) -> list[PublishedTable]:
    """Read the files into tables of the engine.

    Args:
        tables: The tables of an engine that is open on the datasets.
        datasets: The files.
        protections: The protection of each file.
        across: The dimension whose values are the columns of wide files (``layouts``).
        counts: The column of counts of long files.
        total: The labels of lines and columns with totals, in any case; empty: a missing value.
        people: The number of people, if it is known: a table of so many has no further totals.

    Returns:
        The table of each file, and one for each combination of dimensions over which it has totals.

    Raises:
        InputError: A file is no table of counts, or contradicts itself; the message has the line.

    """
    names = [dataset.name for dataset in datasets]
    files = []
    for i, (dataset, protection) in enumerate(zip(datasets, protections, strict=True), 1):
        title = dataset.name if names.count(dataset.name) == 1 else dataset.paths[0]
        files.append(load_texts(tables.doing(WHAT, title), i, dataset, title, protection))
    labels = {bare_text(label) for label in total}
    file_layouts = find_layouts(files, across, counts, labels)
    for layout in file_layouts:
        _check_counts(tables, layout)
    totals = [_texts_of_totals(tables, layout, labels) for layout in file_layouts]
    written = {bare_text(text) for texts in chain.from_iterable(totals) for text in texts}
    for label in total:
        if bare_text(label) not in written:
            raise InputError(f"no published table has a total {quoted(label)}; check the label")
    for name in dict.fromkeys(chain.from_iterable(layout.dims for layout in file_layouts)):
        _check_spellings(tables, file_layouts, name, labels)
    published: list[PublishedTable] = []
    for layout, texts in zip(file_layouts, totals, strict=True):
        published += _make_tables(tables, layout, texts, people)
    return published


def _check_counts(tables: Tables, layout: Layout) -> None:
    """Refuse a file with cells that are no counts, or counts that its protection would change.

    The view ``meanings`` has a row per column and different text of its cells: the first ``line``
    with it, and its ``kind``, such as a count, a mark of a hidden one, or one of ``FAULTS``.
    """
    file = layout.file
    steps = (Step("meanings", "", _meanings(file, layout.counts)),)
    first = exp.select("field", "line", "kind").from_("meanings").order_by("line", "field").limit(1)
    fault = first.where(exp.column("kind").isin(*FAULTS))
    for field, line, kind in tables.rows(Plan(steps, fault)):
        name = quoted(file.names[field - 1])
        raise DatasetError(f"line {line} of {file.title}, column {name}, {FAULTS[kind]}")
    for line, sure in tables.rows(Plan(steps, splice("tables/grouping_signs"))):
        if line is not None and not sure:
            raise DatasetError(
                f"line {line} of {file.title} has a count whose comma or point may stand for "
                "thousands or for a fraction; write the counts of this file without them"
            )
    if contradiction := CONTRADICTIONS.get(file.protection.kind):
        printed = first.where("kind IN ('count', 'grouped')")
        wrong = printed.where(filled(contradiction, {"n": number(file.protection.number)}))
        for _, line, _ in tables.rows(Plan(steps, wrong)):
            raise DatasetError(
                f"line {line} of {file.title} has a count that {file.protection.text} would not "
                "have left as it is; name the protection of this file"
            )


def _meanings(file: File, places: Sequence[int]) -> exp.Select:
    """Return the different texts of columns ``places``, each with first line and meaning (SQL)."""
    chosen = exp.column("field").isin(*map(number, places))
    return exp.select("*").from_(exp.table_(f"meanings_{file.number}")).where(chosen)


def _texts_of_totals(tables: Tables, layout: Layout, labels: Collection[str]) -> list[list[str]]:
    """Return for each dimension of a file the texts, as written, that are labels of totals.

    Dimensions are columns of the file (``layout.stubs``) and, in a wide file, its headers.

    ``labels`` are those declared, in bare form; without any, refuse a file that seems to have
    totals, because it has one of ``TOTAL_LABELS``.
    """
    file, words = layout.file, labels or TOTAL_LABELS
    totals = []  # texts with the line of each, by dimension
    for place in layout.stubs:
        query = _meanings(file, [place]).select("coalesce(text, '')", "line", append=False)
        query = query.where(_is_one_of(exp.column("bare"), words)).order_by("line")
        totals.append(tables.rows(query))
    if layout.across:  # headers are in line 1
        totals.append([(header, 1) for header in layout.headers if bare_text(header) in words])
    for name, texts in zip(layout.dims, totals, strict=True):
        if texts and not labels:
            _, line = texts[0]
            raise InputError(
                f"line {line} of {file.title} seems to have a total over {quoted(name)}; "
                "declare its label, as in --total Total, or leave it out"
            )
    return [[text for text, _ in texts] for texts in totals]


def _is_one_of(tree: exp.Expr, texts: Collection[str]) -> exp.Expr:
    return tree.isin(*map(exp.Literal.string, sorted(texts))) if texts else exp.false()


def _check_spellings(
    tables: Tables, files: Sequence[Layout], name: str, labels: Collection[str]
) -> None:
    """Refuse values of dimension ``name`` that differ only in case or blanks, except ``labels``.

    They may be in different files, in columns or in headers. The view ``spellings`` has a row per
    value in several forms: the first ``place`` (file and line) of two of them.
    """
    queries: list[exp.Query] = []
    for layout in files:
        columns = (number(layout.file.number).as_("file"), "text", "bare", "line")
        for place in layout.stubs:
            if layout.file.names[place - 1] == name:
                chosen = _meanings(layout.file, [place])
                queries.append(chosen.select(*columns, append=False))
        if layout.across == name:
            headers = [(header, bare_text(header), 1) for header in layout.headers]
            values = exp.values(headers, alias="headers", columns=["text", "bare", "line"])
            queries.append(exp.select(*columns).from_(values))
    listed = exp.select("*").from_(union(queries).subquery("every"))
    listed = listed.where(exp.not_(_is_one_of(exp.column("bare"), labels)))
    first = splice("tables/spellings").order_by("place").limit(1)
    for places in tables.rows(Plan((Step("listed", "", listed),), first)):
        first_line, second_line = (
            f"line {p['line']} of {files[p['file'] - 1].file.title}" for p in places
        )
        raise DatasetError(
            f"the value of {quoted(name)} in {first_line} is written with other case or blanks in "
            f"{second_line}; write one form"
        )


def _make_tables(
    tables: Tables, layout: Layout, totals: Sequence[Sequence[str]], people: int | None
) -> list[PublishedTable]:
    """Make the table of a file, and one for each combination of dimensions with totals.

    ``totals`` has the labels of totals of each dimension; cells that are totals over the same
    dimensions are a table. ``people``: their number, None if it is not known.
    """
    file = layout.file
    tables = tables.doing(WHAT, file.title)  # the same engine tables, with words for its progress
    i, cells = file.number, f"cells_{file.number}"
    steps = (Step("amounts", "", _possible_counts(layout)), Step("unfolded", "", _unfold(layout)))
    tables.make(cells, Plan(steps, _cells(totals)))
    tables.drop(f"fields_{i}", f"meanings_{i}")
    repeated = splice("tables/repeated", width=len(layout.dims), tables={"cells": cells})
    for line, second in tables.rows(repeated.order_by("line").limit(1)):  # two lines, one cell
        raise DatasetError(
            f"lines {line} and {second} of {file.title} are about the same combination; leave one "
            "out, or name all columns of counts"
        )
    # ``totals`` of a cell: a flag per dimension, whether the cell is a total over it.
    combinations = exp.select("totals").distinct().from_(cells).order_by("totals")
    published: dict[tuple[bool, ...], PublishedTable] = {}  # by the flags of its totals
    for n, (flags,) in enumerate(tables.rows(combinations), 1):
        published[tuple(flags)] = _make_table(tables, layout, cells, flags, f"published_{i}_{n}")
    tables.drop(cells)
    if file.protection.exact:
        for table in published.values():
            _check_undeclared(tables, file.title, table, people)
        _check_totals(tables, file.title, published)
    return list(published.values())


def _make_table(
    tables: Tables, layout: Layout, cells: str, flags: Sequence[bool], name: str
) -> PublishedTable:
    """Make the table ``name`` of those ``cells`` of a file that are totals over flagged dimensions.

    ``flags`` has one per dimension. The other dimensions are those of the table.
    """
    totalled = [d for d, flag in zip(layout.dims, flags, strict=True) if flag]
    title = layout.file.title
    title += f" (totals over {', '.join(totalled)})" if totalled else ""
    places = [j for j, flag in enumerate(flags, 1) if not flag]
    values = [exp.column(f"qid_{j}").as_(f"value_{k}") for k, j in enumerate(places, 1)]
    chosen = equal(exp.column("totals"), exp.Array(expressions=[*map(exp.convert, flags)]))
    tables.make(name, exp.select(*values, "line", *AMOUNTS).from_(cells).where(chosen))
    dims = tuple(layout.dims[j - 1] for j in places)
    return PublishedTable(title, dims, layout.file.protection, name)


def _possible_counts(layout: Layout) -> exp.Select:
    """Return SQL for a row per text of a cell: ``AMOUNTS``, the counts that it may stand for.

    They depend on the protection of the file: a hidden count of ``suppress<5`` is from 1 to 4, a
    printed one of ``round:5`` at most 2 off.
    """
    protection, amount = layout.file.protection, exp.column("amount")
    smallest, largest = protection.hidden() if protection.hides else (0, None)
    # A limit such as <5 is of what the protections before have made of a count.
    most_below = largest if protection.before and largest is not None else None
    amounts = {
        "least_hidden": number(smallest),
        "most_hidden": exp.null() if largest is None else number(largest),  # NULL: any number
        "least_below": number(1 if protection.exact else smallest),  # of a text such as <5
        "most_below": exp.null() if most_below is None else number(most_below),
        "least_printed": protection.lower(amount),
        "most_printed": protection.upper(amount) or exp.null(),
    }
    query = splice("tables/text_counts", rows={"asked": amounts})
    return query.from_(_meanings(layout.file, layout.counts).subquery("meanings"))


def _unfold(layout: Layout) -> exp.Select:
    """Return SQL for a row per cell: its line, its values ``qid_1``, ``qid_2``, ..., its text.

    Each line of a wide file becomes a row per column of counts, whose header is the last value.
    """
    columns: list[exp.Expr] = [
        exp.column(f"place_{p}").as_(f"qid_{j}") for j, p in enumerate(layout.stubs, 1)
    ]
    texts: list[exp.Expr] = [exp.column(f"place_{p}") for p in layout.counts]
    if layout.across:  # headers are in line 1
        headers = _unnest([exp.Literal.string(header) for header in layout.headers])
        columns += [headers.as_(f"qid_{len(layout.dims)}"), _unnest(texts).as_("text")]
    else:
        columns.append(texts[0].as_("text"))
    return exp.select("line", *columns).from_(exp.table_(f"fields_{layout.file.number}"))


def _unnest(items: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="unnest", expressions=[exp.Array(expressions=items)])


def _cells(totals: Sequence[Sequence[str]]) -> exp.Select:
    """Return SQL for a row per cell: ``totals``, values, line, ``AMOUNTS``.

    The column ``totals`` is a list of flags: whether the cell is a total over each dimension; its
    value of that is NULL. The argument ``totals`` has the labels of totals of each dimension.
    """
    flags, values = [], []
    for j, texts in enumerate(totals, 1):
        value = exp.column(f"qid_{j}", "unfolded")
        flag = _is_one_of(exp.func("coalesce", value, exp.Literal.string("")), texts)
        flags.append(flag)
        values.append(exp.case().when(flag, exp.null()).else_(value).as_(f"qid_{j}"))
    query = exp.select(exp.Array(expressions=flags).as_("totals"), *values, "line")
    query = query.select(*(exp.column(name, "amounts") for name in AMOUNTS)).from_("unfolded")
    return query.join("amounts", on="unfolded.text = amounts.text")


def _check_undeclared(
    tables: Tables, title: str, table: PublishedTable, people: int | None
) -> None:
    """Refuse a value of a dimension whose counts are the sums of those of all other values.

    Such a table would count its people twice; one that counts ``people`` in all is accepted.
    """
    everybody = exp.select("sum(published)::BIGINT").from_(exp.table_(table.cells))
    if people is not None and tables.rows(everybody) == [(people,)]:
        return
    places = range(1, len(table.dims) + 1)
    for j in places if len(places) > 1 else ():  # in one dimension, any large cell may be a sum
        # A row per value of dimension j that is the sum of its others in each row of the table.
        query = splice(
            "tables/undeclared_totals",
            tables={"cells": table.cells},
            shape={"value": j, "others": [k for k in places if k != j]},
        )
        for (line,) in tables.rows(query.order_by("line").limit(1)):
            raise DatasetError(
                f"line {line} of {title} has the sums of all other values of "
                f"{quoted(table.dims[j - 1])}: declare the label of totals, as in --total Total, "
                "or leave them out; if they are no totals, say how many people there are (--count)"
            )


def _check_totals(
    tables: Tables, title: str, published: Mapping[tuple[bool, ...], PublishedTable]
) -> None:
    """Refuse totals of an exact file that are not the sums of the cells that they add up.

    A key of ``published`` has a flag per dimension, which is true if the table has the totals over
    it and lacks it in its ``dims``. Totals add up tables with one more dimension or, where there
    is none, with several more. ``_summands`` takes the places of the dimensions, from 1.
    """
    for flags, table in published.items():
        # Tables with totals over some of the same dimensions only: their cells add up to these.
        all_finer = [f for f in published if f != flags and all(map(bool.__le__, f, flags))]
        nearest = [f for f in all_finer if sum(f) == sum(flags) - 1]  # over one dimension less
        for finer in (published[f] for f in nearest or all_finer):
            parts = _summands(finer, [finer.dims.index(d) + 1 for d in table.dims])
            totals = _summands(table, range(1, len(table.dims) + 1), is_total=True)
            compared = Step("summands", "", exp.union(totals, parts, distinct=False))
            wrong = splice("tables/wrong_totals", width=len(table.dims))
            wrong = wrong.order_by("line", "part").limit(1)
            for line, part in tables.rows(Plan((compared,), wrong)):  # of a total, its first part
                if line is None:  # the total is not there, and so means 0
                    says = f"line {part} of {title} has no total where {table.title} has others"
                else:
                    says = f"line {line} of {title} is a total, but not the sum of its rows"
                raise DatasetError(
                    f"{says}; correct the file, or name its protection, as in FILE:round:5"
                )


def _summands(
    table: PublishedTable, places: Sequence[int], *, is_total: bool = False
) -> exp.Select:
    """Return SQL for the cells of a table with the values in ``places``, as parts or as totals."""
    values = [exp.column(f"value_{p}").as_(f"qid_{k}") for k, p in enumerate(places, 1)]
    flag = exp.convert(is_total).as_("whole")
    return exp.select(*values, "line", *AMOUNTS, flag).from_(exp.table_(table.cells))
