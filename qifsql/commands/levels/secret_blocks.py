"""Tables from which levels are computed: each secret's values, blocks and differences."""

from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.levels.steps import Steps, Tables
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.types import family
from qifsql.errors import InputError, plural, quoted
from qifsql.query.columns import typed_number
from qifsql.query.microdata_steps import plan
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps as AttackSteps
from qifsql.query.suppression import STAR, TEXTS

BITS_63 = 2**63


@dataclass(frozen=True)
class Secret:
    """One secret with its counts.

    Of all ``people``, ``rarest`` have the rarest value and ``commonest`` the most frequent one.
    ``fewest`` is the smallest number of values in a block.
    """

    number: int
    name: str
    people: int
    rarest: int
    commonest: int
    fewest: int


def count_secret(
    tables: Tables, j: int, hierarchy: Hierarchy | None, suppressed_people: int
) -> Secret:
    """Make the tables from which all levels of secret ``j`` are measured; return its counts.

    ``pieces`` has a row per block and value that occurs in it, ``sized`` the same with the size of
    the block; ``grades`` a row per block: its mode, entropy and the like; ``ordered`` how far
    probability moves along the order of the values. The row ``whole`` is about everybody.
    """
    counts = tables.counts
    tables.keep("places", j)  # the values of the secret in their order, with their people
    (totals,) = tables.dicts("whole", j)
    people = int(totals["people"])
    # the products of counts must fit; 64 bits are several times as fast as 128
    integer = "BIGINT" if 4 * people * people * totals["values"] < BITS_63 else "HUGEINT"
    totals_row = {
        "people": typed_number(people, integer),
        "one": typed_number(1, integer),
        "values": typed_number(totals["values"], "BIGINT"),
        "missing": typed_number(totals["missing"], "BIGINT"),
    }
    tables.known_rows[j] = {"whole": totals_row}
    if tables.is_by_kind(j):
        _keep_pieces_of_kinds(tables, j)
    elif suppressed_people:
        counts.keep_rows(f"pieces_{j}", _pieces_with_everyone(tables, j, suppressed_people))
    for name in ("sized", "grades", "ordered"):
        tables.keep(name, j)
    if hierarchy is not None:
        _keep_hierarchy(tables, j, hierarchy)
    (extremes,) = tables.dicts("extremes", j)  # over all blocks
    return Secret(
        number=j,
        name=counts.bound.microdata.secrets[j - 1].name,
        people=people,
        rarest=totals["rarest"],
        commonest=totals["commonest"],
        fewest=extremes["fewest"],
    )


def keep_blocks_of_all(tables: Tables, suppressed_people: int, everybody: int) -> None:
    """Make the tables from which k is measured if there is no secret.

    ``blocks_of_all_0`` has a row per block, ``grades_0`` a row per size: how many blocks have it.
    Each of the ``suppressed_people`` may be any of ``everybody``, all people: a row says this.
    """
    counts = tables.counts
    attack = AttackSteps(counts.bound, catalogs=counts.catalogs)
    query = exp.select("*").from_(attack.need("blocks", 0))
    counts.keep_rows("blocks_of_all_0", plan(counts.bound.microdata, attack.steps, query))
    steps = Steps(tables)
    steps.need("crowds_of_size", 0, instead={"blocks": "blocks_of_all"})
    sizes = steps.steps.pop().query  # of that step: how many blocks have each size
    if suppressed_people:
        # columns: the key of the block (-1, as no other), its size, members, number of such blocks
        everyone = [typed_number(n, "BIGINT") for n in (-1, everybody, suppressed_people, 1)]
        sizes = exp.union(sizes, exp.select(*everyone), distinct=False)
    counts.keep_rows("grades_0", steps.plan(sizes))


def _keep_pieces_of_kinds(tables: Tables, j: int) -> None:
    """Make ``pieces`` of a secret with few values: a row per kind of block and value in it.

    Blocks with the same number of people for every value are one kind (``tally_counts``).
    """
    counts = tables.counts
    counts.keep("tally_counts", j, lasting=False)
    tables.keep("kinds", j)
    steps = Steps(tables)
    query = exp.select("*").from_(steps.need("kind_pieces", j))
    counts.keep_rows(f"pieces_{j}", steps.plan(query))


def _pieces_with_everyone(tables: Tables, j: int, suppressed_people: int) -> Plan:
    """Return the plan of ``pieces`` (blocks by value of the secret) with a block of everyone.

    A suppressed person may be anybody: ``suppressed_people`` are in no other block. Their block has
    all people of each value (``people``), but only they are its members (``stand``).
    """
    microdata = tables.counts.bound.microdata
    steps = Steps(tables)
    pieces, places = (steps.need(name, j) for name in ("pieces", "places"))
    columns = ("people", "blocks", "stand", "place", "everybody")
    qids = [exp.column(f"qid_{i}") for i in range(1, microdata.width + 1)]
    ordinary = exp.select(*qids, *columns).from_(pieces)
    # Texts of a suppressed record are *, other values NULL, as is the list of a person's records.
    types = ["LIST"] if microdata.of_lists else [family(qid.type) for qid in microdata.qids]
    stars = [exp.Literal.string(STAR) if type_ in TEXTS else exp.null() for type_ in types]
    everyone = exp.select(
        *(exp.alias_(star, f"qid_{i}") for i, star in enumerate(stars, 1)),
        exp.alias_(exp.column("everybody"), "people"),
        exp.alias_(typed_number(1, "BIGINT"), "blocks"),
        exp.alias_(typed_number(suppressed_people, "BIGINT"), "stand"),
        "place",
        "everybody",
    ).from_(places)
    return steps.plan(exp.union(ordinary, everyone, distinct=False))


def _keep_hierarchy(tables: Tables, j: int, hierarchy: Hierarchy) -> None:
    """Make the tables from which t-closeness along the hierarchy of secret ``j`` is measured.

    ``ancestors`` has the node above each value on each level of the hierarchy, ``branches`` the
    people of each block below each node, ``climbed`` how far probability moves along the hierarchy
    from everybody's distribution to that of a block. InputError if a value has no line in it.
    """
    counts = tables.counts
    height = {"height": typed_number(hierarchy.height, "BIGINT")}
    tables.known_rows[j]["hierarchy_height"] = height
    names = ["leaf", "level", "node"]
    rungs = exp.values(list(hierarchy.nodes_of_values()), alias="listed", columns=names)
    listed = exp.select(*(exp.column(name, "listed") for name in names)).from_(rungs)
    tables.keep("ancestors", j, {"rungs": listed})
    domain = counts.domain(j)
    steps = Steps(tables)
    query = exp.select(exp.Count(this=exp.Star())).from_(steps.need("ancestors", j))
    ((values,),) = tables.rows(steps.plan(query.where(exp.column("level").eq(0))))
    if values < domain.values:
        secret = counts.bound.microdata.secrets[j - 1].name
        hint = "; an empty first field is the missing value" if domain.missing else ""
        raise InputError(
            f"hierarchy {hierarchy.name} has no line for {domain.values - values:,} of the "
            f"{plural(domain.values, 'value')} of secret {quoted(secret)}; add them{hint}"
        )
    tables.keep("branches", j)
    tables.keep("climbed", j)
