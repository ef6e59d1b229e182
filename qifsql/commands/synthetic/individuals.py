"""Groups of people, and each person of the original, as a release sees them."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.counting import coded as codes
from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files
from qifsql.counting.counted import disclosure, overlap_counts, right_guesses, rows_of
from qifsql.engine.tables import Tables
from qifsql.measures import release_measures as measures
from qifsql.measures.intervals import newcombe, wilson
from qifsql.query import microdata_steps
from qifsql.query.columns import equal, named, number, union
from qifsql.query.plan import Plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice
from qifsql.results.storage import Origin, stream

GROUPS: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    "secret": pl.String(),
    "group": pl.String(),
    "people": pl.Int64(),
    "control": pl.Int64(),
    **dict.fromkeys(("UiO", "UiOiS", "repU", "iS"), pl.Float64()),
    **dict.fromkeys(("Dorig", "DiS", "DiSCO", "DiSDiO", "TCAP"), pl.Float64()),
    **dict.fromkeys(("right_when_certain", "success_original"), pl.Float64()),
    **dict.fromkeys(("success_original_low", "success_original_high"), pl.Float64()),
    **dict.fromkeys(("prior_original", "success_control", "success_control_low"), pl.Float64()),
    **dict.fromkeys(("success_control_high", "prior_control", "individual_leak"), pl.Float64()),
    **dict.fromkeys(("individual_leak_low", "individual_leak_high"), pl.Float64()),
}
"""One row per release, secret and group: the measures of its people, as in the result.

``group`` is a value of the column ``by`` (NULL: missing), ``people`` and ``control`` are the
people of the original and of the control who have it. Who is alone, and what the best guess is, is
decided by all people and records."""


def measure_groups(
    tables: Tables, coded: Coded, files: Files, *, secret: int, release: int, modal_count: int
) -> list[dict[str, Any]]:
    """Return a row of ``GROUPS``, without the name of the release, for each group with people.

    A group are the people with one value of the column ``by``. ``secret`` and ``release`` are
    numbers (secret 0: none); ``modal_count`` is how many values of the secret are the most frequent
    in the release. The table ``verdicts_SECRET_RELEASE``, what the release says about each
    combination of quasi-identifiers, must exist.
    """
    table = {"verdicts": f"verdicts_{secret}_{release}", "coded": f"secret_coded_{secret}"}
    view, numbers = "synthetic/secret_coded", {} if secret else {"secret": 0}
    query = splice(view, words=coded.words, secret=secret or None, numbers=numbers)
    tables.make(f"secret_coded_{secret}", query)
    # Counts of people and control, a row per group and number of equally good best guesses.
    counts = rows_of(splice("synthetic/groups", words=coded.words, tables=table), tables)
    group_priors = rows_of(splice("synthetic/group_priors", tables=table), tables)
    priors = {row["member"]: row for row in group_priors}
    # The values of ``by``, the column after the secrets, by the code that stands for them.
    dictionary = f"dictionary_{len(files.qids) + len(files.secrets) + 1}"
    text = exp.cast(exp.column("value"), "VARCHAR")
    groups = tables.rows(exp.select("code", text).from_(exp.table_(dictionary)).order_by("code"))
    tables.drop(f"secret_coded_{secret}")
    rows = []
    for code, name in groups:
        group_counts = [row for row in counts if row["member"] == code]
        people, control = (sum(row[n] for row in group_counts) for n in ("people", "control"))
        if not people:
            continue
        row: dict[str, Any] = {"file": release, "group": name, "people": people, "control": control}
        row["secret"] = files.secrets[secret - 1] if secret else None
        shares = [m for m in measures.overlap(overlap_counts(group_counts)) if m.name in GROUPS]
        if secret:
            shares += measures.disclosure(disclosure(group_counts))
            prior = priors[code]  # people with the most frequent value of the secret
            right = right_guesses(group_counts, "correct", modal_count)
            row |= _success("original", right, people, prior["original"])
            if control:
                control_right = right_guesses(group_counts, "control_correct", modal_count)
                row |= _success("control", control_right, control, prior["control"])
                row["individual_leak"] = float(right / people - control_right / control)
                ends = newcombe(float(right), people, float(control_right), control)
                row["individual_leak_low"], row["individual_leak_high"] = ends
        rows.append(row | {measure.name: measure.value for measure in shares})
    return rows


def _success(file: str, right: Fraction, people: int, prior: int) -> dict[str, float]:
    """Return the columns of success on people of a file, of whom ``right`` are guessed right."""
    low, high = wilson(float(right), people)
    success = f"success_{file}"
    columns = {success: float(right / people), f"{success}_low": low, f"{success}_high": high}
    return columns | {f"prior_{file}": prior / people}


def write_records(
    tables: Tables, coded: Coded, files: Files, path: Path, *, titles: Mapping[int, str],
    modal_counts: Mapping[tuple[int, int], int], origin: Origin,
) -> int:  # fmt: skip
    """Write a row per person of the original and release; return the number of rows.

    ``titles`` are by release; ``modal_counts`` says how many values are most frequent in each.
    """
    tables.make("placed", _codes_of_records(coded, files), "finding records")
    queries = [
        _rows_of_release(coded, files, release, titles[release], modal_counts)
        for release in coded.releases
    ]
    is_pooled = equal(exp.column("file"), number(codes.POOLED_RELEASE))  # it comes last
    rows = exp.select("*").from_(union(queries).subquery("spoken"))
    rows = rows.order_by(exp.column("record"), is_pooled, exp.column("file"))
    origin = origin.sending(dict.fromkeys(tables.statements))
    return stream(tables.engine, Plan((), rows), path, origin, what="writing records")


def _codes_of_records(coded: Coded, files: Files) -> Plan:
    """Return the plan of the original in codes: a row per record, by its position in the input.

    A row has the codes of its quasi-identifiers, packed into words, and those of its secrets.
    """
    qids, secrets = len(files.qids), len(files.secrets)
    # Secrets are coded as further quasi-identifiers.
    alike = replace(
        files.original.coded_microdata, qids=files.original.attributes[: qids + secrets]
    )
    shape: dict[str, Shape] = {
        "words": codes.fields_of_words(coded.fields),
        "secrets": range(qids + 1, qids + secrets + 1),
        "attributes": qids + secrets,
    }
    query = splice("synthetic/coded_originals", shape=shape)
    return microdata_steps.plan(alike, [microdata_steps.everybody(alike)], query)


def _rows_of_release(
    coded: Coded, files: Files, release: int, title: str,
    modal_counts: Mapping[tuple[int, int], int],
) -> exp.Select:  # fmt: skip
    """Return the query of what a release says about each person of the original, a row each.

    Columns are the person's ``record``, how many people and records are like them, and of each
    secret whether it is certain, disclosed, and how probable the right guess is.
    """
    secrets = range(1, len(files.secrets) + 1)
    query = splice(
        "synthetic/spoken",
        tables={f"verdicts_{j}": f"verdicts_{j}_{release}" for j in secrets or (0,)},
        numbers={f"modal_{j}": modal_counts[j, release] for j in secrets},
        shape={"words": range(1, coded.words + 1), "secrets": secrets},
    )
    columns: list[tuple[exp.Expr, str]] = [
        (exp.column("record"), "record"),
        (exp.Literal.string(title), "release"),
        (number(release), "file"),
    ]
    of_person = ("block_size", "records_alike", "replicated_unique")
    columns += [(exp.column(name), name) for name in of_person]
    for j, secret in enumerate(files.secrets, 1):
        of_secret = ("certain", "disclosed", "success")
        columns += [(exp.column(f"{name}_{j}"), f"{name}_{secret}") for name in of_secret]
    return exp.select(*named(columns)).from_(query.subquery("spoken"))
