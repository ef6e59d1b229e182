"""Measures of a synthetic release, from whole counts of people and records.

The people of the original are those whom the generator learnt from; those of the control are of
the same population, and it did not learn from them. Every count is of people or records that agree
in their quasi-identifiers. The equations are M114 to M123 and M134 to M136.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from qifsql.measures.intervals import excess, newcombe, paired, wilson

OF_RELEASE = ("UiO", "UiS", "UiOiS", "repU", "iS")
OF_SECRET = ("Dorig", "DiS", "DiSCO", "DiSDiO", "TCAP", "right_when_certain")
OF_GUESSES = ("success_original", "prior_original", "success_control", "prior_control")
DIFFERENCES = ("individual_leak", "population_knowledge")
OF_PREDICATES = tuple(
    f"singling_out_{which}{end}" for which in ("one", "all") for end in ("", "_control", "_risk")
)
OF_CLASSIFIERS = (
    *("classifier_original", "rapid_original"),
    *("classifier_control", "rapid_control", "classifier_leak"),
)
OF_LINKS = ("linkability", "linkability_chance", "linkability_control", "linkability_risk")
OF_ATTEMPTS = tuple(f"singling_out_some{end}" for end in ("", "_control", "_risk"))
OF_NEAREST = tuple(f"linkability_nearest{end}" for end in ("", "_chance", "_control", "_risk"))
OF_QUESTIONS = (*OF_PREDICATES, *OF_ATTEMPTS, *OF_LINKS, *OF_NEAREST, "inference_risk")
OF_DISTANCES = (
    *("distance_zero", "distance_original", "nearest_ratio"),
    *("distance_control", "nearer_original", "nearer_by_chance"),
)
ABOUT_SECRETS = (*OF_SECRET, *OF_GUESSES, *DIFFERENCES, *OF_CLASSIFIERS, "inference_risk")
"""Measures that have a value for each secret."""
OF_CONTROL = (
    *("success_control", "prior_control", "distance_control", "nearer_original"),
    *("nearer_by_chance", *DIFFERENCES, "classifier_control", "rapid_control", "classifier_leak"),
    *(name for name in OF_QUESTIONS if name.endswith(("_control", "_risk"))),
)
"""Measures that need a control."""
OF_GROUPS = (
    *(name for name in OF_RELEASE if name != "UiS"),
    *(*OF_SECRET, *OF_GUESSES, "individual_leak"),
)
"""Measures that groups of people have, too."""


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """People of the original and records of the release, alone or together in their block.

    ``uniques`` people are alone in their block of the original, ``unique_records`` records in that
    of the release. Of the uniques, ``uniques_present`` have a record in the release that looks
    alike, ``replicated`` exactly one. ``present`` people have a record that looks alike.
    """

    people: int
    records: int
    uniques: int
    unique_records: int
    uniques_present: int
    replicated: int
    present: int


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """People whose block has one value of the secret.

    ``certain_original``: in the original. ``certain``: in the release; of these, ``correct`` people
    have that value, and ``certain_both`` are in a block of the original with one value, too.
    """

    people: int
    present: int
    certain_original: int
    certain: int
    correct: int
    certain_both: int


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """People about whom the best guess of the release is right; ties are shared.

    ``prior`` is the number of the people with the most frequent value among them. ``control_both``
    counts the people of the control about whom this constant guess is right, too. ``control`` is
    the number of the people of the control, 0 without one.
    """

    people: int
    right: Fraction
    prior: int
    control: int
    control_right: Fraction
    control_prior: int
    control_both: Fraction


@dataclass(frozen=True, kw_only=True)
class Predicates:
    """A ``number`` of predicates that single out a record of the release.

    Each is true for ``original`` people of the original and ``control`` people of the control.
    """

    original: int
    control: int
    number: int


@dataclass(frozen=True, kw_only=True)
class Links:
    """People whose two halves are linked by the release; draws are shared."""

    people: int
    right: Fraction
    control: int
    control_right: Fraction
    records: int


@dataclass(frozen=True, kw_only=True)
class LinkKind:
    """People with the same numbers of nearest records of both halves, and of common ones.

    ``original`` drawn people of the original and ``control`` ones of the control. Of each half some
    records are nearest for sure, and the others are drawn among those that are equally far
    (``ties``). In common are records that are nearest to both for sure (``both_sure``), to the
    second for sure and tied for the first (``first_tied``), and so on.
    """

    first_sure: int
    first_ties: int
    second_sure: int
    second_ties: int
    both_sure: int
    first_tied: int
    second_tied: int
    both_tied: int
    original: int
    control: int


@dataclass(frozen=True, kw_only=True)
class Distances:
    """Records drawn from the release, and how far the nearest people are, from 0 to 1.

    ``equal`` records equal a person of the original. ``original``, ``control`` and ``ratio`` are
    medians; None where there is nobody. ``nearer`` records are nearer to the original than to the
    control, ties shared, and ``chance`` is the expected share if the release knew neither.
    """

    records: int
    equal: int
    original: float
    control: float | None
    ratio: float | None
    nearer: float
    chance: float


@dataclass(frozen=True, kw_only=True)
class Classified:
    """People about whom a classifier taught by the release is right, or confident (RAPID)."""

    people: int
    right: Fraction
    confident: int
    control: int
    control_right: Fraction
    control_confident: int


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure: its name, its value, its interval, and the count and number it is a share of."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    count: int | None = None
    people: int | None = None


def overlap(counts: Overlap) -> Iterator[Measure]:
    """Yield UiO, UiS, UiOiS, repU and iS, shares of people; UiS is one of records."""
    yield _share("UiO", counts.uniques, counts.people)
    yield _share("UiS", counts.unique_records, counts.records)
    yield _share("UiOiS", counts.uniques_present, counts.people)
    yield _share("repU", counts.replicated, counts.people)
    yield _share("iS", counts.present, counts.people)


def disclosure(counts: Disclosure) -> Iterator[Measure]:
    """Yield shares of people whose block has one value of the secret, so that it is certain.

    Of all people: in the original (Dorig), in the release (DiS), there rightly (DiSCO), and in both
    files (DiSDiO). Those of DiSCO, of people who look like a record of the release (TCAP), and of
    those of DiS (``right_when_certain``); NULL if there is nobody.
    """
    yield _share("Dorig", counts.certain_original, counts.people)
    yield _share("DiS", counts.certain, counts.people)
    yield _share("DiSCO", counts.correct, counts.people)
    yield _share("DiSDiO", counts.certain_both, counts.people)
    yield _share("TCAP", counts.correct, counts.present)
    yield _share("right_when_certain", counts.correct, counts.certain)


def guesses(counts: Guesses) -> Iterator[Measure]:
    """Yield the success of guesses with the release and without it, and their differences.

    Success has Wilson's interval, individual leak and population knowledge have Newcombe's. Those
    of the control are left out without a control.
    """
    yield _estimated("success_original", counts.right, counts.people)
    yield _share("prior_original", counts.prior, counts.people)
    if not counts.control:
        return
    right, control = counts.control_right, counts.control
    yield _estimated("success_control", right, control)
    yield _share("prior_control", counts.control_prior, control)
    yield _leak("individual_leak", counts)
    low, high = paired(float(right), counts.control_prior, float(counts.control_both), control)
    gain = float(right / control - Fraction(counts.control_prior, control))
    yield Measure(name="population_knowledge", value=gain, low=low, high=high)


def singling_out(
    name: str, predicates: Iterable[Predicates], people: int, control: int
) -> Iterator[Measure]:
    """Yield the share of predicates that single out a person, and its excess over the control.

    ``people`` are in the original, ``control`` in the control (0: there is none). The share depends
    on the number of people, so the excess compares equal numbers: of the larger file as many people
    as the smaller one has, expected over all draws of them. ``name`` begins all names of measures.
    """
    kinds = list(predicates)
    number = sum(p.number for p in kinds)
    yield _estimated(name, sum(p.number for p in kinds if p.original == 1), number)
    if not control:
        return
    yield _estimated(f"{name}_control", sum(p.number for p in kinds if p.control == 1), number)
    draws = min(people, control)
    expected = math.fsum(p.number * one_of(p.original, people, draws) for p in kinds)
    expected_control = math.fsum(p.number * one_of(p.control, control, draws) for p in kinds)
    yield _excess(f"{name}_risk", expected, number, expected_control, number)


def one_of(some: int, people: int, draws: int) -> float:
    """Return the chance that exactly one of ``some`` people is among ``draws`` of ``people``."""
    if not some:
        return 0.0
    chance = some * draws / people  # one is drawn, times the chance that the others are not
    for i in range(some - 1):
        chance *= max(0, people - draws - i) / (people - 1 - i)
        if chance < 1e-18:  # too little to matter
            return 0.0
    return chance


def linkability(links: Links) -> Iterator[Measure]:
    """Yield the share of people whose halves are linked, by chance, and beyond the control."""
    yield _estimated("linkability", float(links.right), links.people)
    yield Measure(name="linkability_chance", value=1 / links.records)
    if not links.control:
        return
    yield _estimated("linkability_control", float(links.control_right), links.control)
    yield _excess_of("linkability_risk", links)


def nearest_linkability(
    kinds: Iterable[LinkKind], *, records: int, neighbours: int
) -> Iterator[Measure]:
    """Yield the share of drawn people linked by nearest records, by chance, beyond the control.

    ``neighbours`` is how many of the ``records`` of the release count as nearest to each half of a
    person's values. By chance, two draws of so many records share one. Without a control, its
    measures are left out.
    """
    chances = [(kind, linked(kind, neighbours)) for kind in kinds]
    people, control_people = sum(k.original for k, _ in chances), sum(k.control for k, _ in chances)
    right = sum((k.original * chance for k, chance in chances), Fraction())
    name = "linkability_nearest"
    yield _estimated(name, right, people)
    apart = Fraction(math.comb(records - neighbours, neighbours), math.comb(records, neighbours))
    yield Measure(name=f"{name}_chance", value=float(1 - apart))
    if not control_people:
        return
    control_right = sum((k.control * chance for k, chance in chances), Fraction())
    yield _estimated(f"{name}_control", control_right, control_people)
    yield _excess(f"{name}_risk", float(right), people, float(control_right), control_people)


def linked(kind: LinkKind, neighbours: int) -> Fraction:
    """Return the chance that the nearest records of both halves have one in common (M136).

    The ``neighbours`` of a half are the records that are so for sure, and a draw of its ties.
    """
    if kind.both_sure:
        return Fraction(1)
    # How many of the ties of each half are drawn.
    first_draws, second_draws = neighbours - kind.first_sure, neighbours - kind.second_sure
    # Ties of the first half that are no neighbours of the second, whatever is drawn.
    first_only = kind.first_ties - kind.first_tied - kind.both_tied
    apart = 0  # pairs of draws with nothing in common
    for n in range(min(first_draws, kind.both_tied) + 1):  # of ``both_tied`` in the first draw
        first_ways = math.comb(kind.both_tied, n) * math.comb(first_only, first_draws - n)
        # The second draw avoids those, and what is surely a neighbour of the first half.
        second_ways = math.comb(kind.second_ties - kind.second_tied - n, second_draws)
        apart += first_ways * second_ways
    first_all = math.comb(kind.first_ties, first_draws)
    return 1 - Fraction(apart, first_all * math.comb(kind.second_ties, second_draws))


def inference(counts: Guesses) -> Iterator[Measure]:
    """Yield the success of guesses beyond the control; nothing without a control."""
    if counts.control:
        yield _excess_of("inference_risk", counts)


def classified(counts: Classified) -> Iterator[Measure]:
    """Yield the success and RAPID of a classifier, and how much better it is than on the control.

    Success and RAPID have Wilson's interval, the leak has Newcombe's. Those of the control are left
    out without a control.
    """
    yield _estimated("classifier_original", counts.right, counts.people)
    yield _estimated("rapid_original", counts.confident, counts.people)
    if not counts.control:
        return
    yield _estimated("classifier_control", counts.control_right, counts.control)
    yield _estimated("rapid_control", counts.control_confident, counts.control)
    yield _leak("classifier_leak", counts)


def distances(counts: Distances, *, has_control: bool) -> Iterator[Measure]:
    """Yield the distances of drawn records, and the share nearer to the original."""
    n = counts.records
    yield _share("distance_zero", counts.equal, n)
    yield Measure(name="distance_original", value=counts.original, people=n)
    yield Measure(name="nearest_ratio", value=counts.ratio, people=n)
    if has_control:
        yield Measure(name="distance_control", value=counts.control, people=n)
        yield _estimated("nearer_original", counts.nearer, n)
        yield Measure(name="nearer_by_chance", value=counts.chance)


def _estimated(name: str, right: float | Fraction, people: int) -> Measure:
    """Return the share ``right`` of ``people`` with Wilson's interval; NULL for a share of nobody.

    The measure has a count unless it is a fraction of a person, where ties are shared, or a float.
    """
    if not people:
        return Measure(name=name, value=None, people=0)
    low, high = wilson(float(right), people)
    is_count = isinstance(right, int | Fraction) and right.denominator == 1
    count, value = int(right) if is_count else None, float(right / people)
    return Measure(name=name, value=value, low=low, high=high, count=count, people=people)


def _excess(
    name: str, right: float, people: int, control_right: float, control_people: int
) -> Measure:
    """Return (p - q) / (1 - q) for the success p and that of the control q, with its interval.

    It is NULL if there is nobody, or if q is 1.
    """
    interval = None
    if people and control_people:
        interval = excess(right, people, control_right, control_people)
    if interval is None:
        return Measure(name=name, value=None)
    p, q = right / people, control_right / control_people
    value, (low, high) = (p - q) / (1 - q), interval
    return Measure(name=name, value=value, low=min(low, value), high=max(high, value))


def _excess_of(name: str, counts: Guesses | Links) -> Measure:
    """Return the excess of guesses over those about a control (see ``_excess``)."""
    right, control_right = float(counts.right), float(counts.control_right)
    return _excess(name, right, counts.people, control_right, counts.control)


def _leak(name: str, counts: Guesses | Classified) -> Measure:
    """Return the success on the original beyond that on the control, with Newcombe's interval."""
    right, control_right = counts.right, counts.control_right
    low, high = newcombe(float(right), counts.people, float(control_right), counts.control)
    value = float(right / counts.people - control_right / counts.control)
    return Measure(name=name, value=value, low=low, high=high)


def _share(name: str, count: int, people: int) -> Measure:
    """Return the measure of so many of the people, without a value if there are none."""
    value = count / people if people else None
    return Measure(name=name, value=value, count=count, people=people)
