"""Links on a generated census with a known law: about as many are right as the model says."""

import random
from pathlib import Path

import polars as pl
import pytest

import qifsql
from qifsql.commands.attack.charts import charts

PEOPLE, SCHOOLS, STAY = 4000, 25, 0.8


def census(folder: Path, presence: float, seed: int) -> list[Path]:
    """Three years: a year older, the school stays or is that of somebody else, some come and go."""
    draw = random.Random(seed)

    def newcomer(key: int) -> tuple[int, int, int, int, int]:
        school = min(int(draw.expovariate(0.15)), SCHOOLS - 1)
        return key, draw.randrange(2), draw.randrange(12), draw.randrange(6, 16), school

    year = [newcomer(key) for key in range(PEOPLE)]
    paths = []
    for number in range(3):
        paths.append(folder / f"{number}.parquet")
        columns = ["id", "sex", "month", "age", "school"]
        pl.DataFrame(year, schema=columns, orient="row").write_parquet(paths[-1])
        schools = [person[-1] for person in year]
        kept = [
            (key, sex, month, age + 1, school if draw.random() < STAY else draw.choice(schools))
            for key, sex, month, age, school in year
            if draw.random() < presence
        ]
        new = range(PEOPLE * (number + 1), PEOPLE * (number + 2) - len(kept))
        year = [*kept, *map(newcomer, new)]
        draw.shuffle(year)
    return paths


@pytest.mark.cases(1)
@pytest.mark.parametrize("presence", [1.0, 0.9])
@pytest.mark.parametrize("exact", ["sex", "sex,month"])
def test_about_as_many_links_are_right_as_the_model_says(
    tmp_path: Path, presence: float, exact: str
) -> None:
    paths = census(tmp_path, presence, seed=3)
    rules = f"{exact}; age:+1; school:stay={STAY}"
    asked = {"presence": presence, "truth": "id", "qids": ["sex"]}
    result = qifsql.attack("crl", paths, link=rules, **asked)
    for step in result.details["links"].iter_rows(named=True):
        assert step["records"] == PEOPLE
        assert step["link_accuracy"] == pytest.approx(step["link_vulnerability"], abs=0.05)
    bins = result.details["calibration"]
    assert bins["links"].sum() <= 2 * PEOPLE
    known = result.details["links"]
    for step, own in bins.group_by("step"):
        (row,) = known.filter(pl.col("step") == step[0]).to_dicts()
        total = {w: (own["links"] * own[w]).sum() / PEOPLE for w in ("predicted", "right")}
        assert total["predicted"] == pytest.approx(row["link_vulnerability"])
        assert total["right"] == pytest.approx(row["link_accuracy"])


def test_a_law_that_is_wrong_is_seen_in_the_chart(tmp_path: Path) -> None:
    """By a law in which nobody changes the school the model promises far too much."""
    pytest.importorskip("altair")
    paths = census(tmp_path, 1.0, seed=4)[:2]
    asked = {"presence": 1, "truth": "id", "qids": ["sex"]}
    drawn = []
    for stay in (STAY, 0.999):
        rules = f"sex,month; age:+1; school:stay={stay}"
        result = qifsql.attack("crl", paths, link=rules, **asked)
        chart = charts(result.frame, result.details, result.origin.spec)["calibration"].to_dict()
        points = chart["data"]["values"]
        off = sum(p["links"] * abs(p["predicted"] - p["right"]) for p in points)
        drawn.append(off / sum(p["links"] for p in points))
    assert drawn[1] > 1.5 * drawn[0]
