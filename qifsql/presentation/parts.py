"""Parts of a view for every output: headings, paragraphs, tables, charts, text that folds.

The terminal, HTML and Markdown draw the same parts, so that they always agree. All parts are text,
never markup.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import polars as pl

from qifsql.presentation.theme import Chart


class Bad(str):
    """A cell that reports a problem and is emphasised."""

    __slots__ = ()


class Blank(str):
    """A cell to be filled in by hand on paper."""

    __slots__ = ()


@dataclass(frozen=True)
class Heading:
    """A heading; ``level`` 1 is for a part of a section, 2 for a part of that part."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """A few sentences; ``strong`` ones are the most important for the reader."""

    text: str
    strong: bool = False


@dataclass
class Table:
    """Rows with the names of their columns; ``title`` describes them.

    The columns in ``right`` are numbers, aligned to the right.
    """

    heads: tuple[str, ...]
    right: frozenset[int] = frozenset()
    title: str = ""
    rows: list[tuple[str, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, heads: Iterable[str], right: Iterable[int] = (), title: str = "") -> "Table":
        """Return an empty table."""
        return cls(tuple(heads), frozenset(right), title)

    def add_row(self, *cells: str) -> None:
        """Add a row; missing cells at its end are empty."""
        left_out = len(self.heads) - len(cells)
        self.rows.append((*cells, *[""] * left_out))


@dataclass(frozen=True)
class Figure:
    """A chart; ``name`` is that of its file."""

    name: str
    chart: Chart = field(repr=False)


@dataclass(frozen=True)
class Command:
    """A command line to copy: it stays on one line, as it is."""

    text: str


@dataclass(frozen=True)
class Fold:
    """Unformatted text, such as SQL, that is shown on request."""

    title: str
    text: str


@dataclass(frozen=True)
class Light:
    """The verdict on the user's policy, with caveats on what the policy does not cover."""

    text: str
    met: bool
    caveats: Sequence[str] = ()


@dataclass(frozen=True)
class Card:
    """One risk at a glance, with all its shares on one scale.

    ``before`` and ``after`` are success in words and in [0, 1].
    """

    what: str
    amount: str
    meaning: str
    before: tuple[str, float]
    after: tuple[str, float]
    difference: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Cards:
    """Risks at a glance, side by side."""

    cards: Sequence[Card]


@dataclass(frozen=True)
class Box:
    """A short list under a title, set apart from the text around it."""

    title: str
    lines: Sequence[str]


Part: TypeAlias = Heading | Paragraph | Table | Command | Figure | Fold | Light | Cards | Box

Tables: TypeAlias = Mapping[str, pl.DataFrame]
Spec: TypeAlias = Mapping[str, Any]
View: TypeAlias = Callable[[pl.DataFrame, Tables, Spec], list[Part]]
"""A function that draws a result from its table, its details and its spec."""


@dataclass(frozen=True)
class Section:
    """A part of a report with a title and a short ``name`` to link to.

    An ``annex`` is for people who check; the sections before it are for people who decide.
    """

    name: str
    title: str
    parts: Sequence[Part]
    annex: bool = False


@dataclass(frozen=True)
class Document:
    """A report; if it is ``confidential``, it shows values of people.

    ``imprint`` names the version and date of its results. ``withheld`` states what it leaves out,
    and why.
    """

    title: str
    sections: tuple[Section, ...]
    imprint: str = ""
    confidential: bool = False
    withheld: str = ""

    @property
    def figures(self) -> list[Figure]:
        """Return all charts in order, with distinct names: section, chart and maybe a number."""
        figures: dict[str, Figure] = {}
        for section in self.sections:
            for part in section.parts:
                if isinstance(part, Figure):
                    name = f"{section.name}-{part.name}"
                    name = name if name not in figures else f"{name}-{len(figures)}"
                    figures[name] = Figure(name, part.chart)
        return list(figures.values())
