"""Recompute the numbers of a stored result by other ways than the one that made them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql.commands.verify import (
    candidate_checks,
    level_checks,
    noisy_pairs,
    pasted_sql,
    people_checks,
    sample_unique_checks,
    second_engine,
    stored_request,
    sweep_checks,
    table_checks,
    verdicts,
)
from qifsql.commands.verify.input_digests import Inputs, locate
from qifsql.commands.verify.intruder_claims.intruder_claims import score
from qifsql.commands.verify.spec import SUBSETS, VerifyOptions
from qifsql.commands.verify.stored_request import (
    RepetitionError,
    Request,
    UnfitError,
    attempt,
    request,
)
from qifsql.commands.verify.verdicts import (
    RESULTS,
    Repetition,
    count_columns,
    places,
    questions,
    relabel_records_as_people,
)
from qifsql.data.files import path_text, several_paths
from qifsql.data.option import complete
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, InputError, plural
from qifsql.results.result import Result
from qifsql.results.storage import Origin
from qifsql.results.stored import Stored, read

ATTACK_CHECKS: Mapping[str, Callable[[Request], Repetition]] = {
    stored_request.SIMPLE_WAY: stored_request.repeat_simple_sql,
    stored_request.PRINTED_WAY: stored_request.repeat_printed_sql,
    second_engine.WAY: second_engine.repeat,
}
"""The ways to recompute the results of all attacks."""
TABLE_CHECKS: Mapping[str, tuple[str, Callable[[Request], Repetition], tuple[str, ...]]] = {
    "levels": (second_engine.WAY, level_checks.repeat_levels, ()),
    "check": (second_engine.WAY, level_checks.repeat_policy, ()),
    "suda": (sample_unique_checks.WAY, sample_unique_checks.repeat, sample_unique_checks.TABLES),
}
"""The one way to recompute results of a kind: its name, its function, the details it covers."""
KINDS = ("attack", "sweep", "tables", *TABLE_CHECKS)  # of results whose numbers are recomputed
DAMAGE_ERRORS = (LookupError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError)
"""Errors of a table and a manifest that do not fit together."""
NOT_COMPARED = (
    "compared by no way: how long it took (seconds), the numbers of subsets, bins, thresholds and "
    "quantiles, histograms, claims, releases and plans of sweeps, and details of levels"
)


def verify(
    result: str | Path | Result | None = None,
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
            of such files, or a Result. With claims: the folder of the test; by
            default the key beside them is taken, or the one in the folder above.
        source: The attacked file, a folder of files, or a list, if they were moved. By default
            they are looked for at the paths of the manifest and next to the result.
        settings: Memory, threads and temporary folder; its seed (0 unless given) draws subsets.

    Returns:
        A Result. frame: one row per number and way, with attack_id, table, row, column, stored,
        recomputed, way, verdict (agrees, differs, not checked) and reason. met is true if no
        number differs, and in every row of an attack or a verdict one agrees by another way than
        the SQL of the manifest (of other results, in some row).
        With claims: one row per file (from 1; NULL: all together), secret (NULL: whose record it
        is) and least stated confidence (stated_from): sheets, claims, right, precision with low
        and high (exact, at 95 %), predicted, stated and coverage, in [0, 1]; met is false if
        nothing is claimed, or if all claims of a file about a question are right more often than
        predicted, by more than luck explains.

    Raises:
        InputError: The result cannot be read, or the data are missing or have other digests.

    Example:
        >>> attacked = qifsql.attack("crs", "data-samples/school_census_2018.parquet",
        ...     qids="TP_SEXO,NU_ANO")
        >>> checked = qifsql.verify(attacked)
        >>> checked.met, checked.frame["verdict"].unique().to_list()
        (True, ['agrees'])

    Source: M2, M3 and M7 to M20; of claims, Clopper and Pearson 1934.

    """
    chosen = complete(options, VerifyOptions)
    if claims := several_paths(chosen["claims"] or ()):
        if isinstance(result, Result) or source is not None or chosen["sql"] or chosen["subsets"]:
            raise InputError("claims are scored by the folder of their test, and nothing else")
        test = None if result is None else Path(path_text(result))
        return score(test, claims, settings=settings)
    if result is None:
        raise InputError("no result is named; name a stored result (RESULT), or claims of a test")
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
        except DAMAGE_ERRORS as e:
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
    """Return a verdict on each number of a stored result by each way: rows of verdicts.SCHEMA.

    ``chosen["sql"]``: by the SQL of the manifest alone.
    """
    if stored.kind not in KINDS:
        return verdicts.unchecked_tables(stored, f"a result of {stored.kind} is not recomputed")
    if chosen["sql"]:
        pasted = relabel_records_as_people(stored, pasted_sql.repeat(stored, inputs, settings))
        if stored.kind != "attack":  # its SQL cannot be pasted: the repetition has only a reason
            return verdicts.unchecked_tables(stored, pasted.reason)
        return verdicts.verdict_rows(stored, list(places(stored)), [pasted])
    if stored.kind == "attack":
        repetitions = _repeat_attack(stored, inputs, settings)
        return verdicts.verdict_rows(stored, list(places(stored)), list(repetitions))
    if stored.kind == "tables":
        repeated_tables = attempt(table_checks.WAY, table_checks.repeat, stored, inputs, settings)
        rows = verdicts.verdict_rows(stored, list(places(stored, RESULTS)), [repeated_tables])
        reason = "this table of tables is not recomputed"
        return [*rows, *verdicts.unchecked_tables(stored, reason, stored.details)]
    if stored.kind == "sweep" and stored.spec.get("sample") is not None:
        return verdicts.unchecked_tables(stored, "the numbers of a sweep of a sample are estimates")
    try:
        repeated = request(stored, inputs, settings)
    except RepetitionError as e:
        return verdicts.unchecked_tables(stored, str(e))
    except UnfitError as e:  # somebody has changed the manifest
        way, *_ = TABLE_CHECKS.get(stored.kind, (stored_request.PRINTED_WAY,))
        broken = [Repetition(way, broken=str(e))]
        return verdicts.verdict_rows(stored, list(places(stored, RESULTS)), broken)
    if stored.kind == "sweep":
        return _verdicts_on_sweep(repeated, chosen["subsets"] or SUBSETS)
    way, repeat, details = TABLE_CHECKS[stored.kind]
    checked = list(places(stored, RESULTS, *details))
    reason = f"this table of {stored.kind} is not recomputed"
    return [
        *verdicts.verdict_rows(stored, checked, [attempt(way, repeat, repeated)]),
        *verdicts.unchecked_tables(stored, reason, [n for n in stored.details if n not in details]),
    ]


def _repeat_attack(stored: Stored, inputs: Inputs, settings: Settings) -> Iterator[Repetition]:
    """Yield the numbers of an attack by the SQL of its manifest, then by each way it allows."""
    yield relabel_records_as_people(stored, pasted_sql.repeat(stored, inputs, settings))
    if "candidates" in stored.frame.columns:  # an attack with raw knowledge of people
        yield attempt(candidate_checks.WAY, candidate_checks.repeat, stored, inputs, settings)
        return
    try:
        repeated = request(stored, inputs, settings)
    except RepetitionError as e:
        yield Repetition(stored_request.PRINTED_WAY, reason=str(e))
        return
    except UnfitError as e:  # somebody has changed the manifest
        yield Repetition(stored_request.PRINTED_WAY, broken=str(e))
        return
    yield count_columns(stored, len(repeated.source.datasets))
    for way, repeat in ATTACK_CHECKS.items():
        yield relabel_records_as_people(stored, attempt(way, repeat, repeated))
    if questions(stored, noisy=True):
        yield attempt(noisy_pairs.WAY, noisy_pairs.repeat, repeated)
    if stored.spec.get("person"):
        yield attempt(people_checks.WAY, people_checks.repeat, repeated)


def _verdicts_on_sweep(repeated: Request, limit: int) -> list[dict[str, Any]]:
    """Return the verdicts on at most ``limit`` subsets of a sweep, drawn, and on its answers."""
    stored = repeated.stored
    subsets = sweep_checks.draw_subsets(stored, limit, repeated.settings.seed)
    drawn_rows = {row for rows_of_subset in subsets.values() for row in rows_of_subset}
    answers: list[str] = []
    if stored.spec.get("person"):  # the definitions of the answers have one record per person
        repetitions = [attempt(people_checks.WAY, people_checks.repeat, repeated, drawn_rows)]
    else:
        repetitions = [
            attempt(
                stored_request.PRINTED_WAY, sweep_checks.repeat_by_printed_sql, repeated, subsets
            ),
            attempt(second_engine.WAY, sweep_checks.repeat_by_sqlite, repeated, subsets),
        ]
        answers = [name for name in sweep_checks.ANSWER_TABLES if name in stored.details]
    repetitions.append(count_columns(stored, len(repeated.source.datasets)))
    drawn = [place for place in places(stored, RESULTS) if place.row in drawn_rows]
    undrawn_rows = sorted(set(range(stored.frame.height)) - drawn_rows)
    all_subsets = plural(stored.frame["qids"].n_unique(), "subset")
    reason = f"{len(subsets):,} of {all_subsets} are drawn, and this one is not"
    rows = verdicts.verdict_rows(stored, drawn, repetitions)
    rows += [verdicts.unchecked_row(stored, RESULTS, row, reason) for row in undrawn_rows]
    if answers:
        answer_places = list(places(stored, *answers))
        rows += verdicts.verdict_rows(stored, answer_places, sweep_checks.repeat_answers(repeated))
    unchecked = [name for name in stored.details if name not in answers]
    reason = "this table of a sweep is not recomputed"
    return rows + verdicts.unchecked_tables(stored, reason, unchecked)


def _notes(counts: Mapping[str, int], *, met: bool) -> tuple[str, ...]:
    """Return remarks on what was not checked; ``counts`` has numbers by verdict."""
    if not (counts[verdicts.AGREES] or counts[verdicts.DIFFERS] or counts[verdicts.HINTED]):
        return ("nothing was checked, so this says nothing about the result",)
    if met or counts[verdicts.DIFFERS]:
        return (NOT_COMPARED,)
    unconfirmed = (
        "not confirmed: for some rows no way could be taken but the SQL of the manifest, which "
        "whoever made the file has written (the reasons are listed)"
    )
    return (unconfirmed, NOT_COMPARED)
