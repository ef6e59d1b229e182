"""The unicity of a log in words and tables."""

import polars as pl

from qifsql.presentation import words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("points", "unicity"))
TITLE = "A few records of a person: {name}"


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of the share singled out by number of known points; None: nobody has them."""
    qids = words.listed(spec["qids"])
    drawn = frame["low"].null_count() < frame.height  # at least one share is of a sample
    heads = [said("records known"), said("people"), said("singled out")]
    heads += [said("between")] if drawn else []
    table = Table.of([*heads, said("how")], right=(0, 1, 2))
    methods = {"exact": said("exact"), "sampled": said("sampled")}
    for row in frame.iter_rows(named=True):
        share = said("nobody has that many")
        if row["unicity"] is not None:
            share = words.percent(row["unicity"])
        between, how = "", methods.get(row["method"], row["method"] or "")
        if row["low"] is not None:
            low, high = words.percent(row["low"]), words.percent(row["high"])
            between = said("{low} and {high}", low=low, high=high)
            how = counted("{how}, {n} draw", "{how}, {n} draws", row["draws"], how=how)
        line = [str(row["points"]), words.count(row["people"]), share]
        table.add_row(*line, *([between] if drawn else []), how)
    head = said("Knowing {qids} of a few records of a person", qids=qids)
    return [Heading(head), table, *map(Paragraph, _match_sentences(frame))]


def _match_sentences(frame: pl.DataFrame) -> list[str]:
    """Return the greatest chance that known records of a person match nobody else, in one text.

    There is none if nobody has so many records.
    """
    rows = [row for row in frame.iter_rows(named=True) if row["unicity"] is not None]
    if not rows:
        return []
    row = max(rows, key=lambda row: float(row["unicity"]))
    people, records = words.persons(row["all_people"]), words.records(row["all_records"])
    text = said("{people} in {records}.", people=people, records=records)
    singular = (
        "Someone who knows {n} record of a person, chosen at random, has a chance of {chance} "
        "that it matches nobody else: all other records of the person are then known, too."
    )
    plural = (
        "Someone who knows {n} records of a person, chosen at random, has a chance of {chance} "
        "that they match nobody else: all other records of the person are then known, too."
    )
    chance = words.percent(row["unicity"])
    return [f"{text} {counted(singular, plural, row['points'], chance=chance)}"]


def headline(stored: Stored) -> list[str]:
    """Return the greatest unicity in sentences, for the first pages of a report."""
    return _match_sentences(stored.frame)
