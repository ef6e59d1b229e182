"""A release as a file, with the original names of its columns, including names SQL cannot use.

SQL does not distinguish ``ID`` and ``id``, and has no columns without a name. If a file has such
names, DuckDB writes the rows with other names, and a copy of the file restores the original ones.
"""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import identifier
from qifsql.data.types import family
from qifsql.engine.protocol import Engine
from qifsql.errors import InternalError, quoted
from qifsql.query.columns import SHOWABLE
from qifsql.query.plan import Plan
from qifsql.results import release_files
from qifsql.results.release_files import ending_of
from qifsql.results.storage import Origin, atomic_file, write_manifest

KEPT_TYPES = (*SHOWABLE, "DATE", "TIMESTAMP", "TIME")  # by formats other than Parquet and CSV
# Types that DuckDB 2.0.0 writes to Parquet as other types: floats, milliseconds, structures.
_LOSSY = re.compile(r"\b(U?HUGEINT|INTERVAL|TIME WITH TIME ZONE|UNION|BIT|BIGNUM)\b")


def is_csv(kind: str) -> bool:
    """Return whether a release of a kind is CSV, whose cells are texts."""
    return kind.startswith((".csv", ".tsv"))


def as_text(type_: str, kind: str) -> bool:
    """Return whether values of a type must be written as text to stay unchanged."""
    if kind == ".parquet":
        return _LOSSY.search(type_) is not None
    return family(type_) not in (SHOWABLE if is_csv(kind) else KEPT_TYPES)


def note_changed_types(columns: Sequence[Column]) -> list[str]:
    """Return remarks on the columns that are written to Parquet as text."""
    return [
        f"column {quoted(c.name)} is written as text, because Parquet would change its values "
        f"({family(c.type)})"
        for c in columns
        if as_text(c.type, ".parquet")
    ]


def aliases(names: Sequence[str]) -> list[str]:
    """Return the names of the columns in SQL: the original ones, unless SQL cannot use them."""
    plain = all(names) and len({name.casefold() for name in names}) == len(names)
    return list(names) if plain else [f"column_{i}" for i, _ in enumerate(names, 1)]


def written_cells(cells: Sequence[tuple[exp.Expr, Column]], kind: str) -> list[exp.Expr]:
    """Return the columns of a plan to write: cells by the names of their columns (``aliases``).

    Cells of types that the kind of file lacks are texts.
    """
    names = aliases([column.name for _, column in cells])
    return [
        exp.alias_(exp.cast(cell, "VARCHAR") if as_text(c.type, kind) else cell, identifier(name))
        for (cell, c), name in zip(cells, names, strict=True)
    ]


def header(names: Sequence[str], columns: Sequence[Column], kind: str) -> list[str]:
    """Return the names to write above the columns of a release; ``columns`` are those of the input.

    In CSV, a column without a name in the input has none.
    """
    headings = {c.name: c.heading for c in columns if c.heading is not None}
    return [headings.get(name, name) for name in names] if is_csv(kind) else list(names)


def write(
    engine: Engine,
    plan: Plan,
    path: Path,
    origin: Origin,
    *,
    names: Sequence[str],
    rows: int,
    source: Dataset,
    unlabelled: Collection[str] = (),
) -> list[str]:
    """Write all ``rows`` rows of a plan in order, completely or not at all; return notes on labels.

    The file is like the ``source`` (``release_files``); values of the columns ``unlabelled`` have
    no labels. The names of the plan's columns are ``aliases(names)``. The manifest is next to the
    file and not in it: others get the release, but not its seed and the path of its source. Other
    files are converted from Parquet: DuckDB 2.0.0 may wait forever if writing CSV fails.
    """
    dataset = str(origin.spec["dataset"])
    with atomic_file(path, origin, engine.unfinished_path) as temporary:
        kind = ending_of(path)
        written = write_rows(
            engine,
            plan,
            temporary,
            names=names,
            kind=kind,
            where=dataset,
            source=source,
            unlabelled=unlabelled,
        )
        if written != rows:
            raise InternalError(f"{written:,} records of {dataset} would be written, not {rows:,}")
        write_manifest(path, origin.about(origin.spec, origin.paths, *origin.plans))
    return release_files.note_lost_labels(source, path)


def write_rows(
    engine: Engine,
    plan: Plan,
    path: Path,
    *,
    names: Sequence[str],
    kind: str,
    where: str,
    source: Dataset | None = None,
    unlabelled: Collection[str] = (),
) -> int:
    """Write the rows of a plan to a file of a kind, without a manifest; return their number."""
    direct = kind == ".parquet" and aliases(names) == list(names)
    target = path if direct else engine.scratch / "rows.parquet"
    written = engine.copy(plan, target, what="writing records", where=where)
    if kind != ".parquet":
        release_files.write(target, path, names, kind=kind, source=source, unlabelled=unlabelled)
    elif not direct:
        with pq.ParquetFile(target) as file:
            fields = [f.with_name(name) for f, name in zip(file.schema_arrow, names, strict=True)]
            schema = pa.schema(fields)
            with pq.ParquetWriter(path, schema, compression="zstd") as copy:
                for batch in file.iter_batches():
                    copy.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return written
