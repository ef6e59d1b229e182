"""Mondrian along hierarchies makes the classes and cells of slow Python."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import oracle_anonymise as oracle
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_anonymise import Limits
from test_anonymise import anonymised, options

from qifsql.errors import ColumnError, DatasetError, InputError

VALUES = "abcdef"
Lines = list[list[str]]


@st.composite
def ragged(draw: st.DrawFn) -> Lines:
    """A hierarchy of ``VALUES`` whose lines have one to four nodes, in any order."""
    paths = [draw(st.lists(st.integers(0, 1), max_size=3)) for _ in VALUES]
    lines = []
    for value, path in zip(VALUES, paths, strict=True):
        nodes = ["n" + "".join(map(str, path[:depth])) for depth in range(1, len(path) + 1)]
        lines.append([value, *reversed(nodes), "*"])
    return draw(st.permutations(lines))


rows_of_values = st.lists(
    st.fixed_dictionaries(
        {
            "c": st.sampled_from([*VALUES, None]),
            "d": st.sampled_from(VALUES[:4]),
            "n": st.integers(0, 4),
            "s": st.sampled_from("xxyz"),
        }
    ),
    min_size=2,
    max_size=14,
)
two_trees = st.fixed_dictionaries({"c": ragged(), "d": ragged()})
sizes = st.tuples(st.integers(1, 4), st.sampled_from([None, 2]))
TYPES = pa.schema([("c", pa.string()), ("d", pa.string()), ("n", pa.int64()), ("s", pa.string())])


def write_hierarchy(folder: Path, lines: Lines, name: str = "tree.csv") -> Path:
    path = folder / name
    path.write_text("".join(";".join(line) + "\n" for line in lines), "utf-8")
    return path


def label(values: Sequence[Any], lines: Lines) -> Any:
    """The cell of a class: its one value, or the lowest node above all of them."""
    different = set(values)
    if len(different) == 1:
        return different.pop()
    return oracle.along(values, lines).lowest(range(len(values)))[-1]


@settings(max_examples=examples(25), deadline=None)
@given(rows_of_values, two_trees, sizes)
def test_classes_and_cells_are_those_of_slow_python(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    trees: dict[str, Lines],
    sizes: tuple[int, int | None],
) -> None:
    folder = tmp_path_factory.mktemp("trees")
    files = {name: write_hierarchy(folder, lines, name) for name, lines in trees.items()}
    limits = Limits(sizes[0], l=sizes[1])
    how = options(limits) | {"method": "mondrian", "qids": "c,d,n", "hierarchies": files}
    how |= {"secret": "s"} if limits.l else {}
    table = pa.Table.from_pylist(rows, TYPES)
    fits = oracle.allowed([[row["s"] for row in rows]], limits)
    everybody = range(len(rows))
    if not fits(everybody):
        with pytest.raises(InputError):
            anonymised(table, **how)
        return
    _, made = anonymised(table, **how)
    scale = oracle.places([row["n"] for row in rows])
    spots = [oracle.along([row[q] for row in rows], trees[q]) for q in "cd"]
    for group in oracle.mondrian(everybody, [*spots, [scale[row["n"]] for row in rows]], fits):
        cells = {q: label([rows[i][q] for i in group], trees[q]) for q in "cd"}
        numbers = [rows[i]["n"] for i in group]
        ends = (min(numbers), max(numbers))
        for i in group:
            assert {q: made[i][q] for q in "cd"} == cells
            assert (made[i]["n"]["lower"], made[i]["n"]["upper"]) == ends


def test_the_penalty_is_the_share_of_values_below_the_node(tmp_path: Path) -> None:
    """Of four values two are below each node: (2/4 + 2/4) / 2, and one value loses nothing."""
    lines = [["a", "n", "*"], ["b", "n", "*"], ["c", "*"], ["d", "*  "]]
    table = pa.table({"c": list("aabbcc")})
    tree = {"c": write_hierarchy(tmp_path, lines)}
    how: dict[str, Any] = {"method": "mondrian", "qids": "c", "hierarchies": tree}
    result, made = anonymised(table, k=2, **how)
    assert [row["c"] for row in made] == list("aabbcc")
    assert result.frame["certainty_penalty"].item() == 0
    assert result.spec["hierarchies"] == {"c": str(tree["c"])}
    result, made = anonymised(table.slice(0, 5), k=2, **how)  # one c: the root is not cut
    assert {row["c"] for row in made} == {"*"}
    assert result.frame["certainty_penalty"].item() == 1
    result, made = anonymised(pa.table({"c": list("aabccc")}), k=2, **how)
    assert [row["c"] for row in made] == ["n", "n", "n", "c", "c", "c"]
    assert result.frame["certainty_penalty"].item() == pytest.approx(0.5 * 0.5)
    how["hierarchies"] = {"c": write_hierarchy(tmp_path, [["", "*"]])}  # only the missing value
    _, made = anonymised(pa.table({"c": pa.array([None, None], pa.string())}), k=2, **how)
    assert [row["c"] for row in made] == [None, None]


@pytest.mark.parametrize(
    ("column", "lines", "error", "message"),
    [
        (["a", "b"], [["a", "*"]], ColumnError, "lacks 1 value, which 1 record have"),
        ([1, 2], [["1", "*"], ["2", "*"]], ColumnError, "is cut at medians"),
        (["a", "b"], [["a", "b", "*"], ["b", "*"]], DatasetError, "also a node above other"),
    ],
)
def test_hierarchies_that_do_not_fit(
    tmp_path: Path, column: list[Any], lines: Lines, error: type[Exception], message: str
) -> None:
    tree = {"c": write_hierarchy(tmp_path, lines)}
    table = pa.table({"c": column})
    with pytest.raises(error, match=message):
        anonymised(table, method="mondrian", k=1, qids="c", hierarchies=tree)
