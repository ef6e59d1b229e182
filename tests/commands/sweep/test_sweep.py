"""A sweep says of every subset what one attack says, and what the oracle says, to the last bit."""

import gzip
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import log2
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES
from polars.testing import assert_frame_equal
from strategies import NAMES, VALUES, Table, tables, to_arrow
from test_reference import INEP_PRIORS, adult, reference, subsets

import qifsql
from qifsql import Settings
from qifsql.commands.sweep.layout import MOST_COUNTED
from qifsql.commands.sweep.result import HISTOGRAMS, SWEPT
from qifsql.commands.sweep.spec import SweepSpec
from qifsql.commands.sweep.strategies import choose_strategy
from qifsql.errors import ColumnError, DatasetError, InputError
from qifsql.reference import microdata
from qifsql.reference import success as oracle
from qifsql.results.assessment import REPORTED

Rows = Sequence[Mapping[str, Any]]

COLUMNS = {name: kind for name, kind in SWEPT.items() if name != "seconds"}
CHANCES = (
    *("prior_deterministic", "posterior_deterministic", "degradation_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic", "degradation_probabilistic"),
    *("leakage_additive", "worst_case"),
)
HOSTILE = (
    *NAMES,
    *("a+b", "+", "b+c", "; DROP TABLE coded", "'; --", "\U0001f9d9\u200d\u2642\ufe0f"),
    *("entry", "rest", "word", "word_1", "block", "state", "live", "coded", "value", "code"),
)
ADULT = ["age", "sex", "race", "native-country", "marital-status", "workclass", "occupation"]


@contextmanager
def parquet(table: pa.Table) -> Iterator[Path]:
    """The table in a Parquet file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.parquet")
        pq.write_table(table, path)
        yield path


def found(result: qifsql.Sweep) -> pl.DataFrame:
    """The result but for the time it took, its columns and types checked.

    Numbers of people with a reported secret are in ``test_reported``.
    """
    further = {name: REPORTED[name] for name in result.frame.columns if name in REPORTED}
    assert dict(result.frame.schema) == SWEPT | further
    assert (result.frame["seconds"] >= 0).all()
    return result.frame.drop("seconds", *further)


def same(a: pl.DataFrame, b: pl.DataFrame) -> None:
    """Whole frames: columns, types, order of the rows, every bit."""
    assert_frame_equal(a, b, check_exact=True)


def masks(n: int) -> list[int]:
    """All subsets in the order of the result: by size, then by number."""
    return sorted(range(1, 1 << n), key=lambda mask: (mask.bit_count(), mask))


def members(mask: int, qids: Sequence[str]) -> list[str]:
    return [qid for i, qid in enumerate(qids) if mask >> i & 1]


def expected(
    rows: Rows,
    qids: Sequence[str],
    secrets: Sequence[str],
    only: Sequence[int] = (),
    *,
    masses: Sequence[Any] | None = None,
) -> pl.DataFrame:
    """Return what a sweep must say, from the oracle: its fractions, rounded once."""
    result = []
    for mask in only or masks(len(qids)):
        names = members(mask, qids)
        everybody = microdata.partition(rows, names).values()
        present = ([i for i in b if masses is None or masses[i]] for b in everybody)
        blocks = [b for b in present if b]
        for secret in (None, *secrets):
            numbers = oracle.attack(rows, names, secret, masses)
            values = [{microdata.value(rows[i][secret]) for i in b} for b in blocks if secret]
            result.append(
                numbers
                | {name: float(numbers[name]) for name in CHANCES}
                | {"model": "CAS" if secret else "CRS", "datasets": 1, "n_qids": len(names)}
                | {"qids": names, "secret": secret, "subset": mask}
                | {"k": min(map(len, blocks)), "l": min(map(fewest, values), default=None)}
            )
    return pl.DataFrame(result, schema=COLUMNS)


def fewest(values: set[Any]) -> int:
    """The number of values of a block: with missing as one, or of the reported ones if any is."""
    return len(values - {None}) or len(values)


def expected_histogram(rows: Rows, qids: Sequence[str], secrets: Sequence[str]) -> pl.DataFrame:
    """The histograms of a sweep, from the oracle."""
    result = [
        ("CAS" if secret else "CRS", names, secret, percent, people, mask)
        for mask in masks(len(qids))
        for names in [members(mask, qids)]
        for secret in (None, *secrets)
        for successes in [oracle.individual_success(rows, names, secret)]
        for percent, people in enumerate(oracle.histogram(oracle.of_individuals(successes)))
        if people
    ]
    return pl.DataFrame(result, schema=HISTOGRAMS, orient="row")


def grouped(source: Path, qids: Sequence[str], secrets: Sequence[str]) -> pl.DataFrame:
    """Return what a sweep must say, from one plain GROUP BY for each subset. Nothing is NaN."""
    n = len(qids)
    names = [quoted(qid) for qid in qids]
    result: list[dict[str, Any]] = []
    for place, secret in enumerate((None, *secrets)):
        cell = "NULL" if secret is None else quoted(secret)
        cube, keys = f"CUBE ({', '.join(names)})", ", ".join(names)
        found = duckdb.sql(
            f"""
            WITH cells AS (
                SELECT {2**n - 1} - GROUPING({", ".join(names[::-1])}) AS subset, {keys},
                    {cell} AS value, count(*) AS people
                FROM '{source}' GROUP BY {cube}, {cell}
            ), blocks AS (
                SELECT subset, sum(people)::BIGINT AS size, count(*) AS l,
                    count(value) AS reported,
                    {"1" if secret is None else "max(people)"} AS mode
                FROM cells GROUP BY subset, {keys}
            )
            SELECT subset, count(*), count(*) FILTER (WHERE size = 1), sum(mode)::BIGINT,
                coalesce(sum(size) FILTER (WHERE mode = size), 0)::BIGINT,
                max(mode / size), min(size),
                least(min(l), min(reported) FILTER (WHERE reported > 0)), sum(size)::BIGINT
            FROM blocks GROUP BY subset
            """
        ).fetchall()
        (before, sure, people) = next((r[3], r[4], r[8]) for r in found if r[0] == 0)
        for subset, blocks, alone, after, certain, worst, least, values, _ in found:
            ratio = float(Fraction(after, before))
            result.append(
                {"model": "CAS" if secret else "CRS", "datasets": 1, "n_qids": subset.bit_count()}
                | {"qids": members(subset, qids), "secret": secret, "subset": subset}
                | {"records": people, "blocks": blocks, "singled_out": alone}
                | {"prior_deterministic": float(Fraction(sure, people))}
                | {"posterior_deterministic": float(Fraction(certain, people))}
                | {"degradation_deterministic": float(Fraction(certain - sure, people))}
                | {"prior_probabilistic": float(Fraction(before, people))}
                | {"posterior_probabilistic": float(Fraction(after, people))}
                | {"degradation_probabilistic": ratio, "min_entropy_leakage": log2(ratio)}
                | {"leakage_additive": float(Fraction(after - before, people))}
                | {"worst_case": worst, "individuals_certain": certain}
                | {"k": least, "l": values if secret else None, "place": place}
            )
    frame = pl.DataFrame(result, schema=COLUMNS | {"place": pl.Int64()})
    return frame.filter(pl.col("subset") > 0).sort("n_qids", "subset", "place").drop("place")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check_attacks(
    result: qifsql.Sweep, source: Path, secrets: Sequence[str], only: Sequence[int], **options: Any
) -> None:
    """The rows and histograms of some subsets are those of one attack with each."""
    for mask in only:
        one = qifsql.attack(
            "crs,cas" if secrets else "crs",
            source,
            qids=members(mask, result.qids),
            secret=secrets,
            histogram=True,
            **options,
        )
        swept = result.frame.filter(pl.col("subset") == mask)
        attacked = one.frame.drop("seconds", "attack_id", strict=False)
        same(swept.select(attacked.columns), attacked)
        of_attack = one.details["histogram"].filter(pl.col("individuals") > 0)
        named = of_attack.join(one.frame, on="attack_id", maintain_order="left")
        of_sweep = result.details["histogram"].filter(pl.col("subset") == mask).drop("subset")
        same(of_sweep, named.select(of_sweep.columns))


def check_histogram(result: qifsql.Sweep, people: int) -> None:
    """Everybody is counted once for each subset and question."""
    bins = result.details["histogram"]
    keys = ["model", "qids", "secret", "subset"]
    totals = bins.group_by(keys, maintain_order=True).agg(pl.col("individuals").sum())
    same(totals.select(keys), result.frame.select(keys))
    assert (totals["individuals"] == people).all()


# Tables of any kind.


@dataclass(frozen=True)
class Release:
    """A table as it stands in a file, and its roles."""

    table: pa.Table
    rows: list[dict[str, Any]]
    qids: list[str]
    secrets: list[str]


Pool = tuple[pa.DataType, list[Any]]

POOLS = ("number", "text", "float", "date", "bool", "decimal", "constant", "missing", "unique")


def pool(kind: str, rng: random.Random, rows: int) -> Pool:
    """A type, and values to choose from: few or as many as there are rows."""
    several = rng.randint(1, rng.choice((2, 5, rows + 1)))
    days = [date(2000, 1, 1 + i) for i in range(4)]
    found: dict[str, Pool] = {
        "number": (pa.int64(), [None, *range(several)][rng.randrange(2) :]),
        "float": (pa.float64(), [*VALUES[pa.float64()]]),
        "text": (pa.string(), rng.sample(VALUES[pa.string()], min(several, 8))),
        "date": (pa.date32(), [*days, None]),
        "bool": (pa.bool_(), [True, False, None]),
        "decimal": (pa.decimal128(10, 2), [Decimal("0.00"), Decimal("-0.01"), None]),
        "constant": (pa.int8(), [7]),
        "missing": (pa.string(), [None]),
        "unique": (pa.int64(), [*range(-(2**40), 2**40, 2**33)]),
    }
    return found[kind]


@st.composite
def releases(draw: st.DrawFn, most: int = 5, rows: int = 40) -> Release:
    """Columns of all kinds, one that follows from others, secrets of few and of many values."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, rows))
    kinds = draw(st.lists(st.sampled_from((*POOLS, "follows")), min_size=1, max_size=most))
    wanted = draw(st.lists(st.sampled_from(("few", "many", "float", "same")), max_size=3))
    names = rng.sample(HOSTILE, len(kinds) + len(wanted))
    fields: dict[str, pa.DataType] = {}
    columns: list[list[Any]] = []
    for name, kind in zip(names, (*kinds, *wanted), strict=True):
        if kind == "follows" and columns:
            fields[name] = pa.string()
            columns.append([repr(microdata.value(v))[-1] for v in columns[-1]])
            continue
        if kind in ("few", "many"):
            limits = (1, MOST_COUNTED) if kind == "few" else (MOST_COUNTED + 1, 30)
            few = rng.randint(*limits)
            fields[name], values = pa.int16(), rng.sample([None, *range(40)], few)
        elif kind == "same":
            fields[name], values = pa.string(), ["x"]
        else:
            fields[name], values = pool("number" if kind == "follows" else kind, rng, n)
        column = [*rng.sample(values, min(n, len(values))), *rng.choices(values, k=n)][:n]
        columns.append(rng.sample(column, n))
    cells = [*zip(*columns, strict=True)]
    alike = rng.choices(cells, k=n) if draw(st.booleans()) else cells
    table = pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in alike], pa.schema([*fields.items()])
    )
    return Release(table, table.to_pylist(), names[: len(kinds)], names[len(kinds) :])


@pytest.mark.cases(1)
@settings(max_examples=examples(8))
@given(tables())
def test_every_row_and_histogram_of_a_hostile_table_is_that_of_the_oracle(drawn: Table) -> None:
    with parquet(to_arrow(drawn)) as path:
        result = qifsql.sweep(path, qids=drawn.qids, secret=drawn.secrets, histogram=True)
    same(found(result), expected(drawn.rows, drawn.qids, drawn.secrets))
    wanted = expected_histogram(drawn.rows, drawn.qids, drawn.secrets)
    same(result.details["histogram"], wanted)
    check_histogram(result, len(drawn.rows))
    assert result.qids == tuple(drawn.qids)
    assert result.whole
    of_words = ("is a value here", "without case")  # drawn texts may look like missing values
    assert [n for n in result.notes if not any(words in n for words in of_words)] == []


@settings(max_examples=examples(8))
@given(releases(), st.data())
def test_every_row_is_that_of_the_oracle_and_of_one_attack(
    drawn: Release, data: st.DataObject
) -> None:
    mask = data.draw(st.integers(1, 2 ** len(drawn.qids) - 1))
    with parquet(drawn.table) as path:
        result = qifsql.sweep(path, qids=drawn.qids, secret=drawn.secrets, histogram=True)
        check_attacks(result, path, drawn.secrets, [mask])
    same(found(result), expected(drawn.rows, drawn.qids, drawn.secrets))
    wanted = expected_histogram(drawn.rows, drawn.qids, drawn.secrets)
    same(result.details["histogram"], wanted)


@pytest.mark.slow(because="6.8 s; every recorded mutant dies without it")
def test_every_subset_is_one_attack(tmp_path: Path) -> None:
    rng = random.Random(11)
    path = tmp_path / "release.parquet"
    days = [date(2000, 1, 1), date(2001, 1, 1), None]
    table = pa.table(
        {
            "a+b": pa.array([rng.choice((1, 2, 3, None)) for _ in range(60)], pa.int64()),
            'dou"ble; DROP TABLE x': [rng.choice(("", "a", "\U0001f642")) for _ in range(60)],
            "nan": pa.array([rng.choice((0.0, -0.0, float("nan"), None, 1.0)) for _ in range(60)]),
            "day": pa.array([rng.choice(days) for _ in range(60)], pa.date32()),
            "few": pa.array([rng.choice((1, 2, 3, None)) for _ in range(60)], pa.int64()),
            "many": [rng.randrange(12) for _ in range(60)],
            "long": [rng.choice("abcdefghijk") for _ in range(60)],
        }
    )
    pq.write_table(table, path)
    qids, secrets = table.column_names[:4], table.column_names[4:]
    result = qifsql.sweep(path, qids=qids, secret=secrets, histogram=True)
    check_attacks(result, path, secrets, masks(4))
    check_histogram(result, 60)
    same(found(result), expected(table.to_pylist(), qids, secrets))


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "rows",
    [
        [("x", 1, None, 1.0, "s")],
        [("x", 1, None, 1.0, "s")] * 9,
        [("x", 1, None, 1.0, "s")] * 2 + [("y", 1, None, 1.0, "t")] * 2,
        [(str(i), i, i, i / 2, str(i)) for i in range(12)],
        [(str(i), 0, None, 1.0, str(i % 9)) for i in range(12)] * 2,
    ],
    ids=["one record", "all alike", "two pairs", "all different", "constants"],
)
def test_extreme_tables_are_counted_as_by_the_oracle(
    tmp_path: Path, rows: list[tuple[Any, ...]]
) -> None:
    kinds = [pa.string(), pa.int64(), pa.int64(), pa.float64(), pa.string()]
    columns = map(pa.array, zip(*rows, strict=True), kinds)
    table = pa.table(dict(zip("abcds", columns, strict=True)))
    pq.write_table(table, tmp_path / "release.parquet")
    result = qifsql.sweep(tmp_path / "release.parquet", qids=[*"abcd"], secret="s")
    same(found(result), expected(table.to_pylist(), [*"abcd"], ["s"]))


# Which records, and what is known of them.


@pytest.mark.slow(because="4.3 s each; every recorded mutant dies without it")
@settings(max_examples=examples(6))
@given(releases(most=4))
def test_records_with_any_missing_value_can_be_dropped(drawn: Release) -> None:
    used = [*drawn.qids, *drawn.secrets]
    kept = [r for r in drawn.rows if all(microdata.value(r[name]) is not None for name in used)]
    with parquet(drawn.table) as path:
        if not kept:
            with pytest.raises(DatasetError, match="no records left when those with missing"):
                qifsql.sweep(path, qids=drawn.qids, secret=drawn.secrets, null="drop")
            return
        result = qifsql.sweep(path, qids=drawn.qids, secret=drawn.secrets, null="drop")
    same(found(result), expected(kept, drawn.qids, drawn.secrets))


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_who_is_dropped_is_dropped_from_every_row_which_is_said(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    columns = {"a": [1, None, 2, 2], "b": [1, 1, None, 1], "w": [1, 2, 3, 4]}
    pl.DataFrame(columns).write_parquet(path)
    there = "a IS NOT NULL AND b IS NOT NULL"
    for weight in (None, "w"):
        result = qifsql.sweep(path, qids=["a", "b"], null="drop", weight=weight)
        whole = qifsql.sweep(path, qids=["a", "b"], where=there, weight=weight)
        assert_frame_equal(result.frame.drop("seconds"), whole.frame.drop("seconds"))
        (note,) = result.notes
        assert note.startswith("records with" if weight else "2 of 4 records with")
        assert "left out of every row: all rows are about the same people" in note
        assert result.origin.spec["population"].startswith("fixed: in every row")
        assert "population" not in whole.origin.spec


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A release of 200 people with five quasi-identifiers and two secrets."""
    rng = random.Random(5)
    path = tmp_path / "people.parquet"
    pl.DataFrame(
        [
            {
                "year": rng.randrange(1950, 1990),
                "sex": rng.choice("fm"),
                "place": rng.choice((None, "a", "b", "c", "d")),
                "degree": rng.choice((1, 1, 1, 2, 3)),
                "job": rng.choice("abcdefgh"),
                "ill": rng.choice((True, False, None)),
                "income": rng.randrange(12),
            }
            for _ in range(200)
        ]
    ).write_parquet(path)
    return path


QIDS, SECRETS = ["year", "sex", "place", "degree", "job"], ["ill", "income"]


@pytest.mark.slow(because="1.4 s each; every recorded mutant dies without it")
def test_a_filter_is_a_smaller_table_and_an_expression_a_column(people: Path) -> None:
    where = "year >= 1960 AND (sex = 'f' OR place IS NULL)"
    qids = ["decade=year//10", "abroad = place IS NULL", "job", "no job; DROP TABLE=job > 'z'"]
    rows = [
        {
            "decade": row["year"] // 10,
            "abroad": row["place"] is None,
            "job": row["job"],
            "no job; DROP TABLE": False,
            "rich": row["income"] > 9,
            "income": row["income"],
        }
        for row in pl.read_parquet(people).iter_rows(named=True)
        if row["year"] >= 1960 and (row["sex"] == "f" or row["place"] is None)
    ]
    names, secrets = [*rows[0]][:4], ["rich=income > 9", "income"]
    result = qifsql.sweep(people, qids=qids, secret=secrets, where=where)
    same(found(result), expected(rows, names, ["rich", "income"]))
    assert result.qids == tuple(names)


@pytest.mark.slow(because="1.2 s each; every recorded mutant dies without it")
@settings(max_examples=examples(5))
@given(releases(most=3, rows=20), st.data())
def test_every_row_of_a_weighted_sweep_is_that_of_the_oracle_and_of_one_attack(
    drawn: Release, data: st.DataObject
) -> None:
    n, subsets_ = len(drawn.rows), 2 ** len(drawn.qids)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    table = drawn.table.append_column("mass", pa.array(weights, pa.int64()))
    options: dict[str, Any] = {"qids": drawn.qids, "secret": drawn.secrets, "weight": "mass"}
    with parquet(table) as path:
        result = qifsql.sweep(path, histogram=True, **options)
        only = [data.draw(st.integers(1, subsets_ - 1))]
        check_attacks(result, path, drawn.secrets, only, weight="mass")
    same(found(result), expected(drawn.rows, drawn.qids, drawn.secrets, masses=weights))


# Some subsets only.


@pytest.mark.slow(because="8.6 s; every recorded mutant dies without it")
def test_some_subsets_have_the_rows_that_they_have_in_the_whole_sweep(people: Path) -> None:
    options: dict[str, Any] = {"qids": QIDS, "secret": SECRETS, "histogram": True}
    whole = qifsql.sweep(people, **options)
    size, subset = pl.col("n_qids"), pl.col("subset")
    asked: list[tuple[dict[str, Any], pl.Expr]] = [
        ({"sizes": "2-3"}, size.is_between(2, 3)),
        ({"sizes": "1"}, size == 1),
        ({"sizes": " 4 - 9 "}, size >= 4),
        ({"sizes": "1-5"}, size > 0),
        ({"subsets": ["sex+place", "year", "place+sex"]}, subset.is_in([0b110, 0b1])),
        ({"subsets": ["job+degree+place+sex+year"]}, size == 5),
    ]
    for some, wanted in asked:
        result = qifsql.sweep(people, **options, **some)
        same(found(result), found(whole).filter(wanted))
        there = found(result)["subset"].unique().to_list()
        bins = whole.details["histogram"].filter(subset.is_in(there))
        same(result.details["histogram"], bins)
        assert result.whole == (some == {"sizes": "1-5"})
        assert ("shapley" in result.details) == result.whole


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_a_subset_may_name_columns_with_a_plus(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    names = ["a", "b", "a+b", "+", "c++"]
    pl.DataFrame(
        {name: [i % (j + 2) for i in range(30)] for j, name in enumerate(names)}
    ).with_row_index("i").write_parquet(path)
    whole = qifsql.sweep(path, qids=names)
    asked = {"a+b": 0b100, "b+a": 0b11, "a+b+a": 0b101, "c+++b": 0b10010, "++c++": 0b11000}
    result = qifsql.sweep(path, qids=names, subsets=[*asked])
    same(found(result), found(whole).filter(pl.col("subset").is_in([*asked.values()])))


@pytest.mark.cases(1)
def test_a_subset_is_understood_where_one_reading_of_it_fits(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    pl.DataFrame({"a": [1, 2], "a+b": [1, 2], "b+c": [1, 1]}).write_parquet(path)
    result = qifsql.sweep(path, qids=["a", "a+b", "b+c"], subsets=["a+b+c"])
    assert result.frame["qids"].to_list() == [["a", "b+c"]]


@pytest.mark.cases(6)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sizes": "0"}, "sizes are written 2 or 1-4, from 1 on"),
        ({"sizes": "0-2"}, "sizes are written 2 or 1-4, from 1 on"),
        ({"sizes": "3-2"}, "sizes are written"),
        ({"sizes": "two"}, "sizes are written"),
        ({"sizes": ""}, "sizes are written"),
        ({"sizes": "1,2"}, "sizes are written"),
        ({"sizes": "-1"}, "sizes are written"),
        ({"sizes": "6-7"}, "of 5 quasi-identifiers no subset has 6"),
        ({"sizes": "1-2", "subsets": ["year"]}, "exclude each other"),
        ({"subsets": ["year+sexx"]}, 'did you mean "sex"'),
        ({"subsets": ["year+ill"]}, "names no quasi-identifier"),
        ({"subsets": ["year+"]}, "names"),
        ({"subsets": ["+year"]}, "names"),
        ({"subsets": [""]}, "names one quasi-identifier or more"),
        ({"threshold": 1.5}, "from 0 to 1"),
        ({"threshold": float("nan")}, "from 0 to 1"),
        ({"key": "income"}, "does not take key"),
        ({"null": "match-any"}, "cannot be treated as"),
    ],
)
def test_what_cannot_be_swept_is_refused(people: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        qifsql.sweep(people, qids=QIDS, secret=SECRETS, **options)


def test_unknown_columns_and_empty_tables_are_refused(people: Path) -> None:
    with pytest.raises(ColumnError, match='did you mean "year"'):
        qifsql.sweep(people, qids=["yeer", "sex"])
    with pytest.raises(ColumnError, match="is among the quasi-identifiers"):
        qifsql.sweep(people, qids=QIDS, secret="sex")
    with pytest.raises(ColumnError, match="no quasi-identifiers"):
        qifsql.sweep(people, secret="ill")
    with pytest.raises(DatasetError, match="no records after the filter"):
        qifsql.sweep(people, qids=QIDS, where="year > 3000")


@pytest.mark.slow(because="3.2 s; every recorded mutant dies without it")
def test_too_many_subsets_are_refused_and_some_of_them_are_swept(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    rng = random.Random(3)
    qids = [f"q{i}" for i in range(25)]
    rows = [{qid: rng.randrange(3) for qid in qids} for _ in range(10)]
    pl.DataFrame(rows).write_parquet(path)
    with pytest.raises(InputError, match=r'25 quasi-identifiers have 2\^25 subsets.*sizes="1-4"'):
        qifsql.sweep(path, qids=qids)
    with pytest.raises(InputError, match=r"2\^25 subsets"):
        qifsql.sweep(path, qids=qids, sizes="1-25")
    wanted = [1 << 24, 0b11, 1 << 24 | 1, 2**25 - 1]
    listed = ["+".join(members(mask, qids)) for mask in wanted]
    result = qifsql.sweep(path, qids=qids, subsets=listed)
    in_order = sorted(wanted, key=lambda mask: (mask.bit_count(), mask))
    same(found(result), expected(rows, qids, [], in_order))
    few = [1 << i for i in range(25)]
    same(found(qifsql.sweep(path, qids=qids, sizes="1")), expected(rows, qids, [], few))


def test_sizes_are_refused_where_their_subsets_are_too_many() -> None:
    names = [f"q{i}" for i in range(25)]
    assert choose_strategy(SweepSpec(sizes="1-2"), names).subsets == 325
    with pytest.raises(InputError, match="subsets, more than a sweep visits"):
        choose_strategy(SweepSpec(sizes="2-25"), names)


@pytest.mark.cases(1)
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("own", [False, True], ids=["another database", "the release"])
def test_a_database_that_is_no_workspace_is_left_alone(
    tmp_path: Path, people: Path, *, restart: bool, own: bool
) -> None:
    path = tmp_path / "mine.duckdb"
    with duckdb.connect(path) as mine:
        mine.sql(f"CREATE TABLE people AS SELECT * FROM '{people}'")
    source = f"people@{path}" if own else people
    with pytest.raises(InputError, match=r"is not a workspace|the release"):
        qifsql.sweep(source, qids=["sex"], workspace=path, restart=restart)
    with duckdb.connect(path) as mine:
        assert mine.sql("SELECT count(*) FROM people").fetchall() == [(200,)]


# What must not matter.


@pytest.mark.slow(because="16.7 s; every recorded mutant dies without it")
def test_neither_the_machine_nor_the_files_nor_the_workspace_change_the_result(
    people: Path, tmp_path: Path
) -> None:
    frame = pl.read_parquet(people)
    mixed = frame.sample(fraction=1, shuffle=True, seed=1)
    mixed.write_parquet(tmp_path / "mixed.parquet", row_group_size=17)
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "parts").mkdir()
    for i in range(4):
        mixed.slice(50 * i, 50).write_parquet(tmp_path / "parts" / f"{i}.parquet")
    runs: list[tuple[Path | str, dict[str, Any]]] = [
        (people, {"settings": Settings(threads=1)}),
        (people, {"settings": Settings(threads=2), "workspace": tmp_path / "kept.sweep"}),
        (people, {"settings": Settings(threads=3)}),
        (people, {"settings": Settings(memory="400MB")}),
        (people, {"settings": Settings(memory="210MB", threads=4)}),
        (tmp_path / "mixed.parquet", {"workspace": tmp_path / "gone.sweep", "keep": False}),
        (f"{tmp_path}/parts/*.parquet", {}),
        (tmp_path / "people.csv", {}),
    ]
    results = [
        qifsql.sweep(source, qids=QIDS, secret=SECRETS, histogram=True, threshold=0.5, **options)
        for source, options in runs
    ]
    same(found(results[0]), expected(frame.to_dicts(), QIDS, SECRETS))
    for result in results[1:]:
        same(found(result), found(results[0]))
        assert result.details.keys() == results[0].details.keys()
        for name in result.details.keys() - {"plan"}:
            same(result.details[name], results[0].details[name])
    assert (tmp_path / "kept.sweep").exists()
    assert not (tmp_path / "gone.sweep").exists()


# Published microdata.


@pytest.fixture(scope="module")
def swept_adult(shared: Path) -> qifsql.Sweep:
    """Adult, with a quasi-identifier that has one value."""
    return qifsql.sweep(
        shared / "data" / "adult.parquet",
        qids=[*ADULT, "nothing=age < 0"],
        secret=["relationship", "education-num"],
        threshold=0.6,
    )


@pytest.mark.slow(because="7.1 s; every recorded mutant dies without it")
def test_every_subset_of_adult_is_a_plain_group_by(shared: Path, swept_adult: qifsql.Sweep) -> None:
    secrets = ["relationship", "education-num"]
    wanted = grouped(shared / "data" / "adult.parquet", ADULT, secrets)
    same(found(swept_adult).filter(pl.col("subset") < 2**7), wanted)


@pytest.mark.slow(because="small tables with missing values are compared with the oracle")
def test_every_subset_of_a_census_with_missing_values_is_a_plain_group_by(shared: Path) -> None:
    source = shared / "data" / "acs_us2019.parquet"
    qids = ["PUMA", "AGEP", "SEX", "RAC1P", "MSP", "OWN_RENT", "NOC"]
    secrets = ["INDP_CAT", "DEAR", "PINCP_DECILE"]
    result = qifsql.sweep(source, qids=qids, secret=secrets)
    same(found(result), grouped(source, qids, secrets))
    assert any(None in pl.read_parquet(source)[name].unique().to_list() for name in qids)


@pytest.mark.slow(because="3.8 s; every recorded mutant dies without it")
def test_the_reference_subsets_of_adult(shared: Path, swept_adult: qifsql.Sweep) -> None:
    rows = {(frozenset(r["qids"]), r["secret"]): r for r in swept_adult.rows()}
    cases = adult(shared)
    assert len(cases) > 60
    for case in cases:
        names = frozenset(case["qids"].split("+"))
        row = rows[names, None]
        numbers = {
            "rows": row["records"],
            "blocks": row["blocks"],
            "unique_rows": row["singled_out"],
            "prior_crs": row["prior_probabilistic"],
            "dCR": row["posterior_deterministic"],
            "post_crs": row["posterior_probabilistic"],
        }
        for secret in ("relationship", "education-num"):
            row = rows[names, secret]
            numbers |= {
                f"{secret}:one_value_rows": row["individuals_certain"],
                f"{secret}:prior_cas": row["prior_probabilistic"],
                f"{secret}:dCA": row["posterior_deterministic"],
                f"{secret}:post_cas": row["posterior_probabilistic"],
                f"{secret}:pCA": row["degradation_probabilistic"],
            }
        assert {name: case[name] for name in numbers} == {k: str(v) for k, v in numbers.items()}


@pytest.mark.slow(because="the subsets of Adult are plain groups in another test")
def test_the_reference_subsets_of_a_census_of_200_000(shared: Path) -> None:
    packed = shared / "data" / "reference" / "inep_like_200k_subsets.csv.gz"
    with gzip.open(packed, "rt", encoding="utf-8") as lines:
        cases = subsets(lines)
    assert len(cases) > 1000
    qids = sorted({name for case in cases for name in case["qids"].split("+")})
    secrets = [*INEP_PRIORS]
    result = qifsql.sweep(shared / "data" / "inep_like_200k.parquet", qids=qids, secret=secrets)
    assert result.frame.height == (2 ** len(qids) - 1) * 3
    n = 200_000
    rows = {(frozenset(r["qids"]), r["secret"]): r for r in result.rows()}
    for case in cases:
        names = frozenset(case["qids"].split("+"))
        row = rows[names, None]
        wanted = [n, int(case["blocks"]), int(case["unique_rows"]), int(case["blocks"]) / n]
        wanted.append(int(case["unique_rows"]) / n)
        columns = ["records", "blocks", "singled_out", "posterior_probabilistic"]
        assert [row[c] for c in (*columns, "posterior_deterministic")] == wanted
        for secret, prior in INEP_PRIORS.items():
            row, best = rows[names, secret], int(case[f"{secret}:sum_max"])
            assert row["posterior_probabilistic"] == best / n
            assert row["degradation_probabilistic"] == best / prior
            assert row["individuals_certain"] == int(case[f"{secret}:one_value_rows"])


@pytest.mark.slow(because="the subsets of Adult are plain groups in another test")
def test_the_reference_results_of_other_public_data(shared: Path) -> None:
    cases = reference(shared, "other_datasets.json")["cases"]
    for case in cases[::2]:
        qids, secrets = case["quasi_identifiers"], list(case["sensitive"])
        listed = ["+".join(qids), qids[0]]
        source = shared / "data" / f"{case['dataset']}.parquet"
        frame = qifsql.sweep(source, qids=qids, secret=secrets, subsets=listed).frame
        whole = frame.filter(pl.col("n_qids") == len(qids)).to_dicts()
        names = ("prior_probabilistic", "posterior_deterministic", "posterior_probabilistic")
        assert [whole[0][name] for name in names] == [
            case[name] for name in ("prior_crs", "dCR", "post_crs")
        ]
        for row, numbers in zip(whole[1:], case["sensitive"].values(), strict=True):
            assert [row[name] for name in (*names, "degradation_probabilistic")] == [
                numbers[name] for name in ("prior_cas", "dCA", "post_cas", "pCA")
            ]


# How subsets compare.


@pytest.mark.slow(because="2.3 s each; every recorded mutant dies without it")
def test_success_grows_with_the_subset_and_a_constant_adds_nothing(
    swept_adult: qifsql.Sweep,
) -> None:
    growing = (
        *("blocks", "singled_out", "individuals_certain", "worst_case"),
        *("posterior_deterministic", "posterior_probabilistic"),
    )
    rows = {(r["subset"], r["secret"]): r for r in swept_adult.rows()}
    constant = 1 << 7
    for (mask, secret), row in rows.items():
        for bit in (1 << i for i in range(8) if mask >> i & 1 and mask != 1 << i):
            smaller = rows[mask - bit, secret]
            assert all(smaller[name] <= row[name] for name in growing)
            assert smaller["k"] >= row["k"]
            assert secret is None or smaller["l"] >= row["l"]
            if bit == constant:
                other = {"subset": 0, "qids": [], "n_qids": 0}
                assert smaller | other == row | other
        if mask == constant:
            assert row["posterior_probabilistic"] == row["prior_probabilistic"]
            assert row["posterior_deterministic"] == row["prior_deterministic"]
            assert row["degradation_probabilistic"] == 1
            assert row["k"] == row["records"]


@pytest.mark.slow(because="2.0 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("secret", ["relationship", "education-num"])
def test_a_search_finds_the_borders_of_the_complete_sweep(
    shared: Path, swept_adult: qifsql.Sweep, secret: str
) -> None:
    searched = qifsql.sweep(
        shared / "data" / "adult.parquet",
        qids=[*ADULT, "nothing=age < 0"],
        secret=[secret],
        threshold=0.6,
        search=True,
    )
    mine = pl.col("secret").is_null() | (pl.col("secret") == secret)
    order = ["secret", "measure", "border", "n_qids", "subset"]
    wanted = swept_adult.details["borders"].filter(mine).sort(order)
    assert_frame_equal(searched.details["borders"].sort(order), wanted)


@pytest.mark.slow(because="8 s; every recorded mutant dies without it")
def test_the_answers_agree_with_the_rows(swept_adult: qifsql.Sweep) -> None:
    frame, details = swept_adult.frame, swept_adult.details
    rows = {(r["subset"], r["secret"]): r for r in swept_adult.rows()}
    for row in details["best"].iter_rows(named=True):
        measure = "deterministic" if row["best_for"] == "deterministic" else "probabilistic"
        posterior = f"posterior_{measure}"
        rivals = frame.filter(
            pl.col("secret").eq_missing(pl.lit(row["secret"])), n_qids=row["n_qids"]
        )
        assert row[posterior] == rivals[posterior].max()
        assert row[posterior] == rows[row["subset"], row["secret"]][posterior]
    for (secret, measure), part in details["shapley"].group_by("secret", "measure"):
        everything = rows[255, secret]
        whole = everything[f"posterior_{measure}"] - everything[f"prior_{measure}"]
        assert sum(part["shapley"]) == pytest.approx(whole, rel=1e-12)  # a sum of rounded parts
        assert part.filter(qid="nothing")["shapley"].to_list() == [0]
    for row in details["borders"].iter_rows(named=True):
        risky = row["border"] == "minimal risky"
        assert (row["posterior"] >= 0.6) == risky
        if row["subset"]:
            posterior = f"posterior_{row['measure']}"
            assert row["posterior"] == rows[row["subset"], row["secret"]][posterior]
    plan = details["plan"]
    assert plan.filter(pl.col("pass") == 1)["subsets"].sum() == 255


@pytest.mark.slow(because="1.6 s each; every recorded mutant dies without it")
def test_the_spec_records_which_subsets_were_swept() -> None:
    data, options = SAMPLES / "popets_table_2a.csv", {"qids": ["language", "gender", "age"]}
    everything = {"sizes": None, "subsets": None, "threshold": None, "search": None, "sample": None}
    for choice in ({}, {"sizes": "1-2"}, {"subsets": ["age+gender"]}, {"threshold": 0.5}):
        spec = qifsql.sweep(data, **options, **choice).spec
        assert {name: spec[name] for name in everything} == everything | choice
