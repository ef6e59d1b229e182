"""``qifsql start``."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.commands.start.spec import Roles
from qifsql.data.option import OPTIONS, RUN, names
from qifsql.data.reading import Reading
from qifsql.options import runtime
from qifsql.options.runner import Tell
from qifsql.options.shared_options import Limits, option
from qifsql.presentation.progress_bar import progress

FOLDER = "Folder for the study and its results (default: FILE-qifsql)."
EXAMPLES = {
    "From a file to a report, with the suggested roles.": (
        "qifsql start data-samples/school_census_2018.parquet --yes"
    ),
    "Take a column for what others know, and another for nothing.": (
        "qifsql start data-samples/school_census_2018.parquet --yes -o other "
        "--qid+ IN_TRANSPORTE_PUBLICO --not NU_DIA"
    ),
    "In a folder of your choice, with the report in Portuguese.": (
        "qifsql start data-samples/school_census_2018.parquet --yes -o censo --lang pt-BR"
    ),
}


def start(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Parquet, CSV, JSON, Excel, SPSS, ...; glob, folder, table@database.",
        ),
    ],
    reading: Reading,
    roles: Roles,
    limits: Limits,
    tell: Tell,
    yes: Annotated[
        bool, option("Take the suggested roles; ask nothing.", "--yes", panel=OPTIONS)
    ] = False,
    folder: Annotated[Path | None, option(FOLDER, "--folder", "-o", panel=RUN)] = None,
    lang: Annotated[
        str, option("Language of the report: en or pt-BR.", "--lang", panel=RUN)
    ] = "en",
) -> None:
    """Go from a file to a report: suggest roles, ask, write a study, run it.

    qifsql FILE does the same. The study stays: change it, and run it again with qifsql run. All
    roles are attacked; the sweep of subsets takes as many of them as need seconds, and the study
    says how to sweep the others.
    """
    from qifsql.commands.start import view
    from qifsql.commands.start.start import start as run
    from qifsql.presentation import terminal
    from qifsql.presentation.language import speaking

    bars = Bars(limits.progress)
    settings = limits.engine_settings(bars.show)
    with speaking(lang), closing(bars):
        result = run(
            file,
            folder=folder,
            lang=lang,
            questions=_make_questions(bars, yes=yes),
            told=tell,
            settings=settings,
            **reading,
            **roles,
        )
    for note in result.notes:
        tell(note)
    with speaking(lang):
        terminal.draw(view.parts(result.frame, result.details, result.spec))


class Bars:
    """Progress that ends before a question is asked, and begins again after it."""

    def __init__(self, visible: bool | None) -> None:
        self.visible = visible
        self.stack = ExitStack()
        self.progress: Any = None

    def show(self, what: str, share: float, detail: str = "", /) -> None:
        """Show the progress of a step."""
        if self.progress is None:
            self.progress = self.stack.enter_context(progress(self.visible, runtime.talk))
        self.progress(what, share, detail)

    def close(self) -> None:
        """Remove all bars."""
        self.stack.close()
        self.progress = None


def _make_questions(bars: Bars, *, yes: bool) -> Any:
    """Return the questions of the terminal, answered by ``yes``; None if there is nobody to ask."""
    from qifsql.commands.describe import view
    from qifsql.commands.start.start import Questions
    from qifsql.presentation import terminal
    from qifsql.presentation.language import said
    from qifsql.presentation.parts import Heading

    def roles(described: Any, qids: Sequence[str], secrets: Sequence[str]) -> Any:
        bars.close()
        terminal.draw([Heading(said("Suggested roles")), view.roles(described.frame)], sys.stderr)
        rows = described.rows()
        taken = [(said("Quasi-identifiers"), qids), (said("Secrets"), secrets)]
        for title, columns in taken:
            runtime.talk(f"{title}: {view.reasoned(rows, columns) or '-'}")
        if yes or typer.confirm(said("Take these roles?"), default=True, err=True):
            return qids, secrets
        return tuple(_ask_for_names(title, columns) for title, columns in taken)

    return Questions(roles) if yes or interactive() else None


def interactive() -> bool:
    """Return whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask_for_names(title: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names that a person types; ``-`` for none."""
    from qifsql.commands.describe.view import field

    usual = ",".join(map(field, columns)) or "-"
    text = str(typer.prompt(title, default=usual, err=True))
    return () if text.strip() == "-" else names([text])
