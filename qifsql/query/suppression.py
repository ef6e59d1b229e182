"""Suppressed records: those whose cells stand for anything, in every quasi-identifier.

A text is ``*``. A generalised cell (interval or list) is NULL, as qifsql writes it to Parquet. Any
other value is missing, where the release has a manifest of qifsql, which writes suppressed numbers
so. A record with ``*`` in some quasi-identifiers only is like any other: ``*`` is a value there.
"""

from collections.abc import Sequence

from sqlglot import exp

from qifsql.adversary.spec import Attribute, Microdata
from qifsql.data.types import family, generalised
from qifsql.query.columns import number
from qifsql.query.plan import Step

STAR = "*"
TEXTS = ("VARCHAR", "ENUM")
PARTS = {
    "shown": "One row per individual whose record is not suppressed.",
    "hidden": "One row per individual whose record is suppressed: it is one of anything.",
}


def may_be_suppressed(qids: Sequence[Attribute], *, written_here: bool) -> bool:
    """Return whether the types allow suppressed records; ``written_here``: qifsql's own release."""
    marked = [family(q.type) in TEXTS or generalised(q.type) is not None for q in qids]
    return bool(qids) and all(q.there is None for q in qids) and (written_here or all(marked))


def all_suppressed(qids: Sequence[Attribute], cells: Sequence[exp.Expr]) -> exp.Expr:
    """Return the condition that all cells, one per qid, are suppressed: ``*`` or, no text, NULL."""
    tests: list[exp.Expr] = []
    for qid, cell in zip(qids, cells, strict=True):
        kind = family(qid.type)
        value = exp.cast(cell, "VARCHAR") if kind == "ENUM" else cell
        tests.append(value.eq(STAR) if kind in TEXTS else cell.is_(exp.null()))
    return exp.func("coalesce", exp.paren(exp.and_(*tests)), exp.false())


def suppressed_cells(tests: Sequence[exp.Expr | None], secret: int) -> exp.Select:
    """Return the query of how many individuals have the same suppressed cells, and the same secret.

    ``tests`` has the condition that each quasi-identifier is suppressed (None: it never is).
    ``stars`` has a bit for each; ``value`` is that of a secret by its number, NULL for 0.
    """
    stars: exp.Expr = number(0)
    for i, test in enumerate(tests):
        if test is not None:
            bit = exp.Case().when(test.copy(), number(1 << i)).else_(number(0))
            stars = exp.Add(this=stars, expression=exp.paren(bit, copy=False))
    value = exp.column(f"secret_{secret}") if secret else exp.null()
    columns = [exp.alias_(stars, "stars"), exp.alias_(value, "value")]
    query = exp.select(*columns, exp.alias_(exp.Count(this=exp.Star()), "records"))
    query = query.from_("microdata").where(exp.or_(*(test for test in tests if test is not None)))
    query.set("group", exp.Group(all=True))
    return query


def is_hidden(microdata: Microdata) -> exp.Expr:
    """Return the condition that an individual of ``microdata`` has a suppressed record.

    An individual with a set of records (``qid_1`` is their list) is hidden if all are suppressed.
    """
    names = [exp.to_identifier(f"qid_{i}") for i, _ in enumerate(microdata.qids, 1)]
    if microdata.person is None or microdata.known_records == "one":
        return all_suppressed(microdata.qids, [exp.Column(this=name) for name in names])
    record = exp.to_identifier("r")
    fields = [exp.Dot(this=record.copy(), expression=name) for name in names]
    is_shown = exp.not_(all_suppressed(microdata.qids, fields))
    by_record = exp.Lambda(this=is_shown, expressions=[record])
    shown_records = exp.func("list_filter", exp.column("qid_1"), by_record, dialect="duckdb")
    return exp.func("len", shown_records, dialect="duckdb").eq(number(0))


def part_of_people(microdata: Microdata, part: str) -> Step:
    """Return the step of the individuals whose records are ``shown``, or are ``hidden``."""
    hidden = is_hidden(microdata)
    condition = hidden if part == "hidden" else exp.not_(exp.paren(hidden))
    return Step(part, PARTS[part], exp.select("*").from_("microdata").where(condition))
