"""Checks of a release against the levels of a policy.

One attack answers all rules of one kind of model, for each column of groups. If missing values are
dropped, or beliefs are given, models of different goals use other records, and run separately.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack, overload

import polars as pl

from qifsql.adversary.models import Model
from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, refuse
from qifsql.commands.attack.attack import attack
from qifsql.commands.check import coverage, held_files, recipient_levels, rule_levels, table_levels
from qifsql.commands.check.coverage import Coverage
from qifsql.commands.check.questions.three_questions import three_questions
from qifsql.commands.check.result import READING, RECIPIENT, SCHEMA, Verdict
from qifsql.commands.check.rule_levels import Comparison, levels_of_comparison, levels_of_rule
from qifsql.commands.check.spec import CheckArguments, QuestionOptions
from qifsql.commands.synthetic.synthetic import NOT_LINKED
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.files import path_text
from qifsql.data.option import as_names, is_given
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, InputError, quoted
from qifsql.results.assessment import MEASURES
from qifsql.results.result import Result
from qifsql.results.storage import Origin, digests
from qifsql.results.uncovered import IGNORED, OF_NOBODY
from qifsql.study import baseline as last
from qifsql.study import policy as policies
from qifsql.study import statements, table_rules
from qifsql.study.baseline import Baseline
from qifsql.study.policy import Policy
from qifsql.study.release_rules import MODEL
from qifsql.study.rules import backwards
from qifsql.study.shared_attacks import attack_options, shared_attacks

OF_WAYS = ("knows", "draws", "sizes", "subsets", "releases", "threshold", "search", "sample")
"""Options of attacks and sweeps that measure what a recipient may know."""
OPINION_PRESET = "wp216"  # of the opinion whose questions can be asked


@overload
def check(
    source: Source,
    policy: str | Path | Mapping[str, Any] | None = None,
    *,
    questions: Literal[False] = False,
    settings: Settings | None = None,
    **options: Unpack[CheckArguments],
) -> Verdict: ...


@overload
def check(
    source: Source,
    policy: str | Path | Mapping[str, Any] | None = None,
    *,
    questions: bool,
    settings: Settings | None = None,
    **options: Unpack[CheckArguments],
) -> Result: ...


def check(
    source: Source,
    policy: str | Path | Mapping[str, Any] | None = None,
    *,
    questions: bool = False,
    settings: Settings | None = None,
    **options: Unpack[CheckArguments],
) -> Result:
    """Check a release against the levels of a policy, or ask the questions of EU Opinion 05/2014.

    Options that are given win over those of the policy. Rules with model = "synthetic" compare a
    synthetic release with the people from whom it was made; where a measure has an interval, its
    worse end decides. Recipients of a policy bound the risk for what each may know and hold.

    With questions (preset wp216), answer the three questions of the opinion instead, without a
    verdict. Singling out is re-identification (CRS), inference the attack on each secret (CAS).
    Linkability needs a register or the key of a log; with neither it is the most that any
    register could link.

    Args:
        source: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. Several for longitudinal models.
        policy: Policy file (TOML): adversary, rules and the last release. Or its data, as in
            {"rule": [{"model": "crs", "measure": "worst_case", "at_most": 0.5}]}.
        questions: Answer singling out, linkability and inference (WP 216) instead of a verdict;
            threshold and the options after it are for these.

    Returns:
        A Verdict, true if the policy is met. frame: one row per level with measure, value, wanted
        and met. details: uncovered, the people whom columns without a rule would single out, and
        recipients, the risk of each with its verdict, where the policy names them. With
        questions a Result. frame: one row per question with counts, the measure, its value in
        [0, 1] and, with a threshold, the answer. details: attacks, register and unicity, where
        asked for.

    Raises:
        InputError: The policy or the baseline is wrong, or does not fit the data.
        EngineError: Memory or disk ran out.

    Example:
        >>> from pathlib import Path
        >>> rule = ["[[rule]]", "model = 'crs'", "measure = 'worst_case'", "at_most = 0.5"]
        >>> _ = Path("policy.toml").write_text(chr(10).join(rule))
        >>> bool(qifsql.check("data-samples/school_census_2018.parquet", "policy.toml",
        ...     qids="TP_SEXO,NU_ANO"))
        False

        >>> result = qifsql.check("data-samples/school_census_2018.parquet", preset="wp216",
        ...     questions=True, qids="NU_ANO,TP_SEXO", secret="TP_COR_RACA")
        >>> result.frame["question"].unique(maintain_order=True).to_list()
        ['singling_out', 'linkability', 'inference']

    Source: M29 (groups), M31 to M33 (risks), M75 (questions), M111 to M122 (synthetic releases),
    M218 (recipients); Article 29 Working Party, Opinion 05/2014 on anonymisation techniques.

    """
    adversary: dict[str, Any] = dict(options)
    preset = adversary.pop("preset", None)
    file = policy_file(policy, preset)
    if questions:
        if preset != OPINION_PRESET:
            raise InputError(
                f"the three questions are of the preset {OPINION_PRESET}; name it (--preset)"
            )
        return three_questions(source, adversary, settings=settings)
    for name in QuestionOptions.__annotations__:
        if is_given(adversary.pop(name, None)):
            raise InputError(f"{name} is about the three questions; ask them, or leave it out")
    files = {name: adversary.pop(name, None) for name in ("baseline", "statement")}
    refuse(adversary, "check", "gain", "thresholds", "quantiles")
    adversary["split"] = as_names(adversary.get("split"))
    return judge(policies.read(file, **adversary), source, **files, settings=settings)


def policy_file(
    policy: str | Path | Mapping[str, Any] | None, preset: str | None
) -> Path | Mapping[str, Any]:
    """Return the file of a policy or of a preset; InputError unless exactly one is named.

    The data of a policy are returned as they are.
    """
    if (policy is None) == (preset is None):
        what = "both a policy and a preset" if policy is not None else "no policy and no preset"
        raise InputError(
            f"there is {what}; name a policy file (--policy), or one of the presets "
            f"{', '.join(policies.presets())} (--preset)"
        )
    if preset is not None:
        return policies.preset(preset)
    return policy if isinstance(policy, Mapping) else Path(path_text(policy))


def judge(
    policy: Policy,
    source: Source,
    *,
    baseline: str | Path | None = None,
    statement: str | Path | None = None,
    settings: Settings | None = None,
) -> Verdict:
    """Return the verdict by a policy already read: a row per rule, model, secret and group.

    A row has the value that a rule is about, and whether it is within its bounds. Rules share as
    few attacks as possible; those about a synthetic release share comparisons with its original.
    Recipients add rows of their own. The origin records all that was asked and read.
    """
    origin = Origin.now(settings, "check")
    last_release = _read_baseline(policy, baseline)
    stated = None if statement is None else statements.read(statement)
    rows, results, compared = _measure_rules(policy, source, last_release, settings)
    assessments = recipient_levels.assess(policy, source, settings)
    for assessment in assessments:
        rows += recipient_levels.levels(policy, assessment)
    schema = SCHEMA | (READING if policy.adversary.get("person") else {})
    schema |= RECIPIENT if assessments else {}
    frame = pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
    results += recipient_levels.results(assessments)
    columns = _coverage(policy, source, results, compared, settings)
    # The origin of each number, and what was asked for it.
    answers = [(result.origin, _request(result.spec)) for result in results]
    answers += [(release.result.origin, release.origin_spec) for release in compared]
    origin = _combine_origins(origin, policy, last_release, answers, columns)
    details = {"uncovered": columns.frame, **_households(results)}
    notes = _notes(policy, rows, [*results, *(release.result for release in compared)])
    today = datetime.date.today()
    expired = [recipient.name for recipient in policy.recipients if recipient.has_expired(today)]
    if assessments:
        details["recipients"] = recipient_levels.summary(assessments, frame, today)
        notes += tuple(note for assessment in assessments for note in assessment.notes)
        described = [assessment.plain() for assessment in assessments]
        words = {"recipients": described, "expired": expired, "statement": dict(policy.statement)}
        origin = replace(origin, spec={**origin.spec, **words})
    if stated is not None:
        expired = list(dict.fromkeys([*expired, *stated.expired(today)]))
        changed = stated.changed(digests(origin.paths))
        origin = origin.reading((stated.file,))
        origin = replace(origin, spec={**origin.spec, "expired": expired, "changed": changed})
    return Verdict.of(frame, origin, notes, details)


def _measure_rules(
    policy: Policy, source: Source, last_release: Baseline | None, settings: Settings | None
) -> tuple[list[dict[str, Any]], list[Result], Sequence[Comparison]]:
    """Return the levels of all rules, in their order, and the attacks and comparisons they share.

    A rule about a synthetic release is measured by comparisons, one about tables by one attack with
    all that was published, any other one by attacks on the records.
    """
    levels: dict[tuple[int, Model | None], list[dict[str, Any]]] = {}  # by rule and model
    results = []
    for by, rules in shared_attacks(policy):
        models = list(dict.fromkeys(model for _, model in rules))
        needed = {rule.measure for rule, _ in rules}
        result = attack(
            [model.acronym for model in models],
            source,
            measures=[name for name, columns in MEASURES.items() if needed & columns.keys()],
            settings=settings,
            **attack_options(policy, models, by),
        )
        results.append(result)
        for rule, model in rules:
            levels[rule.number, model] = levels_of_rule(policy, rule, model, result, last_release)
    compared = (
        rule_levels.measure_comparisons(policy, source, settings) if policy.about(MODEL) else []
    )
    for release in compared:
        for rule in release.rules:  # about a synthetic release: of no model
            levels[rule.number, None] = levels_of_comparison(policy, rule, release, last_release)
    if of_tables := policy.about(table_rules.MODEL):
        result = table_levels.measure(policy, source, settings)
        results.append(result)
        for rule in of_tables:
            levels[rule.number, None] = table_levels.levels(policy, rule, result, last_release)
    rows = [
        row
        for rule in policy.rules
        for rule_model in rule.models or (None,)
        for row in levels[rule.number, rule_model]
    ]
    return rows, results, compared


def _request(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked, without options of how much a recipient knows or holds."""
    if "models" not in spec:
        return {"models": [], "secrets": [], "dataset": spec["dataset"], "qids": spec["qids"]}
    return {name: value for name, value in spec.items() if name not in OF_WAYS}


def _notes(
    policy: Policy, rows: Sequence[dict[str, Any]], results: Sequence[Result]
) -> tuple[str, ...]:
    """Return remarks on rules and on the rows of the verdict, then the notes of all ``results``."""
    reasons = {rule.number: backwards(rule.measure, rule.bounds) for rule in policy.rules}
    remarks = [f"rule {number}: {reason}" for number, reason in reasons.items() if reason]
    counted = "records" if any(r.spec.get("repeated") for r in results) else "people"
    remarks += [
        f"rule {row['rule']}: the value is that of the {counted} with a reported "
        f"{quoted(row['secret'])}, which is worse than with a missing one as a value"
        for row in rows
        if row.get("of_reported")
    ]
    notes = dict.fromkeys(note for result in results for note in result.notes)
    notes.pop(NOT_LINKED, None)  # rules about links name two sources
    return *remarks, *notes


def _households(results: Sequence[Result]) -> dict[str, pl.DataFrame]:
    """Return the risks of households, one row per model and secret; nothing without households."""
    tables = []
    for result in results:
        if "households" in result.details:
            attacks = result.frame.select("attack_id", "model", "secret")
            risks = result.details["households"]
            tables.append(attacks.join(risks, on="attack_id", maintain_order="left"))
    if not tables:
        return {}
    households = pl.concat(tables).unique(["model", "secret"], keep="first", maintain_order=True)
    return {"households": households.drop("attack_id")}


def _coverage(
    policy: Policy,
    source: Source,
    results: Sequence[Result],
    compared: Sequence[Comparison],
    settings: Settings | None,
) -> Coverage:
    """Return all columns of the file, and the people that its uncovered columns single out."""
    if table_levels.covers_all(policy):
        return table_levels.coverage(results[0].origin.columns)
    adversary = policy.adversary
    shared = ("key", "weight", "where", "null", "wave", "absent", "person")
    options: Any = {name: adversary[name] for name in shared if name in adversary}
    qids = adversary.get("qids") or tuple(adversary.get("target") or ())
    if any(recipient.holds for recipient in policy.recipients):  # an earlier release may have more
        qids = held_files.of_release(as_names(qids), source, settings)
    spec = Attack.of("crs", source, qids=qids, **options).fitting()
    groups = adversary.get("by")
    unmeasured = "" if results else OF_NOBODY  # the reason why nothing is measured
    try:
        return coverage.coverage(
            spec,
            [*(r.origin.columns for r in results), *(release.columns for release in compared)],
            secrets=as_names(adversary.get("secret")),
            groups=None if groups in (rule.by for rule in policy.rules) else groups,
            unmeasured=IGNORED if policy.unnamed == "ignore" else unmeasured,
            settings=settings,
        )
    except ColumnError:  # a quasi-identifier that the file lacks
        if "population" not in adversary and qids:
            raise
        return coverage.unattacked_columns(spec, settings)  # another file has the qids


def _read_baseline(policy: Policy, file: str | Path | None) -> Baseline | None:
    """Return the last release; InputError if a rule compares with it and it is missing."""
    if file is not None:
        return last.read(file)
    if policy.baseline is not None:
        try:
            return last.read(policy.baseline)
        except InputError as e:
            raise policy.lines.wrong(str(e), "baseline", "file") from e
    for rule in policy.rules:
        if rule.drifts:
            message = f"rule {rule.number} needs a baseline; name it in [baseline] or --baseline"
            raise policy.wrong(rule, message)
    return None


def _combine_origins(
    origin: Origin,
    policy: Policy,
    last_release: Baseline | None,
    answers: Sequence[tuple[Origin, Mapping[str, Any]]],
    columns: Coverage,
) -> Origin:
    """Return the origin of the verdict: ``answers`` (origin, request), policy and baseline."""
    origins, specs = [part for part, _ in answers], [options for _, options in answers]
    spec: dict[str, Any] = {}
    for options in reversed(specs):  # of an option that several name, the first counts
        spec |= options
    spec["models"] = list(dict.fromkeys(m for options in specs for m in options["models"]))
    spec["secrets"] = max((options["secrets"] for options in specs), key=len)  # some have none
    spec |= {"policy": str(policy.file), "baseline": last_release.name if last_release else None}
    spec |= {"unnamed": policy.unnamed, "unit": policy.unit}
    if "known_records" in policy.adversary:
        spec["known_records"] = policy.adversary["known_records"]
    spec["rules"] = [
        {
            "models": [model.acronym for model in rule.models] or [rule.kind],
            "measure": rule.measure,
            "secrets": list(rule.secrets),
            "by": rule.by,
            "wanted": rule.limits,
            "attempt": rule.chance,
        }
        for rule in policy.rules
    ]
    paths = [path for part in origins for path in part.paths]
    paths += [str(policy.file)] if policy.lines.file else []  # of data in Python there is none
    paths += last_release.files if last_release else ()
    plans = [*(plan for part in origins for plan in part.plans), *columns.plans]
    statements = [statement for part in origins for statement in part.statements]
    verdict_origin = origin.about(spec, tuple(dict.fromkeys(paths)), *plans).sending(statements)
    return verdict_origin.listing(columns.columns)


def rehearse(source: Source, policy: Policy, settings: Settings | None = None) -> None:
    """Look up every name of a policy in the data, without attacking; InputError if wrong."""
    names_taken = ("person", "household", *Options.__annotations__)
    for model, by in dict.fromkeys((m, rule.by) for rule in policy.rules for m in rule.models):
        options = attack_options(policy, [model], by)
        people = options.pop("population", None)
        options = {name: value for name, value in options.items() if name in names_taken}
        spec = Attack.of(model.acronym, source, **options)
        if people is not None and spec.of_membership:
            spec = spec.among(people)
        with opened(spec, settings, joined=False, noted=False, command="check"):
            pass
    recipient_levels.look_up(policy, source, settings)
    for kind, room in ((MODEL, rule_levels), (table_rules.MODEL, table_levels)):
        if policy.about(kind):
            room.rehearse(policy, source, settings)
