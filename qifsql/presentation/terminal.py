"""Parts on the terminal, drawn by Rich."""

import os
import sys
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Drawn
from rich.text import Text

from qifsql.errors import printable
from qifsql.presentation.parts import Bad, Command, Heading, Paragraph, Part, Table

WIDTH = 160
"""Characters of a line where there is no terminal."""


def draw(parts: Iterable[Part]) -> None:
    """Print to stdout, as wide as the terminal or COLUMNS says; without either, wide enough."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDTH
    console = Console(width=width, highlight=False, markup=False)
    with console.capture() as drawing:
        write(console, parts)
    lines = drawing.get().removesuffix("\n").split("\n")
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))


def write(console: Console, parts: Iterable[Part]) -> None:
    """Print headings, paragraphs, tables and commands; all other parts are left out.

    A part that must stay on one line makes the console wider, for this part alone.
    """
    width = console.width
    for part in parts:
        if (drawn := _drawn(part)) is not None:
            console.width = width
            console.width = max(width, _least(console, part, drawn))
            console.print(drawn)
    console.width = width


def _drawn(part: Part) -> RenderableType | None:
    """Return a part as rich draws it; None if a terminal shows no such part."""
    if isinstance(part, Heading):
        return Text(printable(part.text), style="bold")
    if isinstance(part, Paragraph):
        return Padding(_text(part.text), (0, 0, 1, 2), expand=False)
    if isinstance(part, Table):
        return Padding(_table(part), (0, 0, 0, 1), expand=False)
    if isinstance(part, Command):
        return Padding(_text(part.text), (0, 0, 1, 2), expand=False)
    return None


def _least(console: Console, part: Part, drawn: RenderableType) -> int:
    """Return the width that a part needs; 0 where all of it may be wrapped."""
    if isinstance(part, Command):
        return Measurement.get(console, console.options.update(max_width=10**6), drawn).maximum
    if isinstance(part, Table) and part.whole:
        return Measurement.get(console, console.options.update(max_width=10**6), drawn).minimum
    return 0


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
        whole = i in part.whole
        table.add_column(_text(name), justify="right" if i in part.right else "left", no_wrap=whole)
    for row in part.rows:
        table.add_row(*(_text(c, "bold red" if isinstance(c, Bad) else "") for c in row))
    return table


def _text(text: str, style: str = "") -> Text:
    """Return text for Rich, without characters that control the terminal."""
    return Text(printable(text, "\n"), style=style)
