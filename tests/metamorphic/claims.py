"""The relations that are claimed, by name, and what they do not hold for."""

import random
from collections.abc import Sequence

from campaign.draft import identifier, literal, row
from campaign.tables import ENDINGS

from metamorphic import relations
from metamorphic.lines import Asked, Change
from metamorphic.relations import Relation, collective, each, known, shows_blocks

COMMANDS = (
    *("attack", "sweep", "adversaries", "describe", "levels", "check", "inspect", "link"),
    *("unicity", "estimate", "suda", "dp", "dit", "compose"),
    *("compare", "tables", "synthetic"),
)
"""Commands whose answers are numbers about a table."""
ON_SETS = ("attack", "sweep", "levels", "suda")


def _permuted(rng: random.Random, before: Asked) -> list[Change]:
    number = rng.random()
    return [Change(content=lambda t: relations.permuted(t, random.Random(number)))]


def _of_kind(rng: random.Random, before: Asked) -> list[Change]:
    kinds = [e for e in ENDINGS if e not in ("/", "*")]
    return [Change(ending=rng.choice(kinds))]


def _more_known(rng: random.Random, before: Asked) -> list[Change]:
    left = [q for q in before.data.qids if q not in known(before.argv)]
    return [Change(words=["--qids", row([rng.choice(left)])])] if left else []


def _constant_known(rng: random.Random, before: Asked) -> list[Change]:
    return [Change(content=relations.widened, words=["--qids", "constant_"])]


def _groups(rng: random.Random, before: Asked) -> list[Change]:
    """One change for each value of a quasi-identifier that is known, and one for the missing."""
    names = [q for q in known(before.argv) if before.data.kinds[q] in ("text", "whole", "yes")]
    if not names:
        return []
    name = rng.choice(names)
    column = identifier(name)
    conditions = [f"{column} = {literal(value)}" for value in before.data.values(name)]
    if any(r[name] is None for r in before.data.rows):
        conditions.append(f"{column} IS NULL")
    return [Change(where=condition) for condition in conditions]


def _always(*changes: Change) -> relations.Changes:
    return lambda rng, before: list(changes)


def _on_sets(argv: Sequence[str]) -> bool:
    return collective(argv) or (argv[0] in ("levels", "suda") and "--person" not in argv)


RELATIONS: dict[str, Relation] = {
    "rows in another order": Relation(
        _permuted,
        each(relations.same_rows),
        {"compare": "a person's own record in a release is the one in the same place"},
    ),
    "rows in several files": Relation(
        lambda rng, before: [Change(parts=rng.choice((2, 3, 5)))], each(relations.same)
    ),
    "another kind of file": Relation(
        _of_kind,
        each(relations.same_numbers),
        {"describe": "types are those of the file, and CSV has none"},
    ),
    "other names of columns": Relation(
        _always(Change(roles=relations.renamed)),
        each(relations.same_renamed),
        {"describe": "roles are suggested by names"},
    ),
    "other values of cells": Relation(
        _always(Change(roles=relations.recoded)), each(relations.same_numbers)
    ),
    "one more column": Relation(
        _always(Change(content=relations.widened)),
        each(relations.same),
        dict.fromkeys(("describe", "check"), "all columns of the file are listed"),
    ),
    "one more column that is known": Relation(
        _constant_known,
        each(relations.without_sets),
        only=lambda argv: collective(argv) or argv[0] == "levels" or shows_blocks(argv),
    ),
    "everybody twice": Relation(
        _always(Change(content=relations.doubled)),
        each(relations.twice),
        only=lambda argv: _on_sets(argv) or argv[0] in ("sweep", "describe") or shows_blocks(argv),
    ),
    "one more attribute": Relation(_more_known, each(relations.not_less), only=_on_sets),
    "groups": Relation(_groups, relations.sums, only=collective),
    "nothing known": Relation(
        lambda rng, before: [
            Change(content=relations.widened, words=["--qids", "constant_"], replaced=True)
        ],
        relations.knows_nothing,
        only=collective,
    ),
    "threads": Relation(
        _always(Change(words=["--threads", "1"]), Change(words=["--threads", "8"])),
        each(relations.same),
    ),
    "memory": Relation(
        _always(Change(words=["--memory", "300MB"]), Change(words=["--memory", "4GB"])),
        each(relations.same),
    ),
}
