"""Tables of sums: cells in which a contributor could estimate what another one contributes.

A magnitude table publishes in each cell the sum of a number, such as turnover. A contributor is a
record that has the number. With its contributions x_1 >= x_2 >= ... and their sum T, a cell fails

- (n, k)-dominance where x_1 + ... + x_n > k/100 T: the n largest are nearly all of it,
- the p % rule where T - x_1 - x_2 < p/100 x_1: whoever contributes x_2 takes it off the sum and
  knows x_1 within p %.

Both are about numbers from 0 on. Numbers become whole ones, so that sums and comparisons are exact.
Source: M108 and M109; Hundepool et al., Statistical Disclosure Control, 2012, chapter 4.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary import names as naming
from qifsql.adversary import roles
from qifsql.adversary.bind import with_types
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.tables import hidden_sums
from qifsql.commands.tables.hidden_sums import MOST_HIDDEN, HiddenSum
from qifsql.commands.tables.spec import BUDGET
from qifsql.commands.tables.sum_rules import Rules
from qifsql.data.dataset import Dataset
from qifsql.data.option import as_tuple, names
from qifsql.data.types import NUMBERS, family, scale_of
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.query import microdata_steps
from qifsql.query.plan import Step
from qifsql.query.splice import splice
from qifsql.query.templates import load

MOST_BITS = 126  # of a sum
_SPLIT = re.compile(r"""((?:[^:"']|"[^"]*"|'[^']*'|::)+?):(?!:)(.*)""", re.S)

MAGNITUDES: dict[str, pl.DataType] = {
    **dict.fromkeys(("table", "number"), pl.String()),
    "dimensions": pl.List(pl.String()),
    **dict.fromkeys(("without_number", "cells", "contributors", "one_or_two", "small"), pl.Int64()),
    **dict.fromkeys(("dominated", "p_percent", "either", "failing"), pl.Int64()),
}
"""One row per table of sums: its text, the ``number`` and the ``dimensions``. The ``contributors``
are records with a number; the ``without_number`` others are in no cell. The rest are numbers of
``cells``, which have contributors: cells with ``one_or_two`` of them, with fewer than the ``small``
number, cells that fail (n, k)-dominance (``dominated``), the p % rule (``p_percent``), ``either``
of these two, or any of the three (``failing``)."""


@dataclass(frozen=True)
class Magnitude:
    """A table of sums as it is written: the ``number`` that is summed, and its ``dimensions``."""

    text: str
    number: str
    dimensions: tuple[str, ...]


def parse_magnitudes(texts: str | Sequence[str]) -> list[Magnitude]:
    """Return the tables of sums that texts ask for, ``NUMBER:DIMENSIONS``.

    The first colon separates the two; colons in quotes and the ``::`` of a cast do not. Raises
    InputError.
    """
    magnitudes: list[Magnitude] = []
    for text in as_tuple(texts):
        parts = _SPLIT.fullmatch(text)
        numbers, dimensions = (names([p.strip()]) for p in parts.groups()) if parts else ((), ())
        if len(numbers) != 1 or not dimensions:
            raise InputError(
                f"{quoted(text)} is not a table of sums; write one number, a colon and the "
                "dimensions, as in 'turnover:region,industry'"
            )
        if any(m.text == text.strip() for m in magnitudes):
            raise InputError(f"the table of sums {quoted(text.strip())} is given twice")
        magnitudes.append(Magnitude(text.strip(), numbers[0], dimensions))
    return magnitudes


def measure(
    tables: Tables,
    dataset: Dataset,
    magnitudes: Iterable[Magnitude],
    rules: Rules,
    *,
    where: str | None = None,
    seconds: float = BUDGET,
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Return the details ``magnitudes`` and ``hidden_sums``, and remarks on records left out.

    The engine of ``tables`` is open on the dataset; ``where`` is an SQL filter, ``seconds`` are
    those for the bounds of hidden sums. Raises InputError if a number is unusable.
    """
    magnitudes = list(magnitudes)
    dimensions = tuple(name for m in magnitudes for name in m.dimensions)
    numbers = tuple(m.number for m in magnitudes)
    named = Attack(models=(), dataset=dataset, qids=dimensions, secrets=numbers, where=where)
    catalog = Catalog(tables.engine, dataset, named.mentions)
    rows, hidden, notes = [], [], []
    for magnitude in magnitudes:
        microdata = bind(catalog, magnitude, where)
        row, sums = _check_table(tables, microdata, rules)
        hidden.append({"table": magnitude.text, **hidden_sums.audit(sums, rules, seconds)})
        if row["without_number"]:
            records = f"{plural(row['without_number'], 'record')} of {microdata.dataset.name}"
            notes.append(
                f"{records} without {quoted(row['number'])} contribute to no cell of "
                f"{quoted(magnitude.text)}"
            )
        rows.append({"table": magnitude.text, **row})
    if any(row["open"] for row in hidden):
        notes.append(
            "bounds of some hidden sums may not be sharp: more of them may follow from the totals "
            "than is told; give more time (--time-budget), or install the extra tables"
        )
    return {
        "magnitudes": pl.DataFrame(rows, schema=MAGNITUDES),
        "hidden_sums": pl.DataFrame(hidden, schema=hidden_sums.HIDDEN_SUMS),
    }, notes


def bind(catalog: Catalog, magnitude: Magnitude, where: str | None = None) -> Microdata:
    """Return microdata with the dimensions as quasi-identifiers and the number as the secret.

    Raises ColumnError if the number is several, a dimension, or of another type.
    """
    schema = catalog.schema
    dimensions = naming.attributes(magnitude.dimensions, schema, "dimension")
    numbers = naming.attributes((magnitude.number,), schema, "number")
    if len(numbers) > 1:
        raise ColumnError(f"{quoted(magnitude.text)} sums one number; make a table for each")
    condition = catalog.filter(where)
    used = with_types({roles.QID: dimensions, roles.SECRET: numbers}, None, catalog)
    (amount,) = used[roles.SECRET]
    if any(amount.expression == d.expression for d in dimensions):
        raise ColumnError(f"number {quoted(amount.name)} is a dimension of its own table of sums")
    if (kind := family(amount.type)) not in NUMBERS:
        raise ColumnError(
            f"number {quoted(amount.name)} is of type {kind}; cast it, as in "
            "NAME=column::DECIMAL(18,2)"
        )
    return Microdata(
        dataset=catalog.dataset,
        qids=used[roles.QID],
        secrets=(amount,),
        where=condition,
        zoned=any("TIME ZONE" in c.type for c in schema.columns),
        columns=roles.columns(schema, used, where=condition),
    )


def _check_table(
    tables: Tables, microdata: Microdata, rules: Rules
) -> tuple[dict[str, Any], list[HiddenSum] | None]:
    """Return the checks of one table of sums, a row of ``MAGNITUDES`` without its text.

    Also the cells that fail, and so are hidden; None: too many.

    The quasi-identifiers of the microdata are its dimensions, the one secret is its number. The
    view ``amounts`` has one row about the numbers (how many, largest, scale), ``sums`` the
    contributors of each cell, ``sum_checks`` which rules it fails, ``sum_failures`` how many cells
    fail each.
    """
    steps = microdata_steps.steps(microdata)
    amounts = microdata_steps.plan(microdata, steps, splice("tables/amounts", secret=1))
    tables.make("amounts", amounts, "reading numbers")
    scaled, without = _scale_to_integers(tables, microdata)  # reads ``amounts``
    steps = microdata_steps.steps(scaled)
    for name in ("sums", "sum_checks"):
        template, rows = load(f"tables/{name}"), {"asked": rules.row}
        query = splice(template, width=len(scaled.qids), secret=1, rows=rows)
        steps.append(Step(name, template.doc, query))
    plan = microdata_steps.plan(scaled, steps, splice("tables/sum_failures"))
    (counts,) = tables.answer(plan, "checking sums")
    query = splice("tables/hidden_sums", width=len(scaled.qids)).limit(MOST_HIDDEN + 1)
    listed = tables.rows(microdata_steps.plan(scaled, steps, query), "checking sums")
    tables.drop("amounts")
    sums = [
        HiddenSum(tuple(cell), int(n), int(total), tuple(map(int, largest)))
        for *cell, n, total, largest in listed
    ]
    row = {
        "number": microdata.secrets[0].name,
        "dimensions": [q.name for q in microdata.qids],
        "without_number": without,
        **dict(zip(list(MAGNITUDES)[4:], map(int, counts), strict=True)),  # from ``cells`` on
    }
    return row, None if len(sums) > MOST_HIDDEN else sums


def _scale_to_integers(tables: Tables, microdata: Microdata) -> tuple[Microdata, int]:
    """Return the microdata with the number as a whole one, and how many records lack it.

    A DECIMAL becomes its digits, a floating number its multiple by a power of two. Raises
    InputError if no record has the number, one is below 0 or infinite, or 128 bits may not hold
    the sum of all.
    """
    amount, where = microdata.secrets[0], microdata.dataset.name
    what = f"number {quoted(amount.name)} of {where}"
    query = exp.select("records", "contributors", "negative", "most", "scale").from_("amounts")
    ((records, contributors, negative, largest, scale),) = tables.rows(query)
    if not contributors:
        after = " after the filter (where)" if microdata.where is not None else ""
        raise InputError(f"{what} is missing in all of {plural(records, 'record')}{after}")
    if negative or math.isinf(largest):
        how = f"below 0 in {plural(negative, 'record')}" if negative else "infinite"
        raise InputError(
            f"{what} is {how}: dominance and the p % rule are about finite numbers from 0 on; "
            "correct them, use --where, or sum gains and losses in tables of their own"
        )
    factor = scale if amount.floating else 10 ** scale_of(amount.type)
    if math.isinf(factor) or Fraction(largest) * Fraction(factor) * contributors >= 2**MOST_BITS:
        raise InputError(
            f"{what} is too large, or its values differ by too many orders of magnitude, to be "
            "added exactly; round it to a DECIMAL, as in NAME=round(amount, 2)::DECIMAL(18,2)"
        )
    tree = microdata_steps.normal(amount)
    if amount.floating:
        power = exp.select("scale").from_("amounts").subquery()
        tree = exp.Mul(this=exp.cast(tree, "DOUBLE"), expression=power)
    elif family(amount.type) == "DECIMAL":  # its digits, without the point
        marks = map(exp.Literal.string, (".", ""))
        tree = exp.func("replace", exp.cast(tree, "VARCHAR"), *marks)
    tree = exp.cast(tree, "HUGEINT")
    secret = replace(amount, expression=tree, type="HUGEINT")
    return replace(microdata, secrets=(secret,)), records - contributors
