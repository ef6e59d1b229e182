"""TOML files with line numbers for messages: the data from ``tomllib``, and the line of each part.

``parse`` returns the data and the lines of its parts. The path to a part is the same in both:
``data["rule"][2]["measure"]`` is on line ``lines.of("rule", 2, "measure")``.
"""

import re
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from qifsql.data.files import check_file, path_text
from qifsql.errors import InputError, quoted

Step: TypeAlias = str | int
Route: TypeAlias = tuple[Step, ...]

TOKEN = re.compile(
    r'''
    (?P<text>
        """ (?: \\. | [^\\] )*? "{3,5}
        | \'\'\' .*? '{3,5}
        | " (?: \\. | [^"\\] )* "
        | ' [^']* '
    )
    | (?P<comment> \#[^\n]* )
    | (?P<newline> \n )
    | (?P<mark> [][{}=,] )
    | (?P<space> [ \t]+ )
    | (?P<bare> [^][{}=,\s\#"']+ )
    ''',
    re.VERBOSE | re.DOTALL,
)


class LineError(InputError):
    """An error in a part of the data; ``route`` is the path to the part."""

    route: Route = ()


@dataclass(frozen=True)
class Lines:
    """Line numbers of the parts of a TOML file, from 1.

    Without a file, errors name no line; code that catches an error can look up its route.
    """

    file: str
    numbers: Mapping[Route, int] = field(default_factory=dict)

    def of(self, *path: Step) -> int:
        """Return the line of a key, a table or an entry of a list, by its path in the data.

        Entries of lists are counted from 0, as in the data. If there is no such part, the result is
        the line of the nearest part around it, or else 1.
        """
        while path and path not in self.numbers:
            path = path[:-1]
        return self.numbers.get(path, 1)

    def wrong(self, message: str, *path: Step) -> LineError:
        """Return an error with a message about the part at ``path``."""
        place = f"{self.file}, line {self.of(*path)}: " if self.file else ""
        error = LineError(f"{place}{message}")
        error.route = path
        return error


def parse(path: str | Path) -> tuple[dict[str, Any], Lines]:
    """Return the data of a TOML file, and the lines of its parts.

    Raises InputError, with the file and the line, if the file is missing or is not TOML.
    """
    name = path_text(path)
    text = _read(Path(name))
    try:
        return tomllib.loads(text), Lines(name, _PartLines(text).numbers)
    except RecursionError as e:
        raise InputError(f"{name} is nested too deeply") from e
    except ValueError as e:  # a TOMLDecodeError, or a number with thousands of digits
        line, complaint = _line_and_complaint(str(e), text)
        raise InputError(f"{name}, line {line}: this is no TOML: {complaint}") from e


def _read(path: Path) -> str:
    """Return the text of the file, without a byte order mark and with LF between lines."""
    check_file(path)
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as e:  # a ValueError: a NUL in the name
        why = getattr(e, "strerror", None) or "there is no such file"
        raise InputError(f"{quoted(str(path))} cannot be read: {why}; check the name") from e
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        line = content[: e.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: this is not UTF-8; save the file as UTF-8") from e


def _line_and_complaint(message: str, text: str) -> tuple[int, str]:
    """Return the line in a message of ``tomllib``, and the message without its place."""
    match = re.fullmatch(r"(.*?) \(at (?:line (\d+), column \d+|end of document)\)", message, re.S)
    if not match:
        return 1, message.split(";", maxsplit=1)[0]
    end = text.rstrip().count("\n") + 1
    complaint = " ".join(match[1].split())
    return int(match[2] or end), complaint[:1].lower() + complaint[1:]


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of a valid TOML file, without blanks and comments."""
    line = 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind not in ("space", "comment"):
            yield _Token(kind, match[0], line)
        line += match[0].count("\n")


class _PartLines:
    """The lines of all parts of a valid file, found in one pass over its tokens."""

    def __init__(self, text: str) -> None:
        """Read all tokens of ``text``, table by table, and record where each part begins."""
        self.numbers: dict[Route, int] = {}
        self.lists: dict[Route, int] = {}  # of tables: the number of the last table so far
        self.tokens = deque(_tokens(text))
        table: Route = ()
        while self.tokens:
            if self._skip("newline"):
                continue
            if self.tokens[0].text == "[":
                table = self._read_header()
            else:
                self._read_pair(table)

    def _skip(self, kind: str) -> bool:
        """Consume the next token if its kind or text is ``kind``; return whether it was."""
        is_next = bool(self.tokens) and kind in (self.tokens[0].kind, self.tokens[0].text)
        if is_next:
            self.tokens.popleft()
        return is_next

    def _read_header(self) -> Route:
        """Consume ``[a.b]`` or ``[[a.b]]``; return the path of the table that begins."""
        line = self.tokens.popleft().line
        is_of_list = self._skip("[")  # [[a.b]]: one more table of a list
        *around, last = self._read_names("]")
        while self._skip("]"):
            pass
        table = self._route_to((), around, line)
        if is_of_list:
            tables = (*table, last)
            self.numbers.setdefault(tables, line)
            self.lists[tables] = self.lists.get(tables, -1) + 1  # counted from 0
            table = (*tables, self.lists[tables])
        else:
            table = self._route_to(table, [last], line)
        self.numbers[table] = line
        return table

    def _read_pair(self, table: Route) -> None:
        """Consume ``a.b = value`` of a table, and record its line."""
        line = self.tokens[0].line
        *around, last = self._read_names("=")
        self.tokens.popleft()
        route = (*self._route_to(table, around, line), last)
        self.numbers[route] = line
        self._read_value(route)

    def _read_names(self, end: str) -> list[str]:
        """Consume a dotted key up to the mark ``end``; return its names without quotes."""
        written = []
        while self.tokens[0].text != end:
            written.append(self.tokens.popleft().text)
        names = []
        # tomllib reads a.b=0 as {a: {b: 0}}, with quotes and escapes resolved
        inner: Any = tomllib.loads("".join(written) + "=0")
        while isinstance(inner, dict):
            ((name, inner),) = inner.items()
            names.append(name)
        return names

    def _route_to(self, table: Route, names: list[str], line: int) -> Route:
        """Return the path to an inner table, by its names; of a list of tables, to the last."""
        for name in names:
            table += (name,)
            self.numbers.setdefault(table, line)
            if table in self.lists:
                table += (self.lists[table],)
        return table

    def _read_value(self, route: Route) -> None:
        """Consume the value at the path ``route``, and record the lines of the parts in it."""
        if self._skip("["):
            n = 0
            while not self._skip("]"):
                if not (self._skip("newline") or self._skip(",")):
                    self.numbers[*route, n] = self.tokens[0].line
                    self._read_value((*route, n))
                    n += 1
        elif self._skip("{"):
            while not self._skip("}"):
                if not (self._skip("newline") or self._skip(",")):
                    self._read_pair(route)
        else:  # a date and its time are two tokens
            while self.tokens and self.tokens[0].kind in ("bare", "text"):
                self.tokens.popleft()
