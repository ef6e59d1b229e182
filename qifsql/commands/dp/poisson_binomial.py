"""The count of noisy answers: a sum of binomials, one for each value of the useful attribute.

Thesis Eq. 6.11 defines it by a recursion over all records. Here it is computed exactly for few, and
otherwise from its characteristic function, at a cost that does not depend on their number.
Convolving the binomials would be shorter, but needs numpy, which is not in the core: in Python the
windows of two groups of millions are 10^9 products.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

TAIL = math.log(2e20)  # the chance left out on each side is below 1e-20
NEGLIGIBLE = 1e-25  # fewer expected rarer answers of a value are neglected
MOST_BITS = 2_000_000  # in an exact distribution: a second of work
MOST_RECORDS = 400  # for which an exact distribution is tried
EPS = 2.0**-53  # the relative rounding of a floating-point number
Wave = tuple[float, float]  # the real and imaginary part of φ at some θ


class Group(NamedTuple):
    """People with one chance of their rarer answer."""

    people: int
    rarer: float  # that chance
    sign: int  # 1 if the rarer answer is yes, -1 if it is no


@dataclass(frozen=True)
class Window:
    """The chances b(first), b(first + 1), ... of the counts that are not negligible."""

    first: int
    chances: Sequence[float]
    error: float  # bound of the sum of all |errors|, including those of the counts left out


def exact_counts(people: Sequence[int], chances: Sequence[Fraction]) -> list[int] | None:
    """Return b(0), b(1), ... as whole numbers over their sum; None if these would be too large.

    b(k) is the chance that k people answer yes. ``people`` are the sizes of groups; everybody
    answers yes with the chance of their group.
    """
    records = sum(people)
    common = math.lcm(*(t.denominator for t in chances))  # the denominator of all chances
    if records**2 * common.bit_length() > MOST_BITS:
        return None
    distribution = [1]  # of the count of the groups so far
    for n, t in zip(people, chances, strict=True):
        yes = t.numerator * (common // t.denominator)
        no = common - yes
        binomial = [math.comb(n, k) * yes**k * no ** (n - k) for k in range(n + 1)]
        with_group = [0] * (len(distribution) + n)  # of the sum of two independent counts
        for i, chance in enumerate(distribution):
            if chance:
                for j, group_chance in enumerate(binomial):
                    with_group[i + j] += chance * group_chance
        distribution = with_group
    return distribution


def distribution_window(people: Sequence[int], chances: Sequence[tuple[float, float]]) -> Window:
    """Return the distribution as floating-point numbers, from its characteristic function.

    The count is of the people who answer yes; ``people`` are the sizes of groups, ``chances`` those
    of yes and of no in each. The chances in the window are b(k) = 1/M Σ_j φ(2πj/M) e^(-2πijk/M),
    where M is the number of counts k in it. |φ(θ)| <= exp(-2 v sin²(θ/2)), v the variance.
    """
    groups, neglected = _rarer_answers(people, chances)
    # Below, counts are relative to ``base``, the count if all give their likelier answer: each
    # rarer answer adds its sign, so that no digits are lost where chances are close to 0 or 1.
    base = sum(n for n, (yes, no) in zip(people, chances, strict=True) if yes > no)
    mean = math.fsum(group.people * group.rarer * group.sign for group in groups)
    variance = math.fsum(group.people * group.rarer * (1 - group.rarer) for group in groups)
    centre = round(mean)
    first, last = _window_ends(groups, centre, variance)
    size = last - first + 1
    waves = _characteristics(groups, size, mean - centre, variance)
    distribution = _inverse_transform(waves, size, first - centre)
    error = _error_bound(groups, waves, max(distribution)) + 2 * neglected
    return Window(base + first, distribution, error)


def _rarer_answers(
    people: Sequence[int], chances: Sequence[tuple[float, float]]
) -> tuple[list[Group], float]:
    """Return groups of people with the same chance of their rarer answer, yes or no.

    ``people`` and their ``chances`` of yes and of no are by value. The ``sign`` of a group is what
    a rarer answer adds to the count of yes: 1, or -1 if it is no. Values with less than NEGLIGIBLE
    expected rarer answers are left out; the second number returned is the sum of these.
    """
    neglected = 0.0
    alike: dict[tuple[float, int], int] = {}  # people by chance of the rarer answer, and its sign
    for n, (yes, no) in zip(people, chances, strict=True):
        rarer = min(yes, no)
        if n * rarer < NEGLIGIBLE:
            neglected += n * rarer
        else:
            key = rarer, -1 if yes > no else 1
            alike[key] = alike.get(key, 0) + n
    return [Group(n, rarer, sign) for (rarer, sign), n in alike.items()], neglected


def _window_ends(groups: Sequence[Group], centre: int, variance: float) -> tuple[int, int]:
    """Return the least and the largest count of the window, relative to ``base``.

    Counts beyond the mean ± x are left out, with x such that Bernstein's bound
    2 exp(-x²/(2(v + x/3))) is below 1e-20; v is the variance.
    """
    reach = math.ceil(TAIL / 3 + math.sqrt(TAIL * TAIL / 9 + 2 * TAIL * variance)) + 1  # x
    low = -sum(group.people for group in groups if group.sign < 0)
    high = sum(group.people for group in groups if group.sign > 0)
    return max(low, centre - reach), min(high, centre + reach)


def _error_bound(groups: Sequence[Group], waves: Sequence[Wave], highest: float) -> float:
    """Return a bound on the sum of the errors of a window's chances; ``highest`` is their largest.

    The relative error of each person's chance, and of its part in the mean, is at most 3·2^-53. The
    distribution of the others has one mode, below 2 max b. An error δ of one person's chance
    changes the window by at most 2 δ times that mode. The rest is the rounding of φ and its sums.
    """
    shifted = 3 * EPS * math.fsum(n * t for n, t, _ in groups) * min(2.0, 4 * highest)
    heights = math.fsum(math.hypot(*wave) for wave in waves)
    return shifted + 4e-20 + 2 * EPS * len(waves) * (32 + heights)


def _characteristics(groups: Sequence[Group], size: int, shift: float, v: float) -> list[Wave]:
    """Return φ(2πj/M) for j = 0, 1, ... until it is negligible, of the count minus its centre.

    M is ``size``, the number of counts in the window; v is the variance of the count; ``shift`` is
    its mean minus the centre, the whole number next to it.
    """
    waves = [(1.0, 0.0)]
    for j in range(1, size // 2 + 1):
        theta = 2 * math.pi * j / size
        half = math.sin(theta / 2) ** 2
        if 2 * v * half > TAIL + math.log(size):  # |φ| <= exp(-2 v sin²(θ/2)) is negligible
            break
        if any(4 * t * (1 - t) * half >= 1 for _, t, _ in groups):  # yes and no cancel out
            waves.append((0.0, 0.0))
            continue
        # φ is the product over all people of 1 - t + t e^±iθ: logarithms of lengths, and angles,
        # are added up. The angles are less the mean of each, which ``shift`` puts back.
        log_length = math.fsum(n * math.log1p(-4 * t * (1 - t) * half) for n, t, _ in groups) / 2
        sines = math.sin(theta), 2 * half, _excess_sine(theta)
        excess = math.fsum(n * sign * _excess_angle(t, theta, sines) for n, t, sign in groups)
        angle = excess + theta * shift
        length = math.exp(log_length)
        waves.append((length * math.cos(angle), length * math.sin(angle)))
    return waves


def _excess_angle(t: float, theta: float, sines: tuple[float, float, float]) -> float:
    """Return arg(1 - t + t e^iθ) - tθ, for t <= 1/2 and 0 < θ <= π, without cancellation.

    ``sines`` are s = sin θ, c = 1 - cos θ and sin θ - θ. The argument is that of 1 - tc + i ts,
    and with x = ts / (1 - tc): atan x - tθ = (atan x - x) + t (sin θ - θ) + x tc.
    """
    s, c, excess_sine = sines
    x = t * s / (1 - t * c)
    if x > 0.25:
        return math.atan2(t * s, 1 - t * c) - t * theta
    # atan x - x = -x³/3 + x⁵/5 - ...
    square, power, excess_arctangent, k = x * x, x * x * x, 0.0, 3
    while power > 1e-19 * abs(excess_arctangent) and power > 0:
        excess_arctangent += -power / k if k % 4 == 3 else power / k
        power *= square
        k += 2
    return excess_arctangent + t * excess_sine + x * t * c


def _excess_sine(theta: float) -> float:
    """Return sin(θ) - θ; for small θ by the series -θ³/3! + θ⁵/5! - ..., without cancellation."""
    if theta > 1:
        return math.sin(theta) - theta
    term, terms = theta, []
    for k in range(3, 27, 2):
        term *= -theta * theta / (k * (k - 1))
        terms.append(term)
    return math.fsum(terms)


def _inverse_transform(waves: Sequence[Wave], size: int, start: int) -> list[float]:
    """Return b(k) by waves φ for ``size`` counts k from ``start``, relative to the centre.

    φ(-θ) is the conjugate of φ(θ), so the sum over j has each wave but the first twice.
    """
    cosine = [math.cos(2 * math.pi * i / size) for i in range(size)]
    sine = [math.sin(2 * math.pi * i / size) for i in range(size)]
    half = size // 2 if size % 2 == 0 else -1  # the last wave of an even window counts half
    sums = [0.5] * size  # half of the first wave, which is 1
    for j, wave in enumerate(waves[1:], 1):
        real, imaginary = (x / 2 for x in wave) if j == half else wave
        turn = j * start % size  # the angle 2πjk/M, as a number of parts 2π/M
        for k in range(size):
            sums[k] += real * cosine[turn] + imaginary * sine[turn]
            turn = (turn + j) % size
    return [max(0.0, 2 * b / size) for b in sums]
