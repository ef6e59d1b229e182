"""``qifsql inspect``."""

from typing import Annotated, Any

from qifsql.commands.inspect.spec import OBJECTS, InspectOptions
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.options.runner import Answer, Tell
from qifsql.options.shared_options import Auxiliary, Data, Output, option, title_of

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
    "Which pupils are found by one of their enrolments?": (
        "qifsql inspect data-samples/school_census_2019_enrolments.parquet "
        "-q CO_ENTIDADE,TP_ETAPA_ENSINO --person ID_ALUNO --known-records one --smallest 5"
    ),
    "Which fewest facts single out one pupil, and what do they tell about a disability?": (
        "qifsql inspect data-samples/popets_table_3a.csv --show receipt -q age,gender,grade "
        "--target age=25 --target gender=F --target grade=A -s disability"
    ),
    "Draw 20 pupils for testers who try to find them in the release.": (
        "qifsql inspect data-samples/school_census_2018.parquet -q CO_ENTIDADE,TP_SEXO,NU_ANO "
        "-s IN_TRANSPORTE_PUBLICO --draw 20 -o test"
    ),
}
BLOCKS = "Blocks"


def inspect(
    data: Data,
    auxiliary: Auxiliary,
    options: InspectOptions,
    output: Output,
    settings: Settings,
    tell: Tell,
    smallest: Annotated[
        int | None, option("Show the N smallest blocks.", "--smallest", panel=BLOCKS, min=1)
    ] = None,
    largest: Annotated[
        int | None, option("Show the N largest blocks.", "--largest", panel=BLOCKS, min=1)
    ] = None,
    revealing: Annotated[
        int | None,
        option(
            "Show the N blocks that reveal most to most people.", "--revealing", panel=BLOCKS, min=1
        ),
    ] = None,
    limit: Annotated[
        int | None,
        option("At most so many blocks (0: all; default 20).", "--limit", panel=BLOCKS, min=0),
    ] = None,
) -> Answer | None:
    """Show the blocks (equivalence classes) of the partition, or what is behind them.

    blocks: size, counts of the secret, best guess. prior, joint, channel, hyper, cooccurrence: the
    objects of information flow. records: one row per record, in input order, to a file. receipt:
    the fewest facts that single one person out, and what the release then reveals. With --person
    blocks are of people, and have their records.
    """
    from qifsql.commands.inspect.inspect import inspect as run
    from qifsql.results.storage import STREAMED

    show = options.get("show", "blocks")
    if show == "records" and output.format_ is not None:
        raise InputError("records are written to a file alone; leave --format out")
    numbers = {"smallest": smallest, "largest": largest, "revealing": revealing}
    orders: list[Any] = [order for order, number in numbers.items() if number is not None]
    if len(orders) > 1:
        raise InputError("ask for the smallest, the largest or the most revealing blocks, not both")
    order = orders[0] if orders else None
    if limit is None and order is not None:
        limit = numbers[order]
    draw = options.get("draw")
    source = auxiliary.source(data)
    is_streamed = output.out is not None and output.out.suffix.casefold() in STREAMED
    is_own_file = show == "records" or (is_streamed and show in OBJECTS) or draw is not None
    out = output.out if is_own_file else None
    result = run(source, **options, order=order, limit=limit, out=out, settings=settings)
    if draw is not None:
        note = f"written to {out}: hand on the folder testers, and keep key.csv"
        return Answer(result, f"motivated intruder test of {title_of(source)}", notes=[note])
    if out is not None:
        rows = "records" if show == "records" else "rows"
        for note in (*result.notes, f"{result.written:,} {rows} written to {out}"):
            tell(note)
        return None
    what = f"{order or 'smallest'} blocks of" if show == "blocks" else f"{show} of"
    what = "one person in" if show == "receipt" else what
    return Answer(result, f"{what} {title_of(source)}")
