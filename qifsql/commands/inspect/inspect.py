"""The partition behind an attack, in detail: blocks, information flow, records, one person."""

from pathlib import Path
from typing import Any, Unpack, get_args

from qifsql.adversary.spec import KnownRecords
from qifsql.commands.inspect.blocks import USUAL_LIMIT, Order, blocks
from qifsql.commands.inspect.objects import objects
from qifsql.commands.inspect.receipt import receipt
from qifsql.commands.inspect.records import records
from qifsql.commands.inspect.sheets import sheets
from qifsql.commands.inspect.spec import OBJECTS, SHOWS, InspectOptions, Way
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted
from qifsql.results.result import Result

OWN_OPTIONS = {"blocks": ("order", "limit"), "records": ("out", "measures"), "receipt": ()}
"""The options of one ``show`` alone; objects take ``out``."""


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
        out: records, and objects of any size: the .parquet or .csv file to write. draw: the
            folder of the test.

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
        facts. Of draw: one row per question with secret (NULL: whose record it is), sheets, and
        predicted, least and greatest: the success of the best guess on these people, in [0, 1].

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
    adversary: dict[str, Any] = dict(options)
    draw, by = adversary.pop("draw", None), adversary.pop("by", None)
    show, measures = adversary.pop("show", SHOWS[0]), adversary.pop("measures", ())
    person, known_records = adversary.pop("person", None), adversary.pop("known_records", "all")
    if draw is None and by not in (None, get_args(Way)[0]):
        raise InputError("by is about people who are drawn; say how many (draw)")
    if draw is not None:
        if show != SHOWS[0] or measures or order is not None or limit is not None:
            raise InputError("people are drawn for a test alone; leave show and its options out")
        if out is None:
            raise InputError("a test is written to a folder; name it with -o")
        way = by or get_args(Way)[0]
        return sheets(
            source, out, draw=draw, way=way, person=person, settings=settings, **adversary
        )
    _check_person(show, person, known_records)
    if show not in SHOWS:
        raise InputError(f"unknown object {quoted(show)}; use {', '.join(SHOWS)}")
    values = {"order": order, "limit": limit, "out": out, "measures": measures or None}
    for name, value in values.items():
        if value is not None and name not in OWN_OPTIONS.get(show, ("out",)):
            raise InputError(f"{show} does not take {name}; leave it out")
    if show == "receipt":
        return receipt(source, settings=settings, **adversary)
    if show == "records" and person is not None:  # a row is about one record
        known_records = "one"
    adversary |= {"person": person, "known_records": known_records, "settings": settings}
    if show == "records":
        if out is None:
            raise InputError("records are written to a file; name it with -o: .parquet or .csv")
        return records(source, out, measures=measures or (), **adversary)
    if show == "blocks":
        number = USUAL_LIMIT if limit is None else limit
        return blocks(source, order=order or "smallest", limit=number, **adversary)
    return objects(source, show=show, out=out, **adversary)


def _check_person(show: str, person: str | None, known_records: KnownRecords) -> None:
    """Refuse a person, or records that are known of her, without a meaning for what is shown."""
    if person is None:
        if known_records != "all":
            raise InputError("known_records is about the records of a person; name it (--person)")
    elif show == "receipt":
        raise InputError(
            "a receipt is about one person with one record; leave person out, or write one record "
            "per person first with qifsql anonymise --one-per"
        )
    elif show in OBJECTS and known_records != "all":
        raise InputError(f"{show} is about people of whom all records are known")
