"""The scores of a motivated intruder test as people read them."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.commands.verify.intruder_claims.intruder_claims import SCORES, is_refuted
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind

TITLE = "Test with a motivated intruder: {name}"
KIND = Kind(columns=tuple(SCORES))


def parts(frame: pl.DataFrame, _tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of the scores, and a sentence for each file of claims and question."""
    heads = [said("claims of"), said("question"), said("sure"), said("claimed")]
    heads += [said("right"), said("share"), said("interval"), said("predicted"), said("stated")]
    table = Table.of(heads, right=(2, 3, 4, 5, 6, 7, 8))
    sentences = []
    for row in frame.iter_rows(named=True):
        threshold = words.percent(row["stated_from"]) if row["stated_from"] else said("any")
        names = [_file_name(row, spec), _question(row), threshold]
        claimed = said("{n} of {of}", n=words.count(row["claims"]), of=words.count(row["sheets"]))
        counts = [claimed, words.count(row["right"]), words.percent(row["precision"])]
        numbers = [_interval(row), words.percent(row["predicted"]), words.percent(row["stated"])]
        table.add_row(*names, *counts, *numbers)
        if row["file"] is not None and not row["stated_from"]:
            sentences.append(Paragraph(_verdict(row, spec)))
    note = said(
        "The interval holds the chance that such a claim is right, in at least 95 of 100 tests. "
        "Predicted is the mean chance of the best guess by what is on the claimed sheets."
    )
    if spec.get("drawn_by") == "risk":
        note += " " + said("The people are those at greatest risk: others may be safer.")
    return [table, *sentences, Paragraph(note)]


def _verdict(row: Mapping[str, Any], spec: Spec) -> str:
    """Return in a sentence how the claims of a file compare with what was predicted."""
    question = {"name": _file_name(row, spec), "question": _question(row)}
    if not row["claims"]:
        return said("{name}, {question}: nothing is claimed.", **question)
    share, predicted = words.percent(row["precision"]), words.percent(row["predicted"])
    if row["predicted"] is None:  # others must not see it: it tells the size of a block
        message = "{name}, {question}: {share} of the claims are right."
    elif is_refuted(row):
        message = (
            "{name}, {question}: {share} of the claims are right, more than the {predicted} "
            "predicted and more than luck explains: the tester knew more than is on the sheets."
        )
    elif row["high"] < row["predicted"]:
        message = (
            "{name}, {question}: {share} of the claims are right, fewer than the {predicted} "
            "predicted and fewer than luck explains: the tester made less of the sheets than an "
            "adversary could."
        )
    else:
        message = (
            "{name}, {question}: {share} of the claims are right, {predicted} predicted: the "
            "difference may be luck, and more claims could show one."
        )
    return said(message, **question, share=share, predicted=predicted)


def _interval(row: Mapping[str, Any]) -> str:
    """Return the interval of the share of right claims, or a dash."""
    if row["low"] is None:
        return "-"
    low, high = words.percent(row["low"]), words.percent(row["high"])
    return said("{low} to {high}", low=low, high=high)


def _file_name(row: Mapping[str, Any], spec: Spec) -> str:
    """Return the name of a file of claims; those of several testers may be the same."""
    if row["file"] is None:
        return said("all together")
    if "claims" not in spec:  # others must not see names of files
        return said("tester {n}", n=words.count(row["file"]))
    names = spec["claims"]
    name = str(names[row["file"] - 1])
    return escaping.cell(f"{name} ({row['file']})" if names.count(name) > 1 else name)


def _question(row: Mapping[str, Any]) -> str:
    return said("whose record") if row["secret"] is None else escaping.cell(row["secret"])
