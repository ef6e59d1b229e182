"""An adversary who knows one record of each person, beside one who knows all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qifsql.counting.counts import Counts
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.measures.profile import Profile
from qifsql.query.compiler import Question
from qifsql.query.microdata_steps import KNOWN_KINDS


@dataclass(frozen=True)
class OneRecord:
    """The blocks of equal records by kind, and how many people one of their records gives away.

    ``singled_out`` people have a record that nobody else has, ``certain`` ones a record in a block
    with one secret. ``hidden`` is the profile of suppressed records alone (None: there are none).
    """

    profile: pl.DataFrame
    singled_out: int
    certain: int
    hidden: pl.DataFrame | None = None

    def columns(self, prior: Profile, secret: int, measures: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns in which the row for one known record differs from that for all.

        ``prior`` is the profile without quasi-identifiers; ``secret`` is a number (0: the owner).
        Of the keys of ``measures`` it computes k and, with a secret, l; the others are None.
        """
        before = bayes.success(prior, secret, 0)
        profile, then = self.success(prior, secret)
        row: dict[str, Any] = {
            "known_records": "one",
            "blocks": int(profile["blocks"].sum()),
            # The only person of a release is singled out, even by a suppressed record.
            "singled_out": prior.individuals if prior.individuals == 1 else self.singled_out,
            **bayes.row(before, then),
            **dict.fromkeys(measures),
        }
        if "k" in measures:
            row["k"] = profile["size"].min()
            if secret:
                row["l"] = profile["values"].min()
        return row

    def success(self, prior: Profile, secret: int) -> tuple[pl.DataFrame, Success]:
        """Return the profile of the blocks, and the success of guessing with one known record.

        A row of the profile is the blocks of equal size, mode and number of values. With hidden
        (suppressed) records, which may be anybody's, one more block is everyone; guesses about them
        are right as often as in blocks of hidden records alone.
        """
        if self.hidden is None:
            return self.profile, bayes.success_by_one_record(self.profile, self.certain)
        records = int(self.hidden["records"].sum())
        everyone = prior.frame.select("size", "values", "mode", blocks=1, records=records)
        if not secret:  # each person is a value of its own; the profile may be that of a secret
            everyone = everyone.with_columns(values="size", mode=1)
        profile, guesses = (self._beside(table) for table in (everyone, self.hidden))
        size, values = everyone.select("size", "values").row(0)
        certain = int(size) if values == 1 else self.certain
        return profile, bayes.success_by_one_record(profile, certain, guesses)

    def _beside(self, blocks: pl.DataFrame) -> pl.DataFrame:
        """Return the blocks by kind with further ones."""
        columns = ("size", "mode", "values", "blocks", "records")
        tables = (self.profile.select(*columns), blocks.select(*columns))
        return pl.concat([table.cast(pl.Int64()) for table in tables])


def measure(counts: Counts, questions: Sequence[Question]) -> dict[int, OneRecord]:
    """Count the blocks of equal records; return them by the number of the secret (0: the owner).

    Questions with a gain function are left out. Without others, or without a person column, the
    result is empty. This drops the tables of ``counts``, and adds the plans that ran to its own.
    """
    identity = [(j, g) for j, g in questions if not g]
    if counts.bound.microdata.person is None or not identity:
        return {}
    by_record = counts.bound.on(counts.bound.microdata.by_one_record())
    blocks = Counts(counts.engine, by_record, tallied=False, people_of=counts)
    if KNOWN_KINDS not in blocks.catalogs:  # ``counts`` has not counted these blocks by the way
        for j, _ in identity:
            blocks.keep("known_blocks", j, lasting=False)
    profiles, people = (blocks.frame(step, identity) for step in ("known_profile", "known_certain"))
    hidden: pl.DataFrame | None = None
    if by_record.microdata.suppressed:
        hidden = blocks.frame("known_profile", identity, hidden=True)
    blocks.forget()
    counts.plans += blocks.plans
    certain = {row["secret"]: row for row in people.to_dicts()}
    return {
        j: OneRecord(
            profile=profiles.filter(secret=j),
            singled_out=certain[j]["singled_out"],
            certain=certain[j]["certain"],
            hidden=None if hidden is None or j not in hidden["secret"] else hidden.filter(secret=j),
        )
        for j, _ in identity
    }
