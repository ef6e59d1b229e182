"""One run of ``levels``: the counts, the levels, the remarks and the rows of the result."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Attack, BoundAttack, Microdata
from qifsql.commands.levels import attacks, find, secret_blocks, worst_blocks
from qifsql.commands.levels.spec import BOUNDS, MEASURES, Suppressed, check_possible
from qifsql.commands.levels.steps import Steps, Tables
from qifsql.counting import missing_secrets
from qifsql.counting import suppressed as suppressed_records
from qifsql.counting.counts import Counts
from qifsql.counting.session import population_plan
from qifsql.data.dataset import Dataset
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.types import NUMBERS, family
from qifsql.engine.csv_types import remarks
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, InputError, plural, quoted
from qifsql.measures.syntactic import Level
from qifsql.query import microdata_steps
from qifsql.query.columns import typed_number
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps as AttackSteps

COUNTED = pl.List(pl.Struct({"value": pl.String(), "records": pl.Int64()}))
TEXT, COUNT, NUMBER, FLAG = pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()
SCHEMA: dict[str, pl.DataType] = {
    **{"measure": TEXT, "secret": TEXT, "value": NUMBER, "wanted": NUMBER, "met": FLAG},
    **{"people_in_violation": COUNT, "blocks_in_violation": COUNT, "people_at_worst": COUNT},
    **{"blocks_at_worst": COUNT, "worst_size": COUNT, "worst_values": COUNT},
    **{"worst_counts": COUNTED, "l": COUNT, "people": COUNT, "blocks": COUNT},
}
"""One row per measure and secret; k, average_class_size and those of a population have no secret.
If several k are required, k has a row for each, in ascending order.

``value`` is the level that all blocks meet. It is missing if no number is such a level
(``l_recursive_c`` if a block has fewer than ``l`` values, or if ``l`` is 1). ``wanted`` is the
required level; people and blocks in violation do not meet it; ``met`` states whether all meet it.
A required t is compared with only one distance of a secret: the hierarchical one if it has a
hierarchy, the ordered one for numbers and times, else the equal one. In the rows of the other
distances these columns are missing. ``worst_*`` describe the largest block at the worst level: its
size, its number of values, and the people with each value, the most frequent first, at most 100.
``l`` is that of recursive (c, l)-diversity. ``people`` and ``blocks`` count all people and blocks.
Where a secret may be missing and the level among its reported values is the worse, people at it and
in violation, and sizes, are of the people who report it: of the others there is no value to know.
"""

PEOPLE: dict[str, pl.DataType] = {"records": pl.Int64(), "known_records": pl.String()}
"""Further columns if a column says whose record it is, with a row each for an adversary who knows
``all`` records of a person and one who knows ``one`` of them.

If one is known, a block has as many people as have a record in it. People may then be in several
blocks, so that those at the worst level and in violation are counted as blocks alone.
"""

AVERAGE = "average_class_size"
OF_POPULATION = tuple(measure for measure in MEASURES.values() if measure.of_population)
OF_SECRETS = tuple(n for n in BOUNDS if n not in ("k", *(m.aim for m in OF_POPULATION)))
"""The required levels of a secret, by the names of their options."""
PLAIN = ("l_distinct", "t_equal", "t_ordered", "alpha", "basic_beta", "delta_disclosure")
ORDERED = (*NUMBERS, "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")


@dataclass(frozen=True)
class Answer:
    """The rows of a result, its details, and the plans that ran."""

    rows: list[dict[str, Any]]
    details: Mapping[str, pl.DataFrame]
    plans: tuple[Plan, ...]


class Run:
    """One run: the counts, the levels found in them, and remarks.

    ``count`` sets ``hierarchies``, ``secrets`` (their counts by number), ``incomplete`` (the names
    of those that some people miss) and ``levels`` by measure and secret. ``default_l`` is the l of
    recursive (c, l)-diversity if none is required: of reported secrets that of all people.
    """

    def __init__(
        self,
        engine: Engine,
        spec: Attack,
        bound: BoundAttack,
        *,
        thresholds: Mapping[str, Fraction],
        every_k: Sequence[Fraction],
        population: Dataset | None,
        suppressed: Suppressed,
        default_l: int | None = None,
    ) -> None:
        """Bind the attack, and count the population if there is one; ``count`` counts the blocks.

        ``suppressed`` says what suppressed records are read as. ``thresholds`` are the required
        levels; ``every_k`` has each k if several are required.
        """
        self.spec, self.suppressed = spec, suppressed
        self.thresholds = thresholds
        self.default_l = default_l
        self.every_k = every_k
        self.population = population
        self.bound, self.notes = _read_suppressed_as(engine, bound, suppressed)
        # Suppressed people may be anybody: their block is everyone.
        self.suppressed_people = _count_suppressed(engine, self.bound)
        plan = None
        if population is not None:
            plan = population_plan(engine, spec, bound.microdata, population)
            self.notes += [n for n in remarks(engine) if n not in bound.microdata.notes]
        self.counts = Counts(
            engine, self.bound, further_questions=True, tallied=not self.bound.microdata.suppressed
        )
        if plan is not None:
            self.counts.keep_rows("population", plan)
        self.tables = Tables(self.counts)
        self.hierarchies: Mapping[int, Hierarchy] = {}
        self.incomplete: list[str] = []
        self.secrets: dict[int, secret_blocks.Secret] = {}
        self.levels: dict[tuple[str, int], find.Finding] = {}
        self.violations: list[tuple[Fraction, find.Finding]] = []  # of each k if there are several

    def count(self, hierarchies: Mapping[int, Hierarchy]) -> None:
        """Count blocks and find their levels; refuse required levels that are impossible.

        ``hierarchies`` are by the number of a secret. The class says which attributes are set.
        """
        self.hierarchies = hierarchies
        self.notes += [note for tree in hierarchies.values() for note in tree.remarks]
        self._check_required()
        names = {j: secret.name for j, secret in enumerate(self.bound.microdata.secrets, 1)}
        if names:
            everybody = self.counts.domain(1).people
        else:
            plan = microdata_steps.records_plan(self.bound.microdata, people=True)
            ((everybody,),) = self.tables.rows(plan, "counting records")
        for j, name in names.items():
            if missing_secrets.is_missed(self.counts, j):
                self.incomplete.append(name)
        if self.default_l is None:  # else the run on all people has checked this
            smallest_k = {"k": min(self.every_k)} if self.every_k else {}
            values = {name: self.counts.domain(j).values for j, name in names.items()}
            check_possible({**self.thresholds, **smallest_k}, everybody, values)
        if not names or self.population is not None:
            secret_blocks.keep_blocks_of_all(self.tables, self.suppressed_people, everybody)
        for j in names:
            self.secrets[j] = secret_blocks.count_secret(
                self.tables, j, hierarchies.get(j), self.suppressed_people
            )
        self.levels = self._find()

    def _check_required(self) -> None:
        """Refuse required levels of a population or a secret, if none is named."""
        for measure in OF_POPULATION:
            if self.population is None and measure.aim in self.thresholds:
                raise InputError(
                    f"{measure.aim} needs the people who may be in the release: a population"
                )
        of_secrets = [name for name in OF_SECRETS if name in self.thresholds]
        if of_secrets and not self.bound.microdata.secrets:
            raise InputError(f"{of_secrets[0]} is a level of a secret; name one with --secret")

    def _level_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the result: those without a secret, then those of each secret."""
        people, blocks = worst_blocks.people_and_blocks(self.tables, min(self.secrets, default=0))
        worst = find.measure_worst_blocks(self.tables, self.secrets, self.levels)
        rows: list[dict[str, Any]] = [{"measure": AVERAGE, "value": people / blocks}]
        rows += [
            {"measure": "l_recursive_c", "secret": secret.name, "l": 1}
            for secret in self.secrets.values()
            if self._recursive_l(secret) == 1  # c is undefined: a row without value
        ]
        for (name, j), level in self.levels.items():
            if name == "k" and self.violations:  # several k are required: a row for each
                for k, level_of_k in self.violations:
                    rows.append(self._row(name, j, level_of_k, worst[name, j], k))
                continue
            required = self.thresholds.get(MEASURES[name].aim or "")
            rows.append(self._row(name, j, level, worst[name, j], required))
        secrets = [None, *(secret.name for secret in self.secrets.values())]
        measures = list(MEASURES)
        rows.sort(key=lambda r: (secrets.index(r.get("secret")), measures.index(r["measure"])))
        totals = {"people": people, "blocks": blocks}
        return [dict.fromkeys(SCHEMA) | row | totals for row in rows]

    def answer(self, skew: Fraction, *, show_blocks: bool) -> "Answer":
        """Return the levels, the attacks on them and, on request, their worst blocks."""
        rows = self._level_rows()
        attack_rows = [
            row
            for j, secret in self.secrets.items()
            for row in attacks.rows(self.tables, secret, self.hierarchies.get(j), skew=skew)
        ]
        details = {"attacks": pl.DataFrame(attack_rows, schema=attacks.ATTACKS)}
        if show_blocks:
            details["worst"] = worst_blocks.worst_block_table(
                self.tables, self.secrets, self.levels
            )
        return Answer(rows, details, tuple(self.counts.plans))

    def _find(self) -> dict[tuple[str, int], find.Finding]:
        """Return the worst level of each measure and secret (0 stands for no secret).

        k is measured on the blocks of the first secret. ``violations`` are of each of several k.
        """
        first = min(self.secrets, default=0)
        questions = [("k", first)]
        if self.population is not None:
            self._check_population()
            questions += [(measure.name, 0) for measure in OF_POPULATION]
        for j, secret in self.secrets.items():
            questions += [(name, j) for name in self._measures_of(secret)]
        levels = find.find_levels(self.tables, questions, self.thresholds)
        if len(self.every_k) > 1:
            for k in self.every_k:
                again = find.find_levels(self.tables, [("k", first)], {"k": k})
                self.violations.append((k, again["k", first]))
        for j, secret in self.secrets.items():
            self._add_entropy_and_beta(levels, j, secret)
        return levels

    def _check_population(self) -> None:
        """Refuse a population that has fewer people than the release in a block."""
        steps, instead = Steps(self.tables), {"blocks": "blocks_of_all"}
        outside = steps.need("outside", 0, instead=instead, about_population=True)
        query = exp.select("blocks", "too_small").from_(outside)
        ((blocks, too_small),) = self.tables.rows(steps.plan(query))
        if too_small:
            raise InputError(
                f"the population has fewer people than the release in {too_small:,} of {blocks:,} "
                "blocks; it must contain everybody who may be in the release"
            )

    def _measures_of(self, secret: secret_blocks.Secret) -> list[str]:
        """Return the names of the measures whose worst level over the blocks is looked for.

        For recursive (c, l)-diversity with l above 1, also make the table ``tails``: the people of
        each block with the l-th most frequent value of the secret or a rarer one.
        """
        names = [*PLAIN]
        if secret.number in self.hierarchies:
            names.append("t_hierarchical")
        if "enhanced_beta" in self.thresholds:
            names.append(find.BREACH)  # finds the violations of enhanced beta-likeness
        if self._recursive_l(secret) > 1:
            inputs = {"lowest_l": {"l": typed_number(self._recursive_l(secret), "BIGINT")}}
            self.tables.keep("tails", secret.number, inputs)
            names.append("l_recursive_c")
        return names

    def _add_entropy_and_beta(
        self, levels: dict[tuple[str, int], find.Finding], j: int, secret: secret_blocks.Secret
    ) -> None:
        """Add entropy l-diversity and enhanced beta-likeness of a secret to ``levels``.

        The latter is the gain of basic beta-likeness, at most -ln of the rarest value's share. Its
        violations are in ``levels`` under the name BREACH, if a level is required; they move.
        """
        entropy = find.find_entropy(self.tables, secret, self.thresholds.get("l_entropy"))
        if secret.fewest == 1:  # entropy is least in the blocks of one value
            entropy = replace(levels["l_distinct", j], value=1.0, violated=entropy.violated)
        levels["l_entropy", j] = entropy
        breach = levels.pop((find.BREACH, j), None)
        rarest = Level(secret.people, secret.rarest, logarithm=True).value
        gain = levels["basic_beta", j]
        levels["enhanced_beta", j] = replace(
            gain,
            value=min(gain.value, rarest),
            violated=None if breach is None else breach.violated,
        )

    def _recursive_l(self, secret: secret_blocks.Secret) -> int:
        """Return the l of recursive (c, l)-diversity; by default the fewest values in a block."""
        fewest = Fraction(self.default_l or secret.fewest)
        return int(self.thresholds.get("l_recursive", self.thresholds.get("l", fewest)))

    def _row(
        self,
        measure: str,
        j: int,
        level: find.Finding,
        block: Mapping[str, Any],
        threshold: Fraction | None,
    ) -> dict[str, Any]:
        """Return the row (``SCHEMA``) of a level; k is counted in blocks of secret ``j``.

        ``block`` is a worst one. ``threshold`` is the required level, if there is one; of several
        distances, only one is compared with a required t.
        """
        secret = self.secrets.get(j) if measure != "k" else None
        row: dict[str, Any] = {
            "measure": measure,
            "value": None if level.value == math.inf else level.value,
            "people_at_worst": level.people,
            "blocks_at_worst": level.blocks,
            "worst_size": block["size"],
        }
        if secret is not None:
            row |= {"secret": secret.name}
            row |= {"worst_values": block["values"], "worst_counts": block["counts"]}
            if measure == "l_recursive_c":
                row["l"] = self._recursive_l(secret)
        is_compared = MEASURES[measure].aim != "t" or measure == self._pick_distance(j)
        if threshold is not None and is_compared and level.violated is not None:
            people, blocks = level.violated
            row |= {"wanted": float(threshold), "met": not blocks}
            row |= {"people_in_violation": people, "blocks_in_violation": blocks}
        return row

    def incomplete_secrets(self) -> list[int]:
        """Return the numbers of the secrets that some people miss and others report."""
        names = (secret.name for secret in self.bound.microdata.secrets)
        missed = [j for j, name in enumerate(names, 1) if name in self.incomplete]
        if self.bound.microdata.person is None:  # one of the values is the missing one
            return [j for j in missed if self.counts.domain(j).values > 1]
        records_of = {j: missing_secrets.records_of_sets(self.counts, j) for j in missed}
        return [j for j, (_, reported) in records_of.items() if reported > 0]

    def among_reported(self, j: int) -> "Run":
        """Return a counted run on the people who report secret ``j``, the only one there."""
        secret = self.bound.microdata.secrets[j - 1]
        return self._recounted(
            replace(self.bound.microdata, secrets=(secret,), reported=True),
            {1: self.hierarchies[j]} if j in self.hierarchies else {},
            thresholds={n: t for n, t in self.thresholds.items() if n in OF_SECRETS},
            every_k=(),
            default_l=self._recursive_l(self.secrets[j]),
        )

    def by_one_record(self) -> "Run":
        """Return a counted run in which the adversary knows one record of each person."""
        return self._recounted(
            self.bound.microdata.by_one_record(),
            self.hierarchies,
            thresholds=self.thresholds,
            every_k=self.every_k,
        )

    def _recounted(
        self, microdata: Microdata, hierarchies: Mapping[int, Hierarchy], **required: Any
    ) -> "Run":
        """Return a counted run on other microdata, with the ``required`` levels, of no population.

        It takes the place of this run, which must have dropped its tables.
        """
        run = Run(
            self.counts.engine,
            self.spec,
            self.bound.on(microdata),
            population=None,
            suppressed=self.suppressed,
            **required,
        )
        run.count(hierarchies)
        return run

    def _pick_distance(self, j: int) -> str:
        """Return the distance of secret ``j`` with which a required t is compared."""
        if j in self.hierarchies:
            return "t_hierarchical"
        ordered = family(self.bound.microdata.secrets[j - 1].type) in ORDERED
        return "t_ordered" if ordered else "t_equal"

    def remarks(self, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
        """Return remarks on the numbers for the reader."""
        notes = [*self.bound.microdata.notes, *self.notes]
        notes += [n for row in rows[:1] for n in self.counts.note_dropped(row["people"])]
        notes += [
            f"t_ordered of {quoted(secret.name)} takes its values in the order of their letters; "
            "if they have another, make the secret a number, as in NAME=EXPRESSION"
            for secret in self.bound.microdata.secrets
            if family(secret.type) not in (*ORDERED, "BOOLEAN", "ENUM")
        ]
        if self.incomplete:
            notes.append(
                f"{', '.join(map(quoted, self.incomplete))} may be missing, which protects nobody: "
                "each level is the smaller of two, with missing as a value (the last one in "
                "t_ordered) and among reported values, then of the people who report it"
            )
        notes += [
            f"no c is enough for (c, {line['l']})-diversity of {quoted(line['secret'])}: blocks "
            f"have fewer than {line['l']} values"
            for line in rows
            if line["measure"] == "l_recursive_c" and line["value"] is None and line["l"] > 1
        ]
        if self.thresholds.get("t") == 0:
            notes.append("t = 0 requires every block to have exactly the shares of the release")
        return tuple(notes)


def _read_suppressed_as(
    engine: Engine, bound: BoundAttack, how: Suppressed
) -> tuple[BoundAttack, list[str]]:
    """Return the attack with suppressed records as everyone, a block or left out; remarks."""
    if how == "everyone":
        return suppressed_records.marked(engine, bound), []
    microdata = replace(bound.microdata, suppressed=0)
    records = suppressed_records.count(engine, microdata)
    if not records:
        return bound.on(microdata), []
    note = f"{plural(records, 'record')} with * as every quasi-identifier"
    if how == "block":
        return bound.on(microdata), [f"{note}: a block like any other (suppressed: everyone, out)"]
    unsuppressed = suppressed_records.shown_alone(replace(microdata, suppressed=records))
    if not suppressed_records.people_of(engine, unsuppressed):
        raise DatasetError(
            f"all records of {microdata.dataset.name} are suppressed, so nobody is left; "
            "leave suppressed out"
        )
    return bound.on(unsuppressed), [f"{note}: left out"]


def _count_suppressed(engine: Engine, bound: BoundAttack) -> int:
    """Return the number of people whose block is everyone: those with a suppressed record."""
    if not bound.microdata.suppressed:
        return 0
    steps = AttackSteps(bound)
    query = exp.select("count(*)").from_(steps.need("hidden"))
    counting = steps.plan(query)
    ((number,),) = engine.rows(counting, "counting records", bound.microdata.dataset.name)
    return int(number)
