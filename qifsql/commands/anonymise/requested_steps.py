"""The steps of each quasi-identifier that a request asks for, checked against the values."""

from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from qifsql.adversary.changes import Change, read
from qifsql.adversary.spec import Microdata
from qifsql.commands.anonymise.spec import Request
from qifsql.commands.anonymise.value_steps import ValueStep, value_step
from qifsql.counting import generalisation, scales
from qifsql.counting.changed_attributes import Changed
from qifsql.counting.scales import own_table
from qifsql.data.types import INTEGERS, family
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.query.columns import number
from qifsql.query.plan import Plan

CODE = 4  # digits of the shortest numbers that may be codes
YEARS = (1800, 2100)  # numbers of four digits that are none


@dataclass(frozen=True)
class RequestedSteps:
    """The steps that a request asks for; the scales of its quasi-identifiers are in the engine."""

    engine: LocalEngine
    catalog: Catalog
    microdata: Microdata
    request: Request

    def steps(self) -> list[list[ValueStep]]:
        """Return the steps of each quasi-identifier; none where classes are made otherwise."""
        request, qids = self.request, self.microdata.qids
        if not request.recoded:
            return []
        changed = Changed.of(self.catalog, qids, request.hierarchies)
        changes = [read(text, qids) for text in request.changes]
        for change in changes:
            if change.kind == "sample":
                raise InputError(
                    f"change {quoted(change.text)} would leave records out, and a release has "
                    "them all; use --one-per, or --where"
                )
            self._check_digits(change)
        of_each = [[c for c in changes if c.qid == i] for i, _ in enumerate(qids, 1)]
        if request.method == "recode":
            chains = [[list[Change](), *([named] if named else [])] for named in of_each]
        else:
            generalisation.named_steps(changes, qids)
            usual = generalisation.usual_steps(qids, *self._extents(), changed.hierarchies)
            pairs = zip(of_each, usual, strict=True)
            chains = [[[], *([c] for c in named or ladder)] for named, ladder in pairs]
        return [
            [self._without_idle_prefix(i, value_step(i, changes, changed)) for changes in chain]
            for i, chain in enumerate(chains, 1)
        ]

    def _extents(self) -> tuple[list[int], list[int | None]]:
        """Return how far whole numbers reach, and how long texts of one length are."""
        reaches, lengths = [], []
        for i, qid in enumerate(self.microdata.qids, 1):
            table = own_table(scales.scale_table(i))
            reach = 0
            if family(qid.type) in INTEGERS:
                ends = exp.select("coalesce(max(value)::HUGEINT - min(value)::HUGEINT, 0)")
                ((reach,),) = self._rows(ends.from_(table))
            reaches.append(int(reach))
            lengths.append(generalisation.common_length(qid, table, self._rows))
        return reaches, lengths

    def _rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return self.engine.rows(Plan((), query), "reading values", self.microdata.dataset.name)

    def _without_idle_prefix(self, i: int, step: ValueStep) -> ValueStep:
        """Return a step of prefixes as one of values as they are, where none is longer.

        Raises ColumnError where a prefix would have a star of its own.
        """
        if step.content != "prefix":
            return step
        text = exp.cast(exp.column("value"), "VARCHAR")
        prefix = exp.Anonymous(this="left", expressions=[text, number(step.characters)])
        star = exp.Anonymous(this="contains", expressions=[prefix, exp.Literal.string("*")])
        more = exp.GT(this=exp.Length(this=text.copy()), expression=number(step.characters))
        flags = (exp.func("coalesce", exp.LogicalOr(this=c), exp.false()) for c in (more, star))
        table = own_table(scales.scale_table(i))
        ((some_longer, some_starred),) = self._rows(exp.select(*flags).from_(table))
        if some_longer and some_starred:
            name, texts = quoted(self.microdata.qids[i - 1].name), quoted(", ".join(step.texts))
            raise ColumnError(
                f"values of {name} have a star where {texts} would keep it, and a star stands for "
                "what is hidden; replace it first, as in NAME=replace(NAME, '*', '?')"
            )
        return step if some_longer else replace(step, content="set")

    def _check_digits(self, change: Change) -> None:
        """Refuse a number that may mean digits of a code or the width of an interval.

        A width of fewer than the digits that all values have would publish nearly the whole code.
        """
        qid = self.microdata.qids[change.qid - 1] if change.qid else None
        if qid is None or change.kind != "coarser" or family(qid.type) not in INTEGERS:
            return
        ends = exp.select("min(value)::HUGEINT", "max(value)::HUGEINT")
        ((least, greatest),) = self._rows(ends.from_(own_table(scales.scale_table(change.qid))))
        digits = len(str(greatest or 0))
        years = least is not None and least >= YEARS[0] and greatest <= YEARS[1]
        if least is None or least < 1 or len(str(least)) != digits or years:
            return
        if digits >= CODE and change.how.isdecimal() and int(change.how) < digits:
            name, n = quoted(qid.name)[1:-1], int(change.how)
            raise InputError(
                f"change {quoted(change.text)} may mean the first {plural(n, 'digit')} of a code, "
                f"or intervals of width {n}, which show nearly all of it: all values have "
                f"{digits} digits; write {name}={name}//{10 ** (digits - n)} for digits, "
                f"{name}={name}//{n}*{n} for intervals"
            )
