"""The three questions of the Article 29 Working Party about a release, and their answers.

Source: Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques,
WP 216, section 3 (the three risks). The opinion names no measure. The answers here are measures of
attacks (M7 to M14), of links with a register and of logs (M58, M64).
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

TEXT, COUNT, NUMBER, FLAG = pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()
OPINION: dict[str, pl.DataType] = {
    **{"question": TEXT, "secret": TEXT, "model": TEXT, "measure": TEXT, "value": NUMBER},
    **{"prior": NUMBER, "people": COUNT, "of": COUNT, "counted": TEXT, "expected": NUMBER},
    **{"expected_prior": NUMBER, "gain": NUMBER, "worst_case": NUMBER, "bound": FLAG},
    **{"threshold": NUMBER, "at_threshold": COUNT, "answer": TEXT, "definition": TEXT},
    **{"meaning": TEXT, "seconds": NUMBER},
}
"""One row per question, secret (NULL except for inference) and model that answers.

``people`` is the number of records or people (``counted`` states which) for which the answer is
certain, ``value`` is their share of all (``of``); for the measure ``unicity``, ``value`` is a
chance. ``expected`` is the mean chance that the best guess is right, ``worst_case`` is the highest.
``prior`` and ``expected_prior`` are ``value`` and ``expected`` without the release; ``gain`` is
``expected`` minus ``expected_prior``. All are in [0, 1], NULL if there is no such number.
``bound``: no register was given, and the numbers are the most that any register could reach.
``at_threshold`` counts the records or people with a chance of at least the ``threshold``; it is
NULL if chances are not those of single people. ``answer`` (``ANSWERS``) is yes or no only with a
threshold. ``definition`` is the question in the words of the opinion, ``meaning`` describes the
measure.
"""

SINGLING_OUT, LINKABILITY, INFERENCE = "singling_out", "linkability", "inference"
POSSIBLE, UNSURE, NOT_FOUND, YES, NO = "possible", "not_for_certain", "not_found", "yes", "no"
ANSWERS: Mapping[str, str] = {
    POSSIBLE: "somebody is found for certain",
    UNSURE: "nobody for certain, but more is known of somebody than without the release",
    NOT_FOUND: "nobody, with what was asked",
    YES: "somebody at the threshold",
    NO: "nobody at the threshold",
}

DEFINITIONS: Mapping[str, str] = {
    SINGLING_OUT: "the possibility to isolate some or all records which identify an individual in "
    "the dataset",
    LINKABILITY: "the ability to link, at least, two records concerning the same data subject or a "
    "group of data subjects (either in the same database or in two different databases)",
    INFERENCE: "the possibility to deduce, with significant probability, the value of an attribute "
    "from the values of a set of other attributes",
}
"""The questions in the words of the opinion (WP 216, section 3)."""

MEANINGS: Mapping[str, str] = {
    "singled_out": "records that are alone in their block: nobody else has the same "
    "quasi-identifiers; expected: blocks / records; worst case: 1 / the smallest block",
    "unique_in_both": "records alone in their block of the release and of the register: one name "
    "for one record; expected: links that are right at best, of all records; worst case: the "
    "surest link",
    "unique_in_release": "no register was given: a register that has exactly these people would "
    "link the records that are alone in their block; expected: blocks / records; no register does "
    "better",
    "linked_by_key": "people with several records under one key: all of them are linked, because "
    "the key says so",
    "unicity": "the chance that a few different records of a person, chosen at random, are those "
    "of nobody else: whoever knows them links all others under the same key",
    "certain": "records in blocks of one value of the secret: whoever finds the block knows it; "
    "expected: the best guess in each block, right on average; worst case: its surest one",
}
"""The meaning of each measure, with its numbers in the order of its row."""

CAUTION = (
    "The answers are about these quasi-identifiers and nothing else. The opinion asks about all "
    "the means likely reasonably to be used, so what is not found here is not shown to be "
    "impossible: name everything that somebody may know."
)

Row = dict[str, Any]


def singling_out(attacked: Mapping[str, Any], reached: int | None) -> Row:
    """Return the answer on singling out, from the row of an attack (CRS).

    Here and below, ``reached`` is how many records or people reach the threshold (None: without).
    """
    return _row(SINGLING_OUT, "singled_out", reached) | _row_of_attack(attacked, "singled_out")


def inference(attacked: Mapping[str, Any], reached: int | None) -> Row:
    """Return the answer on inference of a secret, from the row of an attack (CAS)."""
    row = _row(INFERENCE, "certain", reached) | _row_of_attack(attacked, "individuals_certain")
    return row | {"secret": attacked["secret"]}


def links_at_worst(attacked: Mapping[str, Any], reached: int | None) -> Row:
    """Return the answer on links with the worst register: one of exactly the people attacked.

    ``attacked`` is the row of an attack (CRS); ``reached`` is how many links reach the threshold.
    A block of f records that matches F people of a register has min(f, F)/max(f, F) right links
    on average. This is at most 1, so no register has more right links than there are blocks.
    """
    row = _row(LINKABILITY, "unique_in_release", reached) | _row_of_attack(attacked, "singled_out")
    return row | {"bound": True}


def links_by_register(
    row: Mapping[str, Any], confidence: pl.DataFrame, threshold: float | None
) -> Row:
    """Return the answer on links with a register, from a row of ``link`` and its ``confidence``."""
    reached = None
    if threshold is not None:
        links = confidence.filter(pl.col("confidence") >= threshold)["links"]
        reached = int(links.sum())
    records = row["release_records"]
    return _row(LINKABILITY, "unique_in_both", reached) | {
        "model": "link",
        "value": row["unique_in_both"] / records,
        "people": row["unique_in_both"],
        "of": records,
        "counted": "records",
        "expected": row["marketer_risk"],
        "worst_case": float(confidence["confidence"][0]) if confidence.height else 0.0,  # highest
    }


def links_by_key(people_with_several: int, people: int, threshold: float | None) -> Row:
    """Return the answer on people with several records under one key: they reach any threshold."""
    reached = None if threshold is None else people_with_several
    return _row(LINKABILITY, "linked_by_key", reached) | {
        "model": "key",
        "value": people_with_several / people,
        "people": people_with_several,
        "of": people,
        "counted": "people",
    }


def links_in_log(row: Mapping[str, Any]) -> Row:
    """Return the answer on links within a log, from a row of ``unicity``."""
    numbers = {"value": row["unicity"], "of": row["people"], "counted": "people"}
    return _row(LINKABILITY, "unicity", None) | {"model": "unicity"} | numbers


def with_answer(row: Row, threshold: float | None) -> Row:
    """Return the row with its answer: with a threshold YES or NO, else how sure a case is.

    POSSIBLE: some cases are certain. UNSURE: none is, but a guess is better than before.
    """
    if threshold is not None:
        reached = row["at_threshold"]  # None: only a chance over all people is known
        met = row["value"] >= threshold if reached is None else reached > 0
        return row | {"threshold": threshold, "answer": YES if met else NO}
    if row["value"] > 0:  # the share of people for whom the answer is certain
        return row | {"answer": POSSIBLE}
    knows_more = (row["worst_case"] or 0.0) > (row["expected_prior"] or 0.0)
    is_unsure = knows_more and row["question"] != SINGLING_OUT
    return row | {"answer": UNSURE if is_unsure else NOT_FOUND}


def _row(question: str, measure: str, reached: int | None) -> Row:
    """Return a row (``OPINION``) without numbers, but for how many ``reached`` the threshold."""
    fields = {"question": question, "measure": measure, "at_threshold": reached, "bound": False}
    fields |= {"definition": DEFINITIONS[question], "meaning": MEANINGS[measure]}
    return dict.fromkeys(OPINION) | fields


def _row_of_attack(row: Mapping[str, Any], people: str) -> Row:
    """Return the columns of an answer that an attack gives.

    ``people`` is the name of the column of the attack that counts its certain cases.
    """
    return {
        "model": row["model"],
        "value": row["posterior_deterministic"],
        "prior": row["prior_deterministic"],
        "people": row[people],
        "of": row["records"],
        "counted": "records",
        "expected": row["posterior_probabilistic"],
        "expected_prior": row["prior_probabilistic"],
        "gain": row["leakage_additive"],
        "worst_case": row["worst_case"],
    }
