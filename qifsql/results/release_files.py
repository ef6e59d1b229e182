"""Releases as files of a format, written from rows in Parquet: CSV, JSON, Excel, SPSS, Stata, SAS.

CSV is like the input: its delimiter, encoding, ends of lines, and the mark of UTF-8 if it has one.
"""

import codecs
import csv
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from qifsql.data import installation
from qifsql.data.dataset import Dataset
from qifsql.data.formats import CSV_ENDINGS, JSON_ENDINGS
from qifsql.engine.decoding import unpacked
from qifsql.errors import OutputError, quoted
from qifsql.results.storage import check_output, wrong_ending

EXCEL = ".xlsx"
STATISTICS = (".dta", ".sav", ".zsav", ".xpt")
ENDINGS = (".parquet", ".pq", *CSV_ENDINGS, *JSON_ENDINGS, EXCEL, *STATISTICS)
UNWRITTEN = {
    ".sas7bdat": "no library writes files of SAS; name .xpt, which SAS reads",
    **dict.fromkeys(
        (".duckdb", ".db", ".sqlite", ".sqlite3"),
        "a release is one file and no table of a database; name .parquet or .csv",
    ),
    ".zip": "a release is one file; name .csv.gz or .parquet",
}
EXTRAS = {EXCEL: ("xlsxwriter", "excel"), **dict.fromkeys(STATISTICS, ("pyreadstat", "stats"))}
PACKING = {".gz": "gzip", ".zst": "zstd"}
STYLE_BYTES = 65_536  # bytes of the input that are looked at
CHARACTERS_AT_ONCE = 1_000_000  # characters that are encoded at a time
MOST_ROWS = 1_048_575  # of a workbook, below the names
MOST_CELLS = 20_000_000  # of files of statistics packages and workbooks
RECORDS_AT_ONCE = 20_000  # records that are written as JSON at a time
CREATED = datetime(2000, 1, 1)


def ending_like(file: str) -> str:
    """Return the ending of a release of a file: that of the file, or .parquet if it has another."""
    name = file.casefold()
    return next((e for e in sorted(ENDINGS, key=len, reverse=True) if name.endswith(e)), ".parquet")


def ending_to_open(file: str, records: int) -> str:
    """Return the ending of a release to look at: .xlsx if it fits, or else like the file."""
    is_written = find_spec(EXTRAS[EXCEL][0]) is not None
    return EXCEL if is_written and records <= MOST_ROWS else ending_like(file)


def ending_of(path: Path) -> str:
    """Return the one of ``ENDINGS`` that a file has; OutputError if it has another ending.

    Raises OutputError, too, if the library that writes it is not installed.
    """
    name = path.name.casefold()
    ending = next((e for e in sorted(ENDINGS, key=len, reverse=True) if name.endswith(e)), None)
    check_output(path)
    if ending is None:
        reason = next((why for e, why in UNWRITTEN.items() if name.endswith(e)), None)
        raise OutputError(f"{path}: {reason}") if reason else wrong_ending(path, ENDINGS)
    module, extra = EXTRAS.get(ending, ("polars", ""))
    if find_spec(module) is None:
        raise OutputError(f"{ending} files need the extra: {installation.command(extra)}")
    return ".parquet" if ending == ".pq" else ending


def write(
    rows: Path,
    target: Path,
    names: Sequence[str],
    *,
    kind: str,
    source: Dataset | None,
    unlabelled: Collection[str] = (),
) -> None:
    """Write rows in Parquet as a file of a kind, with these names of columns.

    ``source`` is the input, whose writing and labels are kept; values of the columns
    ``unlabelled`` get no labels.
    """
    writers: dict[str, Callable[..., None]] = {EXCEL: _write_workbook}
    writers |= dict.fromkeys(STATISTICS, partial(_write_statistics, unlabelled=unlabelled))
    writers |= dict.fromkeys(CSV_ENDINGS, _write_csv) | dict.fromkeys(JSON_ENDINGS, _write_json)
    writers[kind](rows, target, names, kind, source)


@dataclass(frozen=True)
class _Style:
    """The style of a CSV file: its delimiter, encoding, ends of lines, mark and decimal comma."""

    delimiter: str
    encoding: str = "utf-8"
    line_end: str = "\n"
    mark: bytes = b""
    decimal_comma: bool = False

    @classmethod
    def of(cls, source: Dataset | None, kind: str) -> "_Style":
        """Return the style in which a release is written as CSV or TSV: that of the input.

        If the input is no CSV, or has another delimiter than the ending says, it is the usual one.
        A decimal comma is kept, except where the comma is the delimiter.
        """
        usual = "\t" if kind.startswith(".tsv") else ","
        if source is None or source.format != "csv":
            return cls(usual)
        delimiter = source.delimiter if usual == "," and source.delimiter != "\t" else None
        if not delimiter or not delimiter.isascii():  # Polars writes a byte
            delimiter = usual
        with unpacked(source.paths[0], source.table) as file:
            begin = file.read(STYLE_BYTES)
        encoding = codecs.lookup(source.encoding or "utf-8").name
        text = codecs.getincrementaldecoder(encoding)("replace").decode(begin)
        line_end = "\r\n" if "\r\n" in text else "\n"
        mark = codecs.BOM_UTF8 if begin.startswith(codecs.BOM_UTF8) else b""
        decimal_comma = source.decimal == "," and delimiter != ","
        return cls(delimiter, encoding, line_end, mark, decimal_comma)


def _write_csv(
    rows: Path, target: Path, names: Sequence[str], kind: str, source: Dataset | None
) -> None:
    """Write the rows below a line of names, which is compressed separately."""
    style = _Style.of(source, kind)
    line = StringIO()
    writer = csv.writer(line, lineterminator=style.line_end, delimiter=style.delimiter)
    writer.writerow(names)
    options: dict[str, Any] = {"include_header": False, "separator": style.delimiter}
    options |= {"line_terminator": style.line_end, "decimal_comma": style.decimal_comma}
    if style.encoding not in ("utf-8", "utf-8-sig", "ascii"):
        plain = rows.with_name("rows.csv")
        pl.scan_parquet(rows).sink_csv(plain, **options)
        _encode(line.getvalue(), plain, target, kind, style.encoding)
        plain.unlink()
        return
    with _opened(target, kind) as file:
        file.write(style.mark + line.getvalue().encode())
    options["compression"] = PACKING.get(Path(kind).suffix, "uncompressed")
    with target.open("ab") as file:
        pl.scan_parquet(rows).sink_csv(file, **options)


def _encode(head: str, plain: Path, target: Path, kind: str, encoding: str) -> None:
    """Write a line and a file of UTF-8 to another file in an encoding."""
    encoder = codecs.getincrementalencoder(encoding)()
    with plain.open(encoding="utf-8", newline="") as text, _opened(target, kind) as file:
        try:
            file.write(encoder.encode(head))
            while block := text.read(CHARACTERS_AT_ONCE):
                file.write(encoder.encode(block))
        except UnicodeEncodeError as e:
            raise OutputError(
                f"the release has characters that {encoding}, the encoding of the input, lacks; "
                "write .parquet or .xlsx"
            ) from e


@contextmanager
def _opened(target: Path, kind: str) -> Iterator[Any]:
    """Open a file to write bytes, which are compressed if its ending says so."""
    packing = PACKING.get(Path(kind).suffix)
    with target.open("wb") as file:
        if packing is None:
            yield file
            return
        with pa.CompressedOutputStream(file, packing) as packed:
            yield packed


def _write_json(
    rows: Path, target: Path, names: Sequence[str], kind: str, _source: Dataset | None
) -> None:
    """Write a record per line: in a list, or alone where the ending is that of lines."""
    is_list = kind.startswith(".json") and not kind.startswith(".jsonl")
    begin, between, end = ("[\n", ",\n", "\n]\n") if is_list else ("", "\n", "\n")
    with _opened(target, kind) as file, pq.ParquetFile(rows) as parquet:
        file.write(begin.encode())
        is_first = True  # no record is written
        for batch in parquet.iter_batches(batch_size=RECORDS_AT_ONCE):
            frame = pl.DataFrame(pa.RecordBatch.from_arrays(batch.columns, names=list(names)))
            decimals = [name for name, dtype in frame.schema.items() if dtype.is_decimal()]
            lines = frame.cast(dict.fromkeys(decimals, pl.Float64)).write_ndjson().rstrip("\n")
            if frame.height:  # a line end in a text is escaped
                text = lines.replace("\n", between)
                file.write((text if is_first else between + text).encode())
                is_first = False
        file.write(end.encode())


def _read_all(rows: Path, names: Sequence[str]) -> pl.DataFrame:
    """Return all rows, for a kind of file that is made in memory; refuse too many."""
    with pq.ParquetFile(rows) as parquet:
        records = parquet.metadata.num_rows
    if records * len(names) > MOST_CELLS:
        raise OutputError(
            f"a file of this kind is made in memory, and {records:,} records of {len(names):,} "
            "columns are too many; write .parquet or .csv"
        )
    frame = pl.read_parquet(rows)
    frame.columns = list(names)
    return frame


def _write_workbook(
    rows: Path, target: Path, names: Sequence[str], _kind: str, source: Dataset | None
) -> None:
    """Write a workbook of one sheet, which has the name of that of the input."""
    from qifsql.presentation import spreadsheet

    frame = _read_all(rows, names)
    is_sheet = source is not None and source.format == "excel" and source.table
    sheet = source.table if is_sheet and source else "release"
    target.write_bytes(spreadsheet.workbook({sheet: frame}, CREATED))


def _write_statistics(
    rows: Path,
    target: Path,
    names: Sequence[str],
    kind: str,
    source: Dataset | None,
    *,
    unlabelled: Collection[str],
) -> None:
    """Write a file of SPSS, Stata or SAS, with the labels of the input."""
    from qifsql.engine import statistics_files

    frame = _read_all(rows, names)
    try:
        statistics_files.write_release(frame, target, kind, source, unlabelled)
    except (OSError, MemoryError):
        raise
    except Exception as e:
        raise OutputError(
            f"the release cannot be written as {kind}: names of its columns must begin with a "
            "letter and have letters, digits and _ only, and texts not be too long; write .csv or "
            ".parquet",
            detail=str(e),
        ) from e


def note_lost_labels(source: Dataset, path: Path) -> list[str]:
    """Return a note on columns whose values have labels in the source, but not in the release."""
    from qifsql.engine import statistics_files

    if ending_of(path) not in STATISTICS:
        return []
    names = ", ".join(map(quoted, statistics_files.unlabelled_columns(source, path)))
    note = (
        f"values of {names} have no labels in the release: a label is of one code (in .dta of a "
        "number alone; .xpt has none)"
    )
    return [note] if names else []
