"""Post-randomisation: its lots drawn again in Python, and its matrices by their definition."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.errors import QifError
from qifsql.reference.randomised_release import invariant
from qifsql.results import release

NEAR = pytest.approx
F = Fraction
Matrix = Mapping[tuple[Any, Any], Any]
GIVEN: Matrix = {
    ("x", "x"): F(4, 5), ("x", "y"): F(1, 5), ("y", "x"): F(1, 2), ("y", None): F(1, 2),
    (None, None): F(3, 4), (None, "new"): F(1, 4),
}  # fmt: skip
SCHEMA = {"a": pl.String, "n": pl.Int64, "x": pl.Float64}
LISTED = "x", 1, 0.5  # a matrix without lines for the values of a column is refused
rows = st.tuples(
    st.sampled_from(["x", "y", "z", None]),
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from([0.5, 1.0, None]),
)


def redrawn(
    records: Sequence[tuple[Any, ...]], number: int, matrix: Matrix, seed: int
) -> list[Any]:
    """Return the cells of a column (from 1) after its draws, as the documentation says."""
    copies: Counter[tuple[Any, ...]] = Counter()
    turns: defaultdict[Any, list[tuple[Any, float]]] = defaultdict(list)
    for before, after in sorted(matrix, key=lambda pair: (pair[1] is None, str(pair[1]))):
        turns[before].append((after, float(matrix[before, after])))
    cells = []
    for record in records:
        copies[record] += 1
        told = "".join("-" if c is None else f"{len(str(c))}:{c}" for c in record)
        text = f"{number}/{copies[record]}/{seed}|{told}"
        lot = int.from_bytes(hashlib.md5(text.encode()).digest(), "little") % 2**60
        cell, end = record[number - 1], 0.0
        for after, chance in turns[cell] or [(cell, 1.0)]:
            if lot >= end * 2**60:
                cell = after
            end += chance
        cells.append(cell)
    return cells


def matrix_file(path: Path, column: str, matrix: Matrix) -> Path:
    lines = [f"{column},{a or ''},{b or ''},{float(p)}" for (a, b), p in matrix.items()]
    path.write_text("\n".join(["column,from,to,probability", *lines]) + "\n")
    return path


@settings(max_examples=examples(10), deadline=None)
@given(
    records=st.lists(rows, max_size=11).map(lambda drawn: [LISTED, *drawn]),
    pd=st.sampled_from([F(0), F(1, 2), F(4, 5), F(1)]),
    alpha=st.sampled_from([F(0), F(1, 2), F(1)]),
    seed=st.integers(0, 9),
)
@example(
    records=[("x", 1, 0.5), ("y", 2, 1.0), (None, 3, None)] * 8, pd=F(1, 2), alpha=F(1), seed=3
)
def test_lots_choose_by_the_matrices(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[tuple[Any, ...]],
    pd: Fraction,
    alpha: Fraction,
    seed: int,
) -> None:
    """A given matrix, and an invariant one, which keeps the shares in expectation."""
    folder = tmp_path_factory.mktemp("pram")
    file = matrix_file(folder / "m.csv", "a", GIVEN)
    out = folder / "out.parquet"
    frame = pl.DataFrame(records, schema=SCHEMA, orient="row")
    result = qifsql.anonymise(
        frame, out, method="pram", matrix=file, secret="n", pd=float(pd), alpha=float(alpha),
        seed=seed,
    )  # fmt: skip
    shares = Counter(n for _, n, _ in records if n is not None)
    matrix = invariant({v: F(n, shares.total()) for v, n in shares.items()}, pd, alpha)
    for value, share in shares.items():  # the definition is invariant
        assert sum(n * matrix.get((v, value), 0) for v, n in shares.items()) == share
    written = pl.read_parquet(out)
    expected = {"a": redrawn(records, 1, GIVEN, seed), "n": redrawn(records, 2, matrix, seed)}
    assert written.to_dict(as_series=False) == {**frame.to_dict(as_series=False), **expected}
    law = pl.read_csv(folder / "out.matrix.csv", schema_overrides={"from": pl.String})
    lines = law.filter(pl.col("column") == "n").select("from", "to", "probability").rows()
    assert {(int(a), int(b)): p for a, b, p in lines} == NEAR(
        {pair: float(p) for pair, p in matrix.items() if p}
    )
    for row, name in zip(result.rows(), ("a", "n"), strict=True):
        before, after = frame[name].to_list(), expected[name]
        assert row["changed"] == sum(map(lambda a, b: a != b, before, after))
        counts = Counter(before)
        counts.subtract(after)
        assert row["total_variation"] == NEAR(sum(map(abs, counts.values())) / 2 / len(before))


def test_draws_do_not_depend_on_order_files_or_threads(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": range(3000), "a": ["x", "y", "z"] * 1000})
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    for name, part in (("1", shuffled[:700]), ("2", shuffled[700:])):
        part.write_parquet(tmp_path / f"part{name}.parquet")
    asked: dict[str, Any] = {"method": "pram", "secret": "a", "seed": 7}
    sources: list[Any] = [frame, str(tmp_path / "part*.parquet")]
    found = []
    for source, threads in zip(sources, (1, 4), strict=True):
        settings = qifsql.Settings(threads=threads)
        qifsql.anonymise(source, tmp_path / "out.parquet", settings=settings, **asked)
        found.append(pl.read_parquet(tmp_path / "out.parquet").sort("id"))
    assert found[0].equals(found[1])
    row = qifsql.anonymise(frame, tmp_path / "out.parquet", **asked).frame.row(0, named=True)
    assert row["changed"] == (found[0]["a"] != frame["a"]).sum()
    assert row["changed"] / 3000 == NEAR(row["expected_changed"], abs=0.04)


def test_without_a_seed_draws_cannot_be_repeated(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "y"] * 200})
    found = []
    for _ in range(2):
        result = qifsql.anonymise(frame, tmp_path / "out.csv", method="pram", secret="a")
        found.append((tmp_path / "out.csv").read_text())
        assert not any("seed" in note for note in result.notes)
    assert found[0] != found[1]
    assert "seed" not in (tmp_path / "out.matrix.csv").read_text()


def test_a_file_keeps_all_else(tmp_path: Path) -> None:
    """Matrices that keep every value write the texts of the file as they were."""
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("id;a;n\n07;x;1,50\n08;;2,5\n07;;2,5\n")
    law = matrix_file(tmp_path / "m.csv", "a", {("x", "x"): 1})
    dataset = qifsql.Dataset.open(source, decimal=",", delimiter=";")
    asked: dict[str, Any] = {"method": "pram", "matrix": f"a={law}", "alpha": 0}
    qifsql.anonymise(dataset, out, **asked, qids="n,i*", where="coalesce(a, 'x') = 'x'")
    assert out.read_text() == source.read_text()
    qifsql.anonymise(dataset, out, **asked, qids="n", drop="id", where="n > 2")
    assert out.read_text() == "a;n\n;2,5\n;2,5\n"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "needs the columns to randomise"),
    "k": ({"secret": "a", "k": 2}, "pram does not take k"),
    "strata": ({"secret": "a", "strata": "n"}, "write a release of each group"),
    "pd": ({"secret": "a", "pd": 1.5}, "pd is a probability"),
    "alpha": ({"secret": "a", "alpha": -1}, "alpha is a probability"),
    "unknown": ({"secret": "aa"}, 'did you mean "a"'),
    "expression": ({"secret": "half=n//2"}, '"half" is no column'),
    "dropped": ({"secret": "a", "drop": "a"}, "randomised"),
    "nested": ({"secret": "l"}, "nested"),
    "empty": ({"secret": "a", "where": "n > 5"}, "nothing to draw"),
    "absent": ({"matrix": "nowhere.csv"}, "nowhere.csv"),
    "unnamed": ({"matrix": "plain.csv"}, "write COLUMN=FILE"),
    "two": ({"matrix": ["a=plain.csv", "a=plain.csv"]}, "twice"),
    "case": ({"matrix": ["a=plain.csv", "A=plain.csv"]}, "twice"),
    "foreign": ({"matrix": "a=foreign.csv"}, "no line for a value"),
    "many": ({"secret": "m"}, "501 values"),
    "half": ({"matrix": "a=half.csv"}, "do not add up to 1"),
    "unfit": ({"matrix": "n=plain.csv"}, "no BIGINT"),
    "header": ({"matrix": "a=header.csv"}, "no transitions"),
    "other": ({"method": "mondrian", "k": 2, "qids": "a", "pd": 0.8}, "pram alone"),
}
FILES = {
    "plain.csv": "from,to,probability\nx,x,1\n",
    "foreign.csv": "from,to,probability\nzz,y,1\n",
    "half.csv": "from,to,probability\nx,x,0.5\n",
    "header.csv": "from,to,probability\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_has_no_meaning_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for file, lines in FILES.items():
        Path(file).write_text(lines)
    asked, says = WRONG[name]
    columns = {"a": ["x", "y", None], "n": [1, 2, 2], "l": [[1], [2], []]}
    frame = pl.DataFrame(columns if name != "many" else {"m": range(501)})
    with pytest.raises(QifError, match=says):
        qifsql.anonymise(frame, "out.csv", **{"method": "pram", **asked})
    assert not Path("out.csv").exists()
    assert not Path("out.matrix.csv").exists()


def test_values_without_a_line_are_counted(tmp_path: Path) -> None:
    """The matrix names its column in another case; missing values stay anyhow."""
    law = matrix_file(tmp_path / "m.csv", "A", {("x", "y"): 1})
    frame = pl.DataFrame({"a": ["x", "y", "y", "z", None]})
    result = qifsql.anonymise(frame, tmp_path / "o.csv", method="pram", matrix=law)
    assert result.frame["changed"].to_list() == [1]
    assert any('2 values of "a" (3 records) stay' in note for note in result.notes)
    assert '"a"' not in (tmp_path / "o.matrix.csv").read_text()


def test_an_interruption_leaves_the_old_release_and_matrix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"a": ["x", "y"] * 5})
    asked: dict[str, Any] = {"method": "pram", "secret": "a"}
    qifsql.anonymise(frame, tmp_path / "o.csv", **asked, seed=1)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupt(*_args: Any, **_names: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(release, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        qifsql.anonymise(frame, tmp_path / "o.csv", **asked, seed=2, pd=0.6)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


TYPED: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "comma": ("1,50 1,5 2,5 2,50 4,0", {"decimal": ",", "delimiter": ";"}, ["1,5", "2,5", "4,0"]),
    "date": ("31.12.2019 13.01.2020 14.02.2020", {}, ["13.01.2020", "14.02.2020", "31.12.2019"]),
    "point": ("1.50 1.5 2.0 2", {}, ["1.5", "2"]),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_csv_file_is_drawn_by_values_and_attacked_by_its_matrix(
    tmp_path: Path, name: str
) -> None:
    """A value has one text in the release, whether a record had it before or not."""
    fields, reading, texts = TYPED[name]
    lines = [f"{i};{field}" for i, field in enumerate(fields.split() * 6)]
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("\n".join(["id;v", *lines]) + "\n")
    asked: dict[str, Any] = {"method": "pram", "pd": 0.5, "alpha": 1, "seed": 1}
    result = qifsql.anonymise(qifsql.Dataset.open(source, **reading), out, secret="v", **asked)
    assert result.frame["values"].to_list() == [len(texts)]
    assert result.frame["changed"][0] > 0
    cells = [line.partition(";")[2] for line in out.read_text().split()[1:]]
    assert sorted({*cells}) == texts
    written = qifsql.Dataset.open(out, **reading)
    knows = f"v:matrix={tmp_path / 'out.matrix.csv'}"
    found = qifsql.attack("cas", written, qids="id", secret="v", knows=knows).rows()
    assert found[-1]["knows"] != "exact"
    assert found[-1]["posterior_probabilistic"] < 1


@pytest.mark.parametrize(
    ("fields", "lines", "written"),
    [
        ("1,50 2,5", "1.5,3.25,1\n2.5,1.5,1", ["3,25", "1,50"]),
        ("31.12.2019 13.01.2020", "2019-12-31,2020-02-01,1", ["01.02.2020", "13.01.2020"]),
    ],
)
def test_a_new_value_is_written_like_the_others(
    tmp_path: Path, fields: str, lines: str, written: list[str]
) -> None:
    source, out, law = (tmp_path / name for name in ("in.csv", "out.csv", "m.csv"))
    source.write_text("\n".join(["id;v", *(f"0;{field}" for field in fields.split())]) + "\n")
    law.write_text(f"from,to,probability\n{lines}\n")
    dataset = qifsql.Dataset.open(source, decimal=",", delimiter=";")
    qifsql.anonymise(dataset, out, method="pram", matrix=f"v={law}")
    assert out.read_text().split() == ["id;v", *(f"0;{text}" for text in written)]
