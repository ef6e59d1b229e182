"""Star blocks: the records that are ``*`` in a whole subset, taken out of the sums over its blocks.

Such a record fits anybody, so its block is everyone (``counting.suppressed``). But a pass takes
these records for a block of their own, the *star block*, which is counted here again from the few
combinations of ``*`` in the data. The mean success of the best guess is the same. What has to be
corrected are the people of whom something is certain, and the extremes over all blocks: where the
star block may be the only extreme one, the subset is attacked alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep.result import COUNT, KEYS, NUMBER, SUBSET, SUPPRESSED
from qifsql.commands.sweep.strategies import SubsetAttacks
from qifsql.counting import suppressed
from qifsql.engine.protocol import Engine
from qifsql.measures.bayes import Success
from qifsql.query.microdata_steps import complete

MOST_PAIRS = 5_000_000  # of a subset and a row of ``places``, at the same time
NEAR = 1e-12  # difference of shares that may be equal
STAR_BLOCK = ("star", "star_mode", "star_values")
EXTREMES = {"k": COUNT, "l": COUNT, "worst_case": NUMBER}


@dataclass(frozen=True)
class StarBlocks:
    """The records with ``*`` in some quasi-identifiers, and the star block of each subset.

    ``places`` has by question (0: re-identification, j: the j-th secret) a row per combination of
    ``stars`` (a bit for each quasi-identifier) and ``value`` of the secret, with its ``records``.
    ``people`` is the number of all people, ``prior`` the success before the release by question.
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
        """Return how many people a pass takes for certain because they are in the star block."""
        row = pl.DataFrame({"subset": [subset], "question": [question]})
        return int(self._with_blocks(row).select(self._certain)["certain"][0])

    def correct(self, subsets: pl.DataFrame, attacks: SubsetAttacks) -> pl.DataFrame:
        """Return the sums over blocks by ``subset`` and ``question``, without the star blocks.

        ``certain`` becomes smaller by the people of a star block with one value. The extremes (k,
        l, worst case) are those of other blocks. Where the sums do not tell these, because the star
        block may be the only extreme one, the subset is attacked by itself, without that block.
        """
        if subsets.is_empty():
            return subsets
        table = self._with_blocks(subsets)
        rows = []
        for subset in table.filter(self._may_be_only_extreme)["subset"].unique().sort().to_list():
            for question, row in enumerate(attacks.measure(subset, subset)["rows"]):
                rows.append((subset, question, row["k"], row["l"], row["worst_case"]))
        schema = {"subset": SUBSET, "question": pl.UInt8(), **EXTREMES}
        extremes_alone = pl.DataFrame(rows, schema=schema, orient="row")
        corrected = table.with_columns(pl.col("certain") - self._certain).join(
            extremes_alone, on=KEYS, how="left", maintain_order="left", suffix="_alone"
        )
        columns = [pl.coalesce(f"{name}_alone", name).alias(name) for name in EXTREMES]
        return corrected.with_columns(columns).select(subsets.columns)

    def correct_histograms(self, bins: pl.DataFrame) -> pl.DataFrame:
        """Return the individuals by percent of success (``bin``), with the star blocks corrected.

        A record that is * in the whole subset may be anybody's, so that its success is that before
        the release: the people of a star block move to the percent of the prior.
        """
        if bins.is_empty():
            return bins
        stars = self._with_blocks(bins.select(KEYS).unique()).filter(self._is_apart)
        percent = (100 * pl.col("star_mode") / pl.col("star")).round(mode="half_to_even")
        taken_out = stars.with_columns(bin=percent, individuals=-pl.col("star"))
        percent_before = {j: round(100 * s.probabilistic) for j, s in self.prior.items()}
        everyone = pl.col("question").replace_strict(percent_before)
        put_in = stars.with_columns(bin=everyone, individuals="star")
        tables = (
            table.select(pl.col(name).cast(kind) for name, kind in bins.schema.items())
            for table in (bins, taken_out, put_in)
        )
        keys = [*KEYS, "bin"]
        summed = pl.concat(tables).group_by(keys).agg(pl.col("individuals").sum())
        return summed.select(bins.columns).filter(pl.col("individuals") > 0).sort(keys)

    def with_numbers(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a sweep with the column of ``SUPPRESSED``."""
        blocks = self._blocks(frame["subset"].unique(), 0).select("subset", suppressed="star")
        joined = frame.join(blocks, on="subset", how="left", maintain_order="left")
        (name,) = SUPPRESSED
        return joined.with_columns(pl.col(name).fill_null(0).cast(SUPPRESSED[name]))

    def _with_blocks(self, subsets: pl.DataFrame) -> pl.DataFrame:
        """Return rows with the columns of ``STAR_BLOCK``, NULL without a star block.

        They also have ``is_certain_before``: whether the question is settled before the release.
        """
        masks = subsets["subset"].unique()
        blocks = [
            self._blocks(masks, j).with_columns(
                question=pl.lit(j, subsets.schema["question"]),
                is_certain_before=pl.lit(self.prior[j].deterministic == 1),
            )
            for j in sorted(subsets["question"].unique().to_list())
        ]
        return subsets.join(pl.concat(blocks), on=KEYS, how="left", maintain_order="left")

    def _blocks(self, subsets: pl.Series, question: int) -> pl.DataFrame:
        """Return the star block of each of these subsets that has one: columns of ``STAR_BLOCK``.

        A star block has the records that are * in all quasi-identifiers of a subset. ``star`` is
        their number, ``star_mode`` how many of them have the most frequent value of the secret,
        ``star_values`` how many values they have. For question 0 each record is a value.
        """
        places = self.places[question].with_columns(pl.col("stars").cast(subsets.dtype))
        all_stars = reduce(or_, places["stars"].to_list(), 0)
        # Others have a quasi-identifier that is nowhere *, so no record is * in all of them.
        chosen = subsets.filter((subsets & all_stars) == subsets).rename("subset")
        records = pl.col("records")
        at_once = max(1, MOST_PAIRS // max(1, places.height))  # subsets
        parts = []
        for first in range(0, max(1, chosen.len()), at_once):
            pairs = chosen[first : first + at_once].to_frame().join(places, how="cross")
            # Records that are * in the whole subset, and maybe in other quasi-identifiers.
            inside = pairs.filter(pl.col("subset") & pl.col("stars") == pl.col("subset"))
            by_value = inside.group_by("subset", "value").agg(records.sum())
            columns = {"star": records.sum(), "star_mode": records.max()}
            parts.append(by_value.group_by("subset").agg(**columns, star_values=pl.len()))
        blocks = pl.concat(parts)
        if question == 0:
            blocks = blocks.with_columns(star_mode=pl.lit(1), star_values="star")
        return blocks.with_columns(pl.col(*STAR_BLOCK).cast(pl.Int64))

    @property
    def _is_apart(self) -> pl.Expr:
        """Return whether a subset has a star block that is not everyone anyway."""
        return (pl.col("star") < self.people).fill_null(value=False)

    @property
    def _certain(self) -> pl.Expr:
        """Return the people of the star block if it has one value, which not everyone has."""
        is_wrong = self._is_apart & (pl.col("star_values") == 1) & ~pl.col("is_certain_before")
        return pl.when(is_wrong).then("star").otherwise(0).alias("certain")

    @property
    def _may_be_only_extreme(self) -> pl.Expr:
        """Return whether the star block alone may have the extreme numbers of a subset.

        Then these must be found again without it. It is an expression over a row of sums (``k``,
        ``l``, ``worst_case``, ``certain``) in which the star block counts, and its own numbers.
        """
        is_smallest = pl.col("star") == pl.col("k")
        has_fewest_values = pl.col("star_values") == pl.col("l")
        share = pl.col("star_mode") / pl.col("star")
        is_worst = share >= pl.col("worst_case") - NEAR
        of_secret = has_fewest_values | is_worst
        is_extreme = pl.when(pl.col("question") > 0).then(of_secret).otherwise(is_smallest)
        # In another block of one value, too, everybody is certain.
        has_other_certain = (pl.col("star_values") == 1) & (pl.col("certain") > pl.col("star"))
        return self._is_apart & is_extreme & ~has_other_certain
