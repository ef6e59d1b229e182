"""The SQL of an attack, to read and to paste into a DuckDB prompt. No attack is run here."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack, cast

from sqlglot import exp

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.sql.simple import simple as statements
from qifsql.commands.sql.spec import AdversaryOptions
from qifsql.counting import suppressed
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import identifier
from qifsql.data.option import check_names
from qifsql.engine import placing
from qifsql.engine.decoding import public_sql
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.query import compiler, render
from qifsql.query.columns import named
from qifsql.query.plan import Plan
from qifsql.query.suppression import STAR

LANGUAGES = ("duckdb", "spark")
SUPPRESSED = (
    f"-- a record with {STAR} in every quasi-identifier has the value {STAR} here, but may be "
    "anybody's: qifsql attack counts it in no block (M193)"
)
NUMBERED = re.compile(r"(_\d+)+$")  # the end of the name of a step about one secret


def sql(
    model: str | Sequence[str],
    source: Source,
    *,
    step: str | None = None,
    simple: bool = False,
    result: str | Path | None = None,
    language: str = "duckdb",
    settings: Settings | None = None,
    **options: Unpack[AdversaryOptions],
) -> str:
    """Return the statement that gives the numbers of an attack in a DuckDB prompt.

    Reads only names and types of columns (of CSV from all lines); runs no attack.

    Args:
        model: As in attack.
        step: Stop after this step and select its rows, with the names of the file. A name such
            as "blocks" means the only step of that name, "blocks_1" that of the first secret.
        simple: Return the shortest statements, for crs, cas, irs and ias on one dataset without
            weights, gains and prior. Their columns equal those of attack.
        result: File of a stored result of the same attack; simple statements then have a comment
            with the numbers that they must give.
        language: SQL dialect: duckdb or spark. For spark the data are Parquet, and the first
            statements set the session and open the files.

    Returns:
        The SQL, with a comment on what a row of each step is.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.

    Example:
        >>> print(qifsql.sql("crs", "data-samples/popets_table_2a.csv", qids="age").split(":")[0])
        -- CRS

    Source: M2 and M3.

    """
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
        copies = [
            f"-- {d.copy_name}: the records of {quoted(d.name)}; create it before you run this"
            for d in spec.dataset.datasets
            if d.copy_name
        ]
        copies += [
            f"-- {quoted(path)}: {_first(d)} before you run this"
            for d in spec.dataset.datasets
            if d.is_decoded and not d.copy_name
            for path in d.paths
        ]
        if suppressed.condition(bound.microdata) is not None:
            copies.append(SUPPRESSED)
        if simple:
            texts = statements(bound, spec, None if result is None else Path(result))
            return public_sql("\n".join([*copies, texts]))
        about = [f"-- {m.acronym.upper()}: {m.title}; {m.source}" for m in bound.models]
        about += copies
        plan = compiler.answer_plan(bound)
        if step is not None:
            plan = _plan_until(plan, _step_name(plan, step, bound.microdata), bound.microdata)
        if language == "spark":
            script = placing.script(plan, engine, bound.microdata.dataset.name)
        else:
            script = render.script(plan)
        return public_sql("\n".join([*about, script]))


def _first(dataset: Dataset) -> str:
    """Return what to do with a file of which qifsql reads a private copy."""
    if dataset.table:
        return f"unpack {quoted(dataset.table)}, and name that file"
    return f"convert it from {dataset.encoding} to UTF-8"


def _step_name(plan: Plan, step: str, microdata: Microdata) -> str:
    """Return the name of a step: ``step``, or the only numbered one, such as ``step_1``."""
    names = [s.name for s in plan.steps]
    if step in names:
        return step
    bare = {name: NUMBERED.sub("", name) for name in names}
    numbered = [name for name in names if bare[name] == step]
    if len(numbered) == 1:
        return numbered[0]
    if not numbered:
        hint = did_you_mean(step, list(dict.fromkeys([*names, *bare.values()])))
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
    at = [s.name for s in plan.steps].index(step)
    columns = _columns({s.name: s.query for s in plan.steps}, step)  # empty: they are not known
    names = {f"qid_{i}": a.name for i, a in enumerate(microdata.qids, 1)}
    if microdata.of_lists and step != "records":  # the last column is the list of several records
        names[f"qid_{microdata.width}"] = "records"
    names |= {f"secret_{j}": a.name for j, a in enumerate(microdata.secrets, 1)}
    renamed = named([(exp.column(identifier(name)), names.get(name, name)) for name in columns])
    # not "age AS age"
    selected = [column.this if column.alias == column.this.name else column for column in renamed]
    query = exp.select(*(selected or ["*"])).from_(exp.to_table(step))
    return replace(plan, steps=plan.steps[: at + 1], result=query)


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
