"""Releases beside the original, against an oracle of fractions, and other parts of the package."""

import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_comparison as oracle
import oracle_composition
import polars as pl
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle_composition import Begun, Cell, Everything, Interval, Members, Release, holds
from places import HOSPITALS
from terminal import run
from test_compose import Case, cases, files, is_clash, meaning, plain_text, written

import qifsql
from qifsql.commands.compare.releases import SCHEMA
from qifsql.counting.losses import COLUMNS
from qifsql.data.missing import USUAL
from qifsql.measures import utility
from qifsql.reference import compatible_records, microdata

COMPATIBLE = (
    *("records", "k", "singled_out", "candidates", "misled", "individuals_certain"),
    *("posterior_probabilistic", "cas_posterior_probabilistic"),
)
MEANS = ("generalised", "certainty_penalty", "total_variation", "divergence")


def one_column(kind: str, form: str, cells: Sequence[Cell], people: Sequence[Any]) -> Case:
    """Return a release of one column, whose records have one secret."""
    rows = tuple(((cell,), "flu") for cell in cells)
    persons = tuple((value,) for value in people)
    return Case(
        (kind,), (Release((0,), rows),), ((form,),), persons, ("flu",) * len(persons), False
    )


MISSING, ANY = Members((None,)), Everything()
OVER_ZERO = Interval(0, None, missing=True)
DATE_AFTER = date(2020, 1, 31)
DATES_BETWEEN = [Members((date(2020, 1, 1),)), Members((DATE_AFTER,)), Members((DATE_AFTER,))]


@given(cases())
@example(one_column("whole", "plain", [MISSING, Members((-3,))], [None, -3]))
@example(one_column("whole", "plain", [MISSING, Members((-3,))], [-3, 1]))
@example(one_column("whole", "text", [ANY, OVER_ZERO, Begun("-", 2), MISSING], [-3, None, 12]))
@example(one_column("whole", "struct", [ANY, MISSING, Interval(-3, 0)], [-3, 0, None]))
@example(one_column("whole", "list", [ANY, Members((-3, None)), MISSING], [-3, None]))
@example(one_column("text", "plain_text", [Members(("*",)), Members(("a",))], ["*", "a"]))
@example(one_column("text", "plain_text", [MISSING, Members(("a",)), MISSING], ["a", None]))
@example(one_column("text", "text", [ANY, Begun("a", 2), Members(("*",)), MISSING], ["ab", "*"]))
@example(one_column("whole", "plain", [Members((2,)), Members((2,)), Members((6,))], [1, 3, 3, 6]))
@example(one_column("whole", "plain", [Members((4,))] * 3 + [Members((6,))], [1, 3, 5, 6]))
@example(one_column("whole", "plain", [Members((4,)), Members((9,)), MISSING], [1, 3, 5, 6]))
@example(one_column("date", "plain", [*DATES_BETWEEN, MISSING], [date(2019, 12, 31), DATE_AFTER]))
@settings(max_examples=examples(12))
def test_every_number_is_that_of_the_oracle(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths, original = files(case, Path(folder))
        tags = [f"{i}:truth=s" for i in range(2, len(paths) + 2)]
        asked: dict[str, Any] = {
            "qids": [f"q{i}" for i, kind in enumerate(case.kinds) if kind],
            "secret": ["truth", *tags],
            "plain": plain_text(case),
        }
        if is_clash(case):
            with pytest.raises(qifsql.QifError, match="holds text"):
                qifsql.compare(original, paths, **asked)
            return
        result = qifsql.compare(original, paths, **asked)
    rows, compatible = (result.frame.filter(view=v).to_dicts() for v in ("cells", "compatible"))
    used = [i for i, kind in enumerate(case.kinds) if kind]
    keys = [tuple(microdata.value(person[i]) for i in used) for person in case.people]
    all_text = not any(f"q{i}" in plain_text(case) for i in used)
    first = oracle.risk(keys, case.truths, [("*",) * len(used)] if all_text else [])
    assert {name: rows[0][name] for name in first} == first
    assert [rows[0][name] for name in MEANS] == [0.0] * 4
    for number, row in enumerate(rows[1:]):
        own = result.details["columns"].filter(file=number + 2).to_dicts()
        check_release(case, number, row, own)
    for row in compatible:
        check_compatible(case, row["file"] - 2, row)


def check_release(
    case: Case, number: int, row: dict[str, Any], columns: list[dict[str, Any]]
) -> None:
    release, forms = case.releases[number], case.forms[number]
    nothing = tuple(Everything() for _ in release.columns)
    *as_it_is, hidden_key = [
        tuple(
            _key(written(cell, case.kinds[i], form.removesuffix("_text")))
            for cell, i, form in zip(cells, release.columns, forms, strict=True)
        )
        for cells in (*(cells for cells, _ in release.rows), nothing)
    ]
    # A missing number or text is a value, and so is * in a plain column: see suppressed_here.
    hidden_keys = [hidden_key] if suppressed_here(case, number) else []
    expected = oracle.risk(as_it_is, [secret for _, secret in release.rows], hidden_keys)
    assert {name: row[name] for name in expected} == expected
    meant = meaning(case).releases[number]
    known = {i: [microdata.value(p[i]) for p in case.people] for i in range(len(case.kinds))}
    by_column: dict[int, list[Any]] = {}
    numbers: dict[int, list[tuple[float, int] | None]] = {}
    classes = Counter(as_it_is)
    hidden = [True] * len(meant.rows)
    for at, (i, form) in enumerate(zip(release.columns, forms, strict=True)):
        cells = [cells[at] for cells, _ in meant.rows]
        texts = [written(c[at], case.kinds[i], form.removesuffix("_text")) for c, _ in release.rows]
        absent = [t is None or (isinstance(t, str) and t in USUAL) for t in texts]
        lost = [
            e and not any(holds(c, v) for v in known[i]) for c, e in zip(cells, absent, strict=True)
        ]
        cells = [Everything() if gone else c for c, gone in zip(cells, lost, strict=True)]
        hidden = [h and isinstance(c, Everything) for h, c in zip(hidden, cells, strict=True)]
        by_column[i] = without_excess(cells, absent, known[i])
        smallest = [min(n for c, n in classes.items() if c[at] == k[at]) for k in as_it_is]
        numbers[i] = [
            (x, n) if (x := number_of(t, case.kinds[i])) is not None else None
            for t, n in zip(texts, smallest, strict=True)
        ]
    assert row["suppressed"] == sum(hidden)
    for column in columns:
        i = int(column["quasi_identifier"][1:])
        cells = by_column.get(i, [Everything()] * len(meant.rows))
        own = stretched(known[i], cells, numbers.get(i, [None] * len(cells)))
        check_column(column, case.kinds[i], known[i], cells, own)
    for name in MEANS:
        mean = math.fsum(c[name] for c in columns) / len(columns)
        assert row[name] == mean


def check_compatible(case: Case, number: int, row: dict[str, Any]) -> None:
    """The records that may be a person's are those of the definition."""
    release, forms = case.releases[number], case.forms[number]
    meant = meaning(case).releases[number]
    known = {i: [microdata.value(p[i]) for p in case.people] for i in release.columns}

    def contains(cell: Cell, at: int, text: Any) -> Callable[[Any], bool]:
        i, form = release.columns[at], forms[at].removesuffix("_text")
        is_word = isinstance(text, str) and text in USUAL
        is_lost = is_word and not any(holds(cell, v) for v in known[i])
        texts = [written(cells[at], case.kinds[i], form) for cells, _ in release.rows]
        is_excess = text is None and texts.count(None) > known[i].count(None)
        free = is_excess or is_lost or isinstance(cell, Everything)
        return lambda value: free or holds(cell, value)

    records = []
    for cells, (own, _) in zip(meant.rows, release.rows, strict=True):
        texts = [
            written(cell, case.kinds[i], form.removesuffix("_text"))
            for cell, i, form in zip(own, release.columns, forms, strict=True)
        ]
        records.append([contains(c, at, texts[at]) for at, c in enumerate(cells[0])])
    people = [[person[i] for i in release.columns] for person in case.people]
    secrets = [secret for _, secret in release.rows]
    own = range(len(people)) if len(people) == len(records) else None
    expected = compatible_records.find(people, records, secrets, own)
    assert {name: row[name] for name in COMPATIBLE} == {
        name: float(value) if isinstance(value := expected[name], Fraction) else value
        for name in COMPATIBLE
    }


def suppressed_here(case: Case, number: int) -> bool:
    """Return whether records of a release can be suppressed: all its cells may stand for anything.

    A plain column has values, of which a missing one is one and the text ``*`` another.
    """
    plain = plain_text(case)
    columns = zip(case.releases[number].columns, case.forms[number], strict=True)
    return not any(form.startswith("plain") or f"q{i}" in plain for i, form in columns)


def without_excess(cells: list[Any], absent: list[bool], values: list[Any]) -> list[Any]:
    """The cells, of which as many empty ones are lost as the original has fewer of."""
    counts = Counter(oracle_composition.written(c) for c, e in zip(cells, absent, strict=True) if e)
    changed = []
    for cell, empty in zip(cells, absent, strict=True):
        text = oracle_composition.written(cell)
        only_missing = empty and {v for v in values if holds(cell, v)} == {None}
        if only_missing and counts[text] > values.count(None):
            counts[text] -= 1
            changed.append(Everything())
        else:
            changed.append(cell)
    return changed


def number_of(cell: Any, kind: str) -> Any:
    """The number or date that a cell is; None for others and words for missing values."""
    if cell is None or isinstance(cell, list) or cell in USUAL or kind == "text":
        return None
    try:
        if kind == "date":
            return cell if isinstance(cell, date) else date.fromisoformat(cell)
        return float(cell)
    except (TypeError, ValueError):
        return None


def stretched(
    values: list[Any], cells: list[Any], numbers: list[tuple[float, int] | None]
) -> list[list[Any]]:
    """The values that each cell contains; numbers between them, and all beside these, represent."""
    contained = [[v for v in dict.fromkeys(values) if holds(cell, v)] for cell in cells]
    known = [v for v in values if v is not None]
    singles = {
        i: found
        for i, found in enumerate(numbers)
        if found is not None
        and known
        and min(known) <= found[0] <= max(known)
        and not isinstance(cells[i], Everything)
        and (contained[i] or not isinstance(found[0], date))  # a date between them is outside
    }
    between = any(not contained[i] for i in singles)
    many = len(cells) <= len(values) and any(n > values.count(x) for x, n in singles.values())
    if between or many:
        for i, (number, records) in singles.items():
            contained[i] = oracle.stretch(number, records, values)
    return contained


def check_column(
    column: dict[str, Any], kind: str, values: list[Any], cells: list[Any], contained: list[Any]
) -> None:
    beside = [not any(holds(cell, v) for v in values) for cell in cells]
    everything = [isinstance(cell, Everything) for cell in cells]
    n = len(cells)
    assert column["values"] == len(set(values))
    changed = sum(len(c) != 1 or e for c, e in zip(contained, everything, strict=True))
    assert column["generalised"] == changed / n
    assert column["outside"] == sum(beside) / n
    lost = oracle.penalty(contained, everything, set(values), ordered=kind != "text")
    assert column["certainty_penalty"] == pytest.approx(float(lost), abs=1e-12)
    variation, divergence = oracle.distances(values, contained)
    assert column["total_variation"] == float(variation)
    assert column["divergence"] == pytest.approx(divergence, abs=1e-12)


def _key(value: Any) -> Any:
    """A cell as a key of a dictionary."""
    if isinstance(value, list):
        return ("list", *value)
    return tuple(value.items()) if isinstance(value, dict) else value


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=40),
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
)
def test_parts_cut_records_without_a_rest_or_into_very_small_pieces(
    widths: list[int], records: list[int]
) -> None:
    parts = utility.parts(widths)
    assert parts == utility.PARTS or all(parts % width == 0 for width in widths)
    assert parts <= utility.MOST


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=9))
def test_distances_keep_their_bounds(counts: list[tuple[int, int]]) -> None:
    original, release = (sum(column) for column in zip(*counts, strict=True))
    if not original or not release:
        return
    masses = [utility.Mass(p, q, 1) for p, q in counts]
    found = utility.distances(masses, original=original, release=release, parts=1)
    assert 0 <= found.total_variation <= 1
    assert found.divergence >= 0
    # Pinsker's inequality: divergence in nats is at least twice the square of total variation.
    assert found.divergence * math.log(2) >= 2 * found.total_variation**2 - 1e-9
    assert (found.total_variation == 0) == (found.divergence == 0)


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
@pytest.mark.parametrize("method", ["mondrian", "mdav"])
def test_it_agrees_with_anonymise_attack_and_levels(
    tmp_path: Path, method: str, ending: str
) -> None:
    columns = pl.DataFrame({"age": [n % 47 for n in range(400)], "s": [n % 3 for n in range(400)]})
    columns = columns.with_columns(
        town=pl.Series([f"town {n * n % 11}" for n in range(400)]), n=pl.Series(range(400)) * 0.25
    )
    columns.write_parquet(tmp_path / "original.parquet")
    asked: dict[str, Any] = {"qids": ["age", "town", "n"], "secret": "s"}
    out = tmp_path / f"out{ending}"
    made = qifsql.anonymise(tmp_path / "original.parquet", out, method=method, k=6, **asked)
    result = qifsql.compare(tmp_path / "original.parquet", out, **asked)
    row = result.frame.row(1, named=True)
    assert row["k"] >= 6
    assert row["blocks"] == made.frame["classes"][0]
    own = result.details["columns"].filter(file=2)
    for name in ("generalised", "certainty_penalty"):
        assert own[name].to_list() == pytest.approx(
            made.details["quasi_identifiers"][name].to_list(), abs=1e-6
        )
    if ending == ".csv":
        attacked = qifsql.attack("crs,cas", out, **asked).frame
        for name in ("posterior_deterministic", "posterior_probabilistic"):
            assert attacked[name].to_list() == [row[f"crs_{name}"], row[f"cas_{name}"]]
        graded = qifsql.levels(out, **asked).frame
        least = dict(graded.select("measure", "value").iter_rows())
        assert (least["k"], least["l_distinct"]) == (row["k"], row["l"])
        assert least["average_class_size"] == row["average_class_size"]


def test_the_hospitals_of_ganta_et_al() -> None:
    """Table 1: hospital A is 4-anonymous, and its third class has one condition (AIDS is not in
    all). Table 2: hospital B is 6-anonymous. People stand for the original."""
    a, b, people = (HOSPITALS / f"{n}.csv" for n in ("hospital_a", "hospital_b", "people"))
    header = pl.read_csv(people, infer_schema=False).columns
    shown = pl.read_csv(a, infer_schema=False).columns
    secret = next(c for c in shown if c not in ("zip", "age", "nationality"))
    original = people if secret in header else a
    result = qifsql.compare(
        qifsql.Dataset.open(original, all_varchar=True),
        [qifsql.Dataset.open(b, all_varchar=True)],
        qids=["zip", "age", "nationality"],
        secret=secret,
        plain=["age"],
    )
    assert result.frame["k"].to_list()[1] == 6


def test_what_a_hand_computation_gives(tmp_path: Path) -> None:
    """Ages 20, 30, 40, 40 against two cells [20,30], one {40} and one *: by hand.

    p = 1/4, 1/4, 1/2. The first two spread 1/2 + 1/2 each over 20 and 30, the last 1/3 each:
    q = (1 + 1/3)/4, (1 + 1/3)/4, (1 + 1/3)/4 = 1/3 each. TV = (1/12 + 1/12 + 1/6)/2 = 1/6;
    KL = 2 * 1/4 log2(3/4) + 1/2 log2(3/2); penalty = (1/2 + 1/2 + 0 + 1)/4 = 1/2.
    """
    pl.DataFrame({"age": [20, 30, 40, 40], "s": [1, 1, 2, 2]}).write_csv(tmp_path / "o.csv")
    cells = ["[20,30]", "20-39", "{40}", "*"]
    pl.DataFrame({"age": cells, "s": [1, 1, 2, 2]}).write_csv(tmp_path / "r.csv")
    result = qifsql.compare(tmp_path / "o.csv", tmp_path / "r.csv", qids="age", secret="s")
    row = result.details["columns"].row(1, named=True)
    assert row["total_variation"] == 1 / 6
    assert row["divergence"] == pytest.approx(0.5 * math.log2(0.75) + 0.5 * math.log2(1.5))
    assert (row["certainty_penalty"], row["generalised"], row["outside"]) == (0.5, 0.75, 0)
    assert result.frame["suppressed"].to_list() == [0, 1, 1]
    found = result.frame.row(2, named=True)  # three records may be of 20 or 30, two of 40
    assert (found["view"], found["candidates"], found["k"], found["misled"]) == (
        *("compatible", 2.5, 2),
        0,
    )
    assert found["posterior_probabilistic"] == 5 / 12
    assert found["cas_posterior_probabilistic"] == 5 / 6
    assert (found["singled_out"], found["individuals_certain"]) == (0, 2)


@pytest.mark.cases(1)
@pytest.mark.parametrize("empty", ["", "NA", "-9"])
@pytest.mark.parametrize("known", [[20, 30, 40, 40], [20, 30, 40, None]])
def test_a_cell_that_lost_its_value_costs_what_a_star_costs(
    tmp_path: Path, empty: str, known: list[int | None]
) -> None:
    """Empty cells that the original has are no loss."""
    files = {}
    for name, cells in {"r": ["20", empty, "40", ""], "star": ["20", "*", "40", ""]}.items():
        given = [*cells[:3], "*" if known[3] and name == "star" else cells[3]]
        (tmp_path / f"{name}.csv").write_text("age,x\n" + "".join(f"{c},1\n" for c in given))
        files[name] = tmp_path / f"{name}.csv"
    original = tmp_path / "o.parquet"
    pl.DataFrame({"age": known, "x": [1] * 4}).write_parquet(original)
    lost, starred = (
        qifsql.compare(original, file, qids="age").details["columns"].row(1, named=True)
        for file in files.values()
    )
    same = ("generalised", "outside", *MEANS)
    assert [lost[n] for n in same] == [starred[n] for n in same]
    assert lost["generalised"] == (0.5 if known[3] else 0.25)


def test_a_hierarchy_is_read_and_values_that_are_excluded_are_said(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a;x;*\nb;x;*\nc;y;*\n")
    pl.DataFrame({"q": ["a", "b", "c", "c"]}).write_csv(tmp_path / "o.csv")
    pl.DataFrame({"Q": ["x", "x", "x", "a"]}).write_csv(tmp_path / "r.csv")
    result = qifsql.compare(
        tmp_path / "o.csv",
        tmp_path / "r.csv",
        qids=["q", "2:q=Q"],
        hierarchies={"q": tmp_path / "h.csv"},
    )
    row = result.details["columns"].row(1, named=True)
    assert (row["column"], row["divergence"], row["certainty_penalty"]) == ("Q", math.inf, 0.5)
    assert row["total_variation"] == 0.5
    assert 'divergence of "q" in r.csv is infinite' in " ".join(result.notes)
    told = result.frame.row(0, named=True)
    assert told["secret"] is None
    assert told["l"] is None


def test_neither_order_nor_threads_matter(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "a": [n * n % 17 for n in range(300)],
            "x": [n % 5 / 3 for n in range(300)],
            "s": [1] * 300,
        }
    )
    cells = frame.with_columns(
        a=pl.format("[{},{}]", pl.col("a") // 7 * 7, pl.col("a") // 7 * 7 + 6)
    )
    found = []
    for seed, threads in ((1, 1), (2, 2)):
        frame.sample(fraction=1, shuffle=True, seed=seed).write_parquet(tmp_path / "o.parquet")
        cells.sample(fraction=1, shuffle=True, seed=seed).write_parquet(tmp_path / "r.parquet")
        result = qifsql.compare(
            tmp_path / "o.parquet",
            tmp_path / "r.parquet",
            qids=["a", "x"],
            secret="s",
            settings=qifsql.Settings(threads=threads),
        )
        found.append((result.frame.to_dicts(), result.details["columns"].to_dicts()))
    assert found[0] == found[1]


def test_the_command_shows_writes_and_draws(tmp_path: Path) -> None:
    name = '"; drop <script>,=cmd()\n'
    frame = pl.DataFrame({name: [1, 2, 3, 3], "s": ["a", "b", "a", "b"]})
    frame.write_parquet(tmp_path / "o.parquet")
    hidden = frame.with_columns(pl.Series(name, ["[1,2]", "[1,2]", "3", "*"]))
    hidden.write_parquet(tmp_path / "r.parquet")
    qids = '"' + name.replace('"', '""') + '"'
    asked = ["compare", tmp_path / "o.parquet", tmp_path / "r.parquet", "--qids", qids, "-s", "s"]
    done = run(*asked, "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert list(document["results"][0]) == ["unit", *SCHEMA]
    assert list(document["columns"][0]) == list(COLUMNS)
    table = run(*asked, "--format", "table")
    assert table.code == 0
    assert "Information loss of the releases" in table.out
    assert "by quasi-identifier" in table.out
    assert "suppressed" in table.out
    copy = tmp_path / "same.parquet"
    copy.write_bytes((tmp_path / "o.parquet").read_bytes())
    same = run("compare", asked[1], copy, *asked[3:], "--format", "table")
    assert (same.code, "suppressed" in same.out) == (0, False)
    out = tmp_path / "out.html"
    assert run(*asked, "-o", out, "--charts", tmp_path, "--chart-format", "json").code == 0
    assert "<script>,=cmd()" not in out.read_text()
    assert "Risk against utility" in (tmp_path / "risk_utility.json").read_text()


@pytest.mark.parametrize(
    ("cells", "asked", "told", "singled_out"),
    [
        (["*", "a", "a"], {}, "may be anybody's", 0),
        (["*", "a", "a"], {"plain": "q"}, None, 1),
        (["", "a", "a"], {}, "suppressed in the loss, but missing is a value", 1),
    ],
)
def test_a_release_says_how_its_suppressed_records_were_read(
    tmp_path: Path, cells: list[str], asked: dict[str, str], told: str | None, singled_out: int
) -> None:
    pl.DataFrame({"q": ["b", "a", "a"], "s": [1, 1, 2]}).write_csv(tmp_path / "o.csv")
    pl.DataFrame({"q": cells, "s": [1, 1, 2]}).write_csv(tmp_path / "r.csv")
    result = qifsql.compare(tmp_path / "o.csv", tmp_path / "r.csv", qids="q", secret="s", **asked)
    assert result.frame["singled_out"].to_list()[1] == singled_out
    notes = [note for note in result.notes if "suppressed" in note]
    assert len(notes) == (told is not None)
    assert told is None or told in notes[0]


def test_a_release_that_changes_nothing_is_the_same_in_both_views(tmp_path: Path) -> None:
    """Empty cells are values where the original has as many; with one more, each may be any."""
    table = pl.DataFrame({"a": [None, None, 3, 4, 5], "b": [1, 1, 1, 1, 1], "s": list("xyxyz")})
    table.write_parquet(tmp_path / "o.parquet")
    table.write_parquet(tmp_path / "same.parquet")
    table.with_columns(a=pl.Series([None, None, None, 4, 5])).write_parquet(tmp_path / "r.parquet")
    files = [tmp_path / "same.parquet", tmp_path / "r.parquet"]
    result = qifsql.compare(tmp_path / "o.parquet", files, qids="a,b", secret="s")
    rows = {(r["file"], r["view"]): r for r in result.rows()}
    for name in ("k", "singled_out", "posterior_probabilistic", "cas_posterior_probabilistic"):
        assert rows[2, "cells"][name] == rows[2, "compatible"][name]
    assert (rows[3, "compatible"]["k"], rows[3, "compatible"]["candidates"]) == (3, 3.4)


def test_a_release_of_centroids_says_what_is_not_measured(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [1.5, 2.25, 7.75, 9.5, 11.25]})
    table.write_parquet(tmp_path / "o.parquet")
    out = tmp_path / "r.parquet"
    qifsql.anonymise(tmp_path / "o.parquet", out, qids="a", method="mdav", k=2, cells="centroid")
    notes = qifsql.compare(tmp_path / "o.parquet", out, qids="a").notes
    assert any("does not measure who looks for the nearest one" in note for note in notes)
