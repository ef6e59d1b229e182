"""A walk through a stored sweep: one set of columns, its numbers, and the sets next to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from qifsql.commands.open.fields import integer
from qifsql.commands.report.report import shared_results
from qifsql.counting.subset_families import MOST_BITS
from qifsql.data.types import Row
from qifsql.errors import InputError
from qifsql.presentation import details, escaping, words
from qifsql.presentation.language import said
from qifsql.results import stored
from qifsql.results.stored import Stored

WIDTH, HEIGHT, MARGIN = 640.0, 300.0, 46.0  # the drawing of the lattice, in units of its own
MOST_DOTS = 5_000  # of more sets than this, only the current one and its neighbours are drawn
BARS = 10  # of a histogram, of ten percent each


@dataclass(frozen=True)
class Dot:
    """A set of columns in the drawing: its number, its names and success as texts, its place.

    ``place`` is ``here`` (the current set), ``beside`` (a column more or less) or empty.
    """

    subset: int
    name: str
    success: str
    x: float
    y: float
    place: str = ""


@dataclass(frozen=True)
class Place:
    """A set of columns with its numbers, its neighbours, its histogram, and the drawing.

    ``fewer`` and ``more`` are the neighbours: the sets with a column less, and with a column more.
    ``numbers`` are pairs of a name and a number as texts. ``sizes`` are pairs of a place in the
    drawing, from the left, and a number of columns; ``levels`` of a place from the top and a
    success. ``histogram`` has triples: a range of success, its people, their share.
    """

    question: int
    measure: str
    questions: Sequence[str]
    subset: int
    names: str
    numbers: Sequence[tuple[str, str]]
    fewer: Sequence[Dot]
    more: Sequence[Dot]
    histogram: Sequence[tuple[str, str, float]]
    dots: Sequence[Dot]
    sizes: Sequence[tuple[float, int]]
    levels: Sequence[tuple[float, str]]
    prior: float
    border: str


class Walk:
    """A stored sweep as its readers may see it.

    The number of a set of columns has a bit for each column of the sweep. ``rows`` has the row of
    each set, by question (an index of ``questions``) and number.
    """

    def __init__(self, file: str, sweep: Stored, *, private: bool) -> None:
        """Index a stored sweep; ``private``: its readers may see small groups and values."""
        self.file = Path(file).name
        self.stored = sweep
        self.private = private
        (self.result,) = shared_results([sweep], private=private)
        frame = self.result.frame
        keys = [name for name in details.QUESTION if name in frame.columns]
        self.questions: Sequence[Row] = frame.select(keys).unique(maintain_order=True).to_dicts()
        self.rows: list[dict[int, Row]] = []
        for i in range(len(self.questions)):
            rows = self._rows_about(frame, i).iter_rows(named=True)
            self.rows.append({row["subset"]: row for row in rows})

    @property
    def subsets(self) -> int:
        """Return the number of sets that are there."""
        return len(self.rows[0])

    @property
    def all(self) -> int:
        """Return how many sets, except the empty one, the columns of the largest set have."""
        return max(self.rows[0])

    @property
    def is_whole(self) -> bool:
        """Return whether all sets of these columns are there."""
        return self.subsets == self.all

    @classmethod
    def of(cls, file: str, *, private: bool = False) -> "Walk":
        """Read a stored sweep; InputError if the result is of another command."""
        (result,) = stored.read([file])
        if result.kind != "sweep" or "subset" not in result.frame.columns:
            raise InputError(
                f"{file} is a stored result of qifsql {result.kind}; the page opens data and "
                f"sweeps: write its report with qifsql report {file}"
            )
        if len(result.spec["qids"]) > MOST_BITS:
            raise InputError(
                f"{file} is a sweep of {len(result.spec['qids'])} quasi-identifiers, and the page "
                f"shows those of {MOST_BITS} at most: write its report with qifsql report {file}"
            )
        return cls(file, result, private=private)

    def _rows_about(self, table: pl.DataFrame, question: int) -> pl.DataFrame:
        """Return the rows of a table of the sweep that are about a question."""
        return details.rows_about(table, self.questions[question], details.QUESTION)

    def at(self, question: int, measure: str, text: str) -> Place:
        """Return the set of columns whose number (bit mask) is ``text``; by default the largest.

        ``question`` is an index of ``questions``. ``measure`` is ``deterministic`` or
        ``probabilistic``: the success that is drawn.
        """
        question = question if question < len(self.questions) else 0
        rows = self.rows[question]
        subset = _chosen_subset(rows, text)
        row, success = rows[subset], f"posterior_{measure}"
        # Two sets of which one has a column more differ in one bit of their numbers.
        near = [s for s in rows if (s ^ subset).bit_count() == 1]
        near.sort(key=lambda s: (-rows[s][success], s))
        dots = self._dots(rows, success, dict.fromkeys(near, "beside") | {subset: "here"})
        drawn_dots = list(dots.values())
        if len(drawn_dots) > MOST_DOTS:
            drawn_dots = [dots[s] for s in (*near, subset)]
        sizes = sorted({r["n_qids"] for r in rows.values()})
        return Place(
            question=question,
            measure=measure,
            questions=[words.goal(row) + words.known_records(row) for row in self.questions],
            subset=subset,
            names=_names_in_words(row),
            numbers=[
                (said("best guess before the release"), words.percent(row["prior_probabilistic"])),
                (said("certain"), words.percent(row["posterior_deterministic"])),
                (said("best guess"), words.percent(row["posterior_probabilistic"])),
                (said("singled out"), words.count(row["singled_out"])),
                (said("blocks"), words.count(row["blocks"])),
            ],
            # Of two neighbours, the set with the column has the greater number.
            fewer=[_named_beside(dots[s], row, rows[s]) for s in near if s < subset],
            more=[_named_beside(dots[s], rows[s], row) for s in near if s > subset],
            histogram=self._histogram(question, subset),
            dots=sorted(drawn_dots, key=lambda dot: (dot.place == "here", dot.place)),
            sizes=[(self._x(n), n) for n in sizes],
            levels=[(_y(share), f"{share:.0%}".replace("%", " %")) for share in (0.0, 0.5, 1.0)],
            prior=_y(row[f"prior_{measure}"]),
            border=self._border(question, measure, subset),
        )

    def _x(self, size: int) -> float:
        """Return where dots of subsets with so many columns are, from the left."""
        sizes = self.result.frame["n_qids"]
        smallest, largest = int(sizes.min() or 0), int(sizes.max() or 0)  # type: ignore[arg-type]
        step = (WIDTH - 2 * MARGIN) / max(1, largest - smallest)
        return round(MARGIN + step * (size - smallest), 1)

    def _dots(
        self, rows: Mapping[int, Row], success: str, places: Mapping[int, str]
    ) -> dict[int, Dot]:
        """Return the dot of each set by its number, at the height of the column ``success``.

        ``rows`` are those of one question. ``places`` are those of the dots that stand out.
        """
        return {
            subset: Dot(
                subset=subset,
                name=_names_in_words(row),
                success=words.percent(row[success]),
                x=self._x(row["n_qids"]),
                y=_y(row[success]),
                place=places.get(subset, ""),
            )
            for subset, row in rows.items()
        }

    def _histogram(self, question: int, subset: int) -> list[tuple[str, str, float]]:
        """Return people by success in tenths: range, number (texts), share; [] if not counted."""
        table = self.result.details.get("histogram")
        if table is None or table.is_empty():
            return []
        excerpt = self._rows_about(table, question).filter(subset=subset)
        tenth = (pl.col("bin") // BARS).clip(upper_bound=BARS - 1)  # a bin is a percent, 0 to 100
        people = dict(excerpt.group_by(tenth).agg(pl.col("individuals").sum()).iter_rows())
        counts = [people.get(i, 0) for i in range(BARS)]
        total = sum(counts) or 1
        return [
            (f"{i * BARS}–{(i + 1) * BARS} %", words.count(n), n / total)
            for i, n in enumerate(counts)
        ]

    def _border(self, question: int, measure: str, subset: int) -> str:
        """Return whether a set is minimal risky or maximal safe, in words; "" if neither."""
        table = self.result.details.get("borders")
        if table is None or table.is_empty():
            return ""
        excerpt = self._rows_about(table, question).filter(measure=measure, subset=subset)
        named = {"minimal risky": said("minimal risky"), "maximal safe": said("maximal safe")}
        return ", ".join(named.get(border, border) for border in excerpt["border"].to_list())


def is_result(text: str) -> bool:
    """Return whether a file is a stored result of qifsql, from its metadata alone."""
    path = Path(text)
    return path.suffix.casefold() == ".parquet" and path.is_file() and stored.is_result(path)


def _chosen_subset(rows: Mapping[int, Row], text: str) -> int:
    """Return the set whose number is ``text``, if ``rows`` has it, else the largest set."""
    number = integer(text)
    if number is not None and number in rows:
        return number
    return max(rows, key=lambda s: (s.bit_count(), s))


def _named_beside(dot: Dot, more: Row, fewer: Row) -> Dot:
    """Return a neighbour, named by the one column that ``more`` has and ``fewer`` lacks."""
    (name,) = (q for q in more["qids"] if q not in fewer["qids"])
    return replace(dot, name=escaping.cell(name))


def _names_in_words(row: Row) -> str:
    return ", ".join(escaping.cell(name) for name in row["qids"]) or said("nothing")


def _y(share: float) -> float:
    """Return the place of a success in the drawing."""
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)
