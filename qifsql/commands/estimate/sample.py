"""A sample counted: blocks by size, weights, and the risk of each record (sql/estimate)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.counting.session import check_records
from qifsql.data.types import scale_of
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError, WeightError, plural, quoted
from qifsql.query import microdata_steps
from qifsql.query.columns import as_native, named, same_block
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice
from qifsql.query.templates import load

UNIT = 2**60  # parts of one in sums of risks and shares


@dataclass(frozen=True)
class Share:
    """The sample's share of the population: a fraction, a number of people, or weights."""

    fraction: Fraction | None = None
    population: int | None = None

    def of(self, records: int) -> Fraction:
        """Return the fraction; InputError if the population is smaller than the sample."""
        if self.fraction is not None:
            return self.fraction
        people = self.population or 0
        if people < records:
            raise InputError(
                f"a population of {plural(people, 'person')} is smaller than the sample of "
                f"{plural(records, 'record')}; give the number of people it was drawn from"
            )
        return Fraction(records, people)


@dataclass(frozen=True)
class Weights:
    """The weights of the records, in people: their sum, the smallest and the largest."""

    people: Fraction
    smallest: Fraction
    largest: Fraction


@dataclass(frozen=True)
class Counted:
    """Counts of a sample.

    ``blocks`` are blocks by size, ``bins`` people by their risk in whole percent. ``risks`` is the
    sum of the risks of all, ``alone`` that of the uniques; ``shares`` is the sum of the uniques'
    shares of their blocks in the population. ``complete`` is the number of blocks that, by their
    weights, are whole blocks of the population.
    """

    blocks: dict[int, int]
    bins: dict[int, int]
    risks: Fraction
    alone: Fraction
    shares: Fraction
    highest: float
    complete: int


class Sampled:
    """The sample in the engine. ``plans`` are the plans that ran."""

    def __init__(self, engine: Engine, bound: BoundAttack, share: Share) -> None:
        self.engine = engine
        self.bound = bound
        self.where = bound.microdata.dataset.name
        self.plans: list[Plan] = []
        self.records = self._records()
        self.weights = self._weights() if bound.microdata.weight is not None else None
        if self.weights is not None:
            self.fraction = Fraction(self.records) / self.weights.people
        else:
            self.fraction = share.of(self.records)

    def count(self) -> Counted:
        """Count blocks by size, and people by risk."""
        steps = [*self._crowds(), self._step("kinds"), self._step("chances")]
        rows = self._rows(
            microdata_steps.plan(self.bound.microdata, steps, self._query("spread")), "counting"
        )
        blocks: Counter[int] = Counter()
        bins: Counter[int] = Counter()
        for size, risk, n, *_ in rows:
            blocks[size] += n
            bins[risk] += size * n
        return Counted(
            dict(sorted(blocks.items())),
            dict(sorted(bins.items())),
            Fraction(sum(size * int(risks) for size, _, _, _, risks, _, _ in rows), UNIT),
            Fraction(sum(int(risks) for size, _, _, _, risks, *_ in rows if size == 1), UNIT),
            Fraction(sum(int(shares) for size, *_, shares, _ in rows if size == 1), UNIT),
            max(highest for *_, highest in rows),
            sum(complete for _, _, _, complete, *_ in rows),
        )

    def every_record(self, native: Sequence[str]) -> Plan:
        """Return every record with its block size and risk, in the order of the input."""
        attack = self.bound
        risky = self._step("risky", "chances", kinds="crowds")
        steps = [*self._crowds(), risky, microdata_steps.everybody(attack.microdata)]
        columns: list[tuple[exp.Expr, str]] = [(exp.column("record", "everybody"), "record")]
        if attack.microdata.key is not None:
            key = as_native(exp.column("key", "everybody"), attack.microdata.key, native)
            columns.append((key, attack.microdata.key.name))
        size = exp.column("size", "risky")
        people = exp.Div(this=size.copy(), expression=exp.column("share", "risky"))
        columns += [(size, "block_size"), (people, "population_block")]
        columns += [(exp.column("risk", "risky"), "risk")]
        query = exp.select(*named(columns)).from_("everybody")
        query = query.join("risky", on=same_block("everybody", "risky", len(attack.microdata.qids)))
        return microdata_steps.plan(
            attack.microdata, steps, query.order_by(exp.column("record", "everybody"))
        )

    def _records(self) -> int:
        """Return the number of people in the sample; WeightError if a weight is 0."""
        there = check_records(self.engine, self.bound.microdata)
        if self.bound.microdata.null != "drop" and self.bound.microdata.weight is None:
            return there
        counted = microdata_steps.records_plan(self.bound.microdata, people=True)
        ((records,),) = self._rows(counted, "counting records")
        if self.bound.microdata.weight is not None:
            everyone = microdata_steps.records_plan(
                replace(self.bound.microdata, weight=None), people=True
            )
            ((there,),) = self._rows(everyone, "counting records")
            if nobody := int(there) - int(records):
                raise WeightError(
                    f"weight {quoted(self.bound.microdata.weight.name)} of {self.where} is 0 in "
                    f"{plural(nobody, 'record')}, who would stand for nobody; a sampling weight "
                    "is how many people a record stands for: mend them, or use --where"
                )
        return int(records)

    def _weights(self) -> Weights:
        """Return the weights in people; WeightError if their sum is below the records or huge."""
        steps = [*microdata_steps.steps(self.bound.microdata), self._unit()]
        plan = microdata_steps.plan(self.bound.microdata, steps, self._query("totals"))
        ((_, *numbers, unit),) = self._rows(plan, "adding weights")
        total, smallest, largest = (Fraction(int(n)) / Fraction(unit) for n in numbers)
        weight = self.bound.microdata.weight.name if self.bound.microdata.weight else ""
        if total >= 2**63:
            raise WeightError(
                f"weights {quoted(weight)} of {self.where} add up to more people than can be "
                "counted; check the column"
            )
        if total < self.records:
            raise WeightError(
                f"weights {quoted(weight)} of {self.where} add up to less than its "
                f"{plural(self.records, 'record')}; a sampling weight is how many people a record "
                "stands for, at least 1 on average: is it scaled? write it as NAME=EXPRESSION"
            )
        return Weights(total, smallest, largest)

    def _crowds(self) -> list[Step]:
        crowds = "crowds" if self.weights is None else "weighted_crowds"
        steps = [*microdata_steps.steps(self.bound.microdata), self._unit()]
        return [*steps, self._step("crowds", crowds)]

    def _unit(self) -> Step:
        """Return the step with one row: the fraction, or the unit that divides all weights."""
        weight = self.bound.microdata.weight
        if weight is None:
            number: exp.Expr = exp.cast(exp.Literal.number(repr(float(self.fraction))), "DOUBLE")
        elif weight.floating:
            number = exp.select("scale").from_("weight_scale").subquery()
        else:
            number = exp.cast(exp.Literal.number(10 ** scale_of(weight.type)), "DOUBLE")
        column = exp.alias_(number, "fraction" if weight is None else "unit")
        return Step("asked", "One row: what weights or people are counted in.", exp.select(column))

    def _step(self, name: str, view: str = "", **tables: str) -> Step:
        template = load(f"estimate/{view or name}")
        query = splice(template, width=len(self.bound.microdata.qids), tables=tables)
        return Step(name, template.doc, query)

    def _query(self, name: str) -> exp.Select:
        return splice(f"estimate/{name}", width=len(self.bound.microdata.qids))

    def _rows(self, plan: Plan, what: str) -> list[tuple[int, ...]]:
        self.plans.append(plan)
        return self.engine.rows(plan, what, self.where)
