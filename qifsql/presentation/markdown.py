"""Tables and parts in Markdown, with all characters of markup escaped."""

import re
from collections.abc import Sequence

import polars as pl

from qifsql.errors import printable
from qifsql.presentation import escaping, parts
from qifsql.presentation.language import said

MARKS = str.maketrans({c: f"\\{c}" for c in "\\|*_`<>[]~&"} | {"\n": " ", "\r": " "})


def table(data: pl.DataFrame) -> str:
    """Return a table of results."""
    return rows(data.columns, [[escaping.cell(v) for v in row] for row in data.iter_rows()])


def rows(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return rows as a table with the names of their columns."""
    written = [_line(heads), f"| {' | '.join(['---'] * len(heads))} |", *map(_line, lines)]
    return "\n".join(written) + "\n"


def escaped(text: str) -> str:
    """Return a text with its characters of markup escaped."""
    return printable(text, "\n\r").translate(MARKS)


def document(report: parts.Document) -> str:
    """Return a report: headings, sentences and tables; words instead of charts."""
    lines = [f"# {escaped(report.title)}"]
    if report.confidential:
        lines.append(f"**{escaped(said('Confidential: shows values of people'))}**")
    for section in report.sections:
        lines.append(f"## {escaped(section.title)}")
        lines += [_part(part) for part in section.parts]
    return "\n\n".join([*lines, escaped(report.imprint)]) + "\n"


def _part(part: parts.Part) -> str:
    """Return one part as Markdown."""
    if isinstance(part, parts.Heading):
        return f"{'#' * (part.level + 2)} {escaped(part.text)}"
    if isinstance(part, parts.Paragraph):
        return f"**{escaped(part.text)}**" if part.strong else escaped(part.text)
    if isinstance(part, parts.Light):
        return "\n\n".join([f"**{escaped(part.text)}**", *map(escaped, part.caveats)])
    if isinstance(part, parts.Box):
        lines = [f"- {escaped(line)}" for line in part.lines]
        return "\n".join([f"### {escaped(part.title)}\n", *lines])
    if isinstance(part, parts.Table):
        return rows(part.heads, part.rows).removesuffix("\n")
    if isinstance(part, parts.Figure):
        return escaped(part.chart["description"])
    if isinstance(part, parts.Fold):
        return f"{escaped(part.title)}\n\n{_fenced(part.text)}"
    if isinstance(part, parts.Command):
        return _fenced(part.text)
    return "\n".join(map(_card, part.cards))  # Cards


def _fenced(text: str) -> str:
    """Return text as it is, between fences that are longer than any in it."""
    plain = printable(text, "\n\t")
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", plain))])
    return f"{fence}\n{plain}\n{fence}"


def _card(card: parts.Card) -> str:
    pieces = [f"{card.amount} {card.meaning}", card.before[0], card.after[0], card.difference]
    text = "; ".join(filter(None, pieces)) + "."
    return f"- **{escaped(card.what)}**: {escaped(' '.join(filter(None, (text, card.remark))))}"


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, texts))} |"
