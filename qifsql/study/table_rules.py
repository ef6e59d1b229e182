"""Rules of a policy about published tables, together with all that was published before."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qifsql.data.option import TEXT
from qifsql.data.toml_lines import Lines
from qifsql.errors import did_you_mean, quoted
from qifsql.measures.table_measures import ABOUT_SECRETS, REQUIRED
from qifsql.study import forms
from qifsql.study.rules import Rule

MODEL = "tables"  # the ``model`` of these rules in a policy, and in a verdict
FILES = ("ledger", "possible")
KEYS = (
    *("table", "protection", "hierarchies", "small", "count", "nested", "across", "counts"),
    *("total", "time_budget", *FILES),
)
UNFIT = ("weight", "wave", "person", "household", "key")  # tables count records, one of a person


def measures(*, grouped: bool = False) -> list[str]:
    """Return the measures of these rules."""
    return list(REQUIRED)


def parse(
    data: Mapping[str, Any],
    rules: Sequence[Rule],
    adversary: Mapping[str, Any],
    folder: Path,
    lines: Lines,
) -> dict[str, Any]:
    """Return the options of ``qifsql tables`` in a policy, and ``protection``; files in ``folder``.

    Refuse rules that lack something, and options that no rule uses. LineError has the line.
    """
    of_tables = [rule for rule in rules if rule.kind == MODEL]
    table = data.get("tables", {})
    if not isinstance(table, dict):
        raise lines.wrong("what was published is one table: write [tables]", "tables")
    if table and not of_tables:
        raise lines.wrong('no rule is about tables; write one with model = "tables"', "tables")
    form_of = {**forms.of_entry("tables"), "protection": TEXT}
    options: dict[str, Any] = {}
    for name, content in table.items():
        if name not in KEYS:
            hint = did_you_mean(name, KEYS) or f"; use one of {', '.join(KEYS)}"
            raise lines.wrong(f"there is no {quoted(name)} here{hint}", "tables", name)
        options[name] = value = form_of[name].read(content)
        if value is None:
            raise lines.wrong(f"{name} is {form_of[name].says}", "tables", name)
    options |= {name: str(folder / options[name]) for name in FILES if name in options}
    if "hierarchies" in options:
        options["hierarchies"] = {n: str(folder / f) for n, f in options["hierarchies"].items()}
    for rule in of_tables:
        if reason := _missing(rule, adversary, options, rules, has_recipients="recipient" in data):
            raise lines.wrong(f"rule {rule.number} {reason}", "rule", rule.number - 1)
    return options


def files(options: Mapping[str, Any]) -> list[str]:
    """Return the files that ``[tables]`` of a policy names."""
    named = [options[name] for name in FILES if name in options]
    return [*named, *options.get("hierarchies", {}).values()]


def _missing(
    rule: Rule,
    adversary: Mapping[str, Any],
    options: Mapping[str, Any],
    rules: Sequence[Rule],
    *,
    has_recipients: bool,
) -> str:
    """Return what does not go together with a rule about tables; empty: nothing."""
    has_secret = bool(adversary.get("secret"))
    if rule.measure == "certain_inference" and not has_secret:
        return "is about a secret (certain_inference); name one in [adversary] secret, or --secret"
    if rule.by is not None:
        return "is about all people together; leave by out"
    if rule.measure not in ABOUT_SECRETS and rule.secrets:
        return f"is about no secret ({rule.measure}); leave secret out"
    if rule.measure == "actual" and not options.get("table"):
        return "needs records (actual); name the tables that are made of them in [tables] table"
    if unfit := [name for name in UNFIT if adversary.get(name)]:
        return f"is about tables, which count records, one of each person; leave {unfit[0]} out"
    if adversary.get("null", "distinct") != "distinct":
        return "is about tables, where a missing value is a value; leave null out"
    if adversary.get("where") and not options.get("table"):
        return "is about what is released, which has no filter; leave where out"
    if options.get("table") and "protection" in options:
        return "is about tables of records, or a table of counts; leave table or protection out"
    about_records = has_recipients or {MODEL} != {listed.kind for listed in rules}
    if "protection" in options and about_records:
        return "is about a table of counts (protection); leave out what is about records"
    return ""
