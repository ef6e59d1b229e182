"""``qifsql open``."""

from functools import partial
from typing import Annotated

import typer

from qifsql.data.option import OPTIONS
from qifsql.engine.progress import silent
from qifsql.options import texts
from qifsql.options.runner import Tell
from qifsql.options.shared_options import Data, Limits

EXAMPLES = {
    "Look at a file, choose roles and try changes in the browser.": (
        "qifsql open data-samples/school_census_2018.parquet"
    ),
    "The same on a machine without a browser, on a port of your choice, for an hour at most "
    "without a request.": (
        "qifsql open data-samples/school_census_2018.parquet --port 8765 --no-browser --idle 1h"
    ),
}


_option = partial(typer.Option, rich_help_panel=OPTIONS)
Port = Annotated[
    int,
    _option(
        "--port",
        help="Port of the page (default: any free one).",
        min=0,
        max=65535,
        show_default=False,
    ),
]
NoBrowser = Annotated[bool, _option("--no-browser", help="Print the address; open no browser.")]
Private = Annotated[
    bool, _option("--private", help="Show values of cells and small groups on the page.")
]
Idle = Annotated[
    str | None,
    _option(
        "--idle",
        help="End after this time without a request: 90s, 10m or 2h (default: never).",
        metavar="TIME",
    ),
]
Language = Annotated[
    str | None,
    _option("--lang", help="Language of the page: en or pt-BR (default: that of your locale)."),
]


def open(  # noqa: A001 - the name of the command
    data: Data,
    limits: Limits,
    tell: Tell,
    port: Port = 0,
    no_browser: NoBrowser = False,
    private: Private = False,
    idle: Idle = None,
    lang: Language = None,
) -> None:
    r"""Open a file, or a stored sweep, as a local page: choose roles, try changes, see the risk.

    The page is on this machine only, at an address with a random token, until Ctrl-C. It loads
    nothing from elsewhere, shows no values of cells, and shows the command that does the same.
    Needs qifsql\[explorer].
    """
    from qifsql.commands.open.open import open as run

    run(
        data.file,
        where=data.where,
        port=port,
        browser=not no_browser,
        private=private,
        idle=texts.seconds(idle, "--idle"),
        lang=lang,
        told=tell,
        settings=limits.engine_settings(silent),
        **data.reading,
    )
