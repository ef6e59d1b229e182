"""Data frames as datasets: their rows stay in memory, and their path is a digest."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Protocol

from qifsql.errors import DatasetError

PREFIX = "frame:"
"""The beginning of the path of a data frame; the SHA-256 digest of its Arrow data follows."""

_PATH = re.compile(rf"{PREFIX}([0-9a-f]{{64}})")


class Stream(Protocol):
    """A data frame: an object that can be read as a stream of Arrow record batches."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream of the Arrow PyCapsule interface."""


class Lazy(Protocol):
    """A query of a data frame that is not computed yet: a Polars LazyFrame."""

    def collect_schema(self) -> object:
        """Return names and types of the columns."""

    def lazy(self) -> Any:
        """Return the query itself."""


def arrow_table(source: Any, table: str = "") -> tuple[Any, tuple[str, ...]]:
    """Return a data frame as an Arrow table, without copying a table; None for other objects.

    Columns by name, records in a list and arrays with names become a data frame first.

    Args:
        source: Any object with ``__arrow_c_stream__`` that yields a table (Polars, pandas, PyArrow,
            a DuckDB relation), a Polars LazyFrame, or, with ``table``, a DuckDB connection.
        table: The table or view of a connection.

    Returns:
        The table, and the columns that are left out, because their values have several types.

    Raises:
        DatasetError: The columns cannot be written as Arrow, or two have the same name.
        TypeError: The object is a stream of something other than a table.

    """
    source = _as_frame(source)
    # A lazy query is computed here; a connection is read by the name of its table.
    is_stream = hasattr(source, "__arrow_c_stream__")
    if not is_stream and hasattr(source, "collect_schema") and hasattr(source, "lazy"):
        source = source.lazy().collect()
    if table and hasattr(source, "cursor") and hasattr(source, "table"):
        source = source.table(table)
    if not hasattr(source, "__arrow_c_stream__"):
        return None, ()
    rows, left_out = _read_stream(source)
    if len(set(rows.column_names)) < rows.num_columns:
        kind = type(source).__name__
        raise DatasetError(f"two columns of the {kind} have the same name; rename one of them")
    return rows, left_out


def _read_stream(source: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the Arrow table of a stream, and the columns left out: they have several types."""
    import pyarrow as pa

    try:
        return pa.table(source).unify_dictionaries(), ()
    except (TypeError, ValueError, pa.ArrowException) as e:
        kind = type(source).__name__
        if not hasattr(source, "columns"):
            raise TypeError(f"expected a data frame, not {kind}") from None
        left_out = _mixed_columns(source)
        if not 0 < len(left_out) < len(source.columns):
            raise DatasetError(
                f"the {kind} cannot be read as Arrow; give each column a name of its own and one "
                "type",
                detail=str(e),
            ) from None
    names = [name for name in source.columns if str(name) not in left_out]
    return pa.table(source[names]).unify_dictionaries(), left_out


def is_table(source: object) -> bool:
    """Return whether an object is a data frame, and no column of one."""
    if hasattr(source, "collect_schema"):  # a lazy frame, whose columns would be computed
        return True
    is_stream = hasattr(source, "__arrow_c_stream__")
    return is_stream and (hasattr(source, "columns") or hasattr(source, "schema"))


def _is_column(values: object) -> bool:
    return hasattr(values, "__iter__") and not isinstance(values, str | bytes | Mapping)


def are_records(source: object) -> bool:
    """Return whether an object is a list of records: dictionaries of values by column."""
    return (
        isinstance(source, list)
        and bool(source)
        and all(isinstance(record, Mapping) for record in source)
        and not any(_is_column(value) for record in source for value in record.values())
    )


def _as_frame(source: Any) -> Any:
    """Return columns by name, records or an array with names as a data frame; others as is."""
    import polars as pl

    names = getattr(getattr(source, "dtype", None), "names", None)
    kind = type(source).__name__
    if names is None and hasattr(source, "__array_interface__"):
        raise TypeError(
            f"an {kind} has no names of columns; make a data frame of it, as in "
            "polars.DataFrame(array, schema=['age', 'sex'])"
        )
    if isinstance(source, Mapping) and not all(map(_is_column, source.values())):
        raise TypeError(f"a {kind} has a list of values for each column, or one data frame by name")
    try:
        if names is not None:
            return pl.DataFrame({name: source[name] for name in names})
        if isinstance(source, Mapping):
            return pl.DataFrame(dict(source))
        return pl.from_dicts(source, infer_schema_length=None) if are_records(source) else source
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as e:
        raise DatasetError(
            f"the {kind} cannot be read as columns; give each the same number of values, of one "
            "type",
            detail=str(e),
        ) from None


def _mixed_columns(frame: Any) -> tuple[str, ...]:
    """Return the names of columns that have no type in Arrow; none if two names are the same."""
    import pyarrow as pa

    names = list(frame.columns)
    mixed = []
    for name in names if len({*map(str, names)}) == len(names) else ():
        try:
            pa.table(frame[[name]])
        except (TypeError, ValueError, pa.ArrowException):
            mixed.append(str(name))
    return tuple(mixed)


def digest_path(table: Any) -> str:
    """Return the path of a data frame; equal data have the same path, however they are chunked."""
    import pyarrow as pa

    digest = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        plain = _plain(column)
        digest.update(f"{name}\0{plain.type}\0{len(column)}\0".encode())
        # which values are missing, then the others: the bytes behind a missing value vary
        for part in (column.is_null(), plain.drop_null()):
            if part.num_chunks:
                array = pa.concat_arrays(part.chunks)
                digest.update(pa.record_batch([array], names=["part"]).serialize())
    return PREFIX + digest.hexdigest()


def _plain(column: Any) -> Any:
    """Return an Arrow column in one type for all types of text, or bytes, and without codes.

    The same values would otherwise have other bytes, and so another digest.
    """
    import pyarrow as pa

    text, binary = pa.large_string(), pa.large_binary()
    types = {"string": text, "string_view": text, "binary": binary, "binary_view": binary}
    if pa.types.is_dictionary(column.type):
        type_ = types.get(str(column.type.value_type), column.type.value_type)
        chunks = [chunk.dictionary.cast(type_).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(chunks, type_)
    return column.cast(types.get(str(column.type), column.type))


def digest_of(path: str) -> str | None:
    """Return the digest in the path of a data frame; None for a path of a file."""
    match = _PATH.fullmatch(path)
    return match[1] if match else None


def view_name(path: str) -> str:
    """Return the name of a data frame in SQL."""
    return f"frame_{path.removeprefix(PREFIX)[:16]}"
