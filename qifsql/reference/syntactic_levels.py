"""Levels of a release, block by block (M41 to M55).

``counts`` are the values of the secret in a block, ``totals`` those of the release in the order of
the values.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from qifsql.reference import microdata
from qifsql.reference.microdata import Counts, Names, Rows, sizes, value

Level: TypeAlias = Fraction | int | float
Lines: TypeAlias = Mapping[Any, Sequence[str]]
"""The nodes of a hierarchy above each value, from below; the root is above all and not named."""


ROUNDING = 1e-12  # of logarithms


def shares(counts: Counts) -> dict[Any, Fraction]:
    """Return the distribution of these values."""
    size = sum(counts.values())
    return {v: Fraction(n, size) for v, n in counts.items()}


def k(counts: Counts, _: Counts | None = None) -> int:
    """Compute k-anonymity (M41): the people of the block."""
    return sum(counts.values())


def l_distinct(counts: Counts, _: Counts | None = None) -> int:
    """Compute distinct l-diversity (M42): the values in the block."""
    return len(counts)


def l_entropy(counts: Counts) -> float:
    """Compute entropy l-diversity (M43): exp(-sum q ln q) for the shares q of the values."""
    return math.exp(-math.fsum(q * math.log(q) for q in map(float, shares(counts).values())))


def keeps_entropy(counts: Counts, l: Fraction) -> bool:  # noqa: E741 - the field's own letter
    """Return whether exp of the entropy is at least l, exactly: both to the power of the size."""
    size = sum(counts.values())
    return math.prod(Fraction(size, n) ** n for n in counts.values()) >= l**size


def l_recursive_c(counts: Counts, l: int) -> Fraction | None:  # noqa: E741
    """Compute recursive (c, l)-diversity (M44): r_1 / (r_l + ... + r_m); None if no c is enough."""
    ordered = sorted(counts.values(), reverse=True)
    return Fraction(ordered[0], sum(ordered[l - 1 :])) if len(ordered) >= l else None


def t_equal(counts: Counts, totals: Counts) -> Fraction:
    """Compute t-closeness, equal distance (M45): half the sum of the differences of shares."""
    block, everybody = shares(counts), shares(totals)
    return sum((abs(block.get(v, 0) - p) for v, p in everybody.items()), Fraction()) / 2


def t_ordered(counts: Counts, totals: Counts) -> Fraction:
    """Compute t-closeness, ordered distance (M46): the work of moving shares along the order.

    Shares of the whole are moved to the block's, from the first value on (Li et al. 2007); M46
    states the same work as a sum of differences.
    """
    if len(totals) == 1:
        return Fraction()
    block = shares(counts)
    have, want = list(shares(totals).values()), [block.get(v, Fraction()) for v in totals]
    work, i, j = Fraction(), 0, 0
    while i < len(totals) and j < len(totals):
        moved = min(have[i], want[j])
        work += moved * Fraction(abs(i - j), len(totals) - 1)
        have[i], want[j] = have[i] - moved, want[j] - moved
        i, j = (i + 1, j) if have[i] == 0 else (i, j + 1)
    return work


def t_hierarchical(counts: Counts, totals: Counts, lines: Lines) -> Fraction:
    """Compute t-closeness, hierarchical distance (M47), as Li et al. 2007 define it.

    The sum over the inner nodes of their height, as a share of that of the root, times the smaller
    of the shares that their children have too much and too little. ``lines`` has the nodes above
    each value, from the lowest up, without the root.
    """
    block, everybody = shares(counts), shares(totals)
    nodes_above = {v: (*path, "root") for v, path in lines.items()}
    root_height = len(next(iter(nodes_above.values())))
    excess = {v: everybody.get(v, Fraction()) - block.get(v, Fraction()) for v in lines}
    cost = Fraction()
    for height in range(1, root_height + 1):
        children: dict[str, list[Fraction]] = {}  # the excess of each child, by its parent
        for node, share in excess.items():
            children.setdefault(nodes_above[node][0], []).append(share)
        too_much = {node: sum((x for x in c if x > 0), Fraction()) for node, c in children.items()}
        excess = {node: sum(c, Fraction()) for node, c in children.items()}
        moved = sum((min(too_much[n], too_much[n] - excess[n]) for n in children), Fraction())
        cost += Fraction(height, root_height) * moved
        nodes_above = {path[0]: path[1:] for path in nodes_above.values()}
    return cost


def alpha(counts: Counts) -> Fraction:
    """Compute (alpha, k)-anonymity (M48): the largest share of a value in the block."""
    return max(shares(counts).values())


def ratios(counts: Counts, totals: Counts) -> dict[Any, Fraction]:
    """Return q / p of each value of the block: its share in the block over that in the release."""
    size, everybody = sum(counts.values()), sum(totals.values())
    return {v: Fraction(n * everybody, size * totals[v]) for v, n in counts.items()}


def basic_beta(counts: Counts, totals: Counts) -> Fraction:
    """Compute basic beta-likeness (M49): the largest relative gain (q - p) / p of a value."""
    return max(ratios(counts, totals).values()) - 1


def enhanced_beta(beta: Fraction, totals: Counts) -> float:
    """Compute enhanced beta-likeness (M50) from basic beta: at most -ln p of the rarest value."""
    return min(float(beta), -math.log(min(shares(totals).values())))


def keeps_enhanced_beta(counts: Counts, totals: Counts, beta: Fraction) -> bool:
    """Return whether no value gains more than beta, or more than -ln p of its own."""
    p, gains = shares(totals), {v: r - 1 for v, r in ratios(counts, totals).items()}
    return all(gain <= beta and gain <= -math.log(p[v]) for v, gain in gains.items())


def farthest(counts: Counts, totals: Counts) -> Fraction:
    """Return the largest of q / p and p / q; delta-disclosure (M51) is its logarithm."""
    factors = ratios(counts, totals).values()
    return max(*factors, 1 / min(factors))


def average_class_size(blocks: Sequence[Counts]) -> Fraction:
    """Compute the average class size (M55)."""
    return Fraction(sum(sum(b.values()) for b in blocks), len(blocks))


def bites(blocks: Iterable[Counts], totals: Counts, factor: Fraction | int) -> dict[str, int]:
    """Return the people exposed to known attacks on k and l (M54).

    Homogeneity: at most one reported value in the block (None is missing); background knowledge:
    two values; skewness: some value is at least ``factor`` times as likely as among all.
    """
    people = Counter[str]()
    for counts in blocks:
        size = sum(counts.values())
        people["homogeneity"] += size * (len(counts.keys() - {None}) <= 1)
        people["background"] += size * (len(counts) == 2)
        people["skewness"] += size * (max(ratios(counts, totals).values()) >= factor)
    return dict(people)


@dataclass(frozen=True)
class Measure:
    """A level: of one block, the name of its requirement, and how it is reported and required.

    The level of a release is the smallest over its blocks where ``least``, else the largest;
    ``report`` makes of it the number that is reported, from the totals.
    """

    of: Callable[[Counts, Counts], Level]
    aim: str
    least: bool = False
    report: Callable[[Any, Counts], Level] | None = None
    keeps: Callable[[Counts, Counts, Fraction], bool] | None = None

    def holds(self, counts: Counts, totals: Counts, aim: Fraction) -> bool:
        """Return whether a block keeps what is required."""
        if self.keeps is not None:
            return self.keeps(counts, totals, aim)
        level = self.of(counts, totals)
        return level >= aim if self.least else level <= aim


MEASURES = {
    "k": Measure(k, "k", least=True),
    "l_distinct": Measure(l_distinct, "l", least=True),
    "l_entropy": Measure(
        lambda counts, _: l_entropy(counts),
        "l_entropy",
        least=True,
        keeps=lambda counts, _, aim: keeps_entropy(counts, aim),
    ),
    "alpha": Measure(lambda counts, _: alpha(counts), "alpha"),
    "t_equal": Measure(t_equal, "t"),
    "t_ordered": Measure(t_ordered, "t"),
    "basic_beta": Measure(basic_beta, "beta"),
    "enhanced_beta": Measure(
        basic_beta, "enhanced_beta", report=enhanced_beta, keeps=keeps_enhanced_beta
    ),
    "delta_disclosure": Measure(
        farthest,
        "delta",
        report=lambda factor, _: math.log(factor),
        keeps=lambda counts, totals, aim: math.log(farthest(counts, totals)) < aim,
    ),
}


def recursive(l: int) -> Measure:  # noqa: E741
    """Return recursive (c, l)-diversity of this l as a level; no c is enough: infinity."""

    def level(counts: Counts, _: Counts) -> Level:
        ratio = l_recursive_c(counts, l)
        return math.inf if ratio is None else ratio

    return Measure(level, "c", keeps=lambda counts, totals, c: level(counts, totals) < c)


def hierarchical(lines: Lines) -> Measure:
    """Return t-closeness with the distance of this hierarchy as a level."""
    return Measure(lambda counts, totals: t_hierarchical(counts, totals, lines), "t")


def assess(
    measure: Measure, blocks: Sequence[Counts], totals: Counts, aim: Fraction | None
) -> dict[str, Any]:
    """Return the level of a release (``value``), and the people and blocks at it and in violation.

    ``blocks`` have the people by value of the secret, ``totals`` all of them. If no level is
    enough, the value is None; numbers in violation of ``aim`` are None without an aim.
    """
    levels = [(measure.of(counts, totals), sum(counts.values())) for counts in blocks]
    worst = (min if measure.least else max)(level for level, _ in levels)
    at_worst = [
        size
        for level, size in levels
        if level == worst or (isinstance(level, float) and abs(level - worst) < ROUNDING)
    ]
    wrong = [c for c in blocks if aim is not None and not measure.holds(c, totals, aim)]
    number = measure.report(worst, totals) if measure.report else worst
    return {
        "value": None if number == math.inf else number,
        "people_at_worst": sum(at_worst),
        "blocks_at_worst": len(at_worst),
        "worst_size": max(at_worst),
        "people_in_violation": None if aim is None else sum(sum(c.values()) for c in wrong),
        "blocks_in_violation": None if aim is None else len(wrong),
    }


def assess_secret(
    measure: Measure, blocks: Sequence[Counts], totals: Counts, aim: Fraction | None
) -> dict[str, Any]:
    """Return the level of a secret, as ``assess``: the smaller of two protections.

    One takes a missing secret (None) for a value, the other leaves out the people who miss it.
    """
    everybody = assess(measure, blocks, totals, aim)
    reported_totals, *reported = (
        {v: n for v, n in counts.items() if v is not None} for counts in (totals, *blocks)
    )
    if len(reported_totals) in (0, len(totals)):  # nobody reports the secret, or nobody misses it
        return everybody
    blocks = [counts for counts in reported if counts]
    return smaller(measure, everybody, assess(measure, blocks, reported_totals, aim))


def smaller(measure: Measure, *levels: dict[str, Any]) -> dict[str, Any]:
    """Return the level that protects less: one with violations, or else of the worse value."""

    def protection(level: Mapping[str, Any]) -> tuple[bool, float | Fraction]:
        """Return what orders levels: whether nobody is in violation, and how good the value is."""
        number = level["value"]
        amount = -math.inf if number is None else number if measure.least else -number
        return not level["people_in_violation"], amount

    return min(levels, key=protection)


def levels(
    rows: Rows,
    qids: Names,
    secret: str,
    *,
    required: Mapping[str, Fraction],
    lines: Lines | None = None,
) -> dict[str, dict[str, Any]]:
    """Return all levels of records by name, each as ``assess``.

    ``required`` has aims by their option, ``lines`` is the hierarchy of the secret, if any.
    """
    blocks = list(microdata.counts(rows, qids, secret).values())
    totals = ordered(Counter(value(row[secret]) for row in rows))
    measures = dict(MEASURES)
    l = int(required.get("l_recursive", required.get("l", min(map(len, blocks)))))  # noqa: E741
    if l > 1:
        measures["l_recursive_c"] = recursive(l)
    if lines is not None:
        measures["t_hierarchical"] = hierarchical(lines)
    return {
        name: (assess if name == "k" else assess_secret)(m, blocks, totals, required.get(m.aim))
        for name, m in measures.items()
    }


def ordered(totals: Counts) -> dict[Any, int]:
    """Return counts in the order of the values, missing last."""
    return {v: totals[v] for v in sorted(totals, key=microdata.order_key)}


def k_map(rows: Rows, qids: Names, population: Rows) -> int:
    """Return the fewest people of the population in a block of the release (M52)."""
    big = sizes(population, qids)
    return min(big[b] for b in sizes(rows, qids))


def delta_presence(rows: Rows, qids: Names, population: Rows) -> tuple[Fraction, Fraction]:
    """Return the least and the largest share of a block of the population in the release (M53)."""
    f = sizes(rows, qids)
    shares = [Fraction(f[b], n) for b, n in sizes(population, qids).items()]
    return min(shares), max(shares)
