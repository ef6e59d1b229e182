"""Recompute the numbers of a stored result by other ways than the one that made them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql.commands.verify import (
    answer_checks,
    level_checks,
    noisy_pairs,
    pasted_sql,
    people_checks,
    printed_sql,
    second_engine,
    subset_checks,
    verdicts,
)
from qifsql.commands.verify.input_digests import Inputs, locate
from qifsql.commands.verify.numbers import (
    RESULTS,
    Repetition,
    count_columns,
    noisy_questions,
    of_people,
    places,
)
from qifsql.commands.verify.spec import SUBSETS, VerifyOptions
from qifsql.commands.verify.stored_request import RepetitionError, Request, UnfitError, request
from qifsql.data.files import path_text, several_paths
from qifsql.data.option import complete
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, plural
from qifsql.results.result import Result
from qifsql.results.storage import Origin
from qifsql.results.stored import Stored, read

KINDS = ("attack", "sweep", "levels")  # whose numbers are recomputed
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError)
"""Errors of stored files whose parts do not fit together."""
NOT_COMPARED = (
    "compared by no way: how long it took (seconds), the numbers of subsets, bins, thresholds and "
    "quantiles, histograms, releases and plans of sweeps, and details of levels"
)


def verify(
    result: str | Path | Result,
    source: str | Path | Sequence[str | Path] | None = None,
    *,
    settings: Settings | None = None,
    **options: Unpack[VerifyOptions],
) -> Result:
    """Recompute the numbers of a stored result by other ways than the one that made them.

    The data are found by their SHA-256 digests. An attack is repeated by the SQL of its manifest,
    pasted as it is into a bare DuckDB; by the SQL that qifsql.sql prints for the request; and by
    SQLite, for at most 200,000 people. Subsets of a sweep are repeated by the last two, levels by
    SQLite, people with several records from these by the definitions, and knowledge with errors
    (knows) by all pairs of people and of what may be known of them. What a sweep answers is
    computed again from its rows, and what coarsening saves by SQLite.
    The measures are computed in exact fractions, by other code than that of attack. Counts
    must be equal, other numbers within 1e-12. The SQL of the manifest is only a hint: whoever made
    the file has written it.

    Args:
        result: A file in which a result was stored (Parquet or JSON, with its manifest), a folder
            of such files, or a Result.
        source: The attacked file, a folder of files, or a list, if they were moved. By default
            they are looked for at the paths of the manifest and next to the result.
        settings: Memory, threads and temporary folder; its seed (0 unless given) draws subsets.

    Returns:
        A Result. frame: one row per number and way, with attack_id, table, row, column, stored,
        recomputed, way, verdict (agrees, differs, not checked) and reason. met is true if no
        number differs, and in every row of an attack one agrees by another way than the SQL of
        the manifest (of a sweep or levels, in some row).

    Raises:
        InputError: The result cannot be read, or the data are missing or have other digests.

    Example:
        >>> attacked = qifsql.attack("crs", "data-samples/school_census_2018.parquet",
        ...     qids="TP_SEXO,NU_ANO")
        >>> checked = qifsql.verify(attacked)
        >>> checked.met, checked.frame["verdict"].unique().to_list()
        (True, ['agrees'])

    Source: M2, M3 and M7 to M20.

    """
    chosen = complete(options, VerifyOptions)
    settings = (settings or Settings()).of_duckdb
    origin = Origin.now(settings, "verify")
    sources = [] if source is None else list(map(path_text, several_paths(source)))
    place = None if isinstance(result, Result) else Path(path_text(result))
    results = read([result if isinstance(result, Result) else path_text(result)])
    home = place.parent if place is not None and place.is_file() else place
    frames, files, met = [], [], True
    for stored in results:
        inputs = locate(stored, sources, home) if stored.kind in KINDS else Inputs({})
        files += [*inputs.now, *stored.files]
        try:
            rows = _verdicts(stored, inputs, chosen, settings)
        except DAMAGED as e:
            raise DatasetError(
                f"the table or the manifest of {stored.name} is damaged: they do not fit together; "
                "store the result again",
                detail=str(e),
            ) from e
        frames.append(pl.DataFrame(rows, schema=verdicts.SCHEMA))
        met = met and verdicts.is_confirmed(stored, rows)
    frame = pl.concat(frames)
    counts = verdicts.summary(frame)
    names = [stored.name for stored in results]
    spec = {
        "results": names,
        "dataset": ", ".join(dict.fromkeys(str(s.spec.get("dataset") or "") for s in results)),
        "sql": chosen["sql"],
        "subsets": chosen["subsets"] or SUBSETS,
        "numbers": dict(counts),
    }
    return Result(
        frame=frame,
        origin=origin.about(spec, tuple(dict.fromkeys(files))),
        notes=_notes(counts, met=met),
        met=met and not counts[verdicts.DIFFERS],
    )


def _verdicts(
    stored: Stored, inputs: Inputs, chosen: VerifyOptions, settings: Settings
) -> list[dict[str, Any]]:
    """Return the verdicts on a stored result."""
    if stored.kind not in KINDS:
        return verdicts.unchecked_tables(stored, f"a result of {stored.kind} is not recomputed")
    if chosen["sql"]:
        repetitions = [pasted_sql.repeat(stored, inputs, settings)]
        if stored.kind == "attack":
            return verdicts.verdict_rows(stored, list(places(stored)), repetitions)
        return verdicts.unchecked_tables(stored, repetitions[0].reason)
    if stored.kind == "sweep":
        return _verdicts_on_sweep(stored, inputs, chosen["subsets"] or SUBSETS, settings)
    if stored.kind == "levels":
        return _verdicts_on_levels(stored, inputs, settings)
    repetitions = [pasted_sql.repeat(stored, inputs, settings)]
    try:
        repeated = request(stored, inputs, settings)
    except RepetitionError as e:
        repetitions.append(Repetition(printed_sql.PRINTED, reason=str(e)))
    except UnfitError as e:
        repetitions.append(Repetition(printed_sql.PRINTED, broken=str(e)))
    else:
        repetitions.append(count_columns(stored, len(repeated.source.datasets)))
        repetitions += printed_sql.repeat(stored, repeated, inputs, settings)
        repetitions.append(second_engine.repeat(stored, repeated, inputs, settings))
        if noisy_questions(stored):
            repetitions.append(noisy_pairs.repeat(stored, repeated, inputs, settings))
        repetitions = [of_people(stored, repetition) for repetition in repetitions]
        if stored.spec.get("person"):
            repetitions.append(people_checks.repeat(stored, repeated, inputs, settings))
    return verdicts.verdict_rows(stored, list(places(stored)), repetitions)


def _verdicts_on_levels(stored: Stored, inputs: Inputs, settings: Settings) -> list[dict[str, Any]]:
    """Return the verdicts on the levels of a release."""
    try:
        repeated = request(stored, inputs, settings)
    except RepetitionError as e:
        return verdicts.unchecked_tables(stored, str(e))
    except UnfitError as e:
        return _unfit_verdicts(stored, second_engine.WAY, e)
    repetitions = [level_checks.repeat(stored, repeated, inputs, settings)]
    return [
        *verdicts.verdict_rows(stored, list(places(stored, RESULTS)), repetitions),
        *verdicts.unchecked_tables(stored, "details of levels are not recomputed", stored.details),
    ]


def _verdicts_on_sweep(
    stored: Stored, inputs: Inputs, limit: int, settings: Settings
) -> list[dict[str, Any]]:
    """Return the verdicts on some subsets of a sweep, and which are not checked."""
    if stored.spec.get("sample") is not None:
        return verdicts.unchecked_tables(stored, "the numbers of a sweep of a sample are estimates")
    try:
        repeated = request(stored, inputs, settings)
    except RepetitionError as e:
        return verdicts.unchecked_tables(stored, str(e))
    except UnfitError as e:
        return _unfit_verdicts(stored, printed_sql.PRINTED, e)
    subsets = subset_checks.draw_subsets(stored, limit, settings.seed)
    if stored.spec.get("person"):
        chosen_rows = {row for numbers in subsets.values() for row in numbers}
        repetitions = [people_checks.repeat(stored, repeated, inputs, settings, chosen_rows)]
    else:
        repetitions = subset_checks.repeat(stored, repeated, inputs, settings, subsets)
    repetitions.append(count_columns(stored, len(repeated.source.datasets)))
    chosen = subset_checks.places_of(places(stored), subsets)
    rows = {row for numbers in subsets.values() for row in numbers}
    every = stored.frame["qids"].n_unique()
    reason = f"{len(subsets):,} of {plural(every, 'subset')} are drawn, and this one is not"
    return [
        *verdicts.verdict_rows(stored, chosen, repetitions),
        *verdicts.unchecked_rows(stored, set(range(stored.frame.height)) - rows, reason),
        *_verdicts_on_answers(stored, repeated, inputs, settings),
    ]


def _verdicts_on_answers(
    stored: Stored, repeated: Request, inputs: Inputs, settings: Settings
) -> list[dict[str, Any]]:
    """Return the verdicts on the answers of a sweep, which follow from all its subsets."""
    if stored.spec.get("person"):
        reason = "answers about people with several records are not recomputed"
        return verdicts.unchecked_tables(stored, reason, stored.details)
    names = [name for name in answer_checks.ANSWERS if name in stored.details]
    repetitions = answer_checks.repeat(stored, repeated, inputs, settings)
    unchecked = {name: table for name, table in stored.details.items() if name not in names}
    return [
        *(
            verdicts.verdict_rows(stored, list(places(stored, *names)), repetitions)
            if names
            else ()
        ),
        *verdicts.unchecked_tables(stored, "this table of a sweep is not recomputed", unchecked),
    ]


def _unfit_verdicts(stored: Stored, way: str, error: UnfitError) -> list[dict[str, Any]]:
    """Return the verdicts on a result whose request the data cannot have been asked."""
    everything = list(places(stored, RESULTS))
    return verdicts.verdict_rows(stored, everything, [Repetition(way, broken=str(error))])


def _notes(counts: Mapping[str, int], *, met: bool) -> tuple[str, ...]:
    """Return remarks on what was not checked."""
    if not (counts[verdicts.AGREES] or counts[verdicts.DIFFERS] or counts[verdicts.HINTED]):
        return ("nothing was checked, so this says nothing about the result",)
    notes = []
    if not met and not counts[verdicts.DIFFERS]:
        notes.append(
            "not confirmed: for some rows no way could be taken but the SQL of the manifest, which "
            "whoever made the file has written (the reasons are listed)"
        )
    return (*notes, NOT_COMPARED)
