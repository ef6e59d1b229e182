"""One row per person of a composition, in the order of the input: results of all releases."""

from sqlglot import exp

from qifsql.counting.composition import Bound
from qifsql.query.columns import equal, named
from qifsql.query.plan import Plan

OUTCOMES = {
    "prior": "told.prior",
    "posterior": "told.posterior",
    "drop": "CASE WHEN told.posterior > 0 THEN told.prior - told.posterior END",
    "confidence": "CASE WHEN told.posterior > 0 THEN 1 / told.posterior END",
}
GUESSES = {
    "best_guess": "secret_values.secret",
    "success": "(told.best // gcd(told.best, told.total))::DOUBLE "
    "/ (told.total // gcd(told.best, told.total))::DOUBLE",
}


def plan_people(bound: Bound, *, bayes: bool) -> Plan:
    """Return the plan of the rows of all people.

    The columns are ``person`` from 1 (and the key); for each release the number of the person's
    classes (``classes_r``), of the records in them (``size_r``) and of their distinct secrets
    (``effective_r``); then ``prior``, ``posterior``, ``drop``, ``confidence``, ``best_guess`` and
    ``success``. These are NULL if a person is not in every release or, from ``drop`` on, if no
    value is left.
    """
    last = len(bound.releases)
    columns: list[tuple[exp.Expr, str]] = [(exp.column("position", "everybody"), "person")]
    if bound.key is not None:
        columns.append((exp.column("key", "everybody"), bound.key.name))
    query = exp.select().from_("everybody")
    for i in range(1, last + 1):
        place, sizes = f"place_{i}", f"sizes_{i}"
        point = equal(exp.column("point", "everybody"), exp.column("point", place))
        query = query.join(exp.table_(f"whereabouts_{i}", alias=place), on=point)
        spot = equal(exp.column("spot", place), exp.column("spot", sizes))
        spot_sizes = exp.table_(f"spot_sizes_{i}", alias=sizes)
        query = query.join(spot_sizes, on=spot, join_type="left")
        columns += [
            (exp.column("classes", place), f"classes_{i}"),
            (exp.column("size", sizes), f"size_{i}"),
            (exp.column("effective", sizes), f"effective_{i}"),
        ]
    for table, condition in (
        (exp.table_(f"at_{last}", alias="at_last"), "everybody.point = at_last.point"),
        (exp.table_(f"told_{last}", alias="told"), "at_last.alike = told.alike"),
        (exp.table_("guesses"), "told.alike = guesses.alike"),
        (exp.table_("secret_values"), "guesses.guess = secret_values.code"),
    ):
        query = query.join(table, on=condition, join_type="left")
    texts = OUTCOMES | (GUESSES if bayes else {})
    columns += [(exp.maybe_parse(text, dialect="duckdb"), name) for name, text in texts.items()]
    return Plan((), query.select(*named(columns)).order_by("everybody.position"))
