"""What a command found: one table, tables of details, remarks, and where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from qifsql.results.storage import Origin


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a command; a command that has more to say adds to it in its ``result.py``.

    Attributes:
        frame: The table of results. Its columns are said by the command.
        origin: What was asked for, the SQL that ran, the files that were read.
        details: Further tables, by their names in JSON and in names of files.
        notes: Remarks for the reader, which stay with what is stored.
        met: Whether what was required holds; None where nothing was required.
        written: How many rows were written to a file of records.

    """

    frame: pl.DataFrame
    origin: Origin
    details: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    met: bool | None = None
    written: int = 0

    def __bool__(self) -> bool:
        """Return False where something was required and does not hold."""
        return self.met is not False

    @property
    def kind(self) -> str:
        """The command that the result is of."""
        return self.origin.kind

    @property
    def spec(self) -> Mapping[str, Any]:
        """What was asked for, as plain data."""
        return self.origin.spec

    def rows(self) -> list[dict[str, Any]]:
        """Return the table of results as plain dictionaries."""
        return self.frame.to_dicts()
