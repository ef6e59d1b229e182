"""A sweep on the terminal: the best subset of each size, who carries the risk, what to drop."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from qifsql.report import cells, words
from qifsql.sweep.result import Sweep

SHOWN = 20  # subsets of a border that are shown
PAIRS = 5  # interactions of pairs that are shown


def sweep(result: Sweep, *, explain: bool = False) -> RenderableType:
    """The answers of a sweep, question by question."""
    parts: list[RenderableType] = []
    for row in result.frame.unique(["model", "secret"], maintain_order=True).iter_rows(named=True):
        own = {
            name: table.filter(pl.col("secret").eq_missing(pl.lit(row["secret"], pl.String)))
            for name, table in result.details.items()
            if "secret" in table.columns
        }
        parts += [Text(_question(row), style="bold"), *_answers(row, own)]
    if explain and "plan" in result.details:
        parts += [Text("The plan, and what it cost", style="bold"), _plan(result.details["plan"])]
    return Group(*parts)


def _question(row: Mapping[str, Any]) -> str:
    what = "re-identification" if row["secret"] is None else f"inference of {row['secret']}"
    before = words.chance(row["prior_probabilistic"])
    return f"{row['model']}: {what}; before the release she guesses right {_times(before)}"


def _times(chance: str) -> str:
    return {"always": "always", "never": "never"}.get(chance, f"{chance} times")


def _answers(row: Mapping[str, Any], own: Mapping[str, pl.DataFrame]) -> list[RenderableType]:
    parts: list[RenderableType] = [_best(own["best"])] if "best" in own else []
    if "releases" in own:
        parts.append(_releases(own["releases"]))
    if "drop_first" in own:
        parts.append(_drop_first(own["drop_first"], own["shapley"]))
        if "coarsen_first" in own:
            parts.append(_coarsen_first(own["coarsen_first"]))
        parts += _pairs(own["interactions"])
    for name in ("borders",):
        if name in own:
            parts += _borders(own[name])
    if "best" in own and own["best"].height:
        parts.append(Text(_sentence(row, own)))
    return [Padding(part, (0, 0, 1, 1), expand=False) for part in parts]


def _best(table: pl.DataFrame) -> RenderableType:
    """The subset of each size that leaks most (thesis Tables 4.4, 4.7, 4.8)."""
    heads = ["qids", "best for", "subset", "certain", "degradation", "best guess", "degradation"]
    made = cells.table(heads, right=(0, 3, 4, 5, 6))
    for line in table.iter_rows(named=True):
        made.add_row(
            str(line["n_qids"]),
            line["best_for"],
            Text(cells.cell(", ".join(line["qids"]))),
            words.percent(line["posterior_deterministic"]),
            f"+ {words.percent(line['degradation_deterministic'])}",
            words.percent(line["posterior_probabilistic"]),
            words.factor(line["degradation_probabilistic"]),
        )
    return made


def _releases(table: pl.DataFrame) -> RenderableType:
    """What each auxiliary dataset adds to what the focal one tells alone."""
    heads = ["release", "adds alone", "adds as the last", "Shapley value", "share of the rise"]
    made = cells.table(heads, right=(1, 2, 3, 4))
    for line in table.filter(measure="probabilistic").iter_rows(named=True):
        made.add_row(
            Text(cells.cell(line["dataset"])),
            *(f"+ {words.percent(line[name])}" for name in ("alone", "last", "shapley")),
            "" if line["share"] is None else words.percent(line["share"]),
        )
    return made


def _drop_first(table: pl.DataFrame, shapley: pl.DataFrame) -> RenderableType:
    """What dropping each quasi-identifier saves, and its share of the risk."""
    shares = shapley.filter(measure="probabilistic").select("qid", "share")
    heads = ["drop first", "best guess without it", "saved", "Shapley value", "share of the risk"]
    made = cells.table(heads, right=(1, 2, 3, 4))
    for line in table.join(shares, on="qid", maintain_order="left").iter_rows(named=True):
        made.add_row(
            Text(cells.cell(line["qid"])),
            words.percent(line["posterior_without"]),
            words.percent(line["saved"]),
            words.percent(line["shapley"]),
            "" if line["share"] is None else words.percent(line["share"]),
        )
    return made


def _coarsen_first(table: pl.DataFrame) -> RenderableType:
    """What merging the values of a quasi-identifier in pairs saves."""
    heads = ["coarsen first", "values", "best guess then", "saved"]
    made = cells.table(heads, right=(1, 2, 3))
    for line in table.iter_rows(named=True):
        made.add_row(
            Text(cells.cell(line["qid"])),
            f"{words.count(line['values'])} to {words.count(line['values_coarser'])}",
            words.percent(line["posterior_coarser"]),
            words.percent(line["saved"]),
        )
    return made


def _pairs(table: pl.DataFrame) -> list[RenderableType]:
    """The pairs that work together most, or stand in for each other."""
    own = table.filter(measure="probabilistic").sort(
        pl.col("interaction").abs(), descending=True, maintain_order=True
    )
    if own.is_empty():
        return []
    made = cells.table(["strongest pairs", "interaction", ""], right=(1,))
    for line in own.head(PAIRS).iter_rows(named=True):
        value = line["interaction"]
        how = "more together than apart" if value > 0 else "stand in for each other"
        pair = cells.cell(f"{line['a']}, {line['b']}")
        made.add_row(Text(pair), f"{100 * value:+.2f} %", how if value else "")
    return [made]


def _borders(table: pl.DataFrame) -> list[RenderableType]:
    """The smallest risky subsets and the largest safe ones."""
    parts: list[RenderableType] = []
    for (measure, border), own in table.group_by("measure", "border", maintain_order=True):
        made = cells.table([f"{border}, {measure}", "success"], right=(1,))
        for line in own.head(SHOWN).iter_rows(named=True):
            names = ", ".join(line["qids"]) or "none: it holds before the release"
            made.add_row(Text(cells.cell(names)), words.percent(line["posterior"]))
        more = own.height - SHOWN
        parts.append(made)
        if more > 0:
            parts.append(Text(f"and {words.count(more)} more (see --format csv)"))
    return parts


def _sentence(row: Mapping[str, Any], own: Mapping[str, pl.DataFrame]) -> str:
    """The worst of all subsets in words, and what to do first."""
    worst = own["best"].row(-1, named=True)
    names = words.listed([cells.cell(name) for name in worst["qids"]])
    after = words.chance(worst["posterior_probabilistic"])
    told = f"Who knows {names} guesses right {_times(after)}."
    if "drop_first" not in own or own["drop_first"].is_empty():
        return told
    first = own["drop_first"].row(0, named=True)
    if first["saved"] <= 0:
        return f"{told} Dropping any single quasi-identifier saves nothing."
    without = words.chance(first["posterior_without"])
    return f"{told} Dropping {cells.cell(first['qid'])} saves most: then it is {without}."


def _plan(table: pl.DataFrame) -> RenderableType:
    heads = [
        "pass", "subsets that begin with", "subsets", "rows expected", "rows", "way", "s expected",
        "s",
    ]  # fmt: skip
    made = cells.table(heads, right=(0, 2, 3, 4, 6, 7))
    for line in table.iter_rows(named=True):
        made.add_row(
            str(line["pass"]),
            Text(cells.cell(line["first"])),
            words.count(line["subsets"]),
            words.count(line["rows_estimated"]),
            words.count(line["rows"]),
            line["method"] or "",
            f"{line['seconds_estimated']:.1f}",
            f"{line['seconds']:.1f}",
        )
    return made
