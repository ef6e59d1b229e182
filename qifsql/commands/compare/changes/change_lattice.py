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
from qifsql.data.expressions import SOURCE
from qifsql.data.readers import select_records
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError
from qifsql.measures import utility
from qifsql.query import microdata_steps
from qifsql.query.columns import equal, same
from qifsql.query.splice import splice

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
        named = {f"form_{i}": a for i, a in enumerate(states)}
        forms = [exp.alias_(microdata_steps.normal(a), name) for name, a in named.items()]
        value, people = exp.column("value", SOURCE), exp.column("people", SOURCE)
        place = equal(exp.column("place", SOURCE), exp.column("place", "positions"))
        inner = exp.select(value, people, "positions.position", *forms)
        inner = inner.from_(exp.table_(f"places_{j}", alias=SOURCE))
        inner = inner.join(exp.table_(f"positions_{j}", alias="positions"), on=place)
        ranks = [exp.alias_(_rank(f"form_{i}"), f"state_{i}") for i in range(len(states))]
        microdata = self.attack.microdata
        for i, (name, form) in enumerate(named.items()):
            hidden = suppressed.of_cell(microdata, form, exp.column(name)) or exp.false()
            ranks.append(exp.alias_(hidden, f"hidden_{i}"))
        coded = exp.select("value", "people", "position", *ranks).from_(inner.subquery("formed"))
        self.tables.make(f"codes_{j}", coded)

    def _release(self, widths: Sequence[int], seed: int | None) -> Dataset:
        """Create ``released``: one row per record, with its values' numbers in every state.

        ``state_j_i`` is the number of quasi-identifier j in its state i, of ``widths[j - 1]``
        states, missing if it is suppressed; ``secret_j`` is that of a secret, missing if the
        secret is.
        """
        microdata, person = self.attack.microdata, self.attack.microdata.person
        named = [(f"qid_{j}", a) for j, a in enumerate(microdata.qids, 1)]
        named += [(f"secret_{j}", a) for j, a in enumerate(microdata.secrets, 1)]
        named += [] if person is None else [("person", person)]
        columns = [exp.alias_(microdata_steps.normal(a), name) for name, a in named]
        rows = select_records(microdata.dataset, columns, microdata.where).subquery("rows")
        query = exp.select().from_(rows)
        if person is not None:
            query = query.select(exp.column("person", "rows"))
        for j, width in enumerate(widths, 1):
            codes = f"codes_{j}"
            is_value = same(exp.column(f"qid_{j}", "rows"), exp.column("value", codes))
            query = query.join(exp.table_(codes), on=is_value)
            for i in range(width):
                is_hidden = exp.column(f"hidden_{i}", codes)
                rank = exp.column(f"state_{i}", codes)
                shown_rank = exp.Case().when(is_hidden, exp.null()).else_(rank)
                query = query.select(exp.alias_(shown_rank, f"state_{j}_{i}"))
        for j, _ in enumerate(microdata.secrets, 1):
            codes, name = self._code_secret(j, rows), f"secret_{j}"
            is_value = same(exp.column(name, "rows"), exp.column("value", codes))
            column = exp.column("code", codes).as_(name)
            query = query.join(exp.table_(codes), on=is_value).select(column)
        if seed is not None:
            query = self._with_lots(query, len(widths), seed)
        self.tables.make("released", query)
        statement = self.tables.statements[-1]
        paths, name = microdata.dataset.paths, microdata.dataset.name
        return Dataset(name, "duckdb", paths, table="released", schema="main", statement=statement)

    def _code_secret(self, j: int, rows: exp.Subquery) -> str:
        """Create ``secrets_j``: a row per value of a secret, with its rank; return its name."""
        codes, secret = f"secrets_{j}", exp.column(f"secret_{j}")
        values = exp.select(secret).distinct().from_(rows.copy()).subquery("different")
        code = exp.Case().when(secret.is_(exp.null()), exp.null()).else_(_rank(f"secret_{j}"))
        ranked = exp.select(secret.as_("value"), exp.alias_(code, "code"))
        self.tables.make(codes, ranked.from_(values))
        return codes

    def _with_lots(self, query: exp.Select, width: int, seed: int) -> exp.Select:
        """Return SQL for the records of ``query``, each with a ``lot``: digits of a digest.

        A lot depends on the values of a record and the seed alone, so that a sample does not depend
        on the order of records. Makes the table ``alike``: the records with both, as texts.
        """
        names = [f"state_{j}_0" for j in range(1, width + 1)]
        names += [f"secret_{j}" for j, _ in enumerate(self.attack.microdata.secrets, 1)]
        parts: list[exp.Expr] = []  # the values of a record as one text: alike records share it
        for name in names:
            parts += [exp.cast(exp.column(name), "VARCHAR"), exp.Literal.string(",")]
        text = exp.alias_(exp.Anonymous(this="concat", expressions=parts), "own")
        seeded = exp.alias_(exp.Literal.string(str(seed)), "seed")
        alike = exp.select("*", text, seeded).from_(query.subquery("coded"))
        self.tables.make("alike", alike)
        return splice("compare/lots")

    def variant(self, variant: Variant) -> BoundAttack:
        """Return the attack on the changed release: on the columns of these states of ``released``.

        Of a sample, the records are those with the lowest lots (hexadecimal numbers, drawn once per
        person or record). Refuses a sample without records.
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
        where: exp.Expr | None = None
        if variant.rate is not None and variant.rate < 1:  # keep lots below that share of all lots
            bound = format(
                variant.rate.numerator * 16**LOT_DIGITS // variant.rate.denominator,
                f"0{LOT_DIGITS}x",
            )
            first = [_read_column("lot"), exp.Literal.number(LOT_DIGITS)]
            drawn = exp.Anonymous(this="left", expressions=first)
            where = exp.LT(this=drawn, expression=exp.Literal.string(bound))
            rows = exp.alias_(exp.to_table("released"), SOURCE, table=True)
            query = exp.select("1").from_(rows).where(where.copy()).limit(1)
            if not self.tables.rows(query):
                raise DatasetError(
                    f"the sample keeps no record of {self.released.name}; ask for a larger share"
                )
        columns = tuple(qids) or (NOTHING,)  # without any column everybody is in one block
        microdata = replace(original, dataset=self.released, qids=columns, secrets=tuple(secrets))
        microdata = replace(microdata, where=where, zoned=False, person=person)
        return self.attack.on(replace(microdata, suppressed=self._suppressed(qids, where)))

    def _suppressed(self, qids: Sequence[Attribute], where: exp.Expr | None) -> int:
        """Return how many records of a changed release have only suppressed cells."""
        if not qids:
            return 0
        rows = exp.alias_(exp.to_table("released"), SOURCE, table=True)
        query = exp.select("count(*)").from_(rows)
        query = query.where(*(qid.expression.copy().is_(exp.null()) for qid in qids))
        ((records,),) = self.tables.rows(query if where is None else query.where(where.copy()))
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
            covered, in_all = listed, scale.values
            if scale.by_distance:
                covered, in_all = spanned, scale.length
            penalty = utility.penalty(int(covered), in_all, suppressed=0, records=records)
            self._penalties[j, state] = penalty
        return self._penalties[j, state]

    def nested(self, j: int, finer: int, coarser: int) -> bool:
        """Return whether values equal in state ``finer`` are equal in state ``coarser``, too."""
        pair = (("finer", finer), ("coarser", coarser))
        steps = exp.select(*(exp.column(f"state_{i}").as_(name) for name, i in pair))
        self.tables.make("steps", steps.from_(exp.table_(f"codes_{j}")))
        # How many finer values lie in several coarser ones.
        ((split,),) = self.tables.rows(splice("compare/splits"))
        self.tables.drop("steps")
        return not split


def _read_column(name: str) -> exp.Column:
    return exp.column(name, table=SOURCE)


def _rank(name: str) -> exp.Expr:
    """Return the rank of a value among those of a column; a missing value is the last."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(name), desc=False)])
    return exp.cast(exp.Window(this=exp.DenseRank(), order=order), "INTEGER")
