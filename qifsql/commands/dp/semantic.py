"""Semantic privacy: differential privacy in terms of the adversary's beliefs.

Ganta et al. (KDD 2008) compare two games: the adversary sees the publication (game 0), or the
publication after the data of person i are replaced by a default value (game i). For any prior, the
posteriors in both games must be close in statistical difference SD(P, Q) = max_A |P(A) - Q(A)|, for
every i (Def. 12), or with probability at least 1 - δ' over the data and the publication (Def. 13).
The available text lacks the bounds of Proposition 14 and Theorem 15; the bounds below are derived
here. The distances are no larger than those of other sources, e^ε - 1 and e^3ε - 1 + 2√δ.

**ε-differential privacy.** Given a transcript, the likelihoods of the data in both games differ by
a factor f in [e^-ε, e^ε], so the posteriors differ by f / E f. SD is largest if f takes only the
two extreme values: with probability p of e^ε, SD = p(1 - p)(e^ε - e^-ε)/(p e^ε + (1 - p) e^-ε),
which is largest at p = 1/(1 + e^ε). So SD <= (e^ε - 1)/(e^ε + 1) = tanh(ε/2), and some adversary
reaches it.

**(ε, δ)-differential privacy.** Call a transcript bad for data x and person i if its
probabilities in the two games, p and q, differ by more than e^2ε. Where p > e^2ε q, on a set B,
p(B) <= e^ε q(B) + δ <= e^-ε p(B) + δ, so p(B) <= δ/(1 - e^-ε); where q > e^2ε p, the same holds
of q, and p(B) is e^-2ε times that at most. So bad pairs (x, t) have probability at most
d = δ(1 + e^-2ε)/(1 - e^-ε) in either game. By Markov's inequality the posterior of bad x exceeds √δ
in game 0 with probability at most d/√δ. The posterior of game i does so with the same probability
under game i, hence with at most e^ε d/√δ + δ under game 0. Otherwise both posteriors are within √δ
of those without bad x, which are within tanh(ε) of each other. So SD <= tanh(ε) + 2√δ, except with
probability √δ(1 + e^ε)(1 + e^-2ε)/(1 - e^-ε) + δ for each of n people, and with at most n times
that for all n together.
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
    """Return the guarantee of (epsilon, delta)-differential privacy for all n people (see above).

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
