"""The first page of a report: the risk before and after the release, and what to do."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from qifsql.commands.check import result as verdicts
from qifsql.commands.check import view
from qifsql.data.types import Row
from qifsql.presentation import details, escaping, words
from qifsql.presentation.language import counted, counting, said
from qifsql.presentation.parts import Box, Card, Cards, Light, Paragraph, Part
from qifsql.results import uncovered
from qifsql.results.assessment import readings, without_beliefs
from qifsql.results.kinds import view_of
from qifsql.results.stored import Stored

MOST_CARDS = 6  # risks on the first page
MOST_STEPS = 3  # lines on what to do first
STUDIES = ("run", "start")  # results that repeat those of attacks and sweeps
SUCCESS = (
    "prior_deterministic",
    "posterior_deterministic",
    "prior_probabilistic",
    "posterior_probabilistic",
)


def summary(results: Sequence[Stored], texts: Sequence[str] = (), withheld: str = "") -> list[Part]:
    """Return the greatest risk of each question, the policy, what to do first, and the limits.

    ``texts`` are shown where no result has a risk with a card. ``withheld`` is the line on what
    the report leaves out.
    """
    rows = risks(results)
    checks = [s for s in results if s.kind == "check"]
    parts: list[Part] = [Paragraph(text, strong=True) for text in _names_of_people(results)]
    if rows:
        parts += _risk_parts(results, rows)
    else:
        parts += [Paragraph(text, strong=i == 0) for i, text in enumerate(texts)]
        if not texts and not checks:
            message = "The numbers are in the annexes; none is about an attack on everybody."
            parts.append(Paragraph(said(message)))
    parts += [policy_verdict(check) for check in checks]
    if not checks:
        message = "No policy was given, so nothing is called safe or unsafe here."
        parts.append(Paragraph(said(message)))
    if rows:
        parts.append(Box(said("What to do first"), first_steps(results, rows)))
    return [*parts, Box(said("What it does not say"), limits(results, rows, withheld))]


def _risk_parts(results: Sequence[Stored], rows: Sequence[Row]) -> list[Part]:
    """Return the sentences that lead a summary, and a card for each of the first risks."""
    with_file = _of_several_files(results) or len({row["dataset"] for row in rows}) > 1
    # the greatest risk, and that of each other file with the same goal and secret
    goal, secret = _goal_letter(rows[0]), rows[0]["secret"]
    leading = [row for row in rows if _goal_letter(row) == goal and row["secret"] == secret]
    with counting({"repeated": any(s.spec.get("repeated") for s in results)}):
        leads = [_after_dataset(row, lead(row)) if with_file else lead(row) for row in leading]
        cards = _cards(results, rows, with_file=with_file)
        sure = _sure_claims(results, rows[:MOST_CARDS], with_file=with_file)
    parts: list[Part] = [Paragraph(text, strong=True) for text in leads]
    parts += map(Paragraph, (*sure, *_repeated_people(results)))
    parts.append(Cards(cards))
    if len(rows) > MOST_CARDS:
        singular = "{n} more risk is in the annexes."
        plural = "{n} more risks are in the annexes."
        parts.append(Paragraph(counted(singular, plural, len(rows) - MOST_CARDS)))
    return parts


def _cards(results: Sequence[Stored], rows: Sequence[Row], *, with_file: bool) -> list[Card]:
    """Return the cards of the first risks; a title says what is known, if risks differ in it."""
    with_knowledge = len({tuple(sorted(row["qids"])) for row in rows}) > 1
    left_out_names = _left_out_names(results)
    cards = []
    for row in rows[:MOST_CARDS]:
        risk = card(row)
        pieces = [risk.what]
        if with_knowledge:
            pieces.append(said("knowing {qids}", qids=words.listed(row["qids"])))
        if columns := [c for file, c in left_out_names if row["dataset"] in (file, "")]:
            pieces.append(said("without {columns}", columns=words.listed(columns)))
        title = ", ".join(pieces)
        cards.append(replace(risk, what=_after_dataset(row, title) if with_file else title))
    return cards


def _sure_claims(results: Sequence[Stored], rows: Sequence[Row], *, with_file: bool) -> list[str]:
    """Return a sentence on whom a sure adversary names, of each row for which it is known."""
    texts = []
    for row in rows:
        about = [s for s in results if str(s.spec.get("dataset", "")) == row["dataset"]]
        sentences = [text for s in about for text in details.sure_of(row, s.details)]
        for text in sentences[:1]:
            about_goal = f"{words.goal(row)}: {text}" if len(rows) > 1 else text
            texts.append(_after_dataset(row, about_goal) if with_file else about_goal)
    return texts


def _repeated_people(results: Sequence[Stored]) -> list[str]:
    """Return a sentence on each column of people if some have several records (``repeated``)."""
    texts: dict[str, None] = {}
    for stored in results:
        for column, counts in (stored.spec.get("repeated") or {}).items():
            message = "Records are counted, not people: some people of {column} have several."
            values = {"column": column}
            if counts["records"]:
                message = (
                    "Records are counted, not people: {column} has {values} values in {records} "
                    "records."
                )
                values |= {name: words.count(counts[name]) for name in ("values", "records")}
            texts[said(message, **values)] = None
    return list(texts)


def _names_of_people(results: Sequence[Stored]) -> list[str]:
    """Return a sentence on each column of names of people that the numbers leave out."""
    with_file, texts = _of_several_files(results), []
    for (file, column), counts in _left_out_names(results).items():
        message = "{column} looks like names of people"
        values = {"column": escaping.cell(column)}
        if counts["records"]:
            message = (
                "{column} looks like names of people, with {values} values in {records} records"
            )
            values |= {name: words.count(counts[name]) for name in ("values", "records")}
        remedy = said("Remove it before you publish: the numbers here leave it out.")
        text = f"{said(message, **values)}. {remedy}"
        texts.append(f"{escaping.cell(file)}: {text}" if with_file else text)
    return texts


def _left_out_names(results: Sequence[Stored]) -> dict[tuple[str, str], Row]:
    """Return the values and records of each column of names that no result uses, with its file."""
    used = {
        (file, column.name)
        for file, columns in uncovered.of_results(results).items()
        for column in columns
        if column.covered
    }
    named = {
        (str(stored.spec.get("dataset", "")), name): counts
        for stored in results
        for name, counts in (stored.spec.get("names") or {}).items()
    }
    return {column: counts for column, counts in named.items() if column not in used}


def headlines(results: Sequence[Stored]) -> list[str]:
    """Return a sentence or two on each result whose numbers are on no card."""
    with_file = len({str(s.spec.get("dataset", "")) for s in results}) > 1
    texts: dict[str, None] = {}
    for stored in results:
        headline = getattr(view_of(stored.kind), "headline", None)
        if headline is None:
            continue
        dataset = str(stored.spec.get("dataset") or "")
        with counting(stored.spec):
            sentences = headline(stored)
        for text in sentences:
            texts[_after_dataset({"dataset": dataset}, text) if with_file else text] = None
    return list(texts)


def risks(results: Sequence[Stored]) -> list[Row]:
    """Return the risks with a card: the greatest of each question, then those of all files."""
    rows: list[Row] = []
    for row in (*worst(results), *(row for stored in results for row in _file_risks(stored))):
        if all(_question(row) != _question(earlier) for earlier in rows):
            rows.append(row)
    return rows


def _question(row: Row) -> tuple[object, ...]:
    return row["dataset"], _goal_letter(row), row["secret"], tuple(sorted(row["qids"]))


def _goal_letter(row: Row) -> str:
    """Return the letter of the goal: R (re-identification), A (inference) or M (membership)."""
    return str(row["model"][1])


def limits(results: Sequence[Stored], rows: Sequence[Row], withheld: str) -> list[str]:
    """Return what the numbers do not say, in a few sentences.

    Columns of a file that was checked are left out: they are with its verdict.
    """
    checked = {stored.spec.get("dataset") for stored in results if stored.kind == "check"}
    sentences = []
    for name, columns in uncovered.of_results(results).items():
        sentences += [] if name in checked else uncovered.unconsidered(name, columns)
    sentences += [
        said(
            "The numbers are about this release and what was attacked. Someone who knows more "
            "about people, or has another release about them, learns more, never less."
        )
    ]
    if rows:
        sentences.append(
            said(
                "An average hides the worst case: some people are much easier to find than "
                "others, and so are some groups."
            )
        )
    if not any(s.kind == "estimate" for s in results):
        sentences.append(
            said(
                "If the file is a sample, someone who is alone in it need not be alone in the "
                "whole population; that was not estimated."
            )
        )
    return [*sentences, *filter(None, [withheld])]


def worst(results: Sequence[Stored]) -> list[Row]:
    """Return the row of greatest success for each question, a goal and a secret (None: the record).

    Of equal successes, that with the fewest quasi-identifiers counts. Rows have the columns of
    attacks, and ``dataset``. Questions without a secret come first.
    """
    rows = [row for stored in results for row in _answers_of_wp29(stored)]
    for stored in results:
        if stored.kind not in STUDIES or not shown_by_others(stored, results):
            rows += _attack_rows(stored)
    by_question: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        by_question.setdefault((_goal_letter(row), row["secret"]), []).append(row)
    success = ("posterior_probabilistic", "posterior_deterministic")
    greatest = [
        max(alike, key=lambda r: (*(r[name] for name in success), -r["n_qids"]))
        for alike in by_question.values()
    ]
    return sorted(greatest, key=lambda r: (r["secret"] is not None, r["secret"] or ""))


def shown_by_others(stored: Stored, results: Sequence[Stored]) -> bool:
    """Return whether the numbers of a result are in chapters of other results."""
    entries = any(s.kind in ("attack", "sweep", "tables", "suda", "check") for s in results)
    return stored.kind == "describe" or (stored.kind in STUDIES and entries)


def _attack_rows(stored: Stored) -> Iterator[Row]:
    """Yield the rows of attacks on everybody, each with its dataset."""
    frame = without_beliefs(stored.frame)
    if stored.kind not in ("attack", "sweep", *STUDIES) or frame.is_empty():
        return
    if "learner" in frame.columns:  # about another file than that of the people (see headline)
        frame = frame.filter(pl.col("learner").is_null())
    for name in {"target", "sampled"} & set(frame.columns):  # one person, estimates
        frame = frame.filter(pl.col(name).is_null())
    if "knowledge" in frame.columns:  # only for comparison: nobody knows the key
        frame = frame.filter(pl.col("knowledge") != "with the key")
    keys = ["posterior_probabilistic", "posterior_deterministic", "n_qids"]
    dataset = {"dataset": str(stored.spec.get("dataset", ""))}
    for row in frame.sort(keys, descending=[True, True, False]).iter_rows(named=True):
        if row.get("gain") in (None, "identity"):  # success is a probability
            yield from (reading | dataset for reading in readings(row))


def _answers_of_wp29(stored: Stored) -> list[Row]:
    """Return the attacks that answer the questions of ``wp29``, as rows of attacks."""
    if stored.kind != "wp29" or not stored.is_known:
        return []
    rows = stored.frame.filter(pl.col("measure").is_in(["singled_out", "certain"]))
    return [
        _attack_columns(stored, row["model"], row["secret"])
        | {
            "prior_deterministic": row["prior"],
            "posterior_deterministic": row["value"],
            "prior_probabilistic": row["expected_prior"],
            "posterior_probabilistic": row["expected"],
        }
        for row in rows.iter_rows(named=True)
    ]


def _file_risks(stored: Stored) -> list[Row]:
    """Return the risks of each compared file, or of a file before its changes (``what-if``).

    A row is an attack on a file (crs, or cas on a secret), with the columns of attacks. If a file
    has several rows for it, the first counts.
    """
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
            about = _attack_columns(stored, model.upper(), secret) | {"dataset": file}
            rows.setdefault((file, model, secret), about | success)
    return list(rows.values())


def _attack_columns(stored: Stored, model: str, secret: str | None) -> dict[str, Any]:
    """Return the model, secret, qids and dataset of an attack, as columns of attacks.

    Qids of later releases (2:a) are left out. Callers add the columns of success.
    """
    qids = [q for q in stored.spec.get("qids", ()) if not re.match(r"(?!1:)\d+:", q)]
    about = {"model": model, "secret": secret, "qids": qids, "n_qids": len(qids)}
    return about | {"dataset": str(stored.spec.get("dataset", ""))}


def _of_several_files(results: Sequence[Stored]) -> bool:
    about = (s for s in results if s.kind in ("attack", "sweep"))
    return len({str(s.spec.get("dataset", "")) for s in about}) > 1


def _after_dataset(row: Row, text: str) -> str:
    return f"{row['dataset']}: {text}" if row["dataset"] else text


def lead(row: Row) -> str:
    """Return the certain success of an attack in one sentence, with natural frequencies."""
    share = words.frequency(row["posterior_deterministic"], _scale(row))
    qids = words.listed(row["qids"])
    message = "Of {share} {people} someone who knows their {qids} can tell the {secret}."
    if row["secret"] is None and _goal_letter(row) == "R":
        message = "{share} {people} can be singled out by someone who knows their {qids}."
    elif _goal_letter(row) == "M":
        message = (
            "Of {share} {people} someone who knows their {qids} can tell whether they are in it."
        )
    if row.get("of_reported"):
        message = (
            "Of {share} {people} with a reported {secret} someone who knows their {qids} can tell "
            "it."
        )
    text = said(message, share=share, people=words.people(), qids=qids, secret=row["secret"])
    return text[0].upper() + text[1:]


def _scale(row: Row) -> int:
    """Return the number of people for all frequencies of a row: ``3 of every 100``."""
    return words.scale(
        *(row[f"{name}_probabilistic"] for name in ("prior", "posterior")),
        row["posterior_deterministic"],
    )


def card(row: Row) -> Card:
    """Return the card of one risk: all its shares are on one scale."""
    before, after = row["prior_probabilistic"], row["posterior_probabilistic"]
    scale = _scale(row)
    meaning = said("{people} for whom this is known with certainty", people=words.people())
    if row["secret"] is None:
        meaning = said("{people} can be singled out", people=words.people())
    if row.get("of_reported"):
        message = "{people} with a reported value for whom this is known with certainty"
        meaning = said(message, people=words.people())
    amount = words.share(row["posterior_deterministic"], scale)
    share_before, share_after = words.share(before, scale), words.share(after, scale)
    caution = said("Mostly the base rate: the release adds little to a guess.")
    return Card(
        what=words.goal(row),
        amount=amount[0].upper() + amount[1:],
        meaning=meaning,
        before=(said("guessed right before the release: {share}", share=share_before), before),
        after=(said("guessed right after it: {share}", share=share_after), after),
        difference=said("the release adds {points}", points=words.difference(after - before)),
        remark=caution if words.base_rate(row) else "",
    )


def first_steps(results: Sequence[Stored], rows: Sequence[Row]) -> list[str]:
    """Return up to three lines on what to do first, from a sweep; else the advice to run one."""
    sweeps = [s for s in results if s.kind == "sweep" and "drop_first" in s.details]
    sweeps = [s for s in sweeps if s.details["drop_first"].height]
    with_file = _of_several_files(results)
    lines: list[str] = []
    for stored in sweeps:  # the best column of each question; the second line is on coarser values
        dropped = _best_columns(stored.details["drop_first"], "posterior_without")
        coarser = _best_columns(stored.details.get("coarsen_first"), "posterior_coarser")
        drops = [line for row in dropped if (line := _saving(row, coarsened=False))]
        merges = [line for row in coarser[:1] if (line := _saving(row, coarsened=True))]
        advice = [*drops[:1], *merges, *drops[1:]]
        dataset = {"dataset": str(stored.spec.get("dataset", ""))}
        lines += [_after_dataset(dataset, line) for line in advice] if with_file else advice
    if lines:
        return lines[:MOST_STEPS]
    if sweeps:
        message = (
            "No single column helps when it is dropped; coarsen several, or publish fewer records."
        )
        return [said(message)]
    if not any(row["posterior_probabilistic"] > row["prior_probabilistic"] for row in rows):
        return [said("Nothing: these attacks learn no more than was known before.")]
    if any(s.kind == "sweep" for s in results):
        message = "Run qifsql sweep with all sizes to learn which columns to drop or coarsen."
        return [said(message)]
    return [said("Run qifsql sweep to learn which columns to drop or coarsen.")]


def _best_columns(table: pl.DataFrame | None, after: str) -> list[Row]:
    """Return the column of each question that saves most, if any saves something.

    ``table`` is that of a sweep, ordered by saving. Its column ``after`` has the success without a
    quasi-identifier or with its coarser values; in the rows it is ``after``.
    """
    if table is None or table.is_empty():  # stored as JSON, a table without rows has no columns
        return []
    first = table.filter(pl.col("saved") > 0).unique("secret", keep="first", maintain_order=True)
    ordered = first.sort(pl.col("secret").is_not_null(), maintain_order=True)
    return [row | {"after": row[after]} for row in ordered.iter_rows(named=True)]


def _saving(row: Row, *, coarsened: bool) -> str:
    """Return a line on the right guesses with a column, and without it or with coarser values.

    It is empty if readers would see the same share of right guesses twice.
    """
    of = words.scale(row["posterior_all"], row["after"])
    before, after = words.share(row["posterior_all"], of), words.share(row["after"], of)
    if before == after:
        return ""
    goal = said("whose record it is") if row["secret"] is None else row["secret"]
    values = {"qid": row["qid"], "goal": goal, "before": before, "after": after}
    if coarsened:
        message = (
            "Or merge the values of {qid} in pairs. Right guesses at {goal}: {before} now, "
            "{after} then."
        )
        return said(message, **values)
    message = (
        "Drop or coarsen {qid}. Right guesses at {goal}: {before} with it, {after} without it."
    )
    return said(message, **values)


def uncovered_columns(check: Stored) -> list[str]:
    """Return sentences on the columns that no rule of a check covers."""
    with counting(check.spec):
        return uncovered.caveats(check.spec, check.columns, check.details.get("uncovered"))


def policy_verdict(check: Stored) -> Light:
    """Return the verdict of a policy on a file; caveats are about columns that are in no rule."""
    levels, broken = check.frame.height, int((~check.frame["met"]).sum())
    caveats = uncovered_columns(check)
    repeated = verdicts.repeated(check.spec)
    refused = verdicts.refused(str(check.spec.get("unnamed")), check.columns or ())
    expired, changed = check.spec.get("expired"), check.spec.get("changed")
    if broken:
        message = "Your policy is not met. Levels not met: {n} of {levels}."
        text = said(message, n=words.count(broken), levels=words.count(levels))
    elif refused:
        singular = "Your policy is not met: it refuses {n} column that is in no rule."
        plural = "Your policy is not met: it refuses {n} columns that are in no rule."
        text = counted(singular, plural, len(refused))
    elif repeated:
        message = "Your policy is not met: records are counted, not people ({columns})."
        text = said(message, columns=words.listed(list(repeated)))
    elif changed:
        message = "Your policy is not met. Changed since the statement was written: {names}."
        text = said(message, names=words.listed(list(changed)))
    elif expired:
        message = "Your policy is not met: the assessment has expired for {names}."
        text = said(message, names=words.listed(list(expired)))
    elif caveats:
        singular = "Your policy is met for the columns named: {n} level."
        plural = "Your policy is met for the columns named: all {n} levels."
        text = counted(singular, plural, levels)
    else:
        singular, plural = "Your policy is met: {n} level.", "Your policy is met: all {n} levels."
        text = counted(singular, plural, levels)
    text = f"{text} ({view.subject(check.spec)})"
    caveats = [*view.recipient_sentences(check.details.get("recipients"), check.spec), *caveats]
    met = not (broken or refused or repeated or changed or expired)
    return Light(text, met=met, caveats=tuple(caveats))
