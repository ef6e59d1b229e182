"""The levels of rules about published tables: a file is attacked with all that was published."""

from dataclasses import replace
from typing import Any

import polars as pl

from qifsql.adversary import roles
from qifsql.adversary.spec import ColumnRoles
from qifsql.commands.check.coverage import Coverage
from qifsql.commands.check.rule_levels import levels_of_rows, release_of, rows_of_secrets
from qifsql.commands.tables import tables as attack_on_tables
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.data.option import as_names
from qifsql.engine.settings import Settings
from qifsql.measures.table_measures import ABOUT_SECRETS
from qifsql.results import uncovered
from qifsql.results.result import Result
from qifsql.study.baseline import Baseline
from qifsql.study.policy import Policy
from qifsql.study.rules import Rule
from qifsql.study.table_rules import MODEL


def measure(policy: Policy, source: Source, settings: Settings | None) -> Result:
    """Attack the file of a check together with all that was published of the same people."""
    records, options = _request(policy, source)
    result = attack_on_tables.tables(records, settings=settings, **options)
    spec, secrets = result.spec, as_names(policy.adversary.get("secret"))
    qids = spec["known"] or [name for name in spec["dimensions"] if name not in secrets]
    spec = {**spec, "models": [MODEL], "qids": qids}
    columns = [
        replace(c, roles=(roles.SECRET,)) if c.covered and c.name in secrets else c
        for c in result.origin.columns
    ]
    origin = replace(result.origin, spec=spec).listing(tuple(columns))
    return replace(result, origin=origin)


def rehearse(policy: Policy, source: Source, settings: Settings | None) -> None:
    """Look up every name of the rules in all files, without an attack; InputError if wrong."""
    records, options = _request(policy, source)
    attack_on_tables.rehearse(records, settings, **options)


def _request(policy: Policy, source: Source) -> tuple[Dataset | None, Any]:
    """Return the records of the tables to make, if there are any, and the options of ``tables``.

    The file is a table of counts (``protection``), or the records of tables (``table``), or else a
    release of records, of which the named columns count.
    """
    file, adversary = release_of(policy, source), policy.adversary
    qids, secrets = as_names(adversary.get("qids")), as_names(adversary.get("secret"))
    options: dict[str, Any] = {**policy.tables, "known": qids, "secret": secrets}
    protection = options.pop("protection", None)
    if options.get("table"):
        return file, options | {"where": adversary.get("where")}
    if protection is not None:
        return None, options | {"published": f"{file.paths[0]}:{protection}"}
    columns = (*qids, *secrets) if qids else ()
    return None, options | {"release": attack_on_tables.released(file, columns)}


def levels(
    policy: Policy, rule: Rule, result: Result, last_release: Baseline | None
) -> list[dict[str, Any]]:
    """Return the levels of a rule about tables, one per secret if it is about secrets."""
    rows = [
        {
            **{"model": MODEL, "qids": row["known"], "secret": row["secret"], "by": None},
            **{"group": None, "individuals": row["people"], "interval": None},
            rule.measure: (row | attack_on_tables.measures_of_checks(result.details))[rule.measure],
        }
        for row in result.rows()
    ]
    if rule.measure not in ABOUT_SECRETS:
        rows = [rows[0] | {"secret": None}]
    if any(row[rule.measure] is None for row in rows):
        raise policy.wrong(rule, f"{rule.measure} is not measured of these tables", "measure")
    return levels_of_rows(policy, rule, MODEL, rows_of_secrets(policy, rule, rows), last_release)


def covers_all(policy: Policy) -> bool:
    """Return whether the rules are about all that is published of the file.

    They are where it has or makes tables, and no records of it are released, or where all of its
    columns count.
    """
    about_tables = {MODEL} == {rule.kind for rule in policy.rules} and not policy.recipients
    is_made = bool(policy.tables.keys() & {"table", "protection"})
    return about_tables and (is_made or not policy.adversary.get("qids"))


def coverage(columns: tuple[ColumnRoles, ...]) -> Coverage:
    """Return the columns of a file that tables have: of others nothing is published."""
    covered = tuple(column for column in columns if column.covered or column.forms)
    return Coverage(covered, pl.DataFrame(schema=uncovered.SCHEMA))
