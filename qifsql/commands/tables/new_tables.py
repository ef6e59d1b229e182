"""Tables to make of records, as an office would publish them: what is asked for, and its cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import place
from qifsql.data.expressions import filled
from qifsql.data.option import names
from qifsql.errors import InputError, quoted
from qifsql.query.columns import number
from qifsql.query.protections import Protection, split
from qifsql.query.splice import splice

PUBLISHED_COUNTS = {
    "exact": "people",
    "suppress": "CASE WHEN people >= n THEN people END",
    "stacked": "CASE WHEN people >= n OR people < least THEN people END",
    "atleast": "CASE WHEN people < n THEN people END",
    "round": "(people + half) // n * n",
    "random": "people - people % n + CASE WHEN lot < people % n THEN n ELSE 0 END",
    "noise": "greatest(0, people + lot - n)",
}
"""The published count of a cell, NULL if hidden, by the kind of protection and its number n.

``stacked``: a count that another protection has changed, which may be 0, is hidden from ``least``.
"""
POSITIVE = "CASE WHEN people = 0 THEN 0 ELSE greatest(n, rounded) END"


@dataclass(frozen=True)
class NewTable:
    """A table to make, as it is asked for."""

    title: str  # the text
    dims: tuple[str, ...]  # dimensions as they are written
    protection: Protection
    dropped: bool = False  # not published; its dimensions stay those of the people


def parse_tables(texts: Sequence[str]) -> list[NewTable]:
    """Return the tables that texts such as ``school,sex:suppress<5`` ask for, in their order."""
    tables = []
    for text in texts:
        dims, protection = split(text)
        written = names([dims])
        if not written or not all(name.strip() for name in written):
            raise InputError(
                f"table {quoted(text)} has no dimensions; name some, as in 'school,sex:suppress<5'"
            )
        tables.append(NewTable(text.strip(), tuple(name.strip() for name in written), protection))
    return tables


def publish(raw: str, edge: Edge, protection: Protection, *, people: int, seed: int) -> exp.Select:
    """Return SQL for the cells of a table as published, under a protection.

    ``raw`` is a table of their codes and true counts, ``people`` the number of all people, ``seed``
    that of random rounding and noise.
    """
    kind, n, count = protection.kind, protection.number, exp.column("published")
    smallest, largest = protection.hidden() if protection.hides else (n, people)
    # The bounds ``low`` and ``high`` are of a printed count, ``smallest`` and ``largest`` of a
    # hidden one. Of "n or more", counts from n on are hidden, and those below are told as they are.
    high: exp.Expr = count
    if kind != "atleast":
        high = exp.func("least", protection.upper(count), number(people))
    published: exp.Expr = exp.column("people")
    for i, step in enumerate(protection.steps):
        published = _printed(step, published, edge, f"{seed}/{i}" if i else str(seed))
    amounts = {
        "published_count": published,
        "smallest": number(smallest),
        "largest": number(min(largest, people)),
        "low": protection.lower(count),
        "high": high,
    }
    tables, shape = {"raw": raw}, {"edge": edge}
    return splice("tables/published_cells", tables=tables, rows={"asked": amounts}, shape=shape)


def _printed(step: Protection, count: exp.Expr, edge: Edge, seed: str) -> exp.Expr:
    """Return the count that one protection prints for a count, NULL if it is hidden (SQL)."""
    kind, n = step.kind, step.number
    # The lot of a cell, from 0 to ``sides`` - 1, depends on the cell and the seed alone.
    sides = 2 * n + 1 if kind == "noise" else n
    parts = "".join(f", '/', {i}, '/', {place(i)}" for i in sorted(edge))
    lot = filled(f"(md5_number(concat('{seed}'{parts})) % {sides}::UHUGEINT)::BIGINT", {})
    is_stacked = kind == "suppress" and not isinstance(count, exp.Column)
    text = "random" if kind == "round" and step.variant else "stacked" if is_stacked else kind
    words = {"n": number(n), "half": number(n // 2), "lot": lot, "people": count}
    words |= {"least": number(int(not step.variant))}
    printed = filled(PUBLISHED_COUNTS[text], words)
    return filled(POSITIVE, {**words, "rounded": printed}) if step.positive else printed
