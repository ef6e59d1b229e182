"""Evidence in the values of a column: the subject of its labels, or the shape of its texts.

Only the first records are looked at, and of each column its most frequent values.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import le

import pyarrow as pa

from qifsql.data.topics import (
    MISSING,
    SECRETS,
    SUBJECTS,
    UNSURE,
    YES_OR_NO,
    Topic,
    names_a_person,
    spelled,
    topics_of,
)

RECORDS = 2000  # the first records, which are looked at
COMPARED = 100  # records that copies have at least
CATEGORIES = 50  # most values that may be codes of others
WORDS = 15  # of a value that may be a label
FEW = 12  # values that are compared with those of neighbours
VALUES = 200  # the most frequent values of a column
MOST = 0.8  # share of the values that have a shape, or are labels of a subject
FEWEST_COUNTRIES = 2  # of which one may be Norway, no
SKEWED = 0.3  # place of the median between the least and the greatest number of amounts
LONGEST = 200  # characters of a value that are looked at

MONTHS = (
    "jan|feb|fev|mar|apr|abr|avr|may|mai|jun|jul|aug|ago|aou|sep|set|oct|out|okt|nov|dec|dez|dic"
    "|ene"
)
DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?"
    rf"|.*\b({MONTHS})[a-z]*\.? \d{{1,2}},? \d{{4}}|.*\b\d{{1,2}}[ -]({MONTHS})[a-z]*[ -]\d{{2,4}}"
    r"|(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])(18|19|20)\d\d|(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])",
    re.IGNORECASE,
)
CLOCK = re.compile(r"\d{1,2}:\d{2}")
TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?( ?[ap]m)?", re.IGNORECASE)
MIDNIGHT = re.compile(r"\b00:00(:00)?(\.0+)?$")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}")
DISEASE = r"[A-TV-Z]\d[0-9AB](\.?([0-9A-Z]{1,2}|[0-9X]{3}[A-Z]?))?"
ICD = re.compile(rf"[*]?{DISEASE}([ /;*]+{DISEASE})*[ /;*]*")
BAND = re.compile(
    r"[<>≤≥]? ?(\d{1,3})( ?(-|–|a|to|bis|à|ate) ?|,)(\d{1,3})( (anos|years|ans|jahre|y))?"
    r"|[<>≤≥]=? ?(\d{1,3})|(\d{1,3}) ?(\+|and up|and over|or older|ou mais|y mas|et plus|und mehr)"
    r"|(under|below) (\d{1,3})|[\[(](\d{1,3}), ?(\d{1,3})[\])]",
    re.IGNORECASE,
)
FEET = re.compile(r"\d' ?\d{1,2}\"?.*|(under|over) \d ft\.?", re.IGNORECASE)
MONEY = re.compile(
    r".*([$€£]|R\$|US\$|\b(usd|eur|brl|euros?|dollars?)\b).*\d.*|.*\d.*([€£]|\beuros?\b|\breais\b).*",
    re.IGNORECASE,
)
NUTS = re.compile(r"[A-Z]{2}\d[0-9A-Z]{0,2}")
POSTCODE = re.compile(
    r"\d{5}-\d{3,4}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d", re.IGNORECASE
)
UUID = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}"
)
NEGATIVE = re.compile(
    "_(no|not|none|never|nao|nenhum|nenhuma|ninguem|nunca|ningun|ninguno|ninguna|aucun|aucune|"
    "non|kein|keine|keiner|nein)_"
)
LISTED = re.compile(r"\(?\d{1,3}([.):]\s+(?=\S)|_(?=[^\W\d_]))")
"""The number before a label, as in ``1. Married`` and ``1_yes``."""
SERIAL = re.compile(r"(?=.*[a-z])(?=(.*\d){4})[a-z0-9]+([-_/.][a-z0-9]+)*", re.IGNORECASE)
Form = tuple[int | str | None, ...]
WEB = re.compile(r"https?://.+|((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}")


@dataclass(frozen=True)
class Texts:
    """The texts of a column in the first records.

    ``values`` has each once, in the order in which they occur, and None if some are missing;
    ``places`` has the place of each record's text in ``values``, from 0.
    """

    values: Sequence[str | None]
    places: Sequence[int]

    @staticmethod
    def of(texts: pa.Array) -> "Texts":
        """Return the texts of an array, a record in each place."""
        encoded = texts.dictionary_encode(null_encoding="encode")
        return Texts(encoded.dictionary.to_pylist(), encoded.indices.to_pylist())

    def numbered(self, numbers: Sequence[int]) -> list[int]:
        """Return the number of each record's text, of ``numbers`` in the order of ``values``."""
        return [*map(numbers.__getitem__, self.places)]


Sample = Mapping[str, Texts]
"""The first records: the texts of each column by its name."""


@dataclass(frozen=True)
class Evidence:
    """The evidence in the values of a column.

    ``topic``: the subject of its labels. ``shape``: ``date``, ``time of day``, ``names``,
    ``e-mail``, ``document``, ``code of a disease``, ``amount``, ``height``, ``age``, ``place``,
    ``serial`` (letters and digits), or empty. ``clock``: its dates have a time of day.
    ``skewed``: many numbers that differ, of which most are small, as amounts are and numbers of
    records not. ``unsure``: some labels are answers to questions. ``yes_or_no``: one is yes, and
    one is no.
    ``numbers``: the least and the greatest of its numbers; ``integers``: these are whole;
    ``zeros``: the share of records with 0.
    ``values``: its labels, to compare them with those of other columns; ``domain``: all its
    values, if they are few.
    """

    topic: Topic | None = None
    shape: str = ""
    clock: bool = False
    skewed: bool = False
    unsure: bool = False
    yes_or_no: bool = False
    numbers: tuple[float, float] | None = None
    integers: bool = False
    zeros: float = 0
    values: frozenset[str] = frozenset()
    domain: frozenset[str] = frozenset()


NOTHING = Evidence()


def evidence(sample: Sample) -> dict[str, Evidence]:
    """Return the evidence of each column of a sample."""
    return {
        name: replace(_of_values(_frequent(texts)), skewed=_is_skewed(texts))
        for name, texts in sample.items()
    }


def _is_skewed(texts: Texts) -> bool:
    """Return whether most of many different numbers are small; numbers of records are not so."""
    numbers = [_number(text) for text in texts.values if text is not None]
    if len(numbers) < COMPARED or 2 * len(numbers) < len(texts.places) or None in numbers:
        return False
    ordered = sorted(number for number in numbers if number is not None)
    least, median, greatest = ordered[0], ordered[len(ordered) // 2], ordered[-1]
    return least < 0 or median - least < SKEWED * (greatest - least)  # no record has number -1


def copies(sample: Sample) -> dict[str, str]:
    """Return the columns of a sample that tell the same as an earlier one, by name.

    They equal it, or each value of one stands for a value of the other: a code for its label, or a
    standardised number for a number. More than ``CATEGORIES`` values are compared by their order.
    """
    earlier: dict[Form, str] = {}  # the first column by each of its forms
    duplicates = {}
    for name, texts in sample.items():
        if len(texts.places) >= COMPARED and (forms := _forms(texts)):
            base = next((earlier[form] for form in forms if form in earlier), name)
            earlier |= dict.fromkeys(forms, base)
            if base != name:
                duplicates[name] = base
    return duplicates


def _forms(texts: Texts) -> list[Form]:
    """Return the values of a column as sequences of numbers: columns that share one tell the same.

    A few values, which may be codes of others, are numbered in the order in which they first occur.
    Many numbers are ranked, upwards and downwards, so that any rising or falling change of them has
    the same form. Many texts have to be the same.
    """
    values = texts.values
    if len(values) - (None in values) < 2:
        return []
    if len(values) <= CATEGORIES and 10 * len(values) <= len(texts.places):  # categories
        return [(*texts.places,)]
    same_texts = (*texts.places, *values)
    by_text = {text: _number(text) for text in values if text is not None}
    numbers = sorted({number for number in by_text.values() if number is not None})
    if None in by_text.values() or len(numbers) < len(by_text):
        return [same_texts]  # no numbers
    ranks = {number: rank for rank, number in enumerate(numbers)}
    rising = [-1 if text is None else ranks[float(text)] for text in values]  # -1: missing
    ranked = texts.numbered(rising)
    if _is_sorted(ranked) or _is_sorted(ranked[::-1]):  # all columns that number records are so
        return [same_texts]
    last = len(ranks) - 1
    falling = [-1 if rank < 0 else last - rank for rank in rising]
    return [(*ranked,), (*texts.numbered(falling),)]


def _is_sorted(numbers: Sequence[int]) -> bool:
    return all(map(le, numbers, islice(numbers, 1, None)))


def _frequent(texts: Texts) -> Mapping[str, int]:
    """Return the most frequent values of a column, shortened, with their records.

    If most of them begin with a number, as ``1. never`` does, it is left out.
    """
    counts = ((texts.values[place], n) for place, n in Counter(texts.places).items())
    present = [(value, n) for value, n in counts if value is not None]
    rows = sorted(present, key=lambda row: (-row[1], row[0]))[:VALUES]
    if rows and sum(LISTED.match(value) is not None for value, _ in rows) > len(rows) / 2:
        rows = [(LISTED.sub("", value, count=1), n) for value, n in rows]
    return {value[:LONGEST].strip(): n for value, n in rows if value.strip()}


def _of_values(counts: Mapping[str, int]) -> Evidence:
    """Return what values of a column tell; ``counts`` has how often each occurs.

    ``words`` are the values in small letters, ``plain`` those that do not mean a missing one.
    """
    if not counts:
        return NOTHING
    words = {value: spelled(value) for value in counts}
    plain = {value: n for value, n in counts.items() if words[value] not in MISSING.labels}
    if not plain:
        return NOTHING
    numbers = _numbers(plain)
    shape = _shape(plain, words)
    return Evidence(
        topic=None if shape else _topic(plain, words),
        shape=shape,
        clock=shape == "date" and _is_mostly(plain, _has_clock),
        unsure=any(words[value] in UNSURE.labels for value in counts),
        yes_or_no=_is_yes_or_no(words.values()),
        numbers=(min(numbers), max(numbers)) if numbers else None,
        integers=bool(numbers) and all(number.is_integer() for number in numbers),
        zeros=sum(n for v, n in plain.items() if _number(v) == 0) / sum(counts.values()),
        values=frozenset(words[v] for v in plain if len(words[v]) > 4 and not _is_number(v))
        - UNSURE.labels,
        domain=frozenset(counts) if len(counts) <= FEW else frozenset(),
    )


def _is_yes_or_no(words: Iterable[str]) -> bool:
    return len(YES_OR_NO.labels.intersection(words)) > 1


def _has_clock(value: str) -> bool:
    return bool(CLOCK.search(value)) and not MIDNIGHT.search(value)


def _is_mostly(counts: Mapping[str, int], test: Callable[[str], object]) -> bool:
    """Return whether at least the share ``MOST`` of the records has a value that passes a test."""
    failing, total = 0, sum(counts.values())
    for value, n in counts.items():
        if not test(value):
            failing += n
            if failing > (1.01 - MOST) * total:  # or nearly so
                return False
    return (total - failing) / total >= MOST


def _is_number(value: str) -> bool:
    return _number(value) is not None


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _numbers(counts: Mapping[str, int]) -> Sequence[float]:
    """Return the values as numbers; none if some are no numbers."""
    numbers = [number for number in map(_number, counts) if number is not None]
    return numbers if len(numbers) == len(counts) else ()


def _shape(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    """Return the shape of most values; empty if they have none.

    A shape needs a least number of different values. Codes of regions (NUTS) look like those of
    diseases: they all begin with the two letters of one country.
    """
    shapes: tuple[tuple[str, Callable[[str], object], int], ...] = (  # least number of values
        ("e-mail", EMAIL.fullmatch, 2),
        ("document", is_document, 5),
        ("document", lambda value: UUID.fullmatch(value.lower()), 5),
        ("document", WEB.fullmatch, 5),
        ("date", DATE.fullmatch, 2),
        ("time of day", TIME_OF_DAY.fullmatch, 5),
        ("code of a disease", ICD.fullmatch, 4),
        ("height", FEET.fullmatch, 3),
        ("amount", MONEY.fullmatch, 3),
        ("place", POSTCODE.fullmatch, 5),
        ("age", _is_band, 3),
        ("serial", SERIAL.fullmatch, 50),
        ("names", names_a_person, 10),
    )
    names = (n for n, test, least in shapes if len(counts) >= least and _is_mostly(counts, test))
    shape = next(names, "")
    may_be_regions = shape in ("", "code of a disease") and len(counts) >= 3
    if may_be_regions and _is_mostly(counts, NUTS.fullmatch):
        is_of_one_country = len({value[:2] for value in counts}) == 1
        return "place" if is_of_one_country else shape
    return shape


def _is_band(value: str) -> bool:
    """Return whether a value is a band of ages: no number is above 120."""
    return bool(BAND.fullmatch(value)) and all(int(n) <= 120 for n in re.findall(r"\d+", value))


def is_document(value: str) -> bool:
    """Return whether a number has the check digits of a document: CPF, CNPJ, IBAN, NIR, DNI, card.

    >>> is_document("529.982.247-25"), is_document("GB82 WEST 1234 5698 7654 32")
    (True, True)
    """
    text = re.sub(r"[\s./-]", "", value).upper()
    if re.fullmatch(r"\d{11}", text):  # CPF
        return _checks(text, (9, 10), 11)
    if re.fullmatch(r"\d{14}", text):  # CNPJ, or a card
        return _checks(text, (12, 13), 9) or _luhn(text)
    if re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):  # IBAN
        digits = "".join(str(int(c, 36)) for c in text[4:] + text[:4])
        return int(digits) % 97 == 1
    if re.fullmatch(r"[12]\d{14}", text):  # NIR
        return 97 - int(text[:13]) % 97 == int(text[13:])
    if re.fullmatch(r"\d{8}[A-Z]", text):  # DNI
        return "TRWAGMYFPDXBNJZSQVHLCKE"[int(text[:8]) % 23] == text[8]
    return bool(re.fullmatch(r"\d{15,16}", text)) and _luhn(text)  # a card


def _checks(text: str, places: Sequence[int], longest: int) -> bool:
    """Return whether the digits at ``places`` are the check digits (modulo 11) of those before.

    From the right, the weights are 2 to ``longest``, again and again.
    """
    for place in places:
        digits = [int(c) for c in reversed(text[:place])]
        total = sum(digit * (2 + i % (longest - 1)) for i, digit in enumerate(digits))
        if int(text[place]) != (total * 10) % 11 % 10:
            return False
    return len(set(text)) > 1  # one digit alone passes, and is no document


def _luhn(text: str) -> bool:
    """Return whether the last digit is the check digit of Luhn: every second one counts twice."""
    digits = [int(c) for c in reversed(text)]
    return sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)) % 10 == 0


def _topic(counts: Mapping[str, int], words: Mapping[str, str]) -> Topic | None:
    """Return the subject of most labels: several of them, or one beside "not selected".

    One telling value, such as that of a disease, is enough for a secret. Else the records whose
    label is about a subject are compared with those whose label is about none of it.
    """
    spellings = {words[value] for value in counts}
    for topic in SECRETS:
        if not topic.telling.isdisjoint(spellings):
            return topic
    is_answer = _is_yes_or_no(words.values()) or len(counts) <= FEWEST_COUNTRIES
    answers = UNSURE.labels | (YES_OR_NO.labels if is_answer else set())
    labels = {  # no is no country here, and a sentence no label
        v: n for v, n in counts.items() if words[v] not in answers and len(v.split()) <= WORDS
    }
    if not labels or _numbers(labels):
        return None
    about = {value: topics_of(words[value]) for value in labels}
    candidates = {*chain(*about.values())}
    best, best_share = None, 0.0  # of equal shares, the first topic wins
    for topic in (topic for topic in SUBJECTS if topic in candidates):
        of_topic = [value for value in labels if topic in about[value]]
        against = [v for v in labels if v not in of_topic and not NEGATIVE.match(words[v])]
        share = sum(labels[v] for v in of_topic) / sum(labels[v] for v in (*of_topic, *against))
        is_short = all(len(value) <= 2 for value in of_topic)
        is_alone = len(labels) == 1 and len(counts) > 1  # beside "not selected"
        least = 1 if is_alone and not is_short else 2
        is_enough = len(of_topic) >= least and share >= (0.95 if is_short else 0.6)
        if is_enough and share > best_share:
            best, best_share = topic, share
    return best
