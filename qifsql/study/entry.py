"""One entry of a study, such as an attack, with all its names looked up."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from qifsql.data.dataset import Dataset
from qifsql.data.toml_lines import Route

VAGUE_OPTIONS = ("model", "dataset")  # words that many messages about other options contain
Kind = Literal["attack", "sweep", "tables", "synthetic", "suda", "check"]


@dataclass(frozen=True)
class Entry:
    """One entry, such as an attack or a sweep: its name, datasets, and arguments in Python.

    ``options`` are arguments of the function that ``kind`` names, except ``rule``: the rules of a
    check without a policy. ``files`` are the further files that the options name. ``written`` has
    the original text of gain functions, link rules and published tables with a file. ``place`` and
    ``places`` are the positions of the entry and its options in the study.
    """

    kind: Kind
    name: str
    datasets: tuple[Dataset, ...]
    models: tuple[str, ...]
    options: Mapping[str, Any]
    place: Route
    places: Mapping[str, Route]
    files: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> Dataset | list[Dataset]:
        """Return the dataset, or the list of those of a collection."""
        return self.datasets[0] if len(self.datasets) == 1 else list(self.datasets)

    @property
    def compared(self) -> tuple[Dataset, ...]:
        """Return the synthetic releases of an original and its control; empty without any."""
        if self.kind != "synthetic":
            return ()
        control = self.options.get("control")
        return (*self.options["releases"], *([] if control is None else [control]))

    @property
    def titles(self) -> list[str]:
        """Return the names of the datasets, or those of published tables without records."""
        named = [dataset.name for dataset in (*self.datasets, *self.compared)]
        return named or [Path(path).name for path in self.files]

    @property
    def paths(self) -> tuple[str, ...]:
        """Return all files that the entry reads, each once."""
        data_paths = [path for dataset in self.datasets for path in dataset.paths]
        return tuple(dict.fromkeys([*data_paths, *self.files]))

    def as_written(self, text: str) -> str:
        """Return a text with the files of gains, rules and tables as the study names them."""
        for moved, original in self.written.items():
            text = text.replace(moved, original)
        return text

    def place_of_message(self, message: str) -> Route:
        """Return the position of the name or option that an error message is about.

        A name in quotes comes first, then an option, then the entry.
        """
        texts = list(self._texts())
        for name in re.findall(r'"([^"]+)"', message):
            places = [place for text, place in texts if text == name]
            places += [place for text, place in texts if text.startswith(f"{name}=")]
            places += [place for text, place in texts if name in text]
            if places:  # the closest match comes first
                return places[0]
        for option, place in sorted(self.places.items(), key=lambda item: item[0] in VAGUE_OPTIONS):
            if re.search(rf"(?<![\w.]){option.rstrip('s')}s?(?![\w.])", message):
                return place
        return self.place

    def _texts(self) -> Iterator[tuple[str, Route]]:
        """Yield the texts of all options, each with its position in the study."""
        for option, place in self.places.items():
            setting = self.options.get(option, ())
            if isinstance(setting, str):
                yield setting, place
            elif isinstance(setting, Mapping):
                yield from ((name, (*place, name)) for name in setting)
            for i, item in enumerate(setting if isinstance(setting, tuple) else ()):
                if isinstance(item, Mapping):
                    yield from ((str(value), (*place, i, name)) for name, value in item.items())
                else:
                    yield str(item), (*place, i)
