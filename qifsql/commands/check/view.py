"""Verdicts as people read them: the levels, their values and their bounds."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.commands.check.result import RECIPIENTS, SCHEMA, Verdict
from qifsql.commands.synthetic.view import limits
from qifsql.presentation import details, escaping, words
from qifsql.presentation.language import counting, number, said
from qifsql.presentation.parts import Bad, Heading, Paragraph, Part, Spec, Table
from qifsql.results import uncovered
from qifsql.results.kinds import Kind
from qifsql.results.result import Display
from qifsql.results.stored import Stored
from qifsql.study.release_rules import MODEL

LONG_LIMIT = re.compile(r"\d\.\d{7,}$")  # a third of a chance, of a preset

KIND = Kind(
    columns=("rule", "measure", "by", "group", "met"),
    shared=("uncovered", "households", "recipients"),
    types=SCHEMA | uncovered.SCHEMA | RECIPIENTS,
    essential=True,
)


def verdict_parts(result: Verdict) -> list[Part]:
    """Return the checked file, all levels, a summary, and columns, with the riskiest uncovered."""
    spec = result.origin.spec
    summary = result.summary[0].upper() + result.summary[1:]
    parts: list[Part] = [
        Heading(subject(spec)),
        levels_table(result.frame),
        Paragraph(f"{summary}.", strong=True),
        *map(Paragraph, caveats(result)),
    ]
    if suppressed := spec.get("suppressed_records"):
        parts.append(Paragraph(words.suppressed(suppressed)))
    if result.uncovered.height:
        title = said("Columns of {dataset}", dataset=escaping.cell(spec["dataset"]))
        columns = uncovered.riskiest(result.columns, result.uncovered)
        parts += [Heading(title), uncovered.table(columns, result.uncovered)]
        if hidden := len(result.columns) - len(columns):
            text = said(
                "{n} columns that single out fewer people are not shown here; they are in the "
                "table uncovered of the result (--output) and in its report.",
                n=words.count(hidden),
            )
            parts.append(Paragraph(text))
    return parts


def display(result: Verdict, title: str) -> Display:
    """Return a verdict in all its forms."""
    more = {
        "met": result.met,
        "not_considered": list(result.not_considered),
        "columns": [column.plain() for column in result.columns],
    }
    return Display(
        result=result,
        title=title,
        not_in_csv=tuple(result.details),
        more=more,
        view=lambda *_: verdict_parts(result),
        prose=True,
    )


def subject(spec: Mapping[str, Any]) -> str:
    """Return the names of the checked file and of the policy."""
    file = escaping.cell(str(spec.get("dataset", "")))
    parts = [said("only records that pass the filter")] if spec.get("where") else []
    parts += [said("without records that miss a value")] if spec.get("null") == "drop" else []
    file += f" ({', '.join(parts)})" if parts else ""
    return said("{dataset} against {policy}", dataset=file, policy=policy_name(spec))


def policy_name(spec: Mapping[str, Any]) -> str:
    """Return the name of the policy's file."""
    return escaping.cell(Path(str(spec.get("policy", ""))).name)


def caveats(result: Verdict) -> list[str]:
    """Return the limits of the verdict: uncovered columns, and the people they single out."""
    spec = result.origin.spec
    with counting(spec):
        sentences = comparison_text(spec)
        for column in result.repeated:
            text = said(
                "{column} numbers people, and some of them have several records: count people with "
                '--person {word}, or accept records in the policy (unit = "records").',
                column=escaping.cell(column),
                word=escaping.cell(shlex.quote(column)),
            )
            sentences.append(text)
        if "households" in result.details:
            rows = result.details["households"].to_dicts()
            sentences += [details.household_sentence(row["secret"], row) for row in rows]
        sentences += statement_sentences(spec)
        sentences += recipient_sentences(result.details.get("recipients"), spec)
        return sentences + uncovered.caveats(spec, result.columns, result.uncovered)


def statement_sentences(spec: Spec) -> list[str]:
    """Return sentences on a signed statement: the files for which it no longer holds, and why.

    ``spec["changed"]`` and ``spec["expired"]`` name them. [] if the verdict is about no statement.
    """
    if "changed" not in spec:
        return []
    messages = {
        "changed": "Changed since the statement was written: {names}. Decide and sign again.",
        "expired": "The statement has expired for {names}: assess the release again.",
    }
    sentences = [
        said(messages[key], names=words.listed([escaping.cell(name) for name in spec[key]]))
        for key in messages
        if spec[key]
    ]
    message = "The statement is as it was written, is about these files, and has not expired."
    return sentences or [said(message)]


def recipient_sentences(recipients: pl.DataFrame | None, spec: Spec) -> list[str]:
    """Return sentences on the risk of each recipient of a policy; None: it names none.

    Values from a preset are told with their places in its text.
    """
    sentences = []
    described = {recipient["name"]: recipient for recipient in spec.get("recipients") or ()}
    for row in () if recipients is None else recipients.iter_rows(named=True):
        message = (
            "For {name}, with a chance of {attempt} that anybody tries, the highest risk is "
            "{maximum} and the average {average}: not met."
        )
        if row["met"]:
            message = (
                "For {name}, with a chance of {attempt} that anybody tries, the highest risk is "
                "{maximum} and the average {average}: met."
            )
        numbers = {name: words.percent(row[name]) for name in ("attempt", "maximum", "average")}
        sentence = said(message, name=escaping.cell(row["name"]), **numbers)
        if row.get("before") is not None:
            average = words.percent(row["before"])
            sentence += " " + said("Without the release the average is {average}.", average=average)
        if row["until"] is not None:
            sentence += " " + said("The assessment holds until {day}.", day=row["until"])
        sentences.append(" ".join([sentence, *preset_sentences(described.get(row["name"], {}))]))
    return sentences


def preset_sentences(recipient: Spec) -> list[str]:
    """Return which values of a recipient are from a preset, and what it does not say."""
    preset = recipient.get("preset")
    if preset is None:
        return []
    heads = {
        "attempt": "the chance of an attempt ({place})",
        "maximum": "the accepted highest risk ({place})",
        "average": "the accepted average risk ({place})",
    }
    places = [said(heads[key], place=said(place)) for key, place in preset["places"].items()]
    name = escaping.cell(preset["name"])
    if not places:
        return [said("All values of the preset {name} are replaced.", name=name)]
    message = "From the preset {name} are {values}: {document}."
    origin = said(message, name=name, values=words.listed(places), document=preset["document"])
    notes = [said(preset["note"])] if preset["note"] else []
    return [origin, *notes, *preset_limits(preset)]


def preset_limits(preset: Mapping[str, Any]) -> list[str]:
    """Return what the text of a preset is not about."""
    sentences = []
    if preset["places"].keys() - {"attempt"}:
        message = (
            "The accepted risks of the text are about re-identification; here they bound the "
            "inference of secrets, too."
        )
        sentences.append(said(message))
    return [*sentences, said("The text says neither what is known and held, nor until when.")]


def comparison_text(spec: Spec) -> list[str]:
    """Return what rules about a synthetic release compare; nothing without such rules."""
    if MODEL not in (spec.get("models") or ()):
        return []
    names = {"release": spec["dataset"], "original": spec["original"], "control": spec["control"]}
    files = {name: escaping.cell(str(file)) for name, file in names.items()}
    message = (
        "{release} is compared with {original}, and with {control} as the control. Where a value "
        "is an estimate, all of its interval (95 % confidence) must be within the bounds."
    )
    if not spec["control"]:
        message = (
            "{release} is compared with {original}, without a control: nobody can tell how much of "
            "what it says is about individuals. Where a value is an estimate, all of its interval "
            "(95 % confidence) must be within the bounds."
        )
    return [said(message, **files), limits(spec)]


def levels_table(frame: pl.DataFrame) -> Table:
    """Return a table with a row per level, in the order of the policy; NO marks those not met."""
    has_baseline = frame["baseline"].null_count() < frame.height
    has_attempt = "attempt" in frame.columns and bool((frame["attempt"] < 1).any())
    has_interval = "low" in frame.columns and frame["low"].null_count() < frame.height
    heads = [said("rule"), said("of"), said("measure")]
    heads += [said("success"), said("attempt")] if has_attempt else []
    right = [0, *range(3, len(heads) + 1)]
    heads += [said("value"), *([said("between")] if has_interval else [])]
    if has_baseline:
        right.append(len(heads))
        heads.append(said("baseline"))
    table = Table.of([*heads, said("required"), said("met")], right=right)
    for row in frame.iter_rows(named=True):
        cells = [str(row["rule"]), level_subject(row), row["measure"]]
        cells += [_number_text(row["success"]), _number_text(row["attempt"])] if has_attempt else []
        cells += [value_text(row), *([interval_text(row)] if has_interval else [])]
        cells += [_number_text(row["baseline"])] if has_baseline else []
        table.add_row(*cells, bounds_text(row["wanted"]), met_text(row))
    return table


def _number_text(value: float | None) -> str:
    return "" if value is None else escaping.cell(value)


def level_subject(row: Mapping[str, Any]) -> str:
    """Return the subject of a level: ``CAS of disease, region = North``."""
    about = row["model"]
    if about == MODEL:
        about = said("the release") if row["secret"] is None else row["secret"]
    elif row["secret"] is not None:
        about = said("{model} of {secret}", model=about, secret=row["secret"])
    if row.get("recipient") is not None:
        about = f"{row['recipient']}: {about}"
    where = "" if row["by"] is None else f", {row['by']} = {escaping.cell(row['group'])}"
    return escaping.cell(f"{about}{where}")


def value_text(row: Mapping[str, Any]) -> str:
    """Return the value of a level; an estimate, which has an interval, with four decimals."""
    if row["value"] is None:
        return said("nobody")
    if row.get("low") is None:
        return escaping.cell(row["value"])
    return number(f"{row['value']:.4f}")


def interval_text(row: Mapping[str, Any]) -> str:
    """Return the ends of the interval of a value with four decimals; empty without one."""
    if row.get("low") is None:
        return ""
    low, high = (number(f"{row[end]:.4f}") for end in ("low", "high"))
    return said("{low} and {high}", low=low, high=high)


def met_text(row: Mapping[str, Any]) -> str:
    """Return whether a level is met; NO marks one that is not."""
    return said("yes") if row["met"] else Bad(said("NO"))


def bounds_text(text: str) -> str:
    """Return the bounds of a level, as ``Rule.limits`` writes them: ``<= 0.2 and fall <= 0.1``."""
    messages = {"rise": "rise {bound}", "fall": "fall {bound}"}
    texts = []
    for written in text.split(" and "):
        bound = LONG_LIMIT.sub(lambda match: f"{float(match[0]):.6g}", written)
        drift, _, limit = bound.partition(" ")
        is_drift = drift in messages
        texts.append(said(messages[drift], bound=number(limit)) if is_drift else number(bound))
    return words.listed(texts)


def finding_text(row: Mapping[str, Any]) -> str:
    """Return the value and the bounds of a level: ``worst_case is 0.5, required <= 0.3``."""
    text = f"{row['measure']} is {row['value']}"
    if row.get("low") is not None:
        text += f" (between {row['low']} and {row['high']})"
    if row.get("attempt") not in (None, 1):
        text += f" (attempt {row['attempt']} times success {row['success']})"
    if row["baseline"] is not None:
        text += f" (baseline {row['baseline']})"
    return f"{text}, required {row['wanted']}"


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    parts: list[Part] = [levels_table(stored.frame), *map(Paragraph, comparison_text(stored.spec))]
    return said("Policy: {name}", name=subject(stored.spec)), parts
