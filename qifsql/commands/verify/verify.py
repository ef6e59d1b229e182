"""Recompute the numbers of a stored result by other ways than the one that made them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql.commands.verify import (
    answer_checks,
    candidate_checks,
    level_checks,
    noisy_pairs,
    pasted_sql,
    people_checks,
    policy_checks,
    printed_sql,
    sample_unique_checks,
    second_engine,
    subset_checks,
    verdicts,
)
from qifsql.commands.verify.input_digests import Inputs, locate
from qifsql.commands.verify.numbers import (
    RESULTS,
    Repetition,
    count_columns,
    of_people,
    places,
    questions,
)
from qifsql.commands.verify.spec import SUBSETS, VerifyOptions
from qifsql.commands.verify.stored_request import (
    RepetitionError,
    Request,
    UnfitError,
    attempt,
    request,
)
from qifsql.data.files import path_text, several_paths
from qifsql.data.option import complete
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, plural
from qifsql.results.result import Result
from qifsql.results.storage import Origin
from qifsql.results.stored import Stored, read

BY_TABLES: Mapping[str, tuple[str, Callable[[Request], Repetition], tuple[str, ...]]] = {
    "levels": (second_engine.WAY, level_checks.repeat, ()),
    "check": (second_engine.WAY, policy_checks.repeat, ()),
    "suda": (sample_unique_checks.WAY, sample_unique_checks.repeat, sample_unique_checks.TABLES),
}
"""The way to repeat results of a kind, the function that does, and the details it repeats, too."""
KINDS = ("attack", "sweep", *BY_TABLES)  # whose numbers are recomputed
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
    SQLite, for at most 200,000 people. Subsets of a sweep are repeated by the last two, levels and
    the levels of a policy by SQLite, people with several records from these, and minimal sample
    uniques, by the definitions, and knowledge with errors (knows) by all pairs of people and of
    what may be known of them. What a sweep answers is
    computed again from its rows, and what coarsening saves by SQLite. The measures are computed in
    exact fractions, by other code than that of attack. Counts must be equal, other numbers within
    1e-12. The SQL of the manifest is only a hint: whoever made the file has written it.

    Args:
        result: A file in which a result was stored (Parquet or JSON, with its manifest), a folder
            of such files, or a Result.
        source: The attacked file, a folder of files, or a list, if they were moved. By default
            they are looked for at the paths of the manifest and next to the result.
        settings: Memory, threads and temporary folder; its seed (0 unless given) draws subsets.

    Returns:
        A Result. frame: one row per number and way, with attack_id, table, row, column, stored,
        recomputed, way, verdict (agrees, differs, not checked) and reason. met is true if no
        number differs, and in every row of an attack or a verdict one agrees by another way than
        the SQL of the manifest (of other results, in some row).

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
    path = None if isinstance(result, Result) else Path(path_text(result))
    results = read([result if isinstance(result, Result) else path_text(result)])
    folder = path.parent if path is not None and path.is_file() else path
    frames, files, met = [], [], True
    for stored in results:
        inputs = locate(stored, sources, folder) if stored.kind in KINDS else Inputs({})
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
    spec = {
        "results": [stored.name for stored in results],
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
    """Return a verdict on each number of a stored result by each way: rows of verdicts.SCHEMA."""
    if stored.kind not in KINDS:
        return verdicts.unchecked_tables(stored, f"a result of {stored.kind} is not recomputed")
    if chosen["sql"]:
        return _verdicts_by_manifest(stored, inputs, settings)
    if stored.kind == "attack":
        return _verdicts_on_attack(stored, inputs, settings)
    if stored.kind == "sweep" and stored.spec.get("sample") is not None:
        return verdicts.unchecked_tables(stored, "the numbers of a sweep of a sample are estimates")
    try:
        repeated = request(stored, inputs, settings)
    except RepetitionError as e:
        return verdicts.unchecked_tables(stored, str(e))
    except UnfitError as e:  # somebody has changed the manifest
        way = BY_TABLES[stored.kind][0] if stored.kind in BY_TABLES else printed_sql.PRINTED
        broken = [Repetition(way, broken=str(e))]
        return verdicts.verdict_rows(stored, list(places(stored, RESULTS)), broken)
    if stored.kind == "sweep":
        return _verdicts_on_sweep(repeated, chosen["subsets"] or SUBSETS)
    return _verdicts_on_tables(repeated)


def _verdicts_by_manifest(
    stored: Stored, inputs: Inputs, settings: Settings
) -> list[dict[str, Any]]:
    """Return the verdicts by the SQL of the manifest alone; only attacks are repeated by it."""
    repetition = of_people(stored, pasted_sql.repeat(stored, inputs, settings))
    if stored.kind != "attack":
        return verdicts.unchecked_tables(stored, repetition.reason)
    return verdicts.verdict_rows(stored, list(places(stored)), [repetition])


def _verdicts_on_attack(stored: Stored, inputs: Inputs, settings: Settings) -> list[dict[str, Any]]:
    """Return the verdicts by the SQL of the manifest, and by all ways that its request allows."""
    repetitions = [of_people(stored, pasted_sql.repeat(stored, inputs, settings))]
    if "candidates" in stored.frame.columns:
        by_definition = candidate_checks.repeat, stored, inputs, settings
        repetitions.append(attempt(candidate_checks.WAY, *by_definition))
        return verdicts.verdict_rows(stored, list(places(stored)), repetitions)
    try:
        repeated = request(stored, inputs, settings)
    except RepetitionError as e:
        repetitions.append(Repetition(printed_sql.PRINTED, reason=str(e)))
    except UnfitError as e:  # somebody has changed the manifest
        repetitions.append(Repetition(printed_sql.PRINTED, broken=str(e)))
    else:
        repetitions += _repeat_attack(repeated)
    return verdicts.verdict_rows(stored, list(places(stored)), repetitions)


def _repeat_attack(repeated: Request) -> Iterator[Repetition]:
    """Yield the numbers of an attack, recomputed in each way that its request allows."""
    stored = repeated.stored
    yield count_columns(stored, len(repeated.source.datasets))
    by_sqlite = attempt(second_engine.WAY, second_engine.repeat, repeated)
    for repetition in (*printed_sql.repeat(repeated), by_sqlite):
        yield of_people(stored, repetition)
    if questions(stored, noisy=True):
        yield attempt(noisy_pairs.WAY, noisy_pairs.repeat, repeated)
    if stored.spec.get("person"):
        yield attempt(people_checks.WAY, people_checks.repeat, repeated)


def _verdicts_on_tables(repeated: Request) -> list[dict[str, Any]]:
    """Return the verdicts on a result that is repeated in one way, and its unchecked details."""
    stored = repeated.stored
    way, repeat, names = BY_TABLES[stored.kind]
    unchecked = {name: table for name, table in stored.details.items() if name not in names}
    reason = f"this table of {stored.kind} is not recomputed"
    return [
        *verdicts.verdict_rows(
            stored, list(places(stored, RESULTS, *names)), [attempt(way, repeat, repeated)]
        ),
        *verdicts.unchecked_tables(stored, reason, unchecked),
    ]


def _verdicts_on_sweep(repeated: Request, limit: int) -> list[dict[str, Any]]:
    """Return the verdicts on at most ``limit`` subsets of a sweep, drawn, and on its answers."""
    stored = repeated.stored
    subsets = subset_checks.draw_subsets(stored, limit, repeated.settings.seed)
    drawn_rows = {row for rows_of_subset in subsets.values() for row in rows_of_subset}
    if stored.spec.get("person"):
        repetitions = [attempt(people_checks.WAY, people_checks.repeat, repeated, drawn_rows)]
    else:
        repetitions = subset_checks.repeat(repeated, subsets)
    repetitions.append(count_columns(stored, len(repeated.source.datasets)))
    drawn = [
        (table, row, name) for table, row, name in places(stored, RESULTS) if row in drawn_rows
    ]
    undrawn_rows = sorted(set(range(stored.frame.height)) - drawn_rows)
    all_subsets = plural(stored.frame["qids"].n_unique(), "subset")
    reason = f"{len(subsets):,} of {all_subsets} are drawn, and this one is not"
    # the definitions of the answers have one record per person
    checkable = () if stored.spec.get("person") else answer_checks.ANSWERS
    checked = [name for name in checkable if name in stored.details]
    unchecked = {name: table for name, table in stored.details.items() if name not in checked}
    answers = list(places(stored, *checked)) if checked else []
    return [
        *verdicts.verdict_rows(stored, drawn, repetitions),
        *(verdicts.unchecked_row(stored, RESULTS, row, reason) for row in undrawn_rows),
        *verdicts.verdict_rows(stored, answers, answer_checks.repeat(repeated) if checked else []),
        *verdicts.unchecked_tables(stored, "this table of a sweep is not recomputed", unchecked),
    ]


def _notes(counts: Mapping[str, int], *, met: bool) -> tuple[str, ...]:
    """Return remarks on what was not checked; ``counts`` has numbers by verdict."""
    if not (counts[verdicts.AGREES] or counts[verdicts.DIFFERS] or counts[verdicts.HINTED]):
        return ("nothing was checked, so this says nothing about the result",)
    notes = []
    if not met and not counts[verdicts.DIFFERS]:
        notes.append(
            "not confirmed: for some rows no way could be taken but the SQL of the manifest, which "
            "whoever made the file has written (the reasons are listed)"
        )
    return (*notes, NOT_COMPARED)
