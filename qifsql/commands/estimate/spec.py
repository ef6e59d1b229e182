"""Options of ``estimate``."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Null, Where, qids_option
from qifsql.data.option import CHANCE, DATA, RUN, TEXT, WHOLE, WRITTEN, Option


class EstimateOptions(TypedDict, total=False):
    """Options of ``estimate``: quasi-identifiers, and the sampling fraction.

    The sampling fraction is given in one of three ways: ``fraction``, in (0, 1] (``0.01``,
    ``1/100``); ``population_size``, the number of people in the population; or ``sampling_weight``,
    the number of people that each record represents. A missing value is a value
    (``null="distinct"``), or the record is left out (``drop``). ``records`` is a Parquet or CSV
    file for the risk of every record, in the order of the input: ``record`` (from 1), the ``key``
    under its name, ``block_size``, ``population_block`` (expected people of the population in the
    same block) and ``risk``, E(1/F | f).
    """

    fraction: Annotated[
        float | str | Fraction | None,
        Option(
            form=CHANCE,
            help="Sampling fraction: 0.01 or 1/100.",
            panel=DATA,
        ),
    ]
    population_size: Annotated[
        int | None, Option(form=WHOLE, help="Or: number of people in the population.", panel=DATA)
    ]
    sampling_weight: Annotated[
        str | None,
        Option(
            form=TEXT,
            help="Or: sampling weights, people per record.",
            panel=DATA,
            formerly="--weight",
        ),
    ]
    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option("Quasi-identifiers: columns, CO_*, NAME=EXPRESSION."),
        ]
    ]
    null: Null
    key: Annotated[
        str | None,
        Option(form=TEXT, help="With --records: the person key, copied to the output.", panel=RUN),
    ]
    records: Annotated[
        str | Path | None,
        Option(
            form=WRITTEN,
            help="Write the risk of each record, in input order: .parquet or .csv.",
            panel=RUN,
        ),
    ]
    where: Where
