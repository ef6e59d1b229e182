"""Refuse cuts if one side would break a limit on a secret."""

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import Reading, Secret, has_distances, own_name
from qifsql.errors import InputError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice


def check_secret_limits(limits: ClassLimits, secret: Secret) -> None:
    """Refuse an l above the number of values, and an ordered t of values without distances."""
    name = quoted(secret.attribute.name)
    values = secret.values - secret.partly_missing  # a missing value does not count for l
    if limits.l is not None and limits.l > values:
        beside = " beside the missing one" if secret.partly_missing else ""
        raise InputError(
            f"l is {limits.l:,}, and {name} has {plural(values, 'value')}{beside}; no class can "
            "have so many"
        )
    if limits.t_ordered is not None and not has_distances(secret.attribute.type):
        raise InputError(
            f"secret {name} has no distances, which the ordered t is about; use --t, whose "
            "distance treats values as unordered"
        )


def refused_parts(
    limits: ClassLimits,
    readings: Sequence[Reading],
    sided: exp.Select,
    *,
    person: str | None = None,
) -> Plan:
    """Return the plan of the parts that must not be cut: one of their sides breaks a limit.

    The plan returns the column ``part``. ``sided`` has one row per side of a part and combination
    of secrets: ``part``, ``side``, ``secrets_1 ..``, ``people``. A side has to keep every limit in
    every reading in which it has people. ``person`` is the column of the person, if some people
    have several records: limits are then about different people, and k is judged here, too. If
    nobody has (None), the caller judges k by the sizes of the sides.
    """
    steps = [Step("sides", "One row per side and secrets.", sided, materialized=True)]
    person_column = {} if person is None else {"person": person}
    queries: list[exp.Select] = []  # each returns the parts that break one limit
    if person_column:
        k = {"wanted_k": limits.k}
        parts_refused = splice("anonymise/few_people", columns=person_column, numbers=k)
        queries.append(parts_refused.distinct())  # both sides of a part may have too few
    for n, reading in enumerate(readings if limits.of_secret else (), 1):
        name = f"sided_{n}"
        # One row per side and value of this reading: how many people of the side have it.
        counts = make_step(
            "anonymise/sided",
            name,
            materialized=True,
            columns={"secret": reading.column, **person_column},
            numbers={"missing_code": reading.values},
            shape={"reported": reading.reported, "people": bool(person_column)},
        )
        steps.append(counts)
        tables = {"sided": name, "whole": own_name(reading.totals)}
        for file, numbers in _views_of_limits(limits, reading):
            queries.append(splice(f"anonymise/{file}", tables=tables, numbers=numbers).distinct())
    parts: exp.Query = queries[0] if len(queries) == 1 else exp.union(*queries)
    return Plan(tuple(steps), parts)


def _views_of_limits(limits: ClassLimits, reading: Reading) -> list[tuple[str, dict[str, int]]]:
    """Return pairs for the limits on a secret: the SQL view of what breaks it, and its numbers."""
    views: list[tuple[str, dict[str, int]]] = []
    if limits.l is not None:
        views.append(("l_distinct", {"wanted_l": limits.l}))
    if (least := limits.l_entropy) is not None:
        views.append(("l_entropy", _ratio(least)))
    if limits.l_recursive is not None:
        c, l = limits.l_recursive  # noqa: E741 - it is called l
        views.append(("l_recursive", _ratio(c) | {"wanted_l": l}))
    everybody = {"wanted_records": reading.people}
    if (t := limits.t) is not None:
        views.append(("t_equal", _ratio(t) | everybody))
    if (t := limits.t_ordered) is not None:
        more = {"wanted_values": reading.values, "wanted_before": reading.before}
        views.append(("t_ordered", _ratio(t) | everybody | more))
    return views


def _ratio(limit: Fraction) -> dict[str, int]:
    """Return an exact limit as two parameters, as SQL compares whole numbers."""
    return {"wanted_numerator": limit.numerator, "wanted_denominator": limit.denominator}
