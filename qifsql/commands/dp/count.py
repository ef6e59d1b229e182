"""The counts that noise is weighed by: from the records to a few whole numbers, in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from qifsql.commands.dp import bind
from qifsql.commands.dp.bind import Request
from qifsql.counting.session import check_records
from qifsql.data.relation import LOADED
from qifsql.data.types import family
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError, quoted, several
from qifsql.query import render
from qifsql.query.microdata import microdata, plan
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice
from qifsql.query.templates import load

PLACES = 20_000  # values of the useful attribute that noise can move between
CELLS = 200_000  # counts of places and secrets together that are held in memory
Cell = tuple[int, int, int]  # place of the useful attribute, pattern of answers, people


@dataclass(frozen=True)
class Extent:
    """How much there is of everything; a missing value is one."""

    records: int
    useful_values: int
    secret_values: int
    pairs: int
    missing: int


@dataclass(frozen=True)
class Counts:
    """All that is known of the data.

    ``kinds`` are the values of the secret that differ in their counts: the cells of each.
    ``totals`` are the people by pattern. ``spectra`` say of the useful attribute, the secret and
    both how many values have how many people. With noise on the records, ``people`` and
    ``patterns`` are those of each place of the useful attribute, in its order.
    """

    extent: Extent
    kinds: tuple[tuple[Cell, ...], ...]
    totals: dict[int, int]
    spectra: dict[str, list[tuple[int, int]]]
    people: tuple[int, ...] = ()
    patterns: tuple[int, ...] = ()
    statements: tuple[str, ...] = ()

    @property
    def likeliest(self) -> int:
        """How many people have the most frequent value of the secret."""
        return max(sum(n for _, _, n in kind) for kind in self.kinds)


class _Counter:
    """Asks an engine one question after the other, and keeps what was sent."""

    def __init__(self, engine: Engine, request: Request) -> None:
        self.engine, self.request = engine, request
        self.name = request.attack.dataset.name
        self.statements: list[str] = []

    def keep(self, table: str, plan: Plan) -> None:
        """Keep the rows of a plan as a table of the engine's own."""
        self.engine.keep(table, plan, "counting", self.name, catalog=LOADED)
        self.statements += [*plan.setup, render.keeping(plan, table, LOADED)]

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """The rows of a query over tables that are kept."""
        self.statements.append(render.render(query))
        return self.engine.rows(Plan((), query), "counting", self.name)

    def ask(self, name: str) -> list[tuple[Any, ...]]:
        """The rows of a file of ``sql/dp``."""
        return self.rows(load(f"dp/{name}").query)

    def make(self, name: str, **names: str) -> None:
        """Keep what a file of ``sql/dp`` makes; ``names`` of what it reads instead."""
        query = splice(f"dp/{name}", tables=names)
        self.keep(name, Plan((), query))


def count(engine: Engine, request: Request, *, local: bool, ordered: bool) -> Counts:
    """All counts. ``local``: by place of the useful attribute, which must be ``ordered``.

    Raises InputError where the data are no base for the question.
    """
    check_records(engine, request.attack)
    counter = _Counter(engine, request)
    doc = "One row per individual: the useful attribute, the answers as bits, the secret."
    steps = [*microdata(request.attack), Step("respondents", doc, bind.respondents(request))]
    counter.keep("joint", plan(request.attack, steps, load("dp/joint").query))
    extent = Extent(*counter.ask("extent")[0])
    totals = dict(counter.ask("totals"))
    _check(request, extent, totals)
    spectra: dict[str, list[tuple[int, int]]] = {"useful": [], "secret": [], "both": []}
    for part, people, values in sorted(counter.ask("spectra")):
        spectra[part].append((people, values))
    people, patterns = _places(counter, extent, ordered=ordered) if local else ((), ())
    source = "placed" if local else "unplaced"
    counter.make(source)
    counter.make("kinds", placed=source)
    if (cells := counter.ask("cells")[0][0]) > CELLS:
        raise InputError(
            f"{quoted(request.useful.name)} and {quoted(request.attack.secrets[0].name)} occur "
            f"together in {cells:,} ways, and at most {CELLS:,} can be weighed; round one of them, "
            "as in NAME=x//10"
        )
    query = exp.select("cells").from_("kinds").order_by("cells")
    kinds = tuple(tuple((w, p, n) for w, p, n in cells) for (cells,) in counter.rows(query))
    return Counts(extent, kinds, totals, spectra, people, patterns, tuple(counter.statements))


def _check(request: Request, extent: Extent, totals: dict[int, int]) -> None:
    """Refuse predicates whose count says nothing, and a secret that is none."""
    predicates = len(request.attack.qids) - 1
    for i in range(predicates):
        holds = sum(n for pattern, n in totals.items() if pattern >> i & 1)
        if holds in (0, extent.records):
            which = "the predicate" if predicates == 1 else f"predicate {i + 1}"
            everybody = f"for all {extent.records:,} records" if holds else "for no record"
            raise InputError(
                f"{which} holds {everybody} of {request.attack.dataset.name}, so its count says "
                "nothing; write one that holds for some"
            )
    if extent.secret_values < 2:
        raise InputError(
            f"secret {quoted(request.attack.secrets[0].name)} has one value in all records of "
            f"{request.attack.dataset.name}; there is nothing to infer"
        )


def _places(
    counter: _Counter, extent: Extent, *, ordered: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The people and the pattern at each place of the useful attribute, in its order."""
    request = counter.request
    useful = request.useful
    if ordered and not request.ordered and extent.useful_values > 2:
        raise InputError(
            f"useful attribute {quoted(useful.name)} is of type {family(useful.type)}, which has "
            "no order that means something, and the local mechanism moves values by their order; "
            "give it with --order a,b,c, or use --mechanism oblivious,randomised_response"
        )
    _check_places(useful.name, extent.useful_values)
    if request.whole:
        _check_places(useful.name, counter.ask("span")[0][0] or 1)
        counter.make("whole")
    else:
        counter.keep("listed", Plan((), bind.listed(request)))
    counter.make("places", listed="whole" if request.whole else "listed")
    _check_order(counter)
    held = counter.ask("held")
    patterns = {place: least for place, _, least, _ in held}
    if (query := bind.answers(request)) is not None:
        patterns = dict(counter.rows(query))
    _check_patterns(request, held, patterns)
    return tuple(n for _, n, _, _ in held), tuple(patterns[place] for place, *_ in held)


def _check_places(name: str, places: int) -> None:
    if places > PLACES:
        raise InputError(
            f"useful attribute {quoted(name)} has {places:,} values to move between, and at most "
            f"{PLACES:,} can be weighed; round it, as in NAME=x//10"
        )


def _check_order(counter: _Counter) -> None:
    """Refuse an order that leaves values out."""
    request = counter.request
    if not request.order:
        return
    left = exp.and_(
        exp.column("position").is_(exp.null()), exp.not_(exp.column("useful").is_(exp.null()))
    )
    ((n,),) = counter.rows(exp.select(exp.Count(this=exp.Star())).from_("places").where(left))
    if n:
        raise InputError(
            f"the order lists {several(len(request.order), 'value')}, and useful attribute "
            f"{quoted(request.useful.name)} has {several(n, 'value')} more; list all of them"
        )


def _check_patterns(
    request: Request,
    held: Sequence[tuple[int, int, int | None, int | None]],
    patterns: dict[int, Any],
) -> None:
    """Refuse predicates that the useful attribute does not decide."""
    varied = sum(least != greatest for _, _, least, greatest in held)
    if varied:
        raise InputError(
            f"of {several(varied, 'value')} of {quoted(request.useful.name)} the predicate holds "
            "for some records and not for others, but the local mechanism knows the useful "
            "attribute alone; make all that the predicate reads one attribute, as in "
            "NAME=EXPRESSION, or use --mechanism oblivious"
        )
    if any(pattern is None for pattern in patterns.values()):
        raise InputError(
            f"the predicate names other columns than {quoted(request.useful.name)}, so whether it "
            "holds for values that do not occur is not known; leave these out of the order"
        )
