"""Open a file as a local page, until Ctrl-C."""

import errno
import math
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Unpack

from qifsql.commands.open.background import Jobs
from qifsql.commands.open.calculations import Calculations
from qifsql.commands.open.explorer import Explorer
from qifsql.commands.open.walking import Walk, is_result
from qifsql.data import installation
from qifsql.data.dataset import Dataset
from qifsql.data.files import path_text
from qifsql.data.reading import Reading, typed
from qifsql.engine import masks
from qifsql.engine.progress import silent
from qifsql.engine.settings import Settings, private_folder
from qifsql.errors import InputError
from qifsql.presentation.language import of_locale, speaking

HOST = "127.0.0.1"
CLOSING_TIME = 5.0  # seconds for answers that are being sent when the page ends
SERVING: dict[str, Any] = {
    "log_config": None,
    "log_level": "critical",  # answers that the end cancels are no errors
    "access_log": False,
    "lifespan": "off",
    "server_header": False,
    "date_header": False,
    "ws": "none",
    "timeout_graceful_shutdown": 1,
}


def open(  # noqa: A001 - the name of the command
    source: str | Path,
    *,
    where: str | None = None,
    port: int = 0,
    browser: bool = True,
    private: bool = False,
    idle: float | None = None,
    lang: str | None = None,
    told: Callable[[str], None] | None = None,
    settings: Settings | None = None,
    **reading: Unpack[Reading],
) -> list[str]:
    """Open a file as a local page, until Ctrl-C: choose roles, try changes, see the risk.

    The page is served on the loopback address of this machine alone, at an address with a random
    token, which is printed. It loads nothing from elsewhere. The file is only read.

    Args:
        source: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite).
        where: SQL condition; other records are left out. NULL counts as false.
        port: Port of the page, 0 to 65535; by default any free one.
        browser: Open the page in the browser of this machine.
        private: Show values of cells and small groups.
        idle: End after so many seconds without a request; by default never.
        lang: Language of the page: en or pt-BR; by default that of the locale.
        settings: Memory, threads, temporary folder and seed; by default those of the machine.

    Returns:
        The command lines of the attacks that were tried.

    Raises:
        InputError: The file cannot be read, the port is taken, or qifsql[explorer] is missing.

    Example:
        >>> qifsql.open("data-samples/popets_table_3a.csv", browser=False, idle=0.1)
        ... # doctest: +ELLIPSIS
        http://127.0.0.1:...
        []

    Source: docs/guides/explorer.md.

    """
    try:
        import uvicorn

        from qifsql.commands.open.server import application
    except ImportError as e:
        raise InputError(f"the page needs the extra: {installation.command('explorer')}") from e
    code, say = lang or of_locale(), told or silent
    with speaking(code):  # raises for unknown languages before any work
        text = path_text(source)
    if text == "-":
        raise InputError("the page reads its file again and again; name a file instead of -")
    calculations = Calculations()
    page: Explorer | Walk
    if is_result(text):
        page = Walk.of(text, private=private)
    else:
        words = [text, *(["--where", where] if where else []), *typed(reading)]
        page = Explorer(
            Dataset.open(text, **reading),
            words,
            where=where,
            private=private,
            settings=settings,
            calculations=calculations,
        )
        page.read()
    with closing(_listen(port)) as listener:
        number = int(listener.getsockname()[1])
        token = secrets.token_urlsafe(24)
        address = f"http://{HOST}:{number}/{token}/"
        app = application(page, token=token, port=number, lang=code, seen=calculations.seen)
        server = uvicorn.Server(uvicorn.Config(app, **SERVING))
        jobs = page.jobs if isinstance(page, Explorer) else Jobs()
        with _serve(server, listener, jobs):
            sys.stdout.write(f"{address}\n")
            sys.stdout.flush()
            say("Ctrl-C ends the page")
            with _open_in_browser(address, settings) if browser else nullcontext():
                limit = math.inf if idle is None else idle
                try:
                    calculations.run(lambda: calculations.idle > limit and not jobs.are_running)
                except KeyboardInterrupt:
                    say("the page has ended; nothing was left behind")
    return page.command_lines() if isinstance(page, Explorer) else []


@contextmanager
def _serve(server: Any, listener: socket.socket, jobs: Jobs) -> Iterator[None]:
    """Serve in another thread within the ``with``; at its end, stop the jobs and the server."""
    thread = threading.Thread(target=server.run, args=([listener],), name="page", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        with suppress(KeyboardInterrupt):
            jobs.close()
            thread.join(CLOSING_TIME)


@contextmanager
def _open_in_browser(address: str, settings: Settings | None) -> Iterator[None]:
    """Open an address in the browser by a private file that leads to it.

    Every user of the machine can read the command line of the browser, and the token is a secret.
    """
    folder = private_folder((settings or Settings()).temp)
    try:
        with masks.private():
            file = folder.path / "page.html"
            file.write_text(f'<meta http-equiv="refresh" content="0; url={address}">')
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        yield
    finally:
        folder.remove()


def _listen(port: int) -> socket.socket:
    """Return a socket on the loopback address; InputError if the port is taken."""
    if not 0 <= port <= 65535:
        raise InputError(f"port {port} does not exist; name one from 1 to 65535")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(64)
    except OSError as e:
        listener.close()
        if e.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} is taken by another program; name another with --port, or leave "
                "--port out"
            ) from e
        raise InputError(f"port {port} cannot be used: {e.strerror}; name another") from e
    return listener
