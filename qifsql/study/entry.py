"""One attack, sweep or check of a study, with all that it names looked up."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from qifsql.data.dataset import Dataset
from qifsql.data.toml_lines import Route

LAST = ("model", "dataset")  # words of many messages that are about something else
Kind = Literal["attack", "sweep", "check"]


@dataclass(frozen=True)
class Entry:
    """One attack, sweep or check: its name, what it is of, and how it is asked for in Python.

    ``options`` are arguments of the function that ``kind`` names, but ``rule``, the rules of a
    check where no policy is named; ``files`` are the further files that they name. ``written``
    says how gain functions and link rules with a file stand in the study. ``place`` and ``places``
    are where the entry and its options are written.
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
        """Return the dataset, or those of a collection, as attacks and sweeps take them."""
        return self.datasets[0] if len(self.datasets) == 1 else list(self.datasets)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return all files that are read, each once."""
        data_paths = [path for dataset in self.datasets for path in dataset.paths]
        return tuple(dict.fromkeys([*data_paths, *self.files]))

    def as_written(self, text: str) -> str:
        """Return a text with the files of gains and link rules as they stand in the study."""
        for moved, original in self.written.items():
            text = text.replace(moved, original)
        return text

    def meant(self, message: str) -> Route:
        """Return where that is written which an error is about.

        A name it quotes, else an option.
        """
        texts = list(self._texts())
        for name in re.findall(r'"([^"]+)"', message):
            same = [place for text, place in texts if text == name]
            same += [place for text, place in texts if text.startswith(f"{name}=")]
            same += [place for text, place in texts if name in text]
            if same:
                return same[0]
        for option, place in sorted(self.places.items(), key=lambda item: item[0] in LAST):
            if re.search(rf"(?<![\w.]){option.rstrip('s')}s?(?![\w.])", message):
                return place
        return self.place

    def _texts(self) -> Iterator[tuple[str, Route]]:
        for option, place in self.places.items():
            setting = self.options.get(option, ())
            if isinstance(setting, str):
                yield setting, place
            elif isinstance(setting, Mapping):
                yield from ((name, (*place, name)) for name in setting)
            for i, one in enumerate(setting if isinstance(setting, tuple) else ()):
                if isinstance(one, Mapping):
                    yield from ((str(value), (*place, i, name)) for name, value in one.items())
                else:
                    yield str(one), (*place, i)
