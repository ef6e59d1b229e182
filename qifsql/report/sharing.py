"""What a report may show to others: no value of a person, no small group, no path of a machine."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from qifsql.report.language import said
from qifsql.report.stored import Stored

LISTS, NAMES = ("qids",), (
    "qid", "a", "b", "by", "secret", "column", "reveals", "quasi_identifier"
)  # fmt: skip
OF_PEOPLE = ("target", "best_guess", "worst_values", "worst_counts")  # columns of values
SHOWING = ("values", "worst", "patterns")  # details of values
TYPED = ("target", "order", "patterns", "salt", "mapping")  # what was asked that holds values
ROLES = {
    "qids",
    "secrets",
    "key",
    "weight",
    "secret",
    "useful",
    "known",
}  # what was asked that names columns


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
    known = {column for s in stored for column in _known(s)}
    mine = stored if reader.private else [_shared(s, known, reader.minimum) for s in stored]
    return [_labelled(s, reader.labels or {}) for s in mine]


def _shared(stored: Stored, known: Set[str], minimum: int) -> Stored:
    """A result without values of people, without small groups and without folders."""
    own = [c for c in OF_PEOPLE if c in stored.frame.columns]
    frame = stored.frame.drop(c for c in own if c != "target")
    if "target" in own:
        frame = frame.with_columns(pl.lit(said("one person")).alias("target"))
    if stored.kind == "check":  # how many are in a group is not known here
        frame = _unnamed(frame, set(frame["by"].drop_nulls()))
    details = {
        name: _grouped(table, stored, known, minimum) if name == "groups" else table
        for name, table in stored.details.items()
        if name not in SHOWING
    }
    return replace(stored, frame=frame, details=details, manifest=_without_folders(stored))


def _grouped(table: pl.DataFrame, stored: Stored, known: Set[str], minimum: int) -> pl.DataFrame:
    """Groups: small ones are one line without numbers, those of known values have no names."""
    few = pl.col("individuals") < minimum
    numbers = [c for c, kind in table.schema.items() if kind.is_numeric()]
    small = table.filter(few).with_columns(
        *(pl.lit(None, table.schema[c]).alias(c) for c in numbers),
        group=pl.lit(said("(smaller groups)")),
    )
    hidden = set(table["by"]) if _columns(stored, str(stored.spec.get("by", ""))) & known else set()
    large = _unnamed(table.filter(~few), hidden)
    return pl.concat([large, small.unique(["attack_id", "by"], maintain_order=True)])


def _known(stored: Stored) -> Set[str]:
    """The columns of quasi-identifiers and secrets: their values are those of people."""
    names = [*stored.spec.get("qids", ()), *stored.spec.get("secrets", ())]
    names += [stored.spec[role] for role in ("secret", "useful") if stored.spec.get(role)]
    return {column for name in names for column in _columns(stored, str(name))}


def _columns(stored: Stored, text: str) -> Set[str]:
    """The columns that a name or a named expression is made of, and the name itself."""
    name, equal, expression = text.partition("=")
    expressions = stored.spec.get("expressions") or {}
    written = str(expressions.get(text) or (expression if equal else text))
    found = {text, name, text.partition(":")[2] or text}
    try:
        tree = parse_one(written, read="duckdb")
    except SqlglotError:  # a plain name that is no SQL
        return found
    return found | {column.name for column in tree.find_all(exp.Column)}


def _unnamed(table: pl.DataFrame, by: Set[str]) -> pl.DataFrame:
    """The table, where groups ``by`` such columns have a number for a name."""
    number = pl.col("group").rank("dense").over("by").cast(pl.String)
    before, _, after = said("group {n}", n="\0").partition("\0")
    name = pl.concat_str(pl.lit(before), number, pl.lit(after), ignore_nulls=False)
    told = pl.when(pl.col("by").is_in(list(by))).then(name).otherwise(pl.col("group"))
    return table.with_columns(told.alias("group"))


def _without_folders(stored: Stored) -> dict[str, Any]:
    """The manifest with names of files for their paths; the seed and SQL about a person go."""
    note = dict(stored.manifest)
    inputs = [dict(file) for file in note.get("inputs", ())]
    sql = "" if stored.shows_people else str(note.get("sql", ""))
    for file in sorted(inputs, key=lambda f: -len(str(f["path"]))):
        name = Path(str(file["path"])).name
        sql = sql.replace(str(file["path"]).replace("'", "''"), name.replace("'", "''"))
        file["path"] = name
    spec = {k: _without_folder(v) for k, v in note["spec"].items() if k not in TYPED}
    return note | {"inputs": inputs, "sql": sql, "spec": spec, "seed": None}


def _without_folder(value: Any) -> Any:
    """What was asked, with the name of a file for its path."""
    if isinstance(value, str) and Path(value).is_absolute():
        return Path(value).name
    return value


def _labelled(stored: Stored, labels: Mapping[str, str]) -> Stored:
    """A result under other names of its columns."""
    if not labels:
        return stored
    details = {name: _renamed(table, labels) for name, table in stored.details.items()}
    spec = dict(stored.spec)
    for role in ROLES & set(spec):
        names = spec[role]
        one = isinstance(names, str)
        told = [labels.get(n, n) for n in ([names] if one else names or ())]
        spec[role] = told[0] if one else told
    note = dict(stored.manifest) | {"spec": spec}
    if "columns" in note:
        listed = [dict(column) for column in note["columns"]]
        note["columns"] = [c | {"name": labels.get(c["name"], c["name"])} for c in listed]
    return replace(stored, frame=_renamed(stored.frame, labels), details=details, manifest=note)


def _renamed(table: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    lists = [c for c in LISTS if table.schema.get(c) == pl.List(pl.String)]
    texts = [c for c in NAMES if table.schema.get(c) == pl.String]
    return table.with_columns(
        *(pl.col(c).list.eval(pl.element().replace(labels)) for c in lists),
        *(pl.col(c).replace(labels) for c in texts),
    )
