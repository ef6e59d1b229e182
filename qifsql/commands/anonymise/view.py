"""An anonymised release as people read it: its classes and its information loss."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("classes", "certainty_penalty"), shared=("quasi_identifiers",))


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return sentences on the classes, and a table of losses by quasi-identifier."""
    row = frame.row(0, named=True)
    heads = [said("quasi-identifier"), said("values"), said("cells")]
    table = Table.of([*heads, said("generalised"), said("penalty")], right=(1, 3, 4))
    shapes = {"intervals": said("intervals"), "sets": said("sets"), "centroids": said("centroids")}
    for one in tables["quasi_identifiers"].iter_rows(named=True):
        table.add_row(
            escaping.cell(one["quasi_identifier"]),
            words.count(one["values"]),
            shapes.get(one["cells"], one["cells"]),
            *_shares(one),
        )
    table.add_row(said("all"), "", "", *_shares(row))
    meaning = said(
        "Generalised: the share of cells that stand for several values. Penalty: the mean "
        "share of all values that a cell covers (normalised certainty penalty), 100 % for a "
        "cell that covers all. A class of k records hides who is who, but not what all its "
        "members have in common."
    )
    return [Paragraph(describe(row)), table, Paragraph(meaning)]


def _shares(row: Mapping[str, Any]) -> tuple[str, str]:
    return words.percent(row["generalised"]), words.percent(row["certainty_penalty"])


def describe(row: Mapping[str, Any]) -> str:
    """Return one or two sentences on the numbers of records and classes."""
    by = {"mondrian": "Mondrian", "mdav": "MDAV"}[row["method"]]
    in_classes = row["records"] - row["suppressed"]
    if not in_classes:
        return said(
            "{method}: every class breaks a limit, so all records are suppressed.", method=by
        )
    text = said(
        "{method}: {records} in {classes} of {least} to {most}, {mean} on average.",
        method=by,
        records=words.records(in_classes),
        classes=counted("{n} class", "{n} classes", row["classes"]),
        least=words.count(row["smallest_class"]),
        most=words.count(row["largest_class"]),
        mean=words.fixed(row["average_class"], 1),
    )
    if not row["suppressed"]:
        return text
    one = "{n} record suppressed (*): it may be anybody's."
    many = "{n} records suppressed (*): they may be anybody."
    return f"{text} {counted(one, many, row['suppressed'])}"


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    title = said("Anonymised: {name}", name=stored.name)
    return title, parts(stored.frame, stored.details, stored.spec)
