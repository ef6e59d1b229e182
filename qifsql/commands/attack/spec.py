"""Options of ``attack``."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from qifsql.adversary.options import RAPID, Adversary, AnyNull, Households, Sets
from qifsql.data.collection import Collection, Source
from qifsql.data.dataset import Dataset, Tabular, datasets
from qifsql.data.option import (
    ATTACK,
    CHANCE,
    DATA,
    DATASET,
    DETAILS,
    FLAG,
    HIERARCHIES,
    NAMES,
    RUN,
    STORE,
    TEXT,
    TEXTS,
    WHOLE,
    WRITTEN,
    Option,
)
from qifsql.engine.settings import Settings
from qifsql.errors import InputError

EMPTY: tuple[object, ...] = (None, (), [], "", False, {})
USUAL: dict[str, tuple[object, ...]] = {
    "null": ("distinct",),
    "absent": ("null",),
    "gain": (None, (), [], "identity", ("identity",), ["identity"]),
}
"""Values of options that ask for nothing special, where these are not those of ``EMPTY``."""

_attack, _data, _details, _run = (
    partial(Option, panel=panel) for panel in (ATTACK, DATA, DETAILS, RUN)
)


class AttackOptions(Adversary, Sets, Households, total=False):
    """The adversary, further measures and details, and links between releases without a key."""

    null: AnyNull
    measures: Annotated[
        str | Sequence[str],
        _details(
            NAMES,
            "shannon, guessing, capacity, ..., all.",
            text="Further measures: shannon (bits), guessing (guesses), capacity (factor), "
            "pointwise (bits), security, risks, anonymity, or all.",
        ),
    ]
    histogram: Annotated[bool, _details(FLAG, "Histogram of people by success in percent.")]
    value_chances: Annotated[
        bool,
        _details(
            FLAG,
            "Chance of values: least, most suspected.",
            text="For each value of the secret, its chance for the people who are least and most "
            "suspected of it: harm that needs no certainty.",
        ),
    ]
    unit: Annotated[str | None, _details(TEXT, "Unit of the gains, such as BRL.")]
    population: Annotated[
        Tabular | None,
        _details(
            TEXT,
            "Population: for membership, journalist risk.",
            text="Dataset of the people who may be in the release: joined by the key for "
            "membership, else for the journalist's risk.",
        ),
    ]
    progressive: Annotated[bool, _details(FLAG, "One row per number of datasets, from 1 to all.")]
    store: Annotated[
        str | Path | None,
        _run(
            STORE,
            "DuckDB file to reuse counts; has cell values.",
            text="DuckDB file that stores the counts, to reuse them for other gains and "
            "measures. It contains cell values.",
        ),
    ]
    link: Annotated[
        str | Sequence[str] | None,
        _data(
            TEXTS,
            "No key: columns that stay or change (age:+1).",
            text='Rules that link releases without a key, such as "sex,birth_date; age:+1; '
            'city:stay=0.93".',
        ),
    ]
    presence: Annotated[
        float | str | None,
        _data(
            CHANCE,
            "Chance to be in the next release (default 1).",
            text="With link: probability in [0, 1] that a person is also in the next "
            "release; default 1.",
        ),
    ]
    truth: Annotated[
        str | Sequence[str],
        _data(
            NAMES,
            "True key, to compare links with.",
            text="With link: the true key, one name or one per release, to compare links with.",
        ),
    ]
    one_to_one: Annotated[
        bool,
        _data(
            FLAG,
            "At most one person per later record.",
            text="With link: match each later record to at most one person.",
        ),
    ]
    people: Annotated[
        Tabular | None,
        _details(
            DATASET,
            "Raw records of people: find theirs in FILE.",
            text="File or frame of raw records (the original, or a register): somebody who knows "
            "these quasi-identifiers looks for the records of source whose cells contain them "
            "(view compatible), beside source's cells as values (view cells). Models crs and cas; "
            "where, key and person hold for both files. Names in source: 2:age=AGE.",
        ),
    ]
    hierarchies: Annotated[
        Mapping[str, str | Path] | None,
        _details(
            HIERARCHIES,
            "With --people: COLUMN=FILE, value;node;...;*.",
            text="With people: quasi-identifier to the file of its generalisation hierarchy (lines "
            "value;node;...;*).",
            flags=("--hierarchy",),
        ),
    ]
    learn: Annotated[
        Tabular | None,
        _details(
            DATASET,
            "Learn from this file; guess about FILE (cas).",
            text="File or frame that the adversary learns from (an original, sanitised or "
            "synthetic release), to guess the secrets of the people of source. Model cas; "
            "where holds for both files. Generalised cells equal only the same cells: no "
            "value is looked up in them.",
        ),
    ]
    learner: Annotated[
        str | None,
        _details(
            TEXT,
            "table (default), random-forest, ...",
            text='With learn: "table" (default: the most frequent value among equal '
            'records, and of all records where there are none), or "decision-tree", '
            '"random-forest", "gradient-boosting" or "logistic-regression" of scikit-learn '
            "(qifsql[ml]).",
        ),
    ]
    rapid: Annotated[float | str | None, RAPID]
    knows: Annotated[
        str | Sequence[str] | None,
        _attack(
            TEXTS,
            "Noisy: age:+-2; city:right=0.9; job:matrix=FILE.",
            text='Laws of noisy knowledge, such as "age:+-2; city:right=0.9; '
            'job:missing=0.3"; also sd=2, table=FILE (value, known as, probability), '
            "matrix=FILE (PRAM; from, to, probability: the matrix by which the cells of a "
            "quasi-identifier or secret were drawn, as anonymise writes it) and "
            "exact. Adds the row of an adversary who knows this of everybody to that of the "
            "exact adversary.",
        ),
    ]
    draws: Annotated[
        int | None,
        _attack(
            WHOLE,
            "With --knows: draw so many people.",
            text="With knows: number of people to draw instead of the exact sum.",
        ),
    ]
    records: Annotated[
        str | Path | None,
        _attack(
            WRITTEN,
            "With --knows: file of success per record.",
            text="With knows: file (.parquet, .csv) of a row per record with the expected success.",
            studied=False,
        ),
    ]


OPTIONS = AttackOptions


def refuse_others(
    who: str, options: AttackOptions, taken: Sequence[str], instead: Mapping[str, str] | None = None
) -> None:
    """Refuse each option that is set and not ``taken`` by an attack (``who``).

    ``instead`` says what to do, by option.
    """
    instead = instead or {}
    for name, value in options.items():
        # Types first: a data frame would be compared cell by cell.
        is_unset = any(
            type(value) is type(usual) and value == usual for usual in USUAL.get(name, EMPTY)
        )
        if name not in taken and not is_unset:
            hint = f": {instead[name]}" if name in instead else ""
            raise InputError(f"{who} does not take {name}{hint}; leave it out")


def require_duckdb(who: str, settings: Settings | None) -> None:
    """Refuse to run an attack (``who``) on Spark."""
    if settings is not None and settings.engine_name == "spark":
        raise InputError(f"{who} runs on DuckDB alone; use --engine duckdb")


def one_file(who: str, source: Source, file: str) -> Dataset:
    """Return the only ``file`` ("release") that an attack (``who``) has; refuse several."""
    files = source.datasets if isinstance(source, Collection) else tuple(datasets(source))
    if len(files) != 1:
        raise InputError(f"{who} has one {file}; name one")
    return files[0]
