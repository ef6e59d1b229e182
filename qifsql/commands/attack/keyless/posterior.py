"""The posterior of an adversary who links releases without a person key.

Source: M60 and M61. For every record x of the focal release, all possible observations of its
person in the releases are computed with their probabilities, for groups of records at once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp

from qifsql.commands.attack.keyless.chain import PAIRS_OF_SLICE, UNIT, Chain
from qifsql.data.readers import LOADED
from qifsql.errors import TargetError
from qifsql.measures.bayes import Success
from qifsql.query.columns import equal, union
from qifsql.query.plan import Plan, Step
from qifsql.query.templates import load


@dataclass(frozen=True)
class Outcome:
    """A success at guessing, and the observations that lead to it.

    ``blocks`` is the number of possible observations, ``revealing`` that of those which leave no
    doubt; ``matches`` is how many people may be the target.
    """

    success: Success
    blocks: int
    revealing: int
    matches: int = 0


class Sums(NamedTuple):
    """The row of the view ``success`` about a slice of the observations.

    Chances (``total``, of ``best`` guesses, of ``certain`` ones) are in parts of ``UNIT``; without
    observations they are None.
    """

    observations: int
    total: int
    best: int
    certain: int
    revealing: int
    worst_case: float
    possible: int


class Outcomes:
    """The success of guesses from a chain of releases, in slices of people that fit into memory.

    A crowd is a table of the people of the focal release by what is seen of them there, and by what
    is guessed. Crowd 0 is for re-identification, 1, 2, ... for each secret. Behind them are two for
    each secret that some records miss: its people who report it, whose number is in ``reporting``
    by that of the secret, and everybody, those who report it twice
    (``Chain.make_reported_crowds``). ``target`` has the number of a target's observation in each
    release; None: of everybody.
    """

    def __init__(self, chain: Chain, target: Sequence[int] | None = None) -> None:
        """Assign numbers to the crowds; make those of secrets that some records miss."""
        self.chain = chain
        self.target = target
        secrets = len(chain.releases[0].secrets)
        missed = [] if target else chain.missed_secrets()
        self.reporting = {j: secrets + 1 + 2 * k for k, j in enumerate(missed)}
        for j, crowd in self.reporting.items():
            chain.make_reported_crowds(j, crowd)
        self.crowds = range(secrets + 1 + 2 * len(self.reporting))
        self.crowd_prefix = ""  # of the tables; "open_" when settled people are out of them

    def alone(self) -> list[Outcome]:
        """Return the outcome of each crowd from the focal release alone.

        ``endings`` has, for each kind of record of the focal release (``source``), what may be seen
        of it in later releases, with its chance (``mass``, in parts of ``UNIT``). Here nothing is
        seen later: one row per kind, with the whole chance.
        """
        unit = exp.cast(exp.Literal.number(UNIT), "HUGEINT")
        columns = ("kind AS source", "0 AS seen", "0 AS sight", exp.alias_(unit, "mass"))
        self.chain.tables.make("endings", exp.select(*columns).from_("kinds_1"))
        counted = [self._success_sums(crowd, slices=1, i=0) for crowd in self.crowds]
        self.chain.tables.drop("endings")
        return [self._outcome([row]) for row in counted]

    def linked(self) -> list[Outcome]:
        """Return the outcome of each crowd from linked releases.

        Pairs of a person and what may be seen of them later are made slice by slice, to fit into
        memory. A target has few, so one slice. Of two releases, people whose best guess a later
        observation cannot change (``_sum_settled``) are counted without pairs.
        """
        # For each crowd: rows of the view ``success``, to add up.
        counted: list[list[tuple[int, ...]]] = [[] for _ in self.crowds]
        pairs = 0
        if self.target is None:
            pairs = max(self.chain.estimates.values())
            if self.chain.last == 2:  # settled people need no pairs
                counted, pairs = self._sum_settled()
        slices = max(1, math.ceil(pairs / PAIRS_OF_SLICE))
        for i in range(slices):
            self._make_endings(slices, i)
            for j in self.crowds:
                counted[j].append(self._success_sums(j, slices, i))
            if i + 1 < slices or self.target is None:  # ``best_guess`` needs those of a target
                self.chain.tables.drop("endings")
        return [self._outcome(rows) for rows in counted]

    def _sum_settled(self) -> tuple[list[list[tuple[int, ...]]], int]:
        """Count the people whose best guess no later release can change; leave them out of crowds.

        Return their sums, rows of the view ``success`` in a list for each crowd, and how many pairs
        of kinds of records remain to be compared for the others, who are in the tables ``open_*``
        from here on (``crowd_prefix``). People are settled if their observation in the focal
        release is of one kind of record, and the number of possible later observations is known.
        Each of these is then equally likely for all of them, so that the best guess stays.
        """
        chain, names = self.chain, {"kinds": "kinds_1", "spots": "spots_2", "totals": "totals_1_2"}
        countable = chain.step("countable", **names)
        chain.tables.make("settled", Plan((countable,), chain.query("settled")))
        rows: list[list[tuple[int, ...]]] = []
        for j in self.crowds:
            blocks = "settled_secrets" if j else "settled_blocks"
            tables = {"secret_crowd": f"secret_crowd_{j}"} if j else {}
            query = chain.query("settled_success", settled_blocks=blocks)
            plan = Plan((chain.step(blocks, **tables),), query)
            rows.append(chain.tables.answer(plan, "measuring"))
            table = f"secret_crowd_{j}" if j else "crowd"
            chain.tables.make(f"open_{table}", chain.query("open_crowd", crowd=table))
        query = chain.query("open_pairs", totals="totals_1_2")
        ((pairs,),) = chain.tables.answer(query, "counting candidates")
        self.crowd_prefix = "open_"
        return rows, int(pairs)

    def best_guess(self, secret: int) -> str | None:
        """Return the target's likeliest secret as text (None: missing), the least of equal ones."""
        steps = (self._crowd_step(secret, 1, 0), self.chain.step("shares"))
        least = exp.Ordered(this=exp.column("secret"), nulls_first=False)
        query = exp.select(exp.cast(exp.column("secret"), "VARCHAR")).from_("shares")
        query = query.order_by(exp.column("mass").desc(), least).limit(1)
        ((guess,),) = self.chain.tables.rows(Plan(steps, query), "guessing")
        return None if guess is None else str(guess)

    def _make_endings(self, slices: int, i: int) -> None:
        """Create ``endings``: what may be observed later of people in slice i of ``slices``.

        Release after release, a state is a kind of record of the focal release (``source``), what
        was seen of it since (``seen``), the kind of the last record of it (``kind``), and the
        chance of all this (``mass``). ``endings`` adds up the chances by source and by all that is
        seen at the end. Of a target, only what was really observed is kept.
        """
        chain = self.chain
        crowd = self._crowd_step(0, slices, i)
        kinds = exp.select("kind").distinct().from_("crowd").subquery("own")
        first = exp.select("kind AS source", "0 AS seen", "kind", "unit AS mass")
        first = first.from_(kinds).join("asked", join_type="cross")
        chain.tables.make("states_1", Plan((crowd,), first))
        for later in range(2, chain.last + 1):
            pairs = [(earlier, later) for earlier in range(1, later)]
            states, is_last = f"states_{later - 1}", later == chain.last
            totals = [exp.select("*").from_(exp.table_(f"totals_{a}_{b}")) for a, b in pairs]
            ways = chain.query("ways", states=states)  # to candidates in the release, or nobody
            if self.target is not None:
                seen = equal(exp.column("sight"), exp.Literal.number(self.target[later - 1]))
                ways = ways.where(seen)
            steps = (
                *chain.weighed(pairs, states),
                Step("totals", "One row per kind of record with candidates.", union(totals)),
                Step("ways", "One row per kind of record and what may become of it.", ways),
                chain.step("departures" if is_last else "arrivals", "arrivals", states=states),
                chain.step("chances"),
            )
            query = chain.query("endings" if is_last else "stages")
            chain.tables.make("endings" if is_last else f"states_{later}", Plan(steps, query))
            chain.tables.drop(states)

    def _crowd_step(self, crowd: int, slices: int, i: int) -> Step:
        """Return the step of a crowd: people of the focal release, with what is seen of them.

        It has slice i of ``slices`` or, with a target, those who are observed as she is. ``crowd``
        is its number (see the class).
        """
        name = "secret_crowd" if crowd else "crowd"
        table = self.crowd_prefix + (f"{name}_{crowd}" if crowd else name)
        sight: exp.Expr = exp.column("first_sight")  # number of the observation in release 1
        query = exp.select("*").from_(exp.table_(table, db="main", catalog=LOADED))
        if self.target is not None:
            query = query.where(equal(sight, exp.Literal.number(self.target[0])))
        elif slices > 1:
            sight = exp.Mod(this=sight, expression=exp.Literal.number(slices))
            query = query.where(equal(sight, exp.Literal.number(i)))
        return Step(name, load(f"keyless/{name}").doc, query)

    def _success_sums(self, crowd: int, slices: int, i: int) -> tuple[int, ...]:
        """Return the row of the view ``success`` (``Sums``) about slice ``i`` of a crowd.

        It reads the table ``endings``, of what may be seen of these people later.
        """
        chain = self.chain
        observations = "secret_observations" if crowd else "observations"
        shares = (chain.step("shares"),) if crowd else ()
        steps = (self._crowd_step(crowd, slices, i), *shares, chain.step(observations))
        query = chain.query("success", observations=observations)
        (row,) = chain.tables.answer(Plan(steps, query), "measuring")
        return row

    def _outcome(self, rows: Sequence[tuple[int, ...]]) -> Outcome:
        """Return the outcome of rows of the view ``success``; refuse a target nobody may be."""
        parts = [part for part in (Sums(*row) for row in rows) if part.observations]
        if not parts:
            raise TargetError(
                f"nobody of {self.chain.tables.where} can be observed as the target, so there is "
                "nothing to infer; check the values, or ask for fewer quasi-identifiers"
            )
        total, sure = sum(int(p.total) for p in parts), sum(int(p.certain) for p in parts)
        # Weights are whole numbers of UNITths of a person, rounded down: a person may lack some.
        people = Fraction(sure, UNIT) + Fraction(1, 2**30)
        right = Fraction(sum(int(p.best) for p in parts), total)
        worst = max(float(p.worst_case) for p in parts)
        return Outcome(
            success=Success(Fraction(sure, total), right, worst, int(people)),
            blocks=sum(p.observations for p in parts),
            revealing=sum(p.revealing for p in parts),
            matches=sum(p.possible for p in parts),
        )
