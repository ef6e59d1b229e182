"""A stored sweep as exact set functions: success by subset, for each question and measure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.counting.subset_families import MOST_BITS
from qifsql.data.files import path_text
from qifsql.errors import InputError
from qifsql.measures.set_functions import MEASURES, multiples, questions, values
from qifsql.results.result import Result
from qifsql.results.stored import Stored, read

COLUMNS = ("model", "secret", "n_qids", "subset", "records")
ADVICE = "run qifsql sweep with all sizes, and store its result with -o FILE.parquet"


@dataclass(frozen=True)
class SetFunction:
    """V(S) = amounts[S] / unit for the subsets S of one question and measure that are stored.

    The empty subset is among them; its value is the prior. ``known_records`` is that of the rows if
    people have several records.
    """

    model: str
    secret: str | None
    measure: str
    amounts: Mapping[int, int]
    unit: Fraction
    known_records: str | None = None

    @property
    def prior(self) -> Fraction:
        """Return V(empty)."""
        return self.amounts[0] / self.unit

    @property
    def question(self) -> dict[str, str | None]:
        """Return the columns of the question and the measure."""
        names = {"model": self.model, "secret": self.secret, "measure": self.measure}
        if self.known_records is None:
            return names
        return names | {"known_records": self.known_records}


@dataclass(frozen=True)
class StoredSweep:
    """A stored sweep, its quasi-identifiers in the order of the bits of subsets."""

    stored: Stored
    qids: tuple[str, ...]
    functions: tuple[SetFunction, ...]

    def by_reading(self) -> "Iterator[StoredSweep]":
        """Yield the sweep of those who know all records of a person, and of those who know one.

        If people have one record each, there is only one.
        """
        for known_records in dict.fromkeys(f.known_records for f in self.functions):
            functions = tuple(f for f in self.functions if f.known_records == known_records)
            yield replace(self, functions=functions)

    @property
    def subsets(self) -> Mapping[int, int]:
        """Return the subsets that have numbers, as the keys."""
        return self.functions[0].amounts

    @property
    def is_complete(self) -> bool:
        """Return whether every subset has numbers."""
        return len(self.subsets) == 1 << len(self.qids)

    @property
    def histogram(self) -> pl.DataFrame | None:
        """Return the histograms of people by success; None if the sweep stored none."""
        table = self.stored.details.get("histogram")
        columns = {"model", "secret", "subset", "bin", "individuals"}
        return table if table is not None and columns <= set(table.columns) else None


def read_sweep(source: str | Path | Result) -> StoredSweep:
    """Return the sweep in a file, a folder or a result; InputError if there is no exact one."""
    results = read([source if isinstance(source, Result) else path_text(source)])
    where = "this result" if isinstance(source, Result) else str(source)
    stored = _only_sweep(results, where)
    frame = stored.frame
    if frame.is_empty() or not set(COLUMNS) <= set(frame.columns):
        raise InputError(f"{where} has no subset with numbers; {ADVICE}")
    if "sampled" in frame.columns:
        raise InputError(
            f"{where} is a sweep of a sample: its numbers are estimates; leave --sample out of the "
            "sweep"
        )
    qids = tuple(map(str, stored.spec["qids"]))
    if len(qids) > MOST_BITS:
        raise InputError(
            f"{where} is a sweep of {len(qids)} quasi-identifiers, and adversaries take "
            f"{MOST_BITS} at most; sweep fewer"
        )
    try:
        functions = tuple(_functions_of_readings(frame))
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError) as e:
        raise InputError(f"{where} is damaged; {ADVICE}", detail=str(e)) from e
    if not _are_consistent(functions, len(qids)):
        raise InputError(f"{where} is damaged: its subsets do not fit; {ADVICE}")
    return StoredSweep(stored, qids, functions)


def _only_sweep(results: Sequence[Stored], where: str) -> Stored:
    """Return the only sweep of several results; InputError if there is none, or several."""
    sweeps = [stored for stored in results if stored.kind == "sweep"]
    if not sweeps:
        kinds = ", ".join(dict.fromkeys(stored.kind for stored in results))
        raise InputError(f"{where} is a result of {kinds}, not of a sweep; {ADVICE}")
    if len(sweeps) > 1:
        names = ", ".join(stored.name for stored in sweeps)
        raise InputError(f"{where} has several sweeps ({names}); name one")
    return sweeps[0]


def _functions_of_readings(frame: pl.DataFrame) -> Iterator[SetFunction]:
    """Yield the set functions of all records known, and of one, if people have several."""
    if "known_records" not in frame.columns:
        yield from _set_functions(frame)
        return
    for (known_records,), part in frame.group_by("known_records", maintain_order=True):
        for function in _set_functions(part.with_columns(records="people")):
            yield replace(function, known_records=str(known_records))


def _set_functions(frame: pl.DataFrame) -> list[SetFunction]:
    """Return success by subset for each question and measure; ValueError for a repeated subset."""
    functions = []
    for part in questions(frame):
        subsets = [0, *part["subset"].to_list()]  # the values begin with that of nothing known
        model, secret = part.select("model", "secret").row(0)
        for measure in MEASURES:
            amounts, unit = multiples(values(part, measure), part["records"][0])
            by_subset = dict(zip(subsets, amounts.to_list(), strict=True))
            if len(by_subset) < len(subsets):
                raise ValueError("a subset is there twice")
            functions.append(SetFunction(model, secret, measure, by_subset, unit))
    return functions


def _are_consistent(functions: tuple[SetFunction, ...], n: int) -> bool:
    """Return whether all functions have the same subsets of n qids, and success from 0 to 1."""
    subsets = functions[0].amounts.keys()
    have_same_subsets = all(f.amounts.keys() == subsets for f in functions)
    are_shares = all(0 <= amount <= f.unit for f in functions for amount in f.amounts.values())
    return max(subsets) < 1 << n and have_same_subsets and are_shares


def people_by_bin(table: pl.DataFrame, function: SetFunction) -> dict[int, list[tuple[int, Any]]]:
    """Return the histogram of each subset of a question: pairs of a bin and its people.

    A bin is the success in percent. Subset 0, nothing known, has all people in the bin of the
    prior, rounded half to even.
    """
    secret = pl.lit(function.secret, pl.String)
    rows = table.filter(model=function.model).filter(pl.col("secret").eq_missing(secret))
    bins: dict[int, list[tuple[int, Any]]] = defaultdict(list)
    for subset, bin_, individuals in rows.select("subset", "bin", "individuals").iter_rows():
        bins[subset].append((bin_, individuals))
    people = sum(individuals for _, individuals in next(iter(bins.values()), []))
    bins[0] = [(round(100 * function.prior), people)]
    return bins
