"""The baseline: values of measures of the last release, to compare new values with.

A baseline is a file of ``qifsql attack -o`` or ``qifsql check -o``: ``.json``, ``.parquet`` or
``.csv``. Values within groups are in the same JSON, or in ``NAME.groups.csv`` next to
``NAME.csv``. Rows are found by model, quasi-identifiers in any order, secret and group.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from qifsql.data.files import check_file, parsed_json
from qifsql.errors import InputError, quoted

ENDINGS = (".json", ".parquet", ".csv")
Table = list[dict[str, Any]]


class Place(NamedTuple):
    """The subject of a value; ``by`` and ``group`` are None for everybody together."""

    model: str
    qids: tuple[str, ...]
    secret: str | None
    by: str | None = None
    group: str | None = None
    known_records: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Place":
        """Return the place of a row of results; names joined by ``+`` are a list."""
        qids = row["qids"]
        names = qids if isinstance(qids, str) else "+".join(qids)
        where = (row.get(column) for column in ("secret", "by", "group", "known_records"))
        return cls(str(row["model"]).upper(), tuple(sorted(names.split("+"))), *where)


@dataclass(frozen=True)
class Baseline:
    """The values of a result by place and measure, and the files of the result."""

    name: str
    files: tuple[str, ...]
    by_place: Mapping[Place, Mapping[str, Any]]

    def value(self, place: Place, measure: str) -> float | None:
        """Return the value of a measure at a place; None if the result has no value or several."""
        entry = self.by_place.get(place, {}).get(measure)
        if entry is None or isinstance(entry, bool):
            return None
        try:
            number = float(entry)
        except (TypeError, ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None


def read(file: str | Path) -> Baseline:
    """Return the baseline in a file; InputError unless it is a result of an attack or a check."""
    path = Path(file)
    if path.suffix.casefold() not in ENDINGS:
        raise InputError(f"the baseline {path} must end in one of {', '.join(ENDINGS)}")
    if path.exists():
        check_file(path)
    if not path.is_file():
        raise InputError(f"the baseline {path} does not exist; check the path")
    files, groups = [path], Table()
    if path.suffix.casefold() == ".json":
        try:
            document = parsed_json(path.read_text("utf-8"))
            results, groups = _rows(document["results"]), _rows(document.get("groups", []))
        except OSError as e:
            raise InputError(f"the baseline {path} cannot be read: {e.strerror}") from e
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
            raise _no_result(path) from e
    else:
        results = _table(path, "qids")
        beside = path.with_name(f"{path.stem}.groups{path.suffix}")
        if beside.is_file():
            groups = _table(beside, "group")
            files.append(beside)
    try:
        by_place = _values_by_place(results, groups)
    except (KeyError, TypeError, AttributeError) as e:
        raise _no_result(path) from e
    return Baseline(str(path), tuple(map(str, files)), by_place)


def _values_by_place(results: Table, groups: Table) -> dict[Place, dict[str, Any]]:
    """Return the values of all rows by place (model, secret, group ...) and measure.

    Where rows disagree, the value is an ellipsis. A row of ``check`` has one ``measure``; one of
    ``attack`` has all, and its groups are joined to it by ``attack_id``. Rules are about chances,
    so rows of other gains are left out.
    """
    by_place: dict[Place, dict[str, Any]] = {}
    attacks: dict[str, Place] = {}
    for row in results:
        if row.get("gain") not in (None, "", "identity"):
            continue
        place = Place.of(row)
        if "measure" in row:  # of a check: ``success`` is without the chance of an attempt
            _note(by_place, place, {row["measure"]: row.get("success") or row["value"]})
            continue
        _note(by_place, place, row)
        if row.get("attack_id") is not None:
            attacks[row["attack_id"]] = place
    for row in groups:
        if (place_of_all := attacks.get(row["attack_id"])) is not None:
            _note(by_place, place_of_all._replace(by=row["by"], group=row["group"]), row)
    return by_place


def _note(by_place: dict[Place, dict[str, Any]], place: Place, values: Mapping[str, Any]) -> None:
    """Add values by measure to those of a place; one that differs becomes an ellipsis."""
    entries = by_place.setdefault(place, {})
    for measure, value in values.items():
        entries[measure] = value if entries.get(measure, value) == value else ...


def _table(path: Path, needed: str) -> Table:
    """Return the rows of a file; refuse it if a needed column is missing."""
    try:
        if path.suffix.casefold() == ".csv":
            lazy = pl.scan_csv(path, infer_schema=False, glob=False)
        else:
            lazy = pl.scan_parquet(path, glob=False)
        if needed not in lazy.collect_schema():
            raise _no_result(path)
        return lazy.collect().to_dicts()
    except (pl.exceptions.PolarsError, OSError) as e:
        raise _no_result(path) from e


def _rows(entries: Iterable[Any]) -> Table:
    rows = list(entries)
    if not all(isinstance(row, dict) for row in rows):
        raise TypeError("a row is a table of names and values")
    return rows


def _no_result(path: Path) -> InputError:
    return InputError(
        f"the baseline {quoted(str(path))} is no result that qifsql exported; write one with "
        "qifsql attack -o or qifsql check -o"
    )
