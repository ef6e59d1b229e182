"""A command line being drafted: its chance, its tables and the files it may name."""

import csv
import hashlib
import io
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from campaign import tables
from campaign.tables import Table

Check = Callable[[str], list[str]]  # what is wrong with the numbers of this stdout


@dataclass
class Step:
    """One command line. ``wrong`` says why it must be refused; ``check`` looks at its numbers."""

    argv: list[str]
    wrong: str = ""
    stdin: str = ""
    check: Check | None = None


@dataclass
class Draft:
    """The source of draws for a recipe, and the writer of its files in the working folder.

    ``beside`` is a folder of files that are no inputs and may never be read.
    """

    rng: random.Random
    beside: str = "../beside"
    steps: list[Step] = field(default_factory=list)
    hostile: float = 0.25
    rows: int | None = None
    number: int = 0

    @cached_property
    def data(self) -> Table:
        """The table of the line."""
        return tables.table(self.rng, rows=self.rows, hostile=self.hostile)

    @cached_property
    def file(self) -> str:
        """The file of the table."""
        return self.write(self.data)

    @cached_property
    def other(self) -> Table:
        """A later release of about the same people."""
        return tables.later(self.rng, self.data)

    @cached_property
    def other_file(self) -> str:
        """The file of the later release."""
        if self.chance(0.1):
            return self.write(self.other)
        csv = (".csv", ".tsv", ".csv.gz", ".csv.zst")
        same = self.is_csv
        return self.write(self.other, *(e for e in tables.ENDINGS if (e in csv) is same))

    @property
    def is_csv(self) -> bool:
        """Return whether the file of the table is CSV."""
        return bool(re.search(r"\.[ct]sv(\.|$)", self.file))

    def write(self, data: Table, *endings: str) -> str:
        """Write a table under a new name."""
        known = {e: w for e, w in tables.ENDINGS.items() if not endings or e in endings}
        ending = self.rng.choices(list(known), list(known.values()))[0]
        return tables.write(data, self.new(), ending)

    def new(self, stem: str = "") -> str:
        """A name of a file that is not there yet."""
        self.number += 1
        if not stem:
            odd = self.rng.random() < self.hostile / 4
            stem = self.rng.choice(ODD_FILES) if odd else self.rng.choice(("people", "release"))
        return f"{stem}{self.number}"

    def text(self, name: str, content: str | bytes) -> str:
        """Write a file; its name."""
        path = Path(name)
        path.write_bytes(content if isinstance(content, bytes) else _bytes(content))
        return name

    def one(self, *choices: Any) -> Any:
        """One of these."""
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        """Return whether something happens that has this probability."""
        return self.rng.random() < p

    def qids(self, least: int = 1, most: int = 4) -> list[str]:
        """Some quasi-identifiers."""
        names = list(self.data.qids)
        n = self.rng.randint(min(least, len(names)), min(most, len(names)))
        return self.rng.sample(names, n)

    def secret(self) -> str:
        """A secret."""
        return str(self.rng.choice(list(self.data.secrets)))

    def numeric(self, names: Sequence[str] = ()) -> str | None:
        """A column of numbers, if there is one."""
        found = [n for n in names or self.data.columns if self.data.kinds[n] in NUMERIC]
        return self.rng.choice(found) if found else None

    def known(self, names: Sequence[str]) -> list[str]:
        """``--qids``, in one of the ways to write them."""
        flag = self.one("-q", "--qids")
        if self.chance(0.3):
            return [word for name in names for word in (flag, row([name]))]
        return [flag, row(names)]

    def wants(self, *secrets: str) -> list[str]:
        """``--secret``."""
        flag = self.one("-s", "--secret")
        return [word for name in secrets for word in (flag, row([name]))]

    def roles(self, *, secret: float = 0.7) -> list[str]:
        """Quasi-identifiers, and with this probability a secret."""
        return self.known(self.qids()) + (self.wants(self.secret()) if self.chance(secret) else [])

    def target(self, names: Sequence[str]) -> list[str]:
        """Return what is known of one of the people."""
        person = self.rng.choice(list(self.data.rows))
        words = []
        for name in names:
            value = person[name]
            words += ["--target", f"{name} is null" if value is None else f"{name}={value}"]
        return words

    def hierarchy(self, name: str) -> str:
        """A file of the hierarchy of a column, as ARX writes them."""
        values = [str(v) for v in self.data.values(name)] or ["x"]
        out = io.StringIO()
        writer = csv.writer(out, delimiter=";", lineterminator="\n")
        writer.writerows([v, f"part {i % 2}", "*"] for i, v in enumerate(values))
        return self.text(self.new("levels") + ".csv", out.getvalue())

    def listing(self, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
        """A CSV file of these rows."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(["" if v is None else v for v in r] for r in rows)
        return self.text(self.new("listing") + ".csv", out.getvalue())

    def hashed(self, algorithm: str) -> tuple[str, list[str]]:
        """A file with a column of hashes, ``medallion``, and what was hashed."""
        plain = [f"{self.rng.randint(0, 99):02d}{self.one('A', 'B')}" for _ in range(12)]
        digests = [hashlib.new(algorithm, text.encode()).hexdigest() for text in plain]
        return self.listing(["medallion", "n"], list(zip(digests, range(12), strict=True))), plain


NUMERIC = ("whole", "code", "real", "money")
ODD_FILES = (
    *("two words", "na\u00efve", "a=b", "x@y", "-dash", "semi;colon", "per%cent", "quo'te"),
    *('dou"ble', "esc\x1b[31m", "line\nbreak", "\U0001f642", "star[1]", "{brace}", "b\udcff"),
    "n" * 180,
)


def row(names: Sequence[str]) -> str:
    """Names as one CSV row."""
    return ",".join(
        '"' + name.replace('"', '""') + '"'
        if any(c in name for c in ',"\n\r') or not name
        else name
        for name in names
    )


def identifier(name: str) -> str:
    """A column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A value in SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return "'" + str(value).replace("'", "''") + "'"


def toml(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    text = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else {'"': '\\"', "\\": "\\\\"}.get(c, c)
        for c in str(value)
    )
    return f'"{text}"'


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
