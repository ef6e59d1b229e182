"""Releases as tables in the engine: kinds of records, and the likelihood of their transitions.

Records with the same values in all linking columns are one kind; only kinds are compared, never
records. Likelihoods are computed in double precision, in a fixed order, and rounded at once to
whole numbers. Every sum is of whole numbers, so results depend neither on threads nor on order.
With n records and k drifting columns, the relative error of a probability is below (4 + 3k) 2^-53,
plus an absolute error of at most n 2^-100.
"""

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from qifsql.adversary.transitions import Rule
from qifsql.commands.attack.keyless.bind import Release
from qifsql.data.readers import openings
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, quoted
from qifsql.query.columns import double, union
from qifsql.query.plan import Plan, Step
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice

UNIT = 2**80  # parts of one record of the focal release
SUM_BITS = 125  # most bits of a sum of weights
MOST_KINDS = 10**12  # of a release: the numbers of release i begin at i times this
MOST_PAIRS = 1_000_000_000  # of kinds that are compared
PAIRS_OF_SLICE = 12_000_000  # pairs of kinds of records that are compared at a time
LIKELIHOODS = "One row per kind of record and candidates alike in a later release: the likelihood."


class Chain:
    """The releases in order, with the rules of transitions between them."""

    def __init__(self, engine: Engine, releases: Sequence[Release]) -> None:
        """Store the records of the releases as tables of numbers; ``link`` links them."""
        self.releases = releases
        self.tables = Tables(engine, "linking", releases[0].dataset.name)
        self.last = len(releases)  # the number of the last release, from 1
        self.width = len(releases[0].drift)  # columns whose values may change
        # All pairs of an earlier and a later release, by their numbers.
        self.pairs = [(i, j) for j in range(2, self.last + 1) for i in range(1, j)]
        self.matched = False  # True once the weights are those of one-to-one links
        self.records = [self._store_records(r) for r in releases]  # how many there are
        self._number_kinds()

    def link(self, rules: Sequence[Rule], presence: Fraction) -> None:
        """Create the tables ``totals_i_j`` of all links from release i to j, by the rules.

        A row is a kind of record of release i: the weight of its candidates in release j together,
        the largest one, and how many there are. ``presence`` is the chance that a person is in the
        next release.
        """
        self.rules = [rule for rule in rules if rule.drifts]  # in the order of their columns
        self.presence = presence
        scale = 2.0 ** (SUM_BITS - max(self.records).bit_length())
        numbers = {"presence": float(presence), "absence": float(1 - presence), "scale": scale}
        columns = [exp.alias_(double(n), name) for name, n in numbers.items()]
        columns.append(exp.alias_(exp.cast(exp.Literal.number(UNIT), "HUGEINT"), "unit"))
        self.tables.make("asked", exp.select(*columns))  # one row of constants for the views
        self.estimates = {j: self._count_pairs(j - 1, j) for j in range(2, self.last + 1)}
        for earlier, later in self.pairs:
            steps = self.weighed([(earlier, later)])
            self.tables.make(f"totals_{earlier}_{later}", Plan(steps, self.query("totals")))

    def _store_records(self, release: Release) -> int:
        """Create ``given_i``, the records, and ``sights_i``, their observations; count records."""
        i = release.number
        plan = Plan((), release.step.query, tuple(openings(release.dataset)))
        self.tables.make(f"given_{i}", plan)
        counted = exp.select("count(*)").from_(exp.table_(f"given_{i}"))
        ((records,),) = self.tables.answer(counted, "counting records")
        if not records:
            after = " under the filter (where)" if release.where is not None else ""
            raise InputError(f"{release.dataset.name} has no records{after}; nobody can be linked")
        self.tables.make(f"sights_{i}", self.query("sights", given=f"given_{i}"))
        return int(records)

    def _number_kinds(self) -> None:
        """Assign numbers to the tuples of exactly matching values, then to the kinds of records.

        Of the focal release, ``crowd`` counts the records by observation and kind,
        ``secret_crowd_j`` also by secret j.
        """
        numbers = range(1, self.last + 1)
        queries = [exp.select("exact").from_(exp.table_(f"given_{i}")) for i in numbers]
        doc = "One row per record of any release: what must match exactly."
        plan = Plan((Step("matched", doc, union(queries)),), self.query("exacts"))
        self.tables.make("exacts", plan)
        for i in numbers:
            self._number_kinds_of(i)
        names = {"people": "people_1", "kinds": "kinds_1"}
        self.tables.make("placed", self.query("placed", **names))
        self.tables.make("crowd", self.query("crowd"))
        for j in range(1, len(self.releases[0].secrets) + 1):
            crowd = splice("keyless/secret_crowd", width=self.width, secret=j)
            self.tables.make(f"secret_crowd_{j}", crowd)

    def _number_kinds_of(self, i: int) -> None:
        """Create the tables of the kinds of records of release i, in place of ``given_i``.

        Records that agree in all columns of the link rules are of one kind. ``people_i`` has a row
        per record, ``kinds_i`` a row per kind with its number and shares of its values, and
        ``spots_i`` a row per kind and observation: candidates that are alike.
        """
        names = {name: f"{name}_{i}" for name in ("given", "sights", "people", "kinds")}
        self.tables.make(f"people_{i}", self.query("people", **names))
        self.tables.drop(f"given_{i}")
        beginning = exp.alias_(exp.Literal.number(i * MOST_KINDS), "beginning")
        numbering = Step("numbering", "One row: where numbers begin.", exp.select(beginning))
        kinds = self.step("kinds", people=names["people"])
        shares = splice("keyless/kinds_with_shares", shape={"drift": range(1, self.width + 1)})
        self.tables.make(f"kinds_{i}", Plan((numbering, kinds), shares))
        self.tables.make(f"spots_{i}", self.query("spots", **names))

    def missed_secrets(self) -> list[int]:
        """Return the numbers of the secrets that some, not all, records of release 1 miss."""
        counts = {j: self.count_reported(j) for j in range(1, len(self.releases[0].secrets) + 1)}
        return [j for j, reported in counts.items() if 0 < reported < self.records[0]]

    def count_reported(self, j: int) -> int:
        """Return how many records of the focal release report secret j."""
        reports = "coalesce(sum(records) FILTER (WHERE secret IS NOT NULL), 0)"
        ((records,),) = self.tables.rows(exp.select(reports).from_(exp.table_(f"secret_crowd_{j}")))
        return int(records)

    def make_reported_crowds(self, j: int, first: int) -> None:
        """Create two crowds: number ``first`` of the records that report secret j, the next of all.

        In the latter a record that reports it has two rows, of two different values, so that nobody
        is certain but of a missing secret.
        """
        for n, view in enumerate(("reported_crowd", "doubled_crowd"), first):
            query = self.query(view, secret_crowd=f"secret_crowd_{j}")
            self.tables.make(f"secret_crowd_{n}", query)

    def _count_pairs(self, earlier: int, later: int) -> int:
        """Return how many pairs of kinds of records agree on the columns that match exactly.

        These are compared between the two releases; too many are refused. With a table of
        transitions no number is refused, as only the pairs of its lines are compared.
        """
        names = {"kinds": f"kinds_{earlier}", "spots": f"spots_{later}"}
        ((pairs,),) = self.tables.answer(self.query("explosion", **names), "counting candidates")
        has_tables = any(rule.kind == "table" for rule in self.rules)
        if pairs > MOST_PAIRS and not has_tables:
            raise InputError(
                f"{int(pairs):,} kinds of candidates would be compared from "
                f"{self.releases[earlier - 1].dataset.name} to "
                f"{self.releases[later - 1].dataset.name}, more than {MOST_PAIRS:,}; "
                f"{self._advise_exact_column(earlier, later)}"
            )
        return int(pairs)

    def _advise_exact_column(self, earlier: int, later: int) -> str:
        """Return a hint with the column whose exact match would leave the fewest candidates."""
        options = []
        for k, column in enumerate(self.releases[0].drift, 1):
            query = splice(
                "keyless/explosion_without_drift",
                columns={"own": f"qid_{k}"},
                tables={"kinds": f"kinds_{earlier}", "spots": f"spots_{later}"},
            )
            ((pairs,),) = self.tables.answer(query, "counting candidates")
            options.append((int(pairs), column.name))
        hint = "add a column that matches exactly to the link rules"
        if options:
            fewest, name = min(options)
            hint += f", or let {quoted(name)} match exactly, which leaves {fewest:,}"
        return hint

    def weighed(self, pairs: Sequence[tuple[int, int]], sources: str = "") -> tuple[Step, ...]:
        """Return the steps to ``weighed``: kinds with their candidates in a later release, weighed.

        ``pairs`` are numbers of releases, ``sources`` the table of the kinds to include, by default
        all.
        """
        if not self.matched:
            query = union([self._likely_pairs(i, j, sources) for i, j in pairs])
            return (Step("linked", LIKELIHOODS, query), self.step("weighed"))
        tables = {"sources": sources} if sources else {}
        of_pairs = ({"offers": f"offers_{i}_{j}", "spots": f"spots_{j}"} for i, j in pairs)
        queries = [
            splice("keyless/matched", tables=tables | names, shape={"some": bool(sources)})
            for names in of_pairs
        ]
        return (Step("weighed", "One row per kind of record and candidates.", union(queries)),)

    def compared(self, earlier: int, later: int) -> Step:
        """Return the step of pairs of kinds of records that may be of one person.

        It has the likelihood of the later values if they are of the same person, and if they are of
        a new one (``background``).
        """
        return Step("linked", LIKELIHOODS, self._likely_pairs(earlier, later, kinds=True))

    def _likely_pairs(
        self, earlier: int, later: int, sources: str = "", *, kinds: bool = False
    ) -> exp.Select:
        """Return the query of pairs of kinds that agree in the columns that match exactly.

        A row has a kind of the table ``sources`` (by default, any) of the earlier release, what
        records of the later one look like (a spot; ``kinds``: a kind), and how likely this is.
        """
        tables = {"mine": f"kinds_{earlier}"}
        tables["theirs"] = f"kinds_{later}" if kinds else f"spots_{later}"
        if sources:
            tables["sources"] = sources
        steps = later - earlier
        chances: dict[str, exp.Expr] = {}
        for k, rule in enumerate(self.rules, 1):
            if rule.stay is None:  # a table of the moves in so many steps
                tables[f"moves_{k}"] = f"moves_{k}_{steps}"
            else:
                stay = rule.stay**steps  # otherwise the value was drawn again
                chances |= {f"stay_{k}": double(float(stay))}
                chances |= {f"redraw_{k}": double(float(1 - stay))}
        shape: dict[str, Shape] = {
            "columns": range(1, self.width + 1),
            "tables": [k for k, rule in enumerate(self.rules, 1) if rule.stay is None],
            "some": bool(sources),
            "kinds": kinds,
        }
        return splice("keyless/linked", tables=tables, rows={"rules": chances}, shape=shape)

    def query(self, name: str, **names: str) -> exp.Select:
        """Return the query of a template, with tables renamed."""
        return splice(f"keyless/{name}", width=self.width, tables=names)

    def step(self, view: str, name: str = "", **names: str) -> Step:
        """Return a template as a step of its own or another name, with tables renamed."""
        return make_step(f"keyless/{view}", name, width=self.width, tables=names)
