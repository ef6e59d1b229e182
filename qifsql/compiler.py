"""An attack becomes a plan: one generated step, the rest from ``sql/``.

The generated step is ``microdata``: one row per individual with ``qid_1 .. qid_k``,
``secret_1 ..``, and ``weight`` where people have weights. The user's names stand only there,
so no name of a column can break or inject anything.

The files of ``sql/`` say ``qid`` for the whole tuple of quasi-identifiers and ``secret`` for
one secret; here they are spliced into the numbered columns, in the parsed tree. A file serves
several secrets by being spliced once for each: the steps ``cells_1``, ``cells_2``, ...
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qifsql.expressions import SOURCE
from qifsql.models import Model
from qifsql.plan import Plan, Step
from qifsql.relation import attach, relation
from qifsql.spec import Attribute, BoundAttack
from qifsql.splice import splice
from qifsql.templates import load

RECORD = "record"
PER_SECRET = ("cells", "blocks", "profile", "guesses", "secret_values", "answer")
WEIGHTED = ("cells", "blocks", "owners", "owner_guesses", "profile", "answer")


def profile_plan(attack: BoundAttack, *, prior: bool = False) -> Plan:
    """The profile of every secret (numbered from 1; 0 is re-identification).

    ``prior`` leaves out the quasi-identifiers: one block, and everybody even if there is a
    target. Works for secrets of any number of values.
    """
    steps = _Steps(attack, prior=prior)
    return _plan(attack, steps.steps, _profiles(steps.every_profile(), steps.prefix))


def tally_plan(attack: BoundAttack, values: Mapping[int, int]) -> Plan:
    """The same profiles, faster where secrets have few values: ``values`` of each of these.

    Secrets that are not in ``values`` are counted as in ``profile_plan``.
    """
    steps = _Steps(attack)
    tallies = [(j, c) for j, n in values.items() for c in range(1, n + 1)]
    for j in values:
        steps.add("secret_values", j, materialized=True)
    steps.add("tallies", None, tallies=tallies)
    steps.add("signatures", None, tallies=tallies, materialized=True)
    for j in values:
        own = [t for t in tallies if t[0] == j]
        steps.add("tally_profile", j, as_="profile", tallies=own)
    for j in range(1, len(attack.secrets) + 1):
        if j not in values:
            steps.profile(j)
    return _plan(attack, steps.steps, _profiles(range(1, len(attack.secrets) + 1)))


def answer_plan(attack: BoundAttack) -> Plan:
    """The success before and after, divided in SQL too: what people paste into a prompt."""
    wanted = [(m, j) for m in attack.models for j in numbers(attack, m)]
    prior = _Steps(attack, prior=True)
    after = _Steps(attack, skip=prior.names)
    for _, j in wanted:
        prior.profile(j)
        after.profile(j)
    rows: list[exp.Select] = []
    for m, j in wanted:
        after.add("answer", j, rename={"prior": f"prior_profile_{j}"})
        secret = exp.Literal.string(attack.secrets[j - 1].name) if j else exp.null()
        columns = (
            exp.alias_(exp.Literal.string(m.acronym.upper()), "model"),
            exp.alias_(secret, "secret", quoted=False),
            exp.Star(),
        )
        rows.append(exp.select(*columns).from_(f"answer_{j}"))
    return _plan(attack, (*prior.steps, *after.steps), _union(rows))


def guess_plan(attack: BoundAttack) -> Plan:
    """The best guess about the target: of each secret, and (0) of the owner if there is a key."""
    steps = _Steps(attack, key=attack.key is not None)
    numbers = list(range(1, len(attack.secrets) + 1)) + ([0] if attack.key else [])
    rows: list[exp.Select] = []
    for j in numbers:
        steps.profile(j)
        steps.add("guesses" if j else "owner_guesses", j, as_="guesses")
        guess = exp.cast(exp.column("best_guess"), "VARCHAR")
        rows.append(_numbered(j, exp.alias_(guess, "best_guess")).from_(f"guesses_{j}"))
    return _plan(attack, steps.steps, _union(rows))


def weights_plan(attack: BoundAttack) -> Plan:
    """One row about the weights: records, how many are unusable, the least above 0, the most."""
    assert attack.weight is not None  # noqa: S101 - asked only of attacks with weights
    w = attack.weight.expression
    zero = exp.Literal.number(0)
    unusable: exp.Expr = exp.or_(w.is_(exp.null()), exp.LT(this=w.copy(), expression=zero))
    if attack.weight.floating:
        unusable = exp.or_(unusable, exp.func("isnan", w.copy()), exp.func("isinf", w.copy()))
    above = exp.Where(this=exp.GT(this=w.copy(), expression=zero.copy()))
    counted = [
        exp.alias_(exp.Count(this=exp.Star()), "records"),
        exp.alias_(
            exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=unusable)),
            "unusable",
        ),
        exp.alias_(exp.Filter(this=exp.Min(this=w.copy()), expression=above), "least"),
        exp.alias_(exp.Max(this=w.copy()), "most"),
    ]
    return _plan(attack, (), _from_source(attack, counted))


def records_plan(attack: BoundAttack) -> Plan:
    """How many records the dataset has, before missing values are dropped."""
    query = _from_source(attack, [exp.alias_(exp.Count(this=exp.Star()), "records")])
    return _plan(attack, (), query)


def numbers(attack: BoundAttack, model: Model) -> list[int]:
    """The secrets that a model asks about, by number; 0 is whose record it is."""
    if model.goal == "re-identification":
        return [0]
    return list(range(1, len(attack.secrets) + 1))


def microdata(attack: BoundAttack, *, key: bool = False, record: bool = False) -> list[Step]:
    """The generated step: one row per individual, everything under names of our own.

    NaN becomes NULL and -0.0 becomes 0.0. Weights become exact numbers: a floating weight is
    multiplied by a power of two that makes every one of them whole. ``key`` and ``record``
    (the position in the input, from 1) are added on request.
    """
    columns = [
        exp.alias_(normal(a), f"{role}_{i}")
        for role, attributes in (("qid", attack.qids), ("secret", attack.secrets))
        for i, a in enumerate(attributes, 1)
    ]
    steps: list[Step] = []
    if attack.weight is not None:
        w = attack.weight.expression.copy()
        if attack.weight.floating:
            steps.append(_weight_scale(attack, w))
            scale = exp.select("scale").from_("weight_scale").subquery()
            w = exp.Mul(this=exp.cast(_wrapped(w), "DOUBLE"), expression=scale)
        exact = attack.weight.type if attack.weight.type.startswith("DECIMAL") else "HUGEINT"
        columns.append(exp.alias_(exp.cast(w, exact), "weight"))
    if key and attack.key is not None:
        columns.append(exp.alias_(normal(attack.key), "key"))
    if record:
        columns.append(exp.alias_(exp.column(RECORD, table=SOURCE), RECORD))
    query = _from_source(attack, columns, record=record, people=True)
    return [*steps, Step("microdata", "One row per individual.", query)]


def normal(attribute: Attribute) -> exp.Expr:
    """The attribute with one value for missing (NaN is NULL) and one zero."""
    tree = attribute.expression.copy()
    return _normal(tree) if attribute.floating else tree


def _normal(tree: exp.Expr) -> exp.Expr:
    zero = exp.Add(this=_wrapped(tree.copy()), expression=exp.Literal.number(0))
    return exp.Case().when(exp.func("isnan", tree), exp.null()).else_(zero)


def _wrapped(tree: exp.Expr) -> exp.Expr:
    return tree if isinstance(tree, exp.Column) else exp.paren(tree, copy=False)


def _weight_scale(attack: BoundAttack, weight: exp.Expr) -> Step:
    """The power of two that makes every weight a whole number: 53 bits below the least one."""
    log = exp.Anonymous(this="log2", expressions=[exp.Min(this=weight.copy())])
    power = exp.Sub(this=exp.Literal.number(53), expression=exp.func("floor", log))
    scale = exp.alias_(exp.func("pow", exp.Literal.number("2.0"), power), "scale")
    query = _from_source(attack, [scale], people=True)
    doc = "One row: the power of two that makes every weight a whole number."
    return Step("weight_scale", doc, query, materialized=True)


def _from_source(
    attack: BoundAttack,
    columns: Sequence[exp.Expr],
    *,
    record: bool = False,
    people: bool = False,
) -> exp.Select:
    """A SELECT from the dataset under the user's filter.

    ``people`` keeps only records that count: of positive weight, and without missing
    quasi-identifiers and secrets where these are dropped.
    """
    table: exp.Expr = relation(attack.dataset)
    if record:
        number = exp.Window(this=exp.RowNumber())
        numbered = exp.select("*", exp.alias_(number, RECORD)).from_(table)
        table = numbered.subquery()
    query = exp.select(*columns).from_(exp.alias_(table, SOURCE, table=True))
    if attack.where is not None:
        query = query.where(exp.paren(attack.where))
    if people and attack.weight is not None:
        zero = exp.Literal.number(0)
        query = query.where(exp.GT(this=_wrapped(attack.weight.expression.copy()), expression=zero))
    if people and attack.null == "drop":
        for attribute in (*attack.qids, *attack.secrets):
            query = query.where(exp.Not(this=_wrapped(normal(attribute)).is_(exp.null())))
    return query


def _candidates(attack: BoundAttack) -> Step:
    """The look-alikes of the target."""
    query = exp.select("*").from_("microdata")
    for i, qid in enumerate(attack.qids, 1):
        text = attack.target[qid.name]
        known: exp.Expr = exp.null()
        if text is not None:
            known = exp.cast(exp.Literal.string(text), qid.type, dialect="duckdb")
            known = _normal(known) if qid.floating else known
        query = query.where(exp.NullSafeEQ(this=exp.column(f"qid_{i}"), expression=known))
    doc = "One row per individual whom the adversary cannot tell from the target."
    return Step("candidates", doc, query)


class _Steps:
    """The steps of a plan as they come; ``names`` are those already there."""

    def __init__(
        self,
        attack: BoundAttack,
        *,
        prior: bool = False,
        key: bool = False,
        record: bool = False,
        skip: Sequence[str] = (),
    ) -> None:
        self.attack = attack
        self.prefix = "prior_" if prior else ""
        self.width = 0 if prior else len(attack.qids)
        self.people = "microdata"
        self.steps: list[Step] = []
        self.names = list(skip)
        for step in microdata(attack, key=key, record=record):
            self._push(step)
        if attack.target and not prior:
            self.people = "candidates"
            self._push(_candidates(attack))

    def every_profile(self) -> list[int]:
        """The profiles of all secrets, or of re-identification where there is none."""
        numbers = list(range(1, len(self.attack.secrets) + 1)) or [0]
        for j in numbers:
            self.profile(j)
        return numbers

    def profile(self, j: int) -> None:
        """The profile of secret ``j``: cells, blocks, profile."""
        self.blocks(j)
        self.add("profile", j)

    def blocks(self, j: int) -> None:
        """The blocks of secret ``j`` (0: of re-identification)."""
        if j:
            self.add("cells", j)
            self.add("blocks", j)
        else:
            self.add("owners", j, as_="blocks")

    def add(
        self,
        name: str,
        j: int | None,
        *,
        as_: str | None = None,
        rename: Mapping[str, str] | None = None,
        tallies: Sequence[tuple[int, int]] = (),
        materialized: bool = False,
    ) -> None:
        """Splice ``sql/name.sql`` for secret ``j`` (None: for all secrets at once)."""
        weighted = self.attack.weight is not None and name in WEIGHTED
        template = load(f"weighted/{name}" if weighted else name)
        numbered = {n: f"{self.prefix}{n}_{j}" for n in PER_SECRET}
        names = {**numbered, "microdata": self.people, **(rename or {})}
        query = splice(template, width=self.width, secret=j, names=names, tallies=tallies)
        own = as_ or name
        self._push(Step(numbered.get(own, own), template.doc, query, materialized))

    def _push(self, step: Step) -> None:
        if step.name not in self.names:
            self.names.append(step.name)
            self.steps.append(step)


def _plan(attack: BoundAttack, steps: Sequence[Step], result: exp.Query) -> Plan:
    setup = attach(attack.dataset)
    return Plan(tuple(steps), result, (setup,) if setup else ())


def _numbered(j: int, *columns: exp.Expr) -> exp.Select:
    return exp.select(exp.alias_(exp.Literal.number(j), "secret"), *columns)


def _union(queries: Sequence[exp.Select]) -> exp.Query:
    """All rows of all queries."""
    return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]


def _profiles(numbers: Sequence[int], prefix: str = "") -> exp.Query:
    return _union([_numbered(j, exp.Star()).from_(f"{prefix}profile_{j}") for j in numbers])
