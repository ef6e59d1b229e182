"""Changes of one word of a template of ``sql/``: it has a tree only when it is written."""

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qifsql.errors import InternalError
from qifsql.query import shapes

CHANGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # kind, pattern of a word, other words
    ("comparison", r"(?<=\s)<(?=\s)", ("<=", ">")),
    ("comparison", r"(?<=\s)<=(?=\s)", ("<", ">=")),
    ("comparison", r"(?<=\s)>(?=\s)", (">=", "<")),
    ("comparison", r"(?<=\s)>=(?=\s)", (">", "<=")),
    ("comparison", r"(?<=\s)=(?=\s)", ("<>",)),
    ("arithmetic", r"(?<=\s)\+(?=\s)", ("-",)),
    ("arithmetic", r"(?<=\s)-(?=\s)", ("+",)),
    ("arithmetic", r"(?<=\s)[*/](?=\s)", ("+",)),
    ("aggregate", r"\bsum(?=\()", ("max",)),
    ("aggregate", r"\bmax(?=\()", ("min",)),
    ("aggregate", r"\bmin(?=\()", ("max",)),
    ("aggregate", r"\bgreatest(?=\()", ("least",)),
    ("aggregate", r"\bleast(?=\()", ("greatest",)),
    ("join kind", r"\bLEFT JOIN\b", ("INNER JOIN",)),
    ("join kind", r"\bINNER JOIN\b", ("LEFT JOIN",)),
    ("join kind", r"\bANTI JOIN\b", ("SEMI JOIN",)),
    ("dropped filter", r"\b(?:WHERE|HAVING)\b", ("WHERE TRUE OR", "HAVING TRUE OR")),
    ("dropped key", r"\bSELECT DISTINCT\b", ("SELECT",)),
    ("dropped key", r"\bUNION\b(?! ALL)", ("UNION ALL",)),
    ("connective", r"(?<=\s)AND(?=\s)", ("OR",)),
    ("dropped sign", r"\bNOT ", ("",)),
)
NUMBER = re.compile(r"(?<![\w#.\"])\d+(?![\w.])")


def changes(part: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield every change of one word of a template: kind, before, after, the changed text.

    All shapes that are its examples are still SQL, and one of them is another tree.
    """
    start = max(m.end() for m in shapes.EXAMPLES.finditer(part))
    before = _trees(part)
    known = [before]
    for kind, at, end, word in _words(part, start):
        changed = f"{part[:at]}{word}{part[end:]}"
        after = _trees(changed)
        if after is not None and after not in known:
            known.append(after)
            yield kind, part[at:end], word, changed


def _words(part: str, start: int) -> Iterator[tuple[str, int, int, str]]:
    for kind, pattern, others in CHANGES:
        for found in re.finditer(pattern, part):
            if found.start() >= start:
                yield from ((kind, found.start(), found.end(), other) for other in others)
    for found in NUMBER.finditer(part, start):
        for value in {int(found[0]) + 1, max(int(found[0]) - 1, 0)} - {int(found[0])}:
            yield "off by one", found.start(), found.end(), str(value)


def _trees(part: str) -> list[exp.Expression] | None:
    """Return the trees of a template in the shapes that are its examples; None: it is no SQL."""
    try:
        texts = [shapes.in_shape(part, shape) for shape in shapes.examples(part)]
        return [sqlglot.parse_one(text, read="duckdb") for text in texts]
    except (InternalError, SqlglotError, TypeError, ValueError):
        return None
