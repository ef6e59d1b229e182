"""Published tables against all consistent datasets one by one, and examples worked by hand."""

import csv
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction as F
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_oracle_published import AUTOWORKERS, PRINTED, by_cell, crossed

import qifsql
from qifsql.errors import DatasetError, InputError
from qifsql.reference import published_arrays as oracle
from qifsql.reference.published_arrays import Array, Cell, Dims, Problem, Table

NAMES = "abcd"
KINDS = (
    *("exact", "suppress", "suppress zeros", "round", "round random", "noise", "atleast"),
    *("round positive", "suppress<3+round:3", "round:2+suppress<3", "suppress<3+noise:1"),
)
POOLS: tuple[tuple[Any, ...], ...] = (
    ("x", "y", "z"),
    (0, 1, 2),
    (None, "", "a"),
    (2.5, None, -1.0),
    (False, True),
)
MOST_ARRAYS = 3000  # of a case; where there are more only the truth is compared
NO_TIME = 1e-6  # seconds: propagation alone
PROVED = ("reconstructed", "reconstructed_ones", "cells_proved", "singled_out", "certain_inference")
BOUNDS = {"closed form", "propagation", "integer programming", "mixed"}
EXACT = 1e-9


@dataclass(frozen=True)
class Case:
    """People, the tables of them, what the adversary knows and wants; None: the default."""

    people: tuple[Cell, ...]
    tables: tuple[Table, ...]
    known: Dims | None
    secret: int | None

    @property
    def frame(self) -> pl.DataFrame:
        return frame(self.people)

    @property
    def texts(self) -> list[str]:
        return [f"{written(t.dims)}:{t.protection}" for t in self.tables]

    @property
    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.known is not None:
            options["known"] = [NAMES[i] for i in self.known]
        if self.secret is not None:
            options["secret"] = NAMES[self.secret]
        return options


def frame(people: Sequence[Cell]) -> pl.DataFrame:
    columns = zip(*people, strict=True)
    return pl.DataFrame({name: list(c) for name, c in zip(NAMES, columns, strict=False)})


def written(dims: Dims) -> str:
    return ",".join(NAMES[i] for i in dims)


def attributes(names: Sequence[str]) -> Dims:
    return tuple(NAMES.index(name) for name in names)


@st.composite
def cases(
    draw: st.DrawFn, kinds: Sequence[str] = KINDS, most: int = 8, most_tables: int = 3
) -> Case:
    width = draw(st.integers(2, 4))
    pools = [draw(st.sampled_from(POOLS)) for _ in range(width)]
    sizes = [draw(st.integers(2, 3 if width < 4 else 2)) for _ in pools]
    person = st.tuples(*(st.sampled_from(p[:n]) for p, n in zip(pools, sizes, strict=True)))
    people = draw(st.lists(person, min_size=1, max_size=most))
    sets = draw(
        st.lists(
            st.sets(st.integers(0, width - 1), min_size=1, max_size=3),
            min_size=1,
            max_size=most_tables,
        )
    )
    used = sorted(set().union(*sets))  # U has no other attributes
    tables = []
    for dims in sets:
        kind = draw(st.sampled_from(kinds))
        n = 0
        if kind != "exact" and "+" not in kind:
            n = draw(st.integers(1 if kind == "noise" else 2, 4))
        order = draw(st.permutations(sorted(used.index(i) for i in dims)))
        tables.append(Table(tuple(order), kind, n))
    everything = range(len(used))
    secret = draw(st.sampled_from([None, *everything]))
    others = [i for i in everything if i != secret]
    known = draw(st.none() | st.sets(st.sampled_from(others), min_size=1)) if others else None
    return Case(
        tuple(oracle.of(p, tuple(used)) for p in people),
        tuple(tables),
        None if known is None else tuple(sorted(known)),
        secret,
    )


def sharp(problem: Problem, most: int = MOST_ARRAYS) -> list[Array] | None:
    """Return all consistent arrays; None: there are too many."""
    try:
        arrays = oracle.consistent(problem, most)
    except oracle.TooManyError:
        return None
    assert arrays  # the truth is one of them
    return arrays


def check_truth(row: Mapping[str, Any], people: Sequence[Cell]) -> None:
    """Check what holds of a row whatever the tables tell."""
    n = len(people)
    known, secret = attributes(row["known"]), row["secret"]
    lines, groups = Counter(people), oracle.count(people, known)
    assert row["people"] == n
    assert row["bounds"] in BOUNDS
    assert row["reconstructed_ones"] <= sum(m == 1 for m in lines.values())
    assert row["reconstructed_ones"] <= row["reconstructed"] <= n
    assert row["singled_out"] <= sum(m == 1 for m in groups.values())
    asked = known if secret is None else (*known, *attributes([secret]))
    truth = oracle.count(people, asked)
    records = oracle.vulnerability(truth, n, secret=secret is not None)
    assert row["records"] == pytest.approx(float(records), abs=EXACT)
    assert row["lowest"] <= row["records"] + EXACT
    assert row["highest"] >= row["records"] - EXACT
    if secret is None:
        assert row["prior"] == pytest.approx(1 / n, abs=EXACT)
        assert row["actual"] is None
        return
    values = oracle.count(people, asked[-1:])
    assert row["prior"] == pytest.approx(max(values.values()) / n, abs=EXACT)
    assert row["actual"] <= row["records"] + EXACT
    sure = sum(
        m for k, m in groups.items() if sum(truth[*k, v] > 0 for (v,) in values) == 1
    )  # people whose group has one value in the records
    assert row["certain_inference"] <= sure


def check_sharp(
    row: Mapping[str, Any],
    problem: Problem,
    arrays: Sequence[Array],
    people: Sequence[Cell] | None,
) -> None:
    """Check a row against all consistent arrays: never more than they tell, equal where marked."""
    known = attributes(row["known"])
    secret = None if row["secret"] is None else NAMES.index(row["secret"])
    best = oracle.row(problem, arrays, known, secret, people)
    assert row["people"] == best["people"]
    for name in PROVED:
        if best[name] is not None:
            assert row[name] <= best[name], name
            if row["sharp"]:
                assert row[name] == best[name], name
    lowest, highest = float(best["lowest"]), float(best["highest"])
    assert row["lowest"] <= lowest + EXACT
    assert row["highest"] >= highest - EXACT
    if row["bracket_sharp"]:
        assert (row["lowest"], row["highest"]) == pytest.approx((lowest, highest), abs=EXACT)
    if row["estimate"]:
        if secret is None:
            assert row["believed"] is None
        return
    assert row["believed"] is not None, "null though it is said to be no fit"
    assert row["believed"] == pytest.approx(float(best["believed"]), abs=EXACT)
    if people is None:
        assert row["actual"] is None
        assert row["records"] is None
        return
    assert row["records"] == pytest.approx(float(best["records"]), abs=EXACT)
    assert row["prior"] == pytest.approx(float(best["prior"]), abs=EXACT)
    if secret is None:
        assert row["actual"] is None
        return
    if not oracle.close_call(oracle.expected(problem, arrays, (*known, secret))):
        assert row["actual"] == pytest.approx(float(best["actual"]), abs=EXACT)


def check_monotone(rows: Sequence[Mapping[str, Any]]) -> None:
    """Check that more tables never tell less."""
    asked = {(tuple(r["known"]), r["secret"]) for r in rows}
    for known, secret in asked:
        own = [r for r in rows if (tuple(r["known"]), r["secret"]) == (known, secret)]
        for fewer, more in pairwise(sorted(own, key=lambda r: len(r["tables"]))):
            tells_no_less(more, fewer)


def tells_no_less(more: Mapping[str, Any], fewer: Mapping[str, Any]) -> None:
    for name in PROVED:
        if fewer[name] is not None:
            assert more[name] >= fewer[name], name
    assert more["lowest"] >= fewer["lowest"] - EXACT
    assert more["highest"] <= fewer["highest"] + EXACT


def check_rows(result: qifsql.Result, case: Case, told: Sequence[oracle.Marks] | None) -> None:
    """Check all rows of a case. ``told``: what an outsider has; None: the custodian's result."""
    rows = result.rows()
    n = len(case.tables)
    assert {len(r["tables"]) for r in rows} == set(range(1, n + 1))
    assert (None if case.secret is None else NAMES[case.secret]) in {r["secret"] for r in rows}
    for row in rows:
        used = case.tables[: len(row["tables"])]
        if case.known is not None:
            assert attributes(row["known"]) == case.known
        else:
            secret = row["secret"]
            assert set(row["known"]) <= set(NAMES[: len(case.people[0])]) - {secret}
        if told is None:
            check_truth(row, case.people)
            if any(t.drawn for t in used):
                continue
        cells = told or [oracle.publish(case.people, t) for t in used]
        problem = Problem(
            oracle.domains(case.people), len(case.people), tuple(zip(used, cells, strict=False))
        )
        arrays = sharp(problem)
        if arrays is not None:
            check_sharp(row, problem, arrays, case.people if told is None else None)
    check_monotone(rows)


def check_custodian(case: Case, budget: float | None) -> None:
    options = case.options if budget is None else {**case.options, "time_budget": budget}
    result = qifsql.tables(case.frame, table=case.texts, progressive=True, **options)
    check_rows(result, case, None)


@pytest.mark.slow(because="4 s; every recorded mutant dies without it")
@settings(max_examples=examples(40))
@given(cases(), st.sampled_from([None, NO_TIME]))
def test_custodian(case: Case, budget: float | None) -> None:
    check_custodian(case, budget)


@pytest.mark.slow(because="4.1 s; every recorded mutant dies without it")
@settings(max_examples=examples(40))
@given(cases(kinds=("exact",), most=6))
def test_custodian_of_exact_tables(case: Case) -> None:
    result = qifsql.tables(case.frame, table=case.texts, progressive=True, **case.options)
    check_rows(result, case, None)
    sets = [t.dims for t in case.tables]
    form = oracle.closed_form(case.people, sets)
    if form is None:
        return
    proved = [low for low, high in form.bounds.values() if low == high]
    for row in [r for r in result.rows() if len(r["tables"]) == len(sets)]:
        assert (row["cells_proved"], row["reconstructed"]) == (len(proved), sum(proved))
        if len(row["known"]) == len(case.people[0]):  # nothing but cells of U is asked
            assert (row["bounds"], row["sharp"]) == ("closed form", True)


def column(values: Sequence[Any]) -> list[str]:
    return ["none" if v is None else f"v{v}" for v in values]


def publish(folder: Path, name: str, table: Table, told: oracle.Marks) -> str:
    """Write a table as an office does: a line for each cell; return the text of the option."""
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*(NAMES[i] for i in table.dims), "count"])
        for cell, n in told.items():
            lines.writerow([*column(cell), "*" if n is None else n])
    return f"{path}:{table.protection}"


@st.composite
def outsiders(draw: st.DrawFn, most_tables: int = 3) -> tuple[Case, list[oracle.Marks]]:
    """Draw a case with what is published, also where chance decides."""
    case = draw(cases(most=6, most_tables=most_tables))
    values = oracle.domains(case.people)
    told = []
    for table in case.tables:
        truth = oracle.count(case.people, table.dims)
        cells = product(*(values[i] for i in table.dims))
        published = {c: draw(st.sampled_from(oracle.choices(table, truth[c]))) for c in cells}
        assume(any(n is not None for n in published.values()))  # the command refuses such a file
        told.append(published)
    return case, told


def check_outsider(case: Case, told: Sequence[oracle.Marks]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = [
            publish(Path(folder), f"t{i}", table, cells)
            for i, (table, cells) in enumerate(zip(case.tables, told, strict=True))
        ]
        n = len(case.people)
        options = {**case.options, "count": n, "counts": "count"}
        result = qifsql.tables(published=files, progressive=True, **options)
    check_rows(result, case, told)


@pytest.mark.slow(because="3.8 s; every recorded mutant dies without it")
@settings(max_examples=examples(40))
@given(outsiders())
def test_outsider(drawn: tuple[Case, list[oracle.Marks]]) -> None:
    check_outsider(*drawn)


# Tables that contradict each other.

Tampered = tuple[Case, list[oracle.Marks], tuple[Dims, frozenset[Cell]] | None]


@st.composite
def tampered(
    draw: st.DrawFn,
) -> tuple[Case, list[oracle.Marks], tuple[Dims, frozenset[Cell]] | None]:
    """Draw tables of which half the time a cell was changed, and combinations that can occur."""
    case, told = draw(outsiders())
    if draw(st.booleans()):
        i = draw(st.integers(0, len(told) - 1))
        cell = draw(st.sampled_from(sorted(told[i], key=repr)))
        n = draw(st.integers(0, 7))
        told[i] = told[i] | {cell: draw(st.sampled_from(oracle.choices(case.tables[i], n)))}
        assume(any(count is not None for count in told[i].values()))
    if not draw(st.booleans()):
        return case, told, None
    values = oracle.domains(case.people)
    width = draw(st.integers(1, len(values)))
    dims = tuple(sorted(draw(st.permutations(range(len(values))))[:width]))
    every = list(product(*(values[i] for i in dims)))
    allowed = draw(st.sets(st.sampled_from(every), min_size=1))
    if draw(st.booleans()):
        allowed |= {oracle.of(person, dims) for person in case.people}
    return case, told, (dims, frozenset(allowed))


@settings(max_examples=examples(40))
@given(tampered(), st.booleans())
def test_tables_without_any_counts_are_refused_and_no_others(
    drawn: Tampered, counted: bool
) -> None:
    check_tampered(*drawn, counted=counted)


@pytest.mark.slow(because="twenty-five times as many of the same")
@settings(max_examples=examples(1000))
@given(tampered(), st.booleans())
def test_tables_without_any_counts_at_length(drawn: Tampered, counted: bool) -> None:
    check_tampered(*drawn, counted=counted)


def check_tampered(
    case: Case,
    told: Sequence[oracle.Marks],
    possible: tuple[Dims, frozenset[Cell]] | None,
    *,
    counted: bool,
) -> None:
    """No empty set of datasets is answered, and what is answered has the truth in it."""
    counted |= not any(table.kind == "exact" for table in case.tables)
    options = {**case.options, "counts": "count"}
    people = len(case.people)
    if counted:
        options["count"] = people
    else:
        exact = next(i for i, table in enumerate(case.tables) if table.kind == "exact")
        people = sum(n or 0 for n in told[exact].values())
    problem = Problem(
        oracle.domains(case.people),
        people,
        tuple(zip(case.tables, told, strict=True)),
        () if possible is None else (possible,),
    )
    try:
        arrays = oracle.consistent(problem, MOST_ARRAYS)
    except oracle.TooManyError:
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [
            publish(Path(folder), f"t{i}", table, cells)
            for i, (table, cells) in enumerate(zip(case.tables, told, strict=True))
        ]
        if possible is not None:
            path = Path(folder) / "possible.csv"
            with path.open("w", newline="") as file:
                lines = csv.writer(file)
                lines.writerow([NAMES[i] for i in possible[0]])
                lines.writerows(column(cell) for cell in sorted(possible[1], key=repr))
            options["possible"] = path
        if not arrays or not people:
            with pytest.raises(InputError):
                qifsql.tables(published=files, **options)
            return
        try:
            result = qifsql.tables(published=files, **options)
        except DatasetError as e:  # drawn counts may look like totals, where nobody counts people
            if counted or "the sums of all other values" not in str(e):
                raise
            result = qifsql.tables(published=files, **options, count=people)
        (row,) = result.frame.rows(named=True)
    check_sharp(row, problem, arrays, None)


# Laws.


def coarser(table: Table, n: int) -> list[Table]:
    """Return tables that any dataset agrees with if it agrees with a table of n people."""
    if table.kind in {"suppress", "suppress zeros"}:
        return [replace(table, number=table.number + 1), replace(table, kind="suppress zeros")]
    if table.kind == "atleast":
        return [replace(table, number=k) for k in (table.number - 1,) if k]
    if table.kind == "exact":
        return [
            Table(table.dims, "suppress", 3),
            Table(table.dims, "round", 3),
            Table(table.dims, "atleast", max(1, n // 2)),
            *(Table(table.dims[:i] + table.dims[i + 1 :]) for i in range(len(table.dims) - 1)),
        ]
    return []


@pytest.mark.slow(because="8.6 s; every recorded mutant dies without it")
@settings(max_examples=examples(40))
@given(st.data(), cases(kinds=("exact", "suppress", "suppress zeros", "atleast"), most=6))
def test_a_coarser_table_never_tells_more(data: st.DataObject, case: Case) -> None:
    singles = tuple(Table((i,)) for i in range(len(case.people[0])))  # keep U and the domains
    i = data.draw(st.integers(0, len(case.tables) - 1))
    options = coarser(case.tables[i], len(case.people))
    if not options:
        return
    less = data.draw(st.sampled_from(options))
    fine = replace(case, tables=(*singles, *case.tables))
    coarse = replace(case, tables=(*singles, *case.tables[:i], less, *case.tables[i + 1 :]))
    results = [qifsql.tables(c.frame, table=c.texts, **c.options).rows() for c in (fine, coarse)]
    for more, fewer in zip(*results, strict=True):
        assert (more["secret"], more["known"]) == (fewer["secret"], fewer["known"])
        tells_no_less(more, fewer)


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
@settings(max_examples=examples(40))
@given(cases(kinds=("exact",)))
def test_the_full_table_gives_the_attack_on_the_records(case: Case) -> None:
    width = len(case.people[0])
    full = replace(case, tables=(*case.tables, Table(tuple(range(width)))))
    n = len(case.people)
    for row in qifsql.tables(full.frame, table=full.texts, **full.options).rows():
        assert (row["reconstructed"], row["sharp"], row["estimate"]) == (n, True, False)
        if not row["known"]:
            continue
        model = "crs" if row["secret"] is None else "cas"
        asked = {} if row["secret"] is None else {"secret": row["secret"]}
        (same,) = qifsql.attack(model, full.frame, qids=row["known"], **asked).rows()
        certain = "singled_out" if row["secret"] is None else "certain_inference"
        assert row[certain] == pytest.approx(same["posterior_deterministic"] * n)
        assert row["singled_out"] == same["singled_out"]
        assert row["prior"] == pytest.approx(same["prior_probabilistic"])
        ends = ("lowest", "highest", "believed", "records")
        if row["secret"] is not None:
            ends = (*ends, "actual")
        for name in ends:
            assert row[name] == pytest.approx(same["posterior_probabilistic"]), name


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@settings(max_examples=examples(40))
@given(st.data(), cases(kinds=("exact", "suppress", "round"), most=6))
def test_nested_dimensions(data: st.DataObject, case: Case) -> None:
    # a is made to lie in b, as a city lies in one state
    outer = {v: data.draw(st.sampled_from("pq")) for v in oracle.domains(case.people)[0]}
    if len(case.people[0]) == 1:
        return
    people = tuple((p[0], outer[p[0]], *p[2:]) for p in case.people)
    case = replace(case, people=people)
    result = qifsql.tables(
        case.frame, table=case.texts, nested="a,b", progressive=True, **case.options
    )
    rule = ((0, 1), frozenset(oracle.count(people, (0, 1))))
    for row in result.rows():
        check_truth(row, people)
        used = case.tables[: len(row["tables"])]
        told = tuple((t, oracle.publish(people, t)) for t in used)
        problem = Problem(oracle.domains(people), len(people), told, (rule,))
        arrays = sharp(problem)
        if arrays is not None:
            check_sharp(row, problem, arrays, people)
    check_monotone(result.rows())


# Examples worked by hand.


def only(result: qifsql.Result, secret: str | None) -> dict[str, Any]:
    (row,) = [r for r in result.rows() if r["secret"] == secret]
    return row


def expect(row: Mapping[str, Any], **numbers: Any) -> None:
    for name, number in numbers.items():
        wanted = float(number) if isinstance(number, F) else number
        assert row[name] == pytest.approx(wanted, abs=EXACT), name


def test_a_chain_of_two_tables() -> None:
    # Tables ab and bc. b=0: a is 0,0,1 and c is 0,0,1. With t = count of 000 the counts of
    # 000, 001, 100, 101 are t, 2-t, 2-t, t-1, so t is 1 or 2. b=1: one person, 011. Proved are the
    # four cells with b=1, one of which has a person. Means by Dobra and Fienberg's formula:
    # 2*2/3 = 4/3, 2/3, 2/3, 1/3, and 1.
    people = crossed({"000": 1, "001": 1, "100": 1, "011": 1})
    result = qifsql.tables(frame(people), table=["a,b", "b,c"], secret="c")
    row = only(result, "c")
    assert (row["bounds"], row["sharp"], row["estimate"]) == ("closed form", True, False)
    assert row["known"] == ["a", "b"]
    expect(
        row,
        **{"people": 4, "reconstructed": 1, "reconstructed_ones": 1, "cells_proved": 4},
        singled_out=2,  # ab = 10 and ab = 01
        certain_inference=1,  # ab = 01: with b = 1 everybody has c = 1
        lowest=F(3, 4),  # t = 1: 1 + 1 + 1 of 4
        highest=1,  # t = 2: 2 + 1 + 1 of 4
        prior=F(1, 2),  # c is 0, 1, 0, 1
        believed=F(3, 4),  # 4/3 + 2/3 + 1 = 3 of 4
        actual=F(3, 4),  # c = 0 is right for 000 and 100, c = 1 for 011, and wrong for 001
        records=F(3, 4),
    )


def test_bounds_that_dobra_and_fienberg_print() -> None:
    # The bounds of all 64 cells stand in the oracle's tests; none has an upper bound of 0, and all
    # lower bounds are 0, so that nothing is proved. What she believes about B comes from the
    # oracle's formula, in fractions: B is in two cliques, which makes her a naive Bayes classifier.
    counts = by_cell(AUTOWORKERS)
    people = [cell for cell, n in counts.items() for _ in range(n)]
    assert min(by_cell(PRINTED).values()) > 0
    data = pl.DataFrame(people, schema=list("abcdef"), orient="row")
    result = qifsql.tables(data, table=["b,f", "a,b,c,e", "a,d,e"], secret="b")
    row = only(result, "b")
    assert not row["estimate"]
    expect(row, people=1841, reconstructed=0, cells_proved=0)
    form = oracle.closed_form(people, [(1, 5), (0, 1, 2, 4), (0, 3, 4)])
    assert form is not None
    order = (0, 2, 3, 4, 5, 1)  # the secret last
    means = {oracle.of(c, order): m for c, m in form.means.items()}
    truth = {oracle.of(c, order): n for c, n in counts.items()}
    expect(
        row,
        believed=oracle.vulnerability(means, 1841, secret=True),
        actual=oracle.success(oracle.guesses(means), truth) / 1841,
        records=oracle.vulnerability(truth, 1841, secret=True),
        prior=F(sum(n for c, n in counts.items() if c[1] == "0"), 1841),
    )


CHAIN = {"1010": 1, "0111": 2, "1000": 1, "0000": 1}


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_margin_over_one_link_of_a_chain() -> None:
    # Tables ab and bc of the first three attributes; asked is ac. b=1: two people, both 0_1. b=0: a
    # is 1, 1, 0 and c is 1, 0, 0. Let t = 1 if the one with a = 0 has c = 1, else 0: the counts of
    # ac = 00, 01, 10, 11 are 1-t, 2+t, 1+t, 1-t. So 4 or 2 of the cells have people, and
    # the best guess of c is right for 2 + 1 or for 3 + 2 of 5 people.
    people = crossed({key[:3]: n for key, n in CHAIN.items()})
    result = qifsql.tables(frame(people), table=["a,b", "b,c"], known="a,c")
    row = only(result, None)
    expect(row, lowest=F(2, 5), highest=F(4, 5), singled_out=0)
    result = qifsql.tables(frame(people), table=["a,b", "b,c"], known="a", secret="c")
    row = only(result, "c")
    expect(row, lowest=F(3, 5), highest=1, certain_inference=0)


@pytest.mark.slow(because="2.8 s; every recorded mutant dies without it")
def test_margin_over_two_links_of_a_chain() -> None:
    # Tables ab, bc, cd; asked is ad. Three people have a = 0, three have d = 0. Two of those with
    # a = 0 have b = 1 and so c = 1; of the three with c = 1 only one has d = 0. So one or two have
    # a = d = 0, where the sum of the bounds of cells is [0, 3]: x = 1 or 2, and the counts of
    # ad = 00, 01, 10, 11 are x, 3-x, 3-x, x-1. So 3 or 4 cells have people, and the best guess of d
    # is right for 2 + 2 or for 2 + 1 of 5. Adding up bounds gives 2 of 5 and 5 of 5 (x = 3).
    people = crossed(CHAIN)
    tables = ["a,b", "b,c", "c,d"]
    row = only(qifsql.tables(frame(people), table=tables, known="a,d"), None)
    assert row["lowest"] <= 3 / 5
    assert row["highest"] >= 4 / 5
    if row["bracket_sharp"]:
        expect(row, lowest=F(3, 5), highest=F(4, 5))
    row = only(qifsql.tables(frame(people), table=tables, known="a", secret="d"), "d")
    assert row["lowest"] <= 3 / 5
    assert row["highest"] >= 4 / 5
    if row["bracket_sharp"]:
        expect(row, lowest=F(3, 5), highest=F(4, 5))


# Hidden cells: rows and columns 1 and 2, rows and columns 3 and 4, and the cell (2, 3).
SQUARES = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 3), (3, 4), (4, 3), (4, 4)]


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
def test_two_hidden_squares_joined_by_a_hidden_cell() -> None:
    # Two people in each of nine hidden cells, nobody in the others, totals of rows and columns
    # exact. Rows 1 and 2 less columns 1 and 2 leave the joint: 4 + 6 - 4 - 4 = 2. In one sum alone
    # it may be 1 to 4 (row 2: 6 less two cells of 1 to 3). Each square then has one degree of
    # freedom, 1 to 3: nine datasets, in which nothing else is the same but the seven empty cells.
    people = [cell for cell in SQUARES for _ in range(2)]
    tables = ["a,b:suppress<5", "a", "b"]
    row = only(qifsql.tables(frame(people), table=tables), None)
    assert row["bounds"] in {"integer programming", "mixed"}
    assert row["sharp"]
    expect(row, people=18, reconstructed=2, reconstructed_ones=0, cells_proved=8, singled_out=0)
    expect(row, lowest=F(1, 2), highest=F(1, 2))  # nine cells of 18 people whatever they hold
    row = only(qifsql.tables(frame(people), table=tables, time_budget=NO_TIME), None)
    if not row["sharp"]:
        assert row["reconstructed"] <= 2
        assert 7 <= row["cells_proved"] <= 8


@pytest.mark.slow(because="1.6 s; every recorded mutant dies without it")
def test_propagation_alone_misses_the_joint() -> None:
    # As above; without time for sharp bounds the empty cells are all that is known. Counting the
    # nine datasets would be allowed, so this holds only where the row says propagation.
    people = [cell for cell in SQUARES for _ in range(2)]
    result = qifsql.tables(
        frame(people), table=["a,b:suppress<5", "a", "b"], time_budget=NO_TIME, secret="b"
    )
    row = only(result, "b")
    if row["bounds"] == "propagation":
        expect(row, reconstructed=0, cells_proved=7, sharp=False)


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_a_secret_in_two_tables_makes_a_naive_bayes_classifier() -> None:
    # Tables ac and bc, secret c. c=s: three people, two with a=0, two with b=0; c=t: two people,
    # one with a=0, one with b=0. Means of (ab, s) and (ab, t), n_ac n_bc / n_c:
    # 00: 4/3, 1/2; 01: 2/3, 1/2; 10: 2/3, 1/2; 11: 1/3, 1/2. She guesses s, s, s, t and believes
    # (4/3 + 2/3 + 2/3 + 1/2) / 5 = 19/30. She is right for the two of 00s alone: 2/5, less than
    # the prior 3/5, while in the records ab tells c: 1.
    people = crossed({"00s": 2, "01t": 1, "10t": 1, "11s": 1})
    result = qifsql.tables(frame(people), table=["a,c", "b,c"], secret="c")
    row = only(result, "c")
    assert not row["estimate"]
    expect(row, prior=F(3, 5), believed=F(19, 30), actual=F(2, 5), records=1)


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_believed_may_exceed_the_records() -> None:
    # Tables ac and bc, four people each with c=s and c=t. Of s three have a=0 and three b=0, of t
    # two and two. Means of (ab, s): 9/4, 3/4, 3/4, 1/4; of (ab, t): all 1. She guesses s, t, t, t
    # and believes (9/4 + 3) / 8 = 21/32. Right are 2, 1, 1 and 1 of 8; with the records the best
    # guesses have 2, 1, 1 and 1, too: 5/8 < 21/32.
    people = crossed({"00s": 2, "01s": 1, "10s": 1, "00t": 1, "01t": 1, "10t": 1, "11t": 1})
    result = qifsql.tables(frame(people), table=["a,c", "b,c"], secret="c")
    row = only(result, "c")
    expect(row, prior=F(1, 2), believed=F(21, 32), actual=F(5, 8), records=F(5, 8))


def test_a_small_rounded_cell_beside_a_large_one_is_pushed_up() -> None:
    # Two people with a=0 and eight with a=1 (all b=z), rounded to 10: 0, which is [0, 4], and
    # 10, which is [5, 14]; ten in all. The arrays (h, 10-h) have 10!/(h! (10-h)!) = 1, 10, 45,
    # 120, 210 ways, 386 together, and h the mean (10 + 90 + 360 + 840) / 386 = 1300/386, above 3.
    people = crossed({"0z": 2, "1z": 8})
    row = only(qifsql.tables(frame(people), table="a,b:round:10", secret="a"), "a")
    expect(row, believed=F(10 * 386 - 1300, 3860), actual=F(4, 5), records=F(4, 5))
    expect(row, lowest=F(3, 5), highest=1)  # h = 4 and h = 0


def test_equally_good_guesses_are_right_on_average() -> None:
    # That both values occur is all that `atleast:1` tells: h is 1 to 9 of ten, and by symmetry both
    # means are 5. One guess is right for two people, the other for eight.
    people = crossed({"0z": 2, "1z": 8})
    row = only(qifsql.tables(frame(people), table="a,b:atleast:1", secret="a"), "a")
    expect(row, believed=F(1, 2), actual=F(1, 2), lowest=F(1, 2), highest=F(9, 10))


# Bad input.


@pytest.mark.slow(because="6.8 s; every recorded mutant dies without it")
def test_three_tables_contradict_while_each_two_agree(tmp_path: Path) -> None:
    # a = b and b = c for both people, but a differs from c: no dataset, though each two have one.
    same, other = {("0", "0"): 1, ("1", "1"): 1}, {("0", "1"): 1, ("1", "0"): 1}
    files = [
        publish(tmp_path, name, Table(dims), told)
        for name, dims, told in [("ab", (0, 1), same), ("bc", (1, 2), same), ("ac", (0, 2), other)]
    ]
    for i in range(3):
        pair = [f for j, f in enumerate(files) if j != i]
        result = qifsql.tables(published=pair, count=2, counts="count")
        expect(only(result, None), people=2, reconstructed=2)
    with pytest.raises(InputError) as error:
        qifsql.tables(published=files, count=2, counts="count")
    assert all(name in str(error.value) for name in ("ab.csv", "bc.csv", "ac.csv"))


@pytest.mark.parametrize(
    "options",
    [
        {"table": ["a,b:supress<5"]},
        {"table": ["a,b:nois:2"]},
        {"table": ["a,b:suppress<1"]},
        {"table": ["a,nothing"]},
        {"table": [":suppress<5"]},
        {"table": []},
        {"table": ["a,a"]},
        {"table": ["a,b"], "secret": "c"},  # c is in no table
        {"table": ["a,b"], "known": "c"},
        {"table": ["a,b"], "known": "a", "secret": "a"},
    ],
)
def test_what_makes_no_sense_is_an_input_error(options: dict[str, Any]) -> None:
    people = crossed({"000": 1, "111": 2})
    with pytest.raises(InputError):
        qifsql.tables(frame(people), **options)


# At length.


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(cases(most_tables=4), st.sampled_from([None, NO_TIME]))
def test_custodian_at_length(case: Case, budget: float | None) -> None:
    check_custodian(case, budget)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(outsiders(most_tables=4))
def test_outsider_at_length(drawn: tuple[Case, list[oracle.Marks]]) -> None:
    check_outsider(*drawn)
