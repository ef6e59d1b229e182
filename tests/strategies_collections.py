"""Hypothesis strategies for hostile collections: people who come and go, missing keys, twin names.

Each dataset has columns, types and a name of its key of its own; a person is in some of them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import assume
from hypothesis import strategies as st
from oracle_collections import Release, Tag
from strategies import E_NFC, E_NFD, NAMES, VALUES, weights

TAGGED = re.compile(r"\s*\d+\s*:")  # how a name with a tag begins
HOSTILE = (*NAMES, "2:x", "1:age", "3:", ":", "x", "1: x", "source.x", "dataset_1", "loaded")
MASS = "mass of a person"  # no name that is drawn
NAN = float("nan")

KEYS: dict[str, tuple[tuple[pa.DataType, ...], tuple[object, ...]]] = {
    "whole": ((pa.int64(), pa.int32(), pa.int16(), pa.uint8()), (0, 1, 2, 3, 7, 99)),
    "wide": ((pa.int64(),), (2**53, 2**53 + 1, -(2**63), 2**63 - 1, -1, 0)),
    "text": ((pa.string(),), ("1", "01", "1 ", "a", "A", "", E_NFC, E_NFD, "NULL", "'", "\n")),
    "day": ((pa.date32(),), (date(1, 1, 1), date(1970, 1, 1), date(2000, 2, 29), date.max)),
    "real": ((pa.float64(), pa.float32()), (0.0, 1.5, -2.0, float("inf"), 0.25)),
}
MISSING: dict[str, tuple[object, ...]] = {"real": (None, NAN)}
ZEROS = (0.0, -0.0)
WAVE = "school year"  # no name that is drawn
WAVES: tuple[tuple[Any, ...], ...] = (
    (9, 10, 2018, -1),
    ("a", "A", "spring 2018", "007", E_NFC, E_NFD),
    (date(2018, 1, 1), date(2019, 1, 1), date(1, 1, 1)),
    (2018.0, 2019.5, float("-inf")),
    (False, True),
)


@dataclass(frozen=True)
class Drawn:
    """A collection with its roles; names of quasi-identifiers as a person may write them."""

    tables: list[pa.Table]
    keys: list[str]
    qids: list[Tag]
    written: list[str]
    secrets: list[str]
    masses: list[Any]

    @property
    def releases(self) -> list[Release]:
        """The datasets as the oracle takes them."""
        return [Release(t.to_pylist(), k) for t, k in zip(self.tables, self.keys, strict=True)]

    def of(self, order: Sequence[int]) -> "Drawn":
        """The same with its datasets in another order."""
        return replace(
            self,
            tables=[self.tables[i] for i in order],
            keys=[self.keys[i] for i in order],
            masses=self.tables[order[0]][MASS].to_pylist(),
        )

    def write(self, folder: str | Path) -> list[Path]:
        """A Parquet file for each dataset, the focal one first."""
        return written(folder, self.tables)


def written(folder: str | Path, tables: Sequence[pa.Table]) -> list[Path]:
    """Parquet files of these tables, in their order."""
    paths = [Path(folder, f"{number}.parquet") for number in range(1, len(tables) + 1)]
    for path, table in zip(paths, tables, strict=True):
        pq.write_table(table, path)
    return paths


def tagged(tag: Tag) -> str:
    """``2:school``."""
    return f"{tag[0]}:{tag[1]}"


@st.composite
def keys(draw: st.DrawFn, kind: str, shared: object, least: int) -> list[object]:
    """The keys of a dataset in any order: a shared one, others, and missing ones."""
    people = [v for v in KEYS[kind][1] if v != shared]
    others = draw(st.lists(st.sampled_from(people), unique=True, min_size=least, max_size=6))
    present = [
        draw(st.sampled_from(ZEROS)) if kind == "real" and v == 0 else v for v in (shared, *others)
    ]
    nobody = draw(st.lists(st.sampled_from(MISSING.get(kind, (None,))), max_size=3))
    return draw(st.permutations([*present, *nobody]))


@st.composite
def columns(draw: st.DrawFn, n: int, kind: pa.DataType | None = None) -> pa.Array:
    """``n`` values of which at most three differ, of any type."""
    kind = kind or draw(st.sampled_from(list(VALUES)))
    few = draw(st.lists(st.sampled_from(VALUES[kind]), min_size=1, max_size=3, unique_by=repr))
    return pa.array(draw(st.lists(st.sampled_from(few), min_size=n, max_size=n)), kind)


@st.composite
def datasets(
    draw: st.DrawFn, kind: str, shared: object, names: Sequence[str], least: int = 0
) -> tuple[pa.Table, str]:
    """A dataset with some of the columns, and the name of its key."""
    own = draw(st.lists(st.sampled_from(names), unique=True, min_size=max(1, least)))
    key = draw(st.sampled_from([name for name in HOSTILE if name not in own]))
    people = draw(keys(kind, shared, least))
    fields = {name: draw(columns(len(people))) for name in own}
    fields[key] = pa.array(people, draw(st.sampled_from(KEYS[kind][0])), from_pandas=False)
    order = draw(st.permutations(list(fields)))
    return pa.table({name: fields[name] for name in order}), key


@st.composite
def collections(draw: st.DrawFn, *, most: int = 4) -> Drawn:
    """One to four datasets with a person in common, and what is known and wanted."""
    kind = draw(st.sampled_from(list(KEYS)))
    shared = draw(st.sampled_from(KEYS[kind][1]))
    names = draw(st.lists(st.sampled_from(HOSTILE), min_size=3, max_size=5, unique=True))
    others = range(draw(st.integers(0, most - 1)))
    drawn = [draw(datasets(kind, shared, names, 2))]
    drawn += [draw(datasets(kind, shared, names)) for _ in others]
    tables, key_names = [t for t, _ in drawn], [k for _, k in drawn]
    focal = [name for name in tables[0].column_names if name != key_names[0]]
    secrets = draw(st.lists(st.sampled_from(focal), unique=True, min_size=1, max_size=2))
    there = [
        (number, name)
        for number, (table, key) in enumerate(drawn, 1)
        for name in table.column_names
        if name != key and not (number == 1 and name in secrets)
    ]
    assume(there)
    chosen = draw(st.lists(st.sampled_from(there), unique=True, min_size=1, max_size=5))
    qids, written_as = draw(names_of(chosen, drawn, secrets))
    assume(not {tagged(q) for q in qids} & set(secrets))  # two columns under one name
    masses = draw(weights(tables[0].num_rows))
    tables[0] = tables[0].append_column(MASS, pa.array(masses))
    return Drawn(tables, key_names, qids, written_as, secrets, tables[0][MASS].to_pylist())


@st.composite
def long_tables(draw: st.DrawFn) -> tuple[Drawn, pa.Table, list[Any]]:
    """A collection whose datasets have one schema, all records in one table, and the waves."""
    kind = draw(st.sampled_from(list(KEYS)))
    shared = draw(st.sampled_from(KEYS[kind][1]))
    names = draw(st.lists(st.sampled_from(HOSTILE), min_size=3, max_size=5, unique=True))
    key, secret, *known = names
    types = {name: draw(st.sampled_from(list(VALUES))) for name in (secret, *known)}
    people_type = draw(st.sampled_from(KEYS[kind][0]))
    years = draw(st.sampled_from(WAVES))
    waves = draw(st.lists(st.sampled_from(years), unique=True, min_size=1, max_size=4))
    tables = []
    for _ in waves:
        people = draw(keys(kind, shared, 0))
        fields = {name: draw(columns(len(people), types[name])) for name in types}
        fields[key] = pa.array(people, people_type, from_pandas=False)
        tables.append(pa.table(fields).append_column(MASS, pa.array([1] * len(people))))
    of_none = tables[0].slice(0, draw(st.integers(0, 2)))
    type_ = pa.scalar(years[0]).type
    table = pa.concat_tables(
        part.append_column(WAVE, pa.array([wave] * part.num_rows, type_))
        for part, wave in zip([*tables, of_none], [*waves, None], strict=True)
    )
    table = table.take(pa.array(draw(st.permutations(range(table.num_rows)))))
    qids = [(number, name) for number in range(1, len(waves) + 1) for name in known]
    texts = [tagged(q) for q in qids]
    if not any(TAGGED.match(name) or _like(name, [(table, key)]) for name in known):
        texts = draw(st.sampled_from([texts, known]))
    masses = tables[0][MASS].to_pylist()
    return Drawn(tables, [key] * len(waves), qids, texts, [secret], masses), table, waves


@st.composite
def names_of(
    draw: st.DrawFn,
    chosen: Sequence[Tag],
    drawn: Sequence[tuple[pa.Table, str]],
    secrets: Sequence[str],
) -> tuple[list[Tag], list[str]]:
    """The same quasi-identifiers with tags, or a name without one for every dataset that has it."""
    qids: list[Tag] = []
    texts: list[str] = []
    for number, name in chosen:
        if (number, name) in qids:
            continue
        every = [(other, name) for other, (t, _) in enumerate(drawn, 1) if name in t.column_names]
        clear = name not in secrets and not TAGGED.match(name) and not _like(name, drawn)
        if clear and not set(every) & set(qids) and draw(st.booleans()):
            qids += every
            texts.append(name)
        else:
            qids.append((number, name))
            texts.append(tagged((number, name)))
    return sorted(qids, key=lambda tag: tag[0]), texts


def _like(name: str, drawn: Sequence[tuple[pa.Table, str]]) -> bool:
    """Return whether a dataset has another column that this name could mean."""
    plain = name.strip().casefold()
    return any(
        other != name and other.strip().casefold() == plain
        for table, _ in drawn
        for other in table.column_names
    )
