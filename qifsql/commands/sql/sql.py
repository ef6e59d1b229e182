"""The SQL of an attack, to read and to paste into a DuckDB prompt. No attack is run here."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

from sqlglot import exp

from qifsql.adversary.models import Model
from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, BoundAttack, Microdata, refuse
from qifsql.commands.sql.spec import AdversaryOptions
from qifsql.counting import suppressed
from qifsql.counting.session import opened
from qifsql.data.collection import Collection, Source
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE, identifier
from qifsql.data.option import check_names
from qifsql.engine import placing
from qifsql.engine.decoding import public_sql
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, did_you_mean, printable, quoted
from qifsql.query import compiler, microdata_steps, render
from qifsql.query.columns import labelled, labelled_columns, labels, named
from qifsql.query.compiler import numbers
from qifsql.query.plan import Plan
from qifsql.query.splice import splice
from qifsql.query.suppression import STAR
from qifsql.results.storage import Origin
from qifsql.results.stored import Stored, read
from qifsql.study import policy as policies
from qifsql.study.policy import Policy

LANGUAGES = ("duckdb", "spark")  # of attacks; policies have more
NOTE_ON_SUPPRESSED = (
    f"-- a record with {STAR} in every quasi-identifier has the value {STAR} here, but may be "
    "anybody's: qifsql attack counts it in no block (M193)"
)
STEP_NUMBERS = re.compile(r"(_\d+)+$")  # the end of the name of a step about one secret
SIMPLE_MODELS = ("crs", "cas", "irs", "ias")
COMPARED_OPTIONS = (
    *("dataset", "qids", "expressions", "csv", "na", "weight", "where", "null", "target"),
)
"""Options that two attacks must share to give the same numbers, besides model and secret."""


def sql(
    model: str | Sequence[str],
    source: Source,
    *,
    step: str | None = None,
    simple: bool = False,
    result: str | Path | None = None,
    language: str = "duckdb",
    policy: str | Path | Mapping[str, Any] | None = None,
    table: str | None = None,
    settings: Settings | None = None,
    **options: Unpack[AdversaryOptions],
) -> str:
    """Return the statement that gives the numbers of an attack in a DuckDB prompt.

    Reads only names and types of columns (of CSV from all lines); runs no attack. With a policy,
    return a SELECT per rule for a warehouse, whose rows are what breaks it: blocks, groups, or one
    row with numerator and denominator. Where no SELECT has a row, the policy is met.

    Args:
        model: As in attack. With a policy, which names its models, an empty text.
        step: Stop after this step and select its rows, with the names of the file. A name such
            as "blocks" means the only step of that name, "blocks_1" that of the first secret.
        simple: Return the shortest statements, for crs, cas, irs and ias on one dataset without
            weights, gains and prior. Their columns equal those of attack.
        result: File of a stored result of the same attack; simple statements then have a comment
            with the numbers that they must give.
        language: SQL dialect: duckdb or spark. For spark the data are Parquet, and the first
            statements set the session and open the files. With a policy also postgres, snowflake,
            bigquery, redshift and trino.
        policy: Policy file (TOML) of check, or its data; options given here win over its adversary.
        table: With a policy: the table that the statements read, as schema.name (default: the name
            of the source; in DuckDB the source itself).

    Returns:
        The SQL, with a comment on what a row of each step is.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.

    Example:
        >>> print(qifsql.sql("crs", "data-samples/popets_table_2a.csv", qids="age").split(":")[0])
        -- CRS

    Source: M2 and M3.

    """
    attacked = {"model": model, "step": step, "simple": simple, "result": result}
    if policy is not None or table is not None:
        rules = _policy(policy, attacked, options)
        from qifsql.commands.sql import broken_rules

        place = settings or Settings()
        return broken_rules.script(rules, source, language, table, settings=place)
    if language not in LANGUAGES:
        raise InputError(f"there is no SQL for {quoted(language)}; use duckdb or spark")
    if simple and language != "duckdb":
        raise InputError("simple statements are those of duckdb; leave out simple, or the dialect")
    if simple and step is not None:
        raise InputError("a simple statement has no steps; leave step out, or simple")
    if result is not None and not simple:
        raise InputError("a result is compared with simple statements alone; add simple")
    check_names(options, AdversaryOptions)
    person = options.get("person")
    if simple and person is not None:
        raise InputError("simple statements are about single records; leave out simple, or person")
    adversary = {n: v for n, v in options.items() if n in Options.__annotations__}
    spec = Attack.of(model, source, person=person, **cast("Options", adversary))
    settings = (settings or Settings()).of_duckdb  # it is not run, on any engine
    with opened(spec, settings, joined=False) as (engine, bound):
        comments = _comments_on_files(spec.dataset.datasets)
        if suppressed.condition(bound.microdata) is not None:
            comments.append(NOTE_ON_SUPPRESSED)
        if simple:
            texts = simple_statements(bound, spec, None if result is None else Path(result))
            return public_sql("\n".join([*comments, texts]))
        titles = [f"-- {m.acronym.upper()}: {m.title}; {m.source}" for m in bound.models]
        plan = compiler.answer_plan(bound)
        if step is not None:
            plan = _plan_until(plan, _step_name(plan, step, bound.microdata), bound.microdata)
        if language == "spark":
            script = placing.script(plan, engine, bound.microdata.dataset.name)
        else:
            script = render.script(plan)
        return public_sql("\n".join([*titles, *comments, script]))


def _policy(
    policy: str | Path | Mapping[str, Any] | None,
    attacked: Mapping[str, Any],
    options: AdversaryOptions,
) -> Policy:
    """Return the policy whose SQL is asked for; refuse options of the SQL of an attack."""
    if policy is None:
        raise InputError("table is where the SELECTs of a policy read; name the policy")
    if others := [name for name, value in attacked.items() if value]:
        raise InputError(
            f"a policy names its models, and has a SELECT per rule; leave {others[0]} out"
        )
    check_names(options, AdversaryOptions)
    refuse(options, "the SQL of a policy", "gain", "thresholds", "quantiles")
    return policies.read(policy, **options)


def _comments_on_files(datasets: Sequence[Dataset]) -> list[str]:
    """Return comments on what to do with files of which qifsql reads a private copy."""
    comments = [
        f"-- {d.copy_name}: the records of {quoted(d.name)}; create it before you run this"
        for d in datasets
        if d.copy_name
    ]
    for dataset in datasets:
        if dataset.is_decoded and not dataset.copy_name:
            task = f"convert it from {dataset.encoding} to UTF-8"
            if dataset.table:
                task = f"unpack {quoted(dataset.table)}, and name that file"
            comments += [f"-- {quoted(p)}: {task} before you run this" for p in dataset.paths]
    return comments


def _step_name(plan: Plan, step: str, microdata: Microdata) -> str:
    """Return the name of a step: ``step``, or the only numbered one, such as ``step_1``."""
    names = [s.name for s in plan.steps]
    if step in names:
        return step
    stems = {name: STEP_NUMBERS.sub("", name) for name in names}
    numbered = [name for name in names if stems[name] == step]
    if len(numbered) == 1:
        return numbered[0]
    if not numbered:
        hint = did_you_mean(step, list(dict.fromkeys([*names, *stems.values()])))
        raise InputError(f'there is no step "{step}"{hint}')
    subjects = []
    for name in numbered:  # blocks_SECRET or answer_SECRET_GAIN; secret 0 is re-identification
        secret, *gain = map(int, name.removeprefix(f"{step}_").split("_"))
        secret_name = quoted(microdata.secrets[secret - 1].name) if secret else ""
        about = f"secret {secret_name}" if secret else "re-identification"
        subjects.append(f"{name} ({about}, gain {gain[0]})" if gain else f"{name} ({about})")
    listed = "; ".join(subjects)
    raise InputError(f'there are {len(numbered)} steps "{step}": {listed}; name one of them')


def _plan_until(plan: Plan, step: str, microdata: Microdata) -> Plan:
    """Return the plan up to the step of that name, whose rows it selects under the user's names."""
    place = [s.name for s in plan.steps].index(step)
    columns = _columns({s.name: s.query for s in plan.steps}, step)  # empty: they are not known
    names = {f"qid_{i}": a.name for i, a in enumerate(microdata.qids, 1)}
    if microdata.of_lists and step != "records":  # the last one is the list of a person's records
        names[f"qid_{microdata.width}"] = "records"
    names |= {f"secret_{j}": a.name for j, a in enumerate(microdata.secrets, 1)}
    renamed = named([(exp.column(identifier(name)), names.get(name, name)) for name in columns])
    # not "age AS age"
    selected = [column.this if column.alias == column.this.name else column for column in renamed]
    query = exp.select(*(selected or ["*"])).from_(exp.to_table(step))
    return replace(plan, steps=plan.steps[: place + 1], result=query)


def _columns(queries: Mapping[str, exp.Query], step: str) -> list[str]:
    """Return the columns of a step (``*``: those of the step it reads); empty: unknown."""
    columns: list[str] = []
    for name in queries[step].named_selects:
        if name != "*":
            columns.append(name)
            continue
        source = queries[step].args["from_"].this
        if not isinstance(source, exp.Table) or source.name not in queries:
            return []
        columns += _columns(queries, source.name)
    return columns


def simple_statements(attack: BoundAttack, spec: Attack, result: Path | None = None) -> str:
    """Return a short statement for each model and secret, under a comment about its numbers.

    Raises InputError if there is no simple form, or no row of the attack in ``result``.
    """
    _check_attack(attack)
    stored = None if result is None else _read_stored(result, attack, spec)
    plan = microdata_steps.plan(attack.microdata, (), exp.select("1"))
    texts = [f"{statement};\n" for statement in plan.setup]
    for model in attack.models:
        for j in numbers(attack.microdata, model):
            query = _make_query(attack, model, j)
            texts.append(f"{_header(attack, model, j, query, stored)}\n{render.compact(query)};\n")
    return "\n".join(texts)


def _check_attack(attack: BoundAttack) -> None:
    """Refuse an attack that needs more than counts of records in one file."""
    models = [m.acronym for m in attack.models if m.acronym not in SIMPLE_MODELS]
    reasons = {
        f"model {', '.join(models)}": bool(models),
        "a collection of datasets": isinstance(attack.microdata.dataset, Collection),
        "a wave": attack.microdata.dataset.datasets[0].wave is not None,
        "a weight": attack.microdata.weight is not None,
        "a gain function": bool(attack.gains),
        "a prior": bool(attack.beliefs),
    }
    for reason, is_present in reasons.items():
        if is_present:
            raise InputError(
                f"{reason} has no simple form; leave --simple out, or attack one dataset with "
                f"{', '.join(SIMPLE_MODELS)}, without weights, gains and prior"
            )


def _make_query(attack: BoundAttack, model: Model, j: int) -> exp.Query:
    """Return the statement of a model and secret j (0: re-identification), with the user's names.

    It is a file of ``sql/simple/`` whose ``microdata`` is replaced by the user's file: columns,
    filter and, for a model about one person, the conditions that tell her.
    """
    width = 0 if model.individual else len(attack.microdata.qids)
    query: exp.Query = splice(f"simple/{model.acronym}", width=width, secret=j)
    names = labels(attack.microdata, [query])
    own_names = {node.name.casefold() for node in query.find_all(exp.Identifier)}
    query = labelled(query, names)
    reader = next(s for s in query.find_all(exp.Select) if s.args["from_"].this.name == "microdata")
    file_query = microdata_steps.steps(attack.microdata)[-1].query
    columns = {column.alias: column for column in labelled_columns(file_query, names)}
    reader.set("expressions", [columns.get(item.name, item) for item in reader.expressions])
    reader.set("from_", file_query.args["from_"].copy())
    if conditions := _conditions(attack, model, file_query):
        reader.where(*conditions, copy=False)
    columns_of_file = [column for column in reader.find_all(exp.Column) if column.table == SOURCE]
    if not any(column.name.casefold() in own_names for column in columns_of_file):
        _drop_alias(reader, columns_of_file)
    return query


def _conditions(attack: BoundAttack, model: Model, file_query: exp.Query) -> list[exp.Expr]:
    """Return the conditions on records: the filter and, for one person, what is known of her."""
    where = file_query.args.get("where")
    conditions: list[exp.Expr] = [where.this.copy()] if where else []
    if model.individual:
        agreeing = microdata_steps.agreeing(attack)
        for qid, condition in zip(attack.microdata.qids, agreeing, strict=True):
            value = microdata_steps.normal(qid)
            condition.set("this", value if isinstance(value, exp.Column) else exp.paren(value))
            conditions.append(condition)
    return conditions


def _drop_alias(query: exp.Select, columns_of_file: Sequence[exp.Column]) -> None:
    """Leave out the alias of the file from a query in which no column needs it."""
    for column in columns_of_file:
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
    title = f"{model.acronym.upper()}: {model.title}"
    if secret is not None:
        title += f"; secret {quoted(secret)}"
    expected = f"Each column equals that of qifsql attack {model.acronym}, same options."
    if stored is not None:
        row = _find_row(stored, model, secret)
        values = ", ".join(f"{name} = {row[name]}" for name in query.named_selects)
        expected = f"It must give {values}."
    return f"-- {printable(title)}\n-- {printable(expected)}"


def _read_stored(path: Path, attack: BoundAttack, spec: Attack) -> Stored:
    """Return a stored result of this attack, or of one with more models and secrets."""
    (stored, *further) = read([path])
    request = json.loads(json.dumps(Origin.now().of(attack, spec).spec, default=str))
    differing = [name for name in COMPARED_OPTIONS if request.get(name) != stored.spec.get(name)]
    if further or stored.kind != "attack" or differing:
        difference = f": {', '.join(differing)} differ" if differing else ""
        raise InputError(
            f"{path} is not a result of this attack{difference}; store one with "
            "qifsql attack ... -o FILE.json"
        )
    return stored


def _find_row(stored: Stored, model: Model, secret: str | None) -> Mapping[str, Any]:
    """Return the row of a model and secret with the identity gain; InputError if there is none."""
    acronym = model.acronym.upper()
    for row in stored.frame.to_dicts():
        is_asked = row["model"] == acronym and row["secret"] == secret
        if is_asked and row.get("gain") in (None, "identity"):
            return row
    about = acronym if secret is None else f"{acronym} and secret {quoted(secret)}"
    raise InputError(f"the result {stored.name} has no row for {about}")
