"""The SQL of a manifest, pasted as it is into a bare DuckDB; the measures in exact fractions."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qifsql.adversary.laws import laws
from qifsql.commands.verify import exact_measures
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.stored_request import (
    COPY_REASON,
    OTHER_SOURCES,
    SUPPRESSED_REASON,
    RepetitionError,
    current_source,
)
from qifsql.commands.verify.verdicts import (
    MANIFEST,
    RESULTS,
    Place,
    Question,
    Repetition,
    place_numbers,
    place_results,
    questions,
)
from qifsql.data.readers import escaped
from qifsql.engine.bare import Answer, BareDuckDB, OverdueError
from qifsql.engine.settings import Settings
from qifsql.errors import ExpressionError, InputError, InternalError
from qifsql.query.render import parsed
from qifsql.reference import entropies
from qifsql.reference.success import Kind, Number, Success, compared, success
from qifsql.results.stored import Stored

LEAST_SECONDS, MOST_SECONDS = 60.0, 7200.0  # that the SQL of a manifest may run
Rows = list[dict[str, Any]]
Key = tuple[str, str | None, int]
"""The kind of a step (``profile``), the secret (None: the record itself), the gain by number."""
GROUP_COLUMNS = {
    "individuals": "individuals",
    "singled_out": "singled_out",
    "individuals_certain": "certain",
    "posterior_deterministic": "deterministic",
    "posterior_probabilistic": "probabilistic",
    "worst_case": "worst_case",
}
NOISY_COLUMNS = ("blocks", "total", "most", "certain", "worst_case")
"""Columns of an answer about noisy knowledge."""
TRUE_SECRET_COLUMNS = ("best", "total", "possible")
"""Columns of an answer about the true values of a secret that was drawn by a matrix."""
DETAIL_COLUMNS = {  # table: the column that names a row, and the column of its number
    "histogram": ("bin", "individuals"),
    "thresholds": ("threshold", "individuals"),
    "quantiles": ("quantile", "success"),
}


def repeat(stored: Stored, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of a stored attack by the SQL of its manifest; ``broken`` if it fails."""
    script = str(stored.manifest["sql"])
    if reason := _obstacle(stored, script):
        return Repetition(MANIFEST, reason=reason)
    script = inputs.relocate(script)
    where = f"the manifest of {stored.name}"
    # Ten times what the attack took, within limits: whoever made the file has written the number.
    stored_seconds = stored.manifest.get("seconds")
    seconds = LEAST_SECONDS
    if isinstance(stored_seconds, int | float) and stored_seconds < MOST_SECONDS:
        seconds = min(max(seconds, 10 * float(stored_seconds)), MOST_SECONDS)
    try:
        datasets = current_source(stored, inputs).datasets
        if any(dataset.copy_name for dataset in datasets):
            return Repetition(MANIFEST, reason=COPY_REASON)
        if not _reads_every_file(script, inputs):
            return Repetition(MANIFEST, broken="the SQL of the manifest does not read all data")
        with BareDuckDB(inputs.now, settings, where, datasets) as bare:
            raw = bare.run(script, seconds=seconds)
            answers = _rows_by_step(raw, list(stored.spec["secrets"]))
    except RepetitionError as e:
        return Repetition(MANIFEST, reason=str(e))
    except OverdueError as e:
        return Repetition(MANIFEST, reason=f"the SQL of the manifest was stopped: {e}")
    except (InputError, ExpressionError, InternalError, SqlglotError) as e:
        return Repetition(MANIFEST, broken=f"the SQL of the manifest does not run: {e}")
    if not any(kind == "profile" for kind, *_ in answers):
        return Repetition(MANIFEST, broken="the SQL of the manifest counts no blocks")
    try:
        pasted = Pasted(stored, answers)
        numbers = pasted.results()
        numbers |= pasted.details(numbers) | pasted.noisy_results(raw)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return Repetition(
            MANIFEST, broken="the SQL of the manifest gives other columns than counts"
        )
    return Repetition(MANIFEST, numbers)


def _reads_every_file(script: str, inputs: Inputs) -> bool:
    """Return whether a script reads every file of the data: in FROM, or with ATTACH."""
    names: set[str] = set()
    for tree in sqlglot.parse(script, read="duckdb"):
        for node in tree.find_all(exp.Table, exp.Attach) if tree is not None else ():
            texts = {literal.this for literal in node.find_all(exp.Literal) if literal.is_string}
            names |= texts | {node.name}
    return all(names & {path, escaped(path)} for path in inputs.now)  # escaped: *, ? and [


def _obstacle(stored: Stored, script: str) -> str:
    """Return why this SQL cannot be pasted; empty if it can."""
    if stored.manifest.get("engine") == "spark":
        return "the counts were made on Spark; the manifest has their SQL for DuckDB"
    for option, why in {**OTHER_SOURCES, "suppressed_records": SUPPRESSED_REASON}.items():
        if stored.spec.get(option):
            return why
    if stored.kind != "attack":
        return f"the SQL of a result of {stored.kind} is not a script that can be pasted"
    if "ATTACH IF NOT EXISTS ':memory:' AS kept" in script:  # a table of data that qifsql loaded
        is_frame = "frame" in {str(file["path"]) for file in stored.manifest["inputs"]}
        return "the data were a data frame" if is_frame else ""
    reads_store = "AS kept" in script  # in the file that it attaches
    return "the SQL reads a file of counts (--store), not the data" if reads_store else ""


def _rows_by_step(answers: Iterable[Answer], secrets: Sequence[str]) -> dict[Key, list[Rows]]:
    """Return the rows of answers by step, secret and gain: one list of rows per statement.

    A statement may read several steps, in a UNION. A progressive attack has a statement for each
    number of datasets, in this order. Answers of other columns (noisy knowledge) are left out.
    """
    secret_of_number = dict(enumerate([None, *secrets]))  # 0 is the record itself
    statements: dict[Key, list[Rows]] = {}
    for answer in answers:
        if answer.columns[:2] != ("secret", "gain"):
            continue
        rows = answer.lines()
        for step in _step_names(answer.statement):
            # profile_1_2 is about secret 1 and gain 2; a step without a number about its rows'
            # secret, without a second number about the gain identity (0)
            numbers = [int(number) for number in re.findall(r"_(\d+)", step)]
            secret = numbers[0] if numbers else int(rows[0]["secret"])
            gain = numbers[1] if len(numbers) > 1 else 0
            kind = re.sub(r"(_\d+)+$", "", step)
            of_step = [row for row in rows if (row["secret"], row["gain"]) == (secret, gain)]
            if secret in secret_of_number:
                key = (kind, secret_of_number[secret], gain)
                statements.setdefault(key, []).append(of_step)
    return statements


def _step_names(statement: str) -> list[str]:
    """Return the names of the steps that a statement reads: one for each SELECT of a UNION."""
    names: list[str] = []
    queries = [parsed(statement)]
    while queries:
        query = queries.pop()
        if isinstance(query, exp.SetOperation):
            queries += [query.this, query.expression]
        elif isinstance(query, exp.Select):
            names.append(str(query.args["from_"].this.name))
    return names


@dataclass(frozen=True)
class Pasted:
    """A stored attack, and the answers of its SQL: of each step, the rows per statement."""

    stored: Stored
    answers: Mapping[Key, list[Rows]]

    @property
    def progressive(self) -> bool:
        """Return whether the attack is about one dataset, then two, and so on."""
        return self.stored.frame["datasets"].n_unique() > 1

    def _statement(self, question: Question) -> int:
        """Return which statement of a step is about the datasets of a question, from 0."""
        return question.datasets - 1 if self.progressive else 0

    def results(self) -> dict[Place, Number]:
        """Return the numbers of the table of results, without the rows of noisy knowledge."""
        numbers: dict[Place, Number] = {}
        for question in questions(self.stored):
            numbers |= place_results(self.stored, question.row, self._measures(question))
        return numbers

    def _measures(self, question: Question) -> dict[str, Number]:
        """Return the numbers of the row of results that answers a question, by column."""
        # Everybody as one block, and the blocks of the release, as the SQL has counted them.
        prior, posterior = (self._kinds(step, question) for step in ("prior_profile", "profile"))
        owner, spec = question.secret is None, self.stored.spec  # the record itself
        numbers = exact_measures.numbers_of_kinds(prior, posterior, owner=owner)
        if owner:
            numbers |= dict.fromkeys(exact_measures.OF_REPORTED)
        elif not spec.get("person"):
            reported = self._numbers_of_reporting(question, prior, posterior)
            numbers = exact_measures.with_reported(numbers, reported)
        if spec.get("prior"):  # people whom the beliefs rule out are records, too
            del numbers["records"]
        numbers |= exact_measures.reidentification_risks(
            posterior, owner=owner, population=bool(spec.get("population"))
        )
        of_one_person = question.model.startswith("I")  # IRS, IAS, ...
        if of_one_person or self.progressive:  # without entropies, guesses and capacity
            return numbers
        if owner and not spec.get("weight"):
            return numbers | exact_measures.numbers_of_owner(prior, posterior)
        return numbers | self._further_measures(question.secret, posterior)

    def _numbers_of_reporting(
        self, question: Question, prior: Sequence[Kind], posterior: Sequence[Kind]
    ) -> dict[str, Number]:
        """Return the numbers of the people whose secret is not missing, by column.

        If the SQL does not count them apart, they are everybody: ``prior`` and ``posterior``.
        """
        if ("reported_profile", question.secret, question.gain) not in self.answers:
            return exact_measures.numbers_of_reporting(prior, posterior, 0)
        prior = self._kinds("prior_reported_profile", question)
        posterior = self._kinds("reported_profile", question)
        # One row: the people of blocks in which nobody reports the secret.
        (row,) = self.answers["unreported", question.secret, 0][self._statement(question)]
        return exact_measures.numbers_of_reporting(prior, posterior, int(row["people"]))

    def _kinds(self, step: str, question: Question) -> list[Kind]:
        """Return the kinds of blocks that a step (``profile``) counts for a question.

        Re-identification may not be counted apart: it needs only sizes, the same for every secret.
        """
        secret, gain = question.secret, question.gain
        is_counted = (step, secret, gain) in self.answers
        if not is_counted and secret is None and not gain:  # take the blocks of the first secret
            secret = next(s for s in self.stored.spec["secrets"] if (step, s, 0) in self.answers)
        return [
            exact_measures.kind_of_row(row, owner=question.secret is None, gain=bool(gain))
            for row in self.answers[step, secret, gain][self._statement(question)]
            if row["size"] is not None
        ]

    def _further_measures(self, secret: str | None, posterior: Sequence[Kind]) -> dict[str, Number]:
        """Return the measures of a secret that sizes and modes of blocks do not suffice for.

        They are entropies, capacity, Bayes security and pointwise leakage, each from the answer of
        its own step, if the SQL has it. ``posterior`` are the blocks after the release.
        """
        answers = {
            step: statements[0]
            for (step, name, gain), statements in self.answers.items()
            if (name, gain) == (secret, 0)
        }
        people = sum(kind.size * kind.blocks for kind in posterior)
        numbers = _uncertainties(answers, people)
        if "capacity" in answers:
            numbers |= exact_measures.capacity(answers["capacity"])
        has_weights = self.stored.spec.get("weight") or self.stored.spec.get("prior")
        if "domain" in answers and not has_weights:  # else it is not defined
            numbers |= _bayes_security(answers, posterior)
        if "pointwise" in answers:
            rows = answers["pointwise"]
            # How much likelier the value of a person is in her block than among everybody.
            ratios = [Fraction(r["people"] * people, r["size"] * r["everybody"]) for r in rows]
            people_of_blocks = [r["size"] * r["blocks"] for r in rows]
            numbers |= entropies.leakage_over_people(zip(ratios, people_of_blocks, strict=True))
        return numbers

    def noisy_results(self, raw: Sequence[Answer]) -> dict[Place, Number]:
        """Return the numbers of rows ``noisy``: of an adversary whose knowledge has errors.

        ``raw`` are all answers of the SQL. Those about her have NOISY_COLUMNS and one row, in the
        order of the secrets: the record itself, then those that were asked about. Where a matrix
        changed a secret, TRUE_SECRET_COLUMNS are about the values before it. If the result was
        estimated from drawn people, its SQL has other answers and nothing is returned.
        """
        noisy = questions(self.stored, noisy=True)
        secrets = list(dict.fromkeys([None, *(question.secret for question in noisy)]))
        outcomes = [answer.lines()[0] for answer in raw if answer.columns == NOISY_COLUMNS]
        about_true_values = [question for question in noisy if self._is_drawn_by_matrix(question)]
        true_values = [answer.lines()[0] for answer in raw if answer.columns == TRUE_SECRET_COLUMNS]
        if len(outcomes) != len(secrets) or len(true_values) != len(about_true_values):
            return {}
        true_values_of = dict(zip(about_true_values, true_values, strict=True))
        outcome_of_secret = dict(zip(secrets, outcomes, strict=True))
        numbers: dict[Place, Number] = {}
        for question in (*questions(self.stored), *noisy):  # exact numbers have no interval
            numbers |= place_numbers(RESULTS, question.row, {"low": None, "high": None})
        for question in noisy:
            outcome = outcome_of_secret[question.secret]
            kinds = self._kinds("prior_profile", question)
            records = sum(kind.size * kind.blocks for kind in kinds)
            prior = success(kinds)
            if true_row := true_values_of.get(question):  # the prior is that of the true values
                best = Fraction(int(true_row["best"]), int(true_row["total"]))
                is_certain = true_row["possible"] == 1
                prior = Success(Fraction(is_certain), best, best, is_certain * records)
            values = {
                "records": records,
                "blocks": int(outcome["blocks"]),
                "singled_out": _noisy_success(outcome_of_secret[None], records).certain,
                **compared(prior, _noisy_success(outcome, records)),
            }
            numbers |= place_numbers(RESULTS, question.row, values)
        return numbers

    def _is_drawn_by_matrix(self, question: Question) -> bool:
        """Return whether a question is about a secret whose values a known matrix has drawn."""
        stated_laws = laws(self.stored.frame["knows"][question.row])
        matrices = [law.column.casefold() for law in stated_laws if law.kind == "matrix"]
        return question.secret is not None and question.secret.casefold() in matrices

    def details(self, results: Mapping[Place, Number]) -> dict[Place, Number]:
        """Return the numbers of the tables of details; ``results`` has those of the results."""
        frame = self.stored.frame
        if "attack_id" not in frame.columns or self.progressive:
            return {}
        question_of_attack = {frame["attack_id"][q.row]: q for q in questions(self.stored)}
        numbers: dict[Place, Number] = {}
        for table in (*DETAIL_COLUMNS, "groups", "group_capacity"):
            for i, row in enumerate(self.stored.rows_of(table)):
                if question := question_of_attack.get(row["attack_id"]):
                    values = self._detail_numbers(table, row, question, results)
                    numbers |= place_numbers(table, i, values)
        return numbers

    def _detail_numbers(
        self,
        table: str,
        row: Mapping[str, Any],
        question: Question,
        results: Mapping[Place, Number],
    ) -> dict[str, Number]:
        """Return the numbers of one row of a table of details, by column."""
        if table == "groups":
            return self._group_numbers(row["group"], question, results)
        if table == "group_capacity":
            return self._group_capacity(row["group"], question)
        if (table, question.secret, question.gain) not in self.answers:
            return {}
        name, column = DETAIL_COLUMNS[table]  # the name of a bin, threshold or quantile
        counted = self._rows(table, question)
        same = [r[column] for r in counted if float(r[name]) == float(row[name])]
        return {column: same[0] if same else 0}  # SQL has no row where nobody is

    def _rows(self, step: str, question: Question) -> Rows:
        """Return the rows of the first statement of a step about a question, if there is one."""
        return self.answers.get((step, question.secret, question.gain), [[]])[0]

    def _group_capacity(self, group: str, question: Question) -> dict[str, Number]:
        """Return the capacity of a group (of any gain), and its number of people, by column."""
        rows = self._rows("group_capacity", replace(question, gain=0))
        shares = [row for row in rows if row["member_of"] == group]
        numbers = exact_measures.capacity(shares) if shares else {}
        for row in self._rows("groups", question):
            if row["member_of"] == group:
                numbers["individuals"] = row["individuals"]
        return numbers

    def _group_numbers(
        self, group: str, question: Question, results: Mapping[Place, Number]
    ) -> dict[str, Number]:
        """Return the numbers of the people of one group by column; none if SQL has no row of it.

        Rows of the SQL name their group in ``member_of``. ``gap`` is the success less the least of
        a group; ``results`` has the prior success.
        """
        groups = self._rows("groups", question)
        row = next((line for line in groups if line["member_of"] == group), None)
        if row is None:
            return {}
        guessed = self._rows("guessed_right", question)
        shares = [line["guessed_right"] for line in guessed if line["member_of"] == group]
        numbers: dict[str, Number] = {column: row[name] for column, name in GROUP_COLUMNS.items()}
        numbers["gap"] = row["probabilistic"] - min(line["probabilistic"] for line in groups)
        numbers["guessed_right"] = shares[0] if shares else None
        if prior := results.get(Place(RESULTS, question.row, "prior_probabilistic")):
            numbers["prior_probabilistic"] = prior
            numbers["degradation_probabilistic"] = Fraction(row["probabilistic"]) / Fraction(prior)
        return numbers


def _uncertainties(answers: Mapping[str, Rows], people: int) -> dict[str, Number]:
    """Return the entropies of a secret, the expected guesses, and the mutual information."""
    numbers: dict[str, Number] = {}
    for step, when in (("prior_uncertainty", "prior"), ("uncertainty", "posterior")):
        if step in answers:
            (row,) = answers[step]
            numbers[f"{when}_entropy"] = row["entropy"]
            if isinstance(row["guessing"], int):
                numbers[f"{when}_guessing"] = Fraction(row["guessing"], people)
    if {"prior_entropy", "posterior_entropy"} <= numbers.keys():
        numbers["mutual_information"] = exact_measures.difference(
            numbers["prior_entropy"], numbers["posterior_entropy"]
        )
    return numbers


def _noisy_success(row: Mapping[str, Any], records: int) -> Success:
    """Return the success in a row of NOISY_COLUMNS, whose counts are of ``total``."""
    total = Fraction(int(row["total"]))
    sure, best = int(row["certain"]) / total, int(row["most"]) / total
    return Success(sure, best, Fraction(row["worst_case"]), int(sure * records))


def _bayes_security(answers: Mapping[str, Rows], posterior: Sequence[Kind]) -> dict[str, Number]:
    """Return the Bayes security; nothing if the SQL compares no pairs of values.

    It is 0 if two values share no block: surely so if blocks have fewer pairs than all values.
    """
    values = int(answers["domain"][0]["values"])  # of the secret, in all
    pairs_in_blocks = sum(kind.blocks * math.comb(kind.values, 2) for kind in posterior)
    if pairs_in_blocks < math.comb(values, 2):
        return {"bayes_security": Fraction(0)}
    if "security" not in answers:
        return {}
    row = answers["security"][0]  # the pairs that share a block, and their least overlap
    overlap = Fraction(int(row["overlap"]), int(row["product"])) if row["pairs"] else None
    return {"bayes_security": exact_measures.bayes_security(values, row["pairs"], overlap)}
