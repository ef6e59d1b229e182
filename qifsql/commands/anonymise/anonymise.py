"""Anonymise: a release whose quasi-identifiers are generalised until every class keeps the limits.

What is written is a release to attack and to compare. Its classes have at least k records; that is
a property of the table, and no guarantee about a person.
"""

from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl

from qifsql.adversary.bind import bind
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.anonymise import write
from qifsql.commands.anonymise.sanitise import SUMMARY, Work
from qifsql.commands.anonymise.spec import AnonymiseOptions, Request
from qifsql.counting.meter import Meter
from qifsql.data.dataset import Dataset
from qifsql.data.option import complete
from qifsql.data.relation import openings
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import open_engine
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, quoted
from qifsql.query.render import expressions, statement
from qifsql.results import release
from qifsql.results.result import Result
from qifsql.results.storage import Origin, check_place


def anonymise(
    source: str | Path | Dataset,
    out: str | Path,
    *,
    where: str | None = None,
    settings: Settings | None = None,
    **options: Unpack[AnonymiseOptions],
) -> Result:
    """Write all records, in the order of the input, with generalised quasi-identifiers.

    ``options`` are those of ``qifsql.commands.anonymise.spec.AnonymiseOptions``. ``out`` ends in
    .parquet, .csv or .csv.gz. A missing value is a value. Nothing is drawn at random, and neither
    the order of the records, nor their split into files, nor the number of threads matter.

    The result is one row about the release (``run.SUMMARY``); its details ``quasi_identifiers`` say
    what became of each of them (``run.COLUMNS``).

    Raises InputError where no release can keep the limits.
    """
    origin = Origin.now(settings, "anonymise")
    options = complete(options, AnonymiseOptions)
    qids, secret = options["qids"], options["secret"]
    request = Request.of(options)
    path, dataset = Path(out), Dataset.open(source)
    spec = Attack.of("crs,cas" if secret else "crs", dataset, qids=qids, secret=secret, where=where)
    ending = release.ending(path)
    path = check_place(path, dataset.paths)
    meter = Meter("anonymising", (settings or Settings()).progress)
    settings = replace(settings or Settings(), progress=meter)
    with open_engine(settings, sources=[dataset], outputs=[path], ordered=True) as engine:
        catalog = Catalog(engine, dataset)
        assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was one
        dataset = catalog.dataset
        if dataset.format == "csv":
            dataset = engine.load(dataset)
        attack = _plain_values(bind(replace(spec, dataset=dataset), catalog).microdata)
        shown = write.columns(attack, catalog.schema.columns, request.drop)
        work = Work(engine, attack, request, meter)
        row, columns = work.run(ending)
        rows = write.Rows(catalog.dataset, dataset, catalog.schema.columns, shown)
        final = write.plan(rows, ending)
        description = _plain(attack, request, where, catalog.dataset)
        statements = [*openings(catalog.dataset), *openings(dataset), *work.passes.statements]
        statements.append(statement(final, pretty=True))
        origin = origin.about(description, dataset.paths).sending(dict.fromkeys(statements))
        origin = origin.listing(write.released(attack, rows))
        names = [column.name for column in shown]
        meter.inside(0.9, "writing records")
        release.write(engine, final, path, origin, names=names, rows=row["records"])
    origin = origin.about(description, dataset.paths)
    frame = pl.DataFrame([row | {"seconds": origin.seconds}], schema=SUMMARY)
    notes = [*attack.notes, *write.notes(attack, rows, ending), *work.notes]
    return Result(
        frame=frame,
        origin=origin,
        details={"quasi_identifiers": columns},
        notes=(*notes, *request.remarks(secret=bool(secret))),
    )


def _plain_values(microdata: Microdata) -> Microdata:
    """Return the attack; ColumnError if a quasi-identifier already has generalised cells."""
    for attribute in microdata.qids:
        if nested(attribute.type):
            raise ColumnError(
                f"column {quoted(attribute.name)} is nested ({family(attribute.type)}), as in a "
                "release that was anonymised before; anonymise the original"
            )
    return microdata


def _plain(
    microdata: Microdata, request: Request, where: str | None, dataset: Dataset
) -> dict[str, object]:
    """Return the request as plain data for the manifest."""
    return {
        "dataset": dataset.name,
        "method": request.method,
        "wishes": request.wishes.plain(),
        "qids": [q.name for q in microdata.qids],
        "secrets": [s.name for s in microdata.secrets],
        "expressions": expressions((*microdata.qids, *microdata.secrets)),
        "cells": request.cells,
        "drop": list(request.drop),
        "suppress": request.suppress,
        "where": where,
        **({"csv": dataset.csv} if dataset.csv else {}),
    }
