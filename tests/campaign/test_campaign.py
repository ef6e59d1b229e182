"""The campaign is complete, and a small one finds nothing."""

import random
from pathlib import Path

import pytest

from campaign import lines, mistakes, run, tables, tree
from campaign.draft import Draft
from campaign.recipes import RECIPES
from campaign.values import VALUES
from qifsql.data.csv_options import CSV_OPTIONS


def test_every_command_has_a_recipe():
    assert set(RECIPES) == set(tree.commands())


def test_every_option_has_a_value():
    names = {o.name for options in tree.commands().values() for o in options if not o.is_flag}
    assert set(VALUES) == names


def test_any_option_of_a_command_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found: set[str] = set()
    for number in range(400):
        (tmp_path / str(number)).mkdir()
        monkeypatch.chdir(tmp_path / str(number))
        argv = lines.extended(Draft(random.Random(number), rows=4, hostile=0), ["levels", "x"])
        found |= {option.name for word in argv if (option := tree.option("levels", word))}
    csv_alone = {f"--{name.replace('_', '-')}" for name in CSV_OPTIONS}
    assert {option.name for option in tree.commands()["levels"]} - found <= csv_alone


def test_a_line_is_that_of_its_seed_and_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        made.append([step.argv for number in range(10) for step in lines.steps(5, number)[1]])
        for path in Path().iterdir():
            path.rename(tmp_path / f"{name}-{path.name}")
    assert made[0] == made[1]


def test_every_mistake_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for number, mistake in enumerate(mistakes.MISTAKES):
        (tmp_path / mistake.__name__).mkdir()
        monkeypatch.chdir(tmp_path / mistake.__name__)
        draft = Draft(random.Random(number), rows=5)
        argv = ["attack", "crs", draft.file, "--qids", draft.data.qids[0]]
        spoilt, _ = mistake(draft, argv)
        assert spoilt


def test_a_canary_tells_its_column():
    table = tables.table(random.Random(1), rows=50, hostile=0)
    for name in table.columns:
        if table.kinds[name] == "text":
            others = [n for n in table.columns if n != name]
            mine = {
                c.rpartition("v")[0] for v in table.values(name) for c in tables.CANARY.findall(v)
            }
            assert len(mine) == 1
            assert not any(v in map(str, table.values(n)) for n in others for v in mine)


@pytest.mark.slow(because="8.8 s; every recorded mutant dies without it")
def test_a_small_campaign_finds_nothing(capfd: pytest.CaptureFixture[str]):
    code = run.main(["--lines", "8", "--damaged", "4", "--kills", "0", "--seed", "7", "--quiet"])
    assert code == 0, capfd.readouterr().out


@pytest.mark.slow(because="a small campaign is in every run, a large one in each night")
def test_a_campaign_finds_nothing(capfd: pytest.CaptureFixture[str]):
    code = run.main(["--lines", "2000", "--damaged", "1000", "--kills", "9", "--seed", "1"])
    assert code == 0, capfd.readouterr().out
