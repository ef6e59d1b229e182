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

from qifsql.commands.sweep import statements
from qifsql.commands.sweep.lattice import Scope
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.worker import Worker
from qifsql.commands.sweep.workspace import Workspace

TABLES = {"tasks": "kept.main.tasks", "strata": "kept.main.strata"}
PARTS: dict[str, pl.DataType] = {
    "part": pl.Int32(),
    "stratum": pl.Int32(),
    "of_blocks": pl.Int64(),
    "of_people": pl.Int64(),
    "largest": pl.Int64(),
    "drawn": pl.Int64(),
}
"""The random parts of samples: ``drawn`` blocks of the ``of_blocks`` of their stratum, which has
``of_people`` people, at most ``largest`` in one block."""


@dataclass(frozen=True)
class Collected:
    """What holds of subsets: one row per subset, question and part of a sample (0: no sample).

    ``histograms``, if asked for, have one row for each percent, too. ``parts`` are the random parts
    of samples (``PARTS``).
    """

    subsets: pl.DataFrame
    histograms: pl.DataFrame | None
    parts: pl.DataFrame


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
    keys = ["subset", "question", "part"]
    subsets, parts = (
        pl.concat(tables) for tables in ([c.subsets for c in both], [c.parts for c in both])
    )
    bins = [c.histograms for c in both if c.histograms is not None]
    together = pl.concat(bins).sort(*keys, "bin") if bins else None
    return Collected(subsets.sort(keys), together, parts)


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
    worker.set_lists(bits=[1 << p for p in range(layout.n)])
    worker.see("pairs", "pairs", found="kept.main.found")
    for position in range(layout.n):
        worker.set(bit=(1 << position, "BIGINT"))
        worker.make("waiting", "decided", waiting="waiting" if position else "pairs")
    counts = _read(worker, "subsets", workspace.engine.scratch)
    parts = pl.DataFrame(worker.rows("parts", **TABLES), schema=PARTS, orient="row")
    keys = ["subset", "question", "part"]
    subsets = counts.group_by(keys, maintain_order=True).agg(
        pl.col("blocks", "people", "mode", "certain").sum(),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
    )
    if not _adds_up(subsets, parts, layout.people):
        raise workspace.broken("the blocks of some subset do not add up to the people")
    expected = _expected(workspace, number, layout, scope, complete)
    if subsets.select(pl.struct("subset", "question").n_unique()).item() != expected:
        raise workspace.broken("some subset has no answer, or one too many")
    bins = counts.select(*keys, "bin", individuals="people") if histograms else None
    return Collected(subsets, bins, parts)


def _adds_up(subsets: pl.DataFrame, parts: pl.DataFrame, people: int) -> bool:
    """Whether everybody is counted in each subset, or in a stratum of which some were drawn."""
    part, seen = pl.col("part"), pl.col("people")
    drawn = subsets.join(parts, on="part").unique(["subset", "question", "stratum"])
    of_strata = drawn.group_by("subset", "question").agg(pl.col("of_people").sum())
    counted = subsets.group_by("subset", "question").agg(seen.filter(part == 0).sum())
    both = counted.join(of_strata, on=["subset", "question"], how="left")
    return both.filter(seen + pl.col("of_people").fill_null(0) != people).is_empty()


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
