"""The attack on tables of a release: rows of each question, details, remarks and the verdict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from qifsql.commands.tables import breakdown, dimensions
from qifsql.commands.tables import remedies as remedy
from qifsql.commands.tables.margins import ContradictionError, Domain
from qifsql.commands.tables.measured import Measured
from qifsql.commands.tables.proofs import Question
from qifsql.commands.tables.question_rows import question_row
from qifsql.commands.tables.solver import Memory
from qifsql.commands.tables.spec import TableOptions
from qifsql.commands.tables.table_release import Release
from qifsql.commands.tables.table_sets import Budget, contradiction_error, measure_tables
from qifsql.data.option import as_names, as_tuple
from qifsql.errors import InputError, quoted

LARGEST = 2**63 - 1  # of the whole numbers of a result


@dataclass
class TableMeasures:
    """The rows of all sets of tables, the details of the whole set, remarks, and the verdict."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, pl.DataFrame] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    met: bool | None = None


class TableAttack:
    """The attack on the tables of a release."""

    def __init__(
        self,
        options: TableOptions,
        release: Release,
        names: Mapping[str, str] | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Look up the questions; ``names`` are new names of dimensions by old ones."""
        self.options, self.release = options, release
        self.questions, self.knowledge = questions(release.domain, self.options, names or {})
        self.budget = Budget(self.options["time_budget"], memory)

    def measure(self, chosen: Sequence[Any]) -> Measured:
        """Return one set of tables with its bounds; refuse tables that contradict each other."""
        pairs = [a.edge | b.edge for a, b in breakdown.pairs(chosen)]
        try:
            return measure_tables(self.release, chosen, self.questions, self.budget, pairs)
        except ContradictionError as e:
            raise contradiction_error(self.release, chosen) from e

    def rows(self, measured: Measured) -> list[dict[str, Any]]:
        """Return the row of each question, with what is known in the order of the request."""
        named = {"known": self.knowledge} if self.knowledge else {}
        return [question_row(measured, question) | named for question in self.questions]

    def run(self) -> TableMeasures:
        """Attack the tables, first progressively if asked; return rows, details and the verdict."""
        options, every = self.options, self.release.published  # every table
        answer = TableMeasures()
        by = group_dimension(self.release.domain, options)
        for n in range(1, len(every)) if options["progressive"] else ():
            measured = self.measure(every[:n])
            answer.rows += self.rows(measured)
            measured.margins.close()
        measured = self.measure(every)
        answer.rows += self.rows(measured)
        answer.details["checks"] = breakdown.checks(measured, options["small"])
        answer.details["disclosure"] = breakdown.disclosure(measured)
        answer.details["overlaps"] = breakdown.overlaps(measured, options["small"])
        if worst := [r for q in self.questions for r in breakdown.components(measured, q)]:
            answer.details["components"] = pl.DataFrame(worst, schema=breakdown.COMPONENTS)
        if by is not None:
            answer.details["groups"] = breakdown.groups(measured, self.questions, by)
        if options["show_cells"]:
            answer.details |= breakdown.cell_details(measured, self.questions[0])
        answer.notes += [*dict.fromkeys(measured.notes), *_notes(measured, answer.rows)]
        self._judge(answer)
        measured.margins.close()
        for row in answer.rows:
            if row["cells_proved"] is not None and row["cells_proved"] > LARGEST:
                row["cells_proved"] = None  # the column is of 64 bits
        return answer

    def _judge(self, answer: TableMeasures) -> None:
        """Set ``answer.met``: whether the required bounds hold for all tables together."""
        limits = remedy.parse_limits(as_tuple(self.options["require"]))
        if not limits:
            return
        undone = int(answer.details["checks"]["undone"].sum())
        last_rows = answer.rows[-len(self.questions) :]  # those of all tables
        rows = [row | {"undone": undone} for row in last_rows]
        broken = [limit.text for limit in limits if remedy.largest_distance(rows, [limit])]
        answer.met = not broken
        if broken:
            answer.notes.append(f"not met: {', '.join(broken)}")

    def without(self) -> Iterator[dict[str, Any]]:
        """Yield, for each table, the rows of the attack on the tables without it."""
        every = self.release.published
        for k, table in enumerate(every):
            measured = self.measure([*every[:k], *every[k + 1 :]])
            yield from ({"without": table.title} | line for line in self.rows(measured))
            measured.margins.close()


def questions(
    domain: Domain, options: TableOptions, names: Mapping[str, str]
) -> tuple[list[Question], list[str]]:
    """Return a question per secret, or re-identification, and the dimensions named as known.

    Without such names (an empty list) the adversary knows all dimensions but the secret. ``names``
    are new names of dimensions, which a remedy made coarser, by old ones.
    """
    numbers = {name: i for i, name in domain.names.items()}

    def dimensions_of(option: str) -> list[str]:
        texts = as_names(options[option])  # type: ignore[literal-required]
        return [dimensions.find_dimension(names.get(n, n), numbers, option) for n in texts]

    knowledge, secrets = dimensions_of("known"), dimensions_of("secret")
    for name in secrets:
        if name in knowledge:
            raise InputError(
                f"secret {quoted(name)} is among the known dimensions; what the adversary knows is "
                "not a secret: take it out of one of them"
            )
    if len(set(secrets)) < len(secrets):
        raise InputError("a secret is given twice; give it once")
    attributes = frozenset(numbers[name] for name in knowledge) if knowledge else domain.every
    if not secrets:  # re-identification
        return [Question(attributes, None)], knowledge
    return [Question(attributes - {numbers[name]}, numbers[name]) for name in secrets], knowledge


def group_dimension(domain: Domain, options: TableOptions) -> int | None:
    """Return the number of the dimension whose values are groups; None without groups."""
    if options["by"] is None:
        return None
    numbers = {name: i for i, name in domain.names.items()}
    return numbers[dimensions.find_dimension(options["by"], numbers, "group")]


def _notes(measured: Measured, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return remarks on bounds that may not be sharp, and on counts that were fitted."""
    notes = []
    last = rows[-1]  # of all tables together
    if last["components_open"]:
        notes.append(
            f"the bounds of {last['components_open']:,} of {last['components']:,} components may "
            "not be sharp: more may be proved than is told; give more time (--time-budget)"
        )
    if last["estimate"] and last["believed"] is not None:
        notes.append(
            "believed and actual success are of expected counts that were fitted (greatest "
            "entropy); a hidden count beside large ones is expected near its largest value"
        )
    if measured.counts is not None and measured.counts.moved > 1e-6:
        notes.append(
            f"the fit of expected counts stopped while {measured.counts.moved:.2g} of the people "
            "of a component still moved"
        )
    return notes
