"""The SQL of a manifest, pasted as it is into a bare DuckDB; the measures in exact fractions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qifsql.commands.verify import exact_measures
from qifsql.commands.verify.input_digests import Inputs, path_literals
from qifsql.commands.verify.numbers import (
    MANIFEST,
    RESULTS,
    Place,
    Question,
    Repetition,
    noisy_questions,
    questions,
)
from qifsql.commands.verify.stored_request import APART, COPIED
from qifsql.data.readers import escaped
from qifsql.engine.bare import Answer, BareDuckDB, OverdueError
from qifsql.engine.settings import Settings
from qifsql.errors import ExpressionError, InputError, InternalError
from qifsql.query.render import parsed
from qifsql.reference import entropies
from qifsql.reference.success import Kind, Number, Success, compared, success
from qifsql.results.stored import Stored

ENGINE_TABLE = re.compile(r'memory\."?main"?\."?(copy_|loaded_csv)', re.IGNORECASE)
STEP = re.compile(r"(?P<kind>.+?)(_\d+)*$")
LEAST_PATIENCE, MOST_PATIENCE = 60.0, 7200.0  # seconds for the SQL of a manifest
Rows = list[dict[str, Any]]
Key = tuple[str, int, int]
"""The kind of a step (``profile``), the secret and the gain."""
GROUP_COLUMNS = {
    "individuals": "individuals",
    "singled_out": "singled_out",
    "individuals_certain": "certain",
    "posterior_deterministic": "deterministic",
    "posterior_probabilistic": "probabilistic",
    "worst_case": "worst_case",
}
NOISY = ("blocks", "total", "most", "certain", "worst_case")
"""Columns of an answer about noisy knowledge."""
DETAILS = {  # table: the column that names a row, and the columns of numbers
    "histogram": ("bin", ("individuals",)),
    "thresholds": ("threshold", ("individuals",)),
    "quantiles": ("quantile", ("success",)),
}


def repeat(stored: Stored, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of a stored attack by the SQL of its manifest."""
    script = str(stored.manifest["sql"])
    if reason := _obstacle(stored, script):
        return Repetition(MANIFEST, reason=reason)
    for before, now in path_literals(inputs.moved.items()).items():
        script = script.replace(before, now)
    try:
        if not _reads_every_file(script, inputs):
            return Repetition(MANIFEST, broken="the SQL of the manifest does not read all data")
        with BareDuckDB(inputs.now, settings, f"the manifest of {stored.name}") as bare:
            raw = bare.run(script, seconds=_time_limit(stored))
            answers = _by_step(raw)
    except OverdueError as e:
        return Repetition(MANIFEST, reason=f"the SQL of the manifest was stopped: {e}")
    except (InputError, ExpressionError, InternalError, SqlglotError) as e:
        return Repetition(MANIFEST, broken=f"the SQL of the manifest does not run: {e}")
    if not any(kind == "profile" for kind, *_ in answers):
        return Repetition(MANIFEST, broken="the SQL of the manifest counts no blocks")
    numbers: dict[Place, Number] = {}
    try:
        for question in questions(stored):
            numbers |= _numbers_of_row(question, answers, stored)
        numbers |= _detail_numbers(stored, answers, numbers)
        numbers |= _noisy_numbers(stored, answers, raw)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return Repetition(
            MANIFEST, broken="the SQL of the manifest gives other columns than counts"
        )
    return Repetition(MANIFEST, numbers)


def _time_limit(stored: Stored) -> float:
    """Return how many seconds the SQL of a manifest may take: whoever made it chose it."""
    seconds = stored.manifest.get("seconds")
    number = float(seconds) if isinstance(seconds, int | float) and seconds < MOST_PATIENCE else 0.0
    return min(max(LEAST_PATIENCE, 10 * number), MOST_PATIENCE)


def _reads_every_file(script: str, inputs: Inputs) -> bool:
    """Return whether a script reads every file of the data as a table; it can read no other."""
    tables: set[str] = set()
    for tree in sqlglot.parse(script, read="duckdb"):
        for node in tree.find_all(exp.Table, exp.Attach) if tree is not None else ():
            texts = {literal.this for literal in node.find_all(exp.Literal) if literal.is_string}
            tables |= texts | {node.name}
    return all(tables & {path, escaped(path)} for path in inputs.now)


def _obstacle(stored: Stored, script: str) -> str:
    """Return why this SQL cannot be pasted; empty if it can."""
    if stored.manifest.get("engine") == "spark":
        return "the counts were made on Spark; the manifest has their SQL for DuckDB"
    for option, why in APART.items():
        if stored.spec.get(option):
            return why
    if stored.kind != "attack":
        return f"the SQL of a result of {stored.kind} is not a script that can be pasted"
    if "ATTACH IF NOT EXISTS ':memory:' AS kept" not in script:
        if "AS kept" in script:
            return "the SQL reads a file of counts (--store), not the data"
        return ""
    files = {str(file["path"]) for file in stored.manifest["inputs"]}
    if "frame" in files:
        return "the data were a data frame"
    formats = {Path(file).suffix.casefold() for file in files}
    if formats & {".json", ".jsonl", ".ndjson", ".xlsx", ".dta", ".sav", ".sas7bdat", ".sqlite"}:
        return COPIED
    return ""


def _by_step(answers: Iterable[Answer]) -> dict[Key, list[Rows]]:
    """Return the rows of all answers by step, secret and gain, in the order of the statements."""
    steps: dict[Key, list[Rows]] = {}
    for answer in answers:
        if answer.columns[:2] != ("secret", "gain"):
            continue
        rows = answer.lines()
        for name in _sources(answer.statement):
            match = STEP.fullmatch(name)
            kind = match["kind"] if match else name
            j, g = _secret_and_gain(name, rows)
            part = [row for row in rows if (row["secret"], row["gain"]) == (j, g)]
            steps.setdefault((kind, j, g), []).append(part)
    return steps


def _sources(statement: str) -> list[str]:
    """Return the steps that a statement reads last, one for each part of its UNION."""
    tree = parsed(statement)
    selects: list[exp.Select] = []
    parts = [tree]
    while parts:
        part = parts.pop()
        if isinstance(part, exp.SetOperation):
            parts += [part.this, part.expression]
        elif isinstance(part, exp.Select):
            selects.append(part)
    return [str(select.args["from_"].this.name) for select in selects]


def _secret_and_gain(name: str, rows: Rows) -> tuple[int, int]:
    """Return the numbers of the secret and the gain in the name of a step (``profile_1_2``)."""
    ends = re.findall(r"_(\d+)", name)
    secret = int(ends[0]) if ends else int(rows[0]["secret"])
    return secret, int(ends[1]) if len(ends) > 1 else 0


def _numbers_of_row(
    question: Question, answers: Mapping[Key, list[Rows]], stored: Stored
) -> dict[Place, Number]:
    """Return the numbers of one row of the table of results."""
    part = question.datasets - 1 if _is_progressive(stored) else 0
    prior, posterior = (
        _kinds_of_blocks(answers, step, question, part) for step in ("prior_profile", "profile")
    )
    owner = not question.secret
    numbers = exact_measures.numbers_of_kinds(prior, posterior, owner=owner)
    if stored.spec.get("prior"):  # people whom the beliefs rule out are records, too
        del numbers["records"]
    population = bool(stored.spec.get("population"))
    numbers |= exact_measures.reidentification_risks(posterior, owner=owner, population=population)
    if not question.individual and not _is_progressive(stored):
        if owner and not stored.spec.get("weight"):
            numbers |= exact_measures.numbers_of_owner(prior, posterior)
        else:
            numbers |= _further_measures(question, answers, posterior)
    return {
        (RESULTS, question.row, name): value
        for name, value in numbers.items()
        if name in stored.frame.columns
    }


def _kinds_of_blocks(
    answers: Mapping[Key, list[Rows]], step: str, question: Question, part: int = 0
) -> list[Kind]:
    """Return the kinds of blocks that a step counts."""
    j, g = question.secret, question.gain
    if (step, j, g) not in answers and not (j or g):  # blocks of a secret are blocks of people
        j = min(secret for kind, secret, _ in answers if kind == step and secret)
    rows = answers[step, j, g][part]
    return [
        exact_measures.kind_of_row(row, owner=not question.secret, gain=bool(g))
        for row in rows
        if row["size"] is not None
    ]


def _noisy_numbers(
    stored: Stored, answers: Mapping[Key, list[Rows]], raw: Sequence[Answer]
) -> dict[Place, Number]:
    """Return the numbers of an adversary with noisy knowledge; none if people were drawn."""
    rows = noisy_questions(stored)
    secrets = list(dict.fromkeys([0, *(question.secret for question in rows)]))
    outcomes = [answer.lines()[0] for answer in raw if answer.columns == NOISY]
    if len(outcomes) != len(secrets):
        return {}
    by_secret = dict(zip(secrets, outcomes, strict=True))
    ends = (q.row for q in (*questions(stored), *rows))
    numbers: dict[Place, Number] = {
        (RESULTS, row, end): None for row in ends for end in ("low", "high")
    }
    for question in rows:
        prior = _kinds_of_blocks(answers, "prior_profile", question)
        before = success(prior)
        records = sum(kind.size * kind.blocks for kind in prior)
        owner, after = (_noisy_success(by_secret[j], records) for j in (0, question.secret))
        values = {
            "records": records,
            "blocks": int(by_secret[question.secret]["blocks"]),
            "singled_out": owner.certain,
            **compared(before, after),
        }
        numbers |= {(RESULTS, question.row, name): value for name, value in values.items()}
    return numbers


def _noisy_success(row: Mapping[str, Any], records: int) -> Success:
    """Return the success in an answer about noisy knowledge."""
    total = Fraction(int(row["total"]))
    sure, best = int(row["certain"]) / total, int(row["most"]) / total
    return Success(sure, best, Fraction(row["worst_case"]), int(sure * records))


def _is_progressive(stored: Stored) -> bool:
    return stored.frame["datasets"].n_unique() > 1


def _further_measures(
    question: Question, answers: Mapping[Key, list[Rows]], posterior: Sequence[Kind]
) -> dict[str, Number]:
    """Return the measures that need more than a profile."""
    j = question.secret
    numbers: dict[str, Number] = {}
    for step, when in (("prior_uncertainty", "prior"), ("uncertainty", "posterior")):
        if (step, j, 0) in answers:
            ((row,), *_) = answers[step, j, 0]
            people = sum(kind.size * kind.blocks for kind in posterior)
            numbers[f"{when}_entropy"] = row["entropy"]
            if isinstance(row["guessing"], int):
                numbers[f"{when}_guessing"] = Fraction(row["guessing"], people)
    if {"prior_entropy", "posterior_entropy"} <= numbers.keys():
        numbers["mutual_information"] = exact_measures.difference(
            numbers["prior_entropy"], numbers["posterior_entropy"]
        )
    if ("capacity", j, 0) in answers:
        rows = answers["capacity", j, 0][0]
        numbers |= exact_measures.capacity((int(r["people"]), int(r["everybody"])) for r in rows)
    if ("domain", j, 0) in answers:
        numbers |= _bayes_security(question, answers, posterior)
    if ("pointwise", j, 0) in answers:
        rows = answers["pointwise", j, 0][0]
        everybody = sum(kind.size * kind.blocks for kind in posterior)
        numbers |= entropies.leakage_over_people(
            (
                Fraction(r["people"] * everybody, r["size"] * r["everybody"]),
                r["size"] * r["blocks"],
            )
            for r in rows
        )
    return numbers


def _bayes_security(
    question: Question, answers: Mapping[Key, list[Rows]], posterior: Sequence[Kind]
) -> dict[str, Number]:
    """Return the Bayes security; it is 0 if there are fewer pairs in blocks than pairs of values.

    Nothing is returned if the SQL compares no pairs.
    """
    values = int(answers["domain", question.secret, 0][0][0]["values"])
    inside = sum(kind.blocks * kind.values * (kind.values - 1) // 2 for kind in posterior)
    if inside < values * (values - 1) // 2:
        return {"bayes_security": Fraction(0)}
    if ("security", question.secret, 0) not in answers:
        return {}
    row = answers["security", question.secret, 0][0][0]
    overlap = Fraction(int(row["overlap"]), int(row["product"])) if row["pairs"] else None
    return {"bayes_security": exact_measures.bayes_security(values, row["pairs"], overlap)}


def _detail_numbers(
    stored: Stored, answers: Mapping[Key, list[Rows]], results: Mapping[Place, Number]
) -> dict[Place, Number]:
    """Return the numbers of the tables of details that SQL gives row by row."""
    if "attack_id" not in stored.frame.columns or _is_progressive(stored):
        return {}
    by_id = {stored.frame["attack_id"][q.row]: q for q in questions(stored)}
    numbers: dict[Place, Number] = {}
    for table, (name, columns) in DETAILS.items():
        if table not in stored.details:
            continue
        for i, row in enumerate(stored.details[table].iter_rows(named=True)):
            rows = _first_answer(answers, table, by_id.get(row["attack_id"]))
            if rows is None:
                continue
            same = [line for line in rows if float(line[name]) == float(row[name])]
            for column in columns:
                numbers[table, i, column] = same[0][column] if same else 0
    numbers |= _capacities(stored, answers, by_id)
    if "groups" in stored.details:
        for i, row in enumerate(stored.details["groups"].iter_rows(named=True)):
            question = by_id.get(row["attack_id"])
            rows = _first_answer(answers, "groups", question) or []
            same = [line for line in rows if line["member_of"] == row["group"]]
            if question is not None and same:
                prior = results.get((RESULTS, question.row, "prior_probabilistic"))
                right = _first_answer(answers, "guessed_right", question) or []
                values = _group_numbers(same[0], rows, right, prior)
                numbers |= {("groups", i, column): value for column, value in values.items()}
    return numbers


def _capacities(
    stored: Stored, answers: Mapping[Key, list[Rows]], by_id: Mapping[str, Question]
) -> dict[Place, Number]:
    """Return the capacities of groups."""
    numbers: dict[Place, Number] = {}
    table = stored.details.get("group_capacity")
    for i, row in enumerate(() if table is None else table.iter_rows(named=True)):
        question = by_id.get(row["attack_id"])
        parts = answers.get(("group_capacity", question.secret, 0)) if question else None
        same = [line for line in (parts or [[]])[0] if line["member_of"] == row["group"]]
        if same:
            shares = [(int(line["people"]), int(line["everybody"])) for line in same]
            values = exact_measures.capacity(shares)
            numbers |= {("group_capacity", i, name): value for name, value in values.items()}
        rows = _first_answer(answers, "groups", question) or []
        for line in (line for line in rows if line["member_of"] == row["group"]):
            numbers["group_capacity", i, "individuals"] = line["individuals"]
    return numbers


def _group_numbers(
    row: Mapping[str, Any], rows: Rows, right: Rows, prior: Number
) -> dict[str, Number]:
    """Return the numbers of one group; ``rows`` and ``right`` are of all groups of its question."""
    numbers: dict[str, Number] = {column: row[name] for column, name in GROUP_COLUMNS.items()}
    numbers["gap"] = row["probabilistic"] - min(line["probabilistic"] for line in rows)
    shares = [line["guessed_right"] for line in right if line["member_of"] == row["member_of"]]
    numbers["guessed_right"] = shares[0] if shares else None
    if prior:
        numbers["prior_probabilistic"] = prior
        numbers["degradation_probabilistic"] = Fraction(row["probabilistic"]) / Fraction(prior)
    return numbers


def _first_answer(
    answers: Mapping[Key, list[Rows]], step: str, question: Question | None
) -> Rows | None:
    if question is None:
        return None
    parts = answers.get((step, question.secret, question.gain))
    return parts[0] if parts else None
