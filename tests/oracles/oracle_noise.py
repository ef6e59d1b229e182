"""A slow, exact oracle for noisy counts: every noisy database, one by one, in fractions.

Written from the definitions (thesis Defs. 26 to 32, Eqs. 6.1 to 6.14) with nothing but the records:
D is a list of (useful value, secret); x* is one of its records, drawn uniformly (Eq. 6.1).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Record = tuple[Any, Any]
Truth = Callable[[Any], bool]
Kernel = Mapping[tuple[Any, Any], Fraction]  # (reported, real) -> probability
Joint = dict[tuple[Any, Any, Any], Fraction]  # (secret, real count, reported) -> probability


def geometric(n: int, alpha: Fraction) -> dict[tuple[int, int], Fraction]:
    """G(j | i) of Eq. 6.14 with domain and co-domain {0, ..., n}, by (j, i)."""
    if n == 0:
        return {(0, 0): Fraction(1)}
    found = {}
    for i, j in product(range(n + 1), repeat=2):
        end = j in (0, n)
        found[j, i] = alpha ** abs(i - j) * (1 if end else 1 - alpha) / (1 + alpha)
    return found


def on_values(kernel: Mapping[tuple[int, int], Fraction], domain: Sequence[Any]) -> Kernel:
    """A kernel on places as one on the values that stand there."""
    return {(domain[j], domain[i]): p for (j, i), p in kernel.items()}


def response(domain: Sequence[Any], alpha: Fraction) -> Kernel:
    """Randomised response among k values: the true one e^ε times as likely as any other."""
    k = len(domain)
    return {
        (j, i): (1 if i == j else alpha) / (1 + (k - 1) * alpha)
        for i, j in product(domain, repeat=2)
    }


def count(values: Sequence[Any], truth: Truth) -> int:
    """The counting query of Def. 26."""
    return sum(truth(v) for v in values)


def oblivious(
    data: Sequence[Record], truths: Sequence[Truth], alpha: Fraction, answers: int = 1
) -> Joint:
    """The joint of Def. 30: noise on the counts of D and x*, each answered so many times."""
    joint: Joint = defaultdict(Fraction)
    kernel = geometric(len(data) + 1, alpha)
    for value, secret in data:
        real = tuple(count([*(v for v, _ in data), value], t) for t in truths)
        for reported in product(range(len(data) + 2), repeat=len(truths) * answers):
            p = Fraction(1, len(data))
            for i, j in enumerate(reported):
                p *= kernel[j, real[i // answers]]
            joint[secret, real, reported] += p
    return joint


def local(data: Sequence[Record], truths: Sequence[Truth], kernel: Kernel) -> Joint:
    """The joint of Def. 31: every noisy database of D and x*, and the counts of it."""
    domain = list(dict.fromkeys(j for j, _ in kernel))
    joint: Joint = defaultdict(Fraction)
    for value, secret in data:
        everybody = [*(v for v, _ in data), value]
        real = tuple(count(everybody, t) for t in truths)
        for noisy in product(domain, repeat=len(everybody)):
            p = Fraction(1, len(data))
            for j, i in zip(noisy, everybody, strict=True):
                p *= kernel[j, i]
            joint[secret, real, tuple(count(noisy, t) for t in truths)] += p
    return joint


def recursive(data: Sequence[Record], truth: Truth, kernel: Kernel) -> Joint:
    """The joint of Def. 31 for one predicate by the recursion of Eq. 6.11, record by record."""
    domain = list(dict.fromkeys(j for j, _ in kernel))
    joint: Joint = defaultdict(Fraction)
    for value, secret in data:
        everybody = [*(v for v, _ in data), value]
        counts = {0: Fraction(1)}
        for v in everybody:
            yes = sum((kernel[w, v] for w in domain if truth(w)), Fraction(0))
            before, counts = counts, defaultdict(Fraction)
            for c, p in before.items():
                counts[c] += p * (1 - yes)
                counts[c + 1] += p * yes
        real = (count(everybody, truth),)
        for c, p in counts.items():
            joint[secret, real, (c,)] += p / len(data)
    return joint


def vulnerability(joint: Joint, axis: int) -> Fraction:
    """Posterior Bayes vulnerability of the secret (axis 0, Eq. 6.4) or real count (1, Eq. 6.6)."""
    together: dict[Any, dict[Any, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for key, p in joint.items():
        together[key[2]][key[axis]] += p
    return sum((max(guesses.values()) for guesses in together.values()), Fraction(0))


def loss(data: Sequence[Record], joint: Joint) -> Fraction:
    """Privacy loss (Def. 28)."""
    prior = Fraction(max(Counter(s for _, s in data).values()), len(data))
    return vulnerability(joint, 0) / prior
