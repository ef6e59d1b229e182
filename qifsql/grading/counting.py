"""What levels are made of: each secret's values, blocks and what moves, kept as tables.

Secrets of few values come from the tallies of one pass (``qifsql.counts``): their blocks are
handled by kind, that is by their counts, of which there are few. Others come from cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from qifsql.counts import Counts
from qifsql.errors import InputError, quoted, several
from qifsql.grading.hierarchy import Hierarchy
from qifsql.grading.steps import Steps, number, row, rows
from qifsql.microdata import plan
from qifsql.plan import Plan
from qifsql.steps import Steps as AttackSteps

ORDINARY, EVERYONE, OUT = "block", "everyone", "out"
SUPPRESSED = (ORDINARY, EVERYONE, OUT)
STAR = "*"


@dataclass(frozen=True)
class Secret:
    """One secret that is graded: its number and name, and by how many columns blocks differ.

    ``by_kind``: blocks are told apart by their counts. Of ``people`` so many have the ``rarest``
    and the ``commonest`` value. ``fewest`` values are in a block; ``certainty`` is the highest
    score of entropy.
    """

    number: int
    name: str
    width: int
    by_kind: bool
    people: int
    rarest: int
    commonest: int
    fewest: int
    certainty: float


def counted(counts: Counts, hierarchies: Mapping[int, Hierarchy], apart: int) -> list[Secret]:
    """Count every secret's blocks. ``apart``: people whose block is everyone, if there are."""
    found = []
    for j, secret in enumerate(counts.bound.secrets, 1):
        width = 1 if j in counts.values else len(counts.bound.qids)
        keep(counts, "places", j, width)
        keep(counts, "whole", j, width)
        if j in counts.values:
            counts.keep("tally_counts", j, lasting=False)
            keep(counts, "kinds", j, width)
            steps = Steps(counts)
            query = exp.select("*").from_(steps.need("kind_pieces", j, width))
            keep_plan(counts, f"pieces_{j}", steps.plan(query))
        elif apart:
            keep_plan(counts, f"pieces_{j}", _with_everyone(counts, j, apart))
        keep(counts, "sized", j, width)
        keep(counts, "grades", j, width)
        keep(counts, "ordered", j, width)
        if j in hierarchies:
            _climb(counts, j, width, hierarchies[j])
        whole, extremes = (one(counts, name, j, width) for name in ("whole", "extremes"))
        found.append(
            Secret(
                number=j,
                name=secret.name,
                width=width,
                by_kind=j in counts.values,
                people=int(whole["people"]),
                rarest=whole["rarest"],
                commonest=whole["commonest"],
                fewest=extremes["fewest"],
                certainty=extremes["certainty"],
            )
        )
    return found


def keep(
    counts: Counts, name: str, j: int, width: int, given: Mapping[str, exp.Query] | None = None
) -> None:
    """Keep a step of ``sql/levels`` as a table."""
    steps = Steps(counts)
    actual = steps.need(name, j, width, given=given)
    last = steps.steps.pop()
    keep_plan(counts, actual, steps.plan(last.query))


def keep_plan(counts: Counts, name: str, made: Plan) -> None:
    """Keep the rows of a plan as a table."""
    counts.keep_rows(name, made)


def one(
    counts: Counts, name: str, j: int, width: int, given: Mapping[str, exp.Query] | None = None
) -> dict[str, Any]:
    """The one row of a step."""
    steps = Steps(counts)
    actual = steps.need(name, j, width, given=given)
    made = steps.plan(exp.select("*").from_(actual))
    counts.sent.append(made)
    return counts.engine.frame(made, "measuring", counts.where).row(0, named=True)


def crowds(counts: Counts, apart: int, everybody: int) -> None:
    """Keep the sizes of blocks, where there is no secret: in the place of grades, number 0."""
    attack = AttackSteps(counts.bound, kept=counts.kept)
    blocks = attack.need("blocks", 0)
    query: exp.Query = exp.select("*").from_(blocks)
    if apart:
        query = query.where(exp.not_(starred(len(counts.bound.qids))))
    keep_plan(counts, "blocks_of_all_0", plan(counts.bound, attack.steps, query))
    steps = Steps(counts)
    steps.need("crowds_of_size", 0, 1, instead={"blocks": "blocks_of_all"})
    last = steps.steps.pop()
    made = last.query
    if apart:
        own = row(
            qid_1=number(-1, "BIGINT"),
            size=number(everybody, "BIGINT"),
            members=number(apart, "BIGINT"),
            blocks=number(1, "BIGINT"),
        )
        made = exp.union(made, own, distinct=False)
    keep_plan(counts, "grades_0", steps.plan(made))


def starred(width: int) -> exp.Expr:
    """Whether all quasi-identifiers of a block are ``*``; false where one is missing."""
    every = exp.and_(
        *(
            exp.EQ(this=exp.column(f"qid_{i}"), expression=exp.Literal.string(STAR))
            for i in range(1, width + 1)
        )
    )
    return exp.func("coalesce", exp.paren(every), exp.false())


def _with_everyone(counts: Counts, j: int, apart: int) -> Plan:
    """The pieces where the block of who is suppressed is everyone, and about them alone."""
    width = len(counts.bound.qids)
    steps = Steps(counts)
    pieces, places = (steps.need(name, j, width) for name in ("pieces", "places"))
    columns = [f"qid_{i}" for i in range(1, width + 1)]
    columns += ["people", "blocks", "stand", "place", "everybody"]
    ordinary = exp.select(*columns).from_(pieces).where(exp.not_(starred(width)))
    own = [exp.alias_(exp.Literal.string(STAR), f"qid_{i}") for i in range(1, width + 1)]
    everyone = exp.select(
        *own,
        exp.alias_(exp.column("everybody"), "people"),
        exp.alias_(number(1, "BIGINT"), "blocks"),
        exp.alias_(number(apart, "BIGINT"), "stand"),
        "place",
        "everybody",
    ).from_(places)
    return steps.plan(exp.union(ordinary, everyone, distinct=False))


def _climb(counts: Counts, j: int, width: int, hierarchy: Hierarchy) -> None:
    """Keep what moves through a hierarchy; InputError where values have no place in it."""
    told = [
        (
            exp.null() if leaf is None else exp.Literal.string(leaf),
            exp.Literal.number(level),
            exp.Literal.number(node),
        )
        for leaf, level, node in hierarchy.rungs()
    ]
    keep(counts, "ancestors", j, width, given={"rungs": rows(("leaf", "level", "node"), told)})
    values = counts.domain(j)
    steps = Steps(counts)
    first = exp.EQ(this=exp.column("level"), expression=exp.Literal.number(0))
    query = exp.select(exp.alias_(exp.Count(this=exp.Star()), "there"))
    made = steps.plan(query.from_(steps.need("ancestors", j, width)).where(first))
    ((there,),) = counts.engine.rows(made, "measuring", counts.where)
    if there < values.values:
        secret = counts.bound.secrets[j - 1].name
        hint = "; an empty first field is the missing value" if values.missing else ""
        raise InputError(
            f"hierarchy {hierarchy.name} has no line for {values.values - there:,} of the "
            f"{several(values.values, 'value')} of secret {quoted(secret)}; add them{hint}"
        )
    keep(counts, "branches", j, width)
    keep(counts, "climbed", j, width)
