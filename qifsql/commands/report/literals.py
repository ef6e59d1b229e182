"""Replace the literals of SQL and of options by their kind: ``age > <number>``.

A literal may be the value of a cell. Literals are found by the tokens of SQL that can be parsed.
Text that cannot be parsed must not be shown, so functions return None for it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from qifsql.adversary import changes as adversary_changes
from qifsql.adversary.laws import laws
from qifsql.adversary.spec import Attribute
from qifsql.data.option import names, split_name
from qifsql.errors import InputError
from qifsql.presentation.language import said

DIALECT = "duckdb"
BOOLEANS = (TokenType.TRUE, TokenType.FALSE)
PROTECTED = re.compile(
    r"(.*?)((?:\s*:\s*(?:exact|\w+\s*[<:]\s*\d+(?:\s+(?:zeros|random))?))?(?: \(\d+\))?)", re.S
)
"""A published table: its dimensions, and its protection and number."""
REMEDY = re.compile(
    r"(leave out |hide counts below \d+ in |round to \d+ in |make .+? coarser: )(.*)", re.S
)
"""A remedy of published tables: its words, and the table or the coarser dimension."""


def expression(text: str) -> str | None:
    """Return one SQL expression with the kind of each literal; None if it cannot be parsed."""
    tokens = _tokens(text)
    trees = _parsed(text) or []
    if tokens is None or len(trees) != 1 or trees[0].find(exp.Alias, exp.Query):
        return None
    return _masked(tokens, text, {}, comments=False)


def script(text: str, files: Mapping[str, str]) -> str | None:
    """Return statements with the kind of each literal; None if one cannot be parsed.

    ``files`` maps paths of files to names. Comments before a statement describe its steps and are
    kept; those within it are removed.
    """
    tokens = _tokens(text)
    if tokens is None or _parsed(text) is None:
        return None
    return _masked(tokens, text, files, comments=True)


def named(text: str) -> str | None:
    """Return the name of a column, or ``name=expression`` with the kinds of its literals."""
    parts = split_name(text)
    return text if parts is None else _prefixed(f"{parts[0]}=", expression(parts[1]))


def dimensions(text: str) -> tuple[str, ...]:
    """Return the dimensions of a published table, ``school,sex:suppress<5``."""
    match = PROTECTED.fullmatch(text)
    return names([match[1] if match else text])


def table(text: str) -> str | None:
    """Return a published table with the kinds of literals in its dimensions."""
    match = PROTECTED.fullmatch(text)
    names = [named(name) for name in dimensions(text)]
    if match is None or None in names:
        return None
    return ",".join(map(str, names)) + match[2]


def remedy(text: str) -> str | None:
    """Return a remedy of published tables with the kinds of literals in its dimensions."""
    match = REMEDY.fullmatch(text)
    return None if match is None else _prefixed(match[1], table(match[2]))


def datatype(text: str) -> str | None:
    """Return a type without the values that it lists: ``ENUM(<text>, <text>)``."""
    tokens = _tokens(text)
    if tokens is None:
        return None
    lists_values = any("STRING" in token.token_type.name for token in tokens)
    return _masked(tokens, text, {}, comments=False) if lists_values else text


def gain(text: str) -> str | None:
    """Return a gain function with the kinds of its literals, or the name of its file."""
    kind, colon, rest = text.partition(":")
    if kind.strip().casefold() == "sql":
        return _prefixed(kind + colon, expression(rest))
    return f"{kind}{colon}{Path(rest).name}"


def rule(text: str) -> str:
    """Return the rule that links a column, ``age:+1``, with its file's name and no folder."""
    column, law, file = text.rpartition(":table=")
    return column + law + Path(file.strip('"')).name if law else text


def knowledge(text: str) -> str | None:
    """Return laws of noisy knowledge, ``age:+-2; job:table=FILE``, with files but no folders."""
    try:
        named = laws(text)
    except InputError:
        return text if text == "exact" else None
    return "; ".join(replace(law, table=Path(law.table).name).plain() for law in named)


def change(text: str, qids: Sequence[str]) -> str | None:
    """Return a change with the kinds of its literals, ``top(age)=<number>``; None: not readable."""
    columns = [Attribute(name, exp.column(name), "") for name in qids]
    try:
        release_change = adversary_changes.read(text, columns)
    except InputError:
        return None
    qid = qids[release_change.qid - 1] if release_change.qid else ""  # 0: a sample
    if release_change.kind in ("top", "bottom"):
        return f"{release_change.kind}({qid})={kind(release_change.how)}"
    if release_change.kind == "expression":
        return _prefixed(f"{qid}=", expression(release_change.how))
    return text  # the others have no values of cells


def kind(text: str) -> str:
    """Return the kind of a value: ``<number>``, ``<date>`` or ``<text>``."""
    tried: tuple[tuple[Callable[[str], object], str], ...] = (
        (Decimal, said("<number>")),
        (date.fromisoformat, said("<date>")),
        (datetime.fromisoformat, said("<date>")),
    )
    for read, name in tried:
        try:
            read(text)
        except (ValueError, InvalidOperation):
            continue
        return name
    return said("<text>")


@lru_cache(maxsize=64)  # the same statements stand in several results, and in reports of all forms
def _tokens(text: str) -> list[Token] | None:
    try:
        return sqlglot.tokenize(text, read=DIALECT)
    except SqlglotError:
        return None


@lru_cache(maxsize=64)
def _parsed(text: str) -> list[exp.Expr] | None:
    """Return the trees of the statements; None if one is no SQL, or kept as text (Command)."""
    tokens = _tokens(text)
    if tokens is None:
        return None
    try:
        trees = sqlglot.Dialect.get_or_raise(DIALECT).parser().parse(tokens, text)
    except (SqlglotError, RecursionError):
        return None
    statements = [tree for tree in trees if tree is not None]
    return None if any(isinstance(tree, exp.Command) for tree in statements) else statements


def _masked(tokens: Sequence[Token], text: str, files: Mapping[str, str], *, comments: bool) -> str:
    """Return the text with the kinds of its literals, and without comments.

    With ``comments``, those before the first token of a statement are kept.
    """
    pieces: list[str] = []
    end = 0  # of the last token
    begins_statement = True
    for token in tokens:
        between = text[end : token.start]
        is_comment = bool(between.strip())
        pieces.append(" " if is_comment and not (begins_statement and comments) else between)
        pieces.append(_masked_token(token, text, files))
        end = token.end + 1
        begins_statement = token.token_type is TokenType.SEMICOLON
    return "".join(pieces).strip() + ("\n" if comments else "")


def _masked_token(token: Token, text: str, files: Mapping[str, str]) -> str:
    """Return a token as it is written, or the kind of a literal; for a path, its other name."""
    if token.token_type in BOOLEANS:
        return said("<boolean>")
    if token.token_type is TokenType.NUMBER:
        return said("<number>")
    if "STRING" not in token.token_type.name:
        return text[token.start : token.end + 1]
    if token.text in files:
        return exp.Literal.string(files[token.text]).sql(DIALECT)
    mark = kind(token.text)
    return said("<text>") if mark == said("<number>") else mark  # in quotes, a number is a text


def _prefixed(prefix: str, text: str | None) -> str | None:
    return None if text is None else prefix + text
