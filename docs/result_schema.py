"""Write the JSON schema of results from the columns that the code declares.

``docs/reference.py`` runs it. The file is ``docs/schema/result-1.json`` (JSON Schema, draft
2020-12): the schema itself is about a result of any command, ``$defs`` has one of each command.
Its number changes if a column goes or gets another type. A further column keeps the number, so
the schema allows further columns, which programs ignore; the tests use a ``closed`` one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import Any

import polars as pl

NUMBER = 1
PLACE = f"schema/result-{NUMBER}.json"
FILE = Path(__file__).resolve().parent / PLACE
DRAFT = "https://json-schema.org/draft/2020-12/schema"
INFINITE = ("inf", "-inf", "nan")  # JSON has no such numbers

Columns = Mapping[str, pl.DataType]
Schema = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a table: columns that all rows have, others that some results have.

    Columns are named by the module and the constant that declares them. ``open``: there are further
    columns, with names of the user's file or of no declaration.
    """

    columns: Sequence[str] = ()
    more: Sequence[str] = ()
    plain: Mapping[str, pl.DataType] = field(default_factory=dict)
    open: bool = False


ATTACKED = "results.assessment.SCHEMA"
INDIVIDUAL = "results.assessment.INDIVIDUAL"
GAIN = "results.assessment.GAIN"
PEOPLE = "results.assessment.PEOPLE"
UNIT = {"unit": pl.String()}  # records or people, if the rows are about a file's records
KEYLESS = "commands.attack.keyless.keyless.KEYLESS"
LEARNED = "commands.attack.learning.learning.LEARNED"
CANDIDATES = "commands.attack.candidates.candidates.CANDIDATES"
NOISY = "commands.attack.noisy.noisy.NOISY"
OF_ATTACK = Rows(
    columns=[ATTACKED],
    more=[
        INDIVIDUAL,
        GAIN,
        PEOPLE,
        KEYLESS,
        LEARNED,
        CANDIDATES,
        NOISY,
        "results.assessment.MEASURES",
    ],
    plain={"attack_id": pl.String()},
)
ANY = Rows(open=True)
DETAILS_OF_ATTACK = {
    name: Rows(columns=[f"results.assessment.DETAILS.{name}"])
    for name in ("histogram", "thresholds", "sure", "sure_curve", "quantiles", "groups")
}
KINDS: dict[str, dict[str, Rows]] = {
    "anonymise": {
        "results": Rows(columns=["commands.anonymise.sanitise.SUMMARY"]),
        "quasi_identifiers": Rows(columns=["commands.anonymise.sanitise.COLUMNS"]),
    },
    "attack": {
        "results": OF_ATTACK,
        **DETAILS_OF_ATTACK,
        "value_chances": Rows(columns=["results.assessment.DETAILS.value_chances"]),
        "links": Rows(columns=["commands.attack.keyless.calibrate.LINKS"]),
        "calibration": Rows(columns=["commands.attack.keyless.calibrate.CALIBRATION"]),
    },
    "blocks": {"results": ANY},
    "check": {
        "results": Rows(
            columns=["commands.check.result.SCHEMA"], more=["commands.check.result.READING"]
        ),
        "uncovered": Rows(columns=["results.uncovered.SCHEMA"]),
        "columns": Rows(
            plain={"name": pl.String(), "role": pl.String(), "covered": pl.Boolean()}, open=True
        ),
    },
    "compare": {
        "results": Rows(columns=["commands.compare.releases.SCHEMA"]),
        "columns": Rows(columns=["counting.losses.COLUMNS"]),
        "pairs": Rows(columns=["commands.compare.analyses.pairs.COLUMNS"]),
        "coefficients": Rows(columns=["commands.compare.analyses.fitted_models.COLUMNS"]),
    },
    "claims": {"results": Rows(columns=["commands.verify.intruder_claims.intruder_claims.SCORES"])},
    "compose": {
        "results": Rows(
            columns=["commands.compose.compose.SCHEMA"], more=["commands.compose.compose.TRUTH"]
        ),
        "releases": Rows(columns=["commands.compose.compose.RELEASES"]),
        "curve": Rows(columns=["commands.compose.compose.CURVE"]),
    },
    "describe": {"results": Rows(columns=["commands.describe.describe.SCHEMA"])},
    "dit": {
        "results": Rows(columns=["commands.dit.distances.SUMMARY"]),
        "thresholds": Rows(columns=["commands.dit.distances.SHARES"]),
        "distribution": Rows(columns=["commands.dit.distances.SHARES"]),
        "delta": Rows(columns=["commands.dit.distances.DELTAS"]),
    },
    "dp": {
        "results": Rows(columns=["commands.dp.tradeoff.TRADEOFF"]),
        "scenario": Rows(columns=["commands.dp.scenario.SCENARIO"]),
        "samples": Rows(columns=["commands.dp.random_samples.SAMPLES"]),
    },
    "estimate": {
        "results": Rows(columns=["commands.estimate.estimate.ESTIMATES"]),
        "individual": Rows(columns=["commands.estimate.estimate.INDIVIDUAL"]),
        "histogram": Rows(columns=["commands.estimate.estimate.HISTOGRAM"]),
    },
    "explain": {"results": Rows(columns=["commands.explain.result.SCHEMA"])},
    "hyper": {"results": ANY},
    "levels": {
        "results": Rows(
            columns=["commands.levels.grading.SCHEMA"], more=["commands.levels.grading.PEOPLE"]
        ),
        "attacks": Rows(columns=["commands.levels.attacks.ATTACKS"]),
        "worst": ANY,
    },
    "link": {
        "results": Rows(columns=["commands.link.link.LINKED"]),
        "confidence": Rows(columns=["commands.link.link.CONFIDENCE"]),
    },
    "receipt": {
        "results": Rows(columns=["commands.inspect.receipt.SCHEMA"], open=True),
        "learnt": OF_ATTACK,
        "chances": Rows(columns=["commands.inspect.receipt.CHANCES"]),
    },
    "refines": {"results": Rows(columns=["commands.compare.refinement.refinement.SCHEMA"])},
    "run": {
        "results": Rows(columns=["commands.run.result.NAMED"], open=True),
        "entries": Rows(columns=["commands.run.result.ENTRIES"]),
    },
    "sheets": {"results": Rows(columns=["commands.inspect.sheets.QUESTIONS"])},
    "sweep": {
        "results": Rows(
            columns=["commands.sweep.result.SWEPT"],
            more=["commands.sweep.samples.ERRORS", GAIN, PEOPLE],
            plain={"attack_id": pl.String()},
        ),
        "histogram": Rows(columns=["commands.sweep.result.HISTOGRAMS"]),
        "sure": Rows(columns=["commands.sweep.result.SURE"]),
        "plan": Rows(columns=["commands.sweep.plan.PLAN"]),
    },
    "synthetic": {
        "results": Rows(columns=["commands.synthetic.synthetic.SCHEMA"]),
        "worst": Rows(columns=["commands.synthetic.measurements.WORST"]),
        "sure": Rows(columns=["commands.synthetic.measurements.SURE"]),
        "groups": Rows(columns=["commands.synthetic.individuals.GROUPS"]),
        "subsets": Rows(columns=["commands.synthetic.subsets.SUBSETS"]),
    },
    "adversaries": {
        "results": Rows(
            columns=["commands.adversaries.adversaries.SCHEMA"],
            plain={"known_records": pl.String()},
        ),
        "by_size": Rows(columns=["commands.adversaries.adversaries.BY_SIZE"]),
        "histogram": Rows(columns=["commands.adversaries.adversaries.HISTOGRAM"]),
    },
    "tables": {
        "results": Rows(columns=["commands.tables.tables.SCHEMA"]),
        "checks": Rows(columns=["commands.tables.breakdown.CHECKS"]),
        "disclosure": Rows(columns=["commands.tables.breakdown.DISCLOSURE"]),
        "overlaps": Rows(columns=["commands.tables.breakdown.OVERLAPS"]),
        "components": Rows(columns=["commands.tables.breakdown.COMPONENTS"]),
        "groups": Rows(columns=["commands.tables.breakdown.GROUPS"]),
        "cells": Rows(columns=["commands.tables.breakdown.CELLS"]),
        "without": Rows(columns=["commands.tables.tables.WITHOUT"]),
        "alone": Rows(columns=["commands.tables.tables.ALONE"]),
        "remedies": Rows(columns=["commands.tables.remedies.REMEDIES"]),
        "magnitudes": Rows(columns=["commands.tables.magnitude.MAGNITUDES"]),
        "hidden_sums": Rows(columns=["commands.tables.hidden_sums.HIDDEN_SUMS"]),
    },
    "suda": {
        "results": Rows(
            columns=["commands.suda.suda.SUDA"], more=["commands.suda.msu_bounds.ENDS"]
        ),
        "bounds": Rows(columns=["commands.suda.msu_bounds.BOUNDS"]),
        "by_size": Rows(columns=["commands.suda.suda.BY_SIZE"]),
        "by_set": Rows(columns=["commands.suda.suda.BY_SET"]),
        "by_qid": Rows(columns=["commands.suda.suda.BY_QID"]),
        "by_value": Rows(columns=["commands.suda.suda.BY_VALUE"]),
        "groups": Rows(columns=["commands.suda.suda.GROUPS"]),
        "by_dis_suda": Rows(columns=["commands.suda.suda.BY_DIS_SUDA"]),
    },
    "pram": {"results": Rows(columns=["commands.anonymise.pram.pram.SUMMARY"])},
    "treat": {
        "results": Rows(columns=["commands.anonymise.one_per.draw.SUMMARY"]),
        "comparison": Rows(columns=["commands.anonymise.one_per.effect.COMPARISON"]),
        "changes": Rows(columns=["commands.anonymise.one_per.effect.CHANGES"]),
    },
    "unhash": {
        "results": Rows(columns=["commands.unhash.unhash.RECOVERED"]),
        "patterns": Rows(columns=["commands.unhash.unhash.PATTERNS"]),
    },
    "unicity": {"results": Rows(columns=["commands.unicity.unicity.UNICITY"])},
    "verify": {"results": Rows(columns=["commands.verify.verdicts.SCHEMA"])},
    "what_if": {
        "results": Rows(columns=["commands.compare.changes.what_if.SCHEMA"], open=True),
        "columns": Rows(columns=["counting.losses.COLUMNS"]),
    },
    "wp29": {
        "results": Rows(columns=["commands.check.questions.opinion.OPINION"]),
        "attacks": OF_ATTACK,
    },
}
"""The tables of each command in JSON. A table that is not listed may have any columns."""

MORE: dict[str, Schema] = {
    "check": {
        "met": {"type": "boolean"},
        "not_considered": {"type": "array", "items": {"type": "string"}},
    }
}
"""Further entries of JSON that are no tables."""


def document(*, closed: bool = False) -> Schema:
    """Return the schema; ``closed``: one that refuses columns that are not declared."""
    return {
        "$schema": DRAFT,
        "$id": f"urn:qifsql:result:{NUMBER}",
        "title": "JSON of qifsql",
        "description": "The result of any command (-f json, -o FILE.json). $defs has the schema of "
        "each command: the version, what was asked, notes on how to read the numbers, rows, and a "
        "list of rows for each table of details. A number that is infinite or undefined is a text.",
        **_envelope({"results": ANY}, {}, closed=False),
        "$defs": {
            name: _envelope(tables, MORE.get(name, {}), closed=closed)
            for name, tables in KINDS.items()
        },
    }


def _envelope(tables: Mapping[str, Rows], more: Mapping[str, Schema], *, closed: bool) -> Schema:
    """Return the schema of a whole document with these tables and further entries."""
    entries = {
        name: {
            "type": "array",
            "items": _row(rows, UNIT if name == "results" else {}, closed=closed),
        }
        for name, rows in tables.items()
    }
    return {
        "type": "object",
        "required": ["qifsql", "spec", "results", *more],
        "properties": {
            "qifsql": {"type": "string"},
            "spec": {"type": "object"},
            "notes": {"type": "array", "items": {"type": "string"}},
            **more,
            **entries,
        },
    }


def _row(rows: Rows, more: Columns, *, closed: bool) -> Schema:
    """Return the schema of one row, with columns that it may have besides."""
    needed: dict[str, pl.DataType] = reduce(or_, map(_declared, rows.columns), {})
    needed |= rows.plain if not rows.columns else {}
    optional: dict[str, pl.DataType] = reduce(or_, map(_declared, rows.more), {})
    optional |= {**rows.plain, **more}
    properties = {name: _type(kind) for name, kind in (optional | needed).items()}
    schema: Schema = {"type": "object"}
    if properties:
        schema |= {"required": list(needed), "properties": properties}
    return schema | {"additionalProperties": False} if closed and not rows.open else schema


def _declared(name: str) -> dict[str, pl.DataType]:
    """Return the columns of a constant, or of an entry of a constant that holds several tables."""
    path = name.split(".")
    at = next(i for i, part in enumerate(path) if part.isupper())
    columns = getattr(import_module(".".join(["qifsql", *path[:at]])), path[at])
    for entry in path[at + 1 :]:
        columns = columns[entry]
    if any(isinstance(value, dict) for value in columns.values()):  # the columns of each measure
        return reduce(or_, columns.values(), {})
    return dict(columns)


def _type(kind: pl.DataType) -> Schema:
    """Return the schema of a cell; every cell may be missing."""
    if isinstance(kind, pl.List):
        return {"type": ["array", "null"], "items": _type(kind.inner)}  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        fields = {part.name: _type(part.dtype) for part in kind.fields}  # type: ignore[arg-type]
        return {"type": ["object", "null"], "properties": fields, "required": list(fields)}
    if kind == pl.Boolean:
        return {"type": ["boolean", "null"]}
    if kind.is_integer():
        return {"type": ["integer", "null"]}
    if kind.is_numeric():
        return {"anyOf": [{"type": ["number", "null"]}, {"enum": list(INFINITE)}]}
    return {"type": ["string", "null"]}


def text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(document(), indent=2) + "\n"


def main() -> None:
    """Write the schema."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
