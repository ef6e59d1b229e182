"""Counts of a set of cells, and the measures that follow from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import polars as pl
from sqlglot import exp

from qifsql.data.types import Row
from qifsql.engine.tables import Tables
from qifsql.measures import anonymity_loss
from qifsql.measures import release_measures as measures
from qifsql.measures.release_measures import Disclosure, Guesses, Measure, Overlap
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice
from qifsql.query.templates import load


@dataclass(frozen=True)
class Cells:
    """The cells of one subset and secret in a table of the engine, as one release sees them.

    ``modes`` is the table that says which values of the secret are most frequent in the release,
    and in the control. It is the same for all subsets. ``words`` is the number of columns
    ``word_i``.
    """

    tables: Tables
    table: str
    modes: str
    words: int
    release: int

    def make_modes(self) -> None:
        """Create the table ``modes`` of the most frequent values of the secret."""
        self.tables.make(self.modes, self.query("modes"))

    def query(self, view: str) -> exp.Select:
        """Return a view of ``sql/synthetic.sql`` about these cells."""
        return splice(
            f"synthetic/{view}",
            words=self.words,
            columns={"synthetic": f"synthetic_{self.release}"},
            tables={"cells": self.table, "modes": self.modes},
        )

    def plan(self, view: str, steps: Sequence[str] = ("levels", "blocks")) -> Plan:
        """Return the plan of a view that reads other ones."""
        selects = [Step(name, load(f"synthetic/{name}").doc, self.query(name)) for name in steps]
        return Plan(tuple(selects), self.query(view))

    def totals(self) -> list[Row]:
        """Return the counts of all blocks, a row per number of best guesses."""
        return rows_of(self.plan("totals"), self.tables)

    def priors(self) -> Row:
        """Return the row of the view ``priors``: what is known without quasi-identifiers."""
        return rows_of(self.plan("priors", ()), self.tables)[0]

    def claims(self, thresholds: Sequence[float]) -> list[Row]:
        """Return whom an adversary names who is sure, a row per threshold (see ``CLAIMS``).

        She is as sure as her best guess is frequent among the records alike, and right or wrong
        about people of the original. The last row, ``greatest``, is that of the greatest loss.
        """
        rows = rows_of(self.plan("claims", ("levels", "blocks", "commonest")), self.tables)
        ties, modal = pl.col("ties"), self.priors()["modal"]
        steps = (
            pl.DataFrame(rows)
            .sort(ties)
            .with_columns(
                weight="people",
                correct=pl.col("correct") / pl.when(ties > 0).then(ties).otherwise(modal),
                usual_share=None,
                secret=0,
            )
        )
        curve = anonymity_loss.curve(steps, ["secret"])
        claims = anonymity_loss.at_thresholds(curve, thresholds, ["secret"]).drop("secret")
        return list(claims.iter_rows(named=True))

    def worst(self) -> list[Row]:
        """Return the counts of the blocks that give away most."""
        return rows_of(self.plan("worst"), self.tables)


def modes_table(secret: int, release: int) -> str:
    """Return the name of the table of the most frequent values of a secret."""
    return f"modes_{secret}_{release}"


def rows_of(query: exp.Query | Plan, tables: Tables) -> list[Row]:
    """Return the rows of a query or plan by the names of their columns; record its statement."""
    names = (query.result if isinstance(query, Plan) else query).named_selects
    return [dict(zip(names, row, strict=True)) for row in tables.answer(query)]


def sums(rows: Iterable[Row]) -> dict[str, int]:
    """Return the sum of each column of counts over all rows."""
    totals: dict[str, int] = {}
    for row in rows:
        for name, count in row.items():
            if isinstance(count, int):
                totals[name] = totals.get(name, 0) + count
    return totals


def right_guesses(rows: Iterable[Row], name: str, modal: int) -> Fraction:
    """Return the expected number of people who are guessed right.

    Column ``name`` counts the people who have one of the ``ties`` best guesses of a row, of which
    the adversary draws one. If ``ties`` is 0, no record looks like these people, and the adversary
    draws one of the ``modal`` most frequent values.
    """
    return sum((Fraction(row[name], row["ties"] or modal) for row in rows), Fraction())


def overlap_counts(rows: Sequence[Row]) -> Overlap:
    """Return the counts of people and records that are alone or alike."""
    totals = sums(rows)
    names = ("people", "records", "uniques", "unique_records", "uniques_present", "replicated")
    return Overlap(**{name: totals.get(name, 0) for name in (*names, "present")})


def disclosure(rows: Sequence[Row]) -> Disclosure:
    """Return the counts of people in blocks with one value of the secret."""
    totals = sums(rows)
    names = ("people", "present", "certain_original", "certain", "certain_both")
    return Disclosure(**{n: totals[n] for n in names}, correct=totals["certain_correct"])


def guesses(rows: Sequence[Row], priors: Row) -> Guesses:
    """Return the counts of right guesses.

    ``rows`` are ``Cells.totals``. ``priors`` is ``Cells.priors``: ``original`` and ``control`` are
    the people of these files with the most frequent value, ``modal`` and ``typical`` how many
    values are most frequent in the release and in the control. ``control_both`` are guessed right
    by the release and by a guess of a ``typical`` value.
    """
    totals, modal = sums(rows), priors["modal"]
    return Guesses(
        people=totals["people"],
        right=right_guesses(rows, "correct", modal),
        prior=priors["original"],
        control=totals["control"],
        control_right=right_guesses(rows, "control_correct", modal),
        control_prior=priors["control"],
        control_both=right_guesses(rows, "control_both", modal) / priors["typical"],
    )


def release_risks(rows: Sequence[Row]) -> list[Measure]:
    """Return the measures that are about no secret."""
    return list(measures.overlap(overlap_counts(rows)))


def secret_risks(rows: Sequence[Row], priors: Row) -> list[Measure]:
    """Return the measures about a secret."""
    return [*measures.disclosure(disclosure(rows)), *measures.guesses(guesses(rows, priors))]
