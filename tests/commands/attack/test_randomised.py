"""Releases whose values were drawn by a matrix: held against all true tables, and the shares."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.commands.attack.noisy.view import comparison_table
from qifsql.commands.report import method, sharing, summary
from qifsql.errors import QifError
from qifsql.measures.randomised import estimate_true_shares
from qifsql.presentation.parts import Paragraph
from qifsql.reference import randomised_release as oracle
from qifsql.results import stored as results
from qifsql.results.assessment import without_beliefs

NEAR = pytest.approx
F = Fraction
MATRICES: dict[str, dict[tuple[Any, Any], Fraction]] = {
    "a": {("x", "x"): F(4, 5), ("x", "y"): F(1, 5), ("y", "y"): F(7, 10), ("y", "x"): F(3, 10)},
    "b": {(1, 1): F(1, 2), (1, 2): F(1, 2), (2, 2): F(1), (3, None): F(1), (None, 1): F(1)},
    "s": {("u", "u"): F(3, 4), ("u", "v"): F(1, 4), ("v", "v"): F(3, 5), ("v", "u"): F(2, 5)},
}
"""By column; ``b`` has a value that is not released, and missing ones."""
VALUES: dict[str, list[Any]] = {"a": ["x", "y", "z"], "b": [1, 2, None], "s": ["u", "v", "w"]}
releases = st.lists(
    st.tuples(*(st.sampled_from(values) for values in VALUES.values())), min_size=1, max_size=3
)


def matrix_file(folder: Path) -> Path:
    lines = [
        f"{column},{'' if true is None else true},{'' if new is None else new},{float(p)}"
        for column, matrix in MATRICES.items()
        for (true, new), p in matrix.items()
    ]
    path = folder / "matrix.csv"
    path.write_text("\n".join(["column,from,to,probability", *lines]) + "\n")
    return path


def completed(matrix: Mapping[tuple[Any, Any], Fraction], cells: Sequence[Any]) -> Any:
    """Return the matrix with the released values that it does not list, which stay."""
    listed = {true for true, _ in matrix}
    return {**matrix, **{(v, v): F(1) for v in cells if v not in listed}}


def shares_of(cells: Sequence[Any], matrix: Mapping[tuple[Any, Any], Fraction]) -> Any:
    """Return the shares of the true values that the attack estimates."""
    released, true = list(dict.fromkeys(cells)), list(dict.fromkeys(t for t, _ in matrix))
    pairs = ((t, new, p) for (t, new), p in matrix.items() if new in released)
    possible = [t for t in true if any(new in released for (of, new) in matrix if of == t)]
    chances = [(possible.index(t) + 1, released.index(new), float(p)) for t, new, p in pairs]
    counts = {released.index(v): n for v, n in Counter(cells).items()}
    return dict(zip(possible, map(F, estimate_true_shares(chances, counts) or ()), strict=True))


@settings(max_examples=examples(10), deadline=None)
@given(release=releases, randomised=st.sets(st.sampled_from("abs"), min_size=1))
@example(release=[("x", 1, "u"), ("y", 2, "v"), ("x", None, "u")], randomised={"a", "b", "s"})
@example(release=[("x", 2, "w"), ("x", 1, "u"), ("y", 2, "u")], randomised={"a", "b"})
def test_it_is_the_success_over_all_true_tables(
    tmp_path_factory: pytest.TempPathFactory, release: list[Any], randomised: set[str]
) -> None:
    file = matrix_file(tmp_path_factory.mktemp("randomised"))
    columns = list(zip(*release, strict=True))
    matrices = [
        completed(MATRICES[name] if name in randomised else {}, cells)
        for name, cells in zip(VALUES, columns, strict=True)
    ]
    frame = pl.DataFrame(release, schema={"a": pl.String, "b": pl.Int64, "s": pl.String},
                         orient="row")  # fmt: skip
    asked: dict[str, Any] = {"qids": "a,b", "secret": "s"}
    text = f"{','.join(sorted(randomised))}:matrix={file}"
    reached = [{new for _, new in matrix} for matrix in matrices]
    if any(set(cells) - found for cells, found in zip(columns, reached, strict=True)):
        with pytest.raises(QifError, match="cannot come of"):
            qifsql.attack("crs,cas", frame, knows=text, **asked)
        return
    cells = {name: set(c) for name, c in zip(VALUES, columns, strict=True) if any(c)}
    if any(cells[name].isdisjoint(n for _, n in MATRICES[name]) for name in randomised & {*cells}):
        with pytest.raises(QifError, match="leads to no value"):
            qifsql.attack("crs,cas", frame, knows=text, **asked)
        return
    result = qifsql.attack("crs,cas", frame, knows=text, **asked)
    shares = [shares_of(*column) for column in zip(columns, matrices, strict=True)]
    for model, width in (("CRS", 2), ("CAS", 3)):
        rows = [record[:width] for record in release]
        wanted = oracle.success(rows, shares[:width], matrices[:width], secret=width == 3)
        (row,) = (r for r in result.rows() if r["model"] == model and r["knows"] != "exact")
        found = [row[f"posterior_{kind}"] for kind in ("deterministic", "probabilistic")]
        assert found == NEAR([float(n) for n in wanted], abs=1e-9)
        assert row["prior_probabilistic"] <= row["posterior_probabilistic"] + 1e-12


@settings(max_examples=examples(30), deadline=None)
@given(
    counts=st.lists(st.integers(1, 50), min_size=2, max_size=4),
    stay=st.floats(0.01, 1),
    lost=st.floats(0, 0.9),
)
@example(counts=[40, 20], stay=0.6, lost=0)
@example(counts=[509, 491], stay=0.02, lost=0)  # a matrix of 0.51 and 0.49
@example(counts=[60, 40], stay=0.2, lost=0)
@example(counts=[1, 40, 30], stay=0.2, lost=0.5)
def test_shares_are_the_likeliest_ones(counts: list[int], stay: float, lost: float) -> None:
    """Kuhn and Tucker's condition: no slope is above 1; if the matrix can be inverted, it is.

    ``lost`` is the chance of the last value to be released as one that does not occur.
    """
    size, total = len(counts), sum(counts)
    move = (1 - stay) / size
    chances = [
        (i, j, (move + stay * (i - 1 == j)) * (1 - lost * (i == size)))
        for i in range(1, size + 1)
        for j in range(size)
    ]
    shares = estimate_true_shares(chances, dict(enumerate(counts)))
    assert shares is not None
    assert sum(shares) == NEAR(1)
    assert min(shares) > 0
    released = [sum(shares[i - 1] * p for i, k, p in chances if k == j) for j in range(size)]
    for true in range(1, size + 1):
        slopes = [counts[j] / total * p / released[j] for i, j, p in chances if i == true]
        assert sum(slopes) <= 1 + 1e-9
    inverse = [(n / total - move) / stay for n in counts]
    if min(inverse) >= 0 and not lost:
        assert shares == NEAR(inverse, abs=1e-9)


def test_shares_that_are_not_searched_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qifsql.measures.randomised.MOST_SEARCHED", 1)
    assert estimate_true_shares([(1, 0, 0.5), (2, 0, 0.5)], {0: 7}) is None


@pytest.mark.parametrize("seed", [1, 3])
def test_the_matrix_of_a_release_tells_the_true_shares(tmp_path: Path, seed: int) -> None:
    """Not the draws: 40 of 60 people have the true value a; two miss it, and are released so."""
    people = pl.DataFrame(
        {"g": [i % 15 for i in range(62)], "s": ["a"] * 40 + ["b"] * 20 + [None] * 2}
    )
    out, law = tmp_path / "t.parquet", tmp_path / "t.matrix.csv"
    asked: dict[str, Any] = {"secret": "s", "seed": seed, "pd": 0.6, "alpha": 1}
    qifsql.anonymise(people, out, method="pram", **asked)
    result = qifsql.attack("cas", out, qids="g", secret="s", knows=f"s:matrix={law}")
    shares = {"a": F(40, 62), "b": F(20, 62), None: F(2, 62)}
    matrix = oracle.invariant({"a": F(2, 3), "b": F(1, 3)}, F(3, 5), F(1)) | {(None, None): F(1)}
    groups: dict[int, Counter[Any]] = {}
    for g, released in pl.read_parquet(out).select("g", "s").rows():
        chances = oracle.true_values(released, shares, matrix)
        groups.setdefault(g, Counter()).update(chances)
    posterior = sum(max(group.values()) for group in groups.values()) / 62
    prior = max(sum(groups.values(), Counter()).values()) / 62
    row = result.frame.row(1, named=True)
    assert row["posterior_probabilistic"] == NEAR(float(posterior), abs=1e-9)
    assert row["prior_probabilistic"] == NEAR(float(prior), abs=1e-9)


def test_right_numbers_are_verified_and_folders_are_not_shared(tmp_path: Path) -> None:
    release, law = tmp_path / "release.parquet", tmp_path / "matrix.csv"
    pl.DataFrame({"a": ["x", "x", "y"], "s": ["u", "u", "v"]}).write_parquet(release)
    law.write_text("from,to,probability\nu,u,0.8\nu,v,0.2\nv,v,0.9\nv,u,0.1\n")
    result = qifsql.attack("cas", release, qids="a", secret="s", knows=f"s:matrix={law}")
    frame = qifsql.verify(result).frame
    assert "differs" not in frame["verdict"]
    agreed = frame.filter(pl.col("verdict") == "agrees", row=1)["column"]
    assert {"prior_probabilistic", "posterior_probabilistic"} <= {*agreed}
    stored = results.read([result.save(tmp_path / "attack.json")])
    assert [row["knows"] for row in summary.worst(stored)] != ["exact"]
    (shared,), _ = sharing.share(stored, sharing.Reader(minimum=1))
    assert str(tmp_path) not in str(shared.spec)
    assert "matrix.csv" in str(shared.spec["knows"])


def test_what_somebody_believes_is_no_result(tmp_path: Path) -> None:
    """Neither in an attack nor in a study, and the factor is that of the numbers shown."""
    law = tmp_path / "m.csv"
    law.write_text("from,to,probability\nu,u,0.8\nu,v,0.2\nv,v,0.9\nv,u,0.1\n")
    release = pl.DataFrame({"a": ["x", "x", "y"], "s": ["u", "u", "v"]})
    drawn, erring = (
        results.read([qifsql.attack("cas", release, qids="a", secret="s", knows=knows)])[0]
        for knows in (f"s:matrix={law}", "a:right=0.9")
    )
    entries = {"drawn": drawn, "erring": erring}
    frames = [part.frame.with_columns(name=pl.lit(name)) for name, part in entries.items()]
    study = replace(drawn, kind="run", frame=pl.concat(frames, how="diagonal"))
    exact, knowing = drawn.frame.to_dicts()
    assert without_beliefs(study.frame)["knows"].to_list() == [
        knowing["knows"], "exact", "a:right=0.9",
    ]  # fmt: skip
    for stored in (drawn, replace(study, frame=frames[0])):
        assert [row["knows"] for row in summary.worst([stored])] == [knowing["knows"]]
    rows = comparison_table(exact, knowing).rows
    for (_, _, before, _), (_, _, after, factor) in zip(rows[:2], rows[2:], strict=True):
        shown = [float(cell.strip("x% ")) for cell in (before, after, factor)]
        assert shown[1] / shown[0] == NEAR(shown[2], abs=0.01)
    said = [isinstance(part, Paragraph) and part.text for part in method.method([drawn]).parts]
    assert method.OF_MATRIX in said
    assert method.OF_NOISE not in said


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "a:matrix=nowhere.csv": ("nowhere.csv", {}),
    "a:matrix=value.csv": ("needs the columns from, to, probability", {}),
    "a:matrix=other.csv": ('no transitions of "a"', {}),
    "a:matrix=half.csv": ("do not add up to 1", {}),
    "a:matrix=foreign.csv": ("leads to no value", {}),
    "a:matrix=free.csv": ("cannot come of free.csv", {}),
    "s:matrix=shares.csv": ("do not add up to 1", {}),
    "s:matrix=some.csv": ("1 value .* no share", {}),
    "s:matrix=several.csv": ("1 value .* no share", {}),
    "s:matrix=text.csv": ("2 values .* no share", {}),
    "s:matrix=beyond.csv": ("does not lead from", {}),
    "s:matrix=nobody.csv": ("cannot come of nobody.csv", {}),
    "n:matrix=rounded.csv": ("1 line of .* that is no BIGINT", {}),
    "t:matrix=half.csv": ("not a quasi-identifier", {}),
    "s:right=0.5": ("not a quasi-identifier", {}),
    "s:matrix=good.csv": ("records", {"records": "out.csv"}),
}
FILES = {
    "value.csv": "value,known as,probability\nx,x,1\n",
    "other.csv": "column,from,to,probability\nb,x,x,1\n",
    "half.csv": "from,to,probability\nx,x,0.5\n",
    "foreign.csv": "from,to,probability\nzz,y2,1\n",
    "free.csv": "from,to,probability\nx,z,1\n",
    "shares.csv": "from,to,probability,share\nu,u,1,0.5\nv,v,1,0.4\n",
    "some.csv": "from,to,probability,share\nu,u,1,1\nv,v,1,\n",
    "several.csv": "from,to,probability,share\nu,u,0.5,0.5\nu,v,0.5,0.6\nv,v,1,0.5\n",
    "text.csv": "from,to,probability,share\nu,u,1,half\nv,v,1,half\n",
    "beyond.csv": "from,to,probability,share\nu,u,0.5,1\nu,v,0.5,1\n",
    "nobody.csv": "from,to,probability,share\nu,u,1,1\nv,v,1,0\n",
    "good.csv": "from,to,probability\nu,u,1\n",
    "rounded.csv": "from,to,probability\n1,2.5,1\n2,2,1\n",
}


@pytest.mark.parametrize("knows", WRONG)
def test_what_does_not_fit_is_refused(tmp_path: Path, knows: str) -> None:
    for name, lines in FILES.items():
        (tmp_path / name).write_text(lines)
    says, more = WRONG[knows]
    frame = pl.DataFrame({"a": ["x", "y"], "n": [1, 2], "s": ["u", "v"]})
    text = knows.replace("matrix=", f"matrix={tmp_path}/")
    more = {name: tmp_path / value for name, value in more.items()}
    with pytest.raises(QifError, match=says) as error:
        qifsql.attack("cas", frame, qids="a,n", secret="s", knows=text, **more)
    assert "\n" not in str(error.value)
