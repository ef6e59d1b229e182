"""One row per person of a composition, in the order of the input: what all releases tell."""

from sqlglot import exp

from qifsql.counting.composition import Bound
from qifsql.data.expressions import identifier
from qifsql.query.columns import unique
from qifsql.query.plan import Plan
from qifsql.query.spread import named


def plan(bound: Bound, *, bayes: bool) -> Plan:
    """The rows of everybody.

    ``person`` from 1 (and the key); for each release ``classes_r`` in which the person is,
    ``size_r`` their records and ``effective_r`` their distinct secrets; then ``prior``,
    ``posterior``, ``drop``, ``confidence``, ``best_guess`` and ``success``.
    NULL where a person is not in every release, or, from ``drop`` on, where nothing is left.
    """
    last = len(bound.releases)
    columns: list[tuple[str, str | exp.Expr]] = [("person", "everybody.position")]
    if bound.key is not None:
        columns.append((bound.key.name, "everybody.key"))
    query = exp.select().from_("everybody")
    for i in range(1, last + 1):
        place, size = (
            named(f"whereabouts_{i}", f"place_{i}"),
            named(f"spot_sizes_{i}", f"sizes_{i}"),
        )
        query = query.join(place, on=f"everybody.point = place_{i}.point")
        query = query.join(size, on=f"place_{i}.spot = sizes_{i}.spot", join_type="left")
        columns += [
            (f"classes_{i}", f"place_{i}.classes"),
            (f"size_{i}", f"sizes_{i}.size"),
            (f"effective_{i}", f"sizes_{i}.effective"),
        ]
    query = query.join(
        named(f"at_{last}", "at_last"), on="everybody.point = at_last.point", join_type="left"
    )
    query = query.join(
        named(f"told_{last}", "told"), on="at_last.alike = told.alike", join_type="left"
    )
    query = query.join("guesses", on="told.alike = guesses.alike", join_type="left")
    query = query.join("secret_values", on="guesses.guess = secret_values.code", join_type="left")
    part = "told.{0} // gcd(told.best, told.total)"
    chance = f"({part.format('best')})::DOUBLE / ({part.format('total')})::DOUBLE"
    columns += [
        ("prior", "told.prior"),
        ("posterior", "told.posterior"),
        ("drop", "CASE WHEN told.posterior > 0 THEN told.prior - told.posterior END"),
        ("confidence", "CASE WHEN told.posterior > 0 THEN 1 / told.posterior END"),
    ]
    if bayes:
        columns += [("best_guess", "secret_values.secret"), ("success", chance)]
    names = unique([name for name, _ in columns])
    trees = [
        exp.alias_(exp.maybe_parse(tree, dialect="duckdb"), identifier(name))
        for name, (_, tree) in zip(names, columns, strict=True)
    ]
    return Plan((), query.select(*trees).order_by("everybody.position"))
