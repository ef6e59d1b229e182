"""Command lines on tables that are changed: drawn by the campaign's recipes, as all lines are.

The draws do not depend on the change, so a line and its changed form ask the same question.
"""

import json
import random
import shutil
from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from campaign import tables, tree
from campaign.draft import Draft
from campaign.recipes import RECIPES
from campaign.tables import Table
from terminal import run

Tables = Callable[[Table], Table]
VOLATILE = frozenset(
    ("seconds", "seconds_estimated", "release", "releases", "file", "path", "dataset", "original")
)
"""Columns that hold times and names of files."""


def unchanged(table: Table) -> Table:
    """Return the table as it is."""
    return table


@dataclass(frozen=True)
class Change:
    """A change of the tables of a line, of their files, and of the words of the line.

    ``roles`` changes a table before anything is drawn from it: its names, its values. ``content``
    changes what is written of it: rows and columns that the line does not name.
    """

    roles: Tables = unchanged
    content: Tables = unchanged
    ending: str = ""
    parts: int = 1
    words: Sequence[str] = ()
    where: str = ""
    replaced: bool = False  # the words stand in place of the quasi-identifiers of the line


@dataclass
class ChangedDraft(Draft):
    """A draft whose tables are given, and are changed when they are written."""

    change: Change = field(default_factory=Change)

    def write(self, data: Table, *endings: str) -> str:
        """Write a changed table, with the draws of the unchanged one."""
        known = {e: w for e, w in tables.ENDINGS.items() if not endings or e in endings}
        ending = self.rng.choices(list(known), list(known.values()))[0]
        name = self.new()
        content = self.change.content(data)
        if self.change.parts > 1:
            return parts(content, name, self.change.parts)
        return tables.write(content, name, self.change.ending or ending)


def parts(data: Table, name: str, number: int) -> str:
    """Write a table as a folder of Parquet files, some of which may be empty."""
    Path(name).mkdir()
    whole = tables.arrow(data)
    size = -(-len(whole) // number)
    for i in range(number):
        pq.write_table(whole.slice(i * size, size), f"{name}/part-{i}.parquet")
    return name


@dataclass(frozen=True)
class Asked:
    """A line as it was run: its words, its table, its answer (none if it was refused)."""

    argv: Sequence[str]
    data: Table
    code: int
    err: str
    answer: Any


def asked(folder: Path, seed: str, command: str, change: Change, rows: int | None = None) -> Asked:
    """Draw a line of a command and run it in a new folder."""
    folder.mkdir(parents=True)
    with chdir(folder):
        data = tables.table(random.Random(f"{seed} data"), rows=rows, hostile=0)
        later = tables.later(random.Random(f"{seed} later"), data)
        draft = ChangedDraft(random.Random(f"{seed} line"), hostile=0, change=change)
        draft.__dict__ |= {"data": change.roles(data), "other": change.roles(later)}
        argv = RECIPES[command](draft)
        steps = [step.argv for step in draft.steps] + ([argv] if argv else [])
        code, out, err, words = 0, "", "", []
        for words in steps:
            kept = _without_qids(words) if change.replaced else words
            last = [*kept, *_formatted(words), *_accepted(words, change)]
            code, out, err = run(*last)
        answer = cleaned(json.loads(out)) if code in (0, 4) and out.startswith("{") else None
    shutil.rmtree(folder)
    return Asked(last, draft.data, code, err, answer)


def _without_qids(argv: Sequence[str]) -> list[str]:
    """Return a line without its quasi-identifiers."""
    names = ("-q", "--qids")
    return [
        word
        for i, word in enumerate(argv)
        if word not in names and not (i and argv[i - 1] in names)
    ]


def _formatted(argv: Sequence[str]) -> Sequence[str]:
    has = tree.option(argv[0], "--format") is not None and "--format" not in argv
    return ["--format", "json"] if has else []


def _accepted(argv: Sequence[str], change: Change) -> Sequence[str]:
    """Return the added words, if the command has their options."""
    words = [*change.words, *(["--where", change.where] if change.where else [])]
    options = [word for word in words if word.startswith("--")]
    return words if all(tree.option(argv[0], word) for word in options) else ()


def cleaned(value: Any) -> Any:
    """Return an answer without the question, times and names of files."""
    if isinstance(value, dict):
        left = {k: cleaned(v) for k, v in value.items() if k not in VOLATILE}
        return {k: v for k, v in left.items() if k not in ("spec", "qifsql")}
    return [cleaned(part) for part in value] if isinstance(value, list) else value
