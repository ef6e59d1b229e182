"""Damaged files: each is refused, or gives the numbers of the file as it was.

What no checksum covers may give other numbers: these are counted apart.
"""

import csv
import io
import json
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from campaign import tables
from campaign.draft import Draft, Step, row, toml
from campaign.judging import Finding, Run, judge
from campaign.running import Place
from campaign.work import DAMAGES, Outcome, Task

ROWS = 600
VARYING = ("seconds", "attack_id", "started")


@dataclass(frozen=True)
class Case:
    """A file to be damaged, what makes it, and the line whose numbers are compared.

    ``covered`` says whether a checksum covers the bytes that a damage has changed.
    """

    file: str
    before: Sequence[Step]
    step: Step
    covered: Callable[[bytes, bytes], bool]
    numbers: Callable[[str], Any]


def perform(task: Task, place: Place, log: Path) -> Outcome:
    """Damage one file in several ways, and run the line again after each."""
    rng = random.Random(f"{task.seed}:damaged:{task.number}")
    kind = task.command or list(CASES)[task.number % len(CASES)]
    outcome = Outcome(task.name, f"({kind})")
    with place.fresh() as folder:
        draft = Draft(rng, hostile=0, rows=ROWS)
        case = CASES[kind](draft)
        for step in case.before:
            outcome.findings += [f.plain() for f in judge(place.run(step, log), folder)]
        right = place.run(case.step, log)
        expected = case.numbers(right.out)
        file = next(iter(sorted(folder.glob(case.file)))).relative_to(folder)
        whole = place.root / "whole"
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(folder, whole)
        for _ in range(DAMAGES):
            _restore(whole, folder)
            good = (folder / file).read_bytes()
            name, bad = damaged(rng, good)
            (folder / file).write_bytes(bad)
            again(folder)
            run = place.run(case.step, log)
            outcome.cases += 1
            outcome.codes.append(run.code)
            found = judged(run, folder)
            verdict = "refused"
            if run.code == 0:
                verdict = "same"
                if case.numbers(run.out) != expected:
                    verdict = "different"
                    if case.covered(good, bad):
                        found.append(Finding("number", f"other numbers from {file.name}: {name}"))
                outcome.compared += 1
            key = f"{kind}: {verdict}"
            outcome.notes[key] = outcome.notes.get(key, 0) + 1
            argv = [*case.step.argv, f"({name})"]
            outcome.findings += [replace(f, argv=argv).plain() for f in found]
            if task.aloud:
                outcome.words.append(f"{kind} {file.name} {name} {run.code} {verdict}\n{run.err}")
    return outcome


def _restore(whole: Path, folder: Path) -> None:
    """Put all files back as they were before the damage."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(whole, folder, dirs_exist_ok=True)


def judged(run: Run, folder: Path) -> list[Finding]:
    """Return what is wrong with the line, but that the machine is to blame for damage."""
    return [f for f in judge(run, folder) if f.kind not in ("exit 3", "file changed")]


def again(folder: Path) -> None:
    """Return what the line writes is gone, so that it is written once more."""
    for path in folder.glob("study-results/*"):
        if path.name != "kept":
            path.unlink()
    (folder / "page.md").unlink(missing_ok=True)


def damaged(rng: random.Random, good: bytes) -> tuple[str, bytes]:
    """A damage, in words, and the bytes that it leaves."""
    n = len(good)
    at = rng.randrange(n)
    kind = rng.choice(("bit", "bit", "bit", "byte", "zeros", "cut", "cut", "swap", "hole", "more"))
    if kind == "bit":
        changed = bytes([good[at] ^ 1 << rng.randrange(8)])
        return f"a bit of byte {at} of {n}", good[:at] + changed + good[at + 1 :]
    if kind == "byte":
        return f"byte {at} of {n}", good[:at] + bytes([rng.randrange(256)]) + good[at + 1 :]
    if kind == "zeros":
        return f"16 zeros at {at} of {n}", good[:at] + bytes(16) + good[at + 16 :]
    if kind == "cut":
        return f"cut at {at} of {n}", good[:at]
    if kind == "more":
        return f"{n} bytes and more", good + rng.randbytes(50)
    block = next(b for b in (262144, 4096, 512, 64, 8, 1) if n >= 4 * b or b == 1)
    a, b = sorted(rng.sample(range(n // block), 2)) if n // block > 1 else (0, 0)
    blocks = [good[i * block : (i + 1) * block] for i in range((n + block - 1) // block)]
    if kind == "swap":
        blocks[a], blocks[b] = blocks[b], blocks[a]
        return f"blocks {a} and {b} of {block} bytes swapped", b"".join(blocks)
    del blocks[a]
    return f"block {a} of {block} bytes left out", b"".join(blocks)


def _results(out: str) -> Any:
    """The rows of a result without what differs from run to run."""
    try:
        rows = json.loads(out)["results"]
    except (ValueError, KeyError):
        return out
    return [{k: v for k, v in r.items() if k not in VARYING} for r in rows]


def written(*patterns: str) -> Callable[[str], Any]:
    """The tables and pages that the line has written, without what differs from run to run."""

    def read(_: str) -> Any:
        found = {}
        for pattern in patterns:
            for path in sorted(Path().glob(pattern)):
                if "plan" in path.name or "manifest" in path.name or "entries" in path.name:
                    continue
                text = path.read_text(encoding="utf-8")
                found[path.name] = _table(text) if path.suffix == ".csv" else _page(text)
        return found

    return read


def _table(text: str) -> Any:
    rows = csv.DictReader(io.StringIO(text))
    return [{k: v for k, v in r.items() if k not in VARYING} for r in rows]


def _page(text: str) -> list[str]:
    """The lines of numbers: others tell when and how long."""
    return [line for line in text.splitlines() if line.startswith("|")]


def attack(d: Draft, file: str, *more: str) -> Step:
    known = ["--qids", row(list(d.data.qids)), "--secret", row(list(d.data.secrets))]
    return Step(["attack", "crs,cas", file, *known, *more, "--format", "json"])


def _plain(ending: str, covered: Callable[[bytes, bytes], bool]) -> Callable[[Draft], Case]:
    def case(d: Draft) -> Case:
        file = tables.write(d.data, "people", ending)
        return Case(file.rpartition("@")[2], (), attack(d, file), covered, _results)

    return case


def never(_good: bytes, _bad: bytes) -> bool:
    """Nothing is covered."""
    return False


def always(_good: bytes, _bad: bytes) -> bool:
    """Every byte is covered."""
    return True


def _in_pages(good: bytes, bad: bytes) -> bool:
    """Return whether all that changed lies before the footer, which has no checksum."""
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    return len(good) == len(bad) and good[footer:] == bad[footer:]


def _checked_parquet(d: Draft) -> Case:
    pq.write_table(tables.arrow(d.data), "people.parquet", write_page_checksum=True)
    return Case("people.parquet", (), attack(d, "people.parquet"), _in_pages, _results)


def _zst(d: Draft) -> Case:
    program = shutil.which("zstd")
    if program is None:
        return CASES["csv.gz"](d)
    file = tables.write(d.data, "people", ".csv")
    subprocess.run([program, "-q", "--check", "--rm", file], check=True)
    return Case("people.csv.zst", (), attack(d, "people.csv.zst"), always, _results)


def _store(d: Draft) -> Case:
    step = attack(d, tables.write(d.data, "people", ".parquet"), "--store", "kept.duckdb")
    return Case("kept.duckdb", [step], step, always, _results)


def _workspace(d: Draft) -> Case:
    known = ["--qids", row(list(d.data.qids)), "--secret", row(list(d.data.secrets))]
    file = tables.write(d.data, "people", ".parquet")
    step = Step(["sweep", file, *known, "--workspace", "kept.sweep", "--format", "json"])
    return Case("kept.sweep", [step], step, always, _results)


def study(d: Draft) -> Case:
    file = tables.write(d.data, "people", ".csv")
    lines = [
        *("[output]", 'formats = ["csv"]', "[datasets.people]", f"path = {toml(file)}"),
        *(f"qids = {toml(list(d.data.qids))}", f"secret = {toml(list(d.data.secrets))}"),
        *("[[attack]]", 'name = "all"', 'model = ["crs", "cas"]', "histogram = true"),
        *("[[sweep]]", 'name = "subsets"', 'sizes = "1"', ""),
    ]
    step = Step(["run", d.text("study.toml", "\n".join(lines)), "--format", "json"])
    inside = d.one("results.parquet", "detail.*.parquet", "record.json", "written.json")
    place = f"study-results/kept/{'' if inside == 'written.json' else '*/'}{inside}"
    return Case(place, [step], step, always, written("study-results/*.csv"))


def _result(d: Draft) -> Case:
    file = tables.write(d.data, "people", ".parquet")
    kept = d.one("risk.parquet", "risk.json", "risk.histogram.parquet")
    asked = attack(d, file, "--histogram").argv[:-2]
    name = "risk.json" if kept == "risk.json" else "risk.parquet"
    before = [Step([*asked, "-o", name])]
    page = Step(["report", name, "-o", "page.md"])
    covered = never if kept == "risk.json" else _in_pages
    return Case(kept, before, page, covered, written("page.md"))


def _stored_sweep(d: Draft) -> Case:
    """A stored sweep, from which the success of adversaries is computed."""
    known = ["--qids", row(list(d.data.qids)[:3]), "--secret", row(list(d.data.secrets))]
    file, kept = tables.write(d.data, "people", ".parquet"), d.one("kept.parquet", "kept.json")
    before = [Step(["sweep", file, *known, "-o", kept])]
    step = Step(["adversaries", kept, "--any", "1", "--format", "json"])
    return Case(kept, before, step, never if kept == "kept.json" else _in_pages, _results)


CASES: dict[str, Callable[[Draft], Case]] = {
    "parquet with checksums": _checked_parquet,
    "parquet": _plain(".parquet", never),
    "csv": _plain(".csv", never),
    "csv.gz": _plain(".csv.gz", always),
    "csv.zst": _zst,
    "duckdb": _plain(".duckdb", always),
    "store": _store,
    "workspace": _workspace,
    "study": study,
    "result": _result,
    "stored sweep": _stored_sweep,
}
