"""A sweep as people read it: the best subset of each size, who carries the risk, what to drop."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.report import cells, words
from qifsql.report.language import number, said
from qifsql.report.parts import Heading, Paragraph, Part, Table

SHOWN = 20  # subsets of a border that are shown
PAIRS = 5  # interactions of pairs that are shown

Row = Mapping[str, Any]
Tables = Mapping[str, pl.DataFrame]


def sweep(frame: pl.DataFrame, details: Tables, *, explain: bool = False) -> list[Part]:
    """The answers of a sweep, question by question."""
    parts: list[Part] = []
    for row, own in questions(frame, details):
        parts += [Heading(_question(row)), *answers(row, own)]
    if explain and "plan" in details:
        parts += [Heading(said("The plan, and what it cost")), _plan(details["plan"])]
    return parts


def questions(frame: pl.DataFrame, details: Tables) -> list[tuple[Row, Tables]]:
    """Each question of a sweep: one of its rows, and its own part of the details."""
    found: list[tuple[Row, Tables]] = []
    for row in frame.unique(["model", "secret"], maintain_order=True).iter_rows(named=True):
        secret = pl.lit(row["secret"], pl.String)
        own = {
            name: table.filter(pl.col("secret").eq_missing(secret))
            for name, table in details.items()
            if "secret" in table.columns
        }
        found.append((row, own))
    return found


def answers(row: Row, own: Tables) -> list[Part]:
    """The answers to one question."""
    parts: list[Part] = [best(own["best"])] if "best" in own else []
    if "releases" in own:
        parts.append(releases(own["releases"]))
    if "drop_first" in own and "shapley" in own:
        parts.append(drop_first(own["drop_first"], own["shapley"]))
        if "coarsen_first" in own:
            parts.append(coarsen_first(own["coarsen_first"]))
        if "interactions" in own:  # stored as JSON, a table without rows has no columns
            parts += pairs(own["interactions"])
    if "borders" in own:
        parts += borders(own["borders"])
    if "best" in own and own["best"].height:
        parts.append(Paragraph(sentence(own)))
    return parts


def _question(row: Row) -> str:
    what = said("re-identification")
    if row["secret"] is not None:
        what = said("inference of {secret}", secret=row["secret"])
    told = "{model}: {what}; before the release she guesses right {times}"
    return said(told, model=row["model"], what=what, times=_times(row["prior_probabilistic"]))


def _times(p: float) -> str:
    chance = words.chance(p)
    return chance if p <= 0 or p >= 1 else said("{chance} times", chance=chance)


def best(table: pl.DataFrame) -> Table:
    """The subset of each size that leaks most (thesis Tables 4.4, 4.7, 4.8)."""
    heads = [
        said("quasi-identifiers"),
        said("best for"),
        said("subset"),
        said("certain"),
        said("degradation"),
    ]
    made = Table.of([*heads, said("best guess"), said("degradation")], right=(0, 3, 4, 5, 6))
    kinds = {
        "both": said("both"),
        "deterministic": said("deterministic"),
        "probabilistic": said("probabilistic"),
    }
    for line in table.iter_rows(named=True):
        made.add_row(
            str(line["n_qids"]),
            kinds.get(line["best_for"], line["best_for"]),
            cells.cell(", ".join(line["qids"])),
            words.percent(line["posterior_deterministic"]),
            f"+ {words.percent(line['degradation_deterministic'])}",
            words.percent(line["posterior_probabilistic"]),
            words.factor(line["degradation_probabilistic"]),
        )
    return made


def releases(table: pl.DataFrame) -> Table:
    """What each auxiliary dataset adds to what the focal one tells alone."""
    heads = [said("release"), said("adds alone"), said("adds as the last")]
    heads += [said("Shapley value"), said("share of the rise")]
    made = Table.of(heads, right=(1, 2, 3, 4))
    for line in table.filter(measure="probabilistic").iter_rows(named=True):
        made.add_row(
            cells.cell(line["dataset"]),
            *(f"+ {words.percent(line[name])}" for name in ("alone", "last", "shapley")),
            "" if line["share"] is None else words.percent(line["share"]),
        )
    return made


def drop_first(table: pl.DataFrame, shapley: pl.DataFrame) -> Table:
    """What dropping each quasi-identifier saves, and its share of the risk."""
    shares = shapley.filter(measure="probabilistic").select("qid", "share")
    heads = [said("drop first"), said("best guess without it"), said("saved")]
    heads += [said("Shapley value"), said("share of the risk")]
    made = Table.of(heads, right=(1, 2, 3, 4))
    for line in table.join(shares, on="qid", maintain_order="left").iter_rows(named=True):
        made.add_row(
            cells.cell(line["qid"]),
            words.percent(line["posterior_without"]),
            words.percent(line["saved"]),
            words.percent(line["shapley"]),
            "" if line["share"] is None else words.percent(line["share"]),
        )
    return made


def coarsen_first(table: pl.DataFrame) -> Table:
    """What merging the values of a quasi-identifier in pairs saves."""
    heads = [said("coarsen first"), said("values"), said("best guess then"), said("saved")]
    made = Table.of(heads, right=(1, 2, 3))
    for line in table.iter_rows(named=True):
        values = {"n": words.count(line["values"]), "m": words.count(line["values_coarser"])}
        made.add_row(
            cells.cell(line["qid"]),
            said("{n} to {m}", **values),
            words.percent(line["posterior_coarser"]),
            words.percent(line["saved"]),
        )
    return made


def pairs(table: pl.DataFrame) -> list[Part]:
    """The pairs that work together most, or stand in for each other."""
    own = table.filter(measure="probabilistic").sort(
        pl.col("interaction").abs(), descending=True, maintain_order=True
    )
    if own.is_empty():
        return []
    made = Table.of([said("strongest pairs"), said("interaction"), ""], right=(1,))
    for line in own.head(PAIRS).iter_rows(named=True):
        value = line["interaction"]
        how = said("more together than apart") if value > 0 else said("stand in for each other")
        pair = cells.cell(f"{line['a']}, {line['b']}")
        made.add_row(pair, number(f"{100 * value:+.2f} %"), how if value else "")
    return [made]


def borders(table: pl.DataFrame) -> list[Part]:
    """The smallest risky subsets and the largest safe ones."""
    heads = {
        ("minimal risky", "deterministic"): said("minimal risky, deterministic"),
        ("minimal risky", "probabilistic"): said("minimal risky, probabilistic"),
        ("maximal safe", "deterministic"): said("maximal safe, deterministic"),
        ("maximal safe", "probabilistic"): said("maximal safe, probabilistic"),
    }
    parts: list[Part] = []
    for (measure, border), own in table.group_by("measure", "border", maintain_order=True):
        head = heads.get((str(border), str(measure)), f"{border}, {measure}")
        made = Table.of([head, said("success")], right=(1,))
        for line in own.head(SHOWN).iter_rows(named=True):
            names = ", ".join(line["qids"]) or said("none: it holds before the release")
            made.add_row(cells.cell(names), words.percent(line["posterior"]))
        parts.append(made)
        if (more := own.height - SHOWN) > 0:
            told = said("and {n} more (see --format csv)", n=words.count(more))
            parts.append(Paragraph(told))
    return parts


def sentence(own: Tables) -> str:
    """The worst of all subsets in words, and what to do first."""
    worst = own["best"].row(-1, named=True)
    names = words.listed([cells.cell(name) for name in worst["qids"]])
    after = _times(worst["posterior_probabilistic"])
    told = said("Who knows {qids} guesses right {times}.", qids=names, times=after)
    if "drop_first" not in own or own["drop_first"].is_empty():
        return told
    first = own["drop_first"].row(0, named=True)
    if first["saved"] <= 0:
        return f"{told} {said('Dropping any single quasi-identifier saves nothing.')}"
    without = words.chance(first["posterior_without"])
    saves = "Dropping {qid} saves most: then it is {chance}."
    return f"{told} {said(saves, qid=cells.cell(first['qid']), chance=without)}"


def _plan(table: pl.DataFrame) -> Table:
    heads = [
        "pass", "subsets that begin with", "subsets", "rows expected", "rows", "way", "s expected",
        "s",
    ]  # fmt: skip
    made = Table.of(heads, right=(0, 2, 3, 4, 6, 7))
    for line in table.iter_rows(named=True):
        made.add_row(
            str(line["pass"]),
            cells.cell(line["first"]),
            words.count(line["subsets"]),
            words.count(line["rows_estimated"]),
            words.count(line["rows"]),
            line["method"] or "",
            f"{line['seconds_estimated']:.1f}",
            f"{line['seconds']:.1f}",
        )
    return made
