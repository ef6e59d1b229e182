"""The people of an attack with noisy knowledge, and their values, as tables of numbers."""

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack, Microdata
from qifsql.commands.attack.noisy.bind import BITS, NoisyQid, with_scales
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.measures.bayes import Success
from qifsql.query import microdata_steps
from qifsql.query.plan import Plan
from qifsql.query.splice import Numbers, splice

MOST_FREQUENCIES = 50  # different frequencies of values, for weights that are whole numbers


class Coded:
    """The people of an attack as numbers: tables ``coded`` and ``dictionary_i``.

    ``people`` is the weight of everybody, ``attacked`` that of those who are attacked, ``records``
    how many records they have. The table ``coded`` has a row per combination of quasi-identifiers:
    ``exact``, the number of what is known exactly; ``place_i``, the number of the value of each
    quasi-identifier that is not; how many records it has, and their weights. The tables ``law_i``
    of what may be known of values are made by ``law_tables``, which adds ``notes``.
    """

    def __init__(self, engine: Engine, bound: BoundAttack, noisy: Sequence[NoisyQid]) -> None:
        """Make the tables ``coded`` and ``dictionary_i``, for the columns ``noisy``.

        These are quasi-identifiers that are not known exactly, and secrets that were randomised;
        secret j has the number ``width`` + j. Scales of their laws are chosen by the data.
        """
        self.bound = bound
        self.tables = Tables(engine, "measuring noisy knowledge", bound.microdata.dataset.name)
        self.width = len(bound.microdata.qids)
        # Numbers from 1 of qids that are not known exactly.
        self.places = [q.number for q in noisy if q.number <= self.width]
        self.tables.make("combinations", self._plan_of_people("combinations"))
        self.values = {q.number: self._make_dictionary(q) for q in noisy}  # how many there are
        self._make_coded()
        ((total, records),) = self.tables.rows(_sums().from_("combinations"))
        self.people, self.records = int(total), int(records)
        self.attacked = self.people
        whole_scales = {q.number: self._whole_scale(q) for q in noisy if q.mistaken}
        scaled = with_scales(noisy, self.people, whole_scales)
        self.noisy = tuple(q for q in scaled if q.number <= self.width)
        self.randomised = {q.number - self.width: q for q in scaled if q.number > self.width}
        self.notes: list[str] = []

    def scale(self, secret: int) -> int:
        """Return the weight of all that may be known of those who are attacked, for a secret."""
        laws = (*self.noisy, *([self.randomised[secret]] if secret in self.randomised else []))
        return self.attacked * math.prod(q.scale for q in laws)

    def prior(self, secret: int, released: Success) -> Success:
        """Return the success at a secret of the best guess before the release.

        ``released`` is that by the frequencies of the released values. If a matrix has randomised
        these, the shares of the true values count, from which the matrix made them.
        """
        if secret not in self.randomised:
            return released
        law = self.randomised[secret]
        tables = {name: f"{name}_{law.number}" for name in ("dictionary", "law")}
        # One row: weight of the most frequent true value, of all, and how many values are possible.
        query = self.query("true_secrets", law, tables=tables)
        ((best, total, possible),) = self.tables.answer(query)
        guessed, certain = Fraction(int(best), int(total)), possible == 1
        return Success(Fraction(certain), guessed, float(guessed), certain * self.records)

    def attack_on(self, microdata: Microdata) -> "Coded":
        """Return the same tables and laws, for an attack on other individuals of these data."""
        part = copy(self)
        part.bound = self.bound.on(microdata)
        part.tables = replace(self.tables, statements=[])  # the manifest has those of everybody
        plan = part._plan_of_people("combinations")
        ((total, records),) = self.tables.rows(
            replace(plan, result=_sums().from_(plan.result.subquery("combinations")))
        )
        part.attacked, part.records = int(total), int(records)
        return part

    def query(
        self,
        name: str,
        qid: NoisyQid | None = None,
        *,
        places: Sequence[int] | None = None,
        numbers: Numbers | None = None,
        tables: Mapping[str, str] | None = None,
    ) -> exp.Select:
        """Return the query of a view of ``sql/noisy.sql``, with its columns, numbers and tables.

        In the view, ``own`` is the column of ``qid``, and ``place`` stands for ``places``: numbers
        of quasi-identifiers, by default of all others that are not known exactly.
        """
        number_of_qid = qid.number if qid else 0
        if places is None:
            places = [i for i in self.places if i != number_of_qid]
        values: dict[str, int | Sequence[int]] = {"everybody": self.people}
        if qid is not None:
            values["whole_weight"] = qid.scale
            values["number_of_values"] = self.values.get(number_of_qid, 0)
        values |= numbers or {}
        view = f"noisy/{name}"
        query = splice(view, width=self.width, places=places, numbers=values, tables=tables)
        return _renamed(query, {"own": f"place_{number_of_qid}"})

    def query_values(self, qid: NoisyQid, name: str, numbers: Numbers | None = None) -> exp.Select:
        """Return the query of a view about the values of one column, which reads its dictionary."""
        tables = {"dictionary": f"dictionary_{qid.number}"}
        return self.query(name, qid, numbers=numbers, tables=tables)

    def make_states(self, j: int) -> None:
        """Create the table ``state_0``: a row per combination and value of secret ``j``.

        ``secret`` is the number of the value, ``mass`` the weight of its people, ``ways`` how many
        combinations of known values the row stands for: 1, as nothing is replaced yet. A secret
        that was randomised has all possible true values. Of re-identification (0) a row is a
        combination.
        """
        if not j:
            self.tables.make("state_0", self.query("people", places=self.places))
            return
        law = self.randomised.get(j)
        self._make_secret_cells(j)
        self.tables.make("secret_numbers", self.query("secret_numbers"))
        states = self.query("secret_states", places=self.places)
        self.tables.make("released_0" if law else "state_0", states)
        self.tables.drop("secret_cells", "secret_numbers")
        if law:
            tables = {"state": "released_0", "law": f"law_{law.number}"}
            self.tables.make("state_0", self.query("restored_secrets", law, tables=tables))
            self.tables.drop("released_0")

    def _make_secret_cells(self, j: int) -> None:
        """Create the table ``secret_cells``: a row per combination and value of secret ``j``."""
        self.tables.make("secret_cells", self._plan_of_people("secret_combinations", secret=j))

    def _plan_of_people(self, view: str, secret: int | None = None) -> Plan:
        """Return the plan of a view of ``sql/noisy.sql`` that reads the microdata, maybe weighted.

        The views are ``combinations`` and ``secret_combinations``.
        """
        microdata = self.bound.microdata
        weighted = "" if microdata.weight is None else "weighted_"
        query = splice(f"noisy/{weighted}{view}", width=self.width, secret=secret)
        return microdata_steps.plan(microdata, microdata_steps.steps(microdata), query)

    def _make_dictionary(self, qid: NoisyQid) -> int:
        """Create the numbers of the values of a column with a law; return how many there are."""
        name, secret = f"dictionary_{qid.number}", qid.number - self.width
        if secret <= 0:
            query = _renamed(splice("noisy/dictionary"), {"own": f"qid_{qid.number}"})
            self.tables.make(name, query)
            return self.tables.count(name)
        self._make_secret_cells(secret)
        query = splice("noisy/dictionary", tables={"combinations": "secret_cells"})
        self.tables.make(name, _renamed(query, {"own": "value"}))
        self.tables.drop("secret_cells")
        return self.tables.count(name)

    def _make_coded(self) -> None:
        """Create ``coded``: combinations of qids, with numbers in place of values.

        ``exact`` numbers the values that are known exactly, all together; ``place_i`` numbers the
        value of each quasi-identifier i that is not (``places``).
        """
        exact = [i for i in range(1, self.width + 1) if i not in self.places]
        if exact:
            self.tables.make("exacts", splice("noisy/exacts", shape={"qids": exact}))
        shape = {"qids": exact, "places": self.places}
        self.tables.make("coded", splice("noisy/coded", shape=shape))
        if exact:
            self.tables.drop("exacts")

    def _whole_scale(self, qid: NoisyQid) -> int | None:
        """Return the scale that makes the weights of mistaken values whole; None if it is large.

        A value y is known in place of x with (1 - right) frequency(y) / (people - frequency(x)).
        """
        table = exp.table_(f"dictionary_{qid.number}")
        query = exp.select("frequency").distinct().from_(table).limit(MOST_FREQUENCIES + 1)
        rows = self.tables.rows(query)
        complements = [self.people - int(f) for (f,) in rows if int(f) != self.people]
        if len(rows) > MOST_FREQUENCIES:
            return None
        scale = qid.law.number.denominator * math.lcm(*complements)
        return scale if scale.bit_length() <= BITS else None


def _sums() -> exp.Select:
    return exp.select("sum(weight)::HUGEINT", "sum(people)::HUGEINT")


def _renamed(query: exp.Select, names: Mapping[str, str]) -> exp.Select:
    """Return the query with names of columns replaced wherever they occur."""
    for node in query.find_all(exp.Identifier):
        if node.name in names:
            node.set("this", names[node.name])
    return query
