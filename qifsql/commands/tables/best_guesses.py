"""The best guesses of the Bayesian adversary, from expected counts.

Source: M104.
"""

from sqlglot import exp

from qifsql.commands.tables.fit import CELLS, Fit, joined_on
from qifsql.commands.tables.hypergraph import Edge, prune_tree
from qifsql.commands.tables.margins import Margins, group_by_edge, has_at_most, places
from qifsql.commands.tables.proofs import Question

TIE, TIE_EXACT = 1e-7, 1e-12  # values this close to the best, in parts of it, are as good


def expected_counts(margins: Margins, fit: Fit, question: Question) -> tuple[str, Edge] | None:
    """Return the expected counts of what the best guess depends on, and these attributes.

    The table has the columns ``component``, the places, the secret's among them, and ``mean``. None
    if there are too many combinations.
    """
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    links = prune_tree(fit.links, question.scope, question.secret)
    used = frozenset().union(*(link.edge for link in links))
    edge = used & question.scope
    tables = {link.edge: name for link, name in zip(fit.links, fit.cliques, strict=True)}
    product: exp.Expr = exp.column("mean", "clique_0")
    query = exp.select("clique_0.component", *places(edge))
    for k, link in enumerate(links):
        name = tables[link.edge]
        alias = f"clique_{k}"
        if not k:
            query = query.from_(exp.alias_(exp.to_table(name), alias, table=True))
            continue
        margin = group_by_edge(exp.select().from_(name), link.shared).select("sum(mean) AS mean")
        share = exp.select(*places(link.edge, "cells"))
        ratio = exp.Div(this=exp.column("mean", "cells"), expression=exp.column("mean", "margins"))
        share = share.select(ratio.as_("mean"))
        share = share.from_(exp.alias_(exp.to_table(name), "cells", table=True))
        share = joined_on(share, margin.subquery("margins"), link.shared)
        if link.shared:
            using = tuple(places(link.shared))
            query = query.join(share.subquery(alias), using=using)
        else:
            query = query.join(share.subquery(alias), join_type="cross")
        product = exp.Mul(this=product, expression=exp.column("mean", alias))
    if len(links) > 1 and not has_at_most(margins, query, CELLS):
        return None
    if edge == used:
        query = query.select(product.as_("mean"))
    else:
        query = query.select(exp.Sum(this=product).as_("mean"))
        query = query.group_by("clique_0.component", *places(edge))
    return margins.keep(query, "looking for the best guess"), edge


def best_guesses(margins: Margins, table: str, edge: Edge, secret: int, *, exact: bool) -> str:
    """Return the best guesses by what is known: ``mean``, and ``ties`` of the values as good.

    One row per combination of what is known and best value of the secret.
    """
    knowledge = edge - {secret}
    near = 1 - (TIE_EXACT if exact else TIE)
    best = exp.Window(this=exp.Max(this=exp.column("mean")), partition_by=list(places(knowledge)))
    query = exp.select("component", *places(edge), "mean", best.as_("best")).from_(table)
    enough = exp.Mul(this=exp.column("best"), expression=exp.Literal.number(near))
    chosen = exp.select("component", *places(edge), "best").from_(query.subquery("every"))
    chosen = chosen.where(exp.GTE(this=exp.column("mean"), expression=enough))
    ties = exp.Window(this=exp.Count(this=exp.Star()), partition_by=list(places(knowledge)))
    final = exp.select("*", ties.as_("ties")).from_(chosen.subquery("chosen"))
    return margins.keep(final, "looking for the best guess")
