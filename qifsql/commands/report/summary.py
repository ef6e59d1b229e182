"""The first page of a report: the risk before and after the release, and what to do."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from qifsql.commands.check import result as verdicts
from qifsql.commands.check import view
from qifsql.presentation import uncovered, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Card, Cards, Light, Paragraph, Part
from qifsql.results.stored import Stored

Row = Mapping[str, Any]
SUCCESS = (
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic"),
)


def summary(results: Sequence[Stored]) -> list[Part]:
    """Return the greatest risk of each question, the user's policy, and what to do first."""
    compared = [row for stored in results for row in _compared(stored)]
    rows = [*worst(results), *compared]
    parts: list[Part] = []
    several = _several(results) or len({row["dataset"] for row in rows}) > 1
    if rows:
        whose = [row for row in compared if row["secret"] is None and row is not rows[0]]
        for row in (rows[0], *whose):
            text = lead(row)
            parts.append(Paragraph(_of(row, text) if several else text, strong=True))
        cards = [card(row) for row in rows]
        if several:
            cards = [replace(c, what=_of(row, c.what)) for row, c in zip(rows, cards, strict=True)]
        parts.append(Cards(cards))
    elif not any(s.kind == "check" for s in results):  # a verdict has other numbers
        parts.append(
            Paragraph(said("There is no attack on everybody here, so no risk is summed up."))
        )
    checks = [s for s in results if s.kind == "check"]
    parts += [_light(check) for check in checks]
    if not checks:
        message = "No policy was given, so nothing is called safe or unsafe here."
        parts.append(Paragraph(said(message)))
    parts += _unconsidered(results)
    if rows:
        parts.append(Paragraph(do_first(results, rows), strong=True))
    return parts


def worst(results: Sequence[Stored]) -> list[Row]:
    """Return the row with the greatest success for each question: the record, each secret."""
    rows: dict[tuple[str, str | None], Row] = {}
    answers = [row for stored in results for row in _answered(stored)]
    for row in (*answers, *(row for stored in results for row in _attacked(stored))):
        key = (row["model"][1], row["secret"])
        if key not in rows or _rank(row) > _rank(rows[key]):
            rows[key] = row
    return sorted(rows.values(), key=lambda row: (row["secret"] is not None, row["secret"] or ""))


def _attacked(stored: Stored) -> Iterator[Row]:
    """Yield the rows of attacks on everybody, each with its dataset."""
    frame = stored.frame
    if stored.kind not in ("attack", "sweep") or frame.is_empty():
        return
    if {"target", "sampled"} & set(frame.columns):  # one person, estimates
        return
    if "knowledge" in frame.columns:  # only for comparison: nobody knows the key
        frame = frame.filter(pl.col("knowledge") != "with the key")
    keys = ["posterior_probabilistic", "posterior_deterministic", "n_qids"]
    for row in frame.sort(keys, descending=[True, True, False]).iter_rows(named=True):
        if row.get("gain") in (None, "identity"):
            yield row | {"dataset": str(stored.spec.get("dataset", ""))}


def _answered(stored: Stored) -> list[Row]:
    """Return the attacks that answer the questions of ``wp29``, as rows of attacks."""
    if stored.kind != "wp29" or not stored.is_known:
        return []
    rows = stored.frame.filter(pl.col("measure").is_in(["singled_out", "certain"]))
    return [
        _success(stored, row["model"], row["secret"])
        | {
            "prior_deterministic": row["prior"],
            "posterior_deterministic": row["value"],
            "prior_probabilistic": row["expected_prior"],
            "posterior_probabilistic": row["expected"],
        }
        for row in rows.iter_rows(named=True)
    ]


def _compared(stored: Stored) -> list[Row]:
    """Return the risk of each compared file, or of a file before its changes (``what-if``)."""
    if stored.kind not in ("compare", "what-if") or not stored.is_known:
        return []
    frame = stored.frame
    if stored.kind == "what-if":
        frame = frame.filter(pl.col("release") == "before")
    rows: dict[tuple[str, str, str | None], Row] = {}
    for row in frame.iter_rows(named=True):
        file = row["release"] if stored.kind == "compare" else str(stored.spec.get("dataset", ""))
        for model, secret in (("crs", None), ("cas", row["secret"])):
            if row[f"{model}_posterior_probabilistic"] is None:
                continue
            success = {name: row[f"{model}_{name}"] for name in SUCCESS}
            about = _success(stored, model.upper(), secret) | {"dataset": file}
            rows.setdefault((file, model, secret), about | success)
    return list(rows.values())


def _success(stored: Stored, model: str, secret: str | None) -> dict[str, Any]:
    qids = [q for q in stored.spec.get("qids", ()) if not re.match(r"[2-9]\d*:", q)]
    about = {"model": model, "secret": secret, "qids": qids, "n_qids": len(qids)}
    return about | {"dataset": str(stored.spec.get("dataset", ""))}


def _several(results: Sequence[Stored]) -> bool:
    """Return whether attacks and sweeps are about several datasets."""
    about = (s for s in results if s.kind in ("attack", "sweep"))
    return len({str(s.spec.get("dataset", "")) for s in about}) > 1


def _of(row: Row, text: str) -> str:
    """Return a text after the name of its dataset."""
    return f"{row['dataset']}: {text}" if row["dataset"] else text


def lead(row: Row) -> str:
    """Return the certain success of an attack in one sentence, with natural frequencies."""
    share, qids = words.frequency(row["posterior_deterministic"]), words.listed(row["qids"])
    values = {"share": share, "people": words.people(), "qids": qids}
    if row["secret"] is None and row["model"][1] == "R":
        message = "{share} {people} can be singled out by someone who knows their {qids}."
    elif row["model"][1] == "M":
        message = (
            "Of {share} {people} someone who knows their {qids} can tell whether they are in it."
        )
    else:
        values["secret"] = row["secret"]
        message = "Of {share} {people} someone who knows their {qids} can tell the {secret}."
    text = said(message, **values)
    return text[0].upper() + text[1:]


def card(row: Row) -> Card:
    """Return the card of one risk."""
    before, after = row["prior_probabilistic"], row["posterior_probabilistic"]
    meaning = said("{people} for whom this is known with certainty", people=words.people())
    if row["secret"] is None:
        meaning = said("{people} can be singled out", people=words.people())
    share = words.frequency(row["posterior_deterministic"])
    return Card(
        words.goal(row),
        share[0].upper() + share[1:],
        meaning,
        (said("guessed right before the release: {chance}", chance=words.chance(before)), before),
        (said("guessed right after it: {chance}", chance=words.chance(after)), after),
        said("Mostly the base rate: the release adds little to a guess.")
        if words.base_rate(row)
        else "",
    )


def do_first(results: Sequence[Stored], rows: Sequence[Row]) -> str:
    """Return the advice on what to do first, from a sweep; else the advice to run one."""
    for stored in results:
        table = stored.details.get("drop_first")
        if stored.kind != "sweep" or table is None or table.is_empty():
            continue
        first = table.sort(pl.col("secret").is_not_null(), maintain_order=True).row(0, named=True)
        if first["saved"] <= 0:
            return said(
                "What to do first: no single quasi-identifier helps when it is dropped; coarsen "
                "several, or publish fewer records."
            )
        goal = said("whose record it is") if first["secret"] is None else first["secret"]
        without, after = words.compared(first["posterior_without"], first["posterior_all"])
        text = said(
            "What to do first: drop or coarsen {qid}. Right guesses at {goal}: {after} with it, "
            "{without} without it.",
            **{"qid": first["qid"], "goal": goal, "without": without, "after": after},
        )
        dataset = str(stored.spec.get("dataset", ""))
        return _of({"dataset": dataset}, text) if _several(results) else text
    if rows and not any(
        row["posterior_probabilistic"] > row["prior_probabilistic"] for row in rows
    ):
        return said("What to do first: nothing; the release tells no more than was known before.")
    return said("What to do first: run qifsql sweep to learn which columns to drop or coarsen.")


def _light(check: Stored) -> Light:
    """Return the verdict of a policy on a file, with its caveats."""
    levels, broken = check.frame.height, int((~check.frame["met"]).sum())
    columns, table = check.columns, check.details.get("uncovered")
    caveats = uncovered.caveats(check.spec, columns, table)
    refused = verdicts.refused(str(check.spec.get("unnamed")), columns or ())
    if broken:
        message = "Your policy is not met. Levels not met: {n} of {levels}."
        text = said(message, n=words.count(broken), levels=words.count(levels))
    elif refused:
        one = "Your policy is not met: it refuses {n} column that is in no rule."
        many = "Your policy is not met: it refuses {n} columns that are in no rule."
        text = counted(one, many, len(refused))
    elif caveats:
        one = "Your policy is met for the columns named: {n} level."
        many = "Your policy is met for the columns named: all {n} levels."
        text = counted(one, many, levels)
    else:
        one, many = "Your policy is met: {n} level.", "Your policy is met: all {n} levels."
        text = counted(one, many, levels)
    text = f"{text} ({view.checked(check.spec)})"
    return Light(text, met=not broken and not refused, caveats=tuple(caveats))


def _unconsidered(results: Sequence[Stored]) -> list[Part]:
    """Return the columns that no result considers, for each file without a check."""
    checked = {s.spec.get("dataset") for s in results if s.kind == "check"}
    parts: list[Part] = []
    for name, columns in uncovered.of_results(results).items():
        if name not in checked:
            parts += [Paragraph(text) for text in uncovered.unconsidered(name, columns)]
    return parts


def _rank(row: Row) -> tuple[float, float, int]:
    """Return the rank of a row: the greatest success, then the fewest quasi-identifiers."""
    return row["posterior_probabilistic"], row["posterior_deterministic"], -row["n_qids"]
