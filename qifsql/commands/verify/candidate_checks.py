"""Attacks with raw knowledge of people, counted again by the definition: record by record.

Both files are read with the printed SQL of their records. The texts of cells are parsed as in the
attack; which values a cell contains is decided here, and nothing of the attack's SQL is used.
Source: M196, M200.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition, place_numbers
from qifsql.commands.verify.second_engine import read_people
from qifsql.commands.verify.stored_request import RepetitionError, Request, named_dataset
from qifsql.data.cells import Cell, UnreadableError, parse
from qifsql.data.domains import Domain, exact
from qifsql.data.missing import USUAL
from qifsql.engine.settings import Settings
from qifsql.query.suppression import STAR
from qifsql.reference import compatible_records, people_with_records, success
from qifsql.reference.microdata import Key, Rows, blocks
from qifsql.reference.success import Number, Success, compared
from qifsql.results.stored import Stored

WAY = "definition"
MOST = 1_000_000  # pairs of a person's record and one of the release
KINDS: Mapping[type, Domain] = {
    int: Domain("whole", "HUGEINT"),
    str: Domain("text", "VARCHAR"),
    date: Domain("date", "DATE"),
}
"""The domains of values that are compared here, by their type in Python."""
EXPECTED = ("records", "people", "singled_out", "k", "candidates", "misled")


@dataclass(frozen=True)
class _File:
    """The records of a file: values of the known columns, of the secrets, and whose they are."""

    rows: list[tuple[Any, ...]]
    secrets: list[tuple[Any, ...]]
    owners: list[Any]


def repeat(stored: Stored, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of an attack with raw knowledge of people, of both views."""
    spec = stored.spec
    if spec.get("hierarchies") or spec.get("expressions"):
        raise RepetitionError("hierarchies and computed columns are not read again")
    named = spec.get("person") or spec.get("key")
    if spec.get("where") and named is None:
        raise RepetitionError("with a filter, the order of the records is not read again")
    people, release = (_read(stored, inputs, settings, name) for name in ("people", "dataset"))
    if len(people.rows) * len(release.rows) > MOST:
        raise RepetitionError(f"more than {MOST:,} pairs of records")
    values = [list(column) for column in zip(*people.rows, strict=True)]
    cells = [list(column) for column in zip(*release.rows, strict=True)]
    tests = [_tests(column, raw) for column, raw in zip(cells, values, strict=True)]
    records = list(zip(*tests, strict=True))
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row["view"] == "cells":
            again = _of_cells(stored, release, row)
        else:
            again = _of_candidates(stored, people, release, records, row)
        again |= {"datasets": 1, "n_qids": len(spec["qids"])}
        numbers |= place_numbers(RESULTS, i, {n: again[n] for n in row.keys() & again.keys()})
    return Repetition(WAY, numbers)


def _read(stored: Stored, inputs: Inputs, settings: Settings, name: str) -> _File:
    """Return the records of the file that the manifest has under ``name``."""
    spec, dataset = stored.spec, named_dataset(stored, inputs, name)
    owner = spec.get("person") or spec.get("key")
    secrets = list(spec["secrets"]) if name == "dataset" else []
    options = {"qids": spec["qids"], "secret": secrets, "where": spec["where"], "person": owner}
    options = {option: value for option, value in options.items() if value}
    models = ("crs", *(["cas"] if secrets else []))
    request = Request(stored, models, dataset, options, inputs.now, settings)
    rows = read_people(request, "records" if owner else "microdata").rows
    width = len(spec["qids"])
    return _File(
        [row[:width] for row in rows],
        [row[width : width + len(secrets)] for row in rows],
        [row[width + len(secrets)] if owner else None for row in rows],
    )


def _tests(cells: Sequence[Any], values: Sequence[Any]) -> list[Callable[[Any], bool]]:
    """Return for each cell of a column whether it contains a value; ``values`` are the people's.

    An empty cell contains all if the release has more of them than the people, and so does a usual
    word for a missing value that contains none of theirs.
    """
    kinds = {type(value) for value in values if value is not None} or {str}
    if len(kinds) > 1 or not kinds <= KINDS.keys():
        raise RepetitionError("values other than texts, whole numbers and dates are not read again")
    domain = KINDS[kinds.pop()]
    has_excess = cells.count(None) > values.count(None)

    def test(cell: Any) -> Callable[[Any], bool]:
        if cell is None:
            return lambda value: has_excess or value is None
        parsed = _cell(cell, domain)
        if cell in USUAL and not any(_contains(parsed, value, values, domain) for value in values):
            return lambda _: True
        return lambda value: _contains(parsed, value, values, domain)

    different = {cell: test(cell) for cell in set(cells)}
    return [different[cell] for cell in cells]


def _cell(cell: Any, domain: Domain) -> Cell:
    """Return what a cell stands for; a word for missing among numbers stands for nothing."""
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
    text = str(value)
    if cell.prefix is not None:
        begun = [v for v in map(str, values) if v.startswith(cell.prefix)]
        fits = len(text) == cell.length
        may_fit = cell.open_above and not any(len(v) == cell.length for v in begun)
        return text.startswith(cell.prefix) and (fits or may_fit)

    def comparable(text: str) -> Any:
        return exact(text) if domain.kind == "whole" else text

    if not cell.ranged:
        return comparable(text) in map(comparable, cell.items)
    # bounds of whole numbers are in the interval; ISO dates have the order of their texts
    lower, upper = (None if b is None else comparable(b) for b in (cell.lower, cell.upper))
    x = comparable(text)
    is_above = lower is None or x > lower or (x == lower and not cell.open_below)
    return is_above and (upper is None or x < upper or (x == upper and not cell.open_above))


def _of_candidates(
    stored: Stored,
    people: _File,
    release: _File,
    records: Sequence[Sequence[Callable[[Any], bool]]],
    row: Mapping[str, Any],
) -> dict[str, Number]:
    """Return the numbers of a row of the view ``compatible``, by column."""
    chosen = _secret_of(stored, release, row)
    if stored.spec.get("person"):
        owners = people.owners, records, release.owners, chosen
        numbers = compatible_records.find_people(people.rows, *owners)
    else:
        places = _places(stored, people, release)
        numbers = compatible_records.find(people.rows, records, chosen, places)
    prefix = "" if row["secret"] is None else "cas_"
    shares = ("deterministic", "probabilistic")
    certain = numbers["singled_out" if row["secret"] is None else "individuals_certain"]
    sure, best = (numbers[f"{prefix}prior_{n}"] for n in shares)
    before = Success(sure, best, Fraction(), 0)
    sure, best = (numbers[f"{prefix}posterior_{n}"] for n in shares)
    after = Success(sure, best, numbers[f"{prefix}worst_case"], certain)
    columns = {name: numbers[name] for name in EXPECTED} | {"blocks": None}
    return columns | compared(before, after)


def _places(stored: Stored, people: _File, release: _File) -> Sequence[int | None] | None:
    """Return the number of each person's record in the release; None if nothing tells it."""
    if stored.spec.get("key"):
        numbers = {name: i for i, name in enumerate(release.owners) if name is not None}
        return [numbers.get(name) for name in people.owners]
    is_in_order = len(people.rows) == len(release.rows)
    return range(len(people.rows)) if is_in_order else None


def _secret_of(stored: Stored, release: _File, row: Mapping[str, Any]) -> list[Any]:
    """Return the secret of each record that a row is about: of re-identification, its number."""
    if row["secret"] is None:
        return list(range(len(release.rows)))
    number = list(stored.spec["secrets"]).index(row["secret"])
    return [secrets[number] for secrets in release.secrets]


def _of_cells(stored: Stored, release: _File, row: Mapping[str, Any]) -> dict[str, Number]:
    """Return the numbers of a row of the view ``cells``, by column."""
    qids = list(map(str, stored.spec["qids"]))
    chosen = _secret_of(stored, release, row)
    parts = zip(release.rows, chosen, release.owners, strict=True)
    rows = [
        dict(zip(qids, cells, strict=True)) | {"the secret": secret, "the owner": owner}
        for cells, secret, owner in parts
    ]
    hidden = []
    if stored.spec["suppressed_records"]:
        hidden = [tuple(STAR for _ in qids)]
    secret = None if row["secret"] is None else "the secret"
    of_others: dict[str, Number] = {"candidates": None, "misled": None}
    if stored.spec.get("person"):
        reading: dict[str, Any] = {"known_records": row["known_records"], "suppressed": hidden}
        return of_others | people_with_records.attack(rows, "the owner", qids, secret, **reading)
    of_others["k"] = _least_block(rows, qids, hidden)
    return of_others | success.attack(rows, qids, secret, suppressed=hidden)


def _least_block(rows: Rows, names: Sequence[str], suppressed: Sequence[Key]) -> int:
    """Return the size of the smallest block of equal values in some columns."""
    before, after = (blocks(rows, columns, None) for columns in ([], names))
    return min(kind.size for kind in success.kinds_of(before, after, suppressed))
