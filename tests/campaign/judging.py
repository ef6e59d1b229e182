"""Judge a command line that has run: findings that must never occur."""

import csv
import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from campaign import tree
from campaign.draft import Step
from campaign.tables import CANARY, HUSH

CODES = (0, 2, 3, 4)
VERDICTS = ("check", "levels", "compare", "run", "tables", "synthetic", "verify")
"""Commands that end with 4."""
MACHINE = ("--memory", "--temp", "--threads", "--timeout", "--command", "--out", "-o")
BESIDE = (".manifest.json",)
KEY = "home/.local/state/qifsql/key"  # with which the kept results of studies are sealed
WORK = (".sweep", ".duckdb", ".wal", ".db")  # files of state, which may stay after an error
TRACE = re.compile(r"Traceback \(most recent|^  File \"|panicked at|\.py:\d+: \w*Warning", re.M)


PROSE = ("check", "explain")
"""Commands whose answer is text on a pipe, too."""


@dataclass(frozen=True)
class Run:
    """The outcome of a command line: exit code, streams, and new or changed files."""

    step: Step
    code: int | str
    out: str
    err: str
    raw: str = ""  # what was written past Python's streams
    new: Sequence[str] = ()
    changed: Sequence[str] = ()
    litter: Sequence[str] = ()  # in the folders of temporary files and of the user
    read: Sequence[str] = ()  # files that are no inputs, and were read
    children: Sequence[str] = ()


@dataclass
class Finding:
    """Something that is wrong with a line."""

    kind: str
    detail: str
    argv: Sequence[str] = field(default_factory=tuple)

    def plain(self) -> dict[str, Any]:
        """The same for JSON."""
        return {"kind": self.kind, "detail": self.detail[:600], "argv": list(self.argv)}


def judge(run: Run, folder: Path) -> list[Finding]:
    """Everything that is wrong with a line that ran in this folder."""
    found: list[Finding] = []

    def wrong(kind: str, detail: str) -> None:
        found.append(Finding(kind, detail, run.step.argv))

    for look in (_exit, _streams, _files, _canaries, _leftovers):
        look(run, folder, wrong)
    if run.code == 0 and run.step.check is not None:
        try:
            differences = run.step.check(run.out)
        except Exception as e:  # the oracle, or what it looks for is not there
            differences = [f"cannot be compared: {type(e).__name__}: {e}"]
        for difference in differences[:3]:
            wrong("number", difference)
    return found


Wrong = Callable[[str, str], None]


def _exit(run: Run, folder: Path, wrong: Wrong) -> None:
    argv = run.step.argv
    if run.code == 1:
        wrong("exit 1", run.err[-300:])
    elif run.code not in CODES:
        wrong("exit", f"{run.code}: {run.err[-300:]}")
    if run.code == 4 and argv[0] not in VERDICTS:
        wrong("exit", "4 from a command without a verdict")
    if run.code == 3 and not any(w.partition("=")[0] in MACHINE for w in argv):
        wrong("exit 3", run.err[-300:])
    if run.code == 0 and run.step.wrong and argv[0] != "verify":  # which looks for files there
        wrong("accepted", run.step.wrong)
    if run.step.check is not None and run.code not in (0, 2):
        wrong("exit", f"{run.code} of a good line: {run.err[-300:]}")
    if run.code in (2, 3) and not re.search(r"^error: .", run.err, re.M):
        wrong("silent", f"exit {run.code} without an error")
    if TRACE.search(run.err) or TRACE.search(run.raw):
        wrong("traceback", (run.err + run.raw)[-500:])


def _streams(run: Run, folder: Path, wrong: Wrong) -> None:
    argv = run.step.argv
    if run.raw.strip() and not TRACE.search(run.raw):
        wrong("stream", f"written past the streams: {run.raw[:200]!r}")
    chosen = (tree.given(argv, "--format", "-f") or [""])[-1]
    person = chosen in ("table", "markdown") or argv[0] in (
        "explain",
        "init",
        "start",
        "demo",
        "report",
    )
    if (control := _control(run.err)) and "--debug" not in argv:
        wrong("control character", f"{control} on stderr")
    if person and (control := _control(run.out)):
        wrong("control character", f"{control} on stdout")
    if run.code in (2, 3) and run.out and argv[0] != "shell":
        wrong("stream", f"stdout of a line that failed: {run.out[:100]!r}")
    has_format = tree.option(argv[0], "--format") is not None and "--help" not in argv
    if run.code in (0, 4) and has_format and (problem := _form(run.out, chosen or _usual(argv))):
        wrong("form", problem)


def _usual(argv: Sequence[str]) -> str:
    """Return the format of stdout without ``--format``, on a pipe."""
    is_search = argv[0] == "compare" and {"--change", "-c", "--until", "--policy"} & {*argv}
    return "table" if argv[0] in PROSE or is_search else "csv"


def _control(text: str) -> str:
    strange = {c for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t"}
    return ", ".join(sorted(map(repr, strange)))


def _form(out: str, chosen: str) -> str:
    """Return what is wrong with the form of stdout."""
    if chosen == "json":
        try:
            json.loads(out, parse_constant=_refused)
        except ValueError as e:
            return f"no JSON: {e}"
    if chosen == "csv":
        return _csv_form(out)
    return ""


def _csv_form(out: str) -> str:
    try:
        rows = list(csv.reader(io.StringIO(out, newline=""), strict=True))
    except csv.Error as e:
        return f"no CSV: {e}"
    widths: set[int] = set()
    for row in [*rows, []]:  # an empty line is between two tables
        widths = {*widths, len(row)} if row else set()
        if len(widths) > 1:
            return "rows of CSV that differ in length"
    return ""


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _files(run: Run, folder: Path, wrong: Wrong) -> None:
    for name in run.changed:
        if not name.endswith(WORK) and not any(name in word for word in run.step.argv):
            wrong("file changed", name)
    for name in run.new:
        hidden = any(part.startswith(".") for part in Path(name).parts)
        if hidden:
            wrong("left behind", name)
        elif run.code in (2, 3) and not name.endswith(WORK):
            if run.step.argv[0] not in ("run", "demo"):
                wrong("left behind", f"{name} after exit {run.code}")
        elif name in tree.given(list(run.step.argv), "--workspace"):
            continue  # it is no result, whatever its name
        elif run.code in (0, 4) and (problem := _whole(folder / name)):
            wrong("half a file", f"{name}: {problem}")


def _whole(path: Path) -> str:
    """Return what is missing of a file that was written."""
    try:
        if path.suffix == ".parquet":
            pq.read_table(path)
        elif path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"), parse_constant=_refused)
        elif path.suffix == ".html" and not path.read_text(encoding="utf-8").rstrip().endswith(
            "</html>"
        ):
            return "its end is missing"
        elif path.suffix == ".csv":
            return _csv_form(path.read_text(encoding="utf-8"))
        elif path.suffix == ".md" and not path.stat().st_size:
            return "it is empty"
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return ""


def reveals(argv: Sequence[str]) -> bool:
    """Return whether the line asks for cell values, so that its output may contain them."""
    command, words = argv[0], [w.partition("=")[0] for w in argv[1:]]
    if command in ("inspect", "shell", "levels") or "--refines" in words:
        return True
    if command == "tables":  # components have names, such as schools
        return True
    if any(w in words for w in ("--by", "--wave", "--target", "--values", "--show-blocks")):
        return True
    if command in ("attack", "sql") and len(argv) > 1:
        return "i" in argv[1].casefold() or "--store" in words
    return False


DATA_OPTIONS = ("--out", "-o", "--records", "--mapping", "--store")


def _canaries(run: Run, folder: Path, wrong: Wrong) -> None:
    argv = run.step.argv
    files = {name: (folder / name) for name in run.new if (folder / name).is_file()}
    texts = {"stderr": run.err + run.raw, "stdout": run.out}
    texts |= {name: _content(path) for name, path in files.items()}
    for place, text in texts.items():
        if found := HUSH.search(text):
            wrong("canary of no input", f"{found[0]} in {place}")
    shared = argv[0] == "report" and "--private" not in argv
    typed = "" if shared else _typed(argv, folder)
    if "--debug" in argv:
        del texts["stderr"]
    grouped = re.search(r"^by = ", "" if shared else _typed(argv, folder), re.M)
    hidden = {"stderr"} if reveals(argv) or grouped else {"stderr", "stdout", *files}
    if argv[0] in ("anonymise", "attack", "dit", "compose", "estimate", "suda", "unhash"):
        hidden -= _data_files(argv, files)
    if argv[0] == "run":
        hidden -= {name for name in files if "kept" in Path(name).parts}
    if argv[0] == "report" and not shared:
        hidden = {"stderr"}
    for place in hidden & set(texts):
        leaked = {c for c in CANARY.findall(texts[place]) if c not in typed}
        if leaked:
            kind = "canary in a report" if shared and place != "stderr" else "canary"
            wrong(kind, f"{sorted(leaked)[0]} in {place}: {_around(texts[place], min(leaked))}")


def _around(text: str, canary: str) -> str:
    i = text.index(canary)
    return repr(text[max(0, i - 100) : i + 60])


def _data_files(argv: Sequence[str], files: dict[str, Path]) -> set[str]:
    """Files that hold records because the line asks for that."""
    options = DATA_OPTIONS if argv[0] == "anonymise" else DATA_OPTIONS[2:]
    return set(tree.given(list(argv), *options)) & set(files)


def _typed(argv: Sequence[str], folder: Path) -> str:
    """Return what was typed, on the line or in the small files that it names."""
    texts = [*argv]
    for word in argv[1:]:
        for part in (word, word.partition("=")[2], word.partition(":")[2]):
            path = folder / part if part.startswith(SMALL) and len(part) < 100 else folder
            if path.is_file():
                texts.append(path.read_text(encoding="utf-8", errors="replace"))
    return "\n".join(texts)


SMALL = ("policy", "study", "listing", "levels", "list")


def _content(path: Path) -> str:
    data = path.read_bytes()
    text = data.decode("utf-8", "replace")
    if path.suffix == ".parquet":
        try:
            table = pq.read_table(path)
            text += str(table.to_pylist()) + str(table.schema.metadata)
        except Exception:  # judged elsewhere
            return text
    return text


def _leftovers(run: Run, folder: Path, wrong: Wrong) -> None:
    for name in run.litter:
        if not f"{KEY}/".startswith(f"{name}/"):
            wrong("left behind", f"{name} in the temporary folder or the home")
    for name in run.read:
        wrong("read what is no input", name)
    for child in run.children:
        wrong("left behind", f"a child: {child}")


def digest(path: Path) -> str:
    """Return what a file holds; empty for what is none."""
    if not path.is_file() or path.is_symlink():
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()
