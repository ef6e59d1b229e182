"""Parts on the terminal, drawn by Rich."""

import os
import sys
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Drawn
from rich.text import Text

from qifsql.errors import printable
from qifsql.presentation.parts import Bad, Heading, Paragraph, Part, Table

WIDTH = 160
"""Characters of a line where there is no terminal."""

LONGEST = 20
"""Characters of a word in a table that is not broken."""


def draw(parts: Iterable[Part]) -> None:
    """Print to stdout, as wide as the terminal or COLUMNS says; without either, wide enough."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDTH
    console = Console(width=width, highlight=False, markup=False)
    with console.capture() as drawing:
        console.print(rendered(parts))
    lines = drawing.get().removesuffix("\n").split("\n")
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))


def rendered(parts: Iterable[Part]) -> RenderableType:
    """Return headings, paragraphs and tables for Rich; all other parts are left out."""
    drawn: list[RenderableType] = []
    for part in parts:
        if isinstance(part, Heading):
            drawn.append(Text(printable(part.text), style="bold"))
        elif isinstance(part, Paragraph):
            drawn.append(Padding(_text(part.text), (0, 0, 1, 2), expand=False))
        elif isinstance(part, Table):
            drawn.append(Padding(_table(part), (0, 0, 0, 1), expand=False))
    return Group(*drawn)


def _table(part: Table) -> Drawn:
    if not any(part.heads):  # names and texts side by side
        table = Drawn.grid(padding=(0, 2, 1, 0))
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold", max_width=100)
        for row in part.rows:
            table.add_row(*map(_text, row))
        return table
    table = Drawn(box=SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(part.heads):
        words = (word for row in part.rows for word in str(row[i]).split() if i < len(row))
        table.add_column(
            _text(name),
            justify="right" if i in part.right else "left",
            no_wrap=i == 0,  # names that may be typed again
            overflow="fold",
            min_width=min(LONGEST, max(map(len, words), default=0)),
        )
    for row in part.rows:
        table.add_row(*(_text(c, "bold red" if isinstance(c, Bad) else "") for c in row))
    return table


def _text(text: str, style: str = "") -> Text:
    """Return text for Rich, without characters that control the terminal."""
    return Text(printable(text, "\n"), style=style)
