"""The tables of a dictionary attack: hashes of the column, candidates, and matches.

Candidates are never stored all at once. Tables hold the beginnings and the ends of the words; each
pair is hashed and looked up as soon as it is joined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.names import of_column
from qifsql.adversary.spec import Attribute
from qifsql.commands.unhash.automaton import Automaton
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE, column
from qifsql.data.readers import header_line, openings, relation
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import (
    ColumnError,
    DatasetError,
    InputError,
    did_you_mean,
    no_records,
    plural,
    quoted,
)
from qifsql.query.columns import union
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step
from qifsql.query.templates import load

ROW_GROUP = 122_880  # rows that one thread of DuckDB takes at a time
OTHERS = {56: "SHA-224", 96: "SHA-384", 128: "SHA-512"}  # recognised by the number of digits


@dataclass(frozen=True)
class Hash:
    """A hash function: its name, which is also that in DuckDB, and its number of bytes."""

    name: str
    bytes: int

    @property
    def digits(self) -> int:
        """Return the number of hexadecimal digits of a hash."""
        return 2 * self.bytes


HASHES = {h.name: h for h in (Hash("md5", 16), Hash("sha1", 20), Hash("sha256", 32))}


def hash_named(name: str) -> Hash:
    """Return the hash function of that name, in any case, with or without a hyphen."""
    kind = HASHES.get(name.strip().casefold().replace("-", ""))
    if kind is None:
        raise InputError(
            f"there is no hash {quoted(name)} here{did_you_mean(name, HASHES)}; "
            f"use one of {', '.join(HASHES)}"
        )
    return kind


@dataclass(frozen=True)
class Column:
    """The column of hashes, and the filter on its records."""

    dataset: Dataset
    attribute: Attribute
    kind: Hash
    where: exp.Expr | None


def read_column(catalog: Catalog, name: str, kind: Hash, where: str | None) -> Column:
    """Return the column of hashes of that name; refuse types without hashes, invalid filters."""
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - a catalog of one dataset
    (attribute,) = of_column(name, catalog.schema)
    type_ = family(attribute.type)  # a UUID has 16 bytes, as an md5 hash has
    if type_ not in ("VARCHAR", "ENUM", "BLOB") and not (type_ == "UUID" and kind.bytes == 16):
        raise ColumnError(
            f"column {quoted(name)} is of type {type_}: hashes are texts or bytes; name another"
            + (", or read numbers as text with --all-varchar" if type_ != "BOOLEAN" else "")
        )
    return Column(catalog.dataset, attribute, kind, catalog.filter(where))


def count_hashes(tables: Tables, hash_column: Column) -> None:
    """Make the table ``digests`` of the hashes in the column; raise an error if there is none."""
    steps, setup = _hashed_steps(hash_column), tuple(openings(hash_column.dataset))
    tables.make("digests", Plan(steps, load("unhash/digests").query, setup))
    counts = exp.select("count(*) AS records", "count(digest) AS hashes").from_("digests")
    ((records, hash_count),) = tables.answer(counts)
    if not records:
        raise no_records(tables.where, "nothing to look up", filtered=hash_column.where is not None)
    if not hash_count:
        unfit = Plan(steps, load("unhash/unfit").query, setup)
        raise _no_hashes_error(hash_column, {d: int(n) for d, n in tables.rows(unfit)})


def _hashed_steps(hash_column: Column) -> tuple[Step, Step]:
    """Return the steps with a row per record: the cell of the column, and the hash in it."""
    cell = exp.alias_(hash_column.attribute.expression.copy(), "cell")
    rows = exp.alias_(relation(hash_column.dataset), SOURCE, table=True)
    cells = exp.select(cell).from_(rows)
    if hash_column.where is not None:
        cells = cells.where(exp.paren(hash_column.where))
    type_ = family(hash_column.attribute.type)
    shape = {"bytes": hash_column.kind.bytes, "uuid": type_ == "UUID", "blob": type_ == "BLOB"}
    hashed = make_step("unhash/hashed", shape=shape)
    return Step("cells", "One row per record: its cell.", cells), hashed


def _no_hashes_error(hash_column: Column, digits: Mapping[int | None, int]) -> InputError:
    """Return the error for a column without hashes, which says what its values look like.

    ``digits``: how many values have a number of hexadecimal digits; None: they have other
    characters. Empty if all values are missing.
    """
    kind, name = hash_column.kind, quoted(hash_column.attribute.name)
    text = f"column {name} has no {kind.name} hash ({kind.digits} hexadecimal digits, or base64)"
    if not digits:
        return InputError(f"{text}: all its values are missing; name another column")
    most_frequent = max(digits, key=lambda length: (digits[length], length is not None))
    if most_frequent is None:
        return InputError(f"{text}, and most values are no hexadecimal digits; name another column")
    likely = next((h for h in HASHES.values() if h.digits == most_frequent), None)
    text += f", but {plural(digits[most_frequent], 'value')} of {most_frequent} digits"
    if likely is not None:
        return InputError(f"{text}, as {likely.name} has; did you mean --hash {likely.name}?")
    if most_frequent in OTHERS:
        text += f", as {OTHERS[most_frequent]} has, which is not known here"
    return InputError(f"{text}; name another hash or column")


def count_listed(tables: Tables, catalog: Catalog, path: str) -> tuple[int, tuple[str, ...]]:
    """Make the table ``listed`` of the candidates in a file; return their number and its paths."""
    dataset, candidate, rows = _candidate_rows(catalog, path)
    text = exp.alias_(exp.cast(candidate, "VARCHAR"), "candidate")
    query = exp.select(text).distinct().from_(exp.alias_(rows, SOURCE, table=True))
    query = query.where(exp.not_(candidate.copy().is_(exp.null())))
    what = "reading candidates"
    tables.doing(what, dataset.name).make("listed", query)
    ((candidates,),) = tables.answer(exp.select("count(*) AS listed").from_("listed"), what)
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
    tables: Tables, kind: Hash, automaton: Automaton | None, *, listed: bool, salt: tuple[str, str]
) -> None:
    """Hash all candidates; make the table ``matches``: a row per hash of the column and candidate.

    They are the words of the ``automaton`` (None: no patterns) and, with ``listed``, the rows of
    the table ``listed``. ``salt`` is put before and after a candidate.
    """
    sources: list[tuple[str, Step]] = []  # the table of matches, and the step of its candidates
    if automaton is not None:
        for name, plan in _word_tables(automaton, ROW_GROUP * tables.engine.threads):
            tables.make(name, plan, "listing candidates")
        sources.append(("words", make_step("unhash/candidates")))
    if listed:
        query = exp.select("candidate").from_("listed")
        sources.append(("named", Step("candidates", "One row per candidate of the file.", query)))
    texts = dict(zip(("before", "after"), map(exp.Literal.string, salt), strict=True))
    shape = {"bytes": kind.bytes, "salted": any(salt)}
    tried = make_step("unhash/tried", rows={"salt": texts}, shape=shape)
    for name, candidates in sources:
        plan = Plan((candidates, tried), load("unhash/found").query)
        tables.make(name, plan, "hashing candidates")
    queries = [exp.select("digest", "candidate").from_(name) for name, _candidates in sources]
    matches = union(queries, distinct=len(queries) > 1)
    tables.make("matches", matches, "comparing hashes")


def _word_tables(automaton: Automaton, min_prefixes: int) -> list[tuple[str, Plan]]:
    """Return the tables that write words, by name and in order: SQL goes from state to state.

    Words are cut after ``cut`` characters into ``prefixes``, ``min_prefixes`` or more of them if
    there are enough words, and ``suffixes``.
    """
    moves = [
        (state, kind, after)
        for state, targets in automaton.moves.items()
        for kind, after in targets.items()
    ]
    symbols = [(kind, code) for kind, codes in enumerate(automaton.kinds) for code in codes]
    tables = (  # without moves (the empty word) a row that joins nothing, as VALUES needs one
        _step_of_values("steps", ("state", "kind", "after"), moves or [(-1, -1, -1)]),
        _step_of_values("symbols", ("kind", "code"), symbols or [(-2, 0)]),
    )
    finals = _values(("state",), [(state,) for state in sorted(automaton.finals)])
    cut = exp.select(exp.alias_(exp.Literal.number(automaton.cut(min_prefixes)), "characters"))
    return [
        ("moves", Plan(tables, load("unhash/moves").query)),
        ("finals", Plan((), finals)),
        ("cut", Plan((), cut)),
        ("prefixes", Plan((), load("unhash/prefixes").query)),
        ("suffixes", Plan((), load("unhash/suffixes").query)),
    ]


def _step_of_values(name: str, columns: Sequence[str], rows: Sequence[tuple[int, ...]]) -> Step:
    return Step(name, "From the patterns.", _values(columns, rows))


def _values(columns: Sequence[str], rows: Sequence[tuple[int, ...]]) -> exp.Select:
    return exp.select("*").from_(exp.values(rows, alias="given", columns=columns))
