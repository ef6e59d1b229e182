"""``qifsql unhash``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.data.option import ATTACK, DATA, RUN
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output


@dataclass(frozen=True)
class Dictionary:
    """Which column holds hashes of what."""

    column: Annotated[
        str,
        typer.Option("--column", "-c", help="The column of hashes.", rich_help_panel=DATA),
    ]
    hash_: Annotated[
        str,
        typer.Option("--hash", help="md5, sha1 or sha256.", rich_help_panel=ATTACK),
    ]
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            "--pattern",
            "-p",
            help="What may have been hashed, as in '[0-9][A-Z][0-9]{2}': classes, \\d, {n}, {m,n}, "
            "?, (), |. Repeatable.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    candidates: Annotated[
        Path | None,
        typer.Option(
            "--candidates",
            help="A file of further candidates: .txt with one on each line, or the column "
            "candidate of CSV or Parquet.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    salt: Annotated[
        str,
        typer.Option("--salt", help="Text hashed before the candidate.", rich_help_panel=ATTACK),
    ] = ""
    salt_after: Annotated[
        str,
        typer.Option("--salt-after", help="Text hashed after it.", rich_help_panel=ATTACK),
    ] = ""
    most: Annotated[
        int,
        typer.Option("--max", help="Refuse more candidates than this.", rich_help_panel=ATTACK),
    ] = 1_000_000_000
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping",
            help="Write what was found for each hash: .parquet or .csv. It names people.",
            rich_help_panel=RUN,
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
    from qifsql.commands.unhash.unhash import unhash as run
    from qifsql.options import show

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
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: hashes of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("patterns",)), output)
