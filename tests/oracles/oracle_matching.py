"""Links one to one, record by record: the messages of belief propagation, and every matching.

``spread`` is what the package computes by kinds, here between single records in floating point;
``counted`` weighs every matching of two small releases by fractions: what belief propagation comes
close to, and reaches where the candidates of the records form no cycle. Where nobody leaves or is
new, only matchings with the most pairs count. Nothing is shared with the package but when to stop.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import fsum

from oracle_keyless import Law, Row, likelihood

ROUNDS, STILL, STEADY, HARD, NEVER = 100, 1e-4, 1e-12, 2.0**500, 2.0**-250


def chances(
    laws: Sequence[Law], earlier: Sequence[Row], later: Sequence[Row], steps: int, rho: Fraction
) -> list[list[float]]:
    """link(y|x) of each y, and at the end link(nobody|x): apart for what must match exactly."""
    exact = [law for law in laws if law.stay is None and law.table is None]

    def must(row: Row, years: int) -> tuple[object, ...]:
        values = [(row[law.column], (law.shift or 0) * years) for law in exact]
        return tuple(v + more if more and v is not None else v for v, more in values)  # type: ignore[operator]

    mine, theirs = [must(x, steps) for x in earlier], [must(y, 0) for y in later]
    weights, hard = odds(laws, earlier, later, steps, rho), is_hard(earlier, later, rho)
    found = [[0.0] * len(later) + [1.0] for _ in earlier]
    for group in set(mine) & set(theirs):
        xs = [x for x, own in enumerate(mine) if own == group and any(weights[x])]
        ys = [y for y, own in enumerate(theirs) if own == group and any(weights[x][y] for x in xs)]
        if xs:
            apart = spread([[weights[x][y] for y in ys] for x in xs], hard=hard)
            for x, own in zip(xs, apart, strict=True):
                found[x] = [0.0] * len(later) + own[-1:]
                for y, chance in zip(ys, own, strict=False):
                    found[x][y] = chance
    return found


def is_hard(earlier: Sequence[Row], later: Sequence[Row], rho: Fraction) -> bool:
    """Return whether nobody leaves, or nobody is new."""
    return (1 - rho) * (len(later) - rho * len(earlier)) == 0


def odds(
    laws: Sequence[Law], earlier: Sequence[Row], later: Sequence[Row], steps: int, rho: Fraction
) -> list[list[Fraction]]:
    """Return how likely x and y are one person, against x having left and y being new.

    Where nobody leaves or is new: against somebody drawn from the later release.
    """
    n, m = len(earlier), len(later)
    exact = [law for law in laws if law.stay is None and law.table is None]
    drifting = [law for law in laws if law not in exact]

    def background(y: Row) -> Fraction:
        share = Fraction(sum(all(z[w.column] == y[w.column] for w in exact) for z in later), m)
        for law in drifting:
            share *= Fraction(sum(z[law.column] == y[law.column] for z in later), m)
        return share

    against = Fraction(1) if is_hard(earlier, later, rho) else (1 - rho) * (m - rho * n) / rho
    return [
        [likelihood(laws, x, y, steps, later) / (against * background(y)) for y in later]
        for x in earlier
    ]


def spread(weights: Sequence[Sequence[Fraction]], *, hard: bool) -> list[list[float]]:
    """The same of records that all have candidates, by belief propagation."""
    xs, ys = range(len(weights)), range(len(weights[0]))
    against = [[float(w) * (HARD if hard else 1) for w in row] for row in weights]
    sparse = sum(w > 0 for row in weights for w in row) < len(xs) + len(ys)
    crowded = len(xs) > len(ys)
    answer = [[min(1.0, w) if crowded else w for w in row] for row in against]
    former, before = ([[0.0 for _ in ys] for _ in xs] for _ in range(2))
    for _ in range(ROUNDS):
        every = [1 + fsum(answer[x]) for x in xs]
        chance = [[answer[x][y] / every[x] for y in ys] for x in xs]
        moved = sum(abs(chance[x][y] - before[x][y]) for x in xs for y in ys)
        steady = all(
            abs(answer[x][y] - former[x][y]) <= STEADY * answer[x][y] for x in xs for y in ys
        )
        if steady if sparse else moved <= STILL * len(weights):
            break
        before, former = chance, answer
        others = [[1 + fsum(a for z, a in enumerate(answer[x]) if z != y) for y in ys] for x in xs]
        claim = [[against[x][y] / others[x][y] for y in ys] for x in xs]
        answer = [
            [against[x][y] / (1 + fsum(claim[z][y] for z in xs if z != x)) for y in ys] for x in xs
        ]
    found = []
    for own in answer:
        best = max(own)
        left = [a / best if not hard or a / best >= NEVER else 0.0 for a in own]
        nobody = 0.0 if hard and 1 / best < NEVER else 1 / best
        total = fsum([*left, nobody])
        found.append([*(a / total for a in left), nobody / total])
    return found


def counted(
    laws: Sequence[Law], earlier: Sequence[Row], later: Sequence[Row], steps: int, rho: Fraction
) -> list[list[Fraction]]:
    """link(y|x) of each y, and at the end link(nobody|x), over all matchings, or the largest."""
    weights, m = odds(laws, earlier, later, steps, rho), len(later)
    sums: dict[int, list[list[Fraction]]] = {}

    def follow(chosen: list[int], weight: Fraction) -> None:
        x = len(chosen)
        if x == len(weights):
            pairs = sum(y < m for y in chosen)
            own = sums.setdefault(pairs, [[Fraction(0)] * (m + 1) for _ in weights])
            for i, y in enumerate(chosen):
                own[i][y] += weight
            return
        follow([*chosen, m], weight)
        for y in range(m):
            if y not in chosen and weights[x][y]:
                follow([*chosen, y], weight * weights[x][y])

    follow([], Fraction(1))
    sizes = [max(sums)] if is_hard(earlier, later, rho) else list(sums)
    rows = [
        [sum((sums[k][x][y] for k in sizes), Fraction(0)) for y in range(m + 1)]
        for x in range(len(weights))
    ]
    return [[s / sum(row) for s in row] for row in rows]
