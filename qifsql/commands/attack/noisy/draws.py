"""The success of an adversary with noisy knowledge, estimated from people who are drawn.

A person is drawn by weight, then what is known of them by the laws. The mean of the chance of the
best guess is the probabilistic success. Source: M156.
"""

from fractions import Fraction

from qifsql.commands.attack.noisy.coding import Coded
from qifsql.commands.attack.noisy.elimination import Outcome
from qifsql.measures.bayes import Success
from qifsql.measures.intervals import mean_of_chances
from qifsql.query.plan import Plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice

USUAL_DRAWS = 10_000  # people who are drawn where the user names no number; fewer if that makes
MOST_PAIRS = 1_000_000_000  # more pairs of a drawn person and a combination than this
FEWEST_DRAWS = 400  # even so
PARTS = 2**60  # of a probability: sums of them are of whole numbers


def draw(coded: Coded, *, seed: int, draws: int | None = None) -> None:
    """Make the table ``drawn_people``: people, and what is known of each by the noisy laws."""
    ((pairs_per_draw,),) = coded.tables.rows(coded.query("sizes"))
    # Each drawn person is compared with all people who may be meant.
    affordable = int(MOST_PAIRS / float(pairs_per_draw))
    number = draws or max(FEWEST_DRAWS, min(USUAL_DRAWS, affordable))
    numbers = {"seed": seed, "draws": number}
    coded.tables.make("drawn", coded.query("drawn", places=coded.places, numbers=numbers))
    for qid in coded.noisy:
        view = "drawn_mistaken" if qid.mistaken else "drawn_known"
        name, tables = f"drawn_{qid.number}", {"law": f"law_{qid.number}"}
        numbers = {"seed": seed, "number_of_qid": qid.number}
        coded.tables.make(name, coded.query(view, qid, numbers=numbers, tables=tables))
    people = splice("noisy/drawn_people", shape={"places": coded.places})
    coded.tables.make("drawn_people", people)
    coded.tables.drop("drawn", *(f"drawn_{qid.number}" for qid in coded.noisy))


def measure(coded: Coded, secret: int) -> Outcome:
    """Return the success at a secret (0: re-identification), estimated from ``drawn_people``.

    All people who may be meant by what is known of a drawn person are weighed, which gives the
    chance that the best guess is right.
    """
    if secret:
        coded.make_states(secret)
    shape: dict[str, Shape] = {
        "listed": [qid.number for qid in coded.noisy if not qid.mistaken],
        "mistaken": [qid.number for qid in coded.noisy if qid.mistaken],
        "secret": bool(secret),
    }
    candidates = {"coded": "state_0"} if secret else {}
    steps = (
        make_step("noisy/drawn_pairs", shape=shape, tables=candidates),
        make_step("noisy/weighed_secrets" if secret else "noisy/weighed_records", "weighed"),
        make_step("noisy/chances"),
    )
    plan = Plan(steps, coded.query("estimate"))
    # The sums of chances and of their squares are in parts (``PARTS``) of one.
    ((draws, total, squares, certain),) = coded.tables.answer(plan, "comparing drawn people")
    if secret:
        coded.tables.drop("state_0")
    mean = Fraction(int(total), PARTS * draws)
    low, high = mean_of_chances(float(mean), int(squares) / PARTS / draws, draws)
    sure = Fraction(certain, draws)
    success = Success(sure, mean, float("nan"), int(sure * coded.records))
    return Outcome(success=success, blocks=None, pairs=0, low=low, high=high, draws=draws)
