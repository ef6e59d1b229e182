"""Values of attributes as whole numbers: the dictionary of each."""

from dataclasses import dataclass

from qifsql.adversary.spec import BoundAttack
from qifsql.data.relation import LOADED
from qifsql.engine.protocol import Engine
from qifsql.query import microdata
from qifsql.query.plan import Plan
from qifsql.query.splice import splice


@dataclass(frozen=True)
class Spread:
    """How people are spread over the values of an attribute.

    ``together`` is the sum of the squares of the values' people: the fewer, the more the attribute
    tells people apart.
    """

    values: int
    people: int
    most_frequent: int
    together: int


def dictionary(engine: Engine, attack: BoundAttack, attribute: str) -> Spread:
    """Make the dictionary of ``qid_1`` or ``secret_1`` ...; how people are spread over it."""
    query = splice("sweep/dictionary", columns={"attribute": attribute})
    plan = microdata.plan(attack, microdata.microdata(attack), query)
    name = f"dictionary_{attribute}"
    where = attack.dataset.name
    engine.keep(name, plan, f"encoding {attribute}", where, catalog=LOADED)
    spread = splice("sweep/spread", tables={"dictionary": f"{LOADED}.main.{name}"})
    ((values, people, most, together),) = engine.rows(Plan((), spread), "encoding", where)
    return Spread(values, people or 0, most or 0, int(together or 0))
