"""Tables of the sources whose microdata are withdrawn: printed numbers agree with each other.

The rows of the thesis are read from its text, which is not in the repository (``seeds`` below the
folder of ``QIFSQL_SHARED``).
"""

import re
from itertools import groupby, permutations
from math import isclose
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from lint.equations import LINE
from places import ROOT

import qifsql

ROW = re.compile(r"^(?:\d+\t)?([^\t\n]+)\t([\d.]+)%\t([\d.]+)%\t([\d.]+)%\t([\d. ]+)$", re.M)
CAPTION = re.compile(r"^Table ([\w.]+): ", re.M)
PRIOR = re.compile(r"a priori</i> success ([\d.]+)%\t*$", re.M)
PEOPLE = {  # one record each
    "4.4": 48_176_423,  # School Census of 2018
    "5.5": 49_491_319,  # of 2014
    "E.3": 47_640_822,  # of 2019
    "F.3": 10_811_601,  # Higher Education Census of 2018
    "F.6": 11_038_074,  # of 2019
    "F.21": 9_773_350,  # of 2014
}
ATTRIBUTE_INFERENCE = ("4.7", "4.8", "5.8", "E.6", "E.7", "F.9", "F.10", "F.14", "F.15", "F.24")


class Row(NamedTuple):
    """A row of a result table: what is known, both successes in percent, both degradations."""

    table: str
    known: frozenset[str]
    certain: float
    certain_gain: float
    guess: str
    ratio: float
    prior: str


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[Row]:
    """The 175 rows of the thesis' result tables."""
    texts = [path.read_text("utf-8") for path in (shared / "seeds").glob("001_*.txt")]
    if not texts:
        pytest.skip("the text of the thesis is not in the shared folder")
    found, prior = [], ""
    marks = sorted(
        ((m.start(), p, m) for p in (ROW, CAPTION, PRIOR) for m in p.finditer(texts[0])),
        key=lambda mark: mark[0],
    )
    waiting: list[tuple[str, re.Match[str]]] = []
    for _, pattern, match in marks:
        if pattern is PRIOR:
            prior = match[1]
        elif pattern is ROW:
            waiting.append((prior, match))
        else:
            for before, row in waiting:
                known, certain, gain, guess, ratio = row.groups()
                named = frozenset(known.upper().replace("TPSEXO", "TP_SEXO").split(", "))
                number = float(ratio.replace(" ", ""))
                found.append(
                    Row(match[1], named, float(certain), float(gain), guess, number, before)
                )
            waiting = []
    return found


def half(text: str) -> float:
    """Half a unit of the last digit of a printed number."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def test_the_thesis_has_175_rows_of_results(rows: list[Row]) -> None:
    tables = {table: len([*some]) for table, some in groupby(rows, key=lambda row: row.table)}
    assert tables.keys() == {*PEOPLE, *ATTRIBUTE_INFERENCE}
    assert len(rows) == sum(tables.values()) == 175
    assert all(row.certain == row.certain_gain for row in rows)  # nobody is certain before


def test_ratios_of_the_thesis_are_those_of_its_shares(rows: list[Row]) -> None:
    """Re-identification multiplies 1/|D| by the number of blocks; Table 5.5 has 4.24 for 4.25."""
    wrong = set()
    for row in rows:
        guess, step = float(row.guess) / 100, half(row.guess) / 100
        if row.table in PEOPLE:
            agrees = abs(row.ratio / PEOPLE[row.table] - guess) <= step * 1.001
            assert row.certain / 100 <= guess + step <= (1 + row.certain / 100) / 2 + 2 * step
        else:
            prior, near = float(row.prior) / 100, half(row.prior) / 100
            low, high = (guess - step) / (prior + near), (guess + step) / (prior - near)
            agrees = low - 5e-5 <= row.ratio <= high + 5e-5
        wrong |= set() if agrees else {(row.table, row.guess)}
    assert wrong == {("5.5", "4.24")}
    assert round(100 * 2_103_225 / PEOPLE["5.5"], 2) == 4.25


def test_more_knowledge_never_lowers_a_success_of_the_thesis(rows: list[Row]) -> None:
    """But for Table 4.8, whose 32.80 % is copied from Table 4.7."""
    wrong = {
        (few.table, few.certain, many.certain)
        for few, many in permutations(rows, 2)
        if few.table == many.table
        and few.known < many.known
        and (few.certain > many.certain or float(few.guess) > float(many.guess))
    }
    assert wrong == {("4.8", 42.08, 32.80)}
    assert {row.table for row in rows if row.certain == 32.80} == {"4.7", "4.8"}


POPETS_8 = {  # releases: certain CRL, CAL of disability and transport; one try, the same
    "2014": ("1.44", "57.17", "58.07", "4.25", "98.71", "91.64"),
    "2014 to 2015": ("12.88", "79.21", "68.60", "20.08", "99.03", "93.03"),
    "2014 to 2016": ("25.26", "87.59", "75.32", "34.37", "99.30", "94.17"),
    "2014 to 2017": ("36.31", "91.28", "79.92", "45.60", "99.49", "95.07"),
}
MILLIONS = ("0.7 28.3 28.7", "6.4 39.2 34.0", "12.5 43.4 37.3", "18.0 45.2 39.6")
POPETS_7 = {26.63: 12.8, 90.43: 43.6, 65.54: 31.6, 99.67: 48.0, 54.54: 26.3, 98.77: 47.6}
POPETS_11 = {0.048254: 23_200, 0.079773: 38_400, 0.008977: 4_300, 0.041118: 19_800, 0.000023: 11}


def test_popets_table_8_is_that_of_the_thesis(rows: list[Row]) -> None:
    """Tables 5.5 and 5.8 a and b, one after the other."""
    for table, places in (("5.5", (0, 3)), ("5.8", (1, 4)), ("5.8", (2, 5))):
        printed = {
            (*row.known, f"{row.certain:.2f}", row.guess) for row in rows if row.table == table
        }
        for name, shares in POPETS_8.items():
            certain, guess = (shares[place] for place in places)
            same = (name.upper(), certain, "4.24" if guess == "4.25" else guess)
            assert same in printed


def test_popets_tables_7_8_and_11_have_the_heads_of_their_shares() -> None:
    """But for two of Table 11, which are cut: 6,387 is printed 6,300, and 79.97 is 79."""
    pupils, focal = PEOPLE["4.4"], PEOPLE["5.5"]
    heads = [(share * pupils / 1e8, n) for share, n in POPETS_7.items()]
    for shares, millions in zip(POPETS_8.values(), MILLIONS, strict=True):
        printed = map(float, millions.split())
        heads += zip((float(s) * focal / 1e8 for s in shares[:3]), printed, strict=True)
    near = 0.05 + 0.005 * focal / 1e8  # half a digit of the heads, and of the shares
    assert all(isclose(found, printed, abs_tol=near) for found, printed in heads)
    released = {share: share * pupils / 100 for share in (*POPETS_11, 0.013258, 0.000166)}
    for share, number in POPETS_11.items():
        assert round(released[share], -2 if number > 100 else 0) == number
    assert int(released[0.013258]) == 6387
    assert round(released[0.000166], 2) == 79.97


def test_ganta_et_al_used_the_complete_records_of_both_halves_of_adult(
    shared: Path, tmp_path: Path
) -> None:
    """Numbers of values: 74, 7, 16, 7, 5, 2, 41, and 14 occupations; 45,222 records have them."""
    halves = [pl.read_parquet(shared / "data" / f"{n}.parquet") for n in ("adult", "adult_test")]
    adult = tmp_path / "adult.parquet"
    pl.concat(halves, how="vertical_relaxed").write_parquet(adult)
    assert sum(half.height for half in halves) == 48_842
    complete = ("workclass", "occupation", "native-country")
    found = qifsql.describe(adult, where=" AND ".join(f"\"{c}\" <> '?'" for c in complete)).frame
    values = dict(found.select("column", "distinct").iter_rows())
    assert set(found["records"]) == {45_222}
    personal = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
    assert [values[c] for c in personal] == [74, 7, 16, 7, 5, 2, 41]
    assert values["occupation"] == 14


def test_kassem_et_al_used_9799_records_of_internet_usage(shared: Path) -> None:
    """Of 10,108 records 9,799 have an age, and 9 incomes."""
    usage = shared / "data" / "internet_usage.parquet"
    found = qifsql.describe(usage, where="\"Age\" <> 'Not_Say'").frame
    assert (pl.read_parquet(usage).height, set(found["records"])) == (10_108, {9_799})
    assert found.filter(column="Household_Income")["distinct"].to_list() == [9]


NAMED = re.compile(
    r"\b(Tables?|Tbl\.|Figures?|Fig\.|Experiment|Example) ([A-G]\.\d+|\d+(?:\.\d+)?)(?![\d.]*%)"
)


@pytest.mark.parametrize(
    ("number", "page"), [("000", "popets"), ("001", "thesis"), ("002", "differential")]
)
def test_every_table_figure_and_experiment_has_its_line(
    number: str, page: str, shared: Path
) -> None:
    texts = [path.read_text("utf-8") for path in (shared / "seeds").glob(f"{number}_*.txt")]
    if not texts:
        pytest.skip("the texts of the sources are not in the shared folder")
    long = {"Tbl.": "Table", "Tables": "Table", "Fig.": "Figure", "Figures": "Figure"}
    named = {f"{long.get(kind, kind)} {n}" for kind, n in NAMED.findall(texts[0])}
    text = (ROOT / "docs" / "sources" / f"{page}.md").read_text("utf-8")
    lines = [item for item, _, _ in LINE.findall(text)]
    assert len(named) > 10
    assert named - set(lines) == set()
    assert len(set(lines)) == len(lines)
