"""Changes to the whole release when a target is removed: scales, distribution of the secret."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.counting.cuts import refused_parts
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import Scale, Secret, own_name, own_table, position, scale_table
from qifsql.data.readers import LOADED
from qifsql.query.plan import Plan, Step
from qifsql.query.render import adding, render, statement
from qifsql.query.splice import make_step, splice

NOBODY = -1  # the key of the reference from which nobody is removed
NOTHING = 2**31 - 1  # the code if no value of the secret disappears


@dataclass(frozen=True)
class Reference:
    """A distribution of the secret that t-closeness compares classes with: of the whole release.

    ``table`` has its people by value: everybody, or all but a person.
    """

    table: str  # its name, without ``_1``
    secret: Secret
    records: int
    gone: int = NOTHING  # code of the secret's value that nobody has any more

    def broken_parts(self, limits: ClassLimits, sides: exp.Select) -> Plan:
        """Return the parts of ``sides`` that break a limit on the secret."""
        return refused_parts(limits, self.secret.readings(1, self.records, self.table), sides)


def compares_with_release(limits: ClassLimits) -> bool:
    """Return whether a limit compares classes with the whole release."""
    return limits.t is not None or limits.t_ordered is not None


def make_references(passes: Passes, limits: ClassLimits) -> dict[int, Reference]:
    """Return the distributions of the secret with which t-closeness compares classes.

    They are that of everybody (key NOBODY) and, for each value of the secret that a target has,
    that without one person who has it (key: the code of the value). If no limit compares classes
    with the whole release, only the first is returned.
    """
    (secret,) = passes.coded.secrets
    references = {NOBODY: Reference("whole", secret, passes.coded.records)}
    if compares_with_release(limits):
        secrets_of_targets = exp.select("secret").distinct().from_(own_table("targets"))
        for (code,) in sorted(passes.stream.rows(render(secrets_of_targets))):
            references[code] = _reference_without(passes, secret, code)
    return references


def _reference_without(passes: Passes, secret: Secret, code: int) -> Reference:
    """Return the reference without one person whose secret has the code."""
    name = f"whole_without_{code}"
    tables, numbers = {"whole": own_name("whole_1")}, {"wanted_code": code}
    remaining = make_step("dit/secrets_left", "dictionary", tables=tables, numbers=numbers)
    values = passes.keep(f"{name}_1", Plan((remaining,), splice("anonymise/whole")))
    # The sum over the values of the people with that or a smaller one, for the ordered distance.
    (before,) = passes.row(exp.select("sum(upto)").from_(own_table(f"{name}_1")))
    is_missing = secret.missing > 0 and code == secret.values - 1  # NULL has the last code
    missing = secret.missing - is_missing
    secret_without = replace(secret, values=values, before=int(before), missing=missing)
    gone = code if values < secret.values else NOTHING
    return Reference(table=name, secret=secret_without, records=passes.coded.records - 1, gone=gone)


def make_scales_without(passes: Passes, scales: Sequence[Scale]) -> None:
    """Create tables of how scales change if a person is removed who alone has a value.

    Of values with distances (numbers), ``moved`` has those that get another place, by the removed
    value. Of others, ``nominal`` has all, and ``alone`` those that only one person has.
    """
    passes.keep_empty("moved", ("lonely_spot", "attribute", "spot_of_all", "spot"))
    passes.keep_empty("nominal", ("attribute", "spot", "code", "people", "values"))
    for i, scale in enumerate(scales, 1):
        if scale.tree is not None:  # whose widths are those of the hierarchy
            continue
        if scale.interval:  # values have distances
            _add_moved_values(passes, i, scale)
        elif scale.values > 2:  # a scale of one remaining value has no width
            numbers = {"wanted_attribute": i, "wanted_values": scale.values}
            tables = {"scale": own_name(scale_table(i))}
            passes.append("nominal", splice("dit/nominal", tables=tables, numbers=numbers))
    passes.keep("alone", exp.select("*").from_(own_table("nominal")).where("people = 1"))


def _add_moved_values(passes: Passes, i: int, scale: Scale) -> None:
    """Add to the table ``moved`` the values of qid ``i`` whose place depends on one person.

    If one person alone has a value, the scale without that person has no such value, and others may
    get another place. So the scale is made again without each of these values (``lonely``), and a
    row added for each value whose place differs.
    """
    tables = {"scale": own_name(scale_table(i))}
    placed = exp.alias_(position(scale.attribute.type), "position")
    positions = exp.select("value", "code", "people", "place", placed)
    positions = positions.from_(own_table(scale_table(i)))
    measured = Step("measured_scale", "One row per value: where it is, as a number.", positions)
    ((is_regular,),) = passes.stream.rows(statement(Plan((measured,), splice("dit/regular"))))
    # On a regular scale only the least and the greatest value decide the places of the others.
    lonely = splice("dit/lonely", tables=tables, numbers={"wanted_ends": int(is_regular)})
    for spot, code in passes.stream.rows(render(lonely)):  # the place and the code of a value
        spot_numbers = {"wanted_code": code, "wanted_spot": spot, "wanted_attribute": i}
        steps = (
            measured,
            make_step("dit/left_over", "measured", numbers=spot_numbers),
            make_step("anonymise/scale", "without_value"),
        )
        moved = splice("dit/moved", tables=tables, numbers=spot_numbers)
        passes.stream.rows(adding(Plan(steps, moved), "moved", LOADED))
