"""A sweep of the people with a reported secret, beside that of everybody."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from qifsql.adversary.spec import Microdata
from qifsql.errors import quoted
from qifsql.query.microdata_steps import twice_where_reported
from qifsql.results.assessment import REPORTED

COLUMNS = {"certain_reported": "individuals_certain"}  # of a sweep of these people alone
KEYS = ("subset", "secret")


def people(microdata: Microdata, secret: int) -> Microdata:
    """Return the people who report one secret, with that secret alone."""
    return replace(microdata, secrets=(microdata.secrets[secret - 1],), reported=True)


def missing(microdata: Microdata, secret: int) -> Microdata:
    """Return everybody, of whom those are certain who are in blocks that report nothing."""
    twice = twice_where_reported(microdata.secrets[secret - 1])
    return replace(microdata, secrets=(twice,))


def beside(
    frame: pl.DataFrame, parts: Mapping[str, pl.DataFrame], unreported: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return the rows of a sweep with the columns of ``REPORTED``, NULL without a secret.

    ``parts`` are the rows of sweeps of the people who report a secret, by its name; ``unreported``
    those of sweeps of ``missing``. Of other secrets both numbers are the same. ``l`` is the smaller
    of both.
    """
    keys = [*KEYS, *(n for n in ("known_records",) if n in frame.columns)]
    # The column of a sweep that each column of ``REPORTED`` takes its numbers from.
    sources = {n: COLUMNS.get(n, n.removesuffix("_reported")) for n in REPORTED}
    sources["reported"] = "people" if "people" in frame.columns else "records"
    del sources["certain_missing"]
    columns = [*keys, pl.col("l").alias("l_reported")]
    columns += [pl.col(source).alias(name) for name, source in sources.items()]
    has_secret = pl.col("secret").is_not_null()
    reports = pl.concat(part.filter(has_secret).select(columns) for part in parts.values())
    joined = frame.join(reports, on=keys, how="left", maintain_order="left")
    counted = [
        part.filter(has_secret).select(*keys, certain_missing="individuals_certain")
        for part in unreported.values()
    ]
    joined = joined.join(pl.concat(counted), on=keys, how="left", maintain_order="left")
    is_missed = pl.col("secret").is_in(list(parts))
    filled = [
        pl.when(is_missed).then(name).when(has_secret).then(source).alias(name)
        for name, source in sources.items()
    ]
    nobody = pl.when(has_secret & ~is_missed).then(0).otherwise("certain_missing")
    least = pl.min_horizontal("l", "l_reported").alias("l")
    filled.append(nobody.alias("certain_missing"))
    return joined.with_columns(*filled, least).select(*frame.columns, *REPORTED)


def left_out(secrets: Sequence[str]) -> str:
    """Return a note on secrets whose success among people with a reported one is not measured."""
    names = ", ".join(map(quoted, secrets))
    return (
        f"{names} may be missing, which is taken for a value here; an attack, and a sweep of all "
        "subsets without --search and --sample, also tell the success where it is reported"
    )
