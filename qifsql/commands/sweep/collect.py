"""Collecting: what was settled becomes what was found about states, and that what holds of subsets.

What a task settled is summed up by state, question and kind of block (``kinds``).

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
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.spec import Sizes
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


def kinds(layout: Layout) -> exp.Query:
    """One row per state, question and kind of block.

    ``size`` people, ``mode`` of them with the most frequent value of the secret, ``values`` that
    occur. Of whose record it is (question 0) one guess is right in each block.
    """
    source = "settled" if layout.valued else _unpacked(layout).subquery("settled")
    arms: list[exp.Query] = []
    if layout.owners:
        one = statements.typed(exp.Literal.number(1), "BIGINT")
        arms.append(_arm(source, 0, one, exp.column("size")))
    for j, values in layout.secrets.items():
        if layout.valued:
            arms.append(_arm(source, j, exp.column("mode"), exp.column("values", quoted=True)))
            continue
        counts = [exp.column(f"tally_{j}_{code}") for code in range(values)]
        some: list[exp.Expr] = [statements.typed(exp.paren(c.copy() > 0), "BIGINT") for c in counts]
        most = exp.Greatest(this=counts[0], expressions=counts[1:], ignore_nulls=True)
        arms.append(_arm(source, j, most if len(counts) > 1 else counts[0], _sum(some)))
    return exp.union(*arms, distinct=False) if len(arms) > 1 else arms[0]


def _arm(source: str | exp.Expr, question: int, mode: exp.Expr, values: exp.Expr) -> exp.Select:
    return (
        exp.select(
            "state",
            exp.alias_(statements.typed(exp.Literal.number(question), "UTINYINT"), "question"),
            "size",
            exp.alias_(mode, "mode"),
            exp.alias_(values.copy(), "values", quoted=True),
            exp.alias_(exp.Sum(this=exp.column("blocks")), "blocks"),
        )
        .from_(source if isinstance(source, str) else source.copy())
        .group_by("ALL")
    )


def _unpacked(layout: Layout) -> exp.Select:
    """The settled rows with a column for the people and for each value of each secret."""
    columns: list[exp.Expr] = ["state", exp.alias_(_counter(layout, 0), "size")]  # type: ignore[list-item]
    place = 1
    for j, values in layout.secrets.items():
        last: exp.Expr = _counter(layout, 0)
        for code in range(values - 1):
            columns.append(exp.alias_(_counter(layout, place), f"tally_{j}_{code}"))
            last = exp.Sub(this=last, expression=_counter(layout, place))
            place += 1
        columns.append(exp.alias_(last, f"tally_{j}_{values - 1}"))
    return exp.select(*columns, "blocks").from_("settled")


def _counter(layout: Layout, counter: int) -> exp.Expr:
    word, below = layout.place(counter)
    column = exp.column(f"word_{word}")
    shifted = exp.paren(exp.BitwiseRightShift(this=column, expression=exp.Literal.number(below)))
    mask = statements.number((1 << layout.counter_bits) - 1, "HUGEINT")
    return statements.typed(exp.paren(exp.BitwiseAnd(this=shifted, expression=mask)), "BIGINT")


def _sum(terms: list[exp.Expr]) -> exp.Expr:
    return reduce(lambda a, b: exp.Add(this=a, expression=b), terms)


@dataclass(frozen=True)
class Collected:
    """What holds of subsets: one row per subset, question and part of a sample (0: no sample).

    ``histograms``, if asked for, have one row for each percent, too. ``parts`` are the random parts
    of samples (``PARTS``).
    """

    subsets: pl.DataFrame
    histograms: pl.DataFrame | None
    parts: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What can be answered: by every pass the subsets that begin with the attributes ``first``.

    ``first`` are bits by position; ``subsets`` is how many subsets each pass has an answer to.
    """

    first: int
    subsets: Mapping[int, int]


def collect(
    workspace: Workspace,
    layouts: Mapping[int, Layout],
    sizes: Sizes,
    answered: Answered,
    *,
    histograms: bool,
) -> Collected:
    """Collect all passes: what holds of the subsets that are ``answered``."""
    both = [
        _collected(workspace, number, layout, sizes, answered, histograms=histograms)
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
    sizes: Sizes,
    answered: Answered,
    *,
    histograms: bool,
) -> Collected:
    stream = workspace.stream
    worker = Worker(stream, layout, sizes)
    stream.rows(as_named(layout))
    worker.set(
        with_bins=(int(histograms), "UTINYINT"),
        known_too=(1 + (1 << layout.n), "BIGINT"),
        complete=(answered.first & layout.every, "BIGINT"),
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
    expected = answered.subsets[number] * (len(layout.secrets) + layout.owners)
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
