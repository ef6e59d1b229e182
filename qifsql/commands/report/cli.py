"""``qifsql report``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.report.spec import ReportOptions
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Talk

Results = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESULTS...", help="Stored results (-o FILE.parquet or .json), or folders of them."
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


def report(results: Results, out: Out, options: ReportOptions, talk: Talk) -> Answer:
    """Write a report from stored results, for people who decide and for people who check."""
    from qifsql.commands.report.report import report as run

    document = run(results, out, **options)
    many = out.suffix.casefold() in (".csv", ".parquet")
    written = f"written: {out.with_stem(f'{out.stem}.*') if many else out}"
    return Answer(notes=[written, *([document.withheld] if document.withheld else [])])
