"""Noisy knowledge counted again: all people alike against all that may be known of them.

The people are read with the printed SQL of the step ``microdata``; nothing of the attack's own
tables and laws is used. Source: M150 to M155.
"""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from qifsql.adversary.laws import Law, laws
from qifsql.commands.verify.second_engine import People, read_people, text_of
from qifsql.commands.verify.stored_request import RepetitionError, Request
from qifsql.commands.verify.verdicts import RESULTS, Place, Repetition, place_numbers, questions
from qifsql.reference import noisy_knowledge
from qifsql.reference.microdata import blocks
from qifsql.reference.noisy_knowledge import Knowledge
from qifsql.reference.success import Number, Success, compared, kind, success
from qifsql.results.stored import Stored

WAY = "every pair"
MOST_PAIRS = 500_000  # of people alike and of what may be known of them
MAX_ERROR = Fraction(1, 10**6)  # largest relative error of rounding with which numbers are compared


def repeat(request: Request) -> Repetition:
    """Return the numbers of an adversary whose knowledge has errors, by the definitions.

    They are exact fractions over all pairs of a person and of what may be known of somebody. The
    attack rounds the probabilities of errors; numbers that this may change much are left out, and
    the others may differ by ``error``. RepetitionError for too many pairs or other errors.
    """
    stored = request.stored
    stated_laws = laws(list(map(str, stored.spec["knows"])))
    if any(" were drawn, " in str(note) for note in stored.manifest.get("notes", ())):
        raise RepetitionError("people were drawn, and the numbers are estimates")
    if any(law.table for law in stated_laws):
        raise RepetitionError("tables and matrices of laws are not read again")
    people = read_people(request)
    # By quasi-identifier: the law of the errors with which its values are known.
    laws_of_qids = [_find_law(str(qid), stated_laws) for qid in stored.spec["qids"]]
    chances = list(map(_reference_law, laws_of_qids))
    rows = _comparable_rows(people, laws_of_qids)
    names, weights = people.qids, people.weights
    about_records = Knowledge.of(blocks(rows, names, None, weights), chances)
    error = _rounding_bound(stored, stated_laws, sum(weights))
    if error > MAX_ERROR:
        raise RepetitionError("the probabilities of what is known are rounded to few digits")
    if about_records.pairs > MOST_PAIRS:
        raise RepetitionError(f"more than {MOST_PAIRS:,} pairs of people and what may be known")
    singled_out = about_records.success(about_records.crowds(owner=True).values())
    numbers: dict[Place, Number] = {}
    for question in questions(stored, noisy=True):
        secret = None if question.secret is None else f"secret {question.secret}"
        (everyone,) = blocks(rows, [], secret, weights).values()
        knowledge = Knowledge.of(blocks(rows, names, secret, weights), chances)
        crowds = knowledge.crowds(owner=secret is None)  # by what is known: who it may be
        after = knowledge.success(crowds.values())
        values = {
            "records": len(rows),
            "blocks": len(crowds),
            "singled_out": singled_out.certain,
            **compared(success([kind(everyone)]), after),
            "low": None,
            "high": None,
        }
        unclear = _unclear_columns(singled_out, after, weights, stated_laws, error)
        clear_values = {name: value for name, value in values.items() if name not in unclear}
        numbers |= place_numbers(RESULTS, question.row, clear_values)
    return Repetition(WAY, numbers, error=error)


def _unclear_columns(
    singled_out: Success,
    after: Success,
    weights: Sequence[int],
    stated_laws: Sequence[Law],
    error: Fraction,
) -> set[str]:
    """Return the columns that the attack's rounding may change by more than the share ``error``.

    These cannot be verified. Two are whole numbers of people (``singled_out`` is about naming the
    record, ``after`` about the secret), which an error near a whole number changes by one. With a
    normal error (``sd``), a value far from the true one is rare, and its probability is rounded by
    a large share of itself: then the worst case is unclear, and a share of less than one person.
    """
    unclear = set()
    for column, outcome in (("singled_out", singled_out), ("individuals_certain", after)):
        people = outcome.deterministic * len(weights)
        if int(people * (1 - error)) != int(people * (1 + error)):  # the error changes a count
            unclear.add(column)
    if any(law.kind == "sd" for law in stated_laws):
        unclear.add("worst_case")
        if 0 < after.deterministic * sum(weights) < 1:
            unclear.add("posterior_deterministic")
    return unclear


def _rounding_bound(stored: Stored, stated_laws: Sequence[Law], everybody: int) -> Fraction:
    """Return by how much the attack's rounding changes a number at most, as a share of it.

    ``everybody`` is the weight of all people. The chances of a law are rounded to parts of 2^-bits,
    as a note of the manifest says (without it, nothing is rounded). The errors of the laws add up.
    """
    notes = map(str, stored.manifest.get("notes", ()))
    bits = re.search(r"rounded to parts of 2\^-(\d+)", "\n".join(notes))
    if bits is None:
        return Fraction()
    part = Fraction(everybody, 2 ** int(bits[1]))  # of 1/everybody, the least success
    error = Fraction()
    for law in stated_laws:
        if law.kind == "right" and not law.certain:
            # The chance of each record of other values is (1 - p) / everybody at least, and one
            # part off. Their errors add up to everybody parts for the true value, of chance p.
            error += part / min(law.number, 1 - law.number)
        elif law.kind == "sd":
            # Each other number that may be known is one part off, the true one by all of these.
            farthest = math.ceil(noisy_knowledge.MOST_DEVIATIONS * law.number)
            error += part * 2 * (2 * farthest)
    # A quotient of two successes (worst_case) is twice as far off, log2 of one less than that.
    return 2 * error


def _comparable_rows(people: People, laws_of_qids: Sequence[Law]) -> list[dict[str, object]]:
    """Return the values of each person by column, as the definitions compare them.

    Values with an error of a number (within, sd) are numbers, or None; others are texts.
    """
    kinds = zip(people.qids, (law.kind for law in laws_of_qids), strict=True)
    numeric = {column for column, kind in kinds if kind in ("within", "sd")}

    def comparable(column: str, value: Any) -> object:
        if column in numeric:
            return None if value is None else Fraction(value)
        return text_of(value)

    return [{name: comparable(name, value) for name, value in row.items()} for row in people.rows]


def _find_law(qid: str, stated_laws: Sequence[Law]) -> Law:
    """Return the law that is stated for a quasi-identifier; if none is, it is known exactly.

    A law may name the column in another case, or without the number of its dataset (2:age).
    """
    for spelling in (str, str.casefold):  # the same case is preferred
        for law in stated_laws:
            if spelling(law.column) in (spelling(qid), spelling(qid.partition(":")[2])):
                return law
    return Law(column=qid, kind="exact")


def _reference_law(law: Law) -> noisy_knowledge.Law:
    """Return the law of errors as the definitions in ``reference`` have it."""
    if law.certain:
        return noisy_knowledge.exact
    if law.kind == "within":
        return noisy_knowledge.within(int(law.number))
    if law.kind == "sd":
        return noisy_knowledge.normal(float(law.number))
    make = noisy_knowledge.missing if law.kind == "missing" else noisy_knowledge.right
    return make(law.number)
