"""Worked examples of attacks: people found, secrets guessed right, and information gained."""

import math
from fractions import Fraction
from itertools import combinations

from qifsql.commands.explain.examples.sample import (
    Lines,
    Sample,
    Values,
    counted,
    entropy,
    equal,
    number,
    over,
    persons,
    plus,
    shown,
    tries,
)

WORTH, TRIES, PENALTY = 4, 2, Fraction(1, 2)  # the gain functions of the example
WEIGHT, BELIEF = 2, Fraction(3, 4)  # the beliefs of other adversaries


def attack(sample: Sample) -> Lines:
    """Return the people of all blocks."""
    return (equal(f"records: {plus(sample.sizes.values())}", sample.people),)


def blocks(sample: Sample) -> Lines:
    """Return the people of each block."""
    sizes = ", ".join(f"{block} has {persons(n)}" for block, n in sample.sizes.items())
    return sizes, f"blocks: {len(sample.sizes)}"


def deterministic(sample: Sample) -> Lines:
    """Return people alone in their block, and those in blocks of one value."""
    n, secret, values = sample.people, sample.secret, len(sample.values)
    alone = [size for size in sample.sizes.values() if size == 1]
    certain = [sum(v.values()) for v in sample.blocks.values() if len(v) == 1]
    return (
        f"whose record, before, among {persons(n)}: {int(n == 1)}",
        f"whose record, after, people alone in their block: {over(alone, n)}",
        f"{secret}, before, with {values} different values: {int(values == 1)}",
        f"{secret}, after, people in blocks with one value: {over(certain, n)}",
    )


def probabilistic(sample: Sample) -> Lines:
    """Return one right guess in each block, and the likeliest value of each."""
    n, (value, most) = sample.people, next(iter(sample.values.items()))
    return (
        f"whose record, before: {over([1], n)}",
        f"whose record, after, one right guess in each block: {over([len(sample.blocks)], n)}",
        f"{sample.secret}, before, guessing {value} for everybody: {over([most], n)}",
        f"{sample.secret}, after, guessing the likeliest in each block: {over(sample.modes, n)}",
    )


def additive(sample: Sample) -> Lines:
    """Return the gain as a difference."""
    n, before, after, n_blocks = sample.people, *_success(sample)
    return (
        f"whose record: {n_blocks}/{n} - 1/{n} = {over([n_blocks - 1], n)}",
        f"{sample.secret}: {after}/{n} - {before}/{n} = {over([after - before], n)}",
    )


def multiplicative(sample: Sample) -> Lines:
    """Return the gain as a factor."""
    n, before, after, n_blocks = sample.people, *_success(sample)
    return (
        equal(f"whose record: {n_blocks}/{n} over 1/{n}", n_blocks),
        f"{sample.secret}: {after}/{n} over {before}/{n} = {over([after], before)}",
    )


def min_entropy_leakage(sample: Sample) -> Lines:
    """Return the logarithm of the gain as a factor."""
    before, after, n_blocks = _success(sample)
    return (
        equal(f"whose record: log2({n_blocks})", math.log2(n_blocks)) + " bits",
        equal(f"{sample.secret}: log2({after}/{before})", math.log2(after / before)) + " bits",
    )


def worst_case(sample: Sample) -> Lines:
    """Return the smallest block, and the surest guess."""
    each = ", ".join(f"{block} {chance}" for block, chance in sample.chances.items())
    return (
        f"whose record, in the smallest block: {over([1], min(sample.sizes.values()))}",
        f"{sample.secret}, chance of the best guess: {each}",
        f"the largest of them: {number(max(sample.chances.values()))}",
    )


def singled_out(sample: Sample) -> Lines:
    """Return the blocks of one person."""
    alone = [block for block, size in sample.sizes.items() if size == 1]
    return f"blocks of one person: {', '.join(alone) or 'none'}", f"people: {len(alone)}"


def certain(sample: Sample) -> Lines:
    """Return the blocks of one value."""
    certain = {block: sum(n.values()) for block, n in sample.blocks.items() if len(n) == 1}
    return (
        f"blocks with one value of {sample.secret}: {', '.join(certain) or 'none'}",
        f"people in them: {sum(certain.values())}",
    )


def shannon(sample: Sample) -> Lines:
    """Return the entropy before, minus the mean entropy of the blocks."""
    n, before = sample.people, entropy(sample.values)
    inner = [(sum(values.values()), entropy(values)) for values in sample.blocks.values()]
    after = math.fsum(size / n * bits for size, bits in inner)
    mean = plus(f"{size}/{n}·{number(bits)}" for size, bits in inner)
    gone = equal(f"{number(before)} - {number(after)}", before - after)
    return (
        f"before, {counted(sample.values)}: {number(before)} bits",
        equal(f"after, on average: {mean}", after) + " bits",
        f"learned about {sample.secret}: {gone} bits",
    )


def guessing(sample: Sample) -> Lines:
    """Return the guesses before, and those within the blocks."""
    n, sizes = sample.people, sample.sizes.values()
    after = Fraction(sum(size * (size + 1) // 2 for size in sizes), n)
    before = Fraction(tries(sample.values), n)
    return (
        equal(f"whose record, before: ({n} + 1)/2", Fraction(n + 1, 2)),
        equal(f"whose record, after: ({plus(f'{k}·{k + 1}/2' for k in sizes)})/{n}", after),
        equal(f"{sample.secret}, before: ({_guesses(sample.values)})/{n}", before),
        *(equal(f"{block}: {_guesses(v)}", tries(v)) for block, v in sample.blocks.items()),
        f"{sample.secret}, after: {over(map(tries, sample.blocks.values()), n)}",
    )


def capacity(sample: Sample) -> Lines:
    """Return the largest share of the people of each value, block by block."""
    total = sample.values
    best = [
        max((Fraction(n, total[v]), f"{n}/{total[v]}") for v, n in values.items())
        for values in sample.blocks.values()
    ]
    terms = equal(plus(text for _, text in best), sum(share for share, _ in best))
    return (
        f"whose record, one for each block: {len(best)}",
        f"{sample.secret}, in all: {counted(total)}",
        f"{sample.secret}, largest share of the people with one value, by block: {terms}",
    )


def pointwise_leakage(sample: Sample) -> Lines:
    """Return the value whose share rises most in each block, and the mean over people in bits."""
    total, n = sample.values, sample.people
    lines, bits = [], []
    for block, values in sample.blocks.items():
        size = sum(values.values())
        value = max(values, key=lambda v: Fraction(values[v], total[v]))
        ratio = Fraction(values[value] * n, size * total[value])
        bits.append((math.log2(ratio), size))
        rise = f"{values[value]}/{size} over {total[value]}/{n}"
        lines.append(equal(f"{block}, {value}: log2 of {rise}", bits[-1][0]))
    terms = plus(f"{size}·{number(leak)}" for leak, size in bits)
    mean = math.fsum(leak * size for leak, size in bits) / n
    greatest = number(max(leak for leak, _ in bits))
    return *lines, f"greatest: {greatest}", equal(f"mean: ({terms})/{n}", mean)


def bayes_security(sample: Sample) -> Lines:
    """Return the overlap of each pair of values, and the least of them."""
    total, blocks = sample.values, sample.blocks.values()
    overlaps, lines = [Fraction(1)], []
    for one, other in combinations(total, 2):
        parts = [
            min(Fraction(b.get(one, 0), total[one]), Fraction(b.get(other, 0), total[other]))
            for b in blocks
        ]
        overlaps.append(sum(parts, Fraction()))
        lines.append(equal(f"{one} and {other}: {plus(map(number, parts))}", overlaps[-1]))
    return *lines, f"Bayes security, the least overlap: {number(min(overlaps))}"


def gain(sample: Sample) -> Lines:
    """Build examples of gains: a right guess worth more, several guesses, a penalty."""
    n, most, modes = sample.people, max(sample.values.values()), plus(sample.modes)
    net, cost = [_net(values) for values in sample.blocks.values()], number(PENALTY)
    after = Fraction(WORTH * sum(sample.modes), n)
    several = [sum(list(values.values())[:TRIES]) for values in sample.blocks.values()]
    paid = number(_net(sample.values))
    return (
        f"worth:{WORTH}, a right guess earns {WORTH}: "
        + equal(f"before {WORTH}·{most}/{n}", Fraction(WORTH * most, n))
        + equal(f", after {WORTH}·({modes})/{n}", after),
        f"tries:{TRIES}, right within {TRIES} guesses: "
        f"before {over([sum(list(sample.values.values())[:TRIES])], n)}, after {over(several, n)}",
        f"penalty:{cost}, people guessed right less {cost} times people guessed wrong, or 0 for "
        f"no guess: " + equal(f"before {paid}/{n}", _net(sample.values) / n),
        equal(f"penalty:{cost}, after: ({plus(map(number, net))})/{n}", sum(net) / n),
    )


def prior(sample: Sample) -> Lines:
    """Build examples of priors: people who count twice, and beliefs from a file."""
    name, heavy = sample.part
    weights = {
        block: {v: n + (WEIGHT - 1) * heavy.blocks.get(block, {}).get(v, 0) for v, n in b.items()}
        for block, b in sample.blocks.items()
    }
    whole = sum(sum(b.values()) for b in weights.values())
    first = next(iter(next(iter(sample.blocks.values()))))
    others = [value for value in sample.values if value != first]
    belief = {first: BELIEF if others else Fraction(1)}
    belief |= {value: (1 - BELIEF) / len(others) for value in others}
    best = [
        max(belief[v] * Fraction(n, sample.values[v]) for v, n in b.items())
        for b in sample.blocks.values()
    ]
    return (
        f"everybody alike, after: {over(sample.modes, sample.people)}",
        f"weight {WEIGHT} for {name}, 1 for others:",
        *shown(weights),
        f"weights, after: {over([max(b.values()) for b in weights.values()], whole)}",
        f"a prior file with {', '.join(f'{v} {p}' for v, p in belief.items())}, before: "
        f"{number(max(belief.values()))}",
        "prior file, after, largest belief in a value times share of its people in the block: "
        + equal(plus(best), sum(best)),
    )


def hyper(sample: Sample) -> Lines:
    """Merge the blocks with the same posterior, and sum the chances."""
    n, merged = sample.people, dict[str, list[str]]()
    for block, values in sample.blocks.items():
        inner = {v: Fraction(k, sample.sizes[block]) for v, k in sorted(values.items())}
        merged.setdefault(", ".join(f"{v} {p}" for v, p in inner.items()), []).append(block)
    outer = {inner: sum(sample.sizes[b] for b in alike) for inner, alike in merged.items()}
    parts = [(outer[inner], sample.chances[alike[0]]) for inner, alike in merged.items()]
    total = sum(Fraction(size, n) * chance for size, chance in parts)
    return (
        f"prior: {', '.join(f'{value} {k}/{n}' for value, k in sample.values.items())}",
        *(f"{' and '.join(b)}: outer {outer[i]}/{n}, inner {i}" for i, b in merged.items()),
        "each outer times the largest of its inner, summed: "
        + equal(plus(f"{size}/{n}·{chance}" for size, chance in parts), total),
    )


def refinement(sample: Sample) -> Lines:
    """Build an example of a copy with one more quasi-identifier."""
    qid, by = sample.qid, sample.by
    finer = {f"{qid} {b}, {by} {group}": n for (b, group), n in sample.cells.items()}
    best = over([max(values.values()) for values in finer.values()], sample.people)
    return (
        f"knowing {qid}: {over(sample.modes, sample.people)}",
        *shown(finer),
        f"knowing {qid} and {by}: {best}",
    )


def _success(sample: Sample) -> tuple[int, int, int]:
    """Return people guessed right before and after, and people found in their blocks."""
    return max(sample.values.values()), sum(sample.modes), len(sample.blocks)


def _net(values: Values) -> Fraction:
    """Return people guessed right minus the penalty for those guessed wrong, or 0: no guess."""
    right = max(values.values())
    return max(Fraction(), right - PENALTY * (sum(values.values()) - right))


def _guesses(values: Values) -> str:
    """Return the number of each guess times the people it is right about."""
    return plus(f"{i}·{n}" for i, n in enumerate(values.values(), 1))
