"""The worst levels of a partition, the people at them, and violations of required levels.

SQL compares floating numbers of 64 bits and returns all levels that are close to the worst or to
the required one as whole numbers. This module compares these exactly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from qifsql.commands.levels.secret_blocks import Secret
from qifsql.commands.levels.spec import MEASURES, Measure
from qifsql.commands.levels.steps import Steps, Tables
from qifsql.measures.syntactic import Level, entropy_l, meets_entropy
from qifsql.query.columns import double, typed_number, union
from qifsql.query.splice import Parameters

CLOSE, LEAST = 1e-9, 1e-12  # relative and absolute distance of scores compared exactly
LARGEST = 700  # exp of larger numbers may overflow
BREACH = "enhanced_breach"  # the measure that finds violations of enhanced beta-likeness


@dataclass(frozen=True)
class Finding:
    """The worst level of a partition, the people and blocks at it, and those in violation.

    ``level`` is None for entropy: its worst block has these ``counts``, divided by their greatest
    common divisor. ``violated`` are the people and the blocks that violate the required level.
    """

    value: float
    people: int
    blocks: int
    level: Level | None = None
    counts: tuple[int, ...] = ()
    violated: tuple[int, int] | None = None


Questions = Sequence[tuple[str, int, int]]  # measure, number of the secret, its width


def find_levels(
    tables: Tables,
    questions: Questions,
    thresholds: Mapping[str, Fraction],
    height: Mapping[int, int],
) -> dict[tuple[str, int], Finding]:
    """Return the worst level of each measure and secret, with violations of the required one.

    ``height`` maps the number of a secret to the height of its hierarchy.
    """
    scores = _highest_scores(tables, questions, height)
    steps = Steps(tables)
    parts = []
    for name, j, width in questions:
        inputs = {"bounds": _bounds(name, thresholds, scores[name, j]), **_height_input(height, j)}
        near = steps.need("near", j, width, inputs=inputs, instead=files_for(name), suffix=name)
        columns = ("part", "whole", "logarithm", "blocks", "people")
        parts.append(exp.select(*_key_columns(name, j), *columns).from_(near))
    by: dict[tuple[str, int], list[tuple[Any, ...]]] = {(n, j): [] for n, j, _ in questions}
    for j, name, *line in tables.rows(steps.plan(union(parts))):
        by[name, j].append(tuple(line))
    return {(name, j): _worst_finding(name, lines, thresholds) for (name, j), lines in by.items()}


def _highest_scores(
    tables: Tables, questions: Questions, height: Mapping[int, int]
) -> dict[tuple[str, int], float]:
    """Return the highest score of each measure and secret."""
    steps = Steps(tables)
    parts = []
    for name, j, width in questions:
        inputs = _height_input(height, j)
        worst = steps.need("worst", j, width, inputs=inputs, instead=files_for(name), suffix=name)
        parts.append(exp.select(*_key_columns(name, j), "score").from_(worst))
    return {(name, j): score for j, name, score in tables.rows(steps.plan(union(parts)))}


def _height_input(height: Mapping[int, int], j: int) -> dict[str, Parameters]:
    if j not in height:
        return {}
    return {"hierarchy_height": {"height": typed_number(height[j], "BIGINT")}}


def _key_columns(name: str, j: int) -> list[exp.Expr]:
    """Return the number of the secret and the name of the measure, as columns."""
    return [
        exp.alias_(exp.Literal.number(j), "secret"),
        exp.alias_(exp.Literal.string(name), "measure"),
    ]


def measure_named(name: str) -> Measure:
    """Return the definition of a measure; that of ``BREACH`` is enhanced beta-likeness."""
    base = "enhanced_beta" if name == BREACH else name
    return next(m for m in MEASURES if m.name == base)


def files_for(name: str) -> dict[str, str]:
    """Return the files of ``sql/levels`` that replace names for one measure.

    For entropy, only the least level is found here: a block of one value (``l_distinct``). For
    enhanced beta-likeness, the block with the largest gain (``basic_beta``) is the worst one.
    """
    replacements = {"l_entropy": "l_distinct", "enhanced_beta": "basic_beta"}
    return {"scored": f"of_{replacements.get(name, name)}", "blocks": "blocks_of_all"}


def find_entropy(tables: Tables, secret: Secret, threshold: Fraction | None) -> Finding:
    """Return the smallest exp(entropy) of a block, and violations of the required level."""
    j, width = secret.number, secret.width
    edge = math.inf
    if secret.fewest > 1:
        steps = Steps(tables)
        worst = steps.need("worst", j, width, instead={"scored": "of_l_entropy"})
        ((score,),) = tables.rows(steps.plan(exp.select("score").from_(worst)))
        edge = score - CLOSE
    at = -math.log2(threshold) if threshold is not None and threshold > 1 else math.inf
    high = at + CLOSE
    inputs = {"bounds": _bounds_row(at - CLOSE, high, edge)}
    steps = Steps(tables)
    near, clear = (steps.need(n, j, width, inputs=inputs) for n in ("near_entropy", "clearly"))
    kinds = exp.select("counts", "blocks", "people").from_(near)
    every = exp.select(exp.alias_(exp.null(), "counts"), "blocks", "people").from_(clear)
    rows = tables.rows(steps.plan(union([kinds, every])))
    close = {tuple(line[0]): line[1:] for line in rows if line[0] is not None}
    ((_, blocks, people),) = (line for line in rows if line[0] is None)
    for kind, (b, p) in close.items():
        clearly = -math.log2(entropy_l(kind)) > high  # SQL has counted it
        if threshold is not None and not clearly and not meets_entropy(kind, threshold):
            blocks, people = blocks + b, people + p
    violated = None if threshold is None else (people, blocks)
    if secret.fewest == 1:
        return Finding(1.0, 0, 0, violated=violated)
    least = min(close, key=lambda kind: (entropy_l(kind), len(kind), kind))
    value = entropy_l(least)
    alike = [line for kind, line in close.items() if entropy_l(kind) == value]
    at_worst = sum(p for _, p in alike), sum(b for b, _ in alike)
    return Finding(value, *at_worst, counts=least, violated=violated)


def _bounds(name: str, thresholds: Mapping[str, Fraction], worst: float) -> Parameters:
    """Return the range of scores near the required level, and the least one near the worst."""
    definition = measure_named(name)
    edge = worst if math.isinf(worst) else worst - _tolerance(worst)
    at = math.inf
    if definition.aim is not None and definition.aim in thresholds:
        at = float(thresholds[definition.aim])
        if name == "delta_disclosure":
            at = math.exp(at) if at < LARGEST else math.inf
        at = -at if definition.higher_is_safer else at
    room = 0.0 if math.isinf(at) else _tolerance(at)
    return _bounds_row(at - room, at + room, edge)


def _bounds_row(low: float, high: float, edge: float) -> Parameters:
    return {"low": double(low), "high": double(high), "edge": double(edge)}


def _tolerance(score: float) -> float:
    """Return the distance from a score within which others must be compared exactly."""
    return CLOSE * abs(score) + LEAST


def _worst_finding(
    name: str, lines: list[tuple[Any, ...]], thresholds: Mapping[str, Fraction]
) -> Finding:
    definition = measure_named(name)
    levels = [
        (Level(int(part), int(total), logarithm), blocks, people)
        for part, total, logarithm, blocks, people in lines
        if part is not None
    ]
    violated = None
    if definition.aim is not None and definition.aim in thresholds:
        aim = thresholds[definition.aim]
        broken = [(b, p) for part, _, _, b, p in lines if part is None]
        broken += [(b, p) for level, b, p in levels if is_violated(definition, level, aim)]
        violated = sum(p for _, p in broken), sum(b for b, _ in broken)
    pick = min if definition.higher_is_safer else max
    level, blocks, people = pick(levels, key=lambda item: item[0].order())
    return Finding(level.value, people, blocks, level, violated=violated)


def is_violated(definition: Measure, level: Level, aim: Fraction) -> bool:
    """Return whether a level violates the required one."""
    side = level.beyond(aim)
    if definition.higher_is_safer:
        return side < 0
    return side > 0 or (definition.strict and side == 0)


def measure_worst_blocks(
    tables: Tables,
    secrets: Mapping[int, Secret],
    levels: Mapping[tuple[str, int], Finding],
    height: Mapping[int, int],
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the size of a worst block of each measure, and the number of people with each value.

    Also keep these blocks, in one table per secret: ``worst_blocks_1``, ``worst_blocks_2``, ...
    """
    blocks: dict[tuple[str, int], dict[str, Any]] = {}
    for j in sorted({j for _, j in levels if j in secrets}):
        of_secret = {name: level for (name, i), level in levels.items() if i == j}
        keep_worst_blocks(tables, secrets[j], of_secret, height)
        lines = tables.dicts("worst_counts", j, secrets[j].width)
        blocks |= {(line.pop("measure"), j): line for line in lines}
    for (name, j), level in levels.items():
        if j not in secrets:  # a level of sizes
            steps = Steps(tables)
            query = exp.select("size").from_(need_block(steps, None, (name, j), level, height))
            ((size,),) = tables.rows(steps.plan(query))
            blocks[name, j] = {"size": size}
    return blocks


def keep_worst_blocks(
    tables: Tables, secret: Secret, levels: Mapping[str, Finding], height: Mapping[int, int]
) -> None:
    """Keep a worst block of each measure of a secret as a table, one row per measure."""
    steps = Steps(tables)
    rows = []
    for name, level in levels.items():
        block = need_block(steps, secret, (name, secret.number), level, height)
        rows.append(exp.select(_key_columns(name, secret.number)[1], exp.Star()).from_(block))
    tables.counts.keep_rows(f"worst_blocks_{secret.number}", steps.plan(union(rows)))


def need_block(
    steps: Steps,
    secret: Secret | None,
    key: tuple[str, int],
    level: Finding,
    height: Mapping[int, int],
) -> str:
    """Add the step that finds a worst block; return its name.

    The step has the columns that identify the block, and its size.
    """
    name, j = key
    width = steps.tables.counts.bound.microdata.width
    if secret is not None or name == "k":
        width = secret.width if secret else 1
    return steps.need(
        "worst_block",
        j,
        width,
        inputs={**level_inputs(name, level), **_height_input(height, j)},
        instead={"worst_block": "worst_entropy"} if level.level is None else files_for(name),
        suffix=name,
    )


def level_inputs(name: str, level: Finding) -> dict[str, Parameters]:
    """Return the rows that define the level of the worst block that is sought."""
    if level.level is None:
        counts = exp.Array(expressions=[typed_number(n, "BIGINT") for n in level.counts])
        bounds = _bounds_row(math.inf, math.inf, -math.log2(level.value) - CLOSE)
        return {"sought": {"counts": counts}, "bounds": bounds}
    exact = level.level
    score = math.inf if exact.total == 0 else exact.part / exact.total
    if exact.logarithm and name != "delta_disclosure":
        score = exact.value
    score = -score if measure_named(name).higher_is_safer else score
    room = 0.0 if math.isinf(score) else _tolerance(score)
    return {
        "sought": {
            "low": double(score - room),
            "high": double(score + room),
            "part": typed_number(exact.part, "HUGEINT"),
            "whole": typed_number(exact.total, "HUGEINT"),
            "logarithm": exp.true() if exact.logarithm else exp.false(),
        }
    }
