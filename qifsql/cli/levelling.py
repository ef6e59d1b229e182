"""``qifsql levels``."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from qifsql.cli import options, roles, running
from qifsql.cli.options import Data, Limits, Output
from qifsql.cli.typed import assigned, names
from qifsql.errors import InputError, quoted

WANTED = "Levels that are wanted"
NOT_KEPT = 4  # the exit code


def _wanted(name: str, told: str) -> object:
    """The option of a level."""
    return typer.Option(name, help=told, rich_help_panel=WANTED)


@dataclass(frozen=True)
class Partition:
    """What the adversary knows and wants, and which records and people are meant."""

    qids: Annotated[
        list[str] | None,
        roles.qids("Quasi-identifiers, as in attack. Repeatable."),
    ] = None
    secret: Annotated[
        list[str] | None,
        roles.secret("Secret (sensitive attribute), as in attack. Repeatable; none: k alone."),
    ] = None
    null: options.Null = "distinct"
    hierarchy: Annotated[
        list[str] | None,
        roles.hierarchy(
            "SECRET=FILE: a hierarchy or mapping of the secret, lines of value;level;level. "
            "With one secret the FILE is enough."
        ),
    ] = None
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            help="The people who may be in the release: k-map and delta-presence.",
            rich_help_panel=options.DATA,
        ),
    ] = None
    suppressed: Annotated[
        str,
        typer.Option(
            "--suppressed",
            help="Records with * as every quasi-identifier: block (like any other), everyone "
            "(their block is everyone) or out.",
            rich_help_panel=options.DATA,
        ),
    ] = "block"
    skew: Annotated[
        str,
        typer.Option(
            "--skew",
            help="Skewness bites where a value is so many times as likely as in the release.",
            rich_help_panel=options.ATTACK,
        ),
    ] = "2"

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the function."""
        secrets = names(self.secret)
        return {
            "qids": names(self.qids),
            "secret": secrets,
            "null": self.null,
            "hierarchy": _hierarchies(self.hierarchy, secrets),
            "suppressed": self.suppressed,
            "skew": self.skew,
        }


@dataclass(frozen=True)
class Wanted:
    """Levels that are wanted."""

    k: Annotated[str | None, _wanted("--k", "People in a block, at least.")] = None
    l_: Annotated[
        str | None, _wanted("--l", "Different values of the secret in a block, at least.")
    ] = None
    l_entropy: Annotated[
        str | None, _wanted("--l-entropy", "exp of the entropy of a block's values, at least.")
    ] = None
    c: Annotated[
        str | None,
        _wanted("--c", "Recursive (c, l): the commonest value has less than c times the rest."),
    ] = None
    l_recursive: Annotated[
        str | None,
        _wanted("--l-recursive", "The l of --c (default: --l, or the fewest values in a block)."),
    ] = None
    t: Annotated[
        str | None, _wanted("--t", "Distance of a block from the whole release, at most.")
    ] = None
    alpha: Annotated[str | None, _wanted("--alpha", "Share of a value in a block, at most.")] = None
    beta: Annotated[
        str | None, _wanted("--beta", "Relative gain of a value in a block, at most.")
    ] = None
    enhanced_beta: Annotated[
        str | None, _wanted("--enhanced-beta", "The same, and at most -ln of its share.")
    ] = None
    delta: Annotated[
        str | None, _wanted("--delta", "Log of the factor between shares of a value, below.")
    ] = None
    k_map: Annotated[
        str | None, _wanted("--k-map", "People of the population in a block, at least.")
    ] = None
    presence_min: Annotated[
        str | None,
        _wanted("--presence-min", "Share of a population's block in the release, at least."),
    ] = None
    presence_max: Annotated[str | None, _wanted("--presence-max", "The same, at most.")] = None

    def arguments(self) -> dict[str, Any]:
        """The levels that were given, as arguments of the function."""
        told = {field.name.rstrip("_"): getattr(self, field.name) for field in fields(self)}
        return {name: level for name, level in told.items() if level is not None}


def levels(
    data: Data,
    partition: Partition,
    wanted: Wanted,
    output: Output,
    limits: Limits,
    show_blocks: Annotated[
        bool,
        typer.Option(
            "--show-blocks",
            help="Show the worst blocks: their quasi-identifiers, and values that fewer than 10 "
            "people of a block have.",
            rich_help_panel=options.TOLD,
        ),
    ] = False,
    enforce: Annotated[
        bool,
        typer.Option(
            "--enforce",
            help="Exit with 4 when a level that is wanted is not kept.",
            rich_help_panel=WANTED,
        ),
    ] = False,
) -> None:
    """Measure k, l, t and their relatives, who breaks a wanted level, and which attacks bite."""
    from qifsql.cli import show
    from qifsql.grading.levels import levels as run
    from qifsql.report import levels as view

    show.check(output)
    dataset, asked = data.dataset(), wanted.arguments()
    if enforce and not set(asked) - {"l_recursive"}:
        raise InputError("nothing to enforce: name a level that is wanted, such as --k 5")
    people = partition.population
    with limits.settings() as settings:
        result = run(
            dataset,
            **partition.arguments(),
            **asked,
            where=data.where,
            population=people and data.dataset(people),
            show_blocks=show_blocks,
            settings=settings,
        )
    running.remarks(result.notes, quiet=limits.quiet)

    details = {"attacks": result.attacks}
    if result.worst is not None:
        details["worst"] = result.worst
    title = f"qifsql: levels of {dataset.name}"
    show.show(
        show.Shown(
            result.frame, result.origin, view.levels, title, details, ("attacks",), result.notes
        ),
        output,
    )
    if enforce and result.broken:
        running.talk(f"not kept: {', '.join(result.broken)}")
        raise typer.Exit(NOT_KEPT)


def _hierarchies(values: Sequence[str] | None, secrets: Sequence[str]) -> dict[str, str]:
    """The files of hierarchies by their secrets, from ``SECRET=FILE``."""
    from qifsql.expressions import split_name

    known = [(split_name(secret) or (secret, ""))[0] for secret in secrets]
    found: dict[str, str] = {}
    for text in values or ():
        pair = assigned(text, known)
        if pair is None and len(known) == 1:
            pair = known[0], text
        if pair is None:
            raise InputError("a --hierarchy is written SECRET=FILE")
        name, file = pair
        if name in found:
            raise InputError(f"the hierarchy of {quoted(name)} is given twice; give it once")
        found[name] = file
    return found
