"""The levels of a verdict: the values of the measures of its rules, and whether they are met."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qifsql.adversary.models import Model
from qifsql.adversary.spec import ColumnRoles
from qifsql.commands.check.result import READING, SCHEMA
from qifsql.commands.synthetic import synthetic as releases
from qifsql.data.collection import Collection, Source, tagged
from qifsql.data.dataset import Dataset, datasets
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, plural, quoted
from qifsql.measures.release_measures import ABOUT_SECRETS, OF_QUESTIONS
from qifsql.results.assessment import readings
from qifsql.results.result import Result
from qifsql.study.baseline import Baseline, Place
from qifsql.study.policy import Policy
from qifsql.study.release_rules import MODEL
from qifsql.study.rules import Rule, named

RATIO_MEASURES = ("TCAP", "right_when_certain")
"""Shares of some of the people, who may be nobody."""
SHARED_OPTIONS = ("qids", "secret", "control", "where", "split", "person")

Row = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """The measures of a release for the rules with one column of groups, None for all together."""

    by: str | None
    rules: tuple[Rule, ...]
    result: Result

    @property
    def columns(self) -> list[ColumnRoles]:
        """Return the columns of the release, the second file, with their roles."""
        tag = tagged(2, "")
        of_release = (c for c in self.result.origin.columns if c.name.startswith(tag))
        return [replace(c, name=c.name.removeprefix(tag)) for c in of_release]

    @property
    def origin_spec(self) -> dict[str, Any]:
        """Return what was asked, as attacks state it: the dataset is the release."""
        spec = dict(self.result.origin.spec)
        (release,) = spec.pop("releases")
        return spec | {"original": spec["dataset"], "dataset": release, "models": [MODEL]}

    def rows(self, rule: Rule) -> Iterator[Row]:
        """Yield a row per secret and group: the measure, its ``interval``, and ``nobody``."""
        about = {"model": MODEL, "qids": self.result.origin.spec["qids"]}
        is_grouped = rule.by is not None
        for row in self._values_of_groups(rule) if is_grouped else self._values_of_all(rule):
            low, high = row.get("low"), row.get("high")
            interval = None if low is None or high is None else (low, high)
            everybody = {"by": None, "group": None, "individuals": None}
            yield everybody | row | about | {"interval": interval}

    def _values_of_all(self, rule: Rule) -> Iterator[Row]:
        """Yield the value of a rule's measure for each secret, about everybody, of one release.

        ``nobody`` says that a value is missing because it is a share of no people: those of its own
        row or, for a risk (``x_risk``), those whom the measure ``x`` is about.
        """
        rows = self.result.frame.filter(file=1).to_dicts()
        people = {row["measure"]: row["people"] for row in rows}
        for row in rows:
            if row["measure"] == rule.measure:
                nobody = 0 in (row["people"], people.get(rule.measure.removesuffix("_risk")))
                value = {"secret": row["secret"], rule.measure: row["value"], "nobody": nobody}
                copied = ("low", "high", "known_records")  # the last one only with a person
                yield value | {name: row[name] for name in copied if name in row}

    def _values_of_groups(self, rule: Rule) -> Iterator[Row]:
        """Yield the value of a measure for each secret and group of the first release."""
        groups = self.result.details["groups"].filter(file=1)
        secrets = groups["secret"].unique(maintain_order=True).to_list()
        about_secrets = rule.measure in ABOUT_SECRETS  # else all secrets have the same values
        for secret in secrets if about_secrets else secrets[:1]:
            of_secret = groups if secret is None else groups.filter(secret=secret)
            for row in of_secret.iter_rows(named=True):
                yield {
                    "secret": secret if about_secrets else None,
                    "by": self.result.origin.spec["by"],
                    "group": row["group"],
                    "individuals": row["people"],
                    rule.measure: row[rule.measure],
                    "low": row.get(f"{rule.measure}_low"),
                    "high": row.get(f"{rule.measure}_high"),
                    # A group has people; only ratios may still be a share of none of them.
                    "nobody": rule.measure in RATIO_MEASURES,
                }


def measure_comparisons(
    policy: Policy, source: Source, settings: Settings | None
) -> list[Comparison]:
    """Measure a release for all rules about it, with as few comparisons as possible."""
    release, original = release_of(policy, source), policy.adversary["original"]
    return [
        Comparison(by, rules, releases.synthetic(original, release, settings=settings, **options))
        for by, rules, options in _shared_comparisons(policy)
    ]


def rehearse(policy: Policy, source: Source, settings: Settings | None) -> None:
    """Look up every name of the rules in all files, without measuring; InputError if wrong."""
    original = policy.adversary["original"]
    for _, _, options in _shared_comparisons(policy):
        releases.rehearse(original, release_of(policy, source), settings, **options)


def release_of(policy: Policy, source: Source) -> Dataset:
    """Return the release that is checked; InputError if there are several files."""
    files = source.datasets if isinstance(source, Collection) else datasets(source)
    if len(files) != 1:
        rule = next(rule for rule in policy.rules if rule.kind)
        what = "synthetic release" if rule.kind == MODEL else "file"
        message = f"rule {rule.number} is about one {what}; check each file by itself"
        raise policy.wrong(rule, message, "model")
    return files[0]


def _shared_comparisons(policy: Policy) -> Iterator[tuple[str | None, tuple[Rule, ...], Any]]:
    """Yield each column of groups, its rules, and the options of one comparison for all of them."""
    adversary, rules = policy.adversary, policy.about(MODEL)
    shared = {name: adversary[name] for name in SHARED_OPTIONS if name in adversary}
    columns = dict.fromkeys(rule.by for rule in rules if rule.by is not None)
    first, *next_columns = columns or (None,)  # the first also answers rules without groups
    for by in (first, *next_columns):
        answerable = tuple(rule for rule in rules if by == (rule.by or first))
        questions = any(rule.measure in OF_QUESTIONS for rule in answerable)
        options = {n: v for n, v in shared.items() if n != "split" or questions}
        yield by, answerable, {**options, "by": by, "questions": questions}


def judge_missing_value(rule: Rule, row: Mapping[str, Any]) -> bool | None:
    """Return whether a rule is met if its measure has no value; None if it has one.

    A share of nobody keeps ``at_most``. InputError for other bounds, or if the control is why.
    """
    if row[rule.measure] is not None:
        return None
    if row["nobody"] and set(rule.bounds) == {"at_most"}:
        return True
    if row["nobody"]:
        raise InputError(f"{rule.measure} is a share of nobody here; only at_most can be judged")
    if rule.by is not None:
        raise InputError(
            f"{rule.measure} has no value for a group: nobody of the control is in it; group by a "
            "coarser column, or leave by out"
        )
    raise InputError(f"{rule.measure} has no value: the control leaves nothing to find out")


def levels_of_rule(
    policy: Policy, rule: Rule, model: Model, result: Result, last_release: Baseline | None
) -> list[dict[str, Any]]:
    """Return the levels of a rule for one of its models, in the order of the attack's ``result``.

    A level is the value of the rule's measure for one secret and group, and whether it is met. The
    attack may answer in several ways: all records of a person are known or one; about everybody, or
    the people who report the secret. Of these the worst counts.
    """
    known_records = policy.adversary.get("known_records")  # all or one; None: both
    rows = []
    for row in result.rows():
        if row["model"] != model.acronym.upper():
            continue
        if known_records in (None, row.get("known_records")):
            # The row, and that of the people with a reported secret, if some are missing.
            everybody, *reported = readings(row)
            rows.append(everybody)
            if not rule.drifts:  # a baseline is about everybody
                rows += reported
    values = []
    for row in rows_of_secrets(policy, rule, rows):
        for group_row in _rows_of_groups(rule, row, result):
            if group_row[rule.measure] is not None:
                values.append(group_row | {"interval": None})
            elif group_row.get("known_records") != "one" or known_records:
                # Some measures have no value if one record is known; that is wrong only if the
                # policy names which records are known.
                message = f"{rule.measure} has no value in model {model.acronym}"
                raise policy.wrong(rule, message, "measure")
    return _worse_readings(rule, levels_of_rows(policy, rule, model.acronym, values, last_release))


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
    for row in rows_of_secrets(policy, rule, rows):
        try:
            met = judge_missing_value(rule, row)
        except InputError as e:
            raise policy.wrong(rule, f"rule {rule.number}: {e}", "measure") from e
        if met is None:  # there is a value
            levels += levels_of_rows(policy, rule, MODEL, [row], last_release)
        else:
            levels.append(level_row(rule, row, value=None, before=None, met=met))
    return _worse_readings(rule, levels) if policy.adversary.get("person") else levels


def levels_of_rows(
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
        unknown += before is None  # rows without a value in the last release
        is_judged = before is not None or not rule.drifts
        met = is_judged and rule.met(value, before, row["interval"])
        levels.append(level_row(rule, row, value, before, met=met))
    if rule.drifts and last_release and unknown:
        what = plural(unknown, "group" if rule.by is not None else "row")
        raise policy.wrong(
            rule,
            f"the baseline {last_release.name} has no {rule.measure}, or several, for {what} of "
            f"model {model}; make it with the same quasi-identifiers, secrets and groups",
        )
    return levels


def level_row(
    rule: Rule, row: dict[str, Any], value: float | None, before: float | None, *, met: bool
) -> dict[str, Any]:
    """Return the row of a level: ``value`` (success times attempt), ``before`` in the baseline."""
    low, high = row.get("interval") or (None, None)
    level = row | {"rule": rule.number, "measure": rule.measure, "wanted": rule.limits}
    level |= {"success": row[rule.measure] if rule.chance is not None else None}
    level |= {"attempt": rule.chance, "value": value, "baseline": before, "met": met}
    level |= {"low": low, "high": high}
    return {name: level.get(name) for name in (*SCHEMA, *READING, "of_reported")}


def rows_of_secrets(
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
