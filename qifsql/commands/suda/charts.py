"""Charts of special uniques: which attributes cause them, and how many attributes suffice."""

import polars as pl

from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import (
    BLUE,
    ORANGE,
    PERCENT,
    Chart,
    data,
    dressed,
    hints,
    labels,
    libraries,
)
from qifsql.presentation.words import count, percent


def charts(_frame: pl.DataFrame, details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the charts of special uniques that there are, by name."""
    drawn: dict[str, Chart] = {}
    by_qid, by_size = details.get("by_qid"), details.get("by_size")
    if by_qid is not None and by_qid["contribution"].drop_nulls().len():
        drawn["contributions"] = contributions(by_qid)
    if by_size is not None and by_size.height:
        drawn["sizes"] = sizes(by_size)
    return drawn


def contributions(by_qid: pl.DataFrame) -> Chart:
    """Draw the share of all scores of each attribute, a bar for each, the longest first."""
    alt, _ = libraries()
    rows = by_qid.sort("contribution", descending=True, maintain_order=True)
    names = labels(rows["qid"])
    rows = rows.select(
        name=pl.Series([names[qid] for qid in rows["qid"]], dtype=pl.String),
        individuals="msus",
        contribution="contribution",
    )
    axis = alt.Axis(labelExpr=PERCENT)
    tips = {"name:N": said("attribute"), "individuals:Q": said("MSUs with it")}
    tips["contribution:Q"] = said("share of scores")
    bars = (
        alt.Chart(data(alt, rows), height={"step": 24}, width=420)
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("contribution:Q", title=said("share of scores"), axis=axis),
            y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            tooltip=hints(alt, tips),
        )
    )
    below = said(
        "The share of all scores in minimal sample uniques with the attribute. Each of them counts "
        "for all its attributes, so that the bars add up to more than 100 %."
    )
    lines = [
        said("{name}: {share}", name=row["name"], share=percent(row["contribution"]))
        for row in rows.iter_rows(named=True)
    ]
    return dressed(bars, said("Which attributes make records special"), below, lines)


def sizes(by_size: pl.DataFrame) -> Chart:
    """Draw the records or people by the number of attributes that suffice to single them out."""
    alt, _ = libraries()
    of_people = "people" in by_size.columns
    unit = said("people") if of_people else said("records")
    tips = {"size:O": said("attributes needed"), "individuals:Q": unit}
    rows = by_size.select("size", individuals="people" if of_people else "records")
    bars = (
        alt.Chart(data(alt, rows), width={"step": 44}, height=240)
        .mark_bar(color=ORANGE)
        .encode(
            x=alt.X("size:O", title=said("attributes needed"), axis=alt.Axis(labelAngle=0)),
            y=alt.Y("individuals:Q", title=unit, axis=alt.Axis(format=",d")),
            tooltip=hints(alt, tips),
        )
    )
    below = said("Each record is counted at its smallest minimal sample unique.")
    if of_people:
        below = said("Each person is counted at her smallest minimal sample unique.")
    lines = [
        said("{size}: {n}", size=row["size"], n=count(row["individuals"]))
        for row in rows.iter_rows(named=True)
    ]
    title = said("How many attributes suffice to single out a record")
    if of_people:
        title = said("How many attributes of a record suffice to single out a person")
    return dressed(bars, title, below, lines)
