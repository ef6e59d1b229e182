"""An adversary who learns from one file and guesses about people (M117, M121, M130, M133).

A file is a list of pairs of a tuple of quasi-identifiers and a secret, with None as a value.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

Person: TypeAlias = tuple[tuple[object, ...], object]
File: TypeAlias = Sequence[Person]


def alike(train: File, q: tuple[object, ...]) -> list[object]:
    """Return the secrets of the records with these quasi-identifiers, or of all if none has."""
    return [t for record, t in train if record == q] or [t for _, t in train]


def guesses(train: File, q: tuple[object, ...]) -> list[object]:
    """Return the best guesses about a person: the most frequent values among equal records."""
    counts = Counter(alike(train, q))
    return [t for t, n in counts.items() if n == max(counts.values())]


def chance(train: File, person: Person) -> Fraction:
    """Return the chance that one of the best guesses, drawn evenly, is right."""
    best = guesses(train, person[0])
    return Fraction(best.count(person[1]), len(best))


def success(train: File, people: File) -> Fraction:
    """Return the share of people about whom the adversary is right (M117)."""
    return sum((chance(train, person) for person in people), Fraction()) / len(people)


def confidence(train: File, person: Person) -> Fraction:
    """Return the share of the person's secret among the records alike (M130)."""
    secrets = alike(train, person[0])
    return Fraction(secrets.count(person[1]), len(secrets))


def gain(confidence: Fraction, base: Fraction) -> Fraction:
    """Return (confidence - base) / (1 - base), a share of the possible gain; 0 if base is 1 (M133).

    ``base`` is the success without the release.
    """
    return (confidence - base) / (1 - base) if base < 1 else Fraction()


def linked(release: File, people: File, first: Sequence[int]) -> Fraction:
    """Return how many people's halves are linked by two draws of equal records (M121).

    ``first`` has the places of the quasi-identifiers in the first half, the others are the second.
    For each half a record that equals it is drawn; they are linked if it is the same for both.
    """
    total = Fraction()
    second = [i for i in range(len(people[0][0])) if i not in first]
    for q, _ in people:
        like_first, like_second = (
            {n for n, (record, _) in enumerate(release) if all(record[i] == q[i] for i in half)}
            for half in (first, second)
        )
        if like_first and like_second:
            total += Fraction(len(like_first & like_second), len(like_first) * len(like_second))
    return total
