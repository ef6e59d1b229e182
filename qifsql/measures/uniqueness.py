"""Estimate population uniques from the sizes of blocks in a sample.

Sources: Zayatz 1991; Hoshino 2001 (Pitman's model); Chen and Keller-McNulty 1998 (slide negative
binomial); Haas and Stokes 1998 (number of classes); Dankar, El Emam, Neisa and Roffey 2012 (which
of them to take); Skinner and Elliot 2002 (chance of a unique match). All assume a random sample
that contains each person with the same chance.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from qifsql.measures.numerical_methods import harmonic, log_rising, root

SMALL = Fraction(1, 10)  # Dankar's rule: up to this fraction Pitman's model
FEW = 64  # most factors that are multiplied one by one
LEAST, NEAR = 1e-6, 1e-9  # smallest distances of alpha from 0, unless it is 0, and from 1
GRID = 400  # steps of the search for a change of sign


REMARKS = {
    "alike": "theta cannot be estimated: everybody in the sample is alike",
    "unlike": "theta cannot be estimated: everybody in the sample is unique",
    "even": "blocks are more even than in any such model, so the estimate may be too high",
    "no_pairs": "the sample has no block of two people, which the model needs",
    "too_many": "it expects more blocks than there are people",
    "no_fit": "no parameters give so many blocks of one and of two",
}
"""Reasons why a method has no answer, and remarks on answers."""


@dataclass(frozen=True)
class Sizes:
    """A sample: the number of blocks of each size, and the sampled share of the population."""

    blocks: Mapping[int, int]
    fraction: Fraction  # in (0, 1]

    @cached_property
    def records(self) -> int:
        """Return the number of people in the sample."""
        return sum(size * n for size, n in self.blocks.items())

    @cached_property
    def distinct(self) -> int:
        """Return the number of blocks in the sample."""
        return sum(self.blocks.values())

    @property
    def alone(self) -> int:
        """Return the number of people of the sample who are unique in it."""
        return self.blocks.get(1, 0)

    @property
    def pairs(self) -> int:
        """Return the number of blocks of two people."""
        return self.blocks.get(2, 0)

    @cached_property
    def population(self) -> int:
        """Return the number of people in the population, to the nearest whole number."""
        return max(round(self.records / self.fraction), self.records)


@dataclass(frozen=True)
class Uniques:
    """The estimate of one method: the number of people who are unique in the population.

    ``number`` is None if the method has no answer; then ``problem`` is the reason. ``takes`` is the
    method that a rule chose, ``parameters`` are the fitted ones, ``remark`` is about the answer.
    """

    method: str
    number: float | None
    parameters: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""
    takes: str | None = None
    remark: str = ""


def zayatz(sample: Sizes) -> Uniques:
    """Return Zayatz's estimate: people unique in sample and population, over the fraction.

    P(F = 1 | f = 1) = p_1 h(1) / sum_j p_j h(j), where h(j) is the hypergeometric chance that one
    of j people is in the sample, and p_j is the share of blocks of size j in the sample, used as
    that in the population. The population's share is smaller for small j, so the estimate is
    usually too high.
    """
    outside = sample.population - sample.records
    likely = math.fsum(
        n * size * _left_out(size - 1, outside, sample.population - 1)
        for size, n in sorted(sample.blocks.items())
    )
    chance = sample.alone / likely if sample.alone else 0.0
    number = float(sample.alone / sample.fraction) * chance
    return Uniques("zayatz", min(number, float(sample.population)))


def _left_out(others: int, outside: int, people: int) -> float:
    """Compute the chance that ``others`` of the ``people`` are all ``outside`` the sample."""
    if others > outside:
        return 0.0
    if others <= FEW:
        return math.prod((outside - i) / (people - i) for i in range(others))
    logs = (log_rising(n - others + 1, others) for n in (outside, people))
    return math.exp(min(next(logs) - next(logs), 0.0))


def pitman(sample: Sizes) -> Uniques:
    """Return the estimate of Pitman's model with the likeliest 0 <= alpha < 1 and theta > -alpha.

    In this model the sizes of blocks in a sample have the probability n! prod_(i<u) (theta +
    i alpha) / prod_(i<n) (theta + i) prod_j (prod_(i<j) (i - alpha) / j!)^s_j / s_j!, products from
    1 (Hoshino 2001). The expected number of unique people among N is N Gamma(theta + 1)
    Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)), which is close to the
    usual N^alpha Gamma(theta + 1) / Gamma(theta + alpha).
    """
    u, n = sample.distinct, sample.records
    if not sample.alone:
        return Uniques("pitman", 0.0)
    if u < 2 or u == n:
        return Uniques("pitman", None, problem=REMARKS["alike" if u < 2 else "unlike"])
    is_even = _slope(sample, 0.0) <= 0  # the likelihood falls from alpha 0 on
    alpha = 0.0 if is_even else _alpha(sample)
    beyond = _beyond(alpha, u, n)  # theta + alpha
    people = sample.population
    logs = log_rising(beyond, 1 - alpha) - log_rising(beyond + people - 1, 1 - alpha)
    fitted = {"alpha": alpha, "theta": beyond - alpha}
    remark = REMARKS["even"] if is_even else ""
    return Uniques("pitman", people * math.exp(logs), fitted, remark=remark)


def _alpha(sample: Sizes) -> float:
    """Compute the likeliest alpha, where the slope is 0 with the likeliest theta for each alpha."""
    if _slope(sample, LEAST) <= 0:
        return LEAST
    return root(lambda alpha: _slope(sample, alpha), LEAST, 1 - NEAR)


def _beyond(alpha: float, u: int, n: int) -> float:
    """Compute theta + alpha with the likeliest theta, for u blocks of n people, 2 <= u < n."""

    def slope(log: float) -> float:  # of the log likelihood in theta, by log(theta + alpha)
        beyond = math.exp(log)
        return _rarities(alpha, beyond, u) - harmonic(beyond - alpha + 1, n - 1)

    low, high = -60.0, math.log(n) + 1  # logarithms of theta + alpha
    while slope(high) > 0:
        high += 2
    return math.exp(root(slope, low, high))


def _rarities(alpha: float, beyond: float, u: int) -> float:
    """Compute the sum of 1/(theta + i alpha) for i from 1 to u - 1."""
    return harmonic(beyond / alpha, u - 1) / alpha if alpha else (u - 1) / beyond


def _slope(sample: Sizes, alpha: float) -> float:
    """Compute the slope of the log likelihood in alpha, with the likeliest theta."""
    u = sample.distinct
    beyond = _beyond(alpha, u, sample.records)  # theta + alpha
    first_of_blocks = u * (u - 1) / (2 * beyond)  # the limit of the other form at alpha = 0
    if alpha:
        first_of_blocks = (u - 1 - (beyond - alpha) * _rarities(alpha, beyond, u)) / alpha
    further_people = math.fsum(
        n * harmonic(1 - alpha, size - 1) for size, n in sample.blocks.items() if size > 1
    )
    return first_of_blocks - further_people


def snb(sample: Sizes) -> Uniques:
    """Return the estimate of the slide negative binomial model.

    The size of a block is 1 + a negative binomial number: P(F = j) = C(alpha + j - 2, j - 1)
    beta^alpha (1 - beta)^(j - 1), so that K beta^alpha of K blocks have one person. K is Shlosser's
    estimate as modified by Haas and Stokes; alpha and beta are fitted to the sample's numbers of
    blocks of one and of two. Such alpha and beta need not exist.
    """
    if not sample.alone:
        return Uniques("snb", 0.0)
    if not sample.pairs:
        return Uniques("snb", None, problem=REMARKS["no_pairs"])
    classes = blocks_there(sample)
    if not classes <= sample.population:
        return Uniques("snb", None, problem=REMARKS["too_many"])

    def gap(logit: float) -> float:
        return _gap(sample, classes, 1 / (1 + math.exp(-logit)))

    grid = [-28 + 56 * i / GRID for i in range(GRID + 1)]  # logits of 1 - beta, all of (0, 1)
    gaps = [gap(logit) for logit in grid]
    sign_changes = [i for i in range(GRID) if (gaps[i] > 0) is not (gaps[i + 1] > 0)]
    if not sign_changes:
        return Uniques("snb", None, problem=REMARKS["no_fit"])
    logit = root(gap, grid[sign_changes[0]], grid[sign_changes[0] + 1])
    rest = 1 / (1 + math.exp(-logit))  # 1 - beta
    alpha = _shape(sample, rest)
    fitted = {"alpha": alpha, "beta": 1 - rest, "classes": classes}
    return Uniques("snb", classes * math.exp(alpha * math.log1p(-rest)), fitted)


def _gap(sample: Sizes, classes: float, rest: float) -> float:
    """Compute the log of expected over observed uniques of the sample (``snb``).

    ``classes`` is the number of blocks of the population, ``rest`` is 1 - beta.
    """
    alpha, share = _shape(sample, rest), float(sample.fraction)
    unseen = rest * (1 - share)
    return (
        math.log(classes * share / sample.alone)
        + alpha * (math.log1p(-rest) - math.log1p(-unseen))
        + math.log1p(alpha * unseen / (1 - unseen))
    )


def _shape(sample: Sizes, rest: float) -> float:
    """Compute alpha from the ratio of blocks of two to blocks of one; ``rest`` is 1 - beta."""
    share = float(sample.fraction)
    unseen = rest * (1 - share)
    ratio = 2 * sample.pairs / (share * sample.alone)
    # alpha is the positive root of a x^2 + b x = c
    a = rest * unseen
    b = rest * (2 - unseen) - ratio * (1 - unseen) * unseen
    c = ratio * (1 - unseen) ** 2
    wide = math.sqrt(b * b + 4 * a * c)
    return 2 * c / (b + wide) if b >= 0 else (wide - b) / (2 * a)  # neither form cancels digits


def blocks_there(sample: Sizes) -> float:
    """Return the number of blocks in the population, estimated by Shlosser's modified method.

    It is D_Sh3 of Haas and Stokes, with q the fraction of the sample, u its blocks and s_i those
    of i people: u + s_1 (sum i q^2 (1 - q^2)^(i-1) s_i / sum (1-q)^i ((1+q)^i - 1) s_i)
    (sum (1-q)^i s_i / sum i q (1-q)^(i-1) s_i)^2. The sample must have a unique person.
    """
    q = float(sample.fraction)
    if q == 1:
        return float(sample.distinct)
    sizes = sorted(sample.blocks.items())
    log_1_q2, log_1_q = math.log1p(-q * q), math.log1p(-q)  # of 1 - q^2 and of 1 - q
    above = math.fsum(n * i * q * q * math.exp(log_1_q2 * (i - 1)) for i, n in sizes)
    below = math.fsum(n * (math.expm1(log_1_q2 * i) - math.expm1(log_1_q * i)) for i, n in sizes)
    unseen = math.fsum(n * math.exp(log_1_q * i) for i, n in sizes)
    once = math.fsum(n * i * q * math.exp(log_1_q * (i - 1)) for i, n in sizes)
    return sample.distinct + sample.alone * (above / below) * (unseen / once) ** 2


def dankar(estimates: Mapping[str, Uniques], fraction: Fraction) -> Uniques:
    """Return the estimate that the rule of Dankar et al. chooses.

    It is Pitman's for a fraction up to a tenth, else the lower of SNB's and Zayatz's. If the chosen
    model has no answer, it is Zayatz's.
    """
    names = ["pitman"] if fraction <= SMALL else ["snb", "zayatz"]
    names.sort(key=lambda name: estimates[name].number or math.inf)
    chosen = next((n for n in names if estimates[n].number is not None), "zayatz")
    return Uniques("dankar", estimates[chosen].number, takes=chosen)


def unique_match(sample: Sizes) -> float | None:
    """Compute the chance that a unique match with the sample is right (data intrusion simulation).

    If an adversary finds exactly one record for a person of the population, it is the right one
    with probability q s_1 / (q s_1 + 2 (1 - q) s_2), estimated by removing records and copying
    others (Skinner and Elliot 2002); None if the sample has no blocks of one and two.
    """
    q = sample.fraction
    alone, pairs = q * sample.alone, 2 * (1 - q) * sample.pairs
    return float(alone / (alone + pairs)) if alone + pairs else None
