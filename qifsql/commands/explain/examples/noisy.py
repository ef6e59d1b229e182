"""Worked examples of noisy counts (of the people of the first group), and of absence.

Every number is computed from the counts of a small table.
"""

import math
from fractions import Fraction

from qifsql.commands.explain.examples.sample import (
    Lines,
    Sample,
    Values,
    counted,
    entropy,
    equal,
    number,
    over,
)

RIGHT, WRONG = 3, 1  # parts of four: noise of epsilon ln 3 on a count


def privacy_loss(sample: Sample) -> Lines:
    """Build an example where the first group is counted with noise."""
    name, part = sample.part
    inside, n = part.values, sample.people
    outside = {v: k - inside.get(v, 0) for v, k in sample.values.items()}
    counts = "; ".join(
        f"{head} {counted({v: k for v, k in values.items() if k}) or 'nobody'}"
        for head, values in (("counted:", inside), ("not counted:", outside))
    )
    yes, no = (
        max(a * inside.get(v, 0) + b * outside[v] for v in outside)
        for a, b in ((RIGHT, WRONG), (WRONG, RIGHT))
    )
    prior = max(sample.values.values())
    return (
        f"{name} is counted with epsilon ln 3, so α = 1/3: the answer is right with "
        f"probability {RIGHT}/4",
        counts,
        f"before: {over([prior], n)}",
        f"after, where the answer is yes and where it is no: {over([yes, no], 4 * n)}",
        equal(f"({yes + no}/{4 * n})/({prior}/{n})", Fraction(yes + no, 4 * prior)),
    )


def utility(sample: Sample) -> Lines:
    """Return the success of guessing the real count from the noisy one."""
    name, part = sample.part
    yes, n = part.people, sample.people
    no = n - yes
    scores = [max(RIGHT * yes, WRONG * no), max(WRONG * yes, RIGHT * no)]
    return (
        f"{name} is counted with epsilon ln 3: T = {yes}, F = {no}",
        f"no report: {over([max(yes, no)], n)}",
        f"yes: max({RIGHT}·{yes}, {no}) = {scores[0]}; no: max({yes}, {RIGHT}·{no}) = {scores[1]}",
        over(scores, 4 * n),
    )


def scenario(sample: Sample) -> Lines:
    """Return the share of the uncertainty about the secret that the quasi-identifier removes."""
    n, before = sample.people, entropy(sample.values)
    blocks = sample.blocks.values()
    after = math.fsum(sum(values.values()) / n * entropy(values) for values in blocks)
    share = 1 - after / before if before else 1.0
    return (
        f"useful attribute: {sample.qid}; uncertainty about {sample.secret}: "
        f"{number(before)} bits before, {number(after)} after",
        equal(f"1 - {number(after)}/{number(before)}", share) if before else "none to take away: 1",
    )


def semantic(_sample: Sample) -> Lines:
    """Return the largest change of beliefs at epsilon ln 3."""
    return ("epsilon ln 3: e^ε = 3", equal("(3 - 1)/(3 + 1)", Fraction(2, 4)))


def differentiability(sample: Sample) -> Lines:
    """Return the difference between the guesses of naive Bayes with and without one person."""
    block, inside = next(iter(sample.blocks.items()))
    value, before = next(iter(inside)), sample.values
    left = {v: n - (v == value) for v, n in inside.items()}
    after = {v: n - (v == value) for v, n in before.items()}
    head = f"{block}: {counted(inside)}; all: {counted(before)}"
    if sample.people == 1:
        return (head, "without the only one nobody is left to learn from: 0")
    p, q = _bayes(before, inside), _bayes(after, left)
    gaps = " + ".join(f"|{number(p[v])} - {number(q[v])}|" for v in p)
    total = sum((abs(p[v] - q[v]) for v in p), Fraction(0))
    return (
        f"released as it is; one of {block} with {value} is looked at",
        head,
        "half the differences of the guess with them and without them:",
        equal(f"({gaps})/2", total / 2),
    )


def _bayes(values: Values, inside: Values) -> dict[str, Fraction]:
    """Return the posterior of naive Bayes with one quasi-identifier.

    ``values`` are the people with each value, ``inside`` those of them in the block.
    """
    weights = {v: Fraction(n * (inside.get(v, 0) + 1), n + 2) for v, n in values.items()}
    total = sum(weights.values())
    return {v: weight / total for v, weight in weights.items()}
