"""Pages as PDF, printed by a Chromium or Chrome of this machine, without a window or a network."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from qifsql.errors import EngineError, OutputError

VARIABLE = "QIFSQL_BROWSER"  # the variable of the environment that names the browser
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "msedge", "brave-browser"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
ARGUMENTS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-quic"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer"),
)
TIMEOUT = 120  # seconds after which a browser that does not end is stopped


def browser() -> str:
    """Return the path of the browser: VARIABLE if set, else of BROWSERS; OutputError without."""
    named = os.environ.get(VARIABLE)
    path = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    if path is None and named:
        raise OutputError(f"{VARIABLE} names no program: {named}")
    if path is None:
        raise OutputError(
            "a PDF is printed by Chromium or Chrome, and there is none here; install one (such as "
            f"apt install chromium), name it in {VARIABLE}, or write .html"
        )
    return path


def pdf(page: str, program: str) -> bytes:
    """Return a page of HTML as PDF, printed by the browser ``program``; EngineError if it fails."""
    with TemporaryDirectory(prefix="qifsql-") as folder:
        source, sheets = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, "utf-8")
        command = [program, *ARGUMENTS, f"--user-data-dir={folder}/profile"]
        if getattr(os, "geteuid", lambda: 1)() == 0:  # Chromium has no sandbox for root
            command.append("--no-sandbox")
        command += [f"--print-to-pdf={sheets}", source.as_uri()]
        message = f"{program} did not print the report; write .html, and print that"
        try:
            ended = subprocess.run(  # noqa: S603 - a fixed list of arguments
                command, capture_output=True, timeout=TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as e:
            raise EngineError(message, detail=str(e)) from e
        content = sheets.read_bytes() if sheets.is_file() else b""
    if not content.startswith(b"%PDF"):
        raise EngineError(message, detail=ended.stderr.decode(errors="replace")[-500:])
    return content
