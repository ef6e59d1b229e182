"""The worst levels of a partition, the people at them, and violations of required levels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from sqlglot import exp

from qifsql.commands.levels.secret_blocks import Secret
from qifsql.commands.levels.spec import MEASURES, Measure
from qifsql.commands.levels.steps import Inputs, Steps, Tables
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


Questions = Sequence[tuple[str, int]]
"""Each the name of a measure and the number of a secret, from 1 (0: none)."""


class Near(NamedTuple):
    """People and blocks at a level near the worst or the required one; whole numbers as texts.

    ``part`` is None for all that are clearly worse than the required level.
    """

    part: str | None
    total: str
    logarithm: bool
    blocks: int
    people: int


class EqualBlocks(NamedTuple):
    """The blocks whose values have these counts: how many they are, and the people in them."""

    counts: tuple[int, ...]
    blocks: int
    people: int


def find_levels(
    tables: Tables, questions: Questions, thresholds: Mapping[str, Fraction]
) -> dict[tuple[str, int], Finding]:
    """Return the worst level of each measure and secret (its number), and violations.

    ``thresholds`` are required levels. A score is a level as a floating-point number, higher for
    what is worse: first the highest is found, then all levels near it are compared exactly.
    """
    scores = _highest_scores(tables, questions)
    steps = Steps(tables)
    queries = []
    for name, j in questions:
        bounds = _bounds(name, thresholds, scores[name, j])
        # A row per level near the worst or the required one (``Near``).
        near = _need_of_measure(steps, "near", name, j, {"bounds": bounds})
        columns = ("part", "whole", "logarithm", "blocks", "people")
        queries.append(exp.select(*_key_columns(name, j), *columns).from_(near))
    levels: dict[tuple[str, int], list[Near]] = {question: [] for question in questions}
    for j, name, *numbers in tables.rows(steps.plan(union(queries))):
        levels[name, j].append(Near(*numbers))
    return {(name, j): _worst_finding(name, near, thresholds) for (name, j), near in levels.items()}


def _highest_scores(tables: Tables, questions: Questions) -> dict[tuple[str, int], float]:
    """Return the highest score, that of the worst block, of each measure and secret."""
    steps = Steps(tables)
    queries = []
    for name, j in questions:
        worst = _need_of_measure(steps, "worst", name, j)
        queries.append(exp.select(*_key_columns(name, j), "score").from_(worst))
    return {(name, j): score for j, name, score in tables.rows(steps.plan(union(queries)))}


def _need_of_measure(
    steps: Steps, file: str, name: str, j: int, inputs: Inputs | None = None
) -> str:
    """Add a view of ``sql/levels`` over the blocks of a measure and secret; return its step's name.

    The view reads ``scored``: the blocks with their scores of the measure.
    """
    return steps.need(
        file,
        j,
        inputs=inputs,
        instead=files_for(name),
        suffix=name,
        about_population=measure_named(name).of_population,
    )


def _key_columns(name: str, j: int) -> list[exp.Expr]:
    """Return the columns that tell the rows of a measure and secret apart in one query."""
    return [
        exp.alias_(exp.Literal.number(j), "secret"),
        exp.alias_(exp.Literal.string(name), "measure"),
    ]


def measure_named(name: str) -> Measure:
    """Return the definition of a measure; that of ``BREACH`` is enhanced beta-likeness."""
    return MEASURES["enhanced_beta" if name == BREACH else name]


def files_for(name: str) -> dict[str, str]:
    """Return which views of ``sql/levels`` stand for ``scored`` and ``blocks`` for one measure.

    ``scored`` gives the score of each block. For entropy it is that of ``l_distinct``: blocks of
    one value have the least entropy. For enhanced beta-likeness it is that of ``basic_beta``: the
    block with the largest gain is the worst one.
    """
    replacements = {"l_entropy": "l_distinct", "enhanced_beta": "basic_beta"}
    return {"scored": f"of_{replacements.get(name, name)}", "blocks": "blocks_of_all"}


def find_entropy(tables: Tables, secret: Secret, threshold: Fraction | None) -> Finding:
    """Return entropy l-diversity, the smallest exp(entropy) of a block, and its violations.

    SQL compares floating-point scores. Blocks whose score is close to the worst or the required one
    come with their counts, and are compared exactly here. ``threshold`` is the required level.
    """
    # The required level as a score; every block has exp(entropy) of at least 1.
    required = -math.log2(threshold) if threshold is not None and threshold > 1 else math.inf
    close, broken = _blocks_by_entropy(tables, secret, required)
    violated = None
    if threshold is not None:
        for block in close:
            is_clear = -math.log2(entropy_l(block.counts)) > required + CLOSE  # it is in ``broken``
            if not is_clear and not meets_entropy(block.counts, threshold):
                broken.append(block)
        violated = _people_and_blocks(broken)
    if secret.fewest == 1:  # blocks of one value are counted as l_distinct
        return Finding(1.0, 0, 0, violated=violated)
    # Of several blocks with the least entropy, that with the fewest and smallest counts.
    least = min(close, key=lambda block: (entropy_l(block.counts), len(block.counts), block.counts))
    value = entropy_l(least.counts)
    at_worst = [block for block in close if entropy_l(block.counts) == value]
    return Finding(value, *_people_and_blocks(at_worst), counts=least.counts, violated=violated)


def _people_and_blocks(parts: Iterable["EqualBlocks | Near"]) -> tuple[int, int]:
    """Return the sum of the people, and that of the blocks, of parts of a release."""
    parts = list(parts)
    return sum(part.people for part in parts), sum(part.blocks for part in parts)


def _blocks_by_entropy(
    tables: Tables, secret: Secret, required: float
) -> tuple[list[EqualBlocks], list[EqualBlocks]]:
    """Return the blocks whose entropy may be the worst or the required one, and clear violations.

    The score, minus the entropy in bits, is rounded in SQL. Blocks within CLOSE of the worst or the
    required score come with the counts of their values; all clearly above the required one are one
    entry without counts. The worst is not looked for if a block has one value (``fewest``).
    """
    j = secret.number
    worst_score = math.inf
    if secret.fewest > 1:
        steps = Steps(tables)
        worst = steps.need("worst", j, instead={"scored": "of_l_entropy"})
        ((worst_score,),) = tables.rows(steps.plan(exp.select("score").from_(worst)))
    bounds = _bounds_row(required - CLOSE, required + CLOSE, worst_score - CLOSE)
    steps = Steps(tables)
    near = steps.need("near_entropy", j, inputs={"bounds": bounds})
    clear = steps.need("clearly", j, inputs={"bounds": bounds})
    of_counts = exp.select("counts", "blocks", "people").from_(near)
    together = exp.select(exp.alias_(exp.null(), "counts"), "blocks", "people").from_(clear)
    rows = tables.rows(steps.plan(union([of_counts, together])))
    close = [EqualBlocks(tuple(counts), b, p) for counts, b, p in rows if counts is not None]
    return close, [EqualBlocks((), b, p) for counts, b, p in rows if counts is None]


def _bounds(name: str, thresholds: Mapping[str, Fraction], worst: float) -> Parameters:
    """Return the scores of blocks that must be compared exactly: near the required or the worst.

    Scores are rounded levels; high ones are worse, and ``worst`` is the highest. The row has the
    range around the required level (``low`` to ``high``; only infinity without one), and ``edge``,
    the least score near the worst. It is the table ``bounds`` of the views.
    """
    definition = measure_named(name)
    edge = worst if math.isinf(worst) else worst - _tolerance(worst)
    required = math.inf
    if definition.aim is not None and definition.aim in thresholds:
        required = float(thresholds[definition.aim])
        if name == "delta_disclosure":  # its score is without the logarithm
            required = math.exp(required) if required < LARGEST else math.inf
        required = -required if definition.higher_is_safer else required  # as a score
    room = 0.0 if math.isinf(required) else _tolerance(required)
    return _bounds_row(required - room, required + room, edge)


def _bounds_row(low: float, high: float, edge: float) -> Parameters:
    """Return the row of ``bounds`` (see ``_bounds``)."""
    return {"low": double(low), "high": double(high), "edge": double(edge)}


def _tolerance(score: float) -> float:
    """Return the distance from a score within which others must be compared exactly."""
    return CLOSE * abs(score) + LEAST


def _worst_finding(name: str, near: Sequence[Near], thresholds: Mapping[str, Fraction]) -> Finding:
    """Return the worst level of a measure in any block, and the violations of a required one.

    ``near`` has the levels, as exact fractions, near the worst and the required one, with their
    people and blocks; one row, without a level, is of all that are clearly worse than required.
    """
    definition = measure_named(name)
    levels = {
        Level(int(row.part), int(row.total), row.logarithm): row
        for row in near
        if row.part is not None
    }
    violated = None
    if definition.aim is not None and definition.aim in thresholds:
        aim = thresholds[definition.aim]
        broken = [row for row in near if row.part is None]
        broken += [row for level, row in levels.items() if _is_violated(definition, level, aim)]
        violated = _people_and_blocks(broken)
    worst = (min if definition.higher_is_safer else max)(levels, key=Level.order)
    at_worst = levels[worst]
    return Finding(worst.value, at_worst.people, at_worst.blocks, worst, violated=violated)


def _is_violated(definition: Measure, level: Level, aim: Fraction) -> bool:
    """Return whether a level does not meet the required one; equal ones meet it unless strict."""
    side = level.beyond(aim)  # 1 above, 0 equal, -1 below
    if definition.higher_is_safer:
        return side < 0
    return side > 0 or (definition.strict and side == 0)


def measure_worst_blocks(
    tables: Tables, secrets: Mapping[int, Secret], levels: Mapping[tuple[str, int], Finding]
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return, by measure and number of the secret, a block that has the worst level.

    A block has its ``size``, the number of its ``values`` and ``counts``, the people with each; of
    a measure without a secret it has the size alone. Also keep these blocks, in one table per
    secret: ``worst_blocks_1``, ``worst_blocks_2``, ...
    """
    blocks: dict[tuple[str, int], dict[str, Any]] = {}
    for j in sorted({j for _, j in levels if j in secrets}):
        steps, queries = Steps(tables), []
        of_secret = {name: level for (name, i), level in levels.items() if i == j}
        for name, level in of_secret.items():
            block = need_block(steps, name, j, level)
            _, measure = _key_columns(name, j)
            queries.append(exp.select(measure, exp.Star()).from_(block))
        tables.counts.keep_rows(f"worst_blocks_{j}", steps.plan(union(queries)))
        rows = tables.dicts("worst_counts", j)
        blocks |= {(row.pop("measure"), j): row for row in rows}
    for (name, j), level in levels.items():
        if j not in secrets:  # a level of sizes
            steps = Steps(tables)
            query = exp.select("size").from_(need_block(steps, name, j, level))
            ((size,),) = tables.rows(steps.plan(query))
            blocks[name, j] = {"size": size}
    return blocks


def need_block(steps: Steps, name: str, j: int, level: Finding) -> str:
    """Add the step that finds a block at the worst level of a measure; return the step's name.

    ``j`` is the number of the secret. The step has one row: block and size.
    """
    inputs = _level_inputs(name, level)
    if level.level is None:  # entropy: looked for by the counts of its values
        return steps.need("worst_entropy", j, inputs=inputs, suffix=name)
    return _need_of_measure(steps, "worst_block", name, j, inputs)


def _level_inputs(name: str, level: Finding) -> dict[str, Parameters]:
    """Return the input tables, of one row each, of the SQL that finds a block at a ``level``.

    ``sought``: the level as an exact fraction, and the range of floating-point scores in which SQL
    looks for it. The level of entropy l-diversity is no fraction: a block is then found by the
    counts of its values, among those whose score is not below ``edge`` in ``bounds``.
    """
    exact = level.level
    if exact is None:  # entropy l-diversity
        counts = exp.Array(expressions=[typed_number(n, "BIGINT") for n in level.counts])
        bounds = _bounds_row(math.inf, math.inf, -math.log2(level.value) - CLOSE)
        return {"sought": {"counts": counts}, "bounds": bounds}
    score = _score(name, exact)
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


def _score(name: str, level: Level) -> float:
    """Return the score of a level of a measure in SQL, where higher scores are worse."""
    score = math.inf if level.total == 0 else level.part / level.total
    if level.logarithm and name != "delta_disclosure":  # whose score is without the logarithm
        score = level.value
    return -score if measure_named(name).higher_is_safer else score
