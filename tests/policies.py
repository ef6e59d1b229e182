"""Policies for tests: rules and files of them, results compared, attacks counted."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from places import SAMPLES

import qifsql
from qifsql.commands.check import check

PEOPLE = str(SAMPLES / "thesis_table_3_2.csv")
QIDS, SECRETS = ["age", "gender"], ["illness", "occupation"]
NEGATIVE = {"min_entropy_leakage", "mutual_information"}  # but for rounding, at least 0
HOSTILE = "a\"b'c]]>&<i>\x1b[31m\x00\x07\nnew\ttab \ufffe\u00e9\u2028"

Row = dict[str, Any]


def rule(**keys: object) -> str:
    """A rule; without a bound, one that every number meets."""
    if not any(name.endswith(("most", "least")) for name in keys):
        keys["at_least"] = -1 if keys["measure"] in NEGATIVE else 0
    lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
    return "\n".join(["[[rule]]", *lines, ""])


def policy(folder: Path, *rules: str, **adversary: object) -> Path:
    """A file of the sample's adversary, or of another one, and these rules."""
    known = adversary or {"qids": QIDS, "secret": SECRETS}
    lines = [f"{name} = {json.dumps(value)}" for name, value in known.items()]
    file = folder / "levels.toml"
    file.write_text("\n".join(["[adversary]", *lines, *rules]))
    return file


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], Row]]:
    """The attacks that are run from now on: their models and options."""
    calls: list[tuple[list[str], Row]] = []

    def attack(models: list[str], source: object, **options: Any) -> qifsql.Result:
        calls.append((models, options))
        return qifsql.attack(models, source, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "attack", attack)
    return calls


def values(verdict: qifsql.Verdict, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of a verdict."""
    return verdict.frame.select(*columns).rows()


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """A file of that content."""
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def hostile(folder: Path) -> tuple[Path, Row]:
    """A table whose names and values are what no format likes, and its adversary."""
    file = folder / "t.parquet"
    q, s, g = ("q" + HOSTILE, "s" + HOSTILE, "g" + HOSTILE)
    groups = [HOSTILE, HOSTILE, None, "", "]]>", "\x1b]0;x\x07"]
    pl.DataFrame({q: [1, 1, 2, 3, 4, 4], s: list("xyxyxy"), g: groups}).write_parquet(file)
    return file, {"qids": q, "secret": s, "by": g}
