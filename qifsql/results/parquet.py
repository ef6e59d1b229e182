"""Tables of results as Parquet files, with a checksum of every page and a manifest inside."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from qifsql.data.files import parsed_json

KEY = b"qifsql"  # of the manifest, in the metadata of the file
UNREADABLE = (OSError, pa.ArrowException)
"""Errors of reading a file that is not Parquet, or is damaged."""


def write(frame: pl.DataFrame, path: Path, manifest: Mapping[str, Any]) -> None:
    """Write a table and its manifest to a file."""
    metadata = {KEY: json.dumps(manifest, default=str).encode()}
    table = frame.to_arrow().replace_schema_metadata(metadata)
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def read(path: Path) -> pl.DataFrame:
    """Return the table in a file; one of UNREADABLE if it is not Parquet, or is damaged."""
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        return pl.DataFrame(file.read())


def manifest(path: Path) -> Any:
    """Return the manifest in a file as plain data; None if it has none.

    Raises one of UNREADABLE if the file is not Parquet, ValueError if the manifest is not JSON.
    """
    text = (pq.read_metadata(path).metadata or {}).get(KEY, b"null")
    return parsed_json(text.decode())
