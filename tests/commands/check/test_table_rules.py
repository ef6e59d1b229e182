"""Rules about published tables: the numbers of ``tables`` with the ledger, and what is covered."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from policies import policy, rule, values
from terminal import run

import qifsql
from qifsql.commands.check.junit import junit
from qifsql.errors import InputError
from qifsql.measures.table_measures import REQUIRED
from qifsql.study.table_rules import measures

RELEASED = "age,illness,code\n20-29,flu,1\n20-29,flu,2\n20-29,cold,3\n30-39,flu,4\n"
PUBLISHED = "age,sex\n<25,F\n<25,M\n>=25,F\n>=25,F\n"
KNOWN = {"qids": ["age"], "secret": ["illness"]}
LEDGER = "ro-crate-metadata.json"
SUMS = ("undone", "small_differences")
ALL = ("reconstructed", "singled_out", "certain_inference", "highest", *SUMS)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a release, and a ledger of another one of the same people."""
    monkeypatch.chdir(tmp_path)
    Path("released.csv").write_text(RELEASED)
    Path("published.csv").write_text(PUBLISHED)
    qifsql.tables(release="published.csv", ledger=LEDGER, add=True)
    return tmp_path


def bounded(measure: str, at_most: float = 0, **keys: object) -> str:
    return rule(model="tables", measure=measure, at_most=at_most, **keys)


def table(**keys: object) -> str:
    return "\n".join(["[tables]", *(f"{name} = {json.dumps(v)}" for name, v in keys.items()), ""])


def everything(result: qifsql.Result) -> dict[str, Any]:
    """The measures of a result of tables, also those that are sums of its details."""
    sums = {
        "undone": int(result.details["checks"]["undone"].sum()),
        "small_differences": int(result.details["overlaps"]["cells"].sum()),
    }
    return result.rows()[0] | sums


def test_measures_are_those_of_the_command() -> None:
    assert measures() == list(REQUIRED)


def test_levels_are_those_of_the_release_with_the_ledger(here: Path) -> None:
    before = Path(LEDGER).read_bytes()
    file = policy(here, table(ledger=LEDGER), *(bounded(measure) for measure in ALL), **KNOWN)
    verdict = qifsql.check("released.csv", file)
    attacked = everything(qifsql.tables(
        release="released.csv:age,illness", ledger=LEDGER, known="age", secret="illness"
    ))  # fmt: skip
    assert values(verdict, "measure", "value") == [(m, float(attacked[m])) for m in ALL]
    assert verdict.frame["met"].to_list() == [attacked[m] <= 0 for m in ALL]
    assert verdict.frame["individuals"].unique().to_list() == [4]
    assert Path(LEDGER).read_bytes() == before
    alone = qifsql.check("released.csv", policy(here, *map(bounded, ALL), **KNOWN))
    for (measure, value), (_, other) in zip(
        values(verdict, "measure", "value"), values(alone, "measure", "value"), strict=True
    ):  # what more was published proves no less
        assert measure in ("highest", "reconstructed") or value >= other


@pytest.mark.parametrize("met", [True, False])
def test_a_broken_bound_ends_with_4_in_json_and_junit(here: Path, met: bool) -> None:
    limit = 4 if met else 0
    file = policy(here, table(ledger=LEDGER), bounded("certain_inference", limit), **KNOWN)
    answer = run("check", "released.csv", "--policy", str(file), "--format", "json")
    assert answer.code == (0 if met else 4)
    document = json.loads(answer.out)
    assert document["met"] is met
    assert document["results"][0]["model"] == "tables"
    tree = ET.fromstring(junit(qifsql.check("released.csv", file)))
    assert bool(list(tree.iter("failure"))) is not met


def test_columns_that_do_not_count_are_not_considered(here: Path) -> None:
    file = policy(here, bounded("reconstructed", 9), **KNOWN)
    verdict = qifsql.check("released.csv", file)
    assert verdict.not_considered == ("code",)
    assert verdict.uncovered["singled_out"].to_list() == [4, 4]
    assert {c.name: c.role for c in verdict.columns if c.covered} == {
        "age": "quasi-identifier", "illness": "secret"
    }  # fmt: skip
    file = policy(here, bounded("reconstructed", 9), secret="illness")
    whole = qifsql.check("released.csv", file)
    assert whole.not_considered == ()
    file.write_text('unnamed = "refuse"\n' + file.read_text())
    assert not qifsql.check("released.csv", policy(here, bounded("reconstructed"), **KNOWN))


def test_a_table_of_counts_is_judged(here: Path) -> None:
    Path("counts.csv").write_text("age,illness,count\n20-29,flu,*\n20-29,cold,3\n30-39,flu,9\n")
    named = table(protection="suppress<3", count=13)
    verdict = qifsql.check("counts.csv", policy(here, named, bounded("undone"), **KNOWN))
    attacked = qifsql.tables(
        published="counts.csv:suppress<3", count=13, known="age", secret="illness"
    )
    assert values(verdict, "value", "met") == [(float(everything(attacked)["undone"]), False)]
    assert verdict.not_considered == ()


def test_tables_of_records_are_judged_and_other_columns_are_not_released(here: Path) -> None:
    text = "age,illness:suppress<2"
    file = policy(here, table(table=[text]), bounded("actual", 1), **KNOWN)
    verdict = qifsql.check("released.csv", file)
    attacked = qifsql.tables("released.csv", table=text, known="age", secret="illness")
    assert values(verdict, "value") == [(attacked.frame["actual"][0],)]
    assert verdict.not_considered == ()
    both = policy(
        here, table(table=[text]), bounded("actual", 1), rule(model="crs", measure="singled_out"),
        **KNOWN,
    )  # fmt: skip
    assert qifsql.check("released.csv", both).not_considered == ("code",)


@pytest.mark.parametrize(
    ("parts", "known", "words"),
    [
        ([table(ledger=LEDGER)], KNOWN, "no rule"),
        ([table(legder=LEDGER), bounded("undone")], KNOWN, "ledger"),
        ([bounded("worst_case")], KNOWN, "worst_case"),
        ([bounded("certain_inference")], {"qids": ["age"]}, "secret"),
        ([bounded("actual")], KNOWN, "records"),
        ([bounded("undone", by="age")], KNOWN, "by"),
        ([bounded("undone", secret="illness")], KNOWN, "secret"),
        ([bounded("undone")], KNOWN | {"weight": "code"}, "weight"),
        ([bounded("undone")], KNOWN | {"where": "code > 1"}, "where"),
        ([bounded("undone")], KNOWN | {"null": "drop"}, "null"),
        ([bounded("undone", attempt=0.5)], KNOWN, "attempt"),
        ([bounded("highest", 2)], KNOWN, "between 0 and 1"),
        ([table(protection="exact", table=["age"]), bounded("undone")], KNOWN, "protection"),
        (
            [table(protection="exact"), bounded("undone"), rule(model="crs", measure="blocks")],
            KNOWN,
            "counts",
        ),
        ([table(small="five"), bounded("undone")], KNOWN, "small"),
        ([rule(model=["tables", "crs"], measure="singled_out")], KNOWN, "two rules"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(
    here: Path, parts: list[str], known: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=r"line \d+") as caught:
        qifsql.check("released.csv", policy(here, *parts, **known))
    assert words in str(caught.value)


def test_a_study_finds_the_ledger_beside_itself(
    here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(here, table(ledger=LEDGER), bounded("reconstructed"), **KNOWN)
    Path("study.toml").write_text(
        '[datasets.d]\npath = "released.csv"\n[[check]]\nname = "gate"\ndataset = "d"\n'
        'policy = "levels.toml"\n[[tables]]\nname = "all"\nrelease = "released.csv:age,illness"\n'
        f'ledger = "{LEDGER}"\nknown = "age"\nsecret = "illness"\n'
    )
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    result = qifsql.run(here / "study.toml")
    value = result.details["tables"]["reconstructed"].item()
    assert value == result.details["checks"]["value"].item() == 1
    assert not result.met
