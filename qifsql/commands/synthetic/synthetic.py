"""The measures of synthetic releases: overlap, disclosure, and guesses learnt from them.

Source: M111 to M123, M135, M136; Raab et al. 2024 (synthpop), Giomi et al. 2023 (anonymeter).
"""

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import polars as pl

from qifsql.adversary import roles
from qifsql.adversary.bind_gains import certainties
from qifsql.commands.synthetic.measurements import PEOPLE, Measurements
from qifsql.commands.synthetic.nearest_people import NOTE_ON_DISTANCES
from qifsql.commands.synthetic.questions import check_split, parse_attempts, parse_draws
from qifsql.commands.synthetic.spec import MOST_SWEPT_QIDS, SyntheticOptions
from qifsql.counting import compared_files
from qifsql.counting.compared_files import Files, Names, Sources
from qifsql.counting.guessing import Learner
from qifsql.data.dataset import Tabular
from qifsql.data.option import as_names, as_tuple, complete
from qifsql.data.readers import openings
from qifsql.data.reading import of_files
from qifsql.data.types import Row
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, did_you_mean, plural, quoted
from qifsql.measures import release_measures as measures
from qifsql.measures.measure_bounds import Bound, read_bound
from qifsql.query.render import expressions
from qifsql.results.result import Result
from qifsql.results.storage import Origin, repeated_people, streamed_place

NOTE_ON_PEOPLE = (
    "people are compared by all records of each (known_records all), which a release that takes "
    "the records of a person apart never repeats, and by one (one), where a person counts once for "
    "each different record; take the worse of both. Intervals of one take different records for "
    "independent, and are too narrow where people have several"
)
"""A note on both readings of people with several records."""
RECORD_OPTIONS = (
    *("by", "sweep", "questions", "split", "attempts", "terms", "links", "neighbours"),
    *("distances", "learner", "rapid", "records"),
)
"""The options that compare single records."""
RARE_CONDITIONS = 100  # fewer have an interval of 20 percentage points or more

SCHEMA: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    **dict.fromkeys(("measure", "secret"), pl.String()),
    **dict.fromkeys(("value", "low", "high"), pl.Float64()),
    **dict.fromkeys(("count", "people"), pl.Int64()),
}
"""One row per release, secret and measure.

``release`` is the name of the synthetic release, and ``file`` its number from 1 in the order given;
0 are all releases together. ``secret`` is NULL for overlap and uniques. ``value`` is the measure,
in [0, 1] (differences: [-1, 1]), NULL if it is a share of nobody. ``low`` to ``high`` is an
interval at 95 % confidence, NULL for what is no estimate. ``count`` of ``people`` are the share
(records of the release for ``UiS``); NULL for differences, and ``count`` where ties are shared.

With a person there is ``known_records``. ``all``: individuals of each file are people by the
multiset of their records. ``one``: they are people by each different record that they have, so that
a person counts once for each of these, and a block of one is of one person."""

NOT_LINKED = "linkability is not measured: name the quasi-identifiers of one source with --split"
"""A note where the questions are answered without two sources."""
MEASURES = (
    *(*measures.OF_RELEASE, *measures.OF_SECRET, *measures.OF_GUESSES, *measures.DIFFERENCES),
    *(*measures.OF_CLASSIFIERS, *measures.OF_QUESTIONS, *measures.OF_DISTANCES),
)


def synthetic(
    original: Tabular,
    synthetic: Tabular | Sequence[Tabular],
    *,
    settings: Settings | None = None,
    **options: Unpack[SyntheticOptions],
) -> Result:
    """Measure what synthetic releases say about the people from whom they were made.

    An adversary learns from a release and guesses the secrets of people. Success on people of a
    control shows what the release says about the population; only the rest is about individuals.
    A missing value is a value.

    Args:
        original: The people from whom the releases were made: a path (Parquet, CSV, JSON, Excel,
            Stata, SPSS, SAS; a glob; a folder of Parquet; table@database of DuckDB or SQLite), a
            data frame (anything with __arrow_c_stream__, a Polars LazyFrame) or a Dataset.
        synthetic: One synthetic release or several, each as the original. Several are also
            measured all together.

    Returns:
        A Result. frame: one row per release, measure and secret (SCHEMA), with a person also per
        known_records (all, one). details: worst (counts of ten blocks for each secret), and where
        asked for sure (thresholds), groups and subsets.

    Raises:
        InputError: A name, type or option does not fit the files; the message says what to try.
        OutputError: The file of records cannot be written.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.synthetic("data-samples/school_census_2018.parquet",
        ...     "data-samples/school_census_2019.parquet", qids="NU_ANO,TP_SEXO",
        ...     secret="TP_COR_RACA")
        >>> result.frame.filter(measure="repU").select("count", "people").row(0)
        (8, 19949)

    Source: M111 to M123, M130 to M136; Raab, Nowok and Dibben 2024; Giomi, Boenisch, Wehmeyer and
    Tasnádi 2023; Templ, Thees and Müller 2026.

    """
    options = complete(options, SyntheticOptions)
    origin = Origin.now(settings, "synthetic")
    learner, required = _check_options(options, settings)
    sources = Sources.of(original, synthetic, options["control"])
    path = streamed_place(options["records"], sources.paths)
    outputs = [] if path is None else [path]
    with open_engine(
        settings, sources=sources.all, outputs=outputs, ordered=path is not None
    ) as engine:
        files = _read_files(engine, sources, options, required)
        work = Measurements(engine, files, options, learner)
        work.run()
        openings_sql = openings(*sources.all)
        origin = origin.about(_describe(files, options, learner), sources.paths)
        origin = origin.listing(roles.of_files(file.microdata.columns for file in files.files))
        written = 0
        if path is not None:
            written = work.write(path, origin.sending(dict.fromkeys(openings_sql)))
        origin = origin.sending(dict.fromkeys([*openings_sql, *work.statements]))
    schema = SCHEMA | (PEOPLE if options["person"] is not None else {})
    notes_by_bound = (failure_note(bound, work.measured) for bound in required)
    failures = [note for note in notes_by_bound if note]
    return Result(
        frame=pl.DataFrame(work.measured, schema=schema, orient="row"),
        origin=origin,
        details=work.details(),
        notes=(*files.notes, *_notes(files, options, work), *failures),
        met=not failures if required else None,
        written=written,
    )


def rehearse(
    original: Tabular,
    synthetic: Tabular | Sequence[Tabular],
    settings: Settings | None = None,
    **options: Unpack[SyntheticOptions],
) -> None:
    """Check the options and look up every name in all files; InputError if one is wrong."""
    options = complete(options, SyntheticOptions)
    _, required = _check_options(options, settings)
    sources = Sources.of(original, synthetic, options["control"])
    with open_engine(settings, sources=sources.all) as engine:
        _read_files(engine, sources, options, required)


def _check_options(
    options: SyntheticOptions, settings: Settings | None
) -> tuple[Learner | None, list[Bound]]:
    """Return the classifier, if one is asked for, and the required bounds.

    InputError if one is wrong, or an option is about single records while people may have several.
    """
    for name in RECORD_OPTIONS:
        if options["person"] is not None and options.get(name):
            raise InputError(
                f"{name} is about records, of which a person may have several; leave {name} or "
                "person out, or write one record per person first (qifsql anonymise --one-per)"
            )
    if certainties(options["thresholds"]) and not options["secret"]:
        raise InputError("thresholds are about guesses of a secret; name one with --secret")
    required = parse_bounds(as_tuple(options["require"]))
    if options["learner"] is None:
        if options["rapid"] is not None:
            raise InputError("rapid is about a classifier; name one with --learner")
        return None, required
    if not options["secret"]:
        raise InputError("a classifier infers a secret; name one with --secret")
    seed = settings.seed if settings else None
    learner = Learner.of(options["learner"], options["rapid"], seed, classifiers_only=True)
    return learner, required


def _read_files(
    engine: LocalEngine, sources: Sources, options: SyntheticOptions, required: Sequence[Bound]
) -> Files:
    """Return the files; refuse options and bounds that do not fit them, before work begins."""
    names = Names(
        qids=options["qids"],
        secret=options["secret"],
        where=options["where"],
        by=options["by"],
        person=options["person"],
    )
    files = compared_files.read(engine, sources, names)
    if options["sweep"] and len(files.qids) > MOST_SWEPT_QIDS:
        raise InputError(
            f"a sweep has at most {MOST_SWEPT_QIDS} quasi-identifiers, and {len(files.qids)} are "
            "named; name fewer"
        )
    split = as_names(options["split"])
    if split and not options["questions"]:
        raise InputError("--split is about linkability, one of three questions; add --questions")
    check_split(split, files.qids)
    parse_attempts(options, len(files.qids), seed=0)  # only for its checks, as the next line
    parse_draws(options, seed=0)
    draws = options["distances"]
    if draws is not None and draws < 1:
        raise InputError(f"distances of {draws} records; name 1 or more")
    for bound in required:
        has_control = files.control is not None
        check_bound(bound, options, has_secret=bool(files.secrets), has_control=has_control)
    return files


def _describe(files: Files, options: SyntheticOptions, learner: Learner | None) -> dict[str, Any]:
    """Return the request as plain data."""
    attributes = [a for file in files.files for a in file.attributes]
    sizes: dict[str, Any] = {
        "original": files.original.records,
        "releases": [file.records for file in files.releases],
    }
    if files.control is not None:
        sizes["control"] = files.control.records
    taken = ("where", "sweep", "questions", "attempts", "terms", "links", "neighbours", "distances")
    described = {
        "dataset": files.original.title,
        "releases": [file.title for file in files.releases],
        "control": files.control and files.control.title,
        "qids": list(files.qids),
        "secrets": list(files.secrets),
        "expressions": expressions(attributes),
        "by": files.by,
        "thresholds": certainties(options["thresholds"]),
        "split": list(as_names(options["split"])),
        **{name: options[name] for name in taken},  # type: ignore[literal-required]
        "learner": learner and learner.name,
        "learner_seed": learner and learner.seed,
        "rapid": learner and float(learner.level),
        "require": list(as_tuple(options["require"])),
        "sizes": sizes,
        **of_files(file.microdata.dataset for file in files.files),
        **repeated_people(files.original.microdata.repeated),
    }
    return described | ({"person": options["person"]} if options["person"] is not None else {})


def _notes(files: Files, options: SyntheticOptions, work: Measurements) -> list[str]:
    """Return notes that help to interpret the numbers."""
    notes = []
    if files.control is None and files.secrets:
        notes.append(
            "without a control (--control) nobody can tell what the release says about individuals "
            "from what it says about the population: hold some people out before the release is "
            "made"
        )
    notes += [
        f"{file.title} has {plural(file.records, 'record')}, the original "
        f"{files.original.records:,}: larger releases overlap more"
        for file in files.releases
        if file.records != files.original.records
    ]
    if options["person"] is not None:
        notes.append(NOTE_ON_PEOPLE)
    if options["distances"] is not None:
        notes.append(NOTE_ON_DISTANCES)
    if options["questions"] and not options["split"] and len(files.qids) > 1:
        notes.append(NOT_LINKED)
    notes += work.notes
    notes += [
        f"{row['release']}: of {options['attempts']:,} conditions that were drawn, "
        f"{row['people']:,} hold for exactly one record, too few for a narrow interval; draw more "
        "(--attempts) or of more terms (--terms)"
        for row in work.measured
        if row["measure"] == "singling_out_some" and row["people"] < RARE_CONDITIONS
    ]
    return notes


def check_bound(
    bound: Bound, options: SyntheticOptions, *, has_secret: bool, has_control: bool
) -> None:
    """Refuse a bound on a measure that these options do not compute."""
    needs = (  # measures, the option that they need, and the hint
        (measures.ABOUT_SECRETS, has_secret, "is about a secret; name one with --secret"),
        (measures.OF_CONTROL, has_control, "needs a control; name one with --control"),
        (measures.OF_CLASSIFIERS, options["learner"], "is about a classifier; add --learner"),
        (measures.OF_QUESTIONS, options["questions"], "is about a question; add --questions"),
        (measures.OF_ATTEMPTS, options["attempts"], "is about attempts; add --attempts"),
        (measures.OF_NEAREST, options["links"], "is about drawn people; add --links"),
        (measures.OF_LINKS, options["split"], "is about two sources; add --split"),
        (measures.OF_DISTANCES, options["distances"], "is about distances; add --distances"),
    )
    for names, option, hint in needs:
        if bound.measure in names and not option:
            raise InputError(f"bound {quoted(bound.text)} {hint}")


def failure_note(bound: Bound, rows: Iterable[Row]) -> str:
    """Return a note on the releases and secrets that exceed a bound; empty if none does."""
    failures = []
    for row in rows:
        value = row["value"]  # None: a share of nobody
        if row["measure"] == bound.measure and value is not None and bound.distance(value):
            about = ", ".join(filter(None, (row["release"], row["secret"])))
            failures.append(f"{about}: {value:.4g}")
    return f"not met: {bound.text} ({'; '.join(failures)})" if failures else ""


def parse_bounds(texts: Sequence[str]) -> list[Bound]:
    """Return the bounds that texts state; raise InputError if a text states none."""
    bounds = []
    for text in texts:
        bound = read_bound(text)
        if bound is None:
            raise InputError(
                f"invalid bound {quoted(text)}; write, for example, repU<=0.01, with a measure of "
                "the result"
            )
        if bound.measure not in MEASURES:
            hint = did_you_mean(bound.measure, MEASURES)
            raise InputError(f"there is no measure {quoted(bound.measure)} to bound{hint}")
        bounds.append(bound)
    return bounds
