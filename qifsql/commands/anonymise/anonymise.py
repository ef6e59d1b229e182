"""Anonymisation: quasi-identifiers are generalised so that every class keeps the limits.

Mondrian and MDAV make classes of similar records; ``recode`` and ``lattice`` give all records with
the same value the same cell. What is written is a release to attack and to compare. Its classes
have at least k records; that is a property of the table, and no guarantee about a person.
"""

from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl

from qifsql.adversary.bind import bind, group_of
from qifsql.adversary.changes import changed_names
from qifsql.adversary.notes import NAMES_OF_PEOPLE
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.anonymise import write
from qifsql.commands.anonymise.one_per.one_per import one_per
from qifsql.commands.anonymise.pram.pram import pram
from qifsql.commands.anonymise.proposed import Proposals, identifiers_among, propose_roles
from qifsql.commands.anonymise.release_request import LIMITS, ONLY_FOR, Request, named_options
from qifsql.commands.anonymise.sanitise import SUMMARY, Work
from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.counting.changed_attributes import nothing_changed
from qifsql.counting.dependents import dependents
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.option import complete
from qifsql.data.readers import openings
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.progress import Meter, silent
from qifsql.engine.settings import Settings, with_seed
from qifsql.errors import ColumnError, InputError, quoted
from qifsql.query.render import expressions, statement
from qifsql.results import release, release_files
from qifsql.results.assessment import PEOPLE
from qifsql.results.result import Result
from qifsql.results.storage import Origin, check_place, repeated_people

OF_DROP = {"drop", "where"}
OF_ONE_PER = {"one_per", "drop", "where", "qids", "secret"}
OF_PRAM = {"method", "matrix", "pd", "alpha", "drop", "where", "qids", "secret"}
"""The options of releases without a generalisation."""
GENERALISING = {"qids", "change", "method", "hierarchies", *LIMITS}
"""Options beside which --drop leaves columns out of a generalised release."""


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
    with the multiset of all her values. With method suppress, the fewest cells of the
    quasi-identifiers are suppressed that leave k records in every combination of cells, a
    suppressed cell being a value of its own. With one_per, exactly one random record of each person
    stays. With drop alone, all records stay, without these columns. With method pram, cells of
    qids, secret and the columns of matrix are drawn again by a transition matrix, which is
    written next to the release.

    Args:
        out: File to write: .parquet, .csv, .tsv, .json, .jsonl (also .gz and .zst), .xlsx, .sav,
            .zsav, .dta or .xpt. CSV is written as the input is; labels are kept.
        seed: one_per, pram, suppress: random seed, 0 to 2^63 - 1; recorded in the manifest. Without
            one, 0 (one_per, suppress), or drawn at random (pram).

    Returns:
        A Result. frame: one row about the release (classes, sizes, suppressed records, losses in
        [0, 1]; lattice: steps of each quasi-identifier, and whether they are optimal; with person:
        people, and the sizes of classes count people). details:
        quasi_identifiers, one row for each; lattice: frontier, the nodes with the least risk for
        their loss; suppress: suppression, one row with the suppressed cells and their lower bound.
        With one_per or drop alone, frame: one row with records, people, dropped,
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

    Source: M1, M55, M56 and M201; LeFevre et al. 2006 (Mondrian), Domingo-Ferrer and Torra 2005
    (MDAV), Kohlmayer et al. 2012 (lattices), Meyerson and Williams 2004 (fewest cells); PoPETs,
    assumption A2-B (one record per person).

    """
    options = complete(options, AnonymiseOptions)
    ungeneralised = _write_ungeneralised(source, out, options, seed, settings)
    if ungeneralised is not None:
        return ungeneralised
    origin = Origin.now(settings, "anonymise")
    dataset = Dataset.open(source)
    ending = release_files.ending_of(Path(out))
    path = check_place(Path(out), dataset.paths)
    request, spec, of_roles = _specify(dataset, options, settings)
    if request.method == "suppress":  # lots choose among records with equal cells
        settings = with_seed(settings, seed or (settings and settings.seed) or 0, "anonymise")
    meter = Meter("anonymising", (settings or Settings()).progress)
    settings = replace(settings or Settings(), progress=meter)
    with open_engine(settings, sources=[dataset], outputs=[path], ordered=True) as engine:
        catalog = Catalog(engine, dataset)
        assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was one
        dataset, columns = catalog.dataset, catalog.schema.columns
        loaded = engine.load(dataset) if dataset.format == "csv" else dataset
        attack = _bind_release(replace(spec, dataset=loaded), catalog, options["strata"])
        # The columns are listed twice: here to refuse some of them before the long work, and then
        # with the endings of their names, which follow from the work.
        released = write.released_columns(attack, columns, request.drop)
        table = write.ReleasedTable(dataset, loaded, columns, released)
        work = Work(engine, catalog, attack, request, meter)
        summary = work.run(ending)
        # Columns without a role that identify people are left out, but for those to keep.
        without_role = [c.name for c in write.roles_of_columns(attack, table) if not c.roles]
        candidates = [name for name in without_role if name not in request.keep]
        quiet = replace(settings, progress=silent)
        identifiers = identifiers_among(dataset, candidates, spec.where, quiet)
        request = replace(request, drop=(*request.drop, *identifiers))
        suffixes = {column.number: column.suffixes for column in work.cells}
        released = write.released_columns(attack, columns, request.drop, suffixes)
        table = replace(table, released=released)
        described = _describe(attack, request, spec.where, dataset)
        inputs = (*dataset.paths, *request.hierarchies.values())
        origin = replace(origin.about(described, inputs), notes=tuple(work.notes))
        origin, of_release = _write_records(path, origin, table, work, attack)
    origin = origin.about(origin.spec, inputs)  # with the time of writing, too
    schema = SUMMARY | (PEOPLE if attack.person is not None else {})
    frame = pl.DataFrame([summary | {"seconds": origin.seconds}], schema=schema)
    of_input = [note for note in attack.notes if not (identifiers and NAMES_OF_PEOPLE in note)]
    listed = ", ".join(map(quoted, identifiers))
    left_out = f"left out, because they identify people: {listed}; release a column with --keep"
    notes = [*of_roles, *([left_out] if identifiers else []), *of_input]
    notes += [*write.notes(attack, table, ending), *work.notes, *of_release]
    notes += [nothing_changed(texts, attack.qids[i - 1]) for i, texts in work.idle_changes.items()]
    notes += request.remarks(secret=bool(spec.secrets))
    return Result(frame=frame, origin=origin, details=work.details, notes=tuple(notes))


def _specify(
    dataset: Dataset, options: AnonymiseOptions, settings: Settings | None
) -> tuple[Request, Attack, tuple[str, ...]]:
    """Return the request, the attack whose records are released, and notes on proposed roles.

    Roles are proposed, as ``start`` does, where no quasi-identifiers are named.
    """
    request = Request.of(options)
    named, proposals = options["qids"] or changed_names(options["change"]), Proposals()
    if not named:
        proposals = propose_roles(dataset, options, settings)
        request = replace(request, drop=proposals.drop)
    spec = Attack.of(
        "crs,cas" if options["secret"] else "crs",
        dataset,
        qids=named or proposals.qids,
        secret=options["secret"],
        where=options["where"],
        person=options["person"] or proposals.person,
    )
    return request, spec, proposals.notes


def _write_records(
    path: Path, origin: Origin, table: write.ReleasedTable, work: Work, attack: Microdata
) -> tuple[Origin, list[str]]:
    """Write the records of the release to ``path``; return its manifest, and notes on columns.

    Notes are on released columns from which a quasi-identifier can be told, and on those that lose
    the labels of their values (SPSS, Stata). ``attack`` is the microdata with the columns' roles.
    """
    ending = release_files.ending_of(path)
    names = [column.name for column in table.released]
    records = write.plan_records(table, ending)
    released = [column for column in attack.columns if column.name in names]
    revealing, queries = dependents(work.engine, attack, attack.qids, released)
    statements = [
        *openings(table.dataset),
        *openings(table.loaded),
        *work.passes.statements,
        *(statement(plan, pretty=True) for plan in (*queries, records)),
    ]
    origin = origin.sending(dict.fromkeys(statements))
    origin = origin.listing(write.roles_of_columns(attack, table))
    # Labels that a file has for single values would misname cells that are no such values.
    generalised = {cells.number for cells in work.cells if not cells.has_values}
    unlabelled = frozenset(column.name for column in table.released if column.qid in generalised)
    work.meter.inside(0.9, "writing records")
    lost_labels = release.write(
        work.engine,
        records,
        path,
        origin,
        names=release.header(names, table.columns, ending),
        rows=work.passes.coded.records,
        source=table.dataset,
        unlabelled=unlabelled,
    )
    return origin, [*(column.note for column in revealing), *lost_labels]


def _write_ungeneralised(
    source: Tabular,
    out: str | Path,
    options: AnonymiseOptions,
    seed: int | None,
    settings: Settings | None,
) -> Result | None:
    """Write a release by pram, one_per or drop alone; None if quasi-identifiers are generalised."""
    named = named_options(options)
    if options["method"] == "pram":
        _check_alone("pram", named - OF_PRAM)
        return pram(source, out, options, seed=seed, settings=settings)
    if options["one_per"] is not None:
        _check_alone("one_per", named - OF_ONE_PER)
    elif "drop" not in named or named & GENERALISING:
        return None
    elif of_qids := min(named - OF_DROP, default=None):
        raise InputError(
            f"{of_qids} is about quasi-identifiers to generalise: name these with --qids"
        )
    return one_per(source, out, options, seed=seed or 0, settings=settings)


def _check_alone(method: str, unsuitable: set[str]) -> None:
    """Refuse ``unsuitable`` options of a release that is not generalised."""
    if method == "pram" and "strata" in unsuitable:
        raise InputError(
            "pram draws a column by one matrix for all records, as attack --knows reads; to draw "
            "within strata, write a release of each group (--where), with its own matrix"
        )
    if unsuitable:
        raise InputError(
            f"{method} does not take {min(unsuitable)}; leave it out, and anonymise the file it "
            "writes"
        )


def _bind_release(spec: Attack, catalog: Catalog, strata: str | None) -> Microdata:
    """Return the microdata to release; its groups (``by``) are strata, which no class mixes.

    Raises ColumnError for strata with another role, or quasi-identifiers with generalised cells.
    """
    microdata = bind(spec, catalog).microdata
    if strata is not None:
        groups = group_of(strata, catalog)
        roles = {q.name: "a quasi-identifier" for q in microdata.qids}
        roles |= {s.name: "the secret" for s in microdata.secrets}
        if role := roles.get(groups.name):
            name = quoted(groups.name)
            raise ColumnError(f"strata stay as they are, and {name} is {role}; name it once")
        microdata = replace(microdata, by=groups)
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
    """Return the request as plain data for the manifest; options that have no value are left out.

    Recode, lattice and suppress have changes, and a search has what it minimises, and in what time.
    """
    described: dict[str, object] = {
        "dataset": dataset.name,
        "method": request.method,
        "wishes": request.limits.plain(),
        "qids": [q.name for q in microdata.qids],
        "secrets": [s.name for s in microdata.secrets],
        "expressions": expressions((*microdata.qids, *microdata.secrets)),
        "cells": request.cells,
        "drop": list(request.drop),
        "suppress": float(request.suppress),
        "where": where,
    }
    if request.recoded:
        described["changes"] = list(request.changes)
    if request.method == "lattice":
        described["minimise"] = request.minimise
    if request.method in ONLY_FOR["time_budget"]:
        described["time_budget"] = request.time_budget
    optional = {
        "person": microdata.person and microdata.person.name,
        "strata": microdata.by and microdata.by.name,
        "hierarchies": dict(request.hierarchies),
        "suppress_cells": list(request.suppress_cells),
        "subsets": request.subsets,
        "k_for": list(request.k_for),
        "until": list(request.until),
        **dataset.read_with,
    }
    described |= {name: value for name, value in optional.items() if value}
    return described | repeated_people(microdata.repeated)
