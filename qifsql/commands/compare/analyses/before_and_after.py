"""The analyses of a comparison: each release is read once, for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from qifsql.commands.compare.analyses import fitted_models, pairs, regression
from qifsql.commands.compare.analyses.analysed_columns import (
    Analysed,
    ReadFile,
    cells_in_release,
    compared_columns,
    drop_release,
    further_columns,
    read_original,
    read_release,
)
from qifsql.commands.compare.analyses.fitted_models import Models
from qifsql.commands.compare.analyses.model_formulas import Formula
from qifsql.commands.compare.analyses.model_formulas import parse as parse_formula
from qifsql.commands.compare.analyses.pairs import Pairs
from qifsql.counting.composition import Compared
from qifsql.counting.spans import Raw
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables

NOTE = (
    "pairs and models count records. For correlations and models, a cell of several numbers is "
    "read as the middle between the smallest and the largest of the original's numbers in it; in "
    "models, a cell of several other values is a category of its own. Cells that stand for "
    "everything, or lost their value, are left out"
)
"""The note on how the cells of releases are read."""
NOTE_OF_PEOPLE = (
    "standard errors and intervals of models take the records as independent; those of one person "
    "are not, so that the true intervals may be wider"
)


@dataclass(frozen=True)
class Request:
    """The analyses that the user wants: pairs of columns, and models by their formulas."""

    has_pairs: bool
    formulas: tuple[Formula, ...]

    @classmethod
    def of(cls, *, has_pairs: bool, formulas: Sequence[str]) -> "Request":
        """Return what is asked for; InputError for a formula that cannot be read or fitted."""
        parsed = tuple(dict.fromkeys(parse_formula(text) for text in formulas))
        if parsed:
            regression.check_installed()
        return cls(has_pairs, parsed)

    @property
    def names(self) -> list[str]:
        """Return the columns of all formulas, each once."""
        return list(dict.fromkeys(n for f in self.formulas for n in (f.outcome, *f.predictors)))


@dataclass
class Analyses:
    """The analyses that were asked for, with the rows of the releases that were read."""

    columns: Sequence[Analysed]
    pairs: Pairs | None
    models: Models | None
    rows_of_pairs: list[dict[str, Any]] = field(default_factory=list)
    rows_of_models: list[dict[str, Any]] = field(default_factory=list)

    def add(self, tables: Tables, release: Compared) -> None:
        """Analyse a release whose cells have spans (``losses.loss_rows``)."""
        catalog = _catalog(tables, release) if self.models is not None else None
        cells = cells_in_release(self.columns, release, catalog)
        file: ReadFile = read_release(tables, self.columns, release, cells)
        if self.pairs is not None:
            self.rows_of_pairs += self.pairs.rows(file)
        if self.models is not None:
            self.rows_of_models += self.models.rows(file)
        drop_release(tables, self.columns, file, cells)

    @property
    def details(self) -> dict[str, pl.DataFrame]:
        """Return the tables of the analyses that were asked for, by their names."""
        details = {}
        if self.pairs is not None:
            details["pairs"] = pl.DataFrame(self.rows_of_pairs, schema=pairs.COLUMNS)
        if self.models is not None:
            schema = fitted_models.COLUMNS
            details["coefficients"] = pl.DataFrame(self.rows_of_models, schema=schema)
        return details


def prepare(
    tables: Tables, raws: Sequence[Raw], original: Compared, request: Request
) -> Analyses | None:
    """Return the analyses of an original whose values were read; None if none was asked for."""
    if not request.has_pairs and not request.formulas:
        return None
    tables = tables.doing("analysing columns")
    compared = compared_columns(raws, original)
    columns = list(compared)
    names: dict[str, Analysed] = {}
    if request.formulas:
        catalog = _catalog(tables, original)
        columns += further_columns(request.names, compared, catalog, original.title)
        by_name = {column.raw.name: column for column in columns}
        for name in request.names:  # it may be written in another case
            names[name] = by_name.get(name) or by_name[catalog.schema[name].name]
    used = columns if request.has_pairs else list({c.number: c for c in names.values()}.values())
    file = read_original(tables, used, original)
    return Analyses(
        used,
        Pairs(tables, compared, file) if request.has_pairs else None,
        Models(tables, request.formulas, names, file) if request.formulas else None,
    )


def _catalog(tables: Tables, file: Compared) -> Catalog:
    return Catalog(tables.engine, file.attack.microdata.dataset)
