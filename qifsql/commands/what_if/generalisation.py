"""Ladders of coarser forms for a search: the named ones, or the usual ones of a type.

Usual ladders: whole numbers have intervals of 5, 10, 50, 100, ... from 0 on; dates have month,
quarter, year; timestamps have day, month, quarter, year; texts of equal length have fewer and fewer
of their first characters; a column with a hierarchy has its levels. Their last rung always drops
the quasi-identifier.
"""

from collections.abc import Mapping, Sequence

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute
from qifsql.counting.losses import Scale
from qifsql.data.hierarchy import TOP, Hierarchy
from qifsql.data.types import INTEGERS, family
from qifsql.errors import InputError, quoted

WIDTHS = (5, 10, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000, 500_000, 1_000_000)
DATES = ("month", "quarter", "year")
CUTS = 12  # characters of the longest texts that are cut, one by one


def named(changes: Sequence[Change], qids: Sequence[Attribute]) -> list[list[Change]]:
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


def usual(
    qids: Sequence[Attribute],
    scales: Sequence[Scale],
    lengths: Sequence[int | None],
    hierarchies: Mapping[str, Hierarchy],
) -> list[list[Change]]:
    """Return the usual ladders; ``lengths`` are those of texts of equal length, else None."""
    ladders = []
    for number, (qid, scale, length) in enumerate(zip(qids, scales, lengths, strict=True), 1):
        hows = _hows(qid, scale, length, hierarchies.get(qid.name))
        rungs = [
            Change(f"{qid.name}:{how}", "level" if how[0] == "@" else "coarser", number, how)
            for how in hows
        ]
        ladders.append([*rungs, Change(f"drop={qid.name}", "drop", number, "")])
    return ladders


def _hows(
    qid: Attribute, scale: Scale, length: int | None, hierarchy: Hierarchy | None
) -> list[str]:
    if hierarchy is not None:
        lasts = {line[-1] for line in hierarchy.lines}
        top = hierarchy.levels - (lasts == {TOP})
        return [f"@{level}" for level in range(1, top)]
    kind = family(qid.type)
    if kind in INTEGERS and kind != "UHUGEINT":
        return [str(width) for width in WIDTHS if width < scale.whole]
    if kind == "DATE":
        return list(DATES)
    if kind.startswith("TIMESTAMP"):
        return ["day", *DATES]
    if length is not None and 1 < length <= CUTS:
        return [str(n) for n in range(length - 1, 0, -1)]
    return []
