"""Every subset of the quasi-identifiers: cells roll up from those of a larger subset.

A subset is reached by leaving out quasi-identifiers, one after another, those of most values first:
most subsets lack these, so most tables are small.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl
from sqlglot import exp

from qifsql.counting.coded import POOLED_RELEASE, Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import Cells, modes_table, release_risks, rows_of, secret_risks
from qifsql.data.types import Row
from qifsql.engine.progress import Progress
from qifsql.engine.tables import Tables
from qifsql.measures.release_measures import DIFFERENCES, OF_GUESSES, OF_RELEASE, OF_SECRET
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

MOST_COUNTERS = 48  # of a row
WORD_BITS = 62  # of a word of counters
SUBSETS: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    "secret": pl.String(),
    **dict.fromkeys(("subset", "n_qids"), pl.Int64()),
    "qids": pl.List(pl.String()),
    **dict.fromkeys((*OF_RELEASE, *OF_SECRET, *OF_GUESSES), pl.Float64()),
    **{name + end: pl.Float64() for name in DIFFERENCES for end in ("", "_low", "_high")},
}
"""One row per release, secret and subset of the quasi-identifiers: the measures of the result.

``subset`` is the sum of 2^(i-1) over the quasi-identifiers, numbered from 1. ``release``, ``file``
and ``secret`` are those of the result. NULL where a measure is about a secret or a control and
there is none. Ends of intervals end in ``_low`` and ``_high``."""


class Counter(NamedTuple):
    """The place of a counter: its word, from 1, its lowest bit there, and its largest count."""

    word: int
    bit: int
    largest: int


@dataclass(frozen=True)
class WideCells:
    """Rows with a counter for each file and value of one secret, and its usual values.

    A row is a block of people; its counters are packed into words of ``WORD_BITS`` bits, so that
    the blocks of fewer quasi-identifiers are sums of words. ``sizes`` are the numbers of people or
    records that each column of counts adds up to. ``modal`` are the codes of the most frequent
    values of each release, ``typical`` those of the control.
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
        return values * (1 + has_control + releases) <= MOST_COUNTERS

    def make(self, tables: Tables, name: str, subset: Iterable[int], table: str | None) -> None:
        """Create the table ``name`` of a subset of the quasi-identifiers (their indexes).

        It has a row per block, with words of 63 bits that several counters share. They are added up
        from ``table``, that of a larger subset; None: counted from the coded records.
        """
        # By word, its counters: column of counts, value of the secret, lowest bit.
        words: dict[int, list[tuple[int, int, int]]] = {}
        for column, counters in enumerate(self._counters().values()):
            for value, counter in enumerate(counters):
                words.setdefault(counter.word, []).append((column, value, counter.bit))
        if table is None:  # count the records; else add the words of finer blocks
            query = splice(
                "synthetic/packed",
                secret=self.secret or None,
                columns={f"count_{i}": column for i, column in enumerate(self.sizes)},
                shape={"words": list(words.values()), "has_secret": bool(self.secret)},
            )
        else:
            tables_read = {"packed": table}
            query = splice("synthetic/repacked", tables=tables_read, shape={"words": len(words)})
        query = query.select(*self.coded.masked(subset)).group_by(exp.var("ALL"))
        tables.make(name, query)

    def totals(self, table: str, release: int) -> Plan:
        """Return the plan of what is counted of blocks: a row per number of guessed values.

        The step ``blocks`` unpacks the counters of a row of ``table``, a block: its people and
        records, and how many people have the value that is most frequent in the release's records.
        In a block without records the most frequent values of the release are guessed (``modal``);
        ``typical`` are those of the control, ``usual`` those of both.
        """
        counters, modal = self._counters(), self.modal[release]
        query = splice(
            "synthetic/packed_blocks",
            tables={"packed": table},
            shape={
                "original": counters["original"],
                "control": counters.get("control", []),
                "records": counters[f"synthetic_{release}"],
                "modal": sorted(modal),
                "typical": sorted(self.typical),
                "usual": sorted({*modal} & {*self.typical}),
            },
        )
        doc = "One row per tuple of quasi-identifiers: what the release says about it."
        return Plan((Step("blocks", doc, query),), splice("synthetic/totals"))

    def _counters(self) -> dict[str, list[Counter]]:
        """Return the counters by column of counts, one for each code of the secret.

        Each has as many bits as the total of its column, so that no sum runs over.
        """
        counters: dict[str, list[Counter]] = {}
        word, used_bits = 1, 0
        for column, size in self.sizes.items():
            width = size.bit_length()  # no count exceeds the total
            counters[column] = []
            for _ in range(self.values):
                if used_bits + width > WORD_BITS:
                    word, used_bits = word + 1, 0
                counters[column].append(Counter(word, used_bits, (1 << width) - 1))
                used_bits += width
        return counters


@dataclass(kw_only=True)
class Walk:
    """The walk over all subsets for one secret; ``secret`` is its number, 0 for none.

    ``priors`` are those of each release, which are the same for all subsets.
    """

    coded: Coded
    files: Files
    secret: int
    priors: Mapping[int, Row]
    progress: Progress

    def __post_init__(self) -> None:
        """Choose the order: quasi-identifiers of most values are left out first."""
        self._tables = Tables(self.coded.tables.engine, "sweeping", self.coded.tables.where)
        values = self.coded.values
        self._order = sorted(range(len(values)), key=lambda i: (-values[i], i))
        self._wide = self._make_wide_cells()
        self._measured_subsets = 0

    @property
    def statements(self) -> Sequence[str]:
        """Return the statements of the first subset; all others are like them."""
        return self._tables.statements

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row of ``SUBSETS``, without the name of the release, per release and subset."""
        self._make_subset("subset_0", self._order)
        yield from self._walk_below("subset_0", self._order, 0)

    def _make_wide_cells(self) -> WideCells | None:
        """Return the layout of a table with one row per block; None if the secret has many values.

        A row has a counter for each value of the secret and file. ``modal`` and ``typical`` are the
        codes of the secret's most frequent values in each release and in the control.
        """
        values = self.coded.secret_values[self.secret - 1] if self.secret else 1
        has_control = self.files.control is not None
        if not WideCells.fit(values, len(self.coded.releases), has_control=has_control):
            return None
        sizes = {"original": self.files.original.records}  # totals of the columns of counts
        if self.files.control is not None:
            sizes["control"] = self.files.control.records
        records = [file.records for file in self.files.releases]
        modal, typical = {}, []
        for release in self.coded.releases:
            is_pooled = release == POOLED_RELEASE
            sizes[f"synthetic_{release}"] = sum(records) if is_pooled else records[release - 1]
            table = modes_table(self.secret, release)
            rows = self._tables.rows(exp.select("secret", "modal", "typical").from_(table))
            modal[release] = [code for code, is_modal, _ in rows if is_modal]
            typical = [code for code, _, is_typical in rows if is_typical]  # of the control
        return WideCells(
            coded=self.coded,
            secret=self.secret,
            values=values,
            modal=modal,
            typical=typical,
            sizes=sizes,
        )

    def _walk_below(
        self, table: str, subset: Sequence[int], start: int
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a subset, whose cells are in ``table``, and of subsets of it.

        Those lack quasi-identifiers from place ``start`` on: none comes twice. Drop the table.
        """
        yield from self._measure_subset(table, subset)
        for place in range(start, len(self._order)):
            remaining = [i for i in subset if i != self._order[place]]
            if remaining:
                name = f"subset_{len(self._order) - len(remaining)}"
                self._make_subset(name, remaining, table)
                yield from self._walk_below(name, remaining, place + 1)
        self._tables.drop(table)

    def _make_subset(self, name: str, subset: Sequence[int], table: str | None = None) -> None:
        """Make the table ``name``: counts of people and records by a subset of quasi-identifiers.

        They are added up from the ``table`` of a larger subset. That of all quasi-identifiers is
        made from the coded records (None), and only its statement is recorded.
        """
        tables = self._tables if table is None else self._silent_tables()
        if self._wide is not None:
            self._wide.make(tables, name, subset, table)
        else:
            tables.make(name, self.coded.cells(self.secret, subset, table or "coded"))

    def _measure_subset(self, table: str, subset: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Yield the row of each release on one ``subset`` of quasi-identifiers, by index.

        ``table`` has the counts of people and records by these and the secret: a row per block and
        value, or a row per block with a column for each value (``_wide``). Show the progress.
        """
        # Only statements of the first subset are recorded, as all others are like them.
        tables = self._silent_tables() if self._measured_subsets else self._tables
        for release in self.coded.releases:
            if self._wide is None:
                modes = modes_table(self.secret, release)
                totals = Cells(tables, table, modes, self.coded.words, release).totals()
            else:
                totals = rows_of(self._wide.totals(table, release), tables)
            measures = release_risks(totals)
            if self.secret:
                measures += secret_risks(totals, self.priors[release])
            row: dict[str, Any] = {
                "file": release,
                "secret": self.files.secrets[self.secret - 1] if self.secret else None,
                "subset": sum(1 << i for i in subset),  # a bit mask
                "n_qids": len(subset),
                "qids": [self.files.qids[i] for i in sorted(subset)],
            }
            for measure in measures:
                name = measure.name
                row[name] = measure.value
                if name in DIFFERENCES:
                    row |= {f"{name}_low": measure.low, f"{name}_high": measure.high}
            yield row
        self._measured_subsets += 1
        done, total = self._measured_subsets, 2 ** len(self._order) - 1
        self.progress("sweeping", done / total, f"{done:,} of {total:,} subsets")

    def _silent_tables(self) -> Tables:
        """Return tables whose statements are not recorded: they are those of the first subset."""
        return Tables(self._tables.engine, self._tables.what, self._tables.where)
