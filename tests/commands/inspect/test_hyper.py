"""The objects of information flow against the oracle, and as the papers print them."""

from fractions import Fraction as F
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import NAMES, Table, tables, to_arrow, weights
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.presentation import html
from qifsql.reference import channel as ch
from qifsql.reference.microdata import value


def fraction(row: dict[str, Any], prefix: str = "") -> F:
    return F(int(row[f"{prefix}numerator"]), int(row[f"{prefix}denominator"]))


def key(v: object) -> object:
    """A value as both sides know it: what is shown as text is compared as text."""
    v = value(v)
    return v if v is None or isinstance(v, int | float | str | bool) else str(v)


def block_of(row: dict[str, Any], width: int) -> tuple[object, ...]:
    """The quasi-identifiers of a row: the columns behind its block number."""
    first = list(row).index("block") + 1
    return tuple(key(v) for v in list(row.values())[first : first + width])


def written(table: Table, folder: Path) -> Path:
    path = folder / "release.parquet"
    pq.write_table(to_arrow(table), path)
    return path


def shown(table: Table, folder: Path, show: Any, **options: Any) -> list[dict[str, Any]]:
    result = qifsql.inspect(
        written(table, folder), show=show, qids=table.qids, secret=table.secrets[:1], **options
    )
    assert result.written == 0
    return result.frame.to_dicts()


def expected(table: Table) -> dict[tuple[tuple[object, ...], object], F]:
    joint = ch.joint(table.rows, table.qids, table.secrets[0])
    return {(tuple(map(key, block)), key(v)): p for (block, v), p in joint.items()}


@given(tables())
@settings(max_examples=examples(30))
def test_the_joint_is_that_of_the_oracle_in_lowest_terms(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    rows = shown(table, tmp_path_factory.mktemp("h"), "joint")
    found = {(block_of(r, len(table.qids)), key(r["value"])): fraction(r) for r in rows}
    assert found == expected(table)
    for row in rows:
        assert fraction(row).numerator == row["numerator"]
        assert float(fraction(row)) == row["probability"]
        assert F(row["count"], len(table.rows)) == fraction(row)


@given(tables())
@settings(max_examples=examples(20))
def test_the_channel_and_the_prior_make_the_joint(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    folder = tmp_path_factory.mktemp("h")
    prior = {key(r["value"]): fraction(r) for r in shown(table, folder, "prior")}
    rows = shown(table, folder, "channel")
    found = {
        (block_of(r, len(table.qids)), key(r["value"])): fraction(r) * prior[key(r["value"])]
        for r in rows
    }
    assert found == expected(table)
    assert sum(prior.values()) == 1


@given(tables())
@settings(max_examples=examples(30))
def test_the_hyper_merges_equal_inners_and_no_others(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    rows = shown(table, tmp_path_factory.mktemp("h"), "hyper")
    inners: dict[int, set[tuple[object, F]]] = {}
    outers: dict[int, F] = {}
    for row in rows:
        inners.setdefault(row["inner"], set()).add((key(row["value"]), fraction(row)))
        outers[row["inner"]] = fraction(row, "outer_")
    joint = ch.joint(table.rows, table.qids, table.secrets[0])
    wanted = {
        frozenset((key(v), p) for v, p in inner): outer for inner, outer in ch.hyper(joint).items()
    }
    assert {frozenset(inner): outers[n] for n, inner in inners.items()} == wanted
    assert len(inners) == len(wanted)


@given(tables(), st.data())
@settings(max_examples=examples(20))
def test_weights_weigh_the_joint(
    tmp_path_factory: pytest.TempPathFactory, table: Table, data: st.DataObject
) -> None:
    drawn_weights = data.draw(weights(len(table.rows)))
    name = next(n for n in NAMES if n.casefold() not in {c.casefold() for c in table.columns})
    folder = tmp_path_factory.mktemp("h")
    path = folder / "release.parquet"
    frame = pl.from_arrow(to_arrow(table))
    assert isinstance(frame, pl.DataFrame)
    frame.with_columns(pl.Series(name, drawn_weights, strict=False)).write_parquet(path)
    result = qifsql.inspect(
        path, show="joint", qids=table.qids, secret=table.secrets[:1], weight=name
    )
    joint = ch.joint(table.rows, table.qids, table.secrets[0], weights=drawn_weights)
    found = {
        (block_of(r, len(table.qids)), key(r["value"])): fraction(r)
        for r in result.frame.to_dicts()
    }
    assert found == {(tuple(map(key, b)), key(v)): p for (b, v), p in joint.items()}


def test_popets_table_2c_and_9_are_drawn_as_printed(samples: Path) -> None:
    """PoPETs Tables 2c and 9d: outers 1/2, 1/4, 1/4; F, >30 is in nobody's row and is not drawn."""
    done = run(
        *("inspect", "--show", "hyper"), samples / "popets_table_2a.csv",
        "--qids", "gender,age", "--secret", "language",
        "--format", "table",
    )  # fmt: skip
    lines = [line.split() for line in done.out.splitlines() if line.strip()]
    assert ["outer", "1/4", "1/2", "1/4"] in lines
    assert ["English", "0", "0", "1"] in lines
    assert ["German", "1", "1/2", "0"] in lines
    assert ["Portuguese", "0", "1/2", "0"] in lines


@pytest.fixture(scope="module")
def joined(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PoPETs Table 3c: the left outer join of Tables 3a and 3b on id."""
    path = tmp_path_factory.mktemp("popets") / "table_3c.parquet"
    focal = pl.read_csv(samples / "popets_table_3a.csv")
    auxiliary = pl.read_csv(samples / "popets_table_3b.csv")
    focal.join(auxiliary, on="id", how="left", suffix="_2", maintain_order="left").write_parquet(
        path
    )
    return path


QIDS = ["gender", "grade", "grade_2"]


def by_label(frame: pl.DataFrame, column: str = "count") -> dict[tuple[Any, ...], Any]:
    return {
        (r["gender"], r["grade"], r["grade_2"], r["value"]): r[column] for r in frame.to_dicts()
    }


def test_popets_table_4_step_by_step(joined: Path) -> None:
    """PoPETs Table 4a-d: disability from gender and both grades (outer of M, B, B is 1/5)."""
    counts = by_label(
        qifsql.inspect(joined, show="cooccurrence", qids=QIDS, secret="disability").frame
    )
    assert counts == {
        ("F", "A", "A", "yes"): 1,
        ("F", "A", "B", "no"): 1,
        ("F", "C", "C", "yes"): 2,
        ("F", "C", "D", "yes"): 1,
        ("F", "E", "E", "no"): 1,
        ("M", "B", "B", "no"): 1,
        ("M", "B", "B", "yes"): 1,
        ("M", "D", "D", "no"): 1,
        ("M", "D", None, "no"): 1,
    }
    joint = qifsql.inspect(joined, show="joint", qids=QIDS, secret="disability").frame
    assert by_label(joint, "probability")["F", "A", "A", "yes"] == 0.1
    channel = qifsql.inspect(joined, show="channel", qids=QIDS, secret="disability").frame
    assert by_label(channel, "probability")["F", "A", "A", "yes"] == 0.2
    hyper = qifsql.inspect(joined, show="hyper", qids=QIDS, secret="disability").frame
    outers = {
        (r["outer_numerator"], r["outer_denominator"], r["blocks"])
        for r in hyper.to_dicts()
        if r["probability"] == 1
    }
    assert outers == {(2, 5, 3), (2, 5, 4)}  # surely yes, and surely no: equal inners are merged
    uncertain = hyper.filter(pl.col("probability") < 1)
    assert uncertain["outer"].to_list() == [0.2, 0.2]
    assert uncertain["probability"].to_list() == [0.5, 0.5]


def test_popets_table_10_of_whose_record_it_is(joined: Path) -> None:
    """PoPETs Table 10: the key as the secret; 1, 2, 6, 8, 9 and 10 are known for sure."""
    hyper = qifsql.inspect(joined, show="hyper", qids=QIDS, key="id").frame
    sure = hyper.filter(pl.col("probability") == 1)["value"].to_list()
    assert sorted(sure) == [1, 2, 6, 8, 9, 10]
    assert set(hyper["outer"].to_list()) == {0.1, 0.2}


def test_large_objects_stream_to_files(samples: Path, tmp_path: Path) -> None:
    source = samples / "school_census_2019.parquet"
    for ending in ("parquet", "csv"):
        out = tmp_path / f"joint.{ending}"
        done = run(
            "inspect", source, "--qids", "NU_DIA,NU_MES,CO_ENTIDADE", "--secret",
            "IN_TRANSPORTE_PUBLICO", "--show", "joint", "-o", out,
        )  # fmt: skip
        assert done.code == 0, done.err
        frame = pl.read_parquet(out) if ending == "parquet" else pl.read_csv(out)
        assert frame["count"].sum() == 20134
        assert f"{frame.height:,} rows" in done.err


def test_a_large_matrix_is_listed_on_the_terminal(samples: Path) -> None:
    source = samples / "school_census_2019.parquet"
    done = run(
        *("inspect", "--show", "hyper"), source, "--qids", "NU_DIA,NU_MES",
        "--secret", "IN_TRANSPORTE_PUBLICO", "--format", "table",
    )  # fmt: skip
    assert done.code == 0
    assert "more rows; -o FILE.parquet writes all" in done.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"show": "matrix"}, "unknown object"),
        ({"secret": ["illness", "occupation"]}, "one secret"),
        ({"secret": ()}, "no secret"),
        ({"gain": "tries:2"}, "same for every gain"),
    ],
)
def test_what_cannot_be_shown_is_refused(samples: Path, options: Any, words: str) -> None:
    asked = {"show": "hyper", "qids": "age", "secret": "illness"} | options
    with pytest.raises(InputError, match=words):
        qifsql.inspect(samples / "thesis_table_3_2.csv", **asked)


def test_hostile_labels_stay_text_in_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    pl.DataFrame({"[red]q": ["[b]", "=cmd()"], "s\n": ["</td>", None]}).write_parquet(path)
    result = qifsql.inspect(path, show="hyper", qids="[red]q", secret="s\n")
    from qifsql.commands.inspect import view

    parts = view.parts(result.frame, result.details, result.spec)
    text = html.result_page("x", parts, notes=(), sql="", started="")
    assert "[b]" in text
    assert "&lt;/td&gt;" in text


@pytest.fixture(scope="module")
def thesis_channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thesis Def. 3: three secrets, equally likely, and four outputs, as 36 people."""
    people = {("x1", "y1"): 12, ("x2", "y2"): 6, ("x2", "y3"): 3, ("x2", "y4"): 3}
    people |= {("x3", "y1"): 6, ("x3", "y2"): 4, ("x3", "y3"): 2}
    rows = [pair for pair, n in people.items() for _ in range(n)]
    path = tmp_path_factory.mktemp("thesis") / "channel.parquet"
    pl.DataFrame(rows, schema=["x", "y"], orient="row").write_parquet(path)
    return path


def test_thesis_definitions_3_and_4_joint_outers_and_hyper(thesis_channel: Path) -> None:
    """Outers 1/2, 5/18, 5/36, 1/12; the hyper has 1/2, 15/36 and 1/12: y2 and y3 are one."""
    joint = qifsql.inspect(thesis_channel, show="joint", qids="y", secret="x").frame.to_dicts()
    found = {(r["value"], r["y"]): fraction(r) for r in joint}
    assert found == {
        ("x1", "y1"): F(1, 3),
        ("x2", "y2"): F(1, 6),
        ("x2", "y3"): F(1, 12),
        ("x2", "y4"): F(1, 12),
        ("x3", "y1"): F(1, 6),
        ("x3", "y2"): F(1, 9),
        ("x3", "y3"): F(1, 18),
    }
    outers = [sum(p for (_, y), p in found.items() if y == f"y{i}") for i in range(1, 5)]
    assert outers == [F(1, 2), F(5, 18), F(5, 36), F(1, 12)]
    hyper = qifsql.inspect(thesis_channel, show="hyper", qids="y", secret="x").frame.to_dicts()
    assert {(r["inner"], r["value"]): (fraction(r, "outer_"), fraction(r)) for r in hyper} == {
        (1, "x1"): (F(1, 2), F(2, 3)),
        (1, "x3"): (F(1, 2), F(1, 3)),
        (2, "x2"): (F(15, 36), F(3, 5)),
        (2, "x3"): (F(15, 36), F(2, 5)),
        (3, "x2"): (F(1, 12), F(1)),
    }


def test_thesis_definitions_5_to_8_vulnerability_and_leakage(thesis_channel: Path) -> None:
    """1/3 before, 2/3 after: one bit of min-entropy, twice, and 1/3 more; g_id is the same."""
    gains = ["identity", "sql:(guess = secret)::INTEGER"]
    rows = qifsql.attack("cas", thesis_channel, qids="y", secret="x", gain=gains).rows()
    for row in rows:
        assert row["prior_probabilistic"] == float(F(1, 3))
        assert row["posterior_probabilistic"] == float(F(2, 3))
        assert row["degradation_probabilistic"] == 2
        assert row["leakage_additive"] == float(F(1, 3))
        assert row["min_entropy_leakage"] == 1


def test_thesis_section_2_1_weekday_of_birth(tmp_path: Path) -> None:
    """Seven days, equally likely; somebody born on a weekend: 1/7 to 1/2, 3.5 times, 5/14 more.

    The thesis prints 9/14 for the difference.
    """
    path = tmp_path / "weekdays.parquet"
    pl.DataFrame({"day": range(7), "weekend": [d >= 5 for d in range(7)]}).write_parquet(path)
    target = {"weekend": True}
    (row,) = qifsql.attack("ias", path, target=target, secret="day").rows()
    assert row["prior_probabilistic"] == float(F(1, 7))
    assert row["posterior_probabilistic"] == 0.5
    assert row["degradation_probabilistic"] == 3.5
    assert row["leakage_additive"] == float(F(5, 14))


def test_thesis_appendix_b_identities(thesis_channel: Path) -> None:
    """Entropy is what remains and what is learnt; min-entropy is that of the vulnerability."""
    (row,) = qifsql.attack("cas", thesis_channel, qids="y", secret="x", measures="all").rows()
    assert row["prior_entropy"] == pytest.approx(1.584962500721156, abs=1e-15)  # log2 3
    assert row["mutual_information"] == row["prior_entropy"] - row["posterior_entropy"]
    inner_1, inner_2 = 0.9182958340544896, 0.9709505944546686  # of (1/3, 2/3) and (2/5, 3/5)
    wanted = inner_1 / 2 + inner_2 * 15 / 36
    assert row["posterior_entropy"] == pytest.approx(wanted, abs=1e-14)
    assert row["capacity"] == float(1 + F(1, 2) + F(1, 4) + F(1, 4))
