"""The scores of a motivated intruder test as people read them."""

import polars as pl

from qifsql.commands.verify.intruder_claims.intruder_claims import SCORES, is_refuted
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Spec, Tables
from qifsql.presentation.table_columns import number, tabulate
from qifsql.results.kinds import Kind

TITLE = "Test with a motivated intruder: {name}"
KIND = Kind(columns=tuple(SCORES))


def parts(frame: pl.DataFrame, _tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of the scores, and a sentence for each file of claims and question."""

    def claimed(row: Row) -> str:
        return said("{n} of {of}", n=words.count(row["claims"]), of=words.count(row["sheets"]))

    def threshold(row: Row) -> str:
        return words.percent(row["stated_from"]) if row["stated_from"] else said("any")

    columns = [
        (said("claims of"), lambda row: _file_name(row, spec)),
        (said("question"), _question),
        (said("sure"), threshold),
        (said("claimed"), claimed),
        (said("right"), number("right")),
        (said("share"), lambda row: words.percent(row["precision"])),  # None: a dash
        (said("interval"), _interval),
        (said("predicted"), lambda row: words.percent(row["predicted"])),
        (said("stated"), lambda row: words.percent(row["stated"])),
    ]
    rows = frame.rows(named=True)
    table = tabulate(rows, columns, texts=(0, 1))
    of_files = (row for row in rows if row["file"] is not None and not row["stated_from"])
    sentences = [Paragraph(_verdict(row, spec)) for row in of_files]
    note = said(
        "The interval holds the chance that such a claim is right, in at least 95 of 100 tests. "
        "Predicted is the mean chance of the best guess by what is on the claimed sheets."
    )
    if spec.get("drawn_by") == "risk":
        note += " " + said("The people are those at greatest risk: others may be safer.")
    return [table, *sentences, Paragraph(note)]


def _verdict(row: Row, spec: Spec) -> str:
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


def _interval(row: Row) -> str:
    """Return the interval of the share of right claims, or a dash."""
    if row["low"] is None:
        return "-"
    low, high = words.percent(row["low"]), words.percent(row["high"])
    return said("{low} to {high}", low=low, high=high)


def _file_name(row: Row, spec: Spec) -> str:
    """Return the name of a file of claims; those of several testers may be the same."""
    if row["file"] is None:
        return said("all together")
    if "claims" not in spec:  # others must not see names of files
        return said("tester {n}", n=words.count(row["file"]))
    names = spec["claims"]
    name = str(names[row["file"] - 1])
    return escaping.cell(f"{name} ({row['file']})" if names.count(name) > 1 else name)


def _question(row: Row) -> str:
    return said("whose record") if row["secret"] is None else escaping.cell(row["secret"])
