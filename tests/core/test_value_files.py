"""Files about values of a secret: the lines that are read from them, in plain DuckDB."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from qifsql.adversary import gains, value_files
from qifsql.adversary.spec import Attribute
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.errors import InputError

Lines = list[tuple[Any, ...]]


def attribute(name: str, type_: str) -> Attribute:
    return Attribute(name, exp.column(name, table="source"), type_)


DISEASE, INCOME, AGE = (
    attribute(name, type_)
    for name, type_ in (("disease", "VARCHAR"), ("income", "DOUBLE"), ("age", "INTEGER"))
)


def opened(folder: Path, text: str) -> tuple[Dataset, Schema]:
    """Return a file of these lines, and its schema: every column is text."""
    path = folder / "values.csv"
    path.write_text(text)
    names = text.partition("\n")[0].split(",")
    columns = tuple(Column(name, name, "VARCHAR") for name in names)
    return Dataset.open(path, all_varchar=True), Schema("values.csv", columns)


def read(query: exp.Query) -> Lines:
    with duckdb.connect() as connection:
        return connection.execute(query.sql(dialect="duckdb")).fetchall()


def earned(folder: Path, gain: str, secret: Attribute, text: str) -> Lines:
    return read(value_files.gains(gains.parse(gain), secret, *opened(folder, text)))


@pytest.mark.parametrize("head", ["disease,worth", "secret,worth", "value,worth", "VALUE,Gain"])
def test_a_worth_file_has_a_worth_for_each_value_and_no_guess(tmp_path: Path, head: str) -> None:
    lines = earned(tmp_path, "worth:values.csv", DISEASE, f"{head}\nflu,1.5\n,2\n01,x\n")
    assert lines == [(None, "flu", "flu", 1.5), (None, None, None, 2.0), (None, "01", "01", None)]


def test_the_name_of_the_secret_comes_before_value_and_gain_before_worth(tmp_path: Path) -> None:
    text = "value,secret,disease,worth,gain,guess\na,b,c,1,2,g\n"
    assert earned(tmp_path, "worth:values.csv", DISEASE, text) == [(None, "c", "c", 2.0)]
    assert earned(tmp_path, "matrix:values.csv", DISEASE, text) == [("g", "c", "c", 2.0)]
    without = "value,secret,worth\na,b,1\n"
    assert earned(tmp_path, "worth:values.csv", DISEASE, without) == [(None, "b", "b", 1.0)]


@pytest.mark.parametrize("head", ["disease,amount", "illness,worth", "guess,worth"])
def test_a_worth_file_needs_both_columns(tmp_path: Path, head: str) -> None:
    with pytest.raises(InputError, match=r'needs the columns value .or "disease". and worth'):
        earned(tmp_path, "worth:values.csv", DISEASE, f"{head}\nflu,1\n")


def test_values_have_the_type_of_the_secret_and_are_kept_as_written(tmp_path: Path) -> None:
    text = "guess,secret,gain\nyoung,007,1\nold,seven,2\nold,,nan\n"
    numbers = earned(tmp_path, "matrix:values.csv", AGE, text)
    assert numbers[:2] == [("young", 7, "007", 1.0), ("old", None, "seven", 2.0)]
    assert numbers[2][:3] == ("old", None, None)
    floats = earned(tmp_path, "worth:values.csv", INCOME, "value,worth\n1e1,1\nnan,2\n-0.0,3\n")
    assert floats[:2] == [(None, 10.0, "1e1", 1.0), (None, None, None, 2.0)]
    assert str(floats[2][1]) == "0.0"
    assert floats[2][2:] == ("-0.0", 3.0)


def test_a_wide_matrix_has_a_column_of_guesses_and_one_of_each_value(tmp_path: Path) -> None:
    text = "guess,flu,(missing),gain\nflu,1,0,5\n,0,1,x\n"
    assert earned(tmp_path, "matrix:values.csv", DISEASE, text) == [
        ("flu", "flu", "flu", 1.0),
        (None, "flu", "flu", 0.0),
        ("flu", None, None, 0.0),
        (None, None, None, 1.0),
        ("flu", "gain", "gain", 5.0),
        (None, "gain", "gain", None),
    ]
    assert earned(tmp_path, "matrix:values.csv", AGE, "who,07\nme,1\n") == [("me", 7, "07", 1.0)]


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_a_wide_matrix_has_one_column_of_values_to_five_hundred(tmp_path: Path) -> None:
    def found(values: int) -> int:
        names = ",".join(["who", *(f"v{i}" for i in range(values))])
        line = ",".join(["me", *("1" for _ in range(values))])
        dataset, schema = opened(tmp_path, f"{names}\n{line}\n")
        query = value_files.gains(gains.parse("matrix:values.csv"), DISEASE, dataset, schema)
        return len(list(query.find_all(exp.Select)))

    assert [found(n) for n in (1, 2, 500)] == [1, 2, 500]
    for n in (0, 501):
        with pytest.raises(InputError, match=r"not a gain matrix.*at most 500"):
            found(n)


def believed(folder: Path, secrets: list[Attribute], text: str) -> tuple[int, Lines]:
    number, query = value_files.beliefs(secrets, *opened(folder, text))
    return number, read(query)


def test_beliefs_are_about_the_secret_that_a_column_names(tmp_path: Path) -> None:
    both = [DISEASE, INCOME]
    text = "age,income,probability,belief,prior\n1,20.50,0.25,1,1\n2,NaN,x,1,1\n"
    second = (2, [(20.5, "20.50", 0.25), (None, None, None)])
    assert believed(tmp_path, both, text) == second
    assert believed(tmp_path, both, text.replace("income", "Income")) == second
    assert believed(tmp_path, both, text.replace("age", "DISEASE")) == second  # one is exact
    assert believed(tmp_path, both[::-1], text)[0] == 1


def test_beliefs_about_one_secret_may_be_about_its_value(tmp_path: Path) -> None:
    for words in ("value,belief,prior", "secret,belief,prior", "value,prior,other"):
        lines = [("flu", "flu", 0.25)]
        assert believed(tmp_path, [DISEASE], f"{words}\nflu,0.25,1\n") == (1, lines)


@pytest.mark.parametrize(
    ("secrets", "head"),
    [
        ([DISEASE, INCOME], "value,probability"),  # of which of the two?
        ([DISEASE, INCOME], "disease,income,probability"),
        ([DISEASE, INCOME], "DISEASE,Income,probability"),
        ([DISEASE], "disease,chance"),
        ([DISEASE], "illness,probability"),
        ([], "value,probability"),
    ],
)
def test_a_prior_file_is_about_one_secret(
    tmp_path: Path, secrets: list[Attribute], head: str
) -> None:
    with pytest.raises(InputError, match="is not a prior file"):
        believed(tmp_path, secrets, f"{head}\n")
