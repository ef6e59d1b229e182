"""The JSON of every command is what the published schema says, column by column."""

import json
import shlex
from pathlib import Path
from typing import Any

import command_lines
import jsonschema
import pytest
import result_schema
from terminal import run

JSON_LESS = ("demo", "init", "open", "records", "report", "shell", "sql", "start")
"""Commands that write a file, a text or a page."""
FURTHER = {
    "attack": (
        "attack crs,cas people.csv -q age -s illness --by gender --histogram --threshold 0.5 "
        "--quantile 0.9 --measures all",
        "attack irs,ias people.csv -q age -s illness --target age=25 --gain tries:2",
        "attack cms people.csv -q age --member young=age<30",
        "attack crl people.parquet later.csv --key id --progressive -q age",
        "attack crl people.parquet later.csv --link age:+1 --presence 1 -q age --truth id",
        "attack cas people.parquet --learn people.csv -q age -s illness",
    ),
    "sweep": (
        "sweep people.parquet -q age,gender,occupation -s illness --histogram",
        "sweep people.parquet -q age,gender --sample 0.9 --seed 1",
        "sweep people.parquet -q age,gender -s illness --weight id",
    ),
    "adversaries": ("adversaries bins.parquet --knows who:age=0.5 --threshold 0.5",),
    "levels": (
        "levels people.parquet -q age -s illness --show-blocks --k 2,3 --l-recursive 3,2",
        "levels people.parquet -q age --population people.csv",
    ),
    "tables": (
        "tables people.parquet --table age,gender --table age,illness -s illness,gender "
        "--progressive --leave-one-out --by age --remedies --change age:10 --magnitude id:gender",
    ),
    "synthetic": (
        "synthetic people.parquet people.csv people@people.duckdb -q age,gender -s illness "
        "--by gender --records said.csv --require repU<=1",
    ),
    "suda": ("suda people.parquet -q age,gender --values --by occupation --omit-missing",),
    "unicity": ("unicity people.parquet --key gender -q age --draws 10 --points 1,2",),
    "refines": ("refines people.parquet age gender",),
}


BEFORE = {  # command lines that write the files of a command
    "adversaries": (
        command_lines.LINES["sweep"][0],
        "sweep people.parquet -q age,gender -s illness --histogram -o bins.parquet",
    ),
    **dict.fromkeys(("compare", "compose"), command_lines.LINES["anonymise"]),
    "verify": (command_lines.LINES["attack"][0], command_lines.LINES["sweep"][0]),
}


def lines(name: str) -> list[str]:
    """The command lines of a command, those that its files need first."""
    return [*command_lines.LINES[name], *FURTHER.get(name, ())]


@pytest.mark.parametrize("name", sorted({*command_lines.LINES} - {*JSON_LESS}))
def test_json_of_a_command_fits_its_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    command_lines.lay_out(tmp_path)
    for line in BEFORE.get(name, ()):
        run(*shlex.split(line))
    kind = name.replace("-", "_")
    for line in lines(name):
        done = run(*shlex.split(line), "-f", "json")
        assert done.code == 0, f"{line}: {done.err}"
        answer = json.loads(done.out)
        published, closed = result_schema.document(), result_schema.document(closed=True)
        for schema in (published, published["$defs"][kind], closed["$defs"][kind]):
            jsonschema.Draft202012Validator(schema).validate(answer)


def test_the_schema_is_valid_and_up_to_date() -> None:
    written = result_schema.FILE.read_text("utf-8")
    assert written == result_schema.text(), "run python docs/reference.py"
    jsonschema.Draft202012Validator.check_schema(json.loads(written))


def test_every_command_with_json_has_a_schema() -> None:
    names = {name.replace("-", "_") for name in command_lines.LINES}
    assert set(result_schema.KINDS) == names - set(JSON_LESS)


def test_a_wrong_answer_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command_lines.lay_out(tmp_path)
    answer = json.loads(run("attack", "crs", "people.csv", "-q", "age", "-f", "json").out)
    published, closed = result_schema.document(), result_schema.document(closed=True)
    row = answer["results"][0]
    without = {k: v for k, v in row.items() if k != "blocks"}
    for other, open_too in (
        (without, False),
        (row | {"blocks": "many"}, False),
        (row | {"qids": "age"}, False),
        (row | {"a_new_column": 1}, True),
        (row | {"leakage_additive": "inf"}, None),
    ):
        changed: Any = answer | {"results": [other]}
        valid = [
            jsonschema.Draft202012Validator(s["$defs"]["attack"]).is_valid(changed)
            for s in (published, closed)
        ]
        assert valid == ([True, True] if open_too is None else [open_too, False])
