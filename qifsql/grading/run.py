"""One run of ``levels``: what is counted, found and remarked, and the rows that come of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql import population as populations
from qifsql.counts import Counts
from qifsql.dataset import Dataset
from qifsql.datatypes import NUMBERS, family
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.writings import remarks
from qifsql.errors import InputError, quoted
from qifsql.grading import aims, bites, counting, reading, showing
from qifsql.grading.aims import Aims
from qifsql.grading.hierarchy import Hierarchy
from qifsql.grading.steps import Tables, number, row
from qifsql.grading.suppression import Suppressed, settle
from qifsql.measures.syntactic import Level
from qifsql.microdata import records_plan
from qifsql.spec import Attack, BoundAttack

SCHEMA: dict[str, pl.DataType] = {
    "measure": pl.String(),
    "secret": pl.String(),
    "value": pl.Float64(),
    "wanted": pl.Float64(),
    "met": pl.Boolean(),
    "people_in_violation": pl.Int64(),
    "blocks_in_violation": pl.Int64(),
    "people_at_worst": pl.Int64(),
    "blocks_at_worst": pl.Int64(),
    "worst_size": pl.Int64(),
    "worst_values": pl.Int64(),
    "worst_counts": reading.COUNTED,
    "l": pl.Int64(),
    "people": pl.Int64(),
    "blocks": pl.Int64(),
}
"""One row per measure and secret; of no secret: k, average_class_size and those of a population.

``value`` is what all blocks keep; missing where no number does (``l_recursive_c`` where blocks have
fewer than ``l`` values, or ``l`` is 1). ``wanted`` is the level that was asked for, and people and
blocks in violation are those that do not keep it; ``met`` says whether all do. Of the distances t
only the secret's own one is judged, the others have none of these: hierarchical where it has a
hierarchy, ordered for numbers and times, else equal. ``worst_*`` tell of a block at the worst, the
largest one: its size, how many values occur, and how many of its people have each, the most
frequent first, at most 100 of them. ``l`` is that of recursive (c, l)-diversity. ``people`` and
``blocks`` are those there are.
"""

AVERAGE = "average_class_size"
OF_POPULATION = ("k_map", "presence_min", "presence_max")
OF_SECRETS = tuple(n for n in Aims.__annotations__ if n not in ("k", *OF_POPULATION))
PLAIN = ("l_distinct", "t_equal", "t_ordered", "alpha", "basic_beta", "delta_disclosure")
ORDERED = (*NUMBERS, "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")


class Run:
    """One run: counts, what is found in them, and remarks."""

    def __init__(
        self,
        engine: DuckDB,
        spec: Attack,
        bound: BoundAttack,
        *,
        wanted: Mapping[str, Fraction],
        population: Dataset | None,
        suppressed: Suppressed,
    ) -> None:
        self.wanted = wanted
        self.population = population
        self.bound, self.apart, self.notes = settle(engine, bound, suppressed)
        plan = None
        if population is not None:
            plan = populations.blocks_plan(engine, spec, bound, population)
            self.notes += [n for n in remarks(engine) if n not in bound.notes]
        self.counts = Counts(engine, self.bound, again=True, tallied=not self.apart)
        if plan is not None:
            self.counts.keep_rows("population", plan)
        self.tables = Tables(self.counts)
        self.hierarchies: Mapping[int, Hierarchy] = {}
        self.secrets: dict[int, counting.Secret] = {}
        self.found: dict[tuple[str, int], reading.Found] = {}

    def count(self, hierarchies: Mapping[int, Hierarchy]) -> None:
        """Count blocks and find their levels; refuses levels that cannot be."""
        self.hierarchies = hierarchies
        if self.population is None and (lost := [n for n in OF_POPULATION if n in self.wanted]):
            raise InputError(f"{lost[0]} needs the people who may be in the release: a population")
        if not self.bound.secrets and (lost := [n for n in OF_SECRETS if n in self.wanted]):
            raise InputError(f"{lost[0]} is a level of a secret; name one with --secret")
        domains = [self.counts.domain(j) for j in range(1, len(self.bound.secrets) + 1)]
        everybody = domains[0].people if domains else self._people()
        names = [secret.name for secret in self.bound.secrets]
        values = {n: d.values for n, d in zip(names, domains, strict=True)}
        aims.check(self.wanted, everybody, values)
        if not domains or self.population is not None:
            counting.crowds(self.tables, self.apart, everybody)
        every = counting.counted(self.tables, hierarchies, self.apart)
        self.secrets = {secret.number: secret for secret in every}
        self.found = self._find()

    @property
    def heights(self) -> dict[int, int]:
        """The heights of the hierarchies, by the number of their secret."""
        return {j: h.height for j, h in self.hierarchies.items()}

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the result: those of no secret, then each secret's, in the order asked."""
        people, blocks = showing.people_and_blocks(self.tables, min(self.secrets, default=0))
        worst = reading.worst_blocks(self.tables, self.secrets, self.found, self.heights)
        average = {"measure": AVERAGE, "value": people / blocks}
        found: list[tuple[int, dict[str, Any]]] = []
        for measure in aims.MEASURES:
            if measure.name == AVERAGE:
                found.append((0, average))
            if measure.name == "l_recursive_c":
                found += [
                    (j, {"measure": measure.name, "secret": s.name, "l": 1})
                    for j, s in self.secrets.items()
                    if self._l(s) == 1
                ]
            found += [
                (0 if measure.name == "k" else j, self._row(measure, j, level, worst[name, j]))
                for (name, j), level in self.found.items()
                if name == measure.name
            ]
        told = {"people": people, "blocks": blocks}
        return [
            dict.fromkeys(SCHEMA) | line | told for _, line in sorted(found, key=lambda f: f[0])
        ]

    def attacks(self, skew: Fraction) -> pl.DataFrame:
        """Whom the attacks on k and l bite."""
        rows = []
        for j, secret in self.secrets.items():
            rows += bites.bites(self.tables, secret, self.hierarchies.get(j), skew=skew)
        return bites.table(rows)

    def worst(self) -> pl.DataFrame:
        """The quasi-identifiers of the worst blocks."""
        return showing.placed(self.tables, self.secrets, self.found, self.heights)

    def _find(self) -> dict[tuple[str, int], reading.Found]:
        """The worst level of each measure and secret (0: of none; k is that of the first)."""
        first = min(self.secrets, default=0)
        asked = [("k", first, self.secrets[first].width if first else 1)]
        if self.population is not None:
            showing.check_population(self.tables)
            width = len(self.bound.qids)
            asked += [(m.name, 0, width) for m in aims.MEASURES if m.of_population]
        for j, secret in self.secrets.items():
            names = [*PLAIN]
            names += ["t_hierarchical"] if j in self.hierarchies else []
            names += [reading.BREACH] if "enhanced_beta" in self.wanted else []
            if self._l(secret) > 1:
                given = {"lowest_l": row(l=number(self._l(secret), "BIGINT"))}
                self.tables.keep("tails", j, secret.width, given)
                names.append("l_recursive_c")
            asked += [(name, j, secret.width) for name in names]
        found = reading.found(self.tables, asked, self.wanted, self.heights)
        for j, secret in self.secrets.items():
            self._find_more(found, j, secret)
        return found

    def _find_more(
        self, found: dict[tuple[str, int], reading.Found], j: int, secret: counting.Secret
    ) -> None:
        """Entropy, and enhanced beta-likeness by the gain of the basic one."""
        entropy = reading.entropies(self.tables, secret, self.wanted.get("l_entropy"))
        if secret.fewest == 1:
            entropy = replace(found["l_distinct", j], value=1.0, violated=entropy.violated)
        found["l_entropy", j] = entropy
        breach = found.pop((reading.BREACH, j), None)
        rarest = Level(secret.people, secret.rarest, logarithm=True).value
        gain = found["basic_beta", j]
        found["enhanced_beta", j] = replace(
            gain,
            value=min(gain.value, rarest),
            violated=None if breach is None else breach.violated,
        )

    def _people(self) -> int:
        """How many people there are where there is no secret."""
        plan = records_plan(self.bound, people=True)
        return int(self.tables.rows(plan, "counting records")[0][0])

    def _l(self, secret: counting.Secret) -> int:
        """The l of recursive (c, l)-diversity."""
        fewest = Fraction(secret.fewest)
        return int(self.wanted.get("l_recursive", self.wanted.get("l", fewest)))

    def _row(
        self, measure: aims.Measure, j: int, level: reading.Found, block: Mapping[str, Any]
    ) -> dict[str, Any]:
        secret = self.secrets.get(j) if measure.name != "k" else None
        told: dict[str, Any] = {
            "measure": measure.name,
            "value": None if level.value == math.inf else level.value,
            "people_at_worst": level.people,
            "blocks_at_worst": level.blocks,
            "worst_size": block["size"],
        }
        if secret is not None:
            told |= {
                "secret": secret.name,
                "worst_values": block["values"],
                "worst_counts": block["counts"],
            }
            if measure.name == "l_recursive_c":
                told["l"] = self._l(secret)
        judged = measure.aim != "t" or measure.name == self._own(j)
        if measure.aim is not None and judged and level.violated is not None:
            people, blocks = level.violated
            told |= {
                "wanted": float(self.wanted[measure.aim]),
                "met": not blocks,
                "people_in_violation": people,
                "blocks_in_violation": blocks,
            }
        return told

    def _own(self, j: int) -> str:
        """The distance of the values of a secret."""
        if j in self.hierarchies:
            return "t_hierarchical"
        ordered = family(self.bound.secrets[j - 1].type) in ORDERED
        return "t_ordered" if ordered else "t_equal"

    def remarks(self, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
        """What the reader should know of these numbers."""
        notes = [*self.bound.notes, *self.notes]
        notes += [
            f"t_ordered of {quoted(secret.name)} takes its values in the order of their letters; "
            "if they have another, make the secret a number, as in NAME=EXPRESSION"
            for secret in self.bound.secrets
            if family(secret.type) not in (*ORDERED, "BOOLEAN", "ENUM")
        ]
        if missing := [s for j, s in enumerate(self.bound.secrets, 1) if self._misses(j)]:
            names = ", ".join(quoted(s.name) for s in missing)
            notes.append(f"missing is a value of {names}, and the last one in t_ordered")
        notes += [
            f"no c is enough for (c, {line['l']})-diversity of {quoted(line['secret'])}: blocks "
            f"have fewer than {line['l']} values"
            for line in rows
            if line["measure"] == "l_recursive_c" and line["value"] is None and line["l"] > 1
        ]
        if self.wanted.get("t") == 0:
            notes.append("t = 0 wants every block to have exactly the shares of the release")
        return tuple(notes)

    def _misses(self, j: int) -> bool:
        return self.counts.domain(j).missing
