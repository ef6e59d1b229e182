"""Columns of a file that no rule covers: their table, and words for verdicts and reports."""

import re
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from qifsql.adversary import roles
from qifsql.adversary.spec import NOT_CONSIDERED, ColumnRoles
from qifsql.presentation import escaping, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Spec, Table
from qifsql.results.stored import Stored

MOST_NUMBERS = 5  # columns whose numbers a sentence gives

Columns = Sequence[ColumnRoles]

SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("column", "role"), pl.String()),
    **dict.fromkeys(("people", "singled_out"), pl.Int64()),
    "share": pl.Float64(),
    "added": pl.Int64(),
    "reason": pl.String(),
}
"""One row for all uncovered columns together (``column`` is NULL), then one for each of them.

An adversary who knows the named quasi-identifiers and the column (first row: all columns) singles
out ``singled_out`` of the ``people``; ``share`` is their share in [0, 1]. ``added`` are those whom
the named quasi-identifiers alone do not single out. ``reason`` states why a column is not measured.
Its numbers are then NULL, and the first row does not include it. A missing value is a value."""

IGNORED = "ignored by the policy"
OF_NOBODY = "records of a synthetic release are of nobody"
NAMELESS = "it has no name"
ELSEWHERE = "the quasi-identifiers are in another file"


def caveats(spec: Spec, columns: Columns | None, frame: pl.DataFrame | None) -> list[str]:
    """Return the caveats of a verdict: columns that no rule covers, and people they single out.

    ``columns`` and ``frame`` (``SCHEMA``) are None if they were not stored.
    """
    if columns is None:
        message = "This result does not say which other columns the file has; check the file again."
        return [said(message)]
    sentences = []
    if rest := not_considered(columns, frame):
        singular = "{n} column of {dataset} is not considered by the rules: {names}."
        plural = "{n} columns of {dataset} are not considered by the rules: {names}."
        dataset = escaping.cell(str(spec.get("dataset", "")))
        names = _names([_with_role(*column) for column in rest])
        sentences.append(counted(singular, plural, len(rest), dataset=dataset, names=names))
    if frame is not None:
        sentences += _measured_people(frame)
    if secrets := [c.name for c in columns if roles.IN_NO_RULE in c.roles]:
        message = "No rule measures the inference of {names}, although named as secret."
        sentences.append(said(message, names=_names(secrets)))
    return sentences


def not_considered(columns: Columns, frame: pl.DataFrame | None) -> list[tuple[str, str]]:
    """Return the names of the columns that no rule covers, with their roles beside, such as filter.

    ``frame`` (``SCHEMA``) is None if it was not stored.
    """
    if frame is None:
        return [(column.name, column.role) for column in columns if not column.covered]
    return list(frame.filter(pl.col("column").is_not_null()).select("column", "role").rows())


def of_results(results: Sequence[Stored]) -> dict[str, list[ColumnRoles]]:
    """Return the columns of each file, by its name, with the roles that they have in any result.

    A column of several results has the roles that it has itself in any of them; if it has none,
    those that only a form of it has.
    """
    columns_by_file: dict[str, dict[str, ColumnRoles]] = {}
    for stored in sorted(results, key=lambda s: s.kind == "compare"):  # its columns have tags
        by_name = columns_by_file.setdefault(str(stored.spec.get("dataset", "")), {})
        columns: Columns = stored.columns or ()
        if stored.kind == "synthetic":  # of several files, whose tags are left out
            columns = [replace(column, name=column.name.partition(":")[2]) for column in columns]
        if by_name and by_name.keys() != {column.name for column in columns}:
            continue  # another file of that name
        for column in columns:  # keep the one with a role, else the one with forms that have one
            previous = by_name.setdefault(column.name, column)
            if (column.covered, bool(column.forms)) > (previous.covered, bool(previous.forms)):
                by_name[column.name] = column
    return {name: list(by_name.values()) for name, by_name in columns_by_file.items() if by_name}


def unconsidered(dataset: str, columns: Columns) -> list[str]:
    """Return sentences on the columns of a file that no result considers; [] if there are none."""
    rest = [_with_role(c.name, c.role) for c in columns if not c.covered]
    if not rest:
        return []
    singular = "{n} column of {dataset} is not considered by any result here: {names}."
    plural = "{n} columns of {dataset} are not considered by any result here: {names}."
    values = {"dataset": escaping.cell(dataset), "names": _names(rest)}
    return [f"{counted(singular, plural, len(rest), **values)} {beyond()}"]


def beyond() -> str:
    """Return the sentence on what columns without a role mean for all numbers."""
    return said(
        "Someone who knows these columns, too, may single out more people than these numbers say."
    )


def riskiest(columns: Columns, frame: pl.DataFrame) -> list[ColumnRoles]:
    """Return the columns that have a rule, and the ``MOST_NAMED`` others that single out most.

    ``frame`` has the people whom columns without a rule single out (``SCHEMA``).
    """
    ranked = frame.sort("added", descending=True, nulls_last=True, maintain_order=True)
    left_out = set(ranked["column"].drop_nulls()[roles.MOST_NAMED :])
    return [column for column in columns if column.name not in left_out]


def table(columns: Columns, frame: pl.DataFrame | None) -> Table:
    """Return the table of the columns of a file: roles, and people that uncovered ones single out.

    The numbers are left out if they were not stored, labels if the file has none.
    """
    measured = {} if frame is None else {r["column"]: r for r in frame.iter_rows(named=True)}
    is_labelled = any(column.label for column in columns)
    heads = [said("column"), *([said("label")] if is_labelled else []), said("role")]
    width = len(heads)
    if measured:
        heads += [said("singled out with it"), said("share"), said("more than without")]
    listed = Table.of(heads, right=range(width, len(heads)))
    for column in columns:
        numbers = _people_cells(measured.get(column.name))
        label = [escaping.cell(column.label)] if is_labelled else []
        listed.add_row(escaping.cell(column.name), *label, role_words(column.role), *numbers)
    if None in measured:
        blanks = [""] * (width - 1)
        everything = said("(all columns without a rule)")
        listed.add_row(everything, *blanks, *_people_cells(measured[None]))
    return listed


def role_words(text: str) -> str:
    """Return the roles of a column in the current language."""
    labels = {
        roles.QID: said("quasi-identifier"),
        roles.SECRET: said("secret"),
        roles.KEY: said("key"),
        roles.WEIGHT: said("weight"),
        roles.GROUP: said("group"),
        roles.MEMBER: said("member"),
        roles.FILTER: said("filter"),
        roles.WAVE: said("wave"),
        roles.LINK: said("link"),
        roles.LEFT_OUT: said("left out"),
        roles.IN_NO_RULE: said("secret (in no rule)"),
        NOT_CONSIDERED: said("not considered"),
    }
    pieces = text.split(", ")
    if set(pieces) <= set(labels):
        return ", ".join(labels[piece] for piece in pieces)
    form = re.fullmatch(r"(.+?) \(only as (.+)\)", text, re.DOTALL)
    if form and form[1] in labels:
        return said("{role} (only as {names})", role=labels[form[1]], names=escaping.cell(form[2]))
    return escaping.cell(text)


def _measured_people(frame: pl.DataFrame) -> list[str]:
    """Return sentences on the people whom the columns single out, together and each alone.

    Further sentences name the columns that are not measured, and the reasons.
    """
    columns = frame.filter(pl.col("column").is_not_null())
    measured = columns.filter(pl.col("people").is_not_null()).height
    totals = frame.filter(pl.col("column").is_null()).iter_rows(named=True)
    sentences = [_joint_addition(row, measured) for row in totals]
    additions = columns.filter(pl.col("added") > 0)
    additions = additions.sort("added", descending=True, maintain_order=True)
    if columns.height > 1 and additions.height:
        message = (
            "Each column alone, together with the named quasi-identifiers, singles out: {numbers}."
        )
        greatest = additions.head(MOST_NUMBERS).select("column", "singled_out").rows()
        phrases = [f"{escaping.cell(name)} {words.count(n)}" for name, n in greatest]
        numbers = ", ".join(phrases) + _and_more(additions.height - MOST_NUMBERS)
        sentences.append(said(message, numbers=numbers))
    if everybody := additions.filter(pl.col("singled_out") == pl.col("people"))["column"].to_list():
        message = (
            "With {names} everybody is singled out: remove such a column, or name it as the "
            "key if it tells nobody who a person is."
        )
        sentences.append(said(message, names=_names(everybody)))
    return sentences + _unmeasured_columns(columns)


def _unmeasured_columns(columns: pl.DataFrame) -> list[str]:
    """Return sentences on the columns (rows of ``SCHEMA``) that are not measured, with reasons."""
    sentences = []
    if columns["reason"].eq(IGNORED).any():
        message = (
            'The policy ignores them (unnamed = "ignore"): whom they single out is not measured.'
        )
        sentences.append(said(message))
    if columns["reason"].eq(OF_NOBODY).any():
        message = (
            "The records of a synthetic release are nobody's, so nobody is singled out here. Who "
            "knows these columns of people, too, may learn more than the rules measure."
        )
        sentences.append(said(message))
    stated = pl.col("reason").is_in([IGNORED, OF_NOBODY])
    unmeasured = columns.filter(~stated).select("column", "reason")  # NULL: measured
    if unmeasured.height:
        names = [f"{name} ({_reason(why)})" for name, why in unmeasured.rows()]
        sentences.append(said("Not measured: {names}.", names=_names(names)))
    return sentences


def _joint_addition(row: dict[str, int], columns: int) -> str:
    """Return a sentence on the people whom all uncovered columns, a number, single out together."""
    if not row["added"]:
        singular = "Together with the named quasi-identifiers, it singles out nobody else."
        plural = "Together with the named quasi-identifiers, they single out nobody else."
        return counted(singular, plural, columns)
    singular = (
        "Together with the named quasi-identifiers, it would single out {share} {people} "
        "({alone} of {all}); without it {before}."
    )
    plural = (
        "Together with the named quasi-identifiers, they would single out {share} {people} "
        "({alone} of {all}); without them {before}."
    )
    values = {
        "share": words.frequency(row["singled_out"] / row["people"]),
        "people": words.people(),
        "alone": words.count(row["singled_out"]),
        "all": words.count(row["people"]),
        "before": words.count(row["singled_out"] - row["added"]),
    }
    return counted(singular, plural, columns, **values)


def _names(names: Sequence[str]) -> str:
    """Return names for a sentence; of very many, only the first and the number of the rest."""
    cells = [escaping.cell(name) for name in names[: roles.MOST_NAMED]]
    return ", ".join(cells) + _and_more(len(names) - roles.MOST_NAMED)


def _and_more(n: int) -> str:
    if n <= 0:
        return ""
    singular = ", and {n} more, which is in the table of columns"
    return counted(singular, ", and {n} more, which are in the table of columns", n)


def _with_role(name: str, text: str) -> str:
    return name if text == NOT_CONSIDERED else f"{name} ({role_words(text)})"


def _reason(why: str) -> str:
    """Return in words why a column is not measured."""
    if why.startswith("nested"):
        return said("nested ({kind})", kind=why.removeprefix("nested (").removesuffix(")"))
    reasons = {
        NAMELESS: said("it has no name"),
        ELSEWHERE: said("the quasi-identifiers are in another file"),
    }
    return reasons.get(why, why)


def _people_cells(row: dict[str, int] | None) -> tuple[str, ...]:
    """Return the cells of people singled out: number, share, number of those added."""
    if row is None:
        return ()
    if row["people"] is None:
        return (said("not measured"),)
    share = words.percent(row["singled_out"] / row["people"])
    return words.count(row["singled_out"]), share, words.count(row["added"])
