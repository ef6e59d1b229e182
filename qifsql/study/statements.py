"""Statements on a release: what a policy says of the decision, and the files a statement is about.

    [statement]
    purpose = "Research on school transport"
    reasons = "The contract forbids attempts; nobody was found to have tried in ten years."
    decision = "Release to the university"
    by = "A. Silva, data protection officer"
    date = 2026-11-29

A statement is a document of ``qifsql report --statement``. Its manifest names the recipients with
the last days of their assessments, and the files that were read with their digests.
"""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qifsql.data.files import MANIFEST, parsed_json
from qifsql.data.toml_lines import Lines
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.results.stored import Stored

KEYS = ("purpose", "reasons", "decision", "by", "date")


@dataclass(frozen=True)
class Statement:
    """The files that a statement is about, and the last days of its assessments.

    ``digests`` are pairs of the name of a file and its SHA-256; ``until`` has the day by the name
    of the recipient, None for no end. ``file`` is the manifest.
    """

    file: str
    digests: tuple[tuple[str, str | None], ...]
    until: Mapping[str, datetime.date | None]

    def changed(self, digests: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the names of its files whose contents are not among these ``digests``."""
        present = {digest["sha256"] for digest in digests} - {None}
        return list(dict.fromkeys(name for name, digest in self.digests if digest not in present))

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
            hint = did_you_mean(key, KEYS) or f"; use one of {', '.join(KEYS)}"
            raise lines.wrong(f"a statement has no {quoted(key)}{hint}", *here)
        if key == "date" and type(value) is not datetime.date:
            raise lines.wrong("date is a day without quotes, as 2026-11-29", *here)
        if key != "date" and not (isinstance(value, str) and value.strip()):
            raise lines.wrong(f"{key} is a text in quotes", *here)
    return {key: str(value) for key, value in table.items()}


def covered(check: Stored) -> dict[str, Any]:
    """Return what the manifest of a statement says of the check that it is made of."""
    recipients = check.details["recipients"].select("name", "until")
    return {
        "recipients": dict(recipients.iter_rows()),
        "inputs": [[file["path"], file["sha256"]] for file in check.manifest["inputs"]],
    }


def read(file: str | Path) -> Statement:
    """Return the statement in a file, from the manifest beside it; InputError if it is none."""
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
        return Statement(str(path), digests, until)
    except OSError as e:
        raise InputError(f"the statement {path} cannot be read: {e.strerror}") from e
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as e:
        message = (
            f"{path} is not the manifest of a statement; write one with qifsql report --statement"
        )
        raise InputError(message) from e
