"""Privacy loss and utility of noisy counts, for each mechanism.

All records except the added one are known (thesis A1). So a report with noise on the count reveals
only one noisy bit: if the count is above the known one. The likelihood ratio of a report is e^-ε up
to the known count and e^ε above it, for any counts. So the oblivious truncated geometric mechanism
is a symmetric channel that is right with probability 1/(1 + e^-ε). With noise on the records, the
count contains the noise of all of them. Then places are numbered from 0 to n in the order of the
useful attribute, and ``holds`` states for each place if the predicate holds there; chances of
places are exact, or right to about fifty digits.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import accumulate, product, repeat
from operator import mul
from typing import TypeVar

from qifsql.commands.dp import poisson_binomial
from qifsql.commands.dp.count import Counts
from qifsql.commands.dp.epsilons import DIGITS, Epsilon
from qifsql.commands.dp.vulnerability import Kind, Success, exact_success, hull, near_success
from qifsql.errors import InputError

MOST_PRODUCTS = 20_000_000  # that several counts together may need
Number = TypeVar("Number", Fraction, Decimal)


def geometric(alpha: Number, holds: Sequence[bool]) -> list[Number]:
    """Return by place the chance of a yes after the truncated geometric mechanism.

    ``holds``: whether the predicate holds at each place. Thesis Def. 32, Eq. 6.14: G(j | i) =
    α^|i-j| (1-α)/(1+α) for 0 < j < n, and α^|i-j|/(1+α) for j = 0 and j = n. The chance of place i
    is the sum over the places j where the predicate holds. A single place is kept.
    """
    unity = alpha / alpha  # 1 and 0 of the type of alpha
    zero: Number = unity - unity
    if len(holds) == 1:
        return [unity if holds[0] else zero]
    inner: Number = (unity - alpha) / (unity + alpha)
    end: Number = unity / (unity + alpha)
    factors = [inner] * len(holds)  # of α^|i-j|, for each j
    factors[0] = factors[-1] = end
    masses: list[Number] = [f if yes else zero for f, yes in zip(factors, holds, strict=True)]
    from_left: list[Number] = _carry_forward(alpha, masses)
    from_right: list[Number] = _carry_forward(alpha, masses[::-1])[::-1]
    return [a + b + c for a, b, c in zip(from_left, masses, from_right, strict=True)]


def _carry_forward(alpha: Number, masses: Sequence[Number]) -> list[Number]:
    """Return, for each place i, Σ_{j<i} α^(i-j) m_j: what reaches it from the places before it."""
    reached = [masses[0] - masses[0]]  # 0
    for before in masses[:-1]:
        reached.append(alpha * (reached[-1] + before))
    return reached


def response(alpha: Number, holds: Sequence[bool]) -> list[Number]:
    """Return by place the chance of a yes after k-ary randomised response (Kairouz et al. 2016).

    ``holds``: whether the predicate holds at each of the k places. R(w' | w) = e^ε/(e^ε + k - 1)
    where w' = w, and 1/(e^ε + k - 1) otherwise.
    """
    unity = alpha / alpha  # 1 of the type of alpha, which is e^-ε
    elsewhere = alpha / (unity + (len(holds) - 1) * alpha)
    same = unity / (unity + (len(holds) - 1) * alpha)
    from_outside = sum(holds) * elsewhere  # of a value for which the predicate does not hold
    return [from_outside - elsewhere + same if yes else from_outside for yes in holds]


def _rounded_chances(
    perturb: Callable[..., list[Decimal]], epsilon: Epsilon, holds: Sequence[bool]
) -> list[tuple[float, float]]:
    """Return, for each place, the chance of yes and that of no as the nearest floats.

    ``perturb`` is ``geometric`` or ``response``. Both are computed: 1 minus a float loses digits.
    """
    with localcontext() as context:
        context.prec = DIGITS
        alpha = Decimal(epsilon.alpha.numerator) / Decimal(epsilon.alpha.denominator)
        both = zip(perturb(alpha, holds), perturb(alpha, [not yes for yes in holds]), strict=True)
        return [(float(yes), float(complement)) for yes, complement in both]


LOCAL = {"local": geometric, "randomised_response": response}
MECHANISMS = ("oblivious", *LOCAL)


@dataclass(frozen=True)
class Report:
    """Success after a report of noisy counts."""

    posterior: Success  # in guessing the secret
    utility: Success | None  # in guessing the real count
    method: str  # ``exact``, ``fourier`` (floats), ``bound`` (posterior at most; no utility)


def oblivious(counts: Counts, epsilon: Epsilon, bits: Sequence[int], answers: int) -> Report:
    """Return the report of noisy counts of one or several predicates, each with ``epsilon``.

    The adversary knows all records but the added one, so a noisy count is a noisy answer: does the
    predicate hold for it? ``bits`` are the numbers of the predicates, each counted ``answers``
    times. V = 1/N Σ_y max_s Σ_z n_sz P(y | z). Here z are the true answers of the predicates for
    the added record, and y the numbers of noisy yes. The utility has max_z n_z P(y | z) instead
    (thesis Eqs. 6.8, 6.9).
    """
    secrets = {_merge_patterns(kind, bits) for kind in counts.kinds}
    reals = [[pair] for pair in _merge_totals(counts, bits)]  # to guess z is right for n_z people
    outcomes = (answers + 1) ** len(bits)
    if outcomes * sum(map(len, secrets)) > MOST_PRODUCTS:
        raise InputError(
            f"too many counts together: there are {outcomes:,} outcomes; ask for fewer"
        )
    scale = (1 + epsilon.alpha) ** (answers * len(bits)) * counts.extent.records
    posterior, utility = (
        Success(_sum_best(guesses, epsilon.alpha, bits=len(bits), answers=answers) / scale)
        for guesses in (secrets, reals)
    )
    return Report(posterior, utility, "exact")


def _merge_patterns(
    cells: Iterable[tuple[int, int, int]], bits: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Return pairs (z, people), where bit i of z is the answer to predicate ``bits[i]``.

    ``cells`` are (place, pattern, people): a bit of a pattern is the answer to a predicate.
    """
    people: dict[int, int] = {}
    for _, pattern, n in cells:
        z = sum((pattern >> bit & 1) << i for i, bit in enumerate(bits))
        people[z] = people.get(z, 0) + n
    return tuple(sorted(people.items()))


def _merge_totals(counts: Counts, bits: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return all people as pairs of ``_merge_patterns``."""
    return _merge_patterns(((0, z, n) for z, n in counts.totals.items()), bits)


def _sum_best(
    kinds: Iterable[Sequence[tuple[int, int]]], alpha: Fraction, *, bits: int, answers: int
) -> Fraction:
    """Return Σ_y max_k Σ_z n_kz P(y | z), times (1 + α) for each of all noisy answers.

    A kind k has pairs (z, n_kz): people with the true answers z for whom the guess k is right. Bit
    i of z is the answer to predicate i of ``bits``; each gets ``answers`` noisy ones, y.
    """
    # A noisy answer is right with a chance in proportion to 1, and wrong in proportion to α.
    wrong, right = alpha.numerator, alpha.denominator
    guesses = list(kinds)
    if bits == 1:  # a kind is a pair (n_k0, n_k1), and only those on the hull can be best
        plain = [dict(kind) for kind in guesses]
        best = hull((kind.get(0, 0), kind.get(1, 0)) for kind in plain)
        guesses = [tuple(enumerate(pair)) for pair in best]
    all_answers = answers * bits
    powers_of_right = accumulate(repeat(right, all_answers), mul, initial=1)
    powers_of_wrong = list(accumulate(repeat(wrong, all_answers), mul, initial=1))
    # The weights of 0, 1, ... right answers: right^i wrong^(all - i).
    weights = [a * b for a, b in zip(powers_of_right, reversed(powers_of_wrong), strict=True)]
    total = 0
    for yes in product(range(answers + 1), repeat=bits):  # how often each predicate is answered yes
        ways = math.prod(math.comb(answers, k) for k in yes)
        chance = []  # of these answers, by the true answers z
        for z in range(2**bits):
            right_answers = sum(k if z >> i & 1 else answers - k for i, k in enumerate(yes))
            chance.append(weights[right_answers])
        total += ways * max(sum(n * chance[z] for z, n in kind) for kind in guesses)
    return Fraction(total, right**all_answers)


def local(counts: Counts, epsilon: Epsilon, bit: int, mechanism: str) -> Report:
    """Return the report of the count of predicate ``bit`` after noise on the value of each record.

    The useful attribute is the one that predicates are about; a place is one of its values, and
    ``mechanism`` changes the value of each record before they are counted. The report is exact if
    the records are few and e^epsilon is a fraction, else in floats (thesis Eqs. 6.10 to 6.13).
    """
    perturb = LOCAL[mechanism]
    holds = [bool(pattern >> bit & 1) for pattern in counts.patterns]  # by place
    # To guess: for each secret, its people by place.
    secrets: list[Kind] = [[(w, n) for w, _, n in cells] for cells in counts.kinds]
    # Or the real answer: the people by place for whom the predicate is false, and true.
    reals = [
        [(w, n) for w, n in enumerate(counts.people) if n and holds[w] == answer]
        for answer in (False, True)
    ]
    records = counts.extent.records
    if epsilon.ratio is not None and records <= poisson_binomial.MOST_RECORDS:
        fractions = perturb(epsilon.alpha, holds)
        if (distribution := poisson_binomial.exact_counts(counts.people, fractions)) is not None:
            exact = partial(exact_success, chances=fractions, noise=distribution, people=records)
            return Report(exact(secrets), exact(reals), "exact")
    chances = _rounded_chances(perturb, epsilon, holds)
    window = poisson_binomial.distribution_window(counts.people, chances)
    near = partial(near_success, chances=chances, noise=window, people=records)
    return Report(near(secrets), near(reals), "fourier")


def local_bound(counts: Counts, epsilon: Epsilon, mechanism: str) -> Report:
    """Return an upper bound for all counts of the same noisy records together.

    The counts are sums over all records, so they reveal no more about the added record than its
    noisy answers do (data processing): V <= 1/N Σ_z max_s Σ_w n_sw P(z | w). Here w is a place of
    the useful attribute, z a pattern of answers to all predicates, and s a secret.
    """
    total, records = 0.0, counts.extent.records
    for z in sorted(set(counts.patterns)):
        is_z = [pattern == z for pattern in counts.patterns]
        chances = [yes for yes, _ in _rounded_chances(LOCAL[mechanism], epsilon, is_z)]
        total += max(math.fsum(n * chances[w] for w, _, n in kind) for kind in counts.kinds)
    return Report(Success(min(1.0, total / records), 1e-12), None, "bound")


def without_noise(counts: Counts, bits: Sequence[int]) -> tuple[int, int]:
    """Return the people whose secret is guessed right without noise, and without a report.

    Without noise the adversary learns the true answers to the predicates ``bits``, and guesses the
    secret of most people with these. The second number is of the people with the most frequent
    answers: how many real counts are guessed right without a report. Shares are of all N people.
    """
    best: dict[int, int] = {}  # people with the best guess at the secret, by true answers
    for people_by_cell in counts.kinds:  # of one secret
        for true_answers, n in _merge_patterns(people_by_cell, bits):
            best[true_answers] = max(best.get(true_answers, 0), n)
    return sum(best.values()), max(n for _, n in _merge_totals(counts, bits))
