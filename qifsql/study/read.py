"""The reader of a study: its tables by their forms, and all errors by line."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from qifsql.data.option import Form
from qifsql.data.toml_lines import Route, Step, parse
from qifsql.errors import InputError, did_you_mean, plural, quoted
from qifsql.study.forms import Forms

MOST_ERRORS = 20  # that are told


class Reader:
    """The data of a study, the lines of its parts, and the errors found so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.parent
        self.data, self.lines = parse(path)
        self._wrongs: dict[str, int] = {}

    def wrong(self, message: str, *place: Step) -> None:
        """Note an error at a place."""
        line = str(self.lines.wrong(on_one_line(message), *place))
        self._wrongs.setdefault(line, self.lines.of(*place))

    def finish(self) -> None:
        """Raise InputError if there were errors: a line for each of the first ones in the file."""
        if self._wrongs:
            lines = sorted(self._wrongs, key=self._wrongs.__getitem__)
            if (more := len(lines) - MOST_ERRORS) > 0:
                lines = [*lines[:MOST_ERRORS], f"and {plural(more, 'more error')}"]
            raise InputError("\n".join(lines))

    def tables(self, name: str) -> dict[str, Any]:
        """Return the entries of a table of names, such as ``[datasets]``; refuse empty names."""
        content = self.data.get(name, {})
        if not isinstance(content, dict):
            self.wrong(f"{name} is a table; write [{name}.NAME]", name)
            return {}
        if "" in content:
            self.wrong(f"a name of {name} is empty; name it", name, "")
        return {key: value for key, value in content.items() if key}

    def listed(self, name: str) -> list[tuple[Route, Any]]:
        """Return the tables that are written ``[[name]]``, each with its place."""
        content = self.data.get(name, [])
        if not isinstance(content, list):
            self.wrong(f"there may be several of {name}; write [[{name}]]", name)
            return []
        return [((name, i), table) for i, table in enumerate(content)]

    def table(
        self, content: Any, forms: Forms, *place: Step, required: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Return the values of a table by key; note and leave out keys that do not fit.

        None if ``content`` is not a table. Errors are noted at ``place``: keys and numbers from 0.
        """
        if not isinstance(content, dict):
            self.wrong(f"{_named(place)} is a table, not a value", *place)
            return None
        self.check_names(content, forms, *place)
        for name in required:
            if name not in content:
                self.wrong(f"{_named(place)} has no {name}; write {name} = ...", *place)
        present = [name for name in forms if name in content]
        read = {name: self.value(content[name], forms[name], *place, name) for name in present}
        return {name: value for name, value in read.items() if value is not None}

    def check_names(self, content: Mapping[str, Any], names: Collection[str], *place: Step) -> None:
        """Note the keys that do not exist in a table."""
        for name in content:
            if name not in names:
                hint = did_you_mean(name, names).replace("it has", "there are")
                self.wrong(f"there is no {quoted(name)} here{hint}", *place, name)

    def value(self, content: Any, form: Form, *place: Step) -> Any:
        """Return the value of a key; None, with an error noted, if it does not fit."""
        value = form.read(content)
        if value is None:
            found_text = f", not {quoted(content)}" if isinstance(content, str) else ""
            self.wrong(f"{place[-1]} is {form.says}{found_text}", *place)
        return value


def on_one_line(message: str) -> str:
    """Return a message without line ends and control characters in names."""
    return quoted(message)[1:-1]


def _named(place: Route) -> str:
    """Return the name of a table for messages: ``attack 2``, ``datasets.census``."""
    if isinstance(place[-1], int):
        return f"{place[-2]} {place[-1] + 1}"
    return ".".join(map(str, place))
