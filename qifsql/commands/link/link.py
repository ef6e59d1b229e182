"""Links between the records of a release and a register with names, such as a voter list.

The records unique in the release, unique in the register, unique in both, and linked correctly are
different numbers; only the last is harm. A missing quasi-identifier matches nothing here. Source:
M58 (the voter list: Sweeney 2002).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any, Unpack

import polars as pl
from sqlglot import exp

from qifsql.adversary import roles
from qifsql.commands.link.spec import LinkOptions
from qifsql.counting.matching_columns import Side, bind_sides
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.option import as_names, complete
from qifsql.data.readers import openings
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, plural, quoted
from qifsql.measures.register_links import Kind, curve, measured
from qifsql.query.plan import Plan
from qifsql.query.splice import make_step, splice
from qifsql.query.templates import load
from qifsql.results.result import Result
from qifsql.results.storage import Origin

LINKED: dict[str, pl.DataType] = {
    "qids": pl.List(pl.String()),
    **dict.fromkeys(("n_qids", "release_records", "register_records"), pl.Int64()),
    **dict.fromkeys(("release_missing", "register_missing", "release_blocks"), pl.Int64()),
    **dict.fromkeys(("register_blocks", "shared_blocks", "unique_in_release"), pl.Int64()),
    **dict.fromkeys(("unique_in_register", "unique_in_both", "matched", "k_map"), pl.Int64()),
    **dict.fromkeys(("prosecutor_risk", "journalist_risk", "marketer_risk"), pl.Float64()),
    **dict.fromkeys(("expected_correct", "delta_min", "delta_max"), pl.Float64()),
    **dict.fromkeys(("people_in_both", "agreeing", "correct_unique"), pl.Int64()),
    **dict.fromkeys(("correct_expected", "seconds"), pl.Float64()),
}
"""One row. ``*_missing`` records miss a quasi-identifier and match nobody; blocks hold the others.
``matched`` records of the release match somebody in the register, each at least ``k_map`` people.
``expected_correct`` is the mean number of right links if as many people as possible are in both
files: the sum of min(f, F)/max(f, F). ``delta_*`` bound the chance that a person of the register is
in the release (min(1, f/F)). With the truth: ``people_in_both``; of these, the number ``agreeing``
in all quasi-identifiers; the right links among those unique in both files (``correct_unique``), and
the mean number of right links among all (``correct_expected``)."""

CONFIDENCE: dict[str, pl.DataType] = {
    "confidence": pl.Float64(),
    **dict.fromkeys(("links", "links_at_least"), pl.Int64()),
    **dict.fromkeys(("expected_at_least", "correct_at_least"), pl.Float64()),
}
"""One row per confidence 1/max(f, F), the highest first: links with it, links with it or a higher
one, the number of these that are right at best and, with the truth, on average."""


def link(
    release: Tabular,
    register: Tabular,
    *,
    settings: Settings | None = None,
    **options: Unpack[LinkOptions],
) -> Result:
    """Link the records of a release with a register by their quasi-identifiers.

    Args:
        release: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. Its people are to be identified.
        register: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. It names people.

    Returns:
        A Result. frame: one row with counts of people: unique_in_release, unique_in_register,
        unique_in_both, matched, expected_correct and, with the truth, correct_unique and
        correct_expected; risks in [0, 1]. details: confidence, links by the probability that they
        are correct.

    Raises:
        ColumnError: A column has no partner of its type.
        DatasetError: A file has no records, or the key is not unique.

    Example:
        >>> first = "data-samples/school_census_2018.parquet"
        >>> second = "data-samples/school_census_2019.parquet"
        >>> columns = "NU_DIA,NU_MES,NU_ANO,TP_SEXO"
        >>> result = qifsql.link(first, second, qids=columns, truth="ID_ALUNO")
        >>> result.frame.select("unique_in_both", "correct_unique").row(0)
        (3566, 3509)

    Source: M58; Sweeney 2002.

    """
    options = complete(options, LinkOptions)
    origin = Origin.now(settings, "link")
    datasets = [Dataset.open(release), Dataset.open(register)]
    texts, keys = as_names(options["qids"]), as_names(options["truth"])
    with open_engine(settings, sources=datasets, command="link") as engine:
        catalogs = [
            Catalog(engine, replace(d, catalog=f"attached_{i}")) for i, d in enumerate(datasets, 1)
        ]
        pair = bind_sides(catalogs, texts, keys, (options["where"], options["register_where"]))
        released, registered = pair
        names = [q.name for q in released.qids]
        row: dict[str, Any] = {"qids": names, "n_qids": len(names)}
        for name, side in zip(("release", "register"), pair, strict=True):
            records, linkable = _count_records(engine, side)
            row |= {f"{name}_records": records, f"{name}_missing": records - linkable}
        row["people_in_both"] = _count_common_people(engine, pair) if keys else None
        width = len(names)
        pairs_view = "link/pairs" if released.key else "link/no_pairs"
        pairs = make_step(pairs_view, "pairs", width=width)
        alike = make_step("link/alike", width=width)
        steps = (released.step("release"), registered.step("register"), pairs, alike)
        plan = Plan(steps, load("link/linked").query, _openings(*pair))
        sizes = engine.frame(plan, "linking", released.dataset.name)  # a row per pair of sizes
        kinds = sorted(starmap(Kind, sizes.iter_rows()), key=lambda k: (k.released, k.alike))
        is_linked = any(kind.released and kind.registered for kind in kinds)
        different_values = [] if is_linked else _note_on_different_values(engine, pair)
    row |= measured(kinds, records=row["release_records"], truth=bool(keys))
    spec = {
        "dataset": released.dataset.name,
        "register": registered.dataset.name,
        "qids": names,
        "register_qids": [q.name for q in registered.qids],
        "truth": list(keys) or None,
        "where": options["where"],
        "register_where": options["register_where"],
    }
    paths = tuple(dict.fromkeys(path for side in pair for path in side.dataset.paths))
    columns_by_role = {roles.QID: released.qids, roles.KEY: [released.key] if released.key else []}
    columns = roles.columns(catalogs[0].schema, columns_by_role, where=released.where)
    origin = origin.about(spec, paths, plan).listing(columns)
    frame = pl.DataFrame([row | {"seconds": origin.seconds}], schema=LINKED)
    points = pl.DataFrame(curve(kinds, truth=bool(keys)), schema=CONFIDENCE)
    notes = (*_notes(kinds, row, pair), *different_values, *remarks(engine))
    return Result(frame=frame, origin=origin, details={"confidence": points}, notes=notes)


def _note_on_different_values(engine: Engine, pair: tuple[Side, Side]) -> list[str]:
    """Return a note on the quasi-identifiers of which no value is in both files, if any."""
    release, register = pair
    names = []
    for i, (qid, register_qid) in enumerate(zip(release.qids, register.qids, strict=True), 1):
        steps = release.step("release"), register.step("register")
        common = splice("link/common_values", columns={"value": f"qid_{i}"})
        plan = Plan(steps, common, _openings(*pair))
        ((common_values,),) = engine.rows(plan, "comparing values", release.dataset.name)
        if not common_values:
            partner = "" if qid.name == register_qid.name else f" ({register_qid.name})"
            names.append(f"{qid.name}{partner}")
    if not names:
        return []
    return [
        f"no value of {', '.join(map(quoted, names))} is in both files, so nobody is linked: if "
        "they write the same values in another way, this says nothing; write them alike"
    ]


def _openings(*sides: Side) -> tuple[str, ...]:
    return tuple(openings(*(side.dataset for side in sides)))


def _count_records(engine: Engine, side: Side) -> tuple[int, int]:
    """Return the number of records, and of those that have all quasi-identifiers."""
    count = exp.Count(this=exp.Star())
    complete = exp.Filter(this=count.copy(), expression=exp.Where(this=side.complete))
    plan = Plan((), side.rows(count, complete), _openings(side))
    ((records, linkable),) = engine.rows(plan, "counting records", side.dataset.name)
    if not records:
        filtered = " under its filter" if side.where is not None else ""
        raise DatasetError(f"{side.dataset.name} has no records{filtered}; there is nobody to link")
    return int(records), int(linkable)


def _count_common_people(engine: Engine, pair: tuple[Side, Side]) -> int:
    """Return the number of people in both files; refuse keys that repeat or never match."""
    for side in pair:
        plan = Plan((side.keyed("keyed"),), load("collection/repeated").query, _openings(side))
        ((keys, records, _),) = engine.rows(plan, "checking keys", side.dataset.name)
        if keys:  # so many people have several records
            assert side.key is not None  # noqa: S101 - there is a truth
            raise DatasetError(
                f"{side.dataset.name} has {plural(records, 'record')} of {plural(keys, 'person')} "
                f"with several: the truth {quoted(side.key.name)} must be unique in each file; "
                "first choose one record per person with qifsql anonymise --one-per"
            )
    steps = (pair[0].keyed("keyed"), pair[1].keyed("others"))
    plan = Plan(steps, load("collection/common").query, _openings(*pair))
    ((shared, _, _),) = engine.rows(plan, "comparing keys", pair[0].dataset.name)
    if not shared:
        raise DatasetError(
            f"{pair[0].dataset.name} and {pair[1].dataset.name} have no person in common: no key "
            "of the one is in the other; check that both columns hold the same identifier"
        )
    return int(shared)


def _notes(kinds: Sequence[Kind], row: dict[str, Any], pair: tuple[Side, Side]) -> tuple[str, ...]:
    """Return notes on records that match nobody, and on people whom the register lacks."""
    notes = []
    for name, side in zip(("release", "register"), pair, strict=True):
        if n := row[f"{name}_missing"]:
            notes.append(
                f"{plural(n, 'record')} of {side.dataset.name} miss a quasi-identifier and match "
                "nobody"
            )
    if scarce := sum(k.blocks for k in kinds if k.released > k.registered):
        notes.append(
            f"in {plural(scarce, 'block')} the register has fewer people than the release: it does "
            "not have everybody, so a record that looks unique in it may be somebody else's"
        )
    return tuple(notes)
