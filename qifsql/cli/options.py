"""The options that commands share, each said once."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from qifsql.errors import InputError, quoted

DATA, ATTACK, RUN = "Data", "Attack", "Output and limits"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Parquet, CSV or TSV (.gz, .zst), a glob, a folder of Parquet, table@file.duckdb.",
    ),
]
Model = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="crs, cas, irs or ias; several at once: crs,cas."),
]
Qids = Annotated[
    list[str] | None,
    typer.Option(
        "--qids",
        "-q",
        help='Quasi-identifiers: a,b or "a,b",c for a name with a comma; CO_*; '
        "NAME=EXPRESSION. Repeatable.",
        rich_help_panel=ATTACK,
    ),
]
Secrets = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        "-s",
        help="Secret (sensitive attribute): a column or NAME=EXPRESSION. Repeatable.",
        rich_help_panel=ATTACK,
    ),
]
Key = Annotated[
    str | None,
    typer.Option("--key", help="The column that identifies a person.", rich_help_panel=ATTACK),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight",
        help="A column or expression >= 0: the adversary's prior on records.",
        rich_help_panel=ATTACK,
    ),
]
Where = Annotated[
    str | None,
    typer.Option("--where", help="Keep records that fulfil a SQL condition.", rich_help_panel=DATA),
]
Null = Annotated[
    str,
    typer.Option(
        "--null",
        help="Missing values: distinct (a value of their own) or drop (leave the record out).",
        rich_help_panel=DATA,
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        help='What is known of one person: COLUMN=VALUE, or "COLUMN is null". Repeatable.',
        rich_help_panel=ATTACK,
    ),
]
AllVarchar = Annotated[
    bool,
    typer.Option("--all-varchar", help="CSV: every column is text.", rich_help_panel=DATA),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", help="CSV: what separates fields.", rich_help_panel=DATA),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="CSV: such as latin-1 (default UTF-8).", rich_help_panel=DATA),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        help="table, json, csv or markdown on stdout (default: table on a terminal, else csv).",
        rich_help_panel=RUN,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Write to a file: .parquet .csv .json .md .html.",
        rich_help_panel=RUN,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="At most so much memory, such as 8GB (default: half of the machine's, at most 4GB).",
        rich_help_panel=RUN,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", help="At most so many threads.", rich_help_panel=RUN),
]
Temp = Annotated[
    Path | None,
    typer.Option("--temp", help="The folder for temporary files.", rich_help_panel=RUN),
]
ShowProgress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        help="Show progress (default: on a terminal, for work over two seconds).",
        rich_help_panel=RUN,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No remarks, only results.", rich_help_panel=RUN)
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="Show the engine's own words on errors; they may quote values.",
        rich_help_panel=RUN,
    ),
]


def names(values: Sequence[str] | None) -> tuple[str, ...]:
    """Names from repeated options, each one CSV row: ``a,b`` or ``"a,b",c``.

    A comma inside brackets belongs to an expression: ``first=left(zip, 3)``.
    """
    return tuple(name for value in values or () for name in _row(value))


def _row(value: str) -> list[str]:
    try:
        fields = next(csv.reader([value], strict=True))
    except (csv.Error, StopIteration):
        return [value]
    result: list[str] = []
    for field in fields:
        if result and "=" in result[-1] and result[-1].count("(") > result[-1].count(")"):
            result[-1] += f",{field}"
        else:
            result.append(field)
    return [field for field in result if field]


def targets(values: Sequence[str] | None, qids: Sequence[str]) -> dict[str, str | None]:
    """The target from ``column=value`` and ``column is null``, each given once.

    ``qids`` are the quasi-identifiers as they were typed: their names may contain ``=``.
    """
    target: dict[str, str | None] = {}
    for text in values or ():
        name, value = _known(text, qids)
        if name in target:
            raise InputError(f"the target's {quoted(name)} is given twice; give it once")
        target[name] = value
    return target


def _known(text: str, qids: Sequence[str]) -> tuple[str, str | None]:
    for name in sorted(qids, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
    name, equals, value = text.partition("=")
    if equals and name:
        return name, value
    if not equals and text.casefold().endswith(" is null"):
        return text[: -len(" is null")], None
    raise InputError('a --target is written COLUMN=VALUE, or "COLUMN is null" for a missing value')
