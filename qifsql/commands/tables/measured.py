"""A set of tables with its bounds, and what is solved of its components."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from qifsql.commands.tables.arrays import Cell, Solved
from qifsql.commands.tables.fit import Fit
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import Margins, Published
from qifsql.commands.tables.proofs import Proofs, Question
from qifsql.commands.tables.table_release import Release
from qifsql.query.columns import number


@dataclass
class Measured:
    """A set of tables with its bounds, what they prove, and the solutions of its components."""

    release: Release
    margins: Margins
    questions: Sequence[Question]
    published: Sequence[Published]
    closed: bool  # whether the bounds are sharp by a closed form
    proofs: dict[Question, Proofs] = field(default_factory=dict)
    components: int = 0
    open_components: set[int] = field(default_factory=set)  # bounds are not known to be sharp
    sharp_components: set[int] = field(default_factory=set)  # those of them that were solved
    # Exact solutions by component.
    solved: dict[Question, dict[int, Solved]] = field(default_factory=lambda: defaultdict(dict))
    # Cells of tables with one possible count, by the attributes of the table.
    settled: dict[Edge, set[Cell]] = field(default_factory=lambda: defaultdict(set))
    expected_counts: Fit | None = None
    # The engine table of best guesses by expected counts, and the attributes they depend on.
    best_guesses: dict[Question, tuple[str, Edge] | None] = field(default_factory=dict)
    # The engine table of what is proved of each component that was not solved.
    by_component: dict[Question, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def averaged(self, question: Question) -> dict[int, Solved]:
        """Return the components with exact expected counts: those whose arrays were all listed."""
        return {c: s for c, s in self.solved[question].items() if s.believed is not None}


def without_components(
    query: exp.Select, components: Collection[int], table: str | None = None
) -> exp.Select:
    """Return a query without the rows of components; ``table`` has the column ``component``."""
    if not components:
        return query
    return query.where(exp.not_(in_components(components, table)))


def in_components(components: Collection[int], table: str | None = None) -> exp.Expr:
    """Return the condition that a row is of one of the components."""
    return exp.column("component", table).isin(*map(number, sorted(components)))
