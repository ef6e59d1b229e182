"""Attacks with raw knowledge of people, counted again by the definition: record by record.

Both files are read with the printed SQL of their records. The texts of cells are parsed as in the
attack; which values a cell contains is decided here, without the attack's SQL. Source: M196, M200.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.second_engine import read_rows
from qifsql.commands.verify.stored_request import RepetitionError, Request, named_dataset
from qifsql.commands.verify.verdicts import Place, Repetition, place_results
from qifsql.data.cells import Cell, UnreadableError, parse
from qifsql.data.domains import Domain
from qifsql.data.missing import USUAL
from qifsql.engine.settings import Settings
from qifsql.query.suppression import STAR
from qifsql.reference import compatible_records, people_with_records, success
from qifsql.reference.microdata import blocks
from qifsql.reference.success import Number, Success, compared
from qifsql.results.stored import Stored

WAY = "definition"
MOST_PAIRS = 1_000_000  # of a person's record and one of the release
DOMAINS: Mapping[type, Domain] = {
    int: Domain("whole", "HUGEINT"),
    str: Domain("text", "VARCHAR"),
    date: Domain("date", "DATE"),
}
"""The domains of values that are compared here, by their type in Python."""
EXPECTED = ("records", "people", "singled_out", "k", "candidates", "misled")


@dataclass(frozen=True)
class _Records:
    """The records of a file: cells of the known columns, of the secrets, and whose they are."""

    rows: list[tuple[Any, ...]]
    secrets: list[tuple[Any, ...]]
    owners: list[Any]


def repeat(stored: Stored, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of an attack with raw knowledge of people, of both views."""
    spec = stored.spec
    if spec.get("hierarchies") or spec.get("expressions"):
        raise RepetitionError("hierarchies and computed columns are not read again")
    if spec.get("where") and not (spec.get("person") or spec.get("key")):
        raise RepetitionError("with a filter, the order of the records is not read again")
    people, release = (_read(stored, inputs, settings, name) for name in ("people", "dataset"))
    if len(people.rows) * len(release.rows) > MOST_PAIRS:
        raise RepetitionError(f"more than {MOST_PAIRS:,} pairs of records")
    # For each cell of the release, a function: does it contain a value of a person in this column?
    values_by_column = [list(column) for column in zip(*people.rows, strict=True)]
    cells_by_column = [list(column) for column in zip(*release.rows, strict=True)]
    columns = zip(cells_by_column, values_by_column, strict=True)
    tests_by_column = [_cell_tests(cells, values) for cells, values in columns]
    tests_by_record = list(zip(*tests_by_column, strict=True))
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row["view"] == "cells":
            recomputed = _numbers_of_cells(stored, release, row)
        else:
            recomputed = _numbers_of_candidates(stored, people, release, tests_by_record, row)
        recomputed |= {"datasets": 1, "n_qids": len(spec["qids"])}
        numbers |= place_results(stored, i, recomputed)
    return Repetition(WAY, numbers)


def _read(stored: Stored, inputs: Inputs, settings: Settings, name: str) -> _Records:
    """Return the records of the file of an option, ``people`` or ``dataset`` (the release)."""
    spec, dataset = stored.spec, named_dataset(stored, inputs, name)
    owner = spec.get("person") or spec.get("key")
    secrets = list(spec["secrets"]) if name == "dataset" else []  # of people, none are known
    options = {"qids": spec["qids"], "secret": secrets, "where": spec["where"], "person": owner}
    options = {option: value for option, value in options.items() if value}
    models = ("crs", *(["cas"] if secrets else []))
    request = Request(stored, models, dataset, options, inputs.now, settings)
    # A row has the quasi-identifiers, the secrets and, if there is one, the person or key.
    rows = read_rows(request, "records" if owner else "microdata")
    width = len(spec["qids"])
    return _Records(
        [row[:width] for row in rows],
        [row[width : width + len(secrets)] for row in rows],
        [row[width + len(secrets)] if owner else None for row in rows],
    )


def _cell_tests(cells: Sequence[Any], values: Sequence[Any]) -> list[Callable[[Any], bool]]:
    """Return for each cell of a column a function that tells whether it contains a value.

    ``values`` are those of the people in this column. An empty cell contains all if the release has
    more of them than the people, and so does a usual word for missing that contains none of theirs.
    """
    types = {type(value) for value in values if value is not None} or {str}
    if len(types) > 1 or not types <= DOMAINS.keys():
        raise RepetitionError("values other than texts, whole numbers and dates are not read again")
    domain = DOMAINS[types.pop()]
    has_excess = cells.count(None) > values.count(None)

    def test(cell: Any) -> Callable[[Any], bool]:
        if cell is None:
            return lambda value: has_excess or value is None
        parsed = _parse_cell(cell, domain)
        if cell in USUAL and not any(_contains(parsed, value, values, domain) for value in values):
            return lambda _: True
        return lambda value: _contains(parsed, value, values, domain)

    tests = {cell: test(cell) for cell in set(cells)}
    return [tests[cell] for cell in cells]


def _parse_cell(cell: Any, domain: Domain) -> Cell:
    """Return the set of values that a cell of the release stands for.

    It is empty for a text that cannot be read as one of the ``domain``, such as NA among numbers.
    """
    if not isinstance(cell, str):
        if isinstance(cell, int | Decimal | date):
            return Cell(items=(str(cell),))
        raise RepetitionError("cells that are lists, structures or fractions are not read again")
    try:
        return parse(cell, domain)
    except UnreadableError:
        return Cell()


def _contains(cell: Cell, value: Any, values: Sequence[Any], domain: Domain) -> bool:
    """Return whether a cell contains a value; ``values`` are those of all people."""
    if cell.everything or value is None:
        return cell.everything or cell.missing
    if cell.prefix is not None:
        return _fits_prefix(cell, str(value), list(map(str, values)))
    comparable: Callable[[str], Any] = Fraction if domain.kind == "whole" else str
    number = comparable(str(value))
    if not cell.ranged:
        return number in map(comparable, cell.items)
    # bounds of whole numbers are in the interval; ISO dates have the order of their texts
    lower, upper = (None if end is None else comparable(end) for end in (cell.lower, cell.upper))
    is_above = lower is None or number > lower or (number == lower and not cell.open_below)
    is_below = upper is None or number < upper or (number == upper and not cell.open_above)
    return bool(is_above and is_below)


def _fits_prefix(cell: Cell, text: str, texts: Sequence[str]) -> bool:
    """Return whether a cell of a prefix stands for a text; ``texts`` are those of all people.

    12** stands for texts of four characters (``length``). If no text with the prefix has this
    length, it stands for those of any length, where the cell allows it (``open_above``).
    """
    if cell.prefix is None or not text.startswith(cell.prefix):
        return False
    lengths = {len(t) for t in texts if t.startswith(cell.prefix)}
    return len(text) == cell.length or (cell.open_above and cell.length not in lengths)


def _numbers_of_candidates(
    stored: Stored,
    people: _Records,
    release: _Records,
    tests_by_record: Sequence[Sequence[Callable[[Any], bool]]],
    row: Mapping[str, Any],
) -> dict[str, Number]:
    """Return the numbers of a row of the view ``compatible``, by column."""
    secrets = _secrets_of_records(stored, release, row)
    if stored.spec.get("person"):
        numbers = compatible_records.find_people(
            people.rows, people.owners, tests_by_record, release.owners, secrets
        )
    else:  # the position of each person's record in the release, unless nothing tells it
        positions: Sequence[int | None] | None = None
        if stored.spec.get("key"):
            position = {name: i for i, name in enumerate(release.owners) if name is not None}
            positions = [position.get(name) for name in people.owners]
        elif len(people.rows) == len(release.rows):  # they are in the same order
            positions = range(len(people.rows))
        numbers = compatible_records.find(people.rows, tests_by_record, secrets, positions)
    prefix = "" if row["secret"] is None else "cas_"
    certain = numbers["singled_out" if row["secret"] is None else "individuals_certain"]
    before, after = (
        Success(
            numbers[f"{prefix}{when}_deterministic"],
            numbers[f"{prefix}{when}_probabilistic"],
            numbers[f"{prefix}worst_case"],
            certain,
        )
        for when in ("prior", "posterior")
    )
    columns = {name: numbers[name] for name in EXPECTED} | {"blocks": None}
    return columns | compared(before, after)


def _secrets_of_records(stored: Stored, release: _Records, row: Mapping[str, Any]) -> list[Any]:
    """Return the secret of each record that a row is about: of re-identification, its position."""
    if row["secret"] is None:
        return list(range(len(release.rows)))
    number = list(stored.spec["secrets"]).index(row["secret"])
    return [secrets[number] for secrets in release.secrets]


def _numbers_of_cells(
    stored: Stored, release: _Records, row: Mapping[str, Any]
) -> dict[str, Number]:
    """Return the numbers of a row of the view ``cells``, by column."""
    qids = list(map(str, stored.spec["qids"]))
    secrets = _secrets_of_records(stored, release, row)
    rows = [
        dict(zip(qids, cells, strict=True)) | {"the secret": secret, "the owner": owner}
        for cells, secret, owner in zip(release.rows, secrets, release.owners, strict=True)
    ]
    suppressed = [tuple(STAR for _ in qids)] if stored.spec["suppressed_records"] else []
    secret = None if row["secret"] is None else "the secret"
    numbers: dict[str, Number] = {"candidates": None, "misled": None}
    if stored.spec.get("person"):
        reading: dict[str, Any] = {"known_records": row["known_records"], "suppressed": suppressed}
        return numbers | people_with_records.attack(rows, "the owner", qids, secret, **reading)
    before, after = (blocks(rows, columns, None) for columns in ([], qids))
    numbers["k"] = min(kind.size for kind in success.kinds_of(before, after, suppressed))
    return numbers | success.attack(rows, qids, secret, suppressed=suppressed)
