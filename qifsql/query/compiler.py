"""Plans of attacks: one generated step (``microdata_steps``), and steps from ``sql/`` (``steps``).

A question is a secret together with a gain function. A view of ``sql/`` is filled once for each
question that needs it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from sqlglot import exp

from qifsql.adversary.models import Model
from qifsql.adversary.spec import BoundAttack, Microdata
from qifsql.query.columns import union
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps

Question = tuple[int, int]  # the number of a secret, and of a gain function


def questions(attack: BoundAttack) -> list[Question]:
    """Return the questions of the models: each secret (0: the owner) with each gain function."""
    secrets = {j for m in attack.models for j in numbers(attack.microdata, m)}
    return [(j, g) for j in sorted(secrets) for g in attack.asked_gains]


def profile_plan(
    steps: Steps, question_list: Sequence[Question], *, prior: bool = False, reported: bool = False
) -> Plan:
    """Return the plan of the profiles that answer the questions, numbers of secrets and gains.

    A row has ``secret``, ``gain``, ``scale`` (gains are whole numbers of 1 / scale; 1 for identity,
    gain 0) and the columns of the view ``profile``. ``prior`` leaves out the quasi-identifiers:
    there is one block of all people, even with a target. ``reported`` leaves out the people whose
    secret is missing. ``steps`` are those of the attack; the views that are read are added.
    """
    queries = []
    for j, g in question_list:
        name = steps.need("profile", j, g, prior=prior, reported=reported)
        scale = exp.column("scale", steps.need("asked", j, g)) if g else exp.Literal.number(1)
        query = numbered(j, g, exp.alias_(scale, "scale"), exp.Column(this=exp.Star(), table=name))
        query = query.from_(name)
        queries.append(query.join(steps.need("asked", j, g), join_type="cross") if g else query)
    return steps.plan(union(queries))


def step_plan(
    steps: Steps,
    name: str,
    question_list: Sequence[Question],
    *,
    prior: bool = False,
    reported: bool = False,
) -> Plan:
    """Return the plan of the rows of the view ``name`` for each question, below one another.

    A row has ``secret``, ``gain`` (the numbers of its question) and the columns of the view. For
    the other arguments see ``profile_plan``.
    """
    queries = [
        numbered(j, g, exp.Star()).from_(steps.need(name, j, g, prior=prior, reported=reported))
        for j, g in question_list
    ]
    return steps.plan(union(queries))


def kept_plan(
    steps: Steps, name: str, secret: int = 0, gain: int = 0, *, prior: bool = False
) -> tuple[str, Plan]:
    """Return the numbered name (``cells_2``) of a view for a question, and its plan, to keep it."""
    actual = steps.need(name, secret, gain, prior=prior)
    return actual, steps.plan(exp.select("*").from_(actual))


def everyone_plan(attack: BoundAttack) -> Plan:
    """Return the plan of the number of groups of people (``--by``), with those of weight 0."""
    everybody = replace(attack.microdata, weight=None, suppressed=0)
    steps = Steps(replace(attack.on(everybody), target={}))
    groups = exp.select("member_of").distinct().from_(steps.need("microdata"))
    counted = exp.select("count(*) AS groups").from_(groups.subquery("every_group"))
    return steps.plan(counted)


def answer_plan(attack: BoundAttack) -> Plan:
    """Return the plan of the success before and after, computed in SQL alone, for a prompt.

    One row per model, secret (NULL: re-identification) and gain function.
    """
    steps, names = Steps(attack), [secret.name for secret in attack.microdata.secrets]
    queries: list[exp.Select] = []
    for m in attack.models:
        for j, g in product(numbers(attack.microdata, m), attack.asked_gains):
            secret = exp.Literal.string(names[j - 1]) if j else exp.null()
            model = exp.Literal.string(m.acronym.upper())
            columns: dict[str, exp.Expr] = {"model": model, "secret": secret}
            if attack.gains:
                columns["gain"] = exp.Literal.string(attack.gain(g).text)
            named = (exp.alias_(tree, column) for column, tree in columns.items())
            queries.append(exp.select(*named, exp.Star()).from_(steps.need("answer", j, g)))
    return steps.plan(union(queries))


def guess_plan(attack: BoundAttack) -> Plan:
    """Return the plan of the best guesses about the target: ``secret``, ``gain``, ``best_guess``.

    It has a row for each secret, and for the owner (secret 0) if a key says who that is.
    """
    has_key = attack.microdata.key is not None
    steps = Steps(attack, key=has_key)
    secrets = [*range(1, len(attack.microdata.secrets) + 1), *([0] if has_key else [])]
    guess = exp.alias_(exp.cast(exp.column("best_guess"), "VARCHAR"), "best_guess")
    queries = [numbered(j, 0, guess.copy()).from_(steps.need("guesses", j)) for j in secrets]
    return steps.plan(union(queries))


def numbers(microdata: Microdata, model: Model) -> list[int]:
    """Return the numbers of the secrets of a model; 0 is the owner of the record."""
    of_owner = model.goal == "re-identification"
    return [0] if of_owner else list(range(1, len(microdata.secrets) + 1))


def numbered(j: int, g: int, *columns: exp.Expr) -> exp.Select:
    """Return a SELECT of the numbers of a secret and a gain function, and of more columns."""
    return exp.select(
        exp.alias_(exp.Literal.number(j), "secret"),
        exp.alias_(exp.Literal.number(g), "gain"),
        *columns,
    )
