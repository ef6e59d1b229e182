"""The page and its fragments, in the language of the reader."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qifsql.commands.describe import view as described
from qifsql.commands.open import choices, fields
from qifsql.commands.open.background import Job, SweepJob
from qifsql.commands.open.choices import DROP, Choices
from qifsql.commands.open.explorer import Explorer, SourceColumn
from qifsql.commands.open.fields import integer
from qifsql.commands.open.walking import Walk
from qifsql.commands.report.report import chapters_of, first_page
from qifsql.data.installation import command
from qifsql.presentation import escaping, html, words
from qifsql.presentation.figures import can_draw
from qifsql.presentation.language import LANGUAGES, counted, number, said
from qifsql.presentation.parts import Heading, Part
from qifsql.presentation.table_columns import number as number_cell
from qifsql.presentation.table_columns import percent as percent_cell
from qifsql.results import release_files, stored
from qifsql.results.result import Result
from qifsql.results.stored import Stored

PAGE = Path(__file__).resolve().parent / "page"
TELLING = ("identifier", "key", "household")
"""Suggested roles of columns that stand first: they number people or homes, or name people."""
FOLDED = 5  # columns that are not considered, from which on they are folded away
NUMBERS = (
    "prior_probabilistic",
    "posterior_deterministic",
    "posterior_probabilistic",
    "singled_out",
)


def fill(template: str, **values: Any) -> str:
    """Return a template of the folder ``page`` with its values, which are text, never markup."""
    return html.fill_template(PAGE, template, **values)


def page_frame(content: str, title: str) -> str:
    """Return a whole page around its content."""
    return fill("frame.html", inside=html.markup(content), title=title)


def explorer_page(
    page: Explorer,
    columns: Sequence[SourceColumn],
    choice: Choices,
    *,
    tab: str,
    trail: Sequence[int] = (),
) -> str:
    """Return the page of a file; ``trail`` has the numbers of its states in ``page.tried``."""
    rows = [_column_row(i, column, choice) for i, column in enumerate(columns)]
    telling = [row["name"] for row in rows if row["suggested_role"] in TELLING]
    unused = [r for r in rows if not r["role"] and r["suggested_role"] not in TELLING]
    if len(unused) >= FOLDED:
        for row in unused:
            row["folded"] = True
    folded = counted("{n} column is not considered", "{n} columns are not considered", len(unused))
    path = page.dataset.paths[0]
    records = columns[0].row["records"] or 0 if columns else 0
    return fill(
        "explorer.html",
        file=page.dataset.name,
        private=page.private,
        languages={code: language.name for code, language in LANGUAGES.items()},
        columns=sorted(rows, key=lambda row: row["suggested_role"] not in TELLING),
        telling=words.listed(telling) if telling else "",
        folded=folded,
        stem=Path(page.dataset.name).stem or "release",
        release_ending=release_files.ending_like(path),
        table_ending=release_files.ending_to_open(path, records),
        records=words.count(records) if columns else "",
        tab=tab,
        trail=",".join(map(str, trail)),
        jobs=[job_values(running) for running in page.jobs.latest],
        **knowledge_values(columns, choice),
    )


def knowledge_values(columns: Sequence[SourceColumn], choice: Choices) -> dict[str, Any]:
    """Return the values of the template about the adversary: sliders, roles, fields.

    ``questions`` are the fields about the people who carry the risk, each with its title and the
    words for no column, ``panels`` the other fields by the name of their panel.
    """
    options = {f.name: f for f in fields.fields_of_options(choices.ATTACK, choice.options)}
    titles = {
        "person": (said("Whose record it is"), said("each record is another person")),
        "household": (said("Who live together"), said("not asked")),
        "by": (said("Groups to compare"), said("no groups")),
    }
    questions = [(options.pop(name), *texts) for name, texts in titles.items()]
    panels: dict[str, list[fields.Field]] = {}
    for field in options.values():
        panels.setdefault(field.panel, []).append(field)
    qids = {i: column for i, column in enumerate(columns) if column.name in choice.qids}
    return {
        "sliders": [_slider(i, column, choice) for i, column in qids.items()],
        "known": words.listed(list(choice.qids)) if choice.qids else "",
        "secrets": choice.secrets,
        "wanted": words.listed(list(choice.secrets)) if choice.secrets else "",
        "roles": roles_text(columns, choice),
        "questions": questions,
        "panels": panels,
        "names": [column.name for column in columns],
    }


def _slider(number: int, column: SourceColumn, choice: Choices) -> dict[str, Any]:
    """Return a quasi-identifier, with its steps and the words for each of them, for the template.

    ``number`` is the place of its column in the file; ``chosen`` becomes that of the chosen step.
    """
    step = choice.steps.get(column.name, "")
    return {
        "number": number,
        "name": column.name,
        "steps": column.steps,
        "chosen": column.steps.index(step) if step in column.steps else 0,
        "names": [_step_in_words(column, how) for how in column.steps],
    }


def roles_text(columns: Sequence[SourceColumn], choice: Choices) -> str:
    """Return a letter for the role of each column, to find out if roles were changed.

    The letter is q (quasi-identifier), s (secret) or - (neither).
    """
    marks = dict.fromkeys(choice.qids, "q") | dict.fromkeys(choice.secrets, "s")
    return "".join(marks.get(column.name, "-") for column in columns)


def _step_in_words(column: SourceColumn, how: str) -> str:
    """Describe a step: "", ``DROP``, a number of characters, a unit of time or a width."""
    if not how:
        return said("as it is")
    if how == DROP:
        return said("left out")
    if choices.STEPS.get(column.type) is choices.CHARACTERS or column.type.startswith("ENUM"):
        return said("first {n} characters", n=how)
    units = {
        "minute": said("by minute"),
        "hour": said("by hour"),
        "day": said("by day"),
        "week": said("by week"),
        "month": said("by month"),
        "quarter": said("by quarter"),
        "year": said("by year"),
    }
    return units.get(how) or said("in steps of {n}", n=number(f"{float(how):,g}"))


def _column_row(number: int, column: SourceColumn, choice: Choices) -> dict[str, Any]:
    """Return a column as the page shows it, with texts for numbers; ``number`` is its place.

    A nested column, a list or a struct, is not described: its number of records is None.
    """
    roles = dict.fromkeys(choice.qids, "quasi-identifier") | dict.fromkeys(choice.secrets, "secret")
    row, records = column.row, column.row["records"]
    suggestion, confidence, why = described.suggestion(row)
    sure = f"{why} ({confidence})" if why and confidence else why
    if row["suggested_role"] not in ("quasi-identifier", "secret"):  # the buttons have no name
        sure = f"{suggestion}: {sure}" if sure else suggestion
    facts = [column.type]
    if records is not None:
        facts = [said("{n} values", n=number_cell("distinct")(row))]
        if row["missing"]:
            facts.append(said("{share} missing", share=words.percent(row["missing"] / records)))
        if row["singled_out_share"]:
            alone = percent_cell("singled_out_share")(row)
            facts.append(said("{share} of the records alone with theirs", share=alone))
    return {
        "number": number,
        "name": escaping.cell(column.name),
        "facts": ", ".join(facts),
        "folded": False,
        "suggested_role": row["suggested_role"],
        "suggestion": sure,
        "label": escaping.cell(row["label"] or ""),
        "role": roles.get(column.name, ""),
        "nested": records is None,
    }


def risk_fragment(
    page: Explorer, choice: Choices, result: Result, before: Result | None, trail: Sequence[int]
) -> str:
    """Return the parts about the risk and the release; ``trail`` ends with this state's number."""
    cost_words = choice.compare_words(page.words) if choice.is_changed else []
    return fill(
        "live.html",
        parts=first_page([result], private=page.private),
        rows=_number_rows(result, before),
        changed=choice.is_changed,
        notes=result.notes,
        trail=_trail_states(page, trail),
        numbers=",".join(map(str, trail)),
        state=trail[-1],
        attack_line=choices.command_line(choice.attack_words(page.words)),
        before_line=choices.command_line(choice.before.attack_words(page.words)),
        cost_line=choices.command_line(cost_words),
    )


def _number_rows(result: Result, before: Result | None) -> list[dict[str, Any]]:
    """Return the goal and the numbers of each question of an attack, for the template.

    ``cells`` has a triple per number: its name, the number, and that before the changes, as texts.
    """
    earlier = {} if before is None else {_question_key(row): row for row in before.rows()}
    rows = []
    for row in result.rows():
        old = earlier.get(_question_key(row), {})
        cells = [(n, _number_text(n, row.get(n)), _number_text(n, old.get(n))) for n in NUMBERS]
        # gain and knowledge are named where they are not the usual ones
        marks = [row[name] for name in ("gain", "knows") if row.get(name) not in (None, "identity")]
        goal = " · ".join([words.goal(row) + words.known_records(row), *map(str, marks)])
        rows.append({"goal": goal, "cells": cells, "row": row})
    return rows


def _question_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("model", "secret", "gain", "knows", "known_records"))


def _number_text(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return words.count(int(value)) if name == "singled_out" else words.percent(value)


def _trail_states(page: Explorer, trail: Sequence[int]) -> list[dict[str, Any]]:
    """Return the states with these numbers in ``page.tried``, with their success as texts.

    The success is "" if the result of a state is no longer kept.
    """
    states = []
    for n in trail:
        tried = page.tried[n]
        result, size = page.result(tried), len(tried.knowledge)
        rows = [] if result is None else result.rows()
        state = {
            "number": n,
            "known": counted("{n} quasi-identifier", "{n} quasi-identifiers", size),
            "changes": ", ".join(tried.changes) or said("no change"),
            "secrets": words.listed(list(tried.secrets)) if tried.secrets else "–",
            "certain": _first_success(rows, "posterior_deterministic"),
            "guess": _first_success(rows, "posterior_probabilistic"),
        }
        states.append(state)
    return states


def _first_success(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the success of the first question, a percentage; "" without rows.

    Attacks on people have two rows for a question: the adversary knows one of the records of a
    person, or all. Here it is the greater success.
    """
    if not rows:
        return ""
    about = ("model", "secret", "gain", "knows")
    first = [rows[0].get(column) for column in about]
    readings = [row for row in rows if [row.get(column) for column in about] == first]
    return words.percent(max(row[name] for row in readings))


def no_result_fragment(
    page: Explorer, message: str, trail: Sequence[int], *, reopen: bool = False
) -> str:
    """Return the parts about the risk and the release where there is no result, and why."""
    return fill(
        "nothing.html",
        message=message,
        reopen=reopen,
        trail=_trail_states(page, trail),
        numbers=",".join(map(str, trail)),
    )


def charts_fragment(page: Explorer, result: Result) -> str:
    """Return the chapters of the report of a result, with its charts."""
    parts = _chapter_parts(stored.read([result]), private=page.private)
    return fill("charts.html", parts=parts, command="" if can_draw() else command("charts"))


def cost_fragment(page: Explorer, result: Result) -> str:
    """Return the loss and the risk of each change, as a report does."""
    parts = _chapter_parts(stored.read([result]), private=page.private)
    return fill("cost.html", parts=parts, notes=result.notes)


def _chapter_parts(results: Sequence[Stored], *, private: bool) -> list[Part]:
    parts: list[Part] = []
    for section in chapters_of(results, private=private):
        parts += [Heading(section.title), *section.parts]
    return parts


def job_values(running: Job, seen: int = 0) -> dict[str, Any]:
    """Return the values of the template of a command.

    ``seen`` is the version of the answers of a sweep that the page shows (0: none).
    """
    what, share = running.progress
    version = running.version if isinstance(running, SweepJob) else 0
    return {
        "number": running.number,
        "lines": [choices.command_line(line) for line in running.lines],
        "state": running.state,
        "what": what,
        "share": share,
        "percent": words.percent(share) if share is not None else "",
        "seconds": words.duration(running.seconds),
        "output": running.output,
        "is_sweep": isinstance(running, SweepJob),
        "version": version,
        "is_new": version > seen,
    }


def sweep_page(sweep: Walk, form: Mapping[str, str]) -> str:
    """Return the content of the page of a stored sweep, which ``page_frame`` surrounds."""
    return fill(
        "sweep.html",
        private=sweep.private,
        languages={code: language.name for code, language in LANGUAGES.items()},
        parts=_chapter_parts([sweep.stored], private=sweep.private),
        **_walk_values(sweep, form),
    )


def answers_fragment(sweep: Walk, form: Mapping[str, str]) -> str:
    """Return a walk through a sweep that was started here; once it is whole, also its chapters."""
    parts = _chapter_parts([sweep.stored] if sweep.is_whole else [], private=sweep.private)
    return fill("answers.html", parts=parts, **_walk_values(sweep, form))


def walk_fragment(sweep: Walk, form: Mapping[str, str]) -> str:
    """Return a walk through a sweep: the lattice, one set of columns, its neighbours."""
    return fill("walk.html", **_walk_values(sweep, form))


def _walk_values(sweep: Walk, form: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the template of a walk: the set of columns that a form asks for.

    ``so_far`` is the number of finished sets while a sweep is running, otherwise "".
    """
    question = integer(form.get("question", "")) or 0
    measure = "deterministic" if form.get("measure") == "deterministic" else "probabilistic"
    running = form.get("job") and not sweep.is_whole
    return {
        "file": sweep.file,
        "job": form.get("job", ""),
        "walk": sweep.at(question, measure, form.get("subset", "")),
        "so_far": words.count(sweep.subsets) if running else "",
        "all": words.count(sweep.all),
    }
