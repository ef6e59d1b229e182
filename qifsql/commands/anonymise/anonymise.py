"""Anonymisation: quasi-identifiers are generalised so that every class keeps the limits.

Mondrian and MDAV make classes of similar records; ``recode`` and ``lattice`` give all records with
the same value the same cell. What is written is a release to attack and to compare. Its classes
have at least k records; that is a property of the table, and no guarantee about a person.
"""

from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl

from qifsql.adversary.bind import bind
from qifsql.adversary.changes import changed_names
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.anonymise import write
from qifsql.commands.anonymise.one_per.one_per import one_per
from qifsql.commands.anonymise.pram.pram import pram
from qifsql.commands.anonymise.sanitise import SUMMARY, Work
from qifsql.commands.anonymise.spec import AnonymiseOptions, Request
from qifsql.counting.changed_attributes import nothing_changed
from qifsql.counting.dependents import dependents
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.option import complete
from qifsql.data.readers import openings
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.progress import Meter
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, InputError, quoted
from qifsql.query.render import expressions, statement
from qifsql.results import release
from qifsql.results.assessment import PEOPLE
from qifsql.results.result import Result
from qifsql.results.storage import Origin, check_place, repeated_people

ONE_PER = {"one_per", "drop", "where", "qids", "secret"}
PRAM = {"method", "matrix", "pd", "alpha", "drop", "where", "qids", "secret"}
"""The options of releases without a generalisation."""


def anonymise(
    source: Tabular,
    out: str | Path,
    *,
    seed: int | None = None,
    settings: Settings | None = None,
    **options: Unpack[AnonymiseOptions],
) -> Result:
    """Write a release with generalised quasi-identifiers, one record per person, or fewer columns.

    Generalising keeps all records, in input order. The result depends neither on their order, nor
    on files, nor on threads. A missing quasi-identifier is a value; a missing secret is none that
    protects: l and t hold with it as a value and among reported ones. With person they are about
    different people in a class: a person counts once for each value that she has there, and once
    with the multiset of all her values. With one_per, exactly one random record of each person
    stays. With drop alone, all records stay, without these columns. With method pram, cells of
    qids, secret and the columns of matrix are drawn again by a transition matrix, which is
    written next to the release.

    Args:
        out: File to write: .parquet, .csv or .csv.gz.
        seed: one_per, pram: random seed, 0 to 2^63 - 1; recorded in the manifest. Without one, 0
            (one_per), or drawn at random (pram).

    Returns:
        A Result. frame: one row about the release (classes, sizes, suppressed records, losses in
        [0, 1]; lattice: steps of each quasi-identifier, and whether they are optimal; with person:
        people, and the sizes of classes count people). details:
        quasi_identifiers, one row for each; lattice: frontier, the nodes with the least risk for
        their loss. With one_per or drop alone, frame: one row with records, people, dropped,
        people_with_several and without_key; details with qids: comparison and changes of the risk.
        With pram, frame: one row for each column that was randomised, with the records changed.

    Raises:
        InputError: No release can keep the limits, or a name does not fit the data.
        OutputError: The file cannot be written.

    Example:
        >>> result = qifsql.anonymise("data-samples/thesis_table_3_2.csv", "release.csv",
        ...     method="mondrian", k=3, qids="age,gender")
        >>> qifsql.levels("release.csv", qids="age,gender").frame["value"][0] >= 3
        True

        >>> best = qifsql.anonymise("data-samples/thesis_table_3_2.csv", "release.csv",
        ...     method="lattice", k=2, suppress=0.25, qids="age,gender")
        >>> best.frame["optimal"][0]
        True

        >>> pupils = qifsql.anonymise("data-samples/school_census_2019_enrolments.parquet",
        ...     "pupils.parquet", one_per="ID_ALUNO")
        >>> pupils.frame["people"].item()
        20141

    Source: M1, M55 and M56; LeFevre et al. 2006 (Mondrian), Domingo-Ferrer and Torra 2005 (MDAV),
    Kohlmayer et al. 2012 (lattices); PoPETs, assumption A2-B (one record per person).

    """
    options = complete(options, AnonymiseOptions)
    qids = options["qids"] or changed_names(options["change"])
    if options["method"] == "pram":
        _check_alone(options, "pram", PRAM)
        return pram(source, out, options, seed=seed, settings=settings)
    if options["one_per"] is not None or (options["drop"] and not qids):
        _check_alone(options, options["one_per"] and "one_per", ONE_PER)
        return one_per(source, out, options, seed=seed or 0, settings=settings)
    origin = Origin.now(settings, "anonymise")
    secret, where = options["secret"], options["where"]
    request = Request.of(options)
    path, dataset = Path(out), Dataset.open(source)
    models, person = "crs,cas" if secret else "crs", options["person"]
    spec = Attack.of(models, dataset, qids=qids, secret=secret, where=where, person=person)
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
        attack = _refuse_generalised_cells(bind(replace(spec, dataset=dataset), catalog).microdata)
        write.released_columns(attack, catalog.schema.columns, request.drop)  # before the work
        work = Work(engine, catalog, attack, request, meter)
        summary = work.run(ending)
        suffixes = {column.number: column.suffixes for column in work.cells}
        columns = write.released_columns(attack, catalog.schema.columns, request.drop, suffixes)
        names = [column.name for column in columns]
        rows = write.Rows(catalog.dataset, dataset, catalog.schema.columns, columns)
        release_plan = write.plan_records(rows, ending, work.decimals)
        description = _describe(attack, request, where, catalog.dataset)
        released = [column for column in attack.columns if column.name in names]
        revealing, plans = dependents(engine, attack, attack.qids, released)
        statements = [*openings(catalog.dataset), *openings(dataset), *work.passes.statements]
        statements += [statement(plan, pretty=True) for plan in (*plans, release_plan)]
        origin = origin.about(description, dataset.paths).sending(dict.fromkeys(statements))
        origin = origin.listing(write.roles_of_columns(attack, rows))
        meter.inside(0.9, "writing records")
        titles = release.header(names, catalog.schema.columns, ending)
        source, n_rows = catalog.dataset, summary["records"]
        release.write(engine, release_plan, path, origin, names=titles, rows=n_rows, source=source)
    origin = origin.about(description, (*dataset.paths, *request.hierarchies.values()))
    schema = SUMMARY | (PEOPLE if attack.person is not None else {})
    frame = pl.DataFrame([summary | {"seconds": origin.seconds}], schema=schema)
    notes = [*attack.notes, *write.notes(attack, rows, ending), *work.notes]
    notes += [dependent.note for dependent in revealing]
    notes += [nothing_changed(texts, attack.qids[i - 1]) for i, texts in work.idle.items()]
    notes += request.remarks(secret=bool(secret))
    return Result(frame=frame, origin=origin, details=work.details, notes=tuple(notes))


def _check_alone(options: AnonymiseOptions, work: str | None, accepted: set[str]) -> None:
    """Refuse options other than the ``accepted`` ones of a release that is not generalised.

    ``work`` is what makes the release: one_per or pram; None if columns are left out and no more.
    """
    defaults = complete(AnonymiseOptions(), AnonymiseOptions)
    accepted = accepted if work else {"drop", "where"}
    for name in sorted(options.keys() - accepted):
        if options[name] == defaults[name]:  # type: ignore[literal-required]
            continue
        if work is None:
            raise InputError(
                f"{name} is about quasi-identifiers to generalise: name these with --qids"
            )
        raise InputError(
            f"{work} does not take {name}; leave it out, and anonymise the file it writes"
        )


def _refuse_generalised_cells(microdata: Microdata) -> Microdata:
    """Return the microdata; refuse a quasi-identifier that already has generalised cells."""
    for attribute in microdata.qids:
        if nested(attribute.type):
            raise ColumnError(
                f"column {quoted(attribute.name)} is nested ({family(attribute.type)}), as in a "
                "release that was anonymised before; anonymise the original"
            )
    return microdata


def _describe(
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
        "suppress": float(request.suppress),
        "where": where,
        **({"person": microdata.person.name} if microdata.person is not None else {}),
        **_describe_recoding(request),
        **{name: value for name, value in dataset.read_with.items() if value},
        **repeated_people(microdata.repeated),
    }


def _describe_recoding(request: Request) -> dict[str, object]:
    """Return the part of the request that only recode and lattice have; empty for others."""
    if not request.recoded:
        return {}
    plain: dict[str, object] = {
        "changes": list(request.changes),
        **({"suppress_cells": list(request.suppress_cells)} if request.suppress_cells else {}),
        "hierarchies": dict(request.hierarchies) or None,
    }
    if request.method == "lattice":
        plain |= {"minimise": request.minimise, "time_budget": request.time_budget}
        plain |= {"until": list(request.until)} if request.until else {}
    return plain
