"""Guess the role of each column from its name, its type and how often its values occur.

A guess is a suggestion: the user decides. Names count first (``topics``), then the values. Columns
of yes and no that begin alike (``pays_self``, ``pays_school``, ...) are the answers to one
question, so that only the question says whether others may know them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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


def reason(topic: Topic) -> str:
    """Return the reason that a name is about a topic."""
    return f"name: {topic.name}"


def reasons() -> list[str]:
    """Return all reasons that a guess may have."""
    topics = (WEIGHT, HOUSEHOLD, NUMBER, CONTACT, *SECRETS, *QUASI_IDENTIFIERS)
    others = [NESTED, CONSTANT, EMPTY, UNIQUE, DATED, MEASURED, BINARY, ITEM, UNKNOWN]
    return [*map(reason, topics), *others]


def guesses(columns: Sequence[Counted]) -> list[Guess]:
    """Return a guess for each column, in their order."""
    questions = _questions(columns)
    drafts = [_guess(column, questions.get(column.name)) for column in columns]
    return _ranked(columns, drafts)


def _guess(column: Counted, question: str | None) -> Guess:
    """Return the guess of a column; ``question`` is the name of that it is an answer to."""
    name = spelled(column.name)
    if column.constant:
        return Guess("constant", CONSTANT if column.distinct else EMPTY, "high")
    if column.household:
        return Guess("household", reason(HOUSEHOLD), "high")
    sure = WEIGHT.confidence(name)
    if sure and family(column.type) in NUMBERS:
        return Guess("weight", reason(WEIGHT), sure)
    visible = _first(QUASI_IDENTIFIERS, question or name)
    if (identity := _identity(column, name, visible)) is not None:
        return identity
    secret = _first(SECRETS, f"_{name}_") or _first(SECRETS, name)
    if secret and not (visible and visible[0].name == COURT):
        topic, confidence = secret
        return Guess("secret", reason(topic), _shaken(confidence) if visible else confidence)
    if visible:
        topic, confidence = visible
        return Guess("quasi-identifier", reason(topic), confidence)
    return _by_values(column, name, is_answer=question is not None)


def _identity(column: Counted, name: str, visible: tuple[Topic, str] | None) -> Guess | None:
    """Return the guess that a column identifies somebody; None if its name says no such thing."""
    number, contact = NUMBER.confidence(name), CONTACT.confidence(name)
    place = visible is not None and visible[0].name != "education"
    if number == "high" and (column.unique or visible is None):
        return Guess("key" if column.unique else "identifier", reason(NUMBER), "high")
    if contact and not (contact == "medium" and (place or not column.unique)):
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


def _first(topics: Sequence[Topic], name: str) -> tuple[Topic, str] | None:
    """Return the first topic that a name is surely about, else the first that it may be about."""
    pairs = [(topic, sure) for topic in topics if (sure := topic.confidence(name))]
    return min(pairs, key=lambda pair: CONFIDENCE.index(pair[1]), default=None)


def _shaken(confidence: str) -> str:
    """Return a confidence that is one less: the name speaks for another role, too."""
    return CONFIDENCE[min(CONFIDENCE.index(confidence) + 1, len(CONFIDENCE) - 1)]


def _questions(columns: Sequence[Counted]) -> Mapping[str, str]:
    """Return the name of the question of each column that is one of several answers to it."""
    names = {c.name: spelled(c.name) for c in columns if c.binary}
    members = Counter(start for name in names.values() for start in _starts(name))
    questions = {name: [s for s in _starts(spelling) if members[s] >= ANSWERS]
             for name, spelling in names.items()}  # fmt: skip
    return {name: max(starts, key=len) for name, starts in questions.items() if starts}


def _starts(name: str) -> Iterator[str]:
    """Yield the beginnings of a name that may be a question: ``_pays_for_`` of three words."""
    words = name.strip("_").split("_")
    for n in range(1, len(words)):
        if sum(map(len, words[:n])) >= SHORTEST:
            yield f"_{'_'.join(words[:n])}_"


def _ranked(columns: Sequence[Counted], drafts: Sequence[Guess]) -> list[Guess]:
    """Return the guesses with their ranks."""
    topics = [reason(topic) for topic in SECRETS]
    ranks: dict[int, int] = {}
    for role in ("quasi-identifier", "secret"):
        members = [i for i, draft in enumerate(drafts) if draft.role == role]

        def order(i: int, role: str = role) -> tuple[float, ...]:
            guess, bits = drafts[i], columns[i].entropy
            doubt = CONFIDENCE.index(guess.confidence)
            if role == "quasi-identifier":
                return (-bits * (len(CONFIDENCE) - doubt),)
            sensitivity = topics.index(guess.why) if guess.why in topics else len(topics)
            return sensitivity, doubt, -bits

        ranks |= {i: n for n, i in enumerate(sorted(members, key=order), 1)}
    return [Guess(g.role, g.why, g.confidence, ranks.get(i)) for i, g in enumerate(drafts)]
