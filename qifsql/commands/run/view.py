"""A study in words and tables: a line per attack, the best subsets of sweeps, and checks.

Functions read plain tables and not a ``StudyResult``.
"""

import polars as pl

from qifsql.commands.check import view as levels
from qifsql.commands.synthetic.view import points, release_name
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.presentation.table_columns import Cell, Column, drawn, number, percent, tabulate, text
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

    def subject(row: Row) -> str:
        is_gain = row.get("gain") not in (None, "identity")
        gain = said(", gain {gain}", gain=row["gain"]) if is_gain else ""
        return escaping.cell((row["secret"] or said("whose record it is")) + gain)

    columns = [
        (said("name"), text("name")),
        (said("model"), text("model")),
        (said("of"), subject),
        (said("known"), lambda row: escaping.cell(words.listed(row["qids"]))),
        (said("certain"), percent("posterior_deterministic")),
        (said("before"), lambda row: words.success(row, row["prior_probabilistic"])),
        (said("after"), lambda row: words.success(row, row["posterior_probabilistic"])),
        (said("degradation"), words.degradation),
    ]
    return tabulate(without_beliefs(table).iter_rows(named=True), columns, texts=range(4))


def _sweeps(table: pl.DataFrame) -> Table:
    """Return a line for each subset that is the best of its size for a measure, of all sweeps."""
    kinds = {kind: said(kind) for kind in SUCCESS_KINDS}
    columns = [
        *_first_columns(),
        (said("qids"), number("n_qids")),
        (said("best for"), lambda row: kinds[row["best_for"]]),
        (said("subset"), lambda row: escaping.cell(", ".join(row["qids"]))),
        (said("certain"), percent("posterior_deterministic")),
        (said("best guess"), percent("posterior_probabilistic")),
        (said("degradation"), words.degradation),
    ]
    return tabulate(table.iter_rows(named=True), columns, texts=(0, 1, 2, 4, 5))


def _borders(table: pl.DataFrame) -> Table:
    """Return a line for each subset at a border: minimal risky or maximal safe."""
    kinds = {kind: said(kind) for kind in SUCCESS_KINDS}
    sides = {side: said(side) for side in ("minimal risky", "maximal safe")}
    columns = [
        *_first_columns(),
        (said("measure"), lambda row: kinds[row["measure"]]),
        (said("border"), lambda row: sides[row["border"]]),
        (said("subset"), lambda row: escaping.cell(", ".join(row["qids"])) or said("nothing")),
        (said("success"), percent("posterior")),
    ]
    return tabulate(table.iter_rows(named=True), columns, texts=range(6))


def _tables_section(table: pl.DataFrame) -> Table:
    """Return a line for each set of published tables and secret."""

    def proved(name: str) -> Cell:
        return lambda row: words.proved(row[name], sharp=row["sharp"])

    certain = proved("certain_inference")
    columns = [
        (said("name"), text("name")),
        (said("tables"), lambda row: words.count(len(row["tables"]))),
        (said("of"), _subject),
        (said("reconstructed"), proved("reconstructed")),
        (said("singled out"), proved("singled_out")),
        (said("secret certain"), lambda row: "" if row["secret"] is None else certain(row)),
        (said("before"), percent("prior")),
        (said("after"), percent("after")),
    ]
    rows = table.with_columns(after=pl.coalesce("actual", "believed")).iter_rows(named=True)
    return tabulate(rows, columns, texts=(0, 2))


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
    measures = [
        dict(rows.select("measure", "value").rows()) | {"name": name}
        for (name,), rows in table.group_by("name", maintain_order=True)
    ]

    def integer(n: float) -> str:
        return words.count(int(n))

    columns = [
        (said("name"), text("name")),
        (said("records"), drawn("records", integer)),
        (said("singled out"), drawn("uniques", integer)),
        (said("special"), drawn("special_uniques", integer)),
        (said("MSUs"), drawn("msus", integer)),
        ("DIS", percent("dis")),
    ]
    return tabulate(measures, columns)


def _checks(table: pl.DataFrame) -> Table:
    """Return a line for each level of a check, with intervals if a value is an estimate."""
    estimates = "low" in table.columns and table["low"].null_count() < table.height
    columns = [
        (said("name"), text("name")),
        (said("rule"), number("rule")),
        (said("of"), levels.level_subject),
        (said("measure"), text("measure")),
        (said("value"), levels.value_text),
        *([(said("between"), levels.interval_text)] if estimates else []),
        (said("required"), lambda row: levels.bounds_text(row["wanted"])),
        (said("met"), levels.met_text),
    ]
    return tabulate(table.iter_rows(named=True), columns, texts={*range(len(columns))} - {1, 4})


def _entries(table: pl.DataFrame) -> Table:
    """Return a line for each entry; an entry that was not run has no seconds."""
    states = {state: said(state) for state in ("done", "unchanged", "incomplete", "to do")}
    columns = [
        (said("name"), text("name")),
        (said("kind"), text("kind")),
        (said("datasets"), text("datasets")),
        (said("state"), lambda row: states[row["state"]]),
        (said("seconds"), drawn("seconds", lambda seconds: words.fixed(seconds, 1))),
    ]
    return tabulate(table.iter_rows(named=True), columns, texts=range(4))


def _first_columns() -> list[Column]:
    """Return the first columns of an entry: its name, its model, and the secret."""
    return [(said("name"), text("name")), (said("model"), text("model")), (said("of"), _subject)]


def _subject(row: Row) -> str:
    return escaping.cell(row["secret"] or said("whose record it is"))
