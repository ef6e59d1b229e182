"""The columns of a file beside one another: series, questions, names made of names, subjects."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from qifsql.commands.describe.column_counts import CATEGORIES, Counted
from qifsql.data.codebooks import topics_of_known
from qifsql.data.topics import TOPICS, Topic, numbers_people, spelled

ANSWERS = 4  # columns of yes and no that are the answers to one question
SHORTEST = 4  # letters of the name of a question
MOST_PARTS = 9  # parts of a name that are looked up among the names of other columns
MANY_SUBJECTS = 3  # letters before the number of any question of a survey
SERIES = 6  # columns of numbered questions
NUMBERED = re.compile(r"([a-z]{1,3})_?\d[a-z_\d]*", re.IGNORECASE)
FLAG = re.compile(r"(.+?)(_f|_fl|_?flag|_?flg|_imp|_imputed|_if)", re.IGNORECASE)
FLAGS = 3  # columns of a file that tell of others whether they were reported
BIRTHS = re.compile(
    "gesta|gravid|parto_|apgar|pregnan|prematur|premie|preterm|schwanger|grossess|embaraz|prenat"
    "|(low|weight_at)_?birth|birth_?weight|_nasc_(vivo|mort)|gebor"
)
BODY = re.compile("height|_bmi|_imc_|estatura|altura|_talla_|_taille_|grosse_cm|waist|cintura|_ht_")


class Siblings:
    """The columns of a file, which say something about one another.

    ``questions`` and ``parts`` are the question that a column answers, and the columns of which its
    name is made; ``subjects`` its secret subject, by its siblings. ``births`` and ``bodies``:
    whether some columns are about births, or measures of bodies. ``series`` are the beginnings of
    many numbered names, such as ``q`` of ``q17``; ``survey_topics`` those of columns of well-known
    files; ``logs``: whether people have two records or more on average; ``flags`` are columns that
    say how another one came about, such as ``income_f`` of ``income``.
    """

    def __init__(self, columns: Sequence[Counted]) -> None:
        """Find what the names and values of the columns say about one another."""
        self.columns = {column.name: column for column in columns}
        keys = topics_of_known([column.name for column in columns])
        self.survey_topics = {column: TOPICS[topic] for column, topic in keys.items()}
        numbers = [c for c in columns if numbers_people(c.name) and c.distinct > CATEGORIES]
        self.logs = any(0 < 2 * c.distinct <= c.records - c.missing for c in numbers)
        flagged = [
            c.name for c in columns if (m := FLAG.fullmatch(c.name)) and m[1] in self.columns
        ]
        self.flags = frozenset(flagged) if len(flagged) >= FLAGS else frozenset[str]()
        self.questions = _questions(columns)
        self.births = any(BIRTHS.search(spelled(column.name)) for column in columns)
        self.bodies = any(BODY.search(spelled(column.name)) for column in columns)
        self.parts = _parts(columns)
        stems = [m[1].lower() for c in columns if (m := NUMBERED.fullmatch(c.name))]
        self.series = {stem for stem, n in Counter(stems).items() if n >= SERIES}
        self.subjects = _subjects(columns)

    def is_item(self, column: Counted) -> bool:
        """Return whether the name numbers one of many questions."""
        numbered = NUMBERED.fullmatch(column.name)
        return bool(numbered and numbered[1].lower() in self.series)


def _subjects(columns: Sequence[Counted]) -> Mapping[str, Topic]:
    """Return the secret subject of columns by name: of their values, or of other columns'.

    Columns without a subject have that of their siblings: at least three answers to one question
    (``P20A01``, ``P20A02``) of which all known subjects are one. Else they have that of a column
    with at least half of their values.
    """
    subjects = {
        c.name: c.seen.topic for c in columns if c.seen.topic and c.seen.topic.role == "secret"
    }
    families: dict[str, list[str]] = {}
    for column in columns:
        families.setdefault(re.sub(r"_?\d{1,4}$", "", column.name), []).append(column.name)
    subjects_by_column = dict(subjects)
    for stem, members in families.items():
        topics = Counter(subjects[m].name for m in members if m in subjects)
        if len(members) < 3 or len(topics) != 1:
            continue
        if stem.isalpha() and len(stem) <= MANY_SUBJECTS and 3 * topics.total() < len(members):
            continue  # numbers of all questions of a survey, not of one of them
        topic = next(subjects[m] for m in members if m in subjects)
        others = [m for m in members if m not in subjects]
        subjects_by_column |= dict.fromkeys(others, topic)
    for column in columns:
        values = column.seen.values
        if column.name in subjects_by_column or len(values) < 2:
            continue
        for base in columns:
            if base.name in subjects and 2 * len(values & base.seen.values) >= len(values):
                subjects_by_column[column.name] = subjects[base.name]
                break
    return subjects_by_column


def _parts(columns: Sequence[Counted]) -> Mapping[str, Sequence[str]]:
    """Return the columns that a name is made of (``any_hiv`` of ``any`` and ``hiv2004``)."""
    names: dict[str, str] = {}  # columns by their names in small letters, with and without a number
    for column in columns:
        stem = column.name.lower().rstrip("0123456789_")
        if len(stem) >= SHORTEST - 1:
            names.setdefault(stem, column.name)
            names.setdefault(column.name.lower(), column.name)
    parts = {}
    for column in columns:
        pieces = _split(column.name.lower(), names)
        if len(pieces) >= 2 and all(names[part] != column.name for part in pieces):
            parts[column.name] = [names[part] for part in pieces]
    return parts


def _split(name: str, names: Mapping[str, str]) -> list[str]:
    """Return the names of which ``name`` is made, joined by ``_``; [] if a part is no name.

    The first part is as long as possible. ``names`` may themselves contain ``_``.
    """
    if name.count("_") >= MOST_PARTS:
        return []
    if name in names and "_" not in name:
        return [name]
    for at in range(len(name), 0, -1):
        head, rest = name[:at], name[at + 1 :]
        if name[at : at + 1] == "_" and head in names and (tail := _split(rest, names)):
            return [head, *tail]
    words = name.split("_")
    return [name] if name in names and len(words) <= 2 else []


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
