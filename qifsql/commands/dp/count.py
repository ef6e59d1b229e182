"""The counts from which loss and utility are computed: a few whole numbers, counted in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from qifsql.commands.dp import bind
from qifsql.commands.dp.bind import Request
from qifsql.counting.session import check_records
from qifsql.data.types import family
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.query import microdata_steps
from qifsql.query.plan import Step
from qifsql.query.splice import splice
from qifsql.query.templates import load

MOST_PLACES = 20_000  # values of the useful attribute between which noise can move
MOST_CELLS = 200_000  # pairs of places and secrets that are held in memory
Cell = tuple[int, int, int]  # place of the useful attribute, pattern of answers, people


@dataclass(frozen=True)
class Extent:
    """The numbers of records and of values; a missing value counts as a value."""

    records: int
    useful_values: int
    secret_values: int
    pairs: int
    missing: int


@dataclass(frozen=True)
class Counts:
    """All counts of the data."""

    extent: Extent
    kinds: tuple[tuple[Cell, ...], ...]  # the cells of values of the secret; equal ones are one
    totals: dict[int, int]  # people by pattern
    # Of the useful attribute, the secret and both: people, and how many values so many people have.
    spectra: dict[str, list[tuple[int, int]]]
    # With noise on records: the people, and the pattern, at each place of the useful attribute.
    people: tuple[int, ...] = ()
    patterns: tuple[int, ...] = ()
    statements: tuple[str, ...] = ()
    # To draw samples: place, pattern, number of the secret, people.
    population: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def likeliest(self) -> int:
        """Return how many people have the most frequent value of the secret."""
        return max(sum(n for _, _, n in kind) for kind in self.kinds)


def count_all(
    engine: Engine, request: Request, *, local: bool, ordered: bool, sampled: bool = False
) -> Counts:
    """Return all counts of the data that loss and utility of noisy counts are computed from.

    If noise is put on records (``local``), people are counted by the value of the useful attribute,
    which predicates are about, as a place in its order; else all have place 0. If ``ordered``, it
    must have an order; ``sampled``: count also to draw samples. InputError if the data do not fit.
    """
    check_records(engine, request.microdata)
    tables = Tables(engine, "counting", request.microdata.dataset.name)
    doc = "One row per individual: the useful attribute, the answers as bits, the secret."
    steps = microdata_steps.steps(request.microdata)
    steps.append(Step("respondents", doc, bind.respondents(request)))
    # People by useful attribute, answers and secret: all other views read this table.
    tables.make("joint", microdata_steps.plan(request.microdata, steps, load("dp/joint").query))
    (extent_row,) = _rows_of_view(tables, "extent")
    extent = Extent(*extent_row)
    totals = dict(_rows_of_view(tables, "totals"))  # people by pattern of answers
    _check_variation(request, extent, totals)
    # How many values of an attribute, or pairs, so many records have: (records, values).
    spectra: dict[str, list[tuple[int, int]]] = {"useful": [], "secret": [], "both": []}
    for part, size, values in sorted(_rows_of_view(tables, "spectra")):
        spectra[part].append((size, values))
    people: tuple[int, ...] = ()
    patterns: tuple[int, ...] = ()
    if local:
        people, patterns = _count_places(tables, request, extent, ordered=ordered)
    source = "placed" if local else "unplaced"
    kinds = _count_kinds(tables, request, source)  # of values of the secret, with equal counts
    population: tuple[tuple[int, int, int, int], ...] = ()
    if sampled:
        query = splice("dp/population", tables={"placed": source})
        population = tuple((w, p, s, n) for w, p, s, n in tables.answer(query))
    return Counts(
        extent=extent,
        kinds=kinds,
        totals=totals,
        spectra=spectra,
        people=people,
        patterns=patterns,
        statements=tuple(tables.statements),
        population=population,
    )


def _rows_of_view(tables: Tables, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of a view of ``sql/dp.sql``."""
    return tables.answer(load(f"dp/{name}").query)


def _make_table(tables: Tables, name: str, **instead: str) -> None:
    """Create the table of a view of ``sql/dp.sql``; ``instead`` replaces tables that it reads."""
    tables.make(name, splice(f"dp/{name}", tables=instead))


def _check_variation(request: Request, extent: Extent, totals: dict[int, int]) -> None:
    """Refuse predicates that hold for all records or none (``totals``), and a constant secret."""
    predicates = len(request.microdata.qids) - 1  # the first is the useful attribute
    for i in range(predicates):
        holds = sum(n for pattern, n in totals.items() if pattern >> i & 1)
        if holds in (0, extent.records):
            which = "the predicate" if predicates == 1 else f"predicate {i + 1}"
            everybody = f"for all {extent.records:,} records" if holds else "for no record"
            raise InputError(
                f"{which} holds {everybody} of {request.microdata.dataset.name}, so its count "
                "reveals nothing; write one that holds for some records"
            )
    if extent.secret_values < 2:
        raise InputError(
            f"secret {quoted(request.microdata.secrets[0].name)} has one value in all records of "
            f"{request.microdata.dataset.name}; there is nothing to infer"
        )


def _count_places(
    tables: Tables, request: Request, extent: Extent, *, ordered: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the people and the answers, as bits, at each place of the useful attribute."""
    useful = request.useful
    if ordered and not request.ordered and extent.useful_values > 2:  # two are neighbours anyway
        raise InputError(
            f"useful attribute {quoted(useful.name)} is of type {family(useful.type)}, which has "
            "no order that means something, and the local mechanism moves values by their order; "
            "give it with --order a,b,c, or use --mechanism oblivious,randomised_response"
        )
    _check_places(useful.name, extent.useful_values)
    # Also values that nobody has get a place: whole numbers in between, or of the user's order.
    if request.integers:
        ((span,),) = _rows_of_view(tables, "span")
        _check_places(useful.name, span or 1)
        _make_table(tables, "whole")
    else:
        tables.make("listed", bind.listed_values(request))
    _make_table(tables, "places", listed="whole" if request.integers else "listed")
    _check_order(tables, request)
    held = _rows_of_view(tables, "held")  # rows: place, people, least and greatest pattern
    patterns = {place: least for place, _, least, _ in held}
    if (query := bind.answer_patterns(request)) is not None:  # also where there are no records
        patterns = dict(tables.answer(query))
    _check_patterns(request, held, patterns)
    return tuple(n for _, n, _, _ in held), tuple(patterns[place] for place, *_ in held)


def _check_places(name: str, places: int) -> None:
    """Refuse a useful attribute of too many ``places``, which has this name."""
    if places > MOST_PLACES:
        raise InputError(
            f"useful attribute {quoted(name)} has {places:,} values to move between, and at most "
            f"{MOST_PLACES:,} are supported; round it, as in NAME=x//10"
        )


def _count_kinds(tables: Tables, request: Request, source: str) -> tuple[tuple[Cell, ...], ...]:
    """Return, for each value of the secret, its people by place and pattern of answers (cells).

    Values with equal cells are one kind, and come once. ``source`` is the view with the people:
    ``placed`` by the useful attribute, or ``unplaced``. Its table and ``kinds`` are created.
    """
    _make_table(tables, source)
    _make_table(tables, "kinds", placed=source)
    ((n,),) = _rows_of_view(tables, "cells")
    if n > MOST_CELLS:
        raise InputError(
            f"{quoted(request.useful.name)} and {quoted(request.microdata.secrets[0].name)} occur "
            f"together in {n:,} ways, and at most {MOST_CELLS:,} are supported; round one of them, "
            "as in NAME=x//10"
        )
    query = exp.select("cells").from_("kinds").order_by("cells")
    return tuple(tuple((w, p, n) for w, p, n in cells) for (cells,) in tables.answer(query))


def _check_order(tables: Tables, request: Request) -> None:
    """Refuse an order of the user that leaves values of the useful attribute out."""
    if not request.order:
        return
    unlisted = exp.select("count(*)").from_("places")
    unlisted = unlisted.where('"position" IS NULL AND NOT useful IS NULL')
    ((n,),) = tables.answer(unlisted)
    if n:
        raise InputError(
            f"the order lists {plural(len(request.order), 'value')}, and useful attribute "
            f"{quoted(request.useful.name)} has {plural(n, 'value')} more; list all of them"
        )


def _check_patterns(
    request: Request,
    held: Sequence[tuple[int, int, int | None, int | None]],
    patterns: dict[int, Any],
) -> None:
    """Refuse predicates that the useful attribute does not decide.

    ``held`` are rows of place, people, least and greatest pattern; ``patterns`` are by place.
    """
    varied = sum(least != greatest for _, _, least, greatest in held)
    if varied:
        raise InputError(
            f"of {plural(varied, 'value')} of {quoted(request.useful.name)} the predicate holds "
            "for some records and not for others, but the local mechanism knows the useful "
            "attribute alone; make all that the predicate reads one attribute, as in "
            "NAME=EXPRESSION, or use --mechanism oblivious"
        )
    if any(pattern is None for pattern in patterns.values()):
        raise InputError(
            f"the predicate names other columns than {quoted(request.useful.name)}, so whether it "
            "holds for values that do not occur is not known; leave these out of the order"
        )
