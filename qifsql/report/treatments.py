"""A treatment as people read it: what was dropped, and what that does to the risk."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.report import words
from qifsql.report.parts import Heading, Paragraph, Part, Table
from qifsql.treatment.treat import Treatment


def treatment(result: Treatment) -> list[Part]:
    """What was done."""
    details = {"comparison": result.comparison, "changes": result.changes}
    known = {name: table for name, table in details.items() if table is not None}
    return parts(result.frame, known, result.origin.seed)


def parts(frame: pl.DataFrame, details: Mapping[str, pl.DataFrame], seed: int | None) -> list[Part]:
    """The records of before and after, and with quasi-identifiers the risks of both."""
    row = frame.row(0, named=True)
    table = Table.of(list(row), right=range(len(row)))
    table.add_row(*(words.count(n) for n in row.values()))
    found: list[Part] = [table, Paragraph(_dropped(row, seed))]
    if "comparison" in details and "changes" in details:
        rows = details["comparison"].to_dicts()
        half = len(rows) // 2
        for before, after in zip(rows[:half], rows[half:], strict=True):
            found += _risks(before, after)
        found.append(Paragraph(_changed(details["changes"].row(0, named=True))))
    return found


def _dropped(row: Mapping[str, int], seed: int | None) -> str:
    """What was dropped and why, in a sentence or two."""
    told = f"{words.count(row['dropped'])} of {several(row['records'], 'record')} are dropped: "
    told += f"{several(row['people_with_several'], 'person')} had several (seed {seed})."
    if row["without_key"]:
        told += f" {several(row['without_key'], 'record')} without a key stay, each a person."
    return told


def _risks(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Part]:
    """One attack on the records before and after."""
    table = Table.of(["", "before", "after"], right=(1, 2))
    shown = {
        "records": ("records", words.count),
        "singled out": ("singled_out", words.count),
        "certain (deterministic)": ("posterior_deterministic", words.percent),
        "best guess (probabilistic)": ("posterior_probabilistic", words.percent),
        "the same without the release": ("prior_probabilistic", words.percent),
    }
    for name, (column, written) in shown.items():
        table.add_row(name, written(before[column]), written(after[column]))
    return [
        Heading(words.heading(before)),
        table,
    ]


def _changed(row: Mapping[str, int]) -> str:
    """Who is singled out when, in one sentence."""
    return (
        f"Of {several(row['singled_out_before'], 'record')} singled out before, "
        f"{words.count(row['still_singled_out'])} still are and {words.count(row['lost'])} were "
        f"dropped; {words.count(row['singled_out_only_after'])} are singled out only now."
    )
