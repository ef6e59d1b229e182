"""One row per person of a composition, in the order of the input: what all releases tell."""

from sqlglot import exp

from qifsql.counting.composition import Bound
from qifsql.data.expressions import identifier
from qifsql.query.columns import equal, unique
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


def plan(bound: Bound, *, bayes: bool) -> Plan:
    """The rows of everybody.

    ``person`` from 1 (and the key); for each release ``classes_r`` in which the person is,
    ``size_r`` their records and ``effective_r`` their distinct secrets; then ``prior``,
    ``posterior``, ``drop``, ``confidence``, ``best_guess`` and ``success``.
    NULL where a person is not in every release, or, from ``drop`` on, where nothing is left.
    """
    last = len(bound.releases)
    columns = [("person", exp.column("position", "everybody"))]
    if bound.key is not None:
        columns.append((bound.key.name, exp.column("key", "everybody")))
    query = exp.select().from_("everybody")
    for i in range(1, last + 1):
        place, sizes = f"place_{i}", f"sizes_{i}"
        point = equal(exp.column("point", "everybody"), exp.column("point", place))
        query = query.join(exp.table_(f"whereabouts_{i}", alias=place), on=point)
        spot = equal(exp.column("spot", place), exp.column("spot", sizes))
        spot_sizes = exp.table_(f"spot_sizes_{i}", alias=sizes)
        query = query.join(spot_sizes, on=spot, join_type="left")
        columns += [
            (f"classes_{i}", exp.column("classes", place)),
            (f"size_{i}", exp.column("size", sizes)),
            (f"effective_{i}", exp.column("effective", sizes)),
        ]
    query = query.join(
        exp.table_(f"at_{last}", alias="at_last"),
        on="everybody.point = at_last.point",
        join_type="left",
    )
    query = query.join(
        exp.table_(f"told_{last}", alias="told"), on="at_last.alike = told.alike", join_type="left"
    )
    query = query.join("guesses", on="told.alike = guesses.alike", join_type="left")
    query = query.join("secret_values", on="guesses.guess = secret_values.code", join_type="left")
    columns += [
        (name, exp.maybe_parse(text, dialect="duckdb"))
        for name, text in (OUTCOMES | (GUESSES if bayes else {})).items()
    ]
    names = unique([name for name, _ in columns])
    trees = [
        exp.alias_(tree, identifier(name)) for name, (_, tree) in zip(names, columns, strict=True)
    ]
    return Plan((), query.select(*trees).order_by("everybody.position"))
