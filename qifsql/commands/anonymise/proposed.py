"""Roles that describe proposes, where a request names none: quasi-identifiers and identifiers."""

from collections.abc import Sequence
from dataclasses import dataclass

from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.commands.describe import view
from qifsql.commands.describe.describe import MOST, describe, person_of
from qifsql.data.dataset import Dataset
from qifsql.data.option import as_names
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted


@dataclass(frozen=True)
class Proposals:
    """Proposed quasi-identifiers, and the column of the person; what is left out then; notes."""

    qids: tuple[str, ...] = ()
    person: str | None = None
    drop: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def propose_roles(
    dataset: Dataset, options: AnonymiseOptions, settings: Settings | None
) -> Proposals:
    """Return the quasi-identifiers and the person that start would take, with notes.

    Columns that are named in other roles or left out are no quasi-identifiers; those with a
    hierarchy are. Raises InputError if there are none.
    """
    rows = describe(dataset, where=options["where"], settings=settings).rows()
    person, drop = options["person"], as_names(options["drop"])
    proposed_person = person_of(rows) if person is None else None
    taken = {*as_names(options["secret"]), *drop, person, proposed_person}
    qids, _ = view.proposal([row for row in rows if row["column"] not in taken])
    qids += [name for name in options["hierarchies"] or () if name not in qids]
    if not qids:
        raise InputError(
            f"no column of {dataset.name} looks like a quasi-identifier; name some with --qids"
        )
    reasons = view.reasoned(rows, qids)
    notes = [f"no quasi-identifiers are named: these are taken, as start does: {reasons}"]
    if proposed_person is not None and proposed_person not in as_names(options["keep"]):
        name = quoted(proposed_person)
        notes.append(f"{name} says whose record it is, and is left out; release it with --keep")
        drop = (*drop, proposed_person)
    return Proposals(qids=tuple(qids), person=proposed_person, drop=drop, notes=tuple(notes))


def identifiers_among(
    dataset: Dataset, names: Sequence[str], where: str | None, settings: Settings | None
) -> list[str]:
    """Return the columns among ``names`` that identify people.

    They are names, addresses and numbers of people; unique values of other columns are not.
    """
    slices = [list(names[start : start + MOST]) for start in range(0, len(names), MOST)]
    results = (describe(dataset, columns=s, where=where, settings=settings) for s in slices)
    return [
        row["column"]
        for result in results
        for row in result.rows()
        if row["suggested_role"] == "identifier"
        or (row["suggested_role"] == "key" and row["confidence"] == "high")
    ]
