"""How the rows of a dataset are named in SQL."""

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from qifsql.dataset import Dataset

CSV_TYPES = (  # no BOOLEAN: yes, y and true are three texts; HUGEINT keeps long numbers exact
    "BIGINT",
    "HUGEINT",
    "DOUBLE",
    "TIME",
    "DATE",
    "TIMESTAMP",
    "VARCHAR",
)
LOADED = "memory"  # the catalog of the engine's own database, for CSV that was loaded
ATTACHED = "attached"  # the catalog of a DuckDB file, opened read-only
KEPT = "kept"  # the catalog of steps that are kept as tables


def relation(dataset: Dataset) -> exp.Table:
    """The table function or table that yields the rows of ``dataset``."""
    if dataset.format == "duckdb":
        return exp.table_(
            exp.to_identifier(dataset.table, quoted=True),
            db=exp.to_identifier(dataset.schema or "main", quoted=True),
            catalog=LOADED if dataset.loaded else ATTACHED,
        )
    files = exp.Array(expressions=[exp.Literal.string(_escaped(p)) for p in dataset.paths])
    if dataset.format == "parquet":
        options = {"hive_partitioning": exp.Boolean(this=dataset.hive)}
        return _function("read_parquet", files, options)
    return _function("read_csv", files, csv_options(dataset))


def header_line(dataset: Dataset) -> exp.Table:
    """The lines of the first CSV file as they are, in one column ``line``."""
    nothing = exp.Literal.string("")
    options: dict[str, exp.Expr] = {
        "columns": exp.Struct(
            expressions=[
                exp.PropertyEQ(
                    this=exp.to_identifier("line"), expression=exp.Literal.string("VARCHAR")
                )
            ]
        ),
        "delim": exp.Literal.string("\x01"),
        "quote": nothing,
        "escape": nothing.copy(),
        "header": exp.false(),
        "auto_detect": exp.false(),
        "strict_mode": exp.false(),  # a quoted cell may hold another end of line
    }
    if dataset.encoding:
        options["encoding"] = exp.Literal.string(dataset.encoding)
    return _function("read_csv", exp.Literal.string(_escaped(dataset.paths[0])), options)


def csv_options(dataset: Dataset) -> dict[str, exp.Expr]:
    """How CSV is read: nothing is guessed but the types, and these from every line."""
    quote = exp.Literal.string('"')
    options: dict[str, exp.Expr] = {
        "delim": exp.Literal.string(dataset.delimiter or ","),
        "quote": quote,
        "escape": quote.copy(),
        "header": exp.true(),
        "sample_size": exp.Literal.number(-1),
        "comment": exp.Literal.string(""),
        "skip": exp.Literal.number(0),
        "strict_mode": exp.true(),
        "auto_type_candidates": exp.Array(expressions=[exp.Literal.string(c) for c in CSV_TYPES]),
        "allow_quoted_nulls": exp.false(),  # "" is an empty text, an empty field is missing
    }
    if dataset.all_varchar:
        options["all_varchar"] = exp.true()
    if dataset.encoding:
        options["encoding"] = exp.Literal.string(dataset.encoding)
    return options


def opening(dataset: Dataset) -> str | None:
    """The statement that must run first: to open a DuckDB file, or to load CSV; often none."""
    if dataset.loaded:
        rows = exp.select("*").from_(relation(replace(dataset, format="csv", loaded=False)))
        create = exp.Create(this=relation(dataset), kind="TABLE", expression=rows)
        return create.sql("duckdb")
    if dataset.format != "duckdb":
        return None
    return attaching(dataset.paths[0], ATTACHED, read_only=True)


def attaching(path: str, catalog: str, *, read_only: bool = False) -> str:
    """The statement that opens a DuckDB file as a catalog."""
    options = [exp.AttachOption(this=exp.Var(this="READ_ONLY"))] if read_only else []
    statement = exp.Attach(
        this=exp.alias_(exp.Literal.string(path), catalog), exists=True, expressions=options
    )
    return statement.sql("duckdb")


def _function(name: str, first: exp.Expr, options: Mapping[str, exp.Expr]) -> exp.Table:
    named = [exp.EQ(this=exp.Var(this=k), expression=v) for k, v in options.items()]
    return exp.Table(this=exp.Anonymous(this=name, expressions=[first, *named]))


def _escaped(path: str) -> str:
    """A path whose glob characters stand for themselves."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
