"""Options of ``estimate``."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import QIDS, Null, Where
from qifsql.data.option import CHANCE, DATA, RUN, TEXT, WHOLE, WRITTEN, Option


class EstimateOptions(TypedDict, total=False):
    """Options of ``estimate``: quasi-identifiers, and one sampling fraction."""

    fraction: Annotated[
        float | str | Fraction | None,
        Option(
            CHANCE,
            "Sampling fraction: 0.01 or 1/100.",
            text='Sampling fraction in (0, 1], a number or a text such as "1/100".',
            panel=DATA,
        ),
    ]
    population_size: Annotated[
        int | None, Option(WHOLE, "Or: number of people in the population.", panel=DATA)
    ]
    sampling_weight: Annotated[
        str | None,
        Option(TEXT, "Or: sampling weights, people per record.", panel=DATA, formerly="--weight"),
    ]
    qids: Required[Annotated[str | Sequence[str], QIDS]]
    null: Null
    key: Annotated[
        str | None, Option(TEXT, "With --records: the person key, copied to the output.", panel=RUN)
    ]
    records: Annotated[
        str | Path | None,
        Option(
            WRITTEN,
            "Write the risk of each record, in input order: .parquet or .csv.",
            text="Write the risk of each record, in input order, to this .parquet or .csv "
            "file: record (from 1), the key, block_size, population_block (expected people "
            "of the population in the same block) and risk, E(1/F | f).",
            panel=RUN,
        ),
    ]
    where: Where
