"""The partition behind an attack, in detail: blocks, information flow, records, one person."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack, get_args

from qifsql.adversary.spec import KnownRecords
from qifsql.commands.inspect.blocks import SHOWN, Order, blocks
from qifsql.commands.inspect.objects import objects
from qifsql.commands.inspect.receipt import receipt
from qifsql.commands.inspect.records import records
from qifsql.commands.inspect.spec import OBJECTS, SHOWS, InspectOptions
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted
from qifsql.results.result import Result

TAKEN = {"blocks": ("order", "limit"), "records": ("out", "measures"), "receipt": ()}
"""The options of one ``show`` alone; objects take ``out``."""
READINGS = get_args(KnownRecords)
"""The records of a person that are known: the usual reading first."""


def inspect(
    source: Source,
    *,
    order: Order | None = None,
    limit: int | None = None,
    out: str | Path | None = None,
    settings: Settings | None = None,
    **options: Unpack[InspectOptions],
) -> Result:
    """Show the blocks, an object of information flow, every record, or the facts of one person.

    blocks: the partition itself, a row per block (equivalence class). prior, joint, channel,
    hyper, cooccurrence: the objects of quantitative information flow, of one secret (without a
    secret: of the key). records: a row per record, in input order, to a file. receipt: the fewest
    facts that single the target out. Options without a meaning for what is shown are refused:
    target is for receipt, prior for objects and records, gain for records (each adds columns).

    Args:
        order: blocks: smallest (default), largest or revealing: the highest success on the first
            secret (else on re-identification) first.
        limit: blocks: how many (default 20); 0 lists all, in memory.
        out: records, and objects of any size: the .parquet or .csv file to write.

    Returns:
        A Result. frame of blocks: the quasi-identifiers, size (people), success (of
        re-identification, in [0, 1]) and per secret S values_S, best_guess_S, success_S and
        counts_S; with a person also records, and each value is a text of those of her records. Of
        objects: one row per value and block (of hyper: and inner) with block, the
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
    rest: dict[str, Any] = dict(options)
    rest |= _people(rest)
    show, measures = rest.pop("show", SHOWS[0]), rest.pop("measures", ())
    if show not in SHOWS:
        raise InputError(f"unknown object {quoted(show)}; use {', '.join(SHOWS)}")
    named = {"order": order, "limit": limit, "out": out, "measures": measures or None}
    for name in set(named) - set(TAKEN.get(show, ("out",))):
        if named[name] is not None:
            raise InputError(f"{show} does not take {name}; leave it out")
    if show == "records":
        if out is None:
            raise InputError("records are written to a file; name it with -o: .parquet or .csv")
        return records(source, out, measures=measures or (), settings=settings, **rest)
    if show == "receipt":
        rest = {n: v for n, v in rest.items() if n not in ("person", "known_records")}
        return receipt(source, settings=settings, **rest)
    if show == "blocks":
        number = SHOWN if limit is None else limit
        return blocks(source, order=order or "smallest", limit=number, settings=settings, **rest)
    return objects(source, show=show, out=out, settings=settings, **rest)


def _people(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options ``person`` and ``known_records``; refuse those without a meaning.

    Without a person they are None and ``READINGS[0]``: all records are known.
    """
    show, reading = options.get("show", SHOWS[0]), options.get("known_records", READINGS[0])
    if options.get("person") is None:
        if reading != READINGS[0]:
            raise InputError("known_records is about the records of a person; name it (--person)")
        return {"person": None, "known_records": reading}
    if show == "receipt":
        raise InputError(
            "a receipt is about one person with one record; leave person out, or write one record "
            "per person first with qifsql anonymise --one-per"
        )
    if show in OBJECTS and reading != READINGS[0]:
        raise InputError(f"{show} is about people of whom all records are known")
    return {"person": options["person"], "known_records": "one" if show == "records" else reading}
