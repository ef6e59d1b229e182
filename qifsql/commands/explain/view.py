"""Explanations on a page: one in full, or a list of all."""

from collections.abc import Sequence

from qifsql.commands.explain.result import Explanation
from qifsql.presentation.parts import Heading, Part, Table
from qifsql.presentation.table_columns import table_of_rows


def listed(explanations: Sequence[Explanation]) -> list[Part]:
    """Return a table of all measures."""
    heads = ("measure", "what it is", "columns of results")
    return [table_of_rows(heads, [(e.name, e.title, ", ".join(e.columns)) for e in explanations])]


def explained(explanation: Explanation) -> list[Part]:
    """Return the title of a measure, and a table of all texts about it that are not empty."""
    parts = {
        "meaning": explanation.meaning,
        "formula": explanation.formula,
        "where": "\n".join(explanation.symbols),
        "direction": explanation.direction,
        "range": explanation.range,
        "notes": "\n".join(explanation.notes),
        "example": "\n".join(explanation.example),
        "columns": ", ".join(explanation.columns),
        "also called": ", ".join(explanation.aliases),
        "source": "\n".join((explanation.source, *explanation.works)),
    }
    sheet = Table.of(["", ""])
    for name, text in parts.items():
        if text:
            sheet.add_row(name, text)
    return [Heading(explanation.title), sheet]
