"""Compatibility: the records of a release that may be a person's, one by one (M196, M200)."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Cell = Callable[[Any], bool]  # whether a cell contains a raw value
Cells = Sequence[Sequence[Cell]]  # those of each record
Raw = Sequence[Sequence[Any]]  # the raw values of each person


def containing(raw: Sequence[Any], records: Cells) -> list[int]:
    """Return the numbers of the records whose cells contain the values of a person."""
    return [
        i
        for i, cells in enumerate(records)
        if all(cell(value) for cell, value in zip(cells, raw, strict=True))
    ]


def find(
    people: Raw, records: Cells, secrets: Sequence[Hashable], places: Sequence[int | None] | None
) -> dict[str, Any]:
    """Return what people find in a release: the records whose cells contain their values (M196).

    ``people`` have raw values, ``records`` a cell for each and ``secrets`` one each. ``places`` has
    the number of each person's record (None: she has none); without it nothing tells whose it is.
    The keys are those of a row of ``qifsql compare`` in the view ``compatible``, and for inference
    the same with ``cas_``; ``believed`` is the success if every record found may be one's own.
    """
    candidates = [set(containing(raw, records)) for raw in people]
    return _success(candidates, places, dict(enumerate(secrets)), range(len(people)))


def find_people(
    people: Raw,
    persons: Sequence[Hashable],
    records: Cells,
    owners: Sequence[Hashable],
    secrets: Sequence[Hashable],
) -> dict[str, Any]:
    """Return what is found with one record of a person who may have several (M200).

    Candidates are the people who have a record in the release whose cells contain its values.
    ``persons`` names the person of each record in ``people``, ``owners`` that of each record of the
    release; None is a different, unknown person each time. The secret of a person is the multiset
    of the secrets of her records in the release. For the result see ``find``.
    """
    named = [("alone", i) if name is None else ("named", name) for i, name in enumerate(owners)]
    values: dict[Hashable, Counter[Hashable]] = {}
    for name, secret in zip(named, secrets, strict=True):
        values.setdefault(name, Counter())[secret] += 1
    candidates = [{named[i] for i in containing(raw, records)} for raw in people]
    names = [("named", name) if ("named", name) in values else None for name in persons]
    multisets = {name: frozenset(counter.items()) for name, counter in values.items()}
    alone = [("alone", i) if name is None else name for i, name in enumerate(persons)]
    return _success(candidates, names, multisets, alone)


def _success(
    candidates: Sequence[set[Any]],
    names: Sequence[Any] | None,
    secrets: Mapping[Any, Any],
    people: Sequence[Hashable],
) -> dict[str, Any]:
    """Return the success of people who know their own values, record by record.

    ``candidates`` has for each of their records the names of the records, or people, of the release
    that it may be, ``names`` the true one (None: it is not in the release). ``secrets`` has the
    secret of every name, ``people`` says whose each record is.
    """
    is_there = [names is None or names[i] is not None for i, _ in enumerate(candidates)]
    fits = [bool(c) if names is None else names[i] in c for i, c in enumerate(candidates)]
    chances = [Fraction(fit, len(c) or 1) for c, fit in zip(candidates, fits, strict=True)]
    sizes = [len(c) for c, there in zip(candidates, is_there, strict=True) if c and there]
    misled = [there and not fit for there, fit in zip(is_there, fits, strict=True)]
    release = Counter(secrets.values())  # the secrets in the release
    candidate_secrets = [Counter(secrets[name] for name in c) for c in candidates]
    best = [Fraction(max(c.values(), default=0), c.total() or 1) for c in candidate_secrets]
    return {
        "records": len(candidates),
        "people": len(set(people)),
        "k": min(sizes, default=0),
        "singled_out": _different(people, [len(c) == 1 for c in candidates]),
        "candidates": _mean([len(c) for c in candidates]),
        "prior_deterministic": _mean([there and len(secrets) == 1 for there in is_there]),
        "posterior_deterministic": _mean([chance == 1 for chance in chances]),
        "prior_probabilistic": _mean([Fraction(there, len(secrets)) for there in is_there]),
        "posterior_probabilistic": _mean(chances),
        "worst_case": max(chances),
        "misled": None if names is None else _different(people, misled),
        "believed": _mean([Fraction(bool(c), len(c) or 1) for c in candidates]),
        "cas_prior_deterministic": Fraction(len(release) == 1),
        "cas_prior_probabilistic": Fraction(max(release.values()), release.total()),
        "cas_posterior_deterministic": _mean([len(c) == 1 for c in candidate_secrets]),
        "cas_posterior_probabilistic": _mean(best),
        "cas_worst_case": max(best),
        "individuals_certain": _different(people, [len(c) == 1 for c in candidate_secrets]),
    }


def _mean(numbers: Sequence[Fraction | int]) -> Fraction:
    return sum(map(Fraction, numbers), Fraction()) / len(numbers)


def _different(people: Sequence[Hashable], chosen: Sequence[bool]) -> int:
    """Return how many people have a ``chosen`` record."""
    return len({person for person, is_chosen in zip(people, chosen, strict=True) if is_chosen})
