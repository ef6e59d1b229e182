"""The laws of noisy knowledge as tables: of each value, what may be known of it.

A law is a rule, a file that says what is known as what, or the matrix by which values were drawn.
Of a matrix, the shares of the true values are told by its file, or estimated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from qifsql.adversary import value_files
from qifsql.commands.attack.noisy.bind import NoisyQid, relative_error, shifts, widest_shift
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.counting import transition_files
from qifsql.counting.transition_files import MOST_PAIRS
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import column
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError, plural, quoted
from qifsql.measures.randomised import MOST_SEARCHED, estimate_true_shares
from qifsql.query.columns import double, number
from qifsql.query.plan import Plan, Step

MOST_LAW_ROWS = 50_000_000  # pairs of a true value and what may be known instead
SLIGHT_ERROR = 1e-6  # relative errors up to this are not mentioned
LARGEST_NUMBER = 2**60  # with a law
COLUMNS_OF_LAW = ("value", "known as", "probability")
ORIGINS = "One row per true value and released value that a matrix may make of it."
RESTORED = "One row per released value and true value that it may stand for: the chance of that."


def read_tables(noisy: Sequence[NoisyQid], engine: Engine) -> dict[int, tuple[Dataset, Step]]:
    """Return the files that laws name, by number, and their lines with the column's type."""
    tables = {q.number: _read_table(q, engine) for q in noisy if q.law.kind == "table"}
    matrices = {
        q.number: transition_files.read_lines(engine, q.law.table, q.attribute)
        for q in noisy
        if q.law.kind == "matrix"
    }
    return tables | matrices


def _read_table(qid: NoisyQid, engine: Engine) -> tuple[Dataset, Step]:
    """Return the file of a law and its lines: value, label (known as), unfit, probability."""
    opened = Dataset.open(qid.law.table)
    opened = replace(opened, catalog="attached_table", all_varchar=opened.format == "csv")
    catalog = Catalog(engine, opened)
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was opened as one
    dataset, schema = catalog.dataset, catalog.schema
    label = schema.find("known as") or schema.find("known_as") or schema.find("known")
    value, chance = schema.find("value"), schema.find("probability")
    if value is None or label is None or chance is None:
        raise InputError(
            f"{dataset.name} does not say what is known as what; it needs the columns "
            f"{', '.join(COLUMNS_OF_LAW)}"
        )
    text = exp.cast(column(label), "VARCHAR")
    typed = value_files.typed(column(value), qid.attribute)
    fits = value_files.typed(column(label), qid.attribute)
    unfit = exp.and_(exp.not_(column(value).is_(exp.null())), typed.copy().is_(exp.null()))
    columns = {
        "value": typed,
        "label": exp.func("coalesce", exp.cast(fits, "VARCHAR"), text),
        "unfit": unfit,
        "probability": value_files.number(chance),
    }
    doc = "One row per line of a table of what is known as what."
    return dataset, Step("listed", doc, value_files.lines(dataset, columns))


def make(coded: Coded, lines: Mapping[int, tuple[Dataset, Step]]) -> None:
    """Create the tables ``law_i`` of all columns that are not known exactly.

    ``lines`` has, by number of a column, the file and the lines of a law that names one. If
    probabilities are rounded, a note is added to ``coded``.
    """
    columns = (*coded.noisy, *coded.randomised.values())
    for qid in columns:
        _make_law(coded, qid, lines)
    if rounded := [q for q in columns if q.rounded]:
        bits = min(q.scale for q in rounded).bit_length() - 1
        names = ", ".join(quoted(q.attribute.name) for q in rounded)
        text = f"the probabilities of what is known of {names} are rounded to parts of 2^-{bits}"
        error = float(relative_error(coded.noisy, coded.people))
        if error > SLIGHT_ERROR:
            text += f"; those of a mistaken value are at most {100 * error:.2g} % off"
        coded.notes.append(text)


def _make_law(coded: Coded, qid: NoisyQid, lines: Mapping[int, tuple[Dataset, Step]]) -> None:
    """Create the table ``law_i``: what may be known of each value of column i, with weights.

    A law ``right`` is shorter: a row per value, with the weight that it is known (``same``), and
    that of any other value.
    """
    match qid.law.kind:
        case "within" | "sd":
            plan = _plan_shifted(coded, qid)
        case "missing":
            unknown = int(qid.law.number * qid.scale)
            weights = {"known_weight": qid.scale - unknown, "unknown_weight": unknown}
            plan = Plan((), coded.query_values(qid, "forgotten", weights))
        case "right" if qid.rounded:  # a value is known as itself, or as any other
            wrong_share = exp.alias_(double(float(1 - qid.law.number)), "wrong_share")
            mistake = Step("asked", "One row: the chance of a mistake.", exp.select(wrong_share))
            plan = Plan((mistake,), coded.query_values(qid, "confusions"))
        case "right":
            weight = {"wrong_weight": int((1 - qid.law.number) * qid.scale)}
            plan = Plan((), coded.query_values(qid, "exact_confusions", weight))
        case "matrix":
            plan = _plan_restored(coded, qid, *lines[qid.number])
        case _:
            plan = _plan_listed(coded, qid, *lines[qid.number])
    coded.tables.make(f"law_{qid.number}", plan)
    if not qid.mistaken:
        return
    least = exp.select("min(same)")
    ((smallest,),) = coded.tables.rows(least.from_(exp.table_(f"law_{qid.number}")))
    if smallest <= 0:  # the chance of a true value is rounded away
        raise InputError(
            f"right of {quoted(qid.attribute.name)} is too small to be measured; write a "
            "larger probability, such as 0.001"
        )


def _plan_shifted(coded: Coded, qid: NoisyQid) -> Plan:
    """Return the plan of a law of numbers (+-2, sd=2); refuse values that it does not fit."""
    name = quoted(qid.attribute.name)
    ((least, greatest, fractional),) = coded.tables.rows(coded.query_values(qid, "whole"))
    if fractional:
        raise InputError(
            f"{plural(fractional, 'value')} of {name} are not whole numbers, so {qid.law.law} "
            "does not fit it; round it, as in --qids NAME=round(COLUMN)"
        )
    least, greatest = int(least or 0), int(greatest or 0)
    widest = widest_shift(qid.law)
    if max(abs(least), abs(greatest)) > LARGEST_NUMBER:
        raise InputError(f"{name} has numbers beyond 2^60, for which there is no law")
    if coded.values[qid.number] * (2 * widest + 1) > MOST_LAW_ROWS:
        raise InputError(
            f"{qid.law.law} of {name} makes more than {MOST_LAW_ROWS:,} pairs of a value and what "
            "may be known instead; measure in larger units, as in --qids "
            "thousands=income//1000"
        )
    if qid.law.kind == "within":  # all errors, from -widest to widest, weigh 1
        ends = [number(-widest), number(widest + 1)]
        values: exp.Expr = exp.Anonymous(this="range", expressions=ends)
        weight: exp.Expr = exp.cast(number(1), "HUGEINT")
    else:
        pairs = shifts(qid.law, qid.scale)
        values = exp.Array(expressions=[number(j) for j, _ in pairs])
        weights = exp.Array(expressions=[number(w) for _, w in pairs])
        weight = exp.cast(exp.Anonymous(this="unnest", expressions=[weights]), "HUGEINT")
    shift = exp.Anonymous(this="unnest", expressions=[values])
    errors = exp.select(exp.alias_(shift, "shift"), exp.alias_(weight, "weight"))
    step = Step("shifts", "One row per error: its weight.", errors)
    return Plan((step,), coded.query_values(qid, "shifted", {"widest": widest}))


def _plan_listed(coded: Coded, qid: NoisyQid, dataset: Dataset, step: Step) -> Plan:
    """Return the plan of a law from a table, whose lines are ``step``; refuse wrong lines."""
    ((lines, unfit, wrong, twice, values, unsound),) = coded.tables.rows(
        Plan((step,), coded.query("lawless")), "checking a table"
    )
    if not lines:
        raise InputError(f"{dataset.name} has no lines; each line is {', '.join(COLUMNS_OF_LAW)}")
    counts = unfit, wrong, twice
    transition_files.refuse_lines(dataset.name, qid.attribute, "a value and a label", counts)
    if unsound:
        raise InputError(
            f"the probabilities of {unsound:,} of {plural(values, 'value')} in "
            f"{dataset.name} do not add up to 1; a value that may be known as itself needs a "
            "line for that, too"
        )
    return _plan_labelled(coded, qid, step)


def _plan_labelled(coded: Coded, qid: NoisyQid, *steps: Step) -> Plan:
    """Return the plan of a law from the last step, ``listed``: values, labels, chances."""
    labelled = Step("labelled", "One row per value and label.", coded.query_values(qid, "labelled"))
    return Plan((*steps, labelled), coded.query("numbered"))


def _plan_restored(coded: Coded, qid: NoisyQid, dataset: Dataset, step: Step) -> Plan:
    """Return the plan of a law from the lines of a matrix: what a released value stands for.

    By Bayes' rule, the chance of a true value is in proportion to its share of all records (told by
    the matrix, or estimated) times the probability that it is released as that value.
    """
    transition_files.check(coded.tables.engine, step, dataset, qid.attribute)
    origins = Step("origins", ORIGINS, coded.query_values(qid, "origins"))
    has_shares = _tells_shares(coded, dataset.name, step)
    columns = exp.select("origin", "code", "probability", "share")
    pairs = Plan((step, origins), columns.from_("origins").limit(MOST_PAIRS + 1))
    shares = _true_shares(coded, qid, dataset.name, pairs, has_shares=has_shares)
    fitting_plan = Plan((step,), coded.query_values(qid, "fitting_releases"))
    ((released, fitting),) = coded.tables.rows(fitting_plan)
    if released and not fitting:  # all released values would stand for themselves
        raise InputError(
            f"{dataset.name} leads to no value that {quoted(qid.attribute.name)} has; name the "
            "matrix by which the release was drawn"
        )
    restored = Step("listed", RESTORED, coded.query_values(qid, "restored"))
    return _plan_labelled(coded, qid, step, origins, _shares_step(shares), restored)


def _shares_step(shares: Sequence[float]) -> Step:
    """Return the step ``shares``: the number of each true value (``origin``), and its share."""
    numbers = exp.Anonymous(this="range", expressions=[number(1), number(len(shares) + 1)])
    values = exp.Array(expressions=[double(share) for share in shares])
    columns = [
        exp.alias_(exp.Anonymous(this="unnest", expressions=[elements]), name)
        for name, elements in {"origin": numbers, "share": values}.items()
    ]
    return Step("shares", "One row per true value: its share.", exp.select(*columns))


def _tells_shares(coded: Coded, file: str, step: Step) -> bool:
    """Return whether a matrix tells the shares of all true values; refuse wrong shares."""
    ((lines, wrong, adds_up),) = coded.tables.rows(Plan((step,), coded.query("told_shares")))
    if lines and wrong:
        raise InputError(
            f"{plural(wrong, 'value')} that {file} leads from have no share from 0 to 1, or "
            "several; each line has the share of its value before, or none has one"
        )
    if lines and not adds_up:
        raise InputError(f"the shares of the values that {file} leads from do not add up to 1")
    return bool(lines)


def _true_shares(
    coded: Coded, qid: NoisyQid, file: str, pairs: Plan, *, has_shares: bool
) -> list[float]:
    """Return the shares of the true values; refuse released values that the matrix excludes.

    ``pairs`` has a row per true and released value: their numbers, the probability, and the
    share if the file ``has_shares``; otherwise the shares are estimated.
    """
    rows = sorted(coded.tables.rows(pairs))
    name = quoted(qid.attribute.name)
    if len(rows) > MOST_PAIRS:
        raise InputError(
            f"{name} and {file} make more than {MOST_PAIRS:,} pairs of a true and a released "
            "value; attack coarser values"
        )
    dictionary = exp.table_(f"dictionary_{qid.number}")
    frequencies = exp.select("code", "frequency").from_(dictionary)
    counts = {code: int(n) for code, n in sorted(coded.tables.rows(frequencies)) if n}
    if impossible := counts.keys() - {code for _, code, _, share in rows if share != 0}:
        raise InputError(
            f"{plural(len(impossible), 'value')} of {name} cannot come of {file}; name the "
            "matrix by which the release was drawn"
        )
    if has_shares:
        coded.notes.append(f"the shares of the true values of {name} are those in {file}")
        return _told_shares(rows, counts, file)
    coded.notes.append(f"the shares of the true values of {name} are estimated from the release")
    shares = estimate_true_shares([row[:3] for row in rows], counts)
    if shares is None:
        raise InputError(
            f"the likeliest shares of the true values of {name} are not found by {file}, which "
            f"is searched for up to {MOST_SEARCHED:,} values; attack coarser values"
        )
    return shares


def _told_shares(
    rows: Sequence[tuple[Any, ...]], counts: Mapping[int, int], file: str
) -> list[float]:
    """Return the shares of true values by their numbers, from those that a matrix tells.

    ``rows`` have the number of a true value, that of a released one, a probability and the share:
    None if the matrix does not list the value, which is released as it is.
    """
    unlisted = {code: origin for origin, code, _, share in rows if share is None}
    if any(code in unlisted for _, code, _, share in rows if share is not None):
        raise InputError(
            f"{file} tells shares, and leads to a value that it does not lead from; give this "
            "value a line and its share, too"
        )
    total = sum(counts.values())
    as_released = {origin: counts[code] / total for code, origin in unlisted.items()}
    rest = 1 - sum(as_released.values())
    shares = {origin: share for origin, _, _, share in rows}
    return [as_released[o] if share is None else rest * share for o, share in shares.items()]
