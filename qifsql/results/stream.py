"""Results with a row per record as files; the engine streams any number of rows."""

import json
from pathlib import Path

import polars as pl

from qifsql.engine.protocol import Engine
from qifsql.query.plan import Plan
from qifsql.results.storage import (
    STREAMED,
    Origin,
    atomic_file,
    check_ending,
    manifest,
    without_formulas,
    write_manifest,
)


def stream(engine: Engine, plan: Plan, path: Path, origin: Origin, *, what: str) -> int:
    """Write the rows of a plan to a Parquet or CSV file; return their number, which may be large.

    CSV is converted from Parquet: DuckDB 2.0.0 may wait forever if writing CSV fails midway.
    """
    check_ending(path, STREAMED)
    where = str(origin.spec["dataset"])
    with atomic_file(path, origin, engine.partial) as temporary:
        note = json.dumps(manifest(origin) | {"seconds": None}, default=str)
        if path.suffix.casefold() == ".parquet":
            return engine.copy(plan, temporary, what=what, where=where, note=note)
        between = engine.scratch / "rows.parquet"
        rows = engine.copy(plan, between, what=what, where=where, note=note)
        without_formulas(pl.scan_parquet(between)).sink_csv(temporary)
        write_manifest(path, origin.about(origin.spec, origin.paths, *origin.plans))
        return rows
