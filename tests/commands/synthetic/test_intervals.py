"""Intervals of synthetic releases cover the true difference as often as they say.

A release is fixed. People of the original and of the control are drawn from a population; the true
success is that of the population. A release that keeps individuals is a guess that is right more
often for the people of the original.
"""

import random
from collections.abc import Callable
from fractions import Fraction
from math import comb

import pytest

from qifsql.measures.intervals import Interval, clopper_pearson, excess, newcombe, paired, wilson

DRAWS = 1_000
LEAST = 0.93  # 0.95, less three standard deviations of 1,000 draws


def coverage(draw: Callable[[random.Random], Interval], truth: float) -> float:
    generator = random.Random(1)
    ends = [draw(generator) for _ in range(DRAWS)]
    return sum(low <= truth <= high for low, high in ends) / DRAWS


def right(generator: random.Random, chance: float, people: int) -> int:
    return sum(generator.random() < chance for _ in range(people))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("members", "control", "people", "others"),
    [(0.5, 0.5, 300, 300), (0.6, 0.4, 200, 80), (0.9, 0.9, 150, 400), (1.0, 0.7, 100, 100)],
)
def test_the_individual_leak_is_in_its_interval(
    members: float, control: float, people: int, others: int
) -> None:
    def draw(generator: random.Random) -> Interval:
        right_members = right(generator, members, people)
        return newcombe(right_members, people, right(generator, control, others), others)

    assert coverage(draw, members - control) >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize(
    ("members", "control", "people", "others"),
    [(0.5, 0.5, 300, 300), (0.6, 0.4, 200, 80), (0.9, 0.8, 150, 400), (0.1, 0.02, 200, 200)],
)
def test_a_risk_beyond_the_control_is_in_its_interval(
    members: float, control: float, people: int, others: int
) -> None:
    def draw(generator: random.Random) -> Interval:
        right_members = right(generator, members, people)
        interval = excess(right_members, people, right(generator, control, others), others)
        assert interval is not None
        return interval

    assert coverage(draw, (members - control) / (1 - control)) >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize(
    ("both", "release_alone", "constant_alone", "people"),
    [(0.4, 0.2, 0.1, 200), (0.3, 0.05, 0.05, 400), (0.0, 0.3, 0.4, 150), (0.7, 0.2, 0.0, 100)],
)
def test_the_population_knowledge_is_in_its_interval(
    both: float, release_alone: float, constant_alone: float, people: int
) -> None:
    """The constant guess is fixed; the best one with hindsight is a little better."""

    def draw(generator: random.Random) -> Interval:
        together = first = second = 0
        for _ in range(people):
            lot = generator.random()
            together += lot < both
            first += lot < both + release_alone
            second += lot < both or both + release_alone <= lot < (
                both + release_alone + constant_alone
            )
        return paired(first, second, together, people)

    assert coverage(draw, release_alone - constant_alone) >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize(("chance", "people"), [(0.5, 200), (0.9, 100), (0.05, 300)])
def test_success_is_in_its_interval(chance: float, people: int) -> None:
    assert coverage(lambda g: wilson(right(g, chance, people), people), chance) >= LEAST


def test_a_difference_of_the_same_people_is_that_of_newcombe() -> None:
    """Newcombe 1998, paired data: 36, 12, 2 and 0 of 50; shared guesses make it narrower."""
    assert paired(48, 38, 36, 50) == pytest.approx((0.0569, 0.3404), abs=6e-5)
    narrow, wide = paired(60, 50, 50, 100), paired(60, 50, 20, 100)
    assert wide[0] < narrow[0] < 0.1 < narrow[1] < wide[1]


def test_intervals_stay_within_the_range_of_differences() -> None:
    for counts in ((5, 5, 0, 5), (0, 5, 5, 5), (1, 1, 0, 1)):
        low, high = newcombe(*counts)
        assert -1 <= low <= high <= 1
    assert paired(0, 5, 0, 5)[0] >= -1
    assert paired(5, 0, 0, 5)[1] <= 1


@pytest.mark.parametrize("draws", [1, 5, 12])
@pytest.mark.parametrize("error", [0.05, 0.001])
def test_the_exact_interval_covers_as_it_claims(draws: int, error: float) -> None:
    """Over all outcomes, each with its binomial chance, in exact fractions."""
    found = [clopper_pearson(right, draws, error) for right in range(draws + 1)]
    assert found[0][0] == 0
    assert found[-1][1] == 1
    ends = [Fraction(end) for interval in found for end in interval]
    near = [end + step for end in ends for step in (Fraction(-1, 10**9), Fraction(1, 10**9))]
    for chance in (c for c in [*near, Fraction(1, 3)] if 0 <= c <= 1):
        covered = sum(
            comb(draws, right) * chance**right * (1 - chance) ** (draws - right)
            for right, (low, high) in enumerate(found)
            if low <= chance <= high
        )
        assert covered >= 1 - Fraction(error) - Fraction(1, 10**9)
