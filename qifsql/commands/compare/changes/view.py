"""Changes in words and tables: the risk before and after each."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.comparisons import named, risks
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Paragraph, Part, Spec, Tables
from qifsql.presentation.risk_utility import risk_utility
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("release", "changes", "met"), shared=())


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return what a search found, and the success before and after each change per question."""
    rows = frame.to_dicts()
    first = [row for row in rows if row["secret"] == rows[0]["secret"]]  # of the first secret
    parts: list[Part] = []
    if spec["bounds"]:
        parts += _show_smallest(first, spec)
    parts += risks(rows, first, said("change"), penalty=True)
    meaning = said(
        "Penalty: the mean share of all values that a cell would cover, 100 % for a "
        "quasi-identifier that is dropped. Nothing was written."
    )
    return [*parts, Paragraph(meaning)]


def _show_smallest(rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return sentences on the bounds and the smallest change, the last of ``rows``, if any."""
    bounds = words.listed([escaping.cell(text) for text in spec["bounds"]])
    tried = counted("{n} release measured", "{n} releases measured", rows[0]["tried"])
    if not any(row["met"] for row in rows):
        none = said("No change meets {bounds} ({tried}).", bounds=bounds, tried=tried)
        return [Paragraph(none, strong=True)]
    if rows[-1]["release"] == "before":
        sentence = said("Without any change, the release meets {bounds}.", bounds=bounds)
        return [Paragraph(sentence, strong=True)]
    message = "The smallest change that meets {bounds}: {change} ({tried})."
    smallest = said(message, bounds=bounds, change=named(rows[-1]), tried=tried)
    ranked = said(
        "Smallest: fewest quasi-identifiers changed, then fewest steps, then most blocks "
        "left. The last step of each quasi-identifier is to drop it."
    )
    return [Paragraph(smallest, strong=True), Paragraph(ranked)]


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    return said("Changes that reduce the risk: {name}", name=stored.name), [
        *drawn("what-if", partial(risk_utility, stored.frame)),
        *parts(stored.frame, stored.details, stored.spec),
    ]
