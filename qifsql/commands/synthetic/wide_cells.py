"""The cells of a subset in one row per block, for secrets of few values.

A row has a counter for each file and value of the secret, packed into words of 62 bits. One GROUP
BY makes the rows of a smaller subset, and what is said of a block is arithmetic within its row.
Cells in rows of their own are grouped twice, which takes twice as long.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from qifsql.counting.coded import Coded
from qifsql.engine.tables import Tables
from qifsql.query.columns import number
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

COUNTERS = 48  # of a row, at most
BITS = 62  # of a word of counters


@dataclass(frozen=True, kw_only=True)
class Counter:
    """A counter of a column of counts and a value: its lowest bit in its word, and its width."""

    column: str
    value: int
    shift: int
    width: int


@dataclass(frozen=True)
class WideCells:
    """Rows with a counter for each file and value of one secret, and its usual values.

    ``sizes`` are the numbers of people or records that each column of counts adds up to. ``modal``
    are the codes of the most frequent values of each release, ``typical`` those of the control.
    """

    coded: Coded
    secret: int
    values: int
    modal: Mapping[int, Sequence[int]]
    typical: Sequence[int]
    sizes: Mapping[str, int]

    @staticmethod
    def fit(values: int, releases: int, *, has_control: bool) -> bool:
        """Return whether the counters of a secret of so many values fit into a row."""
        return values * (1 + has_control + releases) <= COUNTERS

    def make(self, tables: Tables, name: str, subset: Iterable[int], table: str | None) -> None:
        """Create the rows of a subset from those of a larger one, or from the coded records."""
        words = self.coded.masked(subset)
        query = exp.select(*words)
        for word, counters in self._pack().items():
            packed: exp.Expr = exp.column(word)
            if table is None:
                packed = _sum_terms(self._packed_addend(counter) for counter in counters)
            total = exp.cast(exp.Sum(this=packed), "BIGINT")
            query = query.select(exp.alias_(total, word))
        query = query.from_(exp.table_(table or "coded"))
        places = [exp.Literal.number(i) for i in range(1, len(words) + 1)]
        tables.make(name, query.group_by(*places))

    def totals(self, table: str, release: int) -> Plan:
        """Return the plan of the counts of all blocks, a row per number of best guesses."""
        doc = "One row per tuple of quasi-identifiers: what the release says about it."
        step = Step("blocks", doc, self._block_rows(table, release))
        return Plan((step,), splice("synthetic/totals"))

    def _pack(self) -> dict[str, list[Counter]]:
        """Return the counters in each word, in as few words as their sizes allow."""
        words: dict[str, list[Counter]] = {}
        word, used = 1, 0
        for column, size in self.sizes.items():
            width = size.bit_length()
            for value in range(self.values):
                if used + width > BITS:
                    word, used = word + 1, 0
                counter = Counter(column=column, value=value, shift=used, width=width)
                words.setdefault(f"pack_{word}", []).append(counter)
                used += width
        return words

    def _packed_addend(self, counter: Counter) -> exp.Expr:
        """Return what a coded record adds to a word."""
        count: exp.Expr = exp.column(counter.column)
        if self.secret:
            is_value = exp.column(f"secret_{self.secret}").eq(number(counter.value))
            count = exp.Case().when(is_value, count).else_(number(0))
        if not counter.shift:
            return count
        return exp.paren(exp.BitwiseLeftShift(this=count, expression=number(counter.shift)))

    def _unpacked(self, table: str) -> exp.Select:
        """Return the rows with a column for each counter."""
        columns = []
        for word, counters in self._pack().items():
            for counter in counters:
                shifted: exp.Expr = exp.column(word)
                if counter.shift:
                    shift = number(counter.shift)
                    shifted = exp.paren(exp.BitwiseRightShift(this=shifted, expression=shift))
                mask = number((1 << counter.width) - 1)
                unpacked = exp.BitwiseAnd(this=shifted, expression=mask)
                columns.append(exp.alias_(unpacked, _name(counter.column, counter.value)))
        return exp.select(*columns).from_(exp.table_(table))

    def _block_rows(self, table: str, release: int) -> exp.Select:
        records = f"synthetic_{release}"
        rows = exp.select("*", exp.alias_(self._largest(records), "largest"))
        rows = rows.from_(self._unpacked(table).subquery("unpacked"))

        def is_best(value: int) -> exp.Expr:
            return _counter(records, value).eq(exp.column("largest"))

        columns = {
            "original": self._sum("original"),
            "control": self._sum("control"),
            "records": self._sum(records),
            "original_values": self._number("original", _is_positive),
            "synthetic_values": self._number(records, _is_positive),
            "ties": self._where_present(
                self._number(records, lambda c: c.eq(exp.column("largest")))
            ),
            "correct": self._where_present(
                self._sum("original", is_best), self._sum("original", of=self.modal[release])
            ),
            "control_correct": self._where_present(
                self._sum("control", is_best), self._sum("control", of=self.modal[release])
            ),
            "control_both": self._where_present(
                self._sum("control", is_best, of=self.typical),
                self._sum("control", of={*self.modal[release]} & {*self.typical}),
            ),
        }
        selected = [exp.alias_(tree, name) for name, tree in columns.items()]
        return exp.select(*selected).from_(rows.subquery("wide"))

    def _largest(self, column: str) -> exp.Expr:
        counters = [_counter(column, value) for value in range(self.values)]
        return exp.func("greatest", *counters) if len(counters) > 1 else counters[0]

    def _where_present(self, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
        """Return a value where the release has records in the block, else the other one."""
        is_there = exp.GT(this=exp.column("largest"), expression=number(0))
        return exp.Case().when(is_there, value).else_(otherwise or number(0))

    def _sum(
        self,
        column: str,
        condition: Callable[[int], exp.Expr] | None = None,
        *,
        of: Iterable[int] | None = None,
    ) -> exp.Expr:
        """Return the sum of counters, of some values, where a condition on the value holds."""
        if column not in self.sizes:
            return number(0)
        terms: list[exp.Expr] = []
        for value in sorted(range(self.values) if of is None else of):
            term: exp.Expr = _counter(column, value)
            if condition is not None:
                term = exp.Case().when(condition(value), term).else_(number(0))
            terms.append(term)
        return _sum_terms(terms)

    def _number(self, column: str, condition: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """Return how many counters keep a condition."""
        return _sum_terms(
            exp.cast(exp.paren(condition(_counter(column, value))), "BIGINT")
            for value in range(self.values)
        )


def _counter(column: str, value: int) -> exp.Column:
    return exp.column(_name(column, value))


def _name(column: str, value: int) -> str:
    return f"{column}_v{value}"


def _is_positive(counter: exp.Expr) -> exp.Expr:
    return exp.GT(this=counter, expression=number(0))


def _sum_terms(terms: Iterable[exp.Expr]) -> exp.Expr:
    return reduce(lambda a, b: exp.Add(this=a, expression=b), [*terms] or [number(0)])
