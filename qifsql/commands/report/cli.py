"""``qifsql report``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.data.option import DATA, DETAILS, RUN
from qifsql.errors import InputError
from qifsql.options.grouping import Formerly
from qifsql.options.groups import Talk
from qifsql.options.runner import Answer
from qifsql.options.texts import assigned

Results = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESULTS...",
        help="Stored results (-o FILE.parquet or .json), or folders of them.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        help="Report: .html, .pdf (needs Chromium or Chrome), .md, or .csv or .parquet (one file "
        "per table).",
    ),
]


EXAMPLES = {
    "Write a report for people who decide.": (
        "qifsql attack crs,cas data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO "
        "-s TP_COR_RACA -o risk.parquet && qifsql report risk.parquet -o report.html"
    ),
    "Write it in Portuguese, about pupils.": (
        "qifsql report risk.parquet -o relatorio.html --lang pt-BR --people-word alunos"
    ),
}


def report(
    results: Results,
    out: Out,
    *,
    lang: Annotated[
        str, typer.Option("--lang", help="Language: en or pt-BR.", rich_help_panel=DETAILS)
    ] = "en",
    title: Annotated[
        str | None, typer.Option("--title", help="Title of the report.", rich_help_panel=DETAILS)
    ] = None,
    people: Annotated[
        str,
        typer.Option(
            "--people-word", help="Word for the people, such as pupils.", rich_help_panel=DETAILS
        ),
        Formerly("--people", "--people-word"),
    ] = "",
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            help='Rename a column: COLUMN="day of birth". Repeatable.',
            rich_help_panel=DETAILS,
        ),
    ] = None,
    minimum: Annotated[
        int,
        typer.Option(
            "--minimum",
            min=1,
            help="Smallest group that is shown by itself.",
            rich_help_panel=DATA,
        ),
    ] = 10,
    private: Annotated[
        bool,
        typer.Option(
            "--private",
            help="Also show blocks, records and small groups; marks the report as confidential.",
            rich_help_panel=DATA,
        ),
    ] = False,
    name_groups: Annotated[
        list[str] | None,
        typer.Option(
            "--name-groups",
            metavar="COLUMN",
            help="Name the groups by this column (--by) with its values, not with numbers. "
            "Repeatable.",
            rich_help_panel=DATA,
        ),
    ] = None,
    charts: Annotated[
        Path | None,
        typer.Option(
            "--charts",
            help="Draw charts to this folder (qifsql\\[charts]).",
            rich_help_panel=RUN,
        ),
    ] = None,
    chart_format: Annotated[
        str, typer.Option("--chart-format", help="svg, html, png or json.", rich_help_panel=RUN)
    ] = "svg",
    talk: Talk,
) -> Answer:
    """Write a report from stored results, for people who decide and for people who check."""
    from qifsql.commands.report.report import report as run

    document = run(
        results,
        out,
        lang=lang,
        title=title,
        private=private,
        people=people,
        labels=dict(map(_label, label or ())),
        minimum=minimum,
        name_groups=name_groups or (),
        charts=charts,
        chart_format=chart_format,
    )
    many = out.suffix.casefold() in (".csv", ".parquet")
    written = f"written: {out.with_stem(f'{out.stem}.*') if many else out}"
    return Answer(notes=[written, *([document.withheld] if document.withheld else [])])


def _label(text: str) -> tuple[str, str]:
    column, name = assigned(text) or ("", "")
    if not (column and name):
        raise InputError('a --label is written COLUMN="another name"')
    return column, name
