"""Strata: groups of records that no class mixes, such as regions.

The column is coded as the last place, behind those of the quasi-identifiers. Mondrian and MDAV
begin with one part per stratum, in which that place has no width, so no cut and no distance is
about it. Recode and lattice keep it at its only step, the values as they are.
"""

from qifsql.adversary.spec import Microdata
from qifsql.commands.anonymise.spec import Request
from qifsql.counting.passes import Passes
from qifsql.errors import ColumnError, InputError, quoted


def check_column(microdata: Microdata) -> None:
    """Refuse strata (``by``) that are a quasi-identifier or a secret."""
    roles = {q.name: "a quasi-identifier" for q in microdata.qids}
    roles |= {s.name: "the secret" for s in microdata.secrets}
    if microdata.by is not None and (role := roles.get(microdata.by.name)):
        name = quoted(microdata.by.name)
        raise ColumnError(f"strata stay as they are, and {name} is {role}; name it once")


def check_sizes(passes: Passes, request: Request, name: str) -> None:
    """Refuse strata that break a limit as one class, so that no part of them can be a class.

    ``name`` is that of the column. MDAV may suppress strata that break a limit on a secret.
    """
    coded, limits = passes.coded, request.limits
    shape = {"people": coded.owners is not None}
    total, broken = passes.row(passes.query("strata", {"wanted_k": limits.k}, shape))
    limit = f"k={limits.k}"
    if not broken and coded.secrets:
        broken, limit = passes.broken(limits), limits.diversity
        broken *= request.method == "mondrian" or broken == total
    if broken:
        raise InputError(
            f"{broken:,} of the {total:,} groups of {name} break {limit} even as one class; merge "
            "groups with NAME=EXPRESSION, ask for less, or suppress their records (--method recode "
            "or lattice, --suppress)"
        )
