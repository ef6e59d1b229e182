"""A plan: an ordered list of named SELECTs and the query that reads the last of them."""

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True)
class Step:
    """One named SELECT. ``doc`` says what a row is."""

    name: str
    doc: str
    query: exp.Query
    materialized: bool = False


@dataclass(frozen=True)
class Plan:
    """Named steps, each reading only those before it, and the query that gives the result.

    ``setup`` are statements to run first (opening a DuckDB file); usually none. ``keeps`` is the
    table that the rows are kept in for later plans, as (catalog, name).
    """

    steps: tuple[Step, ...]
    result: exp.Query
    setup: tuple[str, ...] = ()
    keeps: tuple[str, str] | None = None
