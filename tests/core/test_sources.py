"""The worked examples of the thesis and of the PoPETs paper, through the product."""

from collections.abc import Sequence
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import qifsql
from qifsql.adversary.models import MODELS, model
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


def test_popets_table_1_twelve_models() -> None:
    """PoPETs Table 1: three goals, two targets, two accesses; three models have older names."""
    names = {f"{target}{goal}{access}" for target in "ic" for goal in "mra" for access in "sl"}
    assert set(MODELS) == names
    old = {"prosecutor": "irs", "journalist": "ims", "marketer": "crs"}
    assert {name: model(name).acronym for name in old} == old


def test_popets_section_5_sets_of_quasi_identifiers(tmp_path: Path) -> None:
    """PoPETs section 5.1 and Figure 2: 2,047 sets of 11 quasi-identifiers."""
    file, qids = tmp_path / "two.parquet", [f"q{i}" for i in range(11)]
    pl.DataFrame({qid: [0, i % 2] for i, qid in enumerate(qids)}).write_parquet(file)
    assert qifsql.sweep(file, qids=qids).frame["subset"].n_unique() == 2047


# Experiments on individuals: the records are withdrawn, and what is printed of them is enough.

STUDENTS = 9_773_350  # Higher Education Census of 2014, one record each


@pytest.mark.parametrize(
    ("alike", "posterior", "degradation"),
    [(2, 1 / 2, 4_886_675), (7, 1 / 7, 1_396_192.86)],
    ids=["41", "45"],
)
def test_thesis_experiments_41_and_45(
    alike: int, posterior: float, degradation: float, tmp_path: Path
) -> None:
    """Thesis Experiments 41 and 45, of which 45 is on the aggregated database.

    Before 1 of 9,773,350; after 1 of the 2, or 7, who are alike. Experiment 45 prints 1,396,192.
    """
    file = tmp_path / "students.parquet"
    same = (pl.int_range(0, STUDENTS, eager=True) < alike).cast(pl.Int8)
    same.alias("same").to_frame().write_parquet(file)
    row = only(qifsql.attack("irs", file, target={"same": 1}))
    assert numbers(row)["deterministic"] == [0, 0, 0]
    assert numbers(row)["probabilistic"] == pytest.approx([1 / STUDENTS, posterior, degradation])
    assert f"{row['prior_probabilistic']:.4e}" == "1.0232e-07"


def test_thesis_experiment_42(tmp_path: Path) -> None:
    """Thesis Experiment 42: 82.06 % to 1482/1589 = 93.27 %, 1.1366 times; 26 records surely."""
    pupils, frequent, alike, most, surely = 47_640_822, 39_093_415, 1_589, 1_482, 26
    counts = [  # known: nothing, city of birth and all else, city of residence, too; transport
        *((2, 0, surely), (1, 0, most - surely), (1, 1, alike - most)),
        *((0, 0, frequent - most), (0, 1, pupils - frequent - (alike - most) - 1), (0, -1, 1)),
    ]
    row = attacked("ias", [counts], "transport", tmp_path)
    surer = attacked("ias", [counts], "transport", tmp_path, near=[2])
    prior, after = frequent / pupils, most / alike
    assert numbers(row)["probabilistic"] == pytest.approx([prior, after, after / prior])
    assert [round(100 * row[f"{p}_probabilistic"], 2) for p in PARTS[:2]] == [82.06, 93.27]
    assert round(row["degradation_probabilistic"], 4) == 1.1366
    assert numbers(row)["deterministic"] == [0, 0, 0]
    assert numbers(surer)["deterministic"] == [0, 1, 1]
    assert surer["best_guess"] == "0"


def test_thesis_experiment_46(tmp_path: Path) -> None:
    """Thesis Experiment 46: 5.69 % to 2/7, of 5,561 cities; printed 5.0211 times, exactly 5.0187.

    The printed ratio is that of the rounded operands, 0.2857 and 0.0569. Of 48,561,221 pupils 14
    are alike, and of them the disability is sure.
    """
    capital, cities = 556_398, 5_561
    alike = [(1, 0, 2), *((1, i, 1) for i in range(1, 6))]
    rest, more = divmod(STUDENTS - 7 - capital, cities - 7)
    others = [(0, i, rest + (i < 6 + more)) for i in range(6, cities - 1)]
    counts = [*alike, *others, (0, cities, capital)]
    assert len({city for _, city, _ in counts}) == cities
    row = attacked("ial", [counts, alike], "city", tmp_path)
    prior = capital / STUDENTS
    assert numbers(row)["probabilistic"] == pytest.approx([prior, 2 / 7, 2 / 7 / prior])
    assert round(row["degradation_probabilistic"], 4) == 5.0187
    assert round(0.2857 / 0.0569, 4) == 5.0211
    pupils = [(1, 0, 14), (0, 0, 48_561_221 - 15), (0, 1, 1)]
    row = attacked("ial", [pupils, pupils[:1]], "disability", tmp_path)
    assert numbers(row)["deterministic"] == [0, 1, 1]


def attacked(
    name: str,
    releases: list[list[tuple[int, int, int]]],
    secret: str,
    folder: Path,
    near: Sequence[int] = (1, 2),
) -> dict[str, Any]:
    """The attack on one person; a release is what is known of people, their secret and number."""
    files = []
    for i, release in enumerate(releases):
        frame = pl.DataFrame(release, schema=["known", secret, "people"], orient="row")
        files.append(folder / f"release_{i}.parquet")
        frame = frame.with_columns(near=pl.col("known").is_in(near)).with_row_index("id")
        frame.write_parquet(files[-1])
    asked: dict[str, Any] = {"target": {"near": True}, "secret": secret, "weight": "people"}
    if len(files) == 1:
        return only(qifsql.attack(name, files[0], **asked))
    return only(qifsql.attack(name, files, key="id", **asked))
