"""Scales: the values of each quasi-identifier as places, those of each secret as numbers.

A release is anonymised on whole numbers: places of quasi-identifiers from 0 to 2^30 (see
the view ``anonymise/scale``), and numbers of the secrets' values in their order, missing last. So
widths, medians and distances are exact, and statements of the passes contain no names or values of
the user's data. The dictionary of an attribute has the numbers of its values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary.spec import Attribute, Microdata
from qifsql.counting.trees import Branch, Tree
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.readers import LOADED
from qifsql.data.types import NUMBERS, family
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, plural, quoted
from qifsql.query import microdata_steps
from qifsql.query.columns import same
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice

NOWHERE = 2**31 - 1  # the place of the missing value if no value is missing


@dataclass(frozen=True)
class Spread:
    """The distribution of people over the values of an attribute.

    ``together`` is the sum over the values of the squared number of their people: the smaller it
    is, the better the attribute distinguishes people. ``missing``: some value is missing; it is
    one of the values, the last.
    """

    values: int
    people: int
    most_frequent: int
    together: int
    missing: bool


def make_dictionary(
    engine: Engine, microdata: Microdata, attribute: str, steps: Sequence[Step] | None = None
) -> Spread:
    """Create the table ``dictionary_ATTRIBUTE``; return the spread of people over its values.

    ``attribute`` is ``qid_1``, ``secret_1`` ... A row of the table is a ``value``, with its number
    ``code`` from 0 and its ``people``. ``steps``: those of the microdata, if already made.
    """
    tables = Tables(engine, "encoding", microdata.dataset.name)
    query = splice("sweep/dictionary", columns={"attribute": attribute})
    plan = microdata_steps.plan(microdata, steps or microdata_steps.steps(microdata), query)
    name = f"dictionary_{attribute}"
    tables.make(name, plan, f"encoding {attribute}")
    spread = tables.rows(splice("sweep/spread", tables={"dictionary": own_name(name)}))
    ((values, people, most_frequent, together, missing),) = spread
    return Spread(  # sums are NULL if nobody is there
        values=values,
        people=people or 0,
        most_frequent=most_frequent or 0,
        together=int(together or 0),
        missing=missing,
    )


@dataclass(frozen=True)
class Scale:
    """The scale of one quasi-identifier, in the table ``scale_i``.

    ``values`` is the number of values, missing included; ``missing`` the place of the missing value
    (``NOWHERE`` if no value is missing); ``least`` and ``greatest`` are the ends of the scale.
    With a ``tree`` places are those of the tree, also that of the missing value.
    """

    attribute: Attribute
    values: int
    missing: int
    least: int
    greatest: int
    tree: Tree | None = None

    @property
    def interval(self) -> bool:
        """Return whether a cell is an interval; it is a set if values have no distances."""
        return has_distances(self.attribute.type)

    @property
    def span(self) -> int:
        """Return the length of the scale; 0 if there is one value."""
        return self.greatest - self.least


@dataclass(frozen=True)
class Secret:
    """A secret: its number of values, a sum for the ordered distance, the records that miss it.

    ``before`` is the sum over the values of the number of people with that or a smaller value.
    """

    attribute: Attribute
    values: int
    before: int
    missing: int = 0

    def readings(self, number: int, records: int, totals: str = "whole") -> tuple["Reading", ...]:
        """Return the readings of secret ``number`` (from 1) on which l and t are judged.

        A missing value protects nobody: where some of the ``records`` miss it, limits are judged
        again among those that report it. Secret 1 is distributed as in the table ``totals_1``.
        """
        column, table = f"secrets_{number}", f"{totals}_{number}"
        of_all = Reading(column, table, records, self.values, self.before)
        return (of_all, of_all.among_reported(self.missing)) if self.partly_missing else (of_all,)

    @property
    def partly_missing(self) -> bool:
        """Return whether some records miss the secret and others report it."""
        return self.missing > 0 and self.values > 1


@dataclass(frozen=True)
class Reading:
    """Values that limits are about: a column of ``coded``, and the table of their distribution.

    In the whole release ``people`` have one of the ``values``; ``before`` is that of a secret. In
    classes, too, people count only if their value is ``reported``, or all do.
    """

    column: str
    totals: str
    people: int
    values: int
    before: int
    reported: bool = False

    def among_reported(self, missing: int) -> "Reading":
        """Return the reading without the missing value, the last, of ``missing`` people."""
        return replace(
            self,
            people=self.people - missing,
            values=self.values - 1,
            before=self.before - self.people,  # everybody is up to the last value
            reported=True,
        )


@dataclass(frozen=True)
class Owners:
    """The people whose records are coded, some of whom have several.

    ``person`` is the column of ``coded`` with the number of a person, that of her first record; a
    record without a person is one of its own. ``carried`` counts the columns ``secrets_1 ..``: the
    secrets, the person, and for each secret the numbers of her two multisets of values, all and
    reported ones (NULL: she reports none). Limits hold in all ``readings``.
    """

    people: int
    person: str
    carried: int
    readings: tuple[Reading, ...]


def has_distances(type_: str) -> bool:
    """Return whether values of a type have distances, and so form intervals."""
    kind = family(type_)
    return kind in NUMBERS or kind.startswith("TIMESTAMP") or kind in ("DATE", "TIME")


def scale_table(i: int) -> str:
    """Return the name of the table of a scale."""
    return f"scale_{i}"


def make_scales(
    engine: Engine, microdata: Microdata, hierarchies: Mapping[str, Hierarchy] | None = None
) -> list[Scale]:
    """Return the scales of the quasi-identifiers; create their tables ``scale_1 ..``.

    A row of these is a value: ``value``, ``code``, ``people`` and ``place``, a whole number. With
    ``hierarchies``, by quasi-identifier, also create ``branches``, one row per node with several
    children. Raises ColumnError if a hierarchy lacks a value, or its values have distances.
    """
    scales = []
    hierarchies = hierarchies or {}
    tables = Tables(engine, "measuring", microdata.dataset.name)
    trees = {
        i: _read_tree(qid, hierarchies[qid.name])
        for i, qid in enumerate(microdata.qids, 1)
        if qid.name in hierarchies
    }
    if trees:
        rows = [(i, *branch) for i, tree in trees.items() for branch in tree.branches]
        names = ["attribute", *Branch._fields]
        listed = exp.select("*").from_(exp.values(rows, alias="listed", columns=names))
        tables.make("branches", Plan((), listed))
    for i, qid in enumerate(microdata.qids, 1):
        make_dictionary(engine, microdata, f"qid_{i}")
        table = own_table(f"dictionary_qid_{i}")
        tree = trees.get(i)
        if tree is not None:
            plan = Plan((), _places_of_tree(tables, qid, table, tree))
        else:  # positions, or else the order of the values, scaled to whole numbers
            placed = exp.alias_(position(qid.type), "position")
            positions = exp.select("value", "code", "people", placed).from_(table)
            doc = "One row per value: where it is, as a number."
            plan = Plan((Step("measured", doc, positions),), splice("anonymise/scale"))
        tables.make(scale_table(i), plan, f"measuring qid_{i}")
        tables.drop(f"dictionary_qid_{i}")
        # The number of values, the place of the missing one, and the first and the last place.
        ends = splice("anonymise/ends", tables={"scale": own_name(scale_table(i))})
        ((values, missing, least, greatest),) = tables.rows(ends)
        # in a tree, the missing value is a child of the root like any other
        missing = NOWHERE if missing is None or tree is not None else missing
        scales.append(Scale(qid, values, missing, least, greatest, tree))
    return scales


def _read_tree(qid: Attribute, hierarchy: Hierarchy) -> Tree:
    """Return the tree of a hierarchy; refuse that of a column that is cut at its median."""
    if has_distances(qid.type):
        raise ColumnError(
            f"{quoted(qid.name)} is of type {family(qid.type)} and is cut at medians, not along a "
            "hierarchy; leave its hierarchy out, name it as a text (NAME=COLUMN::VARCHAR), or "
            "anonymise with --method lattice"
        )
    return Tree.of(hierarchy)


def _places_of_tree(tables: Tables, qid: Attribute, dictionary: exp.Table, tree: Tree) -> exp.Query:
    """Return the query of the places of values in a tree; ColumnError if it lacks some."""
    rows = list(tree.places.items())
    listed = exp.values(rows, alias="listed", columns=["text", "place"])
    text = exp.cast(exp.column("value"), "VARCHAR")
    query = exp.select("value", "code", "people", "place::INTEGER AS place").from_(dictionary)
    query = query.join(listed, on=same(text, exp.column("text", "listed")), join_type="left")
    # The values that the tree lacks, and the records that have them.
    lacking = exp.select("count(*)", "coalesce(sum(people), 0)::BIGINT")
    lacking = lacking.from_(query.subquery("placed")).where("place IS NULL")
    ((values, people),) = tables.rows(lacking)
    if values:
        raise ColumnError(
            f"the hierarchy of {quoted(qid.name)} lacks {plural(values, 'value')}, which "
            f"{plural(people, 'record')} have; add a line for each"
        )
    return query


def make_secrets(engine: Engine, microdata: Microdata) -> list[Secret]:
    """Return the secrets; create a table ``whole_1 ..`` for each: how all people are distributed.

    Its row is a value: its ``code``, the ``people`` with it, and those ``upto`` it (running total).
    """
    secrets = []
    tables = Tables(engine, "counting secrets", microdata.dataset.name)
    for j, secret in enumerate(microdata.secrets, 1):
        spread = make_dictionary(engine, microdata, f"secret_{j}")
        table = {"dictionary": own_name(f"dictionary_secret_{j}")}
        tables.make(f"whole_{j}", splice("anonymise/whole", tables=table))
        # The sum of the running totals, and the people with the last value, which is the missing
        # one if there is one.
        sums = exp.select("sum(upto)", "arg_max(people, code)").from_(own_table(f"whole_{j}"))
        ((before, people_of_last),) = tables.rows(sums)
        missing = int(people_of_last) if spread.missing else 0
        secrets.append(Secret(secret, spread.values, before=int(before or 0), missing=missing))
    return secrets


def code_records(engine: Engine, microdata: Microdata, secrets: Sequence[Secret] = ()) -> None:
    """Create the table ``coded``, a row per record: its position, ``place_1 ..``, ``secrets_1 ..``.

    ``secrets_j`` is the code of secret j. If people have several records, further such columns have
    the number of the person and, for each secret, the numbers of her multisets of values: of all
    records, and of those that report the secret.
    """
    plan = coding_plan(microdata, secrets)
    engine.keep("coded", plan, "coding records", microdata.dataset.name, catalog=LOADED)


def coding_plan(
    microdata: Microdata, secrets: Sequence[Secret], places_of: Callable[[int], str] = scale_table
) -> Plan:
    """Return the plan of ``coded`` (``code_records``).

    ``places_of`` names the table with the place of each value of a quasi-identifier.
    """
    person = () if microdata.person is None else (microdata.person,)
    # All that is read of a record, as the columns ``qid_1 ..`` of the step ``everybody``.
    attributes = (*microdata.qids, *microdata.secrets, *person)
    people = replace(microdata, qids=attributes, secrets=(), person=None)
    steps = [microdata_steps.everybody(people)]
    places = range(1, len(microdata.qids) + 1)
    dictionaries = [f"dictionary_secret_{j}" for j, _ in enumerate(microdata.secrets, 1)]
    tables = {f"scale_{i}": own_name(places_of(i)) for i in places}
    tables |= {name: own_name(name) for name in dictionaries}
    counts = {"qids": len(places), "secrets": len(dictionaries), "person": bool(person)}
    named = make_step("anonymise/coded_places", "named", tables=tables, shape=counts)
    query = named.query
    if person:
        missing_codes = {  # a missing value has the last code
            f"missing_{j}": secret.values - 1 if secret.missing else NOWHERE
            for j, secret in enumerate(secrets, 1)
        }
        shape = {"secrets": len(secrets)}
        # Records with their person; with the number of that person; people with the numbers of
        # their multisets of values; and then records with both.
        steps += [
            named,
            make_step("anonymise/owned", places=places, shape=shape, materialized=True),
            make_step("anonymise/multisets", numbers=missing_codes, shape=shape),
        ]
        query = splice("anonymise/with_multisets", shape=shape)
    return microdata_steps.plan(microdata, steps, query)


def count_owners(engine: Engine, name: str, secrets: Sequence[Secret]) -> Owners:
    """Return the people behind the records, and the readings of their secrets, for limits l and t.

    For each reading, a table ``whole_people_n`` is created: how all people are distributed over
    column ``secrets_n`` of ``coded``. First of these columns are the secrets, then the person, then
    two for each secret: the multiset of her values in all her records, and in those that report
    it. ``name``: of the dataset, for messages.
    """
    tables, person = Tables(engine, "counting people", name), len(secrets) + 1
    readings: list[Reading] = []
    for j, secret in enumerate(secrets, 1):
        # The numbers of the columns of her two multisets, which follow that of the person.
        all_values, reported_values = person + 2 * j - 1, person + 2 * j
        single, missing = _reading_of_people(tables, j, person)
        multiset, _ = _reading_of_people(tables, all_values, person)
        readings += [single, multiset]
        if secret.partly_missing:
            reported, _ = _reading_of_people(tables, reported_values, person)
            readings += [single.among_reported(missing), replace(reported, reported=True)]
    counted = exp.Count(this=exp.Distinct(expressions=[exp.column(f"secrets_{person}")]))
    ((people,),) = tables.rows(exp.select(counted).from_(own_table("coded")))
    return Owners(people, f"secrets_{person}", person + 2 * len(secrets), tuple(readings))


def _reading_of_people(tables: Tables, number: int, person: int) -> tuple[Reading, int]:
    """Return the reading of column ``number`` of ``coded``, and the people with its last value.

    Creates the table of its distribution. ``person`` is the number of the column of the person, who
    counts once for each of her values, however many of her records have it.
    """
    column, table = f"secrets_{number}", f"whole_people_{number}"
    counts = make_step(
        "anonymise/counted_people",
        "dictionary",
        columns={"secret": column, "person": f"secrets_{person}"},
        tables={"coded": own_name("coded")},
    )
    tables.make(table, Plan((counts,), splice("anonymise/whole")))
    # ``upto`` is the running total of people
    sums = exp.select("sum(people)", "count(*)", "sum(upto)", "arg_max(people, code)")
    ((people, values, before, last),) = tables.rows(sums.from_(own_table(table)))
    reading = Reading(
        column=column, totals=table, people=int(people), values=values, before=int(before)
    )
    return reading, int(last)


def position(type_: str) -> exp.Expr:
    """Return ``value`` as a number: days or microseconds of times; NULL without distances."""
    kind, value = family(type_), exp.column("value")
    if kind in NUMBERS:
        return exp.cast(value, "DOUBLE")
    if not has_distances(type_):
        return exp.cast(exp.null(), "DOUBLE")
    since: exp.Expr = exp.Anonymous(this="epoch_us", expressions=[value])
    if kind == "DATE":
        day, epoch = exp.Literal.string("day"), exp.Literal.string("1970-01-01")
        began = exp.cast(epoch, "DATE")
        since = exp.Anonymous(this="date_diff", expressions=[day, began, value])
    return exp.cast(since, "DOUBLE")


def own_name(name: str) -> str:
    """Return the full name of an internal table of the engine."""
    return f"{LOADED}.main.{name}"


def own_table(name: str) -> exp.Table:
    """Return an internal table of the engine."""
    return exp.table_(name, db="main", catalog=LOADED)
