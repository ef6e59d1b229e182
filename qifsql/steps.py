"""The steps of a plan as they are added: files of ``sql/``, spliced for one secret at a time."""

from collections.abc import Mapping, Sequence

from qifsql.microdata import candidates, microdata
from qifsql.plan import Step
from qifsql.spec import BoundAttack
from qifsql.splice import splice
from qifsql.templates import load

PER_SECRET = (
    "answer", "blocks", "cells", "counts", "crowds", "guesses", "profile", "revealed",
    "secret_values",
)  # fmt: skip
WEIGHTED = (
    "answer", "blocks", "cells", "counts", "crowds", "owner_guesses", "owners", "profile",
    "revealed",
)  # fmt: skip


class Steps:
    """The steps of a plan as they come; ``names`` are those already there."""

    def __init__(
        self,
        attack: BoundAttack,
        *,
        prior: bool = False,
        key: bool = False,
        skip: Sequence[str] = (),
    ) -> None:
        self.attack = attack
        self.prefix = "prior_" if prior else ""
        self.width = 0 if prior else len(attack.qids)
        self.people = "microdata"
        self.steps: list[Step] = []
        self.names = list(skip)
        for step in microdata(attack, key=key):
            self.push(step)
        if attack.target and not prior:
            self.people = "candidates"
            self.push(candidates(attack))

    def every_profile(self) -> list[int]:
        """The profiles of all secrets, or of re-identification where there is none."""
        numbers = list(range(1, len(self.attack.secrets) + 1)) or [0]
        for j in numbers:
            self.profile(j)
        return numbers

    def profile(self, j: int) -> None:
        """The profile of secret ``j``: cells, blocks, profile."""
        self.blocks(j)
        self.add("profile", j)

    def blocks(self, j: int) -> None:
        """The blocks of secret ``j`` (0: of re-identification)."""
        if j:
            self.add("cells", j)
            self.add("blocks", j)
        else:
            self.add("owners", j, as_="blocks")

    def add(
        self,
        name: str,
        j: int | None,
        *,
        as_: str | None = None,
        rename: Mapping[str, str] | None = None,
        tallies: Sequence[tuple[int, int]] = (),
        materialized: bool = False,
    ) -> None:
        """Splice ``sql/name.sql`` for secret ``j`` (None: for all secrets at once)."""
        weighted = self.attack.weight is not None and name in WEIGHTED
        template = load(f"weighted/{name}" if weighted else name)
        numbered = {n: f"{self.prefix}{n}_{j}" for n in PER_SECRET}
        names = {**numbered, "microdata": self.people, **(rename or {})}
        query = splice(template, width=self.width, secret=j, names=names, tallies=tallies)
        own = as_ or name
        self.push(Step(numbered.get(own, own), template.doc, query, materialized))

    def push(self, step: Step) -> None:
        """Add a step, unless it is there already."""
        if step.name not in self.names:
            self.names.append(step.name)
            self.steps.append(step)
