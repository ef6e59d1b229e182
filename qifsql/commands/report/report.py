"""Reports from stored results, for people who decide and for those who check."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from qifsql.commands.report import chapters, statement
from qifsql.commands.report.method import method
from qifsql.commands.report.sharing import Reader, share
from qifsql.commands.report.spec import ReportOptions
from qifsql.commands.report.summary import headlines, risks, summary
from qifsql.data.files import path_text, several_paths
from qifsql.data.option import complete
from qifsql.errors import InputError
from qifsql.presentation import escaping, figures, html, markdown, paper
from qifsql.presentation.language import said, speaking
from qifsql.presentation.parts import Document, Paragraph, Part, Section
from qifsql.results.exports import as_files, detail_file, save_charts
from qifsql.results.result import Result
from qifsql.results.storage import Content, Origin, check_ending, check_place, write
from qifsql.results.stored import Stored, read
from qifsql.study import statements

DOCUMENTS = (".html", ".pdf", ".md")
ENDINGS = (*DOCUMENTS, ".csv", ".parquet")


def report(
    results: str | Path | Result | Iterable[str | Path | Result],
    out: str | Path,
    **options: Unpack[ReportOptions],
) -> Document:
    """Write a report of results; the data are not needed.

    Args:
        results: Results, files in which results were stored (Parquet or JSON), or folders of
            these.
        out: File to write: .html (one page without a network), .pdf (printed by a Chromium or
            Chrome of this machine), .md, or .csv or .parquet (one file per table).

    Returns:
        The Document that was written: its sections, parts and figures.

    Raises:
        DatasetError: There are no results.
        InputError: An option has a wrong value, such as a column without groups.
        OutputError: The report cannot be written, or no browser is here to print it.

    Example:
        >>> result = qifsql.attack("crs", "data-samples/school_census_2018.parquet",
        ...     qids="TP_SEXO,NU_ANO")
        >>> qifsql.report(result, "report.md").title
        'Privacy risk of school_census_2018.parquet'

    Source: docs/guides/report_for_the_board.md.

    """
    options = complete(options, ReportOptions)
    charts, chart_format = options["charts"], options["chart_format"]
    minimum, private = options["minimum"], options["private"]
    path = Path(out)
    check_ending(path, DOCUMENTS if options["statement"] else ENDINGS)
    if charts is not None:
        figures.prepare_folder(Path(charts), chart_format)
    if minimum < 1:
        raise InputError("the least size of a group is at least 1")
    kind = path.suffix.casefold()
    program = paper.browser() if kind == ".pdf" else ""
    stored = read([p if isinstance(p, Result) else path_text(p) for p in several_paths(results)])
    files = tuple(file for result in stored for file in result.files)
    origin = Origin.now(kind="report").about({"results": [s.name for s in stored]}, files)
    origin = replace(origin, folders=private)
    path = check_place(path, origin.paths)
    with speaking(options["lang"], options["people"]):
        columns = options["name_groups"]
        names = frozenset([columns] if isinstance(columns, str) else columns)
        reader = Reader(minimum, private, options["labels"], names)
        shared, withheld = share(stored, reader)
        check = None
        if options["statement"]:
            shared, check = statement.of_recipient(shared, options["recipient"])
        document = _compose(shared, reader, withheld, options, check=check, file=path.name)
        origin = replace(origin, notes=(document.withheld,) if document.withheld else ())
        if kind in DOCUMENTS:
            content = _content(document, kind, program)
            if check is not None:
                about = {"statement": statements.covered(check, content, kind)}
                origin = replace(origin, spec={**origin.spec, **about})
            write({path: content}, origin)
        else:
            safe = [s for s in shared if private or not s.shows_people]
            write(_tables(safe, path), origin)
        if charts is not None:
            drawn = {figure.name: figure.chart for figure in document.figures}
            save_charts(drawn, Path(charts), chart_format, origin)
    return document


def _content(document: Document, ending: str, program: str) -> str | bytes:
    """Return a document as HTML, as Markdown, or as the PDF that a browser prints (``program``)."""
    if ending == ".html":
        return html.page(document)
    if ending == ".md":
        return markdown.document(document)
    return paper.pdf(html.page(document, still=True), program)


def first_page(results: Iterable[Result], *, private: bool = False) -> list[Part]:
    """Return the first page of a report of results, as its readers may see it."""
    shared, withheld = share(read(results), Reader(private=private))
    return summary(shared, (), withheld)


def chapters_of(results: Iterable[Stored], *, private: bool = False) -> list[Section]:
    """Return the chapters of a report of results with their charts, as its readers may see them.

    The chapters on what was released and on how it was measured are left out.
    """
    reader = Reader(private=private)
    shared, _ = share(list(results), reader)
    listed = [*chapters.result_chapters(shared, reader), *chapters.added_chapters(shared)]
    return [section for section in listed if section.parts]


def shared_results(results: Iterable[Stored], *, private: bool = False) -> list[Stored]:
    """Return results as the readers of a report may see them."""
    return share(list(results), Reader(private=private))[0]


def _compose(
    results: list[Stored],
    reader: Reader,
    withheld: str,
    options: ReportOptions,
    *,
    check: Stored | None,
    file: str,
) -> Document:
    """Return the document of results as a reader may see them: two pages and numbered annexes.

    ``withheld`` is the line on what is left out, ``file`` the name of the file. ``check`` is that
    of a statement; None: it is a report, whose usual title names the datasets.
    """
    if check is None:
        names = dict.fromkeys(str(s.spec["dataset"]) for s in results if s.spec.get("dataset"))
        usual = said("Privacy risk of {dataset}", dataset=" + ".join(names) or said("a release"))
        pages = _two_pages(results, reader, withheld, options)
    else:
        usual = said("Statement on the release of {dataset}", dataset=check.spec["dataset"])
        pages = statement.pages(results, check, options["purpose"], withheld, file)
    annexes = [
        *([] if check is None else [statement.standards_annex()]),
        chapters.datasets_annex(results),
        *chapters.result_chapters(results, reader),
        *chapters.added_chapters(results),
        method(results),
    ]
    numbered = [
        replace(s, title=said("Annex {n}: {title}", n=n, title=s.title), annex=True)
        for n, s in enumerate((section for section in annexes if section.parts), 1)
    ]
    title = usual if options["title"] is None else options["title"]
    sections = (*(page for page in pages if page.parts), *numbered)
    when = max((str(s.manifest.get("started", "")) for s in results), default="")
    imprint = html.imprint(when)
    confidential = reader.private
    return Document(title, sections, imprint, confidential=confidential, withheld=withheld)


def _two_pages(
    results: list[Stored], reader: Reader, withheld: str, options: ReportOptions
) -> list[Section]:
    """Return the pages of a report for those who decide: the summary, and who carries the risk.

    Sentences on results without a card are on the first page if there are no cards.
    """
    texts = headlines([s for s in results if reader.private or not s.shows_people])
    has_cards = bool(risks(results))
    recipient, purpose = options["recipient"], options["purpose"]
    lines = [said("Recipient: {name}.", name=escaping.cell(recipient))] if recipient else []
    lines += [said("Purpose: {purpose}.", purpose=escaping.cell(purpose))] if purpose else []
    first: list[Part] = [Paragraph(" ".join(lines))] if lines else []
    first += summary(results, () if has_cards else texts, withheld)
    return [
        Section("summary", said("Summary"), first),
        chapters.second_page(results, texts if has_cards else ()),
    ]


def _tables(stored: list[Stored], path: Path) -> dict[Path, Content]:
    """Return the tables of a report by file: ``report.risk.csv``, ``report.risk.groups.csv``."""
    tables: dict[Path, Content] = {}
    for result in stored:
        tables |= as_files(detail_file(path, result.name), result.frame, result.details)
    return tables
