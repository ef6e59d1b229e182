"""Worked examples of noisy counts: how many people of the first group there are, with noise.

As in ``examples``, every number is made from the counts of a small table.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from qifsql.measures.sample import Lines, Sample, counted, entropy, equal, number, over

RIGHT, WRONG = 3, 1  # parts of four: noise of epsilon ln 3 on a count


def _privacy_loss(sample: Sample) -> Lines:
    name, part = sample.part
    inside, n = part.values, sample.people
    outside = {v: k - inside.get(v, 0) for v, k in sample.values.items()}
    told = "; ".join(
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
        told,
        f"before: {over([prior], n)}",
        f"after, where the answer is yes and where it is no: {over([yes, no], 4 * n)}",
        equal(f"({yes + no}/{4 * n})/({prior}/{n})", Fraction(yes + no, 4 * prior)),
    )


def _utility(sample: Sample) -> Lines:
    name, part = sample.part
    yes, n = part.people, sample.people
    no = n - yes
    said = [max(RIGHT * yes, WRONG * no), max(WRONG * yes, RIGHT * no)]
    return (
        f"{name} is counted with epsilon ln 3: T = {yes}, F = {no}",
        f"no report: {over([max(yes, no)], n)}",
        f"yes: max({RIGHT}·{yes}, {no}) = {said[0]}; no: max({yes}, {RIGHT}·{no}) = {said[1]}",
        over(said, 4 * n),
    )


def _scenario(sample: Sample) -> Lines:
    n, before = sample.people, entropy(sample.values)
    blocks = sample.blocks.values()
    after = math.fsum(sum(values.values()) / n * entropy(values) for values in blocks)
    share = 1 - after / before if before else 1.0
    return (
        f"useful attribute: {sample.known}; uncertainty about {sample.secret}: "
        f"{number(before)} bits before, {number(after)} after",
        equal(f"1 - {number(after)}/{number(before)}", share) if before else "none to take away: 1",
    )


def _semantic(_sample: Sample) -> Lines:
    return ("epsilon ln 3: e^ε = 3", equal("(3 - 1)/(3 + 1)", Fraction(2, 4)))


NOISY: Mapping[str, Callable[[Sample], Lines]] = {
    "privacy_loss": _privacy_loss,
    "utility": _utility,
    "scenario": _scenario,
    "semantic": _semantic,
}
"""The worked example of each measure of noisy counts by its name."""
