"""Post-randomisation: cells of some columns are drawn again, by a matrix that is written, too.

Each record draws a lot for each column: the MD5 digest of ``column/copy/seed|cells``, as treatments
do (``one_per``), so that a draw depends on the seed and the record, and neither on the order of the
records nor on files or threads. Whoever has the seed can repeat the draws of a record, so a release
gets a random one, which only the manifest has. Source: Gouweleeuw et al. 1998; M197 to M199.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary import names
from qifsql.adversary.spec import Attribute
from qifsql.commands.anonymise.one_per import draw
from qifsql.commands.anonymise.one_per.draw import Records
from qifsql.commands.anonymise.one_per.one_per import UTC
from qifsql.commands.anonymise.pram import transition_matrices
from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.commands.anonymise.write import OutColumn, ReleasedTable, plan_records
from qifsql.commands.anonymise.writing import Writing, writing_of
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.expressions import column, with_one_missing
from qifsql.data.option import as_names
from qifsql.data.readers import openings
from qifsql.data.types import family, nested
from qifsql.engine.access import Access
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import SEEDS, Settings, with_seed
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, InputError, no_records, quoted
from qifsql.query import render
from qifsql.query.columns import union
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice
from qifsql.results import release, release_files
from qifsql.results.result import Result
from qifsql.results.storage import Origin, atomic_file, check_place

SUMMARY: dict[str, pl.DataType] = {
    **dict.fromkeys(("column", "matrix"), pl.String()),
    **dict.fromkeys(("records", "values", "changed"), pl.Int64()),
    **dict.fromkeys(("expected_changed", "total_variation", "seconds"), pl.Float64()),
}
"""One row per column that was randomised. ``matrix`` is ``given`` or ``invariant``; ``values`` are
those before. ``changed`` records have another value after it; their share is ``expected_changed``
in the mean over all draws, in [0, 1]. ``total_variation`` is the distance between the shares of the
values before and after, in [0, 1]."""

GUESSABLE = (
    "whoever guesses the seed can repeat the draws; give no seed for a release that is published: "
    "a random one is taken then, which only the manifest has"
)


@dataclass(frozen=True)
class Randomised:
    """A column to randomise: its number in the input, from 1, and the file of its matrix."""

    number: int
    attribute: Attribute
    file: str | None


@dataclass(frozen=True)
class Work:
    """The records, those of their columns that are randomised, and the columns of the release."""

    records: Records
    randomised: Sequence[Randomised]
    table: ReleasedTable


def pram(
    source: Tabular,
    out: str | Path,
    options: AnonymiseOptions,
    *,
    seed: int | None,
    settings: Settings | None,
) -> Result:
    """Write all records, with cells of ``qids``, ``secret`` and the columns of ``matrix`` drawn.

    The matrices that were used are written next to the release, as NAME.matrix.csv.
    """
    parameters = transition_matrices.read_parameters(options["pd"], options["alpha"])
    pairs = transition_matrices.split(options["matrix"])
    seed = settings.seed if seed is None and settings else seed
    notes = [] if seed is None else [GUESSABLE]
    settings = with_seed(settings, secrets.randbelow(SEEDS) if seed is None else seed, "anonymise")
    origin = Origin.now(settings, "pram")
    dataset, path = Dataset.open(source), Path(out)
    files = [Dataset.open(file) for _, file in pairs]
    ending = release_files.ending_of(path)
    inputs = tuple(p for d in (dataset, *files) for p in d.paths)
    path = check_place(path, inputs)
    matrix_path = check_place(path.with_name(f"{path.name[: -len(ending)]}.matrix.csv"), inputs)
    access: Access = {"sources": [dataset, *files], "outputs": [path, matrix_path], "ordered": True}
    with open_engine(settings, **access) as engine:
        catalog = Catalog(engine, dataset)
        matrix_files = transition_matrices.find(engine, pairs, catalog.schema)
        work = _bind(catalog, options, matrix_files)
        tables = Tables(engine, "randomising", dataset.name)
        remarks = _draw_cells(tables, work, parameters, settings.seed or 0)
        summary = [_summarise(tables, column) for column in work.randomised]
        origin = origin.about(_describe(work, parameters, options, matrix_path), inputs)
        with atomic_file(matrix_path, origin) as unfinished:  # replaced after the release
            _write_matrices(engine, unfinished, origin, work.randomised)
            origin, lost_labels = _write_release(tables, path, origin, work, summary[0]["records"])
        public = f"the matrices are in {matrix_path.name}, to be published, too"
        notes = [*catalog.remarks, *remarks, public, *notes, *lost_labels]
    frame = pl.DataFrame([row | {"seconds": origin.seconds} for row in summary], schema=SUMMARY)
    notes += release.note_changed_types(work.records.columns) if ending == ".parquet" else []
    return Result(frame=frame, origin=origin, details={}, notes=tuple(notes))


def _bind(catalog: Catalog, options: AnonymiseOptions, files: dict[str, str]) -> Work:
    """Return the records and columns that the options name; ``files`` are matrices by column."""
    records = draw.read_records(catalog, None, options["where"])
    randomised = _find_columns(catalog, records, options, files)
    drop = as_names(options["drop"])
    for name in drop:
        if catalog.schema[name].name in [c.attribute.name for c in randomised]:
            raise ColumnError(f"column {quoted(name)} is randomised; it cannot be left out")
    numbers = {c.number for c in randomised}
    released = tuple(
        OutColumn(c.name, qid=n) if n in numbers else OutColumn(c.name, column=n)
        for n, c in enumerate(records.columns, 1)
        if c.name not in drop
    )
    table = ReleasedTable(records.dataset, records.dataset, records.columns, released)
    return Work(records, randomised, table)


def _write_release(
    tables: Tables, path: Path, origin: Origin, work: Work, records: int
) -> tuple[Origin, list[str]]:
    """Write the release of so many records; return its origin with all statements, and notes."""
    ending, dataset = release_files.ending_of(path), work.records.dataset
    writing = _find_writing(tables, work, ending)
    tables.make("cells", _cells(work.randomised, ending, writing))
    # Each record is a class of its own.
    tables.make("membership", exp.select("part AS record", "part").from_("cells"))
    plan = plan_records(work.table, ending)
    texts = replace(dataset, all_varchar=dataset.format == "csv")
    setup = [*openings(dataset), *openings(texts), UTC, *tables.statements]
    origin = origin.sending([*dict.fromkeys(setup), render.statement(plan, pretty=True)])
    titles = release.header([c.name for c in work.table.released], work.records.columns, ending)
    notes = release.write(
        tables.engine, plan, path, origin, names=titles, rows=records, source=dataset
    )
    return origin, notes


def _find_columns(
    catalog: Catalog, records: Records, options: AnonymiseOptions, files: dict[str, str]
) -> list[Randomised]:
    """Return the columns to randomise, in input order; refuse nested ones and expressions."""
    schema = catalog.schema
    texts = (*as_names(options["qids"]), *as_names(options["secret"]))
    attributes = [a for text in texts for a in names.named(text, schema, "column")]
    for attribute in attributes:
        if not isinstance(attribute.expression, exp.Column):
            raise ColumnError(
                f"{quoted(attribute.name)} is no column: pram draws the cells of columns as they "
                "are; name these"
            )
    chosen = {*(a.name for a in attributes), *files}
    randomised = []
    for number, source in enumerate(records.columns, 1):
        if source.name not in chosen:
            continue
        if nested(source.type):
            raise ColumnError(
                f"column {quoted(source.name)} is nested ({family(source.type)}); name a column "
                "of single values"
            )
        attribute = Attribute(source.name, column(source), source.type)
        randomised.append(Randomised(number, attribute, files.get(source.name)))
    if not randomised:
        raise InputError(
            "pram needs the columns to randomise; name them with --qids and --secret, or give "
            "--matrix"
        )
    return randomised


def _draw_cells(
    tables: Tables, work: Work, parameters: dict[str, Fraction], seed: int
) -> list[str]:
    """Draw the cells of each column: make its tables ``matrix_i`` and ``drawn_i``; return notes.

    The table ``draws`` has a row per record: its position, and ``value_i`` and ``lot_i`` of each
    column i that is drawn. A lot is a number that depends on the record and the seed alone.
    """
    records, randomised = work.records, work.randomised
    draws = splice("anonymise/draws", shape={"drawn": [c.number for c in randomised]})
    floating = {f"value_{c.number}" for c in randomised if c.attribute.floating}
    for item in draws.expressions:  # of SELECT
        if item.alias_or_name in floating:  # NaN is missing, too
            item.set("this", with_one_missing(item.this))
    tables.make("draws", Plan(draw.lot_steps(records, seed), draws), "drawing lots")
    if not tables.count("draws"):
        raise no_records(tables.where, "nothing to draw", filtered=records.where is not None)
    return [note for c in randomised for note in _draw_column(tables, c, parameters)]


def _draw_column(
    tables: Tables, randomised: Randomised, parameters: dict[str, Fraction]
) -> list[str]:
    """Draw the cells of column i by its matrix: make the tables ``matrix_i`` and ``drawn_i``.

    ``matrix_i`` has the probability of each value after randomisation by that before, ``drawn_i`` a
    row per record: its value before and after. A record gets the value into whose range of lots
    (``turns_i``) its lot falls. Return notes on the values that a given matrix lacks.
    """
    i, notes = randomised.number, []
    cells = {"cell": f"value_{i}", "lot": f"lot_{i}"}
    tables.make(f"values_{i}", splice("anonymise/values_here", columns=cells))
    if randomised.file is None:
        transition_matrices.make_invariant(tables, randomised.attribute, i, parameters)
    else:
        notes = transition_matrices.make_given(tables, randomised.file, randomised.attribute, i)
    inputs = {"values_here": f"values_{i}", "matrix": f"matrix_{i}"}
    tables.make(f"turns_{i}", splice("anonymise/turns", tables=inputs))
    inputs["turns"] = f"turns_{i}"
    tables.make(f"drawn_{i}", splice("anonymise/drawn", columns=cells, tables=inputs))
    tables.drop(f"turns_{i}")
    return notes


def _find_writing(tables: Tables, work: Work, ending: str) -> Writing | None:
    """Return the style in which a CSV file writes values, if the release is CSV, too; else None.

    For each column i, ``writings_i`` is made: the texts that the file has for its values.
    """
    dataset, randomised = work.records.dataset, work.randomised
    if dataset.format != "csv" or not release.is_csv(ending):
        return None
    texts = replace(work.records, dataset=replace(dataset, all_varchar=True), where=None)
    numbered = Step("numbered", "One row per record: its texts.", draw.number_records(texts))
    for i in (c.number for c in randomised):
        inputs = {"drawn": f"drawn_{i}"}
        query = splice("anonymise/writings", tables=inputs, columns={"cell": f"column_{i}"})
        tables.make(f"writings_{i}", Plan((numbered,), query))
    return writing_of(tables.engine, dataset, [c.attribute for c in randomised])


def _cells(randomised: Sequence[Randomised], ending: str, writing: Writing | None) -> exp.Select:
    """Return the query of the new cells: a row per record, with its position as ``part``.

    ``drawn_i`` has the value of column i ``after`` randomisation, by position. ``writing`` is given
    where a CSV file is written from one: a value is then the text that the input has for it
    (``writings_i``), or, if the input does not have it, a text in the input's style.
    """
    first, *others = [f"drawn_{c.number}" for c in randomised]
    query = exp.select(exp.column("position", first).as_("part")).from_(first)
    for drawn in others:
        query = query.join(
            drawn, on=exp.column("position", drawn).eq(exp.column("position", first))
        )
    for n, c in enumerate(randomised, 1):
        drawn, writings = f"drawn_{c.number}", f"writings_{c.number}"
        cell: exp.Expr = exp.column("after", drawn)
        if writing is not None:
            same = exp.column("value", writings).eq(cell)
            query = query.join(writings, on=same, join_type="left")
            own_style = writing.value(cell, c.attribute.type, n)
            cell = exp.func("coalesce", exp.column("text", writings), own_style)
        elif release.as_text(c.attribute.type, ending):
            cell = exp.cast(cell, "VARCHAR")
        query = query.select(cell.as_(f"cell_{c.number}"))
    return query


def _summarise(tables: Tables, randomised: Randomised) -> dict[str, Any]:
    """Return the row of ``SUMMARY`` of a column, without seconds."""
    i = randomised.number
    inputs = {"values_here": f"values_{i}", "matrix": f"matrix_{i}", "drawn": f"drawn_{i}"}
    # Records: all, with another value, and expected to have one; and the sum, over values, of the
    # differences in how many records have them, which counts each change twice.
    ((records, values, changed, differences, expected),) = tables.answer(
        splice("anonymise/randomised", tables=inputs)
    )
    return {
        "column": randomised.attribute.name,
        "matrix": "invariant" if randomised.file is None else "given",
        "records": records,
        "values": values,
        "changed": changed,
        "expected_changed": expected / records,
        "total_variation": differences / (2 * records),
    }


def _write_matrices(
    engine: Engine, path: Path, origin: Origin, randomised: Sequence[Randomised]
) -> None:
    """Write the matrices of all columns as a CSV file, without the seed or the input's name."""
    queries = []
    for c in randomised:
        name = exp.Literal.string(c.attribute.name).as_("name")
        texts = ("before::VARCHAR AS before", "after::VARCHAR AS after")
        share = "share" if c.file is None else "NULL AS share"  # given matrices keep no shares
        columns = (name, *texts, "probability", share)
        queries.append(exp.select(*columns).from_(exp.table_(f"matrix_{c.number}")))
    lines = exp.select("*").from_(union(queries).subquery("matrices"))
    plan = Plan((), lines.order_by("name", "before", "after"))
    heads = ["column", "from", "to", "probability", "share"]
    where = str(origin.spec["dataset"])
    release.write_rows(engine, plan, path, names=heads, kind=".csv", where=where)


def _describe(
    work: Work, parameters: dict[str, Fraction], options: AnonymiseOptions, matrix_path: Path
) -> dict[str, object]:
    """Return the request as plain data for the manifest."""
    dataset, randomised = work.records.dataset, work.randomised
    return {
        "dataset": dataset.name,
        "method": "pram",
        "columns": [c.attribute.name for c in randomised],
        "matrices": {c.attribute.name: c.file for c in randomised if c.file is not None},
        **{name: float(value) for name, value in parameters.items()},
        "written": matrix_path.name,
        "drop": list(as_names(options["drop"])),
        "where": options["where"],
        **{name: value for name, value in dataset.read_with.items() if value},
    }
