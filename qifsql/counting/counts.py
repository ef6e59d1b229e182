"""The counts of one attack, computed once and kept in the engine for many questions.

The questions to come determine the tables to keep. Secrets of few values are counted by tallies,
all in one pass; others by cells, the number of records of each block with each value. Every
profile, measure, gain function and histogram is computed from these tables, not from the data.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Attribute, BoundAttack
from qifsql.counting.session import check_records, note_dropped
from qifsql.data.dataset import Dataset
from qifsql.data.files import parsed_json
from qifsql.data.frames import digest_of
from qifsql.data.readers import LOADED, STORE, attaching
from qifsql.engine import ledger
from qifsql.engine.connections import Stream
from qifsql.engine.decoding import public_sql
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, InputError
from qifsql.measures.profile import Profile
from qifsql.query import compiler, render
from qifsql.query.compiler import Question
from qifsql.query.microdata_steps import KNOWN_KINDS, PERSONS, lasting_steps
from qifsql.query.plan import Plan
from qifsql.query.steps import About, Steps

MOST_TALLIED_VALUES = 8  # of a secret that is counted by tallies, one per value
MOST_TALLIES = 24  # in one pass
STORE_VERSION = 3  # of the tables in a file of counts


def _by_question(
    frame: pl.DataFrame, questions: Sequence[Question]
) -> Iterable[tuple[Question, pl.DataFrame]]:
    """Split a frame by its columns ``secret`` and ``gain``: pairs of a question and its rows."""
    if len(questions) == 1:  # all rows are about it
        return [(questions[0], frame)] if frame.height else []
    parts = frame.partition_by("secret", "gain", maintain_order=True, as_dict=True)
    return [((secret, gain), part) for (secret, gain), part in parts.items()]


@dataclass(frozen=True)
class Domain:
    """The values of a secret: their number, a flag for a missing one, and the number of people."""

    values: int
    missing: bool
    people: int


@dataclass(frozen=True)
class Store:
    """A file that stores counts for later runs, and a connection for its ledger."""

    path: Path
    stream: Stream


class Counts:
    """The counts of one attack.

    ``further_questions``: questions other than the profile will follow, so cells are kept for them.
    ``tallied`` allows tallies for secrets of few values; cells cannot be computed from tallies.
    ``people_of`` are counts of the same records for an adversary who knows more or less of each
    person: they hand over their tables of people, and lose all others. ``plans`` are the plans that
    ran; ``catalogs`` has the catalog of each kept table by its name; ``values`` the number of
    values of each secret that is counted by tallies. ``records`` is the number of records,
    ``reported`` that of all records and of those with each secret, if it was asked for.
    """

    def __init__(
        self,
        engine: Engine,
        bound: BoundAttack,
        *,
        further_questions: bool = False,
        tallied: bool = True,
        store: Store | None = None,
        people_of: "Counts | None" = None,
    ) -> None:
        """Count the records, or take the tables of a ``store`` that an earlier run has filled.

        ``people_of``: counts of the same records, whose table of people is taken over. The class
        describes the other arguments.
        """
        self.engine = engine
        self.bound = bound
        self.where = bound.microdata.dataset.name
        self.plans: list[Plan] = []
        self.values: dict[int, int] = {}
        self.reported: list[int] | None = None
        self._domains: dict[int, Domain] = {}
        path = store.path if store else None
        stored_tables = engine.open_kept(path)  # empty if there is no store, or a new one
        # The statement before the printed plans, so that these run without qifsql.
        self._opening = attaching(str(path) if stored_tables else ":memory:", STORE)
        self.catalogs = dict.fromkeys(stored_tables - {ledger.LEDGER}, STORE)
        self._ledger = store.stream if store else None
        self.records: int
        if people_of is not None:
            self.catalogs = people_of.give_people()
            self.records = people_of.records
            self._keep_cells(further_questions, tallied=tallied)
            return
        if store and stored_tables:  # an earlier run has counted
            self.records = self._read_store(store, stored_tables)
            return
        self.records = check_records(engine, bound.microdata)
        if self._ledger is None:
            self._keep_cells(further_questions, tallied=tallied)
        else:
            self._fill_store(self._ledger)

    def _fill_store(self, stream: Stream) -> None:
        """Count for this run and later ones, which may ask anything, in a new file of tables."""
        ledger.begin(stream)  # only now, so that a refused attack leaves an empty file
        self._keep_cells(True, tallied=False)
        # One row that says what was asked; the last table: a store without it was not finished.
        text = json.dumps({"question": self._request(), "records": self.records})
        query = exp.select(exp.alias_(exp.Literal.string(text), "asked"))
        self.engine.keep("question", Plan((), query), "counting", self.where)
        ledger.enter(stream, "question")

    def profiles(
        self, questions: Sequence[Question], *, prior: bool, reported: bool = False
    ) -> dict[Question, Profile]:
        """Return the profile of each question: the numbers of a secret and of a gain function.

        Secret 0 is the owner of the record, gain 0 the identity. ``prior``: without
        quasi-identifiers. ``reported``: only people whose secret is not missing. With
        quasi-identifiers, people with suppressed records may be anybody: their block is everyone.
        """
        profiles = self._profiles(self.bound, questions, prior=prior, reported=reported)
        if prior or not self._hides:
            return profiles
        priors = self._profiles(self.bound, questions, prior=True, reported=reported)
        hidden = self._profiles(self.hidden, questions, prior=False, reported=reported)
        for question, of_hidden in hidden.items():
            profile = profiles.get(question, of_hidden.empty())
            profiles[question] = profile.with_everyone(of_hidden, priors[question])
        return profiles

    @property
    def hidden(self) -> BoundAttack:
        """Return the attack on the people with suppressed records alone."""
        return self.bound.on(replace(self.bound.microdata, part="hidden"))

    @property
    def _hides(self) -> bool:
        """Return whether people with suppressed records are counted apart."""
        return bool(self.bound.microdata.suppressed) and not self.bound.target

    def _profiles(
        self,
        bound: BoundAttack,
        questions: Sequence[Question],
        *,
        prior: bool,
        reported: bool = False,
    ) -> dict[Question, Profile]:
        """Return the profiles of the people of ``bound``, as ``profiles``; none without people.

        All questions whose profiles have the same columns are counted by one statement.
        """
        counted_as = {q: self._same_blocks(q) for q in questions}  # one profile may answer two
        # profiles with weights, and of guesses at which somebody is sure, have other columns
        by_columns: dict[tuple[bool, bool], list[Question]] = {}
        for j, g in sorted(set(counted_as.values())):
            weighted = bound.microdata.weight is not None or j in bound.beliefs
            counts_usual = Steps(bound).counts_usual(About(j, g, prior))
            by_columns.setdefault((weighted, counts_usual), []).append((j, g))
        what = "measuring the prior" if prior else "attacking"
        profiles: dict[Question, Profile] = {}
        for (weighted, _), alike in sorted(by_columns.items()):
            steps = self._steps(bound)
            plan = compiler.profile_plan(steps, alike, prior=prior, reported=reported)
            for question, rows in _by_question(self._frame(plan, what), alike):
                blocks = rows.drop_nulls("size")
                if blocks.is_empty():  # of nobody, as no one reports the secret
                    continue
                build = Profile.of_weights if weighted else Profile.of_counts
                profiles[question] = build(blocks)
        return {q: profiles[i] for q, i in counted_as.items() if i in profiles}

    def frame(
        self,
        step: str,
        questions: Sequence[Question],
        *,
        prior: bool = False,
        reported: bool = False,
        hidden: bool = False,
    ) -> pl.DataFrame:
        """Run the query ``step`` (a view of ``sql/``) for each question; return all rows.

        The columns ``secret`` and ``gain`` are the numbers of the question. ``prior``: without
        quasi-identifiers. ``reported``: only people whose secret is not missing. ``hidden``: about
        the people with suppressed records alone.
        """
        steps = self._steps(self.hidden if hidden else self.bound)
        plan = compiler.step_plan(steps, step, questions, prior=prior, reported=reported)
        return self._frame(plan, "measuring")

    def _steps(self, bound: BoundAttack) -> Steps:
        """Begin a plan about the people of ``bound``: all, or those with suppressed records.

        Of the kept tables it reads those that are about the same people, and those of everybody.
        """
        catalogs = self.catalogs
        if bound.microdata.part != self.bound.microdata.part:
            of_all_people = ("microdata", "prior_", PERSONS)
            catalogs = {n: c for n, c in catalogs.items() if n.startswith(of_all_people)}
        return Steps(bound, catalogs=catalogs, values=self.values)

    def note_dropped(self, people: int) -> tuple[str, ...]:
        """Return a note on the records that the rule for missing values leaves out."""
        microdata = self.bound.microdata
        if microdata.null != "drop" or microdata.person or microdata.weight:
            return ()
        return note_dropped(self.records, people)

    def domain(self, secret: int) -> Domain:
        """Return the domain of a secret."""
        if secret not in self._domains:
            row = self.frame("domain", [(secret, 0)]).row(0, named=True)
            self._domains[secret] = Domain(row["values"], row["missing"] > 0, row["people"])
        return self._domains[secret]

    def keep(
        self,
        name: str,
        secret: int = 0,
        gain: int = 0,
        *,
        prior: bool = False,
        lasting: bool = True,
    ) -> None:
        """Keep the rows of the view ``name`` of ``sql/`` as a table, for later questions.

        ``secret`` and ``gain`` are numbers (0: the owner, the identity). A table that is not
        ``lasting`` does not go to the store.
        """
        steps = self._steps(self.bound)
        self.keep_rows(*compiler.kept_plan(steps, name, secret, gain, prior=prior), lasting=lasting)

    def keep_rows(self, name: str, plan: Plan, *, lasting: bool = False) -> None:
        """Keep the rows of any plan as a table of that name, unless there is one already."""
        if name not in self.catalogs:
            catalog = STORE if lasting else LOADED
            self._send(replace(plan, keeps=(catalog, name)))
            self.engine.keep(name, plan, "counting", self.where, catalog=catalog)
            if lasting and self._ledger is not None:
                ledger.enter(self._ledger, name)
            self.catalogs[name] = catalog

    def forget(self) -> None:
        """Drop the kept tables, so that another attack can be counted."""
        for name, catalog in self.catalogs.items():
            self.engine.drop(name, catalog)
            if catalog == STORE and self._ledger is not None:
                ledger.strike(self._ledger, name)
        self.catalogs = {}

    def give_people(self) -> dict[str, str]:
        """Return the tables of people (with catalogs) for other counts; drop all other tables."""
        lasting = {KNOWN_KINDS, *lasting_steps(self.bound.microdata)} - {"microdata"}
        people = {name: catalog for name, catalog in self.catalogs.items() if name in lasting}
        self.catalogs = {n: c for n, c in self.catalogs.items() if n not in people}
        self.forget()
        return people

    def _keep_cells(self, further_questions: bool, *, tallied: bool) -> None:
        """Keep, as tables of the engine, the counts that all later questions read.

        They count the people of a block with a value of the secret: as cells (a row for each value)
        or, if ``tallied`` and for few values, as tallies (a column for each value). Secret 0 is the
        owner of the record. ``further_questions``: others than those known now may follow.
        """
        bound, microdata = self.bound, self.bound.microdata
        secrets = range(1, len(microdata.secrets) + 1)
        for step in lasting_steps(microdata):  # such as the table of people with several records
            self.keep(step, lasting=False)
        self._keep_known_kinds()
        for j in secrets:  # the people with each value, in one block
            self.keep("cells", j, prior=True)
        needs_cells = bound.gains or bound.beliefs or bound.target or self._hides
        if tallied and not (needs_cells or microdata.weight):
            self.values = self._tallied_values()
        if self.values:  # how many blocks have the same tallies; also enough for the owner
            for name in ("member_signatures", "signatures") if microdata.by else ("signatures",):
                self.keep(name)
        for j in secrets:  # those with a missing value are counted again without it
            if j not in self.values and (further_questions or self.domain(j).missing):
                self.keep("cells", j)
        if further_questions and 0 in self._secret_numbers() and not self.values:
            self.keep("cells" if microdata.weight else "blocks", 0)
        if microdata.by:  # counts by group; ``member_signatures`` has those of tallied secrets
            tallied_numbers = {*self.values, 0} if self.values else set[int]()
            for j in self._secret_numbers() - tallied_numbers:
                self.keep("members", j)

    def _keep_known_kinds(self) -> None:
        """Keep the blocks of equal records, by kind, if people have sets of records.

        Such an attack is made twice: one record of a person is known, or all are. Blocks of people
        with one record are the same in both, so they are counted once. That is possible only for
        numbered sets of records, and for re-identification alone.
        """
        microdata = self.bound.microdata
        owners_alone = self._secret_numbers() == {0} and not (
            microdata.reported or self.bound.target
        )
        if microdata.of_lists and microdata.numbered and owners_alone:
            by_record = self.bound.on(microdata.by_one_record())
            steps = Steps(by_record, catalogs=self.catalogs)
            self.keep_rows(*compiler.kept_plan(steps, KNOWN_KINDS))

    def _secret_numbers(self) -> set[int]:
        """Return the numbers of the secrets that the models ask for; 0 is the owner."""
        return {j for j, _ in compiler.questions(self.bound)}

    def _tallied_values(self) -> dict[int, int]:
        """Return the number of values of each secret to count by tallies: a column per value."""
        tallied: dict[int, int] = {}
        for j in range(1, len(self.bound.microdata.secrets) + 1):
            values = self.domain(j).values
            # few values of this secret, and not too many columns for one pass over the data
            if values <= MOST_TALLIED_VALUES and sum(tallied.values()) + values <= MOST_TALLIES:
                tallied[j] = values
        return tallied

    def _same_blocks(self, question: Question) -> Question:
        """Return the question whose profile answers this one.

        That of the owner, (0, 0), needs the sizes of the blocks alone, which the profile of any
        secret has; a secret with beliefs has weights instead, so it cannot stand for the owner.
        """
        secrets = range(1, len(self.bound.microdata.secrets) + 1)
        without_beliefs = next((j for j in secrets if j not in self.bound.beliefs), 0)
        return (without_beliefs, 0) if question == (0, 0) else question

    def _frame(self, plan: Plan, what: str) -> pl.DataFrame:
        """Run a plan, which is recorded; return its rows."""
        self._send(plan)
        return self.engine.frame(plan, what, self.where)

    def _send(self, plan: Plan) -> None:
        """Record a plan that runs, with the statement that opens the store before it."""
        self.plans.append(replace(plan, setup=(self._opening, *plan.setup)))

    def _read_store(self, store: Store, tables: set[str]) -> int:
        """Check the tables of a store, whose names are ``tables``; return the number of records.

        Tables that an interrupted run left unfinished are dropped. Raises InputError if the counts
        are of another question, DatasetError if a table differs from what was stored in it.
        """
        if "question" not in tables:
            raise InputError(
                f"{store.path} holds no counts, or was not finished; name another file, or "
                "remove it"
            )
        damaged = (
            f"{store.path} is damaged: it does not hold what was stored in it; remove it, or name "
            "another file with --store"
        )
        with ledger.readable(damaged):
            table = exp.table_("question", db="main", catalog=STORE)
            ((text,),) = self.engine.query(exp.select("asked").from_(table), self.where)
            stored: dict[str, Any] = parsed_json(text)
            before, now = stored["question"], self._request()
            changes = [name for name, value in now.items() if before.get(name) != value]
        if changes:
            raise InputError(
                f"{store.path} holds the counts of another question: {', '.join(changes)} differ; "
                "name another file"
            )
        entered = ledger.check(store.stream, tables, damaged)
        for name in set(self.catalogs) - entered:
            self.engine.drop(name, STORE)
            del self.catalogs[name]
        if "question" not in entered:
            raise DatasetError(damaged)
        return int(stored["records"])

    def _request(self) -> Mapping[str, Any]:
        """Return all that determines the counts, as plain data that can be compared.

        A store that holds the counts of another request, or states none, is refused.
        """
        people, dataset = self.bound.microdata, self.bound.microdata.dataset
        stats = [Path(path).stat() for path in dataset.paths if digest_of(path) is None]

        def rendered(attribute: Attribute | None) -> str | None:
            return None if attribute is None else render.render(attribute.expression)

        return {
            "form": STORE_VERSION,
            "engine": ledger.ENGINE,
            "dataset": [dataset.name, dataset.table, list(dataset.paths)],
            "join": public_sql(dataset.statement) if isinstance(dataset, Dataset) else None,
            "reading": json.loads(json.dumps(dataset.identity_of_reading)),
            "files": [[s.st_size, s.st_mtime_ns, s.st_ctime_ns] for s in stats],
            "qids": list(map(rendered, people.qids)),
            "secrets": list(map(rendered, people.secrets)),
            "weight": rendered(people.weight),
            "by": rendered(people.by),
            "where": None if people.where is None else render.render(people.where),
            "null": people.null,
            **({"suppressed": people.suppressed} if people.suppressed else {}),
            "models": sorted({m.goal for m in self.bound.models}),
        }
