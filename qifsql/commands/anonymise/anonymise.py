"""Anonymisation: quasi-identifiers are generalised so that every class keeps the limits.

The release can be attacked and compared. Its classes have at least k records. This is a property of
the table, not a guarantee for a person.
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
    """Write a release with generalised quasi-identifiers (Mondrian or MDAV).

    Keeps all records, in input order. The result depends neither on their order, nor on files,
    nor on threads. A missing value is a value.

    Args:
        source: A path (Parquet, CSV or TSV, also .gz and .zst; a glob; a folder of Parquet;
            table@file.duckdb), a data frame (anything with __arrow_c_stream__, a Polars
            LazyFrame) or a Dataset.
        out: File to write: .parquet, .csv or .csv.gz.
        where: SQL condition; other records are left out. NULL counts as false.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine.
        method: mondrian (median cuts) or mdav (microaggregation).
        k: Records per class, at least.
        l: Distinct values of each secret per class, at least.
        l_entropy: exp(entropy) of each secret per class, at least.
        l_recursive: "C,L": r_1 < C (r_L + ... + r_m) in every class.
        t: t-closeness of every class, in [0, 1].
        t_ordered: t-closeness with the ordered distance, in [0, 1].
        cells: "interval" (intervals and sets that cover the class) or "centroid" (mean, median).
        drop: Columns to leave out.
        suppress: mdav: suppress the records of classes that violate l or t.
        within: mdav: largest number of distinct people at once (0: 1,000).
        qids: Quasi-identifiers to generalise.
        secret: Secrets for l and t.

    Returns:
        A Result. frame: one row about the release (classes, sizes, suppressed records, losses in
        [0, 1]). details: quasi_identifiers, one row for each.

    Raises:
        InputError: No release can keep the limits, or a name does not fit the data.
        OutputError: The file cannot be written.

    Example:
        >>> result = qifsql.anonymise("data-samples/thesis_table_3_2.csv", "release.csv",
        ...     method="mondrian", k=3, qids="age,gender")
        >>> qifsql.levels("release.csv", qids="age,gender").frame["value"][0] >= 3
        True

    Source: M55 and M56; LeFevre et al. 2006 (Mondrian), Domingo-Ferrer and Torra 2005 (MDAV).

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
    """Return the microdata; refuse a quasi-identifier that already has generalised cells."""
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
