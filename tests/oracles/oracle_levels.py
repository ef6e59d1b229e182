"""A slow, exact oracle for syntactic levels: block by block, in fractions, from the definitions.

Distances are found by moving probability as the sources say (Li et al. 2007), not by the sums that
qifsql adds up: along the order piece by piece, and through a hierarchy by what its nodes have over.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import oracle
from oracle import Row, value

Shares = Mapping[object, Fraction]


def blocks(rows: Sequence[Row], qids: Sequence[str], secret: str) -> list[Counter[object]]:
    """The values in each block."""
    return [
        Counter(value(rows[i][secret]) for i in positions)
        for positions in oracle.partition(rows, qids).values()
    ]


def shares(counts: Mapping[object, int]) -> dict[object, Fraction]:
    """The distribution of these values."""
    return {v: Fraction(n, sum(counts.values())) for v, n in counts.items()}


def domain(rows: Sequence[Row], secret: str) -> list[object]:
    """The values that occur, in their order, missing last."""
    return sorted({value(row[secret]) for row in rows}, key=oracle.order_key)


def equal_distance(block: Shares, whole: Shares) -> Fraction:
    """Half the sum of the absolute differences."""
    return sum((abs(p - block.get(v, Fraction())) for v, p in whole.items()), Fraction()) / 2


def ordered_distance(block: Shares, whole: Shares, values: Sequence[object]) -> Fraction:
    """Work of moving probability along the order: on a line, the first goes to the first."""
    if len(values) == 1:
        return Fraction()
    have = [whole[v] for v in values]
    want = [block.get(v, Fraction()) for v in values]
    work, i, j = Fraction(), 0, 0
    while i < len(values) and j < len(values):
        moved = min(have[i], want[j])
        work += moved * Fraction(abs(i - j), len(values) - 1)
        have[i] -= moved
        want[j] -= moved
        if have[i] == 0:
            i += 1
        else:
            j += 1
    return work


def hierarchical_distance(
    block: Shares, whole: Shares, lines: Mapping[object, Sequence[str]]
) -> Fraction:
    """The sum over inner nodes of height / H times the smaller of what children have over or lack.

    ``lines``: the nodes above each value, from below; the root is above all and not named.
    """
    tops = len(next(iter(lines.values())))
    height = tops + 1
    extra: dict[object, Fraction] = {
        ("leaf", v): whole.get(v, Fraction()) - block.get(v, Fraction()) for v in lines
    }
    parent = {("leaf", v): (1, path[0]) if path else "root" for v, path in lines.items()}
    cost = Fraction()
    for level in range(1, height + 1):
        children: dict[object, list[Fraction]] = {}
        for node, own in extra.items():
            children.setdefault(parent[node], []).append(own)
        for own_list in children.values():
            over = sum((x for x in own_list if x > 0), Fraction())
            lack = -sum((x for x in own_list if x < 0), Fraction())
            cost += Fraction(level, height) * min(over, lack)
        extra = {node: sum(xs, Fraction()) for node, xs in children.items()}
        parent = {
            (level, path[level - 1]): (level + 1, path[level]) if level < tops else "root"
            for path in lines.values()
            if level <= tops
        }
    return cost


def exp_entropy(counts: Mapping[object, int]) -> float:
    """exp of the entropy."""
    found = shares(counts).values()
    return math.exp(-math.fsum(float(q) * math.log(q) for q in found))


def keeps_entropy(counts: Mapping[object, int], l: Fraction) -> bool:  # noqa: E741
    """Return whether the product of q^-q is at least l, both to the power of the size."""
    size = sum(counts.values())
    product = Fraction(1)
    for n in counts.values():
        product *= Fraction(size, n) ** n
    return product >= l**size


def ratio(counts: Mapping[object, int], l: int) -> Fraction | None:  # noqa: E741
    """r_1 over r_l + ... + r_m; None where nothing is left."""
    descending = sorted(counts.values(), reverse=True)
    return Fraction(descending[0], sum(descending[l - 1 :])) if len(descending) >= l else None


def gains(block: Shares, whole: Shares) -> dict[object, Fraction]:
    """(q - p) / p of each value of the block."""
    return {v: (q - whole[v]) / whole[v] for v, q in block.items()}


def levels(
    rows: Sequence[Row],
    qids: Sequence[str],
    secret: str,
    *,
    wanted: Mapping[str, Fraction],
    lines: Mapping[object, Sequence[str]] | None = None,
) -> dict[str, dict[str, Any]]:
    """The level of each measure, people and blocks at it, and people and blocks in violation."""
    inside = blocks(rows, qids, secret)
    whole = shares(Counter(value(row[secret]) for row in rows))
    values = domain(rows, secret)
    fewest = min(map(len, inside))
    l = int(wanted.get("l_recursive", wanted.get("l", fewest)))  # noqa: E741
    per_block: dict[str, list[Any]] = {name: [] for name in ("k", *WORSE)}
    breach: list[bool] = []
    for counts in inside:
        own = shares(counts)
        gain = gains(own, whole)
        factors = [x + 1 for x in gain.values()]
        found = {
            "k": Fraction(sum(counts.values())),
            "l_distinct": Fraction(len(counts)),
            "l_entropy": exp_entropy(counts),
            "t_equal": equal_distance(own, whole),
            "t_ordered": ordered_distance(own, whole, values),
            "alpha": max(own.values()),
            "basic_beta": max(gain.values()),
            "delta_disclosure": max(*factors, 1 / min(factors)),
        }
        if lines is not None:
            found["t_hierarchical"] = hierarchical_distance(own, whole, lines)
        if l > 1:
            found["l_recursive_c"] = ratio(counts, l)
        for name, level in found.items():
            per_block[name].append(level)
        beta = wanted.get("enhanced_beta", Fraction())
        breach.append(any(x > beta or x > -math.log(whole[v]) for v, x in gain.items()))
    result = {
        name: _result(name, per_block[name], inside, wanted)
        for name in per_block
        if per_block[name]
    }
    result["enhanced_beta"] = result["basic_beta"] | {
        "value": min(float(result["basic_beta"]["value"]), -math.log(min(whole.values()))),
    }
    result["enhanced_beta"] |= _violated("enhanced_beta", breach, inside, wanted)
    return result


WORSE = {  # measure -> whether a level breaks what is wanted
    "l_distinct": lambda x, w: x < w,
    "l_entropy": None,
    "l_recursive_c": lambda x, w: x is None or x >= w,
    "t_equal": lambda x, w: x > w,
    "t_ordered": lambda x, w: x > w,
    "t_hierarchical": lambda x, w: x > w,
    "alpha": lambda x, w: x > w,
    "basic_beta": lambda x, w: x > w,
    "delta_disclosure": lambda x, w: math.log(x) >= w,
}
AIM = {
    "k": "k",
    "l_distinct": "l",
    "l_entropy": "l_entropy",
    "l_recursive_c": "c",
    "alpha": "alpha",
    "basic_beta": "beta",
    "enhanced_beta": "enhanced_beta",
    "delta_disclosure": "delta",
    "t_equal": "t",
    "t_ordered": "t",
    "t_hierarchical": "t",
}


def _violated(
    name: str,
    broken: Sequence[bool],
    inside: Sequence[Mapping[object, int]],
    wanted: Mapping[str, Fraction],
) -> dict[str, Any]:
    if AIM[name] not in wanted:
        return {"people_in_violation": None, "blocks_in_violation": None}
    sizes = [sum(c.values()) for c, bad in zip(inside, broken, strict=True) if bad]
    return {"people_in_violation": sum(sizes), "blocks_in_violation": len(sizes)}


def _result(
    name: str,
    found: list[Any],
    inside: Sequence[Mapping[object, int]],
    wanted: Mapping[str, Fraction],
) -> dict[str, Any]:
    if name in ("k", "l_distinct", "l_entropy"):
        worst = min(found)
        at = [abs(x - worst) < 1e-12 for x in found]
    else:
        worst = None if None in found else max(found)
        at = [x == worst for x in found]
    aim = wanted.get(AIM[name], Fraction())
    if name == "l_entropy":
        broken = [not keeps_entropy(c, aim) for c in inside]
    elif name == "k":
        broken = [x < aim for x in found]
    else:
        broken = [WORSE[name](x, aim) for x in found]
    shown = math.log(worst) if name == "delta_disclosure" else worst
    return {
        "value": shown,
        "people_at_worst": sum(
            sum(c.values()) for c, there in zip(inside, at, strict=True) if there
        ),
        "blocks_at_worst": sum(at),
        **_violated(name, broken, inside, wanted),
    }
