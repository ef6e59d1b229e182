"""Describe the columns of a dataset and propose a role for each."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import polars as pl
import pyarrow as pa
from sqlglot import exp

from qifsql.adversary.notes import of_categories, of_decimals, of_household, of_records
from qifsql.adversary.spec import Attribute, BoundAttack, Microdata
from qifsql.commands.describe.column_counts import Counted
from qifsql.commands.describe.evidence import NOTHING, RECORDS, Sample, Texts, copies, evidence
from qifsql.commands.describe.guesses import NESTED, Guess, guesses
from qifsql.commands.describe.spec import DescribeOptions
from qifsql.commands.sweep.sweep import sweep
from qifsql.data.column_questions import Repeated, Spelling
from qifsql.data.dataset import Column, Dataset, Schema, Tabular
from qifsql.data.expressions import column
from qifsql.data.option import as_names, complete
from qifsql.data.readers import select_records
from qifsql.data.topics import numbers_people
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, quoted
from qifsql.measures.channel_measures import entropy
from qifsql.query.microdata_steps import plan, records_plan
from qifsql.query.microdata_steps import steps as steps_of
from qifsql.query.plan import Plan
from qifsql.query.render import render
from qifsql.query.splice import make_step, splice
from qifsql.query.steps import Steps
from qifsql.results.result import Result
from qifsql.results.storage import Origin

MOST = 2000  # most columns in one run, about 5 ms each
TOGETHER = 100  # columns of one type that are counted by one statement, if there are few records
FEW = 50_000  # records of so many columns that fit into the caches
LONGEST = exp.Literal.number(1000)  # characters of a cell that are looked at
TEXT = exp.DataType.build("VARCHAR")
TEXTS = ("VARCHAR", "ENUM")
RARE = 10  # values of fewer records are listed only on request

SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("column", "type"), pl.String()),
    **dict.fromkeys(("records", "missing", "distinct"), pl.Int64()),
    "entropy": pl.Float64(),
    "singled_out": pl.Int64(),
    "singled_out_share": pl.Float64(),
    **dict.fromkeys(("suggested_role", "why", "confidence"), pl.String()),
    "rank": pl.Int64(),
    "label": pl.String(),
}
"""``missing`` counts NULL and NaN, ``distinct`` the distinct other values. ``entropy`` is Shannon
entropy in bits; a missing value is a value. ``singled_out`` counts the records that share their
value of this column with no other record; with a person, the people of whom nobody else has the
same values in all records, of all people. All are NULL for nested columns. ``confidence`` of the
role is ``high``, ``medium`` or ``low``. ``rank`` orders quasi-identifiers by risk and secrets by
sensitivity, from 1; it is NULL for other roles. ``label`` is what the file says about the variable
(SPSS, Stata, SAS; metadata ``label`` of fields of Arrow), NULL if it says nothing."""

VALUES: dict[str, pl.DataType] = {
    **dict.fromkeys(("column", "value"), pl.String()),
    "records": pl.Int64(),
    "label": pl.String(),
}
"""``label`` is what the file says about the value (SPSS, Stata), NULL if it says nothing."""


def describe(
    source: Tabular, *, settings: Settings | None = None, **options: Unpack[DescribeOptions]
) -> Result:
    """Describe every column: missing and distinct values, entropy, people singled out.

    Roles are suggestions from names, types and counts, with a reason and a degree of confidence.

    Returns:
        A Result. frame: one row per column with type, missing, distinct, entropy (bits),
        singled_out (people), suggested_role and why. details: values, where asked for.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.describe("data-samples/popets_table_3a.csv")
        >>> result.frame["column"].to_list()
        ['id', 'age', 'gender', 'grade', 'disability']

    Source: M23 (entropy).

    """
    options = complete(options, DescribeOptions)
    values, rare = options["values"], options["rare"]
    origin = Origin.now(settings, "describe")
    dataset = Dataset.open(source)
    with open_engine(settings, sources=[dataset], command="describe") as engine:
        catalog = Catalog(engine, dataset)
        assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it is no collection
        read = catalog.dataset
        read = engine.load(read) if read.format == "csv" else read  # to parse the file only once
        description = _Describer(engine, catalog, read, options["where"])
        names = as_names(options["columns"])
        chosen = [catalog.schema[name] for name in names] or list(catalog.schema.columns)
        if len(chosen) > MOST:
            raise DatasetError(
                f"{dataset.name} has {len(chosen):,} columns, and describe takes at most {MOST:,} "
                "in one run, because each is counted by itself; name some with --columns"
            )
        catalog.types([column(c) for c in chosen], [c.name for c in chosen])
        homes = catalog.people.households([c.name for c in chosen], description.where)
        counted, spellings = description.count(chosen)
        sample = {} if description.on_spark else description.sample(chosen)
        labels = {c.name: c.label for c in chosen if c.label}
        rows = _with_roles(counted, [home.column for home in homes], sample, labels)
        repeated = _repeated(rows)
        listed = [v for c in chosen for v in description.common(c, values, rare)]
        proposed = _proposed_reading(catalog.schema, spellings, catalog.dataset)
        spec = {"columns": [c.name for c in chosen], "where": options["where"]}
        spec |= {} if options["person"] is None else {"person": options["person"]}
        reading = {"proposed_reading": proposed} if proposed else {}
        about = {"dataset": catalog.dataset.name, **spec, **reading}
        origin = origin.about(about, catalog.dataset.paths, *description.plans)
    if options["person"] is not None:
        repeated = []  # people are counted
        alone, people = _people_alone(dataset, chosen, options, settings)
        for row in rows:
            n = alone.get(row["column"])
            if row["column"] == options["person"]:  # a missing one is another person each time
                n = row["distinct"] + (row["missing"] == 1)
            row |= {"singled_out": n, "singled_out_share": None if n is None else n / people}
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    common = pl.DataFrame(listed, schema=VALUES, orient="row")
    details = {"values": common} if values else {}
    notes = (
        *_first_line(catalog.schema),
        *(of_records(column, here=True) for column in repeated),
        *map(of_household, homes[:1]),
        *_spelt(spellings, catalog.dataset),
        *of_categories(_categories(sample, counted)),
        *catalog.remarks,
    )
    return Result(frame=frame, origin=origin, details=details, notes=notes)


def _people_alone(
    dataset: Dataset, columns: Sequence[Column], options: DescribeOptions, settings: Settings | None
) -> tuple[dict[str, int], int]:
    """Return how many people each column singles out, and how many people there are.

    They are the people of an adversary who knows all records of a person: nobody who knows one
    finds more. The column of the person herself singles out everybody who has one.
    """
    person = options["person"]
    names = [c.name for c in columns if not nested(c.type) and c.name != person]
    shared: dict[str, Any] = {"person": person, "where": options["where"], "settings": settings}
    alone: dict[str, int] = {}
    people = 0
    for start in range(0, len(names), TOGETHER):
        swept = sweep(dataset, qids=names[start : start + TOGETHER], sizes=1, **shared)
        for row in swept.frame.filter(known_records="all").iter_rows(named=True):
            alone[row["qids"][0]], people = row["singled_out"], row["people"]
    return alone, people


@dataclass(frozen=True)
class Spellings:
    """The texts of a column: records with a word for nothing, a decimal comma, any text."""

    missing: int
    commas: int
    records: int

    @property
    def is_numeric(self) -> bool:
        """Return whether most texts are numbers with a decimal comma."""
        return 2 * self.commas > self.records


def _proposed_reading(
    schema: Schema, spellings: Mapping[str, Spellings], dataset: Dataset
) -> dict[str, object]:
    """Return the options of reading that fit the fields of a CSV file better than its own."""
    proposed: dict[str, object] = {}
    if schema.second_header and dataset.header_rows == 1:
        proposed["header_rows"] = 2
    has_points = any(column.type == "DOUBLE" for column in schema.columns)  # which would be text
    fits = dataset.format == "csv" and not dataset.all_varchar and dataset.decimal is None
    if fits and not has_points and any(texts.is_numeric for texts in spellings.values()):
        proposed["decimal"] = ","
    if any("ambiguous" in column.irregularity for column in schema.columns):
        proposed["date_order"] = "dmy"  # as DuckDB reads them
    return proposed


def _first_line(schema: Schema) -> tuple[str, ...]:
    """Return a note if the first line may be a record, and not the names of the columns."""
    if not schema.doubtful:
        return ()
    return (
        f"the first line of {schema.dataset} is taken for the names of its columns, and some of "
        "them look like values; if it is a record, it is not counted: write names above it",
    )


def person_of(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the column that says whose record it is, if people have several; None if unclear."""
    columns = _repeated(rows)
    return columns[0].column if len(columns) == 1 else None


def household_of(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the column that numbers households; None if there is none, or ``person_of`` is."""
    homes = [row["column"] for row in rows if row["suggested_role"] == "household"]
    return homes[0] if homes and person_of(rows) is None else None


def _repeated(rows: Sequence[Mapping[str, Any]]) -> list[Repeated]:
    """Return the columns that number people, some of whom have several records."""
    columns = [
        Repeated(row["column"], row["distinct"], row["records"] - row["missing"])
        for row in rows
        if numbers_people(row["column"]) and row["distinct"]
    ]
    return [column for column in columns if column.numbers_people]


def _categories(sample: Sample, rows: Sequence[Mapping[str, Any]]) -> dict[str, Spelling]:
    """Return by column of texts how many categories it has, and how many without case and blanks.

    They are counted in the first records (``sample``), if these have all values of the column.
    ``rows`` are those of ``SCHEMA``, one per column.
    """
    spellings = {}
    for row in rows:
        if family(row["type"]) in TEXTS and row["column"] in sample:
            texts = [text for text in sample[row["column"]].values if text is not None]
            if len(texts) == row["distinct"]:
                folded = {text.strip(" \u00a0").lower() for text in texts}
                spellings[row["column"]] = Spelling(len(texts), len(folded), decimals=False)
    return spellings


def _spelt(spellings: Mapping[str, Spellings], dataset: Dataset) -> list[str]:
    """Return notes on columns whose texts may be missing values or numbers."""
    notes = []
    if names := [quoted(name) for name, texts in spellings.items() if texts.missing]:
        notes.append(
            f"{', '.join(names)}: blanks, NA, NULL, - or a similar word occur and count as values "
            "like any other; if one means missing, say so with --na, as in --na NA"
        )
    numeric = [name for name, texts in spellings.items() if texts.is_numeric]
    if numeric and dataset.format == "csv" and not dataset.all_varchar:
        notes.append(of_decimals(numeric, dataset.decimal))
    return notes


class Frequency(NamedTuple):
    """A number of ``values`` of a column that occur in the same number of ``records`` each.

    ``is_missing``: it is the missing value. Of texts, ``is_word``: they often stand for a missing
    value; ``has_comma``: they are numbers with a decimal comma, or points between thousands.
    """

    records: int
    is_missing: bool
    values: int
    is_word: bool = False
    has_comma: bool = False


class _Describer:
    """Queries about one column after another."""

    def __init__(
        self, engine: LocalEngine, catalog: Catalog, dataset: Dataset, where: str | None
    ) -> None:
        self.engine = engine
        self.dataset = dataset
        self.where = catalog.filter(where)
        self.on_spark = engine.settings.engine_name == "spark"  # whose patterns of texts differ
        self.plans: list[Plan] = []

    def count(self, columns: Sequence[Column]) -> tuple[list[dict[str, Any]], dict[str, Spellings]]:
        """Return the rows of columns (``SCHEMA``), without roles, and what their texts look like.

        Nested columns have no numbers. On Spark nothing is said about texts.
        """
        rows: dict[str, dict[str, Any]] = {}
        spellings: dict[str, Spellings] = {}
        flat = [c for c in columns if not nested(c.type)]
        # How many columns one statement counts: several of a small file. Spark cannot.
        is_small = bool(flat) and self._count_records() <= FEW
        together = TOGETHER if is_small and not self.on_spark else 1
        for (view, _), alike in _by_view_and_type(flat, texts=not self.on_spark).items():
            for start in range(0, len(alike), together):
                counted = alike[start : start + together]
                for c, frequencies in zip(counted, self._frequencies(counted, view), strict=True):
                    row = rows[c.name] = _summed(c, frequencies)
                    if view == "text_frequencies":
                        spellings[c.name] = _spellings(row, frequencies)
        empty = dict.fromkeys(SCHEMA)
        all_rows = [rows.get(c.name) or empty | {"column": c.name, "type": c.type} for c in columns]
        return all_rows, spellings

    def _count_records(self) -> int:
        """Return the number of records that are described; refuse a file without any."""
        query = records_plan(Microdata(self.dataset, (), (), where=self.where))
        ((records,),) = self.engine.rows(query, "counting the records", self.dataset.name)
        if records == 0:
            raise DatasetError(f"{self.dataset.name} has no records; there is nothing to describe")
        return int(records)

    def _frequencies(self, columns: Sequence[Column], view: str) -> list[list[Frequency]]:
        """Return the frequencies of the values of each column.

        All columns have one type, as one statement counts them.
        """
        attributes = tuple(Attribute(c.name, column(c), c.type) for c in columns)
        microdata = Microdata(self.dataset, (), attributes, where=self.where)
        shape = {"secrets": range(1, len(columns) + 1)}
        values = make_step("describe/values_of_columns", shape=shape)
        steps = [*steps_of(microdata), values, make_step(f"describe/{view}")]
        query = plan(microdata, steps, exp.select("*").from_(view))
        self.plans.append(query)
        what = columns[0].name + (" and others" if len(columns) > 1 else "")
        frequencies: list[list[Frequency]] = [[] for _ in columns]
        for number, *frequency in self.engine.rows(query, f"describing {what}", self.dataset.name):
            frequencies[number - 1].append(Frequency(*frequency))
        return frequencies

    def sample(self, columns: Sequence[Column]) -> Sample:
        """Return the first cells of columns that are not nested, as texts or labels of values."""
        flat = [c for c in columns if not nested(c.type)]
        if not flat:
            return {}
        texts = [exp.Left(this=exp.cast(column(c), TEXT), expression=LONGEST.copy()) for c in flat]
        query = select_records(self.dataset, texts, self.where).limit(RECORDS)
        with closing(self.engine.here.stream(self.dataset.name)) as stream:
            table = stream.arrow(render(query, copy=False))
        return {
            c.name: Texts.of(_labelled(texts.combine_chunks(), c.value_labels))
            for c, texts in zip(flat, table.columns, strict=True)
        }

    def common(self, source_column: Column, values: int, rare: bool) -> list[dict[str, Any]]:
        """Return rows of ``VALUES``: the most frequent values of a column, at most ``values``.

        ``rare``: those of fewer than ``RARE`` records, too.
        """
        if not values or nested(source_column.type):
            return []
        name = source_column.name
        attribute = Attribute(name, column(source_column), source_column.type)
        # The steps of an attack on the column as the secret, without quasi-identifiers.
        microdata = Microdata(self.dataset, (), (attribute,), where=self.where)
        steps = Steps(BoundAttack((), microdata))
        cells = steps.need("cells", 1, prior=True)
        least = {"least": 1 if rare else RARE}
        query = splice("describe/frequent", secret=1, tables={"cells": cells}, numbers=least)
        frequent = steps.plan(query.limit(values))
        rows = self.engine.rows(frequent, f"describing {name}", self.dataset.name)
        labels = source_column.value_labels
        return [dict(zip(VALUES, (name, *row, labels.get(row[0])), strict=True)) for row in rows]


def _by_view_and_type(
    columns: Sequence[Column], *, texts: bool
) -> Mapping[tuple[str, str], list[Column]]:
    """Return the columns by the view that counts their values, and by their type."""
    groups: dict[tuple[str, str], list[Column]] = {}
    for c in columns:
        view = "text_frequencies" if texts and c.type == "VARCHAR" else "frequencies"
        groups.setdefault((view, c.type), []).append(c)
    return groups


def _summed(source_column: Column, frequencies: Sequence[Frequency]) -> dict[str, Any]:
    """Return the row of a column (``SCHEMA``), without its role, from its frequencies."""
    records = sum(f.records * f.values for f in frequencies)
    alone = sum(f.values for f in frequencies if f.records == 1)
    return {
        "column": source_column.name,
        "type": source_column.type,
        "records": records,
        "missing": sum(f.records * f.values for f in frequencies if f.is_missing),
        "distinct": sum(f.values for f in frequencies if not f.is_missing),
        "entropy": entropy((f.records, f.values) for f in frequencies),
        "singled_out": alone,
        "singled_out_share": alone / records,
    }


def _labelled(texts: pa.Array, labels: Mapping[str, str]) -> pa.Array:
    """Return texts with the labels of those that have one."""
    if not labels:
        return texts
    return pa.array([labels.get(text, text) for text in texts.to_pylist()], pa.string())


def _spellings(row: Mapping[str, Any], frequencies: Sequence[Frequency]) -> Spellings:
    """Return what the texts of a column look like, from its frequencies and its ``row``."""
    return Spellings(
        missing=sum(f.records * f.values for f in frequencies if f.is_word),
        commas=sum(f.records * f.values for f in frequencies if f.has_comma),
        records=row["records"] - row["missing"],
    )


def _with_roles(
    rows: Sequence[dict[str, Any]],
    households: Sequence[str],
    sample: Sample,
    labels: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return the rows of columns with suggested roles; ``households`` number households.

    ``sample`` are first records as texts, ``labels`` those of variables.
    """
    seen, copied = evidence(sample), copies(sample)
    plain = [row for row in rows if row["records"] is not None]  # not nested
    columns = [
        Counted(
            name=row["column"],
            type=row["type"],
            alone=row["singled_out"],
            household=row["column"] in households,
            seen=seen.get(row["column"], NOTHING),
            copied=copied.get(row["column"]),
            label=labels.get(row["column"], ""),
            **{name: row[name] for name in ("records", "missing", "distinct", "entropy")},
        )
        for row in plain
    ]
    of_plain = dict(zip((column.name for column in columns), guesses(columns), strict=True))
    with_roles = []
    for row in rows:
        guess = of_plain.get(row["column"]) or Guess("nested", NESTED, "high")
        role = {"suggested_role": guess.role, "why": guess.why, "confidence": guess.confidence}
        with_roles.append(row | role | {"rank": guess.rank, "label": labels.get(row["column"])})
    return with_roles
