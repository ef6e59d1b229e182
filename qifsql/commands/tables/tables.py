"""Published tables of counts: what they prove about people, and what the best guess gets right.

The tables are made of records as an office would make them (the custodian's view), or read as they
were published (the outsider's).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import polars as pl

from qifsql.commands.tables import breakdown, magnitude
from qifsql.commands.tables import remedies as remedy
from qifsql.commands.tables.made_tables import NewTable
from qifsql.commands.tables.spec import TableOptions
from qifsql.commands.tables.table_attack import TableAttack, group_dimension, questions
from qifsql.commands.tables.table_request import Request
from qifsql.data.dataset import Tabular
from qifsql.data.option import as_names, as_tuple, complete
from qifsql.data.readers import openings
from qifsql.engine.csv_types import remarks
from qifsql.engine.masks import private
from qifsql.engine.settings import Settings
from qifsql.results.result import Result
from qifsql.results.storage import Origin

SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("tables", "known"), pl.List(pl.String())),
    "secret": pl.String(),
    "people": pl.Int64(),
    "bounds": pl.String(),
    "sharp": pl.Boolean(),
    **dict.fromkeys(("reconstructed", "reconstructed_ones", "cells_proved"), pl.Int64()),
    **dict.fromkeys(("singled_out", "certain_inference"), pl.Int64()),
    **dict.fromkeys(("lowest", "highest"), pl.Float64()),
    "bracket_sharp": pl.Boolean(),
    **dict.fromkeys(("prior", "believed", "actual", "records"), pl.Float64()),
    "estimate": pl.Boolean(),
    "components": pl.Int64(),
    "components_proved": pl.Float64(),
    "components_open": pl.Int64(),
}
"""One row per set of tables and secret (NULL: re-identification).

``known`` are the dimensions that the adversary knows. ``bounds`` is how the counts of all
combinations were bounded (``closed form``, ``propagation``, ``integer programming``, ``mixed``);
``sharp``: no narrower bounds of them are true. ``reconstructed`` people are in combinations of all
dimensions whose count is proved, ``reconstructed_ones`` alone in one; ``cells_proved`` counts these
combinations and the empty ones (NULL: too many to count). ``singled_out`` people are proved to be
alone with what is known, the secret of ``certain_inference`` people is proved. ``lowest`` and
``highest`` are the least and the greatest success of the best guess over all records that agree
with the tables, at least and at most (``bracket_sharp``: exactly). ``prior``: success without
tables; ``believed``: what a Bayesian adversary expects of the best guess; ``actual``: how often it
is right (NULL without records); ``records``: success if the records were published. ``estimate``:
``believed`` and ``actual`` are of fitted counts. ``components`` are parts that say nothing about
one another, such as schools; ``components_proved`` is the share of them all of whose combinations
are proved, and ``components_open`` the number of those whose bounds may not be sharp."""

WITHOUT: dict[str, pl.DataType] = {
    "without": pl.String(),
    "secret": SCHEMA["secret"],
    **{name: SCHEMA[name] for name in ("reconstructed", "singled_out", "certain_inference")},
    **{name: SCHEMA[name] for name in ("lowest", "highest", "believed", "actual")},
}
"""One row per table that is left out and secret: the measures of the other tables."""


def tables(
    source: Tabular | None = None,
    *,
    settings: Settings | None = None,
    **options: Unpack[TableOptions],
) -> Result:
    """Attack published tables of counts: what they prove, and what the best guess gets right.

    With records, the tables are made as an office would make them; without, they are read as they
    were published.

    Args:
        source: The records: a path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder
            of Parquet; table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. None: only published tables.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine. The seed draws random rounding and noise.

    Returns:
        A Result. frame: one row per set of tables and secret (SCHEMA). details: checks (each
        table), disclosure (rows with one value), overlaps (pairs of tables), and where asked for
        components, groups, without, remedies, magnitudes.

    Raises:
        InputError: A name, a table or an option does not fit, or published tables contradict each
            other; the message says which, where and what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.tables("data-samples/popets_table_3a.csv",
        ...     table=["gender,grade", "grade,disability"], secret="disability")
        >>> result.frame.select("reconstructed", "bounds").row(0)
        (10, 'closed form')

    Source: M89 to M110; Dobra and Fienberg 2000, Buzzigoli and Giusti 1999, Abowd et al. 2023.

    """
    options = complete(options, TableOptions)
    settings = settings or Settings()
    request = Request.of(source, options, settings)
    origin = Origin.now(settings, "tables")
    with private(when=options["resume"] is not None), request.opened() as (release, memory):
        work = release.tables
        attack = TableAttack(options, release, memory=memory)
        result = attack.run()
        details, notes = dict(result.details), [*result.notes]
        if options["leave_one_out"] and len(release.published) > 1:
            rows_without = [{name: row[name] for name in WITHOUT} for row in attack.without()]
            details["without"] = pl.DataFrame(rows_without, schema=WITHOUT)
        if request.magnitudes and request.records is not None:
            magnitudes, rules = request.magnitudes, request.rules
            details["magnitudes"], remarks_ = magnitude.measure(
                work, request.records, magnitudes, rules, where=options["where"]
            )
            notes += remarks_
        engine_notes = remarks(work.engine)
        first = openings(request.records) if request.records is not None else ()
        statements = dict.fromkeys([*first, "SET TimeZone = 'UTC'", *work.statements])
        origin = origin.about(request.describe(release), request.paths).sending(statements)
        origin = origin.listing(release.columns)
    if options["remedies"] or options["until"]:
        details["remedies"], more = _try_remedies(request)
        notes += more
    return Result(
        frame=pl.DataFrame(result.rows, schema=SCHEMA, orient="row"),
        origin=origin,
        details=details,
        notes=(*notes, *engine_notes),
        met=result.met,
    )


def rehearse(
    source: Tabular | None = None, settings: Settings | None = None, **options: Unpack[TableOptions]
) -> None:
    """Check the options and look up every name, without an attack; InputError if one is wrong."""
    options = complete(options, TableOptions)
    domain = Request.of(source, options, settings or Settings()).domain()
    questions(domain, options, {})
    group_dimension(domain, options)


def _try_remedies(request: Request) -> tuple[pl.DataFrame, list[str]]:
    """Return the remedies that were tried, as ``REMEDIES``, and remarks on whether they suffice."""
    options, attempt = request.options, partial(_attack_changed, request)
    limits = remedy.parse_limits(as_tuple(options["until"]))
    changes, small = as_names(options["change"]), options["small"]
    # chosen: texts of the remedies to take; empty: the bounds hold already; None: none suffice
    rows, chosen = remedy.search(request.new_tables, attempt, changes, limits, small)
    notes = []
    if limits and chosen is None:
        notes.append("no remedies that were tried keep all bounds; name coarser forms (--change)")
    elif limits:
        notes.append(
            f"the bounds hold: {'; '.join(chosen)}" if chosen else "the bounds hold already"
        )
    return pl.DataFrame(rows, schema=remedy.REMEDIES, orient="row"), notes


def _attack_changed(
    request: Request, new_tables: Sequence[NewTable]
) -> tuple[list[dict[str, Any]], int]:
    """Attack ``new_tables``, which a remedy made of the tables of the request, in their order.

    Return the rows of all of them together (``SCHEMA``), each with ``undone``: the hidden cells
    whose count is proved; and the number of published cells that still tell their exact count.
    """
    options: TableOptions = {**request.options, "resume": None}  # its file is of other tables
    changed = replace(request, new_tables=tuple(new_tables), options=options)
    new_names: dict[str, str] = {}  # of dimensions that became coarser, by the old ones
    for old, new in zip(request.new_tables, new_tables, strict=True):
        new_names |= zip(old.dims, new.dims, strict=True)
    with changed.opened() as (release, _):
        attack = TableAttack(options, release, new_names)
        measured = attack.measure(release.published)
        rows = attack.rows(measured)
        checks = breakdown.checks(measured, options["small"])
    undone = int(checks["undone"].sum())
    # Under other protections a cell is either hidden or tells its count.
    exact = checks.filter(~pl.col("protection").str.contains("^(?:round|noise)"))
    exact_cells = int((exact["cells"] - exact["hidden"]).sum())
    return [row | {"undone": undone} for row in rows], exact_cells
