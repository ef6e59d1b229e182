"""Answers of a sweep: best subsets, Shapley values, borders of a threshold.

A sweep has one row for each subset of n quasi-identifiers and each question. A question is a model
and a secret (NULL for re-identification). Bit i of ``subset`` is set if the subset contains the
i-th of ``qids``. For a question and a measure, the sweep is a set function V: V(S) is the posterior
of S, V(empty) is the prior (M34 to M38). All answers except ``best_subsets`` need every subset of
every question (see ``is_complete``).

In a collection, a subset belongs to some of the datasets. ``release_subsets`` returns those that
hold all quasi-identifiers of the focal dataset and of a set of auxiliary ones: they show how much
each release adds to the risk (``release_contributions``).

Questions keep the order of their first row, quasi-identifiers the order of ``qids``; all else is
sorted. So the same sweep gives the same answer. Sums are exact: they add counts of records if there
are no weights, otherwise the floats of the posteriors.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl

from qifsql.commands.sweep.layout import MOST_QIDS, Layout
from qifsql.commands.sweep.result import (
    BEST,
    BORDERS,
    COUNT,
    DROP_FIRST,
    INTERACTIONS,
    NAME,
    NUMBER,
    QUESTION,
    SHAPLEY,
    SUBSET,
    includes,
    names_by_bits,
)
from qifsql.commands.sweep.worker import Sums
from qifsql.errors import InputError, quoted
from qifsql.measures.set_functions import MEASURES, Game, games, questions, values

LONGITUDINAL = {"CRS": "CRL", "CAS": "CAL"}
PRIORS = ("prior_deterministic", "prior_probabilistic")
POSTERIORS = ("posterior_deterministic", "posterior_probabilistic")

COARSEN_FIRST = QUESTION | {
    **{"rank": COUNT, "qid": NAME, "values": COUNT, "values_coarser": COUNT},
    **{"posterior_all": NUMBER, "posterior_coarser": NUMBER},
    **{"saved": NUMBER, "saved_deterministic": NUMBER},
}
"""Success after merging the values of one quasi-identifier in pairs, best first. Quasi-identifiers
that cannot be first are left out."""

RELEASES: dict[str, pl.DataType] = {
    ("dataset" if name == "qid" else name): kind for name, kind in SHAPLEY.items()
}
"""Shapley value of each auxiliary dataset, beyond the focal dataset alone. Columns as in
``SHAPLEY``, with ``dataset`` (its number and name) in place of ``qid``."""


def answer_tables(
    frame: pl.DataFrame, qids: Sequence[str], threshold: float | None
) -> dict[str, pl.DataFrame]:
    """Return the answers by name; those that need all subsets only if the sweep is whole."""
    tables = {"best": best_subsets(frame, qids)}
    if is_complete(frame, qids):
        tables["shapley"] = shapley_values(frame, qids)
        tables["interactions"] = interactions(frame, qids)
        tables["drop_first"] = drop_first(frame, qids)
        if threshold is not None:
            both = [borders(frame, qids, threshold, measure) for measure in MEASURES]
            tables["borders"] = pl.concat(both)
    return tables


def answer_tables_by_reading(
    frame: pl.DataFrame, qids: Sequence[str], threshold: float | None
) -> dict[str, pl.DataFrame]:
    """Return the answers by name; where people have several records, for each ``known_records``."""
    if "known_records" not in frame.columns:
        return answer_tables(frame, qids, threshold)
    tables: dict[str, list[pl.DataFrame]] = {}
    for records in frame["known_records"].unique(maintain_order=True):
        # Shares of people are divided by their number, not by that of the records.
        part = frame.filter(known_records=records).with_columns(records="people")
        for name, table in answer_tables(part, qids, threshold).items():
            tables.setdefault(name, []).append(table.with_columns(known_records=pl.lit(records)))
    return {name: pl.concat(parts) for name, parts in tables.items()}


def is_complete(frame: pl.DataFrame, qids: Sequence[str]) -> bool:
    """Return whether each question of the sweep has each non-empty subset exactly once."""
    parts, subsets = questions(frame), (1 << len(qids)) - 1
    return bool(parts) and all(
        part.height == subsets and part["subset"].n_unique() == subsets for part in parts
    )


def best_subsets(frame: pl.DataFrame, qids: Sequence[str]) -> pl.DataFrame:
    """Return the subsets of each size with the highest posteriors.

    Source: thesis, Table 4.4.

    Ties go to the subset with the higher other measure, then to the first in the order of ``qids``.
    The sweep need not be whole. Columns: ``BEST``.
    """
    # ``place`` decides ties: the place of a subset among those of its size.
    posteriors, place = pl.col(POSTERIORS), pl.col("subset")
    names = frame.select("subset", "qids").unique("subset")
    if len(qids) <= MOST_QIDS:  # else a subset is no set of bits, and its number is its place
        names, place = names_by_bits(frame["subset"], qids), _order(len(qids))
    is_highest = pl.any_horizontal(posteriors == posteriors.max().over("n_qids"))
    is_best_twice = pl.len().over("subset") == 2  # once for each measure
    best_for = pl.when(is_best_twice).then(pl.lit("both")).otherwise("best_for").alias("best_for")
    tables = []
    for part in questions(frame):
        candidates = part.filter(is_highest).with_columns(place=place)
        best = []
        # The posterior of the measure comes first, then the other, for ties.
        for measure, order in zip(MEASURES, (POSTERIORS, POSTERIORS[::-1]), strict=True):
            ranked = candidates.sort(
                "n_qids", *order, "place", descending=[False, True, True, False]
            ).unique("n_qids", keep="first", maintain_order=True)
            best.append(ranked.with_columns(best_for=pl.lit(measure)))
        table = pl.concat(best).with_columns(best_for).unique("subset")
        tables.append(table.sort("n_qids", "best_for"))
    return _concatenate(tables, names, BEST)


def shapley_values(frame: pl.DataFrame, qids: Sequence[str]) -> pl.DataFrame:
    """Return the Shapley values of each quasi-identifier (see ``exact_shapley``).

    A Shapley value is the mean contribution of a quasi-identifier over all orders. The sweep must
    be whole. Columns: ``SHAPLEY``.
    """
    rows: list[tuple[Any, ...]] = []
    for game in games(frame):  # the set function of a question and measure, by bits of subsets
        total = game.value(-1) - game.value(0)  # V(all) - V(empty)
        for a, shapley in enumerate(exact_shapley(game)):
            share = float(shapley / total) if total else None
            alone = float(game.value(1 << a) - game.value(0))
            rows.append((*game.key, qids[a], float(shapley), share, alone, float(game.last(a))))
    return pl.DataFrame(rows, schema=SHAPLEY, orient="row")


def exact_shapley(game: Game) -> list[Fraction]:
    """Return the Shapley value of each quasi-identifier; their sum is V(all) - V(empty).

    phi_a = sum over S without a of |S|! (n-|S|-1)! / n! (V(S+a) - V(S)) (M35; Shapley, A value for
    n-person games, 1953), from the sums of V by size over the subsets with a.
    """
    n = len(game.amounts).bit_length() - 1  # there are 2^n amounts
    all_sums, *sums_with = _sums_by_size(game, [0, *(1 << a for a in range(n))])
    weights = [math.factorial(size) * math.factorial(n - size - 1) for size in range(n)]
    values = []
    for with_a in sums_with:  # of the subsets without a of size s: all_sums[s] - with_a[s]
        total = sum(w * (with_a[s + 1] - all_sums[s] + with_a[s]) for s, w in enumerate(weights))
        values.append(total / (math.factorial(n) * game.unit))
    return values


def interactions(frame: pl.DataFrame, qids: Sequence[str]) -> pl.DataFrame:
    """Return the interaction of each pair of quasi-identifiers (see ``exact_interactions``).

    The sweep must be whole. Columns: ``INTERACTIONS``; a single quasi-identifier gives no rows.
    """
    rows: list[tuple[Any, ...]] = []
    for game in games(frame):
        for (a, b), index in exact_interactions(game).items():
            rows.append((*game.key, qids[a], qids[b], float(index)))
    return pl.DataFrame(rows, schema=INTERACTIONS, orient="row")


def exact_interactions(game: Game) -> dict[tuple[int, int], Fraction]:
    """Return the Shapley interaction index of each pair of quasi-identifiers, by their positions.

    I(a, b) = sum over S without a and b of |S|! (n-|S|-2)! / (n-1)! (V(S+a+b) - V(S+a) - V(S+b) +
    V(S)) (Grabisch and Roubens, An axiomatic approach to the concept of interaction among players
    in cooperative games, 1999), from the sums of V by size over the subsets with a, b and both.
    """
    n = len(game.amounts).bit_length() - 1  # there are 2^n amounts
    pairs = list(combinations(range(n), 2))
    singles, doubles = [1 << a for a in range(n)], [1 << a | 1 << b for a, b in pairs]
    all_sums, *sums_with = _sums_by_size(game, [0, *singles, *doubles])
    weights = [math.factorial(size) * math.factorial(n - size - 2) for size in range(n - 1)]
    indices = {}
    for (a, b), both in zip(pairs, sums_with[n:], strict=True):
        sums = zip(sums_with[a], sums_with[b], both, strict=True)
        either = [with_a + with_b - twice for with_a, with_b, twice in sums]  # with a or b
        # S of size s: S+a+b has size s+2; S+a and S+b have a or b, but not both, and size s+1; S
        # has neither.
        total = sum(
            w * (both[s + 2] - either[s + 1] + both[s + 1] + all_sums[s] - either[s])
            for s, w in enumerate(weights)
        )
        indices[a, b] = total / (math.factorial(n - 1) * game.unit)
    return indices


def borders(
    frame: pl.DataFrame, qids: Sequence[str], threshold: float, measure: str = "probabilistic"
) -> pl.DataFrame:
    """Return the smallest subsets that reach a threshold and the largest that stay below it.

    A posterior never falls when a quasi-identifier is added. So a risky subset is minimal if
    leaving out any single one makes it safe; a safe subset is maximal if adding any single one
    makes it risky (M37). The sweep must be whole. Columns: ``BORDERS``.
    """
    # Expressions over the lattice: a row per subset, whose number is its index. For each bit, is
    # the subset risky without it, if it has it, and with it, if it lacks it?
    risky, subset, bits = pl.col("risky"), pl.col("subset"), [1 << a for a in range(len(qids))]
    smaller_is_risky = [risky.gather(subset & ~pl.lit(bit, SUBSET)) & includes(bit) for bit in bits]
    larger_is_risky = [risky.gather(subset | pl.lit(bit, SUBSET)) | includes(bit) for bit in bits]
    minimal = risky & ~pl.any_horizontal(smaller_is_risky)
    maximal = ~risky & pl.all_horizontal(larger_is_risky)
    parts = []
    for part in questions(frame):
        lattice = values(part, measure).to_frame("posterior").with_row_index("subset")
        lattice = lattice.with_columns(risky=pl.col("posterior") >= threshold)
        model, secret = part.select("model", "secret").row(0)
        for border, is_on_border in (("minimal risky", minimal), ("maximal safe", maximal)):
            key = {"model": model, "secret": secret, "measure": measure, "border": border}
            subsets = lattice.filter(is_on_border).with_columns(
                *(pl.lit(value, NAME).alias(name) for name, value in key.items()),
                n_qids=subset.bitwise_count_ones().cast(COUNT),
            )
            parts.append(subsets.sort("n_qids", _order(len(qids))))
    numbers = pl.concat([pl.Series(dtype=SUBSET), *(part["subset"] for part in parts)])
    names = names_by_bits(numbers, qids)
    return _concatenate(parts, names, BORDERS)


def drop_first(frame: pl.DataFrame, qids: Sequence[str]) -> pl.DataFrame:
    """Return the reduction V(all) - V(all but a) from leaving out each quasi-identifier a.

    Ties go to the higher Shapley value, then to the order of ``qids``; both are compared exactly.
    The sweep must be whole. Columns: ``DROP_FIRST``.
    """
    rows: list[tuple[Any, ...]] = []
    by_measure = games(frame)  # an iterator: of each question the deterministic, the probabilistic
    for deterministic, game in zip(by_measure, by_measure, strict=True):
        shapley, posterior_all = exact_shapley(game), game.value(-1)
        ranked = sorted(range(len(qids)), key=lambda a: (-game.last(a), -shapley[a]))
        model, secret, _ = game.key
        for rank, a in enumerate(ranked, start=1):
            saved = game.last(a)
            numbers = (posterior_all, posterior_all - saved, saved, deterministic.last(a))
            rows.append((model, secret, rank, qids[a], *map(float, (*numbers, shapley[a]))))
    return pl.DataFrame(rows, schema=DROP_FIRST, orient="row")


def coarsen_first(
    layout: Layout,
    coarser: Callable[[int], Sums],
    row: Mapping[str, Any],
    drop_first: pl.DataFrame,
    qids: Sequence[str],
) -> list[dict[str, Any]]:
    """Rank the quasi-identifiers of one question by the reduction from coarsening each.

    The values of one quasi-identifier are merged two by two in their order (days 1-2, 3-4, ...);
    the missing value stays alone. ``coarser`` then measures the success with all quasi-identifiers
    again, by the position of the merged one; ``row`` has that success before the merge. Coarsening
    saves no more than dropping (``drop_first``, by rank). So the loop stops if a reduction is at
    least that from dropping the next quasi-identifier: no later one can be better. Columns:
    ``COARSEN_FIRST``.
    """
    drops = drop_first.filter(pl.col("secret").eq_missing(pl.lit(row["secret"], pl.String)))
    rows: list[dict[str, Any]] = []
    most_saved = -1.0  # by coarsening one of those so far; below every reduction
    for drop in drops.sort("rank").iter_rows(named=True):
        if drop["saved"] <= most_saved:
            break
        position = layout.order.index(list(qids).index(drop["qid"]))
        people, mode, certain = coarser(position)
        saved, values = drop["posterior_all"] - mode / people, layout.values[position]
        missing = int(layout.missing[position])  # 1 if the missing value is one of the values
        most_saved = max(most_saved, saved)
        rows.append(
            {
                "model": drop["model"],
                "secret": row["secret"],
                "rank": drop["rank"],  # of dropping; decides ties, and is replaced below
                "qid": drop["qid"],
                "values": values,
                "values_coarser": (values - missing + 1) // 2 + missing,
                "posterior_all": drop["posterior_all"],
                "posterior_coarser": mode / people,
                "saved": saved,
                "saved_deterministic": row["posterior_deterministic"] - certain / people,
            }
        )
    rows.sort(key=lambda entry: (-entry["saved"], -entry["saved_deterministic"], entry["rank"]))
    return [entry | {"rank": rank} for rank, entry in enumerate(rows, 1)]


def release_subsets(numbers: Sequence[int], datasets: int) -> list[int]:
    """Return the subsets of the focal dataset with each set of auxiliary ones, as numbers.

    ``numbers`` has the dataset number of each quasi-identifier. Raises InputError if a dataset has
    no quasi-identifier, because it cannot add anything.
    """
    for i in range(2, datasets + 1):
        if i not in numbers:
            raise InputError(
                f"dataset {i} has no quasi-identifier, so it cannot make anything worse; name one "
                f"of it, such as {i}:NAME, or leave the dataset out"
            )
    return [s for s in _auxiliaries_by_subset(numbers, datasets) if s]  # focal qids may be none


def rename_longitudinal(frame: pl.DataFrame, numbers: Sequence[int]) -> pl.DataFrame:
    """Return a table of a sweep of a collection: with its models (CRL, CAL), and ``datasets``.

    ``numbers`` has the dataset of each quasi-identifier, from 1, the focal one. ``datasets``, if
    the table has it, is how many a subset uses.
    """
    if "model" not in frame.columns:
        return frame
    named = frame.with_columns(pl.col("model").replace(LONGITUDINAL))
    if "datasets" not in frame.columns:
        return named
    used = [pl.lit(1, pl.Int64)]  # the focal dataset
    for auxiliary in sorted({*numbers} - {1}):
        members = (includes(1 << i) for i, number in enumerate(numbers) if number == auxiliary)
        used.append(pl.any_horizontal(members).cast(pl.Int64))
    return named.with_columns(datasets=pl.sum_horizontal(used))


def release_contributions(
    frame: pl.DataFrame, numbers: Sequence[int], names: Sequence[str]
) -> pl.DataFrame:
    """Return the Shapley value of each auxiliary dataset: the players are datasets, not qids.

    ``frame`` has at least the subsets of ``release_subsets``; ``names`` are those of all datasets.
    Columns: ``RELEASES``.
    """
    # From here on a subset is one of the auxiliary datasets, with a bit for each.
    datasets = _auxiliaries_by_subset(numbers, len(names))
    rows = frame.filter(pl.col("subset").is_in(list(datasets)))
    rows = rows.with_columns(pl.col("subset").replace_strict(datasets, return_dtype=pl.UInt32))
    focal = rows.filter(pl.col("subset") == 0)
    if focal.height:  # the game begins with what the focal dataset alone reveals
        before = [pl.col(p.replace("prior", "posterior")).alias(p) for p in PRIORS]
        start = focal.select("model", "secret", *before)
        rows = rows.drop(PRIORS).join(start, on=["model", "secret"], nulls_equal=True)
    auxiliary = [f"{i}: {quoted(name)[1:-1]}" for i, name in enumerate(names[1:], 2)]
    return shapley_values(rows.filter(pl.col("subset") > 0), auxiliary).rename({"qid": "dataset"})


def _sums_by_size(game: Game, masks: list[int]) -> list[list[int]]:
    """Return a list for each mask: by size from 0 to n, the sum of V over subsets with the mask."""
    sums = [pl.col("amount").filter(includes(mask)).sum().alias(str(mask)) for mask in masks]
    size = pl.col("subset").bitwise_count_ones().alias("size")
    lattice = game.amounts.to_frame("amount").with_row_index("subset")  # the index is the subset
    by_size = lattice.group_by(size).agg(sums).sort("size")
    return [by_size[str(mask)].to_list() for mask in masks]


def _order(n: int) -> pl.Expr:
    """Return a sort key for subsets of one size, by their positions: (0, 1), (0, 2), ..."""
    weights = ((1 << i, 1 << (n - 1 - i)) for i in range(n))
    return pl.sum_horizontal((~includes(bit)).cast(SUBSET) * weight for bit, weight in weights)


def _concatenate(
    parts: list[pl.DataFrame], names: pl.DataFrame, schema: dict[str, pl.DataType]
) -> pl.DataFrame:
    """Return the parts as one table, with the ``names`` in each subset."""
    named = [part.join(names, on="subset", maintain_order="left") for part in parts]
    tables = [part.select(*schema) for part in named]
    return pl.concat([pl.DataFrame(schema=schema), *tables])


def _auxiliaries_by_subset(dataset_of_qid: Sequence[int], datasets: int) -> dict[int, int]:
    """Return each set of auxiliary datasets, by the subset of quasi-identifiers that it has.

    Both are bit masks: bit i of a subset is quasi-identifier i, bit 0 of a set is dataset 2. A
    subset also has all quasi-identifiers of the focal dataset, number 1. The empty set comes first.
    """
    auxiliaries: dict[int, int] = {}
    for size in range(datasets):
        for chosen in combinations(range(2, datasets + 1), size):
            subset = sum(1 << i for i, n in enumerate(dataset_of_qid) if n == 1 or n in chosen)
            auxiliaries[subset] = sum(1 << dataset - 2 for dataset in chosen)
    return auxiliaries
