"""Semantic privacy: differential privacy in terms of the adversary's beliefs.

Ganta et al. (KDD 2008) compare two games: the adversary sees the publication (game 0), or the
publication after the data of person i are replaced by a default value (game i). For any prior, the
posteriors in both games must be close in statistical difference SD(P, Q) = max_A |P(A) - Q(A)|, for
every i (Def. 12), or with probability at least 1 - δ' over the data and the publication (Def. 13).
The available text lacks the bounds of Proposition 14 and Theorem 15; those below are derived in
docs/mathematics/differential_privacy.md (M83). They are no larger than those of other sources,
e^ε - 1 and e^3ε - 1 + 2√δ.
"""

import math
from dataclasses import dataclass

from qifsql.errors import InputError


@dataclass(frozen=True)
class Semantic:
    """The largest change in beliefs that one person's data can cause."""

    distance: float  # bound of the statistical difference of the two posteriors, 0 to 1
    failure: float  # largest probability that this bound fails, 0 to 1; at 1 nothing is guaranteed


def semantic(epsilon: float, delta: float = 0.0, people: int = 1) -> Semantic:
    """Return the guarantee of (epsilon, delta)-differential privacy for all n people.

    Source: Ganta et al., Definitions 10 to 13, Proposition 14 (δ = 0), Theorem 15. InputError if
    epsilon is not above 0, delta not in [0, 1), or people below 1.
    """
    if not (epsilon > 0 and 0 <= delta < 1 and people >= 1):
        raise InputError(
            "semantic privacy is of an epsilon above 0, a delta from 0 to below 1, and "
            "at least one person"
        )
    if delta == 0:
        return Semantic(math.tanh(epsilon / 2), 0.0)
    distance = math.tanh(epsilon) + 2 * math.sqrt(delta)
    if epsilon > 700:  # e^ε overflows
        return Semantic(min(1.0, distance), 1.0)
    bad = (1 + math.exp(-2 * epsilon)) / -math.expm1(-epsilon)
    failure = math.sqrt(delta) * (1 + math.exp(epsilon)) * bad + delta
    return Semantic(min(1.0, distance), min(1.0, people * failure))
