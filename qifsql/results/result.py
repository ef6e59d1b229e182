"""The result of a command: one table, tables of details, notes, and their origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from qifsql.results.storage import Origin


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """The result of a command; some commands extend this class in their ``result.py``.

    Attributes:
        frame: The table of results. The command documents its columns.
        origin: The request, the SQL that ran, the files that were read.
        details: Further tables, by their names in JSON and in names of files.
        notes: Remarks for the reader, which are stored with the result.
        met: True if the required levels hold, else False; None if nothing was required.
        written: The number of rows that were written to a file of records.

    """

    frame: pl.DataFrame
    origin: Origin
    details: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    met: bool | None = None
    written: int = 0

    def __repr__(self) -> str:
        """Return kind, dataset and size in three lines, without values of cells."""
        tables = [f"{name} ({table.height} rows)" for name, table in self.details.items()]
        lines = [
            f"<qifsql {self.kind} of {self.spec.get('dataset') or 'data'}: "
            f"{self.frame.height} rows, {self.frame.width} columns>",
            f"  details: {', '.join(tables) or 'none'}; notes: {len(self.notes)}",
            "  print() shows the tables; .frame .details .notes .sql .chart() .save(FILE)",
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the text that the terminal shows."""
        shown: str = _display().text(self)
        return shown

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the tables of the terminal and the first chart."""
        shown: str = _display().html(self)
        return shown

    @property
    def sql(self) -> str:
        """Return the SQL that ran, one statement after another."""
        return self.origin.sql

    def chart(self, name: str | None = None) -> Any:
        """Return a chart of the result as an Altair chart, which a notebook draws.

        Args:
            name: Which chart; by default the first.

        Raises:
            InputError: The result has no charts, or none of that name.
            OutputError: The packages of ``qifsql[charts]`` are missing.

        """
        return _display().chart(self, name)

    def save(self, path: str | Path) -> Path:
        """Write the result to a file with its manifest; return the path of the file.

        Args:
            path: Ends in .parquet, .csv, .json, .md, .html or .xlsx. Parquet and CSV have a file
                for each table of details next to them.

        Raises:
            OutputError: The file cannot be written, or its ending is unknown.

        """
        written: Path = _display().save(self, path)
        return written

    def __bool__(self) -> bool:
        """Return False if a required level does not hold, else True."""
        return self.met is not False

    @property
    def kind(self) -> str:
        """Return the name of the command that computed the result."""
        return self.origin.kind

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return the request as plain data."""
        return self.origin.spec

    @property
    def parts(self) -> "Mapping[str, Result]":
        """Return the results of its parts by name: only this result, except for a study."""
        return {self.kind: self}

    def rows(self) -> list[dict[str, Any]]:
        """Return the table of results as plain dictionaries."""
        return self.frame.to_dicts()


def _display() -> ModuleType:
    """Return the module that shows results, imported by name: results must not depend on it."""
    return import_module("qifsql.presentation.display")
