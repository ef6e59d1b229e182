"""Reading levels off the tables: the worst one, who stands there, who breaks what is wanted.

SQL compares numbers of 64 bits and gives all levels that are close to the worst or to the wanted
one as whole numbers; which of them are worse is decided here, exactly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.counts import Counts
from qifsql.grading.aims import MEASURES, Measure
from qifsql.grading.counting import Secret
from qifsql.grading.steps import Steps, double, number, row
from qifsql.measures.syntactic import Level, entropy_l, meets_entropy

CLOSE, LEAST = 1e-9, 1e-12  # how far apart scores are that are decided exactly
BREACH = "enhanced_breach"  # whose level tells who breaks enhanced beta-likeness


@dataclass(frozen=True)
class Found:
    """A level of a partition: its exact worst, who stands there, and who breaks what is wanted.

    ``level`` is None for entropy, whose worst block has these ``counts``, divided by what divides
    all of them. ``violated`` are people and blocks.
    """

    value: float
    people: int
    blocks: int
    level: Level | None = None
    counts: tuple[int, ...] = ()
    violated: tuple[int, int] | None = None


Asked = Sequence[tuple[str, int, int]]  # measures, the number of the secret, its width


def found(
    counts: Counts, asked: Asked, wanted: Mapping[str, Fraction]
) -> dict[tuple[str, int], Found]:
    """The worst level of each measure and secret, and who breaks what is wanted of it."""
    steps = Steps(counts)
    parts = []
    for name, j, width in asked:
        near = steps.need(
            "near",
            j,
            width,
            given={"bounds": _bounds(name, wanted)},
            instead=instead(name),
            suffix=name,
        )
        parts.append(
            exp.select(
                exp.alias_(exp.Literal.number(j), "secret"),
                exp.alias_(exp.Literal.string(name), "measure"),
                "part",
                "whole",
                "logarithm",
                "blocks",
                "people",
            ).from_(near)
        )
    plan = steps.plan(exp.union(*parts, distinct=False) if len(parts) > 1 else parts[0])
    counts.sent.append(plan)
    rows = counts.engine.rows(plan, "measuring", counts.where)
    by: dict[tuple[str, int], list[tuple[Any, ...]]] = {(n, j): [] for n, j, _ in asked}
    for j, name, *line in rows:
        by[name, j].append(tuple(line))
    return {(name, j): _worst(name, lines, wanted) for (name, j), lines in by.items()}


def measure(name: str) -> Measure:
    """How the levels of a measure are read; a breach is read like what is wanted of it."""
    own = "enhanced_beta" if name == BREACH else name
    return next(m for m in MEASURES if m.name == own)


def instead(name: str) -> dict[str, str]:
    """The files that stand for names of ``sql/levels`` for one measure.

    Of entropy only blocks of one value, the least there is, are told by a level; of enhanced
    beta-likeness the block of the largest gain is the worst one.
    """
    other = {"l_entropy": "l_distinct", "enhanced_beta": "basic_beta"}
    return {"scored": f"of_{other.get(name, name)}", "blocks": "blocks_of_all"}


def entropies(counts: Counts, secret: Secret, wanted: Fraction | None) -> Found:
    """The least entropy of a block, as exp(H), and who has less than what is wanted."""
    edge = secret.certainty - CLOSE if secret.fewest > 1 else math.inf
    at = -math.log2(wanted) if wanted is not None and wanted > 1 else None
    low, high = (math.inf, math.inf) if at is None else (at - CLOSE, at + CLOSE)
    given = {"bounds": row(low=double(low), high=double(high), edge=double(edge))}
    steps = Steps(counts)
    near = steps.need("near_entropy", secret.number, secret.width, given=given)
    clear = steps.need("clearly", secret.number, secret.width, given=given)
    kinds = exp.select("counts", "blocks", "people").from_(near)
    every = exp.select(exp.alias_(exp.null(), "counts"), "blocks", "people").from_(clear)
    plan = steps.plan(exp.union(kinds, every, distinct=False))
    counts.sent.append(plan)
    rows = counts.engine.rows(plan, "measuring", counts.where)
    close = {tuple(sorted(line[0])): line[1:] for line in rows if line[0] is not None}
    ((_, blocks, people),) = (line for line in rows if line[0] is None)
    for kind, (b, p) in close.items():
        score = entropy_l(kind)
        clearly = at is not None and -math.log2(score) > high
        if wanted is not None and not clearly and not meets_entropy(kind, wanted):
            blocks, people = blocks + b, people + p
    violated = None if wanted is None else (people, blocks)
    if secret.fewest == 1:
        return Found(1.0, 0, 0, counts=(1,), violated=violated)
    least = min(close, key=lambda kind: (entropy_l(kind), len(kind), kind))
    value = entropy_l(least)
    alike = [line for kind, line in close.items() if entropy_l(kind) == value]
    at_worst = sum(p for _, p in alike), sum(b for b, _ in alike)
    return Found(value, *at_worst, counts=least, violated=violated)


def _bounds(name: str, wanted: Mapping[str, Fraction]) -> exp.Select:
    """The scores between which levels are close to the one that is wanted."""
    told = measure(name)
    if told.aim not in wanted:
        return row(low=double(math.inf), high=double(math.inf))
    assert told.aim is not None  # noqa: S101 - it is wanted
    number_ = float(wanted[told.aim])
    if name == "delta_disclosure":
        number_ = math.exp(number_) if number_ < 700 else math.inf  # noqa: PLR2004 - of floats
    score = -number_ if told.higher_is_safer else number_
    if math.isinf(score):
        return row(low=double(score), high=double(score))
    room = CLOSE * abs(score) + LEAST
    return row(low=double(score - room), high=double(score + room))


def _worst(name: str, lines: list[tuple[Any, ...]], wanted: Mapping[str, Fraction]) -> Found:
    told = measure(name)
    levels = [
        (Level(int(part), int(whole), logarithm), blocks, people)
        for part, whole, logarithm, blocks, people in lines
        if part is not None
    ]
    violated = None
    if told.aim in wanted:
        aim = wanted[told.aim]
        broken = [(b, p) for part, _, _, b, p in lines if part is None]
        broken += [(b, p) for level, b, p in levels if breaks(told, level, aim)]
        violated = sum(p for _, p in broken), sum(b for b, _ in broken)
    pick = min if told.higher_is_safer else max
    level, blocks, people = pick(levels, key=lambda item: item[0].order())
    return Found(level.value, people, blocks, level, violated=violated)


def breaks(told: Measure, level: Level, aim: Fraction) -> bool:
    """Whether a block of that level breaks what is wanted."""
    side = level.beyond(aim)
    if told.higher_is_safer:
        return side < 0
    return side > 0 or (told.strict and side == 0)


def worst_blocks(
    counts: Counts, secrets: Mapping[int, Secret], found: Mapping[tuple[str, int], Found]
) -> dict[tuple[str, int], dict[str, Any]]:
    """The size of a worst block of each measure, its values, and how many people have each."""
    steps = Steps(counts)
    parts = []
    for (name, j), level in found.items():
        given, files = sought(name, level), sought_in(name, level)
        width = secrets[j].width if j in secrets else block_width(counts, name)
        with_counts = j in secrets and name != "k"
        actual = steps.need(
            "worst_counts" if with_counts else "worst_block",
            j,
            width,
            given=given,
            instead=files,
            suffix=name,
        )
        own = [exp.column(c) for c in ("values", "counts")] if with_counts else []
        own = own or [exp.cast(exp.null(), "BIGINT"), exp.null()]
        for column in own:
            if isinstance(column, exp.Column):
                column.this.set("quoted", True)
        parts.append(
            exp.select(
                exp.alias_(exp.Literal.number(j), "secret"),
                exp.alias_(exp.Literal.string(name), "measure"),
                "size",
                exp.alias_(own[0], "different"),
                exp.alias_(own[1], "counts"),
            ).from_(actual)
        )
    plan = steps.plan(exp.union(*parts, distinct=False) if len(parts) > 1 else parts[0])
    counts.sent.append(plan)
    rows = counts.engine.rows(plan, "looking for the worst blocks", counts.where)
    return {
        (name, j): {"size": size, "values": values, "counts": listed}
        for j, name, size, values, listed in rows
    }


def block_width(counts: Counts, name: str) -> int:
    """How many columns tell blocks apart, where no secret is in question."""
    return 1 if name == "k" else len(counts.bound.qids)


def sought(name: str, level: Found) -> dict[str, exp.Query]:
    """The steps that say which level a block must have."""
    if level.level is None:
        counts = exp.Array(expressions=[number(n, "BIGINT") for n in sorted(level.counts)[::-1]])
        edge = -math.log2(level.value) - CLOSE
        bounds = row(low=double(math.inf), high=double(math.inf), edge=double(edge))
        return {"sought": row(counts=counts), "bounds": bounds}
    exact = level.level
    score = math.inf if exact.whole == 0 else exact.part / exact.whole
    if exact.logarithm and name != "delta_disclosure":
        score = exact.value
    score = -score if measure(name).higher_is_safer else score
    room = 0.0 if math.isinf(score) else CLOSE * abs(score) + LEAST
    return {
        "sought": row(
            low=double(score - room),
            high=double(score + room),
            part=number(exact.part, "HUGEINT"),
            whole=number(exact.whole, "HUGEINT"),
            logarithm=exp.true() if exact.logarithm else exp.false(),
        )
    }


def sought_in(name: str, level: Found) -> dict[str, str]:
    """The files that stand for names, to look for a worst block."""
    if level.level is None:
        return {"worst_block": "worst_entropy"}
    return instead(name)


COUNTED = pl.List(pl.Struct({"value": pl.String(), "records": pl.Int64()}))
