"""Reports from stored results, for people who decide and for those who check."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from qifsql.errors import InputError
from qifsql.export import Origin, check_ending, check_place, write
from qifsql.inputs import path_text, several_paths
from qifsql.report import chapters, figures, markdown, pages
from qifsql.report.files import comma_separated
from qifsql.report.language import said, speaking
from qifsql.report.method import method
from qifsql.report.parts import Document, Paragraph, Part, Section
from qifsql.report.sharing import Reader, share
from qifsql.report.stored import Stored, read
from qifsql.report.summary import summary

ENDINGS = (".html", ".md", ".csv", ".parquet")


def report(
    results: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    lang: str = "en",
    title: str | None = None,
    people: str = "",
    labels: Mapping[str, str] | None = None,
    minimum: int = 10,
    private: bool = False,
    charts: str | Path | None = None,
    chart_format: str = "svg",
) -> Document:
    """Write a report of stored results; the data are not needed.

    Args:
        results: files that were stored with ``-o`` (Parquet or JSON), or folders of them.
        out: ends in .html (one page that loads nothing), .md, or .csv or .parquet (a file for each
            table).
        lang: ``en`` or ``pt-BR``.
        title: the title; by default it names the dataset.
        people: what the people are called, such as pupils.
        labels: other names of columns, such as ``{"NU_DIA": "day of birth"}``.
        minimum: the least size of a group that is shown.
        private: show blocks, records and small groups; marked as confidential.
        charts: a folder for the charts, each in a file of its own.
        chart_format: of these: html, svg, png or json.

    Raises:
        DatasetError: where there are no results.
        OutputError: where the report cannot be written.

    """
    path = Path(out)
    check_ending(path, ENDINGS)
    if charts is not None:
        figures.check(Path(charts), chart_format)
    if minimum < 1:
        raise InputError("the least size of a group is at least 1")
    places = [path_text(place) for place in several_paths(results)]
    stored = read(places)
    origin = replace(_origin(stored), folders=private)
    path = check_place(path, origin.paths)
    with speaking(lang, people):
        reader = Reader(minimum, private, labels)
        mine, withheld = share(stored, reader)
        document = made(mine, reader, title, withheld)
        origin = replace(origin, notes=(document.withheld,) if document.withheld else ())
        kind = path.suffix.casefold()
        if kind == ".html":
            write({path: pages.page(document)}, origin)
        elif kind == ".md":
            write({path: markdown.document(document)}, origin)
        else:
            safe = [s for s in mine if private or not s.shows_people]
            write(_tables(safe, path), origin)
        if charts is not None:
            figures.write(figures.of_report(document), Path(charts), chart_format, origin)
    return document


def made(
    mine: list[Stored], reader: Reader, title: str | None = None, withheld: str = ""
) -> Document:
    """The document of results as a reader may see them; ``withheld`` says what is left out."""
    names = list(dict.fromkeys(str(s.spec["dataset"]) for s in mine if s.spec.get("dataset")))
    if title is None:
        title = said("Privacy risk of {dataset}", dataset=" + ".join(names) or said("a release"))
    sections = [
        Section("summary", said("Summary"), [*summary(mine), *_remark(withheld)]),
        chapters.released(mine),
        *chapters.each(mine, reader),
        chapters.carriers(mine),
        chapters.remedies(mine),
        method(mine),
    ]
    when = max((str(s.manifest.get("started", "")) for s in mine), default="")
    return Document(
        title,
        tuple(s for s in sections if s is not None and s.parts),
        made=pages.made(when),
        confidential=reader.private,
        withheld=withheld,
    )


def _remark(text: str) -> list[Part]:
    return [Paragraph(text)] if text else []


def _origin(stored: list[Stored]) -> Origin:
    """Where a report comes from: the results that it shows."""
    files = [file for result in stored for file in result.files]
    spec = {"results": [s.name for s in stored]}
    return Origin.now(kind="report").about(spec, tuple(files))


def _tables(stored: list[Stored], path: Path) -> dict[Path, pl.DataFrame | str]:
    """The tables behind a report, a file each: ``report.risk.csv``, ``report.risk.groups.csv``."""
    found = {}
    for result in stored:
        frames = {result.name: result.frame}
        frames |= {f"{result.name}.{name}": table for name, table in result.details.items()}
        for name, frame in frames.items():
            found[path.with_name(f"{path.stem}.{name}{path.suffix}")] = frame
    if path.suffix.casefold() == ".parquet":
        return dict(found)
    return {place: comma_separated(frame) for place, frame in found.items()}
