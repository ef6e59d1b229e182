"""Guess the role of each column from its name, its type and how often its values occur.

A guess is a suggestion: the user decides. Names count first (``topics``), then the values. Columns
of yes and no that begin alike (``pays_self``, ``pays_school``, ...) are the answers to one
question, so that only the question says whether others may know them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from qifsql.data.topics import (
    CONTACT,
    COURT,
    HOUSEHOLD,
    NUMBER,
    QUASI_IDENTIFIERS,
    SECRETS,
    WEIGHT,
    Topic,
    spelled,
)
from qifsql.data.types import NUMBERS, family

CONFIDENCE = ("high", "medium", "low")
NESTED = "use a part of it as an expression"
CONSTANT, EMPTY = "one value only", "no value at all"
UNIQUE = "nearly every record has a different value"
DATED = "a point in time"
MEASURED = "a measurement that few people know"
BINARY = "yes or no, and its name is not known"
ITEM = "one answer to a question"
UNKNOWN = "other people may know it"
ANSWERS = 4  # columns of yes and no that are the answers to one question
SHORTEST = 4  # letters of the name of a question
CATEGORIES = 50  # values of a floating number that may be categories
QUESTION = re.compile(r"_q_\d+(_[a-z0-9]+)?_")
DATES = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_S")


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A column: its name, type, and how often its values occur.

    ``distinct`` counts values that are not missing, ``alone`` the records that are alone in theirs;
    ``entropy`` is in bits. ``household``: it numbers households of people who differ.
    """

    name: str
    type: str
    records: int
    missing: int
    distinct: int
    alone: int
    entropy: float
    household: bool = False

    @property
    def constant(self) -> bool:
        """Return whether there is one value only, a missing one included."""
        return self.distinct + bool(self.missing) <= 1

    @property
    def unique(self) -> bool:
        """Return whether nearly every record has a value of its own."""
        return self.records > 1 and self.alone >= 0.95 * (self.records - self.missing) > 0

    @property
    def binary(self) -> bool:
        """Return whether there are two values."""
        return self.distinct <= 2

    @property
    def floating(self) -> bool:
        """Return whether values are measured: numbers with a fraction, and many of them."""
        return family(self.type) in ("FLOAT", "DOUBLE", "DECIMAL") and self.distinct > CATEGORIES


@dataclass(frozen=True)
class Guess:
    """A role, the reason for it, and how sure it is (``CONFIDENCE``).

    ``rank`` orders columns of one role from 1: quasi-identifiers by the bits that they tell, those
    of which the role is not sure for less, secrets by how sensitive they are. Others have none.
    """

    role: str
    why: str
    confidence: str
    rank: int | None = None


class _Match(NamedTuple):
    """A topic that a name is about, and how sure that is (``CONFIDENCE``)."""

    topic: Topic
    confidence: str


def reason(topic: Topic) -> str:
    """Return the reason that a name is about a topic."""
    return f"name: {topic.name}"


def guesses(columns: Sequence[Counted]) -> list[Guess]:
    """Return a guess for each column, in their order."""
    questions = _questions(columns)
    drafts = [_guess(column, questions.get(column.name)) for column in columns]
    return _ranked(columns, drafts)


def _guess(column: Counted, question: str | None) -> Guess:
    """Return the guess of a column; ``question`` is the common beginning of a group of answers."""
    name = spelled(column.name)
    if column.constant:
        return Guess("constant", CONSTANT if column.distinct else EMPTY, "high")
    if column.household:
        return Guess("household", reason(HOUSEHOLD), "high")
    weight_confidence = WEIGHT.confidence(name)
    if weight_confidence and family(column.type) in NUMBERS:
        return Guess("weight", reason(WEIGHT), weight_confidence)
    visible = _first(QUASI_IDENTIFIERS, question or name)
    if (identity := _identity(column, name, visible)) is not None:
        return identity
    secret = _first(SECRETS, f"_{name}_") or _first(SECRETS, name)
    if secret and not (visible and visible.topic.name == COURT):  # court records are public
        confidence = _lowered(secret.confidence) if visible else secret.confidence
        return Guess("secret", reason(secret.topic), confidence)
    if visible:
        return Guess("quasi-identifier", reason(visible.topic), visible.confidence)
    return _by_values(column, name, is_answer=question is not None)


def _identity(column: Counted, name: str, visible: _Match | None) -> Guess | None:
    """Return the guess that a column identifies people; None if its name says no such thing."""
    number, contact = NUMBER.confidence(name), CONTACT.confidence(name)
    is_common = visible is not None and visible.topic.name != "education"
    if number == "high" and (column.unique or visible is None):
        return Guess("key" if column.unique else "identifier", reason(NUMBER), "high")
    if contact and not (contact == "medium" and (is_common or not column.unique)):
        return Guess("identifier", reason(CONTACT), contact)
    if number and column.unique:
        return Guess("key", reason(NUMBER), number)
    return None


def _by_values(column: Counted, name: str, *, is_answer: bool) -> Guess:
    """Return the guess of a column whose name says nothing."""
    if family(column.type) in DATES:
        return Guess("quasi-identifier", DATED, "medium")
    if column.floating:
        return Guess("secret", MEASURED, "low")
    if column.unique:
        return Guess("key", UNIQUE, "medium")
    if is_answer or QUESTION.fullmatch(name):
        return Guess("secret", ITEM, "low")
    if column.binary:
        return Guess("secret", BINARY, "low")
    return Guess("quasi-identifier", UNKNOWN, "low")


def _first(topics: Sequence[Topic], name: str) -> _Match | None:
    """Return the topic that a name is about with most confidence, of equal ones the first."""
    matches = [_Match(topic, sure) for topic in topics if (sure := topic.confidence(name))]
    return min(matches, key=lambda match: CONFIDENCE.index(match.confidence), default=None)


def _lowered(confidence: str) -> str:
    """Return the next lower confidence: the name speaks for another role, too."""
    return CONFIDENCE[min(CONFIDENCE.index(confidence) + 1, len(CONFIDENCE) - 1)]


def _questions(columns: Sequence[Counted]) -> Mapping[str, str]:
    """Return the question of a column, by its name: the beginning that ``ANSWERS`` names share."""
    names = {column.name: spelled(column.name) for column in columns if column.binary}
    answers = Counter(start for name in names.values() for start in _starts(name))
    questions = {}
    for column, name in names.items():
        if shared := [start for start in _starts(name) if answers[start] >= ANSWERS]:
            questions[column] = max(shared, key=len)
    return questions


def _starts(name: str) -> Iterator[str]:
    """Yield the beginnings of a name that may be a question: ``_pays_for_`` of three words."""
    words = name.strip("_").split("_")
    for n in range(1, len(words)):
        if sum(map(len, words[:n])) >= SHORTEST:
            yield f"_{'_'.join(words[:n])}_"


def _ranked(columns: Sequence[Counted], drafts: Sequence[Guess]) -> list[Guess]:
    """Return the guesses with the ranks of quasi-identifiers and of secrets, each from 1."""
    reasons_by_rank = [reason(topic) for topic in SECRETS]  # the most sensitive first

    def sort_key(i: int) -> tuple[float, ...]:
        guess, bits = drafts[i], columns[i].entropy
        doubt = CONFIDENCE.index(guess.confidence)
        if guess.role == "quasi-identifier":
            return (-bits * (len(CONFIDENCE) - doubt),)
        is_listed = guess.why in reasons_by_rank
        rank = reasons_by_rank.index(guess.why) if is_listed else len(reasons_by_rank)
        return rank, doubt, -bits

    ranks: dict[int, int] = {}
    for role in ("quasi-identifier", "secret"):
        members = [i for i, draft in enumerate(drafts) if draft.role == role]
        ranks |= {i: rank for rank, i in enumerate(sorted(members, key=sort_key), 1)}
    return [replace(draft, rank=ranks.get(i)) for i, draft in enumerate(drafts)]
