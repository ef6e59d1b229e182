"""Encodings of generalised cells: the examples of the DIT paper, and naive Bayes by the book.

Sources: DIT paper, section 3.1 and appendix A.1. Two of its examples are misprinted: 30 becomes 15,
which is 0001111 and not 0001101 (13); [35,55] becomes 45 - 15 = 30, and not 28.
"""

import sys
from collections import Counter
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import BENCHMARKS

AGE = (15, 90)
FIFTHS = [(15, 29), (30, 44), (45, 59), (60, 74), (75, 90)]


def loaded(name: str, path: Path) -> ModuleType:
    """A script as a module of that name."""
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ways() -> ModuleType:
    """The encodings; benchmarks are no part of a source distribution."""
    if not BENCHMARKS.exists():
        pytest.skip("there are no benchmarks here")
    return loaded("naive_bayes", BENCHMARKS / "naive_bayes.py")


@pytest.fixture(scope="module")
def made(ways: ModuleType) -> ModuleType:
    """The experiment, which imports the encodings."""
    assert sys.modules["naive_bayes"] is ways
    return loaded("qifsql_encodings", BENCHMARKS / "encodings.py")


def test_numbers_as_in_the_paper(ways: ModuleType):
    assert ways.scaling((30, 30), *AGE) == (0.2,)
    assert ways.scaling((35, 55), *AGE) == (0.4,)
    assert ways.bounds((35, 55), *AGE) == pytest.approx((0.267, 0.533), abs=5e-4)  # printed 0.534
    assert ways.bounds((30, 30), *AGE) == (0.2, 0.2)
    assert ways.binary((30, 30), *AGE) == (0, 0, 0, 1, 1, 1, 1)  # printed 0001101
    assert ways.binary((35, 55), *AGE) == (0, 0, 1, 1, 1, 1, 0)  # printed 0011100, which is 28
    assert ways.quantiles((35, 55), FIFTHS) == (0, 1, 1, 0, 0)


def test_categories_as_in_the_paper(ways: ModuleType):
    male, female = frozenset(["Male"]), frozenset(["Female"])
    both = male | female
    values, cells = ["Male", "Female"], [male, female, both]
    assert [ways.hot(cell, values) for cell in cells] == [(1, 0), (0, 1), (1, 1)]
    assert [ways.binary_after(cell, cells) for cell in cells] == [(0, 1), (1, 0), (1, 1)]
    assert [ways.hot_after(cell, cells) for cell in cells] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert ways.binary_after(male, [both]) == (0,)  # not in the release
    assert ways.hot_after(male, [both]) == (0,)


def test_true_and_false_as_in_the_paper(ways: ModuleType):
    """Section 3.1: of (16, Male, France) two records become (1, 0, 1) and (0, 1, 0)."""
    target = (16, "Male", "France")
    first = ((15, 25), frozenset(["Female"]), frozenset(["France", "Germany"]))
    second = ((17, 20), frozenset(["Male"]), frozenset(["Italy", "Germany"]))
    for record, bits in ((first, (1, 0, 1)), (second, (0, 1, 0))):
        assert tuple(map(ways.true_false, record, target)) == bits
    own = tuple(ways.true_false(ways.single(v), v) for v in target)
    assert own == (1, 1, 1)  # the target encodes to all ones


@given(st.lists(st.integers(-5, 20), min_size=1, max_size=30))
def test_quantiles_cover_every_value_once(ways: ModuleType, values: list[int]):
    parts = ways.parts_of(values)
    assert 1 <= len(parts) <= ways.QUANTILES
    for v in values:
        assert sum(ways.quantiles((v, v), parts)) == 1


RECORD = st.tuples(
    st.sampled_from([0, 1, 2, 5]), st.integers(0, 3), st.sampled_from("abc"), st.sampled_from("xyz")
)
HOWS = st.tuples(
    st.sampled_from(["Scaling", "Bounds", "Binary", "QuantilesA", "TF"]),
    st.sampled_from(["Hot", "Binary", "HotA", "TF"]),
)


def tables_of(made: ModuleType, records: list[Any]) -> Any:
    """Records (number, width of its interval, category, secret); sets have the first category."""
    number, width, category, secret = zip(*records, strict=True)
    table = pl.DataFrame({"n": number, "c": category, "s": secret})
    cells = {
        "n": [(a, a + w) for a, w in zip(number, width, strict=True)],
        "c": [frozenset([c, category[0]]) for c in category],
    }
    return made.Tables(table, cells, "s")


def by_the_book(made: ModuleType, tables: Any, how: dict[str, str], i: int) -> dict[str, Fraction]:
    """Bernoulli naive Bayes with alpha 1 and a fitted prior, in fractions, feature by feature."""
    rows: list[list[int]] = [[] for _ in tables.secret]
    mine: list[int] = []
    for name, way in how.items():
        value = tables.table[name][i]
        if way == "TF":
            bits = [[made.true_false(cell, value)] for cell in tables.cells[name]]
            mine.append(1)
        else:
            encode = tables.encoder(name, way)
            bits = [[int(x > 0) for x in encode(cell)] for cell in tables.cells[name]]
            mine += [int(x > 0) for x in encode(made.single(value))]
        rows = [row + more for row, more in zip(rows, bits, strict=True)]
    found = {}
    for c, n in Counter(tables.secret).items():
        own = [row for row, s in zip(rows, tables.secret, strict=True) if s == c]
        chance = Fraction(n, len(rows))
        for f, bit in enumerate(mine):
            one = Fraction(sum(row[f] for row in own) + 1, n + 2)
            chance *= one if bit else 1 - one
        found[c] = chance
    return {c: p / sum(found.values()) for c, p in sorted(found.items())}


@settings(max_examples=examples(60))
@given(st.lists(RECORD, min_size=2, max_size=8), HOWS, st.data())
def test_the_closed_form_is_naive_bayes(
    made: ModuleType, records: list[Any], ways: tuple[str, str], data: st.DataObject
):
    tables = tables_of(made, records)
    if len(set(tables.table["n"])) == 1:
        return  # nothing can be rescaled
    i = data.draw(st.integers(0, len(records) - 1))
    how = dict(zip("nc", ways, strict=True))
    book = by_the_book(made, tables, how, i)
    found = made.closed(tables, how, i)
    assert found == pytest.approx(list(map(float, book.values())), rel=1e-12)


@pytest.mark.slow(because="1.8 s; every recorded mutant dies without it")
def test_scikit_learn_says_the_same(made: ModuleType):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    records = [(i * i % 11, i % 4, "abc"[i % 3], "xyz"[i * 5 % 7 % 3]) for i in range(60)]
    tables = tables_of(made, records)
    for number in ("Scaling", "Bounds", "Binary", "QuantilesA", "TF"):
        for category in ("Hot", "Binary", "HotA", "TF"):
            made.held(tables, {"n": number, "c": category})
    accuracy = made.guessed(tables, {"n": tables.of("n", "TF")[0], "c": tables.of("c", "TF")[0]})
    assert 0 < accuracy <= 1


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_the_24_encodings_have_the_features_of_the_paper(made: ModuleType, tmp_path: Path):
    """One feature for each attribute by TF and Scaling, two for the number by Bounds."""
    records = [(i * i % 13, 0, "abc"[i % 3], "xyz"[i % 2]) for i in range(40)]
    number, _, category, secret = zip(*records, strict=True)
    table = pl.DataFrame({"n": number, "c": category, "s": secret})
    data = made.Data("t", ("n",), ("c",), "s")
    cut = made.cut_before(table, data)
    tables = made.Tables(table, made.released(table, data, 5, tmp_path), "s")
    before = made.Tables(cut, made.released(cut, data, 5, tmp_path), "s")
    found = {pair: n for pair, (_, n, _) in made.encodings(data, tables, before).items()}
    assert len(found) == 24
    assert found["TF", "TF"] == found["Scaling", "TF"] == found["QuantilesB", "TF"] == 2
    assert found["Bounds", "TF"] == 3
    assert found["Scaling", "Hot"] == 1 + 3
    assert found["Binary", "Hot"] == 4 + 3
