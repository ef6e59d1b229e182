"""A study: the entries to run, and the place of their results."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qifsql.data.toml_lines import Lines
from qifsql.errors import quoted
from qifsql.study.entries import NAME_OF_ALL, Entries
from qifsql.study.entry import Entry
from qifsql.study.forms import OUTPUT, REPORT, SEED, TOP, of_entry
from qifsql.study.read import Reader, on_one_line

FORMATS = ("parquet", "csv")
PAGES = (".html", ".md")  # the endings of the report of a study


@dataclass(frozen=True)
class Study:
    """A study: entries in their order, a folder for results and their formats.

    ``seed`` is for entries that draw at random, if no other seed is given. ``report`` is the file
    of the report at the end, None if there is none; ``reader`` has the options of it. ``lines`` are
    the positions of all parts of the file, for messages.
    """

    path: Path
    entries: tuple[Entry, ...]
    folder: Path
    formats: tuple[str, ...] = FORMATS
    seed: int | None = None
    report: Path | None = None
    reader: Mapping[str, Any] = field(default_factory=dict)
    lines: Lines = field(default=Lines(""), repr=False, compare=False)

    @classmethod
    def load(cls, path: str | Path) -> "Study":
        """Read a study. Its files must exist; their columns are checked when it runs.

        Errors are noted on the way; at the end one InputError has a line for each.
        """
        reader = Reader(Path(path))
        reader.check_names(reader.data, TOP)
        output = reader.table(reader.data.get("output", {}), OUTPUT, "output") or {}
        seed = reader.value(reader.data["seed"], SEED, "seed") if "seed" in reader.data else None
        folder = reader.folder / (output.get("folder") or f"{reader.path.stem}-results")
        if folder.exists() and not folder.is_dir():
            reader.wrong(f"{folder} is not a folder; name another", "output", "folder")
        formats = output.get("formats", FORMATS)
        reading = Entries(reader)
        entries = reading.read()
        reading.sources.check_apart(folder, [NAME_OF_ALL, *(e.name for e in entries)], formats)
        options = reader.table(reader.data.get("report", {}), REPORT, "report") or {}
        out = options.pop("out", "report.html")
        report = folder / out if out else None
        study = cls(reader.path, entries, folder, formats, seed, report, options, reader.lines)
        inputs = [*reading.sources.paths, *(p for e in entries for p in e.paths), str(study.path)]
        study._check_names_of_files(reader, inputs)
        reader.finish()
        return study

    def _check_names_of_files(self, reader: Reader, inputs: Sequence[str]) -> None:
        """Note results that would replace an input, and a report that cannot have its name."""
        names: list[tuple[str, tuple[str | int, ...]]] = [(NAME_OF_ALL, ("output",))]
        names += [(e.name, (*e.place, "name")) for e in self.entries]
        for name, place in names:
            for file in self.replaced(name, dict.fromkeys(inputs)):
                what = f"results named {quoted(name)} would replace the input {file}"
                reader.wrong(f"{what}; use another name or folder", *place)
        if wrong := self.wrong_report(inputs):
            report = reader.data.get("report")
            has_name = isinstance(report, dict) and "out" in report
            reader.wrong(wrong, *(("report", "out") if has_name else ("output",)))

    def written_to(self, folder: Path) -> "Study":
        """Return the study with another folder for its results."""
        report = None if self.report is None else folder / self.report.name
        return replace(self, folder=folder, report=report)

    def wrong_report(self, inputs: Sequence[str]) -> str:
        """Return the reason why the report cannot have its name; empty if it can."""
        if self.report is None:
            return ""
        name, names = self.report.name.casefold(), [NAME_OF_ALL, *(e.name for e in self.entries)]
        if self.report.parent != self.folder:
            return f"the report lies in the folder {self.folder}; name a file without a folder"
        if self.report.suffix.casefold() not in PAGES:
            return f"the report {quoted(self.report.name)} must end in one of {', '.join(PAGES)}"
        if name in [f"{n}.{kind}".casefold() for n in names for kind in self.formats]:
            return (
                f"the report {quoted(self.report.name)} would replace the results of that name; "
                "name it otherwise in [report] out"
            )
        if any(Path(path).resolve() == self.report.resolve() for path in inputs):
            return f"the report would replace the input {self.report}; name it otherwise"
        return ""

    def replaced(self, name: str, inputs: Iterable[str]) -> list[str]:
        """Return the paths among ``inputs`` that the results of entry ``name`` would replace."""
        folder = self.folder.resolve()
        return [
            path
            for path in inputs
            if Path(path).resolve().parent == folder
            and Path(path).name.casefold().split(".")[0] == name.casefold()
            and Path(path).suffix[1:].casefold() in self.formats
        ]

    def located(self, entry: Entry, message: str) -> str:
        """Return a message about an entry, with its line; ``--options`` in it become keys."""
        keys = of_entry(entry.kind)

        def key(option: re.Match[str]) -> str:
            name = option[1].replace("-", "_")
            return next((key for key in (name, f"{name}s") if key in keys), option[0])

        text = re.sub(r"--([a-z]+(?:-[a-z]+)*)", key, message)
        what = f"{entry.kind} {quoted(entry.name)}: {text}"
        return str(self.lines.wrong(on_one_line(what), *entry.place_of_message(text)))
