"""Answers of single records: the chance that a noisy value satisfies the predicate.

Places are numbered from 0 to n in the order of the useful attribute; ``holds`` states for each
place if the predicate holds there. All chances are exact, or right to about fifty digits.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeVar

from qifsql.commands.dp.epsilons import DIGITS, Epsilon

Number = TypeVar("Number", Fraction, Decimal)
Chances = list[tuple[float, float]]  # the predicate holds, or it does not


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


def rounded_chances(
    kind: Callable[..., list[Decimal]], epsilon: Epsilon, holds: Sequence[bool]
) -> Chances:
    """Return, for each place, the chance of yes and that of no as the nearest floats.

    ``kind`` is ``geometric`` or ``response``. Both are computed, as 1 minus a float loses digits.
    """
    with localcontext() as context:
        context.prec = DIGITS
        alpha = Decimal(epsilon.alpha.numerator) / Decimal(epsilon.alpha.denominator)
        both = zip(kind(alpha, holds), kind(alpha, [not yes for yes in holds]), strict=True)
        return [(float(yes), float(complement)) for yes, complement in both]
