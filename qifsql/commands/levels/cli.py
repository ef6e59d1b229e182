"""``qifsql levels``."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from qifsql.data.option import ATTACK, DATA, DETAILS
from qifsql.errors import InputError, quoted
from qifsql.options import column_roles, groups, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import assigned, names

PANEL = "Levels that are wanted"
NOT_KEPT = 4  # the exit code


def _option(name: str, text: str) -> object:
    """The option of a level."""
    return typer.Option(name, help=text, rich_help_panel=PANEL)


@dataclass(frozen=True)
class Partition:
    """What the adversary knows and wants, and which records and people are meant."""

    qids: Annotated[
        list[str] | None,
        column_roles.qids("Quasi-identifiers, as in attack. Repeatable."),
    ] = None
    secret: Annotated[
        list[str] | None,
        column_roles.secret(
            "Secret (sensitive attribute), as in attack. Repeatable; none: k alone."
        ),
    ] = None
    null: groups.Null = "distinct"
    hierarchy: Annotated[
        list[str] | None,
        column_roles.hierarchy(
            "SECRET=FILE: a hierarchy or mapping of the secret, lines of value;level;level. "
            "With one secret the FILE is enough."
        ),
    ] = None
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            help="The people who may be in the release: k-map and delta-presence.",
            rich_help_panel=DATA,
        ),
    ] = None
    suppressed: Annotated[
        str,
        typer.Option(
            "--suppressed",
            help="Records with * as every quasi-identifier: block (like any other), everyone "
            "(their block is everyone) or out.",
            rich_help_panel=DATA,
        ),
    ] = "block"
    skew: Annotated[
        str,
        typer.Option(
            "--skew",
            help="Skewness bites where a value is so many times as likely as in the release.",
            rich_help_panel=ATTACK,
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
class Required:
    """Levels that are wanted."""

    k: Annotated[str | None, _option("--k", "People in a block, at least.")] = None
    l_: Annotated[
        str | None, _option("--l", "Different values of the secret in a block, at least.")
    ] = None
    l_entropy: Annotated[
        str | None, _option("--l-entropy", "exp of the entropy of a block's values, at least.")
    ] = None
    c: Annotated[
        str | None,
        _option("--c", "Recursive (c, l): the commonest value has less than c times the rest."),
    ] = None
    l_recursive: Annotated[
        str | None,
        _option("--l-recursive", "The l of --c (default: --l, or the fewest values in a block)."),
    ] = None
    t: Annotated[
        str | None, _option("--t", "Distance of a block from the whole release, at most.")
    ] = None
    alpha: Annotated[str | None, _option("--alpha", "Share of a value in a block, at most.")] = None
    beta: Annotated[
        str | None, _option("--beta", "Relative gain of a value in a block, at most.")
    ] = None
    enhanced_beta: Annotated[
        str | None, _option("--enhanced-beta", "The same, and at most -ln of its share.")
    ] = None
    delta: Annotated[
        str | None, _option("--delta", "Log of the factor between shares of a value, below.")
    ] = None
    k_map: Annotated[
        str | None, _option("--k-map", "People of the population in a block, at least.")
    ] = None
    presence_min: Annotated[
        str | None,
        _option("--presence-min", "Share of a population's block in the release, at least."),
    ] = None
    presence_max: Annotated[str | None, _option("--presence-max", "The same, at most.")] = None

    def arguments(self) -> dict[str, Any]:
        """The levels that were given, as arguments of the function."""
        values = {field.name.rstrip("_"): getattr(self, field.name) for field in fields(self)}
        return {name: level for name, level in values.items() if level is not None}


def levels(
    data: Data,
    partition: Partition,
    aims: Required,
    output: Output,
    limits: Limits,
    show_blocks: Annotated[
        bool,
        typer.Option(
            "--show-blocks",
            help="Show the worst blocks: their quasi-identifiers, and values that fewer than 10 "
            "people of a block have.",
            rich_help_panel=DETAILS,
        ),
    ] = False,
    enforce: Annotated[
        bool,
        typer.Option(
            "--enforce",
            help="Exit with 4 when a level that is wanted is not kept.",
            rich_help_panel=PANEL,
        ),
    ] = False,
) -> None:
    """Measure k, l, t and their relatives, who breaks a wanted level, and which attacks bite."""
    from qifsql.commands.levels.levels import broken
    from qifsql.commands.levels.levels import levels as run
    from qifsql.options import show

    show.check(output)
    dataset, thresholds = data.dataset(), aims.arguments()
    if enforce and not set(thresholds) - {"l_recursive"}:
        raise InputError("nothing to enforce: name a level that is wanted, such as --k 5")
    people = partition.population
    with limits.settings() as settings:
        result = run(
            dataset,
            **partition.arguments(),
            **thresholds,
            where=data.where,
            population=people and data.dataset(people),
            show_blocks=show_blocks,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: levels of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("attacks",)), output)
    if enforce and not result:
        runtime.talk(f"not kept: {', '.join(broken(result.frame))}")
        raise typer.Exit(NOT_KEPT)


def _hierarchies(values: Sequence[str] | None, secrets: Sequence[str]) -> dict[str, str]:
    """The files of hierarchies by their secrets, from ``SECRET=FILE``."""
    from qifsql.data.expressions import split_name

    secret_names = [(split_name(secret) or (secret, ""))[0] for secret in secrets]
    files: dict[str, str] = {}
    for text in values or ():
        pair = assigned(text, secret_names)
        if pair is None and len(secret_names) == 1:
            pair = secret_names[0], text
        if pair is None:
            raise InputError("a --hierarchy is written SECRET=FILE")
        name, file = pair
        if name in files:
            raise InputError(f"the hierarchy of {quoted(name)} is given twice; give it once")
        files[name] = file
    return files
