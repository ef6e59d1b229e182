"""The synthetic Higher Education Census: the same file everywhere, and the shape of the census."""

import contextlib
import hashlib
import runpy
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from places import SAMPLES

SCRIPT = SAMPLES / "make_higher_education_census.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """The names of the script, which is no module of a package."""
    return runpy.run_path(str(SCRIPT))


def made(script: dict[str, Any], path: Path, *, year: int = 2019, seed: int = 2019) -> pl.DataFrame:
    """The file, written and read."""
    script["write"](path, 3_000, seed, year)
    if path.suffix == ".csv":
        return pl.read_csv(path, separator="|")
    return pl.read_parquet(path)


def test_options_give_the_same_file_on_any_machine(
    script: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest is that of the file which was made when the script was written."""
    made(script, tmp_path / "a.csv")
    digest = hashlib.sha256((tmp_path / "a.csv").read_bytes()).hexdigest()
    assert digest == "1b8e9b2295ccda08b6266f6c0123ffbbb77a7b7964fd87958017872e365638aa"
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda: connect(config={"threads": 1}))
    made(script, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    assert made(script, tmp_path / "a.parquet").equals(
        pl.read_csv(tmp_path / "a.csv", separator="|").cast(
            dict(pl.read_parquet_schema(tmp_path / "a.parquet"))
        )
    )
    made(script, tmp_path / "c.csv", seed=7)
    assert (tmp_path / "c.csv").read_bytes() != (tmp_path / "a.csv").read_bytes()


def test_students_have_several_enrolments_and_stay_the_same_people(
    script: dict[str, Any], tmp_path: Path
) -> None:
    """A fifth of the students of 2016 is not there in 2017; some others change the course."""
    years = [made(script, tmp_path / f"{year}.parquet", year=year) for year in (2016, 2017)]
    person = ["CO_ALUNO", "NU_ANO_NASCIMENTO", "NU_MES_NASCIMENTO", "NU_DIA_NASCIMENTO", "TP_SEXO"]
    students = [census.select(person).unique() for census in years]
    for census, people in zip(years, students, strict=True):
        assert people.height == people["CO_ALUNO"].n_unique() == 3_000 * 11_038_074 // 12_350_832
        assert census["CO_ALUNO_CURSO"].is_unique().all()
        assert census.select("CO_CURSO", "CO_IES").n_unique() == census["CO_CURSO"].n_unique()
    stayed = students[0].join(students[1], on="CO_ALUNO")
    assert stayed.height == students[0].join(students[1], on=person).height
    assert 0.79 < stayed.height / students[0].height < 0.81
    courses = years[0].unique("CO_ALUNO").join(years[1].unique("CO_ALUNO"), on="CO_ALUNO")
    assert 0.7 < (courses["CO_CURSO"] == courses["CO_CURSO_right"]).mean() < 1


def test_nobody_enters_after_the_year_of_the_census(script: dict[str, Any], tmp_path: Path) -> None:
    """In 2009 all have entered by then; from 2010 on a fifth enters in each year."""
    for year, newcomers in ((2009, 1.0), (2010, 0.2)):
        entry = made(script, tmp_path / f"{year}.parquet", year=year)["NU_ANO_INGRESSO"]
        assert entry.max() == year
        assert (entry == year).mean() == pytest.approx(newcomers, abs=0.03)


def test_codes_are_new_in_each_year_from_2018_on(script: dict[str, Any], tmp_path: Path) -> None:
    codes = [
        set(made(script, tmp_path / f"{year}.parquet", year=year)["ID_ALUNO"])
        for year in (2018, 2019)
    ]
    assert not codes[0] & codes[1]


@pytest.mark.parametrize("words", ["a.xlsx", "a.csv --rows 9", "a.csv --year 2020"])
def test_what_cannot_be_made_is_refused(
    words: str, script: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", [SCRIPT.name, *words.split()])
    with contextlib.chdir(tmp_path), pytest.raises(SystemExit, match="2"):
        script["main"]()
    assert not list(tmp_path.iterdir())
