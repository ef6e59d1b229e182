"""Noisy knowledge counted again: all people alike against all that may be known of them.

The people are read with the printed SQL of the step ``microdata``. The laws, and the success of the
adversary who knows them, are computed from their definitions, with whole numbers of any length;
nothing of the attack's own tables and laws is used. Source: M150 to M155.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from qifsql.adversary.laws import Law, laws
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition, noisy_questions
from qifsql.commands.verify.second_engine import TOO_MANY, people, text_of
from qifsql.commands.verify.stored_request import Request
from qifsql.engine.bare import Answer
from qifsql.engine.settings import Settings
from qifsql.reference.success import Number, Success, compared
from qifsql.results.stored import Stored

WAY = "every pair"
MOST = 500_000  # pairs of people alike and of what may be known of them
FINE = 2**80  # weight of all that may be known by a law of normal errors
SLIGHT = Fraction(1, 10**6)  # largest relative error of rounding with which numbers are compared
DRAWN = "people were drawn, and the numbers are estimates"
ROUNDED = "the probabilities of what is known are rounded to few digits"
TABLE = "a table of what is known as what is not read again"
UNKNOWN = "?"  # no text of a value: these begin with =
Chance = tuple[object, int]
"""Something that may be known instead of a value, and its weight."""


@dataclass
class Alike:
    """People with the same true values: how many, their weight, the largest, and their secrets."""

    people: int = 0
    weight: int = 0
    heaviest: int = 0
    secrets: list[dict[str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Crowd:
    """The people who may be meant: the weights of all and of the best guess, and how many."""

    total: int
    best: int
    possible: int


def repeat(stored: Stored, request: Request, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of the adversary with noisy knowledge."""
    named = laws(list(map(str, stored.spec["knows"])))
    reason = _obstacle(stored, named)
    answer = None if reason else people(request, stored.name, inputs, settings)
    if answer is None:
        return Repetition(WAY, reason=reason or TOO_MANY)
    alike = _alike(answer, stored)
    everybody = sum(group.weight for group in alike.values())
    error = _rounding(stored, named, everybody)
    if error > SLIGHT:
        return Repetition(WAY, reason=ROUNDED)
    chances = _laws(stored, answer, alike)
    fans = ((len(law[v]) for law, v in zip(chances, true, strict=True)) for true in alike)
    if sum(map(math.prod, fans)) > MOST:
        return Repetition(WAY, reason=f"more than {MOST:,} pairs of people and what may be known")
    scale = math.prod(sum(w for _, w in next(iter(law.values()))) for law in chances)
    records = sum(group.people for group in alike.values())
    owner = _crowds(alike, chances, 0)
    singled_out = _success(owner, scale * everybody, records)
    numbers: dict[Place, Number] = {}
    for question in noisy_questions(stored):
        crowds = _crowds(alike, chances, question.secret) if question.secret else owner
        after = _success(crowds, scale * everybody, records)
        before = _prior(alike.values(), question.secret, everybody)
        values = {
            "records": records,
            "blocks": len(crowds),
            "singled_out": singled_out.certain,
            **compared(before, after),
            "low": None,
            "high": None,
        }
        clear = {"singled_out": singled_out, "individuals_certain": after}
        unclear = {name for name, s in clear.items() if _is_unclear(s, error, records)}
        if any(law.kind == "sd" for law in named):  # a rare error is rounded by a large share of it
            unclear.add("worst_case")
        numbers |= {
            (RESULTS, question.row, name): value
            for name, value in values.items()
            if name not in unclear
        }
    return Repetition(WAY, numbers, error=error)


def _is_unclear(success: Success, error: Fraction, records: int) -> bool:
    """Return whether rounding may change the number of people without doubt."""
    people = success.deterministic * records
    return int(people * (1 - error)) != int(people * (1 + error))


def _rounding(stored: Stored, named: Sequence[Law], everybody: int) -> Fraction:
    """Return by how much the attack's rounding changes a success at most, as a share of it.

    A law is rounded to parts of 2^-bits. A mistaken value has at least the chance of one in
    ``everybody``, and so has every success.
    """
    notes = map(str, stored.manifest.get("notes", ()))
    matches = [m for note in notes if (m := re.search(r"rounded to parts of 2\^-(\d+)", note))]
    if not matches:
        return Fraction()
    part = Fraction(everybody, 2 ** int(matches[0][1]))
    error = Fraction()
    for law in named:
        if law.kind == "right" and not law.certain:
            error += part / min(law.number, 1 - law.number)
        elif law.kind == "sd":
            error += part * (2 * _widest(law) + 1)
    return 4 * error


def _obstacle(stored: Stored, named: Sequence[Law]) -> str:
    """Return why this adversary is not counted again; empty if it is."""
    if any(" were drawn, " in str(note) for note in stored.manifest.get("notes", ())):
        return DRAWN
    if any(law.kind == "table" for law in named):
        return TABLE
    return ""


def _alike(answer: Answer, stored: Stored) -> dict[tuple[str, ...], Alike]:
    """Return people alike by the texts of their true values."""
    width, secrets = len(stored.spec["qids"]), len(stored.spec["secrets"])
    weight = answer.columns.index("weight") if "weight" in answer.columns[width:] else None
    alike: dict[tuple[str, ...], Alike] = {}
    for row in answer.rows:
        true = tuple(map(text_of, row[:width]))
        group = alike.setdefault(true, Alike(secrets=[{} for _ in range(secrets)]))
        mass = 1 if weight is None else int(row[weight])
        group.people += 1
        group.weight += mass
        group.heaviest = max(group.heaviest, mass)
        for of_value, value in zip(group.secrets, row[width : width + secrets], strict=True):
            text = text_of(value)
            of_value[text] = of_value.get(text, 0) + mass
    return alike


def _laws(
    stored: Stored, answer: Answer, alike: Mapping[tuple[str, ...], Alike]
) -> list[dict[str, list[Chance]]]:
    """Return the law of each quasi-identifier: what may be known of each of its values."""
    named = laws(list(map(str, stored.spec["knows"])))
    result: list[dict[str, list[Chance]]] = []
    for i, qid in enumerate(map(str, stored.spec["qids"])):
        frequency: dict[str, int] = {}
        for true, group in alike.items():
            frequency[true[i]] = frequency.get(true[i], 0) + group.weight
        values = {text_of(row[i]): row[i] for row in answer.rows}
        result.append(_law(_of(qid, named), frequency, values))
    return result


def _of(qid: str, named: Sequence[Law]) -> Law:
    """Return the law of a quasi-identifier, which may be named without case, or without its tag."""
    for same in (str, str.casefold):
        for law in named:
            if same(law.column) in (same(qid), same(qid.partition(":")[2])):
                return law
    return Law(column=qid, kind="exact")


def _law(
    law: Law, frequency: Mapping[str, int], values: Mapping[str, Any]
) -> dict[str, list[Chance]]:
    """Return what may be known of each value, with weights that add up to the same for each."""
    if law.certain:
        return {value: [(value, 1)] for value in frequency}
    if law.kind == "within":
        return {value: _within(values[value], int(law.number)) for value in frequency}
    if law.kind == "sd":
        return {value: _normal(values[value], law) for value in frequency}
    parts, whole = law.number.numerator, law.number.denominator
    if law.kind == "missing":
        rest = whole - parts
        return {
            value: [(UNKNOWN, parts), *([(value, rest)] if rest else [])] for value in frequency
        }
    everybody = sum(frequency.values())
    scale = whole * math.lcm(*(everybody - f for f in frequency.values() if f != everybody))
    return {value: _right(value, law.number, frequency, scale) for value in frequency}


def _within(value: Any, width: int) -> list[Chance]:
    """Return the numbers at most ``width`` off; a missing value is known to be missing."""
    if value is None:
        return [(None, 2 * width + 1)]
    return [(Fraction(value) + j, 1) for j in range(-width, width + 1)]


def _normal(value: Any, law: Law) -> list[Chance]:
    """Return the numbers by a normal error, up to 6 deviations; a missing value is known."""
    if value is None:
        return [(None, FINE)]
    unit = float(law.number) * math.sqrt(2)
    tail = [
        Fraction(math.erfc((j - 0.5) / unit)) - Fraction(math.erfc((j + 0.5) / unit))
        for j in range(1, _widest(law) + 1)
    ]
    whole = 2 * (1 - Fraction(math.erfc(0.5 / unit))) + 2 * sum(tail)
    parts = [round(part / whole * FINE) for part in tail]
    number = Fraction(value)
    sides = [(number + s * j, p) for j, p in enumerate(parts, 1) for s in (-1, 1) if p]
    return [(number, FINE - 2 * sum(parts)), *sides]


def _widest(law: Law) -> int:
    return math.ceil(6 * law.number)


def _right(value: str, right: Fraction, frequency: Mapping[str, int], scale: int) -> list[Chance]:
    """Return the value with its probability, and the others by their frequency among them."""
    others = sum(frequency.values()) - frequency[value]
    if not others:
        return [(value, scale)]
    wrong = [
        (other, int((1 - right) * scale * f / others))
        for other, f in frequency.items()
        if other != value and f
    ]
    return [(value, int(right * scale)), *wrong]


def _crowds(
    alike: Mapping[tuple[str, ...], Alike],
    chances: Sequence[Mapping[str, list[Chance]]],
    secret: int,
) -> list[Crowd]:
    """Return whoever may be meant, for all that may be known; 0 seeks the record, not a secret."""
    totals: dict[tuple[object, ...], int] = {}
    possible: dict[tuple[object, ...], int] = {}
    guesses: dict[tuple[object, ...], dict[str, int]] = {}
    for true, group in alike.items():
        for parts in product(*(law[value] for law, value in zip(chances, true, strict=True))):
            what = tuple(part for part, _ in parts)
            weight = math.prod(w for _, w in parts)
            totals[what] = totals.get(what, 0) + group.weight * weight
            possible[what] = possible.get(what, 0) + group.people
            of_guess = guesses.setdefault(what, {})
            if secret:
                for value, mass in group.secrets[secret - 1].items():
                    of_guess[value] = of_guess.get(value, 0) + mass * weight
            else:
                of_guess[""] = max(of_guess.get("", 0), group.heaviest * weight)
    return [
        Crowd(total, max(guesses[what].values()), len(guesses[what]) if secret else possible[what])
        for what, total in totals.items()
    ]


def _success(crowds: Iterable[Crowd], whole: int, records: int) -> Success:
    """Return the success of an adversary over all that may be known."""
    certain = best = 0
    worst = Fraction()
    for crowd in crowds:
        certain += crowd.total if crowd.possible == 1 else 0
        best += crowd.best
        worst = max(worst, Fraction(crowd.best, crowd.total or 1))
    sure = Fraction(certain, whole)
    return Success(sure, Fraction(best, whole), worst, int(sure * records))


def _prior(groups: Iterable[Alike], secret: int, everybody: int) -> Success:
    """Return the success before the release."""
    every = list(groups)
    if secret:
        masses: dict[str, int] = {}
        for group in every:
            for value, mass in group.secrets[secret - 1].items():
                masses[value] = masses.get(value, 0) + mass
        best, possible = max(masses.values()), len(masses)
    else:
        best, possible = max(g.heaviest for g in every), sum(g.people for g in every)
    share = Fraction(best, everybody)
    return Success(Fraction(possible == 1), share, share, everybody if possible == 1 else 0)
