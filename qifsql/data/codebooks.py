"""Columns of well-known files: surveys and registers whose codes no word explains.

The names of their columns are in ``codebooks/``. A file is known by several columns together, so
that codes such as ``v024`` are read as those of a survey only in that survey.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import NamedTuple

LEAST = 3  # columns of a signature by which a file is known
SIGNATURE = "signature"


class Subject(NamedTuple):
    """The columns of a topic in a codebook: whole names, and what they and patterns match."""

    names: frozenset[str]
    pattern: re.Pattern[str]


def topics_of_known(columns: Sequence[str]) -> Mapping[str, str]:
    """Return the topics of columns of well-known files, by name.

    >>> topics_of_known(["v005", "v012", "v024", "v025", "v190"])["v190"]
    'money'
    >>> topics_of_known(["v005", "v190"])
    {}
    """
    names = {name: re.sub(r"[^a-z0-9]+", "_", name.lower()) or name for name in columns}
    different = {*names.values()}
    topics: dict[str, str] = {}
    for book in _codebooks().values():
        if sum(map(bool, map(book[SIGNATURE].pattern.fullmatch, different))) >= LEAST:
            subjects = {column: _topic(name, book) for column, name in names.items()}
            topics |= {column: topic for column, topic in subjects.items() if topic}
    return topics


def _topic(name: str, book: Mapping[str, Subject]) -> str:
    """Return the topic of a column; empty if it has none."""
    topics = [topic for topic in book if topic != SIGNATURE]
    exact = [topic for topic in topics if name in book[topic].names]
    alike = (topic for topic in topics if book[topic].pattern.fullmatch(name))
    return exact[0] if exact else next(alike, "")


@cache
def _codebooks() -> Mapping[str, Mapping[str, Subject]]:
    """Return the subjects of each codebook, by topic; its signature is one of them."""
    texts = [path.read_text("utf-8") for path in (Path(__file__).parent / "codebooks").glob("*")]
    tables = {name: table for text in texts for name, table in tomllib.loads(text).items()}
    return {
        name: {topic: _subject(words.split()) for topic, words in table.items()}
        for name, table in tables.items()
    }


def _subject(words: Sequence[str]) -> Subject:
    return Subject(frozenset(words), re.compile("|".join(map(translate, words))))
