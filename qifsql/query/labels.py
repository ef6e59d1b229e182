"""The user's names for the numbered columns of steps, for people who read or query them.

Steps name quasi-identifiers ``qid_1``, ``qid_2``, ... and secrets ``secret_1``, ... What the user
queries has the names of the file instead.
"""

from collections.abc import Iterable, Mapping

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.data.expressions import identifier
from qifsql.query.columns import unique


def labels(microdata: Microdata, queries: Iterable[exp.Query]) -> dict[str, str]:
    """Return the user's name of each numbered column.

    A name that a query with such columns uses for something else gets a number: ``size_2``.
    """
    numbered = {
        f"{role}_{i}": attribute.name
        for role, attributes in (("qid", microdata.qids), ("secret", microdata.secrets))
        for i, attribute in enumerate(attributes, 1)
    }
    used = [{node.name.casefold() for node in query.find_all(exp.Identifier)} for query in queries]
    taken = {name for names in used if names & set(numbered) for name in names - set(numbered)}
    names = unique([*sorted(taken), *numbered.values()])[len(taken) :]
    return dict(zip(numbered, names, strict=True))


def labelled(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Return a query of steps with the names of ``labels`` in place of the numbered columns."""
    changed = query.copy()
    for node in list(changed.find_all(exp.Identifier)):
        if node.name in names:
            node.replace(identifier(names[node.name]))
    return changed


def labelled_columns(query: exp.Query, names: Mapping[str, str]) -> list[exp.Expr]:
    """Return the columns that a generated query selects, under the names of ``labels``.

    The user's own names inside of it stay as they are.
    """
    columns = [(column.unalias(), column.alias_or_name) for column in query.selects]
    return [exp.alias_(tree, identifier(names.get(name, name))) for tree, name in columns]
