"""Steps to coarser forms for a search: the named ones, or the usual ones of a type.

``compare --until`` and ``anonymise --method lattice`` search them.

Whole numbers: intervals of 5, 10, 50, 100, ... from 0 on; dates: month, quarter, year, 5 and 10
years; timestamps: a day, too; texts that are equally long: ever fewer of their first characters; a
column with a hierarchy: its levels. The last usual step is to drop the quasi-identifier.
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
PERIODS = ("month", "quarter", "year", "5y", "10y")
MOST_CHARACTERS = 12  # of texts that are cut, one by one


def named_steps(changes: Sequence[Change], qids: Sequence[Attribute]) -> list[list[Change]]:
    """Return the named changes, a list per quasi-identifier, in the order in which they are named.

    The user names the finest first. Raises InputError for a change of no quasi-identifier (qid 0),
    and for one that comes after its quasi-identifier is dropped.
    """
    steps: list[list[Change]] = [[] for _ in qids]
    for change in changes:
        if not change.qid:
            raise InputError(
                f"change {quoted(change.text)} is of no quasi-identifier: a search is over coarser "
                "forms; leave it out"
            )
        of_qid = steps[change.qid - 1]
        if of_qid and of_qid[-1].kind == "drop":
            raise InputError(
                f"change {quoted(change.text)} comes after its quasi-identifier is dropped; name "
                "the finest first"
            )
        of_qid.append(change)
    return steps


def usual_steps(
    qids: Sequence[Attribute],
    reaches: Sequence[int],
    lengths: Sequence[int | None],
    hierarchies: Mapping[str, Hierarchy],
) -> list[list[Change]]:
    """Return a list per quasi-identifier of the usual changes, finest first; the last drops it.

    For each quasi-identifier, ``reaches`` has the greatest minus the least of whole numbers, and
    ``lengths`` the length of texts (``common_length``); ``hierarchies`` are by its name.
    """
    steps = []
    for number, (qid, reach, length) in enumerate(zip(qids, reaches, lengths, strict=True), 1):
        of_qid = []
        for form in _usual_forms(qid, reach, length, hierarchies.get(qid.name)):
            kind = "level" if form.startswith("@") else "coarser"
            of_qid.append(Change(text=f"{qid.name}:{form}", kind=kind, qid=number, how=form))
        steps.append([*of_qid, Change(text=f"drop={qid.name}", kind="drop", qid=number, how="")])
    return steps


def common_length(
    qid: Attribute, values: exp.Table, rows: Callable[[exp.Query], Sequence[tuple[Any, ...]]]
) -> int | None:
    """Return the length of all texts of a column; None if they differ in it or are no texts.

    ``values`` is the table of the values, in its column ``value``; ``rows`` runs a query.
    """
    if family(qid.type) not in ("VARCHAR", "ENUM"):
        return None
    text = exp.cast(exp.column("value"), "VARCHAR")
    size = exp.Anonymous(this="length", expressions=[text])
    ends = [exp.Min(this=size), exp.Max(this=size.copy())]
    ((shortest, longest),) = rows(exp.select(*ends).from_(values))
    return longest if shortest == longest else None


def _usual_forms(
    qid: Attribute, reach: int, length: int | None, hierarchy: Hierarchy | None
) -> list[str]:
    """Return the usual coarser forms of a quasi-identifier, finest first: HOW in NAME:HOW.

    ``@1`` is a level of its hierarchy, ``5`` a width of numbers or a number of first characters of
    texts, ``month`` a period. ``reach`` is the greatest less the least number, ``length`` that of
    all texts (None: they differ).
    """
    if hierarchy is not None:
        top_nodes = {line[-1] for line in hierarchy.lines}
        levels = hierarchy.levels - (top_nodes == {TOP})  # a level of * alone is to drop the column
        return [f"@{level}" for level in range(1, levels)]
    kind = family(qid.type)
    if kind in INTEGERS and kind != "UHUGEINT":
        return [str(width) for width in WIDTHS if width < reach]
    if kind == "DATE":
        return list(PERIODS)
    if kind.startswith("TIMESTAMP"):
        return ["day", *PERIODS]
    if length is not None and 1 < length <= MOST_CHARACTERS:
        return [str(n) for n in range(length - 1, 0, -1)]
    return []
