"""What a report may show to others: no value of a person, no small group, no path of a machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.report.language import said
from qifsql.report.stored import Stored

LISTS, NAMES = ("qids",), ("qid", "a", "b", "by", "secret", "column", "reveals")
COUNTS = ("individuals", "singled_out", "individuals_certain")
OF_PEOPLE = ("target", "best_guess")  # columns that hold values of one person


@dataclass(frozen=True)
class Reader:
    """Who reads a report, and what may be shown.

    ``minimum`` is the least size of a group that is shown; ``private`` readers are shown all.
    ``labels`` are other names of columns.
    """

    minimum: int = 10
    private: bool = False
    labels: Mapping[str, str] | None = None


def shown(stored: Sequence[Stored], reader: Reader) -> list[Stored]:
    """The results as the reader may see them."""
    mine = stored if reader.private else [_shared(s, reader.minimum) for s in stored]
    return [_labelled(s, reader.labels or {}) for s in mine]


def _shared(stored: Stored, minimum: int) -> Stored:
    """A result without values of people, without small groups and without folders."""
    own = [c for c in OF_PEOPLE if c in stored.frame.columns]
    nobody = [pl.lit(None, pl.String).alias(c) for c in own if c != "target"]
    hidden = [pl.lit(said("one person")).alias("target")] if "target" in own else []
    details = {
        name: _grouped(name, table, stored, minimum) for name, table in stored.details.items()
    }
    frame = stored.frame.with_columns(*nobody, *hidden)
    if stored.kind == "check":
        frame = _unnamed(frame, "group", _known(stored))
    return replace(stored, frame=frame, details=details, manifest=_without_folders(stored))


def _grouped(name: str, table: pl.DataFrame, stored: Stored, minimum: int) -> pl.DataFrame:
    """A table of details; small groups are one line without numbers, known values have no names."""
    if name == "values":  # of columns of a dataset
        return table.clear()
    if name != "groups":
        return table
    few = pl.col("individuals") < minimum
    numbers = [c for c, kind in table.schema.items() if kind.is_numeric()]
    small = table.filter(few).with_columns(
        *(pl.lit(None, table.schema[c]).alias(c) for c in numbers),
        group=pl.lit(said("(smaller groups)")),
    )
    large = _unnamed(table.filter(~few), "group", _known(stored))
    return pl.concat([large, small.unique(["attack_id", "by"], maintain_order=True)])


def _known(stored: Stored) -> set[str]:
    """Quasi-identifiers and secrets: their values are those of people."""
    return {*stored.spec.get("qids", ()), *stored.spec.get("secrets", ())}


def _unnamed(table: pl.DataFrame, column: str, known: set[str]) -> pl.DataFrame:
    """The table, where groups by what the adversary knows or wants have a number for a name."""
    number = pl.col(column).rank("dense").over("by").cast(pl.String)
    before, _, after = said("group {n}", n="\0").partition("\0")
    name = pl.concat_str(pl.lit(before), number, pl.lit(after), ignore_nulls=False)
    told = pl.when(pl.col("by").is_in(list(known))).then(name).otherwise(pl.col(column))
    return table.with_columns(told.alias(column))


def _without_folders(stored: Stored) -> dict[str, Any]:
    """The manifest with names of files for their paths; the seed and SQL about a person go."""
    note = dict(stored.manifest)
    inputs = [dict(file) for file in note.get("inputs", ())]
    sql = "" if stored.shows_people else str(note.get("sql", ""))
    for file in sorted(inputs, key=lambda f: -len(str(f["path"]))):
        name = Path(str(file["path"])).name
        sql = sql.replace(str(file["path"]).replace("'", "''"), name.replace("'", "''"))
        file["path"] = name
    spec = {k: v for k, v in note["spec"].items() if k != "target"}
    return note | {"inputs": inputs, "sql": sql, "spec": spec, "seed": None}


def _labelled(stored: Stored, labels: Mapping[str, str]) -> Stored:
    """A result under other names of its columns."""
    if not labels:
        return stored
    details = {name: _renamed(table, labels) for name, table in stored.details.items()}
    return replace(stored, frame=_renamed(stored.frame, labels), details=details)


def _renamed(table: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    lists = [c for c in LISTS if table.schema.get(c) == pl.List(pl.String)]
    texts = [c for c in NAMES if table.schema.get(c) == pl.String]
    return table.with_columns(
        *(pl.col(c).list.eval(pl.element().replace(labels)) for c in lists),
        *(pl.col(c).replace(labels) for c in texts),
    )
