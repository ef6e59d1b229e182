"""The partition behind an attack, in detail: blocks, information flow, records, one person."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from qifsql.adversary.options import Options
from qifsql.commands.inspect.blocks import SHOWN, Order, blocks
from qifsql.commands.inspect.objects import objects
from qifsql.commands.inspect.receipt import receipt
from qifsql.commands.inspect.records import records
from qifsql.commands.inspect.spec import SHOWS, Show
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted
from qifsql.results.result import Result

TAKEN = {"blocks": ("order", "limit"), "records": ("out", "measures"), "receipt": ()}
"""The options of one ``show`` alone; objects take ``out``."""


def inspect(
    source: Source,
    *,
    show: Show = "blocks",
    order: Order | None = None,
    limit: int | None = None,
    out: str | Path | None = None,
    measures: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Result:
    """Show the blocks, an object of information flow, every record, or the facts of one person.

    blocks: the partition itself, a row per block (equivalence class). prior, joint, channel,
    hyper, cooccurrence: the objects of quantitative information flow, of one secret (without a
    secret: of the key). records: a row per record, in input order, to a file. receipt: the fewest
    facts that single the target out. Options without a meaning for what is shown are refused.

    Args:
        source: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset.
        show: blocks, hyper, prior, joint, channel, cooccurrence, records or receipt.
        order: blocks: smallest (default), largest or revealing: the highest success on the first
            secret (else on re-identification) first.
        limit: blocks: how many (default 20); 0 lists all, in memory.
        out: records, and objects of any size: the .parquet or .csv file to write.
        measures: records: shannon and guessing add entropy (bits) and guesses of the owner and of
            each secret.
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
        prior: objects, records: file of the adversary's beliefs before the release: a column named
            like the secret (or value), and probability.
        gain: records: gain functions: identity, tries:3, penalty:0.5, tolerance:5, worth:FILE,
            matrix:FILE, sql:EXPRESSION over guess and secret. Each adds columns.
        target: receipt: known values of one person: quasi-identifier to value; None is a missing
            value.

    Returns:
        A Result. frame of blocks: the quasi-identifiers, size (people), success (of
        re-identification, in [0, 1]) and per secret S values_S, best_guess_S, success_S and
        counts_S. Of objects: one row per value and block (of hyper: and inner) with block, the
        quasi-identifiers, value, count (people), numerator, denominator and probability in [0, 1].
        Of records: empty; the file has record (from 1), the key, block_size, singled_out, success
        and per secret S success_S and best_guess_S; written is the number of rows. Of receipt: one
        row per minimal set of quasi-identifiers that singles the person out (minimal sample
        unique) or reveals a secret; details: learnt, the attack by an adversary who knows all
        facts.

    Raises:
        TargetError: Nobody has the values of the target.
        InputError: A name, type or option does not fit the data; the message says what to try.
        OutputError: The file cannot be written.
        EngineError: Memory or disk ran out.

    Example:
        >>> file = "data-samples/popets_table_3a.csv"
        >>> qifsql.inspect(file, qids="gender").frame["size"].to_list()
        [4, 6]
        >>> qifsql.inspect(file, show="records", out="records.parquet", qids="gender").written
        10
        >>> prior = qifsql.inspect("data-samples/popets_table_2a.csv", show="prior",
        ...     qids="language", secret="gender").frame
        >>> sum(prior["numerator"]) == prior["denominator"][0]
        True

    Source: M2, M3, M4 to M6, M8 and M15; Alvim et al., The Science of Quantitative Information
    Flow, 2020.

    """
    if show not in SHOWS:
        raise InputError(f"unknown object {quoted(show)}; use {', '.join(SHOWS)}")
    named = {"order": order, "limit": limit, "out": out, "measures": measures or None}
    for name in set(named) - set(TAKEN.get(show, ("out",))):
        if named[name] is not None:
            raise InputError(f"{show} does not take {name}; leave it out")
    if show == "records":
        if out is None:
            raise InputError("records are written to a file; name it with -o: .parquet or .csv")
        return records(source, out, measures=measures or (), settings=settings, **options)
    if show == "receipt":
        return receipt(source, settings=settings, **options)
    if show == "blocks":
        number = SHOWN if limit is None else limit
        return blocks(source, order=order or "smallest", limit=number, settings=settings, **options)
    return objects(source, show=show, out=out, settings=settings, **options)
