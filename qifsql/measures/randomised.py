"""Values that were drawn from the true ones by a known transition matrix (post-randomisation)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import log, sqrt
from operator import mul
from typing import TypeAlias

ROUNDS = 200  # most Newton steps
NEAR = 1e-12  # how far the likelihood per record may be from its maximum; errors of rounding
LEAST = 1e-12  # share of a value that is possible, and that the likeliest shares leave out
MOST_SEARCHED = 200  # most true values of a matrix that is not inverted
SINGULAR = 1e-12  # a pivot below this has lost its digits
ROUNDED = 1e-8  # how far probabilities of a matrix may be from adding up to 1
CLOSE = 0.99  # part of the way to the border that a step goes at most

Lines: TypeAlias = Sequence[Sequence[float]]


def estimate_true_shares(
    chances: Iterable[tuple[int, int, float]], counts: Mapping[int, int]
) -> list[float] | None:
    """Estimate the shares of the true values from the released ones by maximum likelihood (M197).

    ``chances`` are triples: a true value (numbers from 1, without gaps), a released one, and the
    probability that the first is released as the second. ``counts`` has the weight of each released
    value, above 0; each occurs in a triple. The shares are those of the values in their order,
    above 0, and add up to 1. They are the inverse of the matrix where that has no share below 0,
    otherwise the maximum under this condition; a value that it leaves out has the share ``LEAST``.
    None if the maximum is not reached, or not searched: of more than ``MOST_SEARCHED`` values.
    """
    places = {released: place for place, released in enumerate(counts)}
    total = sum(counts.values())
    weights = [n / total for n in counts.values()]  # the shares of the released values
    triples = list(chances)
    matrix = [[0.0] * len(places) for _ in range(max(value for value, _, _ in triples))]
    for value, released, probability in triples:
        matrix[value - 1][places[released]] = probability
    shares = _invert(matrix, weights)
    if shares is None and len(matrix) <= MOST_SEARCHED:
        shares = _search(matrix, weights)
    return None if shares is None else _scaled([max(share, LEAST) for share in shares])


def _invert(matrix: Lines, weights: Sequence[float]) -> list[float] | None:
    """Return the shares that lead exactly to the released ones; None if there are none or many.

    These solve ``shares * matrix = weights``, by Gaussian elimination with partial pivoting.
    """
    size = len(matrix)
    if size != len(weights):
        return None
    columns = zip(*matrix, strict=True)  # an equation is about a released value
    rows = [[*column, weight] for column, weight in zip(columns, weights, strict=True)]
    for i in range(size):
        best = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[best] = rows[best], rows[i]
        if abs(rows[i][i]) < SINGULAR:
            return None
        pivot = rows[i][i:]
        for k in range(i + 1, size):
            if factor := rows[k][i] / pivot[0]:
                rows[k][i:] = [a - factor * b for a, b in zip(rows[k][i:], pivot, strict=True)]
    shares = [0.0] * size
    for i in reversed(range(size)):
        explained = _product(rows[i][i + 1 : size], shares[i + 1 :])
        shares[i] = (rows[i][size] - explained) / rows[i][i]
    # A true value may also lead to what was not released: then the sum is above 1.
    return shares if min(shares) >= -NEAR and abs(sum(shares) - 1) <= ROUNDED else None


def _search(matrix: Lines, weights: Sequence[float]) -> list[float] | None:
    """Return the likeliest shares, by Newton steps that stay above 0; None if not reached.

    This is a primal-dual interior-point method. The likelihood per record is within ``NEAR`` of its
    maximum, by the condition of Kuhn and Tucker: no share has a slope above 1. ``slacks``, the dual
    variables, are 1 less these slopes; the product with the shares, equal for all values, goes to
    0, by a factor of about 0.1 in each step.
    """
    size = len(matrix)
    shares, slacks = [1 / size] * size, [1.0] * size
    for _ in range(ROUNDS):
        scaled = _scaled(shares)
        if max(_slopes(matrix, weights, scaled)) <= 1 + NEAR:
            return scaled
        goal = 0.1 * _product(shares, slacks) / size  # of the product of a share and its slack
        slopes = _slopes(matrix, weights, shares)
        push = [s - 1 + goal / p for s, p in zip(slopes, shares, strict=True)]  # minus the gradient
        curve = _curvature(matrix, weights, shares)
        for i, (p, z) in enumerate(zip(shares, slacks, strict=True)):
            curve[i][i] += z / p
        step = _solve_symmetric(curve, push)
        slack_step = [
            goal / p - z - z / p * d for p, z, d in zip(shares, slacks, step, strict=True)
        ]
        shares = _descend(partial(_loss, matrix, weights, goal), shares, step, _product(push, step))
        slacks = _moved(slacks, slack_step, _length(slacks, slack_step))
    return None


def _loss(matrix: Lines, weights: Sequence[float], goal: float, shares: Sequence[float]) -> float:
    """Return the loss that Newton steps lower: minus the likelihood, with a barrier at 0."""
    likelihood = _product(weights, map(log, _released(matrix, shares)))
    return sum(shares) - likelihood - goal * sum(map(log, shares))


def _descend(
    loss: Callable[[Sequence[float]], float],
    shares: Sequence[float],
    step: Sequence[float],
    slope: float,
) -> list[float]:
    """Return the shares after a step, which is halved until it lowers the loss enough.

    ``slope`` is how much the loss falls at first, per length of the step.
    """
    before, length = loss(shares), _length(shares, step)
    after = _moved(shares, step, length)
    while length > NEAR and loss(after) > before - 1e-4 * length * slope + 1e-14:
        length /= 2
        after = _moved(shares, step, length)
    return after


def _length(numbers: Sequence[float], step: Sequence[float]) -> float:
    """Return the part of a step, at most 1, after which all numbers are above 0."""
    return min(1.0, *(CLOSE * -n / d for n, d in zip(numbers, step, strict=True) if d < 0), 1.0)


def _moved(numbers: Sequence[float], step: Sequence[float], length: float) -> list[float]:
    """Return numbers after a part of a step."""
    return [n + length * d for n, d in zip(numbers, step, strict=True)]


def _released(matrix: Lines, shares: Sequence[float]) -> list[float]:
    """Return the shares of released values that these shares of true values lead to."""
    return [_product(shares, column) for column in zip(*matrix, strict=True)]


def _slopes(matrix: Lines, weights: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Return the slope of the likelihood per record for each share."""
    ratios = [w / q for w, q in zip(weights, _released(matrix, shares), strict=True)]
    return [_product(line, ratios) for line in matrix]


def _curvature(
    matrix: Lines, weights: Sequence[float], shares: Sequence[float]
) -> list[list[float]]:
    """Return the lower half of the second derivatives of the likelihood, with the sign turned.

    It is the product of a matrix with its transpose: that of the chances, each divided by the
    expected share of the released value, times the root of its weight.
    """
    released = _released(matrix, shares)
    roots = [sqrt(w) / q for w, q in zip(weights, released, strict=True)]
    lines = [list(map(mul, line, roots)) for line in matrix]
    return [[_product(lines[i], lines[k]) for k in range(i + 1)] for i in range(len(lines))]


def _solve_symmetric(half: Lines, right: Sequence[float]) -> list[float]:
    """Return the solution of a positive definite system (Cholesky), from its lower half."""
    size = len(half)
    factor: list[list[float]] = []  # lower triangular; times its transpose it is the matrix
    for i, line in enumerate(half):
        row: list[float] = []
        for k in range(i):
            row.append((line[k] - _product(row, factor[k])) / factor[k][k])
        row.append(sqrt(max(line[i] - _product(row, row), 1e-14 * line[i])))  # above 0 if rounded
        factor.append(row)
    middle: list[float] = []  # the solution for the factor, and then that for its transpose
    for i in range(size):
        middle.append((right[i] - _product(middle, factor[i])) / factor[i][i])
    solution = [0.0] * size
    for i in reversed(range(size)):
        solved = sum(factor[k][i] * solution[k] for k in range(i + 1, size))
        solution[i] = (middle[i] - solved) / factor[i][i]
    return solution


def _product(a: Iterable[float], b: Iterable[float]) -> float:
    """Return the sum of products, of as many numbers as the shorter one has."""
    return float(sum(map(mul, a, b)))


def _scaled(shares: Sequence[float]) -> list[float]:
    """Return the shares in proportion, with the sum 1."""
    total = sum(shares)
    return [share / total for share in shares]
