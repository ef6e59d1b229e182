"""A sweep of the people with a reported secret, beside that of everybody."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from qifsql.adversary.spec import Microdata
from qifsql.errors import quoted
from qifsql.results.assessment import REPORTED

COLUMNS = {"certain_reported": "individuals_certain"}  # of a sweep of these people alone
KEYS = ("subset", "secret")


def people(microdata: Microdata, secret: int) -> Microdata:
    """Return the people who report one secret, with that secret alone."""
    return replace(microdata, secrets=(microdata.secrets[secret - 1],), reported=True)


def beside(frame: pl.DataFrame, parts: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of a sweep with the columns of ``REPORTED``, NULL without a secret.

    ``parts`` are the rows of sweeps of the people who report a secret, by its name. Of other
    secrets both numbers are the same. ``certain_missing`` is not counted: NULL if some people miss
    the secret. ``l`` is the smaller of both.
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
    is_missed = pl.col("secret").is_in(list(parts))
    filled = [
        pl.when(is_missed).then(name).when(has_secret).then(source).alias(name)
        for name, source in sources.items()
    ]
    missing = pl.when(has_secret & ~is_missed).then(pl.lit(0, pl.Int64)).alias("certain_missing")
    least = pl.min_horizontal("l", "l_reported").alias("l")
    return joined.with_columns(*filled, missing, least).select(*frame.columns, *REPORTED)


def left_out(secrets: Sequence[str]) -> str:
    """Return a note on secrets whose success among people with a reported one is not measured."""
    names = ", ".join(map(quoted, secrets))
    return (
        f"{names} may be missing, which is taken for a value here; an attack, and a sweep of all "
        "subsets without --search and --sample, also tell the success where it is reported"
    )
