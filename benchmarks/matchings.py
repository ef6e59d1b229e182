"""Links one to one against every matching of small releases: errors of belief propagation.

    python benchmarks/matchings.py [--releases 1200] [--seed 1]

Draws pairs of releases of two to seven records, the later one not the smaller: by a law (a column
that matches exactly, two that stay with 0.75 and 0.9; values are drawn at random, so that the law
is wrong as often as right), or with arbitrary chances of moves. The chances of links, by the
messages that ``qifsql attack --one-to-one`` sends, are held against those over all matchings.
"""

import argparse

import numpy as np

PRESENCES = (0.1, 0.5, 0.9, 0.99, 0.999999, 1.0)
ROUNDS, STILL, STEADY, HARD = 100, 1e-4, 1e-12, 2.0**500


def every_matching(weights: np.ndarray, odds: float) -> np.ndarray:
    """Return the chance of each pair over all matchings; of infinite odds over the largest ones."""
    n, m = weights.shape
    masks = np.arange(1 << m)
    pairs = np.array([int(mask).bit_count() for mask in masks])
    ahead = [np.zeros(1 << m) for _ in range(n + 1)]
    ahead[0][0] = 1
    for x in range(n):
        ahead[x + 1] = ahead[x].copy()
        for y in range(m):
            free = masks >> y & 1 == 0
            ahead[x + 1][masks[free] | 1 << y] += weights[x, y] * ahead[x][free]
    behind = [np.zeros(1 << m) for _ in range(n + 1)]
    largest = pairs == pairs[ahead[n] > 0].max()
    behind[n] = largest.astype(float) if np.isinf(odds) else odds ** pairs.astype(float)
    for x in range(n - 1, -1, -1):
        behind[x] = behind[x + 1].copy()
        for y in range(m):
            free = masks >> y & 1 == 0
            behind[x][free] += weights[x, y] * behind[x + 1][masks[free] | 1 << y]
    found = np.zeros((n, m))
    for x in range(n):
        for y in range(m):
            free = masks >> y & 1 == 0
            both = ahead[x][free] * behind[x + 1][masks[free] | 1 << y]
            found[x, y] = weights[x, y] * both.sum() / behind[0][0]
    return found


def others(messages: np.ndarray, axis: int) -> np.ndarray:
    """Return the sum of all messages but one, for each of them."""
    sums = [np.delete(messages, i, axis=axis).sum(axis=axis) for i in range(messages.shape[axis])]
    return np.stack(sums, axis=axis)


def propagated(weights: np.ndarray, odds: float) -> np.ndarray:
    """Return the chance of each pair by belief propagation."""
    against = weights * (HARD if np.isinf(odds) else odds)
    possible = weights > 0
    n, m = possible.any(1).sum(), possible.any(0).sum()
    answer = np.where(possible, np.minimum(against, 1), 0) if n > m else against
    before, former = np.zeros_like(weights), np.zeros_like(weights)
    for _ in range(ROUNDS):
        chance = answer / (1 + answer.sum(1, keepdims=True))
        if possible.sum() < n + m:
            settled = bool((np.abs(answer - former) <= STEADY * answer).all())
        else:
            settled = bool(np.abs(chance - before).sum() <= STILL * n)
        if settled:
            break
        before, former = chance, answer
        answer = against / (1 + others(against / (1 + others(answer, 1)), 0))
    return answer / (1 + answer.sum(1, keepdims=True))


def drawn(draw: np.random.Generator, n: int, m: int, *, law: bool) -> np.ndarray:
    """Return the likelihood of each pair over the share of the later record's values."""
    if not law:
        there = draw.random((n, m)) < draw.choice([0.3, 0.5, 0.8])
        return there * draw.choice([1, 0.5, 0.25, 0.1, 0.02], size=(n, m))
    weights = np.ones((n, m))
    for values, stay in ((2, 1.0), (3, 0.75), (2, 0.9)):
        one, other = draw.integers(0, values, n), draw.integers(0, values, m)
        share = np.array([(other == value).mean() for value in other])
        weights *= (stay * (one[:, None] == other) + (1 - stay) * share) / share
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    draw = np.random.default_rng(asked.seed)
    print("| chances | presence | a link off, at most | on average | vulnerability off |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for law in (True, False):
        for presence in PRESENCES:
            links, vulnerability = [], []
            for _ in range(asked.releases):
                m = int(draw.integers(2, 8))
                n = int(draw.integers(2, m + 1))
                weights = drawn(draw, n, m, law=law)
                against = (1 - presence) * (m - presence * n)
                odds = presence / against if against > 1e-15 else np.inf
                true = every_matching(weights, odds)
                mine = propagated(weights, odds)
                links.append(np.abs(mine - true).max())
                vulnerability.append(mine.max(1).mean() - true.max(1).mean())
            off = f"{np.min(vulnerability):+.3f} to {np.max(vulnerability):+.3f}"
            print(
                f"| {'by a law' if law else 'arbitrary'} | {presence} | {np.max(links):.3f} "
                f"| {np.mean(links):.4f} | {off} |"
            )


if __name__ == "__main__":
    main()
