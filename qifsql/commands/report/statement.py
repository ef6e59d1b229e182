"""A statement on a release: what was measured for each recipient, and who decides until when.

It has two pages, to be signed, and an annex on what laws and standards ask for. Words that the
policy does not have (``[statement]``) are lines to fill in by hand.
"""

import datetime
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.adversary.laws import laws
from qifsql.commands.check import view as verdicts
from qifsql.commands.report import chapters, summary
from qifsql.data.files import MANIFEST
from qifsql.data.types import Row
from qifsql.errors import InputError, quoted
from qifsql.presentation import escaping, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Blank, Box, Heading, Light, Paragraph, Part, Section, Table
from qifsql.presentation.table_columns import percent, tabulate
from qifsql.results import uncovered
from qifsql.results.stored import Stored
from qifsql.study.recipients import sql_of

DAY = len("2026-11-29")  # the first characters of a time
FIGURES = (
    (
        "Highest and average risk, for each recipient",
        "ISO/IEC 27559:2022, 7.3.2 (maximum or average risk). 45 CFR 164.514(b)(1): the risk must "
        "be very small.",
        "Which risk is small enough. The rule names no number; the limits are those of the policy.",
    ),
    (
        "Average risk without the release",
        "Not taken from these texts: it separates what the release adds from what a guess would "
        "find anyway.",
        "Whether what is guessed without the release is itself lawful to use.",
    ),
    (
        "Chance that anybody tries",
        "ISO/IEC 27559:2022, 6.2.3 (motives and capacity to re-identify). ICO: the motivated "
        "intruder.",
        "It is an assumption that somebody has to argue; nothing here measures it.",
    ),
    (
        "What a recipient knows and holds",
        "C-413/23 P, EDPS v SRB: identifiability is judged for the recipient. 45 CFR "
        "164.514(b)(1)(i): an anticipated recipient, and information reasonably available. LGPD, "
        "art. 12: own means, and reasonable efforts. ICO: the means of a motivated intruder.",
        "Whether the list is complete, and what an attempt would cost in money and time. Nobody "
        "searched registers or the web.",
    ),
    (
        "People of the file",
        "ISO/IEC 27559:2022, 7.3.3 (population or sample-based attack).",
        "Whether an intruder knows that a person is in the file. The figures assume it, except "
        "those of a register that is held.",
    ),
    (
        "Columns that were not considered",
        "ISO/IEC 27559:2022, 7.2.4 (attribute types).",
        "Who may know these columns. The statement does not hold for such a person.",
    ),
    (
        "Success, not harm",
        "ISO/IEC 27559:2022, 6.3.3 (privacy-related harms).",
        "What a right guess would do to a person.",
    ),
    (
        "Computed, not tried",
        "ISO/IEC 27559:2022, 8.2.3 (adversarial testing). ICO: the motivated intruder test.",
        "How far real people get: no attempt on real people was made here.",
    ),
    (
        "Last day, and digests of the files",
        "ISO/IEC 27559:2022, 8.3.4 (re-evaluation). ICO: review the decision.",
        "Which events before that day end it: other releases, registers, techniques, law.",
    ),
    (
        "Versions, settings, formulas, SQL",
        "45 CFR 164.514(b)(1)(ii): methods and results are documented.",
        "Whether the methods fit the case: that is the expert's judgement.",
    ),
    (
        "Decision and signature",
        "45 CFR 164.514(b)(1): a person with the knowledge and experience. ISO/IEC 27559:2022, "
        "9.2.2 (roles).",
        "The decision. The tool is neither the expert nor the controller, and no figure here says "
        "that data are anonymous in law.",
    ),
)
"""Figures of a statement: what they are, where they are asked for, what the tool cannot say."""

SOURCES = (
    "ISO/IEC 27559:2022, Privacy enhancing data de-identification framework; clauses are named by "
    "their titles.",
    "Information Commissioner's Office (United Kingdom), guidance on anonymisation, March 2025.",
    "Court of Justice of the European Union, 4 September 2025, C-413/23 P, EDPS v SRB, "
    "EU:C:2025:645.",
    "HIPAA (United States), 45 CFR 164.514(b)(1), expert determination.",
    "LGPD (Brazil), Lei 13.709/2018, art. 12.",
)


def of_recipient(results: Sequence[Stored], name: str | None) -> tuple[list[Stored], Stored]:
    """Return the results of a statement and its check, about one recipient if ``name`` says so.

    Raises InputError unless one result is a check of recipients, and the name is of one of them.
    """
    checks = [s for s in results if s.kind == "check" and s.spec.get("recipients")]
    if len(checks) != 1:
        message = (
            "a statement is about one check of a policy with recipients ([[recipient]]), and none "
            "is here that others may see (one with a filter, where, has to tell of many people)"
        )
        if checks:
            names = ", ".join(s.name for s in checks)
            message = f"a statement is about one check of recipients; name one of {names}"
        raise InputError(message)
    check = _as_of_today(checks[0])
    if name is not None:
        check = _only(check, name)
    return [check if s is checks[0] else s for s in results], check


def _as_of_today(check: Stored) -> Stored:
    """Return a check whose assessments have expired if their last day is over."""
    recipients = check.details["recipients"]
    is_late = pl.col("until").is_not_null() & (pl.col("until") < datetime.date.today().isoformat())
    late = recipients.filter(is_late)["name"].to_list()
    recipients = recipients.with_columns(met=pl.col("met") & ~is_late)
    manifest = {**check.manifest, "spec": {**check.spec, "expired": late}}
    details = {**check.details, "recipients": recipients}
    return replace(check, details=details, manifest=manifest)


def _only(check: Stored, name: str) -> Stored:
    """Return a check without the other recipients of its policy."""
    recipients = check.details["recipients"]
    names = recipients["name"].to_list()
    if name not in names:
        listed = ", ".join(map(quoted, names))
        raise InputError(f"the policy has no recipient {quoted(name)}; it has {listed}")
    note, spec = dict(check.manifest), dict(check.spec) | {"recipient": name}
    begins = tuple(f"recipient {quoted(n)}:" for n in names if n != name)
    note["notes"] = [text for text in note.get("notes", ()) if not str(text).startswith(begins)]
    described = [recipient for recipient in spec["recipients"] if recipient["name"] == name]
    of_others = {f for r in spec["recipients"] if r["name"] != name for f in _files(r)}
    of_others -= _files(described[0])
    note["inputs"] = [file for file in note["inputs"] if Path(file["path"]).name not in of_others]
    note["sql"] = sql_of(names.index(name) + 1, str(note.get("sql", "")))
    spec |= {"recipients": described, "expired": [n for n in spec.get("expired", ()) if n == name]}
    details = {**check.details, "recipients": recipients.filter(name=name)}
    frame = check.frame.filter(pl.col("recipient").is_null() | (pl.col("recipient") == name))
    return replace(check, frame=frame, details=details, manifest=note | {"spec": spec})


def _files(recipient: Mapping[str, Any]) -> set[str]:
    """Return the names of the files that a recipient holds, and of the tables of laws."""
    written = laws(recipient["laws"]) if recipient["laws"] else ()
    files = (*recipient["holds"], *(law.table for law in written if law.table))
    return {Path(file).name for file in files}


def pages(
    results: Sequence[Stored], check: Stored, purpose: str | None, withheld: str, file: str
) -> list[Section]:
    """Return the pages of a statement: the release with its recipients, and the decision.

    ``withheld`` is the line on what the document leaves out, ``file`` the name of its file.
    """
    release = _release(results, check, purpose)
    decision = _decision(results, check, withheld, file)
    return [
        Section("release", said("The release, and who receives it"), release),
        Section("decision", said("The decision"), decision),
    ]


def _release(results: Sequence[Stored], check: Stored, purpose: str | None) -> list[Part]:
    """Return what is released and for what, and the risk of each recipient."""
    stated = check.spec.get("statement") or {}
    dataset = check.spec.get("dataset")
    card = Table.of(["", ""])
    card.add_row(said("purpose"), _words_or_blank(purpose or stated.get("purpose")))
    about = chapters.dataset_card([s for s in results if s.spec.get("dataset") == dataset])
    elsewhere = said("missing values")  # what is assumed of them is in the annex
    card.rows += [_with_use_of_file(row, check) for row in about.rows if row[0] != elsewhere]
    note = check.manifest
    measured = said(
        "on {day} with qifsql {version}, DuckDB {duckdb} and Polars {polars}",
        day=str(note.get("started", ""))[:DAY],
        version=str(note.get("qifsql", "")),
        duckdb=str(note.get("versions", {}).get("duckdb", "")),
        polars=str(note.get("versions", {}).get("polars", "")),
    )
    card.add_row(said("measured"), measured)
    message = (
        "The risk is the chance that anybody tries, times the chance that their best guess about a "
        "person is right: whose record it is, or the secret."
    )
    parts: list[Part] = [card, Paragraph(said(message))]
    described = {recipient["name"]: recipient for recipient in check.spec["recipients"]}
    for row in check.details["recipients"].iter_rows(named=True):
        parts += _recipient(row, described[row["name"]], check)
    return parts


def _preset_texts(check: Stored) -> list[str]:
    """Return the texts of the presets that recipients have values of, and their limits."""
    presets = [r["preset"] for r in check.spec["recipients"] if r.get("preset")]
    presets = [preset for preset in presets if preset["places"]]
    documents = dict.fromkeys(preset["document"] for preset in presets)
    limits = dict.fromkeys(text for p in presets for text in verdicts.preset_limits(p))
    texts = [said("Presets are from {document}.", document=name) for name in documents]
    return [" ".join([*texts, *limits])] if presets else []


def _with_use_of_file(row: tuple[str, ...], check: Stored) -> tuple[str, ...]:
    """Return a row of the card of the data; that of a file says what the file is for."""
    head, text = row
    names = {Path(str(check.spec.get("policy", ""))).name: said("policy")}
    for recipient in check.spec["recipients"]:
        names |= dict.fromkeys(_files(recipient), said("file of a recipient"))
    uses = (use for name, use in names.items() if name and text.startswith(f"{name}, "))
    return next(uses, head) if head == said("file") else head, text


def _attacks(rows: Sequence[Row]) -> Table:
    """Return what attacks that need no recipient find: certainty, and right guesses."""
    columns = [
        (said("goal"), words.goal),
        (said("knowing"), lambda row: words.listed(row["qids"])),
        (said("certain"), percent("posterior_deterministic")),
        (said("right guesses before the release"), percent("prior_probabilistic")),
        (said("after it"), percent("posterior_probabilistic")),
    ]
    return tabulate(rows, columns, texts=(0, 1))


def _recipient(row: Mapping[str, Any], described: Mapping[str, Any], check: Stored) -> list[Part]:
    """Return the verdict for a recipient, what is assumed and accepted, and what was found."""
    expired = row["name"] in (check.spec.get("expired") or ())
    name = escaping.cell(row["name"])
    text = said("For {name} the accepted risk is met.", name=name)
    if not row["met"]:
        text = said("For {name} the accepted risk is not met.", name=name)
    if expired:
        text = said("For {name} the assessment has expired.", name=name)
    others = uncovered.not_considered(check.columns or (), check.details.get("uncovered"))
    singular = "It holds for the columns named; {n} column was not considered (see the decision)."
    plural = "It holds for the columns named; {n} columns were not considered (see the decision)."
    caveats = [counted(singular, plural, len(others))] if others and row["met"] else []
    card = Table.of(["", ""])
    knowledge = [_chance_text(name, Fraction(p)) for name, p in described["chances"].items()]
    knowledge += map(words.law_words, laws(described["laws"]) if described["laws"] else ())
    card.add_row(said("knows of a person"), "; ".join(knowledge) or said("nothing (assumed)"))
    holds = [_held_text(Path(file).name, described) for file in described["holds"]]
    nothing = said("no register of people, and no earlier release (assumed)")
    card.add_row(said("holds"), "; ".join(holds) or nothing)
    card.add_row(said("chance that anybody tries"), _attempt_text(row["attempt"], described))
    heads = {"maximum": said("highest risk of a person"), "average": said("average risk")}
    for measure, head in heads.items():
        card.add_row(head, _risk_text(row, described, measure, check))
    if row["until"] is not None:
        card.add_row(said("holds until"), row["until"])
    preset = described.get("preset")
    if preset and preset["note"]:
        head = said("preset {name}", name=escaping.cell(preset["name"]))
        card.add_row(head, said(preset["note"]))
    return [Light(text, met=row["met"], caveats=caveats), card]


def _risk_text(
    row: Mapping[str, Any], described: Mapping[str, Any], measure: str, check: Stored
) -> str:
    """Return a risk, the goal at which it is greatest, and the accepted risk if there is one.

    A risk that is hidden from others has no goal.
    """
    is_shown = row[measure] is not None
    chances = map(Fraction, described["chances"].values())
    is_sure = not described["laws"] and all(chance == 1 for chance in chances)
    if not is_shown:
        text = said("not shown, because it tells the size of a small group")
    elif measure == "maximum" and not is_sure:
        text = said("at most {risk}", risk=words.percent(row[measure]))
    else:
        text = words.percent(row[measure])
    if measure == "average" and row.get("before") is not None:
        before = words.percent(row["before"])
        text = said("{risk} (without the release {before})", risk=text, before=before)
    if measure not in described["at_most"]:
        return text
    bound = _with_place(words.percent(described["at_most"][measure]), described, measure)
    levels = check.frame.filter(recipient=row["name"], measure=measure)
    if is_shown:
        greatest = levels.sort("value", descending=True, nulls_last=True).row(0, named=True)
        text = f"{text}: {words.goal(greatest)}"
    message = "{risk}. Not met; accepted: at most {bound}"
    if levels["met"].all():
        message = "{risk}. Met; accepted: at most {bound}"
    return said(message, risk=text, bound=bound)


def _attempt_text(attempt: float, described: Mapping[str, Any]) -> str:
    """Return the chance of an attempt: that of a preset, or an assumption of the policy."""
    text = words.percent(attempt)
    if "attempt" in (described.get("preset") or {"places": ()})["places"]:
        return _with_place(text, described, "attempt")
    return said("{chance} (assumed; see the reasons for the assumptions)", chance=text)


def _with_place(text: str, described: Mapping[str, Any], key: str) -> str:
    """Return a value, with its place in the text of the preset that it is from, if it is."""
    preset = described.get("preset") or {"places": {}}
    place = preset["places"].get(key)
    if place is None:
        return text
    message = "{value} - preset {preset}, {place}"
    return said(message, value=text, preset=escaping.cell(preset["name"]), place=said(place))


def _held_text(file: str, described: Mapping[str, Any]) -> str:
    """Return a file that is held, and how it was measured."""
    message = "{file}, linked as a register of people"
    if file in [Path(earlier).name for earlier in described.get("earlier", ())]:
        message = "{file}, an earlier release, joined by the key of people"
    return said(message, file=escaping.cell(file))


def _chance_text(name: str, chance: Fraction) -> str:
    """Return what is known of a quasi-identifier: the value, with a chance or exactly."""
    name = escaping.cell(name)
    if chance == 1:
        return said("{name} exactly", name=name)
    return said("{name} with a chance of {chance}", name=name, chance=words.percent(float(chance)))


def _decision(results: Sequence[Stored], check: Stored, withheld: str, file: str) -> list[Part]:
    """Return the verdict, what was not considered, and the decision with a line to sign.

    Attacks that need no recipient are beside the verdict.
    """
    rows = summary.risks(results)
    attacks: list[Part] = (
        [Heading(said("Before and after the release")), _attacks(rows)] if rows else []
    )
    remarks = verdicts.statement_sentences(check.spec)
    if "recipient" in check.spec:
        name = escaping.cell(check.spec["recipient"])
        remarks.append(said("This statement is about {name} alone.", name=name))
    verdict = replace(summary.policy_verdict(check), caveats=remarks)
    sentences = summary.uncovered_columns(check)
    registers = [len(r["holds"]) > len(r.get("earlier", ())) for r in check.spec["recipients"]]
    if any(registers):
        message = (
            "A file that is linked as a register was measured as a list of people alone: what it "
            "says besides, as an earlier release without a common key does, is not in the risks."
        )
        sentences.append(said(message))
    sentences += [*_preset_texts(check), *summary.limits(results, rows, withheld)]
    box = Box(said("What was not considered"), sentences)
    return [verdict, *attacks, box, _table_to_sign(check, file)]


def _table_to_sign(check: Stored, file: str) -> Table:
    """Return the decision with a line to sign; ``file`` is the name of the statement's file."""
    stated = check.spec.get("statement") or {}
    table = Table.of(["", ""])
    table.add_row(said("reasons for the assumptions"), _words_or_blank(stated.get("reasons")))
    table.add_row(said("decision"), _words_or_blank(stated.get("decision")))
    table.add_row(said("decided by (name, office)"), _words_or_blank(stated.get("by")))
    table.add_row(said("date"), _words_or_blank(stated.get("date")))
    days = check.details["recipients"]["until"].drop_nulls()
    end = str(days.min()) if days.len() else said("no day is set in the policy")
    table.add_row(said("valid until"), end)
    policy = Path(str(check.spec.get("policy", ""))).name
    arguments = [str(check.spec.get("dataset", "")), "--policy", policy, "--statement", file]
    command = escaping.cell(shlex.join(["qifsql", "check", *arguments]))
    message = "{command} (with {manifest} beside it)"
    line = said(message, command=command, manifest=escaping.cell(file + MANIFEST))
    table.add_row(said("checked later by"), line)
    table.add_row(said("signature"), Blank())
    return table


def _words_or_blank(text: str | None) -> str:
    """Return a text of the policy, or a line to fill in by hand."""
    return escaping.cell(text) if text else Blank()


def standards_annex() -> Section:
    """Return the annex on where each figure is asked for, and what the tool cannot say."""
    heads = [said("in this statement"), said("asked for by"), said("what the tool cannot say")]
    table = Table.of(heads)
    table.rows += [tuple(said(text) for text in texts) for texts in FIGURES]
    message = (
        "The texts are named where they ask for a figure. Whether they are fulfilled is a question "
        "of law, which no figure answers."
    )
    sources = [Paragraph(said(text)) for text in SOURCES]
    parts: list[Part] = [Paragraph(said(message)), table, *sources]
    return Section("standards", said("What laws and standards ask for"), parts)
