"""Success and leakage from small profiles, by hand and against exact fractions."""

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction as F
from itertools import combinations, pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qifsql.measures import (
    bayes,
    completions,
    intervals,
    release_measures,
    suda_scores,
    syntactic,
    uniqueness,
)
from qifsql.measures import register_links as linkage
from qifsql.measures.numerical_methods import root
from qifsql.measures.profile import Profile

COUNTS = ("size", "mode", "values", "blocks")
WEIGHTS = ("size", "values", "blocks", "weight", "mode", "heaviest", "chance", "owner_chance")
Kind = tuple[int, int, int, int]  # size, mode, values, blocks


def of_counts(*kinds: Kind) -> Profile:
    return Profile.of_counts(pl.DataFrame(kinds, schema=COUNTS, orient="row"))


@st.composite
def kinds(draw: st.DrawFn) -> list[Kind]:
    """Kinds of blocks that can be: each value occurs, none more often than the mode."""
    found: dict[tuple[int, int, int], int] = {}
    for _ in range(draw(st.integers(1, 6))):
        size = draw(st.integers(1, 10) | st.integers(1, 10**9))
        mode = draw(st.integers(1, size))
        values = draw(st.integers(-(-size // mode), size - mode + 1))
        found[size, mode, values] = draw(st.integers(1, 5) | st.integers(1, 10**6))
    return [(*kind, blocks) for kind, blocks in found.items()]


def test_success_on_a_profile_by_hand() -> None:
    # Two people alone; a block of three with one value; two blocks of four, split 3 to 1.
    profile = of_counts((1, 1, 1, 2), (3, 3, 1, 1), (4, 3, 2, 2))
    assert (profile.individuals, profile.blocks) == (13, 5)
    assert (profile.singled_out, profile.certain) == (2, 5)
    assert bayes.reidentification(profile) == bayes.Success(F(2, 13), F(5, 13), 1.0, 2)
    assert bayes.inference(profile) == bayes.Success(F(5, 13), F(11, 13), 1.0, 5)


def test_the_thesis_example_50_from_its_profile() -> None:
    """Thesis Example 50: blocks of 5, 4 and 1 by age; 3, 2 and 1 share the likeliest illness."""
    before = bayes.inference(of_counts((10, 5, 2, 1)))
    after = bayes.inference(of_counts((5, 3, 2, 1), (4, 2, 2, 1), (1, 1, 1, 1)))
    assert (before.deterministic, after.deterministic) == (0, F(1, 10))
    assert (before.probabilistic, after.probabilistic) == (F(1, 2), F(3, 5))
    assert bayes.multiplicative(before.probabilistic, after.probabilistic) == F(6, 5)


def test_ratios_to_nothing_and_logarithms_of_nothing_are_undefined() -> None:
    some, none = bayes.Success(F(1, 4), F(1, 2), 1.0, 1), bayes.Success(F(0), F(0), 0.0, 0)
    row = bayes.row(some, none)
    assert (row["degradation_probabilistic"], row["min_entropy_leakage"]) == (0, None)
    assert (row["leakage_additive"], row["degradation_deterministic"]) == (-0.5, -0.25)
    row = bayes.row(none, some)
    assert row["degradation_probabilistic"] is row["min_entropy_leakage"] is None
    assert bayes.row(some, some)["min_entropy_leakage"] == 0


def test_one_person_alone_is_certain_whoever_asks() -> None:
    alone = of_counts((1, 1, 1, 1))
    certain = bayes.Success(F(1), F(1), 1.0, 1)
    assert bayes.reidentification(alone) == bayes.inference(alone) == certain


def test_nobody_is_nobody() -> None:
    nobody = Profile.of_counts(pl.DataFrame(schema=dict.fromkeys(COUNTS, pl.Int64)))
    assert (nobody.individuals, nobody.blocks, nobody.singled_out, nobody.certain) == (0, 0, 0, 0)


@given(kinds())
def test_success_is_the_exact_fraction_of_the_counts(drawn: list[Kind]) -> None:
    profile = of_counts(*drawn)
    n = sum(size * blocks for size, _, _, blocks in drawn)
    assert profile.individuals == n
    assert profile.blocks == sum(blocks for *_, blocks in drawn)
    alone = sum(blocks for size, _, _, blocks in drawn if size == 1)
    certain = sum(size * blocks for size, _, values, blocks in drawn if values == 1)
    assert (profile.singled_out, profile.certain) == (alone, certain)
    assert bayes.reidentification(profile) == bayes.Success(
        F(alone, n), F(profile.blocks, n), max(1 / size for size, *_ in drawn), alone
    )
    assert bayes.inference(profile) == bayes.Success(
        F(certain, n),
        F(sum(mode * blocks for _, mode, _, blocks in drawn), n),
        max(mode / size for size, mode, *_ in drawn),
        certain,
    )


@given(kinds())
def test_certainty_is_a_part_of_success_and_success_at_most_the_worst_case(
    drawn: list[Kind],
) -> None:
    profile = of_counts(*drawn)
    for measure in (bayes.reidentification, bayes.inference):
        found = measure(profile)
        assert 0 <= found.deterministic <= found.probabilistic <= 1
        assert float(found.probabilistic) <= found.worst_case <= 1
    owner, secret = bayes.reidentification(profile), bayes.inference(profile)
    assert owner.deterministic <= secret.deterministic
    assert owner.probabilistic <= secret.probabilistic


@given(kinds(), st.permutations(range(6)))
def test_neither_the_order_nor_the_grouping_of_the_blocks_matters(
    drawn: list[Kind], order: list[int]
) -> None:
    mixed = [drawn[i] for i in order if i < len(drawn)]
    one_by_one = [(*kind, part) for *kind, blocks in mixed for part in (1, blocks - 1) if part]
    for measure in (bayes.reidentification, bayes.inference):
        assert measure(of_counts(*drawn)) == measure(of_counts(*one_by_one))  # type: ignore[arg-type]


@given(kinds())
def test_counts_are_weights_of_one(drawn: list[Kind]) -> None:
    rows = [
        (size, values, blocks, size * blocks, mode * blocks, blocks, mode / size, 1 / size)
        for size, mode, values, blocks in drawn
    ]
    weighted = Profile.of_weights(pl.DataFrame(rows, schema=WEIGHTS, orient="row"))
    for measure in (bayes.reidentification, bayes.inference):
        assert measure(weighted) == measure(of_counts(*drawn))


@pytest.mark.parametrize("unit", [1, 2**70 + 1, Decimal("0.01")])
def test_weights_of_any_size_stay_exact(unit: int | Decimal) -> None:
    # One person of weight 2; two of weights 3 and 1 with two values; two of 4 with one.
    rows = [
        (1, 1, 1, 2 * unit, 2 * unit, 2 * unit, 1.0, 1.0),
        (2, 2, 1, 4 * unit, 3 * unit, 3 * unit, 0.75, 0.75),
        (2, 1, 1, 8 * unit, 8 * unit, 4 * unit, 1.0, 0.5),
    ]
    profile = Profile.of_weights(pl.DataFrame(rows, schema=WEIGHTS, orient="row"))
    assert (profile.individuals, profile.blocks) == (5, 3)
    assert bayes.reidentification(profile) == bayes.Success(F(1, 7), F(9, 14), 1.0, 1)
    assert bayes.inference(profile) == bayes.Success(F(5, 7), F(13, 14), 1.0, 3)


probabilities = st.fractions(0, 1).filter(bool)


@given(probabilities, probabilities, probabilities)
def test_leakage_adds_multiplies_and_has_a_logarithm(a: F, b: F, c: F) -> None:
    chain = sorted((a, b, c))
    steps = list(pairwise(chain))
    least, most = chain[0], chain[-1]
    assert sum((bayes.additive(*s) for s in steps), F()) == bayes.additive(least, most)
    assert math.prod(bayes.multiplicative(*s) for s in steps) == bayes.multiplicative(least, most)
    assert bayes.min_entropy_leakage(least, most) == math.log2(most / least) >= 0
    assert bayes.additive(a, a) == bayes.min_entropy_leakage(a, a) == 0
    assert bayes.multiplicative(a, a) == 1


def test_the_examples_of_leakage_of_the_thesis() -> None:
    """Thesis section 2.1.4, the day of the week: 1/7 becomes 1/2."""
    assert bayes.multiplicative(F(1, 7), F(1, 2)) == F(7, 2)
    assert bayes.additive(F(1, 7), F(1, 2)) == F(5, 14)
    assert bayes.min_entropy_leakage(F(1, 4), F(1, 1)) == 2


def test_success_below_the_prior_by_the_last_digit_of_a_float_is_the_prior() -> None:
    """Sums of floats may differ in their last digit; a real difference stays."""
    prior = bayes.Success(F(0), F(1, 3), 1 / 3, 0)
    for difference, expected in [
        (F(1, 10**16), F(1, 3)),
        (F(-1, 10**16), F(1, 3)),
        (F(-1, 10**14), F(1, 3) - F(1, 10**14)),
        (F(1, 10), F(13, 30)),
    ]:
        posterior = bayes.Success(F(1, 7), F(1, 3) + difference, 0.5, 2)
        adjusted = posterior.not_below(prior)
        assert adjusted.probabilistic == expected
        assert (adjusted.deterministic, adjusted.worst_case, adjusted.certain) == (F(1, 7), 0.5, 2)


@pytest.mark.parametrize("factor", [1, 10**6], ids=["whole numbers", "digits"])
@given(counts=st.lists(st.integers(1, 9), min_size=2, max_size=6))
def test_entropy_l_diversity_is_met_up_to_its_value(factor: int, counts: list[int]) -> None:
    """Just below exp(entropy) it holds, just above it does not: in small blocks and in large."""
    block = [n * factor + i for i, n in enumerate(counts)]
    value = F(syntactic.entropy_l(block))
    assert syntactic.meets_entropy(block, value * (1 - F(1, 10**12)))
    assert not syntactic.meets_entropy(block, value * (1 + F(1, 10**12)))
    assert (sum(block) * sum(block).bit_length() > syntactic.BITS) == (factor > 1)


def test_a_count_of_nobody_changes_no_entropy_however_large_the_block_is() -> None:
    for people in (3, 10**7):  # powers as whole numbers, and logarithms of 50 digits
        counts = (people, people + 1, 0)  # without a common divisor
        assert syntactic.meets_entropy(counts[:2], F(2)) == syntactic.meets_entropy(counts, F(2))
        assert syntactic.meets_entropy(counts, F(19, 10))
        assert not syntactic.meets_entropy(counts, F(21, 10))


def test_a_share_of_expected_people_has_no_whole_count() -> None:
    links = release_measures.Links(
        people=4, right=F(3, 2), control=4, control_right=F(1), records=10
    )
    measures = {m.name: m for m in release_measures.linkability(links)}
    assert list(measures) == [
        *("linkability", "linkability_chance", "linkability_control", "linkability_risk"),
    ]
    assert measures["linkability"].value == 3 / 8
    assert measures["linkability"].count is None
    alone = release_measures.Links(
        people=4, right=F(3, 2), control=0, control_right=F(0), records=10
    )
    assert [m.name for m in release_measures.linkability(alone)] == [*measures][:2]


def test_nearest_links_go_beyond_the_control_only_if_there_is_one() -> None:
    def kind(control: int) -> release_measures.LinkKind:
        return release_measures.LinkKind(
            first_sure=1,
            first_ties=0,
            second_sure=1,
            second_ties=0,
            both_sure=1,
            first_tied=0,
            second_tied=0,
            both_tied=0,
            original=3,
            control=control,
        )

    measure = release_measures.nearest_linkability
    found = {m.name: m.value for m in measure([kind(2)], records=10, neighbours=1)}
    name = "linkability_nearest"
    assert list(found) == [name, f"{name}_chance", f"{name}_control", f"{name}_risk"]
    assert found[name] == found[f"{name}_control"] == 1
    assert found[f"{name}_chance"] == pytest.approx(1 / 10)
    alone = measure([kind(0)], records=10, neighbours=1)
    assert [m.name for m in alone] == [name, f"{name}_chance"]


def patterns(**fields: Any) -> completions.Counts:
    """Counts of patterns that are 0 where nothing else is said."""
    numbers = {f.name: 0 for f in dataclasses.fields(completions.Counts)}
    nobody = dict.fromkeys(("lonely_size", "lonely_values", "level", "least_size", "least_values"))
    return completions.Counts(**numbers | nobody | {"masks": {}, "people": 9} | fields)


def test_bounds_are_sharp_where_no_two_incomplete_patterns_may_meet() -> None:
    alone, mated = patterns(incomplete=2), patterns(incomplete=2, with_mates=2)
    for name in ("singled_out", "right_guesses", "certain_people"):
        assert getattr(alone, name)().low_sharp
        assert not getattr(mated, name)().low_sharp
        assert getattr(mated, name)().high_sharp
    assert alone.smallest_block().high_sharp
    assert not mated.smallest_block().high_sharp


def test_blocks_are_bounded_by_the_leaves_of_a_chain_of_columns() -> None:
    """Sets of columns without a leaf take part in no chain."""
    chain = {0b001: (1, 0, 2), 0b011: (1, 0, 3)}
    counted = patterns(blocks=4, incomplete=6, with_mates=5, masks=chain)
    assert counted.block_count() == completions.Bound(
        low=4 + 5, high=4 + 6, low_sharp=True, high_sharp=True
    )
    beside = patterns(blocks=4, incomplete=6, with_mates=5, masks=chain | {0b100: (2, 0, 0)})
    assert beside.block_count() == counted.block_count()
    apart = patterns(blocks=4, incomplete=6, with_mates=5, masks=chain | {0b100: (2, 0, 1)})
    assert apart.block_count() == completions.Bound(
        low=4 + 2, high=4 + 6, low_sharp=False, high_sharp=True
    )


def test_links_are_summed_the_surest_first() -> None:
    kinds = [
        linkage.Kind(released=1, registered=4, blocks=2, same=2),  # 2 links of 1/4
        linkage.Kind(released=1, registered=1, blocks=3, same=2),  # 3 sure links
        linkage.Kind(released=4, registered=3, blocks=1, same=3),  # 3 links of 1/4
        linkage.Kind(released=5, registered=0, blocks=1, same=0),  # none
    ]
    sure, other = linkage.curve(kinds, truth=True)
    assert sure == {
        **{"confidence": 1.0, "links": 3, "links_at_least": 3},
        **{"expected_at_least": 3.0, "correct_at_least": 2.0},
    }
    assert other == {
        **{"confidence": 0.25, "links": 5, "links_at_least": 8},
        **{"expected_at_least": 3 + 5 / 4, "correct_at_least": 2 + 5 / 4},
    }
    assert linkage.curve(kinds, truth=False)[1]["correct_at_least"] is None


def test_distances_to_the_control_are_told_only_where_there_is_one() -> None:
    counts = release_measures.Distances(
        records=4, equal=1, original=0.25, control=0.5, ratio=0.75, nearer=3.0, chance=0.5
    )
    found = {m.name: m.value for m in release_measures.distances(counts, has_control=True)}
    own = {"distance_zero": 1 / 4, "distance_original": 0.25, "nearest_ratio": 0.75}
    beside = {"distance_control": 0.5, "nearer_original": 3 / 4, "nearer_by_chance": 0.5}
    assert found == own | beside
    found = {m.name: m.value for m in release_measures.distances(counts, has_control=False)}
    assert found == own


def test_why_theta_cannot_be_estimated() -> None:
    for blocks, reason in ({1: 1}, "everybody in the sample is alike"), ({1: 3}, "is unique"):
        found = uniqueness.pitman(uniqueness.Sizes(blocks, F(1, 2)))
        assert found.number is None
        assert reason in str(found.problem)


def test_ends_of_a_bound() -> None:
    bound = completions.Bound(low=2, high=5, low_sharp=False, high_sharp=False)
    assert bound.minus(1) == dataclasses.replace(bound, low=1, high=4)
    assert bound.over(2) == dataclasses.replace(bound, low=F(1), high=F(5, 2))
    for value, sharp in ((2, (True, False)), (3, (False, False)), (5, (False, True))):
        found = bound.attained(value)
        assert (found.low_sharp, found.high_sharp) == sharp
    sharp = dataclasses.replace(bound, low_sharp=True, high_sharp=True)
    assert sharp.attained(3) == sharp


def counted(**given: Any) -> completions.Counts:
    """Return counts that are 0 or None but for those given."""
    zeros: dict[str, Any] = {f.name: 0 for f in dataclasses.fields(completions.Counts)}
    unknown = dict.fromkeys(("lonely_size", "lonely_values", "level", "least_size", "least_values"))
    return completions.Counts(**{**zeros, **unknown, "masks": {}, **given})


def test_bounds_of_counts_by_hand() -> None:
    """Each end is the sum that its documentation states; the tighter limit holds."""
    counts = counted(
        **{"people": 100, "incomplete": 9, "blocks": 20, "uniques": 12, "modes": 50, "certain": 30},
        **{"with_mates": 2, "lonely_blocks": 3, "lonely_uniques": 2, "lonely_excess": 1},
        **{"lonely_hidden": 1, "lonely_broken": 4, "lonely_size": 3, "hidden": 5, "broken": 6},
        **{"stuck": 7, "reachable_uniques": 4, "reachable_people": 8, "most_frequent": 40},
        **{"least_size": 2, "level": 9, "masks": {1: (2, 1, 1), 3: (1, 4, 1)}},
    )
    ends = completions.Bound(low=0, high=0, low_sharp=False, high_sharp=True)
    assert not counts.exact
    assert counts.new_blocks == 3 + 2  # the leaves of sets of which one contains the other
    assert counts.block_count() == dataclasses.replace(ends, low=25, high=29, low_sharp=True)
    assert counts.singled_out() == dataclasses.replace(ends, low=12 - (1 + 4) + 2, high=21)
    assert counts.right_guesses() == dataclasses.replace(ends, low=50 + 1 + 4, high=59)
    assert counts.certain_people() == dataclasses.replace(ends, low=30 - (4 + 6) + 7, high=39)
    size = completions.Bound(low=1, high=2, low_sharp=True, high_sharp=False)
    assert counts.smallest_block() == size
    other = dataclasses.replace(counts, hidden=3, broken=9, most_frequent=70, least_size=None)
    assert other.singled_out().low == 12 - (1 + 3) + 2
    assert other.certain_people().low == 30 - (4 + 8) + 7
    assert other.right_guesses().low == 70
    assert other.smallest_block().high == 3
    apart = dataclasses.replace(counts, masks={1: (2, 1, 1), 2: (4, 4, 1)}, with_mates=0)
    assert apart.new_blocks == 3 + 4
    assert not apart.block_count().low_sharp
    assert apart.singled_out().low_sharp
    mean = dataclasses.replace(counts, people=50, lonely_size=9, least_size=9)
    assert mean.smallest_block().high == 50 // 25
    alone = counted(people=5, with_mates=2, incomplete=2, masks={1: (0, 0, 1), 2: (0, 0, 1)})
    assert alone.new_blocks == 1


@pytest.mark.parametrize("incomplete", [0, 1])
def test_bounds_of_k_and_l_where_nobody_misses_a_value(incomplete: int) -> None:
    counts = counted(incomplete=incomplete, least_values=2, secrets=3, least_size=4, people=8)
    whole = not incomplete
    assert counts.fewest_secrets() == completions.Bound(
        low=2 if whole else 1, high=2, low_sharp=True, high_sharp=whole
    )
    assert counts.smallest_block() == completions.Bound(
        low=4 if whole else 1, high=4, low_sharp=True, high_sharp=True
    )


def test_few_draws_have_the_quantiles_of_student() -> None:
    """Chances with a mean of 1/2 and a variance of 1/100, of 8 and of 9 draws."""
    for draws, quantile, error in ((8, 2.365, 1e-12), (9, 2.306, 4e-5)):
        squares = 1 / 4 + (draws - 1) / draws / 100
        low, high = intervals.mean_of_chances(0.5, squares, draws)
        half = quantile * math.sqrt(0.01 / draws) + 3 / draws
        assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=error)
    assert intervals.mean_of_chances(0.5, 0.3, 1) == (0.0, 1.0)


@given(
    st.tuples(*(st.integers(0, 2) for _ in range(5))),
    st.tuples(st.integers(0, 1), st.integers(0, 1)),
    st.integers(1, 3),
)
def test_halves_are_linked_in_as_many_draws_as_share_a_record(
    counts: tuple[int, ...], sure: tuple[int, int], drawn: int
) -> None:
    """All draws of the ties of both halves are tried; the records of a kind have numbers."""
    first_only, second_only, first_tied, second_tied, both_tied = counts
    kind = release_measures.LinkKind(
        first_sure=second_tied + sure[0],
        second_sure=first_tied + sure[1],
        first_ties=first_only + first_tied + both_tied,
        second_ties=second_only + second_tied + both_tied,
        both_sure=0,
        first_tied=first_tied,
        second_tied=second_tied,
        both_tied=both_tied,
        original=1,
        control=0,
    )
    neighbours = max(kind.first_sure, kind.second_sure) + drawn
    assume(neighbours - kind.first_sure <= kind.first_ties)
    assume(neighbours - kind.second_sure <= kind.second_ties)
    both = [f"both {i}" for i in range(both_tied)]
    of_first = [f"first tied {i}" for i in range(first_tied)]
    of_second = [f"second tied {i}" for i in range(second_tied)]
    firsts = [f"first {i}" for i in range(first_only)] + of_first + both
    seconds = [f"second {i}" for i in range(second_only)] + of_second + both
    draws = [
        (set(one) | set(of_second), set(other) | set(of_first))
        for one in combinations(firsts, neighbours - kind.first_sure)
        for other in combinations(seconds, neighbours - kind.second_sure)
    ]
    shared = sum(bool(one & other) for one, other in draws)
    assert release_measures.linked(kind, neighbours) == F(shared, len(draws))


def test_success_beyond_the_control_has_an_interval_around_it() -> None:
    counts = release_measures.Guesses(
        people=100, right=F(60), prior=50, control=200, control_right=F(80), control_prior=100,
        control_both=F(40),
    )  # fmt: skip
    (found,) = release_measures.inference(counts)
    assert found.value == pytest.approx((0.6 - 0.4) / (1 - 0.4))
    low, high = intervals.excess(60, 100, 80, 200) or (0.0, 0.0)
    assert (found.low, found.high) == (low, high)
    assert low < (found.value or 0) < high
    without = dataclasses.replace(counts, control=0)
    assert not list(release_measures.inference(without))
    whole, halves = release_measures.guesses(without)
    assert (whole.name, whole.count, whole.people) == ("success_original", 60, 100)
    assert (halves.value, halves.count) == (0.5, 50)
    (half, _) = release_measures.guesses(dataclasses.replace(without, right=F(121, 2)))
    assert (half.value, half.count) == (0.605, None)


def test_odds_of_a_wrong_match() -> None:
    """A third of the population is in the sample, and six records are in blocks of two."""
    assert suda_scores.odds(6, F(1, 3)) == 6 * 2
    assert suda_scores.exponent(6) == 1.1
    power = 4**1.1
    found = suda_scores.dis_suda(4, n=6, paired=6, fraction=F(1, 3), powers=0.5)
    assert found == pytest.approx(1 / (1 + 12 / (power * 0.5)))
    assert suda_scores.dis_suda(0, n=6, paired=6, fraction=F(1, 3), powers=0.5) == 0
    assert suda_scores.score_of_size(6, 3, 2) == (6 - 2) * (6 - 3)
    assert suda_scores.score_of_size(3, 5, 1) == (3 - 1) * (3 - 2)
    alone = suda_scores.intrusion(5, 6, F(1, 3))
    assert alone == pytest.approx(5 / (5 + 6 * (1 / (1 / 3) - 1) * 1))


def test_blocks_of_a_whole_population_are_those_of_the_sample() -> None:
    blocks = {1: 3, 2: 2}
    assert uniqueness.blocks_there(uniqueness.Sizes(blocks, F(1))) == 5
    q = 0.5
    up = sum(n * i * q * q * (1 - q * q) ** (i - 1) for i, n in blocks.items())
    down = sum(n * (1 - q) ** i * ((1 + q) ** i - 1) for i, n in blocks.items())
    unseen = sum((1 - q) ** i * n for i, n in blocks.items())
    once = sum(i * q * (1 - q) ** (i - 1) * n for i, n in blocks.items())
    found = uniqueness.blocks_there(uniqueness.Sizes(blocks, F(1, 2)))
    assert found == pytest.approx(5 + 3 * (up / down) * (unseen / once) ** 2)


def test_a_level_over_nothing_is_infinite() -> None:
    level = syntactic.Level(1, 0)
    assert (level.value, level.beyond(F(10**9)), level.order()) == (
        math.inf,
        1,
        Decimal("Infinity"),
    )
    assert (syntactic.Level(3, 1).order(), syntactic.Level(3, 1).value) == (3, 3.0)
    half = syntactic.Level(1, 2)
    assert (half.value, half.beyond(F(1, 2)), half.order()) == (0.5, 0, Decimal("0.5"))
    log = syntactic.Level(1, 2, logarithm=True)
    assert log.value == math.log(0.5)
    assert log.order() < half.order() < level.order()


def test_success_with_and_without_a_gain() -> None:
    """Block: 4 people, 3 with the likeliest value; and a gain of 1/2 for each right guess."""
    profile = of_counts((4, 3, 2, 1))
    assert bayes.success(profile, 0, 0) == bayes.reidentification(profile)
    assert bayes.success(profile, 1, 0) == bayes.inference(profile)
    halved = dataclasses.replace(profile, scale=2)
    found = bayes.success(halved, 1, 1)
    assert (found.probabilistic, found.worst_case) == (F(3, 4) / 2, 3 / 4 / 2)
    assert (
        bayes.success(halved, 0, 1).deterministic == bayes.reidentification(profile).deterministic
    )


def test_a_population_without_unique_people() -> None:
    assert uniqueness.zayatz(uniqueness.Sizes({2: 3}, F(1))).number == 0
    assert uniqueness.zayatz(uniqueness.Sizes({1: 2, 2: 3}, F(1))).number == 2
    even = uniqueness.Sizes({1: 1, 2: 50}, F(1, 2))
    assert uniqueness._alpha(even) == uniqueness.LEAST  # the slope falls from there on


def test_the_correlation_of_guesses_about_the_same_people() -> None:
    """Of 100 people 60 are guessed right by each, with Newcombe's correction of half the people."""
    for both, excess in ((50, 50 * 30 - 10 * 10 - 50), (36.3, 0), (30, 30 * 10 - 30 * 30)):
        assert intervals._correlation(60, 60, both, 100) == pytest.approx(excess / 2400)
    assert intervals._correlation(0, 60, 0, 100) == 0
    assert intervals._correlation(1, 1, 0, 2) == -1  # either is right where the other is not


def test_weights_are_added_up_exactly() -> None:
    tenths = pl.DataFrame({"weight": [0.1] * 10, "mode": [0.1, *[0.0] * 9], "size": [1, *[2] * 9]})
    assert Profile(tenths).share("mode") == F(1, 10)
    assert Profile(tenths).share("weight", alone="size") == F(1, 10)


@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0), (1.0, 2.0), (0.0, 1.0)])
def test_a_root_is_an_end_only_where_the_function_is_0_there(low: float, high: float) -> None:
    assert root(lambda x: x - 1, low, high) == 1
