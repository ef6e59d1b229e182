"""``qifsql unhash``, ``link`` and ``unicity``: who can be linked, and how surely."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.cli import options, roles, running
from qifsql.cli.options import Data, Limits, Output
from qifsql.cli.typed import names
from qifsql.errors import InputError


@dataclass(frozen=True)
class Dictionary:
    """Which column holds hashes of what."""

    column: Annotated[
        str,
        typer.Option("--column", "-c", help="The column of hashes.", rich_help_panel=options.DATA),
    ]
    hash_: Annotated[
        str,
        typer.Option("--hash", help="md5, sha1 or sha256.", rich_help_panel=options.ATTACK),
    ]
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            "--pattern",
            "-p",
            help="What may have been hashed, as in '[0-9][A-Z][0-9]{2}': classes, \\d, {n}, {m,n}, "
            "?, (), |. Repeatable.",
            rich_help_panel=options.ATTACK,
        ),
    ] = None
    candidates: Annotated[
        Path | None,
        typer.Option(
            "--candidates",
            help="A file of further candidates: .txt with one on each line, or the column "
            "candidate of CSV or Parquet.",
            rich_help_panel=options.ATTACK,
        ),
    ] = None
    salt: Annotated[
        str,
        typer.Option(
            "--salt", help="Text hashed before the candidate.", rich_help_panel=options.ATTACK
        ),
    ] = ""
    salt_after: Annotated[
        str,
        typer.Option("--salt-after", help="Text hashed after it.", rich_help_panel=options.ATTACK),
    ] = ""
    most: Annotated[
        int,
        typer.Option(
            "--max", help="Refuse more candidates than this.", rich_help_panel=options.ATTACK
        ),
    ] = 1_000_000_000
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping",
            help="Write what was found for each hash: .parquet or .csv. It names people.",
            rich_help_panel=options.RUN,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the function of the package."""
        return {
            "column": self.column,
            "algorithm": self.hash_,
            "patterns": self.pattern or (),
            "candidates": self.candidates,
            "salt": self.salt,
            "salt_after": self.salt_after,
            "most": self.most,
            "mapping": self.mapping,
        }


def unhash(
    data: Data,
    output: Output,
    limits: Limits,
    dictionary: Dictionary,
) -> None:
    """Dictionary attack: hash all identifiers there may be, and look them up in a column."""
    from qifsql.cli import show
    from qifsql.linkage.unhash import unhash as run
    from qifsql.report import linkages

    show.check(output, mapping=dictionary.mapping)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(
            dataset,
            **dictionary.arguments(),
            where=data.where,
            settings=settings,
        )
    mapping = dictionary.mapping
    done = [f"the mapping is written to {mapping}; it names people"] if mapping else []
    running.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: hashes of {dataset.name}"
    details = {"patterns": result.patterns} if result.patterns.height else {}
    shown = show.Shown(
        result.frame, result.origin, linkages.unhashed, title, details, ("patterns",), result.notes
    )
    show.show(shown, output)


def link(
    data: Data,
    register: Annotated[
        str, typer.Argument(metavar="REGISTER", help="Whom the adversary knows: a voter list.")
    ],
    output: Output,
    limits: Limits,
    qids: Annotated[
        list[str],
        roles.qids(
            'What both have: a,b; zip:3; NAME=EXPRESSION; "1:zip,2:plz" where names differ.'
        ),
    ],
    truth: roles.Truth = None,
    register_where: roles.RegisterWhere = None,
) -> None:
    """Link FILE, a release, with a register of names: unique in one, in both, and correct."""
    from qifsql.cli import show
    from qifsql.linkage.link import link as run
    from qifsql.report import linkages

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(
            dataset,
            data.dataset(register),
            qids=names(qids),
            truth=names(truth),
            where=data.where,
            register_where=register_where,
            settings=settings,
        )
    running.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: {dataset.name} and a register"
    details = {"confidence": result.confidence}
    shown = show.Shown(
        result.frame, result.origin, linkages.linked, title, details, ("confidence",), result.notes
    )
    show.show(shown, output)


def unicity(
    data: Data,
    output: Output,
    limits: Limits,
    key: Annotated[
        str,
        typer.Option(
            "--key",
            help="The pseudonym: all records of a person have the same.",
            rich_help_panel=options.DATA,
        ),
    ],
    qids: Annotated[
        list[str],
        roles.qids(
            "What is known of a record: a,b; coarser, as in time:hour,place:3; NAME=EXPRESSION."
        ),
    ],
    points: Annotated[
        str,
        typer.Option(
            "--points",
            help="How many records of a person are known: 1,2,3,4.",
            rich_help_panel=options.ATTACK,
        ),
    ] = "1,2,3,4",
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            help="Draws of a person and records, where not all can be compared.",
            rich_help_panel=options.ATTACK,
        ),
    ] = 10_000,
) -> None:
    """Of a log with pseudonyms: how many people a few of their own records single out."""
    from qifsql.cli import show
    from qifsql.linkage.unicity import unicity as run
    from qifsql.report import linkages

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(
            dataset,
            key=key,
            qids=names(qids),
            points=numbers(points),
            draws=draws,
            seed=limits.seed or 0,
            where=data.where,
            settings=settings,
        )
    running.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: unicity of {dataset.name}"
    show.show(
        show.Shown(result.frame, result.origin, linkages.unicity, title, notes=result.notes), output
    )


def numbers(text: str) -> tuple[int, ...]:
    """``1,2,3`` as numbers; InputError where they are none."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError("--points are whole numbers, as in 1,2,3,4") from None
