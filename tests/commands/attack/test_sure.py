"""The adversary who speaks only when she is sure, against her definition."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql import Result
from qifsql.measures import anonymity_loss
from qifsql.reference import people_with_records
from qifsql.reference.sure_claims import Claims, claims

QIDS = ("a", "b")
STARS = ("*", "*")
THRESHOLDS = ("0", "0.25", "0.5", "0.6", "0.75", "1")
TYPES = pa.schema(
    [
        ("a", pa.string()),
        ("b", pa.string()),
        ("s", pa.int64()),
        ("t", pa.string()),
        ("w", pa.int64()),
    ]
)
CELLS = st.sampled_from((None, "*", "x", "y"))
ROW = st.fixed_dictionaries(
    {
        **{"a": CELLS, "b": CELLS, "s": st.sampled_from((None, 1, 2))},
        **{"t": st.sampled_from([None, *"abcdefghijkl"]), "w": st.integers(0, 3)},
    }
)
ROWS = st.lists(ROW, min_size=1, max_size=14)
Row = dict[str, Any]
near = pytest.approx


def attack(rows: Sequence[Row], **options: Any) -> Result:
    table = pa.Table.from_pylist(list(rows), TYPES)
    return qifsql.attack("crs,cas", table, qids=QIDS, thresholds=THRESHOLDS, **options)


def lines(result: Result, row: Row, *, of_reported: bool = False) -> list[Row]:
    table = result.details["sure"]
    return table.filter(attack_id=row["attack_id"], of_reported=of_reported).to_dicts()


def check(line: Row, expected: Claims, *, weighted: bool = False) -> None:
    assert line["claims"] == expected.people
    assert line["right"] == (None if weighted and expected.people else expected.right)
    for name in ("precision", "coverage", "precision_before"):
        number = getattr(expected, name)
        assert line[name] == (None if number is None else near(float(number), rel=1e-12)), name
    assert line["alc"] == near(expected.loss, abs=1e-9)


TIED = [  # blocks of 2, 4 and 10 people; about those of the first two she is equally sure
    {"a": "x", "b": b, "s": None, "t": t, "w": 1}
    for b, values in (("x", "bc"), ("y", "aabd"), (None, "aacdefghij"))
    for t in values
]


@settings(max_examples=examples(200), deadline=None)
@example([{"a": "*", "b": "*", "s": 1, "t": "a", "w": 1}], False, "distinct", "t")
@example(TIED, False, "distinct", "t")
@given(ROWS, st.booleans(), st.sampled_from(("distinct", "drop")), st.sampled_from("st"))
def test_claims_are_those_of_the_definition(
    drawn: list[Row], weighted: bool, null: str, secret: str
) -> None:
    """With suppressed records, weights, missing values, and few or many values of the secret."""
    whole = [r for r in drawn if null == "distinct" or None not in (r["a"], r["b"], r[secret])]
    weights = [r["w"] for r in whole] if weighted else None
    assume(any(r["w"] for r in whole) if weighted else whole)
    options: Row = {"weight": "w"} if weighted else {}
    result = attack(drawn, secret=secret, null=null, **options)
    has_reported = any(r[secret] is not None and (not weighted or r["w"]) for r in whole)
    for row, name in zip(result.rows(), (None, secret), strict=True):
        *asked, greatest = lines(result, row)
        steps = [row["posterior_probabilistic"]]
        for line, threshold in zip(asked, THRESHOLDS, strict=True):
            about: Row = {"weights": weights, "suppressed": [STARS]}
            expected = claims(whole, QIDS, name, Fraction(threshold), **about)
            assert (line["threshold"], line["greatest"]) == (float(threshold), False)
            check(line, expected, weighted=weighted)
        assert greatest["alc"] >= max(line["alc"] for line in asked) - 1e-12
        if not weighted:
            least = Fraction(greatest["threshold"]) * (1 - Fraction(1, 2**52))  # it is rounded
            check(greatest, claims(whole, QIDS, name, least, suppressed=[STARS]))
        assert asked[0]["coverage"] == 1
        assert asked[0]["precision"] == near(steps[0], rel=1e-12)
        assert all(line["alc"] >= -1e-12 for line in asked)
        reported = lines(result, row, of_reported=True)
        counted = [r for r in whole if not weighted or r["w"]]
        misses = name is not None and any(r[name] is None for r in counted) and has_reported
        assert bool(reported) == misses
        if misses:
            those = [r for r in whole if r[secret] is not None]
            of_those = [r["w"] for r in those] if weighted else None
            for line, threshold in zip(reported, THRESHOLDS, strict=False):
                about = {"weights": of_those, "suppressed": [STARS]}
                expected = claims(those, QIDS, name, Fraction(threshold), **about)
                check(line, expected, weighted=weighted)


@settings(max_examples=examples(100), deadline=None)
@given(ROWS)
def test_claims_about_people_with_several_records(drawn: list[Row]) -> None:
    """All records of a person are known (w is whose they are); a secret is all of her values."""
    rows = [{n: "!" if v == "*" else v for n, v in r.items()} for r in drawn]
    result = attack(rows, secret="s", person="w")
    assert set(result.details["sure"]["attack_id"]) == {
        row["attack_id"] for row in result.rows() if row["known_records"] == "all"
    }
    for row in result.frame.filter(known_records="all").to_dicts():
        people = people_with_records.all_known(rows, "w", QIDS, row["secret"])
        for of_reported in (False, True):
            secret = "reported" if of_reported else "secret"
            those = [p for p in people if not of_reported or p["reported"] is not None]
            found = lines(result, row, of_reported=of_reported)
            counts = Counter(p[secret] for p in those).most_common()
            for line, threshold in zip(found, THRESHOLDS, strict=False):
                expected = claims(those, ["known"], secret, Fraction(threshold))
                assert (line["claims"], line["right"]) == (expected.people, expected.right)
                if row["secret"] is None:
                    assert line["claims"] == 0 or line["precision_before"] == near(1 / len(people))
                elif len(counts) == 1 or counts[0][1] > counts[1][1]:  # no ties
                    check(line, expected)


def test_coefficients_are_those_of_the_paper() -> None:
    """Precision counts less, the fewer are named; nothing is lost where nothing can be."""
    table = pl.DataFrame(
        {
            "p": [1.0, 1.0, 0.5, 1.0, 0.9],
            "b": [0.0, 1.0, 0.5, 0.0, 0.1],
            "r": [1.0, 1.0, 0.1, 1e-4, 1e-2],
        }
    )
    found = table.select(anonymity_loss.loss(*map(pl.col, "pbr"))).to_series().to_list()
    after, before = 0.9 * (1 - 0.5**3), 0.1 * (1 - 0.5**3)
    assert found == near([1, 0, 0, 0, (after - before) / (1 - before)])


def test_coefficients_are_those_of_the_program_of_the_paper() -> None:
    """Version 1.0.32 rounds the coefficients, and their loss, to four places."""
    program = pytest.importorskip("anonymity_loss_coefficient").AnonymityLossCoefficient()
    shares = [0.0, 0.2, 0.5, 0.97, 1.0]
    recalls = [1e-6, 1e-4, 2e-4, 1e-3, 0.05, 0.5, 1.0]
    rows = [(p, b, r) for p in shares for b in shares for r in recalls if b <= p and b < 1]
    table = pl.DataFrame(rows, schema=["p", "b", "r"], orient="row")
    found = table.select(anonymity_loss.loss(*map(pl.col, "pbr"))).to_series()
    for (p, b, r), loss in zip(rows, found, strict=True):
        theirs = program.alc(p_base=b, r_base=r, p_attack=p, r_attack=r)
        rounded = 1e-4 / (1 - program.prc(b, r))
        assert loss == near(theirs, abs=1e-4 + rounded)


def test_a_curve_has_whole_percents() -> None:
    """Each chance of i in 100 is a step of its own, at the number that is written so."""
    rows = [
        {"chance": i / 100, "people": 1, "weight": 1, "correct": 1, "usual": 0} for i in range(101)
    ]
    steps = pl.DataFrame(rows).with_columns(usual_share=None, q=0)
    table = anonymity_loss.by_percent(anonymity_loss.curve(steps, ["q"]), ["q"])
    found = table.select("threshold", "claims").rows()
    assert found == [(i / 100, 101 - i) for i in range(101)]


def test_the_first_page_of_a_report_says_whom_she_names(tmp_path: Path) -> None:
    """Of 40 people in a block, 38 share a value; the others are in blocks of two."""
    values = [("x", int(i < 2)) for i in range(40)] + [
        (str(n), i) for n in range(30) for i in (0, 1)
    ]
    rows = [{"a": a, "s": s} for a, s in values]
    result = qifsql.attack(
        "cas", pa.Table.from_pylist(rows), qids="a", secret="s", thresholds=[0.5, 0.9]
    )
    path = result.save(tmp_path / "risk.json")
    texts = {
        "en": "When at least 90 % sure, the adversary names 40 people and is right about 38 of",
        "pt-BR": "Com pelo menos 90 % de certeza, o adversário aponta 40 pessoas e acerta 38",
    }
    for language, text in texts.items():
        done = run("report", path, "-o", tmp_path / "r.html", "--lang", language)
        assert done.code == 0, done.err
        page = (tmp_path / "r.html").read_text("utf-8")
        assert text in page[: page.index('id="annexes"')]
