"""The success of an adversary with noisy knowledge: true values give way to what is known.

The likelihood of what is known is a product over the quasi-identifiers, so the maximum over records
and the sums over them are taken one quasi-identifier after another: each is a join with its law and
a GROUP BY, and combinations merge on the way. Source: M153 to M155.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from qifsql.commands.attack.noisy.bind import NoisyQid
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.errors import InternalError
from qifsql.measures.bayes import Success
from qifsql.query.columns import double
from qifsql.query.splice import splice

MOST_PAIRS = 200_000_000  # of a combination and what may be known instead, in one step
ROUNDING = 2.0**-51  # of a quotient of whole numbers of more than 53 bits, as a share, at most


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The success of an adversary, and the number of combinations that may be known.

    ``low`` and ``high`` are the ends of the 95 % interval of the probabilistic success, where
    people were drawn: ``draws`` is their number. ``pairs`` is how many pairs were counted.
    ``claims`` has, by threshold, the shares of the people whom she names if she speaks only when
    she is as sure of her best guess, and of those about whom she is right; none if they were drawn.
    """

    success: Success
    blocks: int | None
    pairs: int
    low: float | None = None
    high: float | None = None
    draws: int = 0
    claims: Mapping[float, tuple[Fraction, Fraction]] = field(default_factory=dict)


def elimination_order(coded: Coded) -> list[NoisyQid]:
    """Return the quasi-identifiers in the order in which what is known replaces their true values.

    Those with few pairs are first, because combinations merge; of those that may be mistaken for
    any other value the one with the most values is last, because the last needs no pairs.
    """

    def cost(qid: NoisyQid) -> tuple[bool, int, int]:
        values = coded.values[qid.number]
        if qid.mistaken:
            return True, values, qid.number
        pairs_per_value = coded.tables.count(f"law_{qid.number}") / max(1, values)
        return False, int(pairs_per_value), qid.number

    return sorted(coded.noisy, key=cost)


def measure(
    coded: Coded, secret: int = 0, *, thresholds: Sequence[float] = (), limit: int = MOST_PAIRS
) -> Outcome | None:
    """Return the exact success at a secret (0: the record); None if a step has too many pairs.

    ``thresholds`` are those of claims.
    """
    states = eliminate(coded, secret, limit=limit)
    if states is None:
        return None
    ((blocks, total, best, certain, worst),) = coded.tables.answer(coded.query("success"))
    scale = coded.scale(secret)
    claims = {threshold: _claims(coded, threshold, scale) for threshold in thresholds}
    coded.tables.drop("known", *states.names)
    if int(total) != scale:
        raise InternalError("what may be known does not add up to the people; please report this")
    sure = Fraction(int(certain), scale)
    most_right = Fraction(int(best), scale)
    success = Success(sure, most_right, float(worst), int(sure * coded.records))
    return Outcome(success=success, blocks=int(blocks), pairs=states.pairs, claims=claims)


def _claims(coded: Coded, threshold: float, scale: int) -> tuple[Fraction, Fraction]:
    """Return the shares of people who are named at a threshold, and of those named rightly.

    ``scale`` is the weight of all that may be known, in the table ``known``.
    """
    least = double(threshold * (1 - ROUNDING))
    query = splice("noisy/claims", rows={"asked": {"least": least}})
    ((named, right),) = coded.tables.rows(query)
    return Fraction(int(named), scale), Fraction(int(right), scale)


@dataclass(frozen=True, kw_only=True)
class States:
    """The tables of an elimination: ``names`` before each step, and how many pairs were made.

    ``ended_without_pairs``: the last step needed none (``_finish_without_pairs``).
    """

    names: tuple[str, ...]
    pairs: int
    ended_without_pairs: bool


def eliminate(
    coded: Coded, secret: int, *, limit: int = MOST_PAIRS, keep: bool = False
) -> States | None:
    """Create the table ``known``: a row per combination that may be known, with the best guess.

    ``state_0`` has the combinations of true values. Each step replaces the true values of one more
    quasi-identifier by what may be known instead, with its weight: ``state_i`` is after i steps.
    ``keep``: the tables of the earlier steps stay. Returns None before a step of more than
    ``limit`` pairs of a combination and a known value.
    """
    tables = coded.tables
    coded.make_states(secret)
    sequence, states, pairs = elimination_order(coded), ["state_0"], 0
    for i, qid in enumerate(sequence, 1):
        is_last = qid is sequence[-1]
        if is_last and qid.mistaken and _is_truth_likeliest(coded, qid, secret):
            _finish_without_pairs(coded, qid, secret, states[-1])
            return States(names=tuple(states), pairs=pairs, ended_without_pairs=True)
        new_pairs = _replace_values(
            coded, qid, secret, before=states[-1], after=f"state_{i}", limit=limit
        )
        if new_pairs > limit:
            tables.drop(*states)
            return None
        pairs += new_pairs
        if not keep:
            tables.drop(states.pop())
        states.append(f"state_{i}")
    view = "guesses" if secret else "settled"
    tables.make("known", coded.query(view, places=coded.places, tables={"state": states[-1]}))
    return States(names=tuple(states), pairs=pairs, ended_without_pairs=False)


def _replace_values(
    coded: Coded, qid: NoisyQid, secret: int, *, before: str, after: str, limit: int
) -> int:
    """Create the table ``after``: as ``before``, with known values of ``qid`` for the true ones.

    Return the number of pairs of a row and a known value. With more than ``limit`` there is no new
    table. Under a law by which any value may be known (``mistaken``), the values that nobody alike
    has count as one (``choices``).
    """
    tables, names = coded.tables, {"law": f"law_{qid.number}", "state": before}
    if qid.mistaken:
        tables.make("choices", coded.query("choices", qid, tables={"law": names["law"]}))
        count, view = coded.query("choice_pairs", qid, tables={"state": before}), "confused"
    else:
        count, view = coded.query("law_pairs", qid, tables=names), "spread"
    ((pairs,),) = tables.rows(count)
    if pairs <= limit:
        view = f"secret_{view}" if secret else view
        tables.make(after, coded.query(view, qid, tables=names))
    if qid.mistaken:
        tables.drop("choices")
    return int(pairs)


def _is_truth_likeliest(coded: Coded, qid: NoisyQid, secret: int) -> bool:
    """Return whether what is known of ``qid`` is never likelier to be a mistake than to be true.

    Then the last quasi-identifier needs no pairs. Re-identification (secret 0) never needs them.
    """
    if not secret:
        return True
    # Per value: the weight that it is known of those who have it, and of all others together.
    margin = exp.select("min(same - frequency * other)")
    ((least,),) = coded.tables.rows(margin.from_(exp.table_(f"law_{qid.number}")))
    return bool(least >= 0)


def _finish_without_pairs(coded: Coded, qid: NoisyQid, secret: int, state: str) -> None:
    """Create ``known`` from the table ``state``: replace the values of ``qid``, the last one.

    Each may be mistaken for any other, with the same weight. So sums over the people who share all
    else that is known (``crowds``) are enough, and no pairs of a true and a known value are made.
    """
    tables, names = coded.tables, {"law": f"law_{qid.number}", "state": state}
    if secret:
        tables.make("secrets_here", coded.query("secrets_here", qid, tables=names))
    tables.make("crowds", coded.query("secret_crowds" if secret else "crowds", qid, tables=names))
    view = "last_secret_confused" if secret else "last_confused"
    tables.make("known", coded.query(view, qid, tables=names))
    tables.drop("crowds", *(["secrets_here"] if secret else []))
