"""Comparison: the same attacks on the original and on its sanitised releases, and their loss.

This gives PoPETs Table 11 for any set of releases. Each file is attacked unchanged (a generalised
value is a value, a suppressed record is one of anything), and its columns are compared with the
original.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from qifsql.adversary import roles
from qifsql.adversary.spec import BoundAttack
from qifsql.commands.compare.analyses import before_and_after
from qifsql.commands.compare.analyses.before_and_after import Analyses, Request
from qifsql.commands.compare.spec import CompareOptions
from qifsql.counting import compatibility, losses, risks, suppressed
from qifsql.counting.bind_compared import bind, check_records
from qifsql.counting.compatibility import Compatible, UncountedError
from qifsql.counting.composition import Compared, Composition
from qifsql.counting.release_columns import notes_on_hierarchies
from qifsql.data.dataset import Tabular
from qifsql.data.files import path_text
from qifsql.data.option import as_names, as_tuple
from qifsql.data.readers import openings
from qifsql.data.reading import of_files
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import plural, quoted
from qifsql.query.plan import Plan
from qifsql.query.render import expressions
from qifsql.results.assessment import PEOPLE
from qifsql.results.result import Result
from qifsql.results.storage import Origin, repeated_people

SCHEMA: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    "secret": pl.String(),
    "view": pl.String(),
    **risks.PARTITION,
    "suppressed": pl.Int64(),
    **dict.fromkeys(("generalised", "certainty_penalty", "total_variation"), pl.Float64()),
    "divergence": pl.Float64(),
    "candidates": pl.Float64(),
    "posterior_probabilistic": pl.Float64(),
    "individuals_certain": pl.Int64(),
    "misled": pl.Int64(),
}
"""One row per file (the original is 1), secret and view: ``risks.PARTITION``, and the utility.

In the view ``cells`` a generalised value is a value. In ``compatible`` the people of the original
know their raw values, and look for the records whose cells contain them (M196): ``candidates`` is
the mean number of these, 0 or more; ``k`` is the smallest but 0; ``singled_out`` counts people with
one, ``misled`` those whose own record is not among them: NULL if no key or person is named and the
release has not as many records as the original, so that nothing tells whose record is whose.
``posterior_probabilistic`` is
the success of re-identification in [0, 1]; ``individuals_certain`` counts people whose secret is
certain (NULL without a secret). Of ``PARTITION``, the view ``compatible`` has ``records`` (of the
original), ``k``, ``singled_out`` and the probabilistic posteriors; the others are NULL. With a
person it counts people for whom one record of a person is known (M200).

``suppressed`` counts the records that reveal nothing, because every cell stands for all values.
``generalised``, ``certainty_penalty``, ``total_variation`` and ``divergence`` are means over the
quasi-identifiers (``losses.COLUMNS``); all are 0 for the original."""

MEANS = ("generalised", "certainty_penalty", "total_variation", "divergence")


def compare_releases(
    original: Tabular,
    sanitised: Sequence[Tabular],
    options: CompareOptions,
    *,
    settings: Settings | None,
) -> Result:
    """Compare sanitised releases with the original: the remaining risk and the loss."""
    origin = Origin.now(settings, "compare")
    request = Request.of(has_pairs=options["pairs"], formulas=as_tuple(options["formula"]))
    spec = Composition.of(
        [original, *sanitised],
        original,
        "compare it with another file",
        qids=as_names(options["qids"]),
        secrets=as_names(options["secret"]),
        where=options["where"],
        hierarchies={n: path_text(path) for n, path in (options["hierarchies"] or {}).items()},
        plain=as_names(options["plain"]),
    )
    paths = (*(p for d in spec.releases for p in d.paths), *spec.hierarchies.values())
    with open_engine(settings, sources=spec.releases, command="compare", ordered=True) as engine:
        # The quasi-identifiers of the original; the original and the releases, with their attacks.
        raws, files = bind(engine, spec, options["person"], options["key"])
        before, *_releases = files
        tables = Tables(engine, "reading the original", before.title)
        check_records(tables, files)
        scales = losses.read_original(tables, raws, before.attack.microdata)
        analyses = before_and_after.prepare(tables, raws, before, request)
        measured = [
            _measure_file(tables, file, before, scales, plain=spec.plain, analyses=analyses)
            for file in files
        ]
        columns = [column for m in measured for column in m.columns]
        plans = [plan for m in measured for plan in m.plans]
        openers = [s for file in files for s in openings(file.attack.microdata.dataset)]
        description = _describe_request(spec, files, request)
        description |= repeated_people(before.attack.microdata.repeated)
        owners = {name: options[name] for name in ("person", "key")}
        description |= {name: text for name, text in owners.items() if text is not None}
        origin = origin.about(description, tuple(dict.fromkeys(paths)), *plans)
        origin = origin.sending(dict.fromkeys([*openers, *tables.statements]))
        origin = origin.listing(roles.of_files(file.attack.microdata.columns for file in files))
    schema = SCHEMA | (PEOPLE if options["person"] is not None else {})
    frame = pl.DataFrame([r for m in measured for r in m.rows], schema=schema, orient="row")
    details = {"columns": pl.DataFrame(columns, schema=losses.COLUMNS, orient="row")}
    notes = [note for m in measured for note in m.notes] + notes_on_hierarchies(raws)
    if analyses is not None:
        details |= analyses.details
        notes.append(before_and_after.NOTE)
        if request.formulas and options["person"] is not None:
            notes.append(before_and_after.NOTE_OF_PEOPLE)
    notes += [*before.attack.microdata.notes, *_notes(files, frame, columns), *remarks(engine)]
    return Result(frame=frame, origin=origin, details=details, notes=tuple(notes))


class _Measured(NamedTuple):
    """Rows of the result and of its detail ``columns`` for a file, with their plans and notes."""

    rows: Sequence[dict[str, Any]]
    columns: Sequence[dict[str, Any]]
    plans: Sequence[Plan]
    notes: Sequence[str]


def _measure_file(
    tables: Tables,
    file: Compared,
    original: Compared,
    scales: Sequence[losses.Scale],
    *,
    plain: Sequence[str],
    analyses: Analyses | None,
) -> _Measured:
    """Measure the risk of a file, and its loss against the original, which is file 1.

    ``plain`` are the names of quasi-identifiers whose cells the user takes as they stand. A release
    is added to ``analyses``.
    """
    # If cells are taken as they stand, * is a value; else records of * alone are suppressed ones.
    is_plain = any(cell.raw.name in plain for cell, _ in file.cells)
    attack = file.attack if is_plain else suppressed.marked(tables.engine, file.attack)
    file_risks, plans = risks.measure(tables.engine, attack)
    columns, hidden = _lost_nothing(file, scales), 0
    if file.number > 1:
        comparing = tables.doing("comparing columns", file.title)
        # ``hidden``: the records of which every cell is lost.
        columns, hidden = losses.loss_rows(comparing, file, scales)
        if analyses is not None:
            analyses.add(comparing, file)
        losses.drop_cells(comparing, file)
    rows = [
        {
            "secret": risk.secret,
            "view": "cells",
            **risk.partition,
            "posterior_probabilistic": risk.partition["crs_posterior_probabilistic"],
            "individuals_certain": risk.attacks.get("cas", {}).get("individuals_certain"),
        }
        for risk in file_risks
    ]
    notes = _notes_on_suppressed(file, attack, hidden)
    if file.number > 1 and file.cells:  # add the view of people who know their raw values
        try:
            success = compatibility.find(tables, original, file)
        except UncountedError as e:
            notes.append(str(e))
        else:
            of_people = file.attack.microdata.person is not None
            rows += _compatible_view(success, of_people=of_people)
            notes += compatibility.notes(file, success)
    common = {"release": file.title, "file": file.number, "suppressed": hidden}
    common |= {name: math.fsum(c[name] for c in columns) / len(columns) for name in MEANS}
    return _Measured([row | common for row in rows], columns, plans, notes)


def _lost_nothing(file: Compared, scales: Sequence[losses.Scale]) -> Sequence[dict[str, Any]]:
    """Return the rows of ``losses.COLUMNS`` of the original."""
    return [
        {
            "release": file.title,
            "file": file.number,
            "quasi_identifier": scale.raw.name,
            "column": scale.raw.name,
            "values": scale.values,
            "cells": scale.values,
            **dict.fromkeys(("outside", *MEANS), 0.0),
        }
        for scale in scales
    ]


def _compatible_view(success: Compatible, *, of_people: bool) -> list[dict[str, Any]]:
    """Return a row per secret, or one without, of what people with raw knowledge find."""
    chance = float(success.after.probabilistic)
    common = {
        "view": "compatible",
        "records": success.records,
        "k": success.least,
        "singled_out": success.singled_out,
        "crs_posterior_probabilistic": chance,
        "candidates": float(success.candidates),
        "posterior_probabilistic": chance,
        "misled": success.misled,
    }
    if of_people:
        common |= {"people": success.people, "known_records": "one"}
    of_secrets = [
        {
            "secret": guess.secret,
            "cas_posterior_probabilistic": float(guess.after.probabilistic),
            "individuals_certain": guess.after.certain,
        }
        for guess in success.guesses
    ]
    return [common | columns for columns in of_secrets or [{}]]


def _notes_on_suppressed(file: Compared, attack: BoundAttack, hidden: int) -> list[str]:
    """Return notes on the suppressed records of a file.

    ``hidden`` is the number of records in which the original has values and the file has none. Some
    have * in all cells, which the attack takes for suppressed. The others have empty cells, which
    it takes for values, as it does not know the original.
    """
    starred = attack.microdata.suppressed
    notes = [f"{file.title}: {suppressed.note(starred)}"] if starred else []
    if file.cells and hidden > starred:
        empty = plural(hidden - starred, "record")
        notes.append(
            f"{file.title}: {empty} without any value that the original has: suppressed in the "
            "loss, but missing is a value in the attack, which does not know the original; write * "
            "for suppressed"
        )
    return notes


def _describe_request(
    spec: Composition, files: Sequence[Compared], request: Request
) -> dict[str, Any]:
    """Return the request as plain data."""
    attacked = [file.attack.microdata for file in files]
    named = [attribute for m in attacked for attribute in (*m.qids, *m.secrets)]
    described: dict[str, Any] = {
        "dataset": files[0].title,
        "releases": [file.title for file in files[1:]],
        "qids": list(spec.qids),
        "secrets": list(spec.secrets),
        "expressions": expressions(named),
        "where": spec.where,
        "hierarchies": dict(spec.hierarchies) or None,
        "plain": list(spec.plain),
    }
    optional = {"pairs": request.has_pairs, "formula": [f.text for f in request.formulas]}
    described |= {name: value for name, value in optional.items() if value}
    return described | of_files(m.dataset for m in attacked)


def _notes(
    files: Sequence[Compared], frame: pl.DataFrame, columns: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return notes on sizes of files, and on absent columns and odd ``losses.COLUMNS``."""
    notes = []
    sizes = dict(frame.filter(view="cells").select("file", "records").iter_rows())
    for file in files[1:]:
        if sizes[file.number] != sizes[1]:
            notes.append(
                f"{file.title} has {plural(sizes[file.number], 'record')}, the original "
                f"{sizes[1]:,}: shares are of each file's own records"
            )
        file_columns = [c for c in columns if c["file"] == file.number]
        if absent := _listed(c for c in file_columns if c["column"] is None):
            notes.append(f"{file.title} has no {absent}: nothing is told of it there")
        if outside := _listed(c for c in file_columns if c["outside"]):
            notes.append(
                f"{file.title} has cells that contain no value of the original, in {outside}: a "
                "number (not a date) between its values, such as a centroid, stands for the "
                "shortest stretch around it with as many records as its class (at least so much "
                "was lost); other cells count as lost"
            )
        if infinite := _listed(c for c in file_columns if math.isinf(c["divergence"])):
            notes.append(
                f"the divergence of {infinite} in {file.title} is infinite: its cells exclude "
                "values that the original has"
            )
    return tuple(notes)


def _listed(columns: Iterable[Mapping[str, Any]]) -> str:
    """Return the names of the quasi-identifiers of some rows; empty without rows."""
    return ", ".join(quoted(c["quasi_identifier"]) for c in columns)
