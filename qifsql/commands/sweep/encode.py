"""Encoding: the people of a release as small numbers, before they are swept.

Each attribute gets a dictionary, its values numbered in their order. The people are joined with the
dictionaries once; from then on there are only codes. The generated query names nothing of the
user's: it reads the step ``microdata``.
"""

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.statements import Statements, number, typed
from qifsql.data.relation import LOADED
from qifsql.query import microdata
from qifsql.query.plan import Plan, Step


def coded(attack: BoundAttack, layout: Layout) -> Plan:
    """One row per different person: codes and counters, equal rows merged."""
    steps = [
        *microdata.microdata(attack),
        Step("coded", "One row per person, coded.", _joined(layout)),
    ]
    merged = Statements(layout.words, valued=layout.valued).query("merged")
    return microdata.plan(attack, steps, merged)


def _joined(layout: Layout) -> exp.Select:
    """The people joined with every dictionary."""
    qids = [f"qid_{i + 1}" for i in layout.order]
    secrets = [f"secret_{j}" for j in layout.secrets]
    query = exp.select(
        exp.alias_(typed(_code(qids[0]), "INTEGER"), "entry"),
        exp.alias_(_rest(layout, qids, secrets), "rest"),
        *(exp.alias_(word, f"word_{i}") for i, word in enumerate(_words(layout), 1)),
    ).from_("microdata")
    for name in (*qids, *secrets):
        table = exp.alias_(
            exp.table_(f"dictionary_{name}", db="main", catalog=LOADED), f"of_{name}", table=True
        )
        same = exp.NullSafeEQ(
            this=exp.column(name, table="microdata"),
            expression=exp.column("value", table=f"of_{name}"),
        )
        query = query.join(table, on=same)
    return query


def _rest(layout: Layout, qids: Sequence[str], secrets: Sequence[str]) -> exp.Expr:
    kind = layout.rest_type
    parts: list[exp.Expr] = [number(0, kind)]
    for position, name in enumerate(qids[1:], 1):
        code = typed(_code(name), kind)
        shift = exp.Literal.number(layout.shift(position))
        parts.append(exp.paren(exp.BitwiseLeftShift(this=code, expression=shift)))
    if layout.valued:
        parts.append(typed(_code(secrets[0]), kind))
    return reduce(lambda a, b: exp.BitwiseOr(this=a, expression=b), parts)


def _words(layout: Layout) -> list[exp.Expr]:
    """Each word as a sum: one for the person, and one for each counted value that she has."""
    sums: dict[int, list[exp.Expr]] = {word: [] for word in range(1, layout.words + 1)}
    sums[1].append(number(1, layout.word_type))
    for i, (j, code) in enumerate(layout.counters, 1):
        word, below = layout.place(i)
        has = exp.EQ(this=_code(f"secret_{j}"), expression=exp.Literal.number(code))
        counted = exp.Case().when(has, number(1 << below, "HUGEINT")).else_(number(0, "HUGEINT"))
        sums[word].append(counted)
    return [reduce(lambda a, b: exp.Add(this=a, expression=b), terms) for terms in sums.values()]


def _code(name: str) -> exp.Column:
    return exp.column("code", table=f"of_{name}")
