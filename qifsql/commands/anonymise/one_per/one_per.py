"""Treatment: one random record of each person, the same for the same seed.

Each record draws a lot, and the record of a person with the smallest lot stays. A lot is the MD5
digest of ``copy/seed|cells``: ``copy`` numbers the identical records of a person from 1, and
``cells`` are the cells as text, each after its length in bytes and a colon, or ``-`` if it is
missing. So a lot depends only on the seed, the cells and ``copy``. Every record has the same
chance; the order of the rows, their division into files and the number of threads do not matter.
DuckDB determines the text of a cell, and the manifest states its version; a cell of CSV keeps the
text in the file. Source: PoPETs section 5.1.
"""

from dataclasses import replace
from pathlib import Path

from qifsql.adversary.bind import bind
from qifsql.adversary.notes import notes_of_people
from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.anonymise.one_per import draw
from qifsql.commands.anonymise.one_per.effect import measure_changes
from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.expressions import column
from qifsql.data.option import as_names
from qifsql.data.readers import openings
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings, with_seed
from qifsql.query import render
from qifsql.results import release, release_files
from qifsql.results.result import Result
from qifsql.results.storage import Origin, check_place

UTC = "SET TimeZone = 'UTC'"  # lots contain times as text, which the engine writes in UTC


def one_per(
    source: Tabular,
    out: str | Path,
    options: AnonymiseOptions,
    *,
    seed: int,
    settings: Settings | None,
) -> Result:
    """Write one random record of each person (key ``one_per``), or all records, without ``drop``.

    The records that stay are in input order, under the names of their columns. With ``qids``, the
    details compare the risk before and after, and the people singled out.
    """
    key, qids, secret = options["one_per"], options["qids"], options["secret"]
    where, drop = options["where"], as_names(options["drop"])
    settings = with_seed(settings, seed, "treat")
    origin = Origin.now(settings, "treat")
    path, dataset = Path(out), Dataset.open(source)
    models = "crs,cas" if secret else "crs"
    spec = Attack.of(models, dataset, qids=qids, secret=secret, key=key, where=where)
    kind = release_files.ending_of(path)
    path = check_place(path, dataset.paths)
    with open_engine(settings, sources=[dataset], outputs=[path], ordered=True) as engine:
        catalog = Catalog(engine, dataset)
        typed = draw.read_records(catalog, key, where)
        if key is not None:  # so that a remark tells if its values are irregular
            catalog.types([column(catalog.schema[key])], ["key"])
        for name in drop:  # refuse a name that is not there
            catalog.schema[name]
        attack = bind(replace(spec, dataset=typed.dataset), catalog) if qids or secret else None
        texts = draw.read_as_text(typed)  # cells as they stand in CSV; None for other formats
        frame, statements = draw.draw(engine, texts or typed, seed)
        details = measure_changes(engine, attack) if attack else {}
        rows = texts or typed if release.is_csv(kind) else typed
        final = draw.plan_remaining(rows, kind, drop)
        description = _describe(rows.dataset, attack, key=key, seed=seed, where=where)
        description |= {"drop": list(drop)} if drop else {}
        setup = [*openings(catalog.dataset), *openings(rows.dataset)]
        statements = [*dict.fromkeys(setup), UTC, *statements, render.statement(final, pretty=True)]
        origin = origin.about(description, dataset.paths).sending(statements)
        names = [c.name for c in typed.columns if c.name not in drop]
        lost_labels = release.write(
            engine,
            final,
            path,
            origin,
            names=release.header(names, typed.columns, kind),
            rows=frame["records"][0] - frame["dropped"][0],
            source=typed.dataset,
        )
        notes = [*lost_labels, *(notes_of_people(attack.microdata) if attack else catalog.remarks)]
        if rows.dataset.format == "csv" and release.is_csv(kind) and not rows.dataset.all_varchar:
            notes.append(
                f"cells of {rows.dataset.name} are written as values and not as they stand there "
                "(1.50 as 1.5), because the key or the filter is of dates, times or decimals; "
                "--all-varchar keeps them"
            )
        if kind == ".parquet":
            notes += release.note_changed_types(rows.columns)
    origin = origin.about(description, dataset.paths)  # with the time of writing, too
    return Result(frame=frame, origin=origin, details=details, notes=tuple(notes))


def _describe(dataset: Dataset, attack: BoundAttack | None, **options: object) -> dict[str, object]:
    """Return the request as plain data for the manifest."""
    options |= {name: value for name, value in dataset.read_with.items() if value}
    if attack is not None:
        options["qids"] = [q.name for q in attack.microdata.qids]
        options["secrets"] = [s.name for s in attack.microdata.secrets]
    return {"dataset": dataset.name} | options
