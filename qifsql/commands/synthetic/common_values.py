"""Columns whose values in a release are written in another way than in the original."""

from sqlglot import exp

from qifsql.counting.coded import POOLED_RELEASE, Coded
from qifsql.counting.compared_files import Files
from qifsql.errors import quoted
from qifsql.query.columns import number


def notes(coded: Coded, files: Files) -> list[str]:
    """Return notes on columns of which a release and the original have no value in common."""
    texts = []
    columns = (*files.qids, *files.secrets)
    for release in (r for r in coded.releases if r != POOLED_RELEASE):
        names = [name for i, name in enumerate(columns) if _differs(coded, release, i)]
        if names:
            title = files.releases[release - 1].title
            texts.append(
                f"no value of {', '.join(map(quoted, names))} is in both {title} and the "
                "original: if the release writes them in another way, low numbers say nothing; "
                "write them alike"
            )
    return texts


def _differs(coded: Coded, release: int, place: int) -> bool:
    """Return whether no value of a quasi-identifier, or of a secret after these, is in both."""
    width = len(coded.fields)
    secret = exp.column(f"secret_{place - width + 1}")
    code = coded.code_of(place, "coded") if place < width else secret
    present = exp.NEQ(this=code.copy(), expression=number(coded.missing(place)))
    sums = (exp.Sum(this=exp.column(name)) for name in ("original", f"synthetic_{release}"))
    both = exp.and_(*(exp.GT(this=total, expression=number(0)) for total in sums))
    groups = exp.select(exp.alias_(number(1), "common")).from_("coded").where(present)
    return not coded.tables.rows(groups.group_by(code).having(both).limit(1))
