"""The text of a dictionary attack on hashes: the recovered hashes and records."""

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("recovered_values",))
TITLE = "Hashes that were reversed: {name}"


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of candidates per pattern, one of recovered hashes, and sentences on both."""
    row = frame.row(0, named=True)  # the one row of the result
    parts: list[Part] = []
    if "patterns" in tables and tables["patterns"].height > 1:
        patterns = Table.of([said("pattern"), said("candidates")], right=(1,))
        for pattern, n in tables["patterns"].iter_rows():
            patterns.add_row(escaping.cell(pattern), words.count(n))
        parts += [patterns]
    table = Table.of(["", said("there are"), said("recovered"), ""], right=(1, 2, 3))
    with_hash = row["records"] - row["missing"] - row["unfit"]
    for title, total, kind in (
        (said("different {hash} hashes", hash=row["hash"]), row["values"], "values"),
        (said("records with a hash"), with_hash, "records"),
    ):
        recovered, share = row[f"recovered_{kind}"], row[f"recovered_{kind}_share"]
        table.add_row(title, words.count(total), words.count(recovered), words.percent(share))
    singular = "{n} candidate tried in {seconds} s, {rate} a second."
    plural = "{n} candidates tried in {seconds} s, {rate} a second."
    rate = words.count(round(row["candidates_per_second"]))
    seconds = words.fixed(row["seconds"], 1)
    tried = counted(singular, plural, row["candidates"], seconds=seconds, rate=rate)
    parts += [table, Paragraph(f"{tried} {_protection_sentence(row['recovered_records_share'])}")]
    if row["ambiguous"]:
        singular = "{n} hash may come from more than one candidate."
        plural = "{n} hashes may come from more than one candidate."
        parts.append(Paragraph(counted(singular, plural, row["ambiguous"])))
    return parts


def _protection_sentence(share: float) -> str:
    """Return a sentence on the protection by the hash, from the share of records recovered."""
    if share == 0:
        return said(
            "None of the candidates was hashed here, or the hash was made in another way (a salt?)."
        )
    if share == 1:
        return said(
            "The hash hides nothing: someone who tries these candidates has every identifier."
        )
    message = "Someone who tries these candidates can name {chance} of the records."
    return said(message, chance=words.chance(share))


def headline(stored: Stored) -> list[str]:
    """Return what the hashes hide in a sentence, for the first pages of a report."""
    return [_protection_sentence(stored.frame.row(0, named=True)["recovered_records_share"])]
