"""Microdata releases, read as statements: their records, counted by cells.

A release that was recoded is a table of its cells (``recodings``). Suppressed records, which are *
in all cells that may be suppressed, may be anybody's: they are counted apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from qifsql.adversary import roles
from qifsql.adversary.spec import Attribute, ColumnRoles
from qifsql.counting.compatibility import refuse_false_cells
from qifsql.counting.release_columns import column_of_release
from qifsql.counting.suppressed import written_request
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE
from qifsql.data.option import csv_row
from qifsql.data.readers import relation
from qifsql.data.types import family, generalised
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, DatasetError, InputError
from qifsql.query.columns import number
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice
from qifsql.query.suppression import STAR, TEXTS, all_suppressed


@dataclass(frozen=True)
class ReleaseFile:
    """A file of records that was released, and its columns that count; empty: all.

    One that ``is_counted`` has different records with the number of ``people``, and its columns are
    called ``cell_1``, ``cell_2``, ... there.
    """

    dataset: Dataset
    columns: tuple[str, ...] = ()
    title: str = ""
    is_counted: bool = False


def parse_releases(texts: Sequence[str | Path | ReleaseFile]) -> list[ReleaseFile]:
    """Return the releases of texts ``FILE`` or ``FILE:COLUMNS``; cells of CSV stay text."""
    files = []
    for i, text in enumerate(texts, 1):
        release = text if isinstance(text, ReleaseFile) else _parse_release(str(text))
        dataset = release.dataset
        csv = dataset.all_varchar or dataset.format == "csv"
        dataset = replace(dataset, all_varchar=csv, catalog=f"released_{i}")
        files.append(replace(release, dataset=dataset))
    return files


def _parse_release(text: str) -> ReleaseFile:
    file, columns = text, ""
    if not Path(text).exists():
        ends = [at for at, sign in enumerate(text) if sign == ":" and Path(text[:at]).is_file()]
        file, columns = (text[: ends[-1]], text[ends[-1] + 1 :]) if ends else (text, "")
    names = tuple(name.strip() for name in csv_row(columns)) if columns.strip() else ()
    return ReleaseFile(Dataset.open(file), names)


@dataclass(frozen=True)
class CountedRelease:
    """A release whose records are counted by cells, in the engine table ``counted_r``.

    ``hidden`` are the columns, numbered from 1, that are * in all suppressed records together.
    """

    number: int
    title: str
    dataset: Dataset
    columns: tuple[Attribute, ...]  # by the names of the dimensions
    hidden: frozenset[int]
    records: int
    suppressed: int
    in_ledger: bool = False  # a ledger has it
    file_columns: tuple[ColumnRoles, ...] = ()  # all columns of its file

    @property
    def name(self) -> str:
        """Return the name of the engine table."""
        return f"counted_{self.number}"

    def cells(self, j: int) -> exp.Select:
        """Return SQL for the cells of column j, without those of suppressed records."""
        query = exp.select(exp.column(f"cell_{j}").as_("cell")).from_(self.name)
        return query.where("NOT suppressed") if j in self.hidden else query


def count_releases(
    tables: Tables, files: Sequence[ReleaseFile], dims: Sequence[str]
) -> list[CountedRelease]:
    """Count the records of releases by their cells; ``dims`` are the dimensions of tables.

    A column is the dimension of its name, in any case. Refuse a release whose manifest says that
    its cells may be false.
    """
    titles = [file.title or file.dataset.name for file in files]
    return [
        _count(tables, r, file, dims, file.dataset.paths[0] if titles.count(title) > 1 else title)
        for r, (file, title) in enumerate(zip(files, titles, strict=True), 1)
    ]


def _count(
    tables: Tables, r: int, file: ReleaseFile, dims: Sequence[str], title: str
) -> CountedRelease:
    catalog = Catalog(tables.engine, file.dataset)
    dataset = catalog.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
    refuse_false_cells(dataset, title)
    folded = {name.casefold(): name for name in reversed(dims)}
    columns, read = [], []
    for j, written in enumerate(file.columns or [c.name for c in catalog.schema.columns], 1):
        name = f"cell_{j}" if file.is_counted else catalog.schema[written].name
        attribute = column_of_release(catalog, name, name)
        read.append(attribute)
        attribute = replace(attribute, name=written if file.is_counted else name)
        name = attribute.name if attribute.name in dims else attribute.name.casefold()
        columns.append(replace(attribute, name=folded.get(name, attribute.name)))
    names = [attribute.name for attribute in columns]
    if len(set(names)) < len(names):
        raise ColumnError(f"{title} has two columns of one name; name those that count")
    cells = [exp.column(f"cell_{j}") for j, _ in enumerate(columns, 1)]
    lines = exp.alias_(relation(dataset), SOURCE, table=True)
    weight = exp.column("people", SOURCE) if file.is_counted else number(1)
    listed = exp.select(*(normal(a).as_(c.name) for a, c in zip(columns, cells, strict=True)))
    listed = listed.select(weight.as_("weight"))
    lines_as_cells = Step("lines", "One row per record: its cells.", listed.from_(lines))
    everywhere, hidden = _hidden_columns(tables, dataset, columns, lines_as_cells)
    is_suppressed: exp.Expr = exp.false()
    if hidden:
        chosen = [columns[j - 1] for j in sorted(hidden)]
        is_suppressed = all_suppressed(chosen, [cells[j - 1] for j in sorted(hidden)])
    places = [j for j, _ in enumerate(columns, 1) if j not in everywhere]
    if not places:
        raise InputError(f"{title} has * in every cell, so it tells nothing; leave it out")
    released = exp.select("*", is_suppressed.as_("suppressed")).from_("lines")
    steps = (lines_as_cells, Step("released", "One row per record.", released))
    query = splice("tables/counted", shape={"columns": places})
    tables.make(f"counted_{r}", Plan(steps, query), "counting records")
    if everywhere:  # columns are numbered without those that tell nothing
        renamed = [exp.column(f"cell_{j}").as_(f"cell_{k}") for k, j in enumerate(places, 1)]
        chosen_cells = exp.select(*renamed, "suppressed", "people").from_(
            exp.table_(f"counted_{r}")
        )
        tables.repeatable(f"counted_{r}", chosen_cells)()
    sizes = splice("tables/sizes", tables={"counted": f"counted_{r}"})
    ((records, suppressed),) = tables.rows(sizes)
    if not records:
        raise DatasetError(f"{title} has no records; name another file")
    return CountedRelease(
        r,
        title,
        dataset,
        tuple(columns[j - 1] for j in places),
        frozenset(k for k, j in enumerate(places, 1) if j in hidden) if suppressed else frozenset(),
        int(records),
        int(suppressed),
        in_ledger=file.is_counted,
        file_columns=roles.columns(catalog.schema, {roles.QID: read}),
    )


def _hidden_columns(
    tables: Tables, dataset: Dataset, columns: Sequence[Attribute], lines: Step
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the columns that are * in all records, and those that are * in the suppressed ones.

    A record is suppressed if it is * (no text: missing) in all quasi-identifiers that the manifest
    of ``anonymise`` names. Without one, suppressed records have * in as many columns as any have.
    """
    flags = []
    for j, attribute in enumerate(columns, 1):
        cell, kind = exp.column(f"cell_{j}"), family(attribute.type)
        star: exp.Expr = exp.false()
        if kind in TEXTS:
            star = exp.cast(cell, "VARCHAR").eq(STAR)
        elif generalised(attribute.type) is not None:
            star = cell.is_(exp.null())
        flags.append(exp.func("coalesce", exp.paren(star), exp.false()).as_(f"star_{j}"))
    patterns = tables.rows(Plan((lines,), exp.select(*flags).distinct().from_("lines")))
    starred = [frozenset(j for j, flag in enumerate(row, 1) if flag) for row in patterns]
    everywhere = frozenset.intersection(*starred) if starred else frozenset[int]()
    hidden = max(starred, key=lambda s: (len(s), sorted(s)), default=frozenset[int]()) - everywhere
    if (request := written_request(dataset)) is not None:
        qids = request.get("qids") or ()
        named = frozenset(j for j, a in enumerate(columns, 1) if a.name in qids) - everywhere
        if named:
            chosen = [columns[j - 1] for j in sorted(named)]
            test = all_suppressed(chosen, [exp.column(f"cell_{j}") for j in sorted(named)])
            query = exp.select("count(*)").from_("lines").where(test)
            ((n,),) = tables.rows(Plan((lines,), query))
            hidden = named if n else hidden
    return everywhere, hidden
