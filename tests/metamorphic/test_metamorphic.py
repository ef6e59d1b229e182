"""Changes of data or machine change the numbers of a command as they must, and no further."""

import random
from pathlib import Path

import pytest
from campaign import tree
from effort import EFFORT

from metamorphic import claims
from metamorphic.lines import Asked, Change, asked

LINES = {"quick": 15, "usual": 15, "many": 60}[EFFORT]  # about eight cases each
LONG = {7, 11} if EFFORT == "quick" else set()  # lines that take seconds
MANY = 400
TRIES = 20


def line(folder: Path, number: int) -> tuple[str, Asked]:
    """Draw lines of a number until one is answered; its seed, and the line."""
    rng = random.Random(f"metamorphic {number}")
    for attempt in range(TRIES):
        command = rng.choice(claims.COMMANDS)
        seed = f"{number} {attempt} {command}"
        before = asked(folder / f"{attempt}", seed, command, Change())
        if before.answer is not None:
            return seed, before
    raise AssertionError(f"none of {TRIES} lines is answered")


def wrong(folder: Path, number: int) -> tuple[list[str], int]:
    """Return what contradicts the relations of a line, and how many of them were looked at."""
    seed, before = line(folder / "before", number)
    command = before.argv[0]
    found, cases = [], 0
    for name, relation in claims.RELATIONS.items():
        if not relation.holds_for(before.argv):
            continue
        changes = relation.changes(random.Random(f"{seed} {name}"), before)
        afters = [
            asked(folder / f"{name} {i}", seed, command, change) for i, change in enumerate(changes)
        ]
        cases += bool(afters)
        refused = [after for after in afters if after.answer is None]
        differences = [f"refused: {after.err[-200:]}" for after in refused]
        if afters and not refused:
            differences = relation.compare(before, afters)
        found += [f"{name}: {difference}\n{before.argv}" for difference in differences[:3]]
    return found, cases


@pytest.mark.slow(because="2.1 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("number", sorted({*range(LINES)} - LONG))
def test_changes_of_a_line_do_to_its_numbers_what_they_must(tmp_path: Path, number: int) -> None:
    found, cases = wrong(tmp_path, number)
    assert found == [], "\n".join(found)
    assert cases


@pytest.mark.slow
@pytest.mark.parametrize("number", range(LINES, LINES + MANY))
def test_changes_of_many_lines_do_to_their_numbers_what_they_must(
    tmp_path: Path, number: int
) -> None:
    found, _ = wrong(tmp_path, number)
    assert found == [], "\n".join(found)


def test_every_command_is_asked_or_gives_no_numbers() -> None:
    without = {"anonymise", "run", "init", "start", "report", "unhash"}
    without |= {
        "explain",
        "sql",
        "shell",
        "demo",
        "open",
        "verify",
    }  # their answers are files, texts and statements
    assert set(claims.COMMANDS) | without == set(tree.commands())
