"""The steps of a plan, created when they are needed, each with all the steps that it reads.

A file of ``sql/`` names the tables that it reads in its FROM clauses. ``Steps.need`` splices it for
one secret and one gain function, after the steps of these tables. Names are numbered: ``cells_2``
are those of the second secret, ``profile_2_1`` is that of its first gain function besides identity.
Secret 0 is the owner of the record. The prefix ``prior_`` marks steps without quasi-identifiers.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, lru_cache

from sqlglot import exp

from qifsql.adversary.gains import STAKED
from qifsql.adversary.spec import BoundAttack
from qifsql.query import microdata_steps, parameters, suppression
from qifsql.query.columns import number
from qifsql.query.microdata_steps import KNOWN_KINDS, PERSONS
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import Parameters, Tally, splice
from qifsql.query.templates import Template, load

SHARED = (  # one for all secrets
    "chosen", "member_signatures", "member_tallies", "population", "signatures", "tallies",
)  # fmt: skip
PER_GAIN = (
    "answer", "asked", "blocks_of_all", "chances", "chances_of_all", "effort", "expected",
    "gained", "gains_check", "groups", "histogram", "listed", "nearest", "numbers", "pairs",
    "pairs_check", "profile", "quantiles", "reaches", "scale", "stakes", "thresholds",
    "unknown_values", "unusual", "usual_gains",
)  # fmt: skip
OF_THE_QUESTION = (  # the same before and after the release
    "asked", "beliefs", "listed", "nearest", "numbers", "pairs", "reaches", "scale",
    "secret_values", "stakes", "unusual", "usual_gains",
)  # fmt: skip
WEIGHTED = (
    "answer", "blocks", "capacity", "cells", "chances", "counts", "group_capacity", "members",
    "owner_guesses", "owner_members", "people", "profile", "uncertainty",
)  # fmt: skip
OF_OWNERS = {  # the files of these steps if the secret is the owner of the record
    "agreements": "owner_agreements",
    "blocks_with_usual": "owner_blocks_with_usual",
    "cells": "people",
    "known_blocks": "known_owners",
    "group_capacity": "owner_group_capacity",
    "guesses": "owner_guesses",
    "members": "owner_members",
}
BY_PERSON = (
    "crowds", "doubts", "groups", "guessed_right", "guesses", "housed", "revealed", "spectrum",
)  # fmt: skip
"""Steps that look up each person's block, which is everyone if her record is suppressed."""
OF_EVERYBODY = ("housed", "members", "owner_members")  # of people with suppressed records, too
PLACES = "positions"  # a table of one row whose values are known here
OF_UNWEIGHTED_OWNERS = {"blocks": "owners", "doubts": "owner_doubts"}
OWNERS_BY_TALLIES = {  # likewise, if secrets are counted by tallies
    "groups": "tally_groups",
    "member_kinds": "owner_member_kinds",
    "profile": "tally_owners",
}
BY_TALLIES = (  # steps that have a form for secrets that are counted by tallies
    "capacity", "groups", "guessed_right", "value_overlaps", "pointwise", "profile",
    "profile_with_usual", "spectra", "unreported",
)  # fmt: skip
OF_REPORTED = {  # what the counts are read from if only people with a reported secret count
    "cells": "reported_cells",
    "tally_counts": "reported_tally_counts",
}
BEFORE_BELIEF = (  # they read the counts of cells and members before beliefs change them
    "believed", "believed_members", "beliefs_check", "domain", "secret_values",
)  # fmt: skip
MATERIALIZED = (
    "member_tallies", "secret_values", "signatures", "spectra", "tally_counts", "chances", "stakes",
)  # fmt: skip


@dataclass(frozen=True)
class About:
    """The topic of a step: a secret (0: the owner of the record), a gain function, the prior.

    ``reported``: only the people with a reported secret.
    """

    secret: int
    gain: int = 0
    prior: bool = False
    reported: bool = False


@dataclass
class Steps:
    """The steps of a plan, in order.

    ``key``: the step ``microdata`` has the key of the person. ``catalogs`` are those of the
    engine's tables that already hold steps, by the names of the steps. ``values`` are the numbers
    of values of the secrets that are counted by tallies.
    """

    attack: BoundAttack
    _: KW_ONLY
    key: bool = False
    catalogs: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[int, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list, init=False)

    def need(
        self,
        name: str,
        secret: int = 0,
        gain: int = 0,
        *,
        prior: bool = False,
        reported: bool = False,
    ) -> str:
        """Add the view ``name`` for a question, and all steps that it reads; return its new name.

        ``secret`` and ``gain`` are numbers (0: the owner, identity); ``prior``: without
        quasi-identifiers; ``reported``: of the people with a reported secret.
        """
        return self._add_needed(name, About(secret, gain, prior, reported))

    def push(self, step: Step) -> str:
        """Add a finished step unless it is already in the plan; return its name."""
        if all(s.name != step.name for s in self.steps):
            self.steps.append(step)
        return step.name

    def plan(self, result: exp.Query) -> Plan:
        """Return the plan of the steps that were added, and of a query that reads them."""
        return microdata_steps.plan(self.attack.microdata, self.steps, result)

    def _add_needed(self, name: str, about: About) -> str:
        """Add the step ``name`` about a secret unless the plan has it; return its full name."""
        if name == "microdata":
            return self._add_people(about)
        step_name = _numbered_name(name, about)
        if any(s.name == step_name for s in self.steps):
            return step_name
        return self._add_without_view(name, step_name, about) or self._add_view(
            name, step_name, about
        )

    def _add_without_view(self, name: str, step_name: str, about: About) -> str | None:
        """Add a step that is generated, or kept as a table; return its name, None for views.

        ``step_name`` is ``name`` with the numbers of secret and gain function, as ``cells_2``.
        """
        if name == "hidden":
            self._add_individuals()
            return self.push(suppression.part_of_people(self.attack.microdata, name))
        if self.attack.microdata.person is not None:  # more steps are generated for sets of records
            for generated in (name, step_name):
                if self._add_individuals(generated):
                    return generated
        if step_name in self.catalogs:
            return self.push(_read_table(step_name, self.catalogs[step_name]))
        if name == "agreement":  # all people, with the quasi-identifiers they share with the target
            self._add_people(replace(about, prior=True))
            return self.push(microdata_steps.agreement(self.attack))
        step = parameters.make(self.attack, name, about.secret, about.gain)
        if step is None:  # it is a view of ``sql/``
            return None
        # The steps that it reads, which it names as the files of ``sql/`` do: ``secret_values``
        # becomes ``secret_values_2``. A table with a schema is no step, but the user's.
        query = step.query.copy()
        tables = [table for table in query.find_all(exp.Table) if table.name and not table.db]
        for table in sorted(tables, key=lambda table: table.name):
            table.set("this", exp.to_identifier(self._add_needed(table.name, about)))
        return self.push(replace(step, name=step_name, query=query))

    @cached_property
    def _generated(self) -> list[Step]:
        """Return the steps that make ``microdata``, and sizes of blocks counted already."""
        microdata = self.attack.microdata
        steps = microdata_steps.steps(microdata, key=self.key)
        if KNOWN_KINDS not in self.catalogs:
            return steps
        known_kinds = _read_table(KNOWN_KINDS, self.catalogs[KNOWN_KINDS])
        return [*steps, known_kinds, *microdata_steps.sizes_by_kinds(microdata)]

    def _add_individuals(self, name: str = "microdata") -> bool:
        """Add a step of the microdata and those it reads; return whether there is one of this name.

        A step that is kept as a table is only read.
        """
        needed, steps = {name}, list[Step]()
        for step in reversed(self._generated):  # a step reads only earlier ones
            if step.name in needed and step.name in self.catalogs:
                steps.append(_read_table(step.name, self.catalogs[step.name]))
            elif step.name in needed:
                steps.append(step)
                needed |= {table.name for table in step.query.find_all(exp.Table) if not table.db}
        for step in reversed(steps):
            self.push(step)
        return bool(steps)

    def _add_people(self, about: About) -> str:
        """Add the step of the people whom another step is ``about``; return its name.

        They are all people before the release (``prior``); else the look-alikes of the target, or
        the people with or without suppressed records.
        """
        # Where one record of a person is known, a row of ``microdata`` is a different record of a
        # person; before the release, each person counts once.
        if about.prior and self.attack.microdata.known_records == "one":
            self._add_individuals(PERSONS)
            return PERSONS
        self._add_individuals()
        if self.attack.target and not about.prior and "microdata" not in self.catalogs:
            return self.push(microdata_steps.candidates(self.attack))
        if self.attack.microdata.suppressed and not about.prior:
            part = "hidden" if self.attack.microdata.part == "hidden" else "shown"
            return self.push(suppression.part_of_people(self.attack.microdata, part))
        return "microdata"

    def weighted(self, secret: int, *, raw: bool = False) -> bool:
        """Return whether people are weighted: by weights or, unless ``raw``, by a belief."""
        has_belief = secret in self.attack.beliefs and not raw
        return self.attack.microdata.weight is not None or has_belief

    def counts_usual(self, about: About) -> bool:
        """Return whether blocks count the people with the value that is guessed without a release.

        Claims of somebody who is sure (``thresholds``) are compared with that guess.
        """
        is_guessed = about.secret and not about.gain and not about.prior
        return bool(self.attack.thresholds and is_guessed)

    def _view(self, name: str, about: About) -> str:
        """Return the view of ``sql/`` that defines the step ``name`` about a secret.

        Most views have the name of the step. Some steps have other views for some questions (the
        owner, secret 0; secrets counted by tallies; gain functions) or kinds of microdata.
        """
        if name == "people_unreported" and not self.attack.microdata.numbered:
            return "people_unreported_in_values"
        if name == "housed" and self.attack.microdata.of_lists:
            return "housed_people"
        if name == "signatures" and self.attack.microdata.by is not None:
            return "grouped_signatures"
        if name in ("stakes", "gained"):
            return self._view_of_gain(name, about)
        if name == "profile" and self.counts_usual(about) and not self.weighted(about.secret):
            name = "profile_with_usual"
        by_tallies = not about.prior and not about.gain  # the prior and gains have no such form
        if about.secret == 0:
            return self._view_of_owner(name, by_tallies=by_tallies)
        if about.secret in self.values and by_tallies and name in BY_TALLIES:
            return f"tally_{name}"
        return name

    def _view_of_gain(self, name: str, about: About) -> str:
        """Return the view of the step ``stakes`` or ``gained`` for the kind of a gain function."""
        kind = self.attack.gains[about.gain - 1].gain.kind if about.gain else "identity"
        if name == "stakes":
            return name if kind == "sql" else f"{kind}_stakes"
        if kind == "tries" and about.secret == 0 and not self.weighted(0):
            return "owner_tries"
        return "staked" if kind in STAKED else kind

    def _view_of_owner(self, name: str, *, by_tallies: bool) -> str:
        """Return the view of a step about the owner; ``by_tallies``: secrets may be tallied."""
        if self.values and by_tallies and name in OWNERS_BY_TALLIES:
            return OWNERS_BY_TALLIES[name]
        if not self.weighted(0) and name in OF_UNWEIGHTED_OWNERS:
            return OF_UNWEIGHTED_OWNERS[name]
        return OF_OWNERS.get(name, name)

    def _add_view(self, name: str, step_name: str, about: About) -> str:
        """Add a step by its view of ``sql/``, after the steps that it reads; return its name."""
        view = self._view(name, about)
        weighted = self.weighted(about.secret, raw=name in ("cells", "members"))
        template = load(f"weighted/{view}" if weighted and view in WEIGHTED else view)
        tables = [table for table in template.tables if table != PLACES]
        names = {table: self._add_table(table, name, about) for table in tables}
        counted = [j for j in self.values if name in SHARED or j == about.secret]  # by tallies
        positions = None
        if name == "member_counts":  # of the secret's first and last tally, from 1, among all
            before = sum(self.values[j] - 1 for j in self.values if j < about.secret)
            positions = before + 1, before + self.values[about.secret] - 1  # last value: no tally
        step = _spliced(
            template,
            step_name,
            materialized=name in MATERIALIZED,
            width=0 if about.prior else self.attack.microdata.width,  # of quasi-identifiers
            secret=about.secret,
            tables=tuple(names.items()),
            tallies=tuple(Tally(j, code) for j in counted for code in range(1, self.values[j])),
            positions=positions,
        )
        return self.push(step)

    def _add_table(self, table: str, reader: str, about: About) -> str:
        """Add the step that view ``reader`` reads as ``table``; return its numbered name.

        Usually that is the step of this name about the same secret. It is another one for tables
        without quasi-identifiers (``prior_``), people with a reported secret, an adversary with
        beliefs, suppressed records, or gains in place of counts.
        """
        if reader in ("tallies", "member_tallies") and table == "secret_values":
            for j in self.values:  # these views read the values of all tallied secrets
                self._add_needed("secret_values", About(j))
            return table
        if table == "prior":
            table = "prior_profile"
        if table.startswith("prior_"):
            table, about = table.removeprefix("prior_"), replace(about, prior=True)
        if reader in OF_REPORTED.values():  # it leaves out people without a reported secret itself
            about = replace(about, reported=False)
        if about.reported:
            table = OF_REPORTED.get(table, table)
        if about.secret in self.attack.beliefs and reader not in BEFORE_BELIEF:
            table = {"cells": "believed", "members": "believed_members"}.get(table, table)
        microdata = self.attack.microdata
        if microdata.suppressed and microdata.part == "everybody" and not about.prior:
            # everyone is one more block: that of the people with suppressed records
            table, about = _with_everyone(table, reader, about)
        if table == "blocks" and about.gain and reader not in ("gained", "guesses", "revealed"):
            table = "gained"
        return self._add_needed(table, about)


@lru_cache(maxsize=1024)
def _spliced(
    template: Template,
    step_name: str,
    *,
    materialized: bool,
    width: int,
    secret: int,
    tables: tuple[tuple[str, str], ...],
    tallies: tuple[Tally, ...],
    positions: tuple[int, int] | None,
) -> Step:
    """Return the step of a view, with its placeholders filled; equal arguments share one step.

    ``tallies`` are the values of secrets that the view counts, and ``positions`` the first and the
    last one that belong to ``secret``.
    """
    places: Parameters = {}
    if positions is not None:
        first, last = positions
        places = {"first_tally": number(first), "last_tally": number(last)}
    query = splice(
        template,
        width=width,
        secret=secret,
        tables=dict(tables),
        tallies=tallies,
        rows={PLACES: places} if places else None,
    )
    return Step(step_name, template.doc, query, materialized)


def _with_everyone(table: str, reader: str, about: About) -> tuple[str, About]:
    """Return the step, and what it is about, that view ``reader`` reads in place of ``table``.

    With suppressed records, everyone is one more block: that of the people who have such a record,
    as they may be anybody.
    """
    if table == "microdata" and reader in OF_EVERYBODY:
        return table, replace(about, prior=True)  # all people, suppressed or not
    if table == "chances" and reader != "chances_of_all":
        return "chances_of_all", about
    if table in ("blocks", "cells") and reader in BY_PERSON:
        return f"{table}_of_all", about if reader == "groups" else replace(about, gain=0)
    return table, about


def _numbered_name(name: str, about: About) -> str:
    """Return the full name of a step: ``prior_profile_2_1`` is about secret 2 with gain 1."""
    if name in (*SHARED, "microdata", PERSONS):  # the same for all secrets
        return name
    gain = f"_{about.gain}" if about.gain and name in PER_GAIN else ""
    prior = reported = ""
    if name not in OF_THE_QUESTION:
        prior = "prior_" if about.prior else ""
        reported = "reported_" if about.reported and name not in OF_REPORTED.values() else ""
    return f"{prior}{reported}{name}_{about.secret}{gain}"


def _read_table(name: str, catalog: str) -> Step:
    query = exp.select("*").from_(exp.table_(name, catalog=catalog, db="main"))
    return Step(name, "Counted before.", query)


def revealed_tables(steps: Steps) -> list[str]:
    """Add the steps of what each block reveals; return their names.

    Without secrets, or with beliefs, the first is that of the owner.
    """
    tables = [steps.need("revealed", j) for j in range(1, len(steps.attack.microdata.secrets) + 1)]
    return tables if tables and not steps.attack.beliefs else [steps.need("crowds", 0), *tables]
