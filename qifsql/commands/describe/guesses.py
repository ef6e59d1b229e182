"""Guess the role of each column from its name, its values and how often they occur.

A guess is a suggestion: the user decides. Names and the labels of values count (``topics``), then
the shape of values (``evidence``). Columns of yes and no that begin alike (``pays_self``,
``pays_school``, ...) are the answers to one question, so that only the question says whether others
may know them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from qifsql.commands.describe.column_counts import Counted
from qifsql.commands.describe.siblings import NUMBERED, Siblings
from qifsql.data.topics import (
    ADMINISTRATION,
    CODE,
    CONTACT,
    COURT,
    EVERYDAY,
    HOUSEHOLD,
    NUMBER,
    OWNER,
    PERSON,
    PROCESSING,
    QUASI_IDENTIFIERS,
    QUESTION,
    RECORDED,
    SECRETS,
    SUBJECTS,
    WEIGHT,
    Topic,
    numbers_people,
    spelled,
    whole_name,
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
CODED = "an answer, and its name does not say to what"
UNKNOWN = "other people may know it"
NAMES = "its texts look like names of people"
DOCUMENT = "numbers of documents or addresses, as their form shows"
BODY_WEIGHT = "the weight of a body, not of a record"
PRODUCT = "made of other columns"
EVENT = "the date of an event"
COPY = "the same values as another column"
SHAPES = {
    "code of a disease": "health",
    "amount": "money",
    "height": "body",
    "age": "age",
    "place": "place",
}
"""Subjects of the shapes of values."""
UNNAMED = (MEASURED, BINARY, ITEM, CODED, UNKNOWN, UNIQUE, DATED)
"""Reasons that no name gives."""
BODIES = (25, 250)  # kilogrammes, or pounds of light people
PEOPLE = (1, 700)  # kilogrammes or pounds of people of all ages, beside other measures of bodies
KILOGRAMS = re.compile("_(kg|kgs|kilos?|kilogram[a-z]*|lbs?|pounds|libras|quilos)_")
CATEGORICAL = ("sex", "origin", "family", "education", "work", "housing", "possessions")
"""Subjects of categories and small numbers, which are not measured."""
NEWBORN = ((200, 7000), (0.3, 16))  # grammes; kilogrammes or pounds
SCHOOLING = (5, 30)  # between them are the most years of education
FLAGS = {"0", "1", "0.0", "1.0"}
FEWEST = 3  # values of a column that its neighbours share
NEAR = 8  # columns before and after that are its neighbours
BESIDE, EVEN = 2, 0.95  # columns before and after an age; bits of the sex
SEXES = ({"1", "2"}, {"1.0", "2.0"})
AGES = ("name: age", "values: age")
LONG = 6  # words of a name that is a sentence
ITEM_NAME = re.compile(r"_q_\d+(_[a-z0-9]+)?_")
OF = re.compile("_(?:of|at|de|do|da|del|du|des|von|bei)_")
ASIDE = re.compile(r"\s*\([^()]*\)|\s[-–]\s.*")
"""Additions of labels to their subject: ``Income (net)``, ``Truancy - late for school``."""
BLANK = re.compile(r"_{3}|\[[A-Z]+\]")
"""The place of a question for the name of the person."""
WEIGHT_NAME = re.compile(
    r"_w[^aeiou_]*(_\d+_[^aeiou_]*)?_|[a-z0-9_]+(wt|wgt|wght|pond|gewicht|poids)s?(_[a-z0-9]{1,3})?_"
)
"""Abbreviations of weights, such as ``ww``, ``wp00bgp`` and ``strwt``."""


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
    """A topic that a name is about, such as income, and how sure that is (``CONFIDENCE``)."""

    topic: Topic
    confidence: str


def reason(topic: Topic) -> str:
    """Return the reason that a name is about a topic."""
    return f"name: {topic.name}"


def of_values(topic: Topic) -> str:
    """Return the reason that values are about a topic."""
    return f"values: {topic.name}"


def guesses(columns: Sequence[Counted]) -> list[Guess]:
    """Return a guess for each column, in their order.

    Each is guessed from its own name and values, then from columns that tell the same (copies, such
    as codes and their labels), then from its neighbours.
    """
    siblings = Siblings(columns)
    drafts = {column.name: _by_name_or_label(column, siblings) for column in columns}
    alike: dict[str, list[Counted]] = {}  # columns that tell the same, by the name of the first
    for column in columns:
        base = None if column.copied is None else siblings.columns.get(column.copied)
        if base and drafts[column.name].role != "constant" and column.may_equal(base):
            alike.setdefault(base.name, [base]).append(column)
    for members in alike.values():  # the surest guess counts for all of them
        main = min(members, key=lambda c: (_doubt(drafts[c.name]), *c.derivation))
        for copy in members:
            # A copy whose own name is sure of another role keeps it.
            # So does a weight, which strata or incomes may tell.
            draft = drafts[copy.name]
            is_same = draft.role == drafts[main.name].role
            is_unsure = _doubt(draft) > 0 and draft.role != "weight"
            if copy is not main and (is_same or is_unsure):
                drafts[copy.name] = replace(drafts[main.name], why=COPY)
    drafts |= _alike_nearby(columns, drafts)
    return _ranked(columns, list(drafts.values()))


def _alike_nearby(columns: Sequence[Counted], drafts: Mapping[str, Guess]) -> dict[str, Guess]:
    """Return guesses of unknown columns by those nearby.

    Among secrets with the same few values, such as 1, 2, 9, they are secrets: registers and
    questionnaires ask for symptoms or opinions one after the other. Codes 1 and 2 that are about
    as frequent are the sex, next to an age.
    """
    additions = {}
    for place, column in enumerate(columns):
        beside = [drafts[c.name].why for c in columns[max(0, place - BESIDE) : place + BESIDE + 1]]
        is_even = column.seen.domain in SEXES and column.entropy > EVEN
        if is_even and drafts[column.name].why == CODED and not {*AGES}.isdisjoint(beside):
            additions[column.name] = Guess("quasi-identifier", "values: sex", "medium")
        if drafts[column.name].why != UNKNOWN or len(column.seen.domain) < FEWEST:
            continue
        window = columns[max(0, place - NEAR) : place + NEAR + 1]
        neighbours = [drafts[c.name] for c in window if c.seen.domain == column.seen.domain]
        neighbours = [guess for guess in neighbours if guess.why not in (*UNNAMED, COPY)]
        if len(neighbours) > 1 and {guess.role for guess in neighbours} == {"secret"}:
            additions[column.name] = replace(neighbours[0], confidence="low")
    return additions


def _by_name_or_label(column: Counted, siblings: Siblings) -> Guess:
    """Return the guess of a column by its name, or by its label, if that says more.

    A label is read with and without its additions, such as ``(net)``.
    """
    guess = _guess(column, siblings)
    if not column.label or not _doubt(guess):  # nothing to improve
        return guess
    labels = dict.fromkeys((ASIDE.sub("", column.label).strip() or column.label, column.label))
    of_labels = [_guess(replace(column, name=label), siblings) for label in labels]
    of_label = min(of_labels, key=lambda g: (g.why in UNNAMED, _doubt(g)))
    # The name stays if the label says nothing, or the name says something more surely.
    if of_label.why in UNNAMED or (guess.why not in UNNAMED and _doubt(guess) < _doubt(of_label)):
        return guess
    return of_label


def _doubt(guess: Guess | _Match) -> int:
    """Return how unsure a guess is: 0 is sure."""
    return CONFIDENCE.index(guess.confidence)


def _guess(column: Counted, siblings: Siblings) -> Guess:
    """Guess the role of a column from its name and values: the first rule that applies.

    ``visible`` is the topic of the name, if others can see or look up such a thing of a person. For
    the column of an answer the name of its question counts.
    """
    name, question = spelled(column.name), siblings.questions.get(column.name)
    if column.constant:
        return Guess("constant", CONSTANT if column.distinct else EMPTY, "high")
    if column.household:
        return Guess("household", reason(HOUSEHOLD), "high")
    if column.name in siblings.flags:
        return Guess("other", reason(ADMINISTRATION), "high")
    if topic := siblings.survey_topics.get(column.name):
        return Guess("key" if topic is NUMBER else topic.role, reason(topic), "high")
    visible = _first(QUASI_IDENTIFIERS, whole_name(question or name))
    # A topic of categories with a column of numbers: its short name meant something else, unless
    # they are years of education.
    if visible and visible.topic.name in CATEGORICAL and column.has_no_categories:
        _, greatest = column.seen.numbers or (0, 0)
        is_years = visible.topic.name == "education" and SCHOOLING[0] < greatest <= SCHOOLING[1]
        visible = visible if is_years else None
    guess = (
        _form(column, visible)
        or _weight(column, name, siblings)
        or _identity(column, name, visible)
        or _time(column, name, siblings)
        or _secret_product(column, siblings)
        or _dated(column, name, visible)
        or _subject(column, name, visible, siblings)
    )
    is_product = column.name in siblings.parts  # its name is made of names of other columns
    if guess is not None:
        return replace(guess, confidence="medium") if is_product and not _doubt(guess) else guess
    if is_product:
        return Guess("other", PRODUCT, "medium")
    return _by_values(column, name, is_answer=question is not None or siblings.is_item(column))


def _form(column: Counted, visible: _Match | None) -> Guess | None:
    """Return the guess that texts identify people by their form; None if they have no such form."""
    shape = column.seen.shape
    if shape in ("e-mail", "document") and not (visible and column.handful):  # of a hospital
        return Guess("identifier", DOCUMENT, "high")
    is_many = 2 * column.distinct >= column.records - column.missing
    name = spelled(column.name)
    is_named = CONTACT.confidence(name) is not None and not OWNER.confidence(name)
    if is_many and (is_named or not (visible and visible.confidence == "high")):
        if shape == "names":
            return Guess("identifier", NAMES, "high")
        if shape == "serial" and not column.unique:
            return Guess("identifier", DOCUMENT, "medium")
    return None


def _weight(column: Counted, name: str, siblings: Siblings) -> Guess | None:
    """Return the guess that a number is a weight: of a record, or of a body (a secret)."""
    confidence = WEIGHT.confidence(name)
    if column.floating and WEIGHT_NAME.fullmatch(name) and not _first(SUBJECTS, name):
        confidence = confidence or "medium"
    is_flag = bool(column.seen.domain) and column.seen.domain <= FLAGS
    if not confidence or is_flag or family(column.type) not in NUMBERS:
        return None
    # Values in the range of bodies, or of newborn ones, are no weights of records if the name has a
    # unit, or if they are whole, or other columns measure bodies.
    least, greatest = column.seen.numbers or (0, 0)
    if least < 0:
        return None
    lowest, highest = PEOPLE if siblings.bodies and greatest >= BODIES[0] else BODIES
    in_range = lowest <= least and greatest <= highest and column.distinct >= 10
    is_newborn = any(low <= least and 8 * low < greatest <= high for low, high in NEWBORN)
    has_unit = KILOGRAMS.search(name) is not None and in_range
    is_body = in_range and (column.seen.integers or siblings.bodies)
    is_body |= siblings.births and is_newborn
    if (confidence == "medium" and is_body) or has_unit:
        return Guess("secret", BODY_WEIGHT, "high")
    return Guess("weight", reason(WEIGHT), confidence)


def _identity(column: Counted, name: str, visible: _Match | None) -> Guess | None:
    """Return the guess that a column identifies people; None if its name says no such thing.

    An identifying number that nearly every record has alone (``unique``) is a key; one that is
    shared is of people only if its name says so, and surely. Names and addresses are identifiers
    unless the column has a handful of values, or its name may mean something else.
    """
    # How surely the name is about a number, and about a name or address; empty if it is not.
    number, contact = NUMBER.confidence(name), CONTACT.confidence(whole_name(name))
    is_about_more = visible is not None and visible.topic.name != "education"
    is_personal = visible is None or numbers_people(column.name)  # id_student, of many records
    is_numbered = column.unique or (is_personal and not column.handful)
    if number == "high" and is_numbered and not _sentence(column.name):
        if column.unique:
            return Guess("key", reason(NUMBER), "high")
        is_one_word = "_" not in name[1:-1]
        is_of_people = numbers_people(column.name) and (PERSON.confidence(name) or is_one_word)
        return Guess("identifier", reason(NUMBER), "high" if is_of_people else "medium")
    if numbers_people(column.name) and column.unique:
        return Guess("key", reason(NUMBER), "high")
    has_many_texts = family(column.type) == "VARCHAR" and 3 * column.distinct >= column.records
    is_of_owners = bool(OWNER.confidence(name))  # such as schools and firms
    may_be_personal = PERSON.confidence(name) or (has_many_texts and not is_of_owners)
    doubtful = contact == "medium" and (is_about_more or not (may_be_personal or column.unique))
    if contact and not column.handful and not doubtful:
        return Guess("identifier", reason(CONTACT), contact)
    is_place = visible is not None and visible.topic.name == "place" and not _doubt(visible)
    if column.unique and not is_place and (number or CODE.confidence(name)):
        return Guess("key", reason(NUMBER), number or "medium")
    return None


def _time(column: Counted, name: str, siblings: Siblings) -> Guess | None:
    """Return the guess that a column is about the interview, the file or its making.

    The times of the records of people with many of them are what these people did.
    """
    if _sentence(column.name) and _first(SUBJECTS, name):  # a question says when, among others
        return None
    processing = PROCESSING.confidence(name)
    if siblings.logs and column.dated and RECORDED.confidence(name):
        return Guess("quasi-identifier", EVENT, "medium")
    if processing == "high" or (processing and column.seen.clock):
        return Guess("time", reason(PROCESSING), "high")
    if ADMINISTRATION.confidence(whole_name(name)) == "high" and column.seen.topic is None:
        return Guess("other", reason(ADMINISTRATION), "high")
    return None


def _secret_product(column: Counted, siblings: Siblings) -> Guess | None:
    """Return the guess of a column that is made of others, of which one is a secret."""
    parts = [siblings.columns[part] for part in siblings.parts.get(column.name, ())]
    bases = [_guess(part, siblings) for part in parts if part.name not in siblings.parts]
    secrets = [base for base in bases if base.role == "secret" and base.confidence != "low"]
    if secrets:
        return Guess("secret", PRODUCT, min((s.confidence for s in secrets), key=CONFIDENCE.index))
    return None


def _dated(column: Counted, name: str, visible: _Match | None) -> Guess | None:
    """Return the guess of dates; None if there are none.

    ``visible`` is what the name says of things that others see, as in ``birth_date``.
    """
    if not column.dated:
        return None
    if visible and visible.confidence == "high":
        return Guess("quasi-identifier", reason(visible.topic), "high")
    if _first(SECRETS, name):  # others may know when somebody died
        return Guess("quasi-identifier", EVENT, "high")
    if visible:
        return Guess("quasi-identifier", EVENT, "medium")
    return Guess("quasi-identifier", DATED, "medium")


def _subject(
    column: Counted, name: str, visible: _Match | None, siblings: Siblings
) -> Guess | None:
    """Return the guess from what the name and the values are about; None if they do not say.

    Labels of values win over a name that is not sure; a secret topic of the name over one that
    others see, with less confidence; what is everyday or administrative comes last.
    """
    labels = None if column.unique else column.seen.topic or _of_shape(column.seen.shape)
    sibling = siblings.subjects.get(column.name)
    secret = _first(SECRETS, whole_name(name)) or _first(SECRETS, name)
    if secret and visible and visible.topic.name == COURT:  # court records are public
        secret = None
    if secret and visible and not _sentence(column.name) and _heads(visible, secret, name):
        secret = None
    if secret and visible and _sentence(column.name) and _doubt(visible) <= _doubt(secret):
        is_first = visible.topic.place(name) < secret.topic.place(name)  # which is asked
        secret, visible = (None, visible) if is_first else (secret, None)
    named = secret or visible
    is_letter = column.binary and labels is not None and labels.name == "sex" and column.one_letter
    if is_letter and named and named.topic is not labels:  # of other codes with F and M
        labels = None
    if labels and (named is None or named.confidence != "high" or labels is named.topic):
        role = labels.role
        return Guess(role, _seen(labels, named), "high")
    if _sentence(column.name) and named and not _asks_a_person(column.name):
        is_asked = column.name.rstrip().endswith("?")
        confidence = "low" if is_asked else _lowered(named.confidence)
        return Guess(named.topic.role, reason(named.topic), confidence)
    if sibling and (named is None or named.confidence != "high"):
        return Guess("secret", of_values(sibling), "medium")
    if secret:
        confidence = _lowered(secret.confidence) if visible else secret.confidence
        return Guess("secret", reason(secret.topic), confidence)
    everyday = EVERYDAY.confidence(name)
    if visible and (_doubt(visible) == 0 or not everyday):
        return Guess("quasi-identifier", reason(visible.topic), visible.confidence)
    if ADMINISTRATION.confidence(name):
        return Guess("other", reason(ADMINISTRATION), "medium")
    if everyday:
        return Guess("other", reason(EVERYDAY), "high")
    return None


def _heads(visible: _Match, secret: _Match, name: str) -> bool:
    """Return whether the word that a name is about is visible, and the secret only says which.

    So in ``year_of_diagnosis``, ``marital_status_at_diagnosis`` and ``health_region``.
    """
    head = f"{OF.split(name, maxsplit=1)[0].rstrip('_')}_"
    if head != name and secret.topic.place(name) >= len(head) - 1:
        is_time = visible.topic.name == "time" and not head.endswith("s_")  # no hours_of_sleep
        confidence = visible.topic.confidence(head)
        return confidence == "high" or (is_time and confidence is not None)
    last = f"_{name.strip('_').rpartition('_')[2]}_"
    confidence = visible.topic.confidence(last) if visible.topic.name == "place" else None
    return confidence is not None and CONFIDENCE.index(confidence) <= _doubt(secret)


def _seen(topic: Topic, named: _Match | None) -> str:
    """Return the reason of values that are about a topic; of the name, where it says the same."""
    return reason(topic) if named and named.topic is topic else of_values(topic)


def _of_shape(shape: str) -> Topic | None:
    topics = {topic.name: topic for topic in SUBJECTS}
    return topics.get(SHAPES.get(shape, ""))


def _sentence(column: str) -> bool:
    """Return whether the name of a column is a sentence, such as the question that was asked."""
    return len(column.split()) >= LONG


def _asks_a_person(column: str) -> bool:
    """Return whether a question is about the person: it says you, or leaves a blank for a name."""
    return bool(QUESTION.confidence(spelled(column)) or BLANK.search(column))


def _by_values(column: Counted, name: str, *, is_answer: bool) -> Guess:
    """Return the guess of a column whose name says nothing."""
    if column.unique and not column.floating and not column.seen.skewed:
        return Guess("key", UNIQUE, "medium")
    is_coded = NUMBERED.fullmatch(column.name) is not None and not column.label
    if column.aged and is_coded:
        return Guess("quasi-identifier", "values: age", "medium")
    if column.serial:
        return Guess("identifier", DOCUMENT, "medium")
    if column.measured and not is_answer:
        return Guess("secret", MEASURED, "low")
    is_answer = is_answer or column.seen.unsure or column.seen.yes_or_no
    is_told = bool(column.label) or _sentence(column.name)
    if is_answer or is_coded or ITEM_NAME.fullmatch(name) or _sentence(column.name):
        return Guess("secret", ITEM if is_told else CODED, "low")
    if column.binary:
        return Guess("secret", ITEM if is_told else BINARY, "low")
    return Guess("quasi-identifier", UNKNOWN, "low")


def _first(topics: Sequence[Topic], name: str) -> _Match | None:
    """Return the topic that a name is about with most confidence, of equal ones the first."""
    matches = [_Match(topic, sure) for topic in topics if (sure := topic.confidence(name))]
    return min(matches, key=lambda match: CONFIDENCE.index(match.confidence), default=None)


def _lowered(confidence: str) -> str:
    """Return the next lower confidence: the name speaks for another role, too."""
    return CONFIDENCE[min(CONFIDENCE.index(confidence) + 1, len(CONFIDENCE) - 1)]


def _ranked(columns: Sequence[Counted], drafts: Sequence[Guess]) -> list[Guess]:
    """Return the guesses with the ranks of quasi-identifiers and of secrets, each from 1."""
    reasons_by_rank = [(reason(topic), of_values(topic)) for topic in SECRETS]

    def sort_key(i: int) -> tuple[float, ...]:  # of column i; the least comes first
        guess, bits = drafts[i], columns[i].entropy
        doubt = _doubt(guess)
        if guess.role == "quasi-identifier":
            return (-bits * (len(CONFIDENCE) - doubt),)
        if guess.why == BODY_WEIGHT:
            return 0, doubt, -bits
        ranks = (rank for rank, whys in enumerate(reasons_by_rank) if guess.why in whys)
        return next(ranks, len(reasons_by_rank)), doubt, -bits

    ranks: dict[int, int] = {}  # by the place of the column
    for role in ("quasi-identifier", "secret"):
        members = [i for i, draft in enumerate(drafts) if draft.role == role]
        ranks |= {i: rank for rank, i in enumerate(sorted(members, key=sort_key), 1)}
    return [replace(draft, rank=ranks.get(i)) for i, draft in enumerate(drafts)]
