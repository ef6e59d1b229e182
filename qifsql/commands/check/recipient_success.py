"""Success of a recipient who tries, read from attacks, sweeps, and links with registers.

Each function takes a result to the ways to succeed that it has. Source: M218.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from qifsql.adversary.knowledge import independent
from qifsql.data.collection import plain_name
from qifsql.results.assessment import readings
from qifsql.results.result import Result
from qifsql.study.recipients import Recipient

WORST, AVERAGE = "worst_case", "posterior_probabilistic"  # columns of attacks
LINK = "link"  # the model of a row about a register


@dataclass(frozen=True, kw_only=True)
class Success:
    """Success of a recipient in one way, once tried: ``maximum`` and ``average`` over people.

    ``model`` is an attack's or ``LINK``. ``before`` is the average without the release, None for a
    link. ``interval`` is that of the average if people were drawn.
    """

    model: str
    qids: Sequence[str]
    secret: str | None
    maximum: float
    average: float
    before: float | None = None
    interval: tuple[float, float] | None = None
    known_records: str | None = None
    of_reported: bool = False

    def of(self, risk: str) -> float:
        """Return the ``maximum`` or the ``average``."""
        return self.maximum if risk == "maximum" else self.average


def keep_worst_readings(successes: Sequence[Success], risk: str) -> list[Success]:
    """Return the success of each question in its worst reading, and that of each register.

    Readings are all records of a person known or one, and everybody or who reports the secret.
    """
    worst: dict[object, Success] = {}
    for n, success in enumerate(successes):
        question = n if success.model == LINK else (success.model, success.secret)
        if question not in worst or success.of(risk) > worst[question].of(risk):
            worst[question] = success
    return list(worst.values())


def read_successes(row: Mapping[str, Any]) -> Iterator[Success]:
    """Yield the success in a row of an attack, and that against those with a reported secret."""
    for reading in readings(row):
        yield Success(
            model=reading["model"],
            qids=reading["qids"],
            secret=reading["secret"],
            maximum=reading["worst_case"],
            average=reading["posterior_probabilistic"],
            before=reading["prior_probabilistic"],
            known_records=reading.get("known_records"),
            of_reported=reading["of_reported"],
        )


def read_noisy_successes(result: Result) -> Iterator[Success]:
    """Yield the successes of a recipient whose knowledge has errors, with their interval.

    Rows of the attack come in pairs: the quasi-identifiers known without errors, then with them.
    Nobody is at greater risk than without errors, so the ``maximum`` is that of the exact row.
    """
    rows = list(result.rows())
    for exact, noisy in zip(rows[::2], rows[1::2], strict=True):
        interval = None if noisy["high"] is None else (noisy["low"], noisy["high"])
        # Only an exact row may have a second success, about people who report the secret.
        for upper_bound, success in zip(read_successes(exact), read_successes(noisy), strict=False):
            yield replace(success, maximum=upper_bound.maximum, interval=interval)


def average_successes(recipient: Recipient, swept: Result) -> Iterator[Success]:
    """Yield the expected success of what is known with chances, from a sweep of all subsets.

    The maximum is the mean over subsets of the greatest success in each: nobody's is greater.
    """
    is_collection = bool(swept.spec.get("collection"))
    names = [plain_name(name) if is_collection else name for name in swept.spec["qids"]]
    places = list_places(names)
    chances = [recipient.chances.get(name, Fraction(0)) for name in places]
    weights = {  # of each subset, a bit mask
        sum(1 << i for i in list_members(subset, places)): weight
        for subset, weight in independent(recipient.name, chances).weights().items()
    }
    total = sum(weights.values())
    rows = [reading for row in swept.frame.iter_rows(named=True) for reading in readings(row)]
    of_questions: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = {}  # by subset
    for row in rows:
        question = row["model"], row["secret"], row.get("known_records"), row["of_reported"]
        nothing = dict.fromkeys((WORST, AVERAGE), row["prior_probabilistic"])
        of_questions.setdefault(question, {0: nothing})[row["subset"]] = row
    for (model, secret, known_records, of_reported), by_subset in of_questions.items():
        maximum, average = (
            sum(n * by_subset[subset][name] for subset, n in weights.items()) / total
            for name in (WORST, AVERAGE)
        )
        yield Success(
            model=model,
            qids=list(recipient.qids),
            secret=secret,
            maximum=maximum,
            average=average,
            before=by_subset[0][AVERAGE],
            known_records=known_records,
            of_reported=of_reported,
        )


def list_places(names: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of each name: one for each release of a collection that has it."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    return places


def list_members(subset: int, places: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the positions of all names in a subset of names, a bit mask."""
    of_names = list(places.values())
    return [i for n, positions in enumerate(of_names) if subset >> n & 1 for i in positions]


def read_link(result: Result) -> Success:
    """Return the success of links with a register: the journalist's risk and the marketer's."""
    row = result.frame.row(0, named=True)
    maximum, average = row["journalist_risk"] or 0.0, row["marketer_risk"] or 0.0
    return Success(model=LINK, qids=row["qids"], secret=None, maximum=maximum, average=average)
