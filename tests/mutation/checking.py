"""Kills that still hold: their tests are among those of ``make test``, and say what they said."""

from collections.abc import Iterable, Mapping

from places import ROOT

from mutation import copies, mutants, sources
from mutation.mutants import Mutant
from qifsql.data.types import Row

SAME, CHANGED, GONE, UNNAMED = "same", "changed", "gone", "unnamed"
WORDS = {
    SAME: "by a test that says the same",
    CHANGED: "by a test that has changed",
    GONE: "by a test that make test does not run",
    UNNAMED: "by a test that is not known",
}


def states(rows: Mapping[str, Row]) -> dict[str, str]:
    """Return by key what has become of the test that killed each mutant."""
    kills = {key: row for key, row in rows.items() if row["outcome"] != "survived"}
    tests = {row["by"] for row in kills.values() if row["by"]}
    there = copies.collected(test.partition("::")[0] for test in tests)
    return {key: _state(row, there) for key, row in kills.items()}


def _state(row: Row, there: set[str]) -> str:
    if not row["by"]:
        return UNNAMED
    if row["by"] not in there:
        return GONE
    return SAME if row.get("source") == sources.digest(row["by"]) else CHANGED


def summary(counts: Mapping[str, int]) -> str:
    """Return the number of kills in each state."""
    return ", ".join(f"{counts.get(state, 0)} {text}" for state, text in WORDS.items())


def found(rows: Iterable[Row]) -> dict[str, Mutant]:
    """Return the mutants of verdicts that can still be made, by their keys.

    A mutant of a file that has changed since is looked up by what it changes; its own key is new.
    """
    of_files: dict[str, list[Row]] = {}
    for row in rows:
        of_files.setdefault(row["mutant"].partition(":")[0], []).append(row)
    result: dict[str, Mutant] = {}
    for name, verdicts in of_files.items():
        path = ROOT / name
        every = list(mutants.of_file(path)) if path.is_file() else []
        keys = {mutant.key: mutant for mutant in every}
        changes: dict[str, list[Mutant]] = {}
        for mutant in every:
            changes.setdefault(_change(str(mutant)), []).append(mutant)
        for row in verdicts:
            same = changes.get(_change(row["mutant"]), [])
            if row["key"] in keys:
                result[row["key"]] = keys[row["key"]]
            elif same:
                result[row["key"]] = same.pop(0)
    return result


def _change(mutant: str) -> str:
    """Return a mutant as it is shown, without its line."""
    place, _, change = mutant.partition(" ")
    return f"{place.partition(':')[0]} {change}"
