"""The columns of a dataset as people read them."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.commands.describe.guesses import (
    BINARY,
    BODY_WEIGHT,
    CODED,
    CONFIDENCE,
    CONSTANT,
    COPY,
    DATED,
    DOCUMENT,
    EMPTY,
    EVENT,
    ITEM,
    MEASURED,
    NAMES,
    NESTED,
    PRODUCT,
    UNIQUE,
    UNKNOWN,
)
from qifsql.presentation import escaping, words
from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.presentation.table_columns import table_of_frame
from qifsql.results.kinds import Kind

KIND = Kind(columns=("column", "missing", "distinct"))
ROLES = (
    *("quasi-identifier", "secret", "key", "identifier", "household", "weight", "time", "other"),
    *("constant", "nested"),
)
REASONS = (  # of roles that ``describe`` suggests
    *("name: weight", "name: household", "name: identifying number", "name: name or address"),
    *("name: health", "name: sexual life", "name: belief", "name: offences", "name: money"),
    *("name: benefits", "name: results and scores", "name: outcome", "name: opinion"),
    *("name: court record", "name: place", "name: age", "name: sex", "name: origin"),
    *("name: family", "name: education", "name: work", "name: housing", "name: possessions"),
    *("name: body", "name: time", "name: number of events", "name: interview or processing"),
    *("name: administration of the data", "name: everyday life", "values: health"),
    *("values: sexual life", "values: belief", "values: offences", "values: money"),
    *("values: benefits", "values: results and scores"),
    *("values: place", "values: age", "values: sex", "values: origin", "values: family"),
    *("values: education", "values: work", "values: housing", "values: body"),
    *(NESTED, CONSTANT, EMPTY, UNIQUE, DATED, MEASURED, BINARY, ITEM, CODED, UNKNOWN, NAMES),
    *(DOCUMENT, BODY_WEIGHT, PRODUCT, EVENT, COPY),
)
QIDS, SECRETS = 12, 3
"""The number of quasi-identifiers and secrets that are taken at first, if none are clear."""
MOST_QIDS, MOST_SECRETS = 24, 40
"""The greatest number of clear ones that are taken, beside quasi-identifiers that are sure."""
LEAST_MEDIUM = 8
"""The number of quasi-identifiers that are not quite sure, beside many that are."""
DOUBTFUL_SECRETS = 20
"""The number of secrets up to which doubtful ones that may be sensitive are taken."""
FEWEST = 5
"""The number of records from which on a doubtful secret is taken, or half of all records."""
SENSITIVE = ("health", "sexual life", "belief", "offences", "money", "results and scores")
"""Subjects of which a doubtful column is taken, too."""
MAYBE_SENSITIVE = (
    *(f"{evidence}: {subject}" for evidence in ("name", "values") for subject in SENSITIVE),
    *(MEASURED, BINARY, CODED),
)
"""Reasons of doubtful secrets that may be sensitive: a question in plain words would say so."""
LIKE_NAMES = NAMES


def parts(data: pl.DataFrame, tables: Tables, _spec: Spec) -> list[Part]:
    """Return the columns of a dataset, their suggested roles, and their frequent values."""
    content: list[Part] = [_counts(data), Heading(said("Suggested roles"), 2), roles(data)]
    content.append(Paragraph(_meaning()))
    return [*content, table_of_frame(tables["values"])] if "values" in tables else content


def _counts(data: pl.DataFrame) -> Table:
    """Return the counts of each column."""
    heads = [said("column"), said("type"), said("missing"), said("distinct")]
    heads += [said("entropy (bits)"), said("singled out")]
    table = Table.of(heads, right=(2, 3, 4, 5))
    for row in data.iter_rows(named=True):
        numbers = ["", "", "", ""]
        if row["records"] is not None:
            numbers = [
                words.count(row["missing"]),
                words.count(row["distinct"]),
                number(f"{row['entropy']:.2f}"),
                words.percent(row["singled_out_share"]),
            ]
        table.add_row(escaping.cell(row["column"]), row["type"], *numbers)
    return table


def roles(data: pl.DataFrame) -> Table:
    """Return the roles with their reasons, each role in the order of its ranks."""
    heads = [said("column"), said("role?"), said("confidence"), said("why")]
    is_labelled = "label" in data.columns and data["label"].is_not_null().any()
    table = Table.of([*heads, *([said("label")] if is_labelled else [])])
    for role in ROLES:
        for row in ranked(data.to_dicts(), role):
            label = [escaping.cell(row["label"] or "")] if is_labelled else []
            table.add_row(escaping.cell(row["column"]), *suggestion(row), *label)
    return table


def suggestion(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the suggested role of a column, its confidence and its reason, in words."""
    role_words = {role: said(role) for role in ROLES}
    sure = {confidence: said(confidence) for confidence in CONFIDENCE}
    reasons = {reason: said(reason) for reason in REASONS}
    why = row["why"] or ""
    return role_words[row["suggested_role"]], sure.get(row["confidence"], ""), reasons.get(why, why)


def reasoned(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Return names of columns in one line, each with the reason of its role."""
    reasons = {row["column"]: suggestion(row)[2] for row in rows}
    return ", ".join(f"{name} ({reasons[name]})" if name in reasons else name for name in names)


def _meaning() -> str:
    return said(
        "Roles are guessed from names, types and counts: look at them. Quasi-identifiers come by "
        "risk, secrets by how sensitive they are."
    )


def ranked(rows: Sequence[Mapping[str, Any]], role: str) -> list[Mapping[str, Any]]:
    """Return the columns of a role, the riskiest or most sensitive first."""
    members = [row for row in rows if row["suggested_role"] == role]
    return sorted(members, key=lambda row: row["rank"] or 0)


def proposal(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the names of the quasi-identifiers and secrets to begin with.

    ``rows`` are those of ``describe``. All quasi-identifiers are taken whose role is sure (of high
    confidence) and that 1 of 10 records has; then others that are not doubtful, those that 1 of 10
    records has first, up to ``MOST_QIDS`` in all, but ``LEAST_MEDIUM`` in any case; then doubtful
    ones (low), up to ``QIDS`` in all.
    """
    usable = [row for row in rows if row["why"] not in (PRODUCT, COPY)]
    qids = ranked(usable, "quasi-identifier")
    low = [row for row in qids if row["confidence"] == "low"]
    high = [row for row in qids if row["confidence"] == "high" and _is_reported(row, of=10)]
    others = [row for row in qids if row not in high and row not in low]
    medium = sorted(others, key=lambda row: _is_reported(row, of=10), reverse=True)
    clear = [*high, *medium[: max(LEAST_MEDIUM, MOST_QIDS - len(high))]]
    taken = [*clear, *low[: max(0, QIDS - len(clear))]]
    visible = [row for row in qids if row in taken]
    hidden = _proposed_secrets(ranked(usable, "secret"))
    return [row["column"] for row in visible], [row["column"] for row in hidden]


def _proposed_secrets(secrets: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the secrets to begin with: those of high or medium confidence, of different subjects.

    If they are fewer than ``DOUBTFUL_SECRETS``, some of low confidence that may be sensitive are
    added. If there are none of either, the first of low confidence are taken.
    """
    reported = [row for row in secrets if _is_reported(row, of=100)]
    clear = _by_turns([row for row in reported if row["confidence"] != "low"])[:MOST_SECRETS]
    # Of low confidence: those that enough records have.
    low = [
        row
        for row in reported
        if row["confidence"] == "low"
        and row["records"] - row["missing"] >= min(FEWEST, row["records"] / 2)
    ]
    doubtful = [row for row in low if row["why"] in MAYBE_SENSITIVE]
    taken = [*clear, *doubtful[: max(0, DOUBTFUL_SECRETS - len(clear))]]
    return sorted(taken, key=lambda row: row["rank"]) or low[:SECRETS]


def _by_turns(secrets: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the secrets by turns: the first of each subject, then the second ones, and so on."""
    turns, places = Counter[str](), {}
    for row in secrets:
        subject = row["why"].removeprefix("name: ").removeprefix("values: ")
        places[row["column"]] = turns[subject]
        turns[subject] += 1
    return sorted(secrets, key=lambda row: (places[row["column"]], row["rank"]))


def _is_reported(row: Mapping[str, Any], *, of: int) -> bool:
    """Return whether at least 1 ``of`` so many records has a value in a column."""
    return bool(of * (row["records"] - row["missing"]) >= row["records"])


def command(
    rows: Sequence[Mapping[str, Any]],
    arguments: Sequence[str],
    person: str | None,
    household: str | None,
) -> str | None:
    """Return the attack on the suggested roles as a command line; None without any to know.

    ``arguments`` are the file and how it is read; ``person`` is the column of people with several
    records, ``household`` that of people who live together.
    """
    qids, secrets = proposal(rows)
    if not qids:
        return None
    models = "crs,cas" if secrets else "crs"
    names = ",".join(map(field, qids))
    options = [word for name in secrets for word in ("--secret", field(name))]
    options += [] if person is None else ["--person", person]
    options += [] if household is None else ["--household", household]
    return shlex.join(["qifsql", "attack", models, *arguments, "--qids", names, *options])


def field(name: str) -> str:
    """Return a name as it stands in a list of names."""
    quote = not name or any(c in name for c in ',"\n\r') or name != name.strip()
    return '"' + name.replace('"', '""') + '"' if quote else name
