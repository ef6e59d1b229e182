"""Options of ``suda``."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import AnyNull, Where, qids_option
from qifsql.data.option import CHANCE, DETAILS, FLAG, GROUPS, RUN, TEXT, WHOLE, WRITTEN, Option

MOST = 20  # quasi-identifiers; the score of a record is at most 20!, a number of 64 bits
FRACTION = "0.01"  # the sampling fraction by default, as in sdcMicro


class SudaOptions(TypedDict, total=False):
    """Options of ``suda``: the quasi-identifiers, the largest subset, and the sampling fraction.

    ``max_size``: subsets of at most so many quasi-identifiers; by default of all sizes.
    ``fraction``: the sampling fraction of DIS-SUDA, in (0, 1]. A missing value is a value
    (``null="distinct"``), its record is left out (``drop``), or it may be anything (``match-any``:
    bounds of the records with a minimal sample unique); with ``omit_missing`` the record
    stays, but no subset in which it has a missing value counts, as in sdcMicro. ``values``: the
    share of each value in all scores. ``by``: a column whose values are groups of records.
    ``records``: a file for a row per record, to which the ``key`` is copied.
    """

    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option("Quasi-identifiers: columns, CO_*, NAME=EXPRESSION."),
        ]
    ]
    max_size: Annotated[
        int | None,
        Option(
            form=WHOLE,
            help="Largest size of a minimal sample unique (M); default: all sizes.",
            least=1,
        ),
    ]
    fraction: Annotated[
        float | str | Fraction,
        Option(
            form=CHANCE,
            help="Sampling fraction for DIS-SUDA: 0.01 (default) or 1/100.",
            usual=FRACTION,
        ),
    ]
    omit_missing: Annotated[
        bool,
        Option(
            form=FLAG,
            help="Leave missing values out of minimal sample uniques, as sdcMicro does; by default "
            "a missing value is a value.",
        ),
    ]
    where: Where
    null: AnyNull
    values: Annotated[
        bool,
        Option(
            form=FLAG,
            help="Also the share of each value in all scores (shows values of cells).",
            panel=DETAILS,
        ),
    ]
    by: Annotated[
        str | None,
        Option(
            form=GROUPS,
            help="Also by group: a column or NAME=EXPRESSION.",
            panel=DETAILS,
        ),
    ]
    key: Annotated[
        str | None,
        Option(
            form=TEXT,
            help="With --records: the person key, copied to the output.",
            panel=RUN,
            studied=False,
        ),
    ]
    records: Annotated[
        str | Path | None,
        Option(
            form=WRITTEN,
            help="Write the score of each record, in input order: .parquet or .csv.",
            panel=RUN,
            studied=False,
        ),
    ]


OPTIONS = SudaOptions
