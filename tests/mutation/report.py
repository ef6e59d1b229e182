"""The report of a run of mutants, in Markdown."""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mutation.mutants import Mutant

REASONS = Path(__file__).with_name("reasons.toml")
Rows = Mapping[str, Mapping[str, Any]]


@cache
def reasons() -> dict[tuple[str, str, str], str]:
    """Return why a mutant may survive, by its view or function and its change."""
    with REASONS.open("rb") as f:
        rows = tomllib.load(f).get("mutant", [])
    return {(row["target"], row["before"], row["after"]): row["reason"] for row in rows}


def reason(mutant: Mutant) -> str:
    """Return why no test need kill a mutant; empty where there is no reason."""
    return reasons().get((mutant.target, mutant.before, mutant.after), "")


def summary(mutants: Sequence[Mutant], rows: Rows) -> str:
    """Return the counts on one line."""
    n = _counts(mutants, rows)
    explained = sum(bool(reason(m)) for m in _survivors(mutants, rows))
    return (
        f"{sum(n.values())} of {len(mutants)} mutants run: {n['killed']} killed by a failure, "
        f"{n['timeout']} by a test that did not end, "
        f"{n['survived']} survived ({explained} with a reason)"
    )


def _counts(mutants: Sequence[Mutant], rows: Rows) -> Counter[str]:
    return Counter(str(rows[m.key]["outcome"]) for m in mutants if m.key in rows)


def _survivors(mutants: Sequence[Mutant], rows: Rows) -> list[Mutant]:
    return [m for m in mutants if m.key in rows and rows[m.key]["outcome"] == "survived"]


HEAD = """# Mutation tests

`make mutation` changes one node of a parsed tree at a time, in a view of `sql/` or in a function \
of `qifsql/measures/`, and runs the tests that use this view or function on a copy of the package \
that has the change. A mutant is killed if a test fails, or does not end: two minutes and at least \
five times what the tests usually take are the limit. Only tests that `make test` runs are judges. \
This page is the report of the last runs; `tests/mutation/run.py --report` writes it, \
`--rooms` names other folders of the package, `--check-killers` sees that kills still hold after \
tests have changed.
"""
DRAW = "\n## Draw of seed "


def write(file: Path, section: str) -> None:
    """Write a section in its place into the report, which has one for each draw."""
    old = file.read_text(encoding="utf-8") if file.is_file() else ""
    sections = {part.partition("\n")[0]: part for part in [*old.split(DRAW)[1:], section]}
    text = HEAD + "".join(DRAW + sections[title] for title in sorted(sections))
    file.write_text(text, encoding="utf-8")


def section(
    mutants: Sequence[Mutant], rows: Rows, seed: int, rooms: Sequence[str]
) -> tuple[str, int]:
    """Return the report on a draw after its ``DRAW``, and the number of unexplained survivors."""
    run = [m for m in mutants if m.key in rows]
    counts = _counts(mutants, rows)
    dead = counts["killed"] + counts["timeout"]
    left = _survivors(mutants, rows)
    explained = [m for m in left if reason(m)]
    open_ = [m for m in left if not reason(m)]
    share = f"{100 * dead / len(run):.1f} %" if run else "none"
    of_rest = len(run) - len(explained)
    lines = [
        f"{seed}: {', '.join(rooms)}",
        "",
        f"Drawn with seed {seed}: {len(mutants)} mutants, an equal share of each room. "
        f"Run: {len(run)}. Killed: {dead}, {share} of those that were run; "
        f"{counts['timeout']} of them by a test that did not end. Survived: {len(left)}, "
        f"{len(explained)} of them for a reason given below"
        + (f"; of all others {100 * dead / of_rest:.1f} % are killed." if explained else "."),
        "",
        "| room | change | run | killed | not killed |",
        "|---|---|---:|---:|---:|",
    ]
    dead_ones = [m for m in run if rows[m.key]["outcome"] != "survived"]
    groups = Counter((m.target.partition(":")[0], m.kind) for m in run)
    killed = Counter((m.target.partition(":")[0], m.kind) for m in dead_ones)
    lines += [
        f"| {part} | {kind} | {n} | {killed[part, kind]} | {n - killed[part, kind]} |"
        for (part, kind), n in sorted(groups.items())
    ]
    if open_:
        lines += ["", "### Survivors without a test", ""]
        lines += [f"- {_shown(m)}" for m in sorted(open_, key=_place)]
    if explained:
        lines += ["", "### Survivors that no test need kill", ""]
        lines += [f"- {_shown(m)}. {reason(m)}" for m in sorted(explained, key=_place)]
    return "\n".join([*lines, ""]), len(open_)


def _place(mutant: Mutant) -> tuple[str, int]:
    return mutant.file, mutant.line


def _shown(mutant: Mutant) -> str:
    view = mutant.target.partition(":")[2]
    before, after = (text.replace("`", "'") for text in (mutant.before, mutant.after))
    return f"`{mutant.file}`, `{view}`, {mutant.kind}: `{before}` becomes `{after}`"
