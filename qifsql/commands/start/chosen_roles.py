"""The roles to begin with: the suggested ones, and those that were named instead."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qifsql.commands.describe import view
from qifsql.commands.describe.describe import household_of, person_of
from qifsql.commands.start.spec import Roles
from qifsql.data.option import as_names
from qifsql.data.types import INTEGERS, family
from qifsql.errors import ColumnError, did_you_mean, quoted

Rows = Sequence[Mapping[str, Any]]
PEOPLE = ("person", "household", "weight")
MANY = 20  # different values from which on a change is proposed
COUNTED = ("name: age", "values: age", "name: time")  # reasons of roles of ages and years


@dataclass(frozen=True)
class Chosen:
    """Quasi-identifiers and secrets; the columns of persons, households and weights, if any."""

    qids: Sequence[str]
    secrets: Sequence[str]
    person: str | None = None
    household: str | None = None
    weight: str | None = None

    @property
    def people(self) -> dict[str, str]:
        """Return the columns of persons, households and weights by role."""
        columns = {role: getattr(self, role) for role in PEOPLE}
        return {role: name for role, name in columns.items() if name}

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of an attack with these roles."""
        secret = {"secret": list(self.secrets)} if self.secrets else {}
        return {"qids": list(self.qids), **secret, **self.people}

    @property
    def alone(self) -> bool:
        """Return whether a sweep attacks each subset by itself."""
        return bool(self.person or self.weight)


def choose(rows: Rows, options: Roles, dataset: str) -> Chosen:
    """Return the suggested roles of described columns, changed as the ``options`` say.

    A person, household or weight that is named as an empty text is none. ColumnError for a column
    to leave out that ``dataset`` does not have.
    """
    also, without = as_names(options.get("also")), as_names(options.get("without"))
    names = [row["column"] for row in rows]
    for name in without:
        if name not in names:
            raise ColumnError(f"{dataset} has no column {quoted(name)}{did_you_mean(name, names)}")
    usable = [row for row in rows if row["column"] not in without]
    people = {
        "person": person_of(usable),
        "household": household_of(usable) if not options.get("person") else None,
        "weight": None,
    }
    named: Mapping[str, Any] = options
    people |= {role: named[role] for role in PEOPLE if named.get(role) is not None}
    qids, secrets = view.proposal([row for row in usable if row["column"] not in people.values()])
    qids += [name for name in also if name not in qids]
    return Chosen(qids, [name for name in secrets if name not in also], **people)


def proposed_changes(rows: Rows, qids: Sequence[str]) -> list[str]:
    """Return a change of each quasi-identifier that has many dates, ages or years."""
    changes = []
    for row in rows:
        kind = family(row["type"])
        if row["column"] not in qids or (row["distinct"] or 0) < MANY:
            continue
        if kind == "DATE" or kind.startswith("TIMESTAMP"):
            changes.append(f"{row['column']}:year")
        elif kind in INTEGERS and row["why"] in COUNTED:
            changes.append(f"{row['column']}:5")
    return changes


def lines(rows: Rows, chosen: Chosen) -> Iterator[str]:
    """Yield a line for each column of persons, households and weights: what it is taken for."""
    if chosen.person:
        yield (
            f"{quoted(chosen.person)} says whose record it is, so that people are counted; "
            "--person '' counts records"
        )
    if chosen.household:
        yield (
            f"{quoted(chosen.household)} says who lives together, so that households are attacked, "
            "too; --household '' leaves them out"
        )
    if chosen.weight:
        yield f"{quoted(chosen.weight)} weights the records"
    weights = [row["column"] for row in rows if row["suggested_role"] == "weight"]
    if weights and not chosen.weight and not chosen.person:
        yield f"{quoted(weights[0])} looks like a weight and is left out; --weight takes it"
