"""The records that are ``*`` in a whole subset, told apart from the sums over all its blocks.

Each of them is one of anything, so that their person's block is everyone (``counting.suppressed``).
A pass takes them for a block of their own, which is counted here again from the few combinations of
``*`` in the data. The best guesses on average count it as it is. What remains to be corrected are
the people of whom something is certain, and the extremes over all blocks: where the block of ``*``
may be the only extreme one, the subset is attacked alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep.result import SUPPRESSED
from qifsql.counting import suppressed
from qifsql.engine.protocol import Engine
from qifsql.measures.bayes import Success
from qifsql.query.microdata_steps import complete

PAIRS = 5_000_000  # of a subset and a row of ``places``, at the same time
NEAR = 1e-12  # of shares that may be equal
BLOCK = ("star", "star_mode", "star_values")
Alone = Callable[[int], Sequence[Mapping[str, Any]]]
"""A function that returns the rows of an attack with one subset (bits), one for each question."""


@dataclass(frozen=True)
class StarBlocks:
    """The records with ``*`` in some quasi-identifiers, and the block of each subset among them.

    ``places`` has by question (0: re-identification, j: the j-th secret) a row per combination of
    ``stars`` (a bit for each quasi-identifier) and ``value`` of the secret, with its ``records``.
    Of the ``people``, ``prior`` is the success by question, before the release.
    """

    places: Mapping[int, pl.DataFrame]
    prior: Mapping[int, Success]
    people: int

    @classmethod
    def count(
        cls, engine: Engine, bound: BoundAttack, prior: Mapping[int, Success], people: int
    ) -> "StarBlocks":
        """Count the records with ``*`` in some quasi-identifiers, for each question."""
        microdata = complete(bound.microdata)
        places = {j: suppressed.by_place(engine, microdata, j) for j in prior}
        return cls(places, prior, people)

    def certain(self, subset: int, question: int) -> int:
        """Return how many people a pass counts as certain because of ``*`` in the whole subset."""
        row = pl.DataFrame({"subset": [subset], "question": [question]})
        return int(self._with_blocks(row).select(self._certain)["certain"][0])

    def correct(self, subsets: pl.DataFrame, alone: Alone) -> pl.DataFrame:
        """Return the sums over blocks by ``subset`` and ``question``, with everyone as that block.

        ``alone`` attacks a subset whose extremes may be those of the block of ``*`` alone.
        """
        if subsets.is_empty():
            return subsets
        table = self._with_blocks(subsets)
        exact = self._exact_rows(table.filter(self._is_unclear)["subset"].unique().sort(), alone)
        keys = ["subset", "question"]
        table = table.with_columns(pl.col("certain") - self._certain)
        extremes = ["k", "l", "worst_case"]
        joined = table.join(exact, on=keys, how="left", maintain_order="left", suffix="_alone")
        columns = [pl.coalesce(f"{name}_alone", name).alias(name) for name in extremes]
        return joined.with_columns(columns).select(subsets.columns)

    def correct_histograms(self, bins: pl.DataFrame) -> pl.DataFrame:
        """Return the individuals by percent (``bin``), with the chance of everyone for these."""
        if bins.is_empty():
            return bins
        apart = self._with_blocks(bins.select("subset", "question").unique()).filter(self._is_apart)
        before = {j: round(100 * s.probabilistic) for j, s in self.prior.items()}
        percent = (100 * pl.col("star_mode") / pl.col("star")).round(mode="half_to_even")
        moves = [
            apart.with_columns(bin=percent, individuals=-pl.col("star")),
            apart.with_columns(
                bin=pl.col("question").replace_strict(before), individuals=pl.col("star")
            ),
        ]
        columns = ["subset", "question", "bin"]
        rows = [bins, *(move.select(bins.columns) for move in moves)]
        schema = bins.schema
        added = pl.concat(r.select(pl.col(c).cast(t) for c, t in schema.items()) for r in rows)
        summed = added.group_by(columns).agg(pl.col("individuals").sum()).select(bins.columns)
        return summed.filter(pl.col("individuals") > 0).sort(columns)

    def with_numbers(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a sweep with the column of ``SUPPRESSED``."""
        blocks = self._blocks(frame["subset"].unique(), 0).select("subset", suppressed="star")
        joined = frame.join(blocks, on="subset", how="left", maintain_order="left")
        (name,) = SUPPRESSED
        return joined.with_columns(pl.col(name).fill_null(0).cast(SUPPRESSED[name]))

    def _with_blocks(self, subsets: pl.DataFrame) -> pl.DataFrame:
        """Return rows of subsets and questions with the columns of ``BLOCK``, NULL without one."""
        masks = subsets["subset"].unique()
        questions = sorted(subsets["question"].unique().to_list())
        counted = [
            self._blocks(masks, j).with_columns(
                question=pl.lit(j, subsets.schema["question"]),
                is_certain_before=pl.lit(self.prior[j].deterministic == 1),
            )
            for j in questions
        ]
        keys = ["subset", "question"]
        return subsets.join(pl.concat(counted), on=keys, how="left", maintain_order="left")

    def _blocks(self, subsets: pl.Series, question: int) -> pl.DataFrame:
        """Return the block of ``*`` of each of these subsets that has one: columns of ``BLOCK``.

        ``star`` are its records, ``star_mode`` those with the most frequent value, ``star_values``
        the number of values. The record itself (question 0) is another value for everybody.
        """
        places = self.places[question].with_columns(pl.col("stars").cast(subsets.dtype))
        all_stars = reduce(or_, places["stars"].to_list(), 0)
        chosen = subsets.filter((subsets & all_stars) == subsets).rename("subset")
        size = max(1, PAIRS // max(1, places.height))
        parts = []
        for first in range(0, max(1, chosen.len()), size):
            pairs = chosen[first : first + size].to_frame().join(places, how="cross")
            inside = pairs.filter(pl.col("subset") & pl.col("stars") == pl.col("subset"))
            by_value = inside.group_by("subset", "value").agg(pl.col("records").sum())
            records = pl.col("records")
            columns = {"star": records.sum(), "star_mode": records.max()}
            parts.append(by_value.group_by("subset").agg(**columns, star_values=pl.len()))
        blocks = pl.concat(parts)
        if question == 0:
            blocks = blocks.with_columns(star_mode=pl.lit(1), star_values="star")
        return blocks.with_columns(pl.col(*BLOCK).cast(pl.Int64))

    @property
    def _is_apart(self) -> pl.Expr:
        """Return whether a subset has a block of ``*`` that is not everyone anyway."""
        return (pl.col("star") < self.people).fill_null(value=False)

    @property
    def _certain(self) -> pl.Expr:
        """Return the people of the block of ``*`` if it has one value, which not everyone has."""
        is_wrong = self._is_apart & (pl.col("star_values") == 1) & ~pl.col("is_certain_before")
        return pl.when(is_wrong).then("star").otherwise(0).alias("certain")

    @property
    def _is_unclear(self) -> pl.Expr:
        """Return whether no other block may be as extreme as that of ``*``."""
        has_other_certain = (pl.col("star_values") == 1) & (pl.col("certain") > pl.col("star"))
        share = pl.col("star_mode") / pl.col("star")
        of_secrets = (pl.col("star_values") == pl.col("l")) | (share >= pl.col("worst_case") - NEAR)
        least = pl.when(pl.col("question") > 0).then(of_secrets)
        is_extreme = least.otherwise(pl.col("star") == pl.col("k"))
        return self._is_apart & is_extreme & ~has_other_certain

    def _exact_rows(self, subsets: pl.Series, alone: Alone) -> pl.DataFrame:
        """Return the extremes of subsets that are attacked alone, for each question."""
        rows = []
        for subset in subsets.to_list():
            by_question = sorted(alone(subset), key=lambda row: row["secret"] is not None)
            for question, row in enumerate(by_question):
                rows.append((subset, question, row["k"], row["l"], row["worst_case"]))
        schema = {"subset": subsets.dtype, "question": pl.UInt8(), "k": pl.Int64()}
        schema |= {"l": pl.Int64(), "worst_case": pl.Float64()}
        return pl.DataFrame(rows, schema=schema, orient="row")
