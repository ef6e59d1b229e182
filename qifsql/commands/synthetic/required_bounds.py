"""Bounds on measures that a release must keep: ``repU<=0.01``."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qifsql.data.types import Row
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.measures.release_measures import (
    ABOUT_SECRETS,
    DIFFERENCES,
    OF_ATTEMPTS,
    OF_CLASSIFIERS,
    OF_CONTROL,
    OF_DISTANCES,
    OF_GUESSES,
    OF_LINKS,
    OF_NEAREST,
    OF_QUESTIONS,
    OF_RELEASE,
    OF_SECRET,
)

MEASURES = (
    *(*OF_RELEASE, *OF_SECRET, *OF_GUESSES, *DIFFERENCES, *OF_CLASSIFIERS),
    *(*OF_QUESTIONS, *OF_DISTANCES),
)
_BOUND = re.compile(r"\s*(\w+)\s*(<=|>=)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Bound:
    """A bound on a measure of every release and secret."""

    text: str
    measure: str
    at_most: bool
    limit: float

    def check(self, *, has_secret: bool, has_control: bool) -> None:
        """Refuse a bound on a measure that needs a secret or a control that is not there."""
        if self.measure in ABOUT_SECRETS and not has_secret:
            raise InputError(f"bound {quoted(self.text)} is about a secret; name one with --secret")
        if self.measure in OF_CONTROL and not has_control:
            raise InputError(f"bound {quoted(self.text)} needs a control; name one with --control")

    def check_details(
        self,
        *,
        questions: bool,
        split: bool,
        attempts: bool,
        links: bool,
        distances: bool,
        learner: bool,
    ) -> None:
        """Refuse a bound on a measure that is computed only if it is asked for."""
        if self.measure in OF_CLASSIFIERS and not learner:
            raise InputError(f"bound {quoted(self.text)} is about a classifier; add --learner")
        if self.measure in OF_QUESTIONS and not questions:
            raise InputError(f"bound {quoted(self.text)} is about a question; add --questions")
        if self.measure in OF_ATTEMPTS and not attempts:
            raise InputError(f"bound {quoted(self.text)} is about attempts; add --attempts")
        if self.measure in OF_NEAREST and not links:
            raise InputError(f"bound {quoted(self.text)} is about drawn people; add --links")
        if self.measure in OF_LINKS and not split:
            raise InputError(f"bound {quoted(self.text)} is about two sources; add --split")
        if self.measure in OF_DISTANCES and not distances:
            raise InputError(f"bound {quoted(self.text)} is about distances; add --distances")

    def broken(self, rows: Iterable[Row]) -> list[Row]:
        """Return the rows whose value does not keep the bound; a share of nobody keeps it."""
        of_measure = [row for row in rows if row["measure"] == self.measure]
        return [row for row in of_measure if row["value"] is not None and not self._keeps(row)]

    def _keeps(self, row: Row) -> bool:
        value: float = row["value"]
        return value <= self.limit if self.at_most else value >= self.limit

    def note(self, rows: Iterable[Row]) -> str:
        """Return a note on the releases and secrets for which the bound does not hold."""
        values = []
        for row in self.broken(rows):
            about = [row["release"], *([row["secret"]] if row["secret"] is not None else [])]
            values.append(f"{', '.join(about)}: {row['value']:.4g}")
        return f"not met: {self.text} ({'; '.join(values)})"


def parse_bounds(texts: Sequence[str]) -> list[Bound]:
    """Return the bounds that texts state; raise InputError if a text is none."""
    stated = []
    for text in texts:
        parts = _BOUND.fullmatch(text)
        if parts is None:
            raise InputError(
                f"invalid bound {quoted(text)}; write, for example, repU<=0.01, with a measure of "
                "the result"
            )
        if parts[1] not in MEASURES:
            hint = did_you_mean(parts[1], MEASURES)
            raise InputError(f"there is no measure {quoted(parts[1])} to bound{hint}")
        stated.append(Bound(text.strip(), parts[1], parts[2] == "<=", float(parts[3])))
    return stated
