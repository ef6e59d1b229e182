"""A slow, exact oracle of attacks without a person key, from M59 to M63, record by record.

Every record of every release is looked at, every likelihood is a fraction. Longer collections: from
the record that was reached each link leads to the next release; whoever is not found is linked from
the release before by the law of so many steps. Nothing is shared with the package.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Row = Mapping[str, object]
NOBODY = "(nobody)"


@dataclass(frozen=True)
class Law:
    """A law of change of one column: exact (no law), shift, stay, or a table of fractions."""

    column: str
    shift: int | None = None
    stay: Fraction | None = None
    table: Mapping[tuple[object, object], Fraction] | None = None

    def chance(self, a: object, b: object, steps: int, later: Sequence[Row]) -> Fraction:
        """The chance that ``b`` follows ``a`` after so many releases."""
        if self.shift is not None:
            moved = None if a is None else a + self.shift * steps  # type: ignore[operator]
            return Fraction(moved == b)
        if self.stay is not None:
            kept = self.stay**steps
            share = Fraction(sum(row[self.column] == b for row in later), len(later))
            return kept * (a == b) + (1 - kept) * share
        if self.table is not None:
            reached = {a: Fraction(1)}
            for _ in range(steps):
                following: dict[object, Fraction] = {}
                for (before, after), chance in self.table.items():
                    if before in reached:
                        more = reached[before] * chance
                        following[after] = following.get(after, Fraction(0)) + more
                reached = following
            return reached.get(b, Fraction(0))
        return Fraction(a == b)


@dataclass(frozen=True)
class Found:
    """Success, observations, those of one record, link vulnerability."""

    deterministic: Fraction
    probabilistic: Fraction
    worst: Fraction
    observations: int
    alone: int
    missing: Fraction  # the chance that nobody who may be meant reports the secret


def likelihood(laws: Sequence[Law], x: Row, y: Row, steps: int, later: Sequence[Row]) -> Fraction:
    result = Fraction(1)
    for law in laws:
        result *= law.chance(x[law.column], y[law.column], steps, later)
    return result


def links(
    laws: Sequence[Law], x: Row, steps: int, later: Sequence[Row], presence: Fraction
) -> list[Fraction]:
    """link(y|x) of each y, and at the end link(nobody|x)."""
    weights = [likelihood(laws, x, y, steps, later) for y in later]
    total = sum(weights)
    if not total:
        return [Fraction(0)] * len(later) + [Fraction(1)]
    return [presence * w / total for w in weights] + [1 - presence]


Linker = Callable[[int, Row, int], Sequence[Fraction]]  # from a release's record to a release


def paths(
    laws: Sequence[Law],
    releases: Sequence[Sequence[Row]],
    presence: Fraction,
    x: Row,
    linker: Linker | None = None,
) -> dict[tuple[int | None, ...], Fraction]:
    """All records (None: nobody) that may be the person's in the later releases."""

    def alone(at: int, row: Row, number: int) -> Sequence[Fraction]:
        return links(laws, row, number - at, releases[number], presence)

    link_of = linker or alone
    reached: dict[tuple[int | None, ...], Fraction] = {(): Fraction(1)}
    for number in range(1, len(releases)):
        following: dict[tuple[int | None, ...], Fraction] = {}
        for path, chance in reached.items():
            at, row = 0, x
            for i, record in enumerate(path, 1):
                if record is not None:
                    at, row = i, releases[i][record]
            later = releases[number]
            for y, link in enumerate(link_of(at, row, number)):
                if link:
                    following[*path, y if y < len(later) else None] = chance * link
        reached = following
    return reached


def attack(
    laws: Sequence[Law],
    releases: Sequence[Sequence[Row]],
    presence: Fraction,
    qids: Sequence[Sequence[str]],
    secret: Callable[[int], object],
    *,
    distinct: bool = False,
    linker: Linker | None = None,
    reported: bool = False,
) -> Found:
    """Success at telling ``secret`` of a record's number: the record itself, or its value.

    ``reported``: records without a secret are not attacked.
    """
    focal = releases[0]
    attacked = [i for i in range(len(focal)) if not reported or secret(i) is not None]
    joint: dict[tuple[object, ...], dict[int, Fraction]] = {}
    for i in attacked:
        x = focal[i]
        first = tuple(x[q] for q in qids[0])
        for path, chance in paths(laws, releases, presence, x, linker).items():
            seen: list[object] = [first]
            for number, record in enumerate(path, 1):
                absent = NOBODY if distinct and qids[number] else None
                row = releases[number][record] if record is not None else None
                seen.append(tuple(absent if row is None else row[q] for q in qids[number]))
            own = joint.setdefault(tuple(seen), {})
            own[i] = own.get(i, Fraction(0)) + chance / len(attacked)
    certain, best, worst, alone, missing = Fraction(0), Fraction(0), Fraction(0), 0, Fraction(0)
    for own in joint.values():
        by_secret: dict[object, Fraction] = {}
        for i, chance in own.items():
            by_secret[secret(i)] = by_secret.get(secret(i), Fraction(0)) + chance
        total, most = sum(own.values()), max(by_secret.values())
        best += most
        worst = max(worst, most / total)
        certain += total if len(by_secret) == 1 else 0
        missing += total if set(by_secret) == {None} else 0
        alone += len(own) == 1
    return Found(certain, best, worst, len(joint), alone, missing)


def vulnerability(
    laws: Sequence[Law],
    releases: Sequence[Sequence[Row]],
    presence: Fraction,
    linker: Linker | None = None,
) -> Fraction:
    """The mean over the focal records of their best chain of records, one in each release."""
    best = [
        max(
            (
                chance
                for path, chance in paths(laws, releases, presence, x, linker).items()
                if None not in path
            ),
            default=Fraction(0),
        )
        for x in releases[0]
    ]
    return sum(best, Fraction(0)) / len(best)
