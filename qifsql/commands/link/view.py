"""Links with a register in words and tables."""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.presentation import words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("unique_in_both",), shared=("confidence",))
TITLE = "Linked with a register: {name}"


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of both files, the risks of three adversaries, and the confidence of links."""
    row = frame.row(0, named=True)
    parts: list[Part] = [
        Heading(said("Linked by {qids}", qids=words.listed(row["qids"]))),
        _files_table(row),
        Paragraph(_unique_links_sentences(row)),
        _adversary_table(row),
        *_presence_parts(row),
    ]
    if tables["confidence"].height:
        parts += [_confidence_table(tables["confidence"]), Paragraph(_right_links_sentence(row))]
    return parts


def _files_table(row: Mapping[str, Any]) -> Table:
    """Return a table of the records, blocks and unique records of both files."""
    table = Table.of(["", said("release"), said("register"), said("both")], right=(1, 2, 3))
    names = {"records": said("records"), "missing": said("of them, a value is missing")}
    for column, name in names.items():
        counts = [words.count(row[f"{file}_{column}"]) for file in ("release", "register")]
        table.add_row(name, *counts, "")
    blocks = [words.count(row[f"{file}_blocks"]) for file in ("release", "register", "shared")]
    table.add_row(said("blocks"), *blocks)
    unique = [words.count(row[f"unique_in_{file}"]) for file in ("release", "register", "both")]
    table.add_row(said("unique"), *unique)
    return table


def _unique_links_sentences(row: Mapping[str, Any]) -> str:
    """Return sentences on matched, unique and right links (None: the truth is not known)."""
    n, records = row["unique_in_both"], words.records(row["release_records"])
    singular = "{n} of {records} matches somebody in the register."
    plural = "{n} of {records} match somebody in the register."
    text = counted(singular, plural, row["matched"], records=records)
    if not n:
        return f"{text} {said('No record is unique in both files.')}"
    share = words.percent(n / row["release_records"])
    if row["correct_unique"] is None:
        singular = (
            "{n} ({share}) is unique in both files: it gets one name, which is right if the "
            "person is in the register."
        )
        plural = (
            "{n} ({share}) are unique in both files: each gets one name, which is right if "
            "the person is in the register."
        )
        return f"{text} {counted(singular, plural, n, share=share)}"
    singular = "{n} ({share}) is unique in both files: it gets one name."
    plural = "{n} ({share}) are unique in both files: each gets one name."
    text = f"{text} {counted(singular, plural, n, share=share)}"
    singular = "{n} of these names ({share}) is right."
    plural = "{n} of these names ({share}) are right."
    right = words.percent(row["correct_unique"] / n)
    return f"{text} {counted(singular, plural, row['correct_unique'], share=right)}"


def _adversary_table(row: Mapping[str, Any]) -> Table:
    """Return a table of the risks of three adversaries, shares (None: nobody matches)."""
    table = Table.of([said("who links"), said("risk"), said("what it is")], right=(1,))
    prosecutor = said("highest chance, if the target is known to be in the release: 1/f")
    journalist = said("highest chance, if only the register is known to contain the target: 1/F")
    marketer = said("share of the release that is linked right, at best")
    for name, title, meaning in (
        ("prosecutor", said("prosecutor"), prosecutor),
        ("journalist", said("journalist"), journalist),
        ("marketer", said("marketer"), marketer),
    ):
        risk = row[f"{name}_risk"]
        is_nobody = risk is None and not row["matched"]
        table.add_row(title, said("none") if is_nobody else words.percent(risk), meaning)
    return table


def _presence_parts(row: Mapping[str, Any]) -> list[Part]:
    """Return sentences on k-map and delta-presence; none where they are None: nobody matches."""
    sentences = []
    if row["k_map"] is not None:
        fewest = (
            "k-map: {n}, the fewest people of the register whom a record of the release matches."
        )
        sentences.append(said(fewest, n=words.count(row["k_map"])))
    if row["delta_max"] is not None:
        low, high = (words.percent(row[f"delta_{end}"]) for end in ("min", "max"))
        who = "Delta-presence: somebody of the register is in the release with a chance of {low}."
        if low != high:
            who = (
                "Delta-presence: somebody of the register is in the release with a chance of "
                "{low} to {high}, which depends on the block."
            )
        sentences.append(said(who, low=low, high=high))
    return [Paragraph(" ".join(sentences))] if sentences else []


def _confidence_table(confidence: pl.DataFrame) -> Table:
    """Return a table of links by their chance to be right: 1, at least 1/2, ..., any.

    ``confidence`` has a row per chance, the highest first, with the links of it and of all before.
    A line that adds no link is left out.
    """
    truth = confidence["correct_at_least"].null_count() == 0
    heads = [said("links with a chance of"), said("links"), said("right at best")]
    heads += [said("right")] if truth else []
    table = Table.of(heads, right=range(1, len(heads)))
    names: dict[float, str] = {n: said("1 in {n} or more", n=n) for n in (2, 5, 10, 100)}
    height = 0  # rows of the line before
    for n, name in ({1: said("certain")} | names | {math.inf: said("any")}).items():
        reached = confidence.filter(pl.col("confidence") >= 1 / n)  # 1 / infinity is 0
        if reached.height == height:
            continue
        height = reached.height
        row = reached.row(-1, named=True)
        counts = [words.count(row["links_at_least"]), words.count(round(row["expected_at_least"]))]
        counts += [words.count(round(row["correct_at_least"]))] if truth else []
        table.add_row(name, *counts)
    return table


def _right_links_sentence(row: Mapping[str, Any]) -> str:
    """Return a sentence on right links if files are linked one to one: at most, and in truth."""
    n, records = words.count(round(row["expected_correct"])), words.records(row["release_records"])
    values = {"n": n, "records": records}
    if row["correct_expected"] is None:  # the truth is not known
        return said(
            "Linked one to one, at most {n} of {records} get the right name on average: this "
            "many if everybody who can be in both files is in both.",
            **values,
        )
    return said(
        "Linked one to one, at most {n} of {records} get the right name on average, and {right} "
        "do: {people} are in both, and {agreeing} of them agree in all values.",
        **values,
        right=words.count(round(row["correct_expected"])),
        people=words.persons(row["people_in_both"]),
        agreeing=words.count(row["agreeing"]),
    )


def headline(stored: Stored) -> list[str]:
    """Return the links in sentences, for the first pages of a report."""
    return [_unique_links_sentences(stored.frame.row(0, named=True))]
