"""Statements on a release: what a policy says of the decision, and the files a statement is about.

    [statement]
    purpose = "Research on school transport"
    reasons = "The contract forbids attempts; nobody was found to have tried in ten years."
    decision = "Release to the university"
    by = "A. Silva, data protection officer"
    date = 2026-11-29

A statement is a document of ``qifsql report --statement``. Its manifest names the recipients with
the last days of their assessments, the files that were read with their digests, and the digest of
the text of the document, without the lines that are filled in by hand.
"""

import datetime
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qifsql.data.files import MANIFEST, parsed_json
from qifsql.data.toml_lines import Lines
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.results.stored import Stored

KEYS = ("purpose", "reasons", "decision", "by", "date")
FILLED_IN = rb'(<td class="blank">).*?(</td>)'  # a line to fill in by hand, of a page
BLANK_ROW = r"^\|[^|\n]+\|(?=  \|$)"  # its first cell, of Markdown


@dataclass(frozen=True)
class Statement:
    """The files that a statement is about, and the last days of its assessments.

    ``digests`` are pairs of the name of a file and its SHA-256; ``until`` has the day by the name
    of the recipient, None for no end. ``file`` is the manifest, ``document`` the statement itself,
    whose text ``is_edited`` if its digest differs from that in the manifest.
    """

    file: str
    document: Path
    is_edited: bool
    digests: tuple[tuple[str, str | None], ...]
    until: Mapping[str, datetime.date | None]

    def changed(self, digests: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the names of its files whose contents are not among these ``digests``.

        The statement itself is one of them if its text was edited.
        """
        present = {digest["sha256"] for digest in digests} - {None}
        edited = [self.document.name] if self.is_edited else []
        others = (name for name, digest in self.digests if digest not in present)
        return [*edited, *dict.fromkeys(others)]

    def expired(self, today: datetime.date) -> list[str]:
        """Return the recipients whose assessment ended before ``today``."""
        return [name for name, day in self.until.items() if day is not None and day < today]


def parse(data: Mapping[str, Any], lines: Lines) -> dict[str, str]:
    """Return the table ``statement`` of a policy: a text by key; LineError names a wrong line."""
    table = data.get("statement", {})
    if not isinstance(table, dict):
        raise lines.wrong("the statement is a table: write [statement]", "statement")
    for key, value in table.items():
        here = ("statement", key)
        if key not in KEYS:
            raise lines.wrong(f"a statement has no {quoted(key)}{did_you_mean(key, KEYS)}", *here)
        if key == "date" and type(value) is not datetime.date:
            raise lines.wrong("date is a day without quotes, as 2026-11-29", *here)
        if key != "date" and not (isinstance(value, str) and value.strip()):
            raise lines.wrong(f"{key} is a text in quotes", *here)
    return {key: str(value) for key, value in table.items()}


def covered(check: Stored, content: str | bytes, ending: str) -> dict[str, Any]:
    """Return what the manifest of a statement says of its check, and of the document's content."""
    recipients = check.details["recipients"].select("name", "until")
    return {
        "recipients": dict(recipients.iter_rows()),
        "inputs": [[file["path"], file["sha256"]] for file in check.manifest["inputs"]],
        "text": _of_text(content.encode() if isinstance(content, str) else content, ending),
    }


def _of_text(content: bytes, ending: str) -> dict[str, Any]:
    """Return the digest of a document's text, and what is needed to compute it again."""
    blank = re.findall(BLANK_ROW, content.decode(), re.MULTILINE) if ending == ".md" else []
    about = {"length": len(content), "blank": blank}
    return {**about, "sha256": _digest(content, ending, about)}


def _digest(content: bytes, ending: str, about: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document's text, without lines that are filled in by hand.

    They are cells of a page, or rows of Markdown that were ``blank``. Of a PDF it is that of its
    first bytes, ``length``, because a signature or a note is appended to them.
    """
    if ending == ".pdf":
        content = content[: int(about["length"])]
    elif ending == ".html":
        content = re.sub(FILLED_IN, rb"\1\2", content.replace(b"\r\n", b"\n"), flags=re.DOTALL)
    else:
        lines = content.decode().replace("\r\n", "\n").split("\n")
        starts = tuple(map(str, about["blank"]))
        rows = [next((s for s in starts if line.startswith(s)), line) for line in lines]
        content = "\n".join(rows).encode()
    return hashlib.sha256(content).hexdigest()


def read(file: str | Path) -> Statement:
    """Return the statement in a file, from the manifest beside it; InputError if it is none."""
    document = Path(file)
    path = Path(file).with_name(Path(file).name + MANIFEST)
    if not path.is_file():
        raise InputError(f"the statement has no manifest beside it; keep {path} with it")
    try:
        about = parsed_json(path.read_text("utf-8"))["spec"]["statement"]
        # None stays: an input without a digest, a recipient without a last day
        digests = tuple((str(name), digest and str(digest)) for name, digest in about["inputs"])
        until = {
            str(name): day and datetime.date.fromisoformat(day)
            for name, day in about["recipients"].items()
        }
        text = about["text"]
        digest = _digest(document.read_bytes(), document.suffix.casefold(), text)
        return Statement(str(path), document, digest != text["sha256"], digests, until)
    except OSError as e:
        raise InputError(f"the statement {path} cannot be read: {e.strerror}") from e
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as e:
        message = (
            f"{path} is not the manifest of a statement; write one with qifsql report --statement"
        )
        raise InputError(message) from e
