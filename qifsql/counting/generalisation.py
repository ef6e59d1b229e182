"""Ladders of coarser forms for a search: the named ones, or the usual ones of a type.

``compare --until`` and ``anonymise --method lattice`` search them.

Whole numbers: intervals of 5, 10, 50, 100, ... from 0 on; dates: month, quarter, year; timestamps:
day, month, quarter, year; texts that are equally long: ever fewer of their first characters; a
column with a hierarchy: its levels. The last rung is always to drop the quasi-identifier.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute
from qifsql.data.hierarchy import TOP, Hierarchy
from qifsql.data.types import INTEGERS, family
from qifsql.errors import InputError, quoted

WIDTHS = (5, 10, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000, 500_000, 1_000_000)
DATES = ("month", "quarter", "year")
CUTS = 12  # characters of the longest texts that are cut, one by one


def named_steps(changes: Sequence[Change], qids: Sequence[Attribute]) -> list[list[Change]]:
    """Return the named changes as the ladder of each quasi-identifier, in their order."""
    ladders: list[list[Change]] = [[] for _ in qids]
    for change in changes:
        if not change.qid:
            raise InputError(
                f"change {quoted(change.text)} is of no quasi-identifier: a search is over coarser "
                "forms; leave it out"
            )
        rungs = ladders[change.qid - 1]
        if rungs and rungs[-1].kind == "drop":
            raise InputError(
                f"change {quoted(change.text)} comes after its quasi-identifier is dropped; name "
                "the finest first"
            )
        rungs.append(change)
    return ladders


def usual_steps(
    qids: Sequence[Attribute],
    reaches: Sequence[int],
    lengths: Sequence[int | None],
    hierarchies: Mapping[str, Hierarchy],
) -> list[list[Change]]:
    """Return the usual ladders.

    ``reaches``: how far the least and the greatest of whole numbers are apart; ``lengths``: those
    of texts that are all equally long.
    """
    ladders = []
    for number, (qid, reach, length) in enumerate(zip(qids, reaches, lengths, strict=True), 1):
        hows = _forms(qid, reach, length, hierarchies.get(qid.name))
        rungs = [
            Change(f"{qid.name}:{how}", "level" if how[0] == "@" else "coarser", number, how)
            for how in hows
        ]
        ladders.append([*rungs, Change(f"drop={qid.name}", "drop", number, "")])
    return ladders


def common_length(
    qid: Attribute, values: exp.Table, rows: Callable[[exp.Query], Sequence[tuple[Any, ...]]]
) -> int | None:
    """Return how long the texts of a column are, where they are all equally long.

    ``values`` has them in its column ``value``; ``rows`` runs a query.
    """
    if family(qid.type) not in ("VARCHAR", "ENUM"):
        return None
    text = exp.cast(exp.column("value"), "VARCHAR")
    size = exp.Anonymous(this="length", expressions=[text])
    ends = [exp.Min(this=size), exp.Max(this=size.copy())]
    ((shortest, longest),) = rows(exp.select(*ends).from_(values))
    return longest if shortest == longest else None


def _forms(
    qid: Attribute, reach: int, length: int | None, hierarchy: Hierarchy | None
) -> list[str]:
    """Return the usual coarser forms of a quasi-identifier, finest first: HOW in NAME:HOW."""
    if hierarchy is not None:
        lasts = {line[-1] for line in hierarchy.lines}
        top = hierarchy.levels - (lasts == {TOP})
        return [f"@{level}" for level in range(1, top)]
    kind = family(qid.type)
    if kind in INTEGERS and kind != "UHUGEINT":
        return [str(width) for width in WIDTHS if width < reach]
    if kind == "DATE":
        return list(DATES)
    if kind.startswith("TIMESTAMP"):
        return ["day", *DATES]
    if length is not None and 1 < length <= CUTS:
        return [str(n) for n in range(length - 1, 0, -1)]
    return []
