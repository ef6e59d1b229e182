"""Dictionary attack: hash all possible identifiers, and look up the hashes in the column.

A hash of an identifier hides nothing if the identifiers can be listed: all taxi medallions of New
York are 9A99, AA999 or AAA999, 18,278,000 in all. Candidates are never stored all at once: tables
hold the beginnings and the ends of the words; each pair is hashed and looked up as soon as it is
joined. Source: M68; Pandurangan 2014.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import polars as pl
from sqlglot import exp

from qifsql.adversary.names import of_column
from qifsql.adversary.spec import Attribute
from qifsql.commands.unhash.automaton import Automaton, build_automaton, parse, parse_all
from qifsql.commands.unhash.spec import UnhashOptions
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.expressions import SOURCE, column
from qifsql.data.files import path_text
from qifsql.data.option import as_tuple, complete
from qifsql.data.readers import header_line, openings, relation, select_records
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import (
    ColumnError,
    DatasetError,
    InputError,
    did_you_mean,
    large,
    no_records,
    plural,
    quoted,
)
from qifsql.query.columns import union
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step
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

HIGHEST_LIMIT = 2**63 - 1  # of candidates: more than anybody can try

PATTERNS: dict[str, pl.DataType] = {"pattern": pl.String(), "candidates": pl.Int64()}
"""One row per pattern: its number of different identifiers. Patterns may overlap."""
ROW_GROUP = 122_880  # rows that one thread of DuckDB takes at a time
BYTES_OF_HASHES = {"md5": 16, "sha1": 20, "sha256": 32}  # by the name in DuckDB
OTHER_HASHES = {56: "SHA-224", 96: "SHA-384", 128: "SHA-512"}  # by their number of digits


@dataclass(frozen=True)
class HashColumn:
    """The column of hashes, and the filter on its records."""

    dataset: Dataset
    attribute: Attribute
    hash_name: str
    where: exp.Expr | None


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
    hash_name, limit = parse_hash_name(options["algorithm"]), options["most"]
    patterns, candidates = as_tuple(options["patterns"]), options["candidates"]
    counted_patterns, automaton = _read_patterns(patterns, limit)
    if automaton is None and candidates is None:
        raise InputError("no candidates are named; say --pattern '[0-9][A-Z]...' or --candidates")
    candidate_path = None if candidates is None else path_text(candidates)
    origin = Origin.now(settings, "unhash")
    dataset = Dataset.open(source)
    out = streamed_place(options["mapping"], (*dataset.paths, candidate_path or ""))
    sources, outputs = [dataset], [] if out is None else [out]
    if candidate_path is not None:
        sources.append(candidate_file(candidate_path))
    with open_engine(settings, sources=sources, outputs=outputs) as engine:
        catalog = Catalog(engine, dataset)
        hash_column = read_column(catalog, options["column"], hash_name, options["where"])
        tables = Tables(engine, "reading hashes", hash_column.dataset.name)
        count_hashes(tables, hash_column)
        listed, paths = 0, hash_column.dataset.paths
        if candidate_path is not None:
            listed, candidate_paths = count_listed(tables, catalog, candidate_path)
            paths = (*paths, *candidate_paths)
        before, after = salts = options["salt"], options["salt_after"]
        row = _recover(tables, hash_column, automaton, listed=listed, limit=limit, salt=salts)
        spec = {
            "dataset": hash_column.dataset.name,
            "column": hash_column.attribute.name,
            "hash": hash_name,
            "patterns": list(patterns),
            "candidates": candidate_path,
            "salt": {"before": before, "after": after},
            "max": limit,
            "where": options["where"],
        }
        origin = origin.about(spec, paths).sending(tables.statements)
        if out is not None:
            matches = Plan((), load("unhash/mapping").query)
            stream(engine, matches, out, origin, what="writing the mapping")
    return Result(
        frame=pl.DataFrame([row], schema=RECOVERED),
        origin=origin.about(spec, paths),
        details={"patterns": counted_patterns} if patterns else {},
        notes=(*_notes(row, counted_patterns, automaton), *remarks(engine)),
    )


def _read_patterns(patterns: Sequence[str], limit: int) -> tuple[pl.DataFrame, Automaton | None]:
    """Return a row per pattern (``PATTERNS``), and the automaton of all; None without patterns.

    Raises InputError if all patterns together have more than ``limit`` words, the candidates.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= HIGHEST_LIMIT:
        raise InputError(f"max is a number of candidates, from 1 to {HIGHEST_LIMIT:,}")
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
    hash_column: HashColumn,
    automaton: Automaton | None,
    *,
    listed: int,
    limit: int,
    salt: tuple[str, str],
) -> dict[str, Any]:
    """Hash all candidates, of patterns and of a file; return the row of ``RECOVERED``.

    ``automaton`` has the words of the patterns, if any, ``listed`` is the number of candidates of
    the file, ``salt`` is put before and after each. InputError for more than ``limit`` candidates.
    """
    candidates = (automaton.words if automaton else 0) + listed
    if candidates > limit:
        raise _too_many_error(candidates, limit)
    start = time.perf_counter()
    match_candidates(tables, hash_column.hash_name, automaton, listed=listed > 0, salt=salt)
    seconds = time.perf_counter() - start
    recovered = load("unhash/recovered").query
    (row,) = tables.answer(recovered, "comparing hashes")
    counts = dict(zip(recovered.named_selects, row, strict=True))
    hashed = counts.pop("hashed")
    return counts | {
        "column": hash_column.attribute.name,
        "hash": hash_column.hash_name,
        "unfit": counts["records"] - counts["missing"] - hashed,
        "candidates": candidates,
        "recovered_values_share": counts["recovered_values"] / counts["values"],
        "recovered_records_share": counts["recovered_records"] / hashed,
        "candidates_per_second": candidates / seconds,
        "seconds": round(seconds, 3),
    }


def _notes(
    row: Mapping[str, Any], counted_patterns: pl.DataFrame, automaton: Automaton | None
) -> tuple[str, ...]:
    """Return remarks on the numbers: unfit records, and the overlap of the patterns."""
    notes = []
    if row["unfit"]:
        have = "has" if row["unfit"] == 1 else "have"
        article = "an" if row["hash"].startswith("m") else "a"
        notes.append(
            f"{plural(row['unfit'], 'record')} of {row['records']:,} {have} something other "
            f"than {article} {row['hash']} hash in column {quoted(row['column'])}; shares are of "
            "the others"
        )
    words = automaton.words if automaton is not None else 0  # of any pattern, each once
    if repeated := sum(counted_patterns["candidates"].to_list()) - words:
        notes.append(f"the patterns overlap in {plural(repeated, 'candidate')}; each is tried once")
    return tuple(notes)


def parse_hash_name(text: str) -> str:
    """Return the name of a hash function as DuckDB writes it: in lower case, without a hyphen."""
    name = text.strip().casefold().replace("-", "")
    if name not in BYTES_OF_HASHES:
        raise InputError(
            f"there is no hash {quoted(text)} here{did_you_mean(text, BYTES_OF_HASHES)}; "
            f"use one of {', '.join(BYTES_OF_HASHES)}"
        )
    return name


def read_column(catalog: Catalog, name: str, hash_name: str, where: str | None) -> HashColumn:
    """Return the column of hashes of that name; refuse types without hashes, invalid filters."""
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - a catalog of one dataset
    (attribute,) = of_column(name, catalog.schema)
    type_ = family(attribute.type)
    types = ["VARCHAR", "ENUM", "BLOB"]
    if BYTES_OF_HASHES[hash_name] == 16:
        types.append("UUID")
    if type_ not in types:
        raise ColumnError(
            f"column {quoted(name)} is of type {type_}: hashes are texts or bytes; name another"
            + (", or read numbers as text with --all-varchar" if type_ != "BOOLEAN" else "")
        )
    return HashColumn(catalog.dataset, attribute, hash_name, catalog.filter(where))


def count_hashes(tables: Tables, hash_column: HashColumn) -> None:
    """Make the table ``digests`` of the hashes in the column; raise an error if there is none."""
    cell = exp.alias_(hash_column.attribute.expression.copy(), "cell")
    cells = select_records(hash_column.dataset, [cell], hash_column.where)
    type_, size = family(hash_column.attribute.type), BYTES_OF_HASHES[hash_column.hash_name]
    shape = {"bytes": size, "uuid": type_ == "UUID", "blob": type_ == "BLOB"}
    cells_step = Step("cells", "One row per record: its cell.", cells)
    # The digest that a cell is; NULL if it is no such hash.
    steps = cells_step, make_step("unhash/hashed", shape=shape)
    setup = tuple(openings(hash_column.dataset))
    tables.make("digests", Plan(steps, load("unhash/digests").query, setup))
    counts = exp.select("count(*) AS records", "count(digest) AS hashes").from_("digests")
    ((records, hash_count),) = tables.answer(counts)
    if not records:
        raise no_records(tables.where, "nothing to look up", filtered=hash_column.where is not None)
    if not hash_count:
        unfit = Plan(steps, load("unhash/unfit").query, setup)
        raise _no_hashes_error(hash_column, {d: int(n) for d, n in tables.rows(unfit)})


def _no_hashes_error(hash_column: HashColumn, digits: Mapping[int | None, int]) -> InputError:
    """Return the error for a column without hashes, which says what its values look like.

    ``digits``: how many values have a number of hexadecimal digits; None: they have other
    characters. Empty if all values are missing.
    """
    hash_name, name = hash_column.hash_name, quoted(hash_column.attribute.name)
    text = f"column {name} has no {hash_name} hash"
    text += f" ({2 * BYTES_OF_HASHES[hash_name]} hexadecimal digits, or base64)"
    if not digits:
        return InputError(f"{text}: all its values are missing; name another column")
    most_frequent = max(digits, key=lambda length: (digits[length], length is not None))
    if most_frequent is None:
        return InputError(f"{text}, and most values are no hexadecimal digits; name another column")
    text += f", but {plural(digits[most_frequent], 'value')} of {most_frequent} digits"
    for likely, size in BYTES_OF_HASHES.items():
        if 2 * size == most_frequent:
            return InputError(f"{text}, as {likely} has; did you mean --hash {likely}?")
    if most_frequent in OTHER_HASHES:
        text += f", as {OTHER_HASHES[most_frequent]} has, which is not known here"
    return InputError(f"{text}; name another hash or column")


def count_listed(tables: Tables, catalog: Catalog, path: str) -> tuple[int, tuple[str, ...]]:
    """Make the table ``listed`` of the candidates in a file; return their number and its paths."""
    dataset, candidate, rows = _candidate_rows(catalog, path)
    text = exp.alias_(exp.cast(candidate, "VARCHAR"), "candidate")
    query = exp.select(text).distinct().from_(exp.alias_(rows, SOURCE, table=True))
    query = query.where(exp.not_(candidate.copy().is_(exp.null())))
    task = "reading candidates"
    tables.doing(task, dataset.name).make("listed", query)
    ((candidates,),) = tables.answer(exp.select("count(*) AS listed").from_("listed"), task)
    if not candidates:
        raise DatasetError(f"{dataset.name} has no candidates; name another file")
    return candidates, dataset.paths


def candidate_file(path: str) -> Dataset:
    """Return the file of candidates as a dataset; DatasetError if it does not exist."""
    if not _is_text_file(path):
        return Dataset.open(path)
    if not Path(path).is_file():
        raise DatasetError(f"{path} does not exist; check the path")
    return Dataset(Path(path).name, "csv", (path,))


def _is_text_file(path: str) -> bool:
    return Path(path).suffix.casefold() == ".txt"


def _candidate_rows(catalog: Catalog, path: str) -> tuple[Dataset, exp.Expr, exp.Expr]:
    """Return the file of candidates, the SQL of a candidate in a row of it, and of its rows."""
    if _is_text_file(path):
        lines = candidate_file(path)
        return lines, exp.column("line", table=SOURCE), header_line(lines)
    dataset, schema = catalog.beside(path)
    candidate = schema.find("candidate")
    if candidate is None and len(schema.columns) == 1:
        candidate = schema.columns[0]
    if candidate is None or nested(candidate.type):
        raise ColumnError(
            f"{dataset.name} does not say which column has the candidates; name it candidate, or "
            "give a file of one column, or a .txt file with one candidate on each line"
        )
    return dataset, column(candidate), relation(dataset)


def match_candidates(
    tables: Tables,
    hash_name: str,
    automaton: Automaton | None,
    *,
    listed: bool,
    salt: tuple[str, str],
) -> None:
    """Hash all candidates; make the table ``matches``: a row per hash of the column and candidate.

    They are the words of the ``automaton`` (None: no patterns) and, with ``listed``, the rows of
    the table ``listed``. ``salt`` is put before and after a candidate.
    """
    candidates: dict[str, Step] = {}  # by the table of those that match
    if automaton is not None:
        for name, plan in _word_tables(automaton, ROW_GROUP * tables.engine.threads):
            tables.make(name, plan, "listing candidates")
        candidates["words"] = make_step("unhash/candidates")
    if listed:
        query = exp.select("candidate").from_("listed")
        candidates["named"] = Step("candidates", "One row per candidate of the file.", query)
    before, after = map(exp.Literal.string, salt)
    shape = {"bytes": BYTES_OF_HASHES[hash_name], "salted": any(salt)}
    salted = {"salt": {"before": before, "after": after}}  # a table of one row
    tried = make_step("unhash/tried", rows=salted, shape=shape)
    for table, step in candidates.items():
        tables.make(table, Plan((step, tried), load("unhash/found").query), "hashing candidates")
    queries = [exp.select("digest", "candidate").from_(table) for table in candidates]
    matches = union(queries, distinct=len(queries) > 1)
    tables.make("matches", matches, "comparing hashes")


def _word_tables(automaton: Automaton, min_prefixes: int) -> list[tuple[str, Plan]]:
    """Return the tables that write words, by name and in order: SQL goes from state to state.

    Words are cut after ``cut`` characters into ``prefixes``, at least ``min_prefixes`` if possible,
    and ``suffixes``.
    """

    def values(columns: Sequence[str], rows: Sequence[tuple[int, ...]]) -> exp.Select:
        return exp.select("*").from_(exp.values(rows, alias="given", columns=columns))

    moves = [
        (state, kind, after)
        for state, targets in automaton.moves.items()
        for kind, after in targets.items()
    ]
    symbols = [(kind, code) for kind, codes in enumerate(automaton.kinds) for code in codes]
    # without moves (the empty word) a row that joins nothing, as VALUES needs one
    steps = values(("state", "kind", "after"), moves or [(-1, -1, -1)])
    characters = values(("kind", "code"), symbols or [(-2, 0)])
    doc = "From the patterns."
    tables = Step("steps", doc, steps), Step("symbols", doc, characters)
    finals = values(("state",), [(state,) for state in sorted(automaton.finals)])
    cut = exp.select(exp.alias_(exp.Literal.number(automaton.cut(min_prefixes)), "characters"))
    return [
        ("moves", Plan(tables, load("unhash/moves").query)),
        ("finals", Plan((), finals)),
        ("cut", Plan((), cut)),
        ("prefixes", Plan((), load("unhash/prefixes").query)),
        ("suffixes", Plan((), load("unhash/suffixes").query)),
    ]
