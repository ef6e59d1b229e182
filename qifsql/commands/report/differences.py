"""Numbers of few people that follow from the numbers of a report together.

A number about fewer people than the limit is left out, whether it is shown or follows from two that
are: the size of a block, and a chance or a level that tells it; a bar of a histogram, the people of
a value of a secret or above a threshold; a result whose filter leaves few people, or whose number
of people, added to and subtracted from those of other results about the same files, leaves few.
How many are singled out, or certain, is what a report is about: these are shown, however few.
"""

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import chain
from typing import Any

import polars as pl

from qifsql.results.stored import Stored

PEOPLE = "individuals"
LEAKAGES = ("pointwise_worst", "pointwise_q95", "pointwise_median")  # in bits, of blocks
TOLD_BY: Mapping[str, tuple[str, ...]] = {
    "k": ("worst_case", "prosecutor_risk", *LEAKAGES),
    "k_map": ("journalist_risk",),
    "smallest_class": (),
    "worst_size": ("value", "worst_values", "low", "high"),
    "people_at_worst": (),
    "people_in_violation": (),
    "people": ("success_before", "factor"),
    "suspected": (),
}
"""Columns of sizes of blocks or of numbers of people, each with those that tell it (1 / k)."""
NO_BLOCKS = ("people", "suspected", "links")  # numbers of people that are no sizes of blocks
PEOPLE_BESIDE = {"success_before", "dimension", "dimensions"}
"""Columns of tables where ``people`` are some of all: those an attack or a cell is about."""
CHANCES = ("worst_case", "prosecutor_risk", "journalist_risk", "predicted")
"""Chances against people of one block, or of as many as there are claims in a test."""
CHANCES_BESIDE = {"quantile": ("success",), "suspected": ("low", "high")}
"""Further columns of such chances, in tables with the column that is named first."""
CURVES = (
    ("threshold", (PEOPLE,)),
    ("threshold", ("claims",)),
    ("confidence", ("people_before", "people", "people_guessed")),
)
"""Columns of points of a curve, and those of the numbers of people from this point on."""
VALUES = ("value", "baseline", "success", "low", "high")
"""Columns of numbers that ``measure`` of the row names."""
SHARES = "^(identity|tries|tolerance)"  # gains whose greatest mean in a block is a share of it
NEAR = 1e-9  # how near a product of a chance and a size is to a whole number
BIN, VALUE, SUSPECTED = "bin", "value", "suspected"  # of histograms and of chances of values
COUNTED = ("records", "people")  # columns of the number of people of a result
MOST_TERMS = 4  # numbers that are added and subtracted
MOST_NUMBERS = 12  # different numbers that are shown about the same files


def telling_results(stored: Sequence[Stored], minimum: int) -> Set[int]:
    """Return the indexes of filtered results that tell about fewer people than ``minimum``.

    They do so alone, or by the difference from results that are shown. Those without a filter are
    always shown, so they come first; then those about more people.
    """
    telling: set[int] = set()
    shown_by_files: dict[tuple[str, ...], dict[tuple[str, int], None]] = {}  # (filter, people)
    order = sorted(range(len(stored)), key=lambda i: (bool(_where(stored[i])), -_people(stored[i])))
    for i in order:
        where, n = _where(stored[i]), _people(stored[i])
        shown_counts = shown_by_files.setdefault(_files(stored[i]), {})
        numbers = [people for _, people in shown_counts]
        repeats = (where, n) in shown_counts  # the same people again tell nothing new
        is_safe = repeats or _leaves_no_few_people(n, numbers, minimum)
        if where and (n < minimum or not is_safe):
            telling.add(i)
        elif n:
            shown_counts[where, n] = None
    return telling


def _leaves_no_few_people(n: int, numbers: Sequence[int], minimum: int) -> bool:
    """Return whether no sum or difference of ``n`` and ``numbers`` is a number of few people.

    All are numbers of people. What a filter means is not read: the people of two filters may be
    apart, or those of one may be among those of the other. Two kinds of sums are tried: those of
    up to four numbers, as for the last cell of two crossed filters, and a number minus any set of
    others, as for the last of many regions.
    """
    if len(numbers) >= MOST_NUMBERS:  # too many sums to try
        return False
    n_terms = {n: 1}  # for each sum of few numbers, how many it needs at least
    subset_sums = {0}
    for m in numbers:
        for sum_, terms in list(n_terms.items()):
            if terms < MOST_TERMS:
                for further in (sum_ + m, sum_ - m):
                    n_terms[further] = min(terms + 1, n_terms.get(further, MOST_TERMS))
        subset_sums |= {sum_ + m for sum_ in subset_sums}
    rests = n_terms.keys() | {n - sum_ for sum_ in subset_sums}
    rests |= {m - n - sum_ for m in numbers for sum_ in subset_sums}
    return not any(0 < abs(rest) < minimum for rest in rests)


def _where(stored: Stored) -> str:
    return str(stored.spec.get("where") or "")


def _files(stored: Stored) -> tuple[str, ...]:
    return tuple(sorted(str(file.get("sha256")) for file in stored.manifest.get("inputs", ())))


def _people(stored: Stored) -> int:
    """Return how many people a result is about; 0 if it does not say.

    A verdict says it where it counts whom the other columns would single out.
    """
    for table in (stored.frame, stored.details.get("uncovered", pl.DataFrame())):
        for name in COUNTED:
            if name in table.columns and table.schema[name].is_integer():
                return int(table[name].drop_nulls().max() or 0)  # type: ignore[arg-type]
    return 0


def has_few(stored: Stored, minimum: int) -> bool:
    """Return whether tables of a result have numbers of few people."""
    tables = (stored.frame, *stored.details.values())
    recipients = telling_recipients(stored, minimum)
    return any(
        not table.equals(without_few(table, minimum, tables[: max(i, 1)], recipients))
        for i, table in enumerate(tables)
    )


def telling_recipients(stored: Stored, minimum: int) -> Set[str]:
    """Return the recipients of a policy whose maximum risk may tell of fewer than ``minimum``.

    With chances of knowing it is a mean over sets of quasi-identifiers, from which the size of a
    block follows. Where it is too small for such a block of those who are known by all of them,
    there is none.
    """
    names = set()
    for recipient in stored.spec.get("recipients") or ():
        chance_of_all = math.prod(map(Fraction, recipient["chances"].values()))
        if recipient["laws"] or chance_of_all == 1:  # then it is that of a block
            continue
        risks = stored.details["recipients"].filter(name=recipient["name"])["maximum"]
        if "recipient" in stored.frame.columns:  # re-identification alone says how large they are
            about = {"recipient": recipient["name"], "measure": "maximum"}
            is_of_records = pl.col("model").is_in(["CRS", "CRL"])
            levels = stored.frame.filter(is_of_records, **about)["value"]
            risks = levels if levels.len() else risks
        greatest = risks.max()
        is_small = isinstance(greatest, float) and (
            greatest * (minimum - 1) < chance_of_all * recipient["attempt"]
        )
        if not is_small:
            names.add(str(recipient["name"]))
    return names


def without_few(
    table: pl.DataFrame,
    minimum: int,
    tables: Sequence[pl.DataFrame],
    recipients: Set[str] = frozenset(),
) -> pl.DataFrame:
    """Return a table of a result without numbers that tell of fewer than ``minimum`` people.

    ``tables`` of that result, its frame first, are shown beside it. Sizes, chances and levels
    of blocks of 2 people or more are NULL; blocks of one are known from how many are singled out.
    Rows of histograms, thresholds and values of secrets are left out. The maximum risks of
    ``recipients`` tell of few.
    """
    telling = _telling(table, minimum, tables[0], recipients)
    table = table.with_columns(
        pl.when(~tells_few.fill_null(value=False)).then(name).alias(name)
        for name, tells_few in telling.items()
    )
    is_of_links = {"links", "links_at_least"} <= set(table.columns)
    if is_of_links and table.select(_is_few("links", minimum).any()).item():
        return table.clear()  # the fewest links follow from the sums in the other rows
    return _without_bars(_without_near_points(table, minimum, tables), minimum)


def _is_few(size: str, minimum: int) -> pl.Expr:
    """Return whether a number of people is hidden: a small one, but not a block of one person."""
    least = 1 if size in NO_BLOCKS else 2
    return pl.col(size).is_between(least, minimum - 1)


def _is_share_of_few(chance: str | pl.Expr, minimum: int) -> pl.Expr:
    """Return whether a chance below 1 is n / size for a block of fewer than ``minimum`` people.

    It may be that of a larger block as well: 0.5 is 1 of 2, and 50 of 100.
    """
    chance = pl.col(chance) if isinstance(chance, str) else chance
    products = [chance * size for size in range(2, minimum)]
    is_whole = [(product - product.round()).abs() < NEAR for product in products]
    is_between = chance.is_between(0, 1, closed="none")
    return is_between & pl.any_horizontal(*is_whole, pl.lit(value=False))


def _telling(
    table: pl.DataFrame, minimum: int, frame: pl.DataFrame, recipients: Set[str]
) -> dict[str, pl.Expr]:
    """Return, by the columns whose numbers tell of few people, in which rows they do.

    ``frame`` is that of the result; the maximum risks of ``recipients`` tell of few.
    """
    # a column of a JSON file without any number is read as text
    columns = {n for n, t in table.schema.items() if t.is_numeric() or n in ("measure", "greatest")}
    columns |= PEOPLE_BESIDE & set(table.columns)
    conditions_of_column: dict[str, list[pl.Expr]] = {}
    for name, condition in (
        *_telling_sizes(table, minimum, columns),
        *_telling_chances(table, minimum, columns, frame),
        *_telling_measures(table, minimum, columns, recipients),
    ):
        conditions_of_column.setdefault(name, []).append(condition)
    return {name: pl.any_horizontal(either) for name, either in conditions_of_column.items()}


Conditions = Iterator[tuple[str, pl.Expr]]
"""Columns, each with a condition: the rows in which its number tells of few people."""


def _telling_sizes(table: pl.DataFrame, minimum: int, columns: Set[str]) -> Conditions:
    """Yield sizes of blocks and numbers of people, and the columns that tell them (TOLD_BY)."""
    for size, others in TOLD_BY.items():
        is_part = size != "people" or columns & PEOPLE_BESIDE
        if size in columns and table.schema[size].is_integer() and is_part:
            for name in columns & {size, *others}:
                is_one = pl.col(name) == 1 if name in CHANCES else pl.lit(value=False)
                yield name, _is_few(size, minimum) & ~is_one


def _telling_chances(
    table: pl.DataFrame, minimum: int, columns: Set[str], frame: pl.DataFrame
) -> Conditions:
    """Yield chances that tell the size of a block, in rows where it is not known anyway."""
    beside = chain(*(names for name, names in CHANCES_BESIDE.items() if name in columns))
    is_size_unknown = pl.col("k").is_null() if "k" in columns else pl.lit(value=True)
    gains = frame.get_column("gain", default=pl.Series(dtype=pl.String)).drop_nulls()
    gains = gains.cast(pl.String)  # of a JSON file without any gain: a column of floats
    is_of_gain = not gains.str.contains(SHARES).all()  # then any number may be that of a block
    for name in columns & {*CHANCES, *beside}:
        is_share = pl.lit(value=True) if is_of_gain else _is_share_of_few(name, minimum)
        yield name, is_share & is_size_unknown
    for name in columns & {*LEAKAGES}:
        yield name, is_size_unknown
    if "highest_risk" in columns and not frame["singled_out"].max():  # of a block of several
        yield "highest_risk", pl.lit(value=True)
    if {"claims", "greatest"} <= columns:  # at the chance in some block
        yield "threshold", pl.col("greatest") & _is_share_of_few("threshold", minimum)
    if {"stated_from", "predicted"} <= columns:
        yield "predicted", _is_near_other_claims(table, minimum)
    if "prosecutor_risk" in columns:  # of the same blocks, in the release and in the register
        for name in columns & {"delta_min", "delta_max"}:
            yield name, _is_share_of_few("prosecutor_risk", minimum)


def _telling_measures(
    table: pl.DataFrame, minimum: int, columns: Set[str], recipients: Set[str]
) -> Conditions:
    """Yield risks of recipients, and numbers of rows that name their measure (``measure``)."""
    if {"attempt", "maximum"} <= columns:  # the risk of a recipient
        yield "maximum", _is_share_of_few(pl.col("maximum") / pl.col("attempt"), minimum)
        yield "maximum", pl.col("name").is_in(list(recipients))
    measure = pl.col("measure")
    sizes = [size for size in TOLD_BY if size != "people"]  # all people of a result are shown
    for name in columns & set(VALUES) if "measure" in columns else ():
        yield name, measure.is_in(sizes) & _is_few(name, minimum)
        chance = pl.coalesce("success", name) if "success" in columns else pl.col(name)
        is_chance = measure.is_in((*CHANCES, "maximum"))
        yield name, is_chance & _is_share_of_few(chance, minimum)
        yield name, measure.is_in(LEAKAGES)
        if "recipient" in table.columns:
            is_theirs = pl.col("recipient").is_in(list(recipients))
            yield name, is_theirs & (measure == "maximum")


def _is_near_other_claims(table: pl.DataFrame, minimum: int) -> pl.Expr:
    """Return in which rows of a test the mean chance tells of fewer claims than ``minimum``.

    The sum of the chances of all claims, less that of all but one, is that of a single block. All
    files together would tell what is hidden of one of them.
    """
    shown_numbers: dict[str | None, set[int]] = {}  # by question
    telling: set[str | None] = set()  # questions with a hidden row
    is_hidden = []
    for file, question, n in table.select("file", "secret", "claims").rows():
        taken = shown_numbers.setdefault(question, {0})
        is_near = any(0 < abs(n - m) < minimum for m in taken)
        is_hidden.append(is_near or (file is None and question in telling))
        if is_hidden[-1]:
            telling.add(question)
        else:
            taken.add(n)
    return pl.lit(pl.Series(is_hidden, dtype=pl.Boolean))


def _without_near_points(
    table: pl.DataFrame, minimum: int, tables: Sequence[pl.DataFrame]
) -> pl.DataFrame:
    """Return a table of a curve without points that differ by few people from one that is shown.

    The numbers of all people of an attack and of those who are certain are such points, too, and
    the points of its curves in the other ``tables``. A table of no curve (``CURVES``) stays.
    """
    columns = set(table.columns)
    curves = (numbers for point, numbers in CURVES if {point, *numbers} <= columns)
    if (names := next(curves, None)) is None:
        return table
    keys = ["attack_id"] if "attack_id" in columns else ["releases"]
    if not columns.issuperset(keys):
        keys = [name for name in ("model", "file", "secret", "subset") if name in columns]
    # The numbers of people that are shown so far, by question (values of ``keys``) and column.
    shown_numbers: dict[tuple[tuple[Any, ...], str], set[int]] = {}
    for beside in tables:
        points = {"people", "records", "individuals_certain"}
        points |= {PEOPLE, "claims"} if "threshold" in beside.columns else set()
        has_keys = set(keys) <= set(beside.columns)
        for name in points & set(beside.columns) if has_keys else ():
            for *question, n in beside.select(*keys, name).drop_nulls(name).rows():
                shown_numbers.setdefault((tuple(question), names[0]), {0}).add(n)
    is_shown = []
    for row in table.select(*keys, *names).rows():
        attack, counts = row[: len(keys)], row[len(keys) :]
        earlier = [shown_numbers.setdefault((attack, name), {0}) for name in names]
        pairs = list(zip(counts, earlier, strict=True))
        is_apart = all(n == m or abs(n - m) >= minimum for n, numbers in pairs for m in numbers)
        is_shown.append(is_apart)
        if is_apart:
            for n, numbers in pairs:
                numbers.add(n)
    return table.filter(pl.Series(is_shown, dtype=pl.Boolean))


def _without_bars(table: pl.DataFrame, minimum: int) -> pl.DataFrame:
    """Return a table without bars of a histogram, and values of a secret, of few people.

    A bar, or a value, is a row of so many ``individuals``; further columns tell histograms apart.
    """
    schema = table.schema
    if not {BIN, SUSPECTED} & set(schema) or not schema.get(PEOPLE, pl.String()).is_integer():
        return table
    of_row = (BIN, VALUE, SUSPECTED, PEOPLE)
    keys = [n for n in schema if n not in of_row and not schema[n].is_float()]
    table = table.with_row_index("place")
    histograms = table.partition_by(keys, maintain_order=True) if keys else [table]
    places = chain.from_iterable(_shown_bars(bars, minimum) for bars in histograms)
    return table.filter(pl.col("place").is_in(list(places))).drop("place")


def _shown_bars(bars: pl.DataFrame, minimum: int) -> list[int]:
    """Return the places of the bars of a histogram that are shown: not those of few people.

    A hidden bar could be the difference from all people. So further bars are hidden, the smallest
    first, until at least two are hidden, with ``minimum`` people together. Then no empty bar is
    shown: the bars that are missing would be the hidden ones, and their places tell sizes.
    """
    ordered = bars.sort(PEOPLE, "place")
    hidden: list[int] = []
    people = 0  # in hidden bars
    for n, place in ordered.select(PEOPLE, "place").rows():
        is_next = hidden and (len(hidden) < 2 or people < minimum)
        if n and (n < minimum or is_next):
            hidden.append(place)
            people += n
    if hidden:
        ordered = ordered.filter(~pl.col("place").is_in(hidden), pl.col(PEOPLE) > 0)
    return ordered["place"].to_list()
