"""Longitudinal attacks of the thesis and of the PoPETs paper, and of two other libraries.

The thesis' Examples 20 and 47 to 54, PoPETs Tables 3, 4 and 10, and reference results on real
releases, every number as it is printed or counted there.
"""

import json
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import qifsql
from qifsql.errors import TargetError

PARTS = ("prior", "posterior", "degradation")
NOBODY: dict[str, object] = {"2:age": None, "2:occupation": None}
PEOPLE: dict[int, dict[str, object]] = {  # thesis Table 5.2c, the aggregated database
    1: {"1:age": 25, "gender": "F", "1:occupation": 1, "2:age": 26, "2:occupation": 2},
    2: {"1:age": 25, "gender": "F", "1:occupation": 1, "2:age": 26, "2:occupation": 1},
    3: {"1:age": 25, "gender": "F", "1:occupation": 3, "2:age": 26, "2:occupation": 3},
    4: {"1:age": 25, "gender": "M", "1:occupation": 2, "2:age": 26, "2:occupation": 2},
    5: {"1:age": 25, "gender": "M", "1:occupation": 2, "2:age": 26, "2:occupation": 2},
    6: {"1:age": 49, "gender": "F", "1:occupation": 3, "2:age": 50, "2:occupation": 4},
    7: {"1:age": 49, "gender": "F", "1:occupation": 3, "2:age": 50, "2:occupation": 3},
    8: {"1:age": 49, "gender": "F", "1:occupation": 5, "2:age": 50, "2:occupation": 5},
    9: {"1:age": 49, "gender": "M", "1:occupation": 4, "2:age": 50, "2:occupation": 4},
    10: {"1:age": 60, "gender": "M", "1:occupation": 4, **NOBODY},
}


@pytest.fixture(scope="module")
def thesis(samples: Path) -> list[Path]:
    """Thesis Tables 5.2a (the same as 3.2) and 5.2b, the leading example of collections."""
    return [samples / "thesis_table_3_2.csv", samples / "thesis_table_5_2b.csv"]


@pytest.fixture(scope="module")
def popets(samples: Path) -> list[Path]:
    """PoPETs Tables 3a and 3b."""
    return [samples / "popets_table_3a.csv", samples / "popets_table_3b.csv"]


def numbers(row: dict[str, Any]) -> dict[str, list[float]]:
    """Prior, posterior and degradation of both kinds."""
    return {k: [row[f"{p}_{k}"] for p in PARTS] for k in ("deterministic", "probabilistic")}


def only(assessment: qifsql.Result) -> dict[str, Any]:
    (row,) = assessment.rows()
    return row


# Thesis


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_thesis_example_20_left_outer_join(thesis: list[Path]) -> None:
    """Thesis Table 5.2c: each of the ten is found by all that it says, and nobody else is.

    Records 4 and 5 are alike; person 10 has nothing in the second database, person 11 is in no
    row.
    """
    for number, known in PEOPLE.items():
        row = only(qifsql.attack("irl", thesis, target=known, key="id"))
        alike = [n for n, other in PEOPLE.items() if other == known]
        assert (row["records"], row["matches"]) == (10, len(alike))
        assert row["best_guess"] == str(alike[0])
        assert number in alike
    with pytest.raises(TargetError, match="matches none of the 10 records"):
        qifsql.attack("irl", thesis, target={"2:age": 19, "2:occupation": 1}, key="id")


def test_thesis_example_20_tells_absent_from_nothing_else(thesis: list[Path]) -> None:
    """Person 10 is the only one without a second record, whichever way absence is meant."""
    for absent, value in (("null", None), ("distinct", qifsql.data.collection.ABSENT)):
        target = {"2:age": value, "2:occupation": value}
        row = only(qifsql.attack("irl", thesis, target=target, key="id", absent=absent))
        assert (row["matches"], row["best_guess"]) == (1, "10")


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("model", "target", "deterministic", "probabilistic"),
    [
        ("irl", {"gender": "M", "age": 60}, [0, 1, 1], [0.1, 1, 10]),  # Example 47, Alex
        ("irl", {"gender": "F", "occupation": 1}, [0, 0, 0], [0.1, 0.5, 5]),  # Example 47, Bia
        ("ial", {"gender": "M", "occupation": 4}, [0, 1, 1], [0.5, 1, 2]),  # Example 49, Caio
        ("ial", {"gender": "F", "age": 49}, [0, 0, 0], [0.5, 2 / 3, 4 / 3]),  # Example 49, Dora
    ],
)
def test_thesis_examples_47_and_49_are_of_a_collection_of_one(
    thesis: list[Path],
    model: str,
    target: dict[str, object],
    deterministic: list[float],
    probabilistic: list[float],
) -> None:
    """Thesis C.2: a single database is a collection of one (Alex is id 10, printed as 9)."""
    secret = "illness" if model == "ial" else ()
    alone = qifsql.attack(model, thesis[0], target=target, secret=secret)
    made = qifsql.Collection.of(thesis[:1], key="id")
    for result in (alone, qifsql.attack(model, made, target=target, secret=secret)):
        row = only(result)
        assert numbers(row) == {"deterministic": deterministic, "probabilistic": probabilistic}


def test_thesis_examples_48_and_50_are_of_a_collection_of_one(thesis: list[Path]) -> None:
    """Thesis Examples 48 and 50: {age}, ten times ten percent surely, 30 % and 60 % by guessing."""
    identity, illness = qifsql.attack("crl,cal", thesis[0], qids="age", secret="illness").rows()
    assert numbers(identity) == {"deterministic": [0, 0.1, 0.1], "probabilistic": [0.1, 0.3, 3]}
    assert numbers(illness) == {"deterministic": [0, 0.1, 0.1], "probabilistic": [0.5, 0.6, 1.2]}


def test_thesis_example_51_individual_re_identification(thesis: list[Path]) -> None:
    """Thesis Example 51: Bia is record 2, surely; Andre is 4 or 5, five times the prior."""
    target = {"1:gender": "F", "1:occupation": 1, "2:occupation": 1}
    bia = only(qifsql.attack("irl", thesis, target=target, key="id"))
    assert numbers(bia) == {"deterministic": [0, 1, 1], "probabilistic": [0.1, 1, 10]}
    assert (bia["matches"], bia["best_guess"]) == (1, "2")
    target = {"1:age": 25, "1:gender": "M", "2:age": 26}
    andre = only(qifsql.attack("irl", thesis, target=target, key="id"))
    assert numbers(andre) == {"deterministic": [0, 0, 0], "probabilistic": [0.1, 0.5, 5]}
    assert (andre["matches"], andre["best_guess"]) == (2, "4")


def test_thesis_example_52_collective_re_identification(thesis: list[Path]) -> None:
    """Thesis Example 52: 0 to 60 %, 10 % to 80 %, eight times; the focal one alone: five."""
    asked: Any = {"qids": ["gender", "occupation"], "key": "id"}
    alone, both = qifsql.attack("crl", thesis, progressive=True, **asked).rows()
    assert both["qids"] == ["1:gender", "1:occupation", "2:occupation"]
    assert numbers(both) == {"deterministic": [0, 0.6, 0.6], "probabilistic": [0.1, 0.8, 8]}
    assert (both["blocks"], both["singled_out"]) == (8, 6)
    assert numbers(alone) == {"deterministic": [0, 0.1, 0.1], "probabilistic": [0.1, 0.5, 5]}
    assert (alone["blocks"], alone["singled_out"]) == (5, 1)


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_thesis_example_53_individual_attribute_inference(thesis: list[Path]) -> None:
    """Thesis Example 53: Eva is ill, surely; of Fabio nothing is learnt.

    Eva has occupation 3 in both years, as the text and its records 3 and 7 say; her sub-record is
    printed <F,3,4>, which is record 6 alone.
    """
    target: dict[str, object] = {"1:gender": "F", "occupation": 3}
    eva = only(qifsql.attack("ial", thesis, target=target, secret="illness", key="id"))
    assert numbers(eva) == {"deterministic": [0, 1, 1], "probabilistic": [0.5, 1, 2]}
    assert (eva["matches"], eva["best_guess"]) == (2, "yes")
    printed = only(
        qifsql.attack(
            "ial", thesis, target=target | {"2:occupation": 4}, secret="illness", key="id"
        )
    )
    assert printed["matches"] == 1
    target = {"1:age": 25, "1:gender": "M", "2:age": 26}
    fabio = only(qifsql.attack("ial", thesis, target=target, secret="illness", key="id"))
    assert numbers(fabio) == {"deterministic": [0, 0, 0], "probabilistic": [0.5, 0.5, 1]}
    assert fabio["matches"] == 2


def test_thesis_example_54_collective_attribute_inference(thesis: list[Path]) -> None:
    """Thesis Example 54: 0 to 80 %, 50 % to 90 %, 1.8 times; the focal one alone: 60 %, 80 %."""
    alone, both = qifsql.attack(
        "cal", thesis, qids=["gender", "occupation"], secret="illness", key="id", progressive=True
    ).rows()
    assert numbers(both) == {"deterministic": [0, 0.8, 0.8], "probabilistic": [0.5, 0.9, 1.8]}
    assert numbers(alone) == {"deterministic": [0, 0.6, 0.6], "probabilistic": [0.5, 0.8, 1.6]}


# PoPETs


def test_popets_table_3_and_10_re_identification(popets: list[Path]) -> None:
    """PoPETs Table 10: 0 to 60 %, 10 % to 80 %, eight times; unique: 1, 2, 6, 8, 9, 10."""
    result = qifsql.attack("crl", popets, qids=["gender", "grade"], key="id")
    row = only(result)
    assert numbers(row) == {"deterministic": [0, 0.6, 0.6], "probabilistic": [0.1, 0.8, 8]}
    assert (row["records"], row["blocks"], row["singled_out"]) == (10, 8, 6)
    assert result.notes == (
        "9 of 10 people of popets_table_3a.csv are in popets_table_3b.csv, too",
    )


OBSERVED = {  # PoPETs Tables 4 and 10: what is seen of gender, grade and grade, and whose it is
    ("F", "A", "B"): ([1], "no"),
    ("F", "A", "A"): ([2], "yes"),
    ("F", "C", "C"): ([3, 7], "yes"),
    ("M", "B", "B"): ([4, 5], None),
    ("F", "C", "D"): ([6], "yes"),
    ("F", "E", "E"): ([8], "no"),
    ("M", "D", "D"): ([9], "no"),
    ("M", "D", None): ([10], "no"),
}
QIDS = ["1:gender", "1:grade", "2:grade"]
Column = tuple[Any, ...]


def told(sources: list[Path], show: Any, **asked: Any) -> dict[Column, dict[Any, F]]:
    """An object of information flow, column by column: the fraction of each value of the secret."""
    found: dict[Column, dict[Any, F]] = {}
    shown = qifsql.inspect(sources, show=show, qids=["gender", "grade"], key="id", **asked)
    for row in shown.frame.iter_rows(named=True):
        column = tuple(row[q] for q in QIDS)
        found.setdefault(column, {})[row["value"]] = F(row["numerator"], row["denominator"])
    return found


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_popets_table_10_step_by_step(popets: list[Path]) -> None:
    """PoPETs Tables 10b to 10d: joint 1/10 each, channel 1 each, inners 1 or 1/2."""
    assert told(popets, "joint") == {
        column: {n: F(1, 10) for n in people} for column, (people, _) in OBSERVED.items()
    }
    assert told(popets, "channel") == {
        column: dict.fromkeys(people, F(1)) for column, (people, _) in OBSERVED.items()
    }
    assert told(popets, "hyper") == {
        column: {n: F(1, len(people)) for n in people} for column, (people, _) in OBSERVED.items()
    }
    outers = qifsql.inspect(popets, show="hyper", qids=["gender", "grade"], key="id").frame
    of_columns = {tuple(row[q] for q in QIDS): row["outer"] for row in outers.to_dicts()}
    assert of_columns == {column: len(people) / 10 for column, (people, _) in OBSERVED.items()}


def test_popets_table_4_attribute_inference(popets: list[Path]) -> None:
    """PoPETs Table 4: disability, 0 to 80 %, 50 % to 90 %, 1.8 times."""
    row = only(
        qifsql.attack("cal", popets, qids=["gender", "grade"], secret="disability", key="id")
    )
    assert numbers(row) == {"deterministic": [0, 0.8, 0.8], "probabilistic": [0.5, 0.9, 1.8]}
    assert (row["blocks"], row["individuals_certain"]) == (8, 8)


def test_popets_table_4_step_by_step(popets: list[Path]) -> None:
    """PoPETs Tables 4a to 4d: joint and channel of (F, A, B) as the captions say, all inners.

    Inners that are equal are one (thesis Def. 4): three columns surely yes, four surely no, and
    (M, B, B), to which the text gives the weight 1/10. It is 2/10, with which the sum is 90 %.
    """
    asked: Any = {"secret": "disability"}
    counts = {
        column: {s: F(len(people), 1) for s in [disability]} if disability else {"no": 1, "yes": 1}
        for column, (people, disability) in OBSERVED.items()
    }
    parts: tuple[tuple[Any, int], ...] = (("joint", 10), ("channel", 5))  # 5 have either value
    for show, total in parts:
        assert told(popets, show, **asked) == {
            column: {s: F(n, total) for s, n in of_column.items()}
            for column, of_column in counts.items()
        }
    hyper = qifsql.inspect(popets, show="hyper", qids=["gender", "grade"], key="id", **asked).frame
    inners = {
        (row["value"], row["outer"], row["blocks"], row["probability"]) for row in hyper.to_dicts()
    }
    assert inners == {
        ("yes", 0.4, 3, 1),
        ("no", 0.4, 4, 1),
        ("yes", 0.2, 1, 0.5),
        ("no", 0.2, 1, 0.5),
    }


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_popets_appendix_c_membership(popets: list[Path], tmp_path: Path) -> None:
    """PoPETs appendix C: everybody is the population, of whom some are published; by hand.

    The people of Table 3a, of whom 1, 2, 3, 6 and 8 are published: half of them, nobody surely.
    By gender, 5 of 6 women are in and no man is: 4 certain, 5 + 4 of 10 guessed right. With both
    grades only block (F, C, C) is divided (3 is in, 7 is not): 8 certain, 8 + 1 guessed right.
    """
    everybody = pl.read_csv(popets[0])
    published = everybody.filter(pl.col("id").is_in([1, 2, 3, 6, 8]))
    published.select("id").write_csv(tmp_path / "published.csv")
    result = qifsql.attack(
        "cms", tmp_path / "published.csv", population=popets[0], qids="gender", key="id"
    )
    assert numbers(only(result)) == {
        "deterministic": [0, 0.4, 0.4],
        "probabilistic": [0.5, 0.9, 1.8],
    }
    longitudinal = qifsql.attack(
        "cml",
        [tmp_path / "published.csv", popets[1]],
        population=popets[0],
        qids=["gender", "grade"],
        key="id",
    )
    assert numbers(only(longitudinal)) == {
        "deterministic": [0, 0.8, 0.8],
        "probabilistic": [0.5, 0.9, 1.8],
    }


# Real releases


def cases(shared: Path) -> list[dict[str, Any]]:
    text = (shared / "data" / "reference" / "longitudinal.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text)["cases"]
    return found


def check(result: qifsql.Result, case: dict[str, Any]) -> None:
    """The rows of a progressive ``crl,cal`` against all steps of a case, to the last digit."""
    wanted = []
    for step in case["steps"]:
        n, blocks, alone = (step[name] for name in ("rows", "blocks", "unique_rows"))
        priors = [step["prior_crl"], step["det_crl"], step["post_crl"]]
        assert priors == [1 / n, alone / n, blocks / n]
        wanted.append([None, len(step["releases"]), n, blocks, alone, alone, *priors])
        wanted += [
            [
                *(secret, len(step["releases"]), n, blocks, alone, found["one_value_rows"]),
                *(found[name] for name in ("prior_cal", "det_cal", "post_cal")),
            ]
            for secret, found in step["sensitive"].items()
        ]
    columns = ["secret", "datasets", "records", "blocks", "singled_out", "individuals_certain"]
    columns += ["prior_probabilistic", "posterior_deterministic", "posterior_probabilistic"]
    assert [[row[name] for name in columns] for row in result.rows()] == wanted


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@pytest.mark.parametrize("number", [0, 1])
def test_releases_of_project_star(shared: Path, number: int) -> None:
    case = cases(shared)[number]
    releases = case["steps"][-1]["releases"]
    result = qifsql.attack(
        "crl,cal",
        [shared / "data" / f"star_grade_{release}.parquet" for release in releases],
        qids=case["quasi_identifiers"],
        secret=case["sensitive"],
        key=case["id"],
        absent="distinct",
        progressive=True,
    )
    check(result, case)


@pytest.mark.cases(1)
@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("long", [True, False])
def test_waves_of_the_longitudinal_survey(
    shared: Path, tmp_path: Path, number: int, long: bool
) -> None:
    case = cases(shared)[number]
    years = case["steps"][-1]["releases"]
    whole = shared / "data" / "nlswork.parquet"
    sources: Any = whole
    if not long:
        sources = [tmp_path / f"{year}.parquet" for year in years]
        for year, path in zip(years, sources, strict=True):
            pl.read_parquet(whole).filter(pl.col("year") == int(year)).write_parquet(path)
    result = qifsql.attack(
        "crl,cal",
        sources,
        qids=case["quasi_identifiers"],
        secret=case["sensitive"],
        key=case["id"],
        wave="year=" + ",".join(years) if long else None,
        absent="distinct",
        progressive=True,
    )
    check(result, case)
