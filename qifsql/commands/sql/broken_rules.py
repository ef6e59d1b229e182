"""The SQL of a policy: one SELECT per rule, whose rows are what breaks it.

Rules are read by the reader of ``check``, and each is counted by the steps of the attack that
``check`` runs for it. What one SELECT cannot answer is refused by name: a rule that is missing in
the SQL must not seem to be met.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlglot import exp

from qifsql.adversary import roles
from qifsql.adversary.models import MODELS, Model
from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, ColumnRoles
from qifsql.counting import suppressed
from qifsql.counting.session import opened
from qifsql.data.collection import Collection, Source
from qifsql.data.dataset import Dataset, datasets
from qifsql.data.expressions import SOURCE
from qifsql.data.option import as_names, bare_name
from qifsql.data.readers import relation
from qifsql.data.topics import numbers_people
from qifsql.data.types import family
from qifsql.engine.decoding import public_sql
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, printable, quoted
from qifsql.query import microdata_steps, suppression
from qifsql.query.columns import named, number, union
from qifsql.query.compiler import numbers
from qifsql.query.plan import Plan, Step
from qifsql.query.render import DUCKDB
from qifsql.query.splice import make_step, splice
from qifsql.query.steps import Steps
from qifsql.query.warehouses import DIALECTS, INTEGERS, PLAIN, Warehouse, table_parts
from qifsql.study.policy import Policy
from qifsql.study.recipients import Recipient
from qifsql.study.rules import RELATIVE_ERROR, Rule
from qifsql.study.rules import named as named_secrets
from qifsql.study.shared_attacks import attack_options, shared_attacks

RISK_MEASURES = {"maximum": "worst_case", "average": "posterior_probabilistic"}
ANSWERED = ("crs", "cas", "cms")
UNFIT = ("prior", "population", "wave", "original", "control", "split")
"""Options of an adversary that need more than one table, or files."""
LEAST = {"k": "small_blocks", "l": "uniform_blocks"}  # measures of the least block
WORST = ("worst_case", "prosecutor_risk")  # of the block at most risk
TOTALS = {  # measures of everybody: a view, and the columns of totals whose fraction it is
    "blocks": ("share", "blocks", ""),
    "singled_out": ("share", "singled_out", ""),
    "individuals_certain": ("share", "certain", ""),
    "prior_deterministic": ("share", "certain_weight", "weight"),
    "prior_probabilistic": ("share", "guessed", "weight"),
    "posterior_deterministic": ("share", "certain_weight", "weight"),
    "posterior_probabilistic": ("share", "guessed", "weight"),
    "degradation_deterministic": ("increase", "certain_weight", "weight"),
    "leakage_additive": ("increase", "guessed", "weight"),
    "degradation_probabilistic": ("factor", "guessed", ""),
    "min_entropy_leakage": ("factor", "guessed", ""),
    "marketer_risk": ("share", "blocks", "people"),
}
GROUPS = {  # the same within groups
    "individuals": ("group_share", "people", ""),
    "singled_out": ("group_share", "singled_out", ""),
    "individuals_certain": ("group_share", "certain", ""),
    "posterior_deterministic": ("group_share", "certain_weight", "weight"),
    "posterior_probabilistic": ("group_success", "", ""),
    "degradation_probabilistic": ("group_factor", "", ""),
}
ROUNDED_DOWN = ("group_success", "group_factor")
PRECISION = 60  # digits of a power of two
DENOMINATOR = 10**6  # of a limit such as 0.3333333333333333
IN_CHECK = "qifsql check measures it"


@dataclass(frozen=True)
class Statement:
    """One SELECT, with a title that says what its rows are."""

    title: str
    plan: Plan


@dataclass
class Script:
    """The statements of a policy on one file, and the roles that its columns have in them."""

    policy: Policy
    source: Source
    settings: Settings
    statements: list[Statement] = field(default_factory=list)
    columns: list[ColumnRoles] = field(default_factory=list)
    bound: BoundAttack | None = None

    def add_rules(self) -> None:
        """Add the statements of all rules, and before them those on the records themselves."""
        policies = self._answered_policies()
        by_rule: dict[int, list[Statement]] = {}
        attacks = [(policy, *shared) for policy in policies for shared in shared_attacks(policy)]
        for policy, by, answered in attacks:
            models = list(dict.fromkeys(model for _, model in answered))
            options = attack_options(policy, models, by)
            options.pop("household", None)  # no rule is about it
            taken = {n: v for n, v in options.items() if n in Options.__annotations__}
            spec = Attack.of([m.acronym for m in models], self.source, person=None, **taken)
            with opened(spec, self.settings, joined=False, noted=False) as (_, bound):
                self._note_columns(bound)
                for rule in {(r.number, r.measure): r for r, _ in answered}.values():
                    of_rule = [model for listed, model in answered if listed is rule]
                    statement = _statement(policy, rule, of_rule, bound)
                    by_rule.setdefault(rule.number, []).append(statement)
                for guard in _guards(bound, self.policy):
                    if all(guard.title != statement.title for statement in self.statements):
                        self.statements.append(guard)
        for rule_number in sorted(by_rule):
            self.statements += by_rule[rule_number]
        limited = [r for r in self.policy.recipients if r.until is not None]
        self.statements += map(_expiry, limited)
        self._add_columns()

    def _answered_policies(self) -> list[Policy]:
        """Return the policy, and one for each recipient; InputError names what has no SELECT."""
        refused = {r.number: _reason_refused(r, self.policy) for r in self.policy.rules}
        policies = [self.policy]
        for recipient in self.policy.recipients:
            policies.append(_of_recipient(self.policy, recipient))
            for rule in policies[-1].rules:
                refused[rule.number] = _reason_refused(rule, policies[-1])
                if not recipient.is_sure or recipient.holds:
                    name = quoted(recipient.name)
                    refused[rule.number] = f"recipient {name}: chances, laws and held files"
        if reasons := [refused[number] for number in sorted(refused) if refused[number]]:
            raise InputError(
                f"no SELECT answers {'; '.join(reasons)}; {IN_CHECK}, and a policy without it has "
                "SQL"
            )
        return policies

    def _note_columns(self, bound: BoundAttack) -> None:
        """Merge the roles that the columns have in an attack into those of the others."""
        microdata = bound.microdata
        for attribute in (*microdata.qids, *microdata.secrets, *filter(None, [microdata.by])):
            if family(attribute.type) not in PLAIN:
                raise InputError(
                    f"{quoted(attribute.name)} is of type {family(attribute.type)}, which is not "
                    f"compared alike in all warehouses; {IN_CHECK}"
                )
        if microdata.weight is not None and family(microdata.weight.type) not in INTEGERS:
            raise InputError(
                f"weight {quoted(microdata.weight.name)} is not a whole number; {IN_CHECK}"
            )
        self.bound = bound
        former = self.columns or bound.microdata.columns
        self.columns = roles.merged_roles(former, bound.microdata.columns)

    def _add_columns(self) -> None:
        """Add the statement of the columns that no rule covers, as constants."""
        refuses = self.policy.unnamed == "refuse"
        secrets = as_names(self.policy.adversary.get("secret"))
        rows = []
        for column in self.columns:
            breaks = refuses and not column.covered
            if breaks or not (roles.SETTLED & set(column.roles) or column.name in secrets):
                rows.append((column.name, column.role, "yes" if breaks else "no"))
        texts = [map(exp.Literal.string, row) for row in rows or [("", "", "")]]
        names = ("column_name", "role", "breaks")
        queries = [exp.select(*named(list(zip(row, names, strict=True)))) for row in texts]
        query = union(queries if rows else [queries[0].where("1 = 0")])
        title = "Columns that no rule covers"
        title += ": each breaks the policy" if refuses else ", which do not break the policy"
        self.statements.append(Statement(title, Plan((), query)))


def script(
    policy: Policy, source: Source, dialect: str, table: str | None, *, settings: Settings
) -> str:
    """Return the statements of a policy for a warehouse, as text.

    The file has the names and types of the columns of the ``table`` (default: its own name); in
    DuckDB without a table the file itself is read. InputError names each rule that has no SELECT.
    """
    if dialect not in DIALECTS:
        raise InputError(f"there is no SQL for {quoted(dialect)}; use {', '.join(DIALECTS)}")
    if isinstance(source, Collection) or len(datasets(source)) != 1:
        raise InputError("the SQL of a policy reads one table; name one file")
    (file,) = datasets(source)
    statements = Script(policy, file, settings.of_duckdb)  # it is not run
    statements.add_rules()
    assert statements.bound is not None  # noqa: S101 - a policy has a rule
    data = statements.bound.microdata.dataset
    assert isinstance(data, Dataset)  # noqa: S101 - it is one file
    named_table = table is not None or dialect != DUCKDB
    if named_table and data.missing:
        raise InputError("the cells of a table that are missing are NULL there; leave --na out")
    name = table_parts(table) if table else [file.table or Path(file.name).stem.split(".")[0]]
    attributes = [c.attribute for c in statements.columns if c.attribute is not None]
    warehouse = Warehouse(
        dialect=dialect,
        table=name if named_table else None,
        names={a.expression.name: a.name for a in attributes},
        types={a.expression.name: a.type for a in attributes},
    )
    lines = [f"-- {printable(str(policy.file.name))} for {dialect}: each row of a SELECT is what"]
    lines.append("-- breaks the rule above it. A policy is met where no SELECT has a row, but the")
    lines.append("-- last one, which says what it does.")
    setup = dict.fromkeys(text for s in statements.statements for text in s.plan.setup)
    lines += [f"{text};" for text in setup] if not named_table else []
    for statement in statements.statements:
        lines += ["", f"-- {printable(statement.title)}."]
        lines.append(f"{warehouse.statement(statement.plan)};")
    return public_sql("\n".join([*lines, ""]))


def _of_recipient(policy: Policy, recipient: Recipient) -> Policy:
    """Return the policy whose rules bound the risks of a recipient, who surely knows some columns.

    ``maximum`` is that of the block at most risk, ``average`` the share of right guesses (M218).
    """
    defined = {bare_name(text): text for text in as_names(policy.adversary.get("qids"))}
    secrets = as_names(policy.adversary.get("secret"))
    adversary = {**policy.adversary, "qids": [defined.get(q, q) for q in recipient.qids]}
    adversary.pop("by", None)
    rules = tuple(
        Rule(
            number=len(policy.rules) + recipient.number,
            models=tuple(MODELS[name] for name in (("crs", "cas") if secrets else ("crs",))),
            measure=RISK_MEASURES[risk],
            bounds={"at_most": limit},
            attempt=recipient.attempt,
        )
        for risk, limit in recipient.limits.items()
    )
    return replace(policy, adversary=adversary, rules=rules, recipients=())


def _expiry(recipient: Recipient) -> Statement:
    """Return the statement of the day after which the assessment of a recipient holds no longer."""
    until = exp.Literal.string(str(recipient.until))
    query = exp.select(exp.alias_(until, "until", quoted=True))
    expired = exp.GT(this=exp.CurrentDate(), expression=exp.cast(until.copy(), "DATE"))
    title = f"The assessment of recipient {quoted(recipient.name)}: a row if it has expired"
    return Statement(title, Plan((), query.where(expired)))


def _reason_refused(rule: Rule, policy: Policy) -> str:
    """Return why no single SELECT answers a rule; empty if one does."""
    adversary, about = policy.adversary, f"rule {rule.number} ({rule.measure})"
    models = [m.acronym for m in rule.models if m.acronym not in ANSWERED]
    unfit = [name for name in UNFIT if adversary.get(name)]
    if rule.kind:
        return f"{about}: rules about {rule.kind} compare files"
    if models:
        return f"{about}: the model {models[0]} needs other files, or one person"
    if rule.drifts:
        return f"{about}: rise_at_most and fall_at_most compare with a stored result"
    if unfit:
        return f"{about}: {unfit[0]} of the adversary is another file"
    if adversary.get("person"):
        return f"{about}: person, as people have sets of records"
    if adversary.get("null", "distinct") not in ("distinct", "drop"):
        return f'{about}: null = "match-any" has two bounds'
    if rule.by is not None and rule.measure not in (*GROUPS, "worst_case"):
        return f"{about}: it is no fraction of counts of a group"
    if rule.by is None and rule.measure not in (*LEAST, *WORST, *TOTALS):
        return f"{about}: it is no fraction of counts"
    view = GROUPS.get(rule.measure, ("",))[0] if rule.by is not None else ""
    if (rule.measure in WORST or view in ROUNDED_DOWN) and set(rule.bounds) != {"at_most"}:
        return f"{about}: no block breaks at_least"
    if rule.measure in LEAST and set(rule.bounds) != {"at_least"}:
        return f"{about}: no block breaks at_most"
    if rule.measure in ("prosecutor_risk", "marketer_risk") and adversary.get("weight"):
        return f"{about}: it counts people, not weights"
    return ""


def _limit(rule: Rule, name: str) -> Fraction:
    """Return a bound of a rule as a fraction: of the measure before an attempt.

    A decimal that is a fraction with a small denominator within the error that ``check`` allows,
    as 0.3333333333333333 is, becomes this fraction.
    """
    exact = Fraction(repr(rule.bounds[name]))
    if rule.chance is not None:
        exact /= Fraction(repr(rule.chance))
    if rule.measure == "min_entropy_leakage":
        with localcontext(prec=PRECISION):
            power = Decimal(2) ** (Decimal(exact.numerator) / Decimal(exact.denominator))
        return Fraction(power).limit_denominator(10**12)
    simple = exact.limit_denominator(DENOMINATOR)
    return simple if abs(simple - exact) <= RELATIVE_ERROR * abs(exact) else exact


def _fraction(limit: Fraction) -> dict[str, int]:
    return {"upper": limit.numerator, "lower": limit.denominator}


def _statement(
    policy: Policy, rule: Rule, models: Sequence[Model], bound: BoundAttack
) -> Statement:
    """Return the SELECT of a rule about these models: rows of blocks, of groups, or one."""
    steps = Steps(bound)
    queries: list[exp.Query] = []
    secrets = [secret.name for secret in bound.microdata.secrets]
    for model in models:
        for j in numbers(bound.microdata, model):
            requested = [n for text in rule.secrets for n in named_secrets(text, secrets)]
            if rule.secrets and j and secrets[j - 1] not in requested:
                continue
            queries += _queries(steps, rule, model, j)
    if not queries:
        message = "secret is not asked for; name it in [adversary]"
        raise policy.wrong(rule, message, "secret")
    acronyms = ", ".join(model.acronym for model in models)
    within = "" if rule.by is None else f", in each group of {quoted(rule.by)}"
    title = f"Rule {rule.number}: {rule.measure} {rule.limits} ({acronyms}){within}"
    if rule.measure in (*LEAST, *WORST) and rule.by is None:
        title += "; a row is a block that breaks it"
    elif rule.by is not None:
        title += "; a row is a group that breaks it"
    else:
        title += "; a row has the numerator and the denominator"
    return Statement(title, steps.plan(union(queries)))


def _queries(steps: Steps, rule: Rule, model: Model, j: int) -> Iterator[exp.Query]:
    """Yield the rows that break a rule about a secret (0: the owner), in each reading of it.

    They are about everybody and, if somebody misses the secret, about those who report it.
    """
    bound = steps.attack
    yield from _of_reading(steps, rule, model, j, reported=False)
    if not j or bound.member or rule.by is not None or rule.measure in LEAST:
        return
    for query in _of_reading(steps, rule, model, j, reported=True):
        name = f"missed_{j}"
        steps.push(make_step("check/missed", name, secret=j))
        yield query.join(exp.to_table(name), join_type="cross")


def _of_reading(
    steps: Steps, rule: Rule, model: Model, j: int, *, reported: bool
) -> Iterator[exp.Select]:
    """Yield the rows that break a rule about a secret, of everybody or of those who report it."""
    microdata = steps.attack.microdata
    secret = exp.Literal.string(microdata.secrets[j - 1].name) if j else exp.null()
    about: list[tuple[exp.Expr, str]] = [
        (number(rule.number), "rule"),
        (exp.Literal.string(model.acronym), "model"),
        (exp.cast(secret, "VARCHAR"), "secret"),
        (exp.Literal.string("reported" if reported else "all"), "reading"),
    ]
    for name in rule.bounds:
        step, columns = _step(steps, rule, name, j, reported=reported)
        steps.push(step)
        listed = list(about)
        if rule.by is not None and microdata.by is not None:
            listed.append((exp.column("member_of", step.name), microdata.by.name))
        elif "qid" in columns:
            qids = enumerate(microdata.qids, 1)
            listed += [(exp.column(f"qid_{i}", step.name), qid.name) for i, qid in qids]
        counted = [column for column in columns if column not in ("qid", "member_of")]
        listed += [(exp.column(column, step.name), column) for column in counted]
        limit = Fraction(_required(rule)) if rule.measure in LEAST else _limit(rule, name)
        listed.append((number(limit.numerator), "limit_numerator"))
        listed.append((number(limit.denominator), "limit_denominator"))
        yield exp.select(*named(listed)).from_(exp.to_table(step.name))


def _required(rule: Rule) -> int:
    """Return the least whole number that meets a bound."""
    return math.ceil(_limit(rule, "at_least"))


def _step(
    steps: Steps, rule: Rule, bound_name: str, j: int, *, reported: bool
) -> tuple[Step, Sequence[str]]:
    """Return the step of the rows that break a bound of a rule, and its columns."""
    width = steps.attack.microdata.width
    blocks = steps.need("blocks", j, reported=reported)
    name = f"broken_{rule.number}_{bound_name}_{blocks}"
    columns = {"guessed": "mode" if j else "heaviest", "lone": "values" if j else "size"}
    if rule.measure in LEAST:
        view = LEAST[rule.measure]
        cells = steps.need("cells", j) if rule.measure == "l" else blocks
        tables = {"cells": cells, "blocks": blocks}
        required = {"required": _required(rule)}
        step = make_step(
            f"check/{view}", name, width=width, secret=j or None, tables=tables, numbers=required
        )
        more = ("values", "reported") if rule.measure == "l" else ()
        return step, ("qid", "size", *more)
    limit = _fraction(_limit(rule, bound_name))
    members = steps.need("members", j) if rule.by is not None else ""
    if rule.measure in WORST:
        view = "exposed_groups" if rule.by is not None else "exposed_blocks"
        step = make_step(
            f"check/{view}",
            name,
            width=width,
            tables={"blocks": blocks, "members": members or "members"},
            columns=columns,
            numbers=limit,
        )
        if rule.by is not None:
            return step, ("member_of", "people")
        return step, ("qid", "size", "numerator", "denominator")
    measured = _measured(steps, rule, j, reported=reported, members=members)
    side = "above" if bound_name == "at_most" else "below"
    step = make_step(f"check/{side}", name, tables={"measured": measured}, numbers=limit)
    group = ("member_of",) if rule.by is not None else ()
    return step, (*group, "numerator", "denominator")


def _measured(steps: Steps, rule: Rule, j: int, *, reported: bool, members: str) -> str:
    """Add the step of what a rule bounds, as a fraction for everybody or each group; its name."""
    columns = {"guessed": "mode" if j else "heaviest", "lone": "values" if j else "size"}

    def totals(*, prior: bool) -> str:
        """Add the step of all blocks together, with or without the release; return its name."""
        blocks = steps.need("blocks", j, prior=prior, reported=reported)
        filling: dict[str, Any] = {"tables": {"blocks": blocks}, "columns": columns}
        return steps.push(make_step("check/totals", f"totals_of_{blocks}", **filling))

    view, part, total = (GROUPS if rule.by is not None else TOTALS)[rule.measure]
    tables = {}
    if rule.by is not None:
        blocks = steps.need("blocks", j)
        step = make_step(
            "check/group_totals",
            f"totals_of_{members}",
            width=steps.attack.microdata.width,
            tables={"members": members, "blocks": blocks},
            columns=columns,
        )
        tables["group_totals"] = steps.push(step)
    else:
        tables["totals"] = totals(prior=rule.measure.startswith("prior"))
    if view in ("increase", "factor", "group_factor"):
        tables["prior_totals"] = totals(prior=True)
    name = f"measured_{next(iter(tables.values()))}"
    parts = {"part": part, "whole": total} if total else {"part": part}
    filling: dict[str, Any] = {"columns": {k: v for k, v in parts.items() if v}}
    filling["numbers"] = {} if total else {"whole": 1}
    return steps.push(make_step(f"check/{view}", name, tables=tables, **filling))


def _guards(bound: BoundAttack, policy: Policy) -> Iterator[Statement]:
    """Yield statements on the records, without which no row would say nothing."""
    microdata = bound.microdata

    def guard(title: str, view: str, tables: Mapping[str, str] | None = None) -> Statement:
        steps = Steps(bound)
        steps.need("microdata")
        query = splice(f"check/{view}", tables=tables)
        if view == "suppressed_records":
            (hidden,) = [c for c in query.find_all(exp.Column) if c.name == "hidden"]
            hidden.replace(suppression.is_hidden(microdata))
        return Statement(title, steps.plan(query))

    yield guard("The records: a row if there is none, and no rule can be judged", "no_people")
    if suppressed.condition(microdata) is not None:
        title = "Suppressed records (* in every quasi-identifier): rules take * for a value"
        yield guard(title, "suppressed_records")
    if microdata.weight is not None:
        yield _unusable_weights(bound, microdata.weight)
    if not policy.unit:
        yield from _several_records(bound)


def _unusable_weights(bound: BoundAttack, weight: Attribute) -> Statement:
    column = exp.alias_(weight.expression.copy(), "weight")
    rows = Step("weights", "One row per record.", _records(bound, [column]))
    query = splice("check/unusable_weights")
    title = f"Weights {quoted(weight.name)} that are missing or negative"
    return Statement(title, microdata_steps.plan(bound.microdata, [rows], query))


def _several_records(bound: BoundAttack) -> Iterator[Statement]:
    """Yield a statement for each column that may number people: some have several records."""
    microdata = bound.microdata
    key = microdata.key.expression.name if microdata.key is not None else None
    for column in microdata.columns:
        attribute = column.attribute
        if attribute is None or family(attribute.type) not in PLAIN:
            continue
        is_key = attribute.expression.name == key
        if not is_key and not numbers_people(column.name):
            continue
        rows = _records(bound, [exp.alias_(microdata_steps.normal(attribute), "person")])
        query = splice("check/several_records", numbers={"is_key": int(is_key)})
        title = f"People of {quoted(column.name)} who have several records"
        title += ': count people (person), or accept records (unit = "records")'
        plan = microdata_steps.plan(microdata, [Step("numbered", "", rows)], query)
        yield Statement(title, plan)


def _records(bound: BoundAttack, columns: Sequence[exp.Expr]) -> exp.Select:
    """Return the query of columns of all records that pass the filter."""
    microdata = bound.microdata
    rows = exp.alias_(relation(microdata.dataset), SOURCE, table=True)
    query = exp.select(*columns).from_(rows)
    return query if microdata.where is None else query.where(exp.paren(microdata.where.copy()))
