"""Translation of DuckDB's errors to qifsql's: the error, its place, and what to try.

DuckDB's messages quote values of cells, so they are kept in ``detail``, only for ``--debug``. The
one exception is the prompt of ``qifsql shell``: a person types SQL there and sees its errors.
"""

import re

import duckdb

from qifsql.engine.settings import Settings
from qifsql.errors import (
    INTERRUPTED,
    STARVED,
    DatasetError,
    EngineError,
    ExpressionError,
    InternalError,
    Interrupted,
    QifError,
    starved,
)

CP1252 = "add --encoding cp1252"
_DISK = re.compile(r"no space left|file too large|could not write|failed to offload|disk", re.I)
_DAMAGE = re.compile(
    r"failed to read file|magic bytes|parquet file|decompress|corrupt|thrift|TProtocol|payload",
    re.I,
)
_OF_ENGINE = (
    duckdb.InternalException,
    duckdb.FatalException,
    duckdb.ConnectionException,
    duckdb.ResourceInUseException,
    duckdb.TransactionException,
)
"""Errors of the engine itself, not of the data."""
_OF_DATA = (
    duckdb.InvalidInputException,
    duckdb.OutOfRangeException,
    duckdb.TypeMismatchException,
)


def translated(
    error: BaseException, where: str, settings: Settings | None = None, *, ours: bool = False
) -> QifError:
    """Return the error of ``qifsql.errors`` that has the same meaning as an error of DuckDB.

    ``ours``: qifsql wrote the statement from columns and types that it had looked up. If DuckDB
    does not understand the statement, the mistake is in qifsql.
    """
    sql_errors = duckdb.BinderException | duckdb.ParserException | duckdb.CatalogException
    if ours and isinstance(error, sql_errors):
        return InternalError(f"a statement about {where} was not understood", detail=str(error))
    if starved(error):
        return EngineError(STARVED, detail=str(error))
    if isinstance(error, duckdb.InterruptException):
        return Interrupted(INTERRUPTED)
    words = str(error)
    message = re.sub(r"'[^'\s]*'|\"[^\"\s]*\"", "", words)  # without names of files and columns
    if isinstance(error, duckdb.OutOfMemoryException) and not re.search(r"temp|offload", message):
        limit = (settings.memory_limit if settings else None) or "the default"
        return EngineError(
            f"out of memory at the limit of {limit} while reading {where}; "
            "give more with --memory, or fewer threads with --threads",
            detail=words,
        )
    disk_errors = duckdb.OutOfMemoryException | duckdb.IOException | duckdb.TransactionException
    if isinstance(error, disk_errors) and _DISK.search(message):
        return EngineError(
            f"the disk for temporary files or results is full, or could not be written, while "
            f"reading {where}; name a folder with more room with --temp",
            detail=words,
        )
    kind, explanation = _input_error(error, where, words, message)
    if CP1252 in explanation:
        return DatasetError(explanation, detail=words, reading={"encoding": "cp1252"})
    return kind(explanation, detail=words)


def _input_error(
    error: BaseException, where: str, words: str, message: str
) -> tuple[type[QifError], str]:
    """Return the error about an input or an expression: the first case that applies.

    ``words`` are DuckDB's; ``message`` is the same without names of files and columns.
    """
    if isinstance(error, duckdb.PermissionException):
        return ExpressionError, (
            f"a statement about {where} would open a file that was not named; only the files on "
            "the command line are opened"
        )
    if wrong := _wrong_text(where, words, message):
        return DatasetError, wrong
    misfit = f"a value of {where} does not fit an expression, a filter or a type; use try_cast in "
    if isinstance(error, duckdb.ConversionException):
        return ExpressionError, (
            misfit + "the expression, --all-varchar for CSV of mixed types, or look with --debug"
        )
    if wrong := _wrong_table(where, words, message):
        return DatasetError, wrong
    if isinstance(error, _OF_DATA) and not _DAMAGE.search(message):
        return ExpressionError, misfit + "the expression, or look with --debug"
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.ParserException):
        hint = "check the file and the name of the table"
        return DatasetError, f"{where} cannot be read as a table; {hint}"
    if isinstance(error, duckdb.IOException) and "lock" in message:
        return DatasetError, f"{where} is in use by another program; close it there"
    if isinstance(error, _OF_ENGINE):
        return InternalError, f"the engine failed on {where}; --debug shows more"
    return DatasetError, (
        f"{where} cannot be read: it is corrupt, truncated or of another format than its name says"
    )


def _wrong_text(where: str, words: str, message: str) -> str:
    """Return the message about a file that is no JSON or not in its encoding; empty for others."""
    if json := re.search(r'JSON.* in file ".*",.* in (line|record/value) (\d+)', words):
        place = f"{json[1].partition('/')[0]} {json[2]}"
        return (
            f"{where} is not valid JSON ({place}): it is cut off, is not UTF-8, or has a record "
            "with a name twice; correct the file"
        )
    if re.search(r"not utf-8|invalid unicode|byte sequence mismatch", message, re.I):
        return (
            f"{where} is not UTF-8{_in_line(words)}; {CP1252} if it comes from Excel on Windows, "
            "or name its encoding, such as latin-1"
        )
    if encoding := re.search(r"not (latin-1|utf-16) encoded", message, re.I):
        return (
            f"{where} is not {encoding[1].lower()}; name another --encoding, such as cp1252 (Excel "
            "on Windows)"
        )
    return ""


def _wrong_table(where: str, words: str, message: str) -> str:
    """Return the message about CSV of unequal lines or of another encoding; empty for others."""
    if "sniff" in message or "CSV Error" in message:
        return (
            f"{where} is not a regular CSV table{_in_line(words)}: lines differ in their number of "
            "fields, or a quote is not closed; correct the file or name its --delimiter"
        )
    if "encoding" in message:
        hint = "name another --encoding, such as utf-8, cp1252 (Excel on Windows) or latin-1"
        return f"{where} cannot be read in that encoding; {hint}"
    return ""


def _in_line(words: str) -> str:
    """Return the line of a file that DuckDB names, in parentheses."""
    match = re.search(r"on Line: (\d+)", words)
    return f" (line {match[1]})" if match else ""
