"""Solved components in a file, so that interrupted work goes on where it stopped.

A component is stored under a digest of its whole problem: what is stored fits no other problem.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from qifsql import __version__
from qifsql.commands.tables.table_release import Release
from qifsql.data.files import parsed_json
from qifsql.data.readers import STORE
from qifsql.engine import ledger
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, InputError
from qifsql.query.columns import union
from qifsql.query.plan import Plan
from qifsql.query.render import adding, keeping, render
from qifsql.results.storage import digests

FORM = 1  # version of the tables' form
NAMES = {"request", "components"}


class KeptComponents:
    """The table ``kept.components`` of outcomes by digest, of one request."""

    def __init__(
        self, engine: Engine, stream: Stream, path: Path, request: Mapping[str, Any]
    ) -> None:
        """Open the file, or make it for this request (see ``identity``); refuse one of another.

        The file is a DuckDB database with the tables ``request`` (one row: the request as JSON),
        ``components``, and a ledger of what was stored, by which damage is found.
        """
        self.stream = stream
        text = json.dumps(dict(request), sort_keys=True, default=str)
        try:
            held = engine.open_kept(path)  # the names of its tables
        except DatasetError as e:
            raise InputError(
                f"{path} cannot be made or opened; name another file with --resume", detail=e.detail
            ) from e
        if not held:  # the file is new
            with stream.transaction():
                self._make("request", exp.select(exp.Literal.string(text).as_("text")))
                none = exp.select("NULL::VARCHAR AS digest", "NULL::VARCHAR AS outcome")
                self._make("components", none.where(exp.false()))
                ledger.begin(stream)
                ledger.enter(stream, "request")
            return
        if not held >= NAMES:
            raise InputError(
                f"{path} holds no components of tables; name another file with --resume"
            )
        damaged = f"{path} is damaged: it does not hold what was stored in it; delete it"
        with ledger.readable(damaged):
            ((text_before,),) = stream.rows(render(exp.select("text").from_(_table("request"))))
            before = parsed_json(text_before)
        if differing := [k for k, v in parsed_json(text).items() if before.get(k) != v]:
            raise InputError(
                f"{path} belongs to other tables: {', '.join(differing)} differ; repeat that "
                "command to resume it, or name another file with --resume"
            )
        ledger.check(stream, held, damaged)

    def _make(self, name: str, query: exp.Select) -> None:
        """Create a table of the file."""
        self.stream.rows(keeping(Plan((), query), name, STORE))

    def read(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the stored outcomes by digest, of those ``keys`` that the file has."""
        query = exp.select("digest", "outcome").from_(_table("components"))
        return dict(self.stream.rows(render(query.where(exp.column("digest").isin(*keys)))))

    def write(self, texts: Mapping[str, str]) -> None:
        """Store outcomes by digest."""
        pairs = [map(exp.Literal.string, pair) for pair in texts.items()]
        rows = [exp.select(key.as_("digest"), text.as_("outcome")) for key, text in pairs]
        query = union(rows)
        with self.stream.transaction():
            self.stream.rows(adding(Plan((), query), "components", STORE))
            ledger.enter(self.stream, "components", query)


def identity(
    release: Release, description: Mapping[str, Any], paths: Sequence[str]
) -> dict[str, Any]:
    """Return all that the outcomes of a request depend on: options, tables, files, versions."""
    options = {k: v for k, v in description.items() if k not in {"time_budget", "dataset"}}
    contents = [_digest(release, table.cells) for table in release.published]
    contents += [_digest(release, f"values_{i}") for i in sorted(release.domain.names)]
    files = [digest["sha256"] for digest in digests(paths)]
    versions = {"form": FORM, "qifsql": __version__, "engine": ledger.ENGINE}
    return {**versions, **options, "inputs": files, "cells": contents}


def _digest(release: Release, table: str) -> list[str]:
    """Return, as text, how many rows a table has and the sum of their hashes: no order matters."""
    rows = exp.alias_(exp.to_table(table), "entered", table=True)
    query = exp.select("count(*)", "coalesce(sum(hash(entered)), 0)").from_(rows)
    ((n, total),) = release.tables.rows(query)
    return [str(n), str(total)]


def _table(name: str) -> exp.Table:
    return exp.table_(name, db="main", catalog=STORE)
