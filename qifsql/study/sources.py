"""The datasets of a study by name, with the roles of their columns, and the study's files.

A path is relative to the folder of the study; ``sample:NAME`` is a file of the bundled samples.
"""

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qifsql.adversary.gains import KINDS, parse
from qifsql.data.dataset import Dataset
from qifsql.data.files import bundled, matches
from qifsql.data.option import TEXT
from qifsql.data.toml_lines import Route, Step
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.study.forms import COLLECTION, DATASET, JOINED, READING, ROLES
from qifsql.study.read import Reader

SAMPLE = "sample:"


@dataclass(frozen=True)
class Source:
    """One dataset, or several of a collection, and the roles of the columns.

    ``places`` are the positions of the roles in the study.
    """

    datasets: tuple[Dataset, ...]
    roles: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Route] = field(default_factory=dict)

    def having(self, roles: Mapping[str, Any], *place: Step) -> "Source":
        """Return a copy with these roles, which replace its earlier ones."""
        places = {name: (*place, name) for name in roles}
        return Source(self.datasets, {**self.roles, **roles}, {**self.places, **places})


class Sources:
    """The sources of a study by name; a source with errors is None."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.named: dict[str, Source | None] = {}
        self.patterns: list[tuple[str, Route]] = []  # paths of many files: globs and folders
        for name, content in reader.tables("datasets").items():
            self.named[name] = self._dataset(content, "datasets", name)
        self.alone = list(self.named)  # names of single datasets
        for name, content in reader.tables("collections").items():
            if name in self.named:
                where = f"there is a dataset {quoted(name)} already; name the collection otherwise"
                reader.wrong(where, "collections", name)
                continue
            self.named[name] = self._collection(content, "collections", name)
        self.gains: dict[str, str | None] = {}
        for name, content in reader.tables("gains").items():
            self.gains[name] = self._gain(content, "gains", name)

    @property
    def paths(self) -> list[str]:
        """Return the files of all datasets."""
        sources = [source for source in self.named.values() if source is not None]
        return [path for s in sources for dataset in s.datasets for path in dataset.paths]

    def of(self, names: Sequence[str], *place: Step) -> Source | None:
        """Return the source of one name, or the collection of several.

        None, with an error noted at ``place`` in the study, if there is none.
        """
        for i, name in enumerate(names):
            if name not in self.named:
                hint = did_you_mean(name, self.named) or "; write [datasets.NAME] with its path"
                at = (*place, i) if len(names) > 1 else place
                self.reader.wrong(f"there is no dataset {quoted(name)}{hint}", *at)
            elif len(names) > 1 and name not in self.alone:
                what = f"{quoted(name)} is a collection; name datasets, or the collection alone"
                self.reader.wrong(what, *place, i)
        if not names:
            self.reader.wrong("the list of datasets is empty; name one", *place)
        sources = [source for name in names if (source := self.named.get(name)) is not None]
        return _together(sources) if sources and len(sources) == len(names) else None

    def check_apart(self, folder: Path, names: Sequence[str], formats: Sequence[str]) -> None:
        """Note globs and folders that would include results among their files."""
        results = [(folder / f"{name}.{kind}").absolute() for name in names for kind in formats]
        for path, place in self.patterns:
            inside = folder.resolve().is_relative_to(Path(path).resolve())
            if (Path(path).is_dir() and inside) or any(_matches(f, path) for f in results):
                what = f"the results in {folder} would be among the files of {quoted(path)}"
                self.reader.wrong(f"{what}; name another folder in [output]", *place)

    def dataset(self, text: str, *place: Step) -> Dataset | None:
        """Return one dataset by its name or path; None, with an error noted at ``place``."""
        if text in self.named:
            source = self.of((text,), *place)
            if source is not None and len(source.datasets) > 1:
                self.reader.wrong(f"{quoted(text)} is a collection; name one dataset", *place)
                return None
            return source.datasets[0] if source else None
        return self.opened(text, {}, *place)

    def opened(self, text: str, reading: Mapping[str, Any], *place: Step) -> Dataset | None:
        """Return the dataset at a path, read with options; None, with an error at ``place``.

        Folders and patterns (``*.parquet``) are noted in ``patterns``: results must not be written
        among their files (``check_apart``).
        """
        path = resolved(self.reader.folder, text)
        if Path(path).is_dir() or (glob.has_magic(path) and not Path(path).exists()):
            self.patterns.append((path, place))
        try:
            return Dataset.open(path, **reading)
        except (InputError, OSError, ValueError) as e:
            message = str(e) if isinstance(e, InputError) else f"{quoted(text)} cannot be read"
            self.reader.wrong(message, *place)
            return None

    def _dataset(self, content: Any, *place: Step) -> Source | None:
        """Return a dataset with its roles; None, with an error noted, if it cannot be read."""
        if isinstance(content, str):
            dataset = self.opened(content, {}, *place)
            return None if dataset is None else Source((dataset,))
        table = self.reader.table(content, DATASET, *place, required=["path"])
        if not table or "path" not in table:
            return None
        reading = {name: table[name] for name in READING if name in table}
        dataset = self.opened(table["path"], reading, *place, "path")
        if dataset is None:
            return None
        return Source((dataset,)).having({n: table[n] for n in ROLES if n in table}, *place)

    def _collection(self, content: Any, *place: Step) -> Source | None:
        """Return a collection with its roles; None, with an error noted, if it has none."""
        table = self.reader.table(content, COLLECTION, *place, required=["datasets"])
        if not table or "datasets" not in table:
            return None
        for i, name in enumerate(table["datasets"]):
            if name in self.reader.tables("collections") and name not in self.alone:
                self.reader.wrong(f"{quoted(name)} is a collection itself", *place, "datasets", i)
                return None
        source = self.of(table["datasets"], *place, "datasets")
        roles = {name: table[name] for name in (*ROLES, *JOINED) if name in table}
        return None if source is None else source.having(roles, *place)

    def _gain(self, content: Any, *place: Step) -> str | None:
        if place[-1] in KINDS:
            self.reader.wrong(f"{quoted(str(place[-1]))} is a gain; use another name", *place)
        text = self.reader.value(content, TEXT, *place)
        return None if text is None else self._checked_gain(text, *place)

    def gain(self, text: str, *place: Step) -> str | None:
        """Return a gain function by its name or text; None, with an error noted, if it is wrong."""
        return self.gains[text] if text in self.gains else self._checked_gain(text, *place)

    def _checked_gain(self, text: str, *place: Step) -> str | None:
        """Return the text of a gain function; None, with an error noted, if it is wrong."""
        try:
            file = gain_file(text)
        except InputError as e:
            near = did_you_mean(text, self.gains)
            hint = near if near.startswith("; did you mean") else ""  # not a list of all gains
            self.reader.wrong(f"{e}{hint}", *place)
            return None
        is_missing = file is not None and self.opened(file, {}, *place) is None
        return None if is_missing else text


def gain_file(text: str) -> str | None:
    """Return the file that a gain function reads, as the text names it."""
    gain = parse(text)
    return gain.source if gain.kind in ("worth", "matrix") else None


def resolved(folder: Path, text: str) -> str:
    """Return a path relative to the folder of the study, or that of a bundled sample."""
    if text.startswith(SAMPLE):
        return str(bundled("data-samples") / text.removeprefix(SAMPLE))
    is_address = re.match(r"[a-zA-Z][a-zA-Z0-9+]+://", text)  # of another machine
    if is_address or not text:
        return text
    if (folder / text).exists():
        return str(folder / text)
    if match := re.fullmatch(r"(.+)@(.+)", text, re.DOTALL):  # a table of a file
        return f"{match[1]}@{folder / match[2]}"
    if glob.has_magic(text):  # marks of a pattern in the name of the folder are none
        return str(Path(glob.escape(str(folder))) / text)
    return str(folder / text)


def _matches(file: Path, pattern: str) -> bool:
    """Return whether a file that is not there yet would match a glob, folder by folder."""
    parts, pattern_parts = file.parts, Path(pattern).absolute().parts
    if "**" in pattern_parts:  # in one text a star also stands for folders, and for rather more
        return matches(str(file), str(Path(*pattern_parts)).replace("**/", "*"))
    pairs = zip(parts, pattern_parts, strict=False)
    return len(parts) == len(pattern_parts) and all(matches(part, want) for part, want in pairs)


def _together(sources: Sequence[Source]) -> Source:
    """Return the collection of several sources, with the roles of the focal one.

    If every source has a key, the collection keeps these keys.
    """
    focal = sources[0]
    if len(sources) == 1:
        return focal
    datasets = tuple(d for s in sources for d in s.datasets)
    roles = {name: value for name, value in focal.roles.items() if name != "key"}
    keys = tuple(key for s in sources for key in s.roles.get("key", ()))  # one per dataset, or none
    if len(keys) == len(datasets):
        roles["key"] = keys
    return Source(datasets, roles, focal.places)
