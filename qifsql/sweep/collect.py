"""Collecting: what was found about states becomes what holds of subsets.

A state stands for every subset that has what it took, nothing of what it dropped, and any of what
is free. One attribute after the other, whatever is free is counted for both, taken and dropped;
then every state is a subset. The numbers add up; the smallest and largest stay what they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import polars as pl
from sqlglot import exp

from qifsql.dialect import setting
from qifsql.sweep import statements
from qifsql.sweep.lattice import Scope
from qifsql.sweep.layout import Layout
from qifsql.sweep.worker import Worker
from qifsql.sweep.workspace import Workspace


@dataclass(frozen=True)
class Collected:
    """What holds of subsets: one row per subset and question, and the histograms if asked for."""

    subsets: pl.DataFrame
    histograms: pl.DataFrame | None


def collect(
    workspace: Workspace,
    layouts: Mapping[int, Layout],
    complete: int,
    scope: Scope,
    *,
    histograms: bool,
) -> Collected:
    """Collect all passes; ``complete`` are the first attributes of which all subsets are there."""
    both = [
        _collected(workspace, number, layout, scope, complete, histograms=histograms)
        for number, layout in layouts.items()
    ]
    subsets = pl.concat([c.subsets for c in both]).sort("subset", "question")
    bins = [c.histograms for c in both if c.histograms is not None]
    return Collected(subsets, pl.concat(bins).sort("subset", "question", "bin") if bins else None)


def _collected(
    workspace: Workspace,
    number: int,
    layout: Layout,
    scope: Scope,
    complete: int,
    *,
    histograms: bool,
) -> Collected:
    stream = workspace.stream
    worker = Worker(stream, layout, scope)
    stream.rows(as_named(layout))
    worker.set(
        with_bins=(int(histograms), "UTINYINT"),
        known_too=(1 + (1 << layout.n), "BIGINT"),
        complete=(complete & layout.every, "BIGINT"),
    )
    worker.set(**{"pass": (number, "INTEGER")})
    bits = exp.Array(expressions=[exp.Literal.number(1 << p) for p in range(layout.n)])
    stream.rows(setting("bits", statements.typed(bits, "BIGINT[]"), variable=True))
    worker.see("pairs", "pairs", found="kept.main.found")
    for position in range(layout.n):
        worker.set(bit=(1 << position, "BIGINT"))
        worker.make("waiting", "decided", waiting="waiting" if position else "pairs")
    found = _read(worker, "subsets", workspace.engine.scratch)
    keys = ["subset", "question", "part"]
    subsets = found.group_by(keys, maintain_order=True).agg(
        pl.col("blocks", "people", "mode", "certain").sum(),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
    )
    everybody = subsets.filter(pl.col("part") == 0)
    if not everybody.filter(pl.col("people") != layout.people).is_empty():
        raise workspace.broken("the blocks of some subset do not add up to the people")
    expected = _expected(workspace, number, layout, scope, complete)
    if subsets.select(pl.struct("subset", "question").n_unique()).item() != expected:
        raise workspace.broken("some subset has no answer, or one too many")
    if not histograms:
        return Collected(subsets, None)
    bins = found.group_by("subset", "question", "bin", maintain_order=True)
    return Collected(subsets, bins.agg(individuals=pl.col("people").sum()))


def _expected(
    workspace: Workspace, number: int, layout: Layout, scope: Scope, complete: int
) -> int:
    """How many answers a pass has: one per question and subset that is complete."""
    if scope.listed or scope.searching:
        done = (t for t, _, _ in workspace.worked() if t.number_of_pass == number)
        subsets = len({t.state for t in done if t.kind == "group"})
    else:
        firsts = (p for p in range(layout.n) if complete >> p & 1)
        subsets = sum(scope.beginning(layout.n - 1 - p) for p in firsts)
    return subsets * (len(layout.secrets) + layout.owners)


def _read(worker: Worker, file: str, scratch: Path) -> pl.DataFrame:
    """The rows of a file as a frame; by way of Parquet, because there may be millions."""
    path = scratch / f"{file}.parquet"
    worker.stream.rows(statements.written(worker.say.query(file), str(path)))
    frame = pl.read_parquet(path)
    path.unlink()
    return frame


def as_named(layout: Layout) -> str:
    """The macro that numbers a subset by the quasi-identifiers in the order they were named."""
    terms: list[exp.Expr] = []
    for position, i in enumerate(layout.order):
        shifted = exp.BitwiseRightShift(this=exp.column("x"), expression=_number(position))
        bit = exp.BitwiseAnd(this=exp.paren(shifted), expression=_number(1))
        terms.append(exp.paren(exp.BitwiseLeftShift(this=exp.paren(bit), expression=_number(i))))
    body = reduce(lambda a, b: exp.BitwiseOr(this=a, expression=b), terms)
    return statements.macro("as_named", ("x",), statements.typed(exp.paren(body), "UINTEGER"))


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)
