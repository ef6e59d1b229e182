"""Parts on the terminal, drawn by Rich."""

import os
import sys
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Drawn
from rich.text import Text

from qifsql.errors import printable
from qifsql.presentation.parts import Bad, Command, Heading, Paragraph, Part, Table

USUAL_WIDTH = 160  # characters of a line where there is no terminal
WIDEST = 10_000  # characters of a line at most
PADDING = 3  # characters between two columns of a table
UNBROKEN_WORD = 20  # characters of a word in a table that is not broken
UNBROKEN_NAME = 60  # characters of a name in front of a row that is not broken


def draw(parts: Iterable[Part], stream: TextIO | None = None) -> None:
    """Print to stdout or a stream, as wide as the terminal or COLUMNS, if there is one."""
    stream = sys.stdout if stream is None else stream
    width = None if stream.isatty() or os.environ.get("COLUMNS") else USUAL_WIDTH
    console = Console(file=stream, width=width, highlight=False, markup=False)
    with console.capture() as drawing:
        console.print(rendered(parts), crop=False)
    lines = drawing.get().removesuffix("\n").split("\n")
    stream.write("".join(f"{line.rstrip()}\n" for line in lines))


def plain(parts: Iterable[Part], width: int) -> str:
    """Return the text that a terminal of this width shows, without colours."""
    stream = StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, color_system=None)
    console.print(rendered(parts), crop=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def rendered(parts: Iterable[Part]) -> RenderableType:
    """Return headings, paragraphs, tables and commands for Rich; leave out other kinds of parts."""
    drawn: list[RenderableType] = []
    for part in parts:
        if isinstance(part, Heading):
            drawn.append(Text(printable(part.text), style="bold"))
        elif isinstance(part, Paragraph):
            drawn.append(Padding(_text(part.text), (0, 0, 1, 2), expand=False))
        elif isinstance(part, Table):
            drawn.append(_table(part))
        elif isinstance(part, Command):  # on one line, however narrow the terminal
            line = printable(part.text)
            drawn.append(Text(f"  {line}\n", no_wrap=True, overflow="ignore"))
    return Group(*drawn)


def _table(part: Table) -> RenderableType:
    """Return a table for Rich, whose numbers and names are never broken into lines."""
    if not any(part.heads):  # names, and texts beside them
        pairs = Drawn.grid(padding=(0, 2, 1, 0))
        pairs.add_column(no_wrap=True, style="bold")
        pairs.add_column(overflow="fold", max_width=100)
        for row in part.rows:
            pairs.add_row(*map(_text, row))
        return Padding(pairs, (0, 0, 0, 1), expand=False)
    table = Drawn(box=SIMPLE_HEAD, pad_edge=False)
    widths = [_column_widths(part, i) for i in range(len(part.heads))]
    for i, (head, (least, _)) in enumerate(zip(part.heads, widths, strict=True)):
        justify: JustifyMethod = "right" if i in part.right else "left"
        table.add_column(_text(head), overflow="fold", min_width=least, justify=justify)
    for row in part.rows:
        table.add_row(*(_text(c, "bold red" if isinstance(c, Bad) else "") for c in row))
    return Wide(table, widths)


def _column_widths(part: Table, i: int) -> tuple[int, int]:
    """Return the least and the greatest width of column ``i`` (from 0) of a table, in characters.

    Numbers and the first column are on one line, except very long names. Other texts may be broken
    between words.
    """
    head, is_number = part.heads[i], i in part.right
    cells = [printable(str(row[i]), "\n") for row in part.rows if i < len(row)]
    if is_number or i == 0:  # heads may be broken
        width = _longest([*cells, *_words([head])])
        width = width if is_number else min(UNBROKEN_NAME, width)
        return width, width
    least = min(UNBROKEN_WORD, _longest(_words([*cells, head])))
    cells_fit = _longest(cells) <= least
    return least, least if cells_fit else max(least, _longest([*cells, head]))


class Wide:
    """A table that is wider than the terminal if its numbers and names need it: none is cut.

    ``widths`` are the least and the greatest width of each column.
    """

    def __init__(self, table: Drawn, widths: Sequence[tuple[int, int]]) -> None:
        self.table = table
        self.widths = widths

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table in the width of the terminal, or in the least that it needs.

        Rich calls this method. It sets widths of columns only if the table is wider than that.
        """
        padded = Padding(self.table, (0, 0, 0, 1), expand=False)
        width = options.max_width
        if console.measure(padded, options=options.update(max_width=WIDEST)).maximum > width:
            between = PADDING * len(self.widths) + 1  # characters that are in no column
            shared = _shared(self.widths, width - between)
            for column, share in zip(self.table.columns, shared, strict=True):
                column.width = share
            width = max(width, sum(shared) + between)
        yield from console.render(padded, options.update(max_width=width))


def _shared(widths: Sequence[tuple[int, int]], width: int) -> list[int]:
    """Return widths of columns that share ``width``: the least ones, then the narrowest widened.

    ``widths`` has the least and the greatest width of each column. Their sum is over ``width`` if
    the least widths need it, and under it if all columns are at their greatest.
    """
    shared = [least for least, _ in widths]
    while sum(shared) < width:
        growing = [i for i, (_, widest) in enumerate(widths) if shared[i] < widest]
        if not growing:
            break
        narrowest = min(growing, key=lambda i: shared[i])
        shared[narrowest] += 1
    return shared


def _longest(texts: Iterable[str]) -> int:
    """Return the width of the widest text, in characters of the terminal."""
    return max(map(cell_len, texts), default=0)


def _words(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in text.split()]


def _text(text: str, style: str = "") -> Text:
    """Return text for Rich, without characters that control the terminal."""
    return Text(printable(text, "\n"), style=style)
