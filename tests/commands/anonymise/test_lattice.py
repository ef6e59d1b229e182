"""The search of a lattice finds what a brute force over all nodes finds."""

import csv
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import le
from pathlib import Path
from typing import Any

import oracle_lattice as oracle
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_anonymise import Limits
from oracle_lattice import Ladder, Node, Release
from places import SAMPLES

import qifsql
from qifsql.commands.anonymise.lattice import Lattice, Loss, Measured
from qifsql.commands.anonymise.spec import LOSSES
from qifsql.counting.release_limits import ClassLimits
from qifsql.errors import InputError

QIDS = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass"),
    "occupation",
)
LARGE = {"LARGE_TABLE": 1, "LONG_TABLE": 1, "SHRINKAGE": 1, "SAMPLE": 1, "RARE": 2}
"""Limits of sizes with which tables of a few rows are counted as those of millions are."""
parts = st.fractions(Fraction(1, 10), 1, max_denominator=10)
every_limit = st.builds(
    Limits,
    st.integers(1, 4),
    st.none() | st.integers(1, 3),
    st.none() | st.fractions(1, 2, max_denominator=5),
    st.none() | st.tuples(st.fractions(1, 3, max_denominator=2), st.integers(1, 2)),
    st.none() | parts,
)


@st.composite
def ladders(draw: st.DrawFn) -> Ladder:
    """Steps over the values 0 to 3, each merging groups of the one before."""
    steps: list[dict[int, Any]] = [{v: v for v in range(4)}]
    for _ in range(draw(st.integers(0, 2))):
        groups = sorted(set(steps[-1].values()))
        merged = {g: draw(st.sampled_from(groups)) for g in groups}
        steps.append({v: merged[g] for v, g in steps[-1].items()})
    if draw(st.booleans()):
        steps.append(dict.fromkeys(range(4), 9))
    return steps


@st.composite
def people(draw: st.DrawFn) -> tuple[list[Ladder], list[list[int]], list[list[int]]]:
    """Ladders of some attributes, their columns, and one secret."""
    drawn = draw(st.lists(ladders(), min_size=1, max_size=3))
    row = st.tuples(*(st.integers(0, 3) for _ in drawn), st.integers(0, 2))
    rows = draw(st.lists(row, min_size=1, max_size=25))
    *columns, secret = ([r[i] for r in rows] for i in range(len(drawn) + 1))
    return drawn, columns, [secret]


def searched(
    name: str,
    drawn: tuple[Sequence[Ladder], Sequence[Sequence[int]]],
    releases: dict[Node, Release],
    *,
    most: int,
    monotone: bool,
    late: Callable[[], bool] = lambda: False,
    **more: Any,
) -> tuple[Lattice, Node | None]:
    """The lattice after its search; nodes are measured by the oracle."""
    steps = oracle.step_losses(name, *drawn, by_distance=True)

    def beyond(kind: str, node: Node) -> Fraction:
        """Return the loss of suppressed records beyond the steps of a node."""
        made, whole = releases[node], Release([[0]], [])
        lost = (oracle.loss(kind, node, m, *drawn, by_distance=True) for m in (made, whole))
        return next(lost) - next(lost)

    def measure(node: Node) -> Measured:
        made = releases[node]
        sizes = [len(group) for group in made.classes]
        every = sizes + [len(group) for group in made.refused]
        squares = sum(n * n for n in sizes)
        least = min(sizes, default=None)
        blocks, classes = len(every), len(sizes)
        all_squares = sum(n * n for n in every)
        lost = {kind: beyond(kind, node) for kind in ("penalty", "entropy")}
        return Measured(blocks, classes, made.suppressed, least, squares, all_squares, **lost)

    records = sum(map(len, (*releases[top(releases)].classes, *releases[top(releases)].refused)))
    heights = top(releases)
    lattice = Lattice(heights, Loss(name, steps, records), measure, most, monotone, late, **more)
    return lattice, lattice.search()


def top(releases: dict[Node, Release]) -> Node:
    return max(releases)


@settings(max_examples=examples(400))
@given(people(), every_limit, st.sampled_from(LOSSES), st.integers(0, 20), st.integers(0, 30))
def test_the_search_finds_the_best_node_of_a_brute_force(
    drawn: tuple[Any, ...], limits: Limits, name: str, share: int, stop: int
) -> None:
    drawn_ladders, columns, secrets = drawn
    records = len(secrets[0])
    most = min(records - 1, share * records // 20)
    releases = {
        node: oracle.release(node, drawn_ladders, columns, secrets, limits)
        for node in oracle.nodes(drawn_ladders)
    }
    of = drawn_ladders, columns
    losses = {
        node: oracle.loss(name, node, made, *of, by_distance=True)
        for node, made in releases.items()
        if made.suppressed <= most
    }
    checked = ClassLimits(**vars(limits))
    how: dict[str, Any] = {"most": most, "monotone": checked.monotone(adding=most == 0)}
    lattice, best = searched(name, of, releases, **how)
    assert lattice.optimal
    assert lattice.complete
    assert (best is None) == (not losses)
    if best is not None:
        assert losses[best] == min(losses.values())
        risks = {
            node: Fraction(len(made.classes), records - made.suppressed)
            for node, made in releases.items()
            if node in losses
        }
        order = {n: (loss, releases[n].suppressed, risks[n]) for n, loss in losses.items()}
        assert order[best] == min(order.values())  # ties: fewer suppressed records, less risk
        better = {
            node
            for node in losses
            if not any(
                losses[o] <= losses[node]
                and risks[o] <= risks[node]
                and (losses[o], risks[o]) != (losses[node], risks[node])
                for o in losses
            )
        }
        points = {(losses[node], risks[node]) for node in better}
        assert {(losses[node], risks[node]) for node in lattice.frontier()} == points
    # Where the time ends early, what was found keeps the limits and is called what it is.
    calls = iter(range(1000))
    hurried, found = searched(name, of, releases, **how, late=lambda: next(calls) >= stop)
    assert found is None or found in losses
    if hurried.optimal:
        assert (found is None) == (not losses)
        assert found is None or losses[found] == min(losses.values())


@settings(max_examples=examples(200))
@given(people(), every_limit, st.integers(0, 20))
def test_nodes_above_an_allowed_one_are_allowed_where_it_is_said(
    drawn: tuple[Any, ...], limits: Limits, share: int
) -> None:
    drawn_ladders, columns, secrets = drawn
    most = share * len(secrets[0]) // 20
    if not ClassLimits(**vars(limits)).monotone(adding=most == 0):
        return
    made = {
        node: oracle.release(node, drawn_ladders, columns, secrets, limits).suppressed
        for node in oracle.nodes(drawn_ladders)
    }
    for node, suppressed in made.items():
        coarser = (n for n in made if all(a <= b for a, b in zip(node, n, strict=True)))
        assert suppressed > most or all(made[n] <= most for n in coarser)


def test_entropy_and_suppression_are_not_monotone() -> None:
    """Two classes, one just diverse enough and one of a single value: their union is neither."""
    halves: Ladder = [{0: 0, 1: 1}, {0: 0, 1: 0}]
    columns, secrets = [[0, 0, 1, 1]], [[0, 1, 0, 0]]
    limits = Limits(1, l_entropy=Fraction(2))
    apart = oracle.release((0,), [halves], columns, secrets, limits)
    together = oracle.release((1,), [halves], columns, secrets, limits)
    assert (apart.suppressed, together.suppressed) == (2, 4)
    assert not ClassLimits(1, l_entropy=Fraction(2)).monotone(adding=False)


# With the engine.


def topped(drawn: Sequence[Ladder]) -> tuple[list[Ladder], list[Ladder]]:
    """The ladders without steps that say nothing, and the same with ``*`` as the last step."""
    kept = [[s for s in ladder if len(set(s.values())) > 1 or s is ladder[0]] for ladder in drawn]
    return list(kept), [[*ladder, dict.fromkeys(range(4), "*")] for ladder in kept]


def hierarchy(path: Path, ladder: Ladder, values: Sequence[Any]) -> Path:
    """Write the steps of the values as ARX does, the last one as ``*``."""
    labels = [[f"s{s}g{step[v]}" for s, step in enumerate(ladder[1:], 1)] for v in values]
    lines = [[str(v), *row, "*"] for v, row in zip(values, labels, strict=True)]
    path.write_text("".join(";".join(line) + "\n" for line in lines))
    return path


@settings(max_examples=examples(30))
@given(
    people(),
    every_limit,
    st.sampled_from(LOSSES),
    st.integers(0, 10),
    st.tuples(st.booleans(), st.booleans()),
)
def test_the_release_is_that_of_the_best_node(
    drawn: tuple[Any, ...], limits: Limits, name: str, share: int, forms: tuple[bool, bool]
) -> None:
    """With ``large``, nodes are counted in tables of finer nodes and of rare groups."""
    texts, large = forms
    drawn_ladders, columns, secrets = drawn
    records = len(secrets[0])
    if (limits.l is not None and limits.l > len(set(secrets[0]))) or limits.k > records:
        return
    drawn_ladders, with_top = topped(drawn_ladders)
    names = [f"q{i}" for i, _ in enumerate(columns)]
    if texts:
        columns = [[str(v) for v in column] for column in columns]
        with_top = [[{str(v): g for v, g in s.items()} for s in ladder] for ladder in with_top]
    table = pa.table({**dict(zip(names, columns, strict=True)), "s": secrets[0]})
    most = share * records // 20
    made = {
        n: oracle.release(n, with_top, columns, secrets, limits) for n in oracle.nodes(with_top)
    }
    allowed = {n: m for n, m in made.items() if m.suppressed <= min(most, records - 1)}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pq.write_table(table, place / "in.parquet")
        files = {
            n: hierarchy(place / f"{n}.csv", ladder, list(ladder[0]))
            for n, ladder in zip(names, drawn_ladders, strict=True)
        }

        def run() -> qifsql.Result:
            secret = {"secret": "s"} if limits != Limits(limits.k) else {}
            how = vars(limits) | secret
            return qifsql.anonymise(
                place / "in.parquet",
                place / "out.csv",
                method="lattice",
                qids=names,
                hierarchies=files,
                suppress=Fraction(share, 20),
                minimise=name,
                **how,
            )

        if not allowed:
            with pytest.raises(InputError):
                run()
            return
        with pytest.MonkeyPatch.context() as patch:
            for limit, value in LARGE.items() if large else ():
                patch.setattr(f"qifsql.commands.anonymise.node_counts.{limit}", value)
            result = run()
        rows = pl.read_csv(place / "out.csv", infer_schema=False).rows(named=True)

    def loss_of(node: Node, name: str = name) -> float:
        return float(oracle.loss(name, node, made[node], with_top, columns, by_distance=not texts))

    row = result.frame.row(0, named=True)
    node = tuple(row["steps"])
    assert loss_of(node) == pytest.approx(min(map(loss_of, allowed)), abs=1e-9)
    assert row["optimal"]
    assert (row["suppressed"], row["classes"]) == (
        made[node].suppressed,
        len(made[node].classes),
    )
    assert row["blocks"] == len(made[node].classes) + len(made[node].refused)
    assert row["penalty"] == pytest.approx(loss_of(node, "penalty"), abs=1e-12)
    bits = math.log(2) if name == "entropy" else 1
    for one in result.details["frontier"].iter_rows(named=True):
        other = tuple(one["steps"])
        assert one["loss"] == pytest.approx(loss_of(other) / bits, abs=1e-9)
        assert one["penalty"] == pytest.approx(loss_of(other, "penalty"), abs=1e-12)
    gone = {n for group in made[node].refused for n in group}
    for n, written in enumerate(rows):
        for q, ladder, column, s in zip(names, drawn_ladders, columns, node, strict=True):
            value = column[n]
            label = str(value) if s == 0 else "*"
            if 0 < s < len(ladder):
                label = f"s{s}g{ladder[s][int(value)]}"
            assert written[q] == ("*" if n in gone else label)


@pytest.mark.cases(1)
@pytest.mark.parametrize(("height", "step"), [(6, 3), (34, 17), (70, 35)])
def test_a_quasi_identifier_may_have_many_steps(height: int, step: int, tmp_path: Path) -> None:
    """Each step s merges the values 0 to s; those up to half of the height are of one person."""
    values = [v for v in range(height + 1) for _ in range(1 if v <= height // 2 else 2)]
    pq.write_table(pa.table({"q": values}), tmp_path / "in.parquet")
    changes = [f"q=greatest(q, {s})" for s in range(1, height + 1)]
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    result = qifsql.anonymise(source, out, qids="q", k=2, method="lattice", change=changes)
    assert result.frame["steps"].to_list() == [[step]]
    assert result.frame["optimal"].all()


@pytest.mark.parametrize(("added", "fits"), [(60, True), (100, False)])
def test_steps_whose_groups_no_number_holds_are_refused(
    added: int, fits: bool, tmp_path: Path
) -> None:
    """Of 16 steps each merges 129 more values, 8 bits, and the last ``added``: 6 or 7 bits."""
    ends = [129 * s for s in range(1, 16)]
    ends.append(ends[-1] + added)
    pq.write_table(pa.table({"q": range(ends[-1] + 1)}), tmp_path / "in.parquet")
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    change = [f"q=greatest(q, {end})" for end in ends]
    how: dict[str, Any] = {"qids": "q", "k": 2, "method": "lattice", "change": change}
    if fits:
        assert qifsql.anonymise(source, out, **how).frame["steps"].to_list() == [[16]]
    else:
        with pytest.raises(InputError, match="too many steps"):
            qifsql.anonymise(source, out, **how)


# Bounds on the risk of the release.


def risks(made: Release, secret: Sequence[Any], records: int) -> dict[str, float]:
    """Measures of a release by counting; all suppressed records are one block."""
    gone = [n for group in made.refused for n in group]
    blocks = [*made.classes, *([gone] if gone else [])]
    counts = [Counter(secret[n] for n in block) for block in blocks]
    alone = sum(len(block) == 1 for block in blocks)
    certain = sum(len(b) for b, c in zip(blocks, counts, strict=True) if len(c) == 1)
    shares = [Fraction(max(c.values()), c.total()) for c in counts]
    return {
        "crs": float(Fraction(len(blocks), records)),
        "crs.deterministic": float(Fraction(alone, records)),
        "crs.singled_out": alone,
        "crs.worst_case": float(Fraction(1, min(map(len, blocks)))),
        "cas(s)": float(Fraction(sum(max(c.values()) for c in counts), records)),
        "cas.deterministic": float(Fraction(certain, records)),
        "cas.worst_case": float(max(shares)),
        "k": min(map(len, blocks)),
        "l": min(map(len, counts)),
    }


@st.composite
def asked_bounds(draw: st.DrawFn) -> tuple[str, str, float]:
    """A measure, a sign and a limit."""
    name = draw(st.sampled_from(list(risks(Release([[0]], []), [0], 1))))
    if name in ("k", "l"):
        return name, ">=", draw(st.integers(1, 4))
    if name == "crs.singled_out":
        return name, draw(st.sampled_from(("<=", ">="))), draw(st.integers(0, 4))
    return name, draw(st.sampled_from(("<=", "<=", ">="))), draw(st.integers(0, 20)) / 20


def kept(bound: tuple[str, str, float], values: dict[str, float]) -> bool:
    name, sign, limit = bound
    return values[name] <= limit if sign == "<=" else values[name] >= limit


@settings(max_examples=examples(40))
@given(people(), every_limit, st.sampled_from(LOSSES), st.integers(0, 10), asked_bounds())
def test_the_release_is_the_best_of_those_that_keep_a_bound(
    drawn: tuple[Any, ...],
    limits: Limits,
    name: str,
    share: int,
    bound: tuple[str, str, float],
) -> None:
    drawn_ladders, columns, (secret,) = drawn
    records = len(secret)
    if (limits.l is not None and limits.l > len(set(secret))) or limits.k > records:
        return
    drawn_ladders, with_top = topped(drawn_ladders)
    names = [f"q{i}" for i, _ in enumerate(columns)]
    every = {
        n: oracle.release(n, with_top, columns, [secret], limits) for n in oracle.nodes(with_top)
    }
    most = min(share * records // 20, records - 1)
    allowed = {
        n: made
        for n, made in every.items()
        if made.suppressed <= most and kept(bound, risks(made, secret, records))
    }
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pq.write_table(
            pa.table({**dict(zip(names, columns, strict=True)), "s": secret}), place / "in.parquet"
        )
        files = {
            n: hierarchy(place / f"{n}.csv", ladder, list(ladder[0]))
            for n, ladder in zip(names, drawn_ladders, strict=True)
        }

        def run() -> qifsql.Result:
            return qifsql.anonymise(
                place / "in.parquet",
                place / "out.csv",
                method="lattice",
                qids=names,
                secret="s",
                hierarchies=files,
                suppress=Fraction(share, 20),
                minimise=name,
                until="".join(map(str, bound)),
                **vars(limits),
            )

        if not allowed:
            with pytest.raises(InputError, match="no node of the lattice keeps"):
                run()
            assert not (place / "out.csv").exists()
            return
        result = run()
        attacked = qifsql.attack(
            "crs,cas", qifsql.Dataset.open(place / "out.csv", all_varchar=True), qids=names,
            secret="s",
        )  # fmt: skip
    row = result.frame.row(0, named=True)
    node = tuple(row["steps"])
    assert node in allowed
    losses = {
        n: float(oracle.loss(name, n, m, with_top, columns, by_distance=True))
        for n, m in allowed.items()
    }
    assert losses[node] == pytest.approx(min(losses.values()), abs=1e-9)
    assert row["optimal"]
    values = risks(allowed[node], secret, records)
    found = attacked.frame["posterior_probabilistic"].to_list()
    assert found == pytest.approx([values["crs"], values["cas(s)"]], abs=1e-12)


@settings(max_examples=examples(200))
@given(people(), st.sampled_from(LOSSES), st.integers(0, 20), st.data())
def test_a_search_with_any_condition_finds_the_best_that_keeps_it(
    drawn: tuple[Any, ...], name: str, share: int, data: st.DataObject
) -> None:
    """``keeps`` may hold of any nodes; where ``falling`` is set, of all coarser ones, too."""
    drawn_ladders, columns, secrets = drawn
    records = len(secrets[0])
    most = min(records - 1, share * records // 20)
    limits = Limits(data.draw(st.integers(1, 3)))
    releases = {
        node: oracle.release(node, drawn_ladders, columns, secrets, limits)
        for node in oracle.nodes(drawn_ladders)
    }
    chosen = data.draw(st.sets(st.sampled_from(sorted(releases))))
    falling = data.draw(st.booleans())
    if falling:
        chosen = {n for n in releases if any(all(map(le, c, n)) for c in chosen)}
    of = drawn_ladders, columns
    losses = {
        node: oracle.loss(name, node, made, *of, by_distance=True)
        for node, made in releases.items()
        if made.suppressed <= most and node in chosen
    }
    how: dict[str, Any] = {"most": most, "monotone": True}
    more: dict[str, Any] = {"keeps": chosen.__contains__, "falling": falling}
    lattice, best = searched(name, of, releases, **how, **more)
    assert lattice.optimal
    assert lattice.complete
    assert (best is None) == (not losses)
    assert best is None or losses[best] == min(losses.values())
    assert set(lattice.frontier()) <= set(losses)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"until": "crs<=2"}, "above 1, but 5 % is 0.05"),
        ({"until": "cas<=0.5"}, "is about a secret; name one with secret=..."),
        ({"until": "risk<=0.5"}, "is not a bound"),
        ({"until": "crs<=0.5", "method": "recode", "change": "age:5"}, "until is for lattice"),
        ({"until": "crs<=0"}, "no node of the lattice keeps crs<=0 with at most 0 records"),
        ({}, "name k=..., or until=..."),
        ({"until": "crs>=1", "time_budget": 1e-9}, "the time ended after"),
    ],
)
def test_bounds_that_cannot_be_kept_or_read(
    options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    asked = {"method": "lattice", "qids": "age,gender"} | options
    with pytest.raises(InputError, match=says):
        qifsql.anonymise(SAMPLES / "thesis_table_3_2.csv", tmp_path / "out.csv", **asked)
    assert list(tmp_path.iterdir()) == []


# The example of ARX: Adult, 8 quasi-identifiers, 6,480 nodes.


def adult(shared: Path, out: Path, **options: Any) -> qifsql.Result:
    trees = shared / "data" / "arx_adult_hierarchies"
    return qifsql.anonymise(
        shared / "data" / "arx_adult.parquet",
        out,
        method="lattice",
        k=5,
        qids=QIDS,
        hierarchies={name: trees / f"{name}.csv" for name in QIDS},
        **options,
    )


@pytest.mark.slow(because="2.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0.667, 0, 30, [0, 4, 0, 2, 3, 2, 2, 1])),
        ({"suppress": 0.04}, (0.321, 1038, 935, [0, 3, 0, 0, 2, 1, 1, 2])),
        (
            {"suppress": 0.04, "minimise": "generalisation"},
            (0.296, 1038, 935, [0, 3, 0, 0, 2, 1, 1, 2]),
        ),
    ],
)
def test_the_best_generalisations_of_adult(
    options: dict[str, Any],
    expected: tuple[Any, ...],
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a brute force over all nodes found them, apart from this program."""
    monkeypatch.setattr("qifsql.commands.anonymise.lattice.FRONTIER", 1)
    result = adult(shared, tmp_path / "out.csv", time_budget=600, **options)
    row = result.frame.row(0, named=True)
    (loss,) = result.details["frontier"].filter(pl.col("released"))["loss"]
    found = (round(loss, 3), row["suppressed"], row["blocks"], row["steps"])
    assert found == expected
    assert row["optimal"]
    made = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    sizes = made.group_by(QIDS).len()
    hidden = pl.all_horizontal(pl.col(name) == "*" for name in QIDS)
    assert sizes.filter(hidden)["len"].sum() == row["suppressed"]
    assert sizes.filter(~hidden)["len"].min() == row["smallest_class"] >= 5
    assert sizes.filter(~hidden).height == row["classes"]


@pytest.mark.slow
def test_every_node_of_adult_is_measured_as_it_is(shared: Path, tmp_path: Path) -> None:
    """A brute force in Polars: the best node for limits of suppression from 0 to a tenth."""
    people = pl.read_parquet(shared / "data" / "arx_adult.parquet")
    levels: list[list[pl.Series]] = []
    costs: list[pl.Series] = []
    for name in QIDS:
        path = shared / "data" / "arx_adult_hierarchies" / f"{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            lines = {line[0]: line for line in csv.reader(file, delimiter=";")}
        cells = people[name].to_list()
        ladder = [
            {v: lines[str(v)][s] for v in set(cells)} for s in range(len(lines[str(cells[0])]))
        ]
        levels.append(
            [pl.Series(f"{name}{s}", [step[v] for v in cells]) for s, step in enumerate(ladder)]
        )
        for s, step in enumerate(ladder):
            lost = oracle.shares_of_groups(step, cells, by_distance=name == "age")
            costs.append(pl.Series(f"{name}{s} cost", [float(lost[step[v]]) for v in cells]))
    every = pl.DataFrame([s.cast(pl.Categorical) for ladder in levels for s in ladder] + costs)
    found: dict[Node, tuple[float, int]] = {}
    for node in oracle.nodes([[{}] * len(ladder) for ladder in levels]):
        columns = [f"{name}{s}" for name, s in zip(QIDS, node, strict=True)]
        cost = pl.mean_horizontal(f"{name} cost" for name in columns)
        classes = every.group_by(columns).agg(pl.len().alias("size"), cost.first().alias("cost"))
        lost = pl.when(pl.col("size") < 5).then(1.0).otherwise("cost") * pl.col("size")
        small = classes.filter(pl.col("size") < 5)["size"].sum()
        found[node] = classes.select(lost.sum()).item() / every.height, small
    for share in (0, 0.001, 0.01, 0.04, 0.1):
        row = adult(shared, tmp_path / "o.csv", suppress=share, time_budget=600).frame.row(
            0, named=True
        )
        best = min(loss for loss, gone in found.values() if gone <= share * people.height)
        assert row["penalty"] == pytest.approx(best, abs=1e-8)
        assert found[tuple(row["steps"])][1] == row["suppressed"]
