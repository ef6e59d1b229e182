"""The JSON of every command is what the published schema says, column by column."""

import json
from typing import Any

import command_lines
import jsonschema
import result_schema
from answers import Answers, of_each, together
from command_lines import JSON_LESS, has_json

from qifsql.results.kinds import HOMES


@of_each({*command_lines.LINES} - {*JSON_LESS})
def test_json_of_a_command_fits_its_schema(answers: Answers, name: str) -> None:
    published, closed = result_schema.document(), result_schema.document(closed=True)
    for answer in filter(lambda a: has_json(a.line), answers.of(name)):
        assert answer.done.code == 0, f"{answer.line}: {answer.done.err}"
        kind = name if answer.shown is None else answer.shown.result.kind
        kind = kind.replace("-", "_")
        for schema in published, published["$defs"][kind], closed["$defs"][kind]:
            jsonschema.Draft202012Validator(schema).validate(json.loads(answer.done.out))


def test_the_schema_is_valid_and_up_to_date() -> None:
    written = result_schema.FILE.read_text("utf-8")
    assert written == result_schema.text(), "run python docs/reference.py"
    jsonschema.Draft202012Validator.check_schema(json.loads(written))


def test_every_kind_of_result_with_json_has_a_schema() -> None:
    names = {name.replace("-", "_") for name in (*command_lines.LINES, *HOMES)}
    assert set(result_schema.KINDS) == names - {*JSON_LESS, "inspect", "records"}


@together("attack")
def test_a_wrong_answer_does_not_fit(answers: Answers) -> None:
    answer = json.loads(answers.to(command_lines.LINES["attack"][0]).done.out)
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
