"""k-map and delta-presence: levels of a release among the people who may be in it.

The views are in ``sql/levels/k_map.sql``; a population is counted as the blocks of a release are.
"""

from collections.abc import Collection

from sqlglot import exp

from qifsql.commands.levels.spec import MEASURES
from qifsql.commands.levels.steps import Steps, Tables
from qifsql.errors import InputError

LEVELS = tuple(measure for measure in MEASURES.values() if measure.of_population)


def refuse_without_population(required: Collection[str]) -> None:
    """Refuse required levels, by the names of their options, that need a population."""
    for measure in LEVELS:
        if measure.aim in required:
            raise InputError(
                f"{measure.aim} needs the people who may be in the release: a population"
            )


def check_population(tables: Tables) -> None:
    """Refuse a population that has fewer people than the release in a block."""
    steps = Steps(tables)
    width = tables.counts.bound.microdata.width
    outside = steps.need("outside", 0, width, instead={"blocks": "blocks_of_all"})
    query = exp.select("blocks", "too_small").from_(outside)
    ((blocks, too_small),) = tables.rows(steps.plan(query))
    if too_small:
        raise InputError(
            f"the population has fewer people than the release in {too_small:,} of {blocks:,} "
            "blocks; it must contain everybody who may be in the release"
        )
