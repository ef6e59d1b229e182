"""Claims of an adversary who learns from a release and is sure of some people."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.errors import InputError
from qifsql.reference.microdata import order_key
from qifsql.reference.sure_claims import Claims
from qifsql.reference.synthetic_releases import File, alike, chance

THRESHOLDS = (0, 0.5, 0.75, 1)
CELLS = st.sampled_from((None, "x", "y"))
FILES = st.lists(st.tuples(st.tuples(CELLS, CELLS), CELLS), min_size=1, max_size=12)


def claims(train: File, people: File, threshold: float) -> Claims:
    """The people whose best guess is at least so frequent among the records alike."""
    counts = Counter(secret for _, secret in people)
    usual = min((v for v in counts if counts[v] == max(counts.values())), key=order_key)
    named = []
    for person in people:
        secrets = alike(train, person[0])
        most = max(Counter(secrets).values())
        if Fraction(most, len(secrets)) >= Fraction(threshold):
            named.append(person)
    right = sum((chance(train, person) for person in named), Fraction())
    before = Fraction(sum(secret == usual for _, secret in named))
    n = len(named)
    return Claims(n, Fraction(len(people)), Fraction(n), right, before)


def table(file: File) -> pa.Table:
    columns = zip(*((*qids, secret) for qids, secret in file), strict=True)
    return pa.table(
        {name: pa.array(c, pa.string()) for name, c in zip("abs", columns, strict=True)}
    )


def check(lines: list[dict[str, Any]], train: File, people: File) -> None:
    *asked, greatest = lines
    assert [line["threshold"] for line in asked] == [*THRESHOLDS]
    least = greatest["threshold"] * (1 - 2**-52)  # it is rounded
    for line, threshold in zip(lines, (*THRESHOLDS, least), strict=True):
        expected = claims(train, people, threshold)
        assert line["claims"] == expected.people
        assert line["right"] == pytest.approx(float(expected.right))
        for name in ("precision", "coverage", "precision_before"):
            number = getattr(expected, name)
            assert line[name] == (None if number is None else pytest.approx(float(number)))
        assert line["alc"] == pytest.approx(expected.loss, abs=1e-9)
    assert greatest["greatest"]
    assert greatest["alc"] >= max(line["alc"] for line in asked if line["claims"]) - 1e-12


@settings(max_examples=examples(100), deadline=None)
@given(FILES, FILES)
def test_claims_are_made_on_the_release_and_paid_on_people(people: File, train: File) -> None:
    """In a synthetic release, and in an attack that learns from another file."""
    about: dict[str, Any] = {"qids": "a,b", "secret": "s", "thresholds": THRESHOLDS}
    measured = qifsql.synthetic(table(people), table(train), **about)
    check(measured.details["sure"].to_dicts(), train, people)
    learned = qifsql.attack("cas", table(people), learn=table(train), **about)
    check(learned.details["sure"].to_dicts(), train, people)


def test_thresholds_are_about_a_secret() -> None:
    file = table([(("x", "y"), "x")])
    with pytest.raises(InputError, match="about guesses of a secret"):
        qifsql.synthetic(file, file, qids="a,b", thresholds=0.5)
