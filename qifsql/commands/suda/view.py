"""Minimal sample uniques in words and tables: by size, quasi-identifier, set, value and group."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.presentation import details, escaping, words
from qifsql.presentation import table_columns as cells
from qifsql.presentation.language import counted, number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.presentation.table_columns import Cell, Column
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(
    columns=("measure", "value"), shared=("by_size", "by_set", "by_qid", "by_dis_suda", "bounds")
)
TITLE = "Special uniques: {name}"
ROWS_SHOWN = 10  # sets and values that are shown; all are in the files
BANDS = ((0, 0), (1, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 100))  # percent


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return who has minimal sample uniques, of which sizes, and which attributes cause them."""
    values = _values_by_measure(frame)
    qids = words.listed(spec["qids"])
    reading = words.known_records({"known_records": "one"}) if _of_people(values) else ""
    parts: list[Part] = [
        Heading(said("Singled out by parts of {qids}", qids=qids) + reading),
        Paragraph(_extent_sentence(values, spec)),
    ]
    if "bounds" in tables:
        parts += details.bounds({}, tables["bounds"])
    if not values["msus"]:  # nobody is singled out, so that the tables are empty
        return parts
    if "by_size" in tables:
        parts.append(_size_table(tables["by_size"]))
    parts.append(Paragraph(_special_uniques_sentence(values, spec), strong=True))
    if "by_qid" in tables:
        parts += [Heading(said("Which attributes cause it")), _attribute_table(tables["by_qid"])]
    if "by_set" in tables:
        parts += _set_parts(tables["by_set"])
    if "by_value" in tables:
        parts += _value_parts(tables["by_value"])
    if "groups" in tables:
        parts += [Heading(said("Groups of records")), _group_table(tables["groups"], spec)]
    parts.append(Heading(said("DIS-SUDA")))
    if "by_dis_suda" in tables and values["mean_dis_suda"] is not None:
        unit = said("people") if _of_people(values) else said("records")
        parts.append(_band_table(tables["by_dis_suda"], unit))
    parts.append(Paragraph(_intrusion_sentence(values, spec)))
    return parts


def _values_by_measure(frame: pl.DataFrame) -> dict[str, Any]:
    return dict(zip(frame["measure"], frame["value"], strict=True))


def _of_people(values: Mapping[str, Any]) -> bool:
    """Return whether people are counted, of whom one record is known, not records."""
    return "people" in values


def _count(values: Mapping[str, Any], name: str) -> int:
    """Return a value as a whole number, 0 if there is none."""
    return int(values[name] or 0)


def _extent_sentence(values: Mapping[str, Any], spec: Spec) -> str:
    """Return a sentence on how many have minimal sample uniques of the sizes looked for."""
    records = words.records(_count(values, "records"))
    if _of_people(values):
        people = words.persons(_count(values, "people"))
        records = said("{people} in {records}", people=people, records=records)
    alone = words.count(_count(values, "uniques"))
    text = said(
        "{records}; all attributes together single out {alone}.", records=records, alone=alone
    )
    n = _count(values, "people_with_msu" if _of_people(values) else "records_with_msu")
    size = spec["max_size"]
    if size < len(spec["qids"]):
        singular = "{n} record is singled out by a set of at most {size} ({msus})."
        plural = "{n} records are singled out by sets of at most {size} ({msus})."
        if _of_people(values):
            singular = "{n} person is singled out by a set of at most {size} ({msus})."
            plural = "{n} people are singled out by sets of at most {size} ({msus})."
        return f"{text} {counted(singular, plural, n, size=size, msus=_msus_in_words(values))}"
    return f"{text} {said('They have {msus}.', msus=_msus_in_words(values))}"


def _msus_in_words(values: Mapping[str, Any]) -> str:
    singular, plural = "{n} minimal sample unique", "{n} minimal sample uniques"
    return counted(singular, plural, _count(values, "msus"))


def _size_table(sizes: pl.DataFrame) -> Table:
    """Return a row per size of minimal sample uniques (MSUs): how many there are."""
    unit = "people" if "people" in sizes.columns else "records"
    columns = [
        (said("attributes needed"), cells.number("size")),
        (said(unit), cells.number(unit)),
        (said("MSUs"), cells.number("msus")),
        (said("sets"), cells.number("sets")),
        (said("score of each"), cells.number("score")),
    ]
    return cells.tabulate(sizes.iter_rows(named=True), columns, texts=())


def _special_uniques_sentence(values: Mapping[str, Any], spec: Spec) -> str:
    """Return a sentence on the special uniques: those with an MSU of a part of the attributes."""
    n, of_people = _count(values, "special_uniques"), _of_people(values)
    share = words.percent(n / _count(values, "people" if of_people else "records"))
    if not n and of_people:
        return said("Nobody is a special unique: all attributes of a record are needed.")
    if not n:
        return said("No record is a special unique: each needs all attributes to be singled out.")
    singular = (
        "{n} record ({share}) is a special unique: a part of the attributes already singles it "
        "out, so that it is less likely to be unique by chance."
    )
    plural = (
        "{n} records ({share}) are special uniques: a part of the attributes already singles them "
        "out, so that they are less likely to be unique by chance."
    )
    if of_people:
        singular = (
            "{n} person ({share}) is a special unique: a part of the attributes of one record "
            "already singles her out, so that it is less likely by chance."
        )
        plural = (
            "{n} people ({share}) are special uniques: a part of the attributes of one record "
            "already singles them out, so that it is less likely by chance."
        )
    return counted(singular, plural, n, share=share)


def _attribute_table(by_qid: pl.DataFrame) -> Table:
    """Return a row per attribute: its minimal sample uniques (MSUs), and its share of scores."""
    columns = [
        (said("attribute"), cells.text("qid")),
        (said("MSUs with it"), cells.number("msus")),
        (said("share of scores"), cells.percent("contribution")),
    ]
    return cells.tabulate(_largest_shares(by_qid).iter_rows(named=True), columns)


def _set_parts(by_set: pl.DataFrame) -> list[Part]:
    """Return a table of the sets with the largest shares of all scores, which come first."""
    columns: list[Column] = [
        (said("set of attributes"), lambda row: words.listed(row["qids"])),
        (said("MSUs"), cells.number("msus")),
        (said("share of scores"), cells.percent("contribution")),
    ]
    table = cells.tabulate(by_set.head(ROWS_SHOWN).iter_rows(named=True), columns)
    heading = Heading(said("Which sets of attributes cause it"))
    return [heading, table, *_note_of_length(by_set.height)]


def _value_parts(by_value: pl.DataFrame) -> list[Part]:
    """Return a table of the values with the largest shares of all scores."""
    columns = [
        (said("attribute"), cells.text("qid")),
        (said("value"), _text_or_missing("value")),
        (said("records"), cells.number("records")),
        (said("special"), cells.number("records_with_msu")),
        (said("share of scores"), cells.percent("contribution")),
    ]
    largest = _largest_shares(by_value).head(ROWS_SHOWN)
    table = cells.tabulate(largest.iter_rows(named=True), columns, texts=(0, 1))
    heading = Heading(said("Which values cause it"))
    return [heading, table, *_note_of_length(by_value.height)]


def _largest_shares(table: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the largest shares of all scores first."""
    return table.sort("contribution", descending=True, maintain_order=True)


def _text_or_missing(name: str) -> Cell:
    """Return the cells of a column of texts, in which NULL is a missing value."""
    return lambda row: words.missing() if row[name] is None else escaping.cell(row[name])


def _note_of_length(height: int) -> Sequence[Part]:
    """Return a note that only the first of so many rows are shown, if so."""
    if height <= ROWS_SHOWN:
        return ()
    text = said("The first {n} of {all}.", **{"n": ROWS_SHOWN, "all": words.count(height)})
    return (Paragraph(text),)


def _group_table(groups: pl.DataFrame, spec: Spec) -> Table:
    """Return a row per group: its records, those singled out, and its share of all scores."""
    columns: list[Column] = [
        (str(spec["by"]), _text_or_missing("group")),
        (said("records"), cells.number("records")),
        (said("singled out"), cells.number("records_with_msu")),
        (
            said("share of them"),
            lambda row: words.percent(row["records_with_msu"] / row["records"]),
        ),
        (said("share of scores"), cells.percent("contribution")),
    ]
    return cells.tabulate(groups.iter_rows(named=True), columns)


def _band_table(histogram: pl.DataFrame, unit: str) -> Table:
    """Return the number of records or people in each band of DIS-SUDA, in whole percent."""
    table = Table.of([said("DIS-SUDA"), unit], right=(1,))
    for low, high in BANDS:
        rows = histogram.filter(pl.col("bin").is_between(low, high))["individuals"]
        if rows.len():
            name = f"{low} %" if low == high else f"{low} - {high} %"
            table.add_row(name, words.count(int(rows.sum())))
    return table


def _intrusion_sentence(values: Mapping[str, Any], spec: Spec) -> str:
    """Return a sentence on DIS, and on the mean and the highest DIS-SUDA."""
    fraction = number(f"{100 * spec['fraction']:.4g} %")
    if values["dis"] is None:
        return said("Without records alone or in pairs, DIS says nothing.")
    if values["mean_dis_suda"] is None:
        return said("DIS-SUDA has no meaning for so many quasi-identifiers.")
    text = (
        "If the file is a random sample of {fraction} of a population, a match with a record that "
        "is unique in it is right with a chance of {dis} (DIS). DIS-SUDA spreads it over the "
        "records by their scores: {mean} on average, {highest} at most. It ranks records; it is "
        "no measured chance."
    )
    if _of_people(values):
        text = (
            "If the people of the file are a random sample of {fraction} of a population, each "
            "with all her records, a match with a record that nobody else has is right with a "
            "chance of {dis} (DIS). DIS-SUDA spreads it over the people by their scores: {mean} on "
            "average, {highest} at most. It ranks people; it is no measured chance."
        )
    return said(
        text,
        fraction=fraction,
        dis=words.percent(values["dis"]),
        mean=words.percent(values["mean_dis_suda"]),
        highest=words.percent(values["highest_dis_suda"]),
    )


def headline(stored: Stored) -> list[str]:
    """Return the special uniques in sentences, for the first pages of a report."""
    values = _values_by_measure(stored.frame)
    return [_special_uniques_sentence(values, stored.spec)] if _count(values, "msus") else []
