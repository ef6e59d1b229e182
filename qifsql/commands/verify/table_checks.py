"""The numbers of attacks on tables of records, by their definitions, over all possible counts.

The people, the prior and the success with the records themselves are counted. What the tables prove
is what all arrays of counts that agree with them have in common: these are listed where they are
few. Source: M89 to M104.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.second_engine import read_rows
from qifsql.commands.verify.stored_request import RepetitionError, Request, current_source
from qifsql.commands.verify.verdicts import Place, Repetition, place_results
from qifsql.data.option import names
from qifsql.engine.settings import Settings
from qifsql.query.protections import split
from qifsql.reference import published_arrays
from qifsql.reference.published_arrays import Problem, Table, TooManyError
from qifsql.reference.published_tables import Cell, Dims, domains
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

WAY = "definition"
MOST_CELLS = 32  # of all dimensions, whose arrays of counts are listed
MOST_ARRAYS = 20_000
OF_RECORDS = ("people", "prior", "records")  # what is counted without the tables
BRACKET, GUESSES = ("lowest", "highest"), ("believed", "actual")


def repeat(stored: Stored, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of each row of an attack on tables; the reason tells what is left out."""
    spec = stored.spec
    if not spec["from_records"]:
        raise RepetitionError("published files are not read again, only tables of records")
    if any(spec.get(name) for name in ("published", "releases", "ledger", "possible", "nested")):
        raise RepetitionError("only tables of records are made again, without other files")
    written: list[list[str]] = []
    tables: dict[str, Table] = {}
    for title in spec["tables"]:
        dims, protection = split(title)
        written.append([name.strip() for name in names([dims])])
        tables[title] = Table((), protection.text)
    dimensions = list(dict.fromkeys(name for listed in written for name in listed))
    if len(dimensions) != len(spec["dimensions"]):
        raise RepetitionError("the manifest does not say which dimensions each table has")
    for title, listed in zip(tables, written, strict=True):
        tables[title] = Table(tuple(map(dimensions.index, listed)), tables[title].protection)
    options = {"qids": dimensions, "where": spec["where"]}
    source = current_source(stored, inputs)
    request = Request(stored, ("crs",), source, options, inputs.now, settings)
    people = [tuple(row) for row in read_rows(request)]
    numbers: dict[Place, Number] = {}
    reasons: dict[str, None] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        knowledge = tuple(spec["dimensions"].index(name) for name in row["known"])
        secret = None if row["secret"] is None else spec["dimensions"].index(row["secret"])
        chosen = [tables[title] for title in row["tables"]]
        defined, reason = _definitions(people, chosen, knowledge, secret, row)
        numbers |= place_results(stored, i, defined)
        reasons[reason] = None
    return Repetition(WAY, numbers, "; ".join(filter(None, reasons)))


def _definitions(
    people: Sequence[Cell],
    tables: Sequence[Table],
    knowledge: Dims,
    secret: int | None,
    row: Mapping[str, Any],
) -> tuple[dict[str, Number], str]:
    """Return the numbers of a row, ``row`` as it is stored, and why there are no others."""
    of_records = published_arrays.of_records(people, knowledge, secret)
    if any(table.drawn for table in tables):
        return of_records, "counts that are rounded at random, or have noise, are not drawn again"
    values = domains(people)
    if math.prod(map(len, values)) > MOST_CELLS:
        return of_records, f"more than {MOST_CELLS} combinations of all dimensions"
    marks = tuple((table, published_arrays.publish(people, table)) for table in tables)
    problem = Problem(values, len(people), marks)
    try:
        arrays = published_arrays.consistent(problem, MOST_ARRAYS)
    except TooManyError:
        return of_records, f"more than {MOST_ARRAYS:,} arrays of counts agree with the tables"
    numbers = published_arrays.row(problem, arrays, knowledge, secret, people)
    if secret is None:
        del numbers["certain_inference"]
    loose = set() if row["bracket_sharp"] else {*BRACKET}
    loose |= {*GUESSES} if row["estimate"] else set()
    if not row["sharp"]:
        loose |= numbers.keys() - {*OF_RECORDS, *BRACKET, *GUESSES}
    reason = "bounds that may not be sharp, and estimates, are no definitions" if loose else ""
    return {name: number for name, number in numbers.items() if name not in loose}, reason
