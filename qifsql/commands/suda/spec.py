"""Options of ``suda``."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import AnyNull, Where, person_option, qids_option
from qifsql.data.option import CHANCE, DETAILS, FLAG, GROUPS, RUN, TEXT, WHOLE, WRITTEN, Option

MOST_QIDS = 20  # quasi-identifiers, of which subsets of all sizes are found; a score is at most 20!
FRACTION = "0.01"  # the sampling fraction by default, as in sdcMicro


class SudaOptions(TypedDict, total=False):
    """Options of ``suda``: the quasi-identifiers, the largest subset, and the sampling fraction."""

    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option(
                "Quasi-identifiers: columns, CO_*, NAME=EXPRESSION. A record with * in all may be "
                "anybody's.",
                text="Quasi-identifiers, at most 20 without max_size: columns, patterns such as "
                "CO_*, or named expressions such as decade=birth_year//10. One text may name "
                'several: "age,sex".',
            ),
        ]
    ]
    max_size: Annotated[
        int | None,
        Option(WHOLE, "Largest size of a minimal sample unique (M); default: all sizes.", least=1),
    ]
    fraction: Annotated[
        float | str | Fraction,
        Option(
            CHANCE,
            "Sampling fraction for DIS-SUDA: 0.01 (default) or 1/100.",
            text='Sampling fraction of DIS-SUDA in (0, 1], a number or a text such as "1/100".',
            usual=FRACTION,
        ),
    ]
    omit_missing: Annotated[
        bool,
        Option(
            FLAG,
            "Leave missing values out of minimal sample uniques, as sdcMicro does; by "
            "default a missing value is a value.",
        ),
    ]
    where: Where
    null: AnyNull
    person: Annotated[
        str | None,
        person_option(
            "Whose record it is; counts people, of whom one record is known.",
            "Column or named expression that says whose record it is. People are then counted, of "
            "whom the adversary knows one record: a set of quasi-identifiers singles out a person "
            "if one of her records has values in it that no record of anybody else has. A missing "
            "person is one of its own.",
        ),
    ]
    values: Annotated[
        bool,
        Option(
            FLAG,
            "Also the share of each value in all scores (shows values of cells).",
            panel=DETAILS,
        ),
    ]
    by: Annotated[
        str | None, Option(GROUPS, "Also by group: a column or NAME=EXPRESSION.", panel=DETAILS)
    ]
    key: Annotated[
        str | None,
        Option(
            TEXT, "With --records: the person key, copied to the output.", panel=RUN, studied=False
        ),
    ]
    records: Annotated[
        str | Path | None,
        Option(
            WRITTEN,
            "Write the score of each record, in input order: .parquet or .csv.",
            text="Write one row per record, in input order, to this .parquet or .csv file: "
            "record (from 0), the key, msus, score, smallest (size of the smallest MSU, "
            "NULL without one) and dis_suda in [0, 1].",
            panel=RUN,
            studied=False,
        ),
    ]


OPTIONS = SudaOptions
