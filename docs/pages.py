"""Run the code blocks of the pages, and write what they print, or compare it.

``python docs/pages.py`` writes the output of every block; a test compares. The blocks of a
page run one after another in a folder of their own, in which ``data-samples`` is that of the
samples:

- ``console``: lines after ``$ `` are run, by bash where they need it; what follows is what they
  print;
- ``python``: runs; a block ``text`` directly after it is what it prints;
- ``toml`` with a title: the file of that name.

A block that must not run has the word ``norun`` after its language. A comment
``<!-- picture: NAME -->`` copies that file of the folder to ``docs/pictures``.
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from unittest import mock

from hatch_build import compile_catalogues
from qifsql import app

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"<!-- picture: (?P<name>\S+) -->")
SECONDS = re.compile(r"\b\d+(\.\d+)? (seconds?|s)\b")
WIDTH = "100"
SIGNS = frozenset("|<>;&*?[{$`~")
"""Signs that have a meaning for a shell in words without quotes."""

QUOTES = frozenset("'\"")


@dataclass(frozen=True)
class Block:
    """A block of code of a page: where its body is, its language and what stands after that."""

    start: int
    end: int
    language: str
    words: str
    body: str


def pages() -> list[Path]:
    """Return all pages whose code runs."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of code of a page."""
    for match in FENCE.finditer(text):
        language, _, words = match["info"].strip().partition(" ")
        yield Block(match.start("body"), match.end("body"), language, words, match["body"])


def written(page: Path, folder: Path) -> str:
    """Return the text of a page with the output that its blocks print in a folder."""
    text = page.read_text("utf-8")
    names: dict[str, object] = {}
    parts: list[tuple[int, int, str]] = []
    printed: str | None = None
    for block in blocks(text):
        before, printed = printed, None
        if "norun" in block.words:
            continue
        if block.language == "console":
            parts.append((block.start, block.end, _console(block.body, folder)))
        elif block.language == "python":
            printed = _python(block.body, folder, names)
        elif block.language == "text" and before is not None:
            parts.append((block.start, block.end, before))
        elif title := re.search(r'title="([^"]+)"', block.words):
            (folder / title[1]).write_text(block.body, "utf-8")
    for start, end, body in reversed(parts):
        text = text[:start] + body + text[end:]
    return text


def same(one: str, other: str) -> bool:
    """Return whether two texts are the same but for how long something took."""
    return SECONDS.sub("", one) == SECONDS.sub("", other)


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Give a folder in which the samples are."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data-samples").symlink_to(ROOT / "data-samples")
        yield folder


def _console(body: str, folder: Path) -> str:
    """Return commands with what they print."""
    lines = body.splitlines()
    text, number = "", 0
    while number < len(lines):
        if not lines[number].startswith("$ "):
            number += 1
            continue
        command = [lines[number].removeprefix("$ ")]
        while command[-1].endswith("\\"):
            number += 1
            command.append(lines[number])
        number += 1
        text += "$ " + "\n".join(command) + "\n" + _run("\n".join(command), folder)
    return text


def needs_shell(command: str) -> bool:
    """Return whether a command has signs with a meaning for a shell, or is not qifsql."""
    return not command.startswith("qifsql ") or _end(command) < len(command)


def _end(command: str) -> int:
    """Return the place of the first sign, outside quotes, that has a meaning for a shell."""
    quote = ""
    for place, sign in enumerate(command):
        if quote:
            quote = quote if sign != quote else ""
        elif sign in QUOTES:
            quote = sign
        elif sign in SIGNS:
            return place
    return len(command)


def _run(command: str, folder: Path) -> str:
    """Return what a command prints, on both streams.

    qifsql runs in this process where it can, as a new process loads all libraries again. The
    filters behind it run in a shell.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("QIFSQL")}
    environment |= {"COLUMNS": WIDTH, "LC_ALL": "C.UTF-8"}
    end = _end(command)
    typed, filters = command[:end], command[end:]
    if needs_shell(typed) or (filters and not re.fullmatch(r"\|[^|;&]+", filters)):
        code, text = _in_shell(command, folder, environment)
    elif filters:
        out, err = io.StringIO(), io.StringIO()
        first = _in_process(typed, folder, environment, out, err)
        last, text = _in_shell(filters[1:], folder, environment, out.getvalue())
        code, text = last or first, err.getvalue() + text
    else:
        both = io.StringIO()
        code = _in_process(typed, folder, environment, both, both)
        text = both.getvalue()
    if code not in (0, 4):  # 4: a policy is not met
        raise RuntimeError(f"{command}\n{text}")
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


def _in_shell(
    command: str, folder: Path, environment: Mapping[str, str], given: str = ""
) -> tuple[int, str]:
    """Return the exit code of a command, and what it prints."""
    bin_ = Path(sys.executable).parent
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**environment, "PATH": f"{bin_}{os.pathsep}{environment['PATH']}"},
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout


def _in_process(
    command: str, folder: Path, environment: Mapping[str, str], out: TextIO, err: TextIO
) -> int:
    """Run qifsql with these streams; return its exit code."""
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(sys, "argv", shlex.split(command.replace("\\\n", " "))),
        mock.patch.object(sys, "stdin", io.StringIO()),
    ):
        return app.main()


def _python(body: str, folder: Path, names: dict[str, object]) -> str:
    """Return what a block of Python prints."""
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        exec(compile(body, "page", "exec"), names)
    return out.getvalue()


def main() -> None:
    """Write the output of all blocks, and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="*", type=Path, help="only these pages")
    chosen = parser.parse_args().page or pages()
    compile_catalogues(ROOT)
    for page in chosen:
        with workplace() as folder:
            text = written(page.resolve(), folder)
            for match in PICTURE.finditer(text):
                (DOCS / "pictures").mkdir(exist_ok=True)
                shutil.copy(folder / match["name"], DOCS / "pictures")
        page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
