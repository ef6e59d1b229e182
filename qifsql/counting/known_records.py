"""An adversary who knows one record of each person, beside one who knows all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qifsql.counting.counts import Counts
from qifsql.measures import bayes, gain, records_of_people
from qifsql.measures.profile import Profile
from qifsql.query.compiler import Question


@dataclass(frozen=True)
class OneRecord:
    """The blocks of equal records by kind, and the people who have one that tells.

    ``singled_out`` people have a record that nobody else has, ``certain`` ones a record in a block
    with one secret. ``hidden`` records are suppressed: the block of their people is everyone.
    """

    profile: pl.DataFrame
    singled_out: int
    certain: int
    hidden: int = 0

    def columns(self, prior: Profile, secret: int, measures: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns in which the row for one known record differs from that for all.

        ``prior`` is the profile without quasi-identifiers; ``secret`` is a number (0: the owner).
        Of the keys of ``measures`` it computes k and, with a secret, l; the others are None.
        """
        before = gain.success(prior, secret, 0)
        profile, certain = self.with_everyone(prior, secret)
        row: dict[str, Any] = {
            "known_records": "one",
            "blocks": int(profile["blocks"].sum()),
            "singled_out": prior.individuals if prior.individuals == 1 else self.singled_out,
            **bayes.row(before, records_of_people.success(profile, certain)),
            **dict.fromkeys(measures),
        }
        if "k" in measures:
            row["k"] = profile["size"].min()
            if secret:
                row["l"] = profile["values"].min()
        return row

    def with_everyone(self, prior: Profile, secret: int) -> tuple[pl.DataFrame, int]:
        """Return the blocks by kind and the certain people, with everyone if records are hidden.

        Where everyone has one secret, everyone is certain.
        """
        if not self.hidden:
            return self.profile, self.certain
        everyone = prior.frame.select("size", "values", "mode", blocks=1, records=self.hidden)
        if not secret:  # each person is a value of its own; the profile may be that of a secret
            everyone = everyone.with_columns(values="size", mode=1)
        columns = ("size", "mode", "values", "blocks", "records")
        tables = (self.profile.select(*columns), everyone.select(*columns))
        profile = pl.concat([table.cast(pl.Int64()) for table in tables])
        size, values = everyone.select("size", "values").row(0)
        return profile, int(size) if values == 1 else self.certain


def measure(counts: Counts, questions: Sequence[Question]) -> dict[int, OneRecord]:
    """Count the blocks of equal records; return them by the number of the secret (0: the owner).

    Questions with a gain function are left out. Without a person column, the result is empty. This
    drops the tables of ``counts``, and adds the plans that ran to its own.
    """
    if counts.bound.microdata.person is None:
        return {}
    identity = [(j, g) for j, g in questions if not g]
    by_record = counts.bound.on(counts.bound.microdata.by_one_record())
    blocks = Counts(counts.engine, by_record, again=False, tallied=False, people=counts)
    for j, _ in identity:
        blocks.keep("known_blocks", j, lasting=False)
    profiles, people = (blocks.frame(step, identity) for step in ("known_profile", "known_certain"))
    hidden: dict[int, int] = {}
    if by_record.microdata.suppressed:
        of_hidden = blocks.frame_of(blocks.hidden, "known_profile", identity)
        hidden = {row["secret"]: int(row["records"]) for row in of_hidden.to_dicts()}
    blocks.forget()
    counts.plans += blocks.plans
    certain = {row["secret"]: row for row in people.to_dicts()}
    return {
        j: OneRecord(
            profiles.filter(secret=j),
            certain[j]["singled_out"],
            certain[j]["certain"],
            hidden.get(j, 0),
        )
        for j, _ in identity
    }
