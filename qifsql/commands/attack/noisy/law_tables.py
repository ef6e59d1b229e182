"""The laws of what is known as tables in the engine: of each value, what may be known of it."""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qifsql.commands.attack.noisy import law_files, true_values
from qifsql.commands.attack.noisy.bind import NoisyQid, relative_error, shifts, widest_shift
from qifsql.commands.attack.noisy.coding import Coded, with_table
from qifsql.data.dataset import Dataset
from qifsql.errors import InputError, plural, quoted
from qifsql.query.columns import double, number
from qifsql.query.plan import Plan, Step

LAW_ROWS = 50_000_000  # most pairs of a true value and what may be known instead
SLIGHT = 1e-6  # relative errors up to this are not mentioned
FAR = 2**60  # numbers beyond have no law


def make(coded: Coded, lines: Mapping[int, tuple[Dataset, Step]]) -> None:
    """Create the tables ``law_i`` of all columns that are not known exactly, and note how.

    ``lines`` has, by number of a column, the file and the lines of a law that names one.
    """
    laws = (*coded.noisy, *coded.randomised.values())
    for qid in laws:
        _make_law(coded, qid, lines)
    coded.notes += _note_on_rounding(coded, [q for q in laws if q.rounded])


def _make_law(coded: Coded, qid: NoisyQid, lines: Mapping[int, tuple[Dataset, Step]]) -> None:
    """Create the table ``law_i``: what may be known of each value, with weights."""
    match qid.law.kind:
        case "within" | "sd":
            plan = Plan((), _shifted_values(coded, qid))
        case "missing":
            unknown = int(qid.law.number * qid.scale)
            weights = {"known_weight": qid.scale - unknown, "unknown_weight": unknown}
            plan = Plan((), coded.query_values(qid, "forgotten", weights))
        case "right":
            plan = Plan((), _confused_values(coded, qid))
        case "matrix":
            plan = true_values.plan_restored(coded, qid, *lines[qid.number])
        case _:
            plan = law_files.plan_listed(coded, qid, *lines[qid.number])
    coded.tables.make(f"law_{qid.number}", plan)
    if qid.mistaken:
        _check_truths(coded, qid)


def _check_truths(coded: Coded, qid: NoisyQid) -> None:
    """Refuse a law ``right=...`` whose chance of a true value is rounded away."""
    least = exp.select(exp.Min(this=exp.column("same")))
    ((smallest,),) = coded.tables.rows(least.from_(exp.table_(f"law_{qid.number}")))
    if smallest <= 0:
        raise InputError(
            f"right of {quoted(qid.attribute.name)} is too small to be measured; write a "
            "larger probability, such as 0.001"
        )


def _shifted_values(coded: Coded, qid: NoisyQid) -> exp.Select:
    """Return the query of a law of numbers (+-2, sd=2); refuse values that it does not fit."""
    name = quoted(qid.attribute.name)
    ((least, greatest, fractional),) = coded.tables.rows(coded.query_values(qid, "whole"))
    if fractional:
        raise InputError(
            f"{plural(fractional, 'value')} of {name} are not whole numbers, so {qid.law.law} "
            "does not fit it; round it, as in --qids NAME=round(COLUMN)"
        )
    least, greatest = int(least or 0), int(greatest or 0)
    widest = widest_shift(qid.law)
    if max(abs(least), abs(greatest)) > FAR:
        raise InputError(f"{name} has numbers beyond 2^60, for which there is no law")
    if coded.values[qid.number] * (2 * widest + 1) > LAW_ROWS:
        raise InputError(
            f"{qid.law.law} of {name} makes more than {LAW_ROWS:,} pairs of a value and what "
            "may be known instead; measure in larger units, as in --qids "
            "thousands=income//1000"
        )
    query = coded.query_values(qid, "shifted", {"widest": widest})
    return with_table(query, "shifts", _shifts_query(qid, widest))


def _shifts_query(qid: NoisyQid, widest: int) -> exp.Select:
    """Return the query of errors (``shift``, from -widest to widest) and their weights."""
    if qid.law.kind == "within":  # all shifts weigh 1
        ends = [number(-widest), number(widest + 1)]
        values: exp.Expr = exp.Anonymous(this="range", expressions=ends)
        weight: exp.Expr = exp.cast(number(1), "HUGEINT")
    else:
        pairs = shifts(qid.law, qid.scale)
        values = exp.Array(expressions=[number(j) for j, _ in pairs])
        weights = exp.Array(expressions=[number(w) for _, w in pairs])
        weight = exp.cast(exp.Anonymous(this="unnest", expressions=[weights]), "HUGEINT")
    shift = exp.Anonymous(this="unnest", expressions=[values])
    return exp.select(exp.alias_(shift, "shift"), exp.alias_(weight, "weight"))


def _confused_values(coded: Coded, qid: NoisyQid) -> exp.Select:
    """Return the query of a law ``right=0.9``: a value is known as itself or as any other."""
    wrong = 1 - qid.law.number
    if not qid.rounded:
        return coded.query_values(qid, "exact_confusions", {"wrong_weight": int(wrong * qid.scale)})
    query = coded.query_values(qid, "confusions")
    share = double(float(wrong))
    for node in list(query.find_all(exp.Column)):
        if node.name == "wrong_share":
            node.replace(share.copy())
    return query


def _note_on_rounding(coded: Coded, rounded: Sequence[NoisyQid]) -> list[str]:
    """Return a note on the laws whose probabilities are rounded; [] if none is."""
    if not rounded:
        return []
    bits = min(q.scale for q in rounded).bit_length() - 1
    names = ", ".join(quoted(q.attribute.name) for q in rounded)
    text = f"the probabilities of what is known of {names} are rounded to parts of 2^-{bits}"
    error = float(relative_error(coded.noisy, coded.people))
    if error > SLIGHT:
        text += f"; those of a mistaken value are at most {100 * error:.2g} % off"
    return [text]
