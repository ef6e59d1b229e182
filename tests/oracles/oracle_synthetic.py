"""An oracle of synthetic releases: everything is counted person by person, in fractions.

A file is a list of pairs of a tuple of quasi-identifiers and a secret, with None as a value.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from qifsql.reference.synthetic_releases import File, chance, success

Predicate = Callable[[Any], object]


def measures(original: File, synthetic: File, control: File | None) -> dict[str, Fraction | None]:
    """Return all measures of a release that have no interval, and differences."""
    of = {name: [(q, t) for q, t in file] for name, file in (("d", original), ("s", synthetic))}
    d, s = of["d"], of["s"]
    in_d, in_s = Counter(q for q, _ in d), Counter(q for q, _ in s)
    values_d = {q: {t for other, t in d if other == q} for q in in_d}
    values_s = {q: {t for other, t in s if other == q} for q in in_s}
    people = len(d)
    alone = [q for q, _ in d if in_d[q] == 1]
    certain = [(q, t) for q, t in d if len(values_s.get(q, ())) == 1]
    correct = [(q, t) for q, t in certain if values_s[q] == {t}]
    present = sum(in_s[q] > 0 for q, _ in d)
    found: dict[str, Fraction | None] = {
        "UiO": Fraction(len(alone), people),
        "UiS": Fraction(sum(in_s[q] == 1 for q, _ in s), len(s)),
        "UiOiS": Fraction(sum(in_s[q] > 0 for q in alone), people),
        "repU": Fraction(sum(in_s[q] == 1 for q in alone), people),
        "iS": Fraction(present, people),
        "Dorig": Fraction(sum(len(values_d[q]) == 1 for q, _ in d), people),
        "DiS": Fraction(len(certain), people),
        "DiSCO": Fraction(len(correct), people),
        "DiSDiO": Fraction(sum(len(values_d[q]) == 1 for q, _ in correct), people),
        "TCAP": Fraction(len(correct), present) if present else None,
        "right_when_certain": Fraction(len(correct), len(certain)) if certain else None,
        "success_original": success(s, d),
        "prior_original": constant(d),
    }
    if control is not None:
        found |= {"success_control": success(s, control), "prior_control": constant(control)}
        found["individual_leak"] = success(s, d) - success(s, control)
        found["population_knowledge"] = success(s, control) - constant(control)
    return found


def constant(people: File) -> Fraction:
    """Return the share of people with their most frequent value."""
    return Fraction(max(Counter(t for _, t in people).values()), len(people))


def both(synthetic: File, control: File) -> Fraction:
    """Return how many of the control both adversaries are right about."""
    counts = Counter(t for _, t in control)
    modes = [t for t, n in counts.items() if n == max(counts.values())]
    return sum((chance(synthetic, p) / len(modes) for p in control if p[1] in modes), Fraction())


def predicates(synthetic: File, columns: Sequence[int]) -> list[Predicate]:
    """Return the predicates over columns that are true for one record of the release."""
    each = {tuple(q[i] for i in columns) for q, _ in synthetic}
    conditions: list[Predicate] = [
        lambda q, values=values: tuple(q[i] for i in columns) == values for values in each
    ]
    numbers = [q[columns[0]] for q, _ in synthetic if isinstance(q[columns[0]], int)]
    if len(columns) == 1 and numbers:
        ends = min(map(int, numbers)), max(map(int, numbers))
        conditions.append(lambda q: q[columns[0]] is not None and q[columns[0]] <= ends[0])
        conditions.append(lambda q: q[columns[0]] is not None and q[columns[0]] >= ends[1])
    return [c for c in conditions if sum(bool(c(q)) for q, _ in synthetic) == 1]


def singled_out(conditions: Sequence[Predicate], people: File, size: int) -> Fraction:
    """Return how many predicates are true for one person, expected of ``size`` of the people."""
    total = Fraction()
    for condition in conditions:
        n = sum(bool(condition(q)) for q, _ in people)
        rest = len(people) - n
        total += Fraction(n * comb(rest, size - 1), comb(len(people), size))
    return total


def some_predicates(
    synthetic: Sequence[Sequence[Any]], size: int, ordered: Sequence[int]
) -> list[Predicate]:
    """Return all predicates over ``size`` columns made of a record, true for one record alone.

    ``synthetic`` are tuples. Of ordered columns a predicate names those on the far side from the
    median (lower), this value with them.
    """
    middles = {}
    for i in ordered:
        values = sorted(row[i] for row in synthetic if row[i] is not None)
        middles[i] = values[(len(values) - 1) // 2] if values else None
    different: dict[tuple[object, ...], Predicate] = {}
    for columns in combinations(range(len(synthetic[0])), size):
        for row in synthetic:
            terms = []
            for i in columns:
                if row[i] is None or i not in ordered:
                    terms.append((i, "=", row[i]))
                else:
                    terms.append((i, ">=" if row[i] > middles[i] else "<=", row[i]))
            different[tuple(terms)] = lambda other, terms=terms: all(
                _holds(other[i], sign, value) for i, sign, value in terms
            )
    return [c for c in different.values() if sum(bool(c(row)) for row in synthetic) == 1]


def _holds(cell: Any, sign: str, value: Any) -> bool:
    if sign == "=":
        return bool(cell == value)
    return cell is not None and (cell >= value if sign == ">=" else cell <= value)


def nearest_linked(
    synthetic: Sequence[Sequence[Any]],
    people: Sequence[Sequence[Any]],
    first: Sequence[int],
    neighbours: int,
    everybody: Sequence[Sequence[Any]],
) -> Fraction:
    """Return how many people's halves have one of their nearest records in common.

    Every choice of the nearest records is listed; ties make several. Columns are scaled by
    ``everybody``.
    """
    width = len(people[0])
    scales = []
    for i in range(width):
        numbers = [row[i] for row in everybody if isinstance(row[i], int)]
        scales.append((min(numbers), max(numbers)) if len(set(numbers)) > 1 else None)

    def distance(i: int, a: Any, b: Any) -> Fraction:
        low, high = scales[i] or (0, 0)
        if a is None or b is None or scales[i] is None:
            return Fraction(a != b)
        return Fraction(abs(a - b), high - low)

    def choices(person: Sequence[Any], half: Sequence[int]) -> list[set[int]]:
        far = [sum(distance(i, person[i], row[i]) for i in half) for row in synthetic]
        least = sorted(far)[:neighbours]
        every = combinations(range(len(synthetic)), neighbours)
        return [set(c) for c in every if sorted(far[n] for n in c) == least]

    second = [i for i in range(width) if i not in first]
    total = Fraction()
    for person in people:
        ones, twos = choices(person, first), choices(person, second)
        total += Fraction(sum(bool(a & b) for a in ones for b in twos), len(ones) * len(twos))
    return total


def distances(
    original: File, synthetic: File, control: File, others: File = ()
) -> dict[str, Fraction | None]:
    """Return the measures of distances, if every record of the release is drawn.

    ``others`` are the records of other releases: columns are scaled by the values of all files.
    """
    rows = [[(*q, t) for q, t in file] for file in (original, synthetic, control)]
    width = len(rows[0][0])
    scales = []
    for i in range(width):
        everybody = [*(row for file in rows for row in file), *((*q, t) for q, t in others)]
        numbers = [row[i] for row in everybody if isinstance(row[i], int)]
        scales.append((min(numbers), max(numbers)) if len(set(numbers)) > 1 else None)

    def distance(one: tuple[Any, ...], other: tuple[Any, ...]) -> Fraction:
        total = Fraction()
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            low, high = scales[i] or (0, 0)
            if a is None or b is None or scales[i] is None:
                total += a != b
            else:
                total += Fraction(abs(a - b), high - low)
        return total

    nearer, equal = Fraction(), 0
    firsts, others, ratios = [], [], []
    for record in rows[1]:
        to_original = sorted(distance(record, person) for person in rows[0])
        to_control = sorted(distance(record, person) for person in rows[2])
        near = min(to_original[0], to_control[0])
        at = to_original.count(near), to_control.count(near)
        nearer += Fraction(at[0], sum(at))
        equal += to_original[0] == 0
        firsts.append(to_original[0])
        others.append(to_control[0])
        second = to_original[1] if len(to_original) > 1 else None
        if second is not None:
            ratios.append(1.0 if second == to_original[0] else float(to_original[0] / second))
    records, scale = len(rows[1]), width
    return {
        "distance_zero": Fraction(equal, records),
        "distance_original": Fraction(median(firsts), scale),
        "distance_control": Fraction(median(others), scale),
        "nearest_ratio": Fraction(median(ratios)) if ratios else None,
        "nearer_original": nearer / records,
        "nearer_by_chance": Fraction(len(original), len(original) + len(control)),
    }


def median(values: Sequence[Any]) -> Any:
    """Return the lower median."""
    return sorted(values)[(len(values) - 1) // 2]
