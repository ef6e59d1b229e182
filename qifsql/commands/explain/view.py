"""Explanations on a page: one in full, or a list of all."""

from collections.abc import Sequence

from qifsql.commands.explain.result import Explanation
from qifsql.presentation import listings
from qifsql.presentation.parts import Heading, Part, Table


def listed(explanations: Sequence[Explanation]) -> list[Part]:
    """Return a table of all measures."""
    heads = ("measure", "what it is", "columns of results")
    return [listings.rows(heads, [(e.name, e.title, ", ".join(e.columns)) for e in explanations])]


def explained(one: Explanation) -> list[Part]:
    """Return all texts about a measure."""
    parts = {
        "meaning": one.meaning,
        "formula": one.formula,
        "where": "\n".join(one.symbols),
        "direction": one.direction,
        "range": one.range,
        "notes": "\n".join(one.notes),
        "example": "\n".join(one.example),
        "columns": ", ".join(one.columns),
        "also called": ", ".join(one.aliases),
        "source": "\n".join((one.source, *one.works)),
    }
    sheet = Table.of(["", ""])
    for name, text in parts.items():
        if text:
            sheet.add_row(name, text)
    return [Heading(one.title), sheet]
