"""A plan: an ordered list of named SELECTs and the query that reads the last of them."""

from dataclasses import dataclass

from sqlglot import exp

Select = exp.Select


@dataclass(frozen=True, eq=False)
class Step:
    """One named SELECT, never changed, as many plans may have it; ``doc`` describes a row of it."""

    name: str
    doc: str
    query: exp.Query
    materialized: bool = False


@dataclass(frozen=True)
class Plan:
    """Named steps, each of which reads only earlier ones, and the query of the result.

    ``setup`` are statements to run first, such as those that open a DuckDB file; it is usually
    empty. ``keeps`` is the table that stores the rows for later plans, as (catalog, name).
    """

    steps: tuple[Step, ...]
    result: exp.Query
    setup: tuple[str, ...] = ()
    keeps: tuple[str, str] | None = None


def as_plan(query: exp.Query | Plan) -> Plan:
    """Return a query as a plan without steps; a plan stays as it is."""
    return query if isinstance(query, Plan) else Plan((), query)
