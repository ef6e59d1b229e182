"""The result of a command: tables, notes and their origin, and how they are shown and written."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from qifsql import __version__
from qifsql.errors import InputError
from qifsql.presentation.language import counting
from qifsql.presentation.parts import Paragraph, Part, View
from qifsql.presentation.theme import Chart
from qifsql.results.kinds import charts_of, view_of
from qifsql.results.storage import Content, Origin, check_ending, check_place, write

TEXT_WIDTH = 120  # width of a result as text, in characters


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
        """Return the text that the terminal shows, and the notes, without colours."""
        from qifsql.presentation import terminal

        notes = [Paragraph(f"note: {note}") for note in self.notes]
        return terminal.plain([*display_of(self).parts, *notes], TEXT_WIDTH)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the tables of the terminal and the first chart."""
        from qifsql.presentation import figures, html

        notes = [Paragraph(note) for note in self.notes]
        drawn = charts(self) if figures.can_draw() else {}
        return html.fragment([*display_of(self).parts, *notes], next(iter(drawn.values()), None))

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
        drawn = charts(self)
        if not drawn:
            raise InputError(f"a result of {self.kind} has no charts")
        if name is not None and name not in drawn:
            raise InputError(f"there is no chart {name}; the charts are {', '.join(drawn)}")
        return drawn[name or next(iter(drawn))]

    def save(self, path: str | Path) -> Path:
        """Write the result to a file with its manifest; return the path of the file.

        Args:
            path: Ends in .parquet, .csv, .json, .md, .html or .xlsx. Parquet and CSV have a file
                for each table of details next to them.

        Raises:
            OutputError: The file cannot be written, or its ending is unknown.

        """
        path = Path(path)
        check_ending(path)
        path = check_place(path, self.origin.paths)
        save(display_of(self), path)
        return path

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


@dataclass(frozen=True, kw_only=True)
class Display:
    """A result in all its formats.

    JSON has each table of ``details`` under its name. CSV and Markdown on stdout have them after
    empty lines. For Parquet and CSV files, each is a separate file (``out.histogram.parquet``).
    Nobody asked for those named ``aside``: CSV and Markdown leave them out. Only CSV on stdout
    leaves out those named ``not_in_csv``. ``more`` are further entries of JSON. ``view`` draws the
    result for people (default: the view of its kind). ``prose``: it is text, on a pipe too.
    """

    result: Result
    title: str
    aside: Collection[str] = ()
    not_in_csv: Collection[str] = ()
    more: Mapping[str, object] = field(default_factory=dict)
    view: View | None = None
    prose: bool = False

    @property
    def origin(self) -> Origin:
        """Return the origin of the result, with its remarks."""
        return replace(self.result.origin, notes=self.result.notes)

    @property
    def parts(self) -> list[Part]:
        """Return the parts of the result that people are shown."""
        result = self.result
        view: View = self.view or getattr(view_of(result.kind), "parts")  # noqa: B009 - of any room
        with counting(result.spec):
            return view(result.frame, result.details, result.spec)


def display_of(result: Result) -> Display:
    """Return a result as its command shows it."""
    name = result.spec.get("dataset")
    title = f"qifsql: {result.kind} of {name}" if name else f"qifsql: {result.kind}"
    display: Callable[..., Display] = getattr(view_of(result.kind), "display", Display)
    return display(result=result, title=title)


def charts(result: Result) -> dict[str, Chart]:
    """Return the charts of a result by name; an empty dictionary if its kind has no charts."""
    room = charts_of(result.kind)
    if room is None:
        return {}
    drawn: dict[str, Chart] = room.charts(result.frame, result.details, result.spec)
    return drawn


def save(display: Display, out: Path) -> None:
    """Write a result to files in the format of their ending, all or none."""
    write(contents(display, out), display.origin)


def contents(display: Display, out: Path) -> dict[Path, Content]:
    """Return what to write to each file of a result, in the format of ``out``'s ending."""
    from qifsql.results import exports

    ending, origin = out.suffix.casefold(), display.origin
    if ending == ".html":
        from qifsql.presentation import html

        page = html.result_page(
            display.title, display.parts, notes=origin.notes, sql=origin.sql, started=origin.started
        )
        return {out: page}
    if ending in (".json", ".md"):
        return {out: text(display, "json" if ending == ".json" else "markdown")}
    frame, details = display.result.frame, display.result.details
    if ending == ".xlsx":
        return {out: exports.as_workbook({display.result.kind: frame, **details}, origin.started)}
    return exports.as_files(out, frame, details)


def text(display: Display, kind: str) -> str:
    """Return a result as ``json`` with all details, or as ``csv`` or ``markdown`` without some."""
    from qifsql.results import exports

    frame, details = display.result.frame, display.result.details
    if kind == "json":
        result = display.result
        head = {"qifsql": __version__, "spec": dict(result.spec), "notes": list(result.notes)}
        document = {**head, **display.more}
        if display.origin.columns and "unit" not in frame.columns:  # what is counted comes first
            unit = "people" if result.spec.get("person") else "records"
            frame = frame.select(pl.lit(unit).alias("unit"), pl.all())
        return exports.as_json(document, {"results": frame, **details})
    left_out = {*display.aside, *(display.not_in_csv if kind == "csv" else ())}
    tables = [table for name, table in details.items() if name not in left_out]
    return exports.as_text([frame, *tables], kind)
