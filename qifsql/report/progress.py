"""A progressive attack on the terminal: one line for each dataset more (PoPETs Table 8)."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from qifsql.report import cells, words


def progress(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Every question with the focal dataset alone, then with one dataset more each time."""
    questions = sorted(rows, key=_question)
    parts: list[RenderableType] = []
    for _, group in groupby(questions, key=_question):
        own = sorted(group, key=lambda row: row["datasets"])
        heads = ["datasets", "blocks", "certain", "degradation", "best guess", "degradation"]
        table = cells.table(heads, right=(0, 1, 2, 3, 4, 5))
        for row in own:
            ratio = row["degradation_probabilistic"]
            table.add_row(
                str(row["datasets"]),
                words.count(row["blocks"]),
                words.percent(row["posterior_deterministic"]),
                f"+ {words.percent(row['degradation_deterministic'])}",
                words.success(row, row["posterior_probabilistic"]),
                "undefined" if ratio is None else words.factor(ratio),
            )
        parts += [
            Text(words.heading(own[-1]), style="bold"),
            Padding(table, (0, 0, 0, 1), expand=False),
            Padding(Text(words.sentence(own[-1])), (0, 0, 1, 2), expand=False),
        ]
    return Group(*parts)


def _question(row: Mapping[str, Any]) -> tuple[bool, str, str]:
    return row["secret"] is not None, row["secret"] or "", row.get("gain") or ""
