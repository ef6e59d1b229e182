"""A policy: the levels that a release has to meet, written as a small TOML file.

    [adversary]                     # their knowledge and goals, as in qifsql attack
    qids = ["age", "sex"]
    secret = ["disease"]

    [[rule]]                        # everybody together
    model = "crs"
    measure = "posterior_deterministic"
    at_most = 0.05

    [[rule]]                        # within every region
    model = "cas"
    secret = "disease"
    by = "region"
    measure = "posterior_probabilistic"
    at_most = 0.9

    [[rule]]                        # against the last release
    model = "cas"
    measure = "degradation_probabilistic"
    rise_at_most = 0.1

    [baseline]
    file = "last_release.json"      # a file of qifsql check -o or qifsql attack -o

``unnamed = "warn"``, before all tables, sets the treatment of columns of the file that no rule
covers. ``warn`` measures the people whom these columns would single out, and reports them next to
the verdict. ``refuse`` does the same, and the policy is not met if there are such columns.
``ignore`` only lists them.

``unit = "records"``, at the same place, accepts that records are counted. Without it, and without
``person``, a policy is not met where a column of the file numbers people who have several records.

``[adversary]`` takes ``qids``, ``secret``, ``key``, ``weight``, ``where``, ``null``, ``by``,
``person``, ``household``, ``known_records``, ``member``, ``wave``, ``absent``, ``prior``,
``population``, ``original``, ``control`` and ``split``. Options that are given elsewhere take
precedence. Its ``by`` is the default of every rule. ``known_records`` is ``all`` or ``one``: the
records that the adversary knows of a person; by default the worse of both is compared with the
bounds. With ``household = "hhid"`` the verdict also states the risk that a household is found
through any member, which no rule bounds.

A rule has one model or several, a ``measure`` and at least one bound: ``at_most``, ``at_least``,
or ``rise_at_most`` and ``fall_at_most``, which bound the difference from the baseline. A value
that equals its bound is within it. ``measure`` is a column of the result of an attack, or, with
``by``, of its table of groups. ``secret`` names the secrets of the rule (default: all).

``[[recipient]]`` says to whom the release is given, and which risk is accepted for them:

```toml
[[recipient]]
name = "university"
knows = { birth_date = 0.9, sex = 1, ward = "right=0.8" }
holds = ["register.parquet"]
attempt = 0.05
at_most = { maximum = 0.05, average = 0.01 }
until = 2028-12-31
```

``knows`` has the chance that they know a quasi-identifier of a person (1: surely), or a law, as in
``qifsql attack --knows``. ``holds`` are files of people. One that has the ``key`` (or ``person``)
of the adversary, as the release has, is an earlier release: both are attacked together, and what is
known of a person is known for both. Any other file is a register, linked by the quasi-identifiers
that it has; what an earlier release without the key says is not measured, and a note says so. The
risk is ``attempt`` (default 1) times the chance of success, at re-identification and at each secret
of the adversary: ``maximum`` is that of the person at most risk, ``average`` that of all people
(ISO/IEC 27559, 7.3). The greatest of all ways is compared with ``at_most``. A ``preset``
(``public``, ``internal``, ``contract`` or ``safe room``) has ``attempt`` and ``at_most`` from a
published text, and the verdict and the statement name the place of each value in it; a key of the
recipient replaces that of the preset. After the day ``until`` the policy is not met. A policy needs
a rule or a recipient.

``[statement]`` has the words of ``qifsql report --statement`` that no tool can find; what is left
out is a line to fill in by hand. ``reasons`` are those for the chances of an attempt and for what
recipients may know:

```toml
[statement]
purpose = "Research on school transport"
reasons = "The contract forbids attempts, and the university holds no register."
decision = "Release to the university"
by = "A. Silva, data protection officer"
date = 2026-11-29
```

A rule with ``model = "synthetic"`` is about a synthetic release beside the people from whom it was
made:

```toml
[adversary]
qids = ["age", "sex"]
secret = ["disease"]
original = "original.parquet"   # the people from whom the release was made
control = "control.parquet"     # people of the same population from whom it was not made

[[rule]]
model = "synthetic"
measure = "individual_leak"
at_most = 0.02
```

Its ``measure`` is one of the result of ``qifsql synthetic``, or, with ``by``, of its table of
groups: ``repU``, ``DiSCO``, ``success_original``, ``individual_leak``, ``singling_out_all_risk``
and others. Where a measure has an interval, the worse end decides: the upper end is compared with
``at_most``, the lower one with ``at_least``; ``rise_at_most`` and ``fall_at_most`` compare the
values. A measure of the control (``individual_leak``, ``population_knowledge``, each ``_risk``)
cannot be judged without ``control``: the check ends with exit code 2. Distances have no rules,
because they do not show that a release is safe. ``linkability`` needs ``split``, the
quasi-identifiers of one source. ``attempt`` does not multiply these measures; ``weight``, ``wave``
and ``null = "drop"`` do not go with such rules.

A rule with ``model = "tables"`` is about what the file proves together with all that was published
of the same people before, as ``qifsql tables`` measures it:

```toml
[adversary]
qids = ["age", "sex"]           # what is known of people; without, all but the secret
secret = ["illness"]

[tables]
ledger = "ro-crate-metadata.json"  # written by qifsql tables --ledger FILE --add

[[rule]]
model = "tables"
measure = "certain_inference"
at_most = 0
```

Measures are ``reconstructed``, ``reconstructed_ones``, ``singled_out``, ``certain_inference``,
``undone``, ``small_differences``, ``lowest``, ``highest``, ``believed`` and ``actual``. The checked
file is a release of records: its quasi-identifiers and secrets, or all columns without ``qids``.
With ``protection`` in ``[tables]`` (``"exact"``, ``"suppress<5"``) it is a published table of
counts. With ``table`` (``["age,sex:round:5"]``) it has the records, and these tables are made of
them. Other keys are options of ``qifsql tables``: ``hierarchies``, ``small``, ``count``,
``nested``, ``possible``, ``across``, ``counts``, ``total`` and ``time_budget``. Where bounds may
not be sharp, more may be proved than a rule sees, and a note says so. A check adds nothing to the
ledger.

A preset (``qifsql check --preset``, in a study ``preset = "k5"``) is such a file without an
adversary: ``k3``, ``k5``, ``k10`` (statistical offices), ``health`` (clinical data: EMA, Health
Canada), ``hipaa`` and ``wp216``. ``qifsql init --policy`` writes all of them with their sources and
limits.

Probabilities are in [0, 1]: 5 % is 0.05. ``attempt``, in ``[adversary]`` or a rule, is the chance
that anybody attacks at all, above 0 and at most 1 (the default): probabilities are multiplied by it
before they are compared, other measures are not. Somebody always tries what is published: leave it
at 1 unless access is controlled. Paths of files are relative to the folder of the policy.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast, get_args

from qifsql.adversary import models
from qifsql.adversary.models import Model
from qifsql.adversary.options import UNNAMED
from qifsql.adversary.spec import KnownRecords
from qifsql.data.option import is_given
from qifsql.data.toml_lines import Lines, parse
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.measures.release_measures import OF_LINKS
from qifsql.measures.table_measures import SHARE_MEASURES
from qifsql.study import recipients, release_rules, statements, table_rules
from qifsql.study.recipients import Recipient
from qifsql.study.rules import BOUNDS, PROBABILITIES, Rule, asked_for, measures, unsuitable

TABLES = ("adversary", "rule", "recipient", "statement", "baseline", "tables", "unnamed", "unit")
KINDS = {release_rules.MODEL: "a synthetic release", table_rules.MODEL: "published tables"}
"""The models of rules that are not about attacks on records, and what they are about."""
RULE_KEYS = ("model", "measure", "secret", "by", "attempt", *BOUNDS)
NAME_KEYS = ("qids", "secret", "key", "split")  # keys that may have several names
FILE_KEYS = ("prior", "population", "original", "control")
TEXT_KEYS = (
    *("weight", "where", "null", "by", "person", "household", "known_records", "member"),
    *("wave", "absent", *FILE_KEYS),
)
RECORDS = "records"  # the unit of a policy that counts records, though a person may have several
PRESETS = Path(__file__).with_name("presets")
"""The folder of the presets: policies with the levels of authorities, and their sources."""


@dataclass(frozen=True)
class Policy:
    """A policy: the adversary, the required levels, and the last release.

    ``adversary`` are options of ``qifsql.attack``. ``baseline`` is the file of the last release.
    ``unnamed`` is one of ``UNNAMED``, ``unit`` is ``RECORDS`` or empty. ``recipients`` are those
    whose risk is bounded. ``lines`` are the positions of the parts of the file, for messages.
    ``statement`` has the words of the decision. ``tables`` says what was published besides.
    """

    file: Path
    adversary: Mapping[str, Any]
    rules: tuple[Rule, ...]
    baseline: Path | None
    lines: Lines = field(repr=False, compare=False)
    unnamed: str = UNNAMED[0]
    unit: str = ""
    recipients: tuple[Recipient, ...] = ()
    statement: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> tuple[Model, ...]:
        """Return the models of all rules, each once."""
        return tuple(dict.fromkeys(m for rule in self.rules for m in rule.models))

    def about(self, kind: str) -> tuple[Rule, ...]:
        """Return the rules of a kind: about a synthetic release, or about published tables."""
        return tuple(rule for rule in self.rules if rule.kind == kind)

    def wrong(self, rule: Rule, message: str, key: str = "") -> InputError:
        """Return an error about a rule, or about one of its keys."""
        return self.lines.wrong(message, "rule", rule.number - 1, *([key] if key else []))


def presets() -> list[str]:
    """Return the names of the presets, those of statistical offices first."""
    names = [file.stem for file in PRESETS.glob("*.toml")]
    return sorted(names, key=lambda name: (not name[1:].isdigit(), len(name), name))


def preset(name: str) -> Path:
    """Return the file of a preset; InputError if there is none of this name."""
    if name not in presets():
        hint = did_you_mean(name, presets()).replace("it has", "there are")
        raise InputError(f"there is no preset {quoted(name)}{hint}")
    return PRESETS / f"{name}.toml"


def read(file: str | Path | Mapping[str, Any], **options: object) -> Policy:
    """Return the policy of a file, or of its data; given ``options`` replace those of the file.

    Raises InputError with the line of the error.
    """
    if isinstance(file, Mapping):
        return parsed(_plain(file), Lines(""), Path("policy"), **options)
    return parsed(*parse(file), Path(file), **options)


def parsed(data: Mapping[str, Any], lines: Lines, path: Path, /, **options: object) -> Policy:
    """Return the policy in the data of a file; LineError gives the line of an error."""
    _check_keys(data, TABLES, lines)
    adversary = _adversary(data.get("adversary", {}), path.parent, lines)
    adversary |= {name: option for name, option in options.items() if is_given(option)}
    listed = data.get("rule", [])
    if not isinstance(listed, list) or not all(isinstance(r, dict) for r in listed):
        raise lines.wrong("rules are tables of a list: write [[rule]]", "rule")
    receivers = recipients.parse(data, path.parent, lines)
    if not listed and not receivers:
        raise lines.wrong("there is no rule; write [[rule]] with model, measure and at_most")
    if receivers and "qids" not in adversary:
        adversary["qids"] = recipients.names(receivers)
    attempt = _attempt(data.get("adversary", {}), lines, "adversary") or 1.0
    rules = tuple(_rule(n, table, adversary, attempt, lines) for n, table in enumerate(listed))
    _check_comparisons(rules, adversary, lines)
    last = _baseline(data, path.parent, lines)
    unnamed, unit = data.get("unnamed", UNNAMED[0]), data.get("unit", "")
    if unnamed not in UNNAMED:
        raise lines.wrong(f"unnamed is one of {', '.join(map(quoted, UNNAMED))}", "unnamed")
    if unit not in ("", RECORDS):
        raise lines.wrong(
            f"unit is {quoted(RECORDS)}: they are counted though a person may have several; people "
            "are counted with person in [adversary]",
            "unit",
        )
    words = statements.parse(data, lines)
    published = table_rules.parse(data, rules, adversary, path.parent, lines)
    return Policy(path, adversary, rules, last, lines, unnamed, unit, receivers, words, published)


def _plain(value: Any) -> Any:
    """Return data of Python as TOML has them: texts for paths, lists for tuples."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _adversary(table: object, folder: Path, lines: Lines) -> dict[str, Any]:
    """Return the options of the adversary; paths of files are those in the folder of the policy."""
    if not isinstance(table, dict):
        raise lines.wrong("the adversary is a table: write [adversary]", "adversary")
    _check_keys(table, (*NAME_KEYS, *TEXT_KEYS, "attempt"), lines, "adversary")
    if "known_records" in table:
        here, choices = ("adversary", "known_records"), get_args(KnownRecords)
        if table["known_records"] not in choices:
            raise lines.wrong(f"known_records is one of {', '.join(map(quoted, choices))}", *here)
        if "person" not in table:
            what = "known_records is about the records of a person; name the column (person)"
            raise lines.wrong(what, *here)
    options: dict[str, Any] = {}
    for name, value in table.items():
        if name in NAME_KEYS:
            options[name] = _names(value, lines, "adversary", name)
        elif name != "attempt":
            text = _text(value, lines, "adversary", name)
            options[name] = _beside(folder, text) if name in FILE_KEYS else text
    return options


def _attempt(table: Mapping[str, Any], lines: Lines, *here: str | int) -> float | None:
    """Return the chance of an attempt that a table sets; None if it sets none."""
    if "attempt" not in table:
        return None
    chance = _number(table["attempt"], lines, *here, "attempt")
    if not 0 < chance <= 1:
        what = "attempt is the chance that anybody attacks; write a number above 0 and at most 1"
        raise lines.wrong(what, *here, "attempt")
    return float(chance)


def _rule(
    n: int, table: Mapping[str, Any], adversary: Mapping[str, Any], attempt: float, lines: Lines
) -> Rule:
    """Return the rule in the ``n``-th table (from 0), checked.

    ``adversary`` are its options, ``attempt`` is the chance of an attempt where the rule has none.
    """
    here = ("rule", n)
    _check_keys(table, RULE_KEYS, lines, *here)
    for key in ("model", "measure"):
        if key not in table:
            raise lines.wrong(f"rule {n + 1} has no {key}; name one", *here)
    bounds = {name: _number(table[name], lines, *here, name) for name in BOUNDS if name in table}
    if not bounds:
        raise lines.wrong(f"rule {n + 1} has no bound; write one of {', '.join(BOUNDS)}", *here)
    by = _text(table["by"], lines, *here, "by") if "by" in table else adversary.get("by")
    chosen, kind = _models(table["model"], lines, *here, "model")
    rule = Rule(
        number=n + 1,
        models=chosen,
        measure=_text(table["measure"], lines, *here, "measure"),
        bounds=bounds,
        secrets=_names(table["secret"], lines, *here, "secret") if "secret" in table else (),
        by=by,
        attempt=_rule_attempt(table, lines, *here) or attempt,
        kind=kind,
    )
    _check_measure(rule, lines, population=adversary.get("population") is not None)
    _check_secrets(rule, adversary.get("secret", ()), lines)
    _check_bounds(rule, lines)
    return rule


def _rule_attempt(table: Mapping[str, Any], lines: Lines, *here: str | int) -> float | None:
    """Return the chance of an attempt that a rule sets; None if it sets none."""
    attempt = _attempt(table, lines, *here)
    if attempt is not None and table.get("model") in KINDS:
        what = "attempt multiplies the success of attacks on records; leave it out"
        raise lines.wrong(what, *here, "attempt")
    if attempt is not None and table.get("measure") not in PROBABILITIES:
        what = f"attempt multiplies probabilities, and {table['measure']} is not one; leave it out"
        raise lines.wrong(what, *here, "attempt")
    return attempt


def _check_measure(rule: Rule, lines: Lines, *, population: bool) -> None:
    """Refuse a measure that does not exist, or that a model of the rule cannot have."""
    here = ("rule", rule.number - 1, "measure")
    if rule.kind == release_rules.MODEL and (reason := release_rules.unsuitable(rule.measure)):
        raise lines.wrong(f"{rule.measure} {reason}", *here)
    of_kinds = {
        release_rules.MODEL: release_rules.measures,
        table_rules.MODEL: table_rules.measures,
    }
    if hint := _unknown(
        rule.measure, of_kinds.get(rule.kind, measures)(grouped=rule.by is not None)
    ):
        where = f" within groups (by {quoted(rule.by)})" if rule.by is not None else ""
        raise lines.wrong(f"there is no measure {quoted(rule.measure)}{where}{hint}", *here)
    for model in rule.models:
        if reason := unsuitable(rule.measure, model, population=population):
            raise lines.wrong(f"{rule.measure} {reason}", *here)


def _check_secrets(rule: Rule, secrets: str | Sequence[str], lines: Lines) -> None:
    """Refuse secrets if a model has no secret, and secrets that the adversary does not infer."""
    here = ("rule", rule.number - 1, "secret")
    without_secret = [m for m in rule.models if m.goal != "attribute inference"]
    if rule.secrets and without_secret:
        about = f"{without_secret[0].acronym} is of {without_secret[0].goal}"
        raise lines.wrong(f"{about}, which has no secret to name; leave it out", *here)
    names = [secrets] if isinstance(secrets, str) else list(secrets)
    for secret in rule.secrets:
        if not asked_for(secret, names):
            hint = did_you_mean(secret, names) or "; name it in [adversary]"
            raise lines.wrong(f"secret {quoted(secret)} is not asked for{hint}", *here)


def _check_comparisons(rules: Sequence[Rule], adversary: Mapping[str, Any], lines: Lines) -> None:
    """Refuse comparing rules that lack an option, and options of comparisons that no rule uses."""
    compared = [rule for rule in rules if rule.kind == release_rules.MODEL]
    for rule in compared:
        if reason := release_rules.missing(rule, adversary):
            # the line of the error: that of a secret to leave out, or else of the measure
            key = "secret" if reason.endswith("leave secret out") else "measure"
            raise lines.wrong(f"rule {rule.number} {reason}", "rule", rule.number - 1, key)
    if compared:
        try:
            release_rules.check_counting(adversary)
        except InputError as e:
            raise lines.wrong(str(e), "adversary") from e
        if "split" in adversary and not any(rule.measure in OF_LINKS for rule in compared):
            what = "split is for rules about linkability; write one, or leave it out"
            raise lines.wrong(what, "adversary", "split")
        return
    for name in release_rules.OPTIONS:
        if name in adversary:
            what = 'is for rules about a synthetic release; write one with model = "synthetic"'
            raise lines.wrong(f"{name} {what}", "adversary", name)


def _check_bounds(rule: Rule, lines: Lines) -> None:
    """Refuse a limit of a probability or a share above 1, or below the ``least`` sensible one."""
    for name, bound in rule.bounds.items():
        least = release_rules.least(rule.measure, name)
        is_share = rule.kind == release_rules.MODEL or rule.measure in SHARE_MEASURES
        if (is_share or rule.measure in PROBABILITIES) and not least <= bound <= 1:
            kind = "a share" if is_share else "a probability"
            what = f"{rule.measure} is {kind}"
            limits = f"write {name} between {least:g} and 1, such as 0.05 for 5 %"
            raise lines.wrong(f"{what}; {limits}", "rule", rule.number - 1, name)


def _models(value: object, lines: Lines, *here: str | int) -> tuple[tuple[Model, ...], str]:
    """Return the models of a rule, and its kind; one of a kind has no models."""
    names = [n for name in _names(value, lines, *here) for n in name.split(",")]
    for kind in KINDS.keys() & {*names}:
        if len(names) > 1:
            what = f"a rule about {KINDS[kind]} has no other model; write two rules"
            raise lines.wrong(what, *here)
        return (), kind
    try:
        return tuple(dict.fromkeys(models.model(name.strip()) for name in names)), ""
    except InputError as e:
        raise lines.wrong(str(e), *here) from e


def _baseline(data: Mapping[str, Any], folder: Path, lines: Lines) -> Path | None:
    """Return the file of the baseline, relative to the policy's folder; None: no baseline."""
    if "baseline" not in data:
        return None
    table = data["baseline"]
    if not isinstance(table, dict) or "file" not in table:
        raise lines.wrong("a baseline is a table with a file: write file = ...", "baseline")
    _check_keys(table, ("file",), lines, "baseline")
    return folder / _text(table["file"], lines, "baseline", "file")


def _check_keys(
    table: Mapping[str, Any], names: Sequence[str], lines: Lines, *here: str | int
) -> None:
    for name in table:
        if hint := _unknown(name, names):
            hint = "; write it above all tables" if name == "unnamed" else hint
            raise lines.wrong(f"there is no {quoted(name)} here{hint}", *here, name)


def _unknown(name: str, names: Iterable[str]) -> str:
    """Return a hint of a similar name, or of all names; empty if the name exists."""
    names = list(names)
    if name in names:
        return ""
    near = get_close_matches(name.casefold(), names, n=1)
    return did_you_mean(name, near) or f"; use one of {', '.join(names)}"


def _names(value: object, lines: Lines, *here: str | int) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    if not names:
        raise lines.wrong(f"{here[-1]} is empty; name one, or leave it out", *here)
    return tuple(_text(name, lines, *here) for name in names)


def _text(value: object, lines: Lines, *here: str | int) -> str:
    if not isinstance(value, str):
        raise lines.wrong(f"{here[-1]} is not a text; write it in quotes", *here)
    if not value.strip():
        raise lines.wrong(f"{here[-1]} is empty; fill it in, or leave it out", *here)
    return value


def _number(value: object, lines: Lines, *here: str | int) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        what = "is not a number; write one without quotes, as in 0.05"
        raise lines.wrong(f"{here[-1]} {what}", *here)
    return cast("float", value)


def _beside(folder: Path, text: str) -> str:
    """Return the path of a file, or of ``table@file``, relative to the folder of the policy."""
    table, at, file = text.rpartition("@")
    if at and table and not (folder / text).exists():
        return f"{table}@{folder / file}"
    return str(folder / text)
