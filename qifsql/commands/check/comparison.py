"""Rules about a synthetic release: its measures beside the people from whom it was made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from qifsql.adversary.spec import ColumnRoles
from qifsql.commands.synthetic import synthetic as releases
from qifsql.data.collection import Collection, Source, tagged
from qifsql.data.dataset import Dataset, datasets
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.measures.release_measures import ABOUT_SECRETS, OF_QUESTIONS
from qifsql.results.result import Result
from qifsql.study.policy import Policy
from qifsql.study.release_rules import MODEL
from qifsql.study.rules import Rule

RATIOS = ("TCAP", "right_when_certain")
"""Shares of some of the people, who may be nobody."""
_SHARED = ("qids", "secret", "control", "where", "split", "person")

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
        """Yield a row per secret and group: the measure, its ``interval``, and if of ``nobody``."""
        about = {"model": MODEL, "qids": self.result.origin.spec["qids"]}
        for row in self._group_values(rule) if rule.by is not None else self._values(rule):
            low, high = row.get("low"), row.get("high")
            interval = None if low is None or high is None else (low, high)
            everybody = {"by": None, "group": None, "individuals": None}
            yield everybody | row | about | {"interval": interval}

    def _values(self, rule: Rule) -> Iterator[Row]:
        """Yield the value of a measure for each secret of the first release, about everybody.

        A risk is a share of the people that the measure without ``_risk`` counts.
        """
        rows = self.result.frame.filter(file=1).to_dicts()
        people = {row["measure"]: row["people"] for row in rows}
        for row in rows:
            if row["measure"] == rule.measure:
                nobody = 0 in (row["people"], people.get(rule.measure.removesuffix("_risk")))
                ends = {"low": row["low"], "high": row["high"], "nobody": nobody}
                reading = {name: row[name] for name in ("known_records",) if name in row}
                yield {"secret": row["secret"], rule.measure: row["value"], **ends, **reading}

    def _group_values(self, rule: Rule) -> Iterator[Row]:
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
                    "nobody": rule.measure in RATIOS,  # without a value, it is over no people
                }


def comparisons(policy: Policy, source: Source, settings: Settings | None) -> list[Comparison]:
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
        rule = policy.comparisons[0]
        message = f"rule {rule.number} is about one synthetic release; check each file by itself"
        raise policy.wrong(rule, message, "model")
    return files[0]


def _shared_comparisons(policy: Policy) -> Iterator[tuple[str | None, tuple[Rule, ...], Any]]:
    """Yield each column of groups, its rules, and the options of one comparison for all of them."""
    adversary, rules = policy.adversary, policy.comparisons
    shared = {name: adversary[name] for name in _SHARED if name in adversary}
    columns = dict.fromkeys(rule.by for rule in rules if rule.by is not None)
    first, *next_columns = columns or (None,)  # the first also answers rules without groups
    for by in (first, *next_columns):
        answerable = tuple(rule for rule in rules if by == (rule.by or first))
        questions = any(rule.measure in OF_QUESTIONS for rule in answerable)
        options = {n: v for n, v in shared.items() if n != "split" or questions}
        yield by, answerable, {**options, "by": by, "questions": questions}


def is_met_by_nobody(rule: Rule, row: Mapping[str, Any]) -> bool | None:
    """Return True if a share of nobody meets a rule (``at_most`` alone); None if there is a value.

    Raises InputError for other bounds, and if the value is missing for the reason of a control.
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
