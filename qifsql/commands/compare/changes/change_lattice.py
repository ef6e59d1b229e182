"""States of quasi-identifiers: every form after changes, computed once, as whole numbers.

The data are read once. Changes are applied only to the different values of a column, and each
record keeps the number of its value in every state. A changed release is then a selection of
columns of one table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from qifsql.adversary.spec import Attribute, BoundAttack
from qifsql.counting import suppressed
from qifsql.counting.composition import NOTHING
from qifsql.counting.losses import Scale, units_query
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE, filled
from qifsql.data.readers import select_records
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError
from qifsql.measures import utility
from qifsql.query import microdata_steps
from qifsql.query.columns import equal
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice

LOT_DIGITS = 13  # hexadecimal digits of a lot: 52 bits


@dataclass(frozen=True)
class Variant:
    """A changed release: the state of each quasi-identifier (None: dropped), and a sample rate."""

    states: tuple[int | None, ...]
    rate: Fraction | None = None


class States:
    """The table of all states of one file, and the attacks on it."""

    def __init__(
        self,
        tables: Tables,
        attack: BoundAttack,
        scales: Sequence[Scale],
        forms: Sequence[Sequence[Attribute]],
        *,
        seed: int | None = None,
    ) -> None:
        """Create ``codes_j`` of each quasi-identifier j and ``released``; a ``seed`` draws lots.

        ``forms`` are the states of each quasi-identifier, as expressions over the column ``value``;
        the first one has the original values. ``scales`` measure the loss of each.
        """
        self.tables = tables
        self.attack = attack
        self.scales = scales
        self._penalties: dict[tuple[int, int], Fraction] = {}  # by quasi-identifier and state
        for j, states in enumerate(forms, 1):
            self._code(j, states)
        self.released = self._release([len(states) for states in forms], seed)

    def _code(self, j: int, states: Sequence[Attribute]) -> None:
        """Create ``codes_j``: a row per value of quasi-identifier j, as it is in each state.

        A state changes values, as 34 to the form 30-39. ``state_i`` is the rank of the form in
        state i; equal forms have equal ranks. ``hidden_i``: that form is suppressed. The values
        are read from ``places_j``.
        """
        value, people = exp.column("value", SOURCE), exp.column("people", SOURCE)
        place = equal(exp.column("place", SOURCE), exp.column("place", "positions"))
        formed = exp.select(value, people, "positions.position")
        formed = formed.from_(exp.table_(f"places_{j}", alias=SOURCE))
        formed = formed.join(exp.table_(f"positions_{j}", alias="positions"), on=place)
        coded = exp.select("value", "people", "position")
        for i, form in enumerate(states):
            name = f"form_{i}"
            formed = formed.select(exp.alias_(microdata_steps.normal(form), name))
            hidden = suppressed.of_cell(self.attack.microdata, form, exp.column(name))
            coded = coded.select(_rank(name).as_(f"state_{i}"))
            coded = coded.select(exp.alias_(hidden or exp.false(), f"hidden_{i}"))
        self.tables.make(f"codes_{j}", coded.from_(formed.subquery("formed")))

    def _release(self, widths: Sequence[int], seed: int | None) -> Dataset:
        """Create ``released``: one row per record, with its values' numbers in every state.

        ``state_j_i`` is the number of quasi-identifier j in its state i, of ``widths[j - 1]``
        states, missing if it is suppressed; ``secret_j`` is that of a secret, missing if the
        secret is.
        """
        microdata, person = self.attack.microdata, self.attack.microdata.person
        attributes = {f"qid_{j}": a for j, a in enumerate(microdata.qids, 1)}
        attributes |= {f"secret_{j}": a for j, a in enumerate(microdata.secrets, 1)}
        attributes |= {} if person is None else {"person": person}
        columns = [exp.alias_(microdata_steps.normal(a), name) for name, a in attributes.items()]
        records = select_records(microdata.dataset, columns, microdata.where)
        original = Step("original", "One row per record: its values.", records)
        secrets = range(1, len(microdata.secrets) + 1)
        for j in secrets:
            codes = splice("compare/secret_codes", secret=j)
            self.tables.make(f"secret_codes_{j}", Plan((original,), codes))
        shape = {"states": widths, "secrets": secrets, "person": person is not None}
        coded = make_step("compare/coded_states", shape=shape)
        plan = Plan((original,), coded.query)
        if seed is not None:
            numbered = {"qids": range(1, len(widths) + 1), "secrets": secrets}
            lots = splice("compare/lots", numbers={"wanted_seed": seed}, shape=numbered)
            plan = Plan((original, coded), lots)
        self.tables.make("released", plan)
        statement = self.tables.statements[-1]
        paths, name = microdata.dataset.paths, microdata.dataset.name
        return Dataset(name, "duckdb", paths, table="released", schema="main", statement=statement)

    def variant(self, variant: Variant) -> BoundAttack:
        """Return the attack on the changed release: on the columns of these states of ``released``.

        Refuses a sample without records.
        """
        original = self.attack.microdata
        chosen = enumerate(zip(original.qids, variant.states, strict=True), 1)
        qids = [
            Attribute(qid.name, _read_column(f"state_{j}_{state}"), "INTEGER")
            for j, (qid, state) in chosen
            if state is not None
        ]
        secrets = [
            Attribute(s.name, _read_column(f"secret_{j}"), "INTEGER")
            for j, s in enumerate(original.secrets, 1)
        ]
        person = original.person
        if person is not None:
            person = replace(person, expression=_read_column("person"))
        where = None
        if variant.rate is not None and variant.rate < 1:
            where = _is_drawn(variant.rate)
            if not self._count([where]):
                raise DatasetError(
                    f"the sample keeps no record of {self.released.name}; ask for a larger share"
                )
        is_hidden = [qid.expression.copy().is_(exp.null()) for qid in qids]
        drawn = [] if where is None else [where]
        return self.attack.on(
            replace(
                original,
                dataset=self.released,
                qids=tuple(qids) or (NOTHING,),  # without any column everybody is in one block
                secrets=tuple(secrets),
                where=where,
                zoned=False,
                person=person,
                suppressed=self._count([*is_hidden, *drawn]) if qids else 0,
            )
        )

    def _count(self, conditions: Sequence[exp.Expr]) -> int:
        """Return how many records of ``released`` all conditions hold of."""
        rows = exp.to_table("released", alias=SOURCE)
        query = exp.select("count(*)").from_(rows).where(*(tree.copy() for tree in conditions))
        ((records,),) = self.tables.rows(query)
        return int(records)

    def penalty(self, variant: Variant) -> float:
        """Return the mean certainty penalty of the quasi-identifiers (``utility.penalty``)."""
        penalties = [self._penalty(j, state) for j, state in enumerate(variant.states, 1)]
        return float(sum(penalties, Fraction(0)) / len(penalties))

    def _penalty(self, j: int, state: int | None) -> Fraction:
        """Return the certainty penalty of quasi-identifier j in a state, in [0, 1]; None: dropped.

        It is the mean over records of the share of all values, or of the length of the scale, that
        the record's merged value covers. It is computed once.
        """
        if state is None:
            return Fraction(1)
        if (j, state) not in self._penalties:
            scale = self.scales[j - 1]
            states = exp.select(exp.column(f"state_{state}").as_("state"), "people", "position")
            self.tables.make("states", states.from_(exp.table_(f"codes_{j}")))
            self.tables.make("units", units_query(scale, 1))
            self.tables.make("contained", splice("compare/merged"))
            # Over all records: how many values, or units of the scale, their merged values cover.
            ((records, _, _, _, listed, spanned),) = self.tables.rows(splice("compare/lost"))
            self.tables.drop("states", "units", "contained")
            covered, length = listed, scale.values
            if scale.by_distance:
                covered, length = spanned, scale.length
            penalty = utility.penalty(int(covered), length, suppressed=0, records=records)
            self._penalties[j, state] = penalty
        return self._penalties[j, state]

    def nested(self, j: int, finer: int, coarser: int) -> bool:
        """Return whether values equal in state ``finer`` are equal in state ``coarser``, too."""
        columns = {"finer": f"state_{finer}", "coarser": f"state_{coarser}"}
        splits = splice("compare/splits", columns=columns, tables={"steps": f"codes_{j}"})
        # How many finer values lie in several coarser ones.
        ((split,),) = self.tables.rows(splits)
        return not split


def _read_column(name: str) -> exp.Column:
    return exp.column(name, table=SOURCE)


def _is_drawn(rate: Fraction) -> exp.Expr:
    """Return the condition that a record is in a sample: its lot is below that share of all lots.

    A lot is a hexadecimal number of equally many digits, so that its text is compared.
    """
    bound = f"{rate.numerator * 16**LOT_DIGITS // rate.denominator:0{LOT_DIGITS}x}"
    words = {"lot": _read_column("lot"), "bound": exp.Literal.string(bound)}
    return filled("left(lot, digits) < bound", words | {"digits": exp.Literal.number(LOT_DIGITS)})


def _rank(name: str) -> exp.Expr:
    """Return the rank of a value among those of a column; a missing value is the last."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(name), desc=False)])
    return exp.cast(exp.Window(this=exp.DenseRank(), order=order), "INTEGER")
