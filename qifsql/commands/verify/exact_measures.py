"""The numbers of an attack by the names of their columns, from blocks or from a profile.

They are those of ``qifsql.reference``, in exact fractions. Nothing here uses ``qifsql.measures``: a
mistake there makes a number differ here. A profile has kinds of blocks with their number.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from qifsql.reference import channel, entropies
from qifsql.reference.microdata import Blocks, Key
from qifsql.reference.success import Kind, Number, compared, kind, kinds_of, success

SHARES = (
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic", "worst_case"),
)
OF_REPORTED = (
    *("reported", *(f"{name}_reported" for name in SHARES)),
    *("certain_reported", "certain_missing"),
)
MOST_PAIRS = 2_000_000  # of values, in each block, that are compared for the Bayes security


def kind_of_row(row: Mapping[str, Any], *, owner: bool, gain: bool = False) -> Kind:
    """Return one row of a profile as a ``Kind``: its ``blocks`` have ``size`` people each.

    ``owner``: the best guess names the person of a record (re-identification), so that a block has
    as many values as people; else it is the most frequent secret. ``gain``: a gain function says
    what a guess is worth. The best one gains ``mode``, with chance ``chance``, both times
    ``scale``.
    """
    size, blocks, scale = int(row["size"]), int(row["blocks"]), Fraction(row["scale"])
    values = size if owner else int(row["values"])
    names_person = owner and not gain
    if "weight" not in row:  # people have no weights: a name is right about one person per block
        best = Fraction(1) if names_person else Fraction(row["mode"]) / scale
        return Kind(size, values, blocks, Fraction(size * blocks), best * blocks, best / size)
    if names_person:  # the best guess names the person of the greatest weight
        best, chance = Fraction(row["heaviest"]), Fraction(row["owner_chance"])
    else:
        best, chance = Fraction(row["mode"]) / scale, Fraction(row["chance"]) / scale
    return Kind(size, values, blocks, Fraction(row["weight"]), best, chance)


@dataclass(frozen=True)
class AttackBlocks:
    """The blocks of an attack: one of everybody ``before`` the release, and those ``after`` it.

    ``owner``: the secret is the record itself (re-identification). People of ``suppressed`` blocks
    may be anybody.
    """

    owner: bool
    before: Blocks
    after: Blocks
    suppressed: Sequence[Key]

    @property
    def kinds(self) -> list[Kind]:
        """Return the blocks after the release by kind."""
        return kinds_of(self.before, self.after, self.suppressed)


def numbers_of_blocks(blocks: AttackBlocks, *, population: bool) -> dict[str, Number]:
    """Return every number of an attack that follows from its blocks, by column of results.

    With a ``population`` the journalist's risk needs more and is left out. Measures of the channel
    (entropies, guesses, capacity) take a suppressed block for an output like the others.
    """
    owner, after = blocks.owner, blocks.after
    prior = [kind(values) for values in blocks.before.values()]
    posterior = blocks.kinds
    numbers = numbers_of_kinds(prior, posterior, owner=owner)
    numbers |= reidentification_risks(posterior, owner=owner, population=population)
    cells = (cell for values in after.values() for cell in values.values())
    if any(cell.people != cell.weight for cell in cells):  # the rest is not defined for weights
        return numbers
    if owner:
        outputs = [kind(values) for values in after.values()]
        return numbers | numbers_of_owner(prior, outputs)
    joint, shares = channel.joint_of(after), channel.channel_of(after)
    secret = channel.secret_prior(joint)
    numbers |= {
        "prior_entropy": entropies.entropy(secret),
        "posterior_entropy": entropies.posterior_entropy(joint),
        "mutual_information": entropies.mutual_information(joint),
        "prior_guessing": entropies.guessing(secret),
        "posterior_guessing": entropies.posterior_guessing(joint),
        **in_bits(entropies.capacity(shares)),
        **entropies.leakage_over_people(entropies.pointwise_leakage(joint)),
    }
    if math.comb(len(secret), 2) * len(after) <= MOST_PAIRS:
        numbers["bayes_security"] = entropies.bayes_security(shares)
    return numbers


def numbers_of_kinds(
    prior: Sequence[Kind], posterior: Sequence[Kind], *, owner: bool
) -> dict[str, Number]:
    """Return the numbers of an attack, by column; no ``l`` of an ``owner`` (the record itself).

    ``prior`` is everybody as one block, ``posterior`` are the blocks of the release, by kind.
    """
    return {
        "records": sum(kind.size * kind.blocks for kind in prior),
        "matches": sum(kind.people for kind in posterior),
        "blocks": sum(kind.blocks for kind in posterior),
        "singled_out": sum(kind.people for kind in posterior if kind.size == 1),
        **compared(success(prior), success(posterior)),
        "k": min(kind.size for kind in posterior),
        "l": None if owner else min(kind.values for kind in posterior),
    }


def numbers_of_reporting(
    prior: Sequence[Kind], posterior: Sequence[Kind], unreported: int
) -> dict[str, Number]:
    """Return the numbers, by column, of the people who report the secret: it is not missing.

    ``prior`` and ``posterior`` are blocks of these people alone, before and after the release; if
    there are none, the shares are None. ``unreported`` people are in blocks in which nobody
    reports it. ``l`` is the fewest reported values in a block.
    """
    numbers = compared(success(prior), success(posterior)) if posterior else {}
    return {
        "reported": sum(kind.people for kind in posterior),
        **{f"{name}_reported": numbers.get(name) for name in SHARES},
        "certain_reported": numbers.get("individuals_certain", 0),
        "certain_missing": unreported,
        **({"l": min(kind.values for kind in posterior)} if posterior else {}),
    }


def with_reported(
    numbers: Mapping[str, Number], reported: Mapping[str, Number]
) -> dict[str, Number]:
    """Return numbers of everybody and of the people with a reported secret; the smaller ``l``.

    A missing value must not make a block look diverse, so l is also counted without it.
    """
    both_l = [number for part in (numbers, reported) if (number := part.get("l")) is not None]
    return {**numbers, **reported, "l": min(both_l)}


def reidentification_risks(
    posterior: Sequence[Kind], *, owner: bool, population: bool
) -> dict[str, Number]:
    """Return the risks of re-identification, by column.

    They are None unless ``owner``: the secret is the record itself. With a ``population`` the
    journalist's risk is left out: it needs counts of the population. Without, it is None.
    """
    people = sum(kind.people for kind in posterior)
    highest = Fraction(1, min(kind.size for kind in posterior))
    share = Fraction(sum(kind.blocks for kind in posterior), people)
    numbers: dict[str, Number] = {
        "prosecutor_risk": highest if owner else None,
        "marketer_risk": share if owner else None,
    }
    return numbers if owner and population else numbers | {"journalist_risk": None}


def numbers_of_owner(prior: Sequence[Kind], posterior: Sequence[Kind]) -> dict[str, Number]:
    """Return the measures of re-identification, by column, from blocks before and after.

    In a block of n people each is the owner with chance 1/n: log2(n) bits, (n + 1)/2 guesses. Bayes
    security is 1 if one block has everybody, and 0 otherwise: two people then share no block.
    """
    numbers: dict[str, Number] = {}
    people = sum(kind.size * kind.blocks for kind in posterior)
    for when, kinds in (("prior", prior), ("posterior", posterior)):
        shares = [(Fraction(kind.size * kind.blocks, people), kind.size) for kind in kinds]
        numbers[f"{when}_entropy"] = math.fsum(share * math.log2(size) for share, size in shares)
        numbers[f"{when}_guessing"] = sum((s * (size + 1) / 2 for s, size in shares), Fraction())
    blocks = sum(kind.blocks for kind in posterior)
    ratios = ((Fraction(people, kind.size), kind.size * kind.blocks) for kind in posterior)
    return {
        **numbers,
        "mutual_information": difference(numbers["prior_entropy"], numbers["posterior_entropy"]),
        **in_bits(Fraction(blocks)),
        **entropies.leakage_over_people(ratios),
        "bayes_security": int(blocks == 1),
    }


def capacity(rows: Iterable[Mapping[str, Any]]) -> dict[str, Number]:
    """Return the multiplicative capacity of a secret and its logarithm, by column.

    Over blocks, it adds up the largest share of the people of one value who are in the block. A row
    has the sum of such ``people`` for the blocks whose value has ``everybody`` people in all.
    """
    shares = (Fraction(int(row["people"]), int(row["everybody"])) for row in rows)
    return in_bits(sum(shares, Fraction()))


def in_bits(total: Fraction) -> dict[str, Number]:
    """Return a capacity, and its logarithm, by column."""
    return {"capacity": total, "capacity_bits": math.log2(total)}


def difference(before: Number, after: Number) -> float:
    """Return ``before`` less ``after``, where None is 0."""
    return float(before or 0) - float(after or 0)


def bayes_security(values: int, pairs: int, overlap: Fraction | None) -> Fraction:
    """Return the Bayes security: the least overlap of two values; 1 if there is one value.

    ``pairs`` of the ``values`` share a block, with an ``overlap`` of at least this; others have 0.
    """
    if values < 2:
        return Fraction(1)
    if overlap is None or pairs < math.comb(values, 2):
        return Fraction(0)
    return overlap
