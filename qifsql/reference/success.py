"""Success of an adversary: certain, on average, at worst, over people (M7-M20, M26-M29, M216).

Every attack is one attack with a different secret: the record itself (re-identification) or an
attribute. Of each block she guesses the likeliest secret.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from qifsql.reference.channel import Prior, inners, joint
from qifsql.reference.microdata import (
    Blocks,
    Key,
    Names,
    Rows,
    Values,
    Weight,
    Weights,
    blocks,
    counts,
    key,
    masses,
    order_key,
    sizes,
    value,
)

Number: TypeAlias = Fraction | int | float | None


@dataclass(frozen=True)
class Kind:
    """Blocks that are alike: their number, the people and values of each, totals over all of them.

    ``weight`` is of the people, ``best`` of those whom the best guess is right about; ``chance`` is
    the largest share of the best guess in one of the blocks. People with suppressed records are in
    a block of the size of everybody, whose ``members`` are only these people (M193).
    """

    size: int
    values: int
    blocks: int
    weight: Fraction
    best: Fraction
    chance: Fraction
    members: int | None = None

    @property
    def people(self) -> int:
        """Return how many people are in these blocks."""
        return self.size * self.blocks if self.members is None else self.members


@dataclass(frozen=True)
class Success:
    """Success with certainty, on average and at worst; people without doubt."""

    deterministic: Fraction
    probabilistic: Fraction
    worst_case: Fraction
    certain: int


def kind(values: Values) -> Kind:
    """Return one block as a kind: its best guess is the likeliest value."""
    weight = sum((cell.weight for cell in values.values()), Fraction())
    best = max(cell.weight for cell in values.values())
    people = sum(cell.people for cell in values.values())
    return Kind(people, len(values), 1, weight, best, best / weight)


def best_guess(values: Values) -> Any:
    """Return the likeliest value of a block, of several the first in order."""
    best = max(cell.weight for cell in values.values())
    return min((v for v, cell in values.items() if cell.weight == best), key=order_key)


def success(kinds: Sequence[Kind]) -> Success:
    """Return the success over all blocks (M7 before, M8 after): certain (M9), at worst (M26)."""
    everybody = sum((kind.weight for kind in kinds), Fraction())
    certain = [kind for kind in kinds if kind.values == 1]
    return Success(
        sum((kind.weight for kind in certain), Fraction()) / everybody,
        sum((kind.best for kind in kinds), Fraction()) / everybody,
        max(kind.chance for kind in kinds),
        sum(kind.people for kind in certain),
    )


def kinds_of(before: Blocks, after: Blocks, suppressed: Collection[Key] = ()) -> list[Kind]:
    """Return each block as a kind (its numbers); suppressed people are in the block of all (M193).

    ``before`` has one block, of all people; ``suppressed`` are the keys of suppressed records. The
    best guesses about these people are right at most as often as in blocks by these keys.
    """
    (everybody,) = map(kind, before.values())
    kinds = [kind(values) for block, values in after.items() if block not in suppressed]
    groups = [kind(after[block]) for block in suppressed if block in after]
    if not groups:
        return kinds
    weight = sum((group.weight for group in groups), Fraction())
    best = sum((group.best for group in groups), Fraction())
    members = sum(group.people for group in groups)
    return [*kinds, replace(everybody, weight=weight, best=best, members=members)]


def compared(before: Success, after: Success) -> dict[str, Number]:
    """Return the success before and after a release, and the degradations (M10, M11, M12)."""
    ratio = after.probabilistic / before.probabilistic if before.probabilistic else None
    return {
        "prior_deterministic": before.deterministic,
        "posterior_deterministic": after.deterministic,
        "degradation_deterministic": after.deterministic - before.deterministic,
        "prior_probabilistic": before.probabilistic,
        "posterior_probabilistic": after.probabilistic,
        "degradation_probabilistic": ratio,
        "leakage_additive": after.probabilistic - before.probabilistic,
        "min_entropy_leakage": math.log2(ratio) if ratio else None,
        "worst_case": after.worst_case,
        "individuals_certain": after.certain,
    }


def attack(
    rows: Rows,
    qids: Names,
    secret: str | None = None,
    weights: Weights = None,
    target: Mapping[str, object] | None = None,
    *,
    suppressed: Collection[Key] = (),
) -> dict[str, Any]:
    """Return all numbers of one attack on everybody (M13, M14), or on a target (M15).

    ``secret`` None is re-identification. ``suppressed`` are the keys of records that may be
    anybody's (M193), also the target's where no other fits. LookupError: nobody has the values of
    the target.
    """
    (everybody,) = blocks(rows, [], secret, weights).values()
    after = blocks(rows, qids, secret, weights)
    about: dict[str, Any] = {}
    if target is not None:
        if set(target) != set(qids):
            raise ValueError("the target must have a value for each quasi-identifier")
        place = next((p for p in (key(target, qids), *suppressed) if p in after), None)
        if place is None:
            raise LookupError("the target is not in the release")
        after = {place: after[place]}
        guess = None if secret is None else best_guess(after[place])
        about = {"matches": kind(after[place]).size, "best_guess": guess}
    kinds = kinds_of({(): everybody}, after, () if target else suppressed)
    return {
        "records": kind(everybody).size,
        "blocks": len(kinds),
        "singled_out": sum(kind.people for kind in kinds if kind.size == 1),
        **compared(success([kind(everybody)]), success(kinds)),
        **about,
    }


def beside_reported(
    rows: Rows,
    qids: Names,
    secret: str,
    weights: Weights = None,
    target: Mapping[str, object] | None = None,
    *,
    suppressed: Collection[Key] = (),
) -> dict[str, Number]:
    """Return the success against people with a reported secret, in blocks of these people alone.

    The shares are None if nobody reports it. ``certain_missing``: the people in blocks in which
    nobody does (M194); the block of ``suppressed`` keys is everyone.
    """
    mass = masses(rows, weights)
    people = [(row, m) for row, m in zip(rows, mass, strict=True) if value(row[secret]) is not None]
    numbers: Mapping[str, Any] = {}
    with suppress(LookupError, ValueError):  # nobody reports the secret
        reporting, of_weights = [row for row, _ in people], [m for _, m in people]
        numbers = attack(reporting, qids, secret, of_weights, target, suppressed=suppressed)
    shares = (
        *("prior_deterministic", "posterior_deterministic"),
        *("prior_probabilistic", "posterior_probabilistic", "worst_case"),
    )
    place = None if target is None else key(target, qids)
    certain_missing = 0
    for block, values in blocks(rows, qids, secret, weights).items():
        is_attacked = place in (None, block)
        is_everyone = block in suppressed and bool(people)  # who do not all miss it
        if set(values) == {None} and is_attacked and not is_everyone:
            certain_missing += values[None].people
    everybody = numbers.get("matches", numbers.get("records", 0))
    return {
        "reported": everybody,
        **{f"{name}_reported": numbers.get(name) for name in shares},
        "certain_reported": numbers.get("individuals_certain", 0),
        "certain_missing": certain_missing,
    }


def records(
    rows: Rows, qids: Names, secret: str | None = None, weights: Weights = None
) -> list[dict[str, Any]]:
    """Return a row for each record, in input order: the success of the best guess on its block.

    In a block in which nobody has weight, the success is None.
    """
    seen = blocks(rows, qids, secret, weights)
    described: list[dict[str, Any]] = []
    for row, mass in zip(rows, masses(rows, weights), strict=True):
        values = seen.get(key(row, qids))
        block = kind(values) if values else None
        described.append(
            {
                "block_size": block.size if block else 0,
                "success": block.chance if block else None,
                "best_guess": best_guess(values) if values and secret is not None else None,
                "singled_out": bool(block and mass and block.size == 1),
            }
        )
    return described


def profile(rows: Rows, qids: Names, secret: str) -> Counter[tuple[int, int, int]]:
    """Return how many blocks have a size, a largest count, and a number of values."""
    kinds = [kind(values) for values in blocks(rows, qids, secret).values()]
    return Counter((block.size, int(block.best), block.values) for block in kinds)


def individual_success(
    rows: Rows, qids: Names, secret: str | None, *, weights: Weights = None, prior: Prior = None
) -> list[Fraction | None]:
    """Return the success on the block of each record (M15); None if the block is impossible."""
    seen = inners(joint(rows, qids, secret, weights=weights, prior=prior))
    best = {b: max(inner.values()) for b, inner in seen.items()}
    return [best.get(key(row, qids)) for row in rows]


def of_individuals(successes: Sequence[Fraction | None], weights: Weights = None) -> list[Fraction]:
    """Return the successes of the records of positive weight that have a number."""
    numbers: Sequence[Weight] = [1] * len(successes) if weights is None else weights
    return [p for p, w in zip(successes, numbers, strict=True) if w and p is not None]


def histogram(successes: Iterable[Fraction]) -> list[int]:
    """Return the people in each bin of 100 p, rounded half to even, from 0 to 100 (M27)."""
    bins = Counter(round(100 * p) for p in successes)
    return [bins[percent] for percent in range(101)]


def at_or_above(successes: Iterable[Fraction], threshold: Weight) -> int:
    """Return the people with at least this success (M28)."""
    return sum(p >= Fraction(threshold) for p in successes)


def quantile(successes: Sequence[Fraction], share: Weight) -> Fraction:
    """Return the smallest success that at least a share of the people do not exceed (M28)."""
    people = Fraction(share) * len(successes)
    ordered = sorted(successes)
    return next(p for i, p in enumerate(ordered, 1) if i >= people)


@dataclass(frozen=True)
class ValueChances:
    """The chances of a value of the secret, and the people who are suspected of it (M216)."""

    individuals: int
    prior: Fraction
    low: Fraction
    high: Fraction
    suspected: int


def value_chances(rows: Rows, qids: Names, secret: str) -> dict[Any, ValueChances]:
    """Return the chances of each value: 5 % of people have ``low`` or less, ``high`` or more."""
    seen = counts(rows, qids, secret)
    (everybody,) = counts(rows, [], secret).values()
    chances_of = {}
    for v, individuals in everybody.items():
        inside = [seen[key(row, qids)] for row in rows]
        chances = [Fraction(block.get(v, 0), sum(block.values())) for block in inside]
        prior = Fraction(individuals, len(rows))
        chances_of[v] = ValueChances(
            individuals=individuals,
            prior=prior,
            low=quantile(chances, Fraction(1, 20)),
            high=-quantile([-chance for chance in chances], Fraction(1, 20)),
            suspected=sum(2 * prior <= chance < 1 for chance in chances),
        )
    return chances_of


@dataclass(frozen=True)
class Group:
    """The people of one group, attacked by an adversary who sees the whole release."""

    individuals: int
    weight: Fraction
    singled_out: int
    certain: int
    deterministic: Fraction
    probabilistic: Fraction
    worst_case: Fraction
    guessed_right: Fraction | None
    prior_probabilistic: Fraction


@dataclass(frozen=True)
class Member:
    """A person of a group: weight, block among all people, whether its best guess is her secret."""

    weight: Fraction
    block: Kind
    right: bool


def groups(
    rows: Rows, qids: Names, secret: str | None, *, by: str, weights: Weights = None
) -> dict[object, Group]:
    """Return the success about the people of each group (M29), in shares of the group's weight."""
    seen = blocks(rows, qids, secret, weights)
    (everybody,) = blocks(rows, [], secret, weights).values()
    groups_of_people: dict[object, list[Member]] = {}
    for row, mass in zip(rows, masses(rows, weights), strict=True):
        if mass:
            block = seen[key(row, qids)]
            right = secret is not None and bool(best_guess(block) == value(row[secret]))
            member = Member(mass, kind(block), right=right)
            groups_of_people.setdefault(value(row[by]), []).append(member)
    prior, has_secret = kind(everybody).chance, secret is not None
    return {
        name: _group(members, prior, has_secret=has_secret)
        for name, members in groups_of_people.items()
    }


def _group(members: Sequence[Member], prior: Fraction, *, has_secret: bool) -> Group:
    """Return the success about the people of one group; ``prior``: of everybody, before."""
    weight = sum((m.weight for m in members), Fraction())
    certain = [m for m in members if m.block.values == 1]
    guessed = sum((m.weight for m in members if m.right), Fraction()) / weight
    return Group(
        individuals=len(members),
        weight=weight,
        singled_out=sum(m.block.size == 1 for m in members),
        certain=len(certain),
        deterministic=sum((m.weight for m in certain), Fraction()) / weight,
        probabilistic=sum((m.weight * m.block.chance for m in members), Fraction()) / weight,
        worst_case=max(m.block.chance for m in members),
        guessed_right=guessed if has_secret else None,
        prior_probabilistic=prior,
    )


@dataclass(frozen=True)
class Risks:
    """Risks of re-identification of a release; a journalist's need a population."""

    prosecutor_highest: Fraction
    prosecutor_average: Fraction
    journalist_highest: Fraction | None
    journalist_average: Fraction | None
    marketer: Fraction


def risks(rows: Rows, qids: Names, population: Rows | None = None) -> Risks:
    """Return the risks of a release of n records, f_b of them and F_b of the population in block b.

    Prosecutor (M31): max 1/f_b, blocks/n. Journalist (M32): max 1/F_b, the mean of f_b/F_b.
    Marketer (M33): the mean.
    """
    if not rows:
        raise ValueError("the release is empty")
    n, f = len(rows), sizes(rows, qids)
    highest, average = Fraction(1, min(f.values())), Fraction(len(f), n)
    if population is None:
        return Risks(highest, average, None, None, average)
    big = sizes(population, qids)
    if any(big[b] < size for b, size in f.items()):
        raise ValueError("the release is not a part of the population")
    shared = sum((Fraction(size, big[b]) for b, size in f.items()), Fraction()) / n
    return Risks(highest, average, max(Fraction(1, big[b]) for b in f), shared, shared)
