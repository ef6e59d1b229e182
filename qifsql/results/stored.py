"""Stored results, from which reports are written without the data.

A result is a Parquet file with its manifest inside and its details next to it
(``risk.parquet``, ``risk.histogram.parquet``), or a JSON file with its manifest next to it. A
folder means all results in it.
"""

import json
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
from polars.selectors import by_name

from qifsql.adversary.spec import ColumnRoles
from qifsql.data.files import MANIFEST, parsed_json
from qifsql.data.formats import ENDINGS
from qifsql.errors import DatasetError
from qifsql.results import parquet
from qifsql.results.assessment import GAIN, INDIVIDUAL, PEOPLE, REPORTED, SCHEMA
from qifsql.results.kinds import Kind, kind_of
from qifsql.results.result import Result
from qifsql.results.storage import manifest

TYPES = SCHEMA | INDIVIDUAL | GAIN | PEOPLE | REPORTED  # of columns that most results have
JSON_KEYS = ("qifsql", "spec", "notes", "results", "met", "not_considered", "columns")
"""Entries of a JSON file that are not tables of details."""


@dataclass(frozen=True)
class Stored:
    """A stored result: ``kind`` is its command, ``manifest`` its origin, ``files`` its files."""

    name: str
    kind: str
    frame: pl.DataFrame
    details: Mapping[str, pl.DataFrame]
    manifest: Mapping[str, Any]
    files: tuple[str, ...] = ()

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return the request as plain data."""
        spec: Mapping[str, Any] = self.manifest["spec"]
        return spec

    def rows_of(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table of details; none if it was not stored."""
        return self.details[table].rows(named=True) if table in self.details else []

    @property
    def columns(self) -> tuple[ColumnRoles, ...] | None:
        """Return all columns of the file with their roles; None if they were not stored."""
        listed = self.manifest.get("columns")
        return None if listed is None else tuple(map(ColumnRoles.of, listed))

    @property
    def shows_people(self) -> bool:
        """Return whether the result has rows of single people or values that they share."""
        return not self.is_known or "target" in self.frame.columns

    @property
    def is_known(self) -> bool:
        """Return whether the result is about everybody and has the columns of its kind."""
        kind = kind_of(self.kind)
        return kind is not None and set(kind.columns) <= set(self.frame.columns)


def read(places: Iterable[str | Path | Result]) -> list[Stored]:
    """Return the results in files and folders, in their order.

    A ``Result`` is treated like a stored one. A name that an earlier result has gets a number.

    Raises DatasetError if a file does not exist or is not a result, or a folder has no results.
    """
    results: list[Stored] = []
    for source in places:
        if isinstance(source, Result):
            for name, part in source.parts.items():
                origin = replace(part.origin, notes=part.notes)
                note = json.loads(json.dumps(manifest(origin), default=str))
                results.append(Stored(name, part.kind, part.frame, part.details, note))
        elif not Path(source).is_dir():
            results.append(_read(Path(source)))
        elif contents := _read_folder(Path(source)):
            results += contents
        else:
            raise DatasetError(f"folder {source} has no results; store some with -o FILE.parquet")
    named: dict[str, Stored] = {}
    for stored in results:
        numbered = (f"{stored.name}-{i}" for i in range(2, len(results) + 2))
        name = next(n for n in (stored.name, *numbered) if n not in named)
        named[name] = replace(stored, name=name)
    return list(named.values())


def is_result(path: Path) -> bool:
    """Return whether a Parquet file is a result of qifsql about everybody, from its metadata."""
    try:
        note = parquet.manifest(path)
    except (*parquet.UNREADABLE, ValueError):
        return False
    return isinstance(note, dict) and kind_of(str(note.get("result"))) is not None


def _read_folder(folder: Path) -> list[Stored]:
    """Return all results in a folder; of a result in several formats, only the Parquet file."""
    by_stem: dict[str, Stored] = {}
    for ending in ("*.parquet", "*.json"):
        # results come before their details, whose names are longer: risk.histogram.parquet
        for path in sorted(folder.glob(ending), key=lambda path: (len(path.name), path.name)):
            name, _, detail = path.stem.rpartition(".")
            is_detail = name in by_stem and detail in by_stem[name].details
            if path.name.endswith(MANIFEST) or path.stem in by_stem or is_detail:
                continue
            with suppress(DatasetError):  # another file
                by_stem[path.stem] = _read(path)
    return sorted(by_stem.values(), key=lambda stored: stored.name)


def _read(path: Path) -> Stored:
    """Return the result in a file; DatasetError if it has none."""
    if not path.is_file():
        raise DatasetError(f"{path} does not exist; name a result that was stored with -o")
    ending = path.suffix.casefold()
    hint = "store one with -o FILE.parquet or FILE.json, and name that"
    if path.name.casefold().endswith(tuple(chain(*ENDINGS.values()))):  # it may have records
        hint = (
            f"if it has records, attack them first: qifsql attack {shlex.quote(str(path))} "
            "--qids COLUMNS -o RESULT.parquet, and name RESULT.parquet here"
        )
    message = f"{path} is not a result of qifsql; {hint}"
    if ending not in (".parquet", ".json"):
        raise DatasetError(message)
    malformed = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
    try:
        stored = _read_parquet(path) if ending == ".parquet" else _read_json(path)
    except (*parquet.UNREADABLE, *malformed, pl.exceptions.PolarsError) as e:
        raise DatasetError(message, detail=str(e)) from e
    kind = kind_of(stored.kind)
    essential = kind is not None and kind.essential
    if stored.kind == "report" or (essential and not stored.is_known):
        raise DatasetError(message)
    return stored


def _read_parquet(path: Path) -> Stored:
    """Return the result in a Parquet file, with the details beside it that are of one run."""
    note = parquet.manifest(path)
    details, files = {}, [str(path)]
    for detail_path in sorted(path.parent.glob(f"{escape(path.stem)}.*.parquet")):
        name = detail_path.stem.removeprefix(f"{path.stem}.")
        beside = parquet.manifest(detail_path) or {}
        if beside.get("started") == note["started"] and beside.get("sql") == note["sql"]:
            details[name] = parquet.read(detail_path)
            files.append(str(detail_path))
    frame = parquet.read(path)
    _check_manifest(note)
    return Stored(path.stem, str(note["result"]), frame, details, note, tuple(files))


def _check_manifest(note: Mapping[str, Any]) -> None:
    """Raise KeyError, TypeError or ValueError if a part of a manifest is missing or malformed."""
    dict(note["spec"])
    for file in note["inputs"]:
        int(file["bytes"])
        for name in ("path", "sha256"):
            str(file[name])
    for column in note.get("columns", ()):
        ColumnRoles.of(column)


def _json_table(rows: list[dict[str, Any]], kind: Kind | None) -> pl.DataFrame:
    """Return rows of JSON as a table; empty columns get the type that they have in results.

    JSON has infinite numbers as the texts ``inf`` and ``-inf``.
    """
    rows = [dict(row) for row in rows]
    for name in rows[0] if rows else ():
        finite = [row[name] for row in rows if row[name] not in (None, "inf", "-inf")]
        if all(isinstance(x, int | float) and not isinstance(x, bool) for x in finite):
            for row in rows:
                row[name] = float(row[name]) if isinstance(row[name], str) else row[name]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    types = TYPES | (dict(kind.types) if kind else {})
    empty = [name for name, dtype in frame.schema.items() if dtype == pl.Null]
    return frame.with_columns(by_name(name).cast(types.get(name, pl.String())) for name in empty)


def _read_json(path: Path) -> Stored:
    """Return the result in a JSON file, with the manifest beside it."""
    document = parsed_json(path.read_text("utf-8"))
    note = parsed_json(path.with_name(path.name + MANIFEST).read_text("utf-8"))
    kind = kind_of(str(note["result"]))
    tables = {  # JSON does not say which columns a table without rows has
        name: _json_table(rows, kind)
        for name, rows in document.items()
        if name not in JSON_KEYS and rows
    }
    frame = _json_table(document["results"], kind)
    frame = frame.drop("unit", strict=False)  # which JSON alone has
    _check_manifest(note)
    return Stored(path.stem, str(note["result"]), frame, tables, note, (str(path),))
