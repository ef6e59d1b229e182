"""Published tables of counts: what they prove about people, and what the best guess gets right.

The tables are made of records as an office would make them (the custodian's view), or read as they
were published (the outsider's).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, islice
from typing import Any, Unpack

import polars as pl

from qifsql.commands.tables import breakdown, dimensions, magnitude
from qifsql.commands.tables import remedies as remedy
from qifsql.commands.tables.kept_components import KeptComponents
from qifsql.commands.tables.margins import ContradictionError, Domain, Published
from qifsql.commands.tables.measured import Measured
from qifsql.commands.tables.microdata_releases import ReleaseFile
from qifsql.commands.tables.new_tables import NewTable
from qifsql.commands.tables.proofs import Question
from qifsql.commands.tables.question_rows import question_row
from qifsql.commands.tables.spec import TableOptions
from qifsql.commands.tables.table_release import Release
from qifsql.commands.tables.table_request import Request
from qifsql.commands.tables.table_sets import Budget, contradiction_error, measure_tables
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.option import as_names, as_tuple, complete
from qifsql.data.readers import openings
from qifsql.engine.csv_types import remarks
from qifsql.engine.masks import private
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted
from qifsql.measures.table_measures import DIFFERENCES, REQUIRED
from qifsql.results.result import Result
from qifsql.results.storage import Origin

LARGEST_INTEGER = 2**63 - 1  # of a column of the result

SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("tables", "known"), pl.List(pl.String())),
    "secret": pl.String(),
    "people": pl.Int64(),
    "bounds": pl.String(),
    "sharp": pl.Boolean(),
    **dict.fromkeys(("reconstructed", "reconstructed_ones", "cells_proved"), pl.Int64()),
    **dict.fromkeys(("singled_out", "certain_inference"), pl.Int64()),
    **dict.fromkeys(("lowest", "highest"), pl.Float64()),
    "bracket_sharp": pl.Boolean(),
    **dict.fromkeys(("prior", "believed", "actual", "records"), pl.Float64()),
    "estimate": pl.Boolean(),
    "components": pl.Int64(),
    "components_proved": pl.Float64(),
    "components_open": pl.Int64(),
}
"""One row per set of tables and secret (NULL: re-identification).

``known`` are the dimensions that the adversary knows. ``bounds`` is how the counts of all
combinations were bounded (``closed form``, ``propagation``, ``integer programming``, ``mixed``);
``sharp``: no narrower bounds of them are true. ``reconstructed`` people are in combinations of all
dimensions whose count is proved, ``reconstructed_ones`` alone in one; ``cells_proved`` counts these
combinations and the empty ones (NULL: too many to count). ``singled_out`` people are proved to be
alone with what is known, the secret of ``certain_inference`` people is proved. ``lowest`` and
``highest`` are the least and the greatest success of the best guess over all records that agree
with the tables, at least and at most (``bracket_sharp``: exactly). ``prior``: success without
tables; ``believed``: what a Bayesian adversary expects of the best guess; ``actual``: how often it
is right (NULL without records); ``records``: success if the records were published. ``estimate``:
``believed`` and ``actual`` are of fitted counts. ``components`` are parts that say nothing about
one another, such as schools; ``components_proved`` is the share of them all of whose combinations
are proved, and ``components_open`` the number of those whose bounds may not be sharp."""

WITHOUT: dict[str, pl.DataType] = {
    "without": pl.String(),
    "secret": SCHEMA["secret"],
    **{name: SCHEMA[name] for name in ("reconstructed", "singled_out", "certain_inference")},
    **{name: SCHEMA[name] for name in ("lowest", "highest", "believed", "actual")},
}
"""One row per table that is left out and secret: the measures of the other tables."""

ALONE: dict[str, pl.DataType] = {"alone": pl.String()} | {
    name: kind for name, kind in WITHOUT.items() if name != "without"
}
"""One row per table and secret: the measures of this table alone. A microdata release is a table,
too."""
MOST_SETS = 256  # of tables, among which the smallest that proves what all do is looked for
PROVED = ("reconstructed", "singled_out", "certain_inference")


def tables(
    source: Tabular | None = None,
    *,
    settings: Settings | None = None,
    **options: Unpack[TableOptions],
) -> Result:
    """Attack published tables of counts: what they prove, and what the best guess gets right.

    With records, the tables are made as an office would make them; without, they are read as they
    were published.

    Args:
        source: The records: a path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder
            of Parquet; table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. None: only published tables.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine. The seed draws random rounding and noise.

    Returns:
        A Result. frame: one row per set of tables and secret (SCHEMA). details: checks (each
        table), disclosure (rows with one value), overlaps (pairs of tables), and where asked for
        components, groups, without, remedies, magnitudes, hidden_sums.

    Raises:
        InputError: A name, a table or an option does not fit, or published tables contradict each
            other; the message says which, where and what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.tables("data-samples/popets_table_3a.csv",
        ...     table=["gender,grade", "grade,disability"], secret="disability")
        >>> result.frame.select("reconstructed", "bounds").row(0)
        (10, 'closed form')

    Source: M89 to M110, M220, M221; Dobra and Fienberg 2000, Buzzigoli and Giusti 1999, Abowd et
    al. 2023.

    """
    options = complete(options, TableOptions)
    settings = settings or Settings()
    request = Request.of(source, options, settings)
    origin = Origin.now(settings, "tables")
    with private(when=options["resume"] is not None), request.opened() as (release, memory):
        attack = TableAttack(options, release, memory=memory)
        result = attack.run()
        details, notes = dict(result.details), [*result.notes]
        if options["leave_one_out"] and len(release.statements) > 1:
            for name, schema in (("without", WITHOUT), ("alone", ALONE)):
                rows = list(attack.parts(name))
                details[name] = pl.DataFrame(rows, schema=schema)
            notes += attack.least_set(result.rows)
        if request.magnitudes and request.records is not None:
            details_of_sums, notes_on_magnitudes = magnitude.measure(
                release.tables,
                request.records,
                request.magnitudes,
                request.rules,
                where=options["where"],
                seconds=options["time_budget"],
            )
            details |= details_of_sums
            notes += notes_on_magnitudes
        engine_notes = remarks(release.tables.engine)
        origin = _with_request(origin, request, release)
        if options["add"] and request.ledger is not None:
            unmet = result.met is False
            message = f"nothing is added to {request.ledger.path}: not all bounds hold"
            notes.append(message if unmet else request.ledger.add(release, origin))
    if options["remedies"] or options["until"]:
        details["remedies"], notes_on_remedies = _try_remedies(request)
        notes += notes_on_remedies
    return Result(
        frame=pl.DataFrame(result.rows, schema=SCHEMA, orient="row"),
        origin=origin,
        details=details,
        notes=(*notes, *engine_notes),
        met=result.met,
    )


def _with_request(origin: Origin, request: Request, release: Release) -> Origin:
    """Return the origin with the request, its files, the SQL that ran, and the columns."""
    first = openings(request.records) if request.records is not None else ()
    statements = dict.fromkeys([*first, "SET TimeZone = 'UTC'", *release.tables.statements])
    origin = origin.about(request.describe(release), request.paths).sending(statements)
    return origin.listing(release.columns)


def rehearse(
    source: Tabular | None = None, settings: Settings | None = None, **options: Unpack[TableOptions]
) -> None:
    """Check the options and look up every name, without an attack; InputError if one is wrong."""
    options = complete(options, TableOptions)
    domain = Request.of(source, options, settings or Settings()).domain()
    questions(domain, options, {})
    group_dimension(domain, options)


def _try_remedies(request: Request) -> tuple[pl.DataFrame, list[str]]:
    """Return the remedies that were tried, as ``REMEDIES``, and remarks on whether they suffice."""
    options, attempt = request.options, partial(_attack_changed, request)
    limits = remedy.parse_limits(as_tuple(options["until"]))
    changes, small = as_names(options["change"]), options["small"]
    # chosen: texts of the remedies to take; empty: the bounds hold already; None: none suffice
    rows, chosen = remedy.search(request.new_tables, attempt, changes, limits, small)
    notes = []
    if limits and chosen is None:
        notes.append("no remedies that were tried keep all bounds; name coarser forms (--change)")
    elif limits:
        notes.append(
            f"the bounds hold: {'; '.join(chosen)}" if chosen else "the bounds hold already"
        )
    return pl.DataFrame(rows, schema=remedy.REMEDIES, orient="row"), notes


def _attack_changed(
    request: Request, new_tables: Sequence[NewTable]
) -> tuple[list[dict[str, Any]], int]:
    """Attack ``new_tables``, which a remedy made of the tables of the request, in their order.

    Return the rows of all of them together (``SCHEMA``), each with ``undone``: the hidden cells
    whose count is proved; and the number of published cells that still tell their exact count.
    """
    options: TableOptions = {**request.options, "resume": None}  # its file is of other tables
    changed = replace(request, new_tables=tuple(new_tables), options=options)
    new_names: dict[str, str] = {}  # of dimensions, by the old ones
    for old, new in zip(request.new_tables, new_tables, strict=True):
        new_names |= zip(old.dims, new.dims, strict=True)
    with changed.opened() as (release, _):
        attack = TableAttack(options, release, new_names)
        measured = attack.measure(release.published)
        rows, checks = attack.rows(measured), breakdown.checks(measured, options["small"])
    undone = int(checks["undone"].sum())
    # Under other protections a cell is either hidden or tells its count.
    exact = checks.filter(~pl.col("protection").str.contains("(?:round|noise)"))
    exact_cells = int((exact["cells"] - exact["hidden"]).sum())
    return [row | {"undone": undone} for row in rows], exact_cells


@dataclass
class TableMeasures:
    """The rows of all sets of tables, the details of the whole set, remarks, and the verdict."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, pl.DataFrame] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    met: bool | None = None


class TableAttack:
    """The attack on the tables of a release."""

    def __init__(
        self,
        options: TableOptions,
        release: Release,
        names: Mapping[str, str] | None = None,
        memory: KeptComponents | None = None,
    ) -> None:
        """Look up the questions; ``names`` are new names of dimensions by old ones."""
        self.options, self.release = options, release
        self.questions, self.knowledge = questions(release.domain, self.options, names or {})
        self.budget = Budget(self.options["time_budget"], memory)

    def measure(self, published: Sequence[Published]) -> Measured:
        """Return a set of tables with its bounds; refuse tables that contradict each other."""
        pairs = [a.edge | b.edge for a, b in breakdown.crossing_pairs(published)]
        try:
            return measure_tables(self.release, published, self.questions, self.budget, pairs)
        except ContradictionError as e:
            raise contradiction_error(self.release, published) from e

    def rows(self, measured: Measured) -> list[dict[str, Any]]:
        """Return the row of each question, with what is known in the order of the request."""
        knowledge = {"known": self.knowledge} if self.knowledge else {}
        return [question_row(measured, question) | knowledge for question in self.questions]

    def run(self) -> TableMeasures:
        """Attack the tables, first progressively if asked; return rows, details and the verdict.

        Progressively, the first table is measured alone, then the first two, and so on. Details,
        notes and the verdict on ``--require`` are of all tables together.
        """
        options, all_tables = self.options, self.release.published
        answer = TableMeasures()
        by = group_dimension(self.release.domain, options)
        statements = self.release.statements
        for n in range(1, len(statements)) if options["progressive"] else ():
            measured = self.measure(list(chain.from_iterable(statements[:n])))
            answer.rows += self.rows(measured)
            measured.margins.close()
        measured = self.measure(all_tables)
        answer.rows += self.rows(measured)
        answer.details["checks"] = breakdown.checks(measured, options["small"])
        answer.details["disclosure"] = breakdown.disclosure(measured)
        answer.details["overlaps"] = breakdown.overlaps(measured, options["small"])
        if worst := [r for q in self.questions for r in breakdown.components(measured, q)]:
            answer.details["components"] = pl.DataFrame(worst, schema=breakdown.COMPONENTS)
        if by is not None:
            answer.details["groups"] = breakdown.groups(measured, self.questions, by)
        if options["show_cells"]:
            answer.details |= breakdown.cell_details(measured, self.questions[0])
        answer.notes += [*self.release.notes]
        answer.notes += [*dict.fromkeys(measured.notes), *_notes(measured, answer.rows[-1])]
        if limits := remedy.parse_limits(as_tuple(options["require"]), REQUIRED):
            last_rows = answer.rows[-len(self.questions) :]  # those of all tables
            rows = [row | measures_of_checks(answer.details) for row in last_rows]
            broken = [limit.text for limit in limits if remedy.largest_distance(rows, [limit])]
            answer.met = not broken
            answer.notes += [f"not met: {', '.join(broken)}"] if broken else []
        measured.margins.close()
        for row in answer.rows:  # the column of the result holds no larger number
            if row["cells_proved"] is not None and row["cells_proved"] > LARGEST_INTEGER:
                row["cells_proved"] = None
        return answer

    def parts(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield, for each table, the rows of the attack ``without`` it, or on it ``alone``."""
        statements = self.release.statements
        for k, statement in enumerate(statements):
            others = [*statements[:k], *statements[k + 1 :]]
            for row in self._rows_of([statement] if part == "alone" else others):
                row[part] = statement[0].source
                names = WITHOUT if part == "without" else ALONE
                yield {name: row[name] for name in names}

    def _rows_of(self, statements: Sequence[Sequence[Published]]) -> list[dict[str, Any]]:
        measured = self.measure(list(chain.from_iterable(statements)))
        rows = self.rows(measured)
        measured.margins.close()
        return rows

    def least_set(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return a note on the fewest tables that prove as much of people as all of them together.

        ``rows`` are those of all tables, last. Empty if nothing is proved, or all are needed.
        """
        statements = self.release.statements
        proofs = [[row[name] for name in PROVED] for row in rows[-len(self.questions) :]]
        if not any(map(any, proofs)):
            return []
        smaller = chain.from_iterable(
            combinations(statements, n) for n in range(1, len(statements))
        )
        for chosen in islice(smaller, MOST_SETS):
            if [[row[name] for name in PROVED] for row in self._rows_of(chosen)] == proofs:
                titles = " and ".join(statement[0].source for statement in chosen)
                return [f"what all of them prove follows from {titles} alone"]
        return []


def released(file: Dataset, columns: Sequence[str]) -> ReleaseFile:
    """Return a file as an option ``release``, of which these columns count; empty: all."""
    return ReleaseFile(file, tuple(columns))


def measures_of_checks(details: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    """Return the measures that are sums of details: hidden cells undone, small differences."""
    undone, differences = details["checks"]["undone"].sum(), details["overlaps"]["cells"].sum()
    return {"undone": int(undone), DIFFERENCES: int(differences)}


def questions(
    domain: Domain, options: TableOptions, names: Mapping[str, str]
) -> tuple[list[Question], list[str]]:
    """Return a question per secret, or re-identification, and the dimensions named as known.

    Without such names (an empty list) the adversary knows all dimensions but the secret. ``names``
    are new names of dimensions, which a remedy made coarser, by old ones.
    """
    numbers = {name: i for i, name in domain.names.items()}

    def dimensions_of(option: str) -> list[str]:
        texts = as_names(options[option])  # type: ignore[literal-required]
        return [dimensions.find_dimension(names.get(n, n), numbers, option) for n in texts]

    knowledge, secrets = dimensions_of("known"), dimensions_of("secret")
    for name in secrets:
        if name in knowledge:
            raise InputError(
                f"secret {quoted(name)} is among the known dimensions; what the adversary knows is "
                "not a secret: take it out of one of them"
            )
    if len(set(secrets)) < len(secrets):
        raise InputError("a secret is given twice; give it once")
    attributes = frozenset(numbers[name] for name in knowledge)
    if not knowledge:  # cells of releases follow from values
        attributes = domain.independent
    if not secrets:  # re-identification
        return [Question(attributes, None)], knowledge
    return [Question(attributes - {numbers[name]}, numbers[name]) for name in secrets], knowledge


def group_dimension(domain: Domain, options: TableOptions) -> int | None:
    """Return the number of the dimension whose values are groups; None without groups."""
    if options["by"] is None:
        return None
    numbers = {name: i for i, name in domain.names.items()}
    return numbers[dimensions.find_dimension(options["by"], numbers, "group")]


def _notes(measured: Measured, row: Mapping[str, Any]) -> list[str]:
    """Return remarks on bounds that may not be sharp, and on counts that were fitted.

    ``row`` is a row of all tables together.
    """
    notes = []
    if row["components_open"]:
        notes.append(
            f"the bounds of {row['components_open']:,} of {row['components']:,} components may "
            "not be sharp: more may be proved than is told; give more time (--time-budget)"
        )
    if row["estimate"] and row["believed"] is not None:
        notes.append(
            "believed and actual success are of expected counts that were fitted (greatest "
            "entropy); a hidden count beside large ones is expected near its largest value"
        )
    moved = 0.0 if measured.expected_counts is None else measured.expected_counts.moved
    if moved > 1e-6:
        notes.append(
            f"the fit of expected counts stopped while {moved:.2g} of the people of a component "
            "still moved"
        )
    return notes
