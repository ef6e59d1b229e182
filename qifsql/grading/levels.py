"""k, l, t and their relatives: what a partition promises, and whom it fails.

Each measure is the level that all blocks keep: the least k, the fewest values, the largest
distance. Formulas and sources: ``qifsql.measures.syntactic``; how they are counted: ``sql/levels``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

import polars as pl
from sqlglot import exp

from qifsql import population as populations
from qifsql.collection import Source
from qifsql.counts import Counts
from qifsql.dataset import Dataset
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, InputError, did_you_mean, quoted, several
from qifsql.export import Origin
from qifsql.grading import aims, bites, counting, reading, showing
from qifsql.grading.aims import Aims
from qifsql.grading.hierarchy import Hierarchy
from qifsql.measures.syntactic import Level
from qifsql.microdata import normal, records_plan
from qifsql.session import opened
from qifsql.spec import NUMBERS, Attack, BoundAttack, Options, family, refuse

Suppressed = Literal["block", "everyone", "out"]

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
fewer than ``l`` values). ``wanted`` is the level that was asked for, ``met`` whether all blocks
keep it, and the people and blocks in violation are those that do not. ``worst_*`` tell of a block
at the worst, the largest one: its size, how many values occur, and how many of its people have
each, the most frequent first, at most 100 of them. Counts are missing where nothing is asked.
"""

NO_NUMBER = "recursive (c, l)-diversity"


class Asked(Options, Aims, total=False):
    """Quasi-identifiers, secrets and filters (``qifsql.spec.Options``), and levels (``Aims``)."""


@dataclass(frozen=True)
class Levels:
    """Levels (``SCHEMA``), whom attacks bite (``bites.ATTACKS``), the worst blocks if asked for.

    ``worst`` has one row per measure and secret: the quasi-identifiers of a worst block under
    their names. ``broken`` are the measures, with their secrets, whose wanted level is not kept.
    """

    frame: pl.DataFrame
    attacks: pl.DataFrame
    origin: Origin
    notes: tuple[str, ...] = ()
    worst: pl.DataFrame | None = None

    @property
    def broken(self) -> tuple[str, ...]:
        """What is wanted and not kept: ``k``, ``t_equal of illness``."""
        rows = self.frame.filter(pl.col("met").not_()).iter_rows(named=True)
        return tuple(
            r["measure"] if r["secret"] is None else f"{r['measure']} of {r['secret']}"
            for r in rows
        )


def levels(
    source: Source,
    *,
    hierarchy: Mapping[str, str | Path | Hierarchy] | None = None,
    population: str | Path | Dataset | None = None,
    suppressed: Suppressed = "block",
    skew: aims.Number = 2,
    show_blocks: bool = False,
    settings: Settings | None = None,
    **asked: Unpack[Asked],
) -> Levels:
    """Measure k, l, t and their relatives of the partition by the quasi-identifiers.

    ``hierarchy`` maps secrets to files of hierarchies or mappings (``grading.hierarchy``): t by
    hierarchical distance, and similarity attacks. ``population``: the people who may be in the
    release: k-map and delta-presence. ``suppressed`` says what records are whose
    quasi-identifiers all are the text ``*``: an ordinary ``block``, a block that is ``everyone``,
    or ``out``. ``skew``: a skewness attack bites where a value is at least so many times as likely
    as in the release. ``show_blocks``: give the quasi-identifiers of the worst blocks, too.
    ``asked`` are ``qids``, ``secret``, ``where`` and ``null`` of ``qifsql.spec.Options``, and the
    levels that are wanted (``grading.aims.Aims``). People count once each; there are no weights.
    """
    wanted = aims.read({n: v for n, v in asked.items() if n in Aims.__annotations__})
    options: Any = {n: v for n, v in asked.items() if n not in Aims.__annotations__}
    refuse(options, "levels", *(n for n in Options.__annotations__ if n not in TAKEN))
    if suppressed not in get_args(Suppressed):
        raise InputError(f"suppressed is one of {', '.join(get_args(Suppressed))}")
    origin = Origin.now(settings)
    spec = Attack.of("cas" if options.get("secret") else "crs", source, **options)
    if spec.of_collection:
        raise InputError("levels are those of one release; name one file")
    people = None if population is None else Dataset.open(population)
    told = {
        "wanted": {name: str(value) for name, value in wanted.items()},
        "suppressed": suppressed,
        "skew": str(_skew(skew)),
        "population": people.name if people else None,
        "hierarchy": {s: _file_name(h) for s, h in (hierarchy or {}).items()},
    }
    with opened(spec, settings) as (engine, bound):
        run = _Run(engine, spec, bound, wanted, people, suppressed)
        run.count(_hierarchies(hierarchy or {}, bound))
        rows = run.rows()
        attacks = run.attacks(_skew(skew))
        worst = showing.placed(run.counts, run.secrets, run.found) if show_blocks else None
        origin = origin.of(bound, spec, *run.counts.sent, **told)
        files = [str(h) for h in (hierarchy or {}).values() if not isinstance(h, Hierarchy)]
        origin = origin.reading((*files, *(people.paths if people else ())))
        frame = pl.DataFrame(rows, schema=SCHEMA)
        notes = (*bound.notes, *run.notes, *_remarks(rows, bound, wanted))
        return Levels(frame, attacks, origin, notes, worst)


TAKEN = ("qids", "secret", "where", "null")


class _Run:
    """One run: what is counted, found and remarked."""

    def __init__(
        self,
        engine: DuckDB,
        spec: Attack,
        bound: BoundAttack,
        wanted: Mapping[str, Fraction],
        people: Dataset | None,
        suppressed: str,
    ) -> None:
        self.wanted = wanted
        self.people = people
        self.notes: list[str] = []
        star = _all_starred(bound)
        there = 0
        if star is None:
            if suppressed != counting.ORDINARY:
                self.notes.append(
                    "no record is suppressed: a quasi-identifier that is no text is never *"
                )
        else:
            there = _count(engine, replace(bound, where=_both(bound.where, star)))
            self.notes += _suppressed(there, suppressed)
        if there and star is not None and suppressed == counting.OUT:
            bound = replace(bound, where=_both(bound.where, exp.not_(exp.paren(star))))
            if not _count(engine, bound):
                raise DatasetError(
                    f"all records of {bound.dataset.name} are suppressed; nobody is left"
                )
        self.apart = there if suppressed == counting.EVERYONE else 0
        self.bound = bound
        plan = None
        if people is not None:
            plan = populations.blocks_plan(engine, spec, bound, people)
        self.counts = Counts(engine, bound, again=True, tallied=not self.apart)
        if plan is not None:
            self.counts.keep_rows("population", plan)
        self.secrets: dict[int, counting.Secret] = {}
        self.found: dict[tuple[str, int], reading.Found] = {}
        self.hierarchies: dict[int, Hierarchy] = {}

    def count(self, hierarchies: dict[int, Hierarchy]) -> None:
        """Count blocks, and refuse levels that cannot be."""
        self.hierarchies = hierarchies
        counts = self.counts
        domains = {s.name: counts.domain(j) for j, s in enumerate(self.bound.secrets, 1)}
        left = next(iter(domains.values())).people if domains else counts.records
        aims.check(self.wanted, left, {name: d.values for name, d in domains.items()})
        if self.people is None and (lost := [n for n in OF_POPULATION if n in self.wanted]):
            raise InputError(f"{lost[0]} needs the people who may be in the release: a population")
        if not self.bound.secrets and (lost := [n for n in OF_SECRETS if n in self.wanted]):
            raise InputError(f"{lost[0]} is a level of a secret; name one with --secret")
        if not self.bound.secrets or self.people is not None:
            counting.crowds(counts, self.apart, left)
        self.secrets = {s.number: s for s in counting.counted(counts, hierarchies, self.apart)}
        self.found = self._found()

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the result."""
        first = min(self.secrets, default=0)
        people, blocks = showing.people_and_blocks(self.counts, first)
        blocks_of = reading.worst_blocks(
            self.counts, self.secrets, {k: f for k, f in self.found.items() if k[0] != AVERAGE}
        )
        told = {"people": people, "blocks": blocks}
        average = {"measure": AVERAGE, "value": people / blocks}
        found = []
        for measure in aims.MEASURES:
            if measure.name == AVERAGE:
                found.append(dict.fromkeys(SCHEMA) | told | average)
            for (name, j), level in self.found.items():
                if name == measure.name:
                    found.append(self._row(measure, j, level, blocks_of[name, j]) | told)
        order = {s.name: s.number for s in self.secrets.values()}
        return sorted(found, key=lambda r: order.get(r["secret"], 0))

    def attacks(self, skew: Fraction) -> pl.DataFrame:
        """Whom the attacks on k and l bite."""
        rows = []
        for j, secret in self.secrets.items():
            rows += bites.bites(self.counts, secret, self.hierarchies.get(j), skew=skew)
        return bites.table(rows)

    def _found(self) -> dict[tuple[str, int], reading.Found]:
        first = min(self.secrets, default=0)
        width = self.secrets[first].width if first else 1
        asked = [("k", first, width)]
        if self.people is not None:
            showing.check_population(self.counts)
            wide = len(self.bound.qids)
            asked += [(m.name, 0, wide) for m in aims.MEASURES if m.of_population]
        for j, secret in self.secrets.items():
            names = [m.name for m in aims.MEASURES if m.name in PLAIN]
            names += ["t_hierarchical"] if j in self.hierarchies else []
            names += [reading.BREACH] if "enhanced_beta" in self.wanted else []
            if self._l(secret) > 1:
                given = {"lowest_l": showing.lowest(self._l(secret))}
                counting.keep(self.counts, "tails", j, secret.width, given)
                names.append("l_recursive_c")
            asked += [(name, j, secret.width) for name in names]
        found = reading.found(self.counts, asked, self.wanted)
        for j, secret in self.secrets.items():
            entropy = reading.entropies(self.counts, secret, self.wanted.get("l_entropy"))
            if secret.fewest == 1:
                alike = found["l_distinct", j]
                entropy = replace(alike, value=1.0, violated=entropy.violated)
            found["l_entropy", j] = entropy
            breach = found.pop((reading.BREACH, j), None)
            rarest = Level(secret.people, secret.rarest, logarithm=True).value
            gain = found["basic_beta", j]
            found["enhanced_beta", j] = replace(
                gain,
                value=min(gain.value, rarest),
                violated=None if breach is None else breach.violated,
            )
        return found

    def _l(self, secret: counting.Secret) -> int:
        """The l of recursive (c, l)-diversity."""
        named = self.wanted.get("l_recursive", self.wanted.get("l", Fraction(secret.fewest)))
        return int(named)

    def _row(
        self, measure: aims.Measure, j: int, level: reading.Found, block: dict[str, Any]
    ) -> dict[str, Any]:
        of_secret = j in self.secrets and measure.name != "k"
        aim = self.wanted.get(measure.aim or "")
        row = dict.fromkeys(SCHEMA) | {
            "measure": measure.name,
            "secret": self.secrets[j].name if of_secret else None,
            "value": None if level.value == float("inf") else level.value,
            "people_at_worst": level.people,
            "blocks_at_worst": level.blocks,
            "worst_size": block["size"],
            "worst_values": block["values"] if of_secret else None,
            "worst_counts": block["counts"] if of_secret else None,
        }
        if measure.name == "l_recursive_c":
            row["l"] = self._l(self.secrets[j])
        if aim is not None and level.violated is not None:
            people, blocks = level.violated
            row |= {
                "wanted": float(aim),
                "met": not blocks,
                "people_in_violation": people,
                "blocks_in_violation": blocks,
            }
        return row


AVERAGE = "average_class_size"
OF_POPULATION = ("k_map", "presence_min", "presence_max")
OF_SECRETS = tuple(n for n in Aims.__annotations__ if n not in ("k", *OF_POPULATION))
PLAIN = (*("l_distinct", "t_equal", "t_ordered", "alpha", "basic_beta", "delta_disclosure"),)


def _skew(value: aims.Number) -> Fraction:
    found = aims.exact(value)
    if found is None or found <= 1:
        raise InputError("skew is how many times as likely a value is; give a number above 1")
    return found


def _hierarchies(
    given: Mapping[str, str | Path | Hierarchy], bound: BoundAttack
) -> dict[int, Hierarchy]:
    """The hierarchies by the numbers of their secrets."""
    numbers = {secret.name: j for j, secret in enumerate(bound.secrets, 1)}
    found = {}
    for name, source in given.items():
        if name not in numbers:
            raise InputError(
                f"the hierarchy is of {quoted(name)}, which is no secret here"
                f"{did_you_mean(name, numbers)}"
            )
        found[numbers[name]] = source if isinstance(source, Hierarchy) else Hierarchy.read(source)
    return found


def _file_name(source: str | Path | Hierarchy) -> str:
    return source.name if isinstance(source, Hierarchy) else Path(source).name


def _all_starred(bound: BoundAttack) -> exp.Expr | None:
    """Whether all quasi-identifiers of a record are ``*``; None where that cannot be."""
    if any(family(q.type) != "VARCHAR" for q in bound.qids):
        return None
    star = exp.Literal.string(counting.STAR)
    every = [exp.EQ(this=exp.paren(normal(q)), expression=star.copy()) for q in bound.qids]
    return exp.func("coalesce", exp.paren(exp.and_(*every)), exp.false())


def _both(where: exp.Expr | None, more: exp.Expr) -> exp.Expr:
    return more if where is None else exp.and_(exp.paren(where.copy()), more)


def _count(engine: DuckDB, bound: BoundAttack) -> int:
    plan = records_plan(bound, people=True)
    return int(engine.rows(plan, "counting records", bound.dataset.name)[0][0])


def _suppressed(there: int, how: str) -> list[str]:
    """What is done with suppressed records, where there are any or it was asked."""
    if not there:
        return [] if how == counting.ORDINARY else ["no record is suppressed (all *)"]
    done = {
        counting.ORDINARY: "they are a block like any other (--suppressed says otherwise)",
        counting.EVERYONE: "their block is everyone; they are in no other block",
        counting.OUT: "they are left out",
    }
    records = several(there, "record")
    return [f"{records}: all quasi-identifiers are *, that is suppressed; {done[how]}"]


def _remarks(
    rows: list[dict[str, Any]], bound: BoundAttack, wanted: Mapping[str, Fraction]
) -> list[str]:
    """What the reader should know of these numbers."""
    notes = []
    for secret in bound.secrets:
        kind = family(secret.type)
        if kind == "VARCHAR":
            notes.append(
                f"t_ordered of {secret.name} takes the values in the order of the alphabet; if they "
                "have another, use an expression that is a number"
            )
        elif kind in NUMBERS and "t" in wanted:
            pass
    for row in rows:
        if row["measure"] == "l_recursive_c" and row["value"] is None:
            notes.append(
                f"no c is enough for (c, {row['l']})-diversity of {row['secret']}: blocks have "
                f"fewer than {row['l']} values"
            )
    if wanted.get("t") == 0:
        notes.append("t = 0 wants every block to have exactly the shares of the release")
    return notes
