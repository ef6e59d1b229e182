"""Verdicts as people read them: which levels are met, and with which numbers."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from qifsql.checking import Verdict
from qifsql.report import cells


def verdict(result: Verdict) -> RenderableType:
    """All levels in the order of the policy, those that are not met in capitals, and the sum."""
    drifts = result.frame["baseline"].null_count() < result.frame.height
    heads = ["rule", "of", "measure", "value", *(["baseline"] if drifts else []), "wanted", "met"]
    table = cells.table(heads, right=(0, 3, *((4,) if drifts else ())))
    for row in result.rows():
        last = "" if row["baseline"] is None else cells.cell(row["baseline"])
        table.add_row(
            str(row["rule"]),
            Text(whom(row)),
            row["measure"],
            cells.cell(row["value"]),
            *([last] if drifts else []),
            row["wanted"],
            Text("yes") if row["met"] else Text("NO", style="bold red"),
        )
    summary = result.summary[0].upper() + result.summary[1:]
    return Group(table, Text(f"{summary}."))


def whom(row: Mapping[str, Any]) -> str:
    """What a level is about: ``CAS of disease, region = North``."""
    about = row["model"] if row["secret"] is None else f"{row['model']} of {row['secret']}"
    where = "" if row["by"] is None else f", {row['by']} = {cells.cell(row['group'])}"
    return cells.cell(f"{about}{where}")


def found(row: Mapping[str, Any]) -> str:
    """The value of a level and its bounds: ``worst_case is 0.5 (baseline 0.4), wanted <= 0.3``."""
    last = "" if row["baseline"] is None else f" (baseline {row['baseline']})"
    return f"{row['measure']} is {row['value']}{last}, wanted {row['wanted']}"
