"""The SQL of an attack, to read and to paste into a DuckDB prompt. No attack is run here."""

from collections.abc import Sequence
from typing import Unpack

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted
from qifsql.query import compiler, render


def sql(
    model: str | Sequence[str],
    source: Source,
    *,
    step: str | None = None,
    language: str = "duckdb",
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> str:
    """Return the statement that gives the numbers of an attack in a DuckDB prompt.

    Reads only names and types of columns (of CSV from all lines); runs no attack.

    Args:
        model: As in attack.
        source: A path (Parquet, CSV or TSV, also .gz and .zst; a glob; a folder of Parquet;
            table@file.duckdb), a data frame (anything with __arrow_c_stream__, a Polars
            LazyFrame) or a Dataset.
        step: Stop after this step and select its rows.
        language: SQL dialect.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine.
        qids: Quasi-identifiers: columns, patterns such as CO_*, or named expressions such as
            decade=birth_year//10. One text may name several: "age,sex".
        secret: Secrets (sensitive attributes): columns or named expressions.
        weight: Column or expression >= 0 that weights records; NULL is an error. By default every
            record weighs 1.
        where: SQL condition; other records are left out. NULL counts as false.
        null: "distinct" (a missing value is one more value) or "drop" (leave out records that
            miss a quasi-identifier or secret).
        key: Person key of a collection: one column name for all datasets, or one for each. A
            missing key matches nobody.
        wave: Column that splits a long table into datasets: "year", or "year=2018,2019" with the
            focal one first.
        absent: People who are not in a dataset: "null" (like missing values) or "distinct".
        prior: File of the adversary's beliefs before the release: a column named like the secret
            (or value), and probability.
        gain: Gain functions: identity, tries:3, penalty:0.5, tolerance:5, worth:FILE,
            matrix:FILE, sql:EXPRESSION over guess and secret. Each adds rows.
        target: Known values of one person: quasi-identifier to value; None is a missing value.
        member: Membership flag with two values: a column or named expression.
        by: Column or named expression whose values are groups of people, measured apart.
        thresholds: Count people whose success is at least this, in [0, 1].
        quantiles: Quantiles of the success over people, in [0, 1].

    Returns:
        The SQL, with a comment on what a row of each step is.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.

    Example:
        >>> print(qifsql.sql("crs", "data-samples/popets_table_2a.csv", qids="age").split(":")[0])
        -- CRS

    Source: M2 and M3.

    """
    if language != "duckdb":
        raise InputError(f'there is no SQL for "{language}" in this version; there is for duckdb')
    spec = Attack.of(model, source, **options)
    with opened(spec, settings, joined=False) as (_, bound):
        about = [f"-- {m.acronym.upper()}: {m.title}; {m.source}" for m in bound.models]
        about += [
            f"-- {d.copy_name}: the records of {quoted(d.name)}; create it before you run this"
            for d in spec.dataset.datasets
            if d.copy_name
        ]
        return "\n".join([*about, render.script(compiler.answer_plan(bound), step)])
