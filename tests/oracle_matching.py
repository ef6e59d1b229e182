"""Links one to one, record by record: the messages of belief propagation, and every matching.

``spread`` is what the package computes by kinds, here between single records in floating point;
``counted`` weighs every matching of two small releases by fractions: what belief propagation comes
close to, and reaches where the candidates of the records form no cycle. Nothing is shared with the
package but when to stop.
"""

from collections.abc import Sequence
from fractions import Fraction

from oracle_keyless import Law, Row, likelihood

ROUNDS, STILL, LEAST = 100, 1e-4, 2.0**-40


def chances(
    laws: Sequence[Law], earlier: Sequence[Row], later: Sequence[Row], steps: int, rho: Fraction
) -> list[list[float]]:
    """link(y|x) of each y, and at the end link(nobody|x): apart for what must match exactly."""
    exact = [law for law in laws if law.stay is None and law.table is None]

    def must(row: Row, years: int) -> tuple[object, ...]:
        values = [(row[law.column], (law.shift or 0) * years) for law in exact]
        return tuple(v + more if more and v is not None else v for v, more in values)  # type: ignore[operator]

    mine, theirs = [must(x, steps) for x in earlier], [must(y, 0) for y in later]
    weights = odds(laws, earlier, later, steps, rho)
    found = [[0.0] * len(later) + [1.0] for _ in earlier]
    for group in set(mine) & set(theirs):
        xs = [x for x, own in enumerate(mine) if own == group and any(weights[x])]
        ys = [y for y, own in enumerate(theirs) if own == group]
        if xs:
            apart = spread([[weights[x][y] for y in ys] for x in xs], rho)
            for x, own in zip(xs, apart, strict=True):
                found[x] = [0.0] * len(later) + own[-1:]
                for y, chance in zip(ys, own, strict=False):
                    found[x][y] = chance
    return found


def odds(
    laws: Sequence[Law], earlier: Sequence[Row], later: Sequence[Row], steps: int, rho: Fraction
) -> list[list[Fraction]]:
    """How likely x and y are one person, against x having left and y being new."""
    n, m = len(earlier), len(later)
    leaving = max(1 - rho, Fraction(1, 2 * n))
    newcomers = max(m - rho * n, Fraction(1, 2))
    exact = [law for law in laws if law.stay is None and law.table is None]
    drifting = [law for law in laws if law not in exact]

    def background(y: Row) -> Fraction:
        share = Fraction(sum(all(z[w.column] == y[w.column] for w in exact) for z in later), m)
        for law in drifting:
            share *= Fraction(sum(z[law.column] == y[law.column] for z in later), m)
        return share

    return [
        [
            (1 - leaving)
            / leaving
            * likelihood(laws, x, y, steps, later)
            / (newcomers * background(y))
            for y in later
        ]
        for x in earlier
    ]


def spread(weights: Sequence[Sequence[Fraction]], rho: Fraction) -> list[list[float]]:
    """The same of records that all have candidates, by belief propagation."""
    best = [float(max(row)) for row in weights]
    share = [[float(w) / b for w in row] for row, b in zip(weights, best, strict=True)]
    nobody = [max(1 / b, LEAST) for b in best]
    xs, ys = range(len(weights)), range(len(weights[0]))
    answer = [list(row) for row in share]
    before = [[0.0 for _ in ys] for _ in xs]
    for _ in range(ROUNDS):
        every = [nobody[x] + sum(answer[x]) for x in xs]
        chance = [[answer[x][y] / every[x] for y in ys] for x in xs]
        moved = sum(abs(chance[x][y] - before[x][y]) for x in xs for y in ys)
        if moved <= STILL * len(weights):
            break
        before = chance
        others = [
            [nobody[x] + sum(a for z, a in enumerate(answer[x]) if z != y) for y in ys] for x in xs
        ]
        claim = [[share[x][y] / others[x][y] for y in ys] for x in xs]
        answer = [
            [share[x][y] / (1 + sum(claim[z][y] for z in xs if z != x)) for y in ys] for x in xs
        ]
    found = []
    for x in xs:
        linked = sum(answer[x])
        presence = 1.0 if rho == 1 else linked / (linked + nobody[x])
        found.append([*(presence * a / linked for a in answer[x]), 1 - presence])
    return found


def counted(weights: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """link(y|x) of each y, and at the end link(nobody|x), over all matchings."""
    m = len(weights[0])
    sums = [[Fraction(0)] * (m + 1) for _ in weights]

    def follow(chosen: list[int], weight: Fraction) -> None:
        x = len(chosen)
        if x == len(weights):
            for i, y in enumerate(chosen):
                sums[i][y] += weight
            return
        follow([*chosen, m], weight)
        for y in range(m):
            if y not in chosen and weights[x][y]:
                follow([*chosen, y], weight * weights[x][y])

    follow([], Fraction(1))
    return [[s / sum(row) for s in row] for row in sums]
