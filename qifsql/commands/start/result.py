"""The result of a first look at a file: the results of its study, and the way there."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from qifsql.commands.run.result import StudyResult
from qifsql.results.result import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class Beginning(Result):
    """The results of a study that was written and run.

    ``frame`` and ``details`` are those of the study; ``details["roles"]`` are the columns with
    their suggested roles. ``study`` is the file of the study, ``report`` its report.
    """

    results: StudyResult
    study: Path
    report: Path | None = None

    @property
    def parts(self) -> Mapping[str, Result]:
        """Return the results of the entries by name."""
        return self.results.parts

    @property
    def not_considered(self) -> tuple[str, ...]:
        """Return the columns that the results do not cover."""
        return tuple(self.spec["not_considered"])
