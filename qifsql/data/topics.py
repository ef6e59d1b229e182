"""Words in names and values of columns, and the roles that they speak for.

The words are those of ``vocabulary/``, a file for each language. Words are looked for in a name
that is written ``_in_small_letters_`` without accents, with ``_`` between its words, before
capitals and around digits. A word that begins or ends with ``_`` begins or ends a word of the
name: ``_nasc`` is in ``CO_MUNICIPIO_NASC`` and not in ``renasc``. ``?`` may be one more letter:
``_age?_`` is in ``AGEP``. A word between ``__`` is a whole name (``whole_name``).
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Topic:
    """A subject of columns, its usual role, and words that are about it.

    ``words`` nearly always are; ``hints`` are abbreviations and words with other meanings, too.
    ``labels`` are whole values of columns about it, ``inside`` words in values, ``telling`` values
    of which one is enough.
    """

    role: str
    name: str
    words: str
    hints: str
    inside: str
    listed_labels: str  # with commas between them
    listed_telling: str

    @cached_property
    def labels(self) -> frozenset[str]:
        """Return the labels, ``spelled``."""
        return _spelled_values(self.listed_labels)

    @cached_property
    def telling(self) -> frozenset[str]:
        """Return the telling values, ``spelled``."""
        return _spelled_values(self.listed_telling)

    def confidence(self, name: str) -> str | None:
        """Return how sure a name (``spelled``) is about this: high or medium; None if it is not."""
        if _has_word(name, self.words):
            return "high"
        return "medium" if _has_word(name, self.hints) else None

    def place(self, name: str) -> int:
        """Return where the first word about this begins in a name (``spelled``) that has one."""
        matches = [_pattern(words).search(name) for words in (self.words, self.hints) if words]
        return min(match.start() for match in matches if match)

    def has(self, value: str) -> bool:
        """Return whether a value (``spelled``) is a label of the topic, or contains its words."""
        return value in self.labels or _has_word(value, self.inside)


def _has_word(text: str, words: str) -> bool:
    """Return whether a text (``spelled``) has one of the words."""
    return bool(words) and _pattern(words).search(text) is not None


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(w).replace(r"\?", "[a-z]?") for w in words.split()))


@lru_cache(maxsize=10_000)
def spelled(name: str) -> str:
    """Return a name in small letters without accents, ``_`` around each of its words.

    >>> spelled("dateOfBirth"), spelled("RAC1P"), spelled("Raça/Cor")
    ('_date_of_birth_', '_rac_1_p_', '_raca_cor_')
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()
    plain = re.sub(r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])", "_", plain)
    return f"_{re.sub(r'[^a-z0-9]+', '_', plain).strip('_')}_"


def whole_name(name: str) -> str:
    """Return a name (``spelled``) in which also the words for whole names are found (``__note__``).

    >>> whole_name(spelled("Note"))
    '__note__'
    """
    return f"_{name}_"


@cache
def _vocabulary() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the words of all languages: by topic and kind, a text for each language."""
    merged: dict[str, dict[str, list[str]]] = {}
    for file in sorted((Path(__file__).parent / "vocabulary").glob("*.toml")):
        for topic, kinds in tomllib.loads(file.read_text("utf-8")).items():
            for kind, words in kinds.items():
                merged.setdefault(topic, {}).setdefault(kind, []).append(words)
    return merged


def _topic(key: str, role: str = "", name: str = "") -> Topic:
    """Return a topic with the words of all languages under ``key``."""
    by_kind = _vocabulary()[key]
    words = (" ".join(by_kind.get(kind, ())) for kind in ("names", "hints", "inside"))
    values = (",".join(by_kind.get(kind, ())) for kind in ("labels", "telling"))
    return Topic(role, name, *words, *values)


def _spelled_values(listed: str) -> frozenset[str]:
    """Return the values in a text with commas between them, each ``spelled``."""
    return frozenset(spelled(value) for value in listed.split(",") if value.strip())


WEIGHT = _topic("weight", "weight", "weight")
NUMBER = _topic("number", "identifier", "identifying number")
"""An identifying number; of the school or the city, it is theirs."""
PERSON = _topic("person", "identifier", "person")
CODE = _topic("code", "identifier", "number")
OWNER = _topic("owner", "identifier", "owner that is no person")


def numbers_people(column: str) -> bool:
    """Return whether the name of a column says that it numbers people.

    >>> [numbers_people(name) for name in ("patient_id", "pid", "school_id", "village.id", "id_uf")]
    [True, True, False, False, False]
    """
    name = spelled(column)
    is_of_person = PERSON.confidence(name) is not None
    is_code = is_of_person and CODE.confidence(name) is not None
    if OWNER.confidence(name) or not (is_code or NUMBER.confidence(name) == "high"):
        return False
    # not as id_uf, of a state
    return is_of_person or all(t.confidence(name) != "high" for t in QUASI_IDENTIFIERS)


HOUSEHOLD = _topic("household", "household", "household")
"""A number of households, also in Italian and other languages, and in EU-SILC."""
HOME = _topic("home", "household", "people who live together")
NUMBER_OF_ANY = _topic("number_of_any", "identifier", "number")
ABOUT_HOMES = _topic("about_homes", "quasi-identifier", "property of a household")


def numbers_households(column: str) -> bool:
    """Return whether the name of a column says that it numbers households.

    >>> [numbers_households(name) for name in ("hhid", "hh_size", "id_domicilio", "patient_id")]
    [True, False, True, False]
    """
    name = whole_name(spelled(column))
    if HOUSEHOLD.confidence(name):
        return True
    is_number = any(topic.confidence(name) == "high" for topic in (NUMBER, CODE, NUMBER_OF_ANY))
    return bool(is_number and HOME.confidence(name) and not ABOUT_HOMES.confidence(name))


CONTACT = _topic("contact", "identifier", "name or address")
GROUP = _topic("group", "quasi-identifier", "organisation")
"""Words in names of organisations, which are no people."""
PARTICLES = "de|da|do|dos|das|di|du|des|van|von|der|den|del|la|le|e|y|bin|al|of|the|und|et"
PERSONAL = re.compile(
    rf"[A-Z][\w'’.-]*( ({PARTICLES}|[\"“(]\w+[\"”)]|[A-Z][\w.'’-]*)){{1,7}}"
    r"(,? (Jr|Sr|II|III)\.?)?"
    r"|[A-Z][\w'’-]+, [A-Z][\w'’. -]+"
)


def names_a_person(value: str) -> bool:
    """Return whether a text has the form of a name of a person, and no word of an organisation.

    >>> [names_a_person(t) for t in ("Ana da Silva", "Smith, John", "Acme Ltd", "blue")]
    [True, True, False, False]
    """
    return bool(PERSONAL.fullmatch(value)) and not GROUP.confidence(spelled(value))


def look_like_names(texts: Sequence[str | None]) -> bool:
    """Return whether four of five texts of a column name people, and few of them are equal."""
    if len({*texts}) < 10:
        return False
    present = [text[:200].strip() for text in texts if text is not None and text.strip()]
    different = {*present}
    vary = len(different) >= 10 and 2 * len(different) >= len(present)
    return vary and 5 * sum(map(names_a_person, different)) >= 4 * len(different)


PROCESSING = _topic("processing", "time", "interview or processing")
"""Times of interviews, and of what is done with their records afterwards."""
RECORDED = _topic("recorded", "time", "time of a record")
"""Times of records, which in a log are those of events."""
ADMINISTRATION = _topic("administration", "other", "administration of the data")
EVERYDAY = _topic("everyday", "other", "everyday life")
"""Habits and things that neither tell people apart nor are sensitive."""
QUESTION = _topic("question", "", "question to a person")
UNSURE = _topic("unsure", "secret", "answer to a question")
"""Values of questions about opinions and habits."""
YES_OR_NO = _topic("yes_or_no", "", "yes or no")
MISSING = _topic("missing", "", "no value")


@cache
def unanswered() -> frozenset[str]:
    """Return the usual texts of questions without an answer, in small letters, in all spellings.

    >>> sorted(text for text in unanswered() if "know" in text)[:2]
    ['do not know', "don't know"]
    """
    texts = ",".join(_vocabulary()["unanswered"]["labels"]).split(",")
    plain = {" ".join(text.split()) for text in texts} - {""}
    plain |= {unicodedata.normalize("NFKD", t).encode("ascii", "ignore").decode() for t in plain}
    return frozenset(plain | {text.replace("'", "\u2019") for text in plain})


_SECRETS = {  # the most sensitive first: special categories, offences, money, the rest
    "health": "health",
    "sexual": "sexual life",
    "belief": "belief",
    "offences": "offences",
    "money": "money",
    "benefits": "benefits",
    "scores": "results and scores",
    "outcome": "outcome",
    "opinion": "opinion",
}
SECRETS = tuple(_topic(key, "secret", name) for key, name in _SECRETS.items())
_QUASI_IDENTIFIERS = {
    "court": "court record",
    "place": "place",
    "age": "age",
    "sex": "sex",
    "origin": "origin",
    "family": "family",
    "education": "education",
    "work": "work",
    "housing": "housing",
    "possessions": "possessions",
    "body": "body",
    "time": "time",
    "events": "number of events",
}
QUASI_IDENTIFIERS = tuple(
    _topic(key, "quasi-identifier", name) for key, name in _QUASI_IDENTIFIERS.items()
)
"""Subjects that others can see or look up; the first that fits gives the reason."""
SUBJECTS = (*QUASI_IDENTIFIERS, *SECRETS)
TOPICS = {
    **dict(zip((*_QUASI_IDENTIFIERS, *_SECRETS), SUBJECTS, strict=True)),
    "weight": WEIGHT,
    "number": NUMBER,
    "person": NUMBER,
    "household": NUMBER,
    "processing": PROCESSING,
    "administration": ADMINISTRATION,
    "everyday": EVERYDAY,
}
"""The topics of columns of well-known files (``codebooks``), by their keys there."""


@lru_cache(maxsize=10_000)
def topics_of(value: str) -> tuple[Topic, ...]:
    """Return the subjects of the columns that have a value (``spelled``)."""
    return tuple(topic for topic in SUBJECTS if topic.has(value))


COURT = "court record"
"""Published in many countries: this topic wins over offences."""
_OF_MEMBERS = ("sex", "age")


def telling_members_apart(columns: Sequence[str]) -> list[str]:
    """Return the columns in which people who live together differ: sexes and ages, else others.

    >>> [telling_members_apart(["hhid", *more]) for more in (["sex", "city"], ["occupation"])]
    [['sex'], ['occupation']]
    """
    names = [name for name in columns if not numbers_households(name)]
    of_members = [topic for topic in QUASI_IDENTIFIERS if topic.name in _OF_MEMBERS]
    for topics in (of_members, QUASI_IDENTIFIERS):
        telling = [n for n in names if any(t.confidence(spelled(n)) == "high" for t in topics)]
        if telling:
            return telling
    return []
