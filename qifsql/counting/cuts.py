"""Refuse cuts if one side would break a limit on a secret."""

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from qifsql.counting.constraints import Wishes
from qifsql.counting.scales import Secret, has_distances, own_name
from qifsql.errors import InputError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice


def check_secret_limits(wishes: Wishes, secret: Secret) -> None:
    """Refuse limits that no class can keep, or that do not apply to such a secret."""
    name = quoted(secret.attribute.name)
    if wishes.l is not None and wishes.l > secret.values:
        raise InputError(
            f"l is {wishes.l:,}, and {name} has {plural(secret.values, 'value')}; no class can "
            "have so many"
        )
    if wishes.t_ordered is not None and not has_distances(secret.attribute.type):
        raise InputError(
            f"secret {name} has no distances, which the ordered t is about; use --t, whose "
            "distance treats values as unordered"
        )


def refused_parts(
    wishes: Wishes,
    secrets: Sequence[Secret],
    sided: exp.Select,
    *,
    records: int,
    totals: str = "whole",
) -> Plan:
    """Return the parts of ``sided`` (part, side, value of each secret, people) that break a limit.

    ``sided`` names ``secrets_1 ..`` and has one row per side and combination of secrets. The
    distributions in the whole release, of that many records, are in the tables ``whole_1 ..``.
    """
    steps = [Step("sides", "One row per side and secrets.", sided, materialized=True)]
    queries: list[exp.Select] = []
    for j, secret in enumerate(secrets, 1):
        name = f"sided_{j}"
        doc = "One row per side and value of a secret: how many have it."
        counts = splice("anonymise/sided", columns={"secret": f"secrets_{j}"})
        steps.append(Step(name, doc, counts, materialized=True))
        tables = {"sided": name, "whole": own_name(f"{totals}_{j}")}
        for file, numbers in _limits(wishes, secret, records):
            queries.append(splice(f"anonymise/{file}", tables=tables, numbers=numbers).distinct())
    everything: exp.Query = queries[0] if len(queries) == 1 else exp.union(*queries)
    return Plan(tuple(steps), everything)


def _limits(wishes: Wishes, secret: Secret, records: int) -> list[tuple[str, dict[str, int]]]:
    """Return the SQL files that find a broken limit, with the numbers for them."""
    limits: list[tuple[str, dict[str, int]]] = []
    if wishes.l is not None:
        limits.append(("l_distinct", {"wanted_l": wishes.l}))
    if (least := wishes.l_entropy) is not None:
        limits.append(("l_entropy", _ratio(least)))
    if wishes.l_recursive is not None:
        c, l = wishes.l_recursive  # noqa: E741 - it is called l
        limits.append(("l_recursive", _ratio(c) | {"wanted_l": l}))
    everybody = {"wanted_records": records}
    if (t := wishes.t) is not None:
        limits.append(("t_equal", _ratio(t) | everybody))
    if (t := wishes.t_ordered) is not None:
        more = {"wanted_values": secret.values, "wanted_before": secret.before}
        limits.append(("t_ordered", _ratio(t) | everybody | more))
    return limits


def _ratio(limit: Fraction) -> dict[str, int]:
    return {"wanted_numerator": limit.numerator, "wanted_denominator": limit.denominator}
