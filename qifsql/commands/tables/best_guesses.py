"""The best guesses of the Bayesian adversary, from expected counts.

Source: M104.
"""

from qifsql.commands.tables.fit import CELLS, Fit
from qifsql.commands.tables.hypergraph import Edge, prune_tree
from qifsql.commands.tables.margins import Margins, has_at_most
from qifsql.commands.tables.proofs import Question
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

WHAT = "looking for the best guess"


def expected_counts(margins: Margins, fit: Fit, question: Question) -> tuple[str, Edge] | None:
    """Return the expected counts of what the best guess depends on, and these attributes.

    The table has the columns ``component``, the places, the secret's among them, and ``mean``. None
    if there are too many combinations.
    """
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    links = prune_tree(fit.links, question.scope, question.secret)
    used = frozenset().union(*(link.edge for link in links))
    edge = used & question.scope
    cliques = {link.edge: name for link, name in zip(fit.links, fit.cliques, strict=True)}
    tables = {f"clique_{k}": cliques[link.edge] for k, link in enumerate(links)}
    members: Shape = [[link.edge, link.shared] for link in links]
    shape = {"edge": edge, "cliques": members, "added": False}
    combinations = splice("tables/expected_counts", tables=tables, shape=shape)
    if len(links) > 1 and not has_at_most(margins, combinations, CELLS):
        return None
    counts = margins.make(
        "expected_counts", tables, WHAT, edge=edge, cliques=members, added=edge != used
    )
    return counts, edge


def best_guesses(margins: Margins, table: str, edge: Edge, secret: int, *, exact: bool) -> str:
    """Return the table of the best guesses: a row per combination of what is known and best value.

    ``ties`` is the number of the values that are as good.
    """
    tables, knowledge = {"expected_counts": table}, edge - {secret}
    return margins.make("best_guesses", tables, WHAT, edge=edge, knowledge=knowledge, exact=exact)
