"""Options of ``estimate``; the assumptions of each method, and when it was near the truth."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Required

from qifsql.adversary.options import QIDS, Households, Null, Where, person_option
from qifsql.data.option import CHANCE, DATA, RUN, TEXT, WHOLE, WRITTEN, Option

DISAGREEMENT = 2  # estimates disagree if one is more than this many times another

ASSUMES = {
    "dankar": "nothing itself: it uses the method that suits the sampling fraction",
    "zayatz": "sizes of blocks are as frequent in the population as in the sample",
    "pitman": "sizes of blocks follow Pitman's law (Hoshino 2001)",
    "snb": "sizes of blocks are 1 + a negative binomial number",
    "franconi_polettini": (
        "the number of matching people who were not drawn is negative binomial (mu-Argus)"
    ),
    "exact": "everybody is in the sample",
}

CAUTIONS = {
    "few": "the sample has fewer than 100 records: only a rough guess",
    "none_alone": "nobody is unique in the sample, but somebody who was not drawn may be",
    "zayatz": (
        "too high for sampling fractions below 0.5: measured up to 7 times at 0.1, 55 times at 0.01"
    ),
    "snb": (
        "unstable for sampling fractions below 0.5: measured from 2.5 times too low to 55 "
        "times too high"
    ),
    "pitman": "for sampling fractions up to 0.1: measured from half the truth to 10 times too high",
    "pitman_large": "for sampling fractions up to 0.1: measured up to 2.5 times too high at 0.5",
    "even": "the blocks are more even than the method allows: several times too high is likely",
    "franconi_polettini": (
        "treats each block alone: far too low where most people are unique, too high where few are"
    ),
}
"""Cautions, by the condition under which an estimate is out of its range.

Measured: ``benchmarks/population.md``; Dankar et al. 2012 take Pitman's model up to a tenth."""
_data, _work = (partial(Option, panel=panel) for panel in (DATA, RUN))


class EstimateOptions(Households, total=False):
    """Options of ``estimate``: quasi-identifiers, and one sampling fraction."""

    fraction: Annotated[
        float | str | Fraction | None,
        _data(
            CHANCE,
            "Sampling fraction: 0.01 or 1/100.",
            text='Sampling fraction in (0, 1], a number or a text such as "1/100".',
        ),
    ]
    population_size: Annotated[int | None, _data(WHOLE, "Or: number of people in the population.")]
    sampling_weight: Annotated[
        str | None, _data(TEXT, "Or: sampling weights, people per record.", formerly="--weight")
    ]
    qids: Required[Annotated[str | Sequence[str], QIDS]]
    null: Null
    person: Annotated[
        str | None,
        person_option(
            "Whose record it is; people are estimated, of whom all records are known.",
            "Column or named expression that says whose record it is. The sample is then one of "
            "people, each with all her records, and all of them are known: an individual is the "
            "set of her records. A missing person is one of its own.",
        ),
    ]
    key: Annotated[str | None, _work(TEXT, "With --records: the person key, copied to the output.")]
    records: Annotated[
        str | Path | None,
        _work(
            WRITTEN,
            "Write the risk of each record, in input order: .parquet or .csv.",
            text="Write the risk of each record, in input order, to this .parquet or .csv "
            "file: record (from 1), the key, block_size, population_block (expected people "
            "of the population in the same block), risk, E(1/F | f), and household_risk.",
        ),
    ]
    where: Where
