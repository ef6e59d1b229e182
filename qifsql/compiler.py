"""An attack becomes a plan: one generated step, the rest from ``sql/``.

The generated step is ``microdata``: one row per individual with ``qid_1 .. qid_k``,
``secret_1 ..``, and ``weight`` where people have weights. The user's names stand only there,
so no name of a column can break or inject anything.

The files of ``sql/`` say ``qid`` for the whole tuple of quasi-identifiers and ``secret`` for
one secret; here they are spliced into the numbered columns, in the parsed tree. A file serves
several secrets by being spliced once for each: the steps ``cells_1``, ``cells_2``, ...
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qifsql.microdata import plan
from qifsql.models import Model
from qifsql.plan import Plan
from qifsql.spec import BoundAttack
from qifsql.steps import Steps


def profile_plan(attack: BoundAttack, *, prior: bool = False) -> Plan:
    """The profile of every secret (numbered from 1; 0 is re-identification).

    ``prior`` leaves out the quasi-identifiers: one block, and everybody even if there is a
    target. Works for secrets of any number of values.
    """
    steps = Steps(attack, prior=prior)
    return plan(attack, steps.steps, _profiles(steps.every_profile(), steps.prefix))


def tally_plan(attack: BoundAttack, values: Mapping[int, int]) -> Plan:
    """The same profiles, faster where secrets have few values: ``values`` of each of these.

    Secrets that are not in ``values`` are counted as in ``profile_plan``.
    """
    steps = Steps(attack)
    tallies = [(j, c) for j, n in values.items() for c in range(1, n)]
    for j in values:
        steps.add("secret_values", j, materialized=True)
    steps.add("tallies", None, tallies=tallies)
    steps.add("signatures", None, tallies=tallies, materialized=True)
    for j in values:
        own = [t for t in tallies if t[0] == j]
        steps.add("tally_profile", j, as_="profile", tallies=own)
    for j in range(1, len(attack.secrets) + 1):
        if j not in values:
            steps.profile(j)
    return plan(attack, steps.steps, _profiles(range(1, len(attack.secrets) + 1)))


def answer_plan(attack: BoundAttack) -> Plan:
    """The success before and after, divided in SQL too: what people paste into a prompt."""
    wanted = [(m, j) for m in attack.models for j in numbers(attack, m)]
    prior = Steps(attack, prior=True)
    after = Steps(attack, skip=prior.names)
    for _, j in wanted:
        prior.profile(j)
        after.profile(j)
    rows: list[exp.Select] = []
    for m, j in wanted:
        after.add("answer", j, rename={"prior": f"prior_profile_{j}"})
        secret = exp.Literal.string(attack.secrets[j - 1].name) if j else exp.null()
        columns = (
            exp.alias_(exp.Literal.string(m.acronym.upper()), "model"),
            exp.alias_(secret, "secret", quoted=False),
            exp.Star(),
        )
        rows.append(exp.select(*columns).from_(f"answer_{j}"))
    return plan(attack, (*prior.steps, *after.steps), union(rows))


def guess_plan(attack: BoundAttack) -> Plan:
    """The best guess about the target: of each secret, and (0) of the owner if there is a key."""
    steps = Steps(attack, key=attack.key is not None)
    asked = list(range(1, len(attack.secrets) + 1)) + ([0] if attack.key else [])
    rows: list[exp.Select] = []
    for j in asked:
        steps.profile(j)
        steps.add("guesses" if j else "owner_guesses", j, as_="guesses")
        guess = exp.cast(exp.column("best_guess"), "VARCHAR")
        rows.append(numbered(j, exp.alias_(guess, "best_guess")).from_(f"guesses_{j}"))
    return plan(attack, steps.steps, union(rows))


def numbers(attack: BoundAttack, model: Model) -> list[int]:
    """The secrets that a model asks about, by number; 0 is whose record it is."""
    if model.goal == "re-identification":
        return [0]
    return list(range(1, len(attack.secrets) + 1))


def numbered(j: int, *columns: exp.Expr) -> exp.Select:
    """A SELECT of the number of a secret, and more columns."""
    return exp.select(exp.alias_(exp.Literal.number(j), "secret"), *columns)


def union(queries: Sequence[exp.Select]) -> exp.Query:
    """All rows of all queries."""
    return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]


def _profiles(numbers: Sequence[int], prefix: str = "") -> exp.Query:
    return union([numbered(j, exp.Star()).from_(f"{prefix}profile_{j}") for j in numbers])
