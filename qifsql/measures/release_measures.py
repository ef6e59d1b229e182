"""Measures of a synthetic release, from whole counts of people and records.

The people of the original are those whom the generator learnt from; those of the control are of
the same population, and it did not learn from them. Every count is of people or records that agree
in their quasi-identifiers. The equations are M114 to M119.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from qifsql.measures.intervals import newcombe, paired, wilson


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
    """Yield Dorig, DiS, DiSCO and DiSDiO, shares of people, and two ratios of them.

    TCAP is the share of those who look like a record of the release, and ``right_when_certain`` of
    those about whom it is certain; NULL if there is nobody.
    """
    yield _share("Dorig", counts.certain_original, counts.people)
    yield _share("DiS", counts.certain, counts.people)
    yield _share("DiSCO", counts.correct, counts.people)
    yield _share("DiSDiO", counts.certain_both, counts.people)
    yield _share("TCAP", counts.correct, counts.present)
    yield _share("right_when_certain", counts.correct, counts.certain)


def guesses(counts: Guesses) -> Iterator[Measure]:
    """Yield the success of who learns from the release, of who does not, and their differences.

    Success has Wilson's interval, individual leak and population knowledge have Newcombe's. Those
    of the control are left out without a control.
    """
    yield _guessed("success_original", counts.right, counts.people)
    yield _share("prior_original", counts.prior, counts.people)
    if not counts.control:
        return
    right, control = float(counts.control_right), counts.control
    yield _guessed("success_control", counts.control_right, control)
    yield _share("prior_control", counts.control_prior, control)
    success = counts.control_right / control
    low, high = newcombe(float(counts.right), counts.people, right, control)
    leak = float(counts.right / counts.people - success)
    yield Measure(name="individual_leak", value=leak, low=low, high=high)
    low, high = paired(right, counts.control_prior, float(counts.control_both), control)
    gain = float(success - Fraction(counts.control_prior, control))
    yield Measure(name="population_knowledge", value=gain, low=low, high=high)


def _share(name: str, count: int, people: int) -> Measure:
    value = count / people if people else None
    return Measure(name=name, value=value, count=count, people=people)


def _guessed(name: str, right: Fraction, people: int) -> Measure:
    low, high = wilson(float(right), people)
    count = int(right) if right.denominator == 1 else None
    value = float(right / people)
    return Measure(name=name, value=value, low=low, high=high, count=count, people=people)
