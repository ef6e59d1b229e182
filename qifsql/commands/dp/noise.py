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
    """Return chances after the truncated geometric mechanism (thesis Def. 32, Eq. 6.14).

    G(j | i) = α^|i-j| (1-α)/(1+α) for 0 < j < n, and α^|i-j|/(1+α) for j = 0 and j = n. The chance
    is the sum over the places j at which the predicate holds. A single place does not change.
    """
    unity = alpha / alpha
    if len(holds) == 1:
        return [unity if holds[0] else unity - unity]
    inner: Number = (unity - alpha) / (unity + alpha)
    end: Number = unity / (unity + alpha)
    mass = [inner] * len(holds)
    mass[0] = mass[-1] = end
    zero: Number = unity - unity
    masses: list[Number] = [m if yes else zero for m, yes in zip(mass, holds, strict=True)]
    from_left: list[Number] = _carry_forward(alpha, masses)
    from_right: list[Number] = _carry_forward(alpha, masses[::-1])[::-1]
    return [a + b + c for a, b, c in zip(from_left, masses, from_right, strict=True)]


def _carry_forward(alpha: Number, masses: Sequence[Number]) -> list[Number]:
    """Return the mass that reaches each place from the places before it."""
    reached = [masses[0] - masses[0]]
    for before in masses[:-1]:
        reached.append(alpha * (reached[-1] + before))
    return reached


def response(alpha: Number, holds: Sequence[bool]) -> list[Number]:
    """Return chances after randomised response among all values (k-ary; Kairouz et al. 2016).

    R(w' | w) = e^ε/(e^ε + k - 1) where w' = w, and 1/(e^ε + k - 1) otherwise.
    """
    unity = alpha / alpha
    elsewhere = alpha / (unity + (len(holds) - 1) * alpha)
    true = unity / (unity + (len(holds) - 1) * alpha)
    wrong = sum(holds) * elsewhere
    return [wrong - elsewhere + true if yes else wrong for yes in holds]


def rounded_chances(
    kind: Callable[..., list[Decimal]], epsilon: Epsilon, holds: Sequence[bool]
) -> Chances:
    """Return each chance and its complement, both as the nearest floating-point numbers."""
    with localcontext() as context:
        context.prec = DIGITS
        alpha = Decimal(epsilon.alpha.numerator) / Decimal(epsilon.alpha.denominator)
        no = [not yes for yes in holds]
        both = zip(kind(alpha, holds), kind(alpha, no), strict=True)
        return [(float(yes), float(complement)) for yes, complement in both]
