"""The command lines of the campaign: each from its seed and number alone."""

import random
from collections.abc import Sequence
from pathlib import Path

from campaign import mistakes, tree
from campaign.draft import Draft, Step
from campaign.judging import judge
from campaign.recipes import RECIPES, SHARES
from campaign.running import Place
from campaign.values import VALUES
from campaign.work import Outcome, Task

GOOD = 0.55  # of the lines have no mistake


def steps(seed: int, number: int, command: str = "") -> tuple[str, list[Step]]:
    """The command that a number is about, and its lines, the last one last.

    The files that they name are written to the working folder.
    """
    rng = random.Random(f"{seed}:{number}")
    names = list(RECIPES)
    chosen = rng.choices(names, [SHARES.get(name, 4) for name in names])[0]
    command = command or chosen
    draft = Draft(rng, rows=_rows(rng, command))
    good = rng.random() < GOOD
    before = 0
    argv = RECIPES[command](draft)
    if not argv:  # the last step is whole, with a check of its numbers or its own input
        whole = draft.steps.pop()
        if good:
            return command, [*draft.steps, whole]
        argv, stdin = whole.argv, whole.stdin
    else:
        stdin = ""
    before = len(draft.steps)
    if good or rng.random() < 0.3:
        argv = extended(draft, argv)
    wrong = ""
    if not good:
        spoil = rng.choices(list(mistakes.MISTAKES), list(mistakes.MISTAKES.values()))[0]
        argv, wrong = spoil(draft, argv)
    if argv[:1] == ["open"] and "--idle" not in argv:
        argv = [*argv, "--idle", "1"]  # without it the page stays until Ctrl-C
    return command, [*draft.steps[:before], Step(argv, wrong, stdin)]


def _rows(rng: random.Random, command: str) -> int | None:
    if command == "dit":
        return rng.choice((4, 8, 12))
    return None


def extended(draft: Draft, argv: Sequence[str]) -> list[str]:
    """The line with up to three more options of its command."""
    argv = list(argv)
    options = tree.commands()[argv[0]]
    left = [o for o in options if not any(word in o.names for word in argv)]
    n = draft.rng.choice((0, 0, 1, 1, 2, 3))
    for option in draft.rng.sample(left, min(n, len(left))):
        name = draft.rng.choice(option.names)
        if option.is_flag:
            argv += [] if name == "--all-varchar" and not draft.is_csv else [name]
            continue
        found = VALUES[option.name](draft)
        argv += [word for value in found for word in (name, value)]
    return argv


def perform(task: Task, place: Place, log: Path) -> Outcome:
    """Run the lines of a number, and judge each."""
    outcome = Outcome(task.name, task.command)
    with place.fresh() as folder:
        outcome.command, todo = steps(task.seed, task.number, task.command)
        for step in todo:
            run = place.run(step, log)
            outcome.codes.append(run.code)
            outcome.cases += 1
            outcome.findings += [f.plain() for f in judge(run, folder)]
            if task.aloud:
                outcome.words.append(
                    f"{run.code} {step.argv}\n{step.wrong}\n{run.out[:800]}\n{run.err}"
                )
            outcome.compared += step.check is not None and run.code == 0
    return outcome
