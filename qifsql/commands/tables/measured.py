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
    """A set of tables with its bounds.

    ``closed``: the bounds are sharp by a closed form. ``open_components`` are the numbers of those
    whose bounds are not known to be sharp, ``sharp_components`` those of them that were solved.
    ``solved`` are exact solutions by question and component; ``settled`` cells of tables have one
    possible count. ``best_guesses`` has by question an engine table, made of the
    ``expected_counts``, and the attributes that the guesses depend on. ``by_component`` has the
    table of what is proved of components that were not solved. ``notes`` are remarks.
    """

    release: Release
    margins: Margins
    questions: Sequence[Question]
    published: Sequence[Published]
    closed: bool
    proofs: dict[Question, Proofs] = field(default_factory=dict)
    solved: dict[Question, dict[int, Solved]] = field(default_factory=lambda: defaultdict(dict))
    components: int = 0
    open_components: set[int] = field(default_factory=set)
    sharp_components: set[int] = field(default_factory=set)
    settled: dict[Edge, set[Cell]] = field(default_factory=lambda: defaultdict(set))
    expected_counts: Fit | None = None
    best_guesses: dict[Question, tuple[str, Edge] | None] = field(default_factory=dict)
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
