"""The worked examples of the thesis and of the PoPETs paper, through the product."""

from fractions import Fraction as F
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import qifsql
from qifsql.errors import TargetError

PARTS = ("prior", "posterior", "degradation")


@pytest.fixture(scope="module")
def thesis(samples: Path) -> Path:
    """Thesis Table 3.2, the leading example for single databases (Example 12)."""
    return samples / "thesis_table_3_2.csv"


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


def numbers(row: dict[str, Any]) -> dict[str, list[float]]:
    """Prior, posterior and degradation of both kinds."""
    return {k: [row[f"{p}_{k}"] for p in PARTS] for k in ("deterministic", "probabilistic")}


def only(assessment: qifsql.Result) -> dict[str, Any]:
    (row,) = assessment.rows()
    return row


def test_thesis_example_12_partition(thesis: Path, tmp_path: Path) -> None:
    """Thesis Example 12: the four blocks of {gender, illness}, as sets of ids."""
    out = tmp_path / "records.parquet"
    qifsql.inspect(thesis, show="records", out=out, qids=["gender", "illness"], key="id")
    sizes = dict(pl.read_parquet(out).select("id", "block_size").iter_rows())
    assert sizes == {1: 2, 8: 2, 2: 4, 3: 4, 6: 4, 7: 4, 4: 1, 5: 3, 9: 3, 10: 3}


def test_thesis_example_15_marginal_distribution(thesis: Path) -> None:
    """Thesis Example 15: 4/10, 2/10, 1/10 and 3/10."""
    shown = qifsql.inspect(thesis, qids=["gender", "illness"]).frame
    assert {(g, i): F(n, 10) for g, i, n, _ in shown.iter_rows()} == {
        ("F", "yes"): F(4, 10),
        ("F", "no"): F(2, 10),
        ("M", "yes"): F(1, 10),
        ("M", "no"): F(3, 10),
    }


def test_thesis_example_47_individual_re_identification(thesis: Path) -> None:
    """Thesis Example 47: Alex surely, Bia from 10 % to 50 %, five times (Eqs. C.1-C.6).

    The thesis prints id 9 for Alex; the man of 60 in Table 3.2 is id 10.
    """
    alex = only(qifsql.attack("irs", thesis, target={"gender": "M", "age": 60}, key="id"))
    assert numbers(alex) == {"deterministic": [0, 1, 1], "probabilistic": [0.1, 1, 10]}
    assert (alex["matches"], alex["best_guess"]) == (1, "10")
    bia = only(qifsql.attack("irs", thesis, target={"gender": "F", "occupation": 1}, key="id"))
    assert numbers(bia) == {"deterministic": [0, 0, 0], "probabilistic": [0.1, 0.5, 5]}
    assert (bia["matches"], bia["best_guess"]) == (2, "1")


def test_thesis_example_48_collective_re_identification(thesis: Path) -> None:
    """Thesis Example 48: {age}, 0 to 10 % surely, 10 % to 30 %, three times (Eqs. 4.1-4.6)."""
    row = only(qifsql.attack("crs", thesis, qids="age"))
    assert numbers(row) == {"deterministic": [0, 0.1, 0.1], "probabilistic": [0.1, 0.3, 3]}
    assert (row["blocks"], row["singled_out"]) == (3, 1)


def test_thesis_example_49_individual_attribute_inference(thesis: Path) -> None:
    """Thesis Example 49: Caio surely, Dora from 1/2 to 2/3, printed 1.34 times (Eqs. C.7-C.13)."""
    caio = {"gender": "M", "occupation": 4}
    row = only(qifsql.attack("ias", thesis, target=caio, secret="illness"))
    assert numbers(row) == {"deterministic": [0, 1, 1], "probabilistic": [0.5, 1, 2]}
    assert (row["matches"], row["best_guess"]) == (2, "no")
    dora = {"gender": "F", "age": 49}
    row = only(qifsql.attack("ias", thesis, target=dora, secret="illness"))
    assert numbers(row) == {"deterministic": [0, 0, 0], "probabilistic": [0.5, 2 / 3, 4 / 3]}
    assert (row["matches"], row["best_guess"]) == (3, "yes")


def test_thesis_example_50_collective_attribute_inference(thesis: Path) -> None:
    """Thesis Example 50: {age} and illness, 0 to 10 %, 50 % to 60 %, 1.2 times (Eqs. 4.7-4.13)."""
    row = only(qifsql.attack("cas", thesis, qids="age", secret="illness"))
    assert numbers(row) == {"deterministic": [0, 0.1, 0.1], "probabilistic": [0.5, 0.6, 1.2]}


def test_somebody_who_is_not_in_the_example_is_not_inferred(thesis: Path) -> None:
    """Eqs. C.5 and C.8 say nothing sensible of an empty block: there are no numbers."""
    with pytest.raises(TargetError, match="matches none of the 10 records"):
        qifsql.attack("irs,ias", thesis, target={"gender": "F", "age": 60}, secret="illness")


def test_popets_table_2_native_language(samples: Path) -> None:
    """PoPETs section 3, Table 2: German is guessed with 1/2, with gender and age with 3/4."""
    source = samples / "popets_table_2a.csv"
    row = only(qifsql.attack("cas", source, qids=["gender", "age"], secret="language"))
    assert numbers(row) == {"deterministic": [0, 0.5, 0.5], "probabilistic": [0.5, 0.75, 1.5]}


def test_popets_table_9_hyper_distribution(samples: Path) -> None:
    """PoPETs appendix B, Table 9d: outers 1/2, 1/4, 1/4 and their inners; F, >30 has none."""
    source = samples / "popets_table_2a.csv"
    shown = qifsql.inspect(source, qids=["gender", "age"], secret="language", order="largest")
    hyper = {
        (row["gender"], row["age"]): (
            F(row["size"], 4),
            {c["value"]: F(c["records"], row["size"]) for c in row["counts_language"]},
        )
        for row in shown.frame.iter_rows(named=True)
    }
    assert hyper == {
        ("M", "<=30"): (F(1, 2), {"German": F(1, 2), "Portuguese": F(1, 2)}),
        ("M", ">30"): (F(1, 4), {"English": 1}),
        ("F", "<=30"): (F(1, 4), {"German": 1}),
    }


def test_popets_table_10_re_identification(joined: Path, tmp_path: Path) -> None:
    """PoPETs section 4.2, Tables 3c and 10: 0 to 60 %, 10 % to 80 %, eight times.

    Those re-identified are 1, 2, 6, 8, 9 and 10, the last by what is missing: record 10 is not
    in the second release. Thesis Example 52 has the same numbers.
    """
    qids = ["gender", "grade", "grade_2"]
    row = only(qifsql.attack("crs", joined, qids=qids))
    assert numbers(row) == {"deterministic": [0, 0.6, 0.6], "probabilistic": [0.1, 0.8, 8]}
    out = tmp_path / "records.parquet"
    assert qifsql.inspect(joined, show="records", out=out, qids=qids, key="id").written == 10
    found = pl.read_parquet(out)
    assert found.filter("singled_out")["id"].to_list() == [1, 2, 6, 8, 9, 10]


def test_popets_table_4_attribute_inference(joined: Path) -> None:
    """PoPETs section 4.2, Table 4: disability, 0 to 80 %, 50 % to 90 %, 1.8 times (Example 54)."""
    row = only(
        qifsql.attack("cas", joined, qids=["gender", "grade", "grade_2"], secret="disability")
    )
    assert numbers(row) == {"deterministic": [0, 0.8, 0.8], "probabilistic": [0.5, 0.9, 1.8]}
    assert row["blocks"] == 8


def test_single_release_beside_the_longitudinal_ones(joined: Path) -> None:
    """Thesis Examples 52 and 54 on the focal release alone: five blocks, 6/10 and 8/10."""
    found = qifsql.attack("crs,cas", joined, qids=["gender", "grade"], secret="disability")
    identity, disability = found.rows()
    assert numbers(identity)["probabilistic"] == [0.1, 0.5, 5]
    assert numbers(disability) == {
        "deterministic": [0, 0.6, 0.6],
        "probabilistic": [0.5, 0.8, 1.6],
    }
