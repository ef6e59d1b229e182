"""The levels of a verdict: the values of the measures of its rules, and whether they are met."""

from collections.abc import Iterator, Sequence
from typing import Any

from qifsql.adversary.models import Model
from qifsql.commands.check import comparison
from qifsql.commands.check.comparison import Comparison
from qifsql.commands.check.result import READING, SCHEMA
from qifsql.errors import InputError, plural, quoted
from qifsql.results.assessment import readings
from qifsql.results.result import Result
from qifsql.study.baseline import Baseline, Place
from qifsql.study.policy import Policy
from qifsql.study.release_rules import MODEL
from qifsql.study.rules import Rule, named


def levels_of_rule(
    policy: Policy, rule: Rule, model: Model, result: Result, last_release: Baseline | None
) -> list[dict[str, Any]]:
    """Return the levels of a rule for one of its models, in the order of the result.

    A level is the value of the rule's measure for one secret and group, and whether it is met. Of
    the rows of a question (all records of a person known or one, everybody or those with a
    reported secret) the worst counts.
    """
    known_records = policy.adversary.get("known_records")  # all or one; None: both
    rows = []
    for row in result.rows():
        if row["model"] != model.acronym.upper():
            continue
        if known_records in (None, row.get("known_records")):
            # the first is of everybody, as is a baseline
            rows += readings(row)[:1] if rule.drifts else readings(row)
    values = []
    for row in _rows_of_secrets(policy, rule, rows):
        for group_row in _rows_of_groups(rule, row, result):
            if group_row[rule.measure] is not None:
                values.append(group_row | {"interval": None})
            elif group_row.get("known_records") != "one" or known_records:
                # Measures of all records alone are passed over in rows of one, unless one is named.
                message = f"{rule.measure} has no value in model {model.acronym}"
                raise policy.wrong(rule, message, "measure")
    return _worse_readings(rule, _levels_of_rows(policy, rule, model.acronym, values, last_release))


def _worse_readings(rule: Rule, levels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the worst level of each question: one not met, or else by its value (None is best).

    There are several if all records of a person or one are known, and if a secret is missing: with
    it as a value, and among the people with a reported one.
    """
    worst: dict[object, dict[str, Any]] = {}
    for level in levels:
        question = level["secret"], level["group"]
        before = worst.setdefault(question, level)
        value, value_before = level["value"], before["value"]
        is_worse = value_before is None or (value is not None and rule.worse(value, value_before))
        if (before["met"] and not level["met"]) or (before["met"] == level["met"] and is_worse):
            worst[question] = level
    return list(worst.values())


def levels_of_comparison(
    policy: Policy, rule: Rule, compared: Comparison, last_release: Baseline | None
) -> list[dict[str, Any]]:
    """Return the levels of a rule about a synthetic release, in the order of the result."""
    levels: list[dict[str, Any]] = []
    known_records = policy.adversary.get("known_records")  # all or one; None: both
    rows = [r for r in compared.rows(rule) if known_records in (None, r.get("known_records"))]
    for row in _rows_of_secrets(policy, rule, rows):
        try:
            met = comparison.is_met_by_nobody(rule, row)
        except InputError as e:
            raise policy.wrong(rule, f"rule {rule.number}: {e}", "measure") from e
        if met is None:  # there is a value
            levels += _levels_of_rows(policy, rule, MODEL, [row], last_release)
        else:
            levels.append(_level_row(rule, row, None, None, met=met))
    return _worse_readings(rule, levels) if policy.adversary.get("person") else levels


def _levels_of_rows(
    policy: Policy,
    rule: Rule,
    model: str,
    rows: Sequence[dict[str, Any]],
    last_release: Baseline | None,
) -> list[dict[str, Any]]:
    """Return a level for each row, which has the rule's measure and its ``interval`` (or None).

    ``before`` is the value in the last release; where it is unknown, a drift is not met.
    """
    levels, unknown = [], 0
    for row in rows:
        value = rule.attempted(row[rule.measure])
        before = last_release.value(Place.of(row), rule.measure) if last_release else None
        before = before if before is None else rule.attempted(before)
        unknown += before is None
        is_judged = before is not None or not rule.drifts
        met = is_judged and rule.met(value, before, row["interval"])
        levels.append(_level_row(rule, row, value, before, met=met))
    if rule.drifts and last_release and unknown:
        what = plural(unknown, "group" if rule.by is not None else "row")
        raise policy.wrong(
            rule,
            f"the baseline {last_release.name} has no {rule.measure}, or several, for {what} of "
            f"model {model}; make it with the same quasi-identifiers, secrets and groups",
        )
    return levels


def _level_row(
    rule: Rule, row: dict[str, Any], value: float | None, before: float | None, *, met: bool
) -> dict[str, Any]:
    """Return the row of a level: ``value`` (success times attempt), ``before`` in the baseline."""
    low, high = row.get("interval") or (None, None)
    level = row | {"rule": rule.number, "measure": rule.measure, "wanted": rule.limits}
    level |= {"success": row[rule.measure] if rule.chance is not None else None}
    level |= {"attempt": rule.chance, "value": value, "baseline": before, "met": met}
    level |= {"low": low, "high": high}
    return {name: level.get(name) for name in (*SCHEMA, *READING, "of_reported")}


def _rows_of_secrets(
    policy: Policy, rule: Rule, rows: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows about the secrets that a rule names; all rows if it names none."""
    if not rule.secrets:
        return list(rows)
    secrets_of_rows = [row["secret"] for row in rows]
    secrets: set[str] = set()
    for text in rule.secrets:
        if not (names := named(text, secrets_of_rows)):
            message = f"secret {quoted(text)} is not asked for; name it in [adversary]"
            raise policy.wrong(rule, message, "secret")
        secrets.update(names)
    return [row for row in rows if row["secret"] in secrets]


def _rows_of_groups(rule: Rule, row: dict[str, Any], result: Result) -> Iterator[dict[str, Any]]:
    """Yield the row of all people together, or one row per group; ``row`` is of an attack."""
    if rule.by is None:
        yield row | {"by": None, "group": None, "individuals": None}
        return
    groups = result.details["groups"].filter(attack_id=row["attack_id"])
    for group in groups.iter_rows(named=True):
        yield {name: row[name] for name in ("model", "qids", "secret")} | group
