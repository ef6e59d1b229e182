"""A sample counted: blocks by size, weights, and the risk of each record (sql/estimate)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.counting.session import check_records
from qifsql.data.types import scale_of
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError, WeightError, plural, quoted
from qifsql.measures import household_risk
from qifsql.query import microdata_steps
from qifsql.query.columns import key_shape, with_key
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice
from qifsql.query.templates import load

UNIT = 2**60  # parts of one in sums of risks and shares


@dataclass(frozen=True)
class Weights:
    """The weights of the records, in people: their sum, the smallest and the largest."""

    people: Fraction
    smallest: Fraction
    largest: Fraction


@dataclass(frozen=True)
class Counted:
    """Counts of a sample."""

    blocks: dict[int, int]  # by size
    bins: dict[int, int]  # people by their risk in whole percent
    risks: Fraction  # their sum
    unique_risks: Fraction  # the sum of the risks of the uniques
    unique_shares: Fraction  # the sum of the uniques' shares of their blocks in the population
    highest: float  # risk
    complete: int  # blocks that, by their weights, are whole blocks of the population


class _SpreadRow(NamedTuple):
    """A row of the view ``spread``: blocks of a size whose records have a risk in percent."""

    size: int
    risk: int
    blocks: int
    complete: int  # blocks
    risks: int  # their sum, in parts of ``UNIT``, as that of the shares
    shares: int
    highest: float  # risk


class Sampled:
    """The sample in the engine. With a person, ``records`` are people. ``plans`` have run."""

    def __init__(self, engine: Engine, bound: BoundAttack, fraction: Fraction | int | None) -> None:
        """Count the records and add up the weights; InputError for a population too small.

        ``fraction`` is the share of the sample, or the people it was drawn from; None: by weights.
        """
        self.engine = engine
        self.bound = bound
        self.where = bound.microdata.dataset.name
        self.plans: list[Plan] = []
        self.unit = "record" if bound.microdata.person is None else "person"
        self.records = self._count_individuals()
        self.weights = None
        if fraction is None:  # the weights tell it
            self.weights = self._add_weights()
            fraction = Fraction(self.records) / self.weights.people
        elif isinstance(fraction, int):  # the people of the population
            if fraction < self.records:
                raise InputError(
                    f"a population of {plural(fraction, 'person')} is smaller than the sample of "
                    f"{plural(self.records, self.unit)}; give the number of people it was drawn "
                    "from"
                )
            fraction = Fraction(self.records, fraction)
        self.fraction = fraction

    def count(self) -> Counted:
        """Count blocks by their size, and people by their risk, from the view ``spread``.

        ``crowds`` are the blocks of the sample, with the share that each is expected to be of its
        block in the population; ``kinds`` how many have the same size and share; ``chances`` the
        risk of a record in each kind. SQL adds up risks and shares as whole numbers of 1/UNIT.
        """
        steps = [*self._crowds(), self._step("kinds"), self._step("chances")]
        plan = microdata_steps.plan(self.bound.microdata, steps, self._query("spread"))
        rows = [_SpreadRow(*row) for row in self._rows(plan, "counting")]
        uniques = [row for row in rows if row.size == 1]
        blocks: Counter[int] = Counter()
        bins: Counter[int] = Counter()  # people by their risk in percent
        for row in rows:
            blocks[row.size] += row.blocks
            bins[row.risk] += row.size * row.blocks
        return Counted(
            blocks=dict(sorted(blocks.items())),
            bins=dict(sorted(bins.items())),
            risks=Fraction(sum(row.size * int(row.risks) for row in rows), UNIT),
            unique_risks=Fraction(sum(int(row.risks) for row in uniques), UNIT),
            unique_shares=Fraction(sum(int(row.shares) for row in uniques), UNIT),
            highest=max(row.highest for row in rows),
            complete=sum(row.complete for row in rows),
        )

    def households(self) -> dict[str, Any]:
        """Return the risk that some member of a household is re-identified, over all households.

        It is a row of ``HOUSEHOLDS`` but for the name of the dataset. The view ``homes`` has one
        row with two structures: sums over the households, and over people without a household.
        """
        steps = [*self._crowds(), *self._household_steps()]
        steps += [make_step("households"), make_step("unhoused")]
        plan = microdata_steps.plan(self.bound.microdata, steps, self._query("homes"))
        ((in_households, without_household),) = self._rows(plan, "counting households")
        row = household_risk.summary(in_households, without_household)
        return row | {"mean_risk": row["expected_people"] / row["people"]}

    def every_record(self, native: Sequence[str]) -> Plan:
        """Return the plan of the file of records: record, key, block_size, population_block, risk.

        One row per record, in the order of the input. The file keeps ``native`` types of keys.
        """
        microdata = self.bound.microdata
        # By block (``crowds``): its size, its share of the population's block, a record's risk.
        risky = self._step("risky", "chances", kinds="crowds")
        steps = [*self._crowds(), risky, microdata_steps.everybody(microdata)]
        has_households = microdata.household is not None
        shape = {**key_shape(microdata.key, native), "household": has_households}
        query = splice("estimate/record_risks", width=len(microdata.qids), shape=shape)
        steps += self._household_steps() if has_households else []
        return microdata_steps.plan(microdata, steps, with_key(query, microdata.key))

    def _count_individuals(self) -> int:
        """Return the number of individuals in the sample; WeightError if a weight is 0."""
        microdata = self.bound.microdata
        records = check_records(self.engine, microdata)
        if microdata.person is not None:
            query = exp.select("count(*)").from_("microdata")
            steps = microdata_steps.steps(microdata)
            ((people,),) = self._rows(microdata_steps.plan(microdata, steps, query), "counting")
            return int(people)
        if microdata.null != "drop" and microdata.weight is None:
            return records  # no record is left out
        counted = microdata_steps.records_plan(microdata, people=True)
        ((weighted,),) = self._rows(counted, "counting records")
        if microdata.weight is not None:
            unweighted = replace(microdata, weight=None)
            everyone = microdata_steps.records_plan(unweighted, people=True)
            ((records,),) = self._rows(everyone, "counting records")
            if without_weight := int(records) - int(weighted):
                raise WeightError(
                    f"weight {quoted(microdata.weight.name)} of {self.where} is 0 in "
                    f"{plural(without_weight, 'record')}, who would stand for nobody; a sampling "
                    "weight is how many people a record stands for: mend them, or use --where"
                )
        return int(weighted)

    def _add_weights(self) -> Weights:
        """Return the weights in people; WeightError if their sum is below the records or huge."""
        steps = [*microdata_steps.steps(self.bound.microdata), self._unit()]
        plan = microdata_steps.plan(self.bound.microdata, steps, self._query("totals"))
        ((_, *sums, unit),) = self._rows(plan, "adding weights")  # sums of weights, as whole units
        total, smallest, largest = (Fraction(int(n)) / Fraction(unit) for n in sums)
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
        """Return the steps to ``crowds``: the size of each block, and its expected share."""
        crowds = "crowds" if self.weights is None else "weighted_crowds"
        steps = [*microdata_steps.steps(self.bound.microdata), self._unit()]
        return [*steps, self._step("crowds", crowds)]

    def _household_steps(self) -> list[Step]:
        """Return the steps from ``_crowds`` to the risk of each household, through its members."""
        steps = [self._step(name) for name in ("kinds", "chances", "housed")]
        return [*steps, make_step("household_risks")]

    def _unit(self) -> Step:
        """Return the step ``asked``: the sampling fraction, or the unit to make weights whole."""
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
        query = splice(template, width=self.bound.microdata.width, tables=tables)
        return Step(name, template.doc, query)

    def _query(self, name: str) -> exp.Select:
        return splice(f"estimate/{name}", width=self.bound.microdata.width)

    def _rows(self, plan: Plan, what: str) -> list[tuple[Any, ...]]:
        self.plans.append(plan)
        return self.engine.rows(plan, what, self.where)
