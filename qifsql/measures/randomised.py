"""Values that were drawn from the true ones by a known transition matrix (post-randomisation)."""

from collections.abc import Iterable, Mapping
from operator import mul

ROUNDS = 5_000
STEADY = 1e-12  # a change of shares that is not improved further


def estimate_true_shares(
    chances: Iterable[tuple[int, int, float]], counts: Mapping[int, int]
) -> list[float]:
    """Estimate the shares of the true values from the released ones by maximum likelihood (M197).

    ``chances`` are triples: a true value (numbers from 1, without gaps), a released one, and the
    probability that the first is released as the second. ``counts`` has the weight of each released
    value, above 0; each occurs in a triple. The shares are those of the values in their order, in
    [0, 1], and add up to 1: a fixed point of the expectation-maximisation algorithm, reached from
    equal shares.
    """
    sources: dict[int, tuple[list[int], list[float]]] = {released: ([], []) for released in counts}
    for value, released, probability in chances:
        values, probabilities = sources[released]
        values.append(value - 1)
        probabilities.append(probability)
    size = 1 + max(max(values) for values, _ in sources.values())
    total = sum(counts.values())
    shares = [1 / size] * size
    for _ in range(ROUNDS):
        before, shares = shares, [0.0] * size
        for released, (values, probabilities) in sources.items():
            joint = list(map(mul, map(before.__getitem__, values), probabilities))
            factor = counts[released] / total / sum(joint)
            for value, mass in zip(values, joint, strict=True):
                shares[value] += mass * factor
        if max(abs(a - b) for a, b in zip(before, shares, strict=True)) < STEADY:
            break
    return shares
