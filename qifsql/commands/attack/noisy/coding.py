"""People, values and laws of noisy knowledge as tables of numbers in the engine."""

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from qifsql.adversary import value_files
from qifsql.adversary.spec import BoundAttack, Microdata
from qifsql.commands.attack.noisy.bind import (
    BITS,
    NoisyQid,
    relative_error,
    shifts,
    widest_shift,
    with_scales,
)
from qifsql.counting import transition_files
from qifsql.counting.transition_files import MOST_PAIRS
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import column
from qifsql.data.types import family
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.measures.bayes import Success
from qifsql.measures.randomised import MOST_SEARCHED, estimate_true_shares
from qifsql.query import microdata_steps
from qifsql.query.columns import double, number, same, same_block
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import Numbers, splice

FREQUENCIES = 50  # most different frequencies of values for weights that are whole numbers
LAW_ROWS = 50_000_000  # most pairs of a true value and what may be known instead
SLIGHT = 1e-6  # relative errors up to this are not mentioned
FAR = 2**60  # numbers beyond have no law
ORIGINS = "One row per true value and released value that a matrix may make of it."
PAIRS = exp.select("origin", "code", "probability", "share").from_("origins").limit(MOST_PAIRS + 1)
RESTORED = "One row per released value and true value that it may stand for: the chance of that."
NEEDED = ("value", "known as", "probability")


class Coded:
    """The people of an attack as numbers: tables ``coded``, ``dictionary_i`` and ``law_i``.

    ``people`` is the weight of everybody, ``attacked`` that of those who are attacked, ``records``
    how many records they have. The table
    ``coded`` has a row per combination of quasi-identifiers: ``exact``, the number of what is known
    exactly; ``place_i``, the number of the value of each quasi-identifier that is not; how many
    records it has, and their weights. ``lines`` are the steps of the tables that laws name.
    """

    def __init__(
        self,
        engine: Engine,
        bound: BoundAttack,
        noisy: Sequence[NoisyQid],
        lines: Mapping[int, tuple[Dataset, Step]],
    ) -> None:
        """Make the tables ``coded``, ``dictionary_i`` and ``law_i``, for the columns ``noisy``.

        ``lines`` has, by number of a column, the file and the lines of a law that names one.
        """
        self.bound = bound
        self.tables = Tables(engine, "measuring noisy knowledge", bound.microdata.dataset.name)
        self.width = len(bound.microdata.qids)
        # Numbers from 1 of qids that are not known exactly.
        self.places = [q.number for q in noisy if q.number <= self.width]
        self.tables.make("combinations", self._of_microdata(self._combinations))
        self.values = {q.number: self._make_dictionary(q) for q in noisy}  # how many there are
        self._make_coded()
        ((total, records),) = self.tables.rows(_sums().from_("combinations"))
        self.people, self.records = int(total), int(records)
        self.attacked = self.people
        wholes = {q.number: self._whole_scale(q) for q in noisy if q.mistaken}
        scaled = with_scales(noisy, self.people, wholes)
        self.noisy = tuple(q for q in scaled if q.number <= self.width)
        self.randomised = {q.number - self.width: q for q in scaled if q.number > self.width}
        self.notes: list[str] = []
        for qid in scaled:
            self._make_law(qid, lines.get(qid.number))
        self.notes += self._note_on_rounding([q for q in scaled if q.rounded])

    def _note_on_rounding(self, rounded: Sequence[NoisyQid]) -> list[str]:
        """Return a note on the laws whose probabilities are rounded; [] if none is."""
        if not rounded:
            return []
        bits = min(q.scale for q in rounded).bit_length() - 1
        names = ", ".join(quoted(q.attribute.name) for q in rounded)
        text = f"the probabilities of what is known of {names} are rounded to parts of 2^-{bits}"
        error = float(relative_error(self.noisy, self.people))
        if error > SLIGHT:
            text += f"; those of a mistaken value are at most {100 * error:.2g} % off"
        return [text]

    def scale(self, secret: int) -> int:
        """Return the weight of all that may be known of those who are attacked, for a secret."""
        laws = (*self.noisy, *([self.randomised[secret]] if secret in self.randomised else []))
        return self.attacked * math.prod(q.scale for q in laws)

    def prior(self, secret: int, released: Success) -> Success:
        """Return the success before the release; ``released`` is that with the released values."""
        if secret not in self.randomised:
            return released
        law = self.randomised[secret]
        tables = {name: f"{name}_{law.number}" for name in ("dictionary", "law")}
        ((best, possible),) = self.tables.answer(self.query("true_secrets", law, tables=tables))
        guessed, certain = Fraction(int(best), self.people * law.scale), possible == 1
        return Success(Fraction(certain), guessed, float(guessed), certain * self.records)

    def of(self, microdata: Microdata) -> "Coded":
        """Return the same tables and laws, for an attack on some or other individuals of them."""
        part = copy(self)
        part.bound = self.bound.on(microdata)
        part.tables = replace(self.tables, statements=[])  # the manifest has those of everybody
        plan = part._of_microdata(self._combinations)
        ((total, records),) = self.tables.rows(
            replace(plan, result=_sums().from_(plan.result.subquery("combinations")))
        )
        part.attacked, part.records = int(total), int(records)
        return part

    def query(
        self,
        name: str,
        qid: NoisyQid | None = None,
        *,
        places: Sequence[int] | None = None,
        numbers: Numbers | None = None,
        tables: Mapping[str, str] | None = None,
    ) -> exp.Select:
        """Return the query of a view of ``sql/noisy.sql``, with its columns, numbers and tables.

        In the view, ``own`` is the column of ``qid``, and ``place`` stands for ``places``: numbers
        of quasi-identifiers, by default of all others that are not known exactly.
        """
        number_of_qid = qid.number if qid else 0
        if places is None:
            places = [i for i in self.places if i != number_of_qid]
        values: dict[str, int | Sequence[int]] = {"everybody": self.people}
        if qid is not None:
            values["whole_weight"] = qid.scale
            values["number_of_values"] = self.values.get(number_of_qid, 0)
        values |= numbers or {}
        view = f"noisy/{name}"
        query = splice(view, width=self.width, places=places, numbers=values, tables=tables)
        return _renamed(query, {"own": f"place_{number_of_qid}"})

    def make_states(self, j: int) -> None:
        """Create the table ``state_0``: a row per combination and value of secret ``j``.

        ``secret`` is the number of the value, ``mass`` the weight of its people, ``ways`` 1. Of a
        secret that was randomised, the values are all true ones that are possible.
        """
        law = self.randomised.get(j)
        self._make_secret_cells(j)
        renamed = exp.select(exp.alias_(exp.column(f"secret_{j}"), "secret")).from_("secret_cells")
        numbers = _with_table(self.query("secret_numbers"), "secret_cells", renamed)
        self.tables.make("secret_numbers", numbers)
        columns = ["exact", *(f"place_{i}" for i in self.places)]
        query = exp.select(*(exp.column(c, "coded") for c in columns))
        query = query.select(
            exp.alias_(exp.column("code", "secret_numbers"), "secret"),
            exp.alias_(exp.column("weight", "secret_cells"), "mass"),
            exp.alias_(exp.cast(number(1), "HUGEINT"), "ways"),
        ).from_("secret_cells")
        query = query.join("coded", on=same_block("coded", "secret_cells", self.width))
        secret = same(exp.column("secret", "secret_numbers"), exp.column(f"secret_{j}"))
        query = query.join("secret_numbers", on=secret)
        self.tables.make("released_0" if law else "state_0", query)
        self.tables.drop("secret_cells", "secret_numbers")
        if law:
            tables = {"state": "released_0", "law": f"law_{law.number}"}
            self.tables.make("state_0", self.query("restored_secrets", law, tables=tables))
            self.tables.drop("released_0")

    def _make_secret_cells(self, j: int) -> None:
        """Create the table ``secret_cells``: a row per combination and value of secret ``j``."""
        weighted = self.bound.microdata.weight is not None
        view = "weighted_secret_combinations" if weighted else "secret_combinations"
        self.tables.make("secret_cells", self._of_microdata(view, secret=j))

    def _of_microdata(self, name: str, secret: int | None = None) -> Plan:
        microdata = self.bound.microdata
        query = splice(f"noisy/{name}", width=self.width, secret=secret)
        return microdata_steps.plan(microdata, microdata_steps.steps(microdata), query)

    @property
    def _combinations(self) -> str:
        weighted = self.bound.microdata.weight is not None
        return "weighted_combinations" if weighted else "combinations"

    def _make_dictionary(self, qid: NoisyQid) -> int:
        """Create the numbers of the values of a column with a law; return how many there are."""
        name, secret = f"dictionary_{qid.number}", qid.number - self.width
        if secret <= 0:
            query = _renamed(splice("noisy/dictionary"), {"own": f"qid_{qid.number}"})
            self.tables.make(name, query)
            return self.tables.count(name)
        self._make_secret_cells(secret)
        query = splice("noisy/dictionary", tables={"combinations": "secret_cells"})
        self.tables.make(name, _renamed(query, {"own": f"secret_{secret}"}))
        self.tables.drop("secret_cells")
        return self.tables.count(name)

    def _make_coded(self) -> None:
        """Create ``coded``: combinations of qids, with numbers in place of values.

        ``exact`` numbers the values that are known exactly, all together; ``place_i`` numbers the
        value of each quasi-identifier i that is not (``places``).
        """
        exact = [i for i in range(1, self.width + 1) if i not in self.places]
        columns: list[exp.Expr] = [exp.alias_(exp.cast(number(1), "BIGINT"), "exact")]
        query = exp.select().from_("combinations")
        if exact:
            names = {f"place_{i}": f"qid_{i}" for i in exact}
            self.tables.make("exacts", _renamed(splice("noisy/exacts", places=exact), names))
            alike = [
                same(exp.column(f"qid_{i}", "combinations"), exp.column(f"qid_{i}", "exacts"))
                for i in exact
            ]
            query = query.join("exacts", on=exp.and_(*alike))
            columns = [exp.column("exact", "exacts")]
        for i in self.places:
            name = f"dictionary_{i}"
            value = same(exp.column("value", name), exp.column(f"qid_{i}", "combinations"))
            query = query.join(exp.table_(name), on=value)
            columns.append(exp.alias_(exp.column("code", name), f"place_{i}"))
        query = query.select(*columns, exp.column(exp.Star(), "combinations"))
        self.tables.make("coded", query)
        if exact:
            self.tables.drop("exacts")

    def _whole_scale(self, qid: NoisyQid) -> int | None:
        """Return the scale that makes the weights of mistaken values whole; None if it is large.

        A value y is known in place of x with (1 - right) frequency(y) / (people - frequency(x)).
        """
        table = exp.table_(f"dictionary_{qid.number}")
        query = exp.select("frequency").distinct().from_(table).limit(FREQUENCIES + 1)
        rows = self.tables.rows(query)
        complements = [self.people - int(f) for (f,) in rows if int(f) != self.people]
        if len(rows) > FREQUENCIES:
            return None
        scale = qid.law.number.denominator * math.lcm(*complements)
        return scale if scale.bit_length() <= BITS else None

    def _make_law(self, qid: NoisyQid, lines: tuple[Dataset, Step] | None) -> None:
        """Create the table ``law_i``: what may be known of each value, with weights."""
        match qid.law.kind:
            case "within" | "sd":
                plan = Plan((), self._shifted_values(qid))
            case "missing":
                unknown = int(qid.law.number * qid.scale)
                weights = {"known_weight": qid.scale - unknown, "unknown_weight": unknown}
                plan = Plan((), self._query_of(qid, "forgotten", weights))
            case "right":
                plan = Plan((), self._confused_values(qid))
            case "matrix":
                assert lines is not None  # noqa: S101 - looked up before
                plan = self._restored_values(qid, *lines)
            case _:
                assert lines is not None  # noqa: S101 - looked up before
                plan = self._listed_values(qid, *lines)
        self.tables.make(f"law_{qid.number}", plan)
        if qid.mistaken:
            self._check_truths(qid)

    def _check_truths(self, qid: NoisyQid) -> None:
        """Refuse a law ``right=...`` whose chance of a true value is rounded away."""
        least = exp.select(exp.Min(this=exp.column("same")))
        ((smallest,),) = self.tables.rows(least.from_(exp.table_(f"law_{qid.number}")))
        if smallest <= 0:
            raise InputError(
                f"right of {quoted(qid.attribute.name)} is too small to be measured; write a "
                "larger probability, such as 0.001"
            )

    def _query_of(self, qid: NoisyQid, name: str, numbers: Numbers | None = None) -> exp.Select:
        tables = {"dictionary": f"dictionary_{qid.number}"}
        return self.query(name, qid, numbers=numbers, tables=tables)

    def _shifted_values(self, qid: NoisyQid) -> exp.Select:
        """Return the query of a law of numbers (+-2, sd=2); refuse values that it does not fit."""
        name = quoted(qid.attribute.name)
        ((least, greatest, fractional),) = self.tables.rows(self._query_of(qid, "whole"))
        if fractional:
            raise InputError(
                f"{plural(fractional, 'value')} of {name} are not whole numbers, so {qid.law.law} "
                "does not fit it; round it, as in --qids NAME=round(COLUMN)"
            )
        least, greatest = int(least or 0), int(greatest or 0)
        widest = widest_shift(qid.law)
        if max(abs(least), abs(greatest)) > FAR:
            raise InputError(f"{name} has numbers beyond 2^60, for which there is no law")
        if self.values[qid.number] * (2 * widest + 1) > LAW_ROWS:
            raise InputError(
                f"{qid.law.law} of {name} makes more than {LAW_ROWS:,} pairs of a value and what "
                "may be known instead; measure in larger units, as in --qids "
                "thousands=income//1000"
            )
        query = self._query_of(qid, "shifted", {"widest": widest})
        return _with_table(query, "shifts", self._shifts_query(qid, widest))

    def _shifts_query(self, qid: NoisyQid, widest: int) -> exp.Select:
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

    def _confused_values(self, qid: NoisyQid) -> exp.Select:
        """Return the query of a law ``right=0.9``: a value is known as itself or as any other."""
        wrong = 1 - qid.law.number
        if not qid.rounded:
            return self._query_of(qid, "exact_confusions", {"wrong_weight": int(wrong * qid.scale)})
        query = self._query_of(qid, "confusions")
        share = double(float(wrong))
        for node in list(query.find_all(exp.Column)):
            if node.name == "wrong_share":
                node.replace(share.copy())
        return query

    def _listed_values(self, qid: NoisyQid, dataset: Dataset, step: Step) -> Plan:
        """Return the plan of a law from a table, whose lines are ``step``; refuse wrong lines."""
        ((lines, unfit, wrong, twice, values, unsound),) = self.tables.rows(
            Plan((step,), self.query("lawless")), "checking a table"
        )
        if not lines:
            raise InputError(f"{dataset.name} has no lines; each line is {', '.join(NEEDED)}")
        _refuse_lines(dataset.name, qid, unfit=unfit, wrong=wrong, twice=twice)
        if unsound:
            raise InputError(
                f"the probabilities of {unsound:,} of {plural(values, 'value')} in "
                f"{dataset.name} do not add up to 1; a value that may be known as itself needs a "
                "line for that, too"
            )
        return self._labelled_values(qid, step)

    def _labelled_values(self, qid: NoisyQid, *steps: Step) -> Plan:
        """Return the plan of a law from the last step, ``listed``: values, labels, chances."""
        labelled = Step("labelled", "One row per value and label.", self._query_of(qid, "labelled"))
        return Plan((*steps, labelled), self.query("numbered"))

    def _restored_values(self, qid: NoisyQid, dataset: Dataset, step: Step) -> Plan:
        """Return the plan of a law from the lines of a matrix: what a released value stands for."""
        transition_files.check(self.tables.engine, step, dataset, qid.attribute)
        origins = Step("origins", ORIGINS, self._query_of(qid, "origins"))
        has_shares = self._tells_shares(dataset.name, step)
        pairs = Plan((step, origins), PAIRS)
        shares = self._true_shares(qid, dataset.name, pairs, has_shares=has_shares)
        self._check_that_some_fit(qid, dataset.name, step)
        query = _with_table(self._query_of(qid, "restored"), "shares", _shares_query(shares))
        return self._labelled_values(qid, step, origins, Step("listed", RESTORED, query))

    def _check_that_some_fit(self, qid: NoisyQid, file: str, step: Step) -> None:
        """Refuse a matrix that leads to no released value: all would stand for themselves."""
        plan = Plan((step,), self._query_of(qid, "fitting_releases"))
        ((released, fitting),) = self.tables.rows(plan)
        if released and not fitting:
            raise InputError(
                f"{file} leads to no value that {quoted(qid.attribute.name)} has; name the matrix "
                "by which the release was drawn"
            )

    def _tells_shares(self, file: str, step: Step) -> bool:
        """Return whether a matrix tells the shares of all true values; refuse wrong shares."""
        ((lines, wrong, adds_up),) = self.tables.rows(Plan((step,), self.query("told_shares")))
        if lines and wrong:
            raise InputError(
                f"{plural(wrong, 'value')} that {file} leads from have no share from 0 to 1, or "
                "several; each line has the share of its value before, or none has one"
            )
        if lines and not adds_up:
            raise InputError(f"the shares of the values that {file} leads from do not add up to 1")
        return bool(lines)

    def _true_shares(
        self, qid: NoisyQid, file: str, pairs: Plan, *, has_shares: bool
    ) -> list[float]:
        """Return the shares of the true values; refuse released values that the matrix excludes.

        ``pairs`` has a row per true and released value: their numbers, the probability, and the
        share if the file ``has_shares``; otherwise the shares are estimated.
        """
        rows = sorted(self.tables.rows(pairs))
        name = quoted(qid.attribute.name)
        if len(rows) > MOST_PAIRS:
            raise InputError(
                f"{name} and {file} make more than {MOST_PAIRS:,} pairs of a true and a released "
                "value; attack coarser values"
            )
        dictionary = exp.table_(f"dictionary_{qid.number}")
        frequencies = exp.select("code", "frequency").from_(dictionary)
        counts = {code: int(n) for code, n in sorted(self.tables.rows(frequencies)) if n}
        if impossible := counts.keys() - {code for _, code, _, share in rows if share != 0}:
            raise InputError(
                f"{plural(len(impossible), 'value')} of {name} cannot come of {file}; name the "
                "matrix by which the release was drawn"
            )
        if has_shares:
            self.notes.append(f"the shares of the true values of {name} are those in {file}")
            return _told_shares(rows, counts, file)
        self.notes.append(f"the shares of the true values of {name} are estimated from the release")
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


def _shares_query(shares: Sequence[float]) -> exp.Select:
    """Return the query of the shares of true values, by their numbers from 1."""
    values = exp.Array(expressions=[double(share) for share in shares])
    numbers = exp.Anonymous(this="range", expressions=[number(1), number(len(shares) + 1)])
    columns = {"origin": numbers, "share": values}
    return exp.select(
        *(exp.alias_(exp.Anonymous(this="unnest", expressions=[v]), n) for n, v in columns.items())
    )


def _sums() -> exp.Select:
    """Return the query of the weight of all combinations, and of how many records they have."""
    sums = (exp.cast(exp.Sum(this=exp.column(c)), "HUGEINT") for c in ("weight", "people"))
    return exp.select(*sums)


def _refuse_lines(name: str, qid: NoisyQid, *, unfit: int, wrong: int, twice: int) -> None:
    """Refuse a table with lines that cannot be used."""
    attribute = qid.attribute
    if unfit:
        raise InputError(
            f"{plural(unfit, 'line')} of {name} have a value that is no "
            f"{family(attribute.type)}, as {quoted(attribute.name)} is"
        )
    if wrong:
        raise InputError(
            f"{plural(wrong, 'line')} of {name} have no probability from 0 to 1; correct them"
        )
    if twice:
        raise InputError(
            f"{name} has {plural(twice, 'line')} for a value and a label that another line has; "
            "each pair has one probability"
        )


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
            f"{', '.join(NEEDED)}"
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


def _renamed(query: exp.Select, names: Mapping[str, str]) -> exp.Select:
    """Return the query with names of columns replaced wherever they occur."""
    for node in query.find_all(exp.Identifier):
        if node.name in names:
            node.set("this", names[node.name])
    return query


def _with_table(query: exp.Select, name: str, rows: exp.Select) -> exp.Select:
    """Return the query with a subquery in place of a table."""
    for table in list(query.find_all(exp.Table)):
        if table.name == name:
            table.replace(rows.subquery(name))
    return query
