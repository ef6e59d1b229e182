"""A study in words and tables: a line per attack, the best subsets of sweeps, and checks.

Functions read plain tables and not a ``StudyResult``.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.commands.check import view as levels
from qifsql.commands.synthetic.view import points, release_name
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.assessment import without_beliefs
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

SHARED_TABLES = ("sweeps", "borders", "tables", "synthetic", "suda", "checks", "entries")
KIND = Kind(columns=("name", "model"), shared=SHARED_TABLES)
SUCCESS_KINDS = ("both", "deterministic", "probabilistic")


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the chapter of a report: its title and the findings of all entries."""
    title = said("Study: {name}", name=stored.name)
    return title, parts(stored.frame, stored.details, stored.spec)


def parts(frame: pl.DataFrame, tables: Tables, _spec: Spec) -> list[Part]:
    """Return the findings of all entries, and the state of each."""
    borders = said("Borders: the smallest subsets that are risky, the largest that are safe")
    sections = (
        (frame, said("Attacks"), _attacks),
        (tables.get("sweeps"), said("Sweeps: the best subset of each size"), _sweeps),
        (tables.get("borders"), borders, _borders),
        (tables.get("tables"), said("Published tables"), _tables_section),
        (tables.get("synthetic"), said("Synthetic releases"), _synthetic_section),
        (tables.get("suda"), said("Special uniques"), _special_section),
        (tables.get("checks"), said("Checks"), _checks),
    )
    parts: list[Part] = []
    for table, heading, draw in sections:
        if table is not None and table.height:
            parts += [Heading(heading), draw(table)]
    if not parts:
        parts = [Paragraph(said("Nothing was run."))]
    return [*parts, _entries(tables["entries"])]


def _attacks(table: pl.DataFrame) -> Table:
    """Return a line for each attack and secret; without a secret, it is whose record it is."""
    heads = [said("name"), said("model"), said("of"), said("known"), said("certain")]
    heads += [said("before"), said("after"), said("degradation")]
    listing = Table.of(heads, right=(4, 5, 6, 7))
    for row in without_beliefs(table).iter_rows(named=True):
        gain = ""
        if row.get("gain") not in (None, "identity"):
            gain = said(", gain {gain}", gain=row["gain"])
        listing.add_row(
            row["name"],
            row["model"],
            escaping.cell((row["secret"] or said("whose record it is")) + gain),
            escaping.cell(words.listed(row["qids"])),
            words.percent(row["posterior_deterministic"]),
            words.success(row, row["prior_probabilistic"]),
            words.success(row, row["posterior_probabilistic"]),
            words.degradation(row),
        )
    return listing


def _sweeps(table: pl.DataFrame) -> Table:
    """Return a line for each subset that is the best of its size for a measure, of all sweeps."""
    heads = [said("name"), said("model"), said("of"), said("qids"), said("best for")]
    heads += [said("subset"), said("certain"), said("best guess"), said("degradation")]
    listing = Table.of(heads, right=(3, 6, 7, 8))
    kinds = {kind: said(kind) for kind in SUCCESS_KINDS}
    for row in table.iter_rows(named=True):
        listing.add_row(
            *_question(row),
            str(row["n_qids"]),
            kinds[row["best_for"]],
            escaping.cell(", ".join(row["qids"])),
            words.percent(row["posterior_deterministic"]),
            words.percent(row["posterior_probabilistic"]),
            words.factor(row["degradation_probabilistic"]),
        )
    return listing


def _borders(table: pl.DataFrame) -> Table:
    """Return a line for each subset at a border: minimal risky or maximal safe."""
    heads = [said("name"), said("model"), said("of"), said("measure"), said("border")]
    listing = Table.of([*heads, said("subset"), said("success")], (6,))
    kinds = {kind: said(kind) for kind in SUCCESS_KINDS}
    sides = {side: said(side) for side in ("minimal risky", "maximal safe")}
    for row in table.iter_rows(named=True):
        subset = escaping.cell(", ".join(row["qids"])) or said("nothing")
        success = words.percent(row["posterior"])
        side = sides[row["border"]]
        listing.add_row(*_question(row), kinds[row["measure"]], side, subset, success)
    return listing


def _tables_section(table: pl.DataFrame) -> Table:
    """Return a line for each set of published tables and secret."""
    heads = [said("name"), said("tables"), said("of"), said("reconstructed"), said("singled out")]
    heads += [said("secret certain"), said("before"), said("after")]
    listing = Table.of(heads, right=(1, 3, 4, 5, 6, 7))
    for row in table.iter_rows(named=True):
        of_secret = row["secret"] is not None
        after = row["believed"] if row["actual"] is None else row["actual"]
        listing.add_row(
            row["name"],
            words.count(len(row["tables"])),
            escaping.cell(row["secret"] if of_secret else said("whose record it is")),
            words.proved(row["reconstructed"], sharp=row["sharp"]),
            words.proved(row["singled_out"], sharp=row["sharp"]),
            words.proved(row["certain_inference"], sharp=row["sharp"]) if of_secret else "",
            "" if row["prior"] is None else words.percent(row["prior"]),
            "" if after is None else words.percent(after),
        )
    return listing


def _synthetic_section(table: pl.DataFrame) -> Table:
    """Return a line for each release and secret; one for a release without secrets.

    Columns are the replicated unique people (repU), and per secret the share that is guessed right
    and the individual leak, in percentage points, with its interval.
    """
    leaks = table.filter(measure="individual_leak")
    guesses = table.filter(measure="success_original")
    heads = {"name": said("name"), "release": said("release"), "of": said("of"), "repU": "repU"}
    if leaks.height < guesses.height:  # without a control there is nothing else to show
        heads["right"] = said("right")
    if leaks.height:
        heads |= {"leak": said("individual leak"), "between": said("between")}
    numbers = {"repU", "right", "leak"} & heads.keys()
    listing = Table.of(heads.values(), right=range(3, 3 + len(numbers)))
    releases = table.group_by("name", "file", "release", maintain_order=True)
    for (name, file, release), rows in releases:
        replicated = words.percent(rows.filter(measure="repU")["value"][0])
        first = {"name": name, "release": release_name(file, release), "repU": replicated}
        secrets = rows["secret"].drop_nulls().unique(maintain_order=True).to_list()
        for secret in secrets or [None]:
            of_secret = rows.filter(pl.col("secret").eq_missing(pl.lit(secret)))
            cells = first | _cells_of_secret(secret, of_secret)
            listing.add_row(*(cells.get(head, "") for head in heads))
    return listing


def _cells_of_secret(secret: str | None, rows: pl.DataFrame) -> dict[str, str]:
    """Return what is shown of a secret, by column, from the rows of its measures."""
    measured = {row["measure"]: row for row in rows.iter_rows(named=True)}
    cells = {"of": escaping.cell(said("whose record it is") if secret is None else secret)}
    if (success := measured.get("success_original")) is not None:
        cells["right"] = words.percent(success["value"])
    if (leak := measured.get("individual_leak")) is not None:
        low, high = points(leak["low"]), points(leak["high"])
        cells["leak"] = said("{points} pp", points=points(leak["value"]))
        cells["between"] = said("{low} and {high}", low=low, high=high)
    return cells


def _special_section(table: pl.DataFrame) -> Table:
    """Return a line for each search of special uniques."""
    heads = [said("name"), said("records"), said("singled out"), said("special"), said("MSUs")]
    listing = Table.of([*heads, "DIS"], right=(1, 2, 3, 4, 5))
    for name in table["name"].unique(maintain_order=True):
        values = dict(table.filter(pl.col("name") == name).select("measure", "value").iter_rows())
        numbers = [values[n] for n in ("records", "uniques", "special_uniques", "msus")]
        dis = "" if values["dis"] is None else words.percent(values["dis"])
        listing.add_row(name, *(words.count(int(n)) for n in numbers), dis)
    return listing


def _checks(table: pl.DataFrame) -> Table:
    """Return a line for each level of a check, with intervals if a value is an estimate."""
    estimates = "low" in table.columns and table["low"].null_count() < table.height
    heads = [said("name"), said("rule"), said("of"), said("measure"), said("value")]
    heads += [said("between")] if estimates else []
    listing = Table.of([*heads, said("required"), said("met")], right=(1, 4))
    for row in table.iter_rows(named=True):
        listing.add_row(
            row["name"],
            str(row["rule"]),
            levels.level_subject(row),
            row["measure"],
            levels.value_text(row),
            *([levels.interval_text(row)] if estimates else []),
            levels.bounds_text(row["wanted"]),
            levels.met_text(row),
        )
    return listing


def _entries(table: pl.DataFrame) -> Table:
    """Return a line for each entry; an entry that was not run has no seconds."""
    heads = [said("name"), said("kind"), said("datasets"), said("state"), said("seconds")]
    listing = Table.of(heads, right=(4,))
    states = {state: said(state) for state in ("done", "unchanged", "incomplete", "to do")}
    for row in table.iter_rows(named=True):
        seconds = "" if row["seconds"] is None else words.fixed(row["seconds"], 1)
        datasets = escaping.cell(row["datasets"])
        listing.add_row(row["name"], row["kind"], datasets, states[row["state"]], seconds)
    return listing


def _question(row: Mapping[str, Any]) -> list[str]:
    """Return the first cells of an entry: its name, its model, and the secret."""
    return [row["name"], row["model"], escaping.cell(row["secret"] or said("whose record it is"))]
