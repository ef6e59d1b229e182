"""Columns of well-known files: surveys and registers whose codes no word explains.

The names of their columns are in ``codebooks/``. A file is known by several columns together, so
that codes such as ``v024`` are read as those of a survey only in that survey.
"""

import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

LEAST = 3  # columns of a signature by which a file is known
Patterns = Mapping[str, Sequence[str]]
"""Names and patterns of columns by topic, ``signature`` among the topics."""


def topics_of_known(columns: Sequence[str]) -> Mapping[str, str]:
    """Return the topics of columns of well-known files, by name.

    >>> topics_of_known(["v005", "v012", "v024", "v025", "v190"])["v190"]
    'money'
    >>> topics_of_known(["v005", "v190"])
    {}
    """
    names = {name: name.lower().replace("-", "_") for name in columns}
    topics: dict[str, str] = {}
    for patterns in _codebooks().values():
        if len({*patterns["signature"]}.intersection(names.values())) >= LEAST:
            subjects = {column: _topic(name, patterns) for column, name in names.items()}
            topics |= {column: topic for column, topic in subjects.items() if topic}
    return topics


def _topic(name: str, patterns: Patterns) -> str:
    """Return the topic of a column; empty if it has none."""
    topics = [topic for topic in patterns if topic != "signature"]
    exact = [topic for topic in topics if name in patterns[topic]]
    alike = (t for t in topics if any(fnmatchcase(name, pattern) for pattern in patterns[t]))
    return exact[0] if exact else next(alike, "")


@cache
def _codebooks() -> Mapping[str, Patterns]:
    texts = [path.read_text("utf-8") for path in (Path(__file__).parent / "codebooks").glob("*")]
    tables = {name: table for text in texts for name, table in tomllib.loads(text).items()}
    return {
        name: {topic: words.split() for topic, words in table.items()}
        for name, table in tables.items()
    }
