"""The tables of a study in its folder, and a list that distinguishes them from other files."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from qifsql.commands.check import view
from qifsql.commands.check.result import Verdict
from qifsql.commands.run.cache import CACHE_FOLDER, check_plain
from qifsql.commands.synthetic import view as synthetic_view
from qifsql.commands.tables import view as tables_view
from qifsql.data.files import MANIFEST, parsed_json
from qifsql.errors import OutputError
from qifsql.results.result import Display, Result, contents
from qifsql.results.storage import Content, Origin, atomic_file, digests, manifests_beside, write
from qifsql.study.entry import Entry

LIST_FILE = "written.json"
SWEEP_OPTIONS = {"histogram": "histogram", "borders": "threshold", "releases": "releases"}
"""Tables of a sweep that are asked for, each with the option that asks for it."""


class Outputs:
    """The files in a folder of results.

    ``records`` has the digest of a result and those of its files, by the name of its entry. The
    tables of all entries together, and the report, have names that no entry has.
    """

    def __init__(self, folder: Path, formats: tuple[str, ...]) -> None:
        self.folder = folder
        self.formats = formats
        self.list = folder / CACHE_FOLDER / LIST_FILE
        self.records = _read_records(self.list)

    def are_current(self, name: str, digest: str) -> bool:
        """Return whether the files of a name exist, unchanged since written for that result."""
        record = self.records.get(name, {})
        is_same = record.get("digest") == digest and record.get("formats") == list(self.formats)
        return is_same and all(self._is_unchanged(n, sha) for n, sha in record["files"].items())

    def write(
        self,
        name: str,
        digest: str,
        display: Display,
        cache_files: Mapping[Path, Content] | None = None,
    ) -> None:
        """Write the tables of a name, and ``cache_files``, which keep its result for later runs.

        ``digest`` is that of all that determines the tables; empty for an incomplete sweep.
        """
        files: dict[Path, Content] = {}
        for kind in self.formats:
            files |= contents(display, self.folder / f"{name}.{kind}")
        self.check([*files, *manifests_beside(files).values()])
        write({**(cache_files or {}), **files}, display.origin)
        self.enter(name, digest, [*files, *manifests_beside(files).values()])

    def enter(self, name: str, digest: str, paths: Sequence[Path]) -> None:
        """Enter the files of a name in the list; remove its earlier files, unless changed since."""
        hashes = {Path(d["path"]).name: str(d["sha256"]) for d in digests(map(str, paths))}
        for old, sha in self.records.get(name, {}).get("files", {}).items():
            if old not in hashes and self._is_unchanged(old, sha):
                (self.folder / old).unlink(missing_ok=True)
        self.records[name] = {"digest": digest, "formats": list(self.formats), "files": hashes}
        with atomic_file(self.list, Origin.now()) as temporary:
            temporary.write_text(json.dumps(self.records, indent=2) + "\n", encoding="utf-8")

    def check(self, paths: Sequence[Path]) -> None:
        """Refuse to replace a file that is no result: links, and files of others."""
        listed = {file for record in self.records.values() for file in record["files"]}
        for path in paths:
            check_plain(path)
            if path.exists() and path.name not in listed and not _is_result(path):
                raise OutputError(
                    f"{path} is there and is no result, so it is not replaced; move it, or name "
                    "another folder ([output] folder, --folder)"
                )

    def files(self, name: str) -> list[Path]:
        """Return the tables of a name, without their manifests."""
        hashes = self.records.get(name, {}).get("files", {})
        return [self.folder / file for file in hashes if not file.endswith(MANIFEST)]

    def _is_unchanged(self, name: str, sha: str) -> bool:
        """Return whether a file is as an earlier run wrote it, by its digest."""
        path = self.folder / name
        if path.is_symlink():  # another file is not even read
            return False
        try:
            return path.is_file() and digests([str(path)])[0]["sha256"] == sha
        except OSError:
            return False


def _is_result(path: Path) -> bool:
    """Return whether qifsql has written a file: its manifest is in it, or beside it."""
    if path.name.endswith(MANIFEST):
        return path.with_name(path.name.removesuffix(MANIFEST)).exists()
    if path.suffix.casefold() != ".parquet":
        return path.with_name(path.name + MANIFEST).is_file()
    try:
        return b"qifsql" in (pq.read_metadata(path).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def display(entry: Entry, result: Result) -> Display:
    """Return the result of an entry, ready to be shown."""
    title = f"{entry.name}: {' + '.join(entry.titles)}"
    if isinstance(result, Verdict):
        return view.display(result, title)
    unasked_details: dict[str, Collection[str]] = {  # by kind
        "attack": (),
        "tables": tables_view.ASIDE,
        "synthetic": synthetic_view.ASIDE,
        "suda": result.details,
        "sweep": [n for n in result.details if SWEEP_OPTIONS.get(n) not in entry.options],
    }
    return Display(result=result, title=title, aside=unasked_details[entry.kind])


def _read_records(path: Path) -> dict[str, dict[str, Any]]:
    """Return the list of written files: digest, formats, files by entry; {} if it is damaged."""
    try:
        data = parsed_json(path.read_text("utf-8"))
        return {
            str(name): {
                "digest": str(record["digest"]),
                "formats": list(record["formats"]),
                "files": {Path(str(f)).name: str(sha) for f, sha in record["files"].items()},
            }
            for name, record in data.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
