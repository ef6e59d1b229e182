"""The writing of values in CSV: the decimal mark and the form of dates of the input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.data.dataset import Dataset
from qifsql.data.dates import DAYS, WRITTEN
from qifsql.data.expressions import filled, identifier
from qifsql.data.readers import relation
from qifsql.data.types import NUMBERS, family
from qifsql.engine.protocol import Engine

ISO = "%Y-%m-%d"
IS_FORM = "bool_and(strftime(try_strptime(field, {form}), {form}) IS NOT DISTINCT FROM field)"


@dataclass(frozen=True)
class Writing:
    """The forms of numbers and dates as texts.

    ``comma``: numbers have a decimal comma. ``dates`` are forms of ``strftime`` by the number of a
    quasi-identifier; others, and the ends of intervals and bands, have the form of ISO 8601.
    """

    comma: bool = False
    dates: Mapping[int, str] = field(default_factory=dict)

    def number(self, value: exp.Expr) -> exp.Expr:
        """Return the SQL of a number as text."""
        written = exp.cast(value, "VARCHAR")
        if not self.comma:
            return written
        return exp.func("replace", written, *map(exp.Literal.string, ".,"))

    def value(self, value: exp.Expr, type_: str, qid: int = 0) -> exp.Expr:
        """Return the SQL of a value of quasi-identifier number ``qid`` as text."""
        if family(type_) in NUMBERS:
            return self.number(value)
        if type_ == "DATE" and (form := self.dates.get(qid)):
            return exp.Anonymous(this="strftime", expressions=[value, exp.Literal.string(form)])
        return exp.cast(value, "VARCHAR")


def with_commas(band: exp.Expr) -> exp.Expr:
    """Return the SQL of a band between limits, a text, with decimal commas: ``[1,5;2,0)``."""
    marks = [exp.Literal.string(mark) for mark in (".,", ",;")]
    return exp.Anonymous(this="translate", expressions=[band, *marks])


PLAIN = Writing()
"""The usual writing: a decimal point, and dates as in ISO 8601."""


def writing_of(engine: Engine, dataset: Dataset, qids: Sequence[Attribute]) -> Writing:
    """Return how the fields of a CSV file are written; the usual writing for other formats.

    ``qids`` are the quasi-identifiers, or other columns, that are numbered from 1.
    """
    if dataset.format != "csv" or dataset.all_varchar:
        return PLAIN
    source = relation(replace(dataset, all_varchar=True))
    forms: dict[int, str] = {}
    for i, qid in enumerate(qids, 1):
        if qid.type == "DATE" and isinstance(qid.expression, exp.Column):
            form = _form_of_dates(engine, dataset, source, qid.expression.name)
            forms |= {i: form} if form not in (None, ISO) else {}
    return Writing(comma=dataset.decimal == ",", dates=forms)


def _form_of_dates(engine: Engine, dataset: Dataset, source: exp.Expr, column: str) -> str | None:
    """Return the first form that all dates of a column have; None if they have several.

    A form is that of ``strftime``: an order of day, month and year, a mark between them, with and
    without leading zeros. One query tests all of them: each answer is whether all fields have it.
    """
    order = dataset.date_order
    orders = dict.fromkeys((order, "ymd") if order else ("ymd", *WRITTEN))
    forms = [DAYS[order].format(mark) for order in orders for mark in "-/."]
    forms += [form.replace("%d", "%-d").replace("%m", "%-m") for form in forms]
    field_ = {"field": exp.column(identifier(column))}
    tests = [filled(IS_FORM.format(form=f"'{form}'"), field_) for form in forms]
    rows = exp.select(*tests).from_(source).where(exp.not_(field_["field"].is_(exp.null())))
    (answers,) = engine.query(rows, dataset.name)
    return next((form for form, fits in zip(forms, answers, strict=True) if fits), None)
