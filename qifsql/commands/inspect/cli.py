"""``qifsql inspect``."""

from typing import Annotated

from qifsql.commands.inspect.spec import OBJECTS, InspectOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Others, Output, named, option

EXAMPLES = {
    "Show the ten smallest blocks of pupils with the same school, sex and year of birth.": (
        "qifsql inspect data-samples/school_census_2018.parquet "
        "-q CO_ENTIDADE,TP_SEXO,NU_ANO --smallest 10"
    ),
    "Which blocks say most about who goes to school by public transport?": (
        "qifsql inspect data-samples/school_census_2018.parquet "
        "-q CO_MUNICIPIO_END,TP_SEXO,NU_ANO -s IN_TRANSPORTE_PUBLICO --revealing 5"
    ),
    "Show the channel from gender to language.": (
        "qifsql inspect data-samples/popets_table_2a.csv --show channel -q language -s gender"
    ),
    "Show the hyper-distribution: each posterior with its probability.": (
        "qifsql inspect data-samples/popets_table_2a.csv --show hyper -q language,gender -s age"
    ),
    "Write block size and success of each record, and the best guess about a secret.": (
        "qifsql inspect data-samples/school_census_2018.parquet --show records -q "
        "NU_ANO,TP_SEXO -s IN_TRANSPORTE_PUBLICO -o records.parquet"
    ),
    "Which fewest facts single out one pupil, and what do they tell about a disability?": (
        "qifsql inspect data-samples/popets_table_3a.csv --show receipt -q age,gender,grade "
        "--target age=25 --target gender=F --target grade=A -s disability"
    ),
}
BLOCKS = "Blocks"


def inspect(
    data: Data,
    others: Others,
    options: InspectOptions,
    output: Output,
    limits: Limits,
    smallest: Annotated[
        int | None, option("Show the N smallest blocks.", "--smallest", panel=BLOCKS, min=1)
    ] = None,
    largest: Annotated[
        int | None, option("Show the N largest blocks.", "--largest", panel=BLOCKS, min=1)
    ] = None,
    revealing: Annotated[
        int | None,
        option(
            "Show the N blocks that reveal most to most people.",
            "--revealing",
            panel=BLOCKS,
            min=1,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        option("At most so many blocks (0: all; default 20).", "--limit", panel=BLOCKS, min=0),
    ] = None,
) -> None:
    """Show the blocks (equivalence classes) of the partition, or what is behind them.

    blocks: size, counts of the secret, best guess. prior, joint, channel, hyper, cooccurrence: the
    objects of information flow. records: one row per record, in input order, to a file. receipt:
    the fewest facts that single one person out, and what the release then reveals.
    """
    from qifsql.commands.inspect.blocks import order_of
    from qifsql.commands.inspect.inspect import inspect as run
    from qifsql.errors import InputError
    from qifsql.options import show
    from qifsql.results.storage import STREAMED

    show.check(output)
    shown = options.get("show", "blocks")
    if shown == "records" and output.format_ is not None:
        raise InputError("records are written to a file alone; leave --format out")
    order, n = order_of(smallest, largest, revealing)
    source = others.source(data)
    options["where"] = data.where
    is_streamed = output.out is not None and output.out.suffix.casefold() in STREAMED
    out = output.out if shown == "records" or (is_streamed and shown in OBJECTS) else None
    with limits.settings() as settings:
        result = run(
            source,
            **options,
            order=order,
            limit=n if limit is None else limit,
            out=out,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    if out is not None:
        rows = "records" if shown == "records" else "rows"
        runtime.remarks([f"{result.written:,} {rows} written to {out}"], quiet=limits.quiet)
        return
    what = f"{order or 'smallest'} blocks of" if shown == "blocks" else f"{shown} of"
    what = "one person in" if shown == "receipt" else what
    show.show(show.Shown(result=result, title=f"qifsql: {what} {named(source)}"), output)
