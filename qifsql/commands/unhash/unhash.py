"""Dictionary attack: hash all possible identifiers, and look up the hashes in the column.

A hash of an identifier hides nothing if the identifiers can be listed: all taxi medallions of New
York are 9A99, AA999 or AAA999, 18,278,000 in all. Source: M68; Pandurangan 2014.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from qifsql.commands.unhash import dictionary
from qifsql.commands.unhash.automaton import Automaton, build_automaton
from qifsql.commands.unhash.patterns import parse, parse_all
from qifsql.commands.unhash.spec import UnhashOptions
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.files import path_text
from qifsql.data.option import as_tuple, complete
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, large, plural, quoted
from qifsql.query.plan import Plan
from qifsql.query.templates import load
from qifsql.results.result import Result
from qifsql.results.storage import Origin, stream, streamed_place

RECOVERED: dict[str, pl.DataType] = {
    **dict.fromkeys(("column", "hash"), pl.String()),
    **dict.fromkeys(("records", "missing", "unfit", "values"), pl.Int64()),
    **dict.fromkeys(("candidates", "recovered_values"), pl.Int64()),
    "recovered_values_share": pl.Float64(),
    "recovered_records": pl.Int64(),
    "recovered_records_share": pl.Float64(),
    "ambiguous": pl.Int64(),
    **dict.fromkeys(("candidates_per_second", "seconds"), pl.Float64()),
}
"""One row. ``missing`` records have no value, ``unfit`` records have a value that is not a hash of
that kind. ``values`` are the different hashes, ``recovered_values`` those with a candidate,
``ambiguous`` those with several candidates. Shares are in [0, 1], of the different hashes and of
the records with a hash. ``seconds`` is the time to write, hash and look up candidates."""

GREATEST = 2**63 - 1  # highest limit of candidates: more than anybody can try

PATTERNS: dict[str, pl.DataType] = {"pattern": pl.String(), "candidates": pl.Int64()}
"""One row per pattern: its number of different identifiers. Patterns may overlap."""


def unhash(
    source: Tabular, *, settings: Settings | None = None, **options: Unpack[UnhashOptions]
) -> Result:
    """Recover identifiers from their hashes by hashing all candidates.

    Hashes may be hexadecimal digits in any case, base64 or bytes. Missing values are no hashes.

    Returns:
        A Result. frame: one row with candidates, values (distinct hashes), recovered_values,
        recovered_records and their shares in [0, 1]. details: patterns with the number of
        candidates of each.

    Raises:
        InputError: A pattern is invalid or has more than most candidates, or no value of the
            column is such a hash.
        OutputError: The mapping cannot be written.

    Example:
        >>> from hashlib import md5
        >>> log = pl.DataFrame({"number": [md5(b"0042").hexdigest(), md5(b"x").hexdigest()]})
        >>> qifsql.unhash(log, column="number", patterns="[0-9]{4}",
        ...     algorithm="md5").frame["recovered_values"].item()
        1

    Source: M68; Article 29 Working Party, Opinion 05/2014.

    """
    options = complete(options, UnhashOptions)
    kind, limit = dictionary.hash_named(options["algorithm"]), options["most"]
    candidates, mapping = options["candidates"], options["mapping"]
    named = as_tuple(options["patterns"])
    counted, automaton = _read_patterns(named, limit)
    if automaton is None and candidates is None:
        raise InputError("no candidates are named; say --pattern '[0-9][A-Z]...' or --candidates")
    file = None if candidates is None else path_text(candidates)  # of candidates
    origin = Origin.now(settings, "unhash")
    dataset = Dataset.open(source)
    out = streamed_place(mapping, (*dataset.paths, file or ""))
    sources = [dataset, *([] if file is None else [dictionary.candidate_file(file)])]
    with open_engine(settings, sources=sources, outputs=[] if out is None else [out]) as engine:
        catalog = Catalog(engine, dataset)
        hash_column = dictionary.read_column(catalog, options["column"], kind, options["where"])
        tables = Tables(engine, "reading hashes", hash_column.dataset.name)
        dictionary.count_hashes(tables, hash_column)
        listed, paths = 0, hash_column.dataset.paths
        if file is not None:
            listed, candidate_paths = dictionary.count_listed(tables, catalog, file)
            paths = (*paths, *candidate_paths)
        before, after = salts = options["salt"], options["salt_after"]
        row = _recover(tables, hash_column, automaton, listed=listed, limit=limit, salt=salts)
        names = {"dataset": hash_column.dataset.name, "column": hash_column.attribute.name}
        spec: dict[str, Any] = {**names, "hash": kind.name, "patterns": list(named)}
        spec |= {"candidates": file, "salt": {"before": before, "after": after}}
        spec |= {"max": limit, "where": options["where"]}
        origin = origin.about(spec, paths).sending(tables.statements)
        if out is not None:
            matches = Plan((), load("unhash/mapping").query)
            stream(engine, matches, out, origin, what="writing the mapping")
    frame = pl.DataFrame([row], schema=RECOVERED)
    notes = (*_notes(row, named, counted), *remarks(engine))
    details = {"patterns": counted} if named else {}
    return Result(frame=frame, origin=origin.about(spec, paths), details=details, notes=notes)


def _read_patterns(patterns: Sequence[str], limit: int) -> tuple[pl.DataFrame, Automaton | None]:
    """Return a row per pattern (``PATTERNS``), and the automaton of all; None without patterns.

    Raises InputError if all patterns together have more than ``limit`` words, the candidates.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= GREATEST:
        raise InputError(f"max is a number of candidates, from 1 to {GREATEST:,}")
    rows = [(pattern, build_automaton(parse(pattern)).words) for pattern in patterns]
    automaton = build_automaton(parse_all(patterns)) if patterns else None
    if automaton is not None and automaton.words > limit:
        raise _too_many_error(automaton.words, limit)
    return pl.DataFrame(rows, schema=PATTERNS, orient="row"), automaton


def _too_many_error(candidates: int, limit: int) -> InputError:
    text = f"{large(candidates)} candidates would be hashed"
    if candidates >= 10**15:
        return InputError(f"{text}, which takes years; narrow the patterns")
    return InputError(
        f"{text}, more than {limit:,}; narrow the patterns, or allow them with --max {candidates}"
    )


def _recover(
    tables: Tables,
    hash_column: dictionary.Column,
    automaton: Automaton | None,
    *,
    listed: int,
    limit: int,
    salt: tuple[str, str],
) -> dict[str, Any]:
    """Hash all candidates, of patterns and of a file; return the row of ``RECOVERED``.

    ``automaton`` has the words of the patterns (None: there are none), ``listed`` is the number of
    candidates of the file, ``salt`` is put before and after a candidate. Raises InputError if there
    are more than ``limit`` candidates.
    """
    tried = (automaton.words if automaton else 0) + listed
    if tried > limit:
        raise _too_many_error(tried, limit)
    began = time.perf_counter()
    dictionary.match_candidates(tables, hash_column.kind, automaton, listed=listed > 0, salt=salt)
    seconds = time.perf_counter() - began
    recovered = load("unhash/recovered").query
    (row,) = tables.answer(recovered, "comparing hashes")
    counts = dict(zip(recovered.named_selects, row, strict=True))
    hashed = counts.pop("hashed")
    return counts | {
        "column": hash_column.attribute.name,
        "hash": hash_column.kind.name,
        "unfit": counts["records"] - counts["missing"] - hashed,
        "candidates": tried,
        "recovered_values_share": counts["recovered_values"] / counts["values"],
        "recovered_records_share": counts["recovered_records"] / hashed,
        "candidates_per_second": tried / seconds,
        "seconds": round(seconds, 3),
    }


def _notes(
    row: Mapping[str, Any], patterns: Sequence[str], counted: pl.DataFrame
) -> tuple[str, ...]:
    """Return remarks on the numbers: unfit records, and patterns that overlap (by ``counted``)."""
    notes = []
    if row["unfit"]:
        have = "has" if row["unfit"] == 1 else "have"
        article = "an" if row["hash"].startswith("m") else "a"
        notes.append(
            f"{plural(row['unfit'], 'record')} of {row['records']:,} {have} something other "
            f"than {article} {row['hash']} hash in column {quoted(row['column'])}; shares are of "
            "the others"
        )
    repeated = sum(counted["candidates"].to_list()) - row["candidates"]
    if patterns and repeated > 0:
        notes.append(f"the patterns overlap in {plural(repeated, 'candidate')}; each is tried once")
    return tuple(notes)
