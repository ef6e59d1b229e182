"""Limits on the classes of an anonymised release: k, l and t of records, or of different people.

A limit on a secret holds in several readings, so that the smaller protection counts: with a missing
value as a value and among reported ones (M42 to M46); of people with several records, by the values
that a person has in the class, each once, and by her secret, the multiset of all her values (M179).
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

from qifsql.reference.microdata import Counts, Names, Rows, order_key, value
from qifsql.reference.syntactic_levels import MEASURES, recursive

Labels = Sequence[Any]  # the secret of each record in a reading; None: the record does not count


def owners(rows: Rows, person: str | None) -> list[tuple[bool, Any]]:
    """Return for each record a key of its person; a record without one is a person of its own.

    A key is (False, name of the person), or (True, position) of a record without one.
    """
    keys: list[tuple[bool, Any]] = []
    for position, row in enumerate(rows):
        name = None if person is None else value(row[person])
        keys.append((True, position) if name is None else (False, name))
    return keys


def counted(group: Collection[int], whose: Labels, labels: Labels) -> Counts:
    """Return how many different people of a class have each label, in the order of the labels."""
    pairs = {(whose[i], labels[i]) for i in group if labels[i] is not None}
    counts = Counter(label for _, label in pairs)
    return {label: counts[label] for label in sorted(counts)}


def readings(rows: Rows, secret: str, whose: Labels) -> list[Labels]:
    """Return the readings of a secret: its values, and each person's multiset of all her values.

    If some values are missing and others not, there are two more, of the reported values alone.
    """
    of_values: list[Labels] = [[order_key(row[secret]) for row in rows]]
    reported = [None if value(row[secret]) is None else order_key(row[secret]) for row in rows]
    if 0 < reported.count(None) < len(rows):
        of_values.append(reported)
    of_people: list[Labels] = []
    for labels in of_values:
        multisets: dict[Any, list[Any]] = {}  # of each person
        for owner, label in zip(whose, labels, strict=True):
            multisets.setdefault(owner, []).extend([] if label is None else [label])
        of_people.append([tuple(sorted(multisets[owner])) or None for owner in whose])
    return of_values + of_people


def judge(
    rows: Rows, secrets: Names, limits: Mapping[str, Any], person: str | None = None
) -> Callable[[Collection[int]], bool]:
    """Return the function that says whether records, by their positions, may be a class (M192).

    They may if they keep all ``limits``: k, l, l_entropy, l_recursive (c, l), t and t_ordered; None
    is no limit. A class in which nobody counts in a reading keeps all limits in it.
    """
    whose, everybody = owners(rows, person), range(len(rows))
    # Of each reading of a secret: the label of each record, and how many of all people have each.
    all_labels = [labels for secret in secrets for labels in readings(rows, secret, whose)]
    pairs = [(labels, counted(everybody, whose, labels)) for labels in all_labels]

    def keeps(group: Collection[int]) -> bool:
        """Return whether the records at these positions keep all limits as a class."""
        if len({whose[i] for i in group}) < limits["k"]:
            return False
        return all(_keeps(counted(group, whose, labels), sums, limits) for labels, sums in pairs)

    return keeps


def _keeps(counts: Counts, totals: Counts, limits: Mapping[str, Any]) -> bool:
    """Return whether a class (``counts`` by value) keeps the ``limits``; an empty one does."""
    names = {"l": "l_distinct", "l_entropy": "l_entropy", "t": "t_equal", "t_ordered": "t_ordered"}
    required = {name: limit for name, limit in limits.items() if limit is not None}
    aims = [(MEASURES[m], required[name]) for name, m in names.items() if name in required]
    if "l_recursive" in required:
        c, l = required["l_recursive"]  # noqa: E741 - the field's own letter
        aims.append((recursive(l), c))
    return not counts or all(m.holds(counts, totals, Fraction(aim)) for m, aim in aims)


def kept_records(
    rows: Rows, combinations: Mapping[tuple[str, ...], int], person: str | None = None
) -> set[int]:
    """Return the largest set of records of which each keeps all ``combinations`` (M192).

    A combination of columns has a k: so many records of the set, or different people with a
    ``person``, have the same values there. Records are numbered from 0. Those that break a
    combination are removed, then those that break one among the others, until there are none.
    """
    whose, remaining = owners(rows, person), set(range(len(rows)))
    while True:
        broken: set[int] = set()
        for names, k in combinations.items():
            people: dict[Any, set[Any]] = {}
            cells = {i: tuple(value(rows[i][n]) for n in names) for i in remaining}
            for i, key in cells.items():
                people.setdefault(key, set()).add(whose[i])
            broken |= {i for i, key in cells.items() if len(people[key]) < k}
        if not broken:
            return remaining
        remaining -= broken


def fewest_suppressed_cells(records: Sequence[Sequence[Hashable]], k: int) -> int:
    """Return the fewest cells to suppress so that each record equals at least k - 1 others (M201).

    A suppressed cell is a value of its own. There must be at least k records. The time grows
    exponentially with the number of cells.
    """
    classes = Counter(map(tuple, records))
    masks = list(product((False, True), repeat=len(records[0])))
    maskings = [combinations_with_replacement(masks, people) for people in classes.values()]
    fewest = len(records) * len(records[0])  # all cells
    for masking in product(*maskings):
        published = Counter(
            tuple("*" if hidden else (cell,) for cell, hidden in zip(record, mask, strict=True))
            for record, of_class in zip(classes, masking, strict=True)
            for mask in of_class
        )
        if min(published.values()) >= k:
            hidden = sum(people * cells.count("*") for cells, people in published.items())
            fewest = min(fewest, hidden)
    return fewest
