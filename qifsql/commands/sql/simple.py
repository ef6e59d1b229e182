"""The SQL that a statistician would write: unit weights, right or wrong guesses, one release."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlglot import exp

from qifsql.adversary.models import Model
from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.data.collection import Collection
from qifsql.data.expressions import SOURCE
from qifsql.errors import InputError, printable, quoted
from qifsql.query import microdata_steps, render
from qifsql.query.columns import labelled, labelled_columns, labels
from qifsql.query.compiler import numbers
from qifsql.query.splice import splice
from qifsql.results.storage import Origin
from qifsql.results.stored import Stored, read

MODELS = ("crs", "cas", "irs", "ias")
SAME = ("dataset", "qids", "expressions", "csv", "na", "weight", "where", "null", "target")
"""Options that two attacks must share to give the same numbers, besides model and secret."""


def simple(attack: BoundAttack, spec: Attack, result: Path | None = None) -> str:
    """Return a short statement for each model and secret, under a comment about its numbers.

    Raises InputError if there is no simple form, or no row of the attack in ``result``.
    """
    _check(attack)
    stored = None if result is None else _read_stored(result, attack, spec)
    plan = microdata_steps.plan(attack.microdata, (), exp.select("1"))
    texts = [f"{statement};\n" for statement in plan.setup]
    for model in attack.models:
        for j in numbers(attack.microdata, model):
            query = _query(attack, model, j)
            texts.append(f"{_header(attack, model, j, query, stored)}\n{render.compact(query)};\n")
    return "\n".join(texts)


def _check(attack: BoundAttack) -> None:
    """Refuse an attack that needs more than counts of records in one file."""
    models = [m.acronym for m in attack.models if m.acronym not in MODELS]
    reasons = {
        f"model {', '.join(models)}": bool(models),
        "a collection of datasets": isinstance(attack.microdata.dataset, Collection),
        "a wave": attack.microdata.dataset.datasets[0].wave is not None,
        "a weight": attack.microdata.weight is not None,
        "a gain function": bool(attack.gains),
        "a prior": bool(attack.beliefs),
    }
    for reason, present in reasons.items():
        if present:
            raise InputError(
                f"{reason} has no simple form; leave --simple out, or attack one dataset with "
                f"{', '.join(MODELS)}, without weights, gains and prior"
            )


def _query(attack: BoundAttack, model: Model, j: int) -> exp.Query:
    """Return the statement of a model and secret j (0: re-identification), with the user's names.

    It is a file of ``sql/simple/`` whose ``microdata`` is replaced by the user's file: columns,
    filter and, for a model about one person, the conditions that tell her.
    """
    width = 0 if model.individual else len(attack.microdata.qids)
    query: exp.Query = splice(f"simple/{model.acronym}", width=width, secret=j)
    names = labels(attack.microdata, [query])
    own_names = {node.name.casefold() for node in query.find_all(exp.Identifier)}
    query = labelled(query, names)
    *_, people = microdata_steps.steps(attack.microdata)
    inner = next(s for s in query.find_all(exp.Select) if s.args["from_"].this.name == "microdata")
    columns = {column.alias: column for column in labelled_columns(people.query, names)}
    inner.set("expressions", [columns.get(item.name, item) for item in inner.expressions])
    inner.set("from_", people.query.args["from_"].copy())
    conditions = microdata_steps.agreeing(attack) if model.individual else []
    for qid, condition in zip(attack.microdata.qids, conditions, strict=bool(conditions)):
        value = microdata_steps.normal(qid)
        condition.set("this", value if isinstance(value, exp.Column) else exp.paren(value))
    if where := people.query.args.get("where"):
        conditions.insert(0, where.this.copy())
    if conditions:
        inner.where(*conditions, copy=False)
    if not any(column.name.casefold() in own_names for column in _columns_of_file(inner)):
        _drop_alias(inner)
    return query


def _columns_of_file(query: exp.Select) -> list[exp.Column]:
    return [column for column in query.find_all(exp.Column) if column.table == SOURCE]


def _drop_alias(query: exp.Select) -> None:
    """Change a query in which no column needs the alias of the file: leave it out."""
    for column in _columns_of_file(query):
        column.set("table", None)
    query.args["from_"].this.set("alias", None)
    selected = []
    for item in query.expressions:  # not "age AS age"
        is_itself = isinstance(item, exp.Alias) and item.this == exp.column(item.args["alias"])
        selected.append(item.this if is_itself else item)
    query.set("expressions", selected)


def _header(
    attack: BoundAttack, model: Model, j: int, query: exp.Query, stored: Stored | None
) -> str:
    """Return comments on the statement of secret j: the attack, and numbers of ``stored``."""
    secret = attack.microdata.secrets[j - 1].name if j else None
    what = f"; secret {quoted(secret)}" if secret is not None else ""
    expected = f"Each column equals that of qifsql attack {model.acronym}, same options."
    if stored is not None:
        row = _row(stored, model, secret)
        values = ", ".join(f"{name} = {row[name]}" for name in query.named_selects)
        expected = f"It must give {values}."
    lines = (f"{model.acronym.upper()}: {model.title}{what}", expected)
    return "\n".join(f"-- {printable(line)}" for line in lines)


def _read_stored(path: Path, attack: BoundAttack, spec: Attack) -> Stored:
    """Return a stored result of this attack, or of one with more models and secrets."""
    (stored, *further) = read([path])
    request = json.loads(json.dumps(Origin.now().of(attack, spec).spec, default=str))
    differing = [name for name in SAME if request.get(name) != stored.spec.get(name)]
    if further or stored.kind != "attack" or differing:
        difference = f": {', '.join(differing)} differ" if differing else ""
        raise InputError(
            f"{path} is not a result of this attack{difference}; store one with "
            "qifsql attack ... -o FILE.json"
        )
    return stored


def _row(stored: Stored, model: Model, secret: str | None) -> Mapping[str, Any]:
    """Return the row of a model and secret, with the gain of a right guess; refuse none."""
    for row in stored.frame.to_dicts():
        same = (row["model"], row["secret"]) == (model.acronym.upper(), secret)
        if same and row.get("gain") in (None, "identity"):
            return row
    of = "" if secret is None else f" and secret {quoted(secret)}"
    raise InputError(f"the result {stored.name} has no row for {model.acronym.upper()}{of}")
