"""The intersection attack against an oracle of sets and fractions, and the examples of sources."""

import datetime
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_composition as oracle
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_composition import Begun, Cell, Everything, Interval, Members, Release
from terminal import run

import qifsql
from qifsql.composition import measures
from qifsql.sanitise import locate

HOSPITALS = Path(__file__).parent / "hospitals"
A, B, PEOPLE = (HOSPITALS / f"{name}.csv" for name in ("hospital_a", "hospital_b", "people"))
QIDS = ["zip", "age", "nationality"]

DATES = [datetime.date(2019, 12, 31), datetime.date(2020, 1, 1), datetime.date(2020, 1, 31)]
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int32(), [None, -3, 0, 1, 2, 3, 10, 12, 20, 29]),
    "decimal": (pa.decimal128(6, 2), [None, *map(Decimal, ("-0.50", "0.00", "0.25", "1.00", "2.50"))]),
    "floating": (pa.float64(), [None, float("nan"), -1.5, -0.0, 0.0, 0.5, 2.0]),
    "date": (pa.date32(), [None, *DATES, datetime.date(2021, 6, 1)]),
    "text": (
        pa.string(),
        [None, "", "a", "b", "ab", "ac", "a,b", '{"', "*", "20-29", "<b", "[a", "é", "b ", "o\nn"],
    ),
}
BOUNDS: dict[str, list[Any]] = {
    "whole": [-5, 0, 1, 2, Decimal("2.5"), 3, 12, 30],
    "decimal": [Decimal("-1"), Decimal("0.25"), Decimal("0.255"), 1, 3],
    "floating": [-2, -0.5, 0, 0.5, 2, 3],
    "date": [*DATES, datetime.date(2020, 1, 15)],
}
SECRETS: list[Any] = ["flu", "AIDS", "cancer", None, ""]


@dataclass(frozen=True)
class Case:
    """Releases over columns of some kinds, how each writes its cells, and people."""

    kinds: tuple[str, ...]
    releases: tuple[Release, ...]
    forms: tuple[tuple[str, ...], ...]
    people: tuple[tuple[Any, ...], ...]
    truths: tuple[Any, ...]
    ignored: bool


@st.composite
def intervals(draw: st.DrawFn, kind: str) -> Interval:
    ends = draw(st.lists(st.sampled_from(BOUNDS[kind]), min_size=2, max_size=2, unique=True))
    lower, upper = sorted(ends)
    which = draw(st.sampled_from(["both", "lower", "upper"]))
    missing, below, above = (draw(st.booleans()) for _ in range(3))
    if kind == "whole":  # (2,2.5] has no whole number in it, and that is fine
        pass
    return Interval(
        lower if which != "upper" else None,
        upper if which != "lower" else None,
        below and which != "upper",
        above and which != "lower",
        missing,
    )


def values(kind: str) -> st.SearchStrategy[Any]:
    return st.sampled_from(POOLS[kind][1])


def sets(kind: str) -> st.SearchStrategy[Members]:
    def told(found: list[Any]) -> Members:
        return Members(tuple(dict.fromkeys(map(oracle.raw, found))))

    return st.lists(values(kind), min_size=1, max_size=3).map(told)


def cells(kind: str, form: str) -> st.SearchStrategy[Cell]:
    """The cells that a column of a kind can have where they are written in one form."""
    single = values(kind).map(lambda v: Members((oracle.raw(v),)))
    if form == "plain":
        return single
    if form == "list":
        return st.one_of(st.just(Everything()), sets(kind))
    if form == "struct":
        closed = st.tuples(*[st.sampled_from([v for v in POOLS[kind][1] if oracle.raw(v) is not None])] * 2)
        made = st.builds(
            lambda ends, missing: Interval(min(ends), max(ends), missing=missing), closed, st.booleans()
        )
        return st.one_of(st.just(Everything()), st.just(Members((None,))), made)
    found: list[st.SearchStrategy[Any]] = [st.just(Everything()), sets(kind), single]
    if kind != "text":
        found.append(intervals(kind))
    if kind == "text":
        found += [st.sampled_from([Begun("a", 2), Begun("", 2), Begun("b", 2), Begun("a", 1 + 2)])]
    if kind == "whole":
        found += [st.sampled_from([Begun("1", 2), Begun("2", 2), Begun("-", 2), Begun("", 2)])]
    if kind == "date":
        found += [st.just(Begun("2020-01-", 10))]
    return st.one_of(found)


FORMS = {
    "text": ["text", "list", "plain_text"],
    **dict.fromkeys(("whole", "decimal", "floating", "date"), ["text", "list", "struct", "plain"]),
}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kinds = tuple(draw(st.lists(st.sampled_from(list(POOLS)), min_size=1, max_size=3)))
    releases, forms = [], []
    for _ in range(draw(st.integers(1, 3))):
        columns = draw(
            st.lists(st.sampled_from(range(len(kinds))), min_size=1, max_size=3, unique=True)
        )
        form = [draw(st.sampled_from(FORMS[kinds[i]])) for i in columns]
        row = st.tuples(
            st.tuples(
                *(cells(kinds[i], f.removesuffix("_text")) for i, f in zip(columns, form, strict=True))
            ),
            st.sampled_from(SECRETS),
        )
        rows = draw(st.lists(row, min_size=1, max_size=8))
        releases.append(Release(tuple(columns), tuple(rows)))
        forms.append(tuple(form))
    used = {i for r in releases for i in r.columns}
    kinds_used = tuple(k if i in used else "" for i, k in enumerate(kinds))
    person = st.tuples(*(values(k) for k in kinds))
    people = draw(st.lists(person, min_size=1, max_size=8))
    truths = [draw(st.sampled_from([*SECRETS, "gout"])) for _ in people]
    return Case(
        kinds_used, tuple(releases), tuple(forms), tuple(people), tuple(truths), draw(st.booleans())
    )


def written(cell: Cell, kind: str, form: str) -> Any:
    """A cell as it stands in Parquet."""
    if form == "text":
        return oracle.written(cell)
    if isinstance(cell, Everything):
        return None
    if form == "struct":
        if isinstance(cell, Members):
            return {"lower": None, "upper": None, "missing": True}
        assert isinstance(cell, Interval)
        return {"lower": cell.lower, "upper": cell.upper, "missing": cell.missing}
    assert isinstance(cell, Members)
    return list(cell.values) if form == "list" else cell.values[0]


def arrow(kind: str, form: str) -> pa.DataType:
    type_ = POOLS[kind][0]
    if form == "text":
        return pa.string()
    if form == "struct":
        return pa.struct([("lower", type_), ("upper", type_), ("missing", pa.bool_())])
    return pa.list_(type_) if form == "list" else type_


def files(case: Case, folder: Path) -> tuple[list[Path], Path]:
    """The releases and the people as Parquet."""
    paths = []
    for n, (release, forms) in enumerate(zip(case.releases, case.forms, strict=True)):
        columns = {}
        for at, (i, form) in enumerate(zip(release.columns, forms, strict=True)):
            kind, own = case.kinds[i], form.removesuffix("_text")
            found = [written(row[0][at], kind, own) for row in release.rows]
            columns[f"q{i}"] = pa.array(found, arrow(kind, own))
        columns["s"] = pa.array([row[1] for row in release.rows], pa.string())
        pq.write_table(pa.table(columns), folder / f"r{n}.parquet")
        paths.append(folder / f"r{n}.parquet")
    people = {
        f"q{i}": pa.array([p[i] for p in case.people], POOLS[kind][0])
        for i, kind in enumerate(case.kinds)
        if kind
    }
    people["truth"] = pa.array(case.truths, pa.string())
    pq.write_table(pa.table(people), folder / "people.parquet")
    return paths, folder / "people.parquet"


def plain_text(case: Case) -> list[str]:
    """Text columns that some release writes as values as they stand."""
    return sorted(
        {
            f"q{i}"
            for release, forms in zip(case.releases, case.forms, strict=True)
            for i, form in zip(release.columns, forms, strict=True)
            if form == "plain_text"
        }
    )


def meaning(case: Case) -> Case:
    """The case where ``plain`` columns mean their text in every release."""
    plain = plain_text(case)
    releases = []
    for release, forms in zip(case.releases, case.forms, strict=True):
        changed = {
            at
            for at, (i, f) in enumerate(zip(release.columns, forms, strict=True))
            if f"q{i}" in plain and f == "text"
        }
        rows = tuple(
            (tuple(Members((oracle.written(c),)) if at in changed else c for at, c in enumerate(row)), s)
            for row, s in release.rows
        )
        releases.append(Release(release.columns, rows))
    return Case(case.kinds, tuple(releases), case.forms, case.people, case.truths, case.ignored)


def is_clash(case: Case) -> bool:
    """Whether a text column of single values meets numbers or dates, which is refused."""
    for release, forms in zip(case.releases, case.forms, strict=True):
        for at, (i, form) in enumerate(zip(release.columns, forms, strict=True)):
            told = [oracle.written(row[0][at]) for row in release.rows]
            if form == "text" and case.kinds[i] != "text":
                plain = [t is None or not (set(t) & set("*[](){}<>?") or t == "") for t in told]
                if all(plain):
                    return True
    return False


@given(cases())
@settings(max_examples=12)
def test_every_number_is_that_of_the_oracle(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths, people = files(case, Path(folder))
        out = Path(folder) / "out.parquet"
        asked: dict[str, Any] = {
            "people": people,
            "qids": [f"q{i}" for i, kind in enumerate(case.kinds) if kind],
            "secret": "s",
            "truth": "truth",
            "plain": plain_text(case),
            "suppressed": "ignored" if case.ignored else "candidates",
            "progressive": True,
            "records": out,
        }
        if is_clash(case):
            with pytest.raises(qifsql.QifError, match="holds text"):
                qifsql.compose(paths, **asked)
            return
        result = qifsql.compose(paths, **asked)
        rows = pl.read_parquet(out).to_dicts()
    check(meaning(case), result, rows)


def check(case: Case, result: Any, rows: list[dict[str, Any]]) -> None:
    told = [oracle.told(p, case.releases, ignored=case.ignored) for p in case.people]
    n = len(case.releases)
    assert result.frame.to_dicts() == [oracle.summary(told, i) for i in range(1, n + 1)]
    for i, row in enumerate(result.releases.to_dicts()):
        expected = oracle.by_release(told, case.releases[i], i, ignored=case.ignored)
        assert row == {"release": f"r{i}.parquet"} | expected
    last = result.curve.filter(pl.col("releases") == n)
    for level, row in enumerate(last.to_dicts(), 1):
        counts = oracle.curve(told, Fraction(level, 20))
        assert (row["people_before"], row["people"], row["people_guessed"]) == counts
    clear = [(t, v) for t, v in zip(told, case.truths, strict=True) if t.located and t.left()]
    truth = result.truth.row(0, named=True)
    assert truth["true_value_left"] == sum(v in t.left() for t, v in clear)
    assert truth["perfect_breach_right"] == sum(t.left() == {v} for t, v in clear)
    assert truth["best_guess_right"] == sum(oracle.guess(t) == v for t, v in clear)
    assert [r["person"] for r in rows] == list(range(1, len(case.people) + 1))
    for found, row in zip(told, rows, strict=True):
        person(found, row)


def person(found: oracle.Told, row: dict[str, Any]) -> None:
    for i, (classes, counts) in enumerate(zip(found.classes, found.counts, strict=True), 1):
        assert row[f"classes_{i}"] == classes
        assert row[f"size_{i}"] == (None if counts is None else sum(counts.values()))
        assert row[f"effective_{i}"] == (None if counts is None else len(counts))
    prior = min(len(c or ()) for c in found.counts) if found.located else None
    left = len(found.left()) if found.located else None
    assert (row["prior"], row["posterior"]) == (prior, left)
    if not left:
        assert [row[name] for name in ("drop", "confidence", "best_guess", "success")] == [None] * 4
        return
    weights = found.weights()
    assert row["drop"] == prior - left
    assert row["confidence"] == 1 / left
    assert row["success"] == max(weights.values()) / sum(weights.values())
    assert row["best_guess"] == oracle.guess(found)


@given(cases())
@settings(max_examples=3)
def test_more_releases_never_enlarge_what_is_left(case: Case) -> None:
    if is_clash(case):
        return
    with tempfile.TemporaryDirectory() as folder:
        paths, people = files(case, Path(folder))
        qids = [f"q{i}" for i, kind in enumerate(case.kinds) if kind]
        left: list[Any] = []
        for n in range(1, len(paths) + 1):
            out = Path(folder) / "out.parquet"
            used = {i for r in case.releases[:n] for i in r.columns}
            qifsql.compose(
                paths[:n],
                people=people,
                qids=[q for q in qids if int(q[1:]) in used],
                secret="s",
                plain=[q for q in plain_text(case) if int(q[1:]) in used],
                records=out,
            )
            left.append(pl.read_parquet(out)["posterior"].to_list())
        for before, after in zip(left, left[1:], strict=False):
            for a, b in zip(before, after, strict=True):
                assert b is None or (a is not None and b <= a)
