"""Refuse cuts if one side would break a limit on a secret."""

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from qifsql.counting.constraints import Wishes
from qifsql.counting.scales import Reading, Secret, has_distances, own_name
from qifsql.errors import InputError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice


def check_secret_limits(wishes: Wishes, secret: Secret) -> None:
    """Refuse an l above the number of values, and an ordered t of values without distances."""
    name = quoted(secret.attribute.name)
    values = secret.values - secret.partly_missing  # a missing value does not count for l
    if wishes.l is not None and wishes.l > values:
        beside = " beside the missing one" if secret.partly_missing else ""
        raise InputError(
            f"l is {wishes.l:,}, and {name} has {plural(values, 'value')}{beside}; no class can "
            "have so many"
        )
    if wishes.t_ordered is not None and not has_distances(secret.attribute.type):
        raise InputError(
            f"secret {name} has no distances, which the ordered t is about; use --t, whose "
            "distance treats values as unordered"
        )


def refused_parts(
    wishes: Wishes, readings: Sequence[Reading], sided: exp.Select, *, person: str | None = None
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
    queries: list[exp.Select] = []
    if person_column:
        k = {"wanted_k": wishes.k}
        parts_refused = splice("anonymise/few_people", columns=person_column, numbers=k)
        queries.append(parts_refused.distinct())  # both sides of a part may have too few
    for n, reading in enumerate(readings if wishes.of_secret else (), 1):
        name = f"sided_{n}"
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
        for file, numbers in _limits(wishes, reading):
            queries.append(splice(f"anonymise/{file}", tables=tables, numbers=numbers).distinct())
    parts: exp.Query = queries[0] if len(queries) == 1 else exp.union(*queries)
    return Plan(tuple(steps), parts)


def _limits(wishes: Wishes, reading: Reading) -> list[tuple[str, dict[str, int]]]:
    """Return pairs for the limits on a secret: the SQL view of what breaks it, and its numbers."""
    limits: list[tuple[str, dict[str, int]]] = []
    if wishes.l is not None:
        limits.append(("l_distinct", {"wanted_l": wishes.l}))
    if (least := wishes.l_entropy) is not None:
        limits.append(("l_entropy", _ratio(least)))
    if wishes.l_recursive is not None:
        c, l = wishes.l_recursive  # noqa: E741 - it is called l
        limits.append(("l_recursive", _ratio(c) | {"wanted_l": l}))
    everybody = {"wanted_records": reading.people}
    if (t := wishes.t) is not None:
        limits.append(("t_equal", _ratio(t) | everybody))
    if (t := wishes.t_ordered) is not None:
        more = {"wanted_values": reading.values, "wanted_before": reading.before}
        limits.append(("t_ordered", _ratio(t) | everybody | more))
    return limits


def _ratio(limit: Fraction) -> dict[str, int]:
    return {"wanted_numerator": limit.numerator, "wanted_denominator": limit.denominator}
