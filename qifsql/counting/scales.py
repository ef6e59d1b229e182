"""Scales: the values of each quasi-identifier as places, those of each secret as numbers.

A release is anonymised on whole numbers: places of quasi-identifiers from 0 to 2^30 (see
the view ``anonymise/scale``), and numbers of the secrets' values in their order, missing last. So
widths, medians and distances are exact, and statements of the passes contain no names or values of
the user's data. The dictionary of an attribute has the numbers of its values.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary.spec import Attribute, Microdata
from qifsql.data.readers import LOADED
from qifsql.data.types import NUMBERS, family
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.query import microdata_steps
from qifsql.query.columns import same
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

NOWHERE = 2**31 - 1  # the place of the missing value if no value is missing


@dataclass(frozen=True)
class Spread:
    """The distribution of people over the values of an attribute.

    ``together`` is the sum over the values of the squared number of their people: the smaller it
    is, the better the attribute distinguishes people. ``missing``: some value is missing; it is
    one of the values, the last.
    """

    values: int
    people: int
    most_frequent: int
    together: int
    missing: bool


def make_dictionary(
    engine: Engine, microdata: Microdata, attribute: str, steps: Sequence[Step] | None = None
) -> Spread:
    """Create the dictionary of ``qid_1``, ``secret_1`` ...; return the spread of people over it.

    ``steps`` are those of the people, which dictionaries share.
    """
    tables = Tables(engine, "encoding", microdata.dataset.name)
    query = splice("sweep/dictionary", columns={"attribute": attribute})
    plan = microdata_steps.plan(microdata, steps or microdata_steps.steps(microdata), query)
    name = f"dictionary_{attribute}"
    tables.make(name, plan, f"encoding {attribute}")
    spread = tables.rows(splice("sweep/spread", tables={"dictionary": own_name(name)}))
    ((values, people, largest, together, missing),) = spread
    return Spread(values, people or 0, largest or 0, int(together or 0), missing)


@dataclass(frozen=True)
class Scale:
    """The scale of one quasi-identifier, in the table ``scale_i``.

    ``values`` is the number of values, missing included; ``missing`` the place of the missing value
    (``NOWHERE`` if no value is missing); ``least`` and ``greatest`` are the ends of the scale.
    """

    attribute: Attribute
    values: int
    missing: int
    least: int
    greatest: int

    @property
    def interval(self) -> bool:
        """Return whether a cell is an interval; it is a set if values have no distances."""
        return has_distances(self.attribute.type)

    @property
    def span(self) -> int:
        """Return the length of the scale; 0 if there is one value."""
        return self.greatest - self.least


@dataclass(frozen=True)
class Secret:
    """A secret: its number of values, and a sum for the ordered distance.

    ``before`` is the sum over the values of the number of people with that or a smaller value.
    """

    attribute: Attribute
    values: int
    before: int


def has_distances(type_: str) -> bool:
    """Return whether values of a type have distances, and so form intervals."""
    kind = family(type_)
    return kind in NUMBERS or kind.startswith("TIMESTAMP") or kind in ("DATE", "TIME")


def scale_table(i: int) -> str:
    """Return the name of the table of a scale."""
    return f"scale_{i}"


def make_scales(engine: Engine, microdata: Microdata) -> list[Scale]:
    """Create the tables ``scale_1 ..``; return the scales."""
    scales = []
    tables = Tables(engine, "measuring", microdata.dataset.name)
    for i, qid in enumerate(microdata.qids, 1):
        make_dictionary(engine, microdata, f"qid_{i}")
        table = own_table(f"dictionary_qid_{i}")
        placed = exp.alias_(position(qid.type), "position")
        positions = exp.select("value", "code", "people", placed).from_(table)
        doc = "One row per value: where it is, as a number."
        plan = Plan((Step("measured", doc, positions),), splice("anonymise/scale"))
        tables.make(scale_table(i), plan, f"measuring qid_{i}")
        tables.drop(f"dictionary_qid_{i}")
        ends = splice("anonymise/ends", tables={"scale": own_name(scale_table(i))})
        ((values, missing, least, greatest),) = tables.rows(ends)
        scales.append(Scale(qid, values, NOWHERE if missing is None else missing, least, greatest))
    return scales


def make_secrets(engine: Engine, microdata: Microdata) -> list[Secret]:
    """Create the tables ``whole_1 ..`` of the secrets; return the secrets."""
    secrets = []
    tables = Tables(engine, "counting secrets", microdata.dataset.name)
    for j, secret in enumerate(microdata.secrets, 1):
        spread = make_dictionary(engine, microdata, f"secret_{j}")
        table = {"dictionary": own_name(f"dictionary_secret_{j}")}
        tables.make(f"whole_{j}", splice("anonymise/whole", tables=table))
        total = exp.select(exp.Sum(this=exp.column("upto"))).from_(own_table(f"whole_{j}"))
        ((before,),) = tables.rows(total)
        secrets.append(Secret(secret, spread.values, int(before or 0)))
    return secrets


def code_records(engine: Engine, microdata: Microdata) -> None:
    """Create the table ``coded``, one row per record: its position, places and secrets."""
    every = (*microdata.qids, *microdata.secrets)
    coded = [(scale_table(i), "place", f"place_{i}") for i in range(1, len(microdata.qids) + 1)]
    coded += [
        (f"dictionary_secret_{j}", "code", f"secrets_{j}")
        for j in range(1, len(microdata.secrets) + 1)
    ]
    columns: list[exp.Expr] = [exp.column(microdata_steps.RECORD, table="everybody")]
    query = exp.select().from_("everybody")
    for n, (table, value, name) in enumerate(coded, 1):
        on = same(exp.column(f"qid_{n}", "everybody"), exp.column("value", f"of_{n}"))
        query = query.join(exp.alias_(own_table(table), f"of_{n}", table=True), on=on)
        number = exp.cast(exp.column(value, table=f"of_{n}"), "INTEGER")
        columns.append(exp.alias_(number, name))
    steps = [microdata_steps.everybody(replace(microdata, qids=every, secrets=()))]
    plan = microdata_steps.plan(microdata, steps, query.select(*columns))
    engine.keep("coded", plan, "coding records", microdata.dataset.name, catalog=LOADED)


def position(type_: str) -> exp.Expr:
    """Return a value as a number; NULL if its type has no distances."""
    kind, value = family(type_), exp.column("value")
    if kind in NUMBERS:
        return exp.cast(value, "DOUBLE")
    if not has_distances(type_):
        return exp.cast(exp.null(), "DOUBLE")
    since: exp.Expr = exp.Anonymous(this="epoch_us", expressions=[value])
    if kind == "DATE":
        day, epoch = exp.Literal.string("day"), exp.Literal.string("1970-01-01")
        began = exp.cast(epoch, "DATE")
        since = exp.Anonymous(this="date_diff", expressions=[day, began, value])
    return exp.cast(since, "DOUBLE")


def own_name(name: str) -> str:
    """Return the full name of an internal table of the engine."""
    return f"{LOADED}.main.{name}"


def own_table(name: str) -> exp.Table:
    """Return an internal table of the engine."""
    return exp.table_(name, db="main", catalog=LOADED)
