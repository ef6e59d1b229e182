"""The minimal sample uniques of a stored result, found again subset by subset (M140 to M145)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from qifsql.commands.verify import people_checks, second_engine
from qifsql.commands.verify.stored_request import RepetitionError, Request
from qifsql.commands.verify.verdicts import RESULTS, Place, Repetition, place_numbers
from qifsql.query.suppression import STAR
from qifsql.reference import sample_uniques
from qifsql.reference.microdata import Rows
from qifsql.reference.sample_uniques import Unique
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

WAY = "definition"
MOST_PAIRS = 2_000_000  # of a record and a subset
TABLES = ("by_size", "by_set", "by_qid")  # that are repeated


def repeat(request: Request) -> Repetition:
    """Return the measures of a stored result, and its tables by size, set and quasi-identifier."""
    stored = request.stored
    if stored.spec["null"] != "distinct":
        raise RepetitionError("missing values that are no values are not repeated")
    names = [f"qid {name}" for name in stored.spec["qids"]]
    records: Rows
    if stored.spec.get("person"):
        records = people_checks.read_records(request)
    else:
        records = second_engine.read_people(request).rows
    if len(records) << len(names) > MOST_PAIRS:
        raise RepetitionError(f"more than {MOST_PAIRS:,} pairs of a record and a subset")
    if any(None in key for key in second_engine.suppressed_keys(stored, records, names)):
        raise RepetitionError("suppressed numbers are missing values here")
    uniques = _Uniques(stored, records)
    numbers: dict[Place, Number] = {}
    measures = uniques.measures()
    for i, name in enumerate(stored.frame["measure"]):
        if name in measures:
            numbers |= place_numbers(RESULTS, i, {"value": measures[name]})
    counts = (uniques.of_size, uniques.of_set, uniques.of_qid)
    for table, count in zip(TABLES, counts, strict=True):
        for i, row in enumerate(stored.details[table].iter_rows(named=True)):
            numbers |= place_numbers(table, i, count(row))
    return Repetition(WAY, numbers)


class _Uniques:
    """The minimal sample uniques of a result, by their definition.

    A minimal sample unique is a smallest set of quasi-identifiers that singles out a record, or a
    person by one of her records. ``uniques`` and ``scores`` are by record or person.
    """

    def __init__(self, stored: Stored, records: Rows) -> None:
        """Find the sets that single out each record, or each person by one of her records."""
        spec = stored.spec
        self.qids = [f"qid {name}" for name in spec["qids"]]
        self.person = "person" if spec.get("person") else None
        self.max_size = int(spec["max_size"])
        self.fraction = Fraction(str(spec["fraction"]))
        self.records = records
        about = self.qids, self.max_size
        if self.person:
            self.uniques = sample_uniques.minimal_uniques_of_people(
                records, self.person, *about, suppressed=STAR
            )
        else:
            self.uniques = sample_uniques.minimal_uniques(
                records, *about, omit_missing=bool(spec["omit_missing"]), suppressed=STAR
            )
        self.scores = [self._score(sets) for sets in self.uniques]

    def measures(self) -> dict[str, Number]:
        """Return each measure of the result by its name."""
        in_blocks = [r for r in self.records if {r[name] for name in self.qids} != {STAR}]
        rows = in_blocks or self.records  # a suppressed record is in no block, unless all are
        alone, paired = sample_uniques.alone_and_paired(rows, self.qids, self.person)
        unit = "people" if self.person else "records"
        smallest = [min(map(len, sets)) for sets in self.uniques if sets]
        about = rows, self.qids, self.fraction, self.person
        chances = sample_uniques.dis_suda(self.scores, *about)
        return {
            "people": len(self.uniques),  # a measure of results about people alone
            "records": len(self.records),
            "uniques": alone,
            "paired": paired,
            f"{unit}_with_msu": len(smallest),
            "special_uniques": sum(size < len(self.qids) for size in smallest),
            "msus": sum(map(len, self.uniques)),
            "dis": sample_uniques.intrusion(*about),
            "mean_dis_suda": sum(chances) / len(chances),
            "highest_dis_suda": max(chances),
        }

    def of_size(self, row: Mapping[str, Any]) -> dict[str, Number]:
        """Return the numbers of the minimal sample uniques of one size.

        ``records`` or ``people`` counts those whose smallest has this size.
        """
        size = row["size"]
        sets = Counter(s for sets in self.uniques for s in sets if len(s) == size)
        smallest = [min(map(len, sets)) for sets in self.uniques if sets]
        return {
            "msus": sets.total(),
            "sets": len(sets),
            "people" if self.person else "records": smallest.count(size),
            "score": self._score([frozenset(self.qids[:size])]),  # any one set of this size
        }

    def of_set(self, row: Mapping[str, Any]) -> dict[str, Number]:
        """Return the numbers of one set of quasi-identifiers."""
        qids = frozenset(f"qid {name}" for name in row["qids"])
        return {"size": len(qids), **self._share([{qids} & sets for sets in self.uniques])}

    def of_qid(self, row: Mapping[str, Any]) -> dict[str, Number]:
        """Return the numbers of the minimal sample uniques that hold one quasi-identifier."""
        name = f"qid {row['qid']}"
        return self._share([{s for s in sets if name in s} for sets in self.uniques])

    def _share(self, uniques: Sequence[set[Unique]]) -> dict[str, Number]:
        """Return how many minimal sample uniques these are, and their share of all scores."""
        total = sum(self.scores, Fraction())
        part = sum(map(self._score, uniques), Fraction())
        return {"msus": sum(map(len, uniques)), "contribution": part / total if total else None}

    def _score(self, sets: "set[Unique] | Sequence[Unique]") -> Fraction:
        return sample_uniques.score(set(sets), len(self.qids), self.max_size)
