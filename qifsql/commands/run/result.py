"""The result of a study: all attacks in one table, and a line about each entry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from qifsql.commands.check import result as verdicts
from qifsql.commands.check import view
from qifsql.commands.check.result import Verdict
from qifsql.commands.suda import suda
from qifsql.commands.sweep import result as sweep_result
from qifsql.commands.synthetic import synthetic
from qifsql.commands.tables import tables
from qifsql.results.assessment import DETAILS, SCHEMA
from qifsql.results.result import Result
from qifsql.results.storage import Origin
from qifsql.study.entry import Entry

State = Literal["done", "unchanged", "incomplete", "to do"]

NAMED: dict[str, pl.DataType] = {"name": pl.String()}
ENTRIES: dict[str, pl.DataType] = {
    **dict.fromkeys(("name", "kind"), pl.String()),
    "datasets": pl.List(pl.String()),
    "state": pl.String(),
    "met": pl.Boolean(),
    "seconds": pl.Float64(),
    "digest": pl.String(),
}
"""One row per entry: ``state`` is ``done`` (in this run), ``unchanged`` (kept by an earlier run),
``incomplete`` (its time was over) or ``to do``; ``met`` is for checks, and for tables and synthetic
releases with bounds; ``seconds`` is the time that the result took to compute; ``digest`` is that of
everything that determines the result."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one entry; the result is None if it is still to be computed."""

    entry: Entry
    digest: str
    state: State
    result: Result | None = None

    @property
    def row(self) -> dict[str, object]:
        """Return the row of ``ENTRIES`` of this entry."""
        return {
            "name": self.entry.name,
            "kind": self.entry.kind,
            "datasets": self.entry.titles,
            "state": self.state,
            "met": self.result.met if self.result is not None else None,
            "seconds": self.result.origin.seconds if self.result is not None else None,
            "digest": self.digest,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class StudyResult(Result):
    """The results of a study.

    ``frame`` has the rows of all attacks, with the ``name`` of their entry before the columns of an
    attack. ``results`` are the results of all entries by name. ``details``: ``households``, their
    risks in attacks; ``sweeps``, the best subsets of each size; ``borders`` of searches;
    ``tables``, the rows of published tables; ``synthetic``, the measures of synthetic releases;
    ``suda``, measures of special uniques; ``checks``, the levels of policies; ``entries``
    (``ENTRIES``). ``met``: the levels of all checks and all other bounds hold. ``files`` are those
    that were written.
    """

    results: Mapping[str, Result]
    files: tuple[Path, ...] = ()
    report: Path | None = None

    @property
    def parts(self) -> Mapping[str, Result]:
        """Return the results of the entries by name."""
        return self.results

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], origin: Origin) -> "StudyResult":
        """Return the result of a study from all outcomes."""
        results = {o.entry.name: o.result for o in outcomes if o.result is not None}

        def collect(kind: str, schema: Mapping[str, pl.DataType], detail: str = "") -> pl.DataFrame:
            """Return all tables of a kind (frames, or a detail) as one; ``name`` is the entry."""
            frames = [pl.DataFrame(schema=NAMED | dict(schema))]
            for name, part in results.items():
                table = part.details.get(detail) if detail else part.frame
                if part.kind == kind and table is not None:
                    frames.append(table.select(pl.lit(name).alias("name"), pl.all()))
            return pl.concat(frames, how="diagonal")

        parts = {
            "households": collect("attack", DETAILS["households"], "households"),
            "sweeps": collect("sweep", sweep_result.BEST, "best"),
            "borders": collect("sweep", sweep_result.BORDERS, "borders"),
            "tables": collect("tables", tables.SCHEMA),
            "synthetic": collect("synthetic", synthetic.SCHEMA),
            "suda": collect("suda", suda.SUDA),
            "checks": collect("check", verdicts.SCHEMA),
        }
        details = {name: table for name, table in parts.items() if table.height}
        details["entries"] = pl.DataFrame([o.row for o in outcomes], schema=ENTRIES)
        notes = []
        for name, result in results.items():
            texts = result.notes
            if isinstance(result, Verdict):
                texts = (*texts, result.summary, *view.caveats(result))
            notes += [f"{name}: {text}" for text in texts]
        return cls(
            frame=collect("attack", SCHEMA),
            origin=origin,
            details=details,
            notes=tuple(notes),
            met=all(results.values()),
            results=results,
        )
