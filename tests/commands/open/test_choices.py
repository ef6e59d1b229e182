"""Choices on the page and the command lines that do the same."""

import shlex

import pytest

from qifsql.app import application
from qifsql.commands.attack.spec import AttackOptions
from qifsql.commands.open import fields
from qifsql.commands.open.choices import Choices, command_line, read_choices, steps_of_column
from qifsql.data.option import declared, names
from qifsql.errors import InputError

pytestmark = pytest.mark.quick
COLUMNS = ["day", "a,b", 'say "x"', "illness"]


def form(**more: str) -> dict[str, str]:
    roles = {f"role-{i}": "quasi-identifier" for i in range(3)}
    return {**roles, "role-3": "secret", **more}


def test_roles_and_steps_become_the_words_of_an_attack():
    choice = read_choices(form(**{"step-0": "5", "step-1": "drop"}), COLUMNS)
    words = choice.attack_words(["people.parquet", "--delimiter", ";"])
    assert words[:5] == ["attack", "crs,cas", "people.parquet", "--delimiter", ";"]
    assert names([words[words.index("-q") + 1]]) == ("day:5", 'say "x"')
    assert shlex.split(command_line(words)) == ["qifsql", *words]
    assert choice.changes == ("day:5", "drop=a,b")
    assert choice.before.knowledge == tuple(COLUMNS[:3])


def test_a_person_is_one_of_every_command_that_counts():
    file = ["people.parquet"]
    for person in ("who", ""):
        choice = read_choices(form(**{"option-person": person, "step-0": "5"}), COLUMNS)
        lines = [
            choice.attack_words(file),
            choice.sweep_words(file, "0.5"),
            choice.compare_words(file),
        ]
        study = choice.study_words(
            "people.parquet", "s.toml", []
        )  # an empty text: no suggested one
        assert study[-4:] == ["--person", person, "--household", ""]
        lines += [
            choice.recode_words(file, "out.parquet"),
            choice.k_anonymise_words(file, "o.csv", "5"),
        ]
        for words in lines:
            assert ("--person" in words) == bool(person)
            assert not person or words[words.index("--person") + 1] == person


def test_the_words_are_read_by_the_command_line_as_the_function_is_called():
    """The form gives in Python what typer makes of the words."""
    typed = {"thresholds": "0.5", "histogram": "on", "null": "drop", "draws": "7", "by": "day"}
    choice = read_choices(form(**{f"option-{name}": text for name, text in typed.items()}), COLUMNS)
    words = fields.typed_words(AttackOptions, choice.options)
    assert [w for w in words if w == "--histogram"] == ["--histogram"]
    arguments = choice.attack_arguments()
    assert arguments["thresholds"] == ("0.5",)
    assert (arguments["histogram"], arguments["null"], arguments["draws"]) == (True, "drop", 7)
    commands = {c.callback.__name__ for c in application(("attack",)).registered_commands}
    assert commands == {"attack"}


def test_every_option_of_attack_is_on_the_page_or_its_absence_has_a_reason():
    """A new option appears by itself."""
    several = fields.fields_of_options(AttackOptions, {})
    shown = {field.name for field in several}
    typed = {name for name, option in declared(AttackOptions).items() if option.typed}
    assert shown | fields.HIDDEN.keys() >= typed
    assert not shown & fields.HIDDEN.keys()
    assert fields.HIDDEN.keys() <= typed | {"progressive"}
    assert all(
        field.flag.startswith("--") and field.help
        for field in fields.fields_of_options(AttackOptions, {})
    )


def test_a_wrong_value_is_refused_by_its_flag():
    for name, text, flag in (("draws", "many", "--draws"), ("null", "maybe", "--null")):
        with pytest.raises(InputError, match=flag):
            fields.arguments(AttackOptions, {name: text}, ["day"])


def test_a_step_that_is_no_step_is_left_out():
    choice = read_choices(form(**{"step-0": "5)--", "step-1": "", "step-2": "drop"}), COLUMNS)
    assert choice.changes == ('drop=say "x"',)


def test_steps_depend_on_type_and_number_of_values_alone():
    assert steps_of_column("TINYINT", 31) == ("", "2", "5", "10", "20", "drop")
    assert steps_of_column("VARCHAR", 5)[1:-1] == ("8", "6", "5", "4", "3", "2", "1")
    assert steps_of_column("DATE", 9) == ("", "month", "quarter", "year", "drop")
    assert steps_of_column("BOOLEAN", 2) == steps_of_column("TINYINT", 2) == ("", "drop")
    assert steps_of_column("DECIMAL(9,2)", 50)[1] == "0.5"


def test_nothing_known_is_no_attack():
    assert Choices().attack_words(["f"]) == []
    assert command_line([]) == ""
