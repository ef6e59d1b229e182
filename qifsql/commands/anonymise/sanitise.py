"""The work of anonymisation: the checks before it, its steps, and its summary."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.anonymise import mdav, mondrian
from qifsql.commands.anonymise.generalise import Loss, make_cells
from qifsql.commands.anonymise.spec import Request
from qifsql.counting import scales
from qifsql.counting.constraints import Wishes
from qifsql.counting.cuts import fit_secret
from qifsql.counting.meter import Meter
from qifsql.counting.passes import Coded, Passes
from qifsql.counting.scales import Scale, Secret, own_table
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import DatasetError, InputError, InternalError, several
from qifsql.query.plan import Plan

SUMMARY: dict[str, pl.DataType] = {
    "method": pl.String(),
    "records": pl.Int64(),
    "classes": pl.Int64(),
    "smallest_class": pl.Int64(),
    "average_class": pl.Float64(),
    "largest_class": pl.Int64(),
    "suppressed": pl.Int64(),
    "generalised": pl.Float64(),
    "certainty_penalty": pl.Float64(),
    "seconds": pl.Float64(),
}
"""One row. ``records`` are written; ``suppressed`` of them are in no class, because they may be
anybody's. ``generalised`` is the share of the cells of quasi-identifiers that stand for several
values, ``certainty_penalty`` the mean of their normalised certainty penalty (see
``qifsql.commands.anonymise.generalise.Loss``), both in [0, 1]."""

COLUMNS: dict[str, pl.DataType] = {
    "quasi_identifier": pl.String(),
    "values": pl.Int64(),
    "cells": pl.String(),
    "generalised": pl.Float64(),
    "certainty_penalty": pl.Float64(),
}
"""One row per quasi-identifier: the number of its distinct values, the form of its cells
(``intervals``, ``sets``, ``centroids``), and the same two shares."""


class Work:
    """The work on one release: the tables in the engine, from ``coded`` to ``cells``."""

    def __init__(
        self, engine: LocalEngine, microdata: Microdata, request: Request, meter: Meter
    ) -> None:
        self.engine = engine
        self.microdata = microdata
        self.request = request
        self.meter = meter
        self.name = microdata.dataset.name
        self.scales: list[Scale] = []
        self.notes: list[str] = []

    def run(self, ending: str) -> tuple[dict[str, Any], pl.DataFrame]:
        """Create the tables ``membership`` and ``cells``; return the summary and ``COLUMNS``.

        The summary has no ``seconds`` yet. Raise InputError if no release can keep the limits.
        """
        coded = self._code()
        self._check(coded)
        stream = self.engine.stream(self.name)
        self.passes = Passes(stream, coded, self._looked(coded.records))
        results: list[tuple[tuple[int, ...], list[Loss]]] = []

        def work(_stream: Stream) -> None:
            results.append(self._make(ending))

        try:
            self.engine.together([stream], work, self.meter.show)
        finally:
            stream.close()
        ((classes, records, smallest, largest, suppressed), losses) = results[0]
        shares = [(loss.generalised, loss.penalty) for loss in losses]
        generalised, penalty = (math.fsum(s) / len(shares) for s in zip(*shares, strict=True))
        row = {
            "method": self.request.method,
            "records": coded.records,
            "classes": classes,
            "smallest_class": smallest,
            "average_class": records / classes if classes else None,
            "largest_class": largest,
            "suppressed": suppressed,
            "generalised": generalised,
            "certainty_penalty": penalty,
        }
        return row, self._columns(shares)

    def _make(self, ending: str) -> tuple[tuple[int, ...], list[Loss]]:
        """Create the classes and their cells; return the sizes of the classes and the losses."""
        passes, coded = self.passes, self.passes.coded
        if coded.secrets and passes.broken(self.request.wishes):
            raise InputError(
                f"not even one class of all {several(coded.records, 'record')} of {self.name} "
                f"keeps {self.request.wishes.diversity}: the most frequent values of the secret "
                "are too frequent; ask for less"
            )
        self._partition()
        self.meter.inside(0.8, "writing cells")
        passes.make("classes", "classes", {"missing": [s.missing for s in self.scales]})
        sizes = passes.row(passes.query("sizes"))
        if sizes[1] + sizes[4] != coded.records:
            raise InternalError("some records are in no class; please report this")
        shape = self.request.cells
        losses = make_cells(passes, self.scales, ending, shape, records=sizes[1])
        passes.make("membership", "membership")
        passes.drop("coded", "done", "classes", "refused")
        return sizes, losses

    def _code(self) -> Coded:
        """Create the scales and the secrets, then the table ``coded``."""
        self.meter.inside(0.0, "reading")
        self.scales = scales.make_scales(self.engine, self.microdata)
        secrets = tuple[Secret, ...]()
        if self.request.wishes.of_secret:
            secrets = tuple(scales.make_secrets(self.engine, self.microdata))
        used = self.microdata.secrets[: len(secrets)]
        scales.code(self.engine, replace(self.microdata, secrets=used))
        self.meter.inside(0.1, "reading")
        counted = exp.select(exp.Count(this=exp.Star())).from_(own_table("coded"))
        ((records,),) = self.engine.rows(Plan((), counted), "counting records", self.name)
        return Coded(self.name, len(self.scales), records, secrets)

    def _check(self, coded: Coded) -> None:
        """Refuse limits that not even one class of all records keeps."""
        wishes, records = self.request.wishes, coded.records
        if not records:
            after = " under the filter (where)" if self.microdata.where is not None else ""
            raise DatasetError(f"{self.name} has no records{after}; there is nobody to anonymise")
        if wishes.k > records:
            raise InputError(
                f"k is {wishes.k:,}, and {self.name} has {several(records, 'record')}; "
                "no class can have so many"
            )
        for secret in coded.secrets:
            fit_secret(wishes, secret)

    def _partition(self) -> None:
        """Create the tables ``done`` of the classes, and ``refused`` of those to suppress."""
        wishes, passes = self.request.wishes, self.passes
        within = self.request.within or mdav.WITHIN
        if self.request.method == "mondrian":
            mondrian.partition(passes, wishes)
            passes.judge(Wishes(wishes.k), "sides_of_classes")
            return
        if mdav.group(passes, wishes, within):
            self.notes.append(
                f"there are more than {within:,} different people, so the release was first cut at "
                "medians into parts of at most so many; more at once (--within) take longer"
            )
        passes.judge(wishes, "sides_of_classes")

    def _looked(self, records: int) -> Callable[[int], None]:
        """Return a function that reports progress from the number of people in open parts."""
        enough = math.log2(max(2, records / self.request.wishes.k)) + 8
        done = 0

        def look(open_: int) -> None:
            nonlocal done
            done += 1
            detail = f"pass {done}: {open_:,} records to part"
            self.meter.inside(0.1 + 0.7 * (1 - math.exp(-2 * done / enough)), detail)

        return look

    def _columns(self, shares: list[tuple[float, float]]) -> pl.DataFrame:
        """Return the table ``COLUMNS``, one row per quasi-identifier."""
        kinds = ["intervals" if scale.interval else "sets" for scale in self.scales]
        if self.request.cells == "centroid":
            kinds = ["centroids"] * len(kinds)
        rows = [
            (scale.attribute.name, scale.values, kind, *share)
            for scale, kind, share in zip(self.scales, kinds, shares, strict=True)
        ]
        return pl.DataFrame(rows, schema=COLUMNS, orient="row")
