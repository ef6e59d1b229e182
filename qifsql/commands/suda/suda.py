"""Minimal sample uniques and SUDA: who is singled out by how little, and which attributes do it.

Source: M140 to M147 and M190; Elliot, Manning and Ford 2002; Elliot, Manning, Mayes, Gurd and Bane
2005; Manning, Haglin and Keane 2008 (SUDA2); sdcMicro, ``suda2``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import Any, Unpack

import polars as pl

from qifsql.adversary.options import MATCH_ANY
from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.suda import msu_bounds
from qifsql.commands.suda.minimal_uniques import Band, MinimalUniques, Totals
from qifsql.commands.suda.spec import MOST_QIDS, SudaOptions
from qifsql.commands.suda.unique_families import MOST_SUBSETS, too_many
from qifsql.counting import suppressed
from qifsql.counting.scales import own_name
from qifsql.counting.session import check_records, note_left_out, opened
from qifsql.data.dataset import Tabular
from qifsql.data.exact import share
from qifsql.data.option import complete
from qifsql.data.types import family
from qifsql.engine.progress import silent
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, plural
from qifsql.measures.suda_scores import exponent, intrusion, odds, score_of_size
from qifsql.query import microdata_steps
from qifsql.query.columns import native_types, with_names
from qifsql.query.plan import Plan
from qifsql.query.splice import splice
from qifsql.results.result import Result
from qifsql.results.storage import Origin, stream, streamed_place

SUDA: dict[str, pl.DataType] = {"measure": pl.String(), "value": pl.Float64()}
"""One row per measure.

Numbers of records: ``records``; ``uniques``, singled out by all quasi-identifiers; ``paired``, in
blocks of two; ``records_with_msu``, with a minimal sample unique of a size that was looked for;
``special_uniques``, with one that leaves out a quasi-identifier. ``msus`` is the number of pairs of
a record and a minimal sample unique of it. ``dis`` is the chance in [0, 1] that a match with a
unique record is right; NULL if there is neither a unique nor a pair. ``mean_dis_suda`` over all
records and ``highest_dis_suda`` are in [0, 1].

With a person, numbers but ``records`` are about people: there are ``people`` and
``people_with_msu`` in place of ``records_with_msu``, and ``paired`` are people whose smallest block
has two."""

PEOPLE: dict[str, pl.DataType] = {"known_records": pl.String()}
"""A further column with a person: ``one``, as one record of each person is known."""

BY_SIZE: dict[str, pl.DataType] = dict.fromkeys(
    ("size", "msus", "sets", "records", "score"), pl.Int64()
)
"""One row per size of minimal sample uniques: how many of them, in how many ``sets`` of
quasi-identifiers; ``records`` whose smallest one has this size; the ``score`` of one. With a person
``records`` is called ``people``, and counts them."""

BY_SET: dict[str, pl.DataType] = {
    "qids": pl.List(pl.String()),
    **dict.fromkeys(("size", "msus"), pl.Int64()),
    "contribution": pl.Float64(),
}
"""One row per set of quasi-identifiers: the ``msus``, records that have it as a minimal sample
unique, and their share of all scores in [0, 1]; largest shares first."""

BY_QID: dict[str, pl.DataType] = {
    "qid": pl.String(),
    "msus": pl.Int64(),
    "contribution": pl.Float64(),
}
"""One row per quasi-identifier, in the order of the request: the minimal sample uniques that hold
it, and their ``contribution``, the share of all scores in [0, 1]. A minimal sample unique counts
for each quasi-identifier that it holds, so that contributions add up to more than 1. NULL without
scores."""

BY_VALUE: dict[str, pl.DataType] = {
    **dict.fromkeys(("qid", "value"), pl.String()),
    **dict.fromkeys(("records", "records_with_msu", "msus"), pl.Int64()),
    "contribution": pl.Float64(),
}
"""One row per value of a quasi-identifier that a minimal sample unique holds: the ``records`` with
the value, those of them with such a minimal sample unique, their number, and the share of all
scores in [0, 1]. ``value`` is text; NULL is a missing value."""

GROUPS: dict[str, pl.DataType] = {
    "group": pl.String(),
    **dict.fromkeys(("records", "records_with_msu", "msus"), pl.Int64()),
    "contribution": pl.Float64(),
}
"""One row per group of records (``by``): all, those with a minimal sample unique, the number of
these, and the group's share of all scores in [0, 1]. ``group`` is text; NULL is a missing value."""

BY_DIS_SUDA: dict[str, pl.DataType] = {"bin": pl.Int64(), "individuals": pl.Int64()}
"""Records by their DIS-SUDA in percent, rounded half to even. Records without a score are in 0."""

STARS = (
    "where all quasi-identifiers of a set are * in a record, it may be anybody's, so that the set "
    "singles nobody out by it"
)


def suda(
    source: Tabular,
    *,
    told: Callable[[str], None] | None = None,
    settings: Settings | None = None,
    **options: Unpack[SudaOptions],
) -> Result:
    """Find minimal sample uniques (MSUs), special uniques and SUDA scores.

    An MSU of a record is a set of quasi-identifiers that singles it out, while no smaller part of
    the set does. Small ones tell that a record is special: it is unlikely to be unique by chance.

    Returns:
        A Result. frame: one row per measure with its value; with match-any low and high; with a
        person known_records, which is one, as the sets single out people by one of their records
        (sweep has those whom all records single out). details: by_size, by_set, by_qid,
        by_dis_suda; by_value and groups on request; bounds with match-any. Contributions are shares
        in [0, 1].

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.suda("data-samples/popets_table_3a.csv", qids="gender,age,grade")
        >>> result.details["by_size"]["size"].to_list()
        [1, 2]

    Source: M140 to M147 and M190; Elliot, Manning and Ford 2002; Elliot et al. 2005; sdcMicro.

    """
    options = complete(options, SudaOptions)
    fraction = _check_options(options)
    match_any = options["null"] == MATCH_ANY
    if options["key"] is not None and options["records"] is None:
        raise InputError("a key names the people in a file of records; name one with --records")
    origin = Origin.now(settings, "suda")
    attack = _attack(source, options)
    _size_limit(options["max_size"], len(attack.qids))  # or more, if some are patterns
    file = streamed_place(options["records"], attack.dataset.paths)
    outputs = [] if file is None else [file]
    # A second query numbers the records again, to write scores or count groups: in the same order.
    ordered = file is not None or options["by"] is not None
    with opened(attack, settings, apart=True, outputs=outputs, ordered=ordered) as (engine, bound):
        uniques, totals = _find_uniques(engine, bound, options, told or silent)
        summary = Summary.of(uniques, totals, fraction)
        description: dict[str, object] = {  # what was asked besides the attack, for the manifest
            "max_size": uniques.size_limit,
            "fraction": float(fraction),
            "omit_missing": options["omit_missing"],
            "by": options["by"],
        }
        if match_any:
            description["null"] = MATCH_ANY
        written_rows = 0
        if file is not None:
            scores = _records_plan(bound, uniques, summary, native_types(file))
            file_origin = origin.of(bound, attack, scores, **description)
            written_rows = stream(engine, scores, file, file_origin, what="writing records")
        frame = pl.DataFrame(summary.measures(), schema=SUDA, orient="row")
        details = summary.details(grouped=options["by"] is not None)
        if uniques.by_person:  # they count people
            frame = frame.with_columns(pl.lit("one").alias("known_records"))
            details["by_size"] = details["by_size"].rename({"records": "people"})
        statements = dict.fromkeys(uniques.tables.statements)
        notes = (
            *bound.microdata.notes,
            *note_left_out(engine, bound.microdata),
            *_remarks(summary),
            *((STARS,) if uniques.stars and not bound.microdata.suppressed else ()),
        )
        if match_any:
            bounds = msu_bounds.bounds_of_uniques(uniques, statements)
            details["bounds"] = bounds
            ends = bounds.select("measure", *msu_bounds.ENDS)
            frame = frame.join(ends, on="measure", how="left")
            notes += msu_bounds.NOTES
        origin = origin.of(bound, attack, **description).sending(statements)
    return Result(frame=frame, origin=origin, details=details, notes=notes, written=written_rows)


def _find_uniques(
    engine: LocalEngine, bound: BoundAttack, options: Mapping[str, Any], tell: Callable[[str], None]
) -> tuple[MinimalUniques, Totals]:
    """Find the minimal sample uniques of the records; return their tables and the totals.

    Suppressed records (``*`` in every quasi-identifier) have none, and count among the individuals.
    """
    n = len(bound.microdata.qids)
    size_limit = _size_limit(options["max_size"], n)
    check_records(engine, bound.microdata)
    microdata = bound.microdata
    if microdata.person is None:
        unsuppressed = suppressed.shown_alone(microdata)
        if suppressed.people_of(engine, unsuppressed):  # else all are suppressed, and are searched
            microdata = unsuppressed
    uniques = MinimalUniques(
        engine,
        microdata.known_by("one"),
        size_limit,
        [score_of_size(n, size_limit, size) for size in range(1, n + 1)],
        omit_missing=options["omit_missing"],
        values=options["values"],
        mark_missing=options["null"] == MATCH_ANY,
        everyone=bound.microdata,
        tell=tell,
    )
    totals = uniques.find()
    individuals, records = uniques.count_individuals(totals.individuals)
    return uniques, replace(totals, individuals=individuals, records=records)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Counts and sums over the minimal sample uniques of all records.

    ``sets`` has a row per set with minimal sample uniques: ``qids``, ``size``, ``msus``, and the
    sum of their scores; ``smallest`` the number of records by the size of their smallest one.
    ``parameters`` are the odds, exponent and powers of DIS-SUDA. ``bins``: records by DIS-SUDA in
    whole percent; ``mean`` and ``highest`` DIS-SUDA are over all records; None if it is undefined.
    """

    uniques: MinimalUniques
    totals: Totals
    fraction: Fraction
    sets: pl.DataFrame
    smallest: Mapping[int, int]
    parameters: Mapping[str, float]
    bins: Mapping[int, int]
    mean: float | None
    highest: float | None

    @classmethod
    def of(cls, uniques: MinimalUniques, totals: Totals, fraction: Fraction) -> "Summary":
        """Read the counts of the search from its tables, and compute scores and DIS-SUDA.

        The engine sums in whole numbers: the powers of scores, by which DIS-SUDA is scaled, in
        units of 2^-80, and DIS-SUDA itself in units of 2^-60.
        """
        sets = uniques.named_sets([q.name for q in uniques.microdata.qids])
        counts = sets.select("size", "msus").iter_rows()
        scores = [msus * uniques.scores[size - 1] for size, msus in counts]
        sets = sets.with_columns(pl.Series("score", scores, pl.Int128))
        smallest = {int(size): int(records) for size, records in uniques.rows("smallest_sizes")}
        parameters = {"exponent": exponent(uniques.n), "odds": odds(totals.paired, fraction)}
        bands: list[Band] = []
        is_defined = parameters["exponent"] > 0  # else a higher score would mean less risk
        if is_defined:
            powers = uniques.sum_of_powers(parameters["exponent"])
            parameters["powers"] = float(Fraction(powers, 2**80))
            bands = uniques.chances(parameters) if smallest else []  # a band per percent
        total = Fraction(sum(int(band.total) for band in bands), 2**60)
        bins = {int(band.percent): int(band.records) for band in bands}
        if is_defined:
            bins[0] = bins.get(0, 0) + totals.individuals - sum(bins.values())  # without a score
        return cls(
            uniques=uniques,
            totals=totals,
            fraction=fraction,
            sets=sets,
            smallest=smallest,
            parameters=parameters,
            bins=bins,
            mean=float(total / totals.individuals) if is_defined else None,
            highest=max((band.highest for band in bands), default=0.0) if is_defined else None,
        )

    def measures(self) -> list[tuple[str, float | None]]:
        """Return the rows of the result: each measure's name and value (None: undefined)."""
        n, totals = self.uniques.n, self.totals
        special = sum(records for size, records in self.smallest.items() if size < n)
        unit = "people" if self.uniques.by_person else "records"
        people = [("people", totals.individuals)] if self.uniques.by_person else []
        return [
            ("records", totals.records),
            *people,
            ("uniques", totals.uniques),
            ("paired", totals.paired),
            (f"{unit}_with_msu", sum(self.smallest.values())),
            ("special_uniques", special),
            ("msus", int(self.sets["msus"].sum())),
            ("dis", intrusion(totals.uniques, totals.paired, self.fraction)),
            ("mean_dis_suda", self.mean),
            ("highest_dis_suda", self.highest),
        ]

    def details(self, *, grouped: bool) -> dict[str, pl.DataFrame]:
        """Return the details by name."""
        names = [q.name for q in self.uniques.microdata.qids]
        of_sizes = self.sets.group_by("size").agg(pl.col("msus").sum(), sets=pl.len()).sort("size")
        by_size = [
            (size, msus, sets, self.smallest.get(size, 0), self.uniques.scores[size - 1])
            for size, msus, sets in of_sizes.iter_rows()
        ]
        names_as_text = pl.col("qids").list.join("\0")  # sorted as the lists are
        ranked = self.sets.sort("score", "size", names_as_text, descending=[True, False, False])
        members = self.sets.select("msus", "score", qid="qids").explode("qid")
        sums = members.group_by("qid").agg(pl.col("msus", "score").sum())
        by_qid = pl.DataFrame({"qid": names}).join(
            sums, on="qid", how="left", maintain_order="left"
        )
        by_set = ranked.select("qids", "size", "msus", "score")
        tables = {
            "by_size": pl.DataFrame(by_size, schema=BY_SIZE, orient="row"),
            "by_set": self._with_shares(by_set.rows(), BY_SET),
            "by_qid": self._with_shares(by_qid.fill_null(0).rows(), BY_QID),
            "by_dis_suda": pl.DataFrame(
                sorted(self.bins.items()), schema=BY_DIS_SUDA, orient="row"
            ),
        }
        if self.uniques.values:
            by_value = [
                (name, *row) for i, name in enumerate(names) for row in self.uniques.value_rows(i)
            ]
            tables["by_value"] = self._with_shares(by_value, BY_VALUE)
        if grouped:
            tables["groups"] = self._with_shares(self.uniques.group_rows(), GROUPS)
        return tables

    def _with_shares(
        self, rows: Sequence[tuple[Any, ...]], schema: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """Return rows whose last value is a sum of scores, as its share of all scores instead.

        The share is NULL if no record has a score.
        """
        total = int(self.sets["score"].sum())
        with_shares = [
            (*counts, float(Fraction(int(score), total)) if total else None)
            for *counts, score in rows
        ]
        return pl.DataFrame(with_shares, schema=schema, orient="row")


def _records_plan(
    bound: BoundAttack, uniques: MinimalUniques, summary: Summary, native: Sequence[str]
) -> Plan:
    """Return the plan of a row per record, in input order: position, key, MSUs, score, DIS-SUDA."""
    key = bound.microdata.key
    is_text = key is not None and family(key.type) not in native  # the file has no such type
    query = splice(
        "suda/scores_of_records",
        tables={"individuals": own_name("individuals")},
        shape={
            "key": key is not None,
            "text": is_text,
            "person": uniques.by_person,
            "undefined": "powers" not in summary.parameters,
        },
    )
    steps = [
        microdata_steps.everybody(replace(bound.microdata, by=None)),
        # Where DIS-SUDA is undefined there are no powers, and the view leaves it out.
        uniques.chance_step({"powers": 1.0, **summary.parameters}),
    ]
    if uniques.by_person:  # this step has the person of each record
        steps += [s for s in microdata_steps.steps(bound.microdata) if s.name == "records"]
    named_query = with_names(query, {} if key is None else {"key": key.name})
    return microdata_steps.plan(bound.microdata, steps, named_query)


def rehearse(
    source: Tabular, settings: Settings | None = None, **options: Unpack[SudaOptions]
) -> None:
    """Check options and names against the data; raise InputError if one does not fit."""
    options = complete(options, SudaOptions)
    _check_options(options)
    with opened(_attack(source, options), settings, noted=False) as (_, bound):
        _size_limit(options["max_size"], len(bound.microdata.qids))


def _attack(source: Tabular, options: SudaOptions) -> Attack:
    """Return the attack of re-identification (CRS) whose records are searched."""
    return Attack.of(
        "crs",
        source,
        qids=options["qids"],
        key=options["key"],
        where=options["where"],
        null="drop" if options["null"] == "drop" else "distinct",
        by=options["by"],
        person=options["person"],
        any_value=options["null"] == MATCH_ANY,
    )


def _check_options(options: SudaOptions) -> Fraction:
    """Refuse options that exclude each other; return the sampling fraction."""
    if options["null"] == MATCH_ANY:
        msu_bounds.check_options(options)
    refused = [name for name in ("omit_missing", "values") if options[name]]
    if options["person"] is not None and refused:
        raise InputError(
            f"{refused[0]} is about the values of one record, and a person may be singled out by "
            f"several of hers; leave {refused[0]} or person out"
        )
    return share(options["fraction"])


def _size_limit(size: int | None, n: int) -> int:
    """Return the largest size to look for; refuse one that is no number of quasi-identifiers."""
    if size is None and n > MOST_QIDS:
        raise InputError(
            f"{n} quasi-identifiers have too many subsets; say how large they may be, as in "
            f"--max-size 2, or name at most {MOST_QIDS}"
        )
    if size is None:
        return n
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError("the largest size is a whole number of quasi-identifiers, at least 1")
    subsets = sum(comb(n, k) for k in range(1, min(size, n) + 1))
    if n > MOST_QIDS and subsets > MOST_SUBSETS:
        raise InputError(too_many(n, subsets, size))
    return min(size, n)


def _remarks(summary: Summary) -> list[str]:
    """Return a note if people with several records are counted, or if there is one record."""
    if summary.uniques.by_person:
        return [
            f"the {plural(summary.totals.records, 'record')} are those of "
            f"{plural(summary.totals.individuals, 'person')}: the adversary knows one record of a "
            "person; who knows all of them singles out these people and perhaps more, which sweep "
            "counts with the same --person"
        ]
    notes = []
    if summary.mean is None:
        notes.append(
            f"DIS-SUDA has no meaning for {summary.uniques.n} quasi-identifiers: from 28 on its "
            "exponent, 1 + (8 - n)/20, is not above 0, and a higher score would mean less risk"
        )
    if summary.totals.records == 1:
        notes.append("there is one record, which every quasi-identifier singles out")
    return notes
