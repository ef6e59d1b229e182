"""The one generated step: ``microdata``, a row per individual with names chosen by qifsql.

They are ``qid_1 .. qid_k``, ``secret_1 ..`` and, if people have weights, ``weight``. The user's
names and expressions occur only here, so no name of a column can break other steps or inject SQL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from sqlglot import exp

from qifsql.adversary.spec import Attribute, BoundAttack, Microdata
from qifsql.data.collection import ABSENT
from qifsql.data.expressions import SOURCE, filled, source_columns, with_one_missing
from qifsql.data.readers import openings, relation
from qifsql.query import suppression
from qifsql.query.columns import fold, number
from qifsql.query.plan import Plan, Step
from qifsql.query.render import parsed
from qifsql.query.splice import make_step

RECORD = "record"  # the position of a record in the input, from 1
PERSONS = "persons"  # one row per person, with her secrets
KNOWN_KINDS = "known_kinds"  # one row per kind of block of equal records, of which one is known
COUNT_WEIGHTS = """
    SELECT
        count(*) AS records,
        count(*) FILTER (weight IS NULL OR weight < 0 OR NOT is_finite) AS unusable,
        min(weight) FILTER (weight > 0) AS least,
        max(weight) AS most
    FROM weights
"""


def steps(microdata: Microdata, *, key: bool = False) -> list[Step]:
    """Return the generated step: one row per individual, with names chosen by qifsql.

    NaN becomes NULL and -0.0 becomes 0.0. Weights become exact numbers: floating weights are
    multiplied by a power of two that makes all of them whole. ``key`` is added on request. If
    people have sets of records, a step of the records comes first.
    """
    columns = [
        exp.alias_(normal(a), f"{role}_{i}")
        for role, attributes in (("qid", microdata.qids), ("secret", microdata.secrets))
        for i, a in enumerate(attributes, 1)
    ]
    steps: list[Step] = []
    if microdata.weight is not None:
        if microdata.weight.floating:
            steps.append(_weight_scale(microdata, microdata.weight.expression))
        columns.append(exp.alias_(_whole_weight(microdata.weight), "weight"))
    by_name = {
        "key": microdata.key if key else None,
        "member_of": microdata.by,
        "household": microdata.household,
        "person": microdata.person,
    }
    columns += [exp.alias_(normal(a), name) for name, a in by_name.items() if a is not None]
    if microdata.person is not None:
        columns.append(exp.alias_(exp.Window(this=exp.RowNumber()), RECORD))
    query = _from_source(microdata, columns, people=True)
    if microdata.person is None:
        return [*steps, Step("microdata", "One row per individual.", query)]
    doc = "One row per record: its person, what the adversary knows of it, its secrets."
    steps.append(Step("records", doc, query))
    qids, secrets = len(microdata.qids), len(microdata.secrets)
    knows_all = microdata.known_records == "all"  # records of a person, or one of them
    if microdata.numbered:
        return [*steps, *_people_by_numbers(qids, secrets, microdata.reported, knows_all)]
    housed = microdata.household is not None
    return [*steps, *_people_by_values(qids, secrets, microdata.reported, knows_all, housed)]


@lru_cache(maxsize=64)
def _people_by_values(
    qids: int, secrets: int, reported: bool, knows_all: bool, housed: bool
) -> Sequence[Step]:
    """Return the steps that make individuals (``microdata``) of people's ``records``.

    If the adversary ``knows_all`` records, an individual is a person with a multiset of records;
    else each different record of a person is one, and ``persons`` has the people. ``qids`` and
    ``secrets`` are numbers of columns. Further columns are, if ``reported``, multisets without
    missing secrets, and, if ``housed``, the household.
    """
    of_secrets: Mapping[str, int] = {"secrets": secrets, "reported": reported}
    if knows_all:
        shape = {"qids": qids, **of_secrets, "housed": housed}
        return (make_step("people/known_by_all", "microdata", shape=shape),)
    shape = {"qids": qids, "secrets": secrets}
    return (
        make_step("people/persons", PERSONS, shape=of_secrets),
        make_step("people/known_by_one", "microdata", shape=shape),
    )


@lru_cache(maxsize=64)
def _people_by_numbers(qids: int, secrets: int, reported: bool, knows_all: bool) -> Sequence[Step]:
    """Return the steps that make individuals of records, with lists of numbers of values.

    Only people with several records get lists, because these are slow to make and to compare. Their
    combinations of quasi-identifiers (``tuples``) and their values of secrets are numbered, and the
    multisets of a person are sorted lists of these numbers. ``knows_all``: an individual is a
    person with all her records; else each different record of a person is one.
    """
    of_secrets: Mapping[str, int] = {"secrets": secrets}
    shape: Mapping[str, int] = {**of_secrets, "qids": qids}
    records: Mapping[str, int] = {**shape, "reported": reported}
    numbers = range(1, secrets + 1)
    steps = [
        make_step("people/several"),  # people with several records
        make_step("people/of_several", shape=shape),  # their records
        make_step("people/different", shape={"qids": qids}),  # each different one, with its number
        make_step("people/tuples", shape={"qids": qids}, materialized=True),
        *(make_step("people/secret_numbers", f"secret_numbers_{j}", secret=j) for j in numbers),
        make_step("people/gathered", shape=records),  # the multisets of each of these people
        *(  # the different multisets of a secret, numbered
            make_step(
                "people/secret_sets",
                f"secret_sets_{j}",
                secret=j,
                tables={"secret_numbers": f"secret_numbers_{j}"},
            )
            for j in numbers
        ),
        make_step("people/sets", shape=of_secrets),  # each of these people, by such numbers
        make_step("people/singles", shape=records),  # people with one record
        make_step("people/numbers_of_all", PERSONS, shape=shape),  # both together
    ]
    if knows_all:
        return (*steps, Step("microdata", steps[-1].doc, exp.select("*").from_(PERSONS)))
    return (
        *steps,
        make_step("people/numbers_of_one", "microdata", shape=shape),
        make_step("people/known_kinds", KNOWN_KINDS, shape={"qids": qids}),
    )


def sizes_by_kinds(microdata: Microdata) -> list[Step]:
    """Return the steps of sizes of blocks for re-identification, read from ``KNOWN_KINDS``.

    That table has already counted the people of each block, if one record is known and if all are.
    The steps have the names of the views that would count the blocks again.
    """
    if microdata.known_records == "all":
        return [
            make_step("people/sizes_of_sets", "profile_0"),
            make_step("people/everybody_of_sets", "prior_blocks_0"),
        ]
    return [
        make_step("people/known_sizes", "known_profile_0"),
        make_step("people/known_alone", "known_certain_0"),
    ]


def lasting_steps(microdata: Microdata) -> list[str]:
    """Return the steps that make individuals of several records, and are kept as tables, in order.

    They take longer to make than to count. Attacks on people of whom one record is known, and all,
    read the same tables except ``microdata``.
    """
    if microdata.person is None:
        return []
    if microdata.numbered:
        sets = [f"secret_sets_{j}" for j in range(1, len(microdata.secrets) + 1)]
        singles = ["singles"] if len(sets) > 1 else []  # which join them all
        return ["several", "of_several", "different", "tuples", "gathered", *sets, "sets", *singles]
    return [PERSONS, "microdata"] if microdata.known_records == "one" else ["microdata"]


def everybody(microdata: Microdata, more: Mapping[str, Attribute] | None = None) -> Step:
    """Return the step of one row per record, including weight 0 (``counts`` is then false).

    It has the columns ``more`` besides.
    """
    conditions = [microdata.where.copy()] if microdata.where is not None else []
    conditions += nothing_missing(microdata) if microdata.null == "drop" else []
    # Numbered before the filter: positions are those of the input.
    columns: dict[str, exp.Expr] = {RECORD: exp.Window(this=exp.RowNumber())}
    for i, qid in enumerate(microdata.qids, 1):
        columns[f"qid_{i}"] = _on_filtered(microdata, qid)
    if microdata.key:
        columns["key"] = normal(microdata.key)
    if microdata.household:
        columns["household"] = _on_filtered(microdata, microdata.household)
    columns |= {
        name: _on_filtered(microdata, attribute) for name, attribute in (more or {}).items()
    }
    columns["counts"] = exp.true() if microdata.weight is None else _weighs(microdata.weight)
    columns["kept"] = exp.and_(*conditions) if conditions else exp.true()
    trees = [exp.alias_(tree, name) for name, tree in columns.items()]
    numbered = _from_source(microdata, trees, filtered=False)
    query = exp.select("*").from_(numbered.subquery("numbered")).where("kept")
    return Step("everybody", "One row per record, by its position in the input.", query)


def _on_filtered(microdata: Microdata, attribute: Attribute) -> exp.Expr:
    """Return the attribute on records that the filter keeps: it may fail on the others."""
    tree = normal(attribute)
    if microdata.where is None or isinstance(attribute.expression, exp.Column):
        return tree
    return exp.Case().when(microdata.where.copy(), tree)


def normal(attribute: Attribute) -> exp.Expr:
    """Return the attribute with one missing value (NaN becomes NULL) and one zero.

    If absent people are distinguished from missing values, the value of a person who is present
    becomes a list of one element.
    """
    value = _with_one_nan(attribute)
    if attribute.there is None:
        return value
    return exp.Case().when(attribute.there.copy(), exp.Array(expressions=[value]))


def twice_where_reported(secret: Attribute) -> Attribute:
    """Return a secret of 0 and 1, in two rows, for records that report it; NULL for the others.

    So a block has one value of it only if nobody in it reports the secret.
    """
    is_missing = exp.paren(normal(secret)).is_(exp.null())
    two_values = exp.Array(expressions=[number(0), number(1)])
    values = exp.Case().when(is_missing, exp.Array(expressions=[exp.null()])).else_(two_values)
    return Attribute(secret.name, exp.Explode(this=values), "INTEGER")


def _with_one_nan(attribute: Attribute) -> exp.Expr:
    tree = attribute.expression.copy()
    return with_one_missing(tree) if attribute.floating else tree


def _weighs(weight: Attribute) -> exp.Expr:
    """Return the condition that the weight of a record is above 0."""
    return exp.GT(this=_in_brackets(weight.expression.copy()), expression=exp.Literal.number(0))


def _in_brackets(tree: exp.Expr) -> exp.Expr:
    return tree if isinstance(tree, exp.Column) else exp.paren(tree, copy=False)


def _whole_weight(weight: Attribute) -> exp.Expr:
    """Return a weight as a whole number: floating ones scaled, decimals by their digits."""
    value = weight.expression.copy()
    if weight.floating:
        scale = exp.select("scale").from_("weight_scale").subquery()
        value = exp.Mul(this=exp.cast(_in_brackets(value), "DOUBLE"), expression=scale)
    if weight.type.startswith("DECIMAL"):  # without the point
        value = exp.func("replace", exp.cast(value, "VARCHAR"), *map(exp.Literal.string, (".", "")))
    return exp.cast(value, "HUGEINT")


def _weight_scale(microdata: Microdata, weight: exp.Expr) -> Step:
    """Return the step of the power of two with which the smallest weight keeps its 53 bits."""
    log = exp.Anonymous(this="log2", expressions=[exp.Min(this=weight.copy())])
    power = exp.Sub(this=exp.Literal.number(53), expression=exp.func("floor", log))
    scale = exp.alias_(exp.func("pow", exp.Literal.number("2.0"), power), "scale")
    query = _from_source(microdata, [scale], people=True)
    doc = "One row: the power of two that makes every weight a whole number."
    return Step("weight_scale", doc, query, materialized=True)


def _from_source(
    microdata: Microdata,
    columns: Sequence[exp.Expr],
    *,
    people: bool = False,
    filtered: bool = True,
) -> exp.Select:
    """Return a SELECT from the dataset with the user's filter.

    ``people`` keeps only records that count: those of positive weight, without missing
    quasi-identifiers and secrets if the attack drops missing values, and with the secret if it is
    about those who report it. Of people with several records all count, with the secret or not.
    """
    query = exp.select(*columns)
    if filtered and microdata.where is not None:
        query = query.where(exp.paren(microdata.where), copy=False)
    if people and microdata.weight is not None:
        query = query.where(_weighs(microdata.weight), copy=False)
    if people and microdata.null == "drop":
        query = query.where(*nothing_missing(microdata), copy=False)
    if people and microdata.reported and microdata.person is None:
        query = query.where(exp.not_(normal(microdata.secrets[0]).is_(exp.null())), copy=False)
    rows = relation(microdata.dataset, source_columns(query))
    return query.from_(exp.alias_(rows, SOURCE, table=True), copy=False)


def complete(microdata: Microdata) -> Microdata:
    """Return the same microdata with its rule for missing values as part of the filter.

    So the records stay the same if quasi-identifiers are left out later.
    """
    if microdata.null != "drop":
        return microdata
    conditions = [exp.paren(microdata.where.copy())] if microdata.where is not None else []
    return replace(
        microdata, where=exp.and_(*conditions, *nothing_missing(microdata)), null="distinct"
    )


def nothing_missing(microdata: Microdata) -> list[exp.Expr]:
    """Return the conditions that no quasi-identifier or secret is missing; absence is allowed."""
    conditions: list[exp.Expr] = []
    for attribute in (*microdata.qids, *microdata.secrets):
        has_value: exp.Expr = exp.not_(exp.paren(_with_one_nan(attribute)).is_(exp.null()))
        if attribute.there is not None:
            has_value = exp.paren(exp.or_(has_value, exp.not_(attribute.there.copy())))
        conditions.append(has_value)
    return conditions


def candidates(attack: BoundAttack) -> Step:
    """Return the step of the look-alikes of the target."""
    doc = "One row per individual whom the adversary cannot tell from the target."
    alike = exp.and_(*agreeing(attack))
    people = exp.select("*").from_("microdata")
    if not attack.microdata.suppressed:
        return Step("candidates", doc, people.where(alike))
    doc += " Suppressed records are, where no other fits the target."  # they may be of anybody
    somebody_fits = exp.Exists(this=exp.select(number(1)).from_("microdata").where(alike.copy()))
    hidden = exp.paren(suppression.is_hidden(attack.microdata))
    may_be_hidden = exp.paren(exp.and_(hidden, exp.not_(somebody_fits)))
    return Step("candidates", doc, people.where(exp.or_(exp.paren(alike), may_be_hidden)))


def agreement(attack: BoundAttack) -> Step:
    """Return the step of the quasi-identifiers that each individual shares with the target."""
    bits = [
        exp.Case().when(agrees, exp.Literal.number(2**i)).else_(exp.Literal.number(0))
        for i, agrees in enumerate(agreeing(attack))
    ]
    query = exp.select("*", exp.alias_(fold(exp.Add, bits), "mask")).from_("microdata")
    doc = "One row per individual, with the quasi-identifiers shared with the target as bits."
    return Step("agreement", doc, query)


def agreeing(attack: BoundAttack) -> list[exp.Expr]:
    """Return the condition for each quasi-identifier that it equals the target's value."""
    conditions: list[exp.Expr] = []
    for i, qid in enumerate(attack.microdata.qids, 1):
        text = attack.target[qid.name]
        value: exp.Expr = exp.null()  # of a target that lacks the value, or is absent
        if text is not None and text is not ABSENT:
            value = exp.cast(exp.Literal.string(text), qid.type, dialect="duckdb")
            value = with_one_missing(value) if qid.floating else value
        if qid.there is not None and text is not ABSENT:  # a list of one value, as in ``normal``
            value = exp.Array(expressions=[exp.cast(value, qid.type, dialect="duckdb")])
        conditions.append(exp.NullSafeEQ(this=exp.column(f"qid_{i}"), expression=value))
    return conditions


def weights_plan(microdata: Microdata) -> Plan:
    """Return the plan of one row about the weights.

    It holds the numbers of records and of unusable weights, the smallest weight above 0, and the
    largest weight.
    """
    assert microdata.weight is not None  # noqa: S101 - asked only of attacks with weights
    weights = [exp.alias_(microdata.weight.expression.copy(), "weight")]
    words = {
        "weights": _from_source(microdata, weights).subquery("weights"),
        "is_finite": parsed("isfinite(weight)") if microdata.weight.floating else exp.true(),
    }
    return plan(microdata, (), cast("exp.Query", filled(COUNT_WEIGHTS, words)))


def records_plan(microdata: Microdata, *, people: bool = False) -> Plan:
    """Return the plan that counts the records; ``people``: only those that count as people."""
    counted = exp.alias_(exp.Count(this=exp.Star()), "records")
    return plan(microdata, (), _from_source(microdata, [counted], people=people))


def plan(microdata: Microdata, steps: Sequence[Step], result: exp.Query) -> Plan:
    """Return the plan of steps and their result, with statements that open the files first."""
    zone = ["SET TimeZone = 'UTC'"] if microdata.zoned else []
    return Plan(tuple(steps), result, (*openings(microdata.dataset), *zone))


def forms(table: str, attributes: Sequence[Attribute | None]) -> Step:
    """Return the step ``formed``: each value of a table, and ``form_1 ..``, what is made of it.

    ``attributes`` are these forms, such as coarser values; None: dropped, so one value for all.
    """
    columns: list[exp.Expr] = [exp.column(c, table=SOURCE) for c in ("value", "people", "place")]
    for i, form in enumerate(attributes, 1):
        value = number(1) if form is None else normal(form)
        columns.append(exp.alias_(value, f"form_{i}"))
    query = exp.select(*columns).from_(exp.alias_(exp.to_table(table), SOURCE, table=True))
    return Step("formed", "One row per value of a quasi-identifier, in all forms.", query)
